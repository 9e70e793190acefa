/* tls_key.c - a key that both sides have, instead of certificates: an external pre-shared key of TLS 1.3 (RFC 8446).
 *
 * Each connection adds an exchange of X25519 (psk_dhe_ke alone), so whoever learns the key later cannot read what has
 * passed.  One cipher suite: no choice is left that could be talked down, and ChaCha20-Poly1305 has no limit of bytes
 * under one key that a run could reach.  A side without the key has no certificate to fall back on. */
#include "tls/tls_inside.h"

#include <string.h>

static const unsigned char suite[2] = {0x13, 0x03};
static const char suite_name[] = "TLS_CHACHA20_POLY1305_SHA256", groups[] = "X25519";

/* The one session that the key stands for; NULL: no memory. */
static SSL_SESSION *session_of(SSL *ssl, const tct_tls_terms *terms) {
  SSL_SESSION *s = SSL_SESSION_new();
  const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, suite);
  if (s && cipher && SSL_SESSION_set1_master_key(s, terms->key, TCT_TLS_KEY) == 1 &&
      SSL_SESSION_set_cipher(s, cipher) == 1 && SSL_SESSION_set_protocol_version(s, TLS1_3_VERSION) == 1)
    return s;
  SSL_SESSION_free(s);
  return NULL;
}

static int offer(SSL *ssl, const EVP_MD *digest, const unsigned char **name, size_t *length, SSL_SESSION **session) {
  const tct_tls_terms *terms = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
  (void)digest; /* that of the one suite */
  *name = (const unsigned char *)terms->name;
  *length = strlen(terms->name);
  *session = session_of(ssl, terms);
  return *session != NULL;
}

/* Whatever the name, the key is the same.  The peer proves it over a transcript that holds the name. */
static int find(SSL *ssl, const unsigned char *name, size_t length, SSL_SESSION **session) {
  tls_connection *c = SSL_get_app_data(ssl);
  *session = NULL;
  if (length == 0 || length >= sizeof c->name || memchr(name, 0, length)) return 1;
  memcpy(c->name, name, length);
  c->name[length] = 0;
  *session = session_of(ssl, SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  return *session != NULL;
}

bool tls_take_key(SSL_CTX *context, const tct_tls_terms *terms) {
  SSL_CTX_set_app_data(context, (void *)terms);
  SSL_CTX_set_psk_use_session_callback(context, offer);
  SSL_CTX_set_psk_find_session_callback(context, find);
  SSL_CTX_clear_options(context, SSL_OP_ALLOW_NO_DHE_KEX | SSL_OP_ENABLE_MIDDLEBOX_COMPAT);
  return SSL_CTX_set_ciphersuites(context, suite_name) == 1 && SSL_CTX_set1_groups_list(context, groups) == 1;
}
