/* sealed.h - bytes for one other process that has the same secret: encrypted, and changed bytes are noticed.
 *
 * Both sides show a fresh public key of X25519.  The keys of the two directions come from what the two agree on, from
 * the secret, and from all that was shown.  Who lacks the secret has neither of them.  Who learns the secret later
 * cannot read what has passed.  Messages are numbered: one that is lost, repeated or changed does not open. */
#ifndef TCT_RNG_SEALED_H
#define TCT_RNG_SEALED_H
#include "core/status.h"

#include <stdbool.h>

enum {
  TCT_SEALED_KEY = 32,   /* bytes of a public key */
  TCT_SEALED_EXTRA = 16, /* bytes that sealing adds */
  TCT_SECRET_LEAST = 32, /* bytes of a secret */
};

/* One direction. */
typedef struct tct_sealer {
  unsigned char key[TCT_SEALED_KEY];
  uint64_t next; /* number of the next message */
} tct_sealer;

typedef struct tct_exchange {
  unsigned char own[TCT_SEALED_KEY];   /* secret */
  unsigned char shown[TCT_SEALED_KEY]; /* for the other side */
} tct_exchange;

/* What both sides know besides the keys. */
typedef struct tct_sealed_terms {
  const void *secret;
  size_t secret_length;
  const void *about; /* the same bytes on both sides */
  size_t about_length;
} tct_sealed_terms;

/* TCT_E_RUN: the system gave no random bytes. */
tct_status tct_exchange_start(tct_exchange *exchange, tct_error *err);
/* out, in <- the two directions; first: true on exactly one side.  Wipes the exchange.  False: no key at all. */
bool tct_exchange_end(tct_exchange *exchange, bool first, const unsigned char shown[TCT_SEALED_KEY],
                      const tct_sealed_terms *terms, tct_sealer *out, tct_sealer *in);

/* sealed[length + TCT_SEALED_EXTRA] <- bytes.  kind: what the message is, which the other side must expect. */
void tct_seal(tct_sealer *out, uint64_t kind, const void *bytes, size_t length, unsigned char *sealed);
/* False: not the next message of that kind and length; what bytes then holds means nothing. */
bool tct_unseal(tct_sealer *in, uint64_t kind, const unsigned char *sealed, size_t length, void *bytes);
#endif
