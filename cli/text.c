/* text.c - messages for people, one line each, and JSON for scripts. */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int silent; /* ranks other than 0: all of them have the same to say */

void cli_silence(void) { silent = 1; }

/* File names and library texts may hold anything; a terminal gets one clean line. */
static void print_clean(const char *prefix, const char *text) {
  if (silent) return;
  fputs(prefix, stderr);
  for (; *text; text++) fputc(iscntrl((unsigned char)*text) ? '?' : *text, stderr);
  fputc('\n', stderr);
}

int cli_fail(int code, const char *format, ...) {
  char text[CLI_SENTENCE];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  print_clean("tacit: ", text);
  return code;
}

const char *cli_said(const tct_error *err, char *text, size_t size) {
  tct_error_say(err, TCT_WORDS_CLI, text, size);
  return text;
}

/* A failure without a reason is still a failure. */
int cli_exit_code(tct_status status) { return status >= TCT_E_USAGE && status <= TCT_E_BUDGET ? (int)status : CLI_RUN; }

int cli_fail_error(const tct_error *err) {
  int code = cli_exit_code(err->status);
  char text[CLI_SENTENCE];
  cli_said(err, text, sizeof text);
  if (!err->file[0]) return cli_fail(code, "%s", text);
  if (!err->line) return cli_fail(code, "%s: %s", err->file, text);
  if (!err->column) return cli_fail(code, "%s:%lld: %s", err->file, (long long)err->line, text);
  return cli_fail(code, "%s:%lld:%lld: %s", err->file, (long long)err->line, (long long)err->column, text);
}

void cli_warn(const char *format, ...) {
  char text[CLI_SENTENCE];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  print_clean("tacit: warning: ", text);
}

json_t *cli_take_json(char *text) {
  json_t *root = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
  tct_text_free(text);
  if (!root) cli_fail(CLI_RUN, "an internal result could not be read; please report this");
  return root;
}

char *cli_json_file(const char *path, const char *what, int *code) {
  if (!path) return NULL;
  json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
  char *text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
  json_decref(root);
  if (!text) *code = cli_fail(CLI_DATA, "%s is not %s; name another file", path, what);
  return text;
}

const char *cli_string(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

double cli_number(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

void cli_line(const char *name, const char *format, ...) {
  va_list list;
  va_start(list, format);
  printf("%-12s ", name);
  vprintf(format, list);
  putchar('\n');
  va_end(list);
}

const char *cli_real(double value) {
  static char ring[8][40]; /* several may stand in one call */
  static int next;
  char *text = ring[next = (next + 1) % 8];
  if (isnan(value)) return "-";
  if (isinf(value)) return value > 0 ? "infinite" : "-infinite";
  for (int digits = 6; digits <= 17; digits++) {
    snprintf(text, sizeof ring[0], "%.*g", digits, value);
    if (digits >= 8 || strtod(text, NULL) == value) break; /* eight digits are enough for people */
  }
  return text;
}

json_t *cli_names(const char *option, const char *text) {
  json_t *names = json_array();
  for (const char *at = text;; at++) {
    size_t length = strcspn(at, ",");
    if (!length) {
      cli_fail(CLI_USAGE, "%s has an empty name; write the names with a comma between them: a,b,c", option);
      return json_decref(names), NULL;
    }
    json_array_append_new(names, json_stringn(at, length));
    at += length;
    if (!*at) return names;
  }
}

int cli_print_json(const json_t *object) {
  if (json_dumpf(object, stdout, JSON_COMPACT | JSON_ENCODE_ANY) != 0 || putchar('\n') == EOF)
    return cli_fail(CLI_RUN, "cannot write to standard output; make room or choose another place");
  return 0;
}

int cli_print_answer(char *text, int as_json, void (*print)(const json_t *root)) {
  json_t *root = cli_take_json(text);
  if (!root) return CLI_RUN;
  int code = as_json ? cli_print_json(root) : 0;
  if (!as_json) print(root);
  json_decref(root);
  return code;
}

int cli_finish(int code) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return code;
  if (code) return code;
  return cli_fail(CLI_RUN, "cannot write to standard output (%s); make room or choose another place", strerror(errno));
}

int cli_shape(const char *text, int64_t *rows, int64_t *cols) {
  char *end = NULL;
  double shape[2];
  shape[0] = strtod(text, &end);
  shape[1] = *end == ',' ? strtod(end + 1, &end) : -1;
  for (int i = 0; i < 2; i++)
    if (*end || !(shape[i] >= 1 && shape[i] <= 0x1p53) || shape[i] != floor(shape[i]))
      return cli_fail(CLI_USAGE, "--shape needs two whole numbers from 1 on, records and features: --shape 10000,20");
  *rows = (int64_t)shape[0], *cols = (int64_t)shape[1];
  return 0;
}
