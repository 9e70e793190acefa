/* objpert.c - objective perturbation: the minimiser of a randomly tilted objective.
 *
 * PROBLEM  min over w of (1/n) sum_i l(x_i.w, y_i) + lambda/2 |w|^2 over all weights, the intercept too, for smooth
 * losses of bounded slope.
 *
 * ALGORITHM  Kifer, Smith and Thakurta 2012, "Private Convex ERM and High-dimensional Regression", Algorithm 1, with
 * the calibration of docs/proofs/objpert.md and approximate minima (Iyengar et al. 2019, Algorithm 1).
 *   0. a record counts min(1, (rho/|x|)^2), rho = norm R.  Its gradient is cut to C = clip S rho, and its l goes on
 *      in a straight line beyond.  Below, l is this loss, R is rho and S is clip S
 *   1. Lambda = max(n lambda, K R^2/(e^a - 1)), a the part of epsilon for the curvature term (in plan)
 *   2. b ~ N(0, sigma^2 I), sigma from (epsilon, delta, a) (in plan)
 *   3. w~ = a point where sum_i l(x_i.w, y_i) + Lambda/2 |w|^2 + b.w has gradient norm <= tau, certified
 *   4. w = w~ rounded to a lattice + Gaussian noise of a size that hides any two such points
 *
 * SENSITIVITY  The exact minimiser w* is the release: b is a function of (data, w*), and the change of variables from b
 * to w* has Jacobian det(H + Lambda I).  One record changes log det by at most a = log(1 + K R^2/Lambda), and moves b
 * by l'(x.w) x, |l'| <= S, |x| <= R, in one direction.  Where l' keeps one sign for a fixed label, the privacy loss is
 * at most max(0, N(mu^2/2, mu^2)) + a with mu = R S/sigma.  Proof in docs/proofs/objpert.md, with the other relation
 * and losses of both signs.  What step 0 makes of l is a convex loss of the record's own, of one sign where l' has one,
 * with |l'||x| <= S R and l''|x|^2 <= K R^2.  Nothing else is used.  A weight in [0, 1] on a record does the same; sets
 * of weighted records move w* in more than one direction and are not covered.  Step 4: given w*, w~ is a function of
 * the data at distance tau'/Lambda from w*, tau' = tau plus the distance of the drawn b from a continuous one.
 *
 * RELEASES  objpert(sigma/(R S), a), then gaussian(20 sigma/(R S)) for step 4.  Losses of both signs: approx(epsilon1,
 * delta1), then gaussian.  variant=chaudhuri: pure(epsilon1), then laplace.
 *
 * COST  Up to 512 features: Newton's method on a sample, one Hessian of all rows, O(n p^2), and some six passes.  Else
 * some ten Newton steps, O(nnz) per conjugate gradient step.
 *
 * DEPARTS  From the paper: gradients are cut.  Per-record clipping is a convex loss (Song, Steinke, Thakkar and
 * Thakurta 2021, "Evading the Curse of Dimensionality in Unconstrained Private GLMs").  So a record on the wrong side
 * pulls no harder than one at the boundary, while the noise is up to halved. clip=1 cuts nothing.  Records longer than
 * norm R count less, which shrinks ridge and noise alike; norm=1 counts all alike.  Gaussian curves stand in place of
 * their tail bound: half the noise or less at equal epsilon.  The ridge is balanced against the noise, not tied to
 * epsilon/2.  The minimiser need not be exact.  variant=kst: Lambda = 2 K R^2/epsilon and sigma = R S sqrt(8
 * log(2/delta) + 4 epsilon)/epsilon as printed, raised to what is proved where that is more. variant=chaudhuri
 * (Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 2), for delta = 0: b has the printed density exp(-|b|/s), s = k R
 * S/(epsilon1 - a), k = 2 where a record is replaced.  Instead of a curvature term of epsilon/4 the ridge is balanced
 * here too, and with it the part of epsilon for step 4.  docs/proofs/objpert.md has what rounding and tails cost. */
#include "solve/minimiser/objpert.h"

#include "core/alloc.h"
#include "solve/shared/weight_bound.h"

#include <string.h>

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  int64_t p = problem->view->p;
  double output = tct_mech_release_of(mech, TCT_OBJPERT_OUTPUT)->noise;
  tct_perturb set;
  tct_smooth smooth = {0};
  TCT_TRY(tct_objpert_settings(problem->facts, plan, output, &set, err)); /* 1 */
  double *b = TCT_NEW(double, p);
  memset(w, 0, (size_t)p * sizeof *w);
  tct_status status = b ? tct_mech_draw(mech, TCT_OBJPERT_TILT, b, p, err) : tct_fail_memory(err); /* 2 */
  if (status == TCT_OK) status = tct_smooth_new(problem, &set.smooth, mech, &smooth, err);
  if (status == TCT_OK) {
    smooth.linear = b;
    status = tct_smooth_minimise(&smooth, set.target, 100, w, err); /* 3 */
  }
  if (status == TCT_OK) status = tct_output_release(mech, TCT_OBJPERT_OUTPUT, w, p, err); /* 4 */
  tct_smooth_free(&smooth);
  tct_wipe_free(b, p, sizeof *b);
  return status;
}

/* The minimiser for the drawn b is within tct_smooth_radius of 0 (smooth.c), the computed point within target/ridge of
 * it, its lattice point half a step from that; then noise. */
static double weight_bound(const tct_facts *facts, const tct_solver_plan *plan) {
  const tct_release *tilt = &plan->promise.release[TCT_OBJPERT_TILT], *out = &plan->promise.release[TCT_OBJPERT_OUTPUT];
  tct_perturb set;
  double p = (double)facts->p;
  if (tct_objpert_settings(facts, plan, out->noise, &set, NULL) != TCT_OK) return INFINITY;
  if (!set.pure) set.smooth.linear = sqrt(p) * (tct_noise_max(tilt, p) + tilt->lattice);
  return tct_smooth_radius(&set.smooth) + set.target / set.ridge + out->lattice + tct_noise_max(out, p);
}

const tct_solver tct_solver_objpert = {
    .name = "objpert",
    .summary = "objective perturbation, the minimiser of a tilted objective; one release, nothing to tune",
    .options = tct_objpert_options,
    .is_private = true,
    .pure = true,
    .rows_apart = true,
    .row_bytes = 56,
    .square_bytes = 32,
    .passes = {NULL, 0, 13, false},
    .relations = TCT_RELATION_BOTH,
    .weighing = TCT_WEIGHS_RECORDS,
    .penalises_intercept = true,
    .plan = tct_objpert_plan,
    .run = run,
    .weight_bound = weight_bound,
    .noise_size = tct_objpert_noise_size,
};
