/* gradient_body.h - the loops of gradient.c for one instruction set and one value type.
 *
 * gradient.c includes this file once per combination with LOOP(name), TARGET, VALUE and LOAD8 as in rows_body.h. */

/* z[8] = the dot products of eight rows with w[wide]; each in the order of tct_lanes_sum, eight at once. */
TARGET static void LOOP(dots)(const void *values, int64_t stride, const double *w, int64_t wide, double *z) {
  const VALUE *x = values;
  tct_f64x8 a[8] = {{0}};
  for (int64_t j = 0; j < wide; j += 8) {
    tct_f64x8 at = *(const tct_f64x8 *)(w + j);
    for (int r = 0; r < 8; r++) a[r] += LOAD8(x + r * stride + j) * at;
  }
  for (int r = 0; r < 4; r++) /* lanes l and l + 4 of the rows 2r and 2r + 1 */
    a[r] = __builtin_shufflevector(a[2 * r], a[2 * r + 1], 0, 1, 2, 3, 8, 9, 10, 11) +
           __builtin_shufflevector(a[2 * r], a[2 * r + 1], 4, 5, 6, 7, 12, 13, 14, 15);
  for (int r = 0; r < 2; r++)
    a[r] = __builtin_shufflevector(a[2 * r], a[2 * r + 1], 0, 1, 4, 5, 8, 9, 12, 13) +
           __builtin_shufflevector(a[2 * r], a[2 * r + 1], 2, 3, 6, 7, 10, 11, 14, 15);
  *(tct_f64x8 *)z = __builtin_shufflevector(a[0], a[1], 0, 2, 4, 6, 8, 10, 12, 14) +
                    __builtin_shufflevector(a[0], a[1], 1, 3, 5, 7, 9, 11, 13, 15);
}

/* bits[wide] += the bits of b[k]*x_k + magic over count rows. */
TARGET static void LOOP(add)(const void *values, int64_t stride, const double *b, int64_t count, double magic,
                             uint64_t *bits, int64_t wide) {
  const VALUE *x = values;
  for (int64_t j = 0; j < wide; j += 32) {
    int vectors = wide - j < 32 ? (int)(wide - j) / 8 : 4;
    tct_u64x8 sum[4] = {{0}};
    if (vectors == 4)
      for (int64_t k = 0; k < count; k++)
        for (int v = 0; v < 4; v++) sum[v] += (tct_u64x8)(LOAD8(x + k * stride + j + 8 * v) * b[k] + magic);
    else
      for (int v = 0; v < vectors; v++)
        for (int64_t k = 0; k < count; k++) sum[v] += (tct_u64x8)(LOAD8(x + k * stride + j + 8 * v) * b[k] + magic);
    for (int v = 0; v < vectors; v++) *(tct_u64x8 *)(bits + j + 8 * v) += sum[v];
  }
}
static const gradient_loops LOOP(gradient) = {LOOP(dots), LOOP(add)};
