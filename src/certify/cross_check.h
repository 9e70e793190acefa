/* cross_check.h - a second opinion on what events cost, by other methods than the accountants'. */
#ifndef TCT_CERTIFY_CROSS_CHECK_H
#define TCT_CERTIFY_CROSS_CHECK_H
#include "event/event.h"

/* Computed by numerical integration from the events' definitions, sharing no code with account/. */
typedef struct tct_second {
  double upper;  /* an epsilon that holds at delta; INFINITY: this method proves none */
  double lower;  /* no true epsilon at delta is below; 0: none is known */
  bool exact;    /* upper and lower are the same number up to integration error */
  char how[120]; /* one phrase */
} tct_second;

void tct_second_opinion(const tct_events *events, tct_neighbours neighbours, double delta, tct_second *out);
#endif
