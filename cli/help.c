/* help.c - what --help prints, and the same tables for programs. */
#include "cli.h"

#include <string.h>

enum { COLUMN = 26, WIDTH = 100 };

/* Words of `text` from COLUMN on, wrapped. */
static void put_wrapped(const char *text) {
  for (int column = COLUMN; *text;) {
    int length = (int)strcspn(text, " ");
    if (column > COLUMN && column + 1 + length > WIDTH) column = printf("\n%*s", COLUMN, "") - 1;
    column += printf("%s%.*s", column > COLUMN ? " " : "", length, text);
    text += length;
    while (*text == ' ') text++;
  }
  putchar('\n');
}

static void put_option(const cli_option *o) {
  char text[1000];
  int column = printf("  %s%s%s", o->name, o->value_name ? " " : "", o->value_name ? o->value_name : "");
  if (column >= COLUMN) column = printf("\n") - 1;
  printf("%*s", COLUMN - column, "");
  snprintf(text, sizeof text, "%s%s%s%s%s%s%s", o->help, *o->fallback ? "; default " : "", o->fallback,
           o->example ? "; e.g. " : "", o->example ? o->name : "", o->example ? " " : "", o->example ? o->example : "");
  put_wrapped(text);
}

/* ---- topics: the options of verbs that have many, by what they are about ---- */

enum { MANY = 25 };

typedef struct topic {
  const char *name, *title, *options; /* a space before and after each */
} topic;

static const topic topics[] = {
    {"start", "What a run needs", " --loss --epsilon --delta --schema --label --ledger --errors --report -o "},
    {"search", "What is tried", " --candidates --selection --tries --score-share --held-out "},
    {"privacy", "What is promised, and what it takes",
     " --neighbours --person --rows-per-person --row-norm --rows --label-bound --label-shift --scale --label-scale "
     "--estimate --input-changed --seed --dry-run --records --shape --effect --assume "},
    {"model", "What is fitted", " --penalty --solver --intercept --no-intercept "},
    {"table", "How the table is read",
     " --weights --time --event --horizon --positive --classes --invalid --format --delimiter --multiline --decimal "
     "--cols --max-cols --max-header --max-line --max-expansion --f32 "},
    {"more", "What else this command takes", ""}, /* the rest */
    {"page", "What the page says", " --title --purpose --contact "},
    {"machine", "Where it runs, and what it prints",
     " --threads --memory --scratch --meet --rank --ranks --secret --meet-timeout --json --help "},
};
enum { TOPICS = sizeof topics / sizeof *topics };

static int is_about(const topic *t, const cli_option *o) {
  char word[60];
  snprintf(word, sizeof word, " %s ", o->name);
  if (*t->options) return strstr(t->options, word) != NULL;
  for (int i = 0; i < TOPICS; i++)
    if (&topics[i] != t && is_about(&topics[i], o)) return 0;
  return 1;
}

/* t NULL: all options, without a heading. */
static void walk_topic(const cli_verb *verb, const topic *t, cli_put_heading *heading, cli_put_option *put) {
  for (int g = 0, any = 0; g < CLI_GROUPS && verb->options[g]; g++)
    for (const cli_option *o = verb->options[g]; o->name; o++) {
      if (t && !is_about(t, o)) continue;
      if (t && !any++) heading(t->title);
      put(o);
    }
}

void cli_walk_options(const cli_verb *verb, cli_put_heading *heading, cli_put_option *put) {
  int count = 0;
  for (int g = 0; g < CLI_GROUPS && verb->options[g]; g++)
    for (const cli_option *o = verb->options[g]; o->name; o++) count++;
  if (count < MANY) heading(""), walk_topic(verb, NULL, heading, put);
  for (int i = 0; i < TOPICS && count >= MANY; i++) walk_topic(verb, &topics[i], heading, put);
}

static void put_heading(const char *title) { printf(*title ? "\n%s\n" : "\n", title); }
static void put_title(const char *title) { puts(title); }

int cli_put_topic(const cli_verb *verb, const char *name) {
  for (int i = 0; i < TOPICS; i++) {
    if (strcmp(topics[i].name, name)) continue;
    printf("tacit %s: ", verb->name);
    walk_topic(verb, &topics[i], put_title, put_option);
    return 1;
  }
  return 0;
}

void cli_put_help(const cli_verb *verb) {
  printf("tacit %s %s\n\n%s\n", verb->name, verb->operands, verb->summary);
  cli_walk_options(verb, put_heading, put_option);
  printf("\n%s", verb->details);
}

const char *cli_headline(const cli_verb *verb, char *buffer, size_t size) {
  snprintf(buffer, size, "%.*s", (int)strcspn(verb->summary, "."), verb->summary);
  for (char *at = buffer; (at = strchr(at, '\n'));) *at = ' ';
  return buffer;
}

void cli_put_verbs(void) {
  char line[300];
  printf("tacit trains linear models under differential privacy.\n\nusage: tacit VERB ...\n\n");
  for (int i = 0; cli_verbs[i]; i++)
    printf("  %-12s %s\n", cli_verbs[i]->name, cli_headline(cli_verbs[i], line, sizeof line));
  printf(
      "\n`tacit help VERB` tells more, `tacit help privacy` what train's options promise; `tacit --version` the "
      "version.\n"
      "Exit codes: 0 done, 1 failure while running, 2 wrong usage, 3 bad input data, 4 privacy budget refused,\n"
      "5 verified, and a policy does not allow it.\n");
}

static json_t *option_json(const cli_option *o) {
  static const char *const kinds[] = {
      [CLI_FLAG] = "flag",        [CLI_OFF] = "flag",    [CLI_TEXT] = "text",  [CLI_CHOICE] = "choice",
      [CLI_REAL] = "number",      [CLI_COUNT] = "count", [CLI_SIZE] = "count", [CLI_BYTES] = "bytes",
      [CLI_SEED] = "count",       [CLI_IN] = "input",    [CLI_OUT] = "output", [CLI_OUT_LAST] = "output_or_-",
      [CLI_OUT_STREAM] = "stream"};
  return json_pack("{s:s, s:s, s:s?, s:s, s:s, s:s?}", "name", o->name, "kind", kinds[o->kind], "value", o->value_name,
                   "help", o->help, "default", o->fallback, "example", o->example);
}

json_t *cli_tables(void) {
  json_t *list = json_array();
  char line[300];
  for (int i = 0; cli_verbs[i]; i++) {
    json_t *options = json_array();
    const cli_verb *verb = cli_verbs[i];
    for (int g = 0; g < CLI_GROUPS && verb->options[g]; g++)
      for (const cli_option *o = verb->options[g]; o->name; o++) json_array_append_new(options, option_json(o));
    json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "name", verb->name, "operands",
                                          verb->operands, "headline", cli_headline(verb, line, sizeof line), "summary",
                                          verb->summary, "details", verb->details, "options", options));
  }
  return json_pack("{s:s, s:o}", "version", tct_version(), "verbs", list);
}
