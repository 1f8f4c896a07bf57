#pragma once
// The bytes of a built program: the runtime, and behind it what stdlib/program/payload.h lists.
//
// Equal sources, an equal library and an equal gos give equal bytes: no time, no name of a machine
// and no path outside the packages is in them.

#include "diagnostics/source_map.h"
#include "manifest/project.h"
#include "vm/module.h"

#include "llvm/Support/Error.h"

#include <string>

namespace gos::executable {

/// An executable file in two pieces: what all programs share, and the program.
struct Image {
  llvm::StringRef runtime;
  std::string payload;

  size_t size() const { return runtime.size() + payload.size(); }
};

/// Puts a program together. `library` is the image of its Rust bindings, empty without any.
Image makeImage(vm::Module module, const SourceMap& sources, const Project& project,
                llvm::StringRef library);

/// The bytes of a library of Rust bindings, from the copy that was checked.
llvm::Expected<std::string> readLibrary(int image);

/// How a built program names a source: beneath its package ("src/main.gos"), behind the id of the
/// package if it is a dependency. `shown` is the name that the compilation gave it.
std::string nameInProgram(llvm::StringRef shown, uint32_t package, const Project& project);

} // namespace gos::executable
