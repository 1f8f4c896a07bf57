#include "compiler/bindings/artifact.h"

#include <doctest/doctest.h>

namespace gos::bindings::test {
namespace {

using Files = std::vector<std::string>;

TEST_CASE("the files of a rule are what stands behind its colon, with their spaces") {
  CHECK(filesOfRule("/t/lib.so: /a/b.rs /a/c\\ d.rs /a/../e\n") ==
        Files{"/a/b.rs", "/a/c d.rs", "/a/../e"});
  CHECK(filesOfRule("/t/a\\ b/lib.so: /a\n/a:\n") == Files{"/a"});
  CHECK(filesOfRule("/t/lib.so: /a\\b /c\\") == Files{"/a\\b", "/c\\"});
}

TEST_CASE("what is no rule has no files") {
  for (const char* text : {"", ":", ": ", "x:", "x: \n/a", "no colon at all", "  "})
    CHECK(filesOfRule(text).empty());
}

} // namespace
} // namespace gos::bindings::test
