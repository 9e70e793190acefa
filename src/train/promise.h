/* promise.h - what happens between the certificate and the gate: room for the model, and its charge. */
#ifndef TCT_TRAIN_PROMISE_H
#define TCT_TRAIN_PROMISE_H
#include "ledger/ledger.h"
#include "train/plan.h"

/* Opens the model's file aside with room for the largest model that this run can end with, if the settings name one. */
tct_status tct_model_reserve(const tct_plan *plan, tct_model *model, tct_error *err);
/* A charge in two phases, for those who wait for others between them. */
typedef struct tct_phases {
  double seconds;         /* how long the reservation lasts */
  char id[TCT_LEDGER_ID]; /* "" before the first phase, then the reservation's */
} tct_phases;
/* Charges the plan's promise to its ledger, durably; without a ledger nothing.  The promise is on disk before the gate
 * exists: whatever happens later, it is paid.  Collective.  phases NULL: at once.  Else the first call reserves, and
 * the second turns that into the charge. */
tct_status tct_model_promise(const tct_plan *plan, const tct_data *data, tct_phases *phases, tct_model *model,
                             tct_error *err);
/* The events of a claim over an estimate and the fit that follows: their parts of the budget, added. */
tct_status tct_estimated_events(const tct_estimated *estimated, tct_events *out, tct_error *err);
/* The claim of a table whose bounds were estimated: of the estimate and the fit together; nothing without one. */
tct_status tct_model_add_estimate(const tct_plan *plan, const tct_data *data, tct_model *model, tct_error *err);
#endif
