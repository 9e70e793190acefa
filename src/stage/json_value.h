/* json_value.h - what kinds of stages share whose value is JSON. */
#ifndef TCT_STAGE_JSON_VALUE_H
#define TCT_STAGE_JSON_VALUE_H
#include "mech/release.h"
#include "study/stage.h"

void tct_stage_drop_json(tct_stage *stage);
/* stage->value <- said[key].  TCT_E_DATA with that sentence: it is none, and the stage did not end without one. */
tct_status tct_stage_read_json(tct_stage *stage, const json_t *said, const char *key, const char *sentence,
                               tct_error *err);
/* The releases of a promise, and the value under `key` where there is one. */
tct_status tct_stage_write_released(const tct_stage *stage, const tct_promise *promise, const char *key, json_t *out,
                                    tct_error *err);
/* Does the JSON value follow from what was released, under the stage's plan? */
typedef bool tct_stage_follow(const tct_stage *stage, const json_t *value);
/* why[] <- the first sentence where the file's releases are not the promise's; promise NULL: there is no plan, and
 * there must be no release.  The second where the stage's value does not follow.  Else why[] stays. */
void tct_stage_check_released(const tct_stage *stage, const json_t *said, const tct_promise *promise,
                              tct_stage_follow *follow, const char *const sentence[2], char why[TCT_STAGE_WHY]);
#endif
