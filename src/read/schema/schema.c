/* schema.c - public knowledge about a table's columns, as a JSON file states it.
 *
 * docs/reference/format/schema.md describes the file.  Texts stay in the JSON tree, which lives as long as the
 * schema.  Unknown keys are refused: a misspelt "lower" must not silently become no bound. */
#include "read/schema/design.h"
#include "read/schema/schema_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/spec.h"

static bool same_text(const json_t *a, const char *text, int64_t length) {
  return (int64_t)json_string_length(a) == length && memcmp(json_string_value(a), text, (size_t)length) == 0;
}

bool tct_schema_missing(const tct_schema *schema, const char *text, int64_t length) {
  if (length == 0) return true;
  size_t k;
  json_t *value;
  json_array_foreach((json_t *)schema->missing, k, value) {
    if (same_text(value, text, length)) return true;
  }
  return false;
}

tct_status tct_schema_wrong(const tct_schema *schema, const char *column, const char *text, tct_error *err) {
  if (!column) return tct_fail_at(err, schema->name, 0, 0, "schema: %s", text);
  return tct_fail_at(err, schema->name, 0, 0, "schema, column \"%.200s\": %s", column, text);
}

tct_status tct_schema_keys(const tct_schema *schema, const json_t *object, const char *allowed, tct_error *err) {
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)object, key, value) {
    if (!tct_word_among(key, allowed, ' ')) {
      return tct_fail_at(err, schema->name, 0, 0, "schema: unknown key \"%.60s\"; the keys here are: %s", key, allowed);
    }
  }
  return TCT_OK;
}

tct_status tct_schema_real(const tct_schema *schema, const char *column, const json_t *value, const char *key,
                           double *out, tct_error *err) {
  char text[96];
  if (json_is_number(value)) {
    *out = json_number_value(value);
    if (isfinite(*out)) return TCT_OK;
  }
  snprintf(text, sizeof text, "\"%s\" must be a finite number; write it without quotes", key);
  return tct_schema_wrong(schema, column, text, err);
}

tct_status tct_schema_bounds(const tct_schema *schema, const char *column, const json_t *object, double *lower,
                             double *upper, tct_error *err) {
  TCT_TRY(tct_schema_real(schema, column, json_object_get(object, "lower"), "lower", lower, err));
  TCT_TRY(tct_schema_real(schema, column, json_object_get(object, "upper"), "upper", upper, err));
  if (*lower < *upper && isfinite(*upper - *lower)) return TCT_OK;
  return tct_schema_wrong(schema, column, "\"lower\" must be below \"upper\"; swap or widen the bounds", err);
}

tct_status tct_schema_texts(const tct_schema *schema, const char *column, const json_t *list, int64_t min,
                            tct_error *err) {
  size_t k;
  json_t *value;
  if (!json_is_array(list) || (int64_t)json_array_size(list) < min || json_array_size(list) > TCT_MOST_FEATURES) {
    return tct_schema_wrong(schema, column, "a list of texts is wanted (\"values\": [\"a\", \"b\"]); write one", err);
  }
  json_array_foreach((json_t *)list, k, value) {
    if (!json_is_string(value)) {
      return tct_schema_wrong(schema, column, "a listed value is not a text; put it in quotes", err);
    }
  }
  return TCT_OK;
}

static tct_status check_label_column(const tct_schema *schema, tct_error *err) {
  for (int64_t k = 0; k < schema->columns; k++) {
    const tct_column *column = &schema->column[k];
    bool own = !strcmp(column->name, schema->label) || (schema->event && !strcmp(column->name, schema->event));
    if (column->kind != TCT_COLUMN_IGNORE && own) {
      return tct_schema_wrong(schema, column->name, "the label is also a feature; remove it from \"columns\"", err);
    }
  }
  return TCT_OK;
}

/* {"time": ..., "event": ..., "horizon": ...} */
static tct_status parse_follow_up(tct_schema *schema, const json_t *label, tct_error *err) {
  TCT_TRY(tct_schema_keys(schema, label, "time event horizon positive comment", err));
  schema->label = tct_json_said(label, "time");
  schema->event = tct_json_said(label, "event");
  if (!schema->label || !schema->label[0] || !schema->event || !schema->event[0])
    return tct_schema_wrong(schema, NULL, "a follow-up needs the names of its \"time\" and its \"event\"; write both",
                            err);
  if (strcmp(schema->label, schema->event) == 0)
    return tct_schema_wrong(schema, schema->label, "one column is no \"time\" and \"event\"; name two", err);
  TCT_TRY(
      tct_schema_real(schema, schema->label, json_object_get(label, "horizon"), "horizon", &schema->label_high, err));
  if (!(schema->label_high > 0))
    return tct_schema_wrong(schema, schema->label, "\"horizon\" must be above 0; give when follow-up ends", err);
  schema->label_low = -schema->label_high;
  return TCT_OK;
}

static tct_status parse_name(tct_schema *schema, const json_t *label, tct_error *err) {
  TCT_TRY(tct_schema_keys(schema, label, "name positive values lower upper estimated comment", err));
  schema->estimated |= json_object_get(label, "estimated") != NULL;
  schema->label = tct_json_said(label, "name");
  if (!schema->label || !schema->label[0]) {
    return tct_schema_wrong(schema, NULL, "\"label\" has no \"name\"; name the label's column", err);
  }
  return TCT_OK;
}

static tct_status parse_label(tct_schema *schema, tct_error *err) {
  const json_t *label = json_object_get(schema->root, "label");
  if (!label) return TCT_OK;
  if (!json_is_object(label))
    return tct_schema_wrong(schema, NULL, "\"label\" must be an object with \"name\"; write one", err);
  bool follow_up = json_object_get(label, "time") || json_object_get(label, "event");
  TCT_TRY(follow_up ? parse_follow_up(schema, label, err) : parse_name(schema, label, err));
  TCT_TRY(check_label_column(schema, err));
  const json_t *positive = json_object_get(label, "positive");
  if (positive && !json_is_string(positive)) {
    return tct_schema_wrong(schema, schema->label, "\"positive\" must be a text; put the value in quotes", err);
  }
  schema->positive = json_string_value(positive);
  schema->label_values = json_object_get(label, "values");
  if (schema->label_values) TCT_TRY(tct_schema_texts(schema, schema->label, schema->label_values, 2, err));
  if (!json_object_get(label, "lower") && !json_object_get(label, "upper")) return TCT_OK;
  return tct_schema_bounds(schema, schema->label, label, &schema->label_low, &schema->label_high, err);
}

static tct_status parse_root(tct_schema *schema, tct_error *err) {
  if (!json_is_object(schema->root))
    return tct_schema_wrong(schema, NULL, "the file must hold one JSON object; write one", err);
  TCT_TRY(tct_schema_keys(
      schema, schema->root,
      "format version columns terms weight exposure offset label scale missing_values not_private comment", err));
  const json_t *format = json_object_get(schema->root, "format"), *version = json_object_get(schema->root, "version");
  if (format && (!json_is_string(format) || strcmp(json_string_value(format), "tacit-schema") != 0)) {
    return tct_schema_wrong(schema, NULL, "\"format\" must be \"tacit-schema\"; give a schema file", err);
  }
  schema->version = version ? (int)json_integer_value(version) : TCT_SCHEMA_FIRST;
  if (schema->version != TCT_SCHEMA_FIRST && schema->version != TCT_SCHEMA_TERMS)
    return tct_schema_wrong(schema, NULL, "\"version\" must be 1 or 2; this library knows no other", err);
  if (schema->version < TCT_SCHEMA_TERMS && json_object_get(schema->root, "terms"))
    return tct_schema_wrong(schema, NULL, "\"terms\" belong to version 2; write \"version\": 2", err);
  const json_t *scale = json_object_get(schema->root, "scale");
  const char *word = scale ? json_string_value(scale) : "unit";
  if (!word || (strcmp(word, "unit") != 0 && strcmp(word, "symmetric") != 0)) {
    return tct_schema_wrong(schema, NULL, "\"scale\" must be \"unit\" or \"symmetric\"; write one of them", err);
  }
  if (scale && schema->version >= TCT_SCHEMA_TERMS)
    return tct_schema_wrong(schema, NULL, "a schema of version 2 centres its numbers; leave \"scale\" away", err);
  schema->symmetric = strcmp(word, "symmetric") == 0;
  schema->missing = json_object_get(schema->root, "missing_values");
  if (schema->missing) TCT_TRY(tct_schema_texts(schema, NULL, schema->missing, 0, err));
  schema->drafted = json_object_get(schema->root, "not_private") != NULL;
  TCT_TRY(tct_schema_columns(schema, err));
  if (schema->version >= TCT_SCHEMA_TERMS) TCT_TRY(tct_schema_terms(schema, err));
  TCT_TRY(tct_schema_besides(schema, err));
  return parse_label(schema, err);
}

/* schema->root stays NULL where the text is no JSON. */
static tct_status parse(tct_schema *schema, const char *path, const char *text, const tct_limits *limits,
                        json_error_t *at, tct_error *err) {
  tct_json_most most = tct_limits_json(limits);
  char *contents = NULL;
  int64_t length = path ? 0 : (int64_t)strlen(text);
  if (path)
    TCT_TRY(tct_json_file(path, &most, &contents, &length, err));
  else
    TCT_TRY(tct_json_check("schema", text, length, &most, err));
  schema->root = json_loadb(path ? contents : text, (size_t)length, JSON_REJECT_DUPLICATES, at);
  tct_free(contents);
  return TCT_OK;
}

tct_status tct_schema_load(tct_schema *schema, const char *path, const char *text, const tct_limits *limits,
                           tct_error *err) {
  json_error_t at;
  memset(schema, 0, sizeof *schema);
  schema->label_low = schema->label_high = NAN;
  schema->name = path ? path : ""; /* a text has no file, and what is wrong in it says itself that it is the schema's */
  if (!path && !text) return TCT_OK;
  if (path && text) {
    return tct_fail(err, TCT_E_USAGE, "a schema is given as a file and as a text; give one of them");
  }
  TCT_TRY(parse(schema, path, text, limits, &at, err));
  if (!schema->root) {
    return tct_fail_at(err, path ? path : "schema", at.line > 0 ? at.line : 0, at.column > 0 ? at.column : 0,
                       "the schema is not valid JSON; correct it near this place");
  }
  return parse_root(schema, err);
}

static bool is_beside(const tct_schema *schema, const char *name) {
  bool found = false;
  for (int k = 0; k < TCT_BESIDES; k++) found |= schema->beside[k].name && strcmp(schema->beside[k].name, name) == 0;
  return found;
}

tct_status tct_schema_plain(tct_schema *schema, char *const *names, int64_t count, int64_t label, int64_t key,
                            int64_t event, tct_error *err) {
  schema->column = TCT_NEW(tct_column, count);
  if (!schema->column) return tct_fail_memory(err);
  for (int64_t j = 0; j < count; j++) {
    if (j == label || j == key || j == event || is_beside(schema, names[j])) continue;
    tct_column *column = &schema->column[schema->columns++];
    column->name = names[j];
    column->kind = TCT_COLUMN_NUMBER;
    column->raw = true;
    column->first = schema->features++;
    column->features = 1;
  }
  schema->max = schema->features;
  return TCT_OK;
}

tct_status tct_schema_follow_up(tct_schema *schema, const char *event, double horizon, const char *time, bool wanted,
                                tct_error *err) {
  bool other = schema->event && event && strcmp(schema->event, event) != 0;
  if (other || (schema->event && horizon > 0 && horizon != schema->label_high))
    return tct_fail(err, TCT_E_USAGE, "{event} and {horizon} are not what the schema says; leave them away");
  if (schema->event || !wanted) {
    if (!schema->event) schema->event = event;
    return TCT_OK;
  }
  if (!event && !(horizon > 0)) return TCT_OK;
  if (!event || !(horizon > 0) || !isfinite(horizon))
    return tct_fail(err, TCT_E_USAGE,
                    "a follow-up needs its event and its horizon, above 0; give {event NAME} and {horizon H}");
  if (!time && !schema->label) return tct_fail(err, TCT_E_USAGE, "a follow-up needs its time; give {time NAME}");
  schema->event = event;
  if (time) schema->label = time;
  schema->label_high = horizon, schema->label_low = -horizon;
  return TCT_OK;
}

void tct_schema_free(tct_schema *schema) {
  for (int64_t k = 0; schema->column && k < schema->columns; k++) tct_free(schema->column[k].slot);
  tct_free(schema->column);
  tct_design_free(schema->design);
  tct_words_free(schema->words);
  json_decref(schema->root);
  memset(schema, 0, sizeof *schema);
}
