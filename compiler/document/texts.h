#pragma once
// One sentence on what the library's table does not say in words: modules, types of the language,
// native functions. Rows of texts.def.

#include "llvm/ADT/StringRef.h"

namespace gos::document {

/// By module path ("fs"); empty for one whose prelude file speaks for itself.
llvm::StringRef moduleText(llvm::StringRef module);
/// By the table's name of a type ("String", "Slice").
llvm::StringRef typeText(llvm::StringRef type);
/// By the path of a row ("fs::read", "String::trim").
llvm::StringRef rowText(llvm::StringRef path);

} // namespace gos::document
