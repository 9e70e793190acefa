/* distinguish.c - can an onlooker tell two neighbours apart better than the plan allows?
 *
 * White box: the onlooker sees every release, as the claim allows.  Where the past releases fix the noise-free values,
 * the score is the log likelihood ratio, the best there is (Neyman and Pearson).  Where hidden coins decide who takes
 * part, a pilot learns what the record adds on average.  The score is then the mixture's likelihood ratio at the
 * planned rate, a function of releases alone.  Black box: only the final weights are seen, projected on a line that a
 * pilot has chosen.  Their runs take keys from the system, like everybody's. */
#include "audit/audit.h"

#include "core/alloc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PILOT = 300, LEAST = 400, MOST = 400000, FEW = 40 };

typedef struct duel {
  tct_audit *a;
  tct_side with, without;
  tct_tape tape;
  uint64_t coins;
  bool hidden;         /* unreleased coins decide what is released */
  double *add, *base;  /* [room] hidden: what the record adds where it takes part, and the value without it */
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

/* ---- white box ------------------------------------------------------------------------------------------------ */

static tct_status twice(duel *d, const tct_side *first, const tct_side *second, uint64_t other_coins, tct_error *err) {
  tct_tape_clear(&d->tape);
  uint64_t coins = tct_audit_u64(d->a);
  TCT_TRY(tct_tape_run(d->a, &d->tape, first, coins, NULL, err));
  tct_tape_rewind(&d->tape);
  return tct_tape_run(d->a, &d->tape, second, other_coins ? other_coins : coins, NULL, err);
}

/* Do other coins change what is handed over, though the past releases are the same? */
static tct_status look_for_coins(duel *d, tct_error *err) {
  for (int k = 0; k < 3 && !d->hidden; k++) {
    TCT_TRY(twice(d, &d->with, &d->with, tct_audit_u64(d->a), err));
    d->hidden = d->tape.total > 0 || d->tape.mismatch;
  }
  return TCT_OK;
}

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

static tct_status pilot(duel *d, tct_error *err) {
  TCT_TRY(twice(d, &d->with, &d->without, 0, err));
  d->room = d->tape.used;
  d->add = TCT_NEW(double, d->room);
  d->base = TCT_NEW(double, d->room);
  d->hits = TCT_NEW(int64_t, d->room);
  if (!d->add || !d->base || !d->hits) return tct_fail_memory(err);
  double stop = tct_audit_clock() + 0.25 * (d->a->until - tct_audit_clock());
  for (d->pilots = 0; d->pilots < PILOT && (d->pilots < 10 || tct_audit_clock() < stop); d->pilots++) {
    TCT_TRY(twice(d, &d->with, &d->without, 0, err));
    learn(d);
  }
  for (int64_t j = 0; j < d->room; j++) {
    d->base[j] /= (double)d->pilots;
    if (d->hits[j]) d->add[j] /= (double)d->hits[j];
  }
  return TCT_OK;
}

/* log((1 - q) + q exp(ratio)), of all releases. */
static double mixture(const duel *d) {
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

static tct_status white_score(duel *d, int with, double *score, tct_error *err) {
  const tct_side *own = with ? &d->with : &d->without;
  if (!d->hidden) {
    TCT_TRY(twice(d, own, with ? &d->without : &d->with, 0, err));
    *score = with ? d->tape.toward : -d->tape.toward;
    return TCT_OK;
  }
  tct_tape_clear(&d->tape);
  TCT_TRY(tct_tape_run(d->a, &d->tape, own, tct_audit_u64(d->a), NULL, err));
  *score = mixture(d);
  return TCT_OK;
}

/* ---- both ------------------------------------------------------------------------------------------------------- */

typedef tct_status (*score_fn)(void *user, int with, double *score, tct_error *err);

static tct_status scores_new(int64_t count, tct_scores *out, tct_error *err) {
  *out = (tct_scores){TCT_NEW(double, count), TCT_NEW(double, count), count};
  return out->out && out->in ? TCT_OK : tct_fail_memory(err);
}

static void scores_free(tct_scores *s) {
  tct_free(s->out);
  tct_free(s->in);
}

static tct_status fill(score_fn fn, void *user, tct_scores *s, tct_error *err) {
  for (int64_t k = 0; k < s->count; k++) {
    TCT_TRY(fn(user, 0, &s->out[k], err));
    TCT_TRY(fn(user, 1, &s->in[k], err));
  }
  return TCT_OK;
}

static json_t *too_few(tct_audit *a, const char *what) {
  char text[200];
  snprintf(
      text, sizeof text,
      "a run takes so long that too few fit into the time: neighbours were not told apart by %s; give more seconds "
      "or a smaller shape",
      what);
  tct_audit_unchecked(a, text);
  return json_null();
}

/* A pilot chooses thresholds and measures the time of a score; then as many as fit, fixed beforehand. */
static json_t *duel_of(tct_audit *a, const char *what, score_fn fn, void *user, tct_error *err) {
  tct_scores pilot = {0}, scores = {0};
  double cut[TCT_AUDIT_CUTS], began = tct_audit_clock();
  json_t *answer = NULL;
  int64_t first = tct_audit_room(a, 0.2, 4 * LEAST) / 4;
  if (first < FEW) return too_few(a, what);
  tct_status status = scores_new(first, &pilot, err);
  if (status == TCT_OK) status = fill(fn, user, &pilot, err);
  double each = (tct_audit_clock() - began) / (double)first, left = a->until - tct_audit_clock();
  int64_t count = (int64_t)fmin(MOST, fmax((double)first, 0.9 * left / fmax(each, 1e-7)));
  if (status == TCT_OK) tct_audit_cuts(&pilot, cut);
  if (status == TCT_OK) status = scores_new(count, &scores, err);
  if (status == TCT_OK) status = fill(fn, user, &scores, err);
  if (status == TCT_OK) answer = tct_audit_judge(a, what, &a->claim, &scores, cut);
  scores_free(&pilot);
  scores_free(&scores);
  return answer;
}

static tct_status white(void *user, int with, double *score, tct_error *err) {
  return white_score(user, with, score, err);
}

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

json_t *tct_audit_white_box(tct_audit *a, const tct_pair *canary, tct_error *err) {
  duel d = {.a = a};
  json_t *answer = NULL;
  tct_tape_begin(a, &d.tape, canary);
  tct_status status = tct_side_new(a, canary, 1, &d.with, err);
  if (status == TCT_OK) status = tct_side_new(a, canary, 0, &d.without, err);
  if (status == TCT_OK) status = look_for_coins(&d, err);
  if (status == TCT_OK && d.hidden) status = pilot(&d, err);
  if (status == TCT_OK && d.hidden) judge_rates(&d);
  if (status == TCT_OK && tct_audit_draws(&d.tape)) {
    tct_audit_unchecked(a,
                        "the releases of a minimiser with a drawn tilt have no likelihood that the audit knows: its "
                        "final models alone are told apart");
    answer = json_null();
  } else if (status == TCT_OK) {
    answer = duel_of(a, "the releases", white, &d, err);
    if (answer) json_object_set_new(answer, "hidden_coins", json_boolean(d.hidden));
  }
  duel_free(&d);
  return answer;
}

/* ---- black box ----------------------------------------------------------------------------------------------------
 */

typedef struct onlooker {
  tct_audit *a;
  tct_side with, without;
  double *line; /* [cols + 1] */
  double *mean[2], *square[2];
} onlooker;

enum { SCREEN = 60, CANDIDATES = 10 };

static void onlooker_free(onlooker *o) {
  tct_side_free(&o->with);
  tct_side_free(&o->without);
  tct_free(o->line);
  for (int k = 0; k < 2; k++) tct_free(o->mean[k]), tct_free(o->square[k]);
  *o = (onlooker){0};
}

static tct_status onlooker_new(tct_audit *a, const tct_pair *pair, onlooker *o, tct_error *err) {
  *o = (onlooker){.a = a, .line = TCT_NEW(double, a->cols + 1)};
  bool room = o->line != NULL;
  for (int k = 0; k < 2; k++) {
    o->mean[k] = TCT_NEW(double, a->cols + 1);
    o->square[k] = TCT_NEW(double, a->cols + 1);
    room = room && o->mean[k] && o->square[k];
  }
  tct_status status = room ? tct_side_new(a, pair, 1, &o->with, err) : tct_fail_memory(err);
  if (status == TCT_OK) status = tct_side_new(a, pair, 0, &o->without, err);
  if (status != TCT_OK) onlooker_free(o);
  return status;
}

static double weight_of(const tct_audit *a, const tct_model *m, int64_t j) {
  return j < a->cols ? tct_model_coefficients(m)[j] : tct_model_intercept(m);
}

static tct_status meet(onlooker *o, int with, tct_error *err) {
  tct_model *m = tct_side_fit(o->a, with ? &o->with : &o->without, err);
  if (!m) return err->status;
  for (int64_t j = 0; j <= o->a->cols; j++) {
    double w = weight_of(o->a, m, j);
    o->mean[with][j] += w, o->square[with][j] += w * w;
  }
  tct_model_free(m);
  return TCT_OK;
}

/* The line of means over variances, and how far apart the worlds lie along it, less what chance alone gives. */
static tct_status find_line(onlooker *o, int64_t runs, double *apart, tct_error *err) {
  double sum = 0;
  for (int64_t k = 0; k < runs; k++) {
    TCT_TRY(meet(o, 0, err));
    TCT_TRY(meet(o, 1, err));
  }
  for (int64_t j = 0; j <= o->a->cols; j++) {
    double n = (double)runs, out = o->mean[0][j] / n, in = o->mean[1][j] / n;
    double variance = 0.5 * (o->square[0][j] / n - out * out + o->square[1][j] / n - in * in);
    o->line[j] = variance > 0 ? (in - out) / variance : 0;
    sum += (in - out) * o->line[j] - (variance > 0 ? 2 / n : 0);
  }
  *apart = sum;
  return TCT_OK;
}

static tct_status black(void *user, int with, double *score, tct_error *err) {
  onlooker *o = user;
  tct_model *m = tct_side_fit(o->a, with ? &o->with : &o->without, err);
  if (!m) return err->status;
  *score = 0;
  for (int64_t j = 0; j <= o->a->cols; j++) *score += o->line[j] * weight_of(o->a, m, j);
  tct_model_free(m);
  return TCT_OK;
}

/* The best of some invented canaries, and of the one that the releases chose. */
static tct_status choose_canary(tct_audit *a, tct_pair *best, tct_error *err) {
  tct_pair at;
  double most = -INFINITY, stop = tct_audit_clock() + 0.3 * (a->until - tct_audit_clock());
  TCT_TRY(tct_pair_new(a, &at, err));
  tct_status status = TCT_OK;
  tct_pair_copy(a, &at, best);
  int64_t screen = tct_audit_room(a, 0.06, 2 * SCREEN) / 2;
  for (int k = 0; k < CANDIDATES && status == TCT_OK && screen >= 8 && (k < 3 || tct_audit_clock() < stop); k++) {
    onlooker o;
    double apart = -INFINITY;
    if (k) tct_pair_invent(a, &at, k % 2 ? 0 : k), at.weighed = 0;
    status = onlooker_new(a, &at, &o, err);
    if (status == TCT_OK) status = find_line(&o, screen, &apart, err);
    if (status == TCT_OK) onlooker_free(&o);
    if (apart > most) most = apart, tct_pair_copy(a, best, &at);
  }
  tct_pair_free(a, &at);
  return status;
}

json_t *tct_audit_black_box(tct_audit *a, const tct_pair *canary, tct_error *err) {
  tct_pair best;
  onlooker o = {0};
  double apart;
  json_t *answer = NULL;
  if (tct_pair_new(a, &best, err) != TCT_OK) return NULL;
  tct_pair_copy(a, &best, canary);
  int64_t pilot = tct_audit_room(a, 0.3, 2 * PILOT) / 2;
  if (pilot < FEW) {
    tct_pair_free(a, &best);
    return too_few(a, "their final models");
  }
  tct_status status = choose_canary(a, &best, err);
  if (status == TCT_OK) status = onlooker_new(a, &best, &o, err);
  if (status == TCT_OK) status = find_line(&o, pilot, &apart, err);
  if (status == TCT_OK) answer = duel_of(a, "the final models", black, &o, err);
  onlooker_free(&o);
  tct_pair_free(a, &best);
  return answer;
}
