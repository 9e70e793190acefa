/* cross_check.c - a second opinion on what events cost, by other methods than the accountants'.
 *
 * It shares no mathematics with account/, only the purse that both pay from, and prefers the plainest method that is
 * right:
 *
 * Gaussian parts: delta(epsilon) is the integral of (p - e^epsilon q)+ for p = N(mu,1), q = N(0,1), summed
 * by Simpson's rule over the half line where the integrand is positive, and inverted by bisection.  All
 * steps together give the exact epsilon when nothing but gaussian events occur, and a lower bound
 * otherwise: who sees fewer releases cannot know more.
 *
 * Everything: Renyi divergences from their definition.  That of the sampled Gaussian is
 *   1/(a-1) log E_{x ~ N(0,m^2)} ((1-q) + q e^{(2x-1)/(2m^2)})^a        (Mironov, Talwar, Zhang 2019, eq. 5)
 * by the trapezoidal rule on the real line, which converges geometrically for analytic integrands; any
 * real order a > 1 works alike, where account/ uses series.  The conversion is that of Canonne, Kamath,
 * Steinke 2020, prop. 12: epsilon = r(a) + log((a-1)/a) - (log delta + log a)/(a-1), least over a.
 *
 * Sampled Gaussian, one step: exact by the same Simpson rule, a lower bound for a longer list.  Where a record is
 * replaced the worst pair is (1-q) N(0) + q N(m) against the same with -m (docs/proofs/dpscd-replace-one.md).
 *
 * One objective perturbation with Gaussian steps: its curve (docs/proofs/objpert.md), a sum of Gaussian ones, averaged
 * by Simpson's rule over the privacy loss of the Gaussian steps. */
#include "account/curves/work.h"
#include "certify/cross_check.h"
#include "core/point.h"
#include "core/number.h"

#include <math.h>
#include <stdio.h>

enum { SIMPSON = 4000, LOSS_NODES = 80, GRID = 72, GOLDEN = 60, BISECT = 200, TRAPEZE_MOST = 400000 };
static const double PI = 3.14159265358979323846;

/* ---- exact curves ---------------------------------------------------------------------------- */

/* Two worlds on the real line: p is (1-rate) N(0,1) + rate N(mu,1), q is N(0,1) (forward), or the other way round.
 * Where a record is replaced, q is (1-rate) N(0,1) + rate N(-mu,1).  rate 1 is the plain Gaussian mechanism. */
typedef struct worlds {
  double mu, rate;
  int forward, replaced;
} worlds;

static double log_normal(double x) { return -x * x / 2 - 0.5 * log(2 * PI); }

/* log((1-rate) + rate e^{mu x - mu^2/2}), stable at both ends. */
static double log_mix(double x, double mu, double rate) {
  double tilt = mu * x - mu * mu / 2;
  if (rate >= 1) return tilt;
  double a = log1p(-rate), b = log(rate) + tilt;
  return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

/* (p - e^epsilon q)+ at x. */
static double excess(const worlds *w, double epsilon, double x) {
  double loss = log_mix(x, w->mu, w->rate), base = log_normal(x);
  double log_p = w->forward ? base + loss : base;
  if (w->replaced) loss -= log_mix(x, -w->mu, w->rate);
  double over = (w->forward ? loss : -loss) - epsilon; /* log(p/q) - epsilon */
  return over > 0 ? -exp(log_p) * expm1(-over) : 0;
}

/* The loss of a replaced record rises with x, from -infinity to infinity, and is odd. */
static double replaced_crossing(const worlds *w, double epsilon) {
  double low = 0, high = 1;
  while (log_mix(high, w->mu, w->rate) - log_mix(high, -w->mu, w->rate) < epsilon && high < 1e6) high *= 2;
  TCT_HALVE(halving < 60, low, high, middle,
            !(log_mix(middle, w->mu, w->rate) - log_mix(middle, -w->mu, w->rate) < epsilon));
  return low;
}

/* Where log(p/q) = epsilon; the integrand is positive on one side of it. */
static double crossing(const worlds *w, double epsilon) {
  double target = w->forward ? epsilon : -epsilon;
  if (w->replaced) return replaced_crossing(w, epsilon);
  if (w->rate >= 1) return (target + w->mu * w->mu / 2) / w->mu;
  double inside = exp(target) - (1 - w->rate);
  return inside <= 0 ? -INFINITY : (log(inside / w->rate) + w->mu * w->mu / 2) / w->mu;
}

/* Beyond it the steps of the integral are wider than the densities. */
static const double FAR_APART = 2000;
/* Nanoseconds of a point of a sum over densities: of a mixture, and of the plain one.  Of a divergence in closed form,
 * and of a choice's, which is searched for. */
static const double MIXED = 100, PLAIN = 40, CLOSED = 150, CHOICE = 20e3;

/* NAN: not known. */
static double exact_delta(const worlds *w, double epsilon) {
  if (!(w->mu <= FAR_APART)) return NAN;
  double from = crossing(w, epsilon), low = -40, high = w->mu + 40; /* beyond 40 sigma a double holds nothing */
  if (w->forward)
    low = fmax(low, from);
  else
    high = fmin(high, from);
  if (!(low < high)) return 0;
  /* The mass sits within some 12 of the edge or of a mode: cut there, so that the step stays small. */
  if (w->forward && low > w->mu) high = fmin(high, low + 12);
  if (!w->forward && high < 0) low = fmax(low, high - 12);
  if (!tct_work_pay(SIMPSON * (w->rate < 1 ? MIXED : PLAIN))) return NAN;
  double h = (high - low) / SIMPSON, sum = excess(w, epsilon, low) + excess(w, epsilon, high);
  for (int i = 1; i < SIMPSON; i++) sum += (i % 2 ? 4 : 2) * excess(w, epsilon, low + i * h);
  return sum * h / 3;
}

double tct_second_gaussian(double mu, double epsilon) { return exact_delta(&(worlds){mu, 1, 1, 0}, epsilon); }

static const double FAR = 1e6; /* no epsilon above it is looked for */

/* The least epsilon >= 0 with exact_delta <= delta; FAR or more: at least that.  Worlds far apart: without sampling,
 * delta at FAR is 1; with it, 0 is all that is known. */
static double exact_epsilon(const worlds *w, double delta) {
  double low = 0, high = 1;
  if (!(w->mu <= FAR_APART)) return w->rate >= 1 ? FAR : 0;
  if (exact_delta(w, 0) <= delta) return 0;
  while (!(exact_delta(w, high) <= delta) && high < FAR) high *= 2;
  TCT_HALVE(halving < BISECT && high - low > 1e-12 * high, low, high, middle, exact_delta(w, middle) <= delta);
  return high;
}

/* ---- objective perturbation ------------------------------------------------------------------- */

static double objpert_delta(const tct_event *e, double factor, double epsilon) {
  double mu = 1 / e->noise, left = epsilon - e->shift;
  if (left < 0) return 1;
  double one = exact_delta(&(worlds){mu, 1, 1, 0}, left);
  return fmin(1, factor > 1 ? 2 * one + exact_delta(&(worlds){2 * mu, 1, 1, 0}, left) : one);
}

/* E objpert_delta(epsilon - L) for L ~ N(nu^2/2, nu^2), over 12 deviations of L. */
static double blurred_delta(const tct_event *e, double factor, double nu, double epsilon) {
  double sum = 0, h = 24.0 / LOSS_NODES;
  if (nu == 0) return objpert_delta(e, factor, epsilon);
  for (int i = 0; i <= LOSS_NODES; i++) {
    double x = -12 + i * h, weight = i == 0 || i == LOSS_NODES ? 1 : i % 2 ? 4 : 2;
    sum += weight * exp(log_normal(x)) * objpert_delta(e, factor, epsilon - nu * (nu / 2 + x));
  }
  return sum * h / 3;
}

/* INFINITY unless the list is one objpert step with gaussian ones. */
static double blurred_epsilon(const tct_events *events, double factor, double delta) {
  const tct_event *found = NULL;
  double square = 0, low, high;
  for (int64_t i = 0; i < events->len; i++) {
    const tct_event *e = &events->at[i];
    if (e->kind == TCT_EV_GAUSSIAN) {
      square +=
          (double)e->count * factor * TCT_POINT(second_opinion_halves_its_noise, factor, 1) / (e->noise * e->noise);
      continue;
    }
    if (e->kind != TCT_EV_OBJPERT || e->count != 1 || found) return INFINITY;
    found = e;
  }
  if (!found) return INFINITY;
  low = found->shift, high = low + 1;
  while (!(blurred_delta(found, factor, sqrt(square), high) <= delta)) {
    if (high > FAR) return INFINITY;
    high *= 2;
  }
  TCT_HALVE(halving < 50 && high - low > 1e-9 * high, low, high, middle,
            blurred_delta(found, factor, sqrt(square), middle) <= delta);
  return high;
}

/* ---- Renyi divergences by definition --------------------------------------------------------- */

/* What is no number proves nothing. */
static double at_least_0(double bound) { return bound >= 0 ? bound : bound < 0 ? 0 : INFINITY; }

/* replaced: of the mixture with 1 from that with -1, else from the law without the record. */
static double sampled_renyi(double m, double q, double a, int replaced) {
  double h = fmin(m / 8, m * m / 2); /* the integrand's nearest singularity is pi m^2 off the real line */
  double low = -13 * m, high = (replaced ? 2 * a : a) + 13 * m, top = -INFINITY, sum = 0;
  if (!((high - low) / h <= TRAPEZE_MOST && tct_work_pay((high - low) / h * MIXED))) return INFINITY;
  for (double x = low; x <= high; x += h) {
    double value = log_normal(x / m) - log(m) + a * log_mix(x / m, 1 / m, q);
    if (replaced) value -= (a - 1) * log_mix(x / m, -1 / m, q);
    if (value > top) {
      sum = sum * exp(top - value) + 1;
      top = value;
    } else {
      sum += exp(value - top);
    }
  }
  return at_least_0(top + log(sum * h)) / (a - 1);
}

/* Randomised response is the worst pure mechanism at every order. */
static double pure_renyi(double epsilon, double a) {
  double p = -log1p(exp(-epsilon)), r = p - epsilon; /* logs of the two answers' chances */
  double x = a * p + (1 - a) * r, y = a * r + (1 - a) * p;
  return (fmax(x, y) + log1p(exp(-fabs(x - y)))) / (a - 1);
}

static double laplace_renyi(double b, double a) {
  double x = log(a / (2 * a - 1)) + (a - 1) / b, y = log((a - 1) / (2 * a - 1)) - a / b;
  return (fmax(x, y) + log1p(exp(-fabs(x - y)))) / (a - 1);
}

/* The law max(0, N(mu^2/2, mu^2)) + shift of objective perturbation, add_remove only. */
static double objpert_renyi(double m, double shift, double a) {
  double mu = 1 / m, s = a - 1;
  double stay = log(0.5 * erfc(mu / 2 / sqrt(2))),
         move = s * (s + 1) * mu * mu / 2 + log(0.5 * erfc(-(mu / 2 + s * mu) / sqrt(2)));
  return shift + (fmax(stay, move) + log1p(exp(-fabs(stay - move)))) / s;
}

/* Two points with losses t and t - epsilon, probabilities q and 1 - q under the second world: the divergence of order
 * a. */
static double two_point(double t, double epsilon, double a) {
  double q = -expm1(t - epsilon) / (exp(t) * -expm1(-epsilon));
  double high = log(fmax(q, 1e-300)) + a * t, low = log(fmax(1 - q, 1e-300)) + a * (t - epsilon);
  if (a * epsilon > 30) return (fmax(high, low) + log1p(exp(-fabs(high - low)))) / (a - 1);
  return log1p(q * expm1(a * t) + (1 - q) * expm1(a * (t - epsilon))) / (a - 1);
}

/* An exponential choice has losses within an interval of length epsilon (bounded range).  The divergence is largest for
 * two points at its ends.  The worst place of the interval is found by golden sections. */
static double bounded_range_divergence(double epsilon, double a) {
  const double golden = 0.6180339887498949;
  double low = 0, high = epsilon, bound = fmin(a * epsilon * epsilon / 8, epsilon);
  if (epsilon < 1e-6) return bound; /* where the two points cancel to few digits */
  for (int k = 0; k < 90; k++) {
    double left = high - golden * (high - low), right = low + golden * (high - low);
    if (two_point(left, epsilon, a) < two_point(right, epsilon, a))
      low = left;
    else
      high = right;
  }
  return fmin(bound, two_point(0.5 * (low + high), epsilon, a) * (1 + 1e-9));
}

/* Where a record is replaced the two laws are mixtures at the same rate, alike but for the records' own terms.  The
 * divergence is jointly quasi-convex (van Erven and Harremoes 2014, theorem 13), so it is no more than that of the
 * terms without sampling. */
static double replaced_renyi(const tct_event *e, double a) {
  return fmin(sampled_renyi(e->noise, e->rate, a, 1),
              TCT_POINT(second_opinion_of_a_replaced_step_for_one_term, 2, 0.5) * a / (e->noise * e->noise));
}

static double event_renyi(const tct_event *e, tct_neighbours neighbours, double a) {
  double factor = neighbours == TCT_REPLACE_ONE ? 2 : 1; /* two records' terms move instead of one */
  switch (e->kind) {
    case TCT_EV_GAUSSIAN: return a * factor * factor / (2 * e->noise * e->noise);
    case TCT_EV_SAMPLED_GAUSSIAN: return factor > 1 ? replaced_renyi(e, a) : sampled_renyi(e->noise, e->rate, a, 0);
    case TCT_EV_LAPLACE: return laplace_renyi(e->noise / factor, a);
    case TCT_EV_EXPONENTIAL: return bounded_range_divergence(e->epsilon, a);
    case TCT_EV_PURE:
    case TCT_EV_APPROX: return pure_renyi(e->epsilon, a);
    case TCT_EV_ZCDP: return a * e->rho;
    case TCT_EV_OBJPERT: return factor > 1 ? INFINITY : objpert_renyi(e->noise, e->shift, a);
  }
  return INFINITY;
}

double tct_second_renyi(const tct_events *events, tct_neighbours neighbours, double a) {
  double sum = 0;
  for (int64_t i = 0; i < events->len && isfinite(sum); i++) {
    const tct_event *e = &events->at[i];
    bool paid = tct_work_pay(e->kind == TCT_EV_EXPONENTIAL ? CHOICE : CLOSED);
    sum += paid ? (double)e->count * event_renyi(e, neighbours, a) : INFINITY;
  }
  return sum;
}

static double converted(double renyi, double delta, double a) {
  return at_least_0(renyi + log1p(-1 / a) - (log(delta) + log(a)) / (a - 1));
}

static double epsilon_at_order(const tct_events *events, tct_neighbours neighbours, double delta, double a) {
  return converted(tct_second_renyi(events, neighbours, a), delta, a);
}

/* Least over orders: a coarse grid in log(a-1) from 1e-3 to 1e4, then golden sections around its best.  A divergence
 * grows with its order: where it says too much even at delta 1, no larger order says less. */
static double renyi_epsilon(const tct_events *events, tct_neighbours neighbours, double delta) {
  double best = INFINITY, at = 0, step = log(1e7) / (GRID - 1), start = log(1e-3);
  for (int i = 0; i < GRID; i++) {
    double a = 1 + exp(start + i * step), renyi = tct_second_renyi(events, neighbours, a);
    double value = converted(renyi, delta, a);
    if (value < best) best = value, at = start + i * step;
    if (isfinite(best) && converted(renyi, 1, a) > best) break;
  }
  double low = at - step, high = at + step, ratio = (sqrt(5) - 1) / 2;
  for (int i = 0; i < GOLDEN && isfinite(best) && high - low > 1e-6; i++) {
    double x = high - ratio * (high - low), y = low + ratio * (high - low);
    double fx = epsilon_at_order(events, neighbours, delta, 1 + exp(x));
    double fy = epsilon_at_order(events, neighbours, delta, 1 + exp(y));
    best = fmin(best, fmin(fx, fy));
    if (fx < fy)
      high = y;
    else
      low = x;
  }
  return best;
}

/* ---- together --------------------------------------------------------------------------------- */

/* A step that shows everything with a chance of delta, and otherwise nothing. */
static bool fails_alone(const tct_event *e) { return e->kind == TCT_EV_APPROX && e->epsilon == 0; }

static double chance_of_failure(const tct_events *events) {
  double holds = 0; /* logarithm */
  for (int64_t i = 0; i < events->len; i++)
    if (fails_alone(&events->at[i])) holds += (double)events->at[i].count * log1p(-events->at[i].delta);
  return -expm1(holds);
}

/* Lower bounds: all gaussian events together, and each sampled step alone in both directions. */
static double lower_bound(const tct_events *events, double factor, double delta, int *others) {
  double square = 0, best = 0;
  for (int64_t i = 0; i < events->len; i++) {
    const tct_event *e = &events->at[i];
    *others |= e->kind != TCT_EV_GAUSSIAN && !fails_alone(e);
    if (e->kind == TCT_EV_GAUSSIAN)
      square +=
          (double)e->count * factor * TCT_POINT(second_opinion_halves_its_noise, factor, 1) / (e->noise * e->noise);
    if (e->kind != TCT_EV_SAMPLED_GAUSSIAN) continue;
    for (int forward = factor > 1; forward < 2; forward++) { /* a replaced pair is its own reverse */
      worlds own = {1 / e->noise, e->rate, forward, factor > 1};
      if (!(best > 0 && exact_delta(&own, best) <= delta)) best = fmax(best, exact_epsilon(&own, delta));
    }
  }
  return square > 0 ? fmax(best, exact_epsilon(&(worlds){sqrt(square), 1, 1, 0}, delta)) : best;
}

/* Pure and approximate steps: epsilons and deltas add up. */
static double plain_sum(const tct_events *events, double factor, double delta) {
  double epsilon = 0, left = delta;
  for (int64_t i = 0; i < events->len; i++) {
    const tct_event *e = &events->at[i];
    double k = (double)e->count;
    if (e->kind == TCT_EV_LAPLACE)
      epsilon += k * factor / e->noise;
    else if (e->kind == TCT_EV_EXPONENTIAL || e->kind == TCT_EV_PURE || e->kind == TCT_EV_APPROX)
      epsilon += k * e->epsilon;
    else
      return INFINITY;
    if (e->kind == TCT_EV_APPROX) left -= k * e->delta;
  }
  return left >= 0 ? epsilon : INFINITY;
}

static const double LARGEST = 600; /* e^epsilon is a double up to there */

/* Nothing but one sampled step, in the range where its curve is exact: then the lower bound is the cost. */
static bool is_one_sampled_step(const tct_events *events, double lower) {
  const tct_event *e = events->at;
  return events->len == 1 && e->kind == TCT_EV_SAMPLED_GAUSSIAN && e->count == 1 && 1 / e->noise <= FAR_APART &&
         lower < TCT_POINT(second_opinion_of_a_step_beyond_its_range, LARGEST, 1e6);
}

void tct_second_opinion(const tct_events *events, tct_neighbours neighbours, double delta, tct_second *out) {
  double factor = neighbours == TCT_REPLACE_ONE ? 2 : 1, left = delta;
  int others = 0;
  *out = (tct_second){.upper = INFINITY};
  for (int64_t i = 0; i < events->len; i++) {
    const tct_event *e = &events->at[i];
    if ((tct_event_kinds[e->kind].flags & TCT_EVENT_NOISY) && !(e->noise > 0)) return; /* nothing is hidden */
    if (e->kind == TCT_EV_APPROX) left -= (double)e->count * e->delta;
  }
  out->lower = lower_bound(events, factor, delta, &others);
  /* All is shown with the chance of a failure, and otherwise the Gaussians alone. */
  double fails = chance_of_failure(events);
  others |= fails > 0 && !(out->lower > 0);
  if (!others && fails > 0)
    out->lower = fails < delta ? lower_bound(events, factor, (delta - fails) / (1 - fails), &others) : INFINITY;
  if (!others || is_one_sampled_step(events, out->lower)) {
    out->upper = out->lower < FAR ? out->lower : INFINITY;
    out->exact = events->len > 0;
    snprintf(out->how, sizeof out->how, "exact, by integrating the Gaussian densities");
    return;
  }
  if (left > 0) out->upper = renyi_epsilon(events, neighbours, left);
  snprintf(out->how, sizeof out->how, "Renyi divergences by numerical integration");
  double blurred = blurred_epsilon(events, factor, delta);
  if (blurred < out->upper) {
    out->upper = blurred;
    snprintf(out->how, sizeof out->how, "the curve of objective perturbation by numerical integration");
  }
  double plain = plain_sum(events, factor, delta);
  if (plain < out->upper) {
    out->upper = plain;
    snprintf(out->how, sizeof out->how, "plain sum of the steps' epsilons");
  }
}
