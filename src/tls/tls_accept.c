/* tls_accept.c - a listener whose handshakes go on side by side.
 *
 * Whoever connects and says nothing, or nonsense, costs a place among those that are waiting, never another's turn.
 * One address has few places, and there are few in all: a new one takes the place of the oldest.  An honest peer is
 * done in a few round trips, so the oldest is the one that does not go on. */
#define _GNU_SOURCE
#include "tls/tls_inside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PLACES = 256, PLACES_OF_ONE = 64, AT_ONCE = 64 };
/* A peer that has connected has this long to show who it is. */
static const double handshake_seconds = 10;
/* Where the system has no more sockets, this long passes before another is asked for. */
static const double breath_seconds = 0.1;

typedef struct place {
  tls_connection *connection;
  double deadline;
  char source[INET6_ADDRSTRLEN];
  short events; /* what its handshake waits for; 0: it was not begun */
} place;

typedef struct listener {
  SSL_CTX *context;
  int socket;
  tct_tls_terms terms;
  place at[PLACES]; /* the oldest first */
  int count;
  double closed_until; /* no new ones before: out of sockets */
} listener;

static int listen_at(const char *address, char *why, size_t size) {
  char host[256];
  int one = 1, s = -1;
  struct addrinfo *found = tls_resolve(address, 1, host, why, size);
  for (const struct addrinfo *a = found; a && s < 0; a = a->ai_next) {
    s = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s >= 0) setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (s >= 0 && bind(s, a->ai_addr, a->ai_addrlen) == 0 && listen(s, SOMAXCONN) == 0) break;
    snprintf(why, size, "cannot listen at %.200s (%s); give an address of this host, and a free port", address,
             strerror(errno));
    if (s >= 0) close(s);
    s = -1;
  }
  if (found) freeaddrinfo(found);
  return s;
}

void *tls_listen(const tct_tls_terms *terms, const char *address, int socket, char *why, size_t size) {
  listener *l = calloc(1, sizeof *l);
  if (!l) {
    snprintf(why, size, "out of memory");
    return NULL;
  }
  l->terms = *terms;
  l->context = tls_context(&l->terms, 1, why, size);
  l->socket = !l->context ? -1 : socket < 0 ? listen_at(address, why, size) : fcntl(socket, F_DUPFD_CLOEXEC, 0);
  if (socket >= 0 && (l->socket < 0 || fcntl(l->socket, F_SETFL, O_NONBLOCK) != 0))
    snprintf(why, size, "the listener is no socket that listens; make it with listen()");
  else if (l->socket >= 0)
    return l;
  tls_close_listener(l);
  return NULL;
}

int tls_port(void *handle) {
  struct sockaddr_storage a;
  socklen_t length = sizeof a;
  if (getsockname(((listener *)handle)->socket, (struct sockaddr *)&a, &length) != 0) return 0;
  return ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port : ((struct sockaddr_in *)&a)->sin_port);
}

/* ---- places ---------------------------------------------------------------------------------------------------- */

/* The connection leaves its place, whole. */
static tls_connection *take(listener *l, int i) {
  tls_connection *c = l->at[i].connection;
  memmove(&l->at[i], &l->at[i + 1], (size_t)(--l->count - i) * sizeof *l->at);
  return c;
}

/* Room for one from this source. */
static void make_room(listener *l, const char *source) {
  int own = 0, oldest = -1;
  for (int i = 0; i < l->count; i++) {
    if (strcmp(l->at[i].source, source) != 0) continue;
    own++;
    if (oldest < 0) oldest = i;
  }
  if (own >= (l->terms.key ? PLACES : PLACES_OF_ONE)) tls_close(take(l, oldest));
  if (l->count == PLACES) tls_close(take(l, 0));
}

static void source_of(const struct sockaddr_storage *a, char out[INET6_ADDRSTRLEN]) {
  const void *address = a->ss_family == AF_INET6 ? (const void *)&((const struct sockaddr_in6 *)a)->sin6_addr
                                                 : (const void *)&((const struct sockaddr_in *)a)->sin_addr;
  if (!inet_ntop(a->ss_family, address, out, INET6_ADDRSTRLEN)) out[0] = 0;
}

/* Out of sockets: the oldest place is given up, and nobody is asked for a while. */
static void breathe(listener *l) {
  if (l->count > 0) tls_close(take(l, 0));
  l->closed_until = tct_clock() + breath_seconds;
}

static void welcome_some(listener *l) {
  for (int k = 0; k < AT_ONCE; k++) {
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    place p = {.deadline = tct_clock() + handshake_seconds};
    int s = accept4(l->socket, (struct sockaddr *)&from, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (s < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (s < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
      breathe(l);
      return;
    }
    if (s < 0) continue; /* that one has left again */
    source_of(&from, p.source);
    make_room(l, p.source);
    p.connection = tls_connection_new(l->context, s, &l->terms);
    if (p.connection) l->at[l->count++] = p;
  }
}

/* ---- handshakes ------------------------------------------------------------------------------------------------ */

static tls_step go_on(place *p) {
  tls_step step = tls_shake(p->connection, SSL_accept);
  p->events = step == TLS_WRITE ? POLLOUT : POLLIN;
  return step;
}

/* The first that is through, or refused (NULL, and the reason): 1; 0: all are still at it. */
static int one_is_decided(listener *l, const short *ready, tls_connection **out, char *why, size_t size) {
  for (int i = 0; i < l->count; i++) {
    bool begins = l->at[i].events == 0, late = tct_clock() > l->at[i].deadline;
    if (!begins && !ready[i] && !late) continue;
    tls_step step = begins || ready[i] ? go_on(&l->at[i]) : TLS_READ;
    if (step == TLS_DONE) {
      *out = take(l, i);
      return 1;
    }
    if (step != TLS_FAILED && !late) continue;
    if (step == TLS_FAILED)
      tls_explain(l->at[i].connection, why, size);
    else
      snprintf(why, size, "refused: the peer connected and then said nothing in time");
    tls_close(take(l, i));
    return 1;
  }
  return 0;
}

/* Waits until something can go on; ready[count]: which handshakes.  1: the watched connection has something to say. */
static int await_any(listener *l, const tct_tls_wait *wait, double deadline, short *ready) {
  struct pollfd fd[PLACES + 2];
  double until = deadline;
  bool open = tct_clock() >= l->closed_until;
  if (!open && l->closed_until < until) until = l->closed_until;
  for (int i = 0; i < l->count; i++) {
    const place *p = &l->at[i];
    fd[i] = (struct pollfd){.fd = p->connection->socket, .events = p->events ? p->events : POLLIN | POLLOUT};
    if (p->deadline < until) until = p->deadline;
  }
  const tls_connection *watched = wait->watch;
  if (watched && SSL_has_pending(watched->ssl)) return 1;
  fd[l->count] = (struct pollfd){.fd = open ? l->socket : -1, .events = POLLIN};
  fd[l->count + 1] = (struct pollfd){.fd = watched ? watched->socket : -1, .events = POLLIN};
  int count = l->count, any = poll(fd, (nfds_t)count + 2, tls_left(until));
  for (int i = 0; i < count; i++) ready[i] = any > 0 ? fd[i].revents : 0;
  if (any > 0 && fd[count].revents) welcome_some(l);
  return any > 0 && fd[count + 1].revents;
}

void *tls_accept(void *handle, const tct_tls_wait *wait, tct_tls_ended *ended, char *why, size_t size) {
  listener *l = handle;
  double deadline = tct_clock() + wait->seconds;
  short ready[PLACES] = {0};
  tls_connection *c = NULL;
  *ended = TCT_TLS_REFUSED;
  while (!one_is_decided(l, ready, &c, why, size)) {
    bool stopped = l->terms.cancel && l->terms.cancel(l->terms.user);
    *ended = tct_clock() >= deadline || stopped ? TCT_TLS_LATE : TCT_TLS_WATCHED;
    memset(ready, 0, sizeof ready);
    if (*ended == TCT_TLS_LATE || await_any(l, wait, deadline, ready)) {
      snprintf(why, size, "nobody came");
      return NULL;
    }
    *ended = TCT_TLS_REFUSED;
  }
  return c;
}

void tls_close_listener(void *handle) {
  listener *l = handle;
  if (!l) return;
  while (l->count > 0) tls_close(take(l, 0));
  if (l->socket >= 0) close(l->socket);
  SSL_CTX_free(l->context);
  free(l);
}
