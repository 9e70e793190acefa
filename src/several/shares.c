/* shares.c - the largest budget of one candidate such that the whole search costs at most what was asked for.
 *
 * RANDOM TRIES  A try is a fit and a private score of it (score/private_score.c).  Fits read the training part and
 * scores the held-out one, so that both may cost the whole (src/account/selection.c, APART).  The score gets the
 * noise that it needs by itself, and fits the largest epsilon.  Persons have rows in both parts: fit and score then
 * share a try's epsilon, and their events are one list.  The claim is what was proved, at most what was asked for, so
 * that whoever computes it again from the fits and the score meets it exactly.
 *
 * EVERY SETTING ONCE  All fits, and one choice by the exponential mechanism, in one list.  Where no accountant knows
 * the list, epsilon and delta are divided. */
#include "several/composition.h"

#include "account/account.h"
#include "core/alloc.h"

#include <math.h>

/* Of epsilon: no try gets less. */
static const double LEAST = 50;
/* A claim above its event's epsilon by the digits that a sum of it may lose. */
static const double ABOVE = 1 + 0x1p-39;

typedef struct wish {
  const tct_candidates *of;
  tct_composition *out, tried;
} wish;

/* ---- random tries -------------------------------------------------------------------------------------------- */

static bool apart(const tct_composition *c) { return !c->how.persons; }

static tct_status score_noise(const tct_whole *claim, int64_t mean, double epsilon, double *noise, tct_error *err) {
  tct_target target = {claim->neighbours, epsilon, claim->delta / (double)mean};
  tct_cost cost;
  return tct_calibrate_noise(1, 1, &target, noise, &cost, err);
}

/* Scores whose records no fit reads. */
typedef struct scores {
  const tct_whole *claim;
  int64_t mean;
  double tried, epsilon, tried_noise, noise;
} scores;

static tct_status scores_at(void *user, double epsilon, double *price, tct_error *err) {
  scores *s = user;
  double work;
  tct_event event;
  s->tried = epsilon;
  TCT_TRY(score_noise(s->claim, s->mean, epsilon, &s->tried_noise, err));
  event = tct_event_gaussian(s->tried_noise, 1);
  const tct_events one = {&event, 1, 1};
  const tct_tries tries = {&one, 1, INFINITY, s->mean, true};
  TCT_TRY(tct_price_tries(&tries, s->claim, &event, &work, err));
  return *price = event.epsilon * ABOVE, TCT_OK;
}

static void keep_scores(void *user, bool good) {
  scores *s = user;
  if (good) s->epsilon = s->tried, s->noise = s->tried_noise;
}

tct_status tct_tries_score(const tct_whole *claim, int64_t mean, double share, double fit, double *epsilon,
                           double *noise, tct_error *err) {
  scores s = {claim, mean, 0, 0, 0, 0};
  bool found = false;
  if (!isnan(share)) {
    *epsilon = fit / (1 - share) * share;
    return score_noise(claim, mean, *epsilon, noise, err);
  }
  const tct_sharing sharing = {
      claim->epsilon, claim->epsilon / LEAST, claim->epsilon, claim->epsilon / 2, false, scores_at, keep_scores, &s};
  TCT_TRY(tct_share_largest(&sharing, &found, err));
  *epsilon = s.epsilon, *noise = s.noise;
  return found ? TCT_OK : tct_fail(err, TCT_E_USAGE, "no score fits into this budget; give more {epsilon} or {delta}");
}

/* Plans every candidate for one try's part of `each`, and where they share it its score. */
static tct_status make_tries(const wish *w, double each, tct_composition *c, tct_error *err) {
  double share = apart(c) ? 0 : c->how.share, fit = (1 - share) * each;
  if (!apart(c)) TCT_TRY(tct_tries_score(&c->claim, c->how.tries, share, fit, &c->score_epsilon, &c->score, err));
  return tct_candidates_plan(w->of, fit, c->score_delta, c, err);
}

/* Fits that no accountant knows together have no profile together. */
static bool is_divided(const tct_composition *c) {
  bool divided = false;
  for (int64_t j = 0; j < c->parts; j++) divided |= c->plan[j]->claim.divided;
  return divided;
}

/* The events of a fit of each candidate. */
static tct_status list_fits(const tct_composition *c, tct_events **one, tct_error *err) {
  *one = TCT_NEW(tct_events, c->parts);
  tct_status status = *one ? TCT_OK : tct_fail_memory(err);
  for (int64_t j = 0; j < c->parts && status == TCT_OK; j++) status = tct_plan_events(c->plan[j], &(*one)[j], err);
  return status;
}

static void drop(tct_events *one, int64_t parts) {
  for (int64_t j = 0; one && j < parts; j++) tct_events_free(&one[j]);
  tct_free(one);
}

/* score: noise of the scores; INFINITY: they are looked at by themselves. */
static tct_status price_tries(tct_composition *c, double score, double *epsilon, tct_error *err) {
  tct_events *one;
  *epsilon = INFINITY;
  if (is_divided(c)) return TCT_OK;
  tct_status status = list_fits(c, &one, err);
  const tct_tries tries = {one, (size_t)c->parts, score, c->how.tries, apart(c)};
  if (status == TCT_OK) status = tct_price_tries(&tries, &c->claim, &c->whole, &c->price_work, err);
  if (isinf(c->price_work)) status = tct_composition_verifiable(c, INFINITY, err);
  *epsilon = status == TCT_OK ? c->whole.epsilon * ABOVE : INFINITY;
  drop(one, c->parts);
  return status;
}

static tct_status check_tries(const tct_composition *c, tct_error *err) {
  tct_events *one;
  tct_status status = list_fits(c, &one, err);
  const tct_tries tries = {one, (size_t)c->parts, c->score, c->how.tries, apart(c)};
  if (status == TCT_OK) status = tct_price_tries_verifiable(&tries, &c->claim, err);
  drop(one, c->parts);
  return status == TCT_OK ? tct_composition_verifiable(c, c->price_work, err) : status;
}

static tct_status tries_at(void *user, double each, double *cost, tct_error *err) {
  wish *w = user;
  w->tried = *w->out, w->tried.plan = NULL, w->tried.parts = 0;
  tct_status status = make_tries(w, each, &w->tried, err);
  if (status == TCT_OK) status = price_tries(&w->tried, apart(&w->tried) ? INFINITY : w->tried.score, cost, err);
  return status;
}

static void keep(void *user, bool good) {
  wish *w = user;
  tct_composition_drop(good ? w->out : &w->tried);
  if (!good) return;
  *w->out = w->tried;
}

static tct_status find_tries(wish *w, tct_error *err) {
  tct_composition *c = w->out;
  double epsilon = c->claim.epsilon, share = c->how.share;
  c->claim.by = "basic", c->score_delta = c->claim.delta / (double)c->how.tries;
  if (apart(c)) TCT_TRY(tct_tries_score(&c->claim, c->how.tries, NAN, 0, &c->score_epsilon, &c->score, err));
  /* A fit and a score in one list cost less than their sum, so that the number may lie above epsilon. */
  double most = apart(c) ? epsilon : epsilon / fmax(share, 1 - share);
  const tct_sharing sharing = {epsilon, epsilon / LEAST, most, epsilon / (apart(c) ? 2 : 3), false, tries_at, keep, w};
  bool found = false;
  TCT_TRY(tct_share_largest(&sharing, &found, err));
  if (!found)
    return tct_fail(err, TCT_E_USAGE,
                    "no accountant proves this epsilon for a search with these settings; give more epsilon, or solvers "
                    "whose events are gaussian");
  TCT_TRY(price_tries(c, c->score, &c->claim.epsilon, err));
  return check_tries(c, err);
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
  return c->how.tries > 0 ? find_tries(&w, err) : find_all(&w, err);
}
