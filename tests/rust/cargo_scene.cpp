#include "tests/rust/cargo_scene.h"

#include "compiler/bindings/crate_sources.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace gos::test {

namespace files = std::filesystem;

namespace {

void write(const files::path& path, const std::string& text) {
  files::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

} // namespace

bool haveCargo() {
  static const bool there = [] {
    const bool works = runChild({{"cargo", "--version"}}).exitedWith(0);
    if (!works) {
      std::cout << "skipped: no cargo on PATH (apt-get install cargo-web, or rustup)\n";
      CHECK_MESSAGE(std::getenv("GOS_REQUIRE_CARGO") == nullptr,
                    "GOS_REQUIRE_CARGO is set and there is no cargo");
    }
    return works;
  }();
  return there;
}

CargoScene::CargoScene(const std::string& name, const std::string& manifest,
                       const std::string& source) {
  std::string made = (files::temp_directory_path() / "gos-rust-XXXXXX").string();
  REQUIRE(mkdtemp(made.data()) != nullptr);
  root_ = made;
  const files::path root = root_;
  for (const bindings::CrateFile& file : bindings::crateSources())
    write(root / file.path.str(), file.content.str());
  write(root / "Cargo.toml",
        "[workspace]\nresolver = \"2\"\nmembers = [\"root\", \"" + name +
            "\"]\nexclude = [\"gossamer-binding\", \"gossamer-binding-macros\"]\n"
            "[patch.crates-io]\ngossamer-binding = { path = \"gossamer-binding\" }\n");
  write(root / "root/Cargo.toml",
        "[package]\nname = \"root\"\nversion = \"0.0.0\"\nedition = \"2021\"\n"
        "[lib]\ncrate-type = [\"cdylib\"]\n[dependencies]\n" +
            name + " = { path = \"../" + name + "\" }\n");
  write(root / "root/src/lib.rs", "extern crate " + name + " as _;\n");
  write(root / name / "Cargo.toml", manifest);
  write(root / name / "src/lib.rs", source);
}

CargoScene::~CargoScene() {
  std::error_code ignored;
  files::remove_all(root_, ignored);
}

ChildResult CargoScene::cargo(std::vector<std::string> arguments) const {
  ChildRequest request;
  request.arguments = {"cargo"};
  request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
  request.arguments.push_back("--offline");
  request.arguments.push_back("--target-dir");
  request.arguments.push_back(root_ + "/target");
  request.directory = root_;
  request.limit = std::chrono::hours(1); // the runner of the tests has the limit
  return runChild(request);
}

std::string CargoScene::library(const std::string& profile) const {
  return root_ + "/target/" + profile + "/libroot.so";
}

} // namespace gos::test
