/* ledger_filter.c - does the ledger's filter permit one more run?  (ledger.h says why there is one filter.) */
#include "ledger/ledger.h"

#include "core/point.h"
#include "core/spec.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The doubles stand for the decimals that people typed.  Each lies within 2^-53 relative of its decimal.  So their
 * exact sum may pass the budget by 2^-52 relative although the decimals do not (ten times 0.1 against 1). */
static int fits(long double sum, double budget) { return sum <= (long double)budget * (1 + (long double)DBL_EPSILON); }

static tct_status start(const tct_ledger *l, tct_ledger_state *state, tct_error *err) {
  memset(state, 0, sizeof *state);
  tct_mixed_init(&state->mixed, l->epsilon, l->delta);
  if (l->filter == TCT_FILTER_SUM || l->filter == TCT_FILTER_MIXED) return TCT_OK;
  return tct_filter_init(&state->filter, l->filter, l->neighbours, l->epsilon, l->delta, err);
}

/* What a run or a reservation costs. */
typedef struct cost {
  double epsilon, delta;
  const tct_events *events;
} cost;

static tct_status add_events(const tct_events *events, int64_t times, tct_filter *filter, tct_error *err) {
  for (int64_t i = 0; i < events->len; i++) {
    tct_event event = events->at[i];
    if (__builtin_mul_overflow(event.count, times, &event.count)) return TCT_E_BUDGET;
    TCT_TRY(tct_filter_spend(filter, &event, err));
  }
  return TCT_OK;
}

/* Adds so many equal runs, all or nothing; of the mixed filter, which counts them itself, one. */
static tct_status add_times(const tct_ledger *l, const cost *run, int64_t times, tct_ledger_state *state,
                            tct_error *err) {
  tct_ledger_state next = *state;
  tct_spend form[TCT_FORMS];
  next.epsilon = tct_sum_up(next.epsilon, (long double)times * run->epsilon);
  next.delta = tct_sum_up(next.delta, (long double)times * TCT_POINT(ledger_forgets_delta, run->delta, 0));
  if (l->filter == TCT_FILTER_SUM) {
    if (!fits(next.epsilon, l->epsilon) || !fits(next.delta, l->delta)) return TCT_E_BUDGET;
  } else if (l->filter == TCT_FILTER_MIXED) {
    tct_mixed_forms(run->events, l->neighbours, run->epsilon, run->delta, form);
    TCT_TRY(tct_mixed_spend(&next.mixed, form));
  } else {
    TCT_TRY(add_events(run->events, times, &next.filter, err));
  }
  *state = next;
  return TCT_OK;
}

static tct_status add(const tct_ledger *l, const cost *run, tct_ledger_state *state, tct_error *err) {
  return add_times(l, run, 1, state, err);
}

/* By doubling and halving. */
static int64_t more(const tct_ledger *l, const cost *run, const tct_ledger_state *state) {
  tct_spend form[TCT_FORMS];
  int next = 0;
  int64_t low = 0, high = 1, most = (int64_t)1 << 40;
  tct_ledger_state try = *state;
  if (state->overspent) return 0;
  if (l->filter == TCT_FILTER_MIXED) {
    tct_mixed_forms(run->events, l->neighbours, run->epsilon, run->delta, form);
    return tct_mixed_times(&state->mixed, form, &next);
  }
  while (high <= most && add_times(l, run, high, &try, NULL) == TCT_OK) low = high, high *= 2, try = *state;
  while (low < most && high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    try = *state;
    *(add_times(l, run, middle, &try, NULL) == TCT_OK ? &low : &high) = middle;
  }
  return low;
}

tct_status tct_ledger_state_of(const tct_ledger *l, tct_ledger_state *state, tct_error *err) {
  TCT_TRY(start(l, state, err));
  for (int64_t i = 0; i < l->len; i++) {
    const tct_ledger_run *run = &l->runs[i];
    if (add(l, &(cost){run->epsilon, run->delta, &run->events}, state, NULL) == TCT_OK) continue;
    state->overspent = 1; /* by hand or by another version's figures; nothing more is permitted */
    state->epsilon += run->epsilon;
    state->delta += run->delta;
  }
  return TCT_OK;
}

/* Adds what is reserved for others than `own`; returns the last of their ends, or NULL. */
static const char *add_reserved(const tct_ledger *l, const char *own, tct_ledger_state *state) {
  const char *end = NULL;
  for (int64_t i = 0; i < l->reserved; i++) {
    const tct_ledger_reservation *r = &l->reservations[i];
    if (!tct_ledger_is_reserved(r) || (own && !strcmp(own, r->id))) continue;
    if (add(l, &(cost){r->epsilon, r->delta, &r->events}, state, NULL) != TCT_OK)
      state->overspent = 1; /* nothing is left */
    if (!end || strcmp(end, r->end) < 0) end = r->end;
  }
  return end;
}

static tct_status refuse(const tct_ledger *l, const tct_ledger_promise *p, const char *why, tct_error *err) {
  char asked[32], asked_delta[32], total[32], total_delta[32];
  tct_print_real(p->epsilon, asked, sizeof asked);
  tct_print_real(p->delta, asked_delta, sizeof asked_delta);
  tct_print_real(l->epsilon, total, sizeof total);
  tct_print_real(l->delta, total_delta, sizeof total_delta);
  return tct_fail(err, TCT_E_BUDGET,
                  "the ledger refuses a run of epsilon %s, delta %s: %s (budget epsilon %s, delta %s, filter %s); ask "
                  "for less, {show_ledger} shows what is left",
                  asked, asked_delta, why, total, total_delta, tct_ledger_filter_name(l->filter));
}

tct_status tct_ledger_permit(const tct_ledger *l, const tct_ledger_promise *p, tct_ledger_state *state,
                             tct_error *err) {
  char words[120];
  tct_error why = {0};
  if (p->neighbours != l->neighbours)
    return tct_fail(err, TCT_E_BUDGET,
                    "the ledger's budget is for another neighbour relation than this run's; run with the ledger's");
  if (!p->events->len || !(p->epsilon > 0) || !isfinite(p->epsilon) || !(p->delta >= 0 && p->delta < 1))
    return tct_fail(err, TCT_E_BUDGET, "a run without privacy cannot be charged to a ledger; leave the ledger out");
  if (TCT_POINT(overspent_ledger_permits_again, state->overspent, false))
    return refuse(l, p, "more than the budget is recorded already", err);
  const cost run = {p->epsilon, p->delta, p->events};
  tct_ledger_state before = *state, after;
  tct_status status = add(l, &run, state, &why);
  if (status == TCT_E_USAGE) return refuse(l, p, "it has an event that the ledger's filter cannot add up", err);
  if (status != TCT_OK) return refuse(l, p, "that is more than is left", err);
  after = *state; /* one filter asks for the order, which is the others' to choose: before and after this run */
  const char *end = add_reserved(l, p->reserved, &before);
  add_reserved(l, p->reserved, &after);
  if (TCT_POINT(reservations_keep_nothing, !end, end != NULL) ||
      (!before.overspent && !after.overspent && add(l, &run, &before, NULL) == TCT_OK))
    return TCT_OK;
  snprintf(words, sizeof words, "that is more than is left beside what is reserved until %s", end);
  return refuse(l, p, words, err);
}

/* The epsilon at the ledger's delta that a spent amount stands for. */
static tct_status converted(const tct_ledger *l, const char *accountant, tct_event event, double *epsilon,
                            tct_error *err) {
  tct_bracket bracket = {0, INFINITY};
  tct_events list = {&event, 1, 1};
  const tct_accountant *a = tct_accountant_find(accountant);
  if (a) TCT_TRY(a->epsilon(&list, l->neighbours, l->delta, TCT_PRECISION, &bracket, err));
  *epsilon = bracket.upper;
  return TCT_OK;
}

/* The order with the largest share left; what is spent at it, as epsilon. */
static void of_orders(const tct_filter *f, tct_ledger_account *out) {
  double best = -INFINITY;
  out->epsilon = INFINITY;
  for (int i = 0; i < f->orders; i++) {
    if (!(f->order_budget[i] > 0)) continue;
    double share = 1 - f->order_spent[i] / f->order_budget[i];
    out->epsilon = fmin(out->epsilon, f->epsilon - (f->order_budget[i] - f->order_spent[i]));
    if (share <= best) continue;
    best = share;
    out->budget = f->order_budget[i];
    out->spent = f->order_spent[i];
    out->order = f->order[i];
  }
}

static tct_status amounts(const tct_ledger *l, const tct_ledger_state *state, tct_ledger_account *out, tct_error *err) {
  static const char *const units[] = {[TCT_FILTER_ZCDP] = "rho",
                                      [TCT_FILTER_GDP] = "mu_squared",
                                      [TCT_FILTER_RDP] = "renyi",
                                      [TCT_FILTER_SUM] = "epsilon",
                                      [TCT_FILTER_MIXED] = "epsilon"};
  bool any = state->epsilon > 0;
  *out = (tct_ledger_account){.unit = units[l->filter], .order = NAN, .delta = any ? l->delta : 0};
  out->budget = state->filter.budget;
  out->spent = state->filter.spent;
  if (l->filter == TCT_FILTER_SUM) {
    out->budget = l->epsilon;
    out->spent = out->epsilon = (double)state->epsilon;
    out->delta = (double)state->delta;
  }
  if (l->filter == TCT_FILTER_MIXED) {
    out->budget = l->epsilon;
    tct_mixed_claim(&state->mixed, &out->epsilon, &out->delta);
    out->spent = out->epsilon;
  }
  double sensitivity = l->neighbours == TCT_REPLACE_ONE ? 2 : 1; /* mu = sensitivity/noise */
  if (l->filter == TCT_FILTER_ZCDP && any)
    TCT_TRY(converted(l, "zcdp", tct_event_zcdp(out->spent, 1), &out->epsilon, err));
  if (l->filter == TCT_FILTER_GDP && any)
    TCT_TRY(converted(l, "gdp", tct_event_gaussian(sensitivity / sqrt(out->spent), 1), &out->epsilon, err));
  if (l->filter == TCT_FILTER_RDP) {
    of_orders(&state->filter, out);
    if (!any) out->epsilon = 0;
  }
  if (state->overspent && out->spent < out->budget) out->spent = out->budget;
  if (state->overspent && out->epsilon < l->epsilon) out->epsilon = l->epsilon;
  out->left = fmax(0, out->budget - out->spent);
  out->epsilon_left = fmax(0, l->epsilon - out->epsilon);
  out->delta_left =
      l->filter == TCT_FILTER_SUM || l->filter == TCT_FILTER_MIXED ? fmax(0, l->delta - out->delta) : l->delta;
  return TCT_OK;
}

tct_status tct_ledger_account_of(const tct_ledger *l, tct_ledger_account *out, tct_error *err) {
  tct_ledger_state state;
  tct_ledger_account beside;
  TCT_TRY(tct_ledger_state_of(l, &state, err));
  TCT_TRY(amounts(l, &state, out, err));
  if (add_reserved(l, NULL, &state)) {
    TCT_TRY(amounts(l, &state, &beside, err));
    out->left = beside.left, out->epsilon_left = beside.epsilon_left, out->delta_left = beside.delta_left;
  }
  out->more = -1;
  if (!l->len) return TCT_OK;
  const tct_ledger_run *last = &l->runs[l->len - 1];
  out->more = more(l, &(cost){last->epsilon, last->delta, &last->events}, &state);
  return TCT_OK;
}
