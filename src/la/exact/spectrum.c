/* spectrum.c - Householder's reduction to a tridiagonal matrix (Golub and Van Loan, 8.3.1) and implicit QL steps with
 * Wilkinson's shift (8.3.5). */
#include "la/exact/spectrum.h"

#include "core/lanes.h"
#include "core/stop.h"
#include "la/kernels/kernels.h"

#include <math.h>
#include <string.h>

/* row -= at*q, and then other*v. */
#define LESS(level)                                                                                        \
  TCT_TARGET_##level static void less_##level(double at, const double *restrict q, double other,           \
                                              const double *restrict v, int64_t n, double *restrict row) { \
    for (int64_t k = 0; k < n; k++) row[k] = (row[k] - at * q[k]) - other * v[k];                          \
  }
TCT_EACH_LEVEL(LESS)

/* The block after row k of the symmetric a is turned so that row k ends after its first entry, *off.  The row's end
 * becomes v, and the block is to lose v q^T + q v^T: the next call takes that away, while it has the rows at hand.
 * before: this call's q, or NULL.  false: nothing is to be lost. */
static bool reflect(double *a, int64_t p, int64_t k, const double *before, double *q, double *off) {
  int64_t n = p - k - 1;
  double *row = a + k * p + k, *v = row + 1;
  const double *last = before ? row - p : NULL; /* v of the row above */
  if (before) TCT_BEST(less)(last[0], before, before[0], last, n + 1, row);
  double norm2 = tct_norm2(v, n);
  *off = v[0] > 0 ? -sqrt(norm2) : sqrt(norm2);
  v[0] -= *off;
  double size = tct_norm2(v, n), beta = 2 / size;
  for (int64_t i = 0; i < n; i++) {
    double *at = row + (i + 1) * p;
    if (before) TCT_BEST(less)(last[i + 1], before, before[i + 1], last, n + 1, at);
    q[i] = beta * tct_dot(at + 1, v, n);
  }
  if (!(size > 0)) return false;
  tct_axpy(-0.5 * beta * tct_dot(v, q, n), v, q, n);
  return true;
}

/* a's diagonal and off[p - 1] <- the tridiagonal matrix; above the diagonal, each row's v.  room: 2p doubles. */
static void reduce(double *a, int64_t p, double *off, double *room) {
  const double *before = NULL;
  for (int64_t k = 0; k + 1 < p && !tct_stopping(); k++) {
    double *q = room + k % 2 * p;
    before = reflect(a, p, k, before, q, off + k) ? q : NULL;
  }
  if (before) a[p * p - 1] = (a[p * p - 1] - a[p * p - p - 1] * before[0]) - before[0] * a[p * p - p - 1];
}

/* The end of the block that begins at row l: the first place after l where the matrix falls apart. */
static int64_t block_end(const double *diagonal, const double *off, int64_t p, int64_t l) {
  int64_t m = l;
  while (m + 1 < p && fabs(off[m]) > 0x1p-53 * (fabs(diagonal[m]) + fabs(diagonal[m + 1]))) m++;
  return m;
}

/* Rotations that wait, since many at once read the vectors from memory only once.  A run of them goes up row by row:
 * its first row, how many, and each (c, s), in the part of row p - 1 - `runs` of a that is free. */
enum { RUNS = 24, STRIP = 32, SHORTEST = 16 };
typedef struct waiting {
  double *a, *vector;
  int64_t p, most; /* rotations of a run; 0: none waits */
  int runs;
} waiting;

/* A run turns `wide` columns.  A strip's row that two rotations share stays in registers. */
#define TURN(level)                                                                                    \
  TCT_TARGET_##level static void turn_##level(double *x, int64_t p, int64_t wide, const double *run) { \
    int64_t i = (int64_t)run[0], end = i - (int64_t)run[1];                                            \
    const double *turn = run + 2;                                                                      \
    if (wide == STRIP) {                                                                               \
      tct_f64x8 *at = (tct_f64x8 *)(x + (i + 1) * p), b0 = at[0], b1 = at[1], b2 = at[2], b3 = at[3];  \
      for (; i > end; i--, turn += 2) {                                                                \
        tct_f64x8 *up = (tct_f64x8 *)(x + i * p), a0 = up[0], a1 = up[1], a2 = up[2], a3 = up[3];      \
        double c = turn[0], s = turn[1];                                                               \
        at[0] = s * a0 + c * b0, at[1] = s * a1 + c * b1;                                              \
        at[2] = s * a2 + c * b2, at[3] = s * a3 + c * b3;                                              \
        b0 = c * a0 - s * b0, b1 = c * a1 - s * b1, b2 = c * a2 - s * b2, b3 = c * a3 - s * b3;        \
        at = up;                                                                                       \
      }                                                                                                \
      at[0] = b0, at[1] = b1, at[2] = b2, at[3] = b3;                                                  \
    }                                                                                                  \
    for (; i > end; i--, turn += 2)                                                                    \
      for (int64_t k = 0; k < wide; k++) {                                                             \
        double a = x[i * p + k], b = x[(i + 1) * p + k];                                               \
        x[i * p + k] = turn[0] * a - turn[1] * b;                                                      \
        x[(i + 1) * p + k] = turn[1] * a + turn[0] * b;                                                \
      }                                                                                                \
  }
TCT_EACH_LEVEL(TURN)

static void turn_all(waiting *w) {
  int64_t p = w->p;
  for (int64_t from = 0; from < p; from += STRIP)
    for (int r = 0; r < w->runs; r++)
      TCT_BEST(turn)(w->vector + from, p, p - from < STRIP ? p - from : STRIP, w->a + (p - 1 - r) * p);
  w->runs = 0;
}

/* Rows i and i + 1 of the vectors are to turn by (c, s). */
static void turn_later(waiting *w, int64_t i, double c, double s) {
  if (!w->vector) return;
  double alone[4] = {(double)i, 1, c, s}, *run = w->runs ? w->a + (w->p - w->runs) * w->p : NULL;
  if (w->most == 0) {
    TCT_BEST(turn)(w->vector, w->p, w->p, alone);
    return;
  }
  if (!run || run[0] - run[1] != (double)i || run[1] == (double)w->most) {
    if (w->runs == RUNS || w->runs == w->p / 2) turn_all(w);
    run = w->a + (w->p - 1 - w->runs++) * w->p;
    run[0] = (double)i, run[1] = 0;
  }
  memcpy(run + 2 + 2 * (int64_t)run[1]++, alone + 2, 2 * sizeof *run);
}

/* One implicit QL step on rows l..m.  The bulge is chased upward; the vectors turn with it. */
static void ql_step(double *diagonal, double *off, int64_t l, int64_t m, waiting *w) {
  double half = (diagonal[l + 1] - diagonal[l]) / (2 * off[l]);
  double shifted = diagonal[m] - diagonal[l] + off[l] / (half + copysign(hypot(half, 1), half));
  double s = 1, c = 1, taken = 0;
  for (int64_t i = m - 1; i >= l; i--) {
    double bulge = s * off[i], rest = c * off[i], size = hypot(bulge, shifted);
    off[i + 1] = size;
    if (size == 0) { /* the matrix falls apart here */
      diagonal[i + 1] -= taken;
      off[m] = 0;
      return;
    }
    s = bulge / size, c = shifted / size;
    double old = diagonal[i + 1] - taken, sum = (diagonal[i] - old) * s + 2 * c * rest;
    taken = s * sum;
    diagonal[i + 1] = old + taken;
    shifted = c * sum - rest;
    turn_later(w, i, c, s);
  }
  diagonal[l] -= taken;
  off[l] = shifted;
  off[m] = 0;
}

static bool ql(double *diagonal, double *off, int64_t p, waiting *w) {
  off[p - 1] = 0;
  for (int64_t l = 0; l < p; l++)
    for (int step = 0; block_end(diagonal, off, p, l) > l; step++) {
      if (step == 60 || tct_stopping()) return false;
      ql_step(diagonal, off, l, block_end(diagonal, off, p, l), w);
    }
  turn_all(w);
  return true;
}

/* The reflections that reflect() left in a are applied to the ends of `count` vectors, which stay in the second cache.
 */
static void reflect_back(const double *a, int64_t p, int64_t count, double *vector) {
  for (int64_t k = p - 2; k >= 0; k--) {
    const double *v = a + k * p + k + 1;
    int64_t n = p - k - 1;
    double size = tct_norm2(v, n);
    for (double *end = vector + k + 1; size > 0 && end < vector + count * p; end += p)
      tct_axpy(-2 / size * tct_dot(v, end, n), v, end, n);
  }
}

bool tct_eigenvectors(double *a, int64_t p, double *value, double *vector, double *scratch) {
  enum { TOGETHER = 16 };
  double *off = scratch, sum = 0;
  for (int64_t k = 0; k < p * p; k++) sum += a[k] * 0.0;
  if (sum != 0 || p < 1) return false; /* NaN unless all are finite */
  reduce(a, p, off, off + p);
  if (vector) memset(vector, 0, (size_t)(p * p) * sizeof *vector);
  for (int64_t k = 0; k < p; k++) value[k] = a[k * p + k];
  for (int64_t k = 0; k < p && vector; k++) vector[k * p + k] = 1;
  waiting turns = {.a = a, .vector = vector, .p = p, .most = p < SHORTEST ? 0 : p / 4 - 1};
  if (!ql(value, off, p, &turns)) return false;
  for (int64_t k = 0; k < p && vector && !tct_stopping(); k += TOGETHER)
    reflect_back(a, p, p - k < TOGETHER ? p - k : TOGETHER, vector + k * p);
  return true;
}
