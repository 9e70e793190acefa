/* wire_tls.c - a wire over TLS connections: wraps the library that speaks it. */
#include "core/alloc.h"
#include "core/stop.h"
#include "wire/wire.h"

#include <stdio.h>
#include <string.h>

typedef struct tls_state {
  const tct_tls *tls;
  tct_tls_terms terms; /* files are borrowed */
  double seconds;
  void *listener;
  void *peer[TCT_PARTIES_MAX]; /* a party: its server at [0] */
} tls_state;

static void *connection_of(const tct_wire *wire, int peer) {
  const tls_state *s = wire->state;
  return s->peer[wire->self == TCT_SERVER && !wire->peer[0] ? wire->slot[peer] : 0];
}

/* A wait that was broken off is no fault of the peer. */
static tct_status failed(tct_error *err, const char *why) {
  if (tct_stopping()) return tct_fail(err, TCT_E_CANCELLED, "cancelled while it waited for the others");
  return tct_fail(err, TCT_E_RUN, "%s", why);
}

static tct_status tls_failed(tct_wire *wire, int peer, const char *why, tct_error *err) {
  char name[sizeof wire->peer];
  if (tct_stopping()) return failed(err, why);
  if (wire->self != TCT_SERVER && !wire->peer[0]) return tct_fail(err, TCT_E_RUN, "the server: %s", why);
  tct_wire_peer(wire, peer, name, sizeof name);
  return tct_fail(err, TCT_E_RUN, "party '%.60s': %s", name, why);
}

static tct_status tls_swap(tct_wire *wire, int peer, tct_tls_swap *both, tct_error *err) {
  const tls_state *s = wire->state;
  char why[TCT_TLS_WHY] = "";
  const tct_tls_patience patience = {.seconds = s->seconds};
  if (!s->tls->swap(connection_of(wire, peer), both, &patience, why, sizeof why)) return TCT_OK;
  return tls_failed(wire, peer, why, err);
}

static tct_status tls_send(tct_wire *wire, int to, const void *bytes, size_t size, tct_error *err) {
  return tls_swap(wire, to, &(tct_tls_swap){.out = bytes, .out_size = size}, err);
}

static tct_status tls_receive(tct_wire *wire, int from, void *bytes, size_t size, tct_error *err) {
  return tls_swap(wire, from, &(tct_tls_swap){.in = bytes, .in_size = size}, err);
}

static int tls_binding(const tct_wire *wire, unsigned char *out) {
  const tls_state *s = wire->state;
  return s->tls->binding(s->peer[0], out);
}

static void tls_close(tct_wire *wire) {
  tls_state *s = wire->state;
  for (int k = 0; k < TCT_PARTIES_MAX; k++)
    if (s->peer[k]) s->tls->close(s->peer[k]);
  if (s->listener) s->tls->close_listener(s->listener);
  tct_free(s);
}

static const tct_wire_backend backend = {
    .send = tls_send, .receive = tls_receive, .swap = tls_swap, .binding = tls_binding, .close = tls_close};

static int stopping(void *user) {
  (void)user;
  return tct_stopping();
}

static tct_status open_wire(const tct_tls_terms *terms, int self, int parties, double seconds, tct_wire *wire,
                            tct_error *err) {
  const tct_tls *tls = NULL;
  TCT_TRY(tct_tls_load(&tls, err));
  tls_state *s = TCT_NEW(tls_state, 1);
  if (!s) return tct_fail_memory(err);
  *s = (tls_state){.tls = tls, .terms = *terms, .seconds = seconds};
  s->terms.cancel = stopping;
  *wire = (tct_wire){.backend = &backend, .state = s, .self = self, .parties = parties};
  for (int k = 0; k < TCT_PARTIES_MAX; k++) wire->slot[k] = k;
  return TCT_OK;
}

tct_status tct_wire_listen(const tct_tls_terms *files, const char *address, int parties, double seconds, tct_wire *wire,
                           tct_error *err) {
  char why[TCT_TLS_WHY] = "";
  TCT_TRY(open_wire(files, TCT_SERVER, parties, seconds, wire, err));
  tls_state *s = wire->state;
  s->listener = s->tls->listen(&s->terms, address, -1, why, sizeof why);
  if (s->listener) return TCT_OK;
  tct_wire_close(wire);
  return failed(err, why);
}

int tct_wire_port(const tct_wire *wire) {
  const tls_state *s = wire->state;
  return s->tls->port(s->listener);
}

tct_status tct_wire_accept(tct_wire *wire, tct_error *err) {
  tls_state *s = wire->state;
  char why[TCT_TLS_WHY] = "", last[TCT_TLS_WHY] = "";
  double deadline = tct_clock() + s->seconds;
  for (int k = 0; k < wire->parties;) {
    tct_tls_ended ended = TCT_TLS_REFUSED;
    double left = deadline - tct_clock();
    const tct_tls_wait wait = {.seconds = left > 0 ? left : 0};
    s->peer[k] = s->tls->accept(s->listener, &wait, &ended, why, sizeof why);
    bool late = ended == TCT_TLS_LATE;
    if (s->peer[k]) {
      k++;
    } else if (tct_stopping()) {
      return failed(err, why);
    } else if (late || tct_clock() >= deadline) {
      return tct_fail(err, TCT_E_RUN, "%d of %d parties came in time%s%s; start the others, or wait longer", k,
                      wire->parties,
                      last[0] ? "; the last that was turned away: "
                      : late  ? ""
                              : "; ",
                      last[0] ? last
                      : late  ? ""
                              : why);
    } else {
      memcpy(last, why, sizeof last);
    }
  }
  s->tls->close_listener(s->listener); /* nobody else is to come */
  s->listener = NULL;
  return TCT_OK;
}

tct_status tct_wire_connect(const tct_tls_terms *files, const char *address, double seconds, tct_wire *wire,
                            tct_error *err) {
  char why[TCT_TLS_WHY] = "";
  tct_tls_ended ended;
  const tct_tls_wait wait = {.seconds = seconds};
  TCT_TRY(open_wire(files, 0, 1, seconds, wire, err));
  tls_state *s = wire->state;
  s->peer[0] = s->tls->connect(&s->terms, address, &wait, &ended, why, sizeof why);
  if (s->peer[0]) return TCT_OK;
  tct_wire_close(wire);
  return failed(err, why);
}

void tct_wire_peer(const tct_wire *wire, int peer, char *out, size_t size) {
  const tls_state *s = wire->state;
  snprintf(out, size, "%s", wire->peer);
  if (!out[0] && wire->backend == &backend) s->tls->name(connection_of(wire, peer), out, size);
  if (!out[0]) snprintf(out, size, "party %02d", peer + 1);
}

/* ---- between parties ------------------------------------------------------------------------------------------- */

/* The server speaks where it has nothing to say but why it stops. */
static tct_status hear_stop(tct_wire *server, tct_error *err) {
  char nothing[1];
  tct_status status = tct_wire_receive(server, TCT_SERVER, TCT_FRAME_FAILURE, nothing, 0, err);
  return status != TCT_OK ? status : tct_fail(err, TCT_E_RUN, "the server spoke out of turn; stop trusting it");
}

/* A wire of the door's own kind, over a connection that has come about. */
static tct_status wrap(const tls_state *door, void *connection, int self, tct_wire *out, tct_error *err) {
  tct_status status = open_wire(&door->terms, self, 1, door->seconds, out, err);
  if (status != TCT_OK) {
    door->tls->close(connection);
    return status;
  }
  ((tls_state *)out->state)->peer[0] = connection;
  door->tls->name(connection, out->peer, sizeof out->peer);
  if (!out->peer[0]) snprintf(out->peer, sizeof out->peer, "?");
  return TCT_OK;
}

tct_status tct_wire_take(const tct_wire *door, tct_wire *server, tct_wire *out, tct_error *err) {
  char why[TCT_TLS_WHY] = "";
  const tls_state *d = door->state, *s = server->state;
  tct_tls_ended ended = TCT_TLS_REFUSED;
  const tct_tls_wait wait = {.seconds = d->seconds, .watch = s->peer[0]};
  *out = (tct_wire){0};
  void *connection = d->tls->accept(d->listener, &wait, &ended, why, sizeof why);
  if (connection) return wrap(d, connection, TCT_SERVER, out, err);
  if (ended == TCT_TLS_WATCHED) return hear_stop(server, err);
  if (tct_stopping()) return failed(err, why);
  tct_fail(err, TCT_E_RUN, "the parties did not all meet (%s); check the addresses that they listen at", why);
  return ended == TCT_TLS_LATE ? TCT_E_RUN : TCT_OK;
}

tct_status tct_wire_dial(const tct_wire *door, const char *address, tct_wire *server, tct_wire *out, tct_error *err) {
  char why[TCT_TLS_WHY] = "";
  const tls_state *d = door->state, *s = server->state;
  tct_tls_ended ended;
  const tct_tls_wait wait = {.seconds = d->seconds, .watch = s->peer[0], .any_host = 1};
  *out = (tct_wire){0};
  void *connection = d->tls->connect(&d->terms, address, &wait, &ended, why, sizeof why);
  if (connection) return wrap(d, connection, 0, out, err);
  if (d->tls->waiting(s->peer[0])) return hear_stop(server, err);
  return failed(err, why);
}
