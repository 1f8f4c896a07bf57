// Programs that are asked to end: by Ctrl-C of their terminal, by a signal to them alone, twice, by
// force. What they started ends with them, hooks run, and the terminal is as it was.

#include "tests/stdsandbox/preload.h"
#include "tests/stdsandbox/started.h"

#include "llvm/ADT/StringExtras.h"

namespace gos::stdsandbox {
namespace {

constexpr char kBody[] = R"(
    let how = env::args()[0]
    let mark = env::args()[1]
    runtime::at_exit(|| println!("the hook ran"))
    eprintln!("ready")
    if how == "sandbox" { report(sandbox::run(tools(), #["sleep", mark]).is_ok()) }
    if how == "run" { report(process::run("sleep", #[mark]).is_ok()) }
    if how == "inherit" { report(process::run_inherit("sleep", #[mark]).is_ok()) }
    if how == "beneath" { report(process::run("sh", #["-c", format!("sleep {}; true", mark)]).is_ok()) }
    if how == "deaf" { report(process::run("sh", #["-c", format!("trap '' INT TERM HUP; sleep {}; true", mark)]).is_ok()) }
    if how == "saves" { report(process::run("sh", #["-c", format!("trap 'echo saved > saved; exit 0' INT TERM HUP; sleep {} & wait", mark)]).is_ok()) }
    if how == "modes" { report(process::run_inherit("sh", #["-c", format!("trap '' INT TERM; stty -echo -icanon; exec sleep {}", mark)]).is_ok()) }
    if how == "spawn" { process::spawn("sleep", #[mark]).unwrap(); time::sleep(100000000) }
    if how == "left" { process::spawn("sleep", #[mark]).unwrap() }
    if how == "piped" { report(process::spawn_piped("sleep", #[mark]).unwrap().read_line().is_none()) }
    if how == "goroutines" {
        cohort {
            spawn(|| report(process::run("sleep", #[mark]).is_ok()))
            spawn(|| report(sandbox::run(tools(), #["sleep", mark]).is_ok()))
        }.unwrap()
    }
    if how == "receive" {
        let tx, rx = sync::channel::<i64>()
        spawn(|| { time::sleep(100000000); tx.send(1) })
        report(rx.recv().is_none())
    }
    if how == "lookup" { report(net::lookup("nobody.test").is_err()) }
    if how == "loop" { loop { report_nothing() } }
    if how == "hook" {
        runtime::at_exit(|| { eprintln!("in the hook"); loop { report_nothing() } })
        time::sleep(100000000)
    }
    if how == "ignored" {
        while !fs::exists("go") { time::sleep(1) }
        println!("went on")
    }
}
fn report_nothing() {}
/// Nothing of a program goes on behind what it waited for.
fn report(good: bool) {
    println!("went on {}", good)
)";

/// Processes that sleep for so many seconds, and are no program that was asked to start them.
size_t sleepers(const std::string& mark) {
  return processesWith(std::string("sleep\0", 6) + mark);
}

/// There is one, and it is ended.
void endOnly(const std::string& mark) {
  REQUIRE(eventually([&] { return sleepers(mark) == 1; })); // who starts it need not wait for that
  const std::vector<int> found = processIdsWith(std::string("sleep\0", 6) + mark);
  REQUIRE(found.size() == 1);
  CHECK(::kill(found.front(), SIGKILL) == 0);
}

std::string uniqueMark() {
  static int count = 0;
  return std::to_string(3000000 + ::getpid()) + "." + std::to_string(1000 + ++count);
}

/// The program of this file, both ways.
class Endings : public BothWays {
public:
  Endings() : BothWays(kBody) {}
};

std::vector<std::string> with(std::vector<std::string> words, const std::string& how,
                              const std::string& mark) {
  words.push_back(how);
  words.push_back(mark);
  return words;
}

struct Asking {
  const char* name;
  bool onTerminal;
  int number;
  bool typed;
};
constexpr Asking kAskings[] = {{"Ctrl-C", true, SIGINT, true},
                               {"INT on a terminal", true, SIGINT, false},
                               {"TERM on a terminal", true, SIGTERM, false},
                               {"INT", false, SIGINT, false},
                               {"TERM", false, SIGTERM, false},
                               {"HUP", false, SIGHUP, false}};

void ask(Started& program, const Asking& asking) {
  if (asking.typed)
    program.type('\x03');
  else
    program.signal(asking.number);
}

TEST_CASE(
    "a program that is asked to end takes all with it, runs its hooks and dies of the signal") {
  Endings endings;
  const bool sandboxed = hostGives("standard");
  for (const std::vector<std::string>& way : endings.ways())
    for (const char* how : {"sandbox", "run", "inherit", "beneath", "spawn", "piped", "goroutines",
                            "receive", "loop"})
      for (const Asking& asking : kAskings) {
        const std::string kind = how;
        if (!sandboxed && (kind == "sandbox" || kind == "goroutines"))
          continue;
        CAPTURE(way.front());
        CAPTURE(how);
        CAPTURE(asking.name);
        const std::string mark = uniqueMark();
        Started program(endings.directory(), with(way, how, mark), asking.onTerminal);
        REQUIRE(program.says("ready"));
        const bool waits = kind == "receive" || kind == "loop";
        if (!waits) // the child, and not only whoever is about to start it
          REQUIRE(eventually([&] { return sleepers(mark) == (kind == "goroutines" ? 2 : 1); }));
        ask(program, asking);
        CHECK(program.endingSignal() == asking.number);
        // They ended before it did.
        CHECK(sleepers(mark) == 0);
        CHECK_MESSAGE(llvm::StringRef(program.out()).count("the hook ran") == 1, program.out());
        CHECK_MESSAGE(!llvm::StringRef(program.out()).contains("went on"), program.out());
        CHECK_MESSAGE(!llvm::StringRef(program.out()).contains("error"), program.out());
        if (asking.onTerminal)
          CHECK(program.modesAreKept());
      }
}

TEST_CASE("a child is given time to end, and is killed if it does not use it") {
  Endings endings;
  for (const std::vector<std::string>& way : endings.ways())
    for (const char* how : {"saves", "deaf"})
      for (const Asking& asking : {kAskings[0], kAskings[4]}) {
        CAPTURE(way.front());
        CAPTURE(how);
        CAPTURE(asking.name);
        const std::string mark = uniqueMark();
        Started program(endings.directory(), with(way, how, mark), asking.onTerminal);
        REQUIRE(eventually([&] { return sleepers(mark) == 1; }));
        ask(program, asking);
        CHECK(program.endingSignal() == asking.number);
        CHECK(sleepers(mark) == 0);
        CHECK(llvm::StringRef(program.out()).count("the hook ran") == 1);
        if (std::string(how) != "saves")
          continue;
        CHECK(endings.scene().tree().readAll("saved") == "saved\n");
        ::unlink(endings.scene().tree().in("saved").c_str());
      }
}

TEST_CASE(
    "a child that is killed in modes of its own leaves the terminal as the program found it") {
  Endings endings;
  for (const std::vector<std::string>& way : endings.ways())
    for (const Asking& asking : {kAskings[0], kAskings[1], kAskings[2]}) {
      CAPTURE(way.front());
      CAPTURE(asking.name);
      const std::string mark = uniqueMark();
      Started program(endings.directory(), with(way, "modes", mark), true);
      REQUIRE(eventually([&] { return sleepers(mark) == 1; }));
      REQUIRE(program.modesChanged());
      ask(program, asking);
      CHECK(program.endingSignal() == asking.number);
      CHECK(processesWith(mark) == 0);
      CHECK(program.modesAreKept());
    }
}

TEST_CASE("a second signal ends a program at once, but not one that came with the first") {
  Endings endings;
  for (const std::vector<std::string>& way : endings.ways()) {
    CAPTURE(way.front());
    {
      Started program(endings.directory(), with(way, "hook", "0"), false);
      REQUIRE(program.says("ready"));
      program.signal(SIGTERM);
      REQUIRE(program.says("in the hook")); // which never ends
      // How far apart two signals have to be is the program's affair: until it ends.
      int status = 0;
      for (int tries = 0; tries != 3000 && program.runsOn(status); ++tries)
        program.signal(SIGINT);
      CHECK(status == SIGTERM);
      CHECK(!llvm::StringRef(program.out()).contains("the hook ran"));
    }
    const std::string mark = uniqueMark();
    Started program(endings.directory(), with(way, "run", mark), false);
    REQUIRE(eventually([&] { return sleepers(mark) == 1; }));
    program.signal(SIGSTOP);
    program.signal(SIGTERM);
    program.signal(SIGHUP);
    program.signal(SIGCONT);
    const int ended = program.endingSignal();
    CHECK((ended == SIGTERM || ended == SIGHUP));
    CHECK(llvm::StringRef(program.out()).count("the hook ran") == 1);
    CHECK(processesWith(mark) == 0);
  }
}

TEST_CASE("a call that nothing can end ends with the program all the same") {
#ifdef GOS_SANITIZED
  MESSAGE("skipped: nothing is preloaded before the run-time part of a sanitizer");
  return;
#endif
  Endings endings;
  const tests::Preload silent(GOS_SILENT_NAMES);
  for (const std::vector<std::string>& way : endings.ways()) {
    CAPTURE(way.front());
    std::vector<std::string> words = {"env", "LD_PRELOAD=" + silent.path()};
    for (const std::string& word : with(way, "lookup", "0"))
      words.push_back(word);
    Started program(endings.directory(), words, false);
    REQUIRE(eventually([&] { return endings.scene().tree().exists("asked"); }));
    program.signal(SIGTERM);
    CHECK(program.endingSignal() == SIGTERM);
    CHECK(!llvm::StringRef(program.out()).contains("went on"));
    ::unlink(endings.scene().tree().in("asked").c_str());
  }
}

TEST_CASE("a program that is killed leaves no child that it waits for or talks to") {
  Endings endings;
  for (const std::vector<std::string>& way : endings.ways())
    for (const char* how : {"sandbox", "run", "inherit", "piped", "goroutines"}) {
      if (!hostGives("standard") && (how[0] == 's' || how[0] == 'g'))
        continue;
      CAPTURE(way.front());
      CAPTURE(how);
      const std::string mark = uniqueMark();
      Started program(endings.directory(), with(way, how, mark), false);
      REQUIRE(eventually([&] { return sleepers(mark) == (how[0] == 'g' ? 2 : 1); }));
      program.signal(SIGKILL);
      CHECK(program.endingSignal() == SIGKILL);
      CHECK(eventually([&] { return processesWith(mark) == 0; })); // the kernel ends them
    }
}

TEST_CASE("what is ignored stays ignored, what spawn started may stay, what came before stays") {
  Endings endings;
  for (const std::vector<std::string>& way : endings.ways()) {
    CAPTURE(way.front());
    {
      Started program(endings.directory(), with(way, "ignored", "0"), false, SIGHUP);
      REQUIRE(program.says("ready"));
      program.signal(SIGHUP);
      endings.scene().tree().write("go", "");
      CHECK(program.endingSignal() == 0);
      CHECK(llvm::StringRef(program.out()).contains("went on"));
      ::unlink(endings.scene().tree().in("go").c_str());
    }
    {
      const std::string mark = uniqueMark();
      Started program(endings.directory(), with(way, "left", mark), false);
      CHECK(program.endingSignal() == 0);
      endOnly(mark);
    }
    // A child by `exec`, of whoever was this process before.
    const std::string mark = uniqueMark();
    const std::string own = uniqueMark();
    std::vector<std::string> words = {"sh", "-c", "sleep " + mark + " & exec \"$@\"", "sh"};
    for (const std::string& word : with(way, "run", own))
      words.push_back(word);
    Started program(endings.directory(), words, false);
    REQUIRE(eventually([&] { return sleepers(own) == 1; }));
    program.signal(SIGTERM);
    CHECK(program.endingSignal() == SIGTERM);
    CHECK(sleepers(own) == 0);
    endOnly(mark);
  }
}

} // namespace
} // namespace gos::stdsandbox
