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
 * Follow-up times: dpcox.
 *
 * At delta 0: on the l1 ball dpfw.  Without it or with ridge adassp for least squares, objpert for smooth losses of
 * bounded slope, and privgene for the others.  No solver has a pure epsilon for other penalties; dpgd's refusal says
 * so.
 *
 * More than two classes: all in one fit, by dpmetric where there is an intercept.  docs/measured/classes.md has it
 * beside one against the rest, whose K fits share the budget.
 */
#include "solve/auto.h"
#include "solve/rules.def"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

static bool is_plain(const tct_facts *facts) {
  return facts->penalty.kind->zero || (facts->penalty.kind->quadratic && facts->penalty.l2 > 0);
}

/* A loss of all classes at once. */
static const tct_solver *joint(const tct_facts *facts, char *why, size_t size) {
  bool metric = is_plain(facts) && facts->intercept && !tct_noise_off(facts);
  snprintf(why, size,
           metric ? "dpmetric: one fit of all classes, with noise in the shape of a metric, costs least"
                  : "dpgd: the solver that takes all classes in one fit with these settings");
  return tct_solver_find(metric ? "dpmetric" : "dpgd");
}

bool tct_classes_auto_joint(const tct_facts *facts, char *why, size_t size) {
  bool one = !tct_noise_off(facts) && facts->delta > 0 && is_plain(facts);
  snprintf(why, size, "%s",
           one ? "one fit of all classes: its budget is not shared out over the classes"
               : "one against the rest: one fit of all classes is measured with noise, a delta and a ridge or no "
                 "penalty only");
  return one;
}

/* Whether moments of the table are worth their noise. */
static bool by_moments(const tct_facts *facts, double signal_to_noise) {
  bool numbers = facts->loss.kind->link == TCT_LINK_IDENTITY && !facts->loss.kind->binary;
  return numbers && !tct_moments_out_of_range(facts) && (double)facts->p <= auto_moments_columns &&
         signal_to_noise / sqrt((double)facts->p) >= auto_moments_signal;
}

const tct_solver *tct_solver_auto(const tct_facts *facts, char *why, size_t size) {
  bool smooth = isfinite(facts->loss.kind->curvature_bound(facts->loss.h));
  bool plain = is_plain(facts);
  if (facts->loss.kind->follow_up) {
    snprintf(why, size, "dpcox: the solver for follow-up times");
    return tct_solver_find("dpcox");
  }
  if (facts->delta == 0 && !tct_noise_off(facts)) return pure(facts, why, size);
  tct_target whole = {facts->neighbours, facts->epsilon, facts->delta};
  double signal_to_noise = tct_signal_to_noise(facts->rows, facts->p, &whole);
  if (facts->loss.kind->joint) return joint(facts, why, size);
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
