/* fit_tries.c - a private search: a random number of tries, each a fit and a noisy score of it, and the best is kept.
 *
 * SECRET  Nothing that leaves this file tells how many tries there were.  There is no progress, cancel is asked by a
 * clock and not once a step, and neither the file, the ledger nor an error depends on it.  A try whose fit fails by its
 * noise is the worst try and ends nothing: the bound is about what the best try shows, and says nothing about the
 * others.  Time and memory are not protected.
 *
 * PERSONS  The weights of a person's records sum to at most 1 in the table, and so in each part of it.  A try's fit and
 * its score both rest on that sum alone, so that their events hold for a person as they do for a record. */
#include "core/alloc.h"
#include "core/outfile.h"
#include "core/stop.h"
#include "core/number.h"
#include "read/table/join.h"
#include "score/score.h"
#include "several/composition.h"
#include "study/charge.h"
#include "train/promise.h"
#include "train/fit.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { DRAWS = 3 }; /* of a try: its setting, its fit, its score */

typedef struct search {
  const tct_composition *c;
  const tct_data *all;
  const tct_config *config; /* seed, ledger, output, threads and cancel are the whole search's */
  tct_data *train, *held;
  double *equal; /* [candidates] zeros: a choice among them is uniform */
  tct_model *best;
  int64_t candidate;
  double score; /* of the best, what a larger one beats */
  tct_ledger_receipt receipt;
  char *warning;
  tct_outfile *output;
  const char **facts; /* ended by NULL: what any candidate takes from the table unpaid; borrowed from `shell` */
  int64_t facts_count;
  tct_model **shell; /* [candidates] everything but the weights */
  tct_model *whole;  /* one of them, with the claim of the search */
} search;

/* ---- the public split ---------------------------------------------------------------------------------------- */

int64_t tct_search_split(int64_t rows, double share, unsigned char *held) {
  uint64_t state = 20210; /* which records are kept is public: any fixed sequence does */
  if (rows < 2 || !(share > 0 && share < 1)) return -1;
  double want = nearbyint(share * (double)rows);
  int64_t count = want < 1 ? 1 : want > (double)(rows - 1) ? rows - 1 : (int64_t)want;
  int64_t left = count;
  for (int64_t i = 0; held && i < rows; i++) { /* selection sampling: `left` of the rows - i that are still to come */
    held[i] = tct_split_mix(&state) % (uint64_t)(rows - i) < (uint64_t)left;
    left -= held[i];
  }
  return count;
}

static tct_status split(search *s, double share, tct_error *err) {
  int64_t rows = s->all->x.rows, held = tct_search_split(rows, share, NULL);
  if (held < 0)
    return tct_fail(err, TCT_E_USAGE,
                    "a search trains on some records and scores on others; give two or more, and a share between 0 "
                    "and 1");
  if (s->c->plan[0]->facts.rows != rows - held)
    return tct_fail(err, TCT_E_DATA,
                    "the candidates are planned for another number of records than the search trains on; compose for "
                    "all but those that tct_search_split keeps");
  unsigned char *mark = TCT_NEW(unsigned char, rows);
  if (!mark) return tct_fail_memory(err);
  tct_search_split(rows, share, mark);
  tct_status status = tct_data_pick(s->all, mark, 0, &s->train, err);
  if (status == TCT_OK) status = tct_data_pick(s->all, mark, 1, &s->held, err);
  tct_free(mark);
  return status;
}

/* ---- before the charge --------------------------------------------------------------------------------------- */

static tct_status check(const search *s, tct_error *err) {
  const tct_data *d = s->all;
  if (!s->c->mean)
    return tct_fail(err, TCT_E_USAGE,
                    "the composition is of no search with random tries; make it by tct_compose_tries");
  if (d->team) return tct_fail(err, TCT_E_USAGE, "a search runs in one process; run it without mpirun");
  if (d->x.pages) return tct_fail(err, TCT_E_USAGE, "a search needs its records in memory; read them without a limit");
  if (d->estimated || d->open > 0)
    return tct_fail(err, TCT_E_USAGE,
                    "bounds that are estimated are paid for by one fit, and a search makes several; give the bounds");
  return TCT_OK;
}

static tct_status keep_facts(search *s, const tct_model *m, tct_error *err) {
  for (int k = 0; k < TCT_UNACCOUNTED && m->unaccounted[k]; k++) {
    const char **more = tct_grow(s->facts, s->facts_count + 1, s->facts_count + 2, sizeof *more);
    if (!more) return tct_fail_memory(err);
    s->facts = more;
    s->facts[s->facts_count++] = m->unaccounted[k];
  }
  return TCT_OK;
}

/* What a fit of this candidate would refuse, and its score, is refused before anything is charged. */
static tct_status prepare(search *s, int64_t j, tct_error *err) {
  tct_scoring scoring;
  TCT_TRY(tct_fit_shell(s->c->plan[j], s->train, &s->shell[j], err));
  TCT_TRY(tct_scoring_make(s->shell[j], s->held->weight != NULL, &scoring, err));
  return keep_facts(s, s->shell[j], err);
}

/* Room for the file, by the candidate that says most about itself. */
static tct_status reserve(search *s, tct_error *err) {
  tct_amendment claim;
  int64_t longest = 0;
  for (int64_t j = 1; j < s->c->parts; j++)
    if (strlen(s->shell[j]->solver) > strlen(s->shell[longest]->solver)) longest = j;
  tct_plan own = *s->c->plan[longest]; /* borrows everything; never freed */
  own.config.output = s->config->output;
  tct_amendment_default(&claim);
  claim.composition = s->c;
  s->whole = s->shell[longest];
  tct_status status = tct_model_amend(s->whole, &claim, err);
  if (status == TCT_OK) status = tct_model_reserve(&own, s->whole, err);
  s->output = s->whole->output;
  s->whole->output = NULL;
  return status;
}

/* Once, for everything, with all records that the search reads. */
static tct_status charge(search *s, tct_error *err) {
  const tct_composition *c = s->c;
  tct_ledger_promise run = {.events = &s->whole->events,
                            .epsilon = c->claim.epsilon,
                            .delta = c->claim.delta,
                            .neighbours = c->claim.neighbours,
                            .what = "a search with a random number of tries",
                            .asked = {s->whole->fits, s->whole->choice, NULL},
                            .persons = s->all->persons,
                            .seeded = s->config->has_seed,
                            .unaccounted = (char *const *)s->facts};
  return tct_charge_run(s->config, s->all, &run, &s->receipt, &s->warning, err);
}

/* ---- the tries ----------------------------------------------------------------------------------------------- */

/* The seeds of neighbouring draws stay apart. */
static uint64_t seed_of(const search *s, int64_t try, int draw) {
  return (s->config->seed + (uint64_t)(DRAWS * try + draw + 1) * TCT_SPLIT_MIX_STEP) & INT64_MAX;
}

static tct_model *fit(const search *s, int64_t try, int64_t j, tct_error *err) {
  tct_plan own = *s->c->plan[j]; /* borrows everything; never freed */
  own.config.has_seed = s->config->has_seed;
  own.config.seed = seed_of(s, try, 1);
  own.config.cancel = NULL, own.config.progress = NULL;
  own.config.ledger = own.config.output = NULL; /* the whole search's */
  uint64_t state = own.config.seed; /* the seeds of classes go on by the step that the draws of tries have */
  if (own.copies > 1) own.config.seed = tct_split_mix(&state) & INT64_MAX;
  return tct_fit(&own, s->train, err);
}

/* Accuracy, or the mean squared error with its sign turned; where the noise hides it, below all others. */
static tct_status score(const search *s, int64_t try, const tct_model *m, double *out, tct_error *err) {
  tct_config budget;
  tct_config_default(&budget);
  budget.epsilon = s->c->score_epsilon, budget.delta = s->c->score_delta;
  budget.neighbours = (int32_t)s->c->claim.neighbours;
  budget.threads = s->config->threads;
  budget.has_seed = s->config->has_seed, budget.seed = seed_of(s, try, 2);
  char *text = tct_evaluate_json(m, s->held, &budget, err);
  if (!text) return err->status;
  json_t *root = json_loads(text, 0, NULL), *right = json_object_get(root, "accuracy");
  const json_t *value = json_object_get(right ? right : json_object_get(root, "mse"), "value");
  *out = json_is_number(value) ? (right ? 1 : -1) * json_number_value(value) : -INFINITY;
  json_decref(root);
  tct_text_free(text);
  return TCT_OK;
}

static tct_status one_try(search *s, int64_t try, tct_error *err) {
  int64_t j = 0;
  double found = -INFINITY;
  uint64_t seed = seed_of(s, try, 0);
  TCT_TRY(tct_choose(s->equal, s->c->parts, 1, 1, s->config->has_seed ? &seed : NULL, &j, err));
  tct_model *m = fit(s, try, j, err);
  if (!m && err->status == TCT_E_RUN) return tct_error_clear(err), TCT_OK; /* the worst try: see SECRET */
  tct_status status = m ? score(s, try, m, &found, err) : err->status;
  if (status != TCT_OK || (s->best && !(found > s->score))) return tct_model_free(m), status;
  tct_model_free(s->best);
  s->best = m, s->score = found, s->candidate = j;
  return TCT_OK;
}

static tct_status run_tries(search *s, tct_error *err) {
  int64_t tries = 0;
  s->equal = TCT_NEW(double, s->c->parts);
  if (!s->equal) return tct_fail_memory(err);
  TCT_TRY(tct_draw_tries(s->c->mean, s->config->has_seed ? &s->config->seed : NULL, &tries, err));
  for (int64_t k = 0; k < tries; k++) TCT_TRY(one_try(s, k, err));
  if (s->best) return TCT_OK;
  return tct_fail(err, TCT_E_RUN,
                  "no try made a model: the noise led out of the range of numbers; use larger penalties");
}

/* ---- the winner ---------------------------------------------------------------------------------------------- */

/* Its file claims what the whole search spent, and names what any candidate left unpaid. */
static tct_status claim(search *s, tct_error *err) {
  tct_amendment all;
  tct_amendment_default(&all);
  all.composition = s->c;
  all.unaccounted = s->facts;
  all.ledger_head = s->receipt.head, all.ledger_run = s->receipt.run;
  all.for_tests = s->receipt.for_tests;
  all.reproducible = s->config->has_seed;
  TCT_TRY(tct_model_amend(s->best, &all, err));
  s->best->output = s->output, s->output = NULL;
  s->best->warning = s->warning, s->warning = NULL;
  return TCT_OK;
}

static tct_status run(search *s, double share, tct_error *err) {
  TCT_TRY(check(s, err));
  TCT_TRY(split(s, share, err));
  s->shell = TCT_NEW(tct_model *, s->c->parts);
  s->facts = TCT_NEW(const char *, 1);
  if (!s->shell || !s->facts) return tct_fail_memory(err);
  for (int64_t j = 0; j < s->c->parts; j++) TCT_TRY(prepare(s, j, err));
  TCT_TRY(reserve(s, err));
  TCT_TRY(charge(s, err));
  tct_stop_charged();
  TCT_TRY(run_tries(s, err));
  return claim(s, err);
}

static void leave(search *s) {
  if (s->output) tct_outfile_abandon(s->output);
  tct_free(s->output);
  for (int64_t j = 0; s->shell && j < s->c->parts; j++) tct_model_free(s->shell[j]);
  tct_free(s->shell);
  tct_free(s->facts);
  tct_free(s->equal);
  tct_free(s->receipt.head);
  tct_free(s->receipt.run);
  tct_free(s->warning);
  tct_data_free(s->train);
  tct_data_free(s->held);
}

tct_model *tct_fit_tries(const tct_composition *composition, const tct_data *data, double share,
                         const tct_config *config, int64_t *candidate, double *score, tct_error *err) {
  tct_error local = {0};
  tct_config own = {0};
  tct_stop stop;
  search s = {.c = composition, .all = data, .config = &own};
  err = err ? err : &local;
  tct_error_clear(err);
  tct_status status = tct_config_take(config, &own, err);
  tct_stop_watch(&stop, own.cancel, own.user);
  tct_stop_by_clock();
  if (status == TCT_OK) status = run(&s, share, err);
  tct_stop_end(&stop);
  if (status != TCT_OK) tct_model_free(s.best), s.best = NULL;
  leave(&s);
  if (!s.best) return NULL;
  if (candidate) *candidate = s.candidate;
  if (score) *score = isfinite(s.score) ? s.score : NAN;
  return s.best;
}
