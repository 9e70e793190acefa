/* dpscd.c - differentially private stochastic dual coordinate descent.
 *
 * PROBLEM  min over theta of (1/n) sum_i l(x_i.theta, y_i) + (lambda/2)|theta|^2, through its dual in alpha (n) with
 * the shared vector v = X alpha (p) and theta = v/(lambda n).
 *
 * ALGORITHM  Damaskinos et al. 2021, "Differentially Private Stochastic Coordinate Descent", Algorithm 1.
 *   1. alpha = 0, v = 0
 *   2. noise multiplier m from (epsilon, delta), rate q = L/n and T iterations (in plan)
 *   3. for t = 1..T
 *   5.   draw a batch B: each record with probability q, independently
 *   6-7. for each j in B: zeta_j = argmin of the dual subproblem with damping L (loss->dual_step)
 *   8.   zeta_j = zeta_j / max(1, |zeta_j|/C)
 *   9-10. alpha_j += zeta_j, dv += zeta_j x_j
 *   13.  v += dv + noise
 *   16. theta = v/(lambda n), v the mean over the last part of the run
 *
 * SENSITIVITY  One iteration releases the sum over j in B of zeta_j x_j, |zeta_j| <= C and |x_j| <= R.  A record's own
 * term has norm <= C*R.
 *
 * state=private: alpha is record-local state that is never released.  Give the adversary the past releases of v, and
 * who was in each batch, but for record k.  Every other alpha_j is then a known function of other records and of past
 * v.  Record k adds 1[k in B]*zeta_k x_k.  Here zeta_k is a function of k's own hidden past coins and of past v, and
 * 1[k in B] is independent of both.  Given the past the release is a mixture of (1-q)N(0) and qN(c), |c| <= C*R,
 * against N(0).  The hockey-stick divergence is jointly convex and depends on |c| monotonically.  So the pair with |c|
 * = C*R dominates, and dominating pairs compose adaptively.
 *
 * Under replace_one the two records share the coin: (1-q)N(0) + qN(u) against (1-q)N(0) + qN(v).  The pair u = +C*R, v
 * = -C*R on a line dominates all u and v of norm <= C*R in any dimension, by Kahane's inequality:
 * docs/proofs/dpscd-replace-one.md.
 *
 * Hence alpha may enter nothing visible: no checkpoint, warm start, stopping rule, gap or model file depends on it.
 *
 * state=paper: the sensitivity is C*sqrt(1+R^2), the paper's sqrt(2)*C for R = 1, and noise of that scale goes on
 * alpha_B too.  The duals stay secret all the same, because noise on B alone would show who was in the batch.
 *
 * RELEASES  T events sampled_gaussian(m, q); gaussian(m) when q = 1.
 *
 * COST  O(E*nnz + T*(p + n/10)) time, n + p doubles beside the data.
 *
 * DEPARTS  Poisson batches, as the accounting needs, not shuffled ones.  Step 8 divides (the printed line lacks it) and
 * steps 12-13 accumulate.  alpha is not released and needs no noise: less noise by sqrt(2) on v, and the dual
 * constraints always hold.  The result averages released iterates, which is post-processing.  Several safeguarded
 * Newton steps for logistic loss cost no privacy. Defaults: see defaults() below. */
#include "core/alloc.h"
#include "core/processors.h"
#include "la/kernels/kernels.h"
#include "solve/dual/dual.h"
#include "solve/dual/rules.def"
#include "solve/shared/batch.h"

#include <omp.h>
#include <string.h>

static const tct_option options[] = {
    {"batch", TCT_OPT_REAL, "auto", 1, 1e15, NULL,
     "expected records per batch; auto: smallest with noise near 1, at least sqrt(n)"},
    {"clip", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL,
     "C, largest dual step per visit; auto: travel over epochs, see the source"},
    {"epochs", TCT_OPT_REAL, "auto", 1e-3, 1e6, NULL, "expected visits per record; auto: 10 to 100, see the source"},
    {"newton", TCT_OPT_COUNT, "20", 1, 100, NULL, "Newton steps per dual update (closed forms ignore it)"},
    {"state", TCT_OPT_CHOICE, "private", 0, 0, "private|paper",
     "duals: hidden and exact, or hidden and noised as in the paper"},
    {"average", TCT_OPT_REAL, "auto", 0, 1, NULL,
     "last part of the run whose iterates are averaged, 0: the last one; auto: 0 to 0.5, see the source"},
    {0},
};

/* Defaults from public facts.  Write D = E*C for how far a dual variable can go, and K = beta*R^2/lambda.
 *
 * Noise: where the dual steps have converged, alpha_j = -l'(x_j.theta), so v = X alpha + eta gives grad F(theta) =
 * eta/n: objective perturbation with |eta| = m*C*R*sqrt(T p), which is D*R*sqrt(p)/mu (dual.c, batch_default).  An
 * eigen-direction h of the loss's Hessian adds (D*R/(mu*n))^2 h/(2(h+lambda)^2) to the objective, at most
 * D^2 R^2/(8 mu^2 n^2 lambda); p directions.  The noise of the last 1/h iterations has not been answered yet: in the
 * last iterate it adds (D*R/(mu*n))^2 beta*R^2/(4 T lambda^2) for each direction, more than all the rest when T < K.
 * Averaging released iterates costs no privacy and removes most of it.
 *
 * Bias: |alpha| <= D means the loss with its slopes cut at D.  For a loss of slope g this is the loss times D/g under
 * the same penalty, that is lambda*g/D in place of lambda.  It costs at most lambda*g*B^2/(2D), B the norm of a good
 * model.  Margins of size s = g/beta, a record's own Newton step from w = 0, take B = s*sqrt(p)/R where records have no
 * preferred direction.  Noise and bias together are least at
 *   D = g*(2 (n*mu/K)^2)^(1/3),  g the slope at w = 0 and a middling label (1/2 logistic, 1 hinge, Y/2 squared),
 * and never above g.  p has cancelled.
 *
 * Visits: with D fixed, more of them cost time and no noise.  A batch is a damped step whose slowest direction
 * contracts by 1/K (Lemma 2 of the paper for L well above lambda*n), so T should reach K.  T is min(E^2/mu^2,
 * E*sqrt(n)) under the default batch.  Hence E = max(mu*sqrt(K), K/sqrt(n)), kept within [10, 100].
 *
 * Averaging: A = p*beta*D^2*R^4/(4 T mu^2 n^2 lambda^2) is that unanswered noise, F0 the loss at w = 0 and a middling
 * label.  Earlier iterates lag behind, so the part averaged is min(1/2, 16 A/F0): half the run where A is 3 % of F0,
 * next to nothing where it is 0.1 % (docs/decisions/minimiser-rules.md).  state=paper returns the last iterate, as the
 * paper does. */
static double condition(const tct_facts *facts) { /* K */
  double curvature = facts->loss.kind->curvature_bound(facts->loss.h);
  double beta = isfinite(curvature) ? curvature : 1; /* a kink: as if its slope range 1 were spread over width 1 */
  return beta * facts->row_norm * facts->row_norm / facts->penalty.l2;
}

static double epochs_default(const tct_facts *facts) {
  double steps = condition(facts), noise = tct_budget_single(facts, TCT_ADD_REMOVE);
  double epochs = fmax(noise > 0 ? sqrt(steps) / noise : 0, steps / sqrt((double)facts->rows));
  return fmin(fmax(ceil(epochs), dpscd_epochs_least), dpscd_epochs_most);
}

static double travel_default(const tct_facts *facts) {
  const tct_loss_kind *kind = facts->loss.kind;
  double slope = fabs(tct_loss_slope(&facts->loss, 0, kind->binary ? 1 : 0.5 * facts->label_bound));
  double noise = tct_budget_single(facts, TCT_ADD_REMOVE), per_condition = (double)facts->rows / condition(facts);
  return noise > 0 ? slope * fmin(1, cbrt(2 * (per_condition / noise) * (per_condition / noise))) : slope;
}

static double average_default(const tct_facts *facts, const tct_spec *spec, double epochs, int64_t iterations) {
  const tct_loss_kind *kind = facts->loss.kind;
  if (tct_spec_is(spec, options, "state", "paper")) return 0;
  double travel = tct_spec_real(spec, options, "clip") * epochs, noise = tct_budget_single(facts, TCT_ADD_REMOVE);
  double sway = travel * facts->row_norm * noise / ((double)facts->rows * facts->penalty.l2);
  double beta_r2 = condition(facts) * facts->penalty.l2;
  double unanswered = (double)facts->p * beta_r2 * sway * sway / (4 * (double)iterations);
  double start = kind->value(0, kind->binary ? 1 : 0.5 * facts->label_bound, facts->loss.h);
  return fmin(dpscd_average_most, dpscd_average_per_noise * unanswered / start);
}

static tct_status defaults(const tct_facts *facts, tct_solver_plan *plan, double *epochs, tct_error *err) {
  *epochs = tct_spec_real(&plan->spec, options, "epochs");
  if (isnan(*epochs)) *epochs = epochs_default(facts);
  double clip = tct_spec_real(&plan->spec, options, "clip");
  if (isnan(clip)) clip = travel_default(facts) / *epochs;
  TCT_TRY(tct_spec_set_real(&plan->spec, "epochs", *epochs, err));
  return tct_spec_set_real(&plan->spec, "clip", clip, err);
}

enum { STEPS }; /* the release */

static double sensitivity_of(const tct_facts *facts, const tct_spec *spec) {
  double clip = tct_spec_real(spec, options, "clip"), r = facts->row_norm;
  return tct_spec_is(spec, options, "state", "paper") ? clip * sqrt(1 + r * r) : clip * r;
}

static tct_status plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  double epochs, rate;
  int64_t iterations;
  TCT_TRY(tct_plan_begin(facts, given, options, out, err));
  TCT_TRY(tct_plan_need_dual(facts, "dpscd", err));
  TCT_TRY(tct_plan_need_bounds(facts, "dpscd", err));
  TCT_TRY(defaults(facts, out, &epochs, err));
  TCT_TRY(tct_batch_plan(facts, options, epochs, out, &rate, &iterations, err));
  double average = tct_spec_real(&out->spec, options, "average");
  if (isnan(average)) average = average_default(facts, &out->spec, epochs, iterations);
  TCT_TRY(tct_spec_set_real(&out->spec, "average", average, err));
  if (tct_spec_is(&out->spec, options, "state", "paper") && facts->neighbours != TCT_ADD_REMOVE)
    return tct_fail(err, TCT_E_USAGE, "dpscd with state=paper is proved for add_remove only; use state=private");
  TCT_TRY(tct_budget_noise(facts, rate, iterations, out, err));
  double clip = tct_spec_real(&out->spec, options, "clip"), sensitivity = sensitivity_of(facts, &out->spec);
  if (tct_noise_off(facts)) { /* a clip that no converging step meets */
    clip = 4 * (facts->loss.kind->binary ? 1 : facts->label_bound);
    sensitivity = clip * facts->row_norm;
  }
  tct_event event = tct_event_at(out->noise_multiplier, rate, iterations);
  return tct_plan_promise(out, tct_release_sum("sum of dual steps", event, clip, sensitivity, facts->rows), err);
}

typedef struct settings {
  const tct_release *planned;
  double damping;
  int64_t iterations, from; /* averaging starts at iteration `from` */
  int newton, paper;
} settings;

/* STEP: a margin, a Newton step and the row added, in units of tct_threads_for, some 450 ns.  SOME: records that a
 * thread takes at a time; one that was woken late takes fewer.  SOON: how many records ahead a row is asked for. */
enum { STEP = 1000, SOME = 16, SOON = 3 };

/* Steps 6-9 for record j of the batch: its clipped zeta.  Under state=paper noise drives alpha out of its domain; the
 * step then starts from the nearest point inside.  Alpha itself is not pulled back, as in the paper's experiments. */
static double dual_step(const tct_problem *problem, tct_dual *dual, int64_t j, const settings *set) {
  const tct_loss *loss = &problem->facts->loss;
  double clip = set->planned->clip;
  double s = set->damping * dual->norm2[j] / dual->lambda_n, zeta = 0, alpha = dual->alpha[j];
  double margin = tct_row_dot(problem->view, j, dual->w);
  if (set->paper && loss->kind->binary) alpha = problem->y[j] * fmin(fmax(problem->y[j] * alpha, 0), 1);
  if (s > 0) zeta = loss->kind->dual_step(alpha, margin, s, problem->y[j], loss->h, set->newton);
  zeta = fmin(fmax(zeta, -clip), clip);
  dual->alpha[j] += zeta;
  return zeta;
}

/* Steps 6-10: a record's step and its part of the sum go together, while its row is near the processor.  Every thread
 * adds to a sum of its own; terms are whole multiples of the lattice, so their order changes no bit. */
static void dual_steps(const tct_problem *problem, tct_dual *dual, tct_batch *batch, const settings *set) {
  const tct_view *view = problem->view;
  int threads = tct_threads_for(batch->threads, STEP * batch->count), team = 1;
#pragma omp parallel num_threads(tct_threads(threads))
  {
    double *own = threads > 1 ? batch->scratch + omp_get_thread_num() * tct_thread_stride(batch->p) : batch->sum;
    if (omp_get_thread_num() == 0) team = omp_get_num_threads();
    if (threads > 1) memset(own, 0, (size_t)batch->p * sizeof(double));
#pragma omp for schedule(dynamic, SOME)
    for (int64_t k = 0; k < batch->count; k++) {
      if (k + SOON < batch->count) tct_row_prefetch(view, batch->row[k + SOON], false);
      double zeta = dual_step(problem, dual, batch->row[k], set);
      tct_row_add_lattice(view, batch->row[k], zeta, set->planned->lattice, own);
    }
  }
  if (threads > 1) tct_sum_parts(batch->scratch, team, batch->sum, batch->p, batch->threads);
}

/* state=paper, step 12: noise on the duals of the batch. */
static tct_status noise_duals(tct_dual *dual, tct_batch *batch, tct_mech *mech, tct_error *err) {
  double *noise = TCT_NEW(double, batch->count);
  if (!noise) return tct_fail_memory(err);
  tct_status status = tct_mech_state_noise(mech, STEPS, noise, batch->count, err);
  for (int64_t k = 0; k < batch->count; k++) dual->alpha[batch->row[k]] += noise[k];
  tct_wipe_free(noise, batch->count, sizeof(double));
  return status;
}

static tct_status iterate(const tct_problem *problem, const settings *set, tct_dual *dual, tct_batch *batch,
                          tct_mech *mech, tct_error *err) {
  TCT_TRY(tct_batch_draw(batch, problem, mech, STEPS, err)); /* 5 */
  tct_dual_primal(dual);
  dual_steps(problem, dual, batch, set);                                                   /* 6-10 */
  if (set->paper && set->planned->noise > 0) TCT_TRY(noise_duals(dual, batch, mech, err)); /* 12 */
  TCT_TRY(tct_mech_release(mech, STEPS, batch->sum, batch->p, err));                       /* 13 */
  for (int64_t j = 0; j < dual->p; j++) dual->v[j] += batch->sum[j];
  return TCT_OK;
}

static settings read_settings(const tct_solver_plan *plan, const tct_mech *mech) {
  settings set = {.planned = tct_mech_release_of(mech, STEPS)};
  set.iterations = set.planned->event.count;
  set.damping = tct_spec_real(&plan->spec, options, "batch");
  set.newton = (int)tct_spec_count(&plan->spec, options, "newton");
  set.paper = tct_spec_is(&plan->spec, options, "state", "paper");
  double average = tct_spec_real(&plan->spec, options, "average") * (double)set.iterations;
  set.from = set.iterations - (int64_t)fmax(1, floor(average));
  return set;
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  settings set = read_settings(plan, mech);
  tct_dual dual = {0};
  tct_batch batch = {0};
  tct_status status = tct_dual_new(problem, &dual, err);
  if (status == TCT_OK) status = tct_batch_new(problem, &batch, err);
  memset(w, 0, (size_t)problem->view->p * sizeof *w);
  for (int64_t t = 0; t < set.iterations && status == TCT_OK; t++) { /* 3 */
    status = tct_problem_tick(problem, (double)t / (double)set.iterations, err);
    if (status == TCT_OK) status = iterate(problem, &set, &dual, &batch, mech, err);
    if (status == TCT_OK && t >= set.from) tct_axpy(1, dual.v, w, dual.p);
  }
  for (int64_t j = 0; j < problem->view->p && status == TCT_OK; j++)
    w[j] /= dual.lambda_n * (double)(set.iterations - set.from); /* 16 */
  tct_batch_free(&batch);
  tct_dual_free(&dual);
  return status;
}

/* Every iteration adds N(0, (m c)^2 I) to v, and the model is v/(lambda n), v the mean over the last k of T
 * iterations.  The noise of the first T-k+1 of them is in it whole, and a share j/k of that of the j-th from the end.
 * The dual steps answer the noise: where they have converged, the mean gradient is eta/n (see above).  The weights then
 * move by (H + lambda)^-1 eta/n, and the trace of H is at most beta R^2.  So a weight's noise is at most that on v
 * itself.  The mean over the weights is at least 1/(n (beta R^2/p + lambda)) of it, because a mean of reciprocals is at
 * least the reciprocal of the mean. */
static tct_status noise_size(const tct_facts *facts, const tct_solver_plan *plan, const double *w, tct_noise_size *out,
                             tct_error *err) {
  const tct_event *event = &plan->promise.events.at[0];
  double n = (double)facts->rows, p = (double)facts->p, steps = (double)event->count, r = facts->row_norm;
  double k = fmax(1, floor(tct_spec_real(&plan->spec, options, "average") * steps));
  double shares = steps - k + (k + 1) * (2 * k + 1) / (6 * k), beta = facts->loss.kind->curvature_bound(facts->loss.h);
  double size = event->noise * sensitivity_of(facts, &plan->spec) * sqrt(shares) / n;
  double epochs = tct_spec_real(&plan->spec, options, "epochs"), batch = tct_spec_real(&plan->spec, options, "batch");
  (void)w;
  TCT_TRY(tct_plan_one_gaussian(plan, (int64_t)fmin(ceil(epochs * n / batch), 1e18), err)); /* as tct_batch_plan */
  *out = (tct_noise_size){.min = size / (beta * r * r / p + facts->penalty.l2),
                          .max = size / facts->penalty.l2,
                          .how_min = "what is left after later steps have answered it as well as steps can",
                          .how_max = "the noise as it was added, before later steps answered it",
                          .first_order = true};
  if (!isfinite(beta)) out->min = NAN; /* a kink answers without bound */
  return TCT_OK;
}

const tct_solver tct_solver_dpscd = {
    .name = "dpscd",
    .summary = "private dual coordinate descent (Damaskinos et al. 2021), duals kept secret",
    .options = options,
    .is_private = true,
    .rows_apart = true,
    .relations = TCT_RELATION_BOTH,
    .penalises_intercept = true,
    .plan = plan,
    .run = run,
    .weight_bound = tct_dual_weight_bound,
    .noise_size = noise_size,
};
