/* selection.h - what the best of a random number of private tries costs. */
#ifndef TCT_ACCOUNT_SELECTION_H
#define TCT_ACCOUNT_SELECTION_H
#include "event/event.h"

enum { TCT_SELECTION_MOST = 10000 }; /* tries on average */

/* A try draws one of `count` settings at random, runs it, and scores it; one[i] are the events of all that setting i
 * then spends.  The number of tries is geometric with this mean (a whole number, at least 1), and is secret.  The best
 * try alone is released, with its score.  *epsilon <- an upper bound on what that costs at delta; INFINITY, and no
 * error, where no accountant knows the events.  selection.c has the proof. */
tct_status tct_selection_epsilon(const tct_events *one, size_t count, tct_neighbours neighbours, int64_t mean,
                                 double delta, double *epsilon, tct_error *err);

/* What a try spends: a fit of one of the settings, and a Gaussian release that scores it. */
typedef struct tct_tries {
  const tct_events *fit; /* [count] of the fit by each setting */
  size_t count;
  double score; /* noise of the score; INFINITY: it shows nothing */
  int64_t mean;
  bool apart; /* no record, of whatever neighbours, is read both by fits and by scores */
} tct_tries;
/* The same for such tries: of records that are apart the larger of what their fits cost and what their scores do, else
 * what both cost in one list. */
tct_status tct_tries_epsilon(const tct_tries *tries, tct_neighbours neighbours, double delta, double *epsilon,
                             tct_error *err);
/* The approx event that stands for a whole search in a certificate and in a ledger.  Its delta is a little below the
 * one asked for: it leaves room for rounding, so that an accountant has an answer at delta. */
tct_status tct_tries_event(const tct_tries *tries, tct_neighbours neighbours, double delta, tct_event *event,
                           tct_error *err);

/* What stands in a model file as `choice`: "selection:mean=M,fit=F,score=S,held=H,rows=N", and ",epsilon=E", or
 * ",share=P" where fits and scores are not apart. */
typedef struct tct_selection {
  int64_t mean, rows; /* rows: of the whole table */
  double fit;         /* epsilon of a try's fit, or fits, at the try's delta */
  double score, held; /* noise of a score; the part of the rows that scores read */
  double epsilon;     /* as asked for, which fits and scores that are apart both may cost; else NAN */
  double share;       /* else the part of a try's epsilon for its score; or NAN */
} tct_selection;
enum { TCT_SELECTION_TEXT = 240 };
void tct_selection_text(const tct_selection *selection, char text[TCT_SELECTION_TEXT]);
/* false: it is another kind of choice. */
bool tct_selection_parse(const char *choice, tct_selection *out);
#endif
