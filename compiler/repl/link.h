#pragma once
// Joins the module of one line to the module of a session. The session's module only grows, at the
// ends of its tables, so that values, closures and cells that live in the session's Vm stay what
// they are.

#include "vm/module.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <vector>

namespace gos::repl {

/// Identifies what a global is over the lines of a session: the item or the variable. Null: a
/// global of its own each time.
using GlobalKey = const void*;

class Linker {
public:
  explicit Linker(vm::Module& session) : session_(session) {}

  struct Linked {
    vm::FunctionId entry = vm::FunctionId::None; // of the line
    std::vector<uint32_t> globals;               // of the line's module -> of the session's
    /// A global that the session has already, of another layout: by its number in the line's
    /// module.
    std::vector<uint32_t> changedGlobals;
  };
  /// Adds the line. `keys` has one entry a global of the line. Nothing is added when
  /// `changedGlobals` is not empty.
  llvm::Expected<Linked> add(const vm::Module& line, llvm::ArrayRef<GlobalKey> keys);
  void forget(GlobalKey key) { known_.erase(key); }

private:
  class Layouts;

  uint32_t string(const std::string& text);
  uint32_t constant(uint64_t bits);
  uint32_t native(vm::NativeImport import);
  uint32_t format(const vm::FormatSpec& spec);

  vm::Module& session_;
  std::map<GlobalKey, uint32_t> known_;
  std::map<std::string, uint32_t> strings_;
  std::map<uint64_t, uint32_t> constants_;
  std::map<std::string, uint32_t> natives_;
  std::map<std::string, std::vector<uint32_t>> layoutsByName_;
};

} // namespace gos::repl
