/* socket_meet.c - rank 0 takes the other ranks in: TLS with a key from the secret, then a word of welcome.
 *
 * Anybody can connect, and the listener hears all of them side by side (tls_accept.c).  Only who has the key gets
 * through, under the number that it came with.  The word of welcome says that this number was free. */
#define _GNU_SOURCE
#include "ranks/sockets.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { NAME = 16 };

static bool set(int socket, int level, int name, int value) {
  return setsockopt(socket, level, name, &value, sizeof value) == 0;
}

/* Asks a silent host whether it is there. */
static tct_status prepare(int socket, double timeout, tct_error *err) {
  int seconds = timeout < 4 ? 1 : timeout > 4000 ? 1000 : (int)(timeout / 4); /* silent that long, then asked 3 times */
  bool good = set(socket, SOL_SOCKET, SO_KEEPALIVE, 1) && set(socket, IPPROTO_TCP, TCP_KEEPIDLE, seconds);
  good = good && set(socket, IPPROTO_TCP, TCP_KEEPINTVL, seconds) && set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  good = good && set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, seconds * 4000);
  return good ? TCT_OK : tct_fail(err, TCT_E_RUN, "a connection between ranks cannot be set up; check the network");
}

static bool cancelled(const tct_sockets *o) { return o->cancel && o->cancel(o->user); }

/* ---- rank 0 --------------------------------------------------------------------------------------------------- */

/* The rank whose connection this is, if its place is free; else 0. */
static int32_t number_of(const tct_star *star, void *connection) {
  char name[NAME], again[NAME];
  star->tls->name(connection, name, sizeof name);
  long rank = strtol(name, NULL, 10);
  snprintf(again, sizeof again, "%ld", rank);
  return rank > 0 && rank < star->ranks && !strcmp(name, again) && !star->peer[rank] ? (int32_t)rank : 0;
}

static bool admit(tct_star *star, void *connection, const tct_sockets *o, double left) {
  const tct_patience patience = {.size = sizeof patience, .cancel = o->cancel, .user = o->user, .seconds = left};
  int32_t rank = number_of(star, connection);
  if (rank && prepare(star->tls->socket(connection), o->timeout, NULL) == TCT_OK) {
    star->peer[rank] = connection;
    if (tct_star_send(star, rank, TCT_MESSAGE_WELCOME, &rank, sizeof rank, &patience) == TCT_TRANSPORT_DONE)
      return true;
    star->peer[rank] = NULL;
  }
  star->tls->close(connection);
  return false;
}

static tct_status receive_ranks(tct_star *star, const tct_sockets *o, void *listener, tct_error *err) {
  char why[TCT_TLS_WHY];
  double end = tct_clock() + o->timeout;
  for (int32_t missing = star->ranks - 1; missing > 0;) {
    tct_tls_ended ended;
    const tct_tls_wait wait = {.seconds = end - tct_clock()};
    void *came = star->tls->accept(listener, &wait, &ended, why, sizeof why);
    if (came && admit(star, came, o, wait.seconds)) missing--;
    if (cancelled(o)) return tct_fail(err, TCT_E_CANCELLED, "cancelled before all ranks had come");
    if (missing > 0 && tct_clock() > end)
      return tct_fail(
          err, TCT_E_RUN,
          "%d of %d other ranks did not come within %g seconds; start them, with the same secret and number "
          "of ranks, and look at what they say",
          (int)missing, (int)star->ranks - 1, o->timeout);
  }
  star->lost = -1;
  return TCT_OK;
}

static tct_status host(tct_star *star, const tct_sockets *o, const tct_tls_terms *terms, tct_error *err) {
  char why[TCT_TLS_WHY];
  void *listener = star->tls->listen(terms, o->address, o->listener, why, sizeof why);
  if (!listener) return tct_fail(err, TCT_E_RUN, "rank 0: %s", why);
  tct_status status = receive_ranks(star, o, listener, err);
  star->tls->close_listener(listener);
  return status;
}

/* ---- the others ----------------------------------------------------------------------------------------------- */

static bool is_welcome(tct_star *star, const tct_sockets *o, double end) {
  const tct_patience patience = {
      .size = sizeof patience, .cancel = o->cancel, .user = o->user, .seconds = end - tct_clock()};
  int32_t rank = 0;
  return prepare(star->tls->socket(star->peer[0]), o->timeout, NULL) == TCT_OK &&
         tct_star_receive(star, 0, TCT_MESSAGE_WELCOME, &rank, sizeof rank, &patience) == TCT_TRANSPORT_DONE &&
         rank == star->rank;
}

static tct_status join(tct_star *star, const tct_sockets *o, tct_tls_terms *terms, tct_error *err) {
  char name[NAME], why[TCT_TLS_WHY] = "";
  tct_tls_ended ended;
  const tct_tls_wait wait = {.seconds = o->timeout};
  double end = tct_clock() + o->timeout;
  snprintf(name, sizeof name, "%d", (int)star->rank);
  terms->name = name;
  star->peer[0] = star->tls->connect(terms, o->address, &wait, &ended, why, sizeof why);
  if (star->peer[0] && is_welcome(star, o, end)) return TCT_OK;
  if (cancelled(o)) return tct_fail(err, TCT_E_CANCELLED, "cancelled before rank 0 had answered");
  if (!star->peer[0] && ended == TCT_TLS_UNUSABLE) return tct_fail(err, TCT_E_RUN, "%s", why);
  if (!star->peer[0] && ended == TCT_TLS_LATE)
    return tct_fail(err, TCT_E_RUN,
                    "rank 0 does not answer at %.200s within %g seconds; start it, and check the address", o->address,
                    o->timeout);
  return tct_fail(
      err, TCT_E_RUN,
      "rank 0 at %.200s does not take rank %d of %d; give both the same secret, number of ranks and version, "
      "and each rank its own number",
      o->address, (int)o->rank, (int)o->ranks);
}

tct_status tct_star_meet(tct_star *star, const tct_sockets *o, const unsigned char key[TCT_TLS_KEY], tct_error *err) {
  tct_tls_terms terms = {.key = key, .cancel = o->cancel, .user = o->user};
  TCT_TRY(tct_tls_load(&star->tls, err));
  return star->rank == 0 ? host(star, o, &terms, err) : join(star, o, &terms, err);
}
