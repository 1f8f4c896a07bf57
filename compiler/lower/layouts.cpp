#include "compiler/lower/layouts.h"

#include "compiler/types/print.h"

#include "llvm/ADT/Twine.h"

namespace gos::lower {

using types::Kind;
using types::Type;
using vm::LayoutId;
using vm::LayoutKind;

vm::IntWidth widthOf(Type* type) {
  switch (type->kind) {
  case Kind::I8:
    return vm::IntWidth::I8;
  case Kind::I16:
    return vm::IntWidth::I16;
  case Kind::I32:
    return vm::IntWidth::I32;
  case Kind::U8:
    return vm::IntWidth::U8;
  case Kind::U16:
    return vm::IntWidth::U16;
  case Kind::U32:
    return vm::IntWidth::U32;
  case Kind::U64:
  case Kind::Usize:
    return vm::IntWidth::U64;
  default: // the rest is carried in 64 signed bits
    return vm::IntWidth::I64;
  }
}

LayoutId Layouts::add(vm::Layout layout) {
  module_.layouts.push_back(std::move(layout));
  return LayoutId(module_.layouts.size() - 1);
}

LayoutId Layouts::scalar(vm::ScalarKind kind, vm::IntWidth width, llvm::StringRef name) {
  vm::Layout layout;
  bool isFloat = kind == vm::ScalarKind::F64 || kind == vm::ScalarKind::F32;
  layout.kind = isFloat ? LayoutKind::Float : LayoutKind::Int;
  layout.scalar = kind;
  layout.width = width;
  layout.name = name.str();
  return add(std::move(layout));
}

static LayoutId once(LayoutId& slot, bool& has, llvm::function_ref<LayoutId()> make) {
  if (!has) {
    slot = make();
    has = true;
  }
  return slot;
}

LayoutId Layouts::unit() {
  return once(unit_, hasUnit_,
              [&] { return scalar(vm::ScalarKind::Unit, vm::IntWidth::U8, "()"); });
}
LayoutId Layouts::integer() {
  return once(integer_, hasInteger_,
              [&] { return scalar(vm::ScalarKind::Integer, vm::IntWidth::I64, "i64"); });
}
LayoutId Layouts::boolean() {
  return once(boolean_, hasBoolean_,
              [&] { return scalar(vm::ScalarKind::Bool, vm::IntWidth::U8, "bool"); });
}
LayoutId Layouts::f64() {
  return once(f64_, hasF64_, [&] { return scalar(vm::ScalarKind::F64, vm::IntWidth::I64, "f64"); });
}
LayoutId Layouts::string() {
  return once(string_, hasString_, [&] {
    vm::Layout layout;
    layout.kind = LayoutKind::String;
    layout.name = "String";
    return add(std::move(layout));
  });
}

LayoutId Layouts::cellOf(LayoutId content) {
  auto found = cells_.find(uint32_t(content));
  if (found != cells_.end())
    return found->second;
  vm::Layout layout;
  layout.kind = LayoutKind::Cell;
  layout.name = "&mut " + (*this)[content].name;
  layout.element = content;
  LayoutId id = add(std::move(layout));
  cells_[uint32_t(content)] = id;
  return id;
}

LayoutId Layouts::vecOf(LayoutId element, llvm::StringRef name) {
  vm::Layout layout;
  layout.kind = LayoutKind::Vec;
  layout.name = name.str();
  layout.element = element;
  const vm::Layout& inner = (*this)[element];
  layout.byteStorage =
      inner.kind == LayoutKind::Int &&
      ((inner.scalar == vm::ScalarKind::Integer && inner.width == vm::IntWidth::U8) ||
       inner.scalar == vm::ScalarKind::Bool);
  return add(std::move(layout));
}

LayoutId Layouts::tupleOf(llvm::ArrayRef<LayoutId> elements) {
  vm::Layout layout;
  layout.kind = LayoutKind::Struct;
  layout.name = "tuple";
  vm::VariantLayout variant;
  variant.shape = vm::VariantShape::Tuple;
  variant.fields.assign(elements.begin(), elements.end());
  layout.variants.push_back(std::move(variant));
  return add(std::move(layout));
}

LayoutId Layouts::of(Type* type) {
  auto found = byType_.find(type);
  if (found != byType_.end())
    return found->second;
  LayoutId id = make(type);
  byType_[type] = id;
  return id;
}

static vm::VariantShape shapeOf(ast::StructShape shape) {
  switch (shape) {
  case ast::StructShape::Unit:
    return vm::VariantShape::Unit;
  case ast::StructShape::Named:
    return vm::VariantShape::Named;
  case ast::StructShape::Tuple:
    return vm::VariantShape::Tuple;
  }
  return vm::VariantShape::Unit;
}

LayoutId Layouts::make(Type* type) {
  auto integerOf = [&](vm::IntWidth width) {
    return scalar(vm::ScalarKind::Integer, width, types::spelling(type->kind));
  };
  auto sequence = [&](vm::SequenceKind kind) {
    LayoutId element = of(type->element());
    // Making the element may have made this very layout (a recursive enum).
    auto found = byType_.find(type);
    if (found != byType_.end())
      return found->second;
    LayoutId id = vecOf(element, types::print(type));
    module_.layouts[vm::index(id)].sequence = kind;
    return id;
  };
  switch (type->kind) {
  case Kind::Error:
  case Kind::Never:
  case Kind::Infer:
  case Kind::Param:
  case Kind::Projection:
  case Kind::Const:
    return unit(); // no value of these exists at run time
  case Kind::Bool:
    return boolean();
  case Kind::Char:
    return scalar(vm::ScalarKind::Char, vm::IntWidth::U32, "char");
  case Kind::I8:
    return integerOf(vm::IntWidth::I8);
  case Kind::I16:
    return integerOf(vm::IntWidth::I16);
  case Kind::I32:
    return integerOf(vm::IntWidth::I32);
  case Kind::I64:
    return integer();
  case Kind::Isize:
    return integerOf(vm::IntWidth::I64);
  case Kind::U8:
    return integerOf(vm::IntWidth::U8);
  case Kind::U16:
    return integerOf(vm::IntWidth::U16);
  case Kind::U32:
    return integerOf(vm::IntWidth::U32);
  case Kind::U64:
  case Kind::Usize:
    return integerOf(vm::IntWidth::U64);
  case Kind::F32:
    return scalar(vm::ScalarKind::F32, vm::IntWidth::I64, "f32");
  case Kind::F64:
    return f64();
  case Kind::String:
    return string();
  case Kind::Vec:
    return sequence(vm::SequenceKind::Vec);
  case Kind::Array:
    return sequence(vm::SequenceKind::Array);
  case Kind::Deque:
    return sequence(vm::SequenceKind::Deque);
  case Kind::Queue:
    return sequence(vm::SequenceKind::Queue);
  case Kind::Stack:
    return sequence(vm::SequenceKind::Stack);
  case Kind::MaxHeap:
    return sequence(vm::SequenceKind::MaxHeap);
  case Kind::MinHeap:
    return sequence(vm::SequenceKind::MinHeap);
  case Kind::Slice: // a view is laid out as the Vec of the same elements
    return of(types_.vec(type->element()));
  case Kind::Set:
  case Kind::BTreeSet: {
    LayoutId element = of(type->element());
    auto found = byType_.find(type);
    if (found != byType_.end())
      return found->second;
    vm::Layout layout;
    layout.kind = LayoutKind::Set;
    layout.name = types::print(type);
    layout.element = element;
    return add(std::move(layout));
  }
  case Kind::Map:
  case Kind::BTreeMap: {
    LayoutId key = of(type->args[0]), value = of(type->args[1]);
    auto found = byType_.find(type);
    if (found != byType_.end())
      return found->second;
    vm::Layout layout;
    layout.kind = LayoutKind::Map;
    layout.name = types::print(type);
    layout.element = key;
    layout.value = value;
    return add(std::move(layout));
  }
  case Kind::Range: {
    vm::Layout layout;
    layout.kind = LayoutKind::Struct;
    layout.name = "Range";
    LayoutId bound = type->args.empty() ? integer() : of(type->args[0]);
    vm::VariantLayout variant;
    variant.name = "Range";
    variant.shape = vm::VariantShape::Named;
    variant.fields = {bound, bound};
    variant.fieldNames = {"start", "end"};
    layout.variants.push_back(std::move(variant));
    return add(std::move(layout));
  }
  case Kind::Ref:
    return type->mutability == types::Mutability::Mutable ? cellOf(of(type->args[0]))
                                                          : of(type->args[0]);
  case Kind::Tuple: {
    if (type->args.empty())
      return unit();
    vm::Layout layout;
    layout.kind = LayoutKind::Struct;
    layout.name = types::print(type);
    LayoutId id = add(std::move(layout));
    byType_[type] = id;
    vm::VariantLayout variant;
    variant.shape = vm::VariantShape::Tuple;
    for (Type* element : type->args)
      variant.fields.push_back(of(element));
    module_.layouts[vm::index(id)].variants.push_back(std::move(variant));
    return id;
  }
  case Kind::Fn: {
    vm::Layout layout;
    layout.kind = LayoutKind::Closure;
    layout.name = types::print(type);
    LayoutId id = add(std::move(layout));
    byType_[type] = id;
    std::vector<LayoutId> parameters;
    for (Type* parameter : type->parameters())
      parameters.push_back(of(parameter));
    LayoutId result = of(type->result());
    module_.layouts[vm::index(id)].parameters = std::move(parameters);
    module_.layouts[vm::index(id)].result = result;
    return id;
  }
  case Kind::Struct:
  case Kind::Enum: {
    LayoutId id = add({});
    byType_[type] = id;
    fillNominal(type, id);
    return id;
  }
  case Kind::Newtype: {
    LayoutHost::Hooks hooks = host_.hooks(type);
    LayoutId inner = of(host_.representation(type));
    if (!hooks.any())
      return inner;
    vm::Layout layout = (*this)[inner];
    layout.name = types::print(type);
    // A hook that this type has not written itself is its representation's.
    auto own = [](vm::FunctionId& slot, vm::FunctionId hook) {
      if (hook != vm::FunctionId::None)
        slot = hook;
    };
    own(layout.display, hooks.display);
    own(layout.debug, hooks.debug);
    own(layout.equals, hooks.equals);
    own(layout.compare, hooks.compare);
    return add(std::move(layout));
  }
  }
  return unit();
}

void Layouts::fillNominal(Type* type, LayoutId id) {
  vm::Layout layout;
  layout.name = types::print(type);
  auto variantOf = [&](llvm::StringRef name, ast::StructShape shape,
                       llvm::ArrayRef<ast::FieldDecl> fields, uint32_t number) {
    vm::VariantLayout variant;
    variant.name = name.str();
    variant.shape = shapeOf(shape);
    for (Type* field : host_.fieldTypes(type, number))
      variant.fields.push_back(of(field));
    if (shape == ast::StructShape::Named)
      for (const ast::FieldDecl& field : fields)
        variant.fieldNames.push_back(field.name.name.text().str());
    if (llvm::any_of(fields, [](const ast::FieldDecl& field) {
          return !field.member.empty() || field.isSkipped || field.isDefaulted;
        }))
      for (const ast::FieldDecl& field : fields)
        variant.codecs.push_back({field.member.str(), field.isSkipped, field.isDefaulted});
    return variant;
  };
  if (type->kind == Kind::Struct) {
    auto* item = llvm::cast<ast::StructItem>(type->item);
    if (item->isForeign) {
      layout.kind = LayoutKind::Handle;
    } else if (item->fields.empty()) {
      layout.kind = LayoutKind::Int; // as an enum of one variant
      layout.scalar = vm::ScalarKind::UnitEnum;
      layout.width = vm::IntWidth::U16;
    } else {
      layout.kind = LayoutKind::Struct;
    }
    // The kind must stand before the fields are laid out: they may mention this type.
    module_.layouts[vm::index(id)] = layout;
    if (!item->isForeign)
      layout.variants.push_back(variantOf(item->name.name.text(), item->shape, item->fields, 0));
    if (layout.kind == LayoutKind::Int)
      layout.variants[0].shape = vm::VariantShape::Unit;
  } else {
    auto* item = llvm::cast<ast::EnumItem>(type->item);
    bool hasPayload = false;
    for (const ast::VariantDecl& variant : item->variants)
      hasPayload |= !variant.fields.empty();
    if (hasPayload) {
      layout.kind = LayoutKind::Enum;
    } else {
      layout.kind = LayoutKind::Int;
      layout.scalar = vm::ScalarKind::UnitEnum;
      layout.width = vm::IntWidth::U16;
    }
    module_.layouts[vm::index(id)] = layout;
    for (uint32_t i = 0; i != item->variants.size(); ++i) {
      const ast::VariantDecl& variant = item->variants[i];
      layout.variants.push_back(
          variantOf(variant.name.name.text(), variant.shape, variant.fields, i));
    }
  }
  LayoutHost::Hooks hooks = host_.hooks(type);
  layout.display = hooks.display;
  layout.debug = hooks.debug;
  layout.equals = hooks.equals;
  layout.compare = hooks.compare;
  module_.layouts[vm::index(id)] = std::move(layout);
}

} // namespace gos::lower
