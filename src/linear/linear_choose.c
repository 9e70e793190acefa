/* linear_choose.c - a ridge, a subset, or the smaller of two models, chosen by what a release of moments knows. */
#include "linear/linear.h"

#include "core/alloc.h"
#include "la/exact/gram.h"
#include "la/kernels/kernels.h"

#include <string.h>

/* ---- ridge ----------------------------------------------------------------------------------------------------- */

/* |A b - b|^2 + 2 tr(A V) in the metric H, A = (H + r I)^-1 H; H, V: [s][s], factor and image likewise. */
static double risk_of(const double *h, const double *v, const double *b, int64_t s, double r, double *factor,
                      double *image) {
  double risk = 0, *off = image;
  if (!tct_cholesky_shifted(h, s, r, factor)) return INFINITY;
  for (int64_t i = 0; i < s; i++) off[i] = r * b[i]; /* b - A b = r (H + r I)^-1 b */
  tct_cholesky_solve(factor, s, off);
  for (int64_t i = 0; i < s; i++) risk += off[i] * tct_dot(h + i * s, off, s);
  for (int64_t j = 0; j < s; j++) { /* column j of H V, and its part of the trace of (H + r I)^-1 H V H */
    for (int64_t i = 0; i < s; i++) image[i] = tct_dot(h + i * s, v + j * s, s);
    tct_cholesky_solve(factor, s, image);
    risk += 2 * tct_dot(h + j * s, image, s);
  }
  return risk;
}

tct_status tct_linear_ridge(const tct_linear *linear, int64_t label, const int64_t *column, int64_t slopes,
                            tct_linear_path *out, tct_error *err) {
  tct_linear_model model;
  int64_t s = slopes, k = s + 1;
  double *h = TCT_NEW(double, 3 * s * s + s + 1), *v = h + s * s, *factor = v + s * s, *image = factor + s * s,
         trace = 0;
  *out = (tct_linear_path){0};
  tct_status status = tct_linear_fit(linear, label, column, slopes, 0, &model, err);
  if (status == TCT_OK && !h) status = tct_fail_memory(err);
  for (int64_t i = 0; i < s && status == TCT_OK; i++) {
    trace += tct_linear_centred(linear, column[i], column[i]);
    for (int64_t j = 0; j < s; j++) {
      h[i * s + j] = tct_linear_centred(linear, column[i], column[j]);
      v[i * s + j] = model.noise[i * k + j] + model.sampling[i * k + j];
    }
  }
  for (int j = 0; j < TCT_LINEAR_RIDGES && status == TCT_OK && s > 0; j++) {
    double r = j == 0 ? 0 : trace / (double)s * exp2(0.5 * (j - TCT_LINEAR_RIDGES)); /* up to the mean eigenvalue */
    out->ridge[j] = r / linear->count;
    out->risk[j] = risk_of(h, v, model.w, s, r, factor, image) / linear->count;
    if (out->risk[j] < out->risk[out->best]) out->best = j;
  }
  tct_free(h);
  tct_linear_model_free(&model);
  return status;
}

/* ---- subsets --------------------------------------------------------------------------------------------------- */

/* A tree of subsets: each adds a later column to the one above it, and a row to its Cholesky factor. */
typedef struct subsets {
  int64_t slopes, most;
  double *centred;   /* [slopes][slopes] */
  double *with;      /* [slopes]: with the label */
  double *factor;    /* [most][most] */
  double *part;      /* [most]: of the label, along the factor's rows */
  int64_t *chosen;   /* [most] */
  int64_t *best;     /* [most][most] */
  double *explained; /* [most] */
} subsets;

static void grow(subsets *s, int64_t depth, int64_t from, double explained) {
  for (int64_t j = from; j < s->slopes && depth < s->most; j++) {
    double *row = s->factor + depth * s->most, left = s->centred[j * s->slopes + j], label = s->with[j];
    for (int64_t i = 0; i < depth; i++) {
      double both = s->centred[j * s->slopes + s->chosen[i]] - tct_dot(row, s->factor + i * s->most, i);
      row[i] = both / s->factor[i * s->most + i];
    }
    left -= tct_dot(row, row, depth), label -= tct_dot(row, s->part, depth);
    if (!(left > 1e-12 * s->centred[j * s->slopes + j])) continue; /* it follows from those before it */
    row[depth] = sqrt(left), s->part[depth] = label / row[depth], s->chosen[depth] = j;
    double now = explained + s->part[depth] * s->part[depth];
    if (now > s->explained[depth]) {
      s->explained[depth] = now;
      memcpy(s->best + depth * s->most, s->chosen, (size_t)(depth + 1) * sizeof *s->best);
    }
    grow(s, depth + 1, j + 1, now);
  }
}

static bool too_many(int64_t slopes, int64_t most) {
  double all = 0, of_size = 1;
  for (int64_t k = 1; k <= most; k++) of_size *= (double)(slopes - k + 1) / (double)k, all += of_size;
  return all > TCT_LINEAR_SUBSETS;
}

tct_status tct_linear_best(const tct_linear *linear, int64_t label, const int64_t *column, int64_t slopes,
                           const tct_linear_subsets *out, tct_error *err) {
  int64_t most = out->most, *best = out->best;
  double *r2 = out->r2;
  if (most < 1 || most > slopes || too_many(slopes, most))
    return tct_fail(err, TCT_E_USAGE, "of %lld columns a best subset is looked for among at most %d; ask for fewer",
                    (long long)slopes, TCT_LINEAR_SUBSETS);
  double *memory = TCT_NEW(double, slopes *slopes + slopes + most * most + most);
  int64_t *chosen = TCT_NEW(int64_t, most);
  subsets s = {.slopes = slopes, .most = most, .centred = memory, .chosen = chosen, .best = best, .explained = r2};
  tct_status status = memory && chosen ? TCT_OK : tct_fail_memory(err);
  if (status == TCT_OK) {
    s.with = memory + slopes * slopes, s.factor = s.with + slopes, s.part = s.factor + most * most;
    for (int64_t i = 0; i < slopes; i++) {
      s.with[i] = tct_linear_centred(linear, column[i], label);
      for (int64_t j = 0; j < slopes; j++) s.centred[i * slopes + j] = tct_linear_centred(linear, column[i], column[j]);
    }
    for (int64_t k = 0; k < most * most; k++) best[k] = -1;
    for (int64_t k = 0; k < most; k++) r2[k] = -1;
    grow(&s, 0, 0, 0);
    double whole = tct_linear_centred(linear, label, label);
    for (int64_t k = 0; k < most; k++) r2[k] = r2[k] < 0 ? NAN : r2[k] / whole;
    for (int64_t k = 0; k < most * most; k++) best[k] = best[k] < 0 ? -1 : column[best[k]];
  }
  tct_free(memory);
  tct_free(chosen);
  return status;
}

/* ---- two models ------------------------------------------------------------------------------------------------ */

/* P(chi^2 > x), by degrees two at a time. */
static double chi_tail(double x, int64_t degrees) {
  double half = x / 2, at = degrees % 2 ? 1 : 2, tail = degrees % 2 ? erfc(sqrt(half)) : exp(-half);
  for (; at < (double)degrees; at += 2) tail += exp(at / 2 * log(half) - half - lgamma(at / 2 + 1));
  return x > 0 ? fmin(tail, 1) : 1;
}

tct_status tct_linear_compare(const tct_linear_model *model, int64_t fewer, tct_linear_wald *out, tct_error *err) {
  int64_t k = model->count, from = k - 1 - fewer;
  if (fewer < 1 || from < 0) return tct_fail(err, TCT_E_USAGE, "two models that are compared differ by some features");
  double *v = TCT_NEW(double, fewer *fewer + fewer), *b = v + fewer * fewer;
  if (!v) return tct_fail_memory(err);
  for (int64_t i = 0; i < fewer; i++) {
    b[i] = model->w[from + i];
    for (int64_t j = 0; j < fewer; j++)
      v[i * fewer + j] = model->noise[(from + i) * k + from + j] + model->sampling[(from + i) * k + from + j];
  }
  tct_status status = tct_cholesky(v, fewer) ? TCT_OK : tct_fail(err, TCT_E_RUN, "these features have no errors");
  if (status == TCT_OK) {
    tct_cholesky_solve(v, fewer, b);
    *out = (tct_linear_wald){.statistic = fmax(tct_dot(b, model->w + from, fewer), 0), .degrees = fewer};
    out->p = chi_tail(out->statistic, fewer);
  }
  tct_free(v);
  return status;
}
