/* gram_server.c - the server's turns of gram_parties: it deals products of masks and opens the sum; it holds no data.
 */
#include "core/alloc.h"
#include "la/exact/ring.h"
#include "mech/joint.h"
#include "parties/gram_parties.h"

#include <string.h>

static int64_t width_of(const tct_gram_server *s, int k) { return s->start[k + 1] - s->start[k]; }

/* mask: a block of every party's, one behind the other; product[all][all] += a_j' a_k, j < k. */
static tct_status add_block(const tct_gram_server *s, int64_t rows, uint64_t *mask, uint64_t *product, tct_error *err) {
  int64_t all = s->start[s->set->count];
  for (int k = 0; k < s->set->count; k++)
    TCT_TRY(tct_ring_masks(s->ring, k, mask + s->set->block * s->start[k], rows * width_of(s, k), err));
  for (int j = 0; j < s->set->count; j++)
    for (int k = j + 1; k < s->set->count; k++) {
      tct_ring_block a = {mask + s->set->block * s->start[j], width_of(s, j)};
      tct_ring_block b = {mask + s->set->block * s->start[k], width_of(s, k)};
      tct_ring_times(a, b, rows, false, product + s->start[j] * all + s->start[k], all);
    }
  return TCT_OK;
}

/* One pair's product, gathered into part, is dealt. */
static tct_status deal_pair(const tct_gram_server *s, int j, int k, const uint64_t *product, uint64_t *part,
                            tct_error *err) {
  int64_t all = s->start[s->set->count], rows = width_of(s, j), cols = width_of(s, k);
  for (int64_t i = 0; i < rows; i++)
    memcpy(part + i * cols, product + (s->start[j] + i) * all + s->start[k], (size_t)cols * sizeof *part);
  return tct_ring_deal(s->ring, j, k, part, rows * cols, err);
}

static tct_status multiply(const tct_gram_server *s, uint64_t *mask, uint64_t *product, tct_error *err) {
  int64_t n = s->facts->rows, block = s->set->block;
  for (int64_t first = 0; first < n; first += block)
    TCT_TRY(add_block(s, n - first < block ? n - first : block, mask, product, err));
  return TCT_OK;
}

tct_status tct_gram_server_deal(const tct_gram_server *s, tct_error *err) {
  int64_t all = s->start[s->set->count];
  for (int k = 0; k < s->set->count; k++) TCT_TRY(tct_ring_hear_seed(s->ring, k, s->facts->rows * width_of(s, k), err));
  uint64_t *mask = TCT_NEW(uint64_t, s->set->block * all), *product = TCT_NEW(uint64_t, all * all);
  uint64_t *part = TCT_NEW(uint64_t, all * all);
  tct_status status = mask && product && part ? multiply(s, mask, product, err) : tct_fail_memory(err);
  for (int k = 1; k < s->set->count; k++)
    for (int j = 0; j < k && status == TCT_OK; j++) status = deal_pair(s, j, k, product, part, err);
  tct_wipe_free(mask, mask ? s->set->block * all : 0, sizeof *mask);
  tct_wipe_free(product, product ? all * all : 0, sizeof *product);
  tct_free(part);
  return status;
}

/* The opened integers as numbers, shown to a probe. */
static tct_status reals(const tct_gram_server *s, int r, const uint64_t *word, int64_t len, double *out,
                        tct_error *err) {
  int fraction = s->set->fraction + (r == TCT_GRAM_MATRIX ? s->set->fraction : s->set->label_fraction);
  for (int64_t i = 0; i < len; i++) out[i] = tct_ring_real(word[i], fraction);
  return s->mech ? tct_mech_joined(s->mech, r, out, len, err) : TCT_OK;
}

static void unpack(const double *triangle, int64_t p, double *gram) {
  for (int64_t i = 0; i < p; i++)
    for (int64_t j = i; j < p; j++) gram[i * p + j] = gram[j * p + i] = *triangle++;
}

static tct_status collect(const tct_gram_server *s, uint64_t *sum, uint64_t *one, int64_t triangle, tct_error *err) {
  int64_t p = s->facts->p;
  for (int k = 0; k < s->set->count; k++) TCT_TRY(tct_ring_hear_share(s->ring, k, sum, one, triangle + p, err));
  if (!s->set->server_noise) return TCT_OK;
  TCT_TRY(tct_mech_join_server(s->mech, TCT_GRAM_MATRIX, sum, triangle, err));
  return tct_mech_join_server(s->mech, TCT_GRAM_MOMENT, sum + triangle, p, err);
}

tct_status tct_gram_server_open(const tct_gram_server *s, tct_statistics *out, tct_error *err) {
  int64_t p = s->facts->p, triangle = tct_gram_triangle(p), len = triangle + p;
  TCT_TRY(tct_statistics_new(p, (double)s->facts->rows, out, err));
  uint64_t *sum = TCT_NEW(uint64_t, len), *one = TCT_NEW(uint64_t, len);
  double *value = TCT_NEW(double, triangle);
  tct_status status = sum && one && value ? collect(s, sum, one, triangle, err) : tct_fail_memory(err);
  if (status == TCT_OK) status = reals(s, TCT_GRAM_MATRIX, sum, triangle, value, err);
  if (status == TCT_OK) unpack(value, p, out->gram);
  if (status == TCT_OK) status = reals(s, TCT_GRAM_MOMENT, sum + triangle, p, out->moment, err);
  tct_free(sum);
  tct_free(one);
  tct_free(value);
  if (status != TCT_OK) tct_statistics_free(out);
  return status;
}
