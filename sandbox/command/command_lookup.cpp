#include "sandbox/command/command_lookup.h"

#include "sandbox/command/report.h"
#include "sandbox/policy/decide.h"
#include "sandbox/policy/host/host_paths.h"
#include "sandbox/sys_error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::sandbox {

namespace {
llvm::Error problem(RunProblem kind, std::string text, std::string remedy = {}) {
  return llvm::make_error<RunError>(kind, std::move(text), std::move(remedy));
}

/// The interpreter that a script's first line names, or empty.
std::string interpreterOf(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  char buffer[256];
  const ssize_t got =
      file ? retryInterrupted([&] { return ::read(file.get(), buffer, sizeof buffer); }) : -1;
  llvm::StringRef line(buffer, got > 0 ? size_t(got) : 0);
  if (!line.consume_front("#!"))
    return {};
  line = line.split('\n').first.ltrim(" \t");
  return line.substr(0, line.find_first_of(" \t")).str();
}
} // namespace

llvm::Expected<FoundCommand> findCommand(llvm::StringRef program,
                                         llvm::ArrayRef<std::string> environment,
                                         llvm::StringRef directory) {
  if (program.empty() || program.contains('\0'))
    return problem(RunProblem::NotFound, "the command has no name");
  const auto absolute = [&](llvm::StringRef path) {
    return path.starts_with("/") ? path.str()
                                 : (directory == "/" ? "/" : directory.str() + "/") + path.str();
  };
  if (program.contains('/')) {
    FoundCommand found{absolute(program), {}};
    struct stat status{};
    if (::stat(found.path.c_str(), &status) != 0)
      return problem(errno == ENOENT || errno == ENOTDIR ? RunProblem::NotFound
                                                         : RunProblem::NotExecutable,
                     llvm::formatv("`{0}`: {1}", program, errnoText(errno)));
    if (S_ISDIR(status.st_mode))
      return problem(RunProblem::NotExecutable, llvm::formatv("`{0}` is a directory", program));
    if (::faccessat(AT_FDCWD, found.path.c_str(), X_OK, AT_EACCESS) != 0)
      return problem(RunProblem::NotExecutable, llvm::formatv("`{0}` is not executable", program),
                     llvm::formatv("chmod +x {0}", program));
    found.real = realPathOf(found.path);
    return found;
  }
  llvm::StringRef search = "/usr/local/bin:/usr/bin:/bin";
  for (const std::string& entry : environment)
    if (llvm::StringRef(entry).starts_with("PATH=")) {
      search = llvm::StringRef(entry).drop_front(5);
      break;
    }
  std::string refused;
  for (llvm::StringRef folder : llvm::split(search, ':')) {
    FoundCommand found{absolute(folder.empty() ? "." : folder) + "/" + program.str(), {}};
    struct stat status{};
    if (::stat(found.path.c_str(), &status) != 0 || S_ISDIR(status.st_mode))
      continue;
    if (::faccessat(AT_FDCWD, found.path.c_str(), X_OK, AT_EACCESS) != 0) {
      if (refused.empty())
        refused = found.path;
      continue;
    }
    found.real = realPathOf(found.path);
    return found;
  }
  if (!refused.empty())
    return problem(RunProblem::NotExecutable, llvm::formatv("`{0}` is not executable", refused));
  return problem(RunProblem::NotFound, llvm::formatv("`{0}`: command not found on PATH", program));
}

llvm::Error executeFailure(const Policy& policy, const ChildPlan& plan, const FoundCommand& command,
                           int error) {
  const auto granted = [&](llvm::StringRef path) {
    return plan.keepRoot || decide(policy, path, Operation::Execute).allowed;
  };
  if (error == ENOENT || error == EACCES) {
    if (!command.real.empty() && !granted(command.real)) {
      const llvm::StringRef folder = llvm::StringRef(command.real).rsplit('/').first;
      return problem(RunProblem::NotFound,
                     llvm::formatv("`{0}` exists, but no rule grants it", command.real),
                     "--ro " + shellQuoted(folder.empty() ? "/" : folder));
    }
  }
  if (error == ENOENT) {
    if (std::string interpreter = interpreterOf(command.path); !interpreter.empty()) {
      const std::string shown = llvm::StringRef(interpreter).ends_with("\r")
                                    ? interpreter + " (the line ends in a carriage return)"
                                    : interpreter;
      struct stat status{};
      if (::stat(interpreter.c_str(), &status) == 0)
        return problem(RunProblem::NotFound,
                       llvm::formatv("the interpreter `{0}` of `{1}` exists, but no rule grants it",
                                     shown, command.path),
                       "--ro " + shellQuoted(interpreter));
      return problem(
          RunProblem::NotFound,
          llvm::formatv("the interpreter `{0}` of `{1}` does not exist", shown, command.path));
    }
    return problem(RunProblem::NotFound,
                   llvm::formatv("`{0}` or the loader it names does not exist inside the sandbox",
                                 command.path));
  }
  if (error == ENOEXEC)
    return problem(
        RunProblem::NotExecutable,
        llvm::formatv("`{0}` is no program of this machine, and no script", command.path));
  return problem(RunProblem::NotExecutable,
                 llvm::formatv("cannot execute `{0}`: {1}", command.path, errnoText(error)));
}

} // namespace gos::sandbox
