/* fused_table.c - compiles the fused loops for every instruction set and arithmetic. */
#include "la/kernels/fused_table.h"
#include "loss/fused_terms.h"

/* The fused loops of levels 1 and 2 use fused products; the baseline has none. */
#define FMA_0
#if defined(__x86_64__)
#define FMA_1 __attribute__((target("avx2,fma")))
#define FMA_2 __attribute__((target("avx512f,avx512dq,avx512vl,fma")))
bool tct_fused_has_fma(void) { return __builtin_cpu_supports("fma"); }
#else
bool tct_fused_has_fma(void) { return true; }
#define FMA_1
#define FMA_2
#endif

/* Truncation of |t| < 2^52 to a whole number, where there is no instruction for it: as in lattice.h. */
static inline double trunc_plain(double t) {
  double a = t < 0 ? -t : t, r = (a + 4503599627370496.0) - 4503599627370496.0;
  r -= r > a ? 1.0 : 0.0;
  return t < 0 ? -r : r;
}

#define BODY "la/kernels/fused_body.h"
#define NAME(name) TCT_VARIANT(name, KIND, LEVEL, )
#define FMA TCT_VARIANT(FMA, LEVEL, , )
#define TERM TCT_VARIANT(TERM, KIND, LEVEL, )
#define TERM_00 tct_fused_term_plain
#define TERM_01 tct_fused_term_fma
#define TERM_02 tct_fused_term_fma
#define TERM_10 tct_fused_term_plain
#define TERM_11 tct_fused_term_fma
#define TERM_12 tct_fused_term_fma
#define TERM_20 tct_fused_term_single_plain
#define TERM_21 tct_fused_term_single_fma
#define TERM_22 tct_fused_term_single_fma
#define TRUNC TCT_VARIANT(TRUNC, LEVEL, , )
#define TRUNC_0 trunc_plain
#define TRUNC_1 __builtin_trunc
#define TRUNC_2 __builtin_trunc
#define STORED double
#define REAL double
#define WHOLE double
#define KIND 0
#include "la/matrix/each_level.h"
#undef KIND
#undef STORED
#define STORED float
#define KIND 1
#include "la/matrix/each_level.h"
#undef KIND
#undef REAL
#undef WHOLE
#undef TRUNC
#define REAL float
#define WHOLE int32_t
#define TRUNC (int32_t)
#define KIND 2
#include "la/matrix/each_level.h"

tct_fused_loop tct_fused_loop_at(int level, int kind, tct_fused_slope slope, bool scaled, bool limited) {
  static const tct_fused_loop(*const table[TCT_LEVELS][TCT_FUSED_KINDS])[4] = {
      {table_00, table_10, table_20}, {table_01, table_11, table_21}, {table_02, table_12, table_22}};
  return table[level][kind][slope][scaled + 2 * limited];
}
