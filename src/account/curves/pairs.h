/* pairs.h - the dominating pair of each kind of event: a density over a variable in which the loss rises, and atoms. */
#ifndef TCT_ACCOUNT_CURVES_PAIRS_H
#define TCT_ACCOUNT_CURVES_PAIRS_H
#include "event/event.h"

typedef struct tct_pair tct_pair;
struct tct_pair {
  double low, high; /* range of x that is integrated */
  double scale;     /* length over which the density changes by a factor */
  double s, q, mu, shift, epsilon;
  double weight; /* 0: atoms only */
  /* x at which the loss is loss[i]; -INFINITY below every loss. */
  void (*x_of)(const tct_pair *pair, int64_t n, const double *loss, double *x);
  /* Density of P, and loss, at x[i]. */
  void (*at)(const tct_pair *pair, int64_t n, const double *x, double *density, double *loss);
  /* Mass of P's continuous part above x, in closed form: what a quadrature is held against. */
  double (*above)(const tct_pair *pair, double x);
  int atoms;
  double atom_loss[2], atom_mass[2];
  double high_p, high_q, low_p, low_q; /* masses beyond the range */
  double infinite;                     /* mass of P where Q has none */
};

/* tail: the mass per end that may be cut off. */
void tct_pair_of(const tct_event *event, tct_neighbours neighbours, double tail, tct_pair *out);
#endif
