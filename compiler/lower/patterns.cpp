// Patterns: tests and bindings.
#include "compiler/lower/function_lowering.h"

namespace gos::lower {

using namespace ast;
using llvm::cast;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;
using types::Kind;

// ---- patterns
// -----------------------------------------------------------------------------------------

void FunctionLowering::bindPattern(const Pattern* pattern, Type* type, Operand value) {
  if (isSimpleBinding(pattern)) {
    if (value.isLocal() && !value.lastUse)
      value = copied(value);
    bindVariable(cast<BindingPattern>(pattern)->variable, type, value);
    return;
  }
  if (isa<WildcardPattern>(pattern)) {
    drop(value);
    return;
  }
  Subject subject;
  subject.type = type;
  subject.value = value;
  subject.value.lastUse = false;
  size_t mark = patternTemporaries_.size();
  holdSubject(subject);
  matchPattern(pattern, subject, Label::None);
  succeedPattern(mark, subject);
  patternTemporaries_.resize(mark);
}

void FunctionLowering::matchPattern(const Pattern* pattern, Subject& subject, Label otherwise,
                                    bool tagKnown) {
  Label body = std::exchange(armBody_, Label::None);
  auto enterBody = [&] {
    if (body != Label::None)
      code_.bind(std::exchange(body, Label::None));
  };
  switch (pattern->kind) {
  case PatternKind::Error:
  case PatternKind::Wildcard:
  case PatternKind::Rest:
    break;
  case PatternKind::Reference:
    armBody_ = body;
    matchPattern(cast<ReferencePattern>(pattern)->sub, subject, otherwise, tagKnown);
    return;
  case PatternKind::Binding: {
    auto* binding = cast<BindingPattern>(pattern);
    if (binding->target.kind == TargetKind::Variant) {
      armBody_ = body;
      matchVariant(binding->target, {}, {}, subject, otherwise, tagKnown);
      return;
    }
    if (binding->target.kind != TargetKind::None) {
      matchConstant(binding->target, subject, otherwise);
      break;
    }
    if (binding->sub) {
      armBody_ = body;
      matchPattern(binding->sub, subject, otherwise, tagKnown);
      body = Label::None;
    }
    Operand value = subject.value;
    if (subject.isSplit)
      break;
    value.lastUse = false;
    if (value.isTemporary()) {
      value.kind = Operand::Kind::Local; // the subject's register is given back by its holder
      value.variable = nullptr;
    }
    if (value.isLocal())
      value = isUnit(value.layout) ? immediate(0, value.layout) : copied(value);
    bindVariable(binding->variable, concrete(binding->variable->type)->withoutReferences(), value);
    break;
  }
  case PatternKind::Literal: {
    auto* literal = cast<LiteralPattern>(pattern);
    matchLiteral(literal->value, literal->negative, subject, otherwise);
    break;
  }
  case PatternKind::Range:
    matchRange(cast<RangePattern>(pattern), subject, otherwise);
    break;
  case PatternKind::Path: {
    auto* path = cast<PathPattern>(pattern);
    if (path->target.kind == TargetKind::Variant) {
      armBody_ = body;
      matchVariant(path->target, {}, {}, subject, otherwise, tagKnown);
      return;
    }
    if (path->target.kind != TargetKind::Struct)
      matchConstant(path->target, subject, otherwise);
    break;
  }
  case PatternKind::TupleStruct: {
    auto* shape = cast<TupleStructPattern>(pattern);
    llvm::SmallVector<const Pattern*, 8> elements;
    llvm::SmallVector<uint32_t, 8> indices;
    // `..` stands for the fields in the middle.
    uint32_t fields = 0;
    if (shape->target.kind == TargetKind::Variant)
      fields =
          uint32_t(cast<EnumItem>(shape->target.item)->variants[shape->target.index].fields.size());
    else if (auto* item = llvm::dyn_cast_or_null<StructItem>(shape->target.item))
      fields = uint32_t(item->fields.size());
    bool afterRest = false;
    for (uint32_t i = 0; i != shape->elements.size(); ++i) {
      if (isa<RestPattern>(shape->elements[i])) {
        afterRest = true;
        continue;
      }
      elements.push_back(shape->elements[i]);
      indices.push_back(afterRest ? fields - uint32_t(shape->elements.size() - i) : i);
    }
    if (shape->target.kind == TargetKind::Variant) {
      armBody_ = body;
      matchVariant(shape->target, elements, indices, subject, otherwise, tagKnown);
      return;
    }
    matchFields(elements, indices, subject, -1, otherwise);
    break;
  }
  case PatternKind::Struct: {
    auto* shape = cast<StructPattern>(pattern);
    llvm::SmallVector<const Pattern*, 8> elements;
    llvm::SmallVector<uint32_t, 8> indices;
    for (const FieldPattern& field : shape->fields)
      if (field.pattern) {
        elements.push_back(field.pattern);
        indices.push_back(field.index);
      }
    if (shape->target.kind == TargetKind::Variant) {
      armBody_ = body;
      matchVariant(shape->target, elements, indices, subject, otherwise, tagKnown);
      return;
    }
    matchFields(elements, indices, subject, -1, otherwise);
    break;
  }
  case PatternKind::Tuple: {
    auto* tuple = cast<TuplePattern>(pattern);
    if (subject.isSplit) {
      for (size_t i = 0; i != tuple->elements.size() && i != subject.parts.size(); ++i)
        matchPattern(tuple->elements[i], subject.parts[i], otherwise);
      break;
    }
    llvm::SmallVector<const Pattern*, 8> elements;
    llvm::SmallVector<uint32_t, 8> indices;
    uint32_t fields = uint32_t(subject.type->args.size());
    bool afterRest = false;
    for (uint32_t i = 0; i != tuple->elements.size(); ++i) {
      if (isa<RestPattern>(tuple->elements[i])) {
        afterRest = true;
        continue;
      }
      elements.push_back(tuple->elements[i]);
      indices.push_back(afterRest ? fields - uint32_t(tuple->elements.size() - i) : i);
    }
    matchFields(elements, indices, subject, -1, otherwise);
    break;
  }
  case PatternKind::Slice:
    matchSlice(cast<SlicePattern>(pattern), subject, otherwise);
    break;
  case PatternKind::Or: {
    auto* either = cast<OrPattern>(pattern);
    if (otherwise == Label::None) { // cannot fail: the first that fits, the last without a test
      Label matched = code_.makeLabel();
      for (size_t i = 0; i != either->alternatives.size(); ++i) {
        Label next = code_.makeLabel();
        bool last = i + 1 == either->alternatives.size();
        rebinding_ += i != 0;
        matchPattern(either->alternatives[i], subject, last ? Label::None : next);
        rebinding_ -= i != 0;
        code_.jump(matched);
        code_.bind(next);
      }
      code_.bind(matched);
      break;
    }
    // A run of plain variants or numbers needs no bindings: each test jumps on success.
    Label matched = code_.makeLabel();
    for (size_t i = 0; i != either->alternatives.size(); ++i) {
      bool last = i + 1 == either->alternatives.size();
      Label next = last ? otherwise : code_.makeLabel();
      rebinding_ += i != 0;
      matchPattern(either->alternatives[i], subject, next);
      rebinding_ -= i != 0;
      if (!last) {
        code_.jump(matched);
        code_.bind(next);
      }
    }
    code_.bind(matched);
    break;
  }
  }
  enterBody();
}

void FunctionLowering::matchVariant(const Target& target, llvm::ArrayRef<const Pattern*> elements,
                                    llvm::ArrayRef<uint32_t> indices, Subject& subject,
                                    Label otherwise, bool tagKnown) {
  Label body = std::exchange(armBody_, Label::None);
  Operand value = subject.value;
  bool single = isa<EnumItem>(target.item) && cast<EnumItem>(target.item)->variants.size() == 1;
  if (otherwise != Label::None && !tagKnown && !single) {
    if (isReference(value.layout)) {
      code_.jump(Opcode::JumpTagNe, otherwise, inRegister(value), target.index);
    } else if (value.isImmediate()) {
      if (value.value != int64_t(target.index))
        code_.jump(otherwise);
    } else {
      code_.jump(Opcode::JumpNeImm, otherwise, value.reg, target.index);
    }
  }
  if (body != Label::None)
    code_.bind(body);
  if (!elements.empty())
    matchFields(elements, indices, subject, target.index, otherwise);
}

/// The fields of a struct or tuple, or (variant >= 0) of a variant that is known to be there.
void FunctionLowering::matchFields(llvm::ArrayRef<const Pattern*> elements,
                                   llvm::ArrayRef<uint32_t> indices, Subject& subject,
                                   int64_t variant, Label otherwise) {
  Operand value = subject.value;
  if (!isReference(value.layout))
    return; // nothing is in it
  Register reg = inRegister(value);
  LayoutId layout = value.layout;
  Type* type = subject.type;
  llvm::SmallVector<Type*, 8> fieldTypes;
  if (type->is(Kind::Tuple))
    fieldTypes.assign(type->args.begin(), type->args.end());
  else
    fieldTypes = module_.fieldTypes(type, variant < 0 ? 0 : uint32_t(variant));
  uint32_t number = variant < 0 ? 0 : uint32_t(variant);
  auto load = [&](Register dest, LayoutId field, uint32_t i) {
    bool reference = isReference(field);
    if (variant >= 0)
      code_.op(reference ? Opcode::GetPayloadRef : Opcode::GetPayload, dest, reg, number, i);
    else
      code_.op(reference ? Opcode::GetFieldRef : Opcode::GetField, dest, reg, i);
  };
  for (size_t e = 0; e != elements.size(); ++e) {
    const Pattern* pattern = withoutReference(elements[e]);
    uint32_t i = indices[e];
    if (isa<WildcardPattern>(pattern) || i >= fieldTypes.size() ||
        number >= this->layout(layout).variants.size())
      continue;
    LayoutId field = this->layout(layout).variants[number].fields[i];
    Type* fieldType = fieldTypes[i]->withoutReferences();
    if (isSimpleBinding(pattern)) {
      const Variable* variable = cast<BindingPattern>(pattern)->variable;
      if (isUnit(field)) {
        bindVariable(variable, fieldType, immediate(0, field));
        continue;
      }
      Register dest = acquire(field);
      load(dest, field, i);
      bindVariable(variable, fieldType, temporary(dest));
      continue;
    }
    Subject inner;
    inner.type = fieldType;
    if (isUnit(field)) {
      inner.value = immediate(0, field);
    } else {
      Register dest = acquire(field);
      load(dest, field, i);
      inner.value = temporary(dest);
    }
    Operand held = inner.value;
    if (held.isTemporary() && isReference(field))
      patternTemporaries_.push_back(held.reg);
    matchPattern(pattern, inner, otherwise);
    if (held.isTemporary() && !isReference(field))
      release(held.reg);
  }
}

void FunctionLowering::matchSlice(const SlicePattern* pattern, Subject& subject, Label otherwise) {
  Operand value = subject.value;
  if (!isReference(value.layout))
    return;
  Register vec = inRegister(value);
  LayoutId integer = layouts().integer();
  LayoutId element = layout(value.layout).element;
  Type* elementType = subject.type->element();
  size_t rest = pattern->elements.size();
  for (size_t i = 0; i != pattern->elements.size(); ++i)
    if (isa<RestPattern>(pattern->elements[i]))
      rest = i;
  bool hasRest = rest != pattern->elements.size();
  size_t fixed = pattern->elements.size() - (hasRest ? 1 : 0);
  Register length = acquire(integer);
  code_.op(Opcode::VecLen, length, vec);
  if (otherwise != Label::None) {
    if (!hasRest)
      code_.jump(Opcode::JumpNeImm, otherwise, length, int32_t(fixed));
    else if (fixed)
      code_.jump(Opcode::JumpLtImm, otherwise, length, int32_t(fixed));
  }
  for (size_t i = 0; i != pattern->elements.size(); ++i) {
    const Pattern* inner = withoutReference(pattern->elements[i]);
    if (isa<WildcardPattern>(inner))
      continue;
    Register at = acquire(integer);
    auto fromEnd = [&](size_t distance, Register into) {
      code_.op(Opcode::AddImmI64, into, length, -int32_t(distance), 1u);
    };
    if (auto* middle = dyn_cast<RestPattern>(inner)) {
      if (middle->variable) {
        // `..rest`: what lies between.
        Register high = acquire(integer);
        registers_.wantLow(high);
        code_.op(Opcode::LoadInt, at, int32_t(i));
        fromEnd(fixed - i, high);
        Type* restType = concrete(middle->variable->type)->withoutReferences();
        LayoutId restLayout = layoutOf(restType);
        Operand source = value;
        source.lastUse = false;
        if (source.isTemporary()) {
          source.kind = Operand::Kind::Local;
          source.variable = nullptr;
        }
        Operand same = converted(source, restLayout);
        Register made = acquire(restLayout);
        code_.op(Opcode::VecSlice, made, inRegister(same), at, high);
        drop(same);
        release(high);
        bindVariable(middle->variable, restType, temporary(made));
      }
      release(at);
      continue;
    }
    if (hasRest && i > rest)
      fromEnd(pattern->elements.size() - i, at);
    else
      code_.op(Opcode::LoadInt, at, int32_t(i));
    Subject part;
    part.type = elementType;
    if (isUnit(element)) {
      part.value = immediate(0, element);
    } else {
      Register dest = acquire(element);
      code_.op(isReference(element)     ? Opcode::VecGetRef
               : hasBytes(value.layout) ? Opcode::VecGetByte
                                        : Opcode::VecGet,
               dest, vec, at);
      part.value = temporary(dest);
    }
    release(at);
    if (isSimpleBinding(inner)) {
      bindVariable(cast<BindingPattern>(inner)->variable, elementType, part.value);
      continue;
    }
    Operand held = part.value;
    if (held.isTemporary() && isReference(element))
      patternTemporaries_.push_back(held.reg);
    matchPattern(inner, part, otherwise);
    if (held.isTemporary() && !isReference(element))
      release(held.reg);
  }
  release(length);
}

void FunctionLowering::matchLiteral(const Expr* literal, bool negative, Subject& subject,
                                    Label otherwise) {
  if (otherwise == Label::None)
    return;
  Operand value = subject.value;
  LayoutId layout = value.layout;
  if (value.isTemporary()) {
    value.kind = Operand::Kind::Local;
    value.variable = nullptr;
  }
  Operand expected;
  if (subject.type->isFloat()) {
    double number = 0;
    if (auto* real = dyn_cast<FloatExpr>(literal))
      number = real->value;
    else if (auto* integer = dyn_cast<IntExpr>(literal))
      number = double(integer->value);
    if (subject.type->is(Kind::F32))
      number = double(float(number));
    Register reg = acquire(layout);
    loadConstant(reg, std::bit_cast<uint64_t>(negative ? -number : number));
    expected = temporary(reg);
  } else if (auto* number = dyn_cast<IntExpr>(literal)) {
    expected = immediate(negative ? int64_t(0 - number->value) : int64_t(number->value), layout);
  } else if (auto known = constantInteger(literal)) {
    expected = immediate(*known, layout);
  } else {
    expected = operand(literal);
    expected = converted(expected, layout);
  }
  branchOn(BinaryOp::Eq, subject.type, value, expected, otherwise, false);
}

void FunctionLowering::matchRange(const RangePattern* pattern, Subject& subject, Label otherwise) {
  if (otherwise == Label::None)
    return;
  auto bound = [&](const Expr* expr, BinaryOp op) {
    Operand value = subject.value;
    if (value.isTemporary()) {
      value.kind = Operand::Kind::Local;
      value.variable = nullptr;
    }
    Operand limit = operand(expr);
    if (limit.isImmediate())
      limit.layout = value.layout;
    branchOn(op, subject.type, value, limit, otherwise, false);
  };
  if (pattern->low)
    bound(pattern->low, BinaryOp::Ge);
  if (pattern->high)
    bound(pattern->high, pattern->inclusive ? BinaryOp::Le : BinaryOp::Lt);
}

void FunctionLowering::matchConstant(const Target& target, Subject& subject, Label otherwise) {
  if (otherwise == Label::None || (!target.item && target.kind != TargetKind::NumericConst &&
                                   target.kind != TargetKind::ConstParam))
    return;
  Operand value = subject.value;
  if (value.isTemporary()) {
    value.kind = Operand::Kind::Local;
    value.variable = nullptr;
  }
  if (target.kind == TargetKind::NumericConst || target.kind == TargetKind::ConstParam) {
    const uint64_t bits =
        target.kind == TargetKind::ConstParam ? constParameter(target) : target.bits;
    Operand expected = immediate(int64_t(bits), value.layout);
    branchOn(BinaryOp::Eq, subject.type, value, expected, otherwise, false);
    return;
  }
  Item* item = target.item;
  Environment environment{{}, nullptr, module_.packageOf(item), {}};
  if (target.kind == TargetKind::AssociatedConst) {
    Type* self = target.selfType ? concrete(target.selfType) : nullptr;
    if (self)
      if (ConstItem* chosen = module_.program().selectConst(cast<ConstItem>(item), self))
        item = chosen;
    environment.args = module_.instantiate(target.typeArgs, environment_);
    environment.self = self;
  }
  Operand expected = constantOperand(item, environment, subject.type);
  branchOn(BinaryOp::Eq, subject.type, value, expected, otherwise, false);
}

} // namespace gos::lower
