/* bench_parties_cost.c - dpfw_parties over K parties: bytes that leave the parties, and seconds of a round.
 *
 * A simulation in one process: a round's seconds are those of all parties together.  Beside the bytes that were counted
 * on the wire stands the model of docs/measured/parties.md. */
#include "bench.h"
#include "random.h"
#include "core/alloc.h"
#include "train/bound.h"
#include "parties/dpfw_parties.h"

enum { ROWS = 50000, COLS = 64, ACTIVE = 6 };

static double uniform(uint64_t *state) { return (double)(bench_word(state) >> 11) * 0x1p-52 - 1; }

static void fill(double *x, double *y) {
  uint64_t seed = 11;
  for (int64_t i = 0; i < ROWS; i++) {
    double margin = 0;
    for (int64_t j = 0; j < COLS; j++) {
      x[j * ROWS + i] = uniform(&seed);
      if (j % (COLS / ACTIVE) == 0) margin += x[j * ROWS + i];
    }
    y[i] = margin + uniform(&seed) > 0 ? 1 : -1;
  }
}

static void measure(const tct_matrix *x, const double *y, int parties) {
  tct_error err = {0};
  tct_config config;
  char solver[64];
  tct_config_default(&config);
  config.intercept = 0;
  snprintf(solver, sizeof solver, "dpfw_parties:parties=%d", parties);
  config.loss = "logistic", config.penalty = "l1ball:radius=6", config.solver = solver;
  config.epsilon = 1, config.delta = 1e-6, config.row_norm = sqrt(COLS), config.threads = 1;
  config.has_seed = 1, config.seed = 3;
  tct_plan *plan = tct_plan_new(&config, ROWS, COLS, &err);
  tct_data *data = tct_data_view(x, y, TCT_LABELS_BINARY, NULL, NULL, &err);
  tct_bound bound;
  tct_mech *mech = NULL;
  tct_parties set = {0};
  tct_parties_report report;
  double w[COLS];
  if (!plan || !data || tct_bound_make(plan, data, &bound, &err) != TCT_OK) bench_fail(&err);
  tct_problem problem = {.facts = &plan->facts, .view = &bound.view, .y = bound.y};
  if (tct_parties_settings(&plan->facts, &plan->solved, &set, &err) != TCT_OK ||
      tct_mech_new(&plan->solved.promise, TCT_ADD_REMOVE, &config.seed, &mech, &err) != TCT_OK)
    bench_fail(&err);
  double start = bench_now();
  if (tct_parties_simulate(&problem, &plan->solved, mech, w, &report, &err) != TCT_OK) bench_fail(&err);
  double seconds = (bench_now() - start) / (double)set.steps;
  int64_t frame = TCT_FRAME_HEADER;
  int64_t model = parties * set.steps * (frame + 8) + report.columns * (frame + 8 * set.size);
  printf(
      "{\"bench\":\"parties_cost\",\"parties\":%d,\"rows\":%d,\"columns\":%d,\"rounds\":%lld,\"sketch\":%lld,"
      "\"columns_sent\":%lld,\"uplink_bytes\":%lld,\"uplink_model\":%lld,\"round_seconds\":%.3g}\n",
      parties, ROWS, COLS, (long long)set.steps, (long long)set.size, (long long)report.columns,
      (long long)report.uplink, (long long)model, seconds);
  fflush(stdout);
  tct_mech_free(mech);
  tct_bound_free(&bound);
  tct_data_free(data);
  tct_plan_free(plan);
}

int main(void) {
  double *x = TCT_NEW(double, (int64_t)ROWS *COLS), *y = TCT_NEW(double, ROWS);
  if (!x || !y) return 1;
  fill(x, y);
  tct_matrix m = {.rows = ROWS, .cols = COLS, .layout = TCT_DENSE_COLS, .values = x, .stride = ROWS};
  for (int parties = 2; parties <= 8; parties *= 2) measure(&m, y, parties);
  tct_free(x);
  tct_free(y);
  return 0;
}
