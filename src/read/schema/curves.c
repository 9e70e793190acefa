/* curves.c - power and spline curves over the bounds of a number, in a basis that is orthonormal there.
 *
 * Mean and second moment of the functions are taken over 2,001 even points between the bounds, a fixed public rule.
 * With S = L L' of what is left, the rows of inverse L make the functions orthonormal, and one factor makes the
 * longest of the points 1 long.  The length does not depend on which root of S is taken.
 *
 * Splines are those of R, so that weights can be compared.  bs there is the B-spline basis without its first function.
 * ns turns that by the two Householder reflections which take the second derivatives at both bounds out, and leaves
 * the first two functions away. */
#include "read/schema/curves.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"

enum { POINTS = 2001, MOST = TCT_CURVE_WIDTH + 1 };
static const double TOO_CLOSE = 1e-9; /* of a function's second moment is new beside those before it */

int32_t tct_curve_width(const tct_curve_shape *shape) {
  if (shape->kind == TCT_CURVE_POWER) return shape->degree;
  return shape->knots + (shape->kind == TCT_CURVE_NATURAL ? 1 : shape->degree);
}

/* Knot j of the B-spline basis: the bounds are there degree + 1 times. */
static double knot_at(const tct_curve_shape *s, int32_t j) {
  int32_t inner = j - s->degree - 1;
  return inner < 0 ? s->lower : inner < s->knots ? s->knot[inner] : s->upper;
}

static double over(double a, double b) { return b > 0 ? a / b : 0; }

/* B-spline i of a degree, or its derivative of an order, by the recursion of Cox and de Boor.  The last piece holds the
 * upper bound. */
static double spline(const tct_curve_shape *s, int32_t i, int32_t degree, int order, double x) {
  double a = knot_at(s, i), b = knot_at(s, i + degree + 1);
  if (x < a || x > b) return 0;
  if (degree == 0) return a < b && (x < b || b == s->upper);
  double left = knot_at(s, i + degree) - a, right = b - knot_at(s, i + 1);
  double first = spline(s, i, degree - 1, order > 0 ? order - 1 : 0, x);
  double second = spline(s, i + 1, degree - 1, order > 0 ? order - 1 : 0, x);
  if (order > 0) return degree * (over(first, left) - over(second, right));
  return over((x - a) * first, left) + over((b - x) * second, right);
}

/* What two steps of Householder's algorithm make of the second derivatives at the bounds. */
static void make_folds(tct_curve *c) {
  const tct_curve_shape *s = &c->shape;
  int32_t rows = s->knots + 3;
  for (int e = 0; e < 2; e++)
    for (int32_t i = 0; i < rows; i++) c->fold[e][i] = spline(s, i + 1, 3, 2, e ? s->upper : s->lower);
  for (int32_t e = 0; e < 2; e++) {
    double *v = c->fold[e], norm = 0, dot = 0;
    for (int32_t i = e; i < rows; i++) norm += v[i] * v[i];
    norm = copysign(sqrt(norm), v[e]);
    for (int32_t i = e; i < rows; i++) v[i] /= norm;
    v[e] += 1;
    if (e > 0) continue;
    for (int32_t i = 0; i < rows; i++) dot += v[i] * c->fold[1][i];
    for (int32_t i = 0; i < rows; i++) c->fold[1][i] -= dot / v[0] * v[i];
  }
}

static void natural(const tct_curve *c, double *function) {
  int32_t rows = c->shape.knots + 3;
  for (int32_t e = 0; e < 2; e++) {
    const double *v = c->fold[e];
    double dot = 0;
    for (int32_t i = e; i < rows; i++) dot += v[i] * function[i];
    for (int32_t i = e; i < rows; i++) function[i] -= dot / v[e] * v[i];
  }
  memmove(function, function + 2, (size_t)c->width * sizeof *function);
}

static void powers(double x, int32_t count, double *function) {
  double power = 1;
  for (int32_t k = 0; k < count; k++) function[k] = power *= x;
}

/* function[MOST] */
static void splines(const tct_curve *c, double value, double *function) {
  const tct_curve_shape *s = &c->shape;
  for (int32_t i = 0; i < s->knots + s->degree; i++) function[i] = spline(s, i + 1, s->degree, 0, value);
  if (s->kind == TCT_CURVE_NATURAL) natural(c, function);
}

void tct_curve_functions(const tct_curve *c, double value, double *function) {
  double own[MOST];
  if (c->shape.kind == TCT_CURVE_POWER) {
    powers(value, c->width, function);
    return;
  }
  splines(c, value, own);
  memcpy(function, own, (size_t)c->width * sizeof *own);
}

/* Powers are of (x - move)/half. */
static double half_of(const tct_curve *c, double *move) {
  double lower = c->shape.lower, upper = c->shape.upper, half = upper / 2 - lower / 2;
  *move = c->centred ? lower + half : 0;
  return c->centred ? half : fmax(fabs(lower), fabs(upper));
}

static void inner(const tct_curve *c, double value, double *function) {
  double move, half = half_of(c, &move);
  if (c->shape.kind == TCT_CURVE_POWER)
    powers((value - move) / half, c->width, function);
  else
    splines(c, value, function);
}

static void turn(const tct_curve *c, const double *function, double *feature) {
  for (int32_t i = 0; i < c->width; i++) {
    double sum = 0;
    for (int32_t k = 0; k <= i; k++) sum += c->basis[i * c->width + k] * (function[k] - (c->centred ? c->mean[k] : 0));
    feature[i] = sum;
  }
}

void tct_curve_at(const tct_curve *c, double value, double *feature) {
  double function[MOST];
  inner(c, value, function);
  turn(c, function, feature);
}

static double point(const tct_curve_shape *s, int k) {
  double part = (double)k / (POINTS - 1);
  return s->lower * (1 - part) + s->upper * part;
}

/* basis <- the second moment, about the mean where the curve is centred. */
static void moments(tct_curve *c) {
  int32_t w = c->width;
  double f[MOST];
  for (int k = 0; k < POINTS; k++) {
    inner(c, point(&c->shape, k), f);
    for (int32_t i = 0; i < w; i++) c->mean[i] += f[i] / POINTS;
  }
  for (int k = 0; k < POINTS; k++) {
    inner(c, point(&c->shape, k), f);
    for (int32_t i = 0; i < w && c->centred; i++) f[i] -= c->mean[i];
    for (int32_t i = 0; i < w; i++)
      for (int32_t j = 0; j <= i; j++) c->basis[i * w + j] += f[i] * f[j] / POINTS;
  }
}

/* basis <- inverse L of basis = L L'; false where a function says nothing new. */
static bool invert(tct_curve *c) {
  int32_t w = c->width;
  double *a = c->basis;
  for (int32_t j = 0; j < w; j++) {
    double whole = a[j * w + j];
    for (int32_t k = 0; k < j; k++) a[j * w + j] -= a[j * w + k] * a[j * w + k];
    if (!(a[j * w + j] > TOO_CLOSE * whole)) return false;
    a[j * w + j] = sqrt(a[j * w + j]);
    for (int32_t i = j + 1; i < w; i++) {
      for (int32_t k = 0; k < j; k++) a[i * w + j] -= a[i * w + k] * a[j * w + k];
      a[i * w + j] /= a[j * w + j];
    }
  }
  for (int32_t j = 0; j < w; j++) {
    a[j * w + j] = 1 / a[j * w + j];
    for (int32_t i = j + 1; i < w; i++) {
      double sum = 0;
      for (int32_t k = j; k < i; k++) sum -= a[i * w + k] * a[k * w + j];
      a[i * w + j] = sum / a[i * w + i];
    }
  }
  return true;
}

tct_curve *tct_curve_new(const tct_curve_shape *shape, bool centred, const char **why) {
  tct_curve *c = TCT_NEW(tct_curve, 1);
  double feature[TCT_CURVE_WIDTH], largest = 0;
  *why = NULL;
  if (!c) return NULL;
  c->shape = *shape, c->centred = centred, c->width = tct_curve_width(shape);
  if (shape->kind == TCT_CURVE_NATURAL) make_folds(c);
  moments(c);
  if (!invert(c)) {
    *why = "its knots lie too close together for a curve; write fewer, or spread them";
    tct_free(c);
    return NULL;
  }
  for (int k = 0; k < POINTS; k++) {
    double squares = 0;
    tct_curve_at(c, point(shape, k), feature);
    for (int32_t i = 0; i < c->width; i++) squares += feature[i] * feature[i];
    largest = fmax(largest, squares);
  }
  for (int32_t i = 0; i < c->width * c->width; i++) c->basis[i] /= sqrt(largest);
  return c;
}

/* A row of the basis, and for powers ((x - move)/half)^k multiplied out by the binomial theorem. */
void tct_curve_raw(const tct_curve *c, int32_t i, double *of, double *constant) {
  const double *row = c->basis + i * c->width;
  double move, half = half_of(c, &move);
  memset(of, 0, (size_t)c->width * sizeof *of);
  *constant = 0;
  for (int32_t k = 0; k <= i && c->centred; k++) *constant -= row[k] * c->mean[k];
  for (int32_t k = 0; k <= i && c->shape.kind != TCT_CURVE_POWER; k++) of[k] = row[k];
  for (int32_t k = 1; k <= i + 1 && c->shape.kind == TCT_CURVE_POWER; k++) {
    double term = row[k - 1] / pow(half, k); /* times C(k, m) (-move)^(k - m), from m = k downward */
    for (int32_t m = k; m >= 0; m--) {
      if (m > 0) of[m - 1] += term;
      if (m == 0) *constant += term;
      term *= -move * m / (k - m + 1);
    }
  }
}
