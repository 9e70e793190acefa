/* identity.h - which files a run reads: each named once, and the same file under one name on all ranks. */
#ifndef TCT_TRAIN_IDENTITY_H
#define TCT_TRAIN_IDENTITY_H
#include "core/digest.h"
#include "ranks/ranks.h"

/* TCT_E_USAGE where two names are one file (links too).  A file that cannot be looked at is left to who opens it. */
tct_status tct_inputs_named_once(const char *const *paths, size_t count, tct_error *err);

/* Refuses files that differ between ranks under one name: in their sizes, their ends, or one of 64 blocks.  A digest of
 * sizes and ends chooses the blocks.  A file of at most 264 KiB is compared whole.  identity receives one digest of all
 * that.  Alone it does nothing and identity is "".  Collective. */
tct_status tct_inputs_same(const char *const *paths, size_t count, tct_team *team, char identity[TCT_DIGEST_HEX],
                           tct_error *err);
#endif
