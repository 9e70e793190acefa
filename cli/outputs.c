/* outputs.c - what a verb writes: every output that its options name is asked for before anything is read or charged.
 *
 * How a file is found, compared and written is the library's (tct_file_write).  Which files a run reads and writes its
 * table of options says. */
#define _GNU_SOURCE
#include "cli.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char STDOUT[] = "/dev/stdout";

int cli_is_file(const cli_option *o) { return o->kind >= CLI_IN; }
int cli_is_stdout(const char *output) { return !output || !strcmp(output, "-") || !strcmp(output, STDOUT); }
const char *cli_place(const char *output) { return cli_is_stdout(output) ? STDOUT : output; }

static int is_output(const cli_option *o) { return o->kind >= CLI_OUT; }

static const char *value_of(const cli_args *args, const cli_option *o) {
  return *(const char *const *)((const char *)args + o->at);
}

/* Is standard output a file, where what is printed would overwrite what is written? */
static int prints_to_file(void) {
  struct stat info;
  return fstat(STDOUT_FILENO, &info) == 0 && S_ISREG(info.st_mode);
}

/* Asks for one output.  own: its option, so that it is not compared with itself; NULL: standard output. */
static int check(const cli_verb *verb, const cli_args *args, const cli_option *own) {
  size_t count = 0;
  tct_error err = {0};
  const char *registry = getenv("TACIT_REGISTRY");
  const char **other = calloc((size_t)args->operands + (size_t)args->given_count + 3, sizeof *other);
  if (!other) return cli_fail(CLI_RUN, "out of memory; close other programs and try again");
  for (int k = 0; k < args->operands && !verb->words; k++) other[count++] = args->operand[k];
  for (int k = 0; k < args->given_count; k++) {
    const cli_option *o = args->given[k];
    if (!cli_is_file(o) || (own && o->at == own->at)) continue;
    if (!is_output(o) || !cli_is_stdout(value_of(args, o))) other[count++] = value_of(args, o);
  }
  if (registry && strcmp(registry, "none") != 0) other[count++] = registry;
  if (own && prints_to_file()) other[count++] = STDOUT;
  int stream = !own || own->kind == CLI_OUT_STREAM;
  tct_status status = tct_file_write(own ? value_of(args, own) : STDOUT, other, stream, NULL, NULL, &err);
  free(other);
  return status == TCT_OK ? 0 : cli_fail_error(&err);
}

int cli_check_outputs(const cli_verb *verb, const cli_args *args) {
  int code = 0;
  if (args->dry_run) return 0; /* nothing is written */
  for (int k = 0; k < args->given_count && !code; k++) {
    const cli_option *o = args->given[k];
    if (!is_output(o)) continue;
    int dash = cli_is_stdout(value_of(args, o));
    if (dash && o->kind == CLI_OUT)
      code =
          cli_fail(CLI_USAGE, "%s must be a file, and %s is standard output; name a file", o->name, value_of(args, o));
    else if (!dash)
      code = check(verb, args, o);
  }
  return !code && prints_to_file() ? check(verb, args, NULL) : code;
}

int cli_write(const char *output, tct_print_fn print, void *user) {
  tct_error err = {0};
  if (!cli_is_stdout(output))
    return tct_file_write(output, NULL, 1, print, user, &err) == TCT_OK ? 0 : cli_fail_error(&err);
  print(stdout, user);
  return cli_finish(0);
}

int cli_divert(void) {
  fflush(stdout);
  int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (kept >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) return kept;
  if (kept >= 0) close(kept);
  cli_fail(CLI_RUN, "standard output is not open; name a file with -o");
  return -1;
}

int cli_write_diverted(int kept, const tct_model *model) {
  tct_error err = {0};
  char *text = tct_model_json(model, &err);
  fflush(stdout);
  int back = dup2(kept, STDOUT_FILENO);
  close(kept);
  if (text && back >= 0) fputs(text, stdout);
  tct_text_free(text);
  return text ? cli_finish(0) : cli_fail_error(&err);
}
