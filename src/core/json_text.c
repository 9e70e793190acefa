/* json_text.c - JSON text looked at before a parser takes memory for it.
 *
 * A parsed value takes up to a hundred times the memory of its text.  Brackets and commas outside quotes count the
 * values from above, whether the text is valid or not. */
#include "core/json_text.h"

#include "core/alloc.h"
#include "core/stop.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FIRST = 1 << 16, ASK_EACH = 1 << 16 }; /* bytes; of a model of many columns they are seconds */

typedef struct count {
  int64_t depth, deepest, containers, commas;
} count;

/* Moves over a quoted text that begins at `at`. */
static int64_t skip_quoted(const char *text, int64_t length, int64_t at) {
  for (at++; at < length && text[at] != '"'; at++) at += text[at] == '\\';
  return at;
}

static count count_values(const char *text, int64_t length) {
  count c = {0};
  for (int64_t at = 0; at < length; at++) switch (text[at]) {
      case '"': at = skip_quoted(text, length, at); break;
      case '[':
      case '{':
        c.containers++;
        if (++c.depth > c.deepest) c.deepest = c.depth;
        break;
      case ']':
      case '}': c.depth--; break;
      case ',': c.commas++; break;
      default: break;
    }
  return c;
}

tct_status tct_json_check(const char *file, const char *text, int64_t length, const tct_json_most *most,
                          tct_error *err) {
  count c = count_values(text, length);
  if (c.deepest > TCT_JSON_DEPTH)
    return tct_fail_at(err, file, 0, 0, "the JSON text nests deeper than %d levels; give a file that tacit wrote",
                       TCT_JSON_DEPTH);
  if (c.containers > most->containers || c.commas > most->values)
    return tct_fail_at(err, file, 0, 0,
                       "the JSON text holds more than %lld lists and objects or %lld values; give a smaller file",
                       (long long)most->containers, (long long)most->values);
  return TCT_OK;
}

/* As many values as may be there, of 16 bytes on average. */
static int64_t most_bytes(const tct_json_most *most) { return 16 * (most->containers + most->values); }

static tct_status read_all(FILE *file, const char *path, int64_t max, char **text, int64_t *length, tct_error *err) {
  int64_t size = FIRST;
  *text = tct_alloc(size, 1);
  if (!*text) return tct_fail_memory(err);
  for (;;) {
    size_t got = fread(*text + *length, 1, (size_t)(size - *length), file);
    if (memchr(*text + *length, 0, got)) /* a device of zeros, or a file with holes, has no end in sight */
      return tct_fail_at(err, path, 0, 0, "this is no JSON text, which holds no byte 0; name another file");
    *length += (int64_t)got;
    if (*length < size) break;
    if (size > max) return tct_fail_at(err, path, 0, 0, "the JSON text is too long; give a smaller file");
    char *grown = tct_grow(*text, size, 2 * size, 1);
    if (!grown) return tct_fail_memory(err);
    *text = grown;
    size *= 2;
  }
  return ferror(file) ? tct_fail(err, TCT_E_RUN, "cannot read %s to its end; check the disk", path) : TCT_OK;
}

tct_status tct_json_file(const char *path, const tct_json_most *most, char **text, int64_t *length, tct_error *err) {
  FILE *file = fopen(path, "rb");
  *text = NULL;
  *length = 0;
  if (!file) return tct_fail(err, TCT_E_RUN, "cannot open %s; check the name and the permissions", path);
  tct_status status = read_all(file, path, most_bytes(most), text, length, err);
  fclose(file);
  if (status == TCT_OK) status = tct_json_check(path, *text, *length, most, err);
  if (status == TCT_OK) return TCT_OK;
  tct_free(*text);
  *text = NULL;
  return status;
}

/* jansson goes on after a key that could not be written for lack of memory, so a failure is remembered here. */
typedef struct sink {
  char *text;
  int64_t used, size;
  bool failed;
} sink;

static int put(const char *bytes, size_t length, void *user) {
  sink *s = user;
  int64_t needed = s->used + (int64_t)length + 1;
  if (needed / ASK_EACH != s->used / ASK_EACH && tct_stopping()) s->failed = true;
  if (!s->failed && needed > s->size) {
    int64_t size = needed > 2 * s->size ? needed : 2 * s->size;
    char *grown = tct_grow(s->text, s->used, size, 1);
    if (grown) s->text = grown, s->size = size;
    s->failed = !grown;
  }
  if (s->failed) return -1;
  memcpy(s->text + s->used, bytes, length);
  s->text[s->used += (int64_t)length] = 0;
  return 0;
}

char *tct_json_dump(const json_t *value, size_t flags) {
  sink s = {0};
  if (value && json_dump_callback(value, put, &s, flags) == 0 && !s.failed) return s.text;
  tct_free(s.text);
  return NULL;
}

tct_status tct_json_keep(json_t *object, char **text, tct_error *err) {
  tct_free(*text);
  *text = tct_json_dump(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
  json_decref(object);
  return *text ? TCT_OK : tct_fail_memory(err);
}

const char *tct_json_said(const json_t *object, const char *key) {
  return json_string_value(json_object_get(object, key));
}

const char *tct_json_word(const json_t *object, const char *key) {
  const char *text = tct_json_said(object, key);
  return text ? text : "";
}

bool tct_json_says(const json_t *object, const char *key, const char *word) {
  const char *text = tct_json_said(object, key);
  return text && word && !strcmp(text, word);
}

double tct_json_number(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

json_t *tct_json_finite(double value) { return isfinite(value) ? json_real(value) : json_null(); }

void tct_json_put(json_t *object, const char *key, double value) {
  json_object_set_new(object, key, tct_json_finite(value));
}
