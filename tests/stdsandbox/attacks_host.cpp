// Section 13 of the threats, hosts and what lies in a home: T129, T131, T132, T134, through
// std::sandbox.

#include "tests/stdsandbox/asking.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <unistd.h>

namespace gos::cases {

TEST_CASE(
    "T129 a program's command gets nothing for its name, and no directory for being on PATH") {
  eachGiven(confining(), [](const Room& room, const std::string& level) {
    // A profile of the user's own that grants much to whoever is called `cat`, and one in the
    // project.
    const std::string text =
        "summary = \"x\"\ncommands = [\"cat\"]\n[phase.build]\nread_only = [\"~/plain\"]\n";
    room.write(room.home() + "/plain", "plain");
    for (const std::string& where :
         {room.home() + "/.config/bwr/profiles", room.path(".config/bwr/profiles")}) {
      room.makeDirectory(where);
      room.write(where + "/cat.toml", text);
    }
    const std::string plain = room.home() + "/plain";
    CHECK_MESSAGE(room.bwr(level, {}, {"cat", plain}).out == "plain", "the profile works for bwr");
    How moved;
    moved.set["XDG_CONFIG_HOME"] = room.path(".config");
    for (const How& how : {How(), moved}) {
      const std::vector<Answer> answers =
          askAll(room,
                 {{tools(room, level), {"cat", plain}},
                  {{"command_default", room.project(), "level", level}, {"cat", plain}},
                  {{"command_default", room.project(), "level", level}, {"/usr/bin/cat", plain}}},
                 how);
      for (const Answer& answer : answers) {
        CHECK(answer.ran());
        CHECK(answer.code != 0);
        CHECK(answer.out == "");
      }
    }
    // Planted where PATH leads first: nothing runs that no rule grants, and the directory is not
    // there.
    const std::string bin = room.home() + "/bin";
    room.makeDirectory(bin);
    room.write(bin + "/tool", "#!/bin/sh\necho planted; cat " + plain + "\n", 0755);
    room.write("tool", "#!/bin/sh\necho mine; cat " + plain + "\n", 0755);
    How how;
    how.set["PATH"] = bin + ":/usr/bin:/bin";
    CHECK(room.plain({"tool"}, how).out == "planted\nplain");
    const std::vector<Answer> answers =
        askAll(room, {{tools(room, level), {"tool"}}, shellAsk(room, level, {}, "ls " + bin)}, how);
    checkRefused(room, answers[0], "exists, but no rule grants it");
    CHECK(answers[1].code != 0);
    CHECK(answers[1].out == "");
    // One of the project runs by such a PATH, and gets what the project's files get.
    for (const char* first : {".", "", "./"}) {
      const std::string leading = first;
      CAPTURE(leading);
      how.set["PATH"] = std::string(first) + ":/usr/bin:/bin";
      const Answer answer = ask(room, {tools(room, level), {"tool"}}, how);
      CHECK(answer.out == "mine\n");
      CHECK(answer.code != 0);
    }
  });
}

TEST_CASE("T131 a program is refused a level that the host lacks something for; nothing runs") {
  struct Lack {
    const char* host;
    const char* primitive;
    const char* left; // the strictest level that is left
  };
  // A part of sandbox_hosts, which has all of them.
  const Lack lacks[] = {
      {"nothing", nullptr, "strict"},          {"user-namespace", "user namespace", "basic"},
      {"landlock", "Landlock", "basic"},       {"landlock-rule", "Landlock", "basic"},
      {"old-mounts", "mount view", "basic"},   {"seccomp", "seccomp filter", "basic"},
      {"proc-mount", "own /proc", "standard"}, {"subreaper", "child subreaper", "none"}};
  for (As who : identities()) {
    const Room room(who);
    if (!givenHere(room, "strict"))
      return;
    const std::string without = room.top() + "/without";
    std::filesystem::copy_file(GOS_WITHOUT, without);
    for (const Lack& lack : lacks) {
      const std::string host = lack.host;
      CAPTURE(host);
      const std::string identity = name(who);
      CAPTURE(identity);
      std::vector<Ask> asks;
      for (const std::string& level : levels()) {
        asks.push_back({tools(room, level), {"touch", "ran"}});
        asks.push_back({tools(room, level), {}, "check"});
      }
      asks.push_back({{}, {}, "max_level"});
      How how;
      how.set["XDG_CACHE_HOME"] = "/proc/none"; // nothing is remembered
      how.directory = room.project();
      const std::vector<Answer> answers = askAll(room, asks, how, {without, lack.host});
      bool given = true;
      for (size_t at = 0; at != levels().size(); ++at) {
        CAPTURE(levels()[at]);
        if (given && lack.left != std::string("none")) {
          CHECK_MESSAGE(answers[2 * at].code == 0, answers[2 * at].problem);
          CHECK(answers[2 * at + 1].problem == "");
        } else {
          CHECK_FALSE(answers[2 * at].ran());
          CHECK(contains(answers[2 * at].problem, "level `" + levels()[at] + "`"));
          CHECK(contains(answers[2 * at].problem, lack.primitive));
          CHECK(answers[2 * at + 1].problem == answers[2 * at].problem);
        }
        given = given && levels()[at] != lack.left;
      }
      CHECK(room.exists("ran") == (lack.left != std::string("none")));
      std::filesystem::remove(room.path("ran"));
      CHECK(answers.back().out == lack.left);
    }
  }
}

namespace {
/// The lines of the file of proofs in a home, without its header.
std::set<std::string> proofsIn(const std::string& file) {
  std::set<std::string> lines;
  std::ifstream text(file);
  std::string line;
  std::getline(text, line);
  while (std::getline(text, line))
    lines.insert(line);
  return lines;
}
} // namespace

TEST_CASE("T132 a program is not given a level whose locks do not hold, whatever a file says") {
  for (As who : identities()) {
    const std::string identity = name(who);
    CAPTURE(identity);
    const Room room(who);
    if (!givenHere(room, "strict"))
      return;
    const std::string lying = room.top() + "/lying";
    std::filesystem::copy_file(GOS_LYING, lying);
    const std::string proof = room.home() + "/.cache/bwr/proof";
    room.makeDirectory(room.home() + "/.cache");
    std::vector<Ask> asks;
    for (const std::string& level : confining())
      asks.push_back({tools(room, level), {"touch", "ran"}});
    // The honest host: both ways prove for themselves, and each has a line for each level.
    for (const Answer& answer : askAll(room, asks, {}, {lying, "nothing"}))
      CHECK_MESSAGE(answer.code == 0, answer.problem);
    CHECK(room.exists("ran"));
    const std::set<std::string> honest = proofsIn(proof);
    CHECK_MESSAGE(honest.size() == 4, llvm::join(honest, "\n"));
    std::filesystem::remove(room.path("ran"));
    // A kernel that says yes and does nothing: the lock is missing, and the proof notices. Nothing
    // is remembered of it.
    std::filesystem::remove(proof);
    for (const char* call : {"landlock_restrict_self", "landlock_add_rule", "seccomp", "pivot_root",
                             "capset", "unshare", "mount_setattr", "no_new_privs"}) {
      const std::string lie = call;
      CAPTURE(lie);
      if (who == As::User && call == std::string("no_new_privs"))
        continue; // a user's filter needs them gone, and then they are
      for (const Answer& answer : askAll(room, asks, {}, {lying, call}))
        checkRefused(room, answer, "is not available here");
      CHECK(proofsIn(proof).empty());
    }
    // What was proven elsewhere counts for nothing: inside of a sandbox there are other namespaces,
    // and the file that was written outside opens no level.
    const std::string cache = room.top() + "/cache";
    room.makeDirectory(cache);
    How elsewhere;
    elsewhere.set["XDG_CACHE_HOME"] = cache;
    for (const Answer& answer : askAll(room, asks, elsewhere))
      CHECK_MESSAGE(answer.code == 0, answer.problem);
    CHECK(proofsIn(cache + "/bwr/proof").size() == 4);
    std::filesystem::remove(room.path("ran"));
    std::vector<std::string> inside = {bwrPath(), "--level", "strict", "--setenv",
                                       "XDG_CACHE_HOME=" + room.path("cache")};
    room.makeDirectory("cache/bwr");
    std::filesystem::copy_file(cache + "/bwr/proof", room.path("cache/bwr/proof"));
    (void)room.shell("chmod 700 cache/bwr; chmod 600 cache/bwr/proof");
    if (who == As::User && ::geteuid() == 0)
      (void)Room(As::Root).shell("chown -R --reference=" + room.home() + " " + room.path("cache"));
    for (const std::vector<std::string>& way : bothWays())
      inside.insert(inside.end(), {"--ro", way.front()});
    inside.insert(inside.end(), {"--ro", std::filesystem::path(bothWays()[0][2]).string(), "--"});
    for (const Answer& answer : askAll(room, asks, {}, inside))
      checkRefused(room, answer, "is not available here");
    // No command can write the file, also where the home is granted.
    CHECK(room.shell("mkdir -p " + room.home() + "/.cache/bwr && echo forged >>" + proof).code ==
          0); // the control
    std::filesystem::remove(proof);
    for (const std::string& level : confining()) {
      CAPTURE(level);
      const Answer answer =
          ask(room,
              shellAsk(room, level, {"read_write", room.home()},
                       "echo forged >" + proof + "; mv " + room.home() + "/.cache/bwr " +
                           room.home() + "/.cache/old; touch " + room.home() + "/mine; echo done"));
      CHECK(answer.out == "done\n");
      CHECK(std::filesystem::exists(room.home() + "/mine"));
      CHECK_FALSE(proofsIn(proof).count("forged"));
      CHECK_FALSE(std::filesystem::exists(room.home() + "/.cache/old"));
      std::ifstream text(proof);
      std::stringstream all;
      all << text.rdbuf();
      CHECK_FALSE(contains(all.str(), "forged"));
    }
  }
}

TEST_CASE(
    "T134 a program is told of names by one escaped line, and nothing learned counts for it") {
  eachGiven(confining(), [](const Room& room, const std::string& level) {
    const std::string in = room.top() + "/in", ssh = room.home() + "/.ssh";
    const std::vector<std::string> names = {
        "a\nbwr:   openat fine (read", "q\"uo'te", "es\x1b[2Jc", "r\rn", "x\xe2\x80\xaey",
        "#]\nread_write = [\"~\"]"};
    room.makeDirectory(in);
    room.makeDirectory(ssh);
    room.write(ssh + "/id", "token-t134");
    std::vector<std::string> read = {"sh", "-c",
                                     "cat \"$@\" 2>/dev/null; cat \"$HOME\"/.ssh/id; exit 1", "sh"};
    std::vector<Ask> asks;
    for (const std::string& each : names) {
      room.write(in + "/" + each, "x");
      read.push_back(in + "/" + each);
      // As a grant that is missing, a directory that is none, a command that is not there, a
      // variable.
      asks.push_back(
          {tools(room, level, {"read_only", in + "/" + each + "/none"}), {"touch", "ran"}});
      asks.push_back(
          {tools(room, level, {"working_directory", in + "/" + each}), {"touch", "ran"}});
      asks.push_back({tools(room, level), {in + "/none/" + each}});
      asks.push_back({tools(room, level, {"env_set", each + "="}), {"touch", "ran"}});
    }
    for (const Answer& answer : askAll(room, asks))
      checkRefused(room, answer, "");
    // The control; and what the command itself says is its own, byte for byte.
    CHECK(contains(room.plain(read).out, "token-t134"));
    const Answer denied = ask(room, {tools(room, level, {"env_allow", "HOME"}), read});
    CHECK(denied.code == 1);
    CHECK(denied.out == "");
    CHECK_FALSE(contains(denied.err, "token"));
    // bwr learns a profile where profiles are looked for; no run of a program asks for it, by no
    // name.
    const std::string profile = room.home() + "/.config/bwr/profiles/sh.toml";
    room.makeDirectory(room.home() + "/.config/bwr/profiles");
    const Outcome learned = room.bwr(level, {"--learn", profile, "--ro", in}, read);
    CHECK_MESSAGE(room.exists(profile), learned.err);
    CHECK(room.bwr(level, {"--profile", "sh"}, read).out ==
          std::string(names.size(), 'x')); // it is worth something
    const std::vector<Answer> later =
        askAll(room, {{tools(room, level, {"env_allow", "HOME"}), read},
                      {{"command_default", room.project(), "level", level}, read}});
    for (const Answer& answer : later) {
      CHECK(answer.code == 1);
      CHECK(answer.out == "");
      CHECK_FALSE(contains(answer.err, "token"));
    }
    // And no command writes one there, also where the home is granted.
    const Answer planting =
        ask(room, shellAsk(room, level, {"read_write", room.home()},
                           "echo x >" + room.home() + "/.config/bwr/profiles/new.toml; echo x >" +
                               profile + "; touch " + room.home() + "/mine; echo done"));
    CHECK(planting.out == "done\n");
    CHECK(room.exists(room.home() + "/mine"));
    CHECK_FALSE(room.exists(room.home() + "/.config/bwr/profiles/new.toml"));
    CHECK(room.read(profile) != "x\n");
  });
}

TEST_CASE("each number of section 13 has a case through std::sandbox") {
  std::string all;
  for (const char* file : {"attacks_policy.cpp", "attacks_runs.cpp", "attacks_host.cpp"}) {
    std::ifstream text(std::string(GOS_SOURCE_DIR) + "/tests/stdsandbox/" + file);
    std::stringstream whole;
    whole << text.rdbuf();
    all += whole.str();
  }
  for (int number = 124; number <= 140; ++number)
    CHECK_MESSAGE(contains(all, "\"T" + std::to_string(number) + " "), number);
}

} // namespace gos::cases
