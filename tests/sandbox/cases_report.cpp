// The denial report and learned profiles, on runs that are real: what was refused is named once,
// what was not is not, and nothing that a run does forges a line.

#include "tests/sandbox/harness.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <set>
#include <sys/socket.h>
#include <unistd.h>

using namespace gos::cases;

namespace {

std::string parentOf(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

/// Somebody outside who listens on 127.0.0.1.
class Listener {
public:
  Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(fd_, 8) == 0);
    REQUIRE(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port = std::to_string(ntohs(address.sin_port));
  }
  ~Listener() { ::close(fd_); }
  std::string port;

private:
  int fd_;
};

/// The last line of standard error, which --json makes the object.
llvm::json::Object objectOf(const Outcome& run) {
  const llvm::StringRef line = llvm::StringRef(run.err).rtrim('\n').rsplit('\n').second;
  llvm::Expected<llvm::json::Value> value =
      llvm::json::parse(line.empty() ? llvm::StringRef(run.err).rtrim('\n') : line);
  REQUIRE_MESSAGE(bool(value), run.err);
  REQUIRE(value->getAsObject());
  return std::move(*value->getAsObject());
}

/// The lines of the report about an object: "operation flag evidence count".
std::vector<std::string> linesAbout(const llvm::json::Object& object, llvm::StringRef what) {
  std::vector<std::string> lines;
  const llvm::json::Object* report = object.getObject("report");
  REQUIRE(report);
  for (const llvm::json::Value& entry : *report->getArray("denied")) {
    const llvm::json::Object& line = *entry.getAsObject();
    if (line.getString("path").value_or("") != what &&
        line.getString("address").value_or("") != what)
      continue;
    lines.push_back((line.getString("operation").value_or("?") + " " +
                     line.getString("flag").value_or("-") + " " +
                     line.getString("evidence").value_or("?"))
                        .str());
    CHECK(line.getInteger("count").value_or(0) >= 1);
    CHECK(!line.getString("rule").value_or("").empty());
    CHECK(!line.getString("call").value_or("").empty());
  }
  return lines;
}
using Lines = std::vector<std::string>;

} // namespace

TEST_CASE("B070 each refused act is named once, with its flag; a missing file is not") {
  for (As who : identities()) {
    Room room(who);
    Listener listener;
    const std::string outside = room.top() + "/outside", ro = room.top() + "/ro";
    room.write(outside, "x");
    room.makeDirectory(ro);
    const std::string script = "cat " + outside + "; cat " + outside + "; touch " + ro +
                               "/q; mv a b; cat " + room.top() + "/none; " + probePath() +
                               " tcp 127.0.0.1 " + listener.port + "; " + probePath() + " listen";
    // Outside, all of it works but the move of what is missing.
    const Outcome control = room.shell(script);
    CHECK(control.out == "xxok\nok\n");
    CHECK(room.exists(ro + "/q"));
    ::unlink((ro + "/q").c_str());
    for (const std::string& level : confining()) {
      const Outcome run =
          room.bwrShell(level, {"--report", "--json", "--ro", ro, "--ro", parentOf(probePath())},
                        script + "; exit 3");
      INFO(name(who), " ", level, " ", run.err);
      CHECK(run.code == 3);
      CHECK(!room.exists(ro + "/q"));
      const llvm::json::Object object = objectOf(run);
      CHECK(linesAbout(object, outside) == Lines{"read --ro " + outside + " inferred"});
      CHECK(linesAbout(object, ro + "/q") == Lines{"write --rw " + ro + " inferred"});
      CHECK(linesAbout(object, "127.0.0.1:" + listener.port) ==
            Lines{"connect --network client inferred"});
      for (const std::string& missing :
           {room.project() + "/a", room.project() + "/b", room.top() + "/none"})
        CHECK(linesAbout(object, missing).empty());
      // The same for people, after the command's own words.
      const Outcome text =
          room.bwrShell(level, {"--report", "--ro", ro, "--ro", parentOf(probePath())}, script);
      CHECK(text.err.find("to allow it: --ro " + outside + "\n") != std::string::npos);
      // And the flags do what they say.
      const Outcome allowed = room.bwrShell(
          level,
          {"--ro", outside, "--rw", ro, "--ro", parentOf(probePath()), "--network", "client"},
          script);
      CHECK(allowed.out == "xxok\nrefused EACCES\n");
      CHECK(room.exists(ro + "/q"));
      ::unlink((ro + "/q").c_str());
    }
  }
}

TEST_CASE("B070 a refusal of the filter is observed") {
  for (As who : identities()) {
    Room room(who);
    for (const std::string& level : confining()) {
      const Outcome run = room.bwr(level, {"--report", "--json", "--ro", parentOf(probePath())},
                                   {probePath(), "userns"});
      INFO(name(who), " ", level, " ", run.err);
      CHECK(run.out == "refused EPERM\n");
      CHECK(linesAbout(objectOf(run), "flags 0x10000000") == Lines{"call - observed"});
      // Without a report the answer is the same.
      CHECK(room.bwr(level, {"--ro", parentOf(probePath())}, {probePath(), "userns"}).out ==
            run.out);
    }
    const std::string call[] = {"323", "0"}; // userfaultfd: closed at strict alone
    const Outcome run = room.bwr("strict", {"--report", "--json", "--ro", parentOf(probePath())},
                                 {probePath(), "call", call[0], call[1]});
    CHECK(linesAbout(objectOf(run), "`userfaultfd`") == Lines{"call --level standard observed"});
    const Outcome client = room.bwr(
        "standard", {"--report", "--json", "--network", "client", "--ro", parentOf(probePath())},
        {probePath(), "listen"});
    CHECK(linesAbout(objectOf(client), "127.0.0.1:0") == Lines{"bind --network open inferred"});
  }
}

TEST_CASE("B070 a failed run without evidence is not told that nothing was denied") {
  Room room(identities().back());
  for (const std::string& level : confining()) {
    const Outcome failed = room.bwrShell(level, {"--report", "--profile", "none"}, "exit 1");
    CHECK(failed.code == 1);
    CHECK(failed.err.find("it may still have been refused something") != std::string::npos);
    CHECK(failed.err.find("nothing was denied") == std::string::npos);
    CHECK(room.bwrShell(level, {}, "exit 1").err.empty()); // none when off
  }
  const Outcome basic = room.bwrShell("basic", {"--report"}, "exit 1");
  CHECK(basic.code == 1);
  CHECK(basic.err.find("level `basic` has no filter, so nothing was watched") != std::string::npos);
}

TEST_CASE("B070 every way for a run to end is the same under a report") {
  for (As who : identities()) {
    Room room(who);
    room.write("script", "echo from $0\n", 0755);
    for (const std::string& level : confining()) {
      const auto code = [&](const std::vector<std::string>& command) {
        return room.bwr(level, {"--report"}, command).code;
      };
      CHECK(code({"true"}) == 0);
      CHECK(code({"sh", "-c", "exit 42"}) == 42);
      CHECK(code({"sh", "-c", "kill -SEGV $$"}) == 139);
      CHECK(code({"/no/such"}) == 127);
      CHECK(code({"/etc"}) == 126);
      CHECK(code({"./script"}) == 0);
      // What stands still in a call when the run ends is killed like the rest.
      const Outcome left = room.bwrShell(level, {"--report"},
                                         "(while :; do cat /no/such 2>/dev/null; done) & exit 5");
      CHECK(left.code == 5);
      const Outcome threads = room.bwrShell(level, {"--report"},
                                            "for i in 1 2 3 4 5 6 7 8; do (for j in 1 2 3 4 5 6 7 "
                                            "8 9; do cat f$i; done) 2>/dev/null & "
                                            "done; wait; exit 6");
      CHECK(threads.code == 6);
    }
  }
}

TEST_CASE("B014 the report says why the root of a grant stays") {
  for (As who : identities()) {
    Room room(who);
    const std::string grant = room.top() + "/t";
    for (const std::string& level : confining()) {
      room.makeDirectory(grant + "/x");
      const Outcome run = room.bwr(level, {"--report", "--rw", grant}, {"rm", "-rf", grant});
      INFO(run.err);
      CHECK(run.code != 0);
      CHECK(room.exists(grant));
      CHECK(!room.exists(grant + "/x"));
      CHECK(run.err.find("`" + grant + "` is the root of a grant") != std::string::npos);
    }
  }
}

TEST_CASE("B070 a guard that was missing and is made is told once, and as no refusal") {
  for (As who : identities()) {
    const std::string script = "mkdir .vscode && echo x >.vscode/tasks.json && cat .vscode/*";
    for (const std::string& level : confining()) {
      Room room(who);
      const Outcome run = room.bwrShell(level, {"--report", "--json"}, script);
      INFO(name(who), " ", level, " ", run.err);
      CHECK(run.out == "x\n");
      for (const char* path : {"/.vscode", "/.vscode/tasks.json"})
        CHECK(linesAbout(objectOf(run), room.project() + path).empty());
      CHECK(run.err.find("the command made `" + room.project() + "/.vscode`") != std::string::npos);
      // The next run has it guarded, and says so.
      const Outcome next = room.bwrShell(level, {"--report", "--json"}, "echo y >.vscode/b");
      CHECK(next.code != 0);
      CHECK(linesAbout(objectOf(next), room.project() + "/.vscode/b").size() == 1);
    }
  }
}

TEST_CASE("B070 what somebody asked for is shown, with a flag that works and is no wider") {
  for (As who : identities()) {
    Room room(who);
    room.makeDirectory(room.home() + "/data");
    room.write(room.home() + "/data/f", "x");
    room.makeDirectory(room.home() + "/w");
    How how;
    how.directory = room.home() + "/w";
    for (const std::string& level : confining()) {
      const std::string data = room.home() + "/data", made = room.home() + "/made";
      const Outcome run =
          room.bwrShell(level, {"--report", "--json"}, "ls ~/data; echo x >~/made", how);
      INFO(name(who), " ", level, " ", run.err);
      const llvm::json::Object object = objectOf(run);
      const Lines seen = linesAbout(object, data);
      REQUIRE(seen.size() == 1);
      CHECK(llvm::StringRef(seen[0]).contains(" --ro " + data + " "));
      for (const llvm::json::Value& entry : *object.getObject("report")->getArray("denied")) {
        const llvm::json::Object& line = *entry.getAsObject();
        CHECK(line.getString("flag").value_or("") != "--rw " + room.home());
        if (line.getString("path").value_or("") == data)
          CHECK(line.getBoolean("harmless") == false);
        if (line.getString("path").value_or("") == made)
          CHECK(line.getString("advice").value_or("").contains("touch " + made));
      }
      room.write(made, "");
      const Outcome allowed =
          room.bwrShell(level, {"--ro", data, "--rw", made}, "ls ~/data; echo x >~/made", how);
      CHECK(allowed.out == "f\n");
      CHECK(room.read(made) == "x\n");
      ::unlink(made.c_str());
    }
  }
}

TEST_CASE("B070 a report inside a report is refused by name") {
  for (As who : identities()) {
    Room room(who);
    const std::vector<std::string> see = {"--report", "--ro", parentOf(bwrPath())};
    // Control: alone it works, and without the inner report too.
    CHECK(room.bwr("basic", {"--report"}, {"true"}).code == 0);
    CHECK(room.bwr("standard", see, {bwrPath(), "--level", "basic", "--", "true"}).code == 0);
    for (const char* flag : {"--report", "--learn"}) {
      std::vector<std::string> inner = {bwrPath(), "--level", "basic", flag};
      if (std::string(flag) == "--learn")
        inner.push_back("F.toml");
      inner.insert(inner.end(), {"--", "true"});
      const Outcome run = room.bwr("standard", see, inner);
      INFO(run.err);
      CHECK(run.code == 126);
      CHECK(run.err.find("a report inside a report") != std::string::npos);
    }
  }
}

TEST_CASE("B071 twenty thousand calls leave the supervisor as it was") {
  Room room(identities().back());
  if (!installed("perl")) {
    skip("B071", "perl is not installed");
    return;
  }
  room.write("f", "x");
  room.write(room.top() + "/outside", "x");
  // Opens COUNT times, also what is refused and names that are all different; then waits for `go`,
  // a pipe, in one call: who listens has nothing in its hands but what it keeps. What it had for
  // the last call it may be just letting go of, so the fewest descriptors of many looks count.
  room.write("opens.pl", "for my $i (1 .. $ARGV[0]) {\n"
                         "  open(my $f, '<', 'f') or die;\n  close $f;\n"
                         "  open(my $g, '<', '../outside') and die 'open';\n"
                         "  stat(\"../\" . ('n' x 200) . $i);\n"
                         "}\n"
                         "open(my $d, '>', 'done'); close $d;\n"
                         "open(my $w, '<', 'go');\n");
  room.write("watch.sh", "rm -f go done; mkfifo go\n" + bwrPath() +
                             " --level $1 --report -- perl opens.pl $2 2>err &\n"
                             "P=$!\n"
                             "while [ ! -e done ] && kill -0 $P; do sleep 0.05; done\n"
                             "for i in $(seq 20); do ls /proc/$P/fd | wc -l; sleep 0.02; done | "
                             "sort -n | head -n 1\n"
                             "awk '/^VmHWM/ { print $2 }' /proc/$P/status\n"
                             "kill -0 $P && : >go\nwait $P\necho $?\n");
  for (const std::string& level : confining()) {
    long descriptors[2], memory[2];
    int at = 0;
    for (const char* count : {"200", "20000"}) {
      const Outcome run = room.plain({"/bin/sh", "watch.sh", level, count});
      INFO(run.out, run.err, room.read("err"));
      long code = -1;
      REQUIRE(std::sscanf(run.out.c_str(), "%ld %ld %ld", &descriptors[at], &memory[at], &code) ==
              3);
      CHECK(code == 0);
      ++at;
      CHECK(room.read("err").find(std::string(count) + " times, by perl") != std::string::npos);
    }
    CHECK(descriptors[0] == descriptors[1]);
    // Names that were judged are remembered up to a bound.
#ifdef GOS_SANITIZED // whose allocator keeps what is freed
    const long bound = 1024 * 1024;
#else
    const long bound = 16 * 1024;
#endif
    CHECK(memory[1] - memory[0] < bound);
  }
}

TEST_CASE("B072 what a build used is a profile with which it passes") {
  if (!installed("make") || !installed("cc")) {
    skip("B072", "make or a C compiler is not installed");
    return;
  }
  for (As who : identities()) {
    Room room(who);
    room.makeDirectory(room.top() + "/inc");
    room.makeDirectory(room.top() + "/out");
    room.makeDirectory(room.home() + "/.ssh");
    room.write(room.home() + "/.ssh/id", "token-b072");
    room.write(room.top() + "/inc/a.h", "#define A 7\n");
    room.write("m.c", "#include <stdio.h>\n#include \"a.h\"\nint main(void) { return A - 7; }\n");
    room.write("Makefile", "all:\n\t-@cat " + room.home() +
                               "/.ssh/id\n\tcc -I ../inc m.c -o ../out/m\n"
                               "\tcc -c -I ../inc m.c -o m.o\n\t../out/m\n");
    const std::string file = room.top() + "/learned.toml";
    // Control: without the two grants it fails.
    CHECK(room.bwr("standard", {}, {"make"}).code != 0);
    const Outcome run = room.bwr(
        "standard", {"--learn", file, "--ro", room.top() + "/inc", "--rw", room.top() + "/out"},
        {"make"});
    INFO(run.out, run.err);
    CHECK(run.code == 0);
    const std::string text = room.read(file);
    INFO(text);
    CHECK(text.find(room.top() + "/inc/a.h") != std::string::npos);
    CHECK(text.find("\"" + room.top() + "/out") != std::string::npos);
    CHECK(text.find("project = \"read-write\"") != std::string::npos);
    for (const char* never :
         {"\"/tmp", "\"/var/tmp\"", "bwr-run", ".ssh", "\"/\"", "\"/usr", "token"})
      CHECK_MESSAGE(text.find(never) == std::string::npos, never);
    // Only what the profile grants, at the stricter level.
    room.makeDirectory(room.home() + "/.config/bwr/profiles");
    room.write(room.home() + "/.config/bwr/profiles/learned.toml", text);
    ::unlink((room.top() + "/out/m").c_str());
    const Outcome again = room.bwr("strict", {"--profile", "learned"}, {"make"});
    INFO(again.out, again.err);
    CHECK(again.code == 0);
    CHECK(room.exists(room.top() + "/out/m"));
  }
}

TEST_CASE("B072 a file that exists is not overwritten, and nothing is run") {
  Room room(identities().back());
  room.write("F.toml", "mine");
  room.link("nowhere", "L.toml");
  for (const char* file : {"F.toml", "L.toml", "no/such/F.toml", "."}) {
    const Outcome run = room.bwr("standard", {"--learn", file}, {"touch", "ran"});
    CHECK(run.code == 126);
    CHECK(run.err.find("--learn") != std::string::npos);
  }
  CHECK(room.bwr("basic", {"--learn", "G.toml"}, {"touch", "ran"}).code == 126);
  CHECK(!room.exists("ran"));
  CHECK(room.read("F.toml") == "mine");
  // Made by the run: the code stays the command's, and the file what it was.
  const Outcome run =
      room.bwrShell("standard", {"--learn", "H.toml"}, "echo theirs >H.toml; exit 4");
  CHECK(run.code == 4);
  CHECK(run.err.find("was made by the run") != std::string::npos);
  CHECK(room.read("H.toml") == "theirs\n");
}

TEST_CASE("T134 names forge no line, credentials are not learned, and nothing learned counts") {
  for (As who : identities()) {
    Room room(who);
    const std::vector<std::string> names = {"a\nbwr:   openat fine (read",
                                            "q\"uo'te",
                                            "es\x1b[2Jc",
                                            "r\rn",
                                            "b\xff\xfe",
                                            "x\xe2\x80\xaey",
                                            "#]\nread_write = [\"~\"]"};
    const std::string out = room.top() + "/out", in = room.top() + "/in";
    room.makeDirectory(out);
    room.makeDirectory(in);
    std::string script;
    for (size_t at = 0; at != names.size(); ++at) {
      room.write(out + "/" + names[at], "x");
      room.write(in + "/" + names[at], "x");
    }
    room.write("all.sh", "for f in " + out + "/* " + in + "/*; do cat \"$f\"; done\ncat " +
                             room.home() + "/.ssh/id; cat " + room.home() +
                             "/.aws/credentials\nexit 1\n");
    room.makeDirectory(room.home() + "/.ssh");
    room.makeDirectory(room.home() + "/.aws");
    room.write(room.home() + "/.ssh/id", "token-t134");
    room.write(room.home() + "/.aws/credentials", "token-t134");
    // Control.
    CHECK(room.shell("sh ./all.sh").out.find("token-t134token-t134") != std::string::npos);
    for (const std::string& level : confining()) {
      const std::string profile = room.home() + "/.config/bwr/profiles/mine.toml";
      room.makeDirectory(parentOf(profile));
      ::unlink(profile.c_str());
      const std::vector<std::string> reads = {
          "sh", "-c",
          "for f in \"$@\"; do cat \"$f\" 2>/dev/null; done; cat \"$HOME\"/.ssh/id "
          "\"$HOME\"/.aws/credentials 2>/dev/null; exit 1",
          "sh"};
      std::vector<std::string> command = reads;
      for (const std::string& each : names) {
        command.push_back(out + "/" + each);
        command.push_back(in + "/" + each);
      }
      const Outcome run =
          room.bwr(level, {"--report", "--json", "--learn", profile, "--ro", in}, command);
      INFO(name(who), " ", level, " ", run.err);
      CHECK(run.code == 1);
      CHECK(run.out == std::string(names.size(), 'x'));
      // Each line is ours, and no byte of a name acts.
      for (llvm::StringRef line : llvm::split(llvm::StringRef(run.err).rtrim('\n'), '\n'))
        CHECK_MESSAGE((line.empty() || line.starts_with("bwr: ") || line.starts_with("{")),
                      line.str());
      CHECK(run.err.find("\nbwr:   openat fine") == std::string::npos);
      const Outcome people = room.bwr(level, {"--report", "--ro", in}, command);
      CHECK(people.err.find("bwr:   openat " + out + "/a\\nbwr:   openat fine (read (read") !=
            std::string::npos);
      for (llvm::StringRef line : llvm::split(llvm::StringRef(people.err).rtrim('\n'), '\n'))
        CHECK_MESSAGE((line.starts_with("bwr: ") && !line.starts_with("bwr:   openat fine")),
                      line.str());
      for (char c : people.err)
        CHECK((uint8_t(c) >= 0x20 || c == '\n'));
      for (char c : run.err)
        CHECK((uint8_t(c) >= 0x20 || c == '\n'));
      CHECK(run.err.find("token") == std::string::npos);
      const llvm::json::Object object = objectOf(run);
      for (const std::string& each : names)
        if (each.find('\xff') == std::string::npos)
          CHECK(linesAbout(object, out + "/" + each).size() == 1);
      const Lines credentials = linesAbout(object, room.home() + "/.ssh/id");
      CHECK(credentials == Lines{"read - inferred"});
      // The profile holds no denied path and nothing that was only asked for.
      const std::string text = room.read(profile);
      INFO(text);
      REQUIRE(!text.empty());
      CHECK(text.find(".ssh") == std::string::npos);
      CHECK(text.find(".aws") == std::string::npos);
      for (llvm::StringRef line : llvm::split(llvm::StringRef(text), '\n'))
        if (!line.starts_with("#"))
          CHECK_MESSAGE(line.find(out) == llvm::StringRef::npos, line.str());
      // Not by the command's name, although it lies where profiles are looked for.
      CHECK(room.bwr(level, {}, command).out.empty());
      // By its own name it grants what was used, and no more.
      const Outcome used = room.bwr(level, {"--profile", "mine"}, command);
      INFO(used.err);
      CHECK(used.out == std::string(names.size(), 'x'));
    }
  }
}
