/* by_schema.h - what kinds of stages share that plan for the columns of a schema. */
#ifndef TCT_STAGE_BY_SCHEMA_H
#define TCT_STAGE_BY_SCHEMA_H
#include "read/schema/schema.h"
#include "study/stage.h"

/* Sets stage->from to the estimate that a stage waits for, if it reads what the schema leaves open. */
tct_status tct_stage_find_estimate(tct_stage *stage, tct_error *err);
/* A schema as the reader has it, which a file may have damaged; out is to be freed in any case. */
tct_status tct_stage_parse(const json_t *schema, tct_schema *out, tct_error *err);
/* What the stage reads, as the reader has it; out is to be freed in any case. */
tct_status tct_stage_load(const tct_stage *stage, tct_schema *out, tct_error *err);
/* A sentence of the plan says which stage it is about. */
tct_status tct_stage_named(const tct_stage *stage, tct_status status, tct_error *err);
#endif
