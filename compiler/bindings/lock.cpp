#include "compiler/bindings/lock.h"

#include "compiler/bindings/crate_sources.h"
#include "sandbox/beneath.h"
#include "sandbox/sys_error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace gos::bindings {

namespace {
constexpr uint64_t kLargestLock = uint64_t(16) << 20;
constexpr size_t kMostPackages = 20000;

llvm::Error malformed(const llvm::Twine& text) {
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument), text);
}
} // namespace

llvm::Expected<std::vector<LockedPackage>> parseLock(llvm::StringRef text) {
  // What Cargo writes is a line for each value; anything else is not its lock.
  std::vector<LockedPackage> packages;
  enum class In : uint8_t { Top, Package, Other } in = In::Top;
  size_t number = 0;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    ++number;
    line = line.rtrim();
    if (line.empty() || line.starts_with("#"))
      continue;
    if (line.starts_with("[")) {
      in = line == "[[package]]" ? In::Package : In::Other;
      if (line == "[[patch.unused]]")
        return malformed("no crate uses the toolchain's copy of a crate that it puts in place");
      if (in == In::Package) {
        if (packages.size() == kMostPackages)
          return malformed("it holds too many packages");
        packages.emplace_back();
      }
      continue;
    }
    if (in != In::Package)
      continue;
    auto [key, value] = line.split(" = ");
    std::string* target = key == "name"      ? &packages.back().name
                          : key == "version" ? &packages.back().version
                          : key == "source"  ? &packages.back().source
                                             : nullptr;
    if (target == nullptr)
      continue;
    if (!value.consume_front("\"") || !value.consume_back("\"") || value.contains('"') ||
        value.contains('\\') || !target->empty())
      return malformed("line " + llvm::Twine(number) + " is not what Cargo writes");
    *target = value.str();
  }
  for (const LockedPackage& package : packages)
    if (package.name.empty() || package.version.empty())
      return malformed("a package has no name or no version");
  return packages;
}

std::string lockProblem(llvm::StringRef text, llvm::ArrayRef<Binding> bindings) {
  llvm::Expected<std::vector<LockedPackage>> packages = parseLock(text);
  if (!packages)
    return llvm::toString(packages.takeError());
  for (const char* name : {"gossamer-binding", "gossamer-binding-macros"}) {
    size_t count = 0;
    for (const LockedPackage& package : *packages) {
      if (package.name != name)
        continue;
      ++count;
      if (!package.source.empty() || package.version != crateVersion())
        return llvm::formatv("`{0}` {1} comes from {2}; the one that counts is the toolchain's {3}",
                             name, package.version,
                             package.source.empty() ? "a path" : "`" + package.source + "`",
                             crateVersion());
    }
    if (count != 1)
      return llvm::formatv("it holds `{0}` {1} times; once is right", name, count);
  }
  for (const LockedPackage& package : *packages) {
    llvm::StringRef source = package.source;
    if (source.empty() || source.starts_with("registry+") || source.starts_with("sparse+") ||
        source.starts_with("git+https://") || source.starts_with("git+http://") ||
        source.starts_with("git+ssh://"))
      continue;
    // A repository of this machine is read only where project.toml names it.
    const bool named = llvm::any_of(bindings, [&](const Binding& binding) {
      return binding.written->source == RustBinding::Source::Git && !binding.path.empty() &&
             source.starts_with("git+" + fileUrl(binding.path));
    });
    if (!named)
      return llvm::formatv("`{0}` comes from `{1}`, which no binding names", package.name, source);
  }
  return {};
}

std::string lockChanges(llvm::StringRef before, llvm::StringRef after) {
  const auto namesOf = [](llvm::StringRef text) {
    std::vector<std::string> names;
    llvm::Expected<std::vector<LockedPackage>> packages = parseLock(text);
    if (!packages) {
      llvm::consumeError(packages.takeError());
      return names;
    }
    for (const LockedPackage& package : *packages)
      names.push_back(package.name + " " + package.version);
    llvm::sort(names);
    return names;
  };
  const std::vector<std::string> old = namesOf(before), now = namesOf(after);
  std::string text;
  const auto list = [&](const char* word, const auto& from, const auto& other) {
    size_t count = 0;
    for (const std::string& name : from)
      if (!std::binary_search(other.begin(), other.end(), name) && ++count <= 8)
        text += (text.empty() ? "" : ", ") + std::string(count == 1 ? word : "") +
                (count == 1 ? " " : "") + "`" + name + "`";
    if (count > 8)
      text += llvm::formatv(" and {0} more", count - 8);
  };
  list("it adds", now, old);
  list("it drops", old, now);
  return text;
}

llvm::Expected<std::optional<std::string>> readProjectLock(llvm::StringRef directory) {
  const UniqueFd top(::open(directory.str().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top)
    return sysError("open", directory, errno);
  const UniqueFd fd = openBeneath(top.get(), "bindings.lock", O_RDONLY);
  if (!fd) {
    if (errno == ENOENT)
      return std::optional<std::string>();
    if (errno == ELOOP)
      return malformed("it is a symbolic link");
    return malformed("it cannot be read: " + errnoText(errno));
  }
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return malformed("it is not a regular file");
  ReadBytes bytes = readAll(fd.get(), kLargestLock);
  if (bytes.failure != Failure::None)
    return malformed("it " + (bytes.failure == Failure::System
                                  ? "cannot be read: " + errnoText(bytes.errorNumber)
                                  : phrase(bytes.failure).str()));
  return std::optional<std::string>(std::move(bytes.bytes));
}

llvm::Error writeProjectLock(llvm::StringRef directory, llvm::StringRef text) {
  const UniqueFd top(::open(directory.str().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top)
    return sysError("open", directory, errno);
  return replaceFile(top.get(), "bindings.lock", text, 0644);
}

} // namespace gos::bindings
