/* solve.h - the two functions of a solver: plan (public facts only) and run (may spend the promise). */
#ifndef TCT_SOLVE_SOLVE_H
#define TCT_SOLVE_SOLVE_H
#include "la/matrix/matrix.h"
#include "infer/inference.h"
#include "loss/loss.h"
#include "mech/mech.h"
#include "penalty/penalty.h"
#include <math.h>

/* Public facts: all that a plan may know. */
typedef struct tct_facts {
  int64_t rows;       /* n, public */
  int64_t p;          /* weights: features including the intercept, for each class of a joint loss */
  bool intercept;     /* the last feature is the constant 1 (before the row scale) */
  double row_norm;    /* R: |x~_i| <= R; NAN for solvers without privacy if not given */
  double label_bound; /* Y: |y_i| <= Y; 1 for binary losses; NAN if not given */
  tct_loss loss;
  tct_penalty penalty;
  double epsilon; /* INFINITY: noise and clip off */
  double delta;   /* 0: pure epsilon-differential privacy */
  tct_neighbours neighbours;
  tct_rows_rule rows_rule;
  int threads;
} tct_facts;

/* Without privacy: no noise, and clips so wide that no converging run meets them. */
static inline bool tct_noise_off(const tct_facts *facts) { return !isfinite(facts->epsilon); }

enum { TCT_NOTE = 160 };

/* What a solver promises and the settings that it resolved. */
typedef struct tct_solver_plan {
  tct_spec spec;           /* every option with its resolved value */
  tct_promise promise;     /* empty for solvers without privacy */
  double noise_multiplier; /* NAN where there is no single one */
  tct_cost cost;           /* epsilon <= facts.epsilon at facts.delta */
  double max_passes;       /* over the rows, at most, where the table decides how many; else 0 */
  char note[TCT_NOTE];     /* what a user should know before running, from public facts; "" = nothing */
  const char *unaccounted; /* what the run will read without charging it (a constant text), or NULL */
} tct_solver_plan;
void tct_solver_plan_free(tct_solver_plan *plan);

/* The caller's progress callback as a run sees it: it never goes back, and 1 comes at the end of a success alone. */
typedef struct tct_progress {
  tct_progress_fn call; /* or NULL */
  void *user;
  double last;
} tct_progress;
void tct_progress_end(const tct_progress *progress); /* the run has succeeded: exactly 1 */

/* The data as a run sees it. */
typedef struct tct_problem {
  const tct_facts *facts;
  const tct_view *view;   /* rows of norm <= R, in the layout that the solver wants */
  const double *y;        /* [rows], clipped to [-Y, Y]; the class from 0 of a joint loss */
  const double *weight;   /* [rows] in [0, 1]: row i's loss counts so often; NULL = all 1 */
  bool unit;              /* public: features are in [0, 1], not [-1, 1] */
  const double *offset;   /* [rows], at most 0: added to every linear predictor of the row; NULL = all 0 */
  tct_progress *progress; /* or NULL */
  tct_cancel_fn cancel;
  void *user; /* handed to cancel */
  char *note; /* [TCT_NOTE], or NULL: what a run has to say about itself, a function of its releases alone */
  tct_inference *inference; /* empty, or NULL: for the errors of the weights, where a run knows them; else untouched */
} tct_problem;

/* Reports progress, a function of public facts only, and polls cancel: TCT_E_CANCELLED or TCT_OK.
 * Called often enough by each loop; it thins out by itself. */
tct_status tct_problem_tick(const tct_problem *problem, double fraction, tct_error *err);

/* What plans share.  tct_plan_begin: an empty plan whose spec holds every option, given or default. */
tct_status tct_plan_begin(const tct_facts *facts, const tct_spec *given, const tct_option *options,
                          tct_solver_plan *out, tct_error *err);
/* R, and Y for real labels, are there. */
tct_status tct_plan_need_bounds(const tct_facts *facts, const char *solver, tct_error *err);
/* The loss has a dual step and the penalty is l2 above 0. */
tct_status tct_plan_need_dual(const tct_facts *facts, const char *solver, tct_error *err);
/* Adds a release to the promise and settles it. */
tct_status tct_plan_promise(tct_solver_plan *out, tct_release release, tct_error *err);
/* A clip that few terms meet where there is no privacy, so that sums stay exact; else the clip. */
double tct_plan_clip(const tct_facts *facts, double clip);

/* ---- calibration: budget.c ------------------------------------------------------------------------------ */

/* gaussian, or sampled_gaussian where rate is below 1. */
tct_event tct_event_at(double noise, double rate, int64_t count);
/* out->noise_multiplier and out->cost: the smallest noise that (epsilon, delta) allows for `count` such events; without
 * privacy 0. */
tct_status tct_budget_noise(const tct_facts *facts, double rate, int64_t count, tct_solver_plan *out, tct_error *err);
/* Adds the releases of a promise that has one free number x. */
typedef tct_status (*tct_promise_at)(double x, void *user, tct_promise *out, tct_error *err);
typedef struct tct_budget {
  tct_direction direction;  /* the smallest x, as of noise, or the largest, as of a choice's epsilon */
  double low, high;         /* x is sought here */
  double tolerance;         /* relative */
  const tct_accountant *by; /* by this accountant's formula alone (a paper's); NULL: by the best */
} tct_budget;
/* out->promise and out->cost at the x that the budget allows; without privacy x is 0 (smallest) or INFINITY. */
tct_status tct_budget_fit(const tct_facts *facts, const tct_budget *budget, tct_promise_at make, void *user,
                          tct_solver_plan *out, double *x, tct_error *err);
/* Noise multiplier of one Gaussian release of the whole budget: 0 without privacy or where there is none. */
double tct_budget_single(const tct_facts *facts, tct_neighbours neighbours);
/* mu n/sqrt(p), mu the Gaussian-DP parameter of the whole budget under the relation: the largest sum of n gradients
 * over the noise of one release of it.  INFINITY without privacy; 0 where not even the most noise keeps to the budget.
 */
double tct_signal_to_noise(int64_t rows, int64_t p, const tct_target *whole);
/* R or Y is so far from 1 that products of both, or their squares, leave the range of doubles. */
static inline bool tct_moments_out_of_range(const tct_facts *facts) {
  return fabs(log10(facts->row_norm)) > 30 || fabs(log10(facts->label_bound)) > 30;
}
/* The zCDP that such a release has under the relation. */
tct_status tct_budget_rho(const tct_facts *facts, double *rho, tct_error *err);

/* How much of a released weight is noise: its standard deviation over the noise alone, the records held fixed.  From
 * public facts and the released weights; docs/guide/report.md has the formulas and what each of them rests on. */
typedef struct tct_noise_size {
  double min;                    /* root mean square over the weights, at least; NAN: not known */
  double max;                    /* every weight, at most; equal to min where the size is exact; NAN: not known */
  const char *how_min, *how_max; /* what each end stands for, a phrase for people; equal ends: how_max alone */
  bool first_order;              /* true: to first order in the noise; false: a theorem */
} tct_noise_size;

/* What an observer of a run between parties can learn at most. */
typedef struct tct_observer {
  char who[64];
  char about[160];
  double epsilon; /* at the run's delta */
} tct_observer;
enum { TCT_OBSERVERS = 4, TCT_CONDITION = 240 };

enum { TCT_RELATION_ADD_REMOVE = 1, TCT_RELATION_REPLACE_ONE = 2, TCT_RELATION_BOTH = 3 };

/* Whether a run heeds problem->weight, and whether its claim then holds for any set of records whose weights sum to at
 * most 1 (a person's), not only for one record. */
typedef enum tct_weighing { TCT_WEIGHS_NOT = 0, TCT_WEIGHS_RECORDS, TCT_WEIGHS_PERSONS } tct_weighing;

/* How often a usual run goes over all records, for a forecast of its time: `each` for every one of the option's count,
 * and `more`.  No promise: what a run reads of the data's own number of steps is bounded by max_passes alone. */
typedef struct tct_passes {
  const char *option; /* "steps" or "epochs", or NULL */
  double each, more;
  bool scattered; /* the option counts records that are drawn, "batch" at a time */
} tct_passes;

typedef struct tct_solver {
  const char *name;
  const char *summary;
  const tct_option *options;
  int rules;          /* newest version of its rules of planning; 0 is 1 */
  bool is_private;    /* false: takes no epsilon, and its certificate says NONE */
  bool pure;          /* it can keep delta 0: with an option for it, or because its events are pure anyway */
  bool wants_columns; /* false: rows (dense rows or CSR); true: dense columns or CSC */
  bool by_parties;    /* made for parties that hold the columns between them: observers */
  bool over_wire;     /* and session/ can run it between them */
  bool rows_apart;    /* it may see a part of the rows: all its sums go through mech (mech.h) */
  int row_bytes;      /* it reads records that lie on disk, and keeps at most so many bytes a record; 0: it cannot */
  int square_bytes;   /* and per thread so many for each of p^2 */
  tct_passes passes;  /* where it reads records that lie on disk */
  unsigned relations; /* TCT_RELATION_*: those for which the claim is proved */
  tct_weighing weighing;
  bool offsets; /* a run heeds problem->offset */
  bool joint;   /* it takes losses of several classes at once: w[p] is a block of weights for each */
  bool infers;  /* it fills problem->inference, in the form that its option "errors" says: model or robust */
  bool penalises_intercept; /* it treats the intercept like any weight, and the model file says so */
  /* Resolves options, calibrates, promises.  `given` has passed tct_spec_check. */
  tct_status (*plan)(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err);
  /* Writes w[p].  May spend at most the promise. mech is NULL for solvers without privacy
   * whose orders come from a fixed public seed. */
  tct_status (*run)(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w, tct_error *err);
  /* The size of the noise in released weights w[p]; plan: the resolved spec, the events and, where the first of them
   * has one, their noise multiplier.  NULL: nothing is known.  An error: the events are not those of one run (a claim
   * may cover several), and nothing is known either. */
  tct_status (*noise_size)(const tct_facts *facts, const tct_solver_plan *plan, const double *w, tct_noise_size *out,
                           tct_error *err);
  /* by_parties: the observers, in out[TCT_OBSERVERS]; *count of them. */
  tct_status (*observers)(const tct_facts *facts, const tct_solver_plan *plan, tct_observer *out, int *count,
                          tct_error *err);
  /* by_parties: what the claim takes for granted, a sentence each, between parties that are apart or in a simulation;
   * false: there is no condition i.  NULL: none. */
  bool (*condition)(const tct_solver_plan *plan, bool apart, int i, char text[TCT_CONDITION]);
  /* What the size of every weight, the intercept too, stays below whatever the table is, but with a chance below 1e-30;
   * INFINITY where the plan knows no such number.  Private solvers have it; the proof is beside the function. */
  double (*weight_bound)(const tct_facts *facts, const tct_solver_plan *plan);
} tct_solver;

/* TCT_OK if the events are one, plain or sampled Gaussian, `count` times; for noise_size. */
tct_status tct_plan_one_gaussian(const tct_solver_plan *plan, int64_t count, tct_error *err);

extern const tct_solver *const tct_solvers[];
extern const int tct_solver_count;
const tct_solver *tct_solver_find(const char *name); /* NULL = none */
/* The solver's bound, with room for the last digits; INFINITY without privacy. */
double tct_solver_weight_bound(const tct_solver *solver, const tct_facts *facts, const tct_solver_plan *plan);
#endif
