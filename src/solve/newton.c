/* newton.c - the Newton direction of a smooth objective: a factored Hessian, or conjugate gradients.
 *
 * Nothing here touches a guarantee: a bad direction costs time, the certificate of smooth.c is what counts. */
#include "la/exact.h"
#include "la/gram.h"
#include "la/kernels.h"
#include "solve/smooth.h"

#include <string.h>

static void curves(tct_smooth *s) {
  const tct_problem *problem = s->problem;
#pragma omp parallel for schedule(static) num_threads(problem->facts->threads) if (problem->facts->threads > 1)
  for (int64_t i = 0; i < problem->view->rows; i++) {
    double weight = problem->weight ? problem->weight[i] : 1;
    bool cut = s->facts.clip > 0 && fabs(s->slope[i]) >= s->facts.clip * weight;
    s->curve[i] = cut ? 0 : weight * tct_loss_curve(&problem->facts->loss, s->margin[i], problem->y[i]);
  }
}

/* Where the ridge is 0 or the arithmetic at its end, a little more of it makes the matrix positive definite. */
static tct_status factor(tct_smooth *s, bool *good, tct_error *err) {
  const tct_problem *problem = s->problem;
  int64_t p = problem->view->p;
  double trace = 0, largest = tct_largest_size(s->curve, problem->view->rows);
  TCT_TRY(tct_mech_largest(s->mech, &largest, 1, err));
  tct_gram(problem->view, s->curve, largest, s->largest, problem->facts->rows, s->gram, s->scratch,
           problem->facts->threads);
  TCT_TRY(tct_mech_total(s->mech, s->gram, 2 * p * p, err));
  tct_gram_finish(s->gram, p);
  for (int64_t j = 0; j < p; j++) trace += s->gram[j * p + j];
  for (int64_t j = 0; j < p; j++)
    s->gram[j * p + j] += (j < s->penalised ? s->facts.ridge : 0) + 1e-14 * trace / (double)p;
  *good = tct_cholesky(s->gram, p);
  return TCT_OK;
}

/* q <- (X^T D X + ridge) v */
static tct_status times_hessian(tct_smooth *s, const double *v, double *q, tct_error *err) {
  int64_t n = s->problem->view->rows;
  tct_margins(s->problem->view, v, s->along, s->problem->facts->threads);
  for (int64_t i = 0; i < n; i++) s->along[i] *= s->curve[i];
  TCT_TRY(tct_smooth_transpose(s, s->along, q, err));
  tct_axpy(s->facts.ridge, v, q, s->penalised);
  return TCT_OK;
}

/* Plain conjugate gradients on H d = -g, to a thousandth: the outer loop then gains three digits a step. */
static tct_status conjugate_gradients(tct_smooth *s, tct_error *err) {
  int64_t p = s->problem->view->p;
  double *d = s->direction, *r = s->conjugate, *v = r + p, *q = v + p;
  memset(d, 0, (size_t)p * sizeof *d);
  for (int64_t j = 0; j < p; j++) r[j] = v[j] = -s->gradient[j];
  double square = tct_norm2(r, p), stop = 1e-6 * square;
  for (int k = 0; k < 500 && square > stop; k++) {
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

tct_status tct_newton_direction(tct_smooth *s, bool refresh, tct_error *err) {
  int64_t p = s->problem->view->p;
  if (!s->gram) {
    curves(s);
    TCT_TRY(conjugate_gradients(s, err));
  } else {
    bool good = true;
    if (refresh) {
      curves(s);
      TCT_TRY(factor(s, &good, err));
    }
    for (int64_t j = 0; j < p; j++) s->direction[j] = -s->gradient[j];
    if (good) tct_cholesky_solve(s->gram, p, s->direction);
  }
  if (!(tct_dot(s->direction, s->gradient, p) < 0)) /* not a descent direction: the gradient itself is one */
    for (int64_t j = 0; j < p; j++) s->direction[j] = -s->gradient[j];
  return TCT_OK;
}
