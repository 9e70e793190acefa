/* event.h - mechanism events: the only things that an accountant ever sees. */
#ifndef TCT_EVENT_EVENT_H
#define TCT_EVENT_EVENT_H
#include "core/status.h"

/* The kinds are the entries of kinds.def, which says what each of them means; parameters never change meaning. */
typedef enum tct_event_kind {
#define TCT_EVENT(KIND, ...) TCT_EV_##KIND,
#include "event/kinds.def"
#undef TCT_EVENT
} tct_event_kind;
/* How many there are; no enumerator, so that a switch over the kinds that forgets one does not compile. */
#define TCT_EVENT(...) +1
enum {
  TCT_EV_KINDS = 0
#include "event/kinds.def"
};
#undef TCT_EVENT

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

enum { TCT_EVENT_KEYS = 3 }; /* parameters of a kind, at most */
enum {
  TCT_EVENT_NOISY = 1, /* at noise 0 it hides nothing */
  TCT_EVENT_PURE = 2   /* its epsilon is the whole cost of one repetition, for the chosen relation */
};

/* One parameter of a kind. */
typedef struct tct_event_key {
  const char *key; /* NULL: no more parameters */
  size_t member;   /* its place in tct_event */
  bool above_low;  /* 0 itself is refused */
  double high;     /* largest value; the least is 0 */
  const char *help;
} tct_event_key;

/* What kinds.def says of a kind. */
typedef struct tct_event_facts {
  const char *name;
  unsigned flags; /* TCT_EVENT_NOISY, ... */
  const char *summary;
  tct_event_key key[TCT_EVENT_KEYS + 1];
} tct_event_facts;

/* The table of kinds: tct_event_kinds[kind]. */
extern const tct_event_facts tct_event_kinds[TCT_EV_KINDS];
/* The kind's name in specs and files, e.g. "sampled_gaussian". */
const char *tct_event_name(tct_event_kind kind);
/* The parameter named `key`, "count" apart; NULL if the kind has none of that name. */
double *tct_event_parameter(tct_event *event, const char *key);

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

bool tct_event_same(const tct_event *a, const tct_event *b);    /* all but count, bit for bit */
bool tct_events_same(const tct_events *a, const tct_events *b); /* the counts too, in the same order */

/* Appends; equal neighbours in the list are merged by adding counts. */
tct_status tct_events_add(tct_events *events, tct_event event, tct_error *err);
tct_status tct_events_copy(tct_events *to, const tct_events *from, tct_error *err);
void tct_events_free(tct_events *events); /* the array; the struct is the caller's */
#endif
