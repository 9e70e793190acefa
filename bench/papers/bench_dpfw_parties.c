/* bench_dpfw_parties.c - what it costs not to pool: private Frank-Wolfe over columns of several parties.
 *
 * tall: n records, 400 columns clip(N(0, 1/4), -1, 1), 12 weights of +-0.08, 3 in each quarter, noise 0.1, labels
 * clipped to 1. coupled: the same with a common factor of correlation RHO in all columns.  Both: squared loss on the l1
 * ball of the true weights' norm, split equally; delta 1e-6, add_remove.  left: share of the objective gap from 0 to
 * the true weights that is left, mean of the seeds (each with its own data where n is small).  Beside it: central dpfw
 * at the same budget, the protocol without noise, one-shot sketching of all features (each party sends X_k P_k + noise,
 * n x r; least squares on the sum).  real: logistic loss, excess objective over 1000 rounds without noise.  Usage:
 * bench_dpfw_parties [tall|coupled|real|curve|oneshot [SEEDS [N [EPSILON [PARTIES [SPEC-OPTIONS [RHO]]]]]]] */
#include "bench.h"
#include "random.h"

#include "core/alloc.h"
#include "train/bound.h"
#include "la/kernels/kernels.h"
#include "parties/dpfw_parties.h"

enum { COLS = 400, ACTIVE = 12 };

static uint64_t state;
static uint64_t next(void) { return bench_word(&state); }
static double uniform(void) { return bench_unit(&state); }
static double normal(void) { /* Box and Muller; every second one is kept */
  static double kept;
  static int have;
  if (have) return have = 0, kept;
  double r = sqrt(-2 * log(uniform())), a = 6.283185307179586 * uniform();
  have = 1;
  kept = r * sin(a);
  return r * cos(a);
}

typedef struct tall {
  int64_t n;
  float *x; /* [COLS][n] */
  double *y, *z;
  double w[COLS];
  double eta, start, best;
  tct_data *data;
} tall;

static double loss_at(const tall *t, const double *w) {
  double sum = 0;
  memset(t->z, 0, (size_t)t->n * sizeof *t->z);
  for (int j = 0; j < COLS; j++)
    for (int64_t i = 0; i < t->n && w[j] != 0; i++) t->z[i] += w[j] * (double)t->x[j * t->n + i];
  for (int64_t i = 0; i < t->n; i++) sum += 0.5 * (t->z[i] - t->y[i]) * (t->z[i] - t->y[i]);
  return sum / (double)t->n;
}

static double clip1(double v) { return fmin(1, fmax(-1, v)); }

static void tall_columns(tall *t, double rho) {
  double *common = tct_alloc(t->n, sizeof *common);
  for (int64_t i = 0; i < t->n && rho > 0; i++) common[i] = normal();
  for (int64_t k = 0; k < COLS * t->n; k++)
    t->x[k] = (float)clip1(0.5 * (sqrt(1 - rho) * normal() + sqrt(rho) * (rho > 0 ? common[k % t->n] : 0)));
  tct_free(common);
}

static tall *tall_new(int64_t n, uint64_t seed, double rho) {
  tall *t = TCT_NEW(tall, 1);
  *t = (tall){.n = n, .x = TCT_NEW(float, COLS *n), .y = TCT_NEW(double, n), .z = TCT_NEW(double, n)};
  state = seed * 1000003;
  if (!t->x || !t->y || !t->z) exit(1);
  for (int q = 0; q < 4; q++)
    for (int a = 0; a < ACTIVE / 4;) {
      int j = COLS / 4 * q + (int)(next() % (COLS / 4));
      if (t->w[j] != 0) continue;
      t->w[j] = next() & 1 ? 0.08 : -0.08;
      t->eta += 0.08, a++;
    }
  tall_columns(t, rho);
  for (int j = 0; j < COLS; j++)
    for (int64_t i = 0; i < n && t->w[j] != 0; i++) t->y[i] += t->w[j] * (double)t->x[j * n + i];
  for (int64_t i = 0; i < n; i++) t->y[i] = clip1(t->y[i] + 0.1 * normal());
  double zero[COLS] = {0};
  t->start = loss_at(t, zero);
  t->best = loss_at(t, t->w);
  tct_matrix m = {
      .rows = n, .cols = COLS, .layout = TCT_DENSE_COLS, .value_type = TCT_F32, .values = t->x, .stride = n};
  tct_error err = {0};
  t->data = tct_data_view(&m, t->y, TCT_LABELS_REAL, NULL, NULL, &err);
  if (!t->data) bench_fail(&err);
  return t;
}
static void tall_free(tall *t) {
  tct_data_free(t->data);
  tct_free(t->x);
  tct_free(t->y);
  tct_free(t->z);
  tct_free(t);
}

/* One run of the protocol; fills w and what it says about itself. */
static double simulate(const tct_config *config, const tct_data *data, double *w, tct_parties_report *report,
                       char *spec, size_t size) {
  tct_error err = {0};
  tct_plan *plan = tct_plan_new(config, tct_data_rows(data), tct_data_cols(data), &err);
  if (!plan) bench_fail(&err);
  tct_bound bound = {0};
  tct_mech *mech = NULL;
  if (tct_bound_make(plan, data, &bound, &err) != TCT_OK) bench_fail(&err);
  tct_problem problem = {.facts = &plan->facts, .view = &bound.view, .y = bound.y};
  if (tct_mech_new(&plan->solved.promise, plan->facts.neighbours, &config->seed, &mech, &err) != TCT_OK)
    bench_fail(&err);
  double start = bench_now();
  if (tct_parties_simulate(&problem, &plan->solved, mech, w, report, &err) != TCT_OK) bench_fail(&err);
  double seconds = bench_now() - start;
  tct_spec_print(&plan->solved.spec, spec, size);
  tct_mech_free(mech);
  tct_bound_free(&bound);
  tct_plan_free(plan);
  return seconds;
}

static tct_config settings(const char *solver, const char *penalty, double epsilon, uint64_t seed) {
  tct_config c;
  tct_config_default(&c);
  c.intercept = 0;
  c.loss = "squared";
  c.penalty = penalty;
  c.solver = solver;
  c.row_norm = 20.1;
  c.label_bound = 1;
  c.threads = 1;
  c.epsilon = epsilon;
  c.delta = 1e-6;
  c.has_seed = 1;
  c.seed = seed;
  return c;
}

typedef struct ask {
  const char *name;
  int seeds, parties;
  int64_t n;
  double epsilon, rho;
  const char *options;
} ask;

static double central(const tall *t, const ask *a, uint64_t seed) {
  char penalty[80];
  tct_error err = {0};
  snprintf(penalty, sizeof penalty, "l1ball:radius=%.17g", t->eta);
  tct_config c = settings("dpfw:feature_bound=1,clip=1,steps=40", penalty, a->epsilon, seed);
  tct_plan *plan = tct_plan_new(&c, t->n, COLS, &err);
  tct_model *model = plan ? tct_fit(plan, t->data, &err) : NULL;
  if (!model) bench_fail(&err);
  double left = (loss_at(t, tct_model_coefficients(model)) - t->best) / (t->start - t->best);
  tct_model_free(model);
  tct_plan_free(plan);
  return left;
}

/* All columns as they are, each number with noise for the whole record.  Its norm is at most 10.5 nearly always.
 * Longer ones are taken as they are, in favour of this baseline. */
static double one_shot(const tall *t, double epsilon) {
  double noise = 0, w[COLS], low = 0, high = 0;
  tct_target whole = {TCT_ADD_REMOVE, epsilon, 1e-6};
  if (tct_calibrate_noise(1, 1, &whole, &noise, NULL, NULL) != TCT_OK) exit(1);
  for (int j = 0; j < COLS; j++) {
    double sum = 0, norm2 = 0;
    for (int64_t i = 0; i < t->n; i++) {
      double x = (double)t->x[j * t->n + i];
      sum += x * t->y[i];
      norm2 += x * x;
    }
    for (int64_t i = 0; i < t->n; i++) sum += noise * 10.5 * normal() * t->y[i];
    w[j] = sum / norm2;
    high = fmax(high, fabs(w[j]));
  }
  for (int k = 0; k < 60; k++) { /* the threshold that brings it into the ball */
    double size = 0, middle = (low + high) / 2;
    for (int j = 0; j < COLS; j++) size += fmax(0, fabs(w[j]) - middle);
    if (size > t->eta)
      low = middle;
    else
      high = middle;
  }
  for (int j = 0; j < COLS; j++) w[j] = copysign(fmax(0, fabs(w[j]) - high), w[j]);
  return (loss_at(t, w) - t->best) / (t->start - t->best);
}

static void tall_bench(const ask *a) {
  double left = 0, worst = 0, pooled = 0, plain = 0, shot = 0, uplink = 0, columns = 0, trust = 0, seconds = 0;
  char spec[900] = "", other[900], solver[400], penalty[80];
  tall *t = NULL;
  double w[COLS];
  tct_parties_report report;
  for (int k = 1; k <= a->seeds; k++) {
    if (!t || a->n <= 500000) {
      if (t) tall_free(t);
      t = tall_new(a->n, (uint64_t)k, a->rho);
      snprintf(penalty, sizeof penalty, "l1ball:radius=%.17g", t->eta);
    }
    snprintf(solver, sizeof solver, "dpfw_parties:parties=%d,feature_bound=1%s%s", a->parties, *a->options ? "," : "",
             a->options);
    tct_config c = settings(solver, penalty, a->epsilon, (uint64_t)k);
    seconds += simulate(&c, t->data, w, &report, spec, sizeof spec);
    double one = (loss_at(t, w) - t->best) / (t->start - t->best);
    left += one;
    worst = fmax(worst, one);
    uplink += (double)report.uplink, columns += (double)report.columns, trust += report.trust;
    if (getenv("TACIT_BENCH_ALONE")) continue;
    pooled += central(t, a, (uint64_t)k);
    if (a->n > 500000 || k > 1) continue;
    snprintf(solver, sizeof solver, "dpfw_parties:parties=%d,feature_bound=1,steps=30,columns=30", a->parties);
    c = settings(solver, penalty, INFINITY, (uint64_t)k);
    simulate(&c, t->data, w, &report, other, sizeof other);
    plain = (loss_at(t, w) - t->best) / (t->start - t->best);
    shot = one_shot(t, a->epsilon);
  }
  double s = a->seeds;
  printf(
      "{\"bench\": \"parties_%s\", \"n\": %lld, \"parties\": %d, \"epsilon\": %g, \"rho\": %g, \"left\": %.4f, "
      "\"worst\": %.4f, \"central\": %.4f, \"without_noise\": %.4f, \"one_shot\": %.4f, \"seeds\": %d, \"columns\": "
      "%.1f, \"trust\": %.3f, "
      "\"uplink_bytes\": %.0f, \"one_shot_bytes\": %.0f, \"seconds\": %.2f, \"solver\": \"%s\"}\n",
      a->name, (long long)a->n, a->parties, a->epsilon, a->rho, left / s, worst, pooled / s, plain, shot, a->seeds,
      columns / s, trust / s, uplink / s, (double)a->n * COLS * 8, seconds / s, spec);
  fflush(stdout);
  if (t) tall_free(t);
}

typedef struct wide {
  const char *name;
  int64_t cols;
} wide;

static double wide_objective(const tct_data *data, const char *solver, double epsilon, uint64_t seed, char *spec,
                             size_t size) {
  tct_error err = {0};
  double n = (double)tct_data_rows(data);
  tct_config c = settings(solver, "l1ball:radius=20", epsilon, seed);
  c.loss = "logistic";
  c.row_norm = 1;
  c.rows_rule = TCT_ROWS_UNIT;
  c.delta = 1 / (n * n);
  tct_plan *plan = tct_plan_new(&c, tct_data_rows(data), tct_data_cols(data), &err);
  tct_model *model = plan ? tct_fit(plan, data, &err) : NULL;
  if (!model) bench_fail(&err);
  tct_spec_print(&plan->solved.spec, spec, size);
  tct_plan_free(plan);
  double value = bench_objective(model, data);
  tct_model_free(model);
  return value;
}

static void real_bench(const ask *a) {
  static const wide sets[] = {{"rcv1_small_train.libsvm.xz", 47236}, {"arcene_train.libsvm.xz", 10000}};
  static const char *const solvers[] = {
      "dpfw_parties:parties=%d,feature_bound=0.3", "dpfw_parties:parties=%d,feature_bound=0.3,columns=0",
      "dpfw_parties:parties=%d,feature_bound=0.3,trust=1", "dpfw_parties:parties=%d,feature_bound=0.3,radius=winner",
      "dpfw:feature_bound=0.3"};
  static const double epsilons[] = {1, 10};
  for (int k = 0; k < 2; k++) {
    char solver[200], spec[900];
    tct_data *data = bench_read(sets[k].name, TCT_LABELS_BINARY, NULL, NULL, sets[k].cols);
    if (!data) continue;
    double best = wide_objective(data, "dpfw:steps=2000", INFINITY, 1, spec, sizeof spec);
    for (int e = 0; e < 2; e++)
      for (size_t v = 0; v < sizeof solvers / sizeof *solvers; v++) {
        double sum = 0;
        snprintf(solver, sizeof solver, solvers[v], a->parties);
        for (int seed = 1; seed <= a->seeds; seed++)
          sum += wide_objective(data, solver, epsilons[e], (uint64_t)seed, spec, sizeof spec);
        printf(
            "{\"bench\": \"parties_real\", \"data\": \"%s\", \"epsilon\": %g, \"excess\": %.4f, \"zero\": %.4f, "
            "\"seeds\": %d, \"solver\": \"%s\"}\n",
            sets[k].name, epsilons[e], sum / a->seeds - best, log(2) - best, a->seeds, spec);
        fflush(stdout);
      }
    tct_data_free(data);
  }
}

static void curve_bench(ask a) {
  for (int coupled = 0; coupled < 2; coupled++)
    for (a.n = 20000; a.n <= 320000; a.n *= 2) {
      a.rho = coupled ? 0.3 : 0;
      tall_bench(&a);
    }
}

int main(int argc, char **argv) {
  ask a = {.name = argc > 1 ? argv[1] : "tall", .seeds = argc > 2 ? atoi(argv[2]) : 5};
  a.n = argc > 3 ? atoll(argv[3]) : 200000;
  a.epsilon = argc > 4 ? atof(argv[4]) : 1;
  a.parties = argc > 5 ? atoi(argv[5]) : 4;
  a.options = argc > 6 ? argv[6] : "";
  a.rho = argc > 7 ? atof(argv[7]) : 0;
  if (!strcmp(a.name, "real"))
    real_bench(&a);
  else if (!strcmp(a.name, "curve"))
    curve_bench(a);
  else
    tall_bench(&a);
  return 0;
}
