#include "compiler/check/walk.h"

namespace gos::check {

using namespace ast;
using llvm::cast;
using llvm::dyn_cast;

void forEachPart(Expr* expr, llvm::function_ref<void(Expr*)> visit) {
  auto one = [&](Expr* part) {
    if (part)
      visit(part);
  };
  auto list = [&](ArrayRef<Expr*> parts) {
    for (Expr* part : parts)
      one(part);
  };
  auto pieces = [&](ArrayRef<FormatPiece> parts) {
    for (const FormatPiece& part : parts)
      one(part.value);
  };
  auto arguments = [&](ArrayRef<Argument> parts) {
    for (const Argument& part : parts)
      one(part.value);
  };
  switch (expr->kind) {
  case ExprKind::Error:
  case ExprKind::Int:
  case ExprKind::Float:
  case ExprKind::Bool:
  case ExprKind::Char:
  case ExprKind::String:
  case ExprKind::Byte:
  case ExprKind::ByteString:
  case ExprKind::Path:
  case ExprKind::Continue:
    return;
  case ExprKind::FString:
    return pieces(cast<FStringExpr>(expr)->pieces);
  case ExprKind::StructLiteral:
    for (const FieldInit& field : cast<StructLiteralExpr>(expr)->fields)
      one(field.value);
    return one(cast<StructLiteralExpr>(expr)->base);
  case ExprKind::Tuple:
    return list(cast<TupleExpr>(expr)->elements);
  case ExprKind::Array:
    return list(cast<ArrayExpr>(expr)->elements);
  case ExprKind::Repeat:
    one(cast<RepeatExpr>(expr)->value);
    return one(cast<RepeatExpr>(expr)->count);
  case ExprKind::Map:
    for (auto& [key, value] : cast<MapExpr>(expr)->entries) {
      one(key);
      one(value);
    }
    return;
  case ExprKind::Set:
    return list(cast<SetExpr>(expr)->elements);
  case ExprKind::Block: {
    auto* block = cast<BlockExpr>(expr);
    for (Stmt* statement : block->statements) {
      if (auto* let = dyn_cast<LetStmt>(statement)) {
        one(let->value);
        one(let->elseBlock);
      } else if (auto* plain = dyn_cast<ExprStmt>(statement)) {
        one(plain->expr);
      } else if (auto* deferred = dyn_cast<DeferStmt>(statement)) {
        one(deferred->expr);
      }
    }
    return one(block->tail);
  }
  case ExprKind::If:
    list(cast<IfExpr>(expr)->conditions);
    one(cast<IfExpr>(expr)->thenBlock);
    return one(cast<IfExpr>(expr)->elseBranch);
  case ExprKind::LetCondition:
    return one(cast<LetConditionExpr>(expr)->value);
  case ExprKind::While:
    list(cast<WhileExpr>(expr)->conditions);
    return one(cast<WhileExpr>(expr)->body);
  case ExprKind::Loop:
    return one(cast<LoopExpr>(expr)->body);
  case ExprKind::For:
    one(cast<ForExpr>(expr)->iterable);
    return one(cast<ForExpr>(expr)->body);
  case ExprKind::Match:
    one(cast<MatchExpr>(expr)->subject);
    for (const MatchArm& arm : cast<MatchExpr>(expr)->arms) {
      one(arm.guard);
      one(arm.body);
    }
    return;
  case ExprKind::Closure:
    return one(cast<ClosureExpr>(expr)->body);
  case ExprKind::Call:
    one(cast<CallExpr>(expr)->callee);
    return arguments(cast<CallExpr>(expr)->arguments);
  case ExprKind::MethodCall:
    one(cast<MethodCallExpr>(expr)->receiver);
    return arguments(cast<MethodCallExpr>(expr)->arguments);
  case ExprKind::KnownCall: {
    auto* call = cast<KnownCallExpr>(expr);
    list(call->arguments);
    for (const FormatPiece& piece : call->pieces)
      if (piece.value && !llvm::is_contained(call->arguments, piece.value))
        one(piece.value);
    return;
  }
  case ExprKind::Field:
    return one(cast<FieldExpr>(expr)->object);
  case ExprKind::TupleField:
    return one(cast<TupleFieldExpr>(expr)->object);
  case ExprKind::Index:
    one(cast<IndexExpr>(expr)->object);
    return one(cast<IndexExpr>(expr)->index);
  case ExprKind::Range:
    one(cast<RangeExpr>(expr)->low);
    return one(cast<RangeExpr>(expr)->high);
  case ExprKind::Unary:
    return one(cast<UnaryExpr>(expr)->operand);
  case ExprKind::Borrow:
    return one(cast<BorrowExpr>(expr)->operand);
  case ExprKind::Binary:
    one(cast<BinaryExpr>(expr)->left);
    return one(cast<BinaryExpr>(expr)->right);
  case ExprKind::Assign:
    list(cast<AssignExpr>(expr)->targets);
    return list(cast<AssignExpr>(expr)->values);
  case ExprKind::Cast:
    return one(cast<CastExpr>(expr)->operand);
  case ExprKind::Try:
    return one(cast<TryExpr>(expr)->operand);
  case ExprKind::Pipe:
    one(cast<PipeExpr>(expr)->value);
    return one(cast<PipeExpr>(expr)->step);
  case ExprKind::Return:
    return one(cast<ReturnExpr>(expr)->value);
  case ExprKind::Break:
    return one(cast<BreakExpr>(expr)->value);
  case ExprKind::Comptime:
    return one(cast<ComptimeExpr>(expr)->body);
  }
}

} // namespace gos::check
