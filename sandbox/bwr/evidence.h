#pragma once
// Did a step that failed want the network, or what was never downloaded? An exit code alone says
// nothing: a hint needs something that was seen.

#include "sandbox/command/runner.h"

#include <string>
#include <vector>

namespace gos::bwr {

/// A file whose absence is what a failed step is told, if it is still missing at the end.
struct MissingFile {
  std::vector<std::string> anyOf; // one of them is enough
  std::string hint;
};

/// What to say to a step that wanted the network, and where that shows.
struct NetworkHint {
  std::string text;        // empty: nothing is said
  std::string withNetwork; // added where a network call was seen; may be empty
  /// The tool again, asking only what is missing: it runs as the step ran, after it.
  std::vector<std::string> check;
  /// What the tool says where it wanted the network.
  std::vector<std::string> words;
  /// Where the tool writes what it says; made anew by the step.
  std::string log;
  double since = 0; // when the step began
};

/// Does text hold one of the words? Lines may be cut anywhere; nothing of it is printed.
bool holdsAny(llvm::StringRef text, llvm::ArrayRef<std::string> words);

/// What the tool wrote into its log since then, in seconds of the epoch: into that file, or into
/// the last one of that directory. Whatever stands there may be the command's: only a plain file is
/// read, and of it a part.
std::string logText(const std::string& path, double since);

/// Runs the check under the policy of the step, with nothing to read and its messages kept. Answers
/// them; empty if it did not fail, did not start, or took longer than it may.
std::string checkText(const Policy& policy, const sandbox::RunOptions& step,
                      const std::vector<std::string>& check);

/// What to tell a step that failed with a code of its own; empty where nothing shows that it wanted
/// the network.
std::string networkNote(const NetworkHint& hint, const Policy& policy,
                        const sandbox::RunOptions& step, const sandbox::RunResult& result);

} // namespace gos::bwr
