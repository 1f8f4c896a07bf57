// sandbox/syscalls.def against lists that were written from the threats (T113, T116, T117) and the
// honest builds (B060, B061, B064), not from the table: every verdict of every call is pinned here.

#include "sandbox/linux/filter_table.h"
#include "sandbox/linux/seccomp_filter.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

using namespace gos;
using namespace gos::sandbox;
using llvm::StringRef;

namespace {

std::set<std::string> names(StringRef text) {
  llvm::SmallVector<StringRef> parts;
  llvm::SplitString(text, parts);
  std::set<std::string> all;
  for (StringRef part : parts)
    all.insert(part.str());
  return all;
}

// ---- what has to be refused, by the subject of the threat
// --------------------------------------------

constexpr const char* kRings = "io_uring_setup io_uring_enter io_uring_register clone3";
constexpr const char* kKeysAndKernelPrograms = "add_key request_key keyctl bpf";
constexpr const char* kStandardByArgument =
    "prlimit64 setpriority ioprio_set ioctl socket socketpair clone unshare perf_event_open";
constexpr const char* kStrictByArgument =
    "prlimit64 setpriority ioprio_set ioctl socket socketpair clone unshare personality";
constexpr const char* kStrictRefused =
    // mounts, old and new; roots; other namespaces
    "mount umount2 pivot_root chroot open_tree open_tree_attr move_mount fsopen fsconfig fsmount "
    "fspick mount_setattr setns "
    // tools of exploits and of spying
    "userfaultfd perf_event_open pidfd_getfd name_to_handle_at open_by_handle_at "
    // the machine
    "kexec_load kexec_file_load init_module finit_module delete_module reboot swapon swapoff acct "
    "quotactl quotactl_fd "
    "settimeofday clock_settime adjtimex clock_adjtime sethostname setdomainname iopl ioperm "
    "modify_ldt syslog vhangup "
    "fanotify_init fanotify_mark";
constexpr const char* kStrictNotBuilt =
    "memfd_secret lsm_get_self_attr lsm_set_self_attr lsm_list_modules _sysctl uselib "
    "create_module get_kernel_syms query_module "
    "afs_syscall tuxcall security getpmsg putpmsg vserver nfsservctl lookup_dcookie epoll_ctl_old "
    "epoll_wait_old ustat sysfs";
constexpr const char* kClientRefused = "listen accept accept4";

/// Whatever a filter that notifies hands on although it allows it: names, programs, addresses.
constexpr const char* kReported =
    "open openat openat2 creat execve execveat connect bind sendto "
    "stat lstat newfstatat statx statfs access faccessat faccessat2 chdir "
    "getxattr lgetxattr listxattr llistxattr "
    "getxattrat listxattrat file_getattr "
    "mkdir mkdirat mknod mknodat rmdir unlink unlinkat rename renameat renameat2 link linkat "
    "symlink symlinkat truncate "
    "chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat "
    "setxattr lsetxattr fsetxattr "
    "setxattrat removexattr lremovexattr fremovexattr removexattrat file_setattr";

struct Expected {
  FilterVerdict standard = FilterVerdict::Allow;
  FilterVerdict strict = FilterVerdict::Allow;
  FilterVerdict client = FilterVerdict::Allow;
  bool reported = false;
};

std::map<std::string, Expected> expectations() {
  std::map<std::string, Expected> all;
  for (const std::string& name : names(kRings))
    all[name].standard = all[name].strict = FilterVerdict::NotBuilt;
  for (const std::string& name : names(kKeysAndKernelPrograms))
    all[name].standard = all[name].strict = FilterVerdict::NotPermitted;
  for (const std::string& name : names(kStandardByArgument))
    all[name].standard = FilterVerdict::ByArgument;
  for (const std::string& name : names(kStrictByArgument))
    all[name].strict = FilterVerdict::ByArgument;
  for (const std::string& name : names(kStrictRefused))
    all[name].strict = FilterVerdict::NotPermitted;
  for (const std::string& name : names(kStrictNotBuilt))
    all[name].strict = FilterVerdict::NotBuilt;
  for (const std::string& name : names(kClientRefused))
    all[name].client = FilterVerdict::NotPermitted;
  for (const std::string& name : names(kReported))
    all[name].reported = true;
  return all;
}

/// Where a row differs from what is expected of its name.
std::vector<std::string> differences(llvm::ArrayRef<SystemCallRow> rows) {
  const std::map<std::string, Expected> expected = expectations();
  std::vector<std::string> found;
  std::set<std::string> seen;
  for (const SystemCallRow& row : rows) {
    seen.insert(row.name.str());
    const auto at = expected.find(row.name.str());
    const Expected wanted = at == expected.end() ? Expected() : at->second;
    if (row.standard != wanted.standard || row.strict != wanted.strict ||
        row.client != wanted.client || row.reported != wanted.reported)
      found.push_back(row.name.str());
  }
  for (const auto& [name, wanted] : expected)
    if (!seen.count(name))
      found.push_back(name + " has no row");
  return found;
}

} // namespace

TEST_CASE("every call has the verdict that the threats and the builds ask for") {
  for (const std::string& difference : differences(systemCallRows()))
    FAIL_CHECK(difference);
}

TEST_CASE("a verdict that is flipped is seen") {
  const std::vector<SystemCallRow> rows(systemCallRows().begin(), systemCallRows().end());
  for (size_t at = 0; at < rows.size(); ++at)
    for (FilterVerdict verdict :
         {FilterVerdict::Allow, FilterVerdict::NotPermitted, FilterVerdict::NotBuilt,
          FilterVerdict::Notify, FilterVerdict::ByArgument})
      for (FilterVerdict SystemCallRow::* column :
           {&SystemCallRow::standard, &SystemCallRow::strict, &SystemCallRow::client}) {
        if (rows[at].*column == verdict)
          continue;
        std::vector<SystemCallRow> flipped = rows;
        flipped[at].*column = verdict;
        CHECK_MESSAGE(differences(flipped).size() == 1, rows[at].name.str());
      }
}

TEST_CASE("the rows that a caller reads are the rows of the table") {
  REQUIRE(systemCallRows().size() == callRows().size());
  for (size_t at = 0; at < callRows().size(); ++at) {
    const SystemCallRow& row = systemCallRows()[at];
    const GroupRow& group = groupRow(callRows()[at].group);
    CHECK(row.name == callRows()[at].name);
    CHECK(row.number == numberOf(callRows()[at]));
    CHECK(row.group == group.name);
    CHECK(row.standard == group.standard);
    CHECK(row.strict == group.strict);
    CHECK(row.client == group.client);
    CHECK(!row.why.empty());
    CHECK(systemCallName(row.number) == (row.number < 0 ? StringRef() : row.name));
  }
  CHECK(systemCallName(-1).empty());
  CHECK(systemCallName(9999).empty());
}

TEST_CASE("the table is complete up to the last call of Linux 6.18, on both CPUs") {
  for (int CallRow::* number : {&CallRow::x86, &CallRow::arm}) {
    std::set<int> seen;
    for (const CallRow& row : callRows())
      if (row.*number >= 0)
        CHECK_MESSAGE(seen.insert(row.*number).second, row.name.str());
    // From 424 on, numbers are the same everywhere and have no holes.
    for (int at = 424; at <= 469; ++at)
      CHECK_MESSAGE(seen.count(at) == 1, at);
    CHECK(*seen.rbegin() == 469);
  }
  // The x86-64 table has no hole before its common part, but for the one between 336 and 424.
  std::set<int> x86;
  for (const CallRow& row : callRows())
    x86.insert(row.x86);
  for (int at = 0; at <= 336; ++at)
    CHECK_MESSAGE(x86.count(at) == 1, at);
}

TEST_CASE("a group has rules exactly where a column says so, of one kind and one error a level") {
  for (size_t at = 0; at < groupRows().size(); ++at) {
    const GroupRow& group = groupRows()[at];
    const std::string name = group.name.str();
    size_t members =
        llvm::count_if(callRows(), [&](const CallRow& row) { return size_t(row.group) == at; });
    CHECK_MESSAGE(members > 0, name);
    for (SandboxLevel level : {SandboxLevel::Standard, SandboxLevel::Strict}) {
      std::set<std::pair<RuleKind, int>> decisions;
      size_t reports = 0;
      for (const RuleRow& rule : ruleRows()) {
        if (size_t(rule.group) != at || !countsAt(rule.level, level))
          continue;
        CHECK_MESSAGE((rule.value & ~rule.mask) == 0, name); // else it never matches
        CHECK_MESSAGE(rule.argument < 6, name);
        if (rule.kind == RuleKind::ReportUnless)
          ++reports;
        else
          decisions.insert({rule.kind, rule.error});
      }
      const FilterVerdict verdict = level == SandboxLevel::Strict ? group.strict : group.standard;
      CHECK_MESSAGE(verdict != FilterVerdict::Notify, name);
      CHECK_MESSAGE(decisions.size() == (verdict == FilterVerdict::ByArgument ? 1u : 0u), name);
      CHECK_MESSAGE((reports > 0) == (group.report == CallReport::ByArgument), name);
    }
    // `int` and `unsigned` are compared in their width (CVE-2019-7303).
    for (const RuleRow& rule : ruleRows())
      if (size_t(rule.group) == at && rule.kind != RuleKind::ReportUnless)
        CHECK_MESSAGE(rule.mask <= 0xffffffff, name);
  }
}

TEST_CASE("families stay together") {
  for (const char* family :
       {"open openat openat2 creat", "execve execveat", "chmod fchmod fchmodat fchmodat2",
        "chown fchown lchown fchownat",
        "mount fsopen fsmount fsconfig fspick move_mount open_tree open_tree_attr mount_setattr "
        "umount2",
        "setxattr lsetxattr fsetxattr setxattrat removexattrat", "rename renameat renameat2",
        "listen accept accept4", "io_uring_setup io_uring_enter io_uring_register",
        "add_key request_key keyctl", "init_module finit_module", "kexec_load kexec_file_load",
        "quotactl quotactl_fd", "utime utimes futimesat utimensat"}) {
    std::set<std::string> groups, found;
    const std::set<std::string> members = names(family);
    for (const SystemCallRow& row : systemCallRows())
      if (members.count(row.name.str())) {
        groups.insert(row.group.str());
        found.insert(row.name.str());
      }
    CHECK_MESSAGE(groups.size() == 1, family);
    CHECK_MESSAGE(found == members, family);
  }
}
