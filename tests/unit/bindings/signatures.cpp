#include "tests/unit/bindings/records.h"

#include "compiler/bindings/types.h"

#include <doctest/doctest.h>

namespace gos::bindings::test {
namespace {

using llvm::StringRef;

bool contains(StringRef text, StringRef part) {
  return text.contains(part);
}

/// Of a function `f` in `m::n` with this parameter type; empty if it may have it.
std::string parameter(StringRef type, StringRef more = "") {
  return problem(inModule((more + "fn\tf\tgos1_f\ti64\t\tp\t" + type + "\n").str()));
}
std::string result(StringRef type, StringRef more = "") {
  return problem(inModule((more + "fn\tf\tgos1_f\t" + type + "\t\n").str()));
}

TEST_CASE("records become modules, sorted, with their documentation") {
  std::string section = record("module\tz\tb\tlast\n") + std::string(13, '\0');
  section += inModule("fn\tsecond\tgos1_b\t()\tone\\ntwo\\tthree\\\\\n");
  section += inModule(
      "fn\tfirst\tgos1_a\tOption<P>\t\tx\tVec<u8>\tp\tP\nstruct\tP\tA point.\tx\tf64\ty\tf64\n");
  section += record("module\tm::n\tc\tThe module.\n");
  section += inModule("opaque\tO\tA handle.\n");
  auto signatures = parseRecords(section);
  REQUIRE(bool(signatures));
  REQUIRE(signatures->modules.size() == 2);
  const ModuleSignature& module = signatures->modules[0];
  CHECK(module.path == "m::n");
  CHECK(module.crate == "c");
  CHECK(module.documentation == "The module.");
  REQUIRE(module.functions.size() == 2);
  CHECK(module.functions[0].name == "first");
  CHECK(module.functions[0].symbol == "gos1_a");
  CHECK(module.functions[0].result == "Option<P>");
  REQUIRE(module.functions[0].parameters.size() == 2);
  CHECK(module.functions[0].parameters[1].name == "p");
  CHECK(module.functions[0].parameters[1].type == "P");
  CHECK(module.functions[1].documentation == "one\ntwo\tthree\\");
  REQUIRE(module.structs.size() == 1);
  CHECK(module.structs[0].fields[1].name == "y");
  CHECK(module.opaques[0].documentation == "A handle.");
  CHECK(signatures->modules[1].path == "z");
}

TEST_CASE("an empty section has no modules") {
  CHECK(problem("") == "");
  CHECK(problem(StringRef("\0\0\0\0", 4)) == "");
}

TEST_CASE("T122 lengths and magic are judged against what is left") {
  CHECK(contains(problem("GSB2\1\0\0\0x"), "no record of signatures at byte 0"));
  CHECK(contains(problem("GSB1"), "no record"));
  CHECK(
      contains(problem(StringRef("GSB1\xff\xff\xff\xff", 8)), "says 4294967295 bytes; 0 are left"));
  std::string longer = inModule("");
  longer[4] = char(longer[4] + 1);
  CHECK(contains(problem(longer), "are left"));
  CHECK(contains(problem(inModule("") + "junk"), "no record"));
  CHECK(contains(problem(std::string(17u << 20, '\0')), "bytes of signatures; the most are"));
  CHECK(contains(problem(record("")), "does not end with its line"));
}

TEST_CASE("T122 more functions than there may be are refused before they are kept") {
  std::string lines;
  for (int i = 0; i < 100001; ++i)
    lines += "opaque\tO" + std::to_string(i) + "\t\n";
  CHECK(contains(problem(inModule(lines)), "more than 100000 functions and types"));
}

TEST_CASE("T122 lines that are not of the format are refused") {
  CHECK(contains(problem(record("fn\tf\tgos1_f\ti64\t\n")), "begins with its `module` line"));
  CHECK(contains(problem(record("module\tm\tc\t\nmodule\tm\tc\t\n")),
                 "begins with its `module` line and has one"));
  CHECK(contains(problem(record("module\tm\tc\n")), "of 3 fields"));
  CHECK(contains(problem(inModule("enum\tE\t\n")), "a line `enum`, of which nothing is known"));
  CHECK(contains(problem(inModule("fn\tf\tgos1_f\n")), "one is missing"));
  CHECK(contains(problem(inModule("fn\tf\tgos1_f\ti64\t\tx\n")), "one is missing"));
  CHECK(contains(problem(inModule("opaque\tO\n")), "of 2 fields"));
  CHECK(contains(problem(inModule("\n")), "of which nothing is known"));
  CHECK(contains(problem(inModule("opaque\tO\tbad \\x escape\n")), "unknown escape"));
  CHECK(contains(problem(inModule("opaque\tO\tat the end \\\n")), "unknown escape"));
  CHECK(contains(problem(inModule("opaque\tO\t\x1b[31m\n")), "control character"));
  CHECK(contains(problem(inModule("opaque\tO\t\xff\n")), "not UTF-8"));
  CHECK(contains(problem(record(StringRef("module\tm\0\tc\t\n", 13))), "control character"));
}

TEST_CASE("T122 no path and no name stands in for the language") {
  for (StringRef path :
       {"std", "std::fs", "", "a::", "::a", "a b", "a::fn", "crate::a", "a:b", "1a", "_", "a::_"})
    CHECK_MESSAGE(contains(problem(record(("module\t" + path + "\tc\t\n").str())),
                           "which no module may have"),
                  path.str());
  CHECK(problem(record("module\tstandard::std\tc\t\n")) == "");
  CHECK(contains(problem(record("module\tm\ta/b\t\n")), "not the name of a crate"));
  for (StringRef type : {"Vec", "String", "i64", "Option", "u8", "Map", "HashMap", "usize"})
    CHECK_MESSAGE(contains(problem(inModule(("opaque\t" + type + "\t\n").str())),
                           "a type of Gossamer itself"),
                  type.str());
  for (StringRef name : {"fn", "", "a-b", "self", "a b", "package", "\\n", "_"}) {
    CHECK_MESSAGE(contains(problem(inModule(("fn\t" + name + "\tgos1_f\t()\t\n").str())),
                           "cannot be the name of a function"),
                  name.str());
    CHECK_MESSAGE(contains(problem(inModule(("struct\tS\t\t" + name + "\ti64\n").str())),
                           "cannot be the name of a field"),
                  name.str());
  }
  CHECK(problem(inModule("fn\tgrößer\tgos1_f\t()\t\n")) == "");
  CHECK(contains(problem(inModule("fn\tf\tsystem\t()\t\n")), "which is none of a binding"));
  CHECK(contains(problem(inModule("fn\tf\tgossamer_binding_free_1\t()\t\n")),
                 "which is none of a binding"));
  CHECK(contains(problem(inModule("fn\tf\tgos1_\t()\t\n")), "which is none of a binding"));
}

TEST_CASE("two bindings with one name are an error that names both") {
  CHECK(contains(
      problem(record("module\tm\tone\t\n") + record("module\tm\tother\t\n")),
      "two bindings with one name: the crates `one` and `other` both have the module `m`"));
  CHECK(contains(problem(record("module\tm\tone\t\n") + record("module\tm\tone\t\n")),
                 "stands twice in the crate `one`"));
  CHECK(contains(problem(inModule("fn\tf\tgos1_a\t()\t\n") + inModule("fn\tf\tgos1_b\t()\t\n")),
                 "two bindings with one name: `m::n::f` stands twice in the crate `c`"));
  CHECK(contains(problem(inModule("opaque\tA\t\nstruct\tA\t\n")), "`m::n::A` stands twice"));
  CHECK(contains(problem(inModule("fn\ta\tgos1_a\t()\t\nfn\tb\tgos1_a\t()\t\n")),
                 "which another function has"));
  CHECK(contains(problem(inModule("fn\tf\tgos1_a\t()\t\tx\ti64\tx\ti64\n")),
                 "has two parameters `x`"));
  CHECK(contains(problem(inModule("opaque\tA\t\n") + record("module\tm::n::A\tc\t\n")),
                 "also the path of a module"));
}

TEST_CASE("types have one spelling each") {
  for (StringRef type :
       {"()", "bool", "i64", "f64", "char", "String", "Vec<u8>", "Vec<Vec<u8>>", "Option<i64>",
        "Result<(), String>", "(i64,)", "(i64, f64)", "((), (i64, (bool, char)))",
        "HashMap<String, Vec<i64>>", "HashMap<(i64, Option<char>), f64>"})
    CHECK_MESSAGE(parameter(type) == "", type.str());
  for (StringRef type : {"",
                         "i32",
                         "u8",
                         "Option<u8>",
                         "(u8, i64)",
                         "HashMap<u8, i64>",
                         "Vec",
                         "Vec<>",
                         "Vec<i64",
                         "Vec<i64>>",
                         "Vec< i64>",
                         "Vec<i64,>",
                         "Vec<i64, i64>",
                         "Result<i64>",
                         "(i64)",
                         "(i64,f64)",
                         "(i64, )",
                         "(",
                         ")",
                         "&i64",
                         "& str",
                         "str",
                         "[i64]",
                         "fn()",
                         "Box<i64>",
                         "i64 ",
                         " i64",
                         "std::Vec",
                         "a::",
                         "(i64, i64, i64, i64, i64, i64, i64, i64, i64)",
                         "Map<i64, i64>"})
    CHECK_MESSAGE(contains(parameter(type), "is no type of the interface"), type.str());
}

TEST_CASE("keys of maps are what both languages can order") {
  for (StringRef key : {"f64", "Vec<i64>", "HashMap<i64, i64>", "(i64, f64)", "Option<Vec<u8>>",
                        "Result<i64, i64>"})
    CHECK_MESSAGE(contains(parameter(("HashMap<" + key + ", i64>").str()), "which has no order"),
                  key.str());
  CHECK(parameter("HashMap<K, i64>", "struct\tK\t\ta\ti64\tb\t(char, String)\n") == "");
  CHECK(contains(parameter("HashMap<K, i64>", "struct\tK\t\ta\tf64\n"), "which has no order"));
  CHECK(contains(parameter("HashMap<K, i64>", "struct\tJ\t\ta\tf64\nstruct\tK\t\tj\tJ\n"),
                 "which has no order"));
  CHECK(contains(result("HashMap<O, i64>", "opaque\tO\t\n"), "which has no order"));
}

TEST_CASE("T122 a type that does not exist is refused") {
  CHECK(contains(parameter("Point"), "the type `Point` is not in the crate"));
  CHECK(contains(parameter("other::Point"), "the type `other::Point` is not in the crate"));
  CHECK(contains(problem(inModule("struct\tS\t\tx\tT\n")), "the type `T` is not in the crate"));
  // Nor is a type of another crate.
  const std::string other = record("module\tother\td\t\nstruct\tPoint\t\tx\tf64\n");
  CHECK(contains(problem(other + inModule("fn\tf\tgos1_f\tPoint\t\n")),
                 "the type `Point` is not in the crate"));
  CHECK(contains(problem(other + inModule("fn\tf\tgos1_f\tother::Point\t\n")),
                 "`other::Point` is not in the crate"));
}

TEST_CASE("a type of another module of the crate is found, with or without its path") {
  const std::string other = record("module\tother\tc\t\nstruct\tPoint\t\tx\tf64\n");
  for (StringRef spelling : {"Option<Point>", "Option<other::Point>"}) {
    auto signatures = parseRecords(other + inModule(("fn\tf\tgos1_f\t" + spelling + "\t\n").str()));
    REQUIRE(bool(signatures));
    CHECK(signatures->modules[0].functions[0].result == "Option<Point>");
  }
  const std::string third = record("module\tthird\tc\t\nstruct\tPoint\t\tx\ti64\n");
  CHECK(contains(problem(other + third + inModule("fn\tf\tgos1_f\tother::Point\t\n")),
                 "of which the crate has two"));
  CHECK(contains(problem(other + inModule("struct\tPoint\t\ny") + ""), "begins with") == false);
  CHECK(contains(problem(other + inModule("struct\tPoint\t\nfn\tf\tgos1_f\tother::Point\t\n")),
                 "of which the crate has two"));
}

TEST_CASE("opaque values are answered anywhere and lent alone") {
  const StringRef opaque = "opaque\tO\t\n";
  CHECK(parameter("O", opaque) == "");
  CHECK(result("O", opaque) == "");
  CHECK(result("Result<Vec<(O, i64)>, String>", opaque) == "");
  CHECK(contains(parameter("Vec<O>", opaque), "inside of another"));
  CHECK(contains(parameter("(O, O)", opaque), "inside of another"));
  CHECK(contains(parameter("S", "opaque\tO\t\nstruct\tS\t\to\tO\n"), "inside of another"));
}

TEST_CASE("T122 types without end or bound are refused") {
  std::string deep = "i64";
  for (int i = 0; i < 31; ++i)
    deep = "Vec<" + deep + ">";
  CHECK(parameter(deep) == "");
  CHECK(contains(parameter("Vec<" + deep + ">"), "more than 32 deep"));
  std::string endless;
  for (int i = 0; i < 100000; ++i)
    endless += "Vec<";
  CHECK(contains(parameter(endless), "more than 32 deep"));
  CHECK(contains(problem(inModule("struct\tA\t\ta\tA\n")), "holds itself"));
  CHECK(contains(problem(inModule("struct\tA\t\ta\tVec<B>\nstruct\tB\t\ta\tOption<A>\n")),
                 "holds itself"));
  // A chain too long for the stack, and one that doubles.
  std::string chain, doubling;
  for (int i = 0; i < 50000; ++i)
    chain += "struct\tS" + std::to_string(i) + "\t\tx\tS" + std::to_string(i + 1) + "\n";
  chain += "struct\tS50000\t\tx\ti64\n";
  CHECK(contains(problem(inModule(chain)), "is too large"));
  for (int i = 0; i < 40; ++i) {
    const std::string next = "S" + std::to_string(i + 1);
    doubling += "struct\tS" + std::to_string(i) + "\t\tx\t" + next + "\ty\t" + next + "\n";
  }
  doubling += "struct\tS40\t\tx\ti64\n";
  CHECK(contains(problem(inModule(doubling)), "is too large"));
  std::string parameters = "fn\tf\tgos1_f\t()\t";
  for (int i = 0; i < 65; ++i)
    parameters += "\tp" + std::to_string(i) + "\ti64";
  CHECK(contains(problem(inModule(parameters + "\n")), "more than 64 parameters"));
}

TEST_CASE("T122 every prefix of a good section, and every change of one byte, is read or refused") {
  const std::string good =
      inModule("fn\tf\tgos1_f\tResult<P, String>\td\tx\tHashMap<String, P>\n") +
      inModule("struct\tP\t\tx\tf64\topt\tOption<(i64,)>\nopaque\tO\t\n") +
      record("module\tm::n\tc\t\n");
  REQUIRE(problem(good) == "");
  size_t refused = 0;
  for (size_t end = 0; end < good.size(); ++end)
    refused += problem(StringRef(good).take_front(end)).empty() ? 0 : 1;
  CHECK(refused > good.size() / 2);
  for (size_t at = 0; at < good.size(); ++at)
    for (const char byte : {'\0', '\t', '\n', '\\', '<', '\x80', '\xff', 'z'}) {
      std::string changed = good;
      changed[at] = byte;
      (void)problem(changed);
    }
}

} // namespace
} // namespace gos::bindings::test
