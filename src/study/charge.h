/* charge.h - the one charge of a run. */
#ifndef TCT_STUDY_CHARGE_H
#define TCT_STUDY_CHARGE_H
#include "ledger/ledger.h"
#include "read/table/data.h"

/* Charges `run` to the settings' ledger with the rows of `data` shown to it, or reserves it, durably; without a ledger
 * nothing.  Whatever happens later, it is paid.  On rank 0 *receipt, zeroed before, and `warning` become the caller's;
 * the latter stays as it is where there is none.  Collective. */
tct_status tct_charge_run(const tct_config *config, const tct_data *data, tct_ledger_promise *run,
                          tct_ledger_receipt *receipt, char **warning, tct_error *err);
#endif
