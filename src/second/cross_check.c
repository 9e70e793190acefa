/* cross_check.c - a second opinion on what events cost, by other methods than the accountants'.
 *
 * It shares no mathematics with account/, only the purse that both pay from, and prefers the plainest method that is
 * right:
 *
 * Densities (densities.h): all Gaussian steps together are exact when nothing else occurs, and a lower bound otherwise:
 * who sees fewer releases cannot know more.  So is one sampled step.  One objective perturbation with Gaussian steps
 * has a curve of its own, and so has one choice.  Many are at least what fair ones cost, by the binomial law.
 *
 * Everything: Renyi divergences from their definition.  That of the sampled Gaussian is
 *   1/(a-1) log E_{x ~ N(0,m^2)} ((1-q) + q e^{(2x-1)/(2m^2)})^a        (Mironov, Talwar, Zhang 2019, eq. 5)
 * by the trapezoidal rule on the real line, which converges geometrically for analytic integrands; any
 * real order a > 1 works alike, where account/ uses series.  The conversion is that of Canonne, Kamath,
 * Steinke 2020, prop. 12: epsilon = r(a) + log((a-1)/a) - (log delta + log a)/(a-1), least over a.
 *
 * A claim is held against each method at its own epsilon, which takes one sum where a figure takes fifty. */
#include "second/cross_check.h"

#include "account/curves/work.h"
#include "core/number.h"
#include "core/point.h"
#include "second/densities.h"

#include <math.h>
#include <stdio.h>

enum { GRID = 123, GOLDEN = 28, TRAPEZE_MOST = 400000 };
static const double LEAST_ORDER = 1e-3, MOST_ORDER = 1e9; /* less 1 */
/* Nanoseconds of a point of a sum over a mixture's densities.  Of a divergence in closed form, and of a choice's, which
 * is searched for. */
static const double MIXED = 100, CLOSED = 150, CHOICE = 10e3;

/* ---- Renyi divergences by definition --------------------------------------------------------- */

/* What is no number proves nothing. */
static double at_least_0(double bound) { return bound >= 0 ? bound : bound < 0 ? 0 : INFINITY; }

/* replaced: of the mixture with 1 from that with -1, else from the law without the record. */
static double sampled_renyi(double m, double q, double a, int replaced) {
  double h = fmin(m / 8, m * m / 2); /* the integrand's nearest singularity is pi m^2 off the real line */
  double low = -13 * m, high = (replaced ? 2 * a : a) + 13 * m, top = -INFINITY, sum = 0;
  if (!((high - low) / h <= TRAPEZE_MOST && tct_work_pay((high - low) / h * MIXED))) return INFINITY;
  for (double x = low; x <= high; x += h) {
    double value = tct_log_density(x / m) - log(m) + a * tct_log_mix(x / m, 1 / m, q);
    if (replaced) value -= (a - 1) * tct_log_mix(x / m, -1 / m, q);
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

static double minus_two_point(double t, const void *user) {
  const double *of = user;
  return -two_point(t, of[0], of[1]);
}

/* An exponential choice has losses within an interval of length epsilon (bounded range).  The divergence is largest for
 * two points at its ends.  The worst place of the interval is found by golden sections. */
static double bounded_range_divergence(double epsilon, double a) {
  const double of[2] = {epsilon, a};
  double bound = fmin(a * epsilon * epsilon / 8, epsilon);
  if (epsilon < 1e-6) return bound; /* where the two points cancel to few digits */
  return fmin(bound, -tct_golden_least(minus_two_point, of, 0, epsilon, TCT_CHOICE_STEPS, -INFINITY) * (1 + 1e-9));
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

typedef struct at_delta {
  const tct_events *events;
  tct_neighbours neighbours;
  double delta;
} at_delta;

static double at_order(double log_order, const void *user) {
  const at_delta *q = user;
  double a = 1 + exp(log_order);
  return converted(tct_second_renyi(q->events, q->neighbours, a), q->delta, a);
}

/* Least over orders: a coarse grid in log(a-1), then golden sections around its best.  A divergence grows with its
 * order: where it says too much even at delta 1, no larger order says less.  Ends early at what is `enough`. */
static double renyi_epsilon(const tct_events *events, tct_neighbours neighbours, double delta, double enough) {
  const at_delta of = {events, neighbours, delta};
  double best = INFINITY, at = 0, step = log(MOST_ORDER / LEAST_ORDER) / (GRID - 1), start = log(LEAST_ORDER);
  for (int i = 0; i < GRID && best > enough; i++) {
    double a = 1 + exp(start + i * step), renyi = tct_second_renyi(events, neighbours, a);
    double value = converted(renyi, delta, a);
    if (value < best) best = value, at = start + i * step;
    if (isfinite(best) && converted(renyi, 1, a) > best) break;
  }
  if (isinf(best) || best <= enough) return best;
  return fmin(best, tct_golden_least(at_order, &of, at - step, at + step, GOLDEN, enough));
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

/* What a list says to each method. */
typedef struct question {
  const tct_events *events;
  double factor;            /* two records' terms move where one is replaced */
  double mu;                /* of all Gaussian steps together; 0: there are none */
  const tct_event *objpert; /* the only one, with Gaussian steps alone beside it; or NULL */
  const tct_event *choice;  /* by an exponential choice, and nothing else; or NULL */
  double delta, left;       /* left: after the failures of approximate steps, which add up */
  double hidden;            /* delta of the Gaussian steps where others only fail: all is shown with their chance */
  bool gaussian;            /* nothing but Gaussian steps, and chances of a failure beside them */
  bool shown;               /* nothing is hidden */
} question;

static void ask(const tct_events *events, tct_neighbours neighbours, double delta, question *q) {
  int64_t gaussian = 0, failing = 0;
  double square = 0, factor = neighbours == TCT_REPLACE_ONE ? 2 : 1;
  *q = (question){.events = events, .factor = factor, .delta = delta, .left = delta};
  for (int64_t i = 0; i < events->len; i++) {
    const tct_event *e = &events->at[i];
    q->shown |= (tct_event_kinds[e->kind].flags & TCT_EVENT_NOISY) && !(e->noise > 0);
    if (e->kind == TCT_EV_APPROX) q->left -= (double)e->count * e->delta;
    if (e->kind == TCT_EV_OBJPERT && e->count == 1) q->objpert = e;
    failing += fails_alone(e), gaussian += e->kind == TCT_EV_GAUSSIAN;
    if (e->kind == TCT_EV_GAUSSIAN)
      square +=
          (double)e->count * factor * TCT_POINT(second_opinion_halves_its_noise, factor, 1) / (e->noise * e->noise);
  }
  if (gaussian != events->len - 1) q->objpert = NULL;
  if (events->len == 1 && events->at->kind == TCT_EV_EXPONENTIAL && events->at->count == 1) q->choice = events->at;
  double fails = chance_of_failure(events);
  q->mu = sqrt(square);
  q->gaussian = gaussian > 0 && gaussian + failing == events->len;
  q->hidden = fails > 0 ? (delta - fails) / (1 - fails) : delta;
}

static tct_worlds worlds_of(const question *q) { return (tct_worlds){q->mu, 1, 1, 0}; }

/* One direction of a sampled step alone; a replaced pair is its own reverse. */
static tct_worlds sampled_alone(const question *q, const tct_event *e, int forward) {
  return (tct_worlds){1 / e->noise, e->rate, forward, q->factor > 1};
}

/* Lower bounds: all gaussian events together, and each sampled step alone in both directions. */
static double lower_bound(const question *q) {
  double best = 0;
  tct_worlds all = worlds_of(q);
  for (int64_t i = 0; i < q->events->len; i++) {
    const tct_event *e = &q->events->at[i];
    for (int forward = q->factor > 1; forward < 2 && e->kind == TCT_EV_SAMPLED_GAUSSIAN; forward++) {
      tct_worlds own = sampled_alone(q, e, forward);
      if (!(best > 0 && tct_worlds_delta(&own, best) <= q->delta))
        best = fmax(best, tct_worlds_epsilon(&own, q->delta));
    }
  }
  if (q->gaussian) return q->hidden > 0 ? tct_worlds_epsilon(&all, q->hidden) : INFINITY;
  return q->mu > 0 ? fmax(best, tct_worlds_epsilon(&all, q->delta)) : best;
}

/* The curve of a list that has one of its own: an objective perturbation with Gaussian steps, or one choice. */
static double own_delta(const question *q, double epsilon) {
  if (q->objpert) return tct_objpert_delta(q->objpert, q->factor, q->mu, epsilon);
  return q->choice ? tct_choice_delta(q->choice->epsilon, epsilon) : INFINITY;
}

static double own_epsilon(const question *q) {
  if (!q->objpert && !q->choice) return INFINITY;
  double low = q->objpert ? q->objpert->shift : 0, high = q->choice ? q->choice->epsilon : low + 1;
  while (!(own_delta(q, high) <= q->delta)) {
    if (high > TCT_SECOND_FAR) return INFINITY;
    high *= 2;
  }
  TCT_HALVE(halving < 50 && high - low > 1e-9 * high, low, high, middle, own_delta(q, middle) <= q->delta);
  return high;
}

/* Pure and approximate steps: epsilons and deltas add up. */
static double plain_sum(const question *q) {
  double epsilon = 0;
  for (int64_t i = 0; i < q->events->len; i++) {
    const tct_event *e = &q->events->at[i];
    double k = (double)e->count;
    if (e->kind == TCT_EV_LAPLACE)
      epsilon += k * q->factor / e->noise;
    else if (e->kind == TCT_EV_EXPONENTIAL || e->kind == TCT_EV_PURE || e->kind == TCT_EV_APPROX)
      epsilon += k * e->epsilon;
    else
      return INFINITY;
  }
  return q->left >= 0 ? epsilon : INFINITY;
}

static const double LARGEST = 600; /* e^epsilon is a double up to there */

/* Nothing but one sampled step, in the range where its curve is exact: then the lower bound is the cost. */
static bool is_one_sampled_step(const tct_events *events, double lower) {
  const tct_event *e = events->at;
  return events->len == 1 && e->kind == TCT_EV_SAMPLED_GAUSSIAN && e->count == 1 && 1 / e->noise <= TCT_SECOND_APART &&
         lower < TCT_POINT(second_opinion_of_a_step_beyond_its_range, LARGEST, 1e6);
}

void tct_second_opinion(const tct_events *events, tct_neighbours neighbours, double delta, tct_second *out) {
  question q;
  ask(events, neighbours, delta, &q);
  *out = (tct_second){.upper = INFINITY};
  if (q.shown) return;
  out->lower = lower_bound(&q);
  if (q.gaussian || is_one_sampled_step(events, out->lower)) {
    out->upper = out->lower;
    out->exact = true;
    snprintf(out->how, sizeof out->how, "exact, by integrating the Gaussian densities");
    return;
  }
  if (q.left > 0) out->upper = renyi_epsilon(events, neighbours, q.left, 0);
  snprintf(out->how, sizeof out->how, "Renyi divergences by numerical integration");
  double own = own_epsilon(&q);
  if (own < out->upper) {
    out->upper = own;
    snprintf(out->how, sizeof out->how,
             q.choice ? "the curve of a choice, by its worst two points"
                      : "the curve of objective perturbation by numerical integration");
  }
  double plain = plain_sum(&q);
  if (plain < out->upper) {
    out->upper = plain;
    snprintf(out->how, sizeof out->how, "plain sum of the steps' epsilons");
  }
}

/* ---- a claim -------------------------------------------------------------------------------------------------- */

/* Does a lower bound contradict it? */
static bool too_low(const question *q, double epsilon) {
  tct_worlds all = worlds_of(q);
  for (int64_t i = 0; i < q->events->len; i++)
    for (int forward = q->factor > 1; forward < 2 && q->events->at[i].kind == TCT_EV_SAMPLED_GAUSSIAN; forward++) {
      tct_worlds own = sampled_alone(q, &q->events->at[i], forward);
      if (epsilon < TCT_SECOND_FAR && tct_worlds_delta(&own, epsilon) > q->delta) return true;
    }
  for (int64_t i = 0; i < q->events->len; i++) {
    const tct_event *e = &q->events->at[i];
    if (e->kind == TCT_EV_EXPONENTIAL && tct_fair_choices_delta(e->epsilon, e->count, epsilon) > q->delta) return true;
  }
  if (q->gaussian) return !(q->hidden > 0) || tct_worlds_delta(&all, epsilon) > q->hidden;
  return q->mu > 0 && tct_worlds_delta(&all, epsilon) > q->delta;
}

static bool proved(const question *q, tct_neighbours neighbours, double epsilon) {
  if (plain_sum(q) <= epsilon) return true;
  if (own_delta(q, epsilon) <= q->delta) return true;
  return q->left > 0 && renyi_epsilon(q->events, neighbours, q->left, epsilon) <= epsilon;
}

tct_second_claim tct_second_of_claim(const tct_events *events, tct_neighbours neighbours, double epsilon, double delta,
                                     bool tight) {
  tct_second_claim said = {false, false};
  question q;
  ask(events, neighbours, delta, &q);
  if (q.shown) return said;
  said.possible = !too_low(&q, epsilon);
  bool step = is_one_sampled_step(events, epsilon);
  if (q.gaussian || step) {
    tct_worlds one = q.gaussian ? worlds_of(&q) : sampled_alone(&q, events->at, 1);
    said.holds = said.possible && tct_worlds_delta(&one, epsilon) <= q.hidden;
  } else {
    said.holds = tight || proved(&q, neighbours, epsilon);
  }
  return said;
}
