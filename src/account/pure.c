/* pure.c - the sum of epsilons at delta 0, rounded upwards.
 *
 * At delta 0 the cost of a list is the largest privacy loss that it can show.  Losses of independent steps add, and so
 * do their largest values: basic composition is exact (Dwork and Roth 2014, Theorem 3.14), also where later steps look
 * at earlier outputs.  Each kind here comes as near to its own epsilon as one likes (single.c), so the sum is the lower
 * end of the bracket as well.  Gaussian noise has no largest loss, and no epsilon at delta 0.
 *
 * The discrete Laplace law that is drawn shows at most the continuous one's epsilon0 (discrete_laplace.c); its slack
 * there is for delta above 0.
 *
 * ROUNDING  Each quotient, product and sum is rounded upwards, for the lower end downwards (compare.h). */
#include "account/pure.h"

#include "account/curves/compare.h"
#include "account/curves/renyi.h"
#include "core/point.h"

#include <math.h>

bool tct_event_has_pure(const tct_event *e) {
  return tct_event_is_pure(e) &&
         (e->kind != TCT_EV_APPROX || TCT_POINT(approx_delta_forgotten_at_delta_0, e->delta == 0, true));
}

/* end: INFINITY for the upper end, 0 for the lower. */
static double one(const tct_event *e, tct_neighbours neighbours, double end) {
  double epsilon = e->kind == TCT_EV_LAPLACE ? tct_quotient(tct_neighbour_factor(neighbours), e->noise, end)
                                             : tct_event_pure_epsilon(e, neighbours);
  return tct_product(tct_count(e->count, end), epsilon, end);
}

double tct_pure_sum(const tct_events *events, tct_neighbours neighbours, double end) {
  double all = 0;
  for (int64_t i = 0; i < events->len; i++)
    if (tct_event_is_pure(&events->at[i])) all = tct_sum(all, one(&events->at[i], neighbours, end), end);
  return isfinite(all) ? all : INFINITY;
}

void tct_pure_epsilon(const tct_events *events, tct_neighbours neighbours, double out[2]) {
  bool has = true;
  for (int64_t i = 0; i < events->len; i++) has = has && tct_event_has_pure(&events->at[i]);
  for (int k = 0; k < 2; k++) out[k] = has ? tct_pure_sum(events, neighbours, k ? INFINITY : 0) : INFINITY;
}

tct_status tct_pure_refuse(const tct_events *events, tct_error *err) {
  for (int64_t i = 0; i < events->len; i++)
    if (!tct_event_has_pure(&events->at[i]))
      return tct_fail(
          err, TCT_E_USAGE,
          "%s has no epsilon at delta 0; give a delta above 0, or only laplace, exponential and pure events",
          tct_event_name(events->at[i].kind));
  return TCT_OK;
}
