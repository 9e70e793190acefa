/* choose_stage.c - a model, and the settings that it is fitted with: a private search among candidates.
 *
 * The search splits the records of the stage's part once more, for fits and for scores.  That split is drawn before the
 * charge, so that what was looked at then is what runs.  The best of a random number of tries is proved as one event
 * (src/account/selection.c); so is, for this list, a choice among all settings.  The number of tries is as secret here
 * as in a search by itself (several/fit_search.c).
 *
 * Its part of the file is the model file that the search would have written. */
#include "core/alloc.h"
#include "several/composition.h"
#include "stage/by_schema.h"
#include "stage/outcome.h"
#include "train/certificate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 10000 };              /* candidates; more are a slip */
static const double ROUNDED = 1e-9; /* numbers of a file, relative */

static const char OF_CANDIDATE[] =
    " loss:text penalty:text solver:text intercept:truth row_norm:number rows_rule:text ";

typedef struct choosing {
  tct_composition *search;
  unsigned char *held; /* [rows] of the stage's part: 1 for scores; NULL: not drawn yet */
  int64_t rows;
} choosing;

static const json_t *candidates(const tct_stage *stage) { return json_object_get(stage->asked, "candidates"); }

/* ---- asked ------------------------------------------------------------------------------------------------------ */

static bool is_all(const tct_stage *stage) {
  const char *selection = tct_stage_text(stage, "selection");
  return selection && !strcmp(selection, "all");
}

static tct_status take_candidate(const tct_stage *stage, size_t k, tct_error *err) {
  char whose[TCT_STAGE_NAME + 40];
  const json_t *one = json_array_get(candidates(stage), k);
  snprintf(whose, sizeof whose, "stage \"%s\": candidate %zu", stage->name, k + 1);
  if (!json_is_object(one))
    return tct_fail(err, TCT_E_USAGE, "%s is no object of settings; write e.g. {\"penalty\": \"l2:lambda=0.1\"}",
                    whose);
  TCT_TRY(tct_study_check_keys(one, (const char *const[2]){OF_CANDIDATE, NULL}, whose, err));
  if (tct_outcome_labels(stage, one) != tct_outcome_labels(stage, NULL))
    return tct_fail(err, TCT_E_USAGE,
                    "%s has a loss that reads labels otherwise than the stage's; choose among its "
                    "kind in a stage of their own",
                    whose);
  const char *rule = tct_json_said(one, "rows_rule");
  if (!rule || !strcmp(rule, "clip") || !strcmp(rule, "unit")) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE, "%s: \"rows_rule\" must be clip or unit", whose);
}

static tct_status take(tct_stage *stage, tct_error *err) {
  const char *selection = tct_stage_text(stage, "selection");
  size_t count = json_array_size(candidates(stage));
  TCT_TRY(tct_outcome_take(stage, err));
  if (selection && strcmp(selection, "random") != 0 && strcmp(selection, "all") != 0)
    return tct_stage_fail(stage, TCT_E_USAGE, err, "\"selection\" must be random or all");
  if (!count || count > MOST)
    return tct_stage_fail(stage, TCT_E_USAGE, err,
                          "it chooses among \"candidates\", 1 to %d objects of settings; list them", MOST);
  if (is_all(stage) && json_object_get(stage->asked, "tries"))
    return tct_stage_fail(stage, TCT_E_USAGE, err, "\"tries\" are random, and \"selection\" is all; leave one out");
  for (size_t k = 0; k < count; k++) TCT_TRY(take_candidate(stage, k, err));
  return TCT_OK;
}

/* ---- planned ---------------------------------------------------------------------------------------------------- */

static void drop_plan(tct_stage *stage) {
  choosing *own = stage->plan;
  if (own) {
    tct_composition_free(own->search);
    tct_wipe_free(own->held, own->held ? own->rows : 0, sizeof *own->held);
  }
  tct_free(own);
  tct_model_free(stage->shell);
  stage->plan = stage->shell = NULL;
}

static tct_search how(const tct_stage *stage) {
  const json_t *o = stage->asked, *tries = json_object_get(o, "tries"), *held = json_object_get(o, "held_out"),
               *share = json_object_get(o, "score_share");
  tct_search search;
  tct_search_default(&search);
  search.persons = stage->study->person != NULL;
  if (tries || is_all(stage)) search.tries = json_integer_value(tries);
  if (held) search.held = json_number_value(held);
  if (share) search.share = json_number_value(share);
  return search;
}

static tct_status plan_for(tct_stage *stage, const tct_schema *schema, tct_error *err) {
  choosing *own = stage->plan = TCT_NEW(choosing, 1);
  size_t count = json_array_size(candidates(stage));
  tct_config *config = TCT_NEW(tct_config, (int64_t)count);
  const tct_config **at = TCT_NEW(const tct_config *, (int64_t)count);
  const tct_search search = how(stage);
  tct_status status = own && config && at ? TCT_OK : tct_fail_memory(err);
  for (size_t k = 0; k < count && status == TCT_OK; k++)
    config[k] = tct_outcome_config(stage, json_array_get(candidates(stage), k), schema), at[k] = &config[k];
  if (status == TCT_OK) own->rows = tct_study_rows(stage->study, stage->part);
  if (status == TCT_OK) own->search = tct_search_plan(at, count, &search, own->rows, schema->features, err);
  if (status == TCT_OK && !own->search) status = err->status;
  tct_free(config);
  tct_free(at);
  return status == TCT_OK ? tct_composition_events(own->search, &stage->events, err) : status;
}

static tct_status plan(tct_stage *stage, tct_error *err) {
  tct_status status = tct_outcome_plan(stage, plan_for, err);
  if (status != TCT_OK) drop_plan(stage);
  return status;
}

/* ---- run -------------------------------------------------------------------------------------------------------- */

static tct_status prepare(tct_stage *stage, const tct_stage_data *data, tct_model *facts, tct_error *err) {
  choosing *own = stage->plan;
  const uint64_t *seed = data->run->has_seed ? &data->run->seed : NULL;
  tct_model *shell = NULL;
  if (!(own->held = TCT_NEW(unsigned char, own->rows))) return tct_fail_memory(err);
  tct_status status = tct_held_draw(own->rows, how(stage).held, seed, own->held, err);
  if (status == TCT_OK) status = tct_search_prepare(own->search, data->table, own->held, facts, &shell, err);
  tct_model_free(stage->shell);
  stage->shell = shell;
  return tct_stage_named(stage, status, err);
}

static tct_status run(tct_stage *stage, const tct_stage_data *data, tct_error *err) {
  const choosing *own = stage->plan;
  stage->value = tct_search_run(own->search, data->table, own->held, data->run, NULL, NULL, err);
  return stage->value ? TCT_OK : err->status;
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

static tct_status write(const tct_stage *stage, json_t *out, tct_error *err) {
  const choosing *own = stage->plan;
  char choice[TCT_SELECTION_TEXT];
  if (!own) return TCT_OK; /* it ended without a plan */
  if (stage->value) return tct_outcome_write(stage, out, err);
  json_t *fits = tct_composition_fits(own->search);
  tct_composition_choice_text(own->search, choice);
  return fits && !json_object_set_new(out, "fits", fits) && !json_object_set_new(out, "choice", json_string(choice))
             ? TCT_OK
             : tct_fail_memory(err);
}

/* What the search says of itself, in the model or, without one, in the stage. */
static const char *unlike(const tct_stage *stage, const json_t *said) {
  const choosing *own = stage->plan;
  const tct_model *m = stage->value;
  const tct_whole *claim = &own->search->claim;
  const json_t *model = json_object_get(said, "model");
  char choice[TCT_SELECTION_TEXT];
  json_t *fits = tct_composition_fits(own->search);
  tct_composition_choice_text(own->search, choice);
  const char *told = m ? m->choice : tct_json_said(said, "choice"),
             *other = m                                                    ? tct_outcome_unlike(stage, model, fits)
                      : tct_json_near(fits, json_object_get(said, "fits")) ? NULL
                                                                           : "plan";
  json_decref(fits);
  if (!told || strcmp(told, choice) != 0) return "choice";
  if (m && !(fabs(m->epsilon - claim->epsilon) <= ROUNDED * claim->epsilon && m->delta == claim->delta)) return "claim";
  return other;
}

static void check(const tct_stage *stage, const json_t *said, char why[TCT_STAGE_WHY]) {
  const char *other = stage->plan ? unlike(stage, said) : NULL;
  if (!stage->plan && (stage->value || json_object_get(said, "fits") || json_object_get(said, "choice")))
    other = "plan";
  tct_outcome_say(other, why);
}

const tct_stage_kind tct_stage_kind_choose = {
    .name = "choose",
    .summary = "a linear model of one outcome, with the best of several settings",
    .keys = TCT_OUTCOME_KEYS "candidates:list selection:text tries:count held_out:number score_share:number ",
    .models = true,
    .defers = true,
    .as_one = true,
    .take = take,
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
