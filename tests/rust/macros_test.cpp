#include "tests/rust/cargo_scene.h"

#include "llvm/ADT/StringRef.h"

#include <doctest/doctest.h>

#include <map>
#include <vector>

namespace gos::test {
namespace {

using llvm::StringRef;

std::string manifestOf(const std::string& name, const std::string& dependencies) {
  return "[package]\nname = \"" + name +
         "\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n" + dependencies;
}

TEST_CASE(
    "every mistake in a binding is reported at its place, with what to do, and nothing else is") {
  if (!haveCargo())
    return;
  std::string source;
  REQUIRE(readFile(GOS_SOURCE_DIR "/tests/rust/wrong/lib.rs", source));
  std::map<unsigned, std::string> wanted; // by line
  unsigned line = 0;
  for (const std::string& text : splitLines(source)) {
    ++line;
    const size_t mark = text.find("//~ ");
    if (mark != std::string::npos)
      wanted[line] = text.substr(mark + 4);
  }
  CHECK(wanted.size() > 40);

  CargoScene scene("wrong", manifestOf("wrong", "gossamer-binding = \"0.1\"\n"), source);
  const ChildResult result =
      scene.cargo({"check", "-q", "-p", "wrong", "--message-format=short", "--color=never"});
  CHECK(result.exitedWith(101));
  // `wrong/src/lib.rs:21:26: error: ...`
  std::map<unsigned, std::vector<std::string>> found;
  for (const std::string& text : splitLines(result.err)) {
    StringRef rest = text;
    if (!rest.consume_front("wrong/src/lib.rs:") || !rest.contains(": error"))
      continue;
    unsigned at = 0;
    REQUIRE(!rest.split(':').first.getAsInteger(10, at));
    found[at].push_back(rest.split(": error").second.str());
  }
  for (const auto& [at, text] : wanted) {
    REQUIRE_MESSAGE(found.count(at), "nothing was reported in line " << at << ": " << text << "\n"
                                                                     << result.err);
    // What the compiler itself says of the line has a number.
    unsigned ours = 0;
    for (const std::string& error : found[at])
      ours += error.find("[E") == 0 ? 0 : 1;
    CHECK_MESSAGE(ours == 1, "line " << at << " has " << ours << " errors: " << found[at].back());
    CHECK_MESSAGE(found[at][0].find(text) != std::string::npos,
                  "line " << at << ": " << found[at][0]);
  }
  for (const auto& [at, texts] : found)
    CHECK_MESSAGE(wanted.count(at), "line " << at << " is right and was refused: " << texts[0]);
}

TEST_CASE("a profile that aborts on a panic is refused, with the reason") {
  if (!haveCargo())
    return;
  CargoScene scene("quiet", manifestOf("quiet", "gossamer-binding = \"0.1\"\n"), "");
  const ChildResult result =
      scene.cargo({"build", "-q", "-p", "root", "--config", "profile.dev.panic=\"abort\""});
  CHECK(!result.exitedWith(0));
  CHECK_MESSAGE(result.err.find("bindings cannot be built with `panic = \"abort\"`") !=
                    std::string::npos,
                result.err);
}

TEST_CASE("the tests of the crates themselves pass") {
  if (!haveCargo())
    return;
  CargoScene scene("quiet", manifestOf("quiet", "gossamer-binding = \"0.1\"\n"), "");
  const ChildResult result = scene.cargo(
      {"test", "--manifest-path", scene.root() + "/gossamer-binding/Cargo.toml", "--color=never"});
  CHECK_MESSAGE(result.exitedWith(0), result.out << result.err);
  CHECK_MESSAGE(result.out.find("13 passed") != std::string::npos, result.out);
}

} // namespace
} // namespace gos::test
