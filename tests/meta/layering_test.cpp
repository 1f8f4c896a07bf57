// The arrows of the layers, from the #include lines; the doors of third-party libraries; and what
// is said about files.

#include "tests/meta/source_tree.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace gos::meta {
namespace {

using llvm::StringRef;

/// A folder and what it may include, besides itself.
struct Layer {
  const char* folder;
  std::vector<const char*> below;
};

const std::vector<Layer>& layers() {
  static const std::vector<Layer> all = {
      {"diagnostics", {}},
      {"sandbox/policy", {}},
      {"sandbox/policy/host", {"sandbox/policy"}},
      {"sandbox", {"sandbox/policy", "sandbox/policy/host", "diagnostics"}},
      {"sandbox/linux", {"sandbox/policy", "sandbox/policy/host", "sandbox", "diagnostics"}},
      {"sandbox/linux/first_process", {"sandbox/linux"}},
      {"sandbox/command",
       {"sandbox/policy", "sandbox/policy/host", "sandbox", "sandbox/linux", "diagnostics"}},
      {"sandbox/library",
       {"sandbox/policy", "sandbox", "sandbox/linux", "sandbox/command", "diagnostics"}},
      {"sandbox/bwr",
       {"sandbox/policy", "sandbox/policy/host", "sandbox", "sandbox/linux", "sandbox/command",
        "manifest", "diagnostics"}},
      {"manifest", {"diagnostics", "sandbox/policy", "sandbox/policy/host"}},
      {"vm", {"diagnostics", "sandbox/policy"}},
      {"stdlib", {"diagnostics", "sandbox/policy", "sandbox", "sandbox/command", "vm"}},
      {"stdlib/program", {"diagnostics", "sandbox", "vm", "stdlib"}},
      {"compiler/lex", {"diagnostics"}},
      {"compiler/bindings",
       {"diagnostics", "compiler/lex", "manifest", "sandbox/policy", "sandbox/policy/host",
        "sandbox", "sandbox/linux", "sandbox/command"}},
      {"compiler/ast", {"diagnostics", "compiler/lex"}},
      {"compiler/parse", {"diagnostics", "compiler/lex", "compiler/ast"}},
      {"compiler/format", {"diagnostics", "compiler/lex", "compiler/ast", "compiler/parse"}},
      {"compiler/expand", {"diagnostics", "compiler/lex", "compiler/ast", "compiler/parse"}},
      {"compiler/resolve",
       {"diagnostics", "compiler/lex", "compiler/ast", "compiler/parse", "compiler/expand"}},
      {"compiler/types", {"diagnostics", "compiler/ast", "compiler/resolve"}},
      {"compiler/check",
       {"diagnostics", "compiler/lex", "compiler/ast", "compiler/parse", "compiler/expand",
        "compiler/resolve", "compiler/types", "stdlib"}},
      {"compiler/lower",
       {"diagnostics", "compiler/lex", "compiler/ast", "compiler/parse", "compiler/resolve",
        "compiler/types", "compiler/check", "stdlib", "vm", "sandbox/policy"}},
      {"compiler/fold",
       {"diagnostics", "compiler/lex", "compiler/ast", "compiler/parse", "compiler/resolve",
        "compiler/types", "compiler/check", "compiler/lower", "stdlib", "vm", "sandbox/policy"}},
      {"compiler/document",
       {"diagnostics", "compiler/ast", "compiler/parse", "compiler/bindings", "stdlib",
        "sandbox/policy"}},
      {"compiler/repl",
       {"diagnostics", "compiler/lex", "compiler/ast", "compiler/parse", "compiler/resolve",
        "compiler/types", "compiler/check", "compiler/lower", "compiler/fold", "stdlib", "vm",
        "sandbox/policy"}},
      {"compiler/executable", {"diagnostics", "manifest", "sandbox", "vm", "stdlib/program"}},
      {"compiler/testing",
       {"diagnostics", "compiler/lex", "compiler/ast", "compiler/parse", "compiler/resolve",
        "compiler/types", "compiler/check", "compiler/document", "stdlib", "vm", "sandbox"}},
      {"compiler/driver",
       {"diagnostics",
        "compiler/lex",
        "compiler/ast",
        "compiler/parse",
        "compiler/expand",
        "compiler/resolve",
        "compiler/types",
        "compiler/check",
        "compiler/lower",
        "compiler/fold",
        "compiler/testing",
        "compiler/format",
        "compiler/document",
        "compiler/repl",
        "compiler/bindings",
        "stdlib",
        "vm",
        "sandbox",
        "sandbox/policy",
        "sandbox/policy/host",
        "manifest",
        "compiler/executable",
        "stdlib/program"}},
  };
  return all;
}

/// An arrow that the list does not have, with the reason; one that is no longer needed fails.
struct Exemption {
  const char* from;
  const char* to;
  const char* reason;
};
constexpr Exemption kArrows[] = {
    {"sandbox/linux", "sandbox/linux/first_process",
     "freestanding headers: raw system calls, the removal of trees and the probe's format are the same on both sides"},
};

std::string folderOf(StringRef path) {
  std::string best;
  for (const Layer& layer : layers())
    if (path.starts_with((layer.folder + StringRef("/")).str()) &&
        StringRef(layer.folder).size() > best.size())
      best = layer.folder;
  return best;
}

struct Include {
  std::string file, header;
  bool quoted = false;
};
std::vector<Include> includesOf(const File& file) {
  std::vector<Include> result;
  StringRef rest = file.text;
  while (!rest.empty()) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    line = line.trim();
    if (!line.consume_front("#include"))
      continue;
    line = line.trim();
    if (line.starts_with("\""))
      result.push_back({file.path, line.drop_front().split('"').first.str(), true});
    else if (line.starts_with("<"))
      result.push_back({file.path, line.drop_front().split('>').first.str(), false});
  }
  return result;
}

const std::vector<File>& sources() {
  static const std::vector<File> all = filesOf(
      {"diagnostics", "manifest", "sandbox", "vm", "stdlib", "compiler"}, {".cpp", ".h", ".def"});
  return all;
}

TEST_CASE("layering: includes point down the list, never up, never sideways") {
  std::set<std::string> usedExemptions, folders;
  for (const File& file : sources()) {
    const std::string from = folderOf(file.path);
    CHECK_MESSAGE(!from.empty(), file.path << " stands in no layer");
    folders.insert(from);
    for (const Include& include : includesOf(file)) {
      if (!include.quoted || StringRef(include.header).starts_with("llvm/"))
        continue;
      const std::string to = folderOf(include.header);
      if (to.empty()) {
        // What the build makes lies beside no folder; anything else is a path that is not from the
        // root.
        const bool made = StringRef(include.header).ends_with(".inc") ||
                          StringRef(include.header).starts_with("generated/");
        CHECK_MESSAGE((made || !readFile(include.header).empty()),
                      file.path << " includes " << include.header
                                << ", which is not from the root");
        CHECK_MESSAGE((made || !StringRef(include.header).starts_with("tests/")),
                      file.path << " includes " << include.header);
        continue;
      }
      if (to == from)
        continue;
      const auto layer = std::find_if(layers().begin(), layers().end(),
                                      [&](const Layer& each) { return each.folder == from; });
      bool allowed = std::any_of(layer->below.begin(), layer->below.end(),
                                 [&](const char* below) { return to == below; });
      for (const Exemption& exemption : kArrows)
        if (from == exemption.from && to == exemption.to) {
          usedExemptions.insert(from + to);
          allowed = true;
        }
      CHECK_MESSAGE(allowed, file.path << " includes " << include.header << ": " << from
                                       << " must not know " << to);
    }
  }
  for (const Exemption& exemption : kArrows)
    if (*exemption.from)
      CHECK_MESSAGE(usedExemptions.count(std::string(exemption.from) + exemption.to),
                    exemption.from << " no longer includes " << exemption.to
                                   << ": drop the exemption");
  CHECK(folders.size() > 5);
}

/// Every third-party library has one door.
struct Door {
  const char* prefix;
  std::vector<const char*> files;
};

TEST_CASE("layering: every third-party library has one door") {
  const std::vector<Door> doors = {
      {"toml", {"manifest/toml_reader.cpp"}},
      {"nlohmann", {"diagnostics/json_writer.cpp", "stdlib/json.cpp"}},
      {"seccomp", {"sandbox/linux/filter_generator/main.cpp"}},
      {"doctest", {}},
  };
  for (const File& file : sources())
    for (const Include& include : includesOf(file)) {
      for (const Door& door : doors) {
        if (!StringRef(include.header).starts_with(door.prefix) || folderOf(include.header) != "")
          continue;
        const bool open = std::any_of(door.files.begin(), door.files.end(),
                                      [&](const char* at) { return file.path == at; });
        CHECK_MESSAGE(open, file.path << " includes " << include.header);
      }
      // Of LLVM, Support and ADT alone.
      const StringRef header = include.header;
      if (header.starts_with("llvm/"))
        CHECK_MESSAGE((header.starts_with("llvm/ADT/") || header.starts_with("llvm/Support/")),
                      file.path << " includes " << include.header);
      CHECK_MESSAGE(header != "llvm/Support/CommandLine.h", file.path);
      CHECK_MESSAGE((header != "iostream"), file.path << ": <iostream> is a static constructor");
    }
}

TEST_CASE("layering: a source includes its own header first, and headers have #pragma once") {
  std::set<std::string> paths;
  for (const File& file : sources())
    paths.insert(file.path);
  for (const File& file : sources()) {
    const StringRef path = file.path;
    if (path.ends_with(".h"))
      CHECK_MESSAGE(StringRef(file.text).contains("#pragma once"), file.path);
    if (!path.ends_with(".cpp"))
      continue;
    const std::string own = path.drop_back(4).str() + ".h";
    const auto includes = includesOf(file);
    if (paths.count(own))
      CHECK_MESSAGE((!includes.empty() && includes.front().header == own),
                    file.path << " does not begin with its header");
  }
}

/// Files past 800 lines, with the reason that their top comment gives.
struct Long {
  const char* path;
  const char* reason;
};
constexpr Long kLong[] = {
    {"compiler/lex/xid_ranges.def", "a table made from the Unicode data"},
    {"stdlib/unicode_tables.def", "a table made from the Unicode data"},
    {"compiler/ast/ast.h", "the nodes are one contract between the phases"},
    {"vm/verifier.cpp", "one rule after another over one table"},
    {"vm/interpreter.cpp", "the dispatch loop"},
    {"stdlib/prelude/core.gos", "the prelude is one module"},
    {"stdlib/prelude/time.gos", "calendar, clocks and zones are one module"},
};

TEST_CASE("layering: a file past 800 lines has a reason") {
  std::set<std::string> used;
  auto all = sources();
  for (File& file : filesOf({"tests", "stdlib"}, {".cpp", ".h", ".gos"}))
    all.push_back(std::move(file));
  for (const File& file : all) {
    const auto lines = std::count(file.text.begin(), file.text.end(), '\n');
    if (lines <= 800)
      continue;
    bool known = false;
    for (const Long& each : kLong)
      if (file.path == each.path) {
        known = true;
        used.insert(each.path);
      }
    CHECK_MESSAGE(known, file.path << " has " << lines << " lines: look for the second subject");
  }
}

TEST_CASE("layering: no file names a machine, and nothing exits below main") {
  for (const File& file : sources()) {
    for (StringRef word : {"/work/", "/home/user", "TODO:", "FIXME", "XXX("})
      CHECK_MESSAGE(!StringRef(file.text).contains(word), file.path << " holds " << word.str());
    if (file.path == "compiler/driver/main.cpp")
      continue;
    StringRef rest = file.text;
    while (!rest.empty()) {
      auto [line, tail] = rest.split('\n');
      rest = tail;
      const StringRef code = line.split("//").first;
      for (StringRef call : {"std::exit(", " exit(", " _exit(", "quick_exit(", "dynamic_cast<",
                             " throw ", "catch (", "std::cout", "std::cerr", "system(", "popen("})
        if (code.contains(call) && !code.contains("Trap exit("))
          CHECK_MESSAGE(false, file.path << ": " << line.trim().str());
    }
  }
}

TEST_CASE("layering: every folder has its page") {
  for (const char* folder :
       {"diagnostics",    "manifest",       "sandbox",        "sandbox/policy", "vm",
        "stdlib",         "compiler/lex",   "compiler/ast",   "compiler/parse", "compiler/resolve",
        "compiler/types", "compiler/check", "compiler/lower", "compiler/fold",  "compiler/driver",
        "tests/threats",  "tests/meta",     "tests/programs", "bench",          "scripts",
        "examples"}) {
    const std::string page = readFile(std::string(folder) + "/README.md");
    CHECK_MESSAGE(!page.empty(), std::string(folder) << " has no README.md");
    CHECK_MESSAGE(std::count(page.begin(), page.end(), '\n') <= 80,
                  std::string(folder) << "/README.md is more than a screen");
  }
}

} // namespace
} // namespace gos::meta
