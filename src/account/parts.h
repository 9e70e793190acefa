/* parts.h - the cost of a list by its parts alone. */
#ifndef TCT_ACCOUNT_PARTS_H
#define TCT_ACCOUNT_PARTS_H
#include "account/account.h"

/* Lowers *upper to the sum over the parts, where that is less.  A list of more than 32 other events, or whose parts
 * take half a second of counted work, leaves it as it is. */
tct_status tct_parts_epsilon(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                             double *upper, tct_error *err);
#endif
