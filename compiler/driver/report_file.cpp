#include "compiler/driver/report_file.h"

#include "compiler/driver/command.h"
#include "compiler/driver/replace_file.h"
#include "diagnostics/escape.h"

#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace gos::driver {

using executable::Refusal;
using llvm::StringRef;

namespace {

constexpr mode_t kReport = 0666; // less what the umask takes

} // namespace

bool ReportFile::refuse(const Refusal& refusal) const {
  llvm::errs() << "gos: error: cannot write " << quoted(place_.shown) << ": "
               << escapeForText(refusal.why) << '\n';
  if (!refusal.help.empty())
    llvm::errs() << "  " << escapeForText(refusal.help) << '\n';
  return false;
}

std::optional<ReportFile> ReportFile::find(StringRef path) {
  ReportFile file;
  executable::Place& place = file.place_;
  std::optional<Refusal> refusal = executable::findPlace(path, /*usualName=*/"", place);
  if (!refusal && !place.stream)
    refusal = executable::judgePlace(place);
  if (!refusal && !place.stream) {
    struct stat status{};
    const int directory = place.directory.get();
    if (place.exists
            ? ::fstatat(directory, place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                  executable::isReadOnly(directory, place.name, status)
            : ::faccessat(directory, ".", W_OK | X_OK, AT_EACCESS) != 0)
      refusal = place.exists ? executable::readOnly(place.shown) : Refusal{systemWords(errno), ""};
  }
  if (!refusal)
    return file;
  file.refuse(*refusal);
  return std::nullopt;
}

bool ReportFile::isSame(const ReportFile& other) const {
  struct stat own{}, others{};
  if (place_.stream || other.place_.stream) {
    if (place_.standardOutput || other.place_.standardOutput)
      return place_.standardOutput && other.place_.standardOutput;
    // Of devices one may be named twice: nothing that is written into it comes back.
    return place_.stream && other.place_.stream && ::stat(place_.path.c_str(), &own) == 0 &&
           ::stat(other.place_.path.c_str(), &others) == 0 && S_ISFIFO(own.st_mode) &&
           own.st_dev == others.st_dev && own.st_ino == others.st_ino;
  }
  if (::fstatat(place_.directory.get(), place_.name.c_str(), &own, AT_SYMLINK_NOFOLLOW) == 0)
    return executable::isPlace(other.place_, own);
  return place_.name == other.place_.name && ::fstat(place_.directory.get(), &own) == 0 &&
         ::fstat(other.place_.directory.get(), &others) == 0 && own.st_dev == others.st_dev &&
         own.st_ino == others.st_ino;
}

bool ReportFile::write(StringRef text) const {
  if (place_.standardOutput) {
    llvm::outs() << text; // behind what is there already; `main` looks whether it was taken
    return true;
  }
  if (!place_.stream) {
    const UniqueFd fd(::openat(place_.directory.get(), place_.name.c_str(),
                               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd)
      return replace(fd.get(), text);
    if (errno != ENOENT)
      return refuse({errno == ELOOP ? "it is a link now" : systemWords(errno), ""});
  }
  const int number = executable::writePlace(place_, text, kReport);
  return number == 0 || refuse({systemWords(number), ""});
}

bool ReportFile::replace(int fd, StringRef text) const {
  struct stat before{};
  std::string old;
  if (::fstat(fd, &before) != 0)
    return refuse({systemWords(errno), ""});
  if (!S_ISREG(before.st_mode))
    return refuse({"it is not a regular file", ""});
  if (!readAll(fd, old))
    return refuse({systemWords(errno), ""});
  const Replacement done = replaceFile(place_.path, fd, before, old, text);
  switch (done.outcome) {
  case Replacement::Outcome::Done:
    return true;
  case Replacement::Outcome::ReadOnly:
    return refuse(executable::readOnly(place_.shown));
  case Replacement::Outcome::ChangedMeanwhile:
    return refuse({"somebody else changed it meanwhile", ""});
  case Replacement::Outcome::Failed:
    return refuse({systemWords(done.number), ""});
  case Replacement::Outcome::Displaced:
    return refuse({systemWords(done.number), "its old text is in `" + done.copy + "`"});
  }
  return false;
}

} // namespace gos::driver
