/* cmd_predict.c - tacit predict: one number per record, from a model file. */
#define _GNU_SOURCE
#include "cli.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"--output", CLI_CHOICE, offsetof(cli_args, values), "margin|label|probability",
     "margin: w.x + b, of a regression the predicted label (default); label: 1 or -1; probability: of +1, logistic "
     "loss only"},
    {"-o", CLI_TEXT, offsetof(cli_args, output), "FILE", "write there instead of standard output; whole or not at all"},
    {0},
};

typedef enum output_kind { MARGIN, LABEL, PROBABILITY } output_kind;

/* Is the margin of this loss the log-odds of +1? */
static int has_log_odds(const char *loss) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(loss, ":"), loss);
  json_t *list = cli_take_json(tct_components_json("loss", name, NULL));
  int yes = !strcmp(cli_string(json_array_get(list, 0), "link"), "logistic");
  json_decref(list);
  return yes;
}

/* Which of the three forms this model can give. */
static int output_of(const cli_args *args, const char *loss, output_kind *kind) {
  tct_config config;
  tct_config_default(&config);
  config.loss = loss;
  int real = tct_config_labels(&config) == TCT_LABELS_REAL, logistic = has_log_odds(loss);
  *kind = MARGIN;
  if (!args->values || !strcmp(args->values, "margin") || (real && !strcmp(args->values, "label"))) return 0;
  *kind = !strcmp(args->values, "label") ? LABEL : PROBABILITY;
  if (*kind == LABEL || logistic) return 0;
  return cli_fail(
      CLI_USAGE,
      "the margins of this model's loss are no log-odds, so it has no probabilities; use --output margin or label");
}

static double converted(double z, output_kind kind) {
  if (kind == LABEL) return z > 0 ? 1 : -1;
  if (kind == PROBABILITY) return 1 / (1 + exp(-z));
  return z;
}

/* The shortest form that reads back as the same number. */
static void put_number(FILE *file, double value) {
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  fprintf(file, "%s\n", text);
}

static int write_numbers(const cli_args *args, const double *z, int64_t rows, output_kind kind) {
  cli_sink sink;
  int code = args->json && !args->output ? 0 : cli_sink_open(&sink, args->output);
  if (code) return code;
  if (args->json && !args->output) { /* nothing but the object may stand on standard output */
    json_t *root = json_object(), *values = json_array();
    for (int64_t i = 0; i < rows; i++) json_array_append_new(values, json_real(converted(z[i], kind)));
    json_object_set_new(root, "rows", json_integer(rows));
    json_object_set_new(root, "predictions", values);
    code = cli_print_json(root);
    json_decref(root);
    return code;
  }
  for (int64_t i = 0; i < rows && !ferror(sink.file); i++) put_number(sink.file, converted(z[i], kind));
  code = cli_sink_commit(&sink);
  if (code || !args->json) return code;
  json_t *root = json_pack("{s:I, s:s}", "rows", (json_int_t)rows, "output", args->output);
  code = root ? cli_print_json(root) : cli_fail(CLI_RUN, "out of memory; close other programs");
  json_decref(root);
  return code;
}

static int predict(cli_args *args, const tct_model *model, output_kind kind) {
  tct_error err = {0};
  int code = 0;
  tct_data *data = tct_data_read(args->operand[1], &args->read, &err);
  if (!data) return cli_fail_error(&err);
  int64_t rows = tct_data_rows(data);
  double *z = calloc((size_t)rows + 1, sizeof *z);
  if (!z)
    code = cli_fail(CLI_RUN, "out of memory; use a machine with more memory");
  else if (tct_predict(model, data, z, &err) != TCT_OK)
    code = cli_fail_error(&err);
  else
    code = write_numbers(args, z, rows, kind);
  free(z);
  tct_data_free(data);
  return code;
}

static int run_predict(cli_args *args) {
  tct_error err = {0};
  json_t *keep = NULL;
  output_kind kind = MARGIN;
  tct_model *model = tct_model_read(args->operand[0], &err);
  if (!model) return cli_fail_error(&err);
  int code = cli_model_reading(args, model, &keep);
  args->read.labels = TCT_LABELS_NONE;
  if (!code) code = output_of(args, cli_string(keep, "loss"), &kind);
  if (!code) code = predict(args, model, kind);
  json_decref(keep);
  tct_model_free(model);
  return code;
}

const cli_verb cli_predict = {
    .name = "predict",
    .operands = "MODEL.json DATA [OPTION...]",
    .summary = "Writes one number per line, the model's prediction for each record of DATA.",
    .details =
        "The model's own schema and transforms are applied. A label column in DATA is left alone if the schema\n"
        "names it; without a schema name it with --label so that it is not taken for a feature.\n"
        "\n"
        "Examples\n"
        "  tacit predict model.json new.csv > margins.txt\n"
        "  tacit predict model.json new.csv --output probability -o probabilities.txt\n",
    .min = 2,
    .max = 2,
    .options = {options, cli_read_options, cli_common_options},
    .run = run_predict,
};
