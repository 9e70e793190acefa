/* party.c - one party of a session: it plans what the server asks for by itself, charges, and releases no more. */
#include "core/alloc.h"
#include "train/bound.h"
#include "train/charge.h"
#include "model/json.h"
#include "train/one_program.h"
#include "session/session.h"
#include "train/plan.h"
#include "solve/parties/dpfw_parties.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct taking_part {
  const tct_config *config; /* what this party agrees to */
  const tct_data *data;
  tct_wire wire;
  tct_transcript transcript;
  tct_alignment alignment;
  tct_plan *plan;   /* of all parties together */
  tct_model *model; /* carries the ledger entry, then the server's */
  tct_bound bound;
  tct_mech *mech;
  tct_parties set;
  tct_sketch sketch;
  tct_problem problem;
  tct_progress progress; /* with share, what `party` works on and borrows */
  tct_wire_gate gate;
  tct_party party;
  double *w;
} taking_part;

static tct_status own_loss(const tct_config *config, char *text, size_t size, tct_error *err) {
  tct_loss loss;
  if (!config->loss) return tct_fail(err, TCT_E_USAGE, "no loss is given; give the one that the server trains with");
  TCT_TRY(tct_loss_make(config->loss, &loss, err));
  tct_spec_print(&loss.spec, text, size);
  return TCT_OK;
}

static json_t *names_of(const tct_data *data) {
  json_t *list = json_array();
  for (int64_t j = 0; list && j < data->x.cols; j++) {
    const char *name = tct_data_feature(data, j);
    json_t *text = name ? json_string(name) : NULL;
    json_array_append_new(list, text ? text : json_string("?"));
  }
  return list;
}

static tct_status introduce(taking_part *s, const tct_session *o, tct_error *err) {
  json_t *welcome = NULL, *lines = json_array();
  char loss[400];
  TCT_TRY(own_loss(s->config, loss, sizeof loss, err));
  TCT_TRY(tct_session_hear(&s->wire, TCT_SERVER, TCT_SAY_WELCOME, &welcome, err));
  const char *nonce = json_string_value(json_object_get(welcome, "nonce"));
  const char *version = json_string_value(json_object_get(welcome, "version"));
  tct_status status = TCT_OK;
  if (!version || strcmp(version, TCT_VERSION) != 0)
    status = tct_fail(err, TCT_E_USAGE, "the server runs another version of tacit than this party; install one");
  if (status == TCT_OK) status = tct_align(s->data, o->secret, nonce ? nonce : "", &s->alignment, err);
  json_decref(welcome);
  TCT_TRY(status);
  for (int i = 0; i < TCT_UNACCOUNTED && s->data->unaccounted[i]; i++)
    json_array_append_new(lines, json_string(s->data->unaccounted[i]));
  json_t *hello = json_pack("{s:s, s:I, s:o, s:s, s:s, s:s, s:b, s:b, s:o}", "version", TCT_VERSION, "rows",
                            (json_int_t)s->data->x.rows, "features", names_of(s->data), "loss", loss, "keys",
                            s->alignment.keys, "labels", s->alignment.labels, "key_column", s->data->keys != NULL,
                            "reproducible", s->config->has_seed != 0, "unaccounted", lines);
  return tct_session_say(&s->wire, TCT_SERVER, TCT_SAY_HELLO, hello, err);
}

/* The terms as a plan of this party's own making. */
static tct_status plan_terms(taking_part *s, const json_t *terms, tct_error *err) {
  tct_config c = *s->config;
  c.intercept = 0; /* no party owns a constant feature */
  json_t *epsilon = json_object_get(terms, "epsilon"), *rule = json_object_get(terms, "rows_rule");
  c.loss = json_string_value(json_object_get(terms, "loss"));
  c.penalty = json_string_value(json_object_get(terms, "penalty"));
  c.solver = json_string_value(json_object_get(terms, "solver"));
  c.neighbours = tct_neighbours_find(json_string_value(json_object_get(terms, "neighbours")));
  c.rows_rule =
      rule && !strcmp(json_string_value(rule) ? json_string_value(rule) : "", "unit") ? TCT_ROWS_UNIT : TCT_ROWS_CLIP;
  if (!c.loss || !c.penalty || !c.solver || c.neighbours < 0 || !tct_json_get_real(epsilon, &c.epsilon) ||
      !tct_json_get_real(json_object_get(terms, "delta"), &c.delta) ||
      !tct_json_get_real(json_object_get(terms, "row_norm"), &c.row_norm) ||
      !tct_json_get_real(json_object_get(terms, "label_bound"), &c.label_bound) ||
      !tct_json_get_real(json_object_get(terms, "label_shift"), &c.label_shift))
    return tct_fail(err, TCT_E_RUN, "the server's terms are unreadable; check that both ends run the same version");
  s->plan = tct_plan_new(&c, json_integer_value(json_object_get(terms, "rows")),
                         json_integer_value(json_object_get(terms, "columns")), err);
  return s->plan ? TCT_OK : err->status;
}

/* The server has resolved the same terms to the same plan, in every number: its model will be compared with this one.
 */
static tct_status same_plan(const tct_plan *plan, const json_t *said, tct_error *err) {
  char own[TCT_DIGEST_HEX];
  TCT_TRY(tct_plan_digest(plan, own, err));
  if (json_is_string(said) && !strcmp(json_string_value(said), own)) return TCT_OK;
  return tct_fail(err, TCT_E_RUN,
                  "the server's plan is not what its terms come to here; run one version on machines of one kind");
}

static tct_status check_terms(const taking_part *s, int64_t index, tct_error *err) {
  char own[400], asked[400];
  const tct_facts *f = &s->plan->facts;
  TCT_TRY(own_loss(s->config, own, sizeof own, err));
  tct_spec_print(&f->loss.spec, asked, sizeof asked);
  if (strcmp(own, asked))
    return tct_fail(err, TCT_E_USAGE, "the server trains with the loss %.60s, this party agreed to %.60s; settle it",
                    asked, own);
  if (!s->plan->solver->over_wire)
    return tct_fail(err, TCT_E_USAGE, "the server asks for a solver that is not for parties; stop trusting it");
  if (!(f->epsilon <= s->config->epsilon) || !(f->delta <= s->config->delta))
    return tct_fail(err, TCT_E_BUDGET,
                    "the server asks for epsilon %g, delta %g, more than this party agrees to (%g, %g)", f->epsilon,
                    f->delta, s->config->epsilon, s->config->delta);
  if ((int)f->neighbours != s->config->neighbours)
    return tct_fail(err, TCT_E_USAGE, "the server's neighbours are %s, this party agreed to the other; settle it",
                    tct_neighbours_name(f->neighbours));
  int64_t parties = tct_spec_count(&s->plan->solved.spec, s->plan->solver->options, "parties");
  if (f->rows != s->data->x.rows || index < 0 || index >= parties || s->plan->cols < s->data->x.cols)
    return tct_fail(err, TCT_E_RUN, "the server's terms do not fit this party's records; stop trusting it");
  return TCT_OK;
}

/* The records as the rounds see them: this party's columns, bounded. */
static tct_status bound_records(taking_part *s, tct_error *err) {
  tct_plan own = *s->plan; /* the same settings for fewer columns */
  own.cols = s->data->x.cols;
  own.facts.p = own.cols;
  if (s->data->weight) return tct_fail(err, TCT_E_USAGE, "dpfw_parties cannot weigh records; drop the weights");
  return tct_bound_make(&own, s->data, &s->bound, err);
}

static tct_status agree(taking_part *s, tct_error *err) {
  json_t *terms = NULL, *go = NULL;
  TCT_TRY(tct_session_hear(&s->wire, TCT_SERVER, TCT_SAY_TERMS, &terms, err));
  tct_status status = plan_terms(s, terms, err);
  if (status == TCT_OK) status = same_plan(s->plan, json_object_get(terms, "plan"), err);
  int64_t index = json_integer_value(json_object_get(terms, "index"));
  json_decref(terms);
  TCT_TRY(status);
  TCT_TRY(check_terms(s, index, err));
  s->wire.self = (int)index;
  TCT_TRY(bound_records(s, err));
  TCT_TRY(tct_session_say(&s->wire, TCT_SERVER, TCT_SAY_ACCEPT, json_object(), err));
  TCT_TRY(tct_session_hear(&s->wire, TCT_SERVER, TCT_SAY_GO, &go, err));
  json_decref(go);
  s->model = TCT_NEW(tct_model, 1);
  if (!s->model) return tct_fail_memory(err);
  TCT_TRY(tct_session_describe(s->plan, s->model, err));
  TCT_TRY(tct_model_promise(s->plan, s->data, s->model, err));
  return tct_session_say(&s->wire, TCT_SERVER, TCT_SAY_READY, json_object(), err);
}

static tct_status rounds(taking_part *s, tct_error *err) {
  const tct_config *c = &s->plan->config;
  s->problem = (tct_problem){.facts = &s->plan->facts, .view = &s->bound.view, .y = s->bound.y};
  s->progress = (tct_progress){c->progress, c->user, 0};
  s->problem.progress = &s->progress, s->problem.cancel = c->cancel, s->problem.user = c->user;
  s->gate = (tct_wire_gate){.wire = &s->wire};
  tct_promise own = {0};
  TCT_TRY(tct_parties_settings(&s->plan->facts, &s->plan->solved, &s->set, err));
  TCT_TRY(tct_sketch_new(s->set.seed, s->plan->facts.rows, s->set.size, (int)s->set.per_record, &s->sketch, err));
  tct_status status = tct_parties_promise(&s->plan->solved, s->set.count, 1, &own, err);
  if (status == TCT_OK)
    status = tct_mech_new(&own, s->plan->facts.neighbours, c->has_seed ? &c->seed : NULL, &s->mech, err);
  tct_promise_free(&own);
  TCT_TRY(status);
  s->gate.mech = s->mech;
  s->w = TCT_NEW(double, s->plan->facts.p);
  if (!s->w) return tct_fail_memory(err);
  tct_party_place place = {.gate = &s->gate, .order = s->alignment.order, .count = s->data->x.cols};
  TCT_TRY(tct_party_new(&s->problem, &s->set, &s->sketch, place, &s->party, err));
  TCT_TRY(tct_party_run(&s->party, s->w, err));
  return tct_mech_spent_exactly(s->mech, err);
}

/* The server's model must be the one that the rounds ended with, under the claim that was planned. */
static tct_status take_model(taking_part *s, tct_error *err) {
  void *text = NULL;
  size_t size = 0;
  tct_model *m = NULL;
  tct_own_part own = {.plan = s->plan, .data = s->data, .index = s->wire.self, .w = s->w};
  own.has_seed = s->config->has_seed != 0;
  TCT_TRY(tct_wire_receive_any(&s->wire, TCT_SERVER, TCT_SAY_MODEL, TCT_SESSION_MOST, &text, &size, err));
  tct_status status = tct_session_take(&own, text, &m, err);
  tct_free(text);
  TCT_TRY(status);
  m->ledger_head = s->model->ledger_head, m->run_id = s->model->run_id;
  m->for_tests = s->model->for_tests, m->warning = s->model->warning;
  s->model->ledger_head = s->model->run_id = s->model->warning = NULL;
  tct_model_free(s->model);
  s->model = m;
  return TCT_OK;
}

static tct_status check(const tct_config *config, const tct_session *o, tct_error *err) {
  if (!o->secret)
    return tct_fail(err, TCT_E_USAGE, "no secret is given; share a file of 32 random bytes or more among the parties");
  if (isnan(config->epsilon) || (isnan(config->delta) && isfinite(config->epsilon)))
    return tct_fail(err, TCT_E_USAGE, "say what this party agrees to at most: --epsilon and --delta");
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
  tct_party_free(&s->party);
  tct_mech_free(s->mech);
  tct_sketch_free(&s->sketch);
  tct_bound_free(&s->bound);
  tct_free(s->w);
  tct_plan_free(s->plan);
  tct_alignment_free(&s->alignment);
  tct_wire_close(&s->wire);
  tct_transcript_close(&s->transcript, NULL);
  tct_free(s);
}

tct_model *tct_join(const tct_config *given, const tct_data *data, const tct_session *given_options, tct_error *err) {
  tct_error own;
  tct_config config;
  tct_session options;
  tct_error_clear(err);
  if (!err) err = &own;
  if (take_settings(given, &config, given_options, &options, err) != TCT_OK) return NULL;
  taking_part *s = TCT_NEW(taking_part, 1);
  if (!s) return tct_fail_memory(err), NULL;
  s->config = &config, s->data = data;
  tct_status status = check(&config, &options, err);
  if (status == TCT_OK) status = tct_fit_check_positive(data, err);
  if (status == TCT_OK) status = tct_session_open(&options, false, &s->wire, err);
  if (status == TCT_OK) {
    status = tct_transcript_open(options.transcript, &s->wire, &s->transcript, err);
    if (status == TCT_OK) status = introduce(s, &options, err);
    if (status == TCT_OK) status = agree(s, err);
    if (status == TCT_OK) status = rounds(s, err);
    if (status == TCT_OK) status = take_model(s, err);
    if (status == TCT_OK) status = tct_transcript_close(&s->transcript, err);
    if (status == TCT_OK) tct_progress_end(&s->progress);
    if (status != TCT_OK) tct_wire_send_failure(&s->wire, TCT_SERVER, "this party stopped; its own message says why");
  }
  tct_model *model = status == TCT_OK ? s->model : NULL;
  if (status != TCT_OK) tct_model_free(s->model);
  leave(s);
  return model;
}
