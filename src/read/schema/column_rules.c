/* column_rules.c - what a schema says of each column: kind, bounds or values, and the rules for cells that do not fit.
 */
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "read/schema/dates.h"
#include "read/schema/design.h"
#include "read/schema/schema_json.h"

/* FNV-1a, 32 bit (Fowler, Noll, Vo). */
static uint32_t hash(const char *text, int64_t length) {
  uint32_t h = 2166136261u;
  for (int64_t k = 0; k < length; k++) h = (h ^ (unsigned char)text[k]) * 16777619u;
  return h ^ h >> 15;
}

int32_t tct_column_find(const tct_column *column, const char *text, int64_t length) {
  uint32_t h = hash(text, length);
  for (uint32_t at = h & column->slot_mask;; at = (at + 1) & column->slot_mask) {
    const tct_slot *slot = &column->slot[at];
    if (!slot->text) return -1;
    if (slot->hash == h && slot->length == length && memcmp(slot->text, text, (size_t)length) == 0) return slot->index;
  }
}

/* The column of a feature, by bisection over those before it. */
static const tct_column *column_of(const tct_schema *schema, int64_t j) {
  int64_t low = 0, high = schema->columns - 1;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (schema->column[middle].first + schema->column[middle].features > j)
      high = middle;
    else
      low = middle + 1;
  }
  return &schema->column[low];
}

int64_t tct_schema_feature(const tct_schema *schema, int64_t j, char *buffer, size_t size) {
  if (schema->design) return tct_design_feature(schema, j, buffer, size);
  const tct_column *column = column_of(schema, j);
  int64_t k = j - column->first;
  if (column->kind == TCT_COLUMN_NUMBER) return snprintf(buffer, size, "%s", column->name);
  if (column->open) return snprintf(buffer, size, "%s", column->name);
  const json_t *value = json_array_get(column->values, (size_t)(k + column->dropped));
  return snprintf(buffer, size, "%s=%s", column->name, json_string_value(value));
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
      return tct_schema_wrong(schema, column->name, "a value is listed twice; list it once", err);
    }
    uint32_t h = hash(text, length), at = h & column->slot_mask;
    while (column->slot[at].text) at = (at + 1) & column->slot_mask;
    column->slot[at] = (tct_slot){text, length, h, k};
  }
  return TCT_OK;
}

/* A missing value is marked by a feature of its own; in schemas with terms. */
static bool is_flag(const tct_schema *schema, const json_t *value) {
  return schema->version >= TCT_SCHEMA_TERMS && json_is_string(value) && !strcmp(json_string_value(value), "indicator");
}

/* "missing" or "other" of a category: "refuse" (default), "zero", or a listed value. */
static tct_status category_rule(const tct_schema *schema, tct_column *column, const json_t *value, tct_when *when,
                                int32_t *listed, tct_error *err) {
  *when = TCT_WHEN_REFUSE;
  if (!value) return TCT_OK;
  if (!json_is_string(value)) {
    return tct_schema_wrong(schema, column->name,
                            "\"missing\" and \"other\" are \"zero\", \"refuse\" or a listed value; choose one", err);
  }
  const char *text = json_string_value(value);
  *listed = tct_column_find(column, text, (int64_t)json_string_length(value));
  bool zero = strcmp(text, "zero") == 0, refuse = strcmp(text, "refuse") == 0;
  if (*listed < 0 && is_flag(schema, value) && when == &column->missing) {
    *when = TCT_WHEN_FLAG;
    return TCT_OK;
  }
  if (*listed >= 0 && (zero || refuse)) {
    return tct_schema_wrong(schema, column->name, "a rule's word is also a listed value; rename that value in the data",
                            err);
  }
  if (*listed < 0 && !zero && !refuse) {
    return tct_schema_wrong(schema, column->name, "\"missing\" or \"other\" names a value that is not listed; list it",
                            err);
  }
  *when = zero ? TCT_WHEN_ZERO : refuse ? TCT_WHEN_REFUSE : TCT_WHEN_VALUE;
  return TCT_OK;
}

static tct_status estimate_flag(const tct_schema *schema, const tct_column *column, const json_t *object, bool *is_open,
                                tct_error *err) {
  const json_t *estimate = json_object_get(object, "estimate");
  *is_open = json_is_true(estimate);
  if (*is_open && schema->version >= TCT_SCHEMA_TERMS)
    return tct_schema_wrong(
        schema, column->name,
        "a schema of version 2 has the bounds and values of all its columns; write them, or estimate "
        "them under version 1",
        err);
  if (!estimate || json_is_boolean(estimate)) return TCT_OK;
  return tct_schema_wrong(schema, column->name, "\"estimate\" must be true or false; write one of them", err);
}

/* "missing" of a column about which an estimate finds out; "zero" goes with categories alone. */
static tct_status open_missing(const tct_schema *schema, tct_column *column, const json_t *value, tct_error *err) {
  const char *word = value ? json_string_value(value) : "refuse";
  bool estimate = word && strcmp(word, "estimate") == 0;
  bool zero = word && column->kind == TCT_COLUMN_CATEGORY && strcmp(word, "zero") == 0;
  column->missing = estimate ? TCT_WHEN_ESTIMATE : zero ? TCT_WHEN_ZERO : TCT_WHEN_REFUSE;
  if (estimate || zero || (word && strcmp(word, "refuse") == 0)) return TCT_OK;
  return tct_schema_wrong(
      schema, column->name,
      "a column that is estimated takes no missing value of its own; write \"estimate\" or \"refuse\"", err);
}

/* "estimate": bounds or list are not known, and an estimate pays for them.  Texts outside of the list become zeros. */
static tct_status parse_open(tct_schema *schema, tct_column *column, const json_t *object, tct_error *err) {
  if (json_object_get(object, "lower") || json_object_get(object, "upper") || json_object_get(object, "values"))
    return tct_schema_wrong(schema, column->name,
                            "bounds or values are there, and yet they are to be estimated; remove one of the two", err);
  if (json_object_get(object, "other") || json_object_get(object, "drop_first"))
    return tct_schema_wrong(schema, column->name,
                            "an estimated list keeps all values, and others are zero; remove these keys", err);
  column->open = column->kind == TCT_COLUMN_CATEGORY;
  column->raw = !column->open;
  column->features = 1;
  schema->open++, schema->lists += column->open;
  if (column->open && !schema->words && !(schema->words = tct_words_new())) return tct_fail_memory(err);
  return open_missing(schema, column, json_object_get(object, "missing"), err);
}

/* The value that the others are compared with: the first, where none is named.  A record without any counts as it. */
static tct_status reference_of(const tct_schema *schema, tct_column *column, const json_t *object, tct_error *err) {
  const json_t *given = json_object_get(object, "reference");
  if (json_object_get(object, "drop_first"))
    return tct_schema_wrong(schema, column->name,
                            "a schema of version 2 names the value that has no feature; write it "
                            "as \"reference\" in place of \"drop_first\"",
                            err);
  if (given)
    column->reference = tct_column_find(column, json_is_string(given) ? json_string_value(given) : "",
                                        (int64_t)json_string_length(given));
  if (column->reference < 0)
    return tct_schema_wrong(schema, column->name, "\"reference\" names a value that is not listed; list it", err);
  if (column->missing == TCT_WHEN_ZERO) column->missing = TCT_WHEN_VALUE, column->missing_listed = column->reference;
  if (column->other == TCT_WHEN_ZERO) column->other = TCT_WHEN_VALUE, column->other_listed = column->reference;
  column->features = column->listed;
  return TCT_OK;
}

static tct_status parse_category(tct_schema *schema, tct_column *column, const json_t *object, tct_error *err) {
  bool is_open;
  TCT_TRY(tct_schema_keys(schema, object,
                          "name type values missing other drop_first reference estimate estimated comment", err));
  TCT_TRY(estimate_flag(schema, column, object, &is_open, err));
  if (is_open) return parse_open(schema, column, object, err);
  schema->estimated |= json_object_get(object, "estimated") != NULL;
  column->values = json_object_get(object, "values");
  TCT_TRY(tct_schema_texts(schema, column->name, column->values, 1, err));
  column->listed = (int32_t)json_array_size(column->values);
  TCT_TRY(index_values(schema, column, err));
  TCT_TRY(category_rule(schema, column, json_object_get(object, "missing"), &column->missing, &column->missing_listed,
                        err));
  TCT_TRY(category_rule(schema, column, json_object_get(object, "other"), &column->other, &column->other_listed, err));
  if (schema->version >= TCT_SCHEMA_TERMS) return reference_of(schema, column, object, err);
  const json_t *drop = json_object_get(object, "drop_first");
  if (drop && !json_is_boolean(drop)) {
    return tct_schema_wrong(schema, column->name, "\"drop_first\" must be true or false; write one of them", err);
  }
  column->dropped = json_is_true(drop);
  column->features = column->listed - column->dropped;
  return TCT_OK;
}

static tct_status parse_number(tct_schema *schema, tct_column *column, const json_t *object, tct_error *err) {
  bool is_open;
  TCT_TRY(tct_schema_keys(schema, object, "name type lower upper missing estimate estimated comment", err));
  TCT_TRY(estimate_flag(schema, column, object, &is_open, err));
  if (is_open) return parse_open(schema, column, object, err);
  schema->estimated |= json_object_get(object, "estimated") != NULL;
  TCT_TRY(tct_schema_bounds(schema, column->name, object, &column->lower, &column->upper, err));
  column->features = 1;
  const json_t *missing = json_object_get(object, "missing");
  if (is_flag(schema, missing)) column->missing = TCT_WHEN_FLAG;
  if (!missing || column->missing == TCT_WHEN_FLAG ||
      (json_is_string(missing) && strcmp(json_string_value(missing), "refuse") == 0))
    return TCT_OK;
  if (!json_is_number(missing)) {
    return tct_schema_wrong(
        schema, column->name,
        "\"missing\" of a number is a number, \"refuse\", or in a schema of version 2 \"indicator\"; "
        "write one of them",
        err);
  }
  column->missing = TCT_WHEN_VALUE;
  return tct_schema_real(schema, column->name, missing, "missing", &column->missing_number, err);
}

static bool date_at(const json_t *object, const char *key, double *days) {
  const json_t *value = json_object_get(object, key);
  return json_is_string(value) && tct_date_parse(json_string_value(value), (int64_t)json_string_length(value), days) &&
         json_string_length(value) == 10;
}

static tct_status parse_date(tct_schema *schema, tct_column *column, const json_t *object, tct_error *err) {
  const json_t *missing = json_object_get(object, "missing");
  TCT_TRY(tct_schema_keys(schema, object, "name type lower upper missing comment", err));
  if (schema->version < TCT_SCHEMA_TERMS)
    return tct_schema_wrong(schema, column->name, "dates belong to version 2; write \"version\": 2", err);
  if (!date_at(object, "lower", &column->lower) || !date_at(object, "upper", &column->upper) ||
      !(column->lower < column->upper))
    return tct_schema_wrong(
        schema, column->name,
        "\"lower\" and \"upper\" are dates such as \"2024-01-31\", the earlier one first; write both", err);
  column->features = 1;
  if (is_flag(schema, missing)) column->missing = TCT_WHEN_FLAG;
  if (!missing || column->missing == TCT_WHEN_FLAG ||
      (json_is_string(missing) && strcmp(json_string_value(missing), "refuse") == 0))
    return TCT_OK;
  column->missing = TCT_WHEN_VALUE;
  if (date_at(object, "missing", &column->missing_number)) return TCT_OK;
  return tct_schema_wrong(schema, column->name,
                          "\"missing\" of a date is a date, \"refuse\" or \"indicator\"; write one of them", err);
}

static tct_status parse_column(tct_schema *schema, tct_column *column, const json_t *object, tct_error *err) {
  column->name = tct_json_said(object, "name");
  if (!column->name || !column->name[0]) {
    return tct_schema_wrong(schema, NULL, "an entry of \"columns\" has no \"name\"; name the column as the header does",
                            err);
  }
  const char *type = tct_json_said(object, "type");
  if (!type) type = "";
  if (strcmp(type, "number") == 0) {
    column->kind = TCT_COLUMN_NUMBER;
    TCT_TRY(parse_number(schema, column, object, err));
  } else if (strcmp(type, "category") == 0) {
    column->kind = TCT_COLUMN_CATEGORY;
    TCT_TRY(parse_category(schema, column, object, err));
  } else if (strcmp(type, "date") == 0) {
    column->kind = TCT_COLUMN_DATE;
    TCT_TRY(parse_date(schema, column, object, err));
  } else if (strcmp(type, "ignore") == 0) {
    column->kind = TCT_COLUMN_IGNORE;
    schema->estimated |= json_object_get(object, "estimated") != NULL; /* an estimated list with nothing in it */
  } else {
    return tct_schema_wrong(schema, column->name,
                            "\"type\" must be \"number\", \"category\", \"date\" or \"ignore\"; write one of them",
                            err);
  }
  column->first = schema->features;
  schema->features += column->features;
  schema->max += column->features > 0;
  if (schema->features <= TCT_MOST_FEATURES) return TCT_OK;
  return tct_schema_wrong(schema, NULL, "it makes more than 2^31 features; list fewer values", err);
}

tct_status tct_schema_columns(tct_schema *schema, tct_error *err) {
  const json_t *list = json_object_get(schema->root, "columns");
  if (!json_is_array(list) || json_array_size(list) == 0) {
    return tct_schema_wrong(schema, NULL, "there is no \"columns\" list; describe every column of the table there",
                            err);
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
      status = tct_schema_wrong(schema, column->name, "the column is described twice; describe it once", err);
    }
    if (status == TCT_OK && json_object_set_new(seen, column->name, json_true()) != 0) status = tct_fail_memory(err);
  }
  json_decref(seen);
  if (status == TCT_OK && schema->features == 0) {
    status = tct_schema_wrong(schema, NULL, "no column is a feature; describe one as number or category", err);
  }
  return status;
}
