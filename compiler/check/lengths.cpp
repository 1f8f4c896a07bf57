// Constants in types: the lengths of arrays.

#include "compiler/check/checker.h"

namespace gos::check {

std::optional<uint64_t> Checker::evaluateLength(Expr* expr, const ItemContext& context,
                                                bool& silent) {
  expr = folded(expr);
  bool region = isa<ComptimeExpr>(expr) || (isa<KnownCallExpr>(expr) &&
                                            cast<KnownCallExpr>(expr)->which == KnownCall::Codegen);
  bool call = isa<CallExpr>(expr) || isa<MethodCallExpr>(expr);
  if (region || call) {
    examineRegion(expr, types_.i64(), context, silent);
    return std::nullopt;
  }
  std::optional<Integer> length = evaluateInteger(expr, nullptr, context, silent, 0);
  if (!length)
    return std::nullopt;
  if (length->value < 0 || length->value > Wide(kMaxLength)) {
    engine_.report(expr->span, diag::LiteralOutOfRange, textOf(length->value), "an array length");
    silent = true;
    return std::nullopt;
  }
  return uint64_t(length->value);
}

/// A region at type level: known after the fold. Until then the type is not.
void Checker::examineRegion(Expr* expr, Type* wanted, const ItemContext& context, bool& silent) {
  auto examine = [&] {
    Type* type = check(expr, wanted);
    (void)type;
    if (!regions_.empty() && regions_.back().node == expr) {
      regions_.back().isTypeLevel = true;
      silent = true;
    } else if (isa<ComptimeExpr>(expr) && inRegion()) {
      silent = false;
    }
  };
  if (body_) {
    examine();
  } else {
    // In a body of its own; one that waits meanwhile (of the function around the item) keeps its
    // variables.
    Body body;
    Item* stand = context_.make<ErrorItem>(expr->span);
    std::vector<Local> savedLocals;
    savedLocals.swap(locals_);
    llvm::DenseMap<Name, int32_t> savedTop;
    savedTop.swap(localTop_);
    types::Unifier savedVariables(types_);
    savedVariables.swapVariables(unifier_);
    beginBody(body, stand, context);
    Frame frame;
    frame.owner = stand;
    frame.result = wanted;
    body.frame = &frame;
    body.allowsUnused = true;
    examine();
    endBody(body);
    savedLocals.swap(locals_);
    savedTop.swap(localTop_);
    savedVariables.swapVariables(unifier_);
    for (Region& each : regions_)
      if (each.enclosing == stand)
        each.enclosing = nullptr;
  }
  if (engine_.hasErrors())
    silent = true;
}

/// The constant that a path names. Null: there is none; what was reported makes `silent`.
ConstItem* Checker::constantOf(PathExpr* path, const ItemContext& context, bool& silent) {
  ArrayRef<PathSegment> segments = path->path.segments;
  if (path->path.qualifier || segments.empty())
    return nullptr;
  ConstItem* constant = nullptr;
  if (segments.size() == 2 && segments[0].ident.name == selfTypeName_ && context.owner) {
    ArrayRef<Item*> items =
        isa<ImplItem>(context.owner) ? cast<ImplItem>(context.owner)->items : ArrayRef<Item*>();
    for (Item* item : items)
      if (item->name.name == segments[1].ident.name)
        constant = dyn_cast<ConstItem>(item);
  } else if (segments.size() == 1 && isLocal(segments[0].ident.name)) {
    return nullptr;
  } else {
    auto prefix = resolver_.walk(segments, context.scope, resolve::kValue | resolve::kVariant);
    if (!prefix.binding) {
      silent |= prefix.reported;
      if (!prefix.reported && segments.size() == 1 &&
          llvm::none_of(context.generics,
                        [&](Parameter* each) { return each->name == segments[0].ident.name; })) {
        resolver_.reportUnknown(segments[0].ident.span, segments[0].ident.name, "constant",
                                context.scope, resolve::kValue);
        silent = true;
      }
      return nullptr;
    }
    if (prefix.used == segments.size()) {
      constant = dyn_cast_or_null<ConstItem>(prefix.binding->value);
    } else if (prefix.binding->type && prefix.used + 1 == segments.size()) {
      syncImpls();
      auto found = members_.find({prefix.binding->type, segments.back().ident.name});
      if (found != members_.end())
        constant = dyn_cast<ConstItem>(memberEntries_[found->second].item);
    }
  }
  if (!constant || !constant->value)
    return nullptr;
  if (!resolver_.isVisible(constant, context.scope)) {
    engine_.report(path->span, diag::PrivateItem, "constant", constant->name.name.text());
    silent = true;
    return nullptr;
  }
  return constant;
}

} // namespace gos::check
