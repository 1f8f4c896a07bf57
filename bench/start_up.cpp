// Starts each of several commands in turn, many times, and prints the median wall clock of each
// from the spawn to its end.   usage: start_up ROUNDS COMMAND... [-- COMMAND...]...

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <vector>

extern char** environ;

int main(int argc, char** argv) {
  if (argc < 3)
    return 2;
  std::vector<std::vector<char*>> commands(1);
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "--") == 0)
      commands.emplace_back();
    else
      commands.back().push_back(argv[i]);
  }
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
  std::vector<std::vector<double>> times(commands.size());
  for (int round = 0; round < std::atoi(argv[1]); ++round) {
    for (size_t i = 0; i < commands.size(); ++i) {
      std::vector<char*> command = commands[i];
      command.push_back(nullptr);
      const auto start = std::chrono::steady_clock::now();
      pid_t child = 0;
      int status = 0;
      if (posix_spawn(&child, command[0], &quiet, nullptr, command.data(), environ) != 0 ||
          waitpid(child, &status, 0) < 0 || status != 0) {
        std::fprintf(stderr, "%s failed\n", command[0]);
        return 1;
      }
      times[i].push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
              .count());
    }
  }
  double first = 0;
  for (size_t i = 0; i < commands.size(); ++i) {
    std::nth_element(times[i].begin(), times[i].begin() + times[i].size() / 2, times[i].end());
    const double median = times[i][times[i].size() / 2];
    if (i == 0)
      first = median;
    const char* name = std::strrchr(commands[i][0], '/');
    std::printf("%8.2f ms  %+7.2f  %s %s\n", median, median - first,
                name != nullptr ? name + 1 : commands[i][0],
                commands[i].size() > 1 ? commands[i][1] : "");
  }
}
