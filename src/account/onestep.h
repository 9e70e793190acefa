/* onestep.h - the privacy curve of one objective perturbation. */
#ifndef TCT_ACCOUNT_ONESTEP_H
#define TCT_ACCOUNT_ONESTEP_H
#include "event/event.h"

/* log of a proven delta(epsilon) of objective perturbation with mu = R*S/sigma and shift = log(1 + beta/Lambda),
 * composed with Gaussian steps of joint parameter nu >= 0 (0: none); docs/proofs/objpert.md.  one_sign: the loss's
 * slope keeps its sign for a fixed label; the law of the objpert event is the one with it. */
double tct_objpert_log_delta(double mu, double shift, double nu, tct_neighbours neighbours, bool one_sign,
                             double epsilon);
/* The smallest epsilon at delta of one repetition of an objpert or approx event, composed so.  INFINITY: none. */
double tct_onestep_epsilon(const tct_event *event, tct_neighbours neighbours, double nu, double delta);
#endif
