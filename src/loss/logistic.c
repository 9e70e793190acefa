/* logistic.c - logistic loss l(z,y) = log(1 + exp(-yz)), y = -1 or +1.
 *
 * With m = yz and e = exp(-|m|): l = max(0,-m) + log(1+e) and l' = -y e/(1+e) (m >= 0) or -y/(1+e) (m < 0): no overflow
 * and no cancellation for any finite z.
 * Conjugate with b = ya: l*(-a) = b log b + (1-b) log(1-b) on [0,1].
 *
 * DUAL STEP: the zero over b' in (0,1) of f(b') = logit(b') + yu + s(b' - b).
 * newton = 1 is the paper's form: one Newton step of f from b.  Otherwise newton - 1 steps go in the logit t, b' =
 * 1/(1+e^-t): g(t) = t + yu + s(b' - b) has slope 1 + s b'(1-b') in [1, 1 + s/4], so it has no steep ends as f has. The
 * zero lies between logit(b) and -yu (g changes sign between them), and a step that leaves the bracket or does not
 * halve the previous one is replaced by bisection.
 *
 * The end of the domain: b' in [END, 1-END], END = 2^-50: 1 - b' then still has three correct bits, and its
 * logit, 34.7, is beyond any margin that changes the loss by 10^-15. alpha = 0 (the start) has no logit: the first step
 * then begins at b' = 1/2, where f is flattest, while the quadratic term stays centred at b. */
#include "loss/loops.h"
#include "core/expm.h"

#include <math.h>

#define END 0x1p-50

static inline double value(double z, double y, double h) {
  (void)h;
  double m = y * z, a = m < 0 ? m : -m;
  return (m < 0 ? -m : 0.0) + tct_log1p_unit(tct_exp(a));
}
static inline double slope(double z, double y, double h) {
  (void)h;
  double m = y * z, a = m < 0 ? m : -m, e = tct_exp(a);
  return -y * ((m < 0 ? 1.0 : e) / (1.0 + e));
}
static double curve(double z, double y, double h) {
  (void)h, (void)y;
  double e = tct_exp(-fabs(z)), d = 1 + e;
  return e / (d * d);
}
static double curvature_bound(double h) {
  (void)h;
  return 0.25;
}

static double slope_bound_within(double margin, double h) {
  (void)h;
  return 1 / (1 + exp(-margin));
}

static double entropy_term(double b) { return b > 0 ? b * log(b) : 0; }
static double conjugate(double a, double y, double h) {
  (void)h;
  double b = y * a;
  if (!(b >= 0 && b <= 1)) return INFINITY;
  return entropy_term(b) + (b < 1 ? (1 - b) * log1p(-b) : 0);
}

static double logit(double b) { return log(b / (1 - b)); }
static double sigmoid(double t) {
  double e = tct_exp(-fabs(t));
  return (t < 0 ? e : 1.0) / (1.0 + e);
}

typedef struct step_of {
  double yu, s, b; /* g(t) = t + yu + s (b'(t) - b) */
} step_of;

/* b' at the zero of g, from t with at = sigmoid(t), by at most `steps` safeguarded Newton steps; the zero lies between
 * `from` and `until`. */
static inline double newton_logit(step_of f, double t, double at, double from, double until, int steps) {
  double low = from < until ? from : until, high = from < until ? until : from, last = high - low;
  for (int k = 0; k < steps; k++) {
    double g = t + f.yu + f.s * (at - f.b);
    if (g > 0)
      high = t;
    else
      low = t;
    double move = -g / (1 + f.s * at * (1 - at)), to = t + move;
    if (!(to >= low && to <= high) || fabs(move) > 0.5 * last) to = 0.5 * (low + high);
    last = fabs(to - t);
    at = sigmoid(to);
    if (last <= 0x1p-50 * fabs(t)) break;
    t = to;
  }
  return at;
}

/* logit(1 - END), rounded to nearest. */
static const double limit = 0x1.1542457337d43p+5;

static double dual_step(double alpha, double u, double s, double y, double h, int newton) {
  (void)h;
  double centre = tct_clamp(y * alpha, END, 1 - END), yu = y * u;
  double b = alpha == 0 ? 0.5 : centre, t = alpha == 0 ? 0 : logit(centre);
  if (newton == 1) {
    b -= (t + yu + s * (b - centre)) / (1 / (b * (1 - b)) + s);
  } else {
    step_of f = {yu, s, centre};
    double t1 = tct_clamp(-yu, -limit, limit);
    if (alpha == 0) { /* from 1/2, or from t1 where the zero lies below it */
      t = t1 < 0 ? t1 : 0;
      b = newton_logit(f, t, sigmoid(t), -limit, t1, newton - 1);
    } else {
      b = newton_logit(f, t, centre, t, t1, newton - 1);
    }
  }
  return tct_dual_move_signed(alpha, tct_clamp(b, END, 1 - END), y, END, 1 - END);
}

/* Loops of one instruction set: out[i] = slope, and out[i] = value, i < n. */
#define LOOPS(level)                                                                                          \
  TCT_TARGET_##level static void slopes_##level(const double *restrict z, const double *restrict y, double h, \
                                                double *restrict out, int64_t n) {                            \
    for (int64_t i = 0; i < n; i++) out[i] = slope(z[i], y[i], h);                                            \
  }                                                                                                           \
  TCT_TARGET_##level static void values_##level(const double *restrict z, const double *restrict y, double h, \
                                                double *restrict out, int64_t n) {                            \
    for (int64_t i = 0; i < n; i++) out[i] = value(z[i], y[i], h);                                            \
  }
TCT_EACH_LEVEL(LOOPS)

static void slopes(const double *z, const double *y, double h, double *out, int64_t n) {
  TCT_BEST(slopes)(z, y, h, out, n);
}

static void values(const double *z, const double *y, double h, double *out, int64_t n) {
  TCT_BEST(values)(z, y, h, out, n);
}

static double sum(const double *z, const double *y, double h, int64_t n) {
  enum { BLOCK = 256 }; /* values of a block wait on the stack, in the first cache */
  double lane[TCT_LANES] = {0}, block[BLOCK];
  for (int64_t from = 0; from < n; from += BLOCK) {
    int64_t count = n - from < BLOCK ? n - from : BLOCK;
    values(z + from, y + from, h, block, count);
    for (int64_t i = 0; i < count; i++) lane[i % TCT_LANES] += block[i];
  }
  return tct_lanes_sum(lane);
}

const tct_loss_kind tct_loss_logistic = {
    .name = "logistic",
    .summary = "log(1 + exp(-yz)) for labels -1 and +1",
    .words = "A logistic regression",
    .liblinear = "L2R_LR",
    .link = TCT_LINK_LOGISTIC,
    .fused = TCT_FUSED_LOGISTIC,
    .binary = true,
    .one_sign = true,
    .slope_bound = 1,
    .slope_bound_within = slope_bound_within,
    TCT_LOSS_OWN,
    .conjugate = conjugate,
    .dual_step = dual_step,
};
