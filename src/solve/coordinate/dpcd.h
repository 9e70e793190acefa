/* dpcd.h - what the files of dpcd share: options, the shape of its promise, scales of the coordinates. */
#ifndef TCT_SOLVE_COORDINATE_DPCD_H
#define TCT_SOLVE_COORDINATE_DPCD_H
#include "la/kernels/fused.h"
#include "solve/solve.h"

extern const tct_option tct_dpcd_options[];

/* In floats, terms must stay below 2^20 steps of the lattice. */
enum { TCT_DPCD_BITS = 20 };

/* What is promised, as a function of one number x: the noise multiplier at which a single Gaussian release would use
 * the whole budget. */
typedef struct tct_dpcd_shape {
  bool smooth;                  /* private M_j come first */
  bool laplace;                 /* ... as one Laplace event instead of a Gaussian one */
  double budget_fraction;       /* their part of mu^2 (Gaussian) or of epsilon (Laplace) */
  double laplace_noise;         /* fixed: it does not depend on x */
  bool greedy;                  /* steps are a choice and a measurement */
  double split;                 /* part of a greedy step's zCDP that the choice takes */
  int64_t steps;                /* Gaussian events of the descent: coordinate steps, or passes */
  double moments1, moments2;    /* one record's length in the vector of M_j: l1, l2 */
  bool record, single, precise; /* clipping=record; precision=single, double */
  double
      sensitivity; /* 1 under add_remove, 2 under replace_one: shift of a Gaussian event in units of its sensitivity */
} tct_dpcd_shape;

tct_status tct_dpcd_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err);

/* The settings of a run, read back from a plan. */
typedef struct tct_dpcd {
  int64_t outer, inner;       /* T and K */
  double clip, step;          /* C (NAN: auto) and gamma */
  int moments, choice, steps; /* the releases' indices in the promise; -1: there is none */
  bool record;                /* a record is clipped over a pass, not a derivative */
  bool average;               /* greedy: return the mean of the last half */
  int threads;
  /* Per coordinate, [p] each: */
  double *moment; /* M_j */
  double *bound;  /* C_j */
  double *rate;   /* gamma/M_j */
  double total;   /* sum of M_j */
} tct_dpcd;
/* Reads the plan; the arrays are empty until tct_dpcd_scales fills them. */
tct_status tct_dpcd_new(const tct_problem *problem, const tct_solver_plan *plan, tct_dpcd *out, tct_error *err);
void tct_dpcd_free(tct_dpcd *d);

/* Does an option have several numbers, one per coordinate? */
bool tct_dpcd_is_list(const tct_spec *spec, const char *key);
/* b_j of the option bounds and m_j of the option moments, [p]; NULL: it is only checked. */
tct_status tct_dpcd_list(const tct_facts *facts, const tct_spec *spec, const char *key, double fallback, double *out,
                         tct_error *err);
/* The sensitivity of the vector of min(x_ij^2/b_j^2, 1), in the l1 or the l2 norm, in an event's terms. */
tct_status tct_dpcd_moment_reach(const tct_facts *facts, const double *bounds, bool l1, double *sensitivity,
                                 tct_error *err);
/* Fills M_j (public, private or exact), then C_j and gamma/M_j. */
tct_status tct_dpcd_scales(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, tct_dpcd *d,
                           tct_error *err);
/* c in C = c*sqrt(sum of M_j), the default of clip; ball: what is clipped is a record's pass. */
double tct_dpcd_typical(const tct_facts *facts, bool ball);
/* The loss's slope in la/kernels/fused.h's terms; false: dpcd has no such loss. */
bool tct_dpcd_slope(const tct_loss *loss, tct_fused_slope *slope);
/* prox of the penalty at coordinate j, sparing the intercept. */
double tct_dpcd_prox(const tct_facts *facts, int64_t j, double w, double step);

/* tct_solver.weight_bound. */
double tct_dpcd_weight_bound(const tct_facts *facts, const tct_solver_plan *plan);

/* order=greedy. */
tct_status tct_dpcd_greedy(const tct_problem *problem, const tct_dpcd *d, tct_mech *mech, double *w, tct_error *err);
#endif
