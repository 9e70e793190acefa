/* rdp.c - Renyi privacy: the sum of divergences at the best real order. */
#include "account/curves/compare.h"
#include "account/account.h"
#include "account/curves/normal.h"
#include "account/curves/renyi.h"
#include "account/curves/work.h"

#include <math.h>

typedef struct rdp_list {
  const tct_events *events;
  tct_neighbours neighbours;
} rdp_list;

static bool rdp_applies(const tct_events *events, tct_neighbours neighbours, char *why, size_t size) {
  for (int64_t i = 0; i < events->len; i++)
    if (!tct_renyi_has(&events->at[i], neighbours, why, size)) return false;
  return true;
}

static double rdp_divergence(double alpha, const void *user) {
  const rdp_list *list = user;
  double sum = 0;
  if (!tct_work_pay(100 * (double)list->events->len)) return INFINITY;
  for (int64_t i = 0; i < list->events->len; i++)
    sum += (double)list->events->at[i].count * tct_event_renyi(&list->events->at[i], list->neighbours, alpha);
  return sum * (1 + 4e-16 * (double)(list->events->len + 4));
}

/* Orders above 1 + 2s^2 log(1/rate) + 40s see the sampled Gaussian as if it were not sampled (the second
 * hump of the moment has taken over), and 2000 s bounds the work of the quadrature. */
static double largest_order(const tct_events *events) {
  double order = 1e9;
  for (int64_t i = 0; i < events->len; i++) {
    const tct_event *e = &events->at[i];
    if (e->kind != TCT_EV_SAMPLED_GAUSSIAN || e->rate == 1) continue;
    double s = e->noise, limit = 4 - 2 * s * s * log(e->rate) + 40 * s;
    order = tct_min(order, tct_min(limit, 4 + 2000 * s));
  }
  return order;
}

static tct_status rdp_epsilon(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                              tct_bracket *out, tct_error *err) {
  (void)precision, (void)err;
  rdp_list list = {events, neighbours};
  tct_renyi curve = {rdp_divergence, &list, largest_order(events)};
  double left = tct_delta_left(delta, tct_events_failure(events));
  if (left > 0 && rdp_divergence(2, &list) == 0)
    *out = (tct_bracket){0, 0};
  else
    *out = (tct_bracket){0, tct_renyi_epsilon(&curve, left, NULL)};
  return TCT_OK;
}

static tct_status rdp_delta(const tct_events *events, tct_neighbours neighbours, double epsilon, double precision,
                            tct_bracket *out, tct_error *err) {
  (void)precision, (void)err;
  rdp_list list = {events, neighbours};
  tct_renyi curve = {rdp_divergence, &list, largest_order(events)};
  double failure = tct_events_failure(events);
  double delta = rdp_divergence(2, &list) == 0 ? 0 : tct_renyi_delta(&curve, epsilon, NULL);
  *out = (tct_bracket){0, tct_upper_mass((failure + (1 - failure) * delta) * (1 + TCT_MARGIN))};
  return TCT_OK;
}

const tct_accountant tct_accountant_rdp = {
    "rdp", "sum of Renyi divergences at the best real order", rdp_applies, rdp_epsilon, rdp_delta, false,
};
