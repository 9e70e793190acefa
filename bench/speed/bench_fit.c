/* bench_fit.c - processor time of one fit of `auto` beside dpnewton's, on invented tables; one thread, epsilon 1.
 *
 *   narrow    45,000 x 33, dense
 *   tall      2,000,000 x 31, dense
 *   one-hot   24,000 x 5,000, CSR: ten columns of 500 categories each
 *
 * Labels follow a random linear model.  Both solvers fit in turn, REPEATS times; printed are the least seconds of each,
 * the ratio of every pair, and their median.  dpnewton has no form for 5,000 columns, so there is no ratio.
 *
 * Usage: bench_fit [REPEATS (5)] [narrow,tall,onehot] */
#include "bench.h"
#include "random.h"

#include <stdbool.h>

enum { CATEGORIES = 500, HOT = 10, MOST = 64 };

typedef struct shape {
  const char *name;
  int64_t n, p;
  bool one_hot;
} shape;

static const shape shapes[] = {
    {"narrow", 45000, 33, false}, {"tall", 2000000, 31, false}, {"onehot", 24000, 5000, true}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

typedef struct table {
  double *values, *y, *weight;
  int64_t *start, *index;
  tct_matrix x;
} table;

static void *room(int64_t count, size_t size) {
  void *out = malloc((size_t)count * size);
  if (!out) exit(1);
  return out;
}

static double label_of(double margin, uint64_t *state) { return bench_unit(state) < 1 / (1 + exp(-margin)) ? 1 : -1; }

static void fill_dense(const shape *s, table *t, uint64_t *state) {
  t->values = room(s->n * s->p, sizeof(double));
  for (int64_t i = 0; i < s->n; i++) {
    double margin = 0;
    for (int64_t j = 0; j < s->p; j++) {
      double v = t->values[i * s->p + j] = bench_unit(state);
      margin += t->weight[j] * (v - 0.5);
    }
    t->y[i] = label_of(margin, state);
  }
  t->x = (tct_matrix){.rows = s->n, .cols = s->p, .layout = TCT_DENSE_ROWS, .values = t->values, .stride = s->p};
}

static void fill_one_hot(const shape *s, table *t, uint64_t *state) {
  int64_t *start = t->start = room(s->n + 1, sizeof *start), *index = t->index = room(s->n * HOT, sizeof *index);
  double *values = t->values = room(s->n * HOT, sizeof *values);
  for (int64_t i = 0; i < s->n; i++) {
    double margin = 0;
    start[i] = i * HOT;
    for (int64_t k = 0; k < HOT; k++) {
      index[i * HOT + k] = k * CATEGORIES + (int64_t)(bench_unit(state) * bench_unit(state) * CATEGORIES);
      values[i * HOT + k] = 1;
      margin += t->weight[index[i * HOT + k]];
    }
    t->y[i] = label_of(margin, state);
  }
  start[s->n] = s->n * HOT;
  t->x = (tct_matrix){.rows = s->n,
                      .cols = s->p,
                      .layout = TCT_CSR,
                      .values = values,
                      .start = start,
                      .index = index,
                      .index_type = TCT_I64};
}

static double seconds_of(const shape *s, const tct_data *data, const char *solver, uint64_t seed) {
  tct_config c;
  tct_config_default(&c);
  c.loss = "logistic", c.penalty = "none", c.solver = solver, c.intercept = 1, c.threads = 1;
  c.row_norm = s->one_hot ? sqrt(HOT + 1) : sqrt((double)s->p + 1);
  c.epsilon = 1, c.delta = 1e-5, c.has_seed = 1, c.seed = seed;
  double start = bench_cpu();
  tct_model_free(bench_train(&c, data));
  return bench_cpu() - start;
}

static void measure(const shape *s, int repeats) {
  uint64_t state = 7;
  tct_error err = {0};
  table t = {.y = room(s->n, sizeof(double)), .weight = room(s->p, sizeof(double))};
  for (int64_t j = 0; j < s->p; j++) t.weight[j] = 4 * bench_unit(&state) - 2;
  if (s->one_hot)
    fill_one_hot(s, &t, &state);
  else
    fill_dense(s, &t, &state);
  tct_data *data = tct_data_view(&t.x, t.y, TCT_LABELS_BINARY, NULL, NULL, &err);
  if (!data) bench_fail(&err);
  double ratio[MOST], least = INFINITY, other = INFINITY;
  for (int r = 0; r < repeats; r++) {
    double own = seconds_of(s, data, NULL, (uint64_t)r + 1);
    double newton = s->one_hot ? NAN : seconds_of(s, data, "dpnewton", (uint64_t)r + 1);
    least = fmin(least, own), other = fmin(other, newton), ratio[r] = own / newton;
  }
  qsort(ratio, (size_t)repeats, sizeof *ratio, bench_by_size);
  printf("{\"bench\": \"fit\", \"table\": \"%s\", \"rows\": %lld, \"cols\": %lld, \"auto_seconds\": %.3f", s->name,
         (long long)s->n, (long long)s->p, least);
  if (!s->one_hot) printf(", \"dpnewton_seconds\": %.3f, \"ratio\": %.2f", other, ratio[repeats / 2]);
  printf(", \"repeats\": %d}\n", repeats);
  fflush(stdout);
  tct_data_free(data);
  free(t.values), free(t.y), free(t.weight), free(t.start), free(t.index);
}

int main(int argc, char **argv) {
  int repeats = argc > 1 ? atoi(argv[1]) : 5;
  const char *list = argc > 2 ? argv[2] : "narrow,tall,onehot";
  if (repeats < 1 || repeats > MOST) {
    fprintf(stderr, "usage: %s [REPEATS (5)] [narrow,tall,onehot]\n", argv[0]);
    return 2;
  }
  for (int k = 0; k < SHAPES; k++)
    if (strstr(list, shapes[k].name)) measure(&shapes[k], repeats);
  return 0;
}
