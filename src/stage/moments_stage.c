/* moments_stage.c - second moments of all columns: every linear model of them follows from the file.
 *
 * A record is its columns within [-1, 1] and a 1, brought to the length R of the plan.  What one record or one person
 * moves, and the releases, are those of solve/shared/moments.c without a label (docs/proofs/shells.md).  Their
 * stage has no outcome, so that the label of the schema is a column like others. */
#include "core/alloc.h"
#include "core/processors.h"
#include "estimate/estimate.h"
#include "linear/linear.h"
#include "stage/by_schema.h"
#include "stage/json_value.h"
#include "train/bound.h"
#include "train/certificate.h"

#include <string.h>

typedef struct moments_plan {
  tct_facts facts;
  tct_solver_plan solved;
  bool fourth; /* fourth moments are released */
} moments_plan;

/* Are they asked for? */
static bool robust(const tct_stage *stage) { return tct_json_says(stage->asked, "errors", "robust"); }

static tct_status take(tct_stage *stage, tct_error *err) {
  const json_t *schema = json_object_get(stage->study->asked, "schema"), *label = json_object_get(schema, "label");
  if (!schema) return tct_fail(err, TCT_E_USAGE, "a study knows its columns by a schema; give {schema}");
  if (json_object_get(schema, "terms"))
    return tct_stage_fail(stage, TCT_E_USAGE, err,
                          "moments are of columns, and the schema has terms; leave the terms out");
  if (label && !json_object_get(stage->asked, "features") && !json_object_get(label, "values") &&
      !(json_object_get(label, "lower") && json_object_get(label, "upper")))
    return tct_stage_fail(stage, TCT_E_USAGE, err,
                          "the schema's label has neither bounds nor values; write them, or name \"features\"");
  const char *errors = tct_json_said(stage->asked, "errors");
  if (errors && !tct_word_among(errors, " elliptic robust ", ' '))
    return tct_stage_fail(stage, TCT_E_USAGE, err, "the errors of moments are \"elliptic\" or \"robust\"; name one");
  return tct_stage_find_estimate(stage, err);
}

/* The longest lists of an estimate are left out, as far as there are more columns than moments are of. */
static tct_status leave_lists_out(json_t *schema, tct_error *err) {
  for (bool fits = false; !fits;) {
    tct_schema parsed;
    TCT_TRY(tct_stage_parse(schema, &parsed, err));
    fits = parsed.features < TCT_MOMENTS_MOST;
    tct_schema_free(&parsed);
    if (!fits && !tct_estimate_leave_out(schema)) break;
  }
  return TCT_OK;
}

static tct_status reads(const tct_stage *stage, tct_reading *out, tct_error *err) {
  out->labels = TCT_LABELS_NONE;
  TCT_TRY(tct_stage_schema(stage, &out->schema, err));
  tct_status status = leave_lists_out(out->schema, err);
  if (status == TCT_OK && json_object_set_new(out->schema, "scale", json_string("symmetric")))
    status = tct_fail_memory(err);
  if (status == TCT_OK) return TCT_OK;
  json_decref(out->schema);
  return out->schema = NULL, status;
}

static void drop_plan(tct_stage *stage) {
  moments_plan *own = stage->plan;
  if (own) tct_solver_plan_free(&own->solved);
  tct_free(own);
  stage->plan = NULL;
}

static tct_facts facts_of(const tct_stage *stage, const tct_schema *schema) {
  const tct_share *share = &stage->share;
  tct_config config;
  tct_config_default(&config);
  config.intercept = 1;
  tct_config_take_bounds(&config, schema->root, NAN, NAN);
  return (tct_facts){.rows = tct_study_rows(stage->study, stage->part),
                     .p = schema->features + 1,
                     .intercept = true,
                     .row_norm = config.row_norm,
                     .label_bound = NAN,
                     .epsilon = share->epsilon,
                     .delta = share->delta,
                     .neighbours = share->neighbours,
                     .rows_rule = TCT_ROWS_CLIP,
                     .threads = 1};
}

static tct_status plan(tct_stage *stage, tct_error *err) {
  tct_schema schema;
  drop_plan(stage);
  tct_events_free(&stage->events);
  moments_plan *own = stage->plan = TCT_NEW(moments_plan, 1);
  if (!own) return tct_fail_memory(err);
  own->fourth = robust(stage);
  tct_status status = tct_stage_load(stage, &schema, err);
  if (status == TCT_OK) own->facts = facts_of(stage, &schema);
  tct_schema_free(&schema);
  if (status == TCT_OK) status = tct_moments_plan(&own->facts, own->fourth, &own->solved, err);
  if (status == TCT_E_USAGE && own->fourth && stage->from >= 0 && stage->study->stage[stage->from].value) {
    tct_solver_plan_free(&own->solved); /* the estimate found more columns than fourth moments are of */
    tct_error_clear(err);
    own->fourth = false;
    status = tct_moments_plan(&own->facts, false, &own->solved, err);
  }
  for (int64_t k = 0; k < own->solved.promise.events.len && status == TCT_OK; k++)
    status = tct_events_add(&stage->events, own->solved.promise.events.at[k], err);
  return tct_stage_named(stage, status, err);
}

static tct_status prepare(tct_stage *stage, const tct_stage_data *data, tct_model *facts, tct_error *err) {
  if (data->table->weight && !stage->study->person)
    return tct_stage_fail(stage, TCT_E_USAGE, err, "moments are of records that count alike; leave the weights out");
  return tct_model_tell(facts, data->table->unaccounted, err);
}

/* ---- run -------------------------------------------------------------------------------------------------------- */

/* What is kept: all that was released, under the schema that it was read by. */
static json_t *told(const tct_stage *stage, const tct_moments *m, tct_error *err) {
  tct_reading own = {0};
  tct_schema schema;
  char name[256];
  json_t *value = tct_moments_json(m), *columns = json_array();
  tct_status status = tct_stage_load(stage, &schema, err);
  if (status == TCT_OK) status = reads(stage, &own, err);
  for (int64_t j = 0; status == TCT_OK && j < schema.features; j++) {
    tct_schema_feature(&schema, j, name, sizeof name);
    json_array_append_new(columns, json_string(name));
  }
  json_object_set_new(value, "schema", own.schema);
  json_object_set_new(value, "columns", columns);
  json_object_set_new(value, "persons", json_boolean(stage->study->person != NULL));
  tct_schema_free(&schema);
  if (status == TCT_OK && value) return value;
  return json_decref(value), NULL;
}

typedef struct spending {
  const tct_problem *problem;
  bool fourth;
  tct_moments moments;
} spending;

static tct_status spend(tct_mech *mech, void *user, tct_error *err) {
  spending *s = user;
  TCT_TRY(tct_moments_release(s->problem, mech, 0, s->problem->facts->row_norm, &s->moments, err));
  return s->fourth ? tct_moments_release_fourth(s->problem, mech, 2, &s->moments, err) : TCT_OK;
}

static tct_status run(tct_stage *stage, const tct_stage_data *data, tct_error *err) {
  const moments_plan *own = stage->plan;
  const tct_config *c = data->run;
  tct_facts facts = own->facts;
  tct_bound bound = {0};
  facts.threads = c->threads > 0 ? c->threads : tct_processors();
  const tct_problem problem = {.facts = &facts, .view = &bound.view, .weight = data->table->weight};
  spending s = {.problem = &problem, .fourth = own->fourth};
  tct_gate gate = tct_gate_of(&own->solved.promise, facts.neighbours, c);
  gate.threads = facts.threads;
  tct_status status = tct_bound_rows(&facts, false, data->table, &bound, err);
  if (status == TCT_OK) status = tct_gate_run(&gate, spend, &s, err);
  if (status == TCT_OK && !(stage->value = told(stage, &s.moments, err))) status = tct_fail_memory(err);
  tct_moments_free(&s.moments);
  tct_bound_free(&bound);
  return status;
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

static tct_status write(const tct_stage *stage, json_t *out, tct_error *err) {
  const moments_plan *own = stage->plan;
  if (!own) return TCT_OK; /* it ended without one */
  return tct_stage_write_released(stage, &own->solved.promise, "moments", out, err);
}

static tct_status read(tct_stage *stage, const json_t *said, tct_error *err) {
  return tct_stage_read_json(stage, said, "moments", "a stage of moments has none", err);
}

/* Are they moments of this plan's columns, with the shells that follow from its noise? */
static bool follow(const tct_stage *stage, const json_t *said) {
  const moments_plan *own = stage->plan;
  const tct_release *release = own->solved.promise.release;
  const double deviation[] = {release[1].deviation, own->fourth ? release[2].deviation : 0};
  tct_moments m = {0};
  bool same = tct_moments_of_json(said, own->facts.p, own->facts.rows, deviation, &m, NULL) == TCT_OK;
  m.size = own->facts.row_norm;
  json_t *again = same ? told(stage, &m, NULL) : NULL;
  same = again && tct_json_near(again, said);
  json_decref(again);
  tct_moments_free(&m);
  return same;
}

static void check(const tct_stage *stage, const json_t *said, char why[TCT_STAGE_WHY]) {
  static const char *const sentence[] = {
      "its releases are not those that were asked for; the file was edited",
      "its moments are not of the columns and shells of its plan; the file was edited"};
  const moments_plan *own = stage->plan;
  tct_stage_check_released(stage, said, own ? &own->solved.promise : NULL, follow, sentence, why);
}

/* The metric, the shells that the noise allows, and the fourth moments; of each the entries on and below the diagonal.
 */
static int64_t numbers(const tct_stage *stage, int64_t columns) {
  const moments_plan *own = stage->plan;
  int64_t most = robust(stage) ? TCT_MOMENTS_FOURTH_MOST : TCT_MOMENTS_MOST + 1;
  int64_t q = own ? own->facts.p : columns < most ? columns + 1 : most;
  tct_moments m = {.p = q, .q = q, .metric.size = INFINITY, .shells = TCT_SHELLS};
  if (own) tct_moments_radii(own->facts.rows, own->solved.promise.release[1].deviation, &m);
  int64_t d = robust(stage) ? tct_moments_products(q) : 0;
  return (1 + m.shells) * tct_moments_products(q) + tct_moments_products(d);
}

const tct_stage_kind tct_stage_kind_moments = {
    .name = "moments",
    .summary = "second moments of all columns, from which every linear model of them follows",
    .keys = " features:texts errors:text ",
    .defers = true,
    .labels = true,
    .numbers = numbers,
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
