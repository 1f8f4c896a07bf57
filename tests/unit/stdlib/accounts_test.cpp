#include "stdlib/accounts.h"

#include "llvm/ADT/Twine.h"

#include <doctest/doctest.h>

namespace gos::stdlib {
namespace {

using llvm::StringRef;

TEST_CASE("a line of the users is seven fields") {
  const std::optional<UserAccount> user =
      readUser("ada:x:1000:100:Ada Lovelace,Room 1,,:/home/ada:/bin/sh");
  REQUIRE(user);
  CHECK(user->name == "ada");
  CHECK(user->id == 1000);
  CHECK(user->groupId == 100);
  CHECK(user->fullName == "Ada Lovelace");
  CHECK(user->home == "/home/ada");
  CHECK(user->shell == "/bin/sh");
  const std::optional<UserAccount> bare = readUser("b::0:4294967294:::");
  REQUIRE(bare);
  CHECK(bare->groupId == 4294967294);
  CHECK(bare->shell.empty());
}

TEST_CASE("a line that is none of the format is no user") {
  for (const StringRef line : {"",
                               "ada",
                               ":x:1:1:::",
                               "ada:x:1:1::",
                               "ada:x:1:1::::",
                               "ada:x::1:::",
                               "ada:x:1::::",
                               "ada:x:-1:1:::",
                               "ada:x:+1:1:::",
                               "ada:x: 1:1:::",
                               "ada:x:1a:1:::",
                               "ada:x:0x1:1:::",
                               "ada:x:4294967295:1:::",
                               "ada:x:4294967296:1:::",
                               "ada:x:99999999999999999999:1:::",
                               "+ada:x:1:1:::",
                               "-ada:x:1:1:::",
                               "#ada:x:1:1:::",
                               "+::::::",
                               "\xff:x:1:1:::"})
    CHECK_MESSAGE(!readUser(line), line.str());
  CHECK(!readUser(StringRef("a\0b:x:1:1:::", 13)));
}

TEST_CASE("a line of the groups is four fields, the last one a list") {
  const std::optional<GroupAccount> group = readGroup("staff:x:50:ada,,bob,");
  REQUIRE(group);
  CHECK(group->name == "staff");
  CHECK(group->id == 50);
  CHECK(group->members == std::vector<std::string>{"ada", "bob"});
  const std::optional<GroupAccount> empty = readGroup("nogroup:x:65534:");
  REQUIRE(empty);
  CHECK(empty->members.empty());
  for (const StringRef line : {"", "staff:x:50", "staff:x:50:a:b", "staff:x::ada", ":x:50:ada",
                               "+:::", "staff:x:4294967295:"})
    CHECK_MESSAGE(!readGroup(line), line.str());
}

TEST_CASE("the first line that fits is found, whatever stands before it") {
  const std::string content = "# comment\n+::::::\n\nroot:x\nroot:x:0:0:first:/root:/bin/sh\r\n"
                              "root:x:0:0:second:/:/bin/sh\nlast:x:7:7:::";
  const auto named = [&](StringRef name) {
    return findUser(content, [&](const UserAccount& each) { return each.name == name; });
  };
  REQUIRE(named("root"));
  CHECK(named("root")->fullName == "first");
  REQUIRE(named("last")); // without a newline
  CHECK(named("last")->id == 7);
  CHECK(!named("nobody"));
  CHECK(!findUser("", [](const UserAccount&) { return true; }));
  CHECK(!findGroup(":::\n", [](const GroupAccount&) { return true; }));
}

} // namespace
} // namespace gos::stdlib
