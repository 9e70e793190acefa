/* releases.h - releases in types, for programs. */
#ifndef TCT_MODEL_RELEASES_H
#define TCT_MODEL_RELEASES_H
#include "core/status.h"

/* Into the caller's struct, of whatever size. */
tct_status tct_release_give(const tct_release_info *own, tct_release_info *out, tct_error *err);
/* TCT_E_USAGE: there is no release of this index. */
tct_status tct_release_absent(tct_error *err);
#endif
