/* tries.c - a private search with a random number of tries: the largest budget of one try such that the whole fits.
 *
 * A try is a fit and a private score of it (score/private_score.c), and both are in its events.  What the best of the
 * tries costs is src/account/selection.c's to say.  The claim is what was proved, at most what was asked for, so that
 * whoever computes it again from the fits meets it exactly. */
#include "several/composition.h"

#include "account/account.h"
#include "account/selection.h"
#include "core/point.h"
#include "core/alloc.h"

#include <math.h>

/* What is searched: the candidates, and the law of the tries. */
typedef struct wish {
  tct_candidates of;
  int64_t mean;
  double share;
  tct_composition *out, tried;
  double cost; /* of what was tried last */
} wish;

/* Plans every candidate, and its score, for `each` and the delta of one try. */
static tct_status make(const wish *w, double each, tct_composition *c, tct_error *err) {
  double delta = w->of.config[0].delta / (double)w->mean;
  tct_target score = {(tct_neighbours)w->of.config[0].neighbours, w->share * each, delta};
  tct_cost cost;
  c->score_epsilon = score.epsilon, c->score_delta = delta;
  TCT_TRY(tct_calibrate_noise(1, 1, &score, &c->score, &cost, err));
  return tct_candidates_plan(&w->of, (1 - w->share) * each, delta, c, err);
}

/* Fits that no accountant knows together have no profile together. */
static bool is_divided(const tct_composition *c) {
  bool divided = false;
  for (int64_t j = 0; j < c->parts; j++) divided |= c->plan[j]->claim.divided;
  return divided;
}

static tct_status price(const wish *w, tct_composition *c, double *epsilon, tct_error *err) {
  *epsilon = INFINITY;
  if (is_divided(c)) return TCT_OK;
  tct_events *one = TCT_NEW(tct_events, c->parts);
  tct_status status = one ? TCT_OK : tct_fail_memory(err);
  for (int64_t j = 0; j < c->parts && status == TCT_OK; j++) {
    status = tct_plan_events(c->plan[j], &one[j], err);
    if (TCT_POINT(selection_score_not_charged, status == TCT_OK, false))
      status = tct_events_add(&one[j], tct_event_gaussian(c->score, 1), err);
  }
  if (status == TCT_OK)
    status = tct_price_tries(one, (size_t)c->parts, w->mean, &c->claim, &c->whole, &c->price_work, err);
  if (isinf(c->price_work)) status = tct_composition_verifiable(c, INFINITY, err);
  *epsilon = status == TCT_OK ? c->whole.epsilon * (1 + 0x1p-39) : INFINITY;
  for (int64_t j = 0; one && j < c->parts; j++) tct_events_free(&one[j]);
  tct_free(one);
  return status;
}

static tct_status at(void *user, double each, double *cost, tct_error *err) {
  wish *w = user;
  w->tried = *w->out, w->tried.plan = NULL, w->tried.parts = 0;
  tct_status status = make(w, each, &w->tried, err);
  if (status == TCT_OK) status = price(w, &w->tried, cost, err);
  w->cost = *cost;
  return status;
}

static void keep(void *user, bool good) {
  wish *w = user;
  tct_composition_drop(good ? w->out : &w->tried);
  if (good) *w->out = w->tried, w->out->claim.epsilon = w->cost;
}

static tct_status within(wish *w, tct_error *err) {
  double epsilon = w->of.config[0].epsilon;
  /* Fit and score cost less together than their sum, so that the number may lie above epsilon. */
  const tct_sharing sharing = {
      epsilon, epsilon / 50, epsilon / fmax(w->share, 1 - w->share), epsilon / 3, false, at, keep, w};
  bool found = false;
  TCT_TRY(tct_share_largest(&sharing, &found, err));
  if (found) return TCT_OK;
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
  if (!(w->of.config[0].epsilon > 0 && isfinite(w->of.config[0].epsilon) && w->of.config[0].delta > 0 &&
        w->of.config[0].delta < 1))
    return tct_fail(err, TCT_E_USAGE, "a search with random tries needs an epsilon above 0 and a delta in (0, 1)");
  return TCT_OK;
}

tct_composition *tct_compose_tries(const tct_config *const *candidates, size_t count, int64_t mean, double share,
                                   int64_t rows, int64_t cols, tct_error *err) {
  tct_error local = {0};
  err = err ? err : &local;
  tct_error_clear(err);
  tct_config *own = TCT_NEW(tct_config, (int64_t)count + 1);
  char(*loss)[TCT_LOSS_SETTLED] = tct_alloc((int64_t)count + 1, TCT_LOSS_SETTLED);
  tct_composition *out = TCT_NEW(tct_composition, 1);
  wish w = {{own, count, rows, cols}, mean, share, out, {0}, 0};
  tct_status status =
      own && loss && out ? tct_candidates_take(candidates, count, rows, cols, own, loss, err) : tct_fail_memory(err);
  if (status == TCT_OK) status = check(&w, err);
  if (status == TCT_OK) {
    out->claim = (tct_whole){own->epsilon, own->delta, (tct_neighbours)own->neighbours, "basic", false};
    out->mean = mean;
    status = within(&w, err);
    if (status == TCT_OK) status = tct_composition_verifiable(out, out->price_work, err);
  }
  tct_free(own);
  tct_free(loss);
  if (status == TCT_OK) return out;
  tct_composition_free(out);
  return NULL;
}
