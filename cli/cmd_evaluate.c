/* cmd_evaluate.c - tacit evaluate: exact scores on records with labels; not private, and says so. */
#include "cli.h"

#include <math.h>
#include <string.h>

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
  char *text = data ? tct_evaluate_json_nonprivate(model, data, &err) : NULL;
  tct_data_free(data);
  if (!text) return cli_fail_error(&err);
  return cli_print_answer(text, args->json, print_scores);
}

static int run_evaluate(cli_args *args) {
  tct_error err = {0};
  json_t *keep = NULL;
  tct_model *model = tct_model_read(args->operand[0], &err);
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
        "The figures are NOT private: use records that you may publish figures about.",
    .details =
        "mean_loss is the model's own loss over labels bounded as in training; objective adds the penalty; auc\n"
        "counts ties half; mse is in the label's own unit. Of several classes accuracy counts the one that is\n"
        "predicted, and the other figures are means over the classes, each against the rest.\n"
        "The label column is the model's unless --label says otherwise.\n"
        "\n"
        "Example\n"
        "  tacit evaluate model.json held_out.csv --json\n",
    .min = 2,
    .max = 2,
    .options = {cli_read_options, cli_person_options, cli_common_options},
    .run = run_evaluate,
};
