#include "compiler/executable/output.h"

#include "sandbox/sys_error.h"
#include "stdlib/program/payload.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::executable {
namespace {

using llvm::StringRef;

constexpr StringRef kSourceEnding = ".gos", kManifest = "project.toml";
constexpr mode_t kExecutable = 0755; // less what the umask takes
constexpr size_t kCompareBlock = size_t(256) << 10;

/// Who chose a place.
enum class ChosenBy : uint8_t { CommandLine, Project };

class Finder {
public:
  Finder(const Project& project, Engine& engine) : project_(project), engine_(engine) {}

  std::optional<Output> find(StringRef operand, StringRef option) {
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
    Diagnostic& report = engine_.report(diag::OutputRefused, output_.shown, why);
    if (!help.empty())
      report.help(help.str());
    return std::nullopt;
  }

  // ---- the three ways to name a place -----------------------------------------------------------

  std::optional<Output> ofCommandLine(StringRef option, const std::string& usualName) {
    output_.shown = option.str();
    if (option.contains('\0'))
      return refuse("there is a NUL byte in its name");
    if (option == "-") {
      output_.shown = "standard output";
      if (::isatty(STDOUT_FILENO))
        return refuse("it is a terminal",
                      "name a file, or send it to one: `gos build -o - > FILE`");
      output_.stream = output_.standardOutput = output_.exists = true;
      return std::move(output_);
    }
    struct stat status{};
    std::string path = option.str();
    if (option.ends_with("/") || (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))) {
      path += (option.ends_with("/") ? "" : "/") + usualName;
      output_.shown = path;
    }
    if (::stat(path.c_str(), &status) == 0) {
      if (S_ISDIR(status.st_mode))
        return refuse("it is a directory", "name a file in it");
      if (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode)) {
        output_.stream = output_.exists = true;
        return std::move(output_);
      }
      // A link is followed by hand, so that what it means is replaced and not the link.
      struct stat own{};
      if (::lstat(path.c_str(), &own) == 0 && S_ISLNK(own.st_mode)) {
        char* real = ::realpath(path.c_str(), nullptr);
        if (!real)
          return refuse(errnoText(errno));
        path = real;
        ::free(real);
      }
    } else if (::lstat(path.c_str(), &status) == 0) {
      return refuse("it is a link that leads nowhere");
    }
    const StringRef whole = path;
    const size_t slash = whole.rfind('/');
    const std::string parent = slash == StringRef::npos ? "."
                               : slash == 0             ? "/"
                                                        : whole.take_front(slash).str();
    output_.name = (slash == StringRef::npos ? whole : whole.drop_front(slash + 1)).str();
    if (output_.name.empty())
      return refuse("it is the name of a directory", "name a file in it");
    output_.directory.reset(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!output_.directory)
      return refuse(errnoText(errno), errno == ENOENT ? "make its directory first" : "");
    return judge(ChosenBy::CommandLine);
  }

  static std::string nameOfFile(StringRef file) {
    file.consume_back(kSourceEnding);
    return file.empty() ? "program" : file.str();
  }

  std::optional<Output> ofFile(StringRef file) {
    output_.name = output_.shown = nameOfFile(file);
    output_.directory.reset(::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!output_.directory)
      return refuse(errnoText(errno));
    return judge(ChosenBy::Project);
  }

  std::optional<Output> ofProject() {
    const Package& package = project_.root();
    const bool named = package.manifest && package.manifest->output;
    const std::string path = named ? package.manifest->output->value : lastPart(package);
    output_.shown = package.displayPrefix + path;
    output_.directory.reset(::open(package.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!output_.directory)
      return refuse(errnoText(errno));
    // Component by component, and through no link: the manifest's word reaches the package alone.
    llvm::SmallVector<StringRef, 8> parts;
    StringRef(path).split(parts, '/', -1, /*KeepEmpty=*/false);
    llvm::erase(parts, StringRef("."));
    if (parts.empty() || llvm::is_contained(parts, StringRef("..")))
      return refuse("it names no file beneath the package");
    // A hook of git, a configuration of an editor: others act on them unasked.
    for (StringRef part : parts)
      if (part.starts_with("."))
        return refuse("a project does not choose a hidden place, and `" + part.str() + "` is one",
                      "choose another name, or say that it may: `gos build -o " + output_.shown +
                          "`");
    for (StringRef part : llvm::ArrayRef(parts).drop_back())
      if (!enter(part.str()))
        return std::nullopt;
    output_.name = parts.back().str();
    const bool isNamedDirectory = StringRef(path).ends_with("/");
    if (named && (isNamedDirectory || isDirectory(output_.name))) {
      if (!enter(output_.name))
        return std::nullopt;
      output_.name = lastPart(package);
      output_.shown += (isNamedDirectory ? "" : "/") + output_.name;
    }
    return judge(ChosenBy::Project);
  }

  bool isDirectory(const std::string& name) const {
    struct stat status{};
    return ::fstatat(output_.directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
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
    UniqueFd next(::openat(output_.directory.get(), name.c_str(), kFlags));
    if (!next && errno == ENOENT) {
      if (::mkdirat(output_.directory.get(), name.c_str(), 0777) != 0 && errno != EEXIST) {
        refuse("directory `" + name + "` cannot be made: " + errnoText(errno));
        return false;
      }
      next.reset(::openat(output_.directory.get(), name.c_str(), kFlags));
    }
    if (!next) {
      const bool link = errno == ELOOP || errno == ENOTDIR;
      refuse(link ? "`" + name + "` is a link or no directory" : errnoText(errno));
      return false;
    }
    output_.directory = std::move(next);
    return true;
  }

  // ---- what stands there ------------------------------------------------------------------------

  std::optional<Output> judge(ChosenBy by) {
    const StringRef name = output_.name;
    if (name == kManifest)
      return refuse("it has the name of a manifest");
    if (name.ends_with(kSourceEnding))
      return refuse("it has the name of a source");
    struct stat status{};
    if (::fstatat(output_.directory.get(), output_.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) !=
        0) {
      if (errno != ENOENT)
        return refuse(errnoText(errno));
      return std::move(output_);
    }
    output_.exists = true;
    if (S_ISDIR(status.st_mode))
      return refuse("it is a directory", "choose another name: `gos build -o FILE`");
    if (!S_ISREG(status.st_mode))
      return refuse(S_ISLNK(status.st_mode) ? "it is a link" : "it is not a regular file");
    if (isEntry(status))
      return refuse("it is a source of this program", "choose another name: `gos build -o FILE`");
    if (by == ChosenBy::Project && !wasBuilt())
      return refuse("`gos build` did not write the file that is there",
                    "say that it may be replaced: `gos build -o " + output_.shown + "`");
    return std::move(output_);
  }

  /// Sources without the ending can only be entries.
  bool isEntry(const struct stat& status) const {
    return llvm::any_of(project_.packages, [&](const Package& package) {
      struct stat entry{};
      return ::stat((package.directory + "/" + package.entry).c_str(), &entry) == 0 &&
             entry.st_dev == status.st_dev && entry.st_ino == status.st_ino;
    });
  }

  bool wasBuilt() const {
    UniqueFd file(::openat(output_.directory.get(), output_.name.c_str(),
                           O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    return file && program::endsLikeProgram(file.get());
  }

  const Project& project_;
  Engine& engine_;
  Output output_;
};

// ---- writing ------------------------------------------------------------------------------------

/// 0, or the number of the error.
int writeFully(int fd, StringRef bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = retryInterrupted([&] { return ::write(fd, bytes.data(), bytes.size()); });
    if (wrote <= 0)
      return wrote == 0 ? EIO : errno;
    bytes = bytes.drop_front(size_t(wrote));
  }
  return 0;
}

int writeImage(int fd, const Image& image) {
  const int error = writeFully(fd, image.runtime);
  return error ? error : writeFully(fd, image.payload);
}

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
bool isUpToDate(const Output& output, const Image& image) {
  UniqueFd file(::openat(output.directory.get(), output.name.c_str(),
                         O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  return file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
         uint64_t(status.st_size) == image.size() && (status.st_mode & S_IXUSR) != 0 &&
         continuesWith(file.get(), image.runtime) && continuesWith(file.get(), image.payload);
}

/// A new file in the directory of the output: without a name where the file system can, so that an
/// interrupted build leaves nothing behind.
class NewFile {
public:
  explicit NewFile(const Output& output) : output_(output) {
    fd_.reset(::openat(directory(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, kExecutable));
    if (!fd_)
      openNamed();
  }
  ~NewFile() {
    if (!name_.empty())
      ::unlinkat(directory(), name_.c_str(), 0);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  int fd() const { return fd_.get(); }

  /// 0, or the number of the error.
  int publish() {
    if (name_.empty() && !giveName()) {
      // Without a /proc a file cannot be given a name later: the bytes go to one that has it.
      return ENOTSUP;
    }
    if (::renameat(directory(), name_.c_str(), directory(), output_.name.c_str()) != 0)
      return errno;
    name_.clear();
    return 0;
  }
  /// Starts again with a file that has a name from the first.
  bool openNamed() {
    fd_.reset();
    forEachName([&](const std::string& name) {
      fd_.reset(::openat(directory(), name.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kExecutable));
      return bool(fd_);
    });
    return bool(fd_);
  }

private:
  int directory() const { return output_.directory.get(); }

  bool giveName() {
    const std::string link = "/proc/self/fd/" + std::to_string(fd_.get());
    return forEachName([&](const std::string& name) {
      return ::linkat(AT_FDCWD, link.c_str(), directory(), name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    });
  }
  /// Names that nobody else is likely to use, until one is free.
  template <class Try> bool forEachName(Try attempt) {
    for (unsigned number = 0; number != 100; ++number) {
      const std::string name =
          ".gos-build." + std::to_string(::getpid()) + "." + std::to_string(number);
      if (attempt(name)) {
        name_ = name;
        return true;
      }
      if (errno != EEXIST)
        return false;
    }
    return false;
  }

  const Output& output_;
  UniqueFd fd_;
  std::string name_; // empty while the file has none
};

} // namespace

std::optional<Output> findOutput(const Project& project, llvm::StringRef operand,
                                 llvm::StringRef option, Engine& engine) {
  return Finder(project, engine).find(operand, option);
}

Written writeOutput(const Output& output, const Image& image, Engine& engine) {
  const auto refuse = [&](int number) {
    engine.report(diag::OutputRefused, output.shown, errnoText(number));
    return Written::No;
  };
  if (output.stream) {
    UniqueFd stream(output.standardOutput
                        ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                        : ::open(output.shown.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!stream)
      return refuse(errno);
    const int error = writeImage(stream.get(), image);
    return error ? refuse(error) : Written::Yes;
  }
  if (output.exists && isUpToDate(output, image))
    return Written::UpToDate;
  NewFile file(output);
  if (file.fd() < 0)
    return refuse(errno);
  int error = writeImage(file.fd(), image);
  if (!error)
    error = file.publish();
  if (error == ENOTSUP) {
    if (!file.openNamed())
      return refuse(errno);
    error = writeImage(file.fd(), image);
    if (!error)
      error = file.publish();
  }
  return error ? refuse(error) : Written::Yes;
}

} // namespace gos::executable
