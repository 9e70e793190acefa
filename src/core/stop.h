/* stop.h - whether the caller wants the run of this thread to end.
 *
 * Loops of p^2 steps and more, and large allocations, ask.  Once the answer was yes it stays so.  Whatever is computed
 * from then on is rubbish, and nobody gets it.  The gate releases nothing more (mech/mech.c), other ranks get nothing
 * (mech/join_ranks.c), and there is no model (train/fit.c).  So a loop may end at any place. */
#ifndef TCT_CORE_STOP_H
#define TCT_CORE_STOP_H
#include "core/status.h"
#include <time.h>

/* Seconds of a clock that never goes back; also for the libraries that are loaded, which have no other. */
static inline double tct_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct tct_stop {
  tct_cancel_fn cancel; /* NULL: never */
  void *user;
  double next;        /* seconds of the clock at which it is asked again */
  bool said, charged; /* it said so; the budget is charged */
  bool by_clock;      /* see tct_stop_by_clock */
} tct_stop;

/* Until its end this thread's loops ask `cancel`.  Within another watch nothing changes: the outer one is asked. */
void tct_stop_watch(tct_stop *stop, tct_cancel_fn cancel, void *user);
void tct_stop_end(const tct_stop *stop);

/* Is this thread's run to end?  Some 20 ns: the callback is called 50 times a second at most.  In a thread that a
 * parallel loop has woken: false. */
bool tct_stopping(void);
/* The same without waiting; a tct_cancel_fn, whose user it does not look at. */
int tct_stop_ask(void *user);

/* From now on tct_stop_ask waits as tct_stopping does: how often the callback is called tells time and no steps. */
void tct_stop_by_clock(void);
/* What a cancelled run says depends on whether the budget is charged by then. */
void tct_stop_charged(void);
/* TCT_E_CANCELLED. */
tct_status tct_fail_cancelled(tct_error *err);

/* Tests: every question reaches the callback. */
void tct_stop_always_test(bool always);
#endif
