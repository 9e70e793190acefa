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
  if (!args->read.cols) tct_model_shape(model, NULL, &args->read.cols);
  return cli_classes_of_model(args, model);
}

int cli_public_shape(cli_args *args, int64_t *rows, int64_t *cols) {
  tct_error err = {0};
  const char *schema = args->read.schema_path;
  if (args->shape && schema)
    return cli_fail(CLI_USAGE,
                    "--shape and --schema both say how many features there are; give --schema and --records N");
  if (args->records && !schema)
    return cli_fail(CLI_USAGE, "--records belongs to --schema; without one give --shape N,P");
  if (schema && !args->records) return cli_fail(CLI_USAGE, "--schema needs --records N, the public number of records");
  if (!schema && !args->shape)
    return cli_fail(CLI_USAGE, "the public shape is missing; give --schema and --records N, or --shape N,P");
  if (!schema) return cli_shape(args->shape, rows, cols);
  *rows = args->records;
  return tct_config_use_schema(&args->config, NULL, schema, cols, &err) == TCT_OK ? 0 : cli_fail_error(&err);
}
