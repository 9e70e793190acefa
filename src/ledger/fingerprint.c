/* fingerprint.c - the keyed fingerprint of a table, computed in one pass over its rows.
 *
 * A row is hashed once without a key and that hash once more under each key: two keys cost little more than one.
 * Sums modulo 2^256 and smallest values can be joined in any order, so threads and ranks do not change them. */
#include "ledger/fingerprint.h"

#include "core/alloc.h"
#include "core/processors.h"
#include "la/matrix/matrix.h"
#include "la/matrix/rows_access.h"
#include "ranks/ranks.h"

#include <pthread.h>
#include <string.h>

enum { BLOCK_ROWS = 1024, WORDS = 256, LEAST_SHARED = 4 };

/* ---- one row ---- */

/* Words on their way into a digest.  A value that is not 0 is its bits; a run of zeros is a 0 and its length. */
typedef struct packer {
  tct_digest digest;
  uint64_t word[WORDS];
  int used;
  int64_t next; /* the column after the last value */
} packer;

static void put(packer *p, uint64_t word) {
  p->word[p->used++] = word;
  if (p->used < WORDS) return;
  tct_digest_field(&p->digest, 'W', p->word, sizeof p->word);
  p->used = 0;
}

static void put_value(packer *p, int64_t column, double value) {
  uint64_t bits;
  if (value == 0) return;
  if (column != p->next) {
    put(p, 0);
    put(p, (uint64_t)(column - p->next));
  }
  memcpy(&bits, &value, sizeof bits);
  put(p, bits);
  p->next = column + 1;
}

static double value_at(const tct_matrix *x, int64_t at) {
  return x->value_type == TCT_F32 ? (double)((const float *)x->values)[at] : ((const double *)x->values)[at];
}

static int64_t index_at(const void *list, int32_t type, int64_t at) {
  return type == TCT_I32 ? ((const int32_t *)list)[at] : ((const int64_t *)list)[at];
}

static void put_row(packer *p, const tct_matrix *x, int64_t i) {
  if (x->layout != TCT_DENSE_COLS) tct_rows_touch(x, i, i + 1);
  if (x->layout == TCT_CSR) {
    int64_t end = index_at(x->start, x->index_type, i + 1);
    for (int64_t k = index_at(x->start, x->index_type, i); k < end; k++)
      put_value(p, index_at(x->index, x->index_type, k), value_at(x, k));
    return;
  }
  int by_rows = x->layout == TCT_DENSE_ROWS;
  for (int64_t j = 0; j < x->cols; j++) put_value(p, j, value_at(x, by_rows ? i * x->stride + j : j * x->stride + i));
}

static void hash_row(packer *p, const tct_matrix *x, const double *y, int64_t i, unsigned char hash[TCT_KEY]) {
  uint64_t label = 0;
  p->used = 0;
  p->next = 0;
  tct_digest_start(&p->digest);
  put_row(p, x, i);
  if (y && y[i] != 0) memcpy(&label, &y[i], sizeof label);
  put(p, y ? 1 : 0);
  put(p, label);
  tct_digest_field(&p->digest, 'E', p->word, (size_t)p->used * sizeof *p->word);
  tct_digest_end_bytes(&p->digest, hash);
}

/* ---- joining ---- */

static void add_sum(unsigned char to[TCT_KEY], const unsigned char from[TCT_KEY]) {
  unsigned carry = 0;
  for (int b = TCT_KEY - 1; b >= 0; b--) {
    carry += (unsigned)to[b] + from[b];
    to[b] = (unsigned char)carry;
    carry >>= 8;
  }
}

static void add_sketch(tct_print *p, uint64_t hash) {
  int64_t at = p->len;
  if (p->len == TCT_SKETCH && hash >= p->sketch[TCT_SKETCH - 1]) return;
  while (at > 0 && p->sketch[at - 1] > hash) at--;
  if (at > 0 && p->sketch[at - 1] == hash) return;
  int64_t last = p->len < TCT_SKETCH ? p->len : TCT_SKETCH - 1;
  memmove(p->sketch + at + 1, p->sketch + at, (size_t)(last - at) * sizeof *p->sketch);
  p->sketch[at] = hash;
  p->len = last + 1;
}

static void add_row(tct_print *p, const unsigned char hash[TCT_KEY]) {
  uint64_t first = 0;
  for (int b = 0; b < 8; b++) first = first << 8 | hash[b];
  p->rows++;
  add_sum(p->sum, hash);
  add_sketch(p, first);
}

static void join(tct_print *to, const tct_print *from) {
  to->rows += from->rows;
  add_sum(to->sum, from->sum);
  for (int64_t k = 0; k < from->len; k++) add_sketch(to, from->sketch[k]);
}

/* ---- all rows ---- */

static void print_block(const tct_matrix *x, const double *y, int64_t begin, tct_key key[TCT_PRINT_KEYS],
                        tct_print out[TCT_PRINT_KEYS]) {
  packer p;
  tct_digest start[TCT_PRINT_KEYS], digest;
  int64_t end = begin + BLOCK_ROWS < x->rows ? begin + BLOCK_ROWS : x->rows;
  unsigned char row[TCT_KEY], hash[TCT_KEY];
  memset(out, 0, TCT_PRINT_KEYS * sizeof *out);
  for (int k = 0; k < TCT_PRINT_KEYS; k++) tct_digest_start_keyed(&start[k], key[k]);
  for (int64_t i = begin; i < end; i++) {
    hash_row(&p, x, y, i, row);
    for (int k = 0; k < TCT_PRINT_KEYS; k++) {
      digest = start[k];
      tct_digest_field(&digest, 'H', row, sizeof row);
      tct_digest_end_bytes(&digest, hash);
      add_row(&out[k], hash);
    }
  }
  tct_wipe(&p, sizeof p);
  tct_wipe(start, sizeof start);
}

static void print_own(const tct_matrix *x, const double *y, tct_key key[TCT_PRINT_KEYS], int threads,
                      tct_print print[TCT_PRINT_KEYS]) {
  int64_t blocks = (x->rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
  pthread_mutex_t joining = PTHREAD_MUTEX_INITIALIZER; /* of this call: runs in other threads do not wait for it */
  memset(print, 0, TCT_PRINT_KEYS * sizeof *print);
#pragma omp parallel for schedule(dynamic) num_threads(tct_threads(threads)) if (blocks > 1)
  for (int64_t b = 0; b < blocks; b++) {
    tct_print part[TCT_PRINT_KEYS];
    print_block(x, y, b * BLOCK_ROWS, key, part);
    pthread_mutex_lock(&joining);
    for (int k = 0; k < TCT_PRINT_KEYS; k++) join(&print[k], &part[k]);
    pthread_mutex_unlock(&joining);
  }
}

static tct_status over_ranks(tct_team *team, tct_print print[TCT_PRINT_KEYS], tct_error *err) {
  int ranks = tct_team_ranks(team);
  if (ranks == 1) return TCT_OK;
  tct_print *all = TCT_NEW(tct_print, (int64_t)ranks * TCT_PRINT_KEYS);
  tct_status status = tct_team_agree(team, all ? TCT_OK : tct_fail_memory(err), err);
  if (status == TCT_OK) status = tct_team_gather(team, print, all, TCT_PRINT_KEYS * (int64_t)sizeof *print, err);
  memset(print, 0, TCT_PRINT_KEYS * sizeof *print);
  for (int r = 0; r < ranks && status == TCT_OK; r++)
    for (int k = 0; k < TCT_PRINT_KEYS; k++) join(&print[k], &all[r * TCT_PRINT_KEYS + k]);
  tct_free(all);
  return status;
}

tct_status tct_print_make(const tct_data *data, tct_key key[TCT_PRINT_KEYS], int threads,
                          tct_print print[TCT_PRINT_KEYS], tct_error *err) {
  tct_owned_matrix rows = {0};
  tct_status status = TCT_OK;
  const tct_matrix *x = &data->x;
  if (x->layout == TCT_CSC) { /* its rows are not at hand */
    status = tct_matrix_convert(x, TCT_CSR, (tct_value_type)x->value_type, &rows, err);
    x = &rows.m;
  }
  if (status == TCT_OK) print_own(x, data->y, key, threads, print);
  tct_matrix_free(&rows);
  status = tct_team_agree(data->team, status, err);
  return status == TCT_OK ? over_ranks(data->team, print, err) : status;
}

/* ---- comparing ---- */

bool tct_print_same(const tct_print *a, const tct_print *b) {
  return a->rows == b->rows && !memcmp(a->sum, b->sum, sizeof a->sum);
}

/* Up to which hash the sketch lists all of its table's. */
static uint64_t reach(const tct_print *p) { return p->len < TCT_SKETCH ? UINT64_MAX : p->sketch[TCT_SKETCH - 1]; }

/* Of a's hashes that b's sketch would list: how many there are, and how many it lists. */
static void compare(const tct_print *a, const tct_print *b, int64_t *comparable, int64_t *shared) {
  int64_t at = 0;
  *comparable = *shared = 0;
  for (int64_t k = 0; k < a->len && a->sketch[k] <= reach(b); k++) {
    while (at < b->len && b->sketch[at] < a->sketch[k]) at++;
    ++*comparable;
    *shared += at < b->len && b->sketch[at] == a->sketch[k];
  }
}

bool tct_print_is_part(const tct_print *part, const tct_print *whole) {
  int64_t comparable, shared;
  compare(part, whole, &comparable, &shared);
  bool complete = part->len < TCT_SKETCH && whole->len < TCT_SKETCH;
  return part->rows < whole->rows && shared == comparable && (complete || shared >= LEAST_SHARED);
}

double tct_print_shared(const tct_print *a, const tct_print *b) {
  int64_t comparable, shared;
  if (a->rows > b->rows) return tct_print_shared(b, a);
  compare(a, b, &comparable, &shared);
  return comparable >= LEAST_SHARED ? (double)shared / (double)comparable : 0;
}
