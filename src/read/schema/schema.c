/* schema.c - public knowledge about a table's columns, as a JSON file states it.
 *
 * docs/reference/format/schema.md describes the file.  Texts stay in the JSON tree, which lives as long as the
 * schema.  Unknown keys are refused: a misspelt "lower" must not silently become no bound. */
#include "read/schema/schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/json_text.h"
#include "core/spec.h"

enum { MOST_FEATURES = INT32_MAX - 1 };

/* FNV-1a, 32 bit (Fowler, Noll, Vo). */
static uint32_t hash(const char *text, int64_t length) {
  uint32_t h = 2166136261u;
  for (int64_t k = 0; k < length; k++) h = (h ^ (unsigned char)text[k]) * 16777619u;
  return h ^ h >> 15;
}

static bool same_text(const json_t *a, const char *text, int64_t length) {
  return (int64_t)json_string_length(a) == length && memcmp(json_string_value(a), text, (size_t)length) == 0;
}

int32_t tct_column_find(const tct_column *column, const char *text, int64_t length) {
  uint32_t h = hash(text, length);
  for (uint32_t at = h & column->slot_mask;; at = (at + 1) & column->slot_mask) {
    const tct_slot *slot = &column->slot[at];
    if (!slot->text) return -1;
    if (slot->hash == h && slot->length == length && memcmp(slot->text, text, (size_t)length) == 0) return slot->index;
  }
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

int64_t tct_column_feature(const tct_column *column, int64_t k, char *buffer, size_t size) {
  if (column->kind == TCT_COLUMN_NUMBER) return snprintf(buffer, size, "%s", column->name);
  if (column->open) return snprintf(buffer, size, "%s", column->name);
  const json_t *value = json_array_get(column->values, (size_t)(k + column->dropped));
  return snprintf(buffer, size, "%s=%s", column->name, json_string_value(value));
}

/* An error about a schema, with the name of the column in it (NULL = none). */
static tct_status wrong(const tct_schema *schema, const char *column, const char *text, tct_error *err) {
  if (!column) return tct_fail_at(err, schema->name, 0, 0, "schema: %s", text);
  return tct_fail_at(err, schema->name, 0, 0, "schema, column \"%.200s\": %s", column, text);
}

/* Refuses keys outside the list `allowed`. */
static tct_status check_keys(const tct_schema *schema, const json_t *object, const char *allowed, tct_error *err) {
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)object, key, value) {
    if (!tct_word_among(key, allowed, ' ')) {
      return tct_fail_at(err, schema->name, 0, 0, "schema: unknown key \"%.60s\"; the keys here are: %s", key, allowed);
    }
  }
  return TCT_OK;
}

static tct_status finite_number(const tct_schema *schema, const char *column, const json_t *value, const char *key,
                                double *out, tct_error *err) {
  char text[96];
  if (json_is_number(value)) {
    *out = json_number_value(value);
    if (isfinite(*out)) return TCT_OK;
  }
  snprintf(text, sizeof text, "\"%s\" must be a finite number; write it without quotes", key);
  return wrong(schema, column, text, err);
}

/* "lower" and "upper" of a column or label. */
static tct_status bounds(const tct_schema *schema, const char *column, const json_t *object, double *lower,
                         double *upper, tct_error *err) {
  TCT_TRY(finite_number(schema, column, json_object_get(object, "lower"), "lower", lower, err));
  TCT_TRY(finite_number(schema, column, json_object_get(object, "upper"), "upper", upper, err));
  if (*lower < *upper && isfinite(*upper - *lower)) return TCT_OK;
  return wrong(schema, column, "\"lower\" must be below \"upper\"; swap or widen the bounds", err);
}

/* A list of distinct texts, at least `least`. */
static tct_status text_list(const tct_schema *schema, const char *column, const json_t *list, int64_t min,
                            tct_error *err) {
  size_t k;
  json_t *value;
  if (!json_is_array(list) || (int64_t)json_array_size(list) < min || json_array_size(list) > MOST_FEATURES) {
    return wrong(schema, column, "a list of texts is wanted (\"values\": [\"a\", \"b\"]); write one", err);
  }
  json_array_foreach((json_t *)list, k, value) {
    if (!json_is_string(value)) {
      return wrong(schema, column, "a listed value is not a text; put it in quotes", err);
    }
  }
  return TCT_OK;
}

/* Builds the hash table over the values; at most half full. */
static tct_status index_values(const tct_schema *schema, tct_column *column, tct_error *err) {
  uint32_t size = 4;
  while (size < 2 * (uint32_t)column->listed) size *= 2;
  column->slot = TCT_NEW(tct_slot, size);
  if (!column->slot) return tct_fail_memory(err);
  column->slot_mask = size - 1;
  for (int32_t k = 0; k < column->listed; k++) {
    const json_t *value = json_array_get(column->values, (size_t)k);
    const char *text = json_string_value(value);
    int64_t length = (int64_t)json_string_length(value);
    if (tct_column_find(column, text, length) >= 0) {
      return wrong(schema, column->name, "a value is listed twice; list it once", err);
    }
    uint32_t h = hash(text, length), at = h & column->slot_mask;
    while (column->slot[at].text) at = (at + 1) & column->slot_mask;
    column->slot[at] = (tct_slot){text, length, h, k};
  }
  return TCT_OK;
}

/* "missing" or "other" of a category: "refuse" (default), "zero", or a listed value. */
static tct_status category_rule(const tct_schema *schema, const tct_column *column, const json_t *value, tct_when *when,
                                int32_t *listed, tct_error *err) {
  *when = TCT_WHEN_REFUSE;
  if (!value) return TCT_OK;
  if (!json_is_string(value)) {
    return wrong(schema, column->name,
                 "\"missing\" and \"other\" are \"zero\", \"refuse\" or a listed value; choose one", err);
  }
  const char *text = json_string_value(value);
  *listed = tct_column_find(column, text, (int64_t)json_string_length(value));
  bool zero = strcmp(text, "zero") == 0, refuse = strcmp(text, "refuse") == 0;
  if (*listed >= 0 && (zero || refuse)) {
    return wrong(schema, column->name, "a rule's word is also a listed value; rename that value in the data", err);
  }
  if (*listed < 0 && !zero && !refuse) {
    return wrong(schema, column->name, "\"missing\" or \"other\" names a value that is not listed; list it", err);
  }
  *when = zero ? TCT_WHEN_ZERO : refuse ? TCT_WHEN_REFUSE : TCT_WHEN_VALUE;
  return TCT_OK;
}

static tct_status estimate_flag(const tct_schema *schema, const tct_column *column, const json_t *object, bool *is_open,
                                tct_error *err) {
  const json_t *estimate = json_object_get(object, "estimate");
  *is_open = json_is_true(estimate);
  if (!estimate || json_is_boolean(estimate)) return TCT_OK;
  return wrong(schema, column->name, "\"estimate\" must be true or false; write one of them", err);
}

/* "missing" of a column about which an estimate finds out; "zero" goes with categories alone. */
static tct_status open_missing(const tct_schema *schema, tct_column *column, const json_t *value, tct_error *err) {
  const char *word = value ? json_string_value(value) : "refuse";
  bool estimate = word && strcmp(word, "estimate") == 0;
  bool zero = word && column->kind == TCT_COLUMN_CATEGORY && strcmp(word, "zero") == 0;
  column->missing = estimate ? TCT_WHEN_ESTIMATE : zero ? TCT_WHEN_ZERO : TCT_WHEN_REFUSE;
  if (estimate || zero || (word && strcmp(word, "refuse") == 0)) return TCT_OK;
  return wrong(schema, column->name,
               "a column that is estimated takes no missing value of its own; write \"estimate\" or \"refuse\"", err);
}

/* "estimate": bounds or list are not known, and an estimate pays for them.  Texts outside of the list become zeros. */
static tct_status parse_open(tct_schema *schema, tct_column *column, const json_t *object, tct_error *err) {
  if (json_object_get(object, "lower") || json_object_get(object, "upper") || json_object_get(object, "values"))
    return wrong(schema, column->name,
                 "bounds or values are there, and yet they are to be estimated; remove one of the two", err);
  if (json_object_get(object, "other") || json_object_get(object, "drop_first"))
    return wrong(schema, column->name, "an estimated list keeps all values, and others are zero; remove these keys",
                 err);
  column->open = column->kind == TCT_COLUMN_CATEGORY;
  column->raw = !column->open;
  column->features = 1;
  schema->open++, schema->lists += column->open;
  if (column->open && !schema->words && !(schema->words = tct_words_new())) return tct_fail_memory(err);
  return open_missing(schema, column, json_object_get(object, "missing"), err);
}

static tct_status parse_category(tct_schema *schema, tct_column *column, const json_t *object, tct_error *err) {
  bool is_open;
  TCT_TRY(check_keys(schema, object, "name type values missing other drop_first estimate estimated comment", err));
  TCT_TRY(estimate_flag(schema, column, object, &is_open, err));
  if (is_open) return parse_open(schema, column, object, err);
  schema->estimated |= json_object_get(object, "estimated") != NULL;
  column->values = json_object_get(object, "values");
  TCT_TRY(text_list(schema, column->name, column->values, 1, err));
  column->listed = (int32_t)json_array_size(column->values);
  TCT_TRY(index_values(schema, column, err));
  TCT_TRY(category_rule(schema, column, json_object_get(object, "missing"), &column->missing, &column->missing_listed,
                        err));
  TCT_TRY(category_rule(schema, column, json_object_get(object, "other"), &column->other, &column->other_listed, err));
  const json_t *drop = json_object_get(object, "drop_first");
  if (drop && !json_is_boolean(drop)) {
    return wrong(schema, column->name, "\"drop_first\" must be true or false; write one of them", err);
  }
  column->dropped = json_is_true(drop);
  column->features = column->listed - column->dropped;
  return TCT_OK;
}

static tct_status parse_number(tct_schema *schema, tct_column *column, const json_t *object, tct_error *err) {
  bool is_open;
  TCT_TRY(check_keys(schema, object, "name type lower upper missing estimate estimated comment", err));
  TCT_TRY(estimate_flag(schema, column, object, &is_open, err));
  if (is_open) return parse_open(schema, column, object, err);
  schema->estimated |= json_object_get(object, "estimated") != NULL;
  TCT_TRY(bounds(schema, column->name, object, &column->lower, &column->upper, err));
  column->features = 1;
  const json_t *missing = json_object_get(object, "missing");
  if (!missing || (json_is_string(missing) && strcmp(json_string_value(missing), "refuse") == 0)) return TCT_OK;
  if (!json_is_number(missing)) {
    return wrong(schema, column->name, "\"missing\" of a number is a number or \"refuse\"; write one of them", err);
  }
  column->missing = TCT_WHEN_VALUE;
  return finite_number(schema, column->name, missing, "missing", &column->missing_number, err);
}

static tct_status parse_column(tct_schema *schema, tct_column *column, const json_t *object, tct_error *err) {
  column->name = json_string_value(json_object_get(object, "name"));
  if (!column->name || !column->name[0]) {
    return wrong(schema, NULL, "an entry of \"columns\" has no \"name\"; name the column as the header does", err);
  }
  const char *type = json_string_value(json_object_get(object, "type"));
  if (!type) type = "";
  if (strcmp(type, "number") == 0) {
    column->kind = TCT_COLUMN_NUMBER;
    TCT_TRY(parse_number(schema, column, object, err));
  } else if (strcmp(type, "category") == 0) {
    column->kind = TCT_COLUMN_CATEGORY;
    TCT_TRY(parse_category(schema, column, object, err));
  } else if (strcmp(type, "ignore") == 0) {
    column->kind = TCT_COLUMN_IGNORE;
    schema->estimated |= json_object_get(object, "estimated") != NULL; /* an estimated list with nothing in it */
  } else {
    return wrong(schema, column->name, "\"type\" must be \"number\", \"category\" or \"ignore\"; write one of them",
                 err);
  }
  column->first = schema->features;
  schema->features += column->features;
  schema->max += column->features > 0;
  if (schema->features <= MOST_FEATURES) return TCT_OK;
  return wrong(schema, NULL, "it makes more than 2^31 features; list fewer values", err);
}

static tct_status parse_columns(tct_schema *schema, tct_error *err) {
  const json_t *list = json_object_get(schema->root, "columns");
  if (!json_is_array(list) || json_array_size(list) == 0) {
    return wrong(schema, NULL, "there is no \"columns\" list; describe every column of the table there", err);
  }
  schema->columns = (int64_t)json_array_size(list);
  schema->column = TCT_NEW(tct_column, schema->columns);
  if (!schema->column) return tct_fail_memory(err);
  json_t *seen = json_object();
  if (!seen) return tct_fail_memory(err);
  tct_status status = TCT_OK;
  for (int64_t k = 0; k < schema->columns && status == TCT_OK; k++) {
    tct_column *column = &schema->column[k];
    status = parse_column(schema, column, json_array_get(list, (size_t)k), err);
    if (status == TCT_OK && json_object_get(seen, column->name)) {
      status = wrong(schema, column->name, "the column is described twice; describe it once", err);
    }
    if (status == TCT_OK && json_object_set_new(seen, column->name, json_true()) != 0) status = tct_fail_memory(err);
  }
  json_decref(seen);
  if (status == TCT_OK && schema->features == 0) {
    status = wrong(schema, NULL, "no column is a feature; describe one as number or category", err);
  }
  return status;
}

static tct_status check_label_column(const tct_schema *schema, tct_error *err) {
  for (int64_t k = 0; k < schema->columns; k++) {
    const tct_column *column = &schema->column[k];
    if (column->kind != TCT_COLUMN_IGNORE && strcmp(column->name, schema->label) == 0) {
      return wrong(schema, column->name, "the label is also a feature; remove it from \"columns\"", err);
    }
  }
  return TCT_OK;
}

static tct_status parse_label(tct_schema *schema, tct_error *err) {
  const json_t *label = json_object_get(schema->root, "label");
  if (!label) return TCT_OK;
  if (!json_is_object(label)) return wrong(schema, NULL, "\"label\" must be an object with \"name\"; write one", err);
  TCT_TRY(check_keys(schema, label, "name positive values lower upper estimated comment", err));
  schema->estimated |= json_object_get(label, "estimated") != NULL;
  schema->label = json_string_value(json_object_get(label, "name"));
  if (!schema->label || !schema->label[0]) {
    return wrong(schema, NULL, "\"label\" has no \"name\"; name the label's column", err);
  }
  TCT_TRY(check_label_column(schema, err));
  const json_t *positive = json_object_get(label, "positive");
  if (positive && !json_is_string(positive)) {
    return wrong(schema, schema->label, "\"positive\" must be a text; put the value in quotes", err);
  }
  schema->positive = json_string_value(positive);
  schema->label_values = json_object_get(label, "values");
  if (schema->label_values) TCT_TRY(text_list(schema, schema->label, schema->label_values, 2, err));
  if (!json_object_get(label, "lower") && !json_object_get(label, "upper")) return TCT_OK;
  return bounds(schema, schema->label, label, &schema->label_low, &schema->label_high, err);
}

static tct_status parse_root(tct_schema *schema, tct_error *err) {
  if (!json_is_object(schema->root)) return wrong(schema, NULL, "the file must hold one JSON object; write one", err);
  TCT_TRY(
      check_keys(schema, schema->root, "format version columns label scale missing_values not_private comment", err));
  const json_t *format = json_object_get(schema->root, "format"), *version = json_object_get(schema->root, "version");
  if (format && (!json_is_string(format) || strcmp(json_string_value(format), "tacit-schema") != 0)) {
    return wrong(schema, NULL, "\"format\" must be \"tacit-schema\"; give a schema file", err);
  }
  if (version && json_integer_value(version) != 1) {
    return wrong(schema, NULL, "\"version\" must be 1; this library knows no other", err);
  }
  const json_t *scale = json_object_get(schema->root, "scale");
  const char *word = scale ? json_string_value(scale) : "unit";
  if (!word || (strcmp(word, "unit") != 0 && strcmp(word, "symmetric") != 0)) {
    return wrong(schema, NULL, "\"scale\" must be \"unit\" or \"symmetric\"; write one of them", err);
  }
  schema->symmetric = strcmp(word, "symmetric") == 0;
  schema->missing = json_object_get(schema->root, "missing_values");
  if (schema->missing) TCT_TRY(text_list(schema, NULL, schema->missing, 0, err));
  schema->drafted = json_object_get(schema->root, "not_private") != NULL;
  TCT_TRY(parse_columns(schema, err));
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
    TCT_TRY(tct_json_check(schema->name, text, length, &most, err));
  schema->root = json_loadb(path ? contents : text, (size_t)length, JSON_REJECT_DUPLICATES, at);
  tct_free(contents);
  return TCT_OK;
}

tct_status tct_schema_load(tct_schema *schema, const char *path, const char *text, const tct_limits *limits,
                           tct_error *err) {
  json_error_t at;
  memset(schema, 0, sizeof *schema);
  schema->label_low = schema->label_high = NAN;
  schema->name = path ? path : "schema";
  if (!path && !text) return TCT_OK;
  if (path && text) {
    return tct_fail(err, TCT_E_USAGE, "a schema is given as a file and as a text; give one of them");
  }
  TCT_TRY(parse(schema, path, text, limits, &at, err));
  if (!schema->root) {
    return tct_fail_at(err, schema->name, at.line > 0 ? at.line : 0, at.column > 0 ? at.column : 0,
                       "the schema is not valid JSON; correct it near this place");
  }
  return parse_root(schema, err);
}

tct_status tct_schema_plain(tct_schema *schema, char *const *names, int64_t count, int64_t label, int64_t key,
                            tct_error *err) {
  schema->column = TCT_NEW(tct_column, count);
  if (!schema->column) return tct_fail_memory(err);
  for (int64_t j = 0; j < count; j++) {
    if (j == label || j == key) continue;
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

void tct_schema_free(tct_schema *schema) {
  for (int64_t k = 0; schema->column && k < schema->columns; k++) tct_free(schema->column[k].slot);
  tct_free(schema->column);
  tct_words_free(schema->words);
  json_decref(schema->root);
  memset(schema, 0, sizeof *schema);
}
