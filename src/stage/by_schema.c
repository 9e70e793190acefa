/* by_schema.c - the estimate that a stage waits for, its schema, and sentences that name it. */
#include "stage/by_schema.h"

#include "core/alloc.h"

#include <string.h>

tct_status tct_stage_find_estimate(tct_stage *stage, tct_error *err) {
  if (!tct_stage_reads_open(stage)) return TCT_OK;
  for (int i = 0; i < stage->index; i++)
    if (stage->study->stage[i].kind->pays) stage->from = i;
  if (stage->from >= 0) return TCT_OK;
  return tct_stage_fail(stage, TCT_E_USAGE, err,
                        "it reads columns whose bounds or values the schema leaves open; put a stage of the kind "
                        "estimate before it, or write them");
}

tct_status tct_stage_parse(const json_t *schema, tct_schema *out, tct_error *err) {
  *out = (tct_schema){0};
  char *text = tct_json_dump(schema, JSON_COMPACT | JSON_REAL_PRECISION(17));
  tct_status status = text ? tct_schema_load(out, NULL, text, &tct_limits_default, err) : tct_fail_memory(err);
  tct_text_free(text);
  return status;
}

tct_status tct_stage_load(const tct_stage *stage, tct_schema *out, tct_error *err) {
  tct_reading own = {0};
  *out = (tct_schema){0};
  TCT_TRY(stage->kind->reads(stage, &own, err));
  tct_status status = tct_stage_parse(own.schema, out, err);
  json_decref(own.schema);
  return status;
}

tct_status tct_stage_named(const tct_stage *stage, tct_status status, tct_error *err) {
  char text[sizeof err->text];
  if (status == TCT_OK || status == TCT_E_MEMORY || status == TCT_E_CANCELLED || stage->study->count == 1)
    return status;
  if (!strncmp(err->text, "stage \"", 7)) return status;
  tct_error_pack(err, text, sizeof text);
  return tct_fail(err, status, "stage \"%s\": {%s}", stage->name, text);
}
