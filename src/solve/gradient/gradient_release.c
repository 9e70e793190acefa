/* gradient_release.c - the clipped, released gradient over all records, and the public facts that its users start from.
 */
#include "solve/gradient/gradient_release.h"

#include "core/alloc.h"
#include "la/exact/gradient.h"
#include "solve/gradient/agd.h"

/* Noise multiplier of one Gaussian release that uses all of (epsilon, delta): 1/mu for add_remove.  0 without privacy
 * and where nothing could be calibrated. */
static double noise_of(const tct_facts *facts) {
  double noise = 0;
  tct_cost cost;
  if (!isfinite(facts->epsilon)) return 0;
  if (tct_calibrate_noise(1, 1, facts->neighbours, facts->epsilon, facts->delta, &noise, &cost, NULL) != TCT_OK)
    return 0;
  return noise;
}

double tct_descent_largest(const tct_facts *facts) {
  double slope = tct_loss_slope_bound(&facts->loss);
  return facts->row_norm * (isfinite(slope) ? slope : facts->label_bound);
}

double tct_descent_signal(const tct_facts *facts) {
  double noise = noise_of(facts);
  return fmin(noise > 0 ? (double)facts->rows / (noise * sqrt((double)facts->p)) : 1e6, 1e6);
}

/* Squared loss: the clip's bias does not fall with the signal s, the noise's excess does, with (C/s)^2, so that a clip
 * that follows its root still makes it fall.  Excess in % of half the labels' variance (bench_ridge) at a third and at
 * two thirds of R Y: diabetes130 1.38 and 0.83 at s = 870, 1.07 and 0.10 at 10,000; nist_acs 5.4 and 5.7 at 130, 0.89
 * and 0.25 at 1500; california, whose labels stay far below Y, 1.7 and 3.8 at 400, 0.05 and 0.05 at 4500. */
static double share_real(double signal) { return fmin(fmax(sqrt(signal / 300), 1), 2) / 3; }

/* Two classes: 0.7 of the largest gradient (dpgd.c), but where there is too little signal to go far, of what it is at w
 * = 0: half for logistic loss.  That took dpgd's objective at 0.05 from 0.581 to 0.565 on nist_acs (s = 21) and from
 * 0.341 to 0.306 on phishing (11); on bank (66) it would have cost 3 %.  A hinge's largest is that of w = 0. */
static double share_class(const tct_loss *loss, double signal) {
  double start = fabs(tct_loss_slope(loss, 0, 1)) / tct_loss_slope_bound(loss);
  return fmin(0.7, start * fmax(sqrt(signal / 40), 1));
}

double tct_descent_clip(const tct_facts *facts) {
  const tct_loss *loss = &facts->loss;
  double signal = tct_descent_signal(facts), share = 0.7;
  if (!isfinite(tct_loss_slope_bound(loss)))
    share = share_real(signal);
  else if (loss->kind->binary)
    share = share_class(loss, signal);
  return share * tct_descent_largest(facts);
}

tct_status tct_descent_new(const tct_problem *problem, double clip, double noise, tct_descent *out, tct_error *err) {
  int64_t n = problem->view->rows, p = problem->view->p;
  *out = (tct_descent){.noise = noise, .clip = clip, .rows = n, .p = p};
  if (!isfinite(problem->facts->epsilon)) out->clip *= 1024;
  out->lattice = tct_mech_lattice(out->clip, noise, problem->facts->rows);
  out->room = tct_gradient_scratch(p, problem->facts->threads);
  out->row_norm = TCT_NEW(double, n);
  out->sum = TCT_NEW(double, p);
  out->scratch = TCT_NEW(double, out->room);
  if (!out->row_norm || !out->sum || !out->scratch) return tct_fail_memory(err);
  tct_row_norms(problem->view, out->row_norm, problem->facts->threads);
  return TCT_OK;
}

void tct_descent_free(tct_descent *descent) {
  tct_wipe_free(descent->row_norm, descent->rows, sizeof(double));
  tct_wipe_free(descent->sum, descent->p, sizeof(double));
  tct_wipe_free(descent->scratch, descent->room, sizeof(double));
}

typedef struct factors {
  const tct_problem *problem;
  const double *row_norm;
  double clip, lattice;
  int64_t p;
} factors;

/* The rounding may lengthen each term by sqrt(p)/2 lattices, however small its weight: a person's terms stay within C
 * together because each leaves that much of its own v_i C free. */
static void factors_of(const void *user, int64_t first, int64_t count, double *a) {
  const factors *f = user;
  const double *weight = f->problem->weight;
  double room = fmax(tct_gradient_room(f->clip, f->lattice, f->p), 0);
  tct_clip_rows(f->problem, first, count, f->row_norm, weight ? f->clip : room, a);
  for (int64_t k = 0; k < count && weight; k++) {
    double size = fabs(a[k]) * f->row_norm[first + k];
    double own = fmax(tct_gradient_room(weight[first + k] * f->clip, f->lattice, f->p), 0);
    if (size > own) a[k] *= own / size * (1 - 0x1p-48);
  }
}

tct_status tct_descent_gradient(const tct_problem *problem, tct_descent *descent, tct_mech *mech, const double *u,
                                tct_error *err) {
  factors f = {problem, descent->row_norm, descent->clip, descent->lattice, descent->p};
  tct_gradient_lattice(problem->view, u, factors_of, &f, descent->lattice, descent->sum, descent->scratch,
                       problem->facts->threads);
  return tct_mech_sum(mech, descent->noise, descent->clip, descent->lattice, descent->sum, descent->p, err);
}
