// What a sandbox adds to starting a process, beside posix_spawn and bubblewrap, in one run.
//
//   sandbox_start library FLOOR [ROUNDS]       above posix_spawn of /bin/true, from a small parent
//                                              and from one of 1 GiB; and what FLOOR takes, the
//                                              kernel's part of a strict start (sandbox_floor.cpp)
//   sandbox_start processes BWR BWRAP [ROUNDS] whole processes, alternating
//   sandbox_start crowd BWR BWRAP [ROUNDS]     sixteen at once: the slowest of each round
//   sandbox_start program PROGRAM [ROUNDS]     a run of std::sandbox (sandbox_run.gos, built)
//                                              beside the C interface, 1 GiB each
//   sandbox_start row [COUNT]                  COUNT starts of each level, one after the other,
//                                              and what is left

#include "gossamer_sandbox.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace {

using Samples = std::vector<double>; // milliseconds

double now() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
double at(Samples samples, double part) {
  std::sort(samples.begin(), samples.end());
  return samples.empty()
             ? 0
             : samples[std::min(samples.size() - 1, size_t(part * double(samples.size())))];
}
double median(const Samples& samples) {
  return at(samples, 0.5);
}

pid_t spawn(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words)
    argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t id = 0;
  if (posix_spawn(&id, argv[0], nullptr, nullptr, argv.data(), environ) != 0) {
    std::perror(argv[0]);
    std::exit(1);
  }
  return id;
}
void wait(pid_t id) {
  int status = 0;
  waitpid(id, &status, 0);
  if (status != 0) {
    std::fprintf(stderr, "a measured process ended with status %d\n", status);
    std::exit(1);
  }
}
double timed(const std::vector<std::string>& words) {
  const double begin = now();
  wait(spawn(words));
  return now() - begin;
}

double sandboxed(const gsb_policy* policy) {
  const char* const command[] = {"/bin/true", nullptr};
  gsb_error* error = nullptr;
  const double begin = now();
  gsb_run* run = gsb_start(policy, command, nullptr, &error);
  gsb_result result;
  result.size = sizeof result;
  if (run == nullptr || gsb_run_wait(run, &result, &error) != 0 || result.code != 0) {
    std::fprintf(stderr, "a measured run failed: %s\n",
                 error != nullptr ? gsb_error_text(error) : "its code is not 0");
    std::exit(1);
  }
  gsb_run_free(run);
  return now() - begin;
}

gsb_policy* policyAt(const char* level) {
  gsb_error* error = nullptr;
  gsb_policy* policy = gsb_policy_command_default(nullptr, &error);
  if (policy == nullptr) {
    std::fprintf(stderr, "%s\n", gsb_error_text(error));
    std::exit(1);
  }
  gsb_policy_level(policy, level);
  return policy;
}

const char* const kLevels[] = {"basic", "standard", "strict"};
const double kWanted[] = {0.2, 1.0, 1.2};

void libraryOnce(const std::string& floor, int rounds, const char* parent, double more) {
  gsb_policy* policies[3];
  for (int level = 0; level != 3; ++level)
    policies[level] = policyAt(kLevels[level]);
  Samples plain, least, levels[3];
  for (int round = -20; round != rounds; ++round) {
    const double bare = timed({"/bin/true"});
    const double kernel = timed({floor, "40", "/bin/true"});
    double each[3];
    for (int level = 0; level != 3; ++level)
      each[level] = sandboxed(policies[level]);
    if (round < 0)
      continue; // warming up, and the proof of each level
    plain.push_back(bare);
    least.push_back(kernel);
    for (int level = 0; level != 3; ++level)
      levels[level].push_back(each[level]);
  }
  std::printf("%-14s %-10s median %6.3f ms   p95 %6.3f ms\n", parent, "spawn", median(plain),
              at(plain, 0.95));
  std::printf("%-14s %-10s median %6.3f ms   p95 %6.3f ms   added %6.3f ms (namespaces and forty "
              "mounts alone)\n",
              parent, "kernel", median(least), at(least, 0.95), median(least) - median(plain));
  for (int level = 0; level != 3; ++level)
    std::printf("%-14s %-10s median %6.3f ms   p95 %6.3f ms   added %6.3f ms (wanted: %.1f)\n",
                parent, kLevels[level], median(levels[level]), at(levels[level], 0.95),
                median(levels[level]) - median(plain), kWanted[level] + more);
  for (gsb_policy* policy : policies)
    gsb_policy_free(policy);
}

std::vector<std::string> bwrCommand(const std::string& bwr, const std::string& level) {
  return {bwr, "--level", level, "--", "/bin/true"};
}
/// The minimal root that people give bubblewrap: /usr, proc, dev, tmpfs.
std::vector<std::string> bwrapCommand(const std::string& bwrap, const std::string& unshare) {
  return {bwrap,    unshare,     "--ro-bind", "/usr", "/usr",      "--symlink", "usr/bin",
          "/bin",   "--symlink", "usr/lib",   "/lib", "--symlink", "usr/lib64", "/lib64",
          "--proc", "/proc",     "--dev",     "/dev", "--tmpfs",   "/tmp",      "/bin/true"};
}

struct Pair {
  const char* name;
  std::vector<std::string> ours, theirs;
};
std::vector<Pair> pairs(const std::string& bwr, const std::string& bwrap) {
  return {{"strict", bwrCommand(bwr, "strict"), bwrapCommand(bwrap, "--unshare-all")},
          {"standard", bwrCommand(bwr, "standard"), bwrapCommand(bwrap, "--unshare-net")}};
}

void processes(const std::string& bwr, const std::string& bwrap, int rounds) {
  for (const Pair& pair : pairs(bwr, bwrap)) {
    Samples ours, theirs;
    for (int round = -10; round != rounds; ++round) {
      const double a = timed(pair.ours), b = timed(pair.theirs);
      if (round >= 0)
        ours.push_back(a), theirs.push_back(b);
    }
    std::printf(
        "%-9s bwr median %6.3f ms p95 %6.3f   bwrap median %6.3f ms p95 %6.3f   bwr/bwrap %.2f (wanted: 0.75)\n",
        pair.name, median(ours), at(ours, 0.95), median(theirs), at(theirs, 0.95),
        median(ours) / median(theirs));
  }
}

double slowestOf(const std::vector<std::string>& words) {
  const double begin = now();
  std::vector<pid_t> all;
  for (int one = 0; one != 16; ++one)
    all.push_back(spawn(words));
  for (pid_t id : all)
    wait(id);
  return now() - begin;
}
void crowd(const std::string& bwr, const std::string& bwrap, int rounds) {
  for (const Pair& pair : pairs(bwr, bwrap)) {
    Samples ours, theirs;
    for (int round = -2; round != rounds; ++round) {
      const double a = slowestOf(pair.ours), b = slowestOf(pair.theirs);
      if (round >= 0)
        ours.push_back(a), theirs.push_back(b);
    }
    std::printf(
        "sixteen at once, %-9s slowest: bwr median %7.2f ms   bwrap median %7.2f ms   bwr/bwrap %.2f (wanted: 1.0)\n",
        pair.name, median(ours), median(theirs), median(ours) / median(theirs));
  }
}

/// The same call as sandbox::run, by the C interface.
double captured(const gsb_policy* policy) {
  const char* const command[] = {"/bin/true", nullptr};
  gsb_error* error = nullptr;
  gsb_output output;
  const double begin = now();
  if (gsb_run_capture(policy, command, nullptr, &output, &error) != 0 || output.result.code != 0) {
    std::fprintf(stderr, "a measured run failed: %s\n",
                 error != nullptr ? gsb_error_text(error) : "its code is not 0");
    std::exit(1);
  }
  const double taken = now() - begin;
  gsb_string_free(output.standard_output);
  gsb_string_free(output.standard_error);
  return taken;
}
/// A program that answers each line with the nanoseconds of one run.
void program(const std::string& path, int rounds) {
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
    std::exit(1);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], 0);
  posix_spawn_file_actions_adddup2(&actions, from[1], 1);
  char* argv[] = {const_cast<char*>(path.c_str()), nullptr};
  pid_t id = 0;
  if (posix_spawn(&id, argv[0], &actions, nullptr, argv, environ) != 0) {
    std::perror(argv[0]);
    std::exit(1);
  }
  close(to[0]);
  close(from[1]);
  FILE* answers = fdopen(from[0], "r");
  gsb_policy* policy = policyAt("strict");
  Samples ours, theirs;
  for (int round = -20; round != rounds; ++round) {
    char line[64];
    if (write(to[1], "\n", 1) != 1 || std::fgets(line, sizeof line, answers) == nullptr) {
      std::fprintf(stderr, "%s gave no answer\n", path.c_str());
      std::exit(1);
    }
    const double a = std::atof(line) / 1e6, b = captured(policy);
    if (round >= 0)
      ours.push_back(a), theirs.push_back(b);
  }
  close(to[1]);
  std::fclose(answers);
  wait(id);
  gsb_policy_free(policy);
  std::printf(
      "strict    std::sandbox median %6.3f ms p95 %6.3f   C interface median %6.3f ms p95 %6.3f   added %6.3f ms (wanted: 0.3)\n",
      median(ours), at(ours, 0.95), median(theirs), at(theirs, 0.95),
      median(ours) - median(theirs));
}

int descriptors() {
  int count = 0;
  DIR* directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr)
    ++count;
  closedir(directory);
  return count;
}
void row(int count) {
  for (const char* level : kLevels) {
    gsb_policy* policy = policyAt(level);
    for (int warm = 0; warm != 5; ++warm)
      sandboxed(policy);
    const int before = descriptors();
    Samples samples;
    for (int one = 0; one != count; ++one)
      samples.push_back(sandboxed(policy));
    Samples first(samples.begin(), samples.begin() + count / 10),
        last(samples.end() - count / 10, samples.end());
    std::printf(
        "%d in a row, %-9s median %6.3f ms, first tenth %6.3f, last tenth %6.3f, p99 %6.3f, descriptors %+d\n",
        count, level, median(samples), median(first), median(last), at(samples, 0.99),
        descriptors() - before);
    gsb_policy_free(policy);
  }
}

/// Touched, so that it is there.
char* gibibyte() {
  const size_t size = size_t(1) << 30;
  char* memory = static_cast<char*>(std::malloc(size));
  if (memory == nullptr)
    std::exit(1);
  std::memset(memory, 1, size);
  return memory;
}

} // namespace

int main(int count, char** words) {
  const std::string part = count > 1 ? words[1] : "";
  const auto number = [&](int position, int otherwise) {
    return count > position ? std::atoi(words[position]) : otherwise;
  };
  if (part == "library" && count > 2) {
    const int rounds = number(3, 300);
    libraryOnce(words[2], rounds, "small parent", 0);
    char* memory = gibibyte();
    libraryOnce(words[2], rounds, "1 GiB parent", 0.2);
    std::free(memory);
  } else if (part == "processes" && count > 3) {
    processes(words[2], words[3], number(4, 200));
  } else if (part == "crowd" && count > 3) {
    crowd(words[2], words[3], number(4, 20));
  } else if (part == "program" && count > 2) {
    char* memory = gibibyte();
    program(words[2], number(3, 300));
    std::free(memory);
  } else if (part == "row") {
    row(number(2, 1000));
  } else {
    std::fprintf(stderr, "usage: sandbox_start library|processes|crowd|program|row ...\n");
    return 2;
  }
  return 0;
}
