/* gradient_release.c - the clipped, released gradient over all records, and the public facts that its users start from.
 */
#include "solve/gradient/gradient_release.h"

#include "core/alloc.h"
#include "la/exact/gradient.h"
#include "solve/gradient/agd.h"

double tct_descent_largest(const tct_facts *facts) {
  double slope = tct_loss_slope_bound(&facts->loss);
  return facts->row_norm * (isfinite(slope) ? slope : facts->label_bound);
}

double tct_descent_signal(const tct_facts *facts) {
  return fmin(
      tct_signal_to_noise(facts->rows, facts->p, &(tct_target){facts->neighbours, facts->epsilon, facts->delta}), 1e6);
}

/* Squared loss: the clip's bias does not fall with the signal s, and the noise's excess falls with (C/s)^2.  A clip
 * that follows the root of s makes both fall: from a third of R Y to two thirds (docs/decisions/gradient-rules.md). */
static double part_real(double signal_to_noise) { return fmin(fmax(sqrt(signal_to_noise / 300), 1), 2) / 3; }

/* Two classes: 0.7 of the largest gradient, since slopes near the largest become rare.  Where there is too little
 * signal to go far, the largest at w = 0: half for logistic loss, all of it for a hinge
 * (docs/decisions/gradient-rules.md). */
static double part_class(const tct_loss *loss, double signal_to_noise) {
  double start = fabs(tct_loss_slope(loss, 0, 1)) / tct_loss_slope_bound(loss);
  return fmin(0.7, start * fmax(sqrt(signal_to_noise / 40), 1));
}

double tct_descent_clip(const tct_facts *facts) {
  const tct_loss *loss = &facts->loss;
  double signal_to_noise = tct_descent_signal(facts), part = 0.7;
  if (!isfinite(tct_loss_slope_bound(loss)))
    part = part_real(signal_to_noise);
  else if (loss->kind->binary)
    part = part_class(loss, signal_to_noise);
  return part * tct_descent_largest(facts);
}

tct_release tct_descent_release(const tct_facts *facts, double clip, double noise, int64_t count) {
  clip = tct_plan_clip(facts, clip);
  return tct_release_sum("sum of clipped gradients", tct_event_gaussian(noise, count), clip, clip, facts->rows);
}

tct_status tct_descent_new(const tct_problem *problem, tct_mech *mech, int release, tct_descent *out, tct_error *err) {
  int64_t n = problem->view->rows, p = problem->view->p;
  *out = (tct_descent){.mech = mech, .release = release, .rows = n, .p = p};
  out->room = tct_gradient_scratch(p, problem->facts->threads);
  out->computed_norms = TCT_NEW(double, n);
  out->sum = TCT_NEW(double, p);
  out->scratch = TCT_NEW(double, out->room);
  if (!out->computed_norms || !out->sum || !out->scratch) return tct_fail_memory(err);
  tct_row_norms(problem->view, out->computed_norms, problem->facts->threads);
  return TCT_OK;
}

void tct_descent_free(tct_descent *descent) {
  tct_wipe_free(descent->computed_norms, descent->rows, sizeof(double));
  tct_wipe_free(descent->sum, descent->p, sizeof(double));
  tct_wipe_free(descent->scratch, descent->room, sizeof(double));
}

typedef struct factors {
  const tct_problem *problem;
  const double *computed_norms;
  double clip, lattice;
  int64_t p;
} factors;

/* The rounding may lengthen each term by sqrt(p)/2 lattices, however small its weight: a person's terms stay within C
 * together because each leaves that much of its own v_i C free. */
static void factors_of(const void *user, int64_t first, int64_t count, double *a) {
  const factors *f = user;
  const double *weight = f->problem->weight;
  double room = fmax(tct_gradient_factor_max(f->clip, f->lattice, f->p), 0);
  tct_clip_rows(f->problem, first, count, f->computed_norms, weight ? f->clip : room, a);
  for (int64_t k = 0; k < count && weight; k++) {
    double size = fabs(a[k]) * f->computed_norms[first + k];
    double own = fmax(tct_gradient_factor_max(weight[first + k] * f->clip, f->lattice, f->p), 0);
    if (size > own) a[k] *= own / size * (1 - 0x1p-48);
  }
}

tct_status tct_descent_gradient(const tct_problem *problem, tct_descent *descent, const double *u, tct_error *err) {
  const tct_release *planned = tct_mech_release_of(descent->mech, descent->release);
  factors f = {problem, descent->computed_norms, planned->clip, planned->lattice, descent->p};
  tct_gradient_lattice(problem->view, u, (tct_factors){factors_of, &f}, planned->lattice, descent->sum,
                       descent->scratch, problem->facts->threads);
  return tct_mech_release(descent->mech, descent->release, descent->sum, descent->p, err);
}
