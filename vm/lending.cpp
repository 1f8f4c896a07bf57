// Who has a value that somebody else asked for: `&mut` takes it out of its cell for the length of a
// call, and leaves null. Nothing is noted while a program runs; this is read from the frames.

#include "vm/frame.h"
#include "vm/object.h"
#include "vm/vm.h"

#include <algorithm>

namespace gos::vm {

namespace {
/// The register of the cell that the instruction looks into.
std::optional<uint16_t> cellOf(Instruction instruction, bool takesOnly) {
  switch (instruction.op()) {
  case Opcode::CellTake:
    return instruction.b();
  case Opcode::CellGetRef:
  case Opcode::CellVecGet:
  case Opcode::CellVecGetByte:
  case Opcode::CellVecLen:
    return takesOnly ? std::nullopt : std::optional(instruction.b());
  case Opcode::CellVecSet:
  case Opcode::CellVecSetByte:
    return takesOnly ? std::nullopt : std::optional(instruction.a());
  default: // looks into no cell
    return std::nullopt;
  }
}

/// The nearest place before `end` that looked into a cell which is empty now; the cell itself, if
/// it is known which. Returns false when there is none.
bool findEmpty(const Vm& vm, const Frame& frame, uint32_t end, bool takesOnly,
               const CellObject*& cell, uint32_t& found) {
  const std::vector<Instruction>& code = frame.function->source->code;
  for (uint32_t at = std::min(end, uint32_t(code.size())); at-- > 0;) {
    const auto reg = cellOf(code[at], takesOnly);
    if (!reg || frame.base[*reg] == 0)
      continue;
    const CellObject* each = asCell(frame.base[*reg]);
    const LayoutKind content = vm.layout(vm.layout(each->layout).element).kind;
    const bool isScalar = content == LayoutKind::Int || content == LayoutKind::Float;
    if (isScalar || each->content != 0 || (cell && cell != each))
      continue;
    cell = each;
    found = at;
    return true;
  }
  return false;
}
} // namespace

std::optional<TraceFrame> Vm::lender() const {
  const auto pcOf = [](const Frame& frame) { return uint32_t(frame.pc - frame.function->code); };
  // Who asked, innermost first; then who has it, outermost first.
  for (const Frame* user = top_; user > bottom_; --user) {
    const CellObject* cell = nullptr;
    uint32_t used = 0;
    if (!user->function->source || !findEmpty(*this, *user, pcOf(*user), false, cell, used))
      continue;
    for (const Frame* frame = bottom_ + 1; frame <= user; ++frame) {
      uint32_t taken = 0;
      if (frame->function->source &&
          findEmpty(*this, *frame, frame == user ? used : pcOf(*frame), true, cell, taken)) {
        Frame there = *frame;
        there.pc = frame->function->code + taken + 1; // as if it were a call
        return traceFrame(there);
      }
    }
    return std::nullopt;
  }
  return std::nullopt;
}

} // namespace gos::vm
