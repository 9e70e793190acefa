/* estimate.h - public bounds and lists that nobody has: estimated from the records, and paid for.
 *
 * RELEASES     Vectors of counts, each once, with Gaussian noise of one size.  First, for every column of numbers, how
 *              many values lie in each interval of a grid of powers of two, which no data decide.  Then how many lie in
 *              each of 64 equal parts of the range that the first release shows.  And, for every column of categories
 *              without a list, how many records have each text that occurs: those above a threshold are listed.
 * SENSITIVITY  Of every column a record adds its weight v to one number and 0 to all others.  Over d columns that is a
 *              vector of length v sqrt(d), and v is at most 1.  A person's records have weights that sum to at most 1,
 *              so by the triangle inequality their terms together are no longer than sqrt(d) either.  Weights are cut
 *              toward 0 to the lattice, which shortens them.  A missing value adds to no number of its column.
 * LISTS        Which texts occur is no public knowledge, so the counts alone would not do.  Let D' be D with a record
 *              more, c columns, noise of deviation s on the lattice g, and T the threshold.  A text of the record that
 *              nobody else in D has counts at most 1, so it is listed under D' with a chance of at most
 *              p = P(N(0, s^2) > T - 1 - g).  Let M' be the mechanism on D' that never lists such texts.  M' and the
 *              mechanism M on D count the same texts, and differ by the Gaussian release alone, with a curve d(e).  The
 *              noise of every count is drawn by itself.  So with a chance q of at least 1 - c p the list of D' is
 *              distributed as that of M', and otherwise it holds a text that M never lists.  Hence, in both directions,
 *              the curve of the pair is at most (1 - q) + q d(e): that of the Gaussian release composed with an event
 *              of epsilon 0 and delta = c p.  Where a record is replaced, D and D' each have such texts, with chances q
 *              and q': the same steps give at most 1 - min(q, q') + d(e).  T is chosen with c p at most the list's own
 *              part of delta, and both events are in the certificate.  Records of persons are refused: many light
 *              records could bring many texts.  A text that is no UTF-8 is never listed, whatever the noise.
 * COST         The budget is divided before anything is drawn: a share is the estimate's, the rest the fit's, whatever
 *              the estimate finds.  Both parts of epsilon and delta are added.  The fit may depend on what was found in
 *              any way, because its own claim holds for every outcome. */
#ifndef TCT_ESTIMATE_ESTIMATE_H
#define TCT_ESTIMATE_ESTIMATE_H
#include "core/json_text.h"
#include "account/account.h"
#include "mech/mech.h"
#include "read/table/data.h"

enum {
  TCT_ESTIMATE_POWERS = 104,                         /* intervals of each sign: 2^-40 to 2^64 */
  TCT_ESTIMATE_COARSE = 2 * TCT_ESTIMATE_POWERS + 1, /* and one about 0 */
  TCT_ESTIMATE_FINE = 64,
  TCT_ESTIMATE_COLUMNS = 4096, /* the most that are estimated */
};

/* Kinds of an estimate, as its spec names them. */
enum { TCT_ESTIMATE_BOUNDS = 1, TCT_ESTIMATE_MISSING = 2, TCT_ESTIMATE_LISTS = 4 };

/* What is promised, before a record is looked at. */
typedef struct tct_estimate_plan {
  char spec[200];        /* as resolved */
  int kinds;             /* of TCT_ESTIMATE_BOUNDS and its like */
  double share, outside; /* of the budget; of the values that may lie beyond each bound */
  double epsilon, delta; /* of the whole */
  double own_epsilon, own_delta, rest_epsilon, rest_delta;
  tct_neighbours neighbours;
  int64_t rows, columns, lists; /* columns of numbers, the label among them; of categories */
  double list_delta, threshold; /* 0 without lists */
  tct_promise promise;          /* coarse and fine counts, where there are columns; then the lists' */
  tct_cost cost;
} tct_estimate_plan;

/* What is asked for; epsilon and delta are of the whole. */
typedef struct tct_estimate_asked {
  const char *spec; /* "bounds,categories:budget_fraction=0.1" */
  double epsilon, delta;
  tct_neighbours neighbours;
  int64_t rows, columns, lists;
  int64_t memory; /* bytes that the process may take; 0: any number */
} tct_estimate_asked;
tct_status tct_estimate_plan_make(const tct_estimate_asked *asked, tct_estimate_plan *out, tct_error *err);
/* As a stage of a study: all of this epsilon and delta is the estimate's, list_delta of it for lists. */
tct_status tct_estimate_plan_own(const tct_estimate_asked *asked, double list_delta, tct_estimate_plan *out,
                                 tct_error *err);
void tct_estimate_plan_free(tct_estimate_plan *plan);
/* Appends the events of its releases, and that of a listed text that one record alone has. */
tct_status tct_estimate_own_events(const tct_estimate_plan *plan, tct_events *out, tct_error *err);
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
/* Small values of one sign are taken in with the large ones. */
void tct_estimate_reach_zero(double *low, double *high);
/* The part of [low, high] that a value, brought into it, lies in. */
int tct_estimate_part(double value, double low, double high);
/* First and last of the counts above `visible`, below which counts are taken for noise; the largest where none is. */
void tct_estimate_visible(const double *count, int len, double visible, int *first, int *last);
/* At each end counts are taken away as long as they sum to no more than a part `outside` of all, and what their own
 * noise explains.  First and last of those that are left. */
void tct_estimate_trim(const double *count, int len, double deviation, double outside, int *first, int *last);

/* ---- a table's own columns ---- */

/* An estimate as a stage: what it would refuse (mech NULL), or its releases through the gate.  data: without labels,
 * read under its schema.  *completed <- that schema with what was open filled in; owned.  It pays for itself. */
tct_status tct_estimate_stage(const tct_estimate_plan *plan, tct_data *data, tct_mech *mech, json_t **completed,
                              tct_error *err);

/* About what is estimated: features by their place, and the label where it is a number without bounds. */
typedef struct tct_open {
  int64_t *feature; /* [count] of numbers */
  int64_t count;
  bool label;
  int64_t *list;   /* [lists] features of categories */
  int64_t *column; /* [lists] their columns of the schema, as data->words has them */
  int64_t lists;
} tct_open;

/* What was found, from released numbers alone. */
typedef struct tct_found {
  double *low, *high, *middle; /* [columns] bounds, and a point that about half of the values lie below */
  json_t **list;               /* [lists] arrays of texts, sorted */
  int64_t *place;              /* [words] of a text in its column's list, -1: not listed */
} tct_found;
tct_status tct_found_make(const tct_estimate_plan *plan, const tct_data *data, tct_found *out, tct_error *err);
void tct_found_free(tct_found *found, int64_t lists);

/* Bounds and middles as a schema has them, of six digits. */
void tct_estimate_round(tct_found *found, int64_t columns);
/* The schema as a model has it: it says what was estimated.  label: what the label is called, if its bounds were open.
 */
json_t *tct_estimate_complete(const json_t *schema, const tct_found *found, const char *label);
/* An estimate is paid for when it has listed more categories than what follows can take.  The longest list that it
 * found is left out of a completed schema: its column is ignored.  Its name, or NULL: there is none. */
const char *tct_estimate_leave_out(json_t *schema);

/* Makes all releases through the gate, which was opened for plan->promise. */
tct_status tct_estimate_release(const tct_estimate_plan *plan, const tct_data *data, const tct_open *open,
                                tct_mech *mech, tct_found *out, tct_error *err);
/* The last of them: release number `which`, the lists'. */
tct_status tct_estimate_lists(const tct_estimate_plan *plan, const tct_data *data, const tct_open *open, int which,
                              tct_mech *mech, tct_found *out, tct_error *err);
/* Columns of categories became lists: the records again, by the schema as completed.  schema: as it was. */
tct_status tct_estimate_encode(tct_data *data, const json_t *schema, const json_t *completed, const tct_found *found,
                               tct_error *err);
/* Features that a column of a schema makes. */
int64_t tct_estimate_features(const json_t *column);
#endif
