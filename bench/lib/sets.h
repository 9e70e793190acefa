/* sets.h - data sets cut and prepared for the benches: dense copies, splits that can be repeated, a synthetic one. */
#ifndef TCT_BENCH_SETS_H
#define TCT_BENCH_SETS_H
#include "bench.h"

/* ---- random numbers of the splits and of the synthetic set; nothing private hangs on them ---------- */

/* MT19937 (Matsumoto, Nishimura 1998) seeded by one integer. */
typedef struct bench_twister {
  uint32_t state[624];
  int at;
} bench_twister;

static inline void bench_twister_seed(bench_twister *t, uint32_t seed) {
  t->state[0] = seed;
  for (uint32_t i = 1; i < 624; i++) t->state[i] = 1812433253u * (t->state[i - 1] ^ (t->state[i - 1] >> 30)) + i;
  t->at = 624;
}

static inline uint32_t bench_twister_next(bench_twister *t) {
  if (t->at == 624) {
    for (int i = 0; i < 624; i++) {
      uint32_t y = (t->state[i] & 0x80000000u) | (t->state[(i + 1) % 624] & 0x7fffffffu);
      t->state[i] = t->state[(i + 397) % 624] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    t->at = 0;
  }
  uint32_t y = t->state[t->at++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

/* A permutation of 0..n-1: Fisher-Yates from the end, indices by masked rejection.  This is the permutation that
 * NumPy's RandomState(seed) gives, hence the split of scikit-learn's train_test_split(random_state=seed). */
static inline int64_t *bench_permutation(int64_t n, uint32_t seed) {
  bench_twister t;
  int64_t *order = malloc((size_t)n * sizeof *order);
  bench_twister_seed(&t, seed);
  for (int64_t i = 0; i < n; i++) order[i] = i;
  for (int64_t i = n - 1; i > 0; i--) {
    uint32_t mask = (uint32_t)i, j;
    for (int s = 1; s < 32; s *= 2) mask |= mask >> s;
    do j = bench_twister_next(&t) & mask;
    while (j > (uint32_t)i);
    int64_t keep = order[i];
    order[i] = order[j];
    order[j] = keep;
  }
  return order;
}

static inline double bench_normal(bench_twister *t) { /* Box and Muller */
  double u = (bench_twister_next(t) + 0.5) * 0x1p-32, v = (bench_twister_next(t) + 0.5) * 0x1p-32;
  return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* ---- tables ------------------------------------------------------------------------------------ */

typedef struct bench_table {
  int64_t n, p;
  double *x, *y; /* [n][p], [n] */
  int labels;    /* tct_labels */
} bench_table;

static inline bench_table bench_table_new(int64_t n, int64_t p, int labels) {
  bench_table t = {n, p, calloc((size_t)(n * p), sizeof(double)), calloc((size_t)n, sizeof(double)), labels};
  if (!t.x || !t.y) exit(1);
  return t;
}
static inline void bench_table_free(bench_table *t) {
  free(t->x);
  free(t->y);
  *t = (bench_table){0};
}

/* A dense copy of what a reader gave. */
static inline bench_table bench_table_of(const tct_data *data, int labels) {
  const tct_matrix *m = tct_data_matrix(data);
  bench_table t = bench_table_new(m->rows, m->cols, labels);
  const double *values = m->values;
  const int32_t *start = m->start, *index = m->index;
  for (int64_t i = 0; i < m->rows; i++)
    if (m->layout == TCT_CSR)
      for (int32_t k = start[i]; k < start[i + 1]; k++) t.x[i * t.p + index[k]] = values[k];
    else
      memcpy(t.x + i * t.p, values + i * m->stride, (size_t)t.p * sizeof(double));
  if (tct_data_labels(data)) memcpy(t.y, tct_data_labels(data), (size_t)t.n * sizeof(double));
  return t;
}

/* Reads a set into a dense table; n = 0 when the file is absent. */
static inline bench_table bench_table_read(const char *name, int labels, const char *label, int64_t cols) {
  tct_data *data = bench_read(name, labels, label, NULL, cols);
  bench_table t = {0};
  if (data) t = bench_table_of(data, labels);
  tct_data_free(data);
  return t;
}

/* Reads a CSV under a schema of bench/; a record that does not fit stays with all features 0.  n = 0: absent. */
static inline bench_table bench_table_schema(const char *name, const char *schema, int labels) {
  tct_error err = {0};
  tct_read_options o;
  char file[256];
  const char *path = bench_data(name);
  bench_table t = {0};
  if (!path) return t;
  tct_read_options_default(&o);
  snprintf(file, sizeof file, "bench/lib/%s", schema);
  o.labels = labels;
  o.schema_path = file;
  o.invalid = TCT_INVALID_ZERO;
  tct_data *data = tct_data_read(path, &o, &err);
  if (!data) bench_fail(&err);
  t = bench_table_of(data, labels);
  tct_data_free(data);
  return t;
}

/* NIST's excerpt of the American Community Survey: income in dollars as the label, cut to [0, 100000].  Persons without
 * one (children) do not fit the schema, hence have no features, and are left out. */
static inline bench_table bench_nist_acs(void) {
  bench_table t = bench_table_schema("nist_acs_national2019.csv.xz", "nist_acs.schema.json", TCT_LABELS_REAL);
  int64_t kept = 0;
  for (int64_t i = 0; i < t.n; i++) {
    const double *row = t.x + i * t.p;
    int64_t j = 0;
    while (j < t.p && row[j] == 0) j++;
    if (j == t.p) continue;
    memmove(t.x + kept * t.p, row, (size_t)t.p * sizeof *row);
    t.y[kept++] = t.y[i];
  }
  t.n = kept;
  return t;
}

/* KDD Cup 1999, 10 % sample: denial of service or not.  The schema's last columns name the six attacks of that kind. */
static inline bench_table bench_kddcup(void) {
  enum { ATTACKS = 6 };
  bench_table t = bench_table_schema("kddcup99_10pct.csv.xz", "kddcup99.schema.json", TCT_LABELS_NONE);
  int64_t p = t.p - ATTACKS;
  for (int64_t i = 0; i < t.n; i++) {
    const double *row = t.x + i * t.p;
    t.y[i] = -1;
    for (int64_t j = p; j < t.p; j++)
      if (row[j] != 0) t.y[i] = 1;
    memmove(t.x + i * p, row, (size_t)p * sizeof *row);
  }
  t.p = t.n ? p : 0;
  t.labels = TCT_LABELS_BINARY;
  return t;
}

/* The rows order[0..count) as a table. */
static inline bench_table bench_table_rows(const bench_table *from, const int64_t *order, int64_t count) {
  bench_table t = bench_table_new(count, from->p, from->labels);
  for (int64_t i = 0; i < count; i++) {
    memcpy(t.x + i * t.p, from->x + order[i] * t.p, (size_t)t.p * sizeof(double));
    t.y[i] = from->y[order[i]];
  }
  return t;
}

static inline tct_data *bench_view(const bench_table *t) {
  tct_error err = {0};
  tct_matrix m = {.rows = t->n, .cols = t->p, .layout = TCT_DENSE_ROWS, .values = t->x, .stride = t->p};
  tct_data *data = tct_data_view(&m, t->y, t->labels, NULL, NULL, &err);
  if (!data) bench_fail(&err);
  return data;
}

/* 40,000 x 90 for ridge, made to resemble the year-prediction set where that is not at hand: independent standard
 * normal features; label = 5.45 * 90^(1/2) * (unit row . direction) + 9.44 * normal, a fixed random direction: label
 * variance about 119, of which a linear model explains a quarter. */
static inline bench_table bench_synthetic(int64_t n, int64_t p) {
  bench_table t = bench_table_new(n, p, TCT_LABELS_REAL);
  bench_twister random;
  bench_twister_seed(&random, 20211);
  double *direction = malloc((size_t)p * sizeof *direction), size = 0;
  for (int64_t j = 0; j < p; j++) direction[j] = bench_normal(&random), size += direction[j] * direction[j];
  for (int64_t i = 0; i < n; i++) {
    double *x = t.x + i * p, norm = 0, dot = 0;
    for (int64_t j = 0; j < p; j++) {
      x[j] = bench_normal(&random);
      norm += x[j] * x[j];
      dot += x[j] * direction[j];
    }
    t.y[i] = 5.45 * sqrt((double)p) * dot / sqrt(norm * size) + 9.44 * bench_normal(&random);
  }
  free(direction);
  return t;
}

/* ---- the paper's three parts -------------------------------------------------------------------- */

/* Test part fixed, a random quarter of the rest held out for choosing options, the remainder for training. */
typedef struct bench_parts {
  bench_table table[3];
  tct_data *train, *valid, *test;
} bench_parts;

/* test: a table of its own, or n = 0: a quarter of `all` by the permutation of seed 42. */
static inline bench_parts bench_split(const bench_table *all, const bench_table *test, uint32_t seed) {
  bench_parts parts;
  int64_t *order = bench_permutation(all->n, 42), held = test->n ? 0 : (all->n + 3) / 4, rest = all->n - held;
  int64_t valid = (rest + 3) / 4, *inner = bench_permutation(rest, seed);
  for (int64_t i = 0; i < rest; i++) inner[i] = order[held + inner[i]];
  parts.table[0] = bench_table_rows(all, inner + valid, rest - valid);
  parts.table[1] = bench_table_rows(all, inner, valid);
  parts.table[2] = test->n ? *test : bench_table_rows(all, order, held);
  parts.train = bench_view(&parts.table[0]);
  parts.valid = bench_view(&parts.table[1]);
  parts.test = bench_view(&parts.table[2]);
  free(order);
  free(inner);
  return parts;
}

static inline void bench_parts_free(bench_parts *parts, const bench_table *test) {
  tct_data_free(parts->train);
  tct_data_free(parts->valid);
  tct_data_free(parts->test);
  for (int k = 0; k < (test->n ? 2 : 3); k++) bench_table_free(&parts->table[k]);
}
#endif
