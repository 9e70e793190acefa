/* share.h - a share of records from a noisy one. */
#ifndef TCT_SOLVE_SHARE_H
#define TCT_SOLVE_SHARE_H
/* The mean of what a share may be after `seen`, the share plus normal noise of this deviation > 0, where every share in
 * [0, 1] was as likely before.  It is in (0, 1), and the prediction of least expected logistic loss. */
double tct_share_after_noise(double seen, double deviation);
#endif
