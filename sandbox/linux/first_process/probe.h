#pragma once
// The self-proof as bytes: system calls with what has to become of each. The supervisor writes the
// script, the first process runs it in the command's place, behind every lock, and says how each
// act ended. Freestanding. Offsets count from the start of the ProbePlan.

#include <stdint.h>

namespace gos::sandbox {

enum class ProbeArgument : uint8_t {
  Value,
  Memory, // an offset: a text, a structure or a buffer
  Result, // what an earlier call answered: its index
};

enum class ProbeJudge : uint8_t {
  Nothing, // clean-up: whatever comes
  Must,    // set-up: if it fails the act could not be tried
  Refused, // has to fail, with one of `errors`
  Works,   // must not fail
  Equals,  // has to answer `value`
  Word,    // must not fail; then (the word at `look` & `mask`) == `value`
  Differs, // must not fail; then (the word at `look` & `mask`) != `value`
};

/// In place of a system call.
enum ProbeBuiltin : int32_t {
  kProbeDescriptors = -1, // how many descriptors are open besides 0, 1, 2 and the control socket
  kProbeSurvivor = -2,    // a process of a session of its own that no signal but SIGKILL ends
};

constexpr int kProbeErrors = 6;

struct ProbeCall {
  int32_t number; // of a system call, or a ProbeBuiltin
  uint32_t act;
  ProbeJudge judge;
  ProbeArgument kinds[6];
  uint8_t bytes; // of the word: 4 or 8
  uint64_t arguments[6];
  uint64_t mask, value;
  uint32_t look;
  uint32_t errorCount;
  int32_t errors[kProbeErrors];
};

/// ControlMessage::status of a ProbeResult.
enum class ProbeStatus : int32_t { LetThrough, Held, NotTried };

struct ProbePlan {
  uint32_t callCount;
  uint32_t calls; // offset of ProbeCall[], those of one act in a row
};

} // namespace gos::sandbox
