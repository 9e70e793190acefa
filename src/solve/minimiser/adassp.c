/* adassp.c - ridge regression from noisy sufficient statistics with an adaptive ridge.
 *
 * PROBLEM  min over w of (1/n) sum_i (x_i.w - y_i)^2/2 + lambda/2 |w|^2 over all weights, the intercept too.
 *
 * ALGORITHM  Wang 2018, "Revisiting differentially private linear regression", Algorithm 2.
 *   1. G = sum_i v_i x_i x_i^T and h = (K/Y) sqrt((1-q)/q) sum_i v_i y_i x_i, released as one vector;
 *      v_i = min(1, (K/|x_i|)^2), K = norm * R
 *   2. G symmetric; A = G + n lambda I + r I, r >= 0 the least with A >= zeta I, zeta = ridge * sigma sqrt(p)
 *   3. w = 0; `iterates` times: w = w + A^-1 (h' - (G + n lambda I) w), h' = h without its factor
 *
 * SENSITIVITY  One record's own term is v (x x^T, (K/Y) sqrt((1-q)/q) y x).  v |x|^2 <= K^2 and v |x| <= K, so that its
 * squared norm is at most K^4 + K^4 (1-q)/q = K^4/q.  Every entry is a lattice-truncated product: of row j of x x^T v
 * x_j times x_k for k <= j, and the same numbers above the diagonal.  The products of la have coordinates of at most
 * those of the exact term times (1+2^-53)^2 (rows.c). With the rounding of v x_j itself that is below 1+2^-50.  v is
 * made from an upper bound on |x|^2, and by 2^-40 too small. A person's weights s_i in [0, 1] multiply v first, hence
 * every bound.  The records of a person whose weights sum to at most 1 stay within the sensitivity of one.
 *
 * Under replace_one an event's shift is twice its sensitivity, and two records' terms t, t' differ by less than twice
 * the length of one.  Let k = (1-q)/q, K = 1, a = v |x|^2, a' alike, and s = sqrt(a a') |cos| for the angle of both
 * records.  Matrices have the inner product s^2.  As v |x| <= sqrt(a), vectors differ by at most k (a + a' + 2 s) in
 * squares.  So |t - t'|^2 <= a^2 + a'^2 - 2 s^2 + k (a + a' + 2 s) <= 2 + 2k + max over s in [0, 1] of 2 (k s - s^2).
 * That is 4.5 for q = 1/2, where twice the length has 8.  A person's terms lie in the convex hull of such t and 0,
 * which is no wider: no t is longer than the widest pair is apart.  Truncation to the lattice g moves each entry of
 * each record's term by less than g, so two persons' terms by at most n g sqrt(p^2 + p) each.  That is added, and the
 * rounding is within the 2^-40.
 *
 * noise=laplace: G's upper triangle alone.  The l1 norm of that of v x x^T is (|x|_1^2 + |x|^2) v/2 <= (p+1) K^2/2, and
 * that of v y x at most sqrt(p) K Y; the factor of h is (K/Y) (p+1)/(2 sqrt(p)) (1-q)/q there, the sensitivity (p+1)
 * K^2/(2q).
 *
 * RELEASES  One event gaussian(m), c = K^2/sqrt(q) (replace_one: see above), or laplace(m), c = (p+1) K^2/(2q): pure
 * epsilon.
 *
 * COST  O(n p^2) (sparse: nonzeros squared) and some ten Cholesky factors; p^2 doubles per thread.
 *
 * DEPARTS  The smallest eigenvalue is that of the released G, which costs nothing; the paper spends a third of epsilon
 * on it.  The two other releases are one event of exact cost.  All p^2 entries of G are released and averaged across
 * the diagonal: the same noise as the upper triangle with weights sqrt(2).  q: part of mu^2 for G, 1/2. Weights v: R is
 * a bound, most records are well below it, and noise goes with its square.  A weight that depends on x alone leaves a
 * linear model's coefficients where they were.  Where all records have norm R, give norm=1. Steps 2 and 3: a ridge of
 * the size that noise asks for (norm 1.41 sigma sqrt(p)) pulls every direction, also those that the records determine
 * well, by r/(eigenvalue + r).  Iterated Tikhonov takes that to its third power, and costs no budget; zeta is then 2.5
 * sigma sqrt(p).  docs/decisions/minimiser-rules.md has the measurements.  The paper's: ridge=sqrt(log(2p^2/0.05)),
 * iterates=1, norm=1. */
#include "core/alloc.h"
#include "core/processors.h"
#include "la/exact/tiles.h"
#include "la/kernels/kernels.h"
#include "la/matrix/lattice.h"
#include "la/matrix/rows_access.h"
#include "solve/solve.h"
#include "solve/shared/statistics.h"
#include "solve/shared/weight_bound.h"

#include <string.h>

static const tct_option options[] = {
    {"split", TCT_OPT_REAL, "0.5", 0.01, 0.99, NULL, "part of the budget (of mu^2) for X^T X, the rest for X^T y"},
    {"norm", TCT_OPT_REAL, "0.7", 0.01, 1, NULL,
     "K/R: longer records weigh (K/|x|)^2; 1 where all records have the same length, and in the paper"},
    {"ridge", TCT_OPT_REAL, "2.5", 0, 1e6, NULL,
     "zeta: least eigenvalue to have, in units of sigma*sqrt(p); the paper's: sqrt(log(2p^2/0.05))"},
    {"noise", TCT_OPT_CHOICE, "auto", 0, 0, "auto|gaussian|laplace",
     "law of the noise; auto: gaussian, at delta 0 laplace (pure epsilon)"},
    {"iterates", TCT_OPT_COUNT, "3", 1, 100, NULL, "how often the ridge's pull is corrected, plus 1; the paper's: 1"},
    {0},
};

enum { MOST_FEATURES = 8192 }; /* 512 MiB per matrix */

/* K; without privacy nothing is weighed. */
static double norm_of(const tct_facts *facts, const tct_spec *spec) {
  return facts->row_norm * (!tct_noise_off(facts) ? tct_spec_real(spec, options, "norm") : 1);
}

enum { STATISTICS }; /* the release */

static bool is_laplace(const tct_spec *spec) { return tct_spec_is(spec, options, "noise", "laplace"); }

/* Half of the most by which two records' terms differ, all of them cut to the lattice; one: the length of one term. */
static double half_of_a_pair(const tct_facts *facts, double square, double split, double one, double noise) {
  double odds = (1 - split) / split, p = (double)facts->p, s = fmin(odds / 2, 1);
  double apart = square * sqrt(2 + 2 * odds + 2 * s * (odds - s));
  double lattice =
      tct_lattice_spacing(one, noise, 2 * facts->rows); /* a smaller sensitivity has none that is coarser */
  return fmin(one, 0.5 * apart * (1 + 0x1p-45) + (double)facts->rows * lattice * sqrt(p * p + p));
}

/* noise: the event's, which decides the lattice. */
static double sensitivity_of(const tct_facts *facts, const tct_spec *spec, double noise) {
  double norm = norm_of(facts, spec), split = tct_spec_real(spec, options, "split"), square = norm * norm;
  if (is_laplace(spec)) return square * ((double)facts->p + 1) / (2 * split) * (1 + 0x1p-45);
  double one = square / sqrt(split);
  return facts->neighbours == TCT_REPLACE_ONE ? half_of_a_pair(facts, square, split, one, noise) : one;
}

/* A term may be longer than half of what two differ by. */
static int64_t terms_of(const tct_facts *facts) {
  return facts->neighbours == TCT_REPLACE_ONE ? 2 * facts->rows : facts->rows;
}

/* The factor of h; norm: K. */
static double weight_of(const tct_facts *facts, const tct_spec *spec, double norm) {
  double split = tct_spec_real(spec, options, "split"), odds = (1 - split) / split, p = (double)facts->p;
  return norm / facts->label_bound * (is_laplace(spec) ? (p + 1) / (2 * sqrt(p)) * odds : sqrt(odds));
}

/* The sigma of the Gaussian whose symmetrised noise is as large: an entry's deviation there is sigma/sqrt(2), here that
 * of one Laplace number. */
static double sigma_of(const tct_spec *spec, double noise, double sensitivity) {
  return noise * sensitivity * (is_laplace(spec) ? 2 : 1);
}

/* At delta 0: Laplace. */
static tct_status choose_noise(const tct_facts *facts, tct_spec *spec, tct_error *err) {
  bool only_pure = facts->delta == 0 && !tct_noise_off(facts);
  if (tct_spec_is(spec, options, "noise", "auto"))
    TCT_TRY(tct_spec_set(spec, "noise", only_pure ? "laplace" : "gaussian", err));
  if (!only_pure || is_laplace(spec)) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE, "only adassp:noise=laplace keeps delta 0; choose it, or a delta above 0");
}

/* Laplace noise for all of epsilon, whatever delta is. */
static tct_status laplace_noise(const tct_facts *facts, tct_solver_plan *out, tct_error *err) {
  tct_event event;
  tct_events list = {&event, 1, 1};
  out->noise_multiplier = 0;
  out->cost = (tct_cost){.epsilon = INFINITY, .delta = facts->delta};
  if (tct_noise_off(facts)) return TCT_OK;
  out->noise_multiplier = (facts->neighbours == TCT_REPLACE_ONE ? 2 : 1) / (facts->epsilon * (1 - 1e-12));
  event = tct_event_laplace(out->noise_multiplier, 1);
  return tct_account_epsilon(&list, facts->neighbours, facts->delta, TCT_PRECISION, &out->cost, err);
}

static tct_status plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  TCT_TRY(tct_plan_begin(facts, given, options, out, err));
  TCT_TRY(tct_plan_need_bounds(facts, "adassp", err));
  if (!facts->loss.kind->least_squares)
    return tct_fail(err, TCT_E_USAGE, "adassp solves least squares only; give {loss squared} or choose another solver");
  if (!facts->penalty.kind->quadratic)
    return tct_fail(err, TCT_E_USAGE, "adassp knows the penalties none and l2; choose one of them");
  if (facts->p > MOST_FEATURES)
    return tct_fail(err, TCT_E_USAGE, "adassp holds a matrix of features squared, at most %d features; use dpcd",
                    MOST_FEATURES);
  TCT_TRY(choose_noise(facts, &out->spec, err));
  bool laplace = is_laplace(&out->spec);
  TCT_TRY(laplace ? laplace_noise(facts, out, err) : tct_budget_noise(facts, 1, 1, out, err));
  tct_event event = (laplace ? tct_event_laplace : tct_event_gaussian)(out->noise_multiplier, 1);
  double norm = norm_of(facts, &out->spec), sensitivity = sensitivity_of(facts, &out->spec, event.noise);
  return tct_plan_promise(out, tct_release_sum("sums of x x^T and y x", event, norm, sensitivity, terms_of(facts)),
                          err);
}

typedef struct terms {
  double norm, weight, lattice; /* K, factor of h */
} terms;

/* v of a record, times its own weight. */
static double share_of(const tct_problem *problem, double norm, int64_t i) {
  double scale = problem->weight ? problem->weight[i] : 1, size2 = tct_row_norm2(problem->view, i);
  if (tct_noise_off(problem->facts)) return scale;
  return scale * (1 - 0x1p-40) * (size2 > norm * norm ? norm * norm / size2 : 1);
}

/* Doubles of a thread's room: two blocks of rows and a row. */
static int64_t room_of(int64_t p) { return tct_thread_stride(2 * tct_block_size(p) + p); }

/* Row k of the blocks: their products, in units of the lattice, are those of tct_row_add_lattice.  Only the intercept
 * with itself has another order of factors, and is added here.  row[p]: v times the record. */
static void lay_out(const tct_view *view, const terms *set, int64_t i, int64_t k, const double *row, double *left,
                    double *sum) {
  int64_t p = view->p, rest = 0;
  double scale = view->row_scale[i], value[512];
  tct_row x = tct_row_at(view->x, i);
  tct_block_row(row, scale / set->lattice, p, k, left);
  for (double *right = left + tct_block_size(p); rest < p; rest += 512, right += tct_block_size(512)) {
    int64_t count = p - rest < 512 ? p - rest : 512;
    for (int64_t j = 0; j < count; j++) value[j] = rest + j < x.n ? tct_row_value(&x, rest + j) : 0;
    tct_block_row(value, 1, count, k, right);
  }
  if (view->intercept != 0) sum[p * p - 1] += tct_lattice_part((scale * view->intercept) * row[p - 1], set->lattice);
}

/* sum += the terms of the rows that no other thread takes; sum is [p][p], of which the lower triangle counts, and then
 * [p].  Dense rows go in tiles. */
static void some_rows(const tct_problem *problem, const terms *set, _Atomic int64_t *next, double *room, double *sum) {
  const tct_view *view = problem->view;
  int64_t p = view->p, count = 0;
  double *left = room, *right = left + tct_block_size(p), *row = right + tct_block_size(p);
  /* Beyond these products in units of the lattice may not be finite, or not whole. */
  bool tiles =
      !tct_is_sparse(view->x) && set->norm * view->row_norm <= 0x1p51 * set->lattice && set->lattice > 0x1p-600;
  for (int64_t from; (from = tct_take_rows(next, TCT_TILE_ROWS)) < view->rows; count = 0) {
    for (int64_t i = from; i < from + TCT_TILE_ROWS && i < view->rows; i++) {
      double scale = share_of(problem, set->norm, i);
      memset(row, 0, (size_t)p * sizeof *row);
      tct_row_axpy(view, i, scale, row);
      tct_row_add_lattice(view, i, scale * set->weight * problem->y[i], set->lattice, sum + p * p);
      if (tiles && tct_scale_plain(view->row_scale[i]))
        lay_out(view, set, i, count++, row, left, sum);
      else
        for (int64_t j = 0; j < p; j++) tct_row_add_lattice(view, i, row[j], set->lattice, sum + j * p);
    }
    tct_tiles_add(&(tct_tiles){left, right, count, p, TCT_PRODUCTS_CUT, set->lattice}, sum, p);
  }
}

/* Exact sums: the threads' shares add up to the same bits however they are cut.  The first thread adds to sum. */
static tct_status statistics(const tct_problem *problem, const terms *set, double *sum, tct_error *err) {
  int threads = problem->facts->threads;
  int64_t p = problem->view->p, size = p * p + p, apart = tct_thread_stride(size);
  int64_t room = room_of(p), all = threads * room + (threads - 1) * apart;
  double *memory = TCT_NEW(double, all);
  _Atomic int64_t next = 0;
  if (!memory) return tct_fail_memory(err);
  double *more = memory + threads * room;
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads))
  for (int t = 0; t < threads; t++) some_rows(problem, set, &next, memory + t * room, t ? more + (t - 1) * apart : sum);
  for (int t = 1; t < threads; t++)
    for (int64_t k = 0; k < size; k++) sum[k] += more[(t - 1) * apart + k];
  for (int64_t i = 0; i < p; i++)
    for (int64_t j = 0; j < i; j++) sum[j * p + i] = sum[i * p + j];
  tct_wipe_free(memory, all, sizeof *memory);
  return TCT_OK;
}

/* Step 1: sum[p][p], sum[p] through the gate; with Laplace noise the upper triangle goes first, packed, and is unpacked
 * afterwards. */
static tct_status release(tct_mech *mech, bool triangle, double *sum, int64_t p, tct_error *err) {
  if (!triangle) return tct_mech_release(mech, STATISTICS, sum, p * p + p, err);
  int64_t half = p * (p + 1) / 2, k = 0;
  for (int64_t i = 0; i < p; i++)
    for (int64_t j = i; j < p; j++) sum[k++] = sum[i * p + j]; /* k <= i p + j */
  memmove(sum + half, sum + p * p, (size_t)p * sizeof *sum);
  TCT_TRY(tct_mech_release(mech, STATISTICS, sum, half + p, err));
  memmove(sum + p * p, sum + half, (size_t)p * sizeof *sum);
  for (int64_t i = p - 1; i >= 0; i--)
    for (int64_t j = p - 1; j >= i; j--) sum[i * p + j] = sum[--k];
  for (int64_t i = 0; i < p; i++)
    for (int64_t j = 0; j < i; j++) sum[i * p + j] = sum[j * p + i];
  return TCT_OK;
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  const tct_facts *facts = problem->facts;
  int64_t p = problem->view->p, size = p * p + p, iterates = tct_spec_count(&plan->spec, options, "iterates");
  const tct_release *planned = tct_mech_release_of(mech, STATISTICS);
  terms set = {.norm = planned->clip, .lattice = planned->lattice};
  set.weight = weight_of(facts, &plan->spec, set.norm);
  double ridge = tct_spec_real(&plan->spec, options, "ridge");
  double zeta = ridge * sigma_of(&plan->spec, planned->noise, planned->sensitivity) * sqrt((double)p);
  double *sum = TCT_NEW(double, size);
  if (!sum) return tct_fail_memory(err);
  tct_status status = tct_problem_tick(problem, 0, err);
  if (status == TCT_OK) status = statistics(problem, &set, sum, err);
  if (status == TCT_OK) status = release(mech, is_laplace(&plan->spec), sum, p, err); /* 1 */
  for (int64_t j = 0; j < p; j++) sum[p * p + j] /= set.weight;
  tct_ridge steps = {.own = (double)facts->rows * facts->penalty.l2, .zeta = zeta, .iterates = iterates};
  if (status == TCT_OK) status = tct_ridge_iterated(sum, sum + p * p, p, &steps, w, err); /* 2, 3 */
  tct_wipe_free(sum, size, sizeof *sum);
  return status;
}

/* Let M = G + n lambda I as released, A = M + r I, and w_k = w_(k-1) + A^-1 (h - M w_(k-1)) the iterates.  At first
 * order (r held), noise dG and dh moves the last one, w_T = w, by the sum over k of (r A^-1)^(T-k) A^-1 (dh - dG w_k).
 * dh has deviation sigma/weight in every entry; dG is symmetric with deviation sigma on the diagonal and sigma/sqrt(2)
 * off it, so that entry j of dG v has variance sigma^2 (|v|^2 + v_j^2)/2.  At most: |w_k| <= |w|, since in M's
 * eigenvectors w_k is w times (1 - s^k)/(1 - s^T), s = r/(eigenvalue of A) >= 0.  A >= zeta I by step 2, and r <= zeta
 * - lambda_min(M) <= zeta - n lambda + |dG|.  |dG| <= 1.5 sigma (sqrt(p) + 4) but for one run in a million or fewer.
 * So it is sqrt(1/weight^2 + |w|^2) sigma/zeta times the sum of (r/zeta)^j over j < T.  At least, in the mean over the
 * weights: in M's eigenvectors all products of two terms have means >= 0, so the term k = T alone is less.  Its share
 * of a mean is at least that at A's mean eigenvalue, n K^2/p + n lambda + r. */
static tct_status noise_size(const tct_facts *facts, const tct_solver_plan *plan, const double *w, tct_noise_size *out,
                             tct_error *err) {
  double n = (double)facts->rows, p = (double)facts->p, norm = norm_of(facts, &plan->spec), norm2 = 0, sum = 0;
  double weight = weight_of(facts, &plan->spec, norm),
         sigma = plan->noise_multiplier * sensitivity_of(facts, &plan->spec, plan->noise_multiplier);
  double zeta = tct_spec_real(&plan->spec, options, "ridge") * sigma * sqrt(p), own = n * facts->penalty.l2;
  for (int64_t j = 0; j < facts->p; j++) norm2 += w[j] * w[j];
  TCT_TRY(tct_plan_one_gaussian(plan, 1, err));
  double ridge = fmax(0, zeta - own + 1.5 * sigma * (sqrt(p) + 4)), mean = n * norm * norm / p + own + ridge;
  for (int64_t k = 0; k < tct_spec_count(&plan->spec, options, "iterates"); k++) sum = 1 + sum * ridge / zeta;
  *out = (tct_noise_size){.min = sigma * sqrt(1 / (weight * weight) + norm2 / 2) / mean,
                          .max = zeta > 0 ? sigma * sqrt(1 / (weight * weight) + norm2) / zeta * sum : NAN,
                          .how_min = "as if every record had the largest length allowed",
                          .how_max = "as if the table said no more about any weight than the ridge does",
                          .first_order = true};
  return TCT_OK;
}

/* With M = G + n lambda I: |h'| <= n K Y + sqrt(p) noise/weight =: h.  M's least eigenvalue is at least -|dG|, and the
 * norm of dG at most p times its largest entry, so r <= 1.05 zeta + |dG| by the search of step 2.  A >= zeta I but for
 * Cholesky's rounding.  In M's eigenvectors w = sum over k < T of s^k A^-1 h', s = r/(eigenvalue of A) <= r/zeta. */
static double weight_bound(const tct_facts *facts, const tct_solver_plan *plan) {
  const tct_release *r = &plan->promise.release[STATISTICS];
  double n = (double)facts->rows, p = (double)facts->p, noise = tct_noise_max(r, p * p + p), sum = 0;
  double weight = weight_of(facts, &plan->spec, r->clip);
  double h = n * r->clip * facts->label_bound + sqrt(p) * noise / weight;
  double zeta =
      tct_spec_real(&plan->spec, options, "ridge") * sigma_of(&plan->spec, r->noise, r->sensitivity) * sqrt(p);
  double trace = n * r->clip * r->clip + n * p * facts->penalty.l2 + p * noise + zeta;
  double min = zeta - 4 * p * p * 0x1p-52 * trace, ridge = 1.05 * zeta + p * noise;
  for (int64_t k = 0; k < tct_spec_count(&plan->spec, options, "iterates"); k++) sum = 1 + sum * ridge / min;
  return min > 0 ? 2 * h / min * sum : INFINITY;
}

const tct_solver tct_solver_adassp = {
    .name = "adassp",
    .summary = "ridge regression from noisy sufficient statistics (Wang 2018); one release, nothing to tune",
    .options = options,
    .is_private = true,
    .pure = true,
    .rows_apart = true,
    .row_bytes = 24,
    .square_bytes = 24,
    .passes = {NULL, 0, 1, false},
    .relations = TCT_RELATION_BOTH,
    .weighing = TCT_WEIGHS_PERSONS,
    .penalises_intercept = true,
    .plan = plan,
    .run = run,
    .weight_bound = weight_bound,
    .noise_size = noise_size,
};
