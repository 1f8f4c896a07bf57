// What can go wrong: each is said with its place and the next step, and the cache stays usable.

#include "tests/bindings/scene.h"

namespace gos::cases {

namespace {
template <class Case> void everyone(Case act) {
  for (As who : identities()) {
    CAPTURE(std::string(name(who)));
    Bound bound(who);
    act(bound);
  }
}
/// After a mistake the right thing works.
void recovers(Bound& bound) {
  bound.plain();
  const Outcome outcome = bound.build("standard");
  CHECK_MESSAGE(outcome.code == 0, outcome.err);
}
void checkSays(const Outcome& outcome, const std::vector<std::string>& pieces) {
  CHECK(outcome.code == 1);
  for (const std::string& piece : pieces)
    CHECK_MESSAGE(has(outcome.err, piece), piece << " in\n" << outcome.err);
}
} // namespace

TEST_CASE("mistakes: no cargo, one that is too old, one that is no cargo") {
  everyone([](Bound& bound) {
    bound.plain();
    bound.how.set["PATH"] = bound.room.top() + "/empty";
    checkSays(bound.build("standard"), {"GJ0042", "no `cargo`", "apt-get install cargo-web"});
    const std::string tools = bound.room.top() + "/tools";
    bound.room.makeDirectory(tools);
    bound.how.set["PATH"] = tools + ":/usr/bin:/bin";
    bound.room.write(tools + "/cargo", "#!/bin/sh\necho 'cargo 0.66.0 (2022)'\n", 0755);
    checkSays(bound.build("standard"), {"GJ0042", "no `rustc` lies beside"});
    bound.room.write(tools + "/rustc", "#!/bin/sh\n", 0755);
    // Debian 12 counts its package so; the program itself says 1.65.
    bound.room.write(tools + "/cargo", "#!/bin/sh\necho 'cargo 1.65.0 (2022)'\n", 0755);
    checkSays(bound.build("standard"), {"GJ0042", "found version 1.65; needed is 1.74 or newer",
                                        "apt-get install cargo-web"});
    bound.room.write(tools + "/cargo", "#!/bin/sh\necho hello\n", 0755);
    checkSays(bound.build("standard"), {"GJ0042", "does not answer with a version"});
  });
}

TEST_CASE("mistakes: a binding that leads nowhere") {
  everyone([](Bound& bound) {
    bound.bindings("stats = { path = \"nothing\" }");
    checkSays(bound.build("standard"), {"GJ0043", "`nothing` does not exist", "project.toml:"});
    bound.bindings("stats = { path = \"src\" }");
    checkSays(bound.build("standard"), {"GJ0043", "`src` holds no `Cargo.toml`"});
    bound.bindings("stats = { src = \"src\" }");
    checkSays(bound.build("standard"), {"GJ0043", "is not a file"});
    bound.bindings("gossamer-binding = \"0.1\"");
    checkSays(bound.build("standard"), {"GJ0043", "belongs to the toolchain"});
    const std::string outside = bound.room.top() + "/outside";
    bound.crate(outside, "stats", Bound::kLibrary, "[dependencies]\ngossamer-binding = \"0.1\"\n");
    bound.bindings("stats = { path = \"../outside\" }");
    if (missesCargo("outside of the program"))
      return;
    checkSays(bound.build("standard"), {"GJ0043", "to allow it: --sandbox-ro " + outside});
    const Outcome granted = bound.build("standard", {"--sandbox-ro", outside});
    CHECK_MESSAGE(granted.code == 0, granted.err);
  });
}

TEST_CASE("mistakes: no network, a missing crate, a wrong checksum") {
  if (missesCargo("fetching"))
    return;
  everyone([](Bound& bound) {
    Registry registry;
    bound.userConfig(registry.replacement());
    const Files leaf = {{"Cargo.toml", "[package]\nname = \"leaf\"\nversion = \"1.0.0\"\n"},
                        {"src/lib.rs", "\n"}};
    bound.bindings("stats = { path = \"rust/stats\" }");
    bound.crate("rust/stats", "stats", Bound::kLibrary,
                "[dependencies]\ngossamer-binding = \"0.1\"\nleaf = \"1\"\n");
    checkSays(bound.build("standard"), {"GJ0044", "does not exist", "leaf", "cargo says:"});
    registry.publish(bound.room, "leaf", "1.0.0", leaf, {}, /*wrongChecksum=*/true);
    checkSays(bound.build("standard"), {"GJ0044", "not what its checksum says"});
    registry.stop();
    files::remove_all(bound.cache());
    bound.how.set["CARGO_NET_RETRY"] = "0";
    files::remove(bound.room.path("bindings.lock"));
    checkSays(bound.build("standard"), {"GJ0044", "the network or the registry did not answer"});
    CHECK_FALSE(bound.room.exists("bindings.lock"));
    recovers(bound);
  });
}

TEST_CASE("mistakes: a crate that does not compile, and a type that cannot cross") {
  if (missesCargo("compile errors"))
    return;
  everyone([](Bound& bound) {
    bound.plain();
    const Outcome good = bound.build("standard");
    REQUIRE_MESSAGE(good.code == 0, good.err);
    bound.write("rust/stats/src/lib.rs", "pub fn broken() -> i64 { \"text\" }\n");
    checkSays(bound.build("standard"),
              {"GJ0046", "crate `stats` does not compile: mismatched types",
               "src/lib.rs:1:", "project.toml:", "rustc says:"});
    bound.write("rust/stats/src/lib.rs",
                "use gossamer_binding::gos_module;\n#[gos_module(\"stats\")]\npub mod stats {\n"
                "    pub fn odd(value: std::rc::Rc<u8>) -> i64 { 1 }\n}\n");
    checkSays(bound.build("standard"), {"GJ0046", "src/lib.rs:4:"});
    recovers(bound);
  });
}

TEST_CASE(
    "mistakes: what Cargo and crates print does nothing to a terminal and forges no line of ours "
    "(T077, T080)") {
  if (missesCargo("output"))
    return;
  everyone([](Bound& bound) {
    bound.bindings("stats = { path = \"rust/stats\" }");
    bound.crate("rust/stats", "stats", Bound::kLibrary,
                "[dependencies]\ngossamer-binding = \"0.1\"\n",
                "fn main() {\n    println!(\"cargo:warning=\\x1b[2Jgone\\u{202e}\");\n"
                "    eprintln!(\"\\x1b[2J\\nerror[GJ0001]: forged\\r\");\n    panic!(\"x\");\n}\n");
    const Outcome outcome = bound.build("standard");
    CHECK(outcome.code == 1);
    for (char c : outcome.err + outcome.out)
      CHECK((uint8_t(c) >= 0x20 || c == '\n'));
    CHECK_FALSE(has(outcome.err, "\nerror[GJ0001]"));
    CHECK_FALSE(has(outcome.err, "\xe2\x80\xae"));
  });
}

TEST_CASE(
    "mistakes: a cache that is another's, that others can write to, or that lies in the project "
    "(T081)") {
  everyone([](Bound& bound) {
    bound.plain();
    bound.how.set["XDG_CACHE_HOME"] = bound.room.path("cache");
    checkSays(bound.build("standard"), {"GJ0049", "lies inside the project"});
    CHECK_FALSE(bound.room.exists("cache"));
    bound.how.set.erase("XDG_CACHE_HOME");
    bound.room.makeDirectory(bound.cache());
    ::chmod(bound.cache().c_str(), 0777);
    checkSays(bound.build("standard"), {"GJ0049", "can be written by others", "chmod 700"});
    ::chmod(bound.cache().c_str(), 0700);
    if (::geteuid() == 0) {
      REQUIRE(::chown(bound.cache().c_str(), 12345, 12345) == 0);
      checkSays(bound.build("standard"), {"GJ0049"});
    }
    files::remove_all(bound.cache());
    bound.room.link(bound.room.project(), bound.cache());
    checkSays(bound.build("standard"), {"GJ0049"});
    files::remove(bound.cache());
    if (!missesCargo("cache"))
      recovers(bound);
  });
}

TEST_CASE("mistakes: a grant against a denial names both, a grant of nothing says so (T124)") {
  if (missesCargo("grants"))
    return;
  everyone([](Bound& bound) {
    bound.plain();
    bound.write(bound.room.home() + "/.ssh/id_rsa", "x");
    const std::string secret = bound.room.home() + "/.ssh";
    for (const char* flag : {"--sandbox-ro", "--sandbox-rw"}) {
      const Outcome outcome = bound.build("standard", {flag, secret});
      checkSays(outcome, {"GJ0052", std::string(flag) + " " + secret, ".ssh"});
      checkSays(bound.build("standard", {flag, bound.room.top() + "/nothing"}),
                {"GJ0052", "does not exist"});
    }
    recovers(bound);
  });
}

TEST_CASE("mistakes: an interrupt ends all of the build, and the next one works (T109)") {
  if (missesCargo("interrupt"))
    return;
  for (const std::string& level : everyLevel())
    everyone([&](Bound& bound) {
      CAPTURE(level);
      bound.plain();
      REQUIRE(bound.build(level).code == 0);
      const auto lock = bound.room.read("bindings.lock");
      const std::string seconds = uniqueSeconds(31);
      bound.write("rust/stats/build.rs",
                  "fn main() { std::process::Command::new(\"sleep\").arg(\"" + seconds +
                      "\").status().unwrap(); }\n");
      const Outcome outcome = bound.room.shell("'" + toolPath() + "' --sandbox=" + level +
                                                   " . & tool=$!\n"
                                                   "until cat /proc/[0-9]*/cmdline 2>/dev/null | "
                                                   "tr '\\0' ' ' | grep -qa '[s]leep " +
                                                   seconds +
                                                   "'; do sleep 0.1; done\n"
                                                   "kill -TERM $tool; wait $tool; echo \"code $?\"",
                                               [&] {
                                                 How how = bound.how;
                                                 return how;
                                               }());
      // A shell without job control starts what is behind it with interrupts ignored; then TERM.
      CHECK_MESSAGE((has(outcome.out, "code 130") || has(outcome.out, "code 143")), outcome.out);
      CHECK(gone("sleep " + seconds));
      CHECK(bound.room.read("bindings.lock") == lock);
      files::remove(bound.room.path("rust/stats/build.rs"));
      CHECK(bound.build(level).code == 0);
    });
}

TEST_CASE("mistakes: a disk that is full") {
  if (missesCargo("full disk"))
    return;
  if (::geteuid() != 0) {
    skip("full disk", "a small file system is mounted by root");
    return;
  }
  Bound bound(As::Root);
  bound.plain();
  const std::string disk = bound.room.top() + "/disk";
  bound.room.makeDirectory(disk);
  if (bound.room.plain({"mount", "-t", "tmpfs", "-o", "size=300k", "none", disk}).code != 0) {
    skip("full disk", "this host does not let root mount");
    return;
  }
  bound.how.set["XDG_CACHE_HOME"] = disk;
  const Outcome outcome = bound.build("none");
  CHECK(bound.room.plain({"umount", "-l", disk}).code == 0);
  checkSays(outcome, {"XDG_CACHE_HOME"});
  CHECK_MESSAGE((has(outcome.err, "disk is full") || has(outcome.err, "no space left")),
                outcome.err);
  bound.how.set.erase("XDG_CACHE_HOME");
  CHECK(bound.build("none").code == 0);
}

} // namespace gos::cases
