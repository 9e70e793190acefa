/* moments_fit.c - least squares of the label from released moments, and how well it is known. */
#include "core/alloc.h"
#include "la/exact/gram.h"
#include "la/exact/spectrum.h"
#include "la/exact/triangular.h"
#include "la/kernels/kernels.h"
#include "solve/shared/moments.h"

#include <string.h>

/* Coefficients in z: w = (Wx^T b - wyx)/wyy in units of v, Wx the first p rows and columns of W, (wyx, wyy) its last
 * row.  The last coordinate of W v is what the first release says of the residual. */
typedef struct fit {
  const tct_moments *m;
  const tct_facts *facts;
  double ridge;    /* n l2, in units of v */
  double *normal;  /* [p][p]: S of x and the ridge, factored */
  double *inverse; /* [p][p]: workspace */
  double *b;       /* [p] */
  double *noise;   /* [p][p]: covariance of b */
  double *work;    /* [6q] */
} fit;

static const double *last_row(const fit *f) { return f->m->metric.w + f->m->p * f->m->q; }

/* Entry (i, j) of W D W^T, D = 1 but for the intercept and the label. */
static double ridged(const tct_facts *facts, const tct_moments *m, int64_t i, int64_t j) {
  int64_t most = m->p - (facts->intercept ? 1 : 0), both = (i < j ? i : j) + 1;
  return tct_dot(m->metric.w + i * m->q, m->metric.w + j * m->q, both < most ? both : most);
}

/* b: (S + n l2 Wx D Wx^T) b = S_xy + n l2 Wx D wyx. */
static tct_status solve(fit *f, tct_error *err) {
  int64_t p = f->m->p, q = f->m->q;
  for (int64_t i = 0; i < p; i++) {
    for (int64_t j = 0; j < p; j++)
      f->normal[i * p + j] = f->m->sum[i * q + j] + f->ridge * ridged(f->facts, f->m, i, j);
    f->b[i] = f->m->sum[i * q + p] + f->ridge * ridged(f->facts, f->m, i, p);
  }
  if (!tct_cholesky(f->normal, p))
    return tct_fail(err, TCT_E_RUN, "the released moments are singular; scale the columns");
  tct_cholesky_solve(f->normal, p, f->b);
  return TCT_OK;
}

/* noise <- covariance of b: A^-1 Cov(N r) A^-1, r = (-b, 1). */
static void spread(fit *f) {
  int64_t p = f->m->p;
  double *r = f->work;
  for (int64_t j = 0; j < p; j++) r[j] = -f->b[j];
  r[p] = 1;
  tct_moments_noise(f->m, r, r, p, f->noise, r + f->m->q);
  for (int turn = 0; turn < 2; turn++) {
    for (int64_t i = 0; i < p; i++) tct_cholesky_solve(f->normal, p, f->noise + i * p);
    for (int64_t i = 0; i < p; i++)
      for (int64_t j = 0; j < i; j++) {
        double at = f->noise[i * p + j];
        f->noise[i * p + j] = f->noise[j * p + i], f->noise[j * p + i] = at;
      }
  }
}

/* In each direction of S the part of b that is hardly noise: 1 - variance/square, or none.  b = 0 is what the releases
 * before say. */
static tct_status draw(fit *f, tct_error *err) {
  int64_t p = f->m->p;
  double *copy = f->inverse, *vector = f->normal, *value = f->work, *b = value + p;
  for (int64_t i = 0; i < p; i++) memcpy(copy + i * p, f->m->sum + i * f->m->q, (size_t)p * sizeof *copy);
  if (!tct_eigenvectors(copy, p, value, vector, f->work + 2 * p))
    return tct_fail(err, TCT_E_RUN, "the released moments have no eigenvalues; scale the columns");
  memset(b, 0, (size_t)p * sizeof *b);
  for (int64_t k = 0; k < p; k++) {
    double at = tct_dot(vector + k * p, f->b, p), variance = 0;
    for (int64_t i = 0; i < p; i++) variance += vector[k * p + i] * tct_dot(f->noise + i * p, vector + k * p, p);
    if (at * at > variance) tct_axpy(at - variance / at, vector + k * p, b, p);
  }
  memcpy(f->b, b, (size_t)p * sizeof *b);
  return TCT_OK;
}

/* w[p] <- the model. */
static void write(fit *f, double *w) {
  const tct_moments *m = f->m;
  int64_t p = m->p;
  double *r = f->work, *turned = r + m->q;
  for (int64_t j = 0; j < p; j++) r[j] = f->b[j];
  r[p] = -1;
  tct_metric_turn(&m->metric, r, turned);
  for (int64_t j = 0; j < p; j++) w[j] = turned[j] / last_row(f)[p] * m->label / m->size;
}

/* M = L L^T in units of v, W = L^-1 Wx/size, and the model's covariance in its coordinates, L^T noise L. */
static tct_status measure(fit *f, double edges, tct_moments_model *out, tct_error *err) {
  const tct_moments *m = f->m;
  int64_t p = m->p, q = m->q;
  double n = (double)f->facts->rows, unit = pow(m->label / last_row(f)[p], 2), *factor = f->inverse;
  for (int64_t i = 0; i < p; i++)
    for (int64_t j = 0; j < p; j++) {
      f->normal[i * p + j] = (m->sum[i * q + j] + f->ridge * ridged(f->facts, m, i, j)) / n;
      out->metric.w[i * p + j] = m->metric.w[i * q + j] / m->size;
    }
  if (!tct_cholesky_shifted(f->normal, p, edges * m->edge / n, factor))
    return tct_fail(err, TCT_E_RUN, "the released moments are singular; scale the columns");
  for (int64_t i = 0; i < p; i++) { /* noise L, and then L^T of that */
    memset(f->normal + i * p, 0, (size_t)p * sizeof(double));
    for (int64_t k = 0; k < p; k++) tct_axpy(f->noise[i * p + k], factor + k * p, f->normal + i * p, k + 1);
  }
  memset(out->covariance, 0, (size_t)(p * p) * sizeof(double));
  for (int64_t k = 0; k < p; k++)
    for (int64_t i = 0; i <= k; i++) tct_axpy(unit * factor[k * p + i], f->normal + k * p, out->covariance + i * p, p);
  tct_lower_invert(factor, p, f->work);
  tct_lower_multiply(factor, out->metric.w, p, f->work);
  return TCT_OK;
}

static tct_status fit_and_measure(fit *f, double edges, tct_moments_model *out, tct_error *err) {
  TCT_TRY(solve(f, err));
  spread(f);
  if (!f->m->determined) TCT_TRY(draw(f, err));
  write(f, out->w);
  return measure(f, edges, out, err);
}

tct_status tct_moments_fit(const tct_facts *facts, const tct_moments *m, double edges, tct_mech *mech,
                           tct_moments_model *out, tct_error *err) {
  int64_t p = m->p;
  double *memory = TCT_NEW(double, 3 * p * p + p + 6 * m->q);
  *out = (tct_moments_model){.w = TCT_NEW(double, p), .covariance = TCT_NEW(double, p *p)};
  tct_status status = memory && out->w && out->covariance ? TCT_OK : tct_fail_memory(err);
  fit f = {.m = m, .facts = facts, .normal = memory, .inverse = memory + p * p, .noise = memory + 2 * p * p};
  f.b = memory + 3 * p * p, f.work = f.b + p;
  f.ridge = (double)facts->rows * facts->penalty.l2 / (m->size * m->size);
  if (status == TCT_OK) status = tct_metric_new(p, false, &out->metric, err);
  if (status == TCT_OK) status = fit_and_measure(&f, edges, out, err);
  if (status == TCT_OK) status = tct_mech_join_first(mech, out->w, p, err);
  if (status == TCT_OK) status = tct_mech_join_first(mech, out->covariance, p * p, err);
  if (status == TCT_OK) status = tct_mech_join_first(mech, out->metric.w, p * p, err);
  tct_free(memory);
  if (status != TCT_OK || tct_metric_settle(&out->metric)) return status;
  return tct_fail(err, TCT_E_RUN, "the metric is not finite; scale the columns");
}

void tct_moments_model_free(tct_moments_model *model) {
  tct_metric_free(&model->metric);
  tct_free(model->w);
  tct_free(model->covariance);
  *model = (tct_moments_model){0};
}
