/* dual.c - what the dual coordinate solvers share. */
#include "solve/dual/dual.h"

#include "core/alloc.h"
#include "core/processors.h"
#include "la/kernels/kernels.h"
#include "solve/shared/weight_bound.h"

#include <string.h>

tct_status tct_dual_new(const tct_problem *problem, tct_dual *out, tct_error *err) {
  const tct_view *view = problem->view;
  *out = (tct_dual){.rows = view->rows, .p = view->p};
  out->lambda_n = problem->facts->penalty.l2 * (double)problem->facts->rows;
  out->alpha = TCT_NEW(double, view->rows);
  out->norm2 = TCT_NEW(double, view->rows);
  out->v = TCT_NEW(double, view->p);
  out->w = TCT_NEW(double, view->p);
  if (!out->alpha || !out->norm2 || !out->v || !out->w) {
    tct_dual_free(out);
    return tct_fail_memory(err);
  }
#pragma omp parallel for num_threads(tct_threads(problem->facts->threads)) schedule(static)
  for (int64_t i = 0; i < view->rows; i++) out->norm2[i] = tct_row_norm2(view, i);
  return TCT_OK;
}

void tct_dual_free(tct_dual *dual) {
  tct_wipe_free(dual->alpha, dual->rows, sizeof(double));
  tct_wipe_free(dual->norm2, dual->rows, sizeof(double));
  tct_free(dual->v);
  tct_free(dual->w);
  memset(dual, 0, sizeof *dual);
}

void tct_dual_primal(tct_dual *dual) {
  for (int64_t j = 0; j < dual->p; j++) dual->w[j] = dual->v[j] / dual->lambda_n;
}

/* w = v/(lambda n), and each of T iterations adds to v at most n steps of size C times rows of norm R, and noise.  An
 * average of iterates is no larger. */
double tct_dual_weight_bound(const tct_facts *facts, const tct_solver_plan *plan) {
  const tct_release *r = &plan->promise.release[0];
  double n = (double)facts->rows, steps = (double)r->event.count;
  double sum = n * r->clip * facts->row_norm + tct_noise_max(r, steps * (double)facts->p);
  return steps * sum / (facts->penalty.l2 * n);
}
