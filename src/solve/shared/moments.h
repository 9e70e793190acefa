/* moments.h - the second moments of records and their labels, released in shells, and least squares from them. */
#ifndef TCT_SOLVE_SHARED_MOMENTS_H
#define TCT_SOLVE_SHARED_MOMENTS_H
#include "la/exact/shells.h"
#include "solve/solve.h"

/* What has been released, in z = W v: v is (x~/size, y/label), at most 1 long, q = p + 1.  A problem without labels has
 * v = x~/size, q = p, and the ones last.  Equal on all ranks. */
typedef struct tct_moments {
  int64_t p, q;
  double size, label;
  tct_metric metric; /* W */
  double *sum;       /* [q][q]: of z z^T, with noise; outer shells shrunk, eigenvalues lifted to half the edge */
  int shells, whole; /* the first `whole` are added up as released, of further ones those that say enough */
  double radius[TCT_SHELLS];
  double noise[TCT_SHELLS]; /* of a shell in sum: deviation of an entry on the diagonal */
  double *shell;            /* [shells][q][q]: of each alone, as released */
  double *kept;             /* [shells][q][q]: the projection onto the directions that were kept */
  double edge;              /* the largest eigenvalue of the noise of shells that are in sum as released */
  bool determined;          /* every direction stands out of it */
  double *fourth;           /* [d][d], d = q (q + 1)/2: of the products of two entries of L^-1 z (tct_moments_white), as
                             * released; NULL: they were not asked for */
  double cut;               /* how long those products are at most in it */
} tct_moments;

/* Adds the two releases to a promise; part: of the budget (of mu^2), x: the noise of one release that has all of it. */
tct_status tct_moments_promise(const tct_facts *facts, double part, double x, tct_promise *out, tct_error *err);
/* The promise of a table's moments alone: facts has rows, p, the intercept, R and the budget.  TCT_E_USAGE: there is
 * none for it.  out is to be freed in any case. */
enum { TCT_MOMENTS_MOST = 1023, TCT_MOMENTS_FOURTH_MOST = 31 };
/* fourth: a third release, of the fourth moments. */
tct_status tct_moments_plan(const tct_facts *facts, bool fourth, tct_solver_plan *out, tct_error *err);
/* Makes them: r and r + 1 of mech.  length: rows are cut to it in the first; R, or less, if releases say so.  out is
 * the caller's to free, also after an error. */
tct_status tct_moments_release(const tct_problem *problem, tct_mech *mech, int r, double length, tct_moments *out,
                               tct_error *err);
/* The third, r of mech, after them. */
tct_status tct_moments_release_fourth(const tct_problem *problem, tct_mech *mech, int r, tct_moments *moments,
                                      tct_error *err);
/* L[q][q], with which L^-1 z are white by all that was released; false: noise has left nothing. */
bool tct_moments_white(const tct_moments *moments, int64_t rows, double *l);
/* d. */
static inline int64_t tct_moments_products(int64_t q) { return q * (q + 1) / 2; }
/* Records whose |L^-1 z|^2 is longer are cut in the fourth moments, whose release has this deviation; none is longer
 * than `longest`. */
double tct_moments_cut(int64_t rows, double deviation, double longest);
void tct_moments_free(tct_moments *moments);
/* The shells of the second release and their radii: p, q and the metric are there; deviation: that release's. */
void tct_moments_radii(int64_t rows, double deviation, tct_moments *moments);
/* sum, kept, edge and determined once more, from p, q, the shells and their noise. */
tct_status tct_moments_again(tct_moments *moments, tct_error *err);
/* noise[count][count] <- the covariance of what noise adds to the first entries of sum r with those of sum t, r[q] and
 * t[q]; work: [2q]. */
void tct_moments_noise(const tct_moments *moments, const double *r, const double *t, int64_t count, double *noise,
                       double *work);

/* A linear model of the label from the moments. */
typedef struct tct_moments_model {
  double *w;          /* [p]: least squares with facts' penalty, drawn towards what the releases before the last say by
                       * what is expected to be noise */
  tct_metric metric;  /* W M W^T = 1: M has the moments over n, some edges of noise in every direction, the penalty */
  double *covariance; /* [p][p]: of W^-T w before it was drawn, from the moments' noise alone, to first order */
} tct_moments_model;
/* out is the caller's to free, also after an error. */
tct_status tct_moments_fit(const tct_facts *facts, const tct_moments *moments, double edges, tct_mech *mech,
                           tct_moments_model *out, tct_error *err);
void tct_moments_model_free(tct_moments_model *model);
#endif
