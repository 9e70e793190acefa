/* dpfw_sums.c - the exact sums of dpfw, following the iterate at the cost of the entries that a step touches.
 *
 * Margins are kept as scale * z, so that w <- (1 - gamma) w + gamma * size * e_j is one multiplication and the entries
 * of column j.  Where a slope is taken again, the record's old terms leave the sums and its new ones enter.  All of
 * them lie on one lattice and every partial sum is below 2^51 of its steps, so this is exact.  The sums are those that
 * a pass over all records would give, bit for bit.  A pass is made where it is cheaper. */
#include "core/alloc.h"
#include "la/kernels/kernels.h"
#include "la/matrix/lattice.h"
#include "solve/frank_wolfe/dpfw.h"

#include <math.h>
#include <string.h>

static double clipped(double v, double clip) {
  v = v < clip ? v : clip; /* a NaN becomes clip, as in the fused loops */
  return v > -clip ? v : -clip;
}

static int64_t offset(const tct_matrix *m, const void *array, int64_t i) {
  return m->index_type == TCT_I64 ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}
static double stored(const tct_matrix *m, int64_t k) {
  return m->value_type == TCT_F32 ? (double)((const float *)m->values)[k] : ((const double *)m->values)[k];
}

/* The same for sparse data: a column has so few entries that a call for each would cost more than they do. */
static void sparse_sums(tct_dpfw_sums *s) {
  double sensitivity = s->d->planned->clip, lattice = s->lattice;
  memset(s->g, 0, (size_t)s->problem->view->p * sizeof *s->g);
  for (int64_t i = 0; i < s->problem->view->rows; i++) {
    double slope = s->slope[i];
    for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
      s->g[s->index[k]] += tct_lattice_part(clipped(slope * s->value[k], sensitivity), lattice);
  }
  for (int64_t j = 0; j < s->problem->view->p; j++) s->list[j] = j;
  s->changed = s->problem->view->p;
}

/* Every G_j afresh from the slopes as they stand. */
static void all_sums(tct_dpfw_sums *s) {
  int64_t p = s->problem->view->p;
  if (s->start) {
    sparse_sums(s);
    return;
  }
  tct_fused_set_margins(&s->all, s->slope);
  for (int64_t j = 0; j < p; j++) {
    s->g[j] = tct_fused_sum(&s->all, j, s->d->planned->clip, s->lattice);
    s->list[j] = j;
  }
  s->changed = p;
}

/* Cut to what the record may have, then weighed, so that a set of weights with sum 1 stays within C. */
static double counted(const tct_dpfw_sums *s, int64_t i, double slope) {
  return s->most ? clipped(slope, s->most[i]) * s->problem->weight[i] : clipped(slope, s->d->clip);
}

static void take_all(tct_dpfw_sums *s) {
  const tct_loss *loss = &s->problem->facts->loss;
  int64_t n = s->problem->view->rows;
  for (int64_t i = 0; i < n; i++) s->workspace[i] = s->scale * s->z[i];
  loss->kind->slopes(s->workspace, s->problem->y, loss->h, s->slope, n);
  for (int64_t i = 0; i < n; i++) s->slope[i] = counted(s, i, s->slope[i]);
}

static double take_one(const tct_dpfw_sums *s, int64_t i) {
  const tct_loss *loss = &s->problem->facts->loss;
  double margin = s->scale * s->z[i], slope;
  loss->kind->slopes(&margin, &s->problem->y[i], loss->h, &slope, 1);
  return counted(s, i, slope);
}

static void retake(tct_dpfw_sums *s, int64_t i) {
  double before = s->slope[i], after = take_one(s, i), sensitivity = s->d->planned->clip, lattice = s->lattice;
  s->slope[i] = after;
  if (after == before) return;
  for (int64_t k = s->start[i]; k < s->start[i + 1]; k++) {
    int32_t j = s->index[k];
    double x = s->value[k];
    s->g[j] += tct_lattice_part(clipped(after * x, sensitivity), lattice) -
               tct_lattice_part(clipped(before * x, sensitivity), lattice);
    s->list[s->changed] = j;
    s->changed += !s->marked[j];
    s->marked[j] = 1;
  }
}

static void rescale(tct_dpfw_sums *s, int64_t j, double size, double gamma) {
  double scale = s->scale * (1 - gamma);
  if (scale < 0x1p-500) { /* the first step, or very many later: what was there is gone or is brought back to scale 1 */
    for (int64_t i = 0; i < s->problem->view->rows; i++) s->z[i] *= scale;
    scale = 1;
  }
  s->scale = scale;
  tct_col_axpy(s->problem->view, j, gamma * size / scale, s->z);
}

/* The record of stored entry k of column j, or -1 if the entry is zero. */
static int64_t entry_row(const tct_matrix *m, int64_t j, int64_t k) {
  if (m->layout == TCT_DENSE_COLS) return stored(m, j * m->stride + k) != 0 ? k : -1;
  return stored(m, k) != 0 ? offset(m, m->index, k) : -1;
}

/* Takes again what column j touches: sums follow record by record, or by a pass where that is cheaper (two terms per
 * entry, scattered, cost more than one in order). */
static void take_touched(tct_dpfw_sums *s, int64_t j) {
  const tct_matrix *m = s->problem->view->x;
  bool sparse = m->layout == TCT_CSC;
  int64_t from = sparse ? offset(m, m->start, j) : 0, to = sparse ? offset(m, m->start, j + 1) : m->rows, touched = 0;
  for (int64_t k = from; k < to && s->start; k++) {
    int64_t i = entry_row(m, j, k);
    touched += i < 0 ? 0 : s->start[i + 1] - s->start[i];
  }
  bool pass = !s->start || s->d->plain || 4 * touched > s->start[m->rows];
  for (int64_t k = from; k < to; k++) {
    int64_t i = entry_row(m, j, k);
    if (i < 0) continue;
    if (pass)
      s->slope[i] = take_one(s, i);
    else
      retake(s, i);
  }
  if (pass) all_sums(s);
}

void tct_dpfw_sums_move(tct_dpfw_sums *s, int64_t j, double size, double gamma, bool all) {
  for (int64_t k = 0; k < s->changed; k++) s->marked[s->list[k]] = 0;
  s->changed = 0;
  rescale(s, j, size, gamma);
  if (all || j == s->problem->view->x->cols) { /* the intercept is an entry of every record */
    take_all(s);
    all_sums(s);
  } else {
    take_touched(s, j);
  }
}

/* The rows of the sparse view, scaled, with the intercept where there is one. */
static tct_status rows_of(tct_dpfw_sums *s, tct_error *err) {
  const tct_view *view = s->problem->view;
  const tct_matrix *m = view->x;
  bool extra = view->intercept != 0;
  int64_t entries = offset(m, m->start, m->cols) + (extra ? m->rows : 0);
  s->start = TCT_NEW(int64_t, m->rows + 2);
  s->index = TCT_NEW(int32_t, entries);
  s->value = TCT_NEW(double, entries);
  if (!s->start || !s->index || !s->value) return tct_fail_memory(err);
  int64_t *at = s->start + 1; /* at[i] becomes the start of row i, and ends as that of row i+1 */
  for (int64_t k = 0; k < offset(m, m->start, m->cols); k++) at[offset(m, m->index, k) + 1]++;
  for (int64_t i = 1; i <= m->rows; i++) at[i] += at[i - 1] + extra;
  for (int64_t j = 0; j < m->cols; j++)
    for (int64_t k = offset(m, m->start, j); k < offset(m, m->start, j + 1); k++) {
      int64_t i = offset(m, m->index, k), to = at[i]++;
      s->index[to] = (int32_t)j;
      s->value[to] = stored(m, k) * view->row_scale[i];
    }
  for (int64_t i = 0; i < m->rows && extra; i++) {
    s->index[at[i]] = (int32_t)(view->p - 1);
    s->value[at[i]++] = view->intercept * view->row_scale[i];
  }
  return TCT_OK;
}

/* The largest magnitude of each record's features as they count. */
static void largest_of(const tct_dpfw_sums *s, double *largest) {
  const tct_view *view = s->problem->view;
  const tct_matrix *m = view->x;
  for (int64_t i = 0; i < m->rows; i++) {
    largest[i] = fabs(view->intercept * view->row_scale[i]);
    for (int64_t k = s->start ? s->start[i] : 0; s->start && k < s->start[i + 1]; k++)
      largest[i] = fmax(largest[i], fabs(s->value[k]));
  }
  for (int64_t j = 0; j < m->cols && !s->start; j++)
    for (int64_t i = 0; i < m->rows; i++)
      largest[i] = fmax(largest[i], fabs(stored(m, j * m->stride + i) * view->row_scale[i]));
}

/* With weights no term is cut by itself: a slope is small enough for every feature of its record, with room for the
 * roundings of two products. */
static tct_status bound_slopes(tct_dpfw_sums *s, tct_error *err) {
  int64_t n = s->problem->view->rows;
  if (!s->problem->weight) return TCT_OK;
  s->most = TCT_NEW(double, n);
  if (!s->most) return tct_fail_memory(err);
  largest_of(s, s->most);
  for (int64_t i = 0; i < n; i++) {
    double own = s->most[i] > 0 ? s->d->planned->clip * (1 - 0x1p-40) / s->most[i] : INFINITY;
    s->most[i] = fmin(own, s->d->clip);
  }
  return TCT_OK;
}

void tct_dpfw_sums_free(tct_dpfw_sums *s) {
  if (!s->problem) return;
  int64_t n = s->problem->view->rows, p = s->problem->view->p, entries = s->start ? s->start[n] : 0;
  tct_fused_free(&s->all);
  tct_wipe_free(s->g, p, sizeof *s->g);
  tct_wipe_free(s->slope, n, sizeof *s->slope);
  tct_wipe_free(s->most, s->most ? n : 0, sizeof *s->most);
  tct_wipe_free(s->z, n, sizeof *s->z);
  tct_wipe_free(s->workspace, n, sizeof *s->workspace);
  tct_wipe_free(s->value, s->value ? entries : 0, sizeof *s->value);
  tct_free(s->zero);
  tct_free(s->list);
  tct_free(s->marked);
  tct_free(s->start);
  tct_free(s->index);
}

tct_status tct_dpfw_sums_new(const tct_problem *problem, const tct_dpfw *d, tct_dpfw_sums *s, tct_error *err) {
  int64_t n = problem->view->rows, p = problem->view->p;
  *s = (tct_dpfw_sums){.problem = problem, .d = d, .scale = 1};
  s->lattice = d->planned->lattice;
  s->g = TCT_NEW(double, p), s->list = TCT_NEW(int64_t, p + 1), s->marked = TCT_NEW(unsigned char, p);
  s->slope = TCT_NEW(double, n), s->z = TCT_NEW(double, n), s->workspace = TCT_NEW(double, n);
  s->zero = TCT_NEW(double, n);
  if (!s->g || !s->list || !s->marked || !s->slope || !s->z || !s->workspace || !s->zero) return tct_fail_memory(err);
  tct_fused_settings set = {.slope = TCT_FUSED_SQUARED, .threads = problem->facts->threads};
  if (problem->view->x->layout == TCT_CSC)
    TCT_TRY(rows_of(s, err));
  else
    TCT_TRY(tct_fused_new(problem->view, s->zero, set, &s->all, err));
  TCT_TRY(bound_slopes(s, err));
  take_all(s);
  all_sums(s);
  return TCT_OK;
}
