/* shares.c - the largest budget of one candidate such that the whole search costs at most what was asked for.
 *
 * RANDOM TRIES  A try is a fit and a private score of it (score/private_score.c), and both are in its events.  What the
 * best of the tries costs is src/account/selection.c's to say.  The claim is what was proved, at most what was asked
 * for, so that whoever computes it again from the fits meets it exactly.
 *
 * EVERY SETTING ONCE  All fits, and one choice by the exponential mechanism, in one list.  Where no accountant knows
 * the list, epsilon and delta are divided. */
#include "several/composition.h"

#include "account/account.h"
#include "account/selection.h"
#include "core/point.h"
#include "core/alloc.h"

#include <math.h>

typedef struct wish {
  const tct_candidates *of;
  tct_composition *out, tried;
  double cost; /* of what was tried last */
} wish;

/* ---- random tries -------------------------------------------------------------------------------------------- */

/* Plans every candidate, and its score, for `each` and the delta of one try. */
static tct_status make_tries(const wish *w, double each, tct_composition *c, tct_error *err) {
  double delta = c->claim.delta / (double)c->how.tries, share = c->how.share;
  tct_target score = {c->claim.neighbours, share * each, delta};
  tct_cost cost;
  c->score_epsilon = score.epsilon, c->score_delta = delta;
  TCT_TRY(tct_calibrate_noise(1, 1, &score, &c->score, &cost, err));
  return tct_candidates_plan(w->of, (1 - share) * each, delta, c, err);
}

/* Fits that no accountant knows together have no profile together. */
static bool is_divided(const tct_composition *c) {
  bool divided = false;
  for (int64_t j = 0; j < c->parts; j++) divided |= c->plan[j]->claim.divided;
  return divided;
}

static void drop(tct_events *one, int64_t parts) {
  for (int64_t j = 0; one && j < parts; j++) tct_events_free(&one[j]);
  tct_free(one);
}

/* The events of a try with each candidate, its score included. */
static tct_status list_tries(const tct_composition *c, tct_events **one, tct_error *err) {
  *one = TCT_NEW(tct_events, c->parts);
  tct_status status = *one ? TCT_OK : tct_fail_memory(err);
  for (int64_t j = 0; j < c->parts && status == TCT_OK; j++) {
    status = tct_plan_events(c->plan[j], &(*one)[j], err);
    if (TCT_POINT(selection_score_not_charged, status == TCT_OK, false))
      status = tct_events_add(&(*one)[j], tct_event_gaussian(c->score, 1), err);
  }
  return status;
}

static tct_status price_tries(tct_composition *c, double *epsilon, tct_error *err) {
  tct_events *one;
  *epsilon = INFINITY;
  if (is_divided(c)) return TCT_OK;
  tct_status status = list_tries(c, &one, err);
  if (status == TCT_OK)
    status = tct_price_tries(one, (size_t)c->parts, c->how.tries, &c->claim, &c->whole, &c->price_work, err);
  if (isinf(c->price_work)) status = tct_composition_verifiable(c, INFINITY, err);
  *epsilon = status == TCT_OK ? c->whole.epsilon * (1 + 0x1p-39) : INFINITY;
  drop(one, c->parts);
  return status;
}

static tct_status check_tries(const tct_composition *c, tct_error *err) {
  tct_events *one;
  tct_status status = list_tries(c, &one, err);
  if (status == TCT_OK) status = tct_price_tries_verifiable(one, (size_t)c->parts, c->how.tries, &c->claim, err);
  drop(one, c->parts);
  return status == TCT_OK ? tct_composition_verifiable(c, c->price_work, err) : status;
}

static tct_status tries_at(void *user, double each, double *cost, tct_error *err) {
  wish *w = user;
  w->tried = *w->out, w->tried.plan = NULL, w->tried.parts = 0;
  tct_status status = make_tries(w, each, &w->tried, err);
  if (status == TCT_OK) status = price_tries(&w->tried, cost, err);
  w->cost = *cost;
  return status;
}

static void keep(void *user, bool good) {
  wish *w = user;
  tct_composition_drop(good ? w->out : &w->tried);
  if (!good) return;
  *w->out = w->tried;
  if (w->out->how.law == TCT_SEARCH_TRIES) w->out->claim.epsilon = w->cost;
}

static tct_status find_tries(wish *w, tct_error *err) {
  tct_composition *c = w->out;
  double epsilon = c->claim.epsilon, share = c->how.share;
  c->claim.by = "basic";
  /* Fit and score cost less together than their sum, so that the number may lie above epsilon. */
  const tct_sharing sharing = {
      epsilon, epsilon / 50, epsilon / fmax(share, 1 - share), epsilon / 3, false, tries_at, keep, w};
  bool found = false;
  TCT_TRY(tct_share_largest(&sharing, &found, err));
  if (found) return check_tries(c, err);
  return tct_fail(err, TCT_E_USAGE,
                  "no accountant proves this epsilon for a search with these settings; give more epsilon, or solvers "
                  "whose events are gaussian");
}

/* ---- every setting once -------------------------------------------------------------------------------------- */

static tct_status all_at(void *user, double each, double *price, tct_error *err) {
  wish *w = user;
  tct_events list = {0};
  w->tried = *w->out, w->tried.plan = NULL, w->tried.parts = 0;
  TCT_TRY(tct_candidates_plan(w->of, each, w->out->claim.delta, &w->tried, err));
  tct_status status = tct_composition_events(&w->tried, &list, err);
  if (status == TCT_OK) status = tct_price(&list, &w->tried.claim, price, err);
  tct_events_free(&list);
  return status;
}

static tct_status find_all(wish *w, tct_error *err) {
  tct_composition *c = w->out;
  double epsilon = c->claim.epsilon, parts = (double)w->of->count, low = (1 - c->how.share) * epsilon / parts;
  bool found = false;
  if (isinf(epsilon)) return tct_candidates_plan(w->of, epsilon, c->claim.delta, c, err);
  c->choice = c->how.share * epsilon;
  const tct_sharing sharing = {epsilon, low, epsilon, low, true, all_at, keep, w};
  TCT_TRY(tct_share_largest(&sharing, &found, err));
  if (!found) {
    c->choice *= TCT_DIVIDED;
    c->claim.divided = true, c->claim.by = "basic";
    TCT_TRY(tct_candidates_plan(w->of, low * TCT_DIVIDED, c->claim.delta / parts * TCT_DIVIDED, c, err));
  }
  return tct_composition_verifiable(c, 0, err);
}

tct_status tct_shares_find(const tct_candidates *of, tct_composition *c, tct_error *err) {
  wish w = {.of = of, .out = c};
  return c->how.law == TCT_SEARCH_TRIES ? find_tries(&w, err) : find_all(&w, err);
}
