/* fit_search.c - a private search: fits and scores of its candidates, and the one that is kept.
 *
 * RANDOM TRIES  Each try is a fit and a noisy score of it.  Nothing that leaves this file tells how many tries there
 * were.  There is no progress, cancel is asked by a clock and not once a step, and neither the file, the ledger nor an
 * error depends on it.  A try whose fit fails by its noise is the worst try and ends nothing: the bound is about what
 * the best try shows, and says nothing about the others.  Time and memory are not protected.
 *
 * PARTS  The table is cut in two by coins that look at no record (study/split.c).  Fits are handed the training part
 * and scores the held-out one; of the other part each meets what was released from it.  Nothing else passes: what a
 * table was read by is public or named as unpaid, and what is refused is refused before the charge.  So a record pays
 * for fits or for scores (src/account/selection.c, APART).
 *
 * EVERY SETTING ONCE  A fit of each candidate, and one choice among them by whole-number scores (whole_score.c).
 *
 * PERSONS  The weights of a person's records sum to at most 1 in the table, and so in each part of it.  Fits and scores
 * rest on that sum alone, so that their events hold for a person as they do for a record.  A person has rows in both
 * parts, and pays for both. */
#include "core/alloc.h"
#include "core/outfile.h"
#include "core/stop.h"
#include "core/number.h"
#include "read/table/join.h"
#include "score/score.h"
#include "several/composition.h"
#include "train/promise.h"
#include "train/fit.h"

#include <math.h>
#include <string.h>

enum { DRAWS = 3 }; /* of a try: its setting, its fit, its score */

typedef struct search {
  const tct_composition *c;
  const tct_data *all;
  const tct_config *config;  /* seed, ledger, output, threads and callbacks are the whole search's */
  const unsigned char *mark; /* [rows] 1: held out; NULL: to be drawn */
  tct_data *train, *held;    /* the two parts of the table */
  double *score_of;          /* [candidates] zeros, among which a choice is uniform; or each one's score */
  tct_model **model;         /* [candidates] every setting once: those that were fitted */
  tct_model *best;
  int64_t candidate;
  double score;       /* random tries: of the best, what a larger one beats */
  tct_promise scores; /* of the score of each try */
  tct_ledger_receipt receipt;
  char *warning;
  tct_outfile *output;
  tct_model *told;   /* no more than what any candidate takes from the table unpaid */
  tct_model **shell; /* [candidates] everything but the weights */
  tct_model *whole;  /* one of them, with the claim of the search */
} search;

static bool is_random(const search *s) { return s->c->how.tries > 0; }

/* ---- before the charge --------------------------------------------------------------------------------------- */

static tct_status check_table(const search *s, tct_error *err) {
  const tct_data *d = s->all;
  if (d->x.rows != s->c->rows)
    return tct_fail(err, TCT_E_DATA, "the search is composed for another number of records than the table has");
  if (d->team) return tct_fail(err, TCT_E_USAGE, "a search runs in one process; run it without mpirun");
  if (d->x.pages) return tct_fail(err, TCT_E_USAGE, "a search needs its records in memory; read them without a limit");
  if (d->estimated || d->open > 0)
    return tct_fail(err, TCT_E_USAGE,
                    "bounds that are estimated are paid for by one fit, and a search makes several; give the bounds");
  if (d->persons != (s->c->how.persons != 0))
    return tct_fail(err, TCT_E_USAGE,
                    "the search is composed for another unit, records or persons, than the table's weights have");
  return tct_fit_check_positive(d, err);
}

static tct_status split_by(search *s, const unsigned char *mark, tct_error *err) {
  TCT_TRY(tct_data_pick(s->all, mark, 0, &s->train, err));
  return tct_data_pick(s->all, mark, 1, &s->held, err);
}

static tct_status split(search *s, tct_error *err) {
  if (s->mark) return split_by(s, s->mark, err);
  unsigned char *mark = TCT_NEW(unsigned char, s->c->rows);
  const uint64_t *seed = s->config->has_seed ? &s->config->seed : NULL;
  tct_status status = mark ? tct_held_draw(s->c->rows, s->c->how.held, seed, mark, err) : tct_fail_memory(err);
  if (status == TCT_OK) status = split_by(s, mark, err);
  tct_wipe_free(mark, mark ? s->c->rows : 0, sizeof *mark);
  return status;
}

/* What a fit of this candidate would refuse, and its score, is refused before anything is charged. */
static tct_status prepare(search *s, int64_t j, tct_error *err) {
  tct_scoring scoring;
  double most;
  bool weighed = s->held->weight != NULL;
  TCT_TRY(tct_fit_shell(s->c->plan[j], s->train, &s->shell[j], err));
  if (!is_random(s)) TCT_TRY(tct_whole_score_most(s->shell[j], weighed, &most, err));
  if (is_random(s)) TCT_TRY(tct_scoring_make(s->shell[j], weighed, &scoring, err));
  if (is_random(s)) TCT_TRY(tct_score_check(&scoring, s->held, err));
  return tct_model_tell(s->told, s->shell[j]->unaccounted, err);
}

/* Room for the file, by the candidate that says most about itself. */
static tct_status reserve(search *s, tct_error *err) {
  int64_t longest = 0;
  for (int64_t j = 1; j < s->c->parts; j++)
    if (strlen(s->shell[j]->solver) > strlen(s->shell[longest]->solver)) longest = j;
  tct_plan own = *s->c->plan[longest]; /* borrows everything; never freed */
  own.config.output = s->config->output;
  s->whole = s->shell[longest];
  tct_status status = tct_model_claim(s->whole, s->c, &s->receipt, false, NULL, err);
  if (status == TCT_OK) status = tct_model_reserve(&own, s->whole, err);
  s->output = s->whole->output;
  s->whole->output = NULL;
  return status;
}

/* Once, for everything, with all records that the search reads. */
static tct_status charge(search *s, tct_error *err) {
  const tct_composition *c = s->c;
  if (!c->claim.by) return TCT_OK; /* there is no privacy to pay for */
  tct_ledger_promise run = {
      .events = &s->whole->events,
      .epsilon = c->claim.epsilon,
      .delta = c->claim.delta,
      .neighbours = c->claim.neighbours,
      .what = is_random(s) ? "a search with a random number of tries" : "a search of all settings",
      .asked = {s->whole->fits, s->whole->choice, NULL},
      .persons = s->all->persons,
      .seeded = s->config->has_seed,
      .unaccounted = s->told->unaccounted};
  return tct_charge_run(s->config, s->all, &run, &s->receipt, &s->warning, err);
}

/* ---- random tries -------------------------------------------------------------------------------------------- */

/* The seeds of neighbouring draws stay apart. */
static uint64_t seed_of(const search *s, int64_t draw) {
  return (s->config->seed + (uint64_t)(draw + 1) * TCT_SPLIT_MIX_STEP) & INT64_MAX;
}

/* own: the caller's, which borrows everything of the candidate's plan; never freed. */
static tct_plan plan_of(const search *s, int64_t j, uint64_t seed) {
  tct_plan own = *s->c->plan[j];
  own.config.has_seed = s->config->has_seed, own.config.seed = seed;
  own.config.cancel = NULL, own.config.progress = NULL;
  own.config.ledger = own.config.output = NULL; /* the whole search's */
  return own;
}

static tct_model *fit(const search *s, int64_t try, int64_t j, tct_error *err) {
  tct_plan own = plan_of(s, j, seed_of(s, DRAWS * try + 1));
  uint64_t state = own.config.seed; /* the seeds of classes go on by the step that the draws of tries have */
  if (own.copies > 1) own.config.seed = tct_split_mix(&state) & INT64_MAX;
  return tct_fit(&own, s->train, err);
}

/* Accuracy, or the mean squared error with its sign turned; where the noise hides it, below all others. */
static tct_status score(const search *s, int64_t try, const tct_model *m, double *out, tct_error *err) {
  uint64_t seed = seed_of(s, DRAWS * try + 2);
  const tct_gate gate = {.promise = &s->scores,
                         .neighbours = s->c->claim.neighbours,
                         .seed = s->config->has_seed ? &seed : NULL,
                         .settles = true};
  tct_scoring scoring;
  double sum[TCT_SCORE_LONGEST];
  TCT_TRY(tct_scoring_make(m, s->held->weight != NULL, &scoring, err));
  tct_status status = tct_score_take(&scoring, s->held, &gate, sum, err);
  double deviation = s->scores.release[0].deviation;
  if (status == TCT_OK) *out = tct_score_of_try(&scoring, sum, deviation, s->held->x.rows);
  tct_wipe(sum, sizeof sum);
  return status;
}

static tct_status one_try(search *s, int64_t try, tct_error *err) {
  int64_t j = 0;
  double found = -INFINITY;
  uint64_t seed = seed_of(s, DRAWS * try);
  TCT_TRY(tct_choose(s->score_of, s->c->parts, 1, 1, s->config->has_seed ? &seed : NULL, &j, err));
  tct_model *m = fit(s, try, j, err);
  if (!m && tct_stopping()) return tct_fail_cancelled(err);
  if (!m && err->status == TCT_E_RUN) return tct_error_clear(err), TCT_OK; /* the worst try: see SECRET */
  tct_status status = m ? score(s, try, m, &found, err) : err->status;
  if (status != TCT_OK || (s->best && !(found > s->score))) return tct_model_free(m), status;
  tct_model_free(s->best);
  s->best = m, s->score = found, s->candidate = j;
  return TCT_OK;
}

static tct_status run_tries(search *s, tct_error *err) {
  const tct_target own = {s->c->claim.neighbours, s->c->score_epsilon, s->c->score_delta};
  tct_cost cost;
  int64_t tries = 0;
  TCT_TRY(tct_score_plan(&own, s->held->x.rows, &s->scores, &cost, err));
  TCT_TRY(tct_draw_tries(s->c->how.tries, s->config->has_seed ? &s->config->seed : NULL, &tries, err));
  for (int64_t k = 0; k < tries; k++) TCT_TRY(one_try(s, k, err));
  if (s->best) return TCT_OK;
  return tct_fail(err, TCT_E_RUN,
                  "no try made a model: the noise led out of the range of numbers; use larger penalties");
}

/* ---- every setting once -------------------------------------------------------------------------------------- */

/* One of several fits: the caller's progress. */
typedef struct turn {
  const tct_config *config;
  double before, count;
} turn;

static void progress_of_turn(double fraction, void *user) {
  const turn *t = user;
  t->config->progress((t->before + fraction) / t->count, t->config->user);
}

static tct_status fit_one(search *s, int64_t j, tct_error *err) {
  turn t = {s->config, (double)j, (double)s->c->parts};
  tct_plan own = plan_of(s, j, seed_of(s, j));
  if (s->config->progress) own.config.progress = progress_of_turn, own.config.user = &t;
  s->model[j] = tct_fit(&own, s->train, err);
  return s->model[j] ? tct_whole_score(s->model[j], s->held, &s->score_of[j], err) : err->status;
}

static tct_status run_all(search *s, tct_error *err) {
  double change = 0;
  for (int64_t j = 0; j < s->c->parts; j++) TCT_TRY(fit_one(s, j, err));
  TCT_TRY(tct_whole_score_most(s->model[0], s->held->weight != NULL, &change, err));
  TCT_TRY(tct_choose(s->score_of, s->c->parts, change, s->c->claim.by ? s->c->choice : INFINITY,
                     s->config->has_seed ? &s->config->seed : NULL, &s->candidate, err));
  s->best = s->model[s->candidate], s->model[s->candidate] = NULL;
  s->score = NAN;
  return TCT_OK;
}

/* ---- the winner ---------------------------------------------------------------------------------------------- */

/* Its file claims what the whole search spent, and names what any candidate left unpaid. */
static tct_status claim(search *s, tct_error *err) {
  TCT_TRY(tct_model_claim(s->best, s->c, &s->receipt, s->config->has_seed, s->told->unaccounted, err));
  s->best->output = s->output, s->output = NULL;
  s->best->warning = s->warning, s->warning = NULL;
  return TCT_OK;
}

static tct_status prepare_all(search *s, tct_error *err) {
  s->shell = TCT_NEW(tct_model *, s->c->parts);
  s->told = TCT_NEW(tct_model, 1);
  if (!s->shell || !s->told) return tct_fail_memory(err);
  TCT_TRY(check_table(s, err));
  TCT_TRY(split(s, err));
  for (int64_t j = 0; j < s->c->parts; j++) TCT_TRY(prepare(s, j, err));
  return TCT_OK;
}

static tct_status run(search *s, tct_error *err) {
  TCT_TRY(prepare_all(s, err));
  s->model = TCT_NEW(tct_model *, s->c->parts);
  s->score_of = TCT_NEW(double, s->c->parts);
  if (!s->model || !s->score_of) return tct_fail_memory(err);
  TCT_TRY(reserve(s, err));
  TCT_TRY(charge(s, err));
  if (s->c->claim.by) tct_stop_charged();
  TCT_TRY(is_random(s) ? run_tries(s, err) : run_all(s, err));
  return claim(s, err);
}

static void leave(search *s) {
  if (s->output) tct_outfile_abandon(s->output);
  tct_free(s->output);
  for (int64_t j = 0; s->shell && j < s->c->parts; j++) tct_model_free(s->shell[j]);
  for (int64_t j = 0; s->model && j < s->c->parts; j++) tct_model_free(s->model[j]);
  tct_data_free(s->train);
  tct_data_free(s->held);
  tct_free(s->shell);
  tct_free(s->model);
  tct_model_free(s->told);
  tct_promise_free(&s->scores);
  tct_wipe_free(s->score_of, s->score_of ? s->c->parts : 0, sizeof *s->score_of);
  tct_free(s->receipt.head);
  tct_free(s->receipt.run);
  tct_free(s->warning);
}

tct_status tct_search_prepare(const tct_composition *composition, const tct_data *data, const unsigned char *mark,
                              tct_model *facts, tct_model **shell, tct_error *err) {
  const tct_config none = {0};
  search s = {.c = composition, .all = data, .config = &none, .mark = mark};
  tct_status status = prepare_all(&s, err);
  if (status == TCT_OK) status = tct_model_tell(facts, s.told->unaccounted, err);
  if (status == TCT_OK) *shell = s.shell[0], s.shell[0] = NULL;
  leave(&s);
  return status;
}

tct_model *tct_search_run(const tct_composition *composition, const tct_data *data, const unsigned char *mark,
                          const tct_config *config, int64_t *candidate, double *score, tct_error *err) {
  tct_error local = {0};
  tct_config own = {0};
  tct_stop stop;
  search s = {.c = composition, .all = data, .config = &own, .mark = mark};
  err = err ? err : &local;
  tct_error_clear(err);
  tct_status status = tct_config_take(config, &own, err);
  tct_stop_watch(&stop, own.cancel, own.user);
  if (is_random(&s)) tct_stop_by_clock();
  if (status == TCT_OK) status = run(&s, err);
  tct_stop_end(&stop);
  if (status != TCT_OK) tct_model_free(s.best), s.best = NULL;
  leave(&s);
  if (!s.best) return NULL;
  if (candidate) *candidate = s.candidate;
  if (score) *score = isfinite(s.score) ? s.score : NAN;
  return s.best;
}

tct_model *tct_fit_search(const tct_composition *composition, const tct_data *data, const tct_config *config,
                          int64_t *candidate, double *score, tct_error *err) {
  return tct_search_run(composition, data, NULL, config, candidate, score, err);
}
