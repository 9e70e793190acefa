/* describe.c - names, bounds and text of a schema, for the table that holds its features. */
#include "read/describe.h"

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

/* The label as the schema would say it, also where the caller did. */
static json_t *follow_up(const tct_schema *schema) {
  return json_pack("{s:s, s:s, s:f, s:s*}", "time", schema->label, "event", schema->event, "horizon",
                   schema->label_high, "positive", schema->positive);
}

tct_status tct_schema_describe(const tct_schema *schema, tct_data *data, tct_error *err) {
  TCT_TRY(name_features(schema, data, err));
  data->label_low = schema->label_low;
  data->label_high = schema->label_high;
  data->open = schema->open;
  data->words = tct_words_share(schema->words);
  if (!schema->root) return TCT_OK;
  json_t *root = json_copy(schema->root);
  if (root && schema->event) json_object_set_new(root, "label", follow_up(schema));
  TCT_TRY(tct_json_keep(root, &data->schema, err));
  if (schema->estimated) TCT_TRY(tct_data_unaccounted(data, TCT_ESTIMATED_ELSEWHERE, err));
  if (!schema->drafted) return TCT_OK;
  return tct_data_unaccounted(
      data, "the schema is a draft made from data: its bounds, categories and label values are not public knowledge",
      err);
}
