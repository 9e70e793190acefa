/* observers.c - what each observer of a run between parties can learn at most: an epsilon for each. */
#include "core/alloc.h"
#include "model/json.h"
#include "train/plan.h"
#include "solve/parties/dpfw_parties.h"

#include <stdlib.h>
#include <string.h>

static json_t *observer(const char *who, const char *about, double epsilon) {
  return json_pack("{s:s, s:s, s:o}", "who", who, "about", about, "epsilon", tct_json_real(epsilon));
}

/* Against a party the releases of the others count: it knows its own columns and the labels. */
static tct_status against_party(const tct_plan *plan, int parties, double *epsilon, tct_error *err) {
  tct_promise others = {0};
  tct_cost cost = {0};
  *epsilon = 0;
  if (parties < 2) return TCT_OK;
  tct_status status = tct_parties_promise(&plan->solved, parties, parties - 1, &others, err);
  if (status == TCT_OK)
    status = tct_account_epsilon(&others.events, plan->facts.neighbours, plan->facts.delta, TCT_PRECISION, &cost, err);
  tct_promise_free(&others);
  *epsilon = cost.epsilon < plan->facts.epsilon ? cost.epsilon : plan->facts.epsilon;
  return status;
}

static json_t *party_list(json_t *const *hello, int parties) {
  json_t *list = json_array();
  for (int k = 0; hello && k < parties; k++)
    json_array_append_new(list, json_pack("{s:O, s:I}", "name", json_object_get(hello[k], "name"), "columns",
                                          (json_int_t)json_array_size(json_object_get(hello[k], "features"))));
  return list;
}

tct_status tct_model_observers(const tct_plan *plan, json_t *const *hello, int64_t uplink, tct_model *model,
                               tct_error *err) {
  double party = INFINITY, all = plan->facts.epsilon;
  if (!plan->solver->by_parties) return TCT_OK;
  int parties = (int)tct_spec_count(&plan->solved.spec, plan->solver->options, "parties");
  if (model->is_private) TCT_TRY(against_party(plan, parties, &party, err));
  json_t *o = json_pack("{s:b, s:i, s:o, s:[o,o,o]}", "apart", hello != NULL, "count", parties, "list",
                        party_list(hello, parties), "observers",
                        observer("outsider", "everything: who sees this model, whatever else", all),
                        observer("server", "everything: it sees all releases of all parties", all),
                        observer("party", "the other parties' columns, not the labels, which it holds", party));
  if (o && hello) json_object_set_new(o, "uplink_bytes", json_integer((json_int_t)uplink));
  if (o)
    json_object_set_new(o, "one_shot_bytes",
                        json_integer(8 * (json_int_t)plan->facts.rows * (json_int_t)plan->facts.p));
  char *text = o ? json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(o);
  tct_free(model->parties);
  model->parties = tct_text_copy(text);
  free(text);
  return model->parties ? TCT_OK : tct_fail_memory(err);
}
