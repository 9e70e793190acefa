/* one_step.h - what the plan, the metric, the sums and the covariance of dponestep agree on. */
#ifndef TCT_SOLVE_ONESTEP_H
#define TCT_SOLVE_ONESTEP_H
#include "la/kernels/kernels.h"
#include "solve/gradient/dpmetric.h"

/* Lengths of rows and of terms are counted between the edges 2^(k/2), k = -16 .. 14. */
enum { TCT_ONESTEP_EDGES = 31 };
/* The part of the largest eigenvalue below which one is rounding, whatever the noise. */
#define TCT_ONESTEP_ROUNDING 1e-6

/* From public facts and options. */
typedef struct tct_onestep_rule {
  bool robust;         /* errors hold under a wrong model too */
  bool sandwich;       /* the variance of slopes is released; else the curvature stands for it */
  bool scaled;         /* labels are numbers: clips follow counts of terms */
  double signal;       /* n mu/p */
  double metric;       /* parts of the budget (of mu^2): sums, squares, two matrices and lengths of rows, */
  double path;         /* gradients and curvatures of the walk, */
  double scale;        /* counts of terms; 0 where not scaled, */
  double slopes;       /* the second moment of terms that shapes the last gradient; 0 without a sandwich, */
  double moments;      /* the last curvature and variance */
  double weight, clip; /* c_z and the clip; NAN: from releases */
  int64_t steps;
} tct_onestep_rule;

/* Where each release is in the promise; those whose part of the budget is 0 are not there. */
typedef struct tct_onestep_places {
  int sums, squares, gram, lengths, counts, steps, curvatures, slopes, last_counts, last, moments;
} tct_onestep_places;

extern const tct_option tct_onestep_options[];
tct_onestep_rule tct_onestep_rule_of(const tct_facts *facts, const tct_spec *spec);
tct_onestep_places tct_onestep_places_of(const tct_onestep_rule *rule);
tct_status tct_onestep_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err);

/* One run.  Images z = W x have a mean square length of 1, and weights are counted in the same coordinates, v: w = W^T
 * v.  All but omega and length follows from releases. */
typedef struct tct_onestep {
  const tct_problem *problem;
  tct_mech *mech;
  tct_onestep_rule rule;
  tct_onestep_places at;
  double rows;       /* n, or where records are weighed the sum of weights over the cap, as released */
  tct_metric metric; /* W */
  double *second;    /* [p][p]: the mean of z z^T, but for the ridge */
  double *mean;      /* [p]: of the rows */
  double *unseen;    /* [p]: of a column's variance, what rows hidden by the counts' noise could have at its bounds */
  double dimension;  /* d */
  double start, typical;     /* the margin that is best for all alike, and the curve there */
  double weight;             /* c_z: omega = min(1, (c_z/|z|)^2) */
  double curvature;          /* h: a record whose curve at w is above it weighs less */
  double unit;               /* of counted terms */
  double farthest;           /* the farthest edge that a length is seen at */
  bool last;                 /* the last releases: where many rows are far, gradients weigh all records alike */
  bool heavy;                /* many rows are far */
  double categories;         /* the part of rows that are far by a rare category alone */
  double *omega;             /* [rows]: the weight of each record, from its row alone */
  double *length;            /* [rows]: of its image in the gradient's metric, at least */
  double dispersion;         /* of counts: the variance of slopes by the curvature, 1 under a right model; 0: unknown */
  double uncertain;          /* of dispersion: the noise in it */
  double hidden;             /* of the variance of terms of numbers, what hidden rows could have */
  double taken, unsure;      /* what the clip takes from the mean term and is given back, and its error */
  double lost;               /* that in any direction */
  double *shift;             /* [p]: that error, along the rows that it is of */
  double clip;               /* C: |psi z| <= C in the gradient's metric; logistic: with either label */
  tct_metric shaped;         /* the gradient's metric G^-1 W */
  double *factor;            /* [p][p]: G, lower; the unit matrix along the walk */
  tct_dpmetric_shape scaled; /* G^-1 W/C, so that a record's own term has length at most 1 */
  tct_dpmetric_step step;    /* the sums of psi G^-1 W x/C, by `scaled` */
} tct_onestep;

/* W and what follows from lengths, and room. */
tct_status tct_onestep_begin(tct_onestep *run, const tct_solver_plan *plan, tct_error *err);
void tct_onestep_free(tct_onestep *run);
/* Is there a record?  A row of zeros stands for none, and adds nothing to any release; nor does a weight of 0. */
bool tct_onestep_there(const tct_onestep *run, int64_t row);
/* Of a record, over the cap: in [0, 1]. */
static inline double tct_onestep_weight(const tct_onestep *run, int64_t row) {
  return run->problem->weight ? run->problem->weight[row] : 1;
}
/* Of a column, from end to end: 2 R by the root of p, or half of it in [0, 1]. */
static inline double tct_onestep_reach(const tct_onestep *run) {
  return (run->problem->unit ? 1 : 2) * run->problem->facts->row_norm / sqrt((double)run->metric.p);
}
/* The cell of a size in units of the edges, TCT_ONESTEP_EDGES - 1 for the largest. */
int tct_onestep_cell(double size);
double tct_onestep_edge(int k);
/* The gradient's metric becomes G^-1 W for run->factor. */
tct_status tct_onestep_shape(tct_onestep *run, tct_error *err);

/* From signed counts of terms: the least clip whose cut moves the mean term by less than `part` of one direction's
 * error, deviation `noise` for a clip of 1.  last: also what far rows ask for. */
typedef struct tct_onestep_terms {
  const double *count; /* [2][TCT_ONESTEP_EDGES]: terms above 0, and the others */
  double deviation;    /* of a count's noise */
  double rows, dimension, noise, part;
  double dispersion;
  double typical;   /* of counts: the mean that the walk starts at; 0: no counts */
  double most;      /* no term is longer */
  bool amounts;     /* what the clip takes is given back */
  bool even, heavy; /* even: residuals are about as often above as below; heavy: many rows are far */
  double given;     /* the clip in typical terms; NAN: as above */
  double taken;     /* out: what the clip takes from the mean term: slopes above 0 less the others */
  double unsure;    /* out: its error */
  double lost;      /* out: that in any direction */
  double rms;       /* out: of the terms that are seen */
  double quantile;  /* out: the edge that 68 % of them are within */
  double uneven;    /* out: how unlike the tails of both signs are, in [0, 1]; 1 where one is not seen */
} tct_onestep_terms;
/* Is this dispersion that of a model whose counts vary more than it says?  In [0, 1]. */
static inline double tct_onestep_varied(double dispersion) { return fmin(fmax(10 * (dispersion - 1), 0), 1); }
double tct_onestep_pick_clip(tct_onestep_terms *terms);
/* mean - y where y is cut to mean +- room, less what a Poisson law expects of that.  part <- of the curve, in [0, 1].
 */
double tct_onestep_cut_count(double mean, double y, double room, double *part);
/* The clip for release `release`, from release `counts` of terms at w where slopes have no bound; NULL w: as it is. */
tct_status tct_onestep_set_clip(tct_onestep *run, int counts, int release, double part, const double *w,
                                tct_error *err);
/* The sums' room for the clip and release r. */
tct_status tct_onestep_open_sums(tct_onestep *run, int r, tct_error *err);
/* g[p] <- the mean of psi z at w with the noise of release r, in units of v, without the ridge; *deviation of it in
 * the gradient's metric. */
tct_status tct_onestep_gradient(tct_onestep *run, int r, const double *w, double *g, double *deviation, tct_error *err);

/* Means of omega psi' z z^T and psi^2 z z^T with noise; deviation of an entry on the diagonal.  The second is in the
 * gradient's metric where this comes from a run. */
typedef struct tct_onestep_moments {
  double *curvature, *variance; /* [p][p]; either NULL: is not wanted */
  double curvature_noise, variance_noise;
} tct_onestep_moments;
/* out's matrices are the caller's. */
tct_status tct_onestep_release_moments(tct_onestep *run, int r, const double *w, tct_onestep_moments *out,
                                       tct_error *err);
/* matrix[p][p] += l2 W D W^T, D = 1 but for the intercept. */
void tct_onestep_add_ridge(const tct_onestep *run, double *matrix);
/* g[p] += l2 W D w. */
void tct_onestep_add_slope(const tct_onestep *run, const double *w, double *g);

/* value[p], eigenvalues of a matrix with noise of this deviation, <- what the matrix without noise has along the same
 * vectors; room: [p]. */
void tct_onestep_without_noise(double *value, int64_t p, double noise, double *room);
/* run->factor <- the root of the second moment of terms, J[p][p] with noise of this deviation, shrunk to the unit
 * matrix by what noise alone would show. */
tct_status tct_onestep_take_slopes(tct_onestep *run, double *slopes, double noise, tct_error *err);
/* run->dispersion and its uncertainty <- a variance [p][p] with noise of this deviation over a curvature [p][p] in the
 * same metric. */
void tct_onestep_take_dispersion(tct_onestep *run, const double *variance, const double *curvature, double noise);
/* moments->variance, in the gradient's metric, becomes positive and is shrunk to a multiple of the curvature by what
 * noise alone would show; then in units of v.  variance_noise <- what of it is left. */
tct_status tct_onestep_settle_variance(tct_onestep *run, tct_onestep_moments *moments, tct_error *err);

/* The last step and the covariance, from releases alone.  weights [p]: w_0; gradient: of it, in units of v, deviation:
 * of its noise, in the metric whose root is factor; moments with the ridge.  step[p] <- D, in units of v; inference <-
 * covariances of w. */
typedef struct tct_onestep_released {
  const double *weights, *gradient;
  double deviation;
  const tct_onestep_moments *moments;
  double rows;   /* what means are taken over */
  tct_link link; /* not TCT_LINK_IDENTITY: the curvature depends on w, so a long last step is not to be believed */
  const double *factor; /* [p][p], lower; NULL: the unit matrix */
  const double *second; /* [p][p]: the mean of z z^T; NULL: the curvature tells it */
  const double *mean;   /* [p]: of the rows, where the last column is constant; NULL: it is not, or they are centred */
  const double *unseen; /* [p]: of a column's variance, what hidden rows could have; NULL: nothing */
  double reach;         /* of a column, from end to end */
  double rest;          /* what one step leaves of the margins' square, times the curvature */
  double bend;          /* along an eigenvector of the curvature, over the eigenvalue times the step's square */
  double along;         /* the square of the part of the step that it leaves undone, over the margins' square */
  double grown;         /* of counts: by which margins move alike; the curvature is that of the step's end */
  double dimension;
  const double *shift; /* [p]: another error of the gradient, along this alone; NULL: none */
  double lost;         /* what the last clip may have taken, in the gradient's metric: an error, no noise */
} tct_onestep_released;
/* v[p] <- the solution of W^T v = w: v.z = w.x.  It may take the place of w. */
void tct_onestep_in_metric(const tct_metric *metric, const double *w, double *v);
/* u[p] <- u.z = x_p, the constant column. */
void tct_onestep_constant(const tct_metric *metric, double *u);
/* x.a x, a[p][p]. */
static inline double tct_onestep_form(const double *a, const double *x, int64_t p) {
  double sum = 0;
  for (int64_t j = 0; j < p; j++) sum += x[j] * tct_dot(a + j * p, x, p);
  return sum;
}
tct_status tct_onestep_covariance(const tct_onestep_released *released, const tct_metric *metric, double *step,
                                  tct_inference *inference, tct_error *err);
#endif
