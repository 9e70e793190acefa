/* renyi.c - Renyi divergences of the events, and the conversion of a Renyi curve to (epsilon, delta).
 *
 * All divergences are (1/(alpha-1)) log(1 + m) with m = E_Q[(1+y)^alpha - 1 - alpha*y], y = dP/dQ - 1.  The subtracted
 * alpha*y has mean 0.  With it every term is >= 0 (convexity), so that m keeps its relative accuracy when it is 1e-12
 * and is then multiplied by 1e7 steps. */
#include "account/curves/compare.h"
#include "account/curves/renyi.h"

#include "account/curves/normal.h"
#include "account/curves/work.h"
#include "core/point.h"

#include <math.h>
#include <stdio.h>

double tct_neighbour_factor(tct_neighbours neighbours) {
  return neighbours == TCT_REPLACE_ONE ? TCT_POINT(replaced_records_charged_once, 2, 1) : 1;
}

bool tct_event_is_gaussian(const tct_event *event) {
  switch (event->kind) {
    case TCT_EV_GAUSSIAN: return true;
    case TCT_EV_SAMPLED_GAUSSIAN: return event->rate == 1;
    case TCT_EV_LAPLACE:
    case TCT_EV_EXPONENTIAL:
    case TCT_EV_PURE:
    case TCT_EV_APPROX:
    case TCT_EV_ZCDP:
    case TCT_EV_OBJPERT: return false;
  }
  return false;
}

bool tct_event_is_pure(const tct_event *event) {
  switch (event->kind) {
    case TCT_EV_LAPLACE:
    case TCT_EV_EXPONENTIAL:
    case TCT_EV_PURE:
    case TCT_EV_APPROX: return true;
    case TCT_EV_GAUSSIAN:
    case TCT_EV_SAMPLED_GAUSSIAN:
    case TCT_EV_ZCDP:
    case TCT_EV_OBJPERT: return false;
  }
  return false;
}

double tct_event_pure_epsilon(const tct_event *event, tct_neighbours neighbours) {
  if (!tct_event_is_pure(event)) return 0;
  return event->kind == TCT_EV_LAPLACE ? tct_neighbour_factor(neighbours) / event->noise : event->epsilon;
}

double tct_laplace_slack(const tct_event *event, tct_neighbours neighbours) {
  if (event->kind != TCT_EV_LAPLACE) return 0;
  return tct_min(0x1p-42, tct_event_pure_epsilon(event, neighbours) * 0x1p-22) * (1 + TCT_MARGIN);
}

/* Their product with what rounding may hide in it, or the plain sum, which a single event's delta is to the bit. */
double tct_events_failure(const tct_events *events) {
  double log_holds = 0, sum = 0;
  for (int64_t i = 0; i < events->len; i++) {
    const tct_event *e = &events->at[i];
    if (e->kind != TCT_EV_APPROX || e->delta == 0) continue;
    log_holds += (double)e->count * log1p(-e->delta);
    sum = tct_sum(sum, tct_product(tct_count(e->count, INFINITY), e->delta, INFINITY), INFINITY);
  }
  return tct_min(sum, -expm1(log_holds * (1 + TCT_MARGIN)));
}

double tct_delta_left(double delta, double failure) {
  return failure > 0 ? (delta - failure) / (1 - failure) * (1 - TCT_MARGIN) : delta;
}

/* log((1+y)^alpha - 1 - alpha*y) for y > -1. */
static double log_bregman(double alpha, double y) {
  if (fabs(y) < 0.05 && alpha * fabs(y) < 0.05) {
    double term = 0.5 * alpha * (alpha - 1) * y * y, sum = term;
    for (int k = 3; k <= 16 && fabs(term) > 1e-18 * sum; k++) sum += term *= (alpha - k + 1) / k * y;
    return log(sum);
  }
  double power = alpha * log1p(y);
  if (power > 600) return power + log1p(-alpha * exp(log(y) - power));
  return log(expm1(power) - alpha * y);
}

static void add_log(double *log_sum, double term) {
  if (term <= *log_sum) {
    *log_sum += log1p(exp(term - *log_sum));
  } else {
    *log_sum = term + log1p(exp(*log_sum - term));
  }
}

/* Trapezoidal sum over x of density(x) ((1+y)^alpha - 1 - alpha y), y = rate*(e^{(2x-1)/2s^2} - 1).  The integrand is
 * analytic in the strip |Im x| < pi s^2, so a step of c*s errs by exp(a^2/2s^2 - 2 pi a/(c s)) for every a in the
 * strip. c below keeps the exponent under -45.  What the range of 13 s beyond both humps (x = 0 and x = alpha) leaves
 * out is below e^-80.  A sum of more points than MOST_POINTS is not worth its time.  The divergence is quasi-convex
 * (van Erven and Harremoes 2014, theorem 13), so it is at most that of the step without sampling. */
double tct_sampled_gaussian_renyi(double noise, double rate, double alpha) {
  static const double MOST_POINTS = 1 << 17, POINT = 80; /* nanoseconds a point */
  if (noise == 0) return INFINITY;
  if (rate == 1) return alpha / (2 * noise * noise);
  double s = noise, edge = 9.5 / s < 3.1415 * 1.0 ? 9.5 / s : 3.1415; /* a = edge * s^2 */
  double c = 6.283185307179586 * edge * s / (45 + 0.5 * edge * edge * s * s);
  double step = c * s, low = -13 * s, high = (alpha > 2 ? alpha : 2) + 13 * s, log_sum = -INFINITY;
  double points = (high - low) / step;
  if (!(points <= MOST_POINTS)) return alpha / (2 * s * s);
  if (!tct_work_pay(points * POINT)) return INFINITY;
  for (int64_t j = 0; low + (double)j * step <= high; j++) {
    double x = low + (double)j * step, power = (2 * x - 1) / (2 * s * s), log_term;
    if (power > 600)
      log_term = alpha * (log(rate) + power);
    else
      log_term = log_bregman(alpha, rate * expm1(power));
    log_term -= x * x / (2 * s * s);
    if (!(log_term <= log_sum - 40)) add_log(&log_sum, log_term);
  }
  double log_m = log_sum + log(c) - 0.91893853320467274178 + 1e-11;
  double log_moment = log_m > 40 ? log_m : log1p(exp(log_m));
  return log_moment / (alpha - 1);
}

/* Randomised response, the worst epsilon-DP pair: m = (1-e^{-b})(e^{alpha eps}-1)/(1+e^eps). */
static double pure_renyi(double epsilon, double alpha) {
  double b = (alpha - 1) * epsilon;
  if (alpha * epsilon > 600) return epsilon;
  double m = -expm1(-b) * expm1(alpha * epsilon) / (1 + exp(epsilon));
  double value = log1p(m) / (alpha - 1);
  return value < epsilon ? value : epsilon;
}

/* epsilon-bounded range (Dong, Durfee and Rogers 2020): the loss lies in [t-eps, t] for some t, and the two-point law
 * on the ends is the worst.  The order's moment is largest at one t in closed form. */
static double bounded_range_renyi(double epsilon, double alpha) {
  if (epsilon == 0) return 0;
  if (alpha * epsilon > 600) return epsilon;
  double log_ratio = log((alpha - 1) / alpha) + log(-expm1(-epsilon * alpha)) - log(-expm1(-epsilon * (alpha - 1)));
  double t = tct_min(epsilon, tct_max(0, log_ratio + epsilon));
  double high = expm1(epsilon - t) / expm1(epsilon), low = expm1(-t) / expm1(-epsilon), log_m = -INFINITY;
  if (high > 0 && t > 0) add_log(&log_m, log(high) + log_bregman(alpha, expm1(t)));
  if (low > 0 && t < epsilon) add_log(&log_m, log(low) + log_bregman(alpha, expm1(t - epsilon)));
  double value = log1p(exp(log_m)) / (alpha - 1), zcdp = alpha * epsilon * epsilon / 8;
  return tct_min(value, tct_min(zcdp, epsilon)); /* each is proved by itself */
}

/* Laplace, Mironov 2017 Prop. 6: ((a/(2a-1)) e^{(a-1)eps} + ((a-1)/(2a-1)) e^{-a eps}). */
static double laplace_renyi(double epsilon, double alpha) {
  if ((alpha - 1) * epsilon > 600) return epsilon;
  double m = alpha * expm1((alpha - 1) * epsilon) + (alpha - 1) * expm1(-alpha * epsilon);
  double value = log1p(m / (2 * alpha - 1)) / (alpha - 1);
  /* The two terms cancel to second order: below this the sum has fewer than six digits. */
  if (alpha * epsilon < 1e-5) value = pure_renyi(epsilon, alpha);
  return tct_min(value * (1 + 1e-9), epsilon);
}

/* The law max(0, N(mu^2/2, mu^2)) + shift of objpert. */
static double objpert_renyi(double mu, double shift, double alpha) {
  double log_moment = tct_log_upper_tail(0.5 * mu);
  add_log(&log_moment, 0.5 * alpha * (alpha - 1) * mu * mu + tct_log_upper_tail(-(alpha - 0.5) * mu));
  return (log_moment + TCT_MARGIN) / (alpha - 1) + shift;
}

double tct_event_rho(const tct_event *event, tct_neighbours neighbours) {
  double epsilon, factor = tct_neighbour_factor(neighbours);
  switch (event->kind) {
    case TCT_EV_GAUSSIAN:
    case TCT_EV_SAMPLED_GAUSSIAN: /* no amplified rho exists; the unsampled one holds */
      return 0.5 * (factor / event->noise) * (factor / event->noise);
    case TCT_EV_LAPLACE:
    case TCT_EV_PURE:
    case TCT_EV_APPROX: /* beside its failure, which tct_events_failure counts */
      epsilon = tct_event_pure_epsilon(event, neighbours);
      return tct_min(0.5 * epsilon * epsilon, epsilon);
    case TCT_EV_EXPONENTIAL: return tct_min(0.125 * event->epsilon * event->epsilon, event->epsilon);
    case TCT_EV_ZCDP: return event->rho;
    case TCT_EV_OBJPERT: return NAN;
  }
  return NAN;
}

bool tct_renyi_has(const tct_event *event, tct_neighbours neighbours, char *why, size_t size) {
  bool has = false;
  switch (event->kind) {
    case TCT_EV_GAUSSIAN:
    case TCT_EV_LAPLACE:
    case TCT_EV_EXPONENTIAL:
    case TCT_EV_PURE:
    case TCT_EV_APPROX:
    case TCT_EV_ZCDP: has = true; break;
    case TCT_EV_SAMPLED_GAUSSIAN: has = event->rate == 1 || neighbours == TCT_ADD_REMOVE; break;
    case TCT_EV_OBJPERT: has = neighbours == TCT_ADD_REMOVE; break;
  }
  if (!has) snprintf(why, size, "the divergence of %s is proved for add_remove only", tct_event_name(event->kind));
  return has;
}

double tct_event_renyi(const tct_event *event, tct_neighbours neighbours, double alpha) {
  switch (event->kind) {
    case TCT_EV_SAMPLED_GAUSSIAN:
      if (event->rate < 1) return tct_sampled_gaussian_renyi(event->noise, event->rate, alpha);
      return alpha * tct_event_rho(event, neighbours);
    case TCT_EV_LAPLACE:
      if (event->noise == 0) return INFINITY;
      return tct_min(
          laplace_renyi(tct_event_pure_epsilon(event, neighbours), alpha) + tct_laplace_slack(event, neighbours),
          pure_renyi(tct_event_pure_epsilon(event, neighbours), alpha));
    case TCT_EV_EXPONENTIAL: return bounded_range_renyi(event->epsilon, alpha);
    case TCT_EV_PURE:
    case TCT_EV_APPROX: return pure_renyi(event->epsilon, alpha);
    case TCT_EV_OBJPERT: return event->noise == 0 ? INFINITY : objpert_renyi(1 / event->noise, event->shift, alpha);
    case TCT_EV_GAUSSIAN:
    case TCT_EV_ZCDP: return alpha * tct_event_rho(event, neighbours);
  }
  return INFINITY;
}

double tct_renyi_epsilon_at(double alpha, double divergence, double delta) {
  return divergence + log1p(-1 / alpha) - (log(delta) + log(alpha)) / (alpha - 1);
}

typedef struct search {
  const tct_renyi *curve;
  double epsilon; /* delta is sought; NAN: epsilon is sought */
  double delta;
} search;

/* What is minimised over the order: epsilon, or log delta. */
static double search_value(const search *s, double alpha) {
  double divergence = s->curve->at(alpha, s->curve->user);
  if (isnan(s->epsilon)) return tct_renyi_epsilon_at(alpha, divergence, s->delta);
  return (alpha - 1) * (divergence - s->epsilon) + alpha * log1p(-1 / alpha) - log(alpha - 1);
}

/* Every order proves its value, so the search need not be exact: a grid over log(alpha-1), then
 * golden section to where rounding hides the minimum. */
static double search_order(const search *s, double *best_order) {
  enum { GRID = 24 };
  double from = log(2e-3), to = log(s->curve->order_max - 1), best = INFINITY;
  double width = (to - from) / (GRID - 1);
  int at = 0;
  for (int i = 0; i < GRID; i++) {
    double value = search_value(s, 1 + exp(from + i * width));
    if (value < best) best = value, at = i;
  }
  const double golden = 0.3819660112501051;
  double a = from + (at ? at - 1 : 0) * width, b = from + (at < GRID - 1 ? at + 1 : at) * width;
  double x = a + golden * (b - a), y = b - golden * (b - a);
  double fx = search_value(s, 1 + exp(x)), fy = search_value(s, 1 + exp(y));
  double order = 1 + exp(from + at * width);
  while (b - a > 1e-7) {
    if (fx < best) best = fx, order = 1 + exp(x);
    if (fy < best) best = fy, order = 1 + exp(y);
    if (fx < fy) {
      b = y, y = x, fy = fx;
      x = a + golden * (b - a);
      fx = search_value(s, 1 + exp(x));
    } else {
      a = x, x = y, fx = fy;
      y = b - golden * (b - a);
      fy = search_value(s, 1 + exp(y));
    }
  }
  if (best_order) *best_order = order;
  return best;
}

double tct_renyi_epsilon(const tct_renyi *curve, double delta, double *order) {
  if (!(delta > 0)) return INFINITY;
  search s = {curve, NAN, delta};
  double epsilon = search_order(&s, order);
  if (isnan(epsilon)) return INFINITY;
  return epsilon > 0 ? epsilon * (1 + TCT_MARGIN) : 0;
}

double tct_renyi_delta(const tct_renyi *curve, double epsilon, double *order) {
  search s = {curve, epsilon, NAN};
  double log_delta = search_order(&s, order);
  return log_delta < 0 ? exp(log_delta + TCT_MARGIN * (1 - log_delta)) : 1;
}
