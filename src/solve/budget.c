/* budget.c - from a budget to a promise: the one place where plans calibrate. */
#include "solve/solve.h"
#include "core/point.h"

typedef struct making {
  tct_promise_at make;
  void *user;
} making;

static tct_status events_at(double x, void *user, tct_events *out, tct_error *err) {
  const making *m = user;
  tct_promise promise = {0};
  tct_status status = m->make(x, m->user, &promise, err);
  for (int64_t i = 0; i < promise.events.len && status == TCT_OK; i++)
    status = tct_events_add(out, promise.events.at[i], err);
  tct_promise_free(&promise);
  return status;
}

/* By one accountant's formula: bisection on the logarithm. */
static tct_status fit_by(const tct_facts *facts, const tct_budget *budget, making *m, double *x, tct_error *err) {
  double low = budget->low, high = budget->high;
  for (int step = 0; step < 100 && high / low > 1 + budget->tolerance; step++) {
    double middle = sqrt(low * high);
    tct_events events = {0};
    tct_bracket cost = {0, INFINITY};
    tct_status status = events_at(middle, m, &events, err);
    if (status == TCT_OK) status = budget->by->epsilon(&events, facts->neighbours, facts->delta, 1e-6, &cost, err);
    tct_events_free(&events);
    TCT_TRY(status);
    if (cost.upper <= facts->epsilon)
      high = middle;
    else
      low = middle;
  }
  *x = high;
  return TCT_OK;
}

static tct_status fit(const tct_facts *facts, const tct_budget *budget, making *m, double *x, tct_cost *cost,
                      tct_error *err) {
  if (!budget->by)
    return tct_calibrate(events_at, m, &(tct_interval){budget->direction, budget->low, budget->high, budget->tolerance},
                         &(tct_target){facts->neighbours, facts->epsilon, facts->delta}, x, cost, err);
  TCT_TRY(fit_by(facts, budget, m, x, err));
  tct_events events = {0};
  tct_status status = events_at(*x, m, &events, err);
  if (status == TCT_OK) status = tct_account_epsilon(&events, facts->neighbours, facts->delta, 1e-6, cost, err);
  tct_events_free(&events);
  return status;
}

static void cost_nothing(const tct_facts *facts, tct_cost *cost) {
  *cost = (tct_cost){.epsilon = INFINITY, .epsilon_lower = 0, .delta = facts->delta, .winner = NULL};
}

tct_status tct_budget_fit(const tct_facts *facts, const tct_budget *budget, tct_promise_at make, void *user,
                          tct_solver_plan *out, double *x, tct_error *err) {
  making m = {make, user};
  if (!tct_noise_off(facts)) {
    TCT_TRY(fit(facts, budget, &m, x, &out->cost, err));
  } else {
    *x = budget->direction == TCT_SMALLEST ? 0 : INFINITY;
    cost_nothing(facts, &out->cost);
  }
  TCT_TRY(make(*x, user, &out->promise, err));
  return tct_promise_settle(&out->promise, err);
}

tct_status tct_budget_noise(const tct_facts *facts, double rate, int64_t count, tct_solver_plan *out, tct_error *err) {
  out->noise_multiplier = 0;
  if (!tct_noise_off(facts))
    return tct_calibrate_noise(TCT_POINT(noise_calibrated_at_half_the_rate, rate, rate / 2), count,
                               &(tct_target){facts->neighbours, facts->epsilon, facts->delta}, &out->noise_multiplier,
                               &out->cost, err);
  cost_nothing(facts, &out->cost);
  return TCT_OK;
}

/* The noise of one Gaussian with all of the budget; 0 where there is none.  A run asks for it several times, and each
 * answer takes longer than a fit of a small table: a thread keeps the last one. */
static double noise_of(const tct_target *whole) {
  static _Thread_local tct_target last = {.epsilon = NAN};
  static _Thread_local double noise;
  if (last.neighbours == whole->neighbours && last.epsilon == whole->epsilon && last.delta == whole->delta)
    return noise;
  last.epsilon = NAN;
  if (tct_calibrate_noise(1, 1, whole, &noise, NULL, NULL) != TCT_OK) noise = 0;
  last = *whole;
  return noise;
}

double tct_budget_single(const tct_facts *facts, tct_neighbours neighbours) {
  return tct_noise_off(facts) ? 0 : noise_of(&(tct_target){neighbours, facts->epsilon, facts->delta});
}

double tct_signal_to_noise(int64_t rows, int64_t p, const tct_target *whole) {
  if (!isfinite(whole->epsilon)) return INFINITY;
  double noise = noise_of(whole);
  return noise > 0 ? (double)rows / (noise * sqrt((double)p)) : 0;
}

tct_status tct_budget_rho(const tct_facts *facts, double *rho, tct_error *err) {
  double noise = 0, relation = facts->neighbours == TCT_ADD_REMOVE ? 1 : 2;
  tct_target whole = {facts->neighbours, facts->epsilon, facts->delta};
  TCT_TRY(tct_calibrate_noise(1, 1, &whole, &noise, NULL, err));
  *rho = relation * relation / (2 * noise * noise);
  return TCT_OK;
}

tct_event tct_event_at(double noise, double rate, int64_t count) {
  return rate < 1 ? tct_event_sampled_gaussian(noise, rate, count) : tct_event_gaussian(noise, count);
}

tct_status tct_plan_promise(tct_solver_plan *out, tct_release release, tct_error *err) {
  TCT_TRY(tct_promise_add(&out->promise, release, err));
  return tct_promise_settle(&out->promise, err);
}

double tct_plan_clip(const tct_facts *facts, double clip) { return tct_noise_off(facts) ? 1024 * clip : clip; }
