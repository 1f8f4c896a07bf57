#pragma once
// A directory of its own for a test, on a disk and beneath nothing that every view replaces.

#include <cstdlib>
#include <filesystem>
#include <string>

namespace gos::sandbox {

struct Room {
  std::string path; // canonical
  Room() {
    std::string pattern = "/var/tmp/gosrun-XXXXXX";
    path = std::filesystem::canonical(::mkdtemp(pattern.data())).string();
  }
  ~Room() { std::filesystem::remove_all(path); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
};

} // namespace gos::sandbox
