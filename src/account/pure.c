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
 * ROUNDING  Each quotient, product and sum is rounded upwards, for the lower end downwards.  fma and two-sum give its
 * exact error, so a sum that is a double stays what it is. */
#include "account/pure.h"

#include "account/curves/renyi.h"
#include "core/point.h"

#include <math.h>

/* value, whose exact counterpart is value + rest, moved towards the end where the rest lies beyond it. */
static double rounded(double value, double rest, double end) {
  bool beyond = end > 0 ? rest > 0 : rest < 0;
  return TCT_POINT(pure_sum_rounded_to_nearest, beyond, false) ? nextafter(value, end) : value;
}

static double quotient(double a, double b, double end) {
  double value = a / b;
  return rounded(value, -fma(value, b, -a), end);
}

static double product(double a, double b, double end) {
  double value = a * b;
  return rounded(value, fma(a, b, -value), end);
}

static double sum(double a, double b, double end) {
  double value = a + b, part = value - a, rest = (a - (value - part)) + (b - part);
  return rounded(value, rest, end);
}

/* A count as a double, above 2^53 with the conversion's own rounding. */
static double count_of(int64_t count, double end) {
  double value = (double)count;
  return value < 0x1p53 ? value : nextafter(value, end);
}

bool tct_event_has_pure(const tct_event *e) {
  return tct_event_is_pure(e) &&
         (e->kind != TCT_EV_APPROX || TCT_POINT(approx_delta_forgotten_at_delta_0, e->delta == 0, true));
}

/* end: INFINITY for the upper end, 0 for the lower. */
static double one(const tct_event *e, tct_neighbours neighbours, double end) {
  double epsilon = e->kind == TCT_EV_LAPLACE ? quotient(tct_neighbour_factor(neighbours), e->noise, end)
                                             : tct_event_pure_epsilon(e, neighbours);
  return product(count_of(e->count, end), epsilon, end);
}

void tct_pure_epsilon(const tct_events *events, tct_neighbours neighbours, double out[2]) {
  out[0] = out[1] = 0;
  for (int64_t i = 0; i < events->len; i++) {
    const tct_event *e = &events->at[i];
    bool has = tct_event_has_pure(e);
    for (int k = 0; k < 2; k++) {
      double end = k ? INFINITY : 0, own = has ? one(e, neighbours, end) : INFINITY;
      out[k] = isfinite(own) && isfinite(out[k]) ? sum(out[k], own, end) : INFINITY;
    }
  }
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
