/* batch.c - draws, releases and the default size of a batch of records. */
#include "solve/shared/batch.h"

#include "core/alloc.h"

#include <math.h>
#include <string.h>

tct_status tct_batch_new(const tct_problem *problem, tct_batch *out, tct_error *err) {
  *out = (tct_batch){.rows = problem->view->rows, .p = problem->view->p, .threads = problem->facts->threads};
  out->row = TCT_NEW(int64_t, out->rows);
  out->u = TCT_NEW(double, out->rows);
  out->sum = TCT_NEW(double, out->p);
  out->scratch = TCT_NEW(double, out->threads *tct_thread_stride(out->p));
  if (!out->row || !out->u || !out->sum || !out->scratch) {
    tct_batch_free(out);
    return tct_fail_memory(err);
  }
  return TCT_OK;
}

void tct_batch_free(tct_batch *batch) {
  tct_wipe_free(batch->row, batch->rows, sizeof(int64_t));
  tct_wipe_free(batch->u, batch->rows, sizeof(double));
  tct_wipe_free(batch->sum, batch->p, sizeof(double));
  tct_wipe_free(batch->scratch, batch->threads * tct_thread_stride(batch->p), sizeof(double));
  memset(batch, 0, sizeof *batch);
}

tct_status tct_batch_draw(tct_batch *batch, const tct_problem *problem, tct_mech *mech, int r, tct_error *err) {
  memset(batch->sum, 0, (size_t)batch->p * sizeof(double));
  bool sampled = tct_mech_release_of(mech, r)->rate < 1, listed = batch->whole && !sampled;
  batch->whole = !sampled;
  if (sampled) return tct_mech_batch(mech, r, problem->view->row0, batch->rows, batch->row, &batch->count, err);
  for (int64_t i = 0; i < batch->rows && !listed; i++) batch->row[i] = i;
  batch->count = batch->rows;
  return TCT_OK;
}

/* The batch's default.  Over E epochs the noise that reaches the model is m*sqrt(T) per unit of clip, with T = E/q and,
 * in the central limit of subsampling, q*sqrt(T*(exp(1/m^2)-1)) = mu.  For m above about 1 it is E/mu, whatever the
 * batch, and below 1 it grows fast.  Smaller batches mean more, better steps.  So the batch is the smallest that keeps
 * m near 1: q = mu^2/E with mu the Gaussian-DP parameter of (epsilon, delta).  It is not below sqrt(n), where an
 * iteration's fixed costs (noise, drawing the batch) take over. */
static double batch_default(const tct_facts *facts, double epochs) {
  double n = (double)facts->rows, floor_rows = ceil(sqrt(n));
  if (tct_noise_off(facts)) return floor_rows;
  double noise = tct_budget_single(facts, TCT_ADD_REMOVE);
  if (!(noise > 0)) return floor_rows;
  double rows = ceil(n / (noise * noise * epochs)); /* mu = 1/noise for one plain Gaussian release */
  return fmin(n, fmax(rows, floor_rows));
}

tct_status tct_batch_plan(const tct_facts *facts, const tct_option *options, double epochs, tct_solver_plan *plan,
                          double *rate, int64_t *iterations, tct_error *err) {
  double n = (double)facts->rows, batch = tct_spec_real(&plan->spec, options, "batch");
  if (isnan(batch)) batch = batch_default(facts, epochs);
  if (batch > n) return tct_fail(err, TCT_E_USAGE, "the batch is larger than the data; give batch=%.0f or less", n);
  TCT_TRY(tct_spec_set_real(&plan->spec, "batch", batch, err));
  *rate = batch / n;
  *iterations = (int64_t)ceil(epochs * n / batch);
  if (*iterations > 100000000) return tct_fail(err, TCT_E_USAGE, "more than 1e8 iterations; use a larger batch");
  return TCT_OK;
}
