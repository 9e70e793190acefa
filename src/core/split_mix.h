/* split_mix.h - a public sequence: invented tables and public splits.  It protects nothing; noise comes from rng/. */
#ifndef TCT_CORE_SPLIT_MIX_H
#define TCT_CORE_SPLIT_MIX_H
#include <stdint.h>

/* 2^64 over the golden ratio. */
#define TCT_SPLIT_MIX_STEP UINT64_C(0x9E3779B97F4A7C15)

/* The next 64 bits (Steele, Lea and Flood 2014, SplitMix64). */
static inline uint64_t tct_split_mix(uint64_t *state) {
  uint64_t z = *state += TCT_SPLIT_MIX_STEP;
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}
#endif
