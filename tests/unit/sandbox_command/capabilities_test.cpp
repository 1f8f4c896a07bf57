// The capability report and the self-test as text and JSON.

#include "sandbox/command/capabilities.h"
#include "sandbox/command/self_test.h"

#include <doctest/doctest.h>

using namespace gos;
using namespace gos::sandbox;

namespace {

Capabilities sample() {
  Capabilities host;
  host.platform = "linux";
  host.osDescription = "Some \"Linux\"\x1b[31m 1";
  host.fileSystem = "mount view";
  host.network = host.processIsolation = "none";
  host.maxLevel = SandboxLevel::Basic;
  host.landlockError = "EOPNOTSUPP";
  LevelState basic;
  basic.level = SandboxLevel::Basic;
  basic.available = true;
  basic.mechanisms = {"no_new_privs", "a subreaper"};
  LevelState strict;
  strict.level = SandboxLevel::Strict;
  strict.blockedBy = "Landlock";
  strict.reason = "it was not enabled at boot";
  strict.fix = "boot it with `lsm=landlock`";
  host.levels = {basic, strict};
  PrimitiveState missing;
  missing.name = "Landlock";
  missing.error = 95;
  missing.reason = "it was not enabled at boot";
  missing.fix = "boot it with `lsm=landlock`";
  host.primitives = {missing};
  host.notes = {"a note"};
  return host;
}

} // namespace

TEST_CASE(
    "the capability report as JSON holds the levels, what blocks them, and the Landlock ABI") {
  CHECK(capabilitiesJson(sample()) ==
        "{\"schema\":1,\"platform\":\"linux\",\"os_description\":\"Some \\\"Linux\\\"\\u001b[31m "
        "1\",\"filesystem\":\"mount view\",\"network\":\"none\",\"process_isolation\":\"none\","
        "\"max_level\":\"basic\",\"landlock_abi\":0,\"landlock_error\":\"EOPNOTSUPP\",\"levels\":[{"
        "\"level\":\"basic\",\"available\":true,\"mechanisms\":[\"no_new_privs\",\"a "
        "subreaper\"]},{\"level\":\"strict\",\"available\":false,\"mechanisms\":[],\"blocked_by\":"
        "\"Landlock\",\"reason\":\"it was not enabled at boot\",\"fix\":\"boot it with "
        "`lsm=landlock`\"}],\"primitives\":[{\"name\":\"Landlock\",\"works\":false,\"errno\":95,"
        "\"reason\":\"it was not enabled at boot\",\"fix\":\"boot it with "
        "`lsm=landlock`\"}],\"notes\":[\"a note\"]}");
}

TEST_CASE("the capability report as text names what blocks a level, and the fix") {
  ExplainOptions options;
  options.width = 60;
  const std::string text = capabilitiesText(sample(), options);
  CHECK(text.find("  strict    unavailable\n      blocked by Landlock: it was not enabled at boot\n"
                  "      fix: boot it with `lsm=landlock`\n") != std::string::npos);
  CHECK(text.find("Landlock           none (EOPNOTSUPP)\n") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  options.colour = true;
  CHECK(capabilitiesText(sample(), options).find("\x1b[32mavailable\x1b[0m") != std::string::npos);
}

TEST_CASE("the self-test tells each act that did not hold, and answers 64") {
  SelfTest test;
  SelfTestLevel level;
  level.level = SandboxLevel::Strict;
  ProofAct good, bad;
  good.promise = bad.promise = Promise::Outside;
  good.words = "read a file";
  good.held = good.tried = true;
  good.error = 2;
  bad.words = "write to a file";
  bad.tried = true;
  bad.run = ProofRun::Landlock;
  level.acts = {good, bad};
  test.levels = {level};
  CHECK(test.exitCode() == 64);
  const std::string text = selfTestText(test, ExplainOptions{});
  CHECK(text.find("strict: NOT PROVEN, 1 of 2 acts") != std::string::npos);
  CHECK(text.find("write to a file (Landlock alone): broken: let through") != std::string::npos);
  const std::string json = selfTestJson(test);
  CHECK(json.find("\"act\":\"write to a file\",\"locks\":\"Landlock alone\",\"held\":false") !=
        std::string::npos);
  test.levels[0].proven = true;
  CHECK(test.exitCode() == 0);
}
