/* socket_io.c - sealed messages over sockets that do not block.
 *
 * A message has the length that the receiver expects, and no length is read from the wire.  A short read is waited for
 * or ends the run.  A rank closes its connection only after rank 0 has said goodbye (sockets.c), so an end that comes
 * earlier is a rank that has failed, wherever rank 0 is waiting. */
#define _GNU_SOURCE
#include "ranks/sockets.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <fcntl.h>

enum { MOST_PEERS = 1024, TICK = 50 /* milliseconds between two looks at cancel */ };
/* A cancelled rank waits this long for the others, which were asked to end at the same moment. */
static const double grace = 0.4;

double tct_socket_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool set(int socket, int level, int name, int value) {
  return setsockopt(socket, level, name, &value, sizeof value) == 0;
}

tct_status tct_socket_prepare(int socket, double timeout, tct_error *err) {
  int seconds = timeout < 4 ? 1 : timeout > 4000 ? 1000 : (int)(timeout / 4); /* silent that long, then asked 3 times */
  int flags = fcntl(socket, F_GETFL);
  bool good = flags >= 0 && fcntl(socket, F_SETFL, flags | O_NONBLOCK) == 0;
  good = good && set(socket, IPPROTO_TCP, TCP_NODELAY, 1) && set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  good = good && set(socket, IPPROTO_TCP, TCP_KEEPIDLE, seconds) && set(socket, IPPROTO_TCP, TCP_KEEPINTVL, seconds);
  good = good && set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3) && set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, seconds * 4000);
  return good ? TCT_OK : tct_fail(err, TCT_E_RUN, "a connection between ranks cannot be set up; check the network");
}

/* ---- waiting ---- */

typedef struct wait {
  const tct_patience *patience;
  double begin, cancelled; /* INFINITY: not yet */
} wait;

static wait wait_begin(const tct_patience *patience) {
  return (wait){.patience = patience, .begin = tct_socket_now(), .cancelled = INFINITY};
}

static bool wait_over(wait *w) {
  double now = tct_socket_now();
  const tct_patience *p = w->patience;
  if (isinf(w->cancelled) && p->cancel && p->cancel(p->user)) w->cancelled = now;
  return now - w->begin > p->seconds || now - w->cancelled > grace;
}

/* Until the peer's socket is ready for `events`, or any other connection has ended. */
static int await(tct_star *star, int32_t peer, short events, wait *w) {
  struct pollfd all[MOST_PEERS];
  int32_t who[MOST_PEERS], count = 0;
  for (int32_t r = 0; r < star->ranks && count < MOST_PEERS; r++)
    if (star->peer[r].socket >= 0) {
      all[count] = (struct pollfd){.fd = star->peer[r].socket, .events = (short)(r == peer ? events : POLLRDHUP)};
      who[count++] = r;
    }
  for (;;) {
    int ready = poll(all, (nfds_t)count, TICK);
    if (ready < 0 && errno != EINTR) return TCT_TRANSPORT_FAILED;
    for (int32_t k = 0; k < count && ready > 0; k++) {
      if (!all[k].revents) continue;
      if (who[k] == peer) return TCT_TRANSPORT_DONE; /* an end shows when it is read or written */
      star->lost = who[k];
      return TCT_TRANSPORT_FAILED;
    }
    if (wait_over(w)) return TCT_TRANSPORT_LATE;
  }
}

static int lose(tct_star *star, int32_t peer) {
  star->lost = peer;
  return TCT_TRANSPORT_FAILED;
}

static bool again(ssize_t done) { return done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR); }

/* All of bytes[size], out with POLLOUT and in with POLLIN. */
static int pass(tct_star *star, int32_t peer, short way, unsigned char *bytes, size_t size,
                const tct_patience *patience) {
  wait w = wait_begin(patience);
  int socket = star->peer[peer].socket;
  for (size_t at = 0; at < size;) {
    ssize_t done =
        way == POLLOUT ? send(socket, bytes + at, size - at, MSG_NOSIGNAL) : recv(socket, bytes + at, size - at, 0);
    if (done > 0) {
      at += (size_t)done;
      continue;
    }
    if (!again(done)) return lose(star, peer);
    int outcome = await(star, peer, way, &w);
    if (outcome != TCT_TRANSPORT_DONE) return outcome;
  }
  return TCT_TRANSPORT_DONE;
}

/* ---- messages ---- */

static size_t piece_of(int64_t left) {
  int64_t most = (int64_t)TCT_PIECE * (int64_t)sizeof(double);
  return (size_t)(left < most ? left : most);
}

/* The whole length stands in the kind: ranks that ask for other lengths do not understand each other. */
static uint64_t kind_of(tct_message kind, int64_t size) { return (uint64_t)size << 8 | (uint64_t)kind; }

int tct_star_send(tct_star *star, int32_t peer, tct_message kind, const void *bytes, int64_t size,
                  const tct_patience *patience) {
  for (int64_t at = 0; at < size || at == 0;) {
    size_t length = piece_of(size - at);
    tct_seal(&star->peer[peer].out, kind_of(kind, size), (const char *)bytes + at, length, star->sealed);
    int outcome = pass(star, peer, POLLOUT, star->sealed, length + TCT_SEALED_EXTRA, patience);
    if (outcome != TCT_TRANSPORT_DONE) return outcome;
    at += (int64_t)length;
    if (length == 0) break;
  }
  return TCT_TRANSPORT_DONE;
}

int tct_star_receive(tct_star *star, int32_t peer, tct_message kind, void *bytes, int64_t size,
                     const tct_patience *patience) {
  for (int64_t at = 0; at < size || at == 0;) {
    size_t length = piece_of(size - at);
    int outcome = pass(star, peer, POLLIN, star->sealed, length + TCT_SEALED_EXTRA, patience);
    if (outcome != TCT_TRANSPORT_DONE) return outcome;
    if (!tct_unseal(&star->peer[peer].in, kind_of(kind, size), star->sealed, length, (char *)bytes + at))
      return TCT_TRANSPORT_DAMAGED;
    at += (int64_t)length;
    if (length == 0) break;
  }
  return TCT_TRANSPORT_DONE;
}
