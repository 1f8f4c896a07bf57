// Programs that take signals themselves: what a signal does meanwhile, and what it does again
// afterwards.

#include "tests/stdsandbox/started.h"

namespace gos::stdsandbox {
namespace {

constexpr char kBody[] = R"(
    let how = env::args()[0]
    let number = env::args()[1].to_i64().unwrap()
    runtime::at_exit(|| println!("the hook ran"))
    if how == "takes" { takes(number) }
    if how == "beside" {
        let end = spawn(|| takes(number))
        let _ = end.join()
    }
    if how == "busy" {
        let n = signal::on(number)
        let took = sync::AtomicBool::new(false)
        spawn(|| { let _ = n.wait(); took.store(true) })
        eprintln!("ready")
        let mut sum = 0
        while !took.load() { for i in 0..1000 { sum = sum +% i } }
        println!("took it")
    }
    if how == "lost" {
        lose(number)
        eprintln!("ready")
        loop {}
    }
    if how == "child" || how == "captured" || how == "sandboxed" {
        let n = signal::on(number)
        eprintln!("ready")
        let script = "echo begun > begun; while ! test -e go; do sleep 0.01; done"
        let code = if how == "child" { process::run_inherit("sleep", #[env::args()[2]]).unwrap() }
            else if how == "captured" { process::run("sh", #["-c", script]).unwrap().code }
            else { sandbox::run(tools(), #["sh", "-c", script]).unwrap().code }
        println!("ended {}, took {}", code, n.wait())
    }
    if how == "ignored" {
        let n = signal::on(number)
        eprintln!("ready")
        let deaf = process::run("sh", #["-c", format!("kill -{} $$; echo lived", number)]).unwrap()
        println!("{} child {}", n.wait(), deaf.stdout.trim())
        n.stop()
        println!("stopped")
        while !fs::exists("go") { time::sleep(1) }
        println!("went on")
    }
    if how == "keys" {
        let stop = signal::on(signal::SIGTSTP)
        let goes = signal::on(signal::SIGCONT)
        eprintln!("ready")
        println!("took {}", stop.wait())
        stop.stop()
        println!("stopped")
        println!("goes on {}", goes.wait())
    }
    if how == "ends" {
        let n = signal::on(number)
        runtime::at_exit(|| { eprintln!("in the hook"); loop { if n.try_wait() { println!("went on") } } })
        eprintln!("ready")
        println!("went on {}", n.wait())
    }
}
fn takes(number: i64) {
    let n = signal::on(number)
    eprintln!("ready")
    for round in 1..=3 { println!("{} {}", n.wait(), round) }
    n.stop()
    println!("stopped")
    time::sleep(100000000)
}
fn lose(number: i64) {
    let n = signal::on(number)
    assert(process::signal(process::id(), number))
    println!("took {}", n.wait())
)";

std::vector<std::string> with(std::vector<std::string> words, const std::string& how, int number,
                              const std::string& more = "") {
  words.push_back(how);
  words.push_back(std::to_string(number));
  words.push_back(more);
  return words;
}

TEST_CASE("a signal that a program takes does nothing else, and again when it takes it no more") {
  BothWays program(kBody);
  for (const std::vector<std::string>& way : program.ways())
    for (const char* how : {"takes", "beside"})
      for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
        CAPTURE(way.front());
        CAPTURE(how);
        CAPTURE(number);
        const bool typed = number == SIGINT;
        Started started(program.directory(), with(way, how, number), typed);
        const auto send = [&] { typed ? started.type('\x03') : started.signal(number); };
        REQUIRE(started.says("ready"));
        for (const char* round : {"true 1", "true 2", "true 3"}) {
          send();
          REQUIRE_MESSAGE(started.says(round), started.out());
        }
        REQUIRE(started.says("stopped"));
        send();
        CHECK(started.endingSignal() == number);
        // SIGUSR1 has nothing to do with the end of a program but this.
        const size_t hooks = number == SIGUSR1 ? 0 : 1;
        CHECK_MESSAGE(llvm::StringRef(started.out()).count("the hook ran") == hooks, started.out());
      }
}

TEST_CASE("a program that computes takes a signal, and one that lost its notifier does not") {
  BothWays program(kBody);
  for (const std::vector<std::string>& way : program.ways())
    for (const int number : {SIGINT, SIGUSR1}) {
      CAPTURE(way.front());
      CAPTURE(number);
      Started busy(program.directory(), with(way, "busy", number), false);
      REQUIRE(busy.says("ready"));
      busy.signal(number);
      CHECK(busy.endingSignal() == 0);
      CHECK(llvm::StringRef(busy.out()).contains("took it"));
      Started lost(program.directory(), with(way, "lost", number), false);
      REQUIRE(lost.says("ready"));
      lost.signal(number);
      CHECK(lost.endingSignal() == number);
      CHECK(llvm::StringRef(lost.out()).contains("took true"));
    }
}

TEST_CASE("children have the signals of their own, and the program goes on behind them") {
  BothWays program(kBody);
  for (const std::vector<std::string>& way : program.ways()) {
    CAPTURE(way.front());
    const std::string mark = std::to_string(4000000 + ::getpid());
    Started typed(program.directory(), with(way, "child", SIGINT, mark), true);
    REQUIRE(eventually([&] { return processesWith(std::string("sleep\0", 6) + mark) == 1; }));
    typed.type('\x03'); // reaches both
    CHECK(typed.endingSignal() == 0);
    CHECK_MESSAGE(llvm::StringRef(typed.out()).contains("ended 130, took true"), typed.out());
    for (const char* how : {"captured", "sandboxed"}) {
      if (!hostGives("standard") && how[0] == 's')
        continue;
      CAPTURE(how);
      Started waits(program.directory(), with(way, how, SIGUSR1), false);
      REQUIRE(eventually([&] { return program.scene().tree().exists("begun"); }));
      for (int i = 0; i != 20; ++i)
        waits.signal(SIGUSR1);
      program.scene().tree().write("go", "");
      CHECK(waits.endingSignal() == 0);
      CHECK_MESSAGE(llvm::StringRef(waits.out()).contains("ended 0, took true"), waits.out());
      ::unlink(program.scene().tree().in("begun").c_str());
      ::unlink(program.scene().tree().in("go").c_str());
    }
  }
}

TEST_CASE("what was ignored is taken, is so for children, and is ignored again") {
  BothWays program(kBody);
  for (const std::vector<std::string>& way : program.ways()) {
    CAPTURE(way.front());
    Started started(program.directory(), with(way, "ignored", SIGHUP), false, SIGHUP);
    REQUIRE(started.says("ready"));
    started.signal(SIGHUP);
    REQUIRE_MESSAGE(started.says("true child lived"), started.out());
    REQUIRE(started.says("stopped"));
    started.signal(SIGHUP);
    program.scene().tree().write("go", "");
    CHECK(started.endingSignal() == 0);
    CHECK(llvm::StringRef(started.out()).contains("went on"));
    ::unlink(program.scene().tree().in("go").c_str());
  }
}

TEST_CASE("Ctrl-Z is taken, and stops the program when it is not") {
  BothWays program(kBody);
  for (const std::vector<std::string>& way : program.ways()) {
    CAPTURE(way.front());
    Started started(program.directory(), with(way, "keys", SIGTSTP), false);
    REQUIRE(started.says("ready"));
    started.signal(SIGTSTP);
    REQUIRE_MESSAGE(started.says("took true"), started.out());
    REQUIRE(started.says("stopped"));
    // Alone in its session the kernel would not stop it: its group has nobody who could go on with
    // it.
    started.signal(SIGSTOP);
    REQUIRE(started.stops());
    started.signal(SIGCONT);
    CHECK(started.endingSignal() == 0);
    CHECK(llvm::StringRef(started.out()).contains("goes on true"));
  }
}

TEST_CASE("a program that is ended by one signal takes no other one any more") {
  BothWays program(kBody);
  for (const std::vector<std::string>& way : program.ways()) {
    CAPTURE(way.front());
    Started started(program.directory(), with(way, "ends", SIGINT), false);
    REQUIRE(started.says("ready"));
    started.signal(SIGTERM);
    REQUIRE(started.says("in the hook"));
    int status = 0;
    for (int tries = 0; tries != 3000 && started.runsOn(status); ++tries)
      started.signal(SIGINT);
    CHECK(status == SIGTERM);
    CHECK_MESSAGE(!llvm::StringRef(started.out()).contains("went on"), started.out());
  }
}

} // namespace
} // namespace gos::stdsandbox
