#include "manifest/package_root.h"

#include "manifest/source_file.h"
#include "manifest/toml_reader.h"
#include "sandbox/policy/host/host_paths.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cerrno>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gos {

namespace {
/// Nobody writes more, and a parser's tree is many times its text.
constexpr uint64_t kMaxManifest = uint64_t(1) << 20;
constexpr size_t kMaxMembers = 4096;

std::string under(const std::string& directory, llvm::StringRef name) {
  return directory == "/" ? "/" + name.str() : directory + "/" + name.str();
}

std::string parentOf(const std::string& directory) {
  if (directory == "/")
    return {};
  const size_t slash = directory.rfind('/');
  return slash == 0 ? "/" : directory.substr(0, slash);
}

/// One component against a pattern of literals, `*` and `?`.
bool matchesComponent(llvm::StringRef pattern, llvm::StringRef name) {
  size_t p = 0, n = 0, star = llvm::StringRef::npos, mark = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] != '*' && pattern[p] == name[n]))) {
      ++p;
      ++n;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = n;
    } else if (star != llvm::StringRef::npos) {
      p = star + 1;
      n = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

llvm::SmallVector<llvm::StringRef, 8> componentsOf(llvm::StringRef path) {
  llvm::SmallVector<llvm::StringRef, 8> components;
  for (llvm::StringRef component : llvm::split(path, '/'))
    if (!component.empty() && component != ".")
      components.push_back(component);
  return components;
}

/// Walks a member pattern through the workspace and complains about what leads out of it.
class MemberCheck {
public:
  MemberCheck(const std::string& workspace, const Spanned<std::string>& member, Engine& engine)
      : workspace_(workspace), member_(member), engine_(engine) {}

  bool run() {
    const auto components = componentsOf(member_.value);
    const bool allLiteral = member_.value.find_first_of("*?") == std::string::npos;
    std::vector<std::string> current = {""};
    for (llvm::StringRef pattern : components) {
      std::vector<std::string> next;
      const bool literal = pattern.find_first_of("*?") == llvm::StringRef::npos;
      for (const std::string& directory : current) {
        if (literal)
          next.push_back(join(directory, pattern));
        else
          expand(directory, pattern, next);
      }
      if (next.size() > kMaxMembers)
        return complain("it matches too many directories");
      for (const std::string& path : next)
        if (!check(path, allLiteral))
          return false;
      llvm::erase_if(next, [&](const std::string& path) { return !isDirectory(path); });
      current = std::move(next);
    }
    return true;
  }

private:
  static std::string join(const std::string& directory, llvm::StringRef name) {
    return directory.empty() ? name.str() : directory + "/" + name.str();
  }
  bool isDirectory(const std::string& path) const {
    struct stat status{};
    return ::stat(under(workspace_, path).c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  }
  void expand(const std::string& directory, llvm::StringRef pattern,
              std::vector<std::string>& into) const {
    DIR* stream = ::opendir(under(workspace_, directory.empty() ? "." : directory).c_str());
    if (stream == nullptr)
      return;
    while (const struct dirent* entry = ::readdir(stream)) {
      const llvm::StringRef name = entry->d_name;
      if (!name.starts_with(".") && matchesComponent(pattern, name) && into.size() <= kMaxMembers)
        into.push_back(join(directory, name));
    }
    ::closedir(stream);
    llvm::sort(into);
  }
  bool check(const std::string& path, bool literal) {
    const InsidePath inside = resolveInside(workspace_, path);
    if (inside.kind == InsidePath::Kind::Outside)
      return complain("link `" + inside.link + "` leads outside the workspace");
    if (literal && !isDirectory(path))
      return complain("it is not a directory");
    return true;
  }
  bool complain(const std::string& what) {
    engine_.report(member_.span, diag::WorkspaceMember, member_.value, what);
    return false;
  }

  const std::string& workspace_;
  const Spanned<std::string>& member_;
  Engine& engine_;
};
} // namespace

// ---- how paths are shown ------------------------------------------------------------------------

Display::Display(bool relative) {
  if (relative)
    cwd_ = realPathOf(".");
}

std::string Display::prefixOf(const std::string& directory) const {
  const std::string absolute = directory == "/" ? "/" : directory + "/";
  if (cwd_.empty())
    return absolute;
  const auto from = componentsOf(cwd_), to = componentsOf(directory);
  size_t common = 0;
  while (common < from.size() && common < to.size() && from[common] == to[common])
    ++common;
  if (common == 0 && !from.empty())
    return absolute; // nothing in common: "../../../.." helps nobody
  std::string prefix;
  for (size_t index = common; index != from.size(); ++index)
    prefix += "../";
  for (size_t index = common; index != to.size(); ++index)
    prefix += to[index].str() + "/";
  return prefix;
}

// ---- manifests ----------------------------------------------------------------------------------

bool ManifestStore::exists(const std::string& directory) {
  struct stat status{};
  return ::lstat(under(directory, kManifestName).c_str(), &status) == 0;
}

std::optional<FileId> ManifestStore::text(const std::string& directory) {
  if (auto known = texts_.find(directory); known != texts_.end())
    return known->second;
  const std::string shown = display_.prefixOf(directory) + kManifestName.str();
  SourceText text = readBeneath(directory, kManifestName, kMaxManifest);
  if (text.problem == SourceProblem::Outside) {
    engine_.report(diag::LinkedManifest, shown, text.linkText.empty() ? ".." : text.linkText);
    return std::nullopt;
  }
  if (text.problem != SourceProblem::None) {
    reportProblem(text, shown, kMaxManifest, engine_, {});
    return std::nullopt;
  }
  auto file = sources_.add(shown, std::move(text.buffer));
  if (!file) {
    llvm::consumeError(file.takeError());
    engine_.report(diag::SourcesTooLarge, size_t(UINT32_MAX));
    return std::nullopt;
  }
  const SourceFile& source = sources_.file(*file);
  if (const size_t at = findInvalidUtf8(source.content()); at != source.size()) {
    engine_.report(Span{uint32_t(source.base + at), uint32_t(source.base + at + 1)}, diag::NotUtf8,
                   shown, at);
    return std::nullopt;
  }
  texts_[directory] = *file;
  return *file;
}

std::optional<Manifest> ManifestStore::manifest(const std::string& directory) {
  std::optional<FileId> file = text(directory);
  if (!file)
    return std::nullopt;
  return readManifest(*file, engine_);
}

bool ManifestStore::workspace(const std::string& directory, std::optional<Manifest>& found) {
  if (auto known = workspaces_.find(directory); known != workspaces_.end()) {
    found = known->second;
    return true;
  }
  found.reset();
  std::optional<FileId> file = text(directory);
  if (!file)
    return false;
  std::optional<TomlValue> top = readToml(*file, engine_);
  if (!top)
    return false;
  if (top->find("workspace")) {
    found = readManifest(*file, engine_);
    if (!found)
      return false;
    for (const Spanned<std::string>& member : *found->workspaceMembers)
      if (!MemberCheck(directory, member, engine_).run())
        return false;
  }
  workspaces_[directory] = found;
  return true;
}

std::string nearestManifestDirectory(const std::string& directory, int& errorNumber) {
  errorNumber = 0;
  for (std::string at = directory; !at.empty(); at = parentOf(at)) {
    if (ManifestStore::exists(at)) {
      if (!isSharedTemp(at))
        return at;
    } else if (errno != ENOENT && errno != ENOTDIR) {
      errorNumber = errno;
      return {};
    }
  }
  return {};
}

// ---- workspaces ---------------------------------------------------------------------------------

bool matchesMember(llvm::StringRef pattern, llvm::StringRef path) {
  const auto patterns = componentsOf(pattern), components = componentsOf(path);
  if (patterns.size() != components.size())
    return false;
  for (size_t index = 0; index != patterns.size(); ++index)
    if (!matchesComponent(patterns[index], components[index]))
      return false;
  return true;
}

bool applyWorkspaces(Package& package, ManifestStore& store, Engine& engine) {
  auto listing = [](const Manifest& workspace,
                    llvm::StringRef path) -> const Spanned<std::string>* {
    for (const Spanned<std::string>& member : *workspace.workspaceMembers)
      if (matchesMember(member.value, path))
        return &member;
    return nullptr;
  };
  auto pathBelow = [](const std::string& directory, const std::string& above) {
    return directory.substr(above == "/" ? 1 : above.size() + 1);
  };

  for (std::string above = parentOf(package.directory); !above.empty(); above = parentOf(above)) {
    if (!ManifestStore::exists(above) || isSharedTemp(above))
      continue;
    std::optional<Manifest> workspace;
    if (!store.workspace(above, workspace))
      return false;
    if (!workspace || !listing(*workspace, pathBelow(package.directory, above)))
      continue;
    if (workspace->comptimeIo && workspace->comptimeIo->value < package.level) {
      package.level = workspace->comptimeIo->value;
      package.levelOrigin = LevelOrigin::Manifest;
      package.levelSpan = workspace->comptimeIo->span;
    }
    if (workspace->sandbox)
      package.sandboxFloor = stricter(package.sandboxFloor, workspace->sandbox->value);
  }

  // A member that was reached through a link leaves its workspace, and would leave its level too.
  if (package.spelling.empty() || package.spelling == package.directory)
    return true;
  for (std::string above = parentOf(package.spelling); !above.empty(); above = parentOf(above)) {
    const std::string real = realPathOf(above);
    if (real.empty() || isAtOrBeneath(package.directory, real) || !ManifestStore::exists(real) ||
        isSharedTemp(real))
      continue;
    std::optional<Manifest> workspace;
    if (!store.workspace(real, workspace))
      return false;
    const std::string path = pathBelow(package.spelling, above);
    if (const Spanned<std::string>* member = workspace ? listing(*workspace, path) : nullptr) {
      engine.report(member->span, diag::WorkspaceMember, path,
                    "a link leads outside the workspace");
      return false;
    }
  }
  return true;
}

} // namespace gos
