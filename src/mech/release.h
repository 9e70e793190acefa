/* release.h - what a run may release, planned whole: made in plan, held by the gate, written to the model file.
 *
 * A release says everything that its draw needs.  That is the length of one record's own term (sensitivity, in a norm)
 * and the event that it is charged as.  It is the lattice of its sum, the deviation of its noise, and the number of
 * draws.  A run names a release by its index; no function that draws takes a length or a noise (mech.h). */
#ifndef TCT_MECH_RELEASE_H
#define TCT_MECH_RELEASE_H
#include "account/account.h"

/* The norm in which a sensitivity is stated. */
typedef enum tct_norm {
  TCT_NORM_L2 = 0,
  TCT_NORM_L1 = 1,
  TCT_NORM_SCORE = 2, /* of a choice: how far any one score moves under the run's neighbour relation */
} tct_norm;

const char *tct_norm_name(tct_norm norm); /* "l2", "l1", "score" */

/* What is drawn. */
typedef enum tct_law {
  TCT_LAW_GAUSSIAN,    /* rounded Gaussian noise, added */
  TCT_LAW_LAPLACE,     /* discrete Laplace noise, added */
  TCT_LAW_GAMMA,       /* density ~ exp(-|b|/scale) in all coordinates together; only drawn, never added (objpert) */
  TCT_LAW_EXPONENTIAL, /* a choice by the exponential mechanism */
  TCT_LAW_FLIP,        /* a choice by permute and flip, at most 4096 candidates */
  TCT_LAW_LARGEST,     /* a choice without privacy: the first of the largest scores */
} tct_law;

typedef struct tct_release {
  const char *what; /* a constant text: what is released */
  tct_event event;  /* charged for each repetition with count 1; event.count: how many repetitions are planned */
  tct_law law;
  tct_norm norm;
  double clip;        /* what the kernel cuts a record's own term to; the solver's SENSITIVITY has the proof */
  double sensitivity; /* length of one record's own term in that norm; NAN: set before each draw (follows) */
  double lattice;     /* spacing of the sum, a power of two; NAN until the sensitivity and the noise are there */
  double deviation;   /* of a Gaussian, or the scale of a Laplace law, in units of the sum; 0: none, or a choice */
  double noise;       /* multiplier: a Gaussian's deviation, or a Laplace scale, over the sensitivity */
  double epsilon;     /* choices: of the choice over the records that it sees */
  double rate;        /* below 1: a sum or choice over a Poisson batch of this rate */
  double largest;     /* largest size of a term in any sum, where that is more than the sensitivity; else 0 */
  double ratio;       /* follows: sensitivity over clip */
  int64_t terms;      /* most terms in a sum */
  int64_t parts;      /* a vector whose numbers are released one by one, so many to an event; 0: at once */
  int bits;           /* follows: the lattice is no finer than 2^-bits of the clip (kernels in floats); 0: any */
  int drawers;        /* joint: so many parties draw its noise (mech/joint.h); 0: whoever holds the gate does */
  int drawer;    /* joint: 1 + the party whose gate this is, which draws its own part alone; 0: all in one process */
  int64_t side;  /* joint: the value is the upper triangle of a symmetric matrix of this side; 0: a vector */
  int faced;     /* joint: of the parties' noises, how many the strongest observer does not know */
  double part;   /* joint: deviation of what each party draws, in units of the sum */
  double added;  /* joint: deviation of what the server adds besides; 0: nothing */
  bool monotone; /* choice: one record moves all scores the same way, the 2 of the exponent is dropped */
  bool follows;  /* the length follows from earlier releases: tct_mech_set_clip sets it before each draw */
  bool blend;    /* with probability 2^-128 the release is uniform on all that it can be (mech.c) */
  bool whole;    /* every rank holds the whole value, not a part of a sum */
  bool open;     /* budget promises: the run brings the noise or epsilon, and the filter is charged for it */
} tct_release;

/* A sum of per-record terms, gaussian, sampled_gaussian or laplace; at most `terms` of them. */
tct_release tct_release_sum(const char *what, tct_event event, double clip, double sensitivity, int64_t terms);
/* A choice among scores that are sums of at most `terms` terms of size <= clip; change: how far one score moves under
 * the relation.  epsilon INFINITY: the largest score, charged as a release without noise. */
tct_release tct_release_choice(const char *what, double epsilon, int64_t count, double clip, double change,
                               int64_t terms);
/* A vector drawn, not added to a sum; its event's own file proves the claim.  deviation: of the Gaussian, or the scale
 * of the Laplace law. */
tct_release tct_release_draw(const char *what, tct_event event, tct_law law, double sensitivity, double noise,
                             double deviation, double lattice);
/* Of a blended release of len numbers: a probability of exp(-this) that a pure epsilon does not cover is paid for. */
double tct_blend_exponent(double epsilon, double len);
/* The event of a choice: exponential:epsilon; pure:epsilon for permute and flip; and pure:log(1 + rate*(exp(epsilon) -
 * 1)) where records were sampled. */
tct_event tct_release_choice_event(const tct_release *release);
/* Standard deviation of the noise, in units of what is released; NAN: it follows, or the run brings it. */
double tct_release_deviation(const tct_release *release);
bool tct_release_chooses(const tct_release *release);

/* A sum that no one holds: shares of it, modulo 2^64, of `drawers` parties that each add noise (mech/joint.h).  The
 * event is what an observer faces who knows the noise of all but `faced` parties: each draws its variance over `faced`.
 */
typedef struct tct_joint {
  int drawers, faced;
  int64_t side;
  bool server; /* the server adds the event's whole noise too, towards the parties */
} tct_joint;
tct_release tct_release_joint(const char *what, tct_event event, double sensitivity, int64_t terms, tct_joint joint);

/* Lattice and deviation from the rest.  TCT_E_USAGE where no lattice carries the sum and its noise. */
tct_status tct_release_settle(tct_release *release, tct_error *err);
/* The lattice spacing g (a power of two) for a sum of `terms` terms of norm <= sensitivity under noise multiplier
 * `noise` (0: none).  It has terms*sensitivity + 2^7*sigma < 2^52*g, and sigma/g in [2^20, 2^40) when noise > 0.
 * NAN where no such g exists (terms above about 2^32 sigma/sensitivity). */
double tct_lattice_spacing(double sensitivity, double noise, int64_t terms);

/* Fixed: exactly these releases.  At most: these or fewer, in any order (proof in mech.c).  Budget: of these kinds and
 * lengths, as many as `filter` allows for the noise that the run brings; `events` is the budget as it is certified. */
typedef enum tct_promise_kind { TCT_PROMISE_FIXED, TCT_PROMISE_AT_MOST, TCT_PROMISE_BUDGET } tct_promise_kind;
const char *tct_promise_name(tct_promise_kind kind); /* "fixed", "at_most", "budget" */

enum { TCT_RELEASES = 12 };
typedef struct tct_promise {
  tct_promise_kind kind;
  int count;
  tct_release release[TCT_RELEASES];
  tct_events events; /* what the certificate states and the accountant sees */
  tct_filter filter; /* budget */
} tct_promise;
/* Appends a release, and its event unless the promise is a budget.  count 0 adds nothing. */
tct_status tct_promise_add(tct_promise *promise, tct_release release, tct_error *err);
/* Settles every release whose numbers are all known. */
tct_status tct_promise_settle(tct_promise *promise, tct_error *err);
/* The promise is in itself consistent: lattices and deviations are those of their releases, events those of all. */
tct_status tct_promise_check(const tct_promise *promise, tct_error *err);
tct_status tct_promise_copy(tct_promise *to, const tct_promise *from, tct_error *err);
void tct_promise_free(tct_promise *promise);
#endif
