/* anchor.h - a file elsewhere that names the ledger's newest row: a ledger that falls behind it was rolled back. */
#ifndef TCT_LEDGER_ANCHOR_H
#define TCT_LEDGER_ANCHOR_H
#include "core/outfile.h"
#include "ledger/ledger.h"

/* TCT_E_USAGE where there is a file at the place of l->anchor. */
tct_status tct_anchor_place(const tct_ledger *l, tct_error *err);

/* An absolute path for a name; owned by the caller. */
char *tct_anchor_path(const char *name, tct_error *err);
/* 'a': an anchor, by its first word; '{': a text that may be a model; 0: neither, or no regular file. */
char tct_anchor_kind(const char *path);
/* Is there no anchor of this ledger at the path any more? */
bool tct_anchor_is_lost(const tct_ledger *ledger, const char *path);
/* Is the row that the anchor names in the ledger's chain?  TCT_E_DATA: rolled back, or another ledger. */
tct_status tct_anchor_check(tct_ledger *ledger, const char *path, tct_error *err);
/* Checks the ledger's anchor and opens its successor beside it; without an anchor *out is empty.  On failure too. */
tct_status tct_anchor_open(tct_ledger *ledger, tct_outfile *out, tct_error *err);
/* Opens a first anchor at ledger->anchor, where nothing may be yet. */
tct_status tct_anchor_new(const tct_ledger *ledger, tct_outfile *out, tct_error *err);
/* Writes the ledger's newest row to it, durably. */
tct_status tct_anchor_commit(const tct_ledger *ledger, tct_outfile *out, tct_error *err);
#endif
