/* agd_sets.h - the data sets of bench_agd_figures, and their folds. */
#ifndef TCT_BENCH_AGD_SETS_H
#define TCT_BENCH_AGD_SETS_H
#include "sets.h"

#define AGD_EPSILONS "0.05,0.1,0.2,0.4,0.8,1.6"

typedef struct agd_source {
  const char *name, *file, *second, *label;
  int64_t cols;
  double norm;  /* R */
  double bound; /* Y for real labels, after centring; 0: two classes */
  double delta;
} agd_source;

enum { AGD_FIGURE_SETS = 5, AGD_SETS = 11 }; /* those of the figures come first */

static const agd_source agd_sources[AGD_SETS] = {
    {"ipums-br", "ipums_br_dpagd.csv.xz", NULL, "y", 0, 3.2, 0, 1e-8},
    {"bank", "bank_dpagd.csv.xz", NULL, "y", 0, 2.5, 0, 1e-8},
    {"adult", "a9a.libsvm.xz", "a9a.t.libsvm.xz", NULL, 123, 3.873, 0, 1e-8},
    {"nist_acs", NULL, NULL, NULL, 0, 4.359, 0, 1e-8},  /* 14 categories, 4 numbers, the constant */
    {"kddcup99", NULL, NULL, NULL, 0, 6.481, 0, 1e-12}, /* 3 categories, 38 numbers, the constant */
    {"phishing", "phishing.libsvm.xz", NULL, NULL, 68, 5.568, 0, 1e-8},
    {"california", "california.csv.xz", NULL, "MedHouseVal", 0, 3, 3, 1e-8},
    {"diabetes130", "diabetes130.csv.xz", NULL, "time_in_hospital", 0, 3, 10, 1e-8},
    {"mushrooms", "mushrooms.libsvm.xz", NULL, NULL, 112, 4.796, 0, 1e-8},
    {"ipums-br-public", "ipums_br_dpagd.csv.xz", NULL, "y", 0, 4.583, 0, 1e-8}, /* 20 attributes, the constant */
    {"bank-public", "bank_dpagd.csv.xz", NULL, "y", 0, 4.123, 0, 1e-8},         /* 16 */
};

typedef struct agd_table {
  bench_table table;
  int64_t *order;
  int sparse; /* folds are given as CSR */
} agd_table;

static inline const agd_source *agd_find(const char *name) {
  int k = 0;
  while (strcmp(agd_sources[k].name, name)) k++;
  return &agd_sources[k];
}

/* Is the name in a list with commas, or the list "all"? */
static inline int agd_listed(const char *list, const char *name) {
  size_t n = strlen(name);
  for (const char *at = list; (at = strstr(at, name)); at++)
    if ((at == list || at[-1] == ',') && (at[n] == ',' || !at[n])) return 1;
  return !strcmp(list, "all");
}

static inline bench_table agd_read(const agd_source *s) {
  int labels = s->bound > 0 ? TCT_LABELS_REAL : TCT_LABELS_BINARY;
  if (!strcmp(s->name, "nist_acs")) {
    bench_table t = bench_nist_acs();
    for (int64_t i = 0; i < t.n; i++) t.y[i] = t.y[i] > 25000 ? 1 : -1;
    t.labels = TCT_LABELS_BINARY;
    return t;
  }
  if (!strcmp(s->name, "kddcup99")) return bench_kddcup();
  bench_table t = bench_table_read(s->file, labels, s->label, s->cols);
  if (!t.n || !s->second) return t;
  bench_table more = bench_table_read(s->second, labels, s->label, s->cols);
  t.x = realloc(t.x, (size_t)((t.n + more.n) * t.p) * sizeof *t.x);
  t.y = realloc(t.y, (size_t)(t.n + more.n) * sizeof *t.y);
  if (!t.x || !t.y) exit(1);
  if (more.n) memcpy(t.x + t.n * t.p, more.x, (size_t)(more.n * t.p) * sizeof *t.x);
  if (more.n) memcpy(t.y + t.n, more.y, (size_t)more.n * sizeof *t.y);
  t.n += more.n;
  bench_table_free(&more);
  return t;
}

/* 0: the data are not there. */
static inline int agd_load(const agd_source *s, agd_table *t) {
  t->table = agd_read(s);
  if (!t->table.n) return 0;
  int64_t cells = t->table.n * t->table.p, filled = 0;
  for (int64_t k = 0; k < cells; k++) filled += t->table.x[k] != 0;
  t->sparse = 4 * filled < cells;
  t->order = malloc((size_t)t->table.n * sizeof *t->order);
  return 1;
}

static inline void agd_free(agd_table *t) {
  bench_table_free(&t->table);
  free(t->order);
}

/* A shuffle that does not matter for privacy: a linear congruential generator (Knuth's MMIX constants). */
static inline void agd_shuffle(int64_t *order, int64_t n, uint64_t state) {
  for (int64_t i = 0; i < n; i++) order[i] = i;
  for (int64_t i = n - 1; i > 0; i--) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    int64_t j = (int64_t)((state >> 33) % (uint64_t)(i + 1)), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
}

typedef struct agd_part {
  tct_data *data;
  double *x, *y;
  int64_t *start;
  int64_t *index;
} agd_part;

/* Rows with (position in the order) % folds == fold, or all others. */
static inline agd_part agd_part_new(const agd_table *t, int fold, int folds, int inside) {
  int64_t p = t->table.p, rows = 0, filled = 0, max = t->table.n / folds + 1;
  if (!inside) max = t->table.n;
  agd_part part = {.y = malloc((size_t)max * sizeof(double))};
  part.start = calloc((size_t)max + 1, sizeof(int64_t));
  for (int64_t k = 0; k < t->table.n; k++) {
    if ((k % folds == fold) != inside) continue;
    const double *row = t->table.x + t->order[k] * p;
    part.y[rows++] = t->table.y[t->order[k]];
    for (int64_t j = 0; j < p; j++) filled += row[j] != 0;
  }
  part.x = malloc((size_t)(t->sparse ? filled : rows * p) * sizeof(double));
  part.index = malloc((size_t)(t->sparse ? filled : 1) * sizeof(int64_t));
  rows = filled = 0;
  for (int64_t k = 0; k < t->table.n; k++) {
    if ((k % folds == fold) != inside) continue;
    const double *row = t->table.x + t->order[k] * p;
    if (!t->sparse) memcpy(part.x + rows * p, row, (size_t)p * sizeof *row);
    for (int64_t j = 0; j < p && t->sparse; j++)
      if (row[j] != 0) part.index[filled] = j, part.x[filled++] = row[j];
    part.start[++rows] = filled;
  }
  tct_error err = {0};
  tct_matrix m = {.rows = rows, .cols = p, .layout = TCT_DENSE_ROWS, .values = part.x, .stride = p};
  if (t->sparse)
    m = (tct_matrix){.rows = rows,
                     .cols = p,
                     .layout = TCT_CSR,
                     .index_type = TCT_I64,
                     .values = part.x,
                     .start = part.start,
                     .index = part.index};
  part.data = tct_data_view(&m, part.y, t->table.labels, NULL, NULL, &err);
  if (!part.data) bench_fail(&err);
  return part;
}

static inline void agd_part_free(agd_part *part) {
  tct_data_free(part->data);
  free(part->x), free(part->y), free(part->start), free(part->index);
}
#endif
