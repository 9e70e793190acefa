/* same.c - were all ranks started with the same options? */
#include "cli.h"

#include <string.h>

enum { MOST = 128, TEXT = 40 };

typedef struct list {
  const char *names[MOST], *values[MOST];
  char text[MOST][TEXT]; /* of the values that are numbers */
  size_t count;
} list;

static int is_free(const char *name, const char *const *free_options) {
  for (; *free_options; free_options++)
    if (!strcmp(name, *free_options)) return 1;
  return 0;
}

/* As it was parsed: 1 and 1.0 are one value. */
static void add(list *l, const char *name, const char *text) {
  l->names[l->count] = name;
  l->values[l->count++] = text;
}

static void add_option(list *l, const cli_option *o, const cli_args *args) {
  const void *at = (const char *)args + o->at;
  char *text = l->text[l->count];
  switch (o->kind) {
    case CLI_IN:
    case CLI_OUT:
    case CLI_OUT_LAST:
    case CLI_OUT_STREAM:
    case CLI_TEXT:
    case CLI_CHOICE: add(l, o->name, *(const char *const *)at); return;
    case CLI_FLAG:
    case CLI_OFF: snprintf(text, TEXT, "%d", *(const int *)at); break;
    case CLI_REAL: snprintf(text, TEXT, "%.17g", *(const double *)at); break;
    case CLI_COUNT:
    case CLI_SIZE:
    case CLI_BYTES: snprintf(text, TEXT, "%lld", (long long)*(const int64_t *)at); break;
    case CLI_SEED: snprintf(text, TEXT, "%d %llu", args->has_seed, (unsigned long long)*(const uint64_t *)at); break;
  }
  add(l, o->name, text);
}

tct_status cli_same(const cli_verb *verb, const cli_args *args, const char *const *free_options, tct_team *team,
                    tct_error *err) {
  list l = {.count = 0};
  for (int g = 0; g < CLI_GROUPS && verb->options[g]; g++)
    for (const cli_option *o = verb->options[g]; o->name && l.count + 1 < MOST; o++)
      if (!is_free(o->name, free_options)) add_option(&l, o, args);
  snprintf(l.text[l.count], TEXT, "%d", args->operands);
  add(&l, "the number of files", l.text[l.count]);
  return tct_team_compare(team, TCT_OK, l.names, l.values, l.count, err);
}
