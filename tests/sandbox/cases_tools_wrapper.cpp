// A wrapper that lies in the project, as `./gradlew` does: it gets no profile by its name, which
// whoever wrote the project chose (T129), and the profile that the user names for it.

#include "tests/sandbox/each.h"

#include <doctest/doctest.h>

namespace gos::cases {

TEST_CASE("B080 T129 `./gradlew` runs under the profile that is named for it, and under none by "
          "itself") {
  each(confining(), [](const Room& room, const std::string& level) {
    room.write("settings.gradle", "rootProject.name = 'wrapped'\n");
    room.write("build.gradle", "task greet { doLast { new File('out').text = 'built' } }\n");
    // As the real one: it starts a gradle, with what the environment says.
    room.write("gradlew",
               "#!/bin/sh\necho \"home=$GRADLE_USER_HOME\"\n[ $# -eq 0 ] || exec gradle \"$@\"\n",
               0755);
    const Outcome alone = room.bwr(level, {}, {"./gradlew"});
    CHECK_MESSAGE(alone.code == 0, alone.err);
    CHECK(alone.out == "home=\n");
    const Outcome named = room.bwr(level, {"--profile", "gradle"}, {"./gradlew"});
    CHECK_MESSAGE(named.code == 0, named.err);
    CHECK_MESSAGE(contains(named.out, "home=/"), named.out);
    CHECK_FALSE(contains(named.out, room.home() + "/.gradle"));
    if (!installed("gradle") || !installed("java")) {
      skip("B080 T129 a build by ./gradlew", "gradle or java is not installed");
      return;
    }
    const Outcome built = room.bwr(level, {"--profile", "gradle"},
                                   {"./gradlew", "--offline", "--no-daemon", "greet"});
    CHECK_MESSAGE(built.code == 0, (built.out + built.err));
    CHECK(room.read("out") == "built");
    CHECK_FALSE(room.exists(room.home() + "/.gradle"));
  });
}

} // namespace gos::cases
