/* json.c - small helpers between jansson and our types. */
#include "model/json.h"
#include "core/stop.h"

#include <math.h>
#include <string.h>

json_t *tct_json_real(double value) {
  if (isnan(value)) return json_null();
  if (isinf(value)) return json_string(value > 0 ? "infinity" : "-infinity");
  return json_real(value);
}

int tct_json_get_real(const json_t *value, double *out) {
  if (json_is_number(value)) return *out = json_number_value(value), 1;
  if (json_is_null(value)) return *out = NAN, 1;
  const char *text = json_string_value(value);
  if (text && !strcmp(text, "infinity")) return *out = INFINITY, 1;
  if (text && !strcmp(text, "-infinity")) return *out = -INFINITY, 1;
  return 0;
}

bool tct_json_stops(int64_t j) { return j % 65536 == 65535 && tct_stopping(); }

json_t *tct_json_reals(const double *values, int64_t count) {
  json_t *array = json_array();
  for (int64_t j = 0; array && j < count && !tct_json_stops(j); j++)
    json_array_append_new(array, tct_json_real(values[j]));
  return array;
}

bool tct_json_get_reals(const json_t *array, int64_t count, double *out) {
  if (!json_is_array(array) || (int64_t)json_array_size(array) != count) return false;
  for (int64_t j = 0; j < count; j++)
    if (!tct_json_get_real(json_array_get(array, (size_t)j), &out[j])) return false;
  return true;
}

json_t *tct_json_events(const tct_events *events) {
  json_t *array = json_array();
  for (int64_t i = 0; array && i < events->len; i++) {
    char text[200];
    tct_event_print(&events->at[i], text, sizeof text);
    if (json_array_append_new(array, json_string(text)) != 0) {
      json_decref(array);
      return NULL;
    }
  }
  return array;
}

tct_status tct_json_get_events(const json_t *array, tct_events *out, tct_error *err) {
  if (!json_is_array(array)) return tct_fail(err, TCT_E_DATA, "events is not an array of event specs; mend the file");
  for (size_t i = 0; i < json_array_size(array); i++) {
    tct_event event;
    const char *text = json_string_value(json_array_get(array, i));
    if (!text) return tct_fail(err, TCT_E_DATA, "an event is not a text; mend the file");
    TCT_TRY(tct_event_parse(text, &event, NULL, err));
    TCT_TRY(tct_events_add(out, event, err));
  }
  return TCT_OK;
}

char *tct_json_text(json_t *object, tct_error *err) {
  char *text = object ? tct_json_dump(object, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(object);
  if (!text) tct_fail_memory(err);
  return text;
}

tct_status tct_json_compact(const json_t *value, char **text, tct_error *err) {
  *text = tct_json_dump(value, JSON_COMPACT | JSON_REAL_PRECISION(17));
  return *text ? TCT_OK : tct_fail_memory(err);
}

const char *tct_neighbours_name(int neighbours) { return neighbours == TCT_REPLACE_ONE ? "replace_one" : "add_remove"; }

int tct_neighbours_find(const char *name) {
  if (name && !strcmp(name, "add_remove")) return TCT_ADD_REMOVE;
  if (name && !strcmp(name, "replace_one")) return TCT_REPLACE_ONE;
  return -1;
}
