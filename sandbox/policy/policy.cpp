#include "sandbox/policy/policy.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace gos {

// ---- closed sets --------------------------------------------------------------------------------

namespace {
constexpr llvm::StringRef kSandboxLevels[] = {"none", "basic", "standard", "strict"};
constexpr llvm::StringRef kAccesses[] = {"deny", "read-only", "read-write"};
constexpr llvm::StringRef kNetworkModes[] = {"none", "client", "open"};
constexpr llvm::StringRef kTempModes[] = {"private", "inherit"};
constexpr llvm::StringRef kOrigins[] = {"shipped", "profile", "manifest", "user"};

template <class Enum>
std::optional<Enum> fromSpelling(llvm::ArrayRef<llvm::StringRef> words, llvm::StringRef text) {
  for (size_t index = 0; index != words.size(); ++index)
    if (words[index] == text)
      return Enum(index);
  return std::nullopt;
}

std::string joined(llvm::ArrayRef<llvm::StringRef> words) {
  std::string text;
  for (llvm::StringRef word : words)
    text += (text.empty() ? "`" : ", `") + word.str() + "`";
  return text;
}
} // namespace

llvm::StringRef spelling(SandboxLevel level) {
  return kSandboxLevels[size_t(level)];
}
llvm::StringRef spelling(Access access) {
  return kAccesses[size_t(access)];
}
llvm::StringRef spelling(NetworkMode mode) {
  return kNetworkModes[size_t(mode)];
}
llvm::StringRef spelling(TempMode mode) {
  return kTempModes[size_t(mode)];
}
llvm::StringRef spelling(Origin origin) {
  return kOrigins[size_t(origin)];
}

std::optional<SandboxLevel> sandboxLevelFromSpelling(llvm::StringRef text) {
  return fromSpelling<SandboxLevel>(kSandboxLevels, text);
}
std::optional<Access> accessFromSpelling(llvm::StringRef text) {
  return fromSpelling<Access>(kAccesses, text);
}
std::optional<NetworkMode> networkModeFromSpelling(llvm::StringRef text) {
  return fromSpelling<NetworkMode>(kNetworkModes, text);
}
std::optional<TempMode> tempModeFromSpelling(llvm::StringRef text) {
  return fromSpelling<TempMode>(kTempModes, text);
}

llvm::ArrayRef<llvm::StringRef> sandboxLevelSpellings() {
  return kSandboxLevels;
}
llvm::ArrayRef<llvm::StringRef> networkModeSpellings() {
  return kNetworkModes;
}
llvm::ArrayRef<llvm::StringRef> tempModeSpellings() {
  return kTempModes;
}

// ---- paths and names ----------------------------------------------------------------------------

bool isCanonicalPath(llvm::StringRef path) {
  if (!path.starts_with("/") || path.contains('\0'))
    return false;
  if (path.size() == 1)
    return true;
  llvm::StringRef rest = path.drop_front();
  while (true) {
    auto [name, tail] = rest.split('/');
    if (name.empty() || name == "." || name == "..")
      return false;
    if (name.size() == rest.size())
      return true;
    rest = tail;
  }
}

llvm::StringRef environmentNameProblem(llvm::StringRef name) {
  if (name.empty())
    return "a variable has a name";
  if (name.contains('='))
    return "a variable's name holds no `=`";
  if (name.contains('\0'))
    return "a variable's name holds no NUL";
  for (char byte : name)
    if (uint8_t(byte) < 0x20 || byte == 0x7f)
      return "a variable's name holds no control character";
  if (name.contains('*') || name.contains('?'))
    return "variables are named one by one, without patterns";
#define GOS_ENV_NEVER(row, why)                                                                    \
  if (name == row)                                                                                 \
    return "the variable never passes, because " why;
#define GOS_ENV_NEVER_PREFIX(row, why)                                                             \
  if (name.starts_with(row))                                                                       \
    return "the variable never passes, because " why;
#include "sandbox/policy/environment.def"
  return {};
}

// ---- builders -----------------------------------------------------------------------------------

Policy Policy::withLevel(SandboxLevel level) const {
  Policy made = *this;
  made.level_ = level;
  return made;
}

Policy Policy::withRule(PathRule rule) const {
  std::vector<PathRule> rules;
  rules.push_back(std::move(rule));
  return withRules(std::move(rules));
}

Policy Policy::withRules(std::vector<PathRule> rules) const {
  Policy made = *this;
  made.rules_.reserve(made.rules_.size() + rules.size());
  for (PathRule& rule : rules)
    if (isCanonicalPath(rule.path))
      made.rules_.push_back(std::move(rule));
    else
      made.problems_.push_back(llvm::formatv("path `{0}` is not canonical", rule.path));
  return made;
}

Policy Policy::readWrite(llvm::StringRef path, Origin origin, llvm::StringRef writtenAs) const {
  return withRule({path.str(), Access::ReadWrite, origin, writtenAs.str()});
}

Policy Policy::readOnly(llvm::StringRef path, Origin origin, llvm::StringRef writtenAs) const {
  return withRule({path.str(), Access::ReadOnly, origin, writtenAs.str()});
}

Policy Policy::deny(llvm::StringRef path, Origin origin, llvm::StringRef writtenAs) const {
  return withRule({path.str(), Access::Deny, origin, writtenAs.str()});
}

Policy Policy::withNetwork(NetworkMode mode) const {
  Policy made = *this;
  made.network_ = mode;
  return made;
}

Policy Policy::allowEnv(llvm::StringRef name) const {
  return allowEnv(llvm::ArrayRef(name));
}

Policy Policy::allowEnv(llvm::ArrayRef<llvm::StringRef> names) const {
  Policy made = *this;
  for (llvm::StringRef name : names)
    if (llvm::StringRef problem = environmentNameProblem(name); !problem.empty())
      made.problems_.push_back(llvm::formatv("environment variable `{0}`: {1}", name, problem));
    else
      made.passedEnv_.push_back(name.str());
  return made;
}

Policy Policy::allowAllEnv() const {
  Policy made = *this;
  made.passesAllEnv_ = true;
  return made;
}

Policy Policy::setEnv(llvm::StringRef name, llvm::StringRef value) const {
  Policy made = *this;
  llvm::StringRef problem = environmentNameProblem(name);
  if (problem.empty() && value.contains('\0'))
    problem = "a variable's value holds no NUL";
  if (!problem.empty())
    made.problems_.push_back(llvm::formatv("environment variable `{0}`: {1}", name, problem));
  else
    made.setEnv_.push_back({name.str(), value.str()});
  return made;
}

Policy Policy::withTemp(TempMode mode) const {
  Policy made = *this;
  made.temp_ = mode;
  return made;
}

Policy Policy::withWorkingDirectory(llvm::StringRef path) const {
  Policy made = *this;
  if (isCanonicalPath(path))
    made.workingDirectory_ = path.str();
  else
    made.problems_.push_back(llvm::formatv("working directory `{0}` is not canonical", path));
  return made;
}

Policy Policy::withCapabilities(CapabilitySet set) const {
  Policy made = *this;
  made.capabilities_ = set;
  return made;
}

Policy Policy::withLevelNamed(llvm::StringRef word) const {
  if (auto level = sandboxLevelFromSpelling(word))
    return withLevel(*level);
  Policy made = *this;
  made.problems_.push_back(
      llvm::formatv("`{0}` is not a level; allowed are {1}", word, joined(kSandboxLevels)));
  return made;
}

Policy Policy::withNetworkNamed(llvm::StringRef word) const {
  if (auto mode = networkModeFromSpelling(word))
    return withNetwork(*mode);
  Policy made = *this;
  made.problems_.push_back(
      llvm::formatv("`{0}` is not a network mode; allowed are {1}", word, joined(kNetworkModes)));
  return made;
}

Policy Policy::withTempNamed(llvm::StringRef word) const {
  if (auto mode = tempModeFromSpelling(word))
    return withTemp(*mode);
  Policy made = *this;
  made.problems_.push_back(
      llvm::formatv("`{0}` is not a temp mode; allowed are {1}", word, joined(kTempModes)));
  return made;
}

// ---- contradictions -----------------------------------------------------------------------------

namespace {
std::string named(const PathRule& rule) {
  std::string text = llvm::formatv("the {0} {1} rule for `{2}`", spelling(rule.origin),
                                   spelling(rule.access), rule.path);
  if (!rule.writtenAs.empty())
    text += llvm::formatv(" (`{0}`)", rule.writtenAs).str();
  return text;
}

/// What a denial has against a grant, or empty. A denial that is stronger than a grant it covers
/// simply wins; one that is not must not be lifted in silence.
std::string contradiction(const PathRule& grant, const PathRule& denial) {
  if (isAtOrBeneath(grant.path, denial.path) &&
      (denial.origin <= grant.origin || grant.origin == Origin::User))
    return llvm::formatv("{0} can't lift {1}", named(grant), named(denial));
  return {};
}
} // namespace

llvm::Error Policy::check() const {
  std::string text;
  // One line: a name may hold a newline itself, and a line that it made would be believed as ours.
  auto add = [&](llvm::StringRef problem) { text += (text.empty() ? "" : "; ") + problem.str(); };
  for (const std::string& problem : problems_)
    add(problem);
  for (size_t index = 0; index != rules_.size(); ++index) {
    const PathRule& rule = rules_[index];
    // Most rules are shipped denials, and every start checks: grants meet denials, nothing else
    // does.
    if (rule.access != Access::Deny)
      for (const PathRule& other : rules_)
        if (other.access == Access::Deny)
          if (std::string problem = contradiction(rule, other); !problem.empty())
            add(problem);
    if (rule.origin != Origin::User)
      continue;
    // Two rules of the user at one path: which one did they mean?
    for (size_t earlier = 0; earlier != index; ++earlier) {
      const PathRule& other = rules_[earlier];
      const bool bothGrant = rule.access != Access::Deny && other.access != Access::Deny;
      if (other.origin == Origin::User && other.path == rule.path && other.access != rule.access &&
          bothGrant)
        add(llvm::formatv("{0} contradicts {1}", named(rule), named(other)).str());
    }
    // A narrowing rule at a level that enforces none would be a promise that nobody keeps.
    if (hasFileSystemPolicy(level_))
      continue;
    bool narrows = rule.access == Access::Deny;
    for (const PathRule& other : rules_)
      narrows |= rule.access == Access::ReadOnly && other.access == Access::ReadWrite &&
                 isAtOrBeneath(rule.path, other.path);
    if (narrows)
      add(llvm::formatv("level `{0}` has no file-system policy, so {1} can't be kept",
                        gos::spelling(level_), named(rule))
              .str());
  }
  if (text.empty())
    return llvm::Error::success();
  // Whole, with the bytes of a name that is refused for them.
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                 llvm::Twine(text));
}

// ---- printing -----------------------------------------------------------------------------------

std::string toText(const Policy& policy) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "level " << spelling(policy.level()) << '\n';
  for (const PathRule& rule : policy.rules()) {
    out << spelling(rule.access) << ' ' << rule.path << " (" << spelling(rule.origin);
    if (!rule.writtenAs.empty())
      out << ": " << rule.writtenAs;
    out << ")\n";
  }
  out << "network " << spelling(policy.network()) << '\n';
  if (policy.passesAllEnv())
    out << "env all\n";
  for (const std::string& name : policy.passedEnv())
    out << "env " << name << '\n';
  for (const EnvSetting& setting : policy.setEnv())
    out << "set " << setting.name << '=' << setting.value << '\n';
  out << "temp " << spelling(policy.temp()) << '\n';
  if (!policy.workingDirectory().empty())
    out << "cwd " << policy.workingDirectory() << '\n';
  for (size_t index = 0; index != capabilityCount(); ++index)
    if (policy.capabilities().contains(capabilityAt(index)))
      out << "class " << spelling(capabilityAt(index)) << '\n';
  for (const std::string& problem : policy.problems())
    out << "problem: " << problem << '\n';
  return text;
}

} // namespace gos
