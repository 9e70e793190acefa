/* args.c - options from tables: parsing. */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const cli_option *find_option(const cli_verb *verb, const char *name, size_t length) {
  for (int g = 0; g < CLI_GROUPS && verb->options[g]; g++)
    for (const cli_option *o = verb->options[g]; o->name; o++)
      if (strlen(o->name) == length && !strncmp(o->name, name, length)) return o;
  return NULL;
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

/* 1500000, 64M, 1.5G. */
static int parse_bytes(const char *text, int64_t *out) {
  static const char units[] = "KMGT";
  char number[32];
  size_t length = strlen(text);
  const char *unit = length > 1 ? strchr(units, text[length - 1]) : NULL;
  double value;
  if (length >= sizeof number) return 0;
  snprintf(number, sizeof number, "%.*s", (int)(length - (unit != NULL)), text);
  if (!parse_real(number, &value)) return 0;
  value = floor(ldexp(value, unit ? 10 * (int)(unit - units + 1) : 0));
  if (!(value >= 1 && value <= 0x1p53)) return 0;
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

/* A number of records is what --rows means elsewhere. */
static const char *other_use(const char *option, const char *text) {
  int64_t count;
  return !strcmp(option, "--rows") && parse_count(text, &count)
             ? "; for the number of records of a plan write --records N"
             : "";
}

static int set_value(const cli_option *o, cli_args *args, const char *text) {
  void *to = (char *)args + o->at;
  switch (o->kind) {
    case CLI_FLAG:
    case CLI_OFF: break;
    case CLI_IN:
    case CLI_OUT:
    case CLI_OUT_LAST:
    case CLI_OUT_STREAM:
    case CLI_TEXT: *(const char **)to = text; return 0;
    case CLI_CHOICE:
      *(const char **)to = text;
      if (is_choice(o->value_name, text)) return 0;
      return cli_fail(CLI_USAGE, "%s must be one of %s%s", o->name, o->value_name, other_use(o->name, text));
    case CLI_REAL:
      return parse_real(text, to) ? 0 : cli_fail(CLI_USAGE, "%s needs a number; write e.g. %s 1", o->name, o->name);
    case CLI_COUNT:
      return parse_count(text, to) ? 0 : cli_fail(CLI_USAGE, "%s needs a whole number, at least 0", o->name);
    case CLI_SIZE:
      return parse_count(text, to) && *(int64_t *)to > 0
                 ? 0
                 : cli_fail(CLI_USAGE, "%s needs a whole number, at least 1; leave it out if it is not known", o->name);
    case CLI_BYTES:
      return parse_bytes(text, to) ? 0 : cli_fail(CLI_USAGE, "%s needs a number of bytes, such as 64M or 2G", o->name);
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
  if (!o) return cli_unknown_option(verb, text, length);
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
  args->config.memory = args->read.memory;
  args->config.cols = args->read.cols;
  args->read.value_type = args->f32 ? TCT_F32 : TCT_STORED;
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
  tct_sockets_default(&args->sockets);
  args->rank = -1;
  tct_search_default(&args->search);
  tct_page_options_default(&args->page);
  args->generate_rows = 50000;
  args->level = args->seconds = args->at = NAN;
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
