/* sgd_paper.c - the two private stochastic gradients that Lee and Kifer 2018 compare with, as their sources calibrate.
 *
 * PROBLEM  min over w of (1/n) sum_i l(x_i.w, y_i) + psi(w), psi with a prox.
 *
 * ALGORITHM  dpsgd.c, with batches of sqrt(n) and other noise.
 *   sgd_ma   Abadi et al. 2016: noise multiplier 4, as many steps as the Renyi (moments) accountant allows.
 *   sgd_adv  Bassily, Smith and Thakurta 2014: T = n epsilon/500 steps, each (epsilon_0, delta/(2T))-DP on its batch by
 *            the classical Gaussian bound, amplified by sampling, composed by the advanced composition theorem.
 *
 * SENSITIVITY  That of dpsgd.
 *
 * RELEASES  T events sampled_gaussian(m, q).
 *
 * COST  That of dpsgd.
 *
 * DEPARTS  Poisson batches, where both papers' experiments shuffle or draw fixed sizes.  The events are stated as they
 * are: the certificate of sgd_adv proves less loss than epsilon.  The rest is what its calibration gives away. */
#include "baselines/sgd_shared.h"
#include "solve/gradient/gradient_release.h"

#include <string.h>

static const tct_option ma_options[] = {
    {"batch", TCT_OPT_REAL, "auto", 1, 1e15, NULL, "expected records per batch; auto: sqrt(n)"},
    {"noise", TCT_OPT_REAL, "4", 0.1, 1e6, NULL, "noise multiplier, unless one step needs more"},
    {"clip", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL,
     "C, largest norm of a record's gradient; auto: slope bound times R"},
    {"steps", TCT_OPT_COUNT, "20000", 1, 10000000, NULL, "at most this many"},
    {"step", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL, "step size; auto: 1/(smoothness of the loss * R^2 + l2)"},
    {"average", TCT_OPT_CHOICE, "last", 0, 0, "last|half|all", "which iterates the result averages"},
    {0},
};

static const tct_option adv_options[] = {
    {"batch", TCT_OPT_REAL, "auto", 1, 1e15, NULL, "expected records per batch; auto: sqrt(n)"},
    {"clip", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL,
     "C, largest norm of a record's gradient; auto: slope bound times R"},
    {"steps", TCT_OPT_COUNT, "auto", 1, 10000000, NULL, "T; auto: n epsilon/500"},
    {"step", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL, "step size; auto: 1/(smoothness of the loss * R^2 + l2)"},
    {"average", TCT_OPT_CHOICE, "last", 0, 0, "last|half|all", "which iterates the result averages"},
    {0},
};

static tct_status begin(const tct_facts *facts, const tct_spec *given, const tct_option *options, double *rate,
                        tct_solver_plan *out, tct_error *err) {
  TCT_TRY(tct_plan_begin(facts, given, options, out, err));
  TCT_TRY(tct_plan_need_bounds(facts, given->name, err));
  TCT_TRY(tct_descent_step(facts, options, out, err));
  double clip = tct_spec_real(&out->spec, options, "clip"), slope = tct_loss_slope_bound(&facts->loss);
  double batch = tct_spec_real(&out->spec, options, "batch"), n = (double)facts->rows;
  if (isnan(clip)) clip = facts->row_norm * (isfinite(slope) ? slope : facts->label_bound);
  if (isnan(batch)) batch = ceil(sqrt(n));
  if (batch > n) return tct_fail(err, TCT_E_USAGE, "the batch is larger than the data; give batch=%.0f or less", n);
  *rate = batch / n;
  TCT_TRY(tct_spec_set_real(&out->spec, "clip", clip, err));
  return tct_spec_set_real(&out->spec, "batch", batch, err);
}

static tct_status promise(const tct_facts *facts, double noise, double rate, int64_t steps, tct_solver_plan *out,
                          tct_error *err) {
  out->noise_multiplier = noise;
  return tct_sgd_promise(facts, rate, steps, out, err);
}

static tct_status without_privacy(const tct_facts *facts, double rate, int64_t steps, tct_solver_plan *out,
                                  tct_error *err) {
  out->cost = (tct_cost){.epsilon = INFINITY, .delta = facts->delta};
  return promise(facts, 0, rate, steps, out, err);
}

/* ---- sgd_ma ---------------------------------------------------------------------------------------- */

static double moments_epsilon(const tct_facts *facts, double noise, double rate, int64_t steps) {
  tct_event event = tct_event_sampled_gaussian(noise, rate, steps);
  tct_events list = {&event, 1, 1};
  tct_bracket bracket = {0, INFINITY};
  const tct_accountant *moments = &tct_accountant_rdp;
  if (moments->epsilon(&list, facts->neighbours, facts->delta, 1e-4, &bracket, NULL) != TCT_OK) return INFINITY;
  return bracket.upper;
}

static tct_status ma_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  double rate;
  TCT_TRY(begin(facts, given, ma_options, &rate, out, err));
  double noise = tct_spec_real(&out->spec, ma_options, "noise");
  int64_t max = tct_spec_count(&out->spec, ma_options, "steps"), low = 1, high = max;
  if (tct_noise_off(facts)) return without_privacy(facts, rate, max, out, err);
  for (int k = 0; k < 60 && !(moments_epsilon(facts, noise, rate, 1) <= facts->epsilon); k++) noise *= 1.1;
  while (low < high) { /* the largest count that holds */
    int64_t middle = low + (high - low + 1) / 2;
    if (moments_epsilon(facts, noise, rate, middle) <= facts->epsilon)
      low = middle;
    else
      high = middle - 1;
  }
  TCT_TRY(promise(facts, noise, rate, low, out, err));
  out->cost = (tct_cost){.epsilon = moments_epsilon(facts, noise, rate, low), .delta = facts->delta};
  out->cost.winner = &tct_accountant_rdp;
  if (!(out->cost.epsilon <= facts->epsilon))
    return tct_fail(err, TCT_E_BUDGET, "sgd_ma: no noise is enough for one step; give a larger epsilon");
  return TCT_OK;
}

/* ---- sgd_adv --------------------------------------------------------------------------------------- */

/* Advanced composition over T steps: epsilon/(2 sqrt(2 T log(2/delta))) each, delta/2 for the steps' own deltas and as
 * much for the theorem.  Sampling at rate q pays for 1/(2q) as much, in the region epsilon_0 <= 1 where 2 q epsilon_0
 * bounds the amplified loss and the classical Gaussian bound holds. */
static tct_status adv_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  double rate;
  TCT_TRY(begin(facts, given, adv_options, &rate, out, err));
  int64_t steps = tct_spec_count(&out->spec, adv_options, "steps");
  if (steps < 0) steps = (int64_t)fmin(fmax(round((double)facts->rows * fmin(facts->epsilon, 1e4) / 500), 1), 100000);
  if (tct_noise_off(facts)) return without_privacy(facts, rate, 4000, out, err);
  double each = facts->epsilon / (2 * sqrt(2 * (double)steps * log(2 / facts->delta)));
  double own = fmin(each / (2 * rate), 1), own_delta = facts->delta / (2 * (double)steps * rate);
  double sensitivity = facts->neighbours == TCT_REPLACE_ONE ? 2 : 1,
         noise = sensitivity * sqrt(2 * log(1.25 / fmin(own_delta, 0.5))) / own;
  TCT_TRY(tct_spec_set_real(&out->spec, "steps", (double)steps, err));
  TCT_TRY(promise(facts, noise, rate, steps, out, err));
  return tct_account_epsilon(&out->promise.events, facts->neighbours, facts->delta, 1e-3, &out->cost, err);
}

const tct_solver tct_solver_sgd_ma = {
    .name = "sgd_ma",
    .summary = "stochastic gradient descent with fixed noise under the moments accountant (Abadi et al. 2016)",
    .options = ma_options,
    .is_private = true,
    .relations = TCT_RELATION_ADD_REMOVE,
    .plan = ma_plan,
    .run = tct_dpsgd_run,
    .weight_bound = tct_dpsgd_weight_bound,
};

const tct_solver tct_solver_sgd_adv = {
    .name = "sgd_adv",
    .summary = "stochastic gradient descent under advanced composition (Bassily et al. 2014)",
    .options = adv_options,
    .is_private = true,
    .relations = TCT_RELATION_BOTH,
    .plan = adv_plan,
    .run = tct_dpsgd_run,
    .weight_bound = tct_dpsgd_weight_bound,
};
