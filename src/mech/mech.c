/* mech.c - the gate: charge first, then draw.
 *
 * DISTRIBUTION  Every additive release is x + round(N(0, sigma^2)/g)*g with x on the lattice g*Z.
 *
 * PROOF  x on the lattice gives x + round(sigma*Z) = round(x + sigma*Z): the release is a function of the continuous
 * Gaussian mechanism applied to x.  So every bound for that mechanism (GDP, RDP, PLD, with or without Poisson sampling)
 * holds for the release, by post-processing.  Off the lattice the identity fails and the low-order bits of x would
 * show, hence check_lattice.  The event is charged before the first random bit is drawn; a refused event draws nothing,
 * so a run cannot spend more than its promise.
 *
 * A vector released in parts.  Let a pair of neighbours move part k by at most s_k of its sensitivity, whatever the
 * parts before it were.  The s_k are fixed for the pair, and sum of s_k^2 <= s^2, s the shift of the event.  Part k is
 * dominated by the pair N(0, 1), N(s_k/m, 1), so all parts by the product of these (the theorem named below).  That is
 * the pair of one Gaussian with shift |(s_k)|/m <= s/m: the event gaussian(m).
 *
 * A promise of at most a list (at_most).  The run takes events of the list in an order of its own, or leaves some out,
 * as past releases tell it.  Let V(left) be the largest hockey-stick divergence of what is yet to come. Whichever event
 * comes next, it is dominated by its pair.  Given its outcome the rest is, by induction, dominated by the product of
 * the pairs left.  Dominating pairs compose (Zhu, Dong and Wang 2022, Theorem 10), so the two together are dominated by
 * the product of all.  That product does not know which came first.  Leaving out is post-processing.
 *
 * Laplace sums are brought to at most 2^52 lattices in size, which is post-processing.  So a value has 2^53 + 1
 * outcomes and no tail of the noise is told apart beyond them.
 *
 * Blended releases.  Let M be a release of `len` such values that is within total variation eta of an epsilon-DP one.
 * It is replaced by a uniform one on all N = (2^53 + 1)^len outcomes with probability 2^-128.  For every outcome
 *   M_D <= e^epsilon M_D' + (1 + e^epsilon) eta,
 * and where eta <= 2^-128 tanh(epsilon/2)/N the uniform part pays for the last term: the mixture is epsilon-DP, at
 * delta 0 (tct_blend_exponent).
 *
 * ROUNDING  sum + noise is exact: both are multiples of g below 2^52*g in magnitude by the choice of g
 * (tct_lattice_spacing).  The Gaussian tail beyond 2^7 sigma has probability below 2^-11000.  Its sum would round to a
 * neighbouring multiple of 2g, which is again post-processing of the released value. */
#include "mech/gate.h"

#include "core/alloc.h"
#include "core/point.h"
#include "core/stop.h"
#include "mech/joint.h"
#include "ranks/ranks.h"

#include <math.h>
#include <string.h>

void tct_mech_free(tct_mech *mech) {
  if (!mech) return;
  tct_promise_free(&mech->promise);
  tct_events_free(&mech->spent);
  tct_joint_forget(mech);
  tct_wipe_free(mech, 1, sizeof *mech);
}

static tct_status fill(tct_mech *mech, const tct_promise *promise, const uint64_t *seed, tct_error *err) {
  TCT_TRY(TCT_POINT(gate_takes_any_promise, tct_promise_check(promise, err), TCT_OK));
  TCT_TRY(tct_promise_copy(&mech->promise, promise, err));
  for (int r = 0; r < promise->count; r++) mech->left[r] = promise->release[r].event.count;
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
  tct_gate_watch(mech);
  *out = mech;
  return TCT_OK;
}

tct_status tct_mech_join_ranks(tct_mech *mech, tct_team *team, tct_error *err) {
  mech->team = team;
  return TCT_POINT(ranks_keep_their_own_keys, tct_team_broadcast(team, &mech->key, sizeof mech->key, 0, err), TCT_OK);
}

tct_team *tct_mech_team(const tct_mech *mech) { return mech ? mech->team : NULL; }

const tct_events *tct_mech_spent(const tct_mech *mech) { return &mech->spent; }

tct_status tct_mech_spent_exactly(const tct_mech *mech, tct_error *err) {
  if (TCT_POINT(open_batch_accepted_at_the_end, mech->batch, 0) || mech->parts_left)
    return tct_fail(
        err, TCT_E_BUDGET,
        "a batch was drawn, or a vector begun, and never released; this is a fault of the solver, report it");
  if (mech->promise.kind != TCT_PROMISE_FIXED) return TCT_OK; /* whatever was too much was refused */
  for (int r = 0; r < mech->promise.count; r++)
    if (TCT_POINT(unspent_run_accepted, mech->left[r] != 0, false))
      return tct_fail(err, TCT_E_BUDGET,
                      "the run spent less than it promised; this is a fault of the solver, report it");
  return tct_joint_settled(mech, err);
}

/* ---- what may be released ------------------------------------------------------------------------------- */

tct_status tct_gate_refuse(const tct_release *release, tct_error *err) {
  return tct_fail(err, TCT_E_BUDGET,
                  "a release (%s) is not covered by the promise; nothing was drawn, report this fault",
                  release && release->what ? release->what : "one that was not planned");
}

static tct_release *at(tct_mech *mech, int r) {
  return r >= 0 && r < mech->promise.count ? &mech->promise.release[r] : NULL;
}

const tct_release *tct_mech_release_of(const tct_mech *mech, int r) { return at((tct_mech *)mech, r); }

tct_status tct_mech_set_clip(tct_mech *mech, int r, double clip, tct_error *err) {
  tct_release *release = at(mech, r);
  if (!release || !release->follows) return tct_gate_refuse(release, err);
  release->clip = clip;
  release->sensitivity = clip * release->ratio;
  release->lattice = NAN;
  return tct_release_settle(release, err);
}

tct_status tct_mech_set_fine(tct_mech *mech, int r, tct_error *err) {
  tct_release *release = at(mech, r);
  if (!release || !release->follows) return tct_gate_refuse(release, err);
  release->bits = 0;
  return TCT_OK;
}

tct_status tct_mech_set_noise(tct_mech *mech, int r, double value, tct_error *err) {
  tct_release *release = at(mech, r);
  if (!release || !release->open || mech->promise.kind != TCT_PROMISE_BUDGET) return tct_gate_refuse(release, err);
  release->lattice = NAN;
  if (tct_release_chooses(release)) {
    release->epsilon = value;
    release->event = tct_release_choice_event(release);
  } else {
    release->noise = release->event.noise = value;
  }
  return tct_release_settle(release, err);
}

static tct_event event_of(const tct_release *release) {
  tct_event event = release->event;
  event.count = 1;
  return event;
}

bool tct_mech_allows(const tct_mech *mech, int r) {
  const tct_release *release = tct_mech_release_of(mech, r);
  if (!release || !(release->lattice > 0)) return false;
  if (mech->promise.kind != TCT_PROMISE_BUDGET) return mech->left[r] > 0;
  tct_filter filter = mech->promise.filter;
  tct_event event = event_of(release);
  return tct_filter_spend(&filter, &event, NULL) == TCT_OK;
}

tct_status tct_gate_ready(const tct_mech *mech, int r, bool chooses, tct_error *err) {
  if (TCT_POINT(release_after_the_stop, tct_stopping(), false))
    return tct_fail_cancelled(err); /* what was computed since is not what was planned */
  const tct_release *release = tct_mech_release_of(mech, r);
  if (!release || tct_release_chooses(release) != chooses ||
      TCT_POINT(unsettled_release_accepted, !(release->lattice > 0), false))
    return tct_gate_refuse(release, err);
  if (mech->batch == (release->rate < 1 ? r + 1 : 0)) return TCT_OK;
  return tct_fail(err, TCT_E_BUDGET,
                  "a release is charged at a rate other than its batch was drawn at; report this fault");
}

tct_status tct_gate_charge(tct_mech *mech, int r, tct_error *err) {
  tct_event event = event_of(&mech->promise.release[r]);
  if (mech->vector) tct_stream_wipe(&mech->stream);
  mech->vector = 0;
  if (mech->promise.kind == TCT_PROMISE_BUDGET) {
    TCT_TRY(tct_filter_spend(&mech->promise.filter, &event, err));
    return tct_events_add(&mech->spent, event, err);
  }
  if (TCT_POINT(promise_unchecked, mech->left[r] < 1, false)) return tct_gate_refuse(&mech->promise.release[r], err);
  TCT_TRY(tct_events_add(&mech->spent, event, err));
  mech->left[r] -= 1;
  return TCT_OK;
}

/* Each draw has a stream of its own. */
static uint64_t next_stream(tct_mech *mech) {
  return TCT_POINT(noise_stream_used_twice, mech->releases++, mech->releases);
}

static void open_next(tct_mech *mech, tct_stream *stream) {
  tct_stream_open(stream, &mech->key, TCT_PURPOSE_NOISE, next_stream(mech));
}

/* ---- sums ------------------------------------------------------------------------------------------------ */

static tct_status check_lattice(const double *sum, int64_t len, double lattice, tct_error *err) {
  double inverse = 1 / lattice, limit = 4503599627370496.0; /* 2^52 */
  int off = 0;
  for (int64_t j = 0; j < len; j++) {
    double k = sum[j] * inverse;
    off |= !(fabs(k) <= limit) || k != rint(k);
  }
  if (TCT_POINT(sum_off_its_lattice_accepted, off, 0))
    return tct_fail(err, TCT_E_BUDGET, "a sum is off its lattice, so its sensitivity is not proved; report this fault");
  return TCT_OK;
}

void tct_gate_observe(tct_mech *mech, const tct_release *release, const double *before, double *after, int64_t len) {
  tct_event event = event_of(release);
  mech->observed = (int)(release - mech->promise.release);
  if (mech->probe) mech->probe(mech->probe_user, &event, release->sensitivity, before, after, len);
}

static const uint64_t most_steps = (uint64_t)1 << 52; /* a Laplace release is at most so many lattices in size */

double tct_blend_exponent(double epsilon, double len) {
  return TCT_POINT(blend_without_its_outcomes, len, 1) * log(2.0 * (double)most_steps + 1) + 128 * M_LN2 -
         log(tanh(0.5 * epsilon)) + 1;
}

/* With a chance of 2^-128. */
static bool hardly_ever(tct_stream *stream) {
  uint64_t high = tct_stream_u64(stream);
  return (high | tct_stream_u64(stream)) == 0;
}

/* Of a vector that takes seconds to draw. */
static bool cut_short(int64_t drawn) { return drawn % 4096 == 4095 && tct_stopping(); }

/* See PROOF. */
static void add_laplace(tct_stream *stream, const tct_release *release, double *sum, int64_t len) {
  double g = release->lattice, limit = (double)most_steps * g;
  bool uniform = release->blend && hardly_ever(stream);
  for (int64_t j = 0; j < len; j++) {
    if (cut_short(j)) return;
    double value = sum[j] + tct_discrete_laplace(stream, release->deviation, g);
    sum[j] = value > limit ? limit : value < -limit ? -limit : value;
    if (uniform) sum[j] = (double)tct_stream_below(stream, 2 * most_steps + 1) * g - limit;
  }
}

/* Rank 0 draws; the others receive what it released. */
static tct_status add_noise(tct_mech *mech, tct_stream *stream, const tct_release *release, double *sum, int64_t len,
                            tct_error *err) {
  if (tct_team_own(mech->team) == TCT_POINT(noise_on_no_rank, 0, tct_team_ranks(mech->team) - 1)) {
    double *before = NULL;
    if (mech->probe) {
      before = TCT_NEW(double, len);
      if (!before) return tct_fail_memory(err);
      memcpy(before, sum, (size_t)len * sizeof *sum);
    }
    bool laplace = release->law == TCT_LAW_LAPLACE;
    if (laplace && release->deviation > 0) add_laplace(stream, release, sum, len);
    double sigma = TCT_POINT(gate_half_noise, release->deviation, M_SQRT1_2 * release->deviation);
    for (int64_t j = 0; j < len && sigma > 0 && !laplace && !cut_short(j); j++)
      sum[j] += tct_rounded_gaussian(stream, sigma, release->lattice);
    bool whole = TCT_POINT(noise_cut_short_and_released, !tct_stopping(), true);
    if (whole) tct_gate_observe(mech, release, before, sum, len);
    tct_wipe_free(before, len, sizeof *before);
    if (!whole) return tct_fail_cancelled(err); /* with some of its noise only */
  }
  return tct_team_broadcast(mech->team, sum, len * (int64_t)sizeof *sum, 0, err);
}

/* Every part lies on the lattice, and so does their sum, exact in any order; its size is looked at once more. */
static tct_status sum_over_ranks(tct_mech *mech, const tct_release *release, double *sum, int64_t len, tct_error *err) {
  if (release->whole) return TCT_OK;
  TCT_TRY(tct_team_sum_first(mech->team, sum, len, err));
  if (tct_team_own(mech->team) != 0 || tct_team_ranks(mech->team) == 1) return TCT_OK;
  return check_lattice(sum, len, release->lattice, err);
}

/* The first part charges the event; the others go on with its stream. */
static tct_status next_part(tct_mech *mech, int r, tct_error *err) {
  const tct_release *release = &mech->promise.release[r];
  if (mech->parts_left > 0 && mech->vector != r + 1)
    return tct_gate_refuse(release, err); /* another release came between */
  if (mech->parts_left == 0) {
    TCT_TRY(TCT_POINT(parts_never_charged, tct_gate_charge(mech, r, err), TCT_OK));
    mech->vector = r + 1;
    mech->parts_left = release->parts;
    open_next(mech, &mech->stream);
  }
  mech->parts_left--;
  return TCT_OK;
}

static tct_status release_part(tct_mech *mech, int r, double *sum, tct_error *err) {
  const tct_release *release = &mech->promise.release[r];
  TCT_TRY(next_part(mech, r, err));
  TCT_TRY(sum_over_ranks(mech, release, sum, 1, err));
  return add_noise(mech, &mech->stream, release, sum, 1, err);
}

tct_status tct_mech_release(tct_mech *mech, int r, double *sum, int64_t len, tct_error *err) {
  TCT_TRY(tct_gate_ready(mech, r, false, err));
  const tct_release *release = &mech->promise.release[r];
  if (release->terms == 0 || release->drawers || (release->parts > 0 && len != 1)) return tct_gate_refuse(release, err);
  TCT_TRY(check_lattice(sum, len, release->lattice, err));
  if (release->parts > 0) return release_part(mech, r, sum, err);
  TCT_TRY(TCT_POINT(release_never_charged, tct_gate_charge(mech, r, err), TCT_OK));
  TCT_TRY(sum_over_ranks(mech, release, sum, len, err));
  tct_stream own;
  open_next(mech, &own);
  tct_status status = add_noise(mech, &own, release, sum, len, err);
  tct_stream_wipe(&own);
  if (status == TCT_OK) mech->batch = 0;
  return status;
}

void tct_mech_use_threads(tct_mech *mech, int threads) { mech->threads = threads; }

tct_status tct_mech_batch(tct_mech *mech, int r, int64_t row0, int64_t rows, int64_t *out, int64_t *count,
                          tct_error *err) {
  const tct_release *release = at(mech, r);
  if (mech->batch)
    return tct_fail(err, TCT_E_BUDGET, "a second batch was drawn before the first was released; report this fault");
  if (!release || !(release->rate > 0 && release->rate < 1)) return tct_gate_refuse(release, err);
  mech->batch = r + 1;
  *count = tct_poisson_batch_by(mech->threads, &mech->key, mech->iterations++,
                                TCT_POINT(batch_rate_doubled, release->rate, fmin(1, 2 * release->rate)),
                                TCT_POINT(batch_by_the_number_within_a_rank, row0, 0), rows, out);
  tct_gate_force_batch(row0, rows, out, count);
  return TCT_OK;
}

/* ---- noise without a sum ----------------------------------------------------------------------------------- */

tct_status tct_mech_state_noise(tct_mech *mech, int r, double *value, int64_t len, tct_error *err) {
  const tct_release *release = at(mech, r);
  if (!release || !(release->lattice > 0)) return tct_gate_refuse(release, err);
  double sigma = release->deviation, lattice = release->lattice;
  int64_t before = 0;
  TCT_TRY(tct_mech_count_before(mech, len, &before, err));
  tct_stream s;
  open_next(mech, &s);
  for (int64_t j = 0; j < before && sigma > 0; j++) tct_rounded_gaussian(&s, sigma, lattice);
  for (int64_t j = 0; j < len && sigma > 0; j++) value[j] += tct_rounded_gaussian(&s, sigma, lattice);
  tct_stream_wipe(&s);
  return TCT_OK;
}

/* A vector of density ~ exp(-|b|/scale): its length is scale times the sum of len exponential numbers, its direction
 * that of a Gaussian vector, uniform and independent of the length.  Directions of vectors shorter than sqrt(len)/4 are
 * drawn again, so that rounding turns none by much; docs/proofs/objpert.md has what that costs. */
static void draw_gamma(tct_stream *s, const tct_release *release, double *value, int64_t len) {
  double length = 0, norm2 = 0, g = release->lattice;
  for (int64_t j = 0; j < len; j++) length += tct_exponential_floor(s, 1, g);
  while (!(norm2 >= (double)len / 16)) {
    norm2 = 0;
    for (int64_t j = 0; j < len; j++) {
      value[j] = TCT_POINT(gamma_direction_not_uniform, tct_rounded_gaussian(s, 1, g), tct_discrete_laplace(s, 1, g));
      norm2 += value[j] * value[j];
    }
  }
  double factor = TCT_POINT(gamma_length_halved, release->deviation, release->deviation / 2) * length / sqrt(norm2);
  for (int64_t j = 0; j < len; j++) value[j] *= factor;
}

/* Numbers of a release's law; 0 where there is no noise. */
static void draw_whole(tct_stream *s, const tct_release *release, double *value, int64_t len) {
  double sigma = release->deviation;
  if (sigma > 0 && release->law == TCT_LAW_GAMMA) {
    draw_gamma(s, release, value, len);
    return;
  }
  for (int64_t j = 0; j < len; j++) value[j] = sigma > 0 ? tct_rounded_gaussian(s, sigma, release->lattice) : 0;
}

tct_status tct_mech_draw(tct_mech *mech, int r, double *value, int64_t len, tct_error *err) {
  TCT_TRY(tct_gate_ready(mech, r, false, err));
  const tct_release *release = &mech->promise.release[r];
  if (release->terms != 0) return tct_gate_refuse(release, err);
  TCT_TRY(TCT_POINT(draw_never_charged, tct_gate_charge(mech, r, err), TCT_OK));
  uint64_t number = next_stream(mech);
  if (tct_team_own(mech->team) == 0) {
    tct_stream s;
    tct_stream_open(&s, &mech->key, TCT_PURPOSE_NOISE, number);
    draw_whole(&s, release, value, len);
    tct_stream_wipe(&s);
    tct_gate_observe(mech, release, value, value, len);
  }
  return tct_team_broadcast(mech->team, value, len * (int64_t)sizeof *value, 0, err);
}

void tct_mech_probe_test(tct_mech *mech, tct_mech_probe probe, void *user) {
  mech->probe = probe;
  mech->probe_user = user;
}
