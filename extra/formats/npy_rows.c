/* npy_rows.c - an array read by all threads, each row straight into its place.
 *
 * Where every row begins follows from the header, so threads take blocks of rows in any order and wait for nobody.  A
 * thread holds one block as it is stored, and one as it is wanted where that goes to disk.
 *
 * FIRST ERROR.  Blocks are handed out in ascending order, and one behind the first malformed row so far is left out.
 * So all before it are read, and the error is that of one thread. */
#define _GNU_SOURCE
#include "formats/npy_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/processors.h"
#include "read/table/scratch.h"

/* BLOCK: bytes of a block of short rows, in the second cache.  ROOM: bytes of all threads' blocks. */
#define BLOCK TCT_LIMIT(1 << 18, 1 << 12)
enum { ROOM = 1 << 26 };

typedef struct shared {
  const tct_npy_rows *of;
  int64_t per_block; /* rows */
  pthread_mutex_t lock;
  int64_t failed; /* the first row that failed, or INT64_MAX */
  tct_error first;
} shared;

static int64_t features_of(const tct_npy_rows *r) { return r->npy.shape[1] - (r->label >= 0); }
static int64_t width_of(const tct_npy_rows *r) { return r->f32 ? (int64_t)sizeof(float) : (int64_t)sizeof(double); }

static bool all_finite(const void *values, int64_t count, bool f32) {
  double zero = 0;
  const float *single = values;
  const double *wide = values;
  if (f32) {
#pragma omp simd reduction(+ : zero)
    for (int64_t j = 0; j < count; j++) zero += (double)single[j] * 0.0; /* NaN unless all are finite */
  } else {
#pragma omp simd reduction(+ : zero)
    for (int64_t j = 0; j < count; j++) zero += wide[j] * 0.0;
  }
  return zero == 0;
}

/* Element `col` of a stored row to its place; NULL, or what is wrong with it. */
static const char *take_element(const tct_npy_rows *r, const unsigned char *row, int64_t col, void *values,
                                double *label) {
  double value = tct_npy_element(&r->npy, row + col * r->npy.width);
  if (col == r->label) return label ? tct_label_number(&r->rule, value, label) : NULL;
  if (!isfinite(value)) return "the element is not a finite number; correct it";
  if (fabs(value) > r->limit) return "the number is too large for single precision; read in double precision";
  int64_t at = col - (r->label >= 0 && col > r->label);
  if (r->f32)
    ((float *)values)[at] = (float)value;
  else
    ((double *)values)[at] = value;
  return NULL;
}

/* A row that is stored as it is wanted; false: something in it is malformed. */
static bool copy_row(const tct_npy_rows *r, const unsigned char *row, void *values, double *label) {
  int64_t width = r->npy.width, features = features_of(r), before = r->label >= 0 ? r->label : features;
  memcpy(values, row, (size_t)(before * width));
  if (before < features)
    memcpy((char *)values + before * width, row + (before + 1) * width, (size_t)((features - before) * width));
  if (!all_finite(values, features, r->f32)) return false;
  return !label || take_element(r, row, r->label, NULL, label) == NULL;
}

static bool stored_as_wanted(const tct_npy_rows *r) {
  return r->npy.kind == 'f' && !r->npy.swapped && r->npy.width == width_of(r);
}

/* NULL, or what is wrong with the first malformed element, in column *col. */
static const char *take_row(const tct_npy_rows *r, const unsigned char *row, void *values, double *label,
                            int64_t *col) {
  if (stored_as_wanted(r) && copy_row(r, row, values, label)) return NULL;
  for (*col = 0; *col < r->npy.shape[1]; ++*col) {
    const char *why = take_element(r, row, *col, values, label);
    if (why) return why;
  }
  return NULL;
}

static tct_status read_bytes(const tct_npy_rows *r, char *to, int64_t count, int64_t at, tct_error *err) {
  while (count > 0) {
    ssize_t got = pread(r->file, to, (size_t)count, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tct_fail(err, TCT_E_RUN, "cannot read %s to its end; check the disk", r->name);
    if (got == 0)
      return tct_fail_at(err, r->name, 0, 0, "the NPY file is shorter than its header says; fetch it again");
    to += got, count -= got, at += got;
  }
  return TCT_OK;
}

/* Rows [from, to); *bad: the row that the error is about. */
static tct_status take_block(const tct_npy_rows *r, int64_t from, int64_t to, char *stored, char *wanted, int64_t *bad,
                             tct_error *err) {
  int64_t bytes = r->npy.shape[1] * r->npy.width, line = features_of(r) * width_of(r);
  *bad = from;
  TCT_TRY(read_bytes(r, stored, (to - from) * bytes, r->begin + from * bytes, err));
  char *values = r->values ? (char *)r->values + from * line : wanted;
  for (int64_t i = from; i < to; i++) {
    int64_t col = 0;
    char *place = values + (i - from) * line;
    double *label = r->labels ? r->labels + i : NULL;
    const char *why = take_row(r, (unsigned char *)stored + (i - from) * bytes, place, label, &col);
    if (r->dropped) r->dropped[i] = why != NULL;
    if (!why) continue;
    *bad = i;
    if (!r->dropped) return tct_fail_at(err, r->name, r->first + i + 1, col + 1, "{%s}", why);
    memset(place, 0, (size_t)line);
    if (label) *label = -1;
  }
  return r->values ? TCT_OK : tct_scratch_write(r->scratch, wanted, (to - from) * line, from * line, err);
}

static void note(shared *s, int64_t row, const tct_error *why) {
  pthread_mutex_lock(&s->lock);
  if (row < s->failed) s->failed = row, s->first = *why;
  pthread_mutex_unlock(&s->lock);
}

static int64_t first_failed(shared *s) {
  pthread_mutex_lock(&s->lock);
  int64_t row = s->failed;
  pthread_mutex_unlock(&s->lock);
  return row;
}

/* One thread's share: block after block, as they are free. */
static void take_blocks(shared *s) {
  const tct_npy_rows *r = s->of;
  int64_t bytes = r->npy.shape[1] * r->npy.width, line = r->values ? 0 : features_of(r) * width_of(r), bad = 0;
  char *stored = tct_alloc_unset(s->per_block, (size_t)bytes), *wanted = NULL;
  if (line > 0) wanted = tct_alloc_unset(s->per_block, (size_t)line);
  bool room = stored && (wanted || line == 0);
  tct_error why = {0};
  if (!room) (void)tct_fail_memory(&why), note(s, 0, &why);
#pragma omp for schedule(dynamic, 1)
  for (int64_t from = 0; from < r->rows; from += s->per_block) {
    int64_t to = r->rows - from < s->per_block ? r->rows : from + s->per_block;
    if (!room || from > first_failed(s)) continue;
    if (take_block(r, from, to, stored, wanted, &bad, &why) != TCT_OK) note(s, bad, &why);
  }
  tct_wipe_free(stored, s->per_block, (size_t)bytes);
  tct_wipe_free(wanted, line > 0 ? s->per_block : 0, (size_t)line);
}

tct_status tct_npy_rows_read(const tct_npy_rows *rows, tct_error *err) {
  int64_t bytes = rows->npy.shape[1] * rows->npy.width;
  shared s = {.of = rows, .per_block = bytes < BLOCK ? BLOCK / bytes : 1, .failed = INT64_MAX};
  int64_t blocks = (rows->rows + s.per_block - 1) / s.per_block, most = ROOM / (2 * s.per_block * bytes);
  int64_t threads = rows->threads < most ? rows->threads : most > 1 ? most : 1;
  if (threads > blocks) threads = blocks;
  (void)!posix_fadvise(rows->file, 0, 0, POSIX_FADV_SEQUENTIAL);
  pthread_mutex_init(&s.lock, NULL);
#pragma omp parallel num_threads(tct_threads((int)threads))
  take_blocks(&s);
  pthread_mutex_destroy(&s.lock);
  if (s.failed == INT64_MAX) return TCT_OK;
  if (err) *err = s.first;
  return s.first.status;
}
