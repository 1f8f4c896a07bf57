/* level LEVEL: starts `true` at a level through the C interface and answers as bwr does: 0, or the
 * code of the error, with the primitive, the text and the fix, one a line. */

#include "gossamer_sandbox.h"

#include <stdio.h>

int main(int argc, char **argv) {
  const char *const command[] = {"/bin/true", NULL};
  gsb_error *error = NULL;
  gsb_options options;
  gsb_output output;
  gsb_policy *policy;
  if (argc != 2) {
    fprintf(stderr, "usage: level LEVEL\n");
    return 2;
  }
  policy = gsb_policy_command_default("/usr", &error);
  if (policy != NULL) {
    gsb_policy_level(policy, argv[1]);
    gsb_options_init(&options);
    output.result.size = sizeof output.result;
    if (gsb_run_capture(policy, command, &options, &output, &error) == 0)
      return output.result.code;
  }
  printf("%s\n%s\n%s\n", gsb_error_primitive(error), gsb_error_text(error),
         gsb_error_remedy(error));
  return gsb_error_exit_code(error);
}
