/* bench_coverage.c - what 95 % intervals cover, on tables with a known truth.
 *
 *   bench_coverage LOSS KIND N P EPSILON RUNS [OPTIONS]      one JSON line; kinds and losses: bench/lib/coverage.h
 *   bench_coverage --noise LOSS KIND N P EPSILON RUNS ...    the same table again and again: the stated deviation of
 *                                                            the noise over the one that is seen, a weight
 *
 * OPTIONS are options of dponestep, e.g. weight=1.5 for a search. */
#include "bench.h"
#include "coverage.h"
#include "model/model.h"

enum { MOST = 512 };

typedef struct cell {
  coverage_kind kind;
  coverage_loss loss;
  int64_t n, p;
  double epsilon;
  int runs;
  const char *options;
} cell;

typedef struct tally {
  int given[MOST], hit[MOST], found[MOST];
  double ratio[MOST][64], share, excess, exact; /* share: of noise in the variance */
  int ratios[MOST], shares;
} tally;

static int place(const char *text, const char *const *list, int count) {
  for (int k = 0; k < count; k++)
    if (!strcmp(text, list[k])) return k;
  fprintf(stderr, "there is no '%s'\n", text);
  exit(2);
}

/* The population's own best line, where the model is not the one that drew it. */
static void truth_of(const cell *c, double *w) {
  coverage_truth(c->kind, c->loss, c->p, w);
  if (!coverage_robust(c->kind) || c->kind == HETERO) return;
  double mean[MOST] = {0};
  for (int k = 0; k < 4; k++) {
    coverage_table t = coverage_draw(c->kind, c->loss, 400000, c->p, (uint64_t)(1000000 + k));
    coverage_exact(&t, c->loss, 0, w, NULL);
    for (int64_t j = 0; j < c->p; j++) mean[j] += w[j] / 4;
    coverage_free(&t);
  }
  memcpy(w, mean, (size_t)c->p * sizeof *w);
}

static tct_model *train(const cell *c, const coverage_table *t, int run) {
  tct_error err = {0};
  char solver[300];
  tct_config config;
  tct_config_default(&config);
  snprintf(solver, sizeof solver, "dponestep:errors=%s%s%s", coverage_robust(c->kind) ? "robust" : "model",
           c->options[0] ? "," : "", c->options);
  config.loss = coverage_losses[c->loss], config.solver = solver;
  config.epsilon = c->epsilon, config.delta = 1e-6, config.threads = 1, config.intercept = 0;
  config.row_norm = t->row_norm, config.label_bound = t->label_bound;
  config.has_seed = 1, config.seed = (uint64_t)run + 77;
  tct_matrix x = {.rows = t->n, .cols = t->p, .layout = TCT_DENSE_ROWS, .values = t->x, .stride = t->p};
  tct_data *data = tct_data_view(&x, t->y, c->loss == LOGISTIC ? TCT_LABELS_BINARY : TCT_LABELS_REAL, NULL, NULL, &err);
  if (!data) bench_fail(&err);
  tct_model *model = bench_train(&config, data);
  tct_data_free(data);
  return model;
}

static void count_run(const cell *c, const double *truth, int run, tally *all) {
  coverage_table t = coverage_draw(c->kind, c->loss, c->n, c->p, (uint64_t)run);
  tct_model *model = train(c, &t, run);
  double w[MOST], se[MOST] = {0}, unit[MOST] = {0};
  if (run < 60) coverage_exact(&t, c->loss, coverage_robust(c->kind), w, se);
  for (int64_t j = 0; j < c->p; j++) {
    unit[j] = 1;
    tct_contrast each = tct_inference_contrast(&model->inference, unit);
    unit[j] = 0;
    if (each.why != TCT_GIVEN) continue;
    double half = tct_student_quantile(0.95, each.degrees) * each.standard_error, at = model->coefficients[j];
    all->given[j]++;
    all->hit[j] += fabs(at - truth[j]) <= half;
    all->found[j] += fabs(at) > half;
    all->share += each.noise_error * each.noise_error / (each.standard_error * each.standard_error), all->shares++;
    if (run < 60) all->ratio[j][all->ratios[j]++] = each.standard_error / se[j];
  }
  tct_model_free(model);
  coverage_free(&t);
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double middle(double *list, int count) {
  qsort(list, (size_t)count, sizeof *list, by_size);
  return count ? list[count / 2] : NAN;
}

static void put(const char *name, double value, const char *end) {
  if (isfinite(value))
    printf("\"%s\": %.4g%s", name, value, end);
  else
    printf("\"%s\": null%s", name, end);
}

static void print(const cell *c, const double *truth, tally *all, double seconds) {
  double given = 0, hit = 0, worst = INFINITY, null_given = 0, null_found = 0, widest = 0;
  static double ratios[MOST * 64];
  int count = 0;
  for (int64_t j = 0; j < c->p; j++) {
    given += all->given[j], hit += all->hit[j];
    if (all->given[j] >= 50) worst = fmin(worst, (double)all->hit[j] / all->given[j]);
    if (truth[j] == 0) null_given += all->given[j], null_found += all->found[j];
    for (int k = 0; k < all->ratios[j]; k++) ratios[count++] = all->ratio[j][k];
    widest = fmax(widest, middle(all->ratio[j], all->ratios[j]));
  }
  printf(
      "{\"bench\": \"coverage\", \"loss\": \"%s\", \"kind\": \"%s\", \"n\": %lld, \"p\": %lld, \"epsilon\": %g, "
      "\"options\": \"%s\", \"runs\": %d, ",
      coverage_losses[c->loss], coverage_kinds[c->kind], (long long)c->n, (long long)c->p, c->epsilon, c->options,
      c->runs);
  put("coverage", hit / given, ", "), put("worst_weight", worst, ", ");
  put("withheld", 1 - given / ((double)c->runs * (double)c->p), ", "), put("width", middle(ratios, count), ", ");
  put("widest_weight", widest, ", "), put("noise_part", all->share / all->shares, ", ");
  put("null_found", null_found / null_given, ", "), put("seconds", seconds, "}\n");
  fflush(stdout);
}

/* One table, fitted again and again: what is stated of the noise beside what it is. */
static void repeat(const cell *c) {
  coverage_table t = coverage_draw(c->kind, c->loss, c->n, c->p, 0);
  double sum[MOST] = {0}, squares[MOST] = {0}, stated[MOST] = {0}, unit[MOST] = {0}, low = INFINITY, high = 0;
  int given[MOST] = {0};
  for (int run = 0; run < c->runs; run++) {
    tct_model *model = train(c, &t, run);
    for (int64_t j = 0; j < c->p; j++) {
      unit[j] = 1;
      tct_contrast each = tct_inference_contrast(&model->inference, unit);
      unit[j] = 0;
      if (each.why != TCT_GIVEN) continue;
      double w = model->coefficients[j];
      sum[j] += w, squares[j] += w * w, stated[j] += each.noise_error * each.noise_error, given[j]++;
    }
    tct_model_free(model);
  }
  for (int64_t j = 0; j < c->p; j++) {
    if (given[j] < c->runs / 2) continue;
    double seen = sqrt((squares[j] - sum[j] * sum[j] / given[j]) / (given[j] - 1)),
           ratio = sqrt(stated[j] / given[j]) / seen;
    low = fmin(low, ratio), high = fmax(high, ratio);
  }
  printf(
      "{\"bench\": \"noise\", \"loss\": \"%s\", \"kind\": \"%s\", \"n\": %lld, \"p\": %lld, \"epsilon\": %g, "
      "\"options\": \"%s\", \"runs\": %d, \"stated_over_seen_min\": %.3f, \"stated_over_seen_max\": %.3f}\n",
      coverage_losses[c->loss], coverage_kinds[c->kind], (long long)c->n, (long long)c->p, c->epsilon, c->options,
      c->runs, low, high);
  coverage_free(&t);
}

int main(int argc, char **argv) {
  static tally all;
  double truth[MOST];
  int noise = argc > 1 && !strcmp(argv[1], "--noise");
  if (noise) argc--, argv++;
  if (argc < 7) {
    fprintf(stderr, "usage: bench_coverage LOSS KIND N P EPSILON RUNS [OPTIONS]\n");
    return argc == 1 ? 0 : 2;
  }
  cell c = {place(argv[2], coverage_kinds, KINDS),
            place(argv[1], coverage_losses, LOSSES),
            atoll(argv[3]),
            atoll(argv[4]),
            atof(argv[5]),
            atoi(argv[6]),
            argc > 7 ? argv[7] : ""};
  if (c.p < 3 || c.p > MOST || c.n < c.p || c.runs < 1) return fprintf(stderr, "P is 3 to 512, N above P\n"), 2;
  double start = bench_now();
  if (noise) return repeat(&c), 0;
  truth_of(&c, truth);
  for (int run = 0; run < c.runs; run++) count_run(&c, truth, run, &all);
  print(&c, truth, &all, bench_now() - start);
  return 0;
}
