/* observers.c - what each observer of a run between parties can learn at most: an epsilon for each. */
#include "core/alloc.h"
#include "model/json.h"
#include "train/plan.h"

#include <string.h>

static tct_status observer_list(const tct_plan *plan, bool is_private, json_t **out, tct_error *err) {
  tct_observer each[TCT_OBSERVERS];
  int count = 0;
  TCT_TRY(plan->solver->observers(&plan->facts, &plan->solved, each, &count, err));
  *out = json_array();
  for (int i = 0; i < count; i++)
    json_array_append_new(*out, json_pack("{s:s, s:s, s:o}", "who", each[i].who, "about", each[i].about, "epsilon",
                                          tct_json_real(is_private ? each[i].epsilon : INFINITY)));
  return TCT_OK;
}

/* NULL: the solver has none. */
static json_t *condition_list(const tct_plan *plan, bool apart) {
  char text[TCT_CONDITION];
  if (!plan->solver->condition) return NULL;
  json_t *list = json_array();
  for (int i = 0; plan->solver->condition(&plan->solved, apart, i, text); i++)
    json_array_append_new(list, json_string(text));
  return list;
}

static json_t *party_list(json_t *const *hello, int parties) {
  json_t *list = json_array();
  for (int k = 0; hello && k < parties; k++)
    json_array_append_new(list, json_pack("{s:O, s:I}", "name", json_object_get(hello[k], "name"), "columns",
                                          (json_int_t)json_array_size(json_object_get(hello[k], "features"))));
  return list;
}

tct_status tct_model_observers(const tct_plan *plan, const tct_apart *apart, tct_model *model, tct_error *err) {
  json_t *const *hello = apart ? apart->hello : NULL;
  json_t *observers = NULL, *conditions = NULL;
  if (!plan->solver->by_parties) return TCT_OK;
  int parties = (int)tct_spec_count(&plan->solved.spec, plan->solver->options, "parties");
  TCT_TRY(observer_list(plan, model->is_private, &observers, err));
  json_t *o = json_pack("{s:b, s:i, s:o, s:o}", "apart", apart != NULL, "count", parties, "list",
                        party_list(hello, parties), "observers", observers);
  if (o && (conditions = condition_list(plan, apart != NULL))) json_object_set_new(o, "conditions", conditions);
  if (o && hello) json_object_set_new(o, "uplink_bytes", json_integer((json_int_t)apart->uplink));
  if (o)
    json_object_set_new(o, "one_shot_bytes",
                        json_integer(8 * (json_int_t)plan->facts.rows * (json_int_t)plan->facts.p));
  return tct_json_keep(o, &model->parties, err);
}
