/* use_schema.c - public bounds of a schema become the row norm and the label bound. */
#include "read/schema/schema.h"
#include "solve/rules.def"
#include "train/plan.h"

#include <math.h>
#include <string.h>

/* Labels within [low, high]: their middle is taken off.  Counts and amounts stay as they are.  So do the labels of a
 * model without an intercept: the middle would be one. */
static void use_labels(tct_config *config, double low, double high) {
  tct_loss loss;
  bool counts = config->loss && tct_loss_make(config->loss, &loss, NULL) == TCT_OK && tct_loss_from_zero(&loss);
  bool moved = !counts && config->intercept;
  config->label_shift = moved ? (low + high) / 2 : 0;
  config->label_bound = moved ? (high - low) / 2 : counts ? high : fmax(fabs(low), fabs(high));
}

/* Of a record without its intercept.  Each column in use adds at most 1: a number within [-1, 1], or one indicator.  A
 * term adds the square of its share (design.h). */
static double most_squares(const json_t *schema) {
  const json_t *columns = json_object_get(schema, "columns"), *terms = json_object_get(schema, "terms");
  double squares = 0;
  for (size_t j = 0; j < json_array_size(terms); j++) {
    const json_t *share = json_object_get(json_array_get(terms, j), "share");
    squares += share ? json_number_value(share) * json_number_value(share) : 1;
  }
  for (size_t j = 0; !terms && j < json_array_size(columns); j++) {
    const char *type = tct_json_said(json_array_get(columns, j), "type");
    squares += type && strcmp(type, "ignore") != 0;
  }
  return squares;
}

void tct_config_take_bounds(tct_config *config, const json_t *schema, double label_low, double label_high) {
  double squares = most_squares(schema) + (config->intercept ? 1 : 0);
  if (isnan(config->row_norm) && squares > 0) config->row_norm = sqrt(squares);
  if (isnan(config->label_bound) && isfinite(label_low) && isfinite(label_high) && config->label_shift == 0)
    use_labels(config, label_low, label_high);
}

bool tct_data_in_units(const tct_data *data) {
  json_t *schema = data->schema ? json_loads(data->schema, 0, NULL) : NULL;
  bool units = schema && json_integer_value(json_object_get(schema, "version")) < TCT_SCHEMA_TERMS &&
               !tct_json_says(schema, "scale", "symmetric");
  json_decref(schema);
  return units;
}

/* Of every record one indicator of this category is 1: they add up to 1, as the intercept does. */
static bool adds_up(const json_t *column) {
  return tct_json_says(column, "type", "category") && json_object_get(column, "values") &&
         !json_is_true(json_object_get(column, "drop_first")) && !tct_json_says(column, "missing", "zero") &&
         !tct_json_says(column, "other", "zero");
}

/* A ridge that tells columns apart whose sum is another's. */
static bool ridged(const tct_config *config) {
  tct_penalty penalty;
  return config->penalty && tct_penalty_make(config->penalty, &penalty, NULL) == TCT_OK &&
         penalty.l2 >= auto_ridge_of_levels;
}

/* No error of such a column is known, whatever the records are.  Terms are coded so that there is none. */
static tct_status check_levels(const tct_config *config, const json_t *schema, tct_error *err) {
  const json_t *columns = json_object_get(schema, "columns");
  int found = config->intercept ? 1 : 0;
  if (!config->errors || !strcmp(config->errors, "none") || ridged(config)) return TCT_OK;
  if (json_integer_value(json_object_get(schema, "version")) >= TCT_SCHEMA_TERMS) return TCT_OK;
  for (size_t j = 0; j < json_array_size(columns); j++) {
    const json_t *column = json_array_get(columns, j);
    if (!adds_up(column) || ++found < 2) continue;
    return tct_fail(
        err, TCT_E_USAGE,
        "the indicators of \"%.200s\" add up to 1, as the intercept or another column's do, so that none of "
        "their errors is determined; write \"drop_first\": true there, or leave {errors} out",
        tct_json_said(column, "name"));
  }
  return TCT_OK;
}

static tct_status use_data(tct_config *config, const tct_data *data, int64_t *cols, tct_error *err) {
  if (data->open > 0)
    return tct_fail(err, TCT_E_USAGE,
                    "the schema leaves the bounds of %lld columns to an estimate; add {estimate}, or give the bounds",
                    (long long)data->open);
  if (cols) *cols = data->x.cols;
  if (data->follow_up && isnan(config->label_bound)) config->label_bound = data->label_high;
  if (!data->schema) return TCT_OK;
  json_t *schema = json_loads(data->schema, 0, NULL);
  tct_config_take_bounds(config, schema, data->label_low, data->label_high);
  tct_status status = check_levels(config, schema, err);
  json_decref(schema);
  return status;
}

static tct_status use_file(tct_config *config, const char *path, int64_t *cols, tct_error *err) {
  tct_schema schema = {0};
  tct_status status = tct_schema_load(&schema, path, NULL, &tct_limits_default, err);
  if (status == TCT_OK) {
    tct_config_take_bounds(config, schema.root, schema.label_low, schema.label_high);
    if (cols) *cols = schema.features;
    status = check_levels(config, schema.root, err);
  }
  tct_schema_free(&schema);
  return status;
}

tct_status tct_config_use_schema(tct_config *config, const tct_data *data, const char *path, int64_t *cols,
                                 tct_error *err) {
  tct_config own;
  tct_error_clear(err);
  TCT_TRY(tct_config_take(config, &own, err));
  if (!data == !path) return tct_fail(err, TCT_E_USAGE, "one schema is needed; give the data, or the schema's file");
  return data ? use_data(config, data, cols, err) : use_file(config, path, cols, err);
}

static tct_status same_names(const tct_model *model, const tct_schema *schema, tct_error *err) {
  bool same = model->cols == schema->features;
  char name[256];
  for (int64_t j = 0; j < model->cols && same; j++) {
    tct_schema_feature(schema, j, name, sizeof name);
    same = strncmp(name, model->features[j], sizeof name - 1) == 0;
  }
  return same ? TCT_OK : tct_fail(err, TCT_E_DATA, "the schema in the file makes other features than the file names");
}

tct_status tct_model_made_by_schema(const tct_model *model, tct_error *err) {
  tct_schema schema = {0};
  tct_status status = tct_schema_load(&schema, NULL, model->schema, &tct_limits_default, err);
  if (status == TCT_OK) status = same_names(model, &schema, err);
  tct_schema_free(&schema);
  return status;
}
