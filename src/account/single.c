/* single.c - the exact privacy curve of one repetition of an event, in closed form.
 *
 * With m = 1/noise and G(l) the delta of the m-Gaussian mechanism at l (normal.h):
 *   sampled_gaussian, add_remove   e^epsilon = 1 - q + q e^l at the loss l of the unsampled step, and delta = q G(l).
 *       The reverse pair never decides: with y = e^epsilon >= 1 and c = 1 - (1-q)y <= q its delta is c D(qy/c),
 *       D(e^l) = G(l), against q D(1 + (y-1)/q).  The first argument is the larger, since
 *       q^2 y - (q+y-1) c = (1-q)(y-1)^2, and D falls.
 *   sampled_gaussian, replace_one  P = (1-q)N(0) + qN(m), Q the same with -m, unit deviations.  The loss rises in z, so
 *       delta = P[N > z] - e^epsilon Q[N > z] at its root z.  With R the Mills ratio and the equation for the root,
 *       delta/density(z) = qa(R(z-m) - R(z)) + q e^epsilon b(R(z) - R(z+m)), a = e^{mz-m^2/2}, b = e^{-mz-m^2/2}:
 *       positive terms only.  In terms of G, delta = q (G(mz - m^2/2) + e^{epsilon - mz - m^2/2} G(mz + m^2/2)).
 *   laplace      delta = 1 - e^{(epsilon - epsilon0)/2}; what is drawn is discrete: discrete_laplace.c, renyi.h.
 *   exponential  delta = (1 - e^{(epsilon - epsilon0)/2})^2/(1 - e^-epsilon0), the largest over two-point laws
 *                (pairs.c).
 *   pure, approx randomised response:
 *                delta = delta0 + (1 - delta0)(1 - e^{epsilon - epsilon0})/(1 + e^-epsilon0).
 *
 * ROUNDING.  The logarithms err by at most TCT_MARGIN times the sizes that are added up.  Roots are taken at a delta
 * that is moved by as much, which passes the error on at the curve's own slope. */
#include "account/single.h"

#include "account/account.h"
#include "account/curves/compare.h"
#include "account/curves/normal.h"
#include "account/curves/renyi.h"
#include "account/curves/work.h"
#include "core/number.h"

static const double largest_mu = 1e75; /* its square's square is a double */

/* log(1 - q + q e^l): no cancellation where the result is near 0 or q near 1. */
static double log_mix(double q, double l) {
  if (l >= 600) {
    double x = l + log(q);
    return x < 30 ? log1p(exp(x)) : x + log1p(exp(-x) * (1 - q));
  }
  if (l < -0.5 && q > 0.5) return log((1 - q) + q * exp(l));
  return log1p(q * expm1(l));
}

/* l with log_mix(q, l) = epsilon >= 0. */
static double unmix(double q, double epsilon) {
  if (epsilon > 1) return epsilon - log(q) + log1p(-(1 - q) * exp(-epsilon));
  double ratio = expm1(epsilon) / q;
  return ratio < 1e300 ? log1p(ratio) : log(expm1(epsilon)) - log(q);
}

static double log_ratio(double delta, double q) {
  double ratio = delta / q;
  return ratio > 1e-300 ? log(ratio) : log(delta) - log(q);
}

/* ---- sampled gaussian -------------------------------------------------------------------------- */

static void remove_epsilon(double m, double q, double delta, double out[2]) {
  double aim = log_ratio(delta, q), move = TCT_MARGIN * (4 + m - aim);
  for (int k = 0; k < 2; k++) {
    double l = aim < 0 ? tct_gaussian_epsilon(m, k ? aim - move : tct_min(aim + move, -1e-300)) : 0;
    double loose = k ? l * (1 + TCT_MARGIN) + m * TCT_MARGIN : l * (1 - TCT_MARGIN) - m * TCT_MARGIN;
    out[k] = l > 0 ? tct_max(0, log_mix(q, loose)) * (k ? 1 + TCT_MARGIN : 1 - TCT_MARGIN) : 0;
  }
}

/* The loss at z >= 0, as log1p((P - Q)/Q). */
static double replace_loss(double m, double q, double z) {
  double rise = m * z - 0.5 * m * m, fall = -m * z - 0.5 * m * m;
  if (rise > 600) return log_mix(q, rise) - log_mix(q, fall);
  return log1p(q * exp(rise) * -expm1(-2 * m * z) / ((1 - q) + q * exp(fall)));
}

static double replace_log_delta(double m, double q, double z) {
  double rise = m * z - 0.5 * m * m, other = m * z + 0.5 * m * m;
  double a = tct_gaussian_log_delta(m, rise, NULL);
  double b = replace_loss(m, q, z) - other + tct_gaussian_log_delta(m, other, NULL);
  return log(q) + tct_max(a, b) + log1p(exp(-fabs(a - b)));
}

/* The z at which log delta falls to aim; at the end whose delta is below (side 1) or above (side 0). */
static double replace_root(double m, double q, double aim, int side) {
  double low = 0, high = m + 1;
  if (replace_log_delta(m, q, 0) <= aim) return 0;
  while (replace_log_delta(m, q, high) > aim) {
    low = high;
    high += m + 8;
    if (!(high < 60 * (m + 8))) return INFINITY;
  }
  TCT_HALVE(halving < 100 && high - low > 2e-16 * high, low, high, middle, !(replace_log_delta(m, q, middle) > aim));
  return side ? high : low;
}

static void replace_epsilon(double m, double q, double delta, double out[2]) {
  double aim = log(delta), move = TCT_MARGIN * (10 + 2 * m - aim);
  for (int k = 0; k < 2; k++) {
    double z = replace_root(m, q, k ? aim - move : aim + move, k), part = k ? 1 + TCT_MARGIN : 1 - TCT_MARGIN;
    out[k] = isinf(z) ? (k ? INFINITY : 0) : replace_loss(m, q, z * part) * part;
  }
}

/* The root z of a loss: sinh(m z - loss/2) = (1-q)/q e^{m^2/2} sinh(loss/2). */
static double replace_z(double m, double q, double loss) {
  double half = 0.5 * loss;
  if (!(loss > 0)) return 0;
  double log_v = log1p(-q) - log(q) + 0.5 * m * m + half + log(-expm1(-loss)) - M_LN2;
  return (half + (log_v > 300 ? log_v + M_LN2 : asinh(exp(log_v)))) / m;
}

static void sampled_delta(const tct_event *e, tct_neighbours neighbours, double epsilon, double out[2]) {
  double m = 1 / e->noise, q = e->rate, value, size;
  if (neighbours == TCT_REPLACE_ONE) {
    double z = replace_z(m, q, epsilon);
    value = replace_log_delta(m, q, z), size = z * (z + m) + m * m;
  } else {
    double l = unmix(q, epsilon), z = l / m + m;
    value = log(q) + tct_gaussian_log_delta(m, l, NULL), size = z * z;
  }
  double move = TCT_MARGIN * (100 + size + fabs(value));
  out[0] = tct_lower(exp(value - move));
  out[1] = tct_min(tct_upper_mass(exp(value + move)), q); /* the chance to be drawn at all (basic.c) */
}

static void sampled_epsilon(const tct_event *e, tct_neighbours neighbours, double delta, double out[2]) {
  if (delta >= e->rate)
    out[0] = out[1] = 0;
  else if (neighbours == TCT_REPLACE_ONE)
    replace_epsilon(1 / e->noise, e->rate, delta, out);
  else
    remove_epsilon(1 / e->noise, e->rate, delta, out);
}

/* ---- the kinds --------------------------------------------------------------------------------- */

bool tct_single_has(const tct_event *e) {
  switch (e->kind) {
    case TCT_EV_GAUSSIAN:
    case TCT_EV_SAMPLED_GAUSSIAN:
    case TCT_EV_LAPLACE: return 1 / e->noise < largest_mu;
    case TCT_EV_EXPONENTIAL:
    case TCT_EV_PURE:
    case TCT_EV_APPROX: return true;
    case TCT_EV_ZCDP:
    case TCT_EV_OBJPERT: return false;
  }
  return false;
}

static void spread(double value, double slack, double out[2]) {
  out[0] = tct_lower(value * (1 - TCT_MARGIN) - slack);
  out[1] = value > 0 ? value * (1 + TCT_MARGIN) + slack : tct_upper(value);
}

/* The smallest epsilon of randomised response.  The difference of two doubles errs by its own rounding alone. */
static double response_epsilon(const tct_event *e, double delta, double part) {
  double left = (delta - e->delta) / (1 - e->delta) * part;
  if (!(left >= 0)) return e->delta < delta ? 0 : INFINITY;
  left *= 1 + exp(-e->epsilon);
  return left < 1 ? tct_max(0, e->epsilon + log1p(-left)) : 0;
}

void tct_single_epsilon(const tct_event *e, tct_neighbours neighbours, double delta, double out[2]) {
  double epsilon0 = tct_event_pure_epsilon(e, neighbours), ulp = TCT_MARGIN * (1 + epsilon0);
  out[0] = 0, out[1] = INFINITY;
  switch (e->kind) {
    case TCT_EV_GAUSSIAN:
      tct_gaussian_bracket(tct_neighbour_factor(neighbours) / e->noise, delta, TCT_MARGIN, out);
      return;
    case TCT_EV_SAMPLED_GAUSSIAN:
      if (e->rate < 1)
        sampled_epsilon(e, neighbours, delta, out);
      else
        tct_gaussian_bracket(tct_neighbour_factor(neighbours) / e->noise, delta, TCT_MARGIN, out);
      return;
    case TCT_EV_LAPLACE:
      spread(epsilon0 + 2 * log1p(-delta), 0, out);
      if (out[1] > 0) out[1] += tct_laplace_slack(e, neighbours);
      return;
    case TCT_EV_EXPONENTIAL:
      spread(tct_max(0, epsilon0 + 2 * log1p(-sqrt(tct_min(1, delta * -expm1(-epsilon0))))), 0, out);
      return;
    case TCT_EV_PURE: spread(response_epsilon(e, delta, 1), 0, out); return;
    case TCT_EV_APPROX:
      spread(response_epsilon(e, delta, 1 - 1e-15), ulp, out);
      out[0] = tct_lower(response_epsilon(e, delta, 1 + 1e-15) - ulp);
      if (e->delta <= delta) out[1] = tct_min(out[1], e->epsilon);
      return;
    case TCT_EV_ZCDP:
    case TCT_EV_OBJPERT: return;
  }
}

void tct_single_delta(const tct_event *e, tct_neighbours neighbours, double epsilon, double out[2]) {
  double epsilon0 = tct_event_pure_epsilon(e, neighbours), move = 0, value = 0,
         mu = tct_neighbour_factor(neighbours) / e->noise;
  out[0] = 0, out[1] = 1;
  switch (e->kind) {
    case TCT_EV_SAMPLED_GAUSSIAN:
      if (e->rate < 1) {
        sampled_delta(e, neighbours, epsilon, out);
        return;
      } /* fall through */
    case TCT_EV_GAUSSIAN:
      value = tct_gaussian_log_delta(mu, epsilon, NULL);
      move = TCT_MARGIN * (100 + mu * mu + epsilon * (1 + epsilon / (mu * mu)) + fabs(value));
      out[0] = tct_lower(exp(value - move)), out[1] = tct_upper_mass(exp(value + move));
      return;
    case TCT_EV_LAPLACE:
      out[0] = tct_lower(-expm1(0.5 * (epsilon - epsilon0 * (1 - TCT_MARGIN))));
      out[1] = tct_upper_mass(-expm1(0.5 * (epsilon - epsilon0 * (1 + TCT_MARGIN) - tct_laplace_slack(e, neighbours))));
      return;
    case TCT_EV_EXPONENTIAL:
      for (int k = 0; k < 2 && epsilon0 > 0; k++) {
        double up = tct_max(0, -expm1(0.5 * (epsilon - epsilon0 * (k ? 1 + TCT_MARGIN : 1 - TCT_MARGIN))));
        out[k] = tct_min(1, up * up / -expm1(-epsilon0) * (k ? 1 + TCT_MARGIN : 1 - TCT_MARGIN));
      }
      if (!(epsilon0 > 0)) out[1] = 0;
      return;
    case TCT_EV_PURE:
    case TCT_EV_APPROX:
      for (int k = 0; k < 2; k++) {
        double top = epsilon0 * (k ? 1 + TCT_MARGIN : 1 - TCT_MARGIN);
        double part = tct_max(0, -expm1(epsilon - top)) / (1 + exp(-epsilon0));
        out[k] = tct_min(1, (e->delta + (1 - e->delta) * part) * (k ? 1 + TCT_MARGIN : 1 - TCT_MARGIN));
      }
      return;
    case TCT_EV_ZCDP:
    case TCT_EV_OBJPERT: return;
  }
}

/* ---- the floor of a list ----------------------------------------------------------------------- */

/* The gaussian events alone, or NULL events. */
static tct_status gaussian_part(const tct_events *events, tct_events *out, tct_error *err) {
  tct_status status = TCT_OK;
  *out = (tct_events){0};
  for (int64_t i = 0; i < events->len && status == TCT_OK; i++)
    if (tct_event_is_gaussian(&events->at[i])) status = tct_events_add(out, events->at[i], err);
  if (status != TCT_OK) tct_events_free(out);
  return status;
}

/* Asking for delta first is cheaper: most events do not reach beyond the floor so far. */
tct_status tct_floor_epsilon(const tct_events *events, tct_neighbours neighbours, double delta, double *floor,
                             tct_error *err) {
  tct_events part;
  tct_bracket bracket = {0, 0};
  TCT_TRY(gaussian_part(events, &part, err));
  tct_status status = part.len ? tct_accountant_find("gdp")->epsilon(&part, neighbours, delta, 1e-3, &bracket, err) : 0;
  tct_events_free(&part);
  TCT_TRY(status);
  *floor = bracket.lower;
  for (int64_t i = 0; i < events->len; i++) {
    const tct_event *e = &events->at[i];
    double pair[2];
    if (tct_event_is_gaussian(e) || !tct_single_has(e)) continue;
    TCT_TRY(tct_work_take(500, err));
    tct_single_delta(e, neighbours, *floor, pair);
    if (pair[1] <= delta) continue;
    TCT_TRY(tct_work_take(100e3, err));
    tct_single_epsilon(e, neighbours, delta, pair);
    *floor = tct_max(*floor, tct_lower(pair[0]));
  }
  return TCT_OK;
}
