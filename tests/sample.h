/* sample.h - with TCT_SAMPLE=N a test tries one in N of what it has many of, another part each day; without, all. */
#ifndef TCT_TEST_SAMPLE_H
#define TCT_TEST_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* One in how many, at most `most`: where a part of the things is too few to say anything. */
static inline int sample_every(int most) {
  const char *asked = getenv("TCT_SAMPLE");
  int every = asked ? atoi(asked) : 1;
  return every < 1 ? 1 : every > most ? most : every;
}

/* Is it the turn of the i-th thing today? */
static inline bool sample_turn(int64_t i, int most) {
  int every = sample_every(most);
  return i % every == (int64_t)(time(NULL) / 86400) % every;
}

#endif
