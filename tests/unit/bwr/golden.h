#pragma once
// Whole outputs, written down in tests/unit/bwr/golden. GOS_UPDATE=1 writes them again; the
// difference is read like code.

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace gos::test {

inline void checkGolden(const std::string& name, const std::string& found) {
  const std::string path = std::string(GOS_SOURCE_DIR "/tests/unit/bwr/golden/") + name;
  if (const char* update = std::getenv("GOS_UPDATE"); update != nullptr && *update == '1')
    std::ofstream(path, std::ios::binary) << found;
  std::ifstream file(path, std::ios::binary);
  std::stringstream wanted;
  wanted << file.rdbuf();
  CHECK_MESSAGE(wanted.str() == found, path << "\n" << found);
}

} // namespace gos::test
