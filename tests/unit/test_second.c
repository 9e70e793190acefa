/* test_second.c - the second opinion of `verify` agrees with values that other programs computed. */
#include "account/account.h"
#include "second/cross_check.h"
#include "study/study.h"
#include "tacit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static tct_second opinion(const char *const *specs, tct_neighbours neighbours, double delta) {
  tct_events events = {0};
  tct_error err = {0};
  tct_second out;
  for (; *specs; specs++) {
    tct_event event;
    assert_int_equal(tct_event_parse(*specs, &event, NULL, &err), TCT_OK);
    assert_int_equal(tct_events_add(&events, event, &err), TCT_OK);
  }
  tct_second_opinion(&events, neighbours, delta, &out);
  tct_events_free(&events);
  return out;
}

#define EVENTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Values at high precision (mpmath) of the Gaussian curve. */
static void gaussian_steps_are_exact(void **state) {
  (void)state;
  static const struct {
    const char *spec;
    tct_neighbours neighbours;
    double delta, epsilon;
  } rows[] = {
      {"gaussian:noise=0.5", TCT_ADD_REMOVE, 1e-8, 12.749246399635696841},
      {"gaussian:noise=1,count=10", TCT_ADD_REMOVE, 1e-3, 14.079350588903318017},
      {"gaussian:noise=4", TCT_ADD_REMOVE, 1e-5, 0.92634150399822943948},
      {"gaussian:noise=10,count=1000", TCT_ADD_REMOVE, 1e-10, 24.569659039830499254},
      {"gaussian:noise=4,count=1000", TCT_REPLACE_ONE, 1e-5, 191.54920143271122859},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tct_second s = opinion(EVENTS(rows[i].spec), rows[i].neighbours, rows[i].delta);
    assert_true(s.exact);
    assert_true(fabs(s.upper / rows[i].epsilon - 1) < 1e-9);
    assert_true(fabs(s.lower / rows[i].epsilon - 1) < 1e-9);
  }
}

/* truth: a proven lower bound of the true epsilon (PLD). renyi: RDP over a fixed list of orders, so that the search
 * over all orders may be lower, and by no more than a few per mille higher. */
static void other_steps_lie_between_the_truth_and_the_accounting_of_fixed_orders(void **state) {
  (void)state;
  static const struct {
    const char *spec[3];
    double delta, truth, renyi;
  } rows[] = {
      {{"sampled_gaussian:noise=4,rate=0.001,count=1000"}, 1e-3, 0.0063120203984, 0.0125058961656},
      {{"sampled_gaussian:noise=1.5,rate=0.05,count=1000"}, 1e-8, 7.38230971459, 7.82695106056},
      {{"sampled_gaussian:noise=1,rate=0.5,count=1000"}, 1e-8, 245.092418232, 353.686543085},
      {{"laplace:noise=5,count=1000"}, 1e-5, 43.8636209439, 46.2699090283},
      {{"laplace:noise=10,count=1000"}, 1e-10, 23.9444238952, 24.872315543},
      {{"zcdp:rho=0.1"}, 1e-8, 0, 2.53986305972},
      {{"pure:epsilon=0.5,count=1000"}, 1e-5, 186.120631763, 192.781139492},
      {{"pure:epsilon=0.1,count=100"}, 1e-5, 4.30679137252, 4.61535761527},
      {{"gaussian:noise=20,count=50", "laplace:noise=20,count=50"}, 1e-3, 1.34148743519, 1.53030276302},
      {{"gaussian:noise=10,count=100", "laplace:noise=50,count=10", "sampled_gaussian:noise=1,rate=0.01,count=1000"},
       1e-10,
       7.24361875772,
       7.57961258971},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *list[4] = {rows[i].spec[0], rows[i].spec[1], rows[i].spec[2], NULL};
    tct_second s = opinion(list, TCT_ADD_REMOVE, rows[i].delta);
    assert_true(s.upper >= rows[i].truth);
    assert_true(s.upper <= rows[i].renyi * (1 + 1e-6));
    assert_true(s.lower <= s.upper);
  }
}

static void a_step_of_its_own_bounds_a_list_from_below(void **state) {
  (void)state;
  tct_second one = opinion(EVENTS("sampled_gaussian:noise=0.5,rate=0.2"), TCT_ADD_REMOVE, 1e-6);
  tct_second two = opinion(EVENTS("sampled_gaussian:noise=0.5,rate=0.2,count=2"), TCT_ADD_REMOVE, 1e-6);
  assert_true(one.lower > 1); /* a fifth of the records with little noise hides little */
  assert_true(two.upper >= one.lower);
}

/* truth: a proven lower bound of the true epsilon (pld).  Without sampling a replaced term moves the Gaussian by two
 * sensitivities; sampling shows no more. */
static void a_sampled_step_of_which_a_record_is_replaced_lies_between_the_truth_and_the_whole_one(void **state) {
  (void)state;
  static const struct {
    const char *sampled, *whole;
    double truth, looser;
  } rows[] = {
      {"sampled_gaussian:noise=11.5,rate=0.2", "gaussian:noise=11.5", 0.12932760756, 1.1},
      {"sampled_gaussian:noise=1.1,rate=0.02,count=50", "gaussian:noise=1.1,count=50", 1.3729527767, 1.29},
      {"sampled_gaussian:noise=4,rate=0.001,count=1000", "gaussian:noise=4,count=1000", 0.055141304575, 1.12},
      {"sampled_gaussian:noise=2,rate=0.3,count=20", "gaussian:noise=2,count=20", 6.7717923692, 1.08},
      {"sampled_gaussian:noise=1,rate=0.5,count=1000", "gaussian:noise=1,count=1000", 538.00023333, 1.03},
      {"sampled_gaussian:noise=2,rate=1,count=3", "gaussian:noise=2,count=3", 9.2542658, 1.07},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tct_second s = opinion(EVENTS(rows[i].sampled), TCT_REPLACE_ONE, 1e-6);
    double whole = opinion(EVENTS(rows[i].whole), TCT_REPLACE_ONE, 1e-6).upper;
    if (!(s.upper >= rows[i].truth && s.upper <= rows[i].truth * rows[i].looser &&
          s.lower <= rows[i].truth * (1 + 1e-9)))
      fail_msg("%s: %.11g, %.11g, not around %.11g", rows[i].sampled, s.lower, s.upper, rows[i].truth);
    assert_true(strstr(rows[i].sampled, "rate=1,") || s.upper < whole);
  }
}

/* The pair's hockey-stick curve in closed form (account/single.c), by another integral: one step is bounded exactly. */
static void a_single_sampled_step_of_which_a_record_is_replaced_is_bounded_from_below_by_its_own_curve(void **state) {
  (void)state;
  static const struct {
    const char *spec;
    double epsilon;
  } rows[] = {{"sampled_gaussian:noise=0.5,rate=0.2", 8.9230368995},
              {"sampled_gaussian:noise=1.1,rate=0.02", 0.54213984016},
              {"sampled_gaussian:noise=11.5,rate=0.2", 0.12932760756},
              {"sampled_gaussian:noise=11.5,rate=0.2,count=9", 0.12932760756}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double lower = opinion(EVENTS(rows[i].spec), TCT_REPLACE_ONE, 1e-6).lower;
    if (!(fabs(lower / rows[i].epsilon - 1) < 1e-9)) fail_msg("%s: %.12g", rows[i].spec, lower);
  }
}

static void what_it_cannot_prove_is_infinite(void **state) {
  (void)state;
  assert_true(isinf(opinion(EVENTS("gaussian:noise=0"), TCT_ADD_REMOVE, 1e-6).upper));
  assert_true(isinf(opinion(EVENTS("approx:epsilon=0.1,delta=1e-5"), TCT_ADD_REMOVE, 1e-6).upper));
  /* Noise so small that densities, losses and orders leave the range of a double. */
  static const char *const lists[] = {"gaussian:noise=1e-3",
                                      "gaussian:noise=1e-9",
                                      "gaussian:noise=1e-160",
                                      "gaussian:noise=1e-300",
                                      "sampled_gaussian:noise=1e-3,rate=0.5",
                                      "sampled_gaussian:noise=1e-160,rate=0.5",
                                      "sampled_gaussian:noise=1e-300,rate=1e-300",
                                      "objpert:noise=1e-160,shift=0.1"};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    for (int relation = 0; relation < 2; relation++) {
      double upper = opinion(EVENTS(lists[i]), (tct_neighbours)relation, 1e-6).upper;
      if (!(upper > 1e5)) fail_msg("%s: %g", lists[i], upper);
    }
}

/* Exact, and so the same as the accountants' own: Renyi divergences would prove 8 % more here, and a sound model of one
 * step would be refused.  Of two steps none is exact. */
static void one_sampled_step_costs_what_its_densities_say(void **state) {
  (void)state;
  static const double rates[] = {0.01, 0.3, 0.5, 0.9}, noises[] = {0.6, 1.0102254, 4}, deltas[] = {1e-6, 1e-30, 1e-100};
  for (int k = 0; k < 72; k++) {
    tct_neighbours relation = (tct_neighbours)(k % 2);
    tct_event step = tct_event_sampled_gaussian(noises[k / 8 % 3], rates[k / 2 % 4], 1);
    double delta = deltas[k / 24];
    tct_events list = {&step, 1, 1};
    tct_bracket basic = {0, INFINITY};
    tct_second one, two;
    const tct_accountant *accountant = tct_accountant_find("basic");
    assert_int_equal(accountant->epsilon(&list, relation, delta, TCT_PRECISION, &basic, NULL), TCT_OK);
    tct_second_opinion(&list, relation, delta, &one);
    if (!(fabs(one.upper - basic.upper) <= 1e-6 * basic.upper) || !one.exact)
      fail_msg("noise %g, rate %g, relation %d, delta %g: %.9g for %.9g", step.noise, step.rate, relation, delta,
               one.upper, basic.upper);
    step.count = 2;
    tct_second_opinion(&list, relation, delta, &two);
    assert_false(two.exact);
    assert_true(two.upper > one.upper);
  }
}

/* Recorded: an upper bound that falls without a reason is a second opinion that has begun to agree.  TACIT_PRINT=1
 * prints them anew. */
static void opinions_are_to_the_digit_those_that_are_recorded(void **state) {
  (void)state;
  static const struct {
    const char *spec[3];
    double delta, upper[2], lower[2]; /* by relation */
  } rows[] = {
      {{"objpert:noise=2,shift=0.1"}, 1e-5, {2.0930914061, 4.4771780995}, {0, 0}},
      {{"objpert:noise=3,shift=0.2", "gaussian:noise=5"},
       1e-6,
       {1.9114859032, 3.8776144713},
       {0.8341175486, 1.7656481703}},
      {{"objpert:noise=3,shift=0.2,count=2"}, 1e-6, {2.6685963445, INFINITY}, {0, 0}},
      {{"exponential:epsilon=0.3"}, 1e-4, {0.28979201404, 0.28979201404}, {0, 0}},
      {{"exponential:epsilon=0.05,count=50"}, 1e-6, {0.77836278562, 0.77836278562}, {0, 0}},
      {{"sampled_gaussian:noise=1.1,rate=0.02,count=50"},
       1e-6,
       {1.5562634655, 1.760421627},
       {0.52214955029, 0.54213984013}},
      {{"laplace:noise=8,count=10", "zcdp:rho=0.01"}, 1e-6, {1.6171223315, 2.8649934096}, {0, 0}},
      {{"approx:epsilon=0.1,delta=1e-8,count=20", "gaussian:noise=9"},
       1e-6,
       {1.9842380053, 2.2544163778},
       {0.44419160573, 0.93424582686}},
      {{"pure:epsilon=0.2,count=3"}, 1e-6, {0.59999398402, 0.59999398402}, {0, 0}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *list[4] = {rows[i].spec[0], rows[i].spec[1], rows[i].spec[2], NULL};
    for (int relation = 0; relation < 2; relation++) {
      tct_second s = opinion(list, (tct_neighbours)relation, rows[i].delta);
      double upper = rows[i].upper[relation], lower = rows[i].lower[relation];
      if (getenv("TACIT_PRINT")) {
        printf("row %zu %d: %.11g %.11g\n", i, relation, s.upper, s.lower);
        continue;
      }
      if (!(s.upper == upper || (isfinite(upper) && fabs(s.upper - upper) <= 1e-8 * upper)) ||
          !(fabs(s.lower - lower) <= 1e-8 * lower))
        fail_msg("row %zu, relation %d: %.11g, %.11g are not the recorded ones", i, relation, s.upper, s.lower);
    }
  }
}

/* The divergence of two points at the ends of the interval, one at `t`, by its definition. */
static long double two_points(long double t, long double epsilon, long double a) {
  long double q = -expm1l(t - epsilon) / (expl(t) * -expm1l(-epsilon));
  return logl(q * expl(a * t) + (1 - q) * expl(a * (t - epsilon))) / (a - 1);
}

/* A claim a few percent below what pld proves is not possible, though pld is said to be tight. */
static void many_choices_cost_no_less_than_fair_ones(void **state) {
  (void)state;
  static const int counts[] = {100, 1000, 4000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    tct_event event = tct_event_exponential(1 / sqrt(counts[i]), counts[i]);
    tct_events list = {&event, 1, 1};
    tct_cost cost;
    assert_int_equal(tct_account_epsilon(&list, TCT_ADD_REMOVE, 1e-6, 1e-3, &cost, NULL), TCT_OK);
    assert_true(tct_second_of_claim(&list, TCT_ADD_REMOVE, cost.epsilon, 1e-6, true).possible);
    assert_false(tct_second_of_claim(&list, TCT_ADD_REMOVE, 0.97 * cost.epsilon, 1e-6, true).possible);
  }
}

/* The worst place of the interval, by thirds: the divergence rises and falls once. */
static void an_exponential_choice_costs_no_less_than_its_worst_two_points(void **state) {
  (void)state;
  static const double epsilons[] = {0.5, 2, 8, 40, 100}, orders[] = {1.01, 1.1, 1.5, 4, 20, 100};
  int compared = 0;
  for (int e = 0; e < 5; e++)
    for (int o = 0; o < 6; o++) {
      double epsilon = epsilons[e], a = orders[o];
      tct_events one = {0};
      assert_int_equal(tct_events_add(&one, tct_event_exponential(epsilon, 1), NULL), TCT_OK);
      double got = tct_second_renyi(&one, TCT_ADD_REMOVE, a);
      tct_events_free(&one);
      long double low = 0, high = epsilon;
      for (int k = 0; k < 200; k++) {
        long double left = low + (high - low) / 3, right = high - (high - low) / 3;
        if (two_points(left, epsilon, a) < two_points(right, epsilon, a))
          low = left;
        else
          high = right;
      }
      long double worst = two_points((low + high) / 2, epsilon, a);
      if (worst > fmin(a * epsilon * epsilon / 8, epsilon)) continue; /* a bound that is smaller is proved */
      compared++;
      assert_true(got >= (double)worst && got <= (double)worst * (1 + 1e-8));
    }
  assert_true(compared >= 12);
}

static tct_second_claim claim_of(const char *const *specs, int relation, double epsilon, double delta, bool tight) {
  tct_events events = {0};
  for (; *specs; specs++) {
    tct_event event;
    assert_int_equal(tct_event_parse(*specs, &event, NULL, NULL), TCT_OK);
    assert_int_equal(tct_events_add(&events, event, NULL), TCT_OK);
  }
  tct_second_claim said = tct_second_of_claim(&events, (tct_neighbours)relation, epsilon, delta, tight);
  tct_events_free(&events);
  return said;
}

static void a_claim_holds_from_the_figure_on_and_is_possible_from_the_lower_bound_on(void **state) {
  (void)state;
  static const char *const lists[][4] = {{"gaussian:noise=4,count=3"},
                                         {"gaussian:noise=0.001"},
                                         {"gaussian:noise=2", "approx:epsilon=0,delta=1e-7"},
                                         {"sampled_gaussian:noise=1,rate=0.1"},
                                         {"sampled_gaussian:noise=1.1,rate=0.02,count=50"},
                                         {"objpert:noise=3,shift=0.2", "gaussian:noise=5"},
                                         {"objpert:noise=2,shift=0.1"},
                                         {"exponential:epsilon=0.0047375"},
                                         {"exponential:epsilon=0.05,count=50"},
                                         {"pure:epsilon=0.2,count=3"},
                                         {"laplace:noise=8,count=10", "zcdp:rho=0.01"}};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    for (int relation = 0; relation < 2; relation++) {
      tct_second s = opinion(lists[i], (tct_neighbours)relation, 1e-6);
      bool above = claim_of(lists[i], relation, s.upper * (1 + 1e-6), 1e-6, false).holds,
           below = claim_of(lists[i], relation, s.upper * (1 - 1e-4), 1e-6, false).holds,
           looser = claim_of(lists[i], relation, s.upper * (1 - 1e-4), 1e-6, true).holds;
      if (!above || below || looser == s.exact)

        fail_msg("%s, %d: %d %d %d", lists[i][0], relation, above, below, looser);
      if (!(s.lower > 0)) continue;
      assert_true(claim_of(lists[i], relation, s.lower * (1 + 1e-6), 1e-6, true).possible);
      assert_false(claim_of(lists[i], relation, s.lower * (1 - 1e-4), 1e-6, true).possible);
    }
}

/* A choice of little epsilon needs orders far above 1e4, and one of little delta a curve. */
static void small_choices_are_planned_and_what_no_second_method_proves_is_refused(void **state) {
  (void)state;
  static const struct { double epsilon, delta; } rows[] = {{0.0046, 1e-6}, {0.001, 1e-6}, {0.03, 1e-3}, {1e-7, 1e-9}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tct_config config;
    tct_error err = {0};
    tct_config_default(&config);
    config.loss = "logistic", config.penalty = "l2:lambda=0.1", config.solver = "privgene";
    config.epsilon = rows[i].epsilon, config.delta = rows[i].delta, config.row_norm = 1;
    tct_plan *plan = tct_plan_new(&config, 1000, 3, &err);
    if (!plan) fail_msg("epsilon %g: %s", rows[i].epsilon, err.text);
    tct_plan_free(plan);
  }
  tct_event step = tct_event_gaussian(4, 1);
  tct_events list = {&step, 1, 1};
  tct_whole claim = {0.95, 1e-5, TCT_ADD_REMOVE, "gdp", false};
  tct_error err = {0};
  assert_int_equal(tct_price_verifiable(&list, &claim, 0, 1, &err), TCT_OK);
  claim.epsilon = 0.92;
  assert_int_equal(tct_price_verifiable(&list, &claim, 0, 1, &err), TCT_E_USAGE);
  assert_non_null(strstr(err.text, "second method"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gaussian_steps_are_exact),
      cmocka_unit_test(other_steps_lie_between_the_truth_and_the_accounting_of_fixed_orders),
      cmocka_unit_test(a_step_of_its_own_bounds_a_list_from_below),
      cmocka_unit_test(opinions_are_to_the_digit_those_that_are_recorded),
      cmocka_unit_test(many_choices_cost_no_less_than_fair_ones),
      cmocka_unit_test(an_exponential_choice_costs_no_less_than_its_worst_two_points),
      cmocka_unit_test(a_sampled_step_of_which_a_record_is_replaced_lies_between_the_truth_and_the_whole_one),
      cmocka_unit_test(a_single_sampled_step_of_which_a_record_is_replaced_is_bounded_from_below_by_its_own_curve),
      cmocka_unit_test(what_it_cannot_prove_is_infinite),
      cmocka_unit_test(a_claim_holds_from_the_figure_on_and_is_possible_from_the_lower_bound_on),
      cmocka_unit_test(small_choices_are_planned_and_what_no_second_method_proves_is_refused),
      cmocka_unit_test(one_sampled_step_costs_what_its_densities_say),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
