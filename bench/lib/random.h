/* random.h - numbers for invented tables: the same on every machine, and good enough for that. */
#ifndef BENCH_RANDOM_H
#define BENCH_RANDOM_H
#include <stdint.h>

/* splitmix64 (Steele, Lea and Flood 2014). */
static inline uint64_t bench_word(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
/* In (0, 1). */
static inline double bench_unit(uint64_t *state) { return ((double)(bench_word(state) >> 11) + 0.5) * 0x1p-53; }
#endif
