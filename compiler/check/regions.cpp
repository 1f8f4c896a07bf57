// Compile-time regions, and constants: their order, and what their initialisers may hold.

#include "compiler/check/checker.h"
#include "compiler/check/walk.h"

namespace gos::check {

void Checker::pushRegion(Expr* node, RegionKind kind, Type* type, bool typeLevel) {
  Region region;
  region.node = node;
  region.kind = kind;
  region.type = type;
  region.enclosing = body_->item;
  region.package = body_->package;
  region.isTypeLevel = typeLevel;
  body_->regions.push_back(regions_.size());
  regions_.push_back(region);
}

void Checker::finishRegions(Body& body) {
  for (size_t index : body.regions) {
    Region& region = regions_[index];
    region.type = settle(region.type);
    Type* type = region.type;
    if (region.kind == RegionKind::Codegen || type->has(Type::HasError) || type->is(Kind::Never))
      continue;
    if (!type->isUnit() && !type->isScalar() && !type->is(Kind::String))
      engine_.report(region.node->span, diag::ResultNotFoldable, print(type));
  }
}

/// Puts a constant behind those it uses. The chain lies on a stack of its own: its length is the
/// source's choice.
void Checker::visitConstant(Item* first, Program& program) {
  struct Visit {
    Item* item;
    size_t next = 0; // of its uses
  };
  std::vector<Visit> chain;
  const auto enter = [&](Item* item) {
    const State order = constInfo(item).order;
    if (order == State::Done)
      return;
    if (order == State::Running) {
      engine_.report(item->name.span, diag::ConstantCycle, item->name.name.text());
      constInfo(item).order = State::Done;
      return;
    }
    constInfo(item).order = State::Running;
    checkConstBody(item);
    chain.push_back({item});
  };
  enter(first);
  while (!chain.empty()) {
    Visit& visit = chain.back();
    ConstInfo& info = constInfo(visit.item);
    if (visit.next != info.uses.size()) {
      enter(info.uses[visit.next++]);
      continue;
    }
    if (info.order == State::Running) {
      info.order = State::Done;
      program.constants.push_back(visit.item);
    }
    chain.pop_back();
  }
}

void Checker::orderConstants(Program& program) {
  for (size_t i = 0; i < constants_.size(); ++i)
    visitConstant(constants_[i], program);
}

/// Literals, operators, other constants, aggregates of those, and regions (language.md
/// section 9.4).
void Checker::checkFoldable(Expr* expr, unsigned depth) {
  expr = folded(expr);
  if (depth > 2000)
    return;
  std::string what;
  switch (expr->kind) {
  case ExprKind::Error:
  case ExprKind::Int:
  case ExprKind::Float:
  case ExprKind::Bool:
  case ExprKind::Char:
  case ExprKind::String:
  case ExprKind::Byte:
  case ExprKind::ByteString:
  case ExprKind::Comptime:
    return;
  case ExprKind::Path: {
    const Target& target = cast<PathExpr>(expr)->target;
    if (target.kind != TargetKind::Static)
      return;
    what = "a static";
    break;
  }
  case ExprKind::Unary:
    if (cast<UnaryExpr>(expr)->method.item)
      what = "an operator of an impl";
    break;
  case ExprKind::Binary:
    if (cast<BinaryExpr>(expr)->method.item)
      what = "an operator of an impl";
    break;
  case ExprKind::Tuple:
  case ExprKind::Array:
  case ExprKind::Repeat:
  case ExprKind::Map:
  case ExprKind::Set:
  case ExprKind::StructLiteral:
  case ExprKind::Cast:
  case ExprKind::Range:
  case ExprKind::Field:
  case ExprKind::TupleField:
  case ExprKind::Index:
  case ExprKind::Borrow:
    break;
  case ExprKind::Block: {
    auto* block = cast<BlockExpr>(expr);
    if (!block->statements.empty())
      what = "a block with statements";
    break;
  }
  case ExprKind::Call: {
    auto* call = cast<CallExpr>(expr);
    if (call->isComptimeFn || call->isTypeInfo)
      return;
    auto* path = dyn_cast<PathExpr>(call->callee);
    if (path &&
        (path->target.kind == TargetKind::Variant || path->target.kind == TargetKind::Struct)) {
      for (const Argument& argument : call->arguments)
        checkFoldable(argument.value, depth + 1);
      return;
    }
    if (path && path->target.kind == TargetKind::None)
      return;
    what = "a call";
    break;
  }
  case ExprKind::MethodCall:
    if (cast<MethodCallExpr>(expr)->isComptimeFn)
      return;
    what = "a call";
    break;
  case ExprKind::KnownCall:
    if (cast<KnownCallExpr>(expr)->which == KnownCall::Codegen)
      return;
    what = "a call";
    break;
  case ExprKind::FString:
    what = "an f-string";
    break;
  case ExprKind::If:
  case ExprKind::Match:
    what = "a branch";
    break;
  case ExprKind::Closure:
    what = "a closure";
    break;
  case ExprKind::While:
  case ExprKind::Loop:
  case ExprKind::For:
    what = "a loop";
    break;
  case ExprKind::LetCondition:
  case ExprKind::Assign:
  case ExprKind::Try:
  case ExprKind::Pipe:
  case ExprKind::Return:
  case ExprKind::Break:
  case ExprKind::Continue:
    what = "this expression";
    break;
  }
  if (!what.empty()) {
    engine_.report(expr->span, diag::ConstantNotFoldable, what);
    return;
  }
  forEachPart(expr, [&](Expr* part) { checkFoldable(part, depth + 1); });
}

} // namespace gos::check
