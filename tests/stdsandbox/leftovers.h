#pragma once
// What a run leaves behind when it does not clean up.

#include <string>
#include <vector>

namespace gos::cases {

/// Private temps that no run holds any more.
std::vector<std::string> leftovers();

} // namespace gos::cases
