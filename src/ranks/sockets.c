/* sockets.c - the ten calls over a star of sockets: the parts go to rank 0, which puts them together and answers.
 *
 * A rank is free to leave once rank 0 has said goodbye, which it does when all have.  So whoever goes earlier has
 * failed.  Rank 0 then ends, its connections end with it, and so do the other ranks. */
#define _GNU_SOURCE
#include "ranks/sockets.h"

#include "core/alloc.h"
#include "core/point.h"
#include "core/sized.h"
#include "ranks/ranks.h"
#include "tls/secret.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RANKS = 1024 };

/* ---- the calls ------------------------------------------------------------------------------------------------ */

/* Rank 0's bytes go to all. */
static int answer(tct_star *star, tct_message kind, void *bytes, int64_t size, const tct_patience *patience) {
  int outcome = TCT_TRANSPORT_DONE;
  if (star->rank > 0) return tct_star_receive(star, 0, kind, bytes, size, patience);
  for (int32_t r = 1; r < star->ranks && outcome == TCT_TRANSPORT_DONE; r++)
    outcome = tct_star_send(star, r, kind, bytes, size, patience);
  return outcome;
}

static int smallest(void *state, int32_t *x, const tct_patience *patience) {
  tct_star *star = state;
  int outcome = TCT_TRANSPORT_DONE;
  if (star->rank > 0) outcome = tct_star_send(star, 0, TCT_MESSAGE_SMALLEST, x, sizeof *x, patience);
  for (int32_t r = 1; r < star->ranks && star->rank == 0 && outcome == TCT_TRANSPORT_DONE; r++) {
    int32_t other = 0;
    outcome = tct_star_receive(star, r, TCT_MESSAGE_SMALLEST, &other, sizeof other, patience);
    if (outcome == TCT_TRANSPORT_DONE && other < *x) *x = other;
  }
  return outcome == TCT_TRANSPORT_DONE ? answer(star, TCT_MESSAGE_SMALLEST, x, sizeof *x, patience) : outcome;
}

/* x[n] of rank 0 <- the sum, or the largest, over the ranks. */
static int collect(tct_star *star, tct_message kind, double *x, int64_t n, const tct_patience *patience) {
  for (int64_t at = 0; at < n; at += TCT_PIECE) {
    int64_t count = n - at < TCT_PIECE ? n - at : TCT_PIECE, size = count * (int64_t)sizeof *x;
    double *to = x + at;
    if (star->rank > 0) {
      int outcome = tct_star_send(star, 0, kind, to, size, patience);
      if (outcome != TCT_TRANSPORT_DONE) return outcome;
      continue;
    }
    for (int32_t r = 1; r < star->ranks; r++) {
      int outcome = tct_star_receive(star, r, kind, star->piece, size, patience);
      if (outcome != TCT_TRANSPORT_DONE) return outcome;
      for (int64_t j = 0; j < count; j++)
        to[j] = kind == TCT_MESSAGE_SUM ? to[j] + star->piece[j] : fmax(to[j], star->piece[j]);
    }
  }
  return TCT_TRANSPORT_DONE;
}

static int sum_first(void *state, double *x, int64_t n, const tct_patience *patience) {
  return collect(state, TCT_MESSAGE_SUM, x, n, patience);
}

static int reduce(tct_star *star, tct_message kind, double *x, int64_t n, const tct_patience *patience) {
  int outcome = collect(star, kind, x, n, patience);
  return outcome == TCT_TRANSPORT_DONE ? answer(star, kind, x, n * (int64_t)sizeof *x, patience) : outcome;
}

static int sum(void *state, double *x, int64_t n, const tct_patience *patience) {
  return reduce(state, TCT_MESSAGE_SUM, x, n, patience);
}
static int largest(void *state, double *x, int64_t n, const tct_patience *patience) {
  return reduce(state, TCT_MESSAGE_LARGEST, x, n, patience);
}

static int broadcast(void *state, void *bytes, int64_t size, int32_t from, const tct_patience *patience) {
  tct_star *star = state;
  int outcome = TCT_TRANSPORT_DONE;
  if (star->rank == from && from > 0) return tct_star_send(star, 0, TCT_MESSAGE_BROADCAST, bytes, size, patience);
  if (star->rank > 0) return tct_star_receive(star, 0, TCT_MESSAGE_BROADCAST, bytes, size, patience);
  if (from > 0) outcome = tct_star_receive(star, from, TCT_MESSAGE_BROADCAST, bytes, size, patience);
  for (int32_t r = 1; r < star->ranks && outcome == TCT_TRANSPORT_DONE; r++)
    if (r != from) outcome = tct_star_send(star, r, TCT_MESSAGE_BROADCAST, bytes, size, patience);
  return outcome;
}

static int gather(void *state, const void *own, void *all, int64_t size, const tct_patience *patience) {
  tct_star *star = state;
  int outcome = TCT_TRANSPORT_DONE;
  if (star->rank > 0)
    outcome = tct_star_send(star, 0, TCT_MESSAGE_GATHER, own, size, patience);
  else
    memcpy(all, own, (size_t)size);
  for (int32_t r = 1; r < star->ranks && star->rank == 0 && outcome == TCT_TRANSPORT_DONE; r++)
    outcome = tct_star_receive(star, r, TCT_MESSAGE_GATHER, (char *)all + r * size, size, patience);
  return outcome == TCT_TRANSPORT_DONE ? answer(star, TCT_MESSAGE_GATHER, all, size * star->ranks, patience) : outcome;
}

/* Only rank 0 is connected with the others. */
static int send_one(void *state, int32_t to, const void *bytes, int64_t size, const tct_patience *patience) {
  tct_star *star = state;
  if (star->rank > 0 && to > 0) return TCT_TRANSPORT_FAILED;
  return tct_star_send(star, to, TCT_MESSAGE_SINGLE, bytes, size, patience);
}

static int receive_one(void *state, int32_t from, void *bytes, int64_t size, const tct_patience *patience) {
  tct_star *star = state;
  if (star->rank > 0 && from > 0) return TCT_TRANSPORT_FAILED;
  return tct_star_receive(star, from, TCT_MESSAGE_SINGLE, bytes, size, patience);
}

/* ---- the end --------------------------------------------------------------------------------------------------- */

static void free_star(tct_star *star) {
  for (int32_t r = 0; star->peer && r < star->ranks; r++)
    if (star->peer[r]) star->tls->close(star->peer[r]);
  tct_free(star->peer);
  tct_wipe_free(star->piece, TCT_PIECE, sizeof *star->piece);
  tct_free(star);
}

/* All say goodbye to rank 0, then it says so to each, and lets that one go at once. */
static void say_goodbye(tct_star *star) {
  const tct_patience patience = {.size = sizeof patience, .seconds = INFINITY};
  int32_t word = 0;
  if (star->rank > 0) {
    if (tct_star_send(star, 0, TCT_MESSAGE_GOODBYE, &word, sizeof word, &patience) == TCT_TRANSPORT_DONE)
      (void)tct_star_receive(star, 0, TCT_MESSAGE_GOODBYE, &word, sizeof word, &patience);
    return;
  }
  for (int32_t r = 1; r < star->ranks; r++)
    if (tct_star_receive(star, r, TCT_MESSAGE_GOODBYE, &word, sizeof word, &patience) != TCT_TRANSPORT_DONE) return;
  for (int32_t r = 1; r < star->ranks; r++) {
    (void)tct_star_send(star, r, TCT_MESSAGE_GOODBYE, &word, sizeof word, &patience);
    star->tls->close(star->peer[r]);
    star->peer[r] = NULL;
  }
}

static void close_star(void *state, int32_t clean) {
  if (clean) say_goodbye(state);
  free_star(state);
}

/* ---- the team -------------------------------------------------------------------------------------------------- */

static const tct_sized sockets_kind = TCT_SIZED(tct_sockets, user, "call tct_sockets_default first");

void tct_sockets_default_sized(tct_sockets *options, size_t size) {
  const tct_sockets defaults = {.size = sizeof defaults, .timeout = 60, .listener = -1};
  tct_sized_default(&sockets_kind, options, size, &defaults);
}

static tct_status check(const tct_sockets *o, tct_error *err) {
  if (o->ranks < 2 || o->ranks > MOST_RANKS || o->rank < 0 || o->rank >= o->ranks)
    return tct_fail(err, TCT_E_USAGE,
                    "the number of ranks is 2 to %d, and a rank's own number lies from 0 to one less; correct them",
                    MOST_RANKS);
  if (!o->address && (o->rank > 0 || o->listener < 0))
    return tct_fail(err, TCT_E_USAGE, "no address is given for the ranks to meet at; give one as HOST:PORT");
  const char *colon = o->listener < 0 ? strrchr(o->address, ':') : NULL;
  if (o->listener < 0 && (!colon || colon == o->address || !colon[1]))
    return tct_fail(err, TCT_E_USAGE, "the address %.200s is not HOST:PORT; give e.g. node1:7000", o->address);
  if (!(o->timeout >= 1 && o->timeout <= 86400))
    return tct_fail(err, TCT_E_USAGE, "the time for the ranks to meet lies from 1 to 86400 seconds; correct it");
  if (!o->secret_path == !o->secret_text)
    return tct_fail(err, TCT_E_USAGE, "the ranks need one secret; give a file of 32 random bytes or more");
  return TCT_OK;
}

/* What all ranks have to agree on before they can talk goes into the key.  The bytes of `order` are others on a machine
 * of another byte order, whose numbers would be misread. */
static tct_status make_key(const tct_sockets *o, unsigned char key[TCT_TLS_KEY], tct_error *err) {
  static const uint32_t order = 0x01020304;
  tct_secret secret;
  tct_digest digest;
  tct_status status = tct_secret_read(o->secret_path, o->secret_text, &secret, err);
  if (status == TCT_OK) {
    secret.length = TCT_POINT(any_secret_will_do, secret.length, 1);
    tct_secret_start(&secret, "ranks 2", "key", &digest);
    tct_digest_field(&digest, 'O', &order, sizeof order);
    tct_digest_word(&digest, 'R', (uint64_t)o->ranks);
    tct_digest_end_bytes(&digest, key);
    tct_wipe(&digest, sizeof digest);
  }
  tct_wipe(&secret, sizeof secret);
  return status;
}

static tct_status make_star(const tct_sockets *o, tct_star **out, tct_error *err) {
  tct_star *star = *out = TCT_NEW(tct_star, 1);
  if (!star) return tct_fail_memory(err);
  *star = (tct_star){.rank = o->rank, .ranks = o->ranks, .lost = -1, .timeout = o->timeout};
  star->peer = TCT_NEW(void *, o->ranks);
  star->piece = tct_alloc_unset(TCT_PIECE, sizeof *star->piece);
  return star->peer && star->piece ? TCT_OK : tct_fail_memory(err);
}

static tct_carrier carrier_of(tct_star *star) {
  return (tct_carrier){.calls = {.size = sizeof(tct_transport),
                                 .rank = star->rank,
                                 .ranks = star->ranks,
                                 .state = star,
                                 .smallest = smallest,
                                 .sum = sum,
                                 .sum_first = sum_first,
                                 .largest = largest,
                                 .broadcast = broadcast,
                                 .gather = gather,
                                 .send = send_one,
                                 .receive = receive_one,
                                 .close = close_star},
                       .lost = &star->lost};
}

static tct_status meet(const tct_sockets *o, tct_star **star, tct_error *err) {
  unsigned char key[TCT_TLS_KEY];
  tct_status status = make_key(o, key, err);
  if (status == TCT_OK) status = make_star(o, star, err);
  if (status == TCT_OK) status = tct_star_meet(*star, o, key, err);
  tct_wipe(key, sizeof key);
  return status;
}

tct_team *tct_team_sockets(const tct_sockets *options, tct_error *err) {
  tct_sockets own;
  tct_star *star = NULL;
  tct_team *team = NULL;
  tct_sockets_default(&own);
  tct_error_clear(err);
  tct_status status = tct_sized_take(&sockets_kind, options, &own, err);
  if (status == TCT_OK) status = check(&own, err);
  if (status == TCT_OK) status = meet(&own, &star, err);
  if (own.listener >= 0) close(own.listener); /* the standard streams are none */
  if (status == TCT_OK) {
    const tct_carrier carrier = carrier_of(star);
    team = tct_team_carried(&carrier, err);
  }
  if (!team && star) free_star(star);
  return team;
}
