#pragma once
// What a library of Rust bindings offers, read as data from its ELF section `.gossamer`. Nothing of
// the library is executed, and nothing it says is believed before it was checked: the reader is
// total over any bytes (T122).
//
// The format of the section and of calls is written down in stdlib/rust/README.md.

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gos::bindings {

/// The version of the section's records and of the wire format of calls.
inline constexpr uint32_t kAbiVersion = 1;

/// A name with a type, spelled as Gossamer spells it: "Vec<f64>", "Option<(i64, String)>", "Point".
struct TypedName {
  std::string name;
  std::string type;
};

struct FunctionSignature {
  std::string name;
  std::string symbol; // of the exported entry point
  std::vector<TypedName> parameters;
  std::string result; // "()" where the function answers nothing
  std::string documentation;
};
struct StructSignature {
  std::string name;
  std::vector<TypedName> fields; // in the order of the wire
  std::string documentation;
};
/// A type whose values stay in Rust; Gossamer holds a handle.
struct OpaqueSignature {
  std::string name;
  std::string documentation;
};
struct ModuleSignature {
  std::string path;  // of `#[gos_module]`: "stats::fast"
  std::string crate; // the Cargo package it came from, for messages
  std::string documentation;
  std::vector<FunctionSignature> functions;
  std::vector<StructSignature> structs;
  std::vector<OpaqueSignature> opaques;
};
/// Sorted by path; paths, names within a module and symbols are unique; every type is one of the
/// ABI or a struct or opaque type of the same crate; no path begins with `std`.
struct Signatures {
  std::vector<ModuleSignature> modules;
};

/// Reads the signatures of an ELF shared object, whole in memory. An error says what is wrong and,
/// where there is one, in which module or function.
llvm::Expected<Signatures> readSignatures(llvm::StringRef image);

/// The part that does not know ELF: the contents of the section.
llvm::Expected<Signatures> parseRecords(llvm::StringRef section);

} // namespace gos::bindings
