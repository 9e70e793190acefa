/* peers.h - the parties of a session as all of them know each other, and the wires between them. */
#ifndef TCT_SESSION_PEERS_H
#define TCT_SESSION_PEERS_H
#include "session/session.h"

enum { TCT_ROSTER_NAME = 128, TCT_ROSTER_ADDRESS = 256 };

/* Who takes part, by number.  It is in the terms, so every end holds the same. */
typedef struct tct_roster {
  int count, seeded;                                 /* seeded: all draw reproducible noise; else nobody does */
  char name[TCT_PARTIES_MAX][TCT_ROSTER_NAME];       /* in the certificates */
  char address[TCT_PARTIES_MAX][TCT_ROSTER_ADDRESS]; /* where the other parties come to; "" over ranks */
  int64_t width[TCT_PARTIES_MAX];                    /* columns */
} tct_roster;
json_t *tct_roster_json(const tct_roster *roster);
/* TCT_E_RUN where the list is none of `count` parties of different names. */
tct_status tct_roster_parse(const json_t *list, int count, tct_roster *out, tct_error *err);
/* The name of a session in which these parties meet under these terms.  No other one has it: the nonce is the server's
 * and new; names, addresses, columns and seeds are the parties' own. */
void tct_roster_session(const tct_roster *roster, const char *nonce, const char *plan, unsigned char session[32]);

/* ---- between the parties ---- */
typedef struct tct_peers {
  tct_wire door; /* listens; no backend over ranks */
  int count;     /* wires that are open, by number */
  tct_wire wire[TCT_PARTIES_MAX];
  tct_transcript log[TCT_PARTIES_MAX];
} tct_peers;
/* Listens, where the options say so; address[]: where the others are to come. */
tct_status tct_peers_listen(const tct_session *options, tct_peers *peers, char address[TCT_ROSTER_ADDRESS],
                            tct_error *err);
/* A party among the others. */
typedef struct tct_seat {
  const tct_roster *roster;
  int self;
  unsigned char session[32];
  const tct_secret *secret; /* all parties have it, the server has not */
  tct_wire *server;         /* watched meanwhile: the server may stop all */
  const tct_transcript *transcript;
} tct_seat;
/* Connects with every other party.  Each shows its certificate, and then that it has the secret.  That is a hash under
 * it of the session, of both numbers, and of the bytes that TLS gives the two ends of a connection alone. */
tct_status tct_peers_meet(tct_peers *peers, const tct_seat *place, tct_error *err);
void tct_peers_close(tct_peers *peers); /* twice is fine */
#endif
