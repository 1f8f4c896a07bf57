// The claim of the one policy model, held to account: policies and trees made at random, a batch of
// acts in each (acts.cpp), and `decide` and the kernel have to agree on every act. A disagreement
// is shrunk to the fewest rules and the smallest tree that still show it. GOS_SEED=N repeats a run;
// GOS_FULL=1 makes it long.

#include "sandbox/command/command_policy.h"
#include "sandbox/command/runner.h"
#include "sandbox/policy/decide.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <set>
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
  std::string written; // a link that leads to the path, or the path
};

/// A tree on disk: directories, files and links over a small alphabet of names.
struct Tree {
  std::string root;
  std::vector<std::string> directories, files, links; // absolute
};

enum class Expected {
  Denied,
  Allowed,
  /// Allowed by both names; the kernel moves nothing from one mount to another (EXDEV), and nothing
  /// that a mount stands on (EBUSY).
  AllowedOrElsewhere,
};
struct Act {
  std::string name, path;
  Expected expected = Expected::Denied;
  std::string second;
};
bool agrees(const Act& act, llvm::StringRef verdict) {
  switch (act.expected) {
  case Expected::Denied:
    return verdict.starts_with("refused ");
  case Expected::Allowed:
    return verdict == "ok";
  case Expected::AllowedOrElsewhere:
    return verdict == "ok" || verdict == "refused EXDEV" || verdict == "refused EBUSY";
  }
  return false;
}

void makeFile(const std::string& path) {
  std::ofstream(path) << "text";
  ::chmod(path.c_str(), 0755);
}

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
          makeFile(path);
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
      std::string path = somewhere(tree), written = path;
      if (access == Access::Deny && chance(20)) { // a name that is not there
        written = path = tree.directories[below(tree.directories.size())] + "/missing";
      } else if (chance(20) && !tree.links.empty()) { // a name that is a link
        written = tree.links[below(tree.links.size())];
        path = fs::canonical(written).string();
      }
      made.push_back({path, access, written});
    }
    return made;
  }

private:
  std::mt19937_64 random_;
};

Policy policyOf(const Policy& base, const std::vector<Rule>& rules) {
  Policy policy = base;
  for (const Rule& rule : rules)
    policy = policy.withRule({rule.path, rule.access, Origin::User, rule.written});
  return policy;
}

bool exists(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

/// Does the view show this path only because something beneath it is granted, or the link by which
/// it was granted is? Such a directory is
/// ours, empty but for what is granted, and no rule speaks of it.
bool isSkeleton(const Policy& policy, const std::string& path) {
  if (decide(policy, path, Operation::Query).allowed)
    return false;
  for (const PathRule& rule : policy.rules())
    if (rule.access != Access::Deny &&
        (isAtOrBeneath(rule.path, path) || isAtOrBeneath(rule.writtenAs, path)))
      return true;
  return false;
}

bool inTemp(const std::string& path) {
  return isAtOrBeneath(path, "/tmp") || isAtOrBeneath(path, "/var/tmp");
}

/// Which acts this file system gives to nobody; they are left out.
using Missing = std::set<std::string>;

std::vector<Act> actsFor(const Policy& policy, const std::vector<Rule>& rules, const Tree& tree,
                         const Missing& missing) {
  std::vector<Act> acts;
  const auto allowed = [&](const std::string& path, Operation operation) {
    return decide(policy, path, operation).allowed;
  };
  const auto add = [&](const char* name, const std::string& path, bool may) {
    if (missing.count(name) == 0)
      acts.push_back({name, path, may ? Expected::Allowed : Expected::Denied, {}});
  };
  const auto hasRule = [&](const std::string& path) {
    return llvm::any_of(policy.rules(), [&](const PathRule& rule) { return rule.path == path; });
  };
  // What no rule speaks of is the private temp's where the tree lies in a temp: making it is
  // allowed, and reaches nothing outside.
  const auto isPrivate = [&](const std::string& directory) {
    return inTemp(tree.root) &&
           decide(policy, directory, Operation::Write).reason == Reason::NoRule;
  };
  const auto both = [&](const char* name, const std::string& from, const std::string& to) {
    const bool may = allowed(from, Operation::Write) && allowed(to, Operation::Write);
    acts.push_back({name, from, may ? Expected::AllowedOrElsewhere : Expected::Denied, to});
  };
  for (const std::string& file : tree.files) {
    const bool mayWrite = allowed(file, Operation::Write);
    add("read", file, allowed(file, Operation::Read));
    add("execute", file, allowed(file, Operation::Execute));
    for (const char* act : {"open-write", "access-write", "truncate", "chmod", "utime", "setxattr"})
      add(act, file, mayWrite);
    // A name on which a mount stands of its own stays: a grant is of the object, not of its name.
    const std::string beside = file + "-beside";
    if (hasRule(file) && mayWrite)
      continue;
    add("unlink", file, mayWrite);
    if (hasRule(file) || !mayWrite) {
      both("rename", file, beside);
      both("link", file, beside);
    } else {
      add("rename", file, true); // both names are of one mount
      acts.back().second = beside;
      add("link", file, true);
      acts.back().second = beside;
    }
    const std::string elsewhere = tree.directories[acts.size() % tree.directories.size()];
    if (!isPrivate(elsewhere)) {
      both("rename", file, elsewhere + "/moved");
      both("link", file, elsewhere + "/linked");
    }
  }
  for (const std::string& directory : tree.directories) {
    if (!isSkeleton(policy, directory))
      add("list", directory, allowed(directory, Operation::List));
    if (isPrivate(directory))
      continue;
    for (const char* name : {"/new", "/missing"})
      for (const char* act : {"create", "mkdir", "symlink"})
        if (!exists(directory + name)) // a placeholder of a denial is not there before the run
          add(act, directory + name, allowed(directory + name, Operation::Write));
  }
  for (const std::string& link : tree.links) {
    // A link works where the link itself is in the view and what it names is; a grant that was
    // written with it brings it.
    const std::string target = fs::canonical(link).string();
    const bool brought =
        llvm::any_of(rules, [&](const Rule& rule) { return rule.written == link; });
    if (!fs::is_regular_file(target) || (brought && !allowed(link, Operation::Read)))
      continue;
    const bool shown = allowed(link, Operation::Read);
    add("read", link, shown && allowed(target, Operation::Read));
    add("open-write", link, shown && allowed(target, Operation::Write));
    add("execute", link, shown && allowed(target, Operation::Execute));
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
    line += " " + spelling(rule.access).str() + " " + quoted(rule.written);
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
  Missing missing;
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
  const std::vector<Act> acts = actsFor(policy, rules, tree, sample.missing);
  const std::string list = sample.room + "/tool/acts";
  {
    std::ofstream file(list);
    for (const Act& act : acts)
      file << act.name << '\t' << act.path << '\t' << act.second << '\n';
  }
  RunOptions options;
  options.program = sample.probe;
  options.arguments = {sample.probe, "batch", list};
  options.streams = RunOptions::Streams::Capture;
  for (char** entry = environ; *entry != nullptr; ++entry)
    options.environment.push_back(*entry);
  const char* through = ::getenv("GOS_THROUGH");
  // A name that leads through what is denied is a problem of the policy where names are resolved.
  if (through != nullptr && llvm::any_of(rules, [&](const Rule& rule) {
        return rule.access != Access::Deny && rule.written != rule.path &&
               decide(policy, rule.written, Operation::Query).reason == Reason::DeniedByRule;
      }))
    return std::nullopt;
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
    if (!agrees(acts[at], lines[at]))
      return llvm::formatv("{0} {1} {2}: decide says {3}, the kernel {4}", acts[at].name,
                           llvm::StringRef(acts[at].path).drop_front(tree.root.size()),
                           llvm::StringRef(acts[at].second)
                               .drop_front(acts[at].second.empty() ? 0 : tree.root.size()),
                           acts[at].expected == Expected::Denied ? "denied" : "allowed", lines[at])
          .str();
  // Nothing that a denial or the run made may stay, and nothing may be gone.
  for (const std::string& directory : tree.directories)
    for (const char* name : {"/new", "/missing", "/moved", "/linked"})
      if (exists(directory + name))
        return "left behind: " + directory + name;
  for (const std::string& file : tree.files)
    if (!exists(file) || exists(file + "-beside"))
      return "not as it was: " + file;
  return "";
}

std::string describe(const Tree& tree, const std::vector<Rule>& rules) {
  std::string text;
  for (const Rule& rule : rules)
    text += "  " + spelling(rule.access).str() + " " + rule.written.substr(tree.root.size()) + "\n";
  for (const auto* paths : {&tree.directories, &tree.files, &tree.links})
    for (const std::string& path : *paths)
      text += "  " +
              std::string(paths == &tree.directories ? "directory "
                          : paths == &tree.files     ? "file "
                                                     : "link ") +
              path.substr(tree.root.size()) +
              (paths == &tree.links ? " -> " + fs::read_symlink(path).string() : "") + "\n";
  return text;
}

/// Takes away from the tree what a disagreement does not need, on disk as well; a last one stays.
template <class Still> void shrinkTree(Tree& tree, const std::vector<Rule>& rules, Still still) {
  for (auto* paths : {&tree.links, &tree.files, &tree.directories})
    for (size_t at = paths->size(); at-- > 0;) {
      const std::string path = (*paths)[at];
      const bool named = llvm::any_of(rules, [&](const Rule& rule) {
        return isAtOrBeneath(rule.path, path) || isAtOrBeneath(rule.written, path);
      });
      const bool isFile = paths == &tree.files;
      std::error_code ignored;
      if (named || path == tree.root)
        continue;
      if (isFile && llvm::any_of(tree.links, [&](const std::string& link) {
            return fs::canonical(link, ignored) == path;
          }))
        continue;
      const std::string target = paths == &tree.links ? fs::read_symlink(path).string() : "";
      if (!fs::remove(path, ignored)) // a directory with something in it
        continue;
      paths->erase(paths->begin() + ptrdiff_t(at));
      if (still())
        continue;
      if (isFile)
        makeFile(path);
      else if (!target.empty())
        fs::create_symlink(target, path);
      else
        fs::create_directory(path);
      paths->insert(paths->begin() + ptrdiff_t(at), path);
    }
}

/// Without a sandbox every act works; what this file system has for nobody is left out.
Missing unconfined(const Sample& sample, Generator generator) {
  const Tree tree = generator.tree(sample.room + "/control");
  const Policy open = sample.base.withLevel(SandboxLevel::Basic);
  const std::vector<Act> acts = actsFor(open, {}, tree, {});
  const std::string list = sample.room + "/tool/acts";
  {
    std::ofstream file(list);
    for (const Act& act : acts)
      file << act.name << '\t' << act.path << '\t' << act.second << '\n';
  }
  Missing missing;
  FILE* pipe = ::popen((quoted(sample.probe) + " batch " + quoted(list)).c_str(), "re");
  REQUIRE(pipe != nullptr);
  char line[128];
  std::set<std::string> tried;
  for (const Act& act : acts) {
    REQUIRE(::fgets(line, sizeof line, pipe) != nullptr);
    const llvm::StringRef verdict = llvm::StringRef(line).rtrim();
    tried.insert(act.name);
    if (act.name == "setxattr" && verdict == "refused EOPNOTSUPP")
      missing.insert(act.name);
    else
      CHECK_MESSAGE(verdict == "ok", act.name << " " << act.path << ": " << verdict.str());
  }
  ::pclose(pipe);
  CHECK(tried.size() == 15); // every act of acts.cpp
  for (const std::string& name : missing)
    std::cout << "SKIP conformance of " << name << ": this file system has none\n";
  fs::remove_all(tree.root);
  return missing;
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
  sample.missing = unconfined(sample, Generator(1));
  size_t judged = 0, policies = 0;
  for (int round = 0; round != rounds; ++round) {
    Generator generator(seed + uint64_t(round));
    Tree tree = generator.tree(pattern + "/t" + std::to_string(round));
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
      shrinkTree(tree, rules, [&] {
        std::optional<std::string> still = disagreement(sample, tree, rules, judged);
        if (!still || still->empty())
          return false;
        problem = still;
        return true;
      });
      FAIL_CHECK("seed " << seed + uint64_t(round) << " level " << spelling(level).str() << ": "
                         << *problem << "\n"
                         << describe(tree, rules));
      break; // the tree is another one now
    }
    fs::remove_all(tree.root);
  }
  fs::remove_all(pattern);
  std::cout << "conformance at " << spelling(level).str() << " from seed " << seed << ": "
            << policies << " policies, " << judged << " acts, uid " << ::geteuid() << "\n";
  CHECK(judged >= 2000);
}

bool isFull() {
  const char* full = ::getenv("GOS_FULL");
  return full != nullptr && std::string(full) == "1";
}
/// The long run looks at what nobody has looked at; the others say the same each time.
uint64_t seed() {
  if (const char* given = ::getenv("GOS_SEED"))
    return std::strtoull(given, nullptr, 10);
  return isFull() ? uint64_t(::time(nullptr)) * 1000 : 1'000'000;
}
int rounds() {
  // A program for each run takes longer.
  return (isFull() ? 400 : 40) / (::getenv("GOS_THROUGH") != nullptr ? 2 : 1);
}

} // namespace

TEST_CASE("decide and the kernel agree at standard") {
  conform(SandboxLevel::Standard, seed(), rounds());
}
TEST_CASE("decide and the kernel agree at strict") {
  conform(SandboxLevel::Strict, seed() + 500000, rounds());
}

} // namespace gos::sandbox
