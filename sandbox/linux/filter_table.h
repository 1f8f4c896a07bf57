#pragma once
// sandbox/syscalls.def as values, and what the table says about one call. The generator builds the
// filters from it, then runs them and compares with `tableAnswer`; the two read the table in
// different ways, so a mistake of one is seen by the other.

#include "sandbox/linux/seccomp_filter.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace gos::sandbox {

enum class CallGroup : uint8_t {
#define GOS_SYSCALL_GROUP(group, standard, strict, client, report, why) group,
#include "sandbox/syscalls.def"
};
enum class CallReport : uint8_t { Never, Refused, Always, ByArgument };
enum class RuleLevel : uint8_t { Both, Standard, Strict };
enum class RuleKind : uint8_t { RefuseIf, OnlyIf, ReportUnless };

struct GroupRow {
  llvm::StringRef name;
  FilterVerdict standard;
  FilterVerdict strict;
  FilterVerdict client;
  CallReport report;
  llvm::StringRef why;
};
struct RuleRow {
  CallGroup group;
  RuleLevel level;
  RuleKind kind;
  unsigned argument;
  uint64_t mask;
  uint64_t value;
  int error;
};
struct CallRow {
  llvm::StringRef name;
  CallGroup group;
  int x86;
  int arm;
};

/// AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64, which a filter compares.
constexpr uint32_t kArchitectureX86 = 0xc000003e;
constexpr uint32_t kArchitectureArm = 0xc00000b7;
/// The CPU this is compiled for; 0: no table.
#if defined(__x86_64__) && !defined(__ILP32__)
constexpr uint32_t kArchitecture = kArchitectureX86;
#elif defined(__aarch64__) && !defined(__ILP32__)
constexpr uint32_t kArchitecture = kArchitectureArm;
#else
constexpr uint32_t kArchitecture = 0;
#endif
/// Numbers from here on are calls of the x32 table of an x86-64 kernel.
constexpr uint32_t kX32Bit = 0x40000000;

/// What a program returns, as the kernel reads it: the action above, an errno below.
constexpr uint32_t kActionKillProcess = 0x80000000;
constexpr uint32_t kActionError = 0x00050000;
constexpr uint32_t kActionNotify = 0x7fc00000;
constexpr uint32_t kActionAllow = 0x7fff0000;

llvm::ArrayRef<GroupRow> groupRows();
llvm::ArrayRef<RuleRow> ruleRows();
llvm::ArrayRef<CallRow> callRows();
const GroupRow& groupRow(CallGroup group);

/// The number of a row on this CPU, or -1.
constexpr int numberOf(const CallRow& row) {
  return kArchitecture == kArchitectureX86   ? row.x86
         : kArchitecture == kArchitectureArm ? row.arm
                                             : -1;
}
/// Does a rule count at this level?
constexpr bool countsAt(RuleLevel level, SandboxLevel at) {
  return level == RuleLevel::Both || (level == RuleLevel::Strict) == (at == SandboxLevel::Strict);
}
inline bool matches(const RuleRow& rule, llvm::ArrayRef<uint64_t> arguments) {
  const uint64_t argument = rule.argument < arguments.size() ? arguments[rule.argument] : 0;
  return (argument & rule.mask) == rule.value;
}
/// The verdict of a group under one choice, the network's share included.
FilterVerdict groupVerdict(const GroupRow& group, FilterChoice choice);
/// What the table says about a call of this CPU: the value that the program has to return.
uint32_t tableAnswer(FilterChoice choice, int number, llvm::ArrayRef<uint64_t> arguments);

} // namespace gos::sandbox
