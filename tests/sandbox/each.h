#pragma once
// A case for each identity and each of the levels, with both named in the message of a failure.

#include "tests/sandbox/harness.h"

#include <doctest/doctest.h>

namespace gos::cases {

template <class Body> void each(const std::vector<std::string>& levels, Body body) {
  for (As who : identities())
    for (const std::string& level : levels) {
      const std::string identity = name(who);
      CAPTURE(identity);
      CAPTURE(level);
      const Room room(who);
      body(room, level);
    }
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace gos::cases
