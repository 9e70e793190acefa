/* clock.h - seconds of a clock that never goes back; also for the libraries that are loaded, which have no other. */
#ifndef TCT_CORE_CLOCK_H
#define TCT_CORE_CLOCK_H
#include <time.h>

static inline double tct_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
#endif
