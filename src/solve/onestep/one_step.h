/* one_step.h - what the plan, the sums and the covariance of dponestep agree on. */
#ifndef TCT_SOLVE_ONESTEP_H
#define TCT_SOLVE_ONESTEP_H
#include "solve/gradient/dpmetric.h"

/* Edges of the residuals that are counted: 4 Y 2^(-k/3). */
enum { TCT_ONESTEP_EDGES = 40 };

/* From public facts and options. */
typedef struct tct_onestep_rule {
  bool robust;                  /* errors hold under a wrong model too */
  bool sandwich;                /* the variance of slopes is released; else the curvature stands for it */
  bool scaled;                  /* labels are numbers: the clip of slopes follows the residuals' counts */
  double metric, path, moments; /* parts of the budget (of mu^2) */
  double scale;                 /* part for each of the three counts of residuals; 0 where not scaled */
  double weight, clip;          /* c_z and k_c; NAN: from the released signal */
  double path_length;           /* the longest path that these facts allow, in steps of one over the curvature */
  int64_t steps;
} tct_onestep_rule;

/* Where each release is in the promise, after those of dpmetric, in the order of the run.  Where the rule is scaled,
 * residuals are counted before each part of the path and at its end.  Otherwise the path has one part. */
typedef struct tct_onestep_places {
  int scale[3], steps[2], last, moments;
} tct_onestep_places;

extern const tct_option tct_onestep_options[];
tct_onestep_rule tct_onestep_rule_of(const tct_facts *facts, const tct_spec *spec);
/* Steps of the path's first part: the labels' scale is not that of the residuals, and this part finds it. */
int64_t tct_onestep_first(const tct_onestep_rule *rule);
tct_onestep_places tct_onestep_places_of(const tct_onestep_rule *rule);
/* What the rule asks of dpmetric's releases. */
tct_dpmetric_rule tct_onestep_metric_rule(const tct_facts *facts, const tct_onestep_rule *rule);
tct_status tct_onestep_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err);
/* c_z, k_c and the path's length for a released signal. */
double tct_onestep_weight(const tct_facts *facts, const tct_onestep_rule *rule, double signal_to_noise);
double tct_onestep_clip(const tct_facts *facts, const tct_onestep_rule *rule, double signal_to_noise);
/* The clip of slopes along the path, in the units of tct_onestep_clip. */
double tct_onestep_path_clip(const tct_facts *facts, const tct_onestep_rule *rule, double signal_to_noise);
double tct_onestep_path_length(double signal_to_noise);

/* One run.  Images z = W x have length about 1, and weights are counted in the same coordinates, v: w = W^T v. */
typedef struct tct_onestep {
  const tct_problem *problem;
  tct_mech *mech;
  tct_onestep_rule rule;
  tct_onestep_places at;
  tct_dpmetric_shape shape;  /* the unit metric W; shape.clip: C in dpmetric's own units */
  tct_dpmetric_shape scaled; /* W/C, so that a record's own term has length at most 1 */
  double *omega;             /* [rows]: the weight of each record, from its row alone */
  double weight;             /* c_z: omega = min(1, (c_z/|z|)^2) */
  double curvature;          /* what steps and the moments' unit count as the largest curve of the loss */
  double clip;               /* C: |psi z| <= C; logistic: with either label */
  double residual;           /* the 68 % quantile of |residual| at the last count, between two edges; NAN: unknown */
  double inverse;            /* the Frobenius norm of W's inverse */
  tct_dpmetric_step step;    /* the sums of psi W x/C, by `scaled` */
} tct_onestep;

/* W, weights of the records, and room. */
tct_status tct_onestep_begin(tct_onestep *run, const tct_solver_plan *plan, tct_error *err);
void tct_onestep_free(tct_onestep *run);
/* The clip for release `release`: at most `factor`; where slopes have no bound, that times the 68 % quantile of
 * |residual| at w, from release `scale`. */
tct_status tct_onestep_set_clip(tct_onestep *run, double factor, int scale, int release, const double *w,
                                tct_error *err);
/* A loss whose curve has a far tail: records whose curve at w is above run->curvature weigh less from here on. */
tct_status tct_onestep_reweigh(tct_onestep *run, const double *w, tct_error *err);
/* g[p] <- the mean of psi z at w with the noise of release r, in units of v, without the ridge; *deviation of it. */
tct_status tct_onestep_gradient(tct_onestep *run, int r, const double *w, double *g, double *deviation, tct_error *err);

/* Means of omega psi' z z^T and psi^2 z z^T with noise, in units of v; deviation of an entry on the diagonal. */
typedef struct tct_onestep_moments {
  double *curvature, *variance; /* [p][p]; variance NULL: the curvature stands for it */
  double curvature_noise, variance_noise;
} tct_onestep_moments;
tct_status tct_onestep_release_moments(tct_onestep *run, const double *w, tct_onestep_moments *out, tct_error *err);
/* matrix[p][p] += l2 W D W^T, D = 1 but for the intercept. */
void tct_onestep_add_ridge(const tct_onestep *run, double *matrix);
/* g[p] += l2 W D w. */
void tct_onestep_add_slope(const tct_onestep *run, const double *w, double *g);

/* The last step and the covariance, from releases alone.  weights [p]: w_0; gradient: of it, in units of v, deviation:
 * of its noise; moments with the ridge.  step[p] <- D, in units of v; inference <- covariances of w. */
typedef struct tct_onestep_released {
  const double *weights, *gradient;
  double deviation;
  const tct_onestep_moments *moments;
  int64_t rows;
  tct_link link; /* not TCT_LINK_IDENTITY: the curvature depends on w, so a long last step is not to be believed */
} tct_onestep_released;
tct_status tct_onestep_covariance(const tct_onestep_released *released, const tct_metric *metric, double *step,
                                  tct_inference *inference, tct_error *err);
#endif
