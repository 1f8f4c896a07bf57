// The claim of the one policy model, held to account: policies and trees made at random, a batch of
// acts in each, and `decide` and the kernel have to agree on every act. A disagreement is shrunk to
// the fewest rules that still show it. GOS_SEED=N repeats a run; GOS_FULL=1 makes it long.

#include "sandbox/command/command_policy.h"
#include "sandbox/command/runner.h"
#include "sandbox/policy/decide.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace gos::sandbox {
namespace {

namespace fs = std::filesystem;

struct Rule {
  std::string path;
  Access access;
};

/// A tree on disk: directories, files and links over a small alphabet of names.
struct Tree {
  std::string root;
  std::vector<std::string> directories, files, links; // absolute
};

struct Act {
  std::string name, path;
  bool expected = false;
};

class Generator {
public:
  explicit Generator(uint64_t seed) : random_(seed) {}
  size_t below(size_t bound) { return bound == 0 ? 0 : size_t(random_() % bound); }
  bool chance(unsigned percent) { return below(100) < percent; }

  Tree tree(const std::string& root) {
    Tree made;
    made.root = root;
    fs::create_directories(root);
    made.directories.push_back(root);
    for (size_t at = 0; at < made.directories.size() && made.directories.size() < 14; ++at) {
      const std::string directory = made.directories[at];
      const bool deep = std::count(directory.begin(), directory.end(), '/') -
                            std::count(root.begin(), root.end(), '/') >=
                        3;
      for (const char* name : {"a", "b", "c"}) {
        const std::string path = directory + "/" + name;
        if (chance(45) && !deep) {
          fs::create_directory(path);
          made.directories.push_back(path);
        } else if (chance(55)) {
          std::ofstream(path) << "text";
          made.files.push_back(path);
        }
      }
    }
    for (int count = int(below(4)); count > 0; --count) {
      const std::string path =
          made.directories[below(made.directories.size())] + "/l" + std::to_string(count);
      const std::string target = chance(50) && !made.files.empty()
                                     ? made.files[below(made.files.size())]
                                     : made.directories[below(made.directories.size())];
      fs::create_symlink(target, path);
      made.links.push_back(path);
    }
    return made;
  }

  std::string somewhere(const Tree& tree) {
    if (chance(60) || tree.files.empty())
      return tree.directories[below(tree.directories.size())];
    return tree.files[below(tree.files.size())];
  }

  std::vector<Rule> rules(const Tree& tree) {
    std::vector<Rule> made;
    for (size_t count = 1 + below(5); count > 0; --count) {
      const size_t kind = below(10);
      const Access access = kind < 4   ? Access::ReadWrite
                            : kind < 7 ? Access::ReadOnly
                                       : Access::Deny;
      std::string path = somewhere(tree);
      if (access == Access::Deny && chance(20)) // a name that is not there
        path = tree.directories[below(tree.directories.size())] + "/missing";
      made.push_back({path, access});
    }
    return made;
  }

private:
  std::mt19937_64 random_;
};

Policy policyOf(const Policy& base, const std::vector<Rule>& rules) {
  Policy policy = base;
  for (const Rule& rule : rules)
    policy = policy.withRule({rule.path, rule.access, Origin::User, rule.path});
  return policy;
}

bool exists(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

/// Does the view show this path only because something beneath it is granted? Such a directory is
/// ours, empty but for what is granted, and no rule speaks of it.
bool isSkeleton(const Policy& policy, const std::string& path) {
  if (decide(policy, path, Operation::Query).allowed)
    return false;
  for (const PathRule& rule : policy.rules())
    if (rule.access != Access::Deny && isAtOrBeneath(rule.path, path))
      return true;
  return false;
}

bool inTemp(const std::string& path) {
  return isAtOrBeneath(path, "/tmp") || isAtOrBeneath(path, "/var/tmp");
}

std::vector<Act> actsFor(const Policy& policy, const Tree& tree) {
  std::vector<Act> acts;
  const auto allowed = [&](const std::string& path, Operation operation) {
    return decide(policy, path, operation).allowed;
  };
  for (const std::string& file : tree.files) {
    acts.push_back({"read", file, allowed(file, Operation::Read)});
    acts.push_back({"open-write", file, allowed(file, Operation::Write)});
    acts.push_back({"access-write", file, allowed(file, Operation::Write)});
    acts.push_back({"chmod", file, allowed(file, Operation::Write)});
    acts.push_back({"utime", file, allowed(file, Operation::Write)});
  }
  for (const std::string& directory : tree.directories) {
    if (!isSkeleton(policy, directory))
      acts.push_back({"list", directory, allowed(directory, Operation::List)});
    // What no rule speaks of is the private temp's where the tree lies in a temp: making it is
    // allowed, and reaches nothing outside.
    if (inTemp(tree.root) && decide(policy, directory, Operation::Write).reason == Reason::NoRule)
      continue;
    for (const char* name : {"/new", "/missing"})
      if (!exists(directory + name)) // a placeholder of a denial is not there before the run
        acts.push_back(
            {"create-remove", directory + name, allowed(directory + name, Operation::Write)});
  }
  for (const std::string& link : tree.links) {
    // A link works where the link itself is in the view and what it names is.
    const std::string target = fs::canonical(link).string();
    if (fs::is_regular_file(target))
      acts.push_back(
          {"read", link, allowed(link, Operation::Read) && allowed(target, Operation::Read)});
  }
  return acts;
}

/// A word of a shell.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

/// The same run by a program over std::sandbox (through.gos, built), which gets the rules as words.
/// Its answer is what a captured run answers; an exit code of 125 is an error of the policy.
llvm::Expected<RunResult> runThrough(const char* program, const Policy& policy,
                                     const std::vector<Rule>& rules, const std::string& directory,
                                     const RunOptions& options) {
  std::string line = "HOME=/nonexistent " + quoted(program) + " " + spelling(policy.level()).str() +
                     " " + quoted(directory);
  for (const Rule& rule : rules)
    line += " " + spelling(rule.access).str() + " " + quoted(rule.path);
  line += " --";
  for (const std::string& argument : options.arguments)
    line += " " + quoted(argument);
  RunResult result;
  FILE* pipe = ::popen(line.c_str(), "re");
  if (pipe == nullptr)
    return llvm::createStringError("no pipe");
  char buffer[4096];
  for (size_t got; (got = ::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    result.output.append(buffer, got);
  const int status = ::pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (result.code == 125)
    return llvm::createStringError(result.output);
  return result;
}

/// Does `Policy::access` of the program say of each file and directory what `decide` says? The
/// first of which it does not, in words.
std::string accessDisagreement(const char* program, const Policy& policy,
                               const std::vector<Rule>& rules, const std::string& directory,
                               const Tree& tree) {
  RunOptions asking;
  asking.arguments = {"access"};
  for (const std::vector<std::string>* paths : {&tree.directories, &tree.files})
    asking.arguments.insert(asking.arguments.end(), paths->begin(), paths->end());
  llvm::Expected<RunResult> said = runThrough(program, policy, rules, directory, asking);
  if (!said)
    return "access was refused: " + llvm::toString(said.takeError());
  llvm::SmallVector<llvm::StringRef, 64> lines;
  llvm::StringRef(said->output).split(lines, '\n', -1, false);
  if (lines.size() != asking.arguments.size() - 1)
    return llvm::formatv("{0} paths, {1} answers", asking.arguments.size() - 1, lines.size()).str();
  for (size_t at = 0; at != lines.size(); ++at) {
    const std::string& path = asking.arguments[at + 1];
    const Access wanted = decide(policy, path, Operation::Write).allowed  ? Access::ReadWrite
                          : decide(policy, path, Operation::Read).allowed ? Access::ReadOnly
                                                                          : Access::Deny;
    if (lines[at] != spelling(wanted))
      return llvm::formatv("access {0}: decide says {1}, the program {2}",
                           llvm::StringRef(path).drop_front(tree.root.size()), spelling(wanted),
                           lines[at])
          .str();
  }
  return {};
}

struct Sample {
  Policy base;
  std::string probe, room;
};

/// The first act on which they disagree, in words; empty if there is none. nullopt: the policy is
/// an error.
std::optional<std::string> disagreement(const Sample& sample, const Tree& tree,
                                        const std::vector<Rule>& rules, size_t& judged) {
  const Policy policy = policyOf(sample.base, rules);
  if (llvm::Error error = policy.check()) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  const std::vector<Act> acts = actsFor(policy, tree);
  const std::string list = sample.room + "/tool/acts";
  {
    std::ofstream file(list);
    for (const Act& act : acts)
      file << act.name << '\t' << act.path << '\n';
  }
  RunOptions options;
  options.program = sample.probe;
  options.arguments = {sample.probe, "batch", list};
  options.streams = RunOptions::Streams::Capture;
  for (char** entry = environ; *entry != nullptr; ++entry)
    options.environment.push_back(*entry);
  const char* through = ::getenv("GOS_THROUGH");
  if (through != nullptr)
    if (std::string said = accessDisagreement(through, policy, rules, sample.room + "/tool", tree);
        !said.empty())
      return said;
  llvm::Expected<RunResult> result =
      through == nullptr ? run(policy, options)
                         : runThrough(through, policy, rules, sample.room + "/tool", options);
  if (!result)
    return "the run was refused: " + llvm::toString(result.takeError());
  if (result->code != 0)
    return "the probe ended with " + std::to_string(result->code) + ": " + result->errorOutput;
  llvm::SmallVector<llvm::StringRef, 128> lines;
  llvm::StringRef(result->output).split(lines, '\n', -1, false);
  if (lines.size() != acts.size())
    return llvm::formatv("{0} acts, {1} verdicts", acts.size(), lines.size()).str();
  judged += acts.size();
  for (size_t at = 0; at != acts.size(); ++at)
    if ((lines[at] == "ok") != acts[at].expected)
      return llvm::formatv("{0} {1}: decide says {2}, the kernel {3}", acts[at].name,
                           llvm::StringRef(acts[at].path).drop_front(tree.root.size()),
                           acts[at].expected ? "allowed" : "denied", lines[at])
          .str();
  // Nothing that a denial or the run made may stay.
  for (const std::string& directory : tree.directories)
    for (const char* name : {"/new", "/missing"})
      if (exists(directory + name))
        return "left behind: " + directory + name;
  return "";
}

std::string describe(const Tree& tree, const std::vector<Rule>& rules) {
  std::string text;
  for (const Rule& rule : rules)
    text += "  " + spelling(rule.access).str() + " " + rule.path.substr(tree.root.size()) + "\n";
  return text;
}

void conform(SandboxLevel level, uint64_t seed, int rounds) {
  // Outside the temps where we can write there: as_user.sh makes a place for an ordinary user.
  const char* given = ::getenv("GOS_ROOM");
  std::string pattern = std::string(given != nullptr              ? given
                                    : ::access("/srv", W_OK) == 0 ? "/srv"
                                                                  : "/var/tmp") +
                        "/gosconf-XXXXXX";
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  ::chmod(pattern.c_str(), 0755);
  Sample sample;
  sample.room = pattern;
  fs::create_directory(pattern + "/tool");
  sample.probe = pattern + "/tool/probe";
  const char* copied = ::getenv("GOS_PROBE_PATH"); // as_user.sh gives one that everybody may read
  fs::copy_file(copied != nullptr ? copied : GOS_PROBE, sample.probe);
  ::chmod(sample.probe.c_str(), 0755);
  sample.base = baseViewPolicy(hostFacts())
                    .withLevel(level)
                    .readOnly(pattern + "/tool", Origin::User)
                    .withWorkingDirectory(pattern + "/tool");
  size_t judged = 0, policies = 0;
  for (int round = 0; round != rounds; ++round) {
    Generator generator(seed + uint64_t(round));
    const Tree tree = generator.tree(pattern + "/t" + std::to_string(round));
    for (int variant = 0; variant != 3; ++variant) {
      std::vector<Rule> rules = generator.rules(tree);
      std::optional<std::string> problem = disagreement(sample, tree, rules, judged);
      if (!problem)
        continue;
      ++policies;
      if (problem->empty())
        continue;
      // Shrink: drop rules while some disagreement stays.
      for (size_t at = 0; at < rules.size();) {
        std::vector<Rule> fewer = rules;
        fewer.erase(fewer.begin() + ptrdiff_t(at));
        std::optional<std::string> still = disagreement(sample, tree, fewer, judged);
        if (still && !still->empty()) {
          rules = fewer;
          problem = still;
        } else {
          ++at;
        }
      }
      FAIL_CHECK("seed " << seed + uint64_t(round) << " level " << spelling(level).str() << ": "
                         << *problem << "\n"
                         << describe(tree, rules));
    }
    fs::remove_all(tree.root);
  }
  fs::remove_all(pattern);
  std::cout << "conformance at " << spelling(level).str() << " from seed " << seed << ": "
            << policies << " policies, " << judged << " acts, uid " << ::geteuid() << "\n";
  CHECK(judged > 500);
}

uint64_t seed() {
  const char* given = ::getenv("GOS_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : uint64_t(::time(nullptr)) * 1000;
}
int rounds() {
  const char* full = ::getenv("GOS_FULL");
  const bool isFull = full != nullptr && std::string(full) == "1";
  // A program for each run takes longer.
  return (isFull ? 400 : 40) / (::getenv("GOS_THROUGH") != nullptr ? 4 : 1);
}

} // namespace

TEST_CASE("decide and the kernel agree at standard") {
  conform(SandboxLevel::Standard, seed(), rounds());
}
TEST_CASE("decide and the kernel agree at strict") {
  conform(SandboxLevel::Strict, seed() + 500000, rounds());
}

} // namespace gos::sandbox
