/* rows_body.h - the row loops for one instruction set, one value type and one index type.
 *
 * rows_table.c includes this file once per combination of F32 (values are floats, else doubles), I64 (columns are of 64
 * bits, else of 32) and LEVEL, with its TARGET.  LOAD8(p): eight values at p as a tct_f64x8.
 * Lane l of eight takes the entries l, l+8, l+16, ... in ascending order; tct_lanes_sum adds the lanes. */

TARGET static double LOOP(dot_dense)(const void *values, const double *w, int64_t n) {
  const VALUE *x = values;
  tct_f64x8 sum = {0};
  int64_t j = 0;
  for (; j + 8 <= n; j += 8) sum += LOAD8(x + j) * *(const tct_f64x8 *)(w + j);
  double lane[8];
  memcpy(lane, &sum, sizeof lane);
  for (int l = 0; j + l < n; l++) lane[l] += (double)x[j + l] * w[j + l];
  return tct_lanes_sum(lane);
}

TARGET static double LOOP(dot_sparse)(const void *values, const void *columns, const double *w, int64_t n) {
  const VALUE *x = values;
  const INDEX *c = columns;
  int64_t k = 0;
  if (n < 64) { /* gathering and folding eight lanes costs more than it saves on short rows */
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (; k + 4 <= n; k += 4) {
      s0 += (double)x[k] * w[c[k]];
      s1 += (double)x[k + 1] * w[c[k + 1]];
      s2 += (double)x[k + 2] * w[c[k + 2]];
      s3 += (double)x[k + 3] * w[c[k + 3]];
    }
    for (; k < n; k++) s0 += (double)x[k] * w[c[k]];
    return (s0 + s2) + (s1 + s3);
  }
  tct_f64x8 sum = {0};
  for (; k + 8 <= n; k += 8) {
    const INDEX *d = c + k;
    tct_f64x8 at = {w[d[0]], w[d[1]], w[d[2]], w[d[3]], w[d[4]], w[d[5]], w[d[6]], w[d[7]]};
    sum += LOAD8(x + k) * at;
  }
  double lane[8];
  memcpy(lane, &sum, sizeof lane);
  for (int l = 0; k + l < n; l++) lane[l] += (double)x[k + l] * w[c[k + l]];
  return tct_lanes_sum(lane);
}

TARGET static double LOOP(squares)(const void *values, int64_t n) {
  const VALUE *x = values;
  tct_f64x8 sum = {0};
  int64_t j = 0;
  for (; j + 8 <= n; j += 8) {
    tct_f64x8 at = LOAD8(x + j);
    sum += at * at;
  }
  double lane[8];
  memcpy(lane, &sum, sizeof lane);
  for (int l = 0; j + l < n; l++) lane[l] += (double)x[j + l] * (double)x[j + l];
  return tct_lanes_sum(lane);
}

TARGET static void LOOP(axpy_dense)(const void *values, double b, double *w, int64_t n) {
  const VALUE *x = values;
  int64_t j = 0;
  for (; j + 8 <= n; j += 8) *(tct_f64x8 *)(w + j) += LOAD8(x + j) * b;
  for (; j < n; j++) w[j] += (double)x[j] * b;
}

TARGET static void LOOP(axpy_sparse)(const void *values, const void *columns, double b, double *w, int64_t n) {
  const VALUE *x = values;
  const INDEX *c = columns;
  for (int64_t k = 0; k < n; k++) w[c[k]] += (double)x[k] * b;
}

/* tct_lattice_part of eight products x*b, where none reaches 2^52*lattice. */
#define PART8(out, x8)                                                                        \
  tct_f64x8 v = (x8)*b, a = (tct_f64x8)((tct_i64x8)v & ~sign);                                \
  tct_f64x8 r = (a + magic) - magic;                                                          \
  tct_i64x8 above = TCT_POINT(vector_lattice_to_nearest, (tct_i64x8)(r > a), (tct_i64x8){0}); \
  r -= (tct_f64x8)((tct_i64x8)step & above);                                                  \
  tct_f64x8 out = (tct_f64x8)((tct_i64x8)r | ((tct_i64x8)v & sign))

TARGET static void LOOP(add_dense)(const void *values, double b, double lattice, double *sum, int64_t n) {
  const VALUE *x = values;
  const double magic = 4503599627370496.0 * lattice;
  const tct_i64x8 sign = (tct_i64x8){0} + INT64_MIN;
  const tct_f64x8 step = (tct_f64x8){0} + lattice;
  int64_t j = 0;
  for (; j + 8 <= n; j += 8) {
    PART8(part, LOAD8(x + j));
    *(tct_f64x8 *)(sum + j) += part;
  }
  for (; j < n; j++) sum[j] += tct_lattice_part((double)x[j] * b, lattice);
}

TARGET static void LOOP(add_sparse)(const void *values, const void *columns, double b, double lattice, double *sum,
                                    int64_t n) {
  const VALUE *x = values;
  const INDEX *c = columns;
  const double magic = 4503599627370496.0 * lattice;
  const tct_i64x8 sign = (tct_i64x8){0} + INT64_MIN;
  const tct_f64x8 step = (tct_f64x8){0} + lattice;
  int64_t k = 0;
  for (; k + 8 <= n; k += 8) {
    PART8(part, LOAD8(x + k));
    double lane[8];
    memcpy(lane, &part, sizeof lane);
    for (int l = 0; l < 8; l++) sum[c[k + l]] += lane[l];
  }
  for (; k < n; k++) sum[c[k]] += tct_lattice_part((double)x[k] * b, lattice);
}
#undef PART8

static const tct_row_loops LOOP(loops) = {LOOP(dot_dense),   LOOP(dot_sparse), LOOP(squares),   LOOP(axpy_dense),
                                          LOOP(axpy_sparse), LOOP(add_dense),  LOOP(add_sparse)};
