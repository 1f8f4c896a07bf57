// std::sandbox: commands under a policy, over the same library as `bwr`. Each body is a job, so
// that neither a child nor looking at the host holds up the program's other goroutines.

#include "stdlib/host_state.h"
#include "stdlib/run_turns.h"
#include "stdlib/sandbox_policy.h"
#include "stdlib/sandbox_runs.h"
#include "stdlib/support.h"

#include "diagnostics/escape.h"
#include "diagnostics/json_writer.h"
#include "sandbox/command/capabilities.h"
#include "sandbox/command/explain_facts.h"
#include "sandbox/policy/decide.h"
#include "sandbox/sys_error.h"
#include "vm/scheduler.h"
#include "vm/text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace gos::stdlib {

namespace {

/// The policy of argument 0, and the world of the program; false when a part is borrowed elsewhere.
bool readAsked(Arguments& arguments, AskedPolicy& asked) {
  const vm::StructObject* policy = vm::asStruct(arguments.slot(0));
  const VecObject* record = policy == nullptr ? nullptr : vm::asVec(policy->slots()[0]);
  if (record == nullptr)
    return false;
  for (uint64_t at = 0; at < record->length; ++at) {
    const vm::StringObject* text = vm::asString(record->slots[at]);
    if (text == nullptr)
      return false;
    asked.record.push_back(text->text().str());
  }
  LibraryHost& host = hostOf(arguments.vm());
  for (const auto& [name, value] : host.variables())
    asked.environment.push_back(name + "=" + value);
  asked.directory = host.directory().str();
  return true;
}
Trap borrowed() {
  return Trap::borrowed("a part of the policy is borrowed elsewhere");
}

/// A job made of two functions: what is worked out beside the program, and what is made of it.
template <class Result> class Computation final : public vm::Job {
public:
  using Work = std::function<Result()>;
  using Finish = Trap (*)(Arguments&, Result&);
  Computation(Work work, Finish finish) : work_(std::move(work)), finish_(finish) {}
  void work() override { result_ = work_(); }
  Trap finish(Arguments& arguments) override {
    return waitingIsOver() ? trapOfEnding() : finish_(arguments, result_);
  }

private:
  Work work_;
  Finish finish_;
  Result result_{};
};

template <class Result>
Trap compute(Arguments& arguments, std::function<Result()> work,
             Trap (*finish)(Arguments&, Result&)) {
  return arguments.vm().scheduler().offload(
      arguments, std::make_unique<Computation<Result>>(std::move(work), finish));
}
Trap returnText(Arguments& arguments, std::string& text) {
  return arguments.returnString(text);
}
Trap returnTexts(Arguments& arguments, std::vector<std::string>& texts) {
  return arguments.returnStrings(texts);
}
/// Ok(()) or Err of the text.
Trap returnProblem(Arguments& arguments, std::string& problem) {
  return problem.empty() ? arguments.returnOkUnit() : arguments.returnErr(problem);
}

/// What would be done, without a command.
llvm::Expected<sandbox::ChildPlan> planOf(const AskedPolicy& asked,
                                          const ResolvedPolicy& resolved) {
  sandbox::RunOptions options;
  options.environment = asked.environment;
  return sandbox::compileForHost(resolved.policy, options);
}

std::string checkAsked(const AskedPolicy& asked) {
  llvm::Expected<ResolvedPolicy> resolved = resolveSound(asked);
  if (!resolved)
    return sandboxErrorText(resolved.takeError());
  if (llvm::Error error = sandbox::checkLevel(resolved->policy.level()))
    return sandboxErrorText(std::move(error));
  llvm::Expected<sandbox::ChildPlan> plan = planOf(asked, *resolved);
  return plan ? std::string() : sandboxErrorText(plan.takeError());
}

/// The command is told of the program's temp by TMPDIR, and finds it only where a rule grants it.
std::string inheritedTempNote(const AskedPolicy& asked, const Policy& policy) {
  if (policy.temp() != TempMode::Inherit || !hasFileSystemPolicy(policy.level()))
    return {};
  StringRef temp = "/tmp";
  for (StringRef entry : asked.environment)
    if (entry.consume_front("TMPDIR=") && !entry.empty()) {
      temp = entry;
      break;
    }
  const std::string path = pathAsked(asked, temp);
  if (!path.empty() && decide(policy, path, Operation::Write).allowed)
    return {};
  return "\nnote: temp `inherit` grants nothing: `" + escapeForText(temp) +
         "` cannot be written in here; `.read_write(\"" + escapeForText(temp) +
         "\")` grants it, `.temp(\"private\")` gives one of the run's own\n";
}

std::string explainAsked(const AskedPolicy& asked) {
  llvm::Expected<ResolvedPolicy> resolved = resolveSound(asked);
  if (!resolved)
    return sandboxErrorText(resolved.takeError());
  llvm::Expected<sandbox::ChildPlan> plan = planOf(asked, *resolved);
  if (!plan)
    return sandboxErrorText(plan.takeError());
  sandbox::ExplainOptions options;
  options.home = resolved->home;
  return sandbox::explainText(resolved->policy, *plan, options) +
         inheritedTempNote(asked, resolved->policy);
}

std::string jsonAsked(const AskedPolicy& asked) {
  const auto problem = [](llvm::Error error) {
    JsonWriter writer;
    writer.beginObject();
    writer.member("schema", uint64_t(1));
    writer.member("error", sandboxErrorText(std::move(error)));
    writer.endObject();
    return writer.finish();
  };
  llvm::Expected<ResolvedPolicy> resolved = resolveSound(asked);
  if (!resolved)
    return problem(resolved.takeError());
  llvm::Expected<sandbox::ChildPlan> plan = planOf(asked, *resolved);
  return plan ? sandbox::explainJson(resolved->policy, *plan) : problem(plan.takeError());
}

std::vector<std::string> mechanismsAsked(const AskedPolicy& asked) {
  std::vector<std::string> names;
  llvm::Expected<ResolvedPolicy> resolved = resolveSound(asked);
  if (!resolved) {
    llvm::consumeError(resolved.takeError());
    return names;
  }
  llvm::Expected<sandbox::ChildPlan> plan = planOf(asked, *resolved);
  if (!plan) {
    llvm::consumeError(plan.takeError());
    return names;
  }
  for (const sandbox::ExplainedMechanism& each : sandbox::explainedMechanisms(*plan))
    names.push_back(each.detail.empty() ? each.name : each.name + ": " + each.detail);
  return names;
}

std::string accessAsked(const AskedPolicy& asked, StringRef written) {
  llvm::Expected<ResolvedPolicy> resolved = resolveSound(asked);
  if (!resolved) {
    llvm::consumeError(resolved.takeError());
    return spelling(Access::Deny).str();
  }
  const std::string path = pathAsked(asked, written);
  const auto may = [&](Operation operation) {
    return !path.empty() && decide(resolved->policy, path, operation).allowed;
  };
  return spelling(may(Operation::Write)  ? Access::ReadWrite
                  : may(Operation::Read) ? Access::ReadOnly
                                         : Access::Deny)
      .str();
}

/// The paths with an access; none of a policy with a problem, which grants nothing.
std::vector<std::string> pathsAsked(const AskedPolicy& asked, Access access) {
  std::vector<std::string> paths;
  llvm::Expected<ResolvedPolicy> resolved = resolveSound(asked);
  if (!resolved) {
    llvm::consumeError(resolved.takeError());
    return paths;
  }
  for (const PathRule& rule : resolved->policy.rules())
    if (rule.access == access && !llvm::is_contained(paths, rule.path))
      paths.push_back(rule.path);
  return paths;
}

std::vector<std::string> variablesAsked(const AskedPolicy& asked) {
  std::vector<std::string> names;
  llvm::Expected<ResolvedPolicy> resolved = resolveSound(asked);
  if (!resolved) {
    llvm::consumeError(resolved.takeError());
    return names;
  }
  names = resolved->policy.passedEnv().vec();
  if (resolved->policy.passesAllEnv())
    for (const std::string& entry : asked.environment)
      names.push_back(StringRef(entry).split('=').first.str());
  for (const EnvSetting& setting : resolved->policy.setEnv())
    names.push_back(setting.name);
  llvm::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

template <class Result>
Trap answer(Arguments& arguments, Result (*work)(const AskedPolicy&),
            Trap (*finish)(Arguments&, Result&)) {
  AskedPolicy asked;
  if (!readAsked(arguments, asked))
    return borrowed();
  return compute<Result>(
      arguments, [asked = std::move(asked), work] { return work(asked); }, finish);
}
Trap answerPaths(Arguments& arguments, Access access) {
  AskedPolicy asked;
  if (!readAsked(arguments, asked))
    return borrowed();
  return compute<std::vector<std::string>>(
      arguments, [asked = std::move(asked), access] { return pathsAsked(asked, access); },
      returnTexts);
}

// ---- runs
// ---------------------------------------------------------------------------------------------------

/// A run holds a dozen descriptors and twice as many while it starts.
constexpr size_t kDescriptorsOfRun = 24;

/// The runs that go on, for whoever ends them all.
class Runs {
public:
  /// False: no more runs begin.
  bool add(sandbox::Cancellation& cancellation) {
    const std::lock_guard lock(mutex_);
    if (over_)
      return false;
    running_.push_back(&cancellation);
    return true;
  }
  void remove(const sandbox::Cancellation& cancellation) {
    {
      const std::lock_guard lock(mutex_);
      llvm::erase(running_, &cancellation);
    }
    ended_.notify_all();
  }
  void endAll(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    over_ = true;
    for (sandbox::Cancellation* each : running_)
      each->cancel();
    ended_.wait_until(lock, deadline, [&] { return running_.empty(); });
    over_ = false;
  }

private:
  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<sandbox::Cancellation*> running_;
  bool over_ = false;
};
Runs& runs() {
  static Runs* const all = new Runs; // threads may outlive everything else
  return *all;
}

/// Of the run that the thread of the program itself waits for.
constinit std::atomic<sandbox::Cancellation*> theRunInPlace{nullptr};

enum class Wanted : uint8_t { Text, Bytes, Code };

/// One run from its policy to its result.
class RunJob final : public vm::Job {
public:
  RunJob(AskedPolicy asked, std::vector<std::string> words, Wanted wanted, uint64_t room,
         bool inFold)
      : asked_(std::move(asked)), words_(std::move(words)), wanted_(wanted), room_(room),
        inFold_(inFold) {
    ::pthread_sigmask(SIG_SETMASK, nullptr, &signals_);
  }

  void work() override {
    const RunTurn turn(kDescriptorsOfRun, [&] { return cancellation_.cancelled(); });
    if (!turn || !runs().add(cancellation_)) {
      problem_ = "the run was cancelled";
      return;
    }
    const bool isInPlace = ::gettid() == ::getpid();
    if (isInPlace)
      theRunInPlace = &cancellation_;
    // Who asked for the end before that reached nobody.
    if (isInPlace && waitingIsOver())
      cancellation_.cancel();
    llvm::Expected<sandbox::RunResult> result = run();
    if (isInPlace)
      theRunInPlace = nullptr;
    runs().remove(cancellation_);
    if (result)
      result_ = std::move(*result);
    else
      problem_ = sandboxErrorText(result.takeError());
  }

  void cancel() override {
    cancellation_.cancel();
    RunTurns::all().wake();
  }

  Trap finish(Arguments& arguments) override {
    if (waitingIsOver())
      return trapOfEnding();
    if (!problem_.empty())
      return arguments.returnErr(problem_);
    if (wanted_ == Wanted::Code)
      return arguments.returnOkInteger(result_.code);
    if (wanted_ == Wanted::Text)
      for (const auto& [text, name] : {std::pair(&result_.output, "standard output"),
                                       std::pair(&result_.errorOutput, "standard error")})
        if (!vm::isValidUtf8(*text))
          return arguments.returnErr(("the " + StringRef(name) + " of `" + words_.front() +
                                      "` is not UTF-8; `sandbox::run_bytes` answers it as it is")
                                         .str());
    Vm& vm = arguments.vm();
    Builder builder(vm);
    const LayoutId output = payloadOf(vm, arguments.resultLayout(), "Ok");
    const auto make = [&](size_t field, StringRef content) {
      return wanted_ == Wanted::Text ? builder.string(builder.field(output, field), content)
                                     : builder.bytes(builder.field(output, field), content);
    };
    const Value fields[] = {make(0, result_.output), make(1, result_.errorOutput),
                            vm::fromInteger(result_.code)};
    const Value made = builder.structure(output, fields);
    return made == 0 ? vm.heapTrap() : arguments.returnOkOwned(made);
  }

private:
  llvm::Expected<sandbox::RunResult> run() {
    // A run checks its policy itself.
    llvm::Expected<ResolvedPolicy> resolved = resolvePolicy(asked_);
    if (!resolved)
      return resolved.takeError();
    sandbox::RunOptions options;
    options.program = words_.front();
    options.arguments = std::move(words_);
    words_ = {options.program};
    options.environment = std::move(asked_.environment);
    options.cancellation = &cancellation_;
    UniqueFd input;
    if (resolved->input) {
      llvm::Expected<UniqueFd> made = inputFile(*resolved->input);
      if (!made)
        return made.takeError();
      input = std::move(*made);
    }
    if (wanted_ == Wanted::Code) {
      if (input)
        options.standardInput = input.get();
      if (inFold_)
        options.standardOutput =
            STDERR_FILENO; // what a fold prints is no part of what its command answers
    } else {
      options.streams = sandbox::RunOptions::Streams::Capture;
      options.captureLimit = std::min(resolved->captureLimit, room_);
      options.capturedInput = input.get();
    }
    // The command has the signals that the program has, not those of a thread of the pool.
    sigset_t before;
    ::pthread_sigmask(SIG_SETMASK, &signals_, &before);
    llvm::Expected<sandbox::RunResult> result = sandbox::run(resolved->policy, options);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return result;
  }

  /// A file without a name that holds the text: nobody has to feed a pipe.
  llvm::Expected<UniqueFd> inputFile(StringRef text) {
    UniqueFd file(::memfd_create("stdin", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    bool good = bool(file);
    for (StringRef rest = text; good && !rest.empty();) {
      const ssize_t wrote =
          retryInterrupted([&] { return ::write(file.get(), rest.data(), rest.size()); });
      good = wrote > 0;
      rest = rest.drop_front(good ? size_t(wrote) : 0);
    }
    if (!good || ::lseek(file.get(), 0, SEEK_SET) != 0)
      return llvm::make_error<sandbox::PolicyError>("cannot hold the standard input: " +
                                                    errnoText(errno));
    ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
    return file;
  }

  AskedPolicy asked_;
  std::vector<std::string> words_;
  Wanted wanted_;
  uint64_t room_;
  bool inFold_;
  sigset_t signals_;
  sandbox::Cancellation cancellation_;
  sandbox::RunResult result_;
  std::string problem_;
};

Trap runCommand(Arguments& arguments, Wanted wanted) {
  AskedPolicy asked;
  if (!readAsked(arguments, asked))
    return borrowed();
  std::vector<std::string> words = stringsOf(arguments, 1);
  if (words.empty() || words.front().empty())
    return arguments.returnErr("cannot run a command without a name");
  for (const std::string& word : words)
    if (word.find('\0') != std::string::npos)
      return arguments.returnErr("cannot run `" + StringRef(words.front()).split('\0').first.str() +
                                 "`: an argument holds a NUL byte");
  Vm& vm = arguments.vm();
  if (wanted == Wanted::Code)
    hostOf(vm).flush();
  return vm.scheduler().offload(arguments,
                                std::make_unique<RunJob>(std::move(asked), std::move(words), wanted,
                                                         vm.heap().available(), vm.inFold()));
}

} // namespace

void endSandboxRunInPlace() {
  if (sandbox::Cancellation* const run = theRunInPlace)
    run->cancel();
}

void endSandboxRuns(std::chrono::steady_clock::time_point deadline) {
  runs().endAll(deadline);
}

namespace bodies {

Trap SandboxCheck(Arguments& arguments) {
  return answer<std::string>(arguments, checkAsked, returnProblem);
}
Trap SandboxExplain(Arguments& arguments) {
  return answer<std::string>(arguments, explainAsked, returnText);
}
Trap SandboxToJson(Arguments& arguments) {
  return answer<std::string>(arguments, jsonAsked, returnText);
}
Trap SandboxMechanisms(Arguments& arguments) {
  return answer<std::vector<std::string>>(arguments, mechanismsAsked, returnTexts);
}
Trap SandboxEnvironmentNames(Arguments& arguments) {
  return answer<std::vector<std::string>>(arguments, variablesAsked, returnTexts);
}
Trap SandboxReadWriteGrants(Arguments& arguments) {
  return answerPaths(arguments, Access::ReadWrite);
}
Trap SandboxReadOnlyGrants(Arguments& arguments) {
  return answerPaths(arguments, Access::ReadOnly);
}
Trap SandboxDenials(Arguments& arguments) {
  return answerPaths(arguments, Access::Deny);
}
Trap SandboxAccess(Arguments& arguments) {
  AskedPolicy asked;
  if (!readAsked(arguments, asked))
    return borrowed();
  return compute<std::string>(
      arguments,
      [asked = std::move(asked), path = arguments.string(1).str()] {
        return accessAsked(asked, path);
      },
      returnText);
}

Trap SandboxRun(Arguments& arguments) {
  return runCommand(arguments, Wanted::Text);
}
Trap SandboxRunBytes(Arguments& arguments) {
  return runCommand(arguments, Wanted::Bytes);
}
Trap SandboxRunInherit(Arguments& arguments) {
  return runCommand(arguments, Wanted::Code);
}

Trap SandboxMaxLevel(Arguments& arguments) {
  return compute<std::string>(
      arguments, [] { return spelling(sandbox::capabilities().maxLevel).str(); }, returnText);
}
Trap SandboxPlatform(Arguments& arguments) {
  return arguments.returnString("linux");
}
/// Why a level is not to be had, and what bears on those that are.
Trap SandboxNotes(Arguments& arguments) {
  return compute<std::vector<std::string>>(
      arguments,
      [] {
        const sandbox::Capabilities& found = sandbox::capabilities();
        std::vector<std::string> notes;
        for (const sandbox::LevelState& level : found.levels)
          if (!level.available)
            notes.push_back(llvm::formatv("level `{0}` is not available: {1}{2}{3}",
                                          spelling(level.level), level.reason,
                                          level.fix.empty() ? "" : "; ", level.fix)
                                .str());
        notes.insert(notes.end(), found.notes.begin(), found.notes.end());
        return notes;
      },
      returnTexts);
}
Trap SandboxCapabilitiesJson(Arguments& arguments) {
  return compute<std::string>(arguments, [] { return sandbox::capabilitiesJson(); }, returnText);
}

} // namespace bodies
} // namespace gos::stdlib
