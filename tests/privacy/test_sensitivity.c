/* test_sensitivity.c - how far one record moves a release, searched for by hand, at random and by hill climbing.
 *
 * Two worlds share the coins and all past releases and differ in record K, which is removed (add_remove) or replaced
 * (replace_one).  The noise-free sums may differ by the sensitivity, or twice that under replace_one: exactly, so the
 * bound is `move <= 1` without a tolerance.  Where the claim is tight the search must also come close to it, which
 * shows that the probe sees something. */
#include "worlds.h"

enum { N = 12, P = 3, K = 5 };

/* What the climber may change: the record, what replaces it, and the past. */
typedef struct neighbour {
  double x[P], other[P], y, other_y, push[P];
} neighbour;

typedef struct setup {
  const char *loss, *penalty, *solver;
  double row_norm, epsilon;
  tct_neighbours relation;
  double min; /* the search must come to this part of the claim */
} setup;

typedef struct search {
  const setup *s;
  tct_plan *plan;
  records base;
  uint64_t seed; /* of the coins: record K is drawn in them */
} search;

static void put(records *r, const double *x, double y) {
  memcpy(r->x + K * P, x, P * sizeof *x);
  r->y[K] = y;
}

static double move_of(search *q, const neighbour *at) {
  world a, b;
  tct_error err = {0};
  put(&q->base, at->x, at->y);
  if (world_share(&a, &q->base, q->plan, TCT_DENSE_ROWS, TCT_F64, &err) != TCT_OK) fail_msg("%s", err.text);
  records changed = {N, P, tape_copy(q->base.x, N * P), tape_copy(q->base.y, N), 0};
  if (q->s->relation == TCT_REPLACE_ONE) put(&changed, at->other, at->other_y);
  if (world_share(&b, &changed, q->plan, TCT_DENSE_ROWS, TCT_F64, &err) != TCT_OK) fail_msg("%s", err.text);
  if (q->s->relation == TCT_ADD_REMOVE) world_remove(&b, K);
  double move = worlds_move(&a, &b, q->seed, at->push);
  world_close(&b);
  world_close(&a);
  records_free(&changed);
  if (!(move <= 1))
    fail_msg("%s, %s, R = %g, epsilon = %g: a release moves %.17g times its claim", q->s->solver, q->s->loss,
             q->s->row_norm, q->s->epsilon, move);
  return move;
}

/* Labels are +-1 for classifiers, anything for regression; rows from tiny to far beyond R. */
static void draw(const search *q, uint64_t *random, neighbour *out) {
  double size = q->s->row_norm * exp(4 * world_real(random)), other = q->s->row_norm * exp(4 * world_real(random));
  double push = exp(6 * world_real(random));
  int binary = q->plan->facts.loss.kind->binary;
  for (int j = 0; j < P; j++) {
    out->x[j] = size * world_real(random);
    out->other[j] = world_real(random) > 0 ? -out->x[j] : other * world_real(random);
    out->push[j] = push * world_real(random);
  }
  out->y = binary ? (world_real(random) > 0 ? 1 : -1) : 10 * world_real(random);
  out->other_y = binary ? (world_real(random) > 0 ? 1 : -1) : 10 * world_real(random);
}

/* One number of the neighbour moved: the label and each coordinate in turn. */
static neighbour nudge(const neighbour *from, uint64_t *random) {
  neighbour to = *from;
  double *number[3 * P], by = exp(2 * world_real(random));
  for (int j = 0; j < P; j++) number[j] = to.x + j, number[P + j] = to.other + j, number[2 * P + j] = to.push + j;
  double *at = number[world_u64(random) % (3 * P)];
  *at = world_u64(random) % 4 ? *at * by : -*at;
  return to;
}

static double climb(search *q, int starts, int steps) {
  uint64_t random = 77;
  double best = 0;
  for (int start = 0; start < starts; start++) {
    neighbour at;
    draw(q, &random, &at);
    double here = move_of(q, &at);
    for (int k = 0; k < steps; k++) {
      neighbour next = nudge(&at, &random);
      double there = move_of(q, &next);
      if (there >= here) at = next, here = there;
    }
    best = fmax(best, here);
  }
  return best;
}

static search begin(const setup *s) {
  tct_error err = {0};
  search q = {.s = s, .base = records_new(N, P, 31), .seed = 4};
  tct_config config = world_config(s->loss, s->penalty, s->solver);
  config.row_norm = s->row_norm;
  config.epsilon = s->epsilon;
  config.neighbours = s->relation;
  for (int i = 0; i < N * P; i++) q.base.x[i] *= 0.2 * s->row_norm;
  q.plan = tct_plan_new(&config, N, P, &err);
  if (!q.plan) fail_msg("%s, %s: %s", s->solver, s->loss, err.text);
  return q;
}

static void searched(const setup *list, size_t count) {
  for (size_t i = 0; i < count; i++) {
    search q = begin(&list[i]);
    double best = climb(&q, 12, 30);
    printf("%s, %s, R = %g, epsilon = %g, %s: %.12g of the claim\n", list[i].solver, list[i].loss, list[i].row_norm,
           list[i].epsilon, list[i].relation ? "replace_one" : "add_remove", best);
    if (!(best >= list[i].min))
      fail_msg("%s, %s: the search reached %g of the claim only, not %g", list[i].solver, list[i].loss, best,
               list[i].min);
    tct_plan_free(q.plan);
    records_free(&q.base);
  }
}
#define SEARCHED(list) searched(list, sizeof(list) / sizeof *(list))

/* epsilon 0.01 makes the noise, hence the lattice, coarse: a coordinate rounded away from zero then shows. */
static const setup dpscd[] = {
    {"logistic", "l2:lambda=0.1", "dpscd:batch=6,clip=0.1,epochs=6", 1, 1, TCT_ADD_REMOVE, 0.9},
    {"logistic", "l2:lambda=0.1", "dpscd:batch=6,clip=0.1,epochs=6", 2, 0.01, TCT_ADD_REMOVE, 0.9},
    {"hinge", "l2:lambda=0.1", "dpscd:batch=6,clip=0.1,epochs=6", 0.5, 0.01, TCT_ADD_REMOVE, 0.9},
    {"squared", "l2:lambda=0.1", "dpscd:batch=6,clip=0.1,epochs=6", 3, 1, TCT_ADD_REMOVE, 0.9},
    {"huber", "l2:lambda=0.1", "dpscd:batch=12,clip=0.1,epochs=4", 3, 1, TCT_ADD_REMOVE, 0.9},
    {"logistic", "l2:lambda=0.1", "dpscd:batch=6,clip=0.1,epochs=6,newton=1", 2, 1, TCT_REPLACE_ONE, 0.9},
    {"hinge", "l2:lambda=0.1", "dpscd:batch=12,clip=0.1,epochs=4", 2, 0.01, TCT_REPLACE_ONE, 0.9},
    {"squared", "l2:lambda=0.1", "dpscd:batch=6,clip=0.1,epochs=6", 0.5, 1, TCT_REPLACE_ONE, 0.9},
};
static void dpscd_keeps_its_reach_and_fills_it(void **state) {
  (void)state;
  SEARCHED(dpscd);
}

/* The sensitivity of alpha_B and v together is C sqrt(1 + R^2); the probe sees v alone, whose own share is R/sqrt(1 +
 * R^2).
 */
static const setup paper[] = {
    {"logistic", "l2:lambda=0.1", "dpscd:batch=6,clip=0.1,epochs=6,state=paper", 1, 1, TCT_ADD_REMOVE, 0.9 * 0.7071},
    {"hinge", "l2:lambda=0.1", "dpscd:batch=6,clip=0.1,epochs=6,state=paper", 2, 0.01, TCT_ADD_REMOVE, 0.9 * 0.8944},
    {"squared", "l2:lambda=0.1", "dpscd:batch=12,clip=0.1,epochs=4,state=paper", 0.5, 1, TCT_ADD_REMOVE, 0.9 * 0.4472},
};
static void the_paper_variant_of_dpscd_keeps_its_reach(void **state) {
  (void)state;
  SEARCHED(paper);
}

/* An exact dual step answers the steps before it, so what other records do in response stays far below the claim. */
static const setup seqdpscd[] = {
    {"logistic", "l2:lambda=0.001", "seqdpscd:batch=4,cap=7,clip=0.1,epochs=6", 2, 1, TCT_ADD_REMOVE, 0.05},
    {"hinge", "l2:lambda=0.001", "seqdpscd:batch=4,cap=5,clip=0.1,epochs=6", 1, 0.01, TCT_ADD_REMOVE, 0.05},
    {"squared", "l2:lambda=0.1", "seqdpscd:batch=2,cap=1,clip=0.1,epochs=6", 3, 1, TCT_ADD_REMOVE, 0.5},
};
static void seqdpscd_keeps_its_reach(void **state) {
  (void)state;
  SEARCHED(seqdpscd);
}

static const setup primaldpscd[] = {
    {"logistic", "l2:lambda=0.01", "primaldpscd:batch=1,clip=0.001,passes=2", 1, 1, TCT_ADD_REMOVE, 0.9},
    {"squared", "none", "primaldpscd:batch=3,clip=0.001,passes=3", 2, 0.01, TCT_ADD_REMOVE, 0.5},
    {"logistic", "none", "primaldpscd:batch=2,clip=0.001,passes=2", 2, 1, TCT_REPLACE_ONE, 0.5},
};
static void primaldpscd_keeps_its_reach(void **state) {
  (void)state;
  SEARCHED(primaldpscd);
}

static const setup dpsgd[] = {
    {"logistic", "none", "dpsgd:batch=6,clip=0.1,epochs=4", 1, 1, TCT_ADD_REMOVE, 0.9},
    {"hinge", "l2:lambda=0.1", "dpsgd:batch=6,clip=0.3,epochs=4", 2, 0.01, TCT_ADD_REMOVE, 0.9},
    {"squared", "l1:lambda=0.01", "dpsgd:batch=12,clip=0.3,epochs=4", 3, 1, TCT_ADD_REMOVE, 0.9},
    {"logistic", "none", "dpsgd:batch=6,clip=0.1,epochs=4", 2, 1, TCT_REPLACE_ONE, 0.9},
    {"huber", "none", "dpsgd:batch=12,clip=0.1,epochs=4", 0.5, 0.01, TCT_REPLACE_ONE, 0.9},
};
static void dpsgd_keeps_its_reach_and_fills_it(void **state) {
  (void)state;
  SEARCHED(dpsgd);
}

static const setup descents[] = {
    {"logistic", "none", "dpgd:steps=4,clip=0.1", 1, 1, TCT_ADD_REMOVE, 0.9},
    {"squared", "l1:lambda=0.01", "dpgd:steps=4", 3, 0.01, TCT_ADD_REMOVE, 0.9},
    {"hinge", "l2:lambda=0.1", "dpgd:steps=4,clip=0.1", 0.5, 1, TCT_REPLACE_ONE, 0.9},
    {"logistic", "none", "dpnewton:steps=4,clip=0.1", 1, 1, TCT_ADD_REMOVE, 0.9},
    {"squared", "l2:lambda=0.1", "dpnewton:steps=4", 3, 0.01, TCT_ADD_REMOVE, 0.9},
    {"huber", "none", "dpnewton:steps=4,budget_fraction=0.5", 0.5, 1, TCT_REPLACE_ONE, 0.9},
};
static void gradient_descents_keep_their_reach_and_fill_it(void **state) {
  (void)state;
  SEARCHED(descents);
}

/* Two records' matrices and vectors differ by less than twice the length of one, which the claim uses; split: parts of
 * the budget for which the matrix, both and the vector count most. */
static const setup statistics[] = {
    {"squared", "l2:lambda=0.1", "adassp", 1, 1, TCT_ADD_REMOVE, 0.9},
    {"squared", "l2:lambda=0.1", "adassp", 1, 1, TCT_REPLACE_ONE, 0.9},
    {"squared", "none", "adassp:norm=1,split=0.95", 2, 0.01, TCT_REPLACE_ONE, 0.9},
    {"squared", "l2:lambda=0.1", "adassp:norm=1,split=0.15", 2, 3, TCT_REPLACE_ONE, 0.9},
};
static void sums_of_products_keep_their_reach_and_fill_it(void **state) {
  (void)state;
  SEARCHED(statistics);
}

/* The squares of lengths, images and their outer products: under replace_one the first releases differ by sqrt(2) of
 * their terms, which the claim uses, and the path's by 2. */
static const setup metrics[] = {
    {"logistic", "none", "dpmetric:steps=4,clip=0.1", 1, 1, TCT_ADD_REMOVE, 0.9},
    {"squared", "l2:lambda=0.1", "dpmetric:steps=4", 3, 0.01, TCT_ADD_REMOVE, 0.9},
    {"hinge", "none", "dpmetric:steps=4,clip=0.1,second=0", 2, 1, TCT_ADD_REMOVE, 0.9},
    {"logistic", "l2:lambda=1e-6", "dpmetric:steps=4,norms=0,budget_fraction=0.3", 2, 1e4, TCT_ADD_REMOVE, 0.9},
    {"smoothed_hinge", "none", "dpmetric:steps=4,shape=diagonal", 2, 1, TCT_ADD_REMOVE, 0.9},
    {"huber", "none", "dpmetric:steps=4,budget_fraction=0.3", 0.5, 1, TCT_REPLACE_ONE, 0.9},
    {"poisson", "none", "dpmetric:steps=4", 1, 1, TCT_ADD_REMOVE, 0.9},
    {"logistic", "none", "dpmetric:steps=4,shape=diagonal,norms=0.1", 1, 0.01, TCT_REPLACE_ONE, 0.9},
};
static void a_released_metric_and_what_is_clipped_in_it_keep_their_reach_and_fill_it(void **state) {
  (void)state;
  SEARCHED(metrics);
}

/* The moments of one record are two matrices of a joint length; under replace_one those and the counts differ by
 * sqrt(2) of their terms, and gradients by 2. */
static const setup onestep[] = {
    {"logistic", "none", "dponestep:errors=robust,steps=4", 1, 1, TCT_ADD_REMOVE, 0.9},
    {"logistic", "l2:lambda=0.1", "dponestep:errors=model,steps=4", 2, 0.01, TCT_ADD_REMOVE, 0.9},
    {"squared", "none", "dponestep:errors=robust,steps=4", 3, 0.01, TCT_ADD_REMOVE, 0.9},
    {"huber", "none", "dponestep:errors=robust,steps=4", 0.5, 1, TCT_REPLACE_ONE, 0.9},
    {"squared", "none", "dponestep:errors=model,steps=4", 1, 1, TCT_REPLACE_ONE, 0.9},
    {"poisson", "none", "dponestep:errors=robust,steps=4", 1, 1, TCT_ADD_REMOVE, 0.9},
    {"poisson", "none", "dponestep:errors=model,steps=4", 2, 1, TCT_REPLACE_ONE, 0.9},
};
static void a_one_step_estimator_keeps_its_sensitivity_and_fills_it(void **state) {
  (void)state;
  SEARCHED(onestep);
}

/* ---- what bounds the records ------------------------------------------------------------------------ */

/* Norms in quad precision: R is not to be exceeded by a rounding. */
static void a_solver_sees_rows_within_R_and_labels_within_Y(void **state) {
  (void)state;
  for (int variant = 0; variant < 8; variant++) {
    records r = records_new(200, 7, 5);
    for (int64_t i = 0; i < r.rows; i++) {
      for (int64_t j = 0; j < r.cols; j++) r.x[i * r.cols + j] *= exp((double)(i % 40) - 20);
      r.y[i] *= exp((double)(i % 11) - 5);
    }
    tct_config config = world_config("squared", "l2:lambda=0.1", "dpscd");
    config.row_norm = 0.7;
    config.label_bound = 1.3;
    config.intercept = variant & 1;
    config.rows_rule = variant & 2 ? TCT_ROWS_UNIT : TCT_ROWS_CLIP;
    if (variant & 4) config.scale = "max-abs";
    world w;
    tct_error err = {0};
    assert_int_equal(world_open(&w, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
    for (int64_t i = 0; i < r.rows; i++) {
      __float128 sum = 0, s = w.bound.view.row_scale[i];
      const double *row = (const double *)w.bound.view.x->values + i * w.bound.view.x->stride;
      for (int64_t j = 0; j < r.cols; j++) sum += (s * row[j]) * (s * row[j]);
      if (config.intercept) sum += s * s;
      assert_true(sum <= (__float128)0.7 * 0.7);
      assert_true(fabs(w.problem.y[i]) <= 1.3);
    }
    world_close(&w);
    records_free(&r);
  }
}

/* ---- what a batch may hold ---------------------------------------------------------------------------- */

/* Records along one line whose steps are all cut to +C: a batch's sum then counts it. */
static void largest_sum(void *user, const tct_event *event, double sensitivity, const double *before, double *after,
                        int64_t len) {
  (void)event, (void)sensitivity, (void)after;
  double *largest = user;
  for (int64_t j = 0; j < len; j++) *largest = fmax(*largest, fabs(before[j]));
}
static void a_batch_above_the_cap_adds_nothing(void **state) {
  (void)state;
  records r = records_new(60, 2, 6);
  for (int64_t i = 0; i < r.rows; i++) r.x[2 * i] = 1, r.x[2 * i + 1] = 0, r.y[i] = 1;
  tct_config config = world_config("logistic", "l2:lambda=10", "seqdpscd:batch=6,cap=4,clip=0.001,epochs=20");
  world w;
  tct_error err = {0};
  double largest = 0;
  config.epsilon = 50; /* little noise: margins stay where steps are cut */
  assert_int_equal(world_open(&w, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
  assert_int_equal(world_run(&w, 1, largest_sum, &largest, &err), TCT_OK);
  assert_true(largest <= 4 * 0.001);
  assert_true(largest > 3 * 0.001 * (1 - 1e-9)); /* full batches are used */
  world_close(&w);
  records_free(&r);
}

/* ---- what else a model may depend on --------------------------------------------------------------------- */

/* One run writes the tape, another, with other coins, is forced to it: only releases may reach the model, so batch
 * sizes and unreleased noise may not. */
static void releases_alone_make_the_model_whatever_the_coins(void **state) {
  (void)state;
  static const char *const solvers[] = {"dpscd:batch=6,clip=0.1,epochs=3",
                                        "dpscd:batch=6,clip=0.1,epochs=3,state=paper",
                                        "seqdpscd:batch=4,clip=0.1,epochs=3", "dpsgd:batch=6,clip=0.1,epochs=3"};
  records r = records_new(40, P, 8);
  for (int i = 0; i < 4; i++) {
    world w;
    tct_error err = {0};
    tape t = {.claim = 1};
    tct_config config = world_config("logistic", "l2:lambda=0.1", solvers[i]);
    assert_int_equal(world_open(&w, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
    assert_int_equal(world_run(&w, 1, tape_probe, &t, &err), TCT_OK);
    double *first = tape_copy(w.w, P);
    t.replay = 1;
    assert_int_equal(world_run(&w, 2, tape_probe, &t, &err), TCT_OK);
    assert_int_equal(t.mismatches, 0);
    assert_true(t.worst > 0); /* the coins were others */
    if (memcmp(first, w.w, P * sizeof *first)) fail_msg("%s: its coins reach the model", solvers[i]);
    free(first);
    tape_free(&t);
    world_close(&w);
  }
  records_free(&r);
}

/* Where every release is forced to 0, margins stay 0 and clean duals come to rest: the last sums vanish.  Duals under
 * noise never rest. */
typedef struct rest {
  int64_t at;
  double late; /* largest sum after release 200 */
} rest;
static void forced_to_zero(void *user, const tct_event *event, double sensitivity, const double *before, double *after,
                           int64_t len) {
  (void)event;
  rest *seen = user;
  seen->at++;
  for (int64_t j = 0; j < len; j++) {
    if (seen->at > 200) seen->late = fmax(seen->late, fabs(before[j]) / sensitivity);
    after[j] = 0;
  }
}
static void duals_that_carry_other_records_are_noised_and_those_of_dpscd_are_not(void **state) {
  (void)state;
  static const char *const solvers[] = {"dpscd:batch=6,clip=0.1,epochs=120",
                                        "dpscd:batch=6,clip=0.1,epochs=120,state=paper",
                                        "seqdpscd:batch=4,clip=0.1,epochs=80"};
  records r = records_new(12, P, 8);
  for (int i = 0; i < 3; i++) {
    world w;
    tct_error err = {0};
    rest seen = {0};
    tct_config config = world_config("logistic", "l2:lambda=10", solvers[i]);
    assert_int_equal(world_open(&w, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
    assert_int_equal(world_run(&w, 1, forced_to_zero, &seen, &err), TCT_OK);
    assert_true(seen.at > 220);
    if ((seen.late > 1e-6) != (i > 0)) fail_msg("%s: duals are %s", solvers[i], i ? "clean" : "noised");
    world_close(&w);
  }
  records_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dpscd_keeps_its_reach_and_fills_it),
      cmocka_unit_test(the_paper_variant_of_dpscd_keeps_its_reach),
      cmocka_unit_test(seqdpscd_keeps_its_reach),
      cmocka_unit_test(primaldpscd_keeps_its_reach),
      cmocka_unit_test(dpsgd_keeps_its_reach_and_fills_it),
      cmocka_unit_test(gradient_descents_keep_their_reach_and_fill_it),
      cmocka_unit_test(sums_of_products_keep_their_reach_and_fill_it),
      cmocka_unit_test(a_released_metric_and_what_is_clipped_in_it_keep_their_reach_and_fill_it),
      cmocka_unit_test(a_one_step_estimator_keeps_its_sensitivity_and_fills_it),
      cmocka_unit_test(a_solver_sees_rows_within_R_and_labels_within_Y),
      cmocka_unit_test(a_batch_above_the_cap_adds_nothing),
      cmocka_unit_test(releases_alone_make_the_model_whatever_the_coins),
      cmocka_unit_test(duals_that_carry_other_records_are_noised_and_those_of_dpscd_are_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
