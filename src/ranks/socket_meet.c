/* socket_meet.c - rank 0 takes the other ranks in: a hello each way, then a sealed word each way.
 *
 * Anybody can connect.  A guest that has not shown within a few seconds that it has the secret is let go, and so is the
 * oldest one when there are many.  Guests are heard side by side, so that none keeps a rank out. */
#define _GNU_SOURCE
#include "ranks/sockets.h"

#include "core/alloc.h"
#include "core/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { GUESTS = 256, TICK = 50 /* milliseconds */, NAME = 256, QUIET = 10 /* seconds that a guest may take */ };

/* ORDER is other bytes on a machine of another byte order, whose numbers would be misread. */
static const char MAGIC[8] = "TCTRANK1";
static const uint32_t ORDER = 0x01020304;

/* What a rank sends first; all of it goes into the keys. */
typedef struct hello {
  char magic[8];
  uint32_t order;
  int32_t rank, ranks, reserved;
  unsigned char shown[TCT_SEALED_KEY];
} hello;

enum { WORD = sizeof(hello) + TCT_SEALED_EXTRA };
_Static_assert(sizeof(hello) == 56, "a hello has no padding");

static hello hello_of(const tct_star *star, const tct_exchange *exchange) {
  hello h = {.order = ORDER, .rank = star->rank, .ranks = star->ranks};
  memcpy(h.magic, MAGIC, sizeof MAGIC);
  memcpy(h.shown, exchange->shown, sizeof h.shown);
  return h;
}

static bool fits(const hello *h, const tct_star *star) {
  return !memcmp(h->magic, MAGIC, sizeof MAGIC) && h->order == ORDER && h->ranks == star->ranks && h->rank >= 0 &&
         h->rank < star->ranks;
}

/* ---- addresses ------------------------------------------------------------------------------------------------ */

/* HOST:PORT, also [HOST]:PORT. */
static tct_status resolve(const char *address, bool listen, struct addrinfo **found, tct_error *err) {
  char host[NAME];
  const char *colon = strrchr(address, ':');
  size_t length = colon ? (size_t)(colon - address) : 0;
  if (!colon || length == 0 || length >= sizeof host || !colon[1])
    return tct_fail(err, TCT_E_USAGE, "the address %.200s is not HOST:PORT; give e.g. node1:7000", address);
  bool brackets = address[0] == '[' && address[length - 1] == ']';
  snprintf(host, sizeof host, "%.*s", (int)(brackets ? length - 2 : length), address + brackets);
  struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = listen ? AI_PASSIVE : 0};
  if (getaddrinfo(host, colon + 1, &hints, found) == 0) return TCT_OK;
  return tct_fail(err, TCT_E_RUN, "the address %.200s is not known; check the name of the host and the port", address);
}

static int listen_at(const struct addrinfo *a) {
  int yes = 1, s = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
  if (s < 0) return -1;
  if (setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 && bind(s, a->ai_addr, a->ai_addrlen) == 0 &&
      listen(s, GUESTS) == 0)
    return s;
  close(s);
  return -1;
}

static tct_status open_listener(const char *address, int *listener, tct_error *err) {
  struct addrinfo *found = NULL;
  TCT_TRY(resolve(address, true, &found, err));
  *listener = -1;
  for (const struct addrinfo *a = found; a && *listener < 0; a = a->ai_next) *listener = listen_at(a);
  int why = errno;
  freeaddrinfo(found);
  if (*listener >= 0) return TCT_OK;
  return tct_fail(err, TCT_E_RUN, "rank 0 cannot listen at %.200s (%s); give an address of this host, and a free port",
                  address, strerror(why));
}

/* ---- rank 0 --------------------------------------------------------------------------------------------------- */

/* Somebody who has connected. */
typedef struct guest {
  tct_peer peer;
  double since;
  bool greeted; /* its hello was answered, its word is awaited */
  size_t got;
  hello said;
  unsigned char room[WORD];
} guest;

typedef struct reception {
  tct_star *star;
  const tct_sealed_terms *secret;
  int listener;
  guest guest[GUESTS];
  int guests;
  int32_t missing; /* ranks that have not come */
} reception;

static void dismiss(reception *r, int k) {
  close(r->guest[k].peer.socket);
  tct_wipe(&r->guest[k].peer, sizeof r->guest[k].peer);
  r->guest[k] = r->guest[--r->guests];
}

static bool put_now(int socket, const void *bytes, size_t size) {
  return send(socket, bytes, size, MSG_NOSIGNAL) == (ssize_t)size; /* a fresh connection has room for it */
}

/* The guest's hello is there: answer it, and compute the keys.  False: it is none of ours. */
static bool greet(reception *r, guest *g) {
  tct_exchange exchange;
  hello about[2];
  memcpy(&g->said, g->room, sizeof g->said);
  if (!fits(&g->said, r->star) || g->said.rank == 0 || r->star->peer[g->said.rank].socket >= 0) return false;
  if (tct_exchange_start(&exchange, NULL) != TCT_OK) return false;
  about[0] = g->said;
  about[1] = hello_of(r->star, &exchange);
  tct_sealed_terms terms = *r->secret;
  terms.about = about;
  terms.about_length = sizeof about;
  g->greeted = tct_exchange_end(&exchange, false, g->said.shown, &terms, &g->peer.out, &g->peer.in);
  g->got = 0;
  return g->greeted && put_now(g->peer.socket, &about[1], sizeof about[1]);
}

/* Its word is there: only who has the secret could seal it. */
static bool admit(reception *r, guest *g) {
  hello again;
  unsigned char word[WORD];
  tct_peer *place = &r->star->peer[g->said.rank];
  if (!tct_unseal(&g->peer.in, TCT_MESSAGE_HELLO, g->room, sizeof again, &again)) return false;
  if (memcmp(&again, &g->said, sizeof again) != 0 || place->socket >= 0) return false;
  tct_seal(&g->peer.out, TCT_MESSAGE_WELCOME, &again, sizeof again, word);
  if (!put_now(g->peer.socket, word, sizeof word)) return false;
  if (tct_socket_prepare(g->peer.socket, r->star->timeout, NULL) != TCT_OK) return false;
  *place = g->peer;
  r->missing--;
  return true;
}

/* What has arrived from guest k; it may leave the list. */
static void hear(reception *r, int k) {
  guest *g = &r->guest[k];
  size_t want = g->greeted ? (size_t)WORD : sizeof g->said;
  ssize_t got = recv(g->peer.socket, g->room + g->got, want - g->got, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) g->got += (size_t)got;
  if (got > 0 && g->got < want) return;
  if (got > 0 && !g->greeted && greet(r, g)) return;
  if (got > 0 && g->got == want && admit(r, g)) {
    tct_wipe(&g->peer, sizeof g->peer); /* the connection has moved */
    r->guest[k] = r->guest[--r->guests];
    return;
  }
  dismiss(r, k);
}

static void take_guest(reception *r) {
  int s = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), oldest = 0;
  if (s < 0) {
    poll(NULL, 0, TICK); /* no more descriptors: the guests that are there may leave */
    return;
  }
  for (int k = 1; k < r->guests; k++)
    if (r->guest[k].since < r->guest[oldest].since) oldest = k;
  if (r->guests == GUESTS) dismiss(r, oldest);
  r->guest[r->guests++] = (guest){.peer = {.socket = s}, .since = tct_socket_now()};
}

static void look(reception *r) {
  struct pollfd all[GUESTS + 1] = {{.fd = r->listener, .events = POLLIN}};
  for (int k = 0; k < r->guests; k++) all[k + 1] = (struct pollfd){.fd = r->guest[k].peer.socket, .events = POLLIN};
  int count = r->guests, ready = poll(all, (nfds_t)count + 1, TICK);
  double now = tct_socket_now();
  for (int k = count - 1; k >= 0; k--) { /* backwards: who leaves is replaced by one that was heard */
    if (ready > 0 && all[k + 1].revents)
      hear(r, k);
    else if (now - r->guest[k].since > QUIET)
      dismiss(r, k);
  }
  if (ready > 0 && all[0].revents) take_guest(r);
}

static tct_status receive_all(reception *r, const tct_sockets *o, tct_error *err) {
  double begin = tct_socket_now();
  while (r->missing > 0) {
    if (o->cancel && o->cancel(o->user)) return tct_fail(err, TCT_E_CANCELLED, "cancelled before all ranks had come");
    if (tct_socket_now() - begin > o->timeout)
      return tct_fail(
          err, TCT_E_RUN,
          "%d of %d other ranks did not come within %g seconds; start them, with the same secret and number "
          "of ranks, and look at what they say",
          (int)r->missing, (int)r->star->ranks - 1, o->timeout);
    look(r);
  }
  return TCT_OK;
}

static tct_status receive_ranks(tct_star *star, const tct_sockets *o, const tct_sealed_terms *terms, tct_error *err) {
  reception *r = TCT_NEW(reception, 1);
  if (!r) return tct_fail_memory(err);
  *r = (reception){.star = star, .secret = terms, .listener = o->listener, .missing = star->ranks - 1};
  tct_status status = o->listener >= 0 ? TCT_OK : open_listener(o->address, &r->listener, err);
  if (status == TCT_OK && fcntl(r->listener, F_SETFL, O_NONBLOCK) != 0)
    status = tct_fail(err, TCT_E_USAGE, "the listener is no socket that listens; make it with listen()");
  if (status == TCT_OK) status = receive_all(r, o, err);
  while (r->guests > 0) dismiss(r, r->guests - 1);
  if (o->listener < 0 && r->listener >= 0) close(r->listener);
  tct_wipe_free(r, 1, sizeof *r);
  return status;
}

/* ---- the others ----------------------------------------------------------------------------------------------- */

/* A connection, or -1.  It may take as long as the whole meeting. */
static int connect_once(const struct addrinfo *found, double seconds) {
  for (const struct addrinfo *a = found; a; a = a->ai_next) {
    int failed = 1, s = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
    socklen_t size = sizeof failed;
    if (s < 0) continue;
    if (connect(s, a->ai_addr, a->ai_addrlen) == 0) return s;
    struct pollfd p = {.fd = s, .events = POLLOUT};
    if (errno == EINPROGRESS && poll(&p, 1, (int)(seconds * 1000)) == 1 &&
        getsockopt(s, SOL_SOCKET, SO_ERROR, &failed, &size) == 0 && !failed)
      return s;
    close(s);
  }
  return -1;
}

static tct_status connect_to(const tct_sockets *o, double begin, int *out, tct_error *err) {
  struct addrinfo *found = NULL;
  tct_status status = resolve(o->address, false, &found, err);
  *out = -1;
  while (status == TCT_OK && *out < 0) {
    *out = connect_once(found, 1);
    if (*out >= 0) break;
    if (o->cancel && o->cancel(o->user))
      status = tct_fail(err, TCT_E_CANCELLED, "cancelled before rank 0 was reached");
    else if (tct_socket_now() - begin > o->timeout)
      status = tct_fail(err, TCT_E_RUN,
                        "rank 0 does not answer at %.200s within %g seconds; start it, and check the address",
                        o->address, o->timeout);
    poll(NULL, 0, 2 * TICK);
  }
  if (found) freeaddrinfo(found);
  return status;
}

/* Exactly size bytes before they are due. */
static bool get_all(int socket, void *bytes, size_t size, const tct_sockets *o, double begin) {
  for (size_t at = 0; at < size;) {
    ssize_t got = recv(socket, (char *)bytes + at, size - at, MSG_DONTWAIT);
    if (got > 0) {
      at += (size_t)got;
      continue;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) return false;
    if (tct_socket_now() - begin > o->timeout || (o->cancel && o->cancel(o->user))) return false;
    poll(&(struct pollfd){.fd = socket, .events = POLLIN}, 1, TICK);
  }
  return true;
}

/* Both hellos, both words. */
static bool introduce(tct_star *star, tct_peer *peer, const tct_sockets *o, const tct_sealed_terms *secret,
                      double begin) {
  tct_exchange exchange;
  hello about[2], again;
  unsigned char word[WORD];
  if (tct_exchange_start(&exchange, NULL) != TCT_OK) return false;
  about[0] = hello_of(star, &exchange);
  if (!put_now(peer->socket, &about[0], sizeof about[0])) return false;
  if (!get_all(peer->socket, &about[1], sizeof about[1], o, begin)) return false;
  if (!fits(&about[1], star) || about[1].rank != 0) return false;
  tct_sealed_terms terms = *secret;
  terms.about = about;
  terms.about_length = sizeof about;
  if (!tct_exchange_end(&exchange, true, about[1].shown, &terms, &peer->out, &peer->in)) return false;
  tct_seal(&peer->out, TCT_MESSAGE_HELLO, &about[0], sizeof about[0], word);
  if (!put_now(peer->socket, word, sizeof word)) return false;
  if (!get_all(peer->socket, word, sizeof word, o, begin)) return false;
  return tct_unseal(&peer->in, TCT_MESSAGE_WELCOME, word, sizeof again, &again) &&
         memcmp(&again, &about[0], sizeof again) == 0;
}

static tct_status join_rank_0(tct_star *star, const tct_sockets *o, const tct_sealed_terms *terms, tct_error *err) {
  double begin = tct_socket_now();
  TCT_TRY(connect_to(o, begin, &star->peer[0].socket, err));
  TCT_TRY(tct_socket_prepare(star->peer[0].socket, o->timeout, err));
  if (introduce(star, &star->peer[0], o, terms, begin)) return TCT_OK;
  if (o->cancel && o->cancel(o->user)) return tct_fail(err, TCT_E_CANCELLED, "cancelled before rank 0 had answered");
  return tct_fail(
      err, TCT_E_RUN,
      "rank 0 at %.200s does not take rank %d of %d; give both the same secret, number of ranks and version, "
      "and each rank its own number",
      o->address, (int)o->rank, (int)o->ranks);
}

tct_status tct_star_meet(tct_star *star, const tct_sockets *options, const tct_sealed_terms *terms, tct_error *err) {
  return star->rank == 0 ? receive_ranks(star, options, terms, err) : join_rank_0(star, options, terms, err);
}
