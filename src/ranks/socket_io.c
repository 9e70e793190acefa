/* socket_io.c - messages over TLS connections, and the wait for them.
 *
 * A message begins with what it is and how long.  It has to be what the receiver expects, and no length is believed.
 * A rank closes its connection only after rank 0 has said goodbye (sockets.c), so an end that comes earlier is a rank
 * that has failed, wherever rank 0 is waiting. */
#define _GNU_SOURCE
#include "ranks/sockets.h"

#include "core/digest.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>

enum {
  MOST_PEERS = 1024,
  TICK = 50,      /* milliseconds between two looks at cancel */
  RECORD = 16384, /* bytes of a record of TLS: a small message is one, with its head */
};
/* A cancelled rank waits this long for the others, which were asked to end at the same moment. */
static const double grace = 0.4;

/* ---- waiting ---- */

typedef struct wait {
  tct_star *star;
  int32_t peer;
  const tct_patience *patience;
  double begin, cancelled; /* INFINITY: not yet */
} wait;

static bool wait_over(wait *w) {
  double now = tct_clock();
  const tct_patience *p = w->patience;
  if (isinf(w->cancelled) && p->cancel && p->cancel(p->user)) w->cancelled = now;
  return now - w->begin > p->seconds || now - w->cancelled > grace;
}

/* Until the peer's socket is ready for `events`, or any other connection has ended.  A rank may work for hours between
 * two messages, but not within one: its rest would never come where the length of a record was changed on its way. */
static int await(void *user, short events) {
  wait *w = user;
  tct_star *star = w->star;
  bool torn = star->tls->torn(star->peer[w->peer]);
  double since = tct_clock();
  struct pollfd all[MOST_PEERS];
  int32_t who[MOST_PEERS], count = 0;
  for (int32_t r = 0; r < star->ranks && count < MOST_PEERS; r++)
    if (star->peer[r]) {
      short asked = (short)(r == w->peer ? events : POLLRDHUP);
      all[count] = (struct pollfd){.fd = star->tls->socket(star->peer[r]), .events = asked};
      who[count++] = r;
    }
  for (;;) {
    int ready = poll(all, (nfds_t)count, TICK);
    if (ready < 0 && errno != EINTR) return TCT_TRANSPORT_FAILED;
    for (int32_t k = 0; k < count && ready > 0; k++) {
      if (!all[k].revents) continue;
      if (who[k] == w->peer) return TCT_TRANSPORT_DONE; /* an end shows when it is read or written */
      star->lost = who[k];
      return TCT_TRANSPORT_FAILED;
    }
    if (torn && tct_clock() - since > star->timeout) {
      star->lost = w->peer;
      return TCT_TRANSPORT_FAILED;
    }
    if (wait_over(w)) return TCT_TRANSPORT_LATE;
  }
}

/* ---- messages ---- */

static int pass(tct_star *star, int32_t peer, tct_tls_swap bytes, const tct_patience *patience) {
  wait w = {.star = star, .peer = peer, .patience = patience, .begin = tct_clock(), .cancelled = INFINITY};
  const tct_tls_patience own = {.await = await, .user = &w};
  char why[TCT_TLS_WHY];
  int outcome = star->tls->swap(star->peer[peer], &bytes, &own, why, sizeof why);
  if (outcome == TCT_TLS_BROKEN) star->lost = peer;
  return outcome == TCT_TLS_BROKEN    ? TCT_TRANSPORT_FAILED
         : outcome == TCT_TLS_DAMAGED ? TCT_TRANSPORT_DAMAGED
                                      : outcome;
}

static uint64_t head_of(tct_message kind, int64_t size) { return (uint64_t)size << 8 | (uint64_t)kind; }

int tct_star_send(tct_star *star, int32_t peer, tct_message kind, const void *bytes, int64_t size,
                  const tct_patience *patience) {
  unsigned char first[RECORD];
  uint64_t head = head_of(kind, size);
  size_t taken = sizeof first - sizeof head, length = (size_t)size;
  if (taken > length) taken = length;
  memcpy(first, &head, sizeof head);
  if (taken > 0) memcpy(first + sizeof head, bytes, taken);
  int outcome = pass(star, peer, (tct_tls_swap){.out = first, .out_size = sizeof head + taken}, patience);
  tct_wipe(first, sizeof head + taken);
  if (outcome != TCT_TRANSPORT_DONE || taken == length) return outcome;
  return pass(star, peer, (tct_tls_swap){.out = (const char *)bytes + taken, .out_size = length - taken}, patience);
}

int tct_star_receive(tct_star *star, int32_t peer, tct_message kind, void *bytes, int64_t size,
                     const tct_patience *patience) {
  uint64_t head = 0;
  int outcome = pass(star, peer, (tct_tls_swap){.in = &head, .in_size = sizeof head}, patience);
  if (outcome != TCT_TRANSPORT_DONE) return outcome;
  if (head != head_of(kind, size)) return TCT_TRANSPORT_DAMAGED;
  return pass(star, peer, (tct_tls_swap){.in = bytes, .in_size = (size_t)size}, patience);
}
