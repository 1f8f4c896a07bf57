// A machine for the classic BPF programs that the kernel accepts as filters: loads of the call's
// numbers, comparisons, jumps ahead. Total over any program: what is not understood, reads outside,
// or does not end kills the process, as a filter that fails has to.

#include "sandbox/linux/filter_table.h"
#include "sandbox/linux/seccomp_filter.h"

namespace gos::sandbox {
namespace {

// The codes of <linux/bpf_common.h>.
enum Code : uint16_t {
  kLoadWord = 0x20,
  kLoadConstant = 0x00,
  kLoadMemory = 0x60,
  kStore = 0x02,
  kAnd = 0x54,
  kOr = 0x44,
  kJump = 0x05,
  kJumpEqual = 0x15,
  kJumpGreater = 0x25,
  kJumpGreaterOrEqual = 0x35,
  kJumpBitSet = 0x45,
  kReturn = 0x06,
  kReturnAccumulator = 0x16,
};
constexpr size_t kMemoryWords = 16;

struct Call {
  uint32_t architecture;
  uint32_t number;
  llvm::ArrayRef<uint64_t> arguments;

  /// The word at an offset of the kernel's `struct seccomp_data`, little endian.
  bool load(uint32_t offset, uint32_t& word) const {
    if (offset % 4 != 0 || offset >= 64)
      return false;
    if (offset < 16) { // the instruction pointer, at 8, is nobody's business
      word = offset == 0 ? number : offset == 4 ? architecture : 0;
      return true;
    }
    const size_t index = (offset - 16) / 8;
    const uint64_t argument = index < arguments.size() ? arguments[index] : 0;
    word = uint32_t(offset % 8 == 0 ? argument : argument >> 32);
    return true;
  }
};

} // namespace

uint32_t evaluateFilter(llvm::ArrayRef<FilterInstruction> program, uint32_t architecture,
                        int number, llvm::ArrayRef<uint64_t> arguments) {
  const Call call{architecture, uint32_t(number), arguments};
  uint32_t accumulator = 0;
  uint32_t memory[kMemoryWords] = {};
  // Jumps lead ahead only, so this ends.
  for (size_t at = 0; at < program.size(); ++at) {
    const FilterInstruction& instruction = program[at];
    const uint32_t operand = instruction.operand;
    bool taken = false;
    switch (instruction.code) {
    case kLoadWord:
      if (!call.load(operand, accumulator))
        return kActionKillProcess;
      continue;
    case kLoadConstant:
      accumulator = operand;
      continue;
    case kLoadMemory:
    case kStore:
      if (operand >= kMemoryWords)
        return kActionKillProcess;
      if (instruction.code == kStore)
        memory[operand] = accumulator;
      else
        accumulator = memory[operand];
      continue;
    case kAnd:
      accumulator &= operand;
      continue;
    case kOr:
      accumulator |= operand;
      continue;
    case kJump:
      if (operand >= program.size() - at)
        return kActionKillProcess;
      at += operand;
      continue;
    case kJumpEqual:
      taken = accumulator == operand;
      break;
    case kJumpGreater:
      taken = accumulator > operand;
      break;
    case kJumpGreaterOrEqual:
      taken = accumulator >= operand;
      break;
    case kJumpBitSet:
      taken = (accumulator & operand) != 0;
      break;
    case kReturn:
      return operand;
    case kReturnAccumulator:
      return accumulator;
    default: // every other code of BPF
      return kActionKillProcess;
    }
    at += taken ? instruction.jumpTrue : instruction.jumpFalse;
  }
  return kActionKillProcess;
}

} // namespace gos::sandbox
