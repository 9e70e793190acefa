/* tls.h - what the library of TLS connections provides: libtacit_tls.so, loaded by wire_tls.c when a verb needs it.
 *
 * Functions that can fail return NULL or a number other than 0 and write one sentence to why[size]. */
#ifndef TCT_WIRE_TLS_H
#define TCT_WIRE_TLS_H
#include <stddef.h>

enum { TCT_TLS_VERSION = 1, TCT_TLS_WHY = 400 };

/* PEM files: own chain, its key, and the authority that signs all peers. */
typedef struct tct_tls_files {
  const char *certificate, *private_key, *authority;
} tct_tls_files;

typedef struct tct_tls {
  int version;
  /* address HOST:PORT; port 0: any, see port. */
  void *(*listen)(const tct_tls_files *files, const char *address, char *why, size_t size);
  int (*port)(void *listener);
  /* The next peer with a valid certificate; a peer that is refused is one failure, and the listener stays usable.
   * *late: nobody came within `seconds`. */
  void *(*accept)(void *listener, double seconds, int *late, char *why, size_t size);
  /* Tries until the server answers or `seconds` are over; the server's certificate must be for HOST. */
  void *(*connect)(const tct_tls_files *files, const char *address, double seconds, char *why, size_t size);
  /* Exactly `count` bytes within `seconds`. */
  int (*send)(void *connection, const void *bytes, size_t count, double seconds, char *why, size_t size);
  int (*receive)(void *connection, void *bytes, size_t count, double seconds, char *why, size_t size);
  /* The common name in the peer's certificate. */
  void (*name)(void *connection, char *out, size_t size);
  void (*close)(void *connection); /* says goodbye */
  void (*close_listener)(void *listener);
} tct_tls;
#endif
