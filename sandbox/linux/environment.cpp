#include "sandbox/linux/environment.h"

#include "sandbox/policy/decide.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace gos::sandbox {

namespace {
bool isMakeFlags(llvm::StringRef name) {
  return name == "MAKEFLAGS" || name == "MFLAGS" || name == "CARGO_MAKEFLAGS";
}

bool isTempName(llvm::StringRef name) {
  return name == "TMPDIR" || name == "TMP" || name == "TEMP";
}

bool isJobserver(llvm::StringRef word) {
  return word.starts_with("--jobserver-auth=") || word.starts_with("--jobserver-fds=");
}

bool isJobCount(llvm::StringRef word) {
  if (word == "--jobs" || word.starts_with("--jobs="))
    return true;
  return word.consume_front("-j") && llvm::all_of(word, llvm::isDigit);
}
} // namespace

std::optional<llvm::StringRef> valueOf(llvm::ArrayRef<std::string> environment,
                                       llvm::StringRef name) {
  for (llvm::StringRef entry : environment)
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name))
      return entry.drop_front(name.size() + 1);
  return std::nullopt;
}

std::string withoutJobserver(llvm::StringRef flags) {
  // What follows `--` is variables of the command line, whose values may look like anything.
  size_t end = flags.find(" -- ");
  if (end == llvm::StringRef::npos)
    end = flags.ends_with(" --") ? flags.size() - 3 : flags.size();
  const llvm::StringRef options = flags.take_front(end), variables = flags.drop_front(end);
  llvm::SmallVector<llvm::StringRef, 8> words;
  options.split(words, ' ');
  if (llvm::none_of(words, isJobserver))
    return flags.str();
  llvm::erase_if(words, [](llvm::StringRef word) { return isJobserver(word) || isJobCount(word); });
  std::string kept = llvm::join(words, " ");
  if (llvm::StringRef(kept).trim().empty())
    kept.clear();
  return kept + variables.str();
}

std::vector<std::string> commandEnvironment(const Policy& policy,
                                            llvm::ArrayRef<std::string> hostEnvironment,
                                            const EnvironmentFacts& facts) {
  std::vector<std::string> environment;
  llvm::StringSet<> set; // names that a value is set for, whatever the caller has
  for (const EnvSetting& setting : policy.setEnv())
    set.insert(setting.name);
  const bool ownTemp = !facts.temporaryName.empty();

  llvm::StringSet<> seen, passedNames;
  for (const std::string& name : policy.passedEnv())
    passedNames.insert(name);
  for (llvm::StringRef entry : hostEnvironment) {
    const auto [name, value] = entry.split('=');
    if (name.empty() || name.size() == entry.size() || value.contains('\0'))
      continue; // no name, or no `=`
    if (!seen.insert(name).second)
      continue; // getenv finds the first
    if (set.contains(name) || (ownTemp && isTempName(name)) ||
        (!facts.workingDirectory.empty() && name == "PWD"))
      continue;
    const bool hostTemp =
        policy.temp() == TempMode::Inherit || policy.level() == SandboxLevel::None;
    const bool inheritedTemp = !ownTemp && hostTemp && isTempName(name);
    if (!policy.passesAllEnv() && !passedNames.contains(name) && !inheritedTemp)
      continue;
    // No policy passes what makes a program load code, unless there is no sandbox at all.
    if (policy.level() != SandboxLevel::None && !environmentNameProblem(name).empty())
      continue;
    if (!isMakeFlags(name) || policy.level() == SandboxLevel::None) {
      environment.push_back(entry.str());
      continue;
    }
    if (std::string flags = withoutJobserver(value); !flags.empty())
      environment.push_back(name.str() + "=" + flags);
  }

  auto add = [&](llvm::StringRef name, llvm::StringRef value) {
    if (!set.contains(name))
      environment.push_back(name.str() + "=" + value.str());
  };
  if (ownTemp)
    for (const char* name : {"TMPDIR", "TMP", "TEMP"})
      add(name, facts.temporaryName);
  if (!facts.workingDirectory.empty())
    add("PWD", facts.workingDirectory);
  if (facts.hideGitConfig && !valueOf(environment, "GIT_CONFIG_GLOBAL"))
    add("GIT_CONFIG_GLOBAL", "/dev/null");
  // The last setting of a name is the one that was meant.
  for (size_t index = 0; index != policy.setEnv().size(); ++index) {
    const EnvSetting& setting = policy.setEnv()[index];
    const bool later =
        llvm::any_of(policy.setEnv().drop_front(index + 1),
                     [&](const EnvSetting& other) { return other.name == setting.name; });
    if (!later)
      environment.push_back(setting.name + "=" + setting.value);
  }
  return environment;
}

} // namespace gos::sandbox
