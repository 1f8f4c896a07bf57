#include "sandbox/bwr/profile.h"

#include "sandbox/bwr/expand.h"
#include "sandbox/bwr/profile_set.h"
#include "tests/unit/sandbox/temp_tree.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

namespace gos::bwr {
namespace {

struct Read {
  std::optional<Profile> profile;
  std::vector<std::string> messages;
};
Read read(llvm::StringRef text) {
  SourceMap sources;
  auto file = sources.addCopy("p.toml", text);
  REQUIRE(bool(file));
  Engine engine(sources);
  Read result;
  result.profile = readProfile("p", *file, engine);
  for (const Diagnostic& each : engine.diagnostics())
    result.messages.push_back(each.message);
  return result;
}
constexpr llvm::StringRef kLeast = "summary = \"x\"\n[phase.build]\n";

std::string errorOf(llvm::Error error) {
  return llvm::toString(std::move(error));
}

// ---- reading
// ----------------------------------------------------------------------------------------

TEST_CASE("the least profile has a summary and a build phase") {
  CHECK(read(kLeast).profile);
  CHECK(read("summary = \"x\"\n").messages ==
        std::vector<std::string>{"key `phase` is missing in the profile"});
  CHECK(!read("summary = \"x\"\n[phase.fetch]\n").profile);
  CHECK(!read("[phase.build]\n").profile);
}

TEST_CASE("an unknown key is an error in every table, with the nearest one") {
  for (const char* text :
       {"sumary = \"x\"\nsummary = \"x\"\n[phase.build]\n",
        "summary = \"x\"\n[phase.build]\nread-only = []\n",
        "summary = \"x\"\n[phase.build]\n[[toolchain]]\nname = \"a\"\nfound_in = []\nx = 1\n"}) {
    const Read result = read(text);
    CHECK(!result.profile);
    REQUIRE(result.messages.size() == 1);
    CHECK(llvm::StringRef(result.messages[0]).starts_with("unknown key"));
  }
}

TEST_CASE("a file that may name programs is relative, and has one word") {
  const auto phase = [](const std::string& list) {
    return read("summary = \"x\"\n[phase.build]\nnamed_programs = [" + list + "]\n").profile;
  };
  REQUIRE(phase("\"a/b.toml word\""));
  CHECK(phase("\"a/b.toml word\"")->phases[0].namedPrograms ==
        std::vector<std::string>{"a/b.toml word"});
  for (const char* bad :
       {"\"a\"", "\"a \"", "\"/a b\"", "\"../a b\"", "\"a//b c\"", "\"a b c\"", "1"})
    CHECK_MESSAGE(!phase(bad), bad);
}

TEST_CASE("a value of the wrong kind is an error at its place") {
  for (const char* line :
       {"project = \"readonly\"", "project = true", "network = \"off\"", "read_only = \"x\"",
        "read_only = [1]", "read_only = [\"x\"]", "read_only = [\"/a/../b\"]",
        "read_only = [\"~x\"]", "read_only = [\"${\"]", "read_only = [\"${1}\"]",
        "read_only = [\"/a\\u0000\"]", "set = [\"A\"]", "set = { A = 1 }", "set = { A = \"${\" }",
        "subcommands = [\"\"]"}) {
    CAPTURE(line);
    CHECK(!read((kLeast + line + "\n").str()).profile);
  }
  CHECK(!read("summary = \"x\"\nphase = 1\n").profile);
  CHECK(!read("summary = \"x\"\n[phase]\nbuild = 1\n").profile);
  CHECK(!read("summary = \"x\"\ntoolchain = 1\n[phase.build]\n").profile);
  CHECK(!read("summary = \"a\\nb\"\n[phase.build]\n").profile);
  CHECK(!read((kLeast + "[phase.test]\n").str()).profile);
  CHECK(!read("summary = ").profile);
}

TEST_CASE("a profile passes and sets no variable that loads code (T130)") {
  for (const char* line :
       {"pass = [\"LD_PRELOAD\"]", "pass = [\"NODE_OPTIONS\"]", "pass = [\"A=B\"]",
        "pass = [\"*\"]", "set = { BASH_ENV = \"x\" }", "set = { LD_AUDIT = \"x\" }"}) {
    CAPTURE(line);
    CHECK(!read((kLeast + line + "\n").str()).profile);
  }
}

TEST_CASE("every shipped profile is valid, and its commands are those of its row") {
  CHECK(shippedProfiles().size() == 12);
  const ProfileSet profiles("");
  for (const ShippedProfile& shipped : shippedProfiles()) {
    CAPTURE(shipped.name.str());
    auto profile = profiles.find(shipped.name);
    REQUIRE_MESSAGE(bool(profile), errorOf(profile.takeError()));
    CHECK(shipped.commands == (" " + llvm::join(profile->commands, " ") + " "));
    CHECK(!profile->commands.empty());
    const Phase* build = profile->phase(PhaseKind::Build);
    REQUIRE(build != nullptr);
    CHECK(build->network == NetworkMode::None);
    for (const std::string& command : profile->commands) {
      auto chosen = profiles.forCommand(command);
      REQUIRE(bool(chosen));
      REQUIRE(chosen->has_value());
      CHECK((*chosen)->name == shipped.name);
    }
  }
}

TEST_CASE("no shipped profile passes a token or grants what a denial covers") {
  for (const ShippedProfile& shipped : shippedProfiles()) {
    auto profile = ProfileSet("").find(shipped.name);
    REQUIRE(bool(profile));
    for (const Phase& phase : profile->phases)
      for (const std::string& name : phase.pass)
        CHECK_MESSAGE(!llvm::StringRef(name).contains("TOKEN"), name);
  }
}

// ---- phases
// -------------------------------------------------------------------------------------------

PhaseKind phaseOf(llvm::StringRef profile, std::vector<std::string> arguments) {
  auto found = ProfileSet("").find(profile);
  REQUIRE(bool(found));
  const Phase* phase = found->phaseFor(arguments);
  REQUIRE(phase != nullptr);
  return phase->kind;
}

TEST_CASE("the subcommand chooses the phase") {
  CHECK(phaseOf("cargo", {"fetch"}) == PhaseKind::Fetch);
  CHECK(phaseOf("cargo", {"+nightly", "--color", "never", "fetch", "--locked"}) ==
        PhaseKind::Fetch);
  CHECK(phaseOf("cargo", {"build"}) == PhaseKind::Build);
  CHECK(phaseOf("cargo", {"test", "fetch"}) == PhaseKind::Build);
  CHECK(phaseOf("cargo", {"build", "--", "fetch"}) == PhaseKind::Build);
  CHECK(phaseOf("cargo", {"fmt"}) == PhaseKind::Edit);
  CHECK(phaseOf("cargo", {}) == PhaseKind::Build);
  CHECK(phaseOf("go", {"mod", "download"}) == PhaseKind::Fetch);
  CHECK(phaseOf("go", {"mod", "tidy"}) == PhaseKind::Edit);
  CHECK(phaseOf("go", {"build", "./..."}) == PhaseKind::Build);
}

TEST_CASE("an install that runs scripts is no fetch") {
  CHECK(phaseOf("npm", {"ci"}) == PhaseKind::Build);
  CHECK(phaseOf("npm", {"ci", "--ignore-scripts"}) == PhaseKind::Fetch);
  CHECK(phaseOf("npm", {"run", "ci", "--ignore-scripts"}) == PhaseKind::Build);
  CHECK(phaseOf("yarn", {"--ignore-scripts"}) == PhaseKind::Fetch);
  CHECK(phaseOf("yarn", {"build", "--ignore-scripts"}) == PhaseKind::Build);
  CHECK(phaseOf("pip", {"wheel", "--only-binary=:all:", "x"}) == PhaseKind::Fetch);
  CHECK(phaseOf("pip", {"wheel", "x"}) == PhaseKind::Build);
}

// ---- patterns
// -------------------------------------------------------------------------------------------

TEST_CASE("variables are replaced, with defaults that hold variables") {
  Names names;
  names.environment = {"A=/a", "EMPTY=", "REL=./c"};
  names.home = "/h";
  names.project = "/p";
  CHECK(expand("${A}/x", names) == "/a/x");
  CHECK(expand("~", names) == "/h");
  CHECK(expand("~/x", names) == "/h/x");
  CHECK(expand("a~", names) == "a~");
  CHECK(expand("${B:-~/b}", names) == "/h/b");
  CHECK(expand("${B:-${C:-${A}}}/d", names) == "/a/d");
  CHECK(expand("${EMPTY:-/e}", names) == "/e");
  CHECK(expand("${project}/t", names) == "/p/t");
  CHECK(!expand("${B}", names));
  CHECK(!expand("${B:-${C}}", names));
  CHECK(!expand("${private}", names));
  CHECK(expand("-D x=${A} y", names) == "-D x=/a y");
}

TEST_CASE("a path is absolute and without dots, whatever a variable says (T098)") {
  Names names;
  names.environment = {"REL=./c", "UP=/a/../b", "TWO=//a//./b/"};
  names.home = "/h";
  CHECK(!expandPath("${REL}/x", names));
  CHECK(!expandPath("${UP}/x", names));
  CHECK(expandPath("${TWO}", names) == "/a/b");
  CHECK(expandPath("${NO:-~/x}", names) == "/h/x");
}

TEST_CASE("nesting of defaults has a limit") {
  std::string pattern = "x";
  for (int depth = 0; depth != 100; ++depth)
    pattern = "${A:-" + pattern + "}";
  CHECK(!isPattern(pattern));
}

// ---- the user's
// -----------------------------------------------------------------------------------------

TEST_CASE("a user's profile takes the place of the shipped one") {
  test::TempTree tree;
  tree.file("cargo.toml", "summary = \"mine\"\ncommands = [\"cargo\", \"crg\"]\n[phase.build]\n");
  const ProfileSet profiles(tree.root());
  auto found = profiles.find("cargo");
  REQUIRE(bool(found));
  CHECK(found->summary == "mine");
  auto chosen = profiles.forCommand("crg");
  REQUIRE(bool(chosen));
  REQUIRE(chosen->has_value());
  CHECK((*chosen)->summary == "mine");
  bool listed = false;
  for (const auto& each : profiles.list())
    listed |= each.name == "cargo" && each.own && each.summary == "mine";
  CHECK(listed);
}

TEST_CASE("a user's profile without the command keeps the shipped one away") {
  test::TempTree tree;
  tree.file("go.toml", "summary = \"mine\"\n[phase.build]\n");
  auto chosen = ProfileSet(tree.root()).forCommand("go");
  REQUIRE(bool(chosen));
  CHECK(!chosen->has_value());
}

TEST_CASE("a profile that somebody else could have written is refused") {
  test::TempTree tree;
  tree.file("real", kLeast.str());
  tree.link("linked.toml", tree.at("real"));
  tree.file("open.toml", kLeast.str());
  ::chmod(tree.at("open.toml").c_str(), 0666);
  tree.directory("dir.toml");
  ::mkfifo(tree.at("fifo.toml").c_str(), 0600);
  tree.file("big.toml", std::string(70 << 10, '#'));
  const ProfileSet profiles(tree.root());
  for (const char* name : {"linked", "open", "dir", "fifo", "big"}) {
    CAPTURE(name);
    auto found = profiles.find(name);
    REQUIRE(!bool(found));
    const std::string text = errorOf(found.takeError());
    CHECK(llvm::StringRef(text).starts_with("profile `"));
  }
  ::chmod(tree.root().c_str(), 0777);
  auto found = profiles.find("open");
  REQUIRE(!bool(found));
  CHECK(llvm::StringRef(errorOf(found.takeError())).contains("writable by everyone"));
}

TEST_CASE("a name of a profile is no path (T129)") {
  test::TempTree tree;
  tree.file("x.toml", kLeast.str());
  const ProfileSet profiles(tree.root() + "/sub");
  for (const char* name :
       {"../x", "../../x", "/etc/passwd", ".", "..", "", "none", "a/b", "-x", "x\n"}) {
    CAPTURE(name);
    CHECK(!ProfileSet::isName(name));
    auto found = profiles.find(name);
    CHECK(!bool(found));
    llvm::consumeError(found.takeError());
  }
}

TEST_CASE("an unknown profile is answered with the names there are and the nearest") {
  auto found = ProfileSet("").find("crago");
  REQUIRE(!bool(found));
  llvm::handleAllErrors(found.takeError(), [](const ProfileError& error) {
    CHECK(error.kind() == ProfileError::Kind::Unknown);
    CHECK(error.text().contains("cargo, cmake, go"));
    CHECK(error.remedy() == "bwr --profile cargo");
  });
}

TEST_CASE("a broken profile of the user is an error with its place, never the shipped one") {
  test::TempTree tree;
  tree.file("make.toml", "summary = \"x\"\ncommands = [\"make\"]\nphaze = 1\n[phase.build]\n");
  auto found = ProfileSet(tree.root()).forCommand("make");
  REQUIRE(!bool(found));
  llvm::handleAllErrors(found.takeError(), [](const ProfileError& error) {
    CHECK(error.kind() == ProfileError::Kind::Broken);
    CHECK(error.diagnostics().contains("unknown key `phaze`"));
    CHECK(error.diagnostics().contains("make.toml:3:1"));
  });
}

TEST_CASE("the profiles of a user never come from the working directory") {
  CHECK(userProfileDirectory({}, "/h", "/h/src/p") == "/h/.config/bwr/profiles");
  CHECK(userProfileDirectory({"XDG_CONFIG_HOME=/c"}, "/h", "/w") == "/c/bwr/profiles");
  CHECK(userProfileDirectory({"XDG_CONFIG_HOME=./c"}, "/h", "/w") == "/h/.config/bwr/profiles");
  CHECK(userProfileDirectory({"XDG_CONFIG_HOME=/w/c"}, "/h", "/w") == "");
  CHECK(userProfileDirectory({}, "", "/w") == "");
  test::TempTree tree;
  tree.directory("repo/bwr/profiles");
  tree.link("config", tree.at("repo"));
  CHECK(userProfileDirectory({"XDG_CONFIG_HOME=" + tree.at("config")}, "/h", tree.at("repo")) ==
        "");
}

} // namespace
} // namespace gos::bwr
