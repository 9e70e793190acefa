/* gradient_release.c - the clipped, released gradient over all records, and the public facts that its users start from.
 */
#include "solve/gradient/gradient_release.h"

#include "core/alloc.h"
#include "la/exact/gradient.h"
#include "solve/gradient/rules.def"

#include <math.h>
#include <string.h>

double tct_descent_largest(const tct_facts *facts) {
  double slope = tct_loss_slope_bound(&facts->loss);
  return facts->row_norm * (isfinite(slope) ? slope : facts->label_bound);
}

tct_status tct_descent_step(const tct_facts *facts, const tct_option *table, tct_solver_plan *plan, tct_error *err) {
  double r = facts->row_norm > 0 ? facts->row_norm : 1;
  double curvature = facts->loss.kind->curvature_bound(facts->loss.h);
  double smooth = isfinite(curvature) ? curvature : 1; /* a kink: as if its slope range 1 were spread over width 1 */
  double step = tct_spec_real(&plan->spec, table, "step");
  if (isnan(step)) step = 1 / (smooth * r * r + facts->penalty.l2);
  return tct_spec_set_real(&plan->spec, "step", step, err);
}

/* prox of step*psi, sparing the intercept. */
void tct_prox_step(const tct_facts *facts, double *w, double step) {
  const tct_penalty *penalty = &facts->penalty;
  int64_t p = facts->p - (facts->intercept ? 1 : 0);
  penalty->kind->prox(penalty, w, p, step);
}

double tct_descent_signal(const tct_facts *facts) {
  return fmin(
      tct_signal_to_noise(facts->rows, facts->p, &(tct_target){facts->neighbours, facts->epsilon, facts->delta}), 1e6);
}

/* Squared loss: the clip's bias does not fall with the signal s, and the noise's excess falls with (C/s)^2.  A clip
 * that follows the root of s makes both fall: from a third of R Y to two thirds (docs/decisions/gradient-rules.md). */
static double part_real(double signal_to_noise) {
  return fmin(fmax(sqrt(signal_to_noise / dpgd_number_clip_signal), 1), 2) / 3;
}

/* Two classes: 0.7 of the largest gradient, since slopes near the largest become rare.  Where there is too little
 * signal to go far, the largest at w = 0: half for logistic loss, all of it for a hinge
 * (docs/decisions/gradient-rules.md). */
static double part_class(const tct_loss *loss, double signal_to_noise) {
  double slope = loss->kind->joint ? sqrt(1 - 1 / loss->h) : fabs(tct_loss_slope(loss, 0, 1));
  double start = slope / tct_loss_slope_bound(loss);
  return fmin(dpgd_clip, start * fmax(sqrt(signal_to_noise / dpgd_class_clip_signal), 1));
}

double tct_descent_clip(const tct_facts *facts) {
  const tct_loss *loss = &facts->loss;
  double signal_to_noise = tct_descent_signal(facts), part = dpgd_clip;
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
  out->computed_norms = tct_alloc_by(problem->facts->threads, n, sizeof(double));
  out->outputs = tct_loss_outputs(&problem->facts->loss);
  out->sum = TCT_NEW(double, out->outputs *p);
  out->scratch = TCT_NEW(double, out->room);
  if (!out->computed_norms || !out->sum || !out->scratch) return tct_fail_memory(err);
  if (out->outputs > 1) TCT_TRY(tct_joint_sum_new(problem, &out->joint, err));
  tct_row_norms(problem->view, out->computed_norms, problem->facts->threads);
  return TCT_OK;
}

void tct_descent_free(tct_descent *descent) {
  tct_wipe_free(descent->computed_norms, descent->rows, sizeof(double));
  tct_wipe_free(descent->sum, descent->sum ? descent->outputs * descent->p : 0, sizeof(double));
  tct_joint_sum_free(&descent->joint);
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
  tct_clip_rows(f->problem, first, count, f->computed_norms, weight ? f->clip : room, false, a);
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

/* ---- a joint loss: its term in all classes has norm |slopes| |x_i| (joint_sum.c) -----------------------------------
 */

static tct_joint_limit limit_of(const void *user, int64_t row, double weight) {
  const factors *f = user;
  double own = tct_gradient_factor_max(weight * f->clip, f->lattice, f->p);
  return (tct_joint_limit){f->computed_norms[row], fmax(own, 0)};
}

tct_status tct_joint_gradient(const tct_problem *problem, tct_descent *d, const double *u, tct_error *err) {
  const tct_release *planned = tct_mech_release_of(d->mech, d->release);
  factors f = {problem, d->computed_norms, planned->clip, planned->lattice, d->outputs * d->p};
  tct_joint_sum_at(&d->joint, problem, u, (tct_joint_limits){limit_of, &f}, planned->lattice, d->sum, d->scratch);
  return tct_mech_release(d->mech, d->release, d->sum, d->outputs * d->p, err);
}
