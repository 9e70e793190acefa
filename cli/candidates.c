/* candidates.c - the settings that a search tries: read from a file, lists of values taken apart, made into configs.
 *
 * {"solver": ["auto", "dpgd"], "penalty": ["l2:lambda=1e-3", "l2:lambda=0.1"]} stands for four candidates, and an array
 * of such objects for those of all. */
#include "candidates.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* More candidates are a slip: a search makes 50 tries.  Nobody writes that many bytes, and parsing takes 40 times as
 * much memory. */
enum { MOST = 10000, MOST_BYTES = 1 << 20 };

struct input {
  FILE *file;
  size_t bytes;
};

static const struct field {
  const char *name;
  enum { TEXT, NUMBER, ROWS } kind;
  size_t at;
} fields[] = {{"loss", TEXT, offsetof(tct_config, loss)},
              {"penalty", TEXT, offsetof(tct_config, penalty)},
              {"solver", TEXT, offsetof(tct_config, solver)},
              {"row_norm", NUMBER, offsetof(tct_config, row_norm)},
              {"rows", ROWS, offsetof(tct_config, rows_rule)}};

static const struct field *find(const char *name) {
  for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
    if (!strcmp(fields[k].name, name)) return &fields[k];
  return NULL;
}

static int is_rows(const char *text) { return !strcmp(text, "clip") || !strcmp(text, "unit"); }

static int check_value(const char *file, const struct field *field, const json_t *value) {
  const char *text = json_string_value(value);
  int good = field->kind == NUMBER ? json_number_value(value) > 0 && isfinite(json_number_value(value))
             : field->kind == ROWS ? text && is_rows(text)
                                   : text != NULL;
  static const char *const want[] = {[TEXT] = "a text, as after the option of that name",
                                     [NUMBER] = "a number above 0",
                                     [ROWS] = "\"clip\" or \"unit\""};
  return good ? 0
              : cli_fail(CLI_USAGE, "%s: \"%s\" needs %s, or a list of such; correct it", file, field->name,
                         want[field->kind]);
}

/* The values of one setting, one or a list. */
static int check_setting(const char *file, const char *name, const json_t *value) {
  const struct field *field = find(name);
  const json_t *one;
  size_t k;
  if (!field)
    return cli_fail(CLI_USAGE,
                    "%s: \"%.100s\" is no setting of a candidate; it may have loss, penalty, solver, row_norm and rows",
                    file, name);
  if (!json_is_array(value)) return check_value(file, field, value);
  if (!json_array_size(value)) return cli_fail(CLI_USAGE, "%s: the list of \"%s\" is empty; fill it", file, name);
  json_array_foreach(value, k, one) {
    int code = check_value(file, field, one);
    if (code) return code;
  }
  return 0;
}

static size_t choices(const json_t *value) { return json_is_array(value) ? json_array_size(value) : 1; }

/* Combination `number` of the object's lists: the last setting changes first. */
static json_t *combination(json_t *grid, size_t number, size_t all) {
  json_t *one = json_object(), *value;
  const char *name;
  json_object_foreach(grid, name, value) {
    all /= choices(value);
    json_object_set(one, name, json_is_array(value) ? json_array_get(value, number / all) : value);
    number %= all;
  }
  return one;
}

static int add_grid(const char *file, json_t *grid, json_t *list) {
  size_t all = 1;
  const char *name;
  json_t *value;
  if (!json_is_object(grid))
    return cli_fail(CLI_USAGE, "%s: a candidate is an object of settings, e.g. {\"solver\": \"dpgd\"}; correct it",
                    file);
  json_object_foreach(grid, name, value) {
    int code = check_setting(file, name, value);
    if (code) return code;
    all *= choices(value) <= MOST ? choices(value) : MOST + 1;
    if (all + json_array_size(list) > MOST)
      return cli_fail(CLI_USAGE, "%s: these are more than %d candidates; give fewer", file, MOST);
  }
  for (size_t k = 0; k < all; k++) json_array_append_new(list, combination(grid, k, all));
  return 0;
}

/* Hands over bytes until there are too many, which are no JSON then. */
static size_t next_bytes(void *buffer, size_t size, void *of) {
  struct input *input = of;
  size_t got = fread(buffer, 1, size, input->file);
  input->bytes += got;
  return input->bytes > MOST_BYTES ? 0 : got;
}

static json_t *parse(const char *file, size_t *bytes, json_error_t *where) {
  struct input input = {.file = fopen(file, "rb")};
  where->line = -1;
  json_t *root = input.file ? json_load_callback(next_bytes, &input, JSON_REJECT_DUPLICATES, where) : NULL;
  if (input.file) fclose(input.file);
  *bytes = input.bytes;
  return root;
}

int cli_candidates_read(const char *file, json_t **list) {
  json_error_t where;
  size_t k, bytes;
  json_t *root = parse(file, &bytes, &where), *one;
  *list = NULL;
  if (bytes > MOST_BYTES) {
    json_decref(root);
    return cli_fail(CLI_USAGE,
                    "%s: a file of candidates has at most 1 MiB; write lists of values instead of each "
                    "combination",
                    file);
  }
  if (!root && where.line < 1)
    return cli_fail(CLI_RUN, "%s: cannot be read as a file of candidates; does it exist?", file);
  if (!root) return cli_fail(CLI_USAGE, "%s:%d: this is no JSON (%s); correct it", file, where.line, where.text);
  *list = json_array();
  int code = json_is_array(root) ? 0 : add_grid(file, root, *list);
  json_array_foreach(root, k, one) {
    if (!code) code = add_grid(file, one, *list);
  }
  json_decref(root);
  if (!code && !json_array_size(*list))
    code = cli_fail(CLI_USAGE, "%s: there is no candidate; give at least one object of settings", file);
  return code;
}

void cli_candidate_config(const tct_config *base, const json_t *candidate, tct_config *config) {
  *config = *base;
  for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
    const json_t *value = json_object_get(candidate, fields[k].name);
    void *at = (char *)config + fields[k].at;
    if (!value) continue;
    if (fields[k].kind == TEXT) *(const char **)at = json_string_value(value);
    if (fields[k].kind == NUMBER) *(double *)at = json_number_value(value);
    if (fields[k].kind == ROWS)
      *(int32_t *)at = strcmp(json_string_value(value), "unit") ? TCT_ROWS_CLIP : TCT_ROWS_UNIT;
  }
}

int cli_candidates_check(const cli_args *args, const json_t *list) {
  tct_config config;
  tct_error err = {0};
  char said[CLI_SENTENCE];
  tct_labels labels = cli_labels(&args->config);
  const json_t *one;
  size_t k;
  json_array_foreach((json_t *)list, k, one) {
    cli_candidate_config(&args->config, one, &config);
    if (tct_config_check(&config, args->read.schema_path != NULL || args->dry_run, &err) != TCT_OK)
      return cli_fail(cli_exit_code(err.status), "candidate %zu: %s", k + 1, cli_said(&err, said, sizeof said));
    if (cli_labels(&config) != labels)
      return cli_fail(CLI_USAGE, "candidate %zu: its loss reads labels otherwise than --loss; search it by itself",
                      k + 1);
  }
  return 0;
}
