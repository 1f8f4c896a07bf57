#pragma once
// A program as the VM runs it: layouts, constants, functions, and the natives it imports. Plain
// data, made by lowering, serialised for the fold, verified before it runs.

#include "diagnostics/span.h"
#include "vm/instruction.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gos::vm {

enum class LayoutId : uint32_t {};
enum class FunctionId : uint32_t { None = 0xffffffffu };
inline constexpr uint32_t index(LayoutId id) {
  return uint32_t(id);
}
inline constexpr uint32_t index(FunctionId id) {
  return uint32_t(id);
}

enum class LayoutKind : uint8_t {
  Int,   // every integer, bool, char, (), and enums without payload: 64 bits
  Float, // f64, f32
  String,
  Vec, // Vec<T>, [T; N], [T], byte sequences
  Map, // hash map, iterated in key order
  Set,
  Struct,  // structs, tuples, newtypes of them
  Enum,    // an enum with at least one payload
  Closure, // Fn(..) -> R
  Cell,    // a variable shared by reference
  Handle,  // a value that stays in a foreign library, which is told when the last holder lets go
};
enum class IntWidth : uint8_t { I8, I16, I32, I64, U8, U16, U32, U64 };
/// How a scalar is shown and ordered.
enum class ScalarKind : uint8_t { Integer, Bool, Char, Unit, UnitEnum, F64, F32 };
enum class SequenceKind : uint8_t { Vec, Array, Slice, Deque, Queue, Stack, MaxHeap, MinHeap };
enum class VariantShape : uint8_t { Unit, Named, Tuple };

/// What attributes say about a field's JSON form.
struct FieldCodec {
  std::string member;       // its name there; empty: as the field is called
  bool isSkipped = false;   // not written, and its zero value when it is read
  bool isDefaulted = false; // its zero value when it is missing
  friend bool operator==(const FieldCodec&, const FieldCodec&) = default;
};

struct VariantLayout {
  std::string name;
  VariantShape shape = VariantShape::Unit;
  std::vector<LayoutId> fields;
  std::vector<std::string> fieldNames; // Named only
  std::vector<FieldCodec> codecs;      // of all fields, or none at all
};

/// The run-time shape of a type. Two types with equal layouts may share one.
struct Layout {
  LayoutKind kind = LayoutKind::Int;
  ScalarKind scalar = ScalarKind::Integer;   // Int, Float
  IntWidth width = IntWidth::I64;            // Int
  SequenceKind sequence = SequenceKind::Vec; // Vec
  bool byteStorage = false;                  // Vec of u8 or bool: one byte an element
  std::string name;                          // as a user writes the type
  LayoutId element{};                        // Vec, Set, Cell; key of Map
  LayoutId value{};                          // value of Map
  /// Struct: one variant (its name is empty for a tuple). Enum and UnitEnum: all of them.
  std::vector<VariantLayout> variants;
  std::vector<LayoutId> parameters; // Closure
  LayoutId result{};                // Closure
  // Hooks: user implementations that replace the structural behaviour; None if there is none.
  FunctionId display = FunctionId::None; // fmt(&self) -> String
  FunctionId debug = FunctionId::None;
  FunctionId equals = FunctionId::None;  // eq(&self, other) -> bool
  FunctionId compare = FunctionId::None; // cmp(&self, other) -> i64

  bool isReference() const { return kind != LayoutKind::Int && kind != LayoutKind::Float; }
};

/// A placeholder's spec, as ast::FormatSpec.
struct FormatSpec {
  enum class Align : uint8_t { Default, Left, Centre, Right };
  enum class Kind : uint8_t { Display, Debug, LowerHex, UpperHex, Binary, Octal };
  uint32_t fill = ' ';
  Align align = Align::Default;
  bool zero = false;
  int32_t width = -1;
  int32_t precision = -1;
  Kind kind = Kind::Display;
  friend bool operator==(const FormatSpec&, const FormatSpec&) = default;
};

/// A native the module calls, at the layouts it calls it with. One with a symbol is a function of a
/// foreign library (vm/foreign.h), which is no row of the table.
struct NativeImport {
  std::string name; // path in builtins.def, "fs::read_to_string"; "rust:stats::fast::mean"
  std::vector<LayoutId> parameters; // in-out ones: the layout of the value itself
  std::vector<bool> inOut;          // `&mut` parameters
  LayoutId result{};
  std::string symbol{};    // foreign: the entry point in the library
  std::string signature{}; // foreign: as the library declares it, "fn(Vec<f64>) -> Option<f64>"

  bool isForeign() const { return !symbol.empty(); }
};

/// Code at and after `pc` comes from `span`, until the next entry. Entries ascend by pc.
struct LineEntry {
  uint32_t pc;
  Span span;
};
/// The user's spelling of a call that enters the library, for GX0010: "fs::read",
/// "f.read_to_string".
struct CallSpelling {
  uint32_t pc;
  std::string text;
};

/// Jumps go forward, except LoopJump and ForLoopI64, which count a step. registers + outgoingCount
/// is at most 65535.
struct Function {
  std::string name;         // as a stack trace shows it
  uint32_t package = 0;     // the package whose source spells it; 0 is the library
  bool transparent = false; // library code: the caller counts for the gate
  std::vector<LayoutId>
      registers; // one a register; parameters (then captures) first, then scalars, then references
  uint16_t parameterCount = 0; // captures included
  uint16_t captureCount = 0;
  uint16_t outgoingCount = 0; // outgoing slots it may fill
  LayoutId result{};
  std::vector<Instruction> code;
  std::vector<LineEntry> lines;
  std::vector<CallSpelling> spellings;
  Span span;
};

/// A constant or a static that is not a plain literal. Its cell is filled by its own initialiser,
/// `() -> value`, the first time LoadGlobal asks for it: a region pays (and is judged) only for the
/// constants it reads.
struct Global {
  std::string name;
  LayoutId layout{}; // of the cell
  FunctionId initialiser = FunctionId::None;
};

struct Module {
  std::vector<Layout> layouts;
  std::vector<uint64_t> constants;
  std::vector<std::string> strings; // UTF-8, or bytes for byte-vector constants
  std::vector<FormatSpec> formats;
  std::vector<Function> functions;
  std::vector<Global> globals;
  std::vector<NativeImport> natives;
  std::vector<std::string> packages; // names, for messages; index = package id
  FunctionId initialiser =
      FunctionId::None; // `fn init()` of modules in order, () -> (); usually None
  /// Further entries: the thunks of a fold's regions, () -> value, in the order of the request.
  std::vector<FunctionId> regions;
  FunctionId entry = FunctionId::None; // () -> () or () -> Result, or the region's thunk
};

/// Bytes that read back to an equal module (versioned; little endian).
std::string serialise(const Module& module);
/// Total over any bytes: an error for what is not a module. The result still needs `verify`.
llvm::Expected<Module> deserialise(llvm::StringRef bytes);

} // namespace gos::vm
