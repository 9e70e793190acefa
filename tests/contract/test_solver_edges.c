/* test_solver_edges.c - the laws of every solver at its edges: what it refuses, what one record can move, a run that is
 * cancelled or starved, data that say nothing. */
#include "core/stop.h"
#include "solver_cases.h"

/* ---- refusals ------------------------------------------------------------------------------------------- */

static void refused(const tct_config *config, tct_status status, const char *word, const char *who) {
  tct_error err = {0};
  tct_plan *plan = tct_plan_new(config, ROWS, COLS, &err);
  if (plan) fail_msg("%s: taken, but %s is wrong", who, word);
  if (err.status != status || !strstr(err.text, word)) fail_msg("%s: status %d, '%s'", who, err.status, err.text);
  assert_non_null(strstr(err.text, "; ")); /* what is wrong; what to do */
}

static void relations(const solver_case *c) {
  tct_config config = config_of(c);
  records r = records_new(ROWS, COLS, 6);
  for (int k = 0; k < 2; k++) {
    unsigned bit = k ? TCT_RELATION_REPLACE_ONE : TCT_RELATION_ADD_REMOVE;
    config.neighbours = k ? TCT_REPLACE_ONE : TCT_ADD_REMOVE;
    if (!(c->solver->relations & bit) && c->solver->is_private) {
      refused(&config, TCT_E_USAGE, "neighbours", c->spec);
      continue;
    }
    world w;
    open_or_fail(&w, &r, c, config);
    run_or_fail(&w, c, 1);
    if (c->solver->is_private) {
      tct_cost cost = {0};
      assert_int_equal(tct_account_epsilon(&w.plan->solved.promise.events, w.plan->facts.neighbours, 1e-5,
                                           TCT_PRECISION, &cost, NULL),
                       TCT_OK);
      if (!(cost.epsilon <= 1 + 1e-9)) fail_msg("%s under relation %d costs %g", c->spec, k, cost.epsilon);
    }
    world_close(&w);
  }
  records_free(&r);
}
static void both_relations_are_planned_or_refused_with_a_sentence(void **state) {
  (void)state;
  for_some_solvers_and_losses(relations);
  tct_config config = world_config("logistic", "l2:lambda=0.05", "dpscd:state=paper");
  config.neighbours = TCT_REPLACE_ONE;
  refused(&config, TCT_E_USAGE, "add_remove", "dpscd:state=paper");
}

/* Solvers whose bound does not need |x_i| <= R. */
static const struct {
  const char *solver, *reason;
} unbounded[] = {{"primaldpscd", "it clips each coordinate's step, so its reach holds for any data"}};

static void bounds(const solver_case *c) {
  if (!c->solver->is_private) return;
  for (size_t i = 0; i < sizeof unbounded / sizeof *unbounded; i++)
    if (!strcmp(unbounded[i].solver, c->solver->name)) return;
  tct_config config = config_of(c);
  config.row_norm = NAN;
  refused(&config, TCT_E_USAGE, ".row_norm", c->spec);
  tct_loss loss;
  assert_int_equal(tct_loss_make(c->loss, &loss, NULL), TCT_OK);
  if (loss.kind->binary) return;
  config.row_norm = 1;
  config.label_bound = NAN;
  refused(&config, TCT_E_USAGE, ".label_bound", c->spec);
}
static void a_private_solver_refuses_records_without_bounds(void **state) {
  (void)state;
  for_every_solver_and_loss(bounds);
}

/* ---- settings that were resolved ----------------------------------------------------------------------------- */

/* Older files are planned again from what they resolved. */
static void again(const tct_config *given, const char *who) {
  tct_config config = *given;
  tct_error err = {0};
  tct_plan *plan = tct_plan_new(&config, ROWS, COLS, &err), *same = NULL;
  if (plan) config.solver = plan->solver_text, same = tct_plan_new(&config, ROWS, COLS, &err);
  if (plan && !same) fail_msg("%s: its own settings %s are refused: %s", who, plan->solver_text, err.text);
  if (plan) assert_string_equal(same->solver_text, plan->solver_text);
  tct_plan_free(plan), tct_plan_free(same);
}

static void resolved(const solver_case *c) {
  tct_config config = config_of(c);
  for (config.epsilon = 1e-3; config.epsilon < 1e4; config.epsilon *= 100)
    for (config.intercept = 0; config.intercept < 2; config.intercept++) again(&config, c->spec);
}
static void resolved_settings_are_settings(void **state) {
  (void)state;
  for_some_solvers_and_losses(resolved);
  tct_config config = world_config("logistic", "none", "dpmetric:budget_fraction=1e-4,second=0,norms=0");
  config.intercept = 1, config.epsilon = 0.01; /* the start takes all that may be left */
  again(&config, config.solver);
}

/* ---- neighbours -------------------------------------------------------------------------------------------- */

/* Solvers whose releases are not bounded one by one. */
static const struct {
  const char *solver, *reason;
} unprobed[] = {{"objpert", "its bound holds given the minimiser, not given the noise that led to it"}};

/* Random neighbours; tests/privacy/test_sensitivity.c searches for bad ones. */
static void neighbours(const solver_case *c) {
  if (!c->solver->is_private) return;
  for (size_t i = 0; i < sizeof unprobed / sizeof *unprobed; i++)
    if (!strcmp(unprobed[i].solver, c->solver->name)) return;
  tct_config config = config_of(c);
  for (int k = 0; k < 2; k++) {
    if (!(c->solver->relations & (k ? TCT_RELATION_REPLACE_ONE : TCT_RELATION_ADD_REMOVE))) continue;
    config.neighbours = k ? TCT_REPLACE_ONE : TCT_ADD_REMOVE;
    records r = records_new(ROWS, COLS, 10), other = records_new(ROWS, COLS, 10);
    world a, b;
    tct_error err = {0};
    open_or_fail(&a, &r, c, config);
    for (int64_t at = 0; at < ROWS; at += 16) {
      for (int j = 0; j < COLS; j++) other.x[at * COLS + j] = -3 * r.x[at * COLS + j];
      assert_int_equal(world_share(&b, &other, a.plan, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
      if (!k) world_remove(&b, at);
      double move = worlds_move(&a, &b, (uint64_t)at, NULL);
      if (!(move <= 1)) fail_msg("%s, %s: a release moves %.17g times its claim", c->spec, c->loss, move);
      world_close(&b);
      memcpy(other.x + at * COLS, r.x + at * COLS, COLS * sizeof *r.x);
    }
    world_close(&a);
    records_free(&r);
    records_free(&other);
  }
}
static void no_release_moves_further_than_claimed_and_releases_make_the_model(void **state) {
  (void)state;
  for_every_solver_and_loss(neighbours);
}

/* ---- cancelling ------------------------------------------------------------------------------------------ */

static int cancel_at(void *user) { return --*(int *)user == 0; }

/* Every question is asked, so the run is cut short within its loops too; each then ends, and no model comes of it.
 * The question before the charge is the first; who said yes is not asked again. */
static void cancelling(const solver_case *c) {
  records r = records_new(ROWS, COLS, 7);
  tct_config config = config_of(c);
  world w;
  int left;
  config.cancel = cancel_at;
  config.user = &left;
  open_or_fail(&w, &r, c, config);
  tct_stop_always_test(true);
  for (int poll = 1, over = 0; !over; poll *= 2) {
    tct_error err = {0};
    left = poll;
    tct_model *model = tct_fit(w.plan, w.data, &err);
    over = left > 0;
    if (over && poll < 3) fail_msg("%s never asks whether to stop", c->spec);
    if (!over && model) fail_msg("%s, %s: cancelled at poll %d, and there is a model", c->spec, c->loss, poll);
    if (!over && left < 0) fail_msg("%s, %s: was told to stop at poll %d, and asked again", c->spec, c->loss, poll);
    assert_int_equal(err.status, over ? TCT_OK : TCT_E_CANCELLED);
    tct_model_free(model);
  }
  tct_stop_always_test(false);
  world_close(&w);
  records_free(&r);
}
static void a_cancelled_run_gives_no_model(void **state) {
  (void)state;
  for_some_solvers_and_losses(cancelling);
}

/* ---- memory ---------------------------------------------------------------------------------------------- */

/* Each of the first allocations fails once; of the hundreds of a solver with parties, a share. */
static int64_t next_failure(int64_t n) { return n + 1 + n / 32; }

static void memory(const solver_case *c) {
  records r = records_new(ROWS, COLS, 8);
  world w;
  open_or_fail(&w, &r, c, config_of(c));
  for (int64_t n = 1;; n = next_failure(n)) {
    tct_error err = {0};
    if (n > 5000) fail_msg("%s needs more than 5000 allocations", c->spec);
    tct_alloc_fail_at_test(n);
    tct_model *model = tct_fit(w.plan, w.data, &err);
    tct_alloc_fail_at_test(0);
    tct_model_free(model);
    if (model) break;
    if (err.status != TCT_E_MEMORY) fail_msg("%s, %s: allocation %d: '%s'", c->spec, c->loss, (int)n, err.text);
  }
  world_close(&w);
  records_free(&r);
}

static int faults_are_compiled_in(void) {
  tct_alloc_fail_at_test(1);
  void *probe = tct_alloc(1, 1);
  tct_alloc_fail_at_test(0);
  tct_free(probe);
  return probe == NULL;
}

static void a_run_without_memory_is_an_error(void **state) {
  (void)state;
  if (!faults_are_compiled_in()) {
    puts("skipped: the library was built without fault injection (TCT_FAULTS)");
    skip();
  }
  for_every_solver(memory);
}

/* ---- degenerate data ---------------------------------------------------------------------------------------- */

typedef enum shape { ZERO_ROWS, DUPLICATES, CONSTANT_LABEL, HUGE_VALUES, TINY_VALUES, ONE_ROW, WIDE, SHAPES } shape;
static const char *const shape_names[SHAPES] = {
    "zero rows", "duplicated rows", "a constant label", "huge values", "tiny values", "one row", "p > n"};

static records shaped(shape s) {
  records r = records_new(s == ONE_ROW ? 1 : s == WIDE ? 12 : ROWS, s == WIDE ? 30 : COLS, 9);
  for (int64_t i = 0; i < r.rows; i++) {
    if (s == CONSTANT_LABEL) r.y[i] = 1;
    for (int64_t j = 0; j < r.cols; j++) {
      double *x = &r.x[i * r.cols + j];
      if (s == ZERO_ROWS && i % 2) *x = 0;
      if (s == DUPLICATES) *x = r.x[j];
      if (s == HUGE_VALUES) *x *= i % 2 ? 1e300 : 1e-300;
      if (s == TINY_VALUES) *x *= 0x1p-1050;
    }
  }
  return r;
}

/* A model with finite weights, or a refusal in one sentence from the plan, which knows n and p alone. */
static void degenerate(const solver_case *c) {
  tct_plan *plan = NULL;
  tct_error err = {0};
  tct_config config = config_of(c);
  int64_t rows = 0, cols = 0;
  for (int s = 0; s < SHAPES; s++) {
    records r = shaped(s);
    tct_matrix m = records_matrix(&r);
    if (r.rows != rows || r.cols != cols) {
      tct_plan_free(plan);
      plan = tct_plan_new(&config, rows = r.rows, cols = r.cols, &err);
    }
    if (!plan && s != ONE_ROW) fail_msg("%s, %s, %s: %s", c->spec, c->loss, shape_names[s], err.text);
    double *labels = records_labels(&r, tct_config_labels(&config));
    tct_data *data = tct_data_view(&m, labels, tct_config_labels(&config), NULL, NULL, &err);
    assert_non_null(data);
    tct_model *model = plan ? tct_fit(plan, data, &err) : NULL;
    if (plan && !model) fail_msg("%s, %s, %s: %s", c->spec, c->loss, shape_names[s], err.text);
    for (int64_t j = 0; model && j < r.cols * model->models; j++)
      assert_true(isfinite(tct_model_coefficients(model)[j]));
    tct_model_free(model);
    tct_data_free(data);
    free(labels);
    records_free(&r);
  }
  tct_plan_free(plan);
}
static void degenerate_data_give_finite_weights(void **state) {
  (void)state;
  for_some_solvers_and_losses(degenerate);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_relations_are_planned_or_refused_with_a_sentence),
      cmocka_unit_test(a_private_solver_refuses_records_without_bounds),
      cmocka_unit_test(resolved_settings_are_settings),
      cmocka_unit_test(no_release_moves_further_than_claimed_and_releases_make_the_model),
      cmocka_unit_test(a_cancelled_run_gives_no_model),
      cmocka_unit_test(a_run_without_memory_is_an_error),
      cmocka_unit_test(degenerate_data_give_finite_weights),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
