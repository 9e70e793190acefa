/* study.h - several stages on the same people within one budget: what all cost together, how much each may spend, and
 * the gate of each. */
#ifndef TCT_STUDY_STUDY_H
#define TCT_STUDY_STUDY_H
#include "account/account.h"
#include "account/selection.h"
#include "mech/mech.h"

/* What is promised about everything together. */
typedef struct tct_whole {
  double epsilon, delta;
  tct_neighbours neighbours;
  const char *by; /* the accountant that proves it; NULL: there is no privacy */
  bool divided;   /* no accountant knows the parts together: their (epsilon, delta) are simply added */
} tct_whole;

/* What the accountants prove at claim->delta; claim->by <- which.  INFINITY, and no error, where none knows the list.
 */
tct_status tct_price(const tct_events *list, tct_whole *claim, double *epsilon, tct_error *err);
/* The same for the best of a geometric number of tries of this mean (account/selection.h).  *event <- what stands for
 * the whole; *work <- what it took to find.  INFINITY: more than is done for one file. */
tct_status tct_price_tries(const tct_tries *tries, const tct_whole *claim, tct_event *event, double *work,
                           tct_error *err);
/* TCT_E_USAGE where verify would refuse the model for the work that it takes, or since its second method does not prove
 * the claim.  events: of the claim; work: that of planning once more, 0: too little to ask; settings: for the sentence.
 * Within a purse of another it is that one's to say. */
tct_status tct_price_verifiable(const tct_events *events, const tct_whole *claim, double work, int64_t settings,
                                tct_error *err);
/* The same of what verify's second method says to the best of random tries. */
tct_status tct_price_tries_verifiable(const tct_tries *tries, const tct_whole *claim, tct_error *err);

/* One number moves every share: the largest at which everything costs at most epsilon. */
typedef struct tct_sharing {
  double epsilon;          /* of the whole */
  double low, high, first; /* the number lies between the two, and is looked for from here on */
  bool secant;             /* how fast the price grows is learnt; else it is taken to grow as the number does */
  /* Plans everything for x; *price <- INFINITY where nothing is proved. */
  tct_status (*at)(void *user, double x, double *price, tct_error *err);
  /* The last plan stands from now on, or is dropped. */
  void (*keep)(void *user, bool good);
  void *user;
} tct_sharing;
/* *found: a plan was kept. */
tct_status tct_share_largest(const tct_sharing *sharing, bool *found, tct_error *err);

/* Opens a gate for the promise, for as long as `spend` runs.  seed NULL: from the operating system.  settles: all that
 * was promised must have been spent.  TCT_E_CANCELLED: somebody has asked to stop. */
typedef struct tct_gate {
  const tct_promise *promise;
  tct_neighbours neighbours;
  const uint64_t *seed;
  int threads; /* 0: as the gate has it */
  tct_team *team;
  bool settles;
} tct_gate;
/* Of a run with these settings; it settles. */
tct_gate tct_gate_of(const tct_promise *promise, tct_neighbours neighbours, const tct_config *run);
typedef tct_status (*tct_spender)(tct_mech *mech, void *user, tct_error *err);
tct_status tct_gate_run(const tct_gate *gate, tct_spender spend, void *user, tct_error *err);

/* How many of the records are held out, where `share` of them are to be; -1: that cannot be. */
int64_t tct_held_count(int64_t rows, double share);
/* held[rows] <- 1 for as many of the records, 0 for those to train on; see split.c.  seed NULL: from the operating
 * system. */
tct_status tct_held_draw(int64_t rows, double share, const uint64_t *seed, unsigned char *held, tct_error *err);

/* Part of epsilon or delta that is handed out where they are divided: the sum has room for its rounding. */
#define TCT_DIVIDED (1 - 1e-12)
#endif
