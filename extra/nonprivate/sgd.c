/* sgd.c - proximal stochastic gradient descent without privacy.
 *
 * PROBLEM  min over w of (1/n) sum_i l(x_i.w, y_i) + psi(w), psi with a prox.
 *
 * ALGORITHM  Mini-batches in shuffled passes; w = prox of step_t*psi at w - step_t*(mean gradient), step_t =
 * step/sqrt(1 + epochs done); the average of the last half is returned.
 *
 * SENSITIVITY  None is claimed: the result is not private, and the certificate says NONE.
 *
 * RELEASES  None.
 *
 * COST  O(E*nnz) time.
 *
 * DEPARTS  The baseline of Damaskinos et al. 2021 with a fixed step rule in place of a tuned one. */
#include "core/alloc.h"
#include "la/kernels/kernels.h"
#include "solve/gradient/gradient_release.h"

#include <string.h>

static const tct_option options[] = {
    {"batch", TCT_OPT_COUNT, "32", 1, 1e15, NULL, "records per step"},
    {"epochs", TCT_OPT_COUNT, "20", 1, 1e6, NULL, "passes over the data"},
    {"step", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL, "first step size; auto: 1/(smoothness of the loss * R^2 + l2)"},
    {0},
};

static tct_status plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  TCT_TRY(tct_plan_begin(facts, given, options, out, err));
  return tct_descent_step(facts, options, out, err);
}

static void descend(const tct_problem *problem, const int64_t *row, int64_t count, double step, double *g, double *w) {
  memset(g, 0, (size_t)problem->view->p * sizeof *g);
  for (int64_t k = 0; k < count; k++) {
    double z = tct_row_dot(problem->view, row[k], w);
    tct_row_axpy(problem->view, row[k], tct_loss_slope(&problem->facts->loss, z, problem->y[row[k]]), g);
  }
  tct_axpy(-step / (double)count, g, w, problem->view->p);
  tct_prox_step(problem->facts, w, step);
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  int64_t n = problem->view->rows, p = problem->view->p, steps = 0;
  int64_t batch = tct_spec_count(&plan->spec, options, "batch"),
          epochs = tct_spec_count(&plan->spec, options, "epochs");
  double step = tct_spec_real(&plan->spec, options, "step");
  int64_t *order = TCT_NEW(int64_t, n);
  double *g = TCT_NEW(double, p), *average = TCT_NEW(double, p);
  tct_status status = order && g && average ? TCT_OK : tct_fail_memory(err);
  memset(w, 0, (size_t)p * sizeof *w);
  for (int64_t e = 0; e < epochs && status == TCT_OK; e++) {
    status = tct_problem_tick(problem, (double)e / (double)epochs, err);
    tct_mech_shuffle(mech, (uint64_t)e, order, n);
    for (int64_t k = 0; k < n; k += batch) {
      descend(problem, order + k, batch < n - k ? batch : n - k, step / sqrt(1 + (double)e), g, w);
      if (2 * e < epochs - 1) continue;
      tct_axpy(1, w, average, p);
      steps++;
    }
  }
  for (int64_t j = 0; j < p && status == TCT_OK; j++) w[j] = average[j] / (double)steps;
  tct_free(order);
  tct_free(g);
  tct_free(average);
  return status;
}

const tct_solver tct_solver_sgd = {
    .name = "sgd",
    .summary = "proximal stochastic gradient descent, NOT private",
    .options = options,
    .relations = TCT_RELATION_BOTH,
    .plan = plan,
    .run = run,
};
