/* fit_stage.c - a model: one fit, or one for each class; after an estimate that its columns wait for, deferred.
 *
 * Its part of the file is a whole model file, whose claim is that of this stage by itself.  So it is verified as any
 * model is, and the study adds what the stage costs beside the others. */
#include "core/processors.h"
#include "stage/by_schema.h"
#include "stage/outcome.h"
#include "train/certificate.h"
#include "train/fit.h"

#include <limits.h>

static const char KEYS[] = TCT_OUTCOME_KEYS "errors:text ";

static void drop_plan(tct_stage *stage) {
  tct_plan_free(stage->plan);
  tct_model_free(stage->shell);
  stage->plan = stage->shell = NULL;
}

static tct_status plan_for(tct_stage *stage, const tct_schema *schema, tct_error *err) {
  const tct_study *study = stage->study;
  tct_config config = tct_outcome_config(stage, NULL, schema);
  const char *errors = tct_stage_text(stage, "errors");
  if (errors) config.errors = errors;
  int64_t rows = tct_study_rows(study, stage->part);
  tct_plan *plan = tct_study_is_model(study) ? tct_plan_new(&config, rows, schema->features, err)
                                             : tct_plan_by_rules(&config, rows, schema->features, INT_MAX, err);
  stage->plan = plan;
  if (!plan) return err->status;
  if (!plan->solver->is_private)
    return tct_stage_fail(stage, TCT_E_USAGE, err, "%s has no privacy; name a private solver", plan->solver->name);
  return tct_plan_events(plan, &stage->events, err);
}

static tct_status plan(tct_stage *stage, tct_error *err) { return tct_outcome_plan(stage, plan_for, err); }

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
  tct_outcome_run_by(&own.config, data->run);
  own.facts.threads = own.config.threads > 0 ? own.config.threads : tct_processors();
  stage->value = tct_fit(&own, data->table, err);
  return stage->value ? TCT_OK : err->status;
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

/* Its releases are those of the model; of one that ended they stand by themselves. */
static tct_status write(const tct_stage *stage, json_t *out, tct_error *err) {
  if (!stage->plan) return TCT_OK; /* it ended without one */
  if (stage->value) return tct_outcome_write(stage, out, err);
  json_t *fit = tct_certificate_json(stage->plan);
  return fit && !json_object_set_new(out, "fit", fit) ? TCT_OK : tct_fail_memory(err);
}

static void check(const tct_stage *stage, const json_t *said, char why[TCT_STAGE_WHY]) {
  const json_t *model = json_object_get(said, "model"), *alone = json_object_get(said, "fit");
  const tct_model *m = stage->value;
  json_t *fit = stage->plan ? tct_certificate_json(stage->plan) : NULL, *fits = json_array();
  if (fit) json_array_append(fits, fit);
  const char *other = tct_outcome_unlike(stage, model, fits);
  if (!other && model && m->choice) other = "claim";
  if (stage->plan ? !model == !alone || (alone && !tct_json_near(alone, fit)) : model || alone) other = "plan";
  tct_outcome_say(other, why);
  json_decref(fits);
  json_decref(fit);
}

const tct_stage_kind tct_stage_kind_fit = {
    .name = "fit",
    .summary = "a linear model of one outcome",
    .keys = KEYS,
    .models = true,
    .defers = true,
    .take = tct_outcome_take,
    .plan = plan,
    .reads = tct_outcome_reads,
    .prepare = prepare,
    .run = run,
    .write = write,
    .read = tct_outcome_read,
    .check = check,
    .drop_plan = drop_plan,
    .drop_value = tct_outcome_drop_value,
};
