// Real tools of the JVM: B080 of the catalogue of honest builds. Gradle and Maven build and test a
// class offline; nothing of the user's own caches changes, and no daemon is left.

#include "tests/sandbox/tools/tools.h"

#include <algorithm>

namespace gos::cases {
namespace {

/// Every name beneath a directory with its size and time.
std::string listing(const Room& room, const std::string& directory) {
  return room.shell("cd " + directory + " && find . -printf '%p %s %T@ %m\\n' | sort").out;
}

/// The versions of a plugin that the machine's repository has; the newest, "" if there is none.
std::string newest(const std::string& artifact) {
  std::string best;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(
           "/usr/share/maven-repo/org/apache/maven/plugins/" + artifact, missing)) {
    const std::string version = entry.path().filename().string();
    // The one that is there itself, not the older numbers that lead to it.
    if (std::filesystem::exists(entry.path() / (artifact + "-" + version + ".jar"), missing) &&
        version > best && version != "debian")
      best = version;
  }
  return best;
}

} // namespace

TEST_CASE("B080 gradle builds and tests, and leaves neither a daemon nor a change") {
  if (!has("B080, gradle", {"gradle", "java", "javac"}))
    return;
  if (::access("/usr/share/java/junit4.jar", R_OK) != 0)
    return skip("B080, gradle", "junit4 is not installed");
  {
    const Room plain(identities().front());
    copyProject(plain, "gradle");
    const Outcome outcome = plain.plain({"gradle", "--offline", "--no-daemon", "build"}, tool());
    if (outcome.code != 0)
      return skip("B080, gradle", "it does not build here without bwr either");
  }
  each(levels(), [](const Room& room, const std::string& level) {
    copyProject(room, "gradle");
    room.makeDirectory(room.home() + "/.gradle/caches/modules-2");
    room.write(room.home() + "/.gradle/gradle.properties", "token=secret\n");
    const std::string before = listing(room, room.home() + "/.gradle");
    for (const char* daemon : {"--no-daemon", "--daemon"}) {
      CAPTURE(daemon);
      (void)room.shell("rm -rf build .gradle");
      const Outcome outcome = room.bwr(level, {}, {"gradle", "--offline", daemon, "build"}, tool());
      CHECK_MESSAGE(outcome.code == 0, both(outcome));
      CHECK(room.exists("build/libs/app.jar"));
      CHECK(room.exists("build/test-results/test/TEST-AppTest.xml"));
      // Also a daemon's command line holds the private home, which lies in this room.
      CHECK(processesWith(room.top()).empty());
    }
    CHECK(listing(room, room.home() + "/.gradle") == before);
  });
}

TEST_CASE("B080 maven packages and tests offline and changes nothing in the repository") {
  if (!has("B080, maven", {"mvn", "java", "javac"}))
    return;
  std::string pom;
  {
    const std::filesystem::path file =
        std::filesystem::path(GOS_SOURCE_DIR) / "tests/sandbox/tools/maven/pom.xml";
    std::ifstream stream(file);
    std::stringstream text;
    text << stream.rdbuf();
    pom = text.str();
  }
  for (const std::string plugin : {"maven-resources-plugin", "maven-compiler-plugin",
                                   "maven-surefire-plugin", "maven-jar-plugin"}) {
    const std::string version = newest(plugin), key = "@" + plugin + "@";
    if (version.empty() || ::access("/usr/share/maven-repo/junit/junit/4.x", R_OK) != 0)
      return skip("B080, maven", plugin + " or junit is not installed");
    pom.replace(pom.find(key), key.size(), version);
  }
  // The machine's own repository stands where the user's is.
  const auto prepare = [&](const Room& room) {
    copyProject(room, "maven");
    room.write("pom.xml", pom);
    room.makeDirectory(room.home() + "/.m2");
    room.link("/usr/share/maven-repo", room.home() + "/.m2/repository");
    room.write(room.home() + "/.m2/settings.xml", "<settings/>\n");
  };
  const auto command = [](const Room& room) {
    return std::vector<std::string>{
        "mvn",    "-o", "-B", "-q", "-Dmaven.repo.local=" + room.home() + "/.m2/repository",
        "package"};
  };
  for (As who : {identities().back()}) {
    const Room plain(who);
    prepare(plain);
    const Outcome outcome = plain.plain(command(plain), tool());
    if (outcome.code != 0)
      return skip("B080, maven", "it does not build here without bwr either: " + both(outcome));
    CHECK(plain.exists("target/app-1.0.jar"));
  }
  each(levels(), [&](const Room& room, const std::string& level) {
    prepare(room);
    const std::string before = listing(room, room.home() + "/.m2") +
                               listing(room, "/usr/share/maven-repo/org/apache/maven/plugins");
    Outcome outcome = room.bwr(level, {}, command(room), tool());
    CHECK_MESSAGE(outcome.code == 0, both(outcome));
    CHECK(room.exists("target/app-1.0.jar"));
    CHECK(room.exists("target/surefire-reports/AppTest.txt"));
    CHECK(listing(room, room.home() + "/.m2") +
              listing(room, "/usr/share/maven-repo/org/apache/maven/plugins") ==
          before);
    CHECK(processesWith(room.top()).empty());
    // With a repository that lacks what is needed: it fails, and says what fetches.
    ::unlink((room.home() + "/.m2/repository").c_str());
    room.makeDirectory(room.home() + "/.m2/repository");
    outcome = room.bwr(level, {}, {"mvn", "-o", "-B", "package"}, tool());
    CHECK(outcome.code != 0);
    CHECK_MESSAGE(contains(outcome.err, "bwr --network client mvn dependency:go-offline"),
                  both(outcome));
  });
}

} // namespace gos::cases
