/* fit_classes.c - one model for each class against the rest, by one plan. */
#include "core/alloc.h"
#include "core/stop.h"
#include "several/composition.h"
#include "several/turn.h"

#include <string.h>

static tct_status fit_one(const tct_plan *plan, const tct_data *data, const double *labels, tct_turn *t,
                          tct_model **model, tct_error *err) {
  tct_plan own = *plan; /* borrows everything; never freed */
  tct_data view = *data;
  tct_turn_take(t, &own.config);
  view.y = labels;
  view.labels = TCT_LABELS_BINARY;
  *model = tct_fit(&own, &view, err);
  return *model ? TCT_OK : err->status;
}

static tct_status check(const tct_composition *c, const int32_t *code, int64_t rows, int64_t count, tct_error *err) {
  if (c->parts != 1 || (count != c->part[0].copies))
    return tct_fail(err, TCT_E_USAGE, "the composition is not of this many classes; compose for as many");
  if (c->part[0].plan->config.ledger)
    return tct_fail(err, TCT_E_USAGE,
                    "a composition is charged once, not by every fit; charge its events, then fit "
                    "without a ledger");
  for (int64_t i = 0; i < rows; i++)
    if (code[i] < 0 || code[i] >= (count > 1 ? count : 2))
      return tct_fail(err, TCT_E_DATA, "a record's class is not in [0, count); number the classes from 0");
  return TCT_OK;
}

/* A model is one of all the fits, and whoever sees it may see the others: its file claims what all of them spent. */
static tct_status claim_all(const tct_composition *c, tct_model *const *made, int64_t count, tct_error *err) {
  const tct_amendment all = {.size = sizeof all, .composition = c};
  for (int64_t k = 0; k < count; k++) TCT_TRY(tct_model_amend(made[k], &all, err));
  return TCT_OK;
}

tct_status tct_fit_classes(const tct_composition *composition, const tct_data *data, const int32_t *code, int64_t count,
                           tct_model **models, tct_error *err) {
  tct_error local = {0};
  tct_stop stop;
  int64_t rows = data->x.rows;
  err = err ? err : &local;
  tct_error_clear(err);
  if (data->estimated)
    return tct_fail(err, TCT_E_USAGE, "bounds were estimated for one model, and these are several; give a schema");
  TCT_TRY(check(composition, code, rows, count, err));
  const tct_plan *plan = composition->part[0].plan;
  double *labels = TCT_NEW(double, rows);
  tct_model **made = TCT_NEW(tct_model *, count);
  tct_status status = labels && made ? TCT_OK : tct_fail_memory(err);
  tct_stop_watch(&stop, plan->config.cancel, plan->config.user);
  tct_stop_charged(); /* by the caller */
  for (int64_t k = 0; k < count && status == TCT_OK; k++) {
    int32_t positive = count > 1 ? (int32_t)k : 1;
    tct_turn t = {&plan->config, k, count};
    for (int64_t i = 0; i < rows; i++) labels[i] = code[i] == positive ? 1 : -1;
    status = fit_one(plan, data, labels, &t, &made[k], err);
  }
  tct_stop_end(&stop);
  if (status == TCT_OK) status = claim_all(composition, made, count, err);
  for (int64_t k = 0; made && k < count; k++) {
    if (status == TCT_OK)
      models[k] = made[k];
    else
      tct_model_free(made[k]);
  }
  tct_wipe_free(labels, rows, sizeof *labels);
  tct_free(made);
  return status;
}
