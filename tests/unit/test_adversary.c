/* test_adversary.c - many exponential choices: the adversary of every order is below, and not far. */
#include "account/account.h"
#include "account/curves/adversary.h"
#include "account/single.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdlib.h>

#include <cmocka.h>

static double positive(double x) { return x > 0 ? x : 0; }

/* What an adversary reaches whose every t is a multiple of epsilon/cells: its own recursion, in long double. */
static long double reached(double epsilon, int cells, int steps, int64_t at) {
  if (steps == 0) return at < 0 ? -expm1l((long double)at * epsilon / cells) : 0;
  long double best = 0, all = -expm1l(-(long double)epsilon);
  for (int j = 0; j <= cells; j++) {
    long double p = -expm1l(((long double)j / cells - 1) * epsilon) / all;
    long double sum =
        p * reached(epsilon, cells, steps - 1, at - j) + (1 - p) * reached(epsilon, cells, steps - 1, at - j + cells);
    if (sum > best) best = sum;
  }
  return best;
}

/* V at x, by the chord. */
static double value_at(const tct_choices *c, int k, double x) {
  int64_t i = (int64_t)floor(x / c->spacing);
  if (i >= c->len[k]) return 0;
  double f = expm1(x - (double)i * c->spacing) / expm1(c->spacing);
  return c->value[k][i] * (1 - f) + c->value[k][i + 1] * f;
}

static void one_choice_has_its_closed_form(void **state) {
  (void)state;
  for (double epsilon = 1e-6; epsilon < TCT_CHOICES_MOST; epsilon *= 7) {
    tct_choices c;
    assert_int_equal(tct_choices_new(epsilon, 1, &c, NULL), TCT_OK);
    assert_int_equal(c.times[0] * c.size[0] + c.times[1] * c.size[1], 1);
    for (int64_t i = 0; i < c.len[0]; i++) {
      double root = -expm1(0.5 * ((double)i * c.spacing - epsilon)), exact = root * root / -expm1(-epsilon);
      assert_true(c.value[0][i] >= exact * (1 - 2e-12) && c.value[0][i] <= exact * (1 + 2e-12));
    }
    tct_choices_free(&c);
  }
}

static void no_adversary_reaches_more_and_the_best_one_nearly_as_much(void **state) {
  (void)state;
  enum { CELLS = 12 };
  static const double epsilons[] = {1e-4, 0.05, 0.7, 3, 9};
  for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++) {
    for (int steps = 2; steps <= 4; steps++) {
      tct_choices c;
      assert_int_equal(tct_choices_new(epsilons[e], steps, &c, NULL), TCT_OK);
      assert_int_equal(c.size[0], steps);
      for (int64_t at = 0; at < steps * CELLS; at += 1 + (steps > 3) * 4) {
        double found = (double)reached(epsilons[e], CELLS, steps, at);
        double claimed = value_at(&c, 0, (double)at * epsilons[e] / CELLS);
        assert_true(claimed >= found * (1 - 1e-13));
        /* Between two of its points it may reach what it does at the lower one. */
        if (at > 0 && at <= steps * (CELLS - 1))
          assert_true(claimed <= (double)reached(epsilons[e], CELLS, steps, at - 1));
      }
      tct_choices_free(&c);
    }
  }
}

static void look_at(const tct_choices *c, int k, double h, const tct_pmf *law) {
  assert_true(law->proved && law->count == c->times[k]);
  for (double x = -0.9 * (double)c->len[k] * c->spacing; x < 0.9 * (double)c->len[k] * c->spacing; x += 17.3 * h) {
    double sum = law->infinite, exact = value_at(c, k, fabs(x));
    for (int64_t i = 0; i < law->len; i++)
      sum += law->p[i] * positive(-expm1(x - law->offset - law->h * (double)(law->first + i)));
    if (x < 0) exact = -expm1(x) + exp(x) * exact;
    assert_true(sum >= exact * (1 - 1e-9) - 1e-13);
    assert_true(sum <= exact + 0.01 * c->value[k][0]);
  }
}

/* A law on a grid has the curve of V at every point, also below 0, and no less between. */
static void the_law_has_the_curve(void **state) {
  (void)state;
  static const struct {
    double epsilon;
    int64_t count;
  } lists[] = {{0.3, 1}, {0.3, 7}, {0.02, 64}, {0.02, 100}, {2, 30}, {40, 3}, {1e-5, 1000000}};
  for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
    tct_choices c;
    assert_int_equal(tct_choices_new(lists[l].epsilon, lists[l].count, &c, NULL), TCT_OK);
    assert_true(c.times[0] * c.size[0] + c.times[1] * c.size[1] == lists[l].count);
    for (int finer = 0; finer < 2; finer++) {
      double h = c.spacing * (finer ? 0.37 : 5.3);
      tct_pmf law[2] = {{0}}, fair[2] = {{0}}, *side[2] = {law, fair};
      int len[2] = {0, 0};
      assert_int_equal(tct_choices_laws(&c, h, true, side, len, NULL), TCT_OK);
      assert_true(len[0] == (c.times[0] > 0) + (c.times[1] > 0) && len[1] == len[0]);
      for (int k = 0; k < len[0]; k++) {
        look_at(&c, c.times[0] > 0 ? k : 1, h, &law[k]);
        assert_true(fair[k].count == law[k].count);
        tct_pmf_free(&law[k]), tct_pmf_free(&fair[k]);
      }
    }
    tct_choices_free(&c);
  }
}

/* Delta at epsilon of n steps that all have their range in the middle, each loss epsilon0/2 up or down. */
static double of_coins(double epsilon0, int n, double epsilon) {
  double sum = 0, up = -log1p(exp(-0.5 * epsilon0));
  for (int k = 0; k <= n; k++) {
    double loss = epsilon0 * (k - 0.5 * n);
    double log_mass = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * up + (n - k) * (up - 0.5 * epsilon0);
    sum += exp(log_mass) * positive(-expm1(epsilon - loss));
  }
  return sum;
}

/* By pld: above fair coins, within two percent of them where steps are many and small, and below Renyi's bound. */
static void many_choices_cost_what_coins_do(void **state) {
  (void)state;
  static const struct {
    double epsilon;
    int count;
  } lists[] = {{0.05, 100}, {0.02, 400}, {0.01, 3000}, {0.1, 150}};
  for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
    tct_event event = tct_event_exponential(lists[l].epsilon, lists[l].count);
    tct_events list = {&event, 1, 1};
    tct_bracket pld, rdp;
    assert_int_equal(tct_accountant_epsilon(tct_accountant_find("pld"), &list, TCT_ADD_REMOVE, 1e-6, 1e-4, &pld, NULL),
                     TCT_OK);
    assert_int_equal(tct_accountant_epsilon(tct_accountant_find("rdp"), &list, TCT_ADD_REMOVE, 1e-6, 1e-4, &rdp, NULL),
                     TCT_OK);
    assert_true(of_coins(lists[l].epsilon, lists[l].count, pld.upper) <= 1e-6);
    assert_true(of_coins(lists[l].epsilon, lists[l].count, pld.upper * 0.98) >= 1e-6);
    assert_true(pld.upper < 0.96 * rdp.upper);
  }
}

/* Far beyond, where exponentials overflow, some accountant still says the truth: nearly the sum. */
static void large_choices_cost_nearly_their_sum(void **state) {
  (void)state;
  static const double epsilons[] = {400, 499, 501, 700, 720, 1e3, 1e5, 2e6, 1e300};
  for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++) {
    for (int count = 1; count <= 20; count += 19) {
      tct_event event = tct_event_exponential(epsilons[i], count);
      tct_events list = {&event, 1, 1};
      tct_cost cost;
      assert_int_equal(tct_account_epsilon(&list, TCT_ADD_REMOVE, 1e-5, 1e-3, &cost, NULL), TCT_OK);
      /* All twenty at the upper end, each within 3 of it: a chance above 1e-5. */
      assert_true(cost.epsilon >= count * (epsilons[i] - 3) - 12);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_choice_has_its_closed_form),
      cmocka_unit_test(no_adversary_reaches_more_and_the_best_one_nearly_as_much),
      cmocka_unit_test(the_law_has_the_curve),
      cmocka_unit_test(many_choices_cost_what_coins_do),
      cmocka_unit_test(large_choices_cost_nearly_their_sum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
