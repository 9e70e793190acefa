/* certified_minimum.c - the fast way to a certified minimum: a sample of the rows first, then few passes over all of
 * them.
 *
 * Nothing here touches a guarantee: a bad step costs time, and the certificate of smooth.c is what counts.  Passes are
 * limited; where they do not suffice, accelerate.c takes over from 0.
 *
 * Newton's method on a sample comes as near to the minimum over all rows as the sample's chance allows.  From there
 * quasi-Newton steps, whose first metric is the sample's Hessian, gain about a digit or more per pass.  Every trial
 * point costs one pass, which gives the derivative along the step and, where the step is taken, the next gradient.  The
 * sample is chosen by position, so the ranks agree on it. */
#include "core/point.h"
#include "la/exact/gram.h"
#include "la/kernels/kernels.h"
#include "solve/minimiser/lbfgs_pairs.h"
#include "solve/minimiser/smooth.h"

#include <string.h>

/* SAMPLE: rows per feature that the first phase wants, a Hessian's relative error is then about sqrt(1/SAMPLE); of
 * fewer records a quarter, but LEAST per feature.  NEAR: its gradient, in parts of the largest possible, that is as
 * small as chance leaves it.  MEMORY: pairs kept.  TRIALS: halvings of a step.  TAIL: passes that may follow the last
 * look at how many there were. */
enum { SAMPLE = 96, LEAST = 32, MEMORY = 16, SAMPLE_STEPS = 12, TRIALS = 60, TAIL = 8 };
static const double NEAR = 2e-3, LOOSE = 0.9, TIGHT = 0.02, FLAT = 0.01;

static double computed_norm(const tct_smooth *s) {
  int64_t p = s->problem->view->p;
  return sqrt(tct_norm2(s->gradient, p)) * (1 + (s->facts.p + 16) * 0x1p-53);
}

/* From w along the direction to where the derivative is `part` of its size or less.  w moves, and the gradient
 * is that at the new w; *t: the step taken. */
static tct_status trial(tct_smooth *s, int64_t take, double part, double *w, double *t, tct_error *err) {
  int64_t p = s->problem->view->p;
  double start = tct_dot(s->gradient, s->direction, p), low = 0, high = INFINITY;
  memcpy(s->before, s->gradient, (size_t)p * sizeof *s->before);
  memcpy(s->base, w, (size_t)p * sizeof *s->base);
  *t = 1;
  for (int k = 0; k < TRIALS && (k == 0 || !tct_smooth_spent(s)); k++) {
    for (int64_t j = 0; j < p; j++) w[j] = s->base[j] + *t * s->direction[j];
    TCT_TRY(tct_smooth_gradient_of(s, w, take, err));
    double at = tct_dot(s->gradient, s->direction, p);
    if (!(fabs(at) > part * fabs(start))) break;
    if (at < 0)
      low = *t;
    else
      high = *t;
    *t = isinf(high) ? 2 * *t : 0.5 * (low + high);
  }
  return TCT_OK;
}

static void downhill(tct_smooth *s) { /* not a descent direction: the gradient itself is one */
  int64_t p = s->problem->view->p;
  if (tct_dot(s->direction, s->gradient, p) < 0) return;
  for (int64_t j = 0; j < p; j++) s->direction[j] = -s->gradient[j];
}

/* Newton's method on a sample. */
static tct_status on_sample(tct_smooth *s, int64_t take, double *w, tct_error *err) {
  int64_t p = s->problem->view->p;
  double stop = NEAR * s->facts.rows * s->facts.slope * s->facts.row_norm, t;
  TCT_TRY(tct_smooth_gradient_of(s, w, take, err));
  for (int k = 0; k < SAMPLE_STEPS && computed_norm(s) > stop && !tct_smooth_spent(s); k++) {
    bool good = true;
    TCT_TRY(tct_problem_tick(s->problem, 0, err));
    TCT_TRY(tct_newton_factor(s, take, k == 0 ? FLAT : 0, &good, err));
    for (int64_t j = 0; j < p; j++) s->direction[j] = -s->gradient[j];
    if (good) tct_cholesky_solve(s->gram, p, s->direction);
    downhill(s);
    TCT_TRY(trial(s, take, LOOSE, w, &t, err));
  }
  return TCT_OK;
}

static int64_t sample_of(const tct_smooth *s) {
  int64_t all = tct_smooth_all(s), take = 8;
  double each = s->facts.rows / (double)all;
  while (take < all / 4 && each * (double)take < SAMPLE * s->facts.p) take *= 2;
  return each * (double)take < LEAST * s->facts.p || !(s->facts.coarse > 0) ? all : take;
}

/* Quasi-Newton steps over all rows.  The first step has the sample's metric.  The second has that of all rows: it is
 * near enough for a Hessian that will serve to the end.  So has any later step whose metric no longer helps.  Where
 * curvature comes and goes within a step (a narrow corner, separable records) only exact line searches get through. */
static tct_status on_all(tct_smooth *s, tct_pairs *pairs, double target, int64_t steps, double *w, bool *done,
                         tct_error *err) {
  int64_t all = tct_smooth_all(s), take = sample_of(s);
  double last = INFINITY, part = LOOSE, t = 1;
  bool good = false, from_0 = tct_norm2(w, s->problem->view->p) == 0;
  int age = 0;
  TCT_TRY(tct_smooth_gradient(s, w, err));
  for (int64_t k = 0;; k++, age++) {
    double norm = computed_norm(s);
    if ((*done = tct_smooth_certified(s, w, target)) || !isfinite(norm) || k == steps || tct_smooth_spent(s))
      return TCT_OK;
    TCT_TRY(tct_problem_tick(s->problem, 0, err));
    if (k <= 1 || (age >= 1 && norm > 0.3 * last)) {
      TCT_TRY(tct_newton_factor(s, k == 0 ? take : all, k == 0 && from_0 ? FLAT : 0, &good, err));
      pairs->count = 0;
      age = 0;
    }
    if (norm > 0.9 * last || (k > 0 && t != 1)) part = TIGHT;
    last = norm;
    tct_pairs_direction(pairs, good ? s->gram : NULL, s->gradient, s->direction);
    downhill(s);
    TCT_TRY(trial(s, all, part, w, &t, err));
    tct_pairs_keep(pairs, t, s->direction, s->before, s->gradient);
  }
}

static tct_status quasi_newton(tct_smooth *s, double target, int64_t steps, double *w, bool *done, tct_error *err) {
  tct_pairs pairs = {0};
  int64_t take = sample_of(s), p = s->problem->view->p;
  TCT_TRY(tct_pairs_new(&pairs, MEMORY, p, err));
  tct_status status = take < tct_smooth_all(s) ? on_sample(s, take, w, err) : TCT_OK;
  if (sqrt(tct_norm2(w, p)) > tct_smooth_radius(&s->facts)) memset(w, 0, (size_t)p * sizeof *w); /* 0 is better */
  if (status == TCT_OK) status = on_all(s, &pairs, target, steps, w, done, err);
  tct_pairs_free(&pairs);
  return status;
}

/* Newton steps by conjugate gradients, where a Hessian is too large; true when certified. */
static tct_status newton(tct_smooth *s, double target, int64_t steps, double *w, bool *done, tct_error *err) {
  for (int64_t k = 0;; k++) {
    TCT_TRY(tct_problem_tick(s->problem, 0, err));
    TCT_TRY(tct_smooth_gradient(s, w, err));
    double norm = computed_norm(s), t = 0;
    if ((*done = tct_smooth_certified(s, w, target)) || !isfinite(norm) || k == steps || tct_smooth_spent(s))
      return TCT_OK;
    TCT_TRY(tct_newton_direction(s, err));
    downhill(s);
    TCT_TRY(tct_smooth_step(s, w, &t, err));
    tct_axpy(t, s->direction, w, s->problem->view->p);
  }
}

tct_status tct_smooth_minimise(tct_smooth *s, double target, int64_t steps, double *w, tct_error *err) {
  bool done = false, promised = target >= tct_smooth_reachable(&s->facts);
  s->passes = 0;
  int64_t most = TCT_POINT(ending_follows_a_record, (int64_t)tct_smooth_fast(&s->facts) - TAIL, 20);
  s->max = promised ? most : INT64_MAX;
  if (promised && steps > 0) steps = INT64_MAX; /* passes count, and the other method follows */
  if (TCT_POINT(ending_in_weeks, true, !promised))
    TCT_TRY(s->gram ? quasi_newton(s, target, steps, w, &done, err) : newton(s, target, steps, w, &done, err));
  if (done || !promised) return TCT_OK;
  return TCT_POINT(ending_follows_a_record, tct_smooth_descend(s, target, w, err),
                   tct_fail(err, TCT_E_RUN, "did not converge"));
}
