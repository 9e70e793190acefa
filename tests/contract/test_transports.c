/* test_transports.c - ranks over sockets, and over a transport that a program brings along: the same bits, the same
 * agreement, and no lost frame that becomes numbers. */
#include "rank_part.h"
#include "worlds.h"

#include "core/alloc.h"
#include "ranks/ranks.h"
#include "read/table/data.h"
#include "tls/tls.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROWS = 1500, COLS = 4, MOST = 4 };

/* ---- a transport between threads, which can be told to lie ------------------------------------------------------ */

typedef enum lie { HONEST, KEEP_OWN, ZEROS, HALF, STALE } lie;
typedef enum which { ANY, SUM, SUM_FIRST, LARGEST, BROADCAST, GATHER } which;

/* What the threads of one team share. */
typedef struct hall {
  pthread_mutex_t door;
  pthread_cond_t opened;
  int ranks, waiting, round;
  bool broken;
  const void *shown[MOST];
} hall;

typedef struct seat {
  hall *hall;
  int rank;
  lie lie; /* told in the call of this kind number `at` */
  which kind;
  int at, calls;
  bool closed;
} seat;

/* All ranks wait for the last one, or for one that has failed. */
static bool meet(hall *h) {
  pthread_mutex_lock(&h->door);
  int own = h->round;
  if (++h->waiting == h->ranks) {
    h->waiting = 0;
    h->round++;
    pthread_cond_broadcast(&h->opened);
  }
  while (h->round == own && !h->broken) pthread_cond_wait(&h->opened, &h->door);
  bool good = h->round != own;
  pthread_mutex_unlock(&h->door);
  return good;
}

static lie lie_now(seat *s, which kind) { return s->kind == kind && s->lie && ++s->calls == s->at ? s->lie : HONEST; }

/* What a rank receives, or what a lying transport makes of it. */
static void deliver(lie told, void *to, const void *came, size_t size) {
  if (told == KEEP_OWN) return;
  if (told == ZEROS) memset(to, 0, size);
  if (told == HALF) memcpy(to, came, size / 2);
  if (told == STALE) memset(to, 0x11, size);
  if (told == HONEST) memcpy(to, came, size);
}

static int smallest(void *state, int32_t *x, const tct_patience *patience) {
  seat *s = state;
  int32_t own = *x;
  (void)patience;
  s->hall->shown[s->rank] = &own;
  if (!meet(s->hall)) return TCT_TRANSPORT_FAILED;
  for (int r = 0; r < s->hall->ranks; r++) {
    int32_t other = *(const int32_t *)s->hall->shown[r];
    *x = other < *x ? other : *x;
  }
  return meet(s->hall) ? TCT_TRANSPORT_DONE : TCT_TRANSPORT_FAILED;
}

static int reduce(seat *s, double *x, int64_t n, which kind) {
  double *all = malloc((size_t)n * sizeof *all + 1);
  s->hall->shown[s->rank] = x;
  bool good = meet(s->hall);
  if (good) memcpy(all, x, (size_t)n * sizeof *all);
  for (int k = 1; k < s->hall->ranks && good; k++) {
    const double *other = s->hall->shown[(s->rank + k) % s->hall->ranks];
    for (int64_t j = 0; j < n; j++) all[j] = kind == LARGEST ? fmax(all[j], other[j]) : all[j] + other[j];
  }
  good = good && meet(s->hall);
  if (good) deliver(lie_now(s, kind), x, all, (size_t)n * sizeof *x);
  free(all);
  return good ? TCT_TRANSPORT_DONE : TCT_TRANSPORT_FAILED;
}

static int sum(void *state, double *x, int64_t n, const tct_patience *patience) {
  (void)patience;
  return reduce(state, x, n, SUM);
}
static int sum_first(void *state, double *x, int64_t n, const tct_patience *patience) {
  (void)patience;
  return reduce(state, x, n, SUM_FIRST);
}
static int largest(void *state, double *x, int64_t n, const tct_patience *patience) {
  (void)patience;
  return reduce(state, x, n, LARGEST);
}

static int broadcast(void *state, void *bytes, int64_t size, int32_t from, const tct_patience *patience) {
  seat *s = state;
  (void)patience;
  if (s->rank == from) s->hall->shown[from] = bytes;
  bool good = meet(s->hall);
  if (good && s->rank != from) deliver(lie_now(s, BROADCAST), bytes, s->hall->shown[from], (size_t)size);
  return good && meet(s->hall) ? TCT_TRANSPORT_DONE : TCT_TRANSPORT_FAILED;
}

static int gather(void *state, const void *own, void *all, int64_t size, const tct_patience *patience) {
  seat *s = state;
  (void)patience;
  s->hall->shown[s->rank] = own;
  bool good = meet(s->hall);
  lie told = lie_now(s, GATHER);
  for (int r = 0; r < s->hall->ranks && good; r++)
    deliver(r == s->hall->ranks - 1 ? told : HONEST, (char *)all + r * size, s->hall->shown[r], (size_t)size);
  return good && meet(s->hall) ? TCT_TRANSPORT_DONE : TCT_TRANSPORT_FAILED;
}

static void leave(void *state, int32_t clean) {
  seat *s = state;
  s->closed = true;
  pthread_mutex_lock(&s->hall->door);
  s->hall->broken = s->hall->broken || !clean;
  pthread_cond_broadcast(&s->hall->opened);
  pthread_mutex_unlock(&s->hall->door);
}

static tct_transport transport_of(seat *s) {
  return (tct_transport){.size = sizeof(tct_transport),
                         .rank = s->rank,
                         .ranks = s->hall->ranks,
                         .state = s,
                         .smallest = smallest,
                         .sum = sum,
                         .sum_first = sum_first,
                         .largest = largest,
                         .broadcast = broadcast,
                         .gather = gather,
                         .close = leave};
}

/* ---- one run ---------------------------------------------------------------------------------------------------- */

typedef enum way { ALONE, OVER, SOCKETS } way;

static const char secret[] = "thirty-two bytes of a test secret";

typedef struct task {
  int rank, ranks;
  way way;
  seat seat;
  tct_sockets sockets;
  char address[64];
  tct_config config;
  const tct_matrix *x;
  const double *y;
  const int64_t *rows; /* of each rank */
  double w[COLS + 1];
  bool made;
  tct_error err;
} task;

static tct_team *team_of(task *t) {
  tct_transport over = transport_of(&t->seat);
  if (t->way == ALONE) return tct_team_new(&t->err);
  return t->way == OVER ? tct_team_over(&over, &t->err) : tct_team_sockets(&t->sockets, &t->err);
}

static void *run_rank(void *user) {
  task *t = user;
  tct_team *team = team_of(t);
  tct_matrix whole = *t->x;
  tct_data *data = team ? tct_data_view(&whole, t->y, TCT_LABELS_REAL, NULL, NULL, &t->err) : NULL;
  tct_plan *plan = NULL;
  tct_model *model = NULL;
  if (data) {
    describe_part(data, team, t->rank, t->ranks, t->rows);
    data->labels = tct_config_labels(&t->config);
    plan = tct_plan_new(&t->config, tct_data_rank_rows(data, -1), COLS, &t->err);
  }
  if (plan) model = tct_fit(plan, data, &t->err);
  t->made = model != NULL;
  if (model) {
    memcpy(t->w, tct_model_coefficients(model), COLS * sizeof(double));
    t->w[COLS] = *tct_model_intercepts(model);
  }
  tct_model_free(model);
  tct_plan_free(plan);
  tct_data_free(data);
  tct_team_free(team);
  return NULL;
}

static int listener(int *port) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(bind(s, (struct sockaddr *)&at, sizeof at), 0);
  assert_int_equal(listen(s, 64), 0);
  assert_int_equal(getsockname(s, (struct sockaddr *)&at, &size), 0);
  *port = ntohs(at.sin_port);
  return s;
}

typedef struct crew {
  hall hall;
  task task[MOST];
  int ranks, port;
} crew;

static void crew_make(crew *c, way how, int ranks, const int64_t *rows, const tct_config *config, const tct_matrix *x,
                      const double *y) {
  memset(c, 0, sizeof *c);
  c->ranks = ranks;
  c->hall = (hall){.door = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER, .ranks = ranks};
  int s = how == SOCKETS ? listener(&c->port) : -1;
  for (int k = 0; k < ranks; k++) {
    task *t = &c->task[k];
    *t = (task){.rank = k, .ranks = ranks, .way = how, .config = *config, .x = x, .y = y, .rows = rows};
    t->seat = (seat){.hall = &c->hall, .rank = k};
    tct_sockets_default(&t->sockets);
    t->sockets.rank = k;
    t->sockets.ranks = ranks;
    t->sockets.secret_text = secret;
    t->sockets.timeout = 60;
    if (k == 0) t->sockets.listener = s;
    snprintf(t->address, sizeof t->address, "127.0.0.1:%d", c->port);
    t->sockets.address = t->address;
  }
}

static void crew_run(crew *c) {
  pthread_t thread[MOST];
  for (int k = 0; k < c->ranks; k++) assert_int_equal(pthread_create(&thread[k], NULL, run_rank, &c->task[k]), 0);
  for (int k = 0; k < c->ranks; k++) pthread_join(thread[k], NULL);
}

static const int64_t cuts[][MOST] = {{768, 732}, {256, 1024, 220}, {0, 512, 768, 220}};

/* ---- the same bits ---------------------------------------------------------------------------------------------- */

static void same_bits(const char *loss, const char *penalty, const char *solver) {
  static crew one, many;
  records r = records_new(ROWS, COLS, 5);
  tct_matrix x = records_matrix(&r);
  tct_config config = world_config(loss, penalty, solver);
  config.intercept = 1;
  int64_t all[] = {ROWS};
  crew_make(&one, ALONE, 1, all, &config, &x, r.y);
  crew_run(&one);
  if (!one.task[0].made) fail_msg("%s: %s", solver, one.task[0].err.text);
  for (int c = 0; c < 3; c++)
    for (way how = OVER; how <= SOCKETS; how++) {
      crew_make(&many, how, c + 2, cuts[c], &config, &x, r.y);
      crew_run(&many);
      for (int k = 0; k < many.ranks; k++) {
        if (!many.task[k].made) fail_msg("%s, way %d: rank %d: %s", solver, (int)how, k, many.task[k].err.text);
        if (memcmp(many.task[k].w, one.task[0].w, sizeof one.task[0].w) != 0)
          fail_msg("%s, way %d, %d ranks: rank %d has another model", solver, (int)how, many.ranks, k);
      }
    }
  records_free(&r);
}

static void sockets_and_a_transport_of_ones_own_make_the_model_of_one_process(void **state) {
  (void)state;
  same_bits("logistic", "l2:lambda=0.01", "dpmetric:steps=5");
  same_bits("squared", "none", "dpgd:steps=10");
  same_bits("logistic", "l2:lambda=0.01", "dpsgd:epochs=2,batch=150");
  same_bits("huber", "l1:lambda=0.001", "dpcd:outer=1");
  same_bits("logistic", "l1ball:radius=3", "dpfw:steps=10");
  same_bits("logistic", "l2:lambda=0.01", "objpert");
}

/* ---- one program ------------------------------------------------------------------------------------------------ */

static void ranks_that_differ_in_an_option_or_a_seed_make_no_model_on_any_transport(void **state) {
  (void)state;
  static crew c;
  records r = records_new(ROWS, COLS, 5);
  tct_matrix x = records_matrix(&r);
  tct_config config = world_config("logistic", "l2:lambda=0.01", "dpgd:steps=5");
  for (way how = OVER; how <= SOCKETS; how++)
    for (int what = 0; what < 4; what++) {
      static const char *const named[] = {"epsilon", "the seed", "the row norm", "the solver"};
      crew_make(&c, how, 3, cuts[1], &config, &x, r.y);
      tct_config *other = &c.task[2].config;
      if (what == 0) other->epsilon *= 1 + 1e-15;
      if (what == 1) other->seed++;
      if (what == 2) other->row_norm *= 2;
      if (what == 3) other->solver = "dpgd:steps=6";
      crew_run(&c);
      for (int k = 0; k < 3; k++) {
        assert_false(c.task[k].made);
        assert_int_equal(c.task[k].err.status, TCT_E_USAGE);
        if (!strstr(c.task[k].err.text, named[what]) || !strstr(c.task[k].err.text, "rank 2 differs"))
          fail_msg("%s: %s", named[what], c.task[k].err.text);
      }
    }
  records_free(&r);
}

/* ---- lost frames ------------------------------------------------------------------------------------------------ */

static void a_frame_that_a_transport_loses_ends_the_run_and_is_never_taken_for_numbers(void **state) {
  (void)state;
  static crew c;
  int told = 0;
  records r = records_new(ROWS, COLS, 5);
  tct_matrix x = records_matrix(&r);
  tct_config config = world_config("logistic", "l2:lambda=0.01", "dpmetric:steps=3");
  for (which kind = SUM; kind <= GATHER; kind++)
    for (lie how = KEEP_OWN; how <= STALE; how++)
      for (int at = 1; at <= 5; at += 2) {
        int liar = kind == SUM_FIRST ? 0 : 1;
        crew_make(&c, OVER, 3, cuts[1], &config, &x, r.y);
        seat *s = &c.task[liar].seat;
        s->lie = how, s->kind = kind, s->at = at;
        crew_run(&c);
        if (s->calls < at) continue; /* there are fewer calls of that kind */
        told++;
        for (int k = 0; k < 3; k++) {
          if (c.task[k].made) fail_msg("call %d, lie %d, number %d: rank %d has a model", (int)kind, (int)how, at, k);
          assert_int_equal(c.task[k].err.status, TCT_E_RUN);
          assert_true(c.task[k].seat.closed);
        }
        assert_non_null(strstr(c.task[liar].err.text, "lost or damaged"));
      }
  assert_true(told >= 4 * 6);
  records_free(&r);
}

/* ---- what happens on the wire --------------------------------------------------------------------------------------
 */

/* Stands between rank 1 and rank 0.  After `at` bytes in one direction it does what it is there for. */
typedef struct relay {
  int listener, to; /* port of rank 0 */
  int64_t at;
  bool back; /* the direction: from rank 0 */
  enum { FLIP, CUT, MORE, TWICE } what;
  bool done;
  int64_t passed[2]; /* bytes to rank 0, and back */
} relay;

static int connect_port(int port) {
  struct sockaddr_in at = {
      .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
  int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return connect(s, (struct sockaddr *)&at, sizeof at) == 0 ? s : -1;
}

static bool put_all(int s, const char *bytes, ssize_t size) {
  for (ssize_t at = 0; at < size;) {
    ssize_t done = send(s, bytes + at, (size_t)(size - at), MSG_NOSIGNAL);
    if (done <= 0) return false;
    at += done;
  }
  return true;
}

static bool tamper(relay *r, char *bytes, ssize_t *size, int to, int64_t passed) {
  if (r->done || passed + *size <= r->at) return true;
  int64_t here = r->at - passed;
  r->done = true;
  if (r->what == CUT) { /* in the middle of a message */
    (void)put_all(to, bytes, here);
    return false;
  }
  if (r->what == FLIP) bytes[here] ^= 4;
  if (r->what == TWICE) return put_all(to, bytes, *size);
  if (r->what == MORE) memmove(bytes + here + 1, bytes + here, (size_t)(*size - here)), ++*size;
  return true;
}

static void *run_relay(void *user) {
  relay *r = user;
  char bytes[4096];
  int in = accept(r->listener, NULL, NULL), out = connect_port(r->to);
  struct pollfd p[2] = {{.fd = in, .events = POLLIN}, {.fd = out, .events = POLLIN}};
  for (bool good = in >= 0 && out >= 0; good && poll(p, 2, -1) > 0;)
    for (int side = 0; side < 2 && good; side++) {
      if (!p[side].revents) continue;
      ssize_t size = recv(p[side].fd, bytes, sizeof bytes - 1, 0);
      good = size > 0;
      ssize_t came = size;
      if (good && side == r->back) good = tamper(r, bytes, &size, p[!side].fd, r->passed[side]);
      good = good && put_all(p[!side].fd, bytes, size);
      r->passed[side] += came;
    }
  close(in);
  close(out);
  close(r->listener);
  return NULL;
}

/* Runs with a relay; true: a model was made. */
static bool relayed(crew *c, relay *r) {
  pthread_t thread;
  int port = 0;
  r->listener = listener(&port);
  r->to = c->port;
  snprintf(c->task[1].address, sizeof c->task[1].address, "127.0.0.1:%d", port);
  bool honest = r->at == INT64_MAX; /* nobody is waited for in vain */
  for (int k = 0; k < c->ranks; k++) c->task[k].sockets.timeout = honest ? 60 : 1;
  assert_int_equal(pthread_create(&thread, NULL, run_relay, r), 0);
  crew_run(c);
  shutdown(r->listener, SHUT_RDWR); /* nobody may have come */
  pthread_join(thread, NULL);
  int made = 0;
  for (int k = 0; k < c->ranks; k++) made += c->task[k].made;
  return made > 0; /* one would be wrong already */
}

static void what_is_changed_cut_off_added_or_repeated_on_the_wire_leaves_no_model(void **state) {
  (void)state;
  static crew c;
  records r = records_new(ROWS, COLS, 5);
  tct_matrix x = records_matrix(&r);
  tct_config config = world_config("logistic", "l2:lambda=0.01", "dpgd:steps=5");
  relay honest = {.at = INT64_MAX};
  crew_make(&c, SOCKETS, 3, cuts[1], &config, &x, r.y);
  assert_true(relayed(&c, &honest));
  /* what comes last is the word that all have agreed, and the goodbye: then rank 0 may have its model */
  int64_t most = (honest.passed[0] < honest.passed[1] ? honest.passed[0] : honest.passed[1]) - 60;
  assert_true(most > 500);
  for (int64_t at = 3; at < most; at += at < 500 ? 111 : 23)
    for (int what = FLIP; what <= TWICE; what++) {
      if (what != FLIP && at > 500 && at % 5) continue;
      relay bad = {.at = at, .what = what, .back = at % 2};
      crew_make(&c, SOCKETS, 3, cuts[1], &config, &x, r.y);
      if (relayed(&c, &bad)) fail_msg("byte %lld, kind %d: a model was made", (long long)at, what);
      assert_true(bad.done);
      for (int k = 0; k < 3; k++) assert_int_equal(c.task[k].err.status, TCT_E_RUN);
    }
  records_free(&r);
}

/* ---- NaN ----------------------------------------------------------------------------------------------------------
 */

static void *ask_the_largest(void *user) {
  task *t = user;
  tct_team *team = team_of(t);
  double x[2] = {t->rank == 1 ? NAN : 1 + t->rank, t->rank};
  if (team && tct_team_largest(team, x, 2, &t->err) == TCT_OK) memcpy(t->w, x, sizeof x);
  tct_team_free(team);
  return NULL;
}

static void a_largest_that_one_rank_does_not_know_is_infinite_on_all(void **state) {
  (void)state;
  static crew c;
  tct_config config = world_config("logistic", "none", "dpgd");
  for (way how = OVER; how <= SOCKETS; how++) {
    pthread_t thread[MOST];
    crew_make(&c, how, 3, cuts[1], &config, NULL, NULL);
    for (int k = 0; k < 3; k++) assert_int_equal(pthread_create(&thread[k], NULL, ask_the_largest, &c.task[k]), 0);
    for (int k = 0; k < 3; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < 3; k++) assert_true(isinf(c.task[k].w[0]) && c.task[k].w[1] == 2);
  }
}

/* ---- who may come -------------------------------------------------------------------------------------------------
 */

static void who_lacks_the_secret_or_has_another_number_of_ranks_is_not_taken(void **state) {
  (void)state;
  static crew c;
  records r = records_new(ROWS, COLS, 5);
  tct_matrix x = records_matrix(&r);
  tct_config config = world_config("logistic", "l2:lambda=0.01", "dpgd:steps=5");
  for (int what = 0; what < 3; what++) {
    crew_make(&c, SOCKETS, 3, cuts[1], &config, &x, r.y);
    for (int k = 0; k < 3; k++) c.task[k].sockets.timeout = 6;
    if (what == 0) c.task[2].sockets.secret_text = "thirty-two bytes of another secret";
    if (what == 1) c.task[2].sockets.ranks = 4;
    if (what == 2) c.task[2].sockets.rank = 1; /* there are two of that number, and none of another */
    crew_run(&c);
    for (int k = 0; k < 3; k++) assert_false(c.task[k].made);
    assert_non_null(strstr(c.task[0].err.text, "did not come"));
    if (what < 2) assert_non_null(strstr(c.task[2].err.text, "does not take rank"));
  }
  records_free(&r);
}

typedef struct crowd {
  int port, count;
  int socket[400];
} crowd;

/* Idle connections, and some that say rubbish. */
static void crowd_come(crowd *all) {
  char rubbish[200];
  memset(rubbish, 'T', sizeof rubbish);
  memcpy(rubbish, "TCTRANK1", 8);
  for (int k = 0; k < all->count; k++) {
    all->socket[k] = connect_port(all->port);
    if (all->socket[k] >= 0 && k % 2) (void)!send(all->socket[k], rubbish, (size_t)(1 + k % 200), MSG_NOSIGNAL);
  }
}

static void strangers_that_say_nothing_or_rubbish_keep_no_rank_out(void **state) {
  (void)state;
  static crew c;
  static crowd all = {.count = 400};
  records r = records_new(ROWS, COLS, 5);
  tct_matrix x = records_matrix(&r);
  tct_config config = world_config("logistic", "l2:lambda=0.01", "dpgd:steps=5");
  pthread_t thread[3];
  crew_make(&c, SOCKETS, 3, cuts[1], &config, &x, r.y);
  all.port = c.port;
  assert_int_equal(pthread_create(&thread[0], NULL, run_rank, &c.task[0]), 0);
  crowd_come(&all);
  for (int k = 1; k < 3; k++) assert_int_equal(pthread_create(&thread[k], NULL, run_rank, &c.task[k]), 0);
  for (int k = 0; k < 3; k++) pthread_join(thread[k], NULL);
  for (int k = 0; k < all.count; k++)
    if (all.socket[k] >= 0) close(all.socket[k]);
  for (int k = 0; k < 3; k++)
    if (!c.task[k].made) fail_msg("rank %d: %s", k, c.task[k].err.text);
  records_free(&r);
}

static void what_no_team_can_be_made_of_is_refused_with_a_sentence(void **state) {
  (void)state;
  tct_error err;
  hall h = {.ranks = 2};
  seat s = {.hall = &h};
  tct_transport t = transport_of(&s);
  t.ranks = 1;
  assert_null(tct_team_over(&t, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  t = transport_of(&s), t.sum = NULL;
  assert_null(tct_team_over(&t, &err));
  assert_non_null(strstr(err.text, "call of the transport is missing"));
  t = transport_of(&s), t.size = 8;
  assert_null(tct_team_over(&t, &err));
  assert_false(s.closed);
  tct_sockets o;
  tct_sockets_default(&o);
  o.ranks = 2, o.address = "127.0.0.1:1", o.secret_text = "short";
  assert_null(tct_team_sockets(&o, &err));
  assert_non_null(strstr(err.text, "shorter than 32 bytes"));
  o.secret_text = secret, o.address = "nowhere";
  assert_null(tct_team_sockets(&o, &err));
  assert_non_null(strstr(err.text, "not HOST:PORT"));
  o.rank = 1, o.timeout = 1, o.address = "127.0.0.1:1";
  assert_null(tct_team_sockets(&o, &err));
  assert_non_null(strstr(err.text, "does not answer"));
}

int main(void) {
  const tct_tls *tls = NULL;
  if (tct_tls_load(&tls, NULL) != TCT_OK) {
    printf("skipped: libtacit_tls.so is not there\n");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_largest_that_one_rank_does_not_know_is_infinite_on_all),
      cmocka_unit_test(sockets_and_a_transport_of_ones_own_make_the_model_of_one_process),
      cmocka_unit_test(ranks_that_differ_in_an_option_or_a_seed_make_no_model_on_any_transport),
      cmocka_unit_test(a_frame_that_a_transport_loses_ends_the_run_and_is_never_taken_for_numbers),
      cmocka_unit_test(what_is_changed_cut_off_added_or_repeated_on_the_wire_leaves_no_model),
      cmocka_unit_test(who_lacks_the_secret_or_has_another_number_of_ranks_is_not_taken),
      cmocka_unit_test(strangers_that_say_nothing_or_rubbish_keep_no_rank_out),
      cmocka_unit_test(what_no_team_can_be_made_of_is_refused_with_a_sentence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
