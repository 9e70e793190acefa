/* kov.h - the optimal composition of equal epsilon0-DP steps (Kairouz, Oh and Viswanath 2015). */
#ifndef TCT_ACCOUNT_KOV_H
#define TCT_ACCOUNT_KOV_H
#include "core/status.h"

/* A bracket on the smallest epsilon at delta in (0,1) of `count` steps, each epsilon0-DP: exact up to
 * rounding. */
tct_status tct_kov_epsilon(double epsilon0, int64_t count, double delta, double out[2], tct_error *err);
/* A bracket on delta at epsilon. */
tct_status tct_kov_delta(double epsilon0, int64_t count, double epsilon, double out[2], tct_error *err);
/* An upper bound on it in closed form, for counts of 100 and more; what the others answer where there are too many
 * atoms to sum.  Within .2 percent of epsilon at 1e15 steps. */
double tct_kov_closed_delta(double epsilon0, int64_t count, double epsilon);
#endif
