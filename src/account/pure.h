/* pure.h - pure epsilon-differential privacy: what a list of events costs at delta 0. */
#ifndef TCT_ACCOUNT_PURE_H
#define TCT_ACCOUNT_PURE_H
#include "event/event.h"

/* Does one repetition have a finite epsilon at delta 0?  laplace, exponential, pure, and approx with delta 0. */
bool tct_event_has_pure(const tct_event *event);
/* The sum of epsilons over the laplace, exponential, pure and approx events, a failure of delta left aside, rounded
 * towards `end`: INFINITY or 0. */
double tct_pure_sum(const tct_events *events, tct_neighbours neighbours, double end);
/* A bracket out[0] <= epsilon <= out[1] of the whole list at delta 0; infinite where an event has none. */
void tct_pure_epsilon(const tct_events *events, tct_neighbours neighbours, double out[2]);
/* Refuses, TCT_E_USAGE, naming the first event without a pure epsilon. */
tct_status tct_pure_refuse(const tct_events *events, tct_error *err);
#endif
