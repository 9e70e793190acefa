/* registry.h - a user's list of the tables that ledgers were charged for, so that a second ledger is noticed. */
#ifndef TCT_LEDGER_REGISTRY_H
#define TCT_LEDGER_REGISTRY_H
#include "ledger/shown.h"

/* The file is $TACIT_REGISTRY ("none" or empty: there is none), else tacit/tables in $XDG_CONFIG_HOME or ~/.config;
 * mode 0600.  It holds a key and fingerprints under it, and is made where it is missing.  A registry elsewhere is not
 * seen.  All of it is secret like the tables: whoever has the key and a guess of a row can ask the hashes of the rows
 * whether it is there. */

/* Opens it and reads its key, before the charge: NULL: there is none, or it cannot be used, and the key is all 0.
 * Closed by fclose. */
FILE *tct_registry_open(tct_key key);
/* Notes the table for the ledger at `path`, after the charge.  A sentence, owned by the caller, where another ledger
 * was charged for at least half of the rows, or the registry cannot be used; NULL: nothing to tell. */
char *tct_registry_add(const tct_shown *shown, const char *path);
#endif
