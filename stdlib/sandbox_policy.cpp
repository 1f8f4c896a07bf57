// A `sandbox::Policy` of a program as a policy of this host.

#include "stdlib/sandbox_policy.h"

#include "diagnostics/escape.h"
#include "sandbox/policy/decide.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <unistd.h>

namespace gos::stdlib {

using llvm::StringRef;
using sandbox::DirectoryProblem;
using sandbox::DirectoryVerdict;
using sandbox::HostFacts;
using sandbox::PolicyError;

namespace {

struct Request {
  StringRef what, text, value;
};

llvm::Error policyError(const llvm::Twine& text, std::string remedy = {}) {
  return llvm::make_error<PolicyError>(text.str(), std::move(remedy));
}

/// `.` and `..` taken out of an absolute path as it is spelled; empty if that would climb out of a
/// link.
std::string spelledPath(StringRef path) {
  std::string out;
  for (StringRef part : llvm::split(path, '/')) {
    if (part.empty() || part == ".")
      continue;
    if (part == "..")
      return {};
    out += ("/" + part).str();
  }
  return out.empty() ? "/" : out;
}

class Resolver {
public:
  explicit Resolver(const AskedPolicy& asked) : asked_(asked), facts_(sandbox::hostFacts()) {
    if (!asked_.directory.empty())
      facts_.workingDirectory = asked_.directory;
  }

  llvm::Expected<ResolvedPolicy> resolve() {
    if (asked_.record.empty() || asked_.record.size() % 3 != 0)
      return policyError("the policy holds no well-formed requests");
    llvm::Expected<Policy> base = this->base();
    if (!base)
      return base.takeError();
    policy_ = std::move(*base);
    for (size_t at = 3; at < asked_.record.size(); at += 3)
      if (llvm::Error error =
              apply({asked_.record[at], asked_.record[at + 1], asked_.record[at + 2]}))
        return error;
    if (llvm::Error error = finish())
      return error;
    result_.policy = std::move(policy_);
    if (!facts_.homes.empty())
      result_.home = facts_.homes.front();
    return std::move(result_);
  }

  llvm::Expected<std::string> canonical(StringRef written, bool& missing) const {
    return sandbox::canonicalPathIn(
        facts_.workingDirectory.empty() ? "/" : StringRef(facts_.workingDirectory), written,
        missing);
  }

private:
  llvm::Expected<Policy> base() {
    const StringRef kind = asked_.record[0], directory = asked_.record[1];
    if (kind == "command_default") {
      bool missing = false;
      llvm::Expected<std::string> path = canonical(directory, missing);
      if (!path)
        return path.takeError();
      if (llvm::Error error = checkDirectory(directory, *path, missing))
        return error;
      return sandbox::commandPolicy(facts_, *path);
    }
    if (kind != "new")
      return policyError("the policy holds no well-formed requests");
    // Nothing is granted, and a grant cannot lift what is denied everywhere.
    isCommandPolicy_ = false;
    std::vector<PathRule> denials;
    denials.reserve(facts_.denials.size());
    for (const std::string& path : facts_.denials)
      denials.push_back({path, Access::Deny, Origin::Shipped, {}});
    Policy policy = Policy().withLevel(SandboxLevel::Standard).withRules(std::move(denials));
    return facts_.workingDirectory.empty() ? policy
                                           : policy.withWorkingDirectory(facts_.workingDirectory);
  }

  llvm::Error checkDirectory(StringRef written, const std::string& path, bool missing) const {
    if (missing)
      return policyError("working directory `" + written + "`: no such directory");
    llvm::Expected<std::string> inside = sandbox::canonicalPathIn("/", path + "/.", missing);
    if (!inside) {
      llvm::consumeError(inside.takeError());
      return policyError("working directory `" + written + "` is not a directory");
    }
    return llvm::Error::success();
  }

  llvm::Error apply(const Request& request) {
    const StringRef what = request.what, text = request.text;
    if (what == "read_write")
      return addRule(Access::ReadWrite, request);
    if (what == "read_only")
      return addRule(Access::ReadOnly, request);
    if (what == "deny")
      return addRule(Access::Deny, request);
    if (what == "working_directory") {
      bool missing = false;
      llvm::Expected<std::string> path = canonical(text, missing);
      if (!path)
        return path.takeError();
      if (llvm::Error error = checkDirectory(text, *path, missing))
        return error;
      policy_ = policy_.withWorkingDirectory(*path);
    } else if (what == "network_mode") {
      policy_ = policy_.withNetworkNamed(text);
    } else if (what == "level") {
      policy_ = policy_.withLevelNamed(text);
    } else if (what == "temp") {
      policy_ = policy_.withTempNamed(text);
    } else if (what == "env_allow") {
      policy_ = policy_.allowEnv(text);
    } else if (what == "env_set") {
      // The last value of a name is the one that counts.
      llvm::erase_if(settings_, [&](const EnvSetting& each) { return each.name == text; });
      settings_.push_back({text.str(), request.value.str()});
    } else if (what == "stdin") {
      result_.input = text.str();
    } else if (what == "capture_limit") {
      if (text.getAsInteger(10, result_.captureLimit))
        return policyError("capture limit `" + text + "` is no number of bytes");
    } else {
      return policyError("the policy holds no well-formed requests");
    }
    return llvm::Error::success();
  }

  llvm::Error addRule(Access access, const Request& request) {
    bool missing = false;
    llvm::Expected<std::string> path = canonical(request.text, missing);
    if (!path)
      return path.takeError();
    const std::string writtenAs = (request.what + "(\"" + request.text + "\")").str();
    if (missing && access != Access::Deny) {
      for (const std::string& denial : facts_.denials)
        if (isAtOrBeneath(*path, denial))
          return policyError("grant `" + writtenAs + "` can't lift the shipped deny rule for `" +
                                 denial + "`",
                             "copy what is needed into the working directory");
      return policyError("grant `" + writtenAs + "`: no such file or directory", "create it first");
    }
    // Named through a link, it is there under both names.
    const std::string spelled = spelledPath(
        request.text.starts_with("/") ? request.text.str()
                                      : facts_.workingDirectory + "/" + request.text.str());
    if (!missing && isCanonicalPath(spelled) && spelled != *path)
      rules_.push_back({spelled, access, Origin::User, writtenAs});
    // Asked for twice is asked for once.
    PathRule rule{std::move(*path), access, Origin::User, writtenAs};
    if (llvm::none_of(rules_, [&](const PathRule& each) {
          return each.path == rule.path && each.access == access;
        }))
      rules_.push_back(std::move(rule));
    return llvm::Error::success();
  }

  llvm::Error finish() {
    // At `basic` no view would stop a command that starts there.
    const DirectoryVerdict where = sandbox::judgeDirectory(facts_, policy_.workingDirectory());
    if (policy_.level() != SandboxLevel::None && where.problem == DirectoryProblem::Denied)
      return sandbox::directoryError(where, policy_.workingDirectory());
    if (policy_.level() == SandboxLevel::None && policy_.problems().empty())
      // No sandbox is the program's own world; what was set of the environment still counts.
      policy_ = Policy()
                    .withLevel(SandboxLevel::None)
                    .allowAllEnv()
                    .withNetwork(policy_.network())
                    .withTemp(TempMode::Inherit)
                    .withWorkingDirectory(
                        policy_.workingDirectory().empty() ? "/" : policy_.workingDirectory());
    for (const EnvSetting& setting : settings_)
      policy_ = policy_.setEnv(setting.name, setting.value);
    policy_ = policy_.withRules(std::move(rules_));
    if (policy_.level() == SandboxLevel::None)
      return llvm::Error::success();
    // Of a policy that began with nothing only the denials are completed: what it grants is what
    // was asked for.
    const NetworkMode network = policy_.network();
    policy_ = isCommandPolicy_
                  ? sandbox::completeCommandPolicy(policy_, facts_)
                  : sandbox::completeCommandPolicy(policy_.withNetwork(NetworkMode::None), facts_)
                        .withNetwork(network);
    return llvm::Error::success();
  }

  const AskedPolicy& asked_;
  HostFacts facts_;
  ResolvedPolicy result_;
  Policy policy_;
  std::vector<PathRule> rules_;
  std::vector<EnvSetting> settings_;
  bool isCommandPolicy_ = true;
};

std::string withRemedy(StringRef text, StringRef remedy) {
  std::string out = escapeForText(text);
  if (!remedy.empty())
    out += "; " + escapeForText(remedyForPrograms(remedy));
  return out;
}

} // namespace

llvm::Expected<ResolvedPolicy> resolvePolicy(const AskedPolicy& asked) {
  return Resolver(asked).resolve();
}

llvm::Expected<ResolvedPolicy> resolveSound(const AskedPolicy& asked) {
  llvm::Expected<ResolvedPolicy> resolved = resolvePolicy(asked);
  if (resolved)
    if (llvm::Error error = resolved->policy.check())
      return error;
  return resolved;
}

std::string pathAsked(const AskedPolicy& asked, StringRef written) {
  bool missing = false;
  std::string directory = asked.directory;
  if (directory.empty()) {
    char* current = ::getcwd(nullptr, 0);
    directory = current != nullptr ? current : "/";
    ::free(current);
  }
  llvm::Expected<std::string> path = sandbox::canonicalPathIn(directory, written, missing);
  if (path)
    return *path;
  llvm::consumeError(path.takeError());
  return {};
}

std::string remedyForPrograms(StringRef remedy) {
  struct Row {
    StringRef flag, method;
  };
  static constexpr Row kRows[] = {{"--ro", "read_only"},
                                  {"--rw", "read_write"},
                                  {"--deny", "deny"},
                                  {"--network", "network_mode"},
                                  {"--env", "env_allow"},
                                  {"--level", "level"},
                                  {"--workdir", "working_directory"}};
  std::string out;
  llvm::SmallVector<StringRef, 16> words;
  remedy.split(words, ' ');
  for (size_t at = 0; at != words.size(); ++at) {
    const auto* row = llvm::find_if(kRows, [&](const Row& each) { return each.flag == words[at]; });
    out += at == 0 ? "" : " ";
    if (row == std::end(kRows) || at + 1 == words.size()) {
      out += words[at];
      continue;
    }
    StringRef value = words[++at];
    const StringRef end = value.take_back(value.ends_with(",") || value.ends_with(";") ? 1 : 0);
    value = value.drop_back(end.size());
    // A word in capitals stands for what the user has to choose.
    const bool isPlaceholder =
        !value.empty() && llvm::all_of(value, [](char c) { return c >= 'A' && c <= 'Z'; });
    out += ("." + row->method + "(" + (isPlaceholder ? "" : "\"") + value +
            (isPlaceholder ? "" : "\"") + ")" + end)
               .str();
  }
  return out;
}

std::string sandboxErrorText(llvm::Error error) {
  std::string text;
  llvm::handleAllErrors(
      std::move(error),
      [&](const sandbox::RunError& problem) {
        text = withRemedy(problem.text(), problem.remedy());
      },
      [&](const PolicyError& problem) { text = withRemedy(problem.text(), problem.remedy()); },
      [&](const llvm::ErrorInfoBase& other) { text = escapeForText(other.message()); });
  return text;
}

} // namespace gos::stdlib
