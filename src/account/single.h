/* single.h - the exact privacy curve of one repetition of an event, in closed form. */
#ifndef TCT_ACCOUNT_SINGLE_H
#define TCT_ACCOUNT_SINGLE_H
#include "event/event.h"

/* Does the kind have one?  It is the curve of the worst mechanism of the kind, so both ends of a bracket. */
bool tct_single_has(const tct_event *event);
/* A bracket out[0] <= epsilon <= out[1] of one repetition at delta in (0, 1); the count is not looked at. */
void tct_single_epsilon(const tct_event *event, tct_neighbours neighbours, double delta, double out[2]);
/* The same for delta at epsilon >= 0. */
void tct_single_delta(const tct_event *event, tct_neighbours neighbours, double epsilon, double out[2]);

/* What no accountant may undercut: the gaussian events of the list alone, and each other event alone. */
tct_status tct_floor_epsilon(const tct_events *events, tct_neighbours neighbours, double delta, double *floor,
                             tct_error *err);
#endif
