// Section 13 of the threats, what policies mean: T124 to T128, T130, T133, T135, T140, through
// std::sandbox.

#include "tests/stdsandbox/asking.h"

#include "llvm/Support/JSON.h"

#include <doctest/doctest.h>

#include <sys/stat.h>

namespace gos::cases {

TEST_CASE("T124 a program's grant never lifts a denial, at every level and for every user") {
  eachGiven(levels(), [](const Room& room, const std::string& level) {
    const std::string ssh = room.home() + "/.ssh";
    room.makeDirectory(ssh);
    room.write(ssh + "/id_rsa", "k9-secret", 0600);
    room.write(room.home() + "/plain", "plain");
    room.link(ssh, "alias");
    room.link(ssh + "/id_rsa", "key");
    CHECK(room.shell("cat " + ssh + "/id_rsa alias/id_rsa key").out ==
          "k9-secretk9-secretk9-secret");
    std::vector<Ask> asks;
    for (const char* request : {"read_only", "read_write"})
      for (const std::string& path :
           {ssh, ssh + "/id_rsa", std::string("alias"), std::string("alias/id_rsa"),
            std::string("key"), ssh + "/../.ssh", ssh + "/missing", std::string("../home/.ssh")})
        asks.push_back({tools(room, level, {request, path}), {"touch", "ran"}});
    asks.push_back({tools(room, level, {"working_directory", ssh}), {"touch", room.path("ran")}});
    for (const Answer& answer : askAll(room, asks))
      checkRefused(room, answer, ".ssh");
    // The control: the same policy without such a grant runs.
    CHECK(ask(room, {tools(room, level), {"touch", "ran"}}).code == 0);
    CHECK(room.exists("ran"));
    if (level == "basic")
      return;
    // A grant that contains denials is legal, and the holes stay.
    const Answer around = ask(room, shellAsk(room, level, {"read_only", room.home()},
                                             "cat " + room.home() + "/plain; cat " + ssh +
                                                 "/id_rsa alias/id_rsa key; ls -A " + ssh));
    CHECK(around.out == "plain");
    CHECK(around.code != 0);
  });
}

TEST_CASE("T125 what a program grants to read stays as it is beneath what it grants to write") {
  eachGiven(confining(), [](const Room& room, const std::string& level) {
    const std::string acts =
        "cd w; echo n >s/new; echo n >>s/f; mv s/f s/g; mv s t; rm s/f; chmod 600 s/f; touch -d "
        "2001-01-01 s/f; ln x s/l; ln s/f l; mkdir s/d; ln -s x s/k; truncate -s 0 s/f; "
        "echo y >y && mv y z && rm z && echo works";
    room.makeDirectory("w/s");
    room.write("w/s/f", "kept");
    room.write("w/x", "x");
    const Answer answer =
        ask(room, shellAsk(room, level, {"read_write", "w", "read_only", "w/s"}, acts));
    CHECK(answer.out == "works\n");
    CHECK(room.read("w/s/f") == "kept");
    CHECK(room.shell("ls -A w w/s").out == "w:\ns\nx\n\nw/s:\nf\n");
    struct stat status{};
    REQUIRE(::stat(room.path("w/s/f").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0644);
    CHECK(status.st_nlink == 1);
    CHECK(status.st_mtime > 1000000000);
    // The control: without the narrower rule it changes.
    CHECK(ask(room, shellAsk(room, level, {}, "echo n >>w/s/f")).code == 0);
    CHECK(room.read("w/s/f") == "keptn\nn\n"); // by both ways
  });
  // Where nobody keeps it so, the policy is refused.
  eachGiven({"basic"}, [](const Room& room, const std::string& level) {
    room.makeDirectory("w/s");
    checkRefused(room, ask(room, {tools(room, level, {"read_only", "w/s"}), {"touch", "ran"}}),
                 "w/s");
    CHECK(room.shell("touch w/s/new").code == 0);
  });
}

TEST_CASE("T126 a program's hole stays one") {
  eachGiven(confining(), [](const Room& room, const std::string& level) {
    room.makeDirectory("w/k");
    room.write("w/k/f", "k9-secret");
    room.write("w/x", "x");
    CHECK(room.shell("cat w/k/f").out == "k9-secret");
    const std::string acts =
        "cat w/k/f; ls -A w/k; mv w/k w/j; cat w/j/f; mv w v; cat v/k/f; rmdir w/k; umount w/k; "
        "mount --bind w w/k; ln w/k/f l; cp -r w/k c; cat /proc/self/root$PWD/w/k/f; "
        "cat /proc/$PPID/root$PWD/w/k/f; cat c/f; cd w && echo n >sibling && mkdir -p d && echo "
        "works; "
        "rm -r ../c";
    CHECK(ask(room, shellAsk(room, level, {"deny", "w/k"}, acts)).out == "works\n");
    CHECK(room.read("w/k/f") == "k9-secret");
    CHECK(room.read("w/sibling") == "n\n");
  });
  for (const char* level : {"basic", "none"})
    eachGiven({level}, [](const Room& room, const std::string& which) {
      room.makeDirectory("w/k");
      checkRefused(room, ask(room, {tools(room, which, {"deny", "w/k"}), {"touch", "ran"}}),
                   "deny");
    });
}

TEST_CASE("T127 a program cannot grant what is not there, and what it denies is not made") {
  eachGiven(levels(), [](const Room& room, const std::string& level) {
    for (const char* request : {"read_only", "read_write"})
      checkRefused(room, ask(room, {tools(room, level, {request, "missing"}), {"touch", "ran"}}),
                   "`" + std::string(request) + "(\"missing\")`");
  });
  eachGiven(confining(), [](const Room& room, const std::string& level) {
    const std::string acts =
        "mkdir never; mkdir -p never/made; echo x >never/made; ls never/made; touch other";
    CHECK(ask(room, shellAsk(room, level, {"deny", "never/made"}, acts)).code == 0);
    CHECK(room.exists("other"));
    CHECK_FALSE(room.exists("never"));
    // The control, and a later run: without the denial it is made.
    CHECK(ask(room, shellAsk(room, level, {}, "mkdir -p never/made && echo made")).out == "made\n");
  });
}

TEST_CASE(
    "T128 what a program's policy was judged by is what is mounted, while names are exchanged") {
  if (!installed("python3"))
    return skip("T128", "python3 is not installed");
  eachGiven(confining(), [](const Room& room, const std::string& level) {
    const std::string ssh = room.home() + "/.ssh";
    room.makeDirectory("grant");
    room.write("grant/f", "honest");
    room.makeDirectory(ssh);
    room.write(ssh + "/f", "k9-secret");
    room.link(ssh, "evil");
    // exchanges grant and evil for as long as the file `go` is there
    room.write(
        "rig.py",
        "import ctypes, os\nl = ctypes.CDLL(None)\nopen('on', 'w')\nwhile os.path.exists('go'): "
        "l.renameat2(-100, b'grant', -100, b'evil', 2)\n");
    const std::string rigged =
        "rm -f on; touch go; python3 rig.py & while [ ! -e on ]; do sleep 0.01; done; ";
    // The control: who opens the name meets both.
    const Outcome open =
        room.shell(rigged + "i=0; while [ $i -lt 20000000 ] && [ \"$a$b\" != 11 ]; do "
                            "read x <grant/f; case $x in honest) a=1;; k9-secret) b=1;; esac; "
                            "i=$((i+1)); done; rm go; wait; echo $a$b");
    CHECK_MESSAGE(open.out == "11\n", open.err);
    std::vector<Ask> asks(30, {{"level", level, "read_only", "/usr", "working_directory", "/",
                                "env_allow", "PATH", "read_only", room.path("grant")},
                               {"cat", room.path("grant/f")}});
    for (const Outcome& outcome : shellWith(room, asks, rigged + "\"$@\"; rm go; wait")) {
      const std::vector<Answer> answers = answersOf(outcome.out);
      CHECK(answers.size() == asks.size());
      CHECK_FALSE(contains(outcome.out + outcome.err, "k9-secret"));
      for (const Answer& answer : answers)
        CHECK_MESSAGE((answer.ran() ? answer.out == (answer.code == 0 ? "honest" : "")
                                    : !answer.problem.empty()),
                      answer.problem << answer.out);
    }
  });
}

TEST_CASE("T130 variables that load code are neither passed nor set by a program, at every level") {
  eachGiven(levels(), [](const Room& room, const std::string& level) {
    const std::vector<std::string> names = {"LD_PRELOAD",    "LD_AUDIT",         "LD_LIBRARY_PATH",
                                            "BASH_ENV",      "NODE_OPTIONS",     "PYTHONSTARTUP",
                                            "PERL5OPT",      "RUBYOPT",          "GIT_SSH_COMMAND",
                                            "BASH_FUNC_x%%", "JAVA_TOOL_OPTIONS"};
    How how;
    std::vector<Ask> asks;
    for (const std::string& name : names) {
      // Not all at once: the loader of the program itself looks at some.
      if (!llvm::StringRef(name).starts_with("LD_"))
        how.set[name] = "./evil";
      for (const char* request : {"env_allow", "env_set"})
        asks.push_back({tools(room, level, {request, name}), {"touch", "ran"}});
    }
    const size_t named = asks.size();
    for (const char* name : {"A=B", "", "=B", "A\nB"})
      for (const char* request : {"env_allow", "env_set"})
        asks.push_back({tools(room, level, {request, name}), {"touch", "ran"}});
    const std::vector<Answer> answers = askAll(room, asks, how);
    for (size_t at = 0; at != answers.size(); ++at)
      checkRefused(room, answers[at], at < named ? names[at / 2] : "environment variable");
    // The control: they stand in the environment that the program has, and do not come along.
    CHECK(contains(room.plain({"env"}, how).out, "NODE_OPTIONS=./evil"));
    CHECK(ask(room, shellAsk(room, level, {}, "env | grep evil; true"), how).out == "");
    How honest;
    honest.set["GREETING"] = "here";
    CHECK(
        ask(room, {tools(room, level, {"env_allow", "GREETING"}), {"printenv", "GREETING"}}, honest)
            .out == "here\n");
  });
}

TEST_CASE("T133 a word that a policy does not know is an error, whatever is called afterwards") {
  eachGiven(levels(), [](const Room& room, const std::string& level) {
    const std::vector<std::string> plain = {
        "read_only",    "/usr",      "read_write", room.project(), "working_directory",
        room.project(), "env_allow", "PATH",       "level",        level};
    const std::vector<std::vector<std::string>> bad = {
        {"level", "Strict", "level", level},
        {"level", "", "level", level},
        {"network_mode", "off", "network_mode", "none"},
        {"network_mode", "Client", "network_mode", "open"},
        {"temp", "", "temp", "private"},
        {"temp", "shared", "temp", "private"},
        {"env_allow", "A=B", "env_allow", "HOME"},
        {"capture_limit", "-1", "capture_limit", "10"},
        {"working_directory", "/nowhere", "working_directory", room.project()}};
    std::vector<Ask> asks;
    for (const std::vector<std::string>& requests : bad) {
      std::vector<std::string> policy = plain;
      policy.insert(policy.end(), requests.begin(), requests.end());
      for (const char* how : {"run", "check", "access", "lists"})
        asks.push_back({policy, {how == std::string("access") ? "/usr" : "touch", "ran"}, how});
    }
    const std::vector<Answer> answers = askAll(room, asks);
    for (size_t at = 0; at != bad.size(); ++at) {
      const std::string& word = bad[at][1];
      checkRefused(room, answers[4 * at], "`" + word + "`");
      CHECK(answers[4 * at + 1].problem == answers[4 * at].problem);
      CHECK(answers[4 * at + 2].out == "deny");
      CHECK(answers[4 * at + 3].out == "0");
    }
    CHECK(ask(room, {plain, {"touch", "ran"}}).code == 0);
    CHECK(room.exists("ran"));
  });
}

namespace {
bool holdsText(const llvm::json::Value& value, const std::string& wanted) {
  if (auto text = value.getAsString())
    return *text == wanted;
  if (const llvm::json::Array* list = value.getAsArray())
    for (const llvm::json::Value& each : *list)
      if (holdsText(each, wanted))
        return true;
  if (const llvm::json::Object* object = value.getAsObject())
    for (const auto& entry : *object)
      if (holdsText(entry.second, wanted))
        return true;
  return false;
}
} // namespace

TEST_CASE("T135 a program's names of any text are escaped, and read back to the same names") {
  eachGiven(confining(), [](const Room& room, const std::string& level) {
    const std::vector<std::string> names = {"a\") (allow default) (\"",
                                            "line\nbwr: forged",
                                            "tab\tand\x1b[31m",
                                            "back\\slash",
                                            "quote'\"",
                                            "nul-like\\0",
                                            "# [x]",
                                            "x\xe2\x80\xaey",
                                            "a:b,c d"};
    std::vector<Ask> asks;
    for (const std::string& each : names) {
      const std::string path = room.top() + "/" + each;
      room.makeDirectory(path);
      room.write(path + "/f", "here");
      const std::vector<std::string> policy = tools(room, level, {"read_only", path});
      asks.push_back({policy, {"cat", path + "/f"}});
      asks.push_back({policy, {}, "json"});
      asks.push_back({policy, {}, "explain"});
      asks.push_back({tools(room, level, {"read_only", path + "/missing"}), {"touch", "ran"}});
      asks.push_back({tools(room, level), {"cat", path + "/f"}});
    }
    const std::vector<Answer> answers = askAll(room, asks);
    for (size_t at = 0; at != names.size(); ++at) {
      CAPTURE(names[at]);
      const Answer* mine = &answers[5 * at];
      CHECK(mine[0].out == "here");
      llvm::Expected<llvm::json::Value> object = llvm::json::parse(mine[1].out);
      if (object)
        CHECK(holdsText(*object, room.top() + "/" + names[at]));
      else
        FAIL_CHECK(llvm::toString(object.takeError()) << mine[1].out);
      CHECK_FALSE(contains(mine[2].out, "\nbwr: forged"));
      CHECK_FALSE(contains(mine[2].out, "\xe2\x80\xae"));
      for (char byte : mine[2].out)
        CHECK((byte == '\n' || uint8_t(byte) >= 0x20));
      CHECK(contains(mine[2].out, "read-only"));
      checkRefused(room, mine[3], "no such file");
      CHECK(mine[4].code != 0); // the grant is what opened it
      CHECK(mine[4].out == "");
    }
  });
}

TEST_CASE(
    "T140 a network of clients has no way in, for a program's commands and all that they start") {
  eachGiven(confining(), [](const Room& room, const std::string& level) {
    CHECK(room.plain({probePath(), "listen"}).out == "ok\n");
    const auto listening = [&](const std::string& mode) -> Ask {
      return {tools(room, level, {"network_mode", mode, "read_only", probePath()}),
              {"sh", "-c", probePath() + " listen"}};
    };
    CHECK(llvm::StringRef(ask(room, listening("client")).out).starts_with("refused "));
    CHECK(ask(room, listening("open")).out == "ok\n");
    checkRefused(room, ask(room, listening("all")), "`all` is not a network mode");
    // Without a network a service of this host is out of reach, which a client reaches.
    if (!installed("python3"))
      return skip("T140 a service of this host", "python3 is not installed");
    const std::string serve = "rm -f port; python3 -c \"import socket, os\ns = socket.socket(); "
                              "s.bind(('127.0.0.1', 0)); "
                              "s.listen(9); open('port.new', 'w').write(str(s.getsockname()[1])); "
                              "os.rename('port.new', 'port')\nwhile True: s.accept()\" & p=$!; "
                              "while [ ! -e port ]; do sleep 0.01; done; ";
    const std::string reach = probePath() + " tcp 127.0.0.1 $(cat port)";
    CHECK(room.shell(serve + reach + "; kill $p").out == "ok\n");
    std::vector<Ask> asks;
    for (const char* mode : {"none", "client", "open"})
      asks.push_back(
          shellAsk(room, level, {"network_mode", mode, "read_only", probePath()}, reach));
    for (const Outcome& outcome : shellWith(room, asks, serve + "\"$@\"; kill $p")) {
      const std::vector<Answer> answers = answersOf(outcome.out);
      REQUIRE(answers.size() == 3);
      CHECK(llvm::StringRef(answers[0].out).starts_with("refused "));
      CHECK(answers[1].out == "ok\n");
      CHECK(answers[2].out == "ok\n");
    }
  });
}

} // namespace gos::cases
