#include "sandbox/bwr/request.h"

#include "sandbox/bwr/apply_profile.h"
#include "sandbox/bwr/epilogue.h"
#include "sandbox/policy/decide.h"
#include "tests/unit/sandbox/temp_tree.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>
#include <filesystem>

namespace gos::bwr {
namespace {

using sandbox::HostFacts;

/// A host of a test's own: a home, a project in it, a PATH of three directories.
struct Host {
  test::TempTree tree;
  HostFacts facts;
  Host() {
    tree.directory("home/src/p");
    tree.directory("home/.ssh");
    tool("home/.cargo/bin/cargo");
    tool("home/bin/make");
    facts.workingDirectory = tree.at("home/src/p");
    facts.homes = facts.everyHome = {tree.at("home")};
    facts.denials = {tree.at("home/.ssh")};
    facts.basePaths = {"/usr"};
    path({"home/.cargo/bin", "home/bin"});
  }
  void tool(const std::string& name) const {
    tree.file(name, "#!/bin/sh\n");
    ::chmod(tree.at(name).c_str(), 0755);
  }
  void path(std::initializer_list<const char*> directories) {
    std::string value;
    for (const char* each : directories)
      value += (value.empty() ? "" : ":") + (*each == '/' || *each == '.' ? each : tree.at(each));
    facts.environment = {"HOME=" + tree.at("home"), "PATH=" + value};
  }
  std::string home(const std::string& name) const { return tree.at("home/" + name); }
  std::string work(const std::string& name = "") const {
    return facts.workingDirectory + (name.empty() ? "" : "/" + name);
  }

  llvm::Expected<Request> ask(std::initializer_list<llvm::StringRef> words,
                              Purpose purpose = Purpose::Run) const {
    ParsedCommandLine line =
        parseCommandLine(llvm::ArrayRef<llvm::StringRef>(words.begin(), words.size()));
    REQUIRE_MESSAGE(line.options.has_value(), line.error);
    return makeRequest(*line.options, facts, purpose);
  }
  Request good(std::initializer_list<llvm::StringRef> words, Purpose purpose = Purpose::Run) const {
    auto request = ask(words, purpose);
    if (!request)
      FAIL(llvm::toString(request.takeError()));
    llvm::Error problem = request->policy.check();
    CHECK_MESSAGE(!problem, llvm::toString(std::move(problem)));
    return std::move(*request);
  }
  std::string bad(std::initializer_list<llvm::StringRef> words) const {
    auto request = ask(words);
    if (!request)
      return llvm::toString(request.takeError());
    llvm::Error problem = request->policy.check();
    return problem ? llvm::toString(std::move(problem)) : "";
  }
};

bool reads(const Request& request, const std::string& path) {
  return decide(request.policy, path, Operation::Read).allowed;
}
bool writes(const Request& request, const std::string& path) {
  return decide(request.policy, path, Operation::Write).allowed;
}
const std::string* setting(const Request& request, llvm::StringRef name) {
  for (const EnvSetting& each : request.policy.setEnv())
    if (each.name == name)
      return &each.value;
  return nullptr;
}

// ---- without a profile
// ----------------------------------------------------------------------------

TEST_CASE("a command without a profile writes its directory and reads the system") {
  Host host;
  const Request request = host.good({"true"});
  CHECK(request.profile.empty());
  CHECK(request.run.program == "true");
  CHECK(writes(request, host.work("x")));
  CHECK(!reads(request, host.home(".bashrc")));
  CHECK(request.policy.level() == SandboxLevel::Standard);
}

TEST_CASE("flags grant, narrow and close, by the path a link leads to as well") {
  Host host;
  host.tree.directory("data/keys");
  host.tree.link("link", "data");
  const Request request = host.good({"--ro", host.tree.at("link"), "--deny",
                                     host.tree.at("data/keys"), "--ro", host.work(), "true"});
  CHECK(reads(request, host.tree.at("data/f")));
  CHECK(reads(request, host.tree.at("link/f")));
  CHECK(!writes(request, host.tree.at("data/f")));
  CHECK(!reads(request, host.tree.at("data/keys/k")));
  CHECK(!writes(request, host.work("x")));
}

TEST_CASE("a grant of what is missing or denied is an error that names it (B003, T124)") {
  Host host;
  CHECK(host.bad({"--ro", host.tree.at("no"), "true"}).find(host.tree.at("no")) !=
        std::string::npos);
  const std::string denied = host.bad({"--ro", host.home(".ssh"), "true"});
  CHECK(denied.find("--ro " + host.home(".ssh")) != std::string::npos);
  CHECK(denied.find("shipped deny rule") != std::string::npos);
  CHECK(host.bad({"--rw", host.home(".ssh/id_missing"), "true"}).find("shipped deny rule") !=
        std::string::npos);
  host.tree.link("alias", host.home(".ssh"));
  CHECK(host.bad({"--ro", host.tree.at("alias"), "true"}).find("shipped deny rule") !=
        std::string::npos);
  CHECK(host.bad({"--ro", host.work("../../.ssh"), "true"}).find("shipped deny rule") !=
        std::string::npos);
}

TEST_CASE("a grant that holds a denial is legal, and the hole stays") {
  Host host;
  const Request request = host.good({"--ro", host.home(""), "true"});
  CHECK(reads(request, host.home("notes")));
  CHECK(!reads(request, host.home(".ssh/id")));
}

TEST_CASE("a denial of what is missing is kept") {
  Host host;
  CHECK(!writes(host.good({"--deny", host.work(".env"), "true"}), host.work(".env")));
}

TEST_CASE("two flags that contradict each other are an error in either order (B010)") {
  Host host;
  host.tree.directory("d");
  host.tree.link("e", "d");
  const std::string d = host.tree.at("d"), e = host.tree.at("e");
  CHECK(host.bad({"--ro", d, "--rw", e, "true"}).find("contradicts") != std::string::npos);
  CHECK(host.bad({"--rw", e, "--ro", d, "true"}).find("contradicts") != std::string::npos);
}

TEST_CASE("a narrowing flag at a level without a file-system policy is an error") {
  Host host;
  CHECK(host.bad({"--level", "basic", "--deny", host.work("x"), "true"})
            .find("no file-system policy") != std::string::npos);
  CHECK(host.bad({"--level", "basic", "true"}).empty());
}

TEST_CASE("the home as a working directory needs a flag, and one flag is enough (B022)") {
  Host host;
  host.facts.workingDirectory = host.home("");
  host.facts.workingDirectory.pop_back();
  CHECK(host.bad({"true"}).find("is a home directory") != std::string::npos);
  CHECK(host.bad({"--level", "basic", "true"}).find("is a home directory") != std::string::npos);
  CHECK(host.bad({"--level", "none", "true"}).empty());
  const Request asked = host.good({"--ro", host.facts.workingDirectory, "true"});
  CHECK(!writes(asked, host.home("x")));
  const Request moved = host.good({"--workdir", host.home("src/p"), "true"});
  CHECK(writes(moved, host.home("src/p/x")));
  CHECK(!reads(moved, host.home("x")));
  CHECK(moved.policy.workingDirectory() == host.home("src/p"));
}

TEST_CASE("--workdir of a home grants nothing, beneath a denial it is refused") {
  Host host;
  const Request request = host.good({"--workdir", host.tree.at("home"), "true"});
  CHECK(!reads(request, host.home("x")));
  host.tree.directory("home/.ssh/sub");
  CHECK(host.bad({"--workdir", host.home(".ssh/sub"), "true"}).find("denied by the shipped rule") !=
        std::string::npos);
  CHECK(host.bad({"--workdir", host.work("no"), "true"}).find("missing") != std::string::npos);
  host.tree.file("home/src/p/f");
  CHECK(host.bad({"--workdir", host.work("f"), "true"}).find("not a directory") !=
        std::string::npos);
}

TEST_CASE("level none is the caller's own world, and what flags say of the environment counts") {
  Host host;
  const Request request = host.good({"--level", "none", "--setenv", "A=b", "true"});
  CHECK(request.policy.passesAllEnv());
  CHECK(request.policy.temp() == TempMode::Inherit);
  REQUIRE(setting(request, "A") != nullptr);
}

TEST_CASE("a variable that loads code never passes (T130)") {
  Host host;
  for (const char* name : {"LD_PRELOAD", "BASH_ENV", "NODE_OPTIONS", "GIT_SSH_COMMAND"}) {
    CHECK(host.bad({"--env", name, "true"}).find(name) != std::string::npos);
    CHECK(host.bad({"--setenv", std::string(name) + "=x", "true"}).find(name) != std::string::npos);
  }
}

TEST_CASE("the working directory is there under the name the user came by") {
  Host host;
  host.tree.link("way", host.facts.workingDirectory);
  host.facts.environment.push_back("PWD=" + host.tree.at("way"));
  const Request request = host.good({"true"});
  CHECK(request.policy.workingDirectory() == host.tree.at("way"));
  CHECK(writes(request, host.work("x")));
  host.facts.environment.back() = "PWD=" + host.home("");
  CHECK(host.good({"true"}).policy.workingDirectory() == host.facts.workingDirectory);
}

// ---- which profile
// ---------------------------------------------------------------------------------

TEST_CASE("a tool of a toolchain that its profile names gets the profile") {
  Host host;
  const Request request = host.good({"cargo", "build"});
  CHECK(request.profile == "cargo");
  CHECK(request.phase == "build");
  CHECK(reads(request, host.home(".cargo/bin/cargo")));
  CHECK(!reads(request, host.home(".cargo/config.toml")));
}

TEST_CASE("a planted tool gets no profile by its name (T129)") {
  Host host;
  host.tool("home/src/p/cargo");
  CHECK(host.good({"./cargo", "build"}).profile.empty());
  host.path({".", "home/.cargo/bin"});
  CHECK(host.good({"cargo", "build"}).profile.empty());
  host.path({"", "home/.cargo/bin"});
  host.facts.environment[1] = "PATH=:" + host.home(".cargo/bin");
  CHECK(host.good({"cargo", "build"}).profile.empty());
  // A directory of the home that no profile names.
  host.path({"home/bin"});
  const Request make = host.good({"make"});
  CHECK(make.profile.empty());
  REQUIRE(make.hints.size() == 1);
  CHECK(llvm::StringRef(make.hints[0]).contains("bwr --profile make make"));
  // A toolchain that a variable moves into the project.
  host.tool("home/src/p/c/bin/cargo");
  host.path({"home/src/p/c/bin"});
  host.facts.environment.push_back("CARGO_HOME=" + host.work("c"));
  CHECK(host.good({"cargo", "build"}).profile.empty());
}

TEST_CASE("a toolchain directory that everyone may write is not trusted") {
  Host host;
  ::chmod(host.home(".cargo/bin").c_str(), 0777);
  CHECK(host.good({"cargo", "build"}).profile.empty());
}

TEST_CASE("a profile is named or refused by flag") {
  Host host;
  CHECK(host.good({"--profile", "none", "cargo", "build"}).profile.empty());
  CHECK(host.good({"--profile", "make", "cargo", "build"}).profile == "make");
  CHECK(host.bad({"--profile", "nope", "true"}).find("no profile `nope`") != std::string::npos);
}

// ---- what a profile does
// -----------------------------------------------------------------------------

TEST_CASE("a cargo build reads its sources, writes target and has no network") {
  Host host;
  host.tree.file("home/src/p/Cargo.toml");
  host.tree.file("home/src/p/Cargo.lock");
  host.tree.directory("home/.cargo/registry");
  const Request request = host.good({"cargo", "build"});
  CHECK(!writes(request, host.work("src/main.rs")));
  CHECK(reads(request, host.work("src/main.rs")));
  CHECK(writes(request, host.work("target/debug/x")));
  CHECK(std::filesystem::is_directory(host.work("target")));
  CHECK(reads(request, host.home(".cargo/registry/x")));
  CHECK(!writes(request, host.home(".cargo/registry/x")));
  CHECK(!reads(request, host.home(".cargo/credentials.toml")));
  REQUIRE(setting(request, "CARGO_NET_OFFLINE") != nullptr);
  CHECK(request.policy.network() == NetworkMode::None);
  CHECK(request.hints.empty());
  CHECK(request.missing.empty());
  CHECK(llvm::StringRef(request.network.text).ends_with("first: bwr --network client cargo fetch"));
  CHECK(llvm::StringRef(request.network.withNetwork).ends_with("bwr --network client cargo build"));
  REQUIRE(request.network.check.size() >= 2);
  CHECK(request.network.check[0] == "cargo");
}

TEST_CASE("a cargo fetch writes the registry, not the sources, and says which network it wants") {
  Host host;
  host.tree.file("home/src/p/Cargo.toml");
  const Request request = host.good({"cargo", "fetch"});
  CHECK(request.phase == "fetch");
  CHECK(writes(request, host.home(".cargo/registry/x")));
  CHECK(writes(request, host.work("Cargo.lock")));
  CHECK(!writes(request, host.work("src/main.rs")));
  CHECK(!writes(request, host.home(".cargo/bin/x")));
  CHECK(request.hints.empty());
  CHECK(llvm::StringRef(request.network.text).ends_with("bwr --network client cargo fetch"));
  CHECK(llvm::is_contained(request.madeFiles, host.work("Cargo.lock")));
  CHECK(host.good({"--network", "client", "cargo", "fetch"}).network.text.empty());
}

TEST_CASE("in a member of a workspace the whole workspace is the project") {
  Host host;
  host.tree.file("home/src/p/Cargo.lock");
  host.tree.file("home/src/p/member/Cargo.toml");
  host.facts.workingDirectory += "/member";
  const Request request = host.good({"cargo", "build"});
  CHECK(reads(request, host.home("src/p/Cargo.toml")));
  CHECK(!writes(request, host.home("src/p/member/src/lib.rs")));
  CHECK(writes(request, host.home("src/p/target/x")));
}

TEST_CASE("of a project above the working directory nothing is writable") {
  Host host;
  host.tree.file("home/src/package-lock.json");
  const Request request = host.good({"--profile", "npm", "true"});
  CHECK(reads(request, host.home("src/package.json")));
  CHECK(!writes(request, host.home("src/other/index.js")));
  CHECK(writes(request, host.work("node_modules/x")));
}

TEST_CASE("a project never reaches a home") {
  Host host;
  host.tree.file("home/Cargo.lock");
  const Request request = host.good({"cargo", "build"});
  CHECK(!reads(request, host.home("notes")));
}

TEST_CASE("a lock file that is missing is what a failed build is told about") {
  Host host;
  host.tree.file("home/src/p/Cargo.toml");
  const Request request = host.good({"cargo", "build"});
  REQUIRE(request.missing.size() == 1);
  CHECK(request.missing[0].anyOf == std::vector<std::string>{host.work("Cargo.lock")});
  CHECK(
      llvm::StringRef(request.missing[0].hint).contains(host.work("Cargo.lock") + "` is missing"));
}

TEST_CASE("outside of a project nothing is missing") {
  Host host;
  CHECK(host.good({"cargo", "build"}).missing.empty());
}

TEST_CASE("a target that leads out of the project is not granted") {
  Host host;
  host.tree.file("home/src/p/Cargo.lock");
  host.tree.directory("home/other");
  host.tree.link("home/src/p/target", host.home("other"));
  const Request request = host.good({"cargo", "build"});
  CHECK(!writes(request, host.home("other/x")));
  bool noted = false;
  for (const std::string& note : request.notes)
    noted |= llvm::StringRef(note).contains("leads out of the project");
  CHECK(noted);
}

TEST_CASE("a variable makes no profile wide") {
  Host host;
  host.tree.file("home/src/p/Cargo.lock");
  for (const std::string& value : {std::string("/"), host.tree.at("home"), host.home(".ssh"),
                                   host.home(".ssh/x"), std::string("/tmp")}) {
    CAPTURE(value);
    host.path({"home/.cargo/bin"});
    host.facts.environment.push_back("CARGO_TARGET_DIR=" + value);
    const Request request = host.good({"cargo", "build"});
    CHECK(!writes(request, host.home("notes")));
    CHECK(!writes(request, host.home(".ssh/x")));
    CHECK(!writes(request, "/tmp/x"));
  }
}

TEST_CASE("--explain makes nothing and says what would be made") {
  Host host;
  host.tree.file("home/src/p/Cargo.lock");
  const Request request = host.good({"--explain", "cargo", "build"}, Purpose::Explain);
  CHECK(!std::filesystem::exists(host.work("target")));
  CHECK(llvm::is_contained(request.notes,
                           "`" + host.work("target") + "` would be made before the run"));
}

TEST_CASE("the user's flags win over the profile, for paths and for variables") {
  Host host;
  host.tree.file("home/src/p/Cargo.lock");
  const Request request =
      host.good({"--rw", host.work(), "--setenv", "CARGO_NET_OFFLINE=false", "cargo", "build"});
  CHECK(writes(request, host.work("src/main.rs")));
  REQUIRE(setting(request, "CARGO_NET_OFFLINE") != nullptr);
  CHECK(*setting(request, "CARGO_NET_OFFLINE") == "false");
  CHECK(setting(host.good({"--env", "CARGO_NET_OFFLINE", "cargo", "build"}), "CARGO_NET_OFFLINE") ==
        nullptr);
}

TEST_CASE("private caches differ between projects and lie in no closed place") {
  Host host;
  host.tree.directory("home/src/q");
  const Request p = host.good({"--profile", "make", "true"});
  REQUIRE(setting(p, "CCACHE_DIR") != nullptr);
  const std::string first = *setting(p, "CCACHE_DIR");
  CHECK(llvm::StringRef(first).starts_with(host.home(".cache/bwr-projects/p-")));
  CHECK(writes(p, first + "/x"));
  struct stat status{};
  REQUIRE(::stat(first.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  host.facts.workingDirectory = host.home("src/q");
  const Request q = host.good({"--profile", "make", "true"});
  CHECK(*setting(q, "CCACHE_DIR") != first);
  CHECK(!reads(q, first));
}

TEST_CASE("what names the private temp is left out where there is none") {
  Host host;
  CHECK(setting(host.good({"--profile", "pip", "true"}), "PYTHONPYCACHEPREFIX") != nullptr);
  CHECK(setting(host.good({"--level", "basic", "--profile", "pip", "true"}),
                "PYTHONPYCACHEPREFIX") == nullptr);
}

TEST_CASE("a sub-build sees the sources above it read-only") {
  Host host;
  host.tree.file("home/src/p/CMakeLists.txt");
  host.tree.directory("home/src/p/build");
  host.facts.workingDirectory += "/build";
  const Request request = host.good({"--profile", "cmake", "true"});
  CHECK(reads(request, host.home("src/p/main.c")));
  CHECK(!writes(request, host.home("src/p/main.c")));
  CHECK(writes(request, host.home("src/p/build/x")));
}

// ---- objects
// ------------------------------------------------------------------------------------------

TEST_CASE("the object of a run and of a failure are one line each") {
  Request request;
  request.policy = Policy().withLevel(SandboxLevel::Strict);
  request.profile = "go";
  sandbox::RunResult result;
  result.code = 137;
  result.signal = 9;
  result.wallSeconds = 0.5;
  result.createdGuards = {"/p/a\nb"};
  CHECK(resultJson(request, result, nullptr) ==
        "{\"schema\":1,\"code\":137,\"signal\":9,\"wall_seconds\":0.5,\"cpu_seconds\":0.0,"
        "\"peak_bytes\":0,\"killed\":0,\"cleaned\":{\"processes\":0,\"temporary_directory\":false},"
        "\"level\":\"strict\",\"profile\":\"go\",\"phase\":null,\"created_guards\":[\"/p/a\\nb\"],"
        "\"cover_lost\":false,\"network_refused\":false,\"error\":null}");
  Failure failure{64, "unavailable", "no\x1b", "fix", "user namespace", {}};
  CHECK(failureJson(failure, nullptr) ==
        "{\"schema\":1,\"code\":64,\"level\":null,\"error\":{\"kind\":\"unavailable\",\"text\":"
        "\"no\\u001b\",\"primitive\":\"user namespace\",\"fix\":\"fix\"}}");
}

TEST_CASE("a message escapes what comes from outside") {
  std::string text;
  llvm::raw_string_ostream out(text);
  print(out, {126, "policy", "path `a\x1b[2J`", "--ro a\x07", {}, {}});
  CHECK(out.str() == "bwr: path `a\\x1b[2J`\ntry: --ro a\\x07\n");
}

} // namespace
} // namespace gos::bwr
