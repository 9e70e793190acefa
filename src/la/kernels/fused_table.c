/* fused_table.c - compiles the fused loops for every instruction set and arithmetic. */
#include "la/kernels/fused_table.h"
#include "loss/fused_terms.h"

/* The fused loops of levels 1 and 2 use fused products; the baseline has none. */
#if defined(__x86_64__)
#define TCT_FUSED_FMA1 __attribute__((target("avx2,fma")))
#define TCT_FUSED_FMA2 __attribute__((target("avx512f,avx512dq,avx512vl,fma")))
bool tct_fused_has_fma(void) { return __builtin_cpu_supports("fma"); }
#else
bool tct_fused_has_fma(void) { return true; }
#define TCT_FUSED_FMA1
#define TCT_FUSED_FMA2
#endif

/* Truncation of |t| < 2^52 to a whole number: one instruction where there is one, else as in lattice.h. */
#define TRUNC_FAST(t) __builtin_trunc(t)
#define TRUNC_SINGLE(t) ((int32_t)(t))
static inline double trunc_plain(double t) {
  double a = t < 0 ? -t : t, r = (a + 4503599627370496.0) - 4503599627370496.0;
  r -= r > a ? 1.0 : 0.0;
  return t < 0 ? -r : r;
}

#define TARGET TCT_TARGET_0
#define STORED double
#define REAL double
#define TERM tct_fused_term_plain
#define WHOLE double
#define TRUNC trunc_plain
#define NAME(x) x##_f64_0
#include "la/kernels/fused_body.h"
#define STORED float
#define REAL double
#define TERM tct_fused_term_plain
#define WHOLE double
#define TRUNC trunc_plain
#define NAME(x) x##_f32_f64_0
#include "la/kernels/fused_body.h"
#define STORED float
#define REAL float
#define TERM tct_fused_term_single_plain
#define WHOLE int32_t
#define TRUNC TRUNC_SINGLE
#define NAME(x) x##_f32_0
#include "la/kernels/fused_body.h"
#undef TARGET

#define TARGET TCT_FUSED_FMA1
#define STORED double
#define REAL double
#define TERM tct_fused_term_fma
#define WHOLE double
#define TRUNC TRUNC_FAST
#define NAME(x) x##_f64_1
#include "la/kernels/fused_body.h"
#define STORED float
#define REAL double
#define TERM tct_fused_term_fma
#define WHOLE double
#define TRUNC TRUNC_FAST
#define NAME(x) x##_f32_f64_1
#include "la/kernels/fused_body.h"
#define STORED float
#define REAL float
#define TERM tct_fused_term_single_fma
#define WHOLE int32_t
#define TRUNC TRUNC_SINGLE
#define NAME(x) x##_f32_1
#include "la/kernels/fused_body.h"
#undef TARGET

#define TARGET TCT_FUSED_FMA2
#define STORED double
#define REAL double
#define TERM tct_fused_term_fma
#define WHOLE double
#define TRUNC TRUNC_FAST
#define NAME(x) x##_f64_2
#include "la/kernels/fused_body.h"
#define STORED float
#define REAL double
#define TERM tct_fused_term_fma
#define WHOLE double
#define TRUNC TRUNC_FAST
#define NAME(x) x##_f32_f64_2
#include "la/kernels/fused_body.h"
#define STORED float
#define REAL float
#define TERM tct_fused_term_single_fma
#define WHOLE int32_t
#define TRUNC TRUNC_SINGLE
#define NAME(x) x##_f32_2
#include "la/kernels/fused_body.h"
#undef TARGET

tct_fused_loop tct_fused_loop_at(int level, int kind, tct_fused_slope slope, bool scaled, bool limited) {
  int variant = scaled + 2 * limited;
  switch (level * TCT_FUSED_KINDS + kind) {
    case 0: return table_f64_0[slope][variant];
    case 1: return table_f32_f64_0[slope][variant];
    case 2: return table_f32_0[slope][variant];
    case 3: return table_f64_1[slope][variant];
    case 4: return table_f32_f64_1[slope][variant];
    case 5: return table_f32_1[slope][variant];
    case 6: return table_f64_2[slope][variant];
    case 7: return table_f32_f64_2[slope][variant];
    case 8: return table_f32_2[slope][variant];
    default: return table_f64_0[slope][variant];
  }
}
