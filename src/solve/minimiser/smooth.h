/* smooth.h - minimisers of a strongly convex smooth objective to a certified gradient norm. */
#ifndef TCT_SOLVE_MINIMISER_SMOOTH_H
#define TCT_SOLVE_MINIMISER_SMOOTH_H
#include "solve/solve.h"

/* J(w) = sum_i l(x_i.w, y_i) + ridge/2 |w|^2 + linear.w over all p weights, the intercept too.  The public numbers
 * alone; what a plan needs to know about a run. */
typedef struct tct_smooth_facts {
  double rows, p, row_norm; /* n, p, R; or the length that records count as having */
  double slope, curvature;  /* bounds on |l'| and l''; slope*row_norm bounds a record's gradient */
  double length;            /* a record longer than this counts (length/|x|)^2; 0: all count alike */
  double clip;              /* a record's gradient is cut to this norm, l continued in a straight line; 0: l as it is */
  double coarse;            /* bound on |l'||x| as the loss and the rows are, before any of that */
  double start;             /* bound on l(0, y): J(0) <= n*start */
  double ridge;             /* Lambda > 0 */
  double linear;            /* bound on |linear| */
} tct_smooth_facts;

/* From the facts of a fit: TCT_E_USAGE if the loss is not smooth or has unbounded slopes. */
tct_status tct_smooth_of(const tct_facts *facts, const char *solver, double ridge, double linear, tct_smooth_facts *out,
                         tct_error *err);
/* Every w with J(w) <= J(0) has norm at most this. */
double tct_smooth_radius(const tct_smooth_facts *facts);
/* Bound on |computed gradient - gradient| in the Euclidean norm at any w with |w| <= radius. */
double tct_smooth_error(const tct_smooth_facts *facts, double radius);
/* The certified gradient norm that tct_smooth_minimise always reaches (accelerate.c). */
double tct_smooth_reachable(const tct_smooth_facts *facts);
/* At most so many passes over the rows does tct_smooth_minimise need for that; infinite where double precision cannot
 * promise it.  A Hessian, and a look at all margins along a line, count as a pass each. */
double tct_smooth_passes(const tct_smooth_facts *facts);
/* TCT_E_USAGE where that is infinite or above `most`; *passes: what it is. */
tct_status tct_smooth_affordable(const tct_smooth_facts *facts, const char *solver, double max, double *passes,
                                 tct_error *err);
/* Passes that the fast method may take before the other has its turn: a sixteenth of what that may take, or 2000. */
double tct_smooth_fast(const tct_smooth_facts *facts);

/* Rows of a group (more where a block of la/exact/exact.h is more): a rank's first row is a multiple of it. */
enum { TCT_SMOOTH_TOGETHER = 256 };

/* What a minimisation works on.  Several minimisations may follow one another with other `linear` and `ridge`. */
typedef struct tct_smooth {
  const tct_problem *problem;
  tct_mech *mech; /* adds up what ranks hold of the rows; NULL: the rows are all here */
  tct_smooth_facts facts;
  const double *linear;                   /* [p] or NULL */
  int64_t penalised;                      /* the ridge is on the first so many weights; tct_smooth_new: all */
  double *margin, *slope, *curve, *along; /* [n] */
  double *part, *limit;                   /* [n]: what a record counts, and the cut of its slope; or NULL */
  double *gradient, *direction;           /* [p] */
  double *before, *base;                  /* [p]: gradient and point that a trial step starts from */
  double *parts;                          /* [2p]: the two parts of an exact sum (la/exact/exact.h) */
  double *sums;                           /* [threads*3p]: workspace of such sums */
  double *blocks;                         /* the derivative along a line, block by block */
  double largest;                         /* at least every |x~_ij|, on any rank */
  double *gram, *scratch;                 /* [2][p][p] and workspace where Newton is dense, else NULL */
  double *conjugate;                      /* [4p] where the Newton step comes from conjugate gradients */
  int64_t passes, max;                    /* over the rows, in the last minimisation; the fast method's allowance */
} tct_smooth;
tct_status tct_smooth_new(const tct_problem *problem, const tct_smooth_facts *facts, tct_mech *mech, tct_smooth *out,
                          tct_error *err);
void tct_smooth_free(tct_smooth *smooth); /* wipes */
/* Records longer than the part `norm` in (0, 1] of R count less, and gradients are cut to the part `clip` in (0, 1] of
 * what is then their bound.  1: neither. */
void tct_smooth_cut(tct_smooth_facts *facts, double norm, double clip);

/* The gradient at hand is that at w, and its exact norm is at most target. */
bool tct_smooth_certified(const tct_smooth *smooth, const double *w, double target);
/* The fast method has had its passes. */
bool tct_smooth_spent(const tct_smooth *smooth);
/* gradient <- grad J(w), margins and slopes alike; the computed vector is within tct_smooth_error(|w|). */
tct_status tct_smooth_gradient(tct_smooth *smooth, const double *w, tct_error *err);
/* The same over a sample of the rows, the first `take` of every group, weighted to stand for all; margins and slopes of
 * these alone.  take is a power of two, at least 8; tct_smooth_all: every row, and what tct_smooth_gradient does. */
tct_status tct_smooth_gradient_of(tct_smooth *smooth, const double *w, int64_t take, tct_error *err);
int64_t tct_smooth_all(const tct_smooth *smooth);
double tct_smooth_weight(const tct_smooth *smooth, int64_t take);
/* sum[p] <- X~^T a over all rows, |a_i| any: the same bits however the rows are shared out. */
tct_status tct_smooth_transpose(tct_smooth *smooth, const double *a, double *sum, tct_error *err);
/* *t <- a step along smooth->direction, which descends from w at the current gradient, where J's derivative has lost a
 * tenth of its size or more. */
tct_status tct_smooth_step(tct_smooth *smooth, const double *w, double *t, tct_error *err);
/* Where smooth->gram is there: the Cholesky factor of the Hessian at the margins of the last gradient, from the first
 * `take` rows of every group.  No l'' is taken as less than `least` of its bound. good: false where it is not positive
 * definite. */
tct_status tct_newton_factor(tct_smooth *smooth, int64_t take, double min, bool *good, tct_error *err);
/* The Newton direction at the current gradient by conjugate gradients, where there is no gram. */
tct_status tct_newton_direction(tct_smooth *smooth, tct_error *err);

/* w[p] <- a point whose exact gradient norm is <= target, from w as given, by Newton's method or what follows it.
 * target >= tct_smooth_reachable: always reached, within tct_smooth_passes (accelerate.c proves it).  A smaller target
 * (solvers without privacy): as close as `steps` Newton steps come. */
tct_status tct_smooth_minimise(tct_smooth *smooth, double target, int64_t steps, double *w, tct_error *err);
/* The second of the two alone, from 0; target >= tct_smooth_reachable. */
tct_status tct_smooth_descend(tct_smooth *smooth, double target, double *w, tct_error *err);
#endif
