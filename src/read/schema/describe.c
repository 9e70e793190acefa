/* describe.c - names, bounds and text of a schema, for the table that holds its features. */
#include "read/schema/describe.h"

#include "core/json_text.h"
#include "core/alloc.h"

/* One allocation: the pointers, then the texts. */
static tct_status name_features(const tct_schema *schema, tct_data *data, tct_error *err) {
  int64_t bytes = schema->features * (int64_t)sizeof(char *);
  for (int64_t j = 0; j < schema->features; j++) bytes += tct_schema_feature(schema, j, NULL, 0) + 1;
  data->names = tct_alloc(bytes, 1);
  if (!data->names) return tct_fail_memory(err);
  char *at = (char *)(data->names + schema->features), *end = (char *)data->names + bytes;
  for (int64_t j = 0; j < schema->features; j++) {
    data->names[j] = at;
    at += tct_schema_feature(schema, j, at, (size_t)(end - at)) + 1;
  }
  return TCT_OK;
}

tct_status tct_schema_describe(const tct_schema *schema, tct_data *data, tct_error *err) {
  TCT_TRY(name_features(schema, data, err));
  data->label_low = schema->label_low;
  data->label_high = schema->label_high;
  data->open = schema->open;
  data->words = tct_words_share(schema->words);
  if (!schema->root) return TCT_OK;
  data->schema = tct_json_dump(schema->root, JSON_COMPACT | JSON_REAL_PRECISION(17));
  if (!data->schema) return tct_fail_memory(err);
  if (schema->estimated) TCT_TRY(tct_data_unaccounted(data, TCT_ESTIMATED_ELSEWHERE, err));
  if (!schema->drafted) return TCT_OK;
  return tct_data_unaccounted(
      data, "the schema is a draft made from data: its bounds, categories and label values are not public knowledge",
      err);
}
