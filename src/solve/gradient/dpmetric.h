/* dpmetric.h - what the plan, the metric and the path of dpmetric agree on. */
#ifndef TCT_SOLVE_DPMETRIC_H
#define TCT_SOLVE_DPMETRIC_H
#include "la/exact/metric.h"
#include "solve/gradient/joint_sum.h"

/* From public facts and options. */
typedef struct tct_dpmetric_rule {
  bool diagonal;
  double norms, start, slopes; /* parts of the budget (of mu^2): counts of norms, sums of labels, counts of slopes, */
  double budget_fraction, second; /* first and second release of the metric */
  double clip, path_length;       /* NAN: from the released spectrum */
  double average;                 /* the last part of the path that the result averages */
  int64_t steps;
} tct_dpmetric_rule;

/* Where each release is in the promise; those whose part of the budget is 0 are not there. */
typedef struct tct_dpmetric_places {
  int norms, slopes, first, second, steps;
} tct_dpmetric_places;

/* What has been released about the table, and what follows from it; equal on all ranks. */
typedef struct tct_dpmetric_shape {
  tct_metric metric;      /* W, scaled so that the clip is 1: lengths |W x| are in units of it */
  double clip;            /* C, in the metric's own units: the step in w is C^2 W^T W */
  double dimension;       /* d = sum of t/(t + r), of the released eigenvalues freed of noise */
  double signal_to_noise; /* kappa = n mu/d */
  double slope;           /* what clips are measured by: the largest slope, or the typical one at the start */
  double curvature;       /* what steps are measured by: its bound, or of counts a few times their mean at the start */
  double constant;        /* mean loss at the start, as releases say it */
  double path_length;     /* F, the path's length in steps of size 1/curvature */
  double *origin;         /* [classes]: where the intercepts start */
  double *spectrum;       /* [p]: t/(t + r) of each direction, of those that hide at most */
  double sensitivity; /* a record's term in x is cut to this norm: it sets the lattice of sums, and hardly ever binds */
} tct_dpmetric_shape;

extern const tct_option tct_dpmetric_options[];
tct_dpmetric_rule tct_dpmetric_rule_of(const tct_facts *facts, const tct_spec *spec);
tct_dpmetric_places tct_dpmetric_places_of(const tct_dpmetric_rule *rule);
tct_status tct_dpmetric_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err);
/* The part of the budget at which noise alone cannot meet a quantile of counts: a record's own in some 28 of n.
 * `exact` is over that. */
double tct_dpmetric_counts_part(const tct_facts *facts, double exact);
/* The largest slope that clips are measured by, and the curvature that steps are. */
double tct_dpmetric_slope(const tct_facts *facts);
double tct_dpmetric_curvature(const tct_facts *facts);
/* The part of the budget that the steps have. */
double tct_dpmetric_left(const tct_dpmetric_rule *rule);
/* Clip (as a multiple of slope*sqrt(d/h)) for a released signal and d. */
double tct_dpmetric_clip(const tct_facts *facts, double signal_to_noise, double dimension);
/* Length of the path where gradients' means have so much noise in the metric. */
double tct_dpmetric_path_length(const tct_facts *facts, const tct_dpmetric_shape *shape, double noise);
/* What images of the second release are cut to, as a square of a norm over d/h; 0 where they are not worth their noise,
 * or have none.  part: what the release has of the budget. */
double tct_dpmetric_cut(double signal_to_noise, double part, int64_t p);

/* What is known of a released matrix of terms of norm at most 1. */
typedef struct tct_dpmetric_released {
  const tct_facts *facts;
  double noise; /* deviation of an entry on the diagonal */
  double unit;  /* what the matrix times it is in the objective's curvature */
  double edges; /* the ridge, in edges of the noise */
} tct_dpmetric_released;
/* shape->metric.w <- L^-1 W (fresh: L^-1), L L^T = unit * (the matrix without negative eigenvalues + ridge) + the
 * penalty; d, spectrum.  sum: [p][p] or [p], overwritten. */
tct_status tct_dpmetric_whiten(const tct_dpmetric_released *from, bool fresh, double *sum, tct_dpmetric_shape *shape,
                               tct_error *err);
void tct_dpmetric_whiten_diagonal(const tct_dpmetric_released *from, double *sum, tct_dpmetric_shape *shape);
/* sum += l2 W D W^T, D = 1 but for the intercept: the ridge as the images see it.  w NULL: W = 1. */
void tct_dpmetric_add_ridge(const tct_facts *facts, const double *w, int64_t p, double *sum);
/* Makes the releases before the steps, which are the first of the promise, and the metric.  shape is the caller's to
 * free, also after an error. */
tct_status tct_dpmetric_release(const tct_problem *problem, const tct_dpmetric_rule *rule, tct_mech *mech,
                                tct_dpmetric_shape *shape, tct_error *err);
/* Room for what there is beside the metric, which is there. */
tct_status tct_dpmetric_shape_new(int64_t classes, tct_dpmetric_shape *shape, tct_error *err);
void tct_dpmetric_shape_free(tct_dpmetric_shape *shape);

/* w[classes][p] <- from - size * move, cut to the largest weight that any path may have; w may be `from`. */
void tct_dpmetric_move(const tct_facts *facts, const double *from, double size, const double *move, double *w);
/* That largest weight, for tct_solver.weight_bound. */
double tct_dpmetric_weight_bound(const tct_facts *facts, const tct_solver_plan *plan);

/* One step's release. */
typedef struct tct_dpmetric_step {
  const tct_problem *problem;
  const tct_dpmetric_shape *shape;
  const tct_release *planned;
  double *length, *norm; /* [rows]: at least |W x_i| and |x_i| */
  int64_t classes;       /* of a joint loss, else 1 */
  tct_joint_sum joint;   /* empty but for a joint loss */
  double *sum, *scratch; /* [classes][p]: the mean of releases; workspace */
  double *inner, *one;   /* [classes][p]: S and then W S; one release */
  double from, to;       /* the lattices of S and W S */
  int64_t room;
} tct_dpmetric_step;
/* planned: the steps' release; borrowed. */
tct_status tct_dpmetric_step_new(const tct_problem *problem, const tct_dpmetric_shape *shape,
                                 const tct_release *planned, tct_dpmetric_step *out, tct_error *err);
void tct_dpmetric_step_free(tct_dpmetric_step *step); /* wipes lengths, norms and sums */
/* What |s_i| |W x_i| of a record of weight v may be at most: v of the planned clip, less what both roundings may add
 * to it.  s_i: its slope, or its slopes of all classes. */
double tct_dpmetric_own(const tct_dpmetric_step *step, double weight);
/* step->inner <- S at margins x.w, before ranks are added up. */
void tct_dpmetric_sum(tct_dpmetric_step *step, const double *w);
/* step->sum <- the mean of `times` releases r of mech, the planned one, of W S at margins x.w. */
tct_status tct_dpmetric_gradient(tct_dpmetric_step *step, tct_mech *mech, int r, int64_t times, const double *w,
                                 tct_error *err);
#endif
