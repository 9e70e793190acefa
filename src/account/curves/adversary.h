/* adversary.h - what many exponential choices cost together: the optimal composition of steps of bounded range. */
#ifndef TCT_ACCOUNT_CURVES_ADVERSARY_H
#define TCT_ACCOUNT_CURVES_ADVERSARY_H
#include "account/curves/grid.h"

/* `count` choices of epsilon each, in blocks of two sizes, one step apart.  value[k][i]: an upper end of the largest
 * delta of a block of size[k] steps at i spacings of epsilon, i <= len[k]; times[k]: how many such blocks there are. */
typedef struct tct_choices {
  double epsilon, spacing;
  int64_t size[2], times[2], len[2];
  double *value[2];
} tct_choices;

/* Below the first the places of the maxima are lost to rounding, above the second their exponentials overflow. */
#define TCT_CHOICES_LEAST 1e-9
#define TCT_CHOICES_MOST 500
/* Nanoseconds or so that tct_choices_new takes, whatever is asked. */
extern const double tct_choices_work;
/* epsilon: between these two. */
tct_status tct_choices_new(double epsilon, int64_t count, tct_choices *out, tct_error *err);
/* Nanoseconds or so that the laws below take. */
double tct_choices_grid_work(const tct_choices *choices, double h);
/* Appends laws on a grid of width h, one for each size.  Those of side[0] dominate.  Where both are wanted, side[1]
 * gets those of fair choices, which some run has.  len: of both lists. */
tct_status tct_choices_laws(const tct_choices *choices, double h, bool both, tct_pmf *const side[2], int len[2],
                            tct_error *err);
void tct_choices_free(tct_choices *choices);
#endif
