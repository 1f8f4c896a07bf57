#include "manifest/version.h"

#include <doctest/doctest.h>

using namespace gos;

TEST_CASE("a version is three numbers, a pre-release and a build") {
  const auto version = Version::parse("1.20.3-rc.1+linux.x86-64");
  REQUIRE(version);
  CHECK(version->minor == 20);
  CHECK(version->preRelease == std::vector<std::string>{"rc", "1"});
  CHECK(version->build == "linux.x86-64");
  CHECK(version->text() == "1.20.3-rc.1+linux.x86-64");
}

TEST_CASE("what is no version is refused") {
  for (const char* text : {"", "1", "1.2", "1.2.3.4", "01.2.3", "1.2.03", "1.2.x", "v1.2.3",
                           "1.2.3-", "1.2.3-01", "1.2.3+", "1.2.3-a..b", " 1.2.3", "1.2.3 ",
                           "-1.2.3", "99999999999999999999.0.0", "1.2.3-\xC3\xA4"})
    CHECK_FALSE(Version::parse(text).has_value());
}

TEST_CASE("versions are ordered as SemVer orders them") {
  const char* const kAscending[] = {"1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta",
                                    "1.0.0-beta",  "1.0.0-beta.2",  "1.0.0-beta.11",
                                    "1.0.0-rc.1",  "1.0.0",         "1.0.1",
                                    "1.2.0",       "1.10.0",        "2.0.0"};
  for (size_t a = 0; a != std::size(kAscending); ++a)
    for (size_t b = 0; b != std::size(kAscending); ++b) {
      const int order = compare(*Version::parse(kAscending[a]), *Version::parse(kAscending[b]));
      CHECK((order < 0) == (a < b));
      CHECK((order > 0) == (a > b));
    }
  CHECK(compare(*Version::parse("1.0.0+a"), *Version::parse("1.0.0+b")) == 0);
}

TEST_CASE("a bare requirement is exact and a caret is a floor") {
  auto admits = [](const char* requirement, const char* version) {
    return VersionRequirement::parse(requirement)->admits(*Version::parse(version));
  };
  CHECK(admits("1.2.3", "1.2.3"));
  CHECK(admits("=1.2.3", "1.2.3"));
  CHECK_FALSE(admits("1.2.3", "1.2.4"));
  CHECK(admits("^1.2.3", "1.2.4"));
  CHECK(admits("^1.2.3", "2.0.0"));
  CHECK_FALSE(admits("^1.2.3", "1.2.2"));
  for (const char* text : {"", "^", "~1.2.3", ">=1.2.3", "^^1.2.3", "^=1.2.3", "*"})
    CHECK_FALSE(VersionRequirement::parse(text).has_value());
}
