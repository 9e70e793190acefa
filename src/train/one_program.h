/* one_program.h - everything that can change a released number or the claim, as lists of settings to be compared.
 *
 * Ranks compare these lists before anything is charged (tct_ranks_agree); a server and its parties compare their plans.
 * A new field of tct_config or tct_read_options does not compile until one_program.c says whether it is free. */
#ifndef TCT_TRAIN_ONE_PROGRAM_H
#define TCT_TRAIN_ONE_PROGRAM_H
#include "core/settings.h"
#include "train/plan.h"

/* ranks: with the contents of the schema file, for others to compare; where it cannot be read, that it cannot. */
void tct_settings_read(tct_settings *list, const tct_read_options *options, bool ranks);
/* What makes parts one table: columns, names, schema, and the form in memory. */
void tct_settings_format(tct_settings *list, const tct_data *data);

/* TCT_OK if all ranks are about to train the same: one digest of all of the above but the read options, which
 * tct_data_read_parts compares, and of the input's identity.  Collective. */
tct_status tct_ranks_agree(const tct_plan *plan, const tct_data *data, tct_error *err);
/* The digest of the plan and of the library's version, for a session's two ends. */
tct_status tct_plan_digest(const tct_plan *plan, char hex[TCT_DIGEST_HEX], tct_error *err);
#endif
