/* bench_liblinear.c - scd beside LIBLINEAR's dual solvers in one process, one thread, reading excluded.
 *
 * LIBLINEAR minimises |w|^2/2 + C sum of losses; C = 1/(lambda n) makes it our objective times 1/lambda.  Its tolerance
 * is loosened or tightened by halves until the relative objective gap is <= 1e-6 (optimum: scd to 1e-11).  The first
 * that reaches it is timed.  Where none does (it stops after 1000 passes), the gap that it ends at is the goal for
 * both.  Ours is treated alike: the largest relative duality gap (by halves from 32 times the goal) whose model's
 * objective gap is within the goal.  Usage: bench_liblinear [RUNS (5)] */
#include "sets.h"

#include <linear.h>

static void quiet(const char *text) { (void)text; }

/* LIBLINEAR's rows: 1-based pairs ended by -1; the bias is one more feature. Records are as our bounded view has them.
 */
static struct feature_node **rows_of(const tct_matrix *m, struct feature_node **memory) {
  int64_t n = m->rows, p = m->cols, at = 0;
  const double *values = m->values;
  const int32_t *start = m->start, *index = m->index;
  int64_t nonzeros = m->layout == TCT_CSR ? start[n] : n * p;
  struct feature_node *node = malloc((size_t)(nonzeros + 2 * n) * sizeof *node),
                      **row = malloc((size_t)n * sizeof *row);
  for (int64_t i = 0; i < n; i++) {
    row[i] = node + at;
    if (m->layout == TCT_CSR)
      for (int32_t k = start[i]; k < start[i + 1]; k++) node[at++] = (struct feature_node){index[k] + 1, values[k]};
    else
      for (int64_t j = 0; j < p; j++)
        if (values[i * m->stride + j] != 0) node[at++] = (struct feature_node){(int)j + 1, values[i * m->stride + j]};
    node[at++] = (struct feature_node){(int)p + 1, 1};
    node[at++] = (struct feature_node){-1, 0};
  }
  *memory = node;
  return row;
}

static double loss_of(int hinge, double margin) {
  if (hinge) return margin < 1 ? 1 - margin : 0;
  return margin > 0 ? log1p(exp(-margin)) : -margin + log1p(exp(margin));
}

static double objective(const struct problem *prob, int hinge, double lambda, const double *w, double sign) {
  double sum = 0, squares = 0;
  for (int i = 0; i < prob->l; i++) {
    double z = 0;
    for (const struct feature_node *f = prob->x[i]; f->index > 0; f++) z += w[f->index - 1] * f->value;
    sum += loss_of(hinge, prob->y[i] * sign * z);
  }
  for (int j = 0; j < prob->n; j++) squares += w[j] * w[j];
  return sum / prob->l + lambda / 2 * squares;
}

static tct_config settings(int hinge, const char *solver) {
  tct_config c;
  tct_config_default(&c);
  c.intercept = 0;
  c.loss = hinge ? "hinge" : "logistic";
  c.penalty = "l2:lambda=1e-4";
  c.solver = solver;
  c.intercept = 1;
  c.threads = 1;
  return c;
}

static double ours(const tct_data *data, int hinge, const char *solver, double *seconds) {
  tct_config c = settings(hinge, solver);
  double start = bench_now();
  tct_model *model = bench_train(&c, data);
  *seconds = bench_now() - start;
  double value = bench_objective(model, data);
  tct_model_free(model);
  return value;
}

static double theirs(const struct problem *prob, int hinge, double eps, double *seconds) {
  struct parameter par = {
      .solver_type = hinge ? L2R_L1LOSS_SVC_DUAL : L2R_LR_DUAL, .eps = eps, .C = 1 / (1e-4 * prob->l)};
  par.p = 0.1;
  double start = bench_now();
  struct model *m = train(prob, &par);
  *seconds = bench_now() - start;
  double value = objective(prob, hinge, 1e-4, m->w, m->label[0] == 1 ? 1 : -1);
  free_and_destroy_model(&m);
  return value;
}

static void compare(const char *name, const tct_data *data, int runs) {
  struct feature_node *memory;
  struct problem prob = {.l = (int)tct_data_rows(data), .n = (int)tct_data_cols(data) + 1, .bias = 1};
  prob.x = rows_of(tct_data_matrix(data), &memory);
  prob.y = (double *)(uintptr_t)tct_data_labels(data);
  for (int hinge = 0; hinge < 2; hinge++) {
    double seconds, best = ours(data, hinge, hinge ? "scd:tol=3e-8" : "scd:tol=1e-11", &seconds), eps = 0.8, value;
    do value = theirs(&prob, hinge, eps /= 2, &seconds);
    while (value > best * (1 + 1e-6) && eps > 1e-9);
    double a = INFINITY, b = INFINITY, reached = 0, goal = fmax(1e-6, value / best - 1);
    double rtol = 64 * goal;
    char solver[64];
    do snprintf(solver, sizeof solver, "scd:tol=0,rtol=%.9f", rtol /= 2);
    while (ours(data, hinge, solver, &seconds) > best * (1 + goal) && rtol > goal);
    for (int r = 0; r < runs; r++) { /* in turn; the best of each */
      double s, t;
      reached = ours(data, hinge, solver, &s);
      theirs(&prob, hinge, eps, &t);
      a = fmin(a, s);
      b = fmin(b, t);
    }
    printf(
        "{\"bench\": \"liblinear\", \"data\": \"%s\", \"loss\": \"%s\", \"ours_seconds\": %.4f, \"liblinear_seconds\": "
        "%.4f, "
        "\"ratio\": %.3f, \"ours_gap\": %.2g, \"liblinear_gap\": %.2g, \"ours_rtol\": %g, \"liblinear_eps\": %g}\n",
        name, hinge ? "hinge" : "logistic", a, b, a / b, reached / best - 1, value / best - 1, rtol, eps);
    fflush(stdout);
  }
  free(memory);
  free(prob.x);
}

/* Columns over their largest absolute value, then rows of norm 1. */
static void unit_rows(bench_table *t) {
  for (int64_t j = 0; j < t->p; j++) {
    double max = 0;
    for (int64_t i = 0; i < t->n; i++) max = fmax(max, fabs(t->x[i * t->p + j]));
    for (int64_t i = 0; i < t->n && max > 0; i++) t->x[i * t->p + j] /= max;
  }
  for (int64_t i = 0; i < t->n; i++) {
    double norm = 0;
    for (int64_t j = 0; j < t->p; j++) norm += t->x[i * t->p + j] * t->x[i * t->p + j];
    for (int64_t j = 0; j < t->p && norm > 0; j++) t->x[i * t->p + j] /= sqrt(norm);
  }
}

int main(int argc, char **argv) {
  int runs = argc > 1 ? atoi(argv[1]) : 5;
  set_print_string_function(quiet);
  tct_data *a9a = bench_read("a9a.libsvm.xz", TCT_LABELS_BINARY, NULL, NULL, 123);
  if (a9a) compare("a9a", a9a, runs);
  tct_data_free(a9a);
  tct_data *phishing = bench_read("phishing.libsvm.xz", TCT_LABELS_BINARY, NULL, NULL, 68);
  if (phishing) compare("phishing", phishing, runs);
  tct_data_free(phishing);
  bench_table bank = bench_table_read("bank_dpagd.csv.xz", TCT_LABELS_BINARY, "y", 0);
  if (bank.n) {
    unit_rows(&bank);
    tct_data *data = bench_view(&bank);
    compare("bank (max-abs, unit rows)", data, runs);
    tct_data_free(data);
  }
  bench_table_free(&bank);
  return 0;
}
