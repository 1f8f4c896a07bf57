// A program of a stranger's: C++17, exceptions, its own threads, nothing of this project but what
// was installed. Each check that fails prints its line and ends the program.

#include <gossamer_sandbox.hpp>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <vector>

using gossamer::sandbox::Output;
using gossamer::sandbox::Policy;
using gossamer::sandbox::Result;

namespace {

void fail(int line, const char* what, const std::string& detail) {
  std::fprintf(stderr, "client.cpp:%d: %s: %s\n", line, what, detail.c_str());
  std::exit(1);
}
#define NEED(condition, detail) ((condition) ? void() : fail(__LINE__, #condition, detail))

Policy usual() {
  Result<Policy> made = Policy::commandDefault();
  NEED(made, made.error().text);
  return *made;
}
Output ran(const Policy& policy, const std::string& script) {
  Result<Output> output = policy.run({"sh", "-c", script});
  NEED(output, output.error().text);
  return *output;
}
size_t descriptors() {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    count += entry.path().empty() ? 0 : 1;
  return count;
}

/// Streams, codes, signals.
void runs(const std::string& level) {
  Policy policy = usual();
  policy.level(level);
  Output output = ran(policy, "echo out; echo err >&2; exit 7");
  NEED(output.standardOutput == "out\n", output.standardOutput);
  NEED(output.standardError == "err\n", output.standardError);
  NEED(output.code == 7 && output.signal == 0, std::to_string(output.code));
  output = ran(policy, "kill -TERM $$");
  NEED(output.code == 143 && output.signal == 15, std::to_string(output.code));
  output = ran(policy, "echo \"<$SECRET_TOKEN>\"; cat");
  NEED(output.standardOutput == "<>\n", output.standardOutput);
  policy.envAllow("SECRET_TOKEN").envSet("OTHER", "set");
  output = ran(policy, "echo \"<$SECRET_TOKEN><$OTHER>\"");
  NEED(output.standardOutput == "<canary><set>\n", output.standardOutput);
  std::printf("runs at %s\n", level.c_str());
}

/// What was not granted is not there.
void confines(const std::string& level) {
  Policy policy = usual();
  policy.level(level);
  Output output = ran(policy, "echo x > made && cat made");
  NEED(output.standardOutput == "x\n", output.standardError);
  NEED(policy.access(".") == "read-write", policy.access("."));
  Policy narrow = policy;
  narrow.readOnly(".");
  output = ran(narrow, "cat made; echo y > made");
  NEED(output.standardOutput == "x\n" && output.code != 0, output.standardError);
  NEED(narrow.access(".") == "read-only", narrow.access("."));
  NEED(policy.access(".") == "read-write", "the policy that was copied has changed");
  output = ran(policy, "cat ../outside");
  NEED(output.standardOutput.empty() && output.code != 0, output.standardOutput);
  policy.readOnly("../outside");
  output = ran(policy, "cat ../outside");
  NEED(output.standardOutput == "outside\n", output.standardError);
  Result<std::string> shown = policy.explain({"true"}, true);
  NEED(shown, shown.error().text);
  NEED(shown->front() == '{', *shown);
  std::printf("confines at %s\n", level.c_str());
}

/// A word that nobody knows is a problem, and stays one.
void unknownWords() {
  const std::vector<std::pair<std::string, void (*)(Policy&)>> words = {
      {"Strict", [](Policy& policy) { policy.level("Strict"); }},
      {"", [](Policy& policy) { policy.level(""); }},
      {"off", [](Policy& policy) { policy.network("off"); }},
      {"", [](Policy& policy) { policy.temp(""); }},
      {"A=B", [](Policy& policy) { policy.envAllow("A=B"); }},
      {"LD_PRELOAD", [](Policy& policy) { policy.envSet("LD_PRELOAD=x", "y"); }},
      {"", [](Policy& policy) { policy.readOnly(""); }},
  };
  for (const auto& [word, say] : words) {
    Policy base = usual();
    Policy wrong = base;
    say(wrong);
    wrong.level("basic").network("none").temp("private"); // nothing heals it
    gsb_error* error = nullptr;
    NEED(gsb_policy_check(wrong.get(), &error) == -1, "accepted: " + word);
    const std::string text = gsb_error_text(error);
    NEED(text.find(word) != std::string::npos, text);
    gsb_error_free(error);
    Result<Output> output = wrong.run({"touch", "ran"});
    NEED(!output, "ran with " + word);
    NEED(output.error().kind == GSB_ERROR_POLICY && output.error().exitCode == 126,
         output.error().text);
    NEED(!std::filesystem::exists("ran"), "it was run");
    NEED(wrong.access("/usr") == "deny", "a policy with a problem grants " + wrong.access("/usr"));
    NEED(gsb_policy_check(base.get(), nullptr) == 0,
         "the policy it was made from has the problem too");
  }
  std::printf("unknown words are problems\n");
}

void errors(const std::string& level) {
  Policy policy = usual();
  policy.level(level);
  Result<Output> output = policy.run({"/no/such/program"});
  NEED(!output && output.error().kind == GSB_ERROR_NOT_FOUND && output.error().exitCode == 127,
       output.error().text);
  output = policy.run({"/etc/passwd"});
  NEED(!output && output.error().kind == GSB_ERROR_NOT_EXECUTABLE && output.error().exitCode == 126,
       output.error().text);
  output = policy.run({});
  NEED(!output, "ran nothing, and said that it did");
  Policy missing = policy;
  missing.readOnly("/no/such/grant");
  output = missing.run({"true"});
  NEED(!output && output.error().kind == GSB_ERROR_POLICY, output.error().text);
  NEED(output.error().text.find("/no/such/grant") != std::string::npos, output.error().text);
  std::printf("errors at %s\n", level.c_str());
}

/// Sixteen threads, each with runs of its own, at every level; each gets its own answers, and
/// nothing is left.
void threads(const std::vector<std::string>& levels) {
  const size_t before = descriptors();
  std::atomic<int> right{0};
  std::vector<std::thread> all;
  for (int thread = 0; thread != 16; ++thread)
    all.emplace_back([&, thread] {
      for (const std::string& level : levels) {
        Policy policy = usual();
        policy.level(level);
        const std::string word = level + std::to_string(thread);
        Result<Output> output = policy.run(
            {"sh", "-c",
             "echo " + word + "; head -c 100000 /dev/zero >&2; exit " + std::to_string(thread)});
        if (output && output->standardOutput == word + "\n" &&
            output->standardError.size() == 100000 && output->code == thread)
          ++right;
        else
          std::fprintf(stderr, "%s: %s\n", word.c_str(),
                       output ? output->standardOutput.c_str() : output.error().text.c_str());
      }
    });
  for (std::thread& thread : all)
    thread.join();
  NEED(right == int(16 * levels.size()), std::to_string(right));
  NEED(descriptors() == before,
       std::to_string(descriptors()) + " descriptors, not " + std::to_string(before));
  NEED(::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD, "a child is left");
  std::printf("sixteen threads\n");
}

/// A run belongs to its program and not to the thread that started it: that one ends, and the run
/// goes on until it is told to stop waiting.
void outlivesItsThread(const std::string& level) {
  Policy policy = usual();
  policy.level(level);
  std::filesystem::remove("go");
  gsb_run* run = nullptr;
  std::string problem;
  std::thread([&] {
    const char* words[] = {"sh", "-c", "while [ ! -e go ]; do sleep 0.02; done; exit 7", nullptr};
    gsb_error* error = nullptr;
    run = gsb_start(policy.get(), words, nullptr, &error);
    if (run == nullptr)
      problem = gsb_error_text(error);
    gsb_error_free(error);
  }).join();
  NEED(run != nullptr, problem);
  std::ofstream("go") << "";
  gsb_result result{};
  result.size = sizeof result;
  gsb_error* error = nullptr;
  NEED(gsb_run_wait(run, &result, &error) == 0, gsb_error_text(error));
  NEED(result.code == 7 && result.signal == 0, std::to_string(result.code));
  gsb_run_free(run);
  std::printf("outlives its thread at %s\n", level.c_str());
}

} // namespace

int main() {
  ::setenv("SECRET_TOKEN", "canary", 1);
  std::ofstream("../outside") << "outside\n";
  const std::string most = gossamer::sandbox::maxLevel();
  std::vector<std::string> levels;
  for (const char* level : {"basic", "standard", "strict"}) {
    levels.push_back(level);
    if (most == level)
      break;
  }
  std::printf("max level %s\n", most.c_str());
  NEED(std::string(gsb_platform()) == "linux", gsb_platform());
  NEED(gossamer::sandbox::capabilitiesJson().front() == '{', "");
  unknownWords();
  for (const std::string& level : levels) {
    runs(level);
    errors(level);
    outlivesItsThread(level);
    if (level != "basic")
      confines(level);
  }
  threads(levels);
  std::printf("done\n");
}
