// What somebody outside does to an entry that is closed, while the run goes on: the run ends, or
// the command could open what has taken the entry's place.

#include "harness.h"

#include "doctest/doctest.h"
#include "llvm/Support/FormatVariadic.h"

using namespace gos::cases;

namespace {

/// What a policy closes, and how it is opened from outside.
struct Closed {
  std::string what;
  std::vector<std::string> flags;
  const char* entry;  // tried by the command, beneath the project
  const char* before; // makes it, in a shell in the project
  const char* act;    // from outside
  const char* after;  // puts something else in its place
};

const char kNewFile[] = "echo NEW > w/e";
const char kNewInDirectory[] = "mkdir -p w/d/sub && echo NEW > w/d/sub/f";

const std::vector<Closed>& closed() {
  static const std::vector<Closed> all = {
      {"a file that is removed", {"--deny", "w/e"}, "w/e", "echo OLD > w/e", "rm w/e", kNewFile},
      {"a file that is renamed over",
       {"--deny", "w/e"},
       "w/e",
       "echo OLD > w/e",
       "echo NEW > n && mv n w/e",
       ":"},
      {"a file that is moved", {"--deny", "w/e"}, "w/e", "echo OLD > w/e", "mv w/e w/o", kNewFile},
      {"a file that is moved out of its directory",
       {"--deny", "w/e"},
       "w/e",
       "echo OLD > w/e",
       "mv w/e o",
       kNewFile},
      {"a file in a directory that is moved",
       {"--deny", "w/d/sub/f"},
       "w/d/sub/f",
       "mkdir -p w/d/sub && echo OLD > w/d/sub/f",
       "mv w/d w/o",
       kNewInDirectory},
      {"a directory that is moved",
       {"--deny", "w/d"},
       "w/d/sub/f",
       "mkdir -p w/d/sub && echo OLD > w/d/sub/f",
       "mv w/d w/o",
       kNewInDirectory},
      {"a name that was missing", {"--deny", "w/e"}, "w/e", ":", "mv w/e w/o", kNewFile},
      {"a file in a directory that nobody may list",
       {"--deny", "w/d/e"},
       "w/d/e",
       "mkdir w/d && echo OLD > w/d/e && chmod 311 w/d",
       "mv w/d/e o",
       "echo NEW > w/d/e"},
      {"a read-only file", {"--ro", "w/e"}, "w/e", "echo OLD > w/e", "mv w/e w/o", kNewFile},
      {"a file beneath a read-only grant, in a directory that is moved",
       {"--ro", "../r", "--deny", "../r/d/sub/f"},
       "../r/d/sub/f",
       "mkdir -p ../r/d/sub && echo OLD > ../r/d/sub/f",
       "mv ../r/d ../r/o",
       "mkdir -p ../r/d/sub && echo NEW > ../r/d/sub/f"},
  };
  return all;
}

/// Starts `run`, waits until the command is there, acts, gives the run time to end (more than any
/// host needs), puts something else where the closed entry was, and lets the command look, if there
/// still is one.
std::string scene(const std::string& run, const Closed& entry, bool waits) {
  return llvm::formatv("{0} & run=$!\n"
                       "until [ -e ready ]; do kill -0 $run || exit 99; sleep 0.02; done\n"
                       "{1}\n"
                       "n=0; while {2} && kill -0 $run 2>/dev/null && [ $n -lt 2400 ]; do "
                       "n=$((n+1)); sleep 0.05; done\n"
                       "{3}; : > go\n"
                       "wait $run; echo code $?\n",
                       run, entry.act, waits ? "true" : "false", entry.after);
}

std::string quoted(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words)
    line += "'" + word + "' ";
  return line;
}

/// The command: 7 if it got at what took the entry's place.
std::string command(const std::string& act, const std::string& beside = {}) {
  return "sh -c '" + beside + ": > ready; until [ -e go ]; do sleep 0.02; done; " + act +
         " && exit 7; exit 9'";
}

void check(As who, const Closed& entry, const std::string& act, const std::string& beside = {}) {
  CAPTURE(name(who));
  CAPTURE(entry.what);
  const auto prepare = [&](const Room& room) {
    REQUIRE(room.shell(std::string("mkdir w; ") + entry.before).code == 0);
  };
  {
    const Room room(who);
    prepare(room);
    CHECK(room.shell(scene(command(act, beside), entry, false)).out == "code 7\n");
  }
  for (const std::string& level : confining()) {
    CAPTURE(level);
    const Room room(who);
    prepare(room);
    std::vector<std::string> words = {bwrPath(), "--level", level};
    words.insert(words.end(), entry.flags.begin(), entry.flags.end());
    words.push_back("--");
    const Outcome outcome = room.shell(scene(quoted(words) + command(act, beside), entry, true));
    CHECK(outcome.out == "code 137\n");
    CHECK(outcome.err.find("something outside replaced a path that was closed") !=
          std::string::npos);
  }
}

} // namespace

TEST_CASE("a run ends when something outside takes the place of what it closes") {
  for (As who : identities())
    for (const Closed& entry : closed())
      check(who, entry, std::string("grep -q NEW ") + entry.entry + " 2>/dev/null");
}

TEST_CASE("a run ends when its guards are taken away from outside: no hook is planted") {
  const std::vector<Closed> guards = {
      {"the repository", {}, "", "git init -q .", "mv .git o", "mkdir -p .git/hooks"},
      {"its hooks", {}, "", "git init -q .", "mv .git/hooks o", "mkdir .git/hooks"},
      {"its configuration", {}, "", "git init -q .", "mv .git/config o", ": > .git/config"},
  };
  if (!installed("git"))
    return skip("guards", "git is not installed");
  for (As who : identities())
    for (const Closed& guard : guards)
      check(who, guard,
            "{ echo x >> .git/hooks/pre-commit; } 2>/dev/null && "
            "{ echo x >> .git/config; } 2>/dev/null");
}

TEST_CASE("a name that is taken away and given to the same file again is noticed") {
  // The mount is gone, and the file is what it was: its number alone says nothing.
  const Closed anew = {"a read-only file with a second name",
                       {"--ro", "w/e"},
                       "",
                       "echo OLD > w/e && ln w/e w/second",
                       "rm w/e && ln w/second w/e",
                       ":"};
  const Closed under = {"a read-only file that is renamed and linked",
                        {"--ro", "w/e"},
                        "",
                        "echo OLD > w/e",
                        "mv w/e w/second && ln w/second w/e",
                        ":"};
  for (As who : identities())
    for (const Closed& entry : {anew, under})
      check(who, entry, "{ echo NEW >> w/e; } 2>/dev/null");
}

TEST_CASE("with more directories than can be held open a run looks at what it closes by itself") {
  for (As who : identities()) {
    Closed many = {"the last of many",
                   {},
                   "w/99/e",
                   "i=0; while [ $i -lt 100 ]; do mkdir w/$i; echo OLD > w/$i/e; i=$((i+1)); done",
                   "mv w/99/e o",
                   "echo NEW > w/99/e"};
    for (int directory = 0; directory != 100; ++directory) {
      many.flags.push_back("--deny");
      many.flags.push_back(llvm::formatv("w/{0}/e", directory));
    }
    check(who, many, "grep -q NEW w/99/e 2>/dev/null");
    // A command whose children end without a pause keeps the first process awake, not from looking.
    check(who, many, "grep -q NEW w/99/e 2>/dev/null",
          "( while [ ! -e go ]; do ( true & ); done ) & ");
  }
}

TEST_CASE("what is renamed beside a closed entry does not end the run") {
  for (As who : identities())
    for (const std::string& level : confining()) {
      const Room room(who);
      room.makeDirectory("w");
      room.write("w/e", "OLD");
      room.write("w/other", "x");
      const Closed beside = {"", {}, "", "", "mv w/other w/renamed && mv w/renamed o && rm o", ":"};
      std::vector<std::string> words = {bwrPath(), "--level", level, "--deny", "w/e", "--"};
      CHECK(room.shell(scene(quoted(words) + command("[ ! -e w/other ]"), beside, false)).out ==
            "code 7\n");
    }
}
