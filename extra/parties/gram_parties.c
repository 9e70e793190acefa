/* gram_parties.c - least squares over columns in several hands, as good as pooled: one noisy Gram matrix from secure
 * sums.
 *
 * PROBLEM  min over w of (1/n) sum_i (x_i.w - y_i)^2/2 + psi(w).  Party k holds the columns of block k of every record.
 * All parties or the first alone hold the labels.  The server holds nothing.
 *
 * ALGORITHM  Additive sharing modulo 2^64 with correlated randomness from a server that conspires with nobody; the
 * products are those of Beaver (1991) for matrices.  The noise is drawn by the parties.
 *   1. party k cuts its part x of every record to norm R_k and to multiples of 2^-f; a_k = mask of its own seed
 *   2. the seed goes to the server, u_k = x_k - a_k to the other parties, in blocks of rows
 *   3. the server deals a_j' a_k: a share from party j's seed, the rest to k
 *   4. X_j' X_k = u_j' x_k (by k) + a_j' u_k (by j) + a_j' a_k; X_k' X_k and X_k' y are local
 *   5. each party adds its noise and a share of zero, and sends its share of the upper triangle
 *   6. the server adds the shares: X'X + N and X'y + N'.  The rest is post-processing (solve/shared/statistics.c)
 *
 * SENSITIVITY  |x_k| <= R_k is enforced by party k, and sum R_k^2 <= R^2, so |x| <= R without a joint norm.  One record
 * adds x x' to the matrix, of Frobenius norm |x|^2 <= R^2, and y x to the vector, of norm <= R Y.  Cutting toward zero
 * lengthens neither x nor y.  Sums are of integers, so exact.  Under replace_one an event's shift is twice its
 * sensitivity.  The inner product of two such matrices is (x.x')^2 >= 0, so they differ by at most sqrt(2) R^2, and the
 * sensitivity of the matrix is R^2/sqrt(2).
 *
 * RELEASES  gaussian(m/sqrt(split)), c = R^2 (or R^2/sqrt(2)), on the symmetric matrix with Frobenius' norm, and
 * gaussian(m/sqrt(1 - split)), c = R Y; both joint (mech/joint.c has the lemma on sums of rounded Gaussians).  Each of
 * K parties draws variance s^2/(K - T): any T of them together face s^2, server and outsiders K/(K - T) times as much.
 * With server_noise each draws s^2/K and the server s^2 more: it faces s^2, any parties together s^2 and more,
 * outsiders 2 s^2. What each sees of data is in wire/ring_share.c: uniform words, and what was opened.
 *
 * COST  n p_k words to each other party, p(p+1)/2 + p to the server; n p^2/K products a party, n p^2/2 at the server.
 * Memory of a party: its table, blocks of about a megabyte, p^2 words.
 *
 * DEPARTS  The sums are Beaver's; the noise in shares with an exact Gaussian account, the split and the rule for noise
 * in the Gram matrix are this program's. */
#include "parties/gram_parties.h"

#include "solve/shared/weight_bound.h"

/* Parties and server take turns in this process. */
static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  tct_statistics opened = {0};
  tct_gram_stage *stage = NULL;
  TCT_TRY(tct_gram_stage_new(problem, plan, mech, NULL, &stage, err));
  tct_status status = tct_gram_stage_play(stage, problem, &opened, err);
  tct_gram_stage_free(stage);
  if (status == TCT_OK) status = tct_gram_fit(problem->facts, plan, &opened, w, err);
  tct_statistics_free(&opened);
  return status;
}

tct_status tct_gram_fit(const tct_facts *facts, const tct_solver_plan *plan, tct_statistics *opened, double *w,
                        tct_error *err) {
  tct_gram set;
  TCT_TRY(tct_gram_settings(facts, plan, &set, err));
  opened->gram_noise = tct_gram_noise(plan, TCT_GRAM_MATRIX);
  return tct_statistics_fit(opened, &facts->penalty, set.cleaning, w, err);
}

double tct_gram_noise(const tct_solver_plan *plan, int r) {
  const tct_release *release = &plan->promise.release[r];
  return sqrt(release->drawers * release->part * release->part + release->added * release->added);
}

/* All noise counts, also that of parties that an observer may know. */
static double weight_bound(const tct_facts *facts, const tct_solver_plan *plan) {
  tct_gram set;
  tct_release gram = plan->promise.release[TCT_GRAM_MATRIX], moment = plan->promise.release[TCT_GRAM_MOMENT];
  double n = (double)facts->rows, p = (double)facts->p;
  if (tct_gram_settings(facts, plan, &set, NULL) != TCT_OK) return INFINITY;
  gram.deviation = tct_gram_noise(plan, TCT_GRAM_MATRIX), moment.deviation = tct_gram_noise(plan, TCT_GRAM_MOMENT);
  double largest = n * gram.clip + p * tct_noise_max(&gram, p * p) + n * facts->penalty.l2;
  double pull = n * moment.clip + sqrt(p) * tct_noise_max(&moment, p);
  return tct_statistics_weight_bound(facts, set.cleaning, gram.deviation, pull, largest);
}

const tct_solver tct_solver_gram_parties = {
    .name = "gram_parties",
    .summary =
        "least squares over columns of several parties by secure sums, in a session, as good as "
        "pooled, if the server conspires with nobody and parties are honest; on one file: a simulation of it",
    .options = tct_gram_options,
    .by_parties = true,
    .over_wire = true,
    .is_private = true,
    .relations = TCT_RELATION_BOTH,
    .penalises_intercept = true,
    .plan = tct_gram_plan,
    .run = run,
    .observers = tct_gram_observers,
    .condition = tct_gram_condition,
    .weight_bound = weight_bound,
};
