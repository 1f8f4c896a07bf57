// Hosts that lack something, asked by the programs that people use: each names the same primitive
// and says what to do (T131, B066).

#include "tests/support/child_process.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

using gos::test::ChildRequest;
using gos::test::ChildResult;
using gos::test::runChild;

namespace {

struct Host {
  const char* name;
  const char* level;     // the weakest that it lacks something for
  const char* primitive; // which
};
const Host kHosts[] = {
    {"user-namespace", "standard", "user namespace"},
    {"user-map", "standard", "user namespace"},
    {"pid-namespace", "strict", "pid namespace"},
    {"mount-namespace", "standard", "mount view"},
    {"network-namespace", "standard", "network namespace"},
    {"ipc-namespace", "standard", "ipc namespace"},
    {"uts-namespace", "strict", "uts namespace"},
    {"cgroup-namespace", "strict", "cgroup namespace"},
    {"new-root", "standard", "mount view"},
    {"proc-mount", "strict", "own /proc"},
    {"loopback", "standard", "network namespace"},
    {"landlock", "standard", "Landlock"},
    {"seccomp", "standard", "seccomp filter"},
    {"memfd", "basic", "memfd execution"},
    {"pidfd", "basic", "pidfd"},
    {"subreaper", "basic", "child subreaper"},
    {"no-new-privileges", "basic", "no_new_privs"},
};

/// A directory with copies of the programs, which everybody may execute, and a home.
struct Place {
  std::string path;
  Place() {
    std::string pattern = "/var/tmp/goshost-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
    std::filesystem::permissions(path, std::filesystem::perms(0755));
    for (const char* made : {"home", "cache", "p"}) {
      std::filesystem::create_directory(path + "/" + made);
      std::filesystem::permissions(path + "/" + made, std::filesystem::perms(0777));
    }
    const std::pair<const char*, const char*> programs[] = {
        {GOS_WITHOUT, "without"}, {GOS_BWR, "bwr"}, {GOS_LEVEL, "level"}, {GOS_PROGRAM, "gos"}};
    for (auto [from, to] : programs)
      std::filesystem::copy_file(from, path + "/" + to);
  }
  ~Place() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path + "/" + name).parent_path());
    std::ofstream(path + "/" + name) << text;
  }
};

/// Runs a program of the place on a host. Nothing is remembered: the cache is new each time.
ChildResult on(const Place& place, const char* host, bool user, std::vector<std::string> command) {
  static int count = 0;
  const std::string cache = place.path + "/cache/" + std::to_string(count++);
  std::filesystem::create_directory(cache);
  std::filesystem::permissions(cache, std::filesystem::perms(0777));
  ChildRequest request;
  request.arguments = {"/usr/bin/env",
                       "HOME=" + place.path + "/home",
                       "XDG_CACHE_HOME=" + cache,
                       "PATH=/usr/local/bin:/usr/bin:/bin",
                       "LD_LIBRARY_PATH=" GOS_LIBRARY_DIRECTORY,
                       place.path + "/without"};
  if (user)
    request.arguments.push_back("--user");
  request.arguments.push_back(host);
  request.arguments.push_back(place.path + "/" + command.front());
  request.arguments.insert(request.arguments.end(), command.begin() + 1, command.end());
  request.directory = place.path + "/p";
  request.limit = std::chrono::seconds(600);
  return runChild(request);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
std::vector<bool> users() {
  return ::geteuid() == 0 ? std::vector<bool>{false, true} : std::vector<bool>{true};
}
std::string quoted(const std::string& text) {
  return "\"" + text + "\"";
}
/// The words of an object's text.
std::string plain(std::string text) {
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos;)
    text[at] = ' ';
  return text;
}

} // namespace

TEST_CASE("T131 bwr names what is missing and what to do, in text and as an object") {
  const Place place;
  for (bool user : users())
    for (const Host& host : kHosts) {
      CAPTURE(host.name);
      CAPTURE(user);
      const ChildResult text =
          on(place, host.name, user, {"bwr", "--level", host.level, "--", "/bin/true"});
      CHECK(text.exitedWith(64));
      CHECK_MESSAGE(has(text.err, std::string("bwr: level `") + host.level + "`"), text.err);
      CHECK_MESSAGE(has(text.err, host.primitive), text.err);
      CHECK_MESSAGE(has(text.err, "\ntry: "), text.err);
      const ChildResult object =
          on(place, host.name, user, {"bwr", "--level", host.level, "--json", "--", "/bin/true"});
      CHECK(object.exitedWith(64));
      CHECK_MESSAGE(has(object.err, "\"kind\":\"unavailable\""), object.err);
      CHECK_MESSAGE(has(object.err, "\"primitive\":" + quoted(host.primitive)), object.err);
      CHECK_MESSAGE(!has(object.err, "\"fix\":null"), object.err);
      // The report of the host agrees, about the level and about the primitive.
      const std::string report = on(place, host.name, user, {"bwr", "--capabilities"}).out;
      CHECK_MESSAGE(has(report, std::string("missing  ") + host.primitive + "\n"), report);
      CHECK_MESSAGE(has(plain(report), std::string("blocked by ") + host.primitive + ":"), report);
      const std::string json = on(place, host.name, user, {"bwr", "--capabilities", "--json"}).out;
      const size_t level = json.find("\"level\":" + quoted(host.level) + ",\"available\":false");
      REQUIRE_MESSAGE(level != std::string::npos, json);
      const std::string row = json.substr(level, json.find('}', level) - level);
      CHECK_MESSAGE(has(row, "\"blocked_by\":" + quoted(host.primitive)), row);
      CHECK_MESSAGE(!has(row, "\"fix\":\"\""), row);
    }
  CHECK(on(place, "nothing", true, {"bwr", "--level", "strict", "--", "/bin/true"}).exitedWith(0));
}

TEST_CASE("T131 the library names what is missing and what to do") {
  const Place place;
  for (bool user : users())
    for (const Host& host : kHosts) {
      CAPTURE(host.name);
      CAPTURE(user);
      const ChildResult result = on(place, host.name, user, {"level", host.level});
      CHECK(result.exitedWith(64));
      const std::vector<std::string> lines = gos::test::splitLines(result.out);
      REQUIRE_MESSAGE(lines.size() >= 3, (result.out + result.err));
      CHECK(lines[0] == host.primitive);
      CHECK(has(lines[1], std::string("level `") + host.level + "`"));
      CHECK_FALSE(lines[2].empty());
    }
  CHECK(on(place, "nothing", true, {"level", "strict"}).exitedWith(0));
}

TEST_CASE("T131 std::sandbox and a build of crates name what is missing and what to do") {
  const Place place;
  place.write("p/ask.gos", "use std::sandbox\n\nfn ask(level: String) {\n"
                           "    let policy = sandbox::Policy::command_default(\".\").level(level)\n"
                           "    match sandbox::run(policy, #[\"true\"]) {\n"
                           "        Ok(_) => println!(\"ran\"),\n"
                           "        Err(problem) => println!(\"{problem}\"),\n    }\n}\n\n"
                           "ask(\"basic\")\nask(\"standard\")\nask(\"strict\")\n");
  place.write("p/b/project.toml", "[project]\nid = \"example.org/b\"\nversion = \"0.1.0\"\n\n"
                                  "[rust-bindings]\nfast = { path = \"rust\" }\n");
  place.write("p/b/src/main.gos", "println!(\"{}\", fast::one())\n");
  place.write("p/b/rust/Cargo.toml", "[package]\nname = \"fast\"\nversion = \"0.1.0\"\n");
  place.write("p/b/rust/src/lib.rs", "");
  for (const Host& host : kHosts) {
    CAPTURE(host.name);
    const ChildResult asked = on(place, host.name, true, {"gos", "run", "ask.gos"});
    const std::vector<std::string> lines = gos::test::splitLines(asked.out);
    REQUIRE_MESSAGE(lines.size() >= 3, (asked.out + asked.err));
    const std::string level = host.level;
    const std::string& line = lines[level == "basic" ? 0 : level == "standard" ? 1 : 2];
    CHECK_MESSAGE(has(line, "level `" + level + "`"), line);
    CHECK_MESSAGE(has(line, host.primitive), line);
    const ChildResult built =
        on(place, host.name, true, {"gos", "build", "--sandbox=" + level, "b"});
    if (::access("/usr/bin/cargo", X_OK) != 0 && ::access("/usr/local/bin/cargo", X_OK) != 0) {
      MESSAGE("SKIP a build of crates: there is no Cargo for everybody");
      continue;
    }
    CHECK(built.exitedWith(1));
    CHECK_MESSAGE(has(built.err, "level `" + level + "`"), built.err);
    CHECK_MESSAGE(has(built.err, host.primitive), built.err);
    CHECK_MESSAGE(has(built.err, "= help: "), built.err);
  }
}
