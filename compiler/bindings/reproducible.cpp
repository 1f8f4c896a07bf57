#include "compiler/bindings/reproducible.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <set>

namespace gos::bindings {

namespace {

struct Place {
  std::string directory; // of this machine
  std::string name;      // what stands in the library instead
};

/// The directories that a build compiles from, the shorter ones first.
std::vector<Place> placesOf(const BuildFacts& facts, const Cache& cache) {
  std::vector<Place> places = {{cache.project(), "gossamer"},
                               {cache.cargoHome() + "/registry/src", "registry"},
                               {cache.cargoHome() + "/git/checkouts", "git"}};
  const std::string& root = facts.project->root().directory;
  for (const Binding& binding : facts.bindings)
    if (binding.written->source == RustBinding::Source::Path)
      places.push_back({binding.path, binding.written->key});
  // A crate that lies in a package is named by its place there.
  llvm::erase_if(places, [&](const Place& place) {
    return llvm::any_of(facts.programDirectories, [&](const std::string& directory) {
      return isAtOrBeneath(place.directory, directory);
    });
  });
  for (const std::string& directory : facts.programDirectories)
    places.push_back(
        {directory, directory == root ? "" : llvm::StringRef(directory).rsplit('/').second.str()});
  // Two crates of one name may lie in directories of one name.
  std::set<std::string> used;
  for (Place& place : places) {
    const std::string name = place.name;
    for (unsigned number = 2; !used.insert(place.name).second; ++number)
      place.name = name + "-" + std::to_string(number);
  }
  llvm::stable_sort(places, [](const Place& a, const Place& b) {
    return a.directory.size() < b.directory.size();
  });
  return places;
}

/// A word of a shell that is nothing but this text.
std::string quoted(llvm::StringRef text) {
  std::string word = "'";
  for (char c : text)
    word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

} // namespace

std::string remappingFlags(const BuildFacts& facts, const Cache& cache) {
  std::string flags;
  // Of several that fit the compiler takes the last.
  for (const auto& [from, to] : placesOf(facts, cache))
    // rustc cuts at the last `=`; what is no text cannot be written down.
    if (!llvm::StringRef(to).contains('=') && llvm::json::isUTF8(from) && llvm::json::isUTF8(to))
      flags += (flags.empty() ? "" : ", ") + tomlText("--remap-path-prefix=" + from + "=" + to);
  return flags;
}

std::string compilerScript(const BuildFacts& facts, const Cache& cache) {
  const std::string compiler = "exec " + quoted(facts.toolchain.rustc) + " \"$@\"\n";
  std::string text =
      "#!/bin/sh\n"
      "# Written by gos. Cargo makes the directory of a package a part of all names in it; here\n"
      "# that part says what the package is, so that two checkouts give one library.\n"
      "case ${CARGO_MANIFEST_DIR-} in\n";
  const std::vector<Place> places = placesOf(facts, cache);
  for (const auto& [directory, name] : llvm::reverse(places))
    text += quoted(directory) + "|" + quoted(directory) + "/*) place=" + quoted(name) +
            "${CARGO_MANIFEST_DIR#" + quoted(directory) + "} ;;\n";
  text += "*) " + compiler;
  text += "esac\n"
          "id=\"$place ${CARGO_PKG_NAME-} ${CARGO_PKG_VERSION-}\"\n"
          "named=\n"
          "for word do\n"
          "  case $word in\n"
          "  metadata=*) named=1 ;;\n"
          "  extra-filename=*|*/*) ;;\n"
          "  *) id=\"$id $word\" ;;\n"
          "  esac\n"
          "done\n"
          "left=$#\n"
          "while [ -n \"$named\" ] && [ \"$left\" -gt 0 ]; do\n"
          "  word=$1\n"
          "  shift\n"
          "  left=$((left - 1))\n"
          "  case $word in metadata=*) word=\"metadata=$id\" ;; esac\n"
          "  set -- \"$@\" \"$word\"\n"
          "done\n";
  return text + compiler;
}

} // namespace gos::bindings
