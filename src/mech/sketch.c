/* sketch.c - sparse sign embedding (Kane and Nelson 2014), drawn from a public seed.
 *
 * DISTRIBUTION  Record i: per_record distinct rows, uniform, each with a fair sign.  E[J^T J] = the identity, and
 * (J^T J a)_i - a_i has variance about |a|^2/m.
 *
 * PROOF  A record's entries lie in distinct rows and are +-weight with per_record * weight^2 = 1 exactly (weight is a
 * power of two).  So record i adds to J a the vector a_i J e_i of norm at most |a_i|.  Truncation of a term toward zero
 * does not lengthen it.
 *
 * ROUNDING  Terms lie on the lattice of the release that they enter, so their sum is exact. */
#include "mech/sketch.h"

#include "core/point.h"
#include "core/alloc.h"
#include "la/matrix/lattice.h"
#include "rng/rng.h"

enum { BLOCK = 4096 }; /* records per stream */

static void draw_record(tct_stream *s, const tct_sketch *sketch, int32_t *at) {
  for (int k = 0; k < sketch->per_record; k++) {
    int32_t row;
    for (int again = 1; again;) {
      row = (int32_t)tct_stream_below(s, (uint64_t)sketch->size);
      again = 0;
      for (int l = 0; l < k; l++) again |= (at[l] < 0 ? -1 - at[l] : at[l]) == row;
    }
    at[k] = tct_stream_u32(s) & 1 ? row : -1 - row;
  }
}

tct_status tct_sketch_new(uint64_t seed, int64_t rows, int64_t size, int per_record, tct_sketch *out, tct_error *err) {
  *out = (tct_sketch){.rows = rows, .size = size, .per_record = per_record};
  out->weight = per_record == 1 ? 1 : per_record == 4 ? TCT_POINT(sketch_too_long, 0.5, 0.6) : 0.25;
  if (size >= rows) {
    *out = (tct_sketch){.rows = rows, .size = rows, .per_record = 1, .weight = 1};
    return TCT_OK;
  }
  if ((per_record != 1 && per_record != 4 && per_record != 16) || size < per_record || size > INT32_MAX)
    return tct_fail(err, TCT_E_USAGE, "a sketch takes 1, 4 or 16 entries per record, and at least as many rows");
  out->at = TCT_NEW(int32_t, rows * per_record);
  if (!out->at) return tct_fail_memory(err);
  tct_rng_key key;
  tct_rng_key_seed(&key, seed);
  for (int64_t from = 0; from < rows; from += BLOCK) {
    tct_stream s;
    tct_stream_open(&s, &key, TCT_PURPOSE_ORDER, (uint64_t)(from / BLOCK));
    for (int64_t i = from; i < from + BLOCK && i < rows; i++) draw_record(&s, out, out->at + i * per_record);
    tct_stream_wipe(&s);
  }
  return TCT_OK;
}

void tct_sketch_free(tct_sketch *sketch) {
  tct_free(sketch->at);
  sketch->at = NULL;
}

void tct_sketch_add(const tct_sketch *sketch, const int64_t *order, const double *v, double lattice, double *sum) {
  for (int64_t i = 0; i < sketch->rows; i++) {
    int64_t record = order ? order[i] : i;
    double term = TCT_POINT(sketch_terms_off_their_lattice, tct_lattice_part(sketch->weight * v[i], lattice),
                            sketch->weight * v[i]);
    if (!sketch->at) {
      sum[record] += term;
      continue;
    }
    const int32_t *at = sketch->at + record * sketch->per_record;
    for (int k = 0; k < sketch->per_record; k++) {
      if (at[k] >= 0)
        sum[at[k]] += term;
      else
        sum[-1 - at[k]] -= term;
    }
  }
}

void tct_sketch_back(const tct_sketch *sketch, const int64_t *order, const double *q, double *out) {
  for (int64_t i = 0; i < sketch->rows; i++) {
    int64_t record = order ? order[i] : i;
    if (!sketch->at) {
      out[i] = q[record];
      continue;
    }
    const int32_t *at = sketch->at + record * sketch->per_record;
    double sum = 0;
    for (int k = 0; k < sketch->per_record; k++) sum += at[k] >= 0 ? q[at[k]] : -q[-1 - at[k]];
    out[i] = sketch->weight * sum;
  }
}
