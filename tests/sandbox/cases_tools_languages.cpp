// Real tools: B081 and B083 of the catalogue of honest builds. Go and Python: modules and packages
// are fetched with the network, built, installed and tested without it.

#include "tests/sandbox/tools/tools.h"

namespace gos::cases {
namespace {

std::map<std::string, std::string> goNetwork(const Registry& registry) {
  return {{"GOPROXY", registry.url("/go")}, {"GONOSUMDB", "*"}, {"GOSUMDB", "off"}};
}

} // namespace

TEST_CASE("B081 go downloads with the network, builds and tests without it, with cgo") {
  if (!has("B081", {"go", "gcc", "git", "python3"}))
    return;
  const Registry registry;
  std::string sums;
  const auto prepare = [&](const Room& room) {
    copyProject(room, "go");
    if (!sums.empty())
      room.write("go.sum", sums);
    const Outcome made = room.shell(
        "git init -q . && git add . && git -c user.name=n -c user.email=e commit -qm first",
        tool());
    REQUIRE_MESSAGE(made.code == 0, both(made));
  };
  {
    const Room plain(identities().front());
    prepare(plain);
    Outcome outcome = plain.plain({"go", "mod", "tidy"}, tool(goNetwork(registry)));
    REQUIRE_MESSAGE(outcome.code == 0, both(outcome));
    sums = plain.read("go.sum");
    CHECK(contains(sums, "example.com/tooldep v1.0.0 h1:"));
    outcome = plain.plain({"go", "build", "-o", "app", "."}, tool(goNetwork(registry)));
    REQUIRE_MESSAGE(outcome.code == 0, both(outcome));
    CHECK(plain.plain({plain.path("app")}).out == "42\n");
    (void)plain.shell("chmod -R u+w $HOME/go");
  }
  each(levels(), [&](const Room& room, const std::string& level) {
    prepare(room);
    How without = tool();
    without.unset.insert(without.unset.end(), {"GOCACHE", "XDG_CACHE_HOME"});
    Outcome outcome = room.bwr(level, {}, {"go", "build", "-o", "app", "."}, without);
    CHECK(outcome.code != 0);
    CHECK_MESSAGE(contains(outcome.err, "bwr --network client go mod download"), both(outcome));

    outcome = room.bwr(level, {"--network", "client"}, {"go", "mod", "download"},
                       tool(goNetwork(registry)));
    REQUIRE_MESSAGE(outcome.code == 0, both(outcome));
    CHECK(room.exists(room.home() + "/go/pkg/mod/example.com/tooldep@v1.0.0/dep.go"));

    outcome = room.bwr(level, {}, {"go", "build", "-o", "app", "."}, without);
    REQUIRE_MESSAGE(outcome.code == 0, both(outcome));
    CHECK(room.plain({room.path("app")}).out == "42\n");
    CHECK(contains(room.plain({"go", "version", "-m", "app"}, tool()).out, "vcs.revision"));
    outcome = room.bwr(level, {}, {"go", "test", "./..."}, without);
    CHECK_MESSAGE(outcome.code == 0, both(outcome));
    // The cache is the project's own, also where the caller has no home and no cache in the
    // environment.
    CHECK(room.exists(room.home() + "/.cache/bwr-projects"));
    CHECK_FALSE(room.exists(room.home() + "/.cache/go-build"));
    if (room.who() == As::Root || ::geteuid() != 0) {
      // HOME is the account's then, so only the refusal to write is asked for, not where the cache
      // lies.
      How nobody = tool({{"CGO_ENABLED", "1"}, {"GOMODCACHE", room.home() + "/go/pkg/mod"}});
      nobody.unset.push_back("XDG_CACHE_HOME");
      outcome =
          room.shell("unset HOME; " + bwrPath() + " --level " + level + " go vet ./...", nobody);
      CHECK_MESSAGE(outcome.code == 0, both(outcome));
    }
    (void)room.shell("chmod -R u+w $HOME/go");
  });
}

TEST_CASE("B083 python makes an environment, pip fills it without the network, pytest runs") {
  if (!has("B083", {"python3"}))
    return;
  const Room probe(identities().front());
  if (probe.plain({"python3", "-c", "import ensurepip, venv"}, tool()).code != 0)
    return skip("B083", "python3-venv is not installed");
  const bool setuptools =
      probe.plain({"python3", "-c", "import setuptools, wheel"}, tool()).code == 0;
  const bool pytest = probe.plain({"python3", "-c", "import pytest"}, tool()).code == 0;
  const bool parallel = probe.plain({"python3", "-c", "import xdist"}, tool()).code == 0;
  if (!setuptools)
    skip("B083, sdist", "python3-setuptools or python3-wheel is not installed");
  if (!pytest)
    skip("B083, pytest", "python3-pytest is not installed");
  const Registry registry;
  const std::vector<std::string> index = {"--index-url", registry.url("/simple/"), "--trusted-host",
                                          "127.0.0.1"};
  const auto download = [&](const std::string& package, bool binary) {
    std::vector<std::string> words = {"venv/bin/python", "-m", "pip", "download",
                                      "--no-deps",       "-q", "-d",  "wheels"};
    if (binary)
      words.insert(words.end(), {"--only-binary", ":all:"});
    else
      words.insert(words.end(), {"--no-build-isolation"});
    words.insert(words.end(), index.begin(), index.end());
    words.push_back(package);
    return words;
  };
  const auto install = [](const std::string& package) {
    return std::vector<std::string>{
        "venv/bin/python",      "-m",           "pip",    "install", "-q", "--no-index",
        "--no-build-isolation", "--find-links", "wheels", package};
  };
  {
    copyProject(probe, "python");
    Outcome outcome =
        probe.plain({"python3", "-m", "venv", "--system-site-packages", "venv"}, tool());
    REQUIRE_MESSAGE(outcome.code == 0, both(outcome));
    outcome = probe.plain(download("tool_dep", true), tool());
    REQUIRE_MESSAGE(outcome.code == 0, both(outcome));
    outcome = probe.plain(install("tool_dep"), tool());
    REQUIRE_MESSAGE(outcome.code == 0, both(outcome));
  }
  each(levels(), [&](const Room& room, const std::string& level) {
    copyProject(room, "python");
    Outcome outcome =
        room.bwr(level, {}, {"python3", "-m", "venv", "--system-site-packages", "venv"}, tool());
    REQUIRE_MESSAGE(outcome.code == 0, both(outcome));
    // The environment's own python lies in the project, so no name chooses a profile for it.
    const std::vector<std::string> pip = {"--profile", "pip"};
    outcome = room.bwr(level, pip, install("tool_dep"), tool());
    CHECK(outcome.code != 0);
    CHECK_MESSAGE(contains(outcome.err, "bwr --network client --profile pip pip download"),
                  both(outcome));

    const std::vector<std::string> fetching = {"--profile", "pip", "--network", "client"};
    outcome = room.bwr(level, fetching, download("tool_dep", true), tool());
    REQUIRE_MESSAGE(outcome.code == 0, both(outcome));
    CHECK(room.exists("wheels/tool_dep-1.0.0-py3-none-any.whl"));
    outcome = room.bwr(level, pip, install("tool_dep"), tool());
    CHECK_MESSAGE(outcome.code == 0, both(outcome));
    outcome =
        room.bwr(level, {},
                 {"venv/bin/python", "-c", "import tool_dep; print(tool_dep.answer + 1)"}, tool());
    CHECK_MESSAGE(outcome.out == "42\n", both(outcome));
    if (setuptools) {
      outcome = room.bwr(level, fetching, download("tool_source", false), tool());
      REQUIRE_MESSAGE(outcome.code == 0, both(outcome));
      outcome = room.bwr(level, pip, install("tool_source"), tool());
      CHECK_MESSAGE(outcome.code == 0, both(outcome));
      outcome = room.bwr(level, {},
                         {"venv/bin/python", "-c", "import tool_source; print(tool_source.answer)"},
                         tool());
      CHECK_MESSAGE(outcome.out == "42\n", both(outcome));
    }
    if (!pytest)
      return;
    std::vector<std::string> tests = {"python3", "-m", "pytest", "-q", "-p", "no:cacheprovider"};
    if (parallel)
      tests.insert(tests.end(), {"-n2"});
    outcome = room.bwr(level, {}, tests, tool());
    CHECK_MESSAGE(outcome.code == 0, both(outcome));
    CHECK_MESSAGE(contains(outcome.out, "6 passed"), both(outcome));
  });
}

TEST_CASE("B083 uv makes the environment from what it fetched") {
  if (!has("B083, uv", {"uv", "python3"}))
    return;
  const Registry registry;
  const auto prepare = [&](const Room& room) {
    copyProject(room, "python");
    room.write("pyproject.toml", room.read("pyproject.toml") + "\n[[tool.uv.index]]\nurl = \"" +
                                     registry.url("/simple/") + "\"\ndefault = true\n");
  };
  std::string lock;
  {
    const Room plain(identities().front());
    prepare(plain);
    const Outcome outcome = plain.plain({"uv", "lock"}, tool());
    REQUIRE_MESSAGE(outcome.code == 0, both(outcome));
    lock = plain.read("uv.lock");
  }
  each(levels(), [&](const Room& room, const std::string& level) {
    prepare(room);
    room.write("uv.lock", lock);
    Outcome outcome =
        room.bwr(level, {"--network", "client"},
                 {"uv", "sync", "--frozen", "--no-build", "--no-install-project"}, tool());
    REQUIRE_MESSAGE(outcome.code == 0, both(outcome));
    (void)room.shell("rm -rf .venv");
    outcome = room.bwr(level, {}, {"uv", "sync", "--frozen", "--offline", "--no-install-project"},
                       tool());
    CHECK_MESSAGE(outcome.code == 0, both(outcome));
    outcome = room.bwr(
        level, {}, {".venv/bin/python", "-c", "import tool_dep; print(tool_dep.answer)"}, tool());
    CHECK_MESSAGE(outcome.out == "41\n", both(outcome));
  });
}

} // namespace gos::cases
