/* compose.c - the composed privacy loss inside a window, by a tilted Fourier transform.
 *
 * Each law is tilted to p e^{t loss}/M(t), so that the composed mass that decides delta is of order 1 and not lost
 * under the rounding of the largest.  So delta = 1e-12 is as accurate as 1e-2.
 *
 * WINDOW.  A cyclic transform of N points folds what lies outside the window back into it.  Folded mass only adds, so
 * the upper law stays one once the true mass above the window is added at infinity.  For the lower law the mass that
 * can have been folded onto the points that are read is subtracted.  With the window from A to A + (N-1)h and points
 * read from F >= A on, that is the tilted mass above F + Nh and below A.  All three masses are bounded by Chernoff:
 * tilted mass above y <= e^{K(s) - K(t) - (s-t)y}, s >= t, and below y for s <= t.
 *
 * ROUNDING.  The spectrum of law j errs by at most f_j = the transform's error bound (its inputs sum to 1)
 * at every frequency.  Where |phi_j| >= 1/2 its power T_j moves by at most T_j f_j |X|/|phi_j| <= 2 T_j f_j |X|, X the
 * product of all powers, elsewhere by T_j f_j 2^{1-T_j}; binary powering adds 3 u T_j relative, and the
 * inverse its own bound.  The mean over frequencies bounds the error of every point. */
#include "account/curves/compare.h"
#include "account/curves/compose.h"

#include "account/curves/fft.h"

#include "core/point.h"
#include "core/lanes.h"
#include "core/alloc.h"

#include <float.h>
#include <math.h>
#include <string.h>

void tct_law_free(tct_law *law) {
  tct_free(law->tilted);
  memset(law, 0, sizeof *law);
}

static double total_offset(const tct_pmf *pmf, int n) {
  double sum = 0;
  for (int j = 0; j < n; j++) sum += (double)pmf[j].count * pmf[j].offset;
  return sum;
}

static double total_log_moment(const tct_pmf *pmf, int n, double t) {
  double sum = 0;
  for (int j = 0; j < n; j++) sum += (double)pmf[j].count * tct_pmf_log_moment(&pmf[j], t);
  return sum;
}

/* ---- the window -------------------------------------------------------------------------------- */

typedef struct place {
  int64_t first, floor, length; /* in grid points */
  int64_t support;              /* points of the whole composed support */
  double log_top;               /* log of the mass above, as it is */
  double log_wrap, log_below;   /* log of the tilted masses that fold onto what is read */
} place;

const int64_t tct_compose_longest = (int64_t)1 << 22; /* 200 MB of work space */

/* log of a bound on the mass above `loss`, tilted by t, from an order above t; or below it, from one below t. */
static double log_beyond(const tct_pmf *pmf, int n, double level, double t, double order, double loss) {
  double bound = total_log_moment(pmf, n, order) - level - (order - t) * loss;
  return isnan(bound) ? 0 : tct_min(0, bound); /* all of the mass, where the moment is none */
}

static place choose_place(const tct_pmf *pmf, int n, const tct_window *want, double level) {
  place w = {0, 0, 16, 1, -INFINITY, -INFINITY, -INFINITY};
  double h = pmf[0].h, offset = total_offset(pmf, n);
  for (int j = 0; j < n; j++) {
    w.first += pmf[j].count * pmf[j].first;
    w.support += pmf[j].count * (pmf[j].len - 1);
  }
  w.floor = w.first;
  double need = tct_min(want->length / h + 3, (double)tct_compose_longest);
  if (w.support <= 4096) need = (double)w.support;
  while ((double)w.length < need && w.length < tct_compose_longest) w.length *= 2;
  if (w.length >= w.support) return w;
  /* Room to spare goes below: a lower bottom serves the points that are read. */
  double top = tct_min(ceil((want->top - offset) / h) + 1, (double)(w.first + w.support - 1));
  int64_t first = (int64_t)tct_max(top - (double)(w.length - 1), (double)w.first);
  w.floor = (int64_t)tct_max((want->floor - offset) / h - 1, (double)first);
  if (w.floor > first + w.length - 2) w.floor = first + w.length - 2;
  double wrapped = offset + h * (double)(w.floor + w.length);
  if (first + w.length < w.first + w.support) {
    w.log_top = log_beyond(pmf, n, 0, 0, tct_max(want->order_top, 0), offset + h * (double)(first + w.length - 1));
    w.log_wrap = log_beyond(pmf, n, level, want->t, tct_max(want->order_wrap, want->t), wrapped);
  }
  if (first > w.first)
    w.log_below = log_beyond(pmf, n, level, want->t, tct_min(want->order_below, want->t), offset + h * (double)first);
  w.first = first;
  return w;
}

/* ---- spectra ----------------------------------------------------------------------------------- */

enum { BLOCK = 256 };

/* (outr + i outi) *= (br + i bi)^count on one block; b is overwritten. */
TCT_WIDE static void multiply_power(double *restrict br, double *restrict bi, double *restrict outr,
                                    double *restrict outi, int64_t len, int64_t count) {
  for (;;) {
    if (count & 1)
      for (int64_t k = 0; k < len; k++) {
        double re = outr[k] * br[k] - outi[k] * bi[k], im = outr[k] * bi[k] + outi[k] * br[k];
        outr[k] = re;
        outi[k] = im;
      }
    count >>= 1;
    if (!count) return;
    for (int64_t k = 0; k < len; k++) {
      double re = br[k] * br[k] - bi[k] * bi[k], im = 2 * br[k] * bi[k];
      br[k] = re;
      bi[k] = im;
    }
  }
}

TCT_WIDE static double largest_square(const double *restrict re, const double *restrict im, int64_t len) {
  double lane[8] = {0};
  int64_t k = 0;
  for (; k + 8 <= len; k += 8)
    for (int i = 0; i < 8; i++) {
      double square = re[k + i] * re[k + i] + im[k + i] * im[k + i];
      lane[i] = square > lane[i] ? square : lane[i];
    }
  for (; k < len; k++) lane[0] = tct_max(lane[0], re[k] * re[k] + im[k] * im[k]);
  for (int i = 1; i < 8; i++) lane[0] = tct_max(lane[0], lane[i]);
  return lane[0];
}

/* Blocks in which every power is below e^-80 become 0. */
static void multiply_spectrum(double *re, double *im, double *product_re, double *product_im, int64_t bins,
                              int64_t count) {
  double small = exp(-160.0 / (double)count);
  for (int64_t k = 0; k < bins; k += BLOCK) {
    int64_t len = bins - k < BLOCK ? bins - k : BLOCK;
    if (largest_square(re + k, im + k, len) < small) {
      memset(product_re + k, 0, (size_t)len * sizeof(double));
      memset(product_im + k, 0, (size_t)len * sizeof(double));
    } else {
      multiply_power(re + k, im + k, product_re + k, product_im + k, len, count);
    }
  }
}

/* Proved laws, a finite window, and counts whose products with grid points are integers of 64 bits. */
static bool can_compose(const tct_pmf *pmf, int n, const tct_window *w) {
  double points = 0, numbers[] = {w->t, w->top, w->length, w->floor};
  bool proved = true;
  for (int i = 0; i < 4; i++) proved = proved && isfinite(numbers[i]);
  for (int j = 0; j < n; j++) {
    proved = proved && pmf[j].proved && pmf[j].h > 0 && pmf[j].infinite <= 1;
    points += (double)pmf[j].count * (fabs((double)pmf[j].first) + (double)pmf[j].len + 1);
  }
  double far = tct_max(fabs(w->top), fabs(w->floor)) + fabs(w->length) + fabs(total_offset(pmf, n));
  /* A tilt that changes by more from point to point has outrun the grid. */
  return proved && w->t >= 0 && w->t * pmf[0].h <= 4 && points < 0x1p60 && far / pmf[0].h < 0x1p60;
}

double tct_compose_work(const tct_pmf *pmf, int n, const tct_window *window) {
  double points = 16, max = window->length / pmf[0].h + 3, own = 0;
  while (points < max && points < (double)tct_compose_longest) points *= 2;
  for (int j = 0; j < n; j++)
    own += 12 * (double)pmf[j].len + points * (8 + 1.5 * log2(points) + 1.5 * log2(1 + (double)pmf[j].count));
  return own + points * (20 + 1.5 * log2(points));
}

typedef struct workspace {
  tct_fft fft;
  double *x, *re, *im, *product_re, *product_im;
} workspace;

static void workspace_free(workspace *w) {
  tct_fft_free(&w->fft);
  tct_free(w->x);
  tct_free(w->re);
  tct_free(w->im);
  tct_free(w->product_re);
  tct_free(w->product_im);
}

static tct_status workspace_new(workspace *w, int64_t length, tct_error *err) {
  memset(w, 0, sizeof *w);
  TCT_TRY(tct_fft_init(&w->fft, length, err));
  w->x = TCT_NEW(double, length);
  w->re = TCT_NEW(double, length / 2 + 1);
  w->im = TCT_NEW(double, length / 2 + 1);
  w->product_re = TCT_NEW(double, length / 2 + 1);
  w->product_im = TCT_NEW(double, length / 2 + 1);
  if (w->x && w->re && w->im && w->product_re && w->product_im) return TCT_OK;
  workspace_free(w);
  return tct_fail_memory(err);
}

/* x <- the tilted law, folded to the window's length; returns a bound on the rounding of all its masses together, or
 * NaN if their sum is not 1 within it.  An entry errs by 80 units (a power, scaling) and by those of its exponent. */
static double load_tilted(const tct_pmf *pmf, double t, double *x, int64_t length) {
  enum { TILT = 64 };
  double level = tct_pmf_log_moment(pmf, t), power[TILT], sum = 0, error = 0, unit = 0.5 * DBL_EPSILON;
  int64_t block = tct_tilt_block(t * pmf->h, TILT);
  memset(x, 0, (size_t)length * sizeof(double));
  for (int64_t k = 0; k < block; k++) power[k] = exp(t * pmf->h * (double)k);
  for (int64_t i = 0; i < pmf->len; i += block) {
    double lift = t * (pmf->offset + pmf->h * (double)(pmf->first + i)), scale = exp(lift - level), part = 0;
    int64_t end = pmf->len - i < block ? pmf->len - i : block;
    /* Where the masses are too small for a double the factor goes in piece by piece. */
    double half = scale < INFINITY ? 1 : exp(0.5 * (lift - level)), rest = scale < INFINITY ? scale : half;
    for (int64_t k = 0; k < end; k++) {
      double mass = pmf->p[i + k] > 0 ? pmf->p[i + k] * half * power[k] * rest : 0;
      x[(i + k) & (length - 1)] += mass;
      part += mass;
    }
    sum += part;
    error += part * (80 + 2 * fabs(lift) + 2 * fabs(level) + fabs(t * pmf->h) * (double)block) * unit;
  }
  int64_t blocks = pmf->len / block;
  double adding = (2 * TILT + (double)blocks) * unit;
  return fabs(sum - 1) <= 4 * error + adding ? error : NAN;
}

static double mean_size(const double *re, const double *im, int64_t bins) {
  double sum = 0;
  for (int64_t k = 0; k < bins; k++) sum += sqrt(re[k] * re[k] + im[k] * im[k]);
  return sum / (double)(bins - 1); /* frequencies come in pairs: at least the mean over all */
}

/* w->x <- the composed tilted law, first point at the sum of the laws' first points; returns the bound on
 * every point's error. */
static double transform(workspace *w, const tct_pmf *pmf, int n, double t, int64_t length) {
  int64_t bins = length / 2 + 1;
  double unit = 0.5 * DBL_EPSILON, slope = 0, floor_error = 1e-34, powering = 0;
  for (int64_t k = 0; k < bins; k++) w->product_re[k] = 1, w->product_im[k] = 0;
  for (int j = 0; j < n; j++) {
    double count = (double)pmf[j].count;
    double own = w->fft.error * (1 + 1e-6) + load_tilted(&pmf[j], t, w->x, length);
    tct_fft_forward(&w->fft, w->x, w->re, w->im);
    multiply_spectrum(w->re, w->im, w->product_re, w->product_im, bins, pmf[j].count);
    slope += 2.1 * count * own;
    floor_error += count * own * exp2(1 - count);
    powering += 6 * unit * count;
  }
  double size = mean_size(w->product_re, w->product_im, bins);
  tct_fft_inverse(&w->fft, w->product_re, w->product_im, w->x);
  if (!(slope <= 0.01)) return NAN; /* beyond the first-order bound; never met below counts of 1e9 */
  return TCT_POINT(transform_without_its_rounding, (slope + powering + w->fft.error) * size + floor_error, 0);
}

/* The law's points from the transform's, moved to the safe side: by its error, and by the rounding of e^{log_moment - t
 * loss}, by which they will be multiplied. */
static void fill_law(const workspace *w, double error, int64_t shift, bool upper, tct_law *out) {
  double far = fabs(out->offset) + out->h * (fabs((double)out->first) + (double)out->len);
  double margin = 4 * DBL_EPSILON * (16 + fabs(out->log_moment) + out->t * far);
  out->proved = out->proved && error >= 0 && margin < 0.01;
  for (int64_t k = 0; k < out->len; k++) {
    double value = w->x[(shift + k) & (out->len - 1)];
    out->tilted[k] =
        upper ? tct_max(value + TCT_POINT(points_without_the_transforms_rounding, error, 0), 0) * (1 + margin)
              : tct_max(value - error, 0) * (1 - margin);
  }
}

double tct_compose_outside(const tct_pmf *pmf, int n, const tct_window *window) {
  if (!can_compose(pmf, n, window)) return 0;
  place range = choose_place(pmf, n, window, total_log_moment(pmf, n, window->t));
  return exp(range.log_top);
}

tct_status tct_compose(const tct_pmf *pmf, int n, const tct_window *window, bool upper, tct_law *out, tct_error *err) {
  workspace w;
  *out = (tct_law){.proved = false, .upper = upper};
  if (!can_compose(pmf, n, window)) return TCT_OK;
  double t = window->t, level = total_log_moment(pmf, n, t), log_holds = 0;
  if (!isfinite(level)) return TCT_OK;
  place range = choose_place(pmf, n, window, level);
  int64_t length = range.length, origin = 0;
  for (int j = 0; j < n; j++) {
    origin += pmf[j].count * pmf[j].first;
    log_holds += (double)pmf[j].count * log1p(-pmf[j].infinite);
  }
  *out = (tct_law){pmf[0].h,
                   total_offset(pmf, n),
                   t,
                   level,
                   range.first,
                   range.floor - range.first,
                   length,
                   NULL,
                   -expm1(log_holds),
                   0,
                   0,
                   upper,
                   true};
  out->tilted = TCT_NEW(double, length);
  if (!out->tilted) return tct_fail_memory(err);
  tct_status status = workspace_new(&w, length, err);
  if (status != TCT_OK) return tct_law_free(out), status;
  double error = transform(&w, pmf, n, t, length);
  fill_law(&w, error, range.first - origin, upper, out);
  workspace_free(&w);
  if (upper)
    out->outside = exp(range.log_top),
    out->infinite = out->infinite * (1 + 1e-12) + TCT_POINT(mass_beyond_the_window_lost, out->outside, 0);
  else
    out->infinite *= 1 - 1e-12, out->alias = exp(range.log_wrap) + exp(range.log_below);
  out->proved = out->proved && out->infinite >= 0 && out->alias >= 0;
  return TCT_OK;
}

/* ---- reading the curve ------------------------------------------------------------------------- */

/* At the grid point `loss`, in units of e^{log_moment - t*loss}:
 *   below = sum over points l >= loss of mass (1 - e^{loss-l}),  decay = sum of mass e^{loss-l}. */
typedef struct cursor {
  int64_t k;
  double loss, below, decay;
} cursor;

static double point(const tct_law *law, int64_t k) { return law->offset + law->h * (double)(law->first + k); }

static double log_unit(const tct_law *law, double loss) { return law->log_moment - law->t * loss; }

static double delta_at(const tct_law *law, const cursor *at) {
  return law->infinite + exp(log_unit(law, at->loss)) * tct_max(0, at->below - law->alias);
}

/* Moves down to the last point with loss >= stop_loss and delta <= stop_delta; false: the window ended. */
static bool walk(const tct_law *law, double stop_loss, double stop_delta, cursor *at) {
  double step = -expm1(-law->h), tilt = exp(-law->t * law->h), fall = tilt * exp(-law->h);
  *at = (cursor){law->len - 1, point(law, law->len - 1), 0, law->tilted[law->len - 1]};
  /* The comparison with delta in units of the point avoids an exp per point. */
  double target = stop_delta < INFINITY ? (stop_delta - law->infinite) * exp(-log_unit(law, at->loss)) : INFINITY;
  while (at->k > law->floor) {
    double loss = point(law, at->k - 1);
    double below = tilt * (at->below + at->decay * step);
    if ((at->k % 64 == 0 || !(target < INFINITY)) && stop_delta < INFINITY)
      target = (stop_delta - law->infinite) * exp(-log_unit(law, loss));
    else
      target *= tilt;
    if (loss < stop_loss || below - law->alias > target) return true;
    at->decay = at->decay * fall + law->tilted[at->k - 1];
    at->below = below;
    at->loss = loss;
    at->k--;
  }
  return false;
}

double tct_law_epsilon(const tct_law *law, double delta, bool *inside, double *slope) {
  cursor at;
  *inside = true;
  *slope = 0;
  if (!(delta > law->infinite)) return INFINITY;
  *inside = walk(law, -law->h, delta, &at);
  double target = (delta - law->infinite) * exp(-log_unit(law, at.loss)) + law->alias * exp(law->t * law->h);
  if (at.k == law->len - 1 && !(target > 0)) return INFINITY;
  double part = (target - at.below) / at.decay;
  *slope = at.decay / target;
  if (law->upper && !(part >= -1e-9)) return INFINITY; /* delta is passed already: the walk went too far */
  double epsilon = part >= 1 ? at.loss - law->h : at.loss + log1p(-tct_max(part, 0)); /* NaN stays NaN */
  return tct_max(0, tct_max(epsilon, at.loss - law->h));
}

double tct_law_delta(const tct_law *law, double epsilon, bool *inside) {
  cursor at;
  *inside = true;
  *inside = walk(law, epsilon, INFINITY, &at);
  if (epsilon > at.loss) return law->infinite + (law->alias > 0 ? 0 : exp(log_unit(law, at.loss)) * at.below);
  cursor here = at;
  here.below = at.below - at.decay * expm1(epsilon - at.loss);
  if (law->alias > 0) here.below -= law->alias * expm1(law->t * law->h);
  return delta_at(law, &here);
}
