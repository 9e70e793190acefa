/* test_mixed.c - the filter of a ledger that takes every run never lets more through than its budget. */
#include "account/mixed.h"

#include "account/curves/normal.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t random_state = 35;
static double uniform(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (double)(random_state >> 11) * 0x1p-53;
}
static double between(double low, double high) { return low * pow(high / low, uniform()); }

static double cost_of(const tct_events *events, tct_neighbours n, double delta, double *lower) {
  tct_cost cost;
  tct_error err = {0};
  if (tct_account_epsilon(events, n, delta, 1e-3, &cost, &err) != TCT_OK) return INFINITY;
  if (lower) *lower = cost.epsilon_lower;
  return cost.epsilon;
}

/* An event that alone costs a small part of epsilon.  numerical: also kinds that only pld or rdp know. */
static tct_event draw(double epsilon, double delta, bool numerical) {
  double own = epsilon * between(0.002, 0.3), noise = 5 / own;
  int64_t count = uniform() < 0.3 ? 1 + (int64_t)(uniform() * 9) : 1;
  switch ((int)(uniform() * (delta == 0 ? 3 : numerical ? 8 : 5))) {
    case 0: return tct_event_pure(own / (double)count, count);
    case 1: return tct_event_laplace(3 / own, count);
    case 2: return tct_event_exponential(own / (double)count, count);
    case 3: return tct_event_approx(own / (double)count, delta * between(1e-4, 0.1) / (double)count, count);
    case 5: return tct_event_zcdp(own * own / 60, 1);
    case 6: return tct_event_sampled_gaussian(noise / 4, 0.05, count);
    case 7: return tct_event_objpert(noise, own / 10, 1);
    default: return tct_event_gaussian(noise, count);
  }
}

/* One run: its events and a claim that holds for them.  false: it has none. */
static bool draw_run(double epsilon, double delta, tct_neighbours n, bool numerical, tct_events *run,
                     tct_spend *claim) {
  int events = 1 + (int)(uniform() * 2.5);
  for (int i = 0; i < events; i++) assert_int_equal(tct_events_add(run, draw(epsilon, delta, numerical), NULL), TCT_OK);
  claim->delta = delta * between(1e-3, 0.3);
  tct_bracket sum; /* of the parts: quick */
  assert_int_equal(tct_accountant_basic.epsilon(run, n, claim->delta, 1e-3, &sum, NULL), TCT_OK);
  return isfinite(claim->epsilon = sum.upper);
}

static void append(tct_events *all, const tct_events *run) {
  for (int64_t k = 0; k < run->len; k++) {
    int64_t at = 0;
    while (at < all->len && !tct_event_same(&all->at[at], &run->at[k])) at++;
    if (at < all->len)
      all->at[at].count += run->at[k].count;
    else
      assert_int_equal(tct_events_add(all, run->at[k], NULL), TCT_OK);
  }
}

/* TACIT_LISTS=2000 takes some minutes. */
static void no_list_that_is_permitted_costs_more_than_the_budget(void **state) {
  (void)state;
  static const double deltas[] = {1e-6, 1e-5, 1e-9, 1e-100, 0};
  int lists = getenv("TACIT_LISTS") ? atoi(getenv("TACIT_LISTS")) : 60, runs = 0;
  double nearest = 0;
  for (int i = 0; i < lists; i++) {
    bool numerical = i % 50 == 0;
    tct_neighbours n = (tct_neighbours)(uniform() < 0.5);
    double epsilon = between(0.05, 8), delta = deltas[i % 5];
    tct_events all = {0};
    tct_mixed filter;
    tct_mixed_init(&filter, epsilon, delta);
    for (int refused = 0, tried = 0; refused < 4 && tried < 200; tried++) {
      tct_events run = {0};
      tct_spend claim, form[TCT_FORMS];
      if (draw_run(epsilon, delta, n, numerical, &run, &claim)) {
        int again = uniform() < 0.5 ? 1 : 1 + (int)(uniform() * 20);
        tct_mixed_forms(&run, n, claim.epsilon, claim.delta, form);
        for (; again > 0 && refused < 4; again--) {
          if (tct_mixed_spend(&filter, form) == TCT_OK)
            append(&all, &run), runs++;
          else
            refused++, again = 0;
        }
      }
      tct_events_free(&run);
    }
    double lower = 0, upper = cost_of(&all, n, delta, &lower), said, at;
    tct_mixed_claim(&filter, &said, &at);
    if (lower > epsilon * (1 + 1e-9)) fail_msg("list %d: costs at least %.9g of %.9g", i, lower, epsilon);
    if (!numerical && upper > epsilon * (1 + 1e-9)) fail_msg("list %d: costs %.9g of %.9g", i, upper, epsilon);
    assert_true(said <= epsilon * (1 + 1e-9) && at <= delta * (1 + 1e-9));
    nearest = fmax(nearest, upper / epsilon);
    tct_events_free(&all);
  }
  print_message("%d lists of %d runs: the dearest costs %.4f of its budget\n", lists, runs, nearest);
  assert_true(nearest > 0.9); /* the filter is no wall */
}

/* What each step may cost at the same epsilon, and delta beside all of them. */
static void the_steps_share_delta(void **state) {
  (void)state;
  static const double epsilons[] = {0.1, 1, 8}, deltas[] = {1e-3, 1e-6, 1e-100};
  for (int i = 0; i < 9; i++)
    for (int spent = 0; spent < 2; spent++) {
      double epsilon = epsilons[i % 3], delta = deltas[i / 3], mu, shares = 0;
      tct_spend plain = {0, 0.3 * epsilon, 0.2 * delta}, gaussian = {1e-12 * epsilon * epsilon, 0, 0};
      tct_spend form[TCT_FORMS] = {plain, plain, plain}, next[TCT_FORMS] = {gaussian, gaussian, gaussian};
      tct_mixed f;
      tct_mixed_init(&f, epsilon, delta);
      if (spent) assert_int_equal(tct_mixed_spend(&f, form), TCT_OK);
      assert_int_equal(tct_mixed_spend(&f, next), TCT_OK);
      for (int k = 0; k < TCT_STEPS; k++) {
        if (!(f.step_mu2[k] > 0)) continue;
        mu = sqrt(f.step_mu2[k]);
        shares += exp(tct_gaussian_log_delta(mu, epsilon - (double)f.step_epsilon[k], NULL));
      }
      shares += (double)f.delta_most;
      assert_true(shares <= delta * (1 + 1e-9) && shares >= 0.99 * delta);
    }
}

static int64_t equal_runs(tct_event event, tct_neighbours n, double own_epsilon, double own_delta, double epsilon,
                          double delta) {
  tct_events run = {&event, 1, 1};
  tct_spend form[TCT_FORMS];
  tct_mixed f;
  tct_mixed_init(&f, epsilon, delta);
  tct_mixed_forms(&run, n, own_epsilon, own_delta, form);
  int next = 0;
  int64_t all = tct_mixed_times(&f, form, &next), passed = 0;
  if (all > 10000) return all;
  for (; tct_mixed_spend(&f, form) == TCT_OK; passed++)
    assert_true(tct_mixed_times(&f, form, &next) >= all - passed - 1); /* it says no more than fit */
  assert_true(passed >= all && passed <= all + all / 10);
  return all;
}

static void as_many_equal_runs_fit_as_are_said_to(void **state) {
  (void)state;
  for (int n = 0; n < 2; n++) { /* Gaussian runs of (.1, 1e-7) into (1, 1e-6): the sum of epsilons lets 10 in */
    double noise = 0;
    tct_target own = {(tct_neighbours)n, 0.1, 1e-7};
    assert_int_equal(tct_calibrate_noise(1, 1, &own, &noise, NULL, NULL), TCT_OK);
    assert_int_equal(equal_runs(tct_event_gaussian(noise, 1), own.neighbours, 0.1, 1e-7, 1, 1e-6), 85);
  }
  assert_int_equal(equal_runs(tct_event_pure(0.1, 1), TCT_ADD_REMOVE, 0.1, 0, 1, 1e-6), 10);
  assert_int_equal(equal_runs(tct_event_pure(0.1, 1), TCT_ADD_REMOVE, 0.1, 0, 1, 0), 10);
  assert_int_equal(equal_runs(tct_event_approx(0.1, 1e-7, 1), TCT_ADD_REMOVE, 0.1, 1e-7, 1, 1e-6), 10);
  assert_int_equal(equal_runs(tct_event_sampled_gaussian(30, 0.1, 1), TCT_ADD_REMOVE, 0.1, 1e-7, 1, 1e-6), 10);
  assert_int_equal(equal_runs(tct_event_zcdp(1e-4, 1), TCT_REPLACE_ONE, 0.1, 1e-7, 1, 1e-6), 10);
  assert_int_equal(equal_runs(tct_event_laplace(1000, 1), TCT_REPLACE_ONE, 0.002, 0, 1, 1e-6), 7977);
  assert_int_equal(equal_runs(tct_event_gaussian(1e200, 1), TCT_ADD_REMOVE, 1e-9, 1e-12, 1, 1e-6), (int64_t)1 << 40);
  assert_int_equal(equal_runs(tct_event_gaussian(20, 1), TCT_ADD_REMOVE, 0.5, 0.1, 1, 0), 0); /* no delta to give */
}

static tct_spend all_forms(double mu2, double epsilon, double delta, tct_spend form[TCT_FORMS]) {
  tct_spend own = {mu2, epsilon, delta};
  for (int i = 0; i < TCT_FORMS; i++) form[i] = own;
  return own;
}

/* Each of these fits by itself, and a sum in doubles that are rounded would stay where it is. */
static void what_is_small_beside_the_sum_is_not_lost(void **state) {
  (void)state;
  tct_spend form[TCT_FORMS];
  int passed = 0;
  tct_mixed f;
  tct_mixed_init(&f, 1, 1e-6);
  all_forms(0, 1, 0, form);
  assert_int_equal(tct_mixed_spend(&f, form), TCT_OK);
  all_forms(0, 5e-20, 0, form);
  while (passed < 30000 && tct_mixed_spend(&f, form) == TCT_OK) passed++;
  assert_true(passed < 5000);
}

/* Shares of a subnormal delta or epsilon, each rounded, could add up to more than the whole. */
static void a_subnormal_budget_has_no_shares(void **state) {
  (void)state;
  tct_spend gaussian[TCT_FORMS], none[TCT_FORMS];
  all_forms(DBL_MIN, 0, 0, gaussian);
  all_forms(0, 0, 0x1p-1070, none);
  for (int i = 1; i < 40; i++) {
    tct_mixed f;
    tct_mixed_init(&f, 1, i * 0x1p-1074);
    assert_int_equal(tct_mixed_spend(&f, gaussian), TCT_E_BUDGET);
    tct_mixed_init(&f, i * 0x1p-1074, 1e-6);
    assert_int_equal(tct_mixed_spend(&f, gaussian), TCT_E_BUDGET);
  }
  tct_events nothing = {0};
  tct_mixed_forms(&nothing, TCT_ADD_REMOVE, 0.5, 1e-7, none);
  assert_true(none[0].mu2 == INFINITY && none[1].mu2 == INFINITY && none[2].epsilon == 0.5);
}

/* 1/(1 + exp(-x)) <= P[N < x sqrt(pi/8)]: then a pure step is sqrt(pi/2) epsilon-GDP (mixed.c). */
static void a_pure_step_is_gaussian_private_at_the_mu_that_it_is_charged(void **state) {
  (void)state;
  for (double epsilon = 1e-6; epsilon < 30; epsilon *= 1.01) {
    tct_event event = tct_event_pure(epsilon, 1);
    tct_spend form[TCT_FORMS];
    tct_mixed_forms(&(tct_events){&event, 1, 1}, TCT_ADD_REMOVE, epsilon, 0, form);
    double pure = tanh(epsilon / 2), gaussian = erf(sqrt(form[1].mu2 / 8)); /* total variation */
    assert_true(pure <= gaussian * (1 + 1e-15) && (epsilon > 0.1 || gaussian < 1.01 * pure));
  }
}

static void what_was_begun_keeps_both_kinds_of_budget(void **state) {
  (void)state;
  tct_event gaussian = tct_event_gaussian(41, 1), approx = tct_event_approx(0.1, 1e-7, 1),
            pure = tct_event_pure(0.1, 1);
  tct_spend form[3][TCT_FORMS];
  tct_mixed f, kept;
  int next = 0;
  tct_mixed_forms(&(tct_events){&gaussian, 1, 1}, TCT_ADD_REMOVE, 0.12, 1e-7, form[0]);
  tct_mixed_forms(&(tct_events){&approx, 1, 1}, TCT_ADD_REMOVE, 0.1, 1e-7, form[1]);
  tct_mixed_forms(&(tct_events){&pure, 1, 1}, TCT_ADD_REMOVE, 0.1, 0, form[2]);
  tct_mixed_init(&f, 1, 1e-6);
  for (int i = 0; i < 5; i++) assert_int_equal(tct_mixed_spend(&f, form[0]), TCT_OK);
  kept = f;
  assert_int_equal(tct_mixed_times(&f, form[1], &next), 6); /* delta is the end of them */
  assert_int_equal(tct_mixed_times(&f, form[2], &next), 7); /* and here epsilon is */
  tct_spend none[TCT_FORMS] = {{NAN, 0, 0}, {0, NAN, 0}, {0, 0, NAN}},
            below[TCT_FORMS] = {{-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
  assert_int_equal(tct_mixed_spend(&f, none), TCT_E_BUDGET);
  assert_int_equal(tct_mixed_spend(&f, below), TCT_E_BUDGET);
  assert_memory_equal(&f, &kept, sizeof f); /* a refusal charges nothing */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_list_that_is_permitted_costs_more_than_the_budget),
      cmocka_unit_test(the_steps_share_delta),
      cmocka_unit_test(as_many_equal_runs_fit_as_are_said_to),
      cmocka_unit_test(what_is_small_beside_the_sum_is_not_lost),
      cmocka_unit_test(a_subnormal_budget_has_no_shares),
      cmocka_unit_test(a_pure_step_is_gaussian_private_at_the_mu_that_it_is_charged),
      cmocka_unit_test(what_was_begun_keeps_both_kinds_of_budget),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
