#include "compiler/lower/emitter.h"

#include <cassert>
#include <limits>

namespace gos::lower {

using vm::Instruction;
using vm::Opcode;

namespace {

const char* formatOf(Opcode op) {
  static constexpr const char* kFormats[] = {
#define GOS_OP(name, format) format,
#include "vm/opcodes.def"
  };
  return kFormats[size_t(op)];
}

bool isRegisterLetter(char c) {
  switch (c) {
  case 'i':
  case 'f':
  case 's':
  case 'r':
  case 'I':
  case 'F':
  case 'S':
  case 'R':
  case 'U':
  case 'W':
    return true;
  }
  return false;
}

/// The letter of operand `position` (0 is A), '-' past the end.
char letter(const char* format, size_t position) {
  for (size_t i = 0; i != position; ++i)
    if (!format[i])
      return '-';
  return format[position] ? format[position] : '-';
}

bool endsFlow(Opcode op) {
  switch (op) {
  case Opcode::Jump:
  case Opcode::LoopJump:
  case Opcode::Return:
  case Opcode::ReturnScalar:
  case Opcode::ReturnRef:
  case Opcode::ReturnUnit:
  case Opcode::Panic:
  case Opcode::PanicCode:
    return true;
  default: // every other operation goes on to the next
    return false;
  }
}

/// Operations that can neither trap nor call, so that they need no line.
bool isSilent(Opcode op) {
  switch (op) {
  case Opcode::Move:
  case Opcode::MoveRef:
  case Opcode::TakeRef:
  case Opcode::Release:
  case Opcode::LoadInt:
  case Opcode::LoadConstant:
  case Opcode::LoadString:
  case Opcode::Jump:
  case Opcode::JumpIf:
  case Opcode::JumpIfNot:
  case Opcode::ArgScalar:
  case Opcode::ArgRef:
  case Opcode::ArgTake:
  case Opcode::ArgInt:
  case Opcode::Return:
  case Opcode::ReturnScalar:
  case Opcode::ReturnRef:
  case Opcode::ReturnUnit:
    return true;
  default: // the rest may
    return false;
  }
}

} // namespace

Label Emitter::makeLabel() {
  labels_.push_back({});
  return Label(labels_.size() - 1);
}

void Emitter::bind(Label label) {
  LabelInfo& info = labels_[uint32_t(label)];
  info.at = uint32_t(ops_.size());
  // A label of a loop is bound before anything jumps to it; then control falls in or the loop is
  // dead too.
  if (info.used)
    dead_ = false;
}

void Emitter::add(Op op) {
  if (dead_) {
    spelling_.clear();
    return;
  }
  op.span = span_;
  if (op.label != Label::None)
    labels_[uint32_t(op.label)].used = true;
  if (op.op == Opcode::CallNative || op.op == Opcode::Call) {
    if (!spelling_.empty()) {
      op.spelling = uint32_t(spellings_.size());
      spellings_.push_back(std::move(spelling_));
    }
    spelling_.clear();
  }
  ops_.push_back(op);
  dead_ = endsFlow(op.op);
}

void Emitter::op(Opcode op, Slot a, Slot b, Slot c, Slot d) {
  add({op, a, b, c, d});
}

void Emitter::jump(Opcode op, Label label, Slot a, Slot b) {
  add({op, a, b, {}, {}, label});
}

void Emitter::switchOver(Register subject, llvm::ArrayRef<Label> labels) {
  if (dead_)
    return;
  add({Opcode::Switch, subject, uint32_t(labels.size() - 1)});
  for (Label label : labels) {
    dead_ = false; // the table is reached through the switch
    jump(label);
    ops_.back().isTable = true;
  }
  dead_ = true;
}

void Emitter::prologue(Opcode op, Slot a, Slot b, Slot c) {
  Op made{op, a, b, c};
  made.span = span_;
  prologue_.push_back(made);
}

void Emitter::simplify() {
  for (int round = 0; round != 4; ++round) {
    bool changed = false;
    // Jumps to jumps. A chain is short; a ring of jumps cannot be, since these only lead ahead.
    for (Op& op : ops_) {
      if (op.label == Label::None || op.op == Opcode::LoopJump || op.op == Opcode::ForLoopI64)
        continue;
      for (int hops = 0; hops != 16; ++hops) {
        uint32_t at = labels_[uint32_t(op.label)].at;
        if (at >= ops_.size() || ops_[at].op != Opcode::Jump || ops_[at].isTable ||
            ops_[at].label == op.label)
          break;
        op.label = ops_[at].label;
        changed = true;
      }
    }
    std::vector<uint8_t> reached(ops_.size() + 1, 0);
    for (const Op& op : ops_)
      if (op.label != Label::None)
        reached[labels_[uint32_t(op.label)].at] = 1;
    std::vector<uint32_t> moved(ops_.size() + 1);
    std::vector<Op> kept;
    kept.reserve(ops_.size());
    bool flows = true;
    for (size_t i = 0; i != ops_.size(); ++i) {
      moved[i] = uint32_t(kept.size());
      const Op& op = ops_[i];
      if (reached[i] || op.isTable)
        flows = true;
      // A value taken out of its cell and put back at once.
      if (flows && op.op == Opcode::CellTake && i + 1 != ops_.size() && !reached[i + 1] &&
          ops_[i + 1].op == Opcode::CellSetTake && ops_[i + 1].a.bits == op.b.bits &&
          ops_[i + 1].b.bits == op.a.bits) {
        changed = true;
        moved[++i] = uint32_t(kept.size());
        continue;
      }
      bool toNext = op.op == Opcode::Jump && !op.isTable && labels_[uint32_t(op.label)].at == i + 1;
      if (!flows || toNext) {
        changed = true;
        continue;
      }
      kept.push_back(op);
      flows = !endsFlow(op.op);
    }
    moved[ops_.size()] = uint32_t(kept.size());
    ops_ = std::move(kept);
    for (LabelInfo& label : labels_)
      if (label.at != ~0u)
        label.at = moved[label.at];
    if (!changed)
      return;
  }
}

bool Emitter::finish(const Registers& registers, vm::Function& out, bool everyLine) {
  Registers::Numbering numbering = registers.number();
  if (numbering.layouts.size() > 0xffff || outgoing_ > 0xffff)
    return false;
  if (!dead_ || ops_.empty()) // an endless loop may leave labels at the very end
    op(Opcode::PanicCode, {}, 0u, {}, 0u);
  for (LabelInfo& label : labels_)
    if (label.used && label.at == ops_.size()) {
      dead_ = false;
      op(Opcode::PanicCode, {}, 0u, {}, 0u);
      break;
    }
  simplify();
  if (!registers.hasReferences())
    for (Op& each : ops_)
      if (each.op == Opcode::ReturnScalar)
        each.op = Opcode::Return; // nothing to release
  // Put the prologue in front; labels shift with it.
  uint32_t shift = uint32_t(prologue_.size());
  if (shift) {
    ops_.insert(ops_.begin(), prologue_.begin(), prologue_.end());
    for (LabelInfo& label : labels_)
      if (label.at != ~0u)
        label.at += shift;
  }

  // How many words each operation takes: fused jumps that do not reach are followed by plain jumps.
  std::vector<uint8_t> width(ops_.size(), 1);
  std::vector<uint32_t> position(ops_.size() + 1);
  auto layOut = [&] {
    uint32_t pc = 0;
    for (size_t i = 0; i != ops_.size(); ++i) {
      position[i] = pc;
      pc += width[i];
    }
    position[ops_.size()] = pc;
  };
  auto isShort = [](const Op& op) { return letter(formatOf(op.op), 2) == 'c'; };
  for (bool changed = true; changed;) {
    changed = false;
    layOut();
    for (size_t i = 0; i != ops_.size(); ++i) {
      const Op& op = ops_[i];
      if (op.label == Label::None || !isShort(op) || width[i] != 1)
        continue;
      int64_t distance =
          int64_t(position[labels_[uint32_t(op.label)].at]) - int64_t(position[i] + 1);
      // Room for what widening others adds is left by repeating.
      if (distance > std::numeric_limits<int16_t>::max() ||
          distance < std::numeric_limits<int16_t>::min()) {
        width[i] = op.op == Opcode::ForLoopI64 ? 4 : 3;
        changed = true;
      }
    }
  }
  if (position.back() > 0x7fffffffu)
    return false;

  bool fits = true;
  auto encode = [&](const Op& op) -> Instruction {
    const char* format = formatOf(op.op);
    uint32_t operand[4] = {op.a.bits, op.b.bits, op.c.bits, op.d.bits};
    for (size_t i = 0; i != 4; ++i)
      if (isRegisterLetter(letter(format, i)))
        operand[i] = numbering.number[operand[i]];
    char second = letter(format, 1), third = letter(format, 2);
    bool wide = (second == 'x' || second == 'j') && third == '-';
    fits &= operand[0] <= 0xffff && operand[3] <= 0xff;
    if (wide)
      return Instruction::abx(op.op, uint16_t(operand[0]), operand[1], uint8_t(operand[3]));
    auto narrow = [&](uint32_t value, char format_) {
      bool isSigned = format_ == 'n' || format_ == 'c';
      fits &= value <= 0xffff || (isSigned && int32_t(value) < 0 && int32_t(value) >= -0x8000);
      return uint16_t(value);
    };
    return Instruction::abc(op.op, uint16_t(operand[0]), narrow(operand[1], second),
                            narrow(operand[2], third), uint8_t(operand[3]));
  };

  out.registers = std::move(numbering.layouts);
  out.outgoingCount = uint16_t(outgoing_);
  out.code.reserve(position.back());
  Span lineSpan;
  for (size_t i = 0; i != ops_.size(); ++i) {
    Op op = ops_[i];
    uint32_t pc = position[i];
    assert(out.code.size() == pc);
    if ((everyLine ? i >= shift : !isSilent(op.op)) && op.span.valid() && !(op.span == lineSpan)) {
      out.lines.push_back({pc, op.span});
      lineSpan = op.span;
    }
    if (op.spelling != ~0u)
      out.spellings.push_back({pc, std::move(spellings_[op.spelling])});
    if (op.label == Label::None) {
      out.code.push_back(encode(op));
      continue;
    }
    uint32_t target = position[labels_[uint32_t(op.label)].at];
    auto relative = [&](uint32_t from) { return int32_t(target) - int32_t(from + 1); };
    auto plainJump = [&](Opcode code, int32_t distance) {
      out.code.push_back(Instruction::abx(code, 0, uint32_t(distance)));
    };
    if (!isShort(op)) {
      op.b = relative(pc);
      out.code.push_back(encode(op));
    } else if (width[i] == 1) {
      op.c = relative(pc);
      out.code.push_back(encode(op));
    } else if (op.op == Opcode::ForLoopI64) {
      Op next{Opcode::AddImmI64, op.a, op.a, 1};
      out.code.push_back(encode(next));
      Op compare{Opcode::JumpLtI64, op.a, op.b, 1};
      out.code.push_back(encode(compare));
      plainJump(Opcode::Jump, 1);
      plainJump(Opcode::LoopJump, relative(pc + 3));
    } else {
      op.c = 1; // over the jump that goes on
      out.code.push_back(encode(op));
      plainJump(Opcode::Jump, 1);
      plainJump(Opcode::Jump, relative(pc + 2));
    }
  }
  return fits;
}

} // namespace gos::lower
