/* tls_openssl.c - TLS 1.3 connections with certificates or a key on both sides, as a library of its own
 * (libtacit_tls.so).
 *
 * No earlier version, no resumption, no early data.  Sockets do not block: every call has a deadline, so that a peer
 * that trickles bytes or says nothing is a failure in time. */
#define _GNU_SOURCE
#include "tls/tls_inside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef tls_connection connection;

int tls_left(double deadline) {
  double left = deadline - tct_clock();
  return left <= 0 ? 0 : left > 0.1 ? 100 : (int)(left * 1000) + 1;
}

static bool cancelled(tct_cancel_fn cancel, void *user) { return cancel && cancel(user); }

/* Waits for the socket until the deadline, or until it is cancelled; 0: it is ready. */
static int await(int socket, short events, double deadline, tct_cancel_fn cancel, void *user) {
  for (;;) {
    struct pollfd p = {.fd = socket, .events = events};
    int ready = poll(&p, 1, tls_left(deadline));
    if (ready > 0) return 0;
    if (tct_clock() >= deadline || (ready < 0 && errno != EINTR) || cancelled(cancel, user)) return 1;
  }
}

/* OpenSSL's reason for the last failure. */
static const char *reason(void) {
  unsigned long code = ERR_peek_last_error();
  const char *text = code ? ERR_reason_error_string(code) : NULL;
  return text ? text : "the connection broke off";
}

static int refuse_files(const char *what, const char *file, char *why, size_t size) {
  snprintf(why, size, "the %s %s cannot be used (%s); give a PEM file that fits the others", what, file, reason());
  return 1;
}

/* Peers are held against the list; one that is out of date, or of another authority, lets nobody in. */
static int take_revoked(SSL_CTX *c, const char *file, char *why, size_t size) {
  if (!file) return 0;
  X509_STORE *store = SSL_CTX_get_cert_store(c);
  X509_LOOKUP *lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
  if (!lookup || X509_load_crl_file(lookup, file, X509_FILETYPE_PEM) < 1)
    return refuse_files("list of revoked certificates", file, why, size);
  X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
  return 0;
}

/* False: the files cannot be used. */
static bool take_files(SSL_CTX *c, const tct_tls_terms *t, char *why, size_t size) {
  int bad = 0;
  if (SSL_CTX_load_verify_locations(c, t->authority, NULL) != 1)
    bad = refuse_files("authority", t->authority, why, size);
  if (!bad) bad = take_revoked(c, t->revoked, why, size);
  if (!bad && SSL_CTX_use_certificate_chain_file(c, t->certificate) != 1)
    bad = refuse_files("certificate", t->certificate, why, size);
  if (!bad &&
      (SSL_CTX_use_PrivateKey_file(c, t->private_key, SSL_FILETYPE_PEM) != 1 || SSL_CTX_check_private_key(c) != 1))
    bad = refuse_files("private key", t->private_key, why, size);
  return !bad;
}

SSL_CTX *tls_context(const tct_tls_terms *t, int server, char *why, size_t size) {
  ERR_clear_error();
  SSL_CTX *c = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
  bool good = c && SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) && SSL_CTX_set_max_proto_version(c, TLS1_3_VERSION);
  if (good && t->key) good = tls_take_key(c, t);
  if (!good) snprintf(why, size, "OpenSSL could not start (%s)", reason());
  if (good && !t->key) good = take_files(c, t, why, size);
  if (!good) {
    SSL_CTX_free(c);
    return NULL;
  }
  /* With a key nobody is trusted by a certificate: a connecting side refuses each that it is shown. */
  SSL_CTX_set_verify(c, t->key && server ? SSL_VERIFY_NONE : SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
  SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(c, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(c, 0);
  return c;
}

/* HOST:PORT, the host perhaps in brackets. */
static int split(const char *address, char *host, size_t host_size, char *port, size_t port_size) {
  const char *colon = strrchr(address, ':');
  if (!colon || colon == address || !colon[1]) return 1;
  int bracket = address[0] == '[' && colon[-1] == ']';
  int length = (int)(colon - address) - 2 * bracket;
  if (length <= 0 || (size_t)length >= host_size || strlen(colon + 1) >= port_size) return 1;
  snprintf(host, host_size, "%.*s", length, address + bracket);
  snprintf(port, port_size, "%s", colon + 1);
  return 0;
}

struct addrinfo *tls_resolve(const char *address, int passive, char host[256], char *why, size_t size) {
  char port[16];
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = passive ? AI_PASSIVE : 0}, *found = NULL;
  if (split(address, host, 256, port, sizeof port)) {
    snprintf(why, size, "'%.100s' is no address; give HOST:PORT, e.g. 127.0.0.1:7443", address);
    return NULL;
  }
  int code = getaddrinfo(host, port, &hints, &found);
  if (code) snprintf(why, size, "%.100s cannot be resolved (%s); check the address", address, gai_strerror(code));
  return code ? NULL : found;
}

tls_step tls_step_of(const connection *c, int outcome) {
  if (outcome == 1) return TLS_DONE;
  int error = SSL_get_error(c->ssl, outcome);
  return error == SSL_ERROR_WANT_READ ? TLS_READ : error == SSL_ERROR_WANT_WRITE ? TLS_WRITE : TLS_FAILED;
}

tls_step tls_shake(connection *c, int (*with)(SSL *ssl)) {
  ERR_clear_error();
  tls_step s = tls_step_of(c, with(c->ssl));
  return s == TLS_DONE && c->by_key && !SSL_session_reused(c->ssl) ? TLS_FAILED : s; /* not by the key: by what? */
}

void tls_explain(const connection *c, char *why, size_t size) {
  long verified = SSL_get_verify_result(c->ssl);
  if (verified != X509_V_OK)
    snprintf(why, size, "refused: the peer's certificate is not valid here (%s)",
             X509_verify_cert_error_string(verified));
  else
    snprintf(why, size, "refused: no TLS 1.3 connection with certificates on both sides came about (%s)", reason());
}

static int shake_hands(connection *c, double deadline, char *why, size_t size) {
  tls_step s;
  while ((s = tls_shake(c, SSL_connect)) == TLS_READ || s == TLS_WRITE)
    if (await(c->socket, s == TLS_READ ? POLLIN : POLLOUT, deadline, c->cancel, c->user)) break;
  if (s == TLS_DONE) return 0;
  if (s == TLS_FAILED)
    tls_explain(c, why, size);
  else
    snprintf(why, size, "refused: the peer connected and then said nothing in time");
  return 1;
}

/* ---- sockets: as OpenSSL's own, but a write to a peer that is gone is an error and no signal ---- */

static int socket_done(BIO *b, ssize_t done, int flag) {
  BIO_clear_retry_flags(b);
  if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
    BIO_set_flags(b, flag | BIO_FLAGS_SHOULD_RETRY);
  if (done == 0) BIO_set_flags(b, BIO_FLAGS_IN_EOF);
  return (int)done;
}

static int socket_write(BIO *b, const char *bytes, int size) {
  const connection *c = BIO_get_data(b);
  return socket_done(b, send(c->socket, bytes, (size_t)size, MSG_NOSIGNAL), BIO_FLAGS_WRITE);
}

static int socket_read(BIO *b, char *bytes, int size) {
  const connection *c = BIO_get_data(b);
  return socket_done(b, recv(c->socket, bytes, (size_t)size, 0), BIO_FLAGS_READ);
}

static long socket_control(BIO *b, int what, long number, void *more) {
  (void)number, (void)more;
  return what == BIO_CTRL_FLUSH || (what == BIO_CTRL_EOF && BIO_test_flags(b, BIO_FLAGS_IN_EOF));
}

static bool join_socket(connection *c) {
  BIO_METHOD *m = c->calls = BIO_meth_new(BIO_TYPE_SOCKET, "socket without signals");
  if (!m || !BIO_meth_set_write(m, socket_write) || !BIO_meth_set_read(m, socket_read) ||
      !BIO_meth_set_ctrl(m, socket_control))
    return false;
  BIO *b = BIO_new(m);
  if (!b) return false;
  BIO_set_data(b, c);
  BIO_set_init(b, 1);
  SSL_set_bio(c->ssl, b, b);
  return true;
}

void tls_close(void *handle) {
  connection *c = handle;
  if (!c) return;
  if (c->ssl && SSL_is_init_finished(c->ssl)) SSL_shutdown(c->ssl);
  SSL_free(c->ssl);
  BIO_meth_free(c->calls);
  if (c->socket >= 0) close(c->socket);
  SSL_CTX_free(c->context);
  free(c);
}

tls_connection *tls_connection_new(SSL_CTX *context, int socket, const tct_tls_terms *terms) {
  connection *c = calloc(1, sizeof *c);
  int one = 1;
  if (!c) {
    close(socket);
    return NULL;
  }
  *c = (connection){.socket = socket, .cancel = terms->cancel, .user = terms->user, .by_key = terms->key != NULL};
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  c->ssl = SSL_new(context);
  if (c->ssl && SSL_set_app_data(c->ssl, c) == 1 && join_socket(c)) return c;
  tls_close(c);
  return NULL;
}

/* One try of one address: the socket, or -1. */
static int try_one(const struct addrinfo *a, double deadline, const tct_tls_terms *t) {
  int s = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), bad = 0;
  socklen_t length = sizeof bad;
  if (s < 0) return -1;
  if (connect(s, a->ai_addr, a->ai_addrlen) != 0 && errno != EINPROGRESS) bad = errno;
  if (!bad && await(s, POLLOUT, deadline, t->cancel, t->user)) bad = ETIMEDOUT;
  if (!bad) getsockopt(s, SOL_SOCKET, SO_ERROR, &bad, &length);
  if (!bad) return s;
  close(s);
  return -1;
}

/* A socket to the address, tried again until the wait is over: the other side may not listen yet.  Where there are
 * several addresses, one that swallows all is left after a second. */
static int reach(const struct addrinfo *at, const tct_tls_wait *wait, double deadline, const tct_tls_terms *t) {
  const connection *watched = wait->watch;
  for (;;) {
    for (const struct addrinfo *a = at; a; a = a->ai_next) {
      double until = at->ai_next && tct_clock() + 1 < deadline ? tct_clock() + 1 : deadline;
      int s = try_one(a, until, t);
      if (s >= 0) return s;
    }
    if (tct_clock() + 0.1 >= deadline || cancelled(t->cancel, t->user)) return -1;
    if (watched && !await(watched->socket, POLLIN, tct_clock() + 0.1, t->cancel, t->user)) return -1;
    if (!watched) nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
  }
}

/* The server's certificate has to be for this host. */
static int expect_host(connection *c, const char *host) {
  X509_VERIFY_PARAM *p = SSL_get0_param(c->ssl);
  unsigned char any[16];
  if (inet_pton(AF_INET, host, any) == 1 || inet_pton(AF_INET6, host, any) == 1)
    return X509_VERIFY_PARAM_set1_ip_asc(p, host) != 1;
  return SSL_set_tlsext_host_name(c->ssl, host) != 1 || SSL_set1_host(c->ssl, host) != 1;
}

static void *tls_connect(const tct_tls_terms *terms, const char *address, const tct_tls_wait *wait,
                         tct_tls_ended *ended, char *why, size_t size) {
  char host[256];
  double deadline = tct_clock() + wait->seconds;
  SSL_CTX *context = tls_context(terms, 0, why, size);
  struct addrinfo *at = context ? tls_resolve(address, 0, host, why, size) : NULL;
  connection *c = NULL;
  *ended = TCT_TLS_UNUSABLE;
  if (at) {
    int s = reach(at, wait, deadline, terms);
    if (s < 0) {
      *ended = TCT_TLS_LATE;
      snprintf(why, size, "no %s answers at %.100s; start it, or check the address",
               wait->any_host ? "party" : "server", address);
    }
    if (s >= 0) c = tls_connection_new(context, s, terms);
    if (s >= 0 && !c) snprintf(why, size, "out of memory");
    freeaddrinfo(at);
  }
  if (!c) {
    SSL_CTX_free(context);
    return NULL;
  }
  c->context = context;
  if (!terms->key && !wait->any_host && expect_host(c, host))
    snprintf(why, size, "the host's name cannot be checked; give another address");
  else if (!shake_hands(c, deadline, why, size))
    return c;
  *ended = TCT_TLS_REFUSED;
  tls_close(c);
  return NULL;
}

/* What a failed transfer means. */
static int broken(char *why, size_t size) {
  unsigned long code = ERR_peek_last_error();
  if (code && ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    snprintf(why, size, "the peer vanished in the middle of a message, or its bytes were cut off");
    return TCT_TLS_BROKEN;
  }
  if (code)
    snprintf(why, size, "the connection was refused or tampered with (%s)", reason());
  else
    snprintf(why, size, "the peer has closed the connection");
  return code ? TCT_TLS_DAMAGED : TCT_TLS_BROKEN;
}

/* What can go out, goes; 0 as long as nothing has failed.  *waits: what the socket has to be ready for. */
static int swap_out(connection *c, tct_tls_swap *b, short *waits) {
  size_t part = 0;
  if (b->out_done == b->out_size) return 0;
  ERR_clear_error();
  tls_step s =
      tls_step_of(c, SSL_write_ex(c->ssl, (const char *)b->out + b->out_done, b->out_size - b->out_done, &part));
  if (s == TLS_DONE) b->out_done += part;
  if (s == TLS_WRITE) *waits |= POLLOUT;
  return s == TLS_FAILED;
}

static int swap_in(connection *c, tct_tls_swap *b, size_t *done, short *waits) {
  size_t part = 0;
  if (*done == b->in_size) return 0;
  ERR_clear_error();
  tls_step s = tls_step_of(c, SSL_read_ex(c->ssl, (char *)b->in + *done, b->in_size - *done, &part));
  if (s == TLS_DONE) *done += part;
  if (s == TLS_READ) *waits |= POLLIN;
  if (s == TLS_WRITE) *waits |= POLLOUT;
  return s == TLS_FAILED;
}

static int silent(char *why, size_t size) {
  snprintf(why, size, "the peer was silent for too long; it may have stopped");
  return TCT_TLS_SILENT;
}

static int tls_swap(void *handle, tct_tls_swap *b, const tct_tls_patience *p, char *why, size_t size) {
  connection *c = handle;
  double deadline = tct_clock() + p->seconds;
  size_t done = 0;
  while (b->in_size ? done < b->in_size : b->out_done < b->out_size) {
    short waits = 0;
    size_t before = done + b->out_done;
    if (swap_out(c, b, &waits) || swap_in(c, b, &done, &waits)) return broken(why, size);
    if (p->await) {
      int outcome = done + b->out_done == before ? p->await(p->user, waits) : 0;
      if (outcome) return outcome;
      continue;
    }
    bool late = done + b->out_done == before && await(c->socket, waits, deadline, c->cancel, c->user);
    bool over = b->in_size ? done == b->in_size : b->out_done == b->out_size;
    late = late || tct_clock() > deadline || cancelled(c->cancel, c->user); /* a peer that trickles */
    if (late && !over) return silent(why, size);
  }
  return 0;
}

static int tls_waiting(void *handle) {
  connection *c = handle;
  return SSL_has_pending(c->ssl) || !await(c->socket, POLLIN, tct_clock(), NULL, NULL);
}

static int tls_torn(void *handle) {
  const connection *c = handle;
  return SSL_has_pending(c->ssl) || !strcmp(SSL_rstate_string(c->ssl), "RB"); /* "reads body": its head is there */
}

static int tls_socket(void *handle) { return ((connection *)handle)->socket; }

static int tls_binding(void *handle, unsigned char out[TCT_TLS_BINDING]) {
  static const char label[] = "EXPORTER-tacit-parties";
  return SSL_export_keying_material(((connection *)handle)->ssl, out, TCT_TLS_BINDING, label, sizeof label - 1, NULL, 0,
                                    0) != 1;
}

static void tls_name(void *handle, char *out, size_t size) {
  const connection *c = handle;
  X509 *peer = SSL_get0_peer_certificate(c->ssl);
  snprintf(out, size, "%s", c->name);
  if (peer) X509_NAME_get_text_by_NID(X509_get_subject_name(peer), NID_commonName, out, (int)size);
}

__attribute__((visibility("default"))) extern const tct_tls tct_tls_openssl;
const tct_tls tct_tls_openssl = {
    .version = TCT_TLS_VERSION,
    .listen = tls_listen,
    .port = tls_port,
    .accept = tls_accept,
    .connect = tls_connect,
    .swap = tls_swap,
    .waiting = tls_waiting,
    .torn = tls_torn,
    .socket = tls_socket,
    .binding = tls_binding,
    .name = tls_name,
    .close = tls_close,
    .close_listener = tls_close_listener,
};
