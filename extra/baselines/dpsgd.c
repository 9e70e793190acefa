/* dpsgd.c - private proximal stochastic gradient descent with Poisson batches: the baseline.
 *
 * PROBLEM  min over w of (1/n) sum_i l(x_i.w, y_i) + psi(w), psi with a prox.
 *
 * ALGORITHM  Abadi et al. 2016, "Deep Learning with Differential Privacy", Algorithm 1, with a proximal step.
 *   1. for t = 1..T
 *   2.   draw a batch B: each record with probability q, independently
 *   3.   g = sum over B of l'(x_i.w, y_i) x_i, each term scaled to norm <= C, plus N(0, (mC)^2 I)
 *   4.   w = prox of step*psi at w - step*g/(q n)
 *   5. the last iterate, or the average of the last half or of all
 *
 * SENSITIVITY  A record's own term in step 3 has norm <= C: the factor is min(1, C/(|l'| |x_i|)) with an upper bound on
 * the computed norm.
 *
 * RELEASES  T events sampled_gaussian(m, q); gaussian(m) when q = 1.
 *
 * COST  O(E*nnz + T*p) time, a few vectors of n and p beside the data.
 *
 * DEPARTS  The division is by the expected batch q*n, a public number, never by the drawn size. */
#include "core/alloc.h"
#include "core/processors.h"
#include "la/kernels/kernels.h"
#include "solve/shared/batch.h"
#include "solve/shared/weight_bound.h"
#include "solve/gradient/gradient_release.h"
#include "baselines/sgd_shared.h"

#include <string.h>

static const tct_option options[] = {
    {"batch", TCT_OPT_REAL, "auto", 1, 1e15, NULL,
     "expected records per batch; auto: smallest with noise near 1, at least sqrt(n)"},
    {"clip", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL, "C, largest norm of a record's gradient; auto: that of dpgd"},
    {"epochs", TCT_OPT_REAL, "auto", 1e-3, 1e6, NULL,
     "expected visits per record; auto: 40 to 20000 steps, from n, p, epsilon, delta; without privacy 10"},
    {"step", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL, "step size; auto: 1/(smoothness of the loss * R^2 + l2)"},
    {"average", TCT_OPT_CHOICE, "half", 0, 0, "last|half|all", "which iterates the result averages"},
    {0},
};

/* How many steps, and how large a batch for them, where the user names no epochs.
 *
 * T steps of 1/curvature are a walk of length T, and dpgd's rule for it is 6 s, s = mu n/sqrt(p) (dpgd.c).  MOST is one
 * of time.  m sqrt(T) per unit of clip is
 * about T q/mu whatever the batch while m is above 1, and grows fast below (batch.c).  So q is what has m = 1 in the
 * central limit of subsampling: q sqrt(T (e - 1)) = mu.  With more epsilon
 * the batch grows and the number of steps does not fall: with a fixed number of epochs it did, and the objective rose.
 */
static tct_status steps_default(const tct_facts *facts, tct_spec *spec, tct_error *err) {
  static const double fewest = 40, most = 20000;
  double n = (double)facts->rows, batch = tct_spec_real(spec, options, "batch");
  double noise = tct_budget_single(facts, TCT_ADD_REMOVE);
  if (!tct_spec_auto(spec, options, "epochs")) return TCT_OK;
  if (!(noise > 0)) return tct_spec_set_real(spec, "epochs", 10, err);
  double steps = fmin(fmax(6 * tct_descent_signal(facts), fewest), most);
  if (isnan(batch)) batch = fmin(fmax(ceil(n / (noise * sqrt(steps * (M_E - 1)))), ceil(sqrt(n))), n);
  TCT_TRY(tct_spec_set_real(spec, "batch", batch, err));
  return tct_spec_set_real(spec, "epochs", steps * batch / n, err);
}

static tct_status plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  double rate;
  int64_t iterations;
  TCT_TRY(tct_plan_begin(facts, given, options, out, err));
  TCT_TRY(tct_plan_need_bounds(facts, "dpsgd", err));
  TCT_TRY(tct_descent_step(facts, options, out, err));
  double clip = tct_spec_real(&out->spec, options, "clip");
  if (isnan(clip)) clip = tct_descent_clip(facts);
  TCT_TRY(tct_spec_set_real(&out->spec, "clip", clip, err));
  TCT_TRY(steps_default(facts, &out->spec, err));
  TCT_TRY(tct_batch_plan(facts, options, tct_spec_real(&out->spec, options, "epochs"), out, &rate, &iterations, err));
  TCT_TRY(tct_budget_noise(facts, rate, iterations, out, err));
  return tct_sgd_promise(facts, rate, iterations, out, err);
}

enum { GRADIENTS }; /* the release */

tct_status tct_sgd_promise(const tct_facts *facts, double rate, int64_t count, tct_solver_plan *out, tct_error *err) {
  double clip = tct_plan_clip(facts, tct_spec_real(&out->spec, options, "clip"));
  tct_event event = tct_event_at(out->noise_multiplier, rate, count);
  return tct_plan_promise(out, tct_release_sum("sum of clipped gradients", event, clip, clip, facts->rows), err);
}

typedef struct settings {
  const tct_release *planned;
  double step, batch;
  int64_t iterations, from; /* averaging starts at iteration `from` */
} settings;

static settings read_settings(const tct_solver_plan *plan, const tct_mech *mech) {
  settings set = {.planned = tct_mech_release_of(mech, GRADIENTS)};
  set.iterations = set.planned->event.count;
  set.batch = tct_spec_real(&plan->spec, options, "batch");
  set.step = tct_spec_real(&plan->spec, options, "step");
  set.from = tct_spec_is(&plan->spec, options, "average", "last")   ? set.iterations - 1
             : tct_spec_is(&plan->spec, options, "average", "half") ? set.iterations / 2
                                                                    : 0;
  return set;
}

/* Steps 2 and 3: batch->sum holds the released gradient sum. */
static tct_status gradient(const tct_problem *problem, const settings *set, tct_batch *batch, tct_mech *mech,
                           const double *w, tct_error *err) {
  const tct_loss *loss = &problem->facts->loss;
  double clip = set->planned->clip;
  TCT_TRY(tct_batch_draw(batch, problem, mech, GRADIENTS, err));
  tct_margins_at(problem->view, batch->row, batch->count, w, batch->u, batch->threads);
  int threads = tct_threads_for(batch->threads, 64 * batch->count);
#pragma omp parallel for num_threads(tct_threads(threads)) schedule(static)
  for (int64_t k = 0; k < batch->count; k++) {
    double slope = tct_loss_slope(loss, batch->u[k], problem->y[batch->row[k]]);
    double norm = fabs(slope) * sqrt(tct_row_norm2(problem->view, batch->row[k])) * (1 + 0x1p-40);
    batch->u[k] = norm > clip ? slope * (clip / norm) : slope;
  }
  tct_terms terms = {.row = batch->row, .a = batch->u, .count = batch->count, .lattice = set->planned->lattice};
  tct_sum_lattice(problem->view, &terms, batch->sum, batch->scratch, batch->threads);
  return tct_mech_release(mech, GRADIENTS, batch->sum, batch->p, err);
}

tct_status tct_dpsgd_run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                         tct_error *err) {
  settings set = read_settings(plan, mech);
  tct_batch batch = {0};
  int64_t p = problem->view->p;
  double *average = TCT_NEW(double, p);
  tct_status status = average ? tct_batch_new(problem, &batch, err) : tct_fail_memory(err);
  memset(w, 0, (size_t)p * sizeof *w);
  for (int64_t t = 0; t < set.iterations && status == TCT_OK; t++) {
    status = tct_problem_tick(problem, (double)t / (double)set.iterations, err);
    if (status == TCT_OK) status = gradient(problem, &set, &batch, mech, w, err);
    if (status != TCT_OK) break;
    tct_axpy(-set.step / set.batch, batch.sum, w, p); /* 4 */
    tct_prox_step(problem->facts, w, set.step);
    if (t >= set.from) tct_axpy(1, w, average, p);
  }
  for (int64_t j = 0; j < p && status == TCT_OK; j++) w[j] = average[j] / (double)(set.iterations - set.from); /* 5 */
  tct_batch_free(&batch);
  tct_free(average);
  return status;
}

/* tct_path_length_max: a batch may hold every record, and a step divides by the expected batch. */
double tct_dpsgd_weight_bound(const tct_facts *facts, const tct_solver_plan *plan) {
  const tct_release *r = &plan->promise.release[GRADIENTS];
  double step = tct_spec_real(&plan->spec, options, "step"), batch = tct_spec_real(&plan->spec, options, "batch");
  double push = step / batch * tct_sum_max(r, (double)facts->rows, (double)facts->p);
  return tct_path_length_max(facts, push, step, (double)r->event.count, false);
}

const tct_solver tct_solver_dpsgd = {
    .name = "dpsgd",
    .summary = "private proximal stochastic gradient descent with Poisson batches (Abadi et al. 2016)",
    .options = options,
    .is_private = true,
    .rows_apart = true,
    .row_bytes = 24,
    .passes = {"epochs", 3, 0, true},
    .relations = TCT_RELATION_BOTH,
    .plan = plan,
    .run = tct_dpsgd_run,
    .weight_bound = tct_dpsgd_weight_bound,
};
