/* bench_metric.c - untuned solvers on many sets and epsilons: excess objective over the exact optimum.
 *
 * FOOTING  Columns are scaled to [0, 1], by public schemas (adult, diabetes130, nist_acs, kddcup99, california) or by
 * the table's own range, then a column of ones; no intercept of a program's own.  Rows are cut to a public R, the
 * square root of the number of attributes plus one, times BOUNDS, which stands for R not being known that well.  Labels
 * of the squared loss are shifted by the middle of their public range.  Half of it, times BOUNDS_Y, is Y.  Penalty:
 * none for classes, l2:lambda=1e-4 for the squared loss.  Nothing is tuned.  Excess: mean loss plus penalty over all
 * records less its minimum (lbfgs); mean and standard error over fits.
 *
 * Sets used for constants of dpmetric: ipums-br bank a9a electricity california; looked at: phishing mushrooms.
 *
 * Usage: bench_metric DATA,..|used|others|all EPSILON,..|all FITS SOLVER ...
 * Environment: BOUNDS (1), BOUNDS_Y (1), LOSS (logistic), DELTA (1e-5), PENALTY, REPLACE (1: replace_one).  Prints
 * lines of CSV, for
 * metric_table.py. */
#include "sets.h"

#include <stdbool.h>

typedef struct source {
  const char *name, *file, *schema, *label, *positive;
  int64_t cols;
  double attributes;
  double low, high; /* of real labels; equal: two classes */
} source;

enum { USED = 5 };
static const source sources[] = {
    {"ipums-br", "ipums_br_dpagd.csv.xz", NULL, "y", NULL, 0, 20, 0, 0},
    {"bank", "bank_dpagd.csv.xz", NULL, "y", NULL, 0, 16, 0, 0},
    {"a9a", "a9a.libsvm.xz", NULL, NULL, NULL, 123, 14, 0, 0},
    {"electricity", "electricity.csv.xz", NULL, "class", "UP", 0, 8, 0, 0},
    {"california", "california.csv.xz", "../../examples/california.schema.json", NULL, NULL, 0, 8, 0, 5.00001},
    {"covtype", "covtype_20k.csv.xz", NULL, NULL, "2", 0, 12, 0, 0},
    {"adult-raw", "adult_train.csv.xz", "../../examples/adult.schema.json", NULL, NULL, 0, 14, 0, 0},
    {"diabetes130", "diabetes130.csv.xz", "diabetes130.schema.json", NULL, NULL, 0, 16, 0, 0},
    {"nist_acs", NULL, NULL, NULL, NULL, 0, 18, 0, 0},
    {"phishing", "phishing.libsvm.xz", NULL, NULL, NULL, 68, 30, 0, 0},
    {"skin", "skin_nonskin.csv.xz", NULL, "class", "1", 0, 3, 0, 0},
    {"kddcup99", NULL, NULL, NULL, NULL, 0, 41, 0, 0},
    {"mushrooms", "mushrooms.libsvm.xz", NULL, NULL, "1", 112, 22, 0, 0},
    {"w8a", "w8a.libsvm.xz", NULL, NULL, NULL, 300, 300, 0, 0},
    {"stay", "diabetes130.csv.xz", "diabetes130_stay.schema.json", NULL, NULL, 0, 16, 1, 14},
    {"income", NULL, NULL, NULL, NULL, 0, 18, 0, 1e5},
    {"synthetic", NULL, NULL, NULL, NULL, 0, 0, -30, 30},
};
enum { SOURCES = sizeof sources / sizeof *sources };

static bench_table read_plain(const source *s, int labels) {
  tct_error err = {0};
  tct_read_options o;
  const char *path = bench_data(s->file);
  char last[64] = "Cover_Type";
  if (!path) return (bench_table){0};
  tct_read_options_default(&o);
  o.labels = labels;
  o.label = s->file[0] == 'c' && s->positive ? last : s->label;
  o.positive = s->positive;
  o.cols = s->cols;
  tct_data *data = tct_data_read(path, &o, &err);
  if (!data) bench_fail(&err);
  bench_table t = bench_table_of(data, labels);
  tct_data_free(data);
  return t;
}

static bench_table read_table(const source *s) {
  int labels = s->low < s->high ? TCT_LABELS_REAL : TCT_LABELS_BINARY;
  if (!strcmp(s->name, "kddcup99")) return bench_kddcup();
  if (!strcmp(s->name, "synthetic")) return bench_synthetic(40000, 90);
  if (!strcmp(s->name, "nist_acs") || !strcmp(s->name, "income")) {
    bench_table t = bench_nist_acs();
    for (int64_t i = 0; i < t.n && labels == TCT_LABELS_BINARY; i++) t.y[i] = t.y[i] > 25000 ? 1 : -1;
    t.labels = labels;
    return t;
  }
  return s->schema ? bench_table_schema(s->file, s->schema, labels) : read_plain(s, labels);
}

/* Columns to [0, 1], a column of ones, rows cut to R, in an order of its own. */
static bench_table prepare(const source *s, double *norm) {
  bench_table t = read_table(s);
  if (!t.n) return t;
  int64_t *order = bench_permutation(t.n, 7);
  bench_table out = bench_table_new(t.n, t.p + 1, t.labels);
  *norm = sqrt(s->attributes + 1);
  for (int64_t j = 0; j <= t.p; j++) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < t.n && j < t.p; i++) low = fmin(low, t.x[i * t.p + j]), high = fmax(high, t.x[i * t.p + j]);
    for (int64_t i = 0; i < t.n; i++)
      out.x[i * out.p + j] = j == t.p ? 1 : high > low ? (t.x[order[i] * t.p + j] - low) / (high - low) : 0;
  }
  for (int64_t i = 0; i < t.n; i++) {
    double size = 0, *x = out.x + i * out.p;
    out.y[i] = t.y[order[i]];
    for (int64_t j = 0; j < out.p; j++) size += x[j] * x[j];
    size = s->attributes > 0 ? fmax(1, sqrt(size) / *norm) : sqrt(size);
    for (int64_t j = 0; j < out.p; j++) x[j] /= size;
  }
  free(order);
  bench_table_free(&t);
  return out;
}

static double setting(const char *name, double fallback) {
  const char *text = getenv(name);
  return text ? strtod(text, NULL) : fallback;
}

static tct_config settings(const source *s, double norm, const char *solver) {
  tct_config c;
  tct_config_default(&c);
  c.intercept = 0;
  bool real = s->low < s->high;
  c.loss = real ? "squared" : getenv("LOSS") ? getenv("LOSS") : "logistic";
  c.penalty = getenv("PENALTY") ? getenv("PENALTY") : real ? "l2:lambda=1e-4" : "none";
  c.neighbours = setting("REPLACE", 0) > 0 ? TCT_REPLACE_ONE : TCT_ADD_REMOVE;
  c.solver = strcmp(solver, "auto") ? solver : NULL;
  c.threads = 1;
  c.row_norm = norm;
  if (real) c.label_shift = 0.5 * (s->low + s->high), c.label_bound = 0.5 * (s->high - s->low);
  return c;
}

static double optimum_of(const source *s, double norm, const tct_data *data) {
  bool hinge = getenv("LOSS") && !strcmp(getenv("LOSS"), "hinge");
  tct_config c = settings(s, norm, hinge ? "scd:tol=1e-4" : "lbfgs:tolerance=1e-6");
  if (hinge) c.penalty = "l2:lambda=1e-6";
  tct_model *model = bench_train(&c, data);
  double value = bench_objective(model, data);
  tct_model_free(model);
  return value;
}

static void cell(const source *s, double norm, const tct_data *data, double optimum, double epsilon, int fits,
                 const char *solver) {
  double sum = 0, squares = 0, start = bench_cpu(), wide = setting("BOUNDS", 1);
  for (int f = 0; f < fits; f++) {
    tct_error err = {0};
    tct_config c = settings(s, norm * wide, solver);
    c.label_bound *= setting("BOUNDS_Y", 1);
    c.epsilon = epsilon, c.delta = setting("DELTA", 1e-5), c.has_seed = 1, c.seed = (uint64_t)f + 1;
    tct_plan *plan = tct_plan_new(&c, tct_data_rows(data), tct_data_cols(data), &err);
    tct_model *model = plan ? tct_fit(plan, data, &err) : NULL;
    tct_plan_free(plan);
    if (!model) {
      fprintf(stderr, "%s: %s\n", solver, err.text);
      return;
    }
    double e = bench_objective(model, data) - optimum;
    tct_model_free(model);
    sum += e / fits, squares += e * e / fits;
  }
  double seconds = (bench_cpu() - start) / fits;
  printf("%s,%lld,%lld,%.3f,%g,%g,\"%s\",%.6f,%.6f,%.3f,%d\n", s->name, (long long)tct_data_rows(data),
         (long long)tct_data_cols(data), norm, wide, epsilon, solver, sum,
         fits > 1 ? sqrt(fmax(0, squares - sum * sum) / (fits - 1)) : 0, seconds, fits);
  fflush(stdout);
}

static bool listed(const char *list, int k) {
  size_t n = strlen(sources[k].name);
  if (!strcmp(list, "all") || (!strcmp(list, "used") && k < USED) || (!strcmp(list, "others") && k >= USED))
    return true;
  for (const char *at = list; (at = strstr(at, sources[k].name)); at++)
    if ((at == list || at[-1] == ',') && (at[n] == ',' || !at[n])) return true;
  return false;
}

int main(int argc, char **argv) {
  if (argc < 5 || atoi(argv[3]) < 1) {
    fprintf(stderr, "usage: %s DATA,..|used|others|all EPSILON,..|all FITS SOLVER ...\n", argv[0]);
    return 2;
  }
  const char *epsilons = strcmp(argv[2], "all") ? argv[2] : "0.05,0.1,0.2,0.4,0.8,1.6,3,8";
  printf("data,n,p,R,bounds,epsilon,solver,excess,error,seconds,fits\n");
  for (int k = 0; k < SOURCES; k++) {
    double norm = 1;
    bench_table t = listed(argv[1], k) ? prepare(&sources[k], &norm) : (bench_table){0};
    if (!t.n) continue;
    tct_data *data = bench_view(&t);
    double optimum = optimum_of(&sources[k], norm, data);
    for (const char *at = epsilons; *at;) {
      char *end;
      double epsilon = strtod(at, &end);
      for (int a = 4; a < argc; a++) cell(&sources[k], norm, data, optimum, epsilon, atoi(argv[3]), argv[a]);
      at = *end ? end + 1 : end;
    }
    tct_data_free(data);
    bench_table_free(&t);
  }
  return 0;
}
