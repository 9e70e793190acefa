/* parties.h - the wire between a server and the parties: typed, numbered, length-framed messages.
 *
 * A wire end belongs to one role: the server (self = -1, peers 0..parties-1) or a party (its one peer is the server).
 * How bytes travel is the backend's; framing is common to all, so a message is the same bytes on each.  What may be
 * sent is not decided here: a solver sends through mech/share.h, which charges first. */
#ifndef TCT_TEAM_PARTIES_H
#define TCT_TEAM_PARTIES_H
#include "core/status.h"
#include <stdbool.h>

enum { TCT_PARTIES_MOST = 64, TCT_SERVER = -1 };

typedef struct tct_wire tct_wire;

/* A backend: moves exactly `size` bytes or fails with a sentence.  A peer that vanishes or stays silent is a failure,
 * never a wait without end. */
typedef struct tct_wire_backend {
  tct_status (*send)(tct_wire *wire, int to, const void *bytes, size_t size, tct_error *err);
  tct_status (*receive)(tct_wire *wire, int from, void *bytes, size_t size, tct_error *err);
  void (*close)(tct_wire *wire); /* frees what `state` holds */
} tct_wire_backend;

struct tct_wire {
  const tct_wire_backend *backend;
  void *state;
  int self;                                                            /* TCT_SERVER, or the party's number */
  int parties;                                                         /* K */
  uint32_t sent[TCT_PARTIES_MOST + 1], received[TCT_PARTIES_MOST + 1]; /* messages with peer i at [i + 1] */
  int64_t bytes_sent, bytes_received;                                  /* frames with their headers */
  /* Sees each frame that leaves, before the backend does; NULL = nobody.  A failure stops the frame. */
  tct_status (*log)(void *user, int to, const void *frame, size_t size, tct_error *err);
  void *log_user;
};

/* The header, little-endian: "TCT1", type (2 bytes), sender (2 bytes, 0xffff = server), number of the message between
 * these two in this direction (8 bytes), body length (8 bytes). */
enum { TCT_FRAME_HEADER = 24 };

/* Sends a body as one frame. */
tct_status tct_wire_send(tct_wire *wire, int to, int type, const void *body, size_t size, tct_error *err);
/* Receives the next frame: its type, sender, number and length must be those that are expected. */
tct_status tct_wire_receive(tct_wire *wire, int from, int type, void *body, size_t size, tct_error *err);
/* The same for a body of at most `most` bytes; *body is allocated, *size bytes and a 0 after them. */
tct_status tct_wire_receive_any(tct_wire *wire, int from, int type, size_t most, void **body, size_t *size,
                                tct_error *err);
/* Numbers in a body, little-endian on every machine. */
tct_status tct_wire_send_reals(tct_wire *wire, int to, int type, const double *value, int64_t count, tct_error *err);
tct_status tct_wire_receive_reals(tct_wire *wire, int from, int type, double *value, int64_t count, tct_error *err);
/* Returns what the backend holds; the struct is the caller's.  Twice is fine. */
void tct_wire_close(tct_wire *wire);

/* K + 1 ends in one process: wire[0] the server's, wire[1 + k] party k's.  Messages wait in a queue; receiving what
 * has not been sent is a failure, so the roles must take turns. */
tct_status tct_wire_memory(int parties, tct_wire *wire, tct_error *err);
#endif
