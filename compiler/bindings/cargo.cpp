#include "compiler/bindings/cargo.h"

#include "sandbox/sys_error.h"

#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace gos::bindings {

namespace {

/// The longest line of Cargo that is looked at.
constexpr size_t kLongestLine = size_t(8) << 20;
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

volatile int interruptDescriptor = -1;

void onInterrupt(int number) {
  const int kept = errno;
  const char byte = char(number);
  [[maybe_unused]] const ssize_t wrote = ::write(interruptDescriptor, &byte, 1);
  errno = kept;
}

/// Turns the signals that would end this process into bytes of a pipe, for one run. The run is in a
/// session of its own, so that it is ended by us, whole.
class Interrupts {
public:
  Interrupts() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
      return;
    reading_ = UniqueFd(ends[0]);
    writing_ = UniqueFd(ends[1]);
    interruptDescriptor = ends[1];
    struct sigaction action{};
    action.sa_handler = onInterrupt;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    for (size_t each = 0; each != std::size(kSignals); ++each) {
      ::sigaction(kSignals[each], nullptr, &before_[each]);
      if (before_[each].sa_handler != SIG_IGN)
        ::sigaction(kSignals[each], &action, nullptr);
    }
  }
  ~Interrupts() {
    if (!reading_)
      return;
    for (size_t each = 0; each != std::size(kSignals); ++each)
      ::sigaction(kSignals[each], &before_[each], nullptr);
    interruptDescriptor = -1;
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  int descriptor() const { return reading_.get(); }
  /// The signal that came, or 0.
  int take() {
    char byte = 0;
    return reading_ && ::read(reading_.get(), &byte, 1) == 1 ? int(byte) : 0;
  }

private:
  UniqueFd reading_, writing_;
  struct sigaction before_[std::size(kSignals)] = {};
};

/// A stream of the run, cut into lines in a bounded buffer.
class Lines {
public:
  explicit Lines(llvm::function_ref<void(llvm::StringRef)> take) : take_(take) {}

  llvm::Error open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      return sysError("make", "a pipe", errno);
    reading_ = UniqueFd(ends[0]);
    writing_ = UniqueFd(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return llvm::Error::success();
  }
  int reading() const { return reading_.get(); }
  int writing() const { return writing_.get(); }
  void started() { writing_.reset(); }
  void drain() {
    char buffer[65536];
    while (reading_) {
      const ssize_t got =
          retryInterrupted([&] { return ::read(reading_.get(), buffer, sizeof buffer); });
      if (got < 0)
        return;
      if (got == 0) {
        reading_.reset();
        break;
      }
      llvm::StringRef rest(buffer, size_t(got));
      for (size_t end; (end = rest.find('\n')) != llvm::StringRef::npos;
           rest = rest.substr(end + 1)) {
        append(rest.take_front(end));
        flush();
      }
      append(rest);
    }
  }
  void finish() {
    drain();
    if (!line_.empty())
      flush();
  }

private:
  void append(llvm::StringRef text) {
    line_.append(text.take_front(kLongestLine - std::min(kLongestLine, line_.size())).str());
  }
  void flush() {
    if (take_)
      take_(line_);
    line_.clear();
  }

  llvm::function_ref<void(llvm::StringRef)> take_;
  UniqueFd reading_, writing_;
  std::string line_;
};

sandbox::RunOptions optionsOf(const Toolchain& toolchain, const CargoCall& call) {
  sandbox::RunOptions options;
  options.program = toolchain.cargo;
  options.arguments = call.arguments;
  options.arguments.insert(options.arguments.begin(), "cargo");
  options.environment = call.environment;
  options.newSession = true;
  options.notify = call.watch;
  return options;
}

} // namespace

llvm::Expected<sandbox::ChildPlan> planOfCargo(const Toolchain& toolchain, const CargoCall& call) {
  return sandbox::compileForHost(call.policy, optionsOf(toolchain, call));
}

llvm::Expected<CargoResult> runCargo(const Toolchain& toolchain, const CargoCall& call) {
  Lines output(call.onOutput), errorOutput(call.onError);
  if (llvm::Error error = output.open())
    return error;
  if (llvm::Error error = errorOutput.open())
    return error;
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  sandbox::RunOptions options = optionsOf(toolchain, call);
  options.standardInput = null.get();
  options.standardOutput = output.writing();
  options.standardError = errorOutput.writing();

  Interrupts interrupts;
  llvm::Expected<std::unique_ptr<sandbox::Run>> run = sandbox::start(call.policy, options);
  if (!run)
    return run.takeError();
  output.started();
  errorOutput.started();
  std::unique_ptr<sandbox::Observer> observer;
  if ((*run)->notifications() >= 0) {
    llvm::Expected<std::unique_ptr<sandbox::Observer>> made =
        sandbox::Observer::create(call.policy, **run, /*learns=*/false);
    if (!made)
      return made.takeError();
    observer = std::move(*made);
  }
  CargoResult result;
  for (bool ended = false; !ended;) {
    pollfd entries[5] = {{(*run)->descriptor(), POLLIN, 0},
                         {output.reading(), POLLIN, 0},
                         {errorOutput.reading(), POLLIN, 0},
                         {observer ? observer->descriptor() : -1, POLLIN, 0},
                         {interrupts.descriptor(), POLLIN, 0}};
    if (retryInterrupted([&] { return ::poll(entries, 5, -1); }) < 0)
      return sysError("wait for", "the run", errno);
    if (entries[3].revents != 0)
      observer->serve(entries[3].revents);
    output.drain();
    errorOutput.drain();
    if (const int number = interrupts.take(); number != 0) {
      result.interruptedBy = number;
      (*run)->kill();
    }
    while (entries[0].revents != 0) {
      llvm::Expected<sandbox::Run::Event> event = (*run)->take();
      if (!event)
        return event.takeError();
      ended = *event == sandbox::Run::Event::Ended;
      if (ended || *event == sandbox::Run::Event::Nothing)
        break;
    }
  }
  // Everything that could write is dead: what is in the pipes is all there will be.
  output.finish();
  errorOutput.finish();
  result.code = (*run)->result().code;
  result.signal = (*run)->result().signal;
  result.survivors = (*run)->result().killed;
  if (observer)
    result.report = observer->report();
  return result;
}

} // namespace gos::bindings
