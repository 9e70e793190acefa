/* watch.c - shows the releases of this thread's runs; empty in a library that was not built for audit. */
#include "mech/watch.h"

#include "mech/gate.h"

#ifdef TCT_AUDIT
/* The one writable global, of a thread: a run is reached through the public interface, which has no place for it. */
static _Thread_local struct {
  tct_watch_fn fn;
  void *user;
  uint64_t seed;
} watching;

static void show(void *user, const tct_event *event, double sensitivity, const double *before, double *after,
                 int64_t len) {
  const tct_mech *mech = user;
  const tct_release *r = &mech->promise.release[mech->observed];
  tct_watched seen = {.release = mech->observed,
                      .norm = r->norm,
                      .chooses = tct_release_chooses(r),
                      .drawn = before == after,
                      .monotone = r->monotone,
                      .sensitivity = sensitivity,
                      .deviation = r->deviation,
                      .epsilon = r->epsilon,
                      .rate = r->rate,
                      .parts = r->parts,
                      .before = before,
                      .after = after,
                      .len = len};
  (void)event;
  if (watching.fn) watching.fn(watching.user, &seen);
}

void tct_gate_watch(tct_mech *mech) {
  if (!watching.fn) return;
  tct_rng_key_seed(&mech->key, watching.seed);
  tct_mech_probe_test(mech, show, mech);
}

bool tct_watch(tct_watch_fn fn, void *user, uint64_t seed) {
  watching.fn = fn;
  watching.user = user;
  watching.seed = seed;
  return true;
}
#else
bool tct_watch(tct_watch_fn fn, void *user, uint64_t seed) {
  (void)fn, (void)user, (void)seed;
  return false;
}
#endif
