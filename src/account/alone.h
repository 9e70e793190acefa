/* alone.h - the cost of a list by its parts alone. */
#ifndef TCT_ACCOUNT_ALONE_H
#define TCT_ACCOUNT_ALONE_H
#include "account/account.h"

/* Lowers the upper end of a wide bracket of epsilon to the sum over the parts, where that is less.  Those
 * are the pure events, and each other kind alone at an equal share of delta.  Of a list with more than 32 others, or
 * whose parts take half a second of counted work, nothing changes. */
tct_status tct_sum_alone(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                         tct_bracket *out, tct_error *err);
#endif
