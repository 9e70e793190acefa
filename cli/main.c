/* main.c - tacit, the command line: finds the verb and runs it. */
#define _GNU_SOURCE
#include "cli.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

const cli_verb *const cli_verbs[] = {
#define CLI_VERB(name) &cli_##name,
#include "list.def"
#undef CLI_VERB
    NULL,
};

const cli_verb *cli_find_verb(const char *name) {
  for (int i = 0; cli_verbs[i]; i++)
    if (!strcmp(cli_verbs[i]->name, name)) return cli_verbs[i];
  return NULL;
}

static int run_verb(const char *name, char **argv, int count) {
  cli_args args;
  const cli_verb *verb = cli_find_verb(name);
  if (!verb) return cli_unknown_verb(name);
  int code = cli_args_parse(verb, &args, argv, count);
  if (!code && args.help && !verb->helps) {
    cli_put_help(verb);
  } else {
    if (!code && !verb->helps) code = cli_check_outputs(verb, &args);
    if (!code) code = verb->run(&args);
  }
  cli_classes_free(&args);
  return code;
}

/* Memory that is freed soon comes back by the next allocation. malloc hands blocks from 128 KiB on to the system in
 * between.  That costs an accounting query more than its arithmetic. */
#ifdef __GLIBC__
static void keep_memory(void) {
  mallopt(M_MMAP_THRESHOLD, 1 << 25);
  mallopt(M_TRIM_THRESHOLD, 1 << 26);
}
#else
static void keep_memory(void) {}
#endif

static int is_one_of(const char *text, const char *a, const char *b) { return !strcmp(text, a) || !strcmp(text, b); }

static int run(int argc, char **argv) {
  const char *first = argc > 1 ? argv[1] : NULL;
  if (!first) return cli_fail(CLI_USAGE, "no verb was given; `tacit help` lists them");
  if (is_one_of(first, "--help", "-h")) return cli_put_verbs(), 0;
  if (!is_one_of(first, "--version", "-V")) return run_verb(first, argv + 2, argc - 2);
  printf("tacit %s\n", tct_version());
  return 0;
}

/* Threads that wait for others look for some microseconds, then sleep.  Spinning on, the default of GNU OpenMP, takes
 * the processor from those that are waited for as soon as other programs want it too.  OpenMP reads these variables
 * before main, so the program starts anew once; where that cannot be it runs as it is. */
static void wait_asleep(char **argv) {
  if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT")) return;
  if (setenv("OMP_WAIT_POLICY", "passive", 1) != 0 || setenv("GOMP_SPINCOUNT", "1000", 1) != 0) return;
  execv("/proc/self/exe", argv);
}

int main(int argc, char **argv) {
  wait_asleep(argv);
  keep_memory();
  signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is then a failed write with a sentence, and not the end */
  return cli_finish(run(argc, argv));
}
