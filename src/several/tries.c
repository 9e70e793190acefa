/* tries.c - a private search with a random number of tries: the largest budget of one try such that the whole fits.
 *
 * A try is a fit and a private score of it (score/private_score.c), and both are in its events.  What the best of the
 * tries costs is src/account/selection.c's to say.  The claim is what was proved, at most what was asked for, so that
 * whoever computes it again from the fits meets it exactly. */
#include "several/composition.h"

#include "account/account.h"
#include "account/curves/work.h"
#include "account/selection.h"
#include "core/point.h"
#include "core/alloc.h"
#include "train/certificate.h"

#include <math.h>

enum { STEPS = 12 };
static const double SLACK = 3e-3; /* part of epsilon that may be left over, in logarithms */

/* What is searched: the candidates, and the law of the tries. */
typedef struct wish {
  const tct_config *config; /* [count] */
  size_t count;
  int64_t classes; /* of the labels; two or fewer: a fit is one model */
  int64_t mean, rows, cols;
  double share;
} wish;

/* A loss of all classes at once is one fit. */
static int64_t models_of(const wish *w, const tct_config *config) {
  return w->classes > 2 && tct_config_labels(config) != TCT_LABELS_CLASSES ? w->classes : 1;
}

/* Plans every candidate, and its score, for `each` and the delta of one try. */
static tct_status make(const wish *w, double each, tct_composition *c, tct_error *err) {
  double delta = w->config[0].delta / (double)w->mean, fit = (1 - w->share) * each;
  tct_target score = {(tct_neighbours)w->config[0].neighbours, w->share * each, delta};
  tct_cost cost;
  c->each = fit, c->each_delta = delta;
  c->score_epsilon = score.epsilon, c->score_delta = delta;
  TCT_TRY(tct_calibrate_noise(1, 1, &score, &c->score, &cost, err));
  c->part = TCT_NEW(tct_part, (int64_t)w->count);
  if (!c->part) return tct_fail_memory(err);
  for (size_t j = 0; j < w->count; j++) {
    tct_config own = w->config[j];
    own.epsilon = fit, own.delta = delta;
    own.ledger = NULL; /* one charge, for everything */
    TCT_TRY(tct_part_make(&own, models_of(w, &own), w->rows, w->cols, &c->part[j], err));
    c->parts++;
  }
  return TCT_OK;
}

/* Fits that no accountant knows together have no profile together. */
static bool is_divided(const tct_composition *c) {
  bool divided = false;
  for (int64_t j = 0; j < c->parts; j++) divided |= c->part[j].divided;
  return divided;
}

static tct_status price(const wish *w, tct_composition *c, double *epsilon, tct_error *err) {
  *epsilon = INFINITY;
  if (is_divided(c)) return TCT_OK;
  tct_events *one = TCT_NEW(tct_events, c->parts);
  tct_status status = one ? TCT_OK : tct_fail_memory(err);
  for (int64_t j = 0; j < c->parts && status == TCT_OK; j++) {
    status = tct_part_events(&c->part[j], &one[j], err);
    if (TCT_POINT(selection_score_not_charged, status == TCT_OK, false))
      status = tct_events_add(&one[j], tct_event_gaussian(c->score, 1), err);
  }
  tct_work before = tct_work_begin(TCT_WORK_VERIFY); /* who verifies asks for this price */
  if (status == TCT_OK)
    status = tct_selection_event(one, (size_t)c->parts, c->neighbours, w->mean, c->delta, &c->whole, err);
  tct_work own = tct_work_end(before);
  c->price_work = own.spent;
  if (own.over) status = tct_composition_verifiable(c, INFINITY, err);
  *epsilon = status == TCT_OK ? c->whole.epsilon * (1 + 0x1p-39) : INFINITY;
  for (int64_t j = 0; one && j < c->parts; j++) tct_events_free(&one[j]);
  tct_free(one);
  return status;
}

/* The cost grows nearly as a power of one try's epsilon: false position in logarithms, within a bracket. */
static tct_status largest(const wish *w, double epsilon, tct_composition *c, tct_error *err) {
  double low = log(epsilon) - log(50), high = log(epsilon), at = log(epsilon / 3), cost = INFINITY;
  tct_status status = TCT_OK;
  for (int k = 0; k < STEPS && status == TCT_OK; k++) {
    tct_composition try = *c;
    try.part = NULL, try.parts = 0;
    status = make(w, exp(at), &try, err);
    if (status == TCT_OK) status = price(w, &try, &cost, err);
    double over = log(cost) - log(epsilon);
    if (status == TCT_OK && cost <= epsilon) {
      tct_composition_drop(c);
      *c = try, c->epsilon = cost, low = at;
      if (over > -SLACK) break;
    } else {
      tct_composition_drop(&try);
      high = at;
    }
    at = isfinite(over) ? at - over - 0.5 * SLACK : 0.5 * (low + high);
    if (!(low < at && at < high)) at = 0.5 * (low + high);
  }
  if (status != TCT_OK || c->parts) return status;
  return tct_fail(err, TCT_E_USAGE,
                  "no accountant proves this epsilon for a search with these settings; give more epsilon, or solvers "
                  "whose events are gaussian");
}

static tct_status check(const wish *w, tct_error *err) {
  if (!(w->share > 0 && w->share < 1))
    return tct_fail(err, TCT_E_USAGE, "the share of the score must lie between 0 and 1; give e.g. 0.3");
  if (w->mean < 1 || w->mean > TCT_SELECTION_MOST)
    return tct_fail(err, TCT_E_USAGE, "the mean number of tries must lie between 1 and %d; give e.g. 50",
                    TCT_SELECTION_MOST);
  if (!(w->config[0].epsilon > 0 && isfinite(w->config[0].epsilon) && w->config[0].delta > 0 && w->config[0].delta < 1))
    return tct_fail(err, TCT_E_USAGE, "a search with random tries needs an epsilon above 0 and a delta in (0, 1)");
  return TCT_OK;
}

tct_composition *tct_compose_tries_classes(const tct_config *const *candidates, size_t count, int64_t classes,
                                           const tct_tries *tries, int64_t rows, int64_t cols, tct_error *err) {
  tct_error local = {0};
  err = err ? err : &local;
  tct_error_clear(err);
  tct_config *own = TCT_NEW(tct_config, (int64_t)count + 1);
  tct_composition *out = TCT_NEW(tct_composition, 1);
  wish w = {own, count, classes, tries->mean, rows, cols, tries->share};
  tct_status status = own && out ? tct_candidates_take(candidates, count, own, err) : tct_fail_memory(err);
  if (status == TCT_OK) status = check(&w, err);
  if (status == TCT_OK) {
    out->delta = own[0].delta, out->neighbours = (tct_neighbours)own[0].neighbours;
    out->mean = tries->mean, out->accountant = "basic";
    status = largest(&w, own[0].epsilon, out, err);
    if (status == TCT_OK) status = tct_composition_verifiable(out, out->price_work, err);
  }
  tct_free(own);
  if (status == TCT_OK) return out;
  tct_composition_free(out);
  return NULL;
}

tct_composition *tct_compose_tries(const tct_config *const *candidates, size_t count, int64_t mean, double share,
                                   int64_t rows, int64_t cols, tct_error *err) {
  const tct_tries tries = {mean, share};
  return tct_compose_tries_classes(candidates, count, 2, &tries, rows, cols, err);
}
