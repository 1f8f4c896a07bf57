#pragma once
// Writing a script of acts, and running it in the place of a command under a plan. The self-proof
// and the capability report stand on this: what they find out, the kernel did.

#include "sandbox/linux/first_process/probe.h"
#include "sandbox/linux/plan.h"
#include "sandbox/linux/temporary.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

namespace gos::sandbox {

/// Builds a ProbePlan. Acts are numbered from 0; calls belong to the act begun last.
class ProbeScript {
public:
  struct Argument {
    ProbeArgument kind = ProbeArgument::Value;
    uint64_t value = 0;
    template <class Number,
              std::enable_if_t<std::is_integral_v<Number> || std::is_enum_v<Number>, int> = 0>
    Argument(Number number) : value(uint64_t(int64_t(number))) {}
    Argument(ProbeArgument what, uint64_t offset) : kind(what), value(offset) {}
  };
  using Arguments = std::initializer_list<Argument>;

  size_t beginAct() { return acts_++; }
  size_t actCount() const { return acts_; }

  /// A text with its NUL, some bytes, an empty buffer: in memory that the calls share.
  Argument text(llvm::StringRef text);
  Argument bytes(const void* data, size_t size);
  Argument buffer(size_t size) { return bytes(nullptr, size); }

  /// Set-up; what it answers can be an argument of later calls.
  Argument must(long number, Arguments arguments);
  void attempt(long number, Arguments arguments);
  void refused(long number, Arguments arguments, llvm::ArrayRef<int> errors);
  Argument works(long number, Arguments arguments);
  void equals(uint64_t value, long number, Arguments arguments);
  /// The call has to work; then the word of 4 or 8 bytes at `offset` in `buffer`, masked, is
  /// `value`.
  void word(long number, Arguments arguments, Argument buffer, size_t offset, unsigned bytes,
            uint64_t mask, uint64_t value, bool differs = false);

  std::string finish() const;

private:
  ProbeCall& add(long number, ProbeJudge judge, Arguments arguments);
  Argument answer() const { return {ProbeArgument::Result, calls_.size() - 1}; }

  size_t acts_ = 0;
  std::vector<ProbeCall> calls_;
  std::string memory_;
};

/// How one act ended.
struct ProbeVerdict {
  bool reported = false; // false: the process was gone before
  ProbeStatus status = ProbeStatus::NotTried;
  int error = 0;
  bool held() const { return reported && status == ProbeStatus::Held; }
};

struct ProbeLaunch {
  TemporaryDirectory* temporary = nullptr;
  int input = -1;         // standard input; -1: /dev/null
  int answerNotified = 0; // errno for what the filter hands to its listener
};

struct ProbeEnd {
  std::vector<ProbeVerdict> verdicts; // one an act
  bool survivors = false;             // a process was left when the run had ended
};

/// Starts the plan with the script as its command and waits. A start that fails is a LaunchFailure.
llvm::Expected<ProbeEnd> launchProbe(const ChildPlan& plan, const ProbeScript& script,
                                     const ProbeLaunch& launch = {});

} // namespace gos::sandbox
