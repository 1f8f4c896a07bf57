#pragma once
// A library for LD_PRELOAD, whose list is separated by spaces and colons: where the build stands in
// a directory with one, a copy is named.

#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace gos::tests {

class Preload {
public:
  explicit Preload(const std::string& library) : path_(library) {
    if (library.find_first_of(" :") == std::string::npos)
      return;
    char copy[] = "/var/tmp/gos-preload-XXXXXX";
    const int file = ::mkstemp(copy);
    if (file < 0)
      return; // the test says what it misses
    ::close(file);
    path_ = copy_ = copy;
    std::error_code ignored;
    std::filesystem::copy_file(library, copy_, std::filesystem::copy_options::overwrite_existing,
                               ignored);
    std::filesystem::permissions(copy_, std::filesystem::perms(0755), ignored);
  }
  ~Preload() {
    if (!copy_.empty())
      ::unlink(copy_.c_str());
  }
  Preload(const Preload&) = delete;
  Preload& operator=(const Preload&) = delete;

  const std::string& path() const { return path_; }

private:
  std::string path_, copy_;
};

} // namespace gos::tests
