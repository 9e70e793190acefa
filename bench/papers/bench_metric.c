/* bench_metric.c - untuned solvers on many sets and epsilons: excess objective over the exact optimum.
 *
 * FOOTING  Columns are scaled to [0, 1], by public schemas (adult, diabetes130, nist_acs, kddcup99, california) or by
 * the table's own range, with the program's own intercept.  Rows are cut to a public R, the
 * square root of the number of attributes plus one, times BOUNDS, which stands for R not being known that well.  Labels
 * of the squared loss are shifted by the middle of their public range.  Half of it, times BOUNDS_Y, is Y.  Penalty:
 * none for classes, l2:lambda=1e-4 for the squared loss.  Nothing is tuned.  Excess: mean loss plus penalty over all
 * records less its minimum (lbfgs); mean and standard error over fits.
 *
 * Sets used for constants of dpmetric: ipums-br bank a9a electricity california; looked at: phishing mushrooms covtype.
 *
 * Usage: bench_metric DATA,..|used|others|all EPSILON,..|all FITS SOLVER ...
 * SOLVER `constant` stands for the best model that looks at no feature: computed exactly, without privacy or fits.
 *
 * Environment: BOUNDS (1), BOUNDS_Y (1), LOSS (logistic), LAMBDA (1e-4), PENALTY, DELTA (1e-5), REPLACE (1:
 * replace_one), ROWS (all; or 9000,3000,..), POSITIVES, the part of positives to which a set of two classes is thinned
 * out, COLUMNS_KEPT, the columns to keep, counted from 1 (25,19,1), COPIES, the columns so many times over (1), and
 * CONSTANTS, so many columns of ones beside them (0).  HELD: the last part of the rows, before ROWS,
 * is held out, and lines end with the accuracy on it; solver `exact` is then the better of two fits without privacy,
 * one without a penalty and one with a ridge of 10/n.  Prints lines of CSV, for the pages' scripts. */
#include "sources.h"

static double setting(const char *name, double fallback) {
  const char *text = getenv(name);
  return text ? strtod(text, NULL) : fallback;
}

/* Columns to [0, 1], in an order of its own; `synthetic`: rows to norm 1. */
static bench_table prepare(const source *s, double *norm) {
  bench_table t = read_table(s);
  if (!t.n) return t;
  int64_t *order = bench_permutation(t.n, 7);
  bench_table out = bench_table_new(t.n, t.p, t.labels);
  *norm = s->attributes > 0 ? sqrt(s->attributes + 1) : sqrt(2);
  for (int64_t j = 0; j < t.p; j++) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < t.n; i++) low = fmin(low, t.x[i * t.p + j]), high = fmax(high, t.x[i * t.p + j]);
    for (int64_t i = 0; i < t.n; i++)
      out.x[i * out.p + j] = high > low ? (t.x[order[i] * t.p + j] - low) / (high - low) : 0;
  }
  for (int64_t i = 0; i < t.n; i++) {
    double size = 0, *x = out.x + i * out.p;
    out.y[i] = t.y[order[i]];
    for (int64_t j = 0; j < out.p; j++) size += x[j] * x[j];
    for (int64_t j = 0; j < out.p && !(s->attributes > 0); j++) x[j] /= sqrt(size);
  }
  free(order);
  bench_table_free(&t);
  return out;
}

/* The last HELD of the rows go into a table of their own. */
static bench_table hold_out(bench_table *t) {
  int64_t kept = t->n - (int64_t)(setting("HELD", 0) * (double)t->n);
  bench_table held = bench_table_new(t->n - kept, t->p, t->labels);
  memcpy(held.x, t->x + kept * t->p, (size_t)(held.n * t->p) * sizeof *t->x);
  memcpy(held.y, t->y + kept, (size_t)held.n * sizeof *t->y);
  t->n = kept;
  return held;
}

/* The first `max` rows, of the positives so many that POSITIVES of the rest are. */
static void thin_out(bench_table *t, double max) {
  double part = setting("POSITIVES", 1);
  int64_t kept = 0, positives = 0;
  for (int64_t i = 0; i < t->n && (double)kept < max; i++) {
    if (part < 1 && t->y[i] > 0 && (double)(positives + 1) > part * (double)(kept + 1)) continue;
    positives += t->y[i] > 0;
    memmove(t->x + kept * t->p, t->x + i * t->p, (size_t)t->p * sizeof *t->x);
    t->y[kept++] = t->y[i];
  }
  t->n = kept;
}

/* Keeps the columns that COLUMNS_KEPT names, counted from 1; R is then that of so many attributes. */
static void pick_columns(bench_table *t, double *norm) {
  const char *text = getenv("COLUMNS_KEPT");
  int64_t column[64], kept = 0;
  if (!text) return;
  for (char *end; *text && kept < 64; text = *end ? end + 1 : end) column[kept++] = strtoll(text, &end, 10) - 1;
  bench_table out = bench_table_new(t->n, kept, t->labels);
  for (int64_t i = 0; i < t->n; i++) {
    out.y[i] = t->y[i];
    for (int64_t k = 0; k < kept; k++) out.x[i * kept + k] = t->x[i * t->p + column[k]];
  }
  bench_table_free(t);
  *t = out;
  *norm = sqrt((double)kept + 1);
}

/* The columns COPIES times over, and CONSTANTS columns of ones: nothing that a model could use.  R grows with them. */
static void widen(bench_table *t, double *norm) {
  int64_t copies = (int64_t)setting("COPIES", 1), ones = (int64_t)setting("CONSTANTS", 0);
  if (copies == 1 && !ones) return;
  bench_table out = bench_table_new(t->n, copies * t->p + ones, t->labels);
  for (int64_t i = 0; i < t->n; i++) {
    double *x = out.x + i * out.p;
    out.y[i] = t->y[i];
    for (int64_t j = 0; j < out.p; j++) x[j] = j < copies * t->p ? t->x[i * t->p + j % t->p] : 1;
  }
  bench_table_free(t);
  *t = out;
  *norm = sqrt((*norm * *norm - 1) * (double)copies + 1 + (double)ones);
}

static const char *ridge_text(void) {
  static char text[64];
  snprintf(text, sizeof text, "l2:lambda=%g", setting("LAMBDA", 1e-4));
  return text;
}

static tct_config settings(const source *s, double norm, const char *solver) {
  tct_config c;
  tct_config_default(&c);
  bool real = s->low < s->high;
  c.loss = real ? "squared" : getenv("LOSS") ? getenv("LOSS") : "logistic";
  c.penalty = getenv("PENALTY") ? getenv("PENALTY") : real ? ridge_text() : "none";
  c.neighbours = setting("REPLACE", 0) > 0 ? TCT_REPLACE_ONE : TCT_ADD_REMOVE;
  c.intercept = 1;
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

/* The least mean loss of one number for all records; no row is longer than R here. */
static double constant_of(const source *s, const bench_table *t) {
  double sum = 0, squares = 0, n = (double)t->n, middle = 0.5 * (s->low + s->high);
  for (int64_t i = 0; i < t->n; i++) sum += t->y[i] - middle, squares += (t->y[i] - middle) * (t->y[i] - middle);
  if (s->low < s->high) return 0.5 * (squares / n - sum / n * sum / n);
  double share = 0.5 + 0.5 * (sum / n + middle);
  if (getenv("LOSS") && !strcmp(getenv("LOSS"), "hinge")) return 2 * fmin(share, 1 - share);
  return -share * log(share) - (1 - share) * log(1 - share);
}

typedef struct set {
  const source *from;
  bench_table table, held;
  tct_data *data, *apart; /* apart: of the held rows, NULL without */
  double norm, optimum;
  int fits;
} set;

typedef struct outcome {
  double excess, error, seconds, accuracy;
} outcome;

static double accuracy_of(const set *s, const tct_model *model) {
  tct_error err = {0};
  char *json = s->apart ? tct_evaluate_json_nonprivate(model, s->apart, &err) : NULL;
  double right = json ? bench_number(json, "accuracy") : NAN;
  if (s->apart && !json) bench_fail(&err);
  tct_text_free(json);
  return right;
}

/* The better accuracy of two fits without privacy: records that are few are fitted too well without a ridge. */
static double exact_accuracy(const set *s) {
  char ridge[64];
  double best = 0;
  snprintf(ridge, sizeof ridge, "l2:lambda=%g", 10 / (double)s->table.n);
  for (int k = 0; k < 2; k++) {
    tct_config c = settings(s->from, s->norm, "lbfgs:tolerance=1e-6");
    c.penalty = k ? ridge : "none";
    tct_model *model = bench_train(&c, s->data);
    best = fmax(best, accuracy_of(s, model));
    tct_model_free(model);
  }
  return best;
}

static double constant_accuracy(const bench_table *t) {
  double positives = 0;
  for (int64_t i = 0; i < t->n; i++) positives += t->y[i] > 0;
  return t->n ? fmax(positives, (double)t->n - positives) / (double)t->n : NAN;
}

static void line(const set *s, double epsilon, const char *solver, outcome o) {
  printf("%s,%lld,%lld,%.3f,%g,%g,\"%s\",%.6f,%.6f,%.3f,%d", s->from->name, (long long)s->table.n,
         (long long)s->table.p, s->norm, setting("BOUNDS", 1), epsilon, solver, o.excess, o.error, o.seconds, s->fits);
  if (s->apart) printf(",%.5f", o.accuracy);
  printf("\n");
  fflush(stdout);
}

static void cell(const set *s, double epsilon, const char *solver) {
  const tct_data *data = s->data;
  int fits = s->fits;
  double sum = 0, squares = 0, right = 0, start = bench_cpu(), wide = setting("BOUNDS", 1);
  for (int f = 0; f < fits; f++) {
    tct_error err = {0};
    tct_config c = settings(s->from, s->norm * wide, solver);
    c.label_bound *= setting("BOUNDS_Y", 1);
    c.epsilon = epsilon, c.delta = setting("DELTA", 1e-5), c.has_seed = 1, c.seed = (uint64_t)f + 1;
    tct_plan *plan = tct_plan_new(&c, tct_data_rows(data), tct_data_cols(data), &err);
    tct_model *model = plan ? tct_fit(plan, data, &err) : NULL;
    tct_plan_free(plan);
    if (!model) {
      fprintf(stderr, "%s: %s\n", solver, err.text);
      return;
    }
    double e = bench_objective(model, data) - s->optimum;
    right += accuracy_of(s, model) / fits;
    tct_model_free(model);
    sum += e / fits, squares += e * e / fits;
  }
  double seconds = (bench_cpu() - start) / fits;
  double error = fits > 1 ? sqrt(fmax(0, squares - sum * sum) / (fits - 1)) : 0;
  line(s, epsilon, solver, (outcome){sum, error, seconds, right});
}

/* All cells of the first `rows` rows of the table, of which the rest is dropped. */
static void measure(set *one, double rows, const char *epsilons, int argc, char **argv) {
  thin_out(&one->table, rows);
  one->data = bench_view(&one->table);
  one->optimum = optimum_of(one->from, one->norm, one->data);
  for (const char *at = epsilons; *at;) {
    char *end;
    double epsilon = strtod(at, &end);
    for (int a = 4; a < argc; a++)
      if (!strcmp(argv[a], "constant"))
        line(one, epsilon, argv[a],
             (outcome){constant_of(one->from, &one->table) - one->optimum, 0, 0, constant_accuracy(&one->held)});
      else if (!strcmp(argv[a], "exact"))
        line(one, epsilon, argv[a], (outcome){0, 0, 0, exact_accuracy(one)});
      else
        cell(one, epsilon, argv[a]);
    at = *end ? end + 1 : end;
  }
  tct_data_free(one->data);
}

int main(int argc, char **argv) {
  if (argc < 5 || atoi(argv[3]) < 1) {
    fprintf(stderr, "usage: %s DATA,..|used|others|all EPSILON,..|all FITS SOLVER ...\n", argv[0]);
    return 2;
  }
  int fits = atoi(argv[3]);
  const char *epsilons = strcmp(argv[2], "all") ? argv[2] : "0.05,0.1,0.2,0.4,0.8,1.6,3,8";
  printf("data,n,p,R,bounds,epsilon,solver,excess,error,seconds,fits%s\n", setting("HELD", 0) > 0 ? ",accuracy" : "");
  for (int k = 0; k < SOURCES; k++) {
    set one = {.from = &sources[k], .fits = fits};
    if (listed(argv[1], k)) one.table = prepare(one.from, &one.norm);
    if (!one.table.n) continue;
    pick_columns(&one.table, &one.norm);
    widen(&one.table, &one.norm);
    one.held = hold_out(&one.table);
    one.apart = one.held.n ? bench_view(&one.held) : NULL;
    const char *rows = getenv("ROWS") ? getenv("ROWS") : "inf";
    for (char *end; *rows; rows = *end ? end + 1 : end) measure(&one, strtod(rows, &end), epsilons, argc, argv);
    tct_data_free(one.apart);
    bench_table_free(&one.table);
    bench_table_free(&one.held);
  }
  return 0;
}
