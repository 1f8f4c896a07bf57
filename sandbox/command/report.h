#pragma once
// What a run was refused, by which rule, and the flag that would allow it: the denial report as a
// value, as text and as JSON. recorder.h makes it while the run goes on.

#include "sandbox/policy/policy.h"

#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace gos {
class JsonWriter;
}

namespace gos::sandbox {

/// Where a line comes from.
enum class Evidence : uint8_t {
  Observed, // the refusal itself was seen: the filter's
  Inferred, // the attempt was seen, and `decide` says that it is refused
};
llvm::StringRef spelling(Evidence evidence);

/// An act that was refused. Strings are raw bytes; whoever prints them escapes.
struct Denied {
  std::string call;      // "openat"
  std::string operation; // "read", "write", "connect", "call", ...
  std::string path;      // canonical; or
  std::string address;   // what else the call was about
  std::string rule;      // one sentence
  std::string flag;      // what to type to allow it; empty where nothing does
  std::string advice;    // what else would change it; may be empty
  Evidence evidence = Evidence::Inferred;
  bool harmless = false; // programs look for it everywhere and go on without
  uint64_t count = 1;
  std::string process; // the name of the first that tried

  friend bool operator==(const Denied&, const Denied&) = default;
};

struct Report {
  SandboxLevel level = SandboxLevel::Strict;
  bool watched = false;       // false: the level has no filter, so nothing was seen
  std::vector<Denied> denied; // in order of their first time; harmless ones last
  uint64_t unlisted = 0;      // refused acts beyond the most that are listed
  uint64_t unread = 0;        // calls whose names could not be read
};

/// The most lines; what is more is counted.
constexpr size_t kMostDenied = 10000;

/// For people, after the child has ended. `failed`: the run did not end with 0.
void printReport(llvm::raw_ostream& out, const Report& report, bool failed);
/// The members "denied", "denied_unlisted", "denied_unread" and "watched" of an object.
void writeReport(JsonWriter& json, const Report& report);
/// What no report sees, one sentence.
llvm::StringRef reportLimits();

/// A word as a shell reads it back, whatever bytes it has.
std::string shellQuoted(llvm::StringRef word);

} // namespace gos::sandbox
