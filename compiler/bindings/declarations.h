#pragma once
// The modules of Rust bindings as Gossamer source text, for the front end to read like any other:
// functions without bodies, structs with their fields, opaque types as structs whose one field is
// nobody's, documentation as comments.
//
// The text says nothing about symbols: the driver stamps the parsed declarations from the
// signatures, so that no source text of anybody's can name an entry point.

#include "compiler/bindings/signatures.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace gos::bindings {

struct ModuleDeclaration {
  std::string path; // "stats::fast"
  std::string text;
};

/// One for each module, in the order of `Signatures::modules`.
std::vector<ModuleDeclaration> declarationsOf(const Signatures& signatures);

/// A type of the interface as Gossamer spells it: `HashMap` is `Map`, and a reference is the value.
std::string gossamerType(llvm::StringRef type);
/// "fn(Vec<f64>) -> Option<f64>": what a call and the library must agree on. The types are those of
/// the interface.
std::string signatureText(const FunctionSignature& function);
/// "stats::fast" -> {"stats", "fast"}
llvm::SmallVector<llvm::StringRef, 4> pathSegments(llvm::StringRef path);

} // namespace gos::bindings
