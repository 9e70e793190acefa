/* scd.c - stochastic dual coordinate ascent without privacy, to a certified duality gap.
 *
 * PROBLEM  min over w of P(w) = (1/n) sum_i l(x_i.w, y_i) + (lambda/2)|w|^2 by maximising its dual
 * D(alpha) = -(1/n) sum_i l*(-alpha_i, y_i) - |X alpha|^2/(2 lambda n^2), w = X alpha/(lambda n).
 *
 * ALGORITHM  Shalev-Shwartz and Zhang 2013, "Stochastic Dual Coordinate Ascent Methods for Regularized Loss
 * Minimization"; the order of visits is a fresh permutation per pass.
 *   1. alpha = 0, w = 0
 *   2. each pass, for each i in random order: zeta = exact dual step; alpha_i += zeta; w += zeta x_i/(lambda n)
 *   3. now and then: gap = P(w) - D(alpha); stop when gap <= tol
 * Records whose duals sit at a bound and whose step pushes outwards are passed over for a while (shrinking, as Hsieh et
 * al. 2008 do for the hinge); the gap is always taken over all records, so the certificate does not depend on it.
 *
 * SENSITIVITY  None is claimed: the result is not private, and the certificate says NONE.
 *
 * RELEASES  None.
 *
 * COST  O(nnz) per pass, 2n + p doubles beside the data.
 *
 * DEPARTS  Gap from (1) and (3) of Damaskinos et al. 2021, in place of their (4). */
#include "core/alloc.h"
#include "la/kernels/kernels.h"
#include "solve/dual/dual.h"

#include <string.h>

static const tct_option options[] = {
    {"tol", TCT_OPT_REAL, "1e-9", 0, 1e9, NULL, "duality gap to reach, in units of the objective"},
    {"rtol", TCT_OPT_REAL, "0", 0, 1, NULL, "or this share of the objective, whichever is larger"},
    {"passes", TCT_OPT_COUNT, "10000", 1, 1e9, NULL,
     "at most this many visits per record; not reaching tol is then an error"},
    {0},
};

static tct_status plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  TCT_TRY(tct_plan_begin(facts, given, options, out, err));
  return tct_plan_need_dual(facts, "scd", err);
}

/* Newton steps per visit: the next visit goes on where this one ended. */
enum { NEWTON = 2 };
/* Visits per record between two gaps while the end is not in sight; a gap costs about one.  Passes over the active
 * records alone cost much less. */
enum { CHECK = 8 };
/* Before the first gap: no solve ends earlier. */
enum { FIRST = 3 };
/* Visits per record between two rebuilds of w: each visit rounds it by 2^-53 or so. */
enum { DRIFT = 64 };
/* Idle visits in a row after which a record is left out until the next gap. */
enum { IDLE = 3 };

/* What is known of the objective. */
typedef struct values {
  double primal, gap; /* P(w), P(w) - D(alpha) */
} values;

/* Step 3.  z: margins [n], workspace. */
static values gap(const tct_problem *problem, const tct_dual *dual, const double *w, double *z) {
  const tct_loss *loss = &problem->facts->loss;
  int64_t n = problem->view->rows;
  tct_margins(problem->view, w, z, problem->facts->threads);
  double ridge = problem->facts->penalty.l2 / 2 * tct_norm2(w, dual->p), conjugate = 0;
  for (int64_t i = 0; i < n; i++) conjugate += loss->kind->conjugate(dual->alpha[i], problem->y[i], loss->h);
  double primal = loss->kind->sum(z, problem->y, loss->h, n) / (double)n + ridge;
  return (values){.primal = primal, .gap = primal + conjugate / (double)n + ridge};
}

/* w drifts from X alpha by rounding over many passes; rebuild it before it matters. */
static void rebuild(const tct_problem *problem, tct_dual *dual, double *w) {
  tct_transpose_times(problem->view, dual->alpha, w, problem->facts->threads);
  for (int64_t j = 0; j < dual->p; j++) w[j] /= dual->lambda_n;
}

/* Visits are in random order: without asking ahead every one waits for memory several times. */
static inline void ask_ahead(const tct_problem *problem, const tct_dual *dual, const int64_t *order, int64_t k,
                             int64_t count) {
  enum { FAR = 12, NEAR = 5, CACHED = 4096 }; /* visits ahead: where the row starts, then the row */
  if (count <= CACHED) return;
  if (k + FAR < count) {
    int64_t i = order[k + FAR];
    tct_row_prefetch(problem->view, i, true);
    __builtin_prefetch(dual->alpha + i, 1);
    __builtin_prefetch(dual->norm2 + i);
    __builtin_prefetch(problem->y + i);
  }
  if (k + NEAR < count) tct_row_prefetch(problem->view, order[k + NEAR], false);
}

/* What a pass did: the sum of s*zeta^2 (about twice n times the dual's gain) and the largest |zeta|*s. */
typedef struct moves {
  double progress, largest;
} moves;

/* Would the step still be 0 with a margin off by `push`, the largest move of the pass before? Then the record stays
 * where it is for a while (LIBLINEAR's shrinking rule, in terms of steps). */
static bool rests(const tct_loss *loss, double alpha, double u, double s, double y, double push) {
  if (s == 0) return true;
  if (!(push < INFINITY)) return false;
  return loss->kind->dual_step(alpha, u + push, s, y, loss->h, NEWTON) == 0 &&
         loss->kind->dual_step(alpha, u - push, s, y, loss->h, NEWTON) == 0;
}

/* One pass over order[0..active).  A record is idle after IDLE steps of exactly 0 in a row, or at once where it is
 * pushed outwards by more than anything moved. */
static void pass(const tct_problem *problem, tct_dual *dual, const int64_t *order, int64_t active, unsigned char *idle,
                 double *w, moves *moved) {
  const tct_loss *loss = &problem->facts->loss;
  double push = moved->largest;
  *moved = (moves){0};
  for (int64_t k = 0; k < active; k++) {
    int64_t i = order[k];
    ask_ahead(problem, dual, order, k, active);
    double s = dual->norm2[i] / dual->lambda_n, u = 0, zeta;
    if (s > 0) {
      u = tct_row_dot(problem->view, i, w);
      zeta = loss->kind->dual_step(dual->alpha[i], u, s, problem->y[i], loss->h, NEWTON);
    } else { /* a record of zeros has margin 0 whatever w is, and this dual value */
      zeta = -tct_loss_slope(loss, 0, problem->y[i]) - dual->alpha[i];
    }
    if (zeta != 0) {
      moved->progress += s * zeta * zeta;
      moved->largest = fmax(moved->largest, fabs(zeta) * s);
      dual->alpha[i] += zeta;
      tct_row_axpy(problem->view, i, zeta / dual->lambda_n, w);
      idle[i] = 0;
    } else if (rests(loss, dual->alpha[i], u, s, problem->y[i], push)) {
      idle[i] = IDLE;
    } else if (idle[i] < IDLE) {
      idle[i]++;
    }
  }
}

typedef struct workspace {
  int64_t *list, *visits, *scratch; /* active records, ascending; the same in the order of a pass */
  double *z;
  unsigned char *idle;
} workspace;

static void workspace_free(workspace *ws) {
  tct_free(ws->list);
  tct_free(ws->visits);
  tct_free(ws->scratch);
  tct_free(ws->z);
  tct_free(ws->idle);
}

static tct_status workspace_new(workspace *ws, int64_t n, tct_error *err) {
  *ws = (workspace){TCT_NEW(int64_t, n), TCT_NEW(int64_t, n), TCT_NEW(int64_t, n), TCT_NEW(double, n),
                    TCT_NEW(unsigned char, n)};
  if (!ws->list || !ws->visits || !ws->scratch || !ws->z || !ws->idle) return tct_fail_memory(err);
  return TCT_OK;
}

/* All records are active again; one idle visit sets those back aside that were. */
static int64_t wake(workspace *ws, int64_t n) {
  for (int64_t i = 0; i < n; i++) ws->list[i] = i;
  for (int64_t i = 0; i < n; i++) ws->idle[i] = ws->idle[i] >= IDLE ? IDLE - 1 : 0;
  return n;
}

static int64_t keep_active(workspace *ws, int64_t active) {
  int64_t kept = 0;
  for (int64_t k = 0; k < active; k++)
    if (ws->idle[ws->list[k]] < IDLE) ws->list[kept++] = ws->list[k];
  return kept;
}

/* The active records in a random order from a public stream.  Long lists keep runs of neighbours together, whose rows
 * share pages and follow each other in memory; the runs are cut at a new place each time. */
static void reorder(tct_mech *mech, uint64_t index, workspace *ws, int64_t active) {
  enum { RUN = 8, SHORT = 4096 };
  int64_t run = active > SHORT ? RUN : 1, cut = (int64_t)(index % (uint64_t)run), runs = (active + cut + run - 1) / run;
  tct_mech_shuffle(mech, index, ws->scratch, runs);
  for (int64_t r = 0, k = 0; r < runs; r++) {
    int64_t from = ws->scratch[r] * run - cut, to = from + run;
    for (int64_t j = from < 0 ? 0 : from; j < to && j < active; j++) ws->visits[k++] = ws->list[j];
  }
}

/* Step 3: is the gap certified, with w taken afresh from alpha? */
static bool certified(const tct_problem *problem, tct_dual *dual, workspace *ws, double tol, double rtol, double *w,
                      values *now) {
  *now = gap(problem, dual, w, ws->z);
  if (now->gap > fmax(tol, rtol * fabs(now->primal))) return false;
  rebuild(problem, dual, w);
  *now = gap(problem, dual, w, ws->z);
  return now->gap <= fmax(tol, rtol * fabs(now->primal));
}

static tct_status solve(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, tct_dual *dual,
                        workspace *ws, double *w, tct_error *err) {
  int64_t n = dual->rows, active = wake(ws, n);
  double tol = tct_spec_real(&plan->spec, options, "tol"), rtol = tct_spec_real(&plan->spec, options, "rtol");
  double max = tct_spec_real(&plan->spec, options, "passes");
  double passes = 0, checked = 0, drift = 0; /* in visits per record */
  double per_progress = -1;                  /* gap over progress at the last check, to foretell it */
  values now = {INFINITY, INFINITY};
  moves moved = {.largest = INFINITY};
  memset(w, 0, (size_t)dual->p * sizeof *w);
  for (int64_t t = 0; passes < max; t++) {
    TCT_TRY(tct_problem_tick(problem, 0, err));
    reorder(mech, (uint64_t)t, ws, active);
    passes += (double)(active + 1) / (double)n;
    pass(problem, dual, ws->visits, active, ws->idle, w, &moved);
    active = keep_active(ws, active);
    bool near = per_progress >= 0 && per_progress * moved.progress <= 2 * fmax(tol, rtol * fabs(now.primal));
    if (active > 0 && passes - checked < (near ? 1 : per_progress < 0 ? FIRST : CHECK)) continue;
    if (certified(problem, dual, ws, tol, rtol, w, &now)) return TCT_OK;
    if (checked > drift + DRIFT) {
      rebuild(problem, dual, w);
      drift = checked;
    }
    per_progress = moved.progress > 0 ? now.gap / moved.progress : 0;
    active = wake(ws, n);
    checked = passes;
  }
  return tct_fail(err, TCT_E_RUN, "scd did not reach its duality gap in the given passes; give a larger tol or passes");
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  tct_dual dual = {0};
  workspace ws = {0};
  tct_status status = tct_dual_new(problem, &dual, err);
  if (status == TCT_OK) status = workspace_new(&ws, dual.rows, err);
  if (status == TCT_OK) status = solve(problem, plan, mech, &dual, &ws, w, err);
  workspace_free(&ws);
  tct_dual_free(&dual);
  return status;
}

const tct_solver tct_solver_scd = {
    .name = "scd",
    .summary = "dual coordinate ascent to a certified duality gap, NOT private",
    .options = options,
    .relations = TCT_RELATION_BOTH,
    .penalises_intercept = true,
    .plan = plan,
    .run = run,
};
