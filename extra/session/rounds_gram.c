/* rounds_gram.c - gram_parties in a session: masked columns go from party to party, the server deals and opens. */
#include "core/alloc.h"
#include "session/rounds.h"
#include "parties/gram_parties.h"

#include <string.h>

extern const tct_solver tct_solver_gram_parties;

static const int allowed[] = {TCT_SAY_ACCEPT, TCT_SAY_RESERVED, TCT_RING_SEED, 0};
static const int paid[] = {TCT_RING_SHARE, 0}; /* and columns to peers: session/peers.c */

static tct_status check_labels(const tct_plan *plan, const tct_roster *roster, const bool *has, tct_error *err) {
  tct_gram set;
  TCT_TRY(tct_gram_settings(&plan->facts, &plan->solved, &set, err));
  if (!set.one_label) return tct_rounds_all_labelled(roster, has, err);
  if (!has[0]) return tct_fail(err, TCT_E_USAGE, "nobody brings labels; give {label} to one party");
  for (int k = 1; k < roster->count; k++)
    if (has[k])
      return tct_fail(err, TCT_E_USAGE,
                      "with labels=one a single party brings labels; run '%.60s' without {label}, or take labels=all",
                      roster->name[k]);
  return TCT_OK;
}

/* Each party brings its own part of a record to its own norm. */
static tct_status bound(tct_joining *at, tct_error *err) {
  tct_gram set;
  tct_plan own = *at->plan;
  TCT_TRY(tct_gram_settings(&at->plan->facts, &at->plan->solved, &set, err));
  bool needs_labels = !set.one_label || at->self == 0;
  own.cols = at->data->x.cols;
  own.facts.p = own.cols;
  own.facts.row_norm = set.norm[at->self];
  if (needs_labels) return tct_bound_make(&own, at->data, &at->bound, err);
  if (!at->data->y) return tct_bound_records(&own, at->data, &at->bound, err);
  return tct_fail(err, TCT_E_USAGE, "the server wants another party's labels; give no {label}, or settle labels=all");
}

static tct_status promise(const tct_plan *plan, int self, tct_promise *out, tct_error *err) {
  return tct_gram_promise(&plan->solved, self, out, err);
}

/* ---- a party --------------------------------------------------------------------------------------------------- */

static void link_all(const tct_joining *at, tct_ring_party *ring) {
  tct_ring_party_link(ring, TCT_SERVER, (tct_ring_link){at->server, TCT_SERVER});
  for (int k = 0; k < at->roster->count; k++) {
    tct_wire *wire = &at->peers->wire[k];
    if (k != at->self) tct_ring_party_link(ring, k, (tct_ring_link){wire, wire->self == TCT_SERVER ? 0 : TCT_SERVER});
  }
}

/* row_at[i]: which own row is the i-th of all parties. */
static tct_status rows_in_order(const tct_joining *at, int64_t **row_at, tct_error *err) {
  const int64_t *order = at->alignment->order;
  *row_at = NULL;
  if (!order) return TCT_OK;
  *row_at = TCT_NEW(int64_t, at->data->x.rows);
  if (!*row_at) return tct_fail_memory(err);
  for (int64_t i = 0; i < at->data->x.rows; i++) (*row_at)[order[i]] = i;
  return TCT_OK;
}

static tct_status run(tct_joining *at, tct_gram_place place, tct_error *err) {
  tct_gram set;
  tct_gram_party party = {0};
  int64_t start[TCT_PARTIES_MAX + 1];
  TCT_TRY(tct_gram_settings(&at->plan->facts, &at->plan->solved, &set, err));
  tct_gram_starts(&set, at->roster->width, start);
  place.start = start;
  tct_status status = tct_gram_party_new(&set, place, &party, err);
  if (status == TCT_OK) status = tct_gram_party_run(&party, &at->problem, err);
  tct_gram_party_free(&party);
  return status;
}

static tct_status join(tct_joining *at, double *w, tct_error *err) {
  int64_t *row_at = NULL;
  tct_ring_party *ring = NULL;
  tct_ring_place in_ring = {.self = at->self, .parties = at->roster->count, .seeds = TCT_RING_APART};
  memcpy(in_ring.session, at->session, sizeof in_ring.session);
  tct_status status = rows_in_order(at, &row_at, err);
  if (status == TCT_OK) status = tct_ring_party_new(at->mech, &in_ring, &ring, err);
  if (status == TCT_OK) {
    link_all(at, ring);
    tct_gram_place place = {.self = at->self, .view = &at->bound.view, .row_at = row_at, .ring = ring};
    place.y = at->bound.y;
    status = run(at, place, err);
  }
  tct_ring_party_free(ring);
  tct_free(row_at);
  TCT_TRY(status);
  return tct_wire_receive_reals(at->server, TCT_SERVER, TCT_RING_DONE, w, at->plan->facts.p, err);
}

/* ---- the server ------------------------------------------------------------------------------------------------ */

/* Noise that the server adds, where it was planned, comes through a gate of its own. */
static tct_status gate_of(const tct_serving *at, const tct_gram *set, tct_mech **mech, tct_error *err) {
  tct_promise own = {0};
  *mech = NULL;
  if (!set->server_noise) return TCT_OK;
  tct_status status = tct_gram_promise(&at->plan->solved, TCT_GRAM_SERVER, &own, err);
  if (status == TCT_OK) status = tct_mech_new(&own, at->plan->facts.neighbours, NULL, mech, err);
  tct_promise_free(&own);
  return status;
}

static tct_status open_sums(tct_gram_server *server, const tct_serving *at, tct_statistics *opened, tct_error *err) {
  for (int k = 0; k < at->roster->count; k++) tct_ring_server_link(server->ring, k, (tct_ring_link){at->wire, k});
  TCT_TRY(tct_gram_server_deal(server, err));
  TCT_TRY(tct_problem_tick(&at->ticks, 0.5, err));
  TCT_TRY(tct_gram_server_open(server, opened, err));
  return server->mech ? tct_mech_spent_exactly(server->mech, err) : TCT_OK;
}

/* A party that is gone by now does not take the model from those who have paid for it. */
static void tell_all(const tct_serving *at, const double *w) {
  for (int k = 0; k < at->roster->count; k++)
    (void)tct_wire_send_reals(at->wire, k, TCT_RING_DONE, w, at->plan->facts.p, NULL);
}

static tct_status serve(tct_serving *at, double *w, tct_error *err) {
  tct_gram set;
  tct_statistics opened = {0};
  int64_t start[TCT_PARTIES_MAX + 1];
  tct_gram_server server = {.facts = &at->plan->facts, .set = &set, .start = start};
  TCT_TRY(tct_gram_settings(&at->plan->facts, &at->plan->solved, &set, err));
  tct_gram_starts(&set, at->roster->width, start);
  tct_status status = gate_of(at, &set, &server.mech, err);
  if (status == TCT_OK) status = tct_ring_server_new(at->roster->count, at->session, &server.ring, err);
  if (status == TCT_OK) status = open_sums(&server, at, &opened, err);
  if (status == TCT_OK) status = tct_gram_fit(&at->plan->facts, &at->plan->solved, &opened, w, err);
  if (status == TCT_OK) tell_all(at, w);
  tct_statistics_free(&opened);
  tct_ring_server_free(server.ring);
  tct_mech_free(server.mech);
  return status;
}

const tct_rounds tct_rounds_gram = {
    .solver = &tct_solver_gram_parties,
    .between = true,
    .allowed = allowed,
    .paid = paid,
    .check_labels = check_labels,
    .bound = bound,
    .promise = promise,
    .join = join,
    .serve = serve,
};
