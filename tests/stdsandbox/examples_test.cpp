// The programs of examples/sandbox/.

#include "tests/stdsandbox/support.h"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

namespace gos::stdsandbox {
namespace {

bool contains(const std::string& text, llvm::StringRef part) {
  return llvm::StringRef(text).contains(part);
}

TEST_CASE("example first: a cargo build, from the program as it is documented") {
  if (!hostGives("standard"))
    return;
  Scene scene;
  scene.copy("examples/sandbox/first");
  // A tool of this name inside of what is granted, so that it is there on every host.
  scene.tree().write("bin/cargo", "#!/bin/sh\necho \"$1 in $PWD with ${HOME-no home}\"\nexit 3\n");
  ::chmod(scene.tree().in("bin/cargo").c_str(), 0755);
  scene.environment.push_back({"PATH", scene.tree().in("bin") + ":/usr/bin:/bin"});
  const Outcome outcome = scene.runBoth();
  CHECK(outcome.exitCode == 0);
  CHECK(contains(outcome.out, "3 build in " + scene.tree().root() + " with no home\n"));

  if (::access("/usr/bin/cargo", X_OK) != 0) {
    threats::skipPart("cargo itself", "there is no /usr/bin/cargo");
    return;
  }
  scene.environment.back().second = "/usr/bin:/bin";
  const Outcome real = scene.runBoth();
  CHECK(contains(real.out, "0 "));
  CHECK(real.err.empty());
  CHECK(scene.tree().exists("target/debug/greeting"));
}

TEST_CASE("example ci: steps side by side, each in its own sandbox") {
  if (!hostGives("standard"))
    return;
  Scene scene;
  scene.copy("examples/sandbox/ci");
  const std::string notes = scene.tree().readAll("notes/today.txt");
  const Outcome outcome = scene.runBoth();
  CHECK(outcome.exitCode == 1);
  CHECK(contains(
      outcome.out,
      "ok     format\nok     words\n       7\nok     draft\n       buy bread\nFAILED tidy\n"));
  CHECK(contains(outcome.out, "Read-only file system\nFAILED upload\n"));
  CHECK(contains(outcome.out, "2 of 5 steps failed\n"));
  CHECK(!contains(outcome.out, "SECRET"));
  CHECK(scene.tree().readAll("notes/today.txt") == notes);

  // A file that cannot be read as steps says where.
  scene.tree().write("steps.txt", "no colon here\n");
  const Outcome bad = scene.runBoth();
  CHECK(bad.exitCode == 2);
  CHECK(bad.err == "steps.txt: `no colon here` is no `name: command`\n");
}

TEST_CASE("example plugins: each has what its own policy grants") {
  if (!hostGives("strict"))
    return;
  Scene scene;
  scene.copy("examples/sandbox/plugins");
  const std::string dictionary = scene.tree().readAll("data/dictionary.sed");
  const Outcome outcome = scene.runBoth();
  CHECK(outcome.exitCode == 0);
  CHECK(contains(outcome.out, "shout: HELLO WORLD\ntranslate: bonjour monde\ncurious failed: "));
  CHECK(contains(outcome.out, "greedy failed: "));
  CHECK(contains(outcome.out, "reads the dictionary: read-only\ncurious and the secrets: deny\n"));
  CHECK(!contains(outcome.out, "password"));
  CHECK(scene.tree().readAll("data/dictionary.sed") == dictionary);
}

TEST_CASE("example judge: bounds on time and output are the caller's") {
  if (!hostGives("strict"))
    return;
  Scene scene;
  scene.copy("examples/sandbox/judge");
  // The limit is long enough for a busy host; the one that loops reaches any.
  const Outcome outcome = scene.runBoth({"15000"});
  CHECK(outcome.exitCode == 0);
  CHECK(outcome.out == "adds.sh: accepted\n"
                       "cheats.sh: failed: exit code 1\n"
                       "crashes.sh: crashed: signal 11\n"
                       "floods.sh: the output is larger than the limit of 1000 bytes\n"
                       "leaves.sh: accepted\n"
                       "loops.sh: time limit exceeded\n"
                       "subtracts.sh: wrong answer\n");
  CHECK(processesWith(scene.tree().in("submissions")) == 0);
}

TEST_CASE("example host: what the host can promise") {
  Scene scene;
  scene.copy("examples/sandbox/host");
  const Outcome outcome = scene.runBoth();
  CHECK(outcome.exitCode == 0);
  CHECK(contains(outcome.out, "linux: the strictest level here is "));
  CHECK(contains(outcome.out, "\nstrict"));
  if (hostGives("strict")) {
    CHECK(contains(outcome.out, "the strictest level here is strict\n"));
    CHECK(contains(outcome.out, "\n  uts namespace: "));
  } else {
    CHECK(contains(outcome.out, "is not available"));
  }
}

TEST_CASE("example cargo: fetches with a network and builds without") {
  if (!hostGives("strict"))
    return;
  if (::access("/usr/bin/cargo", X_OK) != 0) {
    threats::skipPart("cargo", "there is no /usr/bin/cargo");
    return;
  }
  Scene scene;
  scene.copy("examples/sandbox/cargo");
  scene.environment.push_back({"PATH", "/usr/bin:/bin"});
  const Outcome outcome = scene.runBoth();
  CHECK_MESSAGE(outcome.exitCode == 0, outcome.err);
  CHECK(outcome.out == "fetch: exit code 0\nbuild: exit code 0\nrun: exit code 0\n"
                       "its build script read keys: false, reached the network: false\n");
}

} // namespace
} // namespace gos::stdsandbox
