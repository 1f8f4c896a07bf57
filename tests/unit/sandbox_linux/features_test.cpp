// What a host can do, and what is said about one that cannot.

#include "sandbox/linux/features.h"
#include "sandbox/linux/landlock_abi.h"

#include "llvm/ADT/StringMap.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <cstdlib>

using namespace gos;
using namespace gos::sandbox;

namespace {

class FakeHost final : public HostHints {
public:
  FakeHost(std::initializer_list<std::pair<const char*, const char*>> files, bool root = false)
      : root_(root) {
    for (auto [path, text] : files)
      files_[path] = text;
  }
  std::string file(llvm::StringRef path) const override { return files_.lookup(path); }
  bool exists(llvm::StringRef path) const override { return files_.contains(path); }
  bool isRoot() const override { return root_; }

private:
  llvm::StringMap<std::string> files_;
  bool root_;
};

bool says(const std::string& text, llvm::StringRef part) {
  return llvm::StringRef(text).contains(part);
}

} // namespace

TEST_CASE("each primitive works, or it is said what was tried and what to do") {
  for (const PrimitiveState& state : primitives()) {
    CAPTURE(state.name);
    CAPTURE(state.reason);
    CHECK(state.works == state.reason.empty());
    CHECK(state.works == state.fix.empty());
    if (std::getenv("GOS_REQUIRE_SANDBOX") != nullptr &&
        needs(SandboxLevel::Strict, state.primitive))
      CHECK(state.works);
  }
  CHECK(primitives().size() >= 16);
  CHECK(&primitives() == &primitives());
}

TEST_CASE("a level is available exactly if what it needs works") {
  const std::vector<LevelState> all = levels();
  REQUIRE(all.size() == 4);
  for (const LevelState& state : all) {
    CAPTURE(state.reason);
    bool complete = true;
    for (const PrimitiveState& primitive : primitives())
      complete &= primitive.works || !needs(state.level, primitive.primitive);
    CHECK(state.available == complete);
    CHECK(state.available == state.blockedBy.empty());
    CHECK(state.mechanisms.empty() == (!state.available || state.level == SandboxLevel::None));
  }
}

TEST_CASE("the fix names the setting that is in the way") {
  const FakeHost ubuntu({{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"}});
  for (const char* primitive : {"user namespace", "mount view", "network namespace"})
    CHECK(says(primitiveFix(primitive, EPERM, ubuntu),
               "kernel.apparmor_restrict_unprivileged_userns=0"));
  const FakeHost debian({{"/proc/sys/kernel/unprivileged_userns_clone", "0"}});
  CHECK(says(primitiveFix("user namespace", EPERM, debian), "kernel.unprivileged_userns_clone"));
  const FakeHost debianRoot({{"/proc/sys/kernel/unprivileged_userns_clone", "0"}}, true);
  CHECK_FALSE(
      says(primitiveFix("user namespace", EPERM, debianRoot), "kernel.unprivileged_userns_clone"));
  const FakeHost redHat({{"/proc/sys/user/max_user_namespaces", "0"}});
  CHECK(says(primitiveFix("user namespace", ENOSPC, redHat), "user.max_user_namespaces"));
  const FakeHost quota({{"/proc/sys/user/max_net_namespaces", "0"}});
  CHECK(says(primitiveFix("user namespace", ENOSPC, quota), "user.max_net_namespaces"));
  CHECK(says(primitiveFix("user namespace", ENOSPC, FakeHost({})), "nest fewer"));
  const FakeHost seLinux({{"/sys/fs/selinux/enforce", "1"}});
  CHECK(says(primitiveFix("user namespace", EACCES, seLinux), "SELinux"));
}

TEST_CASE("the fix names the container or the sandbox that is around") {
  const FakeHost docker({{"/.dockerenv", ""}, {"/proc/self/status", "Name:\tx\nSeccomp:\t2\n"}});
  CHECK(says(primitiveFix("user namespace", EPERM, docker), "--security-opt seccomp=unconfined"));
  CHECK(says(primitiveFix("user namespace", EPERM, docker), "weakens"));
  CHECK(says(primitiveFix("own /proc", EPERM, docker), "systempaths=unconfined"));
  CHECK(says(primitiveFix("own /proc", EPERM, docker), "level `standard`"));
  const FakeHost podman({{"/run/.containerenv", ""}});
  CHECK(says(primitiveFix("own /proc", EPERM, podman), "unmask=ALL"));
  const FakeHost nested({{"/proc/self/status", "Seccomp:\t2\n"}});
  CHECK(says(primitiveFix("user namespace", EPERM, nested), "the surrounding sandbox"));
  CHECK(says(primitiveFix("Landlock", E2BIG, nested), "16 Landlock layers"));
  CHECK(says(primitiveFix("own /proc", EPERM, docker), "/proc is masked"));
  // Namespaces work there, so it is no container that refuses the mount.
  const FakeHost layered({{"/.dockerenv", ""}, {"/proc/self/status", "Seccomp:\t0\n"}});
  CHECK(says(primitiveFix("mount view", EPERM, layered), "a Landlock layer"));
  CHECK(says(primitiveFix("mount view", EPERM, docker), "--security-opt"));
  const FakeHost profile({{"/proc/self/attr/current", "lxc-default (enforce)"}});
  CHECK(says(primitiveFix("user namespace", EPERM, profile), "lxc-default"));
}

TEST_CASE("the fix for Landlock depends on whether it is built in") {
  const FakeHost plain({{"/sys/kernel/security/lsm", "lockdown,capability,yama"}});
  CHECK(
      says(primitiveFix("Landlock", EOPNOTSUPP, plain), "`lsm=landlock,lockdown,capability,yama`"));
  CHECK(says(primitiveFix("Landlock", ENOSYS, plain), "CONFIG_SECURITY_LANDLOCK"));
}

TEST_CASE("every primitive that a stage names has a fix of its own") {
  for (llvm::StringRef name : {
#define GOS_STAGE(name, primitive, words) llvm::StringRef(primitive),
#include "sandbox/linux/stages.def"
       })
    if (!name.empty())
      CHECK_MESSAGE(!primitiveFix(name, EPERM, FakeHost({})).empty(), name.str());
  CHECK(primitiveFix("nothing of ours", EPERM, FakeHost({})).empty());
}

TEST_CASE("notes are about settings that block no level") {
  const FakeHost host({{"/proc/sys/kernel/yama/ptrace_scope", "1"},
                       {"/proc/sys/dev/tty/legacy_tiocsti", "1"},
                       {"/proc/sys/vm/memfd_noexec", "7"}});
  const std::vector<std::string> notes = hostNotes(host);
  REQUIRE(notes.size() == 2);
  CHECK(says(notes[0], "`kernel.yama.ptrace_scope` is 1"));
  CHECK(says(notes[1], "`dev.tty.legacy_tiocsti` is 1"));
}
