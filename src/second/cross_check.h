/* cross_check.h - a second opinion on what events cost, by other methods than the accountants'. */
#ifndef TCT_SECOND_CROSS_CHECK_H
#define TCT_SECOND_CROSS_CHECK_H
#include "event/event.h"

/* Computed by numerical integration from the events' definitions, sharing no code with account/. */
typedef struct tct_second {
  double upper;  /* an epsilon that holds at delta; INFINITY: this method proves none */
  double lower;  /* no true epsilon at delta is below; 0: none is known */
  bool exact;    /* upper and lower are the same number up to integration error */
  char how[120]; /* one phrase */
} tct_second;

void tct_second_opinion(const tct_events *events, tct_neighbours neighbours, double delta, tct_second *out);
/* What the methods say to a claim.  tight: its accountant may prove less than Renyi divergences can, and only an exact
 * method contradicts it. */
typedef struct tct_second_claim {
  bool holds;    /* a method proves it, or all that do not are looser than its accountant */
  bool possible; /* no lower bound is above it */
} tct_second_claim;
tct_second_claim tct_second_of_claim(const tct_events *events, tct_neighbours neighbours, double epsilon, double delta,
                                     bool tight);
/* Two methods of the same bound agree within this, relative: integration and search over orders. */
#define TCT_SECOND_SLACK 1e-6
/* The Renyi divergence of order a > 1 of all events together; INFINITY: none is known. */
double tct_second_renyi(const tct_events *events, tct_neighbours neighbours, double a);

/* The best of a geometric number of tries, of this mean.  one[i]: all events of a try with setting i, its score
 * included. */
typedef struct tct_second_best {
  double upper; /* an epsilon that holds at delta; INFINITY: this method proves none */
  double lower; /* tries of a Gaussian release each, of the settings' least shift, cost no less at delta */
  bool closed;  /* all events are Gaussian: the profile of a try is a closed form, and upper has no slack of its own */
} tct_second_best;
void tct_second_tries(const tct_events *one, size_t count, tct_neighbours neighbours, int64_t mean, double delta,
                      tct_second_best *out);
/* The same of a search: a try makes a fit by one of the settings, and a Gaussian release that scores it.  apart: no
 * record is read by both, so that it pays for the dearer one; else both are in one list.  Out of memory: nothing is
 * proved. */
typedef struct tct_second_search {
  const tct_events *fit;
  size_t count;
  double score;
  int64_t mean;
  bool apart;
} tct_second_search;
void tct_second_of_search(const tct_second_search *search, tct_neighbours neighbours, double delta,
                          tct_second_best *out);
/* What this says to a claim: a method that is as tight has to prove it, and a looser one cannot contradict it. */
tct_second_claim tct_second_of_tries(const tct_second_best *best, double epsilon);
#endif
