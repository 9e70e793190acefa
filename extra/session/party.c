/* party.c - one party of a session: it plans what the server asks for by itself, reserves, charges, releases no more.
 *
 * A session of which one party cannot pay must cost nobody anything.  So all reserve first, and each charges as late as
 * it can: before the first frame that needs its records.  Until then whoever stops leaves the others uncharged. */
#include "core/alloc.h"
#include "core/stop.h"
#include "train/promise.h"
#include "session/terms.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How far this party is with its ledger, and with the server's answer. */
typedef enum stage { NOT_CHARGED, CHARGING, CHARGED, ANSWERED } stage;

typedef struct taking_part {
  const tct_config *config; /* what this party agrees to */
  const tct_session *options;
  const tct_data *data;
  tct_wire wire;
  tct_peers peers;
  char address[TCT_ROSTER_ADDRESS]; /* where the other parties come to */
  tct_transcript transcript;
  tct_secret secret;
  tct_alignment alignment;
  char nonce[TCT_NONCE_HEX];
  tct_terms terms;
  stage stage;
  tct_phases phases;
  tct_model *model;      /* carries the ledger entry, then the server's */
  tct_joining at;        /* what the rounds work on */
  tct_progress progress; /* what at.problem borrows */
  double *w;
} taking_part;

/* ---- hello ----------------------------------------------------------------------------------------------------- */

static json_t *names_of(const tct_data *data) {
  json_t *list = json_array();
  for (int64_t j = 0; list && j < data->x.cols; j++) {
    const char *name = tct_data_feature(data, j);
    json_t *text = name ? json_string(name) : NULL;
    json_array_append_new(list, text ? text : json_string("?"));
  }
  return list;
}

static tct_status hear_welcome(taking_part *s, tct_error *err) {
  json_t *welcome = NULL;
  TCT_TRY(tct_session_hear(&s->wire, TCT_SERVER, TCT_SAY_WELCOME, &welcome, err));
  const char *nonce = tct_json_said(welcome, "nonce");
  tct_status status = TCT_OK;
  snprintf(s->nonce, sizeof s->nonce, "%s", nonce ? nonce : "");
  if (!tct_json_says(welcome, "version", TCT_VERSION))
    status = tct_fail(err, TCT_E_USAGE, "the server runs another version of tacit than this party; install one");
  json_decref(welcome);
  return status;
}

static tct_status introduce(taking_part *s, tct_error *err) {
  json_t *lines = json_array();
  char loss[400];
  TCT_TRY(tct_own_loss(s->config, loss, sizeof loss, err));
  TCT_TRY(hear_welcome(s, err));
  TCT_TRY(tct_align(s->data, &s->secret, s->nonce, &s->alignment, err));
  for (int i = 0; i < TCT_UNACCOUNTED && s->data->unaccounted[i]; i++)
    json_array_append_new(lines, json_string(s->data->unaccounted[i]));
  json_t *hello = json_pack("{s:s, s:I, s:o, s:s, s:s, s:s, s:b, s:b, s:o, s:s}", "version", TCT_VERSION, "rows",
                            (json_int_t)s->data->x.rows, "features", names_of(s->data), "loss", loss, "keys",
                            s->alignment.keys, "labels", s->alignment.labels, "key_column", s->data->keys != NULL,
                            "reproducible", s->config->has_seed != 0, "unaccounted", lines, "address", s->address);
  return tct_session_say(&s->wire, TCT_SERVER, TCT_SAY_HELLO, hello, err);
}

/* ---- terms ----------------------------------------------------------------------------------------------------- */

static tct_status read_terms(taking_part *s, tct_error *err) {
  json_t *terms = NULL;
  const tct_agreed own = {
      .config = s->config, .solver = s->config->solver, .data = s->data, .nonce = s->nonce, .address = s->address};
  TCT_TRY(tct_session_hear(&s->wire, TCT_SERVER, TCT_SAY_TERMS, &terms, err));
  tct_status status = tct_terms_read(terms, &own, &s->terms, err);
  json_decref(terms);
  return status;
}

/* The records as the rounds see them: this party's columns, bounded. */
static tct_status bound_records(taking_part *s, tct_error *err) {
  s->at = (tct_joining){.plan = s->terms.plan,
                        .data = s->data,
                        .roster = &s->terms.roster,
                        .alignment = &s->alignment,
                        .self = s->terms.index,
                        .server = &s->wire,
                        .peers = &s->peers};
  memcpy(s->at.session, s->terms.session, sizeof s->at.session);
  if (s->data->weight) return tct_fail(err, TCT_E_USAGE, "parties cannot weigh records; drop the weights");
  if (s->data->offset)
    return tct_fail(err, TCT_E_USAGE, "parties take no offset or exposure; leave it out of the schema");
  return s->terms.rounds->bound(&s->at, err);
}

/* Nothing is reserved before all who are needed are there. */
static tct_status meet(taking_part *s, tct_error *err) {
  tct_seat place = {.roster = &s->terms.roster,
                    .self = s->terms.index,
                    .secret = &s->secret,
                    .server = &s->wire,
                    .transcript = &s->transcript};
  memcpy(place.session, s->terms.session, sizeof place.session);
  if (!s->terms.rounds->between) return TCT_OK;
  return tct_peers_meet(&s->peers, &place, err);
}

/* In this party's ledger, until the others have waited long enough.  What reading took here stands there as it will in
 * the model (gather in serve.c). */
static tct_status reserve(taking_part *s, tct_error *err) {
  s->model = TCT_NEW(tct_model, 1);
  if (!s->model) return tct_fail_memory(err);
  s->phases.seconds = s->options->timeout;
  TCT_TRY(tct_session_describe(s->terms.plan, s->model, err));
  for (int i = 0; i < TCT_UNACCOUNTED && s->data->unaccounted[i]; i++) {
    char line[TCT_SESSION_LINE];
    tct_session_unaccounted(s->terms.roster.name[s->terms.index], s->data->unaccounted[i], line, sizeof line);
    if (!tct_model_note(s->model, line)) return tct_fail_memory(err);
  }
  return tct_model_promise(s->terms.plan, s->data, &s->phases, s->model, err);
}

/* Called by the wires before a frame that needs this party's records: the first one has the reservation charged. */
static tct_status pay(void *user, tct_error *err) {
  taking_part *s = user;
  if (s->stage >= CHARGED) return TCT_OK;
  s->stage = CHARGING;
  tct_status status = tct_model_promise(s->terms.plan, s->data, &s->phases, s->model, err);
  if (status == TCT_OK) s->stage = CHARGED, tct_stop_charged();
  if (status == TCT_E_BUDGET) s->stage = NOT_CHARGED;
  return status;
}

static tct_status hear_word(taking_part *s, int type, tct_error *err) {
  json_t *nothing = NULL;
  TCT_TRY(tct_session_hear(&s->wire, TCT_SERVER, type, &nothing, err));
  json_decref(nothing);
  return TCT_OK;
}

static tct_status agree(taking_part *s, tct_error *err) {
  TCT_TRY(read_terms(s, err));
  s->wire.self = s->terms.index;
  s->wire.allowed = s->terms.rounds->allowed, s->wire.paid = s->terms.rounds->paid;
  s->wire.pay = pay, s->wire.pay_user = s;
  TCT_TRY(bound_records(s, err));
  TCT_TRY(tct_session_say(&s->wire, TCT_SERVER, TCT_SAY_ACCEPT, json_object(), err));
  TCT_TRY(hear_word(s, TCT_SAY_GO, err));
  TCT_TRY(meet(s, err));
  TCT_TRY(reserve(s, err));
  TCT_TRY(tct_session_say(&s->wire, TCT_SERVER, TCT_SAY_RESERVED, json_object(), err));
  return hear_word(s, TCT_SAY_BEGIN, err);
}

/* ---- rounds ---------------------------------------------------------------------------------------------------- */

static tct_status open_gate(taking_part *s, tct_error *err) {
  tct_promise own = {0};
  const tct_config *c = &s->terms.plan->config;
  tct_status status = s->terms.rounds->promise(s->terms.plan, s->terms.index, &own, err);
  if (status == TCT_OK)
    status = tct_mech_new(&own, s->terms.plan->facts.neighbours, c->has_seed ? &c->seed : NULL, &s->at.mech, err);
  tct_promise_free(&own);
  return status;
}

static tct_status rounds(taking_part *s, tct_error *err) {
  const tct_config *c = &s->terms.plan->config;
  s->at.problem = (tct_problem){.facts = &s->terms.plan->facts, .view = &s->at.bound.view, .y = s->at.bound.y};
  s->progress = (tct_progress){c->progress, c->user, 0};
  s->at.problem.progress = &s->progress, s->at.problem.cancel = c->cancel, s->at.problem.user = c->user;
  TCT_TRY(open_gate(s, err));
  s->w = TCT_NEW(double, s->terms.plan->facts.p);
  if (!s->w) return tct_fail_memory(err);
  TCT_TRY(s->terms.rounds->join(&s->at, s->w, err));
  if (tct_stopping()) return tct_fail_cancelled(err);
  return tct_mech_spent_exactly(s->at.mech, err);
}

/* The server's model must be the one that the rounds ended with, under the claim that was planned. */
static tct_status take_model(taking_part *s, tct_error *err) {
  void *text = NULL;
  size_t size = 0;
  tct_model *m = NULL;
  tct_own_part own = {.plan = s->terms.plan, .data = s->data, .index = s->terms.index, .w = s->w};
  own.has_seed = s->config->has_seed != 0;
  TCT_TRY(tct_wire_receive_any(&s->wire, TCT_SERVER, TCT_SAY_MODEL, TCT_SESSION_MOST, &text, &size, err));
  s->stage = ANSWERED;
  tct_status status = tct_session_take(&own, text, &m, err);
  tct_free(text);
  TCT_TRY(status);
  m->ledger_head = s->model->ledger_head, m->run_id = s->model->run_id;
  m->for_tests = s->model->for_tests, m->warning = s->model->warning;
  s->model->ledger_head = s->model->run_id = s->model->warning = NULL;
  tct_model_free(s->model);
  s->model = m;
  return tct_inputs_copy(&m->inputs, &s->data->inputs, err);
}

/* ---- the session ----------------------------------------------------------------------------------------------- */

static tct_status check(const tct_config *config, const tct_session *o, tct_error *err) {
  if (!o->secret)
    return tct_fail(err, TCT_E_USAGE, "no secret is given; share a file of 32 random bytes or more among the parties");
  if (isnan(config->epsilon) || (isnan(config->delta) && isfinite(config->epsilon)))
    return tct_fail(err, TCT_E_USAGE, "say what this party agrees to at most: {epsilon} and {delta}");
  if (strcmp(config->scale, "none") || strcmp(config->label_scale, "none"))
    return tct_fail(err, TCT_E_USAGE, "parties do not scale by statistics of the data; give public bounds");
  return TCT_OK;
}

static tct_status take_settings(const tct_config *config, tct_config *own, const tct_session *options,
                                tct_session *own_options, tct_error *err) {
  TCT_TRY(tct_config_take(config, own, err));
  return tct_session_options(options, own_options, err);
}

static void leave(taking_part *s) {
  tct_mech_free(s->at.mech);
  tct_bound_free(&s->at.bound);
  tct_free(s->w);
  tct_plan_free(s->terms.plan);
  tct_alignment_free(&s->alignment);
  tct_peers_close(&s->peers);
  tct_wire_close(&s->wire);
  tct_transcript_close(&s->transcript, NULL);
  tct_wipe_free(s, 1, sizeof *s);
}

/* The wire to the server is open. */
static tct_status take_part(taking_part *s, tct_error *err) {
  static const int before_terms[] = {TCT_SAY_HELLO, 0};
  s->wire.allowed = before_terms;
  TCT_TRY(tct_transcript_open(s->options, &s->data->inputs, &s->wire, &s->transcript, err));
  TCT_TRY(introduce(s, err));
  TCT_TRY(agree(s, err));
  TCT_TRY(rounds(s, err));
  TCT_TRY(take_model(s, err));
  TCT_TRY(tct_transcript_close(&s->transcript, err));
  tct_progress_end(&s->progress);
  return TCT_OK;
}

/* What is true of the charge and of the model when this party stops. */
static void add_outcome(const taking_part *s, tct_error *err) {
  static const char unknown[] = ", and does not know whether there is a model; ask who runs the server";
  char line[TCT_SESSION_LINE];
  bool knows = s->stage == ANSWERED || s->wire.peer_spoke; /* or has it from the server, which is quoted */
  snprintf(line, sizeof line, "this party %s%s", s->config->ledger ? "was charged" : "keeps no ledger",
           knows ? "" : unknown);
  if (s->stage == NOT_CHARGED) snprintf(line, sizeof line, "this party was not charged");
  if (s->stage == CHARGING) snprintf(line, sizeof line, "this party's ledger tells whether it was charged");
  tct_session_add(err, line);
}

static void stop(taking_part *s, tct_error *err) {
  tct_wire_send_failure(&s->wire, TCT_SERVER, "this party stopped; its own message says why");
  if (s->stage == NOT_CHARGED && s->phases.id[0]) tct_ledger_release(s->config->ledger, s->phases.id, NULL);
  add_outcome(s, err);
}

static tct_status join(taking_part *s, tct_error *err) {
  TCT_TRY(check(s->config, s->options, err));
  TCT_TRY(tct_fit_check_positive(s->data, err));
  TCT_TRY(tct_secret_read(s->options->secret, NULL, &s->secret, err));
  TCT_TRY(tct_peers_listen(s->options, &s->peers, s->address, err));
  TCT_TRY(tct_session_open(s->options, false, &s->wire, err));
  tct_status status = take_part(s, err);
  if (status != TCT_OK) stop(s, err);
  return status;
}

tct_model *tct_join(const tct_config *given, const tct_data *data, const tct_session *given_options, tct_error *err) {
  tct_error own;
  tct_stop stop;
  tct_config config;
  tct_session options;
  tct_error_clear(err);
  if (!err) err = &own;
  if (take_settings(given, &config, given_options, &options, err) != TCT_OK) return NULL;
  taking_part *s = TCT_NEW(taking_part, 1);
  if (!s) return tct_fail_memory(err), NULL;
  s->config = &config, s->options = &options, s->data = data;
  tct_stop_watch(&stop, config.cancel, config.user);
  tct_status status = join(s, err);
  tct_stop_end(&stop);
  tct_model *model = status == TCT_OK ? s->model : NULL;
  if (status != TCT_OK) tct_model_free(s->model);
  leave(s);
  return model;
}
