// The order of a start, as the kernel sees it: on a host where every call from one step on is
// refused, the step that is named is that one. Two steps that changed places would both be seen:
// the later of them would be named where the earlier is due. And what runs between the clone and
// the command imports nothing.

#include "sandbox/linux/first_process_image.h"
#include "sandbox/linux/launch_plan.h"
#include "sandbox/linux/self_proof.h"
#include "sandbox/linux/spawn.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <fstream>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pwd.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace gos::sandbox;

namespace {

/// A step, and the call by which it does what it is for. An argument tells it from others.
struct Step {
  Stage stage;
  unsigned call;
  int argument; // -1: whatever the arguments are
  unsigned mask, value;
};
// The capabilities are no row: their call is made before the first process is executed as well.
const Step kSteps[] = {
    {Stage::ExecuteFirst, SYS_memfd_create, -1, 0, 0},
    {Stage::Supervisor, 434 /* pidfd_open */, -1, 0, 0},
    {Stage::PidNamespace, SYS_clone, 0, 0x20000000, 0x20000000},
    {Stage::MountNamespace, SYS_unshare, -1, 0, 0},
    {Stage::PrivateMounts, 442 /* mount_setattr */, -1, 0, 0},
    {Stage::NewRoot, 430 /* fsopen */, -1, 0, 0},
    {Stage::Loopback, SYS_ioctl, 1, ~0u, 0x8914 /* SIOCSIFFLAGS */},
    {Stage::BindOpen, 428 /* open_tree */, -1, 0, 0},
    {Stage::PivotRoot, SYS_pivot_root, -1, 0, 0},
    {Stage::LandlockRuleset, 444, 2, ~0u, 0}, // with a flag it only asks for the version
    {Stage::LandlockRule, 445, -1, 0, 0},
    {Stage::Spawn, SYS_clone, 0, ~0u, 0x4000 | 0x100 | 17 /* vfork, in one memory */},
    {Stage::Limits, SYS_setrlimit, 0, ~0u, RLIMIT_CORE},
    {Stage::NoNewPrivileges, SYS_prctl, 0, ~0u, PR_SET_NO_NEW_PRIVS},
    {Stage::LandlockRestrict, 446, -1, 0, 0},
    // The descriptors are closed behind Landlock, and before the filter.
    {Stage::Execute, 436 /* close_range */, 1, ~0u, kPlanFd},
    {Stage::Filter, SYS_seccomp, 0, ~0u, SECCOMP_SET_MODE_FILTER},
};
constexpr size_t kCount = sizeof kSteps / sizeof kSteps[0];

void add(std::vector<sock_filter>& program, const Step& step) {
  program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  const bool judged = step.argument >= 0;
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, step.call, 0,
                             static_cast<unsigned char>(judged ? 4 : 1)));
  if (judged) {
    program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                               unsigned(offsetof(seccomp_data, args) + size_t(step.argument) * 8)));
    program.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, step.mask));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, step.value, 0, 1));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES));
}

/// What a start at strict says in a child whose calls of the steps from `first` on are refused.
std::string saidFrom(size_t first, bool user) {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::string text = "no host";
    const passwd* account = ::getpwnam("games");
    const uid_t id = account != nullptr ? account->pw_uid : 4242;
    std::vector<sock_filter> program;
    for (size_t at = first; at < kCount; ++at)
      add(program, kSteps[at]);
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
    const bool became = !user || ::geteuid() != 0 ||
                        (::setgroups(0, nullptr) == 0 && ::setresgid(id, id, id) == 0 &&
                         ::setresuid(id, id, id) == 0 && ::prctl(PR_SET_DUMPABLE, 1) == 0);
    if (became && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
        ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0) {
      llvm::Expected<std::vector<ProofAct>> acts =
          proveRun(gos::SandboxLevel::Strict, ProofRun::Whole);
      text = acts ? "started" : llvm::toString(acts.takeError());
    }
    ::_exit(::write(ends[1], text.data(), text.size()) == ssize_t(text.size()) ? 0 : 2);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, size_t(got));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return text;
}

/// Of an ELF file of 64 bits: has it a segment of this kind?
bool hasSegment(llvm::StringRef image, uint32_t kind) {
  Elf64_Ehdr header;
  REQUIRE(image.size() >= sizeof header);
  std::memcpy(&header, image.data(), sizeof header);
  REQUIRE(llvm::StringRef(reinterpret_cast<const char*>(header.e_ident), SELFMAG) == ELFMAG);
  for (size_t at = 0; at != header.e_phnum; ++at) {
    Elf64_Phdr segment;
    const size_t offset = header.e_phoff + at * header.e_phentsize;
    REQUIRE(offset + sizeof segment <= image.size());
    std::memcpy(&segment, image.data() + offset, sizeof segment);
    if (segment.p_type == kind)
      return true;
  }
  return false;
}

} // namespace

TEST_CASE("the steps of a start come in their order: where all from one on are refused, that one "
          "is named") {
  std::vector<bool> users = {true};
  if (::geteuid() == 0)
    users.push_back(false);
  for (bool user : users) {
    CAPTURE(user);
    for (size_t first = 0; first != kCount; ++first) {
      const std::string words = "cannot " + stageWords(kSteps[first].stage).str() + ": ";
      CAPTURE(words);
      const std::string said = saidFrom(first, user);
      CHECK_MESSAGE(llvm::StringRef(said).contains(words), said);
    }
    CHECK(saidFrom(kCount, user) == "started"); // the control
  }
}

TEST_CASE("the first process is static and imports nothing") {
  const llvm::StringRef image = firstProcessImage();
  CHECK_FALSE(hasSegment(image, PT_INTERP));
  CHECK_FALSE(hasSegment(image, PT_DYNAMIC));
  for (llvm::StringRef trace : {"GLIBC", "glibc", "libc.so", "ld-linux", "malloc"})
    CHECK_FALSE(image.contains(trace));
  CHECK(image.size() < 128 * 1024);
  // The control: a program of the system has each of them.
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  const std::string mine = bytes.str();
  CHECK(hasSegment(mine, PT_INTERP));
  CHECK(hasSegment(mine, PT_DYNAMIC));
  CHECK(llvm::StringRef(mine).contains("GLIBC"));
}
