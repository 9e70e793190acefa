/* mech.h - the gate: every release of anything computed from rows goes through here.
 *
 * A mech object holds a promise (release.h: what the plan said will be released), the keys of all randomness, and what
 * has been spent.  A run names a release r by its index in the promise.  The gate charges its event first and draws
 * afterwards; a release that the promise does not hold is refused and nothing is drawn.  No function that draws takes
 * a length, a lattice, a noise or a rate: those are planned.  Nobody else can draw noise: solve/ may not include rng/.
 *
 * Sums are exact.  A solver asks for a release (tct_mech_release_of), cuts each record's own term to its clip, adds
 * terms truncated to its lattice (la/kernels/kernels.h), and hands the sum over.  A sum off its lattice is refused,
 * because then the proof of its sensitivity would not hold. */
#ifndef TCT_MECH_MECH_H
#define TCT_MECH_MECH_H
#include "mech/release.h"

typedef struct tct_mech tct_mech;

/* Opens the gate; copies the promise.  seed NULL: keys from the operating system. */
tct_status tct_mech_new(const tct_promise *promise, tct_neighbours neighbours, const uint64_t *seed, tct_mech **out,
                        tct_error *err);
void tct_mech_free(tct_mech *mech); /* wipes all keys; NULL is fine */
/* Batches may be drawn by so many threads; which rows are in them stays the same. */
void tct_mech_use_threads(tct_mech *mech, int threads);

/* ---- records spread over ranks ------------------------------------------------------------------------
 * A solver works on the rows of its view, which may be a part of all rows.  What it hands to tct_mech_release is
 * the sum over those rows; the gate adds up the parts, rank 0 draws the noise, and all ranks receive the one released
 * value.  A value of which every rank has the whole is planned as such (`whole`).  What a run needs of all rows
 * without releasing it comes from the functions below.  Alone they do nothing. */

/* The ranks that share the rows; takes over rank 0's keys.  Borrows the team.  Collective, as every function here. */
tct_status tct_mech_join_ranks(tct_mech *mech, tct_team *team, tct_error *err);
/* sum[len] <- the sum over all rows.  Exact in any order (la/matrix/lattice.h, la/exact/exact.h) or not reproducible.
 * mech NULL: the rows are all here. */
tct_status tct_mech_join_sum(tct_mech *mech, double *sum, int64_t len, tct_error *err);
/* number[len] <- rank 0's, bit for bit: whatever a processor does to a last digit, all ranks go on from the same. */
tct_status tct_mech_join_first(tct_mech *mech, double *number, int64_t len, tct_error *err);
/* value[len] <- the largest over all ranks. */
tct_status tct_mech_join_max(tct_mech *mech, double *value, int64_t len, tct_error *err);
/* The same as a total where few sums have changed: part[len] are the sums of these rows, list[*count] those of them
 * that have changed, ascending if all have.  total[j] becomes right for every j in anybody's list, and list (room for
 * len) holds all of those. */
tct_status tct_mech_join_some(tct_mech *mech, const double *part, double *total, int64_t len, int64_t *list,
                              int64_t *count, tct_error *err);
tct_team *tct_mech_team(const tct_mech *mech); /* for mech/ only */
/* How many of such counts the ranks before this one have. */
tct_status tct_mech_count_before(const tct_mech *mech, int64_t count, int64_t *before, tct_error *err);

/* What has been spent so far, in order; borrowed. */
const tct_events *tct_mech_spent(const tct_mech *mech);
/* TCT_OK if the run has spent what its promise asks: a fixed one exactly; no batch open, no vector half released. */
tct_status tct_mech_spent_exactly(const tct_mech *mech, tct_error *err);

/* ---- releases ------------------------------------------------------------------------------------------ */

/* Release r as it stands: as planned, or as set since; borrowed.  An index that was not planned is NULL. */
const tct_release *tct_mech_release_of(const tct_mech *mech, int r);

/* For a release planned as `follows`: its clip, a function of earlier releases and of public facts alone, and with it
 * sensitivity, lattice and deviation.  Before each draw whose length is another one. */
tct_status tct_mech_set_clip(tct_mech *mech, int r, double clip, tct_error *err);
/* For a release planned with `bits`: its kernel works in doubles after all, and the lattice need not be coarser. */
tct_status tct_mech_set_fine(tct_mech *mech, int r, tct_error *err);
/* For a release planned as `open` (budget promises): the noise multiplier, or a choice's epsilon, of the next draw. */
tct_status tct_mech_set_noise(tct_mech *mech, int r, double value, tct_error *err);
/* Would the promise still cover release r as it stands?  Charges nothing. */
bool tct_mech_allows(const tct_mech *mech, int r);

/* Draws the Poisson batch of release r: each of the rows enters independently with the planned probability. out[rows]
 * receives the indices (minus row0), ascending.  The batch is open until release r closes it; its size must not become
 * visible. */
tct_status tct_mech_batch(tct_mech *mech, int r, int64_t row0, int64_t rows, int64_t *out, int64_t *count,
                          tct_error *err);

/* value[len] <- value + noise of release r, after charging its event.  A sampled one needs its open batch, and closes
 * it.  A release in parts: len 1, the first part charges the event, the following ones belong to it until all planned
 * parts are made.  Another release between them ends the vector.  The solver's file proves that over all parts of one
 * event a record's own terms have sum (|term|/sensitivity)^2 <= 1, with bounds that are fixed before the first. */
tct_status tct_mech_release(tct_mech *mech, int r, double *value, int64_t len, tct_error *err);

/* value[len] <- numbers of release r's law, after charging its event as it is (for mechanisms whose proof is not an
 * additive sum, such as objective perturbation).  The event's own file proves the claim. */
tct_status tct_mech_draw(tct_mech *mech, int r, double *value, int64_t len, tct_error *err);

/* value[len] += noise of release r's deviation on its lattice, uncharged: noise on state that is never released (the
 * duals of DP-SCD's paper variant).  It protects nothing and therefore costs nothing. */
tct_status tct_mech_state_noise(tct_mech *mech, int r, double *value, int64_t len, tct_error *err);

/* *index <- the choice of release r among count scores, larger ones with more probability: exponential mechanism j with
 * probability ~ exp(epsilon*score[j]/(2*sensitivity)), monotone without the 2.  Scores are multiples of one
 * lattice, at most 2^52 of it in size.  Closes the open batch where the choice is over one. */
tct_status tct_mech_choose(tct_mech *mech, int r, const double *score, int64_t count, int64_t *index, tct_error *err);

/* The same choice where few scores change between draws, without looking at all of them.  Scores are multiples of the
 * release's lattice, at most 2^51 lattices in size, and start at 0. */
typedef struct tct_choice_tree tct_choice_tree;
tct_status tct_mech_tree_new(const tct_mech *mech, int r, int64_t count, tct_choice_tree **out, tct_error *err);
void tct_mech_tree_free(tct_choice_tree *tree); /* wipes the scores; NULL is fine */
void tct_mech_tree_set(tct_choice_tree *tree, int64_t j, double score);
/* Asks the cache for a candidate whose score will be set soon; no effect on any result. */
void tct_mech_tree_prefetch(const tct_choice_tree *tree, int64_t j);
/* r: the release that the tree was made for. */
tct_status tct_mech_tree_choose(tct_mech *mech, int r, const tct_choice_tree *tree, int64_t *index, tct_error *err);

/* ---- public randomness, tests ---------------------------------------------------------------------------- */

/* Public randomness (orders, samplings): uniform on {0..bound-1}, a function of (seed, index) alone. */
uint64_t tct_mech_public(const tct_mech *mech, uint64_t index, uint64_t bound);

/* order[count] <- a uniform permutation of 0..count-1, a function of (seed, index) alone. */
void tct_mech_shuffle(const tct_mech *mech, uint64_t index, int64_t *order, int64_t count);

/* Tests only: sees every release.  before: the noise-free value, as handed over; after: the released value,
 * which the probe may overwrite to force the same past in two worlds. */
typedef void (*tct_mech_probe)(void *user, const tct_event *event, double sensitivity, const double *before,
                               double *after, int64_t len);
/* (a choice: before = the scores [len], after = the chosen index, one number; its event is exponential or pure)  */
void tct_mech_probe_test(tct_mech *mech, tct_mech_probe probe, void *user);
#endif
