/* spec.c - spec strings `name:key=value,key=value` and the option tables that check them.
 *
 * Numbers are read and written independently of the process locale: strtod_l and snprintf under uselocale with a "C"
 * locale object.  It is made once per call, which is cheap beside what specs are used for. */
#define _GNU_SOURCE
#include "core/spec.h"

#include "core/alloc.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tct_parse_real(const char *text, double *out) {
  if (!text || !*text || strlen(text) > 400) return 0;
  if (!strchr("+-.0123456789", text[0]) || strpbrk(text, "xXpPnN")) return 0; /* no hex, nan, inf */
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c) return 0;
  char *end = NULL;
  double value = strtod_l(text, &end, c);
  freelocale(c);
  if (end == text || *end || !isfinite(value)) return 0;
  *out = value;
  return 1;
}

static bool is_whole(double value) { return value == floor(value) && fabs(value) <= (double)TCT_INT_MOST; }

int tct_parse_int(const char *text, int64_t *out) {
  double value;
  if (!tct_parse_real(text, &value) || !is_whole(value)) return 0;
  *out = (int64_t)value;
  return 1;
}

void tct_print_real(double value, char *buffer, size_t size) {
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  locale_t before = c ? uselocale(c) : (locale_t)0;
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(buffer, size, "%.*g", digits, value);
    if (strtod(buffer, NULL) == value) break;
  }
  if (c) {
    uselocale(before);
    freelocale(c);
  }
}

static int copy_part(char *to, size_t size, const char *from, size_t length) {
  while (length && (*from == ' ' || *from == '\t')) from++, length--;
  while (length && (from[length - 1] == ' ' || from[length - 1] == '\t')) length--;
  if (length >= size) return 0;
  memcpy(to, from, length);
  to[length] = 0;
  return 1;
}

tct_status tct_spec_set(tct_spec *spec, const char *key, const char *value, tct_error *err) {
  int at = 0;
  while (at < spec->items && strcmp(spec->item[at].key, key)) at++;
  if (at == TCT_SPEC_ITEMS) return tct_fail(err, TCT_E_USAGE, "more than %d options; give fewer", TCT_SPEC_ITEMS);
  if (!copy_part(spec->item[at].key, TCT_SPEC_KEY, key, strlen(key)) ||
      !copy_part(spec->item[at].value, TCT_SPEC_VALUE, value, strlen(value)))
    return tct_fail(err, TCT_E_USAGE, "an option of more than %d characters; shorten it", TCT_SPEC_VALUE - 1);
  if (!tct_parse_real(spec->item[at].value, &spec->item[at].number)) spec->item[at].number = NAN;
  if (at == spec->items) spec->items++;
  return TCT_OK;
}

tct_status tct_spec_set_real(tct_spec *spec, const char *key, double value, tct_error *err) {
  char text[40];
  tct_print_real(value, text, sizeof text);
  return tct_spec_set(spec, key, text, err);
}

/* Keys of older texts and files, and what they are called now. */
static const struct { const char *before, *now; } aliases[] = {{"walk", "path_length"}, {"share", "budget_fraction"}};

static const char *current_key(const char *key) {
  for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
    if (!strcmp(key, aliases[i].before)) return aliases[i].now;
  return key;
}

static tct_status parse_item(tct_spec *out, const char *from, size_t length, const char *what, tct_error *err) {
  while (length && (*from == ' ' || *from == '\t')) from++, length--;
  const char *equals = memchr(from, '=', length);
  char key[TCT_SPEC_KEY], value[TCT_SPEC_VALUE];
  if (!equals || equals == from)
    return tct_fail(err, TCT_E_USAGE, "%s '%s' has an option that is not key=value; write %s:key=value,key=value", what,
                    out->name, out->name);
  size_t key_length = (size_t)(equals - from);
  if (!copy_part(key, sizeof key, from, key_length) ||
      !copy_part(value, sizeof value, equals + 1, length - key_length - 1))
    return tct_fail(err, TCT_E_USAGE, "%s '%s' has an option that is too long; shorten it", what, out->name);
  const char *name = current_key(key);
  if (tct_spec_given(out, name))
    return tct_fail(err, TCT_E_USAGE, "%s '%s' has the option '%s' twice; give it once", what, out->name, name);
  return tct_spec_set(out, name, value, err);
}

tct_status tct_spec_parse(const char *text, const char *what, tct_spec *out, tct_error *err) {
  memset(out, 0, sizeof *out);
  if (!text || !*text) return tct_fail(err, TCT_E_USAGE, "no %s is given; name one", what);
  size_t name_length = strcspn(text, ":");
  if (!copy_part(out->name, sizeof out->name, text, name_length) || !out->name[0])
    return tct_fail(err, TCT_E_USAGE, "the %s has no valid name; write name:key=value,key=value", what);
  const char *at = text + name_length;
  if (*at == ':') at++;
  while (*at) {
    size_t length = strcspn(at, ",");
    if (length) TCT_TRY(parse_item(out, at, length, what, err));
    at += length;
    if (*at == ',') at++;
  }
  return TCT_OK;
}

static const tct_option *find_option(const tct_option *table, const char *key) {
  for (const tct_option *o = table; o && o->key; o++)
    if (!strcmp(o->key, key)) return o;
  return NULL;
}

static const char *find_value(const tct_spec *spec, const char *key) {
  for (int i = 0; i < spec->items; i++)
    if (!strcmp(spec->item[i].key, key)) return spec->item[i].value;
  return NULL;
}

bool tct_word_among(const char *word, const char *list, char between) {
  size_t length = strlen(word);
  for (const char *at = list; at && length; at = strchr(at, between)) {
    at += *at == between;
    const char *end = strchr(at, between);
    if ((end ? (size_t)(end - at) : strlen(at)) == length && !memcmp(at, word, length)) return true;
  }
  return false;
}

static tct_status check_value(const tct_option *o, const char *value, const char *name, const char *what,
                              tct_error *err) {
  double real = 0;
  int64_t count = 0;
  if (o->fallback && !strcmp(o->fallback, "auto") && !strcmp(value, "auto")) return TCT_OK;
  switch (o->kind) {
    case TCT_OPT_CHOICE:
      if (tct_word_among(value, o->choices, '|')) return TCT_OK;
      return tct_fail(err, TCT_E_USAGE, "%s '%s': %s must be one of %s", what, name, o->key, o->choices);
    case TCT_OPT_TEXT: return TCT_OK;
    case TCT_OPT_REAL:
      if (tct_parse_real(value, &real) && real >= o->low && real <= o->high) return TCT_OK;
      return tct_fail(err, TCT_E_USAGE, "%s '%s': %s must be a number in [%g, %g]", what, name, o->key, o->low,
                      o->high);
    case TCT_OPT_COUNT:
      if (tct_parse_int(value, &count) && (double)count >= o->low && (double)count <= o->high) return TCT_OK;
      return tct_fail(err, TCT_E_USAGE, "%s '%s': %s must be a whole number in [%.0f, %.0f]", what, name, o->key,
                      o->low, o->high);
  }
  return TCT_OK;
}

static void list_keys(const tct_option *table, char *buffer, size_t size) {
  size_t used = 0;
  buffer[0] = 0;
  for (const tct_option *o = table; o && o->key && used < size; o++)
    used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? ", " : "", o->key);
  if (!used) snprintf(buffer, size, "none");
}

static const char *key_meant(const char *given, const tct_option *table, char buffer[TCT_MEANT]) {
  const char *names[TCT_SPEC_ITEMS];
  int count = 0;
  for (const tct_option *o = table; o && o->key && count < TCT_SPEC_ITEMS; o++) names[count++] = o->key;
  return tct_meant(given, names, count, buffer);
}

tct_status tct_spec_check(const tct_spec *spec, const tct_option *table, const char *what, tct_error *err) {
  for (int i = 0; i < spec->items; i++) {
    const tct_option *o = find_option(table, spec->item[i].key);
    if (!o) {
      char keys[400], meant[TCT_MEANT];
      list_keys(table, keys, sizeof keys);
      return tct_fail(err, TCT_E_USAGE, "%s '%s' has no option '%s'; its options are: %s%s", what, spec->name,
                      spec->item[i].key, keys, key_meant(spec->item[i].key, table, meant));
    }
    TCT_TRY(check_value(o, spec->item[i].value, spec->name, what, err));
  }
  for (const tct_option *o = table; o && o->key; o++)
    if (!o->fallback && !find_value(spec, o->key))
      return tct_fail(err, TCT_E_USAGE, "%s '%s' needs %s (%s); write %s:%s=...", what, spec->name, o->key, o->help,
                      spec->name, o->key);
  return TCT_OK;
}

const char *tct_spec_text(const tct_spec *spec, const tct_option *table, const char *key) {
  const char *value = find_value(spec, key);
  const tct_option *o = find_option(table, key);
  return value ? value : o ? o->fallback : NULL;
}

bool tct_spec_given(const tct_spec *spec, const char *key) { return find_value(spec, key) != NULL; }

bool tct_spec_auto(const tct_spec *spec, const tct_option *table, const char *key) {
  return tct_spec_is(spec, table, key, "auto");
}

bool tct_spec_is(const tct_spec *spec, const tct_option *table, const char *key, const char *choice) {
  const char *value = tct_spec_text(spec, table, key);
  return value && !strcmp(value, choice);
}

double tct_spec_real(const tct_spec *spec, const tct_option *table, const char *key) {
  double value;
  for (int i = 0; i < spec->items; i++)
    if (!strcmp(spec->item[i].key, key)) return spec->item[i].number;
  return tct_parse_real(tct_spec_text(spec, table, key), &value) ? value : NAN;
}

int64_t tct_spec_count(const tct_spec *spec, const tct_option *table, const char *key) {
  double value = tct_spec_real(spec, table, key);
  return is_whole(value) ? (int64_t)value : -1;
}

static bool is_newer(const tct_option *o, int rules) { return o && o->since > 1 && o->since > rules; }

/* Both as text, or as numbers. */
static bool is_neutral(const tct_option *o, const char *value) {
  double a, b;
  return !strcmp(o->neutral, value) || (tct_parse_real(o->neutral, &a) && tct_parse_real(value, &b) && a == b);
}

tct_status tct_spec_take_neutral(tct_spec *spec, const tct_option *table, int rules, tct_error *err) {
  for (const tct_option *o = table; o && o->key; o++)
    if (is_newer(o, rules) && !tct_spec_given(spec, o->key)) TCT_TRY(tct_spec_set(spec, o->key, o->neutral, err));
  return TCT_OK;
}

void tct_spec_print(const tct_spec *spec, char *buffer, size_t size) {
  size_t used = (size_t)snprintf(buffer, size, "%s", spec->name);
  char before = ':';
  for (int i = 0; i < spec->items && used < size; i++) {
    const char *key = spec->item[i].key, *value = spec->item[i].value;
    const tct_option *o = spec->options ? find_option(spec->options, key) : NULL;
    if (is_newer(o, 1) && is_neutral(o, value)) continue;
    used += (size_t)snprintf(buffer + used, size - used, "%c%s=%s", before, key, value);
    before = ',';
  }
}

char *tct_spec_copy(const tct_spec *spec) {
  char text[4096];
  tct_spec_print(spec, text, sizeof text);
  return tct_text_copy(text);
}

void tct_join_names(const char *const *name, int count, char *out, size_t size) {
  size_t used = 0;
  out[0] = 0;
  for (int i = 0; i < count && used < size; i++) {
    const char *before = !i ? "" : i + 1 < count ? ", " : " or ";
    used += (size_t)snprintf(out + used, size - used, "%s%s", before, name[i]);
  }
}

/* ---- the name that somebody probably meant: a slip of one or two letters, or a part of it ---- */

enum { LONGEST = 62, NONE = 99 };

static int least(int a, int b) { return a < b ? a : b; }

/* Letters put in, left out, changed, or swapped with their neighbour: the optimal string alignment distance. */
static int edits(const char *a, const char *b) {
  int row[3][LONGEST + 2];
  int n = (int)strlen(b);
  if (n > LONGEST || strlen(a) > LONGEST) return NONE;
  for (int j = 0; j <= n; j++) row[0][j] = j;
  for (int i = 1; a[i - 1]; i++) {
    int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
    now[0] = i;
    for (int j = 1; j <= n; j++) {
      now[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]), 1 + least(last[j], now[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = least(now[j], before[j - 2] + 1);
    }
  }
  return row[strlen(a) % 3][n];
}

/* Small is near: slips come first, then what begins with the given text, then what has it anywhere. */
static int distance(const char *given, const char *name) {
  const char *bare = given + strspn(given, "-");
  int slips = edits(given, name), length = (int)strlen(bare), rest = (int)strlen(name) - (int)strlen(given);
  if (slips <= 2 && 2 * slips <= length) return slips;
  if (length >= 2 && rest > 0 && !strncmp(name, given, strlen(given))) return 3 + least(rest, LONGEST);
  return length >= 3 && strstr(name, bare) ? 4 + LONGEST : 2 * NONE;
}

const char *tct_nearest(const char *given, const char *const *names, int64_t count) {
  const char *best = NULL;
  int min = 2 * NONE;
  for (int64_t i = 0; given && i < count; i++) {
    int d = distance(given, names[i]);
    if (d < min) {
      min = d;
      best = names[i];
    }
  }
  return best;
}

const char *tct_meant(const char *given, const char *const *names, int64_t count, char buffer[TCT_MEANT]) {
  const char *near = tct_nearest(given, names, count);
  buffer[0] = 0;
  if (near) snprintf(buffer, TCT_MEANT, "; did you mean %s?", near);
  return buffer;
}
