/* tls_inside.h - what the files of libtacit_tls.so share. */
#ifndef TCT_WIRE_TLS_INSIDE_H
#define TCT_WIRE_TLS_INSIDE_H
#include "wire/tls.h"

#include <netdb.h>
#include <openssl/ssl.h>
#include <signal.h>

typedef struct tls_connection {
  SSL_CTX *context; /* a connecting side's own; NULL at an accepting one */
  SSL *ssl;
  int socket;
  bool (*stop)(void);
} tls_connection;

double tls_now(void);
/* A write to a peer that is gone is an error here, not the end of the program: its signal is kept back and taken. */
typedef struct tls_quiet {
  sigset_t before;
  int pending;
} tls_quiet;
tls_quiet tls_quiet_begin(void);
void tls_quiet_end(const tls_quiet *quiet);
/* For poll: milliseconds until the deadline, or until `stop` is to be asked again. */
int tls_left(double deadline);

/* One step of OpenSSL that returned `outcome`. */
typedef enum tls_step { TLS_DONE, TLS_FAILED, TLS_READ, TLS_WRITE } tls_step;
tls_step tls_step_of(const tls_connection *c, int outcome);
/* Why the handshake failed. */
void tls_explain(const tls_connection *c, char *why, size_t size);

SSL_CTX *tls_context(const tct_tls_files *files, int server, char *why, size_t size);
struct addrinfo *tls_resolve(const char *address, int passive, char host[256], char *why, size_t size);
/* Takes the socket, closes it where it fails. */
tls_connection *tls_connection_new(SSL_CTX *context, int socket, bool (*stop)(void));
void tls_close(void *connection);

/* tls_accept.c */
void *tls_listen(const tct_tls_files *files, const char *address, char *why, size_t size);
int tls_port(void *listener);
void *tls_accept(void *listener, const tct_tls_wait *wait, tct_tls_ended *ended, char *why, size_t size);
void tls_close_listener(void *listener);
#endif
