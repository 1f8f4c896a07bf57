// gos new: a project in a new directory or an empty one, whole or not at all.

#include "compiler/driver/command.h"
#include "compiler/driver/project_files.h"
#include "manifest/manifest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::driver {
namespace {

using llvm::StringRef;

struct TemplateFile {
  StringRef path; // directories on the way are made
  StringRef text; // `NAME` is the project's, `MODULE` the same as a name in code
};

constexpr TemplateFile kProgram[] = {
    {"project.toml", "[project]\nid = \"NAME\"\nversion = \"0.1.0\"\n"},
    {".gitignore", "/NAME\n"},
    {"src/main.gos", R"(// Greets whoever is named.

use std::env

fn greeting(name: String) -> String { f"Hello, {name}!" }

fn main() {
    let names = env::args()
    if names.is_empty() { println!("{}", greeting("world")) }
    for name in names { println!("{}", greeting(name)) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn greets_by_name() { assert_eq(super::greeting("Ada"), "Hello, Ada!") }
}
)"},
};

constexpr TemplateFile kLibrary[] = {
    {"project.toml", "[project]\nid = \"NAME\"\nversion = \"0.1.0\"\n"},
    {".gitignore", "/NAME\n"},
    {"src/lib.gos", R"(// What this library is for.

/// The mean of some numbers; none of nothing.
pub fn mean(numbers: Vec<f64>) -> Option<f64> {
    if numbers.is_empty() { return None }
    let mut sum = 0.0
    for number in numbers { sum += number }
    Some(sum / numbers.len() as f64)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_mean_of_nothing_is_none() { assert_eq(super::mean(#[]), None) }

    #[test]
    fn the_mean_lies_in_the_middle() { assert_eq(super::mean(#[1.0, 2.0]), Some(1.5)) }
}
)"},
};

constexpr TemplateFile kBinding[] = {
    {"project.toml", "[project]\nid = \"NAME\"\nversion = \"0.1.0\"\n\n"
                     "[rust-bindings]\nMODULE_rust = { path = \"rust\" }\n"},
    {".gitignore", "/NAME\n/rust/target\n"},
    {"rust/Cargo.toml", "[package]\nname = \"MODULE_rust\"\nversion = \"0.1.0\"\n"
                        "edition = \"2021\"\n\n[dependencies]\ngossamer-binding = \"0.1\"\n"},
    {"rust/src/lib.rs", R"(use gossamer_binding::gos_module;

#[gos_module("MODULE_rust")]
pub mod functions {
    /// The sum of some numbers, computed by Rust.
    pub fn sum(numbers: Vec<i64>) -> i64 {
        numbers.iter().fold(0, |sum, number| sum.wrapping_add(*number))
    }
}
)"},
    {"src/main.gos", R"(// Calls functions of the Rust crate in `rust/`.

use MODULE_rust

fn main() { println!("{}", MODULE_rust::sum(#[1, 2, 3])) }

#[cfg(test)]
mod tests {
    use MODULE_rust

    #[test]
    fn rust_adds() { assert_eq(MODULE_rust::sum(#[1, 2]), 3) }
}
)"},
};

llvm::ArrayRef<TemplateFile> filesOf(ProjectTemplate which) {
  switch (which) {
  case ProjectTemplate::Program:
    return kProgram;
  case ProjectTemplate::Library:
    return kLibrary;
  case ProjectTemplate::Binding:
    return kBinding;
  }
  return {};
}

std::string replaceAll(StringRef text, StringRef from, StringRef to) {
  std::string result;
  for (;;) {
    const size_t at = text.find(from);
    result += text.take_front(at);
    if (at == StringRef::npos)
      return result;
    result += to;
    text = text.drop_front(at + from.size());
  }
}

/// Why a word cannot name a project; empty if it can.
StringRef problemOf(StringRef name) {
  if (name.empty())
    return "it is empty";
  if (name.size() > 100)
    return "it is too long";
  if (!llvm::isAlpha(name.front()) ||
      !llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '-' || c == '_'; }))
    return "it is letters, digits, `-` and `_`, a letter first";
  const std::string module = moduleNameOf(name);
  const bool isReserved = llvm::StringSwitch<bool>(module)
#define GOS_KEYWORD(kind, spelling) .Case(spelling, true)
#include "compiler/lex/token_kinds.def"
                              .Cases("std", "core", "main", "lib", true)
                              .Default(false);
  return module.empty() || isReserved ? "it is a word of the language" : "";
}

int fail(const llvm::Twine& text, StringRef hint = {}) {
  llvm::errs() << "gos: error: " << text << '\n';
  if (!hint.empty())
    llvm::errs() << "  " << hint << '\n';
  return kExitDiagnostics;
}

/// Does the directory hold nothing but, perhaps, what `git init` makes? None if it cannot be read.
std::optional<bool> hasRoom(const std::string& path) {
  DIR* stream = ::opendir(path.c_str());
  if (!stream)
    return std::nullopt;
  bool hasRoom = true;
  while (const dirent* entry = ::readdir(stream)) {
    const StringRef name = entry->d_name;
    hasRoom &= name == "." || name == ".." || name == ".git";
  }
  ::closedir(stream);
  return hasRoom;
}

} // namespace

int runNew(const Options& options) {
  const StringRef given = options.operands.front();
  std::string target = given.rtrim('/').str();
  if (target.empty())
    target = "/";
  struct stat status;
  const bool exists = ::lstat(target.c_str(), &status) == 0;
  if (exists && !S_ISDIR(status.st_mode))
    return fail(quoted(target) + " is there already", "name a directory that is to be made");
  // `.` and `..` are called what they are called.
  const StringRef last = StringRef(target).substr(StringRef(target).rfind('/') + 1);
  std::string name = options.projectName.empty() ? last.str() : options.projectName;
  const bool isDots = last == "." || last == "..";
  if (isDots && options.projectName.empty()) {
    llvm::SmallString<256> real;
    if (const std::error_code error = llvm::sys::fs::real_path(target, real))
      return fail(quoted(target) + " has no name: " + error.message(), "give one: `--name=NAME`");
    name = llvm::sys::path::filename(real).str();
  }
  if (const StringRef problem = problemOf(name); !problem.empty())
    return fail(quoted(name) + " cannot name a project: " + problem,
                options.projectName.empty()
                    ? "the last part of the directory is the name; `--name=NAME` gives another one"
                    : "choose another one for `--name`");
  if (exists) {
    const std::optional<bool> room = hasRoom(target);
    if (!room)
      return fail("cannot read " + quoted(target) + ": " + systemWords(errno));
    if (!*room)
      return fail(quoted(target) + " is not empty", "name a directory that is to be made");
  }

  // The project appears whole or not at all: it is made beside its place (in it, if it is there),
  // and renamed.
  const size_t slash = StringRef(target).rfind('/');
  const std::string parent = exists                     ? target
                             : slash == StringRef::npos ? "."
                                                        : target.substr(0, slash + 1);
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != ssize_t(sizeof number))
    return fail("no random number: " + systemWords(errno));
  const std::string draft = parent + "/.gos-new-" + llvm::utohexstr(number, true);
  const std::string module = moduleNameOf(name);
  std::vector<ProjectFile> files;
  for (const TemplateFile& file : filesOf(options.projectTemplate))
    files.push_back(
        {file.path.str(), replaceAll(replaceAll(file.text, "NAME", name), "MODULE", module)});
  if (::mkdir(draft.c_str(), 0777) != 0)
    return fail("cannot make a directory in " + quoted(parent) + ": " + systemWords(errno));
  for (const ProjectFile& file : files) {
    if (writeFile(draft, file))
      continue;
    const int problem = errno;
    removeFiles(draft, files);
    return fail("cannot write " + quoted(file.path) + ": " + systemWords(problem));
  }
  const bool isMade =
      exists ? putInto(draft, target, files) : ::rename(draft.c_str(), target.c_str()) == 0;
  const int problem = errno;
  if (!isMade || exists)
    removeFiles(draft, files);
  if (!isMade)
    return fail("cannot make " + quoted(target) + ": " + systemWords(problem));
  llvm::outs() << "made " << quoted(isDots ? name : target) << ":\n";
  for (const ProjectFile& file : files)
    llvm::outs() << "  " << file.path << '\n';
  const StringRef place = target == "." ? StringRef() : StringRef(target);
  llvm::outs() << (options.projectTemplate == ProjectTemplate::Library ? "try `gos test"
                                                                       : "try `gos run ")
               << (options.projectTemplate == ProjectTemplate::Library
                       ? (place.empty() ? "" : " ") + place.str()
                       : (place.empty() ? "." : place.str()))
               << "`\n";
  return kExitClean;
}

} // namespace gos::driver
