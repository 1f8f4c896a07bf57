#include "compiler/bindings/linker_arguments.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace gos::bindings {

using llvm::StringRef;

namespace {

constexpr uint64_t kLargestOutput = uint64_t(4) << 20;
constexpr size_t kMostArguments = 200, kLongestArgument = 4096;

constexpr StringRef kAllowed[] = {
    "-pthread",           "-Wl,--as-needed",
    "-Wl,--build-id",     "-Wl,--end-group",
    "-Wl,--gc-sections",  "-Wl,--no-as-needed",
    "-Wl,--no-undefined", "-Wl,--no-whole-archive",
    "-Wl,--start-group",  "-Wl,--whole-archive",
    "-Wl,-Bdynamic",      "-Wl,-Bstatic",
    "-Wl,-Bsymbolic",     "-Wl,-Bsymbolic-functions",
    "-Wl,-z,defs",        "-Wl,-z,nodelete",
    "-Wl,-z,noexecstack", "-Wl,-z,now",
    "-Wl,-z,relro",
};
/// Behind these stands a name, and nothing that the linker would take for more.
constexpr StringRef kNamed[] = {"-Wl,--soname=", "-Wl,-soname,", "-Wl,-soname=", "-l"};

} // namespace

std::vector<std::string> linkerArgumentsIn(StringRef printed) {
  std::vector<std::string> arguments;
  while (!printed.empty() && arguments.size() != kMostArguments) {
    auto [line, rest] = printed.split('\n');
    printed = rest;
    line = line.trim();
    if (!line.consume_front("cargo::") && !line.consume_front("cargo:"))
      continue;
    // Of a crate that is linked into the library Cargo hands on these alone.
    if (line.consume_front("rustc-cdylib-link-arg=") ||
        line.consume_front("rustc-link-arg-cdylib="))
      arguments.push_back(line.take_front(kLongestArgument).str());
  }
  return arguments;
}

std::vector<LinkerArgument> linkerArguments(const Cache& cache, const std::string& target,
                                            llvm::ArrayRef<BuildScript> scripts) {
  std::vector<LinkerArgument> arguments;
  for (const BuildScript& script : scripts) {
    StringRef directory = script.outputDirectory;
    if (!directory.consume_front(cache.project() + "/") || !directory.starts_with(target + "/") ||
        !directory.consume_back("/out"))
      continue;
    const std::optional<std::string> printed =
        cache.read((directory + "/output").str(), kLargestOutput);
    if (!printed)
      continue;
    for (std::string& text : linkerArgumentsIn(*printed)) {
      LinkerArgument argument{script.crate, std::move(text)};
      if (arguments.size() == kMostArguments)
        return arguments;
      if (!llvm::is_contained(arguments, argument))
        arguments.push_back(std::move(argument));
    }
  }
  return arguments;
}

bool isAllowedLinkerArgument(StringRef argument) {
  if (llvm::is_contained(kAllowed, argument))
    return true;
  for (StringRef front : kNamed)
    if (StringRef name = argument; name.consume_front(front))
      return !name.empty() && llvm::all_of(name, [](char c) {
        return llvm::isAlnum(c) || StringRef("_+.-").contains(c);
      });
  return false;
}

} // namespace gos::bindings
