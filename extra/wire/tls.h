/* tls.h - what the library of TLS connections provides: libtacit_tls.so, loaded by wire_tls.c when a verb needs it.
 *
 * Functions that can fail return NULL or a number other than 0 and write one sentence to why[size]. */
#ifndef TCT_WIRE_TLS_H
#define TCT_WIRE_TLS_H
#include <stdbool.h>
#include <stddef.h>

enum { TCT_TLS_VERSION = 4, TCT_TLS_WHY = 400, TCT_TLS_BINDING = 32 };

/* PEM files: own chain, its key, and the authority that signs all peers. */
typedef struct tct_tls_files {
  const char *certificate, *private_key, *authority;
  const char *revoked; /* the authority's list of revoked certificates, or NULL */
  bool (*stop)(void);  /* asked while something is waited for: true ends the wait as if it were too late */
} tct_tls_files;

/* Waiting for a peer. */
typedef struct tct_tls_wait {
  double seconds;
  void *watch;  /* a connection, or NULL: what arrives there ends the wait */
  int any_host; /* connect: the certificate need not be for HOST, its name is checked by the caller */
} tct_tls_wait;

typedef enum tct_tls_ended { TCT_TLS_REFUSED, TCT_TLS_LATE, TCT_TLS_WATCHED } tct_tls_ended;

/* Both ways at once: bytes leave while others arrive, until `in` is full. */
typedef struct tct_tls_swap {
  const void *out;
  size_t out_size, out_done; /* out_done: how many have left; the next call goes on there */
  void *in;
  size_t in_size;
} tct_tls_swap;

typedef struct tct_tls {
  int version;
  /* address HOST:PORT; port 0: any, see port. */
  void *(*listen)(const tct_tls_files *files, const char *address, char *why, size_t size);
  int (*port)(void *listener);
  /* The next peer with a valid certificate.  One that is refused is one failure, and the listener stays usable.
   * Handshakes go on side by side, so nobody keeps another out; *ended says why there is no peer. */
  void *(*accept)(void *listener, const tct_tls_wait *wait, tct_tls_ended *ended, char *why, size_t size);
  /* Tries until the other side answers or the wait is over; its certificate must be for HOST. */
  void *(*connect)(const tct_tls_files *files, const char *address, const tct_tls_wait *wait, char *why, size_t size);
  /* Exactly `count` bytes within `seconds`. */
  int (*send)(void *connection, const void *bytes, size_t count, double seconds, char *why, size_t size);
  int (*receive)(void *connection, void *bytes, size_t count, double seconds, char *why, size_t size);
  int (*waiting)(void *connection); /* has something arrived? */
  int (*swap)(void *connection, tct_tls_swap *both, double seconds, char *why, size_t size);
  /* Bytes that both ends of this connection compute and nobody else: RFC 8446's exporter. */
  int (*binding)(void *connection, unsigned char out[TCT_TLS_BINDING]);
  /* The common name in the peer's certificate. */
  void (*name)(void *connection, char *out, size_t size);
  void (*close)(void *connection); /* says goodbye */
  void (*close_listener)(void *listener);
} tct_tls;
#endif
