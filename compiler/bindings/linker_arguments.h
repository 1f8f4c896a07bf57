#pragma once
// What build scripts told the linker of the library (T123). Cargo keeps what each script printed in
// the target directory, where other crates can change it: so these lines word reports and refuse
// what is honest about itself; what counts is the library (elf_dynamic.h).

#include "compiler/bindings/cache.h"
#include "compiler/bindings/messages.h"

#include <string>
#include <vector>

namespace gos::bindings {

struct LinkerArgument {
  std::string crate, text;
  bool operator==(const LinkerArgument&) const = default;
};

/// The arguments for the library that stand in what a build script printed.
std::vector<std::string> linkerArgumentsIn(llvm::StringRef printed);
/// Those of all crates of a build, at most as many as are worth reading.
std::vector<LinkerArgument> linkerArguments(const Cache& cache, const std::string& target,
                                            llvm::ArrayRef<BuildScript> scripts);
/// Can the argument do no more than name a library, or order and harden what is linked?
bool isAllowedLinkerArgument(llvm::StringRef argument);

} // namespace gos::bindings
