// Who starts programs: each call that does stands in this list, with its reason. Cargo, rustc and
// linkers are started by one function of the compiler.

#include "tests/meta/source_tree.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <map>

namespace gos::meta {
namespace {

using llvm::StringRef;

constexpr StringRef kCalls[] = {
    "fork",           "vfork",        "posix_spawn",    "posix_spawnp", "execv",   "execve",
    "execvp",         "execvpe",      "execl",          "execlp",       "execle",  "execveat",
    "vforkCall",      "fexecve",      "system",         "popen",        "::clone", "clone3",
    "sandbox::start", "sandbox::run", "ExecuteAndWait", "ExecuteNoWait"};

/// The call stands in the line, as a call, not behind `//`.
bool calls(StringRef line, StringRef name) {
  line = line.split("//").first;
  for (size_t at = line.find(name); at != StringRef::npos; at = line.find(name, at + 1)) {
    const char before = at == 0 ? ' ' : line[at - 1];
    const bool isWhole =
        !llvm::isAlnum(before) && before != '_' && before != '.' && before != '>' && before != '"';
    if (isWhole && line.substr(at + name.size()).starts_with("("))
      return true;
  }
  return false;
}

TEST_CASE(
    "T097 one function of the compiler starts Cargo, and no other place starts anything unlisted") {
  const std::map<std::string, std::string> allowed = {
      {"compiler/bindings/cargo.cpp sandbox::start",
       "the one function: Cargo, and all that it starts, inside the sandbox"},
      {"compiler/testing/runner.cpp posix_spawn", "`gos test` starts itself for each test file"},
      {"stdlib/sandbox.cpp sandbox::run", "`std::sandbox` of the user's program"},
      {"stdlib/process_start.cpp vforkCall", "`std::process` of the user's program"},
  };
  std::map<std::string, size_t> seen;
  for (const File& file :
       filesOf({"compiler", "stdlib", "manifest", "vm", "diagnostics"}, {".cpp", ".h"})) {
    StringRef rest = file.text;
    while (!rest.empty()) {
      auto [line, tail] = rest.split('\n');
      rest = tail;
      for (StringRef name : kCalls) {
        if (!calls(line, name))
          continue;
        const std::string place = file.path + " " + name.str();
        CHECK_MESSAGE(allowed.count(place) == 1, place << ": " << line.str());
        ++seen[place];
      }
    }
  }
  // A row that is needed no more, or a second start beside the first.
  for (const auto& [place, reason] : allowed)
    CHECK_MESSAGE(seen[place] == 1, place << " (" << reason << ")");
}

TEST_CASE("T097 the list sees a call, and no word that only looks like one") {
  CHECK(calls("  const pid_t child = ::fork();", "fork"));
  CHECK(calls("  llvm::Expected<X> run = sandbox::start(policy, options);", "sandbox::start"));
  CHECK(calls("  ::posix_spawnp(&child, path, nullptr);", "posix_spawnp"));
  CHECK_FALSE(calls("  // ::fork() is not used", "fork"));
  CHECK_FALSE(calls("  run.system();", "system"));
  CHECK_FALSE(calls("  unfork();", "fork"));
  CHECK_FALSE(calls("  say(\"fork()\");", "fork"));
}

} // namespace
} // namespace gos::meta
