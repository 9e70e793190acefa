/* fft.h - discrete Fourier transforms of real sequences, with a proven bound on their rounding. */
#ifndef TCT_ACCOUNT_CURVES_FFT_H
#define TCT_ACCOUNT_CURVES_FFT_H
#include "core/status.h"

typedef struct tct_fft {
  int64_t length;  /* of the real sequence: a power of two, >= 16 */
  double *cosine;  /* [length/2] cos(2 pi k/length), k < length/2 */
  double *sine;    /* [length/2] sin(2 pi k/length) */
  double *work[4]; /* [length/2 + 1] each */
  double error;    /* every |computed - exact| <= error * sum of |input| (inverse: / length) */
} tct_fft;

tct_status tct_fft_init(tct_fft *fft, int64_t length, tct_error *err);
void tct_fft_free(tct_fft *fft);

/* re + i*im [length/2 + 1] <- sum_j x[j] e^{-2 pi i jk/length}. */
void tct_fft_forward(const tct_fft *fft, const double *x, double *re, double *im);
/* x[length] <- the sequence whose spectrum it is (1/length included). re and im are overwritten. */
void tct_fft_inverse(const tct_fft *fft, double *re, double *im, double *x);
#endif
