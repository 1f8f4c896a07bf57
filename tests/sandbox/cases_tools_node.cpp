// Real tools of Node: B078 and B079 of the catalogue of honest builds. The fetch runs with the
// network and executes nothing of the packages; the build executes everything and has no network.

#include "tests/sandbox/tools/tools.h"

namespace gos::cases {
namespace {

struct Step {
  std::vector<std::string> fetch;
  std::vector<std::vector<std::string>> builds;
  std::vector<std::string> lock; // makes the lock file, outside
  std::string lockFile;
  std::vector<std::string> early; // what fails before the fetch
  std::string hint;               // the command that fetches, which is named then
  std::vector<std::string> marks; // what its scripts leave behind
};

/// The program of yarn with this first digit of its version, or "".
std::string yarnOf(const Room& room, char version) {
  for (const char* name : {"yarn", "yarnpkg"})
    if (systemTool(name)) {
      const std::string shown =
          room.plain({name, "--version"}, tool({{"YARN_IGNORE_PATH", "1"}})).out;
      if (!shown.empty() && (version == '1' ? shown[0] == '1' : shown[0] >= '2' && shown[0] <= '9'))
        return name;
    }
  return "";
}

void prepare(const Room& room, const Registry& registry, const std::string& lockFile,
             const std::string& lock) {
  copyProject(room, "npm");
  room.write(".npmrc", "registry=" + registry.url("/") + "\n");
  room.write(".yarnrc", "registry \"" + registry.url("/") + "\"\n");
  room.write(".yarnrc.yml",
             "npmRegistryServer: \"" + registry.url() +
                 "\"\nunsafeHttpWhitelist: [\"127.0.0.1\"]\nnodeLinker: node-modules\n");
  if (!lock.empty())
    room.write(lockFile, lock);
}

void fetchThenBuild(const Step& step) {
  const Registry registry;
  const std::string dependency = "node_modules/tool-dep/";
  std::string lock;
  {
    const Room maker(identities().front());
    prepare(maker, registry, "", "");
    Outcome made = maker.plain(step.lock, tool());
    REQUIRE_MESSAGE(made.code == 0, both(made));
    lock = maker.read(step.lockFile);
    REQUIRE(!lock.empty());
    (void)maker.shell("rm -rf node_modules");
    // Without bwr.
    made = maker.plain(step.fetch, tool());
    CHECK_MESSAGE(made.code == 0, both(made));
    for (const std::vector<std::string>& build : step.builds) {
      const Outcome outcome = maker.plain(build, tool());
      CHECK_MESSAGE(outcome.code == 0, both(outcome));
    }
    for (const std::string& mark : step.marks)
      CHECK_MESSAGE(maker.exists(mark), mark);
  }
  each(levels(), [&](const Room& room, const std::string& level) {
    prepare(room, registry, step.lockFile, lock);
    Outcome outcome = room.bwr(level, {}, step.early, tool());
    if (level == "basic" && outcome.code == 0) {
      // There the network is the host's, and yarn 1 has no variable that keeps it from it.
      CHECK(step.hint == "yarn install --ignore-scripts");
    } else {
      CHECK(outcome.code != 0);
      CHECK_MESSAGE(contains(outcome.err, step.hint), both(outcome));
    }
    (void)room.shell("rm -rf node_modules *.txt");

    outcome = room.bwr(level, {"--network", "client"}, step.fetch, tool());
    REQUIRE_MESSAGE(outcome.code == 0, both(outcome));
    for (const std::string& mark : step.marks)
      CHECK_MESSAGE(!room.exists(mark), mark << " was made by the fetch");

    for (const std::vector<std::string>& build : step.builds) {
      outcome = room.bwr(level, {}, build, tool());
      CHECK_MESSAGE(outcome.code == 0, both(outcome));
    }
    for (const std::string& mark : step.marks)
      CHECK_MESSAGE(room.exists(mark), mark << " was not made by the build: " << both(outcome));
    if (room.exists("built.txt"))
      CHECK(room.read("built.txt") == "42\n");
  });
}

const std::string kDependency = "node_modules/tool-dep/ran.txt";

} // namespace

TEST_CASE("B078 npm fetches without running scripts and runs them without the network") {
  if (!has("B078, npm", {"npm", "node", "python3"}))
    return;
  fetchThenBuild(
      {{"npm", "ci", "--ignore-scripts"},
       {{"npm", "rebuild"}, {"npm", "run", "prepare", "--if-present"}, {"npm", "run", "build"}},
       {"npm", "install", "--package-lock-only", "--ignore-scripts"},
       "package-lock.json",
       {"npm", "ci"},
       "bwr --network client npm ci --ignore-scripts",
       {kDependency, "prepare.txt", "built.txt"}});
}

TEST_CASE("B078 pnpm fetches without running scripts and runs them without the network") {
  if (!has("B078, pnpm", {"pnpm", "node", "python3"}))
    return;
  fetchThenBuild({{"pnpm", "fetch"},
                  {{"pnpm", "install", "--offline", "--frozen-lockfile"},
                   {"pnpm", "rebuild"},
                   {"pnpm", "run", "build"}},
                  {"pnpm", "install", "--lockfile-only"},
                  "pnpm-lock.yaml",
                  {"pnpm", "install", "--frozen-lockfile"},
                  "bwr --network client pnpm fetch",
                  {kDependency, "prepare.txt", "postinstall.txt", "built.txt"}});
}

TEST_CASE("B078 yarn 1 fetches without running scripts and runs them without the network") {
  std::string yarn;
  {
    const Room room(identities().front());
    yarn = yarnOf(room, '1');
  }
  if (yarn.empty())
    return skip("B078, yarn 1", "yarn 1 is not installed");
  fetchThenBuild(
      {{yarn, "install", "--frozen-lockfile", "--ignore-scripts"},
       {{yarn, "install", "--frozen-lockfile", "--offline", "--force"}, {yarn, "run", "build"}},
       {yarn, "install", "--ignore-scripts"},
       "yarn.lock",
       {yarn, "install", "--frozen-lockfile"},
       "yarn install --ignore-scripts",
       {kDependency, "prepare.txt", "postinstall.txt", "built.txt"}});
}

TEST_CASE("B078 yarn 4 fetches without running scripts and runs them without the network") {
  std::string yarn;
  {
    const Room room(identities().front());
    yarn = yarnOf(room, '4');
  }
  if (yarn.empty())
    return skip("B078, yarn 4", "yarn 4 is not installed");
  fetchThenBuild({{yarn, "install", "--immutable", "--mode=skip-build"},
                  {{yarn, "install", "--immutable"}, {yarn, "run", "build"}},
                  {yarn, "install", "--mode=update-lockfile"},
                  "yarn.lock",
                  {yarn, "install", "--immutable"},
                  "yarn install --mode=skip-build",
                  {kDependency, "postinstall.txt", "built.txt"}});
}

TEST_CASE("B078 a fetch runs no git and no shell that the project names") {
  if (!has("B078, named programs", {"npm", "node", "git"}))
    return;
  const auto prepare = [](const Room& room) {
    room.write("named", "#!/bin/sh\n: >" + room.path("canary") + "\nexit 1\n", 0755);
    room.write(".npmrc", "git=" + room.path("named") + "\nscript-shell=" + room.path("named") +
                             "\nignore-scripts=false\nfetch-retries=0\n");
    room.write("package.json",
               "{\"name\":\"a\",\"version\":\"1.0.0\",\"scripts\":{\"preinstall\":\"true\"},"
               "\"dependencies\":{\"x\":\"git+https://127.0.0.1:1/x.git\"}}");
  };
  const std::vector<std::string> fetch = {"npm", "install", "--ignore-scripts"};
  for (As who : identities()) {
    const Room plain(who);
    prepare(plain);
    CHECK(plain.plain(fetch, tool()).code != 0);
    REQUIRE(plain.exists("canary"));
  }
  each(confining(), [&](const Room& room, const std::string& level) {
    prepare(room);
    const Outcome run = room.bwr(level, {"--network", "client"}, fetch, tool());
    CHECK(run.code != 0);                                   // nobody listens there
    CHECK_MESSAGE(contains(run.err, "ls-remote"), run.err); // git was run, the system's
    CHECK(!room.exists("canary"));
  });
}

TEST_CASE("B078 plugins that a project names for yarn are not run with the network") {
  each(confining(), [&](const Room& room, const std::string& level) {
    room.write("package.json", "{\"name\":\"a\"}");
    const std::vector<std::string> flags = {"--network", "client", "--profile", "yarn"};
    // Control: without plugins the step runs.
    room.write(".yarnrc.yml", "nodeLinker: node-modules\n");
    CHECK(room.bwr(level, flags, {"sh", "--ignore-scripts"}).code != 126);
    for (const char* text : {"plugins:\n  - ./evil.cjs\n", "\"plu\\x67ins\": [./evil.cjs]\n"}) {
      room.write(".yarnrc.yml", text);
      const Outcome run = room.bwr(level, flags, {"sh", "--ignore-scripts"});
      CHECK(run.code == 126);
      CHECK_MESSAGE(contains(run.err, ".yarnrc.yml` holds"), run.err);
    }
  });
}

TEST_CASE("B079 node starts children and believes their answers, and npm starts") {
  if (!has("B079", {"node", "npm"}))
    return;
  const std::string script =
      "const "
      "r=require('child_process').spawnSync('echo',['hi']);process.exit(r.error||r.status?9:0)";
  const std::string threads =
      "const {Worker}=require('worker_threads');let n=0;for(let i=0;i<4;i++)"
      "new Worker('',{eval:true}).on('exit',()=>{if(++n===4)console.log('four')})";
  {
    const Room plain(identities().front());
    CHECK(plain.plain({"node", "-e", script}, tool()).code == 0);
    CHECK(plain.plain({"node", "-e", threads}, tool()).out == "four\n");
  }
  each(levels(), [&](const Room& room, const std::string& level) {
    Outcome outcome = room.bwr(level, {}, {"node", "-e", script}, tool());
    CHECK_MESSAGE(outcome.code == 0, both(outcome));
    outcome = room.bwr(level, {}, {"node", "-e", threads}, tool());
    CHECK_MESSAGE(outcome.out == "four\n", both(outcome));
    outcome = room.bwr(level, {}, {"npm", "--version"}, tool());
    CHECK_MESSAGE(outcome.code == 0, both(outcome));
    CHECK(outcome.out == room.plain({"npm", "--version"}, tool()).out);
  });
}

} // namespace gos::cases
