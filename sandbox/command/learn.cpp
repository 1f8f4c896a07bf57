#include "sandbox/command/learn.h"

#include "diagnostics/escape.h"
#include "sandbox/command/command_policy.h"
#include "sandbox/command/report.h"
#include "sandbox/linux/path_walk.h"
#include "sandbox/sys_error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

#include <cstdio>
#include <fcntl.h>
#include <map>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::sandbox {

using llvm::StringRef;

namespace {

/// So many used entries of one directory are the directory.
constexpr size_t kSeveral = 4;

bool isUtf8(StringRef text) {
  const llvm::UTF8* begin = reinterpret_cast<const llvm::UTF8*>(text.data());
  return llvm::isLegalUTF8String(&begin, begin + text.size());
}

/// A text as a basic string of TOML; nothing in it acts on a terminal that shows the file. UTF-8.
std::string tomlString(StringRef text) {
  std::string out = "\"";
  for (size_t at = 0; at != text.size();) {
    const size_t size =
        std::min<size_t>(llvm::getNumBytesForUTF8(uint8_t(text[at])), text.size() - at);
    const StringRef character = text.substr(at, size);
    at += size;
    if (character == "\"" || character == "\\") {
      out += "\\" + character.str();
      continue;
    }
    if (character == "\n" || character == "\t") {
      out += character == "\n" ? "\\n" : "\\t";
      continue;
    }
    // What the one function that escapes for terminals would not leave as it is.
    if (character.size() == 1 ? (uint8_t(character[0]) >= 0x20 && character[0] != 0x7f)
                              : escapeForText(character) == character) {
      out += character.str();
      continue;
    }
    const llvm::UTF8* source = reinterpret_cast<const llvm::UTF8*>(character.data());
    llvm::UTF32 code = 0;
    (void)llvm::convertUTF8Sequence(&source, source + character.size(), &code,
                                    llvm::strictConversion);
    char escaped[16];
    std::snprintf(escaped, sizeof escaped, "\\U%08X", unsigned(code));
    out += escaped;
  }
  return out + "\"";
}

/// As a pattern of a profile, or none where a pattern cannot hold it.
std::optional<std::string> pattern(StringRef path, const LearnedNames& names) {
  if (!isUtf8(path) || path.contains("${"))
    return std::nullopt;
  const auto beneath = [&](const std::string& directory, StringRef word) {
    return word.str() + path.drop_front(directory.size()).str();
  };
  // Without markers a profile's project is the working directory.
  const bool isOwn = names.project.empty() || names.project == names.workdir;
  if (!names.workdir.empty() && names.workdir != "/" && isAtOrBeneath(path, names.workdir))
    return beneath(names.workdir, isOwn ? "${project}" : "${workdir}");
  if (!isOwn && names.project != "/" && isAtOrBeneath(path, names.project))
    return beneath(names.project, "${project}");
  if (!names.home.empty() && names.home != "/" && isAtOrBeneath(path, names.home))
    return beneath(names.home, "~");
  return path.str();
}

void appendList(std::string& out, StringRef key, llvm::ArrayRef<std::string> patterns) {
  if (patterns.empty())
    return;
  out += key.str() + " = [\n";
  for (const std::string& each : patterns)
    out += "  " + tomlString(each) + ",\n";
  out += "]\n";
}

llvm::Error fileError(const std::string& path, StringRef why, std::string remedy) {
  return llvm::make_error<PolicyError>("file `" + path + "` of `--learn` " + why.str(),
                                       std::move(remedy));
}

} // namespace

std::vector<UsedPath> collapsed(std::vector<UsedPath> used) {
  struct Kept {
    Access access;
    std::string grant;
  };
  std::map<std::string, Kept> kept;
  llvm::sort(used, [](const UsedPath& a, const UsedPath& b) { return a.path < b.path; });
  for (const UsedPath& each : used) {
    const std::string beneath = each.path + "/";
    const auto first =
        llvm::partition_point(used, [&](const UsedPath& other) { return other.path < beneath; });
    if (each.looked && first != used.end() && StringRef(first->path).starts_with(beneath))
      continue;
    auto [place, isNew] = kept.try_emplace(each.path, Kept{each.access, each.grant});
    if (!isNew && each.access == Access::ReadWrite)
      place->second.access = Access::ReadWrite;
  }
  // Each round makes paths shorter, so this ends. A directory stands before what lies beneath it in
  // the order of a round: it is grouped first, and comes back where its own entries become it.
  for (bool changed = true; changed;) {
    changed = false;
    std::map<std::pair<std::string, Access>, std::vector<std::string>> siblings;
    for (const auto& [path, how] : kept) {
      const StringRef parent = parentPath(path);
      if (path != how.grant && parent != "/" && isAtOrBeneath(parent, how.grant))
        siblings[{parent.str(), how.access}].push_back(path);
    }
    for (const auto& [directory, paths] : siblings) {
      if (paths.size() < kSeveral)
        continue;
      const std::string grant = kept.at(paths.front()).grant;
      for (const std::string& path : paths)
        kept.erase(path);
      auto [place, isNew] = kept.try_emplace(directory.first, Kept{directory.second, grant});
      if (!isNew && directory.second == Access::ReadWrite)
        place->second.access = Access::ReadWrite;
      changed = true;
    }
  }
  std::vector<UsedPath> out;
  for (const auto& [path, how] : kept) {
    bool covered = false;
    for (StringRef above = path; above != "/" && !covered;) {
      above = parentPath(above);
      const auto found = kept.find(above.str());
      covered = found != kept.end() && found->second.access >= how.access;
    }
    if (!covered)
      out.push_back({path, how.access, how.grant});
  }
  return out;
}

std::string learnedProfile(const Learned& learned, const LearnedNames& names,
                           std::vector<std::string>& notes) {
  std::vector<std::string> readOnly, readWrite, unwritten;
  for (const UsedPath& each : collapsed(learned.used)) {
    std::optional<std::string> text = pattern(each.path, names);
    if (text)
      (each.access == Access::ReadWrite ? readWrite : readOnly).push_back(std::move(*text));
    else
      unwritten.push_back(gos::spelling(each.access).str() + " " + each.path);
  }
  // Not its arguments: they may hold what nobody wants in a file.
  const std::string tool = names.command.empty() ? "" : names.command.front();
  const StringRef toolName = StringRef(tool).substr(StringRef(tool).rfind('/') + 1);
  const std::string shownName = isUtf8(toolName) ? toolName.str() : escapeForText(toolName);
  const std::string shownTool = "`" + escapeForText(toolName) + "`";

  std::string out = "# What a run of " + shownTool +
                    " used.\n#\n# Nothing of it counts yet. Read it, save it as "
                    "~/.config/bwr/profiles/NAME.toml, and use it with\n# bwr --profile NAME.\n";
  out += "summary = " + tomlString("learned from a run of " + shownTool) + "\n";
  out += "# With this line the profile is also chosen by the command's name:\n# commands = [" +
         escapeForText(tomlString(shownName)) + "]\n";
  if (!names.projectMarkers.empty()) {
    out += "project = [";
    for (const std::string& marker : names.projectMarkers)
      out += (&marker == &names.projectMarkers.front() ? "" : ", ") + tomlString(marker);
    out += "]\n";
  }
  out += "\n[phase.build]\n";
  if (learned.network != NetworkMode::None)
    out += "# The network is never granted by a profile: bwr --network " +
           gos::spelling(learned.network).str() + "\nnetwork = \"" +
           gos::spelling(learned.network).str() + "\"\n";
  if (!names.workdir.empty())
    out += std::string("project = \"") + (learned.workdirWritten ? "read-write" : "read-only") +
           "\"\n";
  appendList(out, "read_only", readOnly);
  appendList(out, "read_write", readWrite);
  if (!unwritten.empty()) {
    out += "\n# A profile cannot hold these names; grant them on the command line:\n";
    for (const std::string& each : unwritten)
      out += "#   " + escapeForText(each) + "\n";
    notes.push_back(
        "a profile cannot hold every name that was used; comments in it have the others: " +
        std::to_string(unwritten.size()));
  }
  if (!learned.refused.empty()) {
    out += "\n# Refused in this run, so not granted here; add what the command really needs:\n";
    for (const std::string& flag : learned.refused)
      out += "#   " + escapeForText(flag) + "\n";
    notes.push_back("what was refused is not granted by the profile; comments in it: " +
                    std::to_string(learned.refused.size()));
  }
  if (learned.forgotten != 0)
    notes.push_back("the run used more paths than are kept; the profile may lack some");
  return out;
}

llvm::Expected<LearnedFile> LearnedFile::create(llvm::StringRef path) {
  LearnedFile file;
  file.path_ = path.str();
  const size_t slash = path.rfind('/');
  file.name_ = path.substr(slash + 1).str();
  if (file.name_.empty() || file.name_ == "." || file.name_ == ".." || path.contains('\0'))
    return fileError(file.path_, "is not the name of a file", "--learn FILE.toml");
  const std::string directory = slash == StringRef::npos ? "."
                                : slash == 0             ? "/"
                                                         : path.take_front(slash).str();
  file.directory_ = UniqueFd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file.directory_)
    return fileError(file.path_, "cannot be written: " + errnoText(errno),
                     "--learn FILE in a directory that exists");
  struct stat status{};
  if (::fstatat(file.directory_.get(), file.name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
    return fileError(file.path_, "exists, and is not overwritten",
                     "another name, or remove it first");
  if (::faccessat(file.directory_.get(), ".", W_OK, AT_EACCESS) != 0)
    return fileError(file.path_, "cannot be written: " + errnoText(errno),
                     "--learn FILE in a directory of yours");
  return file;
}

llvm::Error LearnedFile::write(llvm::StringRef text) const {
  uint8_t random[8];
  if (::getrandom(random, sizeof random, 0) != ssize_t(sizeof random))
    return sysError("write", path_, errno);
  const std::string temporary = ".learn-" + llvm::toHex(llvm::ArrayRef(random), /*LowerCase=*/true);
  const auto failed = [&](int error) {
    ::unlinkat(directory_.get(), temporary.c_str(), 0);
    if (error == EEXIST)
      return fileError(path_, "was made by the run, and is not overwritten", "another name");
    return fileError(path_, "cannot be written: " + errnoText(error), {});
  };
  UniqueFd file(::openat(directory_.get(), temporary.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file)
    return failed(errno);
  while (!text.empty()) {
    const ssize_t wrote =
        retryInterrupted([&] { return ::write(file.get(), text.data(), text.size()); });
    if (wrote <= 0)
      return failed(wrote == 0 ? ENOSPC : errno);
    text = text.drop_front(size_t(wrote));
  }
  // A link and not a rename: it never takes the place of what is there.
  if (::linkat(directory_.get(), temporary.c_str(), directory_.get(), name_.c_str(), 0) != 0)
    return failed(errno);
  ::unlinkat(directory_.get(), temporary.c_str(), 0);
  return llvm::Error::success();
}

} // namespace gos::sandbox
