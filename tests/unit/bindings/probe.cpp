#include "compiler/bindings/probe.h"

#include <doctest/doctest.h>

namespace gos::bindings {

TEST_CASE(
    "the answer of a question is what a lock names as unused, and nothing that forges a line") {
  const std::vector<LockedPackage> answers = probeAnswer(
      "version = 4\n\n[[package]]\nname = \"gossamer-question\"\nversion = \"0.0.0\"\n\n"
      "[[patch.unused]]\nname = \"shapes\"\nversion = \"0.1.0\"\n"
      "source = \"git+https://example.com/s#eed9\"\n\n"
      "[[patch.unused]]\nname = \"odd\"\nversion = \"1\" x = \"2\"\nsource = \"registry+x\"\n\n"
      "[[patch.unused]]\nname = \"half\"\nversion = \"1.0.0\"\n");
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].name == "shapes");
  CHECK(answers[0].version == "0.1.0");
  CHECK(answers[0].source == "git+https://example.com/s#eed9");
  CHECK(probeAnswer("").empty());
  CHECK(probeAnswer("[[patch.unused]]").empty());
  CHECK(probeAnswer("[[patch.unused]]\nname = \"").empty());
}

TEST_CASE("of several versions the newest is read from what this Cargo says and older ones said") {
  const std::optional<Ambiguous> now = ambiguousCrate(
      {"error: patch for `unicorn` in `registry `crates-io`` resolved to more than one candidate",
       "note: found versions: 0.3.0, 0.3.1",
       "help: check `unicorn` patch definition for `https://gossamer.invalid/` in `/x/Cargo.toml`",
       "help: select only one package using `version = \"=0.3.1\"`"});
  REQUIRE(now);
  CHECK(now->crate == "unicorn");
  CHECK(now->newest == "0.3.1");
  const std::optional<Ambiguous> before = ambiguousCrate(
      {"error: failed to resolve patches for `https://gossamer.invalid/`", "", "Caused by:",
       "  patch for `unicorn` in `https://gossamer.invalid/` resolved to more than one candidate",
       "  Found versions: 0.3.0, 0.3.1",
       "  Update the patch definition to select only one package.",
       "  For example, add an `=` version requirement to the patch definition, such as "
       "`version = \"=0.3.1\"`."});
  REQUIRE(before);
  CHECK(before->newest == "0.3.1");
  CHECK_FALSE(ambiguousCrate({"error: no matching package named `unicorn` found"}));
  CHECK_FALSE(ambiguousCrate({}));
}

} // namespace gos::bindings
