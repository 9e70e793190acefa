/* cmd_lm.c - tacit lm: linear models, means and correlations from released moments. */
#include "cli.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"--label", CLI_TEXT, offsetof(cli_args, read.label), "NAME", "the outcome: a column, or column=value",
     "no model: means and correlations of all columns", "bmi"},
    {"--features", CLI_TEXT, offsetof(cli_args, features), "A,B,...", "columns that explain it",
     "all but the outcome's", "age,sex"},
    {"--ridge", CLI_TEXT, offsetof(cli_args, ridge), "LAMBDA|auto",
     "penalty lambda/2 |slopes|^2 on columns within [-1, 1]; auto: the one that predicts best, the noise counted", "0",
     "auto"},
    {"--best", CLI_SIZE, offsetof(cli_args, best), "K", "also the best subsets of 1 to K features", "none", "3"},
    {"--without", CLI_TEXT, offsetof(cli_args, without), "A,B,...",
     "also a test whether the model without these features is as good", "none", "sex"},
    {"--beside", CLI_TEXT, offsetof(cli_args, beside), "A,B,...",
     "also a second model, by these features, how their slopes differ, and the covariance of all weights", "none",
     "age"},
    {"--beside-label", CLI_TEXT, offsetof(cli_args, beside_label), "NAME", "the second model's outcome",
     "that of --label", "weight"},
    {"--covariance", CLI_FLAG, offsetof(cli_args, covariance), NULL, "also the covariance matrix of the weights", "off",
     NULL},
    {"--level", CLI_REAL, offsetof(cli_args, level), "LEVEL", "confidence of the intervals, strictly between 0 and 1",
     "0.95", "0.9"},
    {0},
};

static int put_names(json_t *asked, const char *key, const char *option, const char *text) {
  json_t *names = text ? cli_names(option, text) : NULL;
  if (names) json_object_set_new(asked, key, names);
  return text && !names ? CLI_USAGE : 0;
}

static int put_beside(json_t *asked, const cli_args *args) {
  json_t *second = json_object();
  int code = put_names(second, "features", "--beside", args->beside);
  if (args->beside_label && !args->beside)
    code = cli_fail(CLI_USAGE, "a second model has features; name them with --beside");
  if (args->beside_label) json_object_set_new(second, "label", json_string(args->beside_label));
  if (args->beside && !code) json_object_set_new(asked, "beside", json_pack("[O]", second));
  json_decref(second);
  return code;
}

/* What is asked for, as the library takes it; NULL after one sentence. */
static char *asked_of(const cli_args *args) {
  json_t *asked = json_object();
  int code = put_names(asked, "features", "--features", args->features);
  if (!code) code = put_beside(asked, args);
  if (!code) code = put_names(asked, "without", "--without", args->without);
  if (args->read.label) json_object_set_new(asked, "label", json_string(args->read.label));
  if (args->best) json_object_set_new(asked, "best", json_integer(args->best));
  if (!isnan(args->level)) json_object_set_new(asked, "level", json_real(args->level));
  if (args->covariance) json_object_set_new(asked, "covariance", json_true());
  if (args->ridge) {
    char *end;
    double ridge = strtod(args->ridge, &end);
    json_object_set_new(asked, "ridge",
                        *args->ridge && !*end && isfinite(ridge) ? json_real(ridge) : json_string(args->ridge));
  }
  char *text = code ? NULL : json_dumps(asked, JSON_REAL_PRECISION(17));
  json_decref(asked);
  return text;
}

static void put_list(const char *name, const json_t *names, const char *format, double value) {
  const json_t *one;
  size_t i;
  char text[600] = "";
  int at = 0;
  json_array_foreach(names, i, one) if (at < (int)sizeof text) at +=
      snprintf(text + at, sizeof text - (size_t)at, "%s%s", i ? " " : "", json_string_value(one));
  char figure[40];
  snprintf(figure, sizeof figure, format, value);
  cli_line(name, "%s  %s", figure, text);
}

static void print_covariance(const json_t *covariance, const char *title) {
  if (!covariance) return;
  cli_put_matrix(json_object_get(covariance, "names"), json_object_get(covariance, "population"), title);
  cli_put_matrix(json_object_get(covariance, "names"), json_object_get(covariance, "noise"), "of which noise");
}

static void print_facts(const json_t *model) {
  printf("\n");
  cli_line("outcome", "%s", cli_string(model, "label"));
  cli_line("R2", "%.4f, of which the noise may be %.4f", cli_number(model, "r2"), cli_number(model, "r2_noise"));
  cli_line("residuals", "standard deviation %.5g", cli_number(model, "residual"));
  if (cli_number(model, "ridge") > 0)
    cli_line("ridge", "%.4g; errors are those of the penalised weights", cli_number(model, "ridge"));
}

static void print_beside(const json_t *root) {
  const json_t *second = json_array_get(json_object_get(root, "beside"), 0);
  if (!second) return;
  printf("\nbeside it\n");
  cli_put_weights(second, cli_number(root, "level"), "vif");
  print_facts(second);
  json_t *differences = json_pack("{s:O}", "weights", json_object_get(root, "differences"));
  if (json_array_size(json_object_get(differences, "weights")) > 0) {
    printf("\nslopes of the first model less those of the second\n");
    cli_put_weights(differences, cli_number(root, "level"), NULL);
  }
  json_decref(differences);
  printf("\n");
}

static void print_model(const json_t *root) {
  const json_t *one, *comparison = json_object_get(root, "comparison");
  size_t i;
  cli_put_weights(root, cli_number(root, "level"), "vif");
  print_covariance(json_object_get(root, "covariance"), "covariance (population: sampling and noise)");
  print_facts(root);
  json_array_foreach(json_object_get(root, "best"), i, one)
      put_list(i ? "" : "best", json_object_get(one, "features"), "R2 %.4f", cli_number(one, "r2"));
  if (comparison)
    put_list("without", json_object_get(comparison, "without"),
             cli_number(comparison, "p_value") < 1e-4 ? "p %.2e" : "p %.4f", cli_number(comparison, "p_value"));
  print_beside(root);
  print_covariance(json_object_get(root, "joint"), "covariance of both (population: sampling and noise)");
  if (json_object_get(root, "joint")) printf("\n");
}

static void print_table(const json_t *root) {
  const json_t *one, *correlations = json_object_get(root, "correlations");
  json_t *names = json_array();
  size_t i;
  json_array_foreach(json_object_get(root, "columns"), i, one) {
    cli_line(cli_string(one, "name"), "mean %.5g (%.5g to %.5g), standard deviation %.5g", cli_number(one, "mean"),
             cli_number(one, "lower"), cli_number(one, "upper"), cli_number(one, "deviation"));
    json_array_append(names, json_object_get(one, "name"));
  }
  cli_put_matrix(names, json_object_get(correlations, "value"), "correlations");
  cli_put_matrix(names, json_object_get(correlations, "lower"), "of which the intervals begin at");
  cli_put_matrix(names, json_object_get(correlations, "upper"), "and end at");
  json_decref(names);
  printf("\n");
}

static void print(const json_t *root) {
  if (json_object_get(root, "label"))
    print_model(root);
  else
    print_table(root);
  cli_line("records", "%.0f", cli_number(root, "rows"));
  cli_line("errors", "of the privacy noise and of who is in the table; the latter %s",
           !strcmp(cli_string(root, "errors"), "robust") ? "robust: whatever the residuals are"
                                                         : "elliptic: equally long tails in all columns");
  cli_line("privacy", "epsilon %s, delta %s, %s: of the release, once for everything that follows from it",
           cli_real(cli_number(root, "epsilon")), cli_real(cli_number(root, "delta")), cli_string(root, "neighbours"));
}

static int run_lm(cli_args *args) {
  tct_error err = {0};
  char *asked = asked_of(args);
  if (!asked) return CLI_USAGE;
  char *text = tct_lm_json(args->operand[0], NULL, args->stage, asked, &err);
  free(asked);
  return text ? cli_print_answer(text, args->json, print) : cli_fail_error(&err);
}

const cli_verb cli_lm = {
    .name = "lm",
    .operands = "MOMENTS.json [OPTION...]",
    .summary = "Fits a linear model from released moments, with errors, on the original scale of the columns.",
    .details =
        "It reads the file alone and costs no privacy, however often it is asked. Of a category each value but the\n"
        "first is a feature. Intervals count the noise of the release and who happens to be in the table. Models of\n"
        "one release share its noise and its records: what two of them differ by is known better than either\n"
        "(--beside).\n"
        "\n"
        "Examples\n"
        "  tacit lm moments.json\n"
        "  tacit lm moments.json --label bmi --features age,sex\n"
        "  tacit lm moments.json --label bmi --ridge auto --best 3 --json\n"
        "  tacit lm moments.json --label bmi --features age,sex --beside age\n",
    .min = 1,
    .max = 1,
    .options = {options, cli_stage_options, cli_common_options},
    .run = run_lm,
};
