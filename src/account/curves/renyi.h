/* renyi.h - Renyi divergences of the events, and the conversion of a Renyi curve to (epsilon, delta). */
#ifndef TCT_ACCOUNT_CURVES_RENYI_H
#define TCT_ACCOUNT_CURVES_RENYI_H
#include "event/event.h"

/* A Renyi curve: an upper bound on the divergence of order alpha > 1. */
typedef struct tct_renyi {
  double (*at)(double alpha, const void *user);
  const void *user;
  double order_max; /* orders above it are not tried */
} tct_renyi;

/* The smallest epsilon that the curve gives at delta in (0,1] (Canonne, Kamath and Steinke 2020,
 * Prop. 12), at least 0, over real orders; order (may be NULL): the one taken. */
double tct_renyi_epsilon(const tct_renyi *curve, double delta, double *order);
/* The same for delta at epsilon. */
double tct_renyi_delta(const tct_renyi *curve, double epsilon, double *order);
/* What one order gives. */
double tct_renyi_epsilon_at(double alpha, double divergence, double delta);

/* One repetition of the event at order alpha; INFINITY where there is no noise.  The relation must
 * be one that tct_renyi_has accepts. */
double tct_event_renyi(const tct_event *event, tct_neighbours neighbours, double alpha);
bool tct_renyi_has(const tct_event *event, tct_neighbours neighbours, char *why, size_t size);

/* The zCDP parameter of one repetition; INFINITY without noise, NAN if the kind has none. */
double tct_event_rho(const tct_event *event, tct_neighbours neighbours);

/* A gaussian event, or a sampled one at rate 1. */
bool tct_event_is_gaussian(const tct_event *event);
/* Randomised response of this epsilon0 (and delta0) is the event itself or dominates it; laplace, exponential, pure,
 * approx. */
bool tct_event_is_pure(const tct_event *event);
/* What the discrete Laplace noise that is drawn may add to the loss of the continuous one (discrete_laplace.c): 2 log
 * cosh(x/2) <= x^2/4 for a lattice of x scales, x <= 2^-20 and x <= epsilon0.  0 for the other kinds. */
double tct_laplace_slack(const tct_event *event, tct_neighbours neighbours);
/* epsilon0 of laplace, exponential and pure events, else 0; the factor of the relation (1 or 2). */
double tct_event_pure_epsilon(const tct_event *event, tct_neighbours neighbours);
double tct_neighbour_factor(tct_neighbours neighbours);

/* The approx events' chance to fail, 1 - prod (1-delta0)^count, and the delta that remains for the
 * rest of the list: (delta - failure)/(1 - failure); 0 or below: nothing, or less. */
double tct_events_failure(const tct_events *events);
double tct_delta_left(double delta, double failure);

/* Renyi divergence of the Poisson-sampled Gaussian (add_remove), any real order > 1. */
double tct_sampled_gaussian_renyi(double noise, double rate, double alpha);
#endif
