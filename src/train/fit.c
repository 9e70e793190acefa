/* fit.c - the one pass: plan, bounded records, solver, and the model with its certificate. */
#include "core/point.h"
#include "core/alloc.h"
#include "core/stop.h"
#include "la/matrix/paged.h"
#include "ranks/ranks.h"
#include "train/certificate.h"
#include "train/promise.h"
#include "train/fit.h"
#include "train/one_program.h"
#include "train/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static tct_status check_shape(const tct_plan *plan, const tct_data *data, tct_error *err) {
  if (tct_data_rank_rows(data, -1) != plan->facts.rows || data->x.cols != plan->cols)
    return tct_fail(err, TCT_E_DATA,
                    "the data are %lld x %lld, the plan was made for %lld x %lld; plan with the public shape",
                    (long long)tct_data_rank_rows(data, -1), (long long)data->x.cols, (long long)plan->facts.rows,
                    (long long)plan->cols);
  const tct_loss *loss = &plan->facts.loss;
  int64_t rows = plan->copies * tct_loss_outputs(loss);
  int want = rows > 1 ? TCT_LABELS_CLASSES : loss->kind->binary ? TCT_LABELS_BINARY : TCT_LABELS_REAL;
  if (rows > 1 && data->labels == want && data->classes.count && data->classes.count != rows)
    return tct_fail(err, TCT_E_USAGE, "the plan is of another number of classes than the data; plan with the data's");
  if (data->labels == TCT_LABELS_CLASSES && want == TCT_LABELS_BINARY)
    return tct_fail(err, TCT_E_DATA,
                    "the labels are of more than two classes, and the plan is of two; plan with their number "
                    "({classes}), or name a positive value");
  if (data->follow_up != loss->kind->follow_up && (data->follow_up || data->label_name))
    return tct_fail(err, TCT_E_USAGE,
                    data->follow_up ? "the label is a time and an event; give {loss cox}, or name another label"
                                    : "the loss cox needs a time and an event; give {event NAME} and {horizon H}, or "
                                      "both in the schema");
  if (data->follow_up && plan->facts.label_bound != data->label_high)
    return tct_fail(err, TCT_E_USAGE, "the label bound of follow-up times is the horizon; leave {label_bound} away");
  if (data->labels != want)
    return tct_fail(err, TCT_E_DATA, "the labels were read as another kind than the loss %s needs; read the data again",
                    plan->facts.loss.kind->name);
  return TCT_OK;
}

bool tct_plan_weighs(const tct_plan *plan, bool persons) {
  const tct_solver *solver = plan->solver;
  if (persons || solver->weighing != TCT_WEIGHS_RECORDS) return solver->weighing == TCT_WEIGHS_PERSONS;
  return !solver->infers || tct_spec_is(&plan->solved.spec, solver->options, "errors", "robust");
}

static tct_status check_weights(const tct_plan *plan, const tct_data *data, tct_error *err) {
  const char *name = plan->solver->name;
  if (!data->weight || tct_plan_weighs(plan, data->persons)) return TCT_OK;
  if (data->persons && plan->solver->infers)
    return tct_fail(err, TCT_E_USAGE,
                    "standard errors take records to be independent and protect one record, not a person's records "
                    "together; drop {errors}, or give one row a person");
  if (data->persons)
    return tct_fail(err, TCT_E_USAGE,
                    "%s bounds what one record can move, not a person's records together; use dpgd, dpnewton, "
                    "dpmetric, dpfw for the "
                    "l1 ball, or adassp for ridge",
                    name);
  if (plan->solver->weighing == TCT_WEIGHS_RECORDS)
    return tct_fail(err, TCT_E_USAGE,
                    "errors of a right model know no weights; give {errors robust}, or leave the weights out");
  return tct_fail(err, TCT_E_USAGE,
                  "%s cannot weigh records; use dpgd, dpnewton or dpmetric, dpfw for the l1 ball, objpert for smooth "
                  "losses or adassp "
                  "for ridge",
                  name);
}

/* What ranks that hold a part of the rows each cannot do. */
static tct_status check_ranks(const tct_plan *plan, const tct_data *data, tct_error *err) {
  if (tct_team_ranks(data->team) == 1) return TCT_OK;
  if (plan->solver->infers)
    return tct_fail(err, TCT_E_USAGE,
                    "standard errors need all rows in one process; run without mpirun, or drop {errors}");
  if (!plan->solver->rows_apart)
    return tct_fail(err, TCT_E_USAGE,
                    "%s needs all rows in one process; run it without mpirun, or choose dpsgd or dpcd",
                    plan->solver->name);
  if (data->persons)
    return tct_fail(err, TCT_E_USAGE, "persons are bounded where all their records are; run without mpirun");
  if (strcmp(plan->config.scale, "none") || !strcmp(plan->config.label_scale, "center"))
    return tct_fail(err, TCT_E_USAGE,
                    "statistics of the data are taken in one process only; under mpirun give bounds with {schema}");
  return TCT_OK;
}

int tct_plan_unpaid(const tct_plan *plan, char text[TCT_PLAN_FACTS][200]) {
  int facts = 0;
  if (strcmp(plan->config.scale, "none"))
    snprintf(text[facts++], 200, "features were scaled (%s) by statistics of the data", plan->config.scale);
  if (!strcmp(plan->config.label_scale, "center"))
    snprintf(text[facts++], 200, "labels were centred by their mean over the data");
  if (plan->solved.unaccounted) snprintf(text[facts++], 200, "%s", plan->solved.unaccounted);
  return facts;
}

static tct_status unaccounted(const tct_plan *plan, const tct_data *data, tct_model *model, tct_error *err) {
  char text[TCT_PLAN_FACTS][200];
  int ok = 1, facts = tct_plan_unpaid(plan, text);
  for (int i = 0; i < TCT_UNACCOUNTED && data->unaccounted[i]; i++) ok &= tct_model_note(model, data->unaccounted[i]);
  for (int i = 0; i < facts; i++) ok &= tct_model_note(model, text[i]);
  return ok ? TCT_OK : tct_fail_memory(err);
}

static tct_status names(const tct_data *data, tct_model *model, tct_error *err) {
  model->features = TCT_NEW(char *, model->cols);
  if (!model->features) return tct_fail_memory(err);
  for (int64_t j = 0; j < model->cols; j++) {
    char generic[32];
    snprintf(generic, sizeof generic, "x%lld", (long long)j + 1);
    model->features[j] = tct_text_copy(data->names ? data->names[j] : generic);
    if (!model->features[j]) return tct_fail_memory(err);
    if (j % 65536 == 65535 && tct_stopping()) return tct_fail_cancelled(err);
  }
  return TCT_OK;
}

/* Classes without names are called by their numbers. */
static tct_status number_classes(tct_class_names *names, int64_t count, tct_error *err) {
  enum { DIGITS = 24 };
  const char **name = TCT_NEW(const char *, count);
  char(*text)[DIGITS] = tct_alloc(count, DIGITS);
  for (int64_t k = 0; name && text && k < count; k++) {
    snprintf(text[k], DIGITS, "%lld", (long long)k);
    name[k] = text[k];
  }
  tct_status status =
      name && text ? tct_class_names_set(names, name, count, TCT_CLASS_NUMBER, err) : tct_fail_memory(err);
  tct_free(name);
  tct_free(text);
  return status;
}

static tct_status classes(const tct_plan *plan, const tct_data *data, tct_model *model, tct_error *err) {
  const char *const *name = (const char *const *)data->classes.name;
  int64_t outputs = plan->copies * tct_loss_outputs(&plan->facts.loss);
  model->models = outputs;
  if (name && data->classes.count == (outputs > 1 ? outputs : 2))
    return tct_class_names_set(&model->classes, name, data->classes.count, data->classes.kind, err);
  return outputs > 1 ? number_classes(&model->classes, outputs, err) : TCT_OK;
}

tct_status tct_fit_describe(const tct_plan *plan, tct_model *model, tct_error *err) {
  model->loss = tct_spec_copy(&plan->facts.loss.spec);
  model->penalty = tct_spec_copy(&plan->facts.penalty.spec);
  model->solver = tct_spec_copy(&plan->solved.spec);
  model->scale = tct_text_copy(plan->config.scale);
  model->rows = plan->facts.rows;
  model->cols = plan->cols;
  model->has_intercept = plan->facts.intercept;
  model->label_bound = plan->config.label_bound;
  model->rows_rule = plan->config.rows_rule;
  model->penalised_intercept = plan->solver->penalises_intercept;
  return model->loss && model->penalty && model->solver && model->scale ? TCT_OK : tct_fail_memory(err);
}

static tct_status describe(const tct_plan *plan, const tct_data *data, tct_bound *bound, tct_model *model,
                           tct_error *err) {
  TCT_TRY(tct_fit_describe(plan, model, err));
  model->schema = tct_text_copy(data->schema);
  model->label = tct_text_copy(data->label_name);
  if ((data->schema && !model->schema) || (data->label_name && !model->label)) return tct_fail_memory(err);
  model->labels = data->labels == TCT_LABELS_CLASSES ? TCT_LABELS_BINARY : data->labels;
  model->persons = data->persons;
  TCT_TRY(classes(plan, data, model, err));
  model->label_shift = bound->label_shift;
  model->row_norm = plan->facts.row_norm;
  model->scale_factor = bound->factor; /* ownership moves */
  model->scale_shift = bound->shift;
  bound->factor = bound->shift = NULL;
  TCT_TRY(names(data, model, err));
  TCT_TRY(tct_inputs_copy(&model->inputs, &data->inputs, err));
  return unaccounted(plan, data, model, err);
}

static tct_status fits_of(const tct_plan *plan, tct_model *model, tct_error *err) {
  return tct_json_keep(json_pack("[o]", tct_certificate_json(plan)), &model->fits, err);
}

tct_status tct_model_certify(const tct_plan *plan, tct_model *model, tct_error *err) {
  model->is_private = plan->solver->is_private && !tct_noise_off(&plan->facts);
  model->neighbours = plan->facts.neighbours;
  model->epsilon = model->is_private ? plan->claim.epsilon : INFINITY;
  model->delta = model->is_private ? plan->claim.delta : NAN;
  model->reproducible = plan->config.has_seed != 0;
  model->adaptive = plan->solved.promise.kind == TCT_PROMISE_BUDGET;
  model->version = TCT_MODEL_VERSION;
  model->weight_cap = NAN;
  TCT_TRY(fits_of(plan, model, err));
  if (!model->is_private) return TCT_OK;
  model->accountant = tct_text_copy(plan->claim.by);
  if (!model->accountant) return tct_fail_memory(err);
  return tct_plan_events(plan, &model->events, err);
}

tct_status tct_fitting_prepare(tct_fitting *fitting, tct_error *err) {
  const tct_plan *plan = fitting->plan;
  const tct_data *data = fitting->data;
  TCT_TRY(tct_ranks_agree(plan, data, err));
  TCT_TRY(check_shape(plan, data, err));
  if (plan->copies > 1 && plan->solver->infers && !tct_noise_off(&plan->facts))
    return tct_fail(err, TCT_E_USAGE,
                    "standard errors are not kept for several classes in one model; leave them out, or train one "
                    "class against the rest ({positive})");
  TCT_TRY(check_weights(plan, data, err));
  TCT_TRY(tct_fit_check_offset(plan, data, err));
  TCT_TRY(check_ranks(plan, data, err));
  TCT_TRY(tct_limit_check_data(plan, data, err));
  if (data->open > 0)
    return tct_fail(err, TCT_E_USAGE,
                    "the schema leaves bounds to an estimate; estimate them ({estimate}) or give them");
  TCT_TRY(tct_fit_check_positive(data, err));
  tct_model *model = fitting->model = TCT_NEW(tct_model, 1);
  if (!model) return tct_fail_memory(err);
  TCT_TRY(tct_bound_make(plan, data, &fitting->bound, err));
  tct_paged_release(data->x.pages);
  TCT_TRY(describe(plan, data, &fitting->bound, model, err));
  TCT_TRY(tct_model_certify(plan, model, err));
  if (data->weight) model->weight_cap = data->weight_cap;
  return tct_model_observers(plan, NULL, model, err);
}

tct_status tct_fitting_charge(tct_fitting *fitting, tct_status status, tct_error *err) {
  const tct_plan *plan = fitting->plan;
  const tct_data *data = fitting->data;
  if (TCT_POINT(estimate_left_out_of_the_claim, status == TCT_OK, false))
    status = tct_model_add_estimate(plan, data, fitting->model, err);
  if (status == TCT_OK && tct_team_own(data->team) == 0) status = tct_model_reserve(plan, fitting->model, err);
  if (status == TCT_OK && TCT_POINT(charge_of_a_run_that_is_to_end, tct_stop_ask(NULL), false))
    status = tct_fail_cancelled(err);
  TCT_TRY(tct_team_agree(data->team, status, err)); /* before anything is charged */
  TCT_TRY(tct_model_promise(plan, data, NULL, fitting->model, err));
  if (plan->solver->is_private) tct_stop_charged();
  return TCT_OK;
}

/* ---- the gate, and what comes out ------------------------------------------------------------------------------ */

/* One copy on its way. */
typedef struct solving {
  tct_fitting *fitting;
  const tct_plan *plan; /* fitting->plan but for seed and callbacks */
  double *w;            /* [p] */
} solving;

static tct_status spend(tct_mech *mech, void *user, tct_error *err) {
  const solving *c = user;
  const tct_plan *plan = c->plan;
  tct_fitting *fitting = c->fitting;
  const tct_bound *bound = &fitting->bound;
  const tct_data *data = fitting->data;
  tct_model *model = fitting->model;
  tct_progress progress = {plan->config.progress, plan->config.user, 0};
  tct_problem problem = {
      .facts = &plan->facts,
      .view = &bound->view,
      .y = bound->y,
      .weight = data->weight,
      .unit = !model->scale_factor && plan->config.rows_rule != TCT_ROWS_UNIT && tct_data_in_units(data),
      .offset = data->offset,
      .progress = &progress,
      .cancel = tct_stop_ask,
      .note = model->note,
      .inference = &model->inference};
  return plan->solver->run(&problem, &plan->solved, mech, c->w, err);
}

static tct_status solve(tct_fitting *fitting, const tct_plan *plan, double *w, tct_error *err) {
  uint64_t public_seed = 1; /* solvers without privacy: fixed orders, so that runs repeat */
  solving c = {fitting, plan, w};
  const tct_gate gate = {.promise = &plan->solved.promise,
                         .neighbours = plan->facts.neighbours,
                         .seed = plan->config.has_seed      ? &plan->config.seed
                                 : plan->solver->is_private ? NULL
                                                            : &public_seed,
                         .threads = plan->facts.threads,
                         .team = fitting->data->team,
                         .settles = plan->solver->is_private};
  tct_status status = tct_gate_run(&gate, spend, &c, err);
  for (int64_t j = 0; j < plan->facts.p && status == TCT_OK; j++)
    if (!isfinite(w[j]))
      status =
          tct_fail(err, TCT_E_RUN, "the solver left the range of floating point; use a larger penalty or smaller step");
  return status;
}

static void take_weights(const tct_plan *plan, const double *w, int64_t copy, tct_model *m) {
  int64_t width = plan->cols + plan->facts.intercept, outputs = tct_loss_outputs(&plan->facts.loss);
  for (int64_t k = 0; k < outputs; k++) {
    int64_t row = copy * outputs + k;
    double intercept = plan->facts.intercept ? w[k * width + plan->cols] : 0;
    memcpy(m->coefficients + row * m->cols, w + k * width, (size_t)m->cols * sizeof *w);
    if (m->intercepts) m->intercepts[row] = intercept;
    if (row == 0) m->intercept = intercept;
  }
}

/* One of several fits with the same settings: the caller's callbacks, within a watch on cancel (core/stop.h). */
typedef struct turn {
  const tct_config *config;
  int64_t copy, copies;
} turn;

static void progress_of_turn(double fraction, void *user) {
  const turn *t = user;
  t->config->progress(((double)t->copy + fraction) / (double)t->copies, t->config->user);
}

/* 2^64 over the golden ratio: the seeds of neighbouring copies stay apart. */
static const uint64_t SEED_STEP = UINT64_C(0x9E3779B97F4A7C15);

static tct_status fit_copy(tct_fitting *f, int64_t copy, double *w, tct_error *err) {
  const tct_plan *plan = f->plan;
  tct_plan own = *plan; /* borrows everything; never freed */
  turn t = {&plan->config, copy, plan->copies};
  own.config.seed += (uint64_t)copy * SEED_STEP;
  own.config.progress = plan->config.progress ? progress_of_turn : NULL;
  own.config.user = &t;
  for (int64_t i = 0; plan->copies > 1 && i < f->data->x.rows; i++)
    f->bound.y[i] = f->data->y[i] == (double)copy ? 1 : -1;
  memset(w, 0, (size_t)plan->facts.p * sizeof *w);
  f->model->note[0] = 0;
  TCT_TRY(solve(f, &own, w, err));
  take_weights(plan, w, copy, f->model);
  return TCT_OK;
}

/* How a run ended is said by the first copy that has something to say. */
static tct_status fit_copies(tct_fitting *f, double *w, tct_error *err) {
  tct_model *m = f->model;
  char note[sizeof m->note] = "";
  TCT_TRY(tct_model_make_rows(m, f->plan->copies * tct_loss_outputs(&f->plan->facts.loss), err));
  for (int64_t k = 0; k < f->plan->copies; k++) {
    TCT_TRY(fit_copy(f, k, w, err));
    if (!note[0]) memcpy(note, m->note, sizeof note);
  }
  memcpy(m->note, note, sizeof note);
  return TCT_OK;
}

static tct_status train(tct_fitting *fitting, tct_error *err) {
  const tct_plan *plan = fitting->plan;
  double *w = NULL;
  tct_status status = tct_fitting_prepare(fitting, err);
  if (status == TCT_OK && !(w = TCT_NEW(double, plan->facts.p))) status = tct_fail_memory(err);
  status = tct_fitting_charge(fitting, status, err);
  if (status == TCT_OK) status = fit_copies(fitting, w, err);
  tct_free(w);
  return status;
}

tct_model *tct_fit(const tct_plan *plan, const tct_data *data, tct_error *err) {
  tct_error local = {0};
  tct_fitting fitting = {.plan = plan, .data = data};
  tct_stop stop;
  err = err ? err : &local; /* the ranks tell one another what went wrong */
  tct_error_clear(err);
  tct_stop_watch(&stop, plan->config.cancel, plan->config.user);
  if (data->estimated) tct_stop_charged(); /* with the estimate, for both */
  tct_team_watch(data->team, tct_stop_ask, NULL);
  tct_status status = tct_team_agree(data->team, train(&fitting, err), err);
  tct_team_watch(data->team, NULL, NULL);
  tct_stop_end(&stop);
  tct_bound_free(&fitting.bound);
  if (status == TCT_OK) tct_progress_end(&(tct_progress){plan->config.progress, plan->config.user, 1});
  if (status == TCT_OK) return fitting.model;
  tct_model_free(fitting.model);
  return NULL;
}

tct_status tct_fit_shell(const tct_plan *plan, const tct_data *data, tct_model **shell, tct_error *err) {
  tct_fitting f = {.plan = plan, .data = data};
  tct_status status = tct_fitting_prepare(&f, err);
  tct_bound_free(&f.bound);
  *shell = f.model;
  return status;
}
