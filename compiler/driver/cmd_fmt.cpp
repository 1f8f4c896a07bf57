// gos fmt: lays out source files, or says which are not.

#include "compiler/driver/command.h"
#include "compiler/format/format.h"
#include "compiler/parse/parse.h"
#include "diagnostics/escape.h"
#include "manifest/package_root.h"
#include "sandbox/unique_fd.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

namespace gos::driver {
namespace {

using llvm::StringRef;

constexpr unsigned kDeepestDirectory = 64;
constexpr unsigned kTemporaryNames = 16;

struct FormatRun {
  const Options& options;
  size_t seen = 0, changed = 0;
  bool failed = false;

  void error(const llvm::Twine& text) {
    llvm::errs() << "gos: error: " << text << '\n';
    failed = true;
  }
  void cannot(StringRef act, StringRef path, int number) {
    error("cannot " + act + " " + quoted(path) + ": " + systemWords(number));
  }
};

std::optional<std::string> readAll(int fd) {
  std::string text;
  char buffer[64 << 10];
  for (;;) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count == 0)
      return text;
    if (count < 0) {
      if (errno == EINTR)
        continue;
      return std::nullopt;
    }
    text.append(buffer, size_t(count));
  }
}

bool writeAll(int fd, StringRef text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0) {
      if (errno == EINTR)
        continue;
      return false;
    }
    text = text.drop_front(size_t(count));
  }
  return true;
}

/// Puts a text in the place of a file in one step: a reader sees the old one or the new one. False
/// with errno set; then the old one is whole. ESTALE: somebody else wrote the file meanwhile.
bool replaceFile(const std::string& path, StringRef text, const struct stat& before) {
  const StringRef directory = llvm::sys::path::parent_path(path);
  UniqueFd fd;
  std::string temporary;
  for (unsigned i = 0; i < kTemporaryNames && !fd; ++i) {
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != ssize_t(sizeof number))
      return false;
    temporary = (directory.empty() ? std::string(".") : directory.str()) + "/.gos-fmt-" +
                llvm::utohexstr(number, true);
    fd.reset(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd && errno != EEXIST)
      return false;
  }
  if (!fd)
    return false;
  const auto giveUp = [&](int number) {
    ::unlink(temporary.c_str());
    errno = number;
    return false;
  };
  // Who may read the file stays as it was; an owner that cannot be given away is no reason to stop.
  if (::fchown(fd.get(), before.st_uid, before.st_gid) != 0 && errno != EPERM)
    return giveUp(errno);
  if (!writeAll(fd.get(), text) || ::fchmod(fd.get(), before.st_mode & 07777) != 0 ||
      ::fsync(fd.get()) != 0)
    return giveUp(errno);
  struct stat now;
  if (::lstat(path.c_str(), &now) != 0)
    return giveUp(errno);
  if (now.st_dev != before.st_dev || now.st_ino != before.st_ino || now.st_size != before.st_size ||
      now.st_mtim.tv_sec != before.st_mtim.tv_sec || now.st_mtim.tv_nsec != before.st_mtim.tv_nsec)
    return giveUp(ESTALE);
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return giveUp(errno);
  return true;
}

/// Renders what keeps a text from being a program.
void printSyntaxErrors(StringRef name, StringRef text, const Options& options) {
  SourceMap sources;
  Engine engine(sources);
  text.consume_front("\xEF\xBB\xBF");
  auto file = sources.addCopy(name.str(), text);
  if (!file) {
    engine.report(diag::FileUnreadable, name, llvm::toString(file.takeError()));
  } else {
    ast::Context context;
    parse::ParseOptions parseOptions;
    parseOptions.isEntry = true;
    parseOptions.keepsAll = true;
    (void)parse::parseFile(*file, sources, context, engine, parseOptions);
  }
  printDiagnostics(engine, options);
}

/// The layout of a text; none after a report.
std::optional<std::string> layOut(FormatRun& run, StringRef name, StringRef text) {
  ++run.seen;
  format::Result result = format::formatText(text);
  switch (result.outcome) {
  case format::Outcome::Formatted:
    return std::move(result.text);
  case format::Outcome::SyntaxErrors:
    printSyntaxErrors(name, text, run.options);
    run.failed = true;
    return std::nullopt;
  case format::Outcome::Failed:
    run.error(quoted(name) + " is left as it is: " + result.why +
              "; this is a mistake of `gos fmt`, not of the file");
    return std::nullopt;
  }
  return std::nullopt;
}

void printDiff(StringRef name, StringRef before, StringRef after) {
  const std::string shown = escapeForText(name);
  llvm::outs() << "--- " << shown << "\n+++ " << shown << '\n';
  const std::string diff = format::unifiedDiff(before, after);
  if (diff.empty()) {
    llvm::outs() << "(a byte order mark, or the end of the file)\n";
    return;
  }
  StringRef rest = diff;
  while (!rest.empty()) {
    const auto [line, behind] = rest.split('\n');
    llvm::outs() << escapeForText(line) << '\n';
    rest = behind;
  }
}

void formatFile(FormatRun& run, const std::string& path) {
  // A link is not followed: renaming over it would put a file in its place.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd) {
    if (errno == ELOOP)
      return run.error(quoted(path) + " is a link; name the file that it leads to");
    return run.cannot("read", path, errno);
  }
  struct stat before;
  if (::fstat(fd.get(), &before) != 0)
    return run.cannot("read", path, errno);
  if (!S_ISREG(before.st_mode))
    return run.error(quoted(path) + " is not a file");
  const std::optional<std::string> text = readAll(fd.get());
  if (!text)
    return run.cannot("read", path, errno);
  const std::optional<std::string> laidOut = layOut(run, path, *text);
  if (!laidOut || *laidOut == *text)
    return;
  ++run.changed;
  if (run.options.fmtCheck)
    return printDiff(path, *text, *laidOut);
  if (replaceFile(path, *laidOut, before)) {
    llvm::outs() << "laid out " << escapeForText(path) << '\n';
    return;
  }
  if (errno == ESTALE)
    return run.error(quoted(path) + " was changed by somebody else meanwhile; it is left as it is");
  run.cannot("write", path, errno);
}

/// The `.gos` files beneath a directory in order; hidden directories and links are left out.
void listFiles(FormatRun& run, const std::string& directory, unsigned depth,
               std::vector<std::string>& files) {
  if (depth > kDeepestDirectory)
    return run.error(quoted(directory) + " is nested too deep");
  DIR* stream = ::opendir(directory.empty() ? "." : directory.c_str());
  if (!stream)
    return run.cannot("read", directory, errno);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(stream))
    if (entry->d_name[0] != '.')
      names.push_back(entry->d_name);
  ::closedir(stream);
  llvm::sort(names);
  for (const std::string& name : names) {
    std::string path = directory;
    if (!path.empty() && path.back() != '/')
      path += '/';
    path += name;
    struct stat status;
    if (::lstat(path.c_str(), &status) != 0)
      continue; // it went away
    if (S_ISDIR(status.st_mode))
      listFiles(run, path, depth + 1, files);
    else if (S_ISREG(status.st_mode) && StringRef(name).ends_with(".gos"))
      files.push_back(path);
  }
}

void formatStandardInput(FormatRun& run) {
  const std::optional<std::string> text = readAll(0);
  if (!text)
    return run.cannot("read", "standard input", errno);
  const std::optional<std::string> laidOut = layOut(run, "standard input", *text);
  if (!laidOut)
    return;
  const bool isChanged = *laidOut != *text;
  run.changed += isChanged;
  if (!run.options.fmtCheck)
    llvm::outs() << *laidOut;
  else if (isChanged)
    printDiff("standard input", *text, *laidOut);
}

/// The directory that is meant when none is named: the project's, from anywhere in it.
std::string directoryOfProject() {
  llvm::SmallString<256> here;
  if (llvm::sys::fs::current_path(here))
    return "";
  llvm::SmallString<256> real;
  if (llvm::sys::fs::real_path(here, real))
    return "";
  int errorNumber = 0;
  const std::string root = nearestManifestDirectory(real.str().str(), errorNumber);
  return root.empty() || StringRef(root) == StringRef(real) ? "" : root;
}

std::string filesWords(size_t count) {
  return count == 1 ? "1 file" : llvm::utostr(count) + " files";
}

} // namespace

int runFmt(const Options& options) {
  FormatRun run{options};
  std::vector<std::string> files;
  const bool isInput = llvm::is_contained(options.operands, "-");
  if (isInput && options.operands.size() > 1) {
    llvm::errs() << "gos: error: `-` (standard input) stands alone; found other operands too\n";
    return kExitUsage;
  }
  if (isInput) {
    formatStandardInput(run);
    return run.failed || (options.fmtCheck && run.changed) ? kExitDiagnostics : kExitClean;
  }
  if (options.operands.empty())
    listFiles(run, directoryOfProject(), 0, files);
  for (const std::string& operand : options.operands) {
    struct stat status;
    if (::stat(operand.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
      listFiles(run, operand, 0, files);
    else
      files.push_back(operand);
  }
  // A file that two operands name is laid out once.
  llvm::StringSet<> done;
  for (const std::string& file : files)
    if (done.insert(file).second)
      formatFile(run, file);
  if (run.seen == 0 && !run.failed)
    llvm::errs() << "no `.gos` files here\n";
  else if (options.fmtCheck && run.changed)
    llvm::errs() << filesWords(run.changed) << " of " << run.seen
                 << " would change; run `gos fmt` to lay them out\n";
  return run.failed || (options.fmtCheck && run.changed) ? kExitDiagnostics : kExitClean;
}

} // namespace gos::driver
