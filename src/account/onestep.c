/* onestep.c - one objective perturbation or one approximate step, composed with Gaussian steps, in closed form.
 *
 * Let d(t) bound the first step's delta at every t >= a, and let the Gaussian steps have joint parameter nu.
 * Integrating over their privacy loss L ~ N(nu^2/2, nu^2), delta(epsilon) <= E d(epsilon - L) + P[L > epsilon - a].
 * For each output of the first step the Gaussian steps are dominated by the one-dimensional pair (if they come second,
 * conditionally on it).  Where d is a sum of Gaussian curves delta_G(t - a; mu), E delta_G(epsilon - a - L; mu) =
 * delta_G(epsilon - a; sqrt(mu^2 + nu^2)).  The d of objective perturbation is proved in docs/proofs/objpert.md: with
 * one-signed slopes delta_G(mu) under add_remove and 2 delta_G(mu) + delta_G(2 mu) under replace_one; without, 2
 * delta_G(mu) and 2 delta_G(2 mu) + 2 delta_G(sqrt(2) mu).  The d of an approximate step is its own delta, at its
 * epsilon as a. */
#include "account/curves/compare.h"
#include "account/onestep.h"
#include "account/account.h"
#include "account/curves/normal.h"
#include "account/curves/renyi.h"
#include "core/number.h"

#include <math.h>
#include <stdio.h>

static double log_add(double x, double y) {
  double top = tct_max(x, y);
  return isinf(top) ? top : top + log1p(exp(tct_min(x, y) - top));
}

/* log P[L > left], L ~ N(nu^2/2, nu^2). */
static double log_escape(double nu, double left) { return nu > 0 ? tct_log_upper_tail(left / nu - nu / 2) : -INFINITY; }

double tct_objpert_log_delta(double mu, double shift, double nu, tct_neighbours neighbours, bool one_sign,
                             double epsilon) {
  double left = epsilon - shift, sum, square = nu * nu;
  if (!(left >= 0) || !isfinite(mu)) return 0;
  double one = tct_gaussian_log_delta(sqrt(mu * mu + square), left, NULL);
  if (neighbours == TCT_ADD_REMOVE) {
    sum = one + (one_sign ? 0 : log(2));
  } else {
    double two = tct_gaussian_log_delta(sqrt(4 * mu * mu + square), left, NULL);
    double cross = tct_gaussian_log_delta(sqrt(2 * mu * mu + square), left, NULL);
    sum = one_sign ? log_add(log(2) + one, two) : log(2) + log_add(two, cross);
  }
  return tct_min(0, log_add(sum, log_escape(nu, left)));
}

/* The one step that is not Gaussian, or NULL; nu of the others. */
static const tct_event *single(const tct_events *events, tct_neighbours neighbours, double *nu) {
  const tct_event *found = NULL;
  double square = 0, factor = tct_neighbour_factor(neighbours);
  for (int64_t i = 0; i < events->len; i++) {
    const tct_event *e = &events->at[i];
    if (tct_event_is_gaussian(e)) {
      square += (double)e->count * (factor / e->noise) * (factor / e->noise);
      continue;
    }
    if ((e->kind != TCT_EV_OBJPERT && e->kind != TCT_EV_APPROX) || e->count != 1 || found) return NULL;
    found = e;
  }
  *nu = sqrt(square);
  return found;
}

static bool onestep_applies(const tct_events *events, tct_neighbours neighbours, char *why, size_t size) {
  double nu;
  if (single(events, neighbours, &nu)) return true;
  snprintf(why, size, "this is not one objpert or approx step with gaussian steps");
  return false;
}

static double log_delta(const tct_event *e, tct_neighbours neighbours, double nu, double epsilon) {
  if (!(nu < 1e150)) return 0;
  if (e->kind == TCT_EV_OBJPERT)
    return e->noise > 0 ? tct_objpert_log_delta(1 / e->noise, e->shift, nu, neighbours, true, epsilon) : 0;
  if (epsilon < e->epsilon) return 0;
  return tct_min(0, log_add(log(e->delta), log_escape(nu, epsilon - e->epsilon)));
}

double tct_onestep_epsilon(const tct_event *e, tct_neighbours neighbours, double nu, double delta) {
  double aim = log(delta) + log1p(-TCT_MARGIN), low = e->kind == TCT_EV_OBJPERT ? e->shift : e->epsilon, high = low;
  if (!(log_delta(e, neighbours, nu, low) <= aim))
    for (double step = 1; !(log_delta(e, neighbours, nu, high = low + step) <= aim); step *= 2)
      if (!isfinite(high)) return INFINITY;
  TCT_HALVE(halving < 200 && high - low > 1e-14 * high, low, high, middle, log_delta(e, neighbours, nu, middle) <= aim);
  return high * (1 + TCT_MARGIN) + TCT_MARGIN * (nu + (e->kind == TCT_EV_OBJPERT ? 1 / e->noise : 0));
}

static tct_status onestep_epsilon(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                                  tct_bracket *out, tct_error *err) {
  (void)precision, (void)err;
  double nu = 0;
  const tct_event *e = single(events, neighbours, &nu);
  *out = (tct_bracket){0, tct_upper(tct_onestep_epsilon(e, neighbours, nu, delta))};
  return TCT_OK;
}

static tct_status onestep_delta(const tct_events *events, tct_neighbours neighbours, double epsilon, double precision,
                                tct_bracket *out, tct_error *err) {
  (void)precision, (void)err;
  double nu = 0;
  const tct_event *e = single(events, neighbours, &nu);
  double value = log_delta(e, neighbours, nu, epsilon);
  *out = (tct_bracket){0, tct_upper_mass(exp(value + TCT_MARGIN * (100 - value)))};
  return TCT_OK;
}

const tct_accountant tct_accountant_onestep = {
    "onestep",       "one objpert or approx step with gaussian steps, in closed form",
    onestep_applies, onestep_epsilon,
    onestep_delta,   false,
};
