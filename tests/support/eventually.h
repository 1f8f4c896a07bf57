#pragma once
// Waiting for a fact instead of for a time.

#include <fstream>
#include <string>
#include <unistd.h>

namespace gos::tests {

/// Waits for the fact. The bound is one that only a failure meets: slow is no fault.
template <class Fact> bool eventually(Fact fact) {
  for (int wait = 0; wait != 3000; ++wait) {
    if (fact())
      return true;
    ::usleep(50000);
  }
  return fact();
}

/// Waits for the end of a process that is nobody's here to reap: a zombie has ended.
inline bool ends(int process) {
  return eventually([&] {
    std::string line;
    std::getline(std::ifstream("/proc/" + std::to_string(process) + "/stat"), line);
    const size_t name = line.rfind(") ");
    return name == std::string::npos || line[name + 2] == 'Z' || line[name + 2] == 'X';
  });
}

} // namespace gos::tests
