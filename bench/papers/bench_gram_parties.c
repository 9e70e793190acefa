/* bench_gram_parties.c - least squares over columns in several hands by secure sums: what is left of the gap, and its
 * cost.
 *
 * coupled, apart, chain: n records, 400 columns in four hands, clipped to [-1, 1].  They have a common factor
 * (correlation .3), are independent, or neighbours are alike (.7^distance, across the parties' borders too, uneven
 * scales). 12 true weights of +-.08, three in each quarter, noise .1, squared loss on the l1 ball of the true weights'
 * norm; delta 1e-6, add_remove, row norm 9. left: share of the objective gap from 0 to the true weights that is left,
 * mean and standard error of the seeds.  The protocol runs once for the sums, which are exact; noise of each variant's
 * deviation is added to them.  Beside it: one curator with the same rule, and dpfw_parties.
 *
 * real: a9a, phishing (labels -1, 1) and california in three hands, penalty none; left of the gap between 0 and the
 * minimiser, beside adassp of one curator.
 *
 * cost: bytes and processor time of a party and of the server.
 *
 * Usage: bench_gram_parties coupled|apart|chain|real [SEEDS [N [SPEC-OPTIONS]]] | cost [N [P [K]]] */
#include "bench.h"
#include "random.h"

#include "core/alloc.h"
#include "la/kernels/kernels.h"
#include "mech/joint.h"
#include "parties/gram_parties.h"
#include "train/bound.h"

enum { COLS = 400, PARTIES = 4, ACTIVE = 3 };

static uint64_t state;
static uint64_t next(void) { return bench_word(&state); }
static double uniform(void) { return bench_unit(&state); }
static double normal(void) { /* Box and Muller */
  return sqrt(-2 * log(uniform())) * sin(6.283185307179586 * uniform());
}
static double clip1(double v) { return fmin(1, fmax(-1, v)); }

typedef struct table {
  int64_t n;
  double *x, *y, *z; /* x[n][COLS] */
  double w[COLS], eta, start, best;
  tct_data *data;
} table;

static double loss_at(const table *t, const double *w) {
  double sum = 0;
  for (int64_t i = 0; i < t->n; i++) {
    double r = tct_dot(t->x + i * COLS, w, COLS) - t->y[i];
    sum += 0.5 * r * r;
  }
  return sum / (double)t->n;
}

static void fill_row(double *x, const char *shape) {
  double common = normal(), last = 0;
  for (int j = 0; j < COLS; j++) {
    double v = normal();
    if (!strcmp(shape, "coupled")) v = sqrt(0.7) * v + sqrt(0.3) * common;
    if (!strcmp(shape, "chain")) {
      last = j ? 0.7 * last + sqrt(0.51) * v : v;
      v = last * (j % 2 ? 1.3 : 0.6);
    }
    x[j] = clip1(0.5 * v);
  }
}

static table *table_new(int64_t n, uint64_t seed, const char *shape) {
  table *t = TCT_NEW(table, 1);
  *t = (table){.n = n, .x = TCT_NEW(double, COLS *n), .y = TCT_NEW(double, n)};
  state = seed * 1000003;
  if (!t->x || !t->y) exit(1);
  for (int q = 0; q < PARTIES; q++)
    for (int a = 0; a < ACTIVE;) {
      int j = COLS / PARTIES * q + (int)(next() % (COLS / PARTIES));
      if (t->w[j] != 0) continue;
      t->w[j] = next() & 1 ? 0.08 : -0.08;
      t->eta += 0.08, a++;
    }
  for (int64_t i = 0; i < n; i++) {
    fill_row(t->x + i * COLS, shape);
    t->y[i] = clip1(tct_dot(t->x + i * COLS, t->w, COLS) + 0.1 * normal());
  }
  double zero[COLS] = {0};
  t->start = loss_at(t, zero), t->best = loss_at(t, t->w);
  tct_matrix m = {.rows = n, .cols = COLS, .layout = TCT_DENSE_ROWS, .values = t->x, .stride = COLS};
  tct_error err = {0};
  t->data = tct_data_view(&m, t->y, TCT_LABELS_REAL, NULL, NULL, &err);
  if (!t->data) bench_fail(&err);
  return t;
}
static void table_free(table *t) {
  tct_data_free(t->data);
  tct_free(t->x);
  tct_free(t->y);
  tct_free(t);
}

static tct_config settings(const char *solver, const char *penalty, double epsilon, double bound, uint64_t seed) {
  tct_config c;
  tct_config_default(&c);
  c.intercept = 0;
  c.loss = "squared", c.penalty = penalty, c.solver = solver;
  c.row_norm = 9, c.label_bound = bound;
  c.threads = 1;
  c.epsilon = epsilon;
  if (isfinite(epsilon)) c.delta = 1e-6;
  c.has_seed = 1, c.seed = seed;
  return c;
}

static double fitted(const table *t, tct_config c) {
  tct_error err = {0};
  tct_plan *plan = tct_plan_new(&c, t->n, COLS, &err);
  tct_model *model = plan ? tct_fit(plan, t->data, &err) : NULL;
  if (!model) bench_fail(&err);
  double left = (loss_at(t, tct_model_coefficients(model)) - t->best) / (t->start - t->best);
  tct_model_free(model);
  tct_plan_free(plan);
  return left;
}

/* The sums that the parties open, less their noise: what a probe sees of one run. */
typedef struct sums {
  double *gram, *moment; /* [p][p], [p] */
  int seen;
} sums;

static void keep(void *user, const tct_event *event, double sensitivity, const double *before, double *after,
                 int64_t len) {
  sums *s = user;
  (void)event, (void)sensitivity, (void)after;
  if (s->seen++) {
    memcpy(s->moment, before, (size_t)len * sizeof *before);
    return;
  }
  for (int64_t i = 0; i < COLS; i++)
    for (int64_t j = i; j < COLS; j++) {
      double v = *before++;
      s->gram[i * COLS + j] = s->gram[j * COLS + i] = i == j ? v : v * M_SQRT1_2;
    }
}

static void run_once(const table *t, tct_config c, sums *out) {
  tct_error err = {0};
  tct_bound bound = {0};
  tct_mech *mech = NULL;
  tct_gram_stage *stage = NULL;
  tct_statistics s = {0};
  tct_plan *plan = tct_plan_new(&c, t->n, COLS, &err);
  if (!plan || tct_bound_make(plan, t->data, &bound, &err) != TCT_OK) bench_fail(&err);
  tct_problem problem = {.facts = &plan->facts, .view = &bound.view, .y = bound.y};
  out->seen = 0;
  if (tct_mech_new(&plan->solved.promise, TCT_ADD_REMOVE, &c.seed, &mech, &err) != TCT_OK) bench_fail(&err);
  tct_mech_probe_test(mech, keep, out);
  if (tct_gram_stage_new(&problem, &plan->solved, mech, NULL, &stage, &err) != TCT_OK ||
      tct_gram_stage_play(stage, &problem, &s, &err) != TCT_OK)
    bench_fail(&err);
  tct_statistics_free(&s);
  tct_gram_stage_free(stage);
  tct_mech_free(mech);
  tct_bound_free(&bound);
  tct_plan_free(plan);
}

/* left with Gaussian noise of `more` times the event's deviation on these sums. */
static double with_noise(const table *t, tct_config c, const sums *exact, double more) {
  tct_error err = {0};
  tct_statistics s;
  double w[COLS];
  tct_gram set;
  tct_plan *plan = tct_plan_new(&c, t->n, COLS, &err);
  if (!plan || tct_gram_settings(&plan->facts, &plan->solved, &set, &err) != TCT_OK ||
      tct_statistics_new(COLS, (double)t->n, &s, &err) != TCT_OK)
    bench_fail(&err);
  s.gram_noise = more * plan->solved.promise.release[TCT_GRAM_MATRIX].deviation;
  double moment_noise = more * plan->solved.promise.release[TCT_GRAM_MOMENT].deviation;
  for (int i = 0; i < COLS; i++) {
    for (int j = 0; j <= i; j++)
      s.gram[i * COLS + j] = s.gram[j * COLS + i] =
          exact->gram[i * COLS + j] + s.gram_noise * (i == j ? 1 : M_SQRT1_2) * normal();
    s.moment[i] = exact->moment[i] + moment_noise * normal();
  }
  if (tct_statistics_fit(&s, &plan->facts.penalty, set.cleaning, w, &err) != TCT_OK) bench_fail(&err);
  tct_statistics_free(&s);
  tct_plan_free(plan);
  return (loss_at(t, w) - t->best) / (t->start - t->best);
}

/* more: deviation of what is opened over that of the event; 0: the solver itself. */
static const struct {
  const char *name;
  double more;
} asked[] = {{"one curator, the same rule", 1},
             {"gram_parties:parties=4", 1.1547005383792515},
             {"gram_parties:parties=4,collude=2 or server_noise=yes", 1.4142135623730951},
             {"gram_parties:parties=4,collude=3", 2},
             {"dpfw_parties:parties=4,feature_bound=1", 0}};
enum { ASKED = sizeof asked / sizeof *asked, SEEDS = 64 };
static const double epsilons[] = {0.5, 1, 4}, bounds[] = {1, 0.5};

static void one_seed(const char *shape, uint64_t seed, int64_t n, const char *options, double (*left)[2][ASKED]) {
  char penalty[80], solver[200];
  table *t = table_new(n, seed + 1, shape);
  sums exact = {.gram = TCT_NEW(double, COLS *COLS), .moment = TCT_NEW(double, COLS)};
  if (!exact.gram || !exact.moment) exit(1);
  snprintf(penalty, sizeof penalty, "l1ball:radius=%.17g", t->eta);
  snprintf(solver, sizeof solver, "gram_parties:parties=4%s%s", *options ? "," : "", options);
  for (int b = 0; b < 2; b++) {
    run_once(t, settings(solver, penalty, 1, bounds[b], 100 + seed), &exact);
    for (int e = 0; e < 3; e++)
      for (int a = 0; a < ASKED; a++) {
        tct_config c =
            settings(asked[a].more > 0 ? solver : asked[a].name, penalty, epsilons[e], bounds[b], 100 + seed);
        left[e][b][a] = asked[a].more > 0 ? with_noise(t, c, &exact, asked[a].more) : fitted(t, c);
      }
  }
  tct_free(exact.gram);
  tct_free(exact.moment);
  table_free(t);
}

static void shape_bench(const char *shape, int seeds, int64_t n, const char *options) {
  static double left[SEEDS][3][2][ASKED];
  if (seeds > SEEDS) seeds = SEEDS;
  for (int s = 0; s < seeds; s++) one_seed(shape, (uint64_t)s, n, options, left[s]);
  for (int e = 0; e < 3; e++)
    for (int b = 0; b < 2; b++)
      for (int a = 0; a < ASKED; a++) {
        double mean = 0, square = 0;
        for (int s = 0; s < seeds; s++) mean += left[s][e][b][a] / seeds;
        for (int s = 0; s < seeds; s++) square += pow(left[s][e][b][a] - mean, 2);
        printf(
            "{\"bench\": \"gram_%s\", \"n\": %lld, \"epsilon\": %g, \"label_bound\": %g, \"left\": %.4f, "
            "\"error\": %.4f, \"seeds\": %d, \"solver\": \"%s\", \"options\": \"%s\"}\n",
            shape, (long long)n, epsilons[e], bounds[b], mean, sqrt(square / seeds / fmax(1, seeds - 1)), seeds,
            asked[a].name, options);
      }
}

typedef struct real {
  const char *file, *scale, *norms;
  int64_t cols;
  double norm, bound;
} real;

static double real_loss(const tct_data *data, tct_config c) {
  tct_error err = {0};
  tct_plan *plan = tct_plan_new(&c, tct_data_rows(data), tct_data_cols(data), &err);
  tct_model *model = plan ? tct_fit(plan, data, &err) : NULL;
  if (!model) bench_fail(&err);
  double value = bench_objective(model, data);
  tct_model_free(model);
  tct_plan_free(plan);
  return value;
}

static void real_bench(int seeds, const char *options) {
  static const real sets[] = {{"a9a.libsvm.xz", "none", "norms=7+8+2", 123, 4.2, 1},
                              {"phishing.libsvm.xz", "none", "norms=equal", 68, 5.5, 1},
                              {"california.csv.xz", "max-abs", "norms=equal", 0, 2, 5}};
  for (int s = 0; s < 3; s++) {
    tct_data *data = bench_read(sets[s].file, TCT_LABELS_REAL, sets[s].cols ? NULL : "MedHouseVal", NULL, sets[s].cols);
    if (!data) continue;
    char solver[200];
    snprintf(solver, sizeof solver, "gram_parties:parties=3,%s%s%s", sets[s].norms, *options ? "," : "", options);
    tct_config c = settings("lbfgs", "none", NAN, sets[s].bound, 1);
    c.row_norm = NAN, c.has_seed = 0, c.scale = sets[s].scale;
    double best = real_loss(data, c);
    c = settings("adassp", "l2:lambda=1e9", INFINITY, sets[s].bound, 1);
    c.row_norm = 1e9, c.scale = sets[s].scale;
    double start = real_loss(data, c);
    for (int e = 0; e < 3; e++)
      for (int a = 0; a < 2; a++) {
        double sum = 0;
        for (int k = 0; k < seeds; k++) {
          c = settings(a ? "adassp:norm=1" : solver, "none", epsilons[e], sets[s].bound, (uint64_t)k + 1);
          c.row_norm = sets[s].norm, c.scale = sets[s].scale;
          sum += (real_loss(data, c) - best) / (start - best) / seeds;
        }
        printf(
            "{\"bench\": \"gram_real\", \"data\": \"%s\", \"epsilon\": %g, \"left\": %.4f, \"seeds\": %d, \"solver\": "
            "\"%s\"}\n",
            sets[s].file, epsilons[e], sum, seeds, a ? "adassp:norm=1 (one curator)" : solver);
        fflush(stdout);
      }
    tct_data_free(data);
  }
}

static void cost_bench(int64_t n, int64_t p, int parties) {
  char solver[60];
  tct_error err = {0};
  snprintf(solver, sizeof solver, "gram_parties:parties=%d", parties);
  tct_config c = settings(solver, "none", 1, 1, 1);
  double *x = TCT_NEW(double, n *p), *y = TCT_NEW(double, n);
  if (!x || !y) exit(1);
  for (int64_t i = 0; i < n * p; i++) x[i] = clip1(0.5 * normal());
  tct_matrix m = {.rows = n, .cols = p, .layout = TCT_DENSE_ROWS, .values = x, .stride = p};
  tct_data *data = tct_data_view(&m, y, TCT_LABELS_REAL, NULL, NULL, &err);
  tct_plan *plan = data ? tct_plan_new(&c, n, p, &err) : NULL;
  tct_bound bound = {0};
  tct_mech *mech = NULL;
  tct_gram_stage *s = NULL;
  if (!plan || tct_bound_make(plan, data, &bound, &err) != TCT_OK) bench_fail(&err);
  tct_problem problem = {.facts = &plan->facts, .view = &bound.view, .y = bound.y};
  if (tct_mech_new(&plan->solved.promise, TCT_ADD_REMOVE, &c.seed, &mech, &err) != TCT_OK ||
      tct_gram_stage_new(&problem, &plan->solved, mech, NULL, &s, &err) != TCT_OK)
    bench_fail(&err);
  double party = 0, server = 0, start;
  tct_status status = TCT_OK;
  for (int k = 0; k < parties; k++) status |= tct_gram_party_greet(&s->party[k], &err);
  for (int k = 0; k < parties; k++) status |= tct_gram_party_meet(&s->party[k], &err);
  while (status == TCT_OK && tct_gram_party_more(&s->party[0])) {
    start = bench_cpu();
    for (int k = 0; k < parties; k++) {
      status |= tct_gram_party_hide(&s->party[k], &err);
      for (int j = 0; j < parties; j++)
        if (j != k) status |= tct_gram_party_tell(&s->party[k], j, &err);
    }
    for (int k = 0; k < parties; k++) {
      for (int j = 0; j < parties; j++)
        if (j != k) status |= tct_gram_party_take(&s->party[k], j, &err);
      tct_gram_party_next(&s->party[k]);
    }
    party += bench_cpu() - start;
  }
  start = bench_cpu();
  status |= tct_gram_server_deal(&s->opener, &err);
  server += bench_cpu() - start;
  start = bench_cpu();
  for (int k = 0; k < parties; k++) status |= tct_gram_party_finish(&s->party[k], &err);
  party += bench_cpu() - start;
  tct_statistics out = {0};
  start = bench_cpu();
  status |= tct_gram_server_open(&s->opener, &out, &err);
  server += bench_cpu() - start;
  if (status != TCT_OK) bench_fail(&err);
  double up = (double)s->server[parties - 1][1].bytes_sent, across = 0;
  for (int j = 0; j < parties - 1; j++) across += (double)s->pair[j][parties - 1][1].bytes_sent;
  printf(
      "{\"bench\": \"gram_cost\", \"n\": %lld, \"p\": %lld, \"parties\": %d, \"to_peers_bytes\": %.0f, "
      "\"to_server_bytes\": %.0f, \"party_seconds\": %.3f, \"server_seconds\": %.3f}\n",
      (long long)n, (long long)p, parties, across, up, party / parties, server);
  tct_statistics_free(&out);
  tct_gram_stage_free(s);
  tct_mech_free(mech);
  tct_bound_free(&bound);
  tct_plan_free(plan);
  tct_data_free(data);
  tct_free(x);
  tct_free(y);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "coupled";
  const char *options = argc > 4 ? argv[4] : "";
  int64_t first = argc > 2 ? atoll(argv[2]) : 0, second = argc > 3 ? atoll(argv[3]) : 0;
  if (!strcmp(what, "cost"))
    cost_bench(first ? first : 20000, second ? second : 400, argc > 4 ? atoi(argv[4]) : 4);
  else if (!strcmp(what, "real"))
    real_bench(first ? (int)first : 10, options);
  else
    shape_bench(what, first ? (int)first : 6, second ? second : 20000, options);
  return 0;
}
