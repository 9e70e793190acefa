/* auto.c - the rule that picks a solver from public facts alone.
 *
 * The figure behind the rule is the signal s = mu n/sqrt(p), mu the Gaussian-DP parameter of (epsilon, delta): the
 * largest sum of gradients over the noise that one release of it needs.  No record is looked at, so the choice costs
 * nothing.
 *
 * Logistic loss, nothing tuned (bench_agd_figures: min-max scaling, delta 1e-8, KDD 1e-12, penalty none; objective on
 * the training part, four parts of five; means of 10 fits, KDD 2; all solvers: docs/measured/agd-figures.md):
 *
 *   data       epsilon    0.05    0.1     0.2     0.4     0.8     1.6
 *   ipums-br   s          50      97      190     370     710     1400
 *              dpnewton   0.5159  0.4970  0.4821  0.4724  0.4685  0.4673
 *              dpgd       0.5217  0.4973  0.4837  0.4750  0.4708  0.4679
 *              objpert    0.5188  0.4991  0.4862  0.4774  0.4720  0.4684
 *   bank       s          71      140     270     520     1000    1900
 *              dpnewton   0.3308  0.3102  0.2824  0.2621  0.2553  0.2525
 *              dpgd       0.3288  0.3130  0.2819  0.2608  0.2541  0.2521
 *              objpert    0.3321  0.3075  0.2839  0.2678  0.2591  0.2538
 *   adult      s          39      76      150     290     560     1100
 *              dpnewton   0.3601  0.3448  0.3354  0.3327  0.3292  0.3288
 *              dpgd       0.3609  0.3434  0.3352  0.3358  0.3329  0.3284
 *              objpert    0.3644  0.3463  0.3376  0.3335  0.3315  0.3302
 *   nist_acs   s          21      40      79      150     300     570
 *              dpnewton   0.5707  0.5420  0.5240  0.5005  0.4779  0.4637
 *              dpgd       0.5656  0.5389  0.5234  0.5019  0.4787  0.4626
 *              objpert    0.5665  0.5379  0.5145  0.4939  0.4768  0.4655
 *   kddcup99   s          290             1200            4600
 *              dpnewton   0.0430          0.0262          0.0198
 *              dpgd       0.0399          0.0262          0.0232
 *              objpert    0.0452          0.0293          0.0205
 *
 * dpnewton takes a tenth to a third of dpgd's time.  Below a signal of 75 the metric is mostly noise, dpgd is short,
 * and better (phishing, epsilon 0.05: 0.291, dpnewton 0.323, objpert 0.377).  Hinge loss, which has no curvature for a
 * metric: dpgd, at ipums-br 0.590 to 0.529 (dpsgd 0.629 to 0.551, objpert 0.646 to 0.546), at bank 0.253 to 0.217, at
 * adult 0.383 to 0.352, at nist_acs 0.651 to 0.513, the least of all untuned solvers within 2 % there.  Wide tables,
 * whose Gram matrix would cost more than it saves, and other penalties stay with dpgd, except where its walk ends at
 * its longest (s above 5000): there objpert, whose minimiser is exact, where the loss and penalty allow it.
 *
 * Squared loss with ridge (california, lambda 1e-3, four parts of five): at s = 58 dpscd 0.348, dpgd 0.363; at s = 121
 * dpscd 0.373, dpgd 0.324.  Hence dpscd below s = 90, and dpgd above, never dpnewton: excess in % of half the labels'
 * variance (bench_ridge, lambda 1e-4, delta 1e-3, epsilon 0.1, 0.5, 1) california 1.4, 0.36, 0.12, dpnewton 2.1, 0.43,
 * 0.14; nist_acs 5.7, 1.07, 0.52, dpnewton 7.7, 1.76, 0.58; diabetes130 and synthetic within 0.1 of each other.  Its
 * condition is mild under public bounds, and the metric's share and ridge are paid for little.
 */
#include "solve/auto.h"

#include <stdio.h>
#include <string.h>

static const double FAINT = 90, STRONG = 5000, METRIC = 75;
enum { NARROW = 512 };

static double signal_of(const tct_facts *facts) {
  double noise = 0;
  tct_cost cost;
  if (tct_noise_off(facts)) return INFINITY;
  if (tct_calibrate_noise(1, 1, facts->neighbours, facts->epsilon, facts->delta, &noise, &cost, NULL) != TCT_OK)
    return 0;
  return (double)facts->rows / (noise * sqrt((double)facts->p));
}

const tct_solver *tct_solver_auto(const tct_facts *facts, char *why, size_t size) {
  bool ridge = facts->reg.kind->quadratic && facts->reg.l2 > 0;
  bool smooth = isfinite(facts->loss.kind->curvature_bound(facts->loss.h));
  bool one_sign = facts->loss.kind->one_sign && isfinite(tct_loss_slope_bound(&facts->loss));
  bool plain = ridge || facts->reg.kind->zero;
  double signal = signal_of(facts);
  if (signal >= METRIC && facts->loss.kind->binary && smooth && plain && facts->p <= NARROW) {
    snprintf(why, size, "dpnewton: at a signal mu*n/sqrt(p) of %.0f a noisy metric saves most steps of dpgd", signal);
    return tct_solver_find("dpnewton");
  }
  if (signal > STRONG && smooth && one_sign && facts->neighbours == TCT_ADD_REMOVE && plain) {
    snprintf(why, size, "objpert: with a signal mu*n/sqrt(p) of %.0f an exact minimiser is worth more than its ridge",
             signal);
    return tct_solver_find("objpert");
  }
  if (signal < FAINT && ridge && facts->loss.kind->least_squares) {
    snprintf(why, size, "dpscd: least squares with ridge at a signal mu*n/sqrt(p) of %.0f, where its damping wins",
             signal);
    return tct_solver_find("dpscd");
  }
  if (signal < 1)
    snprintf(why, size, "dpgd; but a signal mu*n/sqrt(p) of %.2g teaches next to nothing: give more epsilon or records",
             signal);
  else
    snprintf(why, size, "dpgd: best untuned at a signal mu*n/sqrt(p) of %.0f for this loss and penalty", signal);
  return tct_solver_find("dpgd");
}
