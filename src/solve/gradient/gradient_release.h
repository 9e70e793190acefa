/* gradient_release.h - what the solvers over all records share: the clip, the signal, the released gradient. */
#ifndef TCT_SOLVE_GRADIENT_GRADIENT_RELEASE_H
#define TCT_SOLVE_GRADIENT_GRADIENT_RELEASE_H
#include "solve/gradient/joint_sum.h"
#include "solve/shared/batch.h"
#include "solve/shared/clipped.h"

/* The largest gradient of a record: R * largest slope, and R * Y where slopes have no bound. */
double tct_descent_largest(const tct_facts *facts);
/* The signal mu n/sqrt(p): the largest sum of gradients over the noise of one release of it; 1e6 at most. */
double tct_descent_signal(const tct_facts *facts);
/* Resolves step=auto to 1/(smoothness*R^2 + l2). */
tct_status tct_descent_step(const tct_facts *facts, const tct_option *table, tct_solver_plan *plan, tct_error *err);
/* w <- prox of step*psi at w, sparing the intercept. */
void tct_prox_step(const tct_facts *facts, double *w, double step);
/* The default clip from public facts; why: gradient_release.c. */
double tct_descent_clip(const tct_facts *facts);

/* One gradient's release and its workspace. */
typedef struct tct_descent {
  double *sum;            /* [outputs][p]: the release */
  double *computed_norms; /* [rows] */
  double *scratch;
  tct_mech *mech;
  int release;
  int64_t rows, p, room;
  int64_t outputs;     /* blocks of p weights: 1, or one for each class of a joint loss */
  tct_joint_sum joint; /* empty but for a joint loss */
} tct_descent;
/* For the promise: count gradients of clip C.  Without privacy the clip is off and sums stay exact. */
tct_release tct_descent_release(const tct_facts *facts, double clip, double noise, int64_t count);
/* release: the index of that one in the promise. */
tct_status tct_descent_new(const tct_problem *problem, tct_mech *mech, int release, tct_descent *out, tct_error *err);
void tct_descent_free(tct_descent *descent); /* wipes the norms */
/* descent->sum <- sum_i v_i clip(l'(x_i.u, y_i) x_i, C) + N(0, (noise*C)^2 I).  A record's own term has norm at most
 * v_i C.  Its factor is min(1, C'/(|l'| |x_i|)) with an upper bound on the computed norm and C' = C less what rounding
 * to the lattice may add (gradient.h).  A weighed term is shortened until what rounding may add fits into v_i C.
 * Spends one repetition of the release. */
tct_status tct_descent_gradient(const tct_problem *problem, tct_descent *descent, const double *u, tct_error *err);
/* The same for a joint loss; u: [outputs][p].  joint_sum.c has the proof. */
tct_status tct_joint_gradient(const tct_problem *problem, tct_descent *descent, const double *u, tct_error *err);
#endif
