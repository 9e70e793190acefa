/* verify.c - the program of the page: the command line's `tacit verify`, with or without --json. */
#include "cli.h"

#include <string.h>

const cli_option cli_common_options[] = {{0}}; /* no command line is read here */

int main(int argc, char **argv) {
  cli_args args = {.json = argc > 2 && !strcmp(argv[2], "--json"), .operand = argv + 1, .operands = 1};
  return argc < 2 ? CLI_USAGE : cli_verify.run(&args);
}
