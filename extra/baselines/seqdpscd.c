/* seqdpscd.c - private dual coordinate descent with sequential updates inside a batch: a baseline.
 *
 * PROBLEM  As dpscd.c.
 *
 * ALGORITHM  Damaskinos et al. 2021, Algorithm 3 (their appendix C).
 *   1-2. alpha = 0, v = 0; noise multiplier m in plan
 *   3. for t = 1..T
 *   4.   draw a batch B: each record with probability q, independently
 *   5.   for j in B, one after the other: zeta_j = exact dual step at the current v, clipped to [-C, C]
 *   8-9.   alpha_j += zeta_j, v += zeta_j x_j
 *   13-14. noise on alpha_B and on v
 *   16. theta = v/(lambda n)
 *
 * SENSITIVITY  Record k is in one world and not in the other.  Give the adversary the batches without record k, B', the
 * releases of v, and for every other record the noised change of its dual.  All duals but alpha_k are then functions of
 * what is given.  alpha_k stays hidden: it is a function of k's own coins and of the past.  One iteration gives
 * (changes of alpha on B', change of v) + N(0, (m c)^2 I).  Its mean follows from the coin of k, which is independent
 * of all that.  Where k is not in B, or not in the world, it is M(B') if |B'| <= Lmax, else 0.  Where k is in B, it is
 * M(B' and k) if |B'| + 1 <= Lmax, else 0.  Sizes: M has a part <= C for each record in alpha and <= C R in v, as the
 * steps are clipped and cut towards zero to the lattice.  |B'| < Lmax: k changes at most Lmax-1 parts, each from C to
 * -C at most, and adds its own to v: at most c' = C sqrt((2 Lmax - 1)^2 R^2 + 4 (Lmax - 1)).  |B'| = Lmax: k makes the
 * iteration be skipped, which takes away all of M(B'), C sqrt(Lmax^2 R^2 + Lmax) <= c.  |B'| > Lmax: nothing changes.
 * c = C sqrt((2 Lmax - 1)^2 R^2 + 4 Lmax - 3) is above all three; it has room for k's own dual, as printed.  So the
 * iteration is (1-q)N(M) + qN(M + d), |d| <= c, against N(M) in the world without k, and the argument of dpscd.c ends
 * the proof.  It needs noise on the duals of B' whether or not the iteration was skipped: else a skip would be seen in
 * duals that did not change.  Changes of duals are lattice points, so their noise is exact; alpha itself is summed up
 * from noised changes, and its rounding is a function of them.  A record that is set to zero but stays in the batches
 * is a case of the same three lines.
 *
 * RELEASES  T events sampled_gaussian(m, q).
 *
 * COST  O(E*nnz + T*(p + n/10)) time.
 *
 * DEPARTS  Noise on the duals of skipped batches too.  Poisson batches with a cap; the sensitivity above in place of
 * the printed 2C*sqrt(L(L+1)), which is looser. */
#include "core/alloc.h"
#include "la/kernels/kernels.h"
#include "solve/dual/dual.h"
#include "solve/shared/batch.h"

#include <string.h>

static const tct_option options[] = {
    {"batch", TCT_OPT_REAL, "10", 1, 1e6, NULL, "expected records per batch"},
    {"cap", TCT_OPT_COUNT, "auto", 1, 1e7, NULL, "Lmax, largest batch used; auto: batch + 3*sqrt(batch)"},
    {"clip", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL, "C, largest dual step; auto: half the slope range over epochs"},
    {"epochs", TCT_OPT_REAL, "10", 1e-3, 1e6, NULL, "expected visits per record"},
    {"newton", TCT_OPT_COUNT, "20", 1, 100, NULL, "Newton steps per dual update (closed forms ignore it)"},
    {0},
};

enum { STEPS }; /* the release */

static double sensitivity_of(const tct_facts *facts, const tct_spec *spec) {
  double clip = tct_spec_real(spec, options, "clip"), cap = tct_spec_real(spec, options, "cap"), r = facts->row_norm;
  return clip * sqrt((2 * cap - 1) * (2 * cap - 1) * r * r + 4 * cap - 3);
}

static tct_status plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  double rate;
  int64_t iterations;
  TCT_TRY(tct_plan_begin(facts, given, options, out, err));
  TCT_TRY(tct_plan_need_dual(facts, "seqdpscd", err));
  TCT_TRY(tct_plan_need_bounds(facts, "seqdpscd", err));
  double epochs = tct_spec_real(&out->spec, options, "epochs"), clip = tct_spec_real(&out->spec, options, "clip");
  if (isnan(clip)) clip = (facts->loss.kind->binary ? 0.5 : 0.5 * facts->label_bound) / epochs; /* as dpscd */
  TCT_TRY(tct_spec_set_real(&out->spec, "clip", clip, err));
  TCT_TRY(tct_batch_plan(facts, options, epochs, out, &rate, &iterations, err));
  double batch = tct_spec_real(&out->spec, options, "batch");
  if (tct_spec_auto(&out->spec, options, "cap"))
    TCT_TRY(tct_spec_set_real(&out->spec, "cap", ceil(batch + 3 * sqrt(batch)), err)); /* three standard deviations */
  if (rate == 1)
    return tct_fail(err, TCT_E_USAGE, "seqdpscd needs a batch smaller than the data; give a smaller batch");
  TCT_TRY(tct_budget_noise(facts, rate, iterations, out, err));
  double sensitivity = sensitivity_of(facts, &out->spec);
  clip = tct_spec_real(&out->spec, options, "clip");
  if (tct_noise_off(facts)) { /* no privacy: the clip is off */
    clip = 4 * (facts->loss.kind->binary ? 1 : facts->label_bound);
    sensitivity = clip * facts->row_norm;
  }
  tct_event event = tct_event_at(out->noise_multiplier, rate, iterations);
  return tct_plan_promise(out, tct_release_sum("sum of dual steps", event, clip, sensitivity, facts->rows), err);
}

typedef struct settings {
  const tct_release *planned;
  int64_t cap;
  int newton;
} settings;

/* Steps 5-9: sequential, hence one thread. The running v of the batch is in local; only batch->sum is released, and
 * batch->u holds the changes of the duals. */
static void sequential(const tct_problem *problem, const settings *set, const tct_dual *dual, tct_batch *batch,
                       double *local) {
  const tct_loss *loss = &problem->facts->loss;
  memcpy(local, dual->w, (size_t)dual->p * sizeof *local);
  for (int64_t k = 0; k < batch->count; k++) {
    int64_t j = batch->row[k];
    double s = dual->norm2[j] / dual->lambda_n, zeta = 0;
    if (s > 0)
      zeta = loss->kind->dual_step(dual->alpha[j], tct_row_dot(problem->view, j, local), s, problem->y[j], loss->h,
                                   set->newton);
    double clip = set->planned->clip, lattice = set->planned->lattice;
    zeta = trunc(fmin(fmax(zeta, -clip), clip) / lattice) * lattice;
    batch->u[k] = zeta;
    tct_row_axpy(problem->view, j, zeta / dual->lambda_n, local);
    tct_row_add_lattice(problem->view, j, zeta, set->planned->lattice, batch->sum);
  }
}

static tct_status iterate(const tct_problem *problem, const settings *set, tct_dual *dual, tct_batch *batch,
                          tct_mech *mech, double *local, tct_error *err) {
  TCT_TRY(tct_batch_draw(batch, problem, mech, STEPS, err)); /* 4 */
  tct_dual_primal(dual);
  memset(batch->u, 0, (size_t)batch->count * sizeof(double));
  if (batch->count <= set->cap) sequential(problem, set, dual, batch, local);
  TCT_TRY(tct_mech_state_noise(mech, STEPS, batch->u, batch->count, err)); /* 13 */
  for (int64_t k = 0; k < batch->count; k++) dual->alpha[batch->row[k]] += batch->u[k];
  TCT_TRY(tct_mech_release(mech, STEPS, batch->sum, batch->p, err)); /* 14 */
  for (int64_t j = 0; j < dual->p; j++) dual->v[j] += batch->sum[j];
  return TCT_OK;
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  settings set = {.planned = tct_mech_release_of(mech, STEPS),
                  .cap = tct_spec_count(&plan->spec, options, "cap"),
                  .newton = (int)tct_spec_count(&plan->spec, options, "newton")};
  int64_t iterations = set.planned->event.count;
  if (tct_noise_off(problem->facts)) set.cap = problem->facts->rows; /* no privacy: the cap is off */
  tct_dual dual = {0};
  tct_batch batch = {0};
  double *local = TCT_NEW(double, problem->view->p);
  tct_status status = local ? tct_dual_new(problem, &dual, err) : tct_fail_memory(err);
  if (status == TCT_OK) status = tct_batch_new(problem, &batch, err);
  for (int64_t t = 0; t < iterations && status == TCT_OK; t++) { /* 3 */
    status = tct_problem_tick(problem, (double)t / (double)iterations, err);
    if (status == TCT_OK) status = iterate(problem, &set, &dual, &batch, mech, local, err);
  }
  if (status == TCT_OK) {
    tct_dual_primal(&dual); /* 16 */
    memcpy(w, dual.w, (size_t)dual.p * sizeof *w);
  }
  tct_wipe_free(local, problem->view->p, sizeof(double));
  tct_batch_free(&batch);
  tct_dual_free(&dual);
  return status;
}

const tct_solver tct_solver_seqdpscd = {
    .name = "seqdpscd",
    .summary = "private dual coordinate descent, sequential inside a batch (Damaskinos et al. 2021, appendix C)",
    .options = options,
    .is_private = true,
    .relations = TCT_RELATION_ADD_REMOVE,
    .penalises_intercept = true,
    .plan = plan,
    .run = run,
    .weight_bound = tct_dual_weight_bound,
};
