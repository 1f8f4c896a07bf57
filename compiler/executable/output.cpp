#include "compiler/executable/output.h"

#include "sandbox/sys_error.h"
#include "stdlib/program/payload.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::executable {
namespace {

using llvm::StringRef;

constexpr StringRef kSourceEnding = ".gos", kManifest = "project.toml";
constexpr mode_t kExecutable = 0755; // less what the umask takes
constexpr size_t kCompareBlock = size_t(256) << 10;

class Finder {
public:
  Finder(const Project& project, Engine& engine) : project_(project), engine_(engine) {}

  std::optional<Place> find(StringRef operand, StringRef option) {
    struct stat status{};
    const std::string path = operand.str();
    const StringRef file = operand.substr(operand.rfind('/') + 1); // npos + 1 is 0
    const bool isFile =
        file != kManifest && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
    if (!option.empty())
      return ofCommandLine(option, isFile ? nameOfFile(file) : lastPart(project_.root()));
    return isFile ? ofFile(file) : ofProject();
  }

private:
  std::nullopt_t refuse(const std::string& why, StringRef help = {}) {
    Diagnostic& report = engine_.report(diag::OutputRefused, place_.shown, why);
    if (!help.empty())
      report.help(help.str());
    return std::nullopt;
  }
  std::nullopt_t refuse(const Refusal& refusal) { return refuse(refusal.why, refusal.help); }

  // ---- the three ways to name a place -----------------------------------------------------------

  std::optional<Place> ofCommandLine(StringRef option, const std::string& usualName) {
    if (const auto refusal = findPlace(option, usualName, place_))
      return refuse(*refusal);
    if (place_.standardOutput && ::isatty(STDOUT_FILENO))
      return refuse("it is a terminal", "name a file, or send it to one: `gos build -o - > FILE`");
    return place_.stream ? std::move(place_) : judge();
  }

  static std::string nameOfFile(StringRef file) {
    file.consume_back(kSourceEnding);
    return file.empty() ? "program" : file.str();
  }

  std::optional<Place> ofFile(StringRef file) {
    place_.name = place_.shown = place_.path = nameOfFile(file);
    place_.nameBy = ChosenBy::Project;
    place_.directory.reset(::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!place_.directory)
      return refuse(errnoText(errno));
    return judge();
  }

  std::optional<Place> ofProject() {
    const Package& package = project_.root();
    const bool named = package.manifest && package.manifest->output;
    std::string path = named ? package.manifest->output->value : lastPart(package);
    if (named && StringRef(path).ends_with("/"))
      path += lastPart(package);
    place_.nameBy = ChosenBy::Project;
    place_.shown = package.displayPrefix + path;
    place_.path = package.directory + "/" + path;
    place_.directory.reset(::open(package.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!place_.directory)
      return refuse(errnoText(errno));
    // Component by component, and through no link: the manifest's word reaches the package alone.
    llvm::SmallVector<StringRef, 8> parts;
    StringRef(path).split(parts, '/', -1, /*KeepEmpty=*/false);
    llvm::erase(parts, StringRef("."));
    if (parts.empty() || llvm::is_contained(parts, StringRef("..")))
      return refuse("it names no file beneath the package");
    for (StringRef part : parts) // before a directory is made
      if (part.starts_with("."))
        return refuseHidden(part);
    for (StringRef part : llvm::ArrayRef(parts).drop_back())
      if (!enter(part.str()))
        return std::nullopt;
    place_.name = parts.back().str();
    if (named && isDirectory(place_.name)) {
      if (!enter(place_.name))
        return std::nullopt;
      place_.name = lastPart(package);
      place_.shown += "/" + place_.name;
      place_.path += "/" + place_.name;
    }
    return judge();
  }

  bool isDirectory(const std::string& name) const {
    struct stat status{};
    return ::fstatat(place_.directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(status.st_mode);
  }

  static std::string lastPart(const Package& package) {
    const StringRef id = package.id;
    const StringRef last = id.rsplit('/').second;
    return last.empty() ? (id.empty() ? package.moduleName : id.str()) : last.str();
  }

  /// Steps into a directory beneath the package, which is made if it is missing.
  bool enter(const std::string& name) {
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    UniqueFd next(::openat(place_.directory.get(), name.c_str(), kFlags));
    if (!next && errno == ENOENT) {
      if (::mkdirat(place_.directory.get(), name.c_str(), 0777) != 0 && errno != EEXIST) {
        refuse("directory `" + name + "` cannot be made: " + errnoText(errno));
        return false;
      }
      next.reset(::openat(place_.directory.get(), name.c_str(), kFlags));
    }
    if (!next) {
      const bool link = errno == ELOOP || errno == ENOTDIR;
      refuse(link ? "`" + name + "` is a link or no directory" : errnoText(errno));
      return false;
    }
    place_.directory = std::move(next);
    return true;
  }

  // ---- what stands there ------------------------------------------------------------------------

  /// A hook of git, a configuration of a shell or an editor: others act on them unasked.
  std::nullopt_t refuseHidden(StringRef part) {
    return refuse("a project does not choose a hidden place, and `" + part.str() + "` is one",
                  "choose another name, or say that it may: `gos build -o " + place_.shown + "`");
  }

  std::optional<Place> judge() {
    const bool isProjects = place_.nameBy == ChosenBy::Project;
    if (isProjects && StringRef(place_.name).starts_with("."))
      return refuseHidden(place_.name);
    if (auto refusal = judgePlace(place_)) {
      if (!refusal->help.empty())
        refusal->help += ": `gos build -o FILE`";
      return refuse(*refusal);
    }
    if (!place_.exists)
      return std::move(place_);
    if (isEntry())
      return refuse("it is a source of this program", "choose another name: `gos build -o FILE`");
    if (isProjects && !wasBuilt())
      return refuse("`gos build` did not write the file that is there",
                    "say that it may be replaced: `gos build -o " + place_.shown + "`");
    return std::move(place_);
  }

  /// Sources without the ending can only be entries.
  bool isEntry() const {
    return llvm::any_of(project_.packages, [&](const Package& package) {
      struct stat entry{};
      return ::stat((package.directory + "/" + package.entry).c_str(), &entry) == 0 &&
             isPlace(place_, entry);
    });
  }

  bool wasBuilt() const {
    UniqueFd file(::openat(place_.directory.get(), place_.name.c_str(),
                           O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    return file && program::endsLikeProgram(file.get());
  }

  const Project& project_;
  Engine& engine_;
  Place place_;
};

// ---- writing ------------------------------------------------------------------------------------

/// Do the next bytes of the file equal these?
bool continuesWith(int fd, StringRef bytes) {
  std::string block(std::min(bytes.size(), kCompareBlock), '\0');
  while (!bytes.empty()) {
    const ssize_t got = retryInterrupted(
        [&] { return ::read(fd, block.data(), std::min(bytes.size(), block.size())); });
    if (got <= 0 || !bytes.starts_with(StringRef(block.data(), size_t(got))))
      return false;
    bytes = bytes.drop_front(size_t(got));
  }
  return true;
}

/// Is this very program there, and may it be executed?
bool isUpToDate(const Place& output, const Image& image) {
  UniqueFd file(::openat(output.directory.get(), output.name.c_str(),
                         O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  return file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
         uint64_t(status.st_size) == image.size() && (status.st_mode & S_IXUSR) != 0 &&
         continuesWith(file.get(), image.runtime) && continuesWith(file.get(), image.payload);
}

} // namespace

std::optional<Place> findOutput(const Project& project, llvm::StringRef operand,
                                llvm::StringRef option, Engine& engine) {
  return Finder(project, engine).find(operand, option);
}

Written writeOutput(const Place& output, const Image& image, Engine& engine) {
  if (!output.stream && output.exists) {
    if (isUpToDate(output, image))
      return Written::UpToDate;
    struct stat status{};
    if (::fstatat(output.directory.get(), output.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        isReadOnly(output.directory.get(), output.name, status)) {
      const Refusal refusal = readOnly(output.shown);
      engine.report(diag::OutputRefused, output.shown, refusal.why).help(refusal.help);
      return Written::No;
    }
  }
  const int error = writePlace(output, {image.runtime, image.payload}, kExecutable);
  if (error == 0)
    return Written::Yes;
  engine.report(diag::OutputRefused, output.shown, errnoText(error));
  return Written::No;
}

} // namespace gos::executable
