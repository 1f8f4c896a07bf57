#pragma once
// The first process of a run: executed from memory with a plan, it builds the view, starts the
// command behind its locks, stays as the reaper of everything the command starts, and cleans up.
// No C library, no allocation, no state but this; it is small so that starting it costs little.
//
// Threats: the command may kill, trace, schedule or feed its first process. It is undumpable, has
// no effective capability once the command runs and a permitted one that the command lacks, reads
// nothing that the command can write, and blocks every signal that can be blocked.

#include "sandbox/linux/first_process/raw.h"
#include "sandbox/linux/launch_plan.h"

namespace gos::sandbox {

/// What a step that failed has to say.
struct Failure {
  Stage stage = Stage::None;
  int error = 0;
  uint32_t index = 0;
  explicit operator bool() const { return stage != Stage::None; }
};
inline Failure failed(Stage stage, long result, uint32_t index = 0) {
  return {stage, (int)-result, index};
}

/// The umask that the caller's thread had; the command gets it back.
extern long callerFileMode; // NOLINT(bugprone-dynamic-static-initializers): a declaration

/// The plan in memory.
struct Plan {
  char* base = nullptr;
  const LaunchHeader& header() const { return *(const LaunchHeader*)base; }
  const char* text(uint32_t offset) const { return base + offset; }
  const LaunchStep* steps() const { return (const LaunchStep*)(base + header().steps); }
  const LaunchRule* rules() const { return (const LaunchRule*)(base + header().rules); }
  bool has(LaunchFlag flag) const { return (header().flags & flag) != 0; }
};

/// A view step that has to stay what it is while the run lives.
struct Watched {
  uint32_t step;
  uint64_t device, inode;
  uint64_t mount = 0; // its id, once the view stands
};

/// Objects of ours that cover others: nobody may open a hole, an empty one says nothing. Their
/// names are removed before the command starts.
enum Hole : int { kHoleDirectory, kHoleFile, kEmptyDirectory, kEmptyFile };
constexpr const char* kHoleNames[4] = {".hole-directory", ".hole-file", ".empty-directory",
                                       ".empty-file"};

struct View {
  int root = -1;      // the new root; -1: the host's tree stays
  bool holes[4] = {}; // those that have been made
  int mounts = -1;    // /proc/self/mountinfo, readable when a mount changes; -1: nothing to watch
  int lastKept = -1;  // the highest descriptor that stays open for the run
  bool looksOften = false; // the kernel does not tell of every rename
  Watched* watched = nullptr;
  uint32_t watchedCount = 0;

  void keep(int descriptor) { lastKept = descriptor > lastKept ? descriptor : lastKept; }
};

struct Ahead;

/// Mounts an empty root over the host's.
Failure makeRoot(View& view);
/// Builds the view on it and enters it. What of `ahead` the plan does not have as it stands is
/// thrown away with the root that it is on.
Failure buildView(const Plan& plan, View& view, Ahead& ahead);
/// Makes a hole on the new root, which is the working directory, unless it is there.
Failure makeHole(View& view, Hole which, uint32_t index);
/// Puts the empty file on an entry of proc; 0 or a negative errno.
long maskEntry(const char* path);

/// Makes the ruleset; `ruleset` stays -1 without Landlock. Closes every descriptor above what the
/// view and the ruleset are.
Failure makeRuleset(const Plan& plan, const View& view, int& ruleset);
/// Gives up capabilities and what would bring them back, for this process and all it starts.
Failure dropCapabilities(const Plan& plan);
/// capset(2) with the low 32 capabilities; answers 0 or a negative errno.
long setCapabilities(uint32_t effective, uint32_t permitted);
/// Starts the command (or the probe). On success `process` is its id.
Failure startCommand(const Plan& plan, int ruleset, long& process);
/// The self-proof, in the place of the command, behind the same locks.
[[noreturn]] void runProbe(const Plan& plan);

/// Reaps, forwards, watches, until the command has ended and all of the run is gone; then cleans
/// up, says how it ended, and exits.
[[noreturn]] void supervise(const Plan& plan, const View& view, long command);

/// Sends one message; a supervisor that is gone is no error here.
void tell(const ControlMessage& message);

} // namespace gos::sandbox
