// Patterns and `match`. Arms are tried in order; a switch on the variant or the number leads to the first arm that can
// apply.
#include "compiler/lower/function_lowering.h"

namespace gos::lower {

using namespace ast;
using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;
using types::Kind;

static const Pattern* withoutReference(const Pattern* pattern) {
  while (auto* reference = dyn_cast<ReferencePattern>(pattern))
    pattern = reference->sub;
  return pattern;
}

bool FunctionLowering::isSimpleBinding(const Pattern* pattern) const {
  auto* binding = dyn_cast<BindingPattern>(pattern);
  return binding && binding->target.kind == TargetKind::None && !binding->sub;
}

void FunctionLowering::holdSubject(Subject& subject) {
  if (subject.value.isTemporary() && isReference(subject.value.layout))
    patternTemporaries_.push_back(subject.value.reg);
  for (Subject& part : subject.parts)
    holdSubject(part);
}

void FunctionLowering::succeedPattern(size_t mark, Subject& subject) {
  for (size_t i = mark; i != patternTemporaries_.size(); ++i) {
    Register reg = patternTemporaries_[i];
    code_.op(Opcode::Release, reg);
    release(reg);
  }
  auto giveScalar = [&](Subject& part) {
    if (part.value.isTemporary() && !isReference(part.value.layout))
      release(part.value.reg);
    part.value.kind = Operand::Kind::Immediate;
  };
  giveScalar(subject);
  for (Subject& part : subject.parts)
    giveScalar(part);
}

void FunctionLowering::failPattern(size_t mark) {
  for (size_t i = mark; i != patternTemporaries_.size(); ++i)
    code_.op(Opcode::Release, patternTemporaries_[i]);
  patternTemporaries_.resize(mark);
}

/// A tuple written as the subject is not built when every pattern takes it apart.
FunctionLowering::Subject FunctionLowering::subjectOf(const Expr* expr, llvm::ArrayRef<const Pattern*> patterns) {
  Subject subject;
  subject.type = valueType(expr);
  auto* tuple = dyn_cast<TupleExpr>(actual(expr));
  auto splits = [&](const Pattern* pattern) {
    pattern = withoutReference(pattern);
    if (isa<WildcardPattern>(pattern))
      return true;
    auto* parts = dyn_cast<TuplePattern>(pattern);
    return parts && tuple && parts->elements.size() == tuple->elements.size() &&
           llvm::none_of(parts->elements, [](const Pattern* p) { return isa<RestPattern>(p); });
  };
  bool split = tuple && tuple->elements.size() > 1;
  for (const Pattern* pattern : patterns) {
    if (auto* either = dyn_cast<OrPattern>(pattern))
      split = split && llvm::all_of(either->alternatives, splits);
    else
      split = split && splits(pattern);
  }
  if (!split) {
    subject.value = operand(expr);
    subject.value.lastUse = false; // it may be looked at again
    return subject;
  }
  subject.isSplit = true;
  llvm::SmallVector<const Expr*, 4> elements(tuple->elements.begin(), tuple->elements.end());
  llvm::SmallVector<Operand, 4> values;
  operands(elements, values);
  for (size_t i = 0; i != values.size(); ++i) {
    Subject part;
    part.type = valueType(elements[i]);
    part.value = values[i];
    part.value.lastUse = false;
    subject.parts.push_back(part);
  }
  return subject;
}

// ---- match --------------------------------------------------------------------------------------------

void FunctionLowering::matchExpression(const MatchExpr* expr, Destination target) {
  llvm::SmallVector<const Pattern*, 8> patterns;
  for (const MatchArm& arm : expr->arms)
    patterns.push_back(arm.pattern);
  Subject subject = subjectOf(expr->subject, patterns);
  if (code_.isDead())
    return;
  // A mutable variable may change in an arm's guard or body: the arms look at a copy only where that matters,
  // which is before the body; bindings are copies.
  Label end = code_.makeLabel(), none = code_.makeLabel();
  llvm::SmallVector<Label, 8> tests, bodies;
  for (size_t i = 0; i != expr->arms.size(); ++i) {
    tests.push_back(code_.makeLabel());
    bodies.push_back(code_.makeLabel());
  }
  if (!switchOnVariants(expr, subject, tests, bodies, none))
    switchOnIntegers(expr, subject, tests, none);
  llvm::SmallVector<Register, 4> held;
  auto hold = [&](Subject& part) {
    if (part.value.isTemporary() && isReference(part.value.layout))
      held.push_back(part.value.reg);
  };
  hold(subject);
  for (Subject& part : subject.parts)
    hold(part);
  // While the arms are made the subject's registers are read by each of them.
  auto asLocal = [](Subject& part) {
    if (part.value.isTemporary()) {
      part.value.kind = Operand::Kind::Local;
      part.value.variable = nullptr;
      part.value.lastUse = false;
    }
  };
  Subject shared = subject;
  asLocal(shared);
  for (Subject& part : shared.parts)
    asLocal(part);

  for (size_t i = 0; i != expr->arms.size(); ++i) {
    const MatchArm& arm = expr->arms[i];
    SpanScope span(code_, arm.span);
    Label failed = i + 1 < expr->arms.size() ? tests[i + 1] : none;
    code_.bind(tests[i]);
    pushScope();
    size_t mark = patternTemporaries_.size();
    Label here = code_.makeLabel();
    Subject view = shared;
    armBody_ = bodies[i];
    // What reaches the last arm fits it: the checker has seen to that (a payload of another variant would trap).
    bool last = i + 1 == expr->arms.size() && !arm.guard;
    matchPattern(arm.pattern, view, last ? Label::None : here);
    armBody_ = Label::None;
    if (arm.guard)
      branch(arm.guard, here, false);
    Subject nothing;
    succeedPattern(mark, nothing);
    for (Register reg : held)
      code_.op(Opcode::Release, reg);
    emit(arm.body, target);
    popScope();
    code_.jump(end);
    code_.bind(here);
    failPattern(mark);
    code_.jump(failed);
  }
  code_.bind(none);
  if (!code_.isDead())
    code_.op(Opcode::PanicCode, {}, 0u, {}, uint32_t(vm::PanicReason::NoArm));
  auto give = [&](Subject& part) {
    if (part.value.isTemporary())
      release(part.value.reg);
  };
  give(subject);
  for (Subject& part : subject.parts)
    give(part);
  code_.bind(end);
}

/// The variants that a pattern can fit; false when it fits every one.
static bool variantsOf(const Pattern* pattern, llvm::SmallVectorImpl<uint32_t>& variants) {
  pattern = withoutReference(pattern);
  const Target* target = nullptr;
  switch (pattern->kind) {
  case PatternKind::Path:
    target = &cast<PathPattern>(pattern)->target;
    break;
  case PatternKind::TupleStruct:
    target = &cast<TupleStructPattern>(pattern)->target;
    break;
  case PatternKind::Struct:
    target = &cast<StructPattern>(pattern)->target;
    break;
  case PatternKind::Binding: {
    auto* binding = cast<BindingPattern>(pattern);
    if (binding->target.kind == TargetKind::Variant)
      target = &binding->target;
    else if (binding->sub)
      return variantsOf(binding->sub, variants);
    break;
  }
  case PatternKind::Or:
    for (const Pattern* alternative : cast<OrPattern>(pattern)->alternatives)
      if (!variantsOf(alternative, variants))
        return false;
    return true;
  default: // fits all
    break;
  }
  if (!target || target->kind != TargetKind::Variant)
    return false;
  variants.push_back(target->index);
  return true;
}

bool FunctionLowering::switchOnVariants(const MatchExpr* expr, Subject& subject, llvm::ArrayRef<Label> tests,
                                        llvm::ArrayRef<Label> bodies, Label none) {
  if (subject.isSplit || subject.type->kind != Kind::Enum || subject.value.isImmediate())
    return false;
  size_t variants = cast<EnumItem>(subject.type->item)->variants.size();
  if (variants < 4 || expr->arms.size() < 4)
    return false;
  llvm::SmallVector<Label, 16> table(variants + 1, none);
  llvm::SmallVector<bool, 16> found(variants, false);
  for (size_t i = 0; i != expr->arms.size(); ++i) {
    llvm::SmallVector<uint32_t, 8> fits;
    const Pattern* pattern = withoutReference(expr->arms[i].pattern);
    if (!variantsOf(pattern, fits)) {
      for (size_t v = 0; v != variants; ++v)
        if (!found[v]) {
          found[v] = true;
          table[v] = tests[i];
        }
      break;
    }
    // Straight past the test of the tag, where the pattern begins with one.
    bool direct = isa<TupleStructPattern, PathPattern, StructPattern>(pattern) ||
                  (isa<BindingPattern>(pattern) && !cast<BindingPattern>(pattern)->sub);
    for (uint32_t v : fits)
      if (v < variants && !found[v]) {
        found[v] = true;
        table[v] = direct ? bodies[i] : tests[i];
      }
  }
  Register tag = subject.value.reg;
  bool reference = isReference(subject.value.layout);
  if (reference) {
    tag = acquire(layouts().integer());
    code_.op(Opcode::GetTag, tag, subject.value.reg);
  }
  code_.switchOver(tag, table);
  if (reference)
    release(tag);
  return true;
}

/// The numbers that a pattern can fit; false when it fits others.
static bool integersOf(const Pattern* pattern, llvm::SmallVectorImpl<int64_t>& values) {
  pattern = withoutReference(pattern);
  if (auto* literal = dyn_cast<LiteralPattern>(pattern)) {
    int64_t value;
    if (auto* number = dyn_cast<IntExpr>(literal->value))
      value = literal->negative ? int64_t(0 - number->value) : int64_t(number->value);
    else if (auto* c = dyn_cast<CharExpr>(literal->value))
      value = c->value;
    else if (auto* byte = dyn_cast<ByteExpr>(literal->value))
      value = byte->value;
    else
      return false;
    values.push_back(value);
    return true;
  }
  if (auto* either = dyn_cast<OrPattern>(pattern))
    return llvm::all_of(either->alternatives, [&](const Pattern* p) { return integersOf(p, values); });
  return false;
}

bool FunctionLowering::switchOnIntegers(const MatchExpr* expr, Subject& subject, llvm::ArrayRef<Label> tests,
                                        Label none) {
  if (subject.isSplit || subject.value.isImmediate() || isReference(subject.value.layout) ||
      !(subject.type->isInteger() || subject.type->is(Kind::Char)))
    return false;
  llvm::SmallVector<std::pair<int64_t, Label>, 16> cases;
  Label other = none;
  for (size_t i = 0; i != expr->arms.size(); ++i) {
    llvm::SmallVector<int64_t, 8> values;
    if (!integersOf(expr->arms[i].pattern, values)) {
      other = tests[i];
      break; // the arms after it are reached through it
    }
    for (int64_t value : values)
      cases.push_back({value, tests[i]});
  }
  if (cases.size() < 5)
    return false;
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (auto& [value, label] : cases) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  uint64_t range = uint64_t(high) - uint64_t(low);
  if (range > 1024 || range > cases.size() * 4)
    return false;
  llvm::SmallVector<Label, 64> table(size_t(range) + 2, other);
  for (size_t i = cases.size(); i-- > 0;) // the first arm wins
    table[size_t(uint64_t(cases[i].first) - uint64_t(low))] = cases[i].second;
  Register index = subject.value.reg;
  if (low != 0) {
    Operand offset = immediate(low, layouts().integer());
    Register base = inRegister(offset);
    index = acquire(layouts().integer());
    code_.op(Opcode::WrapSub, index, subject.value.reg, base);
    drop(offset);
  }
  code_.switchOver(index, table);
  if (low != 0)
    release(index);
  return true;
}

// ---- patterns -----------------------------------------------------------------------------------------

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

void FunctionLowering::matchPattern(const Pattern* pattern, Subject& subject, Label otherwise, bool tagKnown) {
  Label body = std::exchange(armBody_, Label::None);
  auto enterBody = [&] {
    if (body != Label::None)
      code_.bind(std::exchange(body, Label::None));
  };
  switch (pattern->kind) {
  case PatternKind::Error: case PatternKind::Wildcard: case PatternKind::Rest:
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
      fields = uint32_t(cast<EnumItem>(shape->target.item)->variants[shape->target.index].fields.size());
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
                                    llvm::ArrayRef<uint32_t> indices, Subject& subject, Label otherwise,
                                    bool tagKnown) {
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
void FunctionLowering::matchFields(llvm::ArrayRef<const Pattern*> elements, llvm::ArrayRef<uint32_t> indices,
                                   Subject& subject, int64_t variant, Label otherwise) {
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
    if (isa<WildcardPattern>(pattern) || i >= fieldTypes.size() || number >= this->layout(layout).variants.size())
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
      code_.op(isReference(element) ? Opcode::VecGetRef : hasBytes(value.layout) ? Opcode::VecGetByte : Opcode::VecGet,
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

void FunctionLowering::matchLiteral(const Expr* literal, bool negative, Subject& subject, Label otherwise) {
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
  if (otherwise == Label::None || (!target.item && target.kind != TargetKind::NumericConst))
    return;
  Operand value = subject.value;
  if (value.isTemporary()) {
    value.kind = Operand::Kind::Local;
    value.variable = nullptr;
  }
  if (target.kind == TargetKind::NumericConst) {
    Operand expected = immediate(int64_t(target.bits), value.layout);
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
