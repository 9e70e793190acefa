/* adassp.c - ridge regression from noisy sufficient statistics with an adaptive ridge.
 *
 * PROBLEM  min over w of (1/n) sum_i (x_i.w - y_i)^2/2 + lambda/2 |w|^2 over all weights, the intercept too.
 *
 * ALGORITHM  Wang 2018, "Revisiting differentially private linear regression", Algorithm 2.
 *   1. G = sum_i x_i x_i^T and h = (R/Y) sqrt((1-q)/q) sum_i y_i x_i, released as one vector
 *   2. G symmetric; r = the least with G + r I >= zeta I, zeta = ridge * sigma sqrt(p)
 *   3. w = (G + max(r, n lambda) I)^-1 X^T y
 *
 * SENSITIVITY  One record's own term is (x x^T, (R/Y) sqrt((1-q)/q) y x): its squared norm is |x|^4 + (R/Y)^2 (1-q)/q
 * y^2 |x|^2 <= R^4/q.  Every entry is a lattice-truncated product: row j of x x^T is x_j times x, a term that la bounds
 * by |x_j| R (kernels.h), so the rows together stay below |x| R <= R^2, and likewise h.  A weight v in [0, 1]
 * multiplies x_j and y first, hence every bound: the records of a person whose weights sum to at most 1 stay within the
 * reach of one.
 *
 * RELEASES  One event gaussian(m), c = R^2/sqrt(q).
 *
 * COST  O(n p^2) (sparse: nonzeros squared) and some ten Cholesky factors; p^2 doubles a thread.
 *
 * DEPARTS  The smallest eigenvalue is that of the released G, which costs nothing, where the paper spends a third of
 * epsilon on it; the two other releases are one event of exact cost.  All p^2 entries of G are released and averaged
 * across the diagonal: the same noise as the upper triangle with weights sqrt(2).  q: part of mu^2 for G, 1/2.
 * zeta: the symmetric noise has norm about 1.41 sigma sqrt(p).  Half of that was best or near it on california (p = 9)
 * and on a synthetic 40000 x 90 at epsilon 0.1, 0.5 and 2, where the paper's tail bound sqrt(log(2 p^2/0.05)) in its
 * place left up to four times the excess. */
#include "core/alloc.h"
#include "la/gram.h"
#include "la/kernels.h"
#include "solve/solve.h"

#include <omp.h>
#include <string.h>

static const tct_option options[] = {
    {"split", TCT_OPT_REAL, "0.5", 0.01, 0.99, NULL, "part of the budget (of mu^2) for X^T X, the rest for X^T y"},
    {"ridge", TCT_OPT_REAL, "0.7", 0, 1e6, NULL,
     "zeta: least eigenvalue to have, in units of sigma*sqrt(p); the paper's: sqrt(log(2p^2/0.05))"},
    {0},
};

enum { MOST_FEATURES = 8192 }; /* 512 MiB a matrix */

static double reach_of(const tct_facts *facts, const tct_spec *spec) {
  return facts->row_norm * facts->row_norm / sqrt(tct_spec_real(spec, options, "split"));
}

static tct_status plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  TCT_TRY(tct_plan_begin(facts, given, options, out, err));
  TCT_TRY(tct_plan_need_bounds(facts, "adassp", err));
  if (strcmp(facts->loss.kind->name, "squared"))
    return tct_fail(err, TCT_E_USAGE, "adassp solves least squares only; give --loss squared or choose another solver");
  if (strcmp(facts->reg.kind->name, "none") && strcmp(facts->reg.kind->name, "l2"))
    return tct_fail(err, TCT_E_USAGE, "adassp knows the penalties none and l2; choose one of them");
  if (facts->p > MOST_FEATURES)
    return tct_fail(err, TCT_E_USAGE, "adassp holds a matrix of features squared, at most %d features; use dpcd",
                    MOST_FEATURES);
  TCT_TRY(tct_plan_sampled(facts, 1, 1, out, err));
  if (isnan(tct_mech_lattice(reach_of(facts, &out->spec), out->noise_multiplier, facts->rows)))
    return tct_fail(err, TCT_E_USAGE, "too many records for the noise's lattice; use less epsilon");
  return TCT_OK;
}

/* sum += the terms of the rows [first, last); sum is [p][p] and then [p]; row: p zeros. */
static void add_rows(const tct_problem *problem, int64_t first, int64_t last, double weight, double lattice,
                     double *row, double *sum) {
  int64_t p = problem->view->p;
  for (int64_t i = first; i < last; i++) {
    double share = problem->weight ? problem->weight[i] : 1;
    memset(row, 0, (size_t)p * sizeof *row);
    tct_row_axpy(problem->view, i, share, row);
    for (int64_t j = 0; j < p; j++)
      if (row[j] != 0) tct_row_add_lattice(problem->view, i, row[j], lattice, sum + j * p);
    tct_row_add_lattice(problem->view, i, share * weight * problem->y[i], lattice, sum + p * p);
  }
}

/* Exact sums: the threads' shares add up to the same bits however they are cut. */
static tct_status statistics(const tct_problem *problem, double weight, double lattice, double *sum, tct_error *err) {
  int64_t n = problem->view->rows, p = problem->view->p, size = p * p + p;
  int threads = problem->facts->threads;
  double *memory = TCT_NEW(double, threads *(size + p));
  if (!memory) return tct_fail_memory(err);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int t = 0; t < threads; t++) {
    double *own = memory + t * (size + p);
    add_rows(problem, n * t / threads, n * (t + 1) / threads, weight, lattice, own + size, own);
  }
  for (int t = 0; t < threads; t++)
    for (int64_t k = 0; k < size; k++) sum[k] += memory[t * (size + p) + k];
  tct_wipe_free(memory, threads * (size + p), sizeof *memory);
  return TCT_OK;
}

/* factor <- Cholesky of gram + shift I. */
static bool factor_at(const double *gram, int64_t p, double shift, double *factor) {
  memcpy(factor, gram, (size_t)(p * p) * sizeof *factor);
  for (int64_t j = 0; j < p; j++) factor[j * p + j] += shift;
  return tct_cholesky(factor, p);
}

/* Step 2: the least r, to a twentieth of zeta, with gram + (r - zeta) I positive definite. */
static double adaptive_ridge(const double *gram, int64_t p, double zeta, double *factor) {
  double low = 0, high = 0, width = zeta;
  if (!(zeta > 0)) return 0;
  while (!factor_at(gram, p, high - zeta, factor)) {
    low = high;
    high += width;
    width *= 2;
  }
  while (high - low > 0.05 * zeta) {
    double middle = 0.5 * (low + high);
    *(factor_at(gram, p, middle - zeta, factor) ? &high : &low) = middle;
  }
  return high;
}

/* Steps 2 and 3, on released numbers only. */
static tct_status solve(const tct_problem *problem, double *gram, double zeta, double *w, tct_error *err) {
  int64_t p = problem->view->p;
  double *factor = TCT_NEW(double, p *p), trace = 0;
  if (!factor) return tct_fail_memory(err);
  for (int64_t i = 0; i < p; i++) {
    trace += fabs(gram[i * p + i]);
    for (int64_t j = 0; j < i; j++) gram[i * p + j] = gram[j * p + i] = 0.5 * gram[i * p + j] + 0.5 * gram[j * p + i];
  }
  double ridge = fmax(adaptive_ridge(gram, p, zeta, factor), (double)problem->facts->rows * problem->facts->reg.l2);
  double least =
      1e-14 * trace / (double)p + 1e-300; /* a singular matrix without noise: the ridge that makes it regular */
  while (!factor_at(gram, p, ridge, factor)) ridge = fmax(2 * ridge, least);
  tct_cholesky_solve(factor, p, w);
  tct_wipe_free(factor, p * p, sizeof *factor);
  return TCT_OK;
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  const tct_facts *facts = problem->facts;
  int64_t p = problem->view->p, size = p * p + p;
  double noise = plan->noise_multiplier, split = tct_spec_real(&plan->spec, options, "split");
  double reach = reach_of(facts, &plan->spec), lattice = tct_mech_lattice(reach, noise, facts->rows);
  double weight = facts->row_norm / facts->label_bound * sqrt((1 - split) / split);
  double zeta = tct_spec_real(&plan->spec, options, "ridge") * noise * reach * sqrt((double)p);
  double *sum = TCT_NEW(double, size);
  if (!sum) return tct_fail_memory(err);
  tct_status status = tct_problem_tick(problem, 0, err);
  if (status == TCT_OK) status = statistics(problem, weight, lattice, sum, err);
  if (status == TCT_OK) status = tct_mech_sum(mech, noise, reach, lattice, sum, size, err); /* 1 */
  for (int64_t j = 0; j < p && status == TCT_OK; j++) w[j] = sum[p * p + j] / weight;
  if (status == TCT_OK) status = solve(problem, sum, zeta, w, err); /* 2, 3 */
  tct_wipe_free(sum, size, sizeof *sum);
  return status;
}

/* With A = G + r I as released, w = A^-1 h, so that noise dG and dh moves w by A^-1 (dh - dG w) at first order.  dh has
 * deviation sigma/weight in every entry; dG is symmetric with deviation sigma on the diagonal and sigma/sqrt(2) off it,
 * so that entry j of dG w has variance sigma^2 (|w|^2 + w_j^2)/2.  A >= zeta I by step 2: at most sqrt(1/weight^2 +
 * |w|^2) sigma/zeta.  The mean eigenvalue of A is at most n R^2/p + max(r, n lambda), and r at most zeta -
 * lambda_min(dG), |dG| <= 1.5 sigma (sqrt(p) + 4) but for one run in a million or fewer: at least, in the mean over the
 * weights, sqrt(1/weight^2 + |w|^2/2) sigma over that. */
static tct_status noise_size(const tct_facts *facts, const tct_solver_plan *plan, const double *w, tct_noise_size *out,
                             tct_error *err) {
  double n = (double)facts->rows, p = (double)facts->p, r = facts->row_norm, norm2 = 0;
  double split = tct_spec_real(&plan->spec, options, "split"),
         sigma = plan->noise_multiplier * reach_of(facts, &plan->spec);
  double weight = r / facts->label_bound * sqrt((1 - split) / split);
  double zeta = tct_spec_real(&plan->spec, options, "ridge") * sigma * sqrt(p);
  for (int64_t j = 0; j < facts->p; j++) norm2 += w[j] * w[j];
  TCT_TRY(tct_plan_one_gaussian(plan, 1, err));
  double mean = n * r * r / p + fmax(n * facts->reg.l2, zeta + 1.5 * sigma * (sqrt(p) + 4));
  *out = (tct_noise_size){.least = sigma * sqrt(1 / (weight * weight) + norm2 / 2) / mean,
                          .most = zeta > 0 ? sigma * sqrt(1 / (weight * weight) + norm2) / zeta : NAN,
                          .how_least = "as if every record had the largest length allowed",
                          .how_most = "as if the table said no more about any weight than the ridge does",
                          .first_order = true};
  return TCT_OK;
}

const tct_solver tct_solver_adassp = {
    .name = "adassp",
    .summary = "ridge regression from noisy sufficient statistics (Wang 2018); one release, nothing to tune",
    .options = options,
    .is_private = true,
    .rows_apart = true,
    .relations = TCT_RELATION_BOTH,
    .weighing = TCT_WEIGHS_PERSONS,
    .penalises_intercept = true,
    .plan = plan,
    .run = run,
    .noise_size = noise_size,
};
