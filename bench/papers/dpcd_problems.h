/* dpcd_problems.h - the problems of the dpcd benches: data prepared, public numbers, optimum, one trained run.
 *
 * Scaling, row norms and feature bounds are read from the data here, as in the paper's experiments: that is not
 * accounted for and serves comparison only. */
#ifndef TCT_BENCH_DPCD_PROBLEMS_H
#define TCT_BENCH_DPCD_PROBLEMS_H
#include "bench.h"

typedef struct problem {
  const char *name, *loss;
  char penalty[64], bounds[192]; /* bounds: twice the largest |x_j| of each feature, "" where there are many */
  double epsilon, delta, row_norm, label_bound, optimum, trace, smooth; /* trace: sum of M_j; smooth: global constant */
  int64_t n, p;
  double *x, *y; /* dense rows, owned; NULL where the reader's matrix is used */
  tct_data *source, *data;
} problem;

/* How a problem's data are made. */
typedef struct recipe {
  const char *name, *file, *label, *positive, *schema, *loss;
  int standard, unit; /* standardise columns; divide columns by their largest |x| */
} recipe;

static inline double problem_value(const tct_matrix *m, int64_t k) {
  return m->value_type == TCT_F32 ? (double)((const float *)m->values)[k] : ((const double *)m->values)[k];
}
static inline int64_t problem_offset(const tct_matrix *m, const void *at, int64_t k) {
  return m->index_type == TCT_I64 ? ((const int64_t *)at)[k] : ((const int32_t *)at)[k];
}

/* Dense rows, whatever the reader made. */
static inline void problem_densify(problem *s, const tct_matrix *m) {
  s->x = calloc((size_t)(s->n * s->p), sizeof *s->x);
  for (int64_t i = 0; i < s->n; i++) {
    if (m->layout == TCT_CSR)
      for (int64_t k = problem_offset(m, m->start, i); k < problem_offset(m, m->start, i + 1); k++)
        s->x[i * s->p + problem_offset(m, m->index, k)] = problem_value(m, k);
    else
      for (int64_t j = 0; j < s->p; j++)
        s->x[i * s->p + j] = problem_value(m, m->layout == TCT_DENSE_ROWS ? i * m->stride + j : j * m->stride + i);
  }
}

static inline void problem_scale(problem *s, int standard, int unit, int centre_labels) {
  for (int64_t j = 0; j < s->p; j++) {
    double sum = 0, squares = 0, largest = 0;
    for (int64_t i = 0; i < s->n; i++) {
      double v = s->x[i * s->p + j];
      sum += v, squares += v * v, largest = fmax(largest, fabs(v));
    }
    double mean = sum / (double)s->n, deviation = sqrt(fmax(0, squares / (double)s->n - mean * mean));
    for (int64_t i = 0; i < s->n; i++) {
      double *v = &s->x[i * s->p + j];
      if (standard) *v = deviation > 0 ? (*v - mean) / deviation : 0;
      if (unit && largest > 0) *v /= largest;
    }
  }
  double sum = 0;
  for (int64_t i = 0; i < s->n; i++) sum += s->y[i];
  for (int64_t i = 0; i < s->n && centre_labels; i++) s->y[i] -= sum / (double)s->n;
}

/* Row norm, label bound, bounds, trace, and the largest eigenvalue by power iteration. */
static inline void problem_measure(problem *s) {
  double h = strcmp(s->loss, "logistic") ? 1 : 0.25, *v = calloc((size_t)s->p, 8), *u = calloc((size_t)s->p, 8);
  s->row_norm = s->label_bound = s->trace = 0;
  for (int64_t i = 0; i < s->n; i++) {
    double squares = 0;
    for (int64_t j = 0; j < s->p; j++) squares += s->x[i * s->p + j] * s->x[i * s->p + j];
    s->row_norm = fmax(s->row_norm, sqrt(squares));
    s->label_bound = fmax(s->label_bound, fabs(s->y[i]));
    s->trace += h * squares / (double)s->n;
  }
  s->row_norm *= 1.001, s->label_bound *= 1.001;
  s->bounds[0] = 0;
  for (int64_t j = 0; j < s->p && s->p <= 16; j++) {
    double largest = 0;
    for (int64_t i = 0; i < s->n; i++) largest = fmax(largest, fabs(s->x[i * s->p + j]));
    snprintf(s->bounds + strlen(s->bounds), 24, "%s%.5g", j ? "/" : "", 2 * largest);
  }
  for (int64_t j = 0; j < s->p; j++) v[j] = 1;
  for (int t = 0; t < 60; t++) {
    double norm = 0;
    memset(u, 0, (size_t)s->p * 8);
    for (int64_t i = 0; i < s->n; i++) {
      double z = 0;
      for (int64_t j = 0; j < s->p; j++) z += s->x[i * s->p + j] * v[j];
      for (int64_t j = 0; j < s->p; j++) u[j] += z * s->x[i * s->p + j] / (double)s->n;
    }
    for (int64_t j = 0; j < s->p; j++) norm += u[j] * u[j];
    norm = sqrt(norm);
    for (int64_t j = 0; j < s->p; j++) v[j] = u[j] / norm;
    s->smooth = h * norm;
  }
  free(v), free(u);
}

static inline void problem_view(problem *s) {
  tct_error err = {0};
  static tct_matrix m; /* the handle copies it */
  m = (tct_matrix){.rows = s->n, .cols = s->p, .layout = TCT_DENSE_ROWS, .values = s->x, .stride = s->p};
  s->data =
      tct_data_view(&m, s->y, strcmp(s->loss, "logistic") ? TCT_LABELS_REAL : TCT_LABELS_BINARY, NULL, NULL, &err);
  if (!s->data) bench_fail(&err);
}

/* seed < 0: a run without privacy, which takes no epsilon. */
static inline tct_config problem_config(const problem *s, const char *solver, int64_t seed) {
  tct_config c;
  tct_config_default(&c);
  c.intercept = 0;
  c.loss = s->loss;
  c.penalty = s->penalty;
  c.solver = solver;
  c.row_norm = s->row_norm;
  c.label_bound = s->label_bound;
  c.threads = 1;
  c.neighbours = TCT_REPLACE_ONE;
  if (seed < 0) return c;
  c.epsilon = s->epsilon;
  c.delta = s->delta;
  c.has_seed = 1;
  c.seed = (uint64_t)seed;
  return c;
}

/* Objective over optimum less 1, and the seconds of tct_fit; NAN where the plan is refused. */
static inline double problem_run(const problem *s, const char *solver, tct_neighbours relation, int64_t seed,
                                 double *seconds) {
  tct_error err = {0};
  tct_config c = problem_config(s, solver, seed);
  c.neighbours = relation;
  tct_plan *plan = tct_plan_new(&c, s->n, s->p, &err);
  if (!plan) return NAN;
  double start = bench_now();
  tct_model *model = tct_fit(plan, s->data, &err);
  if (seconds) *seconds = bench_now() - start;
  double value = model ? bench_objective(model, s->data) : INFINITY;
  tct_model_free(model);
  tct_plan_free(plan);
  return seed < 0 ? value : value / s->optimum - 1;
}

/* 0 where the data are not there. */
static inline int problem_load(problem *s, const recipe *r) {
  tct_error err = {0};
  tct_read_options o;
  const char *path = bench_data(r->file);
  char schema[256];
  memset(s, 0, sizeof *s);
  if (!path) return 0;
  tct_read_options_default(&o);
  o.labels = strcmp(r->loss, "logistic") ? TCT_LABELS_REAL : TCT_LABELS_BINARY;
  o.label = r->label;
  o.positive = r->positive;
  snprintf(schema, sizeof schema, "bench/lib/%s", r->schema ? r->schema : "");
  o.schema_path = r->schema ? schema : NULL;
  s->source = tct_data_read(path, &o, &err);
  if (!s->source) bench_fail(&err);
  s->name = r->name, s->loss = r->loss;
  s->n = tct_data_rows(s->source), s->p = tct_data_cols(s->source);
  s->epsilon = 1, s->delta = 1 / ((double)s->n * (double)s->n);
  s->y = calloc((size_t)s->n, 8);
  memcpy(s->y, tct_data_labels(s->source), (size_t)s->n * 8);
  problem_densify(s, tct_data_matrix(s->source));
  tct_data_free(s->source);
  problem_scale(s, r->standard, r->unit, r->standard && o.labels == TCT_LABELS_REAL);
  snprintf(s->penalty, sizeof s->penalty, o.labels == TCT_LABELS_REAL ? "l1:lambda=0.05" : "l2:lambda=%.17g",
           1 / (double)s->n);
  problem_measure(s);
  if (r->standard) s->row_norm = 2 * sqrt((double)s->p); /* rms is 1: a round bound, not that of an outlier */
  problem_view(s);
  /* Raw columns differ by orders of magnitude: steps per coordinate do not mind. */
  s->optimum = problem_run(s, s->p <= 16 ? "cd:tol=0,rtol=1e-7" : "proxgd:tol=0,rtol=1e-6", TCT_REPLACE_ONE, -1, NULL);
  return 1;
}

static inline void problem_free(problem *s) {
  tct_data_free(s->data);
  free(s->x), free(s->y);
}

/* Mean over seeds first..first+runs-1. */
static inline double problem_mean(const problem *s, const char *solver, tct_neighbours relation, int64_t first,
                                  int runs) {
  double sum = 0;
  for (int r = 0; r < runs; r++) sum += problem_run(s, solver, relation, first + r, NULL) / runs;
  return sum;
}
#endif
