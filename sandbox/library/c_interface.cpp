// The C interface over the runner. Every function is a thin shim: no policy is made or judged here.

#define GSB_BUILDING
#include "sandbox/library/gossamer_sandbox.h"

#include "sandbox/command/capabilities.h"
#include "sandbox/command/command_policy.h"
#include "sandbox/command/explain.h"
#include "sandbox/command/runner.h"
#include "sandbox/linux/features.h"
#include "sandbox/policy/decide.h"

#include "diagnostics/escape.h"

#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <unistd.h>

extern char** environ;

using namespace gos;
using gos::sandbox::RunError;
using gos::sandbox::RunOptions;
using gos::sandbox::RunProblem;

struct gsb_error {
  gsb_error_kind kind = GSB_ERROR_POLICY;
  int exitCode = 126;
  std::string text, remedy, primitive;
};
struct gsb_policy {
  Policy policy;
};
struct gsb_run {
  std::unique_ptr<sandbox::Run> run;
  bool ended = false;
};

namespace {

char* copied(llvm::StringRef text) {
  char* made = static_cast<char*>(std::malloc(text.size() + 1));
  if (made == nullptr)
    std::abort(); // no memory for an answer: there is nothing that could be said instead
  std::memcpy(made, text.data(), text.size());
  made[text.size()] = '\0';
  return made;
}

void give(gsb_error** out, llvm::Error error) {
  auto made = std::make_unique<gsb_error>();
  llvm::handleAllErrors(
      std::move(error),
      [&](const RunError& problem) {
        switch (problem.problem()) {
        case RunProblem::Policy:
          made->kind = GSB_ERROR_POLICY;
          break;
        case RunProblem::NotFound:
          made->kind = GSB_ERROR_NOT_FOUND;
          break;
        case RunProblem::Unavailable:
          made->kind = GSB_ERROR_UNAVAILABLE;
          break;
        case RunProblem::NotExecutable:
          made->kind = GSB_ERROR_NOT_EXECUTABLE;
          break;
        }
        made->exitCode = problem.exitCode();
        made->text = escapeForTextBlock(problem.text());
        made->remedy = escapeForTextBlock(problem.remedy());
        made->primitive = problem.primitive().str();
      },
      [&](const llvm::ErrorInfoBase& other) { made->text = escapeForTextBlock(other.message()); });
  if (out != nullptr)
    *out = made.release();
}

/// A path that a caller wrote, as the policy wants it; a missing one stays as it is, for the
/// compiler to name.
void addRule(gsb_policy* policy, const char* path, Access access) {
  bool missing = false;
  llvm::Expected<std::string> canonical =
      sandbox::canonicalPath(path != nullptr ? path : "", missing);
  if (!canonical) {
    // Kept as a rule that is not canonical: the policy then has a problem, and says so.
    llvm::consumeError(canonical.takeError());
    policy->policy = policy->policy.withRule(
        {path != nullptr ? path : "", access, Origin::User, path != nullptr ? path : ""});
    return;
  }
  policy->policy = policy->policy.withRule({*canonical, access, Origin::User, path});
}

RunOptions optionsFor(const char* const* argv, const gsb_options* given) {
  gsb_options defaults;
  gsb_options_init(&defaults);
  if (given != nullptr)
    std::memcpy(&defaults, given, std::min(sizeof defaults, given->size));
  RunOptions options;
  for (const char* const* argument = argv; argument != nullptr && *argument != nullptr; ++argument)
    options.arguments.push_back(*argument);
  options.program = options.arguments.empty() ? "" : options.arguments.front();
  for (const char* const* entry = defaults.environment != nullptr ? defaults.environment : environ;
       entry != nullptr && *entry != nullptr; ++entry)
    options.environment.push_back(*entry);
  options.standardInput = defaults.standard_input;
  options.standardOutput = defaults.standard_output;
  options.standardError = defaults.standard_error;
  options.captureLimit = defaults.capture_limit;
  options.newSession = defaults.new_session != 0;
  return options;
}

void fill(gsb_result* out, const sandbox::RunResult& result) {
  if (out == nullptr)
    return;
  gsb_result made{};
  made.size = std::min(sizeof made, out->size);
  made.code = result.code;
  made.signal = result.signal;
  made.wall_seconds = result.wallSeconds;
  made.cpu_seconds = result.cpuSeconds;
  made.peak_bytes = result.peakBytes;
  made.killed = result.killed;
  made.temporary_removed = result.temporaryRemoved ? 1 : 0;
  std::memcpy(out, &made, made.size);
}

} // namespace

extern "C" {

gsb_error_kind gsb_error_get_kind(const gsb_error* error) {
  return error->kind;
}
const char* gsb_error_text(const gsb_error* error) {
  return error->text.c_str();
}
const char* gsb_error_remedy(const gsb_error* error) {
  return error->remedy.c_str();
}
const char* gsb_error_primitive(const gsb_error* error) {
  return error->primitive.c_str();
}
int gsb_error_exit_code(const gsb_error* error) {
  return error->exitCode;
}
void gsb_error_free(gsb_error* error) {
  delete error;
}
void gsb_string_free(char* text) {
  std::free(text);
}

gsb_policy* gsb_policy_new(void) {
  return new gsb_policy{};
}
gsb_policy* gsb_policy_command_default(const char* directory, gsb_error** error) {
  const sandbox::HostFacts facts = sandbox::hostFacts();
  std::string where = facts.workingDirectory;
  if (directory != nullptr) {
    bool missing = false;
    llvm::Expected<std::string> canonical = sandbox::canonicalPath(directory, missing);
    if (!canonical) {
      give(error, canonical.takeError());
      return nullptr;
    }
    where = *canonical;
  }
  llvm::Expected<Policy> policy = sandbox::commandPolicy(facts, where);
  if (!policy) {
    give(error, policy.takeError());
    return nullptr;
  }
  return new gsb_policy{std::move(*policy)};
}
gsb_policy* gsb_policy_copy(const gsb_policy* policy) {
  return new gsb_policy{*policy};
}
void gsb_policy_free(gsb_policy* policy) {
  delete policy;
}

void gsb_policy_level(gsb_policy* policy, const char* level) {
  policy->policy = policy->policy.withLevelNamed(level);
}
void gsb_policy_read_only(gsb_policy* policy, const char* path) {
  addRule(policy, path, Access::ReadOnly);
}
void gsb_policy_read_write(gsb_policy* policy, const char* path) {
  addRule(policy, path, Access::ReadWrite);
}
void gsb_policy_deny(gsb_policy* policy, const char* path) {
  addRule(policy, path, Access::Deny);
}
void gsb_policy_network(gsb_policy* policy, const char* mode) {
  policy->policy = policy->policy.withNetworkNamed(mode);
}
void gsb_policy_env_allow(gsb_policy* policy, const char* name) {
  policy->policy = policy->policy.allowEnv(name);
}
void gsb_policy_env_set(gsb_policy* policy, const char* name, const char* value) {
  policy->policy = policy->policy.setEnv(name, value);
}
void gsb_policy_temp(gsb_policy* policy, const char* mode) {
  policy->policy = policy->policy.withTempNamed(mode);
}
void gsb_policy_working_directory(gsb_policy* policy, const char* path) {
  bool missing = false;
  llvm::Expected<std::string> canonical = sandbox::canonicalPath(path, missing);
  if (!canonical)
    llvm::consumeError(canonical.takeError());
  policy->policy = policy->policy.withWorkingDirectory(canonical ? llvm::StringRef(*canonical)
                                                                 : llvm::StringRef(path));
}

int gsb_policy_check(const gsb_policy* policy, gsb_error** error) {
  if (llvm::Error problem = policy->policy.check()) {
    give(error, std::move(problem));
    return -1;
  }
  return 0;
}
const char* gsb_policy_access(const gsb_policy* policy, const char* path) {
  bool missing = false;
  llvm::Expected<std::string> canonical = sandbox::canonicalPath(path, missing);
  if (!canonical) {
    llvm::consumeError(canonical.takeError());
    return "deny";
  }
  if (decide(policy->policy, *canonical, Operation::Write).allowed)
    return "read-write";
  return decide(policy->policy, *canonical, Operation::Read).allowed ? "read-only" : "deny";
}
char* gsb_policy_explain(const gsb_policy* policy, const char* const* argv, int json,
                         gsb_error** error) {
  llvm::Expected<sandbox::ChildPlan> plan =
      sandbox::compileForHost(policy->policy, optionsFor(argv, nullptr));
  if (!plan) {
    give(error, plan.takeError());
    return nullptr;
  }
  return copied(json != 0 ? sandbox::explainJson(policy->policy, *plan)
                          : sandbox::explainText(policy->policy, *plan, {}));
}

const char* gsb_platform(void) {
  return "linux";
}
const char* gsb_max_level(void) {
  const char* best = "none";
  for (const sandbox::LevelState& state : sandbox::levels())
    if (state.available)
      best = spelling(state.level).data(); // literals, ended by NUL
  return best;
}
char* gsb_capabilities_json(void) {
  return copied(sandbox::capabilitiesJson());
}

void gsb_options_init(gsb_options* options) {
  *options = {};
  options->size = sizeof *options;
  options->standard_input = 0;
  options->standard_output = 1;
  options->standard_error = 2;
  options->capture_limit = RunOptions{}.captureLimit;
}

gsb_run* gsb_start(const gsb_policy* policy, const char* const* argv, const gsb_options* options,
                   gsb_error** error) {
  llvm::Expected<std::unique_ptr<sandbox::Run>> run =
      sandbox::start(policy->policy, optionsFor(argv, options));
  if (!run) {
    give(error, run.takeError());
    return nullptr;
  }
  return new gsb_run{std::move(*run)};
}
int gsb_run_descriptor(const gsb_run* run) {
  return run->run->descriptor();
}
gsb_event gsb_run_take(gsb_run* run, gsb_error** error) {
  llvm::Expected<sandbox::Run::Event> event = run->run->take();
  if (!event) {
    run->ended = true;
    give(error, event.takeError());
    return GSB_EVENT_ERROR;
  }
  switch (*event) {
  case sandbox::Run::Event::Nothing:
    return GSB_EVENT_NOTHING;
  case sandbox::Run::Event::Stopped:
    return GSB_EVENT_STOPPED;
  case sandbox::Run::Event::Continued:
    return GSB_EVENT_CONTINUED;
  case sandbox::Run::Event::Ended:
    run->ended = true;
    return GSB_EVENT_ENDED;
  }
  return GSB_EVENT_NOTHING;
}
int gsb_run_wait(gsb_run* run, gsb_result* result, gsb_error** error) {
  while (!run->ended) {
    pollfd entry = {run->run->descriptor(), POLLIN, 0};
    ::poll(&entry, 1, -1);
    if (gsb_run_take(run, error) == GSB_EVENT_ERROR)
      return -1;
  }
  fill(result, run->run->result());
  return 0;
}
void gsb_run_signal(gsb_run* run, int number) {
  run->run->signal(number);
}
void gsb_run_kill(gsb_run* run) {
  run->run->kill();
}
void gsb_run_free(gsb_run* run) {
  delete run;
}

int gsb_run_capture(const gsb_policy* policy, const char* const* argv, const gsb_options* options,
                    gsb_output* output, gsb_error** error) {
  RunOptions made = optionsFor(argv, options);
  made.streams = RunOptions::Streams::Capture;
  llvm::Expected<sandbox::RunResult> result = sandbox::run(policy->policy, made);
  if (!result) {
    give(error, result.takeError());
    return -1;
  }
  output->result.size = sizeof output->result;
  fill(&output->result, *result);
  output->standard_output = copied(result->output);
  output->standard_output_size = result->output.size();
  output->standard_error = copied(result->errorOutput);
  output->standard_error_size = result->errorOutput.size();
  return 0;
}

} // extern "C"
