/* account.h - what a list of events costs: accountants, brackets, calibration.  Never sees a row. */
#ifndef TCT_ACCOUNT_ACCOUNT_H
#define TCT_ACCOUNT_ACCOUNT_H
#include "event/event.h"

/* A proven bracket: lower <= true value <= upper.  upper = INFINITY: nothing is proved;
 * lower = 0 where the accountant gives no lower bound. */
typedef struct tct_bracket {
  double lower;
  double upper;
} tct_bracket;

/* One accountant: a file of its own in account/ plus a line in list.def.
 * All functions are pure but for the thread's purse of work (curves/work.h): no allocation that outlives the call, any
 * thread. */
typedef struct tct_accountant {
  const char *name;    /* "gdp" | "zcdp" | "rdp" | "pld" | ... */
  const char *summary; /* one phrase */
  /* Does it bound this list under this relation?  If not, why[size] gets one phrase. */
  bool (*applies)(const tct_events *events, tct_neighbours neighbours, char *why, size_t size);
  /* Smallest epsilon it proves at delta in (0,1); at delta 0 `basic` alone is asked. precision: relative width aimed
   * at, e.g. 1e-4; accountants with closed forms ignore it. */
  tct_status (*epsilon)(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                        tct_bracket *out, tct_error *err);
  /* Smallest delta it proves at epsilon >= 0. */
  tct_status (*delta)(const tct_events *events, tct_neighbours neighbours, double epsilon, double precision,
                      tct_bracket *out, tct_error *err);
  bool tight; /* it may prove less than Renyi divergences can: another method's larger bound is then no contradiction */
} tct_accountant;

/* Each accountant by name, tct_accountant_NAME, for a plan whose published analysis uses that one. */
#define TCT_ACCOUNTANT(name) extern const tct_accountant tct_accountant_##name;
#include "account/list.def"
#undef TCT_ACCOUNTANT

/* The registry: tct_accountants[i] for i < tct_accountant_count. */
extern const tct_accountant *const tct_accountants[];
extern const int tct_accountant_count;
const tct_accountant *tct_accountant_find(const char *name); /* NULL = none */

/* For accountants that bound every list. */
bool tct_applies_to_all(const tct_events *events, tct_neighbours neighbours, char *why, size_t size);

/* What one accountant says about a list that it applies to, held against the closed forms of the list's parts
 * (single.h).  An answer below them proves nothing and becomes infinite.  The lower end is at least theirs. */
tct_status tct_accountant_epsilon(const tct_accountant *accountant, const tct_events *events, tct_neighbours neighbours,
                                  double delta, double precision, tct_bracket *out, tct_error *err);

/* The same of its upper end alone, which may take less. */
tct_status tct_accountant_upper(const tct_accountant *accountant, const tct_events *events, tct_neighbours neighbours,
                                double delta, double precision, double *upper, tct_error *err);

/* The precision that calibrations work at.  A claim that came from one is checked at the same precision: the
 * numerical bound at another one may differ by that much. */
#define TCT_PRECISION 2e-5

/* The smallest sound answer over all applicable accountants. */
typedef struct tct_cost {
  double epsilon;       /* upper bound: the answer */
  double epsilon_lower; /* largest proven lower bound */
  double delta;
  const tct_accountant *winner; /* `basic` applies to every list */
} tct_cost;
tct_status tct_account_epsilon(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                               tct_cost *out, tct_error *err);

/* Calibration.  `make(x, user, events)` appends the events for the value x; the cost must fall (noise)
 * or rise (count, rate, epsilon, rho) monotonically in x. */
typedef tct_status (*tct_make_events)(double x, void *user, tct_events *out, tct_error *err);
typedef enum tct_direction { TCT_SMALLEST, TCT_LARGEST } tct_direction;
/* What all events together may cost. */
typedef struct tct_target {
  tct_neighbours neighbours;
  double epsilon, delta;
} tct_target;
/* Where x is sought. */
typedef struct tct_interval {
  tct_direction direction;
  double low, high; /* above 0, finite */
  double tolerance; /* relative; 1e-6 typical */
} tct_interval;
/* The smallest (or largest) x in the range whose upper bound meets the target.  The x returned is always one whose
 * bound was computed and holds.  cost may be NULL.  TCT_E_BUDGET if even the cheapest end costs more than epsilon. */
tct_status tct_calibrate(tct_make_events make, void *user, const tct_interval *range, const tct_target *target,
                         double *x, tct_cost *cost, tct_error *err);
/* The usual case: the smallest noise such that `count` (sampled) gaussian events meet the target.
 * rate 1 = plain gaussian. */
tct_status tct_calibrate_noise(double rate, int64_t count, const tct_target *target, double *noise, tct_cost *cost,
                               tct_error *err);

/* Adaptive filters: may the next event still be spent?  The state is plain data. */
typedef enum tct_filter_kind {
  TCT_FILTER_ZCDP, /* sum of rho <= budget */
  TCT_FILTER_GDP,  /* gaussian events only: sum of 1/noise^2 (4/noise^2) <= budget (= mu^2) */
  TCT_FILTER_RDP,  /* sum of RDP <= budget at one of a few orders, each with its own share of delta (filter.c) */
  TCT_FILTER_SUM,  /* plain sum of epsilon and delta */
  TCT_FILTER_MIXED /* mu^2, epsilon and delta beside each other; asks for runs, not events (mixed.h) */
} tct_filter_kind;
enum { TCT_FILTER_ORDERS = 3 };
typedef struct tct_filter {
  tct_filter_kind kind;
  tct_neighbours neighbours;
  double epsilon, delta; /* the guarantee */
  double budget, spent;  /* zcdp: rho; gdp: mu^2; sum: epsilon */
  double delta_spent;    /* sum */
  int orders;            /* rdp */
  double order[TCT_FILTER_ORDERS];
  double order_budget[TCT_FILTER_ORDERS];
  double order_spent[TCT_FILTER_ORDERS];
} tct_filter;
tct_status tct_filter_init(tct_filter *filter, tct_filter_kind kind, tct_neighbours neighbours, double epsilon,
                           double delta, tct_error *err);
/* Charges the event (count times), or returns TCT_E_BUDGET and charges nothing. */
tct_status tct_filter_spend(tct_filter *filter, const tct_event *event, tct_error *err);
/* The largest mu^2 of Gaussian steps within (epsilon, delta); 0: none. */
double tct_filter_mu2(double epsilon, double delta);
#endif
