/* densities.h - curves of one step by integrating densities, for a second opinion; nothing of account/ but the purse.
 */
#ifndef TCT_SECOND_DENSITIES_H
#define TCT_SECOND_DENSITIES_H
#include "event/event.h"

/* Two worlds on the real line: p is (1-rate) N(0,1) + rate N(mu,1), q is N(0,1) (forward), or the other way round.
 * Where a record is replaced, q is (1-rate) N(0,1) + rate N(-mu,1).  rate 1 is the plain Gaussian mechanism. */
typedef struct tct_worlds {
  double mu, rate;
  int forward, replaced;
} tct_worlds;

/* Of a mixture: no epsilon above it is looked for; and beyond this shift the steps of the integral are too wide. */
#define TCT_SECOND_FAR 1e6
#define TCT_SECOND_APART 2000

double tct_log_density(double x); /* of N(0,1) */
/* log((1-rate) + rate e^{mu x - mu^2/2}), stable at both ends. */
double tct_log_mix(double x, double mu, double rate);
/* delta at epsilon; NAN: not known. */
double tct_plain_delta(double mu, double epsilon); /* worlds {mu, 1, 1, 0} */
double tct_worlds_delta(const tct_worlds *worlds, double epsilon);
/* The least epsilon >= 0 whose delta is at most delta.  INFINITY: beyond the range of a double.  Of mixtures, 0:
 * nothing is known; TCT_SECOND_FAR or more: at least that. */
double tct_worlds_epsilon(const tct_worlds *worlds, double delta);
/* delta at epsilon of one objective perturbation beside Gaussian steps whose sums lie nu deviations apart together. */
double tct_objpert_delta(const tct_event *event, double factor, double nu, double epsilon);
/* delta at epsilon of one choice by the exponential mechanism. */
double tct_choice_delta(double epsilon0, double epsilon);
/* Of `count` fair ones, whose losses are half of epsilon0 up or down: a lower end.  0: too many to look at. */
double tct_fair_choices_delta(double epsilon0, int64_t count, double epsilon);
#define TCT_CHOICE_STEPS 90 /* golden sections over the place of its losses */
/* The least value of f between low and high, by golden sections; ends early at what is `enough`. */
double tct_golden_least(double (*f)(double, const void *), const void *user, double low, double high, int steps,
                        double enough);
#endif
