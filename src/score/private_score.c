/* private_score.c - scores of a model that may be published: one release, charged before its noise is drawn. */
#include "core/expm.h"
#include "core/point.h"
#include "core/alloc.h"
#include "core/sized.h"
#include "mech/mech.h"
#include "model/json.h"
#include "score/score.h"
#include "study/charge.h"
#include "study/study.h"
#include "train/plan.h"

#include <math.h>
#include <string.h>

static const double LEVEL = 0.95, LEVEL_POINT = 1.959963984540054; /* its point of the normal law */

/* One scoring on its way. */
typedef struct run {
  tct_config config; /* its budget; the rest is not looked at */
  const tct_data *data;
  tct_scoring scoring;
  tct_promise promise;
  tct_cost cost;
  tct_ledger_receipt receipt;
  char *warning;
  double sum[TCT_SCORE_LONGEST];
} run;

tct_status tct_score_check(const tct_scoring *scoring, const tct_data *data, tct_error *err) {
  const tct_model *m = scoring->model;
  if (!data->y || data->labels != (scoring->classes ? (int32_t)TCT_LABELS_CLASSES : m->labels))
    return tct_fail(err, TCT_E_USAGE,
                    "the data were read without the labels that this model's loss needs; name the label column%s",
                    scoring->classes ? ", and the model's classes" : "");
  if (m->classes.count && data->classes.count && !tct_class_names_same(&m->classes, &data->classes))
    return tct_fail(err, TCT_E_USAGE,
                    "the data were read with other classes than the model has, or in another order; read them with "
                    "the model's own");
  if (data->team) return tct_fail(err, TCT_E_USAGE, "a private score is taken in one process; run it without mpirun");
  return data->x.rows > 0 ? TCT_OK : tct_fail(err, TCT_E_DATA, "there is no record to score; give at least one");
}

static tct_status check(const run *r, tct_error *err) {
  const tct_config *c = &r->config;
  TCT_TRY(tct_score_check(&r->scoring, r->data, err));
  if (!(c->epsilon > 0) || !isfinite(c->epsilon))
    return tct_fail(err, TCT_E_USAGE, "epsilon must be a number above 0; give e.g. {epsilon 0.1}");
  if (!(c->delta > 0 && c->delta < 1))
    return tct_fail(err, TCT_E_USAGE, "delta must lie between 0 and 1; give one well below 1/n, e.g. {delta 1e-6}");
  if (c->neighbours != TCT_ADD_REMOVE && c->neighbours != TCT_REPLACE_ONE)
    return tct_fail(err, TCT_E_USAGE, "neighbours must be add_remove or replace_one");
  return TCT_OK;
}

tct_status tct_score_plan(const tct_target *own, int64_t rows, tct_promise *out, tct_cost *cost, tct_error *err) {
  double noise = 0;
  TCT_TRY(tct_calibrate_noise(1, 1, own, &noise, cost, err));
  tct_event event = tct_event_gaussian(TCT_POINT(score_noise_halved, noise, noise / 2), 1);
  TCT_TRY(tct_promise_add(out, tct_release_sum("counts and sums of scores", event, 1, 1, rows), err));
  return tct_promise_settle(out, err);
}

static tct_status plan(run *r, tct_error *err) {
  tct_target whole = {r->config.neighbours, r->config.epsilon, r->config.delta};
  return tct_score_plan(&whole, r->data->x.rows, &r->promise, &r->cost, err);
}

/* As a training run is charged: before anything is drawn, and with the rows that it reads. */
static tct_status charge(run *r, tct_error *err) {
  const tct_config *c = &r->config;
  if (TCT_POINT(score_uncharged, false, true)) return TCT_OK;
  tct_ledger_promise promise = {.events = &r->promise.events,
                                .epsilon = c->epsilon,
                                .delta = c->delta,
                                .neighbours = c->neighbours,
                                .what = "scores of a model",
                                .persons = r->data->persons,
                                .seeded = c->has_seed != 0,
                                .unaccounted = r->data->unaccounted};
  return tct_charge_run(c, r->data, &promise, &r->receipt, &r->warning, err);
}

/* A vector of scores on its way. */
typedef struct taking {
  const tct_scoring *scoring;
  const tct_data *data;
  double *sum;
} taking;

static tct_status add_up(const taking *t, double lattice, tct_error *err) {
  const tct_data *data = t->data;
  int64_t models = tct_model_models(t->scoring->model), count = data->x.rows * models;
  double *margin = TCT_NEW(double, count);
  tct_status status = margin ? tct_model_margins(t->scoring->model, data, margin, err) : tct_fail_memory(err);
  for (int64_t i = 0; i < data->x.rows && status == TCT_OK; i++) {
    if (data->dropped && data->dropped[i]) continue;
    double weight = data->weight ? data->weight[i] : 1;
    tct_scoring_add(t->scoring, margin + i * models, data->y[i], weight, lattice, t->sum);
  }
  tct_wipe_free(margin, margin ? count : 0, sizeof *margin);
  return status;
}

static tct_status spend(tct_mech *mech, void *user, tct_error *err) {
  const taking *t = user;
  TCT_TRY(add_up(t, tct_mech_release_of(mech, 0)->lattice, err));
  return tct_mech_release(mech, 0, t->sum, t->scoring->len, err);
}

tct_status tct_score_take(const tct_scoring *scoring, const tct_data *data, const tct_gate *gate, double *sum,
                          tct_error *err) {
  taking t = {scoring, data, sum};
  memset(sum, 0, TCT_SCORE_LONGEST * sizeof *sum);
  return tct_gate_run(gate, spend, &t, err);
}

static tct_status release(run *r, tct_error *err) {
  const tct_gate gate = tct_gate_of(&r->promise, (tct_neighbours)r->config.neighbours, &r->config);
  return tct_score_take(&r->scoring, r->data, &gate, r->sum, err);
}

/* ---- the answer ------------------------------------------------------------------------------------- */

/* What the figure can be at all; NaN stays. */
static double inside(tct_figure f, double value) { return value < f.low ? f.low : value > f.high ? f.high : value; }

static json_t *figure(tct_figure f) {
  double error = hypot(f.noise, f.sampling), reach = LEVEL_POINT * error;
  json_t *o = json_object();
  tct_json_put(o, "value", inside(f, f.value));
  tct_json_put(o, "standard_error", error);
  tct_json_put(o, "noise_error", f.noise);
  tct_json_put(o, "lower", inside(f, f.value - reach));
  tct_json_put(o, "upper", inside(f, f.value + reach));
  if (isnan(f.value))
    json_object_set_new(o, "note", json_string("the noise hides it; score more records or spend more epsilon"));
  return o;
}

static void put_figure(json_t *root, const char *name, tct_figure f) { json_object_set_new(root, name, figure(f)); }

/* A margin, or the probability of a logistic one. */
static void put_edge(const tct_scoring *s, json_t *to, const char *name, int edge) {
  double margin = edge <= 0 ? -INFINITY : edge >= TCT_SCORE_CELLS ? INFINITY : tct_score_edge(s, edge);
  bool logistic = s->loss.kind->link == TCT_LINK_LOGISTIC;
  tct_json_put(to, name, logistic ? 1 / (1 + tct_exp(-margin)) : margin);
}

/* What a score of two classes tells beside single figures. */
static void put_curves(json_t *root, const tct_scoring *s, const tct_figures *f) {
  static const char *const rate[] = {"false_positive_rate", "true_positive_rate"};
  static const char *const count[2][2] = {{"true_negatives", "false_positives"}, {"false_negatives", "true_positives"}};
  json_t *roc = json_array(), *calibration = json_array(), *confusion = json_object();
  for (int p = 0; p < TCT_SCORE_POINTS; p++) {
    json_t *point = json_object();
    put_edge(s, point, "threshold", TCT_SCORE_STEP * (p + 1));
    for (int label = 0; label < 2; label++) put_figure(point, rate[label], f->above[p][label]);
    json_array_append_new(roc, point);
  }
  for (int g = 0; g <= TCT_SCORE_POINTS; g++) {
    json_t *group = json_object();
    put_edge(s, group, "from", TCT_SCORE_STEP * g);
    put_edge(s, group, "to", TCT_SCORE_STEP * (g + 1));
    put_figure(group, "positives", f->observed[g]);
    json_array_append_new(calibration, group);
  }
  for (int k = 0; k < 4; k++) put_figure(confusion, count[k / 2][k % 2], f->confusion[k / 2][k % 2]);
  json_object_set_new(root, "roc", roc);
  json_object_set_new(root, "calibration", calibration);
  json_object_set_new(root, "confusion", confusion);
}

static void put_privacy(json_t *root, const run *r) {
  json_t *unaccounted = json_array();
  char event[200], model[TCT_DIGEST_HEX];
  tct_event_print(&r->promise.events.at[0], event, sizeof event);
  tct_model_digest(r->scoring.model, model);
  for (int i = 0; i < TCT_UNACCOUNTED && r->data->unaccounted[i]; i++)
    json_array_append_new(unaccounted, json_string(r->data->unaccounted[i]));
  json_object_set_new(root, "private", json_true());
  json_object_set_new(root, "epsilon", json_real(r->config.epsilon));
  json_object_set_new(root, "delta", json_real(r->config.delta));
  json_object_set_new(root, "neighbours", json_string(tct_neighbours_name(r->config.neighbours)));
  json_object_set_new(root, "unit", json_string(r->data->persons ? "person" : "record"));
  json_object_set_new(root, "accountant", json_string(r->cost.winner->name));
  json_object_set_new(root, "events", json_pack("[s]", event));
  json_object_set_new(root, "model", json_string(model));
  json_object_set_new(root, "reproducible", json_boolean(r->config.has_seed != 0));
  json_object_set_new(root, "unaccounted", unaccounted);
  if (r->receipt.run) json_object_set_new(root, "ledger_run", json_string(r->receipt.run));
  if (r->warning) json_object_set_new(root, "warning", json_string(r->warning));
}

json_t *tct_score_figures(const tct_scoring *s, const double *sum, double deviation, int64_t rows) {
  tct_figures f = tct_scoring_read(s, sum, deviation, rows);
  json_t *root = json_object();
  json_object_set_new(root, "rows", json_integer(rows));
  json_object_set_new(root, "level", json_real(LEVEL));
  if (s->binary) {
    put_figure(root, "accuracy", f.accuracy);
    put_figure(root, "auc", f.auc);
    put_figure(root, "mean_loss", f.mean_loss);
    put_figure(root, "positives", f.positives);
    put_curves(root, s, &f);
    json_object_set_new(root, "loss_cut", json_real(s->most));
  } else if (s->classes) {
    put_figure(root, "accuracy", f.accuracy);
    put_figure(root, s->likely ? "log_loss" : "mean_loss", s->likely ? f.log_loss : f.mean_loss);
    json_object_set_new(root, "loss_cut", json_real(s->most));
  } else if (s->followed) {
    put_figure(root, "c_index", f.c_index);
  } else {
    put_figure(root, "mse", f.mse);
    put_figure(root, "r2", f.r2);
    json_object_set_new(root, "label_bound", json_real(s->bound));
  }
  return root;
}

double tct_score_of_try(const tct_scoring *s, const double *sum, double deviation, int64_t rows) {
  tct_figures f = tct_scoring_read(s, sum, deviation, rows);
  bool classes = s->binary || s->classes;
  double value = classes       ? inside(f.accuracy, f.accuracy.value)
                 : s->followed ? inside(f.c_index, f.c_index.value)
                               : -inside(f.mse, f.mse.value);
  return isfinite(value) ? value : -INFINITY;
}

static char *answer(const run *r, tct_error *err) {
  json_t *root = tct_score_figures(&r->scoring, r->sum, r->promise.release[0].deviation, r->data->x.rows);
  put_privacy(root, r);
  return tct_json_text(root, err);
}

static char *score(run *r, tct_error *err) {
  char *text = NULL;
  tct_status status = check(r, err);
  if (status == TCT_OK) status = plan(r, err);
  if (status == TCT_OK) status = charge(r, err);
  if (status == TCT_OK) status = release(r, err);
  if (status == TCT_OK) text = answer(r, err);
  tct_wipe(r->sum, sizeof r->sum);
  return text;
}

char *tct_evaluate_json(const tct_model *model, const tct_data *data, const tct_config *budget, tct_error *err) {
  run r = {.data = data};
  char *text = NULL;
  tct_error_clear(err);
  if (tct_config_take(budget, &r.config, err) == TCT_OK &&
      tct_scoring_make(model, data->weight != NULL, &r.scoring, err) == TCT_OK)
    text = score(&r, err);
  tct_promise_free(&r.promise);
  tct_free(r.receipt.head);
  tct_free(r.receipt.run);
  tct_free(r.warning);
  return text;
}
