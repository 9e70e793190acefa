/* test_fused.c - the fused loops against the losses' own slopes, at every instruction set and layout. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "la/kernels/fused_table.h"
#include "la/matrix/lattice.h"
#include "loss/loss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3001, P = 3 };

static const char *const names[TCT_FUSED_SLOPES] = {
#define TCT_FUSED(NAME, name) [TCT_FUSED_##NAME] = #name,
#include "loss/fused.def"
#undef TCT_FUSED
};

typedef struct data {
  double x[P * N], y[N], scale[N], csc[P * N];
  float single[P * N];
  int32_t start[P + 1], row[P * N];
} data;

static double random_real(uint64_t *s) {
  *s = *s * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)*s * 0x1p-63;
}

static data *data_new(int scaled) {
  data *d = calloc(1, sizeof *d);
  uint64_t seed = 9;
  int32_t at = 0;
  for (int j = 0; j < P; j++) {
    d->start[j] = at;
    for (int i = 0; i < N; i++) {
      double v = (float)random_real(&seed);
      if (v < -0.3) v = 0;
      d->x[j * N + i] = v;
      d->single[j * N + i] = (float)v;
      if (v != 0) d->csc[at] = v, d->row[at++] = i;
    }
  }
  d->start[P] = at;
  for (int i = 0; i < N; i++)
    d->y[i] = random_real(&seed) > 0 ? 1 : -1, d->scale[i] = scaled ? 0.5 + 0.25 * (i % 3) : 1;
  return d;
}

/* kind: 0 dense doubles, 1 dense floats, 2 sparse. */
static tct_matrix matrix_of(const data *d, int kind) {
  tct_matrix m = {.rows = N, .cols = P, .layout = kind == 2 ? TCT_CSC : TCT_DENSE_COLS, .index_type = TCT_I32};
  m.value_type = kind == 1 ? TCT_F32 : TCT_F64;
  m.values = kind == 0 ? (const void *)d->x : kind == 1 ? (const void *)d->single : (const void *)d->csc;
  m.stride = kind == 2 ? 0 : N;
  if (kind == 2) m.start = d->start, m.index = d->row;
  return m;
}

/* Steps over all columns and the intercept by the fused loops and by the plain definition. */
static void compare(int slope, int kind, int scaled, int level, int single, int threads) {
  data *d = data_new(scaled);
  tct_matrix m = matrix_of(d, kind);
  tct_view view = {.x = &m, .row_scale = d->scale, .intercept = 1, .rows = N, .p = P + 1, .row_norm = 3};
  tct_loss loss;
  tct_fused f;
  static double z[N];
  memset(z, 0, sizeof z);
  assert_int_equal(tct_loss_make(names[slope], &loss, NULL), TCT_OK);
  assert_int_equal(loss.kind->fused, slope);
  tct_fused_settings set = {(tct_fused_slope)slope, loss.h, single, threads};
  assert_int_equal(tct_fused_new(&view, d->y, set, &f, NULL), TCT_OK);
  if (level < f.level) f.level = level;
  double clip = 0.3, lattice = single ? 0x1p-21 : 0x1p-38, per_term = single ? 2e-6 : 1e-11;
  for (int step = 0; step < 9; step++) {
    int j = step % (P + 1);
    double sum = tct_fused_sum(&f, j, clip, lattice), want = 0;
    for (int i = 0; i < N; i++) {
      double x = d->scale[i] * (j == P ? 1 : d->x[j * N + i]);
      double t = fmin(fmax(tct_loss_slope(&loss, z[i], d->y[i]) * x, -clip), clip);
      want += tct_lattice_part(t, lattice);
    }
    assert_true(sum == lattice * rint(sum / lattice));
    if (!(fabs(sum - want) <= N * per_term))
      fail_msg("%s kind %d scaled %d level %d single %d: sum %.17g, not %.17g", names[slope], kind, scaled, level,
               single, sum, want);
    double delta = 0.7 / (step + 1);
    tct_fused_move(&f, j, delta);
    if (step % 4 == 2) tct_fused_move(&f, j, delta); /* two moves in a row */
    for (int i = 0; i < N; i++) z[i] += (step % 4 == 2 ? 2 : 1) * delta * d->scale[i] * (j == P ? 1 : d->x[j * N + i]);
  }
  static double out[N];
  tct_fused_margins(&f, out);
  for (int i = 0; i < N; i++)
    if (!(fabs(out[i] - z[i]) <= (single ? 1e-5 : 1e-13))) fail_msg("%s: margin %d", names[slope], i);
  tct_fused_free(&f);
  free(d);
}

static void the_fused_step_is_the_sum_of_clipped_slopes(void **state) {
  (void)state;
  for (int slope = TCT_FUSED_NONE + 1; slope < TCT_FUSED_SLOPES; slope++)
    for (int kind = 0; kind < 3; kind++)
      for (int scaled = 0; scaled < 2; scaled++)
        for (int level = 0; level <= tct_level(); level++) {
          compare(slope, kind, scaled, level, 0, 1);
          if (kind == 1) compare(slope, kind, scaled, level, 1, 1);
        }
}

/* Terms in range and out of it: the logistic term to a few ulp, NaN and infinity within the clip. */
static double one_term(int level, double z, double x, double y, double clip, double lattice) {
  double from = 0;
  tct_fused_part part = {.n = 1, .z = &z, .y = &y, .from = &from, .to = &x, .clip = clip, .inverse = 1 / lattice};
  part.h = TCT_FUSED_LIMIT;
  return lattice * tct_fused_loop_at(level, TCT_FUSED_F64, TCT_FUSED_LOGISTIC, false, false)(&part);
}

static void the_logistic_term_is_accurate_for_every_margin(void **state) {
  (void)state;
  tct_loss loss;
  assert_int_equal(tct_loss_make("logistic", &loss, NULL), TCT_OK);
  for (int level = 0; level <= tct_level(); level++)
    for (double z = -60; z <= 60; z += 0.0137) {
      double want = tct_loss_slope(&loss, z, 1), unit = ldexp(1, ilogb(want) - 51);
      double got = one_term(level, z, 1, 1, 2, unit);
      if (!(fabs(got - want) <= 4 * unit)) fail_msg("level %d: slope at %g is %.17g, not %.17g", level, z, got, want);
    }
}

static void a_margin_out_of_range_stays_within_the_clip(void **state) {
  (void)state;
  const double wild[] = {INFINITY, -INFINITY, NAN, 1e308, -1e308, 750, -750};
  for (int level = 0; level <= tct_level(); level++)
    for (size_t k = 0; k < sizeof wild / sizeof *wild; k++)
      for (int s = 0; s < 4; s++) {
        double t = one_term(level, wild[k], s % 2 ? -1e300 : 1, s / 2 ? -1 : 1, 0.25, 0x1p-40);
        if (!(fabs(t) <= 0.25)) fail_msg("level %d: a term of %g", level, t);
      }
}

static void threads_do_not_change_a_bit(void **state) {
  (void)state;
  enum { ROWS = 40000 };
  double *x = calloc(ROWS, sizeof *x), *y = calloc(ROWS, sizeof *y), *scale = calloc(ROWS, sizeof *scale), sums[2];
  uint64_t seed = 3;
  for (int i = 0; i < ROWS; i++) x[i] = random_real(&seed), y[i] = i % 3 ? 1 : -1, scale[i] = 1;
  tct_matrix m = {.rows = ROWS, .cols = 1, .layout = TCT_DENSE_COLS, .values = x, .stride = ROWS};
  tct_view view = {.x = &m, .row_scale = scale, .rows = ROWS, .p = 1, .row_norm = 1};
  for (int t = 0; t < 2; t++) {
    tct_fused f;
    tct_fused_settings set = {.slope = TCT_FUSED_LOGISTIC, .threads = t ? 3 : 1};
    assert_int_equal(tct_fused_new(&view, y, set, &f, NULL), TCT_OK);
    tct_fused_move(&f, 0, 0.3);
    sums[t] = tct_fused_sum(&f, 0, 0.4, 0x1p-30);
    tct_fused_free(&f);
  }
  assert_true(sums[0] == sums[1] && sums[0] != 0);
  free(x), free(y), free(scale);
}

/* A clip between two floats: in floats no term may be above it. */
static void float_terms_do_not_round_past_the_clip(void **state) {
  (void)state;
  float x[64];
  double y[64], scale[64], clip = 0.1 - 1e-12; /* 0.1 is just below the float 0.1f */
  for (int i = 0; i < 64; i++) x[i] = 100, y[i] = -1, scale[i] = 1;
  tct_matrix m = {.rows = 64, .cols = 1, .layout = TCT_DENSE_COLS, .value_type = TCT_F32, .values = x, .stride = 64};
  tct_view view = {.x = &m, .row_scale = scale, .rows = 64, .p = 1, .row_norm = 100};
  tct_fused f;
  tct_fused_settings set = {.slope = TCT_FUSED_LOGISTIC, .single = true, .threads = 1};
  assert_int_equal(tct_fused_new(&view, y, set, &f, NULL), TCT_OK);
  assert_true(f.single);
  for (int bits = 20; bits <= 31; bits++) {
    double lattice = ldexp(1, -bits), sum = bits <= 23 ? tct_fused_sum(&f, 0, clip, lattice) : 0;
    assert_true(sum <= 64 * clip);
    if (bits <= 23) assert_true(sum >= 64 * (clip - 2 * lattice));
  }
  tct_fused_free(&f);
}

/* One record with features of any size: squares of its terms over their limits, summed over the columns. */
static double filled(int kind, int single, int level, uint64_t *seed) {
  double x[P], inverse[P + 1], scale = exp(3 * random_real(seed)), y = random_real(seed) > 0 ? 1e9 : -1e9, sum = 0;
  float narrow[P];
  int32_t start[P + 1] = {0, 1, 2, 3}, row[P] = {0, 0, 0};
  for (int j = 0; j <= P; j++) inverse[j] = exp(8 * random_real(seed));
  for (int j = 0; j < P; j++) narrow[j] = (float)(exp(12 * random_real(seed)) * random_real(seed)), x[j] = narrow[j];
  tct_matrix m = {.rows = 1, .cols = P, .layout = kind == 2 ? TCT_CSC : TCT_DENSE_COLS, .stride = kind == 2 ? 0 : 1};
  m.index_type = TCT_I32, m.value_type = kind == 1 ? TCT_F32 : TCT_F64;
  m.values = kind == 1 ? (const void *)narrow : (const void *)x;
  if (kind == 2) m.start = start, m.index = row;
  tct_view view = {.x = &m, .row_scale = &scale, .intercept = 0.7, .rows = 1, .p = P + 1, .row_norm = 1e9};
  tct_fused f;
  tct_fused_settings set = {TCT_FUSED_SQUARED, 1, single, 1};
  assert_int_equal(tct_fused_new(&view, &y, set, &f, NULL), TCT_OK);
  if (level < f.level) f.level = level;
  assert_int_equal(tct_fused_limits(&f, inverse, NULL), TCT_OK);
  for (int j = 0; j <= P; j++) {
    double lattice = ldexp(1, ilogb(1 / inverse[j]) - 19), part = tct_fused_sum(&f, j, 1 / inverse[j], lattice);
    sum += part * inverse[j] * part * inverse[j];
    tct_fused_move(&f, j, 1e-3 * random_real(seed));
  }
  tct_fused_free(&f);
  return sum;
}

static void limits_keep_a_record_within_its_ball_and_let_it_fill_it(void **state) {
  (void)state;
  uint64_t seed = 5;
  for (int kind = 0; kind < 3; kind++)
    for (int single = 0; single <= (kind == 1); single++)
      for (int level = 0; level <= tct_level(); level++)
        for (int k = 0; k < 2000; k++) {
          double sum = filled(kind, single, level, &seed);
          if (!(sum <= 1 && sum > 0.9999))
            fail_msg("kind %d single %d level %d: squares add up to %.17g", kind, single, level, sum);
        }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_fused_step_is_the_sum_of_clipped_slopes),
      cmocka_unit_test(the_logistic_term_is_accurate_for_every_margin),
      cmocka_unit_test(a_margin_out_of_range_stays_within_the_clip),
      cmocka_unit_test(threads_do_not_change_a_bit),
      cmocka_unit_test(limits_keep_a_record_within_its_ball_and_let_it_fill_it),
      cmocka_unit_test(float_terms_do_not_round_past_the_clip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
