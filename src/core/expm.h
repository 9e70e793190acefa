/* expm.h - exp, log and log(1+e) without branches, the same bits on every processor.
 *
 * libm chooses its code by processor (with or without fused products), so its last bits are not repeatable
 * across machines, and it does not vectorise.  These are a few ulp wide of the exact value at most
 * (tests/contract/test_loss.c measures them) and are plain IEEE operations. */
#ifndef TCT_CORE_EXPM_H
#define TCT_CORE_EXPM_H
#include <stdint.h>
#include <string.h>

/* 2^n for an integral double n in [-1022, 1023]: adding 1.5*2^52 puts n into the low bits of the mantissa. */
static inline double tct_power_of_two(double n) {
  double shifted = n + 6755399441055744.0;
  int64_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  bits = (int64_t)(((uint64_t)bits + 1023u) << 52);
  double power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

/* e^x for every x; 0 below -745.2, infinity above 709.8; subnormal results are rounded once.
 *
 * x = n log 2 + r, |r| <= 0.347 (Cody and Waite: LOG2_HIGH has 32 trailing zero bits, so n*LOG2_HIGH is exact for |n| <
 * 2^11); e^r = 1 + r + r^2(1/2! + r/3! + ... + r^11/13!), remainder below 2^-57; 2^n in two factors, either of which is
 * a normal number. */
static inline double tct_exp(double x) {
  const double log2_high = 0x1.62e42feep-1, log2_low = 0x1.a39ef35793c76p-33;
  const double shift = 6755399441055744.0; /* 1.5*2^52: adding and subtracting it rounds to an integer */
  x = x < -746.0 ? -746.0 : x;
  x = x > 710.0 ? 710.0 : x;
  double n = (x * 0x1.71547652b82fep0 + shift) - shift;
  double r = (x - n * log2_high) - n * log2_low;
  double q = 1.0 / 6227020800.0;
  q = q * r + 1.0 / 479001600.0;
  q = q * r + 1.0 / 39916800.0;
  q = q * r + 1.0 / 3628800.0;
  q = q * r + 1.0 / 362880.0;
  q = q * r + 1.0 / 40320.0;
  q = q * r + 1.0 / 5040.0;
  q = q * r + 1.0 / 720.0;
  q = q * r + 1.0 / 120.0;
  q = q * r + 1.0 / 24.0;
  q = q * r + 1.0 / 6.0;
  q = q * r + 0.5;
  double e = 1.0 + (r + r * r * q);
  double half = (n * 0.5 + shift) - shift;
  return e * tct_power_of_two(half) * tct_power_of_two(n - half);
}

/* log x for positive normal x, to 2 ulp where |log x| >= 0.35 and to 2 ulp of x - 1 nearer to 1.
 *
 * x = 2^n m, m in [0.707, 1.415); log m = 2 atanh(t), t = (m-1)/(m+1), |t| <= 0.172, by its series up to t^21
 * (remainder below 2^-60).  n is turned into a double through the mantissa of 1.5*2^52. */
static inline double tct_log(double x) {
  const double log2_high = 0x1.62e42feep-1, log2_low = 0x1.a39ef35793c76p-33;
  uint64_t bits, up, integer;
  memcpy(&bits, &x, sizeof bits);
  up = bits + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu); /* carries into the exponent from sqrt(1/2) on */
  integer = (up >> 52) + 0x4338000000000000u;
  bits = (up & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu;
  double m, n;
  memcpy(&m, &bits, sizeof m);
  memcpy(&n, &integer, sizeof n);
  n -= 6755399441055744.0 + 1023.0;
  double t = (m - 1.0) / (m + 1.0), v = t * t;
  double q = 1.0 / 21.0;
  q = q * v + 1.0 / 19.0;
  q = q * v + 1.0 / 17.0;
  q = q * v + 1.0 / 15.0;
  q = q * v + 1.0 / 13.0;
  q = q * v + 1.0 / 11.0;
  q = q * v + 1.0 / 9.0;
  q = q * v + 1.0 / 7.0;
  q = q * v + 1.0 / 5.0;
  q = q * v + 1.0 / 3.0;
  return n * log2_high + (2.0 * t + (2.0 * t * v * q + n * log2_low));
}

/* log(1+e) for e in [0,1]: 2 atanh(t), t = e/(2+e) <= 1/3, by its series up to t^33 (remainder below 2^-58). */
static inline double tct_log1p_unit(double e) {
  double t = e / (2.0 + e), v = t * t;
  double q = 1.0 / 33.0;
  q = q * v + 1.0 / 31.0;
  q = q * v + 1.0 / 29.0;
  q = q * v + 1.0 / 27.0;
  q = q * v + 1.0 / 25.0;
  q = q * v + 1.0 / 23.0;
  q = q * v + 1.0 / 21.0;
  q = q * v + 1.0 / 19.0;
  q = q * v + 1.0 / 17.0;
  q = q * v + 1.0 / 15.0;
  q = q * v + 1.0 / 13.0;
  q = q * v + 1.0 / 11.0;
  q = q * v + 1.0 / 9.0;
  q = q * v + 1.0 / 7.0;
  q = q * v + 1.0 / 5.0;
  q = q * v + 1.0 / 3.0;
  return 2.0 * (t + t * v * q);
}
#endif
