// gos clean: what building a project left, and nothing that somebody else made.

#include "compiler/bindings/cache.h"
#include "compiler/driver/command.h"
#include "compiler/executable/output.h"
#include "manifest/project.h"
#include "stdlib/program/payload.h"

#include "llvm/ADT/STLExtras.h"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

extern char** environ;

namespace gos::driver {
namespace {

using llvm::StringRef;

constexpr unsigned kDeepest = 200;

struct Removal {
  uint64_t files = 0, bytes = 0;
  int errorNumber = 0; // of the first that stayed
  // A tree that is too deep is taken apart: what lies deepest is moved to the top and comes later.
  int top = -1;
  uint64_t moves = 0;
  std::vector<std::string> moved;
};

std::string sizeWords(uint64_t bytes) {
  if (bytes < 1024)
    return std::to_string(bytes) + " bytes";
  if (bytes < (1 << 20))
    return std::to_string(bytes >> 10) + " KiB";
  return std::to_string(bytes >> 20) + " MiB";
}

std::vector<std::string> namesIn(int directory) {
  std::vector<std::string> names;
  const int copy = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = copy < 0 ? nullptr : ::fdopendir(copy);
  if (!stream) {
    if (copy >= 0)
      ::close(copy);
    return names;
  }
  while (const dirent* entry = ::readdir(stream))
    if (StringRef(entry->d_name) != "." && StringRef(entry->d_name) != "..")
      names.push_back(entry->d_name);
  ::closedir(stream);
  llvm::sort(names);
  return names;
}

/// Removes an entry and all beneath it. A build script wrote parts of it: a link is removed and
/// never followed, and each step goes through the descriptor of the directory above.
void removeTree(int parent, const std::string& name, unsigned depth, Removal& removal) {
  const auto note = [&] {
    if (removal.errorNumber == 0 && errno != ENOENT)
      removal.errorNumber = errno;
  };
  struct stat status;
  if (::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return note();
  if (!S_ISDIR(status.st_mode)) {
    if (::unlinkat(parent, name.c_str(), 0) != 0)
      return note();
    ++removal.files;
    if (S_ISREG(status.st_mode))
      removal.bytes += uint64_t(status.st_size);
    return;
  }
  if (depth > kDeepest) {
    const std::string place =
        ".deep." + std::to_string(::getpid()) + "." + std::to_string(++removal.moves);
    // To be moved it must be writable to its owner.
    if (removal.top < 0 ||
        ((status.st_mode & 0300) != 0300 && ::fchmodat(parent, name.c_str(), 0700, 0) != 0) ||
        ::renameat(parent, name.c_str(), removal.top, place.c_str()) != 0)
      return note();
    removal.moved.push_back(place);
    return;
  }
  UniqueFd here(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!here) {
    // What Cargo unpacks may be closed to its owner.
    if (errno != EACCES || ::fchmodat(parent, name.c_str(), 0700, 0) != 0)
      return note();
    here.reset(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!here)
      return note();
  }
  if ((status.st_mode & 0300) != 0300)
    (void)::fchmod(here.get(), 0700);
  for (const std::string& child : namesIn(here.get()))
    removeTree(here.get(), child, depth + 1, removal);
  if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0)
    note();
}

/// The directory of all builds of bindings of this user; not open if there is none or it is
/// another's.
UniqueFd openBuilds() {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry; ++entry)
    environment.push_back(*entry);
  const std::string root = bindings::cacheRoot(environment);
  if (root.empty())
    return UniqueFd();
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  UniqueFd base(::open(root.c_str(), kFlags));
  UniqueFd ours(base ? ::openat(base.get(), "gossamer", kFlags | O_NOFOLLOW) : -1);
  struct stat status;
  if (!ours || ::fstat(ours.get(), &status) != 0 || status.st_uid != ::geteuid())
    return UniqueFd();
  return UniqueFd(::openat(ours.get(), "bindings", kFlags | O_NOFOLLOW));
}

std::string readSmall(int directory, const std::string& name) {
  UniqueFd file(bindings::openBeneath(directory, name, O_RDONLY));
  std::string text(4096, '\0');
  const ssize_t count = file ? ::read(file.get(), text.data(), text.size()) : 0;
  text.resize(size_t(std::max<ssize_t>(count, 0)));
  return StringRef(text).rtrim('\n').str();
}

struct Clean {
  const Options& options;
  bool removedAny = false, failed = false;

  void say(const llvm::Twine& what, const Removal& removal) {
    if (removal.files != 0 || removal.errorNumber == 0) {
      llvm::outs() << "removed " << what << " (" << removal.files
                   << (removal.files == 1 ? " file, " : " files, ") << sizeWords(removal.bytes)
                   << ")\n";
      removedAny = true;
    }
    if (removal.errorNumber != 0) {
      llvm::errs() << "gos: error: cannot remove all of " << what << ": "
                   << systemWords(removal.errorNumber) << '\n';
      failed = true;
    }
  }

  /// The builds of bindings of one project, or of all (`directory` empty).
  void bindingsOf(StringRef directory) {
    const UniqueFd builds = openBuilds();
    if (!builds)
      return;
    for (const std::string& key : namesIn(builds.get())) {
      UniqueFd one(
          ::openat(builds.get(), key.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      const std::string project = one ? readSmall(one.get(), "project") : std::string();
      if (!directory.empty() && project != directory)
        continue;
      Removal removal;
      removal.top = builds.get();
      removeTree(builds.get(), key, 0, removal);
      while (!removal.moved.empty()) {
        const std::string next = std::move(removal.moved.back());
        removal.moved.pop_back();
        removeTree(builds.get(), next, 0, removal);
      }
      say("the Rust bindings of " + (project.empty() ? quoted(key) : quoted(project)), removal);
    }
  }

  void executableOf(const Project& project, StringRef operand, Engine& engine) {
    const auto output = executable::findOutput(project, operand, "", engine);
    if (!output || output->stream || !output->exists)
      return;
    struct stat status;
    UniqueFd file(::openat(output->directory.get(), output->name.c_str(),
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        !program::endsLikeProgram(file.get()))
      return;
    Removal removal;
    removeTree(output->directory.get(), output->name, 0, removal);
    say(quoted(output->shown), removal);
  }
};

} // namespace

int runClean(const Options& options) {
  Clean clean{options};
  if (options.cleanAll && !options.operands.empty()) {
    llvm::errs() << "gos: error: `--all` means every project; found also "
                 << quoted(options.operands.front()) << '\n';
    return kExitUsage;
  }
  if (options.cleanAll) {
    clean.bindingsOf("");
  } else {
    const std::string operand = options.operands.empty() ? "." : options.operands.front();
    SourceMap sources;
    Engine engine(sources);
    const std::optional<Project> project = loadProject(operand, sources, engine);
    if (project) {
      clean.executableOf(*project, operand, engine);
      if (!project->root().loneFile)
        clean.bindingsOf(project->root().directory);
    }
    printDiagnostics(engine, options);
    if (!project)
      return kExitDiagnostics;
  }
  if (!clean.removedAny && !clean.failed)
    llvm::outs() << "nothing to remove\n";
  return clean.failed ? kExitDiagnostics : kExitClean;
}

} // namespace gos::driver
