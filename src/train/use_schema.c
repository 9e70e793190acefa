/* use_schema.c - public bounds of a schema become the row norm and the label bound. */
#include "model/json.h"
#include "train/plan.h"

#include <math.h>
#include <string.h>

/* Labels within [low, high]: their middle is taken off, but counts stay as they are. */
static void use_labels(tct_config *config, double low, double high) {
  tct_loss loss;
  bool counts = config->loss && tct_loss_make(config->loss, &loss, NULL) == TCT_OK && loss.kind->counts;
  config->label_shift = counts ? 0 : (low + high) / 2;
  config->label_bound = counts ? high : (high - low) / 2;
}

tct_status tct_config_use_schema(tct_config *config, const tct_data *data, tct_error *err) {
  tct_config own;
  tct_error_clear(err);
  TCT_TRY(tct_config_take(config, &own, err));
  if (!data->schema) return TCT_OK;
  json_t *schema = json_loads(data->schema, 0, NULL);
  const json_t *columns = json_object_get(schema, "columns");
  double squares = config->intercept ? 1 : 0;
  for (size_t j = 0; j < json_array_size(columns); j++) {
    const char *type = json_string_value(json_object_get(json_array_get(columns, j), "type"));
    squares += type && strcmp(type, "ignore") != 0; /* a number scaled into [-1,1], or one indicator */
  }
  if (isnan(config->row_norm) && squares > 0) config->row_norm = sqrt(squares);
  if (isnan(config->label_bound) && isfinite(data->label_low) && isfinite(data->label_high) && config->label_shift == 0)
    use_labels(config, data->label_low, data->label_high);
  json_decref(schema);
  return TCT_OK;
}
