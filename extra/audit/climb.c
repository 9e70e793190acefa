/* climb.c - sensitivity: neighbours found by hill climbing, and the noise that a release really has.
 *
 * Each release of the plan is climbed, and all of them together.  Climbing starts from invented pairs and moves a few
 * numbers at a time: of the record, of what replaces it, of the forced past.  What kind of pair it is, its layout, its
 * type, weights and persons are drawn, and do not follow what is climbed.  A move above the planned sensitivity by any
 * amount is a break: the bound is exact. */
#include "audit/audit.h"

#include <math.h>
#include <string.h>

/* TURNS: at least so many starts.  KINDS: of pairs, as many as tct_pair_invent tells apart. */
enum { STEPS = 40, TOTAL_COINS = 4, MORE_COINS = 8, SURE_COINS = 24, TURNS = 24, KINDS = 30 };

/* Stands for all releases where one is named. */
enum { TOGETHER = TCT_AUDIT_RELEASES };

/* Who sees a release with joint noise: nobody of them, as many parties as the plan grants, or all of them. */
enum { OUTSIDER, COALITION, PARTIES, EYES };

/* In what ways a pair is handed over, each from its own number on: layouts, types, weighings. */
enum { LAYOUTS = 0, TYPES = 4, WEIGHINGS = 6, WAYS = 9 };
static const char *const eyes_of[] = {"", " for a coalition", " for all parties"};

typedef struct climb {
  double share[TCT_AUDIT_RELEASES], moved[TCT_AUDIT_RELEASES];
  double way[WAYS]; /* largest share of any release */
  double squares[EYES][TCT_AUDIT_RELEASES];
  int64_t noises[EYES][TCT_AUDIT_RELEASES], made[TCT_AUDIT_RELEASES];
  bool drawn[TCT_AUDIT_RELEASES];
  double total;  /* of the best canary */
  bool varies;   /* from coins to coins: the best of many short looks is luck */
  tct_pair best; /* of all, and what it reached of one release */
  double best_share;
  int64_t pairs, failed;
} climb;

/* ---- one pair ----------------------------------------------------------------------------------------------- */

void tct_measured_free(tct_measured *m) {
  tct_tape_free(&m->tape);
  tct_told_free(&m->with);
  tct_told_free(&m->without);
}

bool tct_audit_draws(const tct_tape *tape) { return tape->drew; }

static tct_status both(tct_audit *a, const tct_pair *pair, const tct_side *first, const tct_side *second,
                       tct_measured *m) {
  m->first = tct_tape_run(a, &m->tape, first, pair->coins, &m->with, &m->first_error);
  /* Forced to the same releases also where the first run failed: a refusal of what was released is no leak. */
  if (m->first == TCT_OK || a->watched) tct_tape_rewind(&m->tape);
  m->second = tct_tape_run(a, &m->tape, second, pair->coins, &m->without, &m->second_error);
  return m->tape.failed ? TCT_E_MEMORY : TCT_OK;
}

tct_status tct_audit_measure(tct_audit *a, const tct_pair *pair, tct_measured *out, tct_error *err) {
  tct_side with = {0}, without = {0};
  memset(out, 0, sizeof *out);
  tct_tape_begin(a, &out->tape, pair);
  tct_status status = tct_side_new(a, pair, 1, &with, err);
  if (status == TCT_OK) status = tct_side_new(a, pair, 0, &without, err);
  if (status == TCT_OK) status = both(a, pair, pair->turned ? &without : &with, pair->turned ? &with : &without, out);
  tct_side_free(&with);
  tct_side_free(&without);
  if (status != TCT_OK) tct_measured_free(out);
  return status;
}

/* Equal releases make equal models: whatever else a model depends on is a leak. */
static bool same_model(const tct_audit *a, const tct_measured *m) {
  if (a->study) return !strcmp(m->with.text, m->without.text);
  for (int64_t j = 0; j < tct_side_weights(a); j++)
    if (tct_side_weight(a, m->with.model, j) != tct_side_weight(a, m->without.model, j)) return false;
  return true;
}

static void judge(tct_audit *a, const tct_pair *pair, const tct_measured *m) {
  static const char *const layouts[] = {"dense rows", "dense columns", "CSR", "CSC"};
  const tct_tape *t = &m->tape;
  for (int r = 0; r < a->releases; r++)
    if (!(t->share[r] <= 1))
      tct_audit_break(a, "sensitivity: two neighbours move \"%s\" by more than is planned", a->release[r].name);
  double most = a->door == TCT_DOOR_NONE ? a->claim.mu : a->most_shift;
  if (a->study && (a->replaces ? 2 : 1) * sqrt(t->charged) > most * (1 + 1e-9))
    tct_audit_break(a, "arithmetic: all releases of a run together are charged more than the plan claims");
  if (t->mismatch)
    tct_audit_break(a, "behaviour: two neighbours with the same past make other releases, or of another size");
  else if (!tct_audit_draws(t) && !same_model(a, m))
    tct_audit_break(a, "behaviour: equal releases make unequal models (%s); something else reaches the model",
                    layouts[pair->layout]);
}

/* ---- what all pairs came to ------------------------------------------------------------------------------------ */

static void take(tct_audit *a, climb *c, const tct_pair *pair, const tct_tape *t) {
  double largest = 0;
  int eyes = pair->coalition < 0 ? PARTIES : pair->coalition > 0 ? COALITION : OUTSIDER;
  if (t->views > a->views) a->views = t->views;
  for (int r = 0; r < a->releases; r++) {
    if (!(t->share[r] <= c->share[r])) c->share[r] = t->share[r];
    c->moved[r] = fmax(c->moved[r], t->moved[r]);
    largest = fmax(largest, t->share[r]);
    c->made[r] = t->parts[r] ? t->made[r] / t->parts[r] : 0;
    if (t->keeps) c->squares[eyes][r] += t->squares[r], c->noises[eyes][r] += t->noises[r];
  }
  for (int r = 0; r < a->releases; r++) c->drawn[r] |= t->drew; /* what follows a draw is no sum under the same past */
  const int own[] = {LAYOUTS + pair->layout, TYPES + pair->type, WEIGHINGS + pair->weighed};
  for (int k = 0; k < 3; k++) c->way[own[k]] = fmax(c->way[own[k]], largest);
  if (!(largest > c->best_share)) return;
  c->best_share = largest;
  tct_pair_copy(a, &c->best, pair);
}

/* What the pair reaches of objective `o`: a release, or all together. */
static tct_status value_of(tct_audit *a, climb *c, const tct_pair *pair, int o, double *value, tct_error *err) {
  tct_measured m;
  TCT_TRY(tct_audit_measure(a, pair, &m, err));
  c->pairs++;
  *value = -1;
  if (m.first == TCT_OK && m.second == TCT_OK) {
    judge(a, pair, &m);
    take(a, c, pair, &m.tape);
    *value = o < TOGETHER ? m.tape.share[o] : sqrt(m.tape.total);
  } else if (m.first != m.second) {
    tct_audit_break(a, "behaviour: of two neighbours one run fails (%s)",
                    m.first != TCT_OK ? m.first_error.text : m.second_error.text);
  } else {
    c->failed++;
  }
  tct_measured_free(&m);
  return TCT_OK;
}

/* What a pair reaches, over so many coins. */
typedef struct height {
  double sum, least, most;
  int coins;
} height;

typedef struct place {
  tct_pair pair;
  height height;
} place;

static double mean(const height *h) { return h->sum / h->coins; }

/* Adds looks at a pair.  All together: the past is as drawn in either world, since a record can keep its own past where
 * it shows, and the mean over coins counts.  Where that is all there can be, more of them are asked: orders differ. */
static tct_status look(tct_audit *a, climb *c, tct_pair *pair, int o, int coins, height *h, tct_error *err) {
  double one;
  if (o == TOGETHER) pair->stretch = 1, pair->push = 0, pair->wander = 0;
  for (int k = 0; k < (o < TOGETHER ? 1 : coins); k++) {
    if (o == TOGETHER) pair->coins = tct_audit_u64(a), pair->turned = k % 2;
    TCT_TRY(value_of(a, c, pair, o, &one, err));
    pair->turned = false;
    h->least = h->coins ? fmin(h->least, one) : one, h->most = h->coins ? fmax(h->most, one) : one;
    h->sum += one, h->coins++;
    c->varies |= o == TOGETHER && h->most - h->least > 1e-3 * h->most;
    if (o == TOGETHER && h->coins == TOTAL_COINS && mean(h) >= 0.9999 * a->claim.shift) coins = SURE_COINS;
  }
  return TCT_OK;
}

/* ---- climbing --------------------------------------------------------------------------------------------------- */

static bool has_batches(const tct_audit *a) {
  bool some = false;
  for (int r = 0; r < a->releases; r++) some |= a->rate[r] < 1;
  return some;
}

/* All releases together.  A record is often seen best where all others contribute nothing.  Over batches it is so
 * always, as an onlooker does not know who else takes part; then the record is in every batch, while climbing.  What is
 * cut to a range moves farthest where another record pulls the other way. */
static void begin_canary(tct_audit *a, tct_pair *at, int kind) {
  if (kind % 3 == 1 && !has_batches(a) && (!a->replaces || kind / 3 % 2))
    tct_pair_oppose(a, at, kind / 3);
  else if (kind % 3 == 2 && !has_batches(a))
    (kind % 2 ? tct_pair_hush : tct_pair_balance)(a, at);
  else
    tct_pair_invent(a, at, kind);
  at->alone = has_batches(a) || kind % 3 == 0;
  at->picked = has_batches(a);
  at->weighed = 0;
  if (a->views && at->coalition == 0) at->coalition = 1 + (int64_t)(tct_audit_u64(a) % 64);
}

/* What is climbed: a release, or all of them together; way: one that pairs are handed over in, -1 any. */
typedef struct aim {
  int release, way;
} aim;

/* A pair of a kind of its own.  Now and then the best that there is of all together or of the one release, or where one
 * way is wanted that of the others. */
static void begin_pair(tct_audit *a, const climb *c, aim to, const tct_pair *canary, tct_pair *at) {
  int kind = (int)(tct_audit_u64(a) % KINDS);
  bool best = tct_audit_u64(a) % 2;
  if (to.release == TOGETHER) {
    if (best && c->total > 0)
      tct_pair_copy(a, at, canary);
    else
      begin_canary(a, at, kind);
    return;
  }
  if ((to.way >= 0 || a->releases == 1) && c->best_share > 0 && best)
    tct_pair_copy(a, at, &c->best);
  else
    tct_pair_invent(a, at, kind);
  if (to.way >= WEIGHINGS)
    tct_pair_hand_over(a, at, to.way - WEIGHINGS);
  else if (to.way >= TYPES)
    at->type = to.way - TYPES;
  else if (to.way >= LAYOUTS)
    at->layout = to.way - LAYOUTS;
}

/* The pair at the top of a climb is looked at anew, and so its height is no luck. */
static tct_status top(tct_audit *a, climb *c, place *at, tct_pair *canary, tct_error *err) {
  height anew = at->height;
  if (!(mean(&anew) > c->total)) return TCT_OK;
  if (c->varies) {
    anew = (height){0};
    TCT_TRY(look(a, c, &at->pair, TOGETHER, SURE_COINS, &anew, err));
  }
  if (!(mean(&anew) > c->total)) return TCT_OK;
  c->total = mean(&anew);
  tct_pair_copy(a, canary, &at->pair);
  return TCT_OK;
}

/* Is `next` higher than `at`?  Where any pair's height varies, both are looked at for longer. */
static tct_status higher(tct_audit *a, climb *c, int o, place *at, place *next, bool *is, tct_error *err) {
  next->height = (height){0};
  TCT_TRY(look(a, c, &next->pair, o, TOTAL_COINS, &next->height, err));
  *is = mean(&next->height) >= mean(&at->height);
  if (!*is || o < TOGETHER || !c->varies) return TCT_OK;
  TCT_TRY(look(a, c, &next->pair, o, MORE_COINS, &next->height, err));
  TCT_TRY(look(a, c, &at->pair, o, at->height.coins < SURE_COINS ? MORE_COINS : 0, &at->height, err));
  *is = mean(&next->height) >= mean(&at->height);
  return TCT_OK;
}

static bool arrived(const tct_audit *a, int o, double here) {
  return here >= 0.9999 * (o == TOGETHER ? a->claim.shift : 1);
}

static tct_status ascend(tct_audit *a, climb *c, aim to, tct_pair *canary, tct_error *err) {
  place at = {0}, next = {0};
  int o = to.release;
  bool is;
  TCT_TRY(tct_pair_new(a, &at.pair, err));
  tct_status status = tct_pair_new(a, &next.pair, err);
  if (status == TCT_OK) {
    begin_pair(a, c, to, canary, &at.pair);
    status = look(a, c, &at.pair, o, TOTAL_COINS, &at.height, err);
  }
  for (int k = 0; k < STEPS && status == TCT_OK && tct_audit_clock() < a->until; k++) {
    if (arrived(a, o, mean(&at.height))) break;
    tct_pair_copy(a, &next.pair, &at.pair);
    if (tct_audit_u64(a) % 13 == 0)
      tct_pair_nudge_others(a, &next.pair);
    else
      tct_pair_nudge(a, &next.pair);
    status = higher(a, c, o, &at, &next, &is, err);
    if (status != TCT_OK || !is) continue;
    tct_pair_copy(a, &at.pair, &next.pair);
    at.height = next.height;
  }
  if (status == TCT_OK && o == TOGETHER) status = top(a, c, &at, canary, err);
  tct_pair_free(a, &at.pair);
  tct_pair_free(a, &next.pair);
  return status;
}

static int ways_of(const tct_audit *a) { return WEIGHINGS + 1 + a->weighs + a->persons; }

/* All that can be reached is reached: other attacks may have the time. */
static bool filled(const tct_audit *a, const climb *c, int turns) {
  bool full = c->total >= 0.999 * a->claim.shift; /* false where there is none */
  for (int r = 0; r < a->releases; r++) full = full && c->share[r] >= 0.9999;
  for (int w = 0; w < ways_of(a); w++) full = full && c->way[w] >= 0.999;
  return full && turns >= TURNS;
}

static int furthest(const tct_audit *a, const climb *c, bool lowest) {
  int at = -1;
  for (int r = 0; r < a->releases; r++)
    if (!c->drawn[r] && (!lowest || c->share[r] < 0.9999) && (at < 0 || (c->share[r] < c->share[at]) == lowest)) at = r;
  return at < 0 ? TOGETHER : at;
}

/* By turns: all together; the releases one after the other; the lowest of them, or the way that is lowest, on the
 * release that was filled best. */
static aim aim_of(const tct_audit *a, const climb *c, int turn) {
  int low = 0;
  if (turn % 3 == 0 || a->releases == 0) return (aim){TOGETHER, -1};
  if (turn % 3 == 1) return (aim){turn / 3 % a->releases, -1};
  for (int w = 1; w < ways_of(a); w++)
    if (c->way[w] < c->way[low]) low = w;
  if (turn % 6 == 2 && c->way[low] < 0.999 * fmin(1, c->best_share)) return (aim){furthest(a, c, false), low};
  return (aim){furthest(a, c, true), -1};
}

/* ---- the answer ---------------------------------------------------------------------------------------------------
 */

/* The mean of n squares of standard normals has deviation sqrt(2/n), of n sizes of Laplace numbers sqrt(1/n).  Six of
 * them are passed with a chance of 2e-9; small n have longer tails, hence the floor. */
static double noise_ratio(tct_audit *a, const climb *c, int r, bool laplace) {
  double least = NAN;
  for (int eyes = 0; eyes < EYES; eyes++) {
    double n = (double)c->noises[eyes][r], mean = c->squares[eyes][r] / n, slack = 6 * sqrt((laplace ? 1 : 2) / n);
    if (n < 1) continue;
    double ratio = laplace ? mean : sqrt(mean);
    if (n >= 500 && !(mean >= 1 - slack))
      tct_audit_break(a, "noise: \"%s\" has %.3g of the planned deviation%s", a->release[r].name, ratio, eyes_of[eyes]);
    if (!(ratio >= least)) least = ratio;
  }
  return least;
}

static void count_releases(tct_audit *a, const climb *c, int r) {
  if (a->adaptive) return; /* the filter of its budget decides, and every release is charged */
  if (c->made[r] > a->release[r].count || (a->fixed && c->made[r] != a->release[r].count))
    tct_audit_break(a, "releases: \"%s\" is made %lld times, and planned %lld times", a->release[r].name,
                    (long long)c->made[r], (long long)a->release[r].count);
}

static json_t *one_release(tct_audit *a, const climb *c, int r) {
  const tct_audit_release *info = &a->release[r];
  bool laplace = info->norm == TCT_NORM_L1;
  json_t *o = json_pack("{s:s, s:s, s:s, s:I, s:I}", "name", info->name, "kind", info->kind, "norm",
                        info->norm == TCT_NORM_SCORE ? "score"
                        : laplace                    ? "l1"
                                                     : "l2",
                        "planned", (json_int_t)info->count, "made", (json_int_t)c->made[r]);
  tct_json_put(o, "sensitivity", info->sensitivity);
  json_object_set_new(o, "share", c->drawn[r] ? json_null() : tct_json_finite(c->share[r]));
  if (info->norm == TCT_NORM_SCORE) tct_json_put(o, "score_change", c->moved[r]);
  bool gaussian = strstr(info->kind, "gaussian") != NULL;
  if (info->norm != TCT_NORM_SCORE)
    json_object_set_new(o, "noise_ratio",
                        c->drawn[r] && !gaussian ? json_null() : tct_json_finite(noise_ratio(a, c, r, laplace)));
  if (c->pairs > c->failed) count_releases(a, c, r);
  return o;
}

static json_t *ways(tct_audit *a, const climb *c) {
  static const char *const names[] = {"dense_rows", "dense_columns", "csr", "csc", "f64", "f32", "weights", "persons"};
  json_t *all = json_object();
  for (int k = 0; k < 8; k++) {
    int way = k < WEIGHINGS ? k : k + 1; /* what has no weights is not named */
    bool taken = way < ways_of(a);
    double share = c->way[way];
    json_object_set_new(all, names[k], taken ? tct_json_finite(share) : json_null());
    if (taken && c->best_share > 0 && !(share > 0))
      tct_audit_unchecked(a, "no pair of some layout, type or weighing moved a release; give more seconds");
  }
  return all;
}

/* Has some way of handing a table over moved nothing, though others have?  The first turns draw the ways, and a slow
 * machine must not end before them. */
static bool some_way_waits(const tct_audit *a, const climb *c) {
  bool waits = false;
  for (int w = 0; w < ways_of(a); w++) waits |= !(c->way[w] > 0);
  return waits && c->best_share > 0;
}

static bool goes_on(const tct_audit *a, const climb *c, int turns) {
  if (turns == 0) return true;
  if (tct_audit_clock() < a->until) return !filled(a, c, turns);
  return a->patient && turns < 2 * TURNS && some_way_waits(a, c);
}

json_t *tct_audit_sensitivity(tct_audit *a, tct_pair *canary, tct_error *err) {
  climb c = {0};
  tct_status status = tct_pair_new(a, &c.best, err);
  for (int turn = 0; status == TCT_OK && goes_on(a, &c, turn); turn++)
    status = ascend(a, &c, aim_of(a, &c, turn), canary, err);
  tct_pair_free(a, &c.best);
  if (status != TCT_OK) return NULL;
  json_t *releases = json_array();
  for (int r = 0; r < a->releases; r++) json_array_append_new(releases, one_release(a, &c, r));
  bool drawn = false;
  for (int r = 0; r < a->releases; r++) drawn |= c.drawn[r];
  if (drawn)
    tct_audit_unchecked(a,
                        "a release is drawn inside a minimisation and not added to a sum: no move was measured, and "
                        "the claim is attacked by its final models alone");
  canary->picked = false;
  return json_pack("{s:I, s:I, s:f, s:o, s:o}", "pairs", (json_int_t)c.pairs, "failed", (json_int_t)c.failed,
                   "canary_mu", c.total, "releases", releases, "largest_share", ways(a, &c));
}
