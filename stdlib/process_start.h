#pragma once
// Starting a child of std::process without copying this process. Its descriptors are the three
// streams and nothing else, for all of ours are close-on-exec.

#include <map>
#include <string>
#include <vector>

namespace gos::stdlib {

/// What a child is started with. A descriptor of -1 is the caller's own stream.
struct ChildRequest {
  std::string program;
  std::vector<std::string> arguments;
  std::string directory; // empty: the process's own
  std::map<std::string, std::string> variables;
  bool wellFormed = true;
  int input = -1;
  int output = -1;
  int error = -1;
  bool noInput = false; // standard input is empty
  /// The kernel kills it when the thread that starts it ends, however that comes about: for a child
  /// that this thread, or the one that runs the program, waits for.
  bool endsWithStarter = true;
};

bool hasNul(const std::string& text);

/// Starts the child, on any thread; a message when that is not possible. Signals are blocked by the
/// caller.
std::string startChild(const ChildRequest& request, int& pid);

} // namespace gos::stdlib
