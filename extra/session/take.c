/* take.c - the model that a server sends is compared whole with the one that this party makes of plan and rounds.
 *
 * What only the server knows is taken from its model.  That is the names of the others' columns, what they say is
 * unaccounted, and the bytes on the wire.  The rest, and its own part of that, a party makes again and compares as
 * JSON, key by key.  A new key of the model file is compared without a line here. */
#include "core/alloc.h"
#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tct_status differs(const char *group, const char *key, tct_error *err) {
  return tct_fail(err, TCT_E_RUN,
                  "the server's model is not the one of the rounds, it differs in %.60s%s%.60s; do not use it", group,
                  *group ? "." : "", key);
}

/* ---- what only the server knows ------------------------------------------------------------------------------- */

/* Where this party's columns begin, by the model's list of parties; -1 if the list cannot be of this session. */
static int64_t own_columns(const tct_own_part *own, const json_t *list) {
  int64_t before = 0, all = 0;
  int parties = (int)tct_spec_count(&own->plan->solved.spec, own->plan->solver->options, "parties");
  const json_t *each;
  size_t k;
  if (!json_is_array(list) || (int)json_array_size(list) != parties || own->index >= parties) return -1;
  json_array_foreach(list, k, each) {
    int64_t columns = json_integer_value(json_object_get(each, "columns"));
    if (columns < 1 || !json_is_string(json_object_get(each, "name"))) return -1;
    if ((int)k < own->index) before += columns;
    if ((int)k == own->index && columns != own->data->x.cols) return -1;
    all += columns;
  }
  return all == own->plan->cols ? before : -1;
}

static bool own_names_hold(const tct_own_part *own, const json_t *features, int64_t first) {
  for (int64_t j = 0; j < own->data->x.cols; j++) {
    const char *name = tct_data_feature(own->data, j);
    const char *said = json_string_value(json_array_get(features, (size_t)(first + j)));
    if (!name || !said || strcmp(said, name) != 0) return false;
  }
  return true;
}

void tct_session_unaccounted(const char *party, const char *text, char *line, size_t size) {
  snprintf(line, size, "%.60s: %.300s", party, text);
}

static bool own_facts_hold(const tct_own_part *own, const json_t *unaccounted, const char *party) {
  char line[TCT_SESSION_LINE];
  const json_t *each;
  size_t k;
  for (int i = 0; i < TCT_UNACCOUNTED && own->data->unaccounted[i]; i++) {
    bool found = false;
    tct_session_unaccounted(party, own->data->unaccounted[i], line, sizeof line);
    json_array_foreach(unaccounted, k, each) found |= json_is_string(each) && !strcmp(json_string_value(each), line);
    if (!found) return false;
  }
  return true;
}

/* Fills the expected object with what only the server knows, after its own part of it was found right. */
static tct_status take_over(const tct_own_part *own, const json_t *said, json_t *expected, tct_error *err) {
  json_t *parties = json_object_get(said, "parties"), *list = json_object_get(parties, "list");
  json_t *privacy = json_object_get(said, "privacy"), *facts = json_object_get(privacy, "unaccounted");
  json_t *here = json_object_get(expected, "parties"), *claim = json_object_get(expected, "privacy");
  json_t *features = json_object_get(said, "features");
  json_t *bytes = json_object_get(parties, "uplink_bytes");
  int64_t first = own_columns(own, list);
  if (first < 0) return differs("parties", "list", err);
  if (!json_is_array(features) || !own_names_hold(own, features, first)) return differs("", "features", err);
  const char *name = tct_json_said(json_array_get(list, (size_t)own->index), "name");
  if (!json_is_array(facts) || !own_facts_hold(own, facts, name)) return differs("privacy", "unaccounted", err);
  if (!json_is_integer(bytes)) return differs("parties", "uplink_bytes", err);
  json_object_set(expected, "features", features);
  json_object_set(claim, "unaccounted", facts);
  json_object_set(here, "list", list);
  return json_object_set(here, "uplink_bytes", bytes) == 0 ? TCT_OK : tct_fail_memory(err);
}

/* ---- the comparison -------------------------------------------------------------------------------------------- */

static tct_status same_keys(const json_t *expected, const json_t *said, const char *group, tct_error *err) {
  const char *key;
  json_t *each;
  json_object_foreach((json_t *)expected, key, each) {
    json_t *other = json_object_get(said, key);
    if (!*group && json_is_object(each) && json_is_object(other))
      TCT_TRY(same_keys(each, other, key, err));
    else if (!json_equal(each, other))
      return differs(group, key, err);
  }
  json_object_foreach((json_t *)said, key, each) if (!json_object_get(expected, key)) return differs(group, key, err);
  return TCT_OK;
}

/* Sentences of the model file depend on these, which take_over looks at. */
static tct_status believe(const json_t *unaccounted, tct_model *m, tct_error *err) {
  const json_t *each;
  size_t k;
  json_array_foreach(unaccounted, k, each) if (json_is_string(each) &&
                                               !tct_model_note(m, json_string_value(each))) return tct_fail_memory(err);
  return TCT_OK;
}

/* The model as this party knows it, as JSON. */
static tct_status expect(const tct_own_part *own, const json_t *said, json_t **out, tct_error *err) {
  const tct_apart unknown = {0}; /* who they are comes later */
  tct_model *m = TCT_NEW(tct_model, 1);
  if (!m) return tct_fail_memory(err);
  tct_status status = tct_session_describe(own->plan, m, err);
  if (status == TCT_OK) status = tct_model_observers(own->plan, &unknown, m, err);
  if (status == TCT_OK) status = believe(json_object_get(json_object_get(said, "privacy"), "unaccounted"), m, err);
  m->reproducible = own->has_seed;    /* all have a seed or none has */
  m->coefficients = (double *)own->w; /* lent */
  if (status == TCT_OK && !(m->features = TCT_NEW(char *, m->cols))) status = tct_fail_memory(err); /* no name yet */
  char *text = status == TCT_OK ? tct_model_json(m, err) : NULL;
  m->coefficients = NULL;
  tct_model_free(m);
  *out = text ? json_loads(text, 0, NULL) : NULL;
  tct_text_free(text);
  if (status != TCT_OK) return status;
  return *out ? TCT_OK : tct_fail_memory(err);
}

tct_status tct_session_take(const tct_own_part *own, const char *text, tct_model **out, tct_error *err) {
  json_t *expected = NULL, *said = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
  tct_status status = json_is_object(said) ? expect(own, said, &expected, err)
                                           : tct_fail(err, TCT_E_RUN, "what the server sent is no model");
  if (status == TCT_OK) status = take_over(own, said, expected, err);
  if (status == TCT_OK) status = same_keys(expected, said, "", err);
  json_decref(expected);
  json_decref(said);
  if (status != TCT_OK) return status;
  *out = tct_model_read(NULL, text, NULL, err);
  return *out ? TCT_OK : err->status;
}
