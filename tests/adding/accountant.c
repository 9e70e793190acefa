/* dummy.c - the plain sum of the epsilons of steps that are their whole cost. */
#include "account/account.h"

#include <math.h>
#include <stdio.h>

static bool applies(const tct_events *events, tct_neighbours neighbours, char *why, size_t size) {
  (void)neighbours;
  for (int64_t i = 0; i < events->len; i++) {
    if (tct_event_kinds[events->at[i].kind].flags & TCT_EVENT_PURE) continue;
    snprintf(why, size, "%s is not pure", tct_event_name(events->at[i].kind));
    return false;
  }
  return true;
}

static double sum(const tct_events *events) {
  double total = 0;
  for (int64_t i = 0; i < events->len; i++) total += events->at[i].epsilon * (double)events->at[i].count;
  return total * (1 + 1e-15 * (double)(events->len + 1));
}

static tct_status epsilon_of(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                             tct_bracket *out, tct_error *err) {
  (void)neighbours, (void)delta, (void)precision, (void)err;
  *out = (tct_bracket){0, sum(events)};
  return TCT_OK;
}

static tct_status delta_of(const tct_events *events, tct_neighbours neighbours, double epsilon, double precision,
                           tct_bracket *out, tct_error *err) {
  (void)neighbours, (void)precision, (void)err;
  *out = (tct_bracket){0, sum(events) <= epsilon ? 0 : 1};
  return TCT_OK;
}

const tct_accountant tct_accountant_dummy = {"dummy", "plain sum of pure steps", applies, epsilon_of, delta_of, false};
