/* auto.c - the rule that picks a solver from public facts alone.
 *
 * The figure behind the rule is the signal s = mu n/sqrt(p), mu the Gaussian-DP parameter of (epsilon, delta): the
 * largest sum of gradients over the noise that one release of it needs.  No record is looked at, so the choice costs
 * nothing.
 *
 * Measured, nothing tuned (bench_agd_figures: min-max scaling, delta 1e-8, penalty none; objective on the training
 * part, one part of five; means of 5 fits, a9a 2):
 *
 *   data       epsilon       0.05                     0.4                      1.6
 *   ipums-br   s             44                       310                      1100
 *              dpgd/objpert  0.5232/0.5218            0.4736/0.4754            0.4681/0.4667
 *              dpagd         0.5352                   0.4830                   0.4717
 *   bank       s             66                       470                      1650
 *              dpgd/objpert  0.3264/0.3229            0.2615/0.2702            0.2526/0.2529
 *              dpagd         0.3356                   0.2937                   0.2653
 *   a9a        s             37                       260                      930
 *              dpgd/objpert  0.3585/0.3653            0.3347/0.3297            0.3277/0.3255
 *   phishing   s             11                       79                       280
 *              dpgd/objpert  0.3218/0.3894            0.1861/0.2184            0.1519/0.1613
 *              dpagd         0.5123                   0.2268                   0.1664
 *
 * So dpgd, except where its walk ends at its longest (s above 5000): there objpert, whose minimiser is exact, where the
 * loss and penalty allow it.
 * Squared loss with ridge (california, lambda 1e-3, four parts of five): at s = 58 dpscd 0.348, dpgd 0.363; at s = 121
 * dpscd 0.373, dpgd 0.324; at s = 470 dpscd 0.328, dpgd 0.308; adassp from 0.629 to 0.448.  Hence dpscd below s = 90.
 */
#include "solve/auto.h"

#include <stdio.h>
#include <string.h>

static const double FAINT = 90, STRONG = 5000;

static double signal_of(const tct_facts *facts) {
  double noise = 0;
  tct_cost cost;
  if (!isfinite(facts->epsilon)) return INFINITY;
  if (tct_calibrate_noise(1, 1, facts->neighbours, facts->epsilon, facts->delta, &noise, &cost, NULL) != TCT_OK)
    return 0;
  return (double)facts->rows / (noise * sqrt((double)facts->p));
}

const tct_solver *tct_solver_auto(const tct_facts *facts, char *why, size_t size) {
  bool ridge = !strcmp(facts->reg.kind->name, "l2") && facts->reg.l2 > 0;
  bool smooth = isfinite(facts->loss.kind->curvature_bound(facts->loss.h));
  bool one_sign = facts->loss.kind->one_sign && isfinite(tct_loss_slope_bound(&facts->loss));
  double signal = signal_of(facts);
  if (signal > STRONG && smooth && one_sign && facts->neighbours == TCT_ADD_REMOVE &&
      (ridge || !strcmp(facts->reg.kind->name, "none"))) {
    snprintf(why, size, "objpert: with a signal mu*n/sqrt(p) of %.0f an exact minimiser is worth more than its ridge",
             signal);
    return tct_solver_find("objpert");
  }
  if (signal < FAINT && ridge && !strcmp(facts->loss.kind->name, "squared")) {
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
