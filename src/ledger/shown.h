/* shown.h - the input as a ledger and the registry know it. */
#ifndef TCT_LEDGER_SHOWN_H
#define TCT_LEDGER_SHOWN_H
#include "ledger/fingerprint.h"

/* The input as the ledger (0) and the registry (1) know it.  Wipe it after use. */
typedef struct tct_shown {
  char id[TCT_DIGEST_HEX]; /* which ledger */
  tct_key key[TCT_PRINT_KEYS];
  tct_print print[TCT_PRINT_KEYS];
} tct_shown;

/* Reads the keys on rank 0 and fingerprints the rows of all ranks under them.  Collective. */
tct_status tct_shown_make(const char *ledger, const tct_data *data, int threads, tct_shown *shown, tct_error *err);
#endif
