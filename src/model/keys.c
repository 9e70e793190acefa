/* keys.c - the keys that a model file may have. */
#include "model/model.h"

#include "core/spec.h"

static const char *unknown_in(const json_t *o, const char *known) {
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)o, key, value) if (!tct_word_among(key, known, ' ')) return key;
  return NULL;
}

static const char ASKED[] =
    " loss penalty solver epsilon delta neighbours rows columns row_norm rows_rule label_bound "
    "label_shift scale label_scale intercept ";
static const char FIT[] = " count plan_version rules asked solver promise releases events epsilon delta accountant ";
static const char RELEASE[] =
    " what event sensitivity norm clip lattice deviation count follows open parts drawers drawn added ";

static const char *unknown_in_estimate(const json_t *estimate) {
  const char *bad = unknown_in(estimate, " asked releases events epsilon delta accountant lists rest ");
  const json_t *release;
  size_t i;
  if (!bad) bad = unknown_in(json_object_get(estimate, "asked"), " spec epsilon delta neighbours rows columns lists ");
  if (!bad) bad = unknown_in(json_object_get(estimate, "lists"), " threshold delta ");
  if (!bad) bad = unknown_in(json_object_get(estimate, "rest"), " epsilon delta accountant events ");
  json_array_foreach(json_object_get(estimate, "releases"), i, release) if (!bad) bad = unknown_in(release, RELEASE);
  return bad;
}

static const char *unknown_in_fits(const json_t *fits) {
  size_t i, r;
  const json_t *fit, *release;
  const char *bad = NULL;
  json_array_foreach((json_t *)fits, i, fit) {
    if ((bad = unknown_in(fit, FIT))) return bad;
    if ((bad = unknown_in(json_object_get(fit, "asked"), ASKED))) return bad;
    json_array_foreach(json_object_get(fit, "releases"), r,
                       release) if ((bad = unknown_in(release, RELEASE))) return bad;
  }
  return NULL;
}

const char *tct_model_unknown_key(const json_t *file) {
  const json_t *privacy = json_object_get(file, "privacy"), *parties = json_object_get(file, "parties"), *each;
  const char *bad = NULL;
  size_t i;
  if ((bad = unknown_in(file,
                        " format version library loss penalty solver rows columns label labels features "
                        "coefficients intercept classes transforms privacy note inference parties ")))
    return bad;
  if ((bad = unknown_in(json_object_get(file, "transforms"),
                        " schema scale scale_factor scale_shift label_shift "
                        "label_bound intercept penalised_intercept row_norm rows ")))
    return bad;
  if ((bad = unknown_in(privacy,
                        " private neighbours epsilon delta accountant events adaptive noise unaccounted trust "
                        "unit ledger fits choice estimate weights ")))
    return bad;
  if ((bad = unknown_in(json_object_get(privacy, "ledger"), " head run for_tests "))) return bad;
  if ((bad = unknown_in(json_object_get(privacy, "weights"), " cap of "))) return bad;
  if ((bad = unknown_in(parties, " apart count list observers conditions uplink_bytes one_shot_bytes "))) return bad;
  json_array_foreach(json_object_get(parties, "list"), i,
                     each) if ((bad = unknown_in(each, " name columns "))) return bad;
  json_array_foreach(json_object_get(parties, "observers"), i,
                     each) if ((bad = unknown_in(each, " who about epsilon "))) return bad;
  if ((bad = unknown_in_estimate(json_object_get(privacy, "estimate")))) return bad;
  return unknown_in_fits(json_object_get(privacy, "fits"));
}
