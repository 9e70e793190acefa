/* bench_peers_dpscd.c - dpscd beside what the authors' public code reached, at equal epsilon, delta and preparation.
 *
 * Their figures are inputs (bench/peers/peer_dpscd.csv).  Protocol: features over their largest absolute value in the
 * training part, rows of norm 1, no intercept, delta 1e-3, add_remove.  A quarter of the rows is the test part (theirs,
 * row by row), a random quarter of the rest is held out.  "default": dpscd without options.  "tuned": the best of a
 * small grid on the held-out part, as theirs was tuned; tuning is not charged, in neither.  The synthetic set is ours,
 * of the same shape and spread; its rows are compared by the share of the explainable variance that was lost, (mse -
 * best)/(variance - best).  Usage: bench_peers_dpscd [SEEDS (10)] [tune] [DATA [LOSS]]   (run where
 * bench/peers/peer_dpscd.csv is) */
#include "sets.h"

enum { MOST_ROWS = 64, TUNE_SEEDS = 3 };

typedef struct row {
  char data[32], loss[32], lambda[16], metric[16];
  double epsilon, dpscd, dpsgd, best, variance;
} row;

typedef struct score {
  double mean, sd, objective;
} score;

static int read_rows(row *rows) {
  FILE *f = fopen("bench/peers/peer_dpscd.csv", "r");
  if (!f) {
    fprintf(stderr, "cannot open bench/peers/peer_dpscd.csv; run from the top of the source tree\n");
    exit(1);
  }
  char line[256];
  int count = 0;
  while (count < MOST_ROWS && fgets(line, sizeof line, f)) {
    row r = {.best = NAN, .variance = NAN};
    if (sscanf(line, "%31[^,],%31[^,],%15[^,],%lf,%15[^,],%lf,%lf,%lf,%lf", r.data, r.loss, r.lambda, &r.epsilon,
               r.metric, &r.dpscd, &r.dpsgd, &r.best, &r.variance) >= 7)
      rows[count++] = r;
  }
  fclose(f);
  return count;
}

static bench_table read_set(const row *r) {
  int real = !strcmp(r->loss, "squared");
  bench_table t;
  if (!strcmp(r->data, "phishing"))
    t = bench_table_read("phishing.libsvm.xz", TCT_LABELS_BINARY, NULL, 68);
  else if (!strcmp(r->data, "ipums-br"))
    t = bench_table_read("ipums_br_dpagd.csv.xz", TCT_LABELS_BINARY, "y", 0);
  else if (!strcmp(r->data, "bank"))
    t = bench_table_read("bank_dpagd.csv.xz", TCT_LABELS_BINARY, "y", 0);
  else
    t = bench_synthetic(40000, 90);
  if (real) t.labels = TCT_LABELS_REAL; /* -1 and +1 as numbers */
  return t;
}

static tct_config settings(const row *r, const char *solver, const char *penalty, uint64_t seed) {
  tct_config c;
  tct_config_default(&c);
  c.intercept = 0;
  int real = !strcmp(r->loss, "squared");
  c.loss = r->loss;
  c.penalty = penalty;
  c.solver = solver;
  c.scale = "max-abs";
  c.row_norm = 1;
  c.rows_rule = TCT_ROWS_UNIT;
  c.threads = 1;
  if (real) {
    c.label_scale = "center";
    c.label_bound = !strcmp(r->data, "bank") ? 2 : 30; /* |+-1 - mean| <= 2; the synthetic labels have sd 11 */
  }
  if (seed) {
    c.epsilon = r->epsilon;
    c.delta = 1e-3;
    c.has_seed = 1;
    c.seed = seed;
  }
  return c;
}

/* part 1: held out; 2: test. */
static double measure(const row *r, const bench_parts *parts, const char *solver, uint64_t seed, int part,
                      double *objective) {
  char penalty[64];
  tct_error err = {0};
  snprintf(penalty, sizeof penalty, "l2:lambda=%s", r->lambda);
  tct_config c = settings(r, solver, penalty, seed);
  tct_model *model = bench_train(&c, parts->train);
  char *json = tct_evaluate_json_nonprivate(model, part == 1 ? parts->valid : parts->test, &err);
  if (!json) bench_fail(&err);
  double value = bench_number(json, r->metric);
  *objective = bench_objective(model, parts->train);
  tct_text_free(json);
  tct_model_free(model);
  return strcmp(r->metric, "accuracy") ? value : 100 * value;
}

static score mean_of(const row *r, const bench_parts *parts, const char *solver, int seeds, int part) {
  double sum = 0, squares = 0, objectives = 0;
  for (int s = 0; s < seeds; s++) {
    double objective, value = measure(r, &parts[s], solver, (uint64_t)s + 1, part, &objective);
    sum += value;
    squares += value * value;
    objectives += objective;
  }
  double mean = sum / seeds;
  return (score){mean, sqrt(fmax(squares / seeds - mean * mean, 0)), objectives / seeds};
}

/* The grid: visits x how far a dual may travel, at the default batch. */
static void tune(const row *r, const bench_parts *parts, char *winner, size_t size) {
  static const double epochs[] = {10, 50}, travels[] = {0.1, 0.25, 0.5, 1};
  double best = -INFINITY, unit = !strcmp(r->loss, "squared") ? (strcmp(r->data, "bank") ? 30 : 2) : 1;
  for (int e = 0; e < 2; e++)
    for (int t = 0; t < 4; t++) {
      char solver[96];
      snprintf(solver, sizeof solver, "dpscd:epochs=%g,clip=%g", epochs[e], travels[t] * unit / epochs[e]);
      double value = mean_of(r, parts, solver, TUNE_SEEDS, 1).mean;
      if (strcmp(r->metric, "accuracy")) value = -value;
      if (value > best) best = value, snprintf(winner, size, "%s", solver);
    }
}

/* The share of the explainable variance that was lost; the value itself where shares make no sense. */
static double comparable(const row *r, double value, double best, double variance) {
  return strcmp(r->data, "synthetic") ? value : (value - best) / (variance - best);
}

static void print(const row *r, const char *name, const char *solver, score s, double exact, double variance) {
  int up = !strcmp(r->metric, "accuracy");
  double ours = comparable(r, s.mean, exact, variance), dpscd = comparable(r, r->dpscd, r->best, r->variance),
         dpsgd = comparable(r, r->dpsgd, r->best, r->variance);
  printf(
      "{\"bench\": \"peers_dpscd\", \"data\": \"%s\", \"loss\": \"%s\", \"epsilon\": %g, \"row\": \"%s\", "
      "\"solver\": \"%s\", \"metric\": \"%s\", \"ours\": %.4f, \"sd\": %.4f, \"objective\": %.5f, \"exact\": %.4f, "
      "\"compared\": [%.4f, %.4f, %.4f], \"better_than_dpscd\": %s, \"better_than_dpsgd\": %s}\n",
      r->data, r->loss, r->epsilon, name, solver, r->metric, s.mean, s.sd, s.objective, exact, ours, dpscd, dpsgd,
      (up ? ours > dpscd : ours < dpscd) ? "true" : "false", (up ? ours > dpsgd : ours < dpsgd) ? "true" : "false");
  fflush(stdout);
}

static double variance_of(const bench_table *t) {
  double mean = 0, sum = 0;
  for (int64_t i = 0; i < t->n; i++) mean += t->y[i] / (double)t->n;
  for (int64_t i = 0; i < t->n; i++) sum += (t->y[i] - mean) * (t->y[i] - mean) / (double)t->n;
  return sum;
}

/* All rows of one data set and loss. */
static void compare(const row *rows, int count, int seeds, int tuned) {
  bench_table all = read_set(rows), none = {0};
  if (!all.n) return;
  bench_parts *parts = calloc((size_t)seeds, sizeof *parts);
  for (int s = 0; s < seeds; s++) parts[s] = bench_split(&all, &none, (uint32_t)s + 1);
  double objective, variance = variance_of(&parts[0].table[2]);
  const char *solver = !strcmp(rows->loss, "hinge") ? "scd:tol=1e-4" : "scd:tol=1e-8";
  double exact = measure(rows, &parts[0], solver, 0, 2, &objective);
  for (int k = 0; k < count; k++) {
    char winner[96];
    print(&rows[k], "default", "dpscd", mean_of(&rows[k], parts, "dpscd", seeds, 2), exact, variance);
    if (!tuned) continue;
    tune(&rows[k], parts, winner, sizeof winner);
    print(&rows[k], "tuned", winner, mean_of(&rows[k], parts, winner, seeds, 2), exact, variance);
  }
  for (int s = 0; s < seeds; s++) bench_parts_free(&parts[s], &none);
  free(parts);
  bench_table_free(&all);
}

int main(int argc, char **argv) {
  static row rows[MOST_ROWS];
  int seeds = argc > 1 ? atoi(argv[1]) : 10, at = 2, tuned = argc > at && !strcmp(argv[at], "tune");
  if (tuned) at++;
  int count = read_rows(rows);
  for (int from = 0, to; from < count; from = to) {
    for (to = from; to < count && !strcmp(rows[to].data, rows[from].data) && !strcmp(rows[to].loss, rows[from].loss);)
      to++;
    if (argc > at && strcmp(argv[at], rows[from].data)) continue;
    if (argc > at + 1 && strcmp(argv[at + 1], rows[from].loss)) continue;
    compare(rows + from, to - from, seeds, tuned);
  }
  return 0;
}
