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
     "margin: w.x + b, of a regression the predicted label, of counts the logarithm of their mean; label: the name of "
     "the predicted class, or 1 and -1 where the model names none; probability: of the positive class, logistic loss "
     "only; mean: of a count, poisson loss only. A model of several classes gives a margin or probability for each, in "
     "its order, with commas between",
     "mean of counts, else margin", "probability"},
    {"--interval", CLI_REAL, offsetof(cli_args, level), "LEVEL",
     "lines of prediction,lower,upper: where the population's own prediction lies with this confidence, strictly "
     "between 0 and 1, for each record by itself; needs a model trained with --errors, and NA stands where there is no "
     "interval",
     "no interval", "0.95"},
    {"--at", CLI_REAL, offsetof(cli_args, at), "TIME",
     "the chance of an event up to this time, above 0 and within the horizon, of a Cox regression", "no time", "365"},
    {"--id", CLI_TEXT, offsetof(cli_args, id), "COLUMN",
     "column of a CSV or JSONL table that comes first on each line, as it is written there; it is no feature",
     "predictions alone", "visit_id"},
    {"--header", CLI_FLAG, offsetof(cli_args, header), NULL,
     "begin with a line of names: that of the id, then margin, label, probability, mean or prediction, or the class of "
     "each number, then lower and upper",
     "no such line", NULL},
    {"-o", CLI_OUT_STREAM, offsetof(cli_args, output), "FILE",
     "write there instead of standard output; whole or not at all", "standard output", "predictions.txt"},
    {0},
};

typedef enum output_kind { MARGIN, LABEL, PROBABILITY, MEAN, SHARE, RISK } output_kind; /* SHARE: of all, by softmax */

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
  int softmax = has_link(loss, "softmax"), odds = softmax || has_link(loss, "logistic");
  *kind = counts && !args->values ? MEAN : MARGIN;
  if (!args->values || !strcmp(args->values, "margin") || (real && !counts && !strcmp(args->values, "label"))) return 0;
  *kind = !strcmp(args->values, "mean") || (counts && !strcmp(args->values, "label")) ? MEAN
          : !strcmp(args->values, "label")                                            ? LABEL
          : softmax                                                                   ? SHARE
                                                                                      : PROBABILITY;
  if (*kind == LABEL || (*kind == MEAN && counts) || (*kind >= PROBABILITY && *kind != MEAN && odds)) return 0;
  if (*kind == MEAN)
    return cli_fail(CLI_USAGE, "this model does not predict counts, so it has no mean count; use --output margin");
  return cli_fail(
      CLI_USAGE,
      "the margins of this model's loss are no log-odds, so it has no probabilities; use --output margin or label");
}

static double converted(double z, output_kind kind) {
  if (kind == PROBABILITY) return 1 / (1 + exp(-z));
  if (kind == MEAN) return z > log(DBL_MAX) ? DBL_MAX : exp(z);
  return z;
}

/* One against the rest: each class has its own log-odds, and their probabilities are made to sum to 1. */
static void share(double *z, int64_t count, output_kind kind) {
  double sum = 0, max = z[0];
  for (int64_t k = 1; k < count; k++) max = fmax(max, z[k]);
  for (int64_t k = 0; k < count; k++) sum += z[k] = kind == SHARE ? exp(z[k] - max) : converted(z[k], PROBABILITY);
  for (int64_t k = 0; k < count; k++) z[k] = sum > 0 ? z[k] / sum : 1 / (double)count;
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
  double *z;              /* [rows][width] */
  double *lower, *upper;  /* [rows]; NULL: no intervals */
  int32_t *code;          /* [rows] predicted classes; NULL: no labels */
  const tct_model *model; /* the names of classes */
  const char *keys;       /* the records' ids, each ended by a 0 byte; NULL: none */
  int64_t rows, width;
  output_kind kind;
  int real;       /* the labels are numbers */
  int header;     /* a line of names comes first */
  const char *id; /* the name of the ids, or NULL */
} table;

static json_t *real_or_null(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *label_value(const table *t, int64_t i) {
  const char *name = tct_model_class(t->model, t->code[i]);
  tct_class_kind kind;
  if (!tct_model_classes(t->model, &kind)) return json_real(t->code[i] ? 1 : -1);
  if (!name || kind == TCT_CLASS_TEXT) return name ? json_string(name) : json_null();
  return json_loads(name, JSON_DECODE_ANY, NULL);
}

static json_t *value_of(const table *t, int64_t i) {
  if (t->code) return label_value(t, i);
  if (t->width == 1) return json_real(converted(t->z[i], t->kind));
  json_t *row = json_array();
  for (int64_t k = 0; k < t->width; k++) json_array_append_new(row, json_real(t->z[i * t->width + k]));
  return row;
}

static int print_object(const table *t) {
  json_t *root = json_object(), *values = json_array(), *lower = json_array(), *upper = json_array();
  json_t *ids = json_array();
  const char *key = t->keys;
  for (int64_t i = 0; i < t->rows; i++) {
    if (key) json_array_append_new(ids, json_string(key)), key += strlen(key) + 1;
    json_array_append_new(values, value_of(t, i));
    if (!t->lower) continue;
    json_array_append_new(lower, real_or_null(converted(t->lower[i], t->kind)));
    json_array_append_new(upper, real_or_null(converted(t->upper[i], t->kind)));
  }
  json_object_set_new(root, "rows", json_integer(t->rows));
  json_object_set_new(root, "predictions", values);
  if (key) json_object_set(root, "ids", ids);
  json_decref(ids);
  if (t->lower) json_object_set(root, "lower", lower), json_object_set(root, "upper", upper);
  json_decref(lower);
  json_decref(upper);
  int code = key && json_array_size(json_object_get(root, "ids")) != (size_t)t->rows
                 ? cli_fail(CLI_DATA, "an id is no UTF-8 text; save the table as UTF-8, or leave --json away")
                 : cli_print_json(root);
  json_decref(root);
  return code;
}

/* A name in quotes where it would break the line of a table. */
static void put_name(FILE *file, const char *name) {
  int quoted = name[strcspn(name, ",\"\r\n")] != 0;
  if (quoted) fputc('"', file);
  for (const char *at = name; *at; at++) {
    if (*at == '"') fputc('"', file);
    fputc(*at, file);
  }
  if (quoted) fputc('"', file);
}

/* All that is not the positive class may have no name of its own. */
static void put_label(FILE *file, const table *t, int64_t i) {
  const char *name = tct_model_class(t->model, t->code[i]);
  if (!tct_model_classes(t->model, NULL))
    fputs(t->code[i] ? "1" : "-1", file);
  else if (!name)
    fputs("not ", file), name = tct_model_class(t->model, 1);
  if (name) put_name(file, name);
}

/* What a number without a class of its own is called. */
static const char *name_of(const table *t) {
  if (t->code) return "label";
  if (t->kind == PROBABILITY) return "probability";
  if (t->kind == MEAN) return "mean";
  if (t->kind == RISK) return "risk";
  return t->real ? "prediction" : "margin";
}

static void put_header(FILE *file, const table *t, const char *id) {
  if (id) put_name(file, id), fputc(',', file);
  if (t->width == 1 || t->code) fputs(name_of(t), file);
  for (int64_t k = 0; k < t->width && t->width > 1 && !t->code; k++) {
    if (k) fputc(',', file);
    put_name(file, tct_model_class(t->model, k));
  }
  fputs(t->lower ? ",lower,upper\n" : "\n", file);
}

static void put_line(FILE *file, const table *t, int64_t i) {
  if (t->code) put_label(file, t, i);
  for (int64_t k = 0; k < t->width && !t->code; k++) {
    if (k) fputc(',', file);
    put_number(file, t->width > 1 ? t->z[i * t->width + k] : converted(t->z[i], t->kind));
  }
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

static void put_table(FILE *file, void *user) {
  const table *t = user;
  if (t->header) put_header(file, t, t->id);
  const char *key = t->keys;
  for (int64_t i = 0; i < t->rows && !ferror(file); i++) {
    if (key) put_name(file, key), fputc(',', file), key += strlen(key) + 1;
    put_line(file, t, i);
  }
}

static int write_numbers(const cli_args *args, table *t) {
  if (args->json && cli_is_stdout(args->output))
    return print_object(t); /* nothing but the object may stand on standard output */
  int code = cli_write(args->output, put_table, t);
  if (code || !args->json) return code;
  json_t *root = json_pack("{s:I, s:s}", "rows", (json_int_t)t->rows, "output", args->output);
  code = root ? cli_print_json(root) : cli_fail(CLI_RUN, "out of memory; close other programs");
  json_decref(root);
  return code;
}

/* Fills the table; its arrays are the caller's to free, also after an error. */
static tct_status fill(table *t, const tct_data *data, double level, double at, tct_error *err) {
  size_t cells = (size_t)t->rows * (size_t)t->width;
  t->z = calloc(cells + 1, sizeof *t->z);
  if (!isnan(level)) t->lower = calloc((size_t)t->rows + 1, sizeof *t->lower);
  if (!isnan(level)) t->upper = calloc((size_t)t->rows + 1, sizeof *t->upper);
  if (t->kind == LABEL) t->code = calloc((size_t)t->rows + 1, sizeof *t->code);
  if (!t->z || (!isnan(level) && (!t->lower || !t->upper)) || (t->kind == LABEL && !t->code)) {
    *err = (tct_error){.status = TCT_E_MEMORY, .text = "out of memory; use a machine with more memory"};
    return TCT_E_MEMORY;
  }
  tct_status status =
      t->kind == RISK ? tct_predict_risk(t->model, data, at, t->z, err) : tct_predict(t->model, data, t->z, err);
  for (int64_t i = 0; status == TCT_OK && t->code && i < t->rows; i++)
    t->code[i] = tct_class_of(t->z + i * t->width, t->width);
  if (status == TCT_OK && t->lower) status = tct_predict_interval(t->model, data, level, t->lower, t->upper, err);
  for (int64_t i = 0; status == TCT_OK && t->width > 1 && (t->kind == PROBABILITY || t->kind == SHARE) && i < t->rows;
       i++)
    share(t->z + i * t->width, t->width, t->kind);
  return status;
}

static int predict(cli_args *args, const tct_model *model, int real, output_kind kind) {
  tct_error err = {0};
  tct_data *data = tct_data_read(args->operand[1], &args->read, &err);
  if (!data) return cli_fail_error(&err);
  table t = {.model = model,
             .keys = args->id ? tct_data_keys(data) : NULL,
             .rows = tct_data_rows(data),
             .kind = kind,
             .real = real,
             .header = args->header,
             .id = args->id};
  tct_model_shape(model, &t.width, NULL);
  int code = fill(&t, data, args->level, args->at, &err) == TCT_OK ? write_numbers(args, &t) : cli_fail_error(&err);
  free(t.z);
  free(t.lower);
  free(t.upper);
  free(t.code);
  tct_data_free(data);
  return code;
}

/* The id is read as persons' names are: a column of texts that is no feature. */
static int take_id(cli_args *args) {
  if (!args->id) return 0;
  if (args->read.key && strcmp(args->read.key, args->id))
    return cli_fail(CLI_USAGE,
                    "--id and --person name different columns; give the person's the type ignore in the schema, and "
                    "leave --person away");
  args->read.key = args->id;
  return 0;
}

static int run_predict(cli_args *args) {
  tct_error err = {0};
  json_t *keep = NULL;
  output_kind kind = MARGIN;
  tct_model *model = tct_model_read(args->operand[0], NULL, args->stage, &err);
  if (!model) return cli_fail_error(&err);
  int code = take_id(args);
  if (!code) code = cli_model_reading(args, model, &keep);
  args->read.labels = TCT_LABELS_NONE;
  if (!code) code = output_of(args, cli_string(keep, "loss"), &kind);
  if (!code && !isnan(args->at) && (args->values || !isnan(args->level)))
    code = cli_fail(CLI_USAGE, "a risk at a time has no --output and no --interval; leave them away");
  if (!isnan(args->at)) kind = RISK;
  if (!code && !isnan(args->level) && kind == LABEL)
    code = cli_fail(CLI_USAGE, "a label has no interval; use --output margin or probability with --interval");
  if (!code) code = predict(args, model, !strcmp(cli_string(keep, "labels"), "real"), kind);
  json_decref(keep);
  tct_model_free(model);
  return code;
}

const cli_verb cli_predict = {
    .name = "predict",
    .operands = "MODEL.json DATA [OPTION...]",
    .summary = "Writes the model's prediction for each record of DATA, one per line.",
    .details =
        "The model's own schema and transforms are applied. A label column in DATA is left alone if the schema\n"
        "names it; without a schema name it with --label so that it is not taken for a feature.\n"
        "\n"
        "Examples\n"
        "  tacit predict model.json new.csv > margins.txt\n"
        "  tacit predict model.json new.csv --output label\n"
        "  tacit predict model.json new.csv --output probability -o probabilities.txt\n"
        "  tacit predict model.json new.csv --id visit_id --header -o predictions.csv\n"
        "  tacit predict model.json new.csv --output probability --interval 0.95\n"
        "  tacit predict model.json new.csv --at 365\n",
    .min = 2,
    .max = 2,
    .options = {options, cli_stage_options, cli_read_options, cli_person_options, cli_common_options},
    .run = run_predict,
};
