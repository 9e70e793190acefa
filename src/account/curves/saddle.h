/* saddle.h - where a composed privacy loss decides: a forecast of epsilon, the tilt and the window to compute it in.
 *
 * Nothing here is a bound: what is forecast badly costs time or tightness, never truth (compose.h proves
 * its own window). */
#ifndef TCT_ACCOUNT_CURVES_SADDLE_H
#define TCT_ACCOUNT_CURVES_SADDLE_H
#include "account/curves/compose.h"

enum { TCT_NODES = 388, TCT_ORDERS = 36 };

/* One step's loss at points of a quadrature: mass[i] of P at loss[i]. */
typedef struct tct_nodes {
  double *loss, *mass;
  int64_t len, count; /* len: at most TCT_NODES; count: repetitions of the step */
  bool atoms;
} tct_nodes;

/* h > 0: as seen on a grid of that width, each loss on the two points about it. */
tct_status tct_event_nodes(const tct_event *event, tct_neighbours neighbours, double tail, bool reversed, double h,
                           tct_nodes *out, tct_error *err);
void tct_nodes_free(tct_nodes *nodes);

/* The forecast for a list, one direction. */
typedef struct tct_saddle {
  double t;                                         /* saddle point: the tilt at which the mean loss is epsilon */
  double epsilon, log_delta;                        /* the pair that was asked for, the unknown one forecast */
  double spread;                                    /* standard deviation of the untilted loss */
  double order[TCT_ORDERS], log_moment[TCT_ORDERS]; /* log E e^{order * loss}, rising orders */
  double deviation[TCT_ORDERS];                     /* standard deviation of the loss tilted by it */
  double steps;
  bool atoms;
} tct_saddle;

/* epsilon or log_delta is NAN: it is forecast. */
void tct_saddle_find(const tct_nodes *nodes, int n, double epsilon, double log_delta, tct_saddle *out);

/* The cheapest tilt and window in which delta near epsilon is seen but for a part of e^log_part, on a grid of width h.
 * low: the least epsilon that may be read off.  Orders above 0.5/h are left out: there the moments of a law on the grid
 * are no longer those of the event. */
void tct_saddle_window(const tct_saddle *saddle, double low, double log_part, double h, tct_window *out);
/* The same for laws on one grid, and *log_part is lowered until no more than `outside` is left out at its top, which is
 * known before anything is composed.  INFINITY or NaN: as it is. */
void tct_saddle_wide_window(const tct_saddle *saddle, const tct_pmf *pmf, int n, double low, double outside,
                            double *log_part, tct_window *out);
#endif
