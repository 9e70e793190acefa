/* releases.c - the releases that a model file states, in types. */
#include "model/releases.h"

#include "core/sized.h"
#include "model/json.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const tct_sized SIZED = TCT_SIZED(tct_release_info, event, "set its size to sizeof(tct_release_info) first");

tct_status tct_release_give(const tct_release_info *own, tct_release_info *out, tct_error *err) {
  TCT_TRY(tct_sized_check(&SIZED, out, err));
  tct_sized_give(&SIZED, own, out);
  return TCT_OK;
}

tct_status tct_release_absent(tct_error *err) {
  return tct_fail(err, TCT_E_USAGE, "there is no release of this number; count from 0 and ask how many there are");
}

static double real_of(const json_t *release, const char *key) {
  double value = NAN;
  const json_t *at = json_object_get(release, key);
  return at && tct_json_get_real(at, &value) ? value : NAN;
}

static const char *text_of(const json_t *release, const char *key) {
  const char *text = json_string_value(json_object_get(release, key));
  return text ? text : "";
}

static int norm_of(const char *name) {
  return !strcmp(name, "l1") ? TCT_NORM_L1 : !strcmp(name, "score") ? TCT_NORM_SCORE : TCT_NORM_L2;
}

static tct_release_info info_of(const json_t *fit, const json_t *release) {
  const char *event = text_of(release, "event");
  tct_release_info own = {.norm = norm_of(text_of(release, "norm")),
                          .sensitivity = real_of(release, "sensitivity"),
                          .deviation = real_of(release, "deviation"),
                          .lattice = real_of(release, "lattice"),
                          .count = json_integer_value(json_object_get(release, "count")),
                          .fits = json_integer_value(json_object_get(fit, "count"))};
  snprintf(own.name, sizeof own.name, "%s", text_of(release, "what"));
  snprintf(own.kind, sizeof own.kind, "%.*s", (int)strcspn(event, ":"), event);
  snprintf(own.event, sizeof own.event, "%s", event);
  return own;
}

/* Goes to release `index` over all fits; returns how many there are up to there.  *own is filled where it is met. */
static int64_t look(const tct_model *model, int64_t index, tct_release_info *own) {
  json_t *estimate = model->is_private && model->estimate ? json_loads(model->estimate, 0, NULL) : NULL;
  json_t *fits = model->is_private && model->fits ? json_loads(model->fits, 0, NULL) : NULL, *fit, *release;
  int64_t seen = 0;
  size_t i, r;
  json_t *once = json_pack("{s:i}", "count", 1);
  json_array_foreach(json_object_get(estimate, "releases"), r, release) if (seen++ == index) *own =
      info_of(once, release);
  json_decref(once);
  json_decref(estimate);
  json_array_foreach(fits, i, fit) json_array_foreach(json_object_get(fit, "releases"), r,
                                                      release) if (seen++ == index) *own = info_of(fit, release);
  json_decref(fits);
  return seen;
}

int64_t tct_model_releases(const tct_model *model) { return look(model, -1, NULL); }

tct_status tct_model_release(const tct_model *model, int64_t index, tct_release_info *out, tct_error *err) {
  tct_release_info own;
  tct_error_clear(err);
  if (index < 0 || index >= look(model, index, &own)) return tct_release_absent(err);
  return tct_release_give(&own, out, err);
}
