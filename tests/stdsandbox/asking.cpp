#include "tests/stdsandbox/asking.h"

#include "tests/support/child_process.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::cases {

namespace {

namespace fs = std::filesystem;

/// Copies that everybody may execute, for as long as the test program runs.
struct Program {
  std::string directory, gos, source, built;
  Program() {
    std::string pattern = "/var/tmp/gosask-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr)
      std::abort();
    directory = fs::canonical(pattern).string();
    gos = directory + "/gos";
    source = directory + "/asks.gos";
    built = directory + "/asks";
    ::chmod(directory.c_str(), 0755);
    fs::copy_file(GOS_PROGRAM, gos);
    fs::copy_file(std::string(GOS_SOURCE_DIR) + "/tests/stdsandbox/asks.gos", source);
    test::ChildRequest request;
    request.arguments = {gos, "build", "--quiet", "-o", built, source};
    request.directory = directory;
    request.limit = std::chrono::seconds(600);
    const test::ChildResult result = test::runChild(request);
    CHECK_MESSAGE(result.exitedWith(0), result.err);
    for (const std::string& file : {gos, built})
      ::chmod(file.c_str(), 0755);
    ::chmod(source.c_str(), 0644);
  }
  ~Program() {
    std::error_code ignored;
    fs::remove_all(directory, ignored);
  }
};
const Program& program() {
  static const Program made;
  return made;
}

std::vector<std::string> joined(std::vector<std::string> first,
                                const std::vector<std::string>& rest) {
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

} // namespace

std::vector<std::vector<std::string>> bothWays() {
  return {{program().gos, "run", program().source, "--"}, {program().built}};
}

std::vector<std::string> wordsOf(const std::vector<Ask>& asks) {
  std::vector<std::string> words;
  for (const Ask& one : asks) {
    if (!words.empty())
      words.push_back(";;");
    words.insert(words.end(), one.policy.begin(), one.policy.end());
    words.push_back("--");
    words.push_back(one.how);
    words.insert(words.end(), one.command.begin(), one.command.end());
  }
  return words;
}

std::vector<Answer> answersOf(const std::string& text) {
  std::vector<Answer> answers;
  llvm::SmallVector<llvm::StringRef, 16> records;
  llvm::StringRef(text).split(records, '\x1e');
  for (llvm::StringRef record : llvm::ArrayRef(records).drop_front()) {
    Answer answer;
    auto [ended, streams] = record.split('\x1f');
    if (ended.consume_front("failed "))
      answer.problem = ended.str();
    else if (!ended.consume_front("ended ") || ended.getAsInteger(10, answer.code))
      answer.problem = "an answer that nobody understands: " + record.str();
    answer.out = streams.split('\x1f').first.str();
    answer.err = streams.split('\x1f').second.str();
    answers.push_back(std::move(answer));
  }
  return answers;
}

std::vector<Answer> askAll(const Room& room, const std::vector<Ask>& asks, const How& how,
                           const std::vector<std::string>& before) {
  std::vector<Answer> first;
  for (const std::vector<std::string>& way : bothWays()) {
    const Outcome outcome = room.plain(joined(before, joined(way, wordsOf(asks))), how);
    std::vector<Answer> answers = answersOf(outcome.out);
    REQUIRE_MESSAGE(answers.size() == asks.size(),
                    outcome.code << ": " << outcome.out << outcome.err);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    if (first.empty()) {
      first = std::move(answers);
      continue;
    }
    for (size_t at = 0; at != asks.size(); ++at) {
      CAPTURE(at);
      CHECK(answers[at].code == first[at].code);
      CHECK(answers[at].problem == first[at].problem);
      CHECK(answers[at].out == first[at].out);
      CHECK(answers[at].err == first[at].err);
    }
  }
  return first;
}

Answer ask(const Room& room, const Ask& one, const How& how) {
  return askAll(room, {one}, how).front();
}

std::vector<Outcome> shellWith(const Room& room, const std::vector<Ask>& asks,
                               const std::string& script, const How& how) {
  std::vector<Outcome> outcomes;
  for (const std::vector<std::string>& way : bothWays())
    outcomes.push_back(
        room.plain(joined({"/bin/sh", "-c", script, "sh"}, joined(way, wordsOf(asks))), how));
  return outcomes;
}

std::vector<std::string> tools(const Room& room, const std::string& level,
                               const std::vector<std::string>& more) {
  return joined({"level", level, "read_only", "/usr", "read_write", room.project(),
                 "working_directory", room.project(), "env_allow", "PATH"},
                more);
}

Ask shellAsk(const Room& room, const std::string& level, const std::vector<std::string>& more,
             const std::string& script) {
  return {tools(room, level, more), {"sh", "-c", script}};
}

bool givenHere(const Room& room, const std::string& level) {
  const Answer answer = ask(
      room, {{"level", level, "read_only", "/usr", "working_directory", "/", "env_allow", "PATH"},
             {},
             "check"});
  if (answer.ran())
    return true;
  // A broken library must not look like a weak host.
  CHECK_MESSAGE(contains(answer.problem, "is not available here"), answer.problem);
  skip("level " + level + " as " + name(room.who()), answer.problem);
  return false;
}

void checkRefused(const Room& room, const Answer& answer, const std::string& part) {
  CAPTURE(answer.out);
  CAPTURE(answer.problem);
  CHECK_FALSE(answer.ran());
  CHECK(answer.out == "");
  CHECK(answer.err == "");
  CHECK_FALSE(room.exists("ran"));
  CHECK_FALSE(answer.problem.empty());
  CHECK(contains(answer.problem, part));
  for (char byte : answer.problem)
    CHECK((byte >= 0x20 && byte < 0x7f));
}

std::string uniqueSleep(int which) {
  return std::to_string(2000000 + ::getpid()) + "." + std::to_string(which);
}

bool gone(const std::string& text) {
  // The kernel ends them; there is nothing to wait for but that.
  return tests::eventually([&] { return processesWith(text).empty(); });
}

} // namespace gos::cases
