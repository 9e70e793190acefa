/* data_estimate.c - a table whose bounds are estimated: what is open, the charge, the releases, the table scaled. */
#include "core/point.h"
#include "core/alloc.h"
#include "core/stop.h"
#include "estimate/estimate.h"
#include "la/matrix/rows_access.h"
#include "model/json.h"
#include "train/certificate.h"
#include "study/charge.h"
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One estimate on its way. */
typedef struct work {
  tct_data *data;
  tct_config config; /* of the whole */
  tct_open open;
  tct_estimate_plan plan;
  tct_estimated *out;
  json_t *schema; /* as read */
  char *fit;      /* the fit that follows, as far as it is known before it: a list as in a model file */
  tct_found found;
} work;

/* ---- what is open --------------------------------------------------------------------------------------------- */

static bool is_open(const json_t *column) { return json_is_true(json_object_get(column, "estimate")); }

int64_t tct_estimate_features(const json_t *column) {
  if (tct_json_says(column, "type", "number")) return 1;
  if (!tct_json_says(column, "type", "category")) return 0;
  if (is_open(column)) return 1;
  return (int64_t)json_array_size(json_object_get(column, "values")) -
         json_is_true(json_object_get(column, "drop_first"));
}

/* Without a schema every column is a number, and all are open. */
static json_t *schema_of_names(const tct_data *data) {
  json_t *root = json_object(), *columns = json_array();
  for (int64_t j = 0; j < data->x.cols; j++)
    json_array_append_new(columns,
                          json_pack("{s:s, s:s, s:b}", "name", data->names[j], "type", "number", "estimate", 1));
  json_object_set_new(root, "columns", columns);
  if (data->label_name) json_object_set_new(root, "label", json_pack("{s:s}", "name", data->label_name));
  return root;
}

static tct_status find_open(work *w, tct_error *err) {
  tct_data *data = w->data;
  size_t k;
  json_t *column;
  int64_t at = 0;
  w->schema = data->schema ? json_loads(data->schema, 0, NULL) : schema_of_names(data);
  tct_open *open = &w->open;
  int64_t *all = open->feature = TCT_NEW(int64_t, 3 * data->x.cols);
  if (!w->schema || !all) return tct_fail_memory(err);
  open->list = all + data->x.cols, open->column = all + 2 * data->x.cols;
  json_array_foreach(json_object_get(w->schema, "columns"), k, column) {
    if (is_open(column) && tct_json_says(column, "type", "category"))
      open->list[open->lists] = at, open->column[open->lists++] = (int64_t)k;
    else if (is_open(column))
      open->feature[open->count++] = at;
    at += tct_estimate_features(column);
  }
  w->open.label = data->labels == TCT_LABELS_REAL && isnan(data->label_low) && isnan(w->config.label_bound);
  return TCT_OK;
}

/* Missing cells were kept where the schema leaves them to the estimate; its spec says the same. */
static tct_status check_missing(const work *w, tct_error *err) {
  size_t k;
  json_t *column;
  bool asked = w->plan.kinds & TCT_ESTIMATE_MISSING, said = false;
  json_array_foreach(json_object_get(w->schema, "columns"), k, column) {
    said |= is_open(column) && tct_json_says(column, "missing", "estimate");
  }
  if (asked == said) return TCT_OK;
  return tct_fail(
      err, TCT_E_USAGE,
      asked ? "no open column of the schema has \"missing\": \"estimate\"; write that there, or leave missing "
              "out of the estimate"
            : "the schema leaves missing values to the estimate; write e.g. bounds,missing");
}

static tct_status check_table(const tct_data *data, tct_error *err) {
  if (data->estimated) return tct_fail(err, TCT_E_USAGE, "the bounds are estimated already; read the table again");
  if (!data->names || (!data->own.m.values && tct_is_sparse(&data->x) && !data->schema))
    return tct_fail(err, TCT_E_USAGE,
                    "bounds are estimated of named columns whose zeros are stored; give CSV, JSON Lines or a frame");
  if (data->words && data->persons)
    return tct_fail(err, TCT_E_USAGE,
                    "lists of categories are estimated of records, not of persons; list the values in the schema");
  if (data->team) return tct_fail(err, TCT_E_USAGE, "an estimate is made in one process; run it without mpirun");
  if (data->x.pages)
    return tct_fail(err, TCT_E_USAGE, "an estimate scales the table in memory; leave {memory} away, or give a schema");
  return TCT_OK;
}

static tct_status check(const tct_data *data, const tct_config *c, tct_error *err) {
  TCT_TRY(check_table(data, err));
  if ((data->own.m.values && !tct_by_rows(&data->x)) || data->x.layout == TCT_CSC || !data->y)
    return tct_fail(err, TCT_E_USAGE, "an estimate needs the table of a training run, with its labels; read it so");
  if (strcmp(c->scale, "none") != 0)
    return tct_fail(err, TCT_E_USAGE, "an estimate scales the columns itself; leave {scale} away");
  return TCT_OK;
}

/* The fit that follows, of so many columns.  A bound stands for the label's where that is not known yet. */
static tct_plan *plan_fit(const work *w, const json_t *schema, int64_t columns, tct_error *err) {
  tct_config c = w->config;
  c.epsilon = w->plan.rest_epsilon, c.delta = w->plan.rest_delta;
  c.estimate = NULL;
  tct_config_take_bounds(&c, schema, NAN, NAN);
  if (isnan(c.label_bound)) c.label_bound = 1;
  return tct_plan_new(&c, w->data->x.rows, columns, err);
}

/* Whether it can be planned at all is asked before anything is charged. */
static tct_status try_fit(work *w, tct_error *err) {
  tct_plan *plan = plan_fit(w, w->schema, w->data->x.cols, err);
  bool is_private = plan && plan->solver->is_private;
  if (plan) w->fit = tct_json_text(json_pack("[o]", tct_certificate_json(plan)), err);
  tct_plan_free(plan);
  if (!w->fit) return err->status;
  return is_private ? TCT_OK
                    : tct_fail(err, TCT_E_USAGE, "an estimate is part of a private run; name a private solver");
}

/* ---- the charge --------------------------------------------------------------------------------------------- */

/* The whole, for the fit too: before anything is drawn, and with the rows as they were read. */
static tct_status charge(work *w, tct_error *err) {
  if (TCT_POINT(estimate_without_a_charge, !w->config.ledger, true)) return TCT_OK;
  const tct_config *c = &w->config;
  tct_ledger_receipt receipt = {0};
  tct_events events = {0};
  tct_status status = tct_estimate_events(&w->plan, &events, err);
  tct_ledger_promise run = {.events = &events,
                            .epsilon = c->epsilon,
                            .delta = c->delta,
                            .neighbours = (tct_neighbours)c->neighbours,
                            .what = "a fit with estimated bounds",
                            .asked = {w->fit, NULL, w->out->certificate},
                            .persons = w->data->persons,
                            .seeded = c->has_seed != 0,
                            .unaccounted = w->data->unaccounted};
  if (status == TCT_OK) status = tct_charge_run(c, w->data, &run, &receipt, &w->out->warning, err);
  tct_events_free(&events);
  if (status != TCT_OK) return status;
  w->out->charged = true;
  w->out->ledger_head = receipt.head;
  w->out->run = receipt.run;
  w->out->for_tests = receipt.for_tests != 0;
  return TCT_OK;
}

/* ---- the table under its new bounds --------------------------------------------------------------------------- */

/* As the encoder scales a number between bounds. */
static double scaled(double value, double low, double high, bool symmetric) {
  double unit = (fmin(fmax(value, low), high) - low) / (high - low);
  return symmetric ? 2 * unit - 1 : unit;
}

static void scale_row(const work *w, int64_t i, bool symmetric) {
  tct_row row = tct_row_at(&w->data->x, i);
  for (int64_t c = 0; c < w->open.count; c++) {
    int64_t j = w->open.feature[c], at = tct_lower_bound(&row, j);
    if (at >= row.n || tct_row_column(&row, at) != j) continue; /* a dropped record has no entries */
    double given = tct_row_value(&row, at), low = w->found.low[c], high = w->found.high[c];
    double value = scaled(isnan(given) ? w->found.middle[c] : given, low, high, symmetric);
    if (row.f32)
      ((float *)(void *)row.x)[at] = (float)value;
    else
      ((double *)(void *)row.x)[at] = value;
  }
}

static void scale_table(work *w) {
  bool symmetric = tct_json_says(w->schema, "scale", "symmetric");
  tct_estimate_round(&w->found, w->plan.columns);
  for (int64_t i = 0; i < w->data->x.rows; i++)
    if (!w->data->dropped || !w->data->dropped[i]) scale_row(w, i, symmetric);
}

static json_t *completed(const work *w) {
  const char *name = w->data->label_name ? w->data->label_name : "y";
  return tct_estimate_complete(w->schema, &w->found, w->open.label ? name : NULL);
}

/* A fit that cannot be of all lists is made without the longest. */
static void leave_lists_out(work *w, json_t *schema) {
  tct_error why = {.status = TCT_E_USAGE}; /* a column more than can be; else the fit says itself what it lacks */
  char text[600] = "", *before = w->out->warning;
  for (const char *left = w->open.lists > 0 ? "" : NULL; left && why.status == TCT_E_USAGE;) {
    size_t k, used = strlen(text);
    json_t *column;
    int64_t columns = 0;
    json_array_foreach(json_object_get(schema, "columns"), k, column) columns += tct_estimate_features(column);
    tct_plan *plan = plan_fit(w, schema, columns, &why);
    left = plan || why.status != TCT_E_USAGE ? NULL : tct_estimate_leave_out(schema);
    tct_plan_free(plan);
    if (left)
      snprintf(text + used, sizeof text - used, "%s%s",
               used ? ", " : "left out, since the fit cannot be of so long lists: ", left);
  }
  if (!*text) return;
  char both[1200];
  snprintf(both, sizeof both, "%.590s%s%s", before ? before : "", before ? "; " : "", text);
  w->out->warning = tct_text_copy(both);
  tct_free(before);
}

/* It travels with the model. */
static tct_status complete_schema(work *w, tct_error *err) {
  tct_data *data = w->data;
  json_t *schema = completed(w);
  tct_status status = TCT_OK;
  leave_lists_out(w, schema);
  if (w->open.lists > 0) status = tct_estimate_encode(data, w->schema, schema, &w->found, err);
  if (status != TCT_OK) return json_decref(schema), status;
  if (w->open.label) data->label_low = w->found.low[w->open.count], data->label_high = w->found.high[w->open.count];
  data->open = 0;
  return tct_json_keep(schema, &data->schema, err);
}

/* ---- one after the other ---------------------------------------------------------------------------------------- */

static tct_status describe(work *w, tct_error *err) {
  tct_estimated *out = w->out = TCT_NEW(tct_estimated, 1);
  if (!out) return tct_fail_memory(err);
  const tct_estimate_plan *p = &w->plan;
  out->epsilon = p->epsilon, out->delta = p->delta;
  out->own_epsilon = p->own_epsilon, out->own_delta = p->own_delta;
  out->rest_epsilon = p->rest_epsilon, out->rest_delta = p->rest_delta;
  out->neighbours = (int32_t)p->neighbours;
  out->reproducible = w->config.has_seed != 0;
  return tct_json_keep(tct_estimate_certificate(p), &out->certificate, err);
}

static tct_estimate_asked asked_of(const tct_config *c, int64_t rows, int64_t columns, int64_t lists) {
  return (tct_estimate_asked){c->estimate, c->epsilon, c->delta, (tct_neighbours)c->neighbours,
                              rows,        columns,    lists,    c->memory};
}

static tct_status make_plan(work *w, tct_error *err) {
  const tct_config *c = &w->config;
  int64_t columns = w->open.count + TCT_POINT(estimate_label_uncounted, w->open.label, 0);
  tct_estimate_asked asked = asked_of(c, w->data->x.rows, columns, w->open.lists);
  TCT_TRY(tct_estimate_plan_make(&asked, &w->plan, err));
  TCT_TRY(check_missing(w, err));
  return tct_found_make(&w->plan, w->data, &w->found, err);
}

static tct_status spend(tct_mech *mech, void *user, tct_error *err) {
  work *w = user;
  return tct_estimate_release(&w->plan, w->data, &w->open, mech, &w->found, err);
}

static tct_status draw(work *w, tct_error *err) {
  const tct_gate gate = tct_gate_of(&w->plan.promise, w->plan.neighbours, &w->config);
  tct_stop_charged();
  if (tct_stop_ask(NULL)) return tct_fail_cancelled(err);
  return tct_gate_run(&gate, spend, w, err);
}

/* Values are scaled in place, and those that somebody else owns are not ours to change. */
static tct_status take_own(tct_data *data, tct_error *err) {
  if (data->own.m.values) return TCT_OK;
  TCT_TRY(tct_matrix_copy_rows(&data->x, &data->own, err));
  data->x = data->own.m;
  return TCT_OK;
}

static tct_status estimate(work *w, tct_error *err) {
  TCT_TRY(check(w->data, &w->config, err));
  TCT_TRY(take_own(w->data, err));
  TCT_TRY(find_open(w, err));
  TCT_TRY(make_plan(w, err));
  TCT_TRY(try_fit(w, err));
  TCT_TRY(describe(w, err));
  TCT_TRY(TCT_POINT(estimate_charged_after_the_draw, charge, draw)(w, err));
  TCT_TRY(TCT_POINT(estimate_charged_after_the_draw, draw, charge)(w, err));
  scale_table(w);
  return complete_schema(w, err);
}

tct_status tct_estimate_stage(const tct_estimate_plan *plan, tct_data *data, tct_mech *mech, json_t **completed_schema,
                              tct_error *err) {
  work w = {.data = data, .plan = *plan};
  w.config.label_bound = NAN;
  tct_status status = check_table(data, err);
  if (status == TCT_OK) status = find_open(&w, err);
  if (status == TCT_OK) status = check_missing(&w, err);
  if (status == TCT_OK) status = tct_found_make(plan, data, &w.found, err);
  if (status == TCT_OK && mech) status = tct_estimate_release(plan, data, &w.open, mech, &w.found, err);
  if (status == TCT_OK && mech) {
    tct_estimate_round(&w.found, plan->columns);
    *completed_schema = completed(&w);
    if (!*completed_schema) status = tct_fail_memory(err);
  }
  tct_free(w.open.feature);
  tct_found_free(&w.found, w.open.lists);
  json_decref(w.schema);
  return status;
}

tct_status tct_data_estimate(tct_data *data, tct_config *config, tct_error *err) {
  tct_error local = {0};
  tct_stop stop;
  work w = {.data = data};
  err = err ? err : &local;
  tct_error_clear(err);
  TCT_TRY(tct_config_take(config, &w.config, err));
  if (!w.config.estimate)
    return tct_fail(err, TCT_E_USAGE, "no estimate is asked for; give e.g. bounds:budget_fraction=0.1");
  tct_stop_watch(&stop, w.config.cancel, w.config.user);
  tct_status status = estimate(&w, err);
  tct_stop_end(&stop);
  if (status == TCT_OK) {
    data->estimated = w.out;
    config->epsilon = w.plan.rest_epsilon, config->delta = w.plan.rest_delta;
    config->estimate = config->ledger = NULL;
    w.out = NULL;
  }
  tct_estimated_free(w.out);
  tct_estimate_plan_free(&w.plan);
  tct_free(w.open.feature);
  tct_found_free(&w.found, w.open.lists);
  json_decref(w.schema);
  tct_text_free(w.fit);
  return status;
}

char *tct_estimate_json(const tct_config *config, int64_t rows, int64_t columns, int64_t lists, tct_config *rest,
                        tct_error *err) {
  tct_config own;
  tct_estimate_plan plan = {0};
  tct_error local = {0};
  char *text = NULL;
  err = err ? err : &local;
  tct_error_clear(err);
  if (tct_config_take(config, &own, err) != TCT_OK) return NULL;
  if (!own.estimate)
    return tct_fail(err, TCT_E_USAGE, "no estimate is asked for; give e.g. bounds:budget_fraction=0.1"), NULL;
  tct_estimate_asked asked = asked_of(&own, rows, columns, lists);
  if (tct_estimate_plan_make(&asked, &plan, err) == TCT_OK) {
    json_t *told = tct_estimate_certificate(&plan);
    if (told) json_object_set_new(told, "memory_bytes", json_real(tct_words_bytes(rows, lists)));
    text = tct_json_text(told, err);
    if (rest) rest->epsilon = plan.rest_epsilon, rest->delta = plan.rest_delta, rest->estimate = NULL;
  }
  tct_estimate_plan_free(&plan);
  return text;
}
