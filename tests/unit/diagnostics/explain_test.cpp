#include "diagnostics/explain.h"

#include <doctest/doctest.h>

using namespace gos;

TEST_CASE("a page is embedded under its code") {
  CHECK(explanation(Code::GT0018).starts_with("# GT0018: "));
  CHECK(explanation(Code::GX0010).starts_with("# GX0010: "));
}

TEST_CASE("the examples of a page are found with the words of their fence") {
  const auto examples =
      explanationExamples("# GT0001: x\n\n```\nnot an example\n```\n\n"
                          "## Broken\n\nText.\n\n```gossamer check --x\na\nb\n```\n"
                          "\n## Fixed\n\n```toml\n```\n```gossamer\nc\n```\n"
                          "## See also\n```gossamer\nd\n```\n");
  REQUIRE(examples.size() == 3);
  CHECK(examples[0].kind == ExplanationExample::Kind::Broken);
  CHECK(examples[0].info == "gossamer check --x");
  CHECK(examples[0].text == "a\nb\n");
  CHECK(examples[1].kind == ExplanationExample::Kind::Fixed);
  CHECK(examples[1].info == "toml");
  CHECK(examples[1].text == "");
  CHECK(examples[2].text == "c\n");
}

TEST_CASE("a page that breaks off gives the examples before that") {
  CHECK(explanationExamples("").empty());
  CHECK(explanationExamples("## Broken\n```gossamer\nnever closed").empty());
  CHECK(explanationExamples("## Broken\n```").empty());
}

TEST_CASE("a page says why it has no example") {
  CHECK(noExampleReason("# X: y\n\nno example: it is a matter of permissions\n") ==
        "it is a matter of permissions");
  CHECK(noExampleReason("# X: y\n\nThere is no example: why?\n") == "");
}

TEST_CASE("every code has a page with its title, a broken and a fixed example") {
  for (size_t index = 0; index < codeCount(); ++index) {
    const Code code = codeAt(index);
    const llvm::StringRef page = explanation(code);
    INFO(spelling(code).str());
    CHECK(page.starts_with("# " + spelling(code).str() + ": "));
    CHECK(page.ends_with("\n"));
    int broken = 0, fixed = 0;
    for (const ExplanationExample& example : explanationExamples(page)) {
      ++(example.kind == ExplanationExample::Kind::Broken ? broken : fixed);
      CHECK(example.text.ends_with("\n"));
    }
    const bool hasReason = !noExampleReason(page).empty();
    const int wanted = isRetired(code) || hasReason ? 0 : 1;
    CHECK(broken == wanted);
    CHECK(fixed == wanted);
    CHECK_FALSE((isRetired(code) && hasReason));
  }
}
