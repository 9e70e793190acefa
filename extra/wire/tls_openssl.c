/* tls_openssl.c - TLS 1.3 connections with certificates on both sides, as a library of its own (libtacit_tls.so).
 *
 * No earlier version, no resumption, no early data.  Sockets do not block: every call has a deadline, so that a peer
 * that trickles bytes or says nothing is a failure in time. */
#define _GNU_SOURCE
#include "wire/tls_inside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

typedef tls_connection connection;

double tls_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

tls_quiet tls_quiet_begin(void) {
  sigset_t pipe, waiting;
  tls_quiet q;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&waiting);
  q.pending = sigismember(&waiting, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &q.before);
  return q;
}
void tls_quiet_end(const tls_quiet *q) {
  sigset_t pipe;
  struct timespec none = {0};
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  while (!q->pending && sigtimedwait(&pipe, NULL, &none) < 0 && errno == EINTR) continue;
  pthread_sigmask(SIG_SETMASK, &q->before, NULL);
}

int tls_left(double deadline) {
  double left = deadline - tls_now();
  return left <= 0 ? 0 : left > 0.1 ? 100 : (int)(left * 1000) + 1;
}

/* Waits for the socket until the deadline, or until `stop` says so; 0: it is ready. */
static int await(int socket, short events, double deadline, bool (*stop)(void)) {
  for (;;) {
    struct pollfd p = {.fd = socket, .events = events};
    int ready = poll(&p, 1, tls_left(deadline));
    if (ready > 0) return 0;
    if (tls_now() >= deadline || (ready < 0 && errno != EINTR) || stop()) return 1;
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

SSL_CTX *tls_context(const tct_tls_files *f, int server, char *why, size_t size) {
  ERR_clear_error();
  SSL_CTX *c = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
  int bad = !c;
  if (bad) snprintf(why, size, "OpenSSL could not start (%s)", reason());
  if (!bad)
    bad = !SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) || !SSL_CTX_set_max_proto_version(c, TLS1_3_VERSION);
  if (!bad && SSL_CTX_load_verify_locations(c, f->authority, NULL) != 1)
    bad = refuse_files("authority", f->authority, why, size);
  if (!bad) bad = take_revoked(c, f->revoked, why, size);
  if (!bad && SSL_CTX_use_certificate_chain_file(c, f->certificate) != 1)
    bad = refuse_files("certificate", f->certificate, why, size);
  if (!bad &&
      (SSL_CTX_use_PrivateKey_file(c, f->private_key, SSL_FILETYPE_PEM) != 1 || SSL_CTX_check_private_key(c) != 1))
    bad = refuse_files("private key", f->private_key, why, size);
  if (bad) {
    SSL_CTX_free(c);
    return NULL;
  }
  SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
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

/* One step, and the wait for the next: 0 done, 1 failed, 2 try again, 3 too late. */
static int step(connection *c, int outcome, double deadline) {
  tls_step s = tls_step_of(c, outcome);
  if (s == TLS_DONE || s == TLS_FAILED) return s == TLS_FAILED;
  return await(c->socket, s == TLS_READ ? POLLIN : POLLOUT, deadline, c->stop) ? 3 : 2;
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
  int outcome;
  ERR_clear_error();
  tls_quiet q = tls_quiet_begin();
  do outcome = step(c, SSL_connect(c->ssl), deadline);
  while (outcome == 2);
  tls_quiet_end(&q);
  if (outcome == 1) tls_explain(c, why, size);
  if (outcome == 3) snprintf(why, size, "refused: the peer connected and then said nothing in time");
  return outcome != 0;
}

void tls_close(void *handle) {
  connection *c = handle;
  if (!c) return;
  tls_quiet q = tls_quiet_begin();
  if (c->ssl && SSL_is_init_finished(c->ssl)) SSL_shutdown(c->ssl);
  tls_quiet_end(&q);
  SSL_free(c->ssl);
  if (c->socket >= 0) close(c->socket);
  SSL_CTX_free(c->context);
  free(c);
}

tls_connection *tls_connection_new(SSL_CTX *context, int socket, bool (*stop)(void)) {
  connection *c = calloc(1, sizeof *c);
  int one = 1;
  if (!c) {
    close(socket);
    return NULL;
  }
  c->socket = socket, c->stop = stop;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  c->ssl = SSL_new(context);
  if (c->ssl && SSL_set_fd(c->ssl, socket) == 1) return c;
  tls_close(c);
  return NULL;
}

/* One try of one address: the socket, or -1. */
static int try_one(const struct addrinfo *a, double deadline, bool (*stop)(void)) {
  int s = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), bad = 0;
  socklen_t length = sizeof bad;
  if (s < 0) return -1;
  if (connect(s, a->ai_addr, a->ai_addrlen) != 0 && errno != EINPROGRESS) bad = errno;
  if (!bad && await(s, POLLOUT, deadline, stop)) bad = ETIMEDOUT;
  if (!bad) getsockopt(s, SOL_SOCKET, SO_ERROR, &bad, &length);
  if (!bad) return s;
  close(s);
  return -1;
}

/* A socket to the address, tried again until the wait is over: the other side may not listen yet. */
static int reach(const struct addrinfo *at, const tct_tls_wait *wait, double deadline, bool (*stop)(void)) {
  const connection *watched = wait->watch;
  for (;;) {
    for (const struct addrinfo *a = at; a; a = a->ai_next) {
      int s = try_one(a, deadline, stop);
      if (s >= 0) return s;
    }
    if (tls_now() + 0.1 >= deadline || stop()) return -1;
    if (watched && !await(watched->socket, POLLIN, tls_now() + 0.1, stop)) return -1;
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

static void *tls_connect(const tct_tls_files *files, const char *address, const tct_tls_wait *wait, char *why,
                         size_t size) {
  char host[256];
  double deadline = tls_now() + wait->seconds;
  SSL_CTX *context = tls_context(files, 0, why, size);
  struct addrinfo *at = context ? tls_resolve(address, 0, host, why, size) : NULL;
  connection *c = NULL;
  if (at) {
    int s = reach(at, wait, deadline, files->stop);
    if (s < 0)
      snprintf(why, size, "no %s answers at %.100s; start it, or check the address",
               wait->any_host ? "party" : "server", address);
    if (s >= 0) c = tls_connection_new(context, s, files->stop);
    if (s >= 0 && !c) snprintf(why, size, "out of memory");
    freeaddrinfo(at);
  }
  if (!c) {
    SSL_CTX_free(context);
    return NULL;
  }
  c->context = context;
  if (!wait->any_host && expect_host(c, host))
    snprintf(why, size, "the host's name cannot be checked; give another address");
  else if (!shake_hands(c, deadline, why, size))
    return c;
  tls_close(c);
  return NULL;
}

/* What a failed transfer means. */
static int broken(int late, char *why, size_t size) {
  unsigned long code = ERR_peek_last_error();
  if (late)
    snprintf(why, size, "the peer was silent for too long; it may have stopped");
  else if (code && ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
    snprintf(why, size, "the peer vanished in the middle of a message, or its bytes were cut off");
  else if (code)
    snprintf(why, size, "the connection was refused or tampered with (%s)", reason());
  else
    snprintf(why, size, "the peer has closed the connection");
  return 1;
}

static int tls_send(void *handle, const void *bytes, size_t count, double seconds, char *why, size_t size) {
  connection *c = handle;
  double deadline = tls_now() + seconds;
  size_t done = 0, part = 0;
  int outcome = 0;
  tls_quiet q = tls_quiet_begin();
  while (done < count && outcome != 1 && outcome != 3) {
    ERR_clear_error();
    outcome = step(c, SSL_write_ex(c->ssl, (const char *)bytes + done, count - done, &part), deadline);
    if (outcome == 0) done += part;
  }
  tls_quiet_end(&q);
  return done < count ? broken(outcome == 3, why, size) : 0;
}

static int tls_receive(void *handle, void *bytes, size_t count, double seconds, char *why, size_t size) {
  connection *c = handle;
  double deadline = tls_now() + seconds;
  size_t done = 0, part = 0;
  int outcome = 0;
  tls_quiet q = tls_quiet_begin(); /* reading may answer with an alert */
  while (done < count && outcome != 1 && outcome != 3) {
    ERR_clear_error();
    outcome = step(c, SSL_read_ex(c->ssl, (char *)bytes + done, count - done, &part), deadline);
    if (outcome == 0) done += part;
    if (done < count && outcome != 1 && (tls_now() > deadline || c->stop())) outcome = 3; /* a peer that trickles */
  }
  tls_quiet_end(&q);
  return done < count ? broken(outcome == 3, why, size) : 0;
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
  ERR_clear_error();
  tls_step s = tls_step_of(c, SSL_read_ex(c->ssl, (char *)b->in + *done, b->in_size - *done, &part));
  if (s == TLS_DONE) *done += part;
  if (s == TLS_READ) *waits |= POLLIN;
  if (s == TLS_WRITE) *waits |= POLLOUT;
  return s == TLS_FAILED;
}

static int tls_swap(void *handle, tct_tls_swap *b, double seconds, char *why, size_t size) {
  connection *c = handle;
  double deadline = tls_now() + seconds;
  size_t done = 0;
  int failed = 0, late = 0;
  tls_quiet q = tls_quiet_begin();
  while (done < b->in_size && !failed && !late) {
    short waits = 0;
    size_t before = done;
    failed = swap_out(c, b, &waits) || swap_in(c, b, &done, &waits);
    if (!failed && done == before) late = await(c->socket, waits ? waits : POLLIN, deadline, c->stop);
    if (tls_now() > deadline || c->stop()) late = 1;
  }
  tls_quiet_end(&q);
  return done < b->in_size ? broken(late && !failed, why, size) : 0;
}

static int tls_waiting(void *handle) {
  connection *c = handle;
  return SSL_has_pending(c->ssl) || !await(c->socket, POLLIN, tls_now(), c->stop);
}

static int tls_binding(void *handle, unsigned char out[TCT_TLS_BINDING]) {
  static const char label[] = "EXPORTER-tacit-parties";
  return SSL_export_keying_material(((connection *)handle)->ssl, out, TCT_TLS_BINDING, label, sizeof label - 1, NULL, 0,
                                    0) != 1;
}

static void tls_name(void *handle, char *out, size_t size) {
  X509 *peer = SSL_get0_peer_certificate(((connection *)handle)->ssl);
  out[0] = 0;
  if (peer) X509_NAME_get_text_by_NID(X509_get_subject_name(peer), NID_commonName, out, (int)size);
}

__attribute__((visibility("default"))) extern const tct_tls tct_tls_openssl;
const tct_tls tct_tls_openssl = {
    .version = TCT_TLS_VERSION,
    .listen = tls_listen,
    .port = tls_port,
    .accept = tls_accept,
    .connect = tls_connect,
    .send = tls_send,
    .receive = tls_receive,
    .waiting = tls_waiting,
    .swap = tls_swap,
    .binding = tls_binding,
    .name = tls_name,
    .close = tls_close,
    .close_listener = tls_close_listener,
};
