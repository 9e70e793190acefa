/* gap.h - the duality gap of a primal point: how far its objective can be from the optimum. */
#ifndef TCT_SOLVE_SHARED_GAP_H
#define TCT_SOLVE_SHARED_GAP_H
#include "solve/solve.h"

/* Room for tct_gap, owned by the caller's workspace. */
typedef struct tct_gap_workspace {
  double *alpha; /* [rows] */
  double *v;     /* [p] */
} tct_gap_workspace;
tct_status tct_gap_new(const tct_problem *problem, tct_gap_workspace *room, tct_error *err);
void tct_gap_free(const tct_problem *problem, tct_gap_workspace *room);

/* P(w) - D(alpha) >= P(w) - P*, alpha made feasible from the slopes at the margins z = X w; *primal = P(w).
 * Without a gap: NAN. */
double tct_gap(const tct_problem *problem, const double *w, const double *z, tct_gap_workspace *room, double *primal);
#endif
