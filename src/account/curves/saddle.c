/* saddle.c - where a composed privacy loss decides: a forecast of epsilon, the tilt and the window to compute it in.
 *
 * With K the log-moment of the sum, the saddle point of epsilon is K'(t) = epsilon, and
 *   delta = e^{K(t) - t epsilon} (R(tv) - R((t+1)v)),  v^2 = K''(t),  R(z) = e^{z^2/2} P[N > z].
 * This is exact for Gaussian lists, and right to a few percent for most others.  The integrals are sums over quadrature
 * points, so that heavy tails are seen as they are, which no coarse grid shows. */
#include "account/curves/compare.h"
#include "account/curves/saddle.h"

#include "account/curves/normal.h"

#include "core/expm.h"
#include "core/lanes.h"

#include <math.h>

typedef struct moments {
  double k, mean, variance; /* log-moment and its derivatives */
} moments;

TCT_WIDE static void lift(const tct_nodes *step, double t, double peak, double *weight) {
  for (int64_t i = 0; i < step->len; i++) weight[i] = step->mass[i] * tct_exp(t * step->loss[i] - peak);
}

static void add_step(const tct_nodes *step, double t, moments *m) {
  double peak = -INFINITY, s0 = 0, s1 = 0, s2 = 0, centre = 0, weight[TCT_NODES];
  for (int64_t i = 0; i < step->len; i++) {
    double power = t * step->loss[i];
    if (step->mass[i] > 0 && power > peak) peak = power, centre = step->loss[i];
  }
  lift(step, t, peak, weight);
  for (int64_t i = 0; i < step->len; i++) {
    double away = step->loss[i] - centre;
    s0 += weight[i];
    s1 += weight[i] * away;
    s2 += weight[i] * away * away;
  }
  double count = (double)step->count;
  m->k += count * (peak + log(s0));
  m->mean += count * (centre + s1 / s0);
  m->variance += count * tct_max(0, s2 / s0 - (s1 / s0) * (s1 / s0));
}

static moments moments_at(const tct_nodes *nodes, int n, double t) {
  moments m = {0, 0, 0};
  for (int j = 0; j < n; j++) add_step(&nodes[j], t, &m);
  return m;
}

static double log_delta_at(const moments *m, double t, double epsilon) {
  double v = sqrt(m->variance), low = t * v, high = (t + 1) * v;
  double fall = v < 1e-3 ? v * tct_mills_gap(low + 0.5 * v) : tct_mills(low) - tct_mills(high);
  return m->k - t * epsilon + log(tct_max(fall, 1e-300)) - 0.9189385332046727; /* log sqrt(2 pi) */
}

static void fill_table(const tct_nodes *nodes, int n, tct_saddle *out) {
  static const double multiple[TCT_ORDERS] = {-6,  -3,   -1.5, -0.7, -0.3, -0.1, 0,    0.002, 0.007, 0.015, 0.03, 0.05,
                                              0.1, 0.15, 0.2,  0.26, 0.33, 0.4,  0.48, 0.56,  0.64,  0.72,  0.8,  0.9,
                                              1,   1.1,  1.2,  1.35, 1.5,  1.75, 2,    2.4,   3,     4,     6,    9};
  for (int i = 0; i < TCT_ORDERS; i++) {
    double order = multiple[i] * out->t;
    moments m = moments_at(nodes, n, order);
    out->order[i] = order;
    out->log_moment[i] = m.k;
    out->deviation[i] = sqrt(m.variance);
  }
}

void tct_saddle_find(const tct_nodes *nodes, int n, double epsilon, double log_delta, tct_saddle *out) {
  moments m = moments_at(nodes, n, 0);
  double least = tct_min(1e-4, 1e-3 / sqrt(m.variance)), low = log(least), high = log(1e5); /* wide sums tilt little */
  *out = (tct_saddle){.spread = sqrt(m.variance), .epsilon = epsilon, .log_delta = log_delta};
  for (int j = 0; j < n; j++) out->steps += (double)nodes[j].count, out->atoms |= nodes[j].atoms;
  while (high - low > 1e-3) {
    double middle = 0.5 * (low + high), t = exp(middle);
    m = moments_at(nodes, n, t);
    bool more = isnan(epsilon) ? log_delta_at(&m, t, m.mean) > log_delta : m.mean < epsilon;
    if (more)
      low = middle;
    else
      high = middle;
  }
  out->t = exp(low);
  m = moments_at(nodes, n, out->t);
  /* No saddle point above 0: epsilon lies below the mean, or delta is too large for any. */
  if (out->t < 1.01 * least) out->t = tct_max(out->t, 0.2 / tct_max(out->spread, 1e-4));
  if (isnan(epsilon)) out->epsilon = low > log(1.01 * least) ? tct_max(m.mean, 0) : 0;
  if (isnan(log_delta)) out->log_delta = tct_min(0, log_delta_at(&m, exp(low), epsilon));
  fill_table(nodes, n, out);
}

/* The loss beyond which the mass tilted by order[at] is below e^log_mass, above (side 1) or below (side -1). */
static double edge(const tct_saddle *s, int at, int side, double max, double log_mass, double *order) {
  double best = INFINITY;
  for (int i = at + side; i >= 0 && i < TCT_ORDERS; i += side) {
    if (i > at + 1 && s->order[i] > max) break;
    double away = s->order[i] - s->order[at], loss = (s->log_moment[i] - s->log_moment[at] - log_mass) / away;
    if (loss * side < best) best = loss * side, *order = s->order[i];
  }
  return best * side;
}

/* log of what the transform's rounding adds to delta, in tilted units: compose.c's bound for a point, times the points
 * that count.  The bound is 8e-14 for each step times the mean size of the spectrum.  That is the height of a smooth
 * law, but may be 1 where there are atoms. */
static double log_rounding(const tct_saddle *s, int at, double h) {
  double height = s->atoms ? 1 : tct_min(1, h / (2.5 * s->deviation[at]));
  return log(8e-14 * s->steps * (height + exp2(1 - s->steps)) / tct_min(1, s->order[at] * h));
}

void tct_saddle_window(const tct_saddle *saddle, double low, double log_part, double h, tct_window *out) {
  enum { ZERO = 6, LAST = 26 }; /* the table's order 0, and the largest tilt that is tried */
  double max = 0.5 / h, min = INFINITY, min_slack = INFINITY, order_top = 0, log_mass = saddle->log_delta + log_part;
  double top = edge(saddle, ZERO, 1, max, log_mass, &order_top);
  *out = (tct_window){.top = top, .floor = low, .order_top = order_top};
  for (int i = ZERO + 1; i <= LAST; i++) {
    double t = saddle->order[i], wrap = 0, below = 0;
    if (i > ZERO + 1 && t > max) break;
    double part = log_mass + t * low - saddle->log_moment[i];           /* tilted mass that is allowed to fold */
    double slack = tct_max(log_rounding(saddle, i, h) - part - 1.5, 0); /* rounding may be some times that */
    double length = tct_max(edge(saddle, i, 1, max, part, &wrap) - low, top - edge(saddle, i, -1, max, part, &below));
    if (slack > min_slack || (slack == min_slack && length >= min)) continue;
    min = length, min_slack = slack;
    out->t = t, out->length = length, out->order_wrap = wrap, out->order_below = below;
  }
  out->t = tct_min(out->t, 4 * max); /* a saddle point that ran away: any tilt is sound, this one the grid can bear */
}

void tct_saddle_wide_window(const tct_saddle *saddle, const tct_pmf *pmf, int n, double low, double outside,
                            double *log_part, tct_window *out) {
  enum { WIDENINGS = 12 };
  for (int k = 0; k < WIDENINGS; k++, *log_part -= 8) {
    tct_saddle_window(saddle, low, *log_part, pmf[0].h, out);
    if (!(tct_compose_outside(pmf, n, out) > outside)) return;
  }
}
