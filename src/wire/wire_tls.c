/* wire_tls.c - a wire over TLS connections: wraps the library that speaks it. */
#include "core/alloc.h"
#include "core/load.h"
#include "wire/wire.h"
#include "wire/tls.h"

#include <dlfcn.h>
#include <string.h>
#include <time.h>

static const char library[] = "libtacit_tls.so";

typedef struct tls_state {
  const tct_tls *tls;
  double seconds;
  void *listener;
  void *peer[TCT_PARTIES_MAX]; /* a party: its server at [0] */
} tls_state;

static void *connection_of(const tct_wire *wire, int peer) {
  const tls_state *s = wire->state;
  return s->peer[wire->self == TCT_SERVER ? wire->slot[peer] : 0];
}

static tct_status tls_failed(const tct_wire *wire, int peer, const char *why, tct_error *err) {
  if (wire->self != TCT_SERVER)
    return tct_fail(err, TCT_E_RUN, "the server: %s; no model was made, what was charged stays charged", why);
  return tct_fail(err, TCT_E_RUN, "party %d: %s; no model was made, what was charged stays charged", peer + 1, why);
}

static tct_status tls_send(tct_wire *wire, int to, const void *bytes, size_t size, tct_error *err) {
  const tls_state *s = wire->state;
  char why[TCT_TLS_WHY] = "";
  if (!s->tls->send(connection_of(wire, to), bytes, size, s->seconds, why, sizeof why)) return TCT_OK;
  return tls_failed(wire, to, why, err);
}

static tct_status tls_receive(tct_wire *wire, int from, void *bytes, size_t size, tct_error *err) {
  const tls_state *s = wire->state;
  char why[TCT_TLS_WHY] = "";
  if (!s->tls->receive(connection_of(wire, from), bytes, size, s->seconds, why, sizeof why)) return TCT_OK;
  return tls_failed(wire, from, why, err);
}

static void tls_close(tct_wire *wire) {
  tls_state *s = wire->state;
  for (int k = 0; k < TCT_PARTIES_MAX; k++)
    if (s->peer[k]) s->tls->close(s->peer[k]);
  if (s->listener) s->tls->close_listener(s->listener);
  tct_free(s);
}

static const tct_wire_backend backend = {tls_send, tls_receive, tls_close};

static tct_status open_wire(int self, int parties, double seconds, tct_wire *wire, tct_error *err) {
  void *opened = tct_load_library(library, false);
  const tct_tls *tls = opened ? dlsym(opened, "tct_tls_openssl") : NULL;
  if (!tls || tls->version != TCT_TLS_VERSION)
    return tct_fail(err, TCT_E_RUN,
                    "%s is missing or of another version; build tacit where OpenSSL is installed (Debian: libssl-dev)",
                    library);
  tls_state *s = TCT_NEW(tls_state, 1);
  if (!s) return tct_fail_memory(err);
  s->tls = tls;
  s->seconds = seconds;
  *wire = (tct_wire){.backend = &backend, .state = s, .self = self, .parties = parties};
  for (int k = 0; k < TCT_PARTIES_MAX; k++) wire->slot[k] = k;
  return TCT_OK;
}

tct_status tct_wire_listen(const tct_wire_files *files, const char *address, int parties, double seconds,
                           tct_wire *wire, tct_error *err) {
  char why[TCT_TLS_WHY] = "";
  TCT_TRY(open_wire(TCT_SERVER, parties, seconds, wire, err));
  tls_state *s = wire->state;
  tct_tls_files f = {files->certificate, files->private_key, files->authority};
  s->listener = s->tls->listen(&f, address, why, sizeof why);
  if (s->listener) return TCT_OK;
  tct_wire_close(wire);
  return tct_fail(err, TCT_E_RUN, "%s", why);
}

int tct_wire_port(const tct_wire *wire) {
  const tls_state *s = wire->state;
  return s->tls->port(s->listener);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

tct_status tct_wire_accept(tct_wire *wire, tct_error *err) {
  tls_state *s = wire->state;
  char why[TCT_TLS_WHY] = "", last[TCT_TLS_WHY] = "";
  double deadline = now() + s->seconds;
  for (int k = 0; k < wire->parties;) {
    int late = 0;
    double left = deadline - now();
    s->peer[k] = s->tls->accept(s->listener, left > 0 ? left : 0, &late, why, sizeof why);
    if (s->peer[k]) {
      k++;
    } else if (late || now() >= deadline) {
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
  return TCT_OK;
}

tct_status tct_wire_connect(const tct_wire_files *files, const char *address, double seconds, tct_wire *wire,
                            tct_error *err) {
  char why[TCT_TLS_WHY] = "";
  TCT_TRY(open_wire(0, 1, seconds, wire, err));
  tls_state *s = wire->state;
  tct_tls_files f = {files->certificate, files->private_key, files->authority};
  s->peer[0] = s->tls->connect(&f, address, seconds, why, sizeof why);
  if (s->peer[0]) return TCT_OK;
  tct_wire_close(wire);
  return tct_fail(err, TCT_E_RUN, "%s", why);
}

void tct_wire_peer(tct_wire *wire, int peer, char *out, size_t size) {
  const tls_state *s = wire->state;
  out[0] = 0;
  if (wire->backend == &backend) s->tls->name(connection_of(wire, peer), out, size);
}
