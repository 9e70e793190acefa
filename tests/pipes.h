/* pipes.h - wires over socket pairs, for roles that run in threads of one test, and for what breaks on the way. */
#ifndef TCT_TEST_PIPES_H
#define TCT_TEST_PIPES_H
#include "wire/wire.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* One end.  Operations are counted over all ends that share `fault`. */
typedef struct pipe_fault {
  int breaks_at; /* the pipe closes at this operation of the end that has it; 0: never */
  int flips_at;  /* at this send, byte flips of what leaves is another */
  size_t flips;
  int operations, sends;
} pipe_fault;

typedef struct pipe_end {
  int socket;
  unsigned char binding[TCT_WIRE_BINDING];
  pipe_fault *fault; /* NULL: none */
} pipe_end;

static inline tct_status pipe_broke(tct_error *err) {
  return tct_fail(err, TCT_E_RUN, "the pipe broke; this is a test");
}

static inline int pipe_stops(tct_wire *wire) {
  pipe_end *e = wire->state;
  if (!e->fault || ++e->fault->operations != e->fault->breaks_at) return 0;
  shutdown(e->socket, SHUT_RDWR);
  return 1;
}

/* A copy of what leaves, perhaps with one byte changed. */
static inline unsigned char *pipe_copy(pipe_end *e, const void *bytes, size_t size) {
  unsigned char *copy = malloc(size + 1);
  memcpy(copy, bytes, size);
  if (e->fault && ++e->fault->sends == e->fault->flips_at && e->fault->flips < size) copy[e->fault->flips] ^= 0x41;
  return copy;
}

static inline tct_status pipe_send(tct_wire *wire, int to, const void *bytes, size_t size, tct_error *err) {
  pipe_end *e = wire->state;
  (void)to;
  if (pipe_stops(wire)) return pipe_broke(err);
  unsigned char *copy = pipe_copy(e, bytes, size);
  size_t done = 0;
  while (done < size) {
    ssize_t part = send(e->socket, copy + done, size - done, MSG_NOSIGNAL);
    if (part <= 0 && errno != EINTR) break;
    if (part > 0) done += (size_t)part;
  }
  free(copy);
  return done == size ? TCT_OK : pipe_broke(err);
}

static inline tct_status pipe_receive(tct_wire *wire, int from, void *bytes, size_t size, tct_error *err) {
  pipe_end *e = wire->state;
  (void)from;
  if (pipe_stops(wire)) return pipe_broke(err);
  for (size_t done = 0; done < size;) {
    ssize_t part = recv(e->socket, (char *)bytes + done, size - done, 0);
    if (part == 0 || (part < 0 && errno != EINTR)) return pipe_broke(err);
    if (part > 0) done += (size_t)part;
  }
  return TCT_OK;
}

/* As the TLS backend does it: bytes go out while others come in. */
static inline tct_status pipe_swap(tct_wire *wire, int peer, tct_tls_swap *b, tct_error *err) {
  pipe_end *e = wire->state;
  (void)peer;
  if (pipe_stops(wire)) return pipe_broke(err);
  if (b->out_done == 0 && e->fault && ++e->fault->sends == e->fault->flips_at && e->fault->flips < b->out_size)
    ((unsigned char *)b->out)[e->fault->flips] ^= 0x41;
  for (size_t done = 0; done < b->in_size;) {
    struct pollfd p = {.fd = e->socket, .events = POLLIN};
    if (b->out_done < b->out_size) p.events |= POLLOUT;
    if (poll(&p, 1, 20000) <= 0) return pipe_broke(err);
    if (p.revents & POLLOUT) {
      ssize_t part =
          send(e->socket, (const char *)b->out + b->out_done, b->out_size - b->out_done, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (part > 0) b->out_done += (size_t)part;
    }
    if (!(p.revents & (POLLIN | POLLHUP | POLLERR))) continue;
    ssize_t part = recv(e->socket, (char *)b->in + done, b->in_size - done, MSG_DONTWAIT);
    if (part == 0 || (part < 0 && errno != EAGAIN && errno != EINTR)) return pipe_broke(err);
    if (part > 0) done += (size_t)part;
  }
  return TCT_OK;
}

static inline int pipe_binding(const tct_wire *wire, unsigned char *out) {
  memcpy(out, ((pipe_end *)wire->state)->binding, TCT_WIRE_BINDING);
  return 0;
}

static inline void pipe_close(tct_wire *wire) {
  pipe_end *e = wire->state;
  close(e->socket);
  free(e);
}

static const tct_wire_backend pipes = {
    .send = pipe_send, .receive = pipe_receive, .swap = pipe_swap, .binding = pipe_binding, .close = pipe_close};
/* Without the swap, as over ranks. */
__attribute__((unused)) static const tct_wire_backend pipes_in_turn = {
    .send = pipe_send, .receive = pipe_receive, .close = pipe_close};

/* a: the listening end or the server's; b: the other.  Closed with tct_wire_close. */
static inline void pipe_pair(tct_wire *a, tct_wire *b, const tct_wire_backend *backend) {
  int s[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) != 0) abort();
  pipe_end *e[2] = {calloc(1, sizeof(pipe_end)), calloc(1, sizeof(pipe_end))};
  const struct timeval patience = {.tv_sec = 20}; /* a deadlock is a failure */
  for (int i = 0; i < 2; i++) {
    setsockopt(s[i], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    setsockopt(s[i], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    e[i]->socket = s[i];
  }
  *a = (tct_wire){.backend = backend, .state = e[0], .self = TCT_SERVER, .parties = 1};
  *b = (tct_wire){.backend = backend, .state = e[1], .self = 0, .parties = 1};
}
static inline pipe_end *pipe_of(const tct_wire *wire) { return wire->state; }
#endif
