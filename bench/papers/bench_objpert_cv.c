/* bench_objpert_cv.c - cross-validated accuracy of one-release solvers on the data of Lee and Kifer 2018.
 *
 * Protocol: min-max scaling (by the data: unaccounted), constant column, rows clipped to R, logistic loss, no penalty,
 * delta 1e-8, add_remove, 5-fold cross-validation, repeated.  R is once a value near the median norm and once the bound
 * that is public: the square root of the number of attributes (numbers and one-hot groups) plus one. Usage:
 * bench_objpert_cv [REPEATS (2)] [SOLVER ...]      default solver: objpert */
#include "bench.h"

enum { FOLDS = 5 };

typedef struct table {
  int64_t n, p;
  double *x, *y; /* [n][p], [n] */
  int64_t *order;
} table;

/* A shuffle that does not matter for privacy: a linear congruential generator (Knuth's MMIX constants). */
static void shuffle(int64_t *order, int64_t n, uint64_t state) {
  for (int64_t i = n - 1; i > 0; i--) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    int64_t j = (int64_t)((state >> 33) % (uint64_t)(i + 1)), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
}

/* Rows with (position in the order) % FOLDS == fold, or all others. */
static tct_data *part(const table *t, int fold, int inside, double *x, double *y) {
  int64_t rows = 0;
  for (int64_t k = 0; k < t->n; k++) {
    if ((k % FOLDS == fold) != inside) continue;
    memcpy(x + rows * t->p, t->x + t->order[k] * t->p, (size_t)t->p * sizeof *x);
    y[rows++] = t->y[t->order[k]];
  }
  tct_error err = {0};
  tct_matrix m = {.rows = rows, .cols = t->p, .layout = TCT_DENSE_ROWS, .values = x, .stride = t->p};
  tct_data *data = tct_data_view(&m, y, TCT_LABELS_BINARY, NULL, NULL, &err);
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

static void validate(table *t, const char *name, const char *solver, double norm, double epsilon, int repeats) {
  double accuracy = 0, square = 0, loss = 0, seconds = 0;
  double *x = malloc((size_t)(t->n * t->p) * sizeof *x), *y = malloc((size_t)t->n * sizeof *y);
  double *tx = malloc((size_t)(t->n * t->p) * sizeof *x), *ty = malloc((size_t)t->n * sizeof *y);
  for (int64_t i = 0; i < t->n; i++) t->order[i] = i;
  for (int r = 0; r < repeats; r++) {
    shuffle(t->order, t->n, (uint64_t)r + 1);
    for (int fold = 0; fold < FOLDS; fold++) {
      tct_data *train = part(t, fold, 0, x, y), *test = part(t, fold, 1, tx, ty);
      tct_config c;
      tct_config_default(&c);
      c.intercept = 0;
      c.loss = "logistic", c.solver = solver, c.scale = "min-max", c.intercept = 1, c.row_norm = norm, c.threads = 1;
      if (epsilon > 0) c.epsilon = epsilon, c.delta = 1e-8, c.has_seed = 1, c.seed = (uint64_t)(r * FOLDS + fold + 1);
      double start = bench_now();
      tct_model *model = bench_train(&c, train);
      seconds += bench_now() - start;
      double a = score(model, test, "accuracy");
      accuracy += a, square += a * a, loss += score(model, train, "mean_loss");
      tct_model_free(model), tct_data_free(train), tct_data_free(test);
    }
  }
  double fits = repeats * FOLDS, mean = accuracy / fits;
  printf(
      "{\"bench\": \"objpert_cv\", \"data\": \"%s\", \"solver\": \"%s\", \"row_norm\": %.4g, \"epsilon\": %g, "
      "\"accuracy\": %.2f, \"deviation\": %.2f, \"train_loss\": %.4f, \"seconds\": %.3f, \"fits\": %g}\n",
      name, solver, norm, epsilon, 100 * mean, 100 * sqrt(fmax(0, square / fits - mean * mean)), loss / fits,
      seconds / fits, fits);
  fflush(stdout);
  free(x), free(y), free(tx), free(ty);
}

int main(int argc, char **argv) {
  static const struct {
    const char *file, *name;
    double clip, attributes;
  } sets[] = {{"ipums_br_dpagd.csv.xz", "ipums-br", 3.2, 20}, {"bank_dpagd.csv.xz", "bank", 2.5, 16}};
  static const double epsilons[] = {0.05, 0.1, 0.2, 0.4, 0.8, 1.6};
  int repeats = argc > 1 ? atoi(argv[1]) : 2;
  for (int d = 0; d < 2; d++) {
    tct_data *data = bench_read(sets[d].file, TCT_LABELS_BINARY, "y", NULL, 0);
    if (!data) continue;
    const tct_matrix *m = tct_data_matrix(data);
    table t = {m->rows, m->cols, NULL, NULL, malloc((size_t)m->rows * sizeof(int64_t))};
    t.x = malloc((size_t)(t.n * t.p) * sizeof(double)), t.y = malloc((size_t)t.n * sizeof(double));
    for (int64_t i = 0; i < t.n; i++)
      memcpy(t.x + i * t.p, (const double *)m->values + i * m->stride, (size_t)t.p * sizeof(double));
    memcpy(t.y, tct_data_labels(data), (size_t)t.n * sizeof(double));
    tct_data_free(data);
    for (int s = 2; s < (argc > 2 ? argc : 3); s++)
      for (int public_norm = 0; public_norm < 2; public_norm++)
        for (int e = 0; e < 6; e++)
          validate(&t, sets[d].name, argc > 2 ? argv[s] : "objpert",
                   public_norm ? sqrt(sets[d].attributes + 1) : sets[d].clip, epsilons[e], repeats);
    free(t.x), free(t.y), free(t.order);
  }
  return 0;
}
