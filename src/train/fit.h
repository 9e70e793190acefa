/* fit.h - the stages of a run, for callers that solve several times on the same bounded records. */
#ifndef TCT_TRAIN_FIT_H
#define TCT_TRAIN_FIT_H
#include "train/bound.h"

/* Zero it, set plan and data.  The data's labels are those of one fit: -1 and +1, or numbers. */
typedef struct tct_fitting {
  const tct_plan *plan;
  const tct_data *data;
  tct_bound bound;
  tct_model *model; /* owned; without weights until the last stage */
} tct_fitting;

/* Checks, bounded records, and the model with everything but its weights.  Collective, as the other stages. */
tct_status tct_fitting_prepare(tct_fitting *fitting, tct_error *err);
/* Room for the model file, and the charge of what the model claims.  status: of all that came before on this rank. */
tct_status tct_fitting_charge(tct_fitting *fitting, tct_status status, tct_error *err);
/* w[p] <- a solution for the labels in bound.y by `plan`, which is fitting->plan but for seed and callbacks. */
tct_status tct_fitting_solve(tct_fitting *fitting, const tct_plan *plan, double *w, tct_error *err);
/* Runs the stages on all ranks, with the caller's callbacks, and hands the model over; NULL where they failed. */
typedef tct_status (*tct_stages)(tct_fitting *fitting, void *user, tct_error *err);
tct_model *tct_fitting_run(const tct_plan *plan, const tct_data *data, tct_stages stages, void *user, tct_error *err);
#endif
