/* event.h - mechanism events: the only things that an accountant ever sees. */
#ifndef TCT_EVENT_EVENT_H
#define TCT_EVENT_EVENT_H
#include "core/status.h"
#include <stdbool.h>

/* The meaning of each kind is fixed for ever; parameters never change meaning.
 * `c` below is how far one record's own term reaches; the neighbour relation enters only in the
 * accountant. */
typedef enum tct_event_kind {
  TCT_EV_GAUSSIAN,         /* noise = sigma/c: sum of per-record terms of norm <= c, plus N(0, sigma^2 I) */
  TCT_EV_SAMPLED_GAUSSIAN, /* noise, rate: each record enters the sum independently with probability rate */
  TCT_EV_LAPLACE,          /* noise = scale/c, c in the l1 norm */
  TCT_EV_EXPONENTIAL,      /* epsilon: choice with probability ~ exp(epsilon*score/(2*change)) */
  TCT_EV_PURE,             /* epsilon: any epsilon-DP step, for the chosen relation */
  TCT_EV_APPROX,           /* epsilon, delta: any (epsilon, delta)-DP step, for the chosen relation */
  TCT_EV_ZCDP,             /* rho: any rho-zCDP step, for the chosen relation */
  TCT_EV_OBJPERT,          /* noise = sigma/R, shift a: objective perturbation */
} tct_event_kind;
/* How many there are; no enumerator, so that a switch over the kinds that forgets one does not compile. */
enum { TCT_EV_KINDS = TCT_EV_OBJPERT + 1 };

typedef struct tct_event {
  tct_event_kind kind;
  double noise;   /* gaussian, sampled_gaussian, laplace, objpert: > 0 (0 = no noise, epsilon is infinite) */
  double rate;    /* sampled_gaussian: in (0, 1] */
  double epsilon; /* exponential, pure, approx: >= 0 */
  double delta;   /* approx: in [0, 1] */
  double rho;     /* zcdp: >= 0 */
  double shift;   /* objpert: >= 0 */
  int64_t count;  /* repetitions, >= 1 */
} tct_event;

typedef struct tct_events {
  tct_event *at; /* [len] */
  int64_t len;
  int64_t cap;
} tct_events;

/* The kind's name in specs and files, e.g. "sampled_gaussian". */
const char *tct_event_name(tct_event_kind kind);
/* The i-th parameter's key in the order of the spec, i in 0..2; NULL after the last. count is common to all. */
const char *tct_event_key(tct_event_kind kind, int i);

/* Constructors; count >= 1. */
tct_event tct_event_gaussian(double noise, int64_t count);
tct_event tct_event_sampled_gaussian(double noise, double rate, int64_t count);
tct_event tct_event_laplace(double noise, int64_t count);
tct_event tct_event_exponential(double epsilon, int64_t count);
tct_event tct_event_pure(double epsilon, int64_t count);
tct_event tct_event_approx(double epsilon, double delta, int64_t count);
tct_event tct_event_zcdp(double rho, int64_t count);
tct_event tct_event_objpert(double noise, double shift, int64_t count);

/* TCT_OK if every parameter is in its range (finite, see above). */
tct_status tct_event_check(const tct_event *event, tct_error *err);

/* Reads "kind:key=value,..."; a parameter that is absent becomes NAN, an absent count 1 (or -1 if
 * `open` is not NULL and count was written as "?").  open: NULL = every parameter is required;
 * otherwise receives the key of the one missing parameter ("" if none); two missing is an error. */
tct_status tct_event_parse(const char *text, tct_event *out, char open[16], tct_error *err);
void tct_event_print(const tct_event *event, char *buffer, size_t size);

bool tct_event_same(const tct_event *a, const tct_event *b); /* all but count, bit for bit */

/* Appends; equal neighbours in the list are merged by adding counts. */
tct_status tct_events_add(tct_events *events, tct_event event, tct_error *err);
tct_status tct_events_copy(tct_events *to, const tct_events *from, tct_error *err);
void tct_events_free(tct_events *events); /* the array; the struct is the caller's */
#endif
