/* args.c - options from tables: parsing, help texts, nearest names. */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_COLUMN = 26, HELP_WIDTH = 100 };

const cli_option cli_read_options[] = {
    {"--label", CLI_TEXT, offsetof(cli_args, read.label), "NAME|INDEX",
     "label column, by name or number from 1; default: the schema's label, or the first token of LIBSVM lines"},
    {"--positive", CLI_TEXT, offsetof(cli_args, read.positive), "VALUE",
     "label text that counts as +1, all others as -1; it must be among the schema's values, or occur where none are "
     "listed; default: the schema's, else 1 is +1 and 0 or -1 is -1"},
    {"--classes", CLI_TEXT, offsetof(cli_args, classes), "A,B,C",
     "all labels that can occur, public knowledge, in the order that the model keeps; of two the second counts as +1; "
     "a label outside the list is bad data; default: the schema's values"},
    {"--schema", CLI_TEXT, offsetof(cli_args, read.schema_path), "FILE.json",
     "public knowledge of the columns: bounds, categories, label (see tacit schema)"},
    {"--invalid", CLI_CHOICE, offsetof(cli_args, invalid), "refuse|zero",
     "a malformed record stops the run (refuse, the default) or contributes nothing (zero)"},
    {"--delimiter", CLI_TEXT, offsetof(cli_args, read.delimiter), "CHAR",
     "CSV: the character between fields, or tab; default: the one of , ; tab | that the first line holds most often"},
    {"--decimal", CLI_CHOICE, offsetof(cli_args, read.decimal), ".|,",
     "CSV: the mark before a number's fraction; default ."},
    {"--cols", CLI_SIZE, offsetof(cli_args, read.cols), "P",
     "LIBSVM: number of features; default: the largest index found, which is unaccounted"},
    {"--f32", CLI_FLAG, offsetof(cli_args, f32), NULL, "store values in single precision: half the memory"},
    {0},
};

const cli_option cli_person_options[] = {
    {"--person", CLI_TEXT, offsetof(cli_args, read.key), "COLUMN",
     "column of a CSV table that says whose record a row is; it is no feature"},
    {0},
};

const cli_option cli_common_options[] = {
    {"--threads", CLI_COUNT, offsetof(cli_args, threads), "N",
     "processors to use; 0, the default, is all; results do not depend on it"},
    {"--json", CLI_FLAG, offsetof(cli_args, json), NULL, "one JSON object on standard output and nothing else"},
    {"--help", CLI_FLAG, offsetof(cli_args, help), NULL, "this text"},
    {0},
};

static const cli_option *find_option(const cli_verb *verb, const char *name, size_t length) {
  for (int g = 0; g < CLI_GROUPS && verb->options[g]; g++)
    for (const cli_option *o = verb->options[g]; o->name; o++)
      if (strlen(o->name) == length && !strncmp(o->name, name, length)) return o;
  return NULL;
}

static int edits(const char *a, const char *b) {
  int row[64];
  int n = (int)strlen(b);
  if (n > 62) return 99;
  for (int j = 0; j <= n; j++) row[j] = j;
  for (int i = 1; a[i - 1]; i++) {
    int before = row[0];
    row[0] = i;
    for (int j = 1; j <= n; j++) {
      int here = before + (a[i - 1] != b[j - 1]);
      before = row[j];
      if (row[j - 1] + 1 < here) here = row[j - 1] + 1;
      if (row[j] + 1 < here) here = row[j] + 1;
      row[j] = here;
    }
  }
  return row[n];
}

const char *cli_nearest(const char *name, const char *const *names, int count) {
  const char *best = NULL;
  int min = 3; /* two edits: a swapped, a missing or a doubled letter */
  for (int i = 0; i < count; i++) {
    int distance = edits(name, names[i]);
    if (distance < min) {
      min = distance;
      best = names[i];
    }
  }
  return best;
}

static int unknown_option(const cli_verb *verb, const char *name, size_t length) {
  char given[64];
  const char *names[CLI_OPTIONS];
  int count = 0;
  snprintf(given, sizeof given, "%.*s", (int)length, name);
  for (int g = 0; g < CLI_GROUPS && verb->options[g]; g++)
    for (const cli_option *o = verb->options[g]; o->name && count < CLI_OPTIONS; o++) names[count++] = o->name;
  const char *near = cli_nearest(given, names, count);
  return cli_fail(CLI_USAGE, "tacit %s has no option %s; %s%s%s `tacit %s --help` lists them", verb->name, given,
                  near ? "did you mean " : "", near ? near : "", near ? "?" : "", verb->name);
}

/* Decimal numbers only: no hexadecimal, no nan. */
static int parse_real(const char *text, double *out) {
  char *end;
  if (!strcmp(text, "inf") || !strcmp(text, "infinity")) return *out = INFINITY, 1;
  if (!*text || text[strspn(text, "0123456789+-.eE")]) return 0;
  double value = strtod(text, &end);
  if (*end || !isfinite(value)) return 0;
  *out = value;
  return 1;
}

static int parse_count(const char *text, int64_t *out) {
  double value;
  if (!parse_real(text, &value) || !(value >= 0 && value <= 0x1p53) || value != floor(value)) return 0;
  *out = (int64_t)value;
  return 1;
}

static int parse_seed(const char *text, uint64_t *out) {
  char *end;
  if (!isdigit((unsigned char)text[0])) return 0;
  errno = 0;
  *out = strtoull(text, &end, 10);
  return !*end && errno == 0;
}

static int is_choice(const char *choices, const char *text) {
  size_t length = strlen(text);
  for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
    if (length && !strncmp(at, text, length) && (at[length] == '|' || !at[length])) return 1;
  return 0;
}

static int set_value(const cli_option *o, cli_args *args, const char *text) {
  void *to = (char *)args + o->at;
  switch (o->kind) {
    case CLI_FLAG:
    case CLI_OFF: break;
    case CLI_TEXT: *(const char **)to = text; return 0;
    case CLI_CHOICE:
      *(const char **)to = text;
      return is_choice(o->value_name, text) ? 0 : cli_fail(CLI_USAGE, "%s must be one of %s", o->name, o->value_name);
    case CLI_REAL:
      return parse_real(text, to) ? 0 : cli_fail(CLI_USAGE, "%s needs a number; write e.g. %s 1", o->name, o->name);
    case CLI_COUNT:
      return parse_count(text, to) ? 0 : cli_fail(CLI_USAGE, "%s needs a whole number, at least 0", o->name);
    case CLI_SIZE:
      return parse_count(text, to) && *(int64_t *)to > 0
                 ? 0
                 : cli_fail(CLI_USAGE, "%s needs a whole number, at least 1; leave it out if it is not known", o->name);
    case CLI_SEED:
      args->has_seed = 1;
      return parse_seed(text, to) ? 0 : cli_fail(CLI_USAGE, "%s needs a whole number from 0 to 2^64-1", o->name);
  }
  return 0;
}

/* Twice is a contradiction or a slip: which of two promises was meant is not for the program to guess. */
static int take_once(cli_args *args, const cli_option *o) {
  for (int i = 0; i < args->given_count; i++)
    if (args->given[i] == o) return cli_fail(CLI_USAGE, "%s was given twice; give it once", o->name);
  if (args->given_count < CLI_OPTIONS) args->given[args->given_count++] = o;
  return 0;
}

/* Handles argv[*i], an option; moves *i over its value. */
static int take_option(const cli_verb *verb, cli_args *args, char **argv, int count, int *i) {
  const char *text = argv[*i], *value = NULL;
  size_t length = strlen(text);
  if (text[1] != '-' && length > 2) { /* -oFILE */
    value = text + 2;
    length = 2;
  } else if (strchr(text, '=')) { /* --name=value */
    value = strchr(text, '=') + 1;
    length = (size_t)(value - text) - 1;
  }
  if (length == 2 && text[1] == 'h') text = "--help", length = 6;
  const cli_option *o = find_option(verb, text, length);
  if (!o) return unknown_option(verb, text, length);
  if (o->kind == CLI_FLAG || o->kind == CLI_OFF) {
    if (value) return cli_fail(CLI_USAGE, "%s takes no value; leave it out", o->name);
    *(int *)((char *)args + o->at) = o->kind == CLI_FLAG;
    return 0;
  }
  if (!value && *i + 1 == count) return cli_fail(CLI_USAGE, "%s needs a value (%s)", o->name, o->value_name);
  if (!value) value = argv[++*i];
  int code = take_once(args, o);
  return code ? code : set_value(o, args, value);
}

static int settle(const cli_verb *verb, cli_args *args) {
  if (args->help) return 0;
  if (args->operands < verb->min || args->operands > verb->max)
    return cli_fail(CLI_USAGE, "%s; usage: tacit %s %s, and `tacit %s --help` tells more",
                    args->operands < verb->min ? "something is missing" : "too many names were given", verb->name,
                    verb->operands, verb->name);
  if (args->threads > 4096) return cli_fail(CLI_USAGE, "--threads must be at most 4096; 0 takes all processors");
  args->config.threads = args->read.threads = (int32_t)args->threads;
  args->config.has_seed = args->has_seed;
  if (args->f32) args->read.value_type = TCT_F32;
  if (args->invalid && !strcmp(args->invalid, "zero")) args->read.invalid = TCT_INVALID_ZERO;
  if (args->neighbours && !strcmp(args->neighbours, "replace_one")) args->config.neighbours = TCT_REPLACE_ONE;
  if (args->rows && !strcmp(args->rows, "unit")) args->config.rows_rule = TCT_ROWS_UNIT;
  return cli_classes_split(args);
}

int cli_args_parse(const cli_verb *verb, cli_args *args, char **argv, int count) {
  memset(args, 0, sizeof *args);
  tct_config_default(&args->config);
  tct_read_options_default(&args->read);
  tct_session_default(&args->session);
  args->generate_rows = 50000;
  args->level = args->seconds = NAN;
  args->operand = argv; /* operands move to the front of what has been read already */
  int only_operands = 0;
  for (int i = 0; i < count; i++) {
    if (!only_operands && !strcmp(argv[i], "--")) {
      only_operands = 1;
    } else if (only_operands || argv[i][0] != '-' || !argv[i][1]) {
      argv[args->operands++] = argv[i];
    } else {
      int code = take_option(verb, args, argv, count, &i);
      if (code) return code;
    }
  }
  return settle(verb, args);
}

/* Words of `text` from HELP_COLUMN on, wrapped. */
static void print_wrapped(const char *text, int column) {
  while (*text) {
    int length = (int)strcspn(text, " ");
    if (column + length >= HELP_WIDTH) column = printf("\n%*s", HELP_COLUMN, "") - 1;
    column += printf("%.*s ", length, text);
    text += length;
    while (*text == ' ') text++;
  }
  putchar('\n');
}

static void print_option(const cli_option *o) {
  int column = printf("  %s%s%s", o->name, o->value_name ? " " : "", o->value_name ? o->value_name : "");
  if (column >= HELP_COLUMN) column = printf("\n") - 1;
  printf("%*s", HELP_COLUMN - column, "");
  print_wrapped(o->help, HELP_COLUMN);
}

void cli_help(const cli_verb *verb) {
  printf("tacit %s %s\n\n%s\n\n", verb->name, verb->operands, verb->summary);
  for (int g = 0; g < CLI_GROUPS && verb->options[g]; g++)
    for (const cli_option *o = verb->options[g]; o->name; o++) print_option(o);
  printf("\n%s", verb->details);
}
