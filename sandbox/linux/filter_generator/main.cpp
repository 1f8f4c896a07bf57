// Compiles sandbox/syscalls.def into seccomp filters, with libseccomp, when the project is built,
// and writes them as arrays: `filter_generator OUTPUT`. Nothing is written unless every program
// answers every call as the table says.
//
// A program is a prologue of ours and a body of libseccomp's. The prologue closes what a body
// cannot: every other architecture (the kernel enters 32-bit calls with numbers of another table),
// numbers of the x32 table, and at strict the numbers that the table does not know. The body
// refuses and reports.

#include "sandbox/linux/filter_table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdio>
#include <linux/filter.h>
#include <map>
#include <seccomp.h>
#include <set>
#include <string>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace gos::sandbox {
namespace {

using Program = std::vector<FilterInstruction>;

/// libseccomp refuses a rule whose action is the default, so the default is an action that no rule
/// has; it becomes "allow" when the program is done.
constexpr uint32_t kDefault = SCMP_ACT_TRACE(0x7777);

bool complain(const std::string& text) {
  std::fprintf(stderr, "filter_generator: %s\n", text.c_str());
  return false;
}

// ---- the table against libseccomp
// -------------------------------------------------------------------

/// Numbers that libseccomp knows must be ours, and every call that it knows must have a row.
bool checkNumbers(uint32_t architecture, int CallRow::* number) {
  bool good = true;
  std::map<int, llvm::StringRef> ours;
  for (const CallRow& row : callRows()) {
    if (row.*number >= 0 && !ours.emplace(row.*number, row.name).second)
      good = complain(llvm::formatv("number {0} has two rows: {1}, {2}", row.*number,
                                    ours[row.*number], row.name)
                          .str());
    const int theirs = seccomp_syscall_resolve_name_arch(architecture, row.name.str().c_str());
    if (theirs == __NR_SCMP_ERROR)
      continue; // newer than the library
    if (theirs != row.*number && (theirs >= 0 || row.*number >= 0))
      good = complain(llvm::formatv("{0} is {1} in the table and {2} in libseccomp", row.name,
                                    row.*number, theirs)
                          .str());
  }
  for (int at = 0; at < 1024; ++at) {
    char* name = seccomp_syscall_resolve_num_arch(architecture, at);
    if (name && !ours.count(at))
      good = complain(llvm::formatv("{0} ({1}) has no row", name, at).str());
    free(name);
  }
  return good;
}

// ---- the body
// ---------------------------------------------------------------------------------------

class Body {
public:
  explicit Body(FilterChoice choice) : choice_(choice), context_(seccomp_init(kDefault)) {}
  ~Body() {
    if (context_)
      seccomp_release(context_);
  }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  bool build() {
    if (!context_ ||
        seccomp_attr_set(context_, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) != 0 ||
        seccomp_attr_set(context_, SCMP_FLTATR_CTL_OPTIMIZE, 2) != 0)
      return complain("libseccomp does not start");
    for (const CallRow& row : callRows())
      if (numberOf(row) >= 0 && !add(row))
        return complain(llvm::formatv("libseccomp refuses the rules of {0}", row.name).str());
    return true;
  }

  bool read(Program& program) const {
    const int fd = memfd_create("filter", MFD_CLOEXEC);
    if (fd < 0 || seccomp_export_bpf(context_, fd) != 0 || lseek(fd, 0, SEEK_SET) != 0)
      return complain("libseccomp does not export the program");
    sock_filter instruction;
    ssize_t count = 0;
    while ((count = ::read(fd, &instruction, sizeof instruction)) == ssize_t(sizeof instruction))
      program.push_back({instruction.code, instruction.jt, instruction.jf, instruction.k});
    close(fd);
    for (FilterInstruction& each : program)
      if (each.code == (BPF_RET | BPF_K) && each.operand == kDefault)
        each.operand = kActionAllow;
    return count == 0 && !program.empty();
  }

private:
  bool add(const CallRow& row) {
    const GroupRow& group = groupRow(row.group);
    const uint32_t allow =
        choice_.notifies && group.report == CallReport::Always ? SCMP_ACT_NOTIFY : SCMP_ACT_ALLOW;
    const FilterVerdict verdict = groupVerdict(group, choice_);
    switch (verdict) {
    case FilterVerdict::Allow:
      if (choice_.notifies && group.report == CallReport::ByArgument)
        return addRules(row, RuleKind::ReportUnless, SCMP_ACT_ALLOW) &&
               otherwise(row, RuleKind::ReportUnless, SCMP_ACT_NOTIFY);
      return allow == SCMP_ACT_ALLOW || whole(row, allow);
    case FilterVerdict::NotPermitted:
      return whole(row, refuse(group, EPERM));
    case FilterVerdict::NotBuilt:
      return whole(row, refuse(group, ENOSYS));
    case FilterVerdict::ByArgument:
      return addByArgument(row, group, allow);
    case FilterVerdict::Notify:
      return false;
    }
    return false;
  }

  bool addByArgument(const CallRow& row, const GroupRow& group, uint32_t allow) {
    const RuleRow* first = llvm::find_if(ruleRows(), [&](const RuleRow& rule) {
      return rule.group == row.group && rule.kind != RuleKind::ReportUnless &&
             countsAt(rule.level, choice_.level);
    });
    if (first == ruleRows().end())
      return false;
    const uint32_t refused = refuse(group, first->error);
    if (first->kind == RuleKind::OnlyIf)
      return addRules(row, RuleKind::OnlyIf, allow) && otherwise(row, RuleKind::OnlyIf, refused);
    return addRules(row, RuleKind::RefuseIf, refused) &&
           (allow == SCMP_ACT_ALLOW || otherwise(row, RuleKind::RefuseIf, allow));
  }

  uint32_t refuse(const GroupRow& group, int error) const {
    return choice_.notifies && group.report != CallReport::Never ? SCMP_ACT_NOTIFY
                                                                 : SCMP_ACT_ERRNO(unsigned(error));
  }
  bool whole(const CallRow& row, uint32_t action) {
    return seccomp_rule_add_exact_array(context_, action, numberOf(row), 0, nullptr) == 0;
  }
  bool addRules(const CallRow& row, RuleKind kind, uint32_t action) {
    for (const RuleRow& rule : ruleRows()) {
      if (rule.group != row.group || rule.kind != kind || !countsAt(rule.level, choice_.level))
        continue;
      const scmp_arg_cmp compare{rule.argument, SCMP_CMP_MASKED_EQ, rule.mask, rule.value};
      if (seccomp_rule_add_exact_array(context_, action, numberOf(row), 1, &compare) != 0)
        return false;
    }
    return true;
  }
  /// What the rules leave: "at least 0", which libseccomp asks after every masked comparison of the
  /// same argument. The order is its own affair, so the finished program is run over all cases.
  bool otherwise(const CallRow& row, RuleKind kind, uint32_t action) {
    for (const RuleRow& rule : ruleRows())
      if (rule.group == row.group && rule.kind == kind && countsAt(rule.level, choice_.level)) {
        const scmp_arg_cmp always{rule.argument, SCMP_CMP_GE, 0, 0};
        return seccomp_rule_add_exact_array(context_, action, numberOf(row), 1, &always) == 0;
      }
    return false;
  }

  FilterChoice choice_;
  scmp_filter_ctx context_;
};

// ---- the prologue
// -----------------------------------------------------------------------------------

Program prologue(FilterChoice choice) {
  const uint32_t unknown = choice.notifies ? kActionNotify : kActionError | ENOSYS;
  Program program = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, 4}, // the architecture
      {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kArchitecture},
      {BPF_RET | BPF_K, 0, 0, kActionKillProcess},
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, 0}, // the number
  };
  const auto refuse = [&](uint16_t jump, uint32_t operand, uint32_t answer) {
    program.push_back({uint16_t(BPF_JMP | BPF_K | jump), 0, 1, operand});
    program.push_back({BPF_RET | BPF_K, 0, 0, answer});
  };
  if (kArchitecture == kArchitectureX86)
    refuse(BPF_JGE, kX32Bit, kActionError | ENOSYS);
  if (choice.level != SandboxLevel::Strict)
    return program;
  std::set<int> known;
  for (const CallRow& row : callRows())
    if (numberOf(row) >= 0)
      known.insert(numberOf(row));
  refuse(BPF_JGT, uint32_t(*known.rbegin()), unknown);
  int expected = 0;
  for (int number : known) {
    if (number > expected) { // expected .. number-1 have no row
      program.push_back({BPF_JMP | BPF_JGE | BPF_K, 0, 2, uint32_t(expected)});
      program.push_back({BPF_JMP | BPF_JGE | BPF_K, 1, 0, uint32_t(number)});
      program.push_back({BPF_RET | BPF_K, 0, 0, unknown});
    }
    expected = number + 1;
  }
  return program;
}

// ---- the proof
// --------------------------------------------------------------------------------------

using Arguments = std::vector<uint64_t>;

/// Arguments around every rule: what matches, the same with high bits, each bit of it flipped.
std::vector<Arguments> samples(const CallRow* row) {
  std::vector<Arguments> all = {Arguments(6, 0), Arguments(6, ~uint64_t(0))};
  for (const RuleRow& rule : ruleRows()) {
    if (!row || rule.group != row->group)
      continue;
    for (uint64_t rest : {uint64_t(0), ~uint64_t(0)})
      for (int bit = -1; bit < 64; ++bit) {
        Arguments arguments(6, rest);
        arguments[rule.argument] = rule.value ^ (bit < 0 ? 0 : uint64_t(1) << bit);
        all.push_back(arguments);
        arguments[rule.argument] = (rule.value | ~rule.mask) ^ (bit < 0 ? 0 : uint64_t(1) << bit);
        all.push_back(arguments);
      }
  }
  return all;
}

bool prove(FilterChoice choice, llvm::ArrayRef<FilterInstruction> program) {
  if (program.size() > BPF_MAXINSNS)
    return complain("the program is longer than the kernel takes");
  std::vector<int> numbers;
  numbers.reserve(2048);
  for (int number = 0; number < 2048; ++number)
    numbers.push_back(number);
  for (uint32_t number :
       {9999u, 0x3fffffffu, 0x40000000u, 0x40000000u + 39, 0x7fffffffu, 0x80000000u, 0xffffffffu})
    numbers.push_back(int(number));
  for (int number : numbers) {
    const CallRow* row =
        llvm::find_if(callRows(), [&](const CallRow& each) { return numberOf(each) == number; });
    for (const Arguments& arguments : samples(row == callRows().end() ? nullptr : row)) {
      const uint32_t found = evaluateFilter(program, kArchitecture, number, arguments);
      const uint32_t wanted = tableAnswer(choice, number, arguments);
      if (found != wanted)
        return complain(llvm::formatv("call {0} answers {1:x} where the table says {2:x}", number,
                                      found, wanted)
                            .str());
    }
    for (uint32_t other : {kArchitectureX86, kArchitectureArm, 0x40000003u, 0x40000028u, 0u})
      if (other != kArchitecture &&
          evaluateFilter(program, other, number, Arguments(6, 0)) != kActionKillProcess)
        return complain(
            llvm::formatv("call {0} is served on architecture {1:x}", number, other).str());
  }
  return true;
}

bool compile(FilterChoice choice, Program& program) {
  Body body(choice);
  Program rest;
  if (!body.build() || !body.read(rest))
    return false;
  program = prologue(choice);
  program.insert(program.end(), rest.begin(), rest.end());
  return prove(choice, program);
}

// ---- the file
// ---------------------------------------------------------------------------------------

void print(llvm::raw_ostream& out, llvm::StringRef name, const Program& program) {
  out << "constexpr FilterInstruction " << name << "[] = {\n";
  for (const FilterInstruction& each : program)
    out << llvm::formatv("  {{{0}, {1}, {2}, {3:x}},\n", each.code, unsigned(each.jumpTrue),
                         unsigned(each.jumpFalse), each.operand);
  out << "};\n";
}

bool write(llvm::raw_ostream& out) {
  out << "// Made by filter_generator from sandbox/syscalls.def.\n";
  out << llvm::formatv("constexpr uint32_t kFilterArchitecture = {0:x};\n", kArchitecture);
  if (kArchitecture == 0)
    return true; // no table for this CPU: no filter, so no level that needs one
  // None and Open have the same filters: the network namespace, or nothing, stands for the
  // difference.
  for (SandboxLevel level : {SandboxLevel::Standard, SandboxLevel::Strict})
    for (NetworkMode network : {NetworkMode::None, NetworkMode::Client})
      for (bool notifies : {false, true}) {
        Program program, open;
        if (!compile({level, network, notifies}, program))
          return false;
        if (network == NetworkMode::None &&
            (!compile({level, NetworkMode::Open, notifies}, open) || open != program))
          return complain("the filters of networks `none` and `open` differ");
        print(out,
              llvm::formatv("k{0}{1}{2}", level == SandboxLevel::Strict ? "Strict" : "Standard",
                            network == NetworkMode::Client ? "Client" : "",
                            notifies ? "Notifies" : "")
                  .str(),
              program);
      }
  return true;
}

bool run(const char* path) {
  if (seccomp_api_set(6) != 0) // what the build host's kernel offers is of no interest
    return complain("libseccomp is too old");
  if (!checkNumbers(SCMP_ARCH_X86_64, &CallRow::x86) ||
      !checkNumbers(SCMP_ARCH_AARCH64, &CallRow::arm))
    return false;
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!write(stream))
    return false;
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (!error) {
    file << text;
    file.close();
    error = file.error();
    file.clear_error();
  }
  return !error || complain("cannot write `" + std::string(path) + "`");
}

} // namespace
} // namespace gos::sandbox

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: filter_generator OUTPUT\n");
    return 2;
  }
  return gos::sandbox::run(arguments[1]) ? 0 : 1;
}
