/* auto.c - the rule that picks a solver from public facts alone.
 *
 * The figure behind the rule is the signal s = mu n/sqrt(p), mu the Gaussian-DP parameter of (epsilon, delta): the
 * largest sum of gradients over the noise that one release of it needs.  No record is looked at, so the choice costs
 * nothing.
 *
 * Measured, nothing tuned (bench_agd_figures: min-max scaling, delta 1e-8, penalty none; objective on the training
 * part, one part of five; means of 5 fits, ipums-br and a9a 3):
 *
 *   data       epsilon    0.05    0.1     0.2     0.4     0.8     1.6
 *   ipums-br   s          44      85      160     310     600     1100
 *              dpnewton   0.5211  0.4980  0.4822  0.4723  0.4683  0.4668
 *              dpgd       0.5232  0.4990  0.4840  0.4736  0.4710  0.4681
 *              objpert    0.5202  0.4988  0.4851  0.4758  0.4704  0.4674
 *   bank       s          66      130     264     470     930     1650
 *              dpnewton   0.3337  0.3116  0.2824  0.2625  0.2535  0.2517
 *              dpgd       0.3264  0.3134  0.2835  0.2615  0.2550  0.2526
 *              objpert    0.3229  0.3075  0.2881  0.2702  0.2586  0.2529
 *   a9a        s          37      72      140     260     530     930
 *              dpnewton   0.3593  0.3441  0.3354  0.3324  0.3280  0.3259
 *              objpert    0.3644  0.3466  0.3359  0.3299  0.3270  0.3256
 *   phishing   s          11      22      43      79      150     280
 *              dpnewton   0.3373  0.2642  0.2168  0.1870  0.1676  0.1531
 *              dpgd       0.3218  0.2588  0.2157  0.1861  0.1621  0.1519
 *              objpert    0.3894  0.3153  0.2589  0.2184  0.1821  0.1613
 *
 * dpnewton takes 0.02 to 0.09 s of one processor a fit (a9a, as dense rows: 0.2 s), dpgd up to 1.2 s.  Below a signal
 * of 75 the metric is mostly noise, dpgd is short, and better.  Wide tables, whose Gram matrix
 * would cost more than it saves, and other penalties stay with dpgd, except where its walk ends at its longest (s above
 * 5000): there objpert, whose minimiser is exact, where the loss and penalty allow it. Squared loss with ridge
 * (california, lambda 1e-3, four parts of five): at s = 58 dpscd 0.348, dpgd 0.363; at s = 121 dpscd 0.373, dpgd 0.324.
 * Hence dpscd below s = 90.  Above it dpgd: excess in % of half the labels' variance (bench_ridge, lambda 1e-4, delta
 * 1e-3, epsilon 0.1, 0.5, 1) california 1.4, 0.36, 0.12, dpnewton 2.1, 0.43, 0.14; nist_acs 5.7, 1.07, 0.52, dpnewton
 * 7.7, 1.76, 0.58.
 */
#include "solve/auto.h"

#include <stdio.h>
#include <string.h>

static const double FAINT = 90, STRONG = 5000, METRIC = 75;
enum { NARROW = 512 };

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
  bool plain = ridge || !strcmp(facts->reg.kind->name, "none");
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
