/* bench_dpscd_figures.c - the experiments of Damaskinos et al. 2021 (Figures 1 to 3, grids of their Appendix E) as CSV.
 *
 * Sets: adult (hinge, lambda 1e-5, their preparation: standardised numbers, indicators without the most frequent value,
 * missing = most frequent), phishing (logistic, 1e-4), california (squared, 1e-4, labels centred).  A synthetic 40,000
 * x 90 stands in place of the year prediction set (squared, 1e-4, labels centred).  Features over their largest
 * absolute value, rows of norm 1, delta 1e-3, add_remove.  A quarter of the training part is held out; options are
 * chosen there by the mean of 3 seeds and reported on the test part.  None of this (scaling, choosing) is charged, as
 * in the paper.
 *
 * Objective per epoch without looking into a run: a run of k epochs at the noise multiplier of the whole run is its
 * first part.  Its epsilon comes from the accountant, so what is plotted at k is a model that may be published.
 *
 * Writes CSV (figure,data,epsilon,series,x,y,option) to out/dpscd_figures.csv; prints the points of Figure 1.
 * Usage: bench_dpscd_figures [short|full] [DATA]   then: python3 bench/lib/plot.py out/dpscd_figures.csv
 * out/dpscd_figures
 */
#include "sets.h"

#include <sys/stat.h>

typedef struct experiment {
  const char *name, *loss, *metric;
  double lambda, label_bound;
} experiment;

static const experiment experiments[] = {
    {"adult", "hinge", "accuracy", 1e-5, NAN},
    {"phishing", "logistic", "accuracy", 1e-4, NAN},
    {"california", "squared", "mse", 1e-4, 5}, /* hundred thousands of dollars, capped at 5 by the census */
    {"synthetic", "squared", "mse", 1e-4, 30},
};
static const double epsilons[] = {0.1, 0.5, 1, 2};
static int full;
static FILE *csv;

static tct_model *train(const experiment *e, const tct_data *data, const char *solver, double epsilon, uint64_t seed) {
  char penalty[48];
  tct_config c;
  tct_config_default(&c);
  c.intercept = 0;
  snprintf(penalty, sizeof penalty, "l2:lambda=%g", e->lambda);
  c.loss = e->loss;
  c.penalty = penalty;
  c.solver = solver;
  c.scale = "max-abs";
  c.row_norm = 1;
  c.rows_rule = TCT_ROWS_UNIT;
  c.threads = 1;
  if (!strcmp(e->loss, "squared")) {
    c.label_scale = "center";
    c.label_bound = e->label_bound;
  }
  if (epsilon > 0) {
    c.epsilon = epsilon;
    c.delta = 1e-3;
  }
  c.has_seed = epsilon > 0;
  c.seed = seed;
  return bench_train(&c, data);
}

static double measure(const experiment *e, const tct_model *model, const tct_data *data) {
  tct_error err = {0};
  char *json = tct_evaluate_json_nonprivate(model, data, &err);
  if (!json) bench_fail(&err);
  double value = bench_number(json, e->metric) * (strcmp(e->metric, "accuracy") ? 1 : 100);
  tct_text_free(json);
  return value;
}

static double score(const experiment *e, const bench_parts *parts, const char *solver, double epsilon, uint64_t seed,
                    int valid) {
  tct_model *model = train(e, parts->train, solver, epsilon, seed);
  double value = measure(e, model, valid ? parts->valid : parts->test);
  tct_model_free(model);
  return value;
}

static void point(const char *figure, const experiment *e, double epsilon, const char *series, double x, double y,
                  const char *option) {
  fprintf(csv, "%s,%s,%g,%s,%g,%.6g,\"%s\"\n", figure, e->name, epsilon, series, x, y, option);
  fflush(csv);
  if (strcmp(figure, "1")) return;
  printf(
      "{\"bench\": \"dpscd_figures\", \"data\": \"%s\", \"epsilon\": %g, \"series\": \"%s\", \"%s\": %.6g, "
      "\"solver\": \"%s\"}\n",
      e->name, epsilon, series, e->metric, y, option);
  fflush(stdout);
}

/* ---- data ---------------------------------------------------------------------------------------- */

/* The paper's 81 columns of Adult: 5 standardised numbers and the indicators of each category but the most frequent. */
static bench_table adult(const char *file) {
  const char *path = bench_data(file);
  tct_error err = {0};
  tct_read_options o;
  if (!path) return (bench_table){0};
  tct_read_options_default(&o);
  o.labels = TCT_LABELS_BINARY;
  o.label = "income";
  o.schema_path = "examples/adult.schema.json"; /* its capital gains end at 20000 dollars */
  tct_data *data = tct_data_read(path, &o, &err);
  if (!data) bench_fail(&err);
  bench_table all = bench_table_of(data, TCT_LABELS_BINARY);
  static const char *numbers[] = {"age", "education_num", "capital_gain", "capital_loss", "hours_per_week"};
  static const char *frequent[] = {"=Private", "=Married-civ-spouse", "=Prof-specialty", "=Husband", "=White",
                                   "=Male",    "=United-States"};
  bench_table t = bench_table_new(all.n, all.p, TCT_LABELS_BINARY);
  int64_t p = 0;
  for (int64_t j = 0; j < all.p; j++) {
    const char *name = tct_data_feature(data, j);
    int number = 0, drop = 0;
    for (int k = 0; k < 5; k++) number |= !strcmp(name, numbers[k]);
    for (int k = 0; k < 7; k++)
      drop |= strlen(name) > strlen(frequent[k]) && strstr(name, frequent[k]) &&
              !strcmp(strstr(name, frequent[k]), frequent[k]);
    if (drop) continue;
    double mean = 0, square = 0;
    for (int64_t i = 0; number && i < all.n; i++) mean += all.x[i * all.p + j] / (double)all.n;
    for (int64_t i = 0; number && i < all.n; i++)
      square += (all.x[i * all.p + j] - mean) * (all.x[i * all.p + j] - mean) / (double)all.n;
    for (int64_t i = 0; i < all.n; i++)
      t.x[i * all.p + p] = number ? (all.x[i * all.p + j] - mean) / sqrt(square) : all.x[i * all.p + j];
    p++;
  }
  for (int64_t i = 0; i < all.n; i++) memmove(t.x + i * p, t.x + i * all.p, (size_t)p * sizeof(double));
  t.p = p;
  memcpy(t.y, all.y, (size_t)all.n * sizeof(double));
  bench_table_free(&all);
  tct_data_free(data);
  return t;
}

static bench_table read_set(const experiment *e, bench_table *test) {
  *test = (bench_table){0};
  if (!strcmp(e->name, "adult")) {
    *test = adult("adult_test.csv.xz");
    return adult("adult_train.csv.xz");
  }
  if (!strcmp(e->name, "phishing")) return bench_table_read("phishing.libsvm.xz", TCT_LABELS_BINARY, NULL, 68);
  if (!strcmp(e->name, "california")) return bench_table_read("california.csv.xz", TCT_LABELS_REAL, "MedHouseVal", 0);
  return bench_synthetic(40000, 90);
}

/* ---- choosing options ---------------------------------------------------------------------------- */

/* Every batch x second option, by the held-out part; surface: also print it (Figure 3). */
static void choose(const experiment *e, const bench_parts *parts, const char *format, double epsilon, int surface,
                   char *winner, size_t size) {
  static const double all_batches[] = {1, 5, 10, 50, 100, 200, 500, 1000, 1250, 1500, 1750, 2000};
  static const double few_batches[] = {200, 500, 2000};
  int batches = full ? 12 : 3, low = full ? -8 : -3, high = full ? 4 : 1;
  double best = INFINITY;
  for (int b = 0; b < batches; b++)
    for (int k = low; k <= high; k++) {
      char option[128], series[32];
      double batch = full ? all_batches[b] : few_batches[b], clip = pow(10, k);
      snprintf(option, sizeof option, format, batch, clip);
      double value = 0;
      for (uint64_t seed = 1; seed <= 3; seed++) value += score(e, parts, option, epsilon, seed, 1) / 3;
      double loss = strcmp(e->metric, "accuracy") ? value : -value;
      snprintf(series, sizeof series, "C = %g", clip);
      if (surface) point("3", e, epsilon, series, batch, value, option);
      if (!(loss >= best)) best = loss, snprintf(winner, size, "%s", option);
    }
}

/* ---- the figures --------------------------------------------------------------------------------- */

static double median(double *v, int n) {
  for (int i = 1; i < n; i++)
    for (int j = i; j > 0 && v[j] < v[j - 1]; j--) {
      double keep = v[j];
      v[j] = v[j - 1];
      v[j - 1] = keep;
    }
  return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static void tradeoff(const experiment *e, const bench_parts *parts, double epsilon, const char *series,
                     const char *solver) {
  double value[10];
  int seeds = full ? 10 : 3;
  for (int s = 0; s < seeds; s++) value[s] = score(e, parts, solver, epsilon, (uint64_t)s + 1, 0);
  point("1", e, epsilon, series, epsilon, median(value, seeds), solver);
}

/* What the first `count` iterations of a run cost. */
static double epsilon_of_part(double noise, double rate, double count) {
  tct_error err = {0};
  char event[128];
  const char *events[] = {event};
  snprintf(event, sizeof event, "sampled_gaussian:noise=%.17g,rate=%.17g,count=%.0f", noise, rate, count);
  char *json = tct_account_json(events, 1, TCT_ADD_REMOVE, 1e-3, &err);
  if (!json) bench_fail(&err);
  double epsilon = bench_number(json, "epsilon");
  tct_text_free(json);
  return epsilon;
}

/* Figure 2: dpscd with batch and clip fixed, k epochs of E. */
static void convergence(const experiment *e, const bench_parts *parts, double epsilon, double batch, double clip) {
  static const double parts_of[] = {1, 2, 3, 5, 7, 10, 20, 35, 50};
  double epochs = full ? 50 : 10, n = (double)parts->table[0].n;
  char solver[128], event[128];
  const char *events[] = {event};
  tct_error err = {0};
  snprintf(event, sizeof event, "sampled_gaussian:rate=%.17g,count=%.0f", batch / n, ceil(epochs * n / batch));
  char *json = tct_calibrate_json(events, 1, TCT_ADD_REMOVE, epsilon, 1e-3, &err);
  if (!json) bench_fail(&err);
  double noise = bench_number(json, "noise");
  tct_text_free(json);
  for (int k = 0; k < 9 && parts_of[k] <= epochs; k++) {
    double spent = epsilon_of_part(noise, batch / n, ceil(parts_of[k] * n / batch));
    snprintf(solver, sizeof solver, "dpscd:average=0,batch=%g,clip=%g,epochs=%g", batch, clip, parts_of[k]);
    tct_model *model = train(e, parts->train, solver, spent, 1);
    char series[48];
    snprintf(series, sizeof series, "dpscd eps = %g", epsilon);
    point("2", e, epsilon, series, parts_of[k], bench_objective(model, parts->train), solver);
    tct_model_free(model);
  }
}

/* A solver without privacy, drawn at each epsilon. */
static void reference(const experiment *e, const bench_parts *parts, double epsilon, const char *series,
                      const char *solver) {
  point("1", e, epsilon, series, epsilon, score(e, parts, solver, 0, 1, 0), solver);
}

/* Figure 2, not private: sgd by passes, and where scd ends. */
static void baselines(const experiment *e, const bench_parts *parts) {
  static const int epochs[] = {1, 2, 3, 5, 7, 10, 20, 35, 50};
  const char *exact = strcmp(e->loss, "hinge") ? "scd:tol=1e-8" : "scd:tol=1e-4";
  tct_model *best = train(e, parts->train, exact, 0, 1);
  double value = bench_objective(best, parts->train);
  tct_model_free(best);
  for (int k = 0; k < 9 && epochs[k] <= (full ? 50 : 10); k++) {
    char solver[96];
    snprintf(solver, sizeof solver, "sgd:epochs=%d", epochs[k]);
    tct_model *model = train(e, parts->train, solver, 0, 1);
    point("2", e, 0, "sgd (not private)", epochs[k], bench_objective(model, parts->train), solver);
    point("2", e, 0, "scd optimum (not private)", epochs[k], value, exact);
    tct_model_free(model);
  }
}

static void run(const experiment *e) {
  bench_table test, all = read_set(e, &test);
  if (!all.n) return;
  bench_parts parts = bench_split(&all, &test, 1);
  char winner[128], format[128];
  int epochs = !strcmp(e->loss, "squared") && full ? 50 : 10;
  fprintf(stderr, "%s: %lld training rows, %lld columns\n", e->name, (long long)parts.table[0].n,
          (long long)parts.table[0].p);
  for (int k = 0; k < 4; k++) {
    double eps = epsilons[k];
    if (!full && (eps == 0.5 || eps == 2)) continue;
    tradeoff(e, &parts, eps, "dpscd (defaults)", "dpscd");
    snprintf(format, sizeof format, "dpscd:state=paper,newton=1,epochs=%d,batch=%%g,clip=%%g", epochs);
    choose(e, &parts, format, eps, 0, winner, sizeof winner);
    tradeoff(e, &parts, eps, "dpscd (as in the paper)", winner);
    snprintf(format, sizeof format, "dpscd:epochs=%d,batch=%%g,clip=%%g", epochs);
    choose(e, &parts, format, eps, eps == 1, winner, sizeof winner);
    tradeoff(e, &parts, eps, "dpscd (tuned)", winner);
    double batch = 500, clip = 0.01;
    if (strstr(winner, "batch=")) sscanf(strstr(winner, "batch="), "batch=%lf,clip=%lf", &batch, &clip);
    convergence(e, &parts, eps, batch, clip);
    snprintf(format, sizeof format, "dpsgd:clip=%g,epochs=%d,batch=%%g,step=%%g",
             strcmp(e->loss, "squared") ? 1.0 : 10.0, epochs);
    choose(e, &parts, format, eps, 0, winner, sizeof winner);
    tradeoff(e, &parts, eps, "dpsgd (tuned)", winner);
    tradeoff(e, &parts, eps, "seqdpscd", "seqdpscd:batch=10,clip=1e-3");
    reference(e, &parts, eps, "scd (not private)", strcmp(e->loss, "hinge") ? "scd:tol=1e-8" : "scd:tol=1e-4");
    reference(e, &parts, eps, "sgd (not private)", "sgd");
  }
  baselines(e, &parts);
  bench_parts_free(&parts, &test);
  bench_table_free(&all);
  bench_table_free(&test);
}

int main(int argc, char **argv) {
  full = argc > 1 && !strcmp(argv[1], "full");
  mkdir("out", 0777);
  csv = fopen("out/dpscd_figures.csv", "w");
  if (!csv) {
    fprintf(stderr, "cannot write out/dpscd_figures.csv; run where a folder out can be made\n");
    return 1;
  }
  fprintf(csv, "figure,data,epsilon,series,x,y,option\n");
  for (size_t k = 0; k < sizeof experiments / sizeof *experiments; k++)
    if (argc < 3 || !strcmp(argv[2], experiments[k].name)) run(&experiments[k]);
  return fclose(csv) == 0 ? 0 : 1;
}
