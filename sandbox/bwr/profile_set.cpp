#include "sandbox/bwr/profile_set.h"

#include "diagnostics/render.h"
#include "sandbox/command/command_policy.h"
#include "sandbox/policy/host/host_paths.h"
#include "sandbox/sys_error.h"
#include "sandbox/unique_fd.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::bwr {

using llvm::StringRef;

char ProfileError::ID = 0;
void ProfileError::log(llvm::raw_ostream& out) const {
  out << text_;
}
std::error_code ProfileError::convertToErrorCode() const {
  return std::make_error_code(std::errc::invalid_argument);
}

namespace {
constexpr size_t kMaxProfileBytes = 64 << 10;
constexpr size_t kMaxOwnProfiles = 256;

llvm::Error refused(std::string text, std::string remedy = {}) {
  return llvm::make_error<ProfileError>(ProfileError::Kind::Refused, std::move(text),
                                        std::move(remedy));
}

/// Why something that grants is not believed: somebody else could have written it.
std::string ownerProblem(const struct stat& status) {
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return "belongs to another user";
  if ((status.st_mode & S_IWOTH) != 0)
    return "is writable by everyone";
  // A group of one's own, which many systems give with umask 002, is one's own.
  if ((status.st_mode & S_IWGRP) != 0 && status.st_gid != ::getegid() && status.st_gid != 0)
    return "is writable by a group";
  return {};
}

/// Opens the directory of the user's profiles; invalid and without an error where there is none.
llvm::Expected<UniqueFd> openDirectory(const std::string& path) {
  UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) {
    if (errno == ENOENT || errno == EACCES)
      return UniqueFd();
    return refused(
        "profile directory `" + path + "` is not usable: " +
        (errno == ELOOP || errno == ENOTDIR ? "it is a link or no directory" : errnoText(errno)));
  }
  struct stat status{};
  if (::fstat(directory.get(), &status) != 0)
    return refused("profile directory `" + path + "` cannot be looked at");
  if (const std::string problem = ownerProblem(status); !problem.empty())
    return refused("profile directory `" + path + "` " + problem, "chmod go-w " + path);
  return directory;
}
} // namespace

std::string userProfileDirectory(llvm::ArrayRef<std::string> environment, StringRef home,
                                 StringRef workingDirectory) {
  std::string base;
  const char* moved = sandbox::environmentValue(environment, "XDG_CONFIG_HOME");
  if (moved != nullptr && *moved == '/')
    base = absoluteSpelling(moved);
  else if (isCanonicalPath(home) && home != "/")
    base = (home + "/.config").str();
  if (!isCanonicalPath(base))
    return {};
  std::string directory = base + "/bwr/profiles";
  // The parent may be a link; where it leads decides whose it is.
  const std::string real = realPathOf(directory);
  for (StringRef path : {StringRef(directory), StringRef(real)})
    if (!path.empty() && !workingDirectory.empty() && workingDirectory != home &&
        isAtOrBeneath(path, workingDirectory) && !isAtOrBeneath(home, workingDirectory))
      return {};
  return directory;
}

bool ProfileSet::isName(StringRef name) {
  return !name.empty() && name.size() <= 64 && name != "none" && name.front() != '.' &&
         name.front() != '-' && llvm::all_of(name, [](char c) {
           return llvm::isAlnum(c) || c == '.' || c == '_' || c == '+' || c == '-';
         });
}

std::vector<std::string> ProfileSet::ownNames() const {
  std::vector<std::string> names;
  DIR* listing = directory_.empty() ? nullptr : ::opendir(directory_.c_str());
  if (listing == nullptr)
    return names;
  while (const dirent* entry = ::readdir(listing)) {
    StringRef name = entry->d_name;
    if (name.consume_back(".toml") && isName(name) && names.size() != kMaxOwnProfiles)
      names.push_back(name.str());
  }
  ::closedir(listing);
  llvm::sort(names);
  return names;
}

llvm::Expected<std::string> ProfileSet::readOwn(StringRef name, bool& missing) const {
  missing = true;
  if (directory_.empty())
    return std::string();
  llvm::Expected<UniqueFd> directory = openDirectory(directory_);
  if (!directory)
    return directory.takeError();
  if (!*directory)
    return std::string();
  const std::string leaf = (name + ".toml").str(), path = directory_ + "/" + leaf;
  const UniqueFd file(::openat(directory->get(), leaf.c_str(),
                               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT)
      return std::string();
    if (errno == ELOOP)
      return refused("profile `" + path + "` is a symbolic link", "put the file itself there");
    return refused("profile `" + path + "` cannot be opened: " + errnoText(errno));
  }
  missing = false;
  struct stat status{};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return refused("profile `" + path + "` is not a regular file");
  if (const std::string problem = ownerProblem(status); !problem.empty())
    return refused("profile `" + path + "` " + problem, "chmod go-w " + path);
  std::string text;
  char buffer[16384];
  while (true) {
    const ssize_t got = retryInterrupted([&] { return ::read(file.get(), buffer, sizeof buffer); });
    if (got < 0)
      return refused("profile `" + path + "` cannot be read: " + errnoText(errno));
    if (got == 0)
      return text;
    text.append(buffer, size_t(got));
    if (text.size() > kMaxProfileBytes)
      return refused("profile `" + path + "` has more than 64 KiB");
  }
}

llvm::Expected<Profile> ProfileSet::parse(StringRef name, StringRef text, bool own) const {
  SourceMap sources;
  const std::string shown =
      own ? directory_ + "/" + name.str() + ".toml" : "profile " + name.str() + " of bwr";
  llvm::Expected<FileId> file = sources.addCopy(shown, text);
  if (!file)
    return file.takeError();
  Engine engine(sources);
  std::optional<Profile> profile = readProfile(name, *file, engine);
  if (profile) {
    profile->file = own ? shown : "";
    return std::move(*profile);
  }
  std::string rendered;
  llvm::raw_string_ostream out(rendered);
  renderAll(out, engine, MessageFormat::Text, Colour::Off);
  return llvm::make_error<ProfileError>(ProfileError::Kind::Broken,
                                        "profile `" + name.str() + "` is not valid",
                                        "mend `" + shown + "`", out.str());
}

llvm::Expected<std::string> ProfileSet::textOf(StringRef name) const {
  if (isName(name)) {
    bool missing = true;
    llvm::Expected<std::string> own = readOwn(name, missing);
    if (!own || !missing)
      return own;
    for (const ShippedProfile& shipped : shippedProfiles())
      if (shipped.name == name)
        return shipped.text.str();
  }
  std::vector<std::string> names = ownNames();
  for (const ShippedProfile& shipped : shippedProfiles())
    names.push_back(shipped.name.str());
  llvm::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<StringRef> words(names.begin(), names.end());
  const StringRef meant = nearest(name, words);
  return llvm::make_error<ProfileError>(
      ProfileError::Kind::Unknown,
      "no profile `" + name.str() + "`; there are " + llvm::join(names, ", ") + " and none",
      meant.empty() ? "bwr --list-profiles" : "bwr --profile " + meant.str());
}

llvm::Expected<Profile> ProfileSet::find(StringRef name) const {
  bool missing = true;
  if (isName(name)) {
    llvm::Expected<std::string> own = readOwn(name, missing);
    if (!own)
      return own.takeError();
    if (!missing)
      return parse(name, *own, true);
  }
  llvm::Expected<std::string> text = textOf(name);
  if (!text)
    return text.takeError();
  return parse(name, *text, false);
}

llvm::Expected<std::optional<Profile>> ProfileSet::forCommand(StringRef command) const {
  if (!isName(command))
    return std::nullopt;
  const auto holds = [&](const Profile& profile) {
    return llvm::is_contained(profile.commands, command);
  };
  for (const std::string& name : ownNames()) {
    bool missing = true;
    llvm::Expected<std::string> text = readOwn(name, missing);
    if (!text)
      return text.takeError();
    // Most are for another tool: what does not even spell the command is not read.
    if (missing || !StringRef(*text).contains(command))
      continue;
    llvm::Expected<Profile> profile = parse(name, *text, true);
    if (!profile)
      return profile.takeError();
    if (holds(*profile))
      return std::optional(std::move(*profile));
  }
  const std::string word = (" " + command + " ").str();
  for (const ShippedProfile& shipped : shippedProfiles()) {
    if (!shipped.commands.contains(word))
      continue;
    // The user's profile of that name takes its place, also where it leaves the command out.
    llvm::Expected<Profile> profile = find(shipped.name);
    if (!profile)
      return profile.takeError();
    if (!holds(*profile))
      return std::nullopt;
    return std::optional(std::move(*profile));
  }
  return std::nullopt;
}

std::vector<ProfileSet::Listed> ProfileSet::list() const {
  std::vector<Listed> listed;
  const std::vector<std::string> own = ownNames();
  const auto add = [&](const std::string& name, bool isOwn) {
    llvm::Expected<Profile> profile = find(name);
    if (profile)
      listed.push_back({name, profile->summary, isOwn, false});
    else
      listed.push_back({name, llvm::toString(profile.takeError()), isOwn, true});
  };
  for (const std::string& name : own)
    add(name, true);
  for (const ShippedProfile& shipped : shippedProfiles())
    if (!llvm::is_contained(own, shipped.name))
      add(shipped.name.str(), false);
  llvm::sort(listed, [](const Listed& a, const Listed& b) { return a.name < b.name; });
  return listed;
}

} // namespace gos::bwr
