#pragma once
// A directory of a test's own: a root with a tree in it, and a canary beside it.

#include <doctest/doctest.h>

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::test {

class TempTree {
public:
  TempTree() {
    char name[] = "/tmp/gos-unit-XXXXXX";
    base_ = std::filesystem::canonical(::mkdtemp(name)).string();
    root_ = base_ + "/R";
    ::mkdir(root_.c_str(), 0755);
    write(base_ + "/X", kCanary);
    ::mkdir((base_ + "/outside").c_str(), 0755);
    write(base_ + "/outside/secret", kCanary);
  }
  TempTree(const TempTree&) = delete;
  ~TempTree() {
    std::error_code ignored;
    std::filesystem::remove_all(base_, ignored);
  }

  static constexpr const char* kCanary = "canary-5f0b6c";

  const std::string& base() const { return base_; }
  const std::string& root() const { return root_; }
  std::string at(const std::string& path) const { return root_ + "/" + path; }
  void file(const std::string& path, const std::string& text = "inside") const {
    std::filesystem::create_directories(std::filesystem::path(at(path)).parent_path());
    write(at(path), text);
  }
  void directory(const std::string& path) const { std::filesystem::create_directories(at(path)); }
  void link(const std::string& path, const std::string& text) const {
    REQUIRE(::symlink(text.c_str(), at(path).c_str()) == 0);
  }

private:
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  std::string base_, root_;
};

inline size_t openDescriptors() {
  return size_t(std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                              std::filesystem::directory_iterator()));
}

} // namespace gos::test
