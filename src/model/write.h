/* write.h - files that are replaced whole or stay as they were. */
#ifndef TCT_MODEL_WRITE_H
#define TCT_MODEL_WRITE_H
#include "core/status.h"

/* Writes text to path: aside, fsync, rename, fsync of the folder.  A path that exists and is no regular file (a
 * device, a pipe) is written in place.  On failure nothing is left behind and an existing file is untouched. */
tct_status tct_write_whole(const char *path, const char *text, tct_error *err);
/* Could tct_write_whole work?  Checks before a budget is spent: folder exists and is writable, path is no folder. */
tct_status tct_write_check(const char *path, tct_error *err);
/* Writes the text into an output that is open, and commits it. */
struct tct_outfile;
tct_status tct_write_reserved(struct tct_outfile *out, const char *text, tct_error *err);
#endif
