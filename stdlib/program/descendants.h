#pragma once
// The end of what a program has started.

#include <chrono>
#include <cstdint>
#include <vector>

namespace gos::program {

/// Processes that came with this one, by `exec`, and are none of the program's.
std::vector<int> childrenOfBefore();

/// Who has the signal already: a terminal sends it to all of its foreground group.
enum class Told : uint8_t { Nobody, GroupWasTold };

/// Sends the signal to every descendant of this process but those, also to children that come to it
/// because their parents end (it has to be their reaper), waits until the deadline, kills the rest,
/// and reaps the children.
void endDescendants(int number, Told told, std::chrono::steady_clock::time_point deadline,
                    const std::vector<int>& others);

} // namespace gos::program
