/* pld.h - the privacy loss distribution accountant, for callers that need only one side. */
#ifndef TCT_ACCOUNT_PLD_H
#define TCT_ACCOUNT_PLD_H
#include "account/account.h"

/* The upper bound alone (out->lower = 0): what a calibration asks for, at a third of the cost. */
tct_status tct_pld_epsilon_upper(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                                 tct_bracket *out, tct_error *err);

/* What a calibration needs of the accountants (account.c): `quick` leaves pld out, otherwise only its upper bound is
 * asked for; out->epsilon_lower is then 0. */
tct_status tct_account_upper(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                             bool quick, tct_cost *out, tct_error *err);
#endif
