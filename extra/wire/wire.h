/* wire.h - the wire between a server and the parties: typed, numbered, length-framed messages.
 *
 * A wire end belongs to one role: the server (self = -1, peers 0..parties-1) or a party (its one peer is the server).
 * How bytes travel is the backend's; framing is common to all, so a message is the same bytes on each.  What may be
 * sent is not decided here: a solver sends through wire/wire_gate.h, which charges first. */
#ifndef TCT_WIRE_WIRE_H
#define TCT_WIRE_WIRE_H
#include "tls/tls.h"

enum { TCT_PARTIES_MAX = 64, TCT_SERVER = -1 };

typedef struct tct_wire tct_wire;

/* A backend: moves exactly `size` bytes or fails with a sentence.  A peer that vanishes or stays silent is a failure,
 * never a wait without end. */
typedef struct tct_wire_backend {
  tct_status (*send)(tct_wire *wire, int to, const void *bytes, size_t size, tct_error *err);
  tct_status (*receive)(tct_wire *wire, int from, void *bytes, size_t size, tct_error *err);
  /* Sends what is left of `out` while `in` arrives, and returns as soon as that is whole; NULL: it cannot do both. */
  tct_status (*swap)(tct_wire *wire, int peer, tct_tls_swap *both, tct_error *err);
  int (*binding)(const tct_wire *wire, unsigned char *out); /* see tct_wire_binding; NULL: none.  Not 0: failed */
  void (*close)(tct_wire *wire);                            /* frees what `state` holds */
} tct_wire_backend;

struct tct_wire {
  const tct_wire_backend *backend;
  void *state;
  int self;           /* TCT_SERVER, or the party's number */
  int parties;        /* K */
  char peer[128];     /* between parties: the other one, for sentences; "" on a wire with the server */
  const int *allowed; /* types of frames that may leave besides a failure, the last one 0; NULL: all */
  const int *paid;    /* likewise, but not before `pay` has succeeded, which is called for each of them; or NULL */
  tct_status (*pay)(void *user, tct_error *err);
  void *pay_user;
  bool peer_spoke;           /* the last failure here is a reason to stop that the peer sent */
  int slot[TCT_PARTIES_MAX]; /* server: which of the backend's peers party k is; 0, 1, 2, ... at first */
  uint32_t sent[TCT_PARTIES_MAX + 1], received[TCT_PARTIES_MAX + 1]; /* messages with peer i at [i + 1] */
  int64_t bytes_sent, bytes_received;                                /* frames with their headers */
  /* Sees each frame that leaves, before the backend does; NULL = nobody.  A failure stops the frame. */
  tct_status (*log)(void *user, int to, const void *frame, size_t size, tct_error *err);
  void *log_user;
};

/* The header, little-endian: "TCT1", type (2 bytes), sender (2 bytes: 1 server, 2 party), number of the message between
 * these two in this direction (8 bytes), body length (8 bytes). */
enum { TCT_FRAME_HEADER = 24, TCT_FRAME_FAILURE = 0xfffe };

/* May a frame of this type leave?  Pays for it where it has to be paid for: before its body is drawn. */
tct_status tct_wire_clear(tct_wire *wire, int type, tct_error *err);
/* Sends a body as one frame, cleared before. */
tct_status tct_wire_send(tct_wire *wire, int to, int type, const void *body, size_t size, tct_error *err);
/* Receives the next frame: its type, sender, number and length must be those that are expected. */
tct_status tct_wire_receive(tct_wire *wire, int from, int type, void *body, size_t size, tct_error *err);
/* The same for a body of at most `most` bytes; *body is allocated, *size bytes and a 0 after them. */
tct_status tct_wire_receive_any(tct_wire *wire, int from, int type, size_t max, void **body, size_t *size,
                                tct_error *err);
/* Instead of what is due: a sentence of tct_error_pack (no value of a record in it), which becomes the receiver's
 * error.  What goes wrong here is not said: there is another error to report. */
void tct_wire_send_failure(tct_wire *wire, int to, const char *sentence);
/* One frame of one type each way at the same time, so that two ends with much to say do not wait for each other. */
typedef struct tct_swap {
  int type;
  const void *out;
  size_t out_size;
  void *in;
  size_t in_size;
} tct_swap;
tct_status tct_wire_swap(tct_wire *wire, int peer, const tct_swap *both, tct_error *err);
/* Numbers in a body, little-endian on every machine. */
tct_status tct_wire_send_reals(tct_wire *wire, int to, int type, const double *value, int64_t count, tct_error *err);
tct_status tct_wire_receive_reals(tct_wire *wire, int from, int type, double *value, int64_t count, tct_error *err);
/* Returns what the backend holds; the struct is the caller's.  Twice is fine. */
void tct_wire_close(tct_wire *wire);

/* ---- over the network: TLS 1.3 with certificates on both sides (Debian: libssl-dev when building) ---- */
/* The server's end.  listen binds; accept waits until `parties` peers have come, at most `seconds`.  A peer that is
 * refused does not end the wait, but its reason is told if the others do not come.  seconds is also how long a message
 * may take later. */
tct_status tct_wire_listen(const tct_tls_terms *files, const char *address, int parties, double seconds, tct_wire *wire,
                           tct_error *err);
tct_status tct_wire_accept(tct_wire *wire, tct_error *err);
/* The port that a listening wire has. */
int tct_wire_port(const tct_wire *wire);
/* A party's end; self is 0 until it is told otherwise. */
tct_status tct_wire_connect(const tct_tls_terms *files, const char *address, double seconds, tct_wire *wire,
                            tct_error *err);
/* The name in the peer's certificate, or its number where it shows none. */
void tct_wire_peer(const tct_wire *wire, int peer, char *out, size_t size);

/* Between two parties: each end is a wire of its own with one peer.  The one with the smaller number listens at a
 * door, a wire of tct_wire_listen (port 0: any, see tct_wire_port), and has self = TCT_SERVER; the other connects.
 * Certificates are checked, hosts are not: the caller compares names.
 *
 * Both wait at most the door's seconds.  They stop as soon as something arrives on the wire to the server, which has
 * nothing to say meanwhile but that it stops: TCT_E_RUN with its sentence.  take: *out has no backend where one came
 * that was refused (its reason is in err for the case that no other comes). */
tct_status tct_wire_take(const tct_wire *door, tct_wire *server, tct_wire *out, tct_error *err);
tct_status tct_wire_dial(const tct_wire *door, const char *address, tct_wire *server, tct_wire *out, tct_error *err);
/* binding[32]: bytes that both ends of this connection compute and nobody else.  Zeros where there is no TLS. */
enum { TCT_WIRE_BINDING = 32 };
tct_status tct_wire_binding(const tct_wire *wire, unsigned char binding[TCT_WIRE_BINDING], tct_error *err);

/* ---- over ranks that mpirun started: rank 0 is the server, rank 1 + k party k ---- */
struct tct_team;
tct_status tct_wire_ranks(struct tct_team *team, double seconds, tct_wire *wire, tct_error *err);
/* The wire between the parties of this rank and of another one; first: this one has the smaller number. */
tct_status tct_wire_ranks_pair(const tct_wire *server, int other, bool first, tct_wire *out, tct_error *err);

/* K + 1 ends in one process: wire[0] the server's, wire[1 + k] party k's.  Messages wait in a queue; receiving what
 * has not been sent is a failure, so the roles must take turns. */
tct_status tct_wire_memory(int parties, tct_wire *wire, tct_error *err);
#endif
