/* estimate.h - public bounds that nobody has: estimated from the records, and paid for.
 *
 * RELEASES     Two vectors of counts, each once, with Gaussian noise of one size.  First, for every column, how many
 *              values lie in each interval of a grid of powers of two, which no data decide.  Then, for every column,
 *              how many lie in each of 64 equal parts of the range that the first release shows.
 * SENSITIVITY  Of every column a record adds its weight v to one number and 0 to all others.  Over d columns that is a
 *              vector of length v sqrt(d), and v is at most 1.  A person's records have weights that sum to at most 1,
 *              so by the triangle inequality their terms together are no longer than sqrt(d) either.  Weights are cut
 *              toward 0 to the lattice, which shortens them.
 * COST         The budget is divided before anything is drawn: a share is the estimate's, the rest the fit's, whatever
 *              the estimate finds.  Both parts of epsilon and delta are added.  The fit may depend on what was found in
 *              any way, because its own claim holds for every outcome. */
#ifndef TCT_ESTIMATE_ESTIMATE_H
#define TCT_ESTIMATE_ESTIMATE_H
#include "account/account.h"
#include "mech/mech.h"
#include "read/table/data.h"

#include <jansson.h>

enum {
  TCT_ESTIMATE_POWERS = 104,                         /* intervals of each sign: 2^-40 to 2^64 */
  TCT_ESTIMATE_COARSE = 2 * TCT_ESTIMATE_POWERS + 1, /* and one about 0 */
  TCT_ESTIMATE_FINE = 64,
  TCT_ESTIMATE_COLUMNS = 4096, /* the most that are estimated */
};

/* What is promised, before a record is looked at. */
typedef struct tct_estimate_plan {
  char spec[200];        /* as resolved */
  double share, outside; /* of the budget; of the values that may lie beyond each bound */
  double epsilon, delta; /* of the whole */
  double own_epsilon, own_delta, rest_epsilon, rest_delta;
  tct_neighbours neighbours;
  int64_t rows, columns;
  tct_promise promise; /* release 0: coarse, 1: fine */
  tct_cost cost;
} tct_estimate_plan;

/* What is asked for; epsilon and delta are of the whole. */
typedef struct tct_estimate_asked {
  const char *spec; /* "bounds:budget_fraction=0.1" */
  double epsilon, delta;
  tct_neighbours neighbours;
  int64_t rows, columns;
} tct_estimate_asked;
tct_status tct_estimate_plan_make(const tct_estimate_asked *asked, tct_estimate_plan *out, tct_error *err);
void tct_estimate_plan_free(tct_estimate_plan *plan);
/* {"asked", "releases", "events", "epsilon", "delta", "accountant"}; NULL: out of memory. */
json_t *tct_estimate_certificate(const tct_estimate_plan *plan);
/* Plans again from the member "asked". */
tct_status tct_estimate_plan_again(const json_t *certificate, tct_estimate_plan *out, tct_error *err);
/* The events of estimate and fit as a claim adds them up. */
tct_status tct_estimate_events(const tct_estimate_plan *plan, tct_events *out, tct_error *err);

/* ---- grids and what noisy counts say; functions of released numbers alone ---- */

/* The interval of the grid of powers that a finite value lies in. */
int tct_estimate_power(double value);
/* Its ends. */
void tct_estimate_interval(int k, double *low, double *high);
/* The part of [low, high] that a value, brought into it, lies in. */
int tct_estimate_part(double value, double low, double high);
/* First and last of the counts above `visible`, below which counts are taken for noise; the largest where none is. */
void tct_estimate_visible(const double *count, int len, double visible, int *first, int *last);
/* At each end counts are taken away as long as they sum to no more than a part `outside` of all, and what their own
 * noise explains.  First and last of those that are left. */
void tct_estimate_trim(const double *count, int len, double deviation, double outside, int *first, int *last);

/* ---- a table's own columns ---- */

/* Whose bounds are estimated: features by their place, and the label where it is a number without bounds. */
typedef struct tct_open {
  int64_t *feature; /* [count] */
  int64_t count;
  bool label;
} tct_open;

/* low[], high[] <- the released bounds of open features, then of the label: makes both releases through the gate, which
 * was opened for plan->promise. */
tct_status tct_estimate_release(const tct_estimate_plan *plan, const tct_data *data, const tct_open *open,
                                tct_mech *mech, double *low, double *high, tct_error *err);
#endif
