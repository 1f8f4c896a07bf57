#pragma once
// The table of the library: every function with a native body, its signature and its capability
// class; and the part of the library that is written in Gossamer (prelude/*.gos, embedded).
//
// Paths are canonical, beneath `std`, without `std::`. Three shapes:
//   module::name             `fs::read_to_string`, `encoding::json::parse`
//   module::Type::method     `fs::File::read_to_string`, `math::rand::Rng::new`
//   Type::method             a core type, whose scope is the module `core`: `String::trim`,
//   `Vec::push`.
//                            `Slice` stands for `[T]` and `[T; N]`; `Int`, `Float` and `Any` for
//                            every integer, every float, every type.
// A last-but-one component that begins with a capital, or names a scalar type, is the type.
//
// `core` is always loaded and its `pub` names are the prelude: Option, Result, Iterator, Reverse,
// assert... Module `intrinsics` exists for the library alone.
//
// A signature is `fn<T: Bound>(name: Type, ..) -> Result`, parsed by the language's own parser in
// the scope of its module; a first parameter named `self` makes it a method. A `&mut` parameter is
// in-out: the body finds the value in its slot and may replace it.

#include "sandbox/policy/capability.h"
#include "vm/native.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace gos::stdlib {

/// The rows of builtins.def, by id.
enum class BuiltinId : uint16_t {
#define GOS_BUILTIN(id, path, signature, capability) id,
#include "stdlib/builtins.def"
};

struct BuiltinRow {
  llvm::StringRef path;      // "fs::File::read_to_string"
  llvm::StringRef module;    // "fs"; "core" for a core type
  llvm::StringRef type;      // "File"; empty for a free function
  llvm::StringRef name;      // "read_to_string"
  llvm::StringRef signature; // "fn(self: File) -> Result<String, io::Error>"
  Capability capability;
  BuiltinId id;
};

/// Every row, sorted by path.
llvm::ArrayRef<BuiltinRow> builtinRows();
/// A row by its path; null if there is none.
const BuiltinRow* findBuiltin(llvm::StringRef path);
/// The rows of a module: its free functions and the methods of its types, sorted by path. For
/// `core` the methods of the core types.
llvm::ArrayRef<BuiltinRow> rowsOfModule(llvm::StringRef module);
/// A free function of a module.
const BuiltinRow* findFunction(llvm::StringRef module, llvm::StringRef name);
/// The methods of a type: ("fs", "File") or ("core", "String").
llvm::ArrayRef<BuiltinRow> rowsOfType(llvm::StringRef module, llvm::StringRef type);
const BuiltinRow* findMethod(llvm::StringRef module, llvm::StringRef type, llvm::StringRef name);
// The same for core types.
inline llvm::ArrayRef<BuiltinRow> rowsOfType(llvm::StringRef type) {
  return rowsOfType("core", type);
}
inline const BuiltinRow* findMethod(llvm::StringRef type, llvm::StringRef name) {
  return findMethod("core", type, name);
}

/// The Gossamer source of a module; empty if all of it is native.
llvm::StringRef preludeSource(llvm::StringRef module);
/// Every module of the library, sorted: those with a source and those that only have rows.
llvm::ArrayRef<llvm::StringRef> moduleNames();
/// Does the library have this module? `intrinsics` counts; the resolver hides it from users.
bool hasModule(llvm::StringRef module);

/// The bodies, for the VM. What fits a row is judged by checkImport (import_check.cpp).
const vm::NativeTable& nativeTable();

} // namespace gos::stdlib
