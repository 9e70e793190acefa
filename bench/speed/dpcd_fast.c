/* dpcd_fast.c - the yardstick of bench_dpcd_speed: the same step under -ffast-math, without clip of bits or lattice.
 *
 * Compiled with flags of its own (bench/CMakeLists.txt): -O3 -march=native -ffast-math, so that the compiler may take
 * vector exponentials from libmvec, fuse products and reorder sums.  Not code that the library could use: its sums have
 * no proven sensitivity. */
#include "dpcd_fast.h"

#include <math.h>

double fast_step_f64(long n, double *restrict z, const double *restrict y, const double *restrict from, double delta,
                     const double *restrict to, double clip) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (long i = 0; i < n; i++) {
    double m = z[i] + delta * from[i];
    z[i] = m;
    double t = -y[i] * to[i] / (1 + exp(y[i] * m));
    sum += fmin(fmax(t, -clip), clip);
  }
  return sum;
}

float fast_step_f32(long n, float *restrict z, const float *restrict y, const float *restrict from, float delta,
                    const float *restrict to, float clip) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (long i = 0; i < n; i++) {
    float m = z[i] + delta * from[i];
    z[i] = m;
    float t = -y[i] * to[i] / (1 + expf(y[i] * m));
    sum += fminf(fmaxf(t, -clip), clip);
  }
  return sum;
}

double fast_stream_f64(long n, double *restrict z, const double *restrict y, const double *restrict from, double delta,
                       const double *restrict to) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (long i = 0; i < n; i++) {
    z[i] += delta * from[i];
    sum += y[i] * to[i];
  }
  return sum;
}

float fast_stream_f32(long n, float *restrict z, const float *restrict y, const float *restrict from, float delta,
                      const float *restrict to) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (long i = 0; i < n; i++) {
    z[i] += delta * from[i];
    sum += y[i] * to[i];
  }
  return sum;
}
