/* test_sensitivity_dpfw.c - the fast form of dpfw hands over the scores of the plain one, bit for bit, and goes
 * downhill.
 *
 * What moves a score: test_sensitivity.c. */
#include "solve/frank_wolfe/dpfw.h"
#include "worlds.h"

/* ---- the two forms ------------------------------------------------------------------------------ */

enum { WIDE = 60, MANY = 150, STEPS = 60 };

static records sparse_records(uint64_t seed) {
  records r = records_new(MANY, WIDE, seed);
  for (int64_t k = 0; k < MANY * WIDE; k++)
    if (world_real(&seed) < 0.9) r.x[k] = 0;
  return r;
}

static void forms(const char *loss, double epsilon, int intercept) {
  records r = sparse_records(5);
  tct_error err = {0};
  world fast, plain;
  tct_config config = world_config(loss, "l1ball:radius=3", "dpfw:steps=60,refresh=3");
  config.epsilon = epsilon;
  config.intercept = intercept;
  assert_int_equal(world_open(&fast, &r, &config, TCT_CSC, TCT_F64, &err), TCT_OK);
  config.solver = "dpfw:steps=60,refresh=3,form=plain";
  assert_int_equal(world_open(&plain, &r, &config, TCT_DENSE_COLS, TCT_F64, &err), TCT_OK);
  tape t = {.claim = 1};
  assert_int_equal(world_run(&fast, 9, tape_probe, &t, &err), TCT_OK);
  assert_int_equal(t.count, STEPS);
  t.replay = 1;
  assert_int_equal(world_run(&plain, 9, tape_probe, &t, &err), TCT_OK);
  assert_int_equal(t.mismatches, 0);
  assert_int_equal(t.next, STEPS);
  if (t.worst != 0) fail_msg("%s: the fast form's scores differ by %g of a record's reach", loss, t.worst);
  assert_memory_equal(fast.w, plain.w, (size_t)fast.plan->facts.p * sizeof(double));
  tape_free(&t);
  world_close(&fast);
  world_close(&plain);
  records_free(&r);
}

static void the_fast_form_has_the_scores_of_the_plain_one_bit_for_bit(void **state) {
  (void)state;
  forms("logistic", 1, 0);
  forms("logistic", 300, 1);
  forms("squared", 1, 1);
  forms("squared", 300, 0);
}

static double mean_loss(const char *spec, double epsilon) {
  records r = sparse_records(6);
  tct_error err = {0};
  world w;
  tct_config config = world_config("logistic", "l1ball:radius=30", spec);
  config.epsilon = epsilon;
  assert_int_equal(world_open(&w, &r, &config, TCT_CSC, TCT_F64, &err), TCT_OK);
  assert_int_equal(world_run(&w, 9, NULL, NULL, &err), TCT_OK);
  double sum = 0;
  for (int64_t i = 0; i < MANY; i++) {
    double z = 0;
    for (int64_t j = 0; j < WIDE; j++) z += r.x[i * WIDE + j] * w.w[j];
    sum += tct_loss_value(&w.plan->facts.loss, z, r.y[i]) / MANY;
  }
  world_close(&w);
  records_free(&r);
  return sum;
}

/* With much budget the private choice is the best vertex, nearly; a wrong sign would go uphill. */
static void objective_falls(const char *spec) {
  double min = mean_loss(spec, INFINITY), reached = mean_loss(spec, 1e4), start = log(2);
  if (!(min < start - 0.02)) fail_msg("%s: without noise the mean loss is %g", spec, min);
  if (!(start - reached > 0.9 * (start - min))) fail_msg("%s: mean loss %g, without noise %g", spec, reached, min);
}
static void with_much_budget_the_objective_falls(void **state) {
  (void)state;
  objective_falls("dpfw:steps=60");
  objective_falls("dpfw:steps=60,form=plain");
  objective_falls("dpfw:steps=60,refresh=1,average=half");
}

/* Twice the score change under replace_one is charged by the same event: epsilon_0 is the relation's. */
static void the_change_is_doubled_under_replace_one_and_the_promise_is_not(void **state) {
  (void)state;
  tct_error err = {0};
  tct_config config = world_config("logistic", "l1ball:radius=2", "dpfw:steps=8");
  tct_plan *add = tct_plan_new(&config, 24, 4, &err);
  config.neighbours = TCT_REPLACE_ONE;
  tct_plan *replace = tct_plan_new(&config, 24, 4, &err);
  assert_true(add && replace);
  const tct_release *a = &add->solved.promise.release[0], *b = &replace->solved.promise.release[0];
  assert_true(a->sensitivity == a->clip && b->sensitivity == 2 * b->clip && a->clip == b->clip);
  assert_true(a->epsilon == b->epsilon && a->epsilon > 0.1);
  tct_plan_free(add);
  tct_plan_free(replace);
}

/* Half of R counts for a larger bound: what is to be gained is the same, and a choice of the smaller bound costs less.
 */
static void a_bound_above_half_of_r_buys_no_more_steps(void **state) {
  (void)state;
  static const char *const specs[] = {"dpfw", "dpfw:feature_bound=0.5", "dpfw:feature_bound=0.25"};
  int64_t steps[3];
  for (int k = 0; k < 3; k++) {
    tct_error err = {0};
    tct_config config = world_config("logistic", "l1ball:radius=20", specs[k]);
    config.row_norm = 1, config.epsilon = 1, config.delta = 1e-6;
    tct_plan *plan = tct_plan_new(&config, 100000, 4, &err);
    if (!plan) fail_msg("%s", err.text);
    steps[k] = plan->solved.promise.release[0].event.count;
    tct_plan_free(plan);
  }
  assert_true(steps[1] > 3 * steps[0] / 2 && steps[2] < steps[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_fast_form_has_the_scores_of_the_plain_one_bit_for_bit),
      cmocka_unit_test(with_much_budget_the_objective_falls),
      cmocka_unit_test(the_change_is_doubled_under_replace_one_and_the_promise_is_not),
      cmocka_unit_test(a_bound_above_half_of_r_buys_no_more_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
