#pragma once
// A directory for programs that run commands in sandboxes, and running one both ways.

#include "tests/threats/support.h"

#include "llvm/ADT/StringRef.h"

#include <functional>
#include <string>
#include <vector>

namespace gos::stdsandbox {

using threats::Launch;
using threats::Outcome;
using threats::Tree;

/// Does this host give the level? A counted skip where it does not.
bool hostGives(llvm::StringRef level);

class Scene {
public:
  /// With a home that holds `.ssh/id_ed25519`.
  Scene();
  Tree& tree() { return tree_; }
  std::string key() const { return tree_.home() + "/.ssh/id_ed25519"; }
  /// Copies a directory of the sources into the scene.
  void copy(const std::string& directory);
  /// main.gos: imports, a function `show` that prints how a run ended, and `body` as main.
  void program(llvm::StringRef body);
  /// Runs what stands there by `gos run` and built; both print and answer the same, which is the
  /// answer. What a run leaves in the scene is there for the second one.
  Outcome runBoth(const std::vector<std::string>& arguments = {});
  /// How both end, where they need not be alike.
  void eachWay(const std::function<void(const Outcome&)>& judge);
  /// `gos run` alone.
  Outcome run(const std::vector<std::string>& arguments = {});
  /// Beside a clean environment with HOME.
  std::vector<std::pair<std::string, std::string>> environment;
  std::string input;

private:
  Launch launchOf(std::vector<std::string> words, const std::vector<std::string>& arguments) const;
  Tree tree_;
  Launch buildIt();
  std::string entry_ = ".";
};

/// Processes whose command line holds the text.
std::vector<int> processIdsWith(llvm::StringRef text);
size_t processesWith(llvm::StringRef text);

} // namespace gos::stdsandbox
