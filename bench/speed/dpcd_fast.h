/* dpcd_fast.h - the yardsticks of bench_dpcd_speed. */
#ifndef TCT_BENCH_DPCD_FAST_H
#define TCT_BENCH_DPCD_FAST_H
/* One step of logistic coordinate descent: z += delta*from, then the clipped sum of slopes times `to`. */
double fast_step_f64(long n, double *restrict z, const double *restrict y, const double *restrict from, double delta,
                     const double *restrict to, double clip);
float fast_step_f32(long n, float *restrict z, const float *restrict y, const float *restrict from, float delta,
                    const float *restrict to, float clip);
/* The same bytes with next to no arithmetic. */
double fast_stream_f64(long n, double *restrict z, const double *restrict y, const double *restrict from, double delta,
                       const double *restrict to);
float fast_stream_f32(long n, float *restrict z, const float *restrict y, const float *restrict from, float delta,
                      const float *restrict to);
/* The double loop that one would write first: plain C, -O3, no special flags. */
double plain_step(long n, double *z, const double *y, const double *from, double delta, const double *to, double clip);
#endif
