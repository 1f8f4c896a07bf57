// Runs one child to its end and hands back everything it said: what the runners of programs and
// goldens stand on.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace gos::test {

struct ChildRequest {
  std::vector<std::string> arguments; // [0] is the program
  std::string directory;              // working directory; empty means this process's
  std::string input;                  // standard input, then end of file
  std::chrono::seconds limit{600};    // against what hangs for ever; slow is no fault
  size_t outputLimit = 16u << 20;     // bytes kept of each stream; more ends the child
};

struct ChildResult {
  enum class End { Exited, Signalled, TimedOut, TooMuchOutput, NotStarted };
  End end = End::NotStarted;
  int code = 0; // exit code, signal number or errno, as `end` says
  std::string out;
  std::string err;

  bool exitedWith(int wanted) const { return end == End::Exited && code == wanted; }
};

/// Starts the child in a process group of its own and waits; past the limit the group is killed.
ChildResult runChild(const ChildRequest& request);

/// "exit code 1", "killed by signal 11", "no end after 600 s".
std::string describeEnd(const ChildResult& result, const ChildRequest& request);

/// The whole file, or nothing where there is none.
bool readFile(const std::string& path, std::string& text);

/// Lines of a text without their terminators; a last line without one counts.
std::vector<std::string> splitLines(const std::string& text);

/// Wanted and found lines side by side as `-` and `+`, three lines of context; empty if equal.
std::string lineDiff(const std::string& wanted, const std::string& found);

} // namespace gos::test
