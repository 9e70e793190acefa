/* score_stage.c - figures of a model, of an earlier stage or given: one released vector, and what follows from it.
 *
 * Its promise does not depend on the model (score/score.h), so that it is never deferred, whatever its fit waits for.
 * The vector is in the file, and the figures follow from it. */
#include "core/alloc.h"
#include "core/json_text.h"
#include "model/json.h"
#include "score/score.h"
#include "study/stage.h"
#include "train/certificate.h"
#include "train/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A model that is given comes as its file. */
typedef struct scoring_plan {
  tct_promise promise;
  tct_cost cost;
} scoring_plan;

static const json_t *given(const tct_stage *stage) { return json_object_get(stage->asked, "model"); }

static tct_status take(tct_stage *stage, tct_error *err) {
  const char *of = tct_stage_text(stage, "of");
  if (!of == !given(stage))
    return tct_stage_fail(stage, TCT_E_USAGE, err,
                          "a score is \"of\" an earlier fit, or of a \"model\" that is given; name one of them");
  for (int i = 0; of && i < stage->index; i++)
    if (!strcmp(stage->study->stage[i].name, of)) stage->from = i;
  if (of && stage->from < 0)
    return tct_stage_fail(stage, TCT_E_USAGE, err,
                          "no earlier stage is called \"%.60s\"; name one that stands before it", of);
  if (of && !stage->study->stage[stage->from].kind->models)
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

/* As the model was trained. */
static tct_status reads_given(const json_t *model, tct_reading *out, tct_error *err) {
  tct_config config;
  json_t *schema = json_object_get(json_object_get(model, "transforms"), "schema");
  tct_config_default(&config);
  config.loss = json_string_value(json_object_get(model, "loss"));
  tct_labels labels = tct_config_labels(&config);
  if (!json_is_object(schema) || labels == TCT_LABELS_UNKNOWN)
    return tct_fail(err, TCT_E_USAGE, "a model that is scored in a study needs its schema; train it with one");
  out->schema = json_incref(schema);
  out->labels = labels == TCT_LABELS_BINARY ? TCT_LABELS_CLASSES : labels;
  return TCT_OK;
}

static tct_status reads(const tct_stage *stage, tct_reading *out, tct_error *err) {
  const tct_stage *fit = stage->from >= 0 ? &stage->study->stage[stage->from] : NULL;
  return fit ? fit->kind->reads(fit, out, err) : reads_given(given(stage), out, err);
}

/* The model to score: the fit's, or the one that is given; *own is to be freed. */
static tct_status model_of(const tct_stage *stage, const void *value, const tct_model **out, tct_model **own,
                           tct_error *err) {
  *own = stage->from >= 0 ? NULL : tct_model_of_json(given(stage), "", err);
  *out = stage->from >= 0 ? value : *own;
  return *out ? TCT_OK : err->status;
}

static tct_status prepare(tct_stage *stage, const tct_stage_data *data, tct_model *facts, tct_error *err) {
  const tct_model *model;
  tct_model *own;
  tct_scoring scoring;
  tct_error local = {0};
  TCT_TRY(model_of(stage, data->given, &model, &own, err ? err : &local));
  tct_status status = tct_scoring_make(model, data->table->weight != NULL, &scoring, err);
  if (status == TCT_OK) status = tct_score_check(&scoring, data->table, err);
  for (int i = 0; status == TCT_OK && i < TCT_UNACCOUNTED && data->table->unaccounted[i]; i++) {
    bool told = false;
    for (int k = 0; k < TCT_UNACCOUNTED && facts->unaccounted[k]; k++)
      told |= !strcmp(facts->unaccounted[k], data->table->unaccounted[i]);
    if (!told && !tct_model_note(facts, data->table->unaccounted[i])) status = tct_fail_memory(err);
  }
  tct_model_free(own);
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
  const tct_model *model;
  tct_model *read;
  tct_scoring scoring;
  double sum[TCT_SCORE_LONGEST];
  TCT_TRY(model_of(stage, data->given, &model, &read, err));
  const tct_gate gate = {.promise = &own->promise,
                         .neighbours = stage->share.neighbours,
                         .seed = data->run->has_seed ? &data->run->seed : NULL,
                         .settles = true};
  tct_status status = tct_scoring_make(model, data->table->weight != NULL, &scoring, err);
  if (status == TCT_OK) status = tct_score_take(&scoring, data->table, &gate, sum, err);
  if (status == TCT_OK && !(stage->value = told(stage, &scoring, sum))) status = tct_fail_memory(err);
  tct_wipe(sum, sizeof sum);
  tct_model_free(read);
  return status;
}

static void drop_value(tct_stage *stage) {
  json_decref(stage->value);
  stage->value = NULL;
}

static tct_status write(const tct_stage *stage, json_t *out, tct_error *err) {
  const scoring_plan *own = stage->plan;
  json_t *releases = tct_releases_json(&own->promise);
  if (!releases || json_object_set_new(out, "releases", releases)) return tct_fail_memory(err);
  if (stage->value) json_object_set(out, "scores", stage->value);
  return TCT_OK;
}

static tct_status read(tct_stage *stage, const json_t *said, tct_error *err) {
  json_t *scores = json_object_get(said, "scores");
  drop_value(stage);
  if (!json_is_object(scores))
    return stage->ended[0] ? TCT_OK : tct_fail(err, TCT_E_DATA, "a score of the study has no figures");
  stage->value = json_incref(scores);
  return TCT_OK;
}

/* The figures once more, from the vector and the model. */
static bool follow(const tct_stage *stage, const json_t *said) {
  const tct_stage *fit = stage->from >= 0 ? &stage->study->stage[stage->from] : NULL;
  const tct_model *model;
  tct_model *own;
  tct_scoring scoring;
  double sum[TCT_SCORE_LONGEST];
  tct_error err = {0};
  if (model_of(stage, fit ? fit->value : NULL, &model, &own, &err) != TCT_OK) return false;
  bool same = tct_scoring_make(model, stage->study->person != NULL, &scoring, NULL) == TCT_OK &&
              tct_json_get_reals(json_object_get(said, "sums"), scoring.len, sum);
  for (int64_t k = 0; same && k < scoring.len; k++) same = isfinite(sum[k]);
  json_t *again = same ? told(stage, &scoring, sum) : NULL;
  same = again && tct_json_near(again, said);
  json_decref(again);
  tct_model_free(own);
  return same;
}

static void check(const tct_stage *stage, const json_t *said, char why[TCT_STAGE_WHY]) {
  const scoring_plan *own = stage->plan;
  json_t *releases = tct_releases_json(&own->promise);
  if (!tct_json_near(json_object_get(said, "releases"), releases))
    snprintf(why, TCT_STAGE_WHY, "its release is not the one that was asked for; the file was edited");
  else if (stage->value && !follow(stage, stage->value))
    snprintf(why, TCT_STAGE_WHY, "its figures do not follow from the released sums; the file was edited");
  json_decref(releases);
}

const tct_stage_kind tct_stage_kind_score = {
    .name = "score",
    .summary = "accuracy, AUC and loss of a model, or its squared error, with error bars",
    .keys = " of:text model:object ",
    .take = take,
    .plan = plan,
    .reads = reads,
    .prepare = prepare,
    .run = run,
    .write = write,
    .read = read,
    .check = check,
    .drop_plan = drop_plan,
    .drop_value = drop_value,
};
