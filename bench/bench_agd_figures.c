/* bench_agd_figures.c - the protocol of Lee and Kifer 2018, Figures 2 and 3: accuracy and objective over epsilon.
 *
 * Min-max scaling (by the data: unaccounted), constant column, delta 1e-8, add_remove, repeated 5-fold
 * cross-validation. Rows are clipped to R: near the median norm for bank and ipums-br, otherwise the bound that is
 * public, the square root of the number of attributes (numbers and one-hot groups) plus one. Usage: bench_agd_figures
 * DATA[,DATA] EPSILON[,EPSILON] FITS LOSS PENALTY SOLVER ...      (DATA: all, EPSILON: all) */
#include "bench.h"

enum { FOLDS = 5, SETS = 7 };

typedef struct table {
  int64_t n, p;
  double *x, *y; /* [n][p], [n] */
  int64_t *order;
} table;

static const struct source {
  const char *name, *file, *second, *label;
  int64_t cols;
  double norm;  /* R */
  double bound; /* Y for real labels, after centring; 0: two classes */
} sources[SETS] = {
    {"ipums-br", "ipums_br_dpagd.csv.xz", NULL, "y", 0, 3.2, 0},
    {"bank", "bank_dpagd.csv.xz", NULL, "y", 0, 2.5, 0},
    {"a9a", "a9a.libsvm.xz", "a9a.t.libsvm.xz", NULL, 123, 3.873, 0},
    {"phishing", "phishing.libsvm.xz", NULL, NULL, 68, 5.568, 0},
    {"california", "california.csv.xz", NULL, "MedHouseVal", 0, 3, 3},
    {"diabetes130", "diabetes130.csv.xz", NULL, "time_in_hospital", 0, 3, 10},
    {"mushrooms", "mushrooms.libsvm.xz", NULL, NULL, 112, 4.796, 0},
};

/* Appends the rows of a data set, dense. */
static void append(table *t, const tct_data *data) {
  const tct_matrix *m = tct_data_matrix(data);
  t->p = m->cols;
  t->x = realloc(t->x, (size_t)((t->n + m->rows) * t->p) * sizeof(double));
  t->y = realloc(t->y, (size_t)(t->n + m->rows) * sizeof(double));
  memset(t->x + t->n * t->p, 0, (size_t)(m->rows * t->p) * sizeof(double));
  for (int64_t i = 0; i < m->rows; i++) {
    double *row = t->x + (t->n + i) * t->p;
    if (m->layout == TCT_DENSE_ROWS) {
      memcpy(row, (const double *)m->values + i * m->stride, (size_t)t->p * sizeof(double));
      continue;
    }
    int wide = m->index_type == TCT_I64;
    int64_t from = wide ? ((const int64_t *)m->start)[i] : ((const int32_t *)m->start)[i];
    int64_t to = wide ? ((const int64_t *)m->start)[i + 1] : ((const int32_t *)m->start)[i + 1];
    for (int64_t k = from; k < to; k++)
      row[wide ? ((const int64_t *)m->index)[k] : ((const int32_t *)m->index)[k]] =
          m->value_type == TCT_F32 ? (double)((const float *)m->values)[k] : ((const double *)m->values)[k];
  }
  memcpy(t->y + t->n, tct_data_labels(data), (size_t)m->rows * sizeof(double));
  t->n += m->rows;
}

static int load(const struct source *s, table *t) {
  const char *files[2] = {s->file, s->second};
  memset(t, 0, sizeof *t);
  for (int k = 0; k < 2 && files[k]; k++) {
    tct_data *data = bench_read(files[k], s->bound > 0 ? TCT_LABELS_REAL : TCT_LABELS_BINARY, s->label, NULL, s->cols);
    if (!data) return 0;
    append(t, data);
    tct_data_free(data);
  }
  t->order = malloc((size_t)t->n * sizeof(int64_t));
  return 1;
}

/* A shuffle that does not matter for privacy: a linear congruential generator (Knuth's MMIX constants). */
static void shuffle(int64_t *order, int64_t n, uint64_t state) {
  for (int64_t i = 0; i < n; i++) order[i] = i;
  for (int64_t i = n - 1; i > 0; i--) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    int64_t j = (int64_t)((state >> 33) % (uint64_t)(i + 1)), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
}

/* Rows with (position in the order) % FOLDS == fold, or all others. */
static tct_data *part(const table *t, int labels, int fold, int inside, double *x, double *y) {
  int64_t rows = 0;
  for (int64_t k = 0; k < t->n; k++) {
    if ((k % FOLDS == fold) != inside) continue;
    memcpy(x + rows * t->p, t->x + t->order[k] * t->p, (size_t)t->p * sizeof *x);
    y[rows++] = t->y[t->order[k]];
  }
  tct_error err = {0};
  tct_matrix m = {.rows = rows, .cols = t->p, .layout = TCT_DENSE_ROWS, .values = x, .stride = t->p};
  tct_data *data = tct_data_view(&m, y, labels, &err);
  if (!data) bench_fail(&err);
  return data;
}

static double score(const tct_model *model, const tct_data *data, const char *key) {
  tct_error err = {0};
  char *json = tct_evaluate_json_nonprivate(model, data, &err);
  if (!json) bench_fail(&err);
  double value = bench_number(json, key);
  tct_text_free(json);
  return value;
}

typedef struct sums {
  double accuracy, accuracy2, objective, objective2, seconds;
  int fits;
} sums;

static double deviation(double sum, double square, int fits) {
  double mean = sum / fits;
  return sqrt(fmax(0, square / fits - mean * mean));
}

/* Trains every solver on one fold; a solver that refuses gets no figure. */
static void one_fold(const struct source *s, const tct_config *given, tct_data *train, tct_data *test,
                     char *const *solvers, int count, uint64_t seed, sums *out) {
  for (int k = 0; k < count; k++) {
    tct_error err = {0};
    tct_config c = *given;
    c.solver = solvers[k];
    if (!strncmp(solvers[k], "lbfgs", 5) || !strncmp(solvers[k], "majority", 8) || !strncmp(solvers[k], "scd", 3))
      c.epsilon = c.delta = NAN;
    else
      c.has_seed = 1, c.seed = seed;
    double start = bench_cpu();
    tct_plan *plan = tct_plan_new(&c, tct_data_rows(train), tct_data_cols(train), &err);
    tct_model *model = plan ? tct_fit(plan, train, &err) : NULL;
    double seconds = bench_cpu() - start;
    tct_plan_free(plan);
    if (!model) {
      if (!out[k].fits) fprintf(stderr, "%s: %s\n", solvers[k], err.text);
      continue;
    }
    double a = s->bound > 0 ? score(model, test, "mse") : 100 * score(model, test, "accuracy");
    double o = score(model, train, "objective");
    out[k].accuracy += a, out[k].accuracy2 += a * a, out[k].objective += o, out[k].objective2 += o * o;
    out[k].seconds += seconds, out[k].fits++;
    tct_model_free(model);
  }
}

static void figure(const struct source *s, table *t, const tct_config *given, int fits, char *const *solvers,
                   int count) {
  sums *all = calloc((size_t)count, sizeof *all);
  size_t cells = (size_t)(t->n * t->p);
  double *x = malloc(cells * sizeof *x), *tx = malloc(cells * sizeof *x);
  double *y = malloc((size_t)t->n * sizeof *y), *ty = malloc((size_t)t->n * sizeof *y);
  int labels = s->bound > 0 ? TCT_LABELS_REAL : TCT_LABELS_BINARY;
  for (int f = 0; f < fits; f++) {
    if (f % FOLDS == 0) shuffle(t->order, t->n, (uint64_t)(f / FOLDS) + 1);
    tct_data *train = part(t, labels, f % FOLDS, 0, x, y), *test = part(t, labels, f % FOLDS, 1, tx, ty);
    one_fold(s, given, train, test, solvers, count, (uint64_t)f + 1, all);
    tct_data_free(train), tct_data_free(test);
  }
  for (int k = 0; k < count; k++) {
    const sums *r = &all[k];
    if (!r->fits) continue;
    printf(
        "{\"bench\": \"agd_figures\", \"data\": \"%s\", \"loss\": \"%s\", \"penalty\": \"%s\", \"epsilon\": %g, "
        "\"solver\": \"%s\", \"%s\": %.2f, \"deviation\": %.2f, \"objective\": %.4f, \"objective_deviation\": %.4f, "
        "\"seconds\": %.3f, \"fits\": %d}\n",
        s->name, given->loss, given->penalty, given->epsilon, solvers[k], s->bound > 0 ? "mse" : "accuracy",
        r->accuracy / r->fits, deviation(r->accuracy, r->accuracy2, r->fits), r->objective / r->fits,
        deviation(r->objective, r->objective2, r->fits), r->seconds / r->fits, r->fits);
  }
  fflush(stdout);
  free(x), free(y), free(tx), free(ty), free(all);
}

/* Is the name in a list with commas, or the list "all"? */
static int listed(const char *list, const char *name) {
  size_t n = strlen(name);
  for (const char *at = list; (at = strstr(at, name)); at++)
    if ((at == list || at[-1] == ',') && (at[n] == ',' || !at[n])) return 1;
  return !strcmp(list, "all");
}

int main(int argc, char **argv) {
  if (argc < 7) {
    fprintf(stderr, "usage: %s DATA,.. EPSILON,.. FITS LOSS PENALTY SOLVER ...\n", argv[0]);
    return 2;
  }
  const char *epsilons = strcmp(argv[2], "all") ? argv[2] : "0.05,0.1,0.2,0.4,0.8,1.6";
  for (int d = 0; d < SETS; d++) {
    table t;
    const struct source *s = &sources[d];
    if (!listed(argv[1], s->name) || !load(s, &t)) continue;
    for (const char *at = epsilons; *at;) {
      char *end;
      tct_config c;
      tct_config_default(&c);
      c.epsilon = strtod(at, &end), c.delta = 1e-8;
      c.loss = argv[4], c.penalty = argv[5], c.scale = "min-max", c.intercept = 1, c.row_norm = s->norm, c.threads = 1;
      if (s->bound > 0) c.label_bound = s->bound, c.label_scale = "center";
      figure(s, &t, &c, atoi(argv[3]), argv + 6, argc - 6);
      at = *end ? end + 1 : end;
    }
    free(t.x), free(t.y), free(t.order);
  }
  return 0;
}
