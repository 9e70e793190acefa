/* dpcox.h - what the plan, the hazards and the sums of dpcox agree on. */
#ifndef TCT_SOLVE_DPCOX_H
#define TCT_SOLVE_DPCOX_H
#include "solve/solve.h"

enum { TCT_COX_CELLS = TCT_COURSE }; /* of time, at most */

/* From public facts and options. */
typedef struct tct_cox_rule {
  int cells;
  bool robust;                             /* the variance of scores is released beside the curvature */
  double histogram, columns, metric, path; /* parts of the budget (of mu^2) */
  double moments, last, change;
  double events; /* as many are expected: a guess from public facts */
  double clip;   /* NAN: from the released information */
  int64_t steps;
} tct_cox_rule;

/* Where each release is in the promise. */
enum {
  TCT_COX_HISTOGRAM,
  TCT_COX_COLUMNS,
  TCT_COX_METRIC,
  TCT_COX_PATH,
  TCT_COX_MOMENTS,
  TCT_COX_LAST,
  TCT_COX_CHANGE
};

extern const tct_option tct_cox_options[];
tct_cox_rule tct_cox_rule_of(const tct_facts *facts, const tct_spec *spec);
tct_status tct_cox_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err);
/* How columns are summed: x/(sqrt(2) reach) and x^2/(sqrt(2) reach square).  `length`: of a record's own term, and half
 * of how far two are apart where a record is replaced. */
typedef struct tct_cox_columns {
  double reach, square, length;
} tct_cox_columns;
tct_cox_columns tct_cox_columns_of(const tct_facts *facts);

/* Hazards by cells of time, from the histogram alone.  Times are parts of the horizon. */
typedef struct tct_cox_hazard {
  int cells;
  double edge[TCT_COX_CELLS + 1];
  double rate[TCT_COX_CELLS];   /* events over person-time */
  double centre[TCT_COX_CELLS]; /* u: the cell's middle on the scale of events; 0 where there are too few cells */
  double events, mean_rate;     /* of all cells */
  bool bends;                   /* the hazard is exp(u b) times these, b a weight like others */
} tct_cox_hazard;
/* counts[3][cells]: events, exits without one, sums of (place in the cell - 1/2), as released with this deviation. */
void tct_cox_hazards(const double *counts, int cells, double deviation, double rows, tct_cox_hazard *out);
/* risk[cells] <- how many are at risk in each cell, in the mean. */
void tct_cox_at_risk(const double *counts, int cells, double deviation, double rows, double *risk);
/* The edge k of `cells` cells. */
double tct_cox_edge(int k, int cells);

/* One run.  z = L^-1 (1, (x - mean)/spread) has about unit second moment over the events; q weights: p of z, and that
 * of u. */
typedef struct tct_cox {
  const tct_problem *problem;
  tct_mech *mech;
  tct_cox_rule rule;
  tct_cox_hazard hazard;
  double counts[3 * TCT_COX_CELLS], counts_deviation; /* as released */
  double mu;                                          /* of the whole budget, for terms of length 1 */
  int64_t p, q;
  double *mean, *spread;         /* [p - 1]: of the columns, as released */
  double *inverse;               /* [q][q]: L^-1, and 1 for u; lower triangular */
  double dimension, information; /* d; kappa = events mu/d */
  double clip, moments_clip;     /* C and C_h */
  double *z;                     /* [rows][p] */
  double *time;                  /* [rows], in (0, 1]; 0: nobody */
  double *omega, *stop;          /* [rows]: weights, and the cumulative hazard at which follow-up stops */
  int8_t *event, *cell;          /* [rows]; cell: of the hazard */
} tct_cox;

/* Survival, its band, and exposures at the weight b of u. */
void tct_cox_course(const tct_cox *run, double bend, tct_course *out);
/* g[q] <- the mean score at the weights theta[q] with the noise of release r; *deviation of it. */
tct_status tct_cox_gradient(tct_cox *run, int r, const double *theta, double *g, double *deviation, tct_error *err);
/* curvature[q][q], and variance[q][q] where robust: means with noise; *deviation of an entry on their diagonals. */
tct_status tct_cox_moments(tct_cox *run, const double *theta, double *curvature, double *variance, double *deviation,
                           tct_error *err);
/* The events' later half against the earlier, by cells; from releases alone. */
typedef struct tct_cox_halves {
  double factor[TCT_COX_CELLS]; /* f: 1 where late, less the late part of the events, so that its mean over them is 0 */
  double late;                  /* that part */
  const double *level, *bend;   /* [p]: z_j less level_j z_0 + bend_j u has no trend over the events */
} tct_cox_halves;
/* t[p - 1] <- the mean of sum_k f_k (event_k - hazard_k)(z_j - level_j z_0 - bend_j u_k), j from 1, stopped, with the
 * noise of its release; *deviation of it. */
tct_status tct_cox_change_sum(tct_cox *run, const double *theta, const tct_cox_halves *halves, double *t,
                              double *deviation, tct_error *err);
/* How the weights of x differ between the halves, for out: at theta, from the curvature as released there. */
tct_status tct_cox_change(tct_cox *run, const double *theta, const double *curvature, double deviation,
                          tct_inference *out, tct_error *err);
/* The first three releases, and what follows from them. */
tct_status tct_cox_metric(tct_cox *run, tct_error *err);
tct_status tct_cox_histogram(tct_cox *run, tct_error *err);

/* sum[len] <- the sum over records that are there of what `term` adds; exact, whatever the threads. */
typedef void (*tct_cox_term)(const tct_cox *run, int64_t row, const void *at, double *room, double *sum);
tct_status tct_cox_sum(const tct_cox *run, tct_cox_term term, const void *at, int64_t len, int64_t room, double *sum,
                       tct_error *err);
/* x[n] is made no longer than 1, as a real number; 0 where it is not finite. */
void tct_cox_shorten(double *x, int64_t n);
static inline double tct_cox_between(double x, double low, double high) { return fmin(fmax(x, low), high); }
#endif
