/* anchor.h - a file elsewhere that names the ledger's newest row: a ledger that falls behind it was rolled back. */
#ifndef TCT_LEDGER_ANCHOR_H
#define TCT_LEDGER_ANCHOR_H
#include "core/outfile.h"
#include "ledger/ledger.h"

/* An absolute path for a name; owned by the caller. */
char *tct_anchor_path(const char *name, tct_error *err);
/* Is the file an anchor, by its first word? */
bool tct_anchor_is(const char *path);
/* Is the row that the anchor names in the ledger's chain?  TCT_E_DATA: rolled back, or another ledger. */
tct_status tct_anchor_check(tct_ledger *ledger, const char *path, tct_error *err);
/* Checks the ledger's anchor and opens its successor beside it; without an anchor *out is empty.  On failure too. */
tct_status tct_anchor_open(tct_ledger *ledger, tct_outfile *out, tct_error *err);
/* Opens a first anchor at ledger->anchor, where nothing may be yet. */
tct_status tct_anchor_new(const tct_ledger *ledger, tct_outfile *out, tct_error *err);
/* Writes the ledger's newest row to it, durably. */
tct_status tct_anchor_commit(const tct_ledger *ledger, tct_outfile *out, tct_error *err);
#endif
