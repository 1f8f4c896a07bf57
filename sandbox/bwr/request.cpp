#include "sandbox/bwr/request.h"

#include "sandbox/bwr/apply_profile.h"
#include "sandbox/command/command_lookup.h"
#include "sandbox/command/report.h"
#include "sandbox/policy/host/host_paths.h"
#include "sandbox/sys_error.h"
#include "sandbox/unique_fd.h"

#include "llvm/ADT/STLExtras.h"

#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::bwr {

using llvm::StringRef;
using sandbox::DirectoryProblem;
using sandbox::HostFacts;
using sandbox::PolicyError;

namespace {
std::string homeOf(const HostFacts& facts) {
  return facts.homes.empty() ? std::string() : facts.homes.front();
}

std::string commandLine(llvm::ArrayRef<std::string> words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : " ") + sandbox::shellQuoted(word);
  return text;
}

class RequestMaker {
public:
  RequestMaker(const Options& options, const HostFacts& facts, Purpose purpose)
      : options_(options), facts_(facts), purpose_(purpose) {}

  llvm::Expected<Request> make() {
    request_.home = homeOf(facts_);
    request_.run.environment = facts_.environment;
    request_.run.arguments = options_.command;
    // Of no command --explain shows what any command would see.
    request_.run.program = options_.command.empty() ? "/bin/sh" : options_.command.front();
    // A promise that nobody would keep.
    if (options_.networkGiven && options_.network == NetworkMode::None && !bounded())
      return llvm::make_error<PolicyError>("level `" + gos::spelling(options_.level).str() +
                                               "` has no network policy, so `--network none` can't "
                                               "be kept",
                                           "--level standard, or leave out `--network none`");
    if (llvm::Error error = readPaths())
      return error;
    llvm::Expected<Policy> base = basePolicy();
    if (!base)
      return base.takeError();
    if (llvm::Error error = useProfile())
      return error;
    if (request_.network.text.empty() && bounded() && options_.network == NetworkMode::None &&
        !options_.command.empty())
      request_.network.text =
          "the command asked for the network, and has none; " +
          (hasOtherFlags() ? std::string("to give it one, add: --network client")
                           : "with it: bwr --network client " + commandLine(options_.command));
    assemble(std::move(*base));
    return std::move(request_);
  }

private:
  bool bounded() const { return hasFileSystemPolicy(options_.level); }

  // ---- the user's paths
  // ---------------------------------------------------------------------------

  llvm::Error readPaths() {
    for (const PathOption& option : options_.paths) {
      bool missing = false;
      llvm::Expected<std::string> path = sandbox::canonicalPath(option.path, missing);
      if (!path)
        return path.takeError();
      if (missing && option.access != Access::Deny)
        return missingGrant(option, *path);
      // Named through a link, it is there under both names.
      const std::string spelled = absoluteSpelling(option.path);
      if (isCanonicalPath(spelled) && spelled != *path && !missing)
        rules_.push_back({spelled, option.access, Origin::User, option.writtenAs});
      rules_.push_back({std::move(*path), option.access, Origin::User, option.writtenAs});
    }
    return llvm::Error::success();
  }

  llvm::Error missingGrant(const PathOption& option, const std::string& path) const {
    for (const std::string& denial : facts_.denials)
      if (isAtOrBeneath(path, denial))
        return llvm::make_error<PolicyError>("grant `" + option.writtenAs +
                                                 "` can't lift the shipped deny rule for `" +
                                                 denial + "`",
                                             "copy what is needed into the working directory");
    if (StringRef(option.path).starts_with("~"))
      return llvm::make_error<PolicyError>(
          "grant `" + option.writtenAs + "`: no such file or directory",
          "put a space in front of `~`, for the shell to replace it: " + option.writtenAs);
    return llvm::make_error<PolicyError>("grant `" + option.writtenAs +
                                             "`: no such file or directory",
                                         "mkdir -p " + sandbox::shellQuoted(path));
  }

  /// Does a flag of the user grant the directory, so that nothing is assumed?
  bool isGranted(StringRef directory) const {
    return llvm::any_of(rules_, [&](const PathRule& rule) {
      return rule.access != Access::Deny && isAtOrBeneath(directory, rule.path);
    });
  }

  // ---- the working directory -------------------------------------------------------------------

  llvm::Expected<Policy> basePolicy() {
    workdir_ = facts_.workingDirectory;
    if (options_.workdir) {
      bool missing = false;
      llvm::Expected<std::string> path = sandbox::canonicalPath(*options_.workdir, missing);
      if (!path)
        return path.takeError();
      struct stat status{};
      if (missing || ::stat(path->c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
        return llvm::make_error<PolicyError>("working directory `" + *options_.workdir + "` is " +
                                                 (missing ? "missing" : "not a directory"),
                                             "--workdir DIR with a directory that exists");
      workdir_ = std::move(*path);
    }
    const sandbox::DirectoryVerdict verdict = sandbox::judgeDirectory(facts_, workdir_);
    // A view that has another thing in its place is what makes a shared temp unfit.
    const bool fits = verdict.problem == DirectoryProblem::None ||
                      (verdict.problem == DirectoryProblem::SharedTemp && !bounded());
    const bool unasked = !options_.workdir && !isGranted(workdir_);
    if (verdict.problem == DirectoryProblem::Removed ||
        (!fits && options_.level != SandboxLevel::None &&
         (unasked || verdict.problem == DirectoryProblem::Denied)))
      return sandbox::directoryError(verdict, workdir_);
    request_.run.environment = facts_.environment;
    if (verdict.problem != DirectoryProblem::None)
      return sandbox::baseViewPolicy(facts_).withWorkingDirectory(workdir_);
    llvm::Expected<Policy> policy = sandbox::commandPolicy(facts_, workdir_);
    if (!policy)
      return policy;
    // The name by which the user came here, where that is a link.
    if (const std::string logical = logicalName(); !logical.empty())
      return policy->readWrite(logical, Origin::Shipped).withWorkingDirectory(logical);
    return policy;
  }

  std::string logicalName() const {
    if (options_.workdir)
      return {};
    const char* name = sandbox::environmentValue(facts_.environment, "PWD");
    if (name == nullptr || !isCanonicalPath(name) || name == workdir_)
      return {};
    struct stat a{}, b{};
    if (::stat(name, &a) != 0 || ::stat(workdir_.c_str(), &b) != 0 || a.st_dev != b.st_dev ||
        a.st_ino != b.st_ino)
      return {};
    return name;
  }

  // ---- the profile
  // -------------------------------------------------------------------------------

  ProfileInput profileInput() const {
    ProfileInput input;
    input.facts = &facts_;
    input.home = request_.home;
    input.workdir = workdir_;
    if (options_.command.size() > 1)
      input.arguments.assign(options_.command.begin() + 1, options_.command.end());
    input.level = options_.level;
    input.network = options_.network;
    input.make = purpose_ == Purpose::Run;
    return input;
  }

  llvm::Error useProfile() {
    if (options_.profile && *options_.profile == "none")
      return llvm::Error::success();
    const ProfileSet profiles = profileSet(facts_);
    ProfileInput input = profileInput();
    const StringRef program = request_.run.program;
    std::optional<Profile> profile;
    if (options_.profile) {
      llvm::Expected<Profile> found = profiles.find(*options_.profile);
      if (!found)
        return found.takeError();
      profile = std::move(*found);
    } else {
      if (options_.command.empty())
        return llvm::Error::success();
      llvm::Expected<std::optional<Profile>> found = profiles.forCommand(
          program.rsplit('/').second.empty() ? program : program.rsplit('/').second);
      if (!found)
        return found.takeError();
      profile = std::move(*found);
      if (!profile)
        return llvm::Error::success();
    }
    // A command that is not there is reported by whoever starts it.
    if (!options_.command.empty()) {
      llvm::Expected<sandbox::FoundCommand> tool =
          sandbox::findCommand(program, facts_.environment, workdir_);
      if (tool)
        input.tool = std::move(*tool);
      else
        llvm::consumeError(tool.takeError());
    }
    if (!options_.profile && (!input.tool || !isTrustedTool(*profile, *input.tool, input))) {
      if (input.tool)
        notTaken(*profile, *input.tool);
      return llvm::Error::success();
    }
    llvm::Expected<AppliedProfile> applied = applyProfile(*profile, input);
    if (!applied)
      return applied.takeError();
    request_.profile = profile->name;
    if (llvm::Error error = checkNamedPrograms(*profile, *applied))
      return error;
    keepApplied(*profile, std::move(*applied));
    return llvm::Error::success();
  }

  /// A step that has the network must not run what the project names: where the tool has a variable
  /// for it the profile sets that, and what is left is looked for here. By bytes and not by syntax,
  /// so that no two readers of a file can differ.
  llvm::Error checkNamedPrograms(const Profile& profile, const AppliedProfile& applied) const {
    if (applied.phase == nullptr || options_.network == NetworkMode::None || !bounded())
      return llvm::Error::success();
    for (const std::string& entry : applied.phase->namedPrograms) {
      const auto [file, word] = StringRef(entry).split(' ');
      for (std::string directory = workdir_;;
           directory = directory.substr(0, directory.rfind('/'))) {
        if (directory.empty() ||
            (!isAtOrBeneath(directory, applied.project) && !isGranted(directory)))
          break;
        const std::string path = directory + "/" + file.str();
        const std::optional<std::string> text = contentOf(path);
        if (text && !StringRef(*text).contains(word) && !StringRef(*text).contains('\\'))
          continue;
        if (!text && ::access(path.c_str(), F_OK) != 0)
          continue;
        return llvm::make_error<PolicyError>(
            "`" + path + "` " +
                (!text ? "cannot be read"
                 : StringRef(*text).contains(word)
                     ? "holds `" + word.str() + "`"
                     : "holds a backslash, which may hide `" + word.str() + "`") +
                ", by which a project names programs, and this step would run them with the "
                "network",
            "look at it, and take it away for this step; or leave out `" + entry +
                "` of `named_programs` in a profile of your own: bwr --show-profile " +
                profile.name);
      }
    }
    return llvm::Error::success();
  }

  /// None of what is no file, cannot be read, or is larger than any configuration is.
  static std::optional<std::string> contentOf(const std::string& path) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat status{};
    constexpr off_t kMost = off_t(1) << 20;
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size > kMost)
      return std::nullopt;
    std::string text(size_t(kMost) + 1, '\0');
    size_t size = 0;
    while (size != text.size()) {
      const ssize_t got = retryInterrupted(
          [&] { return ::read(file.get(), text.data() + size, text.size() - size); });
      if (got < 0)
        return std::nullopt;
      if (got == 0)
        break;
      size += size_t(got);
    }
    if (size == text.size())
      return std::nullopt;
    text.resize(size);
    return text;
  }

  void notTaken(const Profile& profile, const sandbox::FoundCommand& tool) {
    std::string text = "profile `" + profile.name + "` is not used, because `" + tool.path +
                       "` does not lie in a directory of the system or of its toolchains; if it is "
                       "meant: bwr --profile " +
                       profile.name + " " + commandLine(options_.command);
    request_.notes.push_back(text);
    request_.hints.push_back(std::move(text));
  }

  void keepApplied(const Profile& profile, AppliedProfile applied) {
    if (applied.phase == nullptr)
      return;
    const Phase& phase = *applied.phase;
    request_.phase = spelling(phase.kind).str();
    request_.project = applied.project;
    request_.projectMarkers = profile.project;
    request_.madeFiles = std::move(applied.madeFiles);
    llvm::append_range(request_.notes, applied.notes);
    profileRules_ = std::move(applied.rules);
    passEnv_ = std::move(applied.passEnv);
    setEnv_ = std::move(applied.setEnv);
    hintMissing(profile, applied);
    hintNetwork(profile, phase, applied);
  }

  void hintMissing(const Profile& profile, const AppliedProfile& applied) {
    if (!applied.isProject)
      return; // the tool says so itself
    const std::string fetch = profile.fetchCommand.empty()
                                  ? "grant the directory: --rw " + sandbox::shellQuoted(workdir_)
                                  : "run first: " + fetchLine(profile);
    for (const std::string& path : applied.missing)
      request_.missing.push_back(
          {{path}, "`" + path + "` is missing, and this step does not make it; " + fetch});
    const auto declares = [&](StringRef entry) {
      const auto [file, word] = entry.split(' ');
      const std::optional<std::string> text = contentOf(applied.project + "/" + file.str());
      return text && StringRef(*text).contains(word);
    };
    if (!applied.installed.empty() && options_.network == NetworkMode::None &&
        llvm::any_of(applied.phase->declared, declares))
      request_.missing.push_back(
          {applied.installed, "the packages that the project names are not installed (`" +
                                  applied.installed.front() + "` is missing); " + fetch});
  }

  /// What a step says that turns out to have wanted the network.
  void hintNetwork(const Profile& profile, const Phase& phase, const AppliedProfile& applied) {
    // Below standard the network is there, but the profile has told the tool to do without.
    if (options_.network != NetworkMode::None || (!bounded() && phase.setOffline.empty()))
      return;
    NetworkHint& hint = request_.network;
    const std::string why =
        bounded() ? "this step had no network; " : "this step had to stay offline; ";
    const std::string again =
        "with it: bwr --network client " + profileFlag(profile) + commandLine(options_.command);
    if (phase.network != NetworkMode::None || profile.fetchCommand.empty()) {
      hint.text = why + again;
    } else {
      hint.text = why + "to download what it wants, run first: " + fetchLine(profile);
      hint.withNetwork = "; or " + again;
    }
    hint.words = phase.offlineWords;
    hint.log = applied.offlineLog;
    struct timespec now{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now); // as the kernel stamps files
    hint.since = double(now.tv_sec) + double(now.tv_nsec) / 1e9;
    const StringRef program = request_.run.program;
    if (applied.isProject && !phase.offlineCheck.empty() &&
        program.substr(program.rfind('/') + 1) == phase.offlineCheck.front())
      hint.check = phase.offlineCheck;
  }

  bool hasOtherFlags() const {
    return options_.level != SandboxLevel::Standard || options_.profile || options_.workdir ||
           !options_.paths.empty() || !options_.passEnv.empty() || !options_.setEnv.empty();
  }

  std::string profileFlag(const Profile& profile) const {
    return options_.profile ? "--profile " + profile.name + " " : std::string();
  }
  std::string fetchLine(const Profile& profile) const {
    return "bwr --network client " + profileFlag(profile) + profile.fetchCommand;
  }

  // ---- all of it
  // ---------------------------------------------------------------------------------

  bool userNames(StringRef variable) const {
    return llvm::is_contained(options_.passEnv, variable) ||
           llvm::any_of(options_.setEnv,
                        [&](const EnvSetting& setting) { return setting.name == variable; });
  }

  /// A later setting of one variable takes the place of an earlier one, and the user's are the
  /// last.
  std::vector<EnvSetting> settings() const {
    std::vector<EnvSetting> kept;
    const auto add = [&](const EnvSetting& setting) {
      llvm::erase_if(kept, [&](const EnvSetting& each) { return each.name == setting.name; });
      kept.push_back(setting);
    };
    for (const EnvSetting& setting : setEnv_)
      if (!userNames(setting.name))
        add(setting);
    for (const EnvSetting& setting : options_.setEnv)
      add(setting);
    return kept;
  }

  void assemble(Policy base) {
    if (options_.level == SandboxLevel::None) {
      // No sandbox is the caller's own world; what the flags say of the environment still counts.
      base = Policy()
                 .allowAllEnv()
                 .withTemp(TempMode::Inherit)
                 .withWorkingDirectory(base.workingDirectory());
    }
    Policy policy = base.withLevel(options_.level).withNetwork(options_.network);
    for (const std::string& name : passEnv_)
      if (!llvm::is_contained(policy.passedEnv(), name))
        policy = policy.allowEnv(name);
    for (const std::string& name : options_.passEnv)
      policy = policy.allowEnv(name);
    for (const EnvSetting& setting : settings())
      policy = policy.setEnv(setting.name, setting.value);
    std::vector<PathRule> rules = std::move(profileRules_);
    rules.insert(rules.end(), std::make_move_iterator(rules_.begin()),
                 std::make_move_iterator(rules_.end()));
    policy = policy.withRules(std::move(rules));
    request_.policy = options_.level == SandboxLevel::None
                          ? policy
                          : sandbox::completeCommandPolicy(policy, facts_);
  }

  const Options& options_;
  const HostFacts& facts_;
  Purpose purpose_;
  Request request_;
  std::string workdir_;
  std::vector<PathRule> rules_, profileRules_;
  std::vector<std::string> passEnv_;
  std::vector<EnvSetting> setEnv_;
};
} // namespace

ProfileSet profileSet(const HostFacts& facts) {
  return ProfileSet(userProfileDirectory(facts.environment, homeOf(facts), facts.workingDirectory));
}

llvm::Expected<Request> makeRequest(const Options& options, const HostFacts& facts,
                                    Purpose purpose) {
  return RequestMaker(options, facts, purpose).make();
}

} // namespace gos::bwr
