// What the shipped command policy asks of this host. A start takes about a millisecond, so each
// question is one system call: existence by faccessat, links only where something is there.

#include "sandbox/command/command_policy.h"
#include "sandbox/command/host_denials.h"
#include "sandbox/policy/host/host_paths.h"
#include "sandbox/policy/presets.h"
#include "sandbox/unique_fd.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

extern char** environ;

namespace gos::sandbox {

// ---- directories
// ----------------------------------------------------------------------------------

bool exists(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

std::vector<std::string> namesIn(const std::string& directory, size_t limit,
                                 llvm::function_ref<bool(llvm::StringRef)> wanted) {
  std::vector<std::string> names;
  DIR* listing = ::opendir(directory.c_str());
  if (listing == nullptr)
    return names;
  while (const dirent* entry = ::readdir(listing)) {
    const llvm::StringRef name = entry->d_name;
    if (name != "." && name != ".." && wanted(name) && names.size() != limit)
      names.push_back(name.str());
  }
  ::closedir(listing);
  llvm::sort(names);
  return names;
}

// ---- paths that a user wrote --------------------------------------------------------------------

llvm::Expected<std::string> canonicalPath(llvm::StringRef written, bool& missing) {
  if (written.starts_with("/"))
    return canonicalPathIn("/", written, missing);
  char* cwd = ::getcwd(nullptr, 0);
  if (cwd == nullptr)
    return llvm::make_error<PolicyError>("path `" + written.str() +
                                             "` is relative, and the working directory was removed",
                                         "give an absolute path");
  const std::string directory = cwd;
  ::free(cwd);
  return canonicalPathIn(directory, written, missing);
}

llvm::Expected<std::string> canonicalPathIn(llvm::StringRef directory, llvm::StringRef written,
                                            bool& missing) {
  missing = false;
  const auto fail = [&](const std::string& problem, std::string remedy = {}) {
    return llvm::make_error<PolicyError>("path `" + written.str() + "` " + problem,
                                         std::move(remedy));
  };
  if (written.empty())
    return llvm::make_error<PolicyError>("the path is empty", "");
  if (written.contains('\0'))
    return fail("holds a NUL");
  std::string path =
      written.starts_with("/") ? written.str() : directory.str() + "/" + written.str();
  if (std::string real = realPathOf(path); !real.empty())
    return real;
  const int number = errno;
  if (number == ELOOP)
    return fail("is a circle of symbolic links");
  if (number == ENAMETOOLONG)
    return fail("is too long");
  if (number != ENOENT)
    return fail(number == EACCES    ? "cannot be looked up: permission denied"
                : number == ENOTDIR ? "leads through something that is not a directory"
                                    : "cannot be looked up");
  // The directory that exists, and what is missing beneath it.
  missing = true;
  std::string rest;
  while (true) {
    while (path.size() > 1 && path.back() == '/')
      path.pop_back();
    const size_t slash = path.rfind('/');
    const llvm::StringRef name = llvm::StringRef(path).substr(slash + 1);
    if (name == "..")
      return fail("holds `..` beneath what does not exist");
    if (!name.empty() && name != ".")
      rest = "/" + name.str() + rest;
    path.resize(slash == 0 ? 1 : slash);
    std::string real = realPathOf(path);
    if (!real.empty())
      return real == "/" ? rest : real + rest;
    if (errno != ENOENT || path == "/")
      return fail("cannot be looked up");
  }
}

// ---- denials
// ----------------------------------------------------------------------------------------

void addCredentials(const std::string& home, std::vector<std::string>& denials) {
  if (home == "/" || !isCanonicalPath(home))
    return;
  const UniqueFd directory(::open(home.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto add = [&](const char* name) {
    denials.push_back(home + "/" + name);
    // Paths are judged after links are resolved, so a link to where a dotfile manager keeps them
    // counts under both names. What is missing has no other name.
    if (!directory || ::faccessat(directory.get(), name, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
      return;
    std::string real = realPathOf(denials.back());
    if (!real.empty() && real != "/" && real != denials.back())
      denials.push_back(std::move(real));
  };
#define GOS_CREDENTIAL(path) add(path);
#include "sandbox/policy/credentials.def"
}

void addBothNames(llvm::StringRef path, std::vector<std::string>& denials) {
  const std::string spelled = absoluteSpelling(path);
  if (!isCanonicalPath(spelled) || spelled == "/")
    return;
  denials.push_back(spelled);
  std::string real = realPathOf(spelled);
  if (!real.empty() && real != "/" && real != spelled)
    denials.push_back(std::move(real));
}

std::vector<std::string> socketPathsOf(llvm::StringRef value) {
  // A path, or an address: `unix:path=/run/bus,guid=..;unix:abstract=..`, `unix:///run/x.sock`,
  // `/tmp/tmux-0/default,12,0`, `/run/agent:12:1`.
  std::vector<std::string> paths;
  for (llvm::StringRef address : llvm::split(value, ';')) {
    if (address.consume_front("unix://") || address.consume_front("unix:path=") ||
        address.consume_front("unix:dir=") || address.consume_front("unix:tmpdir=") ||
        address.starts_with("/")) {
      paths.push_back(address.str());
      for (const char end : {',', ':'})
        if (address.contains(end))
          paths.push_back(address.split(end).first.str());
    }
  }
  llvm::erase_if(paths,
                 [](const std::string& path) { return !llvm::StringRef(path).starts_with("/"); });
  return paths;
}

namespace {
void addRelocated(llvm::ArrayRef<std::string> environment, std::vector<std::string>& denials) {
  for (const Relocation& row : relocations()) {
    const char* value = environmentValue(environment, row.variable);
    if (value == nullptr)
      continue;
    // KUBECONFIG is a list; a path with a colon in it is denied in pieces, which hurts nobody.
    for (llvm::StringRef piece : llvm::split(llvm::StringRef(value), ':'))
      if (piece.starts_with("/"))
        addBothNames(row.suffix.empty() ? piece.str() : (piece + "/" + row.suffix).str(), denials);
  }
}

void addSockets(llvm::ArrayRef<std::string> environment, std::vector<std::string>& denials) {
#define GOS_DAEMON_SOCKET(path) denials.push_back(path);
#include "sandbox/policy/credentials.def"
  static constexpr llvm::StringRef kVariables[] = {
#define GOS_SOCKET_VARIABLE(variable) variable,
#include "sandbox/policy/credentials.def"
  };
  for (llvm::StringRef variable : kVariables) {
    const char* value = environmentValue(environment, variable);
    if (value == nullptr)
      continue;
    for (const std::string& path : socketPathsOf(value))
      // TMUX_TMPDIR=/tmp says what is so without it, and closes too much.
      if (path != "/tmp" && path != "/var/tmp" && path != "/dev/shm")
        addBothNames(path, denials);
  }
}

std::vector<std::string> existingBasePaths(llvm::ArrayRef<const char*> candidates) {
  std::vector<std::string> paths;
  for (const char* path : candidates)
    if (exists(path))
      paths.push_back(path);
  // A JVM does not start without its own: `/usr/lib/jvm/java-17-openjdk-amd64` has its settings in
  // `/etc/java-17-openjdk`, and all of them share `/etc/java`.
  const std::vector<std::string> machines =
      namesIn("/usr/lib/jvm", 64, [](llvm::StringRef each) { return each.starts_with("java-"); });
  llvm::StringSet<> tried;
  const auto add = [&](const std::string& path) {
    if (tried.insert(path).second && exists(path))
      paths.push_back(path);
  };
  if (!machines.empty())
    add("/etc/java");
  for (llvm::StringRef name : machines) {
    add(("/etc/" + name).str());
    add(("/etc/" + name.rsplit('-').first).str());
  }
  return paths;
}

/// The base view of this process: what a system consists of comes and goes with packages, so it is
/// looked for again when a directory that holds some of it has changed, and not for each run.
class BasePaths {
public:
  std::vector<std::string> get() {
    static constexpr const char* kPaths[] = {
#define GOS_BASE_PATH(path) path,
#include "sandbox/command/base_view.def"
    };
    const std::lock_guard lock(mutex_);
    if (directories_.empty()) {
      directories_.push_back("/usr/lib/jvm");
      for (llvm::StringRef path : kPaths) {
        // The kernel's own files stay; that they are mounted is seen at the top.
        const llvm::StringRef parent = path.starts_with("/sys/") ? "/sys" : path.rsplit('/').first;
        const std::string directory = parent.empty() ? "/" : parent.str();
        if (!llvm::is_contained(directories_, directory))
          directories_.push_back(directory);
      }
    }
    bool settled = true;
    std::vector<Seen> now;
    for (const std::string& directory : directories_)
      now.push_back(look(directory, settled));
    if (now != seen_) {
      paths_ = existingBasePaths(kPaths);
      // What changed just now may change again without a later time.
      seen_ = settled ? std::move(now) : std::vector<Seen>();
    }
    return paths_;
  }

private:
  using Seen = std::array<uint64_t, 6>;
  static Seen look(const std::string& directory, bool& settled) {
    struct stat status{};
    if (::stat(directory.c_str(), &status) != 0)
      return {};
    settled = settled && status.st_ctim.tv_sec + 1 < ::time(nullptr);
    return {uint64_t(status.st_dev),         uint64_t(status.st_ino),
            uint64_t(status.st_mtim.tv_sec), uint64_t(status.st_mtim.tv_nsec),
            uint64_t(status.st_ctim.tv_sec), uint64_t(status.st_ctim.tv_nsec)};
  }

  std::mutex mutex_;
  std::vector<std::string> directories_, paths_;
  std::vector<Seen> seen_; // empty: not looked yet
};
BasePaths& basePaths() {
  static BasePaths* const all = new BasePaths; // threads may outlive everything else
  return *all;
}
} // namespace

// ---- facts
// --------------------------------------------------------------------------------------------

const char* environmentValue(llvm::ArrayRef<std::string> environment, llvm::StringRef name) {
  for (const std::string& entry : environment)
    if (entry.size() > name.size() && entry[name.size()] == '=' &&
        llvm::StringRef(entry).starts_with(name))
      return entry.c_str() + name.size() + 1;
  return nullptr;
}

HostFacts hostFacts() {
  HostFacts facts;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    facts.environment.push_back(*entry);
  // getcwd answers "(unreachable)/.." outside of the root.
  if (char* cwd = ::getcwd(nullptr, 0)) {
    if (isCanonicalPath(cwd))
      facts.workingDirectory = cwd;
    ::free(cwd);
  }
  HomeDirectories homes = homeDirectories();
  facts.homes = std::move(homes.own);
  facts.everyHome = std::move(homes.everyone);
  for (const std::string& home : facts.homes)
    addCredentials(home, facts.denials);
  addRelocated(facts.environment, facts.denials);
  addSockets(facts.environment, facts.denials);
  llvm::sort(facts.denials);
  facts.denials.erase(std::unique(facts.denials.begin(), facts.denials.end()), facts.denials.end());
  facts.basePaths = basePaths().get();
  return facts;
}

} // namespace gos::sandbox
