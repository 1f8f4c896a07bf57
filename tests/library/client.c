/* Runs that are started, watched, signalled and freed early, over the C interface alone. */
#include <gossamer_sandbox.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(int line, const char *what, gsb_error *error) {
  fprintf(stderr, "client.c:%d: %s: %s\n", line, what, error != NULL ? gsb_error_text(error) : "");
  exit(1);
}
#define NEED(condition) ((condition) ? (void)0 : fail(__LINE__, #condition, error))

/* Waits until the pipe has a line: the command is running then. */
static void ready(int fd) {
  char byte;
  while (read(fd, &byte, 1) == 1 && byte != '\n') {
  }
}

int main(void) {
  gsb_error *error = NULL;
  gsb_policy *policy = gsb_policy_command_default(NULL, &error);
  NEED(policy != NULL);
  gsb_policy_level(policy, gsb_max_level());
  NEED(gsb_policy_check(policy, &error) == 0);

  int out[2];
  NEED(pipe(out) == 0);
  gsb_options options;
  gsb_options_init(&options);
  options.standard_input = -1;
  options.standard_output = out[1];

  /* A signal reaches the command, which decides how it ends. */
  const char *trap[] = {"sh", "-c", "trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done", NULL};
  gsb_run *run = gsb_start(policy, trap, &options, &error);
  NEED(run != NULL);
  NEED(gsb_run_take(run, &error) != GSB_EVENT_ERROR);
  ready(out[0]);
  gsb_run_signal(run, SIGTERM);
  gsb_result result;
  memset(&result, 0, sizeof result);
  result.size = sizeof result;
  NEED(gsb_run_wait(run, &result, &error) == 0);
  NEED(result.code == 9 && result.signal == 0);
  NEED(result.temporary_removed == 1);
  NEED(result.wall_seconds > 0);
  gsb_run_free(run);

  /* Polled by the caller's own loop; a process that stays behind is ended and counted. */
  const char *behind[] = {"sh", "-c", "sleep 1000 & echo ready; exit 3", NULL};
  run = gsb_start(policy, behind, &options, &error);
  NEED(run != NULL);
  ready(out[0]);
  for (gsb_event event = GSB_EVENT_NOTHING; event != GSB_EVENT_ENDED;) {
    struct pollfd entry = {gsb_run_descriptor(run), POLLIN, 0};
    poll(&entry, 1, -1);
    event = gsb_run_take(run, &error);
    NEED(event != GSB_EVENT_ERROR);
  }
  NEED(gsb_run_wait(run, &result, &error) == 0);
  NEED(result.code == 3);
  NEED(result.killed >= 1);
  gsb_run_free(run);

  /* Killed, and freed while it runs: both end everything. */
  const char *endless[] = {"sh", "-c", "trap '' TERM INT; echo ready; while :; do sleep 0.05; done", NULL};
  run = gsb_start(policy, endless, &options, &error);
  NEED(run != NULL);
  ready(out[0]);
  gsb_run_kill(run);
  NEED(gsb_run_wait(run, &result, &error) == 0);
  NEED(result.signal == SIGKILL && result.code == 137);
  gsb_run_free(run);
  run = gsb_start(policy, endless, &options, &error);
  NEED(run != NULL);
  ready(out[0]);
  gsb_run_free(run);
  errno = 0;
  NEED(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);

  /* An older caller's options and result are shorter. */
  options.size = offsetof(gsb_options, capture_limit);
  const char *word[] = {"echo", "ready", NULL};
  run = gsb_start(policy, word, &options, &error);
  NEED(run != NULL);
  struct {
    gsb_result result;
    char after;
  } shorter;
  memset(&shorter, 7, sizeof shorter);
  shorter.result.size = offsetof(gsb_result, peak_bytes);
  NEED(gsb_run_wait(run, &shorter.result, &error) == 0);
  NEED(shorter.result.code == 0);
  NEED(shorter.result.killed == 0x07070707u); /* beyond what the caller has: untouched */
  gsb_run_free(run);

  gsb_policy_free(policy);
  gsb_policy_free(NULL);
  gsb_error_free(NULL);
  gsb_string_free(NULL);
  gsb_run_free(NULL);
  printf("done\n");
  return 0;
}
