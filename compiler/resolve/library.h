#pragma once
// What the front end asks of the standard library: source text of its modules and its native
// functions by name. Everything is asked for by name and loaded on first use.

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace gos::resolve {

/// A function with a native body.
struct NativeFunction {
  llvm::StringRef path;      // "fs::read_to_string", "String::trim"
  llvm::StringRef signature; // "fn(path: String) -> Result<String, io::Error>"
  int32_t id = -1;           // its row: FunctionItem::builtin
};

class Library {
public:
  virtual ~Library() = default;
  /// The Gossamer text of a module ("core", "encoding::json"); nothing when it has none.
  virtual std::optional<llvm::StringRef> source(llvm::StringRef module) const = 0;
  /// Is there a module of this path: with a text, with native functions, or with modules inside?
  virtual bool hasModule(llvm::StringRef module) const = 0;
  /// The native functions `name` of a module ("fs"), of a type of a module ("fs::File") or of a
  /// core type ("String", "Vec"; "Slice" serves every sequence, "Int" and "Float" every number,
  /// "Any" every value). Several rows of one name are overloads.
  virtual void natives(llvm::StringRef owner, llvm::StringRef name,
                       llvm::SmallVectorImpl<NativeFunction>& found) const = 0;
  /// Paths of all modules, for did-you-mean and for imports to suggest.
  virtual void modules(llvm::SmallVectorImpl<llvm::StringRef>& paths) const = 0;
  /// Names of the native functions of an owner, for did-you-mean.
  virtual void names(llvm::StringRef owner,
                     llvm::SmallVectorImpl<llvm::StringRef>& found) const = 0;
  /// Does calling a row change or ask for anything beside its arguments: the world, or what
  /// goroutines share?
  virtual bool hasEffect(int32_t) const { return false; }
};

} // namespace gos::resolve
