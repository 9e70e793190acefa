/* joint_sum.c - the sum over the records of a joint loss.
 *
 * The weights of K classes are K blocks of p.  Record i has the slopes a in R^K at its K margins, and its own term of
 * the sum is the K p numbers a_k x_i.  Under any matrix W on each block its norm is |a| |W x_i|.
 *
 * SENSITIVITY  a is scaled until |a| times the record's length is within its limit, with upper bounds on both computed
 * norms.  So one record's term is short in all classes together, whatever the margins.  Where a slope is NaN, for a
 * margin that is not finite, the record adds nothing (docs/proofs/softmax.md). */
#include "solve/gradient/joint_sum.h"

#include "core/alloc.h"
#include "core/point.h"
#include "core/processors.h"
#include "la/exact/gradient.h"
#include "la/kernels/kernels.h"

#include <string.h>

tct_status tct_joint_sum_new(const tct_problem *problem, tct_joint_sum *out, tct_error *err) {
  *out = (tct_joint_sum){
      .rows = problem->view->rows, .p = problem->view->p, .classes = tct_loss_outputs(&problem->facts->loss)};
  out->factor = tct_alloc_by(problem->facts->threads, out->rows * out->classes, sizeof(double));
  out->margin = TCT_NEW(double, out->rows);
  return out->factor && out->margin ? TCT_OK : tct_fail_memory(err);
}

void tct_joint_sum_free(tct_joint_sum *joint) {
  tct_wipe_free(joint->factor, joint->rows * joint->classes, sizeof(double));
  tct_wipe_free(joint->margin, joint->rows, sizeof(double));
  *joint = (tct_joint_sum){0};
}

/* Margins become slopes, weighed and clipped together. */
static void slopes_of(const tct_problem *problem, int64_t i, int64_t classes, tct_joint_limits limits, double *a) {
  double weight = problem->weight ? problem->weight[i] : 1, squares = 0;
  problem->facts->loss.kind->joint(a, classes, (int64_t)problem->y[i]);
  for (int64_t k = 0; k < classes; k++) a[k] *= weight, squares += a[k] * a[k];
  tct_joint_limit limit = limits.of(limits.user, i, weight);
  double size = sqrt(squares) * (1 + 0x1p-36) * limit.length;
  if (isnan(size)) memset(a, 0, (size_t)classes * sizeof *a);
  for (int64_t k = 0; k < classes && TCT_POINT(slopes_not_clipped, size > limit.own, false); k++)
    a[k] *= limit.own / size * (1 - 0x1p-48);
}

/* Of one class: what was made ready. */
typedef struct ready {
  const double *factor; /* [rows][classes] */
  int64_t classes, k;
} ready;

static void ready_factors(const void *user, int64_t first, int64_t count, double *a) {
  const ready *r = user;
  for (int64_t i = 0; i < count; i++) a[i] = r->factor[(first + i) * r->classes + r->k];
}

void tct_joint_sum_at(tct_joint_sum *joint, const tct_problem *problem, const double *u, tct_joint_limits limits,
                      double lattice, double *sum, double *scratch) {
  int64_t n = joint->rows, classes = joint->classes, p = joint->p;
  int threads = tct_threads_for(problem->facts->threads, 64 * n);
  for (int64_t k = 0; k < classes; k++) {
    tct_margins(problem->view, u + k * p, joint->margin, problem->facts->threads);
    for (int64_t i = 0; i < n; i++) joint->factor[i * classes + k] = joint->margin[i];
  }
#pragma omp parallel for num_threads(tct_threads(threads)) schedule(static)
  for (int64_t i = 0; i < n; i++) slopes_of(problem, i, classes, limits, joint->factor + i * classes);
  for (int64_t k = 0; k < classes; k++) {
    ready r = {joint->factor, classes, k};
    tct_gradient_lattice(problem->view, u + k * p, (tct_factors){ready_factors, &r}, lattice, sum + k * p, scratch,
                         problem->facts->threads);
  }
}
