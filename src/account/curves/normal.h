/* normal.h - tails of the normal law and the exact curve of the Gaussian mechanism, in log form. */
#ifndef TCT_ACCOUNT_CURVES_NORMAL_H
#define TCT_ACCOUNT_CURVES_NORMAL_H

/* Relative error that the closed forms of account/ keep to, with room to spare: the functions of
 * normal.c were compared with 40-digit values (tests/unit/test_normal.c) and err below 1e-13. */
#define TCT_MARGIN 1e-12

/* Mills ratio P[N > x] / density(x), x >= -2. */
double tct_mills(double x);
/* 1 - x*tct_mills(x), without cancellation: minus the derivative of the Mills ratio. x >= -2. */
double tct_mills_gap(double x);
/* log P[N > x], any x. */
double tct_log_upper_tail(double x);

/* log delta(epsilon) of the mu-Gaussian mechanism (Balle and Wang 2018), mu > 0, epsilon >= 0.
 * slope (may be NULL): d log delta / d epsilon. */
double tct_gaussian_log_delta(double mu, double epsilon, double *slope);
/* The epsilon at which log delta(epsilon) = log_delta; 0 if delta(0) is no larger. */
double tct_gaussian_epsilon(double mu, double log_delta);
/* The same as a bracket out[0] <= epsilon <= out[1] at delta in (0, 1), for a mu that is known to a relative margin. */
void tct_gaussian_bracket(double mu, double delta, double margin, double out[2]);
#endif
