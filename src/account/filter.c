/* filter.c - may the next, adaptively chosen event still be spent?
 *
 * Each filter stops before a sum of costs exceeds a bound fixed beforehand: rho (Feldman and Zrnic
 * 2021, Whitehouse et al. 2023), mu^2 of Gaussian steps (Smith and Thakurta 2022), the Renyi
 * divergence at fixed orders, or the plain sum of epsilon and delta.  Sums are compared after rounding up.
 *
 * Renyi, k orders: a step is permitted where any one order permits the whole list, and which one that is depends on
 * the outputs.  Let S be a set of outputs, S_k those on which order k is the one that permitted the last step: there
 * P[S_k] <= e^epsilon Q[S_k] + delta_k.  Summing gives delta = sum of delta_k and no better in general, so each order
 * converts with its own share of delta, and few orders are worth more than many. */
#include "account/account.h"
#include "account/curves/normal.h"
#include "account/curves/renyi.h"
#include "core/point.h"

#include <math.h>
#include <string.h>

static double rho_divergence(double alpha, const void *user) { return alpha * *(const double *)user; }

static double rho_cost(double rho, double delta) {
  tct_renyi curve = {rho_divergence, &rho, 1e9};
  return tct_renyi_epsilon(&curve, delta, NULL);
}

/* The largest rho of cost at most epsilon, by halving on the logarithm. */
static double largest_rho(double epsilon, double delta) {
  double low = log(1e-300), high = log(1e12);
  if (rho_cost(exp(low), delta) > epsilon) return 0;
  while (high - low > 1e-13) {
    double middle = 0.5 * (low + high);
    if (middle == low || middle == high) break;
    *(rho_cost(exp(middle), delta) <= epsilon ? &low : &high) = middle;
  }
  return exp(low) * (1 - TCT_MARGIN);
}

/* By halving on the logarithm, as well: the curve itself is asked, which is quicker than its inverse. */
double tct_filter_mu2(double epsilon, double delta) {
  double low = log(1e-300), high = log(1e12), most = epsilon * (1 - TCT_MARGIN);
  if (!(epsilon > 0 && delta > 0) || tct_gaussian_log_delta(1e-150, most, NULL) > log(delta)) return 0;
  while (high - low > 1e-13) {
    double middle = 0.5 * (low + high);
    if (middle == low || middle == high) break;
    *(tct_gaussian_log_delta(exp(0.5 * middle), most, NULL) <= log(delta) ? &low : &high) = middle;
  }
  return exp(low) * (1 - TCT_MARGIN);
}

/* The share of delta that an order gets, and its distance from the best one.  Most lists are best bounded at or near
 * the order that is best for Gaussian ones.  Each order more costs all the others some delta. */
static const struct { double share, stretch; } orders[] = {{0.25, 0.5}, {0.5, 1}, {0.25, 2}};
enum { ORDERS = sizeof orders / sizeof *orders, ORDER_GRID = 4000 };

/* The order at which the budget buys the most Gaussian steps, whose divergence is proportional to it. */
static double best_order(double epsilon, double delta) {
  double best = 2, max = 0;
  for (int i = 0; i < ORDER_GRID; i++) {
    double alpha = 1 + 1e-3 * pow(1e9, i / (ORDER_GRID - 1.0));
    double steps = (epsilon - tct_renyi_epsilon_at(alpha, 0, delta)) / alpha;
    if (steps > max) max = steps, best = alpha;
  }
  return best;
}

/* A function of epsilon and delta alone: fixed before the first step. */
static void fix_orders(tct_filter *f) {
  double best = best_order(f->epsilon, 0.5 * f->delta);
  f->orders = ORDERS;
  for (int i = 0; i < ORDERS; i++) {
    f->order[i] = 1 + (best - 1) * orders[i].stretch;
    double budget = f->epsilon - tct_renyi_epsilon_at(f->order[i], 0, orders[i].share * f->delta);
    f->order_budget[i] = budget > 0 ? budget * (1 - TCT_MARGIN) : -1; /* -1: this order proves nothing */
  }
}

tct_status tct_filter_init(tct_filter *filter, tct_filter_kind kind, tct_neighbours neighbours, double epsilon,
                           double delta, tct_error *err) {
  bool plain = kind == TCT_FILTER_SUM;
  if (!(epsilon > 0) || !(delta >= 0 && delta < 1) || (delta == 0 && !plain))
    return tct_fail(err, TCT_E_USAGE, "a filter needs epsilon above 0 and delta in (0, 1)");
  memset(filter, 0, sizeof *filter);
  filter->kind = kind;
  filter->neighbours = neighbours;
  filter->epsilon = filter->budget = epsilon;
  filter->delta = delta;
  if (kind == TCT_FILTER_ZCDP) filter->budget = largest_rho(epsilon, delta);
  if (kind == TCT_FILTER_GDP) filter->budget = tct_filter_mu2(epsilon, delta);
  if (kind == TCT_FILTER_RDP) fix_orders(filter);
  return TCT_OK;
}

static tct_status refuse_kind(const tct_event *event, const char *filter, tct_error *err) {
  return tct_fail(err, TCT_E_USAGE, "the %s filter has no cost for %s under this relation; use another filter", filter,
                  tct_event_name(event->kind));
}

static tct_status refuse_budget(tct_error *err) {
  return tct_fail(err, TCT_E_BUDGET, "the privacy budget does not allow this step; nothing was charged");
}

static double add_up(double spent, double cost, double count) { return (spent + cost * count) * (1 + 4e-16); }

static tct_status spend_one_number(tct_filter *f, double cost, double count, tct_error *err) {
  double spent = add_up(f->spent, cost, count);
  if (!(spent <= f->budget)) return refuse_budget(err);
  f->spent = spent;
  return TCT_OK;
}

static tct_status spend_sum(tct_filter *f, const tct_event *e, tct_error *err) {
  if (e->kind != TCT_EV_PURE && e->kind != TCT_EV_APPROX && e->kind != TCT_EV_EXPONENTIAL && e->kind != TCT_EV_LAPLACE)
    return refuse_kind(e, "sum", err);
  double delta_spent = e->kind == TCT_EV_APPROX ? add_up(f->delta_spent, e->delta, (double)e->count) : f->delta_spent;
  if (!(TCT_POINT(sum_filter_never_compares_delta, delta_spent, 0) <= f->delta)) return refuse_budget(err);
  TCT_TRY(spend_one_number(f, tct_event_pure_epsilon(e, f->neighbours), (double)e->count, err));
  f->delta_spent = TCT_POINT(sum_filter_forgets_delta, delta_spent, f->delta_spent);
  return TCT_OK;
}

static tct_status spend_orders(tct_filter *f, const tct_event *e, tct_error *err) {
  char why[128];
  double spent[TCT_FILTER_ORDERS];
  bool within = false;
  if (e->kind == TCT_EV_APPROX || e->kind == TCT_EV_OBJPERT || !tct_renyi_has(e, f->neighbours, why, sizeof why))
    return refuse_kind(e, "rdp", err);
  for (int i = 0; i < f->orders; i++) {
    spent[i] = f->order_spent[i];
    if (!(spent[i] <= f->order_budget[i])) continue; /* an order once passed is lost */
    spent[i] = add_up(spent[i], tct_event_renyi(e, f->neighbours, f->order[i]), (double)e->count);
    within |= spent[i] <= f->order_budget[i];
  }
  if (!within) return refuse_budget(err);
  memcpy(f->order_spent, spent, sizeof spent);
  return TCT_OK;
}

tct_status tct_filter_spend(tct_filter *filter, const tct_event *event, tct_error *err) {
  TCT_TRY(tct_event_check(event, err));
  double rho = tct_event_rho(event, filter->neighbours);
  switch (filter->kind) {
    case TCT_FILTER_ZCDP: /* a sampled event is charged without amplification: it has no smaller rho */
      if (isnan(rho) || event->kind == TCT_EV_APPROX) return refuse_kind(event, "zcdp", err);
      return spend_one_number(filter, rho, (double)event->count, err);
    case TCT_FILTER_GDP:
      if (!tct_event_is_gaussian(event)) return refuse_kind(event, "gdp", err);
      return spend_one_number(filter, 2 * rho, (double)event->count, err);
    case TCT_FILTER_RDP: return spend_orders(filter, event, err);
    case TCT_FILTER_SUM: return spend_sum(filter, event, err);
    case TCT_FILTER_MIXED: break; /* asks for runs (mixed.h) */
  }
  return tct_fail(err, TCT_E_USAGE, "no filter of single events; use zcdp, gdp, rdp or sum");
}
