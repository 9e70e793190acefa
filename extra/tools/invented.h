/* invented.h - a table of nobody's records, as a schema and what its user assumes describe it. */
#ifndef TCT_TOOLS_INVENTED_H
#define TCT_TOOLS_INVENTED_H
#include "loss/loss.h"
#include "read/schema/schema.h"

/* rows records without labels.  Numbers are even between their bounds, and levels alike, or as `assume` says.  Of a
 * number it has [mean, deviation] or [mean, deviation, R2], the part of its variance that the other columns explain. Of
 * a category it has the shares of its levels.  Half of the values whose gaps are marked are missing in half of the
 * records. */
tct_data *tct_invent_table(const tct_read_options *read, int64_t rows, const json_t *assume, tct_error *err);
/* y[rows] <- labels of the loss at margins eta[rows], of which differences count.  assumed: the share of positives or
 * of events until the end, the mean of counts and amounts, the deviation of numbers; NAN: a usual one.  label numbers
 * lie in [low, high]; of follow-up times `high` is the horizon. */
void tct_invent_labels(const tct_loss *loss, double assumed, double low, double high, double *eta, int64_t rows,
                       double *y);
#endif
