/* sockets.h - TLS connections between rank 0 and each other rank. */
#ifndef TCT_RANKS_SOCKETS_H
#define TCT_RANKS_SOCKETS_H
#include "core/stop.h"
#include "tls/tls.h"

/* Rank 0 has a peer for each other rank, at its number; every other rank has one, peer[0]. */
typedef struct tct_star {
  int32_t rank, ranks;
  const tct_tls *tls;
  void **peer;    /* [ranks], owned; NULL: no connection */
  int32_t lost;   /* as in tct_carrier */
  double *piece;  /* [TCT_PIECE] */
  double timeout; /* tct_sockets.timeout */
} tct_star;

enum { TCT_PIECE = 1 << 17 }; /* doubles that rank 0 adds up at once: 1 MiB */

/* What a message is; the connection keeps them in order. */
typedef enum tct_message {
  TCT_MESSAGE_WELCOME = 1,
  TCT_MESSAGE_SMALLEST,
  TCT_MESSAGE_SUM,
  TCT_MESSAGE_LARGEST,
  TCT_MESSAGE_BROADCAST,
  TCT_MESSAGE_GATHER,
  TCT_MESSAGE_SINGLE,
  TCT_MESSAGE_GOODBYE,
} tct_message;

/* Exactly size bytes; return a tct_transport_outcome.  While they wait, rank 0 also notices that another rank has
 * ended.  A peer's number: its rank, 0 for rank 0. */
int tct_star_send(tct_star *star, int32_t peer, tct_message kind, const void *bytes, int64_t size,
                  const tct_patience *patience);
int tct_star_receive(tct_star *star, int32_t peer, tct_message kind, void *bytes, int64_t size,
                     const tct_patience *patience);

/* Rank 0 takes the others in, each other rank comes to it.  Fills star->peer. */
tct_status tct_star_meet(tct_star *star, const tct_sockets *options, const unsigned char key[TCT_TLS_KEY],
                         tct_error *err);
#endif
