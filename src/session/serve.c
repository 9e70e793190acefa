/* serve.c - the server of a session between parties: it sees hashes, public facts and releases. */
#include "core/alloc.h"
#include "core/digest.h"
#include "model/json.h"
#include "train/one_program.h"
#include "session/session.h"
#include "train/plan.h"
#include "rng/rng.h"
#include "solve/parties/dpfw_parties.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct service {
  tct_wire wire;
  json_t *hello[TCT_PARTIES_MAX];
  int64_t width[TCT_PARTIES_MAX], cols;
  tct_plan *plan;
  tct_model *model;
  tct_parties set;
  tct_parties_server server;
  tct_progress progress;
} service;

static const char *word(const json_t *o, const char *key) {
  const char *text = json_string_value(json_object_get(o, key));
  return text ? text : "";
}

/* A name for this run that no earlier run had: what is hashed under it cannot be used again. */
static tct_status make_nonce(char nonce[TCT_NONCE_HEX], tct_error *err) {
  tct_rng_key key;
  tct_digest digest;
  TCT_TRY(tct_rng_key_system(&key, err));
  tct_digest_start(&digest);
  tct_digest_field(&digest, 'N', key.bytes, sizeof key.bytes);
  tct_rng_key_wipe(&key);
  tct_digest_end(&digest, nonce);
  return TCT_OK;
}

static int by_name(const void *a, const void *b) {
  return strcmp(word(*(json_t *const *)a, "name"), word(*(json_t *const *)b, "name"));
}

/* Parties are numbered by name, whoever came first. */
static void sort_parties(service *s) {
  json_t *sorted[TCT_PARTIES_MAX];
  int slot[TCT_PARTIES_MAX], count = s->wire.parties;
  memcpy(sorted, s->hello, sizeof sorted);
  qsort(sorted, (size_t)count, sizeof *sorted, by_name);
  for (int k = 0; k < count; k++)
    for (int l = 0; l < count; l++)
      if (s->hello[l] == sorted[k]) slot[k] = s->wire.slot[l];
  memcpy(s->hello, sorted, sizeof sorted);
  memcpy(s->wire.slot, slot, (size_t)count * sizeof *slot);
}

static tct_status greet(service *s, tct_error *err) {
  char nonce[TCT_NONCE_HEX];
  TCT_TRY(make_nonce(nonce, err));
  for (int k = 0; k < s->wire.parties; k++)
    TCT_TRY(tct_session_say(&s->wire, k, TCT_SAY_WELCOME,
                            json_pack("{s:s, s:s}", "version", TCT_VERSION, "nonce", nonce), err));
  for (int k = 0; k < s->wire.parties; k++) {
    char name[128] = "";
    TCT_TRY(tct_session_hear(&s->wire, k, TCT_SAY_HELLO, &s->hello[k], err));
    tct_wire_peer(&s->wire, k, name, sizeof name);
    if (!name[0]) snprintf(name, sizeof name, "party %02d", k + 1);
    json_t *text = json_string(name); /* what the certificate says, not what the peer says */
    json_object_set_new(s->hello[k], "name", text ? text : json_string("?"));
  }
  sort_parties(s);
  return TCT_OK;
}

/* The parties hold the same people in the same number, with the same labels, under names of their own. */
static tct_status check_records(const service *s, tct_error *err) {
  const json_t *first = s->hello[0];
  for (int k = 0; k < s->wire.parties; k++) {
    const json_t *o = s->hello[k];
    const char *a = word(first, "name"), *b = word(o, "name");
    if (strcmp(word(o, "version"), TCT_VERSION) != 0)
      return tct_fail(err, TCT_E_USAGE, "'%.60s' runs another version of tacit than the server; install one", b);
    if (k > 0 && !strcmp(word(s->hello[k - 1], "name"), b))
      return tct_fail(err, TCT_E_USAGE, "two parties are called '%.60s'; give each a certificate with its own name", b);
    if (json_integer_value(json_object_get(o, "rows")) != json_integer_value(json_object_get(first, "rows")))
      return tct_fail(err, TCT_E_DATA, "'%.60s' and '%.60s' hold different numbers of records; bring the same people",
                      a, b);
    if (json_is_true(json_object_get(o, "key_column")) != json_is_true(json_object_get(first, "key_column")))
      return tct_fail(err, TCT_E_USAGE, "'%.60s' and '%.60s': one has keys, the other has none; give --key to both", a,
                      b);
    if (strlen(word(o, "keys")) != 64 || strcmp(word(o, "keys"), word(first, "keys")))
      return tct_fail(err, TCT_E_DATA,
                      "the record keys of '%.60s' and '%.60s' differ, or their secrets do; bring the same people", a,
                      b);
    if (strcmp(word(o, "labels"), word(first, "labels")))
      return tct_fail(err, TCT_E_DATA, "the labels of '%.60s' and '%.60s' differ; every party holds the same labels", a,
                      b);
  }
  return TCT_OK;
}

static tct_status count_columns(service *s, tct_error *err) {
  for (int k = 0; k < s->wire.parties; k++) {
    const json_t *features = json_object_get(s->hello[k], "features"), *each;
    size_t i;
    s->width[k] = (int64_t)json_array_size(features);
    s->cols += s->width[k];
    if (s->width[k] < 1)
      return tct_fail(err, TCT_E_DATA, "'%.60s' brings no column; leave it out", word(s->hello[k], "name"));
    json_array_foreach(features, i, each) if (!json_is_string(each)) return tct_fail(
        err, TCT_E_RUN, "'%.60s' sent a column without a name; check its version", word(s->hello[k], "name"));
  }
  return TCT_OK;
}

/* The solver's spec with the number of parties that are here. */
static tct_status make_plan(service *s, const tct_config *config, tct_error *err) {
  tct_spec spec;
  char count[16], text[4096];
  tct_config own = *config;
  own.intercept = 0; /* no party owns a constant feature */
  TCT_TRY(tct_spec_parse(config->solver ? config->solver : "dpfw_parties", "solver", &spec, err));
  const tct_solver *solver = tct_solver_find(spec.name);
  if (!solver || !solver->over_wire)
    return tct_fail(err, TCT_E_USAGE, "parties train with dpfw_parties; give --solver dpfw_parties[:...]");
  snprintf(count, sizeof count, "%d", s->wire.parties);
  TCT_TRY(tct_spec_set(&spec, "parties", count, err));
  tct_spec_print(&spec, text, sizeof text);
  own.solver = text;
  s->plan = tct_plan_new(&own, json_integer_value(json_object_get(s->hello[0], "rows")), s->cols, err);
  return s->plan ? TCT_OK : err->status;
}

/* Settings as they were asked for: each end resolves them by itself, and the model file holds both. */
static json_t *terms(const tct_plan *plan, const char *digest, int index) {
  return json_pack(
      "{s:s, s:s, s:s, s:o, s:o, s:s, s:o, s:s, s:o, s:o, s:I, s:I, s:i, s:s}", "loss", plan->config.loss, "penalty",
      plan->config.penalty, "solver", plan->config.solver, "epsilon", tct_json_real(plan->facts.epsilon), "delta",
      tct_json_real(plan->facts.delta), "neighbours", tct_neighbours_name(plan->facts.neighbours), "row_norm",
      tct_json_real(plan->facts.row_norm), "rows_rule", plan->config.rows_rule == TCT_ROWS_UNIT ? "unit" : "clip",
      "label_bound", tct_json_real(plan->config.label_bound), "label_shift", tct_json_real(plan->config.label_shift),
      "rows", (json_int_t)plan->facts.rows, "columns", (json_int_t)plan->cols, "index", index, "plan", digest);
}

static tct_status agree(service *s, tct_error *err) {
  static const int turns[2][2] = {{TCT_SAY_TERMS, TCT_SAY_ACCEPT}, {TCT_SAY_GO, TCT_SAY_READY}};
  char digest[TCT_DIGEST_HEX];
  TCT_TRY(tct_plan_digest(s->plan, digest, err));
  for (int turn = 0; turn < 2; turn++) {
    for (int k = 0; k < s->wire.parties; k++)
      TCT_TRY(tct_session_say(&s->wire, k, turns[turn][0], turn ? json_object() : terms(s->plan, digest, k), err));
    for (int k = 0; k < s->wire.parties; k++) {
      json_t *answer = NULL;
      TCT_TRY(tct_session_hear(&s->wire, k, turns[turn][1], &answer, err));
      json_decref(answer);
    }
  }
  return TCT_OK;
}

/* Names of columns, and what reading took at a party. */
static tct_status gather(service *s, tct_error *err) {
  int64_t at = 0;
  s->model->features = TCT_NEW(char *, s->cols);
  if (!s->model->features) return tct_fail_memory(err);
  for (int k = 0; k < s->wire.parties; k++) {
    const json_t *each;
    size_t i;
    json_array_foreach(json_object_get(s->hello[k], "features"), i, each) {
      s->model->features[at] = tct_text_copy(json_string_value(each));
      if (!s->model->features[at++]) return tct_fail_memory(err);
    }
    json_array_foreach(json_object_get(s->hello[k], "unaccounted"), i, each) {
      char line[TCT_SESSION_LINE];
      tct_session_unaccounted(word(s->hello[k], "name"), json_string_value(each) ? json_string_value(each) : "?", line,
                              sizeof line);
      if (!tct_model_note(s->model, line)) return tct_fail_memory(err);
    }
    if (json_is_true(json_object_get(s->hello[k], "reproducible"))) s->model->reproducible = 1;
  }
  return TCT_OK;
}

static tct_status rounds(service *s, tct_error *err) {
  tct_wire_gate share = {.wire = &s->wire};
  const tct_config *config = &s->plan->config;
  s->progress = (tct_progress){config->progress, config->user, 0};
  tct_problem ticks = {.facts = &s->plan->facts, .progress = &s->progress, .cancel = config->cancel};
  ticks.user = config->user;
  s->model->coefficients = TCT_NEW(double, s->cols + 1);
  if (!s->model->coefficients) return tct_fail_memory(err);
  TCT_TRY(tct_parties_settings(&s->plan->facts, &s->plan->solved, &s->set, err));
  TCT_TRY(tct_parties_server_new(&s->plan->facts, &s->set, &share, s->width, s->model->coefficients, &s->server, err));
  int64_t before = s->wire.bytes_received;
  TCT_TRY(tct_parties_server_run(&s->server, &ticks, err));
  return tct_model_observers(s->plan, s->hello, s->wire.bytes_received - before, s->model, err);
}

static tct_status session(service *s, const tct_config *config, tct_error *err) {
  TCT_TRY(greet(s, err));
  TCT_TRY(check_records(s, err));
  TCT_TRY(count_columns(s, err));
  TCT_TRY(make_plan(s, config, err));
  s->model = TCT_NEW(tct_model, 1);
  if (!s->model) return tct_fail_memory(err);
  TCT_TRY(tct_session_describe(s->plan, s->model, err));
  TCT_TRY(gather(s, err));
  TCT_TRY(agree(s, err));
  TCT_TRY(rounds(s, err));
  char *text = tct_model_json(s->model, err);
  if (!text) return TCT_E_MEMORY;
  tct_status status = TCT_OK;
  for (int k = 0; k < s->wire.parties && status == TCT_OK; k++)
    status = tct_wire_send(&s->wire, k, TCT_SAY_MODEL, text, strlen(text), err);
  tct_text_free(text);
  if (status == TCT_OK) tct_progress_end(&s->progress);
  return status;
}

static tct_status check(const tct_config *config, tct_error *err) {
  if (config->ledger)
    return tct_fail(err, TCT_E_USAGE, "the server has no records to keep a ledger for; the parties keep theirs");
  if (config->has_seed) return tct_fail(err, TCT_E_USAGE, "the server draws no noise; a seed is for a party's --seed");
  if (strcmp(config->scale, "none") || strcmp(config->label_scale, "none"))
    return tct_fail(err, TCT_E_USAGE, "nobody sees all records, so nothing is scaled by their statistics; give bounds");
  return TCT_OK;
}

tct_model *tct_serve(const tct_config *config, const tct_session *options, tct_error *err) {
  tct_error own_error;
  tct_config own;
  tct_session own_options;
  tct_error_clear(err);
  if (!err) err = &own_error;
  if (tct_config_take(config, &own, err) != TCT_OK || tct_session_options(options, &own_options, err) != TCT_OK)
    return NULL;
  service *s = TCT_NEW(service, 1);
  if (!s) return tct_fail_memory(err), NULL;
  tct_status status = check(&own, err);
  if (status == TCT_OK) status = tct_session_open(&own_options, true, &s->wire, err);
  if (status == TCT_OK) {
    status = session(s, &own, err);
    for (int k = 0; k < s->wire.parties && status != TCT_OK; k++) tct_wire_send_failure(&s->wire, k, err->text);
  }
  tct_model *model = status == TCT_OK ? s->model : NULL;
  if (status != TCT_OK) tct_model_free(s->model);
  tct_parties_server_free(&s->server);
  for (int k = 0; k < TCT_PARTIES_MAX; k++) json_decref(s->hello[k]);
  tct_plan_free(s->plan);
  tct_wire_close(&s->wire);
  tct_free(s);
  return model;
}
