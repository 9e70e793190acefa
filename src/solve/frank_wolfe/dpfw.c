/* dpfw.c - private Frank-Wolfe on the l1 ball: each step a vertex, chosen by the exponential mechanism.
 *
 * PROBLEM  min over |w|_1 <= eta of (1/n) sum_i l(x_i.w, y_i), l smooth.  The intercept is a weight like any other.
 *
 * ALGORITHM  Talwar, Thakurta, Zhang 2015, "Nearly Optimal Private LASSO", algorithm 2.
 *   1. w = 0
 *   2. for t = 0..T-1: G_j = sum_i clip(a_i x_ij, C), a_i = clip(l'(x_i.w, y_i), B), C = B*feature_bound
 *   3.   choose one of the 2p vertices -sign*eta*e_j with probability ~ exp(epsilon_0 * sign*G_j/(2*change))
 *   4.   w <- (1 - gamma_t) w + gamma_t vertex, gamma_t = 2/(t+2)
 * On sparse data step 2 does not visit all records (Raff, Khanna, Lu 2023).  a_i is taken again where the chosen column
 * has an entry, and for all i only when t has grown by the factor `refresh` since it last was.  With refresh=1 all are
 * taken at each step, as Talwar et al. do.  This is part of the algorithm, not of the storage: every layout does the
 * same.
 *
 * SENSITIVITY  Record i adds clip(a_i x_ij, C) to G_j, where a_i depends on that record and on past choices alone.  It
 * is l' at the margin of some earlier iterate; which one depends on whether x_i has an entry in chosen columns. Terms
 * are truncated toward zero to a lattice and summed exactly, so under add_remove every score +-G_j changes by at most
 * C, under replace_one by 2C.  That is the `change` of the choice, whatever a_i is.  The two signs of a column move in
 * opposite directions, so the scores are not monotone and the 2 of the exponent stays.  The paper's bound for the mean
 * is this over n.  The view bounds |x_i| by R, so R is a valid feature_bound; a smaller one is enforced by the clip at
 * C.  With a weight v_i in [0, 1] the record adds v_i a_i x_ij, where a_i is cut further until max_j |a_i x_ij| <= C (1
 * - 2^-40): a function of the record alone.  That room covers the roundings of both products, and truncation shortens.
 * So the records of a person, whose weights sum to at most 1, move a score by at most C together.
 *
 * RELEASES  T choices, exponential:epsilon_0 each; w is a function of them.  With epsilon infinite the choice is the
 * largest score, charged as a release without noise.
 *
 * COST  A step: the entries of the rows that have an entry in the chosen column, and O(log p) for the choice
 * (rng/choice_tree.c).  About log(T)/log(refresh) steps are passes over all entries.  Dense data: a pass each step.
 *
 * DEPARTS  The exponential mechanism instead of noisy maxima, accounted by its bounded range; the clips; T below
 * instead of an unnamed constant. */
#include "solve/frank_wolfe/dpfw.h"

#include "core/alloc.h"

#include <string.h>

enum { AHEAD = 12 }; /* enough to hide a cache miss behind the updates before it */

typedef struct path_length {
  const tct_problem *problem;
  const tct_dpfw *d;
  tct_dpfw_sums sums;
  tct_choice_tree *tree;
  double *total;   /* [p] G_j over all rows */
  double *score;   /* [2p] form=plain: all scores */
  int64_t *vertex; /* [T] the choices: 2j + (sign of w_j < 0) */
} path_length;

/* gamma_t = 2/(t+2) */
static double gamma_of(int64_t t) { return 2.0 / ((double)t + 2); }

static void path_free(path_length *s) {
  tct_dpfw_sums_free(&s->sums);
  tct_mech_tree_free(s->tree);
  tct_wipe_free(s->total, s->problem->facts->p, sizeof *s->total);
  tct_wipe_free(s->score, 2 * s->problem->facts->p, sizeof *s->score);
  tct_free(s->vertex);
}

static tct_status path_new(const tct_problem *problem, const tct_dpfw *d, const tct_mech *mech, path_length *s,
                           tct_error *err) {
  const tct_facts *facts = problem->facts;
  *s = (path_length){.problem = problem, .d = d};
  s->vertex = TCT_NEW(int64_t, d->steps);
  s->score = TCT_NEW(double, 2 * facts->p);
  s->total = TCT_NEW(double, facts->p);
  if (!s->vertex || !s->score || !s->total) return tct_fail_memory(err);
  TCT_TRY(tct_dpfw_sums_new(problem, d, &s->sums, err));
  if (d->plain || tct_noise_off(facts)) return TCT_OK;
  return tct_mech_tree_new(mech, TCT_DPFW_CHOICE, 2 * facts->p, &s->tree, err);
}

/* -G_j pulls w_j up: candidate 2j is the vertex +eta e_j, candidate 2j+1 its opposite. */
static void show_all(path_length *s) {
  for (int64_t j = 0; j < s->problem->facts->p; j++) {
    double g = s->total[j];
    s->score[2 * j] = -g;
    s->score[2 * j + 1] = g;
  }
}

static void show_changed(path_length *s) {
  for (int64_t k = 0; k < s->sums.changed; k++) {
    int64_t j = s->sums.list[k];
    if (k + AHEAD < s->sums.changed) tct_mech_tree_prefetch(s->tree, 2 * s->sums.list[k + AHEAD]);
    tct_mech_tree_set(s->tree, 2 * j, -s->total[j]);
    tct_mech_tree_set(s->tree, 2 * j + 1, s->total[j]);
  }
}

static tct_status choose(path_length *s, tct_mech *mech, int64_t *at, tct_error *err) {
  int64_t p = s->problem->facts->p, count = 2 * p;
  TCT_TRY(tct_mech_join_some(mech, s->sums.g, s->total, p, s->sums.list, &s->sums.changed, err));
  if (s->tree) {
    show_changed(s);
    return tct_mech_tree_choose(mech, TCT_DPFW_CHOICE, s->tree, at, err);
  }
  show_all(s);
  return tct_mech_choose(mech, TCT_DPFW_CHOICE, s->score, count, at, err);
}

/* w from the choices: iterate t is the vertices weighted by gamma_k prod_{k<l<t} (1 - gamma_l), and `left` is what the
 * iterates from k+1 on, averaged, hold of vertex k per unit of gamma_k. */
static void collect(const path_length *s, double *w) {
  const tct_dpfw *d = s->d;
  int64_t from = d->average ? d->steps / 2 + 1 : d->steps; /* the first iterate that counts */
  double weight = 1 / (double)(d->steps - from + 1), left = 0;
  memset(w, 0, (size_t)s->problem->facts->p * sizeof *w);
  for (int64_t k = d->steps - 1; k >= 0; k--) {
    left += k + 1 >= from ? weight : 0;
    double size = s->problem->facts->penalty.radius * gamma_of(k) * left;
    w[s->vertex[k] / 2] += s->vertex[k] % 2 ? -size : size;
    left *= 1 - gamma_of(k);
  }
}

static tct_status steps(path_length *s, tct_mech *mech, tct_error *err) {
  const tct_dpfw *d = s->d;
  double next = 1;
  for (int64_t t = 0; t < d->steps; t++) {
    TCT_TRY(tct_problem_tick(s->problem, (double)t / (double)d->steps, err));
    TCT_TRY(choose(s, mech, &s->vertex[t], err));
    bool all = (double)(t + 1) >= next; /* a function of t and refresh alone */
    if (all) next = (double)(t + 1) * d->refresh;
    double size = s->vertex[t] % 2 ? -s->problem->facts->penalty.radius : s->problem->facts->penalty.radius;
    if (t + 1 < d->steps) tct_dpfw_sums_move(&s->sums, s->vertex[t] / 2, size, gamma_of(t), all);
  }
  return TCT_OK;
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  tct_dpfw d = tct_dpfw_settings(plan, mech);
  path_length s = {0};
  tct_status status = path_new(problem, &d, mech, &s, err);
  if (status == TCT_OK) status = steps(&s, mech, err);
  if (status == TCT_OK) collect(&s, w);
  path_free(&s);
  return status;
}

/* Every iterate is an average of the ball's vertices. */
static double weight_bound(const tct_facts *facts, const tct_solver_plan *plan) {
  (void)plan;
  return facts->penalty.radius;
}

const tct_solver tct_solver_dpfw = {
    .name = "dpfw",
    .summary = "private Frank-Wolfe on the l1 ball (Talwar et al. 2015; sparse steps after Raff et al. 2023)",
    .options = tct_dpfw_options,
    .is_private = true,
    .pure = true,
    .wants_columns = true,
    .rows_apart = true,
    .weighing = TCT_WEIGHS_PERSONS,
    .relations = TCT_RELATION_BOTH,
    .penalises_intercept = true,
    .plan = tct_dpfw_plan,
    .run = run,
    .weight_bound = weight_bound,
};
