/* serve.c - the server of a session between parties: it sees hashes, public facts and releases. */
#include "core/alloc.h"
#include "core/digest.h"
#include "core/stop.h"
#include "model/json.h"
#include "train/promise.h"
#include "train/one_program.h"
#include "session/rounds.h"
#include "rng/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct service {
  tct_wire wire;
  char nonce[TCT_NONCE_HEX];
  json_t *hello[TCT_PARTIES_MAX];
  tct_roster roster;
  int64_t cols;
  tct_plan *plan;
  const tct_rounds *rounds;
  tct_model *model;
  bool begun; /* parties may have been charged */
  tct_stop watch;
  tct_progress progress;
} service;

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

static bool is_seeded(const json_t *hello) { return json_is_true(json_object_get(hello, "reproducible")); }
static bool is_labelled(const json_t *hello) { return tct_json_word(hello, "labels")[0] != 0; }

/* Whoever brings labels comes first: all parties, or the one that a solver wants to be the first. */
static int by_name(const void *a, const void *b) {
  const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
  if (is_labelled(x) != is_labelled(y)) return is_labelled(x) ? -1 : 1;
  return strcmp(tct_json_word(x, "name"), tct_json_word(y, "name"));
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
  TCT_TRY(make_nonce(s->nonce, err));
  for (int k = 0; k < s->wire.parties; k++)
    TCT_TRY(tct_session_say(&s->wire, k, TCT_SAY_WELCOME,
                            json_pack("{s:s, s:s}", "version", TCT_VERSION, "nonce", s->nonce), err));
  for (int k = 0; k < s->wire.parties; k++) {
    char name[128];
    TCT_TRY(tct_session_hear(&s->wire, k, TCT_SAY_HELLO, &s->hello[k], err));
    tct_wire_peer(&s->wire, k, name, sizeof name);
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
    const char *a = tct_json_word(first, "name"), *b = tct_json_word(o, "name");
    if (strcmp(tct_json_word(o, "version"), TCT_VERSION) != 0)
      return tct_fail(err, TCT_E_USAGE, "'%.60s' runs another version of tacit than the server; install one", b);
    for (int l = 0; l < k; l++)
      if (!strcmp(tct_json_word(s->hello[l], "name"), b))
        return tct_fail(err, TCT_E_USAGE, "two parties are called '%.60s'; give each a certificate with its own name",
                        b);
    if (is_seeded(o) != is_seeded(first))
      return tct_fail(err, TCT_E_USAGE,
                      "of '%.60s' and '%.60s' one has a seed, which is for tests; all have one or nobody", a, b);
    if (json_integer_value(json_object_get(o, "rows")) != json_integer_value(json_object_get(first, "rows")))
      return tct_fail(err, TCT_E_DATA, "'%.60s' and '%.60s' hold different numbers of records; bring the same people",
                      a, b);
    if (json_is_true(json_object_get(o, "key_column")) != json_is_true(json_object_get(first, "key_column")))
      return tct_fail(err, TCT_E_USAGE, "'%.60s' and '%.60s': one has keys, the other has none; give {key} to both", a,
                      b);
    if (strlen(tct_json_word(o, "keys")) != 64 || strcmp(tct_json_word(o, "keys"), tct_json_word(first, "keys")))
      return tct_fail(err, TCT_E_DATA,
                      "the record keys of '%.60s' and '%.60s' differ, or their secrets do; bring the same people", a,
                      b);
    if (is_labelled(o) && strcmp(tct_json_word(o, "labels"), tct_json_word(first, "labels")))
      return tct_fail(err, TCT_E_DATA, "the labels of '%.60s' and '%.60s' differ; all who bring labels bring the same",
                      a, b);
  }
  return TCT_OK;
}

/* The parties by number, with their columns. */
static tct_status fill_roster(service *s, tct_error *err) {
  s->roster.count = s->wire.parties;
  s->roster.seeded = is_seeded(s->hello[0]);
  for (int k = 0; k < s->wire.parties; k++) {
    const json_t *features = json_object_get(s->hello[k], "features"), *each;
    size_t i;
    snprintf(s->roster.name[k], sizeof s->roster.name[k], "%s", tct_json_word(s->hello[k], "name"));
    snprintf(s->roster.address[k], sizeof s->roster.address[k], "%s", tct_json_word(s->hello[k], "address"));
    s->roster.width[k] = (int64_t)json_array_size(features);
    s->cols += s->roster.width[k];
    if (s->roster.width[k] < 1)
      return tct_fail(err, TCT_E_DATA, "'%.60s' brings no column; leave it out", tct_json_word(s->hello[k], "name"));
    json_array_foreach(features, i, each) if (!json_is_string(each)) return tct_fail(
        err, TCT_E_RUN, "'%.60s' sent a column without a name; check its version", tct_json_word(s->hello[k], "name"));
  }
  return TCT_OK;
}

/* Labels are where the solver wants them; where it connects the parties, each says where it is reached. */
static tct_status check_places(const service *s, bool over_network, tct_error *err) {
  bool has[TCT_PARTIES_MAX];
  for (int k = 0; k < s->roster.count; k++) {
    has[k] = is_labelled(s->hello[k]);
    if (over_network && s->rounds->between && !s->roster.address[k][0])
      return tct_fail(err, TCT_E_USAGE,
                      "%s connects the parties with each other; start '%.60s' with {listen HOST:PORT}",
                      s->plan->solver->name, s->roster.name[k]);
  }
  return s->rounds->check_labels(s->plan, &s->roster, has, err);
}

/* The solver's spec with the number of parties that are here. */
static tct_status make_plan(service *s, const tct_config *config, tct_error *err) {
  tct_spec spec;
  char count[16], text[4096];
  tct_config own = *config;
  own.intercept = 0; /* no party owns a constant feature */
  TCT_TRY(tct_spec_parse(config->solver ? config->solver : "dpfw_parties", "solver", &spec, err));
  const tct_solver *solver = tct_solver_find(spec.name);
  if (!solver || !(s->rounds = tct_rounds_of(solver)))
    return tct_fail(err, TCT_E_USAGE,
                    "parties train with dpfw_parties or gram_parties; give {solver dpfw_parties[:...]}");
  snprintf(count, sizeof count, "%d", s->wire.parties);
  TCT_TRY(tct_spec_set(&spec, "parties", count, err));
  tct_spec_print(&spec, text, sizeof text);
  own.solver = text;
  s->plan = tct_plan_new(&own, json_integer_value(json_object_get(s->hello[0], "rows")), s->cols, err);
  return s->plan ? TCT_OK : err->status;
}

/* Settings as they were asked for: each end resolves them by itself, and the model file holds both. */
static json_t *terms(const service *s, const char *digest, int index) {
  const tct_plan *plan = s->plan;
  return json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:o, s:s, s:o, s:o, s:I, s:I, s:i, s:o, s:b, s:s}", "loss",
                   plan->config.loss, "penalty", plan->config.penalty, "solver", plan->config.solver, "epsilon",
                   tct_json_real(plan->facts.epsilon), "delta", tct_json_real(plan->facts.delta), "neighbours",
                   tct_neighbours_name(plan->facts.neighbours), "row_norm", tct_json_real(plan->facts.row_norm),
                   "rows_rule", plan->config.rows_rule == TCT_ROWS_UNIT ? "unit" : "clip", "label_bound",
                   tct_json_real(plan->config.label_bound), "label_shift", tct_json_real(plan->config.label_shift),
                   "rows", (json_int_t)plan->facts.rows, "columns", (json_int_t)plan->cols, "index", index, "parties",
                   tct_roster_json(&s->roster), "reproducible", s->roster.seeded, "plan", digest);
}

static tct_status agree(service *s, tct_error *err) {
  static const int turns[2][2] = {{TCT_SAY_TERMS, TCT_SAY_ACCEPT}, {TCT_SAY_GO, TCT_SAY_RESERVED}};
  char digest[TCT_DIGEST_HEX];
  TCT_TRY(tct_plan_digest(s->plan, digest, err));
  for (int turn = 0; turn < 2; turn++) {
    for (int k = 0; k < s->wire.parties; k++)
      TCT_TRY(tct_session_say(&s->wire, k, turns[turn][0], turn ? json_object() : terms(s, digest, k), err));
    for (int k = 0; k < s->wire.parties; k++) {
      json_t *answer = NULL;
      TCT_TRY(tct_session_hear(&s->wire, k, turns[turn][1], &answer, err));
      json_decref(answer);
    }
  }
  s->begun = true;
  for (int k = 0; k < s->wire.parties; k++) TCT_TRY(tct_session_say(&s->wire, k, TCT_SAY_BEGIN, json_object(), err));
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
      tct_session_unaccounted(tct_json_word(s->hello[k], "name"),
                              json_string_value(each) ? json_string_value(each) : "?", line, sizeof line);
      if (!tct_model_note(s->model, line)) return tct_fail_memory(err);
    }
  }
  s->model->reproducible = s->roster.seeded;
  return TCT_OK;
}

/* Room for the model's file before anybody reserves: parties pay for no model that cannot be written. */
static tct_status take_room(service *s, tct_error *err) {
  const tct_apart apart = {s->hello, INT64_MAX};
  TCT_TRY(tct_model_observers(s->plan, &apart, s->model, err));
  return tct_model_reserve(s->plan, s->model, err);
}

static tct_status rounds(service *s, tct_error *err) {
  char digest[TCT_DIGEST_HEX];
  const tct_config *config = &s->plan->config;
  s->progress = (tct_progress){config->progress, config->user, 0};
  tct_serving at = {.plan = s->plan, .roster = &s->roster, .wire = &s->wire};
  at.ticks = (tct_problem){.facts = &s->plan->facts, .progress = &s->progress, .cancel = config->cancel};
  at.ticks.user = config->user;
  TCT_TRY(tct_plan_digest(s->plan, digest, err));
  tct_roster_session(&s->roster, s->nonce, digest, at.session);
  s->model->coefficients = TCT_NEW(double, s->cols + 1);
  if (!s->model->coefficients) return tct_fail_memory(err);
  int64_t before = s->wire.bytes_received;
  tct_stop_charged(); /* by the parties */
  TCT_TRY(s->rounds->serve(&at, s->model->coefficients, err));
  if (tct_stopping()) return tct_fail_cancelled(err);
  const tct_apart apart = {s->hello, s->wire.bytes_received - before};
  return tct_model_observers(s->plan, &apart, s->model, err);
}

/* Who is sent the model knows that it is written.  All have paid for it, so it is made and sent though one may be gone
 * by now, and whoever asks this server to end. */
static tct_status give(service *s, tct_error *err) {
  const char *output = s->plan->config.output;
  tct_stop_end(&s->watch);
  char *text = tct_model_json(s->model, err);
  if (!text) return TCT_E_MEMORY;
  tct_status status = output ? tct_model_write(s->model, output, err) : TCT_OK;
  for (int k = 0; k < s->wire.parties && status == TCT_OK; k++)
    (void)tct_wire_send(&s->wire, k, TCT_SAY_MODEL, text, strlen(text), NULL);
  tct_text_free(text);
  if (status == TCT_OK) tct_progress_end(&s->progress);
  return status;
}

static tct_status session(service *s, const tct_config *config, bool over_network, tct_error *err) {
  TCT_TRY(greet(s, err));
  TCT_TRY(check_records(s, err));
  TCT_TRY(fill_roster(s, err));
  TCT_TRY(make_plan(s, config, err));
  TCT_TRY(check_places(s, over_network, err));
  s->model = TCT_NEW(tct_model, 1);
  if (!s->model) return tct_fail_memory(err);
  TCT_TRY(tct_session_describe(s->plan, s->model, err));
  TCT_TRY(gather(s, err));
  TCT_TRY(take_room(s, err));
  TCT_TRY(agree(s, err));
  TCT_TRY(rounds(s, err));
  return give(s, err);
}

/* The parties are told what is said here. */
static void stop(service *s, tct_error *err) {
  if (s->begun) tct_session_add(err, "no model was made, what was charged stays charged");
  char sentence[512];
  tct_error_pack(err, sentence, sizeof sentence);
  for (int k = 0; k < s->wire.parties; k++) tct_wire_send_failure(&s->wire, k, sentence);
}

static tct_status check(const tct_config *config, tct_error *err) {
  if (config->ledger)
    return tct_fail(err, TCT_E_USAGE, "the server has no records to keep a ledger for; the parties keep theirs");
  if (config->has_seed) return tct_fail(err, TCT_E_USAGE, "the server draws no noise; a seed is for a party's {seed}");
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
  tct_stop_watch(&s->watch, own.cancel, own.user);
  tct_status status = check(&own, err);
  if (status == TCT_OK) status = tct_session_open(&own_options, true, &s->wire, err);
  if (status == TCT_OK) {
    status = session(s, &own, own_options.address != NULL, err);
    if (status != TCT_OK) stop(s, err);
  }
  tct_stop_end(&s->watch);
  tct_model *model = status == TCT_OK ? s->model : NULL;
  if (status != TCT_OK) tct_model_free(s->model);
  for (int k = 0; k < TCT_PARTIES_MAX; k++) json_decref(s->hello[k]);
  tct_plan_free(s->plan);
  tct_wire_close(&s->wire);
  tct_free(s);
  return model;
}
