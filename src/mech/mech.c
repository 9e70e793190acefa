/* mech.c - the gate: charge first, then draw.
 *
 * DISTRIBUTION  Every additive release is x + round(N(0, sigma^2)/g)*g with x on the lattice g*Z.
 *
 * PROOF  x on the lattice gives x + round(sigma*Z) = round(x + sigma*Z): the release is a function of the
 * continuous Gaussian mechanism applied to x, so every bound that holds for that mechanism (GDP, RDP, PLD,
 * with or without Poisson sampling) holds for it by post-processing.  Off the lattice the identity fails
 * and the low-order bits of x would show, hence check_lattice.  The event is charged before the first
 * random bit is drawn; a refused event draws nothing, so a run cannot spend more than its promise.
 *   A vector released in parts: let a pair of neighbours move part k, whatever the parts before it were, by at most s_k
 * of its reach, with s_k fixed for the pair and sum of s_k^2 <= s^2, s the shift of the event.  Part k is dominated by
 * the pair N(0, 1), N(s_k/m, 1), so all parts by the product of these (the theorem named below), which is the pair of
 * one Gaussian with shift |(s_k)|/m <= s/m: the event gaussian(m).
 *   A list that is fixed beforehand bounds a run that takes its events in an order of its own, or leaves some out, as
 * past releases tell it (at_most): let V(left) be the largest hockey-stick divergence of what is yet to come. Whichever
 * event comes next, it is dominated by its pair, and given its outcome the rest is, by induction, dominated by the
 * product of the pairs left; by the composition of dominating pairs (Zhu, Dong and Wang 2022, Theorem 10) the two
 * together are dominated by the product of all, which does not know which came first.  Leaving out is post-processing.
 *
 * ROUNDING  sum + noise is exact: both are multiples of g below 2^52*g in magnitude by the choice of g
 * (tct_mech_lattice); the Gaussian tail beyond 2^7 sigma has probability below 2^-11000 and its sum would
 * round to a neighbouring multiple of 2g, which is again post-processing of the released value. */
#include "mech/mech.h"

#include "core/alloc.h"
#include "rng/rng.h"
#include "ranks/ranks.h"

#include <math.h>
#include <string.h>

struct tct_mech {
  tct_promise promise;
  int64_t *left; /* [promise.events.len]: repetitions not yet spent */
  tct_events spent;
  tct_neighbours neighbours;
  tct_rng_key key;
  tct_team *team;      /* the ranks that share the rows; NULL alone */
  uint64_t releases;   /* index of the next noise stream */
  uint64_t iterations; /* index of the next batch */
  double open_rate;    /* rate of the open batch; 0 = none is open */
  tct_event parts;     /* the event of the vector that is being released in parts; count 0: none is */
  tct_stream stream;   /* its noise */
  tct_mech_probe probe;
  void *probe_user;
};

void tct_promise_free(tct_promise *promise) { tct_events_free(&promise->events); }

void tct_mech_free(tct_mech *mech) {
  if (!mech) return;
  tct_promise_free(&mech->promise);
  tct_events_free(&mech->spent);
  tct_free(mech->left);
  tct_wipe_free(mech, 1, sizeof *mech);
}

static tct_status fill(tct_mech *mech, const tct_promise *promise, const uint64_t *seed, tct_error *err) {
  mech->promise.adaptive = promise->adaptive;
  mech->promise.at_most = promise->at_most;
  mech->promise.filter = promise->filter;
  TCT_TRY(tct_events_copy(&mech->promise.events, &promise->events, err));
  mech->left = TCT_NEW(int64_t, promise->events.len);
  if (!mech->left) return tct_fail_memory(err);
  for (int64_t i = 0; i < promise->events.len; i++) mech->left[i] = promise->events.at[i].count;
  if (!seed) return tct_rng_key_system(&mech->key, err);
  tct_rng_key_seed(&mech->key, *seed);
  return TCT_OK;
}

tct_status tct_mech_new(const tct_promise *promise, tct_neighbours neighbours, const uint64_t *seed, tct_mech **out,
                        tct_error *err) {
  *out = NULL;
  tct_mech *mech = TCT_NEW(tct_mech, 1);
  if (!mech) return tct_fail_memory(err);
  mech->neighbours = neighbours;
  tct_status status = fill(mech, promise, seed, err);
  if (status != TCT_OK) {
    tct_mech_free(mech);
    return status;
  }
  *out = mech;
  return TCT_OK;
}

tct_status tct_mech_share(tct_mech *mech, tct_team *team, tct_error *err) {
  mech->team = team;
  return tct_team_broadcast(team, &mech->key, sizeof mech->key, 0, err);
}

tct_team *tct_mech_team(const tct_mech *mech) { return mech ? mech->team : NULL; }

const tct_events *tct_mech_spent(const tct_mech *mech) { return &mech->spent; }

tct_status tct_mech_settled(const tct_mech *mech, tct_error *err) {
  if (mech->open_rate != 0)
    return tct_fail(err, TCT_E_BUDGET,
                    "a batch was drawn and never released; this is a fault of the solver, report it");
  if (mech->promise.adaptive) return TCT_OK; /* the filter refused whatever was too much */
  for (int64_t i = 0; i < mech->promise.events.len; i++)
    if (mech->left[i] != 0 && !mech->promise.at_most)
      return tct_fail(err, TCT_E_BUDGET,
                      "the run spent less than it promised; this is a fault of the solver, report it");
  return TCT_OK;
}

static tct_status refuse(const tct_event *event, tct_error *err) {
  char text[160];
  tct_event_print(event, text, sizeof text);
  return tct_fail(err, TCT_E_BUDGET,
                  "a release (%s) is not covered by the promise; nothing was drawn, report this fault", text);
}

/* The one place where budget is spent. */
static tct_status charge(tct_mech *mech, const tct_event *event, tct_error *err) {
  if (mech->parts.count) tct_stream_wipe(&mech->stream);
  mech->parts.count = 0;
  if (mech->promise.adaptive) {
    TCT_TRY(tct_filter_spend(&mech->promise.filter, event, err));
    return tct_events_add(&mech->spent, *event, err);
  }
  for (int64_t i = 0; i < mech->promise.events.len; i++) {
    if (!tct_event_same(&mech->promise.events.at[i], event) || mech->left[i] < event->count) continue;
    TCT_TRY(tct_events_add(&mech->spent, *event, err));
    mech->left[i] -= event->count;
    return TCT_OK;
  }
  return refuse(event, err);
}

static tct_status check_lattice(const double *sum, int64_t len, double lattice, tct_error *err) {
  double inverse = 1 / lattice, limit = 4503599627370496.0; /* 2^52 */
  int off = 0;
  for (int64_t j = 0; j < len; j++) {
    double k = sum[j] * inverse;
    off |= !(fabs(k) <= limit) || k != rint(k);
  }
  if (off)
    return tct_fail(err, TCT_E_BUDGET, "a sum is off its lattice, so its sensitivity is not proved; report this fault");
  return TCT_OK;
}

static void observe(tct_mech *mech, const tct_event *event, double reach, const double *before, double *after,
                    int64_t len) {
  if (mech->probe) mech->probe(mech->probe_user, event, reach, before, after, len);
}

/* Rank 0 draws, from a stream of the release's own or from `open`; the others receive what it released. */
static tct_status add_noise_from(tct_mech *mech, tct_stream *open, const tct_event *event, double reach, double lattice,
                                 double *sum, int64_t len, tct_error *err) {
  if (tct_team_own(mech->team) == 0) {
    double *before = NULL;
    if (mech->probe) {
      before = TCT_NEW(double, len);
      if (!before) return tct_fail_memory(err);
      memcpy(before, sum, (size_t)len * sizeof *sum);
    }
    double sigma = event->noise * reach;
    for (int64_t j = 0; j < len && sigma > 0; j++)
      sum[j] += event->kind == TCT_EV_LAPLACE ? tct_discrete_laplace(open, sigma, lattice)
                                              : tct_rounded_gaussian(open, sigma, lattice);
    observe(mech, event, reach, before, sum, len);
    tct_wipe_free(before, len, sizeof *before);
  }
  return tct_team_broadcast(mech->team, sum, len * (int64_t)sizeof *sum, 0, err);
}

static tct_status add_noise(tct_mech *mech, const tct_event *event, double reach, double lattice, double *sum,
                            int64_t len, tct_error *err) {
  tct_stream own;
  tct_stream_open(&own, &mech->key, TCT_PURPOSE_NOISE, mech->releases++);
  tct_status status = add_noise_from(mech, &own, event, reach, lattice, sum, len, err);
  tct_stream_wipe(&own);
  return status;
}

/* Every part lies on the lattice, and so does their sum, exact in any order; its size is looked at once more. */
static tct_status release_sum(tct_mech *mech, const tct_event *event, double reach, double lattice, double *sum,
                              int64_t len, tct_error *err) {
  TCT_TRY(check_lattice(sum, len, lattice, err));
  TCT_TRY(charge(mech, event, err));
  TCT_TRY(tct_team_sum_first(mech->team, sum, len, err));
  if (tct_team_own(mech->team) == 0 && tct_team_ranks(mech->team) > 1) TCT_TRY(check_lattice(sum, len, lattice, err));
  return add_noise(mech, event, reach, lattice, sum, len, err);
}

tct_status tct_mech_sum(tct_mech *mech, double noise, double reach, double lattice, double *sum, int64_t len,
                        tct_error *err) {
  tct_event event = tct_event_gaussian(noise, 1);
  return release_sum(mech, &event, reach, lattice, sum, len, err);
}

tct_status tct_mech_part(tct_mech *mech, bool first, double noise, double reach, double lattice, double *sum,
                         tct_error *err) {
  tct_event event = tct_event_gaussian(noise, 1);
  TCT_TRY(check_lattice(sum, 1, lattice, err));
  if (!first && !(mech->parts.count && tct_event_same(&mech->parts, &event))) return refuse(&event, err);
  if (first) {
    TCT_TRY(charge(mech, &event, err));
    mech->parts = event;
    tct_stream_open(&mech->stream, &mech->key, TCT_PURPOSE_NOISE, mech->releases++);
  }
  TCT_TRY(tct_team_sum_first(mech->team, sum, 1, err));
  if (tct_team_own(mech->team) == 0 && tct_team_ranks(mech->team) > 1) TCT_TRY(check_lattice(sum, 1, lattice, err));
  return add_noise_from(mech, &mech->stream, &event, reach, lattice, sum, 1, err);
}

tct_status tct_mech_value(tct_mech *mech, const tct_event *event, double reach, double lattice, double *value,
                          int64_t len, tct_error *err) {
  TCT_TRY(check_lattice(value, len, lattice, err));
  TCT_TRY(charge(mech, event, err));
  return add_noise(mech, event, reach, lattice, value, len, err);
}

tct_status tct_mech_batch(tct_mech *mech, double rate, int64_t row0, int64_t rows, int64_t *out, int64_t *count,
                          tct_error *err) {
  if (mech->open_rate != 0)
    return tct_fail(err, TCT_E_BUDGET, "a second batch was drawn before the first was released; report this fault");
  if (!(rate > 0 && rate <= 1)) return tct_fail(err, TCT_E_USAGE, "a sampling rate must lie in (0, 1]");
  mech->open_rate = rate;
  *count = tct_poisson_batch(&mech->key, mech->iterations++, rate, row0, rows, out);
  return TCT_OK;
}

tct_status tct_mech_sampled_sum(tct_mech *mech, double noise, double rate, double reach, double lattice, double *sum,
                                int64_t len, tct_error *err) {
  tct_event event = tct_event_sampled_gaussian(noise, rate, 1);
  if (mech->open_rate != rate)
    return tct_fail(err, TCT_E_BUDGET,
                    "a sampled release is charged at a rate other than its batch was drawn at; report this fault");
  tct_status status = release_sum(mech, &event, reach, lattice, sum, len, err);
  if (status == TCT_OK) mech->open_rate = 0;
  return status;
}

tct_status tct_mech_state_noise(tct_mech *mech, double sigma, double lattice, double *value, int64_t len,
                                tct_error *err) {
  int64_t before = 0;
  TCT_TRY(tct_mech_before(mech, len, &before, err));
  tct_stream s;
  tct_stream_open(&s, &mech->key, TCT_PURPOSE_NOISE, mech->releases++);
  for (int64_t j = 0; j < before && sigma > 0; j++) tct_rounded_gaussian(&s, sigma, lattice);
  for (int64_t j = 0; j < len && sigma > 0; j++) value[j] += tct_rounded_gaussian(&s, sigma, lattice);
  tct_stream_wipe(&s);
  return TCT_OK;
}

tct_status tct_mech_gaussian_vector(tct_mech *mech, tct_event event, double sigma, double lattice, double *value,
                                    int64_t len, tct_error *err) {
  TCT_TRY(charge(mech, &event, err));
  uint64_t release = mech->releases++;
  if (tct_team_own(mech->team) == 0) {
    tct_stream s;
    tct_stream_open(&s, &mech->key, TCT_PURPOSE_NOISE, release);
    for (int64_t j = 0; j < len; j++) value[j] = sigma > 0 ? tct_rounded_gaussian(&s, sigma, lattice) : 0;
    tct_stream_wipe(&s);
    observe(mech, &event, sigma / (event.noise > 0 ? event.noise : 1), value, value, len);
  }
  return tct_team_broadcast(mech->team, value, len * (int64_t)sizeof *value, 0, err);
}

tct_status tct_mech_laplace_sum(tct_mech *mech, double noise, double reach, double lattice, double *sum, int64_t len,
                                tct_error *err) {
  tct_event event = tct_event_laplace(noise, 1);
  return release_sum(mech, &event, reach, lattice, sum, len, err);
}

/* A record is in the batch with probability rate, so the choice's law is a mixture of the law without the record and
 * one that is epsilon-close to it: epsilon-DP becomes log(1 + rate*(exp(epsilon) - 1)) (Balle, Barthe and Gaboardi
 * 2018, Theorem 8).  Rounded up. */
tct_event tct_choice_event(const tct_choice *choice) {
  if (choice->rate < 1) return tct_event_pure(log1p(choice->rate * expm1(choice->epsilon)) * (1 + 1e-14), 1);
  return choice->flip ? tct_event_pure(choice->epsilon, 1) : tct_event_exponential(choice->epsilon, 1);
}

static tct_status check_choice(const tct_mech *mech, const tct_choice *choice, int64_t count, tct_error *err) {
  if (choice->rate < 1 ? mech->open_rate != choice->rate : mech->open_rate != 0)
    return tct_fail(err, TCT_E_BUDGET,
                    "a choice is charged at a rate other than its batch was drawn at; report this fault");
  if (choice->rate < 1 && mech->neighbours != TCT_ADD_REMOVE)
    return tct_fail(err, TCT_E_BUDGET, "a choice over a batch is proved for add_remove only; report this fault");
  if (count < 1 || (choice->flip && count > TCT_FLIP_MOST))
    return tct_fail(err, TCT_E_USAGE, "a choice needs a candidate, and permute and flip takes at most 4096");
  return TCT_OK;
}

tct_status tct_mech_pick(tct_mech *mech, const tct_choice *choice, const double *score, int64_t count, int64_t *index,
                         tct_error *err) {
  tct_event event = tct_choice_event(choice);
  TCT_TRY(check_choice(mech, choice, count, err));
  TCT_TRY(charge(mech, &event, err));
  if (choice->rate < 1) mech->open_rate = 0;
  uint64_t release = mech->releases++;
  if (tct_team_own(mech->team) == 0) {
    tct_stream s;
    tct_stream_open(&s, &mech->key, TCT_PURPOSE_CHOICE, release);
    *index = (choice->flip ? tct_permute_and_flip : tct_exponential_choice)(&s, score, count, choice->epsilon,
                                                                            choice->change, choice->monotone);
    tct_stream_wipe(&s);
    double chosen = (double)*index;
    observe(mech, &event, choice->change, score, &chosen, count);
    if (mech->probe) *index = (int64_t)chosen;
  }
  return tct_team_broadcast(mech->team, index, sizeof *index, 0, err);
}

tct_status tct_mech_choose(tct_mech *mech, double epsilon, double change, bool monotone, const double *score,
                           int64_t count, int64_t *index, tct_error *err) {
  tct_choice choice = {.epsilon = epsilon, .change = change, .rate = 1, .monotone = monotone};
  return tct_mech_pick(mech, &choice, score, count, index, err);
}

bool tct_mech_allows(const tct_mech *mech, const tct_event *event) {
  tct_filter filter = mech->promise.filter;
  if (mech->promise.adaptive) return tct_filter_spend(&filter, event, NULL) == TCT_OK;
  for (int64_t i = 0; i < mech->promise.events.len; i++)
    if (tct_event_same(&mech->promise.events.at[i], event) && mech->left[i] >= event->count) return true;
  return false;
}

tct_status tct_mech_tree_new(int64_t count, double epsilon, double change, bool monotone, double lattice,
                             tct_choice_tree **out, tct_error *err) {
  *out = TCT_NEW(tct_choice_tree, 1);
  if (!*out) return tct_fail_memory(err);
  tct_status status = tct_choice_tree_new(count, epsilon, change, monotone, lattice, *out, err);
  if (status == TCT_OK) return TCT_OK;
  tct_mech_tree_free(*out);
  *out = NULL;
  return status;
}

void tct_mech_tree_free(tct_choice_tree *tree) {
  if (tree) tct_choice_tree_free(tree);
  tct_free(tree);
}

void tct_mech_tree_set(tct_choice_tree *tree, int64_t j, double score) { tct_choice_tree_set(tree, j, score); }

void tct_mech_tree_prefetch(const tct_choice_tree *tree, int64_t j) {
  __builtin_prefetch(&tree->node[tree->leaves + j]);
  __builtin_prefetch(&tree->score[j], 1);
}

tct_status tct_mech_tree_choose(tct_mech *mech, const tct_choice_tree *tree, int64_t *index, tct_error *err) {
  tct_event event = tct_event_exponential(tree->epsilon, 1);
  if (mech->open_rate != 0)
    return tct_fail(err, TCT_E_BUDGET, "a choice over all records was made while a batch is open; report this fault");
  if (tree->off)
    return tct_fail(err, TCT_E_BUDGET, "a score is off its lattice, so its choice is not exact; report this fault");
  TCT_TRY(charge(mech, &event, err));
  uint64_t release = mech->releases++;
  if (tct_team_own(mech->team) == 0) {
    tct_stream s;
    tct_stream_open(&s, &mech->key, TCT_PURPOSE_CHOICE, release);
    *index = tct_choice_tree_draw(tree, &s);
    tct_stream_wipe(&s);
    double chosen = (double)*index;
    observe(mech, &event, tree->change, tree->score, &chosen, tree->count);
    if (mech->probe) *index = (int64_t)chosen;
  }
  return tct_team_broadcast(mech->team, index, sizeof *index, 0, err);
}

uint64_t tct_mech_public(const tct_mech *mech, uint64_t index, uint64_t bound) {
  tct_stream s;
  tct_stream_open(&s, &mech->key, TCT_PURPOSE_ORDER, index);
  uint64_t value = tct_stream_below(&s, bound);
  tct_stream_wipe(&s);
  return value;
}

void tct_mech_shuffle(const tct_mech *mech, uint64_t index, int64_t *order, int64_t count) {
  tct_stream s;
  tct_stream_open(&s, &mech->key, TCT_PURPOSE_ORDER, index);
  for (int64_t i = 0; i < count; i++) order[i] = i;
  for (int64_t i = count - 1; i > 0; i--) { /* Fisher and Yates */
    int64_t j = (int64_t)tct_stream_below(&s, (uint64_t)i + 1), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
  tct_stream_wipe(&s);
}

void tct_mech_probe_test(tct_mech *mech, tct_mech_probe probe, void *user) {
  mech->probe = probe;
  mech->probe_user = user;
}
