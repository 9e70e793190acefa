/* bench_ridge.c - untuned private ridge regression: excess objective over epsilon, delta 1e-3.
 *
 * Features and labels by public schemas (california: that of examples/; diabetes130: days in hospital, 1 to 14;
 * nist_acs: income cut to 0..100,000 dollars) with a constant column.  Also a synthetic 40,000 x 90 with rows of norm
 * 1.
 *
 * R: the square root of the number of attributes plus one; labels shifted by the middle of their public range, Y
 * half of it (synthetic: 30, some three deviations).
 *
 * Excess: objective less the optimum of the same problem, in % of
 * half the labels' variance, so of the share of it that the model then no longer explains.  Mean and standard error.
 *
 * Usage: bench_ridge [FITS (10)] [FOLDER (out)] [LAMBDA (1e-4)] [DATA,.. (all)] [SOLVER ...]
 * Prints tables, adds lines to FOLDER/ridge.csv. */
#include "sets.h"

#include <sys/stat.h>

enum { EPSILONS = 4 };
static const double epsilons[EPSILONS] = {0.1, 0.5, 1, 2};

typedef struct ridge_set {
  const char *name;
  double norm, low, high; /* R; the labels' public range */
} ridge_set;

static const ridge_set sets[] = {
    {"california", 3, 0, 5.00001},
    {"diabetes130", 4.1231056256176606, 1, 14}, /* 9 categories, 7 numbers, the constant */
    {"nist_acs", 4.358898943540674, 0, 1e5},    /* 14 categories, 4 numbers, the constant */
    {"synthetic", 1, -30, 30},
};

/* Appends a column of ones, so that all solvers penalise the same weights. */
static bench_table with_constant(bench_table t) {
  bench_table out = bench_table_new(t.n, t.p + 1, TCT_LABELS_REAL);
  for (int64_t i = 0; i < t.n; i++) {
    memcpy(out.x + i * out.p, t.x + i * t.p, (size_t)t.p * sizeof *t.x);
    out.x[i * out.p + t.p] = 1;
    out.y[i] = t.y[i];
  }
  bench_table_free(&t);
  return out;
}

static bench_table load(const char *name) {
  bench_table t = {0};
  if (!strcmp(name, "synthetic")) {
    t = bench_synthetic(40000, 90);
    for (int64_t i = 0; i < t.n; i++) {
      double norm = 0;
      for (int64_t j = 0; j < t.p; j++) norm += t.x[i * t.p + j] * t.x[i * t.p + j];
      for (int64_t j = 0; j < t.p; j++) t.x[i * t.p + j] /= sqrt(norm);
    }
    return t;
  }
  if (!strcmp(name, "california"))
    t = bench_table_schema("california.csv.xz", "../../examples/california.schema.json", TCT_LABELS_REAL);
  else if (!strcmp(name, "diabetes130"))
    t = bench_table_schema("diabetes130.csv.xz", "diabetes130_stay.schema.json", TCT_LABELS_REAL);
  else
    t = bench_nist_acs();
  return t.n ? with_constant(t) : t;
}

typedef struct bench {
  const ridge_set *set;
  const char *penalty;
  tct_data *data;
  double optimum, unit; /* unit: half the labels' variance, over 100 */
} bench;

static tct_config settings(const bench *b, const char *solver) {
  tct_config c;
  tct_config_default(&c);
  c.intercept = 0;
  c.loss = "squared", c.penalty = b->penalty, c.solver = solver, c.threads = 1, c.row_norm = b->set->norm;
  c.label_shift = 0.5 * (b->set->low + b->set->high), c.label_bound = 0.5 * (b->set->high - b->set->low);
  return c;
}

static void open_bench(bench *b, const bench_table *t) {
  double sum = 0, squares = 0, shift = 0.5 * (b->set->low + b->set->high);
  for (int64_t i = 0; i < t->n; i++) sum += t->y[i] - shift, squares += (t->y[i] - shift) * (t->y[i] - shift);
  b->unit = 0.005 * (squares - sum * sum / (double)t->n) / (double)t->n;
  b->data = bench_view(t);
  tct_config c = settings(b, "lbfgs:tolerance=1e-7");
  tct_model *model = bench_train(&c, b->data);
  b->optimum = bench_objective(model, b->data);
  tct_model_free(model);
}

/* Mean excess and its standard error over the seeds; NAN where the solver refuses. */
static double excess(const bench *b, const char *solver, double epsilon, int fits, double *error, double *seconds) {
  double sum = 0, squares = 0, start = bench_cpu();
  for (int f = 0; f < fits; f++) {
    tct_error err = {0};
    tct_config c = settings(b, solver);
    c.epsilon = epsilon, c.delta = 1e-3, c.has_seed = 1, c.seed = (uint64_t)f + 1;
    tct_plan *plan = tct_plan_new(&c, tct_data_rows(b->data), tct_data_cols(b->data), &err);
    tct_model *model = plan ? tct_fit(plan, b->data, &err) : NULL;
    tct_plan_free(plan);
    if (!model) return fprintf(stderr, "%s: %s\n", solver, err.text), NAN;
    double e = (bench_objective(model, b->data) - b->optimum) / b->unit;
    tct_model_free(model);
    sum += e / fits, squares += e * e / fits;
  }
  *error = fits > 1 ? sqrt(fmax(0, squares - sum * sum) / (fits - 1)) : NAN;
  *seconds = (bench_cpu() - start) / fits;
  return sum;
}

static void table(bench *b, int fits, char *const *solvers, int count, FILE *csv) {
  bench_table t = load(b->set->name);
  if (!t.n) return;
  open_bench(b, &t);
  printf("%s, %lld x %lld, %s, %d fits: excess objective in %% of half the label variance (+- standard error)\n%-24s",
         b->set->name, (long long)t.n, (long long)t.p, b->penalty, fits, "epsilon");
  for (int e = 0; e < EPSILONS; e++) printf("%18g", epsilons[e]);
  printf("\n");
  for (int k = 0; k < count; k++) {
    printf("%-24s", solvers[k]);
    for (int e = 0; e < EPSILONS; e++) {
      double error = NAN, seconds = NAN, mean = excess(b, solvers[k], epsilons[e], fits, &error, &seconds);
      printf("%10.3f +-%6.3f", mean, error);
      fprintf(csv, "%s,%s,\"%s\",%g,%.5f,%.5f,%.4f,%d\n", b->set->name, b->penalty, solvers[k], epsilons[e], mean,
              error, seconds, fits);
      fflush(stdout), fflush(csv);
    }
    printf("\n");
  }
  printf("\n");
  tct_data_free(b->data);
  bench_table_free(&t);
}

int main(int argc, char **argv) {
  static const char *const usual[] = {"adassp", "dpscd", "dpcd", "dpsgd", "dpgd", "dpnewton", "dpagd", "auto"};
  char path[1024], penalty[64];
  const char *folder = argc > 2 ? argv[2] : "out", *wanted = argc > 4 ? argv[4] : "all";
  int fits = argc > 1 ? atoi(argv[1]) : 10;
  snprintf(penalty, sizeof penalty, "l2:lambda=%s", argc > 3 ? argv[3] : "1e-4");
  snprintf(path, sizeof path, "%s/ridge.csv", folder);
  mkdir(folder, 0777);
  FILE *csv = fopen(path, "a");
  if (!csv || fits < 1)
    return fprintf(stderr, "usage: %s [FITS] [FOLDER] [LAMBDA] [DATA,..] [SOLVER ...]\n", argv[0]), 2;
  fseek(csv, 0, SEEK_END);
  if (ftell(csv) == 0) fputs("data,penalty,solver,epsilon,excess,error,seconds,fits\n", csv);
  for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
    bench b = {.set = &sets[k], .penalty = penalty};
    if (strcmp(wanted, "all") && !strstr(wanted, sets[k].name)) continue;
    if (argc > 5)
      table(&b, fits, argv + 5, argc - 5, csv);
    else
      table(&b, fits, (char *const *)usual, (int)(sizeof usual / sizeof *usual), csv);
  }
  fclose(csv);
  return 0;
}
