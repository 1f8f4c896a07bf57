#include "manifest/project.h"

#include "manifest/package_root.h"
#include "manifest/source_file.h"
#include "sandbox/policy/host/host_paths.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

using namespace gos;

namespace {
constexpr const char* kCanary = "canary-77d1";

class Tree {
public:
  Tree() {
    char name[] = "/tmp/gos-unit-XXXXXX";
    base_ = std::filesystem::canonical(::mkdtemp(name)).string();
  }
  ~Tree() {
    std::error_code ignored;
    std::filesystem::remove_all(base_, ignored);
  }
  std::string at(const std::string& path) const {
    return path.empty() ? base_ : base_ + "/" + path;
  }
  void file(const std::string& path, const std::string& text = "fn main() {}\n") const {
    std::filesystem::create_directories(std::filesystem::path(at(path)).parent_path());
    std::ofstream(at(path), std::ios::binary) << text;
  }
  void link(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(at(path)).parent_path());
    REQUIRE(::symlink(text.c_str(), at(path).c_str()) == 0);
  }
  /// A package with an entry; `rest` follows id and version.
  void package(const std::string& path, const std::string& rest = "",
               const char* entry = "src/main.gos") const {
    const std::string prefix = path.empty() ? "" : path + "/";
    file(prefix + "project.toml",
         "[project]\nid = \"example.com/" +
             (path.empty() ? "top" : std::filesystem::path(path).filename().string()) +
             "\"\nversion = \"1.0.0\"\n" + rest);
    if (entry)
      file(prefix + entry);
  }

private:
  std::string base_;
};

struct Loading {
  explicit Loading(const std::string& path) : engine(sources) {
    project = loadProject(path, sources, engine);
  }
  /// "GJ0009 GJ0016": the codes that were reported.
  std::string codes() const {
    std::string all;
    for (const Diagnostic& diagnostic : engine.diagnostics())
      all += (all.empty() ? "" : " ") + spelling(diagnostic.code).str();
    return all;
  }
  std::string message() const {
    return engine.diagnostics().empty() ? "" : engine.diagnostics().front().message;
  }
  const Package& root() const {
    REQUIRE(project.has_value());
    return project->root();
  }

  SourceMap sources;
  Engine engine;
  std::optional<Project> project;
};
} // namespace

TEST_CASE("the package of a directory, of its entry and of any of its files is the same") {
  Tree tree;
  tree.package("w");
  tree.file("w/src/deep/x.gos");
  for (const char* path :
       {"w", "w/src", "w/src/main.gos", "w/src/deep/x.gos", "w/src/../src/main.gos"}) {
    const Loading loading(tree.at(path));
    INFO(path, " ", loading.message());
    CHECK(loading.codes().empty());
    CHECK(loading.root().directory == tree.at("w"));
    CHECK(loading.root().baseDirectory == "src");
    CHECK(loading.root().sourceDirectory == "src");
    CHECK(loading.root().moduleName == "w");
    CHECK(loading.root().hasRoot);
    CHECK_FALSE(loading.root().loneFile);
  }
  CHECK(Loading(tree.at("w")).root().entry == "src/main.gos");
  CHECK(Loading(tree.at("w/src/deep/x.gos")).root().entry == "src/deep/x.gos");
}

TEST_CASE("T017 a project is the same from every working directory, and paths are shown as they "
          "were spoken") {
  Tree tree;
  tree.package("w");
  const std::string before = std::filesystem::current_path();
  const std::map<std::string, std::string> fromWhere = {{"w", ""}, {"w/src", "../"}, {"", "w/"}};
  for (const auto& [place, prefix] : fromWhere) {
    std::filesystem::current_path(tree.at(place));
    const Loading loading(place == "w/src" ? ".." : place == "w" ? "." : "w");
    CHECK(loading.root().directory == tree.at("w"));
    CHECK(loading.root().baseDirectory == "src");
    CHECK(displayPath(loading.root(), "src/main.gos") == prefix + "src/main.gos");
  }
  std::filesystem::current_path("/");
  const Loading loading(tree.at("w/src/main.gos"));
  CHECK(displayPath(loading.root(), "src/main.gos") == tree.at("w/src/main.gos"));
  std::filesystem::current_path(before);
}

TEST_CASE("an entry is the manifest's, or main, or lib") {
  Tree tree;
  tree.package("named", "entry = \"app/./start.gos\"\n", "app/start.gos");
  CHECK(Loading(tree.at("named")).root().entry == "app/start.gos");
  CHECK(Loading(tree.at("named")).root().baseDirectory == "app");
  tree.package("library", "", "src/lib.gos");
  CHECK(Loading(tree.at("library")).root().entry == "src/lib.gos");
  tree.package("nothing", "", nullptr);
  CHECK(Loading(tree.at("nothing")).codes() == "GJ0009");
  tree.package("gone", "entry = \"src/gone.gos\"\n");
  CHECK(Loading(tree.at("gone")).codes() == "GJ0009");
}

TEST_CASE("a file without a manifest is alone, with its directory for a root") {
  Tree tree;
  tree.file("d/x.gos");
  tree.file("d/y.gos");
  const Loading loading(tree.at("d/x.gos"));
  const Package& package = loading.root();
  CHECK(package.loneFile);
  CHECK(package.hasRoot);
  CHECK(package.directory == tree.at("d"));
  CHECK(package.entry == "x.gos");
  CHECK(package.baseDirectory.empty());
  CHECK(package.level == ComptimeIo::Full);
  SourceMap sources;
  Engine engine(sources);
  CHECK(listSources(package, engine) == std::vector<std::string>{"x.gos"});
}

TEST_CASE("a lone file in a shared temporary directory or a home directory has no root") {
  Tree tree;
  tree.file("shared/x.gos");
  REQUIRE(::chmod(tree.at("shared").c_str(), 01777) == 0);
  const Loading shared(tree.at("shared/x.gos"));
  CHECK_FALSE(shared.root().hasRoot);
  CHECK(shared.root().whyNoRoot == "`" + tree.at("shared") + "` is a shared temporary directory");

  const std::string before = ::getenv("HOME") ? ::getenv("HOME") : "";
  tree.file("home/u/x.gos");
  tree.file("home/x.gos");
  tree.file("home/u/work/x.gos");
  ::setenv("HOME", tree.at("home/u").c_str(), 1);
  CHECK(Loading(tree.at("home/u/x.gos")).root().whyNoRoot ==
        "`" + tree.at("home/u") + "` is a home directory");
  CHECK_FALSE(Loading(tree.at("home/x.gos")).root().hasRoot);
  CHECK(Loading(tree.at("home/u/work/x.gos")).root().hasRoot);
  tree.file("home/u/.ssh/id");
  const Loading loading(tree.at("home/u/work/x.gos"));
  CHECK(llvm::is_contained(loading.project->denials, tree.at("home/u/.ssh")));
  ::setenv("HOME", before.c_str(), 1);
}

TEST_CASE("a manifest in a shared temporary directory is anybody's and counts for nothing") {
  Tree tree;
  tree.package("shared", "comptime-io = \"full\"\n");
  tree.file("shared/mine/x.gos");
  REQUIRE(::chmod(tree.at("shared").c_str(), 01777) == 0);
  const Loading loading(tree.at("shared/mine/x.gos"));
  CHECK(loading.root().loneFile);
  CHECK(loading.root().directory == tree.at("shared/mine"));
}

TEST_CASE(
    "T063 the nearest manifest sets the root, and only a workspace that lists it counts above") {
  Tree tree;
  tree.package("w", "comptime-io = \"none\"\n");
  tree.package("w/sub", "comptime-io = \"confined\"\n");
  CHECK(Loading(tree.at("w/sub/src/main.gos")).root().directory == tree.at("w/sub"));
  CHECK(Loading(tree.at("w/sub/src/main.gos")).root().level == ComptimeIo::Confined);

  tree.package("w", "comptime-io = \"none\"\nsandbox = \"strict\"\n[workspace]\nmembers = "
                    "[\"sub\", \"crates/*\"]\n");
  const Loading member(tree.at("w/sub/src/main.gos"));
  INFO(member.message());
  CHECK(member.root().level == ComptimeIo::None);
  CHECK(member.root().sandboxFloor == SandboxLevel::Strict);
  CHECK(member.sources.file(member.sources.fileOf(member.root().levelSpan)).name ==
        tree.at("w/project.toml"));
  tree.package("w/crates/a", "comptime-io = \"full\"\n");
  CHECK(Loading(tree.at("w/crates/a")).root().level == ComptimeIo::None);
  tree.package("w/other", "comptime-io = \"full\"\n");
  CHECK(Loading(tree.at("w/other")).root().level == ComptimeIo::Full);
  tree.package("w/crates/a/b", "");
  CHECK(Loading(tree.at("w/crates/a/b")).root().level == ComptimeIo::Full);
}

TEST_CASE("T063 a workspace only tightens") {
  Tree tree;
  tree.package("w",
               "comptime-io = \"full\"\nsandbox = \"none\"\n[workspace]\nmembers = [\"sub\"]\n");
  tree.package("w/sub", "comptime-io = \"none\"\nsandbox = \"basic\"\n");
  CHECK(Loading(tree.at("w/sub")).root().level == ComptimeIo::None);
  CHECK(Loading(tree.at("w/sub")).root().sandboxFloor == SandboxLevel::Basic);
}

TEST_CASE("T063 a member that leaves the workspace is an error") {
  Tree tree;
  tree.package("elsewhere");
  tree.package("w", "comptime-io = \"none\"\n[workspace]\nmembers = [\"sub\"]\n");
  tree.link("w/sub", "../elsewhere");
  CHECK(Loading(tree.at("w/sub/src/main.gos")).codes() == "GJ0025");
  CHECK(Loading(tree.at("w/src/main.gos")).codes() == "GJ0025");
  tree.package("v", "[workspace]\nmembers = [\"crates/*\"]\n");
  std::filesystem::create_directory(tree.at("v/crates"));
  tree.link("v/crates/x", "../../elsewhere");
  CHECK(Loading(tree.at("v")).codes() == "GJ0025");
  tree.package("u", "[workspace]\nmembers = [\"../elsewhere\"]\n");
  CHECK(Loading(tree.at("u")).codes() == "GJ0025");
  tree.package("t", "[workspace]\nmembers = [\"gone\"]\n");
  CHECK(Loading(tree.at("t")).codes() == "GJ0025");
}

TEST_CASE("somebody's manifest above that is no workspace is not read strictly, one that is broken "
          "is an error") {
  Tree tree;
  tree.package("w", "unknown = 1\n");
  tree.package("w/sub");
  CHECK(Loading(tree.at("w/sub")).codes().empty());
  tree.file("w/project.toml", "[workspace\n");
  CHECK(Loading(tree.at("w/sub")).codes() == "GJ0005");
  tree.file("w/project.toml", "[workspace]\nmembers = [\"sub\"]\ncomptime_io = \"none\"\n");
  CHECK(Loading(tree.at("w/sub")).codes() == "GJ0001");
}

TEST_CASE("T064 a manifest that asks for more gets confined and a warning") {
  Tree tree;
  tree.package("w", "comptime-io = \"full\"\n");
  Loading loading(tree.at("w"));
  ComptimePolicy policy = makeComptimePolicy(*loading.project, std::nullopt, loading.engine);
  CHECK(policy.levelFor(0, 0).level == ComptimeIo::Confined);
  CHECK(loading.codes() == "GJ0023");
  CHECK_FALSE(loading.engine.hasErrors());
  CHECK(loading.engine.diagnostics().front().helps.front() ==
        "to grant it, pass `--comptime-io=full`");

  Loading granted(tree.at("w"));
  policy = makeComptimePolicy(*granted.project, ComptimeIo::Full, granted.engine);
  CHECK(policy.levelFor(0, 0).level == ComptimeIo::Full);
  CHECK(granted.codes().empty());
}

TEST_CASE(
    "the command line and the manifest are judged together, and it is said where a level is from") {
  Tree tree;
  tree.package("w", "comptime-io = \"none\"\n");
  Loading loading(tree.at("w"));
  const ComptimePolicy policy =
      makeComptimePolicy(*loading.project, ComptimeIo::Full, loading.engine);
  const EffectiveLevel level = policy.levelFor(0, 0);
  CHECK(level.level == ComptimeIo::None);
  CHECK(policy.describe(level) == "`" + tree.at("w/project.toml") + "`, line 4");
  CHECK(policy.packages[0].root == tree.at("w"));
  CHECK(policy.packages[0].base == "src");
}

TEST_CASE("T067 a manifest that is a link out of its directory is an error and is not read") {
  Tree tree;
  tree.package("w");
  tree.file("secret.toml", std::string("[project]\n") + kCanary + " = 1\n");
  std::filesystem::remove(tree.at("w/project.toml"));
  tree.link("w/project.toml", "../secret.toml");
  const Loading loading(tree.at("w/src/main.gos"));
  CHECK(loading.codes() == "GJ0013");
  CHECK(loading.sources.fileCount() == 0);
  std::filesystem::remove(tree.at("w/project.toml"));
  tree.link("w/project.toml", "real.toml");
  tree.file("w/real.toml", "[project]\nid = \"a\"\nversion = \"1.0.0\"\n");
  CHECK(Loading(tree.at("w")).codes().empty());
  std::filesystem::remove(tree.at("w/project.toml"));
  std::filesystem::create_directory(tree.at("w/project.toml"));
  CHECK(Loading(tree.at("w")).codes() == "GJ0016");
  std::filesystem::remove(tree.at("w/project.toml"));
  REQUIRE(::mkfifo(tree.at("w/project.toml").c_str(), 0644) == 0);
  CHECK(Loading(tree.at("w")).codes() == "GJ0018");
}

TEST_CASE("T070 the manifest's sandbox is a floor") {
  Tree tree;
  tree.package("w", "sandbox = \"strict\"\n");
  const SandboxLevel floor = Loading(tree.at("w")).root().sandboxFloor;
  for (SandboxLevel flag : {SandboxLevel::None, SandboxLevel::Basic, SandboxLevel::Strict})
    CHECK(stricter(floor, flag) == SandboxLevel::Strict);
}

TEST_CASE("path dependencies are loaded with theirs, each once, and may tighten themselves") {
  Tree tree;
  tree.package("app", "[dependencies]\nx-y = { path = \"../x\" }\n\"example.com/z\" = { path = "
                      "\"../z\", module = \"zed\" }\n");
  tree.package("x",
               "comptime-io = \"none\"\n[dependencies]\n\"example.com/z\" = { path = \"../z\" }\n",
               "src/lib.gos");
  tree.package("z", "", "src/lib.gos");
  Loading loading(tree.at("app"));
  INFO(loading.message());
  REQUIRE(loading.project);
  const Project& project = *loading.project;
  REQUIRE(project.packages.size() == 3);
  CHECK(project.packages[0].dependencies[0].moduleName == "x_y");
  CHECK(project.packages[0].dependencies[0].package == 1);
  CHECK(project.packages[0].dependencies[1].moduleName == "zed");
  CHECK(project.packages[0].dependencies[1].package == 2);
  CHECK(project.packages[1].dependencies[0].package == 2);
  CHECK(project.packages[1].dependencies[0].moduleName == "z");
  CHECK(project.packages[2].index == 2);
  CHECK(project.packages[2].entry == "src/lib.gos");
  const ComptimePolicy policy = makeComptimePolicy(project, std::nullopt, loading.engine);
  CHECK(policy.levelFor(0, 0).level == ComptimeIo::Confined);
  CHECK(policy.levelFor(0, 1).level == ComptimeIo::None);
  CHECK(policy.levelFor(0, 2).level == ComptimeIo::Confined);
}

TEST_CASE("a circle of packages is an error that shows it") {
  Tree tree;
  tree.package("a", "[dependencies]\nb = { path = \"../b\" }\n");
  tree.package("b", "[dependencies]\nc = { path = \"../c\" }\n");
  tree.package("c", "[dependencies]\nb = { path = \"../b\" }\n");
  const Loading loading(tree.at("a"));
  CHECK(loading.codes() == "GJ0011");
  CHECK(loading.message().find("`example.com/b` -> `example.com/c` -> `example.com/b`") !=
        std::string::npos);
  tree.package("self", "[dependencies]\nme = { path = \".\" }\n");
  CHECK(Loading(tree.at("self")).codes() == "GJ0011");
}

TEST_CASE("a long chain of dependencies needs no stack") {
  Tree tree;
  constexpr int kCount = 1200;
  for (int index = 0; index != kCount; ++index)
    tree.package("p" + std::to_string(index), index + 1 == kCount
                                                  ? ""
                                                  : "[dependencies]\nn = { path = \"../p" +
                                                        std::to_string(index + 1) + "\" }\n");
  CHECK(Loading(tree.at("p0")).project->packages.size() == kCount);
}

TEST_CASE("each way a dependency can be wrong has its own diagnostic") {
  Tree tree;
  auto codes = [&](const std::string& table) {
    tree.package("app", "[dependencies]\n" + table + "\n");
    return Loading(tree.at("app")).codes();
  };
  tree.package("x", "", "src/lib.gos");
  tree.file("bare/src/lib.gos");
  CHECK(codes("x = { path = \"../gone\" }") == "GJ0010");
  CHECK(codes("x = { path = \"../x/project.toml\" }") == "GJ0010");
  CHECK(codes("x = { path = \"../bare\" }") == "GJ0012");
  CHECK(codes("\"example.com/other\" = { path = \"../x\" }") == "GJ0027");
  CHECK(codes("x = { path = \"../x\", version = \"2.0.0\" }") == "GJ0026");
  CHECK(codes("x = { path = \"../x\", version = \"^0.9.0\" }") == "");
  CHECK(codes("x = \"1.0.0\"") == "GN0001");
  CHECK(codes("x = { git = \"https://example.com/x\" }") == "GN0001");
  CHECK(codes("x = { path = \"../x\" }\n[replace]\nx = { path = \"../y\" }") == "GN0001");
  tree.package("x", "ffi = 1\n", "src/lib.gos");
  CHECK(codes("x = { path = \"../x\" }") == "GJ0002");
  tree.package("app", "gossamer-version = \"99.0.0\"\n");
  CHECK(Loading(tree.at("app")).codes() == "GJ0029");
}

TEST_CASE("a path that names nothing is a missing file") {
  Tree tree;
  CHECK(Loading(tree.at("gone.gos")).codes() == "GJ0015");
  CHECK(Loading("").codes() == "GJ0015");
  CHECK(Loading(std::string("a\0b", 3)).codes() == "GJ0015");
  std::filesystem::create_directory(tree.at("empty"));
  CHECK(Loading(tree.at("empty")).codes() == "GJ0015");
  tree.link("loop", "loop");
  CHECK(Loading(tree.at("loop")).codes() == "GJ0020");
  tree.file("ws/project.toml", "[workspace]\nmembers = []\n");
  CHECK(Loading(tree.at("ws")).codes() == "GN0001");
}

TEST_CASE("T079 a source that leads outside is an error that names the link, and no line of it is "
          "shown") {
  Tree tree;
  tree.package("w");
  tree.file("secret", std::string(kCanary) + "\n");
  tree.link("w/src/util.gos", "../../secret");
  tree.link("w/src/abs.gos", tree.at("secret"));
  tree.link("w/src/dir", "../..");
  tree.link("w/src/in.gos", "main.gos");
  tree.link("w/src/back.gos", tree.at("w/src/main.gos"));
  Loading loading(tree.at("w"));
  const Package& package = loading.root();
  for (const char* path :
       {"src/util.gos", "src/abs.gos", "src/dir/secret", "../secret", "/etc/passwd"}) {
    SourceMap sources;
    Engine engine(sources);
    CHECK_FALSE(readSource(package, path, sources, engine).has_value());
    REQUIRE(engine.diagnostics().size() == 1);
    CHECK(engine.diagnostics().front().code == Code::GJ0014);
    CHECK(sources.fileCount() == 0);
  }
  SourceMap sources;
  Engine engine(sources);
  CHECK_FALSE(readSource(package, "src/dir/secret", sources, engine).has_value());
  CHECK(engine.diagnostics().front().notes.front().find("src/dir`") != std::string::npos);
  for (const char* path : {"src/in.gos", "src/back.gos"})
    CHECK(readSource(package, path, sources, engine).has_value());
  CHECK(listSources(package, engine) == std::vector<std::string>{"src/abs.gos", "src/back.gos",
                                                                 "src/in.gos", "src/main.gos",
                                                                 "src/util.gos"});
}

TEST_CASE("T079 a lone file that is a link out of its directory is an error") {
  Tree tree;
  tree.file("secret", kCanary);
  tree.link("d/x.gos", "../secret");
  Loading loading(tree.at("d/x.gos"));
  CHECK_FALSE(readSource(loading.root(), "x.gos", loading.sources, loading.engine).has_value());
  CHECK(loading.codes() == "GJ0014");
}

TEST_CASE("the manifest of a project, given as the file, means the project") {
  Tree tree;
  tree.package("w");
  const Loading loading(tree.at("w/project.toml"));
  CHECK(loading.codes().empty());
  CHECK(loading.root().entry == "src/main.gos");
  CHECK_FALSE(loading.root().loneFile);
  CHECK(loading.root().directory == tree.at("w"));
  // In a directory that is everybody's a manifest counts for nothing, so it means nothing either.
  tree.package("shared");
  REQUIRE(::chmod(tree.at("shared").c_str(), 01777) == 0);
  CHECK(Loading(tree.at("shared/project.toml")).codes() == "GJ0020");
}

TEST_CASE("a directory that cannot be looked into is said to be that") {
  Tree tree;
  tree.package("w");
  tree.package("w/inner");
  REQUIRE(::chmod(tree.at("").c_str(), 0755) == 0);
  REQUIRE(::chmod(tree.at("w/inner").c_str(), 0) == 0);
  const bool isRoot = ::geteuid() == 0; // whom nothing is closed to
  if (isRoot)
    REQUIRE(::seteuid(65534) == 0);
  const Loading directory(tree.at("w/inner")), file(tree.at("w/inner/src/main.gos"));
  if (isRoot)
    REQUIRE(::seteuid(0) == 0);
  REQUIRE(::chmod(tree.at("w/inner").c_str(), 0755) == 0);
  CHECK(directory.codes() == "GJ0017"); // and not the project around it
  CHECK(directory.message() == "cannot read `" + tree.at("w/inner") + "`: permission denied");
  CHECK(file.codes() == "GJ0017");
}

TEST_CASE("a working directory that is gone is not the root directory") {
  Tree tree;
  tree.file("gone/x", "");
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(tree.at("gone"));
  std::filesystem::remove_all(tree.at("gone"));
  const Loading dot("."), file("x.gos");
  std::filesystem::current_path(before);
  CHECK(dot.message() == "cannot read `.`: the working directory no longer exists");
  CHECK(file.message() == "cannot read `x.gos`: the working directory no longer exists");
}

TEST_CASE("each way a source can't be read has its own diagnostic") {
  Tree tree;
  tree.package("w");
  std::filesystem::create_directory(tree.at("w/src/d.gos"));
  REQUIRE(::mkfifo(tree.at("w/src/p.gos").c_str(), 0644) == 0);
  tree.file("w/src/big.gos");
  REQUIRE(::truncate(tree.at("w/src/big.gos").c_str(), (off_t(64) << 20) + 1) == 0);
  tree.file("w/src/bad.gos", "ok \xff\n");
  tree.file("w/src/locked.gos");
  ::chmod(tree.at("w/src/locked.gos").c_str(), 0);
  tree.file("w/src/bom.gos", "\xEF\xBB\xBFlet x = \"\xC3\xA4\"\n");
  tree.link("w/src/loop.gos", "loop.gos");
  Loading loading(tree.at("w"));
  auto code = [&](const char* path) {
    SourceMap sources;
    Engine engine(sources);
    auto file = readSource(loading.root(), path, sources, engine);
    if (file)
      return std::string("read ") + sources.file(*file).content().str();
    REQUIRE(engine.diagnostics().size() == 1);
    return spelling(engine.diagnostics().front().code).str();
  };
  CHECK(code("src/none.gos") == "GJ0015");
  CHECK(code("src/d.gos") == "GJ0016");
  CHECK(code("src/p.gos") == "GJ0018");
  CHECK(code("src/big.gos") == "GJ0019");
  CHECK(code("src/loop.gos") == "GJ0020");
  CHECK(code("src/bad.gos") == "GJ0021");
  CHECK(code("src/bom.gos") == "read let x = \"\xC3\xA4\"\n");
  if (::getuid() != 0)
    CHECK(code("src/locked.gos") == "GJ0017");
}

TEST_CASE("sources are listed by bytes, without hidden directories and other packages") {
  Tree tree;
  tree.package("w");
  for (const char* path : {"w/src/util.gos", "w/src/deep/mod.gos", "w/src/deep/a.gos",
                           "w/src/.git/x.gos", "w/src/notes.txt", "w/other/y.gos"})
    tree.file(path);
  tree.package("w/src/vendor");
  tree.link("w/src/linked", "../other");
  Loading loading(tree.at("w"));
  CHECK(listSources(loading.root(), loading.engine) ==
        std::vector<std::string>{"src/deep/a.gos", "src/deep/mod.gos", "src/main.gos",
                                 "src/util.gos"});
}

TEST_CASE("T023 a package behind a link is one package, with both spellings") {
  Tree tree;
  tree.package("proj");
  tree.link("alias", "proj");
  const Loading loading(tree.at("alias/src/main.gos"));
  CHECK(loading.root().directory == tree.at("proj"));
  CHECK(loading.root().spelling == tree.at("alias"));
  // A link in between is no spelling of the root.
  tree.link("side/src", "../proj/src");
  const Loading side(tree.at("side/src/main.gos"));
  CHECK(side.root().directory == tree.at("proj"));
  CHECK(side.root().spelling == tree.at("proj"));
}

TEST_CASE("member patterns match component by component") {
  CHECK(matchesMember("crates/*", "crates/a"));
  CHECK(matchesMember("./crates/a*c/", "crates/abc"));
  CHECK(matchesMember("a?", "ab"));
  CHECK_FALSE(matchesMember("crates/*", "crates/a/b"));
  CHECK_FALSE(matchesMember("crates/*", "crates"));
  CHECK_FALSE(matchesMember("*", "a/b"));
  CHECK_FALSE(matchesMember("a?", "a"));
}

TEST_CASE("invalid UTF-8 is found at its first byte") {
  CHECK(findInvalidUtf8("") == 0);
  CHECK(findInvalidUtf8("plain text that is longer than eight") == 36);
  CHECK(findInvalidUtf8("12345678\xC3\xA4 12345678") == 19);
  CHECK(findInvalidUtf8("1234567\xC3") == 7);
  CHECK(findInvalidUtf8("\xED\xA0\x80") == 0);     // a surrogate
  CHECK(findInvalidUtf8("ok\xC0\x80") == 2);       // overlong
  CHECK(findInvalidUtf8("\xF4\x90\x80\x80") == 0); // past U+10FFFF
  CHECK(findInvalidUtf8("123456789abcdefg\x80") == 16);
}
