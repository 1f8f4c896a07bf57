#pragma once
// The road from bytecode to the host. A native is a row: name, capability, body. Nothing but
// Vm::callNative holds a body's address while a program runs, and it asks the gate first.

#include "sandbox/policy/capability.h"
#include "vm/module.h"
#include "vm/object.h"
#include "vm/trap.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <functional>

namespace gos::vm {

class TextBuffer;
class Vm;

/// The arguments of one native call, borrowed, and where its result goes.
///
/// An argument is never null itself, but what lies inside one may be, while it is borrowed
/// elsewhere: use the accessors. Reading: `integer(i)`, `boolean(i)`, `real(i)`, `string(i)`
/// (StringRef, valid until the next allocation that could touch it), `object(i)`, `layout(i)`.
/// In-out parameters: `slot(i)` may be replaced (ownership: the slot owns; use makeUnique).
/// Results: exactly one of the return* functions, last.
class Arguments {
public:
  Arguments(Vm& vm, const NativeImport& import, uint64_t* slots)
      : vm_(vm), import_(import), slots_(slots) {}

  Vm& vm() const { return vm_; }
  const NativeImport& import() const { return import_; }
  size_t count() const { return import_.parameters.size(); }
  const Layout& layout(size_t i) const;
  LayoutId layoutId(size_t i) const { return import_.parameters[i]; }
  LayoutId resultLayout() const { return import_.result; }

  int64_t integer(size_t i) const { return int64_t(slots_[i]); }
  bool boolean(size_t i) const { return slots_[i] != 0; }
  double real(size_t i) const;
  /// Empty for null (never for a verified module's by-value argument).
  llvm::StringRef string(size_t i) const;
  VecObject* vec(size_t i) const;
  MapObject* map(size_t i) const;
  Object* object(size_t i) const { return reinterpret_cast<Object*>(slots_[i]); }
  uint64_t& slot(size_t i) const { return slots_[i]; }

  // Results. Each answers a Trap so that a body can end in `return arguments.returnX(..)`; the trap
  // is the heap budget when the result does not fit.
  Trap returnUnit();
  Trap returnInteger(int64_t value);
  Trap returnBoolean(bool value) { return returnInteger(value); }
  Trap returnReal(double value);
  Trap returnString(llvm::StringRef text);
  /// The text of a buffer in the heap, without a copy.
  Trap returnText(TextBuffer& text);
  Trap returnBytes(llvm::StringRef bytes); // Vec<u8>
  /// An owned value of exactly the result layout.
  Trap returnOwned(uint64_t value);
  /// Vec<String> and the like.
  Trap returnStrings(llvm::ArrayRef<std::string> items);
  // For a result of layout Option<T> or Result<T, E> (variants by name: Some, None, Ok, Err).
  Trap returnNone();
  Trap returnSomeInteger(int64_t value);
  Trap returnSomeReal(double value);
  Trap returnSomeString(llvm::StringRef text);
  Trap returnSomeOwned(uint64_t value);
  Trap returnOkUnit();
  Trap returnOkInteger(int64_t value);
  Trap returnOkReal(double value);
  Trap returnOkString(llvm::StringRef text);
  Trap returnOkBytes(llvm::StringRef bytes);
  Trap returnOkStrings(llvm::ArrayRef<std::string> items);
  Trap returnOkOwned(uint64_t value);
  /// Err(e) where e is io::Error, errors::Error, strconv::ParseError or String: a struct whose
  /// first field is the message (further fields: zero values), or the text itself.
  Trap returnErr(llvm::StringRef message);

  uint64_t result() const { return result_; }

private:
  Vm& vm_;
  const NativeImport& import_;
  uint64_t* slots_;
  uint64_t result_ = 0;
};

using NativeBody = Trap (*)(Arguments& arguments);

struct Native {
  llvm::StringRef name;      // path in builtins.def
  llvm::StringRef signature; // for Vm's check of an import's shape: see NativeTable
  Capability capability;
  NativeBody body;
};

/// All natives, looked up by name when a module is loaded; a name that is not in it is refused.
class NativeTable {
public:
  NativeTable(llvm::ArrayRef<Native> natives,
              llvm::Error (*check)(const Native&, const NativeImport&, const Module&))
      : natives_(natives), checkImport_(check) {}
  const Native* find(llvm::StringRef name) const; // natives_ is sorted by name
  llvm::ArrayRef<Native> natives() const { return natives_; }
  /// Do the layouts an import is used at fit the native's signature? Part of verification.
  llvm::Error checkImport(const Native& native, const NativeImport& import,
                          const Module& module) const {
    return checkImport_(native, import, module);
  }

private:
  llvm::ArrayRef<Native> natives_;
  llvm::Error (*checkImport_)(const Native&, const NativeImport&, const Module&);
};

} // namespace gos::vm
