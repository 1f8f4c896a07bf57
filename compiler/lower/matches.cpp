// Patterns and `match`. Arms are tried in order; a switch on the variant or the number leads to the
// first arm that can apply.
#include "compiler/lower/function_lowering.h"

namespace gos::lower {

using namespace ast;
using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;
using types::Kind;

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
FunctionLowering::Subject FunctionLowering::subjectOf(const Expr* expr,
                                                      llvm::ArrayRef<const Pattern*> patterns) {
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

// ---- match
// --------------------------------------------------------------------------------------------

void FunctionLowering::matchExpression(const MatchExpr* expr, Destination target) {
  llvm::SmallVector<const Pattern*, 8> patterns;
  for (const MatchArm& arm : expr->arms)
    patterns.push_back(arm.pattern);
  Subject subject = subjectOf(expr->subject, patterns);
  if (code_.isDead())
    return;
  // A mutable variable may change in an arm's guard or body: the arms look at a copy only where
  // that matters, which is before the body; bindings are copies.
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
    // What reaches the last arm fits it: the checker has seen to that (a payload of another variant
    // would trap).
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

bool FunctionLowering::switchOnVariants(const MatchExpr* expr, Subject& subject,
                                        llvm::ArrayRef<Label> tests, llvm::ArrayRef<Label> bodies,
                                        Label none) {
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
    return llvm::all_of(either->alternatives,
                        [&](const Pattern* p) { return integersOf(p, values); });
  return false;
}

bool FunctionLowering::switchOnIntegers(const MatchExpr* expr, Subject& subject,
                                        llvm::ArrayRef<Label> tests, Label none) {
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

} // namespace gos::lower
