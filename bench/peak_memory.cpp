// Runs a command and prints the most memory it held, in KiB.   usage: peak_memory COMMAND...

#include <cstdio>
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char** environ;

int main(int argc, char** argv) {
  if (argc < 2)
    return 2;
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  int status = 0;
  if (posix_spawnp(&child, argv[1], &quiet, nullptr, argv + 1, environ) != 0 ||
      waitpid(child, &status, 0) < 0)
    return 1;
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  std::printf("%ld\n", usage.ru_maxrss);
  return status == 0 ? 0 : 1;
}
