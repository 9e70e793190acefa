/* mech.h - the gate: every release of anything computed from rows goes through here.
 *
 * A mech object holds a promise (what the plan said will be spent), the keys of all randomness, and
 * what has been spent.  Each release charges its event first and draws afterwards; an event that the
 * promise does not hold is refused and nothing is drawn.  Nobody else can draw noise: solve/ may not
 * include rng/.
 *
 * Sums are exact.  A solver asks for the lattice of a release, adds lattice-truncated terms
 * (la/kernels/kernels.h), and hands the sum over; a sum that is off its lattice is refused, because then the
 * proof of its sensitivity would not hold. */
#ifndef TCT_MECH_MECH_H
#define TCT_MECH_MECH_H
#include "account/account.h"

/* What a run may spend.  Fixed: exactly `events`; at_most: these or fewer, in any order (proof in mech.c).  Adaptive:
 * whatever `filter` allows, and `events` is the budget as the certificate states it (e.g. one zcdp event). */
typedef struct tct_promise {
  tct_events events;
  bool adaptive;
  bool at_most;
  tct_filter filter;
} tct_promise;
void tct_promise_free(tct_promise *promise);

typedef struct tct_mech tct_mech;

/* Opens the gate; copies the promise.  seed NULL: keys from the operating system. */
tct_status tct_mech_new(const tct_promise *promise, tct_neighbours neighbours, const uint64_t *seed, tct_mech **out,
                        tct_error *err);
void tct_mech_free(tct_mech *mech); /* wipes all keys; NULL is fine */

/* ---- records spread over ranks ------------------------------------------------------------------------
 * A solver works on the rows of its view, which may be a part of all rows.  What it hands to tct_mech_sum and its
 * kin is the sum over those rows; the gate adds up the parts, rank 0 draws the noise, and all ranks receive the one
 * released value.  A number that is no sum over rows goes through tct_mech_value.  What a run needs of all rows
 * without releasing it comes from the functions below.  Alone they do nothing. */

/* The ranks that share the rows; takes over rank 0's keys.  Borrows the team.  Collective, as every function here. */
tct_status tct_mech_share(tct_mech *mech, tct_team *team, tct_error *err);
/* sum[len] <- the sum over all rows.  Exact in any order (la/matrix/lattice.h, la/exact/exact.h) or not reproducible.
 * mech NULL: the rows are all here. */
tct_status tct_mech_total(tct_mech *mech, double *sum, int64_t len, tct_error *err);
/* value[len] <- the largest over all ranks. */
tct_status tct_mech_largest(tct_mech *mech, double *value, int64_t len, tct_error *err);
/* The same as a total where few sums have changed: part[len] are the sums of these rows, list[*count] those of them
 * that have changed, ascending if all have.  total[j] becomes right for every j in anybody's list, and list (room for
 * len) holds all of those. */
tct_status tct_mech_total_some(tct_mech *mech, const double *part, double *total, int64_t len, int64_t *list,
                               int64_t *count, tct_error *err);
tct_team *tct_mech_team(const tct_mech *mech); /* for mech/ only */
/* How many of such counts the ranks before this one have. */
tct_status tct_mech_before(const tct_mech *mech, int64_t count, int64_t *before, tct_error *err);

/* What has been spent so far, in order; borrowed. */
const tct_events *tct_mech_spent(const tct_mech *mech);
/* TCT_OK if the run has spent what its promise allows: a fixed promise exactly, unless it is at_most. */
tct_status tct_mech_settled(const tct_mech *mech, tct_error *err);

/* The lattice spacing g (a power of two) for a sum of `terms` terms of norm <= reach under noise
 * multiplier `noise` (0: none): terms*reach + 2^7*sigma < 2^52*g, and sigma/g in [2^20, 2^40) when noise > 0.
 * NAN where no such g exists (terms above about 2^32 sigma/reach). */
double tct_mech_lattice(double reach, double noise, int64_t terms);

/* Draws the Poisson batch of the next sampled release: each of the rows enters independently with
 * probability rate.  out[rows] receives the indices (minus row0), ascending.  The batch is open until
 * tct_mech_sampled_sum closes it; its size must not become visible. */
tct_status tct_mech_batch(tct_mech *mech, double rate, int64_t row0, int64_t rows, int64_t *out, int64_t *count,
                          tct_error *err);

/* sum[len] <- sum + N(0, (noise*reach)^2 I) on the lattice, after charging sampled_gaussian:noise,rate.
 * Needs an open batch drawn at exactly this rate, and closes it. */
tct_status tct_mech_sampled_sum(tct_mech *mech, double noise, double rate, double reach, double lattice, double *sum,
                                int64_t len, tct_error *err);

/* The same for a sum over all rows; charges gaussian:noise. */
tct_status tct_mech_sum(tct_mech *mech, double noise, double reach, double lattice, double *sum, int64_t len,
                        tct_error *err);

/* One part of a vector's release whose later parts depend on the earlier ones: one number, *sum <- *sum + N(0,
 * (noise*reach)^2). `first` charges gaussian:noise; the parts that follow belong to that event and must have its noise.
 * The solver's file proves that over all parts of one event a record's own terms have sum (|term|/reach)^2 <= 1, with
 * bounds on the parts that are fixed before the first. */
tct_status tct_mech_part(tct_mech *mech, bool first, double noise, double reach, double lattice, double *sum,
                         tct_error *err);

/* value[len] <- value + noise for a value of which every rank holds the whole, not a part; the event is a gaussian or
 * laplace one. */
tct_status tct_mech_value(tct_mech *mech, const tct_event *event, double reach, double lattice, double *value,
                          int64_t len, tct_error *err);

/* value[len] += N(0, sigma^2 I) on a lattice, uncharged: noise on state that is never released (the duals
 * of DP-SCD's paper variant).  It protects nothing and therefore costs nothing. */
tct_status tct_mech_state_noise(tct_mech *mech, double sigma, double lattice, double *value, int64_t len,
                                tct_error *err);

/* Charges `event` as it is (for mechanisms whose proof is not an additive sum, such as objective
 * perturbation) and draws value[len] ~ round(N(0, sigma^2)/g)*g. The event's own file proves the claim. */
tct_status tct_mech_gaussian_vector(tct_mech *mech, tct_event event, double sigma, double lattice, double *value,
                                    int64_t len, tct_error *err);

/* sum[len] <- sum + discrete Laplace of scale noise*reach, reach in the l1 norm; charges laplace:noise. */
tct_status tct_mech_laplace_sum(tct_mech *mech, double noise, double reach, double lattice, double *sum, int64_t len,
                                tct_error *err);

/* Index j with probability ~ exp(epsilon*score[j]/(2*change)); charges exponential:epsilon.  Scores are
 * multiples of one lattice.  monotone: one record moves all scores the same way, the 2 is dropped. */
tct_status tct_mech_choose(tct_mech *mech, double epsilon, double change, bool monotone, const double *score,
                           int64_t count, int64_t *index, tct_error *err);

/* A choice among candidates, in full. */
typedef struct tct_choice {
  double epsilon;
  double change; /* one record moves every score by at most this */
  double rate;   /* below 1: the scores are sums over the open batch, drawn at this rate; add_remove only */
  bool monotone; /* one record moves all scores the same way */
  bool flip;     /* permute and flip (one-sided exponential noise), not the exponential mechanism; at most 4096 */
} tct_choice;
/* What the choice is charged as: exponential:epsilon; pure:epsilon for permute and flip; and
 * pure:log(1 + rate*(exp(epsilon) - 1)) where records were sampled. */
tct_event tct_choice_event(const tct_choice *choice);
/* Charges that event and draws; closes the open batch if rate is below 1. */
tct_status tct_mech_pick(tct_mech *mech, const tct_choice *choice, const double *score, int64_t count, int64_t *index,
                         tct_error *err);

/* Would the promise still cover this event?  Charges nothing. */
bool tct_mech_allows(const tct_mech *mech, const tct_event *event);

/* The same choice where few scores change between draws: what tct_mech_choose does with all `count` scores, without
 * looking at all of them.  epsilon, change and monotone are those of every choice from this tree; scores are
 * multiples of lattice, at most 2^51*lattice in size, and start at 0. */
typedef struct tct_choice_tree tct_choice_tree;
tct_status tct_mech_tree_new(int64_t count, double epsilon, double change, bool monotone, double lattice,
                             tct_choice_tree **out, tct_error *err);
void tct_mech_tree_free(tct_choice_tree *tree); /* wipes the scores; NULL is fine */
void tct_mech_tree_set(tct_choice_tree *tree, int64_t j, double score);
/* Asks the cache for a candidate whose score will be set soon; no effect on any result. */
void tct_mech_tree_prefetch(const tct_choice_tree *tree, int64_t j);
/* Charges exponential:epsilon, then draws. */
tct_status tct_mech_tree_choose(tct_mech *mech, const tct_choice_tree *tree, int64_t *index, tct_error *err);

/* Public randomness (orders, samplings): uniform on {0..bound-1}, a function of (seed, index) alone. */
uint64_t tct_mech_public(const tct_mech *mech, uint64_t index, uint64_t bound);

/* order[count] <- a uniform permutation of 0..count-1, a function of (seed, index) alone. */
void tct_mech_shuffle(const tct_mech *mech, uint64_t index, int64_t *order, int64_t count);

/* Tests only: sees every release.  before: the noise-free value, as handed over; after: the released value,
 * which the probe may overwrite to force the same past in two worlds. */
typedef void (*tct_mech_probe)(void *user, const tct_event *event, double reach, const double *before, double *after,
                               int64_t len);
/* (a choice: before = the scores [len], after = the chosen index, one number; its event is exponential or pure)  */
void tct_mech_probe_test(tct_mech *mech, tct_mech_probe probe, void *user);
#endif
