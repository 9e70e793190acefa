/* tls.h - what the library of TLS 1.3 connections provides: libtacit_tls.so, loaded by load_tls.c when a run needs it.
 *
 * Functions that can fail return NULL or a number other than 0 and write one sentence to why[size]. */
#ifndef TCT_TLS_TLS_H
#define TCT_TLS_TLS_H
#include "core/status.h"

enum { TCT_TLS_VERSION = 5, TCT_TLS_WHY = 400, TCT_TLS_BINDING = 32, TCT_TLS_KEY = 32 };

/* How the two sides know each other.  With a key nobody shows a certificate, and who lacks the key is refused. */
typedef struct tct_tls_terms {
  const char *certificate, *private_key, *authority; /* PEM files: own chain, its key, and who signs all peers */
  const char *revoked;                               /* the authority's list of revoked certificates, or NULL */
  const unsigned char *key;                          /* instead of files: TCT_TLS_KEY bytes that both sides have */
  const char *name;     /* with a key: what a connecting side says it is called, which only holders of the key can */
  tct_cancel_fn cancel; /* asked while a peer is waited for, or NULL: true ends the wait as if it were too late */
  void *user;
} tct_tls_terms;

/* Waiting for a peer. */
typedef struct tct_tls_wait {
  double seconds;
  void *watch;  /* a connection, or NULL: what arrives there ends the wait */
  int any_host; /* connect: the certificate need not be for HOST, its name is checked by the caller */
} tct_tls_wait;

/* Why there is no connection: the peer was refused or refuses; none came or answers; something arrived at `watch`; the
 * terms or the address are of no use. */
typedef enum tct_tls_ended { TCT_TLS_REFUSED, TCT_TLS_LATE, TCT_TLS_WATCHED, TCT_TLS_UNUSABLE } tct_tls_ended;

/* Both ways at once: bytes leave while others arrive, until `in` is full, or where there is none until all has left. */
typedef struct tct_tls_swap {
  const void *out;
  size_t out_size, out_done; /* out_done: how many have left; the next call goes on there */
  void *in;
  size_t in_size;
} tct_tls_swap;

/* How a swap waits for the socket: at most `seconds`, and as the terms say; or as `await` does, if there is one. */
typedef struct tct_tls_patience {
  double seconds;
  int (*await)(void *user, short events); /* 0: it is ready for these events of poll; else what the swap returns */
  void *user;
} tct_tls_patience;

enum { TCT_TLS_BROKEN = -1, TCT_TLS_DAMAGED = -2 /* what came is not what was sent */, TCT_TLS_SILENT = -3 };

typedef struct tct_tls {
  int version;
  /* socket: one that listens already, which stays the caller's; below 0: HOST:PORT, port 0 any, see port.  The terms
   * stay until the listener is closed. */
  void *(*listen)(const tct_tls_terms *terms, const char *address, int socket, char *why, size_t size);
  int (*port)(void *listener);
  /* The next peer that is what the terms ask for.  One that is refused is one failure, and the listener stays usable.
   * Handshakes go on side by side, so nobody keeps another out; *ended says why there is no peer. */
  void *(*accept)(void *listener, const tct_tls_wait *wait, tct_tls_ended *ended, char *why, size_t size);
  /* Tries until the other side answers or the wait is over; its certificate must be for HOST. */
  void *(*connect)(const tct_tls_terms *terms, const char *address, const tct_tls_wait *wait, tct_tls_ended *ended,
                   char *why, size_t size);
  /* 0, TCT_TLS_BROKEN, _DAMAGED or _SILENT, or what `await` returned. */
  int (*swap)(void *connection, tct_tls_swap *both, const tct_tls_patience *patience, char *why, size_t size);
  int (*waiting)(void *connection); /* has something arrived? */
  int (*torn)(void *connection);    /* has a part of a record arrived, and not its rest? */
  int (*socket)(void *connection);
  /* Bytes that both ends of this connection compute and nobody else: RFC 8446's exporter. */
  int (*binding)(void *connection, unsigned char out[TCT_TLS_BINDING]);
  /* The common name in the peer's certificate, or the name in the terms of a peer that connected with the key. */
  void (*name)(void *connection, char *out, size_t size);
  void (*close)(void *connection); /* says goodbye */
  void (*close_listener)(void *listener);
} tct_tls;

/* The library; TCT_E_RUN with a sentence where it is not installed. */
tct_status tct_tls_load(const tct_tls **tls, tct_error *err);
#endif
