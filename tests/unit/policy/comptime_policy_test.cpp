#include "sandbox/policy/comptime_policy.h"
#include "sandbox/policy/decide.h"

#include <doctest/doctest.h>

#include <random>

using namespace gos;

namespace {
PackagePolicy packageAt(const char* root, ComptimeIo level = ComptimeIo::Full,
                        LevelOrigin origin = LevelOrigin::Default) {
  PackagePolicy package;
  package.name = root;
  package.level = level;
  package.origin = origin;
  package.manifest = "project.toml";
  package.line = 4;
  package.hasRoot = true;
  package.root = package.rootSpelling = root;
  package.base = "src";
  return package;
}

ComptimePolicy sample() {
  ComptimePolicy policy;
  policy.packages = {packageAt("/w/app"), packageAt("/w/dep"),
                     packageAt("/w/tight", ComptimeIo::None, LevelOrigin::Manifest)};
  policy.permittedEnv = {"HOME"};
  policy.denials = {"/w/app/.ssh"};
  return policy;
}
} // namespace

TEST_CASE("a call is judged for the package that spells it") {
  const ComptimePolicy policy = sample();
  const Policy own = policy.policyFor(0, 1);
  CHECK(decide(own, "/w/dep/data.txt", Operation::Read).allowed);
  CHECK_FALSE(decide(own, "/w/app/.env", Operation::Read).allowed); // T025
  CHECK_FALSE(decide(policy.policyFor(0, 0), "/w/app/.ssh/id", Operation::Read).allowed);
}

TEST_CASE("the strictest of command line, region and caller is in force") {
  ComptimePolicy policy = sample();
  CHECK(policy.levelFor(0, 0).level == ComptimeIo::Confined);
  CHECK(policy.describe(policy.levelFor(0, 0)) == "the default");
  CHECK(policy.levelFor(0, 2).level == ComptimeIo::None);
  CHECK(policy.levelFor(2, 0).level == ComptimeIo::None);
  CHECK(policy.describe(policy.levelFor(2, 0)) == "`project.toml`, line 4");

  policy.commandLine = ComptimeIo::Full;
  policy.fromCommandLine = true;
  CHECK(policy.levelFor(0, 1).level == ComptimeIo::Full);
  CHECK(policy.describe(policy.levelFor(0, 1)) == "the command line");
  CHECK(policy.levelFor(1, 2).level == ComptimeIo::None);
}

TEST_CASE(
    "a manifest bounds its own regions and calls, the command line those of dependencies too") {
  ComptimePolicy policy = sample();
  policy.packages[0].level = ComptimeIo::None;
  policy.packages[0].origin = LevelOrigin::Manifest;
  CHECK(policy.levelFor(1, 1).level == ComptimeIo::Confined); // a dependency's region, its own call
  CHECK(policy.levelFor(0, 1).level ==
        ComptimeIo::None); // its function, called from the project's region
  CHECK(policy.levelFor(1, 0).level == ComptimeIo::None); // the project's closure in its region
  CHECK(policy.levelFor(0, 0).level == ComptimeIo::None);
  policy.commandLine = ComptimeIo::None;
  CHECK(policy.levelFor(1, 1).level == ComptimeIo::None);
}

TEST_CASE("an unknown package may do nothing") {
  const ComptimePolicy policy = sample();
  CHECK(policy.levelFor(7, 0).level == ComptimeIo::None);
  CHECK(policy.policyFor(0, 7) == Policy());
  CHECK(ComptimePolicy().levelFor(0, 0).level == ComptimeIo::None);
}

TEST_CASE("a policy survives its byte form") {
  const ComptimePolicy policy = sample();
  auto back = deserializeComptimePolicy(serialize(policy));
  REQUIRE(bool(back));
  CHECK(*back == policy);
  CHECK(toText(*back) == toText(policy));
}

TEST_CASE("bytes that are no policy are refused, never believed") {
  const std::string good = serialize(sample());
  for (size_t size = 0; size != good.size(); ++size) {
    auto cut = deserializeComptimePolicy(llvm::StringRef(good).take_front(size));
    CHECK_FALSE(bool(cut));
    llvm::consumeError(cut.takeError());
  }
  auto longer = deserializeComptimePolicy(good + "x");
  CHECK_FALSE(bool(longer));
  llvm::consumeError(longer.takeError());
  std::mt19937 random(1);
  for (int round = 0; round != 20000; ++round) {
    std::string bytes = good;
    for (unsigned flips = 1 + random() % 3; flips != 0; --flips)
      bytes[random() % bytes.size()] = char(random());
    auto read = deserializeComptimePolicy(bytes);
    if (!read) {
      llvm::consumeError(read.takeError());
      continue;
    }
    // What is accepted is well formed.
    CHECK(uint8_t(read->commandLine) <= 2);
    for (const PackagePolicy& package : read->packages) {
      CHECK(uint8_t(package.level) <= 2);
      CHECK((!package.hasRoot || isCanonicalPath(package.root)));
    }
  }
}
