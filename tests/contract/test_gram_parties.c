/* test_gram_parties.c - secure sums: what is opened is the Gram matrix to the last bit; what each role sees of it. */
#include "kept_frames.h"
#include "worlds.h"

#include "parties/gram_parties.h"

#include "mech/gate.h"
#include "mech/joint.h"
#include "rng/mask.h"

/* ---- a run whose frames and releases are kept ---------------------------------------------------------------- */

typedef struct run {
  world w;
  tct_mech *mech;
  tct_gram_stage *stage;
  tct_statistics opened;
  frames to_server[8], to_peer[8][8], from_server[8];
  double *before[2]; /* what a probe sees of the two releases, without noise; off the diagonal times sqrt(2) */
  int seen;
  double sensitivity[2];
} run;

static void look(void *user, const tct_event *event, double sensitivity, const double *before, double *after,
                 int64_t len) {
  run *r = user;
  (void)event, (void)after;
  assert_true(r->seen < 2);
  r->sensitivity[r->seen] = sensitivity;
  r->before[r->seen++] = tape_copy(before, len);
}

typedef struct ask {
  const char *solver, *penalty;
  double epsilon;
  uint64_t seed;
  const int64_t *width; /* NULL: even */
  tct_layout layout;
} ask;

static void open_run(run *r, const records *data, ask a) {
  tct_error err = {0};
  memset(r, 0, sizeof *r);
  tct_config config = world_config("squared", a.penalty ? a.penalty : "none", a.solver);
  config.epsilon = a.epsilon;
  if (world_open(&r->w, data, &config, a.layout, TCT_F64, &err) != TCT_OK) fail_msg("%s: %s", a.solver, err.text);
  tct_solver_plan *plan = &r->w.plan->solved;
  assert_int_equal(tct_mech_new(&plan->promise, TCT_ADD_REMOVE, &a.seed, &r->mech, &err), TCT_OK);
  tct_mech_probe_test(r->mech, look, r);
  assert_int_equal(tct_gram_stage_new(&r->w.problem, plan, r->mech, a.width, &r->stage, &err), TCT_OK);
  for (int k = 0; k < r->stage->set.count && r->stage->set.count <= 8; k++) {
    r->stage->server[k][0].log = r->stage->server[k][1].log = keep;
    r->stage->server[k][0].log_user = &r->from_server[k];
    r->stage->server[k][1].log_user = &r->to_server[k];
    for (int j = 0; j < k; j++) {
      r->stage->pair[j][k][0].log = r->stage->pair[j][k][1].log = keep;
      r->stage->pair[j][k][0].log_user = &r->to_peer[j][k];
      r->stage->pair[j][k][1].log_user = &r->to_peer[k][j];
    }
  }
}

static void play(run *r) {
  tct_error err = {0};
  if (tct_gram_stage_play(r->stage, &r->w.problem, &r->opened, &err) != TCT_OK) fail_msg("%s", err.text);
  assert_int_equal(tct_mech_spent_exactly(r->mech, &err), TCT_OK);
}

static void close_run(run *r) {
  for (int k = 0; k < 8; k++) {
    free(r->to_server[k].bytes), free(r->from_server[k].bytes);
    for (int j = 0; j < 8; j++) free(r->to_peer[k][j].bytes);
  }
  free(r->before[0]), free(r->before[1]);
  tct_statistics_free(&r->opened);
  tct_gram_stage_free(r->stage);
  tct_mech_free(r->mech);
  world_close(&r->w);
}

/* ---- exact --------------------------------------------------------------------------------------------------- */

enum { HEADER = 24 };

static const uint64_t *words_at(const frames *f, size_t frame_start) {
  return (const uint64_t *)(const void *)(f->bytes + frame_start + HEADER);
}

/* Column j of record i as its party cuts it, by the parties' own views. */
static uint64_t cut(const run *r, int64_t i, int64_t j) {
  const tct_gram_stage *s = r->stage;
  int k = 0;
  while (j >= s->width[k]) j -= s->width[k++];
  const tct_matrix *m = &s->columns[k].m;
  double x = 0;
  if (m->layout == TCT_CSR) {
    const int32_t *start = m->start, *index = m->index;
    for (int32_t at = start[i]; at < start[i + 1]; at++)
      if (index[at] == j) x = ((const double *)m->values)[at];
  } else {
    x = ((const double *)m->values)[i * m->stride + j];
  }
  return (uint64_t)(int64_t)truncl(ldexpl((long double)(s->view[k].row_scale[i] * x), s->set.fraction));
}

/* The parties' noises, drawn once more from the same key. */
static void draw_again(const run *r, uint64_t seed, uint64_t *noise, int64_t triangle, int64_t p) {
  tct_mech *mech = NULL;
  assert_int_equal(tct_mech_new(&r->w.plan->solved.promise, TCT_ADD_REMOVE, &seed, &mech, NULL), TCT_OK);
  for (int k = 0; k < r->stage->set.count; k++) {
    assert_int_equal(tct_mech_join_noise(mech, TCT_GRAM_MATRIX, k, noise, triangle, NULL), TCT_OK);
    assert_int_equal(tct_mech_join_noise(mech, TCT_GRAM_MOMENT, k, noise + triangle, p, NULL), TCT_OK);
  }
  tct_mech_free(mech);
}

/* Integers, modulo 2^64: the sum of the shares as they left, less the noises. */
static void check_exact(const run *r, uint64_t seed, const char *what) {
  int64_t n = r->w.problem.view->rows, p = r->w.plan->facts.p, triangle = p * (p + 1) / 2, at = 0;
  uint64_t *noise = calloc((size_t)(triangle + p), 8), *sum = calloc((size_t)(triangle + p), 8);
  draw_again(r, seed, noise, triangle, p);
  for (int k = 0; k < r->stage->set.count; k++)
    for (int64_t i = 0; i < triangle + p; i++) sum[i] += words_at(&r->to_server[k], HEADER + 32)[i];
  for (int64_t i = 0; i < p; i++) {
    for (int64_t k = 0; k < n; k++)
      sum[triangle + i] -= cut(r, k, i) * (uint64_t)(int64_t)truncl(
                                              ldexpl((long double)r->w.problem.y[k], r->stage->set.label_fraction));
    if (sum[triangle + i] != noise[triangle + i]) fail_msg("%s: X'y is off at %d", what, (int)i);
    for (int64_t j = i; j < p; j++, at++) {
      for (int64_t k = 0; k < n; k++) sum[at] -= cut(r, k, i) * cut(r, k, j);
      if (sum[at] != noise[at]) fail_msg("%s: X'X is off at %d, %d", what, (int)i, (int)j);
    }
  }
  free(noise), free(sum);
}

static void what_is_opened_less_the_noises_is_the_gram_matrix_bit_for_bit(void **state) {
  (void)state;
  static const struct {
    const char *solver;
    int64_t width[8], rows;
    tct_layout layout;
  } at[] = {{"gram_parties:parties=2", {1, 18}, 301, TCT_DENSE_ROWS},
            {"gram_parties:parties=2,labels=one", {16, 3}, 64, TCT_DENSE_ROWS},
            {"gram_parties:parties=3", {7, 1, 11}, 1, TCT_DENSE_ROWS},
            {"gram_parties:parties=3,norms=1+5+2", {2, 16, 1}, 130, TCT_CSR},
            {"gram_parties:parties=4,collude=3,labels=one", {4, 5, 5, 5}, 255, TCT_CSR},
            {"gram_parties:parties=4,server_noise=yes", {1, 2, 3, 13}, 257, TCT_DENSE_ROWS},
            {"gram_parties:parties=8,collude=2", {1, 1, 1, 1, 1, 1, 1, 12}, 4100, TCT_DENSE_ROWS}};
  for (size_t t = 0; t < sizeof at / sizeof *at; t++)
    for (int off = 0; off < 2; off++) {
      records r = records_new(at[t].rows, 19, 3 + t);
      run a;
      open_run(&a, &r, (ask){at[t].solver, NULL, off ? INFINITY : 1, 9, at[t].width, at[t].layout});
      play(&a);
      assert_int_equal(a.seen, 2);
      check_exact(&a, 9, at[t].solver);
      close_run(&a);
      records_free(&r);
    }
}

/* Parties' shares are added by the server in any order: the ring does not tell. */
static void the_model_does_not_depend_on_who_comes_first_or_who_has_how_many_columns(void **state) {
  (void)state;
  static const int64_t width[2][3] = {{5, 3, 4}, {2, 9, 1}};
  records r = records_new(200, 12, 3);
  run a, b;
  open_run(&a, &r, (ask){"gram_parties:parties=3", NULL, INFINITY, 9, width[0], TCT_DENSE_ROWS});
  open_run(&b, &r, (ask){"gram_parties:parties=3,labels=one", NULL, INFINITY, 10, width[1], TCT_CSR});
  play(&a), play(&b);
  assert_memory_equal(a.opened.gram, b.opened.gram, 144 * sizeof(double));
  assert_memory_equal(a.opened.moment, b.opened.moment, 12 * sizeof(double));
  close_run(&a), close_run(&b);
  records_free(&r);
}

/* ---- what leaves, byte for byte -------------------------------------------------------------------------------- */

static int type_of(const unsigned char *frame) { return frame[4] | frame[5] << 8; }
static size_t size_of(const unsigned char *frame) {
  uint64_t size;
  memcpy(&size, frame + 16, 8);
  return (size_t)le64toh(size);
}

/* The frames are of these types and sizes, and there is nothing else. */
static void expect_frames(const frames *f, const int *type, const size_t *size, int count) {
  size_t at = 0;
  for (int i = 0; i < count; at += HEADER + size[i++]) {
    assert_true(at + HEADER <= f->size);
    assert_int_equal(type_of(f->bytes + at), type[i]);
    assert_int_equal(size_of(f->bytes + at), size[i]);
  }
  assert_int_equal(at, f->size);
}

static void every_byte_that_leaves_a_party_is_a_key_a_masked_block_a_seed_or_a_masked_share(void **state) {
  (void)state;
  static const int64_t width[3] = {5, 3, 4};
  records r = records_new(200, 12, 3);
  run a;
  open_run(&a, &r, (ask){"gram_parties:parties=3", NULL, 1, 9, width, TCT_DENSE_ROWS});
  play(&a);
  for (int k = 0; k < 3; k++) {
    static const int up[2] = {TCT_RING_SEED, TCT_RING_SHARE}, across[2] = {TCT_RING_PUBLIC, TCT_RING_COLUMNS};
    expect_frames(&a.to_server[k], up, (size_t[2]){32, 8 * (78 + 12)}, 2);
    for (int j = 0; j < 3; j++)
      if (j != k) expect_frames(&a.to_peer[k][j], across, (size_t[2]){32, 8 * (size_t)(200 * width[k])}, 2);
  }
  assert_int_equal(a.from_server[0].size, 0);
  static const int rest[2] = {TCT_RING_REST, TCT_RING_REST};
  expect_frames(&a.from_server[1], rest, (size_t[2]){8 * 15, 0}, 1);
  expect_frames(&a.from_server[2], rest, (size_t[2]){8 * 20, 8 * 12}, 2);
  close_run(&a);
  records_free(&r);
}

/* ---- what is seen ----------------------------------------------------------------------------------------------- */

/* Bits of words, each a fair coin: the largest deviation of any place, in standard deviations. */
static double uneven(const uint64_t *word, size_t count) {
  double worst = 0;
  for (int b = 0; b < 64; b++) {
    double ones = 0;
    for (size_t i = 0; i < count; i++) ones += (double)(word[i] >> b & 1);
    worst = fmax(worst, fabs(ones - (double)count / 2) / sqrt((double)count / 4));
  }
  return worst;
}

/* 64 places, six frames: 6.5 deviations come by chance once in 10^7. */
static void what_peers_and_server_receive_is_even_in_every_bit(void **state) {
  (void)state;
  enum { ROWS = 2000, COLS = 12 };
  static const int64_t width[3] = {4, 4, 4};
  records r = records_new(ROWS, COLS, 3);
  memset(r.x, 0, ROWS * COLS * sizeof *r.x); /* the plainest data */
  static uint64_t shares[3][50 * 90];
  for (uint64_t seed = 0; seed < 50; seed++) {
    run a;
    open_run(&a, &r, (ask){"gram_parties:parties=3", NULL, INFINITY, seed, width, TCT_DENSE_ROWS});
    play(&a);
    for (int k = 0; k < 3; k++) {
      memcpy(shares[k] + 90 * seed, words_at(&a.to_server[k], HEADER + 32), 90 * 8);
      if (seed > 2) continue;
      for (int j = 0; j < 3; j++)
        if (j != k) assert_true(uneven(words_at(&a.to_peer[k][j], HEADER + 32), ROWS * 4) < 6.5);
    }
    for (int64_t i = 0; i < COLS * COLS; i++) assert_true(a.opened.gram[i] == 0);
    close_run(&a);
  }
  for (int k = 0; k < 3; k++) assert_true(uneven(shares[k], 50 * 90) < 6.5);
  records_free(&r);
}

/* The server is given more than it has, the parties' products themselves: what is left of a share is its share of zero,
 * neither nothing nor a mask that the server's seeds could make. */
static void a_share_is_hidden_from_one_who_has_every_seed(void **state) {
  (void)state;
  enum { LEN = 78 + 12 };
  static const int64_t width[3] = {5, 3, 4};
  records r = records_new(40, 12, 3);
  run a;
  open_run(&a, &r, (ask){"gram_parties:parties=3", NULL, INFINITY, 9, width, TCT_DENSE_ROWS});
  play(&a);
  for (int k = 0; k < 3; k++) {
    uint64_t left[LEN], mask[LEN], pairs[135];
    int count = 0;
    memcpy(left, words_at(&a.to_server[k], HEADER + 32), sizeof left);
    int64_t at = 0;
    for (int64_t i = 0; i < 12; i++)
      for (int64_t j = i; j < 12; j++) left[at++] -= a.stage->party[k].sum[i * 12 + j];
    int nothing = 0;
    for (int64_t i = 0; i < 78; i++) nothing += left[i] == 0;
    assert_int_equal(nothing, 0);
    for (int seed = 0; seed < 5; seed++) /* those that it was sent, the session's public name, and nothing at all */
      for (int purpose = TCT_MASK_COLUMNS; purpose <= TCT_MASK_ZERO; purpose++)
        for (int from = 0; from < 3; from++)
          for (int to = 0; to < 3; to++) {
            static const unsigned char known[2][32] = {"a simulation", ""};
            tct_mask_seed copy;
            tct_mask m;
            tct_mask_seed_take(&copy, seed < 3 ? a.to_server[seed].bytes + HEADER : known[seed - 3], known[0]);
            assert_int_equal(tct_mask_open(&m, &copy, (tct_mask_purpose)purpose, from, to, LEN, NULL), TCT_OK);
            assert_int_equal(tct_mask_next(&m, mask, LEN, NULL), TCT_OK);
            pairs[count++] = mask[0];
          }
    assert_int_equal(count, 135);
    for (int i = 0; i < count; i++) { /* a share of zero is one or two masks */
      assert_true(left[0] != pairs[i] && left[0] != 0 - pairs[i]);
      for (int l = 0; l < count; l++)
        assert_true(left[0] != pairs[i] + pairs[l] && left[0] != pairs[i] - pairs[l] &&
                    left[0] != 0 - pairs[i] - pairs[l]);
    }
  }
  close_run(&a);
  records_free(&r);
}

/* For the transcript of the server (all seeds, all shares) any other data are as good: with the same seeds they need
 * other shares of zero, which sum to zero if and only if what is opened is the same. */
static void other_data_with_the_same_opened_sum_explain_what_the_server_saw(void **state) {
  (void)state;
  enum { LEN = 78 + 12 };
  static const int64_t width[3] = {5, 3, 4};
  records r = records_new(40, 12, 3), other = records_new(40, 12, 4);
  run a, b;
  uint64_t noise[LEN] = {0}, keys[LEN] = {0};
  open_run(&a, &r, (ask){"gram_parties:parties=3", NULL, INFINITY, 9, width, TCT_DENSE_ROWS});
  open_run(&b, &other, (ask){"gram_parties:parties=3", NULL, INFINITY, 9, width, TCT_DENSE_ROWS});
  play(&a), play(&b);
  for (int k = 0; k < 3; k++) {
    assert_memory_equal(a.to_server[k].bytes + HEADER, b.to_server[k].bytes + HEADER, 32); /* one seed, two data sets */
    for (int64_t i = 0; i < LEN; i++) /* of b, for the same opened sum */
      noise[i] += words_at(&a.to_server[k], HEADER + 32)[i] - words_at(&b.to_server[k], HEADER + 32)[i];
    int64_t at = 0; /* the key that explains share k of a by the data of b */
    for (int64_t i = 0; i < 12; i++)
      for (int64_t j = i; j < 12; j++, at++)
        keys[at] += words_at(&a.to_server[k], HEADER + 32)[at] - b.stage->party[k].sum[i * 12 + j];
  }
  for (int64_t i = 0; i < 78; i++)
    assert_true(keys[i] == noise[i]); /* so the keys, less that noise, are shares of zero */
  close_run(&a), close_run(&b);
  records_free(&r), records_free(&other);
}

static void another_seed_hides_the_same_records_behind_other_words(void **state) {
  (void)state;
  records r = records_new(40, 12, 3);
  run a, b;
  open_run(&a, &r, (ask){"gram_parties:parties=3", NULL, 1, 9, NULL, TCT_DENSE_ROWS});
  open_run(&b, &r, (ask){"gram_parties:parties=3", NULL, 1, 10, NULL, TCT_DENSE_ROWS});
  play(&a), play(&b);
  for (int k = 0; k < 3; k++) {
    const uint64_t *u = words_at(&a.to_peer[k][(k + 1) % 3], HEADER + 32);
    const uint64_t *v = words_at(&b.to_peer[k][(k + 1) % 3], HEADER + 32);
    for (int i = 0; i < 160; i++) assert_true(u[i] != v[i]);
    for (int l = 0; l < 3; l++) /* nor do two parties have one mask, or a seed that the server could have chosen */
      if (l != k) assert_memory_not_equal(a.to_server[k].bytes + HEADER, a.to_server[l].bytes + HEADER, 32);
    assert_memory_not_equal(a.to_server[k].bytes + HEADER, b.to_server[k].bytes + HEADER, 32);
  }
  close_run(&a), close_run(&b);
  records_free(&r);
}

/* ---- turns ---------------------------------------------------------------------------------------------------- */

static void nothing_leaves_twice_or_out_of_its_turn(void **state) {
  (void)state;
  tct_error err = {0};
  records r = records_new(40, 12, 3);
  run a;
  uint64_t word[160] = {0};
  open_run(&a, &r, (ask){"gram_parties:parties=3", NULL, 1, 9, NULL, TCT_DENSE_ROWS});
  tct_ring_part part = {0, word, 78};
  assert_int_equal(tct_ring_hide(a.stage->ring[0], word, 4, word, &err), TCT_E_RUN);     /* no seed was sent */
  assert_int_equal(tct_ring_say_columns(a.stage->ring[0], TCT_SERVER, &err), TCT_E_RUN); /* never to the server */
  assert_int_equal(tct_ring_say_public(a.stage->ring[0], TCT_SERVER, &err), TCT_E_RUN);
  play(&a);
  assert_int_equal(tct_ring_say_seed(a.stage->ring[0], 160, &err), TCT_E_RUN);       /* the mask is used */
  assert_int_equal(tct_ring_hide(a.stage->ring[0], word, 4, word, &err), TCT_E_RUN); /* and has no more words */
  assert_int_equal(tct_ring_correction(a.stage->ring[0], 1, word, 16, &err), TCT_E_RUN);
  assert_int_equal(tct_ring_say_share(a.stage->ring[0], &part, 1, &err), TCT_E_RUN);
  assert_int_equal(a.to_server[0].size, 2 * HEADER + 32 + 8 * 90);
  close_run(&a);
  records_free(&r);
}

/* ---- sensitivity ------------------------------------------------------------------------------------------------ */

enum { ROWS = 30, COLS = 6, RECORD = 7 };

static double moved(const run *a, const run *b, int r, int64_t len) {
  return tape_distance(TCT_EV_GAUSSIAN, a->before[r], b->before[r], len) / a->sensitivity[r];
}

/* The largest share of the claim that one record moves, every party clipping alone. */
static double climbed(const char *solver, tct_layout layout, double *moment) {
  double best[2] = {0, 0};
  uint64_t seed = 77;
  for (int t = 0; t < 60; t++) {
    records r = records_new(ROWS, COLS, 31);
    for (int j = 0; j < COLS; j++) r.x[RECORD * COLS + j] = (t % 3 ? 40 : 0.7) * world_real(&seed);
    run with, without;
    open_run(&with, &r, (ask){solver, NULL, 1, 9, NULL, layout});
    open_run(&without, &r, (ask){solver, NULL, 1, 9, NULL, layout});
    for (int k = 0; k < without.stage->set.count; k++) without.stage->view[k].row_scale[RECORD] = 0;
    play(&with), play(&without);
    double gram = moved(&with, &without, 0, COLS * (COLS + 1) / 2), vector = moved(&with, &without, 1, COLS);
    if (!(gram <= 1) || !(vector <= 1)) fail_msg("%s: a record moves %.17g, %.17g of the claim", solver, gram, vector);
    best[0] = fmax(best[0], gram), best[1] = fmax(best[1], vector);
    close_run(&with), close_run(&without);
    records_free(&r);
  }
  *moment = best[1];
  return best[0];
}

static void no_record_moves_the_sums_further_than_claimed_and_some_nearly_as_far(void **state) {
  (void)state;
  static const char *const solver[] = {"gram_parties:parties=2", "gram_parties:parties=3,labels=one",
                                       "gram_parties:parties=3,norms=1+5+2", "gram_parties:parties=6,collude=5"};
  for (int t = 0; t < 4; t++) {
    double moment, gram = climbed(solver[t], t % 2 ? TCT_CSR : TCT_DENSE_ROWS, &moment);
    print_message("%s: X'X %.4f, X'y %.4f of the claim\n", solver[t], gram, moment);
    assert_true(gram >= 0.9 && moment >= 0.9);
  }
}

/* Outside of the claim, and said in the certificate: one entry of 2^20 in one record of a dishonest party multiplies
 * the other party's entries of that person above all noise. */
static void a_party_that_ignores_its_norm_reads_a_person_of_another(void **state) {
  (void)state;
  static const int64_t width[2] = {2, 4};
  records r = records_new(200, 6, 3);
  run a;
  open_run(&a, &r, (ask){"gram_parties:parties=2", NULL, 1, 9, width, TCT_DENSE_ROWS});
  double *own = (double *)a.stage->columns[0].m.values, noise = tct_gram_noise(&a.w.plan->solved, TCT_GRAM_MATRIX);
  own[2 * RECORD] = 0x1p20, a.stage->view[0].row_scale[RECORD] = 1;
  play(&a);
  double worst = 0;
  for (int64_t j = 0; j < 4; j++) {
    double theirs = a.stage->view[1].row_scale[RECORD] * ((const double *)a.stage->columns[1].m.values)[4 * RECORD + j];
    worst = fmax(worst, fabs(a.opened.gram[2 + j] * 0x1p-20 - theirs));
  }
  print_message("read to %.1e under noise of deviation %.1f\n", worst, noise * M_SQRT1_2);
  assert_true(worst < 2e-4);
  close_run(&a);
  records_free(&r);
}

/* ---- who faces what ---------------------------------------------------------------------------------------------- */

static double epsilon_of(int index, const char *observer, const char *solver) {
  tct_error err = {0};
  tct_observer out[TCT_OBSERVERS];
  int count = 0;
  tct_config config = world_config("squared", "none", solver);
  tct_plan *plan = tct_plan_new(&config, 1000, 8, &err);
  if (!plan) fail_msg("%s: %s", solver, err.text);
  assert_int_equal(tct_gram_observers(&plan->facts, &plan->solved, out, &count, &err), TCT_OK);
  assert_int_equal(count, 3);
  assert_string_equal(out[index].who, observer);
  double epsilon = out[index].epsilon;
  tct_plan_free(plan);
  return epsilon;
}

/* The epsilon of one Gaussian of mu = (that of epsilon 1) * factor at the same delta. */
static double epsilon_at(double factor) {
  tct_cost cost;
  tct_error err = {0};
  tct_config config = world_config("squared", "none", "gram_parties:parties=2");
  tct_plan *plan = tct_plan_new(&config, 1000, 8, &err);
  tct_events events = {0};
  assert_int_equal(tct_events_add(&events, tct_event_gaussian(plan->solved.noise_multiplier / factor, 1), &err),
                   TCT_OK);
  assert_int_equal(tct_account_epsilon(&events, TCT_ADD_REMOVE, config.delta, 1e-9, &cost, &err), TCT_OK);
  tct_events_free(&events);
  tct_plan_free(plan);
  return cost.epsilon;
}

static void every_observer_faces_the_noise_that_it_does_not_know(void **state) {
  (void)state;
  assert_true(epsilon_of(2, "party", "gram_parties:parties=4") == 1);
  assert_true(epsilon_of(2, "up to 2 parties together", "gram_parties:parties=4,collude=2") == 1);
  assert_true(epsilon_of(2, "up to 3 parties together", "gram_parties:parties=4,server_noise=yes") == 1);
  static const struct {
    const char *who, *solver;
    double factor;
  } at[] = {{"outsider", "gram_parties:parties=4", 0.8660254037844386},
            {"server", "gram_parties:parties=4", 0.8660254037844386},
            {"server", "gram_parties:parties=4,collude=3", 0.5},
            {"outsider", "gram_parties:parties=4,server_noise=yes", 0.7071067811865475},
            {"server", "gram_parties:parties=4,server_noise=yes", 1}};
  for (size_t t = 0; t < sizeof at / sizeof *at; t++) {
    double claimed = epsilon_of(at[t].who[0] == 's', at[t].who, at[t].solver), expected = epsilon_at(at[t].factor);
    assert_true(fabs(claimed - expected) < 1e-5 * expected);
  }
}

static void what_a_plan_cannot_keep_is_refused_with_a_sentence(void **state) {
  (void)state;
  static const char *const bad[] = {
      "gram_parties:parties=1",           "gram_parties:parties=3,collude=3",   "gram_parties:parties=9",
      "gram_parties:parties=3,norms=1+2", "gram_parties:parties=3,norms=1+2+0", "gram_parties:split=1"};
  for (size_t t = 0; t < sizeof bad / sizeof *bad; t++) {
    tct_error err = {0};
    tct_config config = world_config("squared", "none", bad[t]);
    assert_null(tct_plan_new(&config, 1000, 8, &err));
    assert_int_equal(err.status, TCT_E_USAGE);
  }
  tct_error err = {0};
  tct_config config = world_config("logistic", "none", "gram_parties");
  assert_null(tct_plan_new(&config, 1000, 8, &err));
  config = world_config("squared", "none", "gram_parties");
  config.rows_rule = TCT_ROWS_UNIT;
  assert_null(tct_plan_new(&config, 1000, 8, &err));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_opened_less_the_noises_is_the_gram_matrix_bit_for_bit),
      cmocka_unit_test(the_model_does_not_depend_on_who_comes_first_or_who_has_how_many_columns),
      cmocka_unit_test(every_byte_that_leaves_a_party_is_a_key_a_masked_block_a_seed_or_a_masked_share),
      cmocka_unit_test(what_peers_and_server_receive_is_even_in_every_bit),
      cmocka_unit_test(a_share_is_hidden_from_one_who_has_every_seed),
      cmocka_unit_test(other_data_with_the_same_opened_sum_explain_what_the_server_saw),
      cmocka_unit_test(another_seed_hides_the_same_records_behind_other_words),
      cmocka_unit_test(nothing_leaves_twice_or_out_of_its_turn),
      cmocka_unit_test(no_record_moves_the_sums_further_than_claimed_and_some_nearly_as_far),
      cmocka_unit_test(a_party_that_ignores_its_norm_reads_a_person_of_another),
      cmocka_unit_test(every_observer_faces_the_noise_that_it_does_not_know),
      cmocka_unit_test(what_a_plan_cannot_keep_is_refused_with_a_sentence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
