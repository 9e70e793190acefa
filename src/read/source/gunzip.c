/* gunzip.c - blocks of a file, and gzip undone with its checksums verified.
 *
 * libarchive undoes gzip too, but does not compare the checksum at the end (3.6), so that a damaged file
 * could become other numbers without a word.  zlib does.  A file may consist of several members. */
#include "read/source/gunzip.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "core/alloc.h"
#include "core/stop.h"

enum { GZIP_WINDOW = 15 + 16 }; /* zlib: the largest window, gzip headers and trailers only */

struct tct_gunzip {
  z_stream stream;
  bool between; /* a member has ended and no other has begun */
};

/* Asking before it reads: a signal that came just before would not end a read that waits. */
int64_t tct_input_read(int file, void *to, int64_t size) {
  enum { MILLISECONDS = 50 };
  struct pollfd one = {.fd = file, .events = POLLIN};
  for (;;) {
    int ready = poll(&one, 1, MILLISECONDS);
    if (tct_stopping() || (ready < 0 && errno != EINTR)) return -1;
    if (ready <= 0) continue;
    ssize_t got = read(file, to, (size_t)size);
    if (got >= 0 || errno != EINTR) return got;
  }
}

/* Reads behind block[have); false at the end or on failure. */
static bool read_more(tct_input *input) {
  int64_t got = tct_input_read(input->file, input->block + input->have, input->size - input->have);
  input->failed |= got < 0;
  if (got > 0) input->have += got, input->total += got;
  return got > 0;
}

void tct_input_begin(tct_input *input) {
  input->at = input->have = 0;
  while (input->have < 2 && read_more(input)) continue;
}

bool tct_input_fill(tct_input *input) {
  if (input->at < input->have) return true;
  input->at = input->have = 0;
  return read_more(input);
}

tct_gunzip *tct_gunzip_new(void) {
  tct_gunzip *gunzip = TCT_NEW(tct_gunzip, 1);
  if (!gunzip) return NULL;
  if (inflateInit2(&gunzip->stream, GZIP_WINDOW) == Z_OK) return gunzip;
  tct_free(gunzip);
  return NULL;
}

int64_t tct_gunzip_read(tct_gunzip *gunzip, tct_input *input, void *out, int64_t size) {
  z_stream *stream = &gunzip->stream;
  stream->next_out = out;
  stream->avail_out = (uInt)size;
  while (stream->avail_out == (uInt)size) {
    if (!tct_input_fill(input)) return gunzip->between && !input->failed ? 0 : -1;
    if (gunzip->between && inflateReset(stream) != Z_OK) return -1;
    stream->next_in = input->block + input->at;
    stream->avail_in = (uInt)(input->have - input->at);
    int status = inflate(stream, Z_NO_FLUSH);
    input->at = input->have - stream->avail_in;
    if (status != Z_OK && status != Z_STREAM_END) return -1;
    gunzip->between = status == Z_STREAM_END;
  }
  return size - stream->avail_out;
}

void tct_gunzip_free(tct_gunzip *gunzip) {
  if (!gunzip) return;
  inflateEnd(&gunzip->stream);
  tct_free(gunzip);
}
