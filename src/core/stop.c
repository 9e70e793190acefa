/* stop.c - whether the caller wants the run of this thread to end. */
#define _GNU_SOURCE
#include "core/stop.h"

static const double EVERY = 0.02; /* seconds: a person feels a tenth */

static _Thread_local tct_stop *here;
static _Thread_local bool always;

void tct_stop_always_test(bool on) { always = on; }

void tct_stop_watch(tct_stop *stop, tct_cancel_fn cancel, void *user) {
  *stop = (tct_stop){.cancel = cancel, .user = user};
  if (!here) here = stop;
}

void tct_stop_end(const tct_stop *stop) {
  if (here == stop) here = NULL;
}

static bool ask(void) {
  if (here && !here->said && here->cancel && here->cancel(here->user)) here->said = true;
  return here && here->said;
}

int tct_stop_ask(void *user) {
  (void)user;
  return here && here->by_clock ? tct_stopping() : ask();
}

bool tct_stopping(void) {
  struct timespec t;
  if (!here || here->said || !here->cancel) return here && here->said;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
  if (now < here->next && !always) return false;
  here->next = now + EVERY;
  return ask();
}

void tct_stop_by_clock(void) {
  if (here) here->by_clock = true;
}

void tct_stop_charged(void) {
  if (here) here->charged = true;
}

tct_status tct_fail_cancelled(tct_error *err) {
  return tct_fail(err, TCT_E_CANCELLED, "cancelled; no model was made%s",
                  !here || here->charged ? " and the budget stays charged" : "");
}
