/* sketch.h - the public embedding J of records into few rows: a few signs per record, drawn from a public seed. */
#ifndef TCT_MECH_SKETCH_H
#define TCT_MECH_SKETCH_H
#include "core/status.h"

/* J, m x n.  Record i has `per_record` entries +-weight in distinct rows, per_record * weight^2 <= 1, so every column
 * of J has norm at most 1, exactly.  m >= n: the identity. */
typedef struct tct_sketch {
  int64_t rows;   /* n */
  int64_t size;   /* m */
  int per_record; /* 1, 4 or 16 */
  double weight;  /* 1, 1/2 or 1/4 */
  int32_t *at;    /* [rows][per_record] row of J, or -1 - row for a negative sign; NULL: the identity */
} tct_sketch;

/* A function of (seed, n, m, per_record) alone. */
tct_status tct_sketch_new(uint64_t seed, int64_t rows, int64_t size, int per_record, tct_sketch *out, tct_error *err);
void tct_sketch_free(tct_sketch *sketch);
/* sum[m] += J v, each term truncated toward zero to the lattice.  order: record i of v is record order[i] of J, NULL:
 * i. */
void tct_sketch_add(const tct_sketch *sketch, const int64_t *order, const double *v, double lattice, double *sum);
/* out[n] = J^T q */
void tct_sketch_back(const tct_sketch *sketch, const int64_t *order, const double *q, double *out);
#endif
