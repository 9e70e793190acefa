/* test_penalty.c - the laws that every penalty and constraint obeys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "penalty/penalty.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const specs[] = {"none",
                                    "l2:lambda=0.7",
                                    "l2:lambda=0",
                                    "l1:lambda=0.4",
                                    "elastic:l1=0.3,l2=2",
                                    "elastic:l1=0,l2=0.1",
                                    "box:low=-0.2,high=0.5",
                                    "box:low=0,high=0",
                                    "l1ball:radius=1.5",
                                    "l1ball:radius=1e-6"};
enum { SPECS = sizeof specs / sizeof *specs, P = 12 };

static double random_real(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}
static tct_penalty made(const char *spec) {
  tct_penalty r;
  assert_int_equal(tct_penalty_make(spec, &r, NULL), TCT_OK);
  return r;
}
static void random_point(uint64_t *seed, double size, double *w) {
  for (int j = 0; j < P; j++) w[j] = random_real(seed) < -0.6 ? 0 : size * random_real(seed);
}
static double objective(const tct_penalty *r, const double *t, const double *w, double step) {
  double sum = 0;
  for (int j = 0; j < P; j++) sum += 0.5 * (t[j] - w[j]) * (t[j] - w[j]);
  double psi = r->kind->value(r, t, P);
  return isfinite(psi) ? sum + step * psi : INFINITY;
}

/* The specs above, then the example of every kind. */
static int all_specs(void) { return SPECS + tct_penalty_kind_count; }
static const char *spec_at(int s) { return s < SPECS ? specs[s] : tct_penalty_kinds[s - SPECS]->example; }

static void an_example_is_a_spec_of_its_own_kind(void **state) {
  (void)state;
  for (int k = 0; k < tct_penalty_kind_count; k++)
    assert_ptr_equal(made(tct_penalty_kinds[k]->example).kind, tct_penalty_kinds[k]);
}

/* A solver that takes a penalty by one of these flags sees nothing but the numbers that the flag names. */
static void what_a_kind_declares_is_what_its_value_does(void **state) {
  (void)state;
  uint64_t seed = 8;
  for (int s = 0; s < all_specs(); s++) {
    tct_penalty r = made(spec_at(s));
    for (int trial = 0; trial < 200; trial++) {
      double w[P], sum1 = 0, sum2 = 0, low = 0, high = 0;
      random_point(&seed, trial % 3 ? 0.1 : 2, w);
      for (int j = 0; j < P; j++) {
        sum1 += fabs(w[j]), sum2 += w[j] * w[j];
        low = fmin(low, w[j]), high = fmax(high, w[j]);
      }
      double value = r.kind->value(&r, w, P);
      if (r.kind->zero) assert_true(value == 0 && r.kind->quadratic);
      if (r.kind->quadratic) assert_true(fabs(value - 0.5 * r.l2 * sum2) <= 1e-12 * (1 + sum2));
      if (r.kind->box) assert_int_equal(value == 0, low >= r.low && high <= r.high);
      if (r.kind->cross_polytope && fabs(sum1 - r.radius) > 1e-9) assert_int_equal(value == 0, sum1 <= r.radius);
      if (r.kind->cross_polytope) assert_non_null(r.kind->vertex);
    }
  }
}

static void values_are_the_formulas(void **state) {
  (void)state;
  const double w[P] = {0.5, -0.25, 0, 1};
  const double expected[SPECS] = {0,        0.35 * 1.3125, 0,        0.4 * 1.75, 0.3 * 1.75 + 1.3125, 0.05 * 1.3125,
                                  INFINITY, INFINITY,      INFINITY, INFINITY};
  for (int s = 0; s < SPECS; s++) {
    tct_penalty r = made(specs[s]);
    double value = r.kind->value(&r, w, P);
    assert_true(isinf(expected[s]) ? isinf(value) : fabs(value - expected[s]) <= 1e-15);
    const double zero[P] = {0};
    assert_true(r.kind->value(&r, zero, P) == 0);
  }
}

/* A convex objective has no better point nearby if none is better anywhere; both kinds are tried. */
static void no_random_point_beats_the_prox(void **state) {
  (void)state;
  uint64_t seed = 3;
  for (int s = 0; s < all_specs(); s++) {
    tct_penalty r = made(spec_at(s));
    for (int trial = 0; trial < 60; trial++) {
      double w[P], best[P], t[P], step = trial % 3 ? 0.7 : 5;
      random_point(&seed, trial % 2 ? 1 : 4, w);
      memcpy(best, w, sizeof w);
      r.kind->prox(&r, best, P, step);
      double reached = objective(&r, best, w, step);
      assert_true(isfinite(reached));
      for (int k = 0; k < 300; k++) {
        double size = pow(10, -(double)(k % 7));
        for (int j = 0; j < P; j++) t[j] = k % 5 && k % P != j ? best[j] : best[j] + size * random_real(&seed);
        if (k % 11 == 0) random_point(&seed, 0.2, t);
        if (k % 2) r.kind->prox(&r, t, P, 1e-9); /* into the constraint set */
        assert_true(objective(&r, t, w, step) >= reached - 1e-12 * (1 + reached));
      }
    }
  }
}

static void separable_proxes_agree_with_their_one_coordinate_form(void **state) {
  (void)state;
  uint64_t seed = 4;
  for (int s = 0; s < all_specs(); s++) {
    tct_penalty r = made(spec_at(s));
    assert_int_equal(r.kind->separable, r.kind->prox1 != NULL);
    if (!r.kind->separable) continue;
    double w[P], t[P];
    random_point(&seed, 2, w);
    memcpy(t, w, sizeof w);
    r.kind->prox(&r, t, P, 0.3);
    for (int j = 0; j < P; j++) assert_true(t[j] == r.kind->prox1(&r, w[j], 0.3));
  }
}

static void projections_leave_points_inside_alone(void **state) {
  (void)state;
  uint64_t seed = 5;
  const char *const sets[] = {"box:low=-0.2,high=0.5", "l1ball:radius=1.5"};
  for (int s = 0; s < 2; s++) {
    tct_penalty r = made(sets[s]);
    double w[P], t[P];
    random_point(&seed, 0.1, w);
    memcpy(t, w, sizeof w);
    r.kind->prox(&r, t, P, 1);
    assert_memory_equal(t, w, sizeof w);
  }
}

/* Against a bisection for the threshold, on vectors with ties, large spreads and huge sizes. */
static void the_l1_projection_is_exact(void **state) {
  (void)state;
  enum { LONG = 2000 };
  uint64_t seed = 6;
  tct_penalty r = made("l1ball:radius=3");
  for (int trial = 0; trial < 40; trial++) {
    double w[LONG], t[LONG], low = 0, high = 0;
    for (int j = 0; j < LONG; j++) {
      double v = random_real(&seed);
      w[j] = trial % 4 == 0 ? copysign(1, v) : trial % 4 == 1 ? v * 1e12 : trial % 4 == 2 ? ldexp(v, j % 60 - 30) : v;
      high = fmax(high, fabs(w[j]));
    }
    memcpy(t, w, sizeof w);
    r.kind->prox(&r, t, LONG, 1);
    double size = high;
    for (int k = 0; k < 200; k++) {
      double tau = 0.5 * (low + high), sum = 0;
      for (int j = 0; j < LONG; j++) sum += fmax(0, fabs(w[j]) - tau);
      if (sum > 3)
        low = tau;
      else
        high = tau;
    }
    double norm = 0;
    for (int j = 0; j < LONG; j++) {
      norm += fabs(t[j]);
      assert_true(fabs(fabs(t[j]) - fmax(0, fabs(w[j]) - high)) <= 1e-13 * size);
      assert_true(t[j] * w[j] >= 0);
    }
    assert_true(fabs(norm - 3) <= 1e-12 * (3 + size * LONG));
    assert_true(norm <= 3 * (1 + 1e-9));
  }
}

static void the_vertex_is_the_best_of_all_vertices(void **state) {
  (void)state;
  uint64_t seed = 7;
  tct_penalty r = made("l1ball:radius=2.5");
  for (int trial = 0; trial < 200; trial++) {
    double g[P], value, best = INFINITY;
    int64_t index;
    random_point(&seed, 1, g);
    if (trial == 0) memset(g, 0, sizeof g);
    r.kind->vertex(&r, g, P, &index, &value);
    assert_true(index >= 0 && index < P && fabs(value) == 2.5);
    for (int j = 0; j < P; j++) best = fmin(best, fmin(2.5 * g[j], -2.5 * g[j]));
    assert_true(g[index] * value == best);
  }
  for (int k = 0; k < tct_penalty_kind_count; k++)
    assert_true((tct_penalty_kinds[k]->vertex != NULL) == !strcmp(tct_penalty_kinds[k]->name, "l1ball"));
}

static void wrong_specs_are_refused(void **state) {
  (void)state;
  const char *const wrong[] = {"l3",  "l2",        "l2:lambda=-1",       "none:lambda=1",   "l1:radius=1",
                               "box", "box:low=1", "box:low=1,high=0.5", "l1ball:radius=0", "elastic:l1=1",
                               NULL,  "",          "l2:lambda=nan"};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    tct_penalty r;
    assert_int_equal(tct_penalty_make(wrong[k], &r, NULL), TCT_E_USAGE);
  }
  tct_penalty r = made("l2:lambda=1e-4");
  assert_true(r.l2 == 1e-4 && r.l1 == 0 && isinf(r.low) && isinf(r.high) && r.radius == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_example_is_a_spec_of_its_own_kind),
      cmocka_unit_test(what_a_kind_declares_is_what_its_value_does),
      cmocka_unit_test(values_are_the_formulas),
      cmocka_unit_test(no_random_point_beats_the_prox),
      cmocka_unit_test(separable_proxes_agree_with_their_one_coordinate_form),
      cmocka_unit_test(projections_leave_points_inside_alone),
      cmocka_unit_test(the_l1_projection_is_exact),
      cmocka_unit_test(the_vertex_is_the_best_of_all_vertices),
      cmocka_unit_test(wrong_specs_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
