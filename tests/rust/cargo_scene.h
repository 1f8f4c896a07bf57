#pragma once
// A workspace that binds one crate, as `gos` generates them: its root library says `extern crate`,
// and `gossamer-binding` is the copy inside the toolchain.

#include "tests/support/child_process.h"

#include <string>
#include <vector>

namespace gos::test {

/// Is there a Cargo? Without one the reason is printed and counted.
bool haveCargo();

class CargoScene {
public:
  /// A room of its own with the crate `name`, from a manifest and one source file.
  CargoScene(const std::string& name, const std::string& manifest, const std::string& source);
  ~CargoScene();
  CargoScene(const CargoScene&) = delete;
  CargoScene& operator=(const CargoScene&) = delete;

  /// Runs `cargo ARGUMENTS... --offline` at the root of the workspace.
  ChildResult cargo(std::vector<std::string> arguments) const;
  /// The library that a build made, in `debug` or `release`.
  std::string library(const std::string& profile) const;
  const std::string& root() const { return root_; }

private:
  std::string root_;
};

} // namespace gos::test
