/* promise.c - before the gate: room for the model, its charge, what a claim adds up. */
#include "train/promise.h"

#include "core/point.h"
#include "core/alloc.h"
#include "core/outfile.h"
#include "model/json.h"
#include "study/charge.h"

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
  const char *const *inputs = tct_inputs_list(&model->inputs);
  TCT_TRY(tct_outfile_open(model->output, plan->config.output, TCT_OUT_FILE, inputs, err));
  return tct_outfile_reserve(model->output, bytes, err);
}

/* ---- the charge ---- */

tct_status tct_model_promise(const tct_plan *plan, const tct_data *data, tct_phases *phases, tct_model *model,
                             tct_error *err) {
  tct_ledger_receipt receipt = {0};
  tct_ledger_promise run = {.events = &model->events,
                            .epsilon = model->epsilon,
                            .delta = model->delta,
                            .neighbours = plan->facts.neighbours,
                            .what = model->solver,
                            .asked = {model->fits, model->choice, NULL},
                            .persons = model->persons,
                            .seeded = model->reproducible,
                            .unaccounted = model->unaccounted};
  if (phases && phases->id[0])
    run.reserved = phases->id;
  else if (phases)
    run.reserve = phases->seconds;
  tct_status status = tct_charge_run(&plan->config, data, &run, &receipt, &model->warning, err);
  if (status != TCT_OK || !receipt.run) return status; /* another rank has it, or there is no ledger */
  if (run.reserve > 0) {
    memcpy(phases->id, receipt.run, TCT_LEDGER_ID);
    tct_free(receipt.head);
    tct_free(receipt.run);
    return TCT_OK;
  }
  model->ledger_head = receipt.head;
  model->run_id = receipt.run;
  model->for_tests = receipt.for_tests;
  return TCT_OK;
}

/* ---- a table whose bounds were estimated -------------------------------------------------------------------
 *
 * The budget was divided before the estimate was drawn.  The fit's own claim holds whatever the estimate found, so the
 * two are added.  What the fit alone claims stays in the file, as "rest", where a verifier finds it. */

static tct_status check_rest(const tct_plan *plan, const tct_data *data, const tct_model *m, tct_error *err) {
  const tct_estimated *e = data->estimated;
  if (plan->config.ledger)
    return tct_fail(err, TCT_E_USAGE,
                    "the ledger is charged where the bounds are estimated, for the fit too; give it to the estimate");
  if (!m->is_private || m->neighbours != e->neighbours ||
      !TCT_POINT(estimate_rest_not_compared, m->epsilon <= e->rest_epsilon && m->delta <= e->rest_delta, true))
    return tct_fail(err, TCT_E_USAGE,
                    "the fit's budget is not what the estimate of its bounds left; plan with the settings that "
                    "tct_data_estimate made");
  if (e->charged && e->used)
    return tct_fail(
        err, TCT_E_BUDGET,
        "what the ledger was charged with is spent by an earlier fit on this table; read and estimate again");
  return TCT_OK;
}

static tct_status write_estimate(const tct_estimated *e, tct_model *m, tct_error *err) {
  json_t *o = json_loads(e->certificate, 0, NULL);
  json_t *rest = json_pack("{s:o, s:o, s:s, s:o}", "epsilon", tct_json_real(m->epsilon), "delta",
                           tct_json_real(m->delta), "accountant", m->accountant, "events", tct_json_events(&m->events));
  if (json_object_set_new(o, "rest", rest) != 0) json_decref(o), o = NULL;
  return tct_json_keep(o, &m->estimate, err);
}

tct_status tct_estimated_events(const tct_estimated *estimated, tct_events *out, tct_error *err) {
  TCT_TRY(tct_events_add(out, tct_event_approx(estimated->own_epsilon, estimated->own_delta, 1), err));
  return tct_events_add(out, tct_event_approx(estimated->rest_epsilon, estimated->rest_delta, 1), err);
}

static tct_status claim_both(const tct_estimated *e, tct_model *m, tct_error *err) {
  tct_events events = {0};
  tct_status status = tct_estimated_events(e, &events, err);
  char *accountant = tct_text_copy("basic");
  if (status == TCT_OK && !accountant) status = tct_fail_memory(err);
  if (status != TCT_OK) {
    tct_events_free(&events);
    tct_free(accountant);
    return status;
  }
  tct_events_free(&m->events);
  tct_free(m->accountant);
  m->events = events;
  m->accountant = accountant;
  m->epsilon = e->epsilon, m->delta = e->delta;
  return TCT_OK;
}

static bool copy_text(char **to, const char *text) { return !text || (*to = tct_text_copy(text)) != NULL; }

tct_status tct_model_add_estimate(const tct_plan *plan, const tct_data *data, tct_model *m, tct_error *err) {
  tct_estimated *e = data->estimated;
  if (!e) return TCT_OK;
  TCT_TRY(check_rest(plan, data, m, err));
  TCT_TRY(write_estimate(e, m, err));
  TCT_TRY(claim_both(e, m, err));
  m->reproducible |= e->reproducible;
  m->for_tests |= e->for_tests;
  e->used = TCT_POINT(estimate_pays_for_every_fit, true, false);
  bool copied =
      copy_text(&m->ledger_head, e->ledger_head) && copy_text(&m->run_id, e->run) && copy_text(&m->warning, e->warning);
  return copied ? TCT_OK : tct_fail_memory(err);
}
