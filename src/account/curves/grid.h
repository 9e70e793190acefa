/* grid.h - privacy loss distributions of single events on a grid, as a proven upper or lower law. */
#ifndef TCT_ACCOUNT_CURVES_GRID_H
#define TCT_ACCOUNT_CURVES_GRID_H
#include "event/event.h"

/* The loss log(dP/dQ) under P, bucket by bucket: bucket b covers
 * [offset + (first+b)h, offset + (first+b+1)h].  Its mass
 * under P is down[b] + up[b]: "connect the dots" (Doroshenko et al. 2022) moves down[b] to its lower
 * and up[b] to its upper end, which keeps the bucket's mass under Q too. */
typedef struct tct_grid {
  double h, offset;
  int64_t first, len;
  double *down, *up;     /* [len] */
  double high_p, high_q; /* masses under P and Q above the last bucket */
  double low_p, low_q;   /* below the first */
  double infinite;       /* mass of P where Q has none */
  double off;            /* how far a loss lay outside the bucket that it was counted in */
  bool proved;           /* its masses agree with the closed forms, its losses with their buckets */
} tct_grid;

/* A law on the grid points offset + (first + i)h, and a mass at infinity. */
typedef struct tct_pmf {
  double h, offset;
  int64_t first, len;
  double *p; /* [len] */
  double infinite;
  int64_t count; /* repetitions */
  bool proved;   /* false: the masses are not to be read */
} tct_pmf;

/* The losses of one step, as doubles, lie within this part of 1 and of themselves. */
#define TCT_LOSS_MARGIN (16 * 2.220446049250313e-16)
/* Of the other kinds only a dominating law is known, which proves nothing from below. */
bool tct_event_law_is_real(const tct_event *e);

/* Where the loss of the event lies but for a mass of about `tail` at each end, and whether the pair (P, Q) and its
 * reverse differ. */
void tct_event_loss_range(const tct_event *event, tct_neighbours neighbours, double tail, double *low, double *high);
bool tct_event_two_ways(const tct_event *event, tct_neighbours neighbours);

/* The grid wanted: its width, where its points lie, the mass per end that may be cut off, and (Q, P) instead of
 * (P, Q). */
typedef struct tct_grid_shape {
  double h, offset, tail;
  bool reversed;
} tct_grid_shape;

/* How many nanoseconds or so tct_grid_new takes for the simplest event: a count made from the event and the grid's
 * width. */
double tct_grid_work(const tct_event *event, tct_neighbours neighbours, double h, double tail);
/* What is added to `work` of the above: by slower densities, and by tct_best_offset's tries. */
double tct_grid_more_work(const tct_event *event, double work);

/* The event's dominating pair on a grid. */
tct_status tct_grid_new(const tct_event *event, tct_neighbours neighbours, const tct_grid_shape *shape, tct_grid *out,
                        tct_error *err);
/* A law of n atoms, their losses rising. */
tct_status tct_grid_of_atoms(int64_t n, const double *loss, const double *mass, tct_grid_shape shape, tct_grid *out,
                             tct_error *err);
/* The offset in [0, h) at which the lower law is tightest (0 where it hardly matters). */
tct_status tct_best_offset(const tct_event *event, tct_neighbours neighbours, const tct_grid_shape *shape,
                           double *offset, tct_error *err);
void tct_grid_free(tct_grid *grid);

/* Laws that dominate / are dominated by the pair. */
tct_status tct_pmf_upper(const tct_grid *grid, int64_t count, tct_pmf *out, tct_error *err);
tct_status tct_pmf_lower(const tct_grid *grid, int64_t count, tct_pmf *out, tct_error *err);
void tct_pmf_free(tct_pmf *pmf);

/* log sum p e^{t loss} over the finite part; NaN if it is no finite number. */
double tct_pmf_log_moment(const tct_pmf *pmf, double t);
/* So many points, at most `most`, may share one exponent: e^{th k} stays far inside the range of a double. */
int64_t tct_tilt_block(double th, int64_t max);
#endif
