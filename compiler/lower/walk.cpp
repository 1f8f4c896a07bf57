#include "compiler/lower/walk.h"

namespace gos::lower {

using namespace ast;
using llvm::cast;
using llvm::dyn_cast;

using Visit = llvm::function_ref<void(const Expr*)>;

static void visitPieces(llvm::ArrayRef<FormatPiece> pieces, Visit visit) {
  for (const FormatPiece& piece : pieces)
    if (piece.value)
      visit(piece.value);
}

void forEachChild(const Stmt* stmt, Visit visit) {
  switch (stmt->kind) {
  case StmtKind::Let: {
    auto* let = cast<LetStmt>(stmt);
    if (let->value)
      visit(let->value);
    if (let->elseBlock)
      visit(let->elseBlock);
    break;
  }
  case StmtKind::Expr:
    visit(cast<ExprStmt>(stmt)->expr);
    break;
  case StmtKind::Defer:
    visit(cast<DeferStmt>(stmt)->expr);
    break;
  case StmtKind::Item:
    break;
  }
}

void forEachChild(const Expr* expr, Visit visit) {
  auto maybe = [&](const Expr* child) {
    if (child)
      visit(child);
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
  case ExprKind::Closure:
  case ExprKind::Continue:
    break;
  case ExprKind::FString:
    visitPieces(cast<FStringExpr>(expr)->pieces, visit);
    break;
  case ExprKind::StructLiteral: {
    auto* literal = cast<StructLiteralExpr>(expr);
    for (const FieldInit& field : literal->fields)
      maybe(field.value);
    maybe(literal->base);
    break;
  }
  case ExprKind::Tuple:
    for (const Expr* element : cast<TupleExpr>(expr)->elements)
      visit(element);
    break;
  case ExprKind::Array:
    for (const Expr* element : cast<ArrayExpr>(expr)->elements)
      visit(element);
    break;
  case ExprKind::Repeat:
    visit(cast<RepeatExpr>(expr)->value);
    visit(cast<RepeatExpr>(expr)->count);
    break;
  case ExprKind::Map:
    for (const auto& [key, value] : cast<MapExpr>(expr)->entries) {
      visit(key);
      visit(value);
    }
    break;
  case ExprKind::Set:
    for (const Expr* element : cast<SetExpr>(expr)->elements)
      visit(element);
    break;
  case ExprKind::Block: {
    auto* block = cast<BlockExpr>(expr);
    for (const Stmt* stmt : block->statements)
      forEachChild(stmt, visit);
    maybe(block->tail);
    break;
  }
  case ExprKind::If: {
    auto* conditional = cast<IfExpr>(expr);
    for (const Expr* condition : conditional->conditions)
      visit(condition);
    maybe(conditional->thenBlock);
    maybe(conditional->elseBranch);
    break;
  }
  case ExprKind::LetCondition:
    maybe(cast<LetConditionExpr>(expr)->value);
    break;
  case ExprKind::While: {
    auto* loop = cast<WhileExpr>(expr);
    for (const Expr* condition : loop->conditions)
      visit(condition);
    maybe(loop->body);
    break;
  }
  case ExprKind::Loop:
    maybe(cast<LoopExpr>(expr)->body);
    break;
  case ExprKind::For: {
    auto* loop = cast<ForExpr>(expr);
    if (loop->unrolled) {
      for (const BlockExpr* body : loop->unrolledBodies)
        visit(body);
      break;
    }
    maybe(loop->iterable);
    maybe(loop->body);
    break;
  }
  case ExprKind::Match: {
    auto* match = cast<MatchExpr>(expr);
    visit(match->subject);
    for (const MatchArm& arm : match->arms) {
      maybe(arm.guard);
      maybe(arm.body);
    }
    break;
  }
  case ExprKind::Call: {
    auto* call = cast<CallExpr>(expr);
    visit(call->callee);
    for (const Argument& argument : call->arguments)
      maybe(argument.value);
    break;
  }
  case ExprKind::MethodCall: {
    auto* call = cast<MethodCallExpr>(expr);
    visit(call->receiver);
    for (const Argument& argument : call->arguments)
      maybe(argument.value);
    break;
  }
  case ExprKind::KnownCall: {
    auto* call = cast<KnownCallExpr>(expr);
    if (!call->pieces.empty())
      visitPieces(call->pieces, visit);
    else
      for (const Expr* argument : call->arguments)
        visit(argument);
    break;
  }
  case ExprKind::Field:
    visit(cast<FieldExpr>(expr)->object);
    break;
  case ExprKind::TupleField:
    visit(cast<TupleFieldExpr>(expr)->object);
    break;
  case ExprKind::Index:
    visit(cast<IndexExpr>(expr)->object);
    maybe(cast<IndexExpr>(expr)->index);
    break;
  case ExprKind::Range:
    maybe(cast<RangeExpr>(expr)->low);
    maybe(cast<RangeExpr>(expr)->high);
    break;
  case ExprKind::Unary:
    visit(cast<UnaryExpr>(expr)->operand);
    break;
  case ExprKind::Borrow:
    visit(cast<BorrowExpr>(expr)->operand);
    break;
  case ExprKind::Binary:
    visit(cast<BinaryExpr>(expr)->left);
    visit(cast<BinaryExpr>(expr)->right);
    break;
  case ExprKind::Assign:
    for (const Expr* value : cast<AssignExpr>(expr)->values)
      visit(value);
    for (const Expr* target : cast<AssignExpr>(expr)->targets)
      visit(target);
    break;
  case ExprKind::Cast:
    visit(cast<CastExpr>(expr)->operand);
    break;
  case ExprKind::Try:
    visit(cast<TryExpr>(expr)->operand);
    break;
  case ExprKind::Pipe: {
    auto* pipe = cast<PipeExpr>(expr);
    if (pipe->desugared) {
      visit(pipe->desugared);
      break;
    }
    maybe(pipe->value);
    maybe(pipe->step);
    break;
  }
  case ExprKind::Return:
    maybe(cast<ReturnExpr>(expr)->value);
    break;
  case ExprKind::Break:
    maybe(cast<BreakExpr>(expr)->value);
    break;
  case ExprKind::Comptime:
    maybe(cast<ComptimeExpr>(expr)->body);
    break;
  }
}

void forEachBinding(const Pattern* pattern, llvm::function_ref<void(const Variable*)> visit) {
  switch (pattern->kind) {
  case PatternKind::Error:
  case PatternKind::Wildcard:
  case PatternKind::Literal:
  case PatternKind::Range:
  case PatternKind::Path:
    break;
  case PatternKind::Rest:
    if (auto* variable = cast<RestPattern>(pattern)->variable)
      visit(variable);
    break;
  case PatternKind::Binding: {
    auto* binding = cast<BindingPattern>(pattern);
    if (binding->target.kind == TargetKind::None)
      visit(binding->variable);
    if (binding->sub)
      forEachBinding(binding->sub, visit);
    break;
  }
  case PatternKind::TupleStruct:
    for (const Pattern* element : cast<TupleStructPattern>(pattern)->elements)
      forEachBinding(element, visit);
    break;
  case PatternKind::Struct:
    for (const FieldPattern& field : cast<StructPattern>(pattern)->fields)
      if (field.pattern)
        forEachBinding(field.pattern, visit);
    break;
  case PatternKind::Tuple:
    for (const Pattern* element : cast<TuplePattern>(pattern)->elements)
      forEachBinding(element, visit);
    break;
  case PatternKind::Slice:
    for (const Pattern* element : cast<SlicePattern>(pattern)->elements)
      forEachBinding(element, visit);
    break;
  case PatternKind::Or: // the alternatives share the variables of the first
    forEachBinding(cast<OrPattern>(pattern)->alternatives.front(), visit);
    break;
  case PatternKind::Reference:
    forEachBinding(cast<ReferencePattern>(pattern)->sub, visit);
    break;
  }
}

const Pattern* withoutReference(const Pattern* pattern) {
  while (auto* reference = dyn_cast<ReferencePattern>(pattern))
    pattern = reference->sub;
  return pattern;
}

const Variable* rootVariable(const Expr* place) {
  const PathExpr* path = rootPath(place);
  return path ? path->target.variable : nullptr;
}

const PathExpr* rootPath(const Expr* place) {
  for (;;) {
    if (auto* path = dyn_cast<PathExpr>(place))
      return path->target.kind == TargetKind::Variable ? path : nullptr;
    if (auto* field = dyn_cast<FieldExpr>(place))
      place = field->object;
    else if (auto* position = dyn_cast<TupleFieldExpr>(place))
      place = position->object;
    else if (auto* index = dyn_cast<IndexExpr>(place))
      place = index->object;
    else if (auto* borrow = dyn_cast<BorrowExpr>(place))
      place = borrow->operand;
    else if (auto* unary = dyn_cast<UnaryExpr>(place); unary && unary->op == UnaryOp::Deref)
      place = unary->operand;
    else if (auto* call = dyn_cast<MethodCallExpr>(place);
             call && call->name.name.text() == "or_insert")
      place = call->receiver; // what it answers can be changed in place
    else
      return nullptr;
  }
}

// ---- facts
// ----------------------------------------------------------------------------------------

namespace {

class Gatherer {
public:
  Gatherer(BodyFacts& facts, check::Program& program,
           llvm::function_ref<types::Type*(types::Type*)> concrete)
      : facts_(facts), program_(program), concrete_(concrete) {}

  void declare(const Variable* variable) { uses_[variable].loop = loop_; }
  void declare(const Pattern* pattern) {
    if (pattern)
      forEachBinding(pattern, [&](const Variable* v) { declare(v); });
  }

  void walk(const Expr* expr) {
    if (const Expr* other = program_.folded(const_cast<Expr*>(expr)); other && other != expr) {
      // Text from elsewhere: its spans say nothing about order here.
      ++fixed_;
      walk(other);
      --fixed_;
      return;
    }
    switch (expr->kind) {
    case ExprKind::Path:
      use(cast<PathExpr>(expr));
      return;
    case ExprKind::Closure:
      for (const Variable* variable : cast<ClosureExpr>(expr)->captures) {
        facts_.captured.insert(variable);
        uses_[variable].fixed = true;
      }
      return;
    case ExprKind::Block: {
      auto* block = cast<BlockExpr>(expr);
      for (const Stmt* stmt : block->statements)
        walk(stmt);
      if (block->tail)
        walk(block->tail);
      return;
    }
    case ExprKind::LetCondition: {
      auto* let = cast<LetConditionExpr>(expr);
      walk(let->value);
      declare(let->pattern);
      return;
    }
    case ExprKind::While: {
      auto* loop = cast<WhileExpr>(expr);
      inLoop([&] {
        for (const Expr* condition : loop->conditions)
          walk(condition);
        walk(loop->body);
      });
      return;
    }
    case ExprKind::Loop:
      inLoop([&] { walk(cast<LoopExpr>(expr)->body); });
      return;
    case ExprKind::For: {
      auto* loop = cast<ForExpr>(expr);
      if (loop->unrolled) {
        ++fixed_;
        for (const BlockExpr* body : loop->unrolledBodies)
          walk(body);
        --fixed_;
        return;
      }
      walk(loop->iterable);
      inLoop([&] {
        declare(loop->pattern);
        walk(loop->body);
      });
      return;
    }
    case ExprKind::Match: {
      auto* match = cast<MatchExpr>(expr);
      walk(match->subject);
      for (const MatchArm& arm : match->arms) {
        declare(arm.pattern);
        if (arm.guard) {
          ++fixed_; // when it fails the subject is looked at again
          walk(arm.guard);
          --fixed_;
        }
        walk(arm.body);
      }
      return;
    }
    case ExprKind::MethodCall: {
      auto* call = cast<MethodCallExpr>(expr);
      walk(call->receiver);
      for (const Argument& argument : call->arguments)
        walkArgument(argument.value);
      // A receiver that is a place, or a variable, is looked at again after the arguments.
      if (const PathExpr* root = rootPath(call->receiver))
        use(root);
      return;
    }
    case ExprKind::Call: {
      auto* call = cast<CallExpr>(expr);
      walk(call->callee);
      for (const Argument& argument : call->arguments)
        walkArgument(argument.value);
      return;
    }
    case ExprKind::Assign: {
      auto* assign = cast<AssignExpr>(expr);
      for (const Expr* value : assign->values)
        walk(value);
      for (const Expr* target : assign->targets)
        walkTarget(target, assign->compound);
      if (!assign->compound && assign->targets.size() == 1 && assign->values.size() == 1)
        overwritten(assign->targets[0], assign->values[0]);
      return;
    }
    default: // the rest has no order of its own
      forEachChild(expr, [&](const Expr* child) { walk(child); });
      return;
    }
  }

  void finish() {
    for (auto& [variable, use] : uses_)
      if (use.last && !use.fixed && use.lastLoop == use.loop && !variable->capturedByReference)
        facts_.lastUse[variable] = use.last;
  }

private:
  struct Uses {
    uint32_t loop = 0; // in which it is declared
    uint32_t lastLoop = 0;
    const Expr* last = nullptr;
    bool fixed = false; // never taken
  };

  void inLoop(llvm::function_ref<void()> body) {
    uint32_t before = loop_;
    loop_ = ++loops_;
    body();
    loop_ = before;
  }

  void use(const PathExpr* path) {
    if (path->target.kind != TargetKind::Variable)
      return;
    Uses& uses = uses_[path->target.variable];
    uses.last = path;
    uses.lastLoop = loop_;
    if (fixed_)
      uses.fixed = true;
  }

  void walkArgument(const Expr* argument) {
    if (auto* borrow = dyn_cast<BorrowExpr>(argument);
        borrow && borrow->mutability == Mutability::Mutable)
      if (auto* path = dyn_cast<PathExpr>(borrow->operand);
          path && path->target.kind == TargetKind::Variable && path->target.variable->type &&
          concrete_(path->target.variable->type)->isSequence())
        facts_.borrowed.insert(path->target.variable);
    walk(argument);
  }

  void walkTarget(const Expr* target, bool isCompound) {
    if (auto* path = dyn_cast<PathExpr>(target); path && !isCompound)
      return; // written, not read
    walk(target);
  }

  void walk(const Stmt* stmt) {
    switch (stmt->kind) {
    case StmtKind::Let: {
      auto* let = cast<LetStmt>(stmt);
      if (let->value) {
        walk(let->value);
        if (auto* path = llvm::dyn_cast_or_null<PathExpr>(referredPlace(let->value));
            path && path->target.kind == TargetKind::Variable)
          facts_.borrowed.insert(path->target.variable);
      }
      if (let->elseBlock)
        walk(let->elseBlock);
      declare(let->pattern);
      return;
    }
    case StmtKind::Defer:
      ++fixed_; // runs later than where it stands
      walk(cast<DeferStmt>(stmt)->expr);
      --fixed_;
      return;
    case StmtKind::Expr:
    case StmtKind::Item:
      forEachChild(stmt, [&](const Expr* child) { walk(child); });
      return;
    }
  }

  /// `v = .. v ..`: the last read of v on the right may take it, unless control can leave in
  /// between.
  void overwritten(const Expr* target, const Expr* value) {
    auto* path = dyn_cast<PathExpr>(target);
    if (!path || path->target.kind != TargetKind::Variable)
      return;
    if (value->kind != ExprKind::Call && value->kind != ExprKind::MethodCall &&
        value->kind != ExprKind::Binary)
      return;
    const Expr* last = nullptr;
    bool leaves = fixed_ != 0;
    unsigned budget = 200;
    findLast(path->target.variable, value, last, leaves, budget);
    if (!last || leaves || !budget)
      return;
    constexpr size_t kMaxListed = 64;
    auto& listed = facts_.overwritten[path->target.variable];
    if (listed.size() < kMaxListed)
      listed.push_back(last);
  }
  void findLast(const Variable* variable, const Expr* expr, const Expr*& last, bool& leaves,
                unsigned& budget) {
    if (!budget || leaves)
      return;
    --budget;
    switch (expr->kind) {
    case ExprKind::Path:
      if (cast<PathExpr>(expr)->target.variable == variable)
        last = expr;
      return;
    case ExprKind::Break:
    case ExprKind::Continue:
    case ExprKind::While:
    case ExprKind::Loop:
    case ExprKind::For:
    case ExprKind::Match:
    case ExprKind::If:
    case ExprKind::Closure:
    case ExprKind::Block:
    case ExprKind::Comptime:
    case ExprKind::KnownCall:
    case ExprKind::Pipe:
      leaves = true;
      return;
    case ExprKind::MethodCall: {
      auto* call = cast<MethodCallExpr>(expr);
      findLast(variable, call->receiver, last, leaves, budget);
      for (const Argument& argument : call->arguments)
        findLast(variable, argument.value, last, leaves, budget);
      if (const PathExpr* root = rootPath(call->receiver);
          root && root->target.variable == variable)
        last = root;
      return;
    }
    default: // in the order of evaluation
      forEachChild(expr,
                   [&](const Expr* child) { findLast(variable, child, last, leaves, budget); });
    }
  }

  BodyFacts& facts_;
  check::Program& program_;
  llvm::function_ref<types::Type*(types::Type*)> concrete_;
  llvm::DenseMap<const Variable*, Uses> uses_;
  uint32_t loop_ = 0, loops_ = 0;
  unsigned fixed_ = 0;
};

} // namespace

void BodyFacts::gather(const Expr* body, check::Program& program,
                       llvm::function_ref<types::Type*(types::Type*)> concrete,
                       llvm::ArrayRef<const Variable*> parameters) {
  Gatherer gatherer(*this, program, concrete);
  for (const Variable* variable : parameters)
    gatherer.declare(variable);
  gatherer.walk(body);
  gatherer.finish();
}

const Expr* referredPlace(const Expr* value) {
  if (auto* borrow = llvm::dyn_cast_or_null<BorrowExpr>(value))
    return borrow->mutability == Mutability::Mutable ? borrow->operand : nullptr;
  auto* path = llvm::dyn_cast_or_null<PathExpr>(value);
  const bool isReference = path && path->target.kind == TargetKind::Variable &&
                           path->target.variable->type &&
                           path->target.variable->type->isMutableRef();
  return isReference ? value : nullptr;
}

} // namespace gos::lower
