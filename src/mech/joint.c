/* joint.c - noise drawn in parts by several, for a sum that is opened once.
 *
 * DISTRIBUTION  Party k adds round(Z_k/g)*g to every number, Z_k ~ N(0, s_k^2) independent, g the lattice.  The opened
 * value is x + R_1 + ... + R_K, x on the lattice, R_k the rounded noises.
 *
 * PROOF  A sum of rounded Gaussians is no rounded Gaussian.  In units of g let H >= 2 parties draw R_k = round(Z_k),
 * and S = Z_1 + ... + Z_H + U_2 + ... + U_H with U_k uniform on (-1/2, 1/2), all independent. s = min s_k >= 1, H <=
 * 64.
 *
 * Lemma.  The laws of R_1 + ... + R_H and of round(S) differ in total variation by at most (W + 1) 8 H^2 e^(-pi^2 s^2)
 * + 2 H e^(-w^2/2), for every w, W = H (w max s_k + 1).
 *
 * Let f_k(t) = exp(-2 pi^2 s_k^2 t^2) and c(t) = sin(pi t)/(pi t).  To round is to add a uniform and to look at the
 * integers alone, which makes a transform periodic.  So that of R_k is the sum over m of (f_k c)(t + m), |t| <= 1/2.
 * Multiply over k.  The terms with one m for all k sum to the transform of round(S), since S + U_1 has the product of
 * all f_k c.  What is left are terms with two different m, m'.  There |t + m| + |t + m'| >= 1, so the two factors are
 * at most exp(-2 pi^2 s^2 ((t + m)^2 + (t + m')^2)) <= exp(-pi^2 s^2).  Over all m, m' these sum to at most 4 exp(-pi^2
 * s^2), and there are H(H - 1)/2 pairs of k.  The other factors sum to at most (1 + 2 exp(-pi^2 s^2/2))^(H - 2) < 3.
 * So the transforms differ by less than 8 H^2 exp(-pi^2 s^2), and so does every point's probability.  W counts the
 * points where no |Z_k| is above w s_k; the rest is the tail of both laws.
 *
 * The plan has s >= 2^20 and s_k < 2^39.  With w = s the bound is below 2^(-10^11) for every number that is opened.  (1
 * + e^epsilon) times that, over all numbers, is what the approximation adds to delta: far below the smallest double.
 *
 * round(x/g + S) = x/g + round(S) for x on the lattice.  So the opened value is a function of x + N(0, sum of s_k^2
 * over the parties) and of uniforms that do not know x.  It is post-processing of the Gaussian mechanism of the
 * *summed* variance.  Whoever knows the noises of some parties subtracts them and faces the same statement about the
 * others.
 *
 * A symmetric matrix: with the inner product of Frobenius its coordinates are the diagonal and sqrt(2) times the
 * entries above it.  Noise s on the diagonal and s/sqrt(2) off it is N(0, s^2 I) there, and |x x^T| = |x|^2.
 *
 * The event is charged before the first random bit.  A party's stream is named by (key, release, party), so that two
 * parties of a simulation share none, and so that a party draws the same bits in both.
 *
 * ROUNDING  None: integers modulo 2^64.  The planned lattice leaves room: n*c + 2^8 deviations stay below 2^62.  A sum
 * that wrapped all the same would be another function of the release: it spoils the model, it shows nothing. */
#include "mech/joint.h"

#include "core/point.h"
#include "core/alloc.h"
#include "mech/gate.h"

#include <math.h>

enum { NAMES = 128 }; /* streams of a release: parties and server */

static int64_t length_of(const tct_release *r) { return r->side * (r->side + 1) / 2; }

/* The event, once for all parties of one process. */
static tct_status charge(tct_mech *mech, int r, int drawer, tct_error *err) {
  const tct_release *release = &mech->promise.release[r];
  bool first = true;
  if (TCT_POINT(joint_noise_twice_for_one_charge, mech->drawn[r][drawer], false)) return tct_gate_refuse(release, err);
  for (int k = 0; k < TCT_DRAWERS; k++) first = first && !mech->drawn[r][k];
  if (first) TCT_TRY(TCT_POINT(joint_noise_never_charged, tct_gate_charge(mech, r, err), TCT_OK));
  mech->drawn[r][drawer] = true;
  return TCT_OK;
}

static uint64_t one(tct_stream *s, double sigma, double g) {
  return sigma > 0 ? (uint64_t)(int64_t)(tct_rounded_gaussian(s, sigma, g) / g) : 0;
}

/* Does the coalition whose eyes the probe has know this noise?  All but `faced` parties, in a ring, and the server. */
static bool known(const tct_mech *mech, const tct_release *release, int drawer) {
  bool server = drawer == TCT_DRAWERS - 1;
  if (mech->coalition < 0) return !server;
  if (mech->coalition == 0) return false;
  return server || (drawer + mech->coalition - 1) % release->drawers < release->drawers - release->faced;
}

static void add(tct_mech *mech, int r, int drawer, double sigma, uint64_t *share, int64_t len) {
  const tct_release *release = &mech->promise.release[r];
  double g = release->lattice,
         off = release->side
                   ? TCT_POINT(joint_noise_short_off_the_diagonal, sigma, sigma * M_SQRT1_2) * M_SQRT1_2 * (1 + 0x1p-50)
                   : sigma;
  int64_t row = 0, end = release->side;
  tct_stream s;
  tct_stream_open(&s, &mech->key, TCT_PURPOSE_JOINT,
                  (uint64_t)r * NAMES + TCT_POINT(joint_one_noise_for_all_parties, (uint64_t)drawer, 0));
  for (int64_t i = 0, diagonal = 0; i < len; i++) {
    bool is_diagonal = release->side && i == diagonal;
    uint64_t noise = one(&s, is_diagonal ? sigma : off, g);
    if (is_diagonal) diagonal += end - row++;
    share[i] += noise;
    if (mech->shown[r] && !known(mech, release, drawer)) mech->shown[r][i] += (double)(int64_t)noise * g;
  }
  tct_stream_wipe(&s);
}

static tct_status begin(tct_mech *mech, int r, int64_t len, tct_error *err) {
  TCT_TRY(tct_gate_ready(mech, r, false, err));
  const tct_release *release = &mech->promise.release[r];
  if (!release->drawers || (release->side && len != length_of(release))) return tct_gate_refuse(release, err);
  if (!mech->probe || mech->shown[r]) return TCT_OK;
  mech->shown[r] = TCT_NEW(double, len);
  return mech->shown[r] ? TCT_OK : tct_fail_memory(err);
}

tct_status tct_mech_join_noise(tct_mech *mech, int r, int drawer, uint64_t *share, int64_t len, tct_error *err) {
  TCT_TRY(begin(mech, r, len, err));
  const tct_release *release = &mech->promise.release[r];
  if (drawer < 0 || drawer >= release->drawers || (release->drawer && release->drawer != drawer + 1))
    return tct_gate_refuse(release, err);
  TCT_TRY(charge(mech, r, drawer, err));
  add(mech, r, drawer, release->part, share, len);
  return TCT_OK;
}

tct_status tct_mech_join_server(tct_mech *mech, int r, uint64_t *sum, int64_t len, tct_error *err) {
  TCT_TRY(begin(mech, r, len, err));
  const tct_release *release = &mech->promise.release[r];
  if (!(release->added > 0) || (release->drawer && release->drawer != TCT_DRAWERS))
    return tct_gate_refuse(release, err);
  TCT_TRY(charge(mech, r, TCT_DRAWERS - 1, err));
  add(mech, r, TCT_DRAWERS - 1, TCT_POINT(joint_server_draws_nothing, release->added, 0), sum, len);
  return TCT_OK;
}

/* Off the diagonal a number counts twice in the norm. */
static void weigh(const tct_release *release, double *value, int64_t len, double weight) {
  int64_t row = 0;
  for (int64_t i = 0, diagonal = 0; i < len && release->side; i++) {
    if (i != diagonal) value[i] *= weight;
    if (i == diagonal) diagonal += release->side - row++;
  }
}

tct_status tct_mech_joined(tct_mech *mech, int r, double *value, int64_t len, tct_error *err) {
  if (!mech->probe || !mech->shown[r]) return TCT_OK;
  const tct_release *release = &mech->promise.release[r];
  double *before = TCT_NEW(double, len);
  if (!before) return tct_fail_memory(err);
  for (int64_t i = 0; i < len; i++) before[i] = value[i] - mech->shown[r][i];
  weigh(release, before, len, M_SQRT2);
  weigh(release, value, len, M_SQRT2);
  tct_gate_observe(mech, release, before, value, len);
  weigh(release, value, len, M_SQRT1_2);
  tct_wipe_free(before, len, sizeof *before);
  return TCT_OK;
}

tct_status tct_joint_settled(const tct_mech *mech, tct_error *err) {
  for (int r = 0; r < mech->promise.count; r++) {
    const tct_release *release = &mech->promise.release[r];
    bool all = true;
    for (int k = 0; k < release->drawers; k++)
      all = all && (mech->drawn[r][k] || (release->drawer && release->drawer != k + 1));
    if (release->drawers && release->added > 0 && !release->drawer) all = all && mech->drawn[r][TCT_DRAWERS - 1];
    if (TCT_POINT(joint_missing_noise_accepted, !all, false))
      return tct_fail(err, TCT_E_BUDGET,
                      "a party's noise is missing from what was opened; this is a fault of the solver, report it");
  }
  return TCT_OK;
}

void tct_joint_forget(tct_mech *mech) {
  for (int r = 0; r < mech->promise.count; r++) tct_free(mech->shown[r]); /* a probe's, of tests alone */
}
