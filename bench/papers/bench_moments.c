/* bench_moments.c - one release of a table's moments, and the model of every column by all others from it.
 *
 * Usage: bench_moments TABLE.npy EPSILON DELTA RUNS FIRST [robust]   (columns within [-1, 1]; add_remove; seeds FIRST,
 * ...) A JSON line for each run and outcome: {"run", "label", "w", "noise", "error", "shrunk"}.  w has the slopes and
 * then the constant, and so have the errors; "shrunk" are the weights for prediction.  bench/papers/outcomes_table.py
 * --moments makes figures of them. */
#include "../lib/bench.h"

#include "la/matrix/matrix.h"
#include "linear/linear.h"
#include "read/table/data.h"

typedef struct table {
  const tct_data *data;
  tct_view view;
  tct_facts facts;
  tct_solver_plan plan;
  bool fourth;
} table;

static void list(const char *name, const double *value, int64_t count, int64_t step) {
  printf(", \"%s\": [", name);
  for (int64_t j = 0; j < count; j++) printf("%s%.17g", j ? ", " : "", step > 1 ? sqrt(value[j * step]) : value[j]);
  printf("]");
}

static void print(const tct_linear *l, int run, int64_t label) {
  int64_t q = l->q, slopes = q - 2, k = slopes + 1, column[256];
  double error[256 * 256], shrunk[256];
  tct_linear_model m;
  tct_error err = {0};
  for (int64_t j = 0; j < slopes; j++) column[j] = j + (j >= label);
  if (tct_linear_fit(l, label, column, slopes, 0, &m, &err) != TCT_OK) bench_fail(&err);
  for (int64_t j = 0; j < k * k; j++) error[j] = m.noise[j] + m.sampling[j];
  shrunk[slopes] = m.w[slopes];
  for (int64_t j = 0; j < slopes; j++) {
    shrunk[j] = m.w[j] * m.shrunk;
    shrunk[slopes] += (m.w[j] - shrunk[j]) * l->gram[column[j] * q + q - 1] / l->gram[q * q - 1];
  }
  printf("{\"run\": %d, \"label\": %lld", run, (long long)label);
  list("w", m.w, k, 1), list("noise", m.noise, k, k + 1), list("error", error, k, k + 1), list("shrunk", shrunk, k, 1);
  printf("}\n");
  tct_linear_model_free(&m);
}

static void run(const table *t, int number) {
  tct_error err = {0};
  tct_mech *mech = NULL;
  tct_moments m;
  tct_linear l;
  uint64_t seed = (uint64_t)number;
  const tct_problem problem = {.facts = &t->facts, .view = &t->view};
  if (tct_mech_new(&t->plan.promise, t->facts.neighbours, &seed, &mech, &err) != TCT_OK) bench_fail(&err);
  if (tct_moments_release(&problem, mech, 0, t->facts.row_norm, &m, &err) != TCT_OK) bench_fail(&err);
  if (t->fourth && tct_moments_release_fourth(&problem, mech, 2, &m, &err) != TCT_OK) bench_fail(&err);
  if (tct_linear_new(&m, t->facts.rows, &l, &err) != TCT_OK) bench_fail(&err);
  for (int64_t j = 0; j < l.q - 1; j++) print(&l, number, j);
  tct_linear_free(&l);
  tct_moments_free(&m);
  tct_mech_free(mech);
}

int main(int count, char **text) {
  tct_error err = {0};
  tct_read_options options;
  if (count != 6 && count != 7)
    return fprintf(stderr, "usage: bench_moments TABLE.npy EPSILON DELTA RUNS FIRST [robust]\n"), 2;
  tct_read_options_default(&options);
  options.labels = TCT_LABELS_NONE;
  tct_data *data = tct_data_read(text[1], &options, &err);
  if (!data) bench_fail(&err);
  int64_t p = data->x.cols + 1;
  if (p > 256) return fprintf(stderr, "bench_moments: at most 255 columns\n"), 2;
  table t = {.data = data, .fourth = count == 7};
  t.facts = (tct_facts){.rows = data->x.rows,
                        .p = p,
                        .intercept = true,
                        .row_norm = sqrt((double)p) * (1 + 1e-12),
                        .label_bound = NAN,
                        .epsilon = atof(text[2]),
                        .delta = atof(text[3]),
                        .threads = 1};
  if (tct_moments_plan(&t.facts, t.fourth, &t.plan, &err) != TCT_OK) bench_fail(&err);
  if (tct_view_bound(&t.view, &data->x, 1, t.facts.row_norm, TCT_ROWS_CLIP, 1, &err) != TCT_OK) bench_fail(&err);
  for (int k = 0; k < atoi(text[4]); k++) run(&t, atoi(text[5]) + k);
  tct_view_free(&t.view);
  tct_solver_plan_free(&t.plan);
  tct_data_free(data);
  return 0;
}
