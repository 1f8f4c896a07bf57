// Policies of programs: what they mean, and what they refuse.

#include "tests/stdsandbox/support.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <sys/stat.h>

namespace gos::stdsandbox {
namespace {

bool contains(const std::string& text, llvm::StringRef part) {
  return llvm::StringRef(text).contains(part);
}

TEST_CASE("a policy is a value, and says what it means here") {
  if (!hostGives("standard"))
    return;
  Scene scene;
  scene.tree().write("data/in.txt", "text");
  scene.program(R"(
    let base = sandbox::Policy::new()
    let more = base.read_write("data").read_only("/usr").env_allow("PATH").env_set("B", "1").env_set("B", "2")
    println!("{} {} {}", base.level_name(), base.network_name(), more.network_mode("client").network_name())
    println!("{:?} {:?}", base.read_write_grants(), base.read_only_grants())
    println!("{:?} {:?}", more.read_write_grants().map(|p| path_end(p)), more.read_only_grants().contains("/usr"))
    println!("{:?} {:?}", base.environment_names(), more.environment_names())
    println!("{} {} {} {}", more.access("data/in.txt"), more.access("/usr/bin"), more.access("/etc/shadow"), more.access("data/../main.gos"))
    println!("{}", more.deny("data/in.txt").access("data/in.txt"))
    println!("{}", more.denials().len() > 20)
    println!("{}", more.mechanisms().len() > 5)
    println!("{}", more.explain().contains("read-write") && more.explain().contains("nothing else"))
    println!("{}", more.to_json().starts_with("{\"schema\":1,"))
    println!("{:?} {:?}", base.working_directory("/").check().is_ok(), base.working_directory("data/in.txt").check())
    let shipped = sandbox::Policy::command_default("data")
    println!("{} {}", shipped.access("data/in.txt"), shipped.access("main.gos"))
    println!("{:?}", shipped.read_write_grants().map(|p| path_end(p)))
    println!("{}", sandbox::run(more.working_directory("data"), #["sh", "-c", "echo $B; pwd"]).unwrap().stdout.lines()[0])
}
fn path_end(path: String) -> String {
    path.rsplit_once("/").unwrap().1
)");
  const Outcome outcome = scene.runBoth();
  CHECK(outcome.exitCode == 0);
  CHECK(outcome.out == "standard none client\n#[] #[]\n#[\"data\"] true\n#[] #[\"B\", \"PATH\"]\n"
                       "read-write read-only deny deny\ndeny\ntrue\ntrue\ntrue\ntrue\n"
                       "true Err(working directory `data/in.txt` is not a directory)\nread-write "
                       "deny\n#[\"data\"]\n2\n");
}

/// The object that a line of JSON is.
llvm::json::Object objectOf(const std::string& text) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  REQUIRE_MESSAGE(bool(value), text);
  const llvm::json::Object* object = value->getAsObject();
  REQUIRE(object != nullptr);
  return *object;
}

std::vector<std::string> sortedTexts(const llvm::json::Array& array) {
  std::vector<std::string> texts;
  for (const llvm::json::Value& each : array)
    texts.push_back(llvm::formatv("{0}", each).str());
  llvm::sort(texts);
  return texts;
}

TEST_CASE("the shipped policy is the one of bwr, at each level and with each network") {
  for (const char* level : {"basic", "standard", "strict"}) {
    if (!hostGives(level))
      continue;
    for (const char* network : {"none", "client", "open"}) {
      CAPTURE(level);
      CAPTURE(network);
      Scene scene;
      const bool isBounded = std::string(level) != "basic"; // there is no network policy there
      if (!isBounded && std::string(network) != "none")
        continue;
      scene.environment.push_back({"TERM", "dumb"});
      scene.environment.push_back({"SECRET_TOKEN", "x"});
      const std::string mode =
          isBounded ? ".network_mode(\"" + std::string(network) + "\")" : std::string();
      scene.program("    println!(\"{}\", sandbox::Policy::command_default(\".\").level(\"" +
                    std::string(level) + "\")" + mode + ".to_json())\n");
      const Outcome outcome = scene.runBoth();
      Launch bwr;
      bwr.program = GOS_BWR;
      bwr.directory = scene.tree().root();
      bwr.environment = scene.environment;
      bwr.arguments = {"--profile", "none", "--level", level, "--explain", "--json"};
      if (isBounded)
        bwr.arguments.insert(bwr.arguments.end(), {"--network", network});
      const Outcome wanted = threats::launch(bwr);
      REQUIRE_MESSAGE(wanted.exitCode == 0, wanted.err);
      const llvm::json::Object ours = objectOf(outcome.out), theirs = objectOf(wanted.out);
      for (const char* part : {"level", "directory", "files_bounded", "view", "network",
                               "network_bounded", "temp", "environment", "mechanisms", "limits"}) {
        CAPTURE(part);
        REQUIRE(theirs.get(part) != nullptr);
        REQUIRE(ours.get(part) != nullptr);
        if (std::string(part) == "environment") // whose order says nothing
          CHECK(sortedTexts(*ours.getArray(part)) == sortedTexts(*theirs.getArray(part)));
        else
          CHECK(*ours.get(part) == *theirs.get(part));
      }
      CHECK(contains(wanted.out, "\"TERM\""));
      CHECK(!contains(wanted.out, "SECRET_TOKEN"));
    }
  }
}

TEST_CASE("the mechanisms of a policy are those that the report of this host has for the level") {
  Scene scene;
  scene.program(R"(
    for level in #["basic", "standard", "strict"] {
        println!("{}", tools().level(level).mechanisms().join("|"))
    }
    println!("{}", sandbox::capabilities_json())
)");
  const Outcome outcome = scene.runBoth();
  llvm::SmallVector<llvm::StringRef, 4> lines;
  llvm::StringRef(outcome.out).split(lines, '\n');
  REQUIRE(lines.size() >= 4);
  const llvm::json::Object report = objectOf(lines[3].str());
  unsigned compared = 0;
  for (size_t row = 0; row != 3; ++row) {
    const llvm::StringRef level = row == 0 ? "basic" : row == 1 ? "standard" : "strict";
    CAPTURE(level.str());
    if (!hostGives(level))
      continue;
    const llvm::json::Array* levels = report.getArray("levels");
    REQUIRE(levels != nullptr);
    const llvm::json::Array* reported = nullptr;
    for (const llvm::json::Value& each : *levels)
      if (each.getAsObject()->getString("level") == level)
        reported = each.getAsObject()->getArray("mechanisms");
    REQUIRE(reported != nullptr);
    for (const char* name : {"user namespace", "mount view", "network namespace", "ipc namespace",
                             "pid namespace", "uts namespace", "Landlock"}) {
      CAPTURE(name);
      llvm::SmallVector<llvm::StringRef, 16> own;
      lines[row].split(own, '|');
      const bool isUsed =
          llvm::any_of(own, [&](llvm::StringRef each) { return each.starts_with(name); });
      const bool isReported = llvm::any_of(*reported, [&](const llvm::json::Value& each) {
        return each.getAsString()->starts_with(name);
      });
      CHECK(isUsed == isReported);
      compared += isUsed;
    }
  }
  CHECK((compared > 0 || !hostGives("standard")));
}

TEST_CASE("an inherited temp is the caller's by name, and is there where a rule grants it") {
  for (const char* level : {"basic", "standard", "strict"}) {
    if (!hostGives(level))
      continue;
    CAPTURE(level);
    Scene scene;
    const std::string temp = scene.tree().outside() + "/temp";
    scene.tree().directory(temp);
    scene.environment.push_back({"TMPDIR", temp});
    scene.environment.push_back({"LEVEL", level});
    scene.program(R"(
    let temp = env::var("TMPDIR").unwrap()
    let base = tools().level(env::var("LEVEL").unwrap()).temp("inherit")
    for policy in #[base, base.read_write(temp)] {
        let out = sandbox::run(policy, #["sh", "-c", "echo \"$TMPDIR\"; echo x > \"$TMPDIR/made\""]).unwrap()
        println!("{} {} {}", out.stdout.trim() == temp, out.code == 0, fs::exists(temp + "/made"))
        println!("{}", policy.explain().contains("grants nothing: `" + temp + "`"))
        if fs::exists(temp + "/made") { fs::remove_file(temp + "/made").unwrap() }
    }
    println!("{}", tools().temp("private").explain().contains("grants nothing"))
)");
    const Outcome outcome = scene.runBoth();
    CHECK_MESSAGE(outcome.exitCode == 0, outcome.err);
    CHECK(outcome.out == (std::string(level) == "basic"
                              ? "true true true\nfalse\ntrue true true\nfalse\nfalse\n"
                              : "true false false\ntrue\ntrue true true\nfalse\nfalse\n"));
  }
}

TEST_CASE("T124 a grant in a program does not lift a denial") {
  if (!hostGives("standard"))
    return;
  Scene scene;
  scene.tree().link("link", scene.tree().home() + "/.ssh");
  scene.tree().directory("inner");
  scene.program(R"(
    let home = env::var("HOME").unwrap()
    for policy in #[
        tools().read_only(home + "/.ssh"),
        tools().read_write(home + "/.ssh/id_ed25519"),
        tools().read_only("link"),
        tools().read_only(home + "/x/../.ssh"),
        tools().read_only(home + "/.ssh/id_ed25519"),
        tools().read_only(home + "/.ssh/none")
    ] {
        let checked = policy.check()
        println!("{} {}", checked.is_err(), format!("{:?}", checked).contains(".ssh"))
        println!("{}", sandbox::run(policy, #["true"]).is_err())
    }
    println!("{}", sandbox::run(tools().working_directory(home + "/.ssh"), #["true"]).is_err())
    show("holes", sandbox::run(tools().read_only(home), #["sh", "-c", "ls {HOME}; cat {HOME}/.ssh/id_ed25519".replace("{HOME}", "'" + home + "'")]))
)");
  scene.tree().write(scene.tree().home() + "/plain.txt", "");
  const Outcome outcome = scene.runBoth();
  CHECK(outcome.exitCode == 0);
  CHECK(llvm::StringRef(outcome.out)
            .starts_with("true true\ntrue\ntrue true\ntrue\ntrue true\ntrue\n"));
  CHECK(!contains(outcome.out, "false"));
  CHECK(contains(outcome.out, "[plain.txt]"));
  CHECK(!contains(outcome.out, "SECRET"));
}

TEST_CASE("T125 T126 read-only parts and holes beneath what a program grants") {
  if (!hostGives("standard"))
    return;
  Scene scene;
  scene.tree().write("w/s/f", "old\n");
  scene.tree().write("w/k/f", "hidden\n");
  scene.tree().write("w/other", "open\n");
  scene.program(R"(
    let policy = sandbox::Policy::new().read_only("/usr").env_allow("PATH")
        .read_write("w").read_only("w/s").deny("w/k").working_directory("w")
    for script in #["echo x > s/f", "touch s/new", "mv s t", "chmod 777 s/f", "cat k/f", "ls k", "mv k l", "ln k/f got", "rmdir k"] {
        let out = sandbox::run(policy, #["sh", "-c", script]).unwrap()
        println!("{}: {} [{}]", script, out.code != 0, out.stdout.trim())
    }
    show("sibling", sandbox::run(policy, #["sh", "-c", "cat other; touch other"]))
)");
  const Outcome outcome = scene.runBoth();
  CHECK(outcome.exitCode == 0);
  CHECK(!contains(outcome.out, "false"));
  CHECK(!contains(outcome.out, "hidden"));
  CHECK(contains(outcome.out, "sibling: 0 [open]"));
  CHECK(scene.tree().readAll("w/s/f") == "old\n");
  CHECK(scene.tree().readAll("w/k/f") == "hidden\n");
}

TEST_CASE("T127 paths that are not there") {
  if (!hostGives("standard"))
    return;
  Scene scene;
  scene.program(R"(
    show("grant", sandbox::run(tools().read_only("missing"), #["true"]))
    let denied = sandbox::run(tools().deny("secret"), #["sh", "-c", "echo x > secret; mkdir secret; echo done"]).unwrap()
    println!("{} {}", denied.stdout.trim(), fs::exists("secret"))
    show("later", sandbox::run(tools(), #["sh", "-c", "cat secret"]))
)");
  const Outcome outcome = scene.runBoth();
  CHECK(contains(
      outcome.out,
      "grant: error: grant `read_only(\"missing\")`: no such file or directory; create it first\n"
      "done false\nlater: 1 [] "));
  CHECK(!scene.tree().exists("secret"));
}

TEST_CASE("T130 variables that load code never pass a policy of a program") {
  Scene scene;
  scene.program(R"(
    for name in #["LD_PRELOAD", "LD_AUDIT", "BASH_ENV", "NODE_OPTIONS", "PYTHONSTARTUP", "GIT_SSH_COMMAND", "BASH_FUNC_x%%", "A=B", "", "A\nB"] {
        let allowed = tools().env_allow(name)
        let set = tools().env_set(name, "x")
        println!("{} {} {} {}", allowed.check().is_err(), sandbox::run(allowed, #["true"]).is_err(), set.check().is_err(), sandbox::run(set, #["true"]).is_err())
        println!("{:?}", allowed.environment_names())
    }
)");
  const Outcome outcome = scene.runBoth();
  CHECK(outcome.exitCode == 0);
  std::string wanted;
  for (int i = 0; i != 10; ++i)
    wanted += "true true true true\n#[]\n";
  CHECK(outcome.out == wanted);
}

TEST_CASE("T131 a level that the host cannot give fails and names what is missing") {
  if (!hostGives("strict"))
    return;
  // Inside of a sandbox there are no user namespaces.
  Scene scene;
  scene.program(R"(
    let policy = sandbox::Policy::new().read_only("/usr").working_directory("/").env_allow("PATH")
    for level in #["standard", "strict"] {
        println!("{:?}", policy.level(level).check())
        show(level, sandbox::run(policy.level(level), #["touch", "/var/tmp/was-run"]))
    }
    println!("{} {}", sandbox::max_level(), sandbox::notes().join(" ").contains("level `strict` is not available"))
)");
  Launch inside;
  inside.program = GOS_BWR;
  inside.directory = scene.tree().root();
  inside.environment = scene.environment;
  const std::string gos = GOS_PROGRAM;
  inside.arguments = {"--level", "strict", "--ro", gos, "--", gos, "run", "main.gos"};
  const Outcome outcome = threats::launch(inside);
  CHECK(outcome.exitCode == 0);
  CHECK_MESSAGE(contains(outcome.out, "standard: error: level `standard` is not available here"),
                outcome.out << outcome.err);
  CHECK(contains(outcome.out, "strict: error: level `strict` is not available here"));
  CHECK(contains(outcome.out, "Err(level `strict` is not available here"));
  CHECK(contains(outcome.out, "namespace"));
  CHECK(!contains(outcome.out, "strict true\n"));
  CHECK(contains(outcome.out, " true\n"));
}

TEST_CASE("T133 unknown spellings are errors of check and run, whatever is called afterwards") {
  Scene scene;
  scene.program(R"(
    let good = sandbox::Policy::new().read_only("/usr").working_directory("/").level("basic")
    for bad in #[
        good.level("Strict").level("basic"),
        good.network_mode("off").network_mode("none"),
        good.temp("").temp("private"),
        good.env_allow("A=B").env_allow("PATH"),
        good.capture_limit(-1).capture_limit(10),
        good.working_directory("/nowhere").working_directory("/")
    ] {
        match bad.check() {
            Ok(_) => println!("let through")
            Err(e) => {
                println!("{}", e)
                show("run", sandbox::run(bad, #["true"]))
                println!("{} {} {}", bad.access("/usr"), bad.read_only_grants().len(), bad.mechanisms().len())
                println!("{} {}", bad.explain() == format!("{}", e), bad.to_json().contains("\"error\":"))
            }
        }
    }
    show("good", sandbox::run(good, #["true"]))
)");
  const Outcome outcome = scene.runBoth();
  std::string wanted;
  for (const char* text :
       {"`Strict` is not a level; allowed are `none`, `basic`, `standard`, `strict`",
        "`off` is not a network mode; allowed are `none`, `client`, `open`",
        "`` is not a temp mode; allowed are `private`, `inherit`",
        "environment variable `A=B`: a variable's name holds no `=`",
        "capture limit `-1` is no number of bytes",
        "working directory `/nowhere`: no such directory"})
    wanted += std::string(text) + "\nrun: error: " + text + "\ndeny 0 0\ntrue true\n";
  CHECK(outcome.out == wanted + "good: 0 [] []\n");
}

TEST_CASE("T140 a network of clients connects and does not accept") {
  if (!hostGives("standard"))
    return;
  Scene scene;
  std::filesystem::copy_file(GOS_PROBE, scene.tree().in("probe"));
  ::chmod(scene.tree().in("probe").c_str(), 0755);
  scene.program(R"(
    for mode in #["none", "client", "open", "all"] {
        show(mode, sandbox::run(tools().network_mode(mode), #["./probe", "listen", "0"]))
    }
)");
  const Outcome outcome = scene.runBoth();
  CHECK(contains(outcome.out, "client: 1 [refused "));
  CHECK(contains(outcome.out, "open: 0 [ok] []"));
  CHECK(contains(outcome.out, "all: error: `all` is not a network mode"));
}

TEST_CASE("a program that names none of the sandbox is the process as before") {
  Scene scene;
  scene.program(R"(
    show("none", sandbox::run(sandbox::Policy::new().level("none").env_set("B", "2"), #["sh", "-c", "echo $A $B"]))
    show("kept", sandbox::run(sandbox::Policy::new().level("none").deny("x"), #["true"]))
)");
  scene.environment.push_back({"A", "1"});
  const Outcome outcome = scene.runBoth();
  CHECK(contains(outcome.out,
                 "none: 0 [1 2] []\nkept: error: level `none` has no file-system policy"));
}

} // namespace
} // namespace gos::stdsandbox
