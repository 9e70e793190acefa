/* auto.c - the rule that picks a solver from public facts alone.
 *
 * The figure behind the rule is the signal s = mu n/sqrt(p), mu the Gaussian-DP parameter of (epsilon, delta).  It is
 * the largest sum of gradients over the noise that one release of it needs.  No record is looked at, so the choice
 * costs nothing.
 *
 * METRIC  From there on the released metric is better than noise, and saves most of dpgd's steps.
 * STRONG  dpgd's walk ends at its longest there; objpert, whose minimiser is exact, goes on gaining.
 * FAINT   Below it dpscd's damping wins on least squares with ridge.  dpnewton never does: its condition is mild under
 *         public bounds, and the metric's share is paid for little.
 * NARROW  Of wider tables the Gram matrix costs more than it saves.
 * A hinge has no curvature for a metric: dpgd.  docs/decisions/solver-rule.md has the measurements.
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
