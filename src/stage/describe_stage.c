/* describe_stage.c - what a table is like, before any model of it: counts, means, deviations, quantiles, cross-tables.
 *
 * RELEASES     One vector of sums over records, once, with Gaussian noise of one size (descriptive/descriptive.h).
 * SENSITIVITY  One record's own vector is no longer than tct_desc.move, nor are those of a person together: the head of
 *              descriptive/descriptive.h has the proof.  Under add_remove a record that is gone adds nothing, and the
 *              number of records is a public constant.  Under replace_one the vectors of both differ by twice that at
 *              most, which the event counts.  Where persons are protected how many they are is no such constant, and
 *              the sum of all weights is one number more of the vector.
 *
 * Gaps and texts that the schema does not list are counted, whatever the schema makes of them for models. */
#include "core/alloc.h"
#include "descriptive/descriptive.h"
#include "stage/by_schema.h"
#include "stage/json_value.h"
#include "train/certificate.h"

#include <string.h>

typedef struct describe_plan {
  tct_desc desc;
  tct_promise promise;
  tct_cost cost;
} describe_plan;

/* The parts under what is known of the schema now; out is to be freed in any case. */
static tct_status parts_of(const tct_stage *stage, tct_desc *out, tct_error *err) {
  const json_t *sampling = json_object_get(stage->asked, "sampling");
  json_t *schema = NULL;
  tct_schema parsed = {0};
  *out = (tct_desc){0};
  TCT_TRY(tct_stage_schema(stage, &schema, err));
  tct_status status = tct_stage_parse(schema, &parsed, err);
  tct_schema_free(&parsed);
  if (status == TCT_OK)
    status = tct_desc_make(schema, json_object_get(stage->asked, "cross"), stage->study->person != NULL, out, err);
  out->table = json_is_false(sampling);
  json_decref(schema);
  return status;
}

static tct_status take(tct_stage *stage, tct_error *err) {
  const json_t *schema = json_object_get(stage->study->asked, "schema"), *label = json_object_get(schema, "label");
  if (!schema) return tct_fail(err, TCT_E_USAGE, "a study knows its columns by a schema; give {schema}");
  if (json_object_get(label, "time"))
    return tct_stage_fail(stage, TCT_E_USAGE, err,
                          "the schema's label is a follow-up time; describe its columns under \"columns\" instead");
  if (json_object_get(label, "name") && !json_object_get(stage->asked, "features") &&
      !json_object_get(label, "values") && !(json_object_get(label, "lower") && json_object_get(label, "upper")))
    return tct_stage_fail(stage, TCT_E_USAGE, err,
                          "the schema's label has neither bounds nor values; write them, or name \"features\"");
  return tct_stage_find_estimate(stage, err);
}

static tct_status reads(const tct_stage *stage, tct_reading *out, tct_error *err) {
  tct_desc desc;
  tct_status status = parts_of(stage, &desc, err);
  out->labels = TCT_LABELS_NONE;
  if (status == TCT_OK) out->schema = json_incref(desc.reading);
  tct_desc_free(&desc);
  return tct_stage_named(stage, status, err);
}

static void drop_plan(tct_stage *stage) {
  describe_plan *own = stage->plan;
  if (own) tct_promise_free(&own->promise), tct_desc_free(&own->desc);
  tct_free(own);
  stage->plan = NULL;
}

static tct_status promise(const tct_stage *stage, describe_plan *own, tct_error *err) {
  const tct_target target = {stage->share.neighbours, stage->share.epsilon, stage->share.delta};
  double noise = 0, move = own->desc.move;
  TCT_TRY(tct_calibrate_noise(1, 1, &target, &noise, &own->cost, err));
  TCT_TRY(tct_promise_add(
      &own->promise,
      tct_release_sum("counts of each column, on trees over bounds and of listed values", tct_event_gaussian(noise, 1),
                      move, move, tct_study_rows(stage->study, stage->part)),
      err));
  return tct_promise_settle(&own->promise, err);
}

static tct_status plan(tct_stage *stage, tct_error *err) {
  drop_plan(stage);
  tct_events_free(&stage->events);
  describe_plan *own = stage->plan = TCT_NEW(describe_plan, 1);
  if (!own) return tct_fail_memory(err);
  tct_status status = parts_of(stage, &own->desc, err);
  if (status == TCT_OK) status = promise(stage, own, err);
  if (status == TCT_OK) status = tct_events_add(&stage->events, own->promise.events.at[0], err);
  return tct_stage_named(stage, status, err);
}

static tct_status prepare(tct_stage *stage, const tct_stage_data *data, tct_model *facts, tct_error *err) {
  const describe_plan *own = stage->plan;
  char *elsewhere[] = {(char *)TCT_ESTIMATED_ELSEWHERE, NULL};
  if (data->table->weight && !stage->study->person)
    return tct_stage_fail(stage, TCT_E_USAGE, err,
                          "a description is of records that count alike; leave the weights out");
  if (data->table->x.cols != own->desc.features)
    return tct_stage_fail(stage, TCT_E_DATA, err, "the table has other columns than its schema; report this fault");
  if (own->desc.estimated) TCT_TRY(tct_model_tell(facts, elsewhere, err)); /* it was read without its bounds */
  return tct_model_tell(facts, data->table->unaccounted, err);
}

/* ---- run -------------------------------------------------------------------------------------------------------- */

typedef struct spending {
  const tct_desc *desc;
  tct_desc_table table;
  double *sum;
} spending;

static tct_status spend(tct_mech *mech, void *user, tct_error *err) {
  const spending *s = user;
  TCT_TRY(tct_desc_sum(s->desc, &s->table, tct_mech_release_of(mech, 0)->lattice, s->sum, err));
  return tct_mech_release(mech, 0, s->sum, s->desc->length, err);
}

static json_t *told(const tct_stage *stage, double *sum) {
  const describe_plan *own = stage->plan;
  return tct_desc_json(&own->desc, sum, own->promise.release[0].deviation, tct_study_rows(stage->study, stage->part));
}

static tct_status run(tct_stage *stage, const tct_stage_data *data, tct_error *err) {
  const describe_plan *own = stage->plan;
  const tct_desc *desc = &own->desc;
  spending s = {desc, {&data->table->x, data->table->weight, data->table->dropped}, TCT_NEW(double, desc->length)};
  const tct_gate gate = tct_gate_of(&own->promise, stage->share.neighbours, data->run);
  tct_status status = s.sum ? tct_gate_run(&gate, spend, &s, err) : tct_fail_memory(err);
  if (status == TCT_OK && !(stage->value = told(stage, s.sum))) status = tct_fail_memory(err);
  tct_wipe_free(s.sum, s.sum ? desc->length : 0, sizeof *s.sum);
  return status;
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

static tct_status write(const tct_stage *stage, json_t *out, tct_error *err) {
  const describe_plan *own = stage->plan;
  if (!own) return TCT_OK; /* it ended without one */
  return tct_stage_write_released(stage, &own->promise, "description", out, err);
}

static tct_status read(tct_stage *stage, const json_t *said, tct_error *err) {
  return tct_stage_read_json(stage, said, "description", "a description of the study is none", err);
}

/* The figures once more, from the vector. */
static bool follow(const tct_stage *stage, const json_t *said) {
  const describe_plan *own = stage->plan;
  double *sum = TCT_NEW(double, own->desc.length);
  json_t *again = sum && tct_desc_sums(&own->desc, said, sum) ? told(stage, sum) : NULL;
  bool same = again && tct_json_near(again, said);
  json_decref(again);
  tct_free(sum);
  return same;
}

static void check(const tct_stage *stage, const json_t *said, char why[TCT_STAGE_WHY]) {
  static const char *const sentence[] = {"its release is not the one that was asked for; the file was edited",
                                         "its figures do not follow from what was released; the file was edited"};
  const describe_plan *own = stage->plan;
  tct_stage_check_released(stage, said, own ? &own->promise : NULL, follow, sentence, why);
}

const tct_stage_kind tct_stage_kind_describe = {
    .name = "describe",
    .summary = "what each column is like: counts, gaps, means, deviations, quantiles, shares and cross-tables",
    .keys = " features:texts cross:list sampling:truth ",
    .defers = true,
    .labels = true,
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
