#pragma once
// The end of the runs of std::sandbox when the program is asked to end.

#include <chrono>

namespace gos::stdlib {

/// Kills the run that the program's own thread waits for. From a signal handler of that thread.
void endSandboxRunInPlace();
/// Kills every run and waits until each has cleaned up, or until the time has come.
void endSandboxRuns(std::chrono::steady_clock::time_point deadline);

} // namespace gos::stdlib
