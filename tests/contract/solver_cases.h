/* solver_cases.h - every solver with every loss that it takes, as cases for the laws of test_solver*.c.
 *
 * A case is a solver with a loss and the first penalty of penalty_at() that its plan takes. */
#ifndef TESTS_SOLVER_CASES_H
#define TESTS_SOLVER_CASES_H
#include "sample.h"
#include "worlds.h"

enum { ROWS = 80, COLS = 4 };

/* A ridge first, which most solvers take, then the example of every kind. */
static inline const char *penalty_at(int k) { return k ? tct_penalty_kinds[k - 1]->example : "l2:lambda=0.05"; }

/* Options that a solver cannot do without; most need none. */
static const struct { const char *solver, *options; } needed[] = {{"", ""}};

typedef struct solver_case {
  const tct_solver *solver;
  char loss[64], penalty[64], spec[400];
} solver_case;

static const char *needed_options(const char *solver) {
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
    if (!strcmp(needed[i].solver, solver)) return needed[i].options;
  return "";
}

static inline void write_spec(solver_case *c, const char *options) {
  const char *base = needed_options(c->solver->name);
  int any = *base || *options;
  snprintf(c->spec, sizeof c->spec, "%s%s%s%s%s", c->solver->name, any ? ":" : "", base, *base && *options ? "," : "",
           options);
}

static inline tct_config config_of(const solver_case *c) {
  tct_config config = world_config(c->loss, c->penalty, c->spec);
  config.intercept = !strcmp(c->loss, "cox"); /* the level of the hazard */
  return config;
}

static inline int plannable(const solver_case *c) {
  tct_config config = config_of(c);
  tct_plan *plan = tct_plan_new(&config, ROWS, COLS, NULL);
  tct_plan_free(plan);
  return plan != NULL;
}

enum { MOST = 64 };                /* solvers, and losses */
static int remembered[MOST][MOST]; /* 1 + the penalty's index, -1: none is taken */

/* TACIT_TEST_SOLVER: the laws for one solver alone. */
static inline int is_wanted(const tct_solver *solver) {
  const char *only = getenv("TACIT_TEST_SOLVER");
  return !only || !strcmp(only, solver->name);
}

/* The first penalty that the solver takes with this loss; 0 if there is none. */
static inline int find_case(int s, int l, solver_case *c) {
  assert_true(s < MOST && l < MOST);
  if (!is_wanted(tct_solvers[s])) return 0;
  c->solver = tct_solvers[s];
  write_spec(c, "");
  snprintf(c->loss, sizeof c->loss, "%s", tct_loss_kinds[l]->name);
  for (int k = 0; k <= tct_penalty_kind_count && remembered[s][l] == 0; k++) {
    snprintf(c->penalty, sizeof c->penalty, "%s", penalty_at(k));
    if (plannable(c)) remembered[s][l] = k + 1;
  }
  if (remembered[s][l] == 0) remembered[s][l] = -1;
  if (remembered[s][l] > 0) snprintf(c->penalty, sizeof c->penalty, "%s", penalty_at(remembered[s][l] - 1));
  return remembered[s][l] > 0;
}

typedef void (*law)(const solver_case *c);

static inline void for_one_in(int most, law check) {
  solver_case c;
  int seen = 0;
  for (int s = 0; s < tct_solver_count; s++)
    for (int l = 0; l < tct_loss_kind_count; l++)
      if (find_case(s, l, &c) && sample_turn(seen++, most)) check(&c);
}
/* A sparser sample than .ci/run's (make check, and its sanitizers) takes a third of those that are else tried whole. */
static inline int sparse(void) { return sample_every(24) > 8 ? 3 : 1; }
static inline void for_every_solver_and_loss(law check) { for_one_in(sparse(), check); }
/* A sixth of them, where make check samples. */
static inline void for_some_solvers_and_losses(law check) { for_one_in(6, check); }

/* With its first loss, and with its losses of several classes. */
static inline void for_every_solver(law check) {
  solver_case c;
  for (int s = 0; s < tct_solver_count; s++) {
    bool met = false;
    if (!sample_turn(s, sparse())) continue;
    for (int l = 0; l < tct_loss_kind_count; l++) {
      if ((met && !tct_loss_kinds[l]->joint) || !find_case(s, l, &c)) continue;
      check(&c);
      met = true;
    }
  }
}

static inline void open_or_fail(world *w, const records *r, const solver_case *c, tct_config config) {
  tct_error err = {0};
  if (world_open(w, r, &config, TCT_DENSE_ROWS, TCT_F64, &err) != TCT_OK)
    fail_msg("%s, %s, %s: %s", c->spec, c->loss, c->penalty, err.text);
}

static inline void run_or_fail(world *w, const solver_case *c, uint64_t seed) {
  tct_error err = {0};
  if (world_run(w, seed, NULL, NULL, &err) != TCT_OK)
    fail_msg("%s, %s, %s: %s", c->spec, c->loss, c->penalty, err.text);
  for (int64_t j = 0; j < w->plan->facts.p; j++)
    if (!isfinite(w->w[j])) fail_msg("%s, %s, %s: a weight is not finite", c->spec, c->loss, c->penalty);
}

static inline double distance(const double *a, const double *b, int64_t p) {
  double worst = 0;
  for (int64_t j = 0; j < p; j++) worst = fmax(worst, fabs(a[j] - b[j]));
  return worst;
}
#endif
