#include "compiler/expand/derives.h"
#include "compiler/parse/parse.h"

#include <doctest/doctest.h>

#include <string>

using namespace gos;
using expand::Derive;

namespace {

struct Parsed {
  SourceMap sources;
  Engine engine{sources};
  ast::Context context;
  ast::File file;
  explicit Parsed(llvm::StringRef text)
      : file(parse::parseFile(llvm::cantFail(sources.addCopy("test.gos", text)), sources, context,
                              engine, {})) {}
};

} // namespace

TEST_CASE("derives of all attributes of an item are one set") {
  Parsed parsed("#[derive(Debug, Eq)]\n#[derive(Default)]\nstruct S\n#[inline]\nstruct T");
  const expand::DeriveSet set = expand::derivesOf(*parsed.file.module->items[0]);
  CHECK(set.has(Derive::Debug));
  CHECK(set.has(Derive::Eq));
  CHECK(set.has(Derive::Default));
  CHECK(!set.has(Derive::Ord));
  CHECK(expand::derivesOf(*parsed.file.module->items[1]).empty());
}

TEST_CASE("a name that cannot be derived is told apart") {
  Parsed parsed("#[derive(Debug, Clone, Hash)]\nstruct S");
  std::string unknown;
  expand::eachUnknownDerive(*parsed.file.module->items[0], [&](const ast::Ident& word) {
    unknown += word.name.text().str() + ' ';
  });
  CHECK(unknown == "Clone Hash ");
}

TEST_CASE("every derivable name is found by its spelling") {
  for (llvm::StringRef name : expand::derivableNames()) {
    const auto derive = expand::deriveFromSpelling(name);
    REQUIRE(derive);
    CHECK(expand::spelling(*derive) == name);
  }
  CHECK(!expand::deriveFromSpelling("debug"));
}

TEST_CASE("the default of an enum is the marked variant, or the first without a payload") {
  Parsed parsed("enum A { X, #[default] Y(i64) }\nenum B { X, Y }\nenum C { X(i64), Y }");
  const auto variant = [&](size_t index) {
    const auto* found =
        expand::defaultVariant(*llvm::cast<ast::EnumItem>(parsed.file.module->items[index]));
    return found ? found->name.name.text().str() : std::string("none");
  };
  CHECK(variant(0) == "Y");
  CHECK(variant(1) == "X");
  CHECK(variant(2) == "none");
}
