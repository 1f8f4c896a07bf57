#include "sandbox/command/runner.h"

#include "sandbox/command/command_lookup.h"
#include "sandbox/command/orphans.h"
#include "sandbox/command/placeholders.h"
#include "sandbox/command/report.h"
#include "sandbox/linux/features.h"
#include "sandbox/linux/landlock_plan.h"
#include "sandbox/linux/seccomp_filter.h"
#include "sandbox/linux/self_proof.h"
#include "sandbox/linux/spawn.h"
#include "sandbox/linux/temporary.h"
#include "sandbox/linux/unavailable.h"
#include "sandbox/sys_error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gos::sandbox {

char RunError::ID = 0;

int RunError::exitCode() const {
  switch (problem_) {
  case RunProblem::Policy:
  case RunProblem::NotExecutable:
    return 126;
  case RunProblem::NotFound:
    return 127;
  case RunProblem::Unavailable:
    return 64;
  }
  return 126;
}
void RunError::log(llvm::raw_ostream& out) const {
  out << text_;
}
std::error_code RunError::convertToErrorCode() const {
  return std::make_error_code(std::errc::operation_not_permitted);
}

Run::~Run() = default;

class FirstProcess {
public:
  FirstProcess(Child made, const int (&of)[3])
      : child(std::move(made)), streams{of[0], of[1], of[2]} {}
  bool fits(const Beginning& beginning, const int (&wanted)[3]) const {
    return child.running() && child.beginning() == beginning && llvm::equal(streams, wanted);
  }
  Child child;

private:
  int streams[3];
};

namespace {

/// The numbers that a start assigns end at 64, and it holds some above.
constexpr rlim_t kLeastDescriptors = 80;
/// Of the first process and the plan, which are files in memory.
constexpr rlim_t kLeastFileSize = 64 * 1024;

llvm::Error problem(RunProblem kind, std::string text, std::string remedy = {},
                    std::string primitive = {}) {
  return llvm::make_error<RunError>(kind, std::move(text), std::move(remedy), std::move(primitive));
}

} // namespace

llvm::Error limitError(int error) {
  const auto soft = [](auto which) {
    rlimit limit{};
    ::getrlimit(which, &limit);
    return uint64_t(limit.rlim_cur);
  };
  if (error == EMFILE)
    return problem(RunProblem::Policy,
                   llvm::formatv("the limit of open files, {0}, is too low to start a run",
                                 soft(RLIMIT_NOFILE)),
                   "ulimit -n 1024");
  if (error == ENFILE)
    return problem(RunProblem::Policy, "this host has no open files left to start a run with",
                   "end what holds them: lsof | wc -l");
  if (error == EAGAIN)
    return problem(
        RunProblem::Policy,
        llvm::formatv("no more processes can be started: the limit of processes, {0}, is "
                      "reached",
                      soft(RLIMIT_NPROC) == uint64_t(RLIM_INFINITY)
                          ? std::string("of this host or its cgroup")
                          : std::to_string(soft(RLIMIT_NPROC))),
        "end what is not needed, or raise it: ulimit -u");
  if (error == EFBIG)
    return problem(RunProblem::Policy,
                   llvm::formatv("the limit of the size of files, {0} bytes, is too low to start a "
                                 "run",
                                 soft(RLIMIT_FSIZE)),
                   "ulimit -f unlimited");
  return llvm::Error::success();
}

namespace {

/// Any error of ours as a RunError: what cannot be said better is a policy that cannot be kept
/// here.
llvm::Error asRunError(llvm::Error error) {
  return llvm::handleErrors(
      std::move(error), [](std::unique_ptr<RunError> run) { return llvm::Error(std::move(run)); },
      [](const Unavailable& missing) {
        rlimit limit{};
        // What a probe could not get says nothing about the host.
        if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < kLeastDescriptors)
          return limitError(EMFILE);
        if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < kLeastFileSize)
          return limitError(EFBIG);
        return problem(RunProblem::Unavailable, missing.text().str(), missing.fix().str(),
                       missing.primitive().str());
      },
      [](const llvm::ErrorInfoBase& other) {
        const std::error_code code = other.convertToErrorCode();
        if (code.category() == std::generic_category())
          if (llvm::Error limit = limitError(code.value()))
            return limit;
        return problem(RunProblem::Policy, other.message());
      });
}

/// What a failed step of the start means to the user.
llvm::Error asRunError(const Policy& policy, const ChildPlan& plan, const FoundCommand& command,
                       Stage stage, int error, uint32_t index) {
  if (llvm::Error limit = limitError(error))
    return limit;
  const std::string words = stageWords(stage).str();
  const llvm::StringRef primitive = stagePrimitive(stage);
  if (stage == Stage::Execute)
    return executeFailure(policy, plan, command, error);
  if (stage == Stage::Filter && error == EBUSY && plan.filterNotifies)
    return problem(RunProblem::Policy,
                   "a report inside a report: the run around this one is watched already",
                   "leave out `--report` and `--learn` of one of the two");
  if (stage == Stage::WorkingDirectory)
    return problem(RunProblem::Policy,
                   llvm::formatv("cannot enter the working directory `{0}`: {1}",
                                 plan.command.workingDirectory, errnoText(error)),
                   llvm::formatv("--workdir DIR, or grant it: --rw {0}",
                                 shellQuoted(plan.command.workingDirectory)));
  const std::string path =
      index < plan.view.size() && stage >= Stage::ViewDirectory && stage <= Stage::SharedMemory
          ? plan.view[index].path
      : stage == Stage::LandlockRule && index < plan.landlock.rules.size()
          ? plan.landlock.rules[index].path
          : std::string();
  const std::string at = path.empty() ? "" : llvm::formatv(" (`{0}`)", path).str();
  std::string text = llvm::formatv("cannot {0}{1}: {2}", words, at, errnoText(error));
  if (primitive.empty())
    return problem(RunProblem::Policy, std::move(text));
  return problem(RunProblem::Unavailable,
                 llvm::formatv("level `{0}` is not available here: {1}: {2}", spelling(plan.level),
                               primitive, text),
                 primitiveFix(primitive, error), primitive.str());
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A directory as a stream would be a way around the view: `openat(0, "..")` (T136).
llvm::Error checkStreams(const int (&streams)[3]) {
  for (int stream = 0; stream != 3; ++stream) {
    struct stat status{};
    if (::fstat(streams[stream], &status) != 0)
      continue; // closed: it becomes /dev/null
    const int flags = ::fcntl(streams[stream], F_GETFL);
    if (S_ISDIR(status.st_mode) || (flags >= 0 && (flags & O_PATH) != 0))
      return problem(
          RunProblem::Policy,
          llvm::formatv("standard {0} is a directory, which would open what the policy closes",
                        stream == 0   ? "input"
                        : stream == 1 ? "output"
                                      : "error"),
          "redirect it from or to a file, a pipe or /dev/null");
  }
  return llvm::Error::success();
}

/// The terminal that is a stream gets a name in the view that leads to it, or `tty` and all who ask
/// for it would be told that there is none (B055). Only one that can be read and written already:
/// the name gives no right that the stream does not have.
void showTerminal(ChildPlan& plan, const int (&streams)[3]) {
  if (plan.keepRoot ||
      llvm::any_of(plan.view, [](const ViewStep& step) { return step.path == "/dev/console"; }))
    return;
  for (int stream : streams) {
    if (::isatty(stream) != 1 || (::fcntl(stream, F_GETFL) & O_ACCMODE) != O_RDWR)
      continue;
    char name[256];
    const std::string link = llvm::formatv("/proc/self/fd/{0}", stream);
    const ssize_t size = ::readlink(link.c_str(), name, sizeof name);
    if (size <= 0 || size == ssize_t(sizeof name))
      continue;
    const std::string path(name, size_t(size));
    struct stat held{}, named{};
    // `/dev/tty` stands for another one, and is there as it is.
    if (path == "/dev/tty" || !isCanonicalPath(path) || ::fstat(stream, &held) != 0 ||
        ::lstat(path.c_str(), &named) != 0 || held.st_dev != named.st_dev ||
        held.st_ino != named.st_ino)
      continue;
    addTerminal(plan, path, {held.st_dev, held.st_ino});
    return;
  }
}

HostLimits hostLimits() {
  HostLimits limits;
  limits.landlockAbi = landlockAbi();
  limits.userId = ::geteuid();
  limits.groupId = ::getegid();
  return limits;
}

/// Shipped guards beneath a read-write grant whose names are missing: if the run makes one, it says
/// so.
std::vector<std::string> missingGuards(const Policy& policy) {
  std::vector<std::string> missing;
  if (!hasFileSystemPolicy(policy.level()))
    return missing;
  for (const PathRule& rule : policy.rules()) {
    if (rule.origin != Origin::Shipped || rule.access == Access::ReadWrite)
      continue;
    bool inside = false;
    for (const PathRule& grant : policy.rules())
      inside |= grant.access == Access::ReadWrite && isAtOrBeneath(rule.path, grant.path) &&
                rule.path != grant.path;
    struct stat status{};
    if (inside && ::stat(rule.path.c_str(), &status) != 0) // also a link that leads nowhere
      missing.push_back(rule.path);
  }
  return missing;
}

class RunOfChild final : public Run {
public:
  RunOfChild(Policy policy, ChildPlan plan, FoundCommand command, TemporaryDirectory temporary,
             Placeholders placeholders)
      : policy_(std::move(policy)), plan_(std::move(plan)), command_(std::move(command)),
        temporary_(std::move(temporary)), placeholders_(std::move(placeholders)),
        guards_(missingGuards(policy_)) {}

  /// With the first process that was started ahead for such a plan, or a new one.
  llvm::Error launch(const RunOptions& options, std::shared_ptr<FirstProcess> ahead) {
    LaunchInput input;
    input.streams[0] = options.standardInput;
    input.streams[1] = options.standardOutput;
    input.streams[2] = options.standardError;
    if (temporary_) {
      input.temporaryParent = temporary_.parent();
      input.temporary = temporary_.directory();
      input.temporaryName = temporary_.name();
    }
    begin_ = now();
    adoptsOrphans_ = options.adoptsOrphans;
    const auto explained = [&](llvm::Error error) {
      return llvm::handleErrors(std::move(error), [&](const LaunchFailure& failure) {
        return asRunError(policy_, plan_, command_, failure.stage(), failure.number(),
                          failure.index());
      });
    };
    if (ahead && ahead->fits(beginningOf(plan_), input.streams)) {
      child_ = std::move(ahead->child);
    } else {
      if (ahead) // begun for another plan
        ahead->child.finish();
      llvm::Expected<Child> child = Child::begin(beginningOf(plan_), input.streams);
      if (!child)
        return explained(child.takeError());
      child_ = std::move(*child);
    }
    if (llvm::Error error = child_.give(plan_, input))
      return explained(std::move(error));
    // Wait for `Started`, or for the listener: from then on the command waits for us.
    while (true) {
      llvm::Expected<Event> event = step(/*wait=*/true);
      if (!event)
        return event.takeError();
      if (started_ || listener_ || ended_)
        break;
    }
    epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
    if (!epoll_)
      return problem(RunProblem::Policy,
                     llvm::formatv("cannot watch the run: {0}", errnoText(errno)));
    // A run that has ended already has no descriptor that says so.
    if (ended_)
      wake_ = UniqueFd(::eventfd(1, EFD_CLOEXEC));
    for (int fd : {child_.control(), child_.pidFd(), wake_.get()}) {
      epoll_event entry{};
      entry.events = EPOLLIN;
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &entry);
    }
    return llvm::Error::success();
  }

  int descriptor() const override { return epoll_.get(); }
  llvm::Expected<Event> take() override {
    if (!pending_.empty()) {
      const Event event = pending_.front();
      pending_.erase(pending_.begin());
      return event;
    }
    return ended_ ? llvm::Expected<Event>(Event::Nothing) : step(/*wait=*/false);
  }
  void signal(int number) override {
    if (!ended_)
      child_.send(ControlKind::Signal, number);
  }
  void resume() override {
    if (!ended_)
      child_.send(ControlKind::Resume, 0, stops_);
  }
  void kill() override {
    if (!ended_)
      child_.send(ControlKind::Kill);
  }
  const RunResult& result() const override { return result_; }
  int notifications() const override { return listener_.get(); }
  const ChildPlan& plan() const override { return plan_; }

private:
  llvm::Expected<Event> step(bool wait) {
    Child::Received received = child_.receive(wait);
    if (received.gone) {
      // Killed from outside, or a crash of ours, and in a process table of its own nothing of the
      // run is left. Elsewhere the command may have done it; what it has started is ours then.
      child_.finish();
      if (adoptsOrphans_)
        result_.killed = killOrphans();
      finish(128 + SIGKILL, SIGKILL, /*temporaryGone=*/false);
      const bool ownTable = (plan_.namespaces & kPidNamespace) != 0;
      // Nobody would be told later: the descriptors are closed. Whether the command ran already is
      // what the first process did not come to say.
      if (wait && !started_ && ownTable)
        return problem(RunProblem::Policy,
                       "the run was killed before its command was seen to start");
      return remember(Event::Ended, wait);
    }
    if (!received.message)
      return Event::Nothing;
    const ControlMessage& message = *received.message;
    switch (message.kind) {
    case ControlKind::Failed:
      child_.finish();
      ended_ = true;
      return asRunError(policy_, plan_, command_, message.stage, message.error, message.index);
    case ControlKind::Started:
      started_ = true;
      result_.stoodAhead = (message.flags & kStoodAhead) != 0;
      return Event::Nothing;
    case ControlKind::Listener:
      listener_ = std::move(received.descriptor);
      return Event::Nothing;
    case ControlKind::Stopped:
      result_.signal = message.status;
      ++stops_;
      return remember(Event::Stopped, wait);
    case ControlKind::Continued:
      return remember(Event::Continued, wait);
    case ControlKind::CoverLost:
      result_.coverLost = true;
      return Event::Nothing;
    case ControlKind::Ended: {
      result_.cpuSeconds = double(message.cpuMicroseconds) / 1e6;
      result_.peakBytes = message.peakBytes;
      result_.killed = message.killed;
      result_.networkRefused = (message.flags & kNetworkRefused) != 0;
      const int status = message.status;
      const bool temporaryGone = (message.flags & kTempGone) != 0;
      if (WIFSIGNALED(status))
        finish(128 + WTERMSIG(status), WTERMSIG(status), temporaryGone);
      else
        finish(WEXITSTATUS(status), 0, temporaryGone);
      return remember(Event::Ended, wait);
    }
    case ControlKind::ProbeResult:
    case ControlKind::Begin:
    case ControlKind::MapsWritten:
    case ControlKind::PlanWritten:
    case ControlKind::Signal:
    case ControlKind::Resume:
    case ControlKind::Kill:
      break;
    }
    return Event::Nothing;
  }

  /// What happens while `start` still waits is given to the first `take`.
  Event remember(Event event, bool wait) {
    if (wait)
      pending_.push_back(event);
    return event;
  }

  void finish(int code, int signal, bool temporaryGone) {
    result_.wallSeconds = now() - begin_;
    // Of the run nothing is left but the first process, which takes its namespaces down. What is
    // outside of them is looked after meanwhile.
    child_.letGo();
    result_.code = code;
    result_.signal = signal;
    placeholders_.remove();
    struct stat status{};
    for (const std::string& path : guards_)
      if (::stat(path.c_str(), &status) == 0)
        result_.createdGuards.push_back(path);
    if (temporaryGone)
      temporary_.remove(); // only lets go of it, for which a file system on disk takes its time
    temporary_.removeLeftovers();
    child_.finish();
    result_.temporaryRemoved = temporary_.remove();
    ended_ = true;
  }

  Policy policy_;
  ChildPlan plan_;
  FoundCommand command_;
  // In this order: the child is destroyed first, and has let go of both when they are.
  TemporaryDirectory temporary_;
  Placeholders placeholders_;
  std::vector<std::string> guards_;
  Child child_;
  UniqueFd epoll_, listener_, wake_;
  std::vector<Event> pending_;
  RunResult result_;
  double begin_ = 0;
  uint32_t stops_ = 0;
  bool started_ = false, ended_ = false, adoptsOrphans_ = false;
};

bool wantsTemporary(const Policy& policy) {
  return policy.level() != SandboxLevel::None && policy.temp() == TempMode::Private;
}

/// A view with more is built when its plan is there.
constexpr size_t kMostPathsAhead = 48;

/// What becomes of these paths in a view depends on more than a grant.
bool isSettledLate(llvm::StringRef path) {
  static constexpr llvm::StringLiteral kLate[] = {"/dev", "/proc", "/sys/fs/cgroup", "/tmp",
                                                  "/var/tmp"};
  return path == "/" ||
         llvm::any_of(kLate, [&](llvm::StringRef each) { return isAtOrBeneath(path, each); });
}

/// The grants that a view of any such policy has as they are: read-only, with nothing above them
/// that is not.
std::vector<std::string> pathsAhead(const Policy& policy) {
  std::vector<std::string> paths;
  for (const PathRule& rule : policy.rules())
    if (rule.access == Access::ReadOnly && !isSettledLate(rule.path) &&
        paths.size() != kMostPathsAhead &&
        llvm::none_of(policy.rules(), [&](const PathRule& other) {
          return other.access != Access::ReadOnly && isAtOrBeneath(rule.path, other.path);
        }))
      paths.push_back(rule.path);
  return paths;
}

/// Those of the shipped policy, before there is one.
std::vector<std::string> shippedPathsAhead() {
  static constexpr llvm::StringRef kPaths[] = {
#define GOS_BASE_PATH(path) path,
#include "sandbox/command/base_view.def"
  };
  std::vector<std::string> paths;
  for (llvm::StringRef path : kPaths)
    if (!isSettledLate(path))
      paths.push_back(path.str());
  return paths;
}

std::shared_ptr<FirstProcess> beginAhead(SandboxLevel level, NetworkMode network, bool pidNamespace,
                                         const int (&streams)[3],
                                         llvm::ArrayRef<std::string> paths) {
  Beginning beginning;
  beginning.namespaces = namespacesOf(level, network, pidNamespace);
  if (beginning.namespaces == 0)
    return nullptr; // there is nothing to wait for
  beginning.ownRoot = true;
  beginning.raiseLoopback = (beginning.namespaces & kNetworkNamespace) != 0;
  llvm::Expected<Child> child = Child::begin(beginning, streams, paths);
  if (!child) {
    llvm::consumeError(child.takeError()); // the start proper fails in the same way, and says how
    return nullptr;
  }
  return std::make_shared<FirstProcess>(std::move(*child), streams);
}

/// A start up to the point where something of it has to be made.
class Preparation {
public:
  Preparation(const Policy& policy, const RunOptions& options)
      : policy_(policy), options_(options) {}

  /// Everything that comes before the plan: checks, the working directory, the command, the level.
  llvm::Error find(bool prove) {
    if (llvm::Error error = policy_.check())
      return problem(RunProblem::Policy, llvm::toString(std::move(error)));
    directory_ = policy_.workingDirectory().str();
    if (directory_.empty()) {
      char* current = ::getcwd(nullptr, 0);
      if (current == nullptr)
        return problem(RunProblem::Policy,
                       llvm::formatv("the working directory cannot be used: {0}", errnoText(errno)),
                       "--workdir DIR");
      directory_ = current;
      ::free(current);
    }
    if (prove || !options_.program.empty()) {
      llvm::Expected<FoundCommand> found =
          findCommand(options_.program, options_.environment, directory_);
      if (!found)
        return found.takeError();
      command = std::move(*found);
    }
    limits_ = hostLimits();
    if (prove && !options_.skipSelfProof) {
      // The first use of a level on a host: what it promises is tried before it is offered.
      llvm::Expected<ProvenLevel> proven = proveOnce(policy_.level());
      if (!proven)
        return asRunError(proven.takeError());
      limits_.pidNamespace = proven->pidNamespace;
    }
    return llvm::Error::success();
  }
  bool pidNamespace() const { return limits_.pidNamespace; }

  llvm::Expected<ChildPlan> compile(llvm::StringRef temporaryDirectory) const {
    llvm::Expected<ChildPlan> plan =
        compilePlan(policy_, hostTree(), limits_, options_.environment, temporaryDirectory);
    if (!plan)
      return asRunError(plan.takeError());
    // Names that are there only because another run denies them too, or a crash left them.
    if (hasFileSystemPolicy(policy_.level()))
      for (const PathRule& rule : policy_.rules())
        if (rule.origin == Origin::User && rule.access == Access::Deny)
          for (Placeholder& entry : Placeholders::existing(rule.path))
            if (!llvm::is_contained(plan->placeholders, entry))
              plan->placeholders.push_back(std::move(entry));
    plan->command.program = command.path;
    plan->command.arguments = options_.arguments.empty()
                                  ? std::vector<std::string>{options_.program}
                                  : options_.arguments;
    if (plan->command.workingDirectory.empty())
      plan->command.workingDirectory = directory_;
    plan->command.newSession =
        options_.newSession || options_.streams == RunOptions::Streams::Capture;
    return plan;
  }

  FoundCommand command;

private:
  const Policy& policy_;
  const RunOptions& options_;
  std::string directory_;
  HostLimits limits_;
};

} // namespace

llvm::Error checkLevel(SandboxLevel level) {
  llvm::Expected<ProvenLevel> proven = proveOnce(level);
  return proven ? llvm::Error::success() : asRunError(proven.takeError());
}

llvm::Expected<ChildPlan> compileForHost(const Policy& policy, const RunOptions& options) {
  Preparation preparation(policy, options);
  if (llvm::Error error = preparation.find(/*prove=*/false))
    return error;
  return preparation.compile(wantsTemporary(policy) ? "/var/tmp/bwr-run-NAME" : "");
}

std::shared_ptr<FirstProcess> startAhead(SandboxLevel level, NetworkMode network,
                                         const RunOptions& options) {
  const int streams[3] = {options.standardInput, options.standardOutput, options.standardError};
  if (llvm::Error error = checkStreams(streams)) {
    llvm::consumeError(std::move(error)); // `start` says so
    return nullptr;
  }
  // Whether the level is proven is read while the namespaces are made; nothing runs in them before.
  const std::vector<std::string> paths = shippedPathsAhead();
  std::shared_ptr<FirstProcess> first =
      beginAhead(level, network, /*pidNamespace=*/true, streams, paths);
  const std::optional<ProvenLevel> proven = provenBefore(level);
  if (!proven)
    return nullptr;
  return proven->pidNamespace ? first : beginAhead(level, network, false, streams, paths);
}

llvm::Expected<std::unique_ptr<Run>> start(const Policy& policy, const RunOptions& options) {
  const int streams[3] = {options.standardInput, options.standardOutput, options.standardError};
  if (llvm::Error error = checkStreams(streams))
    return error;
  // Before anything is looked for, where the level is proven already: what it waits for takes
  // longest.
  std::shared_ptr<FirstProcess> ahead = options.ahead;
  if (!ahead && !options.skipSelfProof)
    if (const std::optional<ProvenLevel> proven = provenBefore(policy.level()))
      ahead = beginAhead(policy.level(), policy.network(), proven->pidNamespace, streams,
                         pathsAhead(policy));
  Preparation preparation(policy, options);
  if (llvm::Error error = preparation.find(/*prove=*/true))
    return error;
  if (!ahead)
    ahead = beginAhead(policy.level(), policy.network(), preparation.pidNamespace(), streams,
                       pathsAhead(policy));
  TemporaryDirectory temporary;
  if (wantsTemporary(policy)) {
    llvm::Expected<TemporaryDirectory> made = TemporaryDirectory::create();
    if (!made)
      return asRunError(made.takeError());
    temporary = std::move(*made);
  }
  llvm::Expected<ChildPlan> plan = preparation.compile(temporary.path());
  if (!plan)
    return plan.takeError();
  if (!plan->command.newSession)
    showTerminal(*plan, streams);
  // Below standard there is no filter, and so nothing that could notify.
  if (options.notify && !plan->filter.empty()) {
    const llvm::ArrayRef<FilterInstruction> filter =
        filterProgram({policy.level(), policy.network(), /*notifies=*/true});
    plan->filter.assign(filter.begin(), filter.end());
    plan->filterNotifies = true;
  }
  llvm::Expected<Placeholders> placeholders = Placeholders::create(plan->placeholders);
  if (!placeholders)
    return asRunError(placeholders.takeError());
  auto run = std::make_unique<RunOfChild>(policy, std::move(*plan), std::move(preparation.command),
                                          std::move(temporary), std::move(*placeholders));
  if (llvm::Error error = run->launch(options, std::move(ahead)))
    return error;
  return std::unique_ptr<Run>(std::move(run));
}

void Cancellation::cancel() {
  cancelled_ = true;
  // Whoever holds the lock looks at the flag when he lets go of it.
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock && run_ != nullptr)
    run_->kill();
}

/// A run that a cancellation reaches while this is there.
class WatchedRun {
public:
  WatchedRun(Run& run, Cancellation* cancellation) : run_(run), cancellation_(cancellation) {
    if (cancellation_ == nullptr)
      return;
    const std::lock_guard lock(cancellation_->mutex_);
    cancellation_->run_ = &run;
  }
  ~WatchedRun() {
    if (cancellation_ == nullptr)
      return;
    const std::lock_guard lock(cancellation_->mutex_);
    cancellation_->run_ = nullptr;
  }
  WatchedRun(const WatchedRun&) = delete;
  WatchedRun& operator=(const WatchedRun&) = delete;

  llvm::Expected<Run::Event> take() {
    if (cancellation_ == nullptr)
      return run_.take();
    const std::lock_guard lock(cancellation_->mutex_);
    return run_.take();
  }
  /// A cancellation that came while the lock was held, or before there was a run.
  void obey() {
    if (!cancellation_ || killed_ || !cancellation_->cancelled())
      return;
    const std::lock_guard lock(cancellation_->mutex_);
    run_.kill();
    killed_ = true;
  }

private:
  Run& run_;
  Cancellation* cancellation_;
  bool killed_ = false;
};

llvm::Expected<RunResult> run(const Policy& policy, const RunOptions& asked) {
  if (asked.notify) // the command would wait for ever
    return problem(RunProblem::Policy, "a run that is watched needs somebody who serves it");
  RunOptions options = asked;
  const bool captures = asked.streams == RunOptions::Streams::Capture;
  UniqueFd reading[2], null;
  UniqueFd writing[2];
  if (captures) {
    if (options.capturedInput < 0)
      null = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    options.standardInput = options.capturedInput < 0 ? null.get() : options.capturedInput;
    for (int stream = 0; stream != 2; ++stream) {
      int ends[2];
      if (::pipe2(ends, O_CLOEXEC) != 0)
        return problem(RunProblem::Policy,
                       llvm::formatv("cannot make a pipe: {0}", errnoText(errno)));
      reading[stream] = UniqueFd(ends[0]);
      writing[stream] = UniqueFd(ends[1]);
      ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    }
    options.standardOutput = writing[0].get();
    options.standardError = writing[1].get();
  }
  const auto cancelled = [&] {
    return asked.cancellation != nullptr && asked.cancellation->cancelled();
  };
  const auto cancelledError = [] { return problem(RunProblem::Policy, "the run was cancelled"); };
  if (cancelled())
    return cancelledError();
  llvm::Expected<std::unique_ptr<Run>> run = start(policy, options);
  if (!run)
    return run.takeError();
  null.reset();
  writing[0].reset();
  writing[1].reset();
  WatchedRun watched(**run, asked.cancellation);

  std::string texts[2];
  bool overflow = false;
  const auto drain = [&](int stream) {
    char buffer[65536];
    while (reading[stream]) {
      const ssize_t got =
          retryInterrupted([&] { return ::read(reading[stream].get(), buffer, sizeof buffer); });
      if (got < 0)
        return; // nothing now
      if (got == 0) {
        reading[stream].reset();
        return;
      }
      if (texts[stream].size() + size_t(got) > options.captureLimit) {
        overflow = true;
        (*run)->kill();
        reading[stream].reset();
        return;
      }
      texts[stream].append(buffer, size_t(got));
    }
  };
  bool ended = false;
  while (!ended) {
    watched.obey();
    pollfd entries[3] = {{(*run)->descriptor(), POLLIN, 0},
                         {reading[0].get(), POLLIN, 0},
                         {reading[1].get(), POLLIN, 0}};
    if (retryInterrupted([&] { return ::poll(entries, 3, -1); }) < 0)
      return problem(RunProblem::Policy,
                     llvm::formatv("cannot wait for the run: {0}", errnoText(errno)));
    drain(0);
    drain(1);
    if (entries[0].revents == 0)
      continue;
    llvm::Expected<Run::Event> event = watched.take();
    if (!event)
      return event.takeError();
    ended = *event == Run::Event::Ended;
  }
  // Everything that could write is dead: what is in the pipes is all there will be.
  drain(0);
  drain(1);
  if (overflow)
    return problem(
        RunProblem::Policy,
        llvm::formatv("the output is larger than the limit of {0} bytes", options.captureLimit));
  RunResult result = (*run)->result();
  if (cancelled() && result.signal == SIGKILL)
    return cancelledError();
  result.output = std::move(texts[0]);
  result.errorOutput = std::move(texts[1]);
  return result;
}

} // namespace gos::sandbox
