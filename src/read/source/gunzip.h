/* gunzip.h - blocks of a file, and gzip undone with its checksums verified. */
#ifndef TCT_READ_SOURCE_GUNZIP_H
#define TCT_READ_SOURCE_GUNZIP_H
#include <stdbool.h>
#include <stdint.h>

/* A file read block by block; bytes block[at..have) are not yet used. */
typedef struct tct_input {
  int file; /* descriptor, -1 = none */
  unsigned char *block;
  int64_t at, have, size;
  int64_t total; /* bytes read so far */
  bool failed;   /* the operating system could not read on */
} tct_input;

/* As read(2), but it waits for a pipe no longer than the run is to go on (core/stop.h): then it fails. */
int64_t tct_input_read(int file, void *to, int64_t size);

/* Reads the beginning: at least two bytes, fewer only where the file has no more (a pipe may hand over
 * single bytes). */
void tct_input_begin(tct_input *input);
/* Reads the next block once the current one is used up; false at the end or on failure. */
bool tct_input_fill(tct_input *input);

typedef struct tct_gunzip tct_gunzip;

/* NULL = out of memory. */
tct_gunzip *tct_gunzip_new(void);
/* Writes 1 to `size` bytes and returns their number; 0 = the end, -1 = truncated or damaged. */
int64_t tct_gunzip_read(tct_gunzip *gunzip, tct_input *input, void *out, int64_t size);
void tct_gunzip_free(tct_gunzip *gunzip);
#endif
