#pragma once
// Puts arguments in the place of generic parameters.

#include "compiler/types/type_table.h"

namespace gos::types {

/// Asked for a projection whose arguments have been substituted; answers what it stands for.
using Normalise = llvm::function_ref<Type*(Type* projection)>;

/// `type` with parameter i replaced by args[i] and the trait's Self by `self` (left alone when
/// null). A parameter past the end of `args` stays.
Type* substitute(TypeTable& table, Type* type, ArrayRef<Type*> args, Type* self,
                 Normalise normalise);

} // namespace gos::types
