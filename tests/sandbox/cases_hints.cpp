// What a failed step is told about the network: only where something shows that it wanted it, a
// call that was refused or the tool's own message. An exit code alone says nothing.

#include "tests/sandbox/tools/tools.h"

namespace gos::cases {
namespace {

const std::string kAsks = "the command asked for the network, and has none";
const std::string kStep = "this step had no network";

/// Ways to ask for the network that fail at once where there is none.
const std::vector<std::pair<std::string, std::string>>& asking() {
  static const std::vector<std::pair<std::string, std::string>> all = {
      {"TCP", "exec 3<>/dev/tcp/192.0.2.1/80"},
      {"TCP over IPv6", "exec 3<>/dev/tcp/2001:db8::1/80"},
      {"UDP", "echo x >/dev/udp/192.0.2.1/53"},
      {"a name", "getent hosts name.invalid"}};
  return all;
}

void npmProject(const Room& room, const std::string& dependencies) {
  room.write("package.json", "{\"name\": \"app\", \"version\": \"1.0.0\", \"private\": true,\n"
                             " \"scripts\": {\"good\": \"true\", \"bad\": \"exit 7\"}" +
                                 dependencies + "}\n");
}
} // namespace

TEST_CASE("hints: a command that asked for the network is told how to get it, one that failed "
          "otherwise is not") {
  if (!has("hints", {"bash", "getent"}))
    return;
  each(confining(), [](const Room& room, const std::string& level) {
    for (const auto& [what, script] : asking()) {
      CAPTURE(what);
      Outcome outcome = room.bwr(level, {}, {"bash", "-c", script + " || exit 9"});
      CHECK(outcome.code == 9);
      CHECK_MESSAGE(contains(outcome.err, kAsks), outcome.err);
      CHECK_MESSAGE(contains(outcome.err, "--network client"), outcome.err);
      // It went on all the same: nothing is said.
      outcome = room.bwr(level, {}, {"bash", "-c", script + "; exit 0"});
      CHECK(outcome.code == 0);
      CHECK_MESSAGE(!contains(outcome.err, kAsks), outcome.err);
      // Killed: the code is none of its own.
      outcome = room.bwr(level, {}, {"bash", "-c", script + "; kill -TERM $$"});
      CHECK(outcome.code == 143);
      CHECK_MESSAGE(!contains(outcome.err, kAsks), outcome.err);
    }
    const std::vector<std::string> others = {
        "exit 1",
        "cat /etc/shadow",
        "ls /nowhere",
        ": >/usr/x",
        "exec 3<>/dev/tcp/127.0.0.1/9", // the loopback is there; nobody listens
        "exec 3<>/dev/tcp/::1/9"};
    for (const std::string& script : others) {
      CAPTURE(script);
      const Outcome outcome = room.bwr(level, {}, {"bash", "-c", script});
      CHECK(outcome.code != 0);
      CHECK_MESSAGE(!contains(outcome.err, "network"), outcome.err);
    }
    // With the network there is nothing to hint at; the kernel of the host counts for everybody. An
    // address that no host connects to, wherever its network leads: nothing is waited for.
    const Outcome open = room.bwr(level, {"--network", "client"},
                                  {"bash", "-c", "exec 3<>/dev/tcp/255.255.255.255/80; exit 9"});
    CHECK_MESSAGE(!contains(open.err, "bwr: note"), open.err);
  });
}

TEST_CASE("hints: the object says whether a call of the network was refused") {
  each(confining(), [](const Room& room, const std::string& level) {
    const std::string refused = "\"network_refused\":true", none = "\"network_refused\":false";
    CHECK(contains(room.bwr(level, {"--json"}, {"bash", "-c", asking()[0].second + "; exit 9"}).err,
                   refused));
    CHECK(contains(room.bwr(level, {"--json"}, {"sh", "-c", "exit 9"}).err, none));
    CHECK(contains(room.bwr(level, {"--json", "--network", "open"}, {"sh", "-c", "exit 9"}).err,
                   none));
  });
}

TEST_CASE("hints: the command is repeated as a shell reads it, or the flag alone beside others") {
  const Room room(identities().front());
  const std::string script = asking()[0].second + " || exit 9";
  Outcome outcome = room.bwrRaw({"bash", "-c", script});
  CHECK_MESSAGE(contains(outcome.err, "with it: bwr --network client bash -c '" + script + "'\n"),
                outcome.err);
  outcome = room.bwrRaw({"--setenv", "A=b", "bash", "-c", script});
  CHECK_MESSAGE(contains(outcome.err, "to give it one, add: --network client\n"), outcome.err);
}

TEST_CASE("hints: a target of make that fails is not told to download") {
  if (!has("hints, make", {"make", "bash"}))
    return;
  each(confining(), [](const Room& room, const std::string& level) {
    room.write("Makefile",
               "SHELL = /bin/bash\nfails:\n\t@exit 3\nasks:\n\t@" + asking()[0].second + "\n");
    Outcome outcome = room.bwr(level, {}, {"make", "fails"}, tool());
    CHECK(outcome.code == 2);
    CHECK_MESSAGE(!contains(outcome.err, "network"), outcome.err);
    outcome = room.bwr(level, {}, {"make", "asks"}, tool());
    CHECK(outcome.code == 2);
    CHECK_MESSAGE(contains(outcome.err, kStep), outcome.err);
    CHECK_MESSAGE(contains(outcome.err, "with it: bwr --network client make asks"), outcome.err);
  });
}

TEST_CASE("hints: cargo is told to fetch where a crate is missing, and not where code is wrong") {
  if (!has("hints, cargo", {"cargo", "rustc", "python3"}))
    return;
  const Registry registry;
  const std::string fetch = "bwr --network client cargo fetch";
  each(levels(), [&](const Room& room, const std::string& level) {
    const auto prepare = [&] {
      copyProject(room, "cargo");
      room.makeDirectory(".cargo");
      room.write(".cargo/config.toml",
                 "[registries.local]\nindex = \"sparse+" + registry.url("/index/") + "\"\n");
    };
    prepare();
    Outcome outcome = room.bwr(level, {"--network", "client"}, {"cargo", "fetch"}, tool());
    REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
    // All is there, and the code is wrong; the tests fail; there is no such subcommand.
    outcome = room.bwr(level, {}, {"cargo", "build", "--locked"}, tool());
    REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
    outcome = room.bwr(level, {}, {"cargo", "frobnicate"}, tool());
    CHECK(outcome.code == 101);
    CHECK_MESSAGE(!contains(outcome.err, fetch), outcome.err);
    const std::string source = room.read("src/main.rs");
    room.write("src/main.rs", source + "\n#[test]\nfn fails() { assert_eq!(1, 2); }\n");
    outcome = room.bwr(level, {}, {"cargo", "test", "--locked"}, tool());
    CHECK(outcome.code == 101);
    CHECK_MESSAGE(!contains(outcome.err, fetch), outcome.err);
    room.write("src/main.rs", source + "\nfn wrong( {\n");
    outcome = room.bwr(level, {}, {"cargo", "build", "--locked"}, tool());
    CHECK(outcome.code == 101);
    CHECK_MESSAGE(!contains(outcome.err, fetch), outcome.err);
    // The lock file is there, the crate is gone.
    room.write("src/main.rs", source);
    std::error_code ignored;
    std::filesystem::remove_all(room.home() + "/.cargo/registry/src", ignored);
    std::filesystem::remove_all(room.home() + "/.cargo/registry/cache", ignored);
    outcome = room.bwr(level, {}, {"cargo", "build", "--locked"}, tool());
    CHECK(outcome.code == 101);
    CHECK_MESSAGE(contains(outcome.err, "run first: " + fetch), outcome.err);
    // Not a project at all: cargo says so.
    How elsewhere = tool();
    room.makeDirectory("empty");
    std::filesystem::rename(room.path("Cargo.toml"), room.path("Cargo.away"));
    std::filesystem::rename(room.path("Cargo.lock"), room.path("lock.away"));
    elsewhere.directory = room.path("empty");
    outcome = room.bwr(level, {}, {"cargo", "build"}, elsewhere);
    CHECK(outcome.code == 101);
    CHECK_MESSAGE(!contains(outcome.err, fetch), outcome.err);
  });
}

TEST_CASE("hints: npm is told to install what package.json names, and only then") {
  if (!has("hints, npm", {"npm", "node"}))
    return;
  each(confining(), [](const Room& room, const std::string& level) {
    const std::string fetch = "bwr --network client npm ci --ignore-scripts";
    npmProject(room, "");
    Outcome outcome = room.bwr(level, {}, {"npm", "run", "bad"}, tool());
    CHECK(outcome.code == 7);
    CHECK_MESSAGE(!contains(outcome.err, fetch), outcome.err);
    // What it looks for is not in its cache.
    outcome = room.bwr(level, {}, {"npm", "install", "left-pad"}, tool());
    CHECK(outcome.code != 0);
    CHECK_MESSAGE(contains(outcome.err, "run first: " + fetch), outcome.err);
    CHECK_MESSAGE(!contains(outcome.err, "Log files were not written"), outcome.err);
    outcome = room.bwr(level, {}, {"npm", "run", "bad"}, tool());
    CHECK_MESSAGE(!contains(outcome.err, fetch), outcome.err);
    npmProject(room, ",\n \"dependencies\": {\"left-pad\": \"1.0.0\"}");
    outcome = room.bwr(level, {}, {"npm", "run", "good"}, tool());
    CHECK(outcome.code == 0);
    CHECK_MESSAGE(!contains(outcome.err, fetch), outcome.err);
    outcome = room.bwr(level, {}, {"npm", "run", "bad"}, tool());
    CHECK(outcome.code == 7);
    CHECK_MESSAGE(contains(outcome.err, "run first: " + fetch), outcome.err);
    room.makeDirectory("node_modules");
    room.write("node_modules/.package-lock.json", "{}");
    outcome = room.bwr(level, {}, {"npm", "run", "bad"}, tool());
    CHECK(outcome.code == 7);
    CHECK_MESSAGE(!contains(outcome.err, fetch), outcome.err);
  });
}

TEST_CASE("hints: go is told to download where a module is missing, and not where code is wrong") {
  if (!has("hints, go", {"go"}))
    return;
  each(confining(), [](const Room& room, const std::string& level) {
    const std::string fetch = "bwr --network client go mod download";
    room.write("go.mod", "module example.org/app\n\ngo 1.19\n");
    room.write("main.go", "package main\n\nfunc main() { wrong }\n");
    Outcome outcome = room.bwr(level, {}, {"go", "build", "./..."}, tool());
    CHECK(outcome.code != 0);
    CHECK_MESSAGE(!contains(outcome.err, fetch), outcome.err);
    room.write("go.mod", "module example.org/app\n\ngo 1.19\n\nrequire example.org/x v1.0.0\n");
    room.write("go.sum", "example.org/x v1.0.0 h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"
                         "example.org/x v1.0.0/go.mod "
                         "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n");
    room.write("main.go", "package main\n\nimport _ \"example.org/x\"\n\nfunc main() {}\n");
    outcome = room.bwr(level, {}, {"go", "build", "./..."}, tool());
    CHECK(outcome.code != 0);
    CHECK_MESSAGE(contains(outcome.err, "run first: " + fetch), outcome.err);
  });
}

TEST_CASE("hints: pip is told to download what it did not find, and a program's error is its own") {
  if (!has("hints, pip", {"python3"}))
    return;
  if (Room(identities().front()).plain({"python3", "-m", "pip", "--version"}, tool()).code != 0)
    return skip("hints, pip", "pip is not installed");
  each(levels(), [](const Room& room, const std::string& level) {
    const std::string fetch = "bwr --network client pip download";
    Outcome outcome = room.bwr(level, {}, {"python3", "-c", "raise SystemExit(4)"}, tool());
    CHECK(outcome.code == 4);
    CHECK_MESSAGE(!contains(outcome.err, fetch), outcome.err);
    outcome = room.bwr(
        level, {}, {"python3", "-m", "pip", "install", "--target", "t", "no-such-thing"}, tool());
    CHECK(outcome.code != 0);
    CHECK_MESSAGE(contains(outcome.err, "run first: " + fetch), outcome.err);
    // What the last run said is not what this one says.
    outcome = room.bwr(level, {}, {"python3", "-c", "raise SystemExit(4)"}, tool());
    CHECK_MESSAGE(!contains(outcome.err, fetch), outcome.err);
  });
}

} // namespace gos::cases
