#pragma once
// What a shared object would have the loader do besides mapping it: search paths, auditors, an
// executable stack, relocations of code (T123). Read from what the loader reads, program headers
// and the dynamic section, without believing either; the sections that elf_section.h reads do not
// count here.

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace gos::bindings {

/// What a library that is fit to be loaded still needs.
struct Linking {
  /// Libraries besides those that every program has: they must be there where it is loaded.
  std::vector<std::string> libraries;
};

/// An error says what is refused: whatever reaches beyond the library itself. `gos` and what it
/// writes export no symbol, and load a library with RTLD_LOCAL, so that what it defines stands in
/// for nothing; what would change that is refused as well.
llvm::Expected<Linking> judgeLinking(llvm::StringRef image);

} // namespace gos::bindings
