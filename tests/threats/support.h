#pragma once
// What every attack of the catalogue needs: a private tree with canaries outside of it, the real
// `gos` run on it with a time limit, the system calls it made, and the checks that hold for each
// verdict: the message, alike in text and JSON; no side effect; clean output; nothing left.
//
// Usage:  Tree tree;
//         tree.link("l", tree.canary());
//         expectReadDenied(tree, {.uses = {"fs"}, .body = "fs::read_to_string(\"l\").unwrap()",
//                                 .call = "fs::read_to_string"}, tree.token());

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gos::threats {

// ---- processes ----------------------------------------------------------------------------------

enum class Level { None, Confined, Full };
inline constexpr Level kAllLevels[] = {Level::None, Level::Confined, Level::Full};
inline constexpr Level kBelowFull[] = {Level::None, Level::Confined};
llvm::StringRef spelling(Level level);

/// How one process ended.
struct Outcome {
  int exitCode = -1; // -1: killed by `signal`
  int signal = 0;
  bool timedOut = false;
  std::string out, err;
  double seconds = 0;
  long peakKiB = 0;
  bool groupGone = true; // no process of its group was left
};

struct Launch {
  std::vector<std::string> arguments;
  std::string directory;                                        // working directory; empty: ours
  std::string program;                                          // empty: gos
  std::vector<std::pair<std::string, std::string>> environment; // beside the clean one
  std::string input;           // of standard input; the pipe is closed behind it
  bool inputStaysOpen = false; // nobody writes, and nobody closes: a read would wait
  int timeLimitMs = 900'000;   // against what hangs for ever; slow is no fault
  std::vector<std::pair<int, int>> descriptors; // ours -> number in the child, inherited
};
Outcome launch(const Launch& launch);

/// One system call of a traced process.
struct SystemCall {
  std::string name;
  std::string text; // the line, from the name on
  bool failed = false;
};
struct Traced {
  Outcome outcome;
  std::vector<SystemCall> calls;
  bool available = true; // false where strace does not work: a counted skip
};
/// Runs under strace. What is traced: files, processes, network, signals, reads.
Traced traced(const Launch& launch);
/// Does strace work here? Says why not, once, and counts.
bool canTrace();

/// A part of a test that this host cannot show; fails under GOS_REQUIRE_SANDBOX=1.
void skipPart(llvm::StringRef what, llvm::StringRef why);

/// Extends the soak of some tests.
bool fullRun();

// ---- the tree
// ------------------------------------------------------------------------------------

/// <temp>/gos threats é XXXXXX/ with R in `root ö`, and beside it the canaries that nothing may
/// touch.
class Tree {
public:
  Tree();
  ~Tree();
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  /// R, absolute.
  const std::string& root() const { return root_; }
  /// Everything that belongs to the test.
  const std::string& top() const { return top_; }
  /// A name in R.
  std::string in(llvm::StringRef name) const;
  /// A directory outside of R, and a name in it. `marker` is its unique name.
  const std::string& outside() const { return outside_; }
  std::string out(llvm::StringRef name) const;
  const std::string& marker() const { return marker_; }
  /// X: a file outside that holds the token; and its path relative to R.
  std::string canary() const { return out("canary.txt"); }
  std::string relativeCanary() const;
  const std::string& token() const { return token_; }
  std::string home() const { return top_ + "/home"; }

  // All create parent directories; names are relative to R unless absolute.
  void write(llvm::StringRef name, llvm::StringRef text) const;
  void directory(llvm::StringRef name) const;
  void link(llvm::StringRef name, llvm::StringRef target) const;
  void fifo(llvm::StringRef name) const;
  void socket(llvm::StringRef name) const;
  void hardLink(llvm::StringRef name, llvm::StringRef existing) const;
  std::string readAll(llvm::StringRef name) const;
  bool exists(llvm::StringRef name) const;

  /// Every entry of the test's tree with kind, mode, size, modification time and contents.
  std::string snapshot() const;

private:
  std::string absolute(llvm::StringRef name) const;

  std::string top_, root_, outside_, marker_, token_;
};

// ---- programs
// -------------------------------------------------------------------------------------

/// An act in a region: `use std::U` for each, `items` at the top, and a constant whose region is
/// `body`.
struct Act {
  std::vector<std::string> uses;
  std::string items;
  std::string body;
  std::string type = "String";
  /// The call that is refused: what its span holds. The spelling in the message is the same unless
  /// given.
  std::string call;
  std::string spelledAs;
  std::string klass = "filesystem read";
  /// Text that some part of the message must hold ("leads to ...").
  std::string detail;
};
std::string program(const Act& act);

/// How gos is called; the default is `gos check main.gos` in R.
struct Where {
  std::string operand = "main.gos";
  std::string directory; // R if empty
  std::vector<std::string> options;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string input;
  std::vector<std::pair<int, int>> descriptors;
  /// The file that the call's span lies in; any if empty.
  std::string file;
  /// No flag for confined, so that the level comes from the default.
  bool passLevel = true;
};

Launch command(const Tree& tree, llvm::StringRef verb, std::optional<Level> level,
               const Where& where);

/// Writes the act to main.gos and expects GX0010 from every command that folds, without a trace of
/// the act.
void expectDenied(const Tree& tree, Level level, const Act& act, const Where& where = {});
/// The same for a program that is there already.
void expectProgramDenied(const Tree& tree, Level level, const Act& act, const Where& where = {});
/// The act is permitted: checks clean, and running prints `expected` and a newline.
void expectAllowed(const Tree& tree, Level level, const Act& act, llvm::StringRef expected,
                   const Where& where = {});
void expectProgramAllowed(const Tree& tree, Level level, llvm::StringRef expected,
                          const Where& where = {});
/// An ordinary diagnostic with this code; `words` appear in it. No side effect.
void expectError(const Tree& tree, Level level, const Act& act, llvm::StringRef code,
                 llvm::StringRef words, const Where& where = {});
void expectProgramError(const Tree& tree, Level level, llvm::StringRef code, llvm::StringRef words,
                        const Where& where = {});
/// A command line that is wrong: exit 2, nothing read.
void expectUsageError(const Tree& tree, const std::vector<std::string>& arguments,
                      llvm::StringRef words);

// The three usual shapes.
/// Reads outside: denied at none and confined; `full` answers `atFull`.
void expectReadDenied(const Tree& tree, const Act& act, llvm::StringRef atFull,
                      const Where& where = {});
/// Reads inside: denied at none; confined and full answer `expected`.
void expectReadAllowed(const Tree& tree, const Act& act, llvm::StringRef expected,
                       const Where& where = {});
/// Anything else: denied at none and confined. The act at full is the caller's business.
void expectDeniedBelowFull(const Tree& tree, const Act& act, const Where& where = {});

// ---- checks
// -----------------------------------------------------------------------------------------

/// One diagnostic of `--message-format=json`.
struct JsonLabel {
  std::string file, message;
  int64_t line = 0, column = 0, begin = 0, end = 0;
  bool primary = false;
};
struct JsonDiagnostic {
  std::string code, severity, title, message;
  std::vector<JsonLabel> labels;
  std::vector<std::string> notes, helps;
  const JsonLabel* primary() const;
  std::string all() const; // every text, for a search
};
/// Parses line by line with a parser that is not ours; a line that is no diagnostic fails the test.
std::vector<JsonDiagnostic> parseDiagnostics(llvm::StringRef lines);

/// The first byte that the tool must not print: C0 but newline and tab, C1, bidirectional controls;
/// or none.
std::optional<size_t> uncleanByte(llvm::StringRef text);
/// No process, socket or written file; no look at what lies outside the tree.
void checkNoSideEffect(const std::vector<SystemCall>& calls, const Tree& tree);
/// What holds for every run: no hang, no signal, clean output, no token, nothing left.
void checkOutcome(const Outcome& outcome, const Tree& tree);

} // namespace gos::threats
