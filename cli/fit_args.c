/* fit_args.c - what the verbs that train a model have in common: checks before anything is read, and warnings. */
#include "cli.h"

#include <math.h>
#include <string.h>

int cli_to_standard_output(const cli_args *args) { return args->output && cli_is_stdout(args->output); }

int cli_fit_check(const cli_args *args) {
  if (!args->config.loss) return cli_fail(CLI_USAGE, "--loss is missing; give one, e.g. --loss logistic");
  if (!(isnan(args->config.epsilon) || args->config.epsilon > 0))
    return cli_fail(CLI_USAGE, "--epsilon must be above 0; give e.g. --epsilon 1");
  if (!(isnan(args->config.delta) || (args->config.delta >= 0 && args->config.delta < 1)))
    return cli_fail(CLI_USAGE, "--delta must lie in [0, 1); give e.g. --delta 1e-6, or 0 for pure epsilon");
  if (!(isnan(args->config.row_norm) || (args->config.row_norm > 0 && args->config.row_norm < INFINITY)))
    return cli_fail(CLI_USAGE, "--row-norm must be a finite number above 0; give e.g. --row-norm 1");
  if (!(isnan(args->config.label_bound) || (args->config.label_bound > 0 && args->config.label_bound < INFINITY)))
    return cli_fail(CLI_USAGE, "--label-bound must be a finite number above 0; give e.g. --label-bound 1");
  if (args->classes && tct_config_labels(&args->config) == TCT_LABELS_REAL)
    return cli_fail(CLI_USAGE, "--classes is for losses of classes, and this one takes numbers; leave it away");
  return 0;
}

static int check_persons(const cli_args *args) {
  if (!args->read.key == !args->rows_per_person) return 0;
  return cli_fail(CLI_USAGE, args->read.key
                                 ? "--person needs --rows-per-person M: how many rows of a person count at most"
                                 : "--rows-per-person needs --person COLUMN: which column says whose a row is");
}

int cli_fit_check_run(const cli_args *args) {
  int code = check_persons(args);
  if (code) return code;
  if (args->dry_run && args->report) return cli_fail(CLI_USAGE, "--report needs a model, and --dry-run makes none");
  if (args->dry_run) return 0;
  if (args->config.input_changed && !args->config.ledger)
    return cli_fail(CLI_USAGE, "--input-changed is an entry of a ledger; name one with --ledger");
  if (args->records) return cli_fail(CLI_USAGE, "--records is for --dry-run; without it the data are counted");
  if (args->effect || args->assume)
    return cli_fail(CLI_USAGE, "--effect and --assume are for --dry-run; leave them away");
  if (args->shape) return cli_fail(CLI_USAGE, "--shape is for --dry-run; without it the shape comes from the data");
  if (!args->operands) return cli_fail(CLI_USAGE, "DATA is missing; name a file, or - for standard input");
  if (cli_to_standard_output(args) && args->json)
    return cli_fail(CLI_USAGE, "--json and -o - both write to standard output; name a file with -o");
  if (!args->output) return cli_fail(CLI_USAGE, "-o is missing; name the model file, e.g. -o model.json");
  return 0;
}

json_t *cli_fit_schema(const cli_args *args) {
  tct_error err;
  char *looked = args->read.schema_path ? tct_schema_check_json(args->read.schema_path, NULL, &err) : NULL;
  json_t *schema = looked ? json_load_file(args->read.schema_path, 0, NULL) : NULL;
  tct_text_free(looked);
  return schema;
}

int64_t cli_fit_public_classes(const cli_args *args) {
  if (args->read.positive) return 2;
  if (args->read.classes_count || !args->read.schema_path) return args->read.classes_count;
  json_t *schema = cli_fit_schema(args), *label = json_object_get(schema, "label");
  size_t count = json_object_get(label, "positive") ? 2 : json_array_size(json_object_get(label, "values"));
  json_decref(schema);
  return (int64_t)count;
}

tct_status cli_fit_weigh(const cli_args *args, tct_data *data, tct_error *err) {
  if (!args->read.key) return TCT_OK;
  return tct_data_weigh_persons(data, NULL, args->rows_per_person, args->config.has_seed ? &args->config.seed : NULL,
                                err);
}

int cli_fit_check_ledger(const cli_args *args) {
  tct_error err = {0};
  if (!args->config.ledger) return 0;
  char *ledger = tct_ledger_json(args->config.ledger, &err); /* is it there, and undamaged? */
  if (!ledger) return cli_fail_error(&err);
  tct_text_free(ledger);
  return 0;
}

void cli_fit_warn(const cli_args *args, const json_t *plan) {
  const json_t *line;
  size_t i;
  json_array_foreach(json_object_get(plan, "warnings"), i, line) cli_warn("%s", cli_string(line, "text"));
  if (!cli_plan_private(plan))
    cli_warn("privacy NONE: this %s; the model may reveal records, do not publish it",
             isinf(args->config.epsilon) ? "run has an infinite epsilon" : "solver has no privacy");
  else if (args->config.has_seed)
    cli_warn("--seed makes the noise reproducible: who knows the seed can take it away; do not publish this model");
}

void cli_warn_unaccounted(const tct_model *model) {
  tct_error err;
  const json_t *line;
  size_t i;
  json_t *root = cli_take_json(tct_model_json(model, &err));
  json_array_foreach(json_object_get(json_object_get(root, "privacy"), "unaccounted"), i, line)
      cli_warn("UNACCOUNTED: %s; the stated epsilon does not cover this", json_string_value(line));
  json_decref(root);
}
