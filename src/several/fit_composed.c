/* fit_composed.c - one model of several classes: bounded once, charged once, a row of coefficients for each. */
#include "core/alloc.h"
#include "several/composition.h"
#include "several/turn.h"
#include "train/fit.h"

#include <math.h>
#include <string.h>

static tct_status check(const tct_composition *c, const tct_data *data, tct_error *err) {
  if (data->labels != TCT_LABELS_CLASSES || data->classes.count < 3)
    return tct_fail(err, TCT_E_DATA,
                    "the labels are not of more than two public classes; read them with the classes "
                    "({label_classes}), or plan one fit");
  if (c->parts != 1 || data->classes.count != c->part[0].copies)
    return tct_fail(err, TCT_E_USAGE, "the composition is not of this many classes; compose for as many");
  if (c->part[0].plan->solver->infers && isfinite(c->epsilon))
    return tct_fail(err, TCT_E_USAGE,
                    "standard errors are not kept for several classes in one model; leave them out, or train one "
                    "class against the rest ({positive})");
  return TCT_OK;
}

/* The file claims what all fits spend; before the charge, which is of that. */
static tct_status claim(const tct_composition *c, tct_fitting *f, tct_error *err) {
  const tct_amendment all = {.size = sizeof all, .composition = c};
  const tct_class_names *names = &f->data->classes;
  tct_model *m = f->model;
  TCT_TRY(tct_model_amend(m, &all, err));
  m->models = names->count;
  return tct_model_name_classes(m, (const char *const *)names->name, names->count, names->kind, err);
}

static tct_status fit_class(tct_fitting *f, const double *code, int64_t k, double *w, tct_error *err) {
  const tct_plan *plan = f->plan;
  tct_plan own = *plan; /* borrows everything; never freed */
  tct_turn turn = {&plan->config, k, f->model->models};
  tct_turn_take(&turn, &own.config);
  for (int64_t i = 0; i < f->data->x.rows; i++) f->bound.y[i] = code[i] == (double)k ? 1 : -1;
  f->model->note[0] = 0;
  return tct_fitting_solve(f, &own, w, err);
}

/* How a run ended is said by the first class that has something to say. */
static tct_status fit_all(tct_fitting *f, const double *code, tct_error *err) {
  tct_model *m = f->model;
  char note[sizeof m->note] = "";
  int64_t cols = m->cols;
  TCT_TRY(tct_model_make_rows(m, m->models, err));
  double *w = TCT_NEW(double, f->plan->facts.p);
  tct_status status = w ? TCT_OK : tct_fail_memory(err);
  for (int64_t k = 0; k < m->models && status == TCT_OK; k++) {
    memset(w, 0, (size_t)f->plan->facts.p * sizeof *w);
    status = fit_class(f, code, k, w, err);
    memcpy(m->coefficients + k * cols, w, (size_t)cols * sizeof *w);
    m->intercepts[k] = f->plan->facts.intercept ? w[cols] : 0;
    if (!note[0]) memcpy(note, m->note, sizeof note);
  }
  m->intercept = m->intercepts[0];
  memcpy(m->note, note, sizeof note);
  tct_free(w);
  return status;
}

/* What the stages are of. */
typedef struct whole {
  const tct_composition *composition;
  const double *code; /* [rows] */
} whole;

static tct_status run(tct_fitting *f, void *user, tct_error *err) {
  const whole *w = user;
  tct_status status = tct_fitting_prepare(f, err);
  if (status == TCT_OK) status = claim(w->composition, f, err);
  TCT_TRY(tct_fitting_charge(f, status, err));
  return fit_all(f, w->code, err);
}

/* The records as a fit of the first class sees them; it borrows everything but the labels. */
static tct_status first_class(const tct_data *data, tct_data *view, double **labels, tct_error *err) {
  *view = *data;
  *labels = TCT_NEW(double, data->x.rows);
  if (!*labels) return tct_fail_memory(err);
  for (int64_t i = 0; i < data->x.rows; i++) (*labels)[i] = data->y[i] == 0 ? 1 : -1;
  view->y = *labels;
  view->labels = TCT_LABELS_BINARY;
  return TCT_OK;
}

tct_status tct_composed_shell(const tct_composition *composition, const tct_data *data, tct_model **shell,
                              tct_error *err) {
  tct_data view;
  double *labels = NULL;
  tct_fitting f = {.plan = composition->part[0].plan, .data = &view};
  TCT_TRY(check(composition, data, err));
  TCT_TRY(first_class(data, &view, &labels, err));
  tct_status status = tct_fitting_prepare(&f, err);
  tct_bound_free(&f.bound);
  *shell = f.model;
  if (status == TCT_OK) status = claim(composition, &f, err);
  tct_wipe_free(labels, data->x.rows, sizeof *labels);
  return status;
}

tct_model *tct_fit_composed(const tct_composition *composition, const tct_data *data, tct_error *err) {
  tct_error local = {0};
  tct_data view;
  double *labels = NULL;
  tct_model *model = NULL;
  err = err ? err : &local;
  tct_error_clear(err);
  tct_status status = tct_team_agree(data->team, check(composition, data, err), err);
  if (status == TCT_OK) status = tct_team_agree(data->team, first_class(data, &view, &labels, err), err);
  whole w = {composition, data->y};
  if (status == TCT_OK) model = tct_fitting_run(composition->part[0].plan, &view, run, &w, err);
  tct_wipe_free(labels, labels ? data->x.rows : 0, sizeof *labels);
  return model;
}
