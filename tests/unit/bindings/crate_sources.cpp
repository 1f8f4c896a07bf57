#include "compiler/bindings/crate_sources.h"

#include "compiler/bindings/types.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace gos::bindings {
namespace {

using llvm::StringRef;

StringRef contentOf(StringRef path) {
  for (const CrateFile& file : crateSources())
    if (file.path == path)
      return file.content;
  return "";
}

/// The string literals of a list `pub const NAME: &[&str] = &[...];`.
std::set<std::string> listOf(StringRef source, StringRef name) {
  std::set<std::string> words;
  StringRef list =
      source.split(("pub const " + name + ":").str()).second.split("= &[").second.split("];").first;
  while (list.contains('"')) {
    list = list.split('"').second;
    words.insert(list.split('"').first.str());
    list = list.split('"').second;
  }
  return words;
}

TEST_CASE("both crates are inside, byte for byte as in the tree, and sorted") {
  CHECK(llvm::is_sorted(crateSources(), [](const CrateFile& one, const CrateFile& other) {
    return one.path < other.path;
  }));
  for (StringRef path :
       {"gossamer-binding/Cargo.toml", "gossamer-binding/src/lib.rs",
        "gossamer-binding-macros/Cargo.toml", "gossamer-binding-macros/src/lib.rs"})
    CHECK_MESSAGE(!contentOf(path).empty(), path.str());
  for (const CrateFile& file : crateSources()) {
    auto buffer = llvm::MemoryBuffer::getFile(
        (StringRef(GOS_SOURCE_DIR) + "/stdlib/rust/" + file.path).str());
    REQUIRE(bool(buffer));
    CHECK((*buffer)->getBuffer() == file.content);
    CHECK(!StringRef(file.path).contains(".."));
    CHECK((file.path.ends_with(".rs") || file.path.ends_with("/Cargo.toml")));
  }
}

TEST_CASE(
    "the crates depend on each other by path and on nothing else, and build nothing of their own") {
  CHECK(crateVersion() == "0.1.0");
  CHECK(contentOf("gossamer-binding/Cargo.toml")
            .contains("gossamer-binding-macros = { path = \"../gossamer-binding-macros\""));
  CHECK(!contentOf("gossamer-binding-macros/Cargo.toml").contains("[dependencies]"));
  for (const CrateFile& file : crateSources()) {
    CHECK(!file.path.ends_with("build.rs"));
    if (file.path.ends_with("Cargo.toml")) {
      CHECK(!file.content.contains("build-dependencies"));
      CHECK(!file.content.contains("build ="));
      CHECK(file.content.contains(("version = \"" + crateVersion() + "\"").str()));
    }
  }
}

TEST_CASE("the macros know the words of the language that the reader knows") {
  const StringRef names = contentOf("gossamer-binding-macros/src/names.rs");
  std::set<std::string> keywords;
#define GOS_KEYWORD(kind, spelling) keywords.insert(spelling);
#include "compiler/lex/token_kinds.def"
  CHECK(listOf(names, "KEYWORDS") == keywords);
  const std::set<std::string> types = listOf(names, "TYPES");
  CHECK(types.size() > 20);
  for (const std::string& type : types)
    CHECK_MESSAGE(isLanguageType(type), type);
}

} // namespace
} // namespace gos::bindings
