// What every value can do without an impl: default, and the methods of built-in traits.
#include "compiler/lower/function_lowering.h"

namespace gos::lower {

using namespace ast;
using llvm::cast;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;
using types::Kind;

// ---- behaviour that every value has
// -----------------------------------------------------------------------

/// The zero value of a type, for `Default`.
Operand FunctionLowering::defaultValue(Type* type) {
  LayoutId layout = layoutOf(type);
  if (auto hook = module_.program().hook(check::Hook::Default, type);
      hook && !hook->isStructural && hook->function) {
    Register reg = acquire(layout);
    callWithOperands(*hook, {}, reg);
    return temporary(reg);
  }
  switch (type->kind) {
  case Kind::F32:
  case Kind::F64: {
    Register reg = acquire(layout);
    loadConstant(reg, 0);
    return temporary(reg);
  }
  case Kind::String: {
    Register reg = acquire(layout);
    intoString({}, reg);
    return temporary(reg);
  }
  case Kind::Vec:
  case Kind::Slice:
  case Kind::Deque:
  case Kind::Queue:
  case Kind::Stack:
  case Kind::MaxHeap:
  case Kind::MinHeap: {
    Register reg = acquire(layout);
    code_.op(Opcode::NewVec, reg, layout, 0u);
    return temporary(reg);
  }
  case Kind::Array: {
    Register reg = acquire(layout);
    Operand count = immediate(int64_t(type->length), layouts().integer());
    Operand values[] = {defaultValue(type->element())};
    Register countReg = inRegister(count);
    arguments(values);
    code_.op(Opcode::NewVecRepeat, reg, countReg, layout, 0u);
    drop(count);
    return temporary(reg);
  }
  case Kind::Map:
  case Kind::BTreeMap:
  case Kind::Set:
  case Kind::BTreeSet: {
    Register reg = acquire(layout);
    nativeCall((types::spelling(type->kind) + "::new").str(), {}, layout, reg, {});
    return temporary(reg);
  }
  case Kind::Tuple:
  case Kind::Struct: {
    if (isUnit(layout))
      return immediate(0, layout);
    llvm::SmallVector<Operand, 8> fields;
    llvm::SmallVector<Type*, 8> fieldTypes;
    if (type->is(Kind::Tuple))
      fieldTypes.assign(type->args.begin(), type->args.end());
    else
      fieldTypes = module_.fieldTypes(type, 0);
    for (Type* field : fieldTypes)
      fields.push_back(defaultValue(field));
    Register reg = acquire(layout);
    construct(layout, 0, fields, reg);
    return temporary(reg);
  }
  case Kind::Enum: {
    uint32_t variant = 0;
    if (type->item == module_.program().lang.option)
      variant = module_.program().lang.none;
    auto* item = cast<EnumItem>(type->item);
    for (uint32_t i = 0; i != item->variants.size(); ++i)
      for (const Attribute& attribute : item->variants[i].attributes)
        if (attribute.path.segments.size() == 1 &&
            attribute.path.segments[0].ident.name.text() == "default")
          variant = i;
    if (!isReference(layout))
      return immediate(variant, layout);
    llvm::SmallVector<Operand, 4> fields;
    for (Type* field : module_.fieldTypes(type, variant))
      fields.push_back(defaultValue(field));
    Register reg = acquire(layout);
    construct(layout, variant, fields, reg);
    return temporary(reg);
  }
  case Kind::Newtype:
    return defaultValue(module_.representation(type));
  default: // integers, bool, char, unit
    return immediate(0, layout);
  }
}

/// A method of a built-in trait on a type without an impl: equality, order, clone, default,
/// arithmetic.
void FunctionLowering::structuralCall(const Selected& selected, llvm::ArrayRef<const Expr*> ordered,
                                      Register dest) {
  llvm::StringRef name = selected.function->name.name.text();
  Type* type = selected.self;
  if (!type && !ordered.empty())
    type = valueType(ordered[0]);
  auto both = [&](llvm::SmallVectorImpl<Operand>& values) { operands(ordered, values); };
  llvm::SmallVector<Operand, 2> values;
  if (name == "eq" && ordered.size() == 2) {
    both(values);
    equalInto(type, values[0], values[1], dest);
    return;
  }
  if (name == "cmp" && ordered.size() == 2) {
    both(values);
    compareInto(type, values[0], values[1], dest);
    return;
  }
  if ((name == "clone" || name == "into" || name == "from") && ordered.size() == 1) {
    Operand value = operand(ordered[0]);
    moveInto(dest, value);
    return;
  }
  if (name == "default" && ordered.empty()) {
    Operand value = defaultValue(type);
    moveInto(dest, value);
    return;
  }
  if (name == "fmt" && ordered.size() == 1) {
    bool debug = false;
    if (auto* trait = dyn_cast_or_null<TraitItem>(selected.function->owner))
      debug = trait->name.name.text() == "Debug";
    Register text = acquire(layouts().string());
    intoString({}, text);
    FormatSpec spec;
    spec.kind = debug ? FormatSpec::Kind::Debug : FormatSpec::Kind::Display;
    appendValue(text, operand(ordered[0]), spec);
    Operand result = temporary(text);
    moveInto(dest, result);
    return;
  }
  static constexpr std::pair<llvm::StringLiteral, BinaryOp> kOperators[] = {
      {"add", BinaryOp::Add},     {"sub", BinaryOp::Sub},       {"mul", BinaryOp::Mul},
      {"div", BinaryOp::Div},     {"rem", BinaryOp::Rem},       {"bitand", BinaryOp::BitAnd},
      {"bitor", BinaryOp::BitOr}, {"bitxor", BinaryOp::BitXor}, {"shl", BinaryOp::Shl},
      {"shr", BinaryOp::Shr}};
  for (auto& [method, op] : kOperators)
    if (name == method && ordered.size() == 2) {
      both(values);
      if (type->is(Kind::String)) {
        Register left = inRegister(values[0]), right = inRegister(values[1]);
        code_.op(Opcode::StringConcat, dest, left, right);
        drop(values[1]);
        drop(values[0]);
        return;
      }
      arithmetic(op, type, values[0], values[1], valueType(ordered[1]), dest);
      return;
    }
  if (name == "neg" || name == "not") {
    Operand value = operand(ordered[0]);
    Register reg = inRegister(value);
    code_.op(type->isFloat()        ? Opcode::NegateF64
             : name == "neg"        ? Opcode::Negate
             : type->is(Kind::Bool) ? Opcode::BoolNot
                                    : Opcode::BitNot,
             dest, reg);
    drop(value);
    return;
  }
  module_.notYet(code_.span(), ("the built-in `" + name + "` here").str());
}

} // namespace gos::lower
