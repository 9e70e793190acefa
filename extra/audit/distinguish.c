/* distinguish.c - can an onlooker tell two neighbours apart better than the plan allows?
 *
 * Two worlds, told apart by a score of one run each; white_box.c has the scores of who sees every release.  Here is the
 * black box: only the final weights are seen, projected on a line that a pilot has chosen.  The runs that are judged
 * take keys from the system, like everybody's. */
#include "audit/audit.h"

#include "core/alloc.h"
#include "core/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHORT = 300, PILOT = 2000, LEAST = 400, MOST = 400000, FEW = 40 };

/* ---- two worlds ------------------------------------------------------------------------------------------------- */

static tct_status scores_new(int64_t count, tct_scores *out, tct_error *err) {
  *out = (tct_scores){TCT_NEW(double, count), TCT_NEW(double, count), count};
  return out->out && out->in ? TCT_OK : tct_fail_memory(err);
}

static void scores_free(tct_scores *s) {
  tct_free(s->out);
  tct_free(s->in);
}

static tct_status fill(tct_score_fn fn, void *user, tct_scores *s, tct_error *err) {
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
json_t *tct_audit_duel(tct_audit *a, const char *what, tct_score_fn fn, void *user, bool ratio, tct_error *err) {
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
  if (ratio) cut[TCT_CUT_MIDDLE] = 0;
  if (status == TCT_OK) status = scores_new(count, &scores, err);
  if (status == TCT_OK) status = fill(fn, user, &scores, err);
  if (status == TCT_OK) answer = tct_audit_judge(a, what, &a->claim, &scores, cut);
  scores_free(&pilot);
  scores_free(&scores);
  return answer;
}

/* ---- black box ----------------------------------------------------------------------------------------------------
 */

typedef struct onlooker {
  tct_audit *a;
  tct_side with, without;
  double *line, *next; /* [weights] */
  double *seen[2];     /* [PILOT][weights] without, and with */
  double *score[2];    /* [PILOT] workspace */
} onlooker;

enum { SCREEN = 120, CANDIDATES = 12, FINALISTS = 4, SINGLE = 16 };

static void onlooker_free(onlooker *o) {
  tct_side_free(&o->with);
  tct_side_free(&o->without);
  tct_free(o->line);
  tct_free(o->next);
  for (int k = 0; k < 2; k++) tct_free(o->seen[k]), tct_free(o->score[k]);
  *o = (onlooker){0};
}

static tct_status onlooker_new(tct_audit *a, const tct_pair *pair, onlooker *o, tct_error *err) {
  int64_t p = tct_side_weights(a);
  *o = (onlooker){.a = a, .line = TCT_NEW(double, p), .next = TCT_NEW(double, p)};
  bool room = o->line && o->next;
  for (int k = 0; k < 2; k++) {
    o->seen[k] = TCT_NEW(double, PILOT *p);
    o->score[k] = TCT_NEW(double, PILOT);
    room = room && o->seen[k] && o->score[k];
  }
  tct_status status = room ? tct_side_new(a, pair, 1, &o->with, err) : tct_fail_memory(err);
  if (status == TCT_OK) status = tct_side_new(a, pair, 0, &o->without, err);
  if (status != TCT_OK) onlooker_free(o);
  return status;
}

static tct_status meet(onlooker *o, int with, int64_t run, tct_error *err) {
  tct_model *m = tct_side_fit(o->a, with ? &o->with : &o->without, err);
  if (!m) return err->status;
  int64_t p = tct_side_weights(o->a);
  for (int64_t j = 0; j < p; j++) o->seen[with][run * p + j] = tct_side_weight(o->a, m, j);
  tct_model_free(m);
  return TCT_OK;
}

/* Kolmogorov and Smirnov's distance of the scores, with the sign that says which are the larger.  Sorts them. */
static double distance(double *out, double *in, int64_t n) {
  double most = 0;
  qsort(out, (size_t)n, sizeof *out, tct_ascending);
  qsort(in, (size_t)n, sizeof *in, tct_ascending);
  for (int64_t k = 0, j = 0; k < n; k++) { /* of `in` j are at most out[k] */
    if (k + 1 < n && out[k + 1] == out[k]) continue;
    while (j < n && in[j] <= out[k]) j++;
    double apart = (double)(k + 1 - j) / (double)n;
    if (fabs(apart) > fabs(most)) most = apart;
  }
  return most;
}

/* The line o->next takes the place of o->line where it parts the worlds better. */
static void try_line(onlooker *o, int64_t runs, double *most) {
  int64_t p = tct_side_weights(o->a);
  for (int with = 0; with < 2; with++)
    for (int64_t k = 0; k < runs; k++) {
      double sum = 0;
      for (int64_t j = 0; j < p; j++) sum += o->next[j] * o->seen[with][k * p + j];
      o->score[with][k] = sum;
    }
  double apart = distance(o->score[0], o->score[1], runs);
  if (!(fabs(apart) > *most)) return;
  *most = fabs(apart);
  for (int64_t j = 0; j < p; j++) o->line[j] = apart < 0 ? -o->next[j] : o->next[j];
}

/* How far the middles of weight j lie apart, over its spread squared: by means, or by what few far runs do not move. */
static double pull(onlooker *o, int64_t j, int64_t runs, bool robust) {
  double middle[2], spread[2], n = (double)runs;
  for (int with = 0; with < 2; with++) {
    double *s = o->score[with], sum = 0, squares = 0;
    for (int64_t k = 0; k < runs; k++) {
      s[k] = o->seen[with][k * tct_side_weights(o->a) + j];
      sum += s[k], squares += s[k] * s[k];
    }
    if (robust) qsort(s, (size_t)runs, sizeof *s, tct_ascending);
    middle[with] = robust ? s[runs / 2] : sum / n;
    spread[with] = robust ? pow(s[3 * runs / 4] - s[runs / 4], 2) : squares / n - pow(sum / n, 2);
  }
  double both = 0.5 * (spread[0] + spread[1]);
  return both > 0 ? (middle[1] - middle[0]) / both : 0;
}

/* The best of some lines, and how far apart the worlds lie along it. */
static tct_status find_line(onlooker *o, int64_t runs, double *apart, tct_error *err) {
  int64_t p = tct_side_weights(o->a);
  *apart = 0;
  for (int64_t k = 0; k < runs; k++) {
    TCT_TRY(meet(o, 0, k, err));
    TCT_TRY(meet(o, 1, k, err));
  }
  for (int robust = 0; robust < 2; robust++) {
    for (int64_t j = 0; j < p; j++) o->next[j] = pull(o, j, runs, robust);
    try_line(o, runs, apart);
  }
  for (int64_t j = 0; j < p && j < SINGLE; j++) {
    for (int64_t k = 0; k < p; k++) o->next[k] = k == j;
    try_line(o, runs, apart);
  }
  return TCT_OK;
}

static tct_status black(void *user, int with, double *score, tct_error *err) {
  onlooker *o = user;
  tct_model *m = tct_side_fit(o->a, with ? &o->with : &o->without, err);
  if (!m) return err->status;
  *score = 0;
  for (int64_t j = 0; j < tct_side_weights(o->a); j++) *score += o->line[j] * tct_side_weight(o->a, m, j);
  tct_model_free(m);
  return TCT_OK;
}

/* How far apart `runs` runs on either side of this pair lie, along the best line. */
static tct_status look_at(tct_audit *a, const tct_pair *pair, int64_t runs, double *apart, tct_error *err) {
  onlooker o;
  *apart = -INFINITY;
  TCT_TRY(onlooker_new(a, pair, &o, err));
  tct_status status = find_line(&o, runs, apart, err);
  onlooker_free(&o);
  return status;
}

/* A candidate of its own for each k; the first is the one that the releases chose. */
static void candidate(tct_audit *a, tct_pair *at, int k) {
  if (k % 3 == 2)
    tct_pair_oppose(a, at, k / 3);
  else if (k)
    tct_pair_invent(a, at, k);
  if (k) at->alone = k % 3 == 1;
  at->weighed = 0;
}

static int furthest(const double *apart, int count) {
  int best = 0;
  for (int k = 1; k < count; k++)
    if (apart[k] > apart[best]) best = k;
  return best;
}

/* Runs on either side: those of a short look, or more where they fit into a third of the share. */
static int64_t look_runs(const tct_audit *a, double share) {
  int64_t some = tct_audit_room(a, share, 2 * SHORT), more = tct_audit_room(a, share / 3, 2 * PILOT);
  return (more > some ? more : some) / 2;
}

/* Many are looked at for a short while.  The best of many short looks is often luck, so the best few, and the one that
 * the releases chose, are looked at again, from new runs, and for longer. */
static tct_status screen(tct_audit *a, tct_pair *at, tct_pair *best, tct_error *err) {
  double apart[CANDIDATES], again, most = -INFINITY, stop = tct_audit_clock() + 0.3 * (a->until - tct_audit_clock());
  int64_t runs = tct_audit_room(a, 0.06, 2 * SCREEN) / 2;
  int count = 0;
  for (; count < CANDIDATES && runs >= 8 && (count < 3 || tct_audit_clock() < stop); count++) {
    if (count) tct_pair_copy(a, &at[count], &at[count - 1]);
    candidate(a, &at[count], count);
    TCT_TRY(look_at(a, &at[count], runs, &apart[count], err));
  }
  runs = look_runs(a, 0.2 / FINALISTS);
  for (int turn = 0; turn < FINALISTS && turn < count; turn++) {
    int k = turn ? furthest(apart, count) : 0;
    apart[k] = -INFINITY;
    if (runs >= 8) TCT_TRY(look_at(a, &at[k], runs, &again, err));
    if (runs < 8) again = -turn;
    if (again > most) most = again, tct_pair_copy(a, best, &at[k]);
  }
  return TCT_OK;
}

/* The best of some invented canaries, and of the one that the releases chose. */
static tct_status choose_canary(tct_audit *a, tct_pair *best, tct_error *err) {
  tct_pair at[CANDIDATES] = {{0}};
  tct_status status = TCT_OK;
  for (int k = 0; k < CANDIDATES && status == TCT_OK; k++) status = tct_pair_new(a, &at[k], err);
  if (status == TCT_OK) tct_pair_copy(a, &at[0], best);
  if (status == TCT_OK) status = screen(a, at, best, err);
  for (int k = 0; k < CANDIDATES; k++) tct_pair_free(a, &at[k]);
  return status;
}

json_t *tct_audit_black_box(tct_audit *a, const tct_pair *canary, tct_error *err) {
  tct_pair best;
  onlooker o = {0};
  double apart;
  json_t *answer = NULL;
  if (tct_pair_new(a, &best, err) != TCT_OK) return NULL;
  tct_pair_copy(a, &best, canary);
  int64_t pilot = look_runs(a, 0.3);
  if (pilot < FEW) {
    tct_pair_free(a, &best);
    return too_few(a, "the final models");
  }
  tct_status status = choose_canary(a, &best, err);
  if (status == TCT_OK) status = onlooker_new(a, &best, &o, err);
  if (status == TCT_OK) status = find_line(&o, pilot, &apart, err);
  if (status == TCT_OK) answer = tct_audit_duel(a, "the final models", black, &o, false, err);
  onlooker_free(&o);
  tct_pair_free(a, &best);
  return answer;
}
