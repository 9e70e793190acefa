/* dpfw_parties.c - private Frank-Wolfe over columns that nobody may pool: the party's turns.
 *
 * PROBLEM  min over |w|_1 <= eta of (1/n) sum_i l(x_i.w, y_i), l smooth.  Party k holds the columns of block k of every
 * record, all parties hold the labels, the server holds nothing.
 *
 * ALGORITHM  Algorithm 2 of "Towards Efficient and Privacy-Preserving feature-wise distributed Frank-Wolfe", with
 * the corrections under DEPARTS.  J is a public embedding of the n records into m numbers (mech/sketch.c).
 *   1. w = 0
 *   2. for t = 0..T-1: the server tells party k q = sum over sent columns j of other parties of w_j a~_j, and c, B
 *   3.   party k: z_i = (its own prediction, exactly) + c (J^T q)_i, a_i = clip(l'(z_i, y_i), B)
 *   4.     G_j = sum_i clip(a_i x_ij, B R_inf) for its tau columns; one of the vertices +-e_j by the exponential
 *          mechanism, sent; winner: its score too, noised
 *   5.     unless it was sent before: a~_j = J x_j + N(0, sigma^2 I_m), sent once
 *   6.   the server: w <- (1 - gamma_t) w + gamma_t sum_k -sign eta_k e_{j_k}, gamma_t = 2/(t+2); winner: only the
 *        party of the largest score moves, by eta
 * Once a party has sent L columns it chooses among these.
 *
 * SENSITIVITY  Choice: record i adds clip(a_i x_ij, B R_inf) to G_j. a_i depends on that record and on past releases (w
 * is one, and so are q, c and B).  So under add_remove a score moves by at most B R_inf, under replace_one by 2 B
 * R_inf.  Score: the same number, its sensitivity.  Column: record i adds x_ij J e_i, |x_ij| <= R_inf is enforced and
 * |J e_i| <= 1 (mech/sketch.c), so its sensitivity is R_inf.  Which candidates there are is decided by past choices and
 * by coins of tau that no record enters.  Terms lie on lattices and are summed exactly.  Own predictions go into own
 * choices only; the server's q for party k has no release of party k in it.
 *
 * RELEASES  K*T choices, at most K*L columns, and K*T scores when one wins: dpfw_parties_plan.c.  Against party k the
 * releases of the others alone count; labels are not protected from any party.
 *
 * COST  Per round: a pass over a party's columns.  Uplink: T indices and at most L*m numbers per party.
 *
 * DEPARTS  Corrections: both terms of the printed (13) are over n.  Line 10 multiplies vectors of n and of m numbers:
 * J^T q stands there.  K vertices of norm eta leave the ball: party k has eta_k, sum eta, or one winner moves per
 * round.  Noise follows from SENSITIVITY, and all choices and columns compose, for a record sits with every party.
 *
 * By choice: own predictions are exact.  The others' estimate is weighted by c, because it carries noise of deviation
 * sigma |w| in every record (parties_trust.c).  Columns are at most L. */
#include "parties/dpfw_parties.h"

#include "core/alloc.h"
#include "core/stop.h"
#include "la/kernels/kernels.h"

#include <string.h>

void tct_party_free(tct_party *s) {
  if (!s->problem) return;
  int64_t n = s->problem->view->rows;
  tct_fused_free(&s->all);
  double *rows[] = {s->own, s->estimate, s->margin, s->slope, s->column, s->zero};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) tct_wipe_free(rows[i], rows[i] ? n : 0, sizeof(double));
  tct_wipe_free(s->score, s->score ? 2 * s->count : 0, sizeof *s->score);
  tct_wipe_free(s->sums, s->sums ? s->count : 0, sizeof *s->sums);
  tct_free(s->query);
  tct_free(s->name);
  tct_free(s->order_of);
  tct_free(s->is_sent);
  *s = (tct_party){0};
}

static tct_status party_fill(tct_party *s, tct_error *err) {
  int64_t n = s->problem->view->rows;
  s->own = TCT_NEW(double, n), s->estimate = TCT_NEW(double, n), s->margin = TCT_NEW(double, n);
  s->slope = TCT_NEW(double, n), s->column = TCT_NEW(double, n), s->zero = TCT_NEW(double, n);
  s->query = TCT_NEW(double, s->set->size + 2);
  s->score = TCT_NEW(double, 2 * s->count), s->sums = TCT_NEW(double, s->count);
  s->name = TCT_NEW(int64_t, 2 * s->count), s->order_of = TCT_NEW(int64_t, s->count);
  s->is_sent = TCT_NEW(unsigned char, s->count);
  if (!s->own || !s->estimate || !s->margin || !s->slope || !s->column || !s->zero || !s->query || !s->score ||
      !s->sums || !s->name || !s->order_of || !s->is_sent)
    return tct_fail_memory(err);
  tct_fused_settings sums = {.slope = TCT_FUSED_SQUARED, .threads = s->problem->facts->threads};
  return tct_fused_new(s->problem->view, s->zero, sums, &s->all, err);
}

tct_status tct_party_new(const tct_problem *problem, const tct_parties *set, const tct_sketch *sketch,
                         tct_party_place place, tct_party *s, tct_error *err) {
  *s = (tct_party){.problem = problem, .set = set, .sketch = sketch, .order = place.order, .gate = place.gate};
  s->first = place.first, s->count = place.count, s->scale = 1;
  tct_status status = party_fill(s, err);
  if (status != TCT_OK) tct_party_free(s);
  return status;
}

static double clipped(double v, double clip) {
  v = v < clip ? v : clip; /* a NaN becomes clip, as in the fused loops */
  return v > -clip ? v : -clip;
}

/* Steps 2 and 3. */
static tct_status take_slopes(tct_party *s, tct_error *err) {
  const tct_facts *facts = s->problem->facts;
  int64_t n = s->problem->view->rows, size = s->set->columns > 0 ? s->set->size : 0;
  TCT_TRY(tct_wire_receive_reals(s->gate->wire, TCT_SERVER, TCT_SAY_ROUND, s->query, size + 2, err));
  s->trust = s->query[0], s->clip = s->query[1];
  if (!(s->trust >= 0 && s->trust <= 1) || !(s->clip > 0 && s->clip < 1e100))
    return tct_fail(err, TCT_E_RUN, "the server asked for a round with settings out of range; stop trusting it");
  if (s->trust > 0) tct_sketch_back(s->sketch, s->order, s->query + 2, s->estimate);
  double own = s->set->local ? s->scale : 0;
  for (int64_t i = 0; i < n; i++) s->margin[i] = own * s->own[i] + s->trust * s->estimate[i];
  facts->loss.kind->slopes(s->margin, s->problem->y, facts->loss.h, s->slope, n);
  for (int64_t i = 0; i < n; i++) s->slope[i] = clipped(s->slope[i], s->clip);
  tct_fused_set_margins(&s->all, s->slope);
  return TCT_OK;
}

/* The columns that this round chooses from, as many as are returned, in order_of. */
static int64_t candidates(tct_party *s) {
  const tct_parties *set = s->set;
  int64_t count = 0;
  bool full = set->columns > 0 && s->sent >= set->columns;
  if (set->tau > 0 && set->tau < s->count && !full) {
    tct_mech_shuffle(s->gate->mech, (uint64_t)s->chosen, s->order_of, s->count);
    return set->tau;
  }
  for (int64_t j = 0; j < s->count; j++)
    if (!full || s->is_sent[j]) s->order_of[count++] = j;
  return count;
}

/* The clip of this round, where it follows from what was sent; *sums: the release whose lattice the sums lie on. */
static tct_status settle_lengths(tct_party *s, const tct_release **sums, tct_error *err) {
  const tct_parties *set = s->set;
  double clip = s->clip * set->feature;
  if (set->widen) {
    TCT_TRY(tct_mech_set_clip(s->gate->mech, TCT_PARTIES_CHOICE, clip, err));
    if (set->winner) TCT_TRY(tct_mech_set_clip(s->gate->mech, set->score, clip, err));
  }
  *sums = tct_mech_release_of(s->gate->mech, set->winner ? set->score : TCT_PARTIES_CHOICE);
  return TCT_OK;
}

tct_status tct_party_choose(tct_party *s, tct_error *err) {
  const tct_parties *set = s->set;
  TCT_TRY(take_slopes(s, err));
  const tct_release *planned = NULL;
  TCT_TRY(settle_lengths(s, &planned, err));
  int64_t count = candidates(s), index = 0;
  for (int64_t c = 0; c < count && !tct_stopping(); c++) {
    int64_t j = s->order_of[c];
    double sum = tct_fused_sum(&s->all, s->first + j, planned->clip, planned->lattice);
    s->score[2 * c] = -sum; /* -G_j pulls w_j up */
    s->score[2 * c + 1] = sum;
    s->name[2 * c] = 2 * j;
    s->name[2 * c + 1] = 2 * j + 1;
  }
  TCT_TRY(tct_wire_gate_choose(s->gate, TCT_PARTIES_CHOICE, s->score, s->name, 2 * count, &index, err));
  s->chosen = s->name[index];
  if (!set->winner) return TCT_OK;
  return tct_wire_gate_release(s->gate, TCT_SAY_SCORE, set->score, &s->score[index], 1, err);
}

/* Step 5. */
static tct_status send_column(tct_party *s, int64_t j, tct_error *err) {
  const tct_parties *set = s->set;
  int64_t n = s->problem->view->rows;
  const tct_release *planned = tct_mech_release_of(s->gate->mech, TCT_PARTIES_COLUMN);
  memset(s->column, 0, (size_t)n * sizeof *s->column);
  tct_col_axpy(s->problem->view, s->first + j, 1, s->column);
  for (int64_t i = 0; i < n; i++) s->column[i] = clipped(s->column[i], planned->clip);
  double *sum = TCT_NEW(double, set->size);
  if (!sum) return tct_fail_memory(err);
  tct_sketch_add(s->sketch, s->order, s->column, planned->lattice, sum);
  tct_status status = tct_wire_gate_release(s->gate, TCT_SAY_COLUMN, TCT_PARTIES_COLUMN, sum, set->size, err);
  tct_wipe_free(sum, set->size, sizeof *sum);
  s->is_sent[j] = 1;
  s->sent++;
  return status;
}

/* Own predictions follow the own part of w. */
static void step_own(tct_party *s, double gamma, bool moves) {
  double scale = s->scale * (1 - gamma), radius = s->set->radius[s->gate->wire->self];
  if (scale < 0x1p-500) {
    for (int64_t i = 0; i < s->problem->view->rows; i++) s->own[i] *= scale;
    scale = 1;
  }
  s->scale = scale;
  if (!moves) return;
  double size = s->chosen % 2 ? -radius : radius;
  tct_col_axpy(s->problem->view, s->first + s->chosen / 2, gamma * size / scale, s->own);
}

tct_status tct_party_send(tct_party *s, int64_t t, tct_error *err) {
  double winner = s->gate->wire->self;
  if (s->set->winner) TCT_TRY(tct_wire_receive_reals(s->gate->wire, TCT_SERVER, TCT_SAY_VERDICT, &winner, 1, err));
  bool moves = winner == s->gate->wire->self;
  if (moves && s->set->columns > 0 && !s->is_sent[s->chosen / 2]) TCT_TRY(send_column(s, s->chosen / 2, err));
  step_own(s, 2.0 / ((double)t + 2), moves);
  return TCT_OK;
}

tct_status tct_party_run(tct_party *s, double *w, tct_error *err) {
  for (int64_t t = 0; t < s->set->steps; t++) {
    TCT_TRY(tct_problem_tick(s->problem, (double)t / (double)s->set->steps, err));
    TCT_TRY(tct_party_choose(s, err));
    TCT_TRY(tct_party_send(s, t, err));
  }
  return tct_wire_receive_reals(s->gate->wire, TCT_SERVER, TCT_SAY_DONE, w, s->problem->facts->p, err);
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  tct_parties_report report;
  return tct_parties_simulate(problem, plan, mech, w, &report, err);
}

/* The parties' radii sum to the ball's; with radius=winner each has the ball's and one party moves in a step. */
static double weight_bound(const tct_facts *facts, const tct_solver_plan *plan) {
  (void)plan;
  return facts->penalty.radius;
}

const tct_solver tct_solver_dpfw_parties = {
    .name = "dpfw_parties",
    .summary =
        "private Frank-Wolfe over columns of several parties, in a session; on one file: a "
        "simulation of it",
    .options = tct_parties_options,
    .by_parties = true,
    .over_wire = true,
    .is_private = true,
    .wants_columns = true,
    .relations = TCT_RELATION_BOTH,
    .penalises_intercept = true,
    .plan = tct_parties_plan,
    .run = run,
    .observers = tct_parties_observers,
    .weight_bound = weight_bound,
};
