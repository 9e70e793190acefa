/* inference.c - covariances of weights, and the errors of sums of them. */
#include "infer/inference.h"

#include "core/alloc.h"

#include <math.h>

tct_status tct_inference_new(int64_t p, tct_inference *out, tct_error *err) {
  *out = (tct_inference){.p = p, .residual = NAN};
  out->sampling = TCT_NEW(double, p *p);
  out->noise = TCT_NEW(double, p *p);
  out->degrees = TCT_NEW(double, p);
  out->why = TCT_NEW(int32_t, p);
  return out->sampling && out->noise && out->degrees && out->why ? TCT_OK : tct_fail_memory(err);
}

tct_status tct_inference_add_change(tct_inference *inference, tct_error *err) {
  inference->change = TCT_NEW(double, inference->p);
  inference->of_change = TCT_NEW(tct_inference, 1);
  if (!inference->change || !inference->of_change) return tct_fail_memory(err);
  return tct_inference_new(inference->p, inference->of_change, err);
}

void tct_inference_free(tct_inference *inference) {
  if (inference->of_change) tct_inference_free(inference->of_change);
  tct_free(inference->of_change);
  tct_free(inference->change);
  tct_free(inference->sampling);
  tct_free(inference->noise);
  tct_free(inference->degrees);
  tct_free(inference->why);
  *inference = (tct_inference){0};
}

static bool is_covariance(const double *a, int64_t p) {
  for (int64_t j = 0; j < p; j++) {
    if (!(a[j * p + j] >= 0)) return false;
    for (int64_t k = 0; k < p; k++)
      if (!isfinite(a[j * p + k]) || a[j * p + k] != a[k * p + j]) return false;
  }
  return true;
}

static bool is_course(const tct_course *c) {
  for (int64_t k = 0; k < c->cells; k++) {
    double before = k ? c->time[k - 1] : 0, passed = k ? c->exposure[k - 1] : 0, alive = k ? c->survival[k - 1] : 1;
    if (!(c->time[k] > before && isfinite(c->time[k]) && c->exposure[k] >= passed && isfinite(c->exposure[k])))
      return false;
    if (!(c->survival[k] <= alive && c->lower[k] >= 0 && c->lower[k] <= c->survival[k] &&
          c->survival[k] <= c->upper[k] && c->upper[k] <= 1))
      return false;
  }
  return true;
}

double tct_course_exposure(const tct_course *c, double time) {
  int64_t k = 0;
  while (k + 1 < c->cells && c->time[k] < time) k++;
  double from = k ? c->time[k - 1] : 0, passed = k ? c->exposure[k - 1] : 0;
  return passed + (c->exposure[k] - passed) * (time - from) / (c->time[k] - from);
}

bool tct_inference_valid(const tct_inference *inference) {
  int64_t p = inference->p;
  if (!is_course(&inference->course)) return false;
  if (inference->of_change && !tct_inference_valid(inference->of_change)) return false;
  if (inference->residual <= 0 || isinf(inference->residual)) return false; /* NaN: not known */
  if (!is_covariance(inference->sampling, p) || !is_covariance(inference->noise, p)) return false;
  for (int64_t j = 0; j < p; j++)
    if (!(inference->degrees[j] >= 1) || inference->why[j] < TCT_GIVEN || inference->why[j] > TCT_ROWS_TOO_FAR)
      return false;
  return true;
}

const char *tct_withheld_text(tct_withheld why) {
  switch (why) {
    case TCT_GIVEN: return "";
    case TCT_NOISE_ABOVE_SIGNAL:
      return "no interval: the privacy noise is larger than what the records say about this weight; "
             "more records, a larger epsilon or a merged category would give one";
    case TCT_PATH_TOO_SHORT:
      return "no interval: the fit ended too far from the optimum for its errors to be calculated; "
             "more records or a larger epsilon would give one";
    case TCT_ROWS_TOO_FAR:
      return "no interval: the bounds of a column lie so far from most of its values that a few records, which the "
             "noise "
             "hides, could decide the weights; narrower bounds or a logarithm of the column would give one";
  }
  return "";
}

static double quadratic(const double *a, const double *c, int64_t p) {
  double sum = 0;
  for (int64_t j = 0; j < p; j++)
    for (int64_t k = 0; k < p && c[j] != 0; k++) sum += c[j] * c[k] * a[j * p + k];
  return sum;
}

/* Rounding may bring a variance of 0 below it; NaN stays NaN. */
static double deviation(double variance) { return sqrt(variance < 0 ? 0 : variance); }

/* A sum that holds a withheld weight is withheld: its error would be at least as large, and is not known. */
tct_contrast tct_inference_contrast(const tct_inference *inference, const double *c) {
  tct_contrast out = {.degrees = INFINITY, .standard_error = NAN, .noise_error = NAN};
  for (int64_t j = 0; j < inference->p; j++) {
    if (c[j] == 0) continue;
    if (inference->why[j] != TCT_GIVEN) out.why = (tct_withheld)inference->why[j];
    out.degrees = fmin(out.degrees, inference->degrees[j]);
  }
  if (out.why != TCT_GIVEN) return out;
  double noise = quadratic(inference->noise, c, inference->p);
  out.noise_error = deviation(noise);
  out.standard_error = deviation(noise + quadratic(inference->sampling, c, inference->p));
  return out;
}
