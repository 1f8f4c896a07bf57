#pragma once
// How a running program fails. A trap travels up the interpreter as a value; the guest cannot see
// it.

#include "diagnostics/span.h"
#include "sandbox/policy/capability.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gos::vm {

enum class TrapKind : uint8_t {
  None,
  Panic,        // GX0005; also overflow, bounds, unwrap...
  Incompatible, // GX0001: a value that is borrowed elsewhere, a forged handle
  NoArm,        // GX0006
  Depth,        // GX0008
  Budget,       // GX0009: counter and limit in the message
  Denied,       // GX0010
  Exit,         // process::exit(code): not a failure, unwinds the same way
  Refused,      // the module or an import does not fit the table: the VM will not run it
};

/// The code that a report of such an end carries.
llvm::StringRef codeOf(TrapKind kind);

inline constexpr size_t kTraceFrames = 64;

struct TraceFrame {
  std::string function;
  Span span;
  uint32_t package = 0;
  bool transparent = false;
};

/// A goroutine that waits, of a deadlock.
struct WaitingGoroutine {
  uint64_t number = 0; // 0: main
  std::string label;
  std::string what; // "a value from a channel"
  TraceFrame at;
};

/// What the gate refused, for GX0010.
struct Denial {
  Capability capability{};
  std::string builtin;     // canonical name
  std::string spelling;    // as the user wrote it; may be empty
  uint32_t package = 0;    // the package (id of the module) the call was judged for
  std::string detail;      // for a read: what the path led to
  std::string narrowest;   // the narrowest option that would permit it; empty if only full would
  std::string levelText;   // the level in force, "confined"
  std::string levelOrigin; // where it came from: "the default", "`project.toml`, line 4"
};

/// Details live behind a pointer: the common answer, "no trap", is one machine word.
struct TrapDetails {
  TrapKind kind = TrapKind::None;
  std::string message;
  std::vector<TraceFrame> trace;  // innermost first, capped at kTraceFrames
  uint64_t traceOmitted = 0;      // frames beyond the cap
  bool traced = false;            // the trace was taken where the trap was raised
  bool isBorrowed = false;        // Incompatible: a value is missing, for somebody has it
  std::optional<TraceFrame> lent; // then: where it was borrowed, if that is known
  std::string counter;            // Budget: "steps", "heap", ...; Depth: "depth"
  uint64_t limit = 0;             // Budget, Depth
  Denial denial;
  int64_t exitCode = 0;
  std::vector<WaitingGoroutine> waiters; // of a deadlock
  uint64_t waitersOmitted = 0;
};

class [[nodiscard]] Trap {
public:
  Trap() = default;
  static Trap none() { return {}; }
  static Trap make(TrapKind kind, std::string message);
  static Trap panic(std::string message) { return make(TrapKind::Panic, std::move(message)); }
  static Trap denied(Denial denial);
  static Trap exit(int64_t code);
  static Trap budget(std::string counter, uint64_t limit);
  /// The host has no more memory, though the budget would allow it.
  static Trap outOfMemory(uint64_t used);
  static Trap depth(uint64_t limit);
  /// Runs within runs: a constant that is made while another one is, a comparison of the program's
  /// own within another. The limit is the VM's, and no option raises it.
  static Trap nesting(uint64_t limit);
  static Trap incompatible(std::string message) {
    return make(TrapKind::Incompatible, std::move(message));
  }
  /// A value that is missing, for somebody has it.
  static Trap borrowed(std::string message);

  explicit operator bool() const { return details_ != nullptr; }
  TrapDetails& operator*() const { return *details_; }
  TrapDetails* operator->() const { return details_.get(); }

private:
  std::unique_ptr<TrapDetails> details_;
};

} // namespace gos::vm
