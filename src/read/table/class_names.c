/* class_names.c - what the classes of a label are called: checked, copied, and as JSON. */
#include "read/table/class_names.h"

#include "core/alloc.h"
#include "core/spec.h"
#include "tacit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER = 48, MOST = 10000 }; /* characters of a number's text; classes of a label */

/* A whole double keeps its point, so that it does not come back as an integer. */
static void print_number(const json_t *value, char text[NUMBER]) {
  if (json_is_integer(value)) {
    snprintf(text, NUMBER, "%lld", (long long)json_integer_value(value));
    return;
  }
  tct_print_real(json_real_value(value), text, NUMBER - 2);
  if (!text[strcspn(text, ".eE")]) strcat(text, ".0");
}

/* The text as a JSON value of this kind; NULL: it is none. */
static json_t *value_of(const char *name, int32_t kind) {
  if (kind == TCT_CLASS_TEXT) return json_string(name);
  json_t *value = json_loads(name, JSON_DECODE_ANY, NULL);
  bool number = json_is_number(value) && isfinite(json_number_value(value));
  if (value && (kind == TCT_CLASS_NUMBER ? number : json_is_boolean(value))) return value;
  json_decref(value);
  return NULL;
}

static bool is_canonical_number(const char *name) {
  char text[NUMBER];
  json_t *value = value_of(name, TCT_CLASS_NUMBER);
  if (!value) return false;
  print_number(value, text);
  json_decref(value);
  return !strcmp(text, name);
}

int32_t tct_class_kind_of(const char *const *name, int64_t count) {
  bool numbers = true, truths = true;
  for (int64_t k = 0; k < count; k++) {
    numbers &= !name[k] || is_canonical_number(name[k]);
    truths &= !name[k] || !strcmp(name[k], "true") || !strcmp(name[k], "false");
  }
  return numbers ? TCT_CLASS_NUMBER : truths ? TCT_CLASS_BOOLEAN : TCT_CLASS_TEXT;
}

static tct_status check(const char *const *name, int64_t count, int32_t kind, tct_error *err) {
  if (count < 2) return tct_fail(err, TCT_E_USAGE, "a label has at least two classes; name all that can occur");
  if (count > MOST) return tct_fail(err, TCT_E_USAGE, "a label has at most %d classes here; join rare ones", MOST);
  if (kind < TCT_CLASS_TEXT || kind > TCT_CLASS_BOOLEAN)
    return tct_fail(err, TCT_E_USAGE, "the kind of the classes is unknown; give one of tct_class_kind");
  for (int64_t k = 0; k < count; k++) {
    if (!name[k] && k == 0 && count == 2) continue; /* all others */
    if (!name[k] || !name[k][0]) return tct_fail(err, TCT_E_USAGE, "a class has no name; name every class");
    json_t *value = value_of(name[k], kind);
    json_decref(value);
    if (!value)
      return tct_fail(err, TCT_E_USAGE,
                      "class %lld of the list is not what its kind says, or no UTF-8; correct the list of classes",
                      (long long)k + 1);
    for (int64_t i = 0; i < k; i++)
      if (name[i] && !strcmp(name[i], name[k]))
        return tct_fail(err, TCT_E_USAGE, "class %lld of the list is there twice; name every class once",
                        (long long)k + 1);
  }
  return TCT_OK;
}

tct_status tct_class_names_set(tct_class_names *out, const char *const *name, int64_t count, int32_t kind,
                               tct_error *err) {
  TCT_TRY(check(name, count, kind, err));
  tct_class_names own = {.name = TCT_NEW(char *, count), .count = count, .kind = kind};
  bool whole = own.name != NULL;
  for (int64_t k = 0; whole && k < count; k++) {
    own.name[k] = tct_text_copy(name[k]);
    whole = own.name[k] || !name[k];
  }
  if (!whole) return tct_class_names_free(&own), tct_fail_memory(err);
  tct_class_names_free(out);
  *out = own;
  return TCT_OK;
}

bool tct_class_names_same(const tct_class_names *a, const tct_class_names *b) {
  if (a->count != b->count || a->kind != b->kind) return false;
  for (int64_t k = 0; k < a->count; k++) {
    const char *x = a->name[k], *y = b->name[k];
    if (!x != !y || (x && strcmp(x, y) != 0)) return false;
  }
  return true;
}

void tct_class_names_free(tct_class_names *names) {
  for (int64_t k = 0; names->name && k < names->count; k++) tct_free(names->name[k]);
  tct_free(names->name);
  *names = (tct_class_names){0};
}

json_t *tct_class_names_json(const tct_class_names *names) {
  json_t *array = json_array();
  for (int64_t k = 0; k < names->count; k++)
    json_array_append_new(array, names->name[k] ? value_of(names->name[k], names->kind) : json_null());
  return array;
}

/* ---- back ------------------------------------------------------------------------------------------------------ */

static int32_t kind_of(const json_t *value) {
  return json_is_number(value) ? TCT_CLASS_NUMBER : json_is_boolean(value) ? TCT_CLASS_BOOLEAN : TCT_CLASS_TEXT;
}

static tct_status wrong(tct_error *err) {
  return tct_fail(err, TCT_E_DATA, "the model file lacks a valid 'classes'; it is damaged or not a tacit model");
}

static tct_status read_all(const json_t *array, const char **name, char (*number)[NUMBER], tct_class_names *out,
                           tct_error *err) {
  int64_t count = (int64_t)json_array_size(array);
  int32_t kind = kind_of(json_array_get(array, (size_t)count - 1));
  for (int64_t k = 0; k < count; k++) {
    const json_t *value = json_array_get(array, (size_t)k);
    if (json_is_null(value)) continue;
    if (kind_of(value) != kind || (kind == TCT_CLASS_TEXT && !json_is_string(value))) return wrong(err);
    name[k] = kind == TCT_CLASS_TEXT ? json_string_value(value) : json_is_true(value) ? "true" : "false";
    if (kind != TCT_CLASS_NUMBER) continue;
    print_number(value, number[k]);
    name[k] = number[k];
  }
  tct_status status = tct_class_names_set(out, name, count, kind, err);
  return status == TCT_E_USAGE ? wrong(err) : status;
}

tct_status tct_class_names_read(const json_t *array, tct_class_names *out, tct_error *err) {
  int64_t count = (int64_t)json_array_size(array);
  if (!json_is_array(array) || count < 2) return wrong(err);
  const char **name = TCT_NEW(const char *, count);
  char(*number)[NUMBER] = tct_alloc(count, NUMBER);
  tct_status status = name && number ? read_all(array, name, number, out, err) : tct_fail_memory(err);
  tct_free(name);
  tct_free(number);
  return status;
}
