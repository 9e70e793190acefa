/* privgene.c - private genetic search: of the present model's mutations the fittest survives, chosen privately.
 *
 * PROBLEM  min over w of (1/n) sum_i l(x_i.w, y_i) + lambda/2 |w|^2; the intercept is not penalised.
 *
 * ALGORITHM  Zhang, Xiao, Yang, Zhang and Winslett 2013, "PrivGene: Differentially Private Model Fitting Using Genetic
 * Algorithms", in the form that Lee and Kifer 2018 compare with: one survivor, 2p mutations.
 *   1. w = 0
 *   2. for t = 1..T, T = c n epsilon
 *   3.   the candidates are w + s_t e_j and w - s_t e_j for every j, s_t = scale * decay^t
 *   4.   choose one by the exponential mechanism on -sum_i min(l_i, C) - n lambda/2 |.|^2
 *
 * SENSITIVITY  A record's own term of every score lies in [-C, 0], rounded to a lattice and summed exactly; under
 * add_remove a record moves all scores the same way.
 *
 * RELEASES  T events exponential(epsilon_0).
 *
 * COST  O(T*(nnz + 2 p n)) time.
 *
 * DEPARTS  epsilon_0 by exact composition of bounded-range choices, where the source splits epsilon evenly and charges
 * epsilon_0^2/2. */
#include "core/alloc.h"
#include "la/kernels/kernels.h"
#include "la/matrix/lattice.h"
#include "solve/gradient/agd.h"
#include "solve/gradient/rules.def"

#include <string.h>

static const tct_option options[] = {
    {"c", TCT_OPT_REAL, "0.00125", 1e-9, 1e3, NULL, "T = c n epsilon"},
    {"scale", TCT_OPT_REAL, "0.5", 1e-9, 1e9, NULL, "size of the first mutation"},
    {"decay", TCT_OPT_REAL, "0.95", 0.01, 1, NULL, "of the mutations' size per round"},
    {"clip", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL,
     "C, largest loss of a record; auto: 4.5 times the loss of w = 0, for real labels 1.5 times"},
    {0},
};

enum { MOST_ROUNDS = 400 }; /* by then the mutations have shrunk by 10^-9 */

enum { CHOICES }; /* the release */

typedef struct making {
  const tct_facts *facts;
  double clip;
  int64_t count;
} making;

/* Without privacy: an epsilon at which the largest score wins. */
static tct_status make(double epsilon, void *user, tct_promise *out, tct_error *err) {
  const making *m = user;
  double clip = tct_plan_clip(m->facts, m->clip);
  tct_release choices = tct_release_choice("a mutation, by its clipped losses", fmin(epsilon, 1e9), m->count, clip,
                                           clip, 8 * m->facts->rows);
  choices.monotone = m->facts->neighbours == TCT_ADD_REMOVE;
  return tct_promise_add(out, choices, err);
}

static tct_status plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  TCT_TRY(tct_plan_begin(facts, given, options, out, err));
  TCT_TRY(tct_plan_need_bounds(facts, "privgene", err));
  if (!facts->penalty.kind->quadratic)
    return tct_fail(err, TCT_E_USAGE, "privgene knows the penalties none and l2; choose one of them");
  const tct_loss *loss = &facts->loss;
  double y = loss->kind->binary ? 1 : facts->label_bound, clip = tct_spec_real(&out->spec, options, "clip");
  /* 4.5 times, as in dpagd: with less the smaller class is given up (docs/decisions/gradient-rules.md). */
  if (isnan(clip))
    clip = (loss->kind->binary ? privgene_class_loss_clip : privgene_number_loss_clip) *
           fmax(tct_loss_value(loss, 0, y), tct_loss_value(loss, 0, -y));
  TCT_TRY(tct_spec_set_real(&out->spec, "clip", clip, err));
  double rounds = round(tct_spec_real(&out->spec, options, "c") * (double)facts->rows * facts->epsilon);
  making m = {facts, clip, (int64_t)fmin(fmax(rounds, 1), MOST_ROUNDS)};
  tct_budget budget = {.direction = TCT_LARGEST, .low = 1e-9, .high = 2 * facts->epsilon, .tolerance = 1e-6};
  double epsilon = 0;
  return tct_budget_fit(facts, &budget, make, &m, out, &epsilon, err);
}

typedef struct search {
  const tct_problem *problem;
  double *z, *column, *score; /* [n], [n], [2p] */
  double clip, lattice;
} search;

/* Scores of w + size e_j and w - size e_j, relative in the penalty to w's own. */
static void mutate(search *s, const double *w, int64_t j, double size) {
  const tct_facts *facts = s->problem->facts;
  double steps[2] = {-size, size}, n = (double)facts->rows, max = 2 * n * s->clip;
  memset(s->column, 0, (size_t)s->problem->view->rows * sizeof(double));
  tct_col_axpy(s->problem->view, j, 1, s->column);
  tct_line line = {&facts->loss, steps, 2, s->clip, s->lattice, !tct_noise_off(facts)};
  tct_step_scores(&line, s->z, s->column, s->problem->y, s->problem->view->rows, s->score + 2 * j, facts->threads);
  bool free = facts->intercept && j == facts->p - 1;
  for (int k = 0; k < 2 && !free; k++) {
    double penalty = 0.5 * facts->penalty.l2 * n * (size * size - 2 * steps[k] * w[j]);
    s->score[2 * j + k] -= tct_lattice_part(fmin(fmax(penalty, -max), max), s->lattice);
  }
}

static tct_status one_round(search *s, double size, tct_mech *mech, double *w, tct_error *err) {
  int64_t p = s->problem->view->p, index = 0;
  for (int64_t j = 0; j < p; j++) mutate(s, w, j, size);
  TCT_TRY(tct_mech_choose(mech, CHOICES, s->score, 2 * p, &index, err));
  double move = index % 2 ? -size : size;
  w[index / 2] += move;
  tct_col_axpy(s->problem->view, index / 2, move, s->z);
  return TCT_OK;
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  int64_t n = problem->view->rows, p = problem->view->p;
  const tct_release *planned = tct_mech_release_of(mech, CHOICES);
  int64_t rounds = planned->event.count;
  search s = {.problem = problem, .clip = planned->clip, .lattice = planned->lattice};
  double size = tct_spec_real(&plan->spec, options, "scale"), decay = tct_spec_real(&plan->spec, options, "decay");
  s.z = TCT_NEW(double, n), s.column = TCT_NEW(double, n), s.score = TCT_NEW(double, 2 * p);
  tct_status status = s.z && s.column && s.score ? TCT_OK : tct_fail_memory(err);
  memset(w, 0, (size_t)p * sizeof *w);
  for (int64_t t = 0; t < rounds && status == TCT_OK; t++, size *= decay) {
    status = tct_problem_tick(problem, (double)t / (double)rounds, err);
    if (status == TCT_OK) status = one_round(&s, size, mech, w, err);
  }
  tct_wipe_free(s.z, n, sizeof(double));
  tct_wipe_free(s.column, n, sizeof(double));
  tct_wipe_free(s.score, 2 * p, sizeof(double));
  return status;
}

/* Round t moves one weight by scale*decay^t; all of them might move the same one. */
static double weight_bound(const tct_facts *facts, const tct_solver_plan *plan) {
  double size = tct_spec_real(&plan->spec, options, "scale"), decay = tct_spec_real(&plan->spec, options, "decay");
  double rounds = (double)plan->promise.release[CHOICES].event.count;
  (void)facts;
  return size * (decay < 1 ? fmin(rounds, 1 / (1 - decay)) : rounds);
}

const tct_solver tct_solver_privgene = {
    .name = "privgene",
    .summary = "private genetic search by exponential choices (Zhang et al. 2013)",
    .options = options,
    .is_private = true,
    .pure = true,
    .wants_columns = true,
    .relations = TCT_RELATION_BOTH,
    .plan = plan,
    .run = run,
    .weight_bound = weight_bound,
};
