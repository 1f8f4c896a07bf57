#include "compiler/check/holdings.h"

#include "compiler/check/fates.h"
#include "compiler/check/walk.h"

namespace gos::check {

namespace {
constexpr unsigned kMaxDepth = 4000; // past what the checker walks itself
constexpr unsigned kMostRounds = 64;
constexpr size_t kMostTypes = 1000;

constexpr const char* kReturnedText = "it is returned here";
constexpr const char* kLeftText = "it leaves the block of the reference here";
constexpr const char* kStoredText = "it is stored here, in what outlives the reference";
constexpr const char* kUnknownText = "it is given away here, and what becomes of it is not known";
constexpr const char* kSpawnedText = "it is given to another goroutine here";
constexpr const char* kTooMuchText = "where it goes comes to more than is looked at";

bool isLibrary(const FunctionItem* function) {
  return function->builtin >= 0 || (function->parentModule && function->parentModule->package == 0);
}
} // namespace

Holdings::Holdings(Checker& checker, Fates& fates, Item* item)
    : checker_(checker), fates_(fates), item_(item) {
  const HeldScope* outermost = open(item);
  scope_ = outermost;
  auto* function = dyn_cast<FunctionItem>(item);
  if (!function)
    return;
  const Signature& signature = checker.functionInfo(function).signature;
  nodes_ = 2 * std::min(function->parameters.size(), signature.parameters.size());
  origins_.resize(nodes_);
  for (size_t i = 0; i < nodes_ / 2; ++i) {
    Type* type = signature.parameters[i];
    Pattern* pattern = function->parameters[i].pattern;
    auto* binding = dyn_cast_or_null<BindingPattern>(pattern);
    if (binding) {
      parameters_[binding->variable] = i;
      if (type->is(Kind::Fn))
        callables_[binding->variable] = i;
    }
    if (pattern)
      bind(pattern, canHold(type) ? one(2 * i) : Held());
  }
}

bool Holdings::read() {
  std::vector<uint8_t> before;
  for (size_t i = 0; i < nodes_; ++i)
    before.push_back(origins_[i].fates);
  auto* function = dyn_cast<FunctionItem>(item_);
  auto* constant = dyn_cast<ConstItem>(item_);
  Expr* body = function   ? static_cast<Expr*>(function->body)
               : constant ? constant->value
                          : cast<StaticItem>(item_)->value;
  unsigned rounds = 0;
  do {
    changed_ = false;
    frames_.push_back({nullptr, {}});
    if (body) {
      auto* whole = dyn_cast<BlockExpr>(body);
      const Held held = whole ? block(whole, true) : value(body);
      leaveFrame(held, whole && whole->tail ? whole->tail->span : body->span);
    }
    frames_.pop_back();
  } while (changed_ && ++rounds < kMostRounds);
  if (changed_)
    for (size_t i = 0; i < origins_.size(); ++i)
      escape(one(i), {Fate::Kept, body->span, kTooMuchText, nullptr});
  for (size_t i = 0; i < nodes_; ++i)
    if (before[i] != origins_[i].fates)
      return true;
  return false;
}

// ---- sets, scopes, fates ------------------------------------------------------------------------

Holdings::Held Holdings::one(size_t origin) const {
  Held held(unsigned(origin) + 1);
  held.set(unsigned(origin));
  return held;
}

void Holdings::add(Held& into, const Held& from) {
  if (from.test(into))
    changed_ = true;
  into |= from;
}

const HeldScope* Holdings::open(const void* node) {
  auto [found, isNew] = scopes_.try_emplace(node);
  if (isNew)
    found->second.parent = scope_;
  return &found->second;
}

void Holdings::escape(const Held& held, const Sink& sink) {
  for (unsigned index : held.set_bits()) {
    Origin& origin = origins_[index];
    origin.fates |= sink.fate;
    if (sink.fate <= origin.worst)
      continue;
    origin.worst = sink.fate;
    origin.at = sink.at;
    origin.how = sink.how;
    origin.to = sink.to;
  }
}

/// The value goes where `to` is in scope; none: out of the function.
void Holdings::leave(const Held& held, const HeldScope* to, Span at, StringRef how) {
  for (unsigned index : held.set_bits()) {
    if (index < nodes_)
      continue;
    const HeldScope* inside = to;
    while (inside && inside != origins_[index].scope)
      inside = inside->parent;
    if (!inside)
      escape(one(index), {Fate::Kept, at, how});
  }
}

void Holdings::leaveFrame(const Held& held, Span at) {
  Frame& frame = frames_.back();
  if (!frame.around)
    return escape(held, {Fate::Answered, at, kReturnedText, nullptr});
  leave(held, frame.around, at, kReturnedText);
  frame.answer |= held;
}

size_t Holdings::originOf(const Variable* reference, const ClosureExpr* closure) {
  auto [found, isNew] = indexes_.try_emplace({reference, closure}, origins_.size());
  if (isNew) {
    Origin origin;
    origin.reference = reference;
    origin.closure = closure;
    origin.scope = known_[reference].scope;
    origins_.push_back(origin);
  }
  return found->second;
}

/// May a value of the type hold a closure? A type that is not known may, if `anyParameter`.
bool Holdings::canHold(Type* type, bool anyParameter) {
  if (!type)
    return false;
  auto [found, isNew] = canHold_[anyParameter].try_emplace(type, false);
  if (!isNew)
    return found->second;
  SmallVector<Type*, 8> work{type};
  llvm::SmallPtrSet<Type*, 8> seen;
  bool holds = false;
  while (!work.empty() && !holds) {
    Type* each = work.pop_back_val();
    if (each->has(Type::HasError) || !seen.insert(each).second)
      continue;
    holds = each->is(Kind::Fn) || seen.size() > kMostTypes ||
            (anyParameter && (each->is(Kind::Param) || each->is(Kind::Projection)));
    work.append(each->args.begin(), each->args.end());
    if (auto* structure = each->is(Kind::Struct) ? cast<StructItem>(each->item) : nullptr) {
      checker_.resolveFields(structure);
      for (uint32_t i = 0; i < structure->fields.size(); ++i)
        work.push_back(checker_.fieldType(each, i));
    } else if (auto* item = each->is(Kind::Enum) ? cast<EnumItem>(each->item) : nullptr) {
      checker_.resolveFields(item);
      for (uint32_t i = 0; i < item->variants.size(); ++i)
        for (uint32_t k = 0; k < item->variants[i].fields.size(); ++k)
          work.push_back(checker_.payloadType(each, i, k));
    } else if (each->is(Kind::Newtype)) {
      work.push_back(checker_.representation(each));
    }
  }
  return canHold_[anyParameter][type] = holds;
}

// ---- variables and places -----------------------------------------------------------------------

void Holdings::declare(Variable* variable, const Held& held) {
  if (!variable || !variable->type)
    return;
  Known& known = known_[variable];
  known.scope = scope_;
  if (canHold(variable->type))
    add(known.held, held);
}

void Holdings::bind(Pattern* pattern, const Held& held) {
  const auto all = [&](ArrayRef<Pattern*> list) {
    for (Pattern* each : list)
      bind(each, held);
  };
  switch (pattern->kind) {
  case PatternKind::Error:
  case PatternKind::Wildcard:
  case PatternKind::Literal:
  case PatternKind::Range:
  case PatternKind::Path:
    return;
  case PatternKind::Rest:
    return declare(cast<RestPattern>(pattern)->variable, held);
  case PatternKind::Binding:
    if (Pattern* sub = cast<BindingPattern>(pattern)->sub)
      bind(sub, held);
    return declare(cast<BindingPattern>(pattern)->variable, held);
  case PatternKind::TupleStruct:
    return all(cast<TupleStructPattern>(pattern)->elements);
  case PatternKind::Struct:
    for (const FieldPattern& field : cast<StructPattern>(pattern)->fields)
      bind(field.pattern, held);
    return;
  case PatternKind::Tuple:
    return all(cast<TuplePattern>(pattern)->elements);
  case PatternKind::Slice:
    return all(cast<SlicePattern>(pattern)->elements);
  case PatternKind::Or:
    return all(cast<OrPattern>(pattern)->alternatives);
  case PatternKind::Reference:
    return bind(cast<ReferencePattern>(pattern)->sub, held);
  }
}

/// Something of the place now holds it, too.
void Holdings::store(Expr* place, const Held& held, Span at) {
  if (held.none())
    return;
  place = checker_.folded(place);
  if (auto* method = dyn_cast<MethodCallExpr>(place))
    return store(method->receiver, held, at);
  const Variable* variable = checker_.rootVariable(place);
  if (!variable) {
    // What is no place is gone with the statement; a static is there to the end.
    auto* path = dyn_cast<PathExpr>(place);
    if (path && path->target.kind == TargetKind::Static)
      escape(held, {Fate::Kept, at, kStoredText, nullptr});
    return;
  }
  for (unsigned hops = 0; variable && variable->type && hops < kMostRounds; ++hops) {
    if (!canHold(variable->type))
      return;
    Known& known = known_[variable];
    add(known.held, held);
    leave(held, known.scope, at, kStoredText);
    if (!variable->type->isMutableRef())
      return;
    if (known.root) {
      variable = known.root;
      continue;
    }
    // Of a parameter the caller knows what it points to; of a closure's nobody does.
    const bool isParameter = parameters_.count(variable);
    return escape(held,
                  {uint8_t(isParameter ? Fate::Stored : Fate::Kept), at, kStoredText, nullptr});
  }
}

// ---- expressions --------------------------------------------------------------------------------

Holdings::Held Holdings::value(Expr* expr) {
  if (!expr || depth_ >= kMaxDepth)
    return {};
  ++depth_;
  expr = checker_.folded(expr);
  Held held = valueOf(expr);
  --depth_;
  return held.any() && canHold(expr->type) ? held : Held();
}

Holdings::Held Holdings::parts(Expr* expr) {
  Held held;
  forEachPart(expr, [&](Expr* part) { held |= value(part); });
  return held;
}

Holdings::Held Holdings::block(BlockExpr* expr, bool isBody) {
  const HeldScope* around = std::exchange(scope_, open(expr));
  for (Stmt* statement : expr->statements) {
    if (auto* let = dyn_cast<LetStmt>(statement)) {
      Held held = value(let->value);
      bind(let->pattern, held);
      auto* binding = dyn_cast<BindingPattern>(let->pattern);
      if (binding && let->value && binding->variable->type &&
          binding->variable->type->is(Kind::Ref))
        known_[binding->variable].root = checker_.rootVariable(checker_.folded(let->value));
      value(let->elseBlock);
    } else if (auto* plain = dyn_cast<ExprStmt>(statement)) {
      value(plain->expr);
    } else if (auto* deferred = dyn_cast<DeferStmt>(statement)) {
      value(deferred->expr);
    }
  }
  Held held = value(expr->tail);
  scope_ = around;
  if (expr->tail && !isBody)
    leave(held, around, expr->tail->span, kLeftText);
  return held;
}

Holdings::Held Holdings::captured(ClosureExpr* closure, bool isDirect) {
  Held held;
  for (const Variable* variable : closure->captures) {
    if (!variable->type)
      continue;
    const bool isReference = variable->type->isMutableRef() ||
                             (variable->readThrough && variable->name != checker_.selfName_);
    if (isDirect && isReference)
      held |= one(originOf(variable, closure));
    held |= known_[variable].held;
  }
  return held;
}

/// What a call of it answers.
Holdings::Held Holdings::closureBody(ClosureExpr* closure, const Held& inputs) {
  const HeldScope* around = std::exchange(scope_, open(closure));
  for (const ClosureParameter& parameter : closure->parameters)
    if (parameter.pattern)
      bind(parameter.pattern, inputs);
  frames_.push_back({around, {}});
  auto* whole = dyn_cast<BlockExpr>(checker_.folded(closure->body));
  const Held held = whole ? block(whole, true) : value(closure->body);
  leaveFrame(held, whole && whole->tail ? whole->tail->span : closure->body->span);
  scope_ = around;
  return frames_.pop_back_val().answer;
}

Holdings::Held Holdings::valueOf(Expr* expr) {
  switch (expr->kind) {
  case ExprKind::Path: {
    const Target& target = cast<PathExpr>(expr)->target;
    if (target.kind != TargetKind::Variable || !target.variable)
      return {};
    // A function that is a value may be called by whoever gets it.
    if (auto index = callableParameter(expr))
      escape(one(2 * *index), {Fate::Kept, expr->span, kUnknownText, nullptr});
    return known_[target.variable].held;
  }
  case ExprKind::Closure: {
    auto* closure = cast<ClosureExpr>(expr);
    for (const Variable* variable : closure->captures)
      if (auto found = callables_.find(variable); found != callables_.end())
        escape(one(2 * found->second), {Fate::Kept, expr->span, kUnknownText, nullptr});
    Held held = captured(closure, false);
    held |= closureBody(closure, {});
    return held;
  }
  case ExprKind::Block:
    return block(cast<BlockExpr>(expr), false);
  case ExprKind::If: {
    auto* branch = cast<IfExpr>(expr);
    const HeldScope* around = std::exchange(scope_, open(expr));
    for (Expr* condition : branch->conditions)
      value(condition);
    Held held = value(branch->thenBlock);
    scope_ = around;
    leave(held, around, branch->thenBlock->span, kLeftText);
    held |= value(branch->elseBranch);
    return held;
  }
  case ExprKind::LetCondition: {
    auto* condition = cast<LetConditionExpr>(expr);
    bind(condition->pattern, value(condition->value));
    return {};
  }
  case ExprKind::While: {
    const HeldScope* around = std::exchange(scope_, open(expr));
    parts(expr);
    scope_ = around;
    return {};
  }
  case ExprKind::Loop: {
    loops_[expr].around = scope_;
    parts(expr);
    return loops_[expr].held;
  }
  case ExprKind::For: {
    auto* loop = cast<ForExpr>(expr);
    if (loop->unrolled) {
      for (BlockExpr* body : loop->unrolledBodies)
        value(body);
      return {};
    }
    Held held = value(loop->iterable);
    const HeldScope* around = std::exchange(scope_, open(expr));
    bind(loop->pattern, held);
    value(loop->body);
    scope_ = around;
    return {};
  }
  case ExprKind::Match: {
    auto* match = cast<MatchExpr>(expr);
    const Held subject = value(match->subject);
    Held held;
    for (const MatchArm& arm : match->arms) {
      const HeldScope* around = std::exchange(scope_, open(&arm));
      bind(arm.pattern, subject);
      value(arm.guard);
      Held answer = value(arm.body);
      scope_ = around;
      held |= answer;
    }
    return held;
  }
  case ExprKind::Break: {
    auto* left = cast<BreakExpr>(expr);
    Held held = value(left->value);
    if (auto found = loops_.find(left->target); found != loops_.end()) {
      leave(held, found->second.around, expr->span, kLeftText);
      add(found->second.held, held);
    }
    return {};
  }
  case ExprKind::Return: {
    Held held = value(cast<ReturnExpr>(expr)->value);
    leaveFrame(held, expr->span);
    return {};
  }
  case ExprKind::Try: {
    Expr* operand = cast<TryExpr>(expr)->operand;
    Held held = value(operand);
    Type* type = held.any() && operand->type ? operand->type->withoutReferences() : nullptr;
    if (type && type->is(Kind::Enum) && type->args.size() == 2 && canHold(type->args[1]))
      leaveFrame(held, expr->span); // the error
    return held;
  }
  case ExprKind::Assign: {
    auto* assign = cast<AssignExpr>(expr);
    Held held;
    for (Expr* each : assign->values)
      held |= value(each);
    for (Expr* target : assign->targets) {
      value(target);
      store(target, held, expr->span);
    }
    return {};
  }
  case ExprKind::Binary: {
    // Chains are deep on the left.
    Held held;
    Expr* left = expr;
    while (auto* binary = dyn_cast<BinaryExpr>(left)) {
      held |= value(binary->right);
      left = checker_.folded(binary->left);
    }
    held |= value(left);
    return held;
  }
  case ExprKind::Pipe:
    if (Expr* meant = cast<PipeExpr>(expr)->desugared)
      return value(meant);
    return parts(expr);
  case ExprKind::Call: {
    auto* call = cast<CallExpr>(expr);
    Expr* callee = checker_.folded(call->callee);
    auto* path = dyn_cast<PathExpr>(callee);
    const TargetKind kind = path ? path->target.kind : TargetKind::Variable;
    if (kind == TargetKind::Function)
      return this->call(cast<FunctionItem>(path->target.item), nullptr, call->ordered);
    if (kind == TargetKind::Struct || kind == TargetKind::Variant || kind == TargetKind::None)
      return parts(expr);
    if (auto index = callableParameter(callee))
      return callValue(one(2 * *index + 1), call->ordered);
    return callValue(value(callee), call->ordered);
  }
  case ExprKind::MethodCall: {
    auto* method = cast<MethodCallExpr>(expr);
    if (method->fieldCall)
      return callValue(value(method->receiver), method->ordered);
    if (auto* function = dyn_cast_or_null<FunctionItem>(method->target.item))
      return call(function, method->receiver, method->ordered);
    return parts(expr);
  }
  default:
    return parts(expr);
  }
}

// ---- calls --------------------------------------------------------------------------------------

std::optional<size_t> Holdings::callableParameter(Expr* expr) {
  auto* path = dyn_cast<PathExpr>(expr);
  if (!path || path->target.kind != TargetKind::Variable)
    return std::nullopt;
  auto found = callables_.find(path->target.variable);
  return found == callables_.end() ? std::nullopt : std::optional<size_t>(found->second);
}

/// A call of what is no function with a name: what it does is not known.
Holdings::Held Holdings::callValue(const Held& callee, ArrayRef<Expr*> ordered) {
  Held held = callee;
  for (Expr* argument : ordered) {
    const Held given = value(argument);
    escape(given, {Fate::Kept, argument->span, kUnknownText, nullptr});
    held |= given;
  }
  return held;
}

/// What an argument holds that is no closure written there.
void Holdings::give(Given& given) {
  if (given.isCallable) {
    if (auto index = callableParameter(given.expr)) {
      given.self = one(2 * *index);
      given.answer = one(2 * *index + 1);
      return;
    }
  }
  given.self = value(given.expr);
  given.answer = given.self;
}

Holdings::Held Holdings::call(FunctionItem* function, Expr* receiver, ArrayRef<Expr*> ordered) {
  const Signature& signature = checker_.functionInfo(function).signature;
  SmallVector<Given, 4> given;
  const auto note = [&](Expr* argument) {
    if (!argument)
      return;
    Expr* expr = checker_.folded(argument);
    const size_t index = given.size();
    const bool isCallable =
        index < signature.parameters.size() && signature.parameters[index]->is(Kind::Fn);
    given.push_back({expr, isCallable ? dyn_cast<ClosureExpr>(expr) : nullptr, isCallable, {}, {}});
  };
  note(receiver);
  for (Expr* argument : ordered)
    note(argument);
  // What the values hold, the closures may be called with.
  Held inputs;
  for (Given& each : given)
    if (!each.closure) {
      give(each);
      inputs |= each.self;
      inputs |= each.answer;
    }
  // A closure that is kept or spawned by the library was reported where it was checked.
  const bool isDirect =
      !isLibrary(function) || checker_.fateOfArguments(function) == ClosureFate::Called;
  for (Given& each : given)
    if (each.closure) {
      each.self = captured(each.closure, isDirect);
      each.answer = closureBody(each.closure, inputs);
      inputs |= each.answer;
    }
  return isLibrary(function) ? ofLibrary(function, receiver, given)
                             : ofProgram(function, receiver, given);
}

/// What is known of the function so far, applied to what it is given.
Holdings::Held Holdings::ofProgram(FunctionItem* function, Expr* receiver, ArrayRef<Given> given) {
  Held answered, stored;
  for (size_t i = 0; i < given.size(); ++i) {
    const Given& each = given[i];
    for (bool answer : {false, true}) {
      const Held& held = answer ? each.answer : each.self;
      if (held.none())
        continue;
      const uint8_t fates = fates_.of(item_, function, 2 * i + answer);
      if (fates & Fate::Answered)
        answered |= held;
      if (fates & Fate::Stored)
        stored |= held;
      const Span at = each.expr->span;
      if (fates & Fate::Kept)
        escape(held, {Fate::Kept, at, kUnknownText, function});
      if (fates & Fate::Spawned)
        escape(held, {Fate::Spawned, at, kSpawnedText, function});
    }
  }
  storeAll(writesReceiver(function) ? receiver : nullptr, given, stored);
  return answered;
}

/// It holds what it is given in its answer, if that can hold it, or in what it may write.
Holdings::Held Holdings::ofLibrary(FunctionItem* function, Expr* receiver, ArrayRef<Given> given) {
  const Signature& signature = checker_.functionInfo(function).signature;
  const ClosureFate fate = checker_.fateOfArguments(function);
  const bool answersClosures = canHold(signature.result, false);
  Held answered, stored;
  for (size_t i = 0; i < given.size(); ++i) {
    const Given& each = given[i];
    answered |= each.answer;
    stored |= each.answer;
    if (!each.isCallable)
      continue;
    if (fate == ClosureFate::Spawned)
      escape(each.self, {Fate::Spawned, each.expr->span, kSpawnedText, nullptr});
    else if (fate == ClosureFate::Kept)
      escape(each.self, {Fate::Kept, each.expr->span, kUnknownText, nullptr});
    else if (answersClosures)
      answered |= each.self;
  }
  storeAll(writesReceiver(function) ? receiver : nullptr, given, stored);
  // What is shared by its copies, such as a channel, keeps what it is given.
  Type* type = receiver && receiver->type ? receiver->type->withoutReferences() : nullptr;
  const auto* structure = type && type->is(Kind::Struct) ? cast<StructItem>(type->item) : nullptr;
  if (structure && structure != checker_.lang_.iterator && structure->parentModule &&
      structure->parentModule->package == 0 && canHold(type))
    for (const Given& each : given.drop_front())
      escape(each.isCallable ? each.answer : each.self,
             {Fate::Kept, each.expr->span, kUnknownText, nullptr});
  return answered;
}

bool Holdings::writesReceiver(FunctionItem* function) {
  const Signature& signature = checker_.functionInfo(function).signature;
  return !signature.parameters.empty() && signature.parameters[0]->isMutableRef();
}

/// Into whatever the call may write.
void Holdings::storeAll(Expr* receiver, ArrayRef<Given> given, const Held& held) {
  if (held.none())
    return;
  for (const Given& each : given) {
    auto* borrow = dyn_cast<BorrowExpr>(each.expr);
    const bool isBorrowed = borrow && borrow->mutability == Mutability::Mutable;
    const bool isForwarded = each.expr->type && each.expr->type->isMutableRef();
    if (isBorrowed || isForwarded)
      store(each.expr, held, each.expr->span);
  }
  if (receiver)
    store(receiver, held, receiver->span);
}

} // namespace gos::check
