/* bench_constant.c - when a model is worse than a constant: few records, small epsilon, the solver chosen by rule.
 *
 * Parts of seven data sets (100 to 10000 records, drawn afresh each time), epsilon 0.1 to 3, delta 1e-6, penalty none,
 * intercept, all else by default.  The constant is the best one on the test records (the share of the positives, or the
 * mean label).  It is exact, and so a little better than one that has to be paid for.  A run counts as worse if its
 * mean loss on the test records is above the constant's, and for two classes also if its accuracy is below it.  Printed
 * for every setting, then over all settings by kappa = mu n/p and by the signal mu n/sqrt(p).  At the end: the share of
 * worse losses below and above a few thresholds of the signal.  Usage: bench_constant [RUNS (10)] */
#include "sets.h"

enum { TEST = 4000, BINS = 16 };

/* Runs and worse ones by the power of two of a figure: bin k holds [2^(k-4), 2^(k-3)). */
typedef struct counts {
  int runs[BINS], loss[BINS], accuracy[BINS];
} counts;

static counts by_kappa, by_signal;

/* Runs below and above a signal: what a threshold there would say. */
enum { CUTS = 6 };
static const double cuts[CUTS] = {1, 2, 3, 4, 8, 16};
static int cut_runs[CUTS][2], cut_worse[CUTS][2];

static void count(counts *c, double figure, int loss, int accuracy) {
  int k = (int)floor(log2(figure)) + 4;
  if (k < 0) k = 0;
  if (k >= BINS) k = BINS - 1;
  c->runs[k]++, c->loss[k] += loss, c->accuracy[k] += accuracy;
}

static void count_cuts(double signal, int worse) {
  for (int k = 0; k < CUTS; k++) cut_runs[k][signal >= cuts[k]]++, cut_worse[k][signal >= cuts[k]] += worse;
}

static void print_cuts(void) {
  for (int k = 0; k < CUTS; k++)
    printf(
        "{\"bench\": \"constant\", \"threshold\": %g, \"runs_below\": %d, \"worse_below\": %.3f, \"runs_above\": %d, "
        "\"worse_above\": %.3f}\n",
        cuts[k], cut_runs[k][0], cut_worse[k][0] / (double)cut_runs[k][0], cut_runs[k][1],
        cut_worse[k][1] / (double)cut_runs[k][1]);
}

static double mu_of(double epsilon, double delta) {
  tct_error err = {0};
  const char *event = "gaussian:count=1";
  char *json = tct_calibrate_json(&event, 1, TCT_ADD_REMOVE, epsilon, delta, &err);
  if (!json) bench_fail(&err);
  double noise = bench_number(json, "noise");
  tct_text_free(json);
  return 1 / noise;
}

/* The best constant: its mean loss as tct_evaluate_json_nonprivate counts it, and its accuracy. */
static void constant(const bench_table *t, double *loss, double *accuracy) {
  double mean = 0, squares = 0;
  for (int64_t i = 0; i < t->n; i++) mean += t->y[i] / (double)t->n, squares += t->y[i] * t->y[i] / (double)t->n;
  double share = (1 + mean) / 2, rest = 1 - share;
  *loss = t->labels == TCT_LABELS_REAL ? squares - mean * mean
                                       : -share * log(fmax(share, 1e-300)) - rest * log(fmax(rest, 1e-300));
  *accuracy = fmax(share, rest);
}

static void one(const bench_table *all, tct_config *c, int64_t n, uint32_t seed, int *loss, int *accuracy) {
  tct_error err = {0};
  double best_loss, best_accuracy;
  int64_t *order = bench_permutation(all->n, seed), tests = all->n - n < TEST ? all->n - n : TEST;
  bench_table part = bench_table_rows(all, order, n), test = bench_table_rows(all, order + n, tests);
  tct_data *train = bench_view(&part), *held = bench_view(&test);
  c->has_seed = 1, c->seed = seed;
  tct_model *model = bench_train(c, train);
  char *json = tct_evaluate_json_nonprivate(model, held, &err);
  if (!json) bench_fail(&err);
  constant(&test, &best_loss, &best_accuracy);
  *loss = bench_number(json, all->labels == TCT_LABELS_REAL ? "mse" : "mean_loss") > best_loss;
  *accuracy = all->labels == TCT_LABELS_REAL ? *loss : bench_number(json, "accuracy") < best_accuracy;
  tct_text_free(json);
  tct_model_free(model);
  tct_data_free(train);
  tct_data_free(held);
  bench_table_free(&part);
  bench_table_free(&test);
  free(order);
}

static void sweep(const char *name, const bench_table *all, double row_norm, double label_bound, int runs) {
  static const int64_t sizes[] = {100, 300, 1000, 3000, 10000};
  static const double epsilons[] = {0.1, 0.3, 1, 3};
  tct_config c;
  tct_config_default(&c);
  c.intercept = 0;
  c.loss = all->labels == TCT_LABELS_REAL ? "squared" : "logistic";
  c.intercept = 1, c.threads = 1, c.delta = 1e-6, c.row_norm = row_norm, c.label_bound = label_bound;
  for (int k = 0; k < 20; k++) {
    int64_t n = sizes[k / 4];
    if (n + TEST / 4 > all->n) continue;
    c.epsilon = epsilons[k % 4];
    double mu = mu_of(c.epsilon, c.delta), p = (double)all->p + 1, kappa = mu * (double)n / p;
    int losses = 0, accuracies = 0;
    for (int s = 0; s < runs; s++) {
      int loss, accuracy;
      one(all, &c, n, (uint32_t)(1 + s), &loss, &accuracy);
      count(&by_kappa, kappa, loss, accuracy);
      count(&by_signal, kappa * sqrt(p), loss, accuracy);
      count_cuts(kappa * sqrt(p), loss);
      losses += loss, accuracies += accuracy;
    }
    printf(
        "{\"bench\": \"constant\", \"data\": \"%s\", \"n\": %lld, \"p\": %.0f, \"epsilon\": %g, \"mu\": %.4g, "
        "\"kappa\": %.4g, \"signal\": %.4g, \"runs\": %d, \"worse_loss\": %d, \"worse_accuracy\": %d}\n",
        name, (long long)n, p, c.epsilon, mu, kappa, kappa * sqrt(p), runs, losses, accuracies);
    fflush(stdout);
  }
}

static void print(const char *name, const counts *c) {
  for (int k = 0; k < BINS; k++)
    if (c->runs[k])
      printf(
          "{\"bench\": \"constant\", \"by\": \"%s\", \"from\": %g, \"runs\": %d, \"worse_loss\": %.3f, "
          "\"worse_accuracy\": %.3f}\n",
          name, ldexp(1, k - 4), c->runs[k], c->loss[k] / (double)c->runs[k], c->accuracy[k] / (double)c->runs[k]);
}

static bench_table bounded(const char *name, const char *schema, int labels, const char *label) {
  tct_error err = {0};
  tct_read_options o;
  bench_table t = {0};
  const char *path = bench_data(name);
  if (!path) return t;
  tct_read_options_default(&o);
  o.labels = labels, o.label = label, o.schema_path = schema, o.invalid = TCT_INVALID_ZERO;
  tct_data *data = tct_data_read(path, &o, &err);
  if (!data) bench_fail(&err);
  t = bench_table_of(data, labels);
  tct_data_free(data);
  return t;
}

/* Real labels as tct_config_use_schema would have them: the middle of the public bounds is taken off. */
static void centre(bench_table *t, double middle, double unit) {
  for (int64_t i = 0; i < t->n; i++) t->y[i] = (t->y[i] - middle) / unit;
}

static bench_table binary(const char *name, const char *positive, int64_t cols) {
  tct_data *data = bench_read(name, TCT_LABELS_BINARY, NULL, positive, cols);
  bench_table t = {0};
  if (data) t = bench_table_of(data, TCT_LABELS_BINARY);
  tct_data_free(data);
  return t;
}

/* A set is freed before the next is read. */
static void run(const char *name, bench_table t, double row_norm, double label_bound, int runs) {
  if (t.n) sweep(name, &t, row_norm, label_bound, runs);
  bench_table_free(&t);
}

/* Row norms: the most that the columns allow (one-hot groups and numbers in [0, 1] add 1 each, the intercept 1); w8a,
 * where they allow too much, 4. */
int main(int argc, char **argv) {
  int runs = argc > 1 ? atoi(argv[1]) : 10;
  run("a9a", binary("a9a.libsvm.xz", NULL, 123), sqrt(15), NAN, runs);
  run("w8a", binary("w8a.libsvm.xz", NULL, 300), 4, NAN, runs);
  run("phishing", binary("phishing.libsvm.xz", NULL, 68), sqrt(31), NAN, runs);
  run("mushrooms", binary("mushrooms.libsvm.xz", "1", 112), sqrt(22), NAN, runs);
  run("adult", bounded("adult_train.csv.xz", "examples/adult.schema.json", TCT_LABELS_BINARY, "income"), sqrt(15), NAN,
      runs);
  bench_table t = bounded("california.csv.xz", "examples/california.schema.json", TCT_LABELS_REAL, "MedHouseVal");
  centre(&t, 2.5, 2.5);
  run("california", t, 3, 1, runs);
  t = bench_nist_acs();
  centre(&t, 5e4, 5e4);
  run("nist_acs", t, 5, 1, runs);
  print("kappa", &by_kappa);
  print("signal", &by_signal);
  print_cuts();
  return 0;
}
