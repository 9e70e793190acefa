/* loss_query.h - what the privacy loss distribution accountant is asked: the list, merged, and the work left for it. */
#ifndef TCT_ACCOUNT_CURVES_LOSS_QUERY_H
#define TCT_ACCOUNT_CURVES_LOSS_QUERY_H
#include "account/curves/adversary.h"

typedef struct tct_loss_query {
  tct_event *at;        /* [len] */
  tct_choices *choices; /* [len], of exponential events; NULL: their number would be too much work */
  int len;
  tct_neighbours neighbours;
  bool two_ways, noiseless;
  double steps;          /* sum of counts */
  double certain;        /* part of the loss that every outcome has: the shifts of objpert */
  double delta, epsilon; /* one is known, the other NAN */
  double rare;           /* chance that a sampled step is drawn which is left out: upper bounds take it off delta */
  double precision;
  double tail;   /* mass per step that may go to infinity */
  double work;   /* nanoseconds or so that are left, by counts made from the list: the same on every machine */
  bool unproved; /* a grid's masses were not those of the closed form; a wider one's would not be either */
  bool beyond;   /* more distinct events than are composed */
} tct_loss_query;

/* The list with its gaussian events merged into one, its zcdp events too, and equal events added up; q is to be freed
 * where there is no error.  Sampled steps are left out whose chances together are at most `negligible`. */
tct_status tct_loss_query_new(tct_loss_query *q, const tct_events *events, tct_neighbours neighbours, double negligible,
                              tct_error *err);
void tct_loss_query_free(tct_loss_query *q);
/* Below a forecast, by more than it errs by: by a part of it or, where nearly all of it is certain, of the rest. */
double tct_loss_below(const tct_loss_query *q, double epsilon);
/* Work that is held back for the case that nothing comes of the rest. */
extern const double tct_loss_spare_work;
/* Work that is added where one end of the bracket is asked for. */
extern const double tct_loss_one_end_work;
/* Takes work off what is left, and work and `more` off the purse; false: not enough is left in one of them. */
bool tct_loss_query_pays(tct_loss_query *q, double work, double more);
/* What the doubles of the losses themselves, and the lattice of Laplace noise, may add to the sum. */
double tct_loss_rounding(const tct_loss_query *q);
#endif
