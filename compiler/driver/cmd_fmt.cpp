// gos fmt: lays out source files, or says which are not.

#include "compiler/driver/command.h"
#include "compiler/driver/replace_file.h"
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
#include <sys/stat.h>

namespace gos::driver {
namespace {

using llvm::StringRef;

constexpr unsigned kDeepestDirectory = 64;

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

/// The path of what a link leads to; other paths as they are. Empty with errno set.
std::string behindLinks(const std::string& path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode))
    return path;
  char* real = ::realpath(path.c_str(), nullptr);
  std::string result = real ? real : "";
  ::free(real);
  return result;
}

/// `path` is what stands behind `name`, the words of the user.
void formatFile(FormatRun& run, const std::string& name, const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd)
    return run.cannot("read", name, errno);
  struct stat before;
  if (::fstat(fd.get(), &before) != 0)
    return run.cannot("read", name, errno);
  if (!S_ISREG(before.st_mode))
    return run.error(quoted(name) + " is not a file");
  std::string text;
  if (!readAll(fd.get(), text))
    return run.cannot("read", name, errno);
  const std::optional<std::string> laidOut = layOut(run, name, text);
  if (!laidOut || *laidOut == text)
    return;
  ++run.changed;
  if (run.options.fmtCheck)
    return printDiff(name, text, *laidOut);
  const Replacement done = replaceFile(path, fd.get(), before, text, *laidOut);
  switch (done.outcome) {
  case Replacement::Outcome::Done:
    llvm::outs() << "laid out " << escapeForText(name) << '\n';
    return;
  case Replacement::Outcome::ReadOnly:
    return run.error(quoted(name) + " may not be written; it is left as it is");
  case Replacement::Outcome::ChangedMeanwhile:
    return run.error(quoted(name) + " was changed by somebody else meanwhile; it is left as it is");
  case Replacement::Outcome::Failed:
    return run.cannot("write", name, done.number);
  case Replacement::Outcome::Displaced:
    run.cannot("write", name, done.number);
    return run.error("the text of " + quoted(name) + " is in " + quoted(done.copy));
  }
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
  std::string text;
  if (!readAll(0, text))
    return run.cannot("read", "standard input", errno);
  const std::optional<std::string> laidOut = layOut(run, "standard input", text);
  if (!laidOut)
    return;
  const bool isChanged = *laidOut != text;
  run.changed += isChanged;
  if (!run.options.fmtCheck)
    llvm::outs() << *laidOut;
  else if (isChanged)
    printDiff("standard input", text, *laidOut);
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
  for (const std::string& file : files) {
    const std::string path = behindLinks(file);
    if (path.empty())
      run.cannot("read", file, errno);
    else if (done.insert(path).second)
      formatFile(run, file, path);
  }
  if (run.seen == 0 && !run.failed)
    llvm::errs() << "no `.gos` files here\n";
  else if (options.fmtCheck && run.changed)
    llvm::errs() << filesWords(run.changed) << " of " << run.seen
                 << " would change; run `gos fmt` to lay them out\n";
  return run.failed || (options.fmtCheck && run.changed) ? kExitDiagnostics : kExitClean;
}

} // namespace gos::driver
