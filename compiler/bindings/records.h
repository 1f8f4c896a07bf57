#pragma once
// The records of the section `.gossamer`, read into modules: the form is checked here, what the
// types and names mean in signatures.cpp.

#include "compiler/bindings/signatures.h"

namespace gos::bindings {

inline constexpr size_t kMostSectionBytes = 16u << 20;
inline constexpr size_t kMostItems = 100000; // functions, structs and opaque types
inline constexpr size_t kMostParameters = 64;
inline constexpr size_t kMostFields = 256;

/// Modules sorted by path and crate, items by name; two crates may still give one path.
llvm::Expected<std::vector<ModuleSignature>> readRecords(llvm::StringRef section);

} // namespace gos::bindings
