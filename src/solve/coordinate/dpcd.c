/* dpcd.c - differentially private proximal coordinate descent.
 *
 * PROBLEM  min over w of (1/n) sum_i l(x_i.w, y_i) + sum_j psi_j(w_j), l smooth with curvature at most h; psi none, l1,
 * l2, elastic net or a box.  The intercept has no psi.
 *
 * ALGORITHM  Mangold, Bellet, Salmon, Tommasi 2022, "Differentially Private Coordinate Descent for Composite Empirical
 * Risk Minimization", Algorithm 1.
 *   1. for t = 0..T-1
 *   2.   theta = w_t
 *   3.   for k = 0..K-1
 *   4.     pick j (uniformly; cyclic, in shuffled passes, or greedily: dpcd_greedy.c)
 *   5-7.   theta_j = prox of gamma_j psi_j at theta_j - gamma_j (clipped mean derivative + noise), gamma_j = gamma/M_j
 *   9.   w_{t+1} = mean of the theta (average=inner), of the last half of them (half), or the last (last)
 * The margins X w are kept and moved with each w_j, so a step reads two columns, not the data.
 *
 * SENSITIVITY  A step releases sum_i t_i, t_i = l'(z_i, y_i) x~_ij brought into [-C_j, C_j] and truncated toward zero
 * to a lattice, C_j = C*sqrt(M_j/sum M).  So a record's own term has magnitude <= C_j exactly.  Its margin z_i is a
 * function of its own x~_i and of past releases, and the sum is exact.  M_j are public, released before (dpcd_scale.c),
 * or unaccounted.  The order depends on no record.  This holds for any data and either relation.
 *
 * clipping=record: every pass visits each coordinate once, and the slope of record i is brought into [-l_i, l_i], l_i
 * such that sum over j of (l_i x~_ij/C_j)^2 <= p (la/kernels/fused_limits.c).  Its terms of a pass are at most
 * l_i|x~_ij|, whatever was released meanwhile.  With sensitivity sqrt(p)*C_j for part j they make a vector of norm <=
 * 1, released in parts.  That is one event (mech.c has the proof), with the noise that p coordinate steps of
 * sensitivity C_j would get.  The ball holds the box of the C_j, so that fewer terms are clipped at the same cost.
 *
 * RELEASES  [gaussian or laplace, once, for private M_j], then K*T events gaussian(m), or one per pass for
 * clipping=record; dpcd_plan.c has the split.  order=greedy: T times an exponential choice and a gaussian measurement.
 *
 * COST  A pass reads every entry twice: O(T*K*nnz/p) time, n doubles beside the data.
 *
 * DEPARTS  Noise from exact Gaussian DP, not through Renyi orders (accounting=rdp gives the paper's).  The vector of
 * M_j has a sensitivity that does not grow with p.  clipping=record is ours.  Defaults: shuffled passes, each
 * coordinate once per pass, and the mean of the last half (dpcd_plan.c). */
#include "solve/coordinate/dpcd.h"

#include "core/alloc.h"

#include <string.h>

const tct_option tct_dpcd_options[] = {
    {"passes", TCT_OPT_REAL, "auto", 1e-6, 1e6, NULL,
     "steps per coordinate; auto: sqrt(what is to be gained over the noise of one pass), 1 to 100"},
    {"outer", TCT_OPT_COUNT, "auto", 1, 1e9, NULL, "T, rounds of averaging; auto: 1 (schedule=theory: Theorem 3.3)"},
    {"inner", TCT_OPT_COUNT, "auto", 1, 1e9, NULL, "K, steps per round; auto: passes*p/T"},
    {"schedule", TCT_OPT_CHOICE, "passes", 0, 0, "passes|theory", "where T and K come from if they are not given"},
    {"clip", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL,
     "C, with C_j = C*sqrt(M_j/sum M); auto: C_j = largest slope times rms(x_j), twice that for clipping=coordinate"},
    {"step", TCT_OPT_REAL, "1", 1e-12, 1e3, NULL, "gamma, with steps gamma/M_j"},
    {"average", TCT_OPT_CHOICE, "auto", 0, 0, "auto|inner|half|last",
     "which iterates a round averages; auto: half (greedy: last)"},
    {"order", TCT_OPT_CHOICE, "shuffled", 0, 0, "uniform|cyclic|shuffled|greedy", "which coordinate is next"},
    {"smoothness", TCT_OPT_CHOICE, "private", 0, 0, "public|private|exact",
     "M_j: from moments, released, or read from the data (unaccounted)"},
    {"budget_fraction", TCT_OPT_REAL, "0.1", 1e-6, 0.999999, NULL,
     "part of the budget for private M_j: of mu^2 (Gaussian form), of epsilon (Laplace form)"},
    {"form", TCT_OPT_CHOICE, "gaussian", 0, 0, "gaussian|laplace", "noise of the private M_j"},
    {"moments", TCT_OPT_TEXT, "auto", 0, 0, NULL,
     "public means of x_j^2, one or one per feature, separated by /; auto: R^2/p"},
    {"bounds", TCT_OPT_TEXT, "auto", 0, 0, NULL,
     "public bounds on |x_j| for private M_j, one or one per feature, separated by /; auto: R"},
    {"floor", TCT_OPT_REAL, "auto", 1e-300, 1, NULL,
     "least private M_j over (curvature*bound^2); auto: twice the deviation of its noise"},
    {"split", TCT_OPT_REAL, "0.5", 1e-6, 0.999999, NULL, "order=greedy: part of a step's zCDP for the choice"},
    {"clipping", TCT_OPT_CHOICE, "auto", 0, 0, "auto|coordinate|record",
     "what is clipped: each derivative, or a record's derivatives over a pass; auto: record where passes are whole"},
    {"accounting", TCT_OPT_CHOICE, "best", 0, 0, "best|rdp", "noise from the tightest accountant, or the paper's"},
    {"precision", TCT_OPT_CHOICE, "auto", 0, 0, "auto|single|double",
     "margins of float data; auto: floats from 4096 records on"},
    {0},
};

typedef struct averages {
  double *sum;    /* [p] of the iterates counted so far */
  int64_t *since; /* [p] the first iterate that w_j as it stands counts for */
  int64_t from;   /* iterates are counted from this step of the round on */
} averages;

typedef struct state {
  tct_fused fused;
  averages mean;
  int64_t *order; /* [p] of the current pass, shuffled */
  bool cyclic, uniform;
  double *w;
} state;

/* w_j is about to change after iterate `k` of the round had it: what it stood for is added. */
static void count_until(averages *mean, int64_t j, double w, int64_t k) {
  int64_t from = mean->since[j] > mean->from ? mean->since[j] : mean->from;
  if (k > from) mean->sum[j] += w * (double)(k - from);
  mean->since[j] = k;
}

static int64_t pick(const tct_problem *problem, tct_mech *mech, state *s, int64_t step) {
  int64_t p = problem->facts->p;
  if (s->cyclic) return step % p;
  if (s->uniform) return (int64_t)tct_mech_public(mech, (uint64_t)step, (uint64_t)p);
  if (step % p == 0) tct_mech_shuffle(mech, (uint64_t)step, s->order, p);
  return s->order[step % p];
}

/* clipping=record: the sensitivity of coordinate j's part of a pass. */
static double part_reach(const tct_dpcd *d, int64_t j, int64_t p) { return d->bound[j] * sqrt((double)p); }

static tct_status set_limits(const tct_dpcd *d, int64_t p, tct_fused *fused, tct_error *err) {
  double *inverse = TCT_NEW(double, p);
  if (!inverse) return tct_fail_memory(err);
  for (int64_t j = 0; j < p; j++) inverse[j] = 1 / part_reach(d, j, p);
  tct_status status = tct_fused_limits(fused, inverse, err);
  tct_free(inverse);
  return status;
}

/* 5: the noisy sum of a coordinate's derivatives. */
static tct_status measure(const tct_problem *problem, const tct_dpcd *d, tct_mech *mech, state *s, int64_t j,
                          double *sum, tct_error *err) {
  double sensitivity = d->record ? part_reach(d, j, problem->facts->p) : d->bound[j];
  TCT_TRY(tct_mech_set_clip(mech, d->steps, sensitivity, err));
  const tct_release *planned = tct_mech_release_of(mech, d->steps);
  *sum = tct_fused_sum(&s->fused, j, planned->clip, planned->lattice);
  return tct_mech_release(mech, d->steps, sum, 1, err);
}

static tct_status descend(const tct_problem *problem, const tct_dpcd *d, tct_mech *mech, state *s, int64_t j, int64_t k,
                          tct_error *err) {
  double sum = 0;
  TCT_TRY(measure(problem, d, mech, s, j, &sum, err));
  double to = s->w[j] - d->rate[j] * (sum / (double)problem->facts->rows);
  to = tct_dpcd_prox(problem->facts, j, to, d->rate[j]); /* 7 */
  count_until(&s->mean, j, s->w[j], k + 1);
  tct_fused_move(&s->fused, j, to - s->w[j]);
  s->w[j] = to;
  return TCT_OK;
}

/* Many columns in a shuffled order are far apart in memory: their numbers are asked for some steps ahead. */
static void look_ahead(const tct_dpcd *d, state *s, int64_t p, int64_t step) {
  int64_t at = step % p;
  if (s->cyclic || s->uniform || at + 8 >= p) return;
  int64_t far = s->order[at + 8];
  __builtin_prefetch(&d->bound[far]);
  __builtin_prefetch(&d->rate[far]);
  __builtin_prefetch(&s->w[far]);
  __builtin_prefetch(&s->mean.sum[far]);
  __builtin_prefetch(&s->mean.since[far]);
  tct_fused_prefetch(&s->fused, far, true);
  tct_fused_prefetch(&s->fused, s->order[at + 4], false);
}

/* Step 9, and the margins follow where another round begins. */
static void finish_round(const tct_problem *problem, const tct_dpcd *d, state *s, bool more) {
  int64_t counted = d->inner - s->mean.from;
  for (int64_t j = 0; j < problem->facts->p; j++) {
    count_until(&s->mean, j, s->w[j], d->inner + 1);
    double to = s->mean.sum[j] / (double)(counted + 1);
    if (more) tct_fused_move(&s->fused, j, to - s->w[j]);
    s->w[j] = to;
    s->mean.sum[j] = 0;
    s->mean.since[j] = 0;
  }
}

/* Iterates of a round are numbered 0 (its start) to K; iterate k+1 is what step k made. */
static int64_t first_counted(const tct_spec *spec, int64_t inner) {
  const tct_option *o = tct_dpcd_options;
  if (tct_spec_is(spec, o, "average", "inner")) return 1;
  return tct_spec_is(spec, o, "average", "last") ? inner : inner / 2 + 1 < inner ? inner / 2 + 1 : inner;
}

static tct_status rounds(const tct_problem *problem, const tct_solver_plan *plan, const tct_dpcd *d, tct_mech *mech,
                         state *s, tct_error *err) {
  double all = (double)d->outer * (double)d->inner;
  s->mean.from = first_counted(&plan->spec, d->inner);
  for (int64_t t = 0; t < d->outer; t++) {
    for (int64_t k = 0; k < d->inner; k++) {
      int64_t step = t * d->inner + k;
      TCT_TRY(tct_problem_tick(problem, (double)step / all, err));
      int64_t j = pick(problem, mech, s, step);
      look_ahead(d, s, problem->facts->p, step);
      TCT_TRY(descend(problem, d, mech, s, j, k, err));
    }
    finish_round(problem, d, s, t + 1 < d->outer);
  }
  return TCT_OK;
}

static void state_free(state *s) {
  tct_fused_free(&s->fused);
  tct_free(s->mean.sum);
  tct_free(s->mean.since);
  tct_free(s->order);
}

static tct_status state_new(const tct_problem *problem, const tct_spec *spec, const tct_dpcd *d, bool single, state *s,
                            double *w, tct_error *err) {
  const tct_facts *facts = problem->facts;
  tct_fused_settings set = {.slope = TCT_FUSED_SQUARED, .h = facts->loss.h, .threads = d->threads};
  for (int64_t j = 0; j < facts->p; j++) single = single && d->bound[j] > 1e-25 && d->bound[j] < 1e25;
  set.single = single;
  tct_dpcd_slope(&facts->loss, &set.slope);
  memset(w, 0, (size_t)facts->p * sizeof *w);
  *s = (state){
      .mean = {TCT_NEW(double, facts->p), TCT_NEW(int64_t, facts->p), 0}, .order = TCT_NEW(int64_t, facts->p), .w = w};
  s->cyclic = tct_spec_is(spec, tct_dpcd_options, "order", "cyclic");
  s->uniform = tct_spec_is(spec, tct_dpcd_options, "order", "uniform");
  tct_status status = s->mean.sum && s->mean.since && s->order ? TCT_OK : tct_fail_memory(err);
  if (status == TCT_OK) status = tct_fused_new(problem->view, problem->y, set, &s->fused, err);
  return status;
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  tct_dpcd d = {0};
  TCT_TRY(tct_dpcd_new(problem, plan, &d, err));
  tct_status status = tct_dpcd_scales(problem, plan, mech, &d, err);
  if (status == TCT_OK && tct_spec_is(&plan->spec, tct_dpcd_options, "order", "greedy")) {
    status = tct_dpcd_greedy(problem, &d, mech, w, err);
  } else if (status == TCT_OK) {
    state s = {0};
    bool single = tct_mech_release_of(mech, d.steps)->bits > 0;
    status = state_new(problem, &plan->spec, &d, single, &s, w, err);
    if (status == TCT_OK && d.record) status = set_limits(&d, problem->facts->p, &s.fused, err);
    if (status == TCT_OK && !s.fused.single) status = tct_mech_set_fine(mech, d.steps, err);
    if (status == TCT_OK) status = rounds(problem, plan, &d, mech, &s, err);
    state_free(&s);
  }
  tct_dpcd_free(&d);
  return status;
}

const tct_solver tct_solver_dpcd = {
    .name = "dpcd",
    .summary = "private proximal coordinate descent (Mangold et al. 2022)",
    .options = tct_dpcd_options,
    .is_private = true,
    .wants_columns = true,
    .rows_apart = true,
    .relations = TCT_RELATION_BOTH,
    .plan = tct_dpcd_plan,
    .run = run,
    .weight_bound = tct_dpcd_weight_bound,
};
