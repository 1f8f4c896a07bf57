#include "sandbox/linux/filter_table.h"

#include "llvm/ADT/STLExtras.h"

#include <cerrno>

namespace gos::sandbox {

llvm::ArrayRef<GroupRow> groupRows() {
  static constexpr GroupRow kRows[] = {
#define GOS_SYSCALL_GROUP(group, standard, strict, client, report, why)                            \
  {#group,                                                                                         \
   FilterVerdict::standard,                                                                        \
   FilterVerdict::strict,                                                                          \
   FilterVerdict::client,                                                                          \
   CallReport::report,                                                                             \
   why},
#include "sandbox/syscalls.def"
  };
  return kRows;
}

llvm::ArrayRef<RuleRow> ruleRows() {
  static constexpr RuleRow kRows[] = {
#define GOS_SYSCALL_RULE(group, level, kind, argument, mask, value, error)                         \
  {CallGroup::group, RuleLevel::level, RuleKind::kind, argument, mask, value, error},
#include "sandbox/syscalls.def"
  };
  return kRows;
}

llvm::ArrayRef<CallRow> callRows() {
  static constexpr CallRow kRows[] = {
#define GOS_SYSCALL(name, group, x86_64, aarch64) {#name, CallGroup::group, x86_64, aarch64},
#include "sandbox/syscalls.def"
  };
  return kRows;
}

const GroupRow& groupRow(CallGroup group) {
  return groupRows()[size_t(group)];
}

FilterVerdict groupVerdict(const GroupRow& group, FilterChoice choice) {
  if (choice.network == NetworkMode::Client && group.client != FilterVerdict::Allow)
    return group.client;
  return choice.level == SandboxLevel::Strict ? group.strict : group.standard;
}

namespace {

const CallRow* rowOf(int number) {
  const auto row =
      llvm::find_if(callRows(), [&](const CallRow& each) { return numberOf(each) == number; });
  return row == callRows().end() ? nullptr : &*row;
}

/// The errno of a call whose group is ByArgument, or 0.
int errorByArgument(CallGroup group, FilterChoice choice, llvm::ArrayRef<uint64_t> arguments) {
  int otherwise = EPERM; // a group without rules is closed
  for (const RuleRow& rule : ruleRows()) {
    if (rule.group != group || rule.kind == RuleKind::ReportUnless ||
        !countsAt(rule.level, choice.level))
      continue;
    const bool only = rule.kind == RuleKind::OnlyIf;
    if (matches(rule, arguments))
      return only ? 0 : rule.error;
    otherwise = only ? rule.error : 0;
  }
  return otherwise;
}

bool reportedByArgument(CallGroup group, llvm::ArrayRef<uint64_t> arguments) {
  return llvm::none_of(ruleRows(), [&](const RuleRow& rule) {
    return rule.group == group && rule.kind == RuleKind::ReportUnless && matches(rule, arguments);
  });
}

int refusal(FilterVerdict verdict, CallGroup group, FilterChoice choice,
            llvm::ArrayRef<uint64_t> arguments) {
  switch (verdict) {
  case FilterVerdict::Allow:
  case FilterVerdict::Notify:
    return 0;
  case FilterVerdict::NotPermitted:
    return EPERM;
  case FilterVerdict::NotBuilt:
    return ENOSYS;
  case FilterVerdict::ByArgument:
    return errorByArgument(group, choice, arguments);
  }
  return EPERM;
}

} // namespace

uint32_t tableAnswer(FilterChoice choice, int number, llvm::ArrayRef<uint64_t> arguments) {
  if (kArchitecture == kArchitectureX86 && uint32_t(number) >= kX32Bit)
    return kActionError | ENOSYS;
  const CallRow* row = number < 0 ? nullptr : rowOf(number);
  if (!row) {
    if (choice.level != SandboxLevel::Strict)
      return kActionAllow;
    return choice.notifies ? kActionNotify : kActionError | ENOSYS;
  }
  const GroupRow& group = groupRow(row->group);
  const int error = refusal(groupVerdict(group, choice), row->group, choice, arguments);
  if (error != 0)
    return choice.notifies && group.report != CallReport::Never ? kActionNotify
                                                                : kActionError | uint32_t(error);
  const bool reported =
      group.report == CallReport::Always ||
      (group.report == CallReport::ByArgument && reportedByArgument(row->group, arguments));
  return choice.notifies && reported ? kActionNotify : kActionAllow;
}

} // namespace gos::sandbox
