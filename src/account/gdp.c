/* gdp.c - Gaussian differential privacy: gaussian events compose exactly, mu^2 = sum of (factor/noise)^2. */
#include "account/curves/compare.h"
#include "account/account.h"
#include "account/curves/normal.h"
#include "account/curves/renyi.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

static bool gdp_applies(const tct_events *events, tct_neighbours neighbours, char *why, size_t size) {
  (void)neighbours;
  for (int64_t i = 0; i < events->len; i++) {
    const tct_event *e = &events->at[i];
    if (tct_event_is_gaussian(e)) continue;
    snprintf(why, size, "%s is not a gaussian event", tct_event_name(e->kind));
    return false;
  }
  return true;
}

static double total_mu(const tct_events *events, tct_neighbours neighbours) {
  double sum = 0, factor = tct_neighbour_factor(neighbours);
  for (int64_t i = 0; i < events->len; i++) {
    double mu = factor / events->at[i].noise;
    sum += (double)events->at[i].count * tct_max(mu * mu, DBL_MIN); /* never rounded down to nothing */
  }
  return sqrt(sum);
}

/* What rounding may have moved: mu by len units in the last place, epsilon by the curve's own error. */
static double gdp_margin(const tct_events *events) { return TCT_MARGIN + 4e-16 * (double)events->len; }

static tct_status gdp_epsilon(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                              tct_bracket *out, tct_error *err) {
  (void)precision, (void)err;
  double mu = total_mu(events, neighbours), margin = gdp_margin(events);
  *out = (tct_bracket){0, 0};
  if (events->len == 0) return TCT_OK;
  /* Beyond 1e150 mu^2 overflows; the lower end stays a true one. */
  if (!(mu < 1e150)) return *out = (tct_bracket){isinf(mu) ? INFINITY : 1e150, INFINITY}, TCT_OK;
  double pair[2];
  tct_gaussian_bracket(mu, delta, margin, pair);
  *out = (tct_bracket){tct_lower(pair[0]), tct_upper(pair[1])};
  return TCT_OK;
}

static tct_status gdp_delta(const tct_events *events, tct_neighbours neighbours, double epsilon, double precision,
                            tct_bracket *out, tct_error *err) {
  (void)precision, (void)err;
  double mu = total_mu(events, neighbours);
  *out = (tct_bracket){0, 0};
  if (events->len == 0) return TCT_OK;
  if (!(mu < 1e150)) return *out = (tct_bracket){isinf(mu) ? 1 : 0, 1}, TCT_OK;
  double slope, value = tct_gaussian_log_delta(mu, epsilon, &slope);
  /* A relative error r in mu moves log delta by at most (|slope| epsilon + mu |z| + 1) r. */
  double margin = gdp_margin(events) * (2 + fabs(slope) * (epsilon + mu) + fabs(value));
  out->lower = tct_lower(exp(value - margin));
  out->upper = tct_upper_mass(exp(value + margin));
  return TCT_OK;
}

const tct_accountant tct_accountant_gdp = {
    "gdp", "exact curve of composed gaussian events", gdp_applies, gdp_epsilon, gdp_delta, false,
};
