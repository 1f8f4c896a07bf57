#include "sandbox/linux/seccomp_filter.h"

#include "sandbox/linux/filter_table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <cerrno>

namespace gos::sandbox {
namespace {

#include "sandbox/linux/filters.inc"

// A build for one CPU never carries another one's numbers.
static_assert(kFilterArchitecture == kArchitecture, "the filters were made for another CPU");

llvm::StringRef errorName(int error) {
  return error == EPERM          ? "EPERM"
         : error == ENOSYS       ? "ENOSYS"
         : error == EAFNOSUPPORT ? "EAFNOSUPPORT"
                                 : "an error";
}

constexpr size_t kCallCount = 0
#define GOS_SYSCALL(name, group, x86_64, aarch64) +1
#include "sandbox/syscalls.def"
    ;

// The columns of a group, found by its name while this is compiled.
namespace columns {
struct Columns {
  const char* name;
  FilterVerdict standard;
  FilterVerdict strict;
  FilterVerdict client;
  CallReport report;
  const char* why;
};
#define GOS_SYSCALL_GROUP(group, standard, strict, client, report, why)                            \
  constexpr Columns group = {#group,                                                               \
                             FilterVerdict::standard,                                              \
                             FilterVerdict::strict,                                                \
                             FilterVerdict::client,                                                \
                             CallReport::report,                                                   \
                             why};
#include "sandbox/syscalls.def"
} // namespace columns

constexpr SystemCallRow makeRow(const char* name, int x86, int arm, const columns::Columns& group) {
  const int number = kArchitecture == kArchitectureX86   ? x86
                     : kArchitecture == kArchitectureArm ? arm
                                                         : -1;
  const bool reported =
      group.report == CallReport::Always || group.report == CallReport::ByArgument;
  return {name,         number,       group.name, group.standard,
          group.strict, group.client, reported,   group.why};
}

constexpr std::array<SystemCallRow, kCallCount> kCalls = {{
#define GOS_SYSCALL(name, group, x86_64, aarch64) makeRow(#name, x86_64, aarch64, columns::group),
#include "sandbox/syscalls.def"
}};

/// "argument 1 & 0xffffffff = 0x5412".
void printRule(llvm::raw_ostream& out, const RuleRow& rule) {
  out << llvm::formatv("argument {0} & {1:x} = {2:x}", rule.argument, rule.mask, rule.value);
}

/// What the filter does with a group, after its colon.
void printVerdict(llvm::raw_ostream& out, CallGroup group, FilterChoice choice) {
  const GroupRow& row = groupRow(group);
  const llvm::StringRef refused =
      choice.notifies && row.report != CallReport::Never ? "reported, then " : "";
  const FilterVerdict verdict = groupVerdict(row, choice);
  switch (verdict) {
  case FilterVerdict::Allow:
  case FilterVerdict::Notify:
    out << (choice.notifies && row.report == CallReport::Always ? "reported, then allowed"
                                                                : "allowed");
    if (!choice.notifies || row.report != CallReport::ByArgument)
      return;
    break;
  case FilterVerdict::NotPermitted:
    out << refused << "EPERM";
    return;
  case FilterVerdict::NotBuilt:
    out << refused << "ENOSYS";
    return;
  case FilterVerdict::ByArgument:
    break;
  }
  const bool allowed = verdict != FilterVerdict::ByArgument;
  bool first = true;
  for (const RuleRow& rule : ruleRows()) {
    if (rule.group != group || !countsAt(rule.level, choice.level) ||
        (rule.kind == RuleKind::ReportUnless) != allowed)
      continue;
    if (!first)
      out << ", or ";
    else if (rule.kind == RuleKind::ReportUnless)
      out << ", and reported unless ";
    else
      out << refused << errorName(rule.error)
          << (rule.kind == RuleKind::OnlyIf ? " unless " : " if ");
    printRule(out, rule);
    first = false;
  }
}

} // namespace

llvm::ArrayRef<FilterInstruction> filterProgram(FilterChoice choice) {
#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(__ILP32__)
  const bool client = choice.network == NetworkMode::Client;
  switch (choice.level) {
  case SandboxLevel::None:
  case SandboxLevel::Basic:
    return {};
  case SandboxLevel::Standard:
    if (choice.notifies)
      return client ? llvm::ArrayRef(kStandardClientNotifies) : llvm::ArrayRef(kStandardNotifies);
    return client ? llvm::ArrayRef(kStandardClient) : llvm::ArrayRef(kStandard);
  case SandboxLevel::Strict:
    if (choice.notifies)
      return client ? llvm::ArrayRef(kStrictClientNotifies) : llvm::ArrayRef(kStrictNotifies);
    return client ? llvm::ArrayRef(kStrictClient) : llvm::ArrayRef(kStrict);
  }
#else
  (void)choice;
#endif
  return {};
}

llvm::ArrayRef<SystemCallRow> systemCallRows() {
  return kCalls;
}

llvm::StringRef systemCallName(int number) {
  const auto row =
      llvm::find_if(kCalls, [&](const SystemCallRow& each) { return each.number == number; });
  return number < 0 || row == kCalls.end() ? llvm::StringRef() : row->name;
}

int filterError(FilterChoice choice, int number, llvm::ArrayRef<uint64_t> arguments) {
  choice.notifies = false;
  const uint32_t answer = tableAnswer(choice, number, arguments);
  return answer == kActionAllow ? 0 : int(answer & 0xffff);
}

std::string describeFilter(FilterChoice choice) {
  std::string text;
  llvm::raw_string_ostream out(text);
  const llvm::ArrayRef<FilterInstruction> program = filterProgram(choice);
  if (program.empty()) {
    out << "no filter\n";
    return text;
  }
  out << llvm::formatv("filter of level {0}, network {1}: {2} instructions\n",
                       spelling(choice.level), spelling(choice.network), program.size());
  out << "calls of another architecture: the process is killed\n";
  if (kArchitecture == kArchitectureX86)
    out << "calls with the x32 bit: ENOSYS\n";
  const bool strict = choice.level == SandboxLevel::Strict;
  out << "numbers without a row: "
      << (!strict           ? "allowed"
          : choice.notifies ? "reported, then ENOSYS"
                            : "ENOSYS")
      << "\n";
  for (size_t at = 0; at < groupRows().size(); ++at) {
    const CallGroup group = CallGroup(at);
    const FilterVerdict verdict = groupVerdict(groupRow(group), choice);
    if (verdict == FilterVerdict::Allow &&
        !(choice.notifies && groupRow(group).report != CallReport::Refused))
      continue;
    llvm::StringRef separator;
    for (const CallRow& row : callRows())
      if (row.group == group && numberOf(row) >= 0) {
        out << separator << row.name;
        separator = " ";
      }
    if (separator.empty())
      continue; // all of it belongs to another CPU
    out << ": ";
    printVerdict(out, group, choice);
    out << " (" << groupRow(group).why << ")\n";
  }
  out << "every other call that has a row: allowed\n";
  return text;
}

} // namespace gos::sandbox
