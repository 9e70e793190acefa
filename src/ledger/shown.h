/* shown.h - the input as a ledger and the registry know it. */
#ifndef TCT_LEDGER_SHOWN_H
#define TCT_LEDGER_SHOWN_H
#include "ledger/fingerprint.h"

#include <stdio.h>

/* The input as the ledger (0) and the registry (1) know it: secret like the rows. */
typedef struct tct_shown {
  char id[TCT_DIGEST_HEX]; /* which ledger */
  tct_key key[TCT_PRINT_KEYS];
  tct_print print[TCT_PRINT_KEYS];
  FILE *registry; /* open, where the note of the charge will go; NULL: there is none */
} tct_shown;

/* Reads the keys on rank 0 and fingerprints the rows of all ranks under them.  Nothing is left on failure.  Collective.
 */
tct_status tct_shown_make(const char *ledger, const tct_data *data, int threads, tct_shown *shown, tct_error *err);
/* Wipes and closes it; a zeroed struct is fine. */
void tct_shown_end(tct_shown *shown);
#endif
