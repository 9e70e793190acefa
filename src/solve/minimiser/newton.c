/* newton.c - the Newton direction of a smooth objective: the Hessian of a sample, factored, or conjugate gradients.
 *
 * Nothing here touches a guarantee: a bad direction costs time, the certificate of smooth.c is what counts. */
#include "la/exact/exact.h"

#include "core/processors.h"
#include "la/exact/gram.h"
#include "la/kernels/kernels.h"
#include "solve/minimiser/smooth.h"

#include <string.h>

static double curve_of(const tct_smooth *s, int64_t i, double min) {
  const tct_problem *problem = s->problem;
  double weight = problem->weight ? problem->weight[i] : 1;
  bool cut = s->limit && fabs(s->slope[i]) >= s->limit[i] * weight;
  if (s->part) weight *= s->part[i];
  return weight * fmax(min, cut ? 0 : tct_loss_curve(&problem->facts->loss, s->margin[i], problem->y[i]));
}

/* Of the sample's rows, not below `least`; 0 for the others. */
static void curves(tct_smooth *s, int64_t take, double min) {
  int64_t rows = s->problem->view->rows, group = tct_smooth_all(s), groups = (rows + group - 1) / group;
  int threads = s->problem->facts->threads;
  if (take < group) memset(s->curve, 0, (size_t)rows * sizeof *s->curve);
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads))
  for (int64_t g = 0; g < groups; g++)
    for (int64_t i = g * group; i < g * group + take && i < rows; i++) s->curve[i] = curve_of(s, i, min);
}

/* Where the ridge is 0 or the arithmetic at its end, a little more of it makes the matrix positive definite. */
tct_status tct_newton_factor(tct_smooth *s, int64_t take, double min, bool *good, tct_error *err) {
  const tct_problem *problem = s->problem;
  int64_t p = problem->view->p;
  curves(s, take, min * s->facts.curvature);
  s->passes++;
  double trace = 0, weight = tct_smooth_weight(s, take);
  tct_exact_bounds bounds = {.norm = s->largest, .rows = problem->facts->rows};
  bounds.largest = tct_largest_size(s->curve, problem->view->rows, problem->facts->threads);
  TCT_TRY(tct_mech_join_max(s->mech, &bounds.largest, 1, err));
  tct_gram(problem->view, s->curve, &bounds, s->gram, s->scratch, problem->facts->threads);
  TCT_TRY(tct_mech_join_sum(s->mech, s->gram, 2 * p * p, err));
  tct_gram_finish(s->gram, p);
  for (int64_t j = 0; j < p * p; j++) s->gram[j] *= weight;
  for (int64_t j = 0; j < p; j++) trace += s->gram[j * p + j];
  for (int64_t j = 0; j < p; j++)
    s->gram[j * p + j] += (j < s->penalised ? s->facts.ridge : 0) + 1e-14 * trace / (double)p;
  *good = tct_cholesky(s->gram, p);
  return TCT_OK;
}

/* q <- (X^T D X + ridge) v */
static tct_status times_hessian(tct_smooth *s, const double *v, double *q, tct_error *err) {
  int64_t n = s->problem->view->rows;
  s->passes += 2;
  tct_margins(s->problem->view, v, s->along, s->problem->facts->threads);
  for (int64_t i = 0; i < n; i++) s->along[i] *= s->curve[i];
  TCT_TRY(tct_smooth_transpose(s, s->along, q, err));
  tct_axpy(s->facts.ridge, v, q, s->penalised);
  return TCT_OK;
}

/* Plain conjugate gradients on H d = -g, to a thousandth: the outer loop then gains three digits per step. */
static tct_status conjugate_gradients(tct_smooth *s, tct_error *err) {
  int64_t p = s->problem->view->p;
  double *d = s->direction, *r = s->conjugate, *v = r + p, *q = v + p;
  memset(d, 0, (size_t)p * sizeof *d);
  for (int64_t j = 0; j < p; j++) r[j] = v[j] = -s->gradient[j];
  double square = tct_norm2(r, p), stop = 1e-6 * square;
  for (int k = 0; k < 500 && square > stop && !tct_smooth_spent(s); k++) {
    TCT_TRY(times_hessian(s, v, q, err));
    double bend = tct_dot(v, q, p), next;
    if (!(bend > 0)) break;
    tct_axpy(square / bend, v, d, p);
    tct_axpy(-square / bend, q, r, p);
    next = tct_norm2(r, p);
    for (int64_t j = 0; j < p; j++) v[j] = r[j] + next / square * v[j];
    square = next;
  }
  return TCT_OK;
}

tct_status tct_newton_direction(tct_smooth *s, tct_error *err) {
  curves(s, tct_smooth_all(s), 0);
  return conjugate_gradients(s, err);
}
