/* reading.c - how a model's own records are read: its schema, its label, its number of features. */
#include "cli.h"

tct_labels cli_labels(const tct_config *config) {
  tct_labels labels = tct_config_labels(config);
  return labels == TCT_LABELS_BINARY ? TCT_LABELS_CLASSES : labels;
}

int cli_model_reading(cli_args *args, const tct_model *model, json_t **keep) {
  tct_error err = {0};
  tct_config config;
  char *text = tct_model_json(model, &err);
  if (!text) return cli_fail_error(&err);
  *keep = cli_take_json(text);
  if (!*keep) return CLI_RUN;
  tct_config_default(&config);
  config.loss = cli_string(*keep, "loss");
  args->read.labels = cli_labels(&config);
  if (!args->read.schema_path) args->read.schema_text = tct_model_schema(model);
  if (!args->read.label && !args->read.schema_path && !args->read.schema_text && *cli_string(*keep, "label"))
    args->read.label = cli_string(*keep, "label");
  if (!args->read.cols) args->read.cols = tct_model_cols(model);
  return cli_classes_of_model(args, model);
}
