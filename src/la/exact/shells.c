/* shells.c - exact sums of outer products by shells of length.
 *
 * PROOF  A block of rows is laid out as images z, in plain floating point.  Whatever their errors, z is a function of
 * the row, its last column and W.  The computed length, raised by more than its roundings, is at least |z|.  t is the
 * computed z times SHRINK over the larger of the length and the shell's radius.  So |t| <= 1 as exact reals, also after
 * both roundings of that product and the truncation, which shortens (gram.h).  A length that is not finite has no
 * shell, and its row adds nothing.  Rows of a block are gathered by shell, so that each is multiplied once. */
#include "la/exact/shells.h"

#include "core/alloc.h"
#include "core/lanes.h"
#include "core/point.h"
#include "la/exact/gram.h"
#include "la/kernels/kernels.h"

#include <math.h>
#include <string.h>

static const double SHRINK = 1 - 0x1p-38; /* the roundings of a scale, with room to spare */

typedef struct block {
  const tct_shells_of *of;
  int64_t plain, q, wide, size; /* plain: of images, q: of what is added up; size: most rows of a block */
  double *z, *picked;           /* [size][wide] */
  double *scale, *some, *share; /* [size] each: of all rows, of those picked, and their weights */
  int *shell;                   /* [size]; -1: none */
  double *part, *scratch;       /* [q][q], and workspace of the sum */
  int64_t room;
} block;

/* z <- the rows first, first + 1, ... or their images. */
static tct_status lay_out(block *b, int64_t first, int64_t count, tct_error *err) {
  const tct_shells_of *of = b->of;
  double *rows = of->metric ? b->picked : b->z;
  int64_t wide = tct_whole_lanes(b->plain);
  memset(rows, 0, (size_t)(count * wide) * sizeof *rows);
  for (int64_t k = 0; k < count; k++) {
    double *row = rows + k * wide;
    tct_row_axpy(of->view, first + k, of->scale, row);
    bool left_out = !(tct_norm2(row, of->view->p) > 0);
    if (of->last && !left_out) row[b->plain - 1] = of->last_scale * of->last[first + k];
    b->scale[k] = 1;
  }
  if (!of->metric) return TCT_OK;
  tct_matrix dense = {.rows = count, .cols = b->plain, .layout = TCT_DENSE_ROWS, .values = rows, .stride = wide};
  tct_view view = {.x = &dense, .row_scale = b->scale, .rows = count, .p = b->plain, .row_norm = 1};
  return tct_metric_images(of->metric, &view, 0, count, b->z, of->threads, err);
}

/* z <- the products of its entries. */
static void multiply(block *b, int64_t count) {
  int64_t wide = tct_whole_lanes(b->plain);
  double *product = b->picked;
  memset(product, 0, (size_t)(count * b->wide) * sizeof *product);
  for (int64_t k = 0; k < count; k++) {
    const double *z = b->z + k * wide;
    double *to = product + k * b->wide;
    for (int64_t i = 0; i < b->plain; i++)
      for (int64_t j = i; j < b->plain; j++) *to++ = z[i] * z[j] * (i == j ? 1 : M_SQRT2);
  }
  b->picked = b->z, b->z = product;
}

static double length_of(const block *b, int64_t k) {
  return sqrt(tct_norm2(b->z + k * b->wide, b->q)) * (1 + ((double)b->q + 16) * 0x1p-52);
}

/* Which shell each row belongs to, and what scales it there. */
static void assign(block *b, int64_t count) {
  const tct_shells_of *of = b->of;
  for (int64_t k = 0; k < count; k++) {
    double length = length_of(b, k);
    int shell = 0;
    while (shell + 1 < of->count && length > of->radius[shell]) shell++;
    b->shell[k] = isfinite(length) ? shell : -1;
    b->scale[k] = SHRINK / TCT_POINT(outer_shells_unscaled, fmax(of->radius[shell], length), of->radius[0]);
  }
}

/* sum += the rows of one shell. */
static void add_shell(block *b, int64_t first, int64_t count, int shell, double *sum) {
  const tct_shells_of *of = b->of;
  int64_t n = 0;
  for (int64_t k = 0; k < count; k++) {
    if (b->shell[k] != shell && TCT_POINT(a_record_in_two_shells, true, b->shell[k] + 1 != shell)) continue;
    memcpy(b->picked + n * b->wide, b->z + k * b->wide, (size_t)b->wide * sizeof *b->z);
    b->some[n] = b->scale[k];
    b->share[n++] = of->weight ? of->weight[first + k] : 1;
  }
  if (n == 0) return;
  tct_matrix dense = {.rows = n, .cols = b->q, .layout = TCT_DENSE_ROWS, .values = b->picked, .stride = b->wide};
  tct_view view = {.x = &dense, .row_scale = b->some, .rows = n, .p = b->q, .row_norm = 1};
  tct_gram_lattice(&view, of->weight ? b->share : NULL, tct_gram_step(of->lattice), b->part, b->scratch, of->threads);
  tct_axpy(1, b->part, sum, b->q * b->q);
}

/* A block's rows stay in the second cache of each thread.  They are no fewer than columns where memory allows it: the
 * block's matrix is added up entry by entry. */
static tct_status begin(block *b, tct_error *err) {
  int threads = b->of->threads;
  b->plain = b->of->view->p + (b->of->last ? 1 : 0);
  b->q = b->of->products ? b->plain * (b->plain + 1) / 2 : b->plain;
  b->wide = tct_whole_lanes(b->q);
  int64_t near = threads * ((int64_t)1 << 17) / b->wide, most = ((int64_t)1 << 20) / b->wide;
  if (near < b->q) near = b->q;
  b->size = ((near < most ? near : most) + 32) / 32 * 32;
  if (b->size > b->of->view->rows) b->size = (b->of->view->rows + 31) / 32 * 32;
  b->room = tct_gram_lattice_scratch(b->q, threads);
  b->z = TCT_NEW(double, b->size * b->wide), b->picked = TCT_NEW(double, b->size * b->wide);
  b->scale = TCT_NEW(double, b->size), b->some = TCT_NEW(double, b->size), b->share = TCT_NEW(double, b->size);
  b->shell = TCT_NEW(int, b->size);
  b->part = TCT_NEW(double, b->q * b->q), b->scratch = TCT_NEW(double, b->room);
  bool all = b->z && b->picked && b->scale && b->some && b->share && b->shell && b->part && b->scratch;
  return all ? TCT_OK : tct_fail_memory(err);
}

static void end(block *b) {
  tct_wipe_free(b->z, b->size * b->wide, sizeof(double));
  tct_wipe_free(b->picked, b->size * b->wide, sizeof(double));
  tct_wipe_free(b->scale, b->size, sizeof(double));
  tct_wipe_free(b->some, b->size, sizeof(double));
  tct_wipe_free(b->share, b->size, sizeof(double));
  tct_wipe_free(b->shell, b->size, sizeof(int));
  tct_wipe_free(b->part, b->q * b->q, sizeof(double));
  tct_wipe_free(b->scratch, b->room, sizeof(double));
}

tct_status tct_shells_sum(const tct_shells_of *of, double *sum, tct_error *err) {
  block b = {.of = of};
  int64_t rows = of->view->rows;
  tct_status status = begin(&b, err);
  memset(sum, 0, (size_t)(of->count * b.q * b.q) * sizeof *sum);
  for (int64_t from = 0; from < rows && status == TCT_OK; from += b.size) {
    int64_t count = rows - from < b.size ? rows - from : b.size;
    status = lay_out(&b, from, count, err);
    if (status == TCT_OK && of->products) multiply(&b, count);
    if (status == TCT_OK) assign(&b, count);
    for (int k = 0; k < of->count && status == TCT_OK; k++) add_shell(&b, from, count, k, sum + k * b.q * b.q);
  }
  end(&b);
  return status;
}
