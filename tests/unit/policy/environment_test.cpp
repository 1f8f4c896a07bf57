#include "sandbox/policy/policy.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace gos {
namespace {

TEST_CASE("T130 what makes a program load code is refused, passed and set") {
  for (const char* name :
       {"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV",
        "BASH_FUNC_x%%", "NODE_OPTIONS", "PYTHONSTARTUP", "PERL5OPT", "PERL5LIB", "RUBYOPT",
        "GIT_SSH_COMMAND", "GIT_CONFIG_KEY_0", "JAVA_TOOL_OPTIONS", "GCONV_PATH"}) {
    CAPTURE(name);
    CHECK(Policy().allowEnv(name).problems().size() == 1);
    CHECK(Policy().setEnv(name, "x").problems().size() == 1);
    CHECK(Policy().allowEnv(name).passedEnv().empty());
  }
  for (const char* name : {"LDFLAGS", "LD", "GIT_CONFIG_GLOBAL", "PERLBREW_ROOT", "NODE_ENV",
                           "PYTHONPYCACHEPREFIX", "RUSTC_WRAPPER", "JAVA_HOME"}) {
    CAPTURE(name);
    CHECK(Policy().allowEnv(name).problems().empty());
  }
}

TEST_CASE("every variable that the shipped policy passes may be passed, and is named once") {
  const std::vector<std::string> names = {
#define GOS_ENV_PASSED(name) name,
#define GOS_ENV_PASSED_NETWORK(name) name,
#include "sandbox/policy/environment.def"
  };
  CHECK(names.size() > 30);
  for (size_t index = 0; index != names.size(); ++index) {
    CHECK(environmentNameProblem(names[index]).empty());
    for (size_t other = 0; other != index; ++other)
      CHECK(names[index] != names[other]);
  }
}

} // namespace
} // namespace gos
