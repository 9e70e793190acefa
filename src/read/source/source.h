/* source.h - a byte stream from a file, standard input or memory, decompressed on the way. */
#ifndef TCT_READ_SOURCE_SOURCE_H
#define TCT_READ_SOURCE_SOURCE_H
#include "core/status.h"
#include "read/source/gunzip.h"
#include "read/source/limits.h"

struct tct_source;
/* Who writes a source's bytes, where they are not those of the file. */
typedef struct tct_maker {
  /* Appends at least one byte (tct_source_append), or sets source->ended. */
  tct_status (*more)(void *self, struct tct_source *source, tct_error *err);
  void (*free)(void *self);
} tct_maker;

/* All bytes of a file: wiped and freed by who took them. */
typedef struct tct_bytes {
  char *at;
  int64_t count, size; /* used, and of the allocation */
} tct_bytes;

/* Unread bytes are buffer[begin..end).  Readers may overwrite them; they advance begin. */
typedef struct tct_source {
  const char *name; /* as given by the caller, borrowed */
  char *buffer;
  int64_t begin, end, size;
  bool ended;         /* nothing follows buffer[end) */
  tct_limits limits;  /* the defaults, until the reader sets others */
  int64_t unpacked;   /* bytes that came out of a compressed file so far */
  tct_input input;    /* a file's bytes as they are stored */
  tct_gunzip *gunzip; /* the file is gzip, or NULL */
  void *archive;      /* it is anything else, or NULL */
  bool of_arrays;     /* its first file is an array of NumPy */
  char array[8];      /* the file is an archive whose array of this name, X or y, is being read; "" otherwise */
  char next_array[8]; /* and the one that follows; "": none */
  bool plain;         /* bytes come as they are stored, `plain_left` of them (tct_source_jump) */
  int64_t plain_left;
  int64_t skipped_from, skipped_to; /* bytes that the jump left out, for the numbers of lines */
  const char *memory;               /* unread rest of a source in memory */
  int64_t memory_left, memory_step;
  const tct_maker *maker; /* NULL: bytes are the file's own */
  void *made_by;
} tct_source;

/* path "-" is standard input.  gz, xz, zst and bz2 are told by their content. */
tct_status tct_source_open(tct_source *source, const char *path, tct_error *err);

/* Plain bytes that the caller keeps; handed out in steps of `step` bytes, so that tests and fuzzers
 * meet every refill. */
void tct_source_memory(tct_source *source, const char *name, const void *bytes, int64_t count, int64_t step);

/* Appends at least one byte behind buffer[end), or sets ended.  Moves buffer[begin..end) to the
 * buffer's start, so pointers into it die. */
tct_status tct_source_more(tct_source *source, tct_error *err);

/* Makes at least `count` bytes unread, fewer only at the end. */
tct_status tct_source_want(tct_source *source, int64_t count, tct_error *err);

/* Reads to the end and hands all over, nothing is unread then.  most: bytes that this may take, else TCT_E_USAGE. */
tct_status tct_source_all(tct_source *source, int64_t most, tct_bytes *all, tct_error *err);
/* All that follows is what the maker writes; it is freed with the source. */
void tct_source_make(tct_source *source, const tct_maker *maker, void *self);
tct_status tct_source_append(tct_source *source, const void *bytes, int64_t count, tct_error *err);

/* Goes on at byte `from` of an uncompressed file and ends at byte `to`; header: bytes that belong to no record. */
tct_status tct_source_jump(tct_source *source, int64_t header, int64_t from, int64_t to, tct_error *err);

/* The bytes of the file as it is stored; -1: not a regular file. */
int64_t tct_source_stored(const tct_source *source);

/* Goes on with source->next_array, from its first byte. */
void tct_source_next_array(tct_source *source);

void tct_source_close(tct_source *source);
#endif
