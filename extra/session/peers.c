/* peers.c - parties connect with each other: TLS 1.3 with certificates, then a proof that both have the secret.
 *
 * The authority of the certificates may be the server's friend, or the server.  So a certificate alone is not enough.
 * Whoever stands between two parties with certificates of its own has two connections.  Their exported bytes differ,
 * and it has no secret to hash them under.  (TLS 1.3 with a pre-shared key leaves the certificates out, so the secret
 * enters after the handshake.)  The session's name binds the terms: parties who were told different terms do not meet.
 */
#include "core/digest.h"
#include "session/peers.h"

#include <stdio.h>
#include <string.h>

enum { PROOF = 32 };
static const int kinds[] = {TCT_SAY_PROOF, TCT_RING_PUBLIC, 0}, paid[] = {TCT_RING_COLUMNS, 0};

/* ---- listening ------------------------------------------------------------------------------------------------- */

static bool is_any_host(const char *address) {
  return !strncmp(address, "0.0.0.0:", 8) || !strncmp(address, "[::]:", 5);
}

/* Where the others are to come: as announced, else where it listens, with the port that the system gave. */
static tct_status announce(const tct_session *o, const tct_peers *peers, char address[TCT_ROSTER_ADDRESS],
                           tct_error *err) {
  const char *from = o->announce ? o->announce : o->listen, *colon = strrchr(from, ':');
  if (is_any_host(from))
    return tct_fail(err, TCT_E_USAGE, "no party can connect to %s; give {announce HOST:PORT} as the others reach it",
                    from);
  if (!colon || strlen(from) + 8 >= TCT_ROSTER_ADDRESS)
    return tct_fail(err, TCT_E_USAGE, "'%.100s' is no address; give HOST:PORT, e.g. 127.0.0.1:7443", from);
  if (o->announce || strcmp(colon, ":0") != 0)
    snprintf(address, TCT_ROSTER_ADDRESS, "%s", from);
  else
    snprintf(address, TCT_ROSTER_ADDRESS, "%.*s:%d", (int)(colon - from), from, tct_wire_port(&peers->door));
  return TCT_OK;
}

tct_status tct_peers_listen(const tct_session *o, tct_peers *peers, char address[TCT_ROSTER_ADDRESS], tct_error *err) {
  address[0] = 0;
  if (!o->listen && o->announce)
    return tct_fail(err, TCT_E_USAGE, "an address is announced where nobody listens; give {listen HOST:PORT} too");
  if (!o->address || !o->listen) return TCT_OK;
  const tct_tls_terms files = tct_session_files(o);
  TCT_TRY(tct_wire_listen(&files, o->listen, 0, o->timeout, &peers->door, err));
  return announce(o, peers, address, err);
}

/* ---- the proof ------------------------------------------------------------------------------------------------- */

/* What party `from` shows party `to` on this connection. */
static tct_status prove(const tct_seat *place, const tct_wire *wire, int from, int to, unsigned char proof[PROOF],
                        tct_error *err) {
  tct_digest digest;
  unsigned char binding[TCT_WIRE_BINDING];
  TCT_TRY(tct_wire_binding(wire, binding, err));
  tct_secret_start(place->secret, "a session between parties", "proof", &digest);
  tct_digest_field(&digest, 'S', place->session, sizeof place->session);
  tct_digest_field(&digest, 'B', binding, sizeof binding);
  tct_digest_word(&digest, 'F', (uint64_t)from);
  tct_digest_word(&digest, 'T', (uint64_t)to);
  tct_digest_end_bytes(&digest, proof);
  tct_wipe(&digest, sizeof digest);
  return TCT_OK;
}

static int differ(const unsigned char *a, const unsigned char *b) {
  int any = 0;
  for (int i = 0; i < PROOF; i++) any |= a[i] ^ b[i];
  return any;
}

/* The connecting end shows its proof first, so that the listening end shows none to whoever comes. */
static tct_status exchange_proofs(const tct_seat *place, tct_wire *wire, int other, tct_error *err) {
  unsigned char own[PROOF], theirs[PROOF], expected[PROOF];
  bool listens = wire->self == TCT_SERVER;
  int peer = listens ? 0 : TCT_SERVER;
  TCT_TRY(prove(place, wire, place->self, other, own, err));
  TCT_TRY(prove(place, wire, other, place->self, expected, err));
  if (!listens) TCT_TRY(tct_wire_send(wire, peer, TCT_SAY_PROOF, own, PROOF, err));
  TCT_TRY(tct_wire_receive(wire, peer, TCT_SAY_PROOF, theirs, PROOF, err));
  if (differ(theirs, expected))
    return tct_fail(err, TCT_E_RUN,
                    "'%.60s' has another secret or other terms, or somebody is between; nothing was sent",
                    place->roster->name[other]);
  return listens ? tct_wire_send(wire, peer, TCT_SAY_PROOF, own, PROOF, err) : TCT_OK;
}

/* ---- meeting --------------------------------------------------------------------------------------------------- */

/* The wire is that of party `other` from here on. */
static tct_status keep(tct_peers *peers, const tct_seat *place, int other, const tct_wire *came, tct_error *err) {
  tct_wire *wire = &peers->wire[other];
  *wire = *came;
  snprintf(wire->peer, sizeof wire->peer, "%s", place->roster->name[other]);
  wire->allowed = kinds, wire->paid = paid;
  wire->pay = place->server->pay, wire->pay_user = place->server->pay_user;
  tct_transcript_join(place->transcript, &peers->log[other], other, wire);
  peers->count++;
  return exchange_proofs(place, wire, other, err);
}

static tct_status dial(tct_peers *peers, const tct_seat *place, int other, tct_error *err) {
  tct_wire came;
  const char *name = place->roster->name[other];
  TCT_TRY(tct_wire_dial(&peers->door, place->roster->address[other], place->server, &came, err));
  if (!strcmp(came.peer, name)) return keep(peers, place, other, &came, err);
  tct_wire_close(&came);
  return tct_fail(err, TCT_E_RUN, "at %.100s is another party than '%.60s'; check the addresses",
                  place->roster->address[other], name);
}

/* The next party of a larger number that has not come yet; others are turned away. */
static tct_status take_one(tct_peers *peers, const tct_seat *place, tct_error *err) {
  tct_wire came;
  TCT_TRY(tct_wire_take(&peers->door, place->server, &came, err));
  for (int k = place->self + 1; came.backend && k < place->roster->count; k++)
    if (!peers->wire[k].backend && !strcmp(place->roster->name[k], came.peer)) return keep(peers, place, k, &came, err);
  tct_wire_close(&came);
  return TCT_OK;
}

static tct_status meet_ranks(tct_peers *peers, const tct_seat *place, tct_error *err) {
  for (int k = 0; k < place->roster->count; k++) {
    tct_wire wire;
    if (k == place->self) continue;
    TCT_TRY(tct_wire_ranks_pair(place->server, k, place->self < k, &wire, err));
    TCT_TRY(keep(peers, place, k, &wire, err));
  }
  return TCT_OK;
}

tct_status tct_peers_meet(tct_peers *peers, const tct_seat *place, tct_error *err) {
  if (!peers->door.backend) return meet_ranks(peers, place, err);
  for (int k = 0; k < place->self; k++) TCT_TRY(dial(peers, place, k, err));
  while (peers->count < place->roster->count - 1) TCT_TRY(take_one(peers, place, err));
  tct_wire_close(&peers->door);
  return TCT_OK;
}

void tct_peers_close(tct_peers *peers) {
  for (int k = 0; k < TCT_PARTIES_MAX; k++) tct_wire_close(&peers->wire[k]);
  tct_wire_close(&peers->door);
}
