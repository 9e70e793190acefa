/* cmd_predict.c - tacit predict: one number per record, from a model file. */
#define _GNU_SOURCE
#include "cli.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"--output", CLI_CHOICE, offsetof(cli_args, values), "margin|label|probability|mean",
     "margin: w.x + b, of a regression the predicted label, of counts the logarithm of their mean (default); label: 1 "
     "or -1; probability: of +1, logistic loss only; mean: of a count, poisson loss only"},
    {"--interval", CLI_REAL, offsetof(cli_args, level), "LEVEL",
     "lines of prediction,lower,upper: where the population's own prediction lies with this confidence, e.g. 0.95, for "
     "each record by itself; needs a model trained with --errors, and NA stands where there is no interval"},
    {"-o", CLI_TEXT, offsetof(cli_args, output), "FILE", "write there instead of standard output; whole or not at all"},
    {0},
};

typedef enum output_kind { MARGIN, LABEL, PROBABILITY, MEAN } output_kind;

/* Is this loss's margin turned into a prediction by this link? */
static int has_link(const char *loss, const char *link) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(loss, ":"), loss);
  json_t *list = cli_take_json(tct_components_json("loss", name, NULL));
  int yes = !strcmp(cli_string(json_array_get(list, 0), "link"), link);
  json_decref(list);
  return yes;
}

/* Which of the three forms this model can give. */
static int output_of(const cli_args *args, const char *loss, output_kind *kind) {
  tct_config config;
  tct_config_default(&config);
  config.loss = loss;
  int real = tct_config_labels(&config) == TCT_LABELS_REAL, counts = has_link(loss, "log");
  *kind = MARGIN;
  if (!args->values || !strcmp(args->values, "margin") || (real && !counts && !strcmp(args->values, "label"))) return 0;
  *kind = !strcmp(args->values, "mean") || (counts && !strcmp(args->values, "label")) ? MEAN
          : !strcmp(args->values, "label")                                            ? LABEL
                                                                                      : PROBABILITY;
  if (*kind == LABEL || (*kind == MEAN && counts) || (*kind == PROBABILITY && has_link(loss, "logistic"))) return 0;
  if (*kind == MEAN)
    return cli_fail(CLI_USAGE, "this model does not predict counts, so it has no mean count; use --output margin");
  return cli_fail(
      CLI_USAGE,
      "the margins of this model's loss are no log-odds, so it has no probabilities; use --output margin or label");
}

static double converted(double z, output_kind kind) {
  if (kind == LABEL) return z > 0 ? 1 : -1;
  if (kind == PROBABILITY) return 1 / (1 + exp(-z));
  if (kind == MEAN) return z > log(DBL_MAX) ? DBL_MAX : exp(z);
  return z;
}

/* The shortest form that reads back as the same number. */
static void put_number(FILE *file, double value) {
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  fputs(text, file);
}

/* What is written: predictions, and with --interval their ends beside them. */
typedef struct table {
  double *z, *lower, *upper; /* [rows]; lower NULL: no intervals */
  int64_t rows;
  output_kind kind;
} table;

static json_t *real_or_null(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static int print_object(const table *t) {
  json_t *root = json_object(), *values = json_array(), *lower = json_array(), *upper = json_array();
  for (int64_t i = 0; i < t->rows; i++) {
    json_array_append_new(values, json_real(converted(t->z[i], t->kind)));
    if (!t->lower) continue;
    json_array_append_new(lower, real_or_null(converted(t->lower[i], t->kind)));
    json_array_append_new(upper, real_or_null(converted(t->upper[i], t->kind)));
  }
  json_object_set_new(root, "rows", json_integer(t->rows));
  json_object_set_new(root, "predictions", values);
  if (t->lower) json_object_set(root, "lower", lower), json_object_set(root, "upper", upper);
  json_decref(lower);
  json_decref(upper);
  int code = cli_print_json(root);
  json_decref(root);
  return code;
}

static void put_line(FILE *file, const table *t, int64_t i) {
  put_number(file, converted(t->z[i], t->kind));
  for (int end = 0; end < 2 && t->lower; end++) {
    double value = converted(end ? t->upper[i] : t->lower[i], t->kind);
    fputc(',', file);
    if (isfinite(value))
      put_number(file, value);
    else
      fputs("NA", file);
  }
  fputc('\n', file);
}

static int write_numbers(const cli_args *args, const table *t) {
  cli_sink sink;
  if (args->json && !args->output) return print_object(t); /* nothing but the object may stand on standard output */
  int code = cli_sink_open(&sink, args->output);
  if (code) return code;
  for (int64_t i = 0; i < t->rows && !ferror(sink.file); i++) put_line(sink.file, t, i);
  code = cli_sink_commit(&sink);
  if (code || !args->json) return code;
  json_t *root = json_pack("{s:I, s:s}", "rows", (json_int_t)t->rows, "output", args->output);
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
  double *z = calloc(3 * (size_t)rows + 1, sizeof *z);
  table t = {.z = z, .rows = rows, .kind = kind};
  if (z && !isnan(args->level)) t.lower = z + rows, t.upper = t.lower + rows;
  if (!z)
    code = cli_fail(CLI_RUN, "out of memory; use a machine with more memory");
  else if (tct_predict(model, data, z, &err) != TCT_OK ||
           (t.lower && tct_predict_interval(model, data, args->level, t.lower, t.upper, &err) != TCT_OK))
    code = cli_fail_error(&err);
  else
    code = write_numbers(args, &t);
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
  if (!code && !isnan(args->level) && kind == LABEL)
    code = cli_fail(CLI_USAGE, "a label has no interval; use --output margin or probability with --interval");
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
        "  tacit predict model.json new.csv --output probability -o probabilities.txt\n"
        "  tacit predict model.json new.csv --output probability --interval 0.95\n",
    .min = 2,
    .max = 2,
    .options = {options, cli_read_options, cli_common_options},
    .run = run_predict,
};
