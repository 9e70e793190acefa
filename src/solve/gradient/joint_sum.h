/* joint_sum.h - the sum over the records of a joint loss: all classes' slopes, clipped together, times the row. */
#ifndef TCT_SOLVE_GRADIENT_JOINT_SUM_H
#define TCT_SOLVE_GRADIENT_JOINT_SUM_H
#include "solve/solve.h"

/* Of one record: |slopes| * length is at most `own`, and own is at least 0.  length: an upper bound on a computed norm,
 * with two roundings to spare. */
typedef struct tct_joint_limit {
  double length, own;
} tct_joint_limit;
/* weight: the record's, which its slopes already have.  Called from several threads at once. */
typedef struct tct_joint_limits {
  tct_joint_limit (*of)(const void *user, int64_t row, double weight);
  const void *user;
} tct_joint_limits;

typedef struct tct_joint_sum {
  int64_t rows, p, classes;
  double *factor, *margin; /* [rows][classes], [rows] */
} tct_joint_sum;
tct_status tct_joint_sum_new(const tct_problem *problem, tct_joint_sum *out, tct_error *err);
void tct_joint_sum_free(tct_joint_sum *joint); /* wipes both */
/* sum[classes][p] <- the sum at the weights u[classes][p], as tct_gradient_lattice makes it of each class.  scratch: of
 * that function. */
void tct_joint_sum_at(tct_joint_sum *joint, const tct_problem *problem, const double *u, tct_joint_limits limits,
                      double lattice, double *sum, double *scratch);
#endif
