/* score_stage.c - figures of an earlier stage's model: one released vector, and what follows from it.
 *
 * Its promise does not depend on the model (score/score.h), so that it is never deferred, whatever its fit waits for.
 * The vector is in the file, and the figures follow from it. */
#include "core/alloc.h"
#include "model/json.h"
#include "score/score.h"
#include "stage/json_value.h"
#include "train/certificate.h"

#include <math.h>
#include <string.h>

typedef struct scoring_plan {
  tct_promise promise;
  tct_cost cost;
} scoring_plan;

static tct_status take(tct_stage *stage, tct_error *err) {
  const char *of = tct_stage_text(stage, "of");
  if (!of) return tct_stage_fail(stage, TCT_E_USAGE, err, "a score is \"of\" an earlier fit; name one");
  for (int i = 0; i < stage->index; i++)
    if (!strcmp(stage->study->stage[i].name, of)) stage->from = i;
  if (stage->from < 0)
    return tct_stage_fail(stage, TCT_E_USAGE, err,
                          "no earlier stage is called \"%.60s\"; name one that stands before it", of);
  if (!stage->study->stage[stage->from].kind->models)
    return tct_stage_fail(stage, TCT_E_USAGE, err, "\"%.60s\" is no fit, and has no model to score", of);
  return TCT_OK;
}

static void drop_plan(tct_stage *stage) {
  scoring_plan *own = stage->plan;
  if (own) tct_promise_free(&own->promise);
  tct_free(own);
  stage->plan = NULL;
}

static tct_status plan(tct_stage *stage, tct_error *err) {
  drop_plan(stage);
  tct_events_free(&stage->events);
  scoring_plan *own = stage->plan = TCT_NEW(scoring_plan, 1);
  if (!own) return tct_fail_memory(err);
  const tct_target target = {stage->share.neighbours, stage->share.epsilon, stage->share.delta};
  TCT_TRY(tct_score_plan(&target, tct_study_rows(stage->study, stage->part), &own->promise, &own->cost, err));
  return tct_events_add(&stage->events, own->promise.events.at[0], err);
}

/* As its fit does. */
static tct_status reads(const tct_stage *stage, tct_reading *out, tct_error *err) {
  const tct_stage *fit = &stage->study->stage[stage->from];
  return fit->kind->reads(fit, out, err);
}

static tct_status prepare(tct_stage *stage, const tct_stage_data *data, tct_model *facts, tct_error *err) {
  (void)stage;
  tct_scoring scoring;
  tct_status status = tct_scoring_make(data->given, data->table->weight != NULL, &scoring, err);
  if (status == TCT_OK) status = tct_score_check(&scoring, data->table, err);
  if (status == TCT_OK) status = tct_model_tell(facts, data->table->unaccounted, err);
  return status;
}

/* What is kept: the vector as released, whose figures depend on the model. */
static json_t *told(const tct_stage *stage, const tct_scoring *scoring, const double *sum) {
  const scoring_plan *own = stage->plan;
  double deviation = own->promise.release[0].deviation;
  json_t *figures = tct_score_figures(scoring, sum, deviation, tct_study_rows(stage->study, stage->part));
  return json_pack("{s:o, s:o}", "sums", tct_json_reals(sum, scoring->len), "figures", figures);
}

static tct_status run(tct_stage *stage, const tct_stage_data *data, tct_error *err) {
  const scoring_plan *own = stage->plan;
  tct_scoring scoring;
  double sum[TCT_SCORE_LONGEST];
  const tct_gate gate = tct_gate_of(&own->promise, stage->share.neighbours, data->run);
  tct_status status = tct_scoring_make(data->given, data->table->weight != NULL, &scoring, err);
  if (status == TCT_OK) status = tct_score_take(&scoring, data->table, &gate, sum, err);
  if (status == TCT_OK && !(stage->value = told(stage, &scoring, sum))) status = tct_fail_memory(err);
  tct_wipe(sum, sizeof sum);
  return status;
}

static tct_status write(const tct_stage *stage, json_t *out, tct_error *err) {
  const scoring_plan *own = stage->plan;
  return tct_stage_write_released(stage, &own->promise, "scores", out, err);
}

static tct_status read(tct_stage *stage, const json_t *said, tct_error *err) {
  return tct_stage_read_json(stage, said, "scores", "a score of the study has no figures", err);
}

/* The figures once more, from the vector and the model. */
static bool follow(const tct_stage *stage, const json_t *said) {
  const tct_model *model = stage->study->stage[stage->from].value;
  tct_scoring scoring;
  double sum[TCT_SCORE_LONGEST];
  bool same = model && tct_scoring_make(model, !isnan(model->weight_cap), &scoring, NULL) == TCT_OK &&
              tct_json_get_reals(json_object_get(said, "sums"), scoring.len, sum);
  for (int64_t k = 0; same && k < scoring.len; k++) same = isfinite(sum[k]);
  json_t *again = same ? told(stage, &scoring, sum) : NULL;
  same = again && tct_json_near(again, said);
  json_decref(again);
  return same;
}

static void check(const tct_stage *stage, const json_t *said, char why[TCT_STAGE_WHY]) {
  static const char *const sentence[] = {"its release is not the one that was asked for; the file was edited",
                                         "its figures do not follow from the released sums; the file was edited"};
  const scoring_plan *own = stage->plan;
  tct_stage_check_released(stage, said, &own->promise, follow, sentence, why);
}

const tct_stage_kind tct_stage_kind_score = {
    .name = "score",
    .summary = "accuracy, AUC and loss of a model, its squared error or C-index, with error bars",
    .keys = " of:text ",
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
