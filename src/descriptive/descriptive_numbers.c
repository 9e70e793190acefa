/* descriptive_numbers.c - mean, deviation and quantiles of a column from the noisy differences on its tree.
 *
 * In units u of [-1, 1] a node of level l with middle c has halves about c - h and c + h, h = 2^-(l+1).  Let d be its
 * difference.  The sum of u over all values is that of h d over all nodes.  The sum of u^2 is that of 2 c h d and of a
 * constant for each value.  Both have what the cells leave over besides.  A count below a point is linear in the
 * differences on its path alone.  All errors by noise are those of these linear forms. */
#include "core/alloc.h"
#include "descriptive/descriptive.h"

#include <math.h>

static const double AT[] = {0.05, 0.25, 0.5, 0.75, 0.95};
enum { QUANTILES = sizeof AT / sizeof *AT };

/* One column on its way. */
typedef struct column {
  const tct_desc_part *part;
  const tct_desc_world *w;
  const double *own;
  double told, told_noise, half; /* values that are no gaps; half of the bounds' width */
  double weight[TCT_DESC_DEPTH + 1];
  double below[TCT_DESC_PARTS + 1]; /* values below each edge: of the tree whose counts are not negative */
} column;

static double middle_of(int level, int64_t node) { return (double)(2 * node + 1) / (double)((int64_t)1 << level) - 1; }

static double difference(const column *c, int level, int64_t node) {
  return c->own[TCT_DESC_TREE + ((int64_t)1 << level) - 1 + node] / c->weight[level];
}

/* From the root down each half gets what its parent has, no less than nothing. */
static void count_below(column *c) {
  double count[2][TCT_DESC_PARTS] = {{c->told}};
  for (int l = 0; l < TCT_DESC_DEPTH; l++) {
    for (int64_t k = 0; k < (int64_t)1 << l; k++) {
      double all = count[l % 2][k], left = fmin(fmax((all - difference(c, l, k)) / 2, 0), all);
      count[(l + 1) % 2][2 * k] = left, count[(l + 1) % 2][2 * k + 1] = all - left;
    }
  }
  c->below[0] = 0;
  for (int64_t j = 0; j < TCT_DESC_PARTS; j++) c->below[j + 1] = c->below[j] + count[TCT_DESC_DEPTH % 2][j];
}

/* Deviation of the part of values below edge j, about a part p of all of them.  A node that hardly has values cannot
 * divide them worse than by all it has. */
static double below_error(const column *c, int64_t j, double p) {
  double at = (double)j / TCT_DESC_PARTS, x = at, square = 0;
  for (int l = 0; l < TCT_DESC_DEPTH && x > 0 && x < 1; l++) {
    int64_t node = j >> (TCT_DESC_DEPTH - l), from = node << (TCT_DESC_DEPTH - l),
            to = (node + 1) << (TCT_DESC_DEPTH - l);
    bool right = 2 * x >= 1;
    x = 2 * x - right;
    double tent = (right ? 1 - x : x) / 2 * fmin(c->w->sigma / c->weight[l], c->below[to] - c->below[from]);
    square += tent * tent;
  }
  square += (at - p) * (at - p) * c->told_noise;
  return sqrt(square / c->told / c->told + (c->w->sampling ? p * (1 - p) / c->told : 0));
}

/* The number of fewest digits in [low, high), the nearest to `near` of these.  So a value that many records share is
 * found again, and no other number would be more true. */
static double shortest(double low, double high, double near) {
  double largest = fmax(fabs(low), fabs(high));
  for (int digits = -(int)ceil(log10(largest)) - 1; digits < 300; digits++) {
    double step = pow(10, digits < 0 ? -digits : digits), value[2];
    for (int k = 0; k < 2; k++) {
      double scaled = digits < 0 ? (k ? low : near) / step : (k ? low : near) * step,
             whole = k ? ceil(scaled) : rint(scaled);
      value[k] = digits < 0 ? whole * step : whole / step;
      if (value[k] >= low && value[k] < high) return value[k] + 0.0;
    }
  }
  return low;
}

static double quantile(const column *c, double p) {
  int64_t j = 0;
  while (j < TCT_DESC_PARTS - 1 && c->below[j + 1] < p * c->told) j++;
  double low = tct_desc_edge(c->part, j), high = tct_desc_edge(c->part, j + 1), in = c->below[j + 1] - c->below[j];
  double part = in > 0 ? fmin(fmax((p * c->told - c->below[j]) / in, 0), 1) : 0.5;
  bool last = j == TCT_DESC_PARTS - 1;
  return shortest(low, last ? nextafter(high, INFINITY) : high, low + part * (high - low));
}

/* Part below edge j, moved by its error: up for the lower end of an interval, down for the upper one. */
static double moved(const column *c, int64_t j, double p, double z) {
  return c->below[j] / c->told + z * below_error(c, j, p);
}

/* An end of an interval lies in cell j, where the moved part below passes p.  A value that many records share and that
 * lies on the far side of this point is taken in. */
static double end_in(const column *c, int64_t j, double p, double z) {
  double low = tct_desc_edge(c->part, j), high = tct_desc_edge(c->part, j + 1);
  double at = moved(c, j, p, z), next = moved(c, j + 1, p, z);
  double point = next > at ? low + fmin(fmax((p - at) / (next - at), 0), 1) * (high - low) : z > 0 ? low : high;
  if (z > 0) return shortest(low, nextafter(point, INFINITY), point);
  return shortest(point, nextafter(high, INFINITY), point);
}

/* All values that a part p could lie below: an interval by the inversion of a test at each edge. */
static json_t *quantile_figure(const column *c, double p) {
  int64_t first = 1, last = TCT_DESC_PARTS - 1;
  double z = c->w->z;
  while (first < TCT_DESC_PARTS && moved(c, first, p, z) < p) first++;
  while (last > 0 && moved(c, last, p, -z) > p) last--;
  double value = quantile(c, p), low = end_in(c, first - 1, p, z), high = end_in(c, last, p, -z);
  return json_pack("{s:f, s:f, s:f, s:f}", "at", p, "value", value, "lower", fmin(low, value), "upper",
                   fmax(high, value));
}

/* Sum over all cells of a power of the distance from the mean. */
static double fourth_moment(const column *c, double mean) {
  double sum = 0;
  for (int64_t j = 0; j < TCT_DESC_PARTS; j++) {
    double x = middle_of(TCT_DESC_DEPTH, j) - mean;
    sum += (c->below[j + 1] - c->below[j]) * x * x * x * x;
  }
  return sum / c->told;
}

static json_t *root_figure(const tct_desc_world *w, double square, double noise, double sampling, double half) {
  double reach = w->z * hypot(noise, w->sampling ? sampling : 0), value = sqrt(fmax(square, 0));
  return json_pack("{s:f, s:f, s:f, s:f}", "value", half * value, "lower", half * sqrt(fmax(square - reach, 0)),
                   "upper", half * sqrt(fmax(square + reach, 0)), "noise",
                   half * noise / (2 * fmax(value, sqrt(noise))));
}

static void put_moments(const column *c, json_t *out) {
  double sum = 0, square = 0, width = 0, noise = 0, spread = 0, n = c->told;
  for (int l = 0; l < TCT_DESC_DEPTH; l++) {
    double h = ldexp(0.5, -l), w = c->weight[l];
    width += h * h;
    noise += ldexp(h * h, l) / (w * w);
    for (int64_t k = 0; k < (int64_t)1 << l; k++)
      sum += h * difference(c, l, k), square += 2 * middle_of(l, k) * h * difference(c, l, k);
  }
  double w = c->weight[TCT_DESC_DEPTH], left = c->own[TCT_DESC_LEFT] / w / TCT_DESC_PARTS;
  double twice = 2 * c->own[TCT_DESC_LEFT + 1] / w / TCT_DESC_PARTS, fine = 1 / (w * TCT_DESC_PARTS);
  double mean = fmin(fmax((sum + left) / n, -1), 1), second = (square + twice) / n,
         variance = second + width - mean * mean;
  noise += fine * fine;
  for (int l = 0; l < TCT_DESC_DEPTH; l++) {
    double h = ldexp(0.5, -l);
    for (int64_t k = 0; k < (int64_t)1 << l; k++) {
      double slope = 2 * h * (middle_of(l, k) - mean) / c->weight[l];
      spread += slope * slope;
    }
  }
  spread += 4 * fine * fine * (1 + mean * mean);
  double by_count = mean * mean * c->told_noise, sigma = c->w->sigma, by = 2 * mean * mean - second;
  double own = sqrt(fmax(variance, 0) / n), middle = (c->part->lower + c->part->upper) / 2;
  double error = sqrt(noise * sigma * sigma + by_count) / n;
  json_object_set_new(
      out, "mean",
      tct_desc_figure(c->w, middle + c->half * mean, c->half * error, c->half * own, c->part->lower, c->part->upper));
  double kurtosis = fmax(fourth_moment(c, mean) - variance * variance, 0);
  json_object_set_new(out, "deviation",
                      root_figure(c->w, variance, sqrt(spread * sigma * sigma + by * by * c->told_noise) / n,
                                  sqrt(kurtosis / n), c->half));
}

json_t *tct_desc_numbers(const tct_desc_part *part, const tct_desc_world *w, const double *own) {
  json_t *out = json_object(), *quantiles = json_array();
  column *c = TCT_NEW(column, 1);
  if (!c) return json_decref(out), json_decref(quantiles), NULL;
  *c = (column){.part = part, .w = w, .own = own, .half = (part->upper - part->lower) / 2};
  for (int l = 0; l <= TCT_DESC_DEPTH; l++) c->weight[l] = tct_desc_weight(l);
  tct_desc_told(w, own[TCT_DESC_MISSING], w->sigma, &c->told, &c->told_noise);
  count_below(c);
  put_moments(c, out);
  for (int k = 0; k < QUANTILES; k++) json_array_append_new(quantiles, quantile_figure(c, AT[k]));
  json_object_set_new(out, "quantiles", quantiles);
  tct_free(c);
  return out;
}
