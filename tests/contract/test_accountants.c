/* test_accountants.c - laws that every accountant of the registry obeys, on given and on random lists. */
#include "account/account.h"
#include "account/curves/compare.h"
#include "account/curves/normal.h"
#include "account/curves/renyi.h"
#include "account/pure.h"
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double precision = 1e-3;

static tct_events list_of(const tct_event *event, int count) {
  tct_events events = {0};
  for (int i = 0; i < count; i++) assert_int_equal(tct_events_add(&events, event[i], NULL), TCT_OK);
  return events;
}

static bool applies(const tct_accountant *a, const tct_events *events, tct_neighbours neighbours) {
  char why[128] = "";
  bool yes = a->applies(events, neighbours, why, sizeof why);
  if (!yes) assert_true(why[0] != 0); /* a refusal says why */
  return yes;
}

static tct_bracket epsilon_of(const tct_accountant *a, const tct_events *events, tct_neighbours n, double delta) {
  tct_bracket b;
  tct_error err = {0};
  if (a->epsilon(events, n, delta, precision, &b, &err)) fail_msg("%s: %s", a->name, err.text);
  if (!(b.lower >= 0 && b.lower <= b.upper)) fail_msg("%s: bracket [%g, %g]", a->name, b.lower, b.upper);
  return b;
}

/* A kind that is not tuned below: noise falls with x, all other parameters rise. */
static tct_event plain_event(tct_event_kind kind, double x, int64_t count) {
  tct_event event = {.kind = kind, .count = count};
  for (const tct_event_key *k = tct_event_kinds[kind].key; k->key; k++)
    *tct_event_parameter(&event, k->key) = strcmp(k->key, "noise") ? 0.01 * (1 + x) : 6 - 2 * x;
  return event;
}

/* One event of each kind, tuned by x in (0, 1): larger x must never cost less. */
static tct_event event_of(tct_event_kind kind, double x, int64_t count) {
  switch (kind) {
    case TCT_EV_GAUSSIAN: return tct_event_gaussian(8 - 5 * x, count);
    case TCT_EV_SAMPLED_GAUSSIAN: return tct_event_sampled_gaussian(4 - 2 * x, 0.02 + 0.1 * x, count);
    case TCT_EV_LAPLACE: return tct_event_laplace(9 - 5 * x, count);
    case TCT_EV_EXPONENTIAL: return tct_event_exponential(0.1 + 0.3 * x, count);
    case TCT_EV_PURE: return tct_event_pure(0.05 + 0.2 * x, count);
    case TCT_EV_APPROX: return tct_event_approx(0.05 + 0.2 * x, 1e-8 * (1 + x), count);
    case TCT_EV_ZCDP: return tct_event_zcdp(0.01 + 0.02 * x, count);
    default: return plain_event(kind, x, count);
  }
}

/* Numerical accountants may differ by their bracket; the others by rounding. */
static void expect_no_less(const tct_accountant *a, tct_bracket more, tct_bracket less) {
  if (!(more.upper >= less.upper * (1 - (a->tight ? precision : 1e-9)) - 1e-12))
    fail_msg("%s: %.12g after %.12g", a->name, more.upper, less.upper);
  if (!(more.upper >= less.lower * (1 - 1e-9))) fail_msg("%s: %.12g below a lower bound", a->name, more.upper);
}

static void every_parameter_is_monotone(void **state) {
  (void)state;
  for (int i = 0; i < tct_accountant_count; i++)
    for (int kind = 0; kind < TCT_EV_KINDS; kind++)
      for (int n = 0; n < 2; n++) {
        tct_bracket last = {0, 0};
        for (int step = 0; step <= 4; step++) {
          tct_event event = event_of((tct_event_kind)kind, 0.2 * step, 5 + step);
          tct_events events = list_of(&event, 1);
          if (applies(tct_accountants[i], &events, (tct_neighbours)n)) {
            tct_bracket b = epsilon_of(tct_accountants[i], &events, (tct_neighbours)n, 1e-5);
            expect_no_less(tct_accountants[i], b, last);
            tct_bracket looser = epsilon_of(tct_accountants[i], &events, (tct_neighbours)n, 1e-4);
            expect_no_less(tct_accountants[i], b, looser);
            last = b;
          }
          tct_events_free(&events);
        }
      }
}

static void replacing_never_costs_less_than_removing(void **state) {
  (void)state;
  for (int i = 0; i < tct_accountant_count; i++)
    for (int kind = 0; kind < TCT_EV_KINDS; kind++) {
      tct_event event = event_of((tct_event_kind)kind, 0.5, 3);
      tct_events events = list_of(&event, 1);
      const tct_accountant *a = tct_accountants[i];
      if (applies(a, &events, TCT_ADD_REMOVE) && applies(a, &events, TCT_REPLACE_ONE)) {
        tct_bracket one = epsilon_of(a, &events, TCT_ADD_REMOVE, 1e-5),
                    two = epsilon_of(a, &events, TCT_REPLACE_ONE, 1e-5);
        expect_no_less(a, two, one);
        if (kind == TCT_EV_GAUSSIAN || kind == TCT_EV_LAPLACE) assert_true(two.upper > 1.5 * one.upper);
      }
      tct_events_free(&events);
    }
}

static void same_within(const tct_accountant *a, tct_bracket x, tct_bracket y) {
  double tolerance = strcmp(a->name, "pld") ? 1e-9 : precision;
  if (x.upper != y.upper && !(fabs(x.upper - y.upper) <= tolerance * x.upper))
    fail_msg("%s: %.12g and %.12g", a->name, x.upper, y.upper);
}

static void order_and_grouping_change_nothing(void **state) {
  (void)state;
  for (int i = 0; i < tct_accountant_count; i++)
    for (int first = 0; first < TCT_EV_KINDS; first++)
      for (int second = 0; second < TCT_EV_KINDS; second++) {
        tct_event a = event_of((tct_event_kind)first, 0.3, 2), b = event_of((tct_event_kind)second, 0.6, 3), half = a;
        half.count = 1;
        tct_event ab[2] = {a, b}, ba[2] = {b, a}, split[3] = {half, b, half};
        tct_events x = list_of(ab, 2), y = list_of(ba, 2), z = list_of(split, 3);
        if (applies(tct_accountants[i], &x, TCT_ADD_REMOVE)) {
          tct_bracket bx = epsilon_of(tct_accountants[i], &x, TCT_ADD_REMOVE, 1e-6);
          same_within(tct_accountants[i], bx, epsilon_of(tct_accountants[i], &y, TCT_ADD_REMOVE, 1e-6));
          same_within(tct_accountants[i], bx, epsilon_of(tct_accountants[i], &z, TCT_ADD_REMOVE, 1e-6));
        }
        tct_events_free(&x);
        tct_events_free(&y);
        tct_events_free(&z);
      }
}

static void gaussian_lists_never_cost_less_than_the_exact_curve(void **state) {
  (void)state;
  for (int i = 0; i < tct_accountant_count; i++)
    for (double noise = 0.7; noise < 100; noise *= 3)
      for (int n = 0; n < 2; n++) {
        tct_event event = tct_event_gaussian(noise, 7);
        tct_events events = list_of(&event, 1);
        const tct_accountant *a = tct_accountants[i];
        double mu = (n ? 2 : 1) * sqrt(7) / noise;
        for (double delta = 1e-2; delta > 1e-13 && applies(a, &events, (tct_neighbours)n); delta /= 1000) {
          double exact = tct_gaussian_epsilon(mu, log(delta));
          tct_bracket b = epsilon_of(a, &events, (tct_neighbours)n, delta), back;
          if (b.upper < exact) fail_msg("%s: %.17g below %.17g", a->name, b.upper, exact);
          if (b.lower > exact * (1 + 1e-12)) fail_msg("%s: lower %.17g above %.17g", a->name, b.lower, exact);
          assert_int_equal(a->delta(&events, (tct_neighbours)n, exact, precision, &back, NULL), TCT_OK);
          if (exact > 0 && !(back.upper >= delta * (1 - 1e-9) && back.lower <= delta * (1 + 1e-9)))
            fail_msg("%s: delta [%g, %g] misses %g", a->name, back.lower, back.upper, delta);
        }
        tct_events_free(&events);
      }
}

static void no_noise_costs_infinity(void **state) {
  (void)state;
  static const tct_event_kind kinds[] = {TCT_EV_GAUSSIAN, TCT_EV_SAMPLED_GAUSSIAN, TCT_EV_LAPLACE, TCT_EV_OBJPERT};
  for (int k = 0; k < 4; k++) {
    tct_event event = event_of(kinds[k], 0.5, 1);
    event.noise = 0;
    tct_events events = list_of(&event, 1);
    tct_cost cost;
    for (int n = 0; n < 2; n++) {
      assert_int_equal(tct_account_epsilon(&events, (tct_neighbours)n, 1e-5, precision, &cost, NULL), TCT_OK);
      assert_true(cost.epsilon == INFINITY);
    }
    tct_events_free(&events);
  }
}

static double cost_of(const tct_events *events, tct_neighbours n, double delta) {
  tct_cost cost;
  tct_error err = {0};
  if (tct_account_epsilon(events, n, delta, precision, &cost, &err)) fail_msg("%s", err.text);
  return cost.epsilon;
}

static void a_list_whose_parts_are_bounded_is_bounded(void **state) {
  (void)state;
  for (int first = 0; first < TCT_EV_KINDS; first++)
    for (int second = 0; second < TCT_EV_KINDS; second++)
      for (int n = 0; n < 2; n++) {
        tct_event both[2] = {event_of((tct_event_kind)first, 0.3, 2), event_of((tct_event_kind)second, 0.6, 3)};
        tct_events events = list_of(both, 2);
        assert_true(cost_of(&events, (tct_neighbours)n, 1e-6) < 100);
        tct_events_free(&events);
      }
  tct_event list[2] = {tct_event_zcdp(0.1, 1), tct_event_sampled_gaussian(1, 0.1, 10)};
  tct_events sampled = list_of(list, 2);
  tct_cost cost;
  tct_error err = {0};
  assert_int_equal(tct_account_epsilon(&sampled, TCT_ADD_REMOVE, 0, precision, &cost, &err), TCT_E_USAGE);
  assert_true(strlen(err.text) > 20);
  char why[128] = "";
  assert_false(tct_accountant_find("rdp")->applies(&sampled, TCT_REPLACE_ONE, why, sizeof why));
  assert_non_null(strstr(why, "add_remove"));
  assert_null(tct_accountant_find("no such"));
  tct_events_free(&sampled);
}

/* Where failures take all of delta, every accountant's epsilon is infinite, and so is the answer. */
static void what_has_no_bound_costs_infinity(void **state) {
  (void)state;
  for (int kind = 0; kind < TCT_EV_KINDS; kind++) {
    tct_event failing[2] = {event_of((tct_event_kind)kind, 0.5, 1), tct_event_approx(0.1, 1e-5, 1)};
    tct_events events = list_of(failing, 2);
    for (int n = 0; n < 2; n++) {
      bool pure = tct_event_has_pure(&failing[0]);
      assert_true(cost_of(&events, (tct_neighbours)n, 0.99e-5) == INFINITY);
      assert_true((cost_of(&events, (tct_neighbours)n, 1e-5) == INFINITY) == !pure); /* pure steps need no delta */
      for (int i = 0; i < tct_accountant_count; i++)
        if (applies(tct_accountants[i], &events, (tct_neighbours)n))
          assert_true(epsilon_of(tct_accountants[i], &events, (tct_neighbours)n, 0.99e-5).upper == INFINITY);
    }
    tct_events_free(&events);
  }
}

/* 10 000 steps drawn with chance 1e-9 see the record with chance 1e-5, however little noise they have. */
static void sampled_steps_cost_no_more_delta_than_the_chance_to_be_drawn(void **state) {
  (void)state;
  static const double noises[] = {0, 1e-3, 1};
  int seen = 0;
  for (int i = 0; i < 3; i++)
    for (int64_t count = 1; count <= 10000; count *= 10000)
      for (int n = 0; n < 2; n++) {
        if (!sample_turn(seen++, 5)) continue;
        tct_event step = tct_event_sampled_gaussian(noises[i], 1e-9, count);
        tct_events events = list_of(&step, 1);
        double chance = -expm1((double)count * log1p(-1e-9));
        for (double epsilon = 0; epsilon < 100; epsilon += 50) {
          tct_bracket delta;
          const tct_accountant *basic = tct_accountant_find("basic");
          assert_int_equal(basic->delta(&events, (tct_neighbours)n, epsilon, precision, &delta, NULL), TCT_OK);
          if (!(delta.upper <= chance * (1 + 1e-11))) fail_msg("noise %g: %.12g of %g", noises[i], delta.upper, chance);
        }
        assert_true(cost_of(&events, (tct_neighbours)n, chance * (1 + 1e-11)) == 0);
        tct_events_free(&events);
      }
}

/* ---- the edges ----------------------------------------------------------------------------------- */

static void expect_at_min(const char *what, const tct_event *event, int count, double delta, double truth) {
  tct_events events = list_of(event, count);
  for (int i = 0; i < tct_accountant_count; i++) {
    const tct_accountant *a = tct_accountants[i];
    if (!applies(a, &events, TCT_ADD_REMOVE)) continue;
    tct_bracket b = epsilon_of(a, &events, TCT_ADD_REMOVE, delta);
    if (b.upper < truth * (1 - 1e-9)) fail_msg("%s: %s says %.12g, the truth is %.12g", what, a->name, b.upper, truth);
  }
  tct_cost cost;
  assert_int_equal(tct_account_epsilon(&events, TCT_ADD_REMOVE, delta, precision, &cost, NULL), TCT_OK);
  assert_true(cost.epsilon >= truth * (1 - 1e-9) && isfinite(cost.epsilon) && cost.epsilon_lower <= cost.epsilon);
  tct_events_free(&events);
}

/* Settings at which forecasts lie beyond the largest loss and tilts overflow.  Truths: 60 digits (first and third), the
 * two Laplace steps alone (second). */
static void where_a_law_cannot_be_computed_nobody_says_less_than_the_truth(void **state) {
  (void)state;
  tct_event small = tct_event_sampled_gaussian(0.1, 0.01, 1), tiny = tct_event_sampled_gaussian(0.02, 1e-12, 1);
  tct_event mixed[2] = {tct_event_exponential(5.62341325, 1), tct_event_laplace(0.0592763, 2)};
  expect_at_min("sampled, noise 0.1", &small, 1, 1e-25, 144.43);
  expect_at_min("exponential and laplace", mixed, 2, 1e-16, 16.87);
  expect_at_min("sampled, noise 0.02", &tiny, 1, 1e-50, 1869.59);
}

/* Beside a pure event a sampled step is asked at negative epsilons too, where adding a record shows more than removing
 * one.  delta = p d(epsilon - e) + (1 - p) d(epsilon + e), p = 1/(1 + exp(-e)), d the curve of the pair N(0, s^2)
 * against the mixture, in closed form: d(-x) = 1 - exp(-x) + exp(-x) d'(x), d' that of the other direction. */
static void the_direction_that_adds_a_record_is_not_forgotten(void **state) {
  (void)state;
  static const struct {
    double pure, noise, rate, epsilon, delta; /* removing alone: 0.0704, 0.1211 and 0.3476 */
  } at[] = {{1, 0.3, 0.01, 0.9, 0.07440004104162122},
            {1, 0.5, 0.2, 0.9, 0.15061537094331551},
            {2, 0.4, 0.1, 1.5, 0.37448279570060689}};
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    tct_event list[] = {tct_event_pure(at[i].pure, 1), tct_event_sampled_gaussian(at[i].noise, at[i].rate, 1)};
    expect_at_min("a pure event and a sampled step", list, 2, at[i].delta, at[i].epsilon);
  }
}

static void counts_near_the_largest_integer_neither_overflow_nor_cost_little(void **state) {
  (void)state;
  int seen = 0;
  for (int kind = 0; kind < TCT_EV_KINDS; kind++)
    for (int n = 0; n < 2; n++)
      for (int64_t count = (int64_t)1 << 53;
           count > 0 && count<INT64_MAX; count = count> INT64_MAX / 32 ? -1 : 32 * count) {
        if (!sample_turn(seen++, 8)) continue;
        tct_event event = event_of((tct_event_kind)kind, 0.5, count);
        tct_events events = list_of(&event, 1);
        for (int i = 0; i < tct_accountant_count; i++)
          if (applies(tct_accountants[i], &events, (tct_neighbours)n)) {
            tct_bracket b = epsilon_of(tct_accountants[i], &events, (tct_neighbours)n, 1e-6);
            if (b.upper < 100) fail_msg("%s: kind %d costs %g", tct_accountants[i]->name, kind, b.upper);
          }
        tct_events_free(&events);
      }
}

/* Each took minutes when work was not bounded. */
static void lists_beyond_the_work_of_one_accountant_are_answered_by_another(void **state) {
  (void)state;
  tct_event many = tct_event_laplace(1e9, 1000000000000000),
            wide[2] = {tct_event_exponential(3e4, 1), tct_event_gaussian(1e-3, 1)};
  tct_events first = list_of(&many, 1), second = list_of(wide, 2);
  tct_cost cost;
  assert_int_equal(tct_account_epsilon(&first, TCT_ADD_REMOVE, 1e-6, precision, &cost, NULL), TCT_OK);
  assert_true(cost.epsilon > 0.11 && cost.epsilon < 0.13);
  assert_int_equal(tct_account_epsilon(&second, TCT_ADD_REMOVE, 1e-6, precision, &cost, NULL), TCT_OK);
  assert_true(cost.epsilon > 5e5 && isfinite(cost.epsilon));
  tct_events_free(&first);
  tct_events_free(&second);
}

static void a_comparison_never_makes_a_number_of_nan(void **state) {
  (void)state;
  assert_true(isnan(tct_max(NAN, 0)) && isnan(tct_max(0, NAN)) && isnan(tct_min(NAN, 0)) && isnan(tct_min(0, NAN)));
  assert_true(tct_upper(NAN) == INFINITY && tct_upper_mass(NAN) == 1 && tct_lower(NAN) == 0);
  assert_true(tct_max(1, 2) == 2 && tct_max(2, 1) == 2 && tct_min(1, 2) == 1 && tct_min(2, 1) == 1);
  assert_true(tct_upper(-1) == 0 && tct_lower(-1) == 0 && tct_upper_mass(3) == 1 && tct_upper_mass(0.5) == 0.5);
}

static void a_single_sampled_step_calibrates_down_to_tiny_delta(void **state) {
  (void)state;
  for (int n = 0; n < 2; n++)
    for (double delta = 1e-6; delta > 1e-290; delta *= 1e-18) {
      double noise;
      tct_cost cost;
      assert_int_equal(tct_calibrate_noise(0.01, 1, &(tct_target){(tct_neighbours)n, 8, delta}, &noise, &cost, NULL),
                       TCT_OK);
      assert_true(cost.epsilon <= 8 && cost.epsilon_lower > 8 * (1 - 1e-5));
    }
}

/* ---- calibration and filters ------------------------------------------------------------------- */

static void calibrated_noise_is_proved_and_close_to_the_smallest(void **state) {
  (void)state;
  static const double rates[] = {1, 0.3, 0.01};
  for (int k = 0; k < 6; k++) {
    double noise, rate = rates[k / 2];
    tct_neighbours n = (tct_neighbours)(k % 2);
    tct_cost cost, again;
    assert_int_equal(tct_calibrate_noise(rate, 50, &(tct_target){n, 0.8, 1e-6}, &noise, &cost, NULL), TCT_OK);
    assert_true(cost.epsilon <= 0.8);
    for (int less = 0; less < 2; less++) {
      double m = less ? noise * (1 - 1e-3) : noise;
      tct_event event = rate < 1 ? tct_event_sampled_gaussian(m, rate, 50) : tct_event_gaussian(m, 50);
      tct_events events = list_of(&event, 1);
      assert_int_equal(tct_account_epsilon(&events, n, 1e-6, 1e-4, &again, NULL), TCT_OK);
      if (less && !(again.epsilon > 0.8)) fail_msg("rate %g: 0.1 %% less noise would do", rate);
      if (!less && !(again.epsilon_lower <= 0.8)) fail_msg("rate %g: the noise does not suffice", rate);
      tct_events_free(&events);
    }
  }
}

static void a_filter_allows_what_its_accountant_proves_and_no_more(void **state) {
  (void)state;
  static const char *names[] = {"zcdp", "gdp", "rdp", "basic"};
  for (int kind = 0; kind < 4; kind++)
    for (int n = 0; n < 2; n++) {
      tct_filter filter, before;
      tct_event event = kind == TCT_FILTER_SUM ? tct_event_approx(0.1, 1e-7, 1) : tct_event_gaussian(20, 1);
      assert_int_equal(tct_filter_init(&filter, (tct_filter_kind)kind, (tct_neighbours)n, 1, 1e-5, NULL), TCT_OK);
      int64_t steps = 0;
      for (;; steps++) {
        before = filter;
        tct_status status = tct_filter_spend(&filter, &event, NULL);
        if (status != TCT_OK) {
          assert_int_equal(status, TCT_E_BUDGET);
          break;
        }
        assert_true(steps < 100000);
      }
      assert_memory_equal(&before, &filter, sizeof filter); /* a refusal charges nothing */
      assert_true(steps > 0);
      event.count = steps;
      tct_events events = list_of(&event, 1);
      tct_bracket b = epsilon_of(tct_accountant_find(names[kind]), &events, (tct_neighbours)n, 1e-5);
      assert_true(b.upper <= 1 + 1e-9);
      /* rdp: its best order has half of delta, which costs about a tenth of the steps */
      events.at[0].count = (steps + 1) * (kind == TCT_FILTER_RDP ? 115 : 100) / 100 + 1;
      b = epsilon_of(tct_accountant_find(names[kind]), &events, (tct_neighbours)n, 1e-5);
      if (kind != TCT_FILTER_SUM) assert_true(b.upper > 1);
      tct_events_free(&events);
      tct_event other = kind == TCT_FILTER_SUM ? tct_event_gaussian(9, 1) : tct_event_objpert(9, 0.1, 1);
      assert_int_equal(tct_filter_spend(&filter, &other, NULL), TCT_E_USAGE);
    }
}

static void the_orders_of_the_rdp_filter_share_delta(void **state) {
  (void)state;
  for (double delta = 1e-3; delta > 1e-12; delta /= 10) {
    tct_filter filter;
    double shares = 0;
    assert_int_equal(tct_filter_init(&filter, TCT_FILTER_RDP, TCT_ADD_REMOVE, 1, delta, NULL), TCT_OK);
    for (int i = 0; i < filter.orders; i++) { /* the delta at which this order's budget converts to epsilon 1 */
      double low = log(1e-300), high = 0;
      if (filter.order_budget[i] < 0) continue; /* permits nothing, whatever its share */
      for (int step = 0; step < 200; step++) {
        double middle = 0.5 * (low + high);
        *(tct_renyi_epsilon_at(filter.order[i], filter.order_budget[i], exp(middle)) <= 1 ? &high : &low) = middle;
      }
      shares += exp(high);
    }
    assert_true(shares <= delta * (1 + 1e-9) && shares >= 0.49 * delta); /* the best order alone has half */
  }
}

/* ---- random lists ------------------------------------------------------------------------------ */

static uint64_t next_random(uint64_t *s) {
  uint64_t z = (*s += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static double random_log(uint64_t *s, double low, double high) {
  return low * pow(high / low, (double)(next_random(s) >> 11) * 0x1p-53);
}

static tct_event random_event(uint64_t *s) {
  int64_t count = (int64_t)random_log(s, 1, 3e3);
  double noise = random_log(s, 0.5, 60) * pow((double)count, 0.3),
         epsilon = random_log(s, 1e-3, 2) / sqrt((double)count);
  switch (next_random(s) % TCT_EV_KINDS) {
    case TCT_EV_GAUSSIAN: return tct_event_gaussian(noise, count);
    case TCT_EV_SAMPLED_GAUSSIAN: return tct_event_sampled_gaussian(noise, random_log(s, 1e-4, 1), count);
    case TCT_EV_LAPLACE: return tct_event_laplace(1 / epsilon, count);
    case TCT_EV_EXPONENTIAL: return tct_event_exponential(epsilon, count);
    case TCT_EV_PURE: return tct_event_pure(epsilon, count);
    case TCT_EV_APPROX: return tct_event_approx(epsilon, random_log(s, 1e-15, 1e-9), count);
    case TCT_EV_ZCDP: return tct_event_zcdp(random_log(s, 1e-6, 1e-1), 1);
    default: return tct_event_objpert(noise, random_log(s, 1e-4, 0.1), 1 + count % 3);
  }
}

/* The sum of the parts: pure steps need no delta, the others share what failures leave. */
static double sum_of_parts(const tct_events *events, tct_neighbours n, double delta) {
  double sum = tct_pure_sum(events, n, INFINITY), left = tct_delta_left(delta, tct_events_failure(events));
  int64_t parts = 0;
  if (!(left > 0)) return INFINITY;
  for (int64_t i = 0; i < events->len; i++) parts += !tct_event_is_pure(&events->at[i]);
  for (int64_t i = 0; i < events->len; i++) {
    if (tct_event_is_pure(&events->at[i])) continue;
    tct_events one = list_of(&events->at[i], 1);
    sum += cost_of(&one, n, left / (double)parts);
    tct_events_free(&one);
  }
  return sum;
}

/* TACIT_LISTS: how many (100000 is the slow mode). */
static void random_lists_give_true_brackets_of_at_most_the_sum_of_parts(void **state) {
  (void)state;
  const char *wanted = getenv("TACIT_LISTS");
  int lists = wanted ? atoi(wanted) : 400;
  uint64_t s = 20240601;
  for (int k = 0; k < lists; k++) {
    tct_events events = {0};
    int len = 1 + (int)(next_random(&s) % 3);
    tct_neighbours n = (tct_neighbours)(next_random(&s) % 2);
    double delta = random_log(&s, 1e-12, 1e-2), lower = 0, upper = INFINITY;
    for (int i = 0; i < len; i++) assert_int_equal(tct_events_add(&events, random_event(&s), NULL), TCT_OK);
    if (!sample_turn(k, 3)) {
      tct_events_free(&events);
      continue;
    }
    for (int i = 0; i < tct_accountant_count; i++) {
      tct_bracket b;
      tct_error err = {0};
      if (!applies(tct_accountants[i], &events, n)) continue;
      if (tct_accountants[i]->epsilon(&events, n, delta, 0.02, &b, &err)) fail_msg("list %d: %s", k, err.text);
      double alone = 0;
      for (int64_t e = 0; e < events.len; e++) {
        tct_events one = list_of(&events.at[e], 1);
        one.at[0].count = 1;
        tct_cost cost;
        if (!tct_account_epsilon(&one, n, delta, 0.02, &cost, &err)) alone = fmax(alone, cost.epsilon_lower);
        tct_events_free(&one);
      }
      if (b.upper < alone * (1 - 1e-9)) fail_msg("list %d: %s undercuts one event alone", k, tct_accountants[i]->name);
      if (isnan(b.lower) || isnan(b.upper) || b.lower < 0 || b.lower > b.upper)
        fail_msg("list %d: %s gives [%g, %g]", k, tct_accountants[i]->name, b.lower, b.upper);
      lower = fmax(lower, b.lower), upper = fmin(upper, b.upper);
    }
    if (lower > upper * (1 + 1e-9)) fail_msg("list %d: a lower bound %.12g exceeds %.12g", k, lower, upper);
    if (tct_events_failure(&events) < delta && !(upper < INFINITY)) fail_msg("list %d is needlessly infinite", k);
    if (k % 4 == 0 && !(upper <= 1.03 * sum_of_parts(&events, n, delta))) fail_msg("list %d: more than its parts", k);
    tct_events_free(&events);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_parameter_is_monotone),
      cmocka_unit_test(replacing_never_costs_less_than_removing),
      cmocka_unit_test(order_and_grouping_change_nothing),
      cmocka_unit_test(gaussian_lists_never_cost_less_than_the_exact_curve),
      cmocka_unit_test(no_noise_costs_infinity),
      cmocka_unit_test(a_list_whose_parts_are_bounded_is_bounded),
      cmocka_unit_test(what_has_no_bound_costs_infinity),
      cmocka_unit_test(sampled_steps_cost_no_more_delta_than_the_chance_to_be_drawn),
      cmocka_unit_test(where_a_law_cannot_be_computed_nobody_says_less_than_the_truth),
      cmocka_unit_test(the_direction_that_adds_a_record_is_not_forgotten),
      cmocka_unit_test(counts_near_the_largest_integer_neither_overflow_nor_cost_little),
      cmocka_unit_test(lists_beyond_the_work_of_one_accountant_are_answered_by_another),
      cmocka_unit_test(a_comparison_never_makes_a_number_of_nan),
      cmocka_unit_test(a_single_sampled_step_calibrates_down_to_tiny_delta),
      cmocka_unit_test(calibrated_noise_is_proved_and_close_to_the_smallest),
      cmocka_unit_test(the_orders_of_the_rdp_filter_share_delta),
      cmocka_unit_test(a_filter_allows_what_its_accountant_proves_and_no_more),
      cmocka_unit_test(random_lists_give_true_brackets_of_at_most_the_sum_of_parts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
