/* test_gram_wire.c - secure sums between parties side by side: what is opened, what breaks, what is refused. */
#include "worlds.h"

#include "parties/gram_parties.h"

#include "pipes.h"

enum { MOST = 5 };

/* A server and K parties, each with a gate and wires of its own, in threads. */
typedef struct table {
  world w;
  tct_mech *simulated;
  tct_gram_stage *stage; /* who has which records; its own wires are not used */
  int count;
  tct_mech *mech[MOST + 1];
  tct_ring_party *ring[MOST];
  tct_ring_server *opener;
  tct_gram_party party[MOST];
  tct_wire up[MOST], down[MOST], peer[MOST][MOST]; /* party k's end, the server's; peer[j][k]: j's end */
  tct_statistics opened;
  tct_status status[MOST + 1];
  tct_error err[MOST + 1];
  pthread_t thread[MOST + 1];
} table;

typedef struct seat {
  table *at;
  int k; /* at->count: the server */
} seat;

static const int to_server[] = {TCT_RING_SEED, TCT_RING_SHARE, 0};

static void link_all(table *t, const tct_wire_backend *backend) {
  for (int k = 0; k < t->count; k++) {
    pipe_pair(&t->down[k], &t->up[k], backend);
    t->up[k].allowed = to_server;
    tct_ring_server_link(t->opener, k, (tct_ring_link){&t->down[k], 0});
    tct_ring_party_link(t->ring[k], TCT_SERVER, (tct_ring_link){&t->up[k], TCT_SERVER});
    for (int j = 0; j < k; j++) {
      pipe_pair(&t->peer[j][k], &t->peer[k][j], backend);
      tct_ring_party_link(t->ring[j], k, (tct_ring_link){&t->peer[j][k], 0});
      tct_ring_party_link(t->ring[k], j, (tct_ring_link){&t->peer[k][j], TCT_SERVER});
    }
  }
}

static void open_gates(table *t, uint64_t seed) {
  tct_ring_place place = {.parties = t->count, .seeds = TCT_RING_APART, .session = "a test"};
  const tct_solver_plan *plan = &t->w.plan->solved;
  for (int k = 0; k <= t->count; k++) {
    tct_promise own = {0};
    assert_int_equal(tct_gram_promise(plan, k < t->count ? k : TCT_GRAM_SERVER, &own, NULL), TCT_OK);
    assert_int_equal(tct_mech_new(&own, TCT_ADD_REMOVE, &seed, &t->mech[k], NULL), TCT_OK);
    tct_promise_free(&own);
    place.self = k;
    if (k < t->count) assert_int_equal(tct_ring_party_new(t->mech[k], &place, &t->ring[k], NULL), TCT_OK);
  }
  assert_int_equal(tct_ring_server_new(t->count, place.session, &t->opener, NULL), TCT_OK);
}

typedef struct ask {
  const char *solver;
  uint64_t seed;
  const int64_t *width;
  const tct_wire_backend *backend;
} ask;

static void lay(table *t, const records *data, ask a) {
  tct_error err = {0};
  memset(t, 0, sizeof *t);
  tct_config config = world_config("squared", "none", a.solver);
  if (world_open(&t->w, data, &config, TCT_DENSE_ROWS, TCT_F64, &err) != TCT_OK) fail_msg("%s", err.text);
  assert_int_equal(tct_mech_new(&t->w.plan->solved.promise, TCT_ADD_REMOVE, &a.seed, &t->simulated, &err), TCT_OK);
  assert_int_equal(tct_gram_stage_new(&t->w.problem, &t->w.plan->solved, t->simulated, a.width, &t->stage, &err),
                   TCT_OK);
  t->count = t->stage->set.count;
  open_gates(t, a.seed);
  link_all(t, a.backend);
  for (int k = 0; k < t->count; k++) {
    tct_gram_place place = t->stage->party[k].place;
    place.ring = t->ring[k];
    assert_int_equal(tct_gram_party_new(&t->stage->set, place, &t->party[k], &err), TCT_OK);
  }
}

/* A role that stops takes its wires with it, as a process does. */
static void hang_up(table *t, int k) {
  for (int j = 0; j < t->count; j++) {
    if (k == t->count) shutdown(pipe_of(&t->down[j])->socket, SHUT_RDWR);
    if (k < t->count && j != k) shutdown(pipe_of(&t->peer[k][j])->socket, SHUT_RDWR);
  }
  if (k < t->count) shutdown(pipe_of(&t->up[k])->socket, SHUT_RDWR);
}

static void *take_seat(void *user) {
  seat *s = user;
  table *t = s->at;
  int k = s->k;
  if (k < t->count) {
    t->status[k] = tct_gram_party_run(&t->party[k], &t->w.problem, &t->err[k]);
  } else {
    tct_gram_server server = t->stage->opener;
    server.ring = t->opener;
    server.mech = t->stage->set.server_noise ? t->mech[k] : NULL;
    t->status[k] = tct_gram_server_deal(&server, &t->err[k]);
    if (t->status[k] == TCT_OK) t->status[k] = tct_gram_server_open(&server, &t->opened, &t->err[k]);
  }
  if (t->status[k] != TCT_OK) hang_up(t, k);
  return NULL;
}

static void play(table *t) {
  seat seats[MOST + 1];
  for (int k = t->count; k >= 0; k--) {
    seats[k] = (seat){t, k};
    assert_int_equal(pthread_create(&t->thread[k], NULL, take_seat, &seats[k]), 0);
  }
  for (int k = 0; k <= t->count; k++) pthread_join(t->thread[k], NULL);
}

static void clear(table *t) {
  for (int k = 0; k < t->count; k++) {
    tct_gram_party_free(&t->party[k]);
    tct_ring_party_free(t->ring[k]);
    tct_wire_close(&t->up[k]), tct_wire_close(&t->down[k]);
    for (int j = 0; j < t->count; j++)
      if (j != k) tct_wire_close(&t->peer[k][j]);
  }
  for (int k = 0; k <= t->count; k++) tct_mech_free(t->mech[k]);
  tct_ring_server_free(t->opener);
  tct_statistics_free(&t->opened);
  tct_gram_stage_free(t->stage);
  tct_mech_free(t->simulated);
  world_close(&t->w);
}

/* ---- what is opened -------------------------------------------------------------------------------------------- */

static void apart_they_open_what_the_simulation_opens_bit_for_bit(void **state) {
  (void)state;
  static const struct {
    const char *solver;
    int64_t width[MOST], rows;
  } at[] = {{"gram_parties:parties=2", {1, 11}, 301},
            {"gram_parties:parties=3,labels=one", {7, 1, 4}, 64},
            {"gram_parties:parties=4,collude=3", {3, 2, 6, 1}, 1},
            {"gram_parties:parties=4,server_noise=yes", {1, 2, 3, 6}, 257},
            {"gram_parties:parties=5,labels=one", {4, 2, 1, 2, 3}, 5000}};
  for (size_t i = 0; i < sizeof at / sizeof *at; i++)
    for (int turns = 0; turns < 2; turns++) {
      records r = records_new(at[i].rows, 12, 3 + i);
      table t;
      tct_statistics simulated = {0};
      lay(&t, &r, (ask){at[i].solver, 9, at[i].width, turns ? &pipes_in_turn : &pipes});
      play(&t);
      for (int k = 0; k <= t.count; k++)
        if (t.status[k] != TCT_OK) fail_msg("%s: %d: %s", at[i].solver, k, t.err[k].text);
      assert_int_equal(tct_gram_stage_play(t.stage, &t.w.problem, &simulated, NULL), TCT_OK);
      assert_memory_equal(t.opened.gram, simulated.gram, 144 * sizeof(double));
      assert_memory_equal(t.opened.moment, simulated.moment, 12 * sizeof(double));
      for (int k = 0; k < t.count + t.stage->set.server_noise; k++)
        assert_int_equal(tct_mech_spent_exactly(t.mech[k], NULL), TCT_OK);
      tct_statistics_free(&simulated);
      clear(&t);
      records_free(&r);
    }
}

/* Blocks larger than what a socket holds, from both ends at once. */
static void two_who_both_have_much_to_say_do_not_wait_for_each_other(void **state) {
  (void)state;
  static const int64_t width[3] = {60, 60, 60};
  records r = records_new(9000, 180, 3);
  table t;
  lay(&t, &r, (ask){"gram_parties:parties=3", 9, width, &pipes});
  play(&t);
  for (int k = 0; k <= 3; k++) assert_int_equal(t.status[k], TCT_OK);
  clear(&t);
  records_free(&r);
}

/* ---- who comes first ------------------------------------------------------------------------------------------- */

enum { SEEDS, SHARES };

/* Frames to the server arrive in this order of parties: seeds in one, shares in another. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t moved;
  int order[2][MOST], arrived[2];
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};

static int flight_of(const void *frame) {
  int type = ((const unsigned char *)frame)[4];
  return type == TCT_RING_SEED ? SEEDS : type == TCT_RING_SHARE ? SHARES : -1;
}

/* The binding, which nothing here asks for, holds the party's number. */
static tct_status send_in_order(tct_wire *wire, int to, const void *bytes, size_t size, tct_error *err) {
  int self = pipe_of(wire)->binding[0], flight = flight_of(bytes);
  if (flight < 0 || !self) return pipe_send(wire, to, bytes, size, err);
  pthread_mutex_lock(&queue.lock);
  while (queue.order[flight][queue.arrived[flight]] != self - 1) pthread_cond_wait(&queue.moved, &queue.lock);
  tct_status status = pipe_send(wire, to, bytes, size, err);
  queue.arrived[flight]++;
  pthread_cond_broadcast(&queue.moved);
  pthread_mutex_unlock(&queue.lock);
  return status;
}

static const tct_wire_backend pipes_in_order = {
    .send = send_in_order, .receive = pipe_receive, .swap = pipe_swap, .close = pipe_close};

/* The i-th order of so many: each place takes one of those that are left. */
static void nth_order(int i, int count, int *order) {
  int left[MOST];
  for (int k = 0; k < count; k++) left[k] = k;
  for (int k = 0; k < count; k++) {
    int at = i % (count - k);
    i /= count - k;
    order[k] = left[at];
    memmove(left + at, left + at + 1, (size_t)(count - k - at - 1) * sizeof *left);
  }
}

static void play_in_order(const records *data, ask a, int seeds, int shares, const tct_statistics *expected) {
  table t;
  a.backend = &pipes_in_order;
  lay(&t, data, a);
  nth_order(seeds, t.count, queue.order[SEEDS]);
  nth_order(shares, t.count, queue.order[SHARES]);
  queue.arrived[SEEDS] = queue.arrived[SHARES] = 0;
  for (int k = 0; k < t.count; k++) pipe_of(&t.up[k])->binding[0] = (unsigned char)(1 + k);
  play(&t);
  for (int k = 0; k <= t.count; k++)
    if (t.status[k] != TCT_OK) fail_msg("orders %d, %d: %d: %s", seeds, shares, k, t.err[k].text);
  assert_int_equal(queue.arrived[SEEDS], t.count);
  assert_int_equal(queue.arrived[SHARES], t.count);
  assert_memory_equal(t.opened.gram, expected->gram, 36 * sizeof(double));
  assert_memory_equal(t.opened.moment, expected->moment, 6 * sizeof(double));
  clear(&t);
}

static void whatever_the_orders_of_seeds_and_shares_the_same_sum_is_opened(void **state) {
  (void)state;
  static const int64_t width[2][MOST] = {{1, 3, 2}, {2, 1, 1, 2}};
  static const char *const solver[2] = {"gram_parties:parties=3", "gram_parties:parties=4,labels=one"};
  records r = records_new(9, 6, 3);
  for (int four = 0; four < 2; four++) {
    int orders = four ? 24 : 6;
    ask a = {solver[four], 9, width[four], &pipes};
    table t;
    tct_statistics expected = {0};
    lay(&t, &r, a);
    assert_int_equal(tct_gram_stage_play(t.stage, &t.w.problem, &expected, NULL), TCT_OK);
    clear(&t);
    for (int seeds = 0; seeds < orders; seeds++)
      for (int shares = 0; shares < orders; shares++) play_in_order(&r, a, seeds, shares, &expected);
    tct_statistics_free(&expected);
  }
  records_free(&r);
}

/* ---- masks ----------------------------------------------------------------------------------------------------- */

typedef struct kept {
  unsigned char seed[32], first[32], key[32]; /* of party 0 */
} kept;

static tct_status keep(void *user, int to, const void *frame, size_t size, tct_error *err) {
  const unsigned char *f = frame;
  kept *k = user;
  int type = f[4] | f[5] << 8;
  (void)to, (void)size, (void)err;
  memcpy(type == TCT_RING_SEED ? k->seed : type == TCT_RING_PUBLIC ? k->key : k->first, f + TCT_FRAME_HEADER, 32);
  return TCT_OK;
}

/* The gate's seed is one, the session's name too: a retry, a restart, a server that names two sessions alike. */
static void no_mask_is_used_in_two_sessions_whatever_else_is_the_same(void **state) {
  (void)state;
  static const int64_t width[2] = {6, 6};
  records r = records_new(40, 12, 3);
  kept k[2];
  unsigned char share[2][32]; /* of party 0: begins with sums over its own columns, and noise from one seed */
  for (int i = 0; i < 2; i++) {
    table t;
    kept other;
    lay(&t, &r, (ask){"gram_parties:parties=2", 9, width, &pipes});
    t.peer[0][1].log = keep, t.peer[0][1].log_user = &k[i];
    t.up[0].log = keep, t.up[0].log_user = &other;
    play(&t);
    memcpy(k[i].seed, other.seed, 32);
    memcpy(share[i], other.first, 32);
    clear(&t);
  }
  assert_memory_not_equal(k[0].seed, k[1].seed, 32);
  assert_memory_not_equal(k[0].first, k[1].first, 32);
  assert_memory_not_equal(k[0].key, k[1].key, 32);
  assert_memory_not_equal(share[0], share[1], 32);
  records_free(&r);
}

/* Below the ring, which has its own check, the wire to the server knows what may leave. */
static void a_wire_to_the_server_takes_no_masked_columns(void **state) {
  (void)state;
  static const int64_t width[2] = {6, 6};
  records r = records_new(40, 12, 3);
  table t;
  tct_error err = {0};
  uint64_t word[4] = {0};
  const tct_swap both = {TCT_RING_COLUMNS, word, sizeof word, word, sizeof word};
  lay(&t, &r, (ask){"gram_parties:parties=2", 9, width, &pipes});
  assert_int_equal(tct_wire_send(&t.up[0], TCT_SERVER, TCT_RING_COLUMNS, word, sizeof word, &err), TCT_E_RUN);
  assert_int_equal(tct_wire_swap(&t.up[0], TCT_SERVER, &both, &err), TCT_E_RUN);
  assert_int_equal(t.up[0].bytes_sent, 0);
  assert_int_equal(tct_wire_send(&t.up[0], TCT_SERVER, TCT_RING_SEED, word, sizeof word, &err), TCT_OK);
  clear(&t);
  records_free(&r);
}

/* ---- what breaks ----------------------------------------------------------------------------------------------- */

/* The wire of one role breaks at its n-th operation.  Everybody ends; the sum is opened if and only if all went well;
 * and no share has left whose noise was not charged. */
static int broken_at(const records *r, const tct_wire_backend *backend, int who, int n) {
  static const int64_t width[3] = {5, 3, 4};
  pipe_fault fault = {.breaks_at = n};
  table t;
  lay(&t, r, (ask){"gram_parties:parties=3", 9, width, backend});
  for (int k = 0; k < 3; k++) {
    if (who == 3) pipe_of(&t.down[k])->fault = &fault;
    if (who < 3) pipe_of(&t.up[who])->fault = &fault;
    if (who < 3 && k != who) pipe_of(&t.peer[who][k])->fault = &fault;
  }
  play(&t);
  bool broke = fault.operations >= n;
  if (broke != (t.status[who] != TCT_OK)) fail_msg("role %d: operation %d: %s", who, n, t.err[who].text);
  if (broke && who < 3) assert_int_not_equal(t.status[3], TCT_OK);
  if (t.status[3] == TCT_OK) assert_non_null(t.opened.gram);
  if (t.status[3] != TCT_OK) assert_null(t.opened.gram);
  for (int k = 0; k < 3; k++) {
    bool left = t.up[k].sent[TCT_SERVER + 1] > 1; /* the seed, then the share */
    if (left) assert_int_equal(tct_mech_spent_exactly(t.mech[k], NULL), TCT_OK);
    if (t.status[k] != TCT_OK) assert_true(t.err[k].text[0] != 0);
  }
  clear(&t);
  return broke;
}

static void wherever_a_wire_breaks_all_end_and_nothing_is_opened(void **state) {
  (void)state;
  records r = records_new(150, 12, 3);
  for (int turns = 0; turns < 2; turns++)
    for (int who = 0; who <= 3; who++) {
      int n = 1;
      while (broken_at(&r, turns ? &pipes_in_turn : &pipes, who, n)) n++;
      assert_true(n > 8); /* phases of that role, each of which broke once */
    }
  records_free(&r);
}

/* Each byte of each header that a role sends is changed once: whoever receives it refuses, and no sum is opened. */
static void every_changed_byte_of_every_header_is_refused_by_who_gets_it(void **state) {
  (void)state;
  static const int64_t width[3] = {5, 3, 4};
  records r = records_new(20, 12, 3);
  int tried = 0;
  for (int who = 0; who <= 3; who++)
    for (int n = 1;; n++) {
      size_t at = 0;
      for (; at < TCT_FRAME_HEADER; at++) {
        pipe_fault fault = {.flips_at = n, .flips = at};
        table t;
        lay(&t, &r, (ask){"gram_parties:parties=3", 9, width, &pipes});
        for (int k = 0; k < 3; k++) {
          if (who == 3) pipe_of(&t.down[k])->fault = &fault;
          if (who < 3) pipe_of(&t.up[who])->fault = &fault;
          if (who < 3 && k != who) pipe_of(&t.peer[who][k])->fault = &fault;
        }
        play(&t);
        bool flipped = fault.sends >= n;
        int failed = 0;
        for (int k = 0; k <= 3; k++) failed += t.status[k] != TCT_OK;
        clear(&t);
        if (!flipped) break;
        tried++;
        if (!failed) fail_msg("byte %zu of what role %d sends at %d goes unnoticed", at, who, n);
      }
      if (at < TCT_FRAME_HEADER) break;
    }
  assert_int_equal(tried, TCT_FRAME_HEADER * (3 * (2 + 2 * 2) + 3));
  records_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(apart_they_open_what_the_simulation_opens_bit_for_bit),
      cmocka_unit_test(two_who_both_have_much_to_say_do_not_wait_for_each_other),
      cmocka_unit_test(whatever_the_orders_of_seeds_and_shares_the_same_sum_is_opened),
      cmocka_unit_test(no_mask_is_used_in_two_sessions_whatever_else_is_the_same),
      cmocka_unit_test(a_wire_to_the_server_takes_no_masked_columns),
      cmocka_unit_test(wherever_a_wire_breaks_all_end_and_nothing_is_opened),
      cmocka_unit_test(every_changed_byte_of_every_header_is_refused_by_who_gets_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
