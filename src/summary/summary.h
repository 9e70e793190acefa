/* summary.h - the lines of a table of weights. */
#ifndef TCT_SUMMARY_SUMMARY_H
#define TCT_SUMMARY_SUMMARY_H
#include "summary/original.h"

/* {"weights", "intercept"}: each with its errors, intervals and tests; "covariance" where it is asked for.  model: its
 * weights, features and inference are looked at.  NULL: out of memory. */
json_t *tct_summary_lines(const tct_model *model, const tct_original *original, double level, bool covariance);
/* TCT_E_USAGE: it does not lie strictly between 0 and 1. */
tct_status tct_summary_level(double level, tct_error *err);
#endif
