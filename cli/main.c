/* main.c - tacit, the command line: finds the verb and runs it. */
#define _GNU_SOURCE
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

static const cli_verb *const verbs[] = {
#define CLI_VERB(name) &cli_##name,
#include "list.def"
#undef CLI_VERB
};
enum { VERBS = sizeof verbs / sizeof *verbs };

static int print_help(void) {
  printf("tacit trains linear models under differential privacy.\n\nusage: tacit VERB ...\n\n");
  for (int i = 0; i < VERBS; i++) {
    const char *end = strchr(verbs[i]->summary, '.');
    int length = end ? (int)(end - verbs[i]->summary) : (int)strlen(verbs[i]->summary);
    printf("  %-12s ", verbs[i]->name);
    for (int k = 0; k < length; k++) putchar(verbs[i]->summary[k] == '\n' ? ' ' : verbs[i]->summary[k]);
    putchar('\n');
  }
  printf(
      "\n`tacit VERB --help` tells more; `tacit --version` the version.\n"
      "Exit codes: 0 done, 1 failure while running, 2 wrong usage, 3 bad input data, 4 privacy budget refused.\n");
  return 0;
}

static int unknown_verb(const char *name) {
  const char *names[VERBS];
  for (int i = 0; i < VERBS; i++) names[i] = verbs[i]->name;
  const char *near = cli_nearest(name, names, VERBS);
  return cli_fail(CLI_USAGE, "there is no verb '%s'; %s%s%s `tacit --help` lists them", name,
                  near ? "did you mean " : "", near ? near : "", near ? "?" : "");
}

static int run_verb(const char *name, char **argv, int count) {
  cli_args args;
  const cli_verb *verb = NULL;
  for (int i = 0; i < VERBS; i++)
    if (!strcmp(verbs[i]->name, name)) verb = verbs[i];
  if (!verb) return unknown_verb(name);
  int code = cli_args_parse(verb, &args, argv, count);
  if (code) return code;
  if (!args.help || verb->helps) return verb->run(&args);
  cli_help(verb);
  return 0;
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

static int run(int argc, char **argv) {
  const char *first = argc > 1 ? argv[1] : NULL;
  if (!first) return cli_fail(CLI_USAGE, "no verb was given; `tacit --help` lists them");
  if (!strcmp(first, "--help") || !strcmp(first, "-h") || !strcmp(first, "help")) return print_help();
  if (strcmp(first, "--version")) return run_verb(first, argv + 2, argc - 2);
  printf("tacit %s\n", tct_version());
  return 0;
}

/* Threads that wait for others sleep.  Spinning, the default of GNU OpenMP, takes the processor from those that are
 * waited for as soon as other programs want it too.  OpenMP reads the variable before main, so the program starts anew
 * once; where that cannot be it runs as it is. */
static void wait_asleep(char **argv) {
  if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || setenv("OMP_WAIT_POLICY", "passive", 1) != 0) return;
  execv("/proc/self/exe", argv);
}

int main(int argc, char **argv) {
  wait_asleep(argv);
  keep_memory();
  return cli_finish(run(argc, argv));
}
