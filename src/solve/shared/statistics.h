/* statistics.h - least squares from released X'X and X'y: post-processing, one place for all solvers that release them.
 */
#ifndef TCT_SOLVE_SHARED_STATISTICS_H
#define TCT_SOLVE_SHARED_STATISTICS_H
#include "solve/solve.h"

typedef struct tct_statistics {
  int64_t p;
  double rows;       /* n */
  double *gram;      /* [p][p], symmetric, noised */
  double *moment;    /* [p] X'y, noised */
  double gram_noise; /* deviation on the diagonal, 1/sqrt(2) of it off the diagonal; 0: none */
} tct_statistics;
tct_status tct_statistics_new(int64_t p, double rows, tct_statistics *out, tct_error *err);
void tct_statistics_free(tct_statistics *statistics);

/* How noise in the Gram matrix is met.  Ridge: the least ridge with which all eigenvalues reach 2.5 gram_noise
 * sqrt(p), its pull corrected twice where the penalty is a ridge (adassp).  Factors: eigenvalues that stand out of the
 * noise are kept, and of the rest the diagonal and the entries that do (POET). */
typedef enum tct_cleaning { TCT_CLEAN_NONE, TCT_CLEAN_RIDGE, TCT_CLEAN_FACTORS } tct_cleaning;
/* Features up to which eigenvectors are computed. */
enum { TCT_CLEAN_FEATURES = 4096 };

/* w[p] <- the minimiser of w'Gw/2 - X'y.w + n psi(w), G the cleaned gram, which is overwritten. */
tct_status tct_statistics_fit(const tct_statistics *statistics, const tct_penalty *penalty, tct_cleaning cleaning,
                              double *w, tct_error *err);
/* What every weight stays below: moment, gram: what |X'y| and any |eigenvalue| of the released gram stay below.
 * INFINITY without cleaning, but for a ball. */
double tct_statistics_weight_bound(const tct_facts *facts, tct_cleaning cleaning, double gram_noise, double moment,
                                   double gram);

/* adassp's two steps.  gram[p][p] is symmetrised, and `own` (the penalty's n lambda) added to its diagonal.  r >= 0 is
 * the least ridge with gram + r I >= zeta I.  Then w = 0, and `iterates` times w = w + (gram + r I)^-1 (moment - gram
 * w). */
typedef struct tct_ridge {
  double own, zeta;
  int64_t iterates;
} tct_ridge;
tct_status tct_ridge_iterated(double *gram, const double *moment, int64_t p, const tct_ridge *ridge, double *w,
                              tct_error *err);
#endif
