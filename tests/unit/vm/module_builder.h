#pragma once
// A small assembler for modules, for the tests of the VM.

#include "vm/module.h"
#include "vm/native.h"
#include "vm/vm.h"

#include "llvm/ADT/StringRef.h"

#include <bit>
#include <string>
#include <vector>

namespace gos::vm::test {

/// Layouts that nearly every test needs stand at fixed places.
inline constexpr LayoutId kInt{0};
inline constexpr LayoutId kFloat{1};
inline constexpr LayoutId kString{2};
inline constexpr LayoutId kBool{3};
inline constexpr LayoutId kUnit{4};
inline constexpr LayoutId kVecInt{5};
inline constexpr LayoutId kBytes{6};
inline constexpr LayoutId kByte{7};
inline constexpr LayoutId kVecString{8};
inline constexpr LayoutId kCellInt{9};
inline constexpr LayoutId kCellVecInt{10};
inline constexpr LayoutId kPair{11};   // struct Pair { count: i64, label: String }
inline constexpr LayoutId kOption{12}; // Option<String>
inline constexpr LayoutId kList{13};   // enum List { Nil, Cons(i64, List) }
inline constexpr LayoutId kMapStringInt{14};
inline constexpr LayoutId kSetInt{15};
inline constexpr LayoutId kChar{16};
inline constexpr LayoutId kFnIntInt{17}; // Fn(i64) -> i64
inline constexpr LayoutId kTuple{18};    // (i64, String)
inline constexpr LayoutId kColour{19};   // enum Colour { Red, Green }, an integer
inline constexpr LayoutId kVecPair{20};
inline constexpr LayoutId kMapIntString{21};

class ModuleBuilder {
public:
  ModuleBuilder();

  LayoutId addLayout(Layout layout) {
    module.layouts.push_back(std::move(layout));
    return LayoutId(uint32_t(module.layouts.size() - 1));
  }
  uint32_t addString(std::string text) {
    module.strings.push_back(std::move(text));
    return uint32_t(module.strings.size() - 1);
  }
  uint32_t addConstant(uint64_t value) {
    module.constants.push_back(value);
    return uint32_t(module.constants.size() - 1);
  }
  uint32_t addReal(double value) { return addConstant(std::bit_cast<uint64_t>(value)); }
  uint32_t addFormat(FormatSpec spec) {
    module.formats.push_back(spec);
    return uint32_t(module.formats.size() - 1);
  }
  uint32_t addNative(std::string name, std::vector<LayoutId> parameters, LayoutId result,
                     std::vector<bool> inOut = {}) {
    inOut.resize(parameters.size());
    module.natives.push_back({std::move(name), std::move(parameters), std::move(inOut), result});
    return uint32_t(module.natives.size() - 1);
  }
  uint32_t addGlobal(std::string name, LayoutId cell) {
    module.globals.push_back({std::move(name), cell});
    return uint32_t(module.globals.size() - 1);
  }
  /// Registers: parameters (and captures), scalars, references.
  FunctionId addFunction(std::string name, std::vector<LayoutId> registers, unsigned parameters,
                         LayoutId result, std::vector<Instruction> code, unsigned outgoing = 4,
                         unsigned captures = 0) {
    Function function;
    function.name = std::move(name);
    function.package = 1;
    function.registers = std::move(registers);
    function.parameterCount = uint16_t(parameters);
    function.captureCount = uint16_t(captures);
    function.outgoingCount = uint16_t(outgoing);
    function.result = result;
    function.code = std::move(code);
    module.functions.push_back(std::move(function));
    return FunctionId(uint32_t(module.functions.size() - 1));
  }

  Module module;
};

inline Layout scalarLayout(ScalarKind scalar, IntWidth width, std::string name) {
  Layout layout;
  layout.kind =
      scalar == ScalarKind::F64 || scalar == ScalarKind::F32 ? LayoutKind::Float : LayoutKind::Int;
  layout.scalar = scalar;
  layout.width = width;
  layout.name = std::move(name);
  return layout;
}

inline Layout containerLayout(LayoutKind kind, LayoutId element, std::string name,
                              LayoutId value = {}) {
  Layout layout;
  layout.kind = kind;
  layout.element = element;
  layout.value = value;
  layout.name = std::move(name);
  return layout;
}

inline Layout structLayout(std::string name, std::vector<LayoutId> fields,
                           std::vector<std::string> names = {}) {
  Layout layout;
  layout.kind = LayoutKind::Struct;
  layout.name = name;
  VariantLayout variant;
  variant.name = std::move(name);
  variant.shape = fields.empty()  ? VariantShape::Unit
                  : names.empty() ? VariantShape::Tuple
                                  : VariantShape::Named;
  variant.fields = std::move(fields);
  variant.fieldNames = std::move(names);
  layout.variants.push_back(std::move(variant));
  return layout;
}

inline VariantLayout variantOf(std::string name, std::vector<LayoutId> fields) {
  VariantLayout variant;
  variant.name = std::move(name);
  variant.shape = fields.empty() ? VariantShape::Unit : VariantShape::Tuple;
  variant.fields = std::move(fields);
  return variant;
}

inline Layout enumLayout(std::string name, std::vector<VariantLayout> variants) {
  Layout layout;
  layout.kind = LayoutKind::Enum;
  layout.name = std::move(name);
  layout.variants = std::move(variants);
  return layout;
}

inline ModuleBuilder::ModuleBuilder() {
  addLayout(scalarLayout(ScalarKind::Integer, IntWidth::I64, "i64"));
  addLayout(scalarLayout(ScalarKind::F64, IntWidth::I64, "f64"));
  addLayout(containerLayout(LayoutKind::String, {}, "String"));
  addLayout(scalarLayout(ScalarKind::Bool, IntWidth::U8, "bool"));
  addLayout(scalarLayout(ScalarKind::Unit, IntWidth::I64, "()"));
  addLayout(containerLayout(LayoutKind::Vec, kInt, "Vec<i64>"));
  Layout bytes = containerLayout(LayoutKind::Vec, kByte, "Vec<u8>");
  bytes.byteStorage = true;
  addLayout(bytes);
  addLayout(scalarLayout(ScalarKind::Integer, IntWidth::U8, "u8"));
  addLayout(containerLayout(LayoutKind::Vec, kString, "Vec<String>"));
  addLayout(containerLayout(LayoutKind::Cell, kInt, "cell i64"));
  addLayout(containerLayout(LayoutKind::Cell, kVecInt, "cell Vec<i64>"));
  addLayout(structLayout("Pair", {kInt, kString}, {"count", "label"}));
  addLayout(enumLayout("Option<String>", {variantOf("None", {}), variantOf("Some", {kString})}));
  addLayout(enumLayout("List", {variantOf("Nil", {}), variantOf("Cons", {kInt, kList})}));
  addLayout(containerLayout(LayoutKind::Map, kString, "Map<String, i64>", kInt));
  addLayout(containerLayout(LayoutKind::Set, kInt, "Set<i64>"));
  addLayout(scalarLayout(ScalarKind::Char, IntWidth::U32, "char"));
  Layout closure = containerLayout(LayoutKind::Closure, {}, "Fn(i64) -> i64");
  closure.parameters = {kInt};
  closure.result = kInt;
  addLayout(closure);
  Layout tuple = structLayout("", {kInt, kString});
  tuple.name = "(i64, String)";
  addLayout(tuple);
  Layout colour = scalarLayout(ScalarKind::UnitEnum, IntWidth::U8, "Colour");
  colour.variants = {variantOf("Red", {}), variantOf("Green", {})};
  addLayout(colour);
  addLayout(containerLayout(LayoutKind::Vec, kPair, "Vec<Pair>"));
  addLayout(containerLayout(LayoutKind::Map, kInt, "Map<i64, String>", kString));
  module.packages = {"std", "main"};
}

inline llvm::Error acceptImport(const Native&, const NativeImport&, const Module&) {
  return llvm::Error::success();
}

/// No natives at all.
inline NativeTable emptyTable() {
  return NativeTable({}, acceptImport);
}

} // namespace gos::vm::test
