/* watch.c - shows the releases of this thread's runs; empty in a library that was not built for audit. */
#include "mech/watch.h"

#include "mech/gate.h"

#ifdef TCT_POINTS
/* The one writable global, of a thread: a run is reached through the public interface, which has no place for it. */
static _Thread_local struct {
  tct_watch_fn fn;
  void *user;
  tct_watch_coins coins;
  int gates;
} watching;

static void show(void *user, const tct_event *event, double sensitivity, const double *before, double *after,
                 int64_t len) {
  const tct_mech *mech = user;
  const tct_release *r = &mech->promise.release[mech->observed];
  tct_watched seen = {.gate = watching.gates - 1,
                      .release = mech->observed,
                      .what = r->what,
                      .planned = r->event.count,
                      .event = event,
                      .norm = r->norm,
                      .chooses = tct_release_chooses(r),
                      .drawn = before == after,
                      .monotone = r->monotone,
                      .sensitivity = sensitivity,
                      .deviation = r->deviation,
                      .epsilon = r->epsilon,
                      .rate = r->rate,
                      .parts = r->parts,
                      .views = r->drawers ? 1 + (r->added > 0) : 0,
                      .before = before,
                      .after = after,
                      .len = len};
  if (watching.fn) watching.fn(watching.user, &seen);
}

void tct_gate_watch(tct_mech *mech) {
  if (!watching.fn) return;
  watching.gates++;
  tct_rng_key_seed(&mech->key, watching.coins.seed);
  mech->releases = mech->iterations = watching.coins.hidden;
  mech->coalition = watching.coins.coalition;
  tct_mech_probe_test(mech, show, mech);
}

void tct_gate_force_batch(int64_t row0, int64_t rows, int64_t *out, int64_t *count) {
  int64_t at = watching.coins.batch - 1 - row0;
  if (!watching.fn || watching.coins.batch == 0) return;
  *count = at >= 0 && at < rows;
  if (*count) out[0] = at;
}

bool tct_watch(tct_watch_fn fn, void *user, const tct_watch_coins *coins) {
  watching.fn = fn;
  watching.user = user;
  watching.gates = 0;
  watching.coins = coins ? *coins : (tct_watch_coins){0};
  return true;
}
#else
bool tct_watch(tct_watch_fn fn, void *user, const tct_watch_coins *coins) {
  (void)fn, (void)user, (void)coins;
  return false;
}
#endif
