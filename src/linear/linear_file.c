/* linear_file.c - released moments as JSON: matrices by their lower triangles, row by row. */
#include "linear/linear.h"

#include "core/alloc.h"
#include "la/exact/gram.h"

#include <math.h>

static json_t *triangle(const double *a, int64_t q) {
  json_t *out = json_array();
  for (int64_t i = 0; i < q; i++)
    for (int64_t j = 0; j <= i; j++) json_array_append_new(out, json_real(a[i * q + j]));
  return out;
}

static bool read_triangle(const json_t *said, int64_t q, double *a) {
  bool good = (int64_t)json_array_size(said) == q * (q + 1) / 2;
  size_t at = 0;
  for (int64_t i = 0; good && i < q; i++)
    for (int64_t j = 0; good && j <= i; j++, at++) {
      a[i * q + j] = json_number_value(json_array_get(said, at));
      good = json_is_number(json_array_get(said, at)) && isfinite(a[i * q + j]);
    }
  return good;
}

static void mirror(double *a, int64_t q) {
  for (int64_t i = 0; i < q; i++)
    for (int64_t j = 0; j < i; j++) a[j * q + i] = a[i * q + j];
}

json_t *tct_moments_json(const tct_moments *m) {
  json_t *radius = json_array(), *shells = json_array();
  for (int k = 0; k < m->shells; k++) {
    json_array_append_new(radius, json_real(m->radius[k]));
    json_array_append_new(shells, triangle(m->shell + k * m->q * m->q, m->q));
  }
  json_t *out = json_pack("{s:f, s:o, s:o, s:o}", "row_norm", m->size, "radius", radius, "metric",
                          triangle(m->metric.w, m->q), "shells", shells);
  if (m->fourth) json_object_set_new(out, "fourth", triangle(m->fourth, tct_moments_products(m->q)));
  return out;
}

/* A released sum of t t', |t| <= 1, of so many records: its eigenvalues lie beyond 0 and their number by noise alone,
 * and beyond these ends once in e^72 sums.  So does its trace, the sum of |t|^2, which is told as well. */
static bool possible(const double *a, int64_t q, double rows, double deviation, double *trace) {
  double far = (sqrt(2 * (double)q) + 12) * deviation, *less = TCT_NEW(double, 2 * q * q), *factor = less + q * q;
  for (int64_t j = 0; less && j < q * q; j++) less[j] = -a[j];
  *trace = 0;
  for (int64_t j = 0; j < q; j++) *trace += a[j * q + j];
  bool good = less && tct_cholesky_shifted(a, q, far, factor) && tct_cholesky_shifted(less, q, rows + far, factor);
  tct_free(less);
  return good;
}

/* Each record is in one of the sums, of whose traces, each over its unit, `traces` is the sum; q of all of them. */
static bool together(double traces, int64_t q, double rows, double deviation) {
  return traces <= rows * (1 + 1e-12) + 12 * sqrt((double)q) * deviation;
}

/* Radii follow from the metric; what is said of them is for other readers. */
static bool read_shells(const json_t *said, int64_t rows, double deviation, tct_moments *m) {
  const json_t *shells = json_object_get(said, "shells");
  int64_t q = m->q;
  if (!read_triangle(json_object_get(said, "metric"), q, m->metric.w) || !tct_metric_settle(&m->metric)) return false;
  tct_moments_radii(rows, deviation, m);
  bool good = (int)json_array_size(shells) == m->shells;
  double trace, traces = 0;
  if (!good || !(m->shell = TCT_NEW(double, m->shells *q *q))) return false;
  for (int k = 0; good && k < m->shells; k++) {
    double *shell = m->shell + k * q * q, unit = m->radius[k] * m->radius[k];
    m->noise[k] = unit * deviation;
    good = read_triangle(json_array_get(shells, (size_t)k), q, shell);
    mirror(shell, q);
    good = good && possible(shell, q, unit * (double)rows, m->noise[k], &trace);
    traces += good ? trace / unit : 0;
  }
  return good && together(traces, m->shells * q, (double)rows, deviation);
}

static bool read_fourth(const json_t *said, int64_t rows, double deviation, tct_moments *m) {
  const json_t *fourth = json_object_get(said, "fourth");
  int64_t d = tct_moments_products(m->q);
  if (!(deviation > 0)) return !fourth;
  if (m->q > TCT_MOMENTS_FOURTH_MOST || !(m->fourth = TCT_NEW(double, d *d))) return false;
  bool good = read_triangle(fourth, d, m->fourth);
  mirror(m->fourth, d);
  m->cut = tct_moments_cut(rows, deviation, INFINITY);
  double unit = m->cut * m->cut, trace;
  return good && possible(m->fourth, d, unit * (double)rows, unit * deviation, &trace) &&
         together(trace / unit, d, (double)rows, deviation);
}

tct_status tct_moments_of_json(const json_t *said, int64_t q, int64_t rows, const double deviation[2], tct_moments *m,
                               tct_error *err) {
  *m = (tct_moments){.p = q, .q = q, .size = json_number_value(json_object_get(said, "row_norm"))};
  if (!(q >= 1 && q <= TCT_MOMENTS_MOST && rows >= 1 && m->size > 0 && isfinite(m->size) && deviation[0] > 0))
    return tct_fail(err, TCT_E_DATA, "the file holds no released moments; it is damaged or was edited");
  TCT_TRY(tct_metric_new(q, false, &m->metric, err));
  if (!read_shells(said, rows, deviation[0], m) || !read_fourth(said, rows, deviation[1], m))
    return tct_fail(err, TCT_E_DATA,
                    "the moments in the file are not as many, or none that records have; it is damaged");
  return tct_moments_again(m, err);
}
