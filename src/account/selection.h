/* selection.h - what the best of a random number of private tries costs. */
#ifndef TCT_ACCOUNT_SELECTION_H
#define TCT_ACCOUNT_SELECTION_H
#include "event/event.h"

enum { TCT_SELECTION_MOST = 10000 }; /* tries on average */

/* A try draws one of `count` settings at random, runs it, and scores it; one[i] are the events of all that setting i
 * then spends, the score included.  The number of tries is geometric with this mean (a whole number, at least 1), and
 * is secret.  The best try alone is released, with its score.  *epsilon <- an upper bound on what that costs at delta;
 * INFINITY, and no error, where no accountant knows the events.  selection.c has the proof. */
tct_status tct_selection_epsilon(const tct_events *one, size_t count, tct_neighbours neighbours, int64_t mean,
                                 double delta, double *epsilon, tct_error *err);
/* The approx event that stands for a whole search in a certificate and in a ledger.  Its delta is a little below the
 * one asked for: it leaves room for rounding, so that an accountant has an answer at delta. */
tct_status tct_selection_event(const tct_events *one, size_t count, tct_neighbours neighbours, int64_t mean,
                               double delta, tct_event *event, tct_error *err);
/* What stands in a model file as `choice`: "selection:mean=M,score=S", S the noise of the score. */
void tct_selection_text(int64_t mean, double score, char *text, size_t size);
/* false: it is another kind of choice. */
bool tct_selection_parse(const char *choice, int64_t *mean, double *score);
#endif
