#pragma once
// What a program says about itself: its modules and items, their signatures as their author wrote
// them, the comments above them, and the fenced code in those comments.
//
// Made from parsed files (nothing is checked, folded or run), from the library's table and prelude,
// and from the signatures of a binding as data. Renderers: render.h.

#include "compiler/ast/ast.h"
#include "compiler/bindings/signatures.h"
#include "diagnostics/engine.h"
#include "diagnostics/source_map.h"
#include "sandbox/policy/capability.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace gos::document {

/// A fenced block of a documentation comment, without the comment's marks.
struct CodeBlock {
  std::string info;  // behind the fence, trimmed: "", "gossamer", "text", "rust"
  std::string text;  // ends in a newline unless it is empty
  Span span;         // of the lines between the fences; not valid for text of no source file
  uint32_t line = 0; // of the first line between the fences, from 1; 0 where there is no file
  std::string
      owner; // path of the item it documents: "geometry::Point::length"; of a module its path

  /// Compiled and run by `gos test`: the info string is empty or `gossamer`.
  bool isTest() const { return info.empty() || info == "gossamer"; }
};

enum class ItemKind : uint8_t {
  Function,
  Method,     // takes `self`
  Associated, // a function of a type without `self`
  Struct,
  Enum,
  Trait,
  Alias,
  Newtype,
  Constant,
  Static,
  Field,
  Variant,
  Implementation, // of a trait for a type
  BuiltinType,    // String, Vec, i64: a type of the language itself
  Opaque,         // of a binding: its values stay in Rust
};

struct Item {
  ItemKind kind = ItemKind::Function;
  std::string name;
  std::string path;      // from the root of its package: "geometry::Point::length", "std::fs::read"
  std::string signature; // as written, blanks made regular; several lines for a struct or an enum
  std::string documentation; // the comment without its marks: Markdown
  std::vector<CodeBlock> code;
  ast::Visibility visibility = ast::Visibility::Public;
  std::optional<Capability> capability; // of a native function of the library
  bool notBuilt = false;                // known and not there yet
  Span span;                            // of the item; not valid without a source
  std::vector<Item> members;            // fields and variants first, then functions, then traits
};

struct Module {
  std::string path; // "geometry::shapes", "std::fs"; empty for the root of a program
  std::string documentation;
  std::vector<CodeBlock> code;
  std::vector<Item> items; // in order of the source
  bool isBinding = false;
};

struct Documentation {
  std::string title;           // of the package, or "std"
  std::vector<Module> modules; // sorted by path
};

/// Whose items are taken. Doc-tests are in every comment, so `gos test` takes All.
enum class Take : uint8_t { Reachable, All };

/// One parsed file and the path of its module.
struct ParsedFile {
  std::string modulePath; // "deep::nest"; empty for the entry file
  const ast::File* file = nullptr;
};

/// The documentation of a package. Inline modules become modules of their own.
Documentation documentPackage(llvm::StringRef title, llvm::ArrayRef<ParsedFile> files,
                              const SourceMap& sources, Take take);
/// A module of the library ("fs", "encoding::json"), with its native functions; every module for
/// an empty name. `core` is `std::prelude` here, since its names are in scope everywhere.
Documentation documentLibrary(llvm::StringRef module = {});
/// The modules of a binding: from data, nothing of it is executed.
Documentation documentBindings(const bindings::Signatures& signatures);

/// Every fenced block of a documentation, in order of modules and items.
std::vector<CodeBlock> codeBlocks(const Documentation& documentation);

/// The fenced blocks of a comment text whose marks are removed; spans and lines are not set.
std::vector<CodeBlock> fencedBlocks(llvm::StringRef markdown);

/// The text of a run of `//` lines (also `///` and `//!`) without marks and common indentation.
std::string commentText(llvm::StringRef comment);

/// What a path names: a module or an item, and for an unknown one the nearest path.
struct Found {
  const Module* module = nullptr;
  const Item* item = nullptr; // null: the module itself
  std::string nearest;        // when nothing was found; may be empty
};
Found find(const Documentation& documentation, llvm::StringRef path);

} // namespace gos::document
