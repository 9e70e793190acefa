/* bench_scores.c - how private scores lie about the truth: TABLES invented tables of 1,530 records, epsilon 0.5.
 *
 * One model without privacy is scored on each.  Its one feature is normal with deviation 1 in both classes, APART from
 * each other, so that the population's area under the ROC curve is known.  For two shares of positives one JSON line:
 *
 *   covers   how often the 95 % interval of the area holds the population's
 *   miss     the mean of the area less the population's
 *   reach    the noise's 95 % reach over that of one released count among the fewer: 1.96 * noise / min(n+, n-)
 *   roc      how often the intervals of the middle point's two rates hold the population's
 *
 * Usage: bench_scores [TABLES (500)] */
#include "bench.h"
#include "random.h"

enum { ROWS = 1530, TRAINED = 20000 };
static const double APART = 1.4, CENTRE = 4;

static double x[TRAINED], y[TRAINED];

static double below(double z) { return 0.5 * erfc(-z / sqrt(2)); }

static tct_data *table(int64_t rows, double positives, uint64_t *state) {
  tct_error err = {0};
  for (int64_t i = 0; i < rows; i++) {
    y[i] = (double)i < positives * (double)rows ? 1 : -1;
    double normal = sqrt(-2 * log(bench_unit(state))) * cos(2 * M_PI * bench_unit(state));
    x[i] = CENTRE + y[i] * APART / 2 + normal;
  }
  tct_matrix m = {.rows = rows, .cols = 1, .layout = TCT_DENSE_ROWS, .values = x, .stride = 1};
  tct_data *data = tct_data_view(&m, y, TCT_LABELS_BINARY, NULL, NULL, &err);
  if (!data) bench_fail(&err);
  return data;
}

static tct_model *model_of(double positives, uint64_t *state) {
  tct_config c;
  tct_config_default(&c);
  c.loss = "logistic", c.solver = "lbfgs", c.intercept = 1, c.row_norm = 12;
  tct_data *data = table(TRAINED, positives, state);
  tct_model *model = bench_train(&c, data);
  tct_data_free(data);
  return model;
}

/* The figure of that name behind `from`. */
static double field(const char *from, const char *name, const char *of) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\":", name);
  const char *at = strstr(from, quoted);
  return at ? bench_number(at, of) : NAN;
}

static int holds(const char *from, const char *name, double truth) {
  return field(from, name, "lower") <= truth && truth <= field(from, name, "upper");
}

static void bench(double positives, int tables) {
  uint64_t state = 11;
  tct_model *model = model_of(positives, &state);
  double zero = -tct_model_intercepts(model)[0] / tct_model_coefficients(model)[0]; /* margin 0 */
  double area = below(APART / sqrt(2)), covers = 0, miss = 0, reach = 0, roc = 0;
  double rate[2] = {below(CENTRE - APART / 2 - zero), below(CENTRE + APART / 2 - zero)};
  for (int t = 0; t < tables; t++) {
    tct_error err = {0};
    tct_config budget;
    tct_config_default(&budget);
    budget.epsilon = 0.5, budget.delta = 1e-6, budget.has_seed = 1, budget.seed = (uint64_t)t + 1;
    tct_data *data = table(ROWS, positives, &state);
    char *json = tct_evaluate_json(model, data, &budget, &err);
    if (!json) bench_fail(&err);
    const char *middle = strstr(json, "\"threshold\": 0.5,"), *noise = strstr(json, "gaussian:noise=");
    if (!middle || !noise) exit(1);
    covers += holds(json, "auc", area), miss += field(json, "auc", "value") - area;
    reach += field(json, "auc", "noise_error") * ROWS * fmin(positives, 1 - positives) / strtod(noise + 15, NULL);
    roc += 0.5 * (holds(middle, "false_positive_rate", rate[0]) + holds(middle, "true_positive_rate", rate[1]));
    tct_text_free(json);
    tct_data_free(data);
  }
  printf(
      "{\"bench\":\"scores\",\"positives\":%g,\"tables\":%d,\"auc\":%.4f,\"covers\":%.4f,\"miss\":%.5f,\"reach\":%.3f,"
      "\"roc\":%.4f}\n",
      positives, tables, area, covers / tables, miss / tables, reach / tables, roc / tables);
  tct_model_free(model);
}

int main(int argc, char **argv) {
  int tables = argc > 1 ? atoi(argv[1]) : 500;
  bench(0.5, tables);
  bench(0.2, tables);
  return 0;
}
