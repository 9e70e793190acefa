/* descent.c - the clipped, released gradient over all records, and the public facts that its users start from. */
#include "solve/descent.h"

#include "core/alloc.h"
#include "la/kernels.h"
#include "solve/agd.h"

#include <string.h>

double tct_descent_noise(const tct_facts *facts) {
  double noise = 0;
  tct_cost cost;
  if (!isfinite(facts->epsilon)) return 0;
  if (tct_calibrate_noise(1, 1, facts->neighbours, facts->epsilon, facts->delta, &noise, &cost, NULL) != TCT_OK)
    return 0;
  return noise;
}

double tct_descent_largest(const tct_facts *facts) {
  double slope = tct_loss_slope_bound(&facts->loss);
  return facts->row_norm * (isfinite(slope) ? slope : facts->label_bound);
}

double tct_descent_clip(const tct_facts *facts) {
  return (isfinite(tct_loss_slope_bound(&facts->loss)) ? 0.7 : 1.0 / 3) * tct_descent_largest(facts);
}

tct_status tct_descent_new(const tct_problem *problem, double clip, double noise, tct_descent *out, tct_error *err) {
  int64_t n = problem->view->rows;
  *out = (tct_descent){.noise = noise, .clip = clip};
  if (!isfinite(problem->facts->epsilon)) out->clip *= 1024;
  out->lattice = tct_mech_lattice(out->clip, noise, problem->facts->rows);
  out->row_norm = TCT_NEW(double, n);
  if (!out->row_norm) return tct_fail_memory(err);
  TCT_TRY(tct_batch_new(problem, &out->batch, err));
  tct_row_norms(problem->view, out->row_norm, problem->facts->threads);
  return TCT_OK;
}

void tct_descent_free(tct_descent *descent) {
  tct_wipe_free(descent->row_norm, descent->batch.rows, sizeof(double));
  tct_batch_free(&descent->batch);
}

tct_status tct_descent_gradient(const tct_problem *problem, tct_descent *descent, tct_mech *mech, const double *u,
                                tct_error *err) {
  tct_batch *batch = &descent->batch;
  memset(batch->sum, 0, (size_t)batch->p * sizeof(double));
  tct_margins(problem->view, u, batch->u, batch->threads);
  tct_clip_slopes(problem, NULL, batch->rows, descent->row_norm, descent->clip, batch->u, batch->threads);
  tct_sum_lattice(problem->view, NULL, batch->rows, batch->u, descent->lattice, batch->sum, batch->scratch,
                  batch->threads);
  return tct_mech_sum(mech, descent->noise, descent->clip, descent->lattice, batch->sum, batch->p, err);
}
