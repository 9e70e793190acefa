/* cmd_dummy.c - tacit dummy: says that it is there. */
#include "cli.h"

static int run(cli_args *args) {
  (void)args;
  puts("a verb of one file and one line");
  return 0;
}

const cli_verb cli_dummy = {.name = "dummy",
                            .operands = "",
                            .summary = "Says that it is there.",
                            .details = "",
                            .options = {cli_common_options},
                            .run = run};
