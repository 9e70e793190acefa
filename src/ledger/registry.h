/* registry.h - a user's list of the tables that ledgers were charged for, so that a second ledger is noticed. */
#ifndef TCT_LEDGER_REGISTRY_H
#define TCT_LEDGER_REGISTRY_H
#include "ledger/fingerprint.h"

/* The file is $TACIT_REGISTRY ("none" or empty: there is none), else tacit/tables in $XDG_CONFIG_HOME or ~/.config;
 * mode 0600.  It holds a key and fingerprints under it, and is made where it is missing.  A registry elsewhere is not
 * seen. */

/* The registry's key.  0: there is none, or it cannot be used; then it is all 0, and nothing is kept under it. */
int tct_registry_key(tct_key key);
/* Adds the table (under the registry's key) for the ledger called `id` at `path`.  A sentence, owned by the caller,
 * where another ledger was charged for at least half of the rows, or the registry cannot be used; NULL: nothing to
 * tell. */
char *tct_registry_add(const char *id, const char *path, const tct_print *print);
#endif
