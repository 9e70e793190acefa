/* fit.h - the stages of a run: checked and bounded, charged, solved; and a model before it has weights. */
#ifndef TCT_TRAIN_FIT_H
#define TCT_TRAIN_FIT_H
#include "train/bound.h"

/* Zero it, set plan and data. */
typedef struct tct_fitting {
  const tct_plan *plan;
  const tct_data *data;
  tct_bound bound;
  tct_model *model; /* owned; without weights until the end */
} tct_fitting;

/* TCT_E_USAGE: the data have an offset or exposure, and the plan's loss or solver takes none. */
tct_status tct_fit_check_offset(const tct_plan *plan, const tct_data *data, tct_error *err);
/* Checks, bounded records, and the model with everything but its weights.  Collective, as the other stages. */
tct_status tct_fitting_prepare(tct_fitting *fitting, tct_error *err);
/* Room for the model file, and the charge of what the model claims.  status: of all that came before on this rank. */
tct_status tct_fitting_charge(tct_fitting *fitting, tct_status status, tct_error *err);
/* What a fit would refuse is refused, and charges nothing.  *shell <- its model without weights, which the caller frees
 * also on failure. */
tct_status tct_fit_shell(const tct_plan *plan, const tct_data *data, tct_model **shell, tct_error *err);
#endif
