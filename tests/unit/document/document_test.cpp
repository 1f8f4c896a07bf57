#include "compiler/document/document.h"
#include "compiler/document/markdown.h"
#include "compiler/document/render.h"
#include "compiler/parse/parse.h"
#include "stdlib/builtins.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace gos;
using document::Documentation;
using document::Item;
using document::Take;
using llvm::StringRef;

namespace {

struct Documented {
  explicit Documented(StringRef text, Take take = Take::All) : engine(sources) {
    auto id = sources.addCopy("test.gos", text);
    REQUIRE(bool(id));
    parse::ParseOptions options;
    options.isEntry = true;
    file = parse::parseFile(*id, sources, context, engine, options);
    document::ParsedFile entry{"", &file};
    documentation = document::documentPackage("test", entry, sources, take);
  }
  const Item& item(StringRef path) {
    const document::Found found = document::find(documentation, path);
    REQUIRE_MESSAGE(found.item, path.str());
    return *found.item;
  }
  std::string text() {
    std::string result;
    llvm::raw_string_ostream out(result);
    document::renderText(out, documentation, {}, {});
    return result;
  }
  SourceMap sources;
  Engine engine;
  ast::Context context;
  ast::File file;
  Documentation documentation;
};

const char* const kShapes = "// Shapes and their sizes.\n"
                            "\n"
                            "/// A point in the plane.\n"
                            "#[derive(Debug, Clone)]\n"
                            "pub struct Point {\n"
                            "    // To the right.\n"
                            "    pub x: f64\n"
                            "    y: f64\n"
                            "}\n"
                            "impl Point {\n"
                            "    /// How far from the origin it is.\n"
                            "    ///\n"
                            "    /// ```\n"
                            "    /// assert_eq(1, 1)\n"
                            "    /// ```\n"
                            "    pub fn length(&self,\n"
                            "                  scale: f64 = 1.0) -> f64 { self.x * scale }\n"
                            "    fn secret(&self) {}\n"
                            "}\n"
                            "impl Display for Point { fn fmt(&self) -> String { \"p\" } }\n"
                            "pub enum Side { Left, Right(i64) }\n"
                            "fn hidden() {}\n"
                            "pub mod inner {\n"
                            "    // Twice the number.\n"
                            "    pub fn twice<T: Number>(n: T) -> T where T: Copy { n }\n"
                            "}\n";

/// Tags that are opened are closed, in order; text holds no bare `<`, `>` or `&`.
std::string htmlProblem(StringRef html) {
  std::vector<std::string> open;
  const StringRef voids[] = {"meta", "link", "input", "br"};
  size_t at = 0;
  while (at < html.size()) {
    if (html[at] == '>')
      return "a bare `>` at " + llvm::utostr(at);
    if (html[at] == '&') {
      const size_t end = html.find(';', at);
      if (end == StringRef::npos || end - at > 7)
        return "a bare `&` at " + llvm::utostr(at);
    }
    if (html[at] != '<') {
      ++at;
      continue;
    }
    size_t end = at + 1;
    bool quoted = false;
    while (end < html.size() && (quoted || html[end] != '>')) {
      if (html[end] == '"')
        quoted = !quoted;
      if (html[end] == '<')
        return "`<` inside a tag at " + llvm::utostr(at);
      ++end;
    }
    if (end == html.size())
      return "a tag that does not end";
    StringRef tag = html.slice(at + 1, end);
    at = end + 1;
    if (tag.starts_with("!DOCTYPE"))
      continue;
    if (tag.consume_front("/")) {
      if (open.empty() || open.back() != tag)
        return "`</" + tag.str() + ">` closes " + (open.empty() ? "nothing" : open.back());
      open.pop_back();
      continue;
    }
    const std::string name = tag.split(' ').first.str();
    if (!llvm::is_contained(voids, name))
      open.push_back(name);
  }
  return open.empty() ? "" : "`" + open.back() + "` is left open";
}

std::string temporaryDirectory() {
  char name[] = "/tmp/gos-doc-test-XXXXXX";
  return ::mkdtemp(name);
}
std::string contentOf(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::string problemOf(llvm::Error error) {
  return llvm::toString(std::move(error));
}

} // namespace

TEST_CASE("signatures read as their author wrote them, with regular blanks") {
  Documented program(kShapes);
  CHECK(program.item("Point::length").signature == "pub fn length(&self, scale: f64 = 1.0) -> f64");
  CHECK(program.item("inner::twice").signature ==
        "pub fn twice<T: Number>(n: T) -> T where T: Copy");
  CHECK(program.item("Side").signature == "pub enum Side {\n    Left\n    Right(i64)\n}");
  CHECK(program.item("Point").signature ==
        "#[derive(Debug, Clone)]\npub struct Point {\n    pub x: f64\n    y: f64\n}");
}

TEST_CASE("a library shows what is pub, and says that there is more in a struct") {
  Documented library(kShapes, Take::Reachable);
  CHECK(library.item("Point").signature ==
        "#[derive(Debug, Clone)]\npub struct Point {\n    pub x: f64\n    // private fields\n}");
  CHECK(!document::find(library.documentation, "hidden").item);
  CHECK(!document::find(library.documentation, "Point::secret").item);
  CHECK(document::find(library.documentation, "inner::twice").item);
}

TEST_CASE("comments are found: of the file, of items, of fields") {
  Documented program(kShapes);
  CHECK(program.documentation.modules[0].documentation == "Shapes and their sizes.");
  CHECK(program.item("Point").documentation == "A point in the plane.");
  CHECK(program.item("Point::x").documentation == "To the right.");
  CHECK(program.item("inner::twice").documentation == "Twice the number.");
}

TEST_CASE("what stands far along a line has no comment, and a long line is walked once") {
  std::string text = "enum Long {\n    // The first.\n    A0";
  for (int number = 1; number != 20000; ++number)
    text += ", A" + std::to_string(number);
  Documented documented(text + "\n}\nfn main() {}\n");
  CHECK(documented.item("Long::A0").documentation == "The first.");
  CHECK(documented.item("Long::A19999").documentation.empty());
}

TEST_CASE("a fenced block knows its text, its owner and its line") {
  Documented program(kShapes);
  const auto blocks = document::codeBlocks(program.documentation);
  REQUIRE(blocks.size() == 1);
  CHECK(blocks[0].text == "assert_eq(1, 1)\n");
  CHECK(blocks[0].owner == "Point::length");
  CHECK(blocks[0].line == 14);
  CHECK(program.sources.locate(blocks[0].span).line == 14);
  CHECK(blocks[0].isTest());
}

TEST_CASE("which fences are tests is told by their info string") {
  const auto blocks =
      document::fencedBlocks("```text\na\n```\n~~~gossamer\nb\n~~~\n````\n```\n````\n```rust\nc");
  REQUIRE(blocks.size() == 4);
  CHECK(!blocks[0].isTest());
  CHECK((blocks[1].isTest() && blocks[1].text == "b\n"));
  CHECK((blocks[2].isTest() && blocks[2].text == "```\n"));
  CHECK((!blocks[3].isTest() && blocks[3].text == "c\n")); // left open: up to the end
}

TEST_CASE("an unknown path is told what is near") {
  const Documentation library = document::documentLibrary();
  CHECK(document::find(library, "std::fs::raed_to_string").nearest == "std::fs::read_to_string");
  CHECK(document::find(library, "std::stings").nearest == "std::strings");
  CHECK(document::find(library, "std::String::trim").item);
}

TEST_CASE("the documentation of std covers every module and every row of the table") {
  const Documentation library = document::documentLibrary();
  std::string text;
  llvm::raw_string_ostream out(text);
  document::renderText(out, library, {}, {});
  for (StringRef name : stdlib::moduleNames()) {
    if (name == "intrinsics")
      continue;
    const std::string path = name == "core" ? "std::prelude" : ("std::" + name).str();
    CHECK_MESSAGE(document::find(library, path).module, path);
  }
  for (const stdlib::BuiltinRow& row : stdlib::builtinRows()) {
    if (row.module == "intrinsics")
      continue;
    const std::string path = ("std::" + row.path).str();
    const document::Found found = document::find(library, path);
    CHECK_MESSAGE(found.item, path);
    StringRef signature = row.signature;
    signature.consume_front("fn");
    CHECK_MESSAGE(StringRef(text).contains(("fn " + row.name + signature).str()), path);
  }
}

TEST_CASE("every module of std says what it is for") {
  for (const document::Module& module : document::documentLibrary().modules)
    CHECK_MESSAGE(!module.documentation.empty(), module.path);
}

TEST_CASE("pages are well formed, for the whole library too") {
  for (const Documentation& documentation :
       {document::documentLibrary(), Documented(kShapes).documentation})
    for (const document::Page& page : document::renderSite(documentation))
      if (StringRef(page.name).ends_with(".html"))
        CHECK_MESSAGE(htmlProblem(page.content) == "", page.name);
}

TEST_CASE("links of pages lead to pages and anchors that exist") {
  const auto pages = document::renderSite(document::documentLibrary());
  llvm::StringSet<> known;
  for (const document::Page& page : pages) {
    known.insert(page.name);
    StringRef rest = page.content;
    for (size_t at; (at = rest.find(" id=\"")) != StringRef::npos;) {
      rest = rest.drop_front(at + 5);
      known.insert(page.name + "#" + rest.take_until([](char c) { return c == '"'; }).str());
    }
  }
  for (const document::Page& page : pages) {
    StringRef rest = page.content;
    for (size_t at; (at = rest.find("href=\"")) != StringRef::npos;) {
      rest = rest.drop_front(at + 6);
      const std::string target = rest.take_until([](char c) { return c == '"'; }).str();
      if (StringRef(target).starts_with("http"))
        continue;
      const std::string whole = StringRef(target).starts_with("#") ? page.name + target : target;
      CHECK_MESSAGE(known.contains(whole), (page.name + " -> " + target));
    }
  }
}

TEST_CASE("hostile comments reach a page as text") {
  Documented program(
      "// <script>alert(1)</script> & \"quotes\" [x](javascript:alert(1)) [y](https://a.b/?c&d)\n"
      "// [z](data:text/html,q) `</code><img src=x>` \x1b[31mred\x1b[0m\n"
      "pub fn f(text: String = \"</pre><script>\") {}\n");
  for (const document::Page& page : document::renderSite(program.documentation)) {
    const StringRef html = page.content;
    if (!StringRef(page.name).ends_with(".html"))
      continue;
    CHECK(htmlProblem(html) == "");
    CHECK(!html.contains("<script>"));
    CHECK(!html.contains("javascript:"));
    CHECK(!html.contains("data:text"));
    CHECK(!html.contains("<img"));
    CHECK(!html.contains('\x1b'));
  }
  CHECK(!StringRef(program.text()).contains('\x1b'));
  for (const document::Page& page : document::renderSite(program.documentation))
    if (page.name == "search.js")
      CHECK(!StringRef(page.content).contains("</script"));
}

TEST_CASE("any text is Markdown, and reading it takes linear time") {
  for (const char* text : {"", "`", "``", "**", "*", "[", "[](", "[a](b", "# ", "#", "- ", "1. ",
                           "```", "~~~x\n", "\\", "\xff\xfe", "* a\n  * b\n\n\n1. c"}) {
    document::parseMarkdown(text);
    document::parseInline(text);
    document::summary(text);
  }
  const std::string many =
      std::string(200'000, '[') + std::string(200'000, '*') + std::string(100'000, '`');
  CHECK(!document::parseInline(many).empty());
}

TEST_CASE("a site is written whole, replaced whole, and nothing foreign is touched") {
  const std::string root = temporaryDirectory();
  const std::string site = root + "/site";
  CHECK(problemOf(document::writeSite(site, {{"index.html", "one"}, {"old.html", "old"}})) == "");
  CHECK(contentOf(site + "/index.html") == "one");
  CHECK(problemOf(document::writeSite(site + "/", {{"index.html", "two"}})) == "");
  CHECK(contentOf(site + "/index.html") == "two");
  CHECK(::access((site + "/old.html").c_str(), F_OK) != 0);

  SUBCASE("a directory of somebody else") {
    const std::string mine = root + "/mine";
    REQUIRE(::mkdir(mine.c_str(), 0755) == 0);
    CHECK(problemOf(document::writeSite(mine, {{"index.html", "x"}})) == ""); // it was empty
    const std::string other = root + "/other";
    REQUIRE(::mkdir(other.c_str(), 0755) == 0);
    std::ofstream(other + "/thesis.txt") << "years of work";
    CHECK(StringRef(problemOf(document::writeSite(other, {{"index.html", "x"}})))
              .contains("did not make"));
    CHECK(contentOf(other + "/thesis.txt") == "years of work");
    CHECK(::access((other + "/index.html").c_str(), F_OK) != 0);
  }
  SUBCASE("a link, a file, no name, no parent") {
    REQUIRE(::symlink(site.c_str(), (root + "/link").c_str()) == 0);
    CHECK(problemOf(document::writeSite(root + "/link", {{"index.html", "x"}})) != "");
    CHECK(contentOf(site + "/index.html") == "two");
    std::ofstream(root + "/file") << "f";
    CHECK(problemOf(document::writeSite(root + "/file", {{"index.html", "x"}})) != "");
    CHECK(contentOf(root + "/file") == "f");
    for (const char* bad : {".", "..", "/"})
      CHECK(problemOf(document::writeSite(bad, {{"index.html", "x"}})) != "");
    CHECK(problemOf(document::writeSite(root + "/a/b/c", {{"index.html", "x"}})) != "");
  }
  SUBCASE("a page that cannot be written leaves the old site") {
    CHECK(problemOf(document::writeSite(site, {{"index.html", "three"}, {"no/such.html", "x"}})) !=
          "");
    CHECK(contentOf(site + "/index.html") == "two");
  }
}

TEST_CASE("a binding is documented from data") {
  bindings::Signatures signatures;
  bindings::ModuleSignature& module = signatures.modules.emplace_back();
  module.path = "stats::fast";
  module.documentation = "Numbers, quickly.\n\n```\nlet x: u8 = 1;\n```";
  module.functions.push_back(
      {"mean", "gos_mean", {{"values", "Vec<f64>"}}, "Option<f64>", "The mean."});
  module.structs.push_back({"Point", {{"x", "f64"}}, ""});
  module.opaques.push_back({"Table", "Stays in Rust."});
  const Documentation documentation = document::documentBindings(signatures);
  const document::Found mean = document::find(documentation, "stats::fast::mean");
  REQUIRE(mean.item);
  CHECK(mean.item->signature == "pub fn mean(values: Vec<f64>) -> Option<f64>");
  CHECK(document::classText(*mean.item) == "foreign function call");
  for (const document::CodeBlock& block : document::codeBlocks(documentation))
    CHECK(!block.isTest()); // Rust, not Gossamer
}

TEST_CASE("tables, quotations and lists in lists are what they are in every rendering") {
  const std::string text =
      "| shape | area |\n|:--|--:|\n| `a|b` | 4 |\n| x \\| y |\n\n"
      "> said\n> by somebody\n\n* one\n  * inner\n  * more\n* two\n\n1. first\n";
  const auto blocks = document::parseMarkdown(text);
  REQUIRE(blocks.size() == 7);
  REQUIRE(blocks[0].kind == document::Block::Kind::Table);
  CHECK(blocks[0].rows ==
        std::vector<std::vector<std::string>>{{"shape", "area"}, {"`a|b`", "4"}, {"x | y", ""}});
  CHECK(blocks[0].alignments == std::vector{document::Alignment::Left, document::Alignment::Right});
  CHECK(blocks[1].kind == document::Block::Kind::Quote);
  CHECK(blocks[1].text == "said by somebody");

  std::string comment;
  for (StringRef rest = text; !rest.empty();) {
    auto [line, behind] = rest.split('\n');
    comment += ("// " + line + "\n").str();
    rest = behind;
  }
  Documented program(comment + "\nfn main() {}\n");
  std::string html;
  for (const document::Page& page : document::renderSite(program.documentation)) {
    if (!StringRef(page.name).ends_with(".html"))
      continue;
    CHECK(htmlProblem(page.content) == "");
    html += page.content;
  }
  CHECK(StringRef(html).contains("<tr><th>shape</th><th class=\"right\">area</th></tr>\n"
                                 "<tr><td><code>a|b</code></td><td class=\"right\">4</td></tr>"));
  CHECK(StringRef(html).contains("<blockquote>said by somebody</blockquote>"));
  CHECK(StringRef(html).contains("<li>one<ul>\n<li>inner</li>\n<li>more</li>\n</ul>\n</li>\n"
                                 "<li>two</li>\n</ul>\n<ol>\n<li>first</li>\n</ol>"));
  const std::string shown = program.text();
  CHECK(StringRef(shown).contains("shape  area\n"));
  CHECK(StringRef(shown).contains("`a|b`     4\n"));
}

TEST_CASE("a line with bars that is no table is a paragraph, and a wide cell pads no other row") {
  CHECK(document::parseMarkdown("a | b\nc | d\n").front().kind == document::Block::Kind::Paragraph);
  CHECK(document::parseMarkdown("a | b\n--|--|--\n").front().kind ==
        document::Block::Kind::Paragraph);
  std::string comment = "// | a | b |\n// |--|--|\n// | " + std::string(20'000, 'x') + " | y |\n";
  for (unsigned i = 0; i < 1000; ++i)
    comment += "// | 1 | 2 |\n";
  Documented program(comment + "\nfn main() {}\n");
  CHECK(program.text().size() < 400'000);
}
