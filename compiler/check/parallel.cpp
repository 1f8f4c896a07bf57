// Callbacks of the parallel family (`par_map` and its kin): written in the call, and without an
// effect that could be told from another order (language.md 24, GT0090).

#include "compiler/check/effects.h"

namespace gos::check {

bool Checker::isParallel(const FunctionItem* function) {
  return !function->attributes.empty() && function->parentModule &&
         function->parentModule->package == 0 && hasAttribute(function, "parallel");
}

void Checker::noteParallel(const FunctionItem* function, ArrayRef<Expr*> ordered, size_t skip) {
  if (!isParallel(function))
    return;
  for (size_t i = 0; i < ordered.size() && i + skip < function->parameters.size(); ++i)
    if (isa_and_nonnull<FunctionTypeNode>(function->parameters[i + skip].type))
      parallel_.push_back({ordered[i], function->name.name.text()});
}

void Checker::checkParallel() {
  Effects effects(*this);
  for (size_t i = 0; i < parallel_.size(); ++i) {
    const auto [argument, name] = parallel_[i];
    if (std::string fault = effects.ofCallback(argument); !fault.empty())
      engine_.report(argument->span, diag::ImpureCallback, name, fault)
          .help("its calls may come in any order: let it answer a value, and use that afterwards");
  }
  parallel_.clear();
}

} // namespace gos::check
