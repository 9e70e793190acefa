/* test_gram_secrecy.c - what parties and server see of secure sums can be made without the data that they lack.
 *
 * The protocol is a handful of formulas over a ring.  Here they stand once more, over any ring 2^b.  On small rings all
 * inputs and all coins are enumerated.  The frames of the real code are then held against the formulas, word by word,
 * under the masks that its own seeds give. */
#include "kept_frames.h"
#include "sample.h"
#include "worlds.h"

#include "mech/joint.h"
#include "rng/mask.h"
#include "parties/gram_parties.h"

/* ---- the formulas, two rows, one column a party --------------------------------------------------------------- */

typedef struct pair {
  unsigned v[2];
} pair;
static unsigned mod(unsigned x, int bits) { return x & ((1u << bits) - 1); }
static unsigned dot(pair a, pair b) { return a.v[0] * b.v[0] + a.v[1] * b.v[1]; }
static pair nth(unsigned i, int bits) { return (pair){{mod(i, bits), mod(i >> bits, bits)}}; }
static pair hidden(pair x, pair a, int bits) {
  return (pair){{mod(x.v[0] - a.v[0], bits), mod(x.v[1] - a.v[1], bits)}};
}
static unsigned index_of(pair p, int bits) { return p.v[0] | p.v[1] << bits; }

/* Ring 2^2, parties 2 and 3 of three put their heads together: for every x_1, a_2, a_3 the coins a_1, c_12, c_13 give
 * every (u_1, rest_12, rest_13) equally often.  So it says nothing about x_1. */
static void every_view_of_two_parties_is_as_likely_whatever_the_third_one_has(void **state) {
  (void)state;
  enum { B = 2, PAIRS = 16, VIEWS = PAIRS * 4 * 4 };
  for (unsigned input = 0; input < PAIRS * PAIRS * PAIRS; input++) {
    pair x = nth(input % PAIRS, B), a2 = nth(input / PAIRS % PAIRS, B), a3 = nth(input / PAIRS / PAIRS, B);
    int seen[VIEWS] = {0};
    for (unsigned coins = 0; coins < VIEWS; coins++) {
      pair a = nth(coins % PAIRS, B);
      unsigned c12 = coins / PAIRS % 4, c13 = coins / PAIRS / 4;
      unsigned view = index_of(hidden(x, a, B), B) | mod(dot(a, a2) - c12, B) << 4 | mod(dot(a, a3) - c13, B) << 6;
      seen[view]++;
    }
    for (int v = 0; v < VIEWS; v++) assert_int_equal(seen[v], 1);
  }
}

/* Ring 2^8: all 2^24 coins, for inputs with zeros, ones, the largest and others. */
static void on_bytes_every_view_of_a_party_comes_once_for_every_input(void **state) {
  (void)state;
  enum { B = 8, VIEWS = 1 << 24 };
  static const unsigned input[][3] = {{0, 0, 0},           {0x0101, 0, 0x0101},      {0xffff, 0xffff, 0xffff},
                                      {0x8000, 0x0080, 2}, {0x1234, 0xabcd, 0x00ff}, {0x0203, 0x8080, 0x4040}};
  unsigned char *seen = malloc(VIEWS);
  for (size_t i = 0; i < sizeof input / sizeof *input; i++) {
    pair x = nth(input[i][0], B), other = nth(input[i][2], B);
    memset(seen, 0, VIEWS);
    for (unsigned coins = 0; coins < VIEWS; coins++) {
      pair a = nth(coins & 0xffff, B);
      unsigned view = index_of(hidden(x, a, B), B) | mod(dot(a, other) - (coins >> 16), B) << 16;
      if (seen[view]++) fail_msg("input %zu: a view comes twice", i);
    }
  }
  free(seen);
}

/* Ring 2^8, every input.  A view is (u, rest), u = x - a, rest = a.other - c.  All inputs with all coins would be 2^56
 * steps; three smaller facts say the same.  u does not know c; for every x it takes every value once as a does.  For
 * every a.other, rest takes every value once as c does. */
static void on_bytes_no_input_at_all_changes_how_often_a_view_comes(void **state) {
  (void)state;
  enum { B = 8, PAIRS = 1 << 16 };
  static unsigned char seen[PAIRS];
  for (unsigned x = 0; x < PAIRS; x++) {
    unsigned count = 0;
    if (!sample_turn(x, 7)) continue;
    memset(seen, 0, sizeof seen);
    for (unsigned a = 0; a < PAIRS; a++) seen[index_of(hidden(nth(x, B), nth(a, B), B), B)] = 1;
    for (unsigned u = 0; u < PAIRS; u++) count += seen[u];
    assert_int_equal(count, PAIRS);
  }
  for (unsigned product = 0; product < 256; product++) {
    unsigned char rests[256] = {0};
    for (unsigned c = 0; c < 256; c++) assert_int_equal(rests[mod(product - c, B)]++, 0);
  }
}

/* Ring 2^2, the server of three parties, who has all a: its three shares take every value with the opened sum equally
 * often, whatever the parties' products and noises are. */
static void every_shares_with_the_opened_sum_are_as_likely_to_the_server(void **state) {
  (void)state;
  for (unsigned y = 0; y < 64; y++) { /* product and noise of each party */
    int seen[64] = {0};
    unsigned y1 = y % 4, y2 = y / 4 % 4, y3 = y / 16, sum = mod(y1 + y2 + y3, 2);
    for (unsigned z = 0; z < 64; z++) {
      unsigned z12 = z % 4, z13 = z / 4 % 4, z23 = z / 16;
      seen[mod(y1 + z12 + z13, 2) | mod(y2 - z12 + z23, 2) << 2 | mod(y3 - z13 - z23, 2) << 4]++;
    }
    for (unsigned o = 0; o < 64; o++) assert_int_equal(seen[o], mod(o % 4 + o / 4 % 4 + o / 16, 2) == sum ? 4 : 0);
  }
}

/* Ring 2^2, two parties: a transcript of the server's (a_1, a_2, c, o_1, o_2) is explained by every x_1, x_2 and every
 * noises that give the opened sum, with exactly one key of the share of zero. */
static void every_data_with_the_same_opened_sum_explain_a_transcript_of_the_server(void **state) {
  (void)state;
  for (unsigned t = 0; t < 16 * 16 * 4 * 4 * 4; t += 3) {
    pair a1 = nth(t % 16, 2), a2 = nth(t / 16 % 16, 2);
    unsigned c = t / 256 % 4, o1 = t / 1024 % 4, o2 = t / 4096, opened = mod(o1 + o2, 2);
    for (unsigned x = 0; x < 256; x++) {
      pair x1 = nth(x % 16, 2), x2 = nth(x / 16, 2), u1 = hidden(x1, a1, 2), u2 = hidden(x2, a2, 2);
      unsigned y2 = dot(u1, x2) + dot(a1, a2) - c, y1 = dot(a1, u2) + c;
      assert_int_equal(mod(y1 + y2, 2), mod(dot(x1, x2), 2));
      for (unsigned noise1 = 0; noise1 < 4; noise1++) {
        unsigned noise2 = opened - dot(x1, x2) - noise1, keys = 0;
        for (unsigned z = 0; z < 4; z++) keys += mod(y1 + noise1 + z, 2) == o1 && mod(y2 + noise2 - z, 2) == o2;
        assert_int_equal(keys, 1);
      }
    }
  }
}

/* ---- the real code is these formulas --------------------------------------------------------------------------- */

enum { K = 3, N = 50, P = 9, CELLS = P * (P + 1) / 2 + P, HEADER = TCT_FRAME_HEADER };
static const int64_t width[K] = {2, 4, 3};

typedef struct run {
  world w;
  tct_mech *mech;
  tct_gram_stage *stage;
  tct_statistics opened;
  frames up[K], down[K], across[K][K];
} run;

/* At epsilon 10, so that an audit's error is small beside mu. */
static tct_config config_of(const char *solver) {
  tct_config config = world_config("squared", "none", solver);
  config.epsilon = 10;
  return config;
}

static void play(run *r, const records *data, const char *solver, uint64_t seed) {
  tct_error err = {0};
  memset(r, 0, sizeof *r);
  tct_config config = config_of(solver);
  if (world_open(&r->w, data, &config, TCT_DENSE_ROWS, TCT_F64, &err) != TCT_OK) fail_msg("%s", err.text);
  tct_solver_plan *plan = &r->w.plan->solved;
  assert_int_equal(tct_mech_new(&plan->promise, TCT_ADD_REMOVE, &seed, &r->mech, &err), TCT_OK);
  assert_int_equal(tct_gram_stage_new(&r->w.problem, plan, r->mech, data->cols == P ? width : NULL, &r->stage, &err),
                   TCT_OK);
  for (int k = 0; k < K; k++) {
    tct_wire *wire[2] = {&r->stage->server[k][0], &r->stage->server[k][1]};
    wire[0]->log = wire[1]->log = keep, wire[0]->log_user = &r->down[k], wire[1]->log_user = &r->up[k];
    for (int j = 0; j < k; j++) {
      tct_wire *ends = r->stage->pair[j][k];
      ends[0].log = ends[1].log = keep, ends[0].log_user = &r->across[j][k], ends[1].log_user = &r->across[k][j];
    }
  }
  if (tct_gram_stage_play(r->stage, &r->w.problem, &r->opened, &err) != TCT_OK) fail_msg("%s", err.text);
}

static void drop(run *r) {
  for (int k = 0; k < K; k++) {
    free(r->up[k].bytes), free(r->down[k].bytes);
    for (int j = 0; j < K; j++) free(r->across[k][j].bytes);
  }
  tct_statistics_free(&r->opened);
  tct_gram_stage_free(r->stage);
  tct_mech_free(r->mech);
  world_close(&r->w);
}

static uint64_t word_at(const frames *f, size_t frame_start, size_t i) {
  uint64_t word;
  assert_true(frame_start + HEADER + 8 * (i + 1) <= f->size);
  memcpy(&word, f->bytes + frame_start + HEADER + 8 * i, 8);
  return le64toh(word);
}

/* Words of the mask (purpose, from, to) of a seed as it was sent. */
static void mask_of(const frames *up, tct_mask_purpose purpose, int from, int to, uint64_t *out, int64_t count) {
  tct_mask_seed seed;
  tct_mask mask;
  tct_mask_seed_take(&seed, up->bytes + HEADER, (const unsigned char[TCT_SESSION_ID]){"a simulation"});
  assert_int_equal(tct_mask_open(&mask, &seed, purpose, from, to, count, NULL), TCT_OK);
  assert_int_equal(tct_mask_next(&mask, out, count, NULL), TCT_OK);
}

static uint64_t product(const uint64_t *a, int64_t i, int64_t wide, const uint64_t *b, int64_t j, int64_t tall) {
  uint64_t sum = 0;
  for (int64_t row = 0; row < N; row++) sum += a[row * wide + i] * b[row * tall + j];
  return sum;
}

static void the_frames_are_the_formulas_under_masks_of_the_parties_own_seeds(void **state) {
  (void)state;
  records data = records_new(N, P, 3);
  run r;
  uint64_t a[K][N * P], x[K][N * P], c[P * P];
  play(&r, &data, "gram_parties:parties=3", 9);
  for (int k = 0; k < K; k++) {
    const tct_matrix *m = &r.stage->columns[k].m;
    mask_of(&r.up[k], TCT_MASK_COLUMNS, k, k, a[k], N * width[k]);
    for (int64_t i = 0; i < N * width[k]; i++) {
      double value = r.stage->view[k].row_scale[i / width[k]] *
                     ((const double *)m->values)[i / width[k] * m->stride + i % width[k]];
      x[k][i] = (uint64_t)(int64_t)trunc(ldexp(value, r.stage->set.fraction));
    }
    for (int j = 0; j < K; j++) /* u = x - a, to every peer */
      for (int64_t i = 0; i < N * width[k] && j != k; i++)
        assert_true(word_at(&r.across[k][j], HEADER + 32, (size_t)i) == x[k][i] - a[k][i]);
  }
  for (int k = 0; k < K; k++) {
    size_t at = 0;
    for (int j = 0; j < k; j++) { /* rest = a_j' a_k - c, c from j's seed and of this pair alone */
      mask_of(&r.up[j], TCT_MASK_CORRECTION, j, k, c, width[j] * width[k]);
      for (int64_t i = 0; i < width[j] * width[k]; i++)
        assert_true(word_at(&r.down[k], at, (size_t)i) ==
                    product(a[j], i / width[k], width[j], a[k], i % width[k], width[k]) - c[i]);
      at += HEADER + 8 * (size_t)(width[j] * width[k]);
    }
    assert_int_equal(at, r.down[k].size);
  }
  drop(&r);
  records_free(&data);
}

/* 255 degrees of freedom: 420 is passed by chance once in 10^9. */
static void check_bytes(const char *what, int counts[8][256], double total) {
  for (int b = 0; b < 8; b++) {
    double chi2 = 0;
    for (int v = 0; v < 256; v++) {
      double off = counts[b][v] - total / 256;
      chi2 += off * off / (total / 256);
    }
    if (!(chi2 < 420)) fail_msg("%s: byte %d: chi2 %.0f of 255", what, b, chi2);
  }
}

static void count_bytes(int counts[8][256], uint64_t word) {
  for (int b = 0; b < 8; b++) counts[b][word >> (8 * b) & 255]++;
}

/* On the real ring: every byte that a party or the server receives is even over the seeds, for two data sets. */
static void every_byte_that_is_received_is_even_over_the_seeds(void **state) {
  (void)state;
  enum { SEEDS = 300 };
  for (int plain = 0; plain < 2; plain++) {
    static int columns[8][256], rests[8][256], shares[8][256];
    memset(columns, 0, sizeof columns), memset(rests, 0, sizeof rests), memset(shares, 0, sizeof shares);
    records data = records_new(N, P, 3);
    if (plain) memset(data.x, 0, N * P * sizeof *data.x);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
      run r;
      play(&r, &data, "gram_parties:parties=3", seed);
      for (size_t i = 0; i < (size_t)(N * width[0]); i++)
        count_bytes(columns, word_at(&r.across[0][1], HEADER + 32, i));
      for (size_t i = 0; i < (size_t)(width[0] * width[2]); i++) count_bytes(rests, word_at(&r.down[2], 0, i));
      for (size_t i = 0; i < CELLS; i++) count_bytes(shares, word_at(&r.up[1], HEADER + 32, i));
      drop(&r);
    }
    check_bytes("masked columns", columns, SEEDS * (double)(N * width[0]));
    check_bytes("rests of products", rests, SEEDS * (double)(width[0] * width[2]));
    check_bytes("shares", shares, SEEDS * (double)CELLS);
    records_free(&data);
  }
}

/* ---- what a coalition can tell --------------------------------------------------------------------------------- */

enum { RUNS = 1500, AP = 6, AROWS = 20, ACELLS = AP * (AP + 1) / 2 };

/* The opened sums less the noises of the first T parties, in the norms of the two releases. */
static void coalition_sees(const records *data, const char *solver, int together, uint64_t seed, double *out) {
  run r;
  tct_mech *again = NULL;
  uint64_t noise[ACELLS + AP] = {0};
  play(&r, data, solver, seed);
  assert_int_equal(tct_mech_new(&r.w.plan->solved.promise, TCT_ADD_REMOVE, &seed, &again, NULL), TCT_OK);
  for (int k = 0; k < together; k++) {
    assert_int_equal(tct_mech_join_noise(again, TCT_GRAM_MATRIX, k, noise, ACELLS, NULL), TCT_OK);
    assert_int_equal(tct_mech_join_noise(again, TCT_GRAM_MOMENT, k, noise + ACELLS, AP, NULL), TCT_OK);
  }
  const tct_release *release = r.w.plan->solved.promise.release;
  for (int i = 0, at = 0; i < AP; i++)
    for (int j = i; j < AP; j++, at++)
      out[at] = (i == j ? 1 : M_SQRT2) * (r.opened.gram[i * AP + j] - (double)(int64_t)noise[at] * release[0].lattice) /
                release[0].deviation;
  for (int i = 0; i < AP; i++)
    out[ACELLS + i] =
        (r.opened.moment[i] - (double)(int64_t)noise[ACELLS + i] * release[1].lattice) / release[1].deviation;
  tct_mech_free(again);
  drop(&r);
}

/* Audits a coalition on a record that fills the claim: the likelihood ratio's statistic with and without it. */
static void audit(const char *solver, int together, double *mu, double *error) {
  double view[ACELLS + AP], mean[2] = {0, 0}, square[2] = {0, 0}, way[ACELLS + AP], norm = 0;
  uint64_t runs = (uint64_t)(RUNS / sample_every(3));
  records data[2] = {records_new(AROWS, AP, 5), records_new(AROWS, AP, 5)};
  for (int j = 0; j < AP; j++)
    data[0].x[j] = 1e3, data[1].x[j] = 0; /* the record as long as it may be, and no record */
  for (int i = 0, at = 0; i < AP; i++)
    for (int j = i; j < AP; j++) way[at++] = i == j ? 1 : M_SQRT2;
  for (int i = 0; i < AP; i++) way[ACELLS + i] = data[0].y[0] * sqrt(AP);
  tct_config config = config_of(solver);
  tct_plan *plan = tct_plan_new(&config, AROWS, AP, NULL);
  for (int i = 0; i < ACELLS; i++) way[i] /= AP * plan->solved.promise.release[0].deviation;
  for (int i = 0; i < AP; i++) way[ACELLS + i] /= AP * plan->solved.promise.release[1].deviation;
  tct_plan_free(plan);
  for (int i = 0; i < ACELLS + AP; i++) norm += way[i] * way[i];
  for (int with = 0; with < 2; with++)
    for (uint64_t t = 0; t < runs; t++) {
      double s = 0;
      coalition_sees(&data[with], solver, together, 2 * t + (uint64_t)with, view);
      for (int i = 0; i < ACELLS + AP; i++) s += way[i] * view[i] / sqrt(norm);
      mean[with] += s / (double)runs, square[with] += s * s / (double)runs;
    }
  double spread = sqrt((square[0] - mean[0] * mean[0] + square[1] - mean[1] * mean[1]) / 2);
  *mu = (mean[0] - mean[1]) / spread;
  *error = sqrt((2 + *mu * *mu / 4) / (double)runs); /* of a difference of means, and of the spread */
  records_free(&data[0]), records_free(&data[1]);
}

static void no_coalition_of_the_claimed_size_tells_a_record_better_than_claimed_and_a_larger_one_does(void **state) {
  (void)state;
  static const struct {
    const char *solver;
    int together;
    double of_claim; /* sqrt((K - T)/(K - those together)) */
  } at[] = {{"gram_parties:parties=3,collude=1", 1, 1},
            {"gram_parties:parties=3,collude=2", 2, 1},
            {"gram_parties:parties=3,collude=1", 0, 0.816496580927726},
            {"gram_parties:parties=3,collude=1", 2, 1.4142135623730951}};
  for (size_t t = 0; t < sizeof at / sizeof *at; t++) {
    double mu, error;
    if (!sample_turn((int64_t)t, 2)) continue;
    tct_config config = config_of(at[t].solver);
    tct_plan *plan = tct_plan_new(&config, AROWS, AP, NULL);
    double claim = 1 / plan->solved.noise_multiplier;
    tct_plan_free(plan);
    audit(at[t].solver, at[t].together, &mu, &error);
    print_message("%s, %d together: mu %.4f +- %.4f, claim %.4f\n", at[t].solver, at[t].together, mu, error, claim);
    assert_true(mu < claim * at[t].of_claim + 4.5 * error);
    assert_true(mu > claim * at[t].of_claim * 0.97 - 4.5 * error);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_view_of_two_parties_is_as_likely_whatever_the_third_one_has),
      cmocka_unit_test(on_bytes_every_view_of_a_party_comes_once_for_every_input),
      cmocka_unit_test(on_bytes_no_input_at_all_changes_how_often_a_view_comes),
      cmocka_unit_test(every_shares_with_the_opened_sum_are_as_likely_to_the_server),
      cmocka_unit_test(every_data_with_the_same_opened_sum_explain_a_transcript_of_the_server),
      cmocka_unit_test(the_frames_are_the_formulas_under_masks_of_the_parties_own_seeds),
      cmocka_unit_test(every_byte_that_is_received_is_even_over_the_seeds),
      cmocka_unit_test(no_coalition_of_the_claimed_size_tells_a_record_better_than_claimed_and_a_larger_one_does),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
