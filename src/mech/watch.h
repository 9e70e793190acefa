/* watch.h - the audit's eye on the gate: every release of a run is shown as it is made, and may be forced.
 *
 * It exists in a library that is built for audit alone (the CMake target tacit_points, which is never installed), whose
 * sources are compiled with TCT_POINTS.  Elsewhere tct_watch returns false and no run is ever shown. */
#ifndef TCT_MECH_WATCH_H
#define TCT_MECH_WATCH_H
#include "mech/release.h"

/* One release as it is made.  Numbers are in units of what is released. */
typedef struct tct_watched {
  int gate;               /* how many gates of this thread were opened before its own, since tct_watch */
  int release;            /* its index in the promise of its gate */
  const char *what;       /* a constant text: what is released */
  int64_t planned;        /* how often the gate may */
  const tct_event *event; /* what it is charged as, once */
  tct_norm norm;          /* of the sensitivity */
  bool chooses;           /* before: the scores [len]; after: the chosen index, one number */
  bool drawn;             /* numbers of a law without a sum: before and after are the same */
  bool monotone;
  double sensitivity, deviation; /* deviation: or the scale of a Laplace law; 0: a choice, or no noise */
  double epsilon;                /* of a choice */
  double rate;                   /* below 1: over a Poisson batch */
  int64_t parts;                 /* numbers of one vector that come one by one; 0: at once */
  int views;                     /* of coalitions, besides those of outsiders: 1 joint noise, 2 and a server's */
  const double *before;          /* [len] without noise, as the solver handed it over; with what a coalition knows */
  double *after;                 /* [len] as released; overwritten, it is what the run goes on with */
  int64_t len;
} tct_watched;

typedef void (*tct_watch_fn)(void *user, const tct_watched *seen);

/* Where the runs take their coins from, instead of the system. */
typedef struct tct_watch_coins {
  uint64_t seed;   /* of the key: noise, batches, choices, and public orders */
  uint64_t hidden; /* other noise and other batches for each number, with the same public orders */
  int64_t batch;   /* not 0: every batch is the record before this one alone, counted from 0 */
  /* Whose eyes see a release with joint noise.  0: nobody's noise is known.  k > 0: the server's is, and that of as
   * many parties as the plan grants; k says which.  -1: all parties' is known, and the server's is not. */
  int64_t coalition;
} tct_watch_coins;

/* From now on the runs of this thread are shown to fn.  fn NULL: no more, and coins may be NULL.
 * false: this library was not built for audit. */
bool tct_watch(tct_watch_fn fn, void *user, const tct_watch_coins *coins);
#endif
