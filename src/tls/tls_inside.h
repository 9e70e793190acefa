/* tls_inside.h - what the files of libtacit_tls.so share. */
#ifndef TCT_TLS_INSIDE_H
#define TCT_TLS_INSIDE_H
#include "core/stop.h"
#include "tls/tls.h"

#include <netdb.h>
#include <openssl/ssl.h>

typedef struct tls_connection {
  SSL_CTX *context; /* a connecting side's own; NULL at an accepting one */
  SSL *ssl;
  BIO_METHOD *calls; /* of its socket */
  int socket;
  tct_cancel_fn cancel;
  void *user;
  bool by_key;
  char name[16]; /* as which a peer with the key has come */
} tls_connection;

/* For poll: milliseconds until the deadline, or until `cancel` is to be asked again. */
int tls_left(double deadline);

/* One step of OpenSSL that returned `outcome`. */
typedef enum tls_step { TLS_DONE, TLS_FAILED, TLS_READ, TLS_WRITE } tls_step;
tls_step tls_step_of(const tls_connection *c, int outcome);
/* The next step of a handshake; done: the peer has shown what the terms ask for. */
tls_step tls_shake(tls_connection *c, int (*with)(SSL *ssl));
/* Why the handshake failed. */
void tls_explain(const tls_connection *c, char *why, size_t size);

/* With a key the terms stay until the last handshake. */
SSL_CTX *tls_context(const tct_tls_terms *terms, int server, char *why, size_t size);
struct addrinfo *tls_resolve(const char *address, int passive, char host[256], char *why, size_t size);
/* Takes the socket, closes it where it fails. */
tls_connection *tls_connection_new(SSL_CTX *context, int socket, const tct_tls_terms *terms);
void tls_close(void *connection);

/* tls_key.c: a key instead of certificates. */
bool tls_take_key(SSL_CTX *context, const tct_tls_terms *terms);

/* tls_accept.c */
void *tls_listen(const tct_tls_terms *terms, const char *address, int socket, char *why, size_t size);
int tls_port(void *listener);
void *tls_accept(void *listener, const tct_tls_wait *wait, tct_tls_ended *ended, char *why, size_t size);
void tls_close_listener(void *listener);
#endif
