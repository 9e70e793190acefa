/* outfile.h - the one gate of written files: a target that may be written, and a file that appears whole or not at all.
 */
#ifndef TCT_CORE_OUTFILE_H
#define TCT_CORE_OUTFILE_H
#include "core/outplace.h"
#include <stdio.h>

/* One output being written.  Zero it, open it, print to `file`, then commit or abandon. */
typedef struct tct_outfile {
  FILE *file;
  tct_outplace to;
  bool unnamed; /* the file has no name yet, and is gone with the process */
  char *aside;  /* else the temporary file beside the target, owned; never ends in ".json"; NULL: written in place */
} tct_outfile;

/* Creates the file, without a name where the file system allows: a killed process then leaves nothing.  What is refused
 * core/outplace.h says; a target that is written in place is no file, or a log. */
tct_status tct_outfile_open(tct_outfile *out, const char *path, tct_out_kind kind, const char *const *inputs,
                            tct_error *err);
/* Takes room for `bytes` bytes, so that they can be written later whatever else fills the disk.  In place: nothing. */
tct_status tct_outfile_reserve(tct_outfile *out, int64_t bytes, tct_error *err);
/* Flushes, fsyncs, names, fsyncs the folder.  On failure the temporary file is gone and the target is
 * as it was.  Frees in both cases. */
tct_status tct_outfile_commit(tct_outfile *out, tct_error *err);
/* The same after a text. */
tct_status tct_outfile_commit_text(tct_outfile *out, const char *text, tct_error *err);
/* Removes the temporary file and frees; a zeroed or committed struct is fine. */
void tct_outfile_abandon(tct_outfile *out);
#endif
