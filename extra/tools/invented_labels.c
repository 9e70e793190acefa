/* invented_labels.c - labels of nobody, as their margins and what is assumed of them say. */
#include "tools/invented.h"

#include <math.h>

static double chance(double z) { return 1 / (1 + exp(-z)); }

/* The shift at which the mean chance is `share`. */
static double shift_for(double share, const double *eta, int64_t rows) {
  double low = -800, high = 800;
  for (int step = 0; step < 60; step++) {
    double middle = 0.5 * (low + high), sum = 0;
    for (int64_t i = 0; i < rows; i++) sum += chance(eta[i] + middle);
    if (sum < share * (double)rows)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* The u-quantile of Poisson's law; a normal one's beyond 500. */
static double count_of(double u, double mean) {
  if (mean > 500) return fmax(floor(mean + sqrt(mean) * tct_invent_normal(u) + 0.5), 0);
  double mass = exp(-mean), sum = mass, k = 0;
  for (; sum < u && k < 2000; k++) mass *= mean / (k + 1), sum += mass;
  return k;
}

/* eta <- e^eta over its mean. */
static void to_ratios(double *eta, int64_t rows) {
  double most = -INFINITY, sum = 0;
  for (int64_t i = 0; i < rows; i++) most = fmax(most, eta[i]);
  for (int64_t i = 0; i < rows; i++) eta[i] = exp(eta[i] - most), sum += eta[i] / (double)rows;
  for (int64_t i = 0; i < rows; i++) eta[i] /= sum;
}

static double label_of(const tct_loss *loss, double assumed, double low, double high, double eta, double u) {
  if (loss->kind->binary) return u < chance(eta) ? 1 : -1;
  if (loss->kind->follow_up) {
    double time = -log1p(-u) * high / (-log1p(-assumed) * eta);
    return time < high ? fmax(time, 0x1p-40 * high) : -high;
  }
  double y = loss->kind->counts    ? count_of(u, assumed * eta)
             : loss->kind->amounts ? -log1p(-u) * assumed * eta
                                   : 0.5 * (low + high) + eta + assumed * tct_invent_normal(u);
  return fmin(fmax(y, low), high);
}

/* eta, ratios of means, <- these times what makes the labels' deviation that which is assumed. */
static bool disperse(const tct_loss *loss, const double *assumed, double *eta, int64_t rows) {
  double mean = assumed[0], squares = 0, own = loss->kind->counts ? mean : 0;
  if (!(assumed[1] > 0)) return false;
  for (int64_t i = 0; i < rows; i++) squares += eta[i] * eta[i] / (double)rows;
  double s = sqrt(fmax(log((1 + (assumed[1] * assumed[1] - own) / (mean * mean)) / squares), 0));
  for (int64_t i = 0; i < rows; i++) eta[i] *= exp(s * tct_invent_normal(tct_invent_even(996, i)) - s * s / 2);
  return true;
}

void tct_invent_labels(const tct_loss *loss, const double *said, double low, double high, double *eta, int64_t rows,
                       double *y) {
  bool ratios = loss->kind->counts || loss->kind->amounts || loss->kind->follow_up;
  double mean = 0, assumed = said[0];
  if (isnan(assumed))
    assumed = loss->kind->binary ? 0.5 : loss->kind->follow_up ? 0.3 : ratios ? high / 5 : (high - low) / 6;
  for (int64_t i = 0; i < rows; i++) mean += eta[i] / (double)rows;
  double shift = loss->kind->binary ? shift_for(assumed, eta, rows) : -mean;
  for (int64_t i = 0; i < rows; i++) eta[i] += shift;
  if (ratios) to_ratios(eta, rows);
  bool alone = ratios && disperse(loss, said, eta, rows) && loss->kind->amounts; /* its own law says nothing more */
  for (int64_t i = 0; i < rows; i++)
    y[i] = label_of(loss, assumed, low, high, eta[i], alone ? 1 - exp(-1) : tct_invent_even(997, i));
}
