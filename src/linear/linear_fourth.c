/* linear_fourth.c - fourth moments of columns from what was released of them.
 *
 * F is the sum of w w' of the products w of two entries of white z, with noise.  Its entries (ab, cd), (ac, bd) and
 * (ad, bc) are the same sum, and become their mean.  Where it lies below what a normal law of the same moments has, by
 * noise or as long records were cut, F is raised to that. */
#include "core/alloc.h"
#include "la/exact/gram.h"
#include "la/exact/spectrum.h"
#include "la/exact/triangular.h"
#include "la/kernels/kernels.h"
#include "linear/linear.h"

#include <math.h>
#include <string.h>

/* The place of the product of entries i and j. */
static int64_t place(int64_t q, int64_t i, int64_t j) {
  int64_t a = i < j ? i : j, b = i < j ? j : i;
  return a * q - a * (a - 1) / 2 + b - a;
}

static double unit(int64_t i, int64_t j) { return i == j ? 1 : M_SQRT2; }

/* u[q] <- white' L' a. */
static void in_white(const tct_linear *l, const double *a, double *u) {
  double *z = l->work + 4 * l->q;
  tct_linear_in_z(l, a, z);
  memset(u, 0, (size_t)l->q * sizeof *u);
  for (int64_t j = 0; j < l->q; j++) tct_axpy(z[j], l->white + j * l->q, u, j + 1);
}

void tct_linear_product(const tct_linear *l, const double *a, const double *b, double *form) {
  int64_t q = l->q;
  double *u = l->work, *v = u + q;
  in_white(l, a, u), in_white(l, b, v);
  for (int64_t i = 0; i < q; i++)
    for (int64_t j = i; j < q; j++) *form++ = (u[i] * v[j] + u[j] * v[i]) / 2 * unit(i, j);
}

static void average(int64_t q, double *f) {
  int64_t d = tct_moments_products(q), at[3][2];
  for (int64_t a = 0; a < q; a++)
    for (int64_t b = a; b < q; b++)
      for (int64_t c = b; c < q; c++)
        for (int64_t e = c; e < q; e++) {
          const int64_t pair[3][4] = {{a, b, c, e}, {a, c, b, e}, {a, e, b, c}};
          double mean = 0, units[3];
          for (int k = 0; k < 3; k++) {
            at[k][0] = place(q, pair[k][0], pair[k][1]), at[k][1] = place(q, pair[k][2], pair[k][3]);
            units[k] = unit(pair[k][0], pair[k][1]) * unit(pair[k][2], pair[k][3]);
            mean += f[at[k][0] * d + at[k][1]] / units[k] / 3;
          }
          for (int k = 0; k < 3; k++) f[at[k][0] * d + at[k][1]] = f[at[k][1] * d + at[k][0]] = mean * units[k];
        }
}

/* What a normal law of the same moments has.  The second are rows times 1, and all three pairings of them count.  The
 * ones do not vary, and lose twice what they have alone.  ones: [d]; work: [q]. */
static void normal(const tct_linear *l, double rows, double *f, double *ones, double *work) {
  int64_t q = l->q, d = tct_moments_products(q);
  double *start = f;
  memset(work, 0, (size_t)q * sizeof *work);
  work[q - 1] = 1;
  tct_linear_product(l, work, work, ones);
  double by = -2 * rows * rows / l->count / fmax(tct_norm2(ones, d), 1e-300);
  for (int64_t a = 0; a < q; a++)
    for (int64_t b = a; b < q; b++)
      for (int64_t c = 0; c < q; c++)
        for (int64_t e = c; e < q; e++)
          *f++ = unit(a, b) * unit(c, e) * rows * rows / l->count *
                 ((a == b) * (c == e) + (a == c) * (b == e) + (a == e) * (b == c));
  for (int64_t j = 0; j < d; j++) tct_axpy(by * ones[j], ones, start + j * d, d);
}

/* f <- raised to R R', the Cholesky factor of the normal one; room: [2][d][d] and [4d]. */
static bool raise(int64_t d, const double *r, double *f, double *room) {
  double *inverse = room, *vector = inverse + d * d, *value = vector + d * d, *work = value + d;
  memcpy(inverse, r, (size_t)(d * d) * sizeof *r);
  tct_lower_invert(inverse, d, work);
  double *scaled = TCT_NEW(double, d *d);
  if (!scaled) return false;
  memcpy(scaled, f, (size_t)(d * d) * sizeof *f);
  for (int side = 0; side < 2; side++) { /* R^-1 F, transposed, and R^-1 once more */
    for (int64_t i = d - 1; i >= 0; i--) {
      memset(work, 0, (size_t)d * sizeof *work);
      for (int64_t k = 0; k <= i; k++) tct_axpy(inverse[i * d + k], scaled + k * d, work, d);
      memcpy(scaled + i * d, work, (size_t)d * sizeof *work);
    }
    for (int64_t i = 0; i < d; i++)
      for (int64_t j = 0; j < i; j++) {
        double at = scaled[i * d + j];
        scaled[i * d + j] = scaled[j * d + i], scaled[j * d + i] = at;
      }
  }
  tct_symmetrise(scaled, d);
  bool found = tct_eigenvectors(scaled, d, value, vector, work);
  for (int64_t k = 0; k < d && found; k++) {
    if (value[k] >= 1) continue;
    for (int64_t i = 0; i < d; i++) work[i] = tct_dot(r + i * d, vector + k * d, i + 1);
    for (int64_t i = 0; i < d; i++) tct_axpy((1 - value[k]) * work[i], work, f + i * d, d);
  }
  tct_free(scaled);
  return found;
}

tct_status tct_linear_settle_fourth(tct_linear *l, int64_t rows, tct_error *err) {
  int64_t d = tct_moments_products(l->q);
  double *r = TCT_NEW(double, 3 * d * d + 4 * d);
  l->white = TCT_NEW(double, l->q * l->q), l->fourth = TCT_NEW(double, d *d);
  if (!r || !l->white || !l->fourth) return tct_free(r), tct_fail_memory(err);
  memcpy(l->fourth, l->moments->fourth, (size_t)(d * d) * sizeof *r);
  average(l->q, l->fourth);
  bool good = tct_moments_white(l->moments, rows, l->white);
  if (good) normal(l, (double)rows, r, r + d * d, r + d * d + d);
  good = good && tct_cholesky(r, d) && raise(d, r, l->fourth, r + d * d);
  tct_free(r);
  return good ? TCT_OK
              : tct_fail(err, TCT_E_RUN, "the noise has left nothing of the fourth moments; give more epsilon");
}
