#include "compiler/check/effects.h"

#include "compiler/check/walk.h"

namespace gos::check {

namespace {
/// What is more than this is not looked at, and not known to be pure.
constexpr size_t kMostNodes = 20'000;
constexpr unsigned kMostInstances = 100;
constexpr size_t kMostParts = 1000;

constexpr const char* kTooMuch = "comes to more than is looked at";

std::string quoted(StringRef before, StringRef name, StringRef behind = "") {
  return (before + "`" + name + "`" + behind).str();
}
} // namespace

void Effects::note(const Scope& scope, std::string effect) {
  if (scope.node->effect.empty())
    scope.node->effect = std::move(effect);
}

Type* Effects::concrete(const Scope& scope, Type* type) {
  if (!type || scope.closure)
    return type;
  return checker_.substitute(type, scope.node->args, scope.node->self);
}

/// Index of the node, new or not. `kMostNodes`: there are too many.
size_t Effects::nodeOf(FunctionItem* function, ArrayRef<Type*> args, Type* self) {
  std::vector<const void*> key{function, self};
  key.insert(key.end(), args.begin(), args.end());
  const auto [found, isNew] = index_.try_emplace(std::move(key), nodes_.size());
  if (!isNew)
    return found->second;
  if (nodes_.size() == kMostNodes || ++instances_[function] > kMostInstances) {
    found->second = kMostNodes;
    return kMostNodes;
  }
  nodes_.push_back({function, checker_.types_.list<Type*>(args), self, false, false, {}, {}});
  return found->second;
}

/// Looks at the body of a function, once.
void Effects::read(size_t index) {
  Node& node = nodes_[index];
  if (std::exchange(node.isRead, true))
    return;
  FunctionItem* function = node.function;
  if (checker_.functionInfo(function).isTemplate) {
    function = checker_.instance(function, node.args, node.self);
    if (llvm::any_of(node.args, [](Type* arg) { return arg->has(Type::HasParam); }))
      return note({&node, nullptr}, "reflects on a type that is not known");
  }
  checker_.ensureChecked(function);
  look({&node, nullptr}, function->body);
}

void Effects::look(const Scope& scope, Expr* body) {
  SmallVector<Pending, 32> stack{{body, false}};
  SmallVector<Pending, 8> next;
  while (!stack.empty() && scope.node->effect.empty()) {
    const Pending pending = stack.pop_back_val();
    next.clear();
    visit(scope, pending, next);
    stack.append(next.rbegin(), next.rend()); // in the order of the text
  }
}

void Effects::visit(const Scope& scope, const Pending& pending, SmallVectorImpl<Pending>& next) {
  Expr* expr = checker_.folded(pending.expr);
  const auto parts = [&] { forEachPart(expr, [&](Expr* part) { next.push_back({part, false}); }); };
  const auto through = [&](Expr* part) {
    for (Pending& each : next)
      if (each.expr == part)
        each.isReadThrough = true;
  };
  switch (expr->kind) {
  case ExprKind::Comptime: // it runs while the program is compiled
    return;
  case ExprKind::KnownCall: {
    auto* known = cast<KnownCallExpr>(expr);
    if (known->which == KnownCall::Codegen)
      return;
    if (known->which <= KnownCall::Eprint || known->which == KnownCall::Dbg)
      return note(scope, "prints");
    parts();
    for (const FormatPiece& piece : known->pieces)
      if (piece.value) {
        through(piece.value);
        behaviour(scope, piece.value->type, "formats");
      }
    return;
  }
  case ExprKind::FString:
    parts();
    for (const FormatPiece& piece : cast<FStringExpr>(expr)->pieces)
      if (piece.value) {
        through(piece.value);
        behaviour(scope, piece.value->type, "formats");
      }
    return;
  case ExprKind::Assign: {
    auto* assign = cast<AssignExpr>(expr);
    for (Expr* target : assign->targets)
      write(scope, target);
    for (const Target& method : assign->methods)
      call(scope, method);
    parts();
    for (Expr* target : assign->targets)
      through(target);
    return;
  }
  case ExprKind::Borrow:
    if (cast<BorrowExpr>(expr)->mutability == Mutability::Mutable)
      write(scope, cast<BorrowExpr>(expr)->operand);
    return parts();
  case ExprKind::Call:
    if (cast<CallExpr>(expr)->isComptimeFn || cast<CallExpr>(expr)->isTypeInfo)
      return;
    return parts();
  case ExprKind::MethodCall: {
    auto* method = cast<MethodCallExpr>(expr);
    if (method->isComptimeFn)
      return;
    bool writes = false;
    if (auto* function = dyn_cast_or_null<FunctionItem>(method->target.item)) {
      const Signature& signature = checker_.functionInfo(function).signature;
      writes = !signature.parameters.empty() && signature.parameters[0]->isMutableRef();
      call(scope, method->target);
    }
    parts();
    if (writes)
      write(scope, method->receiver);
    else
      through(method->receiver);
    return;
  }
  case ExprKind::Path:
    return path(scope, cast<PathExpr>(expr), pending.isReadThrough, next);
  case ExprKind::Field:
    parts();
    return through(cast<FieldExpr>(expr)->object);
  case ExprKind::TupleField:
    parts();
    return through(cast<TupleFieldExpr>(expr)->object);
  case ExprKind::Index:
    call(scope, cast<IndexExpr>(expr)->method);
    behaviour(scope, cast<IndexExpr>(expr)->object->type, "looks up");
    parts();
    return through(cast<IndexExpr>(expr)->object);
  case ExprKind::Unary:
    call(scope, cast<UnaryExpr>(expr)->method);
    parts();
    if (cast<UnaryExpr>(expr)->op == UnaryOp::Deref)
      through(cast<UnaryExpr>(expr)->operand);
    return;
  case ExprKind::Binary: {
    auto* binary = cast<BinaryExpr>(expr);
    if (binary->method.item)
      call(scope, binary->method);
    else if (binary->op >= BinaryOp::Eq && binary->op <= BinaryOp::Ge)
      behaviour(scope, binary->left->type, "compares");
    return parts();
  }
  case ExprKind::Map:
  case ExprKind::Set:
    behaviour(scope, expr->type, "compares");
    return parts();
  case ExprKind::For: {
    auto* loop = cast<ForExpr>(expr);
    if (loop->unrolled) {
      for (BlockExpr* body : loop->unrolledBodies)
        next.push_back({body, false});
      return;
    }
    call(scope, loop->next);
    return parts();
  }
  case ExprKind::Try:
    call(scope, cast<TryExpr>(expr)->from);
    return parts();
  case ExprKind::Pipe:
    if (Expr* meant = cast<PipeExpr>(expr)->desugared)
      next.push_back({meant, false});
    else
      parts();
    return;
  default:
    return parts();
  }
}

void Effects::path(const Scope& scope, PathExpr* path, bool isReadThrough,
                   SmallVectorImpl<Pending>& next) {
  const Target& target = path->target;
  switch (target.kind) {
  case TargetKind::Function:
    // A function that is named is called, by whoever it is given to.
    return call(scope, target);
  case TargetKind::Variable: {
    const Variable* variable = target.variable;
    if (!scope.closure || !variable || !variable->type ||
        !llvm::is_contained(scope.closure->captures, variable))
      return;
    if (checker_.shallow(variable->type)->isMutableRef() && !isReadThrough)
      return note(scope, quoted("writes to ", variable->name.text()));
    if (holdsFunction(variable->type))
      note(scope,
           quoted("uses ", variable->name.text(), ", a function whose effects are not known"));
    return;
  }
  case TargetKind::Static:
    if (holdsFunction(checker_.constInfo(target.item).type))
      note(scope, quoted("uses ", target.item->name.name.text(),
                         ", a function whose effects are not known"));
    return;
  case TargetKind::Const:
  case TargetKind::AssociatedConst: {
    auto* constant = dyn_cast_or_null<ConstItem>(target.item);
    if (!constant || !constant->type || !holdsFunction(checker_.constInfo(constant).type))
      return;
    if (constant->value)
      next.push_back({constant->value, false});
    else
      note(scope,
           quoted("uses ", constant->name.name.text(), ", a function whose effects are not known"));
    return;
  }
  case TargetKind::None:
  case TargetKind::Struct:
  case TargetKind::Variant:
  case TargetKind::NumericConst:
  case TargetKind::ConstParam:
    return;
  }
}

/// A write to what the callback found, or to what all share.
void Effects::write(const Scope& scope, Expr* place) {
  while (place) {
    place = checker_.folded(place);
    switch (place->kind) {
    case ExprKind::Path: {
      const Target& target = cast<PathExpr>(place)->target;
      if (target.kind == TargetKind::Static)
        note(scope, quoted("writes to ", target.item->name.name.text()));
      else if (target.variable && scope.closure &&
               llvm::is_contained(scope.closure->captures, target.variable))
        note(scope, quoted("writes to ", target.variable->name.text()));
      return;
    }
    case ExprKind::Field:
      place = cast<FieldExpr>(place)->object;
      break;
    case ExprKind::TupleField:
      place = cast<TupleFieldExpr>(place)->object;
      break;
    case ExprKind::Index:
      place = cast<IndexExpr>(place)->object;
      break;
    case ExprKind::Borrow:
      place = cast<BorrowExpr>(place)->operand;
      break;
    case ExprKind::Unary:
      if (cast<UnaryExpr>(place)->op != UnaryOp::Deref)
        return;
      place = cast<UnaryExpr>(place)->operand;
      break;
    case ExprKind::MethodCall: // `map.or_insert(key, value).push(x)`: the call itself writes
    default:
      return;
    }
  }
}

void Effects::call(const Scope& scope, const Target& target) {
  auto* function =
      target.kind == TargetKind::Function ? dyn_cast_or_null<FunctionItem>(target.item) : nullptr;
  if (!function)
    return;
  SmallVector<Type*, 4> args;
  for (Type* arg : target.typeArgs)
    args.push_back(arg ? concrete(scope, arg) : checker_.types_.error());
  Type* self = concrete(scope, target.selfType);
  const StringRef name = function->name.name.text();
  if (isa_and_nonnull<TraitItem>(checker_.functionInfo(function).context.owner)) {
    Type* plain = self ? checker_.shallow(self)->withoutReferences() : nullptr;
    if (!plain || plain->is(Kind::Param) || plain->is(Kind::Projection) || plain->is(Kind::Infer))
      return note(scope, quoted("calls ", name, " through a bound, whose impl is not known"));
    const Selected selected = checker_.select(function, args, plain);
    if (selected.isStructural)
      return behaviour(scope, plain, "compares");
    function = selected.function;
    args.assign(selected.typeArgs.begin(), selected.typeArgs.end());
    self = selected.self;
  }
  if (function->foreign)
    return note(scope, quoted("calls ", name, ", a function of a foreign library"));
  if (function->builtin >= 0)
    return native(scope, function, args);
  if (!function->body)
    return note(scope, quoted("calls ", name, ", of which nothing is known"));
  const size_t index = nodeOf(function, args, self);
  if (index == kMostNodes)
    return note(scope, kTooMuch);
  scope.node->callees.push_back(index);
}

/// A native formats, compares and copies values as their impls say.
void Effects::native(const Scope& scope, FunctionItem* function, ArrayRef<Type*> args) {
  if (!checker_.input_.library || checker_.input_.library->hasEffect(function->builtin))
    return note(scope, quoted("calls ", function->name.name.text()));
  for (Type* arg : args)
    behaviour(scope, arg, "handles");
}

void Effects::behaviour(const Scope& scope, Type* type, const char* what) {
  if (!type || !scope.node->effect.empty())
    return;
  const Hooks& hooks = hooksOf(concrete(scope, type));
  if (hooks.isOpen)
    return note(scope,
                std::string(what) + " values of a type parameter, whose impls are not known");
  for (const Selected& each : hooks.functions) {
    if (!each.function->body)
      continue;
    const size_t index = nodeOf(each.function, each.typeArgs, each.self);
    if (index == kMostNodes)
      return note(scope, kTooMuch);
    scope.node->callees.push_back(index);
  }
}

const Effects::Hooks& Effects::hooksOf(Type* type) {
  const auto [found, isNew] = hooks_.try_emplace(type);
  Hooks& hooks = found->second;
  if (!isNew)
    return hooks;
  llvm::SmallPtrSet<Type*, 16> seen;
  SmallVector<Type*, 16> parts{type};
  while (!parts.empty()) {
    Type* part = checker_.shallow(parts.pop_back_val());
    if (!seen.insert(part).second)
      continue;
    if (seen.size() > kMostParts || part->is(Kind::Infer)) {
      hooks.isOpen = seen.size() > kMostParts;
      continue;
    }
    if (part->is(Kind::Param) || part->is(Kind::Projection)) {
      hooks.isOpen |= !checker_.boundsOf(part).empty();
      continue;
    }
    if (part->is(Kind::Fn) || part->isConstArgument())
      continue;
    parts.append(part->args.begin(), part->args.end());
    if (!part->isNominal())
      continue;
    for (Hook which :
         {Hook::Display, Hook::Debug, Hook::Equal, Hook::Compare, Hook::Clone, Hook::Default})
      if (const std::optional<Selected> own = checker_.hook(which, part))
        hooks.functions.push_back(*own);
    if (part->is(Kind::Newtype)) {
      parts.push_back(checker_.representation(part));
    } else if (auto* structure = dyn_cast<StructItem>(part->item)) {
      for (unsigned i = 0; i < structure->fields.size(); ++i)
        parts.push_back(checker_.fieldType(part, i));
    } else if (auto* enumeration = dyn_cast<EnumItem>(part->item)) {
      for (unsigned variant = 0; variant < enumeration->variants.size(); ++variant)
        for (unsigned i = 0; i < enumeration->variants[variant].fields.size(); ++i)
          parts.push_back(checker_.payloadType(part, variant, i));
    }
  }
  return hooks;
}

/// Is a function part of a value of the type?
bool Effects::holdsFunction(Type* type) {
  const auto [found, isNew] = functions_.try_emplace(type, false);
  if (!isNew)
    return found->second;
  llvm::SmallPtrSet<Type*, 16> seen;
  SmallVector<Type*, 16> parts{type};
  bool holds = false;
  while (!parts.empty() && !holds) {
    Type* part = checker_.shallow(parts.pop_back_val());
    if (!seen.insert(part).second)
      continue;
    holds = part->is(Kind::Fn) || seen.size() > kMostParts;
    parts.append(part->args.begin(), part->args.end());
    if (!part->isNominal())
      continue;
    if (part->is(Kind::Newtype)) {
      parts.push_back(checker_.representation(part));
    } else if (auto* structure = dyn_cast<StructItem>(part->item)) {
      for (unsigned i = 0; i < structure->fields.size(); ++i)
        parts.push_back(checker_.fieldType(part, i));
    } else if (auto* enumeration = dyn_cast<EnumItem>(part->item)) {
      for (unsigned variant = 0; variant < enumeration->variants.size(); ++variant)
        for (unsigned i = 0; i < enumeration->variants[variant].fields.size(); ++i)
          parts.push_back(checker_.payloadType(part, variant, i));
    }
  }
  functions_[type] = holds;
  return holds;
}

/// The effect of a node or of what it comes to, in words, nearest first.
std::string Effects::reached(Node& from) {
  if (!from.effect.empty())
    return from.effect;
  SmallVector<std::pair<size_t, size_t>, 16> queue; // a node, and where in the queue its caller is
  llvm::DenseSet<size_t> seen;
  const auto enter = [&](const Node& node, size_t by) {
    for (size_t callee : node.callees)
      if (!nodes_[callee].isPure && seen.insert(callee).second)
        queue.push_back({callee, by});
  };
  enter(from, SIZE_MAX);
  for (size_t at = 0; at < queue.size(); ++at) {
    const size_t index = queue[at].first;
    read(index);
    if (const Node& node = nodes_[index]; !node.effect.empty()) {
      size_t first = at;
      while (queue[first].second != SIZE_MAX)
        first = queue[first].second;
      std::string text = quoted("calls ", nodes_[queue[first].first].function->name.name.text());
      if (first != at)
        text += quoted(", and by it ", node.function->name.name.text());
      return text + ", which " + node.effect;
    }
    enter(nodes_[index], at);
  }
  for (const auto& [index, by] : queue)
    nodes_[index].isPure = true;
  return {};
}

std::string Effects::ofCallback(Expr* callback) {
  Expr* real = checker_.folded(callback);
  Node top{nullptr, {}, nullptr, true, false, {}, {}};
  if (auto* closure = dyn_cast<ClosureExpr>(real)) {
    const Scope scope{&top, closure};
    for (const ClosureParameter& parameter : closure->parameters)
      if (parameter.resolved && holdsFunction(parameter.resolved))
        note(scope, "is given functions, whose effects are not known");
    look(scope, closure->body);
    return reached(top);
  }
  auto* path = dyn_cast<PathExpr>(real);
  auto* function = path && path->target.kind == TargetKind::Function
                       ? dyn_cast_or_null<FunctionItem>(path->target.item)
                       : nullptr;
  if (!function)
    return "is neither a closure that is written here nor the name of a function";
  static const ClosureExpr kNone{Span()};
  const Scope scope{&top, &kNone};
  if (path->type && path->type->is(Kind::Fn) &&
      llvm::any_of(path->type->parameters(), [&](Type* each) { return holdsFunction(each); }))
    note(scope, "is given functions, whose effects are not known");
  call(scope, path->target);
  return reached(top);
}

} // namespace gos::check
