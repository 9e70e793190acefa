/* invented.h - a table of nobody's records, as a schema and what its user assumes describe it. */
#ifndef TCT_TOOLS_INVENTED_H
#define TCT_TOOLS_INVENTED_H
#include "loss/loss.h"
#include "read/schema/schema.h"

/* rows records without labels, of columns that tell nothing of each other.  Numbers are even between their bounds, and
 * levels alike, or as `assume` says.  Of a number it has mean and deviation, of a beta law, of a category the shares of
 * its levels.  Another number after these is R2, the part of the column's variance that the others explain: *r2[
 * features], for tct_free, has it, and NAN where none is said.  Half of the values whose gaps are marked are missing in
 * half of the records. */
tct_data *tct_invent_table(const tct_read_options *read, int64_t rows, const json_t *assume, double **r2,
                           tct_error *err);
/* y[rows] <- labels of the loss at margins eta[rows], of which differences count.  assumed[0]: the share of positives
 * or of events until the end, the mean of counts and amounts, the deviation of numbers; NAN: a usual one.  assumed[1]:
 * the deviation of counts and amounts; 0: that of their law.  Label numbers lie in [low, high]; of follow-up times
 * `high` is the horizon. */
void tct_invent_labels(const tct_loss *loss, const double *assumed, double low, double high, double *eta, int64_t rows,
                       double *y);
/* The i-th of numbers that are even in (0, 1), of series k; no two runs differ. */
double tct_invent_even(int64_t k, int64_t i);
/* The value below which a part u of the normal law lies. */
double tct_invent_normal(double u);
#endif
