/* white_box.c - can an onlooker who sees every release tell two neighbours apart better than the plan allows?
 *
 * The score is the log likelihood ratio of what was released, the best there is (Neyman and Pearson).  A run is forced
 * to the releases of another, on either table, and shows what they are sums of under that past.  Three cases:
 *
 * OPEN.  Past releases and public orders fix the sums without noise.  The onlooker knows the order in which coordinates
 * are visited: a plan's claim holds for each order, since none depends on a record.
 *
 * BATCHES.  Only hidden batches decide besides.  The canary is alone: all other records contribute nothing.  A run
 * whose batches are the canary shows what the record adds to each release where it takes part.  It does so with the
 * planned rate q: the density of a release is (1 - q) of no record, and q of the record's.  Where what is added follows
 * the batches before (dual variables), it is taken as if the record had been in all of them.
 *
 * OTHERS.  Noise that stays inside, or something else, decides too.  A pilot learns what the record adds on average. */
#include "audit/audit.h"

#include "core/alloc.h"

#include <math.h>
#include <string.h>

enum { PILOT = 300, LOOKS = 3 };

typedef enum hiding { OPEN, BATCHES, OTHERS } hiding;

typedef struct duel {
  tct_audit *a;
  tct_side with, without;
  tct_tape tape;
  int64_t record;
  hiding hides;
  double *add, *base;  /* [room] OTHERS: what the record adds where it takes part, and the value without it */
  int64_t *hits, room; /* [room] */
  int64_t pilots;
  int64_t touched[TCT_AUDIT_RELEASES], made[TCT_AUDIT_RELEASES];
} duel;

static void duel_free(duel *d) {
  tct_side_free(&d->with);
  tct_side_free(&d->without);
  tct_tape_free(&d->tape);
  tct_free(d->add);
  tct_free(d->base);
  tct_free(d->hits);
}

/* ---- runs and forced runs --------------------------------------------------------------------------------------- */

static tct_status own_run(duel *d, const tct_side *side, uint64_t coins, tct_error *err) {
  tct_tape_clear(&d->tape);
  d->tape.hidden = 0;
  return tct_tape_run(d->a, &d->tape, side, coins, NULL, err);
}

/* Forced to the run before.  hidden: not 0, other hidden coins. */
static tct_status forced_run(duel *d, const tct_side *side, uint64_t coins, uint64_t hidden, tct_error *err) {
  tct_tape_rewind(&d->tape);
  d->tape.hidden = hidden;
  return tct_tape_run(d->a, &d->tape, side, coins, NULL, err);
}

/* The same hidden coins for both. */
static tct_status twice(duel *d, const tct_side *first, const tct_side *second, tct_error *err) {
  uint64_t coins = tct_audit_u64(d->a);
  TCT_TRY(own_run(d, first, coins, err));
  return forced_run(d, second, coins, 0, err);
}

/* Do other hidden coins change what is handed over, though past releases and public orders are the same? */
static tct_status look(duel *d, int64_t batch, bool *changes, tct_error *err) {
  *changes = false;
  d->tape.batch = batch;
  for (int k = 0; k < LOOKS && !*changes; k++) {
    uint64_t coins = tct_audit_u64(d->a);
    TCT_TRY(own_run(d, &d->with, coins, err));
    TCT_TRY(forced_run(d, &d->with, coins, tct_audit_u64(d->a) >> 1 | 1, err));
    *changes = d->tape.total > 0 || d->tape.mismatch;
  }
  d->tape.batch = 0;
  return TCT_OK;
}

static tct_status look_for_coins(duel *d, const tct_pair *canary, tct_error *err) {
  bool some, others = true;
  TCT_TRY(look(d, 0, &some, err));
  if (some && canary->alone) TCT_TRY(look(d, d->record + 1, &others, err));
  d->hides = !some ? OPEN : others ? OTHERS : BATCHES;
  return TCT_OK;
}

/* ---- pilots --------------------------------------------------------------------------------------------------- */

static void learn(duel *d) {
  const tct_tape *t = &d->tape;
  for (int r = 0; r < TCT_AUDIT_RELEASES; r++) d->touched[r] += t->touched[r], d->made[r] += t->made[r];
  for (int64_t k = 0; k < t->count; k++) {
    const tct_tape_entry *e = &t->entry[k];
    int64_t end = e->at + e->len;
    bool differs = end <= d->room && memcmp(t->number + e->at, t->second + e->at, (size_t)e->len * sizeof(double));
    for (int64_t j = e->at; j < end && end <= d->room; j++) {
      d->base[j] += t->second[j];
      if (differs) d->add[j] += t->number[j] - t->second[j], d->hits[j]++;
    }
  }
}

/* Counts in how many batches the record is; OTHERS: and learns what it adds. */
static tct_status pilot(duel *d, tct_error *err) {
  TCT_TRY(twice(d, &d->with, &d->without, err));
  d->room = d->hides == OTHERS ? d->tape.used : 0;
  d->add = TCT_NEW(double, d->room + 1);
  d->base = TCT_NEW(double, d->room + 1);
  d->hits = TCT_NEW(int64_t, d->room + 1);
  if (!d->add || !d->base || !d->hits) return tct_fail_memory(err);
  double part = d->hides == OTHERS ? 0.25 : 0.1, stop = tct_audit_clock() + part * (d->a->until - tct_audit_clock());
  for (d->pilots = 0; d->pilots < PILOT && (d->pilots < 10 || tct_audit_clock() < stop); d->pilots++) {
    TCT_TRY(twice(d, &d->with, &d->without, err));
    learn(d);
  }
  for (int64_t j = 0; j < d->room; j++) {
    d->base[j] /= (double)d->pilots;
    if (d->hits[j]) d->add[j] /= (double)d->hits[j];
  }
  return TCT_OK;
}

/* ---- scores ----------------------------------------------------------------------------------------------------- */

static tct_status open_score(duel *d, int with, double *score, tct_error *err) {
  TCT_TRY(twice(d, with ? &d->with : &d->without, with ? &d->without : &d->with, err));
  *score = with ? d->tape.toward : -d->tape.toward;
  return TCT_OK;
}

static tct_status batch_score(duel *d, int with, double *score, tct_error *err) {
  uint64_t coins = tct_audit_u64(d->a);
  double there;
  TCT_TRY(own_run(d, with ? &d->with : &d->without, coins, err));
  d->tape.batch = d->record + 1;
  tct_status status = forced_run(d, &d->with, coins, 0, err);
  there = tct_tape_mixture(&d->tape);
  if (status == TCT_OK) status = forced_run(d, &d->without, coins, 0, err);
  *score = there - tct_tape_mixture(&d->tape);
  d->tape.batch = 0;
  return status;
}

/* The mixture's likelihood ratio, of all releases, by what the pilot has learnt. */
static double learnt(const duel *d) {
  double score = 0;
  const tct_tape *t = &d->tape;
  for (int64_t k = 0; k < t->count; k++) {
    const tct_tape_entry *e = &t->entry[k];
    double ratio = 0, q = d->a->rate[e->release];
    if (e->chooses || !(e->deviation > 0) || e->at + e->len > d->room) continue;
    for (int64_t j = e->at; j < e->at + e->len; j++) {
      double step = d->add[j] / e->deviation;
      ratio += step * ((t->number[j + e->len] - d->base[j]) / e->deviation - 0.5 * step);
    }
    score += ratio > 700 ? ratio + log(q) : log(1 - q + q * exp(ratio));
  }
  return score;
}

static tct_status white(void *user, int with, double *score, tct_error *err) {
  duel *d = user;
  if (d->hides == OPEN) return open_score(d, with, score, err);
  if (d->hides == BATCHES) return batch_score(d, with, score, err);
  TCT_TRY(own_run(d, with ? &d->with : &d->without, tct_audit_u64(d->a), err));
  *score = learnt(d);
  return TCT_OK;
}

/* ---- the answer ----------------------------------------------------------------------------------------------- */

/* Who takes part in a batch is a coin of the planned rate. */
static void judge_rates(duel *d) {
  tct_audit *a = d->a;
  for (int r = 0; r < a->releases; r++) {
    double q = a->rate[r], low = 0;
    if (q < 1 && d->made[r]) low = tct_audit_at_least(d->made[r], d->touched[r], TCT_AUDIT_BREAK);
    if (low > q * (1 + 1e-9))
      tct_audit_break(a, "rate: a record takes part in \"%s\" at a rate of at least %.4g, planned %.4g",
                      a->release[r].name, low, q);
  }
}

static json_t *judged(duel *d, tct_error *err) {
  static const char *const hidden[] = {"nothing", "batches", "more"};
  tct_audit *a = d->a;
  if (tct_audit_draws(&d->tape)) {
    tct_audit_unchecked(a,
                        "the releases of a minimiser with a drawn tilt have no likelihood that the audit knows: its "
                        "final models alone are told apart");
    return json_null();
  }
  json_t *answer = tct_audit_duel(a, "the releases", white, d, d->hides != OTHERS, err);
  if (json_is_object(answer)) json_object_set_new(answer, "hidden_coins", json_string(hidden[d->hides]));
  return answer;
}

json_t *tct_audit_white_box(tct_audit *a, const tct_pair *canary, tct_error *err) {
  duel d = {.a = a, .record = canary->record};
  json_t *answer = NULL;
  tct_tape_begin(a, &d.tape, canary);
  tct_status status = tct_side_new(a, canary, 1, &d.with, err);
  if (status == TCT_OK) status = tct_side_new(a, canary, 0, &d.without, err);
  if (status == TCT_OK) status = look_for_coins(&d, canary, err);
  if (status == TCT_OK && d.hides != OPEN) status = pilot(&d, err);
  if (status == TCT_OK && d.hides != OPEN) judge_rates(&d);
  if (status == TCT_OK) answer = judged(&d, err);
  duel_free(&d);
  return answer;
}
