/* test_sensitivity_seq.c - seqdpscd step by step: what one record, removed for good, moves in the duals of the others
 * and in v, and the noise of a batch that is skipped. */
#include "baselines/seqdpscd.c" /* the steps inside are what the proof is about */

#include "worlds.h"

enum { ROWS = 40, COLS = 3, CAP = 5 };

typedef struct bench {
  records r;
  world w;
  settings set;
  tct_dual dual;
  tct_batch batch;
  tct_mech *mech;
  double local[COLS];
} bench;

static void open_bench(bench *b, const char *loss, uint64_t seed) {
  tct_error err = {0};
  tct_config config = world_config(loss, "l2:lambda=0.001", "seqdpscd:batch=5,cap=5,clip=0.3,epochs=20");
  memset(b, 0, sizeof *b);
  b->r = records_new(ROWS, COLS, seed);
  assert_int_equal(world_open(&b->w, &b->r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
  const tct_plan *plan = b->w.plan;
  b->set = (settings){.planned = &plan->solved.promise.release[STEPS], .cap = CAP, .newton = 20};
  assert_int_equal(tct_dual_new(&b->w.problem, &b->dual, &err), TCT_OK);
  assert_int_equal(tct_batch_new(&b->w.problem, &b->batch, &err), TCT_OK);
  assert_int_equal(tct_mech_new(&plan->solved.promise, plan->facts.neighbours, &seed, &b->mech, &err), TCT_OK);
}

static void close_bench(bench *b) {
  tct_mech_free(b->mech);
  tct_batch_free(&b->batch);
  tct_dual_free(&b->dual);
  world_close(&b->w);
  records_free(&b->r);
}

static void watch(void *user, const tct_event *event, double sensitivity, const double *before, double *after,
                  int64_t len) {
  (void)event, (void)sensitivity, (void)after;
  *(double *)user = 0;
  for (int64_t j = 0; j < len; j++) *(double *)user += fabs(before[j]);
}

static void a_skipped_batch_adds_nothing_and_its_duals_are_noised_on_the_lattice(void **state) {
  (void)state;
  bench b;
  int skipped = 0;
  double released = NAN; /* size of the sum without noise */
  open_bench(&b, "logistic", 5);
  tct_mech_probe_test(b.mech, watch, &released);
  for (int t = 0; t < 100; t++) {
    double before[ROWS];
    memcpy(before, b.dual.alpha, sizeof before);
    assert_int_equal(iterate(&b.w.problem, &b.set, &b.dual, &b.batch, b.mech, b.local, NULL), TCT_OK);
    skipped += b.batch.count > CAP;
    assert_true(b.batch.count > CAP ? released == 0 : b.batch.count == 0 || released > 0);
    for (int64_t k = 0; k < b.batch.count; k++) {
      double moved = b.dual.alpha[b.batch.row[k]] - before[b.batch.row[k]];
      assert_true(moved != 0 && b.batch.u[k] != 0);
      assert_true(fmod(b.batch.u[k], b.set.planned->lattice) == 0);
    }
  }
  assert_true(skipped > 10 && skipped < 90);
  close_bench(&b);
}

/* batch->u and batch->sum without noise, for the given rows. */
static void steps_of(bench *b, const int64_t *row, int64_t count) {
  memset(b->batch.u, 0, (size_t)ROWS * sizeof(double));
  memset(b->batch.sum, 0, (size_t)COLS * sizeof(double));
  memcpy(b->batch.row, row, (size_t)count * sizeof *row);
  b->batch.count = count;
  if (count <= b->set.cap) sequential(&b->w.problem, &b->set, &b->dual, &b->batch, b->local);
}

/* Squared distance between the iteration with record `own` among the `count` rows and without it. */
static double moved_by(bench *b, const int64_t *with, int64_t count, int64_t own) {
  double u[ROWS] = {0}, sum[COLS], off = 0;
  int64_t without[ROWS], rest = 0;
  steps_of(b, with, count);
  for (int64_t k = 0; k < count; k++) u[with[k]] = b->batch.u[k];
  memcpy(sum, b->batch.sum, sizeof sum);
  for (int64_t k = 0; k < count; k++)
    if (with[k] != own) without[rest++] = with[k];
  steps_of(b, without, rest);
  for (int64_t k = 0; k < rest; k++) off += (u[without[k]] - b->batch.u[k]) * (u[without[k]] - b->batch.u[k]);
  for (int j = 0; j < COLS; j++) off += (sum[j] - b->batch.sum[j]) * (sum[j] - b->batch.sum[j]);
  return off;
}

static void a_removed_record_moves_an_iteration_by_at_most_the_reach(void **state) {
  (void)state;
  static const char *const losses[] = {"logistic", "hinge", "squared"};
  uint64_t seed = 17;
  double worst = 0, skip = 0;
  bench b;
  for (int l = 0; l < 3; l++)
    for (int k = 0; k < 3000; k++) {
      int64_t row[ROWS], count = 0, max = 1 + (int64_t)(world_u64(&seed) % (CAP + 2));
      if (k % 100 == 0) open_bench(&b, losses[l], seed);
      for (int64_t i = 0; i < ROWS; i++) b.dual.alpha[i] = world_real(&seed);
      for (int j = 0; j < COLS; j++) b.dual.w[j] = 3 * world_real(&seed);
      for (int64_t i = (int64_t)(world_u64(&seed) % 20); i < ROWS && count < max;
           i += 1 + (int64_t)(world_u64(&seed) % 3))
        row[count++] = i;
      double move =
          sqrt(moved_by(&b, row, count, row[world_u64(&seed) % (uint64_t)count])) / b.set.planned->sensitivity;
      if (!(move <= 1)) fail_msg("%s: a move of %g reaches, %d records", losses[l], move, (int)count);
      worst = fmax(worst, move);
      if (count == CAP + 1) skip = fmax(skip, move);
      if (k % 100 == 99) close_bench(&b);
    }
  print_message("at most %.3f of the reach, %.3f where one record makes the batch too large\n", worst, skip);
  assert_true(worst > 0.2 && skip > 0.1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_skipped_batch_adds_nothing_and_its_duals_are_noised_on_the_lattice),
      cmocka_unit_test(a_removed_record_moves_an_iteration_by_at_most_the_reach),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
