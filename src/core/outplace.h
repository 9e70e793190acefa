/* outplace.h - where an output goes: found folder by folder, and refused where it is something that must stay. */
#ifndef TCT_CORE_OUTPLACE_H
#define TCT_CORE_OUTPLACE_H
#include "core/status.h"
#include <sys/stat.h>

typedef enum tct_out_kind {
  TCT_OUT_FILE,   /* a file, new or replaced at the commit */
  TCT_OUT_STREAM, /* the same; or a terminal, /dev/null or a descriptor of this process, written in place */
  TCT_OUT_LOG,    /* a file that has its name from the beginning and grows: what was flushed outlives the process */
  TCT_OUT_ANCHOR, /* a file, which may replace an anchor */
} tct_out_kind;

typedef struct tct_outplace {
  char *name;     /* as it was given, owned */
  int folder;     /* that it lies in, open; only with `base` */
  char *base;     /* its name there, owned; NULL: it is a descriptor of this process */
  int descriptor; /* that one */
  bool in_place;  /* it is written as it comes, and never replaced */
  bool there;     /* is there anything now? */
  struct stat at; /* if so */
} tct_outplace;

/* How an anchor begins. */
#define TCT_ANCHOR_WORD "tacit-anchor 1 "

/* inputs: what this run reads and writes besides, ended by NULL, "-" for standard input; or NULL.  Refused are:
 * - a file that is one of these by any name, or would be (TCT_E_USAGE);
 * - a ledger, what SQLite keeps beside one, an anchor, a registry (TCT_E_USAGE);
 * - what is no regular file, a write-protected one, a link that leads nowhere, and the name "-";
 * - a path through a symbolic link in a folder that others may write to.  Elsewhere links are followed and stay.
 * Nothing is opened for writing, and nothing that could block at all.  On failure *place is zero. */
tct_status tct_outplace_find(tct_outplace *place, const char *path, tct_out_kind kind, const char *const *inputs,
                             tct_error *err);
/* Closes and frees; a zeroed one is fine. */
void tct_outplace_free(tct_outplace *place);
#endif
