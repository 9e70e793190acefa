/* fused_terms.h - slope times feature for the four smooth losses, free of branches, in doubles and in floats.
 *
 * They are the slopes of this folder written for one pass.  The logistic one is -yx/(1 + e^t) with t = yz brought into
 * a range where e^t neither overflows nor vanishes (|t| <= 700, in floats 80).  It keeps its relative accuracy
 * everywhere, because 1 + e^t has no cancellation.  e^t is that of core/expm.h with one factor 2^n instead of two; in
 * floats the series stops at r^7/7!, remainder 5e-9 at |r| = 0.347, a tenth of a float's last bit.  The accuracy
 * matters to nobody's privacy: a term is clipped whatever it is. */
#ifndef TCT_LOSS_FUSED_TERMS_H
#define TCT_LOSS_FUSED_TERMS_H
#include "loss/fused_slope.h"

#include <stdint.h>
#include <string.h>

/* FMA(a, b, c) = a*b + c; it is fused at levels that have the instruction.  Coefficients: minimax over |r| <= log(2)/2
 * (Remez, relative error 2.2e-16 in doubles, 8e-8 in floats). */
#define TCT_FUSED_EXP(name, single, FMA)                                      \
  static inline double name(double t) {                                       \
    const double shift = 6755399441055744.0;                                  \
    double shifted = FMA(t, 0x1.71547652b82fep0, shift), n = shifted - shift; \
    double r = FMA(n, -0x1.a39ef35793c76p-33, FMA(n, -0x1.62e42feep-1, t));   \
    double q = FMA(0x1.28a2c273b03b8p-22, r, 0x1.72faf2d7d210dp-19);          \
    q = FMA(q, r, 0x1.a019a668bb4f4p-16);                                     \
    q = FMA(q, r, 0x1.a01978c422e23p-13);                                     \
    q = FMA(q, r, 0x1.6c16c17f44310p-10);                                     \
    q = FMA(q, r, 0x1.1111112dd74dbp-7);                                      \
    q = FMA(q, r, 0x1.55555555520adp-5);                                      \
    q = FMA(q, r, 0x1.555555554b751p-3);                                      \
    q = FMA(q, r, 0x1.0000000000005p-1);                                      \
    q = FMA(q, r, 0x1.000000000001ep+0);                                      \
    q = FMA(q, r, 1.0);                                                       \
    uint64_t bits, power;                                                     \
    memcpy(&bits, &q, sizeof bits);                                           \
    memcpy(&power, &shifted, sizeof power); /* its low bits are n */          \
    bits += power << 52;                                                      \
    memcpy(&q, &bits, sizeof q);                                              \
    return q;                                                                 \
  }                                                                           \
  static inline float single(float t) {                                       \
    const float shift = 12582912.0f; /* 1.5 * 2^23 */                         \
    float shifted = FMA##f(t, 0x1.715476p0f, shift), n = shifted - shift;     \
    float r = FMA##f(n, -0x1.0bfbe8p-15f, FMA##f(n, -0x1.62ep-1f, t));        \
    float q = FMA##f(0x1.123d84p-7f, r, 0x1.576368p-5f);                      \
    q = FMA##f(q, r, 0x1.55547cp-3f);                                         \
    q = FMA##f(q, r, 0x1.fffd0ap-2f);                                         \
    q = FMA##f(q, r, 0x1.000000p+0f);                                         \
    q = FMA##f(q, r, 0x1.000002p+0f);                                         \
    uint32_t bits, power;                                                     \
    memcpy(&bits, &q, sizeof bits);                                           \
    memcpy(&power, &shifted, sizeof power);                                   \
    bits += power << 23;                                                      \
    memcpy(&q, &bits, sizeof q);                                              \
    return q;                                                                 \
  }
#define TCT_FUSED_PLAIN(a, b, c) ((a) * (b) + (c))
#define TCT_FUSED_PLAINf(a, b, c) ((a) * (b) + (c))
TCT_FUSED_EXP(tct_fused_exp_plain, tct_fused_exp_single_plain, TCT_FUSED_PLAIN)
TCT_FUSED_EXP(tct_fused_exp_fma, tct_fused_exp_single_fma, __builtin_fma)

/* Defines slope(m, y, h) * x in REAL.  For the logistic loss h is the limit of |t|.  If it were a constant in sight,
 * the compiler would turn the two comparisons into masks instead of a minimum and a maximum. */
#define TCT_FUSED_TERM(name, REAL, exponential)                                    \
  static inline REAL name(tct_fused_slope slope, REAL m, REAL y, REAL x, REAL h) { \
    if (slope == TCT_FUSED_LOGISTIC) {                                             \
      REAL t = y * m;                                                              \
      t = t < h ? t : h;                                                           \
      t = t > -h ? t : -h;                                                         \
      return -(y * x) / (1 + exponential(t));                                      \
    }                                                                              \
    if (slope == TCT_FUSED_SMOOTHED_HINGE) {                                       \
      REAL v = (1 - y * m) / h;                                                    \
      v = v > 0 ? v : 0;                                                           \
      v = v < 1 ? v : 1;                                                           \
      return -y * v * x;                                                           \
    }                                                                              \
    REAL r = m - y;                                                                \
    if (slope == TCT_FUSED_HUBER) {                                                \
      r = r < h ? r : h;                                                           \
      r = r > -h ? r : -h;                                                         \
    }                                                                              \
    return r * x;                                                                  \
  }
TCT_FUSED_TERM(tct_fused_term_plain, double, tct_fused_exp_plain)
TCT_FUSED_TERM(tct_fused_term_fma, double, tct_fused_exp_fma)
TCT_FUSED_TERM(tct_fused_term_single_plain, float, tct_fused_exp_single_plain)
TCT_FUSED_TERM(tct_fused_term_single_fma, float, tct_fused_exp_single_fma)
#undef TCT_FUSED_TERM
#endif
