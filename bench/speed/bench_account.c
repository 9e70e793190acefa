/* bench_account.c - milliseconds per accounting query, one JSON line each.
 *
 *   bench_account [REPEATS]
 *
 * The queries are those that peers are timed on (bench/peers/account_peers.py).  Each is run REPEATS times
 * (default 5) in one process; the median is given. */
#include "account/account.h"
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 101 };

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

typedef struct query {
  double rate, noise; /* noise 0: calibrate for epsilon 1 */
  int64_t count;
  int neighbours;
  double delta;
} query;

static int run_query(const query *q, tct_cost *cost, double *noise) {
  tct_error err;
  tct_events events = {0};
  *noise = q->noise;
  if (q->noise == 0)
    return tct_calibrate_noise(q->rate, q->count, &(tct_target){(tct_neighbours)q->neighbours, 1, q->delta}, noise,
                               cost, &err);
  tct_event event =
      q->rate < 1 ? tct_event_sampled_gaussian(q->noise, q->rate, q->count) : tct_event_gaussian(q->noise, q->count);
  int status = tct_events_add(&events, event, &err);
  if (!status) status = tct_account_epsilon(&events, (tct_neighbours)q->neighbours, q->delta, 1e-3, cost, &err);
  tct_events_free(&events);
  return status;
}

int main(int argc, char **argv) {
  static const query queries[] = {
      {1, 4, 100, 0, 1e-5},     {0.01, 1, 1000, 0, 1e-5}, {0.01, 1, 10000, 0, 1e-5}, {0.001, 0.8, 10000, 0, 1e-6},
      {0.1, 4, 1000, 0, 1e-5},  {0.5, 4, 100, 0, 1e-5},   {0.01, 1, 1000, 1, 1e-5},  {0.001, 1, 10000000, 0, 1e-12},
      {0.01, 0, 1000, 0, 1e-5}, {0.1, 0, 100, 0, 1e-5},   {1, 0, 100, 0, 1e-5},
  };
  int repeats = argc > 1 ? atoi(argv[1]) : 5;
  if (repeats < 1 || repeats > MOST) repeats = 5;
  for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
    const query *q = &queries[i];
    double times[MOST], noise;
    tct_cost cost;
    for (int k = 0; k < repeats; k++) {
      double start = now_ms();
      if (run_query(q, &cost, &noise)) return 1;
      times[k] = now_ms() - start;
    }
    qsort(times, (size_t)repeats, sizeof times[0], bench_by_size);
    printf(
        "{\"bench\":\"account\",\"query\":\"%s\",\"rate\":%g,\"noise\":%.9g,\"count\":%lld,\"delta\":%g,"
        "\"neighbours\":\"%s\",\"epsilon\":%.9g,\"epsilon_lower\":%.9g,\"accountant\":\"%s\",\"ms\":%.3f}\n",
        q->noise == 0 ? "calibrate" : "epsilon", q->rate, noise, (long long)q->count, q->delta,
        q->neighbours ? "replace_one" : "add_remove", cost.epsilon, cost.epsilon_lower, cost.winner->name,
        times[repeats / 2]);
  }
  return 0;
}
