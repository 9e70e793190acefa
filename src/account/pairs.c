/* pairs.c - the dominating pair of each kind of event, bucket by bucket.
 *
 * A continuous part is a density under P over some variable x in which the loss rises, integrated over
 * each bucket by Gauss-Legendre on panels short against the density's own scale.  A loss l in
 * the bucket [e, e+h] sends the share (1 - e^-(l-e))/(1 - e^-h) of its mass up: P's and Q's masses of
 * the bucket are both kept, which is what makes the result dominate.
 *
 * The pairs (c = 1, s = noise):
 *   gaussian          loss N(mu^2/2, mu^2), mu = reach/s.
 *   sampled_gaussian  add_remove: P = (1-q)N(0,s^2) + qN(1,s^2), Q = N(0,s^2), and reversed;
 *                     replace_one: P = (1-q)N(0,s^2) + qN(1,s^2), Q with -1 (one coin for both records).
 *   laplace           reach/s = eps0: half the mass at eps0, e^-eps0/2 at -eps0, density e^{(l-eps0)/2}/4 between.
 *   pure, approx      randomised response; delta0 goes to infinity.
 *   exponential       eps0-bounded range: the loss lies in [t-eps0, t] for some t, and of all two-point laws on
 *                     such ranges the hockey-stick divergence at e^l is largest for t = (eps0+l)/2:
 *                     (1 - e^{(l-eps0)/2})^2/(1 - e^-eps0).  As a supremum of hockey-stick curves it is one
 *                     (Zhu, Dong and Wang 2022, Prop. 8): density e^{(l-eps0)/2}/(2(1-e^-eps0)) on [-eps0, eps0].
 *                     Its divergences are below randomised response's everywhere.
 *   objpert           SPEC section 5.  add_remove: max(0, N(mu^2/2, mu^2)) + a.  replace_one: the curve
 *                     2G_mu(l-a) + G_2mu(l-a) holds for l >= a; every hockey-stick curve is convex in e^l and 1
 *                     at e^l = 0, so it lies below the convex hull, whose tangent leaves the curve where
 *                     the sum of the three laws' masses above l is exactly 1. */
#include "account/grid.h"

#include "account/normal.h"
#include "account/renyi.h"

#include "core/alloc.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct pair {
  double low, high; /* range of x that is integrated */
  double scale;     /* length over which the density changes by a factor */
  double s, q, mu, shift, epsilon, weight;
  double (*x_of)(const struct pair *pair, double loss);
  void (*at)(const struct pair *pair, double x, double *density, double *loss);
} pair;

/* ---- sampled gaussian, add_remove -------------------------------------------------------------- */

static double remove_x(const pair *f, double loss) {
  double ratio = loss > 600 ? INFINITY : 1 + expm1(loss) / f->q;
  if (!(ratio > 0)) return -INFINITY;
  double log_ratio = isinf(ratio) ? loss - log(f->q) : log(ratio);
  return f->s * f->s * log_ratio + 0.5;
}

static void remove_at(const pair *f, double x, double *density, double *loss) {
  double power = (2 * x - 1) / (2 * f->s * f->s);
  if (power < 300) { /* exp and log cost half of expm1 and log1p; the loss's error is absolute, a few units of 1 */
    double ratio = (1 - f->q) + f->q * exp(power);
    *loss = log(ratio);
    *density = f->weight * ratio * exp(-x * x / (2 * f->s * f->s));
  } else {
    *loss = power + log(f->q);
    *density = f->weight * exp(*loss - x * x / (2 * f->s * f->s));
  }
}

/* ---- sampled gaussian, replace_one -------------------------------------------------------------- */

/* With c = q e^{-1/2s^2}: sinh(x/s^2 - l/2) = (1-q)/c sinh(l/2). */
static double replace_x(const pair *f, double loss) {
  double half = 0.5 * fabs(loss), log_c = log(f->q) - 1 / (2 * f->s * f->s), inner;
  if (loss == 0) return 0;
  double log_v = log1p(-f->q) - log_c + half + log(-expm1(-2 * half)) - M_LN2;
  inner = log_v > 300 ? log_v + M_LN2 : asinh(exp(log_v));
  return copysign(f->s * f->s * (half + inner), loss);
}

static void replace_at(const pair *f, double x, double *density, double *loss) {
  double rise = (2 * x - 1) / (2 * f->s * f->s), fall = (-2 * x - 1) / (2 * f->s * f->s);
  double up = rise < 600 ? log1p(f->q * expm1(rise)) : rise + log(f->q);
  double down = fall < 600 ? log1p(f->q * expm1(fall)) : fall + log(f->q);
  *loss = up - down;
  *density = f->weight * exp(up - x * x / (2 * f->s * f->s));
}

/* ---- laws in the loss itself ------------------------------------------------------------------- */

static double same_x(const pair *f, double loss) { return loss - f->shift; }

static void normal_at(const pair *f, double x, double *density, double *loss) {
  double z = (x - 0.5 * f->mu * f->mu) / f->mu;
  *loss = x + f->shift;
  *density = f->weight * exp(-0.5 * z * z);
}

static void three_normals_at(const pair *f, double x, double *density, double *loss) {
  double z = (x - 0.5 * f->mu * f->mu) / f->mu, y = (x - 2 * f->mu * f->mu) / (2 * f->mu);
  *loss = x + f->shift;
  *density = f->weight * (2 * exp(-0.5 * z * z) + 0.5 * exp(-0.5 * y * y));
}

static void exponential_at(const pair *f, double x, double *density, double *loss) {
  *loss = x;
  *density = f->weight * exp(0.5 * (x - f->epsilon));
}

/* ---- filling a grid ---------------------------------------------------------------------------- */

/* (1 - e^-f)/(1 - e^-h), 0 <= f <= h, to a few units in the last place of f/h. */
static double share_up(double f, double h) {
  if (h > 0.02) return expm1(-f) / expm1(-h);
  double up = f * (1 - f * (1.0 / 2 - f * (1.0 / 6 - f * (1.0 / 24 - f * (1.0 / 120)))));
  double all = h * (1 - h * (1.0 / 2 - h * (1.0 / 6 - h * (1.0 / 24 - h * (1.0 / 120)))));
  return up / all;
}

static void add_mass(tct_grid *g, int64_t b, double mass, double loss) {
  double f = loss - g->offset - (double)(g->first + b) * g->h;
  double share = share_up(fmin(fmax(f, 0), g->h), g->h);
  g->up[b] += share * mass;
  g->down[b] += (1 - share) * mass;
}

/* Gauss-Legendre with 3 points on panels below 0.03 scales, else 4. */
static void add_panel(tct_grid *g, int64_t b, const pair *f, double from, double to) {
  static const double node[2][4] = {{-0.8611363115940526, -0.3399810435848563, 0.3399810435848563, 0.8611363115940526},
                                    {-0.7745966692414834, 0, 0.7745966692414834, 0}};
  static const double weight[2][4] = {{0.3478548451374538, 0.6521451548625461, 0.6521451548625461, 0.3478548451374538},
                                      {5.0 / 9, 8.0 / 9, 5.0 / 9, 0}};
  double half = 0.5 * (to - from), middle = 0.5 * (to + from);
  int narrow = 2 * half * (1 + fmax(from, 0) / (2 * f->scale)) < 0.03 * f->scale;
  for (int k = 0; k < 4 - narrow; k++) {
    double density, loss;
    f->at(f, middle + half * node[narrow][k], &density, &loss);
    add_mass(g, b, half * weight[narrow][k] * density, loss);
  }
}

/* Panels are at most 0.2 scales wide and shrink towards large losses, where the density falls ever faster
 * and the tilt will raise it: the quadrature's relative error stays below 1e-13 there, and so does its
 * absolute error on the other side. */
static void add_bucket(tct_grid *g, int64_t b, const pair *f, double from, double to) {
  while (from < to) {
    double width = 0.2 * f->scale / (1 + fmax(from, 0) / (2 * f->scale));
    double end = to - from > 1.5 * width ? from + width : to;
    add_panel(g, b, f, from, end);
    from = end;
  }
}

static void add_continuous(tct_grid *g, const pair *f) {
  double from = fmax(f->low, f->x_of(f, g->offset + (double)g->first * g->h));
  for (int64_t b = 0; b < g->len; b++) {
    double to = fmin(f->high, f->x_of(f, g->offset + (double)(g->first + b + 1) * g->h));
    if (to > from) {
      add_bucket(g, b, f, from, to);
      from = to;
    }
  }
}

static void add_atom(tct_grid *g, double loss, double mass) {
  /* Within the rounding of the loss itself (which the accountant adds to epsilon) it is on the point. */
  double nearest = g->offset + g->h * round((loss - g->offset) / g->h);
  if (fabs(loss - nearest) <= 4 * DBL_EPSILON * fabs(loss)) loss = nearest;
  int64_t b = (int64_t)floor((loss - g->offset) / g->h + 1e-9) - g->first;
  if (b < 0) b = 0;
  if (b >= g->len) b = g->len - 1;
  add_mass(g, b, mass, loss);
}

/* ---- the events --------------------------------------------------------------------------------- */

static double tail_reach(double tail) { return sqrt(2 * log(1 / tail)) + 1e-3; } /* P[N > it] <= tail/2 */

static double upper_tail(double x) { return exp(tct_log_upper_tail(x)); }

static pair sampled_pair(const tct_event *e, tct_neighbours neighbours, double tail) {
  double z = fmax(tail_reach(tail), 8), s = e->noise;
  pair f = {.s = s, .q = e->rate, .scale = s, .weight = 0.3989422804014327 / s};
  f.high = 1 + z * s;
  f.low = neighbours == TCT_REPLACE_ONE ? -f.high : -(z + 1) * s;
  f.x_of = neighbours == TCT_REPLACE_ONE ? replace_x : remove_x;
  f.at = neighbours == TCT_REPLACE_ONE ? replace_at : remove_at;
  return f;
}

static pair normal_pair(double mu, double shift, double tail) {
  double z = tail_reach(tail);
  pair f = {.mu = mu, .scale = mu, .shift = shift, .weight = 0.3989422804014327 / mu};
  f.low = 0.5 * mu * mu - z * mu;
  f.high = 0.5 * mu * mu + z * mu;
  f.x_of = same_x;
  f.at = normal_at;
  return f;
}

/* Where the three laws' masses above sum to 1. */
static double tangent_point(double mu) {
  double low = 0, high = 2 * mu * mu + mu;
  for (int i = 0; i < 100; i++) {
    double middle = 0.5 * (low + high);
    double above = 2 * upper_tail(middle / mu - 0.5 * mu) + upper_tail(0.5 * middle / mu - mu);
    if (above > 1)
      low = middle;
    else
      high = middle;
  }
  return low; /* a hair more than 1: the safe side */
}

static pair objpert_pair(const tct_event *e, tct_neighbours neighbours, double tail) {
  double mu = 1 / e->noise, z = tail_reach(tail);
  pair f = normal_pair(mu, e->shift, tail);
  f.low = 0;
  if (neighbours == TCT_REPLACE_ONE) {
    f.low = tangent_point(mu);
    f.high = 2 * mu * mu + 2 * mu * (z + 1);
    f.at = three_normals_at;
  }
  f.high = fmax(f.high, f.low + 0.1 * mu);
  return f;
}

bool tct_event_two_ways(const tct_event *event, tct_neighbours neighbours) {
  return event->kind == TCT_EV_SAMPLED_GAUSSIAN && neighbours == TCT_ADD_REMOVE && event->rate < 1;
}

static pair pair_of(const tct_event *e, tct_neighbours neighbours, double tail) {
  if (e->kind == TCT_EV_SAMPLED_GAUSSIAN && e->rate < 1) return sampled_pair(e, neighbours, tail);
  if (e->kind == TCT_EV_OBJPERT) return objpert_pair(e, neighbours, tail);
  if (e->kind == TCT_EV_GAUSSIAN || e->kind == TCT_EV_SAMPLED_GAUSSIAN)
    return normal_pair(tct_reach(neighbours) / e->noise, 0, tail);
  double epsilon = tct_event_pure_epsilon(e, neighbours);
  pair f = {.low = -epsilon, .high = epsilon, .scale = 2.5, .epsilon = epsilon, .x_of = same_x, .at = exponential_at};
  if (e->kind == TCT_EV_EXPONENTIAL) f.weight = -0.5 / expm1(-epsilon);
  if (e->kind == TCT_EV_LAPLACE) f.weight = 0.25;
  return f;
}

void tct_event_loss_range(const tct_event *event, tct_neighbours neighbours, double tail, double *low, double *high) {
  pair f = pair_of(event, neighbours, tail);
  double density;
  f.at(&f, f.low, &density, low);
  f.at(&f, f.high, &density, high);
}

/* The masses beyond the range of x, under P and Q. */
static void fill_tails(tct_grid *g, const pair *f, const tct_event *e) {
  double s = f->s, q = f->q;
  if (f->at == remove_at || f->at == replace_at) {
    double high0 = upper_tail(f->high / s), high1 = upper_tail((f->high - 1) / s);
    double low0 = upper_tail(-f->low / s), low1 = upper_tail((1 - f->low) / s);
    g->high_p = (1 - q) * high0 + q * high1;
    g->low_p = (1 - q) * low0 + q * low1;
    g->high_q = high0; /* replace_one is its own reverse: its Q masses are not needed */
    g->low_q = low0;
  } else if (f->at == normal_at) {
    double z = (f->high - 0.5 * f->mu * f->mu) / f->mu;
    g->high_p = upper_tail(z);
    g->low_p = e->kind == TCT_EV_OBJPERT ? 0 : upper_tail(z);
  } else if (f->at == three_normals_at) {
    g->high_p = 2 * upper_tail(f->high / f->mu - 0.5 * f->mu) + upper_tail(0.5 * f->high / f->mu - f->mu);
  }
}

static void fill_atoms(tct_grid *g, const pair *f, const tct_event *e) {
  double epsilon = f->epsilon, holds = 1 - e->delta;
  if (e->kind == TCT_EV_OBJPERT && f->at == normal_at) add_atom(g, f->shift, upper_tail(0.5 * f->mu));
  if (e->kind == TCT_EV_LAPLACE) {
    add_atom(g, epsilon, 0.5);
    add_atom(g, -epsilon, 0.5 * exp(-epsilon));
  }
  if (e->kind == TCT_EV_PURE || e->kind == TCT_EV_APPROX) {
    add_atom(g, epsilon, holds / (1 + exp(-epsilon)));
    add_atom(g, -epsilon, holds * exp(-epsilon) / (1 + exp(-epsilon)));
    g->infinite = e->delta;
  }
}

/* (Q, P) instead of (P, Q): the loss changes sign, and mass e^-l dP is Q's. */
static void reverse(tct_grid *g) {
  int64_t n = g->len;
  for (int64_t b = 0; b < n; b++) {
    double low = g->offset + (double)(g->first + b) * g->h, up = g->up[b];
    g->up[b] = g->down[b] * exp(-low);
    g->down[b] = up * exp(-low - g->h);
  }
  for (int64_t b = 0; b < n / 2; b++) {
    double up = g->up[b], down = g->down[b];
    g->up[b] = g->up[n - 1 - b], g->down[b] = g->down[n - 1 - b];
    g->up[n - 1 - b] = up, g->down[n - 1 - b] = down;
  }
  g->first = -(g->first + n);
  g->offset = -g->offset;
  double high_p = g->low_q;
  g->low_q = g->high_p;
  g->low_p = g->high_q;
  g->high_p = high_p;
}

static tct_status grid_between(const tct_event *event, const pair *f, const tct_grid_shape *shape,
                               const double range[2], tct_grid *out, tct_error *err) {
  memset(out, 0, sizeof *out);
  out->h = shape->h;
  out->offset = shape->offset;
  out->first = (int64_t)floor((range[0] - shape->offset) / shape->h) - 1;
  out->len = (int64_t)ceil((range[1] - shape->offset) / shape->h) + 1 - out->first;
  out->down = TCT_NEW(double, out->len);
  out->up = TCT_NEW(double, out->len);
  if (!out->down || !out->up) return tct_grid_free(out), tct_fail_memory(err);
  if (f->weight > 0) add_continuous(out, f);
  fill_atoms(out, f, event);
  return TCT_OK;
}

tct_status tct_grid_new(const tct_event *event, tct_neighbours neighbours, const tct_grid_shape *shape, tct_grid *out,
                        tct_error *err) {
  pair f = pair_of(event, neighbours, shape->tail);
  tct_grid_shape upright = *shape;
  double range[2];
  if (shape->reversed) upright.offset = -shape->offset;
  tct_event_loss_range(event, neighbours, shape->tail, &range[0], &range[1]);
  if (event->kind == TCT_EV_OBJPERT) range[0] = fmin(range[0], event->shift);
  TCT_TRY(grid_between(event, &f, &upright, range, out, err));
  fill_tails(out, &f, event);
  if (shape->reversed) reverse(out);
  return TCT_OK;
}

static bool has_atoms(const tct_event *e) {
  return e->kind == TCT_EV_LAPLACE || e->kind == TCT_EV_PURE || e->kind == TCT_EV_APPROX;
}

/* Mean loss that the lower law of the bulk proves; the larger the tighter. */
static tct_status bulk_mean(const tct_event *event, const pair *f, const tct_grid_shape *shape, const double range[2],
                            double *mean, tct_error *err) {
  tct_grid grid;
  tct_pmf pmf;
  TCT_TRY(grid_between(event, f, shape, range, &grid, err));
  if (shape->reversed) reverse(&grid);
  tct_status status = tct_pmf_lower(&grid, 1, &pmf, err);
  tct_grid_free(&grid);
  if (status != TCT_OK) return status;
  double sum = 0, mass = 0;
  for (int64_t i = 0; i < pmf.len; i++) {
    sum += pmf.p[i] * (pmf.offset + pmf.h * (double)(pmf.first + i));
    mass += pmf.p[i];
  }
  *mean = sum / mass;
  tct_pmf_free(&pmf);
  return TCT_OK;
}

/* Atoms are put on grid points.  A sampled gaussian's bulk may be only a few buckets wide, and then the two
 * runs of tct_pmf_lower meet without a rest at some offsets only: tried on the bulk alone, 12 offsets
 * and then ever finer about the best.  Where the bulk spans many buckets the rest is negligible. */
tct_status tct_best_offset(const tct_event *event, tct_neighbours neighbours, const tct_grid_shape *shape,
                           double *offset, tct_error *err) {
  double h = shape->h, density, range[2], best = -INFINITY, at = 0, width = h / 12;
  *offset = 0;
  if (has_atoms(event)) {
    double epsilon = tct_event_pure_epsilon(event, neighbours);
    return *offset = epsilon - h * floor(epsilon / h), TCT_OK;
  }
  if (event->kind != TCT_EV_SAMPLED_GAUSSIAN || event->rate == 1) return TCT_OK;
  pair f = pair_of(event, neighbours, shape->tail);
  f.at(&f, fmax(f.low, -5 * f.s), &density, &range[0]);
  f.at(&f, 4 * f.s, &density, &range[1]);
  if (range[1] - range[0] > 150 * h) range[1] = range[0] + 150 * h;
  double centre_low, centre_high;
  f.at(&f, -f.s, &density, &centre_low);
  f.at(&f, f.s, &density, &centre_high);
  if (centre_high - centre_low > 60 * h) return TCT_OK;
  f.low = fmax(f.low, -5 * f.s);
  f.high = fmin(f.high, f.x_of(&f, range[1]));
  for (int round = 0; round < 3; round++, width /= 4) {
    double from = round ? at - 3 * width : 0;
    for (int i = 0; i < (round ? 7 : 12); i++) {
      tct_grid_shape tried = *shape;
      double mean;
      tried.offset = from + width * i;
      TCT_TRY(bulk_mean(event, &f, &tried, range, &mean, err));
      if (mean > best) best = mean, at = tried.offset;
    }
  }
  if (shape->reversed) at = -at; /* offsets of the law asked for, not of its mirror image */
  *offset = at;
  return TCT_OK;
}
