/* gradient_body.h - the loops of gradient.c for one instruction set and one value type.
 *
 * gradient.c includes this file once per combination of F32 and LEVEL; TARGET, VALUE and LOAD8 as in rows_body.h. */

#define FOLD4(a, b)                                          \
  (__builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) + \
   __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)) /* lanes l and l + 4 of two rows */
#define FOLD2(a, b) \
  (__builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13) + __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15))
#define FOLD1(a, b) \
  (__builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14) + __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15))

/* z[8] = the dot products of eight rows with w[wide]; each in the order of tct_lanes_sum, eight at once. */
TARGET static void LOOP(dots)(const void *values, int64_t stride, const double *w, int64_t wide, double *z) {
  const VALUE *x0 = values, *x1 = x0 + stride, *x2 = x1 + stride, *x3 = x2 + stride;
  const VALUE *x4 = x3 + stride, *x5 = x4 + stride, *x6 = x5 + stride, *x7 = x6 + stride;
  tct_f64x8 a0 = {0}, a1 = {0}, a2 = {0}, a3 = {0}, a4 = {0}, a5 = {0}, a6 = {0}, a7 = {0};
  for (int64_t j = 0; j < wide; j += 8) {
    tct_f64x8 at = *(const tct_f64x8 *)(w + j);
    a0 += LOAD8(x0 + j) * at, a1 += LOAD8(x1 + j) * at, a2 += LOAD8(x2 + j) * at, a3 += LOAD8(x3 + j) * at;
    a4 += LOAD8(x4 + j) * at, a5 += LOAD8(x5 + j) * at, a6 += LOAD8(x6 + j) * at, a7 += LOAD8(x7 + j) * at;
  }
  a0 = FOLD4(a0, a1), a2 = FOLD4(a2, a3), a4 = FOLD4(a4, a5), a6 = FOLD4(a6, a7);
  a0 = FOLD2(a0, a2), a4 = FOLD2(a4, a6);
  *(tct_f64x8 *)z = FOLD1(a0, a4);
}
#undef FOLD4
#undef FOLD2
#undef FOLD1

/* bits[wide] += the bits of b[k]*x_k + magic over count rows. */
TARGET static void LOOP(add)(const void *values, int64_t stride, const double *b, int64_t count, double magic,
                             uint64_t *bits, int64_t wide) {
  int64_t j = 0;
  for (; j + 32 <= wide; j += 32) {
    const VALUE *x = (const VALUE *)values + j;
    tct_u64x8 s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (int64_t k = 0; k < count; k++, x += stride) {
      s0 += (tct_u64x8)(LOAD8(x) * b[k] + magic);
      s1 += (tct_u64x8)(LOAD8(x + 8) * b[k] + magic);
      s2 += (tct_u64x8)(LOAD8(x + 16) * b[k] + magic);
      s3 += (tct_u64x8)(LOAD8(x + 24) * b[k] + magic);
    }
    *(tct_u64x8 *)(bits + j) += s0, *(tct_u64x8 *)(bits + j + 8) += s1;
    *(tct_u64x8 *)(bits + j + 16) += s2, *(tct_u64x8 *)(bits + j + 24) += s3;
  }
  for (; j < wide; j += 8) {
    const VALUE *x = (const VALUE *)values + j;
    tct_u64x8 sum = {0};
    for (int64_t k = 0; k < count; k++, x += stride) sum += (tct_u64x8)(LOAD8(x) * b[k] + magic);
    *(tct_u64x8 *)(bits + j) += sum;
  }
}
static const gradient_loops LOOP(gradient) = {LOOP(dots), LOOP(add)};
