/* thread_ranks.h - ranks that are threads of one process: a table for tct_ranks_load, so that no Open MPI is needed.
 *
 * A test sets team_size, and in each thread `self`.  Sums are added in another order on every rank, which an inexact
 * sum does not survive. */
#ifndef TCT_TEST_THREAD_RANKS_H
#define TCT_TEST_THREAD_RANKS_H
#include "ranks/ranks.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RANKS = 4 };

static int team_size = 1;
static _Thread_local int self;
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int waiting, round_of;
static const void *shown[MOST_RANKS];

/* All ranks wait for the last one.  Who waits for one that has gone would wait for ever; that is a failure, not a hang.
 */
static void meet(void) {
  struct timespec late;
  clock_gettime(CLOCK_REALTIME, &late);
  late.tv_sec += 40;
  pthread_mutex_lock(&door);
  int own = round_of, outcome = 0;
  if (++waiting == team_size) {
    waiting = 0;
    round_of++;
    pthread_cond_broadcast(&opened);
  }
  while (round_of == own && outcome == 0) outcome = pthread_cond_timedwait(&opened, &door, &late);
  if (round_of == own) {
    fprintf(stderr, "[  FAILED  ] rank %d waits for ranks that have gone\n", self);
    _exit(1);
  }
  pthread_mutex_unlock(&door);
}

static int open_rank(int *rank, int *ranks) {
  *rank = self;
  *ranks = team_size;
  return TCT_TRANSPORT_DONE;
}

static int smallest(void *state, int32_t *x, const tct_patience *patience) {
  (void)state;
  (void)patience;
  int own = *x, min = own;
  shown[self] = &own;
  meet();
  for (int r = 0; r < team_size; r++) min = *(const int *)shown[r] < min ? *(const int *)shown[r] : min;
  meet();
  *x = min;
  return TCT_TRANSPORT_DONE;
}

/* Beginning with the own rank's: every rank adds in another order. */
static int reduce(double *x, int64_t n, bool add) {
  double *all = malloc((size_t)(n + 1) * sizeof *all);
  shown[self] = x;
  meet();
  memcpy(all, x, (size_t)n * sizeof *all);
  for (int k = 1; k < team_size; k++) {
    const double *other = shown[(self + k) % team_size];
    for (int64_t j = 0; j < n; j++) all[j] = add ? all[j] + other[j] : fmax(all[j], other[j]);
  }
  meet();
  memcpy(x, all, (size_t)n * sizeof *all);
  free(all);
  return TCT_TRANSPORT_DONE;
}

static int sum(void *state, double *x, int64_t n, const tct_patience *patience) {
  (void)state, (void)patience;
  return reduce(x, n, true);
}
static int largest(void *state, double *x, int64_t n, const tct_patience *patience) {
  (void)state, (void)patience;
  return reduce(x, n, false);
}
static int sum_first(void *state, double *x, int64_t n, const tct_patience *patience) {
  int outcome = sum(state, x, n, patience);
  for (int64_t j = 0; j < n && self > 0; j++) x[j] = NAN; /* not defined there */
  return outcome;
}

static int broadcast(void *state, void *bytes, int64_t size, int from, const tct_patience *patience) {
  (void)state;
  (void)patience;
  if (self == from) shown[from] = bytes;
  meet();
  if (self != from && size > 0) memcpy(bytes, shown[from], (size_t)size);
  meet();
  return TCT_TRANSPORT_DONE;
}

static int gather(void *state, const void *own, void *all, int64_t size, const tct_patience *patience) {
  (void)state;
  (void)patience;
  shown[self] = own;
  meet();
  for (int r = 0; r < team_size; r++) memcpy((char *)all + r * size, shown[r], (size_t)size);
  meet();
  return TCT_TRANSPORT_DONE;
}

static void close_rank(void *state, int32_t clean) { (void)state, (void)clean; }

static const tct_ranks threads = {.version = TCT_RANKS_VERSION,
                                  .open = open_rank,
                                  .calls = {.smallest = smallest,
                                            .sum = sum,
                                            .sum_first = sum_first,
                                            .largest = largest,
                                            .broadcast = broadcast,
                                            .gather = gather,
                                            .close = close_rank}};

/* Takes the place of the library's own. */
tct_status tct_ranks_load(const tct_ranks **ranks, tct_error *err) {
  (void)err;
  *ranks = team_size > 1 ? &threads : NULL;
  return TCT_OK;
}
#endif
