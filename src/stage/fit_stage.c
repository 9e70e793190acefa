/* fit_stage.c - a model: one fit, or one for each class; after an estimate that its columns wait for, deferred.
 *
 * Its part of the file is a whole model file, whose claim is that of this stage by itself.  So it is verified as any
 * model is, and the study adds what the stage costs beside the others. */
#include "core/alloc.h"
#include "core/json_text.h"
#include "core/processors.h"
#include "core/spec.h"
#include "model/json.h"
#include "stage/by_schema.h"
#include "train/certificate.h"
#include "train/fit.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char KEYS[] =
    " label:text positive:text features:texts loss:text penalty:text solver:text errors:text intercept:truth "
    "row_norm:number rows_rule:text label_bound:number label_shift:number ";

/* ---- asked ------------------------------------------------------------------------------------------------------ */

static tct_status take(tct_stage *stage, tct_error *err) {
  const char *label = tct_stage_text(stage, "label"), *rule = tct_stage_text(stage, "rows_rule");
  if (!tct_stage_text(stage, "loss"))
    return tct_stage_fail(stage, TCT_E_USAGE, err, "it has no \"loss\"; give one, e.g. \"logistic\"");
  if (!label) return tct_stage_fail(stage, TCT_E_USAGE, err, "it has no \"label\"; name the column of its outcome");
  if (rule && strcmp(rule, "clip") != 0 && strcmp(rule, "unit") != 0)
    return tct_stage_fail(stage, TCT_E_USAGE, err, "\"rows_rule\" must be clip or unit");
  if (!json_object_get(stage->study->asked, "schema"))
    return tct_fail(err, TCT_E_USAGE, "a study knows its columns by a schema; give {schema}");
  const json_t *column = tct_study_column(stage->study, label);
  const char *type = json_string_value(json_object_get(column, "type"));
  if (!column)
    return tct_stage_fail(stage, TCT_E_USAGE, err, "the schema describes no column \"%.60s\"; name its outcome by it",
                          label);
  if (type && !strcmp(type, "date"))
    return tct_stage_fail(stage, TCT_E_USAGE, err, "a date is no outcome; make a number of it first");
  if (type && !strcmp(type, "category") && json_is_true(json_object_get(column, "estimate")))
    return tct_stage_fail(stage, TCT_E_USAGE, err, "the classes of an outcome must be public; list its values");
  return tct_stage_find_estimate(stage, err);
}

/* ---- planned ---------------------------------------------------------------------------------------------------- */

static double number_of(const tct_stage *stage, const char *key, double fallback) {
  const json_t *value = json_object_get(stage->asked, key);
  return value ? json_number_value(value) : fallback;
}

/* Classes that the schema lists, more than two; with a positive one there are two. */
static int64_t classes_of(const tct_schema *schema, const tct_config *config) {
  bool classes = tct_config_labels(config) != TCT_LABELS_REAL && !schema->positive;
  return classes ? (int64_t)json_array_size(schema->label_values) : 0;
}

static tct_config config_of(const tct_stage *stage, const tct_schema *schema) {
  const char *penalty = tct_stage_text(stage, "penalty"), *errors = tct_stage_text(stage, "errors"),
             *rule = tct_stage_text(stage, "rows_rule");
  tct_config c;
  tct_config_default(&c);
  c.loss = tct_stage_text(stage, "loss");
  c.solver = tct_stage_text(stage, "solver");
  if (penalty) c.penalty = penalty;
  if (errors) c.errors = errors;
  c.intercept = !json_is_false(json_object_get(stage->asked, "intercept"));
  c.row_norm = number_of(stage, "row_norm", NAN);
  c.label_bound = number_of(stage, "label_bound", NAN);
  c.label_shift = number_of(stage, "label_shift", 0);
  c.rows_rule = rule && !strcmp(rule, "unit") ? TCT_ROWS_UNIT : TCT_ROWS_CLIP;
  c.neighbours = (int32_t)stage->share.neighbours;
  c.epsilon = stage->share.epsilon, c.delta = stage->share.delta;
  c.classes = classes_of(schema, &c);
  if (c.classes < 3) c.classes = 0;
  tct_config_take_bounds(&c, schema->root, schema->label_low, schema->label_high);
  return c;
}

static void drop_plan(tct_stage *stage) {
  tct_plan_free(stage->plan);
  tct_model_free(stage->shell);
  stage->plan = stage->shell = NULL;
}

static tct_status plan_for(tct_stage *stage, const tct_schema *schema, tct_error *err) {
  const tct_study *study = stage->study;
  tct_config config = config_of(stage, schema);
  int64_t rows = tct_study_rows(study, stage->part);
  tct_plan *plan = tct_study_is_model(study) ? tct_plan_new(&config, rows, schema->features, err)
                                             : tct_plan_by_rules(&config, rows, schema->features, INT_MAX, err);
  stage->plan = plan;
  if (!plan) return err->status;
  if (!plan->solver->is_private)
    return tct_stage_fail(stage, TCT_E_USAGE, err, "%s has no privacy; name a private solver", plan->solver->name);
  return tct_plan_events(plan, &stage->events, err);
}

static tct_status plan(tct_stage *stage, tct_error *err) {
  tct_schema schema;
  tct_error own = {0};
  err = err ? err : &own;
  drop_plan(stage);
  tct_events_free(&stage->events);
  tct_status status = tct_stage_load(stage, &schema, err);
  if (status == TCT_OK) status = plan_for(stage, &schema, err);
  tct_schema_free(&schema);
  return tct_stage_named(stage, status, err);
}

/* Two classes are read as classes, of which the public list or a positive value tells. */
static tct_status reads(const tct_stage *stage, tct_reading *out, tct_error *err) {
  tct_config config;
  tct_config_default(&config);
  config.loss = tct_stage_text(stage, "loss");
  tct_labels labels = tct_config_labels(&config);
  out->labels = labels == TCT_LABELS_BINARY ? TCT_LABELS_CLASSES : labels;
  return tct_stage_schema(stage, &out->schema, err);
}

/* ---- run -------------------------------------------------------------------------------------------------------- */

static tct_status prepare(tct_stage *stage, const tct_stage_data *data, tct_model *facts, tct_error *err) {
  tct_model *shell = NULL;
  tct_status status = tct_fit_shell(stage->plan, data->table, &shell, err);
  tct_model_free(stage->shell);
  stage->shell = shell;
  if (status == TCT_OK) status = tct_model_tell(facts, shell->unaccounted, err);
  return tct_stage_named(stage, status, err);
}

static tct_status run(tct_stage *stage, const tct_stage_data *data, tct_error *err) {
  tct_plan own = *(const tct_plan *)stage->plan; /* borrows everything; never freed */
  const tct_config *c = data->run;
  own.config.has_seed = c->has_seed, own.config.seed = c->seed;
  own.config.progress = c->progress, own.config.cancel = c->cancel, own.config.user = c->user;
  own.config.ledger = c->ledger, own.config.output = c->output;
  own.config.input_changed = c->input_changed, own.config.input_part = c->input_part;
  own.config.threads = c->threads;
  own.facts.threads = c->threads > 0 ? c->threads : tct_processors();
  stage->value = tct_fit(&own, data->table, err);
  return stage->value ? TCT_OK : err->status;
}

static void drop_value(tct_stage *stage) {
  tct_model_free(stage->value);
  stage->value = NULL;
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

/* Its releases are those of the model; of one that ended they stand by themselves. */
static tct_status write(const tct_stage *stage, json_t *out, tct_error *err) {
  if (!stage->plan) return TCT_OK; /* it ended without one */
  if (!stage->value) {
    json_t *fit = tct_certificate_json(stage->plan);
    return fit && !json_object_set_new(out, "fit", fit) ? TCT_OK : tct_fail_memory(err);
  }
  char *text = tct_model_json(stage->value, err);
  json_t *model = text ? json_loads(text, 0, NULL) : NULL;
  tct_text_free(text);
  return model && !json_object_set_new(out, "model", model) ? TCT_OK : tct_fail_memory(err);
}

static tct_status read(tct_stage *stage, const json_t *said, tct_error *err) {
  const json_t *model = json_object_get(said, "model");
  drop_value(stage);
  if (!model && stage->ended[0]) return TCT_OK;
  stage->value = tct_model_of_json(model, "", err);
  return stage->value ? TCT_OK : err->status;
}

static const char *unlike(const tct_stage *stage, const json_t *model, const json_t *fit, const json_t *schema) {
  const json_t *fits = json_object_get(json_object_get(model, "privacy"), "fits");
  const tct_model *m = stage->value;
  if (!model) return NULL;
  if (json_array_size(fits) != 1 || !tct_json_near(json_array_get(fits, 0), fit)) return "plan";
  if (!tct_json_near(json_object_get(json_object_get(model, "transforms"), "schema"), schema)) return "schema";
  if (!m->label || strcmp(m->label, tct_stage_text(stage, "label")) != 0) return "label";
  if (m->persons != (stage->study->person != NULL)) return "unit";
  if (m->choice || m->estimate || m->ledger_head || m->for_tests) return "claim";
  return NULL;
}

static void check(const tct_stage *stage, const json_t *said, char why[TCT_STAGE_WHY]) {
  json_t *fit = stage->plan ? tct_certificate_json(stage->plan) : NULL, *schema = NULL;
  const json_t *model = json_object_get(said, "model"), *alone = json_object_get(said, "fit");
  tct_status status = tct_stage_schema(stage, &schema, NULL);
  const char *other = status != TCT_OK ? "schema" : unlike(stage, model, fit, schema);
  if (stage->plan ? !model == !alone || (alone && !tct_json_near(alone, fit)) : model || alone) other = "plan";
  if (other) snprintf(why, TCT_STAGE_WHY, "its %s is not what was asked for gives; the file was edited", other);
  json_decref(schema);
  json_decref(fit);
}

const tct_stage_kind tct_stage_kind_fit = {
    .name = "fit",
    .summary = "a linear model of one outcome",
    .keys = KEYS,
    .models = true,
    .defers = true,
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
