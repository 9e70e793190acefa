/* cmd_summary.c - tacit summary: the table of weights with standard errors, intervals and tests. */
#include "cli.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const cli_option options[] = {
    {"--level", CLI_REAL, offsetof(cli_args, level), "LEVEL", "confidence of the intervals, strictly between 0 and 1",
     "0.95", "0.9"},
    {"--covariance", CLI_FLAG, offsetof(cli_args, covariance), NULL,
     "also the covariance matrix of the weights, for contrasts", "off", NULL},
    {"--exp", CLI_FLAG, offsetof(cli_args, ratios), NULL,
     "odds, rate or hazard ratios (e to the weights) with their intervals; the other columns stay", "off", NULL},
    {0},
};

/* Names by characters, not bytes, so that columns stay straight. */
static void put_name(const char *name, int width) {
  int count = 0;
  for (const char *at = name; *at; at++) count += ((unsigned char)*at & 0xc0) != 0x80;
  printf("%s%*s", name, width > count ? width - count : 0, "");
}

static int name_width(const json_t *root) {
  const json_t *line;
  size_t i, widest = strlen("(intercept)");
  const json_t *class = json_array_get(json_object_get(root, "classes"), 0);
  json_array_foreach(json_object_get(class ? class : root, "weights"), i, line) {
    size_t length = strlen(cli_string(line, "name"));
    if (length > widest) widest = length;
  }
  return widest > 40 ? 40 : (int)widest;
}

static void put_cell(double value, const char *format) {
  char text[40] = "NA";
  if (isfinite(value)) snprintf(text, sizeof text, format, value);
  printf(" %11s", text);
}

static void put_p(double p) {
  char text[40] = "NA";
  if (isfinite(p)) snprintf(text, sizeof text, p < 2e-16 ? "<2e-16" : p < 1e-4 ? "%.2e" : "%.4f", p);
  printf(" %11s", text);
}

static void put_line(const json_t *line, int width, const char *also) {
  put_name(cli_string(line, "name"), width);
  put_cell(cli_number(line, "estimate"), "%.5g");
  put_cell(cli_number(line, "standard_error"), "%.4g");
  put_cell(100 * cli_number(line, "noise_part"), "%.0f %%");
  put_cell(cli_number(line, "z"), "%.3f");
  put_p(cli_number(line, "p_value"));
  put_cell(cli_number(line, "lower"), "%.5g");
  put_cell(cli_number(line, "upper"), "%.5g");
  printf("   ");
  put_cell(cli_number(line, "noise_error"), "%.4g");
  put_cell(cli_number(line, "noise_lower"), "%.5g");
  put_cell(cli_number(line, "noise_upper"), "%.5g");
  if (also) put_cell(cli_number(line, also), "%.4g");
  putchar('\n');
}

/* Each note once, with the names that it is for; the intercept's, too. */
static void put_notes(const json_t *root) {
  json_t *lines = json_copy(json_object_get(root, "weights")), *line, *other, *intercept;
  size_t i, k;
  intercept = json_object_get(root, "intercept");
  if (json_is_object(intercept)) json_array_append(lines, intercept);
  json_array_foreach(lines, i, line) {
    const char *note = cli_string(line, "note");
    int first = note[0] != 0, others = 0;
    json_array_foreach(lines, k, other) {
      if (strcmp(note, cli_string(other, "note"))) continue;
      if (k < i) first = 0;
      others += k > i;
    }
    if (!first) continue;
    printf("%s%s: %s\n", cli_string(line, "name"), others ? " and others marked NA" : "", note);
  }
  json_decref(lines);
}

void cli_put_matrix(const json_t *names, const json_t *matrix, const char *title) {
  printf("\n%s\n", title);
  for (size_t j = 0; j < json_array_size(matrix); j++) {
    put_name(json_string_value(json_array_get(names, j)), 16);
    for (size_t k = 0; k < json_array_size(json_array_get(matrix, j)); k++) {
      const json_t *value = json_array_get(json_array_get(matrix, j), k);
      put_cell(json_is_number(value) ? json_number_value(value) : NAN, "%.4g");
    }
    putchar('\n');
  }
}

static void put_facts(const json_t *root) {
  const json_t *noise = json_object_get(root, "noise");
  printf("\n");
  cli_line("records", "%.0f", cli_number(root, "rows"));
  cli_line("loss", "%s, penalty %s", cli_string(root, "loss"), cli_string(root, "penalty"));
  if (json_is_true(json_object_get(root, "private")))
    cli_line("privacy", "epsilon %s, delta %s, %s", cli_real(cli_number(root, "epsilon")),
             cli_real(cli_number(root, "delta")), cli_string(root, "neighbours"));
  else
    cli_line("privacy", "NONE");
  if (json_is_string(json_object_get(root, "errors"))) {
    const json_t *targets = json_object_get(root, "targets");
    cli_line("errors", "%s", cli_string(root, "errors"));
    cli_line("population", "%s", cli_string(targets, "population"));
    cli_line("table", "%s", cli_string(targets, "table"));
    if (json_is_true(json_object_get(root, "private")))
      printf("Noise was added to protect the records; errors, intervals and p-values count it.\n");
  }
  if (json_is_number(json_object_get(root, "residual_scale"))) {
    double scale = cli_number(root, "residual_scale");
    cli_line("residuals", "root mean square %.4g (a variance of %.4g), as released before the last step", scale,
             scale * scale);
  }
  if (json_is_object(noise)) {
    cli_line("noise", "standard deviation of a weight, in the model's own columns: between %s and %s",
             cli_real(cli_number(noise, "min")), cli_real(cli_number(noise, "max")));
  }
  if (json_is_string(json_object_get(root, "advice"))) cli_line("note", "%s", cli_string(root, "advice"));
}

static void put_lines(const json_t *of, int width, const char *also) {
  const json_t *line;
  size_t i;
  if (json_is_object(json_object_get(of, "intercept"))) put_line(json_object_get(of, "intercept"), width, also);
  json_array_foreach(json_object_get(of, "weights"), i, line) put_line(line, width, also);
}

int cli_put_weights(const json_t *root, double level, const char *also) {
  char lower[24], upper[24];
  int width = name_width(root);
  double tail = (1 - level) / 2;
  snprintf(lower, sizeof lower, "[%.4g", tail), snprintf(upper, sizeof upper, "%.4g]", 1 - tail);
  put_name("", width);
  const char *estimate = cli_string(root, "shown");
  printf(" %*s %11s %11s %11s %11s %11s %11s    %11s %11s %11s", 11, estimate[0] ? estimate : "estimate", "std. error",
         "noise part", "z", "P>|z|", lower, upper, "noise error", lower, upper);
  if (also) printf(" %11s", also);
  putchar('\n');
  put_lines(root, width, also);
  return width;
}

/* Is an interval withheld, of a weight or of the intercept, in a model that has others? */
static int has_notes(const json_t *root) {
  const json_t *line;
  size_t i;
  int found = cli_string(json_object_get(root, "intercept"), "note")[0] != 0;
  json_array_foreach(json_object_get(root, "weights"), i, line) found |= cli_string(line, "note")[0] != 0;
  return found && json_is_string(json_object_get(root, "errors"));
}

static void print_summary(const json_t *root) {
  const json_t *line, *covariance = json_object_get(root, "covariance");
  size_t i;
  int width = cli_put_weights(root, cli_number(root, "level"), NULL);
  json_array_foreach(json_object_get(root, "classes"), i, line) {
    printf("%s%s\n", i ? "\n" : "", cli_string(line, "class"));
    put_lines(line, width, NULL);
  }
  if (json_is_string(json_object_get(root, "errors"))) put_notes(root);
  if (has_notes(root) && json_object_get(root, "middle")) {
    printf("\nnumbers counted from the middle of their bounds\n");
    put_lines(json_object_get(root, "middle"), width, NULL);
  }
  if (json_object_get(root, "change")) {
    printf(
        "\nweights over the later half of the events, less those over the earlier: 0 where hazards are proportional\n");
    json_array_foreach(json_object_get(root, "change"), i, line) put_line(line, width, NULL);
  }
  if (json_is_object(covariance)) {
    cli_put_matrix(json_object_get(covariance, "names"), json_object_get(covariance, "population"),
                   "covariance (population: sampling and noise)");
    cli_put_matrix(json_object_get(covariance, "names"), json_object_get(covariance, "noise"), "of which noise");
  }
  put_facts(root);
}

/* A list of lines, or one: what stands in "ratio" takes the place of the weight's own. */
static void take_ratios(json_t *lines) {
  json_t *line;
  size_t i;
  if (json_is_object(lines)) json_object_update(lines, json_object_get(lines, "ratio"));
  json_array_foreach(lines, i, line) take_ratios(line);
}

static void take_all_ratios(json_t *of) {
  json_t *class;
  size_t i;
  take_ratios(json_object_get(of, "weights")), take_ratios(json_object_get(of, "intercept"));
  json_array_foreach(json_object_get(of, "classes"), i, class) take_all_ratios(class);
  if (json_object_get(of, "middle")) take_all_ratios(json_object_get(of, "middle"));
  if (json_object_get(of, "change")) take_ratios(json_object_get(of, "change"));
}

static void print_ratios(const json_t *root) {
  json_t *own = json_deep_copy(root);
  json_object_set(own, "shown", json_object_get(own, "ratio"));
  take_all_ratios(own);
  print_summary(own);
  printf("Standard errors, z and p-values are those of the logarithms; no effect is a ratio of 1.\n");
  json_decref(own);
}

static int run_summary(cli_args *args) {
  tct_error err = {0};
  tct_model *model = tct_model_read(args->operand[0], NULL, args->stage, &err);
  if (!model) return cli_fail_error(&err);
  char *text = tct_summary_json(model, isnan(args->level) ? 0.95 : args->level, args->covariance, NULL, 0, &err);
  tct_model_free(model);
  if (!text) return cli_fail_error(&err);
  if (args->ratios && strstr(text, "\"ratio\": null")) {
    tct_text_free(text);
    return cli_fail(CLI_USAGE, "e to the weights of this loss is no ratio; leave --exp away");
  }
  return cli_print_answer(text, args->json, args->ratios ? print_ratios : print_summary);
}

const cli_verb cli_summary = {
    .name = "summary",
    .operands = "MODEL.json [OPTION...]",
    .summary = "Prints the weights with standard errors, tests and intervals, on the original scale of the columns.",
    .details =
        "A model that was trained with --errors model or robust has them; of any other model the table says what is\n"
        "known. The first interval is for the population that the records were drawn from, the second (of the noise)\n"
        "for the same fit of this table without noise. It reads the model file alone and costs no privacy.\n"
        "\n"
        "Examples\n"
        "  tacit summary model.json\n"
        "  tacit summary model.json --level 0.9 --covariance --json\n"
        "  tacit summary model.json --exp\n",
    .min = 1,
    .max = 1,
    .options = {options, cli_stage_options, cli_common_options},
    .run = run_summary,
};
