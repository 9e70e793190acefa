/* newton.c - the Newton direction of a smooth objective: a factored Hessian, or conjugate gradients.
 *
 * Nothing here touches a guarantee: a bad direction costs time, the certificate of smooth.c is what counts. */
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
static bool factor(tct_smooth *s) {
  int64_t p = s->problem->view->p;
  double trace = 0;
  tct_gram(s->problem->view, s->curve, s->gram, s->scratch, s->problem->facts->threads);
  for (int64_t j = 0; j < p; j++) trace += s->gram[j * p + j];
  for (int64_t j = 0; j < p; j++)
    s->gram[j * p + j] += (j < s->penalised ? s->facts.ridge : 0) + 1e-14 * trace / (double)p;
  return tct_cholesky(s->gram, p);
}

/* q <- (X^T D X + ridge) v */
static void times_hessian(tct_smooth *s, const double *v, double *q) {
  int64_t n = s->problem->view->rows;
  tct_margins(s->problem->view, v, s->along, s->problem->facts->threads);
  for (int64_t i = 0; i < n; i++) s->along[i] *= s->curve[i];
  tct_transpose_times(s->problem->view, s->along, q, s->problem->facts->threads);
  tct_axpy(s->facts.ridge, v, q, s->penalised);
}

/* Plain conjugate gradients on H d = -g, to a thousandth: the outer loop then gains three digits a step. */
static void conjugate_gradients(tct_smooth *s) {
  int64_t p = s->problem->view->p;
  double *d = s->direction, *r = s->conjugate, *v = r + p, *q = v + p;
  memset(d, 0, (size_t)p * sizeof *d);
  for (int64_t j = 0; j < p; j++) r[j] = v[j] = -s->gradient[j];
  double square = tct_norm2(r, p), stop = 1e-6 * square;
  for (int k = 0; k < 500 && square > stop; k++) {
    times_hessian(s, v, q);
    double bend = tct_dot(v, q, p), next;
    if (!(bend > 0)) break;
    tct_axpy(square / bend, v, d, p);
    tct_axpy(-square / bend, q, r, p);
    next = tct_norm2(r, p);
    for (int64_t j = 0; j < p; j++) v[j] = r[j] + next / square * v[j];
    square = next;
  }
}

void tct_newton_direction(tct_smooth *s, bool refresh) {
  int64_t p = s->problem->view->p;
  if (!s->gram) {
    curves(s);
    conjugate_gradients(s);
  } else {
    bool good = true;
    if (refresh) {
      curves(s);
      good = factor(s);
    }
    for (int64_t j = 0; j < p; j++) s->direction[j] = -s->gradient[j];
    if (good) tct_cholesky_solve(s->gram, p, s->direction);
  }
  if (!(tct_dot(s->direction, s->gradient, p) < 0)) /* not a descent direction: the gradient itself is one */
    for (int64_t j = 0; j < p; j++) s->direction[j] = -s->gradient[j];
}
