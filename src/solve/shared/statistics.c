/* statistics.c - ridge, lasso, balls and boxes from released X'X and X'y.
 *
 * CLEANING  Noise of deviation s on the diagonal and s/sqrt(2) elsewhere has eigenvalues up to about sqrt(2p) s.  Above
 * p of some tens that is more than most eigenvalues of X'X, so the released matrix is not even definite.
 *
 * Factors: POET (Fan, Liao and Mincheva 2013) with a noise that is known.  Eigenvalues above 1.3 sqrt(2p) s are kept,
 * less what noise adds to one: l -> (l + sqrt(l^2 - 2 p s^2))/2.  Of the rest, entries above 4 s/sqrt(2) are kept, and
 * the diagonal, drawn to its mean by the noise's share of its variance.  Eigenvalues of that part are at least a fifth
 * of the mean over its dimensions, and at least s/1000: a public floor, which bounds the weights.
 *
 * RIDGE  What is left of the noise is met by a ridge r whose pull is corrected, in two or three steps from w_0 = 0.
 * Step t: w_t = argmin w'Gw/2 - X'y.w + n psi(w) + r/2 |w - w_(t-1)|^2.  For a quadratic psi that is iterated
 * Tikhonov, as in adassp.  A ball that is tight regularises by itself, and wants a small r.
 *
 * docs/decisions/gram-parties.md has the measurements and the command. */
#include "solve/shared/statistics.h"

#include "core/alloc.h"
#include "core/stop.h"
#include "la/exact/gram.h"
#include "la/exact/spectrum.h"
#include "la/kernels/kernels.h"
#include "solve/shared/rules.def"

#include <string.h>

enum { ITERATES = 3, ITERATES_OF_FACTORS = 2, STEPS = 2000 };

tct_status tct_statistics_new(int64_t p, double rows, tct_statistics *out, tct_error *err) {
  *out = (tct_statistics){.p = p, .rows = rows, .gram = TCT_NEW(double, p *p), .moment = TCT_NEW(double, p)};
  if (out->gram && out->moment) return TCT_OK;
  tct_statistics_free(out);
  return tct_fail_memory(err);
}

void tct_statistics_free(tct_statistics *s) {
  tct_free(s->gram);
  tct_free(s->moment);
  *s = (tct_statistics){0};
}

/* ---- ridge ------------------------------------------------------------------------------------------------- */

/* w <- the last iterate, for a matrix of p rows and factor: Cholesky of matrix + r I. */
static void iterate(const double *matrix, const double *factor, const double *h, int64_t p, int64_t iterates,
                    double *rest, double *w) {
  memset(w, 0, (size_t)p * sizeof *w);
  for (int64_t k = 0; k < iterates && !tct_stopping(); k++) {
    for (int64_t i = 0; i < p; i++) rest[i] = h[i] - tct_dot(matrix + i * p, w, p);
    tct_cholesky_solve(factor, p, rest);
    tct_axpy(1, rest, w, p);
  }
}

/* The smallest ridge that brings all eigenvalues to zeta; a singular matrix without noise gets one that makes it
 * regular. factor: [p][p]. */
static double ridge_for(const double *gram, int64_t p, double zeta, double *factor) {
  double trace = 0, ridge = tct_least_shift(gram, p, -zeta, zeta, 0.05, factor);
  for (int64_t i = 0; i < p; i++) trace += fabs(gram[i * p + i]);
  double min = 1e-14 * trace / (double)p + 1e-300;
  while (isfinite(ridge) && !tct_cholesky_shifted(gram, p, ridge, factor)) ridge = fmax(2 * ridge, min);
  return ridge;
}

tct_status tct_ridge_iterated(double *gram, const double *moment, int64_t p, const tct_ridge *ridge, double *w,
                              tct_error *err) {
  double *factor = TCT_NEW(double, p *p + p);
  if (!factor) return tct_fail_memory(err);
  tct_symmetrise(gram, p);
  for (int64_t i = 0; i < p; i++) gram[i * p + i] += ridge->own;
  ridge_for(gram, p, ridge->zeta, factor);
  iterate(gram, factor, moment, p, ridge->iterates, factor + p * p, w);
  tct_wipe_free(factor, p * p + p, sizeof *factor);
  return TCT_OK;
}

/* ---- factors ------------------------------------------------------------------------------------------------- */

/* gram += sign * the kept eigenvalues' part. */
static void add_kept(double *gram, int64_t p, const double *kept, const double *vector, double sign) {
  for (int64_t k = 0; k < p && !tct_stopping(); k++)
    for (int64_t i = 0; i < p && kept[k] > 0; i++)
      tct_axpy(sign * kept[k] * vector[k * p + i], vector + k * p, gram + i * p, p);
}

/* The rest, which has `dimensions`: entries in the noise go, the diagonal is drawn to its mean over them. Returns that.
 */
static double thin(double *gram, int64_t p, double dimensions, double s) {
  double mean = 0, variance = 0, trace = 0;
  for (int64_t i = 0; i < p; i++) trace += gram[i * p + i];
  mean = trace / (double)p;
  double min = 0.5 * s * sqrt(dimensions), level = fmax(trace, min) / dimensions; /* of the noise of a trace */
  for (int64_t i = 0; i < p; i++) variance += pow(gram[i * p + i] - mean, 2) / (double)p;
  double keep = variance > s * s ? 1 - s * s / variance : 0;
  for (int64_t i = 0; i < p; i++)
    for (int64_t j = 0; j < p; j++)
      if (i == j)
        gram[i * p + i] = level + keep * (gram[i * p + i] - mean);
      else if (fabs(gram[i * p + j]) <= gram_parties_kept_entry * s * M_SQRT1_2)
        gram[i * p + j] = 0;
  return level;
}

/* Eigenvalues of gram are raised to the floor; work: [p][p] and [p][p] and [4p]. */
static bool raise(double *gram, int64_t p, double floor, double *work) {
  double *vector = work + p * p, *value = vector + p * p;
  memcpy(work, gram, (size_t)(p * p) * sizeof *work);
  if (!tct_eigenvectors(work, p, value, vector, value + p)) return false;
  for (int64_t k = 0; k < p; k++) value[k] = value[k] < floor ? floor - value[k] : 0;
  add_kept(gram, p, value, vector, 1);
  return true;
}

static bool keep_factors(const tct_statistics *t, double *vector, double *kept, double *work) {
  int64_t p = t->p;
  double s = t->gram_noise, *gram = t->gram, spread = 2 * (double)p * s * s;
  memcpy(work, gram, (size_t)(p * p) * sizeof *work);
  if (!tct_eigenvectors(work, p, kept, vector, work + 2 * p * p)) return false;
  double rest = (double)p;
  for (int64_t k = 0; k < p; k++) {
    kept[k] =
        kept[k] > gram_parties_kept_eigenvalue * sqrt(spread) ? (kept[k] + sqrt(kept[k] * kept[k] - spread)) / 2 : 0;
    rest -= kept[k] > 0;
  }
  add_kept(gram, p, kept, vector, -1);
  double level = thin(gram, p, fmax(rest, 1), s);
  if (!raise(gram, p, fmax(gram_parties_floor_of_mean * level, gram_parties_floor_of_noise * s), work)) return false;
  add_kept(gram, p, kept, vector, 1);
  return true;
}

static tct_status clean_factors(const tct_statistics *t, tct_error *err) {
  int64_t p = t->p, work = 2 * p * p + 4 * p;
  double *vector = TCT_NEW(double, p *p + p + work);
  if (!vector) return tct_fail_memory(err);
  bool ok = keep_factors(t, vector, vector + p * p, vector + p * p + p);
  tct_free(vector);
  return ok ? TCT_OK : tct_fail(err, TCT_E_RUN, "the released matrix has no eigenvalues; give clean=ridge");
}

/* ---- the minimiser --------------------------------------------------------------------------------------------- */

typedef struct descent {
  const tct_statistics *t;
  const tct_penalty *penalty;
  double largest;           /* eigenvalue */
  double *w, *ahead, *next; /* [p] each */
} descent;

static double objective(const descent *d, const double *w) {
  double sum = 0;
  for (int64_t i = 0; i < d->t->p; i++)
    sum += w[i] * (0.5 * tct_dot(d->t->gram + i * d->t->p, w, d->t->p) - d->t->moment[i]);
  return sum + d->t->rows * d->penalty->kind->value(d->penalty, w, d->t->p);
}

/* next <- the proximal step from `ahead`. */
static void step(const descent *d) {
  int64_t p = d->t->p;
  for (int64_t i = 0; i < p; i++)
    d->next[i] = d->ahead[i] - (tct_dot(d->t->gram + i * p, d->ahead, p) - d->t->moment[i]) / d->largest;
  d->penalty->kind->prox(d->penalty, d->next, p, d->t->rows / d->largest);
}

/* Accelerated, with restarts (O'Donoghue and Candes 2015). */
static void accelerate(const descent *d) {
  int64_t p = d->t->p;
  double t = 1;
  for (int k = 0; k < STEPS && !tct_stopping(); k++) {
    double back = 0, moved = 0, size = 0;
    step(d);
    for (int64_t i = 0; i < p; i++) back += (d->ahead[i] - d->next[i]) * (d->next[i] - d->w[i]);
    if (back > 0) t = 1;
    double old = t;
    t = (1 + sqrt(1 + 4 * t * t)) / 2;
    for (int64_t i = 0; i < p; i++) {
      moved = fmax(moved, fabs(d->next[i] - d->w[i])), size = fmax(size, fabs(d->next[i]));
      d->ahead[i] = d->next[i] + (old - 1) / t * (d->next[i] - d->w[i]);
      d->w[i] = d->next[i];
    }
    if (!(moved > 1e-12 * size)) return;
  }
}

/* The largest eigenvalue; gram is kept. */
static tct_status largest_of(const tct_statistics *t, double *largest, tct_error *err) {
  int64_t p = t->p;
  double *work = TCT_NEW(double, p *p + 4 * p);
  if (!work) return tct_fail_memory(err);
  memcpy(work, t->gram, (size_t)(p * p) * sizeof *work);
  bool found = tct_eigenvectors(work, p, work + p * p, NULL, work + p * p + p);
  *largest = 1e-300;
  for (int64_t k = 0; k < p; k++) *largest = fmax(*largest, work[p * p + k] * (1 + 1e-9));
  tct_free(work);
  return found ? TCT_OK : tct_fail(err, TCT_E_RUN, "the released matrix has no eigenvalues; give clean=ridge");
}

/* RIDGE for a quadratic psi, which is in the diagonal of gram with r. */
static tct_status solve_pulled(const tct_statistics *t, double r, int iterates, double *w, tct_error *err) {
  int64_t p = t->p;
  double *rest = TCT_NEW(double, p);
  if (!rest) return tct_fail_memory(err);
  bool definite = tct_cholesky(t->gram, p);
  memset(w, 0, (size_t)p * sizeof *w);
  for (int i = 0; i < iterates && definite; i++) {
    for (int64_t j = 0; j < p; j++) rest[j] = t->moment[j] + r * w[j];
    tct_cholesky_solve(t->gram, p, rest);
    memcpy(w, rest, (size_t)p * sizeof *w);
  }
  tct_free(rest);
  return definite ? TCT_OK : tct_fail(err, TCT_E_RUN, "the cleaned matrix is not definite; give clean=ridge");
}

/* One minimiser, from w on.  Never worse than the origin, which tct_statistics_weight_bound rests on. */
static tct_status descend(const tct_statistics *t, const tct_penalty *penalty, double largest, const double *origin,
                          double *w, tct_error *err) {
  int64_t p = t->p;
  double *memory = TCT_NEW(double, 2 * p);
  if (!memory) return tct_fail_memory(err);
  descent d = {.t = t, .penalty = penalty, .largest = largest, .w = w, .ahead = memory, .next = memory + p};
  memcpy(d.ahead, w, (size_t)p * sizeof *w);
  accelerate(&d);
  if (!(objective(&d, w) <= objective(&d, origin))) memcpy(w, origin, (size_t)p * sizeof *w);
  tct_free(memory);
  return TCT_OK;
}

/* RIDGE: gram has r on its diagonal.  The origin is the point of the domain nearest to 0. */
static tct_status correct_pull(const tct_statistics *t, const tct_penalty *penalty, double r, int iterates, double *w,
                               tct_error *err) {
  int64_t p = t->p;
  double largest = 0;
  TCT_TRY(largest_of(t, &largest, err));
  tct_statistics pulled = *t;
  double *memory = TCT_NEW(double, 2 * p);
  if (!memory) return tct_fail_memory(err);
  double *origin = memory + p;
  tct_status status = TCT_OK;
  pulled.moment = memory;
  penalty->kind->prox(penalty, origin, p, t->rows / largest);
  memset(w, 0, (size_t)p * sizeof *w);
  for (int i = 0; i < iterates && status == TCT_OK; i++) {
    for (int64_t j = 0; j < p; j++) pulled.moment[j] = t->moment[j] + r * w[j];
    if (i == 0) memcpy(w, origin, (size_t)p * sizeof *w);
    status = descend(&pulled, penalty, largest, origin, w, err);
  }
  tct_free(memory);
  return status;
}

/* r, and where the matrix is only shifted, what makes it definite. */
static tct_status pull_of(const tct_statistics *t, const tct_penalty *penalty, tct_cleaning cleaning, double *r,
                          tct_error *err) {
  double edge = t->gram_noise * sqrt(2 * (double)t->p);
  *r = edge * (penalty->kind->cross_polytope ? gram_parties_pull_in_ball : gram_parties_pull);
  if (cleaning == TCT_CLEAN_FACTORS) return TCT_OK;
  double *factor = TCT_NEW(double, t->p * t->p);
  if (!factor) return tct_fail_memory(err);
  *r = ridge_for(t->gram, t->p,
                 cleaning == TCT_CLEAN_RIDGE ? gram_parties_ridge * t->gram_noise * sqrt((double)t->p) : 0, factor);
  tct_free(factor);
  return TCT_OK;
}

tct_status tct_statistics_fit(const tct_statistics *t, const tct_penalty *penalty, tct_cleaning cleaning, double *w,
                              tct_error *err) {
  if (!(t->gram_noise > 0)) cleaning = TCT_CLEAN_NONE;
  int64_t p = t->p;
  int iterates = cleaning == TCT_CLEAN_RIDGE ? ITERATES : cleaning == TCT_CLEAN_FACTORS ? ITERATES_OF_FACTORS : 1;
  double own = t->rows * penalty->l2, r = 0, edge = t->gram_noise * sqrt((double)p);
  if (cleaning == TCT_CLEAN_FACTORS) TCT_TRY(clean_factors(t, err));
  if (penalty->kind->quadratic && cleaning != TCT_CLEAN_FACTORS) {
    tct_ridge ridge = {
        .own = own, .zeta = cleaning == TCT_CLEAN_RIDGE ? gram_parties_ridge * edge : 0, .iterates = iterates};
    return tct_ridge_iterated(t->gram, t->moment, p, &ridge, w, err);
  }
  TCT_TRY(pull_of(t, penalty, cleaning, &r, err));
  for (int64_t i = 0; i < p; i++) t->gram[i * p + i] += r + (penalty->kind->quadratic ? own : 0);
  if (!penalty->kind->quadratic) return correct_pull(t, penalty, r, iterates, w, err);
  return solve_pulled(t, r, iterates, w, err);
}

/* G + r I >= f I.  Each minimiser is no worse than the domain's point z nearest to 0.  That is 0 with psi = 0, or, for
 * a box, |z| is at most sqrt(p) times its distance from 0, and psi is 0 there and at w.  With m = |X'y| + r |the one
 * before| and g above every eigenvalue that is f |w|^2/2 <= m |w| + g |z|^2/2 + m |z|. */
double tct_statistics_weight_bound(const tct_facts *facts, tct_cleaning cleaning, double gram_noise, double moment,
                                   double gram) {
  const tct_penalty *penalty = &facts->penalty;
  double p = (double)facts->p, zeta = gram_parties_ridge * gram_noise * sqrt(p),
         r = gram_parties_pull * gram_noise * sqrt(2 * p), bound = 0;
  double f = gram_parties_floor_of_noise * gram_noise + r, low = isfinite(penalty->low) ? penalty->low : 0;
  if (penalty->kind->cross_polytope) return penalty->radius;
  if (cleaning == TCT_CLEAN_RIDGE) r = 1.05 * zeta + gram, f = zeta - 4 * p * p * 0x1p-52 * (p * gram + zeta);
  if (cleaning == TCT_CLEAN_NONE || !(f > 0)) return INFINITY;
  double z = sqrt(p) * fmax(0, fmax(low, isfinite(penalty->high) ? -penalty->high : 0)), g = gram + r + gram_noise;
  for (int i = 0; i < ITERATES; i++) {
    double m = moment + r * bound;
    bound = (m + sqrt(m * m + 2 * f * (g * z * z / 2 + m * z))) / f;
  }
  return 1.1 * bound;
}
