/* Runs a command with the working directory read-only, no network and no secrets, from plain C. */
#include <gossamer_sandbox.h>

#include <stdio.h>
#include <string.h>

static int complain(gsb_error *error) {
  fprintf(stderr, "sandbox_c: %s\n", gsb_error_text(error));
  if (gsb_error_remedy(error)[0] != '\0')
    fprintf(stderr, "try: %s\n", gsb_error_remedy(error));
  int code = gsb_error_exit_code(error);
  gsb_error_free(error);
  return code;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: sandbox_c COMMAND [ARG...]\n");
    return 2;
  }
  gsb_error *error = NULL;
  gsb_policy *policy = gsb_policy_command_default(NULL, &error);
  if (policy == NULL)
    return complain(error);
  gsb_policy_level(policy, strcmp(gsb_max_level(), "strict") == 0 ? "strict" : "standard");
  gsb_policy_read_only(policy, "."); /* narrower than the default, which may write here */

  gsb_output output;
  if (gsb_run_capture(policy, (const char *const *)(argv + 1), NULL, &output, &error) != 0) {
    gsb_policy_free(policy);
    return complain(error);
  }
  fwrite(output.standard_output, 1, output.standard_output_size, stdout);
  fwrite(output.standard_error, 1, output.standard_error_size, stderr);
  printf("exit code %d, %u left over and killed\n", output.result.code, output.result.killed);
  int code = output.result.code;
  gsb_string_free(output.standard_output);
  gsb_string_free(output.standard_error);
  gsb_policy_free(policy);
  return code;
}
