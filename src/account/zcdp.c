/* zcdp.c - zero-concentrated privacy: the sum of rho, converted tightly.
 *
 * A failure delta0 of approx events is taken off delta first; the rest is their epsilon0^2/2.
 * Sampling is not rewarded: a sampled gaussian event is charged like one that is not. */
#include "account/curves/compare.h"
#include "account/account.h"
#include "account/curves/normal.h"
#include "account/curves/renyi.h"

#include <math.h>
#include <stdio.h>

static bool zcdp_applies(const tct_events *events, tct_neighbours neighbours, char *why, size_t size) {
  for (int64_t i = 0; i < events->len; i++) {
    if (!isnan(tct_event_rho(&events->at[i], neighbours))) continue;
    snprintf(why, size, "%s has no rho", tct_event_name(events->at[i].kind));
    return false;
  }
  return true;
}

static double total_rho(const tct_events *events, tct_neighbours neighbours) {
  double rho = 0;
  for (int64_t i = 0; i < events->len; i++)
    rho += (double)events->at[i].count * tct_event_rho(&events->at[i], neighbours);
  return rho * (1 + 4e-16 * (double)(events->len + 4));
}

static double zcdp_divergence(double alpha, const void *user) { return alpha * *(const double *)user; }

static tct_status zcdp_epsilon(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                               tct_bracket *out, tct_error *err) {
  (void)precision, (void)err;
  double rho = total_rho(events, neighbours);
  tct_renyi curve = {zcdp_divergence, &rho, 1e9};
  double left = tct_delta_left(delta, tct_events_failure(events));
  *out = (tct_bracket){0, rho == 0 && left > 0 ? 0 : rho < INFINITY ? tct_renyi_epsilon(&curve, left, NULL) : INFINITY};
  return TCT_OK;
}

static tct_status zcdp_delta(const tct_events *events, tct_neighbours neighbours, double epsilon, double precision,
                             tct_bracket *out, tct_error *err) {
  (void)precision, (void)err;
  double rho = total_rho(events, neighbours), failure = tct_events_failure(events);
  tct_renyi curve = {zcdp_divergence, &rho, 1e9};
  double delta = rho == 0 ? 0 : rho < INFINITY ? tct_renyi_delta(&curve, epsilon, NULL) : 1;
  *out = (tct_bracket){0, tct_upper_mass((failure + (1 - failure) * delta) * (1 + TCT_MARGIN))};
  return TCT_OK;
}

const tct_accountant tct_accountant_zcdp = {
    "zcdp", "sum of rho, converted by Canonne, Kamath and Steinke 2020", zcdp_applies, zcdp_epsilon, zcdp_delta, false,
};
