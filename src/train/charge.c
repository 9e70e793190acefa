/* charge.c - before the gate: room for the model, the rows shown to the ledger, the charge. */
#include "train/charge.h"

#include "core/alloc.h"
#include "core/outfile.h"
#include "ledger/registry.h"
#include "ranks/ranks.h"

#include <math.h>
#include <string.h>

/* ---- room ---- */

/* A number whose decimal is as long as any. */
static const double LONGEST = -2.2250738585072014e-308;
/* The ledger's entry and the note, which the run adds. */
enum { ROOM_LATER = 2048 };

static tct_status longest_text(tct_model *model, int64_t *bytes, tct_error *err) {
  int64_t models = tct_model_models(model);
  double intercept = model->intercept;
  TCT_TRY(tct_model_make_rows(model, models, err));
  for (int64_t j = 0; j < models * model->cols; j++) model->coefficients[j] = LONGEST;
  for (int64_t k = 0; model->intercepts && k < models; k++) model->intercepts[k] = LONGEST;
  model->intercept = LONGEST;
  char *text = tct_model_json(model, err);
  *bytes = text ? (int64_t)strlen(text) + ROOM_LATER : 0;
  tct_text_free(text);
  tct_free(model->coefficients);
  tct_free(model->intercepts);
  model->coefficients = model->intercepts = NULL;
  model->intercept = intercept;
  return text ? TCT_OK : TCT_E_MEMORY;
}

tct_status tct_model_reserve(const tct_plan *plan, tct_model *model, tct_error *err) {
  int64_t bytes = 0;
  if (!plan->config.output) return TCT_OK;
  TCT_TRY(longest_text(model, &bytes, err));
  model->output = TCT_NEW(tct_outfile, 1);
  if (!model->output) return tct_fail_memory(err);
  TCT_TRY(tct_outfile_open(model->output, plan->config.output, err));
  return tct_outfile_reserve(model->output, bytes, err);
}

/* ---- the charge ---- */

tct_status tct_charge_shown(const tct_config *config, const tct_shown *shown, tct_ledger_promise *run,
                            tct_ledger_receipt *receipt, char **warning, tct_error *err) {
  run->print = &shown->print[0];
  run->key = shown->key[0];
  run->declared_part = config->input_part != 0;
  run->input_changed = config->input_changed;
  TCT_TRY(tct_ledger_promise_run(config->ledger, run, receipt, err));
  if (!receipt->for_tests) *warning = tct_registry_add(shown->id, config->ledger, &shown->print[1]);
  return TCT_OK;
}

static tct_status charge(const tct_plan *plan, const tct_shown *shown, tct_model *model, tct_error *err) {
  tct_ledger_receipt receipt;
  char *text = tct_plan_json(plan, err);
  if (!text) return TCT_E_MEMORY;
  tct_ledger_promise run = {.events = &model->events,
                            .epsilon = model->epsilon,
                            .delta = model->delta,
                            .neighbours = plan->facts.neighbours,
                            .what = model->solver,
                            .plan = text,
                            .persons = model->persons,
                            .seeded = model->reproducible,
                            .unaccounted = model->unaccounted};
  tct_status status = tct_charge_shown(&plan->config, shown, &run, &receipt, &model->warning, err);
  tct_text_free(text);
  if (status != TCT_OK) return status;
  model->ledger_head = receipt.head;
  model->run_id = receipt.run;
  model->for_tests = receipt.for_tests;
  return TCT_OK;
}

tct_status tct_model_promise(const tct_plan *plan, const tct_data *data, tct_model *model, tct_error *err) {
  tct_shown shown;
  if (!plan->config.ledger) return TCT_OK;
  tct_status status = tct_shown_make(plan->config.ledger, data, plan->facts.threads, &shown, err);
  status = tct_team_agree(data->team, status, err);
  if (status == TCT_OK && tct_team_own(data->team) == 0) status = charge(plan, &shown, model, err);
  tct_wipe(&shown, sizeof shown);
  return tct_team_agree(data->team, status, err);
}
