// Runs of programs: what comes back, what goes on meanwhile, what is left.

#include "tests/stdsandbox/preload.h"
#include "tests/stdsandbox/support.h"
#include "tests/support/leftovers.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

#include <tuple>
#include <unistd.h>

namespace gos::stdsandbox {
namespace {

bool contains(const std::string& text, llvm::StringRef part) {
  return llvm::StringRef(text).contains(part);
}

TEST_CASE("T137 exit codes are the command's, and our failures are errors") {
  if (!hostGives("standard"))
    return;
  Scene scene;
  scene.tree().write("text.txt", "no program\n");
  scene.program(R"(
    for code in #[0, 1, 2, 64, 101, 126, 127, 255] {
        show("exit", sandbox::run(tools(), #["sh", "-c", format!("exit {}", code)]))
    }
    show("signal", sandbox::run(tools(), #["sh", "-c", "kill -TERM $$"]))
    show("missing", sandbox::run(tools(), #["no-such-command"]))
    show("not executable", sandbox::run(tools(), #["./text.txt"]))
    show("nothing", sandbox::run(tools(), #[]))
    show("no name", sandbox::run(tools(), #[""]))
    show("a zero byte", sandbox::run(tools(), #["true", "a\0b"]))
    show("no directory", sandbox::run(sandbox::Policy::new().read_only("/usr").env_allow("PATH"), #["true"]))
)");
  const Outcome outcome = scene.runBoth();
  CHECK(llvm::StringRef(outcome.out)
            .starts_with(
                "exit: 0 [] []\nexit: 1 [] []\nexit: 2 [] []\nexit: 64 [] []\nexit: 101 [] []\n"
                "exit: 126 [] []\nexit: 127 [] []\nexit: 255 [] []\nsignal: 143 [] []\n"
                "missing: error: `no-such-command`: command not found on PATH"));
  CHECK(contains(outcome.out, "\nnot executable: error: "));
  CHECK(contains(outcome.out,
                 "\nnothing: error: cannot run a command without a name\n"
                 "no name: error: cannot run a command without a name\n"
                 "a zero byte: error: cannot run `true`: an argument holds a NUL byte\n"
                 "no directory: error: "));
}

TEST_CASE("T139 output is whole, or the error says why not") {
  if (!hostGives("standard"))
    return;
  Scene scene;
  scene.program(R"(
    let big = sandbox::run(tools(), #["sh", "-c", "head -c 20000000 /dev/zero | tr '\\0' x; echo error >&2"]).unwrap()
    println!("{} {} {}", big.stdout.len(), big.stdout.contains("y"), big.stderr.trim())
    show("flood", sandbox::run(tools().capture_limit(100000), #["sh", "-c", "while :; do echo spam; done"]))
    show("flood of errors", sandbox::run(tools().capture_limit(100000), #["sh", "-c", "while :; do echo spam >&2; done"]))
    let whole = sandbox::run(tools(), #["head", "-c", "67108864", "/dev/zero"])
    println!("{}", whole.map(|out| out.stdout.len()).unwrap_or(-1))
    show("beyond the usual limit", sandbox::run(tools(), #["head", "-c", "67108865", "/dev/zero"]))
    show("at the limit", sandbox::run(tools().capture_limit(5), #["printf", "12345"]))
    show("beyond it", sandbox::run(tools().capture_limit(4), #["printf", "12345"]))
    show("bytes", sandbox::run(tools(), #["printf", "a\\377b"]))
    let bytes = sandbox::run_bytes(tools(), #["sh", "-c", "printf 'a\\377b'; printf '\\376' >&2; exit 4"]).unwrap()
    println!("{:?} {:?} {}", bytes.stdout, bytes.stderr, bytes.code)
    show("afterwards", sandbox::run(tools(), #["sh", "-c", "(sleep 1000; echo late) & echo soon"]))
    show("zero bytes", sandbox::run(tools(), #["printf", "a\\0b"]).map(|out| sandbox::Output { stdout: format!("{}", out.stdout.len()), ..out }))
)");
  const Outcome outcome = scene.runBoth();
  CHECK(outcome.out ==
        "20000000 false error\n"
        "flood: error: the output is larger than the limit of 100000 bytes\n"
        "flood of errors: error: the output is larger than the limit of 100000 bytes\n"
        "67108864\n"
        "beyond the usual limit: error: the output is larger than the limit of 67108864 bytes\n"
        "at the limit: 0 [12345] []\n"
        "beyond it: error: the output is larger than the limit of 4 bytes\n"
        "bytes: error: the standard output of `printf` is not UTF-8; `sandbox::run_bytes` answers "
        "it as it is\n"
        "#[97, 255, 98] #[254] 4\nafterwards: 0 [soon] []\nzero bytes: 0 [3] []\n");
}

TEST_CASE("standard input is empty unless a text is given") {
  if (!hostGives("standard"))
    return;
  Scene scene;
  scene.input = "the program's own\n";
  scene.program(R"(
    show("none", sandbox::run(tools(), #["cat"]))
    show("text", sandbox::run(tools().stdin("given"), #["cat"]))
    show("by its name", sandbox::run(tools().stdin("given"), #["cat", "/dev/stdin"]))
    show("empty", sandbox::run(tools().stdin(""), #["cat"]))
    println!("{}", sandbox::run(tools().stdin("0123456789".repeat(300000)), #["wc", "-c"]).unwrap().stdout.trim())
    show("unread", sandbox::run(tools().stdin("0123456789".repeat(300000)), #["true"]))
)");
  const Outcome outcome = scene.runBoth();
  CHECK(outcome.out == "none: 0 [] []\ntext: 0 [given] []\nby its name: 0 [given] []\nempty: 0 [] "
                       "[]\n3000000\nunread: 0 [] []\n");
}

TEST_CASE("T136 run_inherit uses the program's own streams, in order, and no directory for one") {
  if (!hostGives("standard"))
    return;
  Scene scene;
  scene.input = "from outside\n";
  scene.program(R"(
    print!("before ")
    println!("{:?}", sandbox::run_inherit(tools(), #["sh", "-c", "cat; echo problem >&2; exit 7"]))
    println!("after")
    println!("{:?}", sandbox::run_inherit(tools().stdin("text"), #["cat"]))
    println!("{:?}", sandbox::run_inherit(tools(), #["no-such-command"]).is_err())
)");
  const Outcome outcome = scene.runBoth();
  CHECK(outcome.out == "before from outside\nOk(7)\nafter\ntextOk(0)\ntrue\n");
  CHECK(outcome.err == "problem\n");
  Launch shell;
  shell.program = "/bin/sh";
  shell.directory = scene.tree().root();
  shell.environment = scene.environment;
  shell.arguments = {"-c", "exec \"$0\" run main.gos < /", GOS_PROGRAM};
  CHECK(contains(threats::launch(shell).out, "Err(standard input is a directory"));
}

TEST_CASE("ten sandboxed sleeps hold up a goroutine that ticks as little as ten plain ones") {
  if (!hostGives("standard"))
    return;
  Scene scene;
  // Each sleeps until the ticker says so, which it does when all ten sleep and it has ticked on:
  // who held the thread for one of them would wait for ever.
  scene.program(R"(
    let script = "touch asleep.$1; until [ -e go ]; do sleep 0.01; done; rm asleep.$1"
    tick_beside(|n| process::run("sh", #["-c", script, "sh", n]).unwrap().code)
    tick_beside(|n| sandbox::run(tools(), #["sh", "-c", script, "sh", n]).unwrap().code)
}
fn tick_beside(sleeper: Fn(String) -> i64) {
    let good = sync::AtomicI64::new(0)
    cohort {
        for n in 0..10 {
            spawn(|| { if sleeper(f"{n}") == 0 { good.fetch_add(1) } })
        }
        spawn(|| {
            for n in 0..10 {
                while !fs::exists(f"asleep.{n}") { time::sleep(1) }
            }
            for tick in 0..100 { time::sleep(1) }
            println!("ticked on, ended: {}", good.load())
            fs::write("go", "").unwrap()
        })
    }.unwrap()
    println!("ended: {}", good.load())
    fs::remove_file("go").unwrap()
)");
  const Outcome outcome = scene.run();
  CHECK_MESSAGE(outcome.exitCode == 0, outcome.err);
  const std::string once = "ticked on, ended: 0\nended: 10\n";
  CHECK_MESSAGE(outcome.out == once + once, outcome.out << outcome.err);
}

TEST_CASE("more runs than the limit of open files allows at once wait for each other") {
  Scene scene;
  scene.program(R"(
    process::run("prlimit", #["--nofile=64:64", "--pid", process::id().to_string()]).unwrap()
    let failed = sync::Shared::new("")
    let run = |n: i64| {
        let outcome = if n % 3 == 0 { process::run("sleep", #["0.1"]).map(|out| out.code) }
            else if n % 3 == 1 { process::pipeline_run(#["sleep 0.1", "cat"]).map(|out| out.code) }
            else { process::run_inherit("sleep", #["0.1"]) }
        if let Err(e) = outcome { failed.set(f"{e}") }
    }
    cohort { for n in 0..60 { spawn(|| run(n)) } }.unwrap()
    println!("failed: [{}]", failed.get())
    // Who waits for a turn is told when nobody wants it any more.
    let ended = sync::AtomicI64::new(0)
    cohort {
        for n in 0..60 { spawn(|| { if process::run("sleep", #["1000"]).is_err() { ended.fetch_add(1) }; () }) }
        thread::yield_now()
        runtime::cohort_cancel()
    }.unwrap()
    println!("ended: {}", ended.load())
)");
  const Outcome outcome = scene.runBoth();
  CHECK_MESSAGE(outcome.exitCode == 0, outcome.err);
  CHECK(outcome.out == "failed: []\nended: 60\n");
}

TEST_CASE(
    "a name server that says nothing holds up one goroutine, which goes on when it is cancelled") {
#ifdef GOS_SANITIZED
  MESSAGE("skipped: nothing is preloaded before the run-time part of a sanitizer");
  return;
#endif
  Scene scene;
  const tests::Preload silent(GOS_SILENT_NAMES);
  scene.environment.push_back({"LD_PRELOAD", silent.path()});
  // The answer comes when the other goroutine has ticked on; then it never comes.
  scene.program(R"(
    let answered = sync::AtomicI64::new(0)
    cohort {
        spawn(|| {
            let found = net::lookup("nobody.test")
            answered.store(1)
            println!("{}", found.is_err())
        })
        spawn(|| {
            while !fs::exists("asked") { time::sleep(1) }
            for _ in 0..100 { time::sleep(1) }
            println!("ticked on, answered: {}", answered.load())
            fs::write("answer", "").unwrap()
        })
    }.unwrap()
    fs::remove_file("asked").unwrap()
    fs::remove_file("answer").unwrap()
    let ended = cohort {
        spawn(|| {
            match net::lookup("nobody.test") {
                Ok(_) => println!("found")
                Err(e) => println!("{}", e)
            }
        })
        spawn(|| {
            while !fs::exists("asked") { time::sleep(1) }
            panic!("the sibling fails")
        })
    }
    println!("{}", ended.is_err())
    fs::remove_file("asked").unwrap()
)");
  const Outcome outcome = scene.runBoth();
  CHECK_MESSAGE(outcome.exitCode == 0, outcome.err);
  CHECK(outcome.out == "ticked on, answered: 0\ntrue\ncancelled\ntrue\n");
}

TEST_CASE(
    "a thousand runs from a hundred goroutines leave no process, mount, temp, descriptor or memory") {
  if (!hostGives("strict"))
    return;
  Scene scene;
  scene.program(R"(
    round(1000) // by then every thread and arena has grown to what it needs
    let descriptors = fs::read_dir("/proc/self/fd").unwrap().len()
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap().lines().len()
    let memory = resident()
    let good = round(1000)
    let grown = resident() - memory
    println!("{} {} {}", good, fs::read_dir("/proc/self/fd").unwrap().len() - descriptors, fs::read_to_string("/proc/self/mountinfo").unwrap().lines().len() - mounts)
    let children = fs::read_dir("/proc/self/task").unwrap().map(|task| fs::read_to_string(format!("/proc/self/task/{}/children", task.name)).unwrap_or("").trim()).join("")
    println!("[{}]", children)
    eprintln!("{}", grown)
}
/// KiB
fn resident() -> i64 {
    for line in fs::read_to_string("/proc/self/status").unwrap().lines() {
        if line.starts_with("VmRSS:") { return line.split_whitespace()[1].to_i64().unwrap() }
    }
    -1
}
fn round(runs: i64) -> i64 {
    let policy = sandbox::Policy::new().read_only("/usr").working_directory("/").env_allow("PATH").level("strict")
    let good = sync::AtomicI64::new(0)
    cohort {
        for worker in 0..100 {
            spawn(|| {
                for n in 0..(runs / 100) {
                    match sandbox::run(policy.stdin(format!("{} {}", worker, n)), #["cat"]) {
                        Ok(out) => { if out.code == 0 && out.stdout == format!("{} {}", worker, n) { good.fetch_add(1) } }
                        Err(e) => println!("{}", e)
                    }
                }
            })
        }
    }.unwrap()
    good.load()
)");
  // Others may run here, and be killed.
  const tests::Leftovers left;
  scene.eachWay([&](const Outcome& outcome) {
    CHECK_MESSAGE(outcome.exitCode == 0, outcome.err);
    CHECK(outcome.out == "1000 0 0\n[]\n");
    CHECK(outcome.groupGone);
    CHECK(left.allGo());
    long grown = 0;
    REQUIRE_MESSAGE(!llvm::StringRef(outcome.err).trim().getAsInteger(10, grown), outcome.err);
#ifndef GOS_SANITIZED
    CHECK(grown < 1000); // KiB: one a run
#endif
  });
}

TEST_CASE("T138 cancellation in the middle of a child leaves nothing of it") {
  if (!hostGives("standard"))
    return;
  Scene scene;
  // The child says by a file that it runs; then a sibling fails, which cancels the cohort.
  scene.program(R"(
    let marker = env::args()[0]
    let wait = format!("touch started; (sleep 100000 {}) & sleep 100000 {}", "1", "2").replace("100000", format!("100000.{}", marker))
    let handles = sync::Shared::new("")
    let outcome = cohort {
        spawn(|| {
            match sandbox::run(tools(), #["sh", "-c", wait]) {
                Ok(out) => handles.set(format!("ended {}", out.code))
                Err(e) => handles.set(format!("{}", e))
            }
        })
        spawn(|| {
            while !fs::exists("started") { time::sleep(1) }
            let none: Vec<i64> = #[]
            println!("{}", none[3])
        })
    }
    println!("{}", outcome.is_err())
    println!("{}", handles.get())
    fs::remove_file("started").unwrap()

    // The same by a context of its own, again and again.
    for n in 0..5 {
        let late = sync::with_timeout(|| sandbox::run(tools(), #["sh", "-c", wait]), 20)
        println!("{}", late.is_err())
    }
    println!("{}", sandbox::run(tools(), #["true"]).unwrap().code)
)");
  const std::string marker = std::to_string(::getpid()) + "77";
  const Outcome outcome = scene.run({marker});
  CHECK_MESSAGE(outcome.exitCode == 0, outcome.err);
  CHECK(outcome.out == "true\nthe run was cancelled\ntrue\ntrue\ntrue\ntrue\ntrue\n0\n");
  CHECK(processesWith("100000." + marker) == 0);
}

TEST_CASE("T138 nothing is left of a run whose program ends, panics or is killed") {
  if (!hostGives("standard"))
    return;
  Scene scene;
  scene.program(R"(
    let marker = env::args()[0]
    let how = env::args()[1]
    let handle = spawn(|| sandbox::run(tools(), #["sh", "-c", format!("touch started; sleep 100000.{} & sleep 100000.{}", marker, marker)]))
    while !fs::exists("started") { time::sleep(1) }
    fs::remove_file("started").unwrap()
    if how == "exit" { process::exit(3) }
    if how == "panic" { panic!("gone") }
    let _ = process::run("kill", #["-KILL", format!("{}", process::id())])
    println!("{:?}", handle.join().is_ok())
)");
  const std::string marker = std::to_string(::getpid()) + "88";
  for (const auto& [how, code, signal] :
       {std::tuple("exit", 3, 0), std::tuple("panic", 101, 0), std::tuple("kill", -1, 9)}) {
    CAPTURE(how);
    const Outcome outcome = scene.run({marker, how});
    CHECK(outcome.exitCode == code);
    CHECK(outcome.signal == signal);
    // The kernel ends them; there is nothing to wait for but that.
    CHECK(tests::eventually([&] { return processesWith("100000." + marker) == 0; }));
  }
}

TEST_CASE("the working directory and the environment of a run are the program's") {
  if (!hostGives("standard"))
    return;
  Scene scene;
  scene.tree().write("sub/file", "here\n");
  scene.program(R"(
    env::set_var("ADDED", "1")
    env::set_current_dir("sub").unwrap()
    show("sub", sandbox::run(tools().env_allow("ADDED"), #["sh", "-c", "cat file; echo $ADDED; ls"]))
    println!("{}", tools().access("file"))
)");
  const Outcome outcome = scene.runBoth();
  CHECK(outcome.out == "sub: 0 [here\n1\nfile] []\nread-write\n");
}

} // namespace
} // namespace gos::stdsandbox
