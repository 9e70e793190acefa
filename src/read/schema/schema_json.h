/* schema_json.h - what the parts of a schema's reader share: keys, numbers and lists of its JSON, and its errors. */
#ifndef TCT_READ_SCHEMA_SCHEMA_JSON_H
#define TCT_READ_SCHEMA_SCHEMA_JSON_H
#include "read/schema/schema.h"

enum { TCT_MOST_FEATURES = INT32_MAX - 1 };

/* An error about a schema, with the name of the column in it (NULL = none). */
tct_status tct_schema_wrong(const tct_schema *schema, const char *column, const char *text, tct_error *err);
/* Refuses keys outside the list `allowed`. */
tct_status tct_schema_keys(const tct_schema *schema, const json_t *object, const char *allowed, tct_error *err);
/* key: as the error calls it. */
tct_status tct_schema_real(const tct_schema *schema, const char *column, const json_t *value, const char *key,
                           double *out, tct_error *err);
/* "lower" and "upper" of a column or label. */
tct_status tct_schema_bounds(const tct_schema *schema, const char *column, const json_t *object, double *lower,
                             double *upper, tct_error *err);
/* A list of texts, at least `min`. */
tct_status tct_schema_texts(const tct_schema *schema, const char *column, const json_t *list, int64_t min,
                            tct_error *err);
/* "columns" and "terms" of schema->root. */
tct_status tct_schema_columns(tct_schema *schema, tct_error *err);
tct_status tct_schema_terms(tct_schema *schema, tct_error *err);
/* "weight", "exposure" and "offset" of it, after the columns. */
tct_status tct_schema_besides(tct_schema *schema, tct_error *err);
#endif
