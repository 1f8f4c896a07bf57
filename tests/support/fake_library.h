#pragma once
// The library of fake_bindings.cpp in a memfd, as the toolchain hands libraries on.

#include "sandbox/unique_fd.h"

#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace gos::test {

inline UniqueFd memoryFile(const std::string& bytes) {
  UniqueFd file(::memfd_create("bindings", MFD_CLOEXEC));
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t written = ::write(file.get(), bytes.data() + at, bytes.size() - at);
    if (written <= 0)
      return UniqueFd();
    at += size_t(written);
  }
  return file;
}

inline std::string fakeLibraryBytes() {
  std::ifstream file(GOS_FAKE_BINDINGS, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline UniqueFd fakeLibrary() {
  return memoryFile(fakeLibraryBytes());
}

} // namespace gos::test
