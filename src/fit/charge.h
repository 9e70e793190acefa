/* charge.h - what happens between the certificate and the gate: the rows are shown to the ledger, the run is charged.
 */
#ifndef TCT_FIT_CHARGE_H
#define TCT_FIT_CHARGE_H
#include "fit/fingerprint.h"
#include "fit/model.h"

/* The input as the ledger (0) and the registry (1) know it.  Wipe it after use. */
typedef struct tct_shown {
  char id[TCT_DIGEST_HEX]; /* which ledger */
  tct_key key[TCT_PRINT_KEYS];
  tct_print print[TCT_PRINT_KEYS];
} tct_shown;

/* Reads the keys on rank 0 and fingerprints the rows of all ranks under them.  Collective. */
tct_status tct_shown_make(const char *ledger, const tct_data *data, int threads, tct_shown *shown, tct_error *err);
/* Opens the model's file aside with room for the largest model that this run can end with, if the settings name one. */
tct_status tct_model_reserve(const tct_plan *plan, tct_model *model, tct_error *err);
/* Charges the plan's promise to its ledger, durably; without a ledger nothing.  The promise is on disk before the gate
 * exists: whatever happens later, it is paid.  Collective. */
tct_status tct_model_promise(const tct_plan *plan, const tct_data *data, tct_model *model, tct_error *err);
#endif
