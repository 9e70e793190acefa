/* dpfw.h - what the files of dpfw share: the settings, and the exact sums that follow the iterate. */
#ifndef TCT_SOLVE_FRANK_WOLFE_DPFW_H
#define TCT_SOLVE_FRANK_WOLFE_DPFW_H
#include "la/kernels/fused.h"
#include "solve/solve.h"

extern const tct_option tct_dpfw_options[];

/* The settings of a run, from its plan. */
typedef struct tct_dpfw {
  int64_t steps;              /* T */
  double clip;                /* B */
  const tct_release *planned; /* its clip: C = B * feature_bound */
  double refresh;
  bool average, plain;
} tct_dpfw;

tct_status tct_dpfw_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err);
enum { TCT_DPFW_CHOICE }; /* the release */
tct_dpfw tct_dpfw_settings(const tct_solver_plan *plan, const tct_mech *mech);

/* The sums G_j, kept while the iterate moves.  Margins are scale * z. */
typedef struct tct_dpfw_sums {
  const tct_problem *problem;
  const tct_dpfw *d;
  double lattice;
  double *g;     /* [p] exact sums over the view's rows of the clipped terms of the slopes as they stand */
  double *slope; /* [rows] clipped, and weighed */
  double *most;  /* [rows] of a slope before it is weighed; NULL without weights: the clip B */
  double *z;     /* [rows] */
  double scale;
  int64_t *list;         /* [p] the columns whose sum has changed since the last move, ascending if all have */
  int64_t changed;       /* how many */
  unsigned char *marked; /* [p] */
  tct_fused all;         /* dense data: squared slope with labels 0 and margins = slopes: its terms are slope * x */
  double *zero;          /* [rows] */
  double *workspace;     /* [rows] */
  int64_t *start;        /* [rows+1] the rows of sparse data; NULL for dense data */
  int32_t *index;
  double *value; /* scaled */
} tct_dpfw_sums;
tct_status tct_dpfw_sums_new(const tct_problem *problem, const tct_dpfw *d, tct_dpfw_sums *s, tct_error *err);
void tct_dpfw_sums_free(tct_dpfw_sums *s);
/* w <- (1 - gamma) w + gamma * size * e_j; slopes are taken again for the records with an entry in column j, or for
 * all; the sums follow. */
void tct_dpfw_sums_move(tct_dpfw_sums *s, int64_t j, double size, double gamma, bool all);
#endif
