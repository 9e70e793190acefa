/* estimate_stage.c - bounds and lists of the schema that nobody knows, for all later stages.
 *
 * What it releases is the schema with what was open filled in.  Later stages read the file again under it. */
#include "core/alloc.h"
#include "core/spec.h"
#include "estimate/estimate.h"
#include "stage/json_value.h"
#include "train/certificate.h"

#include <stdio.h>
#include <string.h>

/* Of a stage whose epsilon and delta were divided: what its lists keep. */
static const double LISTS_SHARE = 0.5;

static tct_status take(tct_stage *stage, tct_error *err) {
  for (int i = 0; i < stage->index; i++)
    if (stage->study->stage[i].kind->pays)
      return tct_stage_fail(stage, TCT_E_USAGE, err, "one estimate finds all that is open; leave the second out");
  if (!json_object_get(stage->study->asked, "schema"))
    return tct_fail(err, TCT_E_USAGE, "a study knows its columns by a schema; give {schema}");
  if (stage->part != TCT_PART_ALL)
    return tct_stage_fail(stage, TCT_E_USAGE, err, "an estimate reads all records; leave \"part\" out");
  return TCT_OK;
}

static void drop_plan(tct_stage *stage) {
  if (stage->plan) tct_estimate_plan_free(stage->plan);
  tct_free(stage->plan);
  stage->plan = NULL;
}

static tct_status spec_of(const tct_stage *stage, char spec[200], tct_error *err) {
  const char *what = tct_stage_text(stage, "what");
  const json_t *outside = json_object_get(stage->asked, "outside");
  char number[32] = "";
  if (what && strchr(what, ':'))
    return tct_stage_fail(stage, TCT_E_USAGE, err,
                          "\"what\" names bounds, missing and categories; its share is \"budget_fraction\"");
  if (outside) tct_print_real(json_number_value(outside), number, sizeof number);
  snprintf(spec, 200, "%.100s%s%s", what ? what : "bounds", outside ? ":outside=" : "", number);
  return TCT_OK;
}

static tct_status plan(tct_stage *stage, tct_error *err) {
  char spec[200];
  const tct_share *share = &stage->share;
  bool divided = !(share->mu > 0);
  drop_plan(stage);
  tct_events_free(&stage->events);
  TCT_TRY(spec_of(stage, spec, err));
  tct_estimate_asked asked = {.spec = spec, .epsilon = share->epsilon, .neighbours = share->neighbours};
  asked.columns = tct_study_open(stage->study, &asked.lists);
  asked.rows = stage->study->rows;
  double lists = asked.lists == 0 ? 0 : divided ? LISTS_SHARE * share->delta : tct_study_lists_delta(stage->study);
  asked.delta = share->delta + (divided ? 0 : lists);
  tct_estimate_plan *own = TCT_NEW(tct_estimate_plan, 1);
  if (!own) return tct_fail_memory(err);
  stage->plan = own;
  TCT_TRY(tct_estimate_plan_own(&asked, lists, own, err));
  return tct_estimate_own_events(own, &stage->events, err);
}

static tct_status reads(const tct_stage *stage, tct_reading *out, tct_error *err) {
  out->labels = TCT_LABELS_NONE;
  return tct_study_schema(stage->study, json_object_get(stage->study->asked, "schema"), stage, &out->schema, err);
}

static tct_status prepare(tct_stage *stage, const tct_stage_data *data, tct_model *facts, tct_error *err) {
  TCT_TRY(tct_model_tell(facts, data->table->unaccounted, err));
  return tct_estimate_stage(stage->plan, (tct_data *)data->table, NULL, NULL, err);
}

typedef struct spending {
  tct_stage *stage;
  const tct_stage_data *data;
  json_t *schema;
} spending;

static tct_status spend(tct_mech *mech, void *user, tct_error *err) {
  spending *s = user;
  return tct_estimate_stage(s->stage->plan, (tct_data *)s->data->table, mech, &s->schema, err);
}

/* A label of the schema is no column, and no estimate finds its bounds: it stays as it was. */
static void put_label(const tct_stage *stage, json_t *schema) {
  json_t *whole = json_object_get(stage->study->asked, "schema"), *columns = json_array(), *column;
  size_t k;
  json_array_foreach(json_object_get(whole, "columns"), k, column) {
    json_t *found = json_array_get(json_object_get(schema, "columns"), k);
    json_array_append(columns, json_is_true(json_object_get(column, "estimate")) ? found : column);
  }
  json_object_set_new(schema, "columns", columns);
  json_t *label = json_object_get(whole, "label");
  if (label) json_object_set(schema, "label", label);
}

static tct_status run(tct_stage *stage, const tct_stage_data *data, tct_error *err) {
  const tct_estimate_plan *own = stage->plan;
  spending s = {stage, data, NULL};
  const tct_gate gate = tct_gate_of(&own->promise, own->neighbours, data->run);
  tct_status status = tct_gate_run(&gate, spend, &s, err);
  if (status != TCT_OK) return json_decref(s.schema), status;
  put_label(stage, s.schema);
  stage->value = s.schema;
  return TCT_OK;
}

static tct_status write(const tct_stage *stage, json_t *out, tct_error *err) {
  json_t *estimate = tct_estimate_certificate(stage->plan);
  json_object_del(estimate, "asked"); /* said by the study */
  if (!estimate || json_object_set_new(out, "estimate", estimate)) return tct_fail_memory(err);
  if (stage->value) json_object_set(out, "schema", stage->value);
  return TCT_OK;
}

static tct_status read(tct_stage *stage, const json_t *said, tct_error *err) {
  return tct_stage_read_json(stage, said, "schema", "an estimate of the study has no schema", err);
}

/* The same column, but for what was open. */
static bool alike(const json_t *asked, const json_t *found) {
  static const char *const filled[] = {"lower", "upper", "values", "missing", "other", "estimated", "type", "estimate"};
  if (!json_is_true(json_object_get(asked, "estimate"))) return tct_json_near(asked, found);
  json_t *a = json_copy((json_t *)asked), *b = json_copy((json_t *)found);
  bool told = json_is_true(json_object_get(found, "estimated")) && !json_object_get(found, "estimate");
  for (size_t k = 0; k < sizeof filled / sizeof *filled; k++)
    json_object_del(a, filled[k]), json_object_del(b, filled[k]);
  bool same = told && tct_json_near(a, b);
  json_decref(a);
  json_decref(b);
  return same;
}

static bool completes(const json_t *asked, const json_t *found) {
  const json_t *was = json_object_get(asked, "columns"), *is = json_object_get(found, "columns");
  json_t *a = json_copy((json_t *)asked), *b = json_copy((json_t *)found);
  bool same = json_array_size(was) == json_array_size(is);
  for (size_t k = 0; same && k < json_array_size(was); k++) same = alike(json_array_get(was, k), json_array_get(is, k));
  json_object_del(a, "columns");
  json_object_del(b, "columns");
  same = same && tct_json_near(a, b);
  json_decref(a);
  json_decref(b);
  return same;
}

static void check(const tct_stage *stage, const json_t *said, char why[TCT_STAGE_WHY]) {
  json_t *again = tct_estimate_certificate(stage->plan);
  json_object_del(again, "asked");
  if (!tct_json_near(json_object_get(said, "estimate"), again))
    snprintf(why, TCT_STAGE_WHY, "its releases are not those that were asked for; the file was edited");
  else if (stage->value && !completes(json_object_get(stage->study->asked, "schema"), stage->value))
    snprintf(why, TCT_STAGE_WHY, "its schema is not the study's with what was open filled in; the file was edited");
  json_decref(again);
}

const tct_stage_kind tct_stage_kind_estimate = {
    .name = "estimate",
    .summary = "bounds, middles and lists of columns that the schema leaves open",
    .keys = " what:text outside:number ",
    .small = true,
    .pays = true,
    .take = take,
    .plan = plan,
    .reads = reads,
    .prepare = prepare,
    .run = run,
    .write = write,
    .read = read,
    .check = check,
    .drop_plan = drop_plan,
    .drop_value = tct_stage_drop_json,
};
