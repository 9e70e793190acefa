/* coverage.h - tables with a known truth, and exact fits of them, for measuring what intervals cover. */
#ifndef TCT_BENCH_COVERAGE_H
#define TCT_BENCH_COVERAGE_H
#include "random.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- random numbers, and what the tables need of them ---------------------------------------------------- */

typedef struct dice {
  uint64_t state;
} dice;

static inline uint64_t dice_word(dice *d) { return bench_word(&d->state); }
static inline double dice_unit(dice *d) { return bench_unit(&d->state); }
static inline double dice_normal(dice *d) {
  return sqrt(-2 * log(dice_unit(d))) * cos(2 * 3.14159265358979323846 * dice_unit(d));
}
static inline dice dice_new(uint64_t table, uint64_t run) {
  dice d = {table * 0x632be59bd9b4e019u + run * 0xd6e8feb86659fd93u};
  for (int k = 0; k < 4; k++) dice_word(&d);
  return d;
}
static inline double dice_count(dice *d, double mean) { /* by inversion */
  double p = exp(-mean), sum = p, u = dice_unit(d);
  int k = 0;
  while (u > sum && k < 10000) sum += p *= mean / ++k;
  return k;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

typedef enum coverage_kind {
  INDEPENDENT,
  CORRELATED,
  SKEWED,
  RARE,
  OFFSET,
  HETERO,
  SKEW_ERRORS,
  WRONG,
  CATEGORIES,
  KINDS
} coverage_kind;
static const char *const coverage_kinds[] = {"independent", "correlated",  "skewed", "rare",      "offset",
                                             "hetero",      "skew_errors", "wrong",  "categories"};
typedef enum coverage_loss { LOGISTIC, SQUARED, HUBER, POISSON, GAMMA, LOSSES } coverage_loss;
static const char *const coverage_losses[] = {"logistic", "squared", "huber", "poisson", "gamma"};
static const double COVERAGE_RATIO = 8; /* of gamma.c, its default */
static inline int coverage_log(coverage_loss loss) { return loss == POISSON || loss == GAMMA; }

typedef struct coverage_table {
  int64_t n, p; /* p: with the last column of ones */
  double *x, *y;
  const double *offset; /* [n], added to each margin of an exact fit; NULL: none */
  double row_norm, label_bound;
} coverage_table;

static inline int coverage_robust(coverage_kind kind) { return kind == HETERO || kind == SKEW_ERRORS || kind == WRONG; }

/* The coefficients that tables of this kind are drawn from: every fourth is 0. */
static inline void coverage_truth(coverage_kind kind, coverage_loss loss, int64_t p, double *w) {
  static const double steps[] = {0.8, -0.5, 0.3, 0};
  double sum = 0, scale = loss == LOGISTIC ? 1 : coverage_log(loss) ? 0.35 : 0.25;
  for (int64_t j = 0; j < p - 1; j++) sum += steps[j % 4] * steps[j % 4];
  for (int64_t j = 0; j < p - 1; j++) w[j] = 4 * steps[j % 4] * sqrt(0.98 / sum);
  if (kind == RARE) w[0] = 1;
  for (int64_t j = 2; j < p - 1 && kind == CATEGORIES; j++) w[j] /= 4;
  w[p - 1] = kind == OFFSET ? -3.0 : -0.4;
  for (int64_t j = 0; j < p; j++) w[j] *= scale;
}

static inline void coverage_row(coverage_kind kind, int64_t p, dice *d, double *x) {
  double common = dice_normal(d);
  for (int64_t j = 0; j < p - 1; j++) {
    double e = dice_normal(d);
    if (kind == CORRELATED) e = sqrt(0.2) * e + sqrt(0.8) * common;
    x[j] = kind == SKEWED ? fmin(exp(0.8 * e) / 8, 1) : fmin(fmax(e / 4, -1), 1);
  }
  if (kind == RARE) x[0] = dice_unit(d) < 0.01;
  if (kind == CATEGORIES) { /* two numbers and one category, whose shares fall as 1/rank; its first value is left out */
    double u = dice_unit(d), all = 0, sum = 0;
    for (int64_t k = 1; k <= p - 2; k++) all += 1 / (double)k;
    for (int64_t k = 1; k <= p - 2; k++) {
      double from = sum;
      sum += 1 / (double)k / all;
      if (k > 1) x[k] = u >= from && u < sum;
    }
  }
  x[p - 1] = 1;
}

/* What a label is drawn about, and how far: f, and the deviation of its error. */
static inline double coverage_line(coverage_kind kind, coverage_loss loss, const double *x, const double *w, int64_t p,
                                   double *deviation) {
  double f = 0, bend = kind == WRONG ? 6 * x[0] * x[1] + 8 * (x[0] * x[0] - 1.0 / 16) : 0;
  for (int64_t j = 0; j < p; j++) f += x[j] * w[j];
  *deviation = kind == HETERO ? 0.25 * sqrt(0.2 + 12.8 * x[0] * x[0]) : 0.25;
  return f + bend * (loss == LOGISTIC ? 1 : coverage_log(loss) ? 0.3 : 0.25);
}

static inline double coverage_label(coverage_kind kind, coverage_loss loss, const double *x, const double *w, int64_t p,
                                    dice *d) {
  double s, f = coverage_line(kind, loss, x, w, p, &s);
  if (loss == LOGISTIC) return dice_unit(d) < 1 / (1 + exp(-f)) ? 1 : -1;
  if (coverage_log(loss) && kind == HETERO) f += s * dice_normal(d) * 2 - 2 * s * s; /* numbers that vary more */
  if (coverage_log(loss) && kind == SKEW_ERRORS) f += log(-log(dice_unit(d)));       /* and much more */
  if (loss == GAMMA) return fmin(-log(dice_unit(d)) * exp(f), 50);
  if (loss == POISSON) return fmin(dice_count(d, exp(fmin(f, 4))), 50);
  double e = kind == SKEW_ERRORS ? -log(dice_unit(d)) - 1 : dice_normal(d);
  return fmin(fmax(f + s * e, -2), 2);
}

/* The mean of a count of this mean that is cut at 50: what counts above 50 lose is taken off. */
static inline double coverage_mean_count(double mean) {
  if (mean < 15) return mean;
  double part = exp(-mean), above = mean - 50;
  for (int k = 0; k < 50; part *= mean / ++k) above += (50 - k) * part;
  return mean - above;
}

/* Of a count whose own mean varies by a normal factor.  By Simpson's rule. */
static inline double coverage_mean_varied(double f, double s) {
  enum { STEPS = 48 };
  double sum = 0, all = 0;
  for (int k = 0; k <= STEPS; k++) {
    double z = 6 * (2.0 * k / STEPS - 1), part = exp(-z * z / 2) * (k == 0 || k == STEPS ? 1 : k % 2 ? 4 : 2);
    sum += part * coverage_mean_count(exp(fmin(f + 2 * s * z - 2 * s * s, 4))), all += part;
  }
  return sum / all;
}

/* The mean of coverage_label.  Losses with a cut need more than the mean: a drawn label. */
static inline double coverage_mean(coverage_kind kind, coverage_loss loss, const double *x, const double *w, int64_t p,
                                   dice *d) {
  double s, f = coverage_line(kind, loss, x, w, p, &s);
  if (loss == HUBER || loss == GAMMA) return coverage_label(kind, loss, x, w, p, d);
  if (loss == LOGISTIC) return tanh(f / 2);
  if (loss == POISSON && kind == HETERO) return coverage_mean_varied(f, s);
  if (loss == POISSON && kind == SKEW_ERRORS) return exp(f) * (1 - pow(1 + exp(-f), -50)); /* a geometric law */
  if (loss == POISSON) return coverage_mean_count(exp(fmin(f, 4)));
  if (kind == SKEW_ERRORS) return f - s * exp(-(2 - f) / s - 1); /* what lies above 2 is cut */
  double high = (2 - f) / s, low = (2 + f) / s;
  return f + s * (exp(-low * low / 2) - exp(-high * high / 2)) / sqrt(2 * 3.14159265358979323846) +
         (2 - f) * erfc(high / sqrt(2)) / 2 - (2 + f) * erfc(low / sqrt(2)) / 2;
}

/* Labels as they are drawn, or (of a population) their means. */
static inline coverage_table coverage_make(coverage_kind kind, coverage_loss loss, int64_t n, int64_t p, uint64_t run,
                                           int means) {
  coverage_table t = {.n = n, .p = p, .row_norm = 1.5 * sqrt(1 + (double)(p - 1) / 16)};
  double w[512];
  dice d = dice_new(1 + (uint64_t)kind + 16 * (uint64_t)loss, run);
  coverage_truth(kind, loss, p, w);
  t.label_bound = loss == LOGISTIC ? 1 : coverage_log(loss) ? 50 : 2;
  t.x = malloc((size_t)(n * p) * sizeof *t.x);
  t.y = malloc((size_t)n * sizeof *t.y);
  if (!t.x || !t.y) abort();
  for (int64_t i = 0; i < n; i++) {
    coverage_row(kind, p, &d, t.x + i * p);
    t.y[i] = (means ? coverage_mean : coverage_label)(kind, loss, t.x + i * p, w, p, &d);
  }
  return t;
}

static inline coverage_table coverage_draw(coverage_kind kind, coverage_loss loss, int64_t n, int64_t p, uint64_t run) {
  return coverage_make(kind, loss, n, p, run, 0);
}

static inline void coverage_free(coverage_table *t) {
  free(t->x);
  free(t->y);
}

/* ---- exact fits -------------------------------------------------------------------------------------------------- */

static inline double coverage_slope(coverage_loss loss, double f, double y) {
  if (loss == LOGISTIC) return 1 / (1 + exp(-f)) - (1 + y) / 2;
  if (loss == POISSON) return exp(f) - y;
  if (loss == GAMMA) return 1 - fmin(y * exp(-f), COVERAGE_RATIO);
  return loss == HUBER ? fmin(fmax(f - y, -1), 1) : f - y;
}
static inline double coverage_curve(coverage_loss loss, double f, double y) {
  if (loss == LOGISTIC) return 1 / ((1 + exp(f)) * (1 + exp(-f)));
  if (loss == POISSON) return exp(f);
  if (loss == GAMMA) return y * exp(-f) < COVERAGE_RATIO ? y * exp(-f) : 0;
  return loss == HUBER && fabs(f - y) >= 1 ? 0 : 1;
}

static inline double coverage_value(coverage_loss loss, double f, double y) {
  if (loss == LOGISTIC) return fmax(-y * f, 0) + log1p(exp(-fabs(f)));
  if (loss == POISSON) return exp(f) - y * f;
  if (loss == GAMMA) {
    double at = log(y) - log(COVERAGE_RATIO), over = fmax(at - f, 0);
    return fmax(f, at) + y * exp(-fmax(f, at)) + (COVERAGE_RATIO - 1) * over;
  }
  double r = fabs(f - y);
  return loss == HUBER && r > 1 ? r - 0.5 : 0.5 * r * r;
}
/* The mean loss of w[p]. */
static inline double coverage_objective(const coverage_table *t, coverage_loss loss, const double *w) {
  double sum = 0;
  for (int64_t i = 0; i < t->n; i++) {
    double f = t->offset ? t->offset[i] : 0;
    for (int64_t k = 0; k < t->p; k++) f += t->x[i * t->p + k] * w[k];
    sum += coverage_value(loss, f, t->y[i]);
  }
  return sum / (double)t->n;
}

/* inverse[p][p] <- the inverse of a[p][p], by Gauss and Jordan. */
static inline void coverage_invert(double *a, double *inverse, int64_t p) {
  for (int64_t j = 0; j < p * p; j++) inverse[j] = j % (p + 1) == 0;
  for (int64_t c = 0; c < p; c++) {
    double pivot = a[c * p + c];
    for (int64_t k = 0; k < p; k++) a[c * p + k] /= pivot, inverse[c * p + k] /= pivot;
    for (int64_t r = 0; r < p; r++) {
      double f = r == c ? 0 : a[r * p + c];
      for (int64_t k = 0; k < p && f != 0; k++)
        a[r * p + k] -= f * a[c * p + k], inverse[r * p + k] -= f * inverse[c * p + k];
    }
  }
}

/* H^-1 (or the sums for it) at w: h[p][p], g[p], j[p][p] = sums of curve x x^T, slope x, slope^2 x x^T. */
static inline void coverage_sums(const coverage_table *t, coverage_loss loss, const double *w, double *h, double *g,
                                 double *j) {
  int64_t p = t->p;
  memset(h, 0, (size_t)(p * p) * sizeof *h), memset(j, 0, (size_t)(p * p) * sizeof *j);
  memset(g, 0, (size_t)p * sizeof *g);
  for (int64_t i = 0; i < t->n; i++) {
    const double *x = t->x + i * p;
    double f = t->offset ? t->offset[i] : 0;
    for (int64_t k = 0; k < p; k++) f += x[k] * w[k];
    double s = coverage_slope(loss, f, t->y[i]), c = coverage_curve(loss, f, t->y[i]);
    for (int64_t a = 0; a < p; a++) {
      g[a] += s * x[a];
      for (int64_t b = 0; b <= a; b++) h[a * p + b] += c * x[a] * x[b], j[a * p + b] += s * s * x[a] * x[b];
    }
  }
  for (int64_t a = 0; a < p; a++)
    for (int64_t b = 0; b < a; b++) h[b * p + a] = h[a * p + b], j[b * p + a] = j[a * p + b];
}

/* w[p], where to start <- the minimiser; se[p] <- its standard errors (robust: the sandwich), NULL: not wanted. */
static inline void coverage_exact(const coverage_table *t, coverage_loss loss, int robust, double *w, double *se) {
  int64_t p = t->p;
  double *h = malloc((size_t)(4 * p * p + p) * sizeof *h), *j = h + p * p, *inverse = j + p * p, *b = inverse + p * p,
         *g = b + p * p;
  if (!h) abort();
  for (int step = 0; step < 30; step++) {
    double moved = 0;
    coverage_sums(t, loss, w, h, g, j);
    coverage_invert(h, inverse, p);
    for (int64_t a = 0; a < p; a++) {
      double d = 0;
      for (int64_t k = 0; k < p; k++) d += inverse[a * p + k] * g[k];
      w[a] -= d, moved += d * d;
    }
    if (moved < 1e-18) break;
  }
  coverage_sums(t, loss, w, h, g, j);
  double spread = 1;
  if (loss == SQUARED) {
    spread = 0;
    for (int64_t i = 0; i < t->n; i++) {
      double f = 0;
      for (int64_t a = 0; a < p; a++) f += t->x[i * p + a] * w[a];
      spread += (f - t->y[i]) * (f - t->y[i]) / (double)(t->n - p);
    }
  }
  if (!robust && loss != HUBER)
    for (int64_t k = 0; k < p * p; k++) j[k] = spread * h[k];
  coverage_invert(h, inverse, p);
  for (int64_t a = 0; a < p && se; a++) {
    double v = 0;
    for (int64_t k = 0; k < p; k++)
      for (int64_t m = 0; m < p; m++) v += inverse[a * p + k] * j[k * p + m] * inverse[a * p + m];
    se[a] = sqrt(v);
  }
  free(h);
}
#endif
