// A learned profile is read back by the reader of profiles, whatever the names are.

#include "sandbox/command/learn.h"

#include "sandbox/bwr/expand.h"
#include "sandbox/bwr/profile.h"

#include <doctest/doctest.h>

namespace gos::bwr {
namespace {

using sandbox::Learned;
using sandbox::LearnedNames;

struct Written {
  std::string text;
  std::vector<std::string> notes;
  std::optional<Profile> profile;
};
Written written(const Learned& learned,
                LearnedNames names = {"/home/ann", "/home/ann/p", {"/usr/bin/make", "-j2"}}) {
  Written result;
  result.text = sandbox::learnedProfile(learned, names, result.notes);
  SourceMap sources;
  auto file = sources.addCopy("f.toml", result.text);
  if (!file) {
    llvm::consumeError(file.takeError());
    return result;
  }
  Engine engine(sources);
  result.profile = readProfile("f", *file, engine);
  for (const Diagnostic& each : engine.diagnostics())
    MESSAGE(each.message);
  return result;
}

TEST_CASE("what was used is granted, and chosen by nobody but the user") {
  Learned learned;
  learned.used = {{"/home/ann/.m2", Access::ReadWrite, "/home/ann/.m2"},
                  {"/home/ann/p/sub", Access::ReadWrite, "/home/ann/p/sub"},
                  {"/srv/data", Access::ReadOnly, "/srv/data"}};
  learned.workdirRead = learned.workdirWritten = true;
  learned.network = NetworkMode::Client;
  learned.refused = {"--ro /srv/secret"};
  const Written result = written(learned);
  REQUIRE(result.profile);
  CHECK(result.profile->commands.empty()); // T134: nothing learned counts unasked
  REQUIRE(result.profile->phases.size() == 1);
  const Phase& phase = result.profile->phases[0];
  CHECK(phase.readOnly == std::vector<std::string>{"/srv/data"});
  CHECK(phase.readWrite == std::vector<std::string>{"~/.m2", "${project}/sub"});
  CHECK(phase.project == Access::ReadWrite);
  CHECK(phase.network == NetworkMode::Client);
  CHECK(result.text.find("#   --ro /srv/secret\n") != std::string::npos);
  CHECK(result.notes == std::vector<std::string>{
                            "what was refused is not granted by the profile; comments in it: 1"});
}

TEST_CASE("a project above the working directory is found again by what marks it") {
  Learned learned;
  learned.used = {{"/home/ann/p/sub/out", Access::ReadWrite, "/home/ann/p/sub/out"},
                  {"/home/ann/p/inc", Access::ReadOnly, "/home/ann/p"}};
  const Written result =
      written(learned, {"/home/ann", "/home/ann/p/sub", {"make"}, "/home/ann/p", {"a.toml", "b"}});
  REQUIRE_MESSAGE(result.profile, result.text);
  CHECK(result.profile->project == std::vector<std::string>{"a.toml", "b"});
  CHECK(result.profile->phases[0].readOnly == std::vector<std::string>{"${project}/inc"});
  CHECK(result.profile->phases[0].readWrite == std::vector<std::string>{"${workdir}/out"});
}

TEST_CASE("T134 names of any text come back from the profile as they are") {
  const std::vector<std::string> names = {"/w/sp ace",
                                          "/w/q\"uo'te",
                                          "/w/back\\slash\\n",
                                          "/w/new\nline",
                                          "/w/tab\there",
                                          "/w/es\x1b[31mc",
                                          "/w/del\x7f",
                                          "/w/\xe2\x80\xaexcod",
                                          "/w/\xf0\x9f\x8e\x89",
                                          "/w/caf\xc3\xa9",
                                          "/w/c1\xc2\x9bx",
                                          "/w/#no = [\"comment\"]",
                                          "/w/]\n[phase.fetch]\nread_write = [\"/\"]",
                                          "/w/$HOME",
                                          "/w/\x01"};
  Learned learned;
  for (const std::string& name : names)
    learned.used.push_back({name, Access::ReadOnly, name});
  learned.refused = {"--ro $'/x\\x0aread_write = [\"/\"]'", "--ro /x\nread_write = [\"/\"]"};
  const Written result =
      written(learned, {"/home/ann", "/home/ann/p", {"/bin/x\"\ncommands = [\"sh\"]", "a\nb = 1"}});
  REQUIRE_MESSAGE(result.profile, result.text);
  REQUIRE(result.profile->phases.size() == 1);
  std::vector<std::string> back;
  for (const std::string& pattern : result.profile->phases[0].readOnly)
    back.push_back(expandPath(pattern, Names{}).value_or("none"));
  std::vector<std::string> wanted = names;
  llvm::sort(wanted);
  llvm::sort(back);
  CHECK(back == wanted);
  CHECK(result.profile->phases[0].readWrite.empty());
  CHECK(result.profile->commands.empty());
  for (char c : result.text)
    CHECK((uint8_t(c) >= 0x20 || c == '\n'));
}

TEST_CASE("T134 names that a profile cannot hold are comments, and that is said") {
  Learned learned;
  learned.used = {{"/w/\xff\xfe", Access::ReadOnly, "/w/\xff\xfe"},
                  {"/w/${HOME}", Access::ReadWrite, "/w/${HOME}"}};
  const Written result = written(learned);
  REQUIRE(result.profile);
  CHECK(result.profile->phases[0].readOnly.empty());
  CHECK(result.profile->phases[0].readWrite.empty());
  CHECK(result.text.find("#   read-only /w/\\xff\\xfe\n") != std::string::npos);
  CHECK(result.text.find("#   read-write /w/${HOME}\n") != std::string::npos);
  REQUIRE(result.notes.size() == 1);
  CHECK(llvm::StringRef(result.notes[0]).ends_with(": 2"));
}

} // namespace
} // namespace gos::bwr
