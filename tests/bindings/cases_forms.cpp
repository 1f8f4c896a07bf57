// The forms of a binding, each built by a real Cargo at every level: path, src, version, git, a
// workspace, names with spaces, a crate that compiles C, published crates of the distribution.

#include "tests/bindings/scene.h"

namespace gos::cases {

namespace {

/// At each identity and each of the levels, in a fresh project.
template <class Case> void everywhere(const std::vector<std::string>& levels, Case act) {
  for (As who : identities())
    for (const std::string& level : levels) {
      CAPTURE(std::string(name(who)));
      CAPTURE(level);
      Bound bound(who);
      act(bound, level);
    }
}

void checkBuilt(const Outcome& outcome, const std::string& function) {
  CHECK_MESSAGE(outcome.code == 0, outcome.err);
  CHECK_MESSAGE(has(outcome.out, "function " + function + "\n"), outcome.out);
}

} // namespace

TEST_CASE("bindings: a path binding is built once, and a second time Cargo is not started") {
  if (missesCargo("path binding"))
    return;
  everywhere(everyLevel(), [](Bound& bound, const std::string& level) {
    bound.plain();
    const auto sources = bound.snapshot(bound.room.path("rust"));
    const Outcome first = bound.build(level);
    checkBuilt(first, "stats::fast::double");
    CHECK(has(first.err, "cargo: Compiling stats"));
    CHECK(has(first.err, "GJ0041") == (level == "none"));
    CHECK(has(first.err, "`bindings.lock` was written"));
    CHECK(has(bound.room.read("bindings.lock"), "name = \"stats\""));
    CHECK(bound.snapshot(bound.room.path("rust")) == sources);
    CHECK_FALSE(bound.room.exists("target"));
    const std::string library = bound.library(first);
    CHECK(has(library, "stats::fast"));
    // Also where all of it was written a moment before the build.
    const Outcome again = bound.build(level);
    checkBuilt(again, "stats::fast::double");
    CHECK(again.err.empty());
    CHECK(again.out == first.out);
    // A change of the source is seen.
    bound.write("rust/stats/src/lib.rs", std::string(Bound::kLibrary) +
                                             "#[gos_module(\"stats::more\")]\npub mod more { pub "
                                             "fn one() -> i64 { 1 } }\n");
    checkBuilt(bound.build(level), "stats::more::one");
  });
}

TEST_CASE("T087 an editor builds nothing, not even without a sandbox, and says what is missing") {
  if (missesCargo("editor"))
    return;
  everywhere({"none", "standard"}, [](Bound& bound, const std::string& level) {
    const std::string canary = bound.room.top() + "/canary";
    bound.plain();
    bound.write("rust/stats/build.rs",
                "fn main() { let _ = std::fs::write(\"" + canary + "\", \"x\"); }\n");
    const Outcome before = bound.build(level, {"--editor"});
    CHECK(before.code == 1);
    CHECK(has(before.err, "GJ0050"));
    CHECK_FALSE(bound.room.exists("bindings.lock"));
    CHECK_FALSE(bound.room.exists(canary));
    bound.build(level);
    checkBuilt(bound.build(level, {"--editor"}), "stats::fast::double");
    // What a build was granted is not the editor's to say, and what it confined is no less there.
    bound.build("strict", {"--sandbox-ro", bound.room.top()});
    checkBuilt(bound.build(level, {"--editor"}), "stats::fast::double");
    bound.write("rust/stats/src/lib.rs", "\n");
    CHECK(has(bound.build(level, {"--editor"}).err, "GJ0050"));
  });
}

TEST_CASE("bindings: a library names places as they lie in the project, and no directory of this "
          "machine") {
  if (missesCargo("places"))
    return;
  everywhere({"none", "strict"}, [](Bound& bound, const std::string& level) {
    bound.bindings("stats = { path = \"rust/stats\" }");
    bound.crate("rust/stats", "stats",
                "use gossamer_binding::gos_module;\n#[gos_module(\"stats\")]\npub mod stats {\n"
                "    pub fn third(values: Vec<i64>) -> i64 { values[3] }\n}\n",
                "[dependencies]\ngossamer-binding = \"0.1\"\n");
    const Outcome outcome = bound.build(level);
    checkBuilt(outcome, "stats::third");
    const std::string library = bound.library(outcome);
    CHECK(has(library, "rust/stats/src/lib.rs"));
    CHECK_FALSE(has(library, bound.room.project()));
    CHECK_FALSE(has(library, bound.cache()));
  });
}

TEST_CASE("bindings: one source file is a binding, with the modules beside it") {
  if (missesCargo("src binding"))
    return;
  everywhere(confining(), [](Bound& bound, const std::string& level) {
    bound.bindings("quick = { src = \"native/quick.rs\" }");
    bound.write("native/quick.rs", "mod helper;\nuse gossamer_binding::gos_module;\n"
                                   "#[gos_module(\"quick\")]\npub mod quick {\n"
                                   "    pub fn three() -> i64 { crate::helper::three() }\n}\n");
    bound.write("native/helper.rs", "pub fn three() -> i64 { 3 }\n");
    checkBuilt(bound.build(level), "quick::three");
  });
}

TEST_CASE("bindings: spaces, quotes and letters of any script stand in paths") {
  if (missesCargo("odd paths"))
    return;
  everywhere(confining(), [](Bound& bound, const std::string& level) {
    bound.bindings("stats = { path = \"räder und \\\"achsen\\\"/日本\" }\n"
                   "quick = { src = \"ein ordner/schnell.rs\" }");
    bound.crate("räder und \"achsen\"/日本", "stats", Bound::kLibrary,
                "[dependencies]\ngossamer-binding = \"0.1\"\n");
    bound.write("ein ordner/schnell.rs", "use gossamer_binding::gos_module;\n"
                                         "#[gos_module(\"quick\")]\npub mod quick {\n"
                                         "    pub fn three() -> i64 { 3 }\n}\n");
    bound.how.set["XDG_CACHE_HOME"] = bound.room.home() + "/mein cache";
    const Outcome outcome = bound.build(level);
    checkBuilt(outcome, "stats::fast::double");
    checkBuilt(outcome, "quick::three");
  });
}

TEST_CASE("bindings: a member of a Cargo workspace takes what the workspace says") {
  if (missesCargo("workspace"))
    return;
  everywhere(confining(), [](Bound& bound, const std::string& level) {
    bound.bindings("stats = { path = \"rust/members/stats\", features = [\"extra\"] }");
    bound.write("rust/Cargo.toml", "[workspace]\nmembers = [\"members/*\"]\nresolver = \"2\"\n"
                                   "[workspace.package]\nversion = \"0.3.0\"\nedition = \"2021\"\n"
                                   "[workspace.dependencies]\ngossamer-binding = \"0.1\"\n"
                                   "common = { path = \"members/common\" }\n");
    bound.write("rust/members/stats/Cargo.toml",
                "[package]\nname = \"stats\"\nversion.workspace = true\nedition.workspace = true\n"
                "[features]\nextra = []\n"
                "[dependencies]\ngossamer-binding.workspace = true\ncommon.workspace = true\n");
    bound.write("rust/members/stats/src/lib.rs",
                "use gossamer_binding::gos_module;\n#[cfg(feature = \"extra\")]\n"
                "#[gos_module(\"stats\")]\npub mod stats {\n"
                "    pub fn five() -> i64 { common::five() }\n}\n");
    bound.write(
        "rust/members/common/Cargo.toml",
        "[package]\nname = \"common\"\nversion.workspace = true\nedition.workspace = true\n");
    bound.write("rust/members/common/src/lib.rs", "pub fn five() -> i64 { 5 }\n");
    checkBuilt(bound.build(level), "stats::five");
    // A change in what a binding depends on is seen.
    ::usleep(1100000);
    bound.build(level);
    bound.write("rust/members/common/src/lib.rs", "pub fn five() -> i64 { 4 + 1 }\n");
    CHECK(has(bound.build(level).err, "cargo: Compiling common"));
  });
}

TEST_CASE(
    "bindings: a dependency's bindings are built with the program's, and two of one name from "
    "two places are refused") {
  if (missesCargo("dependencies"))
    return;
  everywhere({"standard"}, [](Bound& bound, const std::string& level) {
    const std::string project = "[dependencies]\n\"example.com/lib\" = { path = \"lib\" }\n";
    bound.bindings("stats = { path = \"rust/stats\" }", project);
    bound.crate("rust/stats", "stats", Bound::kLibrary,
                "[dependencies]\ngossamer-binding = \"0.1\"\n");
    bound.write("lib/project.toml", "[project]\nid = \"example.com/lib\"\nversion = \"0.1.0\"\n"
                                    "[rust-bindings]\nquick = { src = \"quick.rs\" }\n");
    bound.write("lib/src/lib.gos", "pub fn one() -> i64 { 1 }\n");
    bound.write("lib/quick.rs", "use gossamer_binding::gos_module;\n#[gos_module(\"quick\")]\n"
                                "pub mod quick { pub fn three() -> i64 { 3 } }\n");
    const Outcome outcome = bound.build(level);
    checkBuilt(outcome, "stats::fast::double");
    checkBuilt(outcome, "quick::three");
    bound.write("lib/project.toml", "[project]\nid = \"example.com/lib\"\nversion = \"0.1.0\"\n"
                                    "[rust-bindings]\nstats = { src = \"quick.rs\" }\n");
    const Outcome twice = bound.build(level);
    CHECK(twice.code == 1);
    CHECK(has(twice.err, "GJ0043"));
    CHECK(has(twice.err, "another package of the program takes it from elsewhere"));
  });
}

TEST_CASE("bindings: a version comes from the registry that the user names, once, and then without "
          "it") {
  if (missesCargo("version binding"))
    return;
  everywhere(confining(), [](Bound& bound, const std::string& level) {
    Registry registry;
    registry.publish(bound.room, "faster", "1.2.3",
                     {{"Cargo.toml", "[package]\nname = \"faster\"\nversion = \"1.2.3\"\nedition = "
                                     "\"2021\"\n[dependencies]\ngossamer-binding = \"0.1\"\n"},
                      {"src/lib.rs", Bound::kLibrary}},
                     {{"gossamer-binding", "^0.1"}});
    bound.userConfig(registry.replacement());
    bound.bindings("faster = \"1\"");
    const Outcome outcome = bound.build(level);
    checkBuilt(outcome, "stats::fast::double");
    CHECK(has(bound.room.read("bindings.lock"), "checksum = "));
    CHECK_FALSE(registry.requests().empty());
    registry.stop();
    // The cache has it, whatever becomes of the rest.
    files::remove_all(bound.cache() + "/bindings");
    const Outcome again = bound.build(level);
    checkBuilt(again, "stats::fast::double");
    CHECK_FALSE(has(again.err, "GJ0047"));
  });
}

TEST_CASE(
    "T094 a repository of this machine is a binding where a flag grants it, and not unasked") {
  if (missesCargo("git binding"))
    return;
  if (!installed("git")) {
    skip("T094", "`git` is not installed");
    return;
  }
  everywhere(everyLevel(), [](Bound& bound, const std::string& level) {
    const std::string repository = bound.room.top() + "/repo sitory";
    bound.crate(repository, "stats", Bound::kLibrary,
                "[dependencies]\ngossamer-binding = \"0.1\"\n");
    const Outcome made = bound.room.shell(
        "cd '" + repository +
        "' && git init -q -b main && git add . && git -c user.name=a -c user.email=a@b commit -q "
        "-m x && git tag v1");
    REQUIRE_MESSAGE(made.code == 0, made.err);
    bound.bindings("stats = { git = \"file://" + bound.room.top() +
                   "/repo%20sitory\", tag = \"v1\" }");
    const Outcome refused = bound.build(level);
    if (level != "none") {
      CHECK(refused.code == 1);
      CHECK_MESSAGE(has(refused.err, "to allow it: --sandbox-ro"), refused.err);
    }
    const Outcome granted = bound.build(level, {"--sandbox-ro", repository});
    // Some distributions link Cargo with a git library that it does not fit: that is said.
    if (has(granted.err, "does not fit the git library"))
      CHECK(granted.code == 1);
    else
      checkBuilt(granted, "stats::fast::double");
  });
}

TEST_CASE("bindings: a crate that needs a file one level up is told the flag, and builds with it") {
  if (missesCargo("one level up"))
    return;
  everywhere(confining(), [](Bound& bound, const std::string& level) {
    bound.write(bound.room.top() + "/shared/table.csv", "1,2,3\n");
    bound.bindings("tables = { path = \"rust/tables\" }");
    bound.crate("rust/tables", "tables",
                "use gossamer_binding::gos_module;\n#[gos_module(\"tables\")]\npub mod tables {\n"
                "    pub fn size() -> i64 { include_str!(concat!(env!(\"OUT_DIR\"), "
                "\"/table\")).len() as i64 }\n}\n",
                "[dependencies]\ngossamer-binding = \"0.1\"\n",
                "fn main() {\n    let text = std::fs::read_to_string(\"" + bound.room.top() +
                    "/shared/table.csv\").expect(\"the table\");\n"
                    "    std::fs::write(std::env::var(\"OUT_DIR\").unwrap() + \"/table\", "
                    "text).unwrap();\n}\n");
    const Outcome refused = bound.build(level);
    CHECK(refused.code == 1);
    CHECK_MESSAGE(has(refused.err, "the build script of crate `tables` failed"), refused.err);
    CHECK_MESSAGE(has(refused.err, "crate `tables`: its build script wanted to read"), refused.err);
    CHECK_MESSAGE(has(refused.err, "to allow it: --sandbox-ro " + bound.room.top() + "/shared"),
                  refused.err);
    checkBuilt(bound.build(level, {"--sandbox-ro", bound.room.top() + "/shared"}), "tables::size");
  });
}

TEST_CASE(
    "bindings: the report of a refusal blames who wanted it, and what it advises is narrow and "
    "works") {
  if (missesCargo("advice"))
    return;
  everywhere({"standard", "strict"}, [](Bound& bound, const std::string& level) {
    Registry registry;
    registry.publish(bound.room, "leaf", "1.0.0",
                     {{"Cargo.toml", "[package]\nname = \"leaf\"\nversion = \"1.0.0\"\nedition = "
                                     "\"2021\"\n"},
                      {"src/lib.rs", "\n"}});
    bound.userConfig(registry.replacement());
    // Sources are read-only.
    const std::string shared = bound.room.path("data");
    bound.write(shared + "/table.csv", "1,2,3\n");
    bound.write(shared + "/other.csv", "4\n");
    bound.bindings("tables = { path = \"rust/tables\" }");
    bound.crate("rust/tables", "tables", Bound::kLibrary,
                "[dependencies]\ngossamer-binding = \"0.1\"\nleaf = \"1\"\n",
                "fn main() {\n"
                // The downloads of all projects: it is said, and nothing is offered.
                "    let home = std::env::var(\"CARGO_HOME\").unwrap();\n"
                "    let _ = std::fs::write(home + \"/registry/poison\", \"x\");\n"
                "    std::fs::write(\"" +
                    shared + "/table.csv\", \"5\").expect(\"the table\");\n}\n");
    const Outcome refused = bound.build(level);
    CHECK(refused.code == 1);
    CHECK_MESSAGE(has(refused.err, "crate `tables`: its build script wanted to write `" + shared +
                                       "/table.csv`"),
                  refused.err);
    CHECK_MESSAGE(has(refused.err, "/registry/poison`"), refused.err);
    // What Cargo tries by itself is nobody's wish.
    for (const char* own : {".package-cache", ".global-cache", ".cargo-ok", "CACHEDIR.TAG"})
      CHECK_MESSAGE(!has(refused.err, own), refused.err);
    std::vector<std::string> flags;
    for (llvm::StringRef line : llvm::split(llvm::StringRef(refused.err), '\n'))
      if (line.contains("to allow it: "))
        for (llvm::StringRef word : llvm::split(line.split("to allow it: ").second.trim(), ' '))
          flags.push_back(word.str());
    const std::vector<std::string> wanted = {"--sandbox-rw", shared + "/table.csv"};
    REQUIRE_MESSAGE(flags == wanted, refused.err);
    checkBuilt(bound.build(level, flags), "stats::fast::double");
    CHECK(bound.room.read(shared + "/table.csv") == "5");
    CHECK_FALSE(bound.room.exists(bound.cache() + "/cargo/registry/poison"));
  });
}

TEST_CASE("bindings: two checkouts, two users and two levels give one library, byte for byte") {
  if (missesCargo("one library"))
    return;
  std::set<std::string> libraries;
  size_t round = 0;
  everywhere({"none", "strict"}, [&](Bound& bound, const std::string& level) {
    // The program lies in a place of another length each time.
    const std::string root = "x" + std::string(++round, 'y') + "/program";
    bound.write(root + "/project.toml",
                "[project]\nid = \"example.com/app\"\nversion = \"0.1.0\"\n\n[rust-bindings]\n"
                "stats = { path = \"rust/stats\" }\nquick = { src = \"quick.rs\" }\n");
    bound.write(root + "/src/main.gos", "fn main() { println!(\"hello\") }\n");
    bound.write(root + "/quick.rs", "use gossamer_binding::gos_module;\n#[gos_module(\"quick\")]\n"
                                    "pub mod quick { pub fn three() -> i64 { 3 } }\n");
    bound.crate(root + "/rust/stats", "stats",
                "use gossamer_binding::gos_module;\n#[gos_module(\"stats\")]\npub mod stats {\n"
                "    pub fn third(values: Vec<i64>) -> i64 { inner::pick(&values, 3) }\n}\n",
                "[dependencies]\ngossamer-binding = \"0.1\"\ninner = { path = \"../inner\" }\n",
                "fn main() { println!(\"cargo:rerun-if-changed=build.rs\"); }\n");
    bound.crate(root + "/rust/inner", "inner",
                "use std::collections::HashMap;\n"
                "pub fn pick(values: &[i64], at: usize) -> i64 {\n"
                "    let all: HashMap<usize, i64> = values.iter().copied().enumerate().collect();\n"
                "    all[&at] + values[at]\n}\n");
    std::vector<std::string> words = {toolPath(), "--sandbox=" + level, bound.room.path(root)};
    const Outcome outcome = bound.room.plain(words, bound.how);
    checkBuilt(outcome, "stats::third");
    checkBuilt(outcome, "quick::three");
    libraries.insert(outcome.out);
  });
  CHECK(libraries.size() == 1);
}

TEST_CASE("bindings: published crates of the distribution, macros and C among them, build under "
          "strict") {
  if (missesCargo("published crates"))
    return;
  const std::string registry = "/usr/share/cargo/registry";
  for (const char* crate : {"serde", "serde_derive", "cc", "libc"}) {
    bool found = false;
    if (files::exists(registry))
      for (const auto& entry : files::directory_iterator(registry))
        found |=
            llvm::StringRef(entry.path().filename().string()).starts_with(std::string(crate) + "-");
    if (!found) {
      skip("published crates", std::string("`") + crate +
                                   "` is not in /usr/share/cargo/registry (librust-serde-dev "
                                   "librust-serde-derive-dev librust-cc-dev librust-libc-dev)");
      return;
    }
  }
  everywhere({"strict"}, [&](Bound& bound, const std::string& level) {
    bound.userConfig("[source.crates-io]\nreplace-with = \"debian\"\n[source.debian]\ndirectory = "
                     "\"" +
                     registry + "\"\n");
    bound.bindings("native-sys = { path = \"native-sys\" }");
    bound.crate("native-sys", "native-sys",
                "use gossamer_binding::gos_module;\nextern \"C\" { fn answer() -> libc::c_int; }\n"
                "#[derive(serde::Serialize)]\npub struct Point { pub x: i64 }\n"
                "#[gos_module(\"native\")]\npub mod native {\n"
                "    pub fn answer() -> i64 { unsafe { super::answer() as i64 } }\n}\n",
                "links = \"native\"\n[dependencies]\ngossamer-binding = \"0.1\"\nlibc = "
                "\"0.2\"\nserde = { version = \"1\", features = [\"derive\"] }\n"
                "[build-dependencies]\ncc = \"1\"\n",
                "fn main() { cc::Build::new().file(\"native.c\").compile(\"native\"); }\n");
    bound.write("native-sys/native.c", "int answer(void) { return 42; }\n");
    checkBuilt(bound.build(level), "native::answer");
  });
}

} // namespace gos::cases
