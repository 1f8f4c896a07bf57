#pragma once
// Standing where the command stands: signals, job control and the terminal while it runs.

#include "sandbox/command/recorder.h"
#include "sandbox/command/runner.h"

#include <bitset>

namespace gos::bwr {

/// Catches the signals that are meant for the command; the process keeps them until it ends. What
/// the caller ignores stays ignored. Called once, before the command is started, so that none is
/// lost.
class SignalRelay {
public:
  static llvm::Expected<std::unique_ptr<SignalRelay>> create();
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  /// Runs until the command has ended. `observer`, where there is one, is served meanwhile.
  llvm::Expected<sandbox::RunResult> supervise(sandbox::Run& run, sandbox::Observer* observer);

private:
  SignalRelay() = default;
  struct State;
  std::unique_ptr<State> state_;
  std::bitset<65> relayed_; // the signals that are caught
};

/// Ends this process as the command ended: by SIGINT if it died of that, so that a shell leaves its
/// loop; else the code to exit with.
int exitLike(const sandbox::RunResult& result);

} // namespace gos::bwr
