/* gap.c - the duality gap of a primal point for separable penalties, with or without an intercept.
 *
 * For any alpha, P(w) >= D(alpha) = -(1/n) sum_i l*(-alpha_i) - psi*(v), v = X^T alpha/n (Fenchel).  From w take
 * alpha_i = -l'(z_i), which is optimal where w is, and make it feasible:
 *   intercept  psi* needs its v to be 0: the positive or the negative alpha_i, whichever weigh more, are scaled down
 *   l1         psi* needs |v_j| <= l1: all alpha are scaled down
 * Scaling toward 0 keeps alpha_i in the domain of l*, which holds 0 for every loss here.
 *   l2       v^2/(2 l2)          elastic  (|v| - l1)_+^2/(2 l2)
 *   box      max(low v, high v)  l1ball   radius * max |v|
 * Both factors tend to 1 at the optimum, so the gap does tend to 0. */
#include "solve/shared/gap.h"

#include "core/alloc.h"
#include "la/kernels/kernels.h"

tct_status tct_gap_new(const tct_problem *problem, tct_gap_workspace *room, tct_error *err) {
  *room = (tct_gap_workspace){TCT_NEW(double, problem->view->rows), TCT_NEW(double, problem->view->p)};
  if (room->alpha && room->v) return TCT_OK;
  tct_gap_free(problem, room);
  return tct_fail_memory(err);
}

void tct_gap_free(const tct_problem *problem, tct_gap_workspace *room) {
  tct_wipe_free(room->alpha, problem->view->rows, sizeof(double));
  tct_free(room->v);
  *room = (tct_gap_workspace){NULL, NULL};
}

/* Does the penalty have a dual value at every dual point after scaling?  All do except `none`, and except elastic net
 * and l2 with weight 0. */
static bool gap_exists(const tct_facts *facts) {
  const tct_penalty *r = &facts->penalty;
  if (!facts->loss.kind->conjugate) return false;
  if (r->kind->box || r->kind->cross_polytope) return true;
  return r->l1 > 0 || r->l2 > 0;
}

static int64_t penalised(const tct_facts *facts) { return facts->p - (facts->intercept ? 1 : 0); }

/* psi over the penalised coordinates. */
static double gap_penalty(const tct_facts *facts, const double *w) {
  return facts->penalty.kind->value(&facts->penalty, w, penalised(facts));
}

/* Column p-1 has X^T alpha = 0 afterwards. */
static void balance(const tct_problem *problem, double *alpha) {
  double up = 0, down = 0;
  for (int64_t i = 0; i < problem->view->rows; i++) {
    double a = alpha[i] * problem->view->row_scale[i];
    if (a > 0)
      up += a;
    else
      down -= a;
  }
  double cut_up = up > down ? down / up : 1, cut_down = down > up ? up / down : 1;
  for (int64_t i = 0; i < problem->view->rows; i++) alpha[i] *= alpha[i] > 0 ? cut_up : cut_down;
}

static void correlate(const tct_problem *problem, const double *alpha, double *v) {
  const tct_view *view = problem->view;
  int layout = view->x->layout;
  if (layout == TCT_DENSE_ROWS || layout == TCT_CSR)
    tct_transpose_times(view, alpha, v, problem->facts->threads);
  else
    for (int64_t j = 0; j < view->p; j++) v[j] = tct_col_dot(view, j, alpha);
  for (int64_t j = 0; j < view->p; j++) v[j] /= (double)view->rows;
}

/* psi*(v), after scaling alpha and v where psi* asks for it. */
static double conjugate(const tct_problem *problem, tct_gap_workspace *room) {
  const tct_penalty *r = &problem->facts->penalty;
  int64_t p = penalised(problem->facts);
  double sum = 0, largest = 0;
  for (int64_t j = 0; j < p; j++) largest = fmax(largest, fabs(room->v[j]));
  if (r->kind->cross_polytope) return r->radius * largest;
  if (r->kind->box) {
    for (int64_t j = 0; j < p; j++) sum += fmax(r->low * room->v[j], r->high * room->v[j]);
    return sum;
  }
  if (r->l2 > 0) {
    for (int64_t j = 0; j < p; j++) {
      double over = fmax(0, fabs(room->v[j]) - r->l1);
      sum += over * over / (2 * r->l2);
    }
    return sum;
  }
  double cut = largest > r->l1 ? r->l1 / largest : 1;
  for (int64_t i = 0; i < problem->view->rows && cut < 1; i++) room->alpha[i] *= cut;
  return 0;
}

double tct_gap(const tct_problem *problem, const double *w, const double *z, tct_gap_workspace *room, double *primal) {
  const tct_loss *loss = &problem->facts->loss;
  int64_t n = problem->view->rows;
  *primal = loss->kind->sum(z, problem->y, loss->h, n) / (double)n + gap_penalty(problem->facts, w);
  if (!gap_exists(problem->facts)) return NAN;
  loss->kind->slopes(z, problem->y, loss->h, room->alpha, n);
  for (int64_t i = 0; i < n; i++) room->alpha[i] = -room->alpha[i];
  if (problem->facts->intercept) balance(problem, room->alpha);
  correlate(problem, room->alpha, room->v);
  double dual = conjugate(problem, room), sum = 0;
  for (int64_t i = 0; i < n; i++) sum += loss->kind->conjugate(room->alpha[i], problem->y[i], loss->h);
  return *primal + sum / (double)n + dual;
}
