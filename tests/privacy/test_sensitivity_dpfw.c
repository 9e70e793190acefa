/* test_sensitivity_dpfw.c - neighbours found by hill climbing move no score of dpfw by more than is claimed.
 *
 * They come close to it, and the fast form hands over the scores of the plain one, bit for bit. */
#include "solve/frank_wolfe/dpfw.h"
#include "climb.h"

/* Clips that bind always, sometimes and never; slopes taken again at each step and as sparse steps do. */
static const variant variants[] = {
    {"dpfw:steps=8", "logistic", 0, 0.6},
    {"dpfw:steps=8,clip=0.3", "logistic", 1, 0.95},
    {"dpfw:steps=8,clip=0.3,refresh=1", "logistic", 0, 0.95},
    {"dpfw:steps=12,feature_bound=0.4", "squared", 0, 0.6},
    {"dpfw:steps=12,clip=0.5,feature_bound=0.4,refresh=4", "squared", 1, 0.95},
    {"dpfw:steps=6,clip=0.2,form=plain", "smoothed_hinge", 0, 0.95},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

static void no_neighbour_that_lacks_a_record_moves_a_score_further_than_claimed(void **state) {
  (void)state;
  climb_all(variants, VARIANTS, TCT_ADD_REMOVE);
}
static void no_neighbour_with_a_replaced_record_moves_a_score_further_than_claimed(void **state) {
  (void)state;
  climb_all(variants, VARIANTS, TCT_REPLACE_ONE);
}

/* ---- weights and persons ------------------------------------------------------------------------- */

enum { N = 30, P = 4, KIN = 5 }; /* the first KIN records are one person's */

/* How far the person's removal moves a score of any release, in claims.  linked: the weights sum to 1. */
static double person_moves(const char *solver, const char *loss, tct_layout layout, bool linked) {
  tct_error err = {0};
  records r = records_new(N, P, 7);
  double weight[N];
  world with, without;
  tct_config config = world_config(loss, "l1ball:radius=3", solver);
  for (int i = 0; i < N; i++) weight[i] = i < KIN && linked ? (1 - 0x1p-48) / KIN : 1;
  for (int i = 0; i < KIN; i++) { /* they all pull hard and one way */
    for (int j = 0; j < P; j++) r.x[i * P + j] = j ? 0.001 : -40;
    r.y[i] = 1;
  }
  assert_int_equal(world_open(&with, &r, &config, layout, TCT_F64, &err), TCT_OK);
  assert_int_equal(world_open(&without, &r, &config, layout, TCT_F64, &err), TCT_OK);
  with.problem.weight = without.problem.weight = weight;
  for (int k = 0; k < KIN; k++) world_remove(&without, k);
  double worst = worlds_move(&with, &without, 9, NULL);
  world_close(&with);
  world_close(&without);
  records_free(&r);
  return worst;
}

static void all_records_of_a_person_together_stay_within_the_claim(void **state) {
  (void)state;
  for (int layout = 0; layout < 2; layout++)
    for (int v = 0; v < VARIANTS; v++) {
      tct_layout as = layout ? TCT_CSC : TCT_DENSE_COLS;
      double fair = person_moves(variants[v].solver, variants[v].loss, as, true);
      double loose = person_moves(variants[v].solver, variants[v].loss, as, false);
      print_message("%s: a person moves %.12f of the claim; as many persons %.3f\n", variants[v].solver, fair, loose);
      assert_true(fair <= 1);
      assert_true(fair > 0.4);
      assert_true(loose > 2);
    }
}

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
  tct_plan *add = plan_of(&variants[0], TCT_ADD_REMOVE), *replace = plan_of(&variants[0], TCT_REPLACE_ONE);
  const tct_release *a = &add->solved.promise.release[0], *b = &replace->solved.promise.release[0];
  assert_true(a->sensitivity == a->clip && b->sensitivity == 2 * b->clip && a->clip == b->clip);
  assert_true(a->epsilon == b->epsilon && a->epsilon > 0.1);
  tct_plan_free(add);
  tct_plan_free(replace);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_neighbour_that_lacks_a_record_moves_a_score_further_than_claimed),
      cmocka_unit_test(no_neighbour_with_a_replaced_record_moves_a_score_further_than_claimed),
      cmocka_unit_test(all_records_of_a_person_together_stay_within_the_claim),
      cmocka_unit_test(the_fast_form_has_the_scores_of_the_plain_one_bit_for_bit),
      cmocka_unit_test(with_much_budget_the_objective_falls),
      cmocka_unit_test(the_change_is_doubled_under_replace_one_and_the_promise_is_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
