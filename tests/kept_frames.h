/* kept_frames.h - all bytes of the frames that a channel's log shows, one after the other. */
#ifndef TCT_TESTS_KEPT_FRAMES_H
#define TCT_TESTS_KEPT_FRAMES_H
#include "core/status.h"

#include <stdlib.h>
#include <string.h>

typedef struct frames {
  unsigned char *bytes; /* freed by the test */
  size_t size;
} frames;

/* A channel's log; `user` is the frames that grow. */
static tct_status keep(void *user, int to, const void *frame, size_t size, tct_error *err) {
  frames *f = user;
  (void)to, (void)err;
  f->bytes = realloc(f->bytes, f->size + size);
  memcpy(f->bytes + f->size, frame, size);
  f->size += size;
  return TCT_OK;
}
#endif
