/* test_sensitivity_shells.c - how far one record, or one person, moves sums of outer products by shells of length.
 *
 * The records around it stay, whatever their shells; what moves is searched for, under random images and radii.  One
 * record's own terms reach 1 and no more.  A replaced one moves by at most sqrt(2), the claim of both relations' events
 * (docs/proofs/shells.md).  The runs of a solver: test_sensitivity.c, form dpmoments. */
#include "worlds.h"

#include "la/exact/shells.h"
#include "la/exact/gram.h"

enum { N = 40, P = 3, Q = P + 1, KIN = 3, K = 7, SIZE = TCT_SHELLS * (Q * (Q + 1) / 2) * (Q * (Q + 1) / 2) };

typedef struct setup {
  double x[N * P], y[N], weight[N];
  tct_metric metric;
  tct_shells_of of;
  bool table; /* no last column: the view's alone, as moments of a whole table are */
  bool products;
} setup;

/* Images that stretch, radii from some ratio on, a lattice that may be coarse. */
static void draw(uint64_t *random, setup *s) {
  tct_error err = {0};
  for (int i = 0; i < N * P; i++) s->x[i] = exp(2 * world_real(random)) * world_real(random);
  for (int i = 0; i < N; i++) s->y[i] = 3 * world_real(random), s->weight[i] = 0.5 + 0.5 * world_real(random);
  int q = s->table ? P : Q;
  assert_int_equal(tct_metric_new(q, false, &s->metric, &err), TCT_OK);
  for (int j = 0; j < q; j++)
    for (int k = 0; k <= j; k++)
      s->metric.w[j * q + k] = exp(3 * world_real(random)) * (j == k ? 1 : world_real(random));
  assert_true(tct_metric_settle(&s->metric));
  s->of = (tct_shells_of){.metric = &s->metric, .products = s->products, .scale = 0.7, .last_scale = 0.3, .threads = 1};
  s->of.count = 1 + (int)(world_u64(random) % 6);
  s->of.radius[0] = exp(2 * world_real(random));
  for (int k = 1; k < s->of.count; k++) s->of.radius[k] = s->of.radius[k - 1] * M_SQRT2;
  s->of.lattice = world_u64(random) % 2 ? 0x1p-40 : 0x1p-16;
}

/* sum[SIZE] <- the release before its noise; out: records left out. */
static void shells_of(const setup *s, bool weighed, int out, double *sum) {
  tct_error err = {0};
  tct_matrix m = {.rows = N, .cols = P, .layout = TCT_DENSE_ROWS, .values = (double *)s->x, .stride = P};
  double scale[N];
  for (int i = 0; i < N; i++) scale[i] = i >= K && i < K + out ? 0 : 1;
  tct_view view = {.x = &m, .row_scale = scale, .rows = N, .p = P, .row_norm = 1e9};
  tct_shells_of of = s->of;
  of.view = &view, of.last = s->table ? NULL : s->y, of.weight = weighed ? s->weight : NULL;
  memset(sum, 0, SIZE * sizeof *sum);
  assert_int_equal(tct_shells_sum(&of, sum, &err), TCT_OK);
}

static double apart(const double *a, const double *b) {
  double sum = 0;
  for (int k = 0; k < SIZE; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sqrt(sum);
}

/* The person's records; weights sum to at most 1. */
static void put(uint64_t *random, setup *s, int many) {
  double length = exp(4 * world_real(random)), others[N] = {0};
  for (int k = 0; k < many; k++) {
    for (int j = 0; j < P; j++) s->x[(K + k) * P + j] = length * world_real(random);
    s->y[K + k] = world_u64(random) % 4 ? length * world_real(random) : 0;
    others[k] = 0.01 + fabs(world_real(random));
  }
  double all = 0;
  for (int k = 0; k < many; k++) all += others[k];
  for (int k = 0; k < many; k++) s->weight[K + k] = others[k] / all * (1 - 0x1p-50);
  for (int k = 1; k < many && world_u64(random) % 2; k++) {
    memcpy(s->x + (K + k) * P, s->x + K * P, P * sizeof *s->x);
    s->y[K + k] = s->y[K];
  }
}

static void a_record_or_person_moves_all_shells_together_by_at_most_1_and_replaced_by_root_2(void **state) {
  (void)state;
  double removed[2] = {0}, replaced[2] = {0}, one[SIZE], two[SIZE], none[SIZE];
  uint64_t random = 41;
  for (int trial = 0; trial < 6000; trial++) {
    setup s = {.table = trial % 5 == 0, .products = trial % 7 < 2};
    int many = trial % 3 ? 1 : KIN;
    draw(&random, &s);
    put(&random, &s, many);
    shells_of(&s, trial % 3 != 1, many, none);
    shells_of(&s, trial % 3 != 1, 0, one);
    put(&random, &s, many);
    if (trial % 2) /* one of the longest, and one of the shortest */
      for (int j = 0; j < P; j++) s.x[K * P + j] *= 1e-3;
    shells_of(&s, trial % 3 != 1, 0, two);
    double a = apart(one, none), b = apart(one, two);
    if (!(a <= 1)) fail_msg("trial %d: %d records reach %.17g", trial, many, a);
    if (!(b * b <= 2)) fail_msg("trial %d: %d replaced records move %.17g", trial, many, b);
    removed[s.products] = fmax(removed[s.products], a);
    replaced[s.products] = fmax(replaced[s.products], b / M_SQRT2);
    tct_metric_free(&s.metric);
  }
  for (int k = 0; k < 2; k++) {
    print_message("%s: %.6f and %.6f of the claims\n", k ? "products" : "images", removed[k], replaced[k]);
    assert_true(removed[k] >= 0.99 && replaced[k] >= 0.99);
  }
}

/* In quad precision: each record's term is in one shell, within the radius, and the sum is that of all. */
static void every_record_is_in_the_shell_of_its_length_and_in_no_other(void **state) {
  (void)state;
  double sum[SIZE], without[SIZE];
  uint64_t random = 5;
  int outer = 0;
  for (int trial = 0; trial < 300; trial++) {
    setup s = {.table = false};
    __float128 length = 0;
    draw(&random, &s);
    put(&random, &s, 1);
    s.of.lattice = 0x1p-40;
    shells_of(&s, false, 1, without);
    shells_of(&s, false, 0, sum);
    for (int j = 0; j < Q; j++) {
      __float128 z = 0;
      for (int k = 0; k <= j; k++)
        z += (__float128)s.metric.w[j * Q + k] * (k < P ? s.of.scale * s.x[K * P + k] : s.of.last_scale * s.y[K]);
      length += z * z;
    }
    double size = sqrt((double)length);
    int shell = 0, seen = 0;
    while (shell + 1 < s.of.count && size > s.of.radius[shell]) shell++;
    for (int k = 0; k < s.of.count; k++) {
      double trace = 0;
      for (int j = 0; j < Q; j++) trace += sum[k * Q * Q + j * Q + j] - without[k * Q * Q + j * Q + j];
      double want = k == shell ? fmin(pow(size / s.of.radius[k], 2), 1) : 0;
      if (!(fabs(trace - want) < 1e-4))
        fail_msg("trial %d: shell %d holds %g of the record, not %g", trial, k, trace, want);
      seen += trace > 0;
    }
    assert_true(seen <= 1);
    outer += shell > 0;
    tct_metric_free(&s.metric);
  }
  assert_true(outer > 50);
}

/* Some entries are 0, and CSR does not store them. */
static void sparse_rows_have_the_bits_of_dense_ones(void **state) {
  (void)state;
  uint64_t random = 13;
  for (int trial = 0; trial < 200; trial++) {
    setup s = {.table = trial % 2};
    tct_error err = {0};
    double scale[N], dense[SIZE] = {0}, sparse[SIZE] = {0};
    draw(&random, &s);
    for (int i = 0; i < N * P; i++) s.x[i] = world_u64(&random) % 2 ? 0 : s.x[i];
    for (int i = 0; i < N; i++) scale[i] = 0.5 + 0.01 * i;
    tct_matrix m = {.rows = N, .cols = P, .layout = TCT_DENSE_ROWS, .values = s.x, .stride = P};
    tct_owned_matrix few = {0};
    assert_int_equal(tct_matrix_convert(&m, TCT_CSR, TCT_F64, &few, &err), TCT_OK);
    tct_view view = {.x = &m, .row_scale = scale, .rows = N, .p = P, .row_norm = 1e9};
    tct_shells_of of = s.of;
    of.view = &view, of.last = s.table ? NULL : s.y, of.weight = trial % 3 ? s.weight : NULL;
    assert_int_equal(tct_shells_sum(&of, dense, &err), TCT_OK);
    view.x = &few.m;
    assert_int_equal(tct_shells_sum(&of, sparse, &err), TCT_OK);
    assert_memory_equal(dense, sparse, sizeof dense);
    tct_matrix_free(&few);
    tct_metric_free(&s.metric);
  }
}

/* Lengths that leave the range of doubles have no shell. */
static void a_record_beyond_doubles_adds_nothing(void **state) {
  (void)state;
  double one[SIZE], none[SIZE];
  uint64_t random = 9;
  setup s = {.table = false};
  draw(&random, &s);
  for (int j = 0; j < P; j++) s.x[K * P + j] = 1e300;
  shells_of(&s, false, 1, none);
  shells_of(&s, false, 0, one);
  assert_memory_equal(one, none, sizeof one);
  tct_metric_free(&s.metric);
}

/* Rows are laid out in blocks: a table longer than one is the sum of its halves, each label and weight with its row. */
static void a_long_table_is_the_sum_of_its_halves(void **state) {
  (void)state;
  enum { ROWS = 2400, COLS = 30, D = (COLS + 1) * (COLS + 2) / 2, HALF = ROWS / 2 };
  double *x = malloc((ROWS * (COLS + 3) + 3 * D * D) * sizeof *x), *y = x + ROWS * COLS, *weight = y + ROWS,
         *scale = weight + ROWS, *sum = scale + ROWS;
  uint64_t random = 47;
  for (int i = 0; i < ROWS * COLS; i++) x[i] = world_real(&random);
  for (int i = 0; i < ROWS; i++) y[i] = world_real(&random), weight[i] = fabs(world_real(&random)), scale[i] = 1;
  for (int part = 0; part < 3; part++) { /* all, and both halves */
    int64_t from = part == 2 ? HALF : 0, rows = part == 0 ? ROWS : HALF;
    tct_matrix m = {.rows = rows, .cols = COLS, .layout = TCT_DENSE_ROWS, .values = x + from * COLS, .stride = COLS};
    tct_view view = {.x = &m, .row_scale = scale + from, .rows = rows, .p = COLS, .row_norm = 1e9};
    const tct_shells_of of = {.view = &view,
                              .weight = weight + from,
                              .last = y + from,
                              .scale = 1,
                              .last_scale = 1,
                              .products = true,
                              .count = 1,
                              .radius = {5},
                              .lattice = 0x1p-40,
                              .threads = 1};
    assert_int_equal(tct_shells_sum(&of, sum + part * D * D, NULL), TCT_OK);
  }
  for (int k = 0; k < D * D; k++) assert_true(sum[k] == sum[D * D + k] + sum[2 * D * D + k]);
  free(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_record_or_person_moves_all_shells_together_by_at_most_1_and_replaced_by_root_2),
      cmocka_unit_test(every_record_is_in_the_shell_of_its_length_and_in_no_other),
      cmocka_unit_test(sparse_rows_have_the_bits_of_dense_ones),
      cmocka_unit_test(a_record_beyond_doubles_adds_nothing),
      cmocka_unit_test(a_long_table_is_the_sum_of_its_halves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
