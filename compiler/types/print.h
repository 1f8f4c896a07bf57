#pragma once
// Types as a user would write them.

#include "compiler/types/type.h"

#include <string>

namespace gos::types {

class Unifier;

/// Bounded in length: what does not fit becomes `..`. With a unifier, solved variables are
/// followed.
std::string print(Type* type, const Unifier* unifier = nullptr, size_t limit = 200);
/// A bound, `Src<Item = i64>`.
std::string print(const TraitRef& trait);

} // namespace gos::types
