// Section 3 of the catalogue: environment, identity, streams, and every name of an act.

#include "tests/threats/support.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <set>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::threats {
namespace {

using llvm::StringRef;

TEST_CASE("T028 a secret of the environment stays out of the binary") {
  Tree tree;
  Where where;
  where.environment = {{"AWS_SECRET_ACCESS_KEY", tree.token()}};
  const Act steal{.uses = {"env"},
                  .body = "env::var(\"AWS_SECRET_ACCESS_KEY\").unwrap_or(\"unset\")",
                  .call = "env::var",
                  .klass = "environment read"};
  expectDeniedBelowFull(tree, steal, where);
  expectAllowed(tree, Level::Full, steal, tree.token(), where);
  where.options = {"--comptime-env", "AWS_SECRET_ACCESS_KEY"};
  expectDenied(tree, Level::None, steal, where);
  expectAllowed(tree, Level::Confined, steal, tree.token(), where);
  // The denial names the variable and the narrowest way, never the value.
  where.options = {"--comptime-env=OTHER"};
  Act named = steal;
  named.detail = "--comptime-env";
  expectDenied(tree, Level::Confined, named, where);
}

TEST_CASE("T029 the environment in bulk, by near names, and fresh each time") {
  Tree tree;
  Where where;
  where.environment = {{"SECRET", tree.token()}, {"SECRET2", tree.token()}, {"EMPTY", ""}};
  where.options = {"--comptime-env=SECRET", "--comptime-env=EMPTY", "--comptime-env=UNSET"};
  const Act bulk{.uses = {"env"},
                 .body = "env::vars().get(\"SECRET2\").unwrap_or(\"none\")",
                 .call = "env::vars",
                 .klass = "environment read"};
  expectDeniedBelowFull(tree, bulk, where);
  expectAllowed(tree, Level::Full, bulk, tree.token(), where);
  for (StringRef name : {"Secret", "SECRET=", "SECRET\\0", "SECRET2", " SECRET", "SECRET ", ""})
    expectDenied(tree, Level::Confined,
                 {.uses = {"env"},
                  .body = ("env::var(\"" + name + "\").unwrap_or(\"unset\")").str(),
                  .call = "env::var",
                  .klass = "environment read"},
                 where);
  // Unset and empty differ.
  const Act presence{.uses = {"env"},
                     .body =
                         "f\"{env::var(\"EMPTY\").is_some()} {env::var(\"UNSET\").is_some()}\""};
  expectAllowed(tree, Level::Confined, presence, "true false", where);
  // What changed is seen.
  const Act value{.uses = {"env"}, .body = "env::var(\"SECRET\").unwrap_or(\"unset\")"};
  where.environment = {{"SECRET", "one"}};
  expectAllowed(tree, Level::Confined, value, "one", where);
  where.environment = {{"SECRET", "two"}};
  expectAllowed(tree, Level::Confined, value, "two", where);
  // Names on the command line are names, and no manifest permits one.
  tree.write("main.gos", program(value));
  for (const char* wrong : {"*", "A=B", "", "SECRET*", "A,B", "A B"})
    expectUsageError(tree, {"check", "--comptime-env", wrong, "main.gos"}, "--comptime-env");
  tree.write(
      "project.toml",
      "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\ncomptime-env = [\"SECRET\"]\n");
  tree.write("src/main.gos", "fn main() {}\n");
  Where project;
  project.operand = ".";
  expectProgramError(tree, Level::Confined, "GJ0001", "comptime-env", project);
}

TEST_CASE("T030 changing the environment is denied, and ends with the region at full") {
  Tree tree;
  Where where;
  where.environment = {{"RUSTC", "before"}};
  for (StringRef call : {"env::set_var(\"RUSTC\", \"/tmp/x\")", "env::unset_var(\"RUSTC\")"})
    expectDeniedBelowFull(tree,
                          {.uses = {"env"},
                           .body = (call + "\n    \"changed\"").str(),
                           .call = call.split('(').first.str(),
                           .klass = "environment mutation"},
                          where);
  tree.write(
      "main.gos",
      "use std::env\n\n"
      "const CHANGED: String = comptime {\n    env::set_var(\"RUSTC\", \"after\")\n"
      "    env::var(\"RUSTC\").unwrap_or(\"unset\")\n}\n"
      "const LATER: String = comptime { env::var(\"RUSTC\").unwrap_or(\"unset\") }\n\n"
      "fn main() { println!(\"{} {} {}\", CHANGED, LATER, env::var(\"RUSTC\").unwrap_or(\"unset\")) }\n");
  expectProgramAllowed(tree, Level::Full, "after before before", where);
}

TEST_CASE("T031 nothing in a region tells who and where the host is") {
  Tree tree;
  struct Identity {
    const char* use;
    const char* call;
    const char* body;
    const char* klass = "host identity";
  };
  constexpr Identity kIdentities[] = {
      {"env", "env::args", "env::args().len().to_string()"},
      {"env", "env::program_name", "env::program_name()"},
      {"env", "env::current_dir", "env::current_dir().unwrap()"},
      {"env", "env::home_dir", "env::home_dir().unwrap_or(\"none\")"},
      {"env", "env::temp_dir", "env::temp_dir()"},
      {"os::user", "user::name", "user::name().unwrap_or(\"none\")"},
      {"os::user", "user::id", "user::id().to_string()"},
      {"os::user", "user::group_id", "user::group_id().to_string()"},
      {"os::user", "user::current", "user::current().unwrap().home"},
      {"os", "os::host_name", "os::host_name()"},
      {"thread", "thread::num_cpus", "thread::num_cpus().to_string()"},
      {"runtime", "runtime::root", "runtime::root()"},
      {"runtime", "runtime::scheduler_stats_json", "runtime::scheduler_stats_json()"},
      {"process", "process::id", "process::id().to_string()", "process execution"},
      {"sandbox", "sandbox::max_level", "sandbox::max_level()"},
      {"sandbox", "sandbox::platform", "sandbox::platform()"},
      {"sandbox", "sandbox::notes", "sandbox::notes().len().to_string()"},
      {"sandbox", "sandbox::capabilities_json", "sandbox::capabilities_json().len().to_string()"},
  };
  for (const Identity& identity : kIdentities) {
    const Act act{.uses = {identity.use},
                  .body = identity.body,
                  .call = identity.call,
                  .klass = identity.klass};
    expectDeniedBelowFull(tree, act);
    // The control: it works where it is allowed.
    tree.write("main.gos", program(act));
    const Outcome full = launch(command(tree, "run", Level::Full, {}));
    CHECK_MESSAGE(full.exitCode == 0, identity.call << ": " << full.err);
  }
}

TEST_CASE("T032 clock and randomness are denied, frozen or not") {
  Tree tree;
  struct Source {
    const char* use;
    const char* call;
    const char* body;
    const char* klass;
  };
  constexpr Source kSources[] = {
      {"time", "time::now", "time::now().to_string()", "clock"},
      {"time", "time::now_ms", "time::now_ms().to_string()", "clock"},
      {"time", "time::unix_ms", "time::unix_ms().to_string()", "clock"},
      {"time", "time::now_nanos", "time::now_nanos().to_string()", "clock"},
      {"time", "time::monotonic_ms", "time::monotonic_ms().to_string()", "clock"},
      {"time", "time::monotonic_nanos", "time::monotonic_nanos().to_string()", "clock"},
      {"time", "time::since_ms", "time::since_ms(0).to_string()", "clock"},
      {"time", "time::Instant::now", "time::Instant::now().elapsed_ms().to_string()", "clock"},
      {"time", "time::now_ms", "time::freeze(5)\n    time::now_ms().to_string()", "clock"},
      {"time", "time::now_ms",
       "time::freeze(5)\n    let _ = time::advance(7)\n    time::now_ms().to_string()", "clock"},
      {"math::rand", "rand::Rng::from_entropy",
       "let mut rng = rand::Rng::from_entropy()\n    rng.next_u64().to_string()", "randomness"},
      {"crypto::rand", "rand::bytes", "rand::bytes(8).len().to_string()", "randomness"},
  };
  for (const Source& source : kSources) {
    const Act act{
        .uses = {source.use}, .body = source.body, .call = source.call, .klass = source.klass};
    expectDeniedBelowFull(tree, act);
    tree.write("main.gos", program(act));
    const Outcome full = launch(command(tree, "run", Level::Full, {}));
    CHECK_MESSAGE(full.exitCode == 0, source.call << ": " << full.err);
  }
  // A generator with a seed is a function of it.
  const Act seeded{.uses = {"math::rand"},
                   .body =
                       "let mut rng = rand::Rng::new(42)\n    rng.range_u64(0, 1000).to_string()"};
  tree.write("main.gos", program(seeded));
  const Outcome once = launch(command(tree, "run", Level::None, {}));
  const Outcome again = launch(command(tree, "run", Level::None, {}));
  CHECK_MESSAGE(once.exitCode == 0, once.err);
  CHECK(once.out == again.out);
}

TEST_CASE("T033 a fold answers the same whatever the host looks like") {
  const std::string body =
      "let mut counts: Map<String, i64> = {}\n"
      "    for word in fs::read_to_string(\"words.txt\").unwrap().split_whitespace() { counts.inc(word) }\n"
      "    let mut letters: Set<String> = #{}\n"
      "    for word in counts.keys() { letters.insert(word.substring(0, 1)) }\n"
      "    let mut files: Vec<String> = #[]\n"
      "    for entry in fs::read_dir(\".\").unwrap() { files.push(entry.name) }\n"
      "    format!(\"{:?} {:?} {:?} {:.17}\", counts, letters.to_vec(), files, 0.1 + 0.2)";
  std::set<std::string> answers;
  const int rounds = fullRun() ? 100 : 20;
  for (int round = 0; round < rounds; ++round) {
    Tree tree;
    // Files made in another order, under another umask.
    const mode_t before = ::umask(round % 2 ? 0077 : 0022);
    for (int i = 0; i < 20; ++i)
      tree.write("f" + std::to_string((i * 7 + round) % 20), "x");
    tree.write("words.txt",
               "the quick brown fox jumps over the lazy dog the end \xc3\xa4pfel Zebra");
    tree.write("main.gos", program({.uses = {"fs"}, .body = body}));
    ::umask(before);
    Where where;
    where.environment = {{"TZ", round % 3 ? "Asia/Kathmandu" : "America/New_York"},
                         {"LANG", round % 2 ? "de_DE.UTF-8" : "C"},
                         {"LC_ALL", round % 2 ? "tr_TR.UTF-8" : "C"},
                         {"MALLOC_PERTURB_", std::to_string(round % 255)},
                         {"PADDING", std::string(size_t(round) * 37, 'x')}};
    where.directory = round % 2 ? tree.root() : "/";
    where.operand = tree.in("main.gos");
    const Outcome outcome = launch(command(tree, "run", Level::Confined, where));
    checkOutcome(outcome, tree);
    CHECK_MESSAGE(outcome.exitCode == 0, outcome.err);
    answers.insert(outcome.out);
  }
  CHECK_MESSAGE(answers.size() == 1, llvm::join(answers, "---\n"));
}

TEST_CASE("T034 standard input is never read for a region") {
  Tree tree;
  struct Stdin {
    const char* use;
    const char* call;
    const char* body;
  };
  constexpr Stdin kReads[] = {
      {"io", "read_to_string", "io::stdin().read_to_string()"},
      {"io", "read_line",
       "let mut line = \"\"\n    let _ = io::stdin().read_line(&mut line)\n    line"},
      {"io", "next", "let mut lines = io::stdin().lines()\n    lines.next().unwrap_or(\"none\")"},
      {"io", "io::ReadAll", "io::ReadAll(io::stdin()).unwrap()"},
  };
  for (const Stdin& read : kReads) {
    Act act{.uses = {read.use}, .body = read.body, .call = read.call, .klass = "standard input"};
    INFO("call: " << std::string(read.call));
    Where where;
    where.input = tree.token() + "\n";
    expectDeniedBelowFull(tree, act, where);
    // Nobody writes and nobody closes: a read would wait for ever.
    tree.write("main.gos", program(act));
    for (Level level : kBelowFull) {
      Launch waiting = command(tree, "check", level, {});
      waiting.inputStaysOpen = true;
      const Outcome outcome = launch(waiting);
      checkOutcome(outcome, tree);
      CHECK(outcome.exitCode == 1);
    }
    if (canTrace())
      for (const SystemCall& call : traced(command(tree, "check", Level::Confined, where)).calls)
        CHECK_MESSAGE(!StringRef(call.text).starts_with("read(0,"), call.text);
  }
  // The control.
  Where where;
  where.input = "typed";
  tree.write("main.gos", program({.uses = {"io"}, .body = "io::stdin().read_to_string()"}));
  const Outcome full = launch(command(tree, "run", Level::Full, where));
  CHECK_MESSAGE(full.exitCode == 0, full.err);
}

TEST_CASE("T035 prints of a region become an escaped, capped note and nothing else") {
  Tree tree;
  struct Print {
    const char* use;
    const char* call;
    const char* body;
  };
  constexpr Print kPrints[] = {
      {"", "println!", "println!(\"Content-Length: 9\\r\\n\\r\\n{{}}\")"},
      {"", "print!", "print!(\"marked\\u{1b}[31m\")"},
      {"", "eprintln!", "eprintln!(\"marked\")"},
      {"", "dbg!", "let _ = dbg!(41 + 1)"},
      {"io", "write_str", "io::stderr().write_str(\"marked\")"},
      {"io", "write_str", "io::stdout().write_str(\"marked\")"},
  };
  for (const Print& print : kPrints) {
    Act act{
        .body = std::string(print.body) + "\n    \"done\"", .call = print.call, .klass = "output"};
    if (*print.use)
      act.uses = {print.use};
    INFO("call: " << std::string(print.call));
    expectDenied(tree, Level::None, act);
    for (Level level : {Level::Confined, Level::Full}) {
      expectAllowed(tree, level, act, "done");
      const Outcome text = launch(command(tree, "check", level, {}));
      CHECK_MESSAGE(text.out.empty(), text.out);
      CHECK(!uncleanByte(text.err));
      CHECK_MESSAGE(StringRef(text.err).contains("printed"), text.err);
      Where json;
      json.options = {"--message-format=json"};
      const Outcome asJson = launch(command(tree, "check", level, json));
      CHECK(asJson.out.empty());
      CHECK(!uncleanByte(asJson.err));
      const auto diagnostics = parseDiagnostics(asJson.err);
      REQUIRE(diagnostics.size() == 1);
      CHECK(diagnostics[0].severity == "note");
    }
  }
  // A loop of prints is capped.
  tree.write(
      "main.gos",
      program(
          {.body =
               "for i in 0..200000 { println!(\"line {} of a great many lines\", i) }\n    \"done\""}));
  const Outcome flood = launch(command(tree, "check", Level::Confined, {}));
  checkOutcome(flood, tree);
  CHECK_MESSAGE(flood.exitCode == 0, StringRef(flood.err).take_front(1000).str());
  CHECK_MESSAGE(flood.err.size() < 256 * 1024, flood.err.size() << " bytes");
  CHECK(StringRef(flood.err).contains("more"));
}

TEST_CASE("T036 no name starts a program") {
  Tree tree;
  const std::string touch = "touch " + tree.in("ran");
  struct Start {
    const char* call;
    std::string body;
  };
  const Start starts[] = {
      {"process::run", "process::run(\"touch\", #[\"ran\"]).is_ok().to_string()"},
      {"process::run_in", "process::run_in(\"touch\", #[\"ran\"], \"/\", #[]).is_ok().to_string()"},
      {"process::run_inherit", "process::run_inherit(\"touch\", #[\"ran\"]).is_ok().to_string()"},
      {"process::spawn", "process::spawn(\"touch\", #[\"ran\"]).is_ok().to_string()"},
      {"process::spawn_piped", "process::spawn_piped(\"touch\", #[\"ran\"]).is_ok().to_string()"},
      {"process::pipeline_run", "process::pipeline_run(#[\"touch ran\"]).is_ok().to_string()"},
      {"process::kill", "process::kill(1).to_string()"},
      {"process::signal", "process::signal(1, 0).to_string()"},
      {"process::kill_group", "process::kill_group(1).to_string()"},
      {"process::wait_timeout", "process::wait_timeout(1, 1).to_string()"},
      {"process::exit", "process::exit(0)\n    \"never\""},
      {"process::abort", "process::abort()\n    \"never\""},
  };
  for (const Start& start : starts)
    expectDeniedBelowFull(tree, {.uses = {"process"},
                                 .body = start.body,
                                 .call = start.call,
                                 .klass = "process execution"});
  expectDeniedBelowFull(
      tree,
      {.uses = {"sandbox"},
       .body = "sandbox::run(sandbox::Policy::new(), #[\"touch\", \"ran\"]).is_ok().to_string()",
       .call = "sandbox::run",
       .klass = "process execution"});
  CHECK(!tree.exists("ran"));
  expectAllowed(tree, Level::Full,
                {.uses = {"process"},
                 .body = "process::run(\"echo\", #[\"started\"]).unwrap().stdout.trim()"},
                "started");
}

TEST_CASE("T037 no name reaches the network") {
  Tree tree;
  // A listener of ours, so that a connection would succeed.
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(listener, 8) == 0);
  socklen_t size = sizeof address;
  REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  const std::string here = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  struct Reach {
    const char* call;
    std::string body;
  };
  const Reach reaches[] = {
      {"net::lookup", "net::lookup(\"localhost\").is_ok().to_string()"},
      {"net::TcpListener::bind", "net::TcpListener::bind(\"127.0.0.1:0\").is_ok().to_string()"},
      {"net::TcpStream::connect", "net::TcpStream::connect(\"" + here + "\").is_ok().to_string()"},
  };
  for (const Reach& reach : reaches) {
    const Act act{
        .uses = {"net"}, .body = reach.body, .call = reach.call, .klass = "network access"};
    expectDeniedBelowFull(tree, act);
    expectAllowed(tree, Level::Full, act, "true");
  }
  ::close(listener);
}

TEST_CASE("T038 what a library opens is classed by what it does") {
  Tree tree;
  tree.write("in.txt", "one\ntwo\n");
  struct Library {
    const char* use;
    const char* call;
    const char* before;
    const char* after;
    const char* inside;
    const char* outside;
  };
  const Library kLibraries[] = {
      {"bufio", "bufio::read_lines", "bufio::read_lines(", ").unwrap().len().to_string()", "2",
       "1"},
      {"bufio", "bufio::read_lines_of", "bufio::read_lines_of(", ").unwrap().len().to_string()",
       "2", "1"},
      {"bufio", "bufio::read_to_string", "bufio::read_to_string(",
       ").unwrap().lines().len().to_string()", "2", "1"},
  };
  for (const Library& library : kLibraries) {
    auto act = [&](const std::string& path) {
      return Act{.uses = {library.use},
                 .body = library.before + ("\"" + path + "\"") + library.after,
                 .call = library.call};
    };
    expectReadAllowed(tree, act("in.txt"), library.inside);
    expectReadDenied(tree, act(tree.canary()), library.outside);
  }
}

TEST_CASE("T039 no name writes") {
  Tree tree;
  tree.write("old.txt", "old");
  tree.directory("dir");
  struct Write {
    const char* call;
    const char* body;
  };
  constexpr Write kWrites[] = {
      {"fs::write", "fs::write(\"new\", \"x\").unwrap()"},
      {"fs::write", "fs::write(\"old.txt\", \"x\").unwrap()"},
      {"fs::write_mode", "fs::write_mode(\"new\", \"x\", 493).unwrap()"},
      {"fs::create", "let _ = fs::create(\"new\").unwrap()"},
      {"fs::File::create", "let _ = fs::File::create(\"old.txt\").unwrap()"},
      {"fs::copy", "let _ = fs::copy(\"old.txt\", \"new\").unwrap()"},
      {"fs::rename", "fs::rename(\"old.txt\", \"new\").unwrap()"},
      {"fs::create_dir", "fs::create_dir(\"new\").unwrap()"},
      {"fs::create_dir_all", "fs::create_dir_all(\"new/deep\").unwrap()"},
      {"fs::create_dir_mode", "fs::create_dir_mode(\"new\", 448).unwrap()"},
      {"fs::create_dir_all_mode", "fs::create_dir_all_mode(\"new/deep\", 448).unwrap()"},
      {"fs::remove_file", "fs::remove_file(\"old.txt\").unwrap()"},
      {"fs::remove_dir", "fs::remove_dir(\"dir\").unwrap()"},
      {"fs::remove_dir_all", "fs::remove_dir_all(\"dir\").unwrap()"},
      {"fs::set_permissions", "fs::set_permissions(\"old.txt\", 511).unwrap()"},
      {"fs::sync_dir", "fs::sync_dir(\"dir\").unwrap()"},
      {"fs::temp_dir", "let _ = fs::temp_dir(\"gos\").unwrap()"},
      {"fs::temp_file", "let _ = fs::temp_file(\"gos\").unwrap()"},
      {"write_all",
       "let file = fs::open(\"old.txt\").unwrap()\n    file.write_all(\"x\").unwrap()"},
      {"set_len", "let file = fs::open(\"old.txt\").unwrap()\n    file.set_len(0).unwrap()"},
      {"try_lock_exclusive",
       "let file = fs::open(\"old.txt\").unwrap()\n    let _ = file.try_lock_exclusive().unwrap()"},
      {"try_lock_shared",
       "let file = fs::open(\"old.txt\").unwrap()\n    let _ = file.try_lock_shared().unwrap()"},
  };
  for (const Write& write : kWrites) {
    INFO("call: " << std::string(write.call));
    Act act{.uses = {"fs"},
            .body = std::string(write.body) + "\n    \"done\"",
            .call = write.call,
            .klass = "filesystem write"};
    expectDenied(tree, Level::Confined, act);
    if (StringRef(write.body).starts_with("let file"))
      act = {.uses = {"fs"},
             .body = act.body,
             .call = "fs::open"}; // at none the open before it is refused already
    expectDenied(tree, Level::None, act);
  }
  // Options to open with, in each combination.
  for (int bits = 0; bits < 64; ++bits) {
    if (!(fullRun() || bits % 7 == 1 || bits == 0))
      continue;
    std::string chain = "fs::OpenOptions::new()";
    const char* names[] = {"read", "write", "append", "truncate", "create", "create_new"};
    for (int bit = 0; bit < 6; ++bit)
      chain += std::string(".") + names[bit] + "(" + (bits & (1 << bit) ? "true" : "false") + ")";
    for (StringRef name : {"old.txt", "new"})
      expectDeniedBelowFull(tree,
                            {.uses = {"fs"},
                             .body = chain + (".open(\"" + name + "\").is_ok().to_string()").str(),
                             .call = "open",
                             .klass = "filesystem write"});
  }
  // A read makes nothing: no cache, no parent directory, no changed time.
  const std::string before = tree.snapshot();
  tree.write("main.gos",
             program({.uses = {"fs"}, .body = "fs::exists(\"no/such/dir/file\").to_string()"}));
  const std::string written = tree.snapshot();
  CHECK(launch(command(tree, "run", Level::Confined, {})).out == "false\n");
  CHECK(tree.snapshot() == written);
  // The control.
  expectAllowed(
      tree, Level::Full,
      {.uses = {"fs"},
       .body = "fs::write(\"new\", \"x\").unwrap()\n    fs::read_to_string(\"new\").unwrap()"},
      "x");
  CHECK(tree.readAll("new") == "x");
}

TEST_CASE("T040 foreign code is neither called nor loaded") {
  Tree tree;
  // The form is not built yet: it says so, and nothing else happens.
  tree.write(
      "main.gos",
      "unsafe extern \"C\" {\n    fn getenv(name: i64) -> i64\n}\n\n"
      "const ANSWER: i64 = comptime { unsafe { getenv(0) } }\n\nfn main() { println!(\"{}\", ANSWER) }\n");
  for (Level level : kAllLevels) {
    const std::string before = tree.snapshot();
    const Launch check = command(tree, "check", level, {});
    Outcome outcome;
    if (canTrace()) {
      const Traced run = traced(check);
      outcome = run.outcome;
      checkNoSideEffect(run.calls, tree);
    } else {
      outcome = launch(check);
    }
    checkOutcome(outcome, tree);
    CHECK_MESSAGE(outcome.exitCode == 1, outcome.err);
    CHECK(tree.snapshot() == before);
  }
  // The class is denied by every other name.
  for (const auto& [use, call, body] :
       {std::tuple<const char*, const char*, const char*>{"ffi", "ffi::last_errno",
                                                          "ffi::last_errno().to_string()"},
        {"term", "term::is_terminal", "term::is_terminal(0).to_string()"}}) {
    const Act act{.uses = {use}, .body = body, .call = call, .klass = "foreign function call"};
    expectDeniedBelowFull(tree, act);
    tree.write("main.gos", program(act));
    CHECK(launch(command(tree, "run", Level::Full, {})).exitCode == 0);
  }
  tree.write("in.txt", "inside");
  expectDenied(tree, Level::Confined,
               {.uses = {"fs"},
                .body = "let file = fs::open(\"in.txt\").unwrap()\n    file.fd().to_string()",
                .call = "fd",
                .klass = "foreign function call"});
}

TEST_CASE("T041 a forged handle reaches no descriptor of the tool") {
  Tree tree;
  tree.write("in.txt", "inside");
  for (StringRef handle :
       {"0", "1", "2", "3", "4", "9", "100", "-1", "9223372036854775807", "-9223372036854775808"}) {
    const std::string number = handle.str();
    for (const std::string& body :
         {"io::drain(" + number + ")", "io::contents(" + number + ")",
          "io::write(" + number + ", \"forged\").to_string()",
          "io::close_writer(" + number + ")\n    \"closed\"",
          "io::copy_n(" + number + ", " + number + ", 10).is_ok().to_string()",
          "io::drain(io::limit_reader(" + number + ", 10))",
          "io::drain(io::tee_reader(" + number + ", " + number + "))",
          "io::drain(io::multi_reader(#[" + number + "]))"})
      for (Level level : kAllLevels) {
        tree.write("main.gos", program({.uses = {"io"}, .body = body}));
        INFO("body: " << body);
        Where where;
        where.input = tree.token();
        const Launch check = command(tree, "check", level, where);
        const Outcome outcome = launch(check);
        checkOutcome(outcome, tree);
        CHECK_MESSAGE((outcome.exitCode == 0 || outcome.exitCode == 1), outcome.err);
        CHECK(!StringRef(outcome.out).contains("forged"));
        CHECK_MESSAGE(!StringRef(outcome.err).starts_with("forged"), outcome.err);
        if (outcome.exitCode == 0) {
          // Whatever it answered holds nothing of a stream.
          const Outcome run = launch(command(tree, "run", level, where));
          CHECK(!StringRef(run.out).contains(tree.token()));
        }
      }
  }
  // A handle of another kind, and one that is closed.
  for (
      StringRef body :
      {"let writer = io::buffer_writer()\n    io::drain(writer)",
       "let reader = io::string_reader(\"x\")\n    io::contents(reader)",
       "let writer = io::buffer_writer()\n    io::close_writer(writer)\n    let _ = io::write(writer, \"x\")\n"
       "    io::contents(writer)"}) {
    tree.write("main.gos", program({.uses = {"io"}, .body = body.str()}));
    const Outcome outcome = launch(command(tree, "check", Level::Confined, {}));
    checkOutcome(outcome, tree);
  }
  expectError(
      tree, Level::Confined,
      {.uses = {"fs"},
       .body =
           "let file = fs::open(\"in.txt\").unwrap()\n    file.close()\n    file.read_to_string().unwrap()"},
      "GC0003", "");
  // The control.
  expectAllowed(
      tree, Level::None,
      {.uses = {"io"}, .body = "io::drain(io::limit_reader(io::string_reader(\"abcdef\"), 3))"},
      "abc");
}

TEST_CASE("T042 a region waits for nothing") {
  Tree tree;
  expectDeniedBelowFull(tree, {.uses = {"time"},
                               .body = "time::sleep(3600000)\n    \"slept\"",
                               .call = "time::sleep",
                               .klass = "clock"});
  expectDeniedBelowFull(tree,
                        {.uses = {"time"},
                         .body = "time::sleep(time::Duration::from_secs(3600))\n    \"slept\"",
                         .call = "time::sleep",
                         .klass = "clock"});
  expectAllowed(tree, Level::Full, {.uses = {"time"}, .body = "time::sleep(1)\n    \"slept\""},
                "slept");
  // A pipe of the library that nobody fills does not hang.
  tree.write("main.gos", program({.uses = {"io"},
                                  .body = "let reader, _ = io::pipe()\n    io::drain(reader)"}));
  const Outcome outcome = launch(command(tree, "check", Level::None, {}));
  checkOutcome(outcome, tree);
}

} // namespace
} // namespace gos::threats
