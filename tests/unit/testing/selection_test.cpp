#include "compiler/testing/discovery.h"
#include "compiler/testing/selection.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace gos::testing {
namespace {

Test named(const char* name, const char* bare) {
  Test test;
  test.name = name;
  test.bareName = bare;
  return test;
}

Selection select(const std::string& pattern, std::vector<std::string> exact) {
  auto made = Selection::create(pattern, std::move(exact));
  REQUIRE(bool(made));
  return std::move(*made);
}

TEST_CASE("without a wish every test is wanted") {
  CHECK(select("", {}).wants(named("m::a", "a")));
}

TEST_CASE("a pattern matches anywhere in the whole name") {
  Selection selection = select("^m::.*[0-9]$", {});
  CHECK(selection.wants(named("m::a1", "a1")));
  CHECK_FALSE(selection.wants(named("n::a1", "a1")));
  CHECK_FALSE(selection.wants(named("m::a", "a")));
}

TEST_CASE("an exact name is whole, with or without its modules, and a missing one is known") {
  Selection selection = select("", {"m::a", "b", "c"});
  CHECK(selection.wants(named("m::a", "a")));
  CHECK(selection.wants(named("m::b", "b")));
  CHECK_FALSE(selection.wants(named("m::ab", "ab")));
  CHECK(selection.unmatched() == std::vector<std::string>{"c"});
}

TEST_CASE("a pattern that is none is an error with words") {
  auto made = Selection::create("(", {});
  REQUIRE_FALSE(bool(made));
  CHECK_FALSE(llvm::toString(made.takeError()).empty());
}

TEST_CASE("a shuffled order has everything once and follows from its seed") {
  const auto once = shuffledOrder(50, 7), again = shuffledOrder(50, 7);
  CHECK(once == again);
  CHECK(once != shuffledOrder(50, 8));
  auto sorted = once;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i != sorted.size(); ++i)
    CHECK(sorted[i] == i);
  CHECK(shuffledOrder(0, 1).empty());
}

TEST_CASE("a duration is a positive number with a unit") {
  CHECK(parseDuration("500ms") == 500);
  CHECK(parseDuration("2s") == 2000);
  CHECK(parseDuration("1m") == 60'000);
  for (const char* wrong :
       {"", "2", "s", "0s", "-1s", "1.5s", "2h", " 2s", "99999999999999999999s"})
    CHECK_FALSE(parseDuration(wrong));
}

} // namespace
} // namespace gos::testing
