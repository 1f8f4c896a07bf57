// Callbacks of the parallel family (`par_map` and its kin): written in the call, and without an
// effect that could be told from another order (language.md 24, GT0090).

#include "compiler/check/checker.h"
#include "compiler/check/walk.h"

namespace gos::check {

namespace {
constexpr unsigned kDeepest = 2000;

/// The function that an expression calls; null for a value, a constructor, a method of a trait.
FunctionItem* callee(Expr* expr) {
  const Target* target = nullptr;
  if (auto* call = dyn_cast<CallExpr>(expr)) {
    if (auto* path = dyn_cast<PathExpr>(call->callee))
      target = &path->target;
  } else if (auto* method = dyn_cast<MethodCallExpr>(expr)) {
    target = &method->target;
  }
  return target && target->kind == TargetKind::Function
             ? dyn_cast_or_null<FunctionItem>(target->item)
             : nullptr;
}
} // namespace

void Checker::noteParallel(const FunctionItem* function, ArrayRef<Expr*> ordered, size_t skip) {
  if (function->attributes.empty() || !function->parentModule ||
      function->parentModule->package != 0 || !hasAttribute(function, "parallel"))
    return;
  for (size_t i = 0; i < ordered.size() && i + skip < function->parameters.size(); ++i)
    if (isa_and_nonnull<FunctionTypeNode>(function->parameters[i + skip].type))
      parallel_.push_back({ordered[i], function->name.name.text()});
}

/// What somebody else could notice of the expression, in words; empty if nothing.
std::string Checker::effectOf(Expr* expr, const ClosureExpr* closure, unsigned depth) {
  if (!expr || depth > kDeepest)
    return {};
  const auto writes = [&](Expr* place) {
    Variable* root = closure ? rootVariable(place) : nullptr;
    return root && llvm::is_contained(closure->captures, root)
               ? "writes to `" + root->name.text().str() + "`"
               : std::string();
  };
  std::string effect;
  if (auto* known = dyn_cast<KnownCallExpr>(expr)) {
    if (known->which <= KnownCall::Eprint || known->which == KnownCall::Dbg)
      return "prints";
  } else if (auto* assign = dyn_cast<AssignExpr>(expr)) {
    for (Expr* target : assign->targets)
      if (effect.empty())
        effect = writes(folded(target));
  } else if (auto* borrow = dyn_cast<BorrowExpr>(expr)) {
    if (borrow->mutability == Mutability::Mutable)
      effect = writes(borrow->operand);
  } else if (FunctionItem* function = callee(expr)) {
    if (auto* method = dyn_cast<MethodCallExpr>(expr)) {
      const Signature& signature = functionInfo(function).signature;
      if (!signature.parameters.empty() && signature.parameters[0]->isMutableRef())
        effect = writes(folded(method->receiver));
    }
    if (effect.empty())
      effect = effectOfFunction(function);
  }
  forEachPart(expr, [&](Expr* part) {
    if (effect.empty())
      effect = effectOf(folded(part), closure, depth + 1);
  });
  return effect;
}

std::string Checker::effectOfFunction(FunctionItem* function) {
  const auto [known, isNew] = effects_.try_emplace(function);
  if (!isNew)
    return known->second; // of one that is being looked at: nothing so far
  std::string effect;
  if (function->builtin >= 0) {
    if (input_.library && input_.library->hasEffect(function->builtin))
      effect = "calls `" + function->name.name.text().str() + "`";
  } else if (function->body) {
    ensureChecked(function);
    effect = effectOf(function->body, nullptr, 0);
    if (!effect.empty())
      effect = "calls `" + function->name.name.text().str() + "`, which " +
               StringRef(effect).split(", which ").first.str();
  }
  effects_[function] = effect;
  return effect;
}

void Checker::checkParallel() {
  for (size_t i = 0; i < parallel_.size(); ++i) {
    const auto [argument, name] = parallel_[i];
    Expr* real = folded(argument);
    std::string fault;
    if (auto* closure = dyn_cast<ClosureExpr>(real)) {
      fault = effectOf(closure->body, closure, 0);
    } else if (auto* path = dyn_cast<PathExpr>(real);
               path && path->target.kind == TargetKind::Function) {
      if (auto* function = dyn_cast_or_null<FunctionItem>(path->target.item))
        fault = effectOfFunction(function);
    } else {
      fault = "is neither a closure that is written here nor the name of a function";
    }
    if (fault.empty())
      continue;
    engine_.report(argument->span, diag::ImpureCallback, name, fault)
        .help("its calls may come in any order: let it answer a value, and use that afterwards");
  }
  parallel_.clear();
}

} // namespace gos::check
