/* fft.c - discrete Fourier transforms of real sequences, with a proven bound on their rounding.
 *
 * A real sequence of length n is a complex one of length n/2 (even and odd entries).  It is transformed by Stockham's
 * self-sorting radix-4 passes on separate real and imaginary arrays, which compilers turn into vector code.  The order
 * of operations is fixed, so the bits are the same on every machine.
 *
 * ROUNDING: every output is a sum over the inputs, each of which reaches it on one path through the butterflies.  On
 * that path a radix-4 pass multiplies by one twiddle and takes part in two additions.  A twiddle is a product of up to
 * three table entries, each itself a product of two correctly computed ones: off by at most 17 u, and 3 u for the
 * multiplication.  The additions err by 2 u of a sum whose terms are again such paths.  So each input's share errs by
 * at most 22 u per pass, 11 u per factor 2, and 20 u for the split into even and odd entries and the scaling.  Together
 * |error| <= 14 u (log2 n + 2) * (sum of the inputs' sizes).
 */
#include "account/curves/fft.h"

#include "core/alloc.h"
#include "core/lanes.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* cos and sin of 2 pi k/n for k < n/2, from two tables of about sqrt(n) accurate ones. */
static void fill_twiddles(tct_fft *fft) {
  enum { FINE = 256 };
  double fine_c[FINE], fine_s[FINE], unit = 2 * 3.14159265358979323846 / (double)fft->length;
  for (int k = 0; k < FINE; k++) fine_c[k] = cos(unit * k), fine_s[k] = sin(unit * k);
  for (int64_t block = 0; block < fft->length / 2; block += FINE) {
    double c = cos(unit * (double)block), s = sin(unit * (double)block);
    int64_t end = fft->length / 2 - block < FINE ? fft->length / 2 - block : FINE;
    for (int64_t k = 0; k < end; k++) {
      fft->cosine[block + k] = c * fine_c[k] - s * fine_s[k];
      fft->sine[block + k] = s * fine_c[k] + c * fine_s[k];
    }
  }
}

tct_status tct_fft_init(tct_fft *fft, int64_t length, tct_error *err) {
  memset(fft, 0, sizeof *fft);
  fft->length = length;
  bool whole = true;
  fft->cosine = TCT_NEW(double, length / 2);
  fft->sine = TCT_NEW(double, length / 2);
  for (int i = 0; i < 4; i++) whole &= (fft->work[i] = TCT_NEW(double, length / 2 + 1)) != NULL;
  if (!whole || !fft->cosine || !fft->sine) return tct_fft_free(fft), tct_fail_memory(err);
  fft->error = 14 * (0.5 * DBL_EPSILON) * (log2((double)length) + 2);
  fill_twiddles(fft);
  return TCT_OK;
}

void tct_fft_free(tct_fft *fft) {
  tct_free(fft->cosine);
  tct_free(fft->sine);
  for (int i = 0; i < 4; i++) tct_free(fft->work[i]);
  memset(fft, 0, sizeof *fft);
}

/* One radix-4 pass: n points per sequence, `stride` sequences interleaved. (c1, s1) is the twiddle of
 * the group, forward sign. */
typedef struct pass {
  const double *xr, *xi;
  double *yr, *yi;
  int64_t quarter, stride; /* distance of the four inputs; of neighbouring groups */
} pass;

TCT_WIDE static void group4(const pass *f, int64_t p, double c1, double s1) {
  double c2 = c1 * c1 - s1 * s1, s2 = 2 * c1 * s1, c3 = c1 * c2 - s1 * s2, s3 = s1 * c2 + c1 * s2;
  int64_t m = f->stride, q = f->quarter * m;
  const double *restrict ar = f->xr + p * m, *restrict ai = f->xi + p * m;
  double *restrict br = f->yr + 4 * p * m, *restrict bi = f->yi + 4 * p * m;
  for (int64_t k = 0; k < m; k++) {
    double r02 = ar[k] + ar[k + 2 * q], i02 = ai[k] + ai[k + 2 * q];
    double d02r = ar[k] - ar[k + 2 * q], d02i = ai[k] - ai[k + 2 * q];
    double r13 = ar[k + q] + ar[k + 3 * q], i13 = ai[k + q] + ai[k + 3 * q];
    double d13r = ar[k + q] - ar[k + 3 * q], d13i = ai[k + q] - ai[k + 3 * q];
    double t1r = d02r + d13i, t1i = d02i - d13r, t2r = r02 - r13, t2i = i02 - i13;
    double t3r = d02r - d13i, t3i = d02i + d13r;
    br[k] = r02 + r13;
    bi[k] = i02 + i13;
    br[k + m] = c1 * t1r + s1 * t1i;
    bi[k + m] = c1 * t1i - s1 * t1r;
    br[k + 2 * m] = c2 * t2r + s2 * t2i;
    bi[k + 2 * m] = c2 * t2i - s2 * t2r;
    br[k + 3 * m] = c3 * t3r + s3 * t3i;
    bi[k + 3 * m] = c3 * t3i - s3 * t3r;
  }
}

/* The first pass has stride 1: the groups themselves run along the vectors. */
TCT_WIDE static void first4(const pass *f, const double *restrict c, const double *restrict s) {
  int64_t q = f->quarter;
  const double *restrict ar = f->xr, *restrict ai = f->xi;
  double *restrict br = f->yr, *restrict bi = f->yi;
  for (int64_t p = 0; p < q; p++) {
    double c1 = c[2 * p], s1 = s[2 * p];
    double c2 = c1 * c1 - s1 * s1, s2 = 2 * c1 * s1, c3 = c1 * c2 - s1 * s2, s3 = s1 * c2 + c1 * s2;
    double r02 = ar[p] + ar[p + 2 * q], i02 = ai[p] + ai[p + 2 * q];
    double d02r = ar[p] - ar[p + 2 * q], d02i = ai[p] - ai[p + 2 * q];
    double r13 = ar[p + q] + ar[p + 3 * q], i13 = ai[p + q] + ai[p + 3 * q];
    double d13r = ar[p + q] - ar[p + 3 * q], d13i = ai[p + q] - ai[p + 3 * q];
    double t1r = d02r + d13i, t1i = d02i - d13r, t2r = r02 - r13, t2i = i02 - i13;
    double t3r = d02r - d13i, t3i = d02i + d13r;
    br[4 * p] = r02 + r13;
    bi[4 * p] = i02 + i13;
    br[4 * p + 1] = c1 * t1r + s1 * t1i;
    bi[4 * p + 1] = c1 * t1i - s1 * t1r;
    br[4 * p + 2] = c2 * t2r + s2 * t2i;
    bi[4 * p + 2] = c2 * t2i - s2 * t2r;
    br[4 * p + 3] = c3 * t3r + s3 * t3i;
    bi[4 * p + 3] = c3 * t3i - s3 * t3r;
  }
}

TCT_WIDE static void last2(const pass *f) {
  int64_t m = f->stride;
  for (int64_t k = 0; k < m; k++) {
    double ar = f->xr[k], ai = f->xi[k], br = f->xr[k + m], bi = f->xi[k + m];
    f->yr[k] = ar + br;
    f->yi[k] = ai + bi;
    f->yr[k + m] = ar - br;
    f->yi[k + m] = ai - bi;
  }
}

/* The complex transform of length/2 points in work[0], work[1]; the result's place is returned: 0 or 2. */
static int complex_transform(const tct_fft *fft) {
  int64_t n = fft->length / 2, step = 2; /* step: twiddle k of n points is entry k*step */
  int from = 0;
  for (int64_t stride = 1; n > 1; stride *= 4, n /= 4, step *= 4) {
    pass f = {fft->work[from], fft->work[from + 1], fft->work[2 - from], fft->work[3 - from], n / 4, stride};
    from = 2 - from;
    if (n == 2) {
      last2(&f);
      break;
    }
    if (stride == 1)
      first4(&f, fft->cosine, fft->sine);
    else
      for (int64_t p = 0; p < n / 4; p++) group4(&f, p, fft->cosine[p * step], fft->sine[p * step]);
  }
  return from;
}

TCT_WIDE void tct_fft_forward(const tct_fft *fft, const double *x, double *re, double *im) {
  int64_t half = fft->length / 2;
  double *restrict zr = fft->work[0], *restrict zi = fft->work[1];
  for (int64_t k = 0; k < half; k++) zr[k] = x[2 * k], zi[k] = x[2 * k + 1];
  int at = complex_transform(fft);
  zr = fft->work[at], zi = fft->work[at + 1];
  zr[half] = zr[0], zi[half] = zi[0];
  re[0] = zr[0] + zi[0], im[0] = 0;
  re[half] = zr[0] - zi[0], im[half] = 0;
  const double *restrict c = fft->cosine, *restrict s = fft->sine;
  for (int64_t k = 1; k < half; k++) {
    double er = 0.5 * (zr[k] + zr[half - k]), ei = 0.5 * (zi[k] - zi[half - k]);
    double odr = 0.5 * (zi[k] + zi[half - k]), oi = 0.5 * (zr[half - k] - zr[k]);
    re[k] = er + (c[k] * odr + s[k] * oi);
    im[k] = ei + (c[k] * oi - s[k] * odr);
  }
}

/* The inverse is the forward transform of the conjugate, read backwards. */
TCT_WIDE void tct_fft_inverse(const tct_fft *fft, double *re, double *im, double *x) {
  int64_t half = fft->length / 2;
  double *restrict zr = fft->work[0], *restrict zi = fft->work[1], scale = 1.0 / (double)fft->length;
  const double *restrict c = fft->cosine, *restrict s = fft->sine;
  for (int64_t k = 0; k < half; k++) {
    double er = re[k] + re[half - k], ei = im[k] - im[half - k];
    double dr = re[k] - re[half - k], di = im[k] + im[half - k];
    double odr = c[k] * dr - s[k] * di, oi = c[k] * di + s[k] * dr;
    zr[k] = er - oi;
    zi[k] = -(ei + odr);
  }
  int at = complex_transform(fft);
  zr = fft->work[at], zi = fft->work[at + 1];
  for (int64_t k = 0; k < half; k++) x[2 * k] = scale * zr[k], x[2 * k + 1] = -scale * zi[k];
}
