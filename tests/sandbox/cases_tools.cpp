// Real tools: B073 to B077 and B082 of the catalogue of honest builds. Cargo, make, ccache and
// CMake on small projects, with the profile that the command's name chooses. Each was run without
// bwr first.

#include "tests/sandbox/tools/tools.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace gos::cases {
namespace {

/// Somebody listens on loopback, outside.
class Listener {
public:
  Listener() {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(::bind(fd_, reinterpret_cast<sockaddr*>(&any), sizeof any) == 0);
    REQUIRE(::listen(fd_, 64) == 0);
    socklen_t size = sizeof any;
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&any), &size);
    port_ = ntohs(any.sin_port);
  }
  ~Listener() { ::close(fd_); }
  std::string port() const { return std::to_string(port_); }

private:
  int fd_ = -1;
  unsigned port_ = 0;
};

/// A directory of the caller's that lies neither in a home nor beneath a temp.
struct Elsewhere {
  std::string path;
  explicit Elsewhere(const Room& room) {
    const char* home = ::getenv("HOME");
    path = (::geteuid() == 0 ? std::string("/srv") : std::string(home != nullptr ? home : "/")) +
           "/gosbox-XXXXXX";
    REQUIRE(::mkdtemp(path.data()) != nullptr);
    struct stat owner{};
    REQUIRE(::stat(room.project().c_str(), &owner) == 0);
    (void)::chown(path.c_str(), owner.st_uid, owner.st_gid);
  }
  ~Elsewhere() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

void cargoProject(const Room& room, const Registry& registry, const std::string& to = "") {
  copyProject(room, "cargo", to);
  const std::string top = to.empty() ? room.project() : room.path(to);
  room.makeDirectory(top + "/.cargo");
  room.write(top + "/.cargo/config.toml",
             "[registries.local]\nindex = \"sparse+" + registry.url("/index/") + "\"\n");
}

/// The words that start two at once and fail if one of them fails.
std::string twice(const std::string& first, const std::string& second) {
  return first + " >one.log 2>&1 & a=$!; " + second +
         " >two.log 2>&1; b=$?; wait $a; a=$?; cat one.log two.log; [ $a = 0 ] && [ $b = 0 ]";
}

} // namespace

TEST_CASE("B074 cargo fetches with the network and runs nothing, and builds without it") {
  if (!has("B074", {"cargo", "rustc", "python3"}))
    return;
  const Registry registry;
  {
    const Room plain(identities().front());
    cargoProject(plain, registry);
    const Outcome outcome = plain.plain({"cargo", "build"}, tool());
    REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(plain.read("target/ran.txt") == "build script");
  }
  each(levels(), [&](const Room& room, const std::string& level) {
    cargoProject(room, registry);
    // Without the fetch: it fails, and says what fetches.
    Outcome outcome = room.bwr(level, {}, {"cargo", "build"}, tool());
    CHECK(outcome.code == 101);
    CHECK_MESSAGE(contains(outcome.err, "bwr --network client cargo fetch"), outcome.err);
    CHECK_FALSE(room.exists("target/ran.txt"));

    outcome = room.bwr(level, {"--network", "client"}, {"cargo", "fetch"}, tool());
    REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(contains(room.read("Cargo.lock"), "tool-dep"));
    CHECK_FALSE(room.exists("target/ran.txt"));

    outcome = room.bwr(level, {}, {"cargo", "build", "--locked"}, tool());
    REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(room.read("target/ran.txt") == "build script");
    CHECK(room.plain({room.path("target/debug/app")}).out == "42\n");
    outcome = room.bwr(level, {}, {"cargo", "test", "--offline"}, tool());
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK_MESSAGE(contains(outcome.out, "1 passed"), outcome.out);
    outcome = room.bwr(level, {}, {"cargo", "doc", "--offline", "--no-deps"}, tool());
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(room.exists("target/doc/app/index.html"));
    outcome = room.bwr(level, {}, {"cargo", "run", "-q"}, tool());
    CHECK_MESSAGE(outcome.out == "42\n", outcome.err);
    outcome = room.bwr(level, {}, {"cargo", "clean"}, tool());
    CHECK_FALSE(room.exists("target/debug"));
  });
}

TEST_CASE("B074 cargo whatever of its home, its lock file and its target is there") {
  if (!has("B074, the matrix", {"cargo", "rustc"}))
    return;
  {
    const Room plain(identities().front());
    copyProject(plain, "cargo_plain");
    const Outcome outcome = plain.plain({"cargo", "test", "--offline"}, tool());
    REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  }
  for (const std::string home : {"read-write", "read-only", "empty"})
    for (bool locked : {true, false})
      for (bool made : {true, false})
        each(levels(), [&](const Room& room, const std::string& level) {
          CAPTURE(home);
          CAPTURE(locked);
          CAPTURE(made);
          copyProject(room, "cargo_plain");
          if (locked)
            room.write("Cargo.lock", room.read("Cargo.lock.made"));
          if (made)
            room.makeDirectory("target");
          How how = tool();
          std::vector<std::string> flags;
          if (home == "empty") {
            how.set["CARGO_HOME"] = room.top() + "/empty";
            room.makeDirectory(room.top() + "/empty");
          } else {
            room.makeDirectory(room.home() + "/.cargo/registry");
            flags = {home == "read-only" ? "--ro" : "--rw", room.home() + "/.cargo"};
          }
          const Outcome outcome = room.bwr(level, flags, {"cargo", "build", "--offline"}, how);
          if (locked || level == "basic") {
            CHECK_MESSAGE(outcome.code == 0, outcome.err);
            CHECK(room.exists("target/debug/libplain.rlib"));
            return;
          }
          // The sources are read-only, so there is nowhere to make the lock file.
          CHECK(outcome.code == 101);
          CHECK_MESSAGE(contains(outcome.err, "Cargo.lock` is missing"), outcome.err);
          CHECK_MESSAGE(contains(outcome.err, "run first: bwr --network client cargo fetch"),
                        outcome.err);
        });
}

TEST_CASE("B074 a cargo fetch runs no program that the project names") {
  if (!has("B074, named programs", {"cargo", "rustc", "python3"}))
    return;
  const Registry registry;
  const auto prepare = [&](const Room& room, const std::string& file, const std::string& text) {
    cargoProject(room, registry);
    room.write("named", "#!/bin/sh\n: >\"$(dirname \"$0\")/canary\"\nexec rustc \"$@\"\n", 0755);
    room.write(file, (file == ".cargo/config.toml" ? room.read(file) : "") + text);
  };
  // Overridden: the fetch works and the canary stays away.
  for (const std::string key : {"rustc", "rustc-wrapper", "rustc-workspace-wrapper"}) {
    CAPTURE(key);
    const auto text = [&](const Room& room) {
      return "[build]\n" + key + " = \"" + room.path("named") + "\"\n";
    };
    for (As who : identities()) {
      const Room plain(who);
      prepare(plain, ".cargo/config.toml", text(plain));
      (void)plain.plain({"cargo", "fetch"}, tool());
      if (key != "rustc-workspace-wrapper") // which a fetch has no use for today
        REQUIRE(plain.exists("canary"));
    }
    each(confining(), [&](const Room& room, const std::string& level) {
      prepare(room, ".cargo/config.toml", text(room));
      const Outcome run = room.bwr(level, {"--network", "client", "--rw", room.project()},
                                   {"cargo", "fetch"}, tool());
      CHECK_MESSAGE(run.code == 0, run.err);
      CHECK(!room.exists("canary"));
    });
  }
  // Refused, with the name of the file.
  const std::pair<std::string, std::string> refused[] = {
      {"rust-toolchain.toml", "[toolchain]\npath = \"/proc/self/cwd/tc\"\n"},
      {"rust-toolchain.toml", "[toolchain]\n\"pa\\u0074h\" = \"/proc/self/cwd/tc\"\n"},
      {"rust-toolchain", "/proc/self/cwd/tc\n"},
      {".cargo/config.toml", "[env]\nLD_PRELOAD = { value = \"/x.so\", force = true }\n"},
      {".cargo/config.toml", "[registry]\nglobal-credential-providers = [\"./named\"]\n"},
      {".cargo/config", "include = \"other.toml\"\n"}};
  for (const auto& [file, text] : refused) {
    CAPTURE(file);
    CAPTURE(text);
    each(confining(), [&](const Room& room, const std::string& level) {
      prepare(room, file, text);
      Outcome run = room.bwr(level, {"--network", "client"}, {"cargo", "fetch"}, tool());
      CHECK(run.code == 126);
      CHECK_MESSAGE(contains(run.err, "`" + room.path(file) + "` holds"), run.err);
      // From a directory of the project as well, and not where there is no network to abuse.
      How beneath = tool();
      room.makeDirectory("src/deep");
      beneath.directory = room.path("src/deep");
      run = room.bwr(level, {"--network", "client"}, {"cargo", "fetch"}, beneath);
      CHECK_MESSAGE(run.code == 126, run.err);
      CHECK(room.bwr(level, {}, {"cargo", "fetch"}, tool()).code != 126);
    });
  }
}

TEST_CASE("B074 a toolchain of rustup in a home, and clippy") {
  const char* home = ::getenv("HOME");
  const std::string cargoHome = std::string(home != nullptr ? home : "/nowhere") + "/.cargo";
  const std::string rustupHome = std::string(home != nullptr ? home : "/nowhere") + "/.rustup";
  if (::access((cargoHome + "/bin/cargo-clippy").c_str(), X_OK) != 0 ||
      ::access((rustupHome + "/toolchains").c_str(), R_OK) != 0)
    return skip("B074, rustup", "rustup is not installed in this home");
  const As who = ::geteuid() == 0 ? As::Root : As::User; // it is the caller's own
  for (const std::string& level : levels()) {
    CAPTURE(level);
    const Room room(who);
    copyProject(room, "cargo_plain");
    room.write("Cargo.lock", room.read("Cargo.lock.made"));
    const How how = tool({{"HOME", home}, {"PATH", cargoHome + "/bin:/usr/bin:/bin"}});
    if (room.plain({"cargo", "clippy", "--version"}, how).code != 0)
      return skip("B074, rustup", "its toolchain has no clippy");
    for (const std::string command : {"build", "clippy", "test"}) {
      CAPTURE(command);
      const Outcome outcome = room.bwr(level, {}, {"cargo", command, "--offline"}, how);
      CHECK_MESSAGE(outcome.code == 0, outcome.err);
    }
    CHECK(room.exists("target/debug/libplain.rlib"));
  }
}

TEST_CASE("B075 a build script that looks around is refused, one that compiles is not") {
  if (!has("B075", {"cargo", "rustc", "cc"}))
    return;
  const Listener listener;
  const auto prepare = [&](const Room& room) {
    copyProject(room, "cargo_nosy");
    room.makeDirectory(room.home() + "/.ssh");
    room.write(room.home() + "/.ssh/x", "secret\n");
    room.write("port", listener.port());
    room.write("secret", room.home() + "/.ssh/x");
  };
  const How how = tool({{"SECRET_TOKEN", "canary"}});
  for (As who : identities()) {
    const Room plain(who);
    prepare(plain);
    const Outcome outcome = plain.plain({"cargo", "build", "--offline"}, how);
    REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(plain.read("target/nosy.txt") ==
          "connect done\nwrite done\nread done\nenvironment done\ncc true\n");
  }
  each(levels(), [&](const Room& room, const std::string& level) {
    prepare(room);
    Outcome outcome = room.bwr(level, {}, {"cargo", "build", "--offline"}, how);
    REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
    const std::string verdicts = room.read("target/nosy.txt");
    CAPTURE(verdicts);
    CHECK(contains(verdicts, "environment refused"));
    CHECK(contains(verdicts, "cc true"));
    if (level == "basic")
      return;
    for (const char* act : {"connect refused", "write refused", "read refused"})
      CHECK_MESSAGE(contains(verdicts, act), act);
    CHECK_FALSE(room.exists("src/gen.rs"));
    // The report names the paths and the address.
    outcome = room.bwr(level, {}, {"cargo", "clean"}, how);
    outcome = room.bwr(level, {"--report"}, {"cargo", "build", "--offline"}, how);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK_MESSAGE(contains(outcome.err, room.path("src/gen.rs")), outcome.err);
    CHECK_MESSAGE(contains(outcome.err, room.home() + "/.ssh"), outcome.err);
    CHECK_MESSAGE(contains(outcome.err, listener.port()), outcome.err);
  });
}

TEST_CASE("B076 a jobserver of the caller's is not passed on, one inside works") {
  if (!has("B076", {"make"}))
    return;
  each(levels(), [](const Room& room, const std::string& level) {
    copyProject(room, "make");
    const std::string bwr = bwrPath() + " --level " + level;
    room.write("Outer",
               "plain:\n\t+sh -c 'echo \"<$$MAKEFLAGS>\"'\n"
               "inner:\n\t+" +
                   bwr +
                   " make -f Inner\n"
                   "shell:\n\t+" +
                   bwr + " --env MAKEFLAGS -- sh -c 'echo \"<$$MAKEFLAGS>\"; ls /proc/self/fd'\n");
    room.write("Inner", "all:\n\t@echo '<$(MAKEFLAGS)>'; ls /proc/self/fd\n");
    CHECK(contains(room.shell("make -f Outer -j2 plain", tool()).out, "--jobserver"));
    for (const std::string target : {"inner", "shell"}) {
      CAPTURE(target);
      const Outcome outcome =
          room.shell("make --no-print-directory -s -f Outer -j2 " + target, tool());
      CHECK_MESSAGE(outcome.code == 0, outcome.err);
      CHECK_MESSAGE(!contains(both(outcome), "jobserver"), both(outcome));
      CHECK_MESSAGE(contains(outcome.out, ">\n0\n1\n2\n3\n"),
                    outcome.out); // 3 is the directory that ls reads
    }
    // A stale one, as make 4.4 spells it.
    const Outcome stale =
        room.bwr(level, {}, {"make"}, tool({{"MAKEFLAGS", " -j2 --jobserver-auth=fifo:/tmp/x"}}));
    CHECK_MESSAGE(stale.code == 0, both(stale));
    CHECK_MESSAGE(!contains(both(stale), "jobserver"), both(stale));
    CHECK(room.exists("app"));
    // Twenty jobs, four at a time: the log has the beginnings and the ends in their order.
    const Outcome outcome = room.bwr(level, {}, {"make", "-j4", "sleeps"}, tool());
    REQUIRE_MESSAGE(outcome.code == 0, both(outcome));
    int running = 0, most = 0, began = 0;
    for (char mark : room.read("log")) {
      running += mark == '+' ? 1 : mark == '-' ? -1 : 0;
      began += mark == '+' ? 1 : 0;
      most = std::max(most, running);
    }
    CHECK(began == 20);
    CHECK(running == 0);
    CHECK(most == 4);
  });
}

TEST_CASE("B077 ccache misses and hits inside its grant, and says clearly that it has none") {
  if (!has("B077", {"ccache", "gcc"}))
    return;
  for (As who : identities()) {
    const Room plain(who);
    copyProject(plain, "make");
    REQUIRE(
        plain.plain({"ccache", "gcc", "-c", "main.c"}, tool({{"CCACHE_DIR", plain.top() + "/cc"}}))
            .code == 0);
    CHECK(plain.exists(plain.top() + "/cc"));
  }
  each(levels(), [](const Room& room, const std::string& level) {
    copyProject(room, "make");
    std::vector<std::string> flags = {"--env", "CCACHE_DIR"};
    Outcome outcome;
    {
      // A cache that exists, is the caller's and was not granted. (Rooms lie beneath the temp,
      // which a command has for itself; this one does not.)
      const Elsewhere elsewhere(room);
      const How how = tool({{"CCACHE_DIR", elsewhere.path}});
      outcome = room.bwr(level, flags, {"ccache", "gcc", "-c", "main.c"}, how);
      CHECK_FALSE(outcome.timedOut);
      if (level == "basic") {
        CHECK_MESSAGE(outcome.code == 0, outcome.err);
        CHECK_FALSE(std::filesystem::is_empty(elsewhere.path));
      } else {
        CHECK(outcome.code != 0);
        CHECK_MESSAGE(contains(outcome.err, elsewhere.path), outcome.err);
        CHECK(std::filesystem::is_empty(elsewhere.path));
      }
    }
    const std::string cache = room.top() + "/cc";
    const How how = tool({{"CCACHE_DIR", cache}});
    room.makeDirectory(cache);
    flags.insert(flags.end(), {"--rw", cache});
    const auto counts = [&] {
      const Outcome shown = room.plain({"ccache", "--print-stats"}, how);
      std::string found;
      for (const char* key : {"direct_cache_hit\t", "cache_miss\t"}) {
        const size_t at = shown.out.find(key);
        found += at == std::string::npos ? "?" : shown.out.substr(at + std::string(key).size(), 1);
      }
      return found;
    };
    outcome = room.bwr(level, flags, {"ccache", "gcc", "-c", "main.c"}, how);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(counts() == "01");
    outcome = room.bwr(level, flags, {"ccache", "gcc", "-c", "main.c"}, how);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(counts() == "11");
    // With the profile of make the cache is the project's own, and needs no flag.
    for (int run = 0; run != 2; ++run) {
      outcome = room.bwr(level, {}, {"make", "-B", "CC=ccache gcc", "main.o"}, tool());
      CHECK_MESSAGE(outcome.code == 0, both(outcome));
    }
    CHECK(room.exists(room.home() + "/.cache/bwr-projects"));
    CHECK_FALSE(room.exists(room.home() + "/.cache/ccache"));
  });
}

TEST_CASE("B073 two sandboxes work on one target directory and on one cache") {
  const bool cargo = has("B073, cargo", {"cargo", "rustc"});
  const bool ccache = has("B073, ccache", {"ccache", "gcc", "make"});
  const bool npm = has("B073, npm", {"npm", "node", "python3"});
  const Registry registry;
  std::string lock;
  if (npm) {
    const Room maker(identities().front());
    copyProject(maker, "npm");
    maker.write(".npmrc", "registry=" + registry.url("/") + "\n");
    const Outcome made =
        maker.plain({"npm", "install", "--package-lock-only", "--ignore-scripts"}, tool());
    REQUIRE_MESSAGE(made.code == 0, both(made));
    lock = maker.read("package-lock.json");
  }
  each(levels(), [&](const Room& room, const std::string& level) {
    const std::string bwr = bwrPath() + " --level " + level + " ";
    if (cargo) {
      copyProject(room, "cargo_plain");
      room.write("Cargo.lock", room.read("Cargo.lock.made"));
      const Outcome outcome =
          room.shell(twice(bwr + "cargo build --offline", bwr + "cargo build --offline"), tool());
      CHECK_MESSAGE(outcome.code == 0, both(outcome));
      CHECK(room.exists("target/debug/libplain.rlib"));
    }
    if (ccache) {
      for (const char* each : {"a", "b"})
        copyProject(room, "make", each);
      const std::string shared = room.top() + "/cc";
      room.makeDirectory(shared);
      const std::string run = bwr + "--env CCACHE_DIR --rw " + shared + " --workdir ";
      const Outcome outcome =
          room.shell(twice(run + "a ccache gcc -c main.c", run + "b ccache gcc -c main.c"),
                     tool({{"CCACHE_DIR", shared}}));
      CHECK_MESSAGE(outcome.code == 0, both(outcome));
      CHECK(room.exists("a/main.o"));
      CHECK(room.exists("b/main.o"));
    }
    if (npm) {
      for (const char* each : {"m", "n"}) {
        copyProject(room, "npm", each);
        room.write(std::string(each) + "/package-lock.json", lock);
        room.write(std::string(each) + "/.npmrc", "registry=" + registry.url("/") + "\n");
      }
      const std::string run = bwr + "--network client --workdir ";
      const Outcome outcome = room.shell(
          twice(run + "m npm ci --ignore-scripts", run + "n npm ci --ignore-scripts"), tool());
      CHECK_MESSAGE(outcome.code == 0, both(outcome));
      CHECK(room.exists("m/node_modules/tool-dep/index.js"));
      CHECK(room.exists("n/node_modules/tool-dep/index.js"));
    }
  });
}

TEST_CASE("B082 CMake configures, builds, tests and installs with its sources read-only") {
  if (!has("B082", {"cmake", "ctest", "ninja", "make", "cc"}))
    return;
  for (const std::string generator : {"Ninja", "Unix Makefiles"}) {
    CAPTURE(generator);
    each(levels(), [&](const Room& room, const std::string& level) {
      copyProject(room, "cmake");
      room.makeDirectory("build");
      const std::string prefix = room.top() + "/usr"; // not granted
      How how = tool({{"DESTDIR", room.path("build/stage")}});
      how.directory = "build";
      const std::vector<std::vector<std::string>> steps = {
          {"cmake", "-G", generator, ".."},
          {"cmake", "--build", "."},
          {"ctest", "--output-on-failure"},
          {"cmake", "--install", ".", "--prefix", prefix}};
      const auto all = [&](auto run) {
        for (const std::vector<std::string>& step : steps) {
          const Outcome outcome = run(step);
          CAPTURE(step[1]);
          CHECK_MESSAGE(outcome.code == 0, both(outcome));
        }
        CHECK(room.plain({room.path("build/stage" + prefix + "/bin/app")}).out == "42\n");
      };
      if (level == "basic") {
        all([&](const auto& step) { return room.plain(step, how); }); // without bwr
        (void)room.shell("rm -rf build && mkdir build");
      }
      all([&](const auto& step) { return room.bwr(level, {}, step, how); });
      // The tools by their own names.
      const std::string builder = generator == "Ninja" ? "ninja" : "make";
      (void)room.shell("rm build/app");
      Outcome outcome = room.bwr(level, {}, {builder}, how);
      CHECK_MESSAGE(outcome.code == 0, both(outcome));
      CHECK(room.exists("build/app"));
      if (level == "basic")
        return;
      // A configure step that writes beside its sources.
      room.write("CMakeLists.txt",
                 room.read("CMakeLists.txt") + "file(WRITE ${CMAKE_SOURCE_DIR}/made.txt x)\n");
      CHECK(room.plain({"cmake", ".."}, how).code == 0);
      REQUIRE(::unlink(room.path("made.txt").c_str()) == 0);
      outcome = room.bwr(level, {}, {"cmake", ".."}, how);
      CHECK(outcome.code != 0);
      CHECK_FALSE(room.exists("made.txt"));
    });
  }
}

} // namespace gos::cases
