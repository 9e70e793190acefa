/* cox_change.c - are hazards proportional?  How the weights differ between the later and the earlier half of the
 * events.
 *
 * Where w(t) = w + delta 1{late}, the mean of T = sum_i sum_k f_k (event_ik - hazard_ik) z~_ik is l(1 - l) V delta for
 * f = 1{late} - l, l the late part of the events, and V the events' mean of z~ z~^T.  So delta = (l (1 - l) V)^-1 T,
 * and with hazards that are proportional T has the variance l (1 - l) V/n (Grambsch and Therneau 1994, with two halves
 * in place of a trend).  z~ is z less what a line in u tells of it over the events.  So the mean of T does not move
 * with the weights and the bend at which it is taken.  This takes the covariance of the columns among those at risk to
 * be the same over time.  V is the Schur complement of the released curvature, and the rest is that of weights:
 * solve/onestep/onestep_covariance.c.
 *
 * SENSITIVITY  cox_sums.c. */
#include "core/alloc.h"
#include "solve/cox/dpcox.h"
#include "solve/cox/rules.def"
#include "solve/onestep/one_step.h"

#include <string.h>

/* u is the middle of a cell on the scale of events, between -sqrt(3) and sqrt(3). */
static void halve(const tct_cox_hazard *h, tct_cox_halves *out) {
  double before = 0;
  out->late = 0.5;
  for (int k = 0; k < h->cells; k++) {
    if (h->centre[k] > 0) {
      out->late = tct_cox_between(1 - before, 0.01, 0.99);
      break;
    }
    before = (h->centre[k] / sqrt(3) + 1) - before; /* twice the middle, less the lower edge */
  }
  for (int k = 0; k < h->cells; k++) out->factor[k] = (h->centre[k] > 0) - out->late;
}

/* level, bend [p] of z by (z_0, u); v[p - 1][p - 1] <- l(1 - l) times the complement of their block in the curvature.
 */
static void part(const tct_cox *run, const double *a, double of_halves, double *level, double *bend, double *v) {
  int64_t p = run->p, q = run->q;
  double a00 = a[0], a0u = a[p], auu = a[p * q + p], det = a00 * auu - a0u * a0u;
  bool known = a00 > 0 && auu > 0 && det > 1e-6 * a00 * auu;
  for (int64_t j = 0; j < p; j++) {
    double to0 = a[j * q], tou = a[j * q + p];
    level[j] = known ? (auu * to0 - a0u * tou) / det : 0;
    bend[j] = known ? (a00 * tou - a0u * to0) / det : 0;
  }
  for (int64_t j = 1; j < p; j++)
    for (int64_t k = 1; k < p; k++)
      v[(j - 1) * (p - 1) + k - 1] = of_halves * (a[j * q + k] - level[j] * a[k * q] - bend[j] * a[k * q + p]);
}

/* Of standardised columns to columns; the intercept has no change. */
static void to_columns(const tct_cox *run, const double *inverse, const double *step, const tct_inference *of,
                       bool known, tct_inference *out) {
  int64_t p = run->p, m = p - 1;
  for (int64_t j = 0; j < m; j++) {
    for (int64_t k = j; k < m; k++) out->change[j] -= inverse[k * m + j] * step[k] / run->spread[j];
    if (!isfinite(out->change[j])) out->change[j] = 0, known = false;
    for (int64_t k = 0; k < m; k++) {
      double both = run->spread[j] * run->spread[k];
      out->of_change->sampling[j * p + k] = of->sampling[j * m + k] / both;
      out->of_change->noise[j * p + k] = of->noise[j * m + k] / both;
    }
  }
  for (int64_t j = 0; j < p; j++) {
    out->of_change->degrees[j] = j < m ? of->degrees[j] : 1;
    out->of_change->why[j] = !known ? TCT_NOISE_ABOVE_SIGNAL : j < m ? of->why[j] : TCT_GIVEN;
  }
}

tct_status tct_cox_change(tct_cox *run, const double *theta, const double *curvature, double deviation,
                          tct_inference *out, tct_error *err) {
  int64_t p = run->p, m = p - 1, q = run->q;
  double *memory = TCT_NEW(double, 2 * m * m + 6 * p), *v = memory, *inverse = v + m * m, *level = inverse + m * m,
         *bend = level + p, *g = bend + p, *step = g + p, *zero = step + p, noise = 0;
  tct_inference of = {0};
  tct_cox_halves halves = {.level = level, .bend = bend};
  if (!memory) return tct_fail_memory(err);
  halve(&run->hazard, &halves);
  double of_halves = halves.late * (1 - halves.late);
  if (q > p) part(run, curvature, of_halves, level, bend, v);
  for (int64_t j = 0; j < m; j++) memcpy(inverse + j * m, run->inverse + (j + 1) * q + 1, (size_t)m * sizeof *inverse);
  tct_status status = tct_cox_change_sum(run, theta, &halves, g, &noise, err);
  for (int64_t j = 0; j < m; j++) g[j] = -g[j];
  tct_onestep_moments moments = {.curvature = v, .curvature_noise = of_halves * deviation};
  tct_onestep_released released = {.weights = zero, .gradient = g, .deviation = noise, .moments = &moments};
  released.rows = run->problem->facts->rows, released.link = TCT_LINK_IDENTITY;
  tct_metric metric = {.p = m, .w = inverse};
  if (status == TCT_OK) status = tct_inference_new(m, &of, err);
  if (status == TCT_OK) status = tct_onestep_covariance(&released, &metric, step, &of, err);
  if (status == TCT_OK) status = tct_inference_add_change(out, err);
  if (status == TCT_OK) to_columns(run, inverse, step, &of, q > p && run->information >= dpcox_information_least, out);
  tct_inference_free(&of);
  tct_free(memory);
  return status;
}
