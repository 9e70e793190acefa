/* cmd_evaluate.c - tacit evaluate: scores on records with labels, exact (not private, and says so) or for an epsilon.
 */
#include "cli.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const cli_option options[] = {
    {"--epsilon", CLI_REAL, offsetof(cli_args, config.epsilon), "E",
     "scores that may be published, for this privacy loss; without it they are exact and NOT private", "exact scores",
     "1"},
    {"--delta", CLI_REAL, offsetof(cli_args, config.delta), "D",
     "with --epsilon: above 0, well below 1 / number of records", "none, it must be given", "1e-6"},
    {"--neighbours", CLI_CHOICE, offsetof(cli_args, neighbours), "add_remove|replace_one",
     "with --epsilon: what is hidden, one record's presence or its content", "add_remove", "replace_one"},
    {"--ledger", CLI_IN, offsetof(cli_args, config.ledger), "FILE",
     "with --epsilon: budget ledger of these records; refused with exit code 4 beyond what is left", "no ledger",
     "people.ledger"},
    {"--input-changed", CLI_TEXT, offsetof(cli_args, config.input_changed), "REASON",
     "with --ledger: why the rows are others than at its earlier runs; kept in the ledger", "the rows must be the same",
     "corrected"},
    {"--rows-per-person", CLI_SIZE, offsetof(cli_args, rows_per_person), "M",
     "with --epsilon and --person: at most M rows of a person count, drawn at random, and persons are protected",
     "records are protected", "4"},
    {"--seed", CLI_SEED, offsetof(cli_args, config.seed), "S",
     "with --epsilon: repeatable noise, for tests; such scores must not be published",
     "fresh noise from the operating system", "1"},
    {0},
};

static const char *const figures[] = {"accuracy", "auc", "log_loss", "mean_loss", "positives", "mse", "r2", "c_index"};

static void print_figure(const json_t *root, const char *name) {
  const json_t *f = json_object_get(root, name);
  if (!f) return;
  if (json_is_string(json_object_get(f, "note")))
    cli_line(name, "unknown: %s", cli_string(f, "note"));
  else
    cli_line(name, "%.4g, standard error %.2g (noise alone %.2g); %g %% interval %.4g to %.4g", cli_number(f, "value"),
             cli_number(f, "standard_error"), cli_number(f, "noise_error"), 100 * cli_number(root, "level"),
             cli_number(f, "lower"), cli_number(f, "upper"));
}

/* A figure and its interval, with so many digits behind the point. */
static const char *brief(const json_t *of, const char *name, int digits, char text[80]) {
  const json_t *f = json_object_get(of, name);
  snprintf(text, 80, "unknown");
  if (!json_is_string(json_object_get(f, "note")))
    snprintf(text, 80, "%.*f (%.*f to %.*f)", digits, cli_number(f, "value"), digits, cli_number(f, "lower"), digits,
             cli_number(f, "upper"));
  return text;
}

/* Of two classes: what follows from the same release. */
static void print_curves(const json_t *root) {
  const json_t *one, *c = json_object_get(root, "confusion");
  char a[80], b[80];
  size_t i;
  json_array_foreach(json_object_get(root, "roc"), i, one) cli_line(
      i ? "" : "roc", "above %.3g: true positive rate %s, false positive rate %s", cli_number(one, "threshold"),
      brief(one, "true_positive_rate", 3, a), brief(one, "false_positive_rate", 3, b));
  json_array_foreach(json_object_get(root, "calibration"), i, one)
      cli_line(i ? "" : "calibration", "%.3g to %.3g: positives %s", cli_number(one, "from"), cli_number(one, "to"),
               brief(one, "positives", 3, a));
  if (!c) return;
  cli_line("confusion", "positives: %s found, %s missed", brief(c, "true_positives", 0, a),
           brief(c, "false_negatives", 0, b));
  cli_line("", "negatives: %s left out, %s taken for positives", brief(c, "true_negatives", 0, a),
           brief(c, "false_positives", 0, b));
}

static void print_private(const json_t *root) {
  size_t i;
  const json_t *line;
  cli_line("rows", "%.0f", cli_number(root, "rows"));
  for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) print_figure(root, figures[k]);
  print_curves(root);
  cli_line("privacy", "(%s, %s)-DP of a %s under %s; event %s", cli_real(cli_number(root, "epsilon")),
           cli_real(cli_number(root, "delta")), cli_string(root, "unit"), cli_string(root, "neighbours"),
           json_string_value(json_array_get(json_object_get(root, "events"), 0)));
  json_array_foreach(json_object_get(root, "unaccounted"), i, line)
      cli_warn("UNACCOUNTED: %s; the stated epsilon does not cover this", json_string_value(line));
  if (json_is_string(json_object_get(root, "warning"))) cli_warn("%s", cli_string(root, "warning"));
  if (json_is_true(json_object_get(root, "reproducible")))
    cli_warn("--seed makes the noise reproducible: who knows the seed can take it away; do not publish these figures");
}

/* One line for each class against the rest. */
static void print_classes(const json_t *root) {
  const json_t *list = json_object_get(root, "classes"), *one;
  size_t i;
  json_array_foreach(list, i, one)
      cli_line(i ? "" : "classes", "%s: auc %s", cli_string(one, "class"), cli_real(cli_number(one, "auc")));
}

static void print_scores(const json_t *root) {
  static const char *const fields[] = {"mean_loss", "objective", "accuracy", "auc", "mse"};
  cli_line("rows", "%.0f", cli_number(root, "rows"));
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (!isnan(cli_number(root, fields[i]))) cli_line(fields[i], "%s", cli_real(cli_number(root, fields[i])));
  print_classes(root);
  printf("These figures are NOT private: they are exact sums over the records.\n");
}

static int evaluate(cli_args *args, const tct_model *model) {
  tct_error err = {0};
  tct_data *data = tct_data_read(args->operand[1], &args->read, &err);
  int private = !isnan(args->config.epsilon);
  const uint64_t *seed = args->config.has_seed ? &args->config.seed : NULL;
  if (data && args->rows_per_person &&
      tct_data_weigh_persons(data, NULL, args->rows_per_person, seed, &err) != TCT_OK) {
    tct_data_free(data);
    data = NULL;
  }
  char *text = !data     ? NULL
               : private ? tct_evaluate_json(model, data, &args->config, &err)
                         : tct_evaluate_json_nonprivate(model, data, &err);
  tct_data_free(data);
  if (!text) return cli_fail_error(&err);
  if (private && args->read.key && !args->rows_per_person)
    cli_warn("these scores protect a record; a person with several records is protected less; add --rows-per-person");
  return cli_print_answer(text, args->json, private ? print_private : print_scores);
}

/* A budget's settings without a budget would be ignored. */
static int check_budget(const cli_args *args) {
  const tct_config *c = &args->config;
  if (args->rows_per_person && !args->read.key)
    return cli_fail(CLI_USAGE, "--rows-per-person says how many rows of a person count; name the column with --person");
  if (!isnan(c->epsilon)) {
    if (isnan(c->delta)) return cli_fail(CLI_USAGE, "--delta is missing; give one well below 1/n, e.g. --delta 1e-6");
    if (!c->input_changed || c->ledger) return 0;
    return cli_fail(CLI_USAGE, "--input-changed is an entry of a ledger; name one with --ledger");
  }
  for (int k = 0; k < args->given_count; k++)
    for (const cli_option *o = options; o->name; o++)
      if (args->given[k] == o)
        return cli_fail(CLI_USAGE, "%s is of private scores; give --epsilon too, or leave it out", o->name);
  return 0;
}

static int run_evaluate(cli_args *args) {
  tct_error err = {0};
  json_t *keep = NULL;
  int wrong = check_budget(args);
  if (wrong) return wrong;
  tct_model *model = tct_model_read(args->operand[0], NULL, args->stage, &err);
  if (!model) return cli_fail_error(&err);
  int code = cli_model_reading(args, model, &keep);
  if (!code) code = evaluate(args, model);
  json_decref(keep);
  tct_model_free(model);
  return code;
}

const cli_verb cli_evaluate = {
    .name = "evaluate",
    .operands = "MODEL.json DATA [OPTION...]",
    .summary =
        "Scores a model on records with labels: mean loss, objective, accuracy and AUC, or mean squared error.\n"
        "Without --epsilon the figures are NOT private: use records that you may publish figures about.\n"
        "With it they come from one noisy release, with error bars, and may be published.",
    .details =
        "mean_loss is the model's own loss over labels bounded as in training; objective adds the penalty; auc\n"
        "counts ties half; mse is in the label's own unit. Of several classes accuracy counts the one that is\n"
        "predicted, and the other figures are means over the classes, each against the rest.\n"
        "The label column is the model's unless --label says otherwise.\n"
        "\n"
        "Private scores: accuracy, auc of margins rounded to 32 cells, mean_loss with each record's loss cut, the\n"
        "share of positives, points of the ROC curve, calibration and confusion; of more classes accuracy and\n"
        "log_loss (mean_loss where a margin is no probability); of real labels, cut to the model's bound, mse and\n"
        "r2; of follow-up times c_index, from cells of time and margin. The standard error is that of the\n"
        "population's figure, noise included. Records that trained the model pay twice: charge the same ledger.\n"
        "\n"
        "Examples\n"
        "  tacit evaluate model.json held_out.csv --json\n"
        "  tacit evaluate model.json held_out.csv --epsilon 0.1 --delta 1e-6 --ledger held_out.ledger\n",
    .min = 2,
    .max = 2,
    .options = {options, cli_stage_options, cli_read_options, cli_person_options, cli_common_options},
    .run = run_evaluate,
};
