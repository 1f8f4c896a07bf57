#include "compiler/bindings/toolchain.h"

#include "manifest/toml_reader.h"
#include "sandbox/beneath.h"
#include "sandbox/command/command_policy.h"
#include "sandbox/policy/host/host_paths.h"
#include "sandbox/sys_error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::bindings {

using sandbox::environmentValue;

char NoToolchain::ID = 0;
const char* const kInstallCargo = "on Debian: `apt-get install cargo-web`; elsewhere: "
                                  "https://rustup.rs";

namespace {

bool isProgram(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::string identityOf(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0)
    return {};
  return llvm::formatv("{0} {1} {2} {3}.{4} {5}\n", path, status.st_dev, status.st_ino,
                       status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size);
}

/// `default_toolchain` of rustup's settings; empty if there is none.
std::string defaultToolchain(const std::string& rustupHome) {
  const UniqueFd fd(
      ::open((rustupHome + "/settings.toml").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd)
    return {};
  const ReadBytes bytes = readAll(fd.get(), 1 << 20);
  SourceMap sources;
  Engine engine(sources);
  llvm::Expected<FileId> file = sources.addCopy("settings.toml", bytes.bytes);
  if (!file) {
    llvm::consumeError(file.takeError());
    return {};
  }
  const std::optional<TomlValue> settings = readToml(*file, engine);
  const TomlEntry* name = settings ? settings->find("default_toolchain") : nullptr;
  return name != nullptr ? name->value.text : std::string();
}

/// `stable` is the directory `stable-x86_64-unknown-linux-gnu`.
std::string toolchainDirectory(const std::string& rustupHome, llvm::StringRef name) {
  if (name.empty() || name.contains('/') || name.starts_with("."))
    return {};
  const std::string toolchains = rustupHome + "/toolchains/";
  for (const char* suffix : {"", "-x86_64-unknown-linux-gnu", "-x86_64-unknown-linux-musl"})
    if (const std::string path = realPathOf(toolchains + name.str() + suffix); !path.empty())
      return path;
  return {};
}

llvm::Error none(std::string text, std::string remedy) {
  return llvm::make_error<NoToolchain>(std::move(text), std::move(remedy));
}

} // namespace

std::vector<std::string> trustedPath(llvm::ArrayRef<std::string> environment,
                                     llvm::ArrayRef<std::string> programDirectories) {
  std::vector<std::string> entries;
  const char* path = environmentValue(environment, "PATH");
  for (llvm::StringRef entry : llvm::split(llvm::StringRef(path != nullptr ? path : ""), ':')) {
    if (!entry.starts_with("/"))
      continue;
    // Links count for where they lead.
    std::string real = realPathOf(entry.str());
    const bool inside = llvm::any_of(programDirectories, [&](const std::string& directory) {
      return isAtOrBeneath(real, directory) || isAtOrBeneath(entry.rtrim('/'), directory);
    });
    if (real.empty() || inside || llvm::is_contained(entries, real))
      continue;
    entries.push_back(std::move(real));
  }
  return entries;
}

llvm::Expected<Toolchain> findToolchain(llvm::ArrayRef<std::string> environment,
                                        llvm::ArrayRef<std::string> programDirectories) {
  std::string found;
  for (const std::string& directory : trustedPath(environment, programDirectories))
    if (isProgram(directory + "/cargo")) {
      found = directory + "/cargo";
      break;
    }
  if (found.empty())
    return none("no `cargo` is in the absolute directories of PATH outside of the program",
                kInstallCargo);
  Toolchain toolchain;
  const std::string real = realPathOf(found);
  std::string proxy = found;
  if (const std::string other = found.substr(0, found.size() - 5) + "rustup"; isProgram(other))
    proxy = other; // the proxies may be hard links
  const llvm::StringRef realName = llvm::StringRef(real).rsplit('/').second;
  struct stat one{}, two{};
  const bool isProxy =
      realName == "rustup" ||
      (proxy != found && ::stat(proxy.c_str(), &one) == 0 && ::stat(real.c_str(), &two) == 0 &&
       one.st_ino == two.st_ino && one.st_dev == two.st_dev);
  if (isProxy) {
    const char* rustup = environmentValue(environment, "RUSTUP_HOME");
    const char* home = environmentValue(environment, "HOME");
    std::vector<std::string> homes;
    if (rustup != nullptr && rustup[0] == '/')
      homes.push_back(rustup);
    if (home != nullptr && home[0] == '/')
      homes.push_back(std::string(home) + "/.rustup");
    // The proxy of another user (`sudo`): beside it.
    homes.push_back(realPathOf(found.substr(0, found.size() - 6) + "/../../.rustup"));
    const char* chosen = environmentValue(environment, "RUSTUP_TOOLCHAIN");
    std::string directory, name;
    for (const std::string& each : homes) {
      if (each.empty())
        continue;
      const bool inside = llvm::any_of(programDirectories, [&](const std::string& program) {
        return isAtOrBeneath(each, program);
      });
      if (inside)
        continue;
      name = chosen != nullptr && chosen[0] != 0 ? std::string(chosen) : defaultToolchain(each);
      directory = toolchainDirectory(each, name);
      if (!directory.empty())
        break;
    }
    if (directory.empty() || !isProgram(directory + "/bin/cargo"))
      return none(name.empty() ? std::string("rustup has no default toolchain")
                               : "rustup's toolchain `" + name + "` is not installed",
                  "`rustup default stable`, outside of the project");
    toolchain.cargo = directory + "/bin/cargo";
    toolchain.directory = directory + "/bin";
    toolchain.readOnly.push_back(directory);
  } else {
    toolchain.cargo = real;
    toolchain.directory = found.substr(0, found.size() - 6);
    toolchain.readOnly.push_back(toolchain.directory);
    const std::string beside = llvm::StringRef(real).rsplit('/').first.str();
    if (beside != toolchain.directory)
      toolchain.readOnly.push_back(beside);
    // `/opt/rust/bin/cargo` has its library in `/opt/rust/lib`; of a home nothing is taken for
    // that.
    const std::string above = llvm::StringRef(beside).rsplit('/').first.str();
    if (llvm::StringRef(beside).ends_with("/bin") &&
        ::access((above + "/lib/rustlib").c_str(), F_OK) == 0)
      toolchain.readOnly.push_back(above + "/lib");
  }
  for (const std::string& directory :
       {toolchain.directory, llvm::StringRef(toolchain.cargo).rsplit('/').first.str()})
    if (toolchain.rustc.empty() && isProgram(directory + "/rustc"))
      toolchain.rustc = realPathOf(directory + "/rustc");
  if (toolchain.rustc.empty())
    return none("no `rustc` lies beside `" + toolchain.cargo + "`", kInstallCargo);
  toolchain.identity = identityOf(toolchain.cargo) + identityOf(toolchain.rustc);
  return toolchain;
}

std::string versionProblem(llvm::StringRef version) {
  llvm::StringRef text = version.trim();
  unsigned major = 0, minor = 0;
  if (!text.consume_front("cargo ") || text.consumeInteger(10, major) || !text.consume_front(".") ||
      text.consumeInteger(10, minor))
    return "`cargo --version` does not answer with a version";
  if (major > 1 || minor >= kOldestMinor)
    return {};
  return llvm::formatv("found version {0}.{1}; needed is 1.{2} or newer", major, minor,
                       kOldestMinor);
}

} // namespace gos::bindings
