/* linear_figures.c - means, deviations and correlations of columns from their released moments, with errors. */
#include "linear/linear.h"

#include "core/alloc.h"
#include "la/exact/gram.h"
#include "la/exact/triangular.h"
#include "la/kernels/kernels.h"

#include <string.h>

/* a[q] <- the column about its mean. */
static void about_mean(const tct_linear *l, int64_t column, double *a) {
  memset(a, 0, (size_t)l->q * sizeof *a);
  a[column] = 1;
  a[l->q - 1] = -l->gram[column * l->q + l->q - 1] / l->gram[l->q * l->q - 1];
}

tct_status tct_linear_mean(const tct_linear *linear, int64_t column, tct_linear_figure *out, tct_error *err) {
  tct_linear_model model;
  tct_status status = tct_linear_fit(linear, column, NULL, 0, 0, &model, err);
  if (status == TCT_OK)
    *out = (tct_linear_figure){model.w[0], sqrt(model.noise[0]), sqrt(model.noise[0] + model.sampling[0])};
  tct_linear_model_free(&model);
  return status;
}

/* Of the sum's square by shells that count by `part`; room: [4 (q + 1)] and [4q]. */
static double by_shells(const tct_linear *l, const double *part, const double *a, const double *w, int count,
                        double *room) {
  int64_t q = l->q;
  double *u = room, *square = u + count * q, sum = 0;
  for (int i = 0; i < count; i++) tct_linear_in_z(l, a + i * q, u + i * q);
  for (int i = 0; i < count; i++) {
    tct_linear_squares(l, part, u + i * q, u, count, square, square + count);
    sum += w[i] * tct_dot(square, w, count);
  }
  return sum;
}

/* The variance that who is in the table gives to sum_i w_i a_i'G a_i, as tct_linear_variance has that of noise.  By
 * shells it is at least `normal`, a normal law's, which is all where there is no memory for more. */
static double drawn(const tct_linear *l, const double *a, const double *w, int count, double normal) {
  int64_t q = l->q, d = l->fourth ? tct_moments_products(q) : 0;
  double *one = TCT_NEW(double, 2 * d + 8 * q + 4), variance = 0, mean = 0;
  if (!one) return normal;
  double *all = one + d;
  for (int i = 0; i < count; i++) {
    if (l->fourth) tct_linear_product(l, a + i * q, a + i * q, one), tct_axpy(w[i], one, all, d);
    mean += w[i] * tct_linear_form(l, a + i * q, a + i * q);
  }
  double seen = by_shells(l, l->part, a, w, count, all + d);
  for (int64_t j = 0; j < d; j++) variance += all[j] * tct_dot(l->fourth + j * d, all, d);
  double left = l->fourth ? by_shells(l, l->left, a, w, count, all + d) : 0;
  if (!l->fourth) variance = seen;
  if (left > 0) variance *= fmax(seen / left, 1);
  tct_free(one);
  return fmax(variance - mean * mean / l->count, l->fourth ? 0 : normal);
}

tct_status tct_linear_deviation(const tct_linear *linear, int64_t column, tct_linear_figure *out, tct_error *err) {
  double one = 1, *a = TCT_NEW(double, linear->q);
  if (!a) return tct_fail_memory(err);
  about_mean(linear, column, a);
  double square = fmax(tct_linear_centred(linear, column, column), 0), value = sqrt(square / linear->count);
  double noise = sqrt(tct_linear_variance(linear, a, &one, 1)) / (2 * value * linear->count);
  double sampling = sqrt(drawn(linear, a, &one, 1, 2 * square * square / linear->count)) / (2 * value * linear->count);
  *out = (tct_linear_figure){value, noise, hypot(noise, sampling)};
  tct_free(a);
  return TCT_OK;
}

/* dr of r = a'G b for a, b of length 1 about their means: ((a + b)'N(a + b) - (a - b)'N(a - b))/4 - r (a'N a + b'N
 * b)/2, and atanh has the slope 1/(1 - r^2). */
tct_status tct_linear_correlation(const tct_linear *linear, int64_t a, int64_t b, tct_linear_figure *out,
                                  tct_error *err) {
  int64_t q = linear->q, of[] = {a, b};
  double *u = TCT_NEW(double, 4 * q);
  if (!u) return tct_fail_memory(err);
  for (int i = 0; i < 2; i++) {
    about_mean(linear, of[i], u + i * q);
    double length = sqrt(fmax(tct_linear_centred(linear, of[i], of[i]), 1e-300));
    for (int64_t j = 0; j < q; j++) u[i * q + j] /= length;
  }
  double r = fmin(fmax(tct_linear_form(linear, u, u + q), -1 + 1e-12), 1 - 1e-12);
  for (int64_t j = 0; j < q; j++) u[2 * q + j] = u[j] + u[q + j], u[3 * q + j] = u[j] - u[q + j];
  const double w[] = {-r / 2, -r / 2, 0.25, -0.25};
  double noise = sqrt(tct_linear_variance(linear, u, w, 4)) / (1 - r * r);
  double normal = pow(1 - r * r, 2) / linear->count;
  *out = (tct_linear_figure){atanh(r), noise, hypot(noise, sqrt(drawn(linear, u, w, 4, normal)) / (1 - r * r))};
  tct_free(u);
  return TCT_OK;
}

/* The diagonals of the columns' centred moments and of their inverse. */
tct_status tct_linear_vif(const tct_linear *linear, const int64_t *column, int64_t slopes, double *vif,
                          tct_error *err) {
  double *c = TCT_NEW(double, slopes *slopes + slopes + 1), *room = c + slopes * slopes;
  if (!c) return tct_fail_memory(err);
  for (int64_t i = 0; i < slopes; i++)
    for (int64_t j = 0; j < slopes; j++) c[i * slopes + j] = tct_linear_centred(linear, column[i], column[j]);
  tct_status status = tct_cholesky(c, slopes)
                          ? TCT_OK
                          : tct_fail(err, TCT_E_RUN, "some of these columns follow from others; leave one out");
  if (status == TCT_OK) {
    tct_lower_invert(c, slopes, room);
    for (int64_t j = 0; j < slopes; j++) {
      vif[j] = 0;
      for (int64_t i = j; i < slopes; i++) vif[j] += c[i * slopes + j] * c[i * slopes + j];
      vif[j] *= tct_linear_centred(linear, column[j], column[j]);
    }
  }
  tct_free(c);
  return status;
}
