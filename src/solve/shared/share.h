/* share.h - a share of records from a noisy one, and the mean of counts from two noisy numbers. */
#ifndef TCT_SOLVE_SHARE_H
#define TCT_SOLVE_SHARE_H
/* The mean of what a share may be after `seen`, the share plus normal noise of this deviation > 0, where every share in
 * [0, 1] was as likely before.  It is in (0, 1), and the prediction of least expected logistic loss. */
double tct_share_after_noise(double seen, double deviation);
/* The mean of counts up to `bound`, in (0, bound].  mean: theirs over the bound, share: of those above 0; both over so
 * many rows, with normal noise of this deviation.  A mean little above its noise is the likeliest given both.  The
 * counts are of Poisson's law, or of means by Gamma's whose variance is up to counts_varied of the square. */
double tct_count_mean(double mean, double share, double bound, double noise, double rows);
#endif
