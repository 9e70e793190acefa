/* test_kernels.c - row kernels and the bounded view against 113-bit and integer references. */
#include "la_help.h"
#include "la/kernels/row_block.h"
#include "la/matrix/lattice.h"

#include "core/lanes.h"

static int same_bits(double a, double b) { return !memcmp(&a, &b, sizeof a); }

/* ---- one order on every instruction set ------------------------------------------------------- */

static double eight_lane_dot(const double *x, const double *w, int64_t n) {
  volatile double lane[8] = {0};
  for (int64_t k = 0; k < n; k++) {
    volatile double term = x[k] * w[k]; /* volatile: no fused product */
    lane[k % 8] += term;
  }
  volatile double a = lane[0] + lane[4], b = lane[2] + lane[6], c = lane[1] + lane[5], d = lane[3] + lane[7];
  a += b, c += d;
  return a + c;
}

/* The written order of a sparse row: four lanes below 64 entries, the rest in the first lane; else as a dense one. */
static double sparse_dot(const double *x, const double *w, int64_t n) {
  if (n >= 64) return eight_lane_dot(x, w, n);
  volatile double lane[4] = {0};
  for (int64_t k = 0; k < n; k++) {
    volatile double term = x[k] * w[k];
    lane[k < n / 4 * 4 ? k % 4 : 0] += term;
  }
  volatile double a = lane[0] + lane[2], b = lane[1] + lane[3];
  return a + b;
}

static void every_level_gives_the_bits_of_the_written_order(void **state) {
  (void)state;
  enum { N = 67, P = 200 };
  uint64_t seed = 5;
  for (int64_t n = 0; n <= N; n++) {
    double x[N], w[P], gathered[N];
    float f[N];
    int32_t c32[N];
    int64_t c64[N];
    for (int64_t k = 0, at = 0; k < n; k++, at++) {
      x[k] = f[k] = (float)(random_real(&seed) * pow(2, (double)(random_u64(&seed) % 40)));
      at += (int64_t)(random_u64(&seed) % 2);
      c32[k] = (int32_t)(c64[k] = at);
    }
    for (int j = 0; j < P; j++) w[j] = random_real(&seed);
    for (int64_t k = 0; k < n; k++) gathered[k] = w[c64[k]];
    for (int level = 0; level <= tct_level(); level++)
      for (int kind = 0; kind < 4; kind++) {
        const tct_row_loops *l = tct_row_loops_at(level, kind / 2, kind % 2);
        const void *values = kind / 2 ? (const void *)f : x, *columns = kind % 2 ? (const void *)c64 : c32;
        assert_true(same_bits(l->dot_dense(values, w, n), eight_lane_dot(x, w, n)));
        assert_true(same_bits(l->dot_sparse(values, columns, w, n), sparse_dot(x, gathered, n)));
        assert_true(same_bits(l->squares(values, n), eight_lane_dot(x, x, n)));
        double sum[P], reference[P], b = random_real(&seed), g = 0x1p-10;
        memcpy(sum, w, sizeof w), memcpy(reference, w, sizeof w);
        l->axpy_dense(values, b, sum, n);
        l->axpy_sparse(values, columns, b, sum, n);
        for (int64_t k = 0; k < n; k++) reference[k] += x[k] * b;
        for (int64_t k = 0; k < n; k++) reference[c64[k]] += x[k] * b;
        assert_memory_equal(sum, reference, sizeof sum);
        memset(sum, 0, sizeof sum), memset(reference, 0, sizeof reference);
        l->add_dense(values, b, g, sum, n);
        l->add_sparse(values, columns, b, g, sum, n);
        for (int64_t k = 0; k < n; k++) reference[k] += g * trunc(x[k] * b / g);
        for (int64_t k = 0; k < n; k++) reference[c64[k]] += g * trunc(x[k] * b / g);
        assert_memory_equal(sum, reference, sizeof sum);
      }
  }
}

static void a_lattice_part_is_the_truncated_quotient(void **state) {
  (void)state;
  uint64_t seed = 6;
  for (int e = -900; e <= 900; e += 150)
    for (int trial = 0; trial < 20000; trial++) {
      double g = ldexp(1, e), v = ldexp(random_real(&seed), e + (int)(random_u64(&seed) % 70) - 5);
      if (trial % 3 == 0) v = g * (trunc(v / g) + (trial % 2 ? 0.5 : 0)); /* on the lattice, and halfway */
      if (trial % 5 == 0) v = nextafter(v, trial % 2 ? INFINITY : -INFINITY);
      double part = tct_lattice_part(v, g);
      assert_true(part == g * trunc(v / g));
      assert_true(fabs(part) <= fabs(v));
    }
}

/* ---- layouts, types and threads --------------------------------------------------------------- */

typedef struct fixture {
  double *x, *w, *a;
  tct_owned_matrix m[4]; /* dense f64, dense f32, CSR f64, CSR f32 */
  tct_view v[4];
} fixture;

static void make_fixture(fixture *f, uint64_t seed, int64_t rows, int64_t cols, double density, double intercept) {
  f->x = random_values(&seed, rows, cols, density);
  f->w = random_values(&seed, cols + 1, 1, 1);
  f->a = random_values(&seed, rows + 1, 1, 1);
  tct_matrix m = dense(f->x, rows, cols);
  for (int k = 0; k < 4; k++) {
    f->m[k] = converted(&m, k / 2 ? TCT_CSR : TCT_DENSE_ROWS, k % 2);
    assert_int_equal(tct_view_bound(&f->v[k], &f->m[k].m, intercept, 1.5, TCT_ROWS_CLIP, 2, NULL), TCT_OK);
  }
}
static void free_fixture(fixture *f) {
  for (int k = 0; k < 4; k++) tct_view_free(&f->v[k]), tct_matrix_free(&f->m[k]);
  free(f->x), free(f->w), free(f->a);
}

static void layouts_and_types_agree_with_the_quad_dot_product(void **state) {
  (void)state;
  uint64_t seed = 7;
  for (int trial = 0; trial < 20; trial++) {
    fixture f;
    int64_t rows = 30, cols = 1 + (int64_t)(random_u64(&seed) % 120);
    make_fixture(&f, seed, rows, cols, 0.5, trial % 2);
    for (int k = 0; k < 4; k++)
      for (int64_t i = 0; i < rows; i++) {
        quad dot = 0, size = 0, s = f.v[k].row_scale[i];
        for (int64_t j = 0; j < f.v[k].p; j++) {
          quad term = s * (quad)(j < cols ? f.x[i * cols + j] : 1) * (quad)f.w[j];
          dot += term, size += term < 0 ? -term : term;
        }
        double bound = (double)size * (double)(cols + 8) * 0x1p-53;
        assert_true(fabs((double)(dot - (quad)tct_row_dot(&f.v[k], i, f.w))) <= bound);
      }
    free_fixture(&f);
  }
}

static void row_axpy_adds_the_scaled_row(void **state) {
  (void)state;
  fixture f;
  make_fixture(&f, 8, 9, 21, 0.5, 1);
  for (int k = 0; k < 4; k++)
    for (int64_t i = 0; i < 9; i++) {
      double w[22] = {0};
      tct_row_axpy(&f.v[k], i, 0.75, w);
      for (int64_t j = 0; j < 22; j++) {
        double expected = 0.75 * f.v[k].row_scale[i] * (j < 21 ? f.x[i * 21 + j] : 1);
        assert_true(fabs(w[j] - expected) <= 1e-15);
      }
    }
  free_fixture(&f);
}

static void no_result_depends_on_the_number_of_threads(void **state) {
  (void)state;
  const int64_t sizes[][2] = {{1, 3}, {3, 700}, {17, 1}, {301, 33}, {64, 1030}};
  for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++) {
    int64_t rows = sizes[t][0], cols = sizes[t][1], p = cols + 1;
    fixture f;
    make_fixture(&f, 9 + t, rows, cols, 0.3, 1);
    int64_t *order = calloc((size_t)rows, sizeof *order);
    for (int64_t i = 0; i < rows; i++) order[i] = (i * 7) % rows;
    double *out = calloc((size_t)(2 * (3 * rows + 2 * p)), sizeof *out);
    double *scratch = calloc((size_t)(7 * tct_thread_stride(p)), sizeof *scratch);
    for (int k = 0; k < 4; k++) {
      for (int threads = 1; threads <= 7; threads += 2) {
        double *z = threads == 1 ? out : out + (3 * rows + 2 * p), *z2 = z + rows, *g = z2 + rows, *sum = g + p;
        tct_margins(&f.v[k], f.w, z, threads);
        tct_margins_at(&f.v[k], order, rows, f.w, z2, threads);
        tct_transpose_times(&f.v[k], f.a, g, threads);
        memset(sum, 0, (size_t)p * sizeof *sum);
        tct_terms terms = {.row = order, .a = f.a, .count = rows, .lattice = 0x1p-40};
        tct_sum_lattice(&f.v[k], &terms, sum, threads == 1 ? NULL : scratch, threads);
        if (threads > 1) assert_memory_equal(out, z, (size_t)(2 * rows + 2 * p) * sizeof *out);
      }
      for (int64_t i = 0; i < rows; i++) assert_true(same_bits(out[i], tct_row_dot(&f.v[k], i, f.w)));
      memset(out, 0, (size_t)(2 * p) * sizeof *out);
      tct_row_block_add(&f.v[k], 0, rows, f.a, out);
      for (int64_t i = 0; i < rows; i++) tct_row_axpy(&f.v[k], i, f.a[i], out + p);
      assert_memory_equal(out, out + p, (size_t)p * sizeof *out);
    }
    free(out), free(scratch), free(order);
    free_fixture(&f);
  }
}

static void transpose_times_agrees_with_the_quad_sum(void **state) {
  (void)state;
  fixture f;
  int64_t rows = 211, cols = 600;
  make_fixture(&f, 31, rows, cols, 0.4, 1);
  double *g = calloc((size_t)cols + 1, sizeof *g);
  for (int k = 0; k < 4; k++) {
    tct_transpose_times(&f.v[k], f.a, g, 2);
    for (int64_t j = 0; j <= cols; j++) {
      quad sum = 0;
      for (int64_t i = 0; i < rows; i++)
        sum += (quad)f.v[k].row_scale[i] * (quad)(j < cols ? f.x[i * cols + j] : 1) * (quad)f.a[i];
      assert_true(fabs((double)(sum - (quad)g[j])) <= (double)rows * 0x1p-50);
    }
  }
  free(g);
  free_fixture(&f);
}

/* ---- exact sums ------------------------------------------------------------------------------- */

static void a_lattice_sum_is_the_integer_sum_of_its_truncated_terms(void **state) {
  (void)state;
  fixture f;
  int64_t rows = 500, cols = 43;
  make_fixture(&f, 11, rows, cols, 0.6, 1);
  for (int e = -44; e <= 0; e += 11) {
    double g = ldexp(1, e), sum[44] = {0}, scratch[3 * 64];
    for (int k = 0; k < 4; k++) {
      memset(sum, 0, sizeof sum);
      tct_sum_lattice(&f.v[k], &(tct_terms){.a = f.a, .count = rows, .lattice = g}, sum, scratch, 3);
      for (int64_t j = 0; j <= cols; j++) {
        __int128 total = 0;
        for (int64_t i = 0; i < rows; i++) {
          double s = f.v[k].row_scale[i], x = j < cols ? f.x[i * cols + j] : 1;
          double term = j < cols ? (f.a[i] * s) * x : (s * x) * f.a[i];
          total += (__int128)truncl((long double)term / g);
        }
        assert_true((__int128)(sum[j] / g) == total && sum[j] / g == trunc(sum[j] / g));
      }
    }
  }
  free_fixture(&f);
}

static void terms_coarser_than_the_lattice_are_added_whole(void **state) {
  (void)state;
  enum { N = 1000 };
  uint64_t seed = 17;
  double x[N], sum[N] = {0};
  for (int j = 0; j < N; j++) x[j] = 0.5 + 0.5 * random_unit(&seed); /* last bit 2^-53, twice the lattice */
  tct_matrix m = dense(x, 1, N);
  for (int layout = TCT_DENSE_ROWS; layout <= TCT_CSR; layout += TCT_CSR) {
    tct_owned_matrix c = converted(&m, layout, TCT_F64);
    tct_view v;
    assert_int_equal(tct_view_bound(&v, &c.m, 0, 100, TCT_ROWS_CLIP, 1, NULL), TCT_OK);
    memset(sum, 0, sizeof sum);
    tct_row_add_lattice(&v, 0, -1, 0x1p-54, sum);
    for (int j = 0; j < N; j++) assert_true(sum[j] == -x[j]);
    tct_view_free(&v);
    tct_matrix_free(&c);
  }
}

static void a_factor_that_is_not_finite_adds_nothing(void **state) {
  (void)state;
  fixture f;
  make_fixture(&f, 12, 2, 9, 1, 1);
  const double bad[] = {NAN, INFINITY, -INFINITY};
  for (int b = 0; b < 3; b++)
    for (int k = 0; k < 4; k++) {
      double sum[10] = {1, 2, 3}, before[10] = {1, 2, 3};
      tct_row_add_lattice(&f.v[k], 1, bad[b], 0x1p-20, sum);
      assert_memory_equal(sum, before, sizeof sum);
    }
  free_fixture(&f);
}

/* ---- the bound on norms ----------------------------------------------------------------------- */

enum { ADVERSARIES = 14, WIDTH = 37 };

/* Row `kind` of the adversary's matrix, for a bound R. */
static void adversarial_row(int kind, double R, uint64_t *seed, double *x) {
  for (int j = 0; j < WIDTH; j++) {
    double r = random_real(seed);
    switch (kind) {
      case 0: x[j] = 1e300 * r; break;
      case 1: x[j] = DBL_MAX; break;
      case 2: x[j] = 1e-300 * r; break;
      case 3: x[j] = 5e-324 * (double)(random_u64(seed) % 9); break; /* subnormal */
      case 4: x[j] = j == 5 ? R : 0; break;                          /* exactly R */
      case 5: x[j] = j == 5 ? nextafter(R, 2 * R) : 0; break;
      case 6: x[j] = j == 5 ? nextafter(R, 0) : 0; break;
      case 7: x[j] = R / sqrt((double)WIDTH); break; /* R but for rounding */
      case 8: x[j] = 0; break;
      case 9: x[j] = j % 2 ? 1e300 * r : 1e-300 * r; break;
      case 10: x[j] = ldexp(r, (int)(random_u64(seed) % 2000) - 1000); break;
      case 11: x[j] = 1e150 * r; break;
      case 12: x[j] = 4e-162 * r; break; /* squares are subnormal */
      default: x[j] = R * 10 * r;
    }
  }
}

static void check_bounds(const tct_view *v, tct_rows_rule rule, uint64_t *seed) {
  quad limit = (quad)v->row_norm * (1 - (quad)0x1p-40), R = v->row_norm;
  double sum[WIDTH + 1];
  for (int64_t i = 0; i < v->rows; i++) {
    quad norm2 = exact_norm2(v, i);
    assert_true(norm2 <= limit * limit);
    assert_true(v->row_scale[i] >= 0 && isfinite(v->row_scale[i]));
    assert_true(rule == TCT_ROWS_UNIT || v->row_scale[i] <= 1);
    if (v->x->layout == TCT_DENSE_COLS || v->x->layout == TCT_CSC) continue;
    double bound = tct_row_norm2(v, i);
    assert_true((quad)bound >= norm2);
    assert_true((quad)bound <= norm2 * (1 + (quad)0x1p-39) + (quad)0x1p-959);
    for (int trial = 0; trial < 6; trial++) { /* the last lattice is finer than the terms' last bits */
      double a = random_real(seed) * pow(10, (double)(trial * trial)),
             g = ldexp(1, ilogb(a * v->row_norm) - 20 - 8 * trial);
      memset(sum, 0, sizeof sum);
      if (g < 0x1p-960) continue;
      tct_row_add_lattice(v, i, a, g, sum);
      quad term2 = 0;
      for (int64_t j = 0; j < v->p; j++) term2 += (quad)sum[j] * (quad)sum[j];
      assert_true(term2 <= (quad)a * (quad)a * R * R);
      for (int64_t j = 0; j < v->p; j++) assert_true(sum[j] / g == trunc(sum[j] / g));
    }
  }
}

static void no_row_exceeds_its_bound_however_adversarial(void **state) {
  (void)state;
  const double bounds[] = {1e-90, 1e-3, 1, 0.1, 3, 12345.678, 1e90};
  uint64_t seed = 13;
  for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++)
    for (int variant = 0; variant < 16; variant++) {
      double x[ADVERSARIES * WIDTH];
      for (int i = 0; i < ADVERSARIES; i++) adversarial_row(i, bounds[b], &seed, x + i * WIDTH);
      tct_matrix m = dense(x, ADVERSARIES, WIDTH);
      tct_owned_matrix c = converted(&m, variant % 4, TCT_F64);
      tct_view v;
      tct_rows_rule rule = variant / 8 ? TCT_ROWS_UNIT : TCT_ROWS_CLIP;
      assert_int_equal(tct_view_bound(&v, &c.m, variant / 4 % 2, bounds[b], rule, 1 + variant % 3, NULL), TCT_OK);
      check_bounds(&v, rule, &seed);
      tct_view_free(&v);
      tct_matrix_free(&c);
    }
}

static void long_rows_of_equal_values_stay_within_the_bound(void **state) {
  (void)state;
  enum { N = 300001 };
  double *x = malloc(N * sizeof *x);
  for (int64_t j = 0; j < N; j++) x[j] = 0.1;
  tct_matrix m = dense(x, 1, N);
  tct_view v;
  assert_int_equal(tct_view_bound(&v, &m, 0, 1, TCT_ROWS_UNIT, 1, NULL), TCT_OK);
  quad limit = 1 - (quad)0x1p-40, norm2 = exact_norm2(&v, 0);
  assert_true(norm2 <= limit * limit && norm2 >= 1 - (quad)0x1p-30);
  assert_true((quad)tct_row_norm2(&v, 0) >= norm2);
  tct_view_free(&v);
  free(x);
}

static void the_unit_rule_reaches_the_bound_and_the_clip_rule_spares_short_rows(void **state) {
  (void)state;
  uint64_t seed = 14;
  for (int layout = 0; layout < 4; layout++) {
    double *x = random_values(&seed, 20, 11, 1);
    for (int j = 0; j < 11; j++) x[j] = 0;
    tct_matrix m = dense(x, 20, 11);
    tct_owned_matrix c = converted(&m, layout, TCT_F32);
    tct_view unit, clip;
    assert_int_equal(tct_view_bound(&unit, &c.m, 0, 2, TCT_ROWS_UNIT, 2, NULL), TCT_OK);
    assert_int_equal(tct_view_bound(&clip, &c.m, 0, 2, TCT_ROWS_CLIP, 2, NULL), TCT_OK);
    assert_true(exact_norm2(&unit, 0) == 0);
    for (int64_t i = 1; i < 20; i++) {
      quad size = 0, floor = 2 * (1 - (quad)0x1p-38);
      for (int64_t j = 0; j < 11; j++) size += (quad)x[i * 11 + j] * (quad)x[i * 11 + j];
      assert_true(exact_norm2(&unit, i) >= floor * floor);
      assert_true(size > 3.999 || clip.row_scale[i] == 1);
      assert_true(size < 4 || exact_norm2(&clip, i) >= floor * floor);
    }
    tct_view_free(&unit), tct_view_free(&clip);
    tct_matrix_free(&c);
    free(x);
  }
}

static void infinite_values_and_impossible_bounds_are_refused(void **state) {
  (void)state;
  const double bad[] = {NAN, INFINITY};
  for (int b = 0; b < 2; b++)
    for (int layout = 0; layout < 4; layout++) {
      double x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
      x[7] = bad[b];
      tct_matrix m = dense(x, 3, 4);
      tct_owned_matrix c = converted(&m, layout, TCT_F64);
      tct_view v;
      assert_int_equal(tct_view_bound(&v, &c.m, 1, 1, TCT_ROWS_CLIP, 1, NULL), TCT_E_DATA);
      assert_null(v.row_scale);
      tct_matrix_free(&c);
    }
  const double x[] = {1}, bounds[] = {0, -1, NAN, INFINITY, 1e-91, 1e91};
  for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
    tct_matrix m = dense(x, 1, 1);
    tct_view v;
    assert_int_equal(tct_view_bound(&v, &m, 1, bounds[b], TCT_ROWS_CLIP, 1, NULL), TCT_E_USAGE);
  }
}

static void extreme_rows_give_finite_margins(void **state) {
  (void)state;
  uint64_t seed = 15;
  double x[ADVERSARIES * WIDTH], w[WIDTH], z[ADVERSARIES];
  for (int i = 0; i < ADVERSARIES; i++) adversarial_row(i, 1, &seed, x + i * WIDTH);
  for (int j = 0; j < WIDTH; j++) w[j] = 1e6 * random_real(&seed);
  tct_matrix m = dense(x, ADVERSARIES, WIDTH);
  tct_view v;
  assert_int_equal(tct_view_bound(&v, &m, 0, 1, TCT_ROWS_CLIP, 1, NULL), TCT_OK);
  tct_margins(&v, w, z, 1);
  for (int i = 0; i < ADVERSARIES; i++) assert_true(fabs(z[i]) <= 1e6 * sqrt((double)WIDTH));
  tct_view_free(&v);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_level_gives_the_bits_of_the_written_order),
      cmocka_unit_test(a_lattice_part_is_the_truncated_quotient),
      cmocka_unit_test(layouts_and_types_agree_with_the_quad_dot_product),
      cmocka_unit_test(row_axpy_adds_the_scaled_row),
      cmocka_unit_test(no_result_depends_on_the_number_of_threads),
      cmocka_unit_test(transpose_times_agrees_with_the_quad_sum),
      cmocka_unit_test(a_lattice_sum_is_the_integer_sum_of_its_truncated_terms),
      cmocka_unit_test(terms_coarser_than_the_lattice_are_added_whole),
      cmocka_unit_test(a_factor_that_is_not_finite_adds_nothing),
      cmocka_unit_test(no_row_exceeds_its_bound_however_adversarial),
      cmocka_unit_test(long_rows_of_equal_values_stay_within_the_bound),
      cmocka_unit_test(the_unit_rule_reaches_the_bound_and_the_clip_rule_spares_short_rows),
      cmocka_unit_test(infinite_values_and_impossible_bounds_are_refused),
      cmocka_unit_test(extreme_rows_give_finite_margins),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
