/* bound.h - the record transforms, in order: schema (in the reader), scale, label shift, intercept, rows. */
#ifndef TCT_TRAIN_BOUND_H
#define TCT_TRAIN_BOUND_H
#include "train/plan.h"

/* Everything that a run sees of the data. */
typedef struct tct_bound {
  tct_owned_matrix scaled;    /* after --scale, if any */
  tct_owned_matrix converted; /* in the solver's layout, if it had to be changed */
  tct_view view;
  double *y;              /* [rows] shifted, clipped labels */
  double *factor, *shift; /* [cols] of --scale, or NULL; handed to the model */
  double label_shift;
} tct_bound;
tct_status tct_bound_make(const tct_plan *plan, const tct_data *data, tct_bound *out, tct_error *err);
/* Rows of length R in a layout by columns or by rows; out is zeroed, or has what scaling made. */
tct_status tct_bound_rows(const tct_facts *facts, bool columns, const tct_data *data, tct_bound *out, tct_error *err);
/* The records without their labels: y stays NULL. */
tct_status tct_bound_records(const tct_plan *plan, const tct_data *data, tct_bound *out, tct_error *err);
void tct_bound_free(tct_bound *bound); /* wipes copies of labels */
#endif
