// What shows that a failed step wanted the network.

#include "sandbox/bwr/evidence.h"

#include "tests/unit/sandbox/temp_tree.h"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace gos;
using namespace gos::bwr;

namespace {
sandbox::RunResult ended(int code, bool refused, int signal = 0) {
  sandbox::RunResult result;
  result.code = code;
  result.signal = signal;
  result.networkRefused = refused;
  return result;
}
} // namespace

TEST_CASE("a code alone is no evidence, a refused call is") {
  NetworkHint hint;
  hint.text = "fetch";
  hint.withNetwork = ", or with";
  CHECK(networkNote(hint, Policy(), {}, ended(1, false)).empty());
  CHECK(networkNote(hint, Policy(), {}, ended(1, true)) == "fetch, or with");
  CHECK(networkNote(hint, Policy(), {}, ended(0, true)).empty());
  CHECK(networkNote(hint, Policy(), {}, ended(130, true, 2)).empty());
  hint.text.clear();
  CHECK(networkNote(hint, Policy(), {}, ended(1, true)).empty());
}

TEST_CASE("the tool's own message is evidence, and what is no plain file is none") {
  test::TempTree tree;
  NetworkHint hint;
  hint.text = "fetch";
  hint.words = {"not in the cache", "offline"};
  hint.log = tree.at("log");
  CHECK(networkNote(hint, Policy(), {}, ended(1, false)).empty());
  tree.file("log", "error: wrong code\n");
  CHECK(networkNote(hint, Policy(), {}, ended(1, false)).empty());
  tree.file("log", "error: x is not in the cache\n");
  CHECK(networkNote(hint, Policy(), {}, ended(1, false)) == "fetch");
  hint.since = 1e12; // of a run before this one
  CHECK(networkNote(hint, Policy(), {}, ended(1, false)).empty());
  hint.since = 0;
  // In a directory the last one counts.
  tree.directory("logs");
  hint.log = tree.at("logs");
  CHECK(networkNote(hint, Policy(), {}, ended(1, false)).empty());
  tree.file("logs/1.log", "offline\n");
  CHECK(networkNote(hint, Policy(), {}, ended(1, false)) == "fetch");
  const timespec old[2] = {{1000, 0}, {1000, 0}};
  REQUIRE(::utimensat(AT_FDCWD, tree.at("logs/1.log").c_str(), old, 0) == 0);
  tree.file("logs/2.log", "all is well\n");
  CHECK(networkNote(hint, Policy(), {}, ended(1, false)).empty());
  hint.log = tree.at("log");
  tree.file("other", "offline\n");
  ::unlink(hint.log.c_str());
  REQUIRE(::symlink(tree.at("other").c_str(), hint.log.c_str()) == 0);
  CHECK(networkNote(hint, Policy(), {}, ended(1, false)).empty());
  ::unlink(hint.log.c_str());
  REQUIRE(::mkfifo(hint.log.c_str(), 0600) == 0);
  CHECK(networkNote(hint, Policy(), {}, ended(1, false)).empty());
}
