/* estimate_schema.c - what was found, as a schema says it: bounds, middles and lists, marked as estimated. */
#include "core/spec.h"
#include "estimate/estimate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_open(const json_t *column) { return json_is_true(json_object_get(column, "estimate")); }

/* Six digits are enough for bounds, and are read again as the same number. */
static double rounded(double value) {
  char text[40];
  double back = value;
  snprintf(text, sizeof text, "%.6g", value);
  tct_parse_real(text, &back);
  return back;
}

/* Bounds that six digits do not tell apart keep all of theirs. */
void tct_estimate_round(tct_found *f, int64_t columns) {
  for (int64_t c = 0; c < columns; c++) {
    double low = rounded(f->low[c]), high = rounded(f->high[c]);
    if (low < high) f->low[c] = low, f->high[c] = high;
    f->middle[c] = fmin(fmax(rounded(f->middle[c]), f->low[c]), f->high[c]);
  }
}

static void put_bounds(json_t *o, double low, double high) {
  json_object_del(o, "estimate");
  json_object_set_new(o, "lower", json_real(low));
  json_object_set_new(o, "upper", json_real(high));
  json_object_set_new(o, "estimated", json_true());
}

/* Missing categories are a value of their own where they are seen, and zeros where they are not.  A column of which no
 * text is seen is no feature. */
static void put_list(json_t *o, json_t *list) {
  bool left = tct_json_says(o, "missing", "estimate"), seen = false;
  size_t k;
  json_t *value;
  json_array_foreach(list, k, value) seen |= strcmp(json_string_value(value), TCT_MISSING_WORD) == 0;
  json_object_del(o, "estimate");
  json_object_set_new(o, "estimated", json_true());
  if (json_array_size(list) == 0) {
    json_object_set_new(o, "type", json_string("ignore"));
    json_object_del(o, "missing");
    return;
  }
  json_object_set(o, "values", list);
  json_object_set_new(o, "other", json_string("zero"));
  if (left) json_object_set_new(o, "missing", json_string(seen ? TCT_MISSING_WORD : "zero"));
}

json_t *tct_estimate_complete(const json_t *open, const tct_found *f, const char *name) {
  size_t k;
  json_t *column, *schema = json_deep_copy(open);
  int64_t c = 0, l = 0;
  json_array_foreach(json_object_get(schema, "columns"), k, column) {
    if (is_open(column) && tct_json_says(column, "type", "category")) {
      put_list(column, f->list[l++]);
    } else if (is_open(column)) {
      bool left = tct_json_says(column, "missing", "estimate");
      put_bounds(column, f->low[c], f->high[c]);
      if (left) json_object_set_new(column, "missing", json_real(f->middle[c]));
      c++;
    }
  }
  if (name) {
    json_t *label = json_object_get(schema, "label");
    if (!label) json_object_set_new(schema, "label", label = json_pack("{s:s}", "name", name));
    put_bounds(label, f->low[c], f->high[c]);
  }
  return schema;
}

const char *tct_estimate_leave_out(json_t *schema) {
  json_t *column, *columns = json_object_get(schema, "columns"), *left;
  size_t k, most = 0, at = 0;
  json_array_foreach(columns, k, column) {
    size_t values = json_array_size(json_object_get(column, "values"));
    if (json_object_get(column, "estimated") && values > most) most = values, at = k;
  }
  if (most == 0) return NULL;
  const json_t *name = json_object_get(json_array_get(columns, at), "name"); /* others may share the column */
  left = json_pack("{s:O, s:s, s:b}", "name", name, "type", "ignore", "estimated", 1);
  return json_array_set_new(columns, at, left) == 0 ? tct_json_said(left, "name") : NULL;
}
