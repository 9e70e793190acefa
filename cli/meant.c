/* meant.c - verbs and options that do not exist: what was probably meant. */
#include "cli.h"

#include <string.h>
#include <unistd.h>

static const cli_option *each_option(const cli_verb *verb, int *at) {
  int k = (*at)++;
  for (int g = 0; g < CLI_GROUPS && verb->options[g]; g++)
    for (const cli_option *o = verb->options[g]; o->name; o++)
      if (!k--) return o;
  return NULL;
}

static int has_option(const cli_verb *verb, const char *name) {
  const cli_option *o;
  for (int at = 0; (o = each_option(verb, &at));)
    if (!strcmp(o->name, name)) return 1;
  return 0;
}

static const char *nearest_option(const cli_verb *verb, const char *given) {
  const char *names[CLI_OPTIONS];
  const cli_option *o;
  int count = 0;
  for (int at = 0; count < CLI_OPTIONS && (o = each_option(verb, &at));) names[count++] = o->name;
  return tct_nearest(given, names, count);
}

/* The option's name with one sign for both, so that --label-bound and label_bound are one word. */
static void plain_word(const char *name, char *word, size_t size) {
  snprintf(word, size, "%s", name + strspn(name, "-"));
  for (char *at = word; (at = strchr(at, '-')); at++) *at = '_';
}

/* "l2:lambda=..." if the component, or one of its settings, is called so. */
static int in_component(const json_t *entry, const char *word, char *text, size_t size) {
  const json_t *option;
  size_t k;
  if (!strcmp(cli_string(entry, "name"), word)) return snprintf(text, size, "%s", word) > 0;
  json_array_foreach(json_object_get(entry, "options"), k,
                     option) if (!strcmp(cli_string(option, "key"), word)) return snprintf(text, size, "%s:%s=...",
                                                                                           cli_string(entry, "name"),
                                                                                           word) > 0;
  return 0;
}

/* --lambda is no option, but a setting of a spec that this verb takes. */
static int in_spec(const cli_verb *verb, const char *given, char *text, size_t size) {
  char word[64], option[64], value[100];
  const json_t *entry;
  size_t i;
  int found = 0;
  plain_word(given, word, sizeof word);
  json_t *all = cli_take_json(tct_components_json(NULL, NULL, NULL));
  json_array_foreach(all, i, entry) {
    snprintf(option, sizeof option, "--%s", cli_string(entry, "kind"));
    if (found || !has_option(verb, option) || !in_component(entry, word, value, sizeof value)) continue;
    found = snprintf(text, size, "it belongs to a spec: write %s %s", option, value) > 0;
  }
  json_decref(all);
  return found;
}

/* --norm is a whole word of --row-norm. */
static int is_part(const char *option, const char *given) {
  const char *word = given + strspn(given, "-"), *at = strstr(option, word);
  return *word && at && at > option && at[-1] == '-' && (!at[strlen(word)] || at[strlen(word)] == '-');
}

static int in_other_verb(const char *given, char *text, size_t size) {
  for (int i = 0; cli_verbs[i]; i++)
    if (has_option(cli_verbs[i], given)) return snprintf(text, size, "tacit %s has it", cli_verbs[i]->name) > 0;
  return 0;
}

/* What other programs call an option. */
static const char *const option_synonyms[][2] = {
    {"--target", "--label"},
    {"--y", "--label"},
    {"--outcome", "--label"},
    {"--sep", "--delimiter"},
    {"--groups", "--person"},
    {"--group", "--person"},
    {"--id", "--person"},
    {"--jobs", "--threads"},
    {"--cores", "--threads"},
    {"--workers", "--threads"},
    {"--random-state", "--seed"},
    {"--html", "--report"},
    {"--grid", "--candidates"},
    {"--cv", "--held-out"},
    {"--param-grid", "--candidates"},
    {"--bounds", "--schema"},
    {"--regularizer", "--penalty"},
    {"--regularization", "--penalty"},
    {"--test-size", "--held-out"},
};

static const char *other_name(const cli_verb *verb, const char *given) {
  for (size_t k = 0; k < sizeof option_synonyms / sizeof *option_synonyms; k++)
    if (!strcmp(option_synonyms[k][0], given) && has_option(verb, option_synonyms[k][1])) return option_synonyms[k][1];
  return NULL;
}

int cli_unknown_option(const cli_verb *verb, const char *name, size_t length) {
  char given[64], text[256] = "";
  snprintf(given, sizeof given, "%.*s", (int)length, name);
  const char *other = other_name(verb, given), *near = other ? other : nearest_option(verb, given);
  if (!other && !(near && is_part(near, given)) && in_spec(verb, given, text, sizeof text))
    return cli_fail(CLI_USAGE, "tacit %s has no option %s; %s", verb->name, given, text);
  if (near)
    return cli_fail(CLI_USAGE, "tacit %s has no option %s; did you mean %s? `tacit help %s` lists them", verb->name,
                    given, near, verb->name);
  if (in_other_verb(given, text, sizeof text))
    return cli_fail(CLI_USAGE, "tacit %s has no option %s; %s", verb->name, given, text);
  return cli_fail(CLI_USAGE, "tacit %s has no option %s; `tacit help %s` lists them", verb->name, given, verb->name);
}

/* What other programs call it. */
static const char *const synonyms[][2] = {
    {"fit", "train"},       {"learn", "train"},        {"run", "train"},         {"score", "evaluate"},
    {"test", "evaluate"},   {"eval", "evaluate"},      {"check", "verify"},      {"audit", "verify"},
    {"apply", "predict"},   {"show", "summary"},       {"info", "summary"},      {"inspect", "summary"},
    {"budget", "ledger"},   {"init", "ledger --init"}, {"list", "components"},   {"solvers", "components"},
    {"convert", "export"},  {"page", "report"},        {"man", "help --manual"}, {"version", "--version"},
    {"epsilon", "account"}, {"client", "party"},       {"server", "serve"},      {"completion", "help --completion"},
};

static const char *meant_verb(const char *name) {
  const char *names[CLI_OPTIONS];
  int count = 0;
  for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
    if (!strcmp(name, synonyms[i][0])) return synonyms[i][1];
  for (; count < CLI_OPTIONS && cli_verbs[count]; count++) names[count] = cli_verbs[count]->name;
  return tct_nearest(name, names, count);
}

int cli_unknown_verb(const char *name) {
  const char *near = meant_verb(name);
  if (name[0] == '-')
    return cli_fail(CLI_USAGE, "%.40s stands before the verb; write the verb first, e.g. tacit train DATA %.40s", name,
                    name);
  if (near) return cli_fail(CLI_USAGE, "there is no verb '%s'; did you mean %s? `tacit help` lists them", name, near);
  if (access(name, F_OK) == 0)
    return cli_fail(CLI_USAGE, "there is no verb '%s', which is a file; write the verb first, e.g. tacit train %s",
                    name, name);
  return cli_fail(CLI_USAGE, "there is no verb '%s'; `tacit help` lists them", name);
}
