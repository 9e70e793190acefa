/* lanes.h - instruction set levels and the eight-lane types of the vector loops.
 *
 * A loop is compiled once per level and chosen at run time.  Every level does the same IEEE operations
 * in the same order on eight lanes (-ffp-contract=off keeps fused products out), so the level never
 * changes a bit of a result.  They are chosen by no ifunc: resolvers run before sanitizers are ready, and a
 * choice that is stored would be a writable global; __builtin_cpu_supports is one load and one test. */
#ifndef TCT_CORE_LANES_H
#define TCT_CORE_LANES_H
#include <stdint.h>

enum { TCT_LANES = 8, TCT_LEVELS = 3 }; /* levels: 0 = baseline, 1 = AVX2, 2 = AVX-512 */

#if defined(__x86_64__)
#define TCT_TARGET_1 __attribute__((target("avx2")))
#define TCT_TARGET_2 __attribute__((target("avx512f,avx512dq,avx512vl")))
static inline int tct_level(void) {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return 2;
  return __builtin_cpu_supports("avx2") ? 1 : 0;
}
#else
#define TCT_TARGET_1
#define TCT_TARGET_2
static inline int tct_level(void) { return 0; }
#endif
#define TCT_TARGET_0
/* A plain loop that gcc is to compile for AVX2 as well.  No fma: same bits either way.  This is an ifunc, which
 * sanitizers do not stand. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
#define TCT_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define TCT_WIDE
#endif
/* LOOP(level) of every level; and of the functions name_0, name_1 and name_2 the one for this processor. */
#define TCT_EACH_LEVEL(LOOP) LOOP(0) LOOP(1) LOOP(2)
#define TCT_BEST(name) (tct_level() == 2 ? name##_2 : tct_level() == 1 ? name##_1 : name##_0)

/* Unaligned loads; may_alias because the public matrix hands over void pointers. */
typedef double tct_f64x8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef int64_t tct_i64x8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef float tct_f32x8 __attribute__((vector_size(32), aligned(4), may_alias));

/* Where a loop is compiled per value type and level: 0 doubles, 1 floats; eight of them at p.  gcc makes five
 * instructions of the conversion that AVX-512 has as one. */
#define TCT_VALUE_0 double
#define TCT_VALUE_1 float
#define TCT_LOAD8_00(p) (*(const tct_f64x8 *)(p))
#define TCT_LOAD8_01(p) TCT_LOAD8_00(p)
#define TCT_LOAD8_02(p) TCT_LOAD8_00(p)
#define TCT_LOAD8_10(p) __builtin_convertvector(*(const tct_f32x8 *)(p), tct_f64x8)
#define TCT_LOAD8_11(p) TCT_LOAD8_10(p)
#if defined(__x86_64__) && !defined(__clang__)
#define TCT_LOAD8_12(p) __builtin_ia32_cvtps2pd512_mask(*(const tct_f32x8 *)(p), (tct_f64x8){0}, UINT8_MAX, 4)
#else
#define TCT_LOAD8_12(p) TCT_LOAD8_10(p)
#endif
/* name_XYZ of a loop's variant X, Y, Z, which are macros or nothing. */
#define TCT_VARIANT(name, x, y, z) TCT_PASTE(name, x, y, z)
#define TCT_PASTE(name, x, y, z) name##_##x##y##z

static inline int64_t tct_whole_lanes(int64_t n) { return (n + TCT_LANES - 1) / TCT_LANES * TCT_LANES; }
/* The one order in which eight lanes are added. */
static inline double tct_lanes_sum(const double *a) {
  return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}
#endif
