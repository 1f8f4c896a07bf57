// Every part of a compiled plan is there for something: a plan with one part taken away, widened or
// switched off lets an act through that was refused, or breaks an act that worked. Tried for the
// whole plan and for plans that hold one lock alone. What changes nothing is a row of kEquivalent
// with its reason; a survivor that is in no row fails the test.
//
// The acts are a fixed list over a fixed scene, and say nothing of plans: system calls, run in the
// place of a command behind the locks of the plan (Child::launch).

#include "tests/sandbox/mutants.h"

#include <doctest/doctest.h>

namespace {

/// The mutants that nothing shows and that are in no row; of an ordinary user without those that
/// would only let through what the rights of the files refuse anyway.
std::vector<std::string> survivors(SandboxLevel level, Lock lock, bool ordinary = false) {
  const std::optional<Trial> whole = tryOnce(level, lock, nullptr);
  if (!whole)
    return {"no scene"};
  if (!whole->seen.failure.empty())
    return {"the unchanged plan does not start: " + whole->seen.failure};
  std::vector<std::string> alive;
  size_t killed = 0, closed = 0, listed = 0, tried = 0;
  for (const Mutant& mutant : whole->mutants) {
    llvm::StringRef words = mutant.words;
    if (ordinary && ((words.starts_with("read-write ") && !words.contains("$S")) ||
                     (words.starts_with("everything by ") && !words.contains("$S"))))
      continue;
    ++tried;
    const std::optional<Trial> trial = tryOnce(level, lock, &mutant);
    if (!trial)
      return {"no scene"};
    const Change change = compare(whole->acts, whole->seen, trial->seen);
    if (change.is(mutant.effect)) {
      ++(change.failure.empty() ? killed : closed);
      continue;
    }
    if (equivalent(lock, mutant.words) != nullptr)
      ++listed;
    else
      alive.push_back(mutant.words + " (weakened: " + change.weakened +
                      "; broken: " + change.broken + ")");
  }
  std::cout << spelling(level).str() << ", " << name(lock) << (ordinary ? ", ordinary user" : "")
            << ": " << tried << " mutants, " << killed << " seen by an act, " << closed
            << " do not start, " << listed << " equivalent" << std::endl;
  if (killed + closed == 0)
    alive.push_back("no mutant was found out");
  return alive;
}

void tryMutants(SandboxLevel level, Lock lock) {
  CAPTURE(spelling(level).str());
  CAPTURE(std::string(name(lock)));
  const std::vector<std::string> alive = survivors(level, lock, /*ordinary=*/::geteuid() != 0);
  CHECK_MESSAGE(alive.empty(), llvm::join(alive, "\n"));
}

} // namespace

TEST_CASE("where no lock stands every act gets through that the locks refuse, and with all of them "
          "none") {
  // What another user's rights or this kernel refuse to everybody.
  const auto always = [](llvm::StringRef words) {
    return words.starts_with("make a block device") ||
           words == "read the environment of a process outside" ||
           words == "share the user namespace" ||
           words == "share the mnt namespace"; // the control has both
  };
  const std::optional<Trial> none = tryOnce(SandboxLevel::Strict, Lock::None, nullptr);
  const std::optional<Trial> all = tryOnce(SandboxLevel::Strict, Lock::All, nullptr);
  if (!none || !all)
    return;
  REQUIRE_MESSAGE(none->seen.failure.empty(), none->seen.failure);
  REQUIRE_MESSAGE(all->seen.failure.empty(), all->seen.failure);
  size_t guards = 0;
  for (size_t at = 0; at != none->acts.size(); ++at) {
    const ActEntry& act = none->acts[at];
    const bool system = llvm::StringRef(act.words).starts_with("be told") ||
                        llvm::StringRef(act.words).ends_with(")");
    // What the rights of the files refuse an ordinary user anyway.
    const bool roots = act.words == "write /proc/self/comm" || act.words == "make a directory at /";
    if (act.guard && !always(act.words) && ((!system && !roots) || ::geteuid() == 0))
      CHECK_MESSAGE(!none->seen.verdicts[at].held(), act.words);
    if (llvm::StringRef(act.words).contains(
            "/sys/fs/cgroup")) // which of them a view has is the level's
      continue;
    CHECK_MESSAGE(all->seen.verdicts[at].held(),
                  act.words << ": errno " << all->seen.verdicts[at].error);
    guards += act.guard;
  }
  CHECK(guards > 90);
}

TEST_CASE("every part of a strict plan is needed") {
  tryMutants(SandboxLevel::Strict, Lock::All);
}
TEST_CASE("every part of a standard plan is needed") {
  tryMutants(SandboxLevel::Standard, Lock::All);
}
TEST_CASE("every part of a view is needed where it stands alone") {
  tryMutants(SandboxLevel::Strict, Lock::Mounts);
}
TEST_CASE("every part of a ruleset is needed where it stands alone") {
  tryMutants(SandboxLevel::Strict, Lock::Landlock);
}
TEST_CASE("every part of a filter is needed where it stands alone") {
  tryMutants(SandboxLevel::Strict, Lock::Filter);
}
TEST_CASE("every namespace is needed where they stand alone") {
  tryMutants(SandboxLevel::Strict, Lock::Namespaces);
}

TEST_CASE("every part of a plan is needed by an ordinary user") {
  if (::geteuid() != 0)
    return; // the others have been tried as one
  const passwd* account = ::getpwnam("games");
  const uid_t user = account != nullptr ? account->pw_uid : 4242;
  const gid_t group = account != nullptr ? account->pw_gid : 4242;
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  std::cout.flush();
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 1;
    if (::setgroups(0, nullptr) == 0 && ::setresgid(group, group, group) == 0 &&
        ::setresuid(user, user, user) == 0 && ::prctl(PR_SET_DUMPABLE, 1) == 0) {
      std::vector<std::string> alive;
      const auto tryOne = [&](SandboxLevel level, Lock lock) {
        for (const std::string& each : survivors(level, lock, /*ordinary=*/true))
          alive.push_back((spelling(level) + ", " + name(lock) + ": " + each + "\n").str());
      };
      for (Lock lock : {Lock::All, Lock::Mounts, Lock::Landlock, Lock::Filter, Lock::Namespaces})
        tryOne(SandboxLevel::Strict, lock);
      tryOne(SandboxLevel::Standard, Lock::All);
      const std::string text = llvm::join(alive, "");
      code = ::write(ends[1], text.data(), text.size()) == ssize_t(text.size()) ? 0 : 2;
    }
    ::_exit(code);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, size_t(got));
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK_MESSAGE(text.empty(), text);
}
