/* onestep_spread.c - second moments of terms out of their noise: what shapes the last gradient, and the variance.
 *
 * A symmetric matrix of noise of deviation s has the mean square Frobenius norm s^2 p(p + 1)/2.  So of a released
 * matrix's distance from a guess the part 1 - s^2 p(p + 1)/(2 distance^2) is taken to be real, and the rest goes to the
 * guess (James and Stein 1961).  Eigenvalues repel one another: noise of deviation s on the diagonal moves the
 * eigenvalue l_k by s^2 sum_j 1/(l_k - l_j), which is taken off; 1/x is x/(x^2 + s^2) (Bun, Allez, Bouchaud and Potters
 * 2016). */
#include "core/alloc.h"
#include "la/exact/gram.h"
#include "la/exact/spectrum.h"
#include "la/exact/triangular.h"
#include "la/kernels/kernels.h"
#include "solve/onestep/one_step.h"
#include "solve/onestep/rules.def"

#include <string.h>

static double trace_of(const double *a, int64_t p) {
  double sum = 0;
  for (int64_t j = 0; j < p; j++) sum += a[j * p + j];
  return sum;
}

static double real_part(double distance2, double noise, int64_t p) {
  double expected = noise * noise * (double)p * ((double)p + 1) / 2;
  return distance2 > expected ? 1 - expected / distance2 : 0;
}

void tct_onestep_without_noise(double *value, int64_t p, double noise, double *room) {
  double square = noise * noise;
  memcpy(room, value, (size_t)p * sizeof *room);
  for (int64_t k = 0; k < p && noise > 0; k++)
    for (int64_t j = 0; j < p; j++) {
      double apart = room[k] - room[j];
      value[k] -= square * apart / (apart * apart + square);
    }
}

/* a[p][p] <- Q max(l, least) Q^T for its eigenvalues l without noise; room: [p p + 4 p]. */
static bool lift(double *a, int64_t p, double noise, double least, double *room) {
  double *vectors = room, *value = room + p * p;
  if (!tct_eigenvectors(a, p, value, vectors, value + p)) return false;
  tct_onestep_without_noise(value, p, noise, value + p);
  memset(a, 0, (size_t)(p * p) * sizeof *a);
  for (int64_t k = 0; k < p; k++)
    for (int64_t j = 0; j < p; j++) tct_axpy(fmax(value[k], least) * vectors[k * p + j], vectors + k * p, a + j * p, p);
  return true;
}

/* out <- A B A^T for a lower triangular A, B symmetric; room: [p p]. */
static void between(const double *a, const double *b, int64_t p, double *room, double *out) {
  for (int64_t i = 0; i < p; i++)
    for (int64_t j = 0; j < p; j++) room[i * p + j] = tct_dot(a + i * p, b + j * p, i + 1);
  for (int64_t i = 0; i < p; i++)
    for (int64_t j = 0; j < p; j++) out[i * p + j] = tct_dot(room + i * p, a + j * p, j + 1);
}

/* factor <- the Cholesky factor of slopes times tr(slopes^-1 second), lifted; room: [2 p p + 4 p]. */
static bool root_of(double *slopes, const double *second, int64_t p, double *room, double *factor) {
  double *inverse = room, sum = 0;
  if (!lift(slopes, p, 0, dponestep_slopes_least, room) || !tct_cholesky_shifted(slopes, p, 0, factor)) return false;
  for (int64_t j = 0; j < p; j++) memset(factor + j * p + j + 1, 0, (size_t)(p - j - 1) * sizeof *factor);
  memcpy(inverse, factor, (size_t)(p * p) * sizeof *inverse);
  tct_lower_invert(inverse, p, room + 2 * p * p);
  between(inverse, second, p, room + p * p, slopes);
  sum = sqrt(trace_of(slopes, p));
  for (int64_t k = 0; k < p * p; k++) factor[k] *= sum;
  return isfinite(sum) && sum > 0;
}

void tct_onestep_take_dispersion(tct_onestep *run, const double *variance, const double *curvature, double noise) {
  int64_t p = run->metric.p;
  double unit = trace_of(curvature, p) * run->rows / (double)run->problem->facts->rows;
  if (unit > 0) run->dispersion = trace_of(variance, p) / unit, run->uncertain = noise * sqrt((double)p) / unit;
}

tct_status tct_onestep_take_slopes(tct_onestep *run, double *slopes, double noise, tct_error *err) {
  int64_t p = run->metric.p;
  double mean = fmax(trace_of(slopes, p) / (double)p, 0x1p-40 * run->clip * run->clip), off = 0, part = 0;
  double *room = TCT_NEW(double, 2 * p * p + 4 * p);
  if (!room) return tct_fail_memory(err);
  for (int64_t j = 0; j < p; j++) slopes[j * p + j] -= mean;
  off = tct_norm2(slopes, p * p);
  if (mean * sqrt((double)p) > 3 * noise) part = real_part(off, noise, p);
  for (int64_t k = 0; k < p * p; k++) slopes[k] *= part / mean;
  for (int64_t j = 0; j < p; j++) slopes[j * p + j] += 1;
  bool known = root_of(slopes, run->second, p, room, run->factor);
  for (int64_t k = 0; k < p * p && !known; k++) run->factor[k] = k % (p + 1) == 0;
  tct_free(room);
  return tct_onestep_shape(run, err);
}

/* guess[p][p] <- the curvature in the gradient's metric, floored by its noise. */
static bool guess_of(const tct_onestep *run, const tct_onestep_moments *moments, double *room, double *guess) {
  int64_t p = run->metric.p;
  double *raised = room, *inverse = room + p * p, *rest = inverse + p * p;
  double noise = moments->curvature_noise, least = fmax(dponestep_least_over_noise * noise, 0x1p-900);
  memcpy(raised, moments->curvature, (size_t)(p * p) * sizeof *raised);
  if (!lift(raised, p, noise, least, inverse)) return false;
  memcpy(inverse, run->factor, (size_t)(p * p) * sizeof *inverse);
  tct_lower_invert(inverse, p, rest);
  between(inverse, raised, p, rest, guess);
  return true;
}

tct_status tct_onestep_settle_variance(tct_onestep *run, tct_onestep_moments *moments, tct_error *err) {
  int64_t p = run->metric.p;
  double *j = moments->variance, *guess = TCT_NEW(double, 4 * p * p + 4 * p), *room = guess + p * p;
  if (!guess) return tct_fail_memory(err);
  bool known = guess_of(run, moments, room, guess);
  tct_onestep_take_dispersion(run, j, guess, moments->variance_noise);
  double scale = fmax(trace_of(j, p), 0) / fmax(trace_of(guess, p), 0x1p-900); /* a guess of the variance */
  for (int64_t k = 0; k < p * p; k++) guess[k] *= scale;
  tct_axpy(-1, guess, j, p * p);
  double part = real_part(tct_norm2(j, p * p), moments->variance_noise, p);
  for (int64_t k = 0; k < p * p; k++) j[k] = guess[k] + part * j[k];
  between(run->factor, j, p, room, guess);
  memcpy(j, guess, (size_t)(p * p) * sizeof *j);
  if (!known) j[0] = NAN; /* then no weight has an interval */
  moments->variance_noise *= part;
  tct_free(guess);
  return TCT_OK;
}
