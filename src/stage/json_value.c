/* json_value.c - a stage's value as JSON: dropped, read from a file, and written beside the releases it came from. */
#include "stage/json_value.h"

#include "train/certificate.h"

#include <stdio.h>

void tct_stage_drop_json(tct_stage *stage) {
  json_decref(stage->value);
  stage->value = NULL;
}

tct_status tct_stage_read_json(tct_stage *stage, const json_t *said, const char *key, const char *sentence,
                               tct_error *err) {
  json_t *value = json_object_get(said, key);
  tct_stage_drop_json(stage);
  if (!json_is_object(value)) return stage->ended[0] ? TCT_OK : tct_fail(err, TCT_E_DATA, "%s", sentence);
  stage->value = json_incref(value);
  return TCT_OK;
}

tct_status tct_stage_write_released(const tct_stage *stage, const tct_promise *promise, const char *key, json_t *out,
                                    tct_error *err) {
  json_t *releases = tct_releases_json(promise);
  if (!releases || json_object_set_new(out, "releases", releases)) return tct_fail_memory(err);
  if (stage->value) json_object_set(out, key, stage->value);
  return TCT_OK;
}

void tct_stage_check_released(const tct_stage *stage, const json_t *said, const tct_promise *promise,
                              tct_stage_follow *follow, const char *const sentence[2], char why[TCT_STAGE_WHY]) {
  const json_t *told = json_object_get(said, "releases");
  json_t *releases = promise ? tct_releases_json(promise) : NULL;
  if (promise ? !tct_json_near(told, releases) : told != NULL)
    snprintf(why, TCT_STAGE_WHY, "%s", sentence[0]);
  else if (stage->value && !follow(stage, stage->value))
    snprintf(why, TCT_STAGE_WHY, "%s", sentence[1]);
  json_decref(releases);
}
