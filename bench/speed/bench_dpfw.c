/* bench_dpfw.c - excess objective of private Frank-Wolfe on wide data, and what a step costs, fast against plain.
 *
 * Protocol: logistic loss over |w|_1 <= radius, rows scaled to norm 1 (arcene: as read, then scaled), add_remove, delta
 * = 1/n^2.  Excess = objective less that of 1000 steps without noise; mean over seeds.  The second row of each set
 * knows a public bound on |x_ij| of 0.1.  Seconds are processor seconds.
 *
 * Usage: bench_dpfw [SEEDS (3); 0: only the cost of a step] [SPEC...]    SPEC: more solvers, e.g. dpfw:refresh=1 */
#include "bench.h"
#include "read/table/data.h"

typedef struct set {
  const char *name;
  double above; /* labels above it are +1 */
  int64_t cols;
  const char *penalty;
} set;

static const set sets[] = {
    {"arcene_train.libsvm.xz", 0, 10000, "l1ball:radius=20"},
    {"dorothea_valid.libsvm.xz", 0, 100000, "l1ball:radius=20"},
    {"rcv1_small_train.libsvm.xz", 0, 47236, "l1ball:radius=20"},
    {"news20_multiclass.libsvm.xz", 10, 62061, "l1ball:radius=50"},
};
enum { SETS = sizeof sets / sizeof *sets };

static tct_config settings(const set *s, const char *solver, double epsilon, double n, uint64_t seed) {
  tct_config c;
  tct_config_default(&c);
  c.intercept = 0;
  c.loss = "logistic";
  c.penalty = s->penalty;
  c.solver = solver;
  c.row_norm = 1;
  c.rows_rule = TCT_ROWS_UNIT;
  c.threads = 1;
  c.epsilon = epsilon;
  c.delta = 1 / (n * n);
  c.has_seed = 1;
  c.seed = seed;
  return c;
}

/* Processor seconds: other programs of the machine do not count. */
static double cpu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double objective(const set *s, const tct_data *data, const char *solver, double epsilon, uint64_t seed,
                        double *seconds, char *spec, size_t size) {
  tct_error err = {0};
  tct_config c = settings(s, solver, epsilon, (double)tct_data_rows(data), seed);
  tct_plan *plan = tct_plan_new(&c, tct_data_rows(data), tct_data_cols(data), &err);
  if (!plan) bench_fail(&err);
  char *json = tct_plan_json(plan, &err), *from = json ? strstr(json, "\"dpfw") : NULL;
  snprintf(spec, size, "%.*s", from ? (int)strcspn(from + 1, "\"") : 0, from ? from + 1 : "");
  tct_text_free(json);
  double start = cpu_now();
  tct_model *model = tct_fit(plan, data, &err);
  if (!model) bench_fail(&err);
  *seconds = cpu_now() - start;
  tct_plan_free(plan);
  double value = bench_objective(model, data);
  tct_model_free(model);
  return value;
}

static void utility(const set *s, const tct_data *data, const char *solver, int seeds, double best) {
  static const double epsilons[] = {0.1, 1, 10};
  char spec[400];
  for (int e = 0; e < 3; e++) {
    double sum = 0, seconds = 0;
    for (int k = 1; k <= seeds; k++)
      sum += objective(s, data, solver, epsilons[e], (uint64_t)k, &seconds, spec, sizeof spec);
    printf(
        "{\"bench\": \"dpfw\", \"data\": \"%s\", \"epsilon\": %g, \"solver\": \"%s\", \"excess\": %.5f, "
        "\"zero\": %.5f, \"seeds\": %d, \"seconds\": %.3f}\n",
        s->name, epsilons[e], spec, sum / seeds - best, log(2) - best, seeds, seconds);
    fflush(stdout);
  }
}

/* Seconds a step: the difference of a long run and a short one. */
static double step_cost(const set *s, const tct_data *data, const char *form, double epsilon, int from, int to) {
  char solver[100], spec[400];
  double min[2] = {INFINITY, INFINITY};
  for (int k = 0; k < 3; k++)
    for (int which = 0; which < 2; which++) {
      double seconds;
      snprintf(solver, sizeof solver, "dpfw:%s,steps=%d", form, which ? to : from);
      objective(s, data, solver, epsilon, 1, &seconds, spec, sizeof spec);
      if (seconds < min[which]) min[which] = seconds;
    }
  return (min[1] - min[0]) / (to - from);
}

static void speed(const set *s, const tct_data *data) {
  static const double epsilons[] = {0.1, 1, 10};
  for (int e = 0; e < 3; e++) {
    double fast = step_cost(s, data, "form=fast", epsilons[e], 1100, 4000); /* one full pass lies between */
    double plain = step_cost(s, data, "form=plain", epsilons[e], 5, 35);
    double fresh = step_cost(s, data, "refresh=1,form=plain", epsilons[e], 5, 35);
    printf(
        "{\"bench\": \"dpfw_step\", \"data\": \"%s\", \"epsilon\": %g, \"fast_us\": %.2f, \"plain_us\": %.1f, "
        "\"all_slopes_us\": %.1f, \"ratio\": %.1f}\n",
        s->name, epsilons[e], 1e6 * fast, 1e6 * plain, 1e6 * fresh, plain / fast);
    fflush(stdout);
  }
}

int main(int argc, char **argv) {
  int seeds = argc > 1 ? atoi(argv[1]) : 3, any = 0;
  for (int k = 0; k < SETS; k++) {
    const set *s = &sets[k];
    char spec[400];
    double seconds;
    tct_data *read = bench_read(s->name, TCT_LABELS_REAL, NULL, NULL, s->cols);
    if (!read) continue;
    for (int64_t i = 0; i < tct_data_rows(read); i++) read->own_y[i] = read->own_y[i] > s->above ? 1 : -1;
    tct_data *data = tct_data_view(&read->x, read->own_y, TCT_LABELS_BINARY, NULL, NULL, NULL);
    any = 1;
    double best = NAN;
    if (seeds > 0) best = objective(s, data, "dpfw:steps=1000", INFINITY, 1, &seconds, spec, sizeof spec);
    if (seeds > 0) utility(s, data, "dpfw", seeds, best);
    if (seeds > 0) utility(s, data, "dpfw:feature_bound=0.1", seeds, best);
    for (int a = 2; a < argc && seeds > 0; a++) utility(s, data, argv[a], seeds, best);
    if (s->above > 0) speed(s, data);
    tct_data_free(data);
    tct_data_free(read);
  }
  return any ? 0 : 77;
}
