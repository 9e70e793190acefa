/* outcome.h - what kinds of stages share that model one outcome: their entry, its settings, its table and its model. */
#ifndef TCT_STAGE_OUTCOME_H
#define TCT_STAGE_OUTCOME_H
#include "read/schema/schema.h"
#include "study/stage.h"

/* Keys of an entry. */
#define TCT_OUTCOME_KEYS                                                                                         \
  " label:text positive:text features:texts loss:text penalty:text solver:text intercept:truth row_norm:number " \
  "rows_rule:text label_bound:number label_shift:number "

/* What is wrong with the entry whatever the table; stage->from <- the estimate that it waits for. */
tct_status tct_outcome_take(tct_stage *stage, tct_error *err);
/* The settings for the stage's share.  over: an object whose keys stand in place of the entry's, or NULL. */
tct_config tct_outcome_config(const tct_stage *stage, const json_t *over, const tct_schema *schema);
/* How labels are read under the loss of the settings. */
tct_labels tct_outcome_labels(const tct_stage *stage, const json_t *over);
/* tct_stage_kind.reads */
tct_status tct_outcome_reads(const tct_stage *stage, tct_reading *out, tct_error *err);
/* The plan by the columns that the stage reads, in place of an earlier one; by: makes it and its events. */
typedef tct_status tct_outcome_planner(tct_stage *stage, const tct_schema *schema, tct_error *err);
tct_status tct_outcome_plan(tct_stage *stage, tct_outcome_planner *by, tct_error *err);
/* Seed, threads, callbacks, ledger and output of a run. */
void tct_outcome_run_by(tct_config *config, const tct_config *run);
/* The model in the file, into stage->value. */
tct_status tct_outcome_read(tct_stage *stage, const json_t *said, tct_error *err);
void tct_outcome_drop_value(tct_stage *stage);
/* The model's own JSON under "model". */
tct_status tct_outcome_write(const tct_stage *stage, json_t *out, tct_error *err);
/* What the model has otherwise than its entry and the list of fits[] give; NULL: nothing. */
const char *tct_outcome_unlike(const tct_stage *stage, const json_t *model, const json_t *fits);
/* why[] <- the sentence about what is otherwise; NULL: it stays. */
void tct_outcome_say(const char *other, char why[TCT_STAGE_WHY]);
#endif
