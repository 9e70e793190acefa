/* gradient.c - the fused pass of full-batch solvers: every row is read from memory once per gradient.
 *
 * A block of rows small enough to stay in the second cache gets its margins, then its factors from the caller, and is
 * then added.  Dense rows in one piece go eight and more at a time.  The last rows of a matrix, past whose end eight
 * lanes would read, go one by one to the same bits.  Sparse rows go entry by entry, whatever the instruction set.  Only
 * rows whose scale is extreme (rows.c, WHICH PATH) are truncated instead of rounded.
 *
 * ROUNDING.  With b = fl(a*s) and magic M = 1.5*2^52*g, g the lattice, fl(fl(b*x) + M) lies in [2^52 g, 2^53 g) while
 * |b*x| <= 2^50 g, where doubles are the multiples of g and their bits count them.  So the sum's bits less M's are
 * round(fl(b*x)/g) as an integer, and integers add up exactly in any order.  Entries that a padded lane read beyond the
 * row's end fall into lanes that nobody reads.
 *
 * BOUND ON A TERM.  Let u = 2^-53 and v_j = fl(b*x_j).  As in rows.c the v_j are the coordinates of a vector of norm
 * below |a|*|x~|(1 - 2^-41) (1+u)^2 where |x~| <= R(1 - 2^-40) is what bounds it.  In general the norm is at most
 * |a|*N, N any upper bound on the row's norm with two roundings to spare (tct_row_norm2).  Rounding to the nearest
 * multiple moves a coordinate by at most g/2, hence the vector by at most sqrt(p) g/2.  So |a|*N <= sensitivity -
 * sqrt(p) g implies a term of norm at most sensitivity; the other half of sqrt(p) g pays for the roundings of the root
 * and the difference.  Extreme rows are truncated, which shortens them. */
#include "la/exact/gradient.h"

#include "core/lanes.h"
#include "core/processors.h"
#include "la/kernels/kernels.h"
#include "la/matrix/rows_access.h"

#include <math.h>
#include <string.h>

typedef uint64_t tct_u64x8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef struct gradient_loops {
  void (*dots)(const void *values, int64_t stride, const double *w, int64_t wide, double *z);
  void (*add)(const void *values, int64_t stride, const double *b, int64_t count, double magic, uint64_t *bits,
              int64_t wide);
} gradient_loops;

#define BODY "la/exact/gradient_body.h"
#define TARGET TCT_VARIANT(TCT_TARGET, LEVEL, , )
#define VALUE TCT_VARIANT(TCT_VALUE, F32, , )
#define LOAD8 TCT_VARIANT(TCT_LOAD8, F32, LEVEL, )
#define LOOP(name) TCT_VARIANT(name, F32, LEVEL, )
#define F32 0
#include "la/matrix/each_level.h"
#undef F32
#define F32 1
#include "la/matrix/each_level.h"

static const gradient_loops *const loops_of[TCT_LEVELS][2] = {
    {&gradient_00, &gradient_10}, {&gradient_01, &gradient_11}, {&gradient_02, &gradient_12}};

enum { CACHE = 1 << 14, LEAST = 16, MOST = 1024 }; /* a block: 16 KiB, two in the first cache; or rows of it */
enum { ADDED = 32, LINE = 64 };                    /* rows that are added at once; bytes */

static int64_t block_rows(int64_t p) {
  int64_t rows = CACHE / (8 * p) / 8 * 8;
  return rows < LEAST ? LEAST : rows > MOST ? MOST : rows;
}

double tct_gradient_factor_max(double sensitivity, double lattice, int64_t p) {
  return sensitivity - sqrt((double)p) * lattice;
}

/* One copy of w in whole vectors, and each thread's bits, slow sums, factors and scaled factors. */
static int64_t workspace(int64_t p) { return 2 * tct_whole_lanes(p) + 2 * block_rows(p); }

int64_t tct_gradient_scratch(int64_t p, int threads) { return tct_whole_lanes(p) + threads * workspace(p); }

typedef struct pass {
  const tct_view *view;
  const gradient_loops *loops;
  const struct sparse_loops *sparse; /* NULL: dense rows */
  const double *w, *whole;           /* [p]; the features' part padded with zeros */
  int64_t fast;                      /* rows before this one may be read in eights beyond their end */
  double lattice, magic;
  /* Of one thread: */
  uint64_t *bits, last; /* [features, padded] and the intercept's: count * bits of magic + multiples of the lattice */
  double *slow;         /* [p]: what rows on the slow path add */
  double *a, *b;        /* [block] */
} pass;

static const void *row_from(const tct_matrix *m, int64_t i) {
  return m->value_type == TCT_F32 ? (const void *)((const float *)m->values + i * m->stride)
                                  : (const double *)m->values + i * m->stride;
}

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* a[n]: dot products become margins.  Returns how many scales are extreme. */
#define MARGINS(level)                                                                                         \
  TCT_TARGET_##level static int64_t margins_##level(const double *restrict scale, double intercept, int64_t n, \
                                                    double *restrict a) {                                      \
    int64_t extreme = 0;                                                                                       \
    for (int64_t k = 0; k < n; k++) {                                                                          \
      extreme += !tct_scale_plain(scale[k]);                                                                   \
      a[k] = scale[k] * (a[k] + intercept);                                                                    \
    }                                                                                                          \
    return extreme;                                                                                            \
  }
TCT_EACH_LEVEL(MARGINS)

static void to_margins(const pass *s, int64_t from, int64_t to) {
  const tct_view *view = s->view;
  double intercept = view->intercept != 0 ? view->intercept * s->w[view->p - 1] : 0;
  if (TCT_BEST(margins)(view->row_scale + from, intercept, to - from, s->a) == 0) return;
  for (int64_t i = from; i < to; i++)
    if (!tct_scale_plain(view->row_scale[i])) s->a[i - from] = tct_row_dot(view, i, s->w);
}

/* Bytes of half of eight rows, or 0 where they are long.  Eight long rows are eight streams that the processor follows
 * by itself; short ones end before it has seen one. */
static int64_t asked(const tct_matrix *m) {
  int64_t bytes = m->stride * (int64_t)tct_value_size(m);
  return LEAST * bytes > CACHE ? 0 : 4 * bytes;
}

/* Of the next block one half is asked for while margins are made and one while rows are added, so that memory works all
 * the time.  Inlined: gcc drops calls of what only asks. */
__attribute__((always_inline)) static inline void ask(const void *from, int64_t ahead, int64_t bytes) {
  for (int64_t k = ahead; k < ahead + bytes; k += LINE)
    __builtin_prefetch((const void *)((uintptr_t)from + (uintptr_t)k));
}

static void block_margins(const pass *s, int64_t from, int64_t to) {
  const tct_matrix *m = s->view->x;
  int64_t i = from, half = asked(m);
  for (; i + 8 <= to && i + 8 <= s->fast; i += 8) {
    ask(row_from(m, i), CACHE, half);
    s->loops->dots(row_from(m, i), m->stride, s->whole, tct_whole_lanes(m->cols), s->a + (i - from));
  }
  to_margins(s, from, i);
  for (; i < to; i++) s->a[i - from] = tct_row_dot(s->view, i, s->w);
}

/* Stored entries, a block of rows at a time.  dots: z[to - from] = the dot products with w, short rows in the order of
 * dot_sparse (rows_body.h).  add: bits += the multiples of the lattice that b*x rounds to. */
#define SPARSE(VALUE, INDEX, name)                                                                     \
  static void dots_##name(const tct_matrix *m, const double *w, int64_t from, int64_t to, double *z) { \
    const INDEX *start = m->start, *column = m->index;                                                 \
    const VALUE *value = m->values;                                                                    \
    for (int64_t i = from; i < to; i++) {                                                              \
      const INDEX *c = column + start[i];                                                              \
      const VALUE *x = value + start[i];                                                               \
      int64_t n = start[i + 1] - start[i], k = 0;                                                      \
      double s0 = 0, s1 = 0, s2 = 0, s3 = 0;                                                           \
      for (; k + 4 <= n; k += 4) {                                                                     \
        s0 += (double)x[k] * w[c[k]];                                                                  \
        s1 += (double)x[k + 1] * w[c[k + 1]];                                                          \
        s2 += (double)x[k + 2] * w[c[k + 2]];                                                          \
        s3 += (double)x[k + 3] * w[c[k + 3]];                                                          \
      }                                                                                                \
      for (; k < n; k++) s0 += (double)x[k] * w[c[k]];                                                 \
      z[i - from] = (s0 + s2) + (s1 + s3);                                                             \
    }                                                                                                  \
  }                                                                                                    \
  static void add_##name(const tct_matrix *m, const double *b, int64_t from, int64_t to, double magic, \
                         uint64_t *bits) {                                                             \
    const INDEX *start = m->start, *column = m->index;                                                 \
    const VALUE *value = m->values;                                                                    \
    const uint64_t none = bits_of(magic);                                                              \
    for (int64_t i = from; i < to; i++) {                                                              \
      double factor = b[i - from];                                                                     \
      if (factor == 0) continue;                                                                       \
      for (int64_t k = start[i]; k < start[i + 1]; k++)                                                \
        bits[column[k]] += bits_of((double)value[k] * factor + magic) - none;                          \
    }                                                                                                  \
  }
SPARSE(double, int32_t, f64_i32)
SPARSE(double, int64_t, f64_i64)
SPARSE(float, int32_t, f32_i32)
SPARSE(float, int64_t, f32_i64)
#undef SPARSE

typedef struct sparse_loops {
  void (*dots)(const tct_matrix *m, const double *w, int64_t from, int64_t to, double *z);
  void (*add)(const tct_matrix *m, const double *b, int64_t from, int64_t to, double magic, uint64_t *bits);
} sparse_loops;
static const sparse_loops sparse_of[2][2] = {{{dots_f64_i32, add_f64_i32}, {dots_f64_i64, add_f64_i64}},
                                             {{dots_f32_i32, add_f32_i32}, {dots_f32_i64, add_f32_i64}}};

static void sparse_margins(const pass *s, int64_t from, int64_t to) {
  s->sparse->dots(s->view->x, s->w, from, to, s->a);
  to_margins(s, from, to);
}

/* One row of a dense matrix that cannot be read in eights. */
static void add_row(pass *s, int64_t i, double b) {
  tct_row row = tct_row_at(s->view->x, i);
  const uint64_t none = bits_of(s->magic);
  for (int64_t k = 0; k < row.n; k++) s->bits[k] += bits_of(tct_row_value(&row, k) * b + s->magic) - none;
}

/* b[n] <- a*scale, or 0, which adds nothing, where the row is extreme; last += the intercept's bits.  Returns how many
 * are extreme. */
#define FACTORS(level)                                                                                      \
  TCT_TARGET_##level static int64_t factors_##level(const double *restrict a, const double *restrict scale, \
                                                    double max, double intercept, double magic, int64_t n,  \
                                                    double *restrict b, uint64_t *restrict last) {          \
    int64_t extreme = 0;                                                                                    \
    uint64_t sum = 0;                                                                                       \
    for (int64_t k = 0; k < n; k++) {                                                                       \
      double at = a[k] * scale[k];                                                                          \
      bool plain = tct_scale_plain(scale[k]) & (fabs(a[k]) <= max) & (fabs(at) >= 0x1p-900);                \
      b[k] = plain ? at : 0;                                                                                \
      sum += bits_of(b[k] * intercept + magic);                                                             \
      extreme += !plain;                                                                                    \
    }                                                                                                       \
    *last += sum;                                                                                           \
    return extreme;                                                                                         \
  }
TCT_EACH_LEVEL(FACTORS)

/* Adds the block's rows. */
static void block_add(pass *s, int64_t from, int64_t to) {
  const tct_view *view = s->view;
  int64_t fast = to < s->fast ? to : s->fast < from ? from : s->fast, wide = tct_whole_lanes(view->x->cols);
  double max = 0x1p50 * s->lattice / view->row_norm;
  if (TCT_BEST(factors)(s->a, view->row_scale + from, max, view->intercept, s->magic, to - from, s->b, &s->last) != 0)
    for (int64_t i = from; i < to; i++)
      if (s->b[i - from] == 0) tct_row_add_lattice(view, i, s->a[i - from], s->lattice, s->slow);
  if (s->sparse) {
    s->sparse->add(view->x, s->b, from, to, s->magic, s->bits);
  } else {
    for (int64_t i = from, half = asked(view->x); i < fast; i += ADDED) {
      int64_t some = fast - i < ADDED ? fast - i : ADDED;
      for (int64_t k = i; k < i + some; k += 8) ask(row_from(view->x, k), CACHE + half, half);
      s->loops->add(row_from(view->x, i), view->x->stride, s->b + (i - from), some, s->magic, s->bits, wide);
    }
    for (int64_t i = fast; i < to; i++) add_row(s, i, s->b[i - from]);
  }
}

/* The blocks that no other thread takes; what they add goes to sum. */
static void some_blocks(pass *s, tct_factors factors, _Atomic int64_t *next, double *sum) {
  const tct_view *view = s->view;
  int64_t block = block_rows(view->p), cols = view->x->cols;
  uint64_t fast = 0, rows = 0;
  for (int64_t from; (from = tct_take_rows(next, block)) < view->rows;) {
    int64_t to = view->rows - from < block ? view->rows : from + block;
    tct_rows_touch(view->x, from, to);
    ask(view->row_scale + to, 0, 8 * (to - from));
    (s->sparse ? sparse_margins : block_margins)(s, from, to);
    factors.of(factors.user, from, to - from, s->a);
    block_add(s, from, to);
    rows += (uint64_t)(to - from);
    if (s->fast > from) fast += (uint64_t)((to < s->fast ? to : s->fast) - from);
  }
  fast *= bits_of(s->magic), rows *= bits_of(s->magic); /* modulo 2^64, as the sums */
  for (int64_t j = 0; j < cols; j++) sum[j] = s->slow[j] + (double)(int64_t)(s->bits[j] - fast) * s->lattice;
  if (view->intercept != 0) sum[cols] = s->slow[cols] + (double)(int64_t)(s->last - rows) * s->lattice;
}

/* Rows of a matrix in one piece whose eights end before it does. */
static int64_t fast_rows(const tct_view *view) {
  const tct_matrix *m = view->x;
  if (m->layout != TCT_DENSE_ROWS || m->stride != m->cols) return 0;
  int64_t beyond = tct_whole_lanes(m->cols) - m->cols;
  int64_t rows = view->rows - (beyond + m->cols - 1) / (m->cols > 0 ? m->cols : 1);
  return m->cols < 1 || rows < 0 ? 0 : rows;
}

void tct_gradient_lattice(const tct_view *view, const double *w, tct_factors factors, double lattice, double *sum,
                          double *scratch, int threads) {
  int64_t p = view->p, wide = tct_whole_lanes(p), each = workspace(p),
          blocks = (view->rows + block_rows(p) - 1) / block_rows(p);
  threads = tct_threads_for(threads, tct_matrix_nonzeros(view->x) + 8 * view->rows);
  if (threads > blocks) threads = blocks > 1 ? (int)blocks : 1;
  pass base = {.view = view, .w = w, .whole = scratch, .fast = fast_rows(view), .lattice = lattice};
  base.magic = 0x1.8p52 * lattice;
  bool f32 = view->x->value_type == TCT_F32;
  base.loops = loops_of[tct_level()][f32];
  if (view->x->layout == TCT_CSR) base.sparse = &sparse_of[f32][view->x->index_type == TCT_I64];
  memset(scratch, 0, (size_t)(wide + threads * each) * sizeof *scratch);
  memcpy(scratch, w, (size_t)view->x->cols * sizeof *scratch);
  _Atomic int64_t next = 0;
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads))
  for (int t = 0; t < threads; t++) {
    pass s = base;
    double *own = scratch + wide + t * each;
    s.bits = (uint64_t *)(void *)own, s.slow = own + wide, s.a = own + 2 * wide, s.b = s.a + block_rows(p);
    some_blocks(&s, factors, &next, s.slow);
  }
  memset(sum, 0, (size_t)p * sizeof *sum);
  for (int t = 0; t < threads; t++) tct_axpy(1, scratch + wide + t * each + wide, sum, p);
}
