/* whole.c - a study's shares: the largest for which everything together is proved to cost at most epsilon.
 *
 * One number moves all shares: mu of the whole, of which a stage has the root of its part of mu^2.  Each is planned for
 * the epsilon that this mu has at the study's delta, by its own accountant.  The list of all is then priced by the
 * accountants, so that what a stage does not spend goes to all.  Of a deferred stage the reserve is in the list: a
 * Gaussian of its mu where every release of it is one, else one approximate event.  Where no accountant knows the list,
 * epsilon and delta are divided. */
#include "account/curves/normal.h"
#include "account/curves/work.h"
#include "core/alloc.h"
#include "core/number.h"
#include "study/stage.h"

#include <math.h>
#include <string.h>

/* Half of delta may go to reserves in epsilon and delta, each stage its part; what is left is the accountants'. */
static const double RESERVED_DELTA = 0.5;
/* Lists of categories keep so much of delta: as much as the estimate of one fit has for them. */
static const double LISTS_DELTA = 0.05;
/* The plan of a stage that is to keep within a mu may lose so much to the rounding of both ways between mu and epsilon.
 */
static const double ROUNDING = 1e-9;

int64_t tct_study_rows(const tct_study *study, tct_part part) {
  int64_t held = study->held > 0 ? tct_held_count(study->rows, study->held) : 0;
  return part == TCT_PART_ALL ? study->rows : part == TCT_PART_HELD ? held : study->rows - held;
}

bool tct_study_is_model(const tct_study *study) {
  return study->count == 1 && study->stage[0].kind->models && study->held == 0;
}

tct_status tct_study_events(const tct_study *study, tct_events *out, tct_error *err) {
  for (int i = 0; i < study->count; i++) {
    const tct_events *own = &study->stage[i].events;
    for (int64_t k = 0; k < own->len; k++) TCT_TRY(tct_events_add(out, own->at[k], err));
  }
  return TCT_OK;
}

/* ---- one stage ------------------------------------------------------------------------------------------------ */

/* A record that is replaced moves a Gaussian twice as far as one that is removed. */
static double moves(tct_neighbours neighbours) { return neighbours == TCT_REPLACE_ONE ? 2 : 1; }

static double reserved_delta(const tct_stage *stage) { return RESERVED_DELTA * stage->fraction * stage->study->delta; }

/* mu: of the whole. */
static void give_mu(tct_stage *stage, double mu) {
  const tct_study *study = stage->study;
  double own = mu * sqrt(stage->fraction),
         delta = stage->counts == TCT_COUNTS_EPSILON ? reserved_delta(stage) : study->free_delta;
  stage->share = (tct_share){own, study->neighbours, tct_gaussian_epsilon(own, log(delta)) * (1 - ROUNDING), delta};
}

static void give_divided(tct_stage *stage, double roots) {
  const tct_study *study = stage->study;
  double part = sqrt(stage->fraction) / roots * TCT_DIVIDED;
  stage->share = (tct_share){0, study->neighbours, part * study->epsilon, part * study->delta};
}

static tct_status check_share(const tct_stage *stage, tct_error *err) {
  if (stage->share.epsilon > 0 && stage->share.delta > 0) return TCT_OK;
  return tct_stage_fail(stage, TCT_E_BUDGET, err,
                        "its share of the budget is too small for anything; give it, or the study, more");
}

/* What counts in the list of the whole is fixed now; a stage that is not deferred is planned. */
static tct_status count_in(tct_stage *stage, bool divided, tct_error *err) {
  const tct_share *s = &stage->share;
  tct_events_free(&stage->events);
  TCT_TRY(check_share(stage, err));
  bool plain = stage->counts == TCT_COUNTS_EVENTS;
  if (plain) TCT_TRY(stage->kind->plan(stage, err));
  if (plain && !divided) return TCT_OK;
  tct_events_free(&stage->events);
  return tct_events_add(&stage->events,
                        divided || stage->counts == TCT_COUNTS_EPSILON
                            ? tct_event_approx(s->epsilon, s->delta, 1)
                            : tct_event_gaussian(moves(s->neighbours) / s->mu, 1),
                        err);
}

tct_status tct_study_plan_deferred(tct_stage *stage, tct_error *err) {
  tct_events kept = stage->events;
  stage->events = (tct_events){0};
  tct_status status = stage->kind->plan(stage, err);
  double square = 0;
  bool plain = true;
  for (int64_t i = 0; i < stage->events.len; i++) {
    const tct_event *e = &stage->events.at[i];
    double mu = moves(stage->share.neighbours) / e->noise;
    plain &= e->kind == TCT_EV_GAUSSIAN;
    square += (double)e->count * mu * mu;
  }
  tct_events_free(&stage->events);
  stage->events = kept;
  if (status != TCT_OK || stage->counts != TCT_COUNTS_MU) return status;
  /* The share's epsilon is that of its mu, so that only a plan of another kind can be above it. */
  if (plain && square <= stage->share.mu * stage->share.mu) return TCT_OK;
  return tct_stage_fail(stage, TCT_E_BUDGET, err, "its plan is not within the mu that was kept for it");
}

/* Which reserve a deferred stage gets: by its plan for a table that stands for the one to come. */
static tct_status settle_reserve(tct_stage *stage, double mu, tct_error *err) {
  bool plain = true;
  stage->counts = TCT_COUNTS_MU;
  give_mu(stage, mu);
  TCT_TRY(check_share(stage, err));
  TCT_TRY(stage->kind->plan(stage, err));
  for (int64_t i = 0; i < stage->events.len; i++) plain &= stage->events.at[i].kind == TCT_EV_GAUSSIAN;
  if (!plain) stage->counts = TCT_COUNTS_EPSILON;
  return TCT_OK;
}

/* ---- all of them ---------------------------------------------------------------------------------------------- */

static tct_status at(void *user, double mu, double *price, tct_error *err) {
  tct_study *study = user;
  tct_events list = {0};
  tct_status status = TCT_OK;
  for (int i = 0; i < study->count && status == TCT_OK; i++) {
    give_mu(&study->stage[i], mu);
    status = count_in(&study->stage[i], false, err);
  }
  if (status == TCT_OK) status = tct_study_events(study, &list, err);
  if (status == TCT_OK) status = tct_price(&list, &study->claim, price, err);
  tct_events_free(&list);
  return status;
}

/* The last number that was good; the plans are made again for it at the end, which costs less than keeping them. */
typedef struct search {
  tct_study *study;
  double tried, best;
  const char *by;
} search;

static tct_status try_at(void *user, double mu, double *price, tct_error *err) {
  search *s = user;
  s->tried = mu;
  return at(s->study, mu, price, err);
}

static void keep(void *user, bool good) {
  search *s = user;
  if (good) s->best = s->tried, s->by = s->study->claim.by;
}

static tct_status divide(tct_study *study, tct_error *err) {
  double roots = 0;
  study->claim.divided = true, study->claim.by = "basic";
  for (int i = 0; i < study->count; i++) roots += sqrt(study->stage[i].fraction);
  for (int i = 0; i < study->count; i++) {
    tct_stage *stage = &study->stage[i];
    if (stage->counts == TCT_COUNTS_MU) stage->counts = TCT_COUNTS_EPSILON;
    give_divided(stage, roots);
    TCT_TRY(count_in(stage, true, err));
  }
  return TCT_OK;
}

/* A stage that is alone has everything, and its file is that of a model. */
static tct_status plan_alone(tct_study *study, tct_error *err) {
  study->stage[0].share = (tct_share){0, study->neighbours, study->epsilon, study->delta};
  TCT_TRY(count_in(&study->stage[0], false, err));
  study->claim.by = NULL;
  return TCT_OK;
}

static tct_status share(tct_study *study, double whole, tct_error *err) {
  search s = {study, whole, 0, NULL};
  bool found = false;
  double price;
  const tct_sharing sharing = {
      study->epsilon, whole / sqrt(study->count) / 2, 8 * whole, whole, true, try_at, keep, &s};
  TCT_TRY(tct_share_largest(&sharing, &found, err));
  if (!found) return divide(study, err);
  if (s.best != s.tried) TCT_TRY(at(study, s.best, &price, err));
  study->claim.by = s.by;
  return TCT_OK;
}

static tct_status plan(tct_study *study, tct_error *err) {
  int64_t lists;
  double kept = 0;
  tct_study_open(study, &lists);
  if (tct_study_is_model(study) && study->stage[0].from < 0) return plan_alone(study, err);
  study->free_delta = study->delta;
  double whole = sqrt(tct_filter_mu2(study->epsilon, study->delta));
  for (int i = 0; i < study->count; i++) {
    tct_stage *stage = &study->stage[i];
    stage->counts = stage->kind->as_one ? TCT_COUNTS_EPSILON : TCT_COUNTS_EVENTS;
    if (!stage->kind->as_one && stage->kind->defers && stage->from >= 0) TCT_TRY(settle_reserve(stage, whole, err));
    if (stage->counts == TCT_COUNTS_EPSILON) kept += reserved_delta(stage);
  }
  if (lists > 0) kept += tct_study_lists_delta(study);
  study->free_delta = study->delta - kept;
  TCT_TRY(share(study, sqrt(tct_filter_mu2(study->epsilon, study->free_delta)), err));
  for (int i = 0; i < study->count; i++)
    if (study->stage[i].kind->as_one) TCT_TRY(tct_study_plan_deferred(&study->stage[i], err));
  return TCT_OK;
}

double tct_study_lists_delta(const tct_study *study) { return LISTS_DELTA * study->delta; }

static tct_status verifiable(const tct_study *study, tct_error *err) {
  tct_events events = {0};
  if (tct_study_is_model(study)) return TCT_OK; /* its plan has asked */
  tct_status status = tct_study_events(study, &events, err);
  if (status == TCT_OK) status = tct_price_verifiable(&events, &study->claim, study->work, study->count, err);
  tct_events_free(&events);
  return status;
}

tct_status tct_study_plan(tct_study *study, int64_t rows, tct_error *err) {
  if (rows < 1) return tct_fail(err, TCT_E_DATA, "a study needs at least one record; give the number of records");
  study->rows = rows;
  for (int part = TCT_PART_TRAIN; study->held > 0 && part <= TCT_PART_HELD; part++)
    if (tct_study_rows(study, (tct_part)part) < 1)
      return tct_fail(err, TCT_E_USAGE, "\"held\" leaves a part without a record; give two records or more");
  json_object_set_new(study->asked, "rows", json_integer(rows));
  study->claim = (tct_whole){study->epsilon, study->delta, study->neighbours, NULL, false};
  tct_work before = tct_work_begin(INFINITY);
  tct_status status = plan(study, err);
  study->work = tct_work_end(before).spent;
  return status == TCT_OK ? verifiable(study, err) : status;
}
