/* mixed.h - the filter of a ledger that takes every run: mu^2, epsilon and delta beside each other. */
#ifndef TCT_ACCOUNT_MIXED_H
#define TCT_ACCOUNT_MIXED_H
#include "account/account.h"

/* What one run costs, in one of the forms that its cost may take: all three are spent.  Rounded up. */
typedef struct tct_spend {
  double mu2, epsilon, delta;
} tct_spend;

/* The forms of a run.  First, Gaussian events in mu^2 and the others by their epsilon and delta.  Then the same with
 * the pure ones in mu^2 as well, and last the run's own claim.  A form that an event does not have costs an infinite
 * mu^2. */
enum { TCT_FORMS = 3, TCT_STEPS = 4 };
void tct_mixed_forms(const tct_events *events, tct_neighbours neighbours, double epsilon, double delta,
                     tct_spend form[TCT_FORMS]);

/* Plain data. */
typedef struct tct_mixed {
  double epsilon, delta; /* the guarantee */
  double mu2;            /* spent, and: */
  long double epsilon_spent, delta_spent;
  bool begun;                          /* some mu^2 was spent; the rest is fixed then: */
  double step_mu2[TCT_STEPS];          /* at most this mu^2, beside */
  long double step_epsilon[TCT_STEPS]; /* at most this epsilon_spent */
  long double delta_most;              /* and at most this delta_spent, whatever the step */
  double share;                        /* delta of the first step */
} tct_mixed;
void tct_mixed_init(tct_mixed *filter, double epsilon, double delta);
/* A sum that is never below the exact one: what is small beside it is not lost, however often it comes. */
long double tct_sum_up(long double a, long double b);
/* How many such runs in a row are permitted at least, up to 2^40: so many in one form.  next: the form that the first
 * of them is charged in.  As each may take another, more may be permitted. */
int64_t tct_mixed_times(const tct_mixed *filter, const tct_spend form[TCT_FORMS], int *next);
/* Charges one run, or returns TCT_E_BUDGET and charges nothing. */
tct_status tct_mixed_spend(tct_mixed *filter, const tct_spend form[TCT_FORMS]);
/* What was spent, as a claim about a list fixed in advance: epsilon at delta. */
void tct_mixed_claim(const tct_mixed *filter, double *epsilon, double *delta);
#endif
