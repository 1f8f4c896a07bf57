// The gate of compile time on generated trees and denials: what it opens, lists and looks at is
// what `decide` allows, on both roads. A denial of it (Refused or Outside) is GX0010, nothing else
// is. GOS_SEED=N repeats a run.

#include "sandbox/beneath.h"
#include "sandbox/beneath_walk.h"
#include "sandbox/policy/decide.h"
#include "sandbox/policy/presets.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

namespace gos {
namespace {

namespace fs = std::filesystem;

struct Scene {
  std::string top, root;
  std::vector<std::string> names, links; // absolute; beneath the root or beside it
};

/// `top` with the root in it and as much beside the root; links lead anywhere in both.
Scene makeScene(const std::string& top, std::mt19937_64& random) {
  Scene scene{top, top + "/root", {}, {}};
  std::vector<std::string> directories = {top + "/root", top + "/beside"};
  for (const std::string& directory : directories)
    fs::create_directory(directory);
  for (size_t at = 0; at < directories.size() && directories.size() < 16; ++at)
    for (const char* name : {"/a", "/b", "/c"}) {
      const std::string path = directories[at] + name;
      if (random() % 2 == 0) {
        fs::create_directory(path);
        directories.push_back(path);
      } else {
        std::ofstream(path) << "text";
        scene.names.push_back(path);
      }
    }
  scene.names.insert(scene.names.end(), directories.begin(), directories.end());
  const size_t files = scene.names.size();
  for (int count = 0; count != 8; ++count) {
    const std::string link =
        directories[random() % directories.size()] + "/l" + std::to_string(count);
    fs::create_symlink(scene.names[random() % files], link);
    scene.links.push_back(link);
  }
  for (const std::string& directory : directories)
    scene.names.push_back(directory + "/missing");
  return scene;
}

/// The components of a path that `decide` has to be asked about: a link is judged by its own name,
/// and by what it leads to. Every link of a scene leads to a name without links.
bool allowedBy(const Policy& policy, const std::string& path, const std::string& target,
               Operation operation) {
  return decide(policy, target, operation).allowed &&
         (path == target || decide(policy, path, Operation::Query).allowed);
}

} // namespace

TEST_CASE("the gate denies exactly what decide denies, and nothing else is a denial") {
  const char *given = ::getenv("GOS_SEED"), *full = ::getenv("GOS_FULL");
  // The long run looks at what nobody has looked at; the others say the same each time.
  const uint64_t seed = given != nullptr  ? std::strtoull(given, nullptr, 10)
                        : full != nullptr ? uint64_t(::time(nullptr)) * 1000
                                          : 1'000'000;
  std::string pattern = "/var/tmp/gosgate-XXXXXX";
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  const std::string place = fs::canonical(pattern).string();
  size_t judged = 0, denied = 0;
  for (uint64_t round = 0; round != 60; ++round) {
    std::mt19937_64 random(seed + round);
    CAPTURE(seed + round);
    const std::string top = place + "/" + std::to_string(round);
    fs::create_directory(top);
    const Scene scene = makeScene(top, random);
    std::vector<std::string> denials;
    for (size_t count = random() % 4; count > 0; --count)
      denials.push_back(scene.names[random() % scene.names.size()]);
    const Policy policy = comptimePolicy(ComptimeIo::Confined, scene.root, denials);
    for (Road road : {Road::FastThenWalk, Road::WalkOnly}) {
      Root root = llvm::cantFail(Root::open(scene.root));
      root.setRoad(road);
      root.setPolicy(policy);
      const auto check = [&](const std::string& path, const std::string& target) {
        CAPTURE(path);
        const auto one = [&](const Resolution& resolution, Operation operation) {
          const bool may = allowedBy(policy, path, target, operation);
          CHECK_MESSAGE(resolution.denied() == !may, spelling(operation).str());
          ++judged;
          denied += !may;
        };
        one(root.openFile("", path).resolution, Operation::Read);
        one(root.list("", path).resolution, Operation::List);
        one(root.query("", path, FollowLast::Yes).resolution, Operation::Query);
      };
      for (const std::string& name : scene.names)
        check(name, name);
      for (const std::string& link : scene.links)
        check(link, fs::read_symlink(link).string());
    }
    fs::remove_all(top);
  }
  fs::remove_all(place);
  std::cout << "the gate from seed " << seed << ": " << judged << " questions, " << denied
            << " denied\n";
  CHECK(judged >= 2000);
  CHECK(denied >= judged / 10);
  CHECK(denied <= judged * 9 / 10);
}

} // namespace gos
