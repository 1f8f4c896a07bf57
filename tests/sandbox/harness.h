#pragma once
// What the cases of the command sandbox share: rooms on disk, identities, and running things with
// and without bwr. A case first shows, unconfined, that its act would have worked.

#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>
#include <vector>

namespace gos::cases {

/// Who a case runs as. A test started by root runs each case as root and as an ordinary user; one
/// started by an ordinary user runs it as that user.
enum class As { Root, User };
std::vector<As> identities();
const char* name(As who);

/// The levels with a guarantee.
inline const std::vector<std::string>& levels() {
  static const std::vector<std::string> all = {"basic", "standard", "strict"};
  return all;
}
/// Standard and strict.
inline const std::vector<std::string>& confining() {
  static const std::vector<std::string> all = {"standard", "strict"};
  return all;
}

struct Outcome {
  int code = -1; // exit code; 128 + signal if it died of one
  int signal = 0;
  std::string out, err;
  double seconds = 0;
  bool timedOut = false; // after How::limit: always a failure
};

struct How {
  std::string input;                      // of standard input; /dev/null if there is none
  bool closedInput = false;               // 0 is closed
  std::map<std::string, std::string> set; // added to the environment
  std::vector<std::string> unset;         // taken from it
  double limit = 900;                     // seconds until the run is given up as hanging
  std::string directory;                  // instead of the room's
  std::vector<std::pair<int, std::string>>
      open; // descriptors that are open on these paths, without close-on-exec
  bool terminal =
      false; // run on a new pseudo terminal, as its session's leader; out is what appears there
};

/// At the beginning of a command of `sh -c`: goes on when its parent, the first process of the run,
/// looks after it. A command may be there before that; whoever kills a supervisor then has the
/// kernel end what it can.
inline const std::string kLookedAfter =
    "until grep -q State:.S /proc/$PPID/status; do sleep 0.01; done; ";

/// $W with the project $W/p in it, owned by whom the case runs as, and $W/home as HOME. Removed at
/// the end, with everything in it.
class Room {
public:
  explicit Room(As who);
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  const std::string& top() const { return top_; }         // $W
  const std::string& project() const { return project_; } // $W/p, the working directory
  const std::string& home() const { return home_; }
  As who() const { return who_; }

  /// Paths are relative to the project unless absolute. Owned by whom the case runs as.
  void write(const std::string& path, llvm::StringRef text, unsigned mode = 0644) const;
  void makeDirectory(const std::string& path) const;
  void link(const std::string& target, const std::string& path) const;
  std::string read(const std::string& path) const; // "" if it cannot be read; see exists
  bool exists(const std::string& path) const;      // the entry itself
  std::string path(const std::string& relative) const;

  /// Runs a program directly, as whom the case runs as.
  Outcome plain(const std::vector<std::string>& command, const How& how = {}) const;
  Outcome shell(const std::string& script, const How& how = {}) const;
  /// bwr --level LEVEL FLAGS... -- COMMAND...
  Outcome bwr(const std::string& level, const std::vector<std::string>& flags,
              const std::vector<std::string>& command, const How& how = {}) const;
  /// The same with `sh -c SCRIPT`.
  Outcome bwrShell(const std::string& level, const std::vector<std::string>& flags,
                   const std::string& script, const How& how = {}) const;
  /// bwr with these words and nothing added.
  Outcome bwrRaw(const std::vector<std::string>& words, const How& how = {}) const;

private:
  As who_;
  std::string top_, project_, home_;
};

/// The copies that everyone may execute: bwr and the probe (tests/sandbox/probe.cpp).
const std::string& bwrPath();
const std::string& probePath();
/// Is a program on PATH? A case that needs one that is not installed is a counted skip.
bool installed(const std::string& program);
/// Prints a skip with its reason; `./dev test` counts them. With GOS_REQUIRE_SANDBOX=1 it fails the
/// test, with =host unless the reason is a program that is not installed or that a control needs
/// what "this kernel" or "this file system" has not.
void skip(const std::string& what, const std::string& reason);
/// Processes whose command line holds the text.
std::vector<int> processesWith(const std::string& text);

} // namespace gos::cases
