/* dpmetric_spectrum.c - from a released matrix of outer products to the metric W and its directions' share of signal.
 *
 * The eigenvalues l of a released matrix are those of the true one and of its noise.  Noise of deviation s has the
 * largest one `edge` = s sqrt(2p), and raises a true t to l = t + edge^2/(4t).  So l tells t where it lies above the
 * edge.  What lies below is known by the trace alone.  (Benaych-Georges and Nadakuditi 2011.) */
#include "core/alloc.h"
#include "core/stop.h"
#include "la/exact/gram.h"
#include "la/exact/spectrum.h"
#include "la/exact/triangular.h"
#include "la/kernels/kernels.h"
#include "la/matrix/lattice.h"
#include "solve/gradient/dpmetric.h"
#include "solve/gradient/rules.def"

#include <string.h>

/* What hides in noise: the largest eigenvalue of a symmetrised matrix of it, or its largest entry on the diagonal. */
static double edge_of(const tct_metric *metric, double noise) {
  double p = (double)metric->p;
  return noise * sqrt(metric->diagonal ? 2 * log(2 * p) : 2 * p);
}

void tct_dpmetric_add_ridge(const tct_facts *facts, const double *w, int64_t p, double *sum) {
  int64_t ridged = p - (facts->intercept ? 1 : 0);
  for (int64_t j = 0; j < p && !tct_stopping(); j++)
    for (int64_t k = 0; k < p && w; k++) {
      int64_t min = (j < k ? j : k) + 1;
      sum[j * p + k] += facts->penalty.l2 * tct_dot(w + j * p, w + k * p, min < ridged ? min : ridged);
    }
  for (int64_t j = 0; j < ridged && !w; j++) sum[j * p + j] += facts->penalty.l2;
}

/* value[p] become the t, 0 below the edge; d and the s_j.  A t moves (1 + l/root(l^2 - edge^2))/2 times as much as its
 * l: two deviations of that, or all of it, may be noise, and do not deny that others are there. */
static void settle_spectrum(const tct_dpmetric_released *from, double ridge, double *value, tct_dpmetric_shape *shape) {
  double edge = edge_of(&shape->metric, from->noise), p = (double)shape->metric.p, trace = 0, sum = 0, parts = 0,
         unsure = 0;
  int64_t known = 0, count = shape->metric.p;
  for (int64_t j = 0; j < count; j++) {
    double l = value[j];
    trace += l, value[j] = 0;
    if (!(l > edge)) continue;
    double root = shape->metric.diagonal ? l : sqrt(l * l - edge * edge), t = (l + root) / 2;
    value[j] = t, known++, sum += t, parts += t / (t + ridge);
    unsure += pow(fmin(from->noise * (1 + l / root), t), 2);
  }
  double k = fmax(p - (double)known, 1), hidden = fmax(trace - sum - sqrt(p) * from->noise, 0);
  double most = (double)from->facts->rows * (shape->metric.diagonal ? sqrt(p) : 1);
  double left = fmin(fmax(most - sum + sqrt(unsure), 0), most);
  double largest = fmin(left, hidden + 2 * sqrt(p) * from->noise) / k;
  shape->dimension = fmax(parts + hidden / (hidden / k + ridge), 1);
  for (int64_t j = 0; j < count; j++) {
    double t = value[j] > 0 ? value[j] : largest;
    shape->spectrum[j] = t / (t + ridge);
  }
}

static double ridge_of(const tct_dpmetric_released *from, const tct_metric *metric) {
  return fmax(from->edges * edge_of(metric, from->noise), 1e-10 * (double)from->facts->rows);
}

/* sum <- unit (V diag(max(l, 0) + r) V^T) + the penalty; then L^-1. */
static void invert_root(const tct_dpmetric_released *from, double ridge, const double *w, const double *value,
                        const double *vector, double *sum, double *room) {
  int64_t p = from->facts->p / tct_loss_outputs(&from->facts->loss);
  memset(sum, 0, (size_t)(p * p) * sizeof *sum);
  for (int64_t k = 0; k < p && !tct_stopping(); k++)
    for (int64_t i = 0; i < p; i++) {
      double at = from->unit * (fmax(value[k], 0) + ridge) * vector[k * p + i];
      if (at != 0) tct_axpy(at, vector + k * p, sum + i * p, p);
    }
  tct_dpmetric_add_ridge(from->facts, w, p, sum);
  double *root = room + p, shift = 0x1p-30 * from->unit * ridge;
  while (!tct_cholesky_shifted(sum, p, shift, root)) shift *= 2;
  tct_lower_invert(root, p, room);
}

tct_status tct_dpmetric_whiten(const tct_dpmetric_released *from, bool fresh, double *sum, tct_dpmetric_shape *shape,
                               tct_error *err) {
  tct_metric *metric = &shape->metric;
  int64_t p = metric->p;
  double ridge = ridge_of(from, metric);
  double *memory = TCT_NEW(double, 2 * p * p + 5 * p), *vector = memory + p * p + p, *value = vector + p * p;
  if (!memory) return tct_fail_memory(err);
  if (!tct_eigenvectors(sum, p, value, vector, value + p)) {
    tct_free(memory);
    return tct_fail(err, TCT_E_RUN, "the metric is not finite; scale the columns");
  }
  double *root = memory + p;
  invert_root(from, ridge, fresh ? NULL : metric->w, value, vector, sum, memory);
  settle_spectrum(from, ridge, value, shape);
  if (fresh)
    memcpy(metric->w, root, (size_t)(p * p) * sizeof *root);
  else
    tct_lower_multiply(root, metric->w, p, memory);
  tct_free(memory);
  return TCT_OK;
}

void tct_dpmetric_whiten_diagonal(const tct_dpmetric_released *from, double *sum, tct_dpmetric_shape *shape) {
  int64_t p = shape->metric.p;
  double ridge = ridge_of(from, &shape->metric);
  for (int64_t j = 0; j < p; j++) {
    double l2 = from->facts->intercept && j == p - 1 ? 0 : from->facts->penalty.l2;
    shape->metric.w[j] = 1 / sqrt(from->unit * (fmax(sum[j], 0) + ridge) + l2);
  }
  settle_spectrum(from, ridge, sum, shape);
}

tct_status tct_dpmetric_shape_new(int64_t classes, tct_dpmetric_shape *shape, tct_error *err) {
  shape->origin = TCT_NEW(double, classes);
  shape->spectrum = TCT_NEW(double, shape->metric.p);
  return shape->origin && shape->spectrum ? TCT_OK : tct_fail_memory(err);
}

void tct_dpmetric_shape_free(tct_dpmetric_shape *shape) {
  tct_metric_free(&shape->metric);
  tct_free(shape->origin);
  tct_free(shape->spectrum);
}
