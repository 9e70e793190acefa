/* blocks.h - a text read by all threads: cut at record ends, parsed in blocks, put together in the order of the file.
 *
 * Table, errors and limits are those of one thread that reads the text from its beginning.  Several blocks are parsed
 * at a time; what each yields is taken when its turn has come, and the first error in the order of the file ends it. */
#ifndef TCT_READ_FORMAT_BLOCKS_H
#define TCT_READ_FORMAT_BLOCKS_H
#include "read/format/reader.h"

/* How a format parses blocks.  A part is what one thread keeps from block to block, `size` bytes, zeroed. */
typedef struct tct_blocks {
  size_t size;
  char delimiter;    /* line ends within quotes are no record ends; 0: every line end is one */
  const void *whole; /* the format's own, read only while parts parse */
  tct_status (*begin)(const void *whole, void *part, tct_reader *reader, tct_error *err);
  /* Parses all of reader->source, whose first line is number 1, into reader->table. */
  tct_status (*parse)(void *part, tct_reader *reader, tct_error *err);
  /* In the order of the file, before the block's records join the table, even if its parse failed.  lines: those before
   * the block.  reader: of the whole table. */
  tct_status (*join)(void *user, void *part, tct_reader *reader, int64_t lines, tct_error *err);
  void (*end)(void *part);
  void *user;         /* for join */
  int64_t lines;      /* of the file that were read already */
  int64_t part_bytes; /* what a part and its widest record take in memory */
} tct_blocks;

/* Is the text worth it: are there several threads, and more than one block? */
bool tct_blocks_wanted(const tct_reader *reader, int64_t part_bytes);
/* Reads the rest of reader->source into reader->table. */
tct_status tct_blocks_read(const tct_blocks *blocks, tct_reader *reader, tct_error *err);
#endif
