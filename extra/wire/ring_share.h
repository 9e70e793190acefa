/* ring_share.h - sums in shares modulo 2^64: what may cross between parties, and between a party and the server.
 *
 * Party k hides its block of integers x as u = x - a, a the mask of a seed of its own.  It gives u to the other
 * parties, and the seed to the server.  Who has both has x: nobody may.  So u goes to peers alone and the seed to the
 * server alone.  A frame to the server is a seed or a masked share, and is checked where it is sent.  A share leaves
 * after its noise was charged and drawn and a share of zero was added, which this file does, in that order.
 *
 * For X_j' X_k, j < k:  u_j' x_k (by k) + a_j' u_k (by j) + a_j' a_k (the server: c from j's seed, the rest sent to k).
 */
#ifndef TCT_WIRE_RING_SHARE_H
#define TCT_WIRE_RING_SHARE_H
#include "mech/mech.h"
#include "wire/wire.h"

enum {
  TCT_RING_PUBLIC = 16,  /* to a peer: a public key */
  TCT_RING_COLUMNS = 17, /* to a peer: a block of u */
  TCT_RING_SEED = 18,    /* to the server: the seed of the own mask */
  TCT_RING_REST = 19,    /* from the server: its part of a_j' a_k less c */
  TCT_RING_SHARE = 20,   /* to the server: the masked share of everything */
  TCT_RING_DONE = 21,    /* from the server: the model */
  TCT_RING_ID = 32       /* bytes of a session's name, which no other session has */
};

/* One end of a connection. */
typedef struct tct_ring_link {
  tct_wire *wire;
  int peer; /* the other end, as the wire counts */
} tct_ring_link;

/* ---- a party ---- */
typedef struct tct_ring_party tct_ring_party;
/* Where seeds come from.  Apart: from the operating system, whatever seed the gate has, so that no other session has
 * them.  In a simulation: from the gate's key, so that it can be repeated. */
typedef enum tct_ring_seeds { TCT_RING_APART, TCT_RING_SIMULATED } tct_ring_seeds;
typedef struct tct_ring_place {
  int self, parties;
  tct_ring_seeds seeds;
  unsigned char session[TCT_RING_ID];
} tct_ring_place;
/* mech: the party's gate; outlives it. */
tct_status tct_ring_party_new(tct_mech *mech, const tct_ring_place *place, tct_ring_party **out, tct_error *err);
void tct_ring_party_free(tct_ring_party *party);                               /* wipes; NULL is fine */
void tct_ring_party_link(tct_ring_party *party, int peer, tct_ring_link link); /* peer: a party, or TCT_SERVER */

/* Public keys, before anything else; every say of one end has its hear at the other. */
tct_status tct_ring_say_public(tct_ring_party *party, int peer, tct_error *err);
tct_status tct_ring_hear_public(tct_ring_party *party, int peer, tct_error *err);
/* Once: the mask is for `words` numbers, rows times columns. */
tct_status tct_ring_say_seed(tct_ring_party *party, int64_t words, tct_error *err);
/* The next block of rows: mask[count] <- a; u = x - a is kept for say_columns, which sends nothing else. */
tct_status tct_ring_hide(tct_ring_party *party, const uint64_t *x, int64_t count, uint64_t *mask, tct_error *err);
tct_status tct_ring_say_columns(tct_ring_party *party, int peer, tct_error *err);
tct_status tct_ring_hear_columns(tct_ring_party *party, int peer, uint64_t *u, int64_t count, tct_error *err);
/* Both at once. */
tct_status tct_ring_swap_columns(tct_ring_party *party, int peer, uint64_t *u, int64_t count, tct_error *err);
/* out[count] <- the share of a_j' a_k, by rows: from the own seed for a peer of a larger number, else from the server.
 */
tct_status tct_ring_correction(tct_ring_party *party, int peer, uint64_t *out, int64_t count, tct_error *err);
/* A part of the share: release r of the gate. */
typedef struct tct_ring_part {
  int r;
  uint64_t *at; /* [len] */
  int64_t len;
} tct_ring_part;
/* Charges and draws the own noise of every part, adds a share of zero, and sends all; the parts lie one behind the
 * other from part[0].at.  Once. */
tct_status tct_ring_say_share(tct_ring_party *party, const tct_ring_part *part, int parts, tct_error *err);

/* ---- the server ---- */
typedef struct tct_ring_server tct_ring_server;
tct_status tct_ring_server_new(int parties, const unsigned char session[TCT_RING_ID], tct_ring_server **out,
                               tct_error *err);
void tct_ring_server_free(tct_ring_server *server);
void tct_ring_server_link(tct_ring_server *server, int party, tct_ring_link link);
tct_status tct_ring_hear_seed(tct_ring_server *server, int party, int64_t words, tct_error *err);
/* mask[count] <- the next words of the party's mask. */
tct_status tct_ring_masks(tct_ring_server *server, int party, uint64_t *mask, int64_t count, tct_error *err);
/* Deals a_j' a_k, j < k: product[count] is overwritten by what party k is sent. */
tct_status tct_ring_deal(tct_ring_server *server, int j, int k, uint64_t *product, int64_t count, tct_error *err);
/* sum[len] += the party's masked share.  scratch: len words. */
tct_status tct_ring_hear_share(tct_ring_server *server, int party, uint64_t *sum, uint64_t *scratch, int64_t len,
                               tct_error *err);
#endif
