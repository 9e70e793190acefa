/* bench_coverage.c - what 95 % intervals cover, on tables with a known truth.
 *
 *   bench_coverage LOSS KIND N P EPSILON,... RUNS [OPTIONS] [--from R] [--truths FOLDER]
 *       tables R to R + RUNS - 1; one JSON line for each epsilon, all on the same tables; kinds and losses:
 *       bench/lib/coverage.h.  Lines of several calls add up: coverage.py does it.
 *   bench_coverage --noise LOSS KIND N P EPSILON RUNS ...
 *       the same table again and again: the stated deviation of the noise over the one that is seen, a weight
 *   bench_coverage --plain squared KIND N P EPSILON RUNS
 *       plain noisy sufficient statistics beside dponestep: the half-width that covers 95 %, over 1.96 exact errors
 *
 * OPTIONS are options of dponestep, e.g. weight=1.5 for a search.  The first EXACT of each
 * thousand tables are also fitted exactly, for the width, and by `auto` without errors, for the excess of the loss. */
#include "bench.h"
#include "coverage.h"
#include "model/model.h"
#include "train/plan.h"

#include <malloc.h>

enum { MOST = 64, EPSILONS = 8, EXACT = 40, EXACT_LARGE = 15, LARGE = 100000, EACH = 1000 };

typedef struct cell {
  coverage_kind kind;
  coverage_loss loss;
  int64_t n, p;
  double epsilon[EPSILONS];
  int epsilons, from, runs;
  const char *options, *truths; /* truths: a folder that keeps them, or NULL */
} cell;

typedef struct tally {
  int given[MOST], hit[MOST], found[MOST], ratios[MOST], shares, excesses;
  double ratio[MOST][EXACT], share; /* share: of noise in the variance */
  double off[MOST];                 /* sum of errors over the stated deviation */
  double excess;                    /* sum over tables of the logarithm of one excess over the other */
  double seconds;
} tally;

static int place(const char *text, const char *const *list, int count) {
  for (int k = 0; k < count; k++)
    if (!strcmp(text, list[k])) return k;
  fprintf(stderr, "there is no '%s'\n", text);
  exit(2);
}

/* Are many records longer than the bound on a row?  They are shortened, and the line that drew them is then not the one
 * that fits them best.  Of these columns one record in twenty is. */
static int shortens(const cell *c) { return c->kind == CORRELATED && c->loss == SQUARED && c->p >= 20; }

static void shorten(coverage_table *t) {
  for (int64_t i = 0; i < t->n; i++) {
    double *x = t->x + i * t->p, size2 = 0;
    for (int64_t j = 0; j < t->p; j++) size2 += x[j] * x[j];
    double scale = fmin(1, t->row_norm / sqrt(size2));
    for (int64_t j = 0; j < t->p; j++) x[j] *= scale;
  }
}

/* The population's own best line, where the model is not the one that drew it: over 20 million records, for a tenth of
 * a standard error of 200,000. */
static void find_truth(const cell *c, double *w) {
  enum { PARTS = 50 };
  coverage_truth(c->kind, c->loss, c->p, w);
  if (!coverage_robust(c->kind) && !shortens(c)) return;
  double mean[MOST] = {0}, start[MOST];
  memcpy(start, w, sizeof start);
  for (int k = 0; k < PARTS; k++) {
    coverage_table t = coverage_make(c->kind, c->loss, 400000, c->p, (uint64_t)(1000000 + k), 1);
    memcpy(w, start, (size_t)c->p * sizeof *w);
    if (shortens(c)) shorten(&t);
    coverage_exact(&t, c->loss, 0, w, NULL);
    for (int64_t j = 0; j < c->p; j++) mean[j] += w[j] / PARTS;
    coverage_free(&t);
  }
  memcpy(w, mean, (size_t)c->p * sizeof *w);
}

static void truth_of(const cell *c, double *w) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s-%s-%lld.truth", c->truths ? c->truths : "", coverage_losses[c->loss],
           coverage_kinds[c->kind], (long long)c->p);
  FILE *kept = c->truths ? fopen(path, "rb") : NULL;
  int whole = kept && fread(w, sizeof *w, (size_t)c->p, kept) == (size_t)c->p;
  if (kept) fclose(kept);
  if (whole) return;
  find_truth(c, w);
  if (!c->truths || !(kept = fopen(path, "wb"))) return;
  fwrite(w, sizeof *w, (size_t)c->p, kept);
  fclose(kept);
}

static tct_plan *plan_new(const cell *c, const coverage_table *t, double epsilon, const char *solver) {
  tct_error err = {0};
  tct_config config;
  tct_config_default(&config);
  config.loss = coverage_losses[c->loss];
  if (solver) config.solver = solver;
  config.epsilon = epsilon, config.delta = 1e-6, config.threads = 1, config.intercept = 0;
  config.row_norm = t->row_norm, config.label_bound = t->label_bound, config.has_seed = 1;
  tct_plan *plan = tct_plan_new(&config, t->n, t->p, &err);
  if (!plan) bench_fail(&err);
  return plan;
}

/* A plan follows from public facts, which all tables of a cell share: it is made once for each epsilon and solver. */
static tct_plan *plan_of(const cell *c, const coverage_table *t, double epsilon, const char *solver) {
  static tct_plan *kept[EPSILONS][2];
  int place = 0;
  while (c->epsilon[place] != epsilon) place++;
  tct_plan **plan = &kept[place][solver != NULL];
  if (!*plan) *plan = plan_new(c, t, epsilon, solver);
  return *plan;
}

static tct_model *fit(const cell *c, const coverage_table *t, double epsilon, const char *solver, int run) {
  tct_error err = {0};
  tct_plan *plan = plan_of(c, t, epsilon, solver);
  plan->config.seed = (uint64_t)run + 77;
  tct_matrix x = {.rows = t->n, .cols = t->p, .layout = TCT_DENSE_ROWS, .values = t->x, .stride = t->p};
  tct_data *data = tct_data_view(&x, t->y, c->loss == LOGISTIC ? TCT_LABELS_BINARY : TCT_LABELS_REAL, NULL, NULL, &err);
  if (!data) bench_fail(&err);
  tct_model *model = tct_fit(plan, data, &err);
  if (!model) bench_fail(&err);
  tct_data_free(data);
  return model;
}

static tct_model *train(const cell *c, const coverage_table *t, double epsilon, int run) {
  char solver[300];
  snprintf(solver, sizeof solver, "dponestep:errors=%s%s%s", coverage_robust(c->kind) ? "robust" : "model",
           c->options[0] ? "," : "", c->options);
  return fit(c, t, epsilon, solver, run);
}

static tct_contrast weight(const tct_model *model, int64_t j) {
  double unit[MOST] = {0};
  unit[j] = 1;
  return tct_inference_contrast(&model->inference, unit);
}

static void count_intervals(const cell *c, const double *truth, const tct_model *model, const double *se, tally *all) {
  for (int64_t j = 0; j < c->p; j++) {
    tct_contrast each = weight(model, j);
    if (each.why != TCT_GIVEN) continue;
    double half = tct_student_quantile(0.95, each.degrees) * each.standard_error, at = model->coefficients[j];
    all->given[j]++;
    all->hit[j] += fabs(at - truth[j]) <= half;
    all->found[j] += fabs(at) > half;
    all->off[j] += (at - truth[j]) / each.standard_error;
    all->share += each.noise_error * each.noise_error / (each.standard_error * each.standard_error), all->shares++;
    if (se) all->ratio[j][all->ratios[j]++] = each.standard_error / se[j];
  }
}

/* The excess of the loss on the table, over that of a fit without errors. */
static void compare(const cell *c, const coverage_table *t, double least, double epsilon, const tct_model *model,
                    int run, tally *all) {
  tct_model *without = fit(c, t, epsilon, NULL, run);
  double own = coverage_objective(t, c->loss, model->coefficients) - least;
  double other = coverage_objective(t, c->loss, without->coefficients) - least;
  if (own > 0 && other > 0) all->excess += log(own / other), all->excesses++;
  tct_model_free(without);
}

static void count_run(const cell *c, const double *truth, int run, tally *all) {
  coverage_table t = coverage_draw(c->kind, c->loss, c->n, c->p, (uint64_t)run);
  double w[MOST] = {0}, se[MOST] = {0}, least = 0;
  int exact = run % EACH < (c->n < LARGE ? EXACT : EXACT_LARGE);
  if (exact) memcpy(w, truth, sizeof w), coverage_exact(&t, c->loss, coverage_robust(c->kind), w, se);
  if (exact) least = coverage_objective(&t, c->loss, w);
  for (int k = 0; k < c->epsilons; k++) {
    double start = bench_cpu();
    tct_model *model = train(c, &t, c->epsilon[k], run);
    all[k].seconds += bench_cpu() - start;
    count_intervals(c, truth, model, exact ? se : NULL, &all[k]);
    if (exact) compare(c, &t, least, c->epsilon[k], model, run, &all[k]);
    tct_model_free(model);
  }
  coverage_free(&t);
}

static void put_counts(const char *name, const int *count, int64_t p) {
  printf("\"%s\": [", name);
  for (int64_t j = 0; j < p; j++) printf("%s%d", j ? ", " : "", count[j]);
  printf("], ");
}

/* Counts a weight; the width and the excess over the tables that were fitted exactly. */
static void print(const cell *c, const double *truth, double epsilon, tally *all) {
  static double ratios[MOST * EXACT];
  int count = 0, null[MOST];
  double widest = -INFINITY, bias = 0;
  for (int64_t j = 0; j < c->p; j++) {
    for (int k = 0; k < all->ratios[j]; k++) ratios[count++] = all->ratio[j][k];
    if (all->ratios[j]) widest = fmax(widest, bench_middle(all->ratio[j], all->ratios[j]));
    null[j] = truth[j] == 0;
    if (all->given[j]) bias = fmax(bias, fabs(all->off[j] / all->given[j]));
  }
  printf("{\"bench\": \"coverage\", \"loss\": \"%s\", \"kind\": \"%s\", \"n\": %lld, \"p\": %lld, \"epsilon\": %g, ",
         coverage_losses[c->loss], coverage_kinds[c->kind], (long long)c->n, (long long)c->p, epsilon);
  printf("\"options\": \"%s\", \"from\": %d, \"runs\": %d, ", c->options, c->from, c->runs);
  put_counts("given", all->given, c->p), put_counts("hit", all->hit, c->p);
  put_counts("found", all->found, c->p), put_counts("null", null, c->p);
  bench_put("width", bench_middle(ratios, count), ", "), bench_put("widest_weight", widest, ", "),
      bench_put("bias", bias, ", ");
  bench_put("excess", exp(all->excess / all->excesses), ", "), bench_put("noise_part", all->share / all->shares, ", ");
  bench_put("seconds", all->seconds / c->runs, "}\n");
  fflush(stdout);
}

/* One table, fitted again and again: what is stated of the noise beside what it is. */
static void repeat(const cell *c) {
  coverage_table t = coverage_draw(c->kind, c->loss, c->n, c->p, 0);
  double sum[MOST] = {0}, squares[MOST] = {0}, stated[MOST] = {0}, low = INFINITY, high = -INFINITY;
  int given[MOST] = {0};
  for (int run = 0; run < c->runs; run++) {
    tct_model *model = train(c, &t, c->epsilon[0], run);
    for (int64_t j = 0; j < c->p; j++) {
      tct_contrast each = weight(model, j);
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
  printf("{\"bench\": \"noise\", \"loss\": \"%s\", \"kind\": \"%s\", \"n\": %lld, \"p\": %lld, \"epsilon\": %g, ",
         coverage_losses[c->loss], coverage_kinds[c->kind], (long long)c->n, (long long)c->p, c->epsilon[0]);
  printf("\"options\": \"%s\", \"runs\": %d, ", c->options, c->runs);
  bench_put("least", low, ", "), bench_put("largest", high, "}\n");
  coverage_free(&t);
}

/* ---- plain noisy sufficient statistics ----------------------------------------------------------------------------
 */

/* w[p] from one release of (X^T X / R^2, X^T y / (R Y)), whose record's term has length at most sqrt(2). */
static void plain_fit(const cell *c, const coverage_table *t, int run, double *w) {
  double h[MOST * MOST], j[MOST * MOST], inverse[MOST * MOST], g[MOST], zero[MOST] = {0};
  double deviation = sqrt(2) / bench_mu(c->epsilon[0]), r = t->row_norm;
  dice d = dice_new(900, (uint64_t)run);
  coverage_sums(t, SQUARED, zero, h, g, j); /* g = -X^T y */
  for (int64_t a = 0; a < c->p; a++) {
    g[a] += deviation * r * t->label_bound * dice_normal(&d);
    for (int64_t b = 0; b <= a; b++)
      h[b * c->p + a] = h[a * c->p + b] += (a == b ? 1 : sqrt(0.5)) * deviation * r * r * dice_normal(&d);
  }
  coverage_invert(h, inverse, c->p);
  for (int64_t a = 0; a < c->p; a++) {
    w[a] = 0;
    for (int64_t b = 0; b < c->p; b++) w[a] -= inverse[a * c->p + b] * g[b];
  }
}

/* The half-width that 95 of 100 errors are within, over 1.96 exact standard errors: the middle weight. */
static double needed(double *error, const double *se, int64_t p, int runs) {
  double width[MOST];
  for (int64_t j = 0; j < p; j++) {
    qsort(error + j * runs, (size_t)runs, sizeof *error, bench_by_size);
    width[j] = error[j * runs + (int64_t)(0.95 * runs)] / (1.96 * se[j]);
  }
  return bench_middle(width, (int)p);
}

static void beside_plain(const cell *c, const double *truth) {
  double *own = malloc((size_t)(2 * c->p * c->runs) * sizeof *own), *plain = own + c->p * c->runs, se[MOST] = {0};
  if (!own) abort();
  for (int run = 0; run < c->runs; run++) {
    double w[MOST] = {0}, exact[MOST] = {0};
    coverage_table t = coverage_draw(c->kind, c->loss, c->n, c->p, (uint64_t)run);
    tct_model *model = train(c, &t, c->epsilon[0], run);
    plain_fit(c, &t, run, w);
    for (int64_t j = 0; j < c->p; j++) {
      own[j * c->runs + run] = fabs(model->coefficients[j] - truth[j]);
      plain[j * c->runs + run] = fabs(w[j] - truth[j]);
    }
    if (run == 0) coverage_exact(&t, c->loss, coverage_robust(c->kind), exact, se);
    tct_model_free(model);
    coverage_free(&t);
  }
  printf("{\"bench\": \"plain\", \"loss\": \"%s\", \"kind\": \"%s\", \"n\": %lld, \"p\": %lld, \"epsilon\": %g, ",
         coverage_losses[c->loss], coverage_kinds[c->kind], (long long)c->n, (long long)c->p, c->epsilon[0]);
  printf("\"runs\": %d, ", c->runs);
  bench_put("plain", needed(plain, se, c->p, c->runs), ", "), bench_put("own", needed(own, se, c->p, c->runs), "}\n");
  free(own);
}

static void read_epsilons(const char *text, cell *c) {
  char *end = NULL;
  for (const char *at = text; c->epsilons < EPSILONS; at = end + 1) {
    c->epsilon[c->epsilons++] = strtod(at, &end);
    if (*end != ',') break;
  }
}

int main(int argc, char **argv) {
  static tally all[EPSILONS];
  double truth[MOST] = {0};
  int noise = argc > 1 && !strcmp(argv[1], "--noise"), plain = argc > 1 && !strcmp(argv[1], "--plain");
  if (noise || plain) argc--, argv++;
  if (argc < 7) {
    fprintf(stderr, "usage: bench_coverage LOSS KIND N P EPSILON,... RUNS [OPTIONS] [--from R] [--truths FOLDER]\n");
    return argc == 1 ? 0 : 2;
  }
  cell c = {.kind = (coverage_kind)place(argv[2], coverage_kinds, KINDS),
            .loss = (coverage_loss)place(argv[1], coverage_losses, LOSSES),
            .n = atoll(argv[3]),
            .p = atoll(argv[4]),
            .runs = atoi(argv[6]),
            .options = ""};
  read_epsilons(argv[5], &c);
  for (int k = 7; k < argc; k++) {
    if (!strcmp(argv[k], "--from") && k + 1 < argc)
      c.from = atoi(argv[++k]);
    else if (!strcmp(argv[k], "--truths") && k + 1 < argc)
      c.truths = argv[++k];
    else
      c.options = argv[k];
  }
  mallopt(M_MMAP_THRESHOLD, 1 << 30), mallopt(M_TRIM_THRESHOLD, 1 << 30); /* fits reuse each other's pages */
  if (c.p < 3 || c.p > MOST || c.n < c.p || c.runs < 1) return fprintf(stderr, "P is 3 to %d, N above P\n", MOST), 2;
  if (noise) return repeat(&c), 0;
  truth_of(&c, truth);
  if (plain) return beside_plain(&c, truth), 0;
  for (int run = c.from; run < c.from + c.runs; run++) count_run(&c, truth, run, all);
  for (int k = 0; k < c.epsilons; k++) print(&c, truth, c.epsilon[k], &all[k]);
  return 0;
}
