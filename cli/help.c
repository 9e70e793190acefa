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

void cli_put_help(const cli_verb *verb) {
  printf("tacit %s %s\n\n%s\n\n", verb->name, verb->operands, verb->summary);
  for (int g = 0; g < CLI_GROUPS && verb->options[g]; g++)
    for (const cli_option *o = verb->options[g]; o->name; o++) put_option(o);
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
      "\n`tacit help VERB` tells more; `tacit --version` the version.\n"
      "Exit codes: 0 done, 1 failure while running, 2 wrong usage, 3 bad input data, 4 privacy budget refused.\n");
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
