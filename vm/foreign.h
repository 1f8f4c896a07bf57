#pragma once
// Functions of a foreign library: the other kind of import. A module names them by symbol and
// signature; how the library is loaded and what a call looks like is the linker's affair
// (stdlib/foreign.h). Calls take the same road as natives do, through Vm::callNative, and are of
// class Foreign.

#include "vm/module.h"
#include "vm/trap.h"

#include "llvm/Support/Error.h"

#include <cstdint>

namespace gos::vm {

class Arguments;

class ForeignLinker {
public:
  virtual ~ForeignLinker() = default;
  /// The entry point of an import. An error names the function, and says why there is none: no such
  /// symbol, another signature, a library that cannot be loaded. May load the library.
  virtual llvm::Expected<const void*> find(const NativeImport& import) = 0;
  /// Calls an entry point that `find` answered for this import.
  virtual Trap call(Arguments& arguments, const void* entry) = 0;
  /// Nobody holds the value behind this handle any more. Called once for each handle that a call
  /// made.
  virtual void release(uint64_t handle) = 0;
};

/// The deepest nesting of types that cross the boundary.
inline constexpr unsigned kForeignDepth = 64;

/// Part of verification: can the import's layouts be written and read as bytes? Values are copied,
/// so all of them are trees of (), bool, char, i64, f64, String, Vec, Map, Option, Result, structs,
/// tuples and handles; no type contains itself, and nothing is in-out.
llvm::Error checkForeignImport(const NativeImport& import, const Module& module);

} // namespace gos::vm
