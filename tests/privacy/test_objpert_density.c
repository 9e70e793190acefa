/* test_objpert_density.c - objective perturbation in one dimension: exact densities against the bound. */
#include "account/curves/normal.h"
#include "account/onestep.h"
#include "loss/loss.h"
#include "sample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* Two worlds that share records at x = 1; the proof holds for any number of each label, and any convex
 * function in their place. */
typedef struct world {
  tct_loss loss;
  double ridge, sigma;
  double part;           /* slopes are cut at this part of their bound */
  double norm;           /* the test's record counts (norm/|x|)^2 beyond norm, its gradient is cut at part*norm*S */
  double ahead, against; /* shared records: x = 1 with label +1 and with label -1 */
} world;

static double label(const world *w, int sign) { return w->loss.kind->binary ? sign : 0.3 * sign; }

static double slope(const world *q, double z, double y) {
  double clip = q->part * tct_loss_slope_bound(&q->loss);
  return fmax(-clip, fmin(clip, tct_loss_slope(&q->loss, z, y)));
}

static double curve_of(const world *q, double z, double y) {
  if (fabs(tct_loss_slope(&q->loss, z, y)) >= q->part * tct_loss_slope_bound(&q->loss) && q->part < 1) return 0;
  return tct_loss_curve(&q->loss, z, y);
}

static void shared(const world *q, double w, double *gradient, double *curve) {
  *gradient = q->ridge * w + q->ahead * slope(q, w, label(q, 1)) + q->against * slope(q, w, label(q, -1));
  *curve = q->ridge + q->ahead * curve_of(q, w, label(q, 1)) + q->against * curve_of(q, w, label(q, -1));
}

/* The test's own record. */
static double counts(const world *q, double x) { return fmin(1, pow(q->norm / fabs(x), 2)); }

static double own_limit(const world *q, double x) {
  return q->part < 1 ? q->part * q->norm * tct_loss_slope_bound(&q->loss) / fabs(x) : INFINITY;
}

static double own_slope(const world *q, double x, double w) {
  double limit = own_limit(q, x);
  return fmax(-limit, fmin(limit, counts(q, x) * tct_loss_slope(&q->loss, x * w, label(q, 1))));
}

static double own_curve(const world *q, double x, double w) {
  if (fabs(counts(q, x) * tct_loss_slope(&q->loss, x * w, label(q, 1))) >= own_limit(q, x)) return 0;
  return counts(q, x) * tct_loss_curve(&q->loss, x * w, label(q, 1));
}

/* The density of the minimiser at w with `x` (0: none) as one more record of label +1. */
static double density(const world *q, double w, double x) {
  double gradient, curve;
  shared(q, w, &gradient, &curve);
  if (x != 0) {
    gradient += x * own_slope(q, x, w);
    curve += x * x * own_curve(q, x, w);
  }
  double z = gradient / q->sigma;
  return exp(-0.5 * z * z) / (q->sigma * sqrt(2 * 3.14159265358979323846)) * curve;
}

enum { STEPS = 12000, EPSILONS = 5 };
static const double epsilons[EPSILONS] = {0.1, 0.25, 0.5, 1, 2};

/* delta(epsilon) of world x0 against world x1 for every epsilon, by the trapezoidal rule; returns the integral of the
 * first density, which says whether the rule was fine enough. */
static double exact_deltas(const world *q, double x0, double x1, double *delta) {
  double far = (12 * q->sigma + q->ahead + q->against + 1) / q->ridge, mass = 0, factor[EPSILONS];
  const int steps = STEPS / sample_every(3); /* with fewer, more densities are too sharp to say something */
  const double h = 2.0 / steps;
  for (int e = 0; e < EPSILONS; e++) delta[e] = 0, factor[e] = exp(epsilons[e]);
  for (int i = 0; i <= steps; i++) { /* w = far s^3: fine near 0, where the densities are sharp */
    double s = -1 + i * h, w = far * s * s * s, dw = 3 * far * s * s * h;
    double p = density(q, w, x0), r = density(q, w, x1);
    mass += p * dw;
    for (int e = 0; e < EPSILONS; e++) delta[e] += p > factor[e] * r ? (p - factor[e] * r) * dw : 0;
  }
  return mass;
}

typedef struct tally {
  int cases, beyond, nontrivial;
  double closest; /* largest exact/bound */
} tally;

/* What the test is about: bound is computed with claimed shift and noise, the densities with the true ones. */
static void compare(const world *q, double x0, double x1, tct_neighbours relation, double shift_factor,
                    double sigma_factor, tally *t) {
  double shift = shift_factor * log1p(q->norm * q->norm * q->loss.kind->curvature_bound(q->loss.h) / q->ridge);
  double mu = q->norm * q->part * tct_loss_slope_bound(&q->loss) / (sigma_factor * q->sigma), delta[EPSILONS];
  if (fabs(exact_deltas(q, x0, x1, delta) - 1) > 1e-3) return; /* the density is too sharp for the rule: says nothing */
  for (int e = 0; e < EPSILONS; e++) {
    double exact = delta[e];
    double bound = exp(tct_objpert_log_delta(mu, shift, 0, relation, q->loss.kind->one_sign, epsilons[e]));
    t->cases++;
    t->beyond += exact > bound * (1 + 2e-3) + 1e-6;
    t->nontrivial += bound < 0.999 && exact > 1e-6;
    if (bound < 0.999) t->closest = fmax(t->closest, exact / bound);
  }
}

typedef struct cut {
  double part, norm;
} cut;

static void sweep_cut(const char *loss, cut c, tct_neighbours relation, double shift_factor, double sigma_factor,
                      tally *t) {
  static const double ridges[] = {0.05, 0.25, 1, 4}, sigmas[] = {0.5, 1, 3}, counts[] = {0, 2};
  tct_error err;
  *t = (tally){0};
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 4; k++) {
        world q = {.ridge = ridges[i],
                   .sigma = sigmas[j],
                   .part = c.part,
                   .norm = c.norm,
                   .ahead = counts[k % 2],
                   .against = counts[k / 2]};
        assert_int_equal(tct_loss_make(loss, &q.loss, &err), TCT_OK);
        if (relation == TCT_ADD_REMOVE) {
          compare(&q, 1, 0, relation, shift_factor, sigma_factor, t);
          compare(&q, 0, 1, relation, shift_factor, sigma_factor, t);
        } else {
          compare(&q, 1, -1, relation, shift_factor, sigma_factor, t);
          compare(&q, -1, 1, relation, shift_factor, sigma_factor, t);
          compare(&q, 1, 0.4, relation, shift_factor, sigma_factor, t);
        }
      }
}

static void sweep(const char *loss, tct_neighbours relation, double shift_factor, double sigma_factor, tally *t) {
  sweep_cut(loss, (cut){1, 1}, relation, shift_factor, sigma_factor, t);
}

static const char *const losses[] = {"logistic", "smoothed_hinge", "smoothed_hinge:width=2", "huber"};

static void the_bound_is_never_exceeded(void **state) {
  (void)state;
  for (int l = 0; l < 4; l++)
    for (int r = 0; r < 2; r++) {
      tally t;
      sweep(losses[l], r ? TCT_REPLACE_ONE : TCT_ADD_REMOVE, 1, 1, &t);
      print_message("%s, relation %d: %d cases, %d of them telling, largest exact/bound %.3f\n", losses[l], r, t.cases,
                    t.nontrivial, t.closest);
      assert_true(t.nontrivial > 10);
      assert_int_equal(t.beyond, 0);
    }
}

static void the_bound_is_never_exceeded_with_cut_slopes(void **state) {
  (void)state;
  for (int l = 0; l < 4; l++)
    for (int r = 0; r < 2; r++)
      for (int c = 0; c < 3; c++) {
        static const cut cuts[] = {{0.3, 1}, {1, 0.6}, {0.5, 0.8}};
        tally t;
        sweep_cut(losses[l], cuts[c], r ? TCT_REPLACE_ONE : TCT_ADD_REMOVE, 1, 1, &t);
        assert_true(t.nontrivial > 5); /* two signs replaced: the sum of four tails tells little */
        assert_int_equal(t.beyond, 0);
      }
}

static void cut_slopes_with_noise_for_half_of_them_are_caught(void **state) {
  (void)state;
  tally t;
  sweep_cut("logistic", (cut){0.6, 1}, TCT_ADD_REMOVE, 1, 2, &t);
  assert_true(t.beyond > 0);
  sweep_cut("logistic", (cut){0.6, 0.6}, TCT_ADD_REMOVE, 1, 2, &t);
  assert_true(t.beyond > 0);
}

static void a_claim_without_the_shift_is_caught(void **state) {
  (void)state;
  tally t;
  sweep("logistic", TCT_ADD_REMOVE, 0, 1, &t);
  assert_true(t.beyond > 0);
}

static void a_claim_of_noise_twice_as_large_is_caught(void **state) {
  (void)state;
  tally t;
  sweep("logistic", TCT_ADD_REMOVE, 1, 2, &t);
  assert_true(t.beyond > 0);
  sweep("smoothed_hinge", TCT_REPLACE_ONE, 1, 2, &t);
  assert_true(t.beyond > 0);
}

static void a_claim_of_a_quarter_more_noise_is_caught(void **state) {
  (void)state;
  tally t;
  sweep("logistic", TCT_ADD_REMOVE, 1, 1.25, &t);
  assert_true(t.beyond > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_bound_is_never_exceeded),
      cmocka_unit_test(the_bound_is_never_exceeded_with_cut_slopes),
      cmocka_unit_test(cut_slopes_with_noise_for_half_of_them_are_caught),
      cmocka_unit_test(a_claim_without_the_shift_is_caught),
      cmocka_unit_test(a_claim_of_noise_twice_as_large_is_caught),
      cmocka_unit_test(a_claim_of_a_quarter_more_noise_is_caught),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
