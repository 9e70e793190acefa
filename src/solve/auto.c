/* auto.c - the rule that picks a solver from public facts alone.
 *
 * The figure behind the rule is the signal s = mu n/sqrt(p), mu the Gaussian-DP parameter of (epsilon, delta): the
 * largest sum of gradients over the noise that one release of it needs.  No record is looked at, so the choice costs
 * nothing.
 *
 * Losses of bounded curvature, penalty none or ridge: dpmetric, from a signal of 40 on.  Over 16 sets and eight
 * epsilons from 0.05 to 8 its excess objective was a fraction of that of the solvers that this rule took before
 * (docs/measured/metric.md has every cell).  Below 40 its metric is mostly noise, and dpgd, whose path is short there,
 * is better: bench_metric at epsilon 0.005, 0.01, 0.02 and 0.05, excess of dpmetric and dpgd:
 *
 *   bank        s    18   0.128  0.125     33   0.121  0.103     63   0.092  0.084    150   0.050  0.071
 *   ipums-br    s    12   0.137  0.125     22   0.085  0.088     42   0.053  0.061     98   0.028  0.039
 *   california  s    15   0.390  0.285     28   0.281  0.212     53   0.044  0.127    130   0.013  0.042
 *
 * Tables of more than 512 features have a diagonal metric: 24,000 rows of 20 one-hot attributes with 250 values each
 * have the objectives 0.655 and 0.618 at s = 12, 0.567 and 0.579 at 33, 0.515 and 0.553 at 98.
 *
 * Hinge loss: dpgd.  dpmetric, whose step rule takes the hinge for a loss of curvature 1, has 0.4 to 0.7 of dpgd's
 * excess on ipums-br and 1.05 to 1.4 on bank.  Other penalties stay with dpgd, except where its walk ends at its
 * longest (s above 5000): there objpert, whose minimiser is exact, where the loss and penalty allow it.
 */
#include "solve/auto.h"

#include <stdio.h>
#include <string.h>

static const double STRONG = 5000, METRIC = 40;

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
  if (signal >= METRIC && smooth && plain) {
    snprintf(why, size, "dpmetric: at a signal mu*n/sqrt(p) of %.0f noise in the shape of a metric costs least",
             signal);
    return tct_solver_find("dpmetric");
  }
  if (signal > STRONG && smooth && one_sign && facts->neighbours == TCT_ADD_REMOVE && plain) {
    snprintf(why, size, "objpert: with a signal mu*n/sqrt(p) of %.0f an exact minimiser is worth more than its ridge",
             signal);
    return tct_solver_find("objpert");
  }
  if (signal < 1)
    snprintf(why, size, "dpgd; but a signal mu*n/sqrt(p) of %.2g teaches next to nothing: give more epsilon or records",
             signal);
  else
    snprintf(why, size, "dpgd: best untuned at a signal mu*n/sqrt(p) of %.0f for this loss and penalty", signal);
  return tct_solver_find("dpgd");
}
