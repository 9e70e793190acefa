/* auto.c - the rule that picks a solver from public facts alone.
 *
 * The figure behind the rule is the signal s = mu n/sqrt(p), mu the Gaussian-DP parameter of (epsilon, delta).  It is
 * the largest sum of gradients over the noise that one release of it needs.  No record is looked at, so the choice
 * costs nothing.
 *
 * Numbers by squared or Huber loss with penalty none or l2: dpmoments, where columns are few and each has enough of
 * the signal, n mu/p.
 *
 * Any other loss of bounded curvature with penalty none or l2: dpmetric.  It starts at the released constant where
 * there is an intercept, and keeps near it where noise is more than what there is to learn.  Classes without an
 * intercept and with a signal below 40: dpgd, since a metric is mostly noise there.  A hinge with an intercept:
 * dpmetric from a signal of 40 on.  Everything else: dpgd, which takes every loss and penalty.
 * docs/decisions/solver-rule.md has the measurements.
 *
 * At delta 0: on the l1 ball dpfw.  Without it or with ridge adassp for least squares, objpert for smooth losses of
 * bounded slope, and privgene for the others.  No solver has a pure epsilon for other penalties; dpgd's refusal says
 * so.
 *
 * More than two classes: one against the rest by dpmetric, or all in one fit by dpgd.  K fits share the budget, and
 * each has s/sqrt(K).  Where that is below 40 the metrics are mostly noise, and from six classes on one fit is better.
 * Above it a metric can be worth far more than the budget that one fit saves: docs/measured/classes.md has both.
 */
#include "solve/auto.h"
#include "solve/rules.def"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MANY_CLASSES = 6 }; /* the least that the rule was chosen on; with three one fit was worse */

static const char *pure_name(const tct_facts *facts) {
  const tct_loss *loss = &facts->loss;
  if (facts->penalty.kind->cross_polytope) return "dpfw";
  if (!facts->penalty.kind->quadratic) return "dpgd";
  if (loss->kind->least_squares) return "adassp";
  return isfinite(loss->kind->curvature_bound(loss->h)) && isfinite(tct_loss_slope_bound(loss)) ? "objpert"
                                                                                                : "privgene";
}

static const tct_solver *pure(const tct_facts *facts, char *why, size_t size) {
  const char *name = pure_name(facts);
  snprintf(why, size, "%s: the solver with pure epsilon for this loss and penalty", name);
  return tct_solver_find(name);
}

static bool loss_is_joint(const tct_facts *facts, char *why, size_t size) {
  if (facts->loss.kind->joint) snprintf(why, size, "dpgd: the solver that takes all classes in one fit");
  return facts->loss.kind->joint != NULL;
}

bool tct_classes_auto_joint(const tct_facts *facts, int64_t classes, char *why, size_t size) {
  bool plain = facts->penalty.kind->zero || (facts->penalty.kind->quadratic && facts->penalty.l2 > 0);
  if (tct_noise_off(facts) || facts->delta == 0 || !plain) {
    snprintf(why, size,
             "one against the rest: one fit of all classes is measured with noise, a delta and a ridge only");
    return false;
  }
  if (classes < MANY_CLASSES) {
    snprintf(why, size, "one against the rest: with fewer than %d classes one fit of all was not better", MANY_CLASSES);
    return false;
  }
  tct_target whole = {facts->neighbours, facts->epsilon, facts->delta};
  double each = tct_signal_to_noise(facts->rows, facts->p, &whole) / sqrt((double)classes);
  snprintf(
      why, size,
      each < auto_metric_signal
          ? "one fit of all classes: each of %lld fits would have a signal-to-noise ratio of %.2g, too little for it"
          : "one against the rest: each of %lld fits has a signal-to-noise ratio of %.2g, enough for a metric",
      (long long)classes, each);
  return each < auto_metric_signal;
}

/* Whether moments of the table are worth their noise. */
static bool by_moments(const tct_facts *facts, double signal_to_noise) {
  bool numbers = facts->loss.kind->link == TCT_LINK_IDENTITY && !facts->loss.kind->binary;
  return numbers && !tct_moments_out_of_range(facts) && (double)facts->p <= auto_moments_columns &&
         signal_to_noise / sqrt((double)facts->p) >= auto_moments_signal;
}

const tct_solver *tct_solver_auto(const tct_facts *facts, char *why, size_t size) {
  bool smooth = isfinite(facts->loss.kind->curvature_bound(facts->loss.h));
  bool plain = facts->penalty.kind->zero || (facts->penalty.kind->quadratic && facts->penalty.l2 > 0);
  if (facts->delta == 0 && !tct_noise_off(facts)) return pure(facts, why, size);
  tct_target whole = {facts->neighbours, facts->epsilon, facts->delta};
  double signal_to_noise = tct_signal_to_noise(facts->rows, facts->p, &whole);
  if (loss_is_joint(facts, why, size)) return tct_solver_find("dpgd");
  if (plain && by_moments(facts, signal_to_noise)) {
    snprintf(why, size,
             "dpmoments: at a signal-to-noise ratio mu*n/p of %.0f moments of all columns say nearly all of the model",
             signal_to_noise / sqrt((double)facts->p));
    return tct_solver_find("dpmoments");
  }
  bool strong = signal_to_noise >= auto_metric_signal;
  bool metric = smooth ? strong || facts->intercept || !facts->loss.kind->binary : strong && facts->intercept;
  if (metric && plain) {
    snprintf(why, size,
             "dpmetric: at a signal-to-noise ratio mu*n/sqrt(p) of %.0f noise in the shape of a metric costs least",
             signal_to_noise);
    return tct_solver_find("dpmetric");
  }
  if (signal_to_noise < 1)
    snprintf(
        why, size,
        "dpgd; but a signal-to-noise ratio mu*n/sqrt(p) of %.2g teaches next to nothing: give more epsilon or records",
        signal_to_noise);
  else
    snprintf(why, size, "dpgd: best untuned at a signal-to-noise ratio mu*n/sqrt(p) of %.0f for this loss and penalty",
             signal_to_noise);
  return tct_solver_find("dpgd");
}
