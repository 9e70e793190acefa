/* gate.h - the inside of the gate, for the files of this room alone. */
#ifndef TCT_MECH_GATE_H
#define TCT_MECH_GATE_H
#include "mech/mech.h"
#include "rng/rng.h"

enum { TCT_DRAWERS = 65 }; /* of a joint release: 64 parties and the server */

struct tct_mech {
  tct_promise promise;        /* the releases as they stand */
  int64_t left[TCT_RELEASES]; /* repetitions not yet spent */
  tct_events spent;
  tct_neighbours neighbours;
  tct_rng_key key;
  tct_team *team;                        /* the ranks that share the rows; NULL alone */
  uint64_t releases;                     /* index of the next noise stream */
  uint64_t iterations;                   /* index of the next batch */
  int threads;                           /* that may draw a batch together; 0 and 1: one does */
  int batch;                             /* 1 + the release whose batch is open; 0: none is */
  int vector;                            /* 1 + the release whose vector is being released in parts; 0: none is */
  int64_t parts_left;                    /* of that vector */
  tct_stream stream;                     /* its noise */
  bool drawn[TCT_RELEASES][TCT_DRAWERS]; /* joint releases: who has drawn */
  double *shown[TCT_RELEASES];           /* with a probe: the sum of what was drawn, and the coalition does not know */
  int64_t coalition;                     /* whose eyes the probe has (watch.h) */
  tct_mech_probe probe;
  void *probe_user;
  int observed; /* the release that a probe is shown */
};

/* "not covered by the promise"; release may be NULL. */
tct_status tct_gate_refuse(const tct_release *release, tct_error *err);
/* What release r needs before it is drawn: it was planned, its numbers are there, its batch and no other is open. */
tct_status tct_gate_ready(const tct_mech *mech, int r, bool chooses, tct_error *err);
/* The one place where budget is spent. */
tct_status tct_gate_charge(tct_mech *mech, int r, tct_error *err);
/* A new gate is shown to the audit that watches this thread (watch.h); in other libraries nothing happens. */
#ifdef TCT_POINTS
void tct_gate_watch(tct_mech *mech);
/* Where the audit asks for it, the batch is one record. */
void tct_gate_force_batch(int64_t row0, int64_t rows, int64_t *out, int64_t *count);
#elif !defined TCT_NO_POINTS /* core/point.h */
static inline void tct_gate_watch(tct_mech *mech) { (void)mech; }
static inline void tct_gate_force_batch(int64_t row0, int64_t rows, int64_t *out, int64_t *count) {
  (void)row0, (void)rows, (void)out, (void)count;
}
#endif
/* Shows a release to a test's probe. */
void tct_gate_observe(tct_mech *mech, const tct_release *release, const double *before, double *after, int64_t len);
#endif
