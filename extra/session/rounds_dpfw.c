/* rounds_dpfw.c - dpfw_parties in a session. */
#include "core/alloc.h"
#include "session/rounds.h"
#include "parties/dpfw_parties.h"

extern const tct_solver tct_solver_dpfw_parties;

static const int allowed[] = {TCT_SAY_ACCEPT, TCT_SAY_RESERVED, 0};
static const int paid[] = {TCT_SAY_CHOICE, TCT_SAY_SCORE, TCT_SAY_COLUMN, 0};

static tct_status check_labels(const tct_plan *plan, const tct_roster *roster, const bool *has, tct_error *err) {
  (void)plan;
  return tct_rounds_all_labelled(roster, has, err);
}

static tct_status bound(tct_joining *at, tct_error *err) {
  tct_plan own = *at->plan; /* the same settings for fewer columns */
  own.cols = at->data->x.cols;
  own.facts.p = own.cols;
  return tct_bound_make(&own, at->data, &at->bound, err);
}

static tct_status promise(const tct_plan *plan, int self, tct_promise *out, tct_error *err) {
  tct_parties set;
  (void)self;
  TCT_TRY(tct_parties_settings(&plan->facts, &plan->solved, &set, err));
  return tct_parties_promise(&plan->solved, set.count, 1, out, err);
}

static tct_status run(tct_joining *at, const tct_parties *set, const tct_sketch *sketch, double *w, tct_error *err) {
  tct_party party = {0};
  tct_wire_gate gate = {.wire = at->server, .mech = at->mech};
  tct_party_place place = {.gate = &gate, .order = at->alignment->order, .count = at->data->x.cols};
  tct_status status = tct_party_new(&at->problem, set, sketch, place, &party, err);
  if (status == TCT_OK) status = tct_party_run(&party, w, err);
  tct_party_free(&party);
  return status;
}

static tct_status join(tct_joining *at, double *w, tct_error *err) {
  tct_parties set;
  tct_sketch sketch = {0};
  TCT_TRY(tct_parties_settings(&at->plan->facts, &at->plan->solved, &set, err));
  TCT_TRY(tct_sketch_new(set.seed, at->plan->facts.rows, set.size, (int)set.per_record, &sketch, err));
  tct_status status = run(at, &set, &sketch, w, err);
  tct_sketch_free(&sketch);
  return status;
}

static tct_status serve(tct_serving *at, double *w, tct_error *err) {
  tct_parties set;
  tct_parties_server server = {0};
  TCT_TRY(tct_parties_settings(&at->plan->facts, &at->plan->solved, &set, err));
  TCT_TRY(tct_parties_server_new(&at->plan->facts, &set, at->wire, at->roster->width, w, &server, err));
  tct_status status = tct_parties_server_run(&server, &at->ticks, err);
  tct_parties_server_free(&server);
  return status;
}

const tct_rounds tct_rounds_dpfw = {
    .solver = &tct_solver_dpfw_parties,
    .allowed = allowed,
    .paid = paid,
    .check_labels = check_labels,
    .bound = bound,
    .promise = promise,
    .join = join,
    .serve = serve,
};
