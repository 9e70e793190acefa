/* test_weight_bound.c - the bound on released weights of every private solver: no training passes it.
 *
 * Sums of aligned records come near it, and the tail that it adds for the noise is as rare as it says. */
#include "account/curves/normal.h"
#include "solve/shared/weight_bound.h"
#include "solver_cases.h"

static double most_of(const world *w) {
  return tct_solver_weight_bound(w->plan->solver, &w->plan->facts, &w->plan->solved);
}

static double largest(const world *w) {
  double max = 0;
  for (int64_t j = 0; j < w->plan->facts.p; j++) max = fmax(max, fabs(w->w[j]));
  return max;
}

/* Every record the same and of the largest length: their sums do not cancel. */
static void align(records *r) {
  for (int64_t i = 0; i < r->rows; i++) {
    for (int64_t j = 0; j < r->cols; j++) r->x[i * r->cols + j] = j == 0;
    r->y[i] = 1;
  }
}

static void inside(const solver_case *c, const records *r, double epsilon) {
  tct_config config = config_of(c);
  world w;
  tct_error err = {0};
  config.epsilon = epsilon;
  if (world_open(&w, r, &config, TCT_DENSE_ROWS, TCT_F64, &err) != TCT_OK) return; /* too little for this solver */
  double max = most_of(&w);
  if (!isfinite(max)) fail_msg("%s, %s: no bound at epsilon %g", c->spec, c->loss, epsilon);
  for (uint64_t seed = 1; seed < 4; seed++) {
    run_or_fail(&w, c, seed);
    if (!(largest(&w) <= max))
      fail_msg("%s, %s, %s at epsilon %g: a weight of %g is above the bound %g", c->spec, c->loss, c->penalty, epsilon,
               largest(&w), max);
  }
  world_close(&w);
}

static void bounded(const solver_case *c) {
  if (!c->solver->is_private) return;
  records any = records_new(ROWS, COLS, 5), same = records_new(ROWS, COLS, 5);
  align(&same);
  for (int k = 0; k < 2; k++) {
    inside(c, k ? &same : &any, 1);
    inside(c, k ? &same : &any, 0.05);
    inside(c, k ? &same : &any, 50);
  }
  records_free(&any);
  records_free(&same);
}
static void no_training_of_any_private_solver_passes_its_bound(void **state) {
  (void)state;
  for_some_solvers_and_losses(bounded);
}

static void without_privacy_there_is_no_bound(void **state) {
  (void)state;
  records r = records_new(ROWS, COLS, 5);
  tct_config config = world_config("logistic", "l2:lambda=0.05", "dpgd");
  tct_error err = {0};
  world w;
  config.epsilon = INFINITY;
  assert_int_equal(world_open(&w, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
  assert_true(isinf(most_of(&w)));
  world_close(&w);
  records_free(&r);
}

/* Paths whose sums can reach the bound: it is no larger than a few times what aligned records and little noise do. */
static void aligned_records_come_near_the_bound(void **state) {
  (void)state;
  static const struct {
    const char *spec, *loss, *penalty;
    double times;
  } cases[] = {
      {"dpgd:steps=5,momentum=0,clip=0.1,step=0.01,average=last", "hinge", "none", 1.5},
      {"dpgd:steps=40,momentum=0.999,clip=0.1,step=0.0001,average=last", "hinge", "none", 1.5},
      {"dpsgd:batch=20000,epochs=5,clip=0.1,step=0.01,average=last", "hinge", "none", 1.5},
      {"dpcd:smoothness=public,moments=1,clip=0.02,passes=4,average=last,clipping=coordinate", "logistic", "none", 12},
      {"primaldpscd:batch=1,clip=0.01,passes=4", "logistic", "none", 6},
      {"privgene:c=0.1", "logistic", "none", 4},
      {"dpscd:batch=20000,epochs=2,clip=0.01,average=0", "hinge", "l2:lambda=0.05", 1.5},
      {"outpert:variant=gd,steps=2", "logistic", "l2:lambda=0.0001", 6},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    records r = records_new(20000, 1, 5);
    tct_config config = world_config(cases[i].loss, cases[i].penalty, cases[i].spec);
    tct_error err = {0};
    world w;
    align(&r);
    config.epsilon = 1000, config.intercept = 0;
    if (world_open(&w, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err) != TCT_OK)
      fail_msg("%s: %s", cases[i].spec, err.text);
    assert_int_equal(world_run(&w, 3, NULL, NULL, &err), TCT_OK);
    if (!(most_of(&w) <= cases[i].times * largest(&w)) || !(largest(&w) <= most_of(&w)))
      fail_msg("%s: largest weight %g, bound %g", cases[i].spec, largest(&w), most_of(&w));
    world_close(&w);
    records_free(&r);
  }
}

static void the_tail_of_the_noise_is_rare_and_not_much_rarer(void **state) {
  (void)state;
  for (double count = 1; count < 1e13; count *= 1000) {
    tct_release r = {.law = TCT_LAW_GAUSSIAN, .deviation = 3};
    double log_chance = log(2 * count) + tct_log_upper_tail(tct_noise_max(&r, count) / 3);
    assert_true(log_chance < log(1e-30) - 1 && log_chance > log(1e-36));
    r.law = TCT_LAW_LAPLACE;
    log_chance = log(count) - tct_noise_max(&r, count) / 3;
    assert_true(log_chance < log(1e-30) - 1 && log_chance > log(1e-36));
  }
  tct_release unknown = {.law = TCT_LAW_GAUSSIAN, .deviation = NAN};
  assert_true(isinf(tct_noise_max(&unknown, 1)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_training_of_any_private_solver_passes_its_bound),
      cmocka_unit_test(without_privacy_there_is_no_bound),
      cmocka_unit_test(aligned_records_come_near_the_bound),
      cmocka_unit_test(the_tail_of_the_noise_is_rare_and_not_much_rarer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
