/* outfile.h - a file that appears whole or not at all: written without a name, synced, named. */
#ifndef TCT_CORE_OUTFILE_H
#define TCT_CORE_OUTFILE_H
#include "core/status.h"
#include <stdbool.h>
#include <stdio.h>

/* One output being written.  Zero it, open it, print to `file`, then commit or abandon. */
typedef struct tct_outfile {
  FILE *file;
  char *name;   /* as it was given, owned */
  char *path;   /* the target, owned */
  bool unnamed; /* the file has no name yet, and is gone with the process */
  char *aside;  /* else the temporary file beside the target, owned; never ends in ".json"; NULL: in place */
} tct_outfile;

/* Creates the file, without a name where the file system allows: a killed process then leaves nothing.  A target that
 * exists and is no regular file (a device, a pipe) is written in place, since a rename would replace it.  A symbolic
 * link is followed, not replaced. */
tct_status tct_outfile_open(tct_outfile *out, const char *path, tct_error *err);
/* The same for a ledger's own anchor; any other output is refused where a ledger or an anchor is. */
tct_status tct_outfile_open_anchor(tct_outfile *out, const char *path, tct_error *err);
/* How an anchor begins. */
#define TCT_ANCHOR_WORD "tacit-anchor 1 "
/* Takes room for `bytes` bytes, so that they can be written later whatever else fills the disk.  In place: nothing. */
tct_status tct_outfile_reserve(tct_outfile *out, int64_t bytes, tct_error *err);
/* Flushes, fsyncs, names, fsyncs the folder.  On failure the temporary file is gone and the target is
 * as it was.  Frees in both cases. */
tct_status tct_outfile_commit(tct_outfile *out, tct_error *err);
/* Removes the temporary file and frees; a zeroed or committed struct is fine. */
void tct_outfile_abandon(tct_outfile *out);
#endif
