#pragma once
// Signals that a program asked for (`os::signal::on`). The handler looks who wants to know, raises
// a descriptor of each, and does nothing else; goroutines wait for those descriptors. A
// subscription holds the value that the program has, and is over when nobody else holds it.

#include "stdlib/host_state.h"
#include "vm/object.h"

#include <csignal>

namespace gos::stdlib {

/// The signals that can be asked for.
inline constexpr int kSignals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2,
                                   SIGTERM, SIGCONT, SIGTSTP, SIGWINCH};

/// For a handler of the thread that runs the Vm: does somebody want to know of this signal? Then he
/// is told, and the signal does nothing else.
bool takeSignal(int number);
/// Those that a child has to be started with as ignored, which they were before they were asked
/// for: a bit each, by number.
uint64_t signalsIgnoredBefore();
/// While it lives a handler of somebody else stands for a signal, who calls `takeSignal` first.
/// Made before that handler is installed, and gone after it.
class SignalIsAsked {
public:
  explicit SignalIsAsked(int number);
  ~SignalIsAsked();
  SignalIsAsked(const SignalIsAsked&) = delete;
  SignalIsAsked& operator=(const SignalIsAsked&) = delete;

private:
  int number_;
};

/// A place in the table of the handler.
struct SignalPlace;

/// One subscription: a handle of the program.
class NotifierHandle : public Handle {
public:
  static constexpr HandleKind kKind = HandleKind::Notifier;
  NotifierHandle() : Handle(kKind) {}
  ~NotifierHandle() override { stop(); }
  /// What went wrong, or nothing.
  std::string start(int number);
  /// From here on the handler tells it of signals, as long as somebody else than the handle holds
  /// the value, which is retained. It is the caller's to be released when the handle goes.
  void hold(vm::Object* value);
  /// The value, if the handle holds one: nobody else may.
  vm::Object* value() const { return value_; }
  bool isHeldByOthers() const { return value_ != nullptr && value_->refs > 1; }
  /// A signal has come since the last one was taken.
  bool take();
  void stop();
  bool isStopped() const { return stopped_; }
  /// Readable when there is something to take, or it is stopped.
  int fd() const { return fd_.get(); }

private:
  UniqueFd fd_;
  SignalPlace* place_ = nullptr;
  vm::Object* value_ = nullptr;
  bool stopped_ = false;
};

} // namespace gos::stdlib
