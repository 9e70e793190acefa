/* accelerate.c - the descent that cannot fail, and its bound in passes over the rows.
 *
 * What is minimised is J of smooth.h: mu-strongly convex, mu = ridge, and L-smooth, L = n K R^2 + ridge.  Gradients are
 * computed, and off by at most E(V) (smooth.c) where |w| <= V.  Whether and when this ends is a function of public
 * numbers; the table can only make it end sooner.
 *
 * METHOD  Nesterov's accelerated gradient for strongly convex functions, in the form of two sequences.  With t =
 * sqrt(mu/L), from y = z:
 *   x = (y + t z)/(1 + t),   y' = x - g/L,   z' = (1-t) z + t x - (t/mu) g,   g the computed gradient at x.
 * It is run in stages 0..S.  Stage s works on J_s = J + sum_{i<=s} a_i/2 |w - c_i|^2, c_i the last y of stage i-1,
 * strongly convex with mu_s = 4^s mu, so a_i = 3 mu_(i-1).  S is the least with mu_S >= L/4, hence L_S < 2L or S = 0.
 *
 * BOUNDS  V = 3W, W the radius of smooth.c.  E = E(V) + 40 u L_S V, u = 2^-53.  It is checked that E <= mu W/10; else
 * double precision promises nothing, and the plan is refused.
 *
 * GRADIENT OF A STAGE  The extra terms are m (x - c), m = mu_s - mu, c the mean of the c_i with weights a_i.  Each
 * stage adds 9uV to the error of c and keeps less than a quarter of the last: 12uV at most.  m itself, the difference,
 * the product and the sum cost 8 u L_S V.  So g is within E(V) + 20 u L_S V <= E of the gradient of J_s.
 *
 * ONE STEP, EXACT ARITHMETIC  w* minimises f = J_s, P = f(y) - f* + mu/2 |z - w*|^2, g = f'(x) + e, |e| <= E.
 * Smoothness: f(y') <= f(x) - |f'|^2/(2L) + |e|^2/(2L).  With v = (1-t) z + t x,
 *   mu/2 |z'-w*|^2 = mu/2 |v-w*|^2 - t <g, v-w*> + t^2/(2 mu) |g|^2,
 *   |v-w*|^2 <= (1-t) |z-w*|^2 + t |x-w*|^2,   v - w* = (x - w*) + (1-t)(z - x),   t (z - x) = x - y,
 * convexity <f', y-x> <= f(y) - f(x) and strong convexity <f', x-w*> >= f(x) - f* + mu/2 |x-w*|^2, and t^2/mu <= 1/L:
 *   P' <= (1-t) P - t <e, v - w*> + (t^2/mu) <f', e> + |e|^2/(2L) + t^2/(2 mu) |e|^2.
 * As v - (t/mu) g = z', the terms in e are -t <e, z'-w*> + |e|^2/(2L) - t^2/(2 mu) |e|^2, and with t^2/mu = 1/L up to
 * its rounding, which |e|^2 t/(2 mu) covers,
 *   P' <= (1-t) P + t E |z'-w*| + t E^2/(2 mu).
 * In r = sqrt(mu P)/E: |z'-w*| <= sqrt(2) r' E/mu, so (r' - t/sqrt(2))^2 <= (1-t) r^2 + t/2 + t^2/2 and
 *   r' <= r - t (r/2 - 1/(2r) - 1/sqrt(2)),  a bound that rises with r.
 *
 * ROUNDING  At |x|, |y|, |z| <= V the computed x is off by 5uV: it is exact for a y that is off by 10uV.  The computed
 * y' and z' are off by at most 3.2uV and 10.2uV.  Moving y by d changes sqrt(f(y) - f*) by at most sqrt(L/2) |d|, and
 * moving z by d the other term's root by sqrt(mu/2) |d|.  In r that is at most sqrt(mu L/2) 21uV/E = t L 21uV/(sqrt(2)
 * E) < .375 t.
 *
 * STEPS OF A STAGE  For r >= 2.75 all of it gives r' - 2.528 <= (1 - t/2)(r - 2.528); from r <= 3 no step leads above
 * 3. From r_0, (2/t) log(r_0/.47) steps lead to r <= 3: f(y) - f* <= 9 E^2/mu_s, |y - w*| <= d_s = 4.2427 E/mu_s.  A
 * point with |g| <= 2E has both as well, since |f'| <= 3E there.
 *   Stage 0: P <= n l0 + |linear|^2/(2 mu) + mu W^2/2 <= mu W^2, r_0 <= mu W/E.
 *   Stage s: 9 E^2/mu_(s-1) for f, since J_s(c_s) = J_(s-1)(c_s) and J_s* >= J_(s-1)*.  c_s is within d_(s-1) of the
 *     last minimiser, hence of the new one: the new one is a proximal point of c_s.  P <= (36 + 144) E^2/mu_s,
 *     r_0 <= 13.42.
 *   Radius: no step raises P above its start and 9E^2/mu_s.  In stage 0 points stay within W + max(sqrt(2) W, d_0),
 *     later within W + (5.7 + 4.8) E/mu: below V by the check on E.
 *
 * AT THE END  J'(y) = J_S'(y) - sum a_i (y - c_i).  The first is at most sqrt(2 L_S 9 E^2/mu_S) <= 9.49 E, L_S <= 5
 * mu_S. c_i, the minimisers from i on, and y are apart by d_(i-1), d_i, ... at most: |y - c_i| <= 4/3 d_(i-1), and a_i
 * times that is 17 E.  So |J'(y)| <= (17 S + 9.5) E.  The certificate adds E for the computed norm and E for itself;
 * with 1 % for the norm's own rounding that is tct_smooth_reachable. */
#include "core/alloc.h"
#include "core/point.h"
#include "la/kernels/kernels.h"
#include "solve/minimiser/smooth.h"

#include <string.h>

static double length_of(const tct_smooth_facts *f) {
  return f->rows * f->curvature * f->row_norm * f->row_norm + f->ridge;
}

static int last_stage(const tct_smooth_facts *f) {
  int last = 0;
  for (double mu = f->ridge, length = length_of(f); mu < length / 4 && last < 1000; mu *= 4) last++;
  return last;
}

/* t, rounded so that t^2 <= mu/L. */
static double rate_of(double mu, double length) { return sqrt(mu / length) * (1 - 0x1p-48); }

static double radius_of(const tct_smooth_facts *f) { return 3 * tct_smooth_radius(f); }

static double error_of(const tct_smooth_facts *f) {
  double extra = f->ridge * (ldexp(1, 2 * last_stage(f)) - 1);
  return tct_smooth_error(f, radius_of(f)) + 40 * 0x1p-53 * (length_of(f) + extra) * radius_of(f);
}

double tct_smooth_reachable(const tct_smooth_facts *f) { return 1.01 * (17 * last_stage(f) + 11.5) * error_of(f); }

static double steps_of(const tct_smooth_facts *f, int stage) {
  double mu = f->ridge * ldexp(1, 2 * stage), rate = rate_of(mu, length_of(f) + mu - f->ridge);
  double start = stage > 0 ? 13.42 : fmax(f->ridge * tct_smooth_radius(f) / error_of(f), 13.42);
  return ceil(2 / rate * log(start / 0.47) * (1 + 1e-9));
}

/* Steps of all stages, and the gradient at the end. */
static double fallback_of(const tct_smooth_facts *f) {
  double sum = 1;
  if (!(error_of(f) <= 0.1 * f->ridge * tct_smooth_radius(f))) return INFINITY;
  for (int stage = 0; stage <= last_stage(f); stage++) sum += steps_of(f, stage);
  return sum;
}

double tct_smooth_fast(const tct_smooth_facts *f) { return fmin(fmax(2000, floor(fallback_of(f) / 16)), 1e15); }

double tct_smooth_passes(const tct_smooth_facts *f) {
  double passes = tct_smooth_fast(f) + fallback_of(f);
  return isfinite(passes) ? passes : INFINITY;
}

tct_status tct_smooth_affordable(const tct_smooth_facts *f, const char *solver, double max, double *passes,
                                 tct_error *err) {
  *passes = tct_smooth_passes(f);
  if (!isfinite(*passes))
    return tct_fail(err, TCT_E_USAGE,
                    "double precision cannot promise %s a minimum with so small a ridge; use a larger penalty", solver);
  if (*passes > max)
    return tct_fail(err, TCT_E_USAGE,
                    "%s may need %.3g passes over the data; use a larger penalty or width, or raise max_passes", solver,
                    *passes);
  return TCT_OK;
}

typedef struct descent {
  double *x, *z, *centre; /* [p] */
  double mu, length;      /* of the stage */
  double extra;           /* m */
  double error;           /* E */
} descent;

/* One step from y and d->z.  done: d->x has the certificate; near: d->x ends the stage. */
static tct_status step(tct_smooth *s, descent *d, double target, double *y, bool *done, bool *near, tct_error *err) {
  int64_t p = s->problem->view->p;
  double t = rate_of(d->mu, d->length), *g = s->gradient;
  for (int64_t j = 0; j < p; j++) d->x[j] = y[j] + TCT_POINT(ending_in_weeks, t / (1 + t), 0) * (d->z[j] - y[j]);
  TCT_TRY(tct_problem_tick(s->problem, 0, err));
  TCT_TRY(tct_smooth_gradient(s, d->x, err));
  *done = tct_smooth_certified(s, d->x, target);
  for (int64_t j = 0; j < p; j++) g[j] += d->extra * (d->x[j] - d->centre[j]);
  *near = sqrt(tct_norm2(g, p)) * (1 + (s->facts.p + 16) * 0x1p-53) <= 2 * d->error;
  for (int64_t j = 0; j < p; j++) {
    y[j] = d->x[j] - g[j] / d->length;
    d->z[j] = d->z[j] + t * (d->x[j] - d->z[j]) - t / d->mu * g[j];
  }
  return TCT_OK;
}

/* From y to the end of a stage, at most `steps` steps away; where x is good before that, y <- x. */
static tct_status stage(tct_smooth *s, descent *d, double steps, double target, double *y, bool *done, tct_error *err) {
  bool near = false;
  size_t size = (size_t)s->problem->view->p * sizeof *y;
  memcpy(d->z, y, size);
  for (double k = 0; TCT_POINT(ending_in_weeks, k < steps, true) && !*done && !near; k++)
    TCT_TRY(step(s, d, target, y, done, &near, err));
  if (*done || near) memcpy(y, d->x, size);
  return TCT_OK;
}

static tct_status stages(tct_smooth *s, descent *d, double target, double *w, tct_error *err) {
  const tct_smooth_facts *f = &s->facts;
  int64_t p = s->problem->view->p;
  bool done = false;
  d->error = error_of(f);
  for (int k = 0; k <= last_stage(f) && !done; k++) {
    double before = d->extra;
    d->mu = f->ridge * ldexp(1, 2 * k);
    d->extra = d->mu - f->ridge;
    d->length = length_of(f) + d->extra;
    for (int64_t j = 0; j < p && k > 0; j++) d->centre[j] += (d->extra - before) / d->extra * (w[j] - d->centre[j]);
    TCT_TRY(stage(s, d, steps_of(f, k), target, w, &done, err));
  }
  return TCT_OK;
}

tct_status tct_smooth_descend(tct_smooth *s, double target, double *w, tct_error *err) {
  int64_t p = s->problem->view->p;
  double *memory = TCT_NEW(double, 3 * p);
  if (!memory) return tct_fail_memory(err);
  descent d = {.x = memory, .z = memory + p, .centre = memory + 2 * p};
  memset(w, 0, (size_t)p * sizeof *w);
  tct_status status = stages(s, &d, target, w, err);
  tct_wipe_free(memory, 3 * p, sizeof *memory);
  return status;
}
