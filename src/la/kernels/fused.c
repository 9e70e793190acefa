/* fused.c - one step of coordinate descent over dense columns or CSC, shared out over threads.
 *
 * Dense columns go straight through the compiled loops of fused_table.c.  A sparse column is gathered, a block at a
 * time, into stretches of margins, labels and values that stay in the first cache, and those go through the same loops.
 * The intercept is a column of equal numbers, dense in either layout.  Each thread has a stretch of rows (dense) or of
 * entries (sparse); their exact sums are added. */
#include "la/kernels/fused_table.h"
#include "la/matrix/rows_access.h"
#include "core/alloc.h"
#include "core/processors.h"

#include <math.h>
#include <string.h>

enum {
  GATHER = 512,           /* entries of a gathered block: five stretches of 4 KiB, in the first cache */
  WORTH_THREADS = 1 << 14 /* rows below which waking a thread costs more than it saves (some microseconds) */
};

static bool all_ones(const double *scale, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (scale[i] != 1) return false;
  return true;
}

static float *to_single(const double *from, int64_t n) {
  float *to = TCT_NEW(float, n);
  for (int64_t i = 0; to && i < n; i++) to[i] = (float)from[i];
  return to;
}

/* The stored values are dense floats. */
static bool holds_floats(const tct_matrix *x) { return x->layout == TCT_DENSE_COLS && x->value_type == TCT_F32; }

static size_t real_size(const tct_fused *f) { return f->single ? sizeof(float) : sizeof(double); }

static void put_real(void *array, int64_t i, double value, bool single) {
  if (single)
    ((float *)array)[i] = (float)value;
  else
    ((double *)array)[i] = value;
}

/* A stretch of an array of the arithmetic's type, from row `first` on. */
static void *from_row(const tct_fused *f, const void *array, int64_t first) {
  return (char *)(uintptr_t)array + (size_t)first * real_size(f);
}

tct_status tct_fused_new(const tct_view *view, const double *y, tct_fused_settings set, tct_fused *out,
                         tct_error *err) {
  int64_t n = view->rows;
  *out = (tct_fused){.view = view, .y = y, .slope = set.slope, .h = set.h, .threads = set.threads};
  out->level = tct_level();
  out->pending = -1;
  if (out->level == 1 && !tct_fused_has_fma()) out->level = 0;
  out->single = set.single && holds_floats(view->x);
  if (set.slope == TCT_FUSED_LOGISTIC) out->h = out->single ? TCT_FUSED_LIMIT_SINGLE : TCT_FUSED_LIMIT;
  out->scaled = !all_ones(view->row_scale, n);
  bool ok, f32 = holds_floats(view->x);
  if (view->x->layout == TCT_CSC) {
    out->record = TCT_NEW(tct_fused_record, n);
    ok = out->record != NULL;
    for (int64_t i = 0; i < n && ok; i++) out->record[i] = (tct_fused_record){0, y[i], view->row_scale[i], 0};
  } else {
    out->z = tct_alloc(n, real_size(out));
    out->y = out->single ? to_single(y, n) : (const void *)y;
    out->scale = out->single && out->scaled ? to_single(view->row_scale, n) : (const void *)view->row_scale;
    ok = out->z && out->y && out->scale;
  }
  /* The intercept's column is stored as the values are, for the loops that read two columns of one type. */
  if (view->intercept != 0) ok &= (out->ones = tct_alloc(n, f32 ? sizeof(float) : sizeof(double))) != NULL;
  if (!ok) {
    tct_fused_free(out);
    return tct_fail_memory(err);
  }
  for (int64_t i = 0; i < n && out->ones; i++) put_real(out->ones, i, view->intercept, f32);
  return TCT_OK;
}

void tct_fused_free(tct_fused *f) {
  int64_t n = f->view ? f->view->rows : 0;
  tct_wipe_free(f->record, n, sizeof *f->record);
  tct_wipe_free(f->z, n, real_size(f));
  if (f->single) tct_wipe_free((void *)(uintptr_t)f->y, n, sizeof(float));
  if (f->single && f->scaled) tct_wipe_free((void *)(uintptr_t)f->scale, n, sizeof(float));
  tct_wipe_free(f->limit, n, real_size(f));
  tct_free(f->ones);
  memset(f, 0, sizeof *f);
}

/* Column j of a CSC matrix, the intercept's too. */
static tct_row entries_of(const tct_fused *f, int64_t j) {
  if (j < f->view->x->cols) return tct_line_at(f->view->x, j);
  return (tct_row){.x = f->ones, .n = f->view->rows};
}

/* Dense column j from row `first` on. */
static const char *dense_from(const tct_fused *f, int64_t j, int64_t first) {
  const tct_matrix *x = f->view->x;
  size_t size = tct_value_size(x);
  if (j == x->cols) return (const char *)f->ones + (size_t)first * size;
  return (const char *)x->values + (size_t)(j * x->stride + first) * size;
}

static int kind_of(const tct_fused *f) {
  if (f->single) return TCT_FUSED_F32;
  return holds_floats(f->view->x) ? TCT_FUSED_F32_F64 : TCT_FUSED_F64;
}

/* Rows [first, last) of a dense column j, the pending delta of another dense column included. */
static double dense_part(tct_fused *f, const tct_fused_part *model, int64_t from, int64_t j, int64_t first,
                         int64_t last) {
  tct_fused_part part = *model;
  part.n = last - first;
  part.z = from_row(f, f->z, first);
  part.y = from_row(f, f->y, first);
  part.scale = from_row(f, f->scale, first);
  if (part.limit) part.limit = from_row(f, f->limit, first);
  part.from = dense_from(f, from, first);
  part.to = dense_from(f, j, first);
  return tct_fused_loop_at(f->level, kind_of(f), f->slope, f->scaled, part.limit != NULL)(&part);
}

/* Entries [first, last) of a sparse column: gathered, then summed with no delta. */
static double sparse_part(const tct_fused *f, const tct_fused_part *model, const tct_row *column, int64_t first,
                          int64_t last) {
  double z[GATHER], y[GATHER], x[GATHER], limit[GATHER], sum = 0;
  tct_fused_part part = *model;
  part.z = z, part.y = y, part.from = part.to = x, part.delta = 0;
  tct_fused_loop loop = tct_fused_loop_at(f->level, TCT_FUSED_F64, f->slope, false, part.limit != NULL);
  if (part.limit) part.limit = limit;
  for (int64_t k = first; k < last; k += GATHER) {
    part.n = last - k < GATHER ? last - k : GATHER;
    for (int64_t l = 0; l < part.n; l++) {
      const tct_fused_record *r = f->record + tct_row_column(column, k + l);
      z[l] = r->z;
      y[l] = r->y;
      x[l] = r->scale * tct_row_value(column, k + l);
      limit[l] = r->limit;
    }
    sum += loop(&part);
  }
  return sum;
}

static void axpy_entries(tct_fused *f, const tct_row *column, double delta, int64_t first, int64_t last) {
  for (int64_t k = first; k < last; k++) {
    tct_fused_record *r = f->record + tct_row_column(column, k);
    r->z += delta * (r->scale * tct_row_value(column, k));
  }
}

/* Splits [0, n) at multiples of 64, so that no two threads write to one cache line. */
static int64_t border(int64_t n, int t, int threads) {
  int64_t at = n * t / threads;
  return t == threads ? n : at - at % 64;
}

/* Entries have distinct rows, so threads never write to one number.  One thread takes no parallel region: entering one
 * costs more than a short column. */
static void sparse_axpy(tct_fused *f, int64_t j, double delta) {
  tct_row column = entries_of(f, j);
  int threads = column.n < WORTH_THREADS ? 1 : f->threads;
  if (threads == 1) {
    axpy_entries(f, &column, delta, 0, column.n);
    return;
  }
#pragma omp parallel for num_threads(tct_threads(threads)) schedule(static, 1)
  for (int t = 0; t < threads; t++)
    axpy_entries(f, &column, delta, border(column.n, t, threads), border(column.n, t + 1, threads));
}

/* The largest float that is not above a clip: in floats, no term may round past it. */
static double clip_single(double clip) {
  float near = (float)clip;
  return (double)near > clip ? (double)nextafterf(near, 0) : (double)near;
}

static double part_of(tct_fused *f, const tct_fused_part *model, const tct_row *column, int64_t from, int64_t j,
                      int64_t first, int64_t last) {
  return column ? sparse_part(f, model, column, first, last) : dense_part(f, model, from, j, first, last);
}

static double sum_within(tct_fused *f, int64_t j, double clip, double lattice, bool limited) {
  if (f->single) clip = clip_single(clip);
  tct_fused_part model = {.delta = f->delta, .h = f->h, .clip = clip, .inverse = 1 / lattice};
  bool sparse = f->record != NULL, dense_pending = f->pending >= 0;
  double sum = 0;
  int64_t from = dense_pending ? f->pending : j;
  if (!dense_pending) model.delta = 0;
  if (limited) /* a part finds its own stretch */
    model.limit = sparse ? (const void *)f->record : f->limit;
  tct_row column = {0};
  if (sparse) column = entries_of(f, j);
  const tct_row *entries = sparse ? &column : NULL;
  int64_t n = sparse ? column.n : f->view->rows;
  int threads = n < WORTH_THREADS ? 1 : f->threads;
  f->pending = -1;
  f->delta = 0;
  if (threads == 1) return part_of(f, &model, entries, from, j, 0, n) * lattice;
#pragma omp parallel for num_threads(tct_threads(threads)) schedule(static, 1) reduction(+ : sum)
  for (int t = 0; t < threads; t++)
    sum += part_of(f, &model, entries, from, j, border(n, t, threads), border(n, t + 1, threads));
  return sum * lattice;
}

double tct_fused_sum(tct_fused *f, int64_t j, double clip, double lattice) {
  return sum_within(f, j, clip, lattice, f->limited);
}

/* A pass that applies the delta of a dense column; its sum is not used. */
static void settle(tct_fused *f) {
  double ignored = sum_within(f, f->pending, 1, 1, false);
  (void)ignored;
}

void tct_fused_move(tct_fused *f, int64_t j, double delta) {
  if (delta == 0) return;
  if (f->pending >= 0) settle(f); /* two moves without a sum between them */
  if (f->record) {
    sparse_axpy(f, j, delta);
    return;
  }
  f->pending = j;
  f->delta = delta;
}

void tct_fused_margins(tct_fused *f, double *out) {
  if (f->pending >= 0) settle(f);
  for (int64_t i = 0; i < f->view->rows; i++)
    out[i] = f->record ? f->record[i].z : f->single ? (double)((float *)f->z)[i] : ((double *)f->z)[i];
}

void tct_fused_set_margins(tct_fused *f, const double *z) {
  f->pending = -1;
  for (int64_t i = 0; i < f->view->rows; i++) {
    if (f->record)
      f->record[i].z = z[i];
    else
      put_real(f->z, i, z[i], f->single);
  }
}

void tct_fused_prefetch(const tct_fused *f, int64_t j, bool far) {
  const tct_matrix *m = f->view->x;
  if (!f->record || j >= m->cols) return;
  if (far) {
    __builtin_prefetch((const char *)m->start + (m->index_type == TCT_I64 ? 8 : 4) * j);
    return;
  }
  tct_row column = tct_line_at(m, j);
  int64_t bytes = (column.f32 ? 4 : 8) * column.n, places = (column.i64 ? 8 : 4) * column.n;
  for (int64_t at = 0; at < bytes && at < 512; at += 64) __builtin_prefetch((const char *)column.x + at);
  for (int64_t at = 0; at < places && at < 512; at += 64) __builtin_prefetch((const char *)column.columns + at);
}
