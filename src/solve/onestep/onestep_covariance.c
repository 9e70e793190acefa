/* onestep_covariance.c - the last Newton step of dponestep, and the covariance of its weights: from releases alone.
 *
 * H and J are the released moments, g the released gradient, n the rows, all in units of v.  The noise of g has the
 * deviation s_g; below, s_g^2 has what a clip may have taken as well.  That of H and J is symmetric: s_H and s_J on the
 * diagonal, sqrt(1/2) of it beside.
 *   D = H^-1 g, v = v_0 - D      (of counts whose margins move alike by a: H at the step's end, D a/(1 - e^-a) as long)
 *   sampling  H^-1 J H^-1 / n                                   (the sandwich; without J: H^-1 / n)
 *   noise     H^-1 [s_g^2 G G^T + Cov(F D) + q q^T + R] H^-1
 *   left      R = r I + a m^2 g g^T + sum_u (bend l (u.D)^2)^2 u u^T over the eigenvectors u of H
 * G is the root of the metric that g was released in.  F is what is left of H's noise (left_of_noise).  R is what one
 * step leaves where curvatures follow the weights.  r = (rest m^2 tr H)^2/d for a step that moves margins by m, the
 * noise of g apart.  q: what was given back of a clip's bias has that error.  docs/proofs/standard-errors.md derives
 * all. Noise takes the least eigenvalues of H down and the largest up.  Each is made what the matrix without noise has
 * along the same vector, known to about s_H (tct_onestep_without_noise).  Those below f = least_over_noise s_H are set
 * to f, and each marks an open direction u.  There f open_prior m is added to the middle.  m is the mean of l (u.v)^2
 * over the others, v without the mean row's margin.  A weight with more than unknown_most of the squared length of
 * H^-1 c there is withheld (rules.def).  Degrees of freedom: 2 over the variance of the logarithm of a weight's
 * variance, from the noise in H and J by the delta method (Satterthwaite 1946).  The noise E of J moves the
 * number <A, E> by a deviation of s |A|_F for symmetric A, and F by less. */
#include "core/alloc.h"
#include "core/stop.h"
#include "la/exact/spectrum.h"
#include "la/kernels/kernels.h"
#include "solve/onestep/one_step.h"
#include "solve/onestep/rules.def"

#include <string.h>

/* Matrices [p][p] and vectors [p] of one computation. */
typedef struct work {
  const tct_onestep_released *in;
  int64_t p;
  double floor;
  const double *step;                       /* D */
  double *rest;                             /* D, but for the margins' common move that is put right */
  double *raw, *values, *vectors, *inverse; /* of H: [p] as released, without noise, columns, H^-1 after the floor */
  double *spread;                           /* J, or H after the floor, made positive */
  double *middle;                           /* between the two H^-1 of the noise */
  double *room;                             /* [2 p p + 4 p] */
  bool unknown;                             /* H or J could not be taken apart, or H is noise */
} work;

static double *take(double **from, int64_t count) {
  double *at = *from;
  *from += count;
  return at;
}

/* out[p][p] <- Q f(l) Q^T, f given by its values. */
static void compose(const double *vectors, const double *f, int64_t p, double *out) {
  for (int64_t j = 0; j < p && !tct_stopping(); j++)
    for (int64_t k = 0; k <= j; k++) {
      double sum = 0;
      for (int64_t m = 0; m < p; m++) sum += f[m] * vectors[j * p + m] * vectors[k * p + m];
      out[j * p + k] = out[k * p + j] = sum;
    }
}

static void times(const double *a, const double *x, int64_t p, double *y) {
  for (int64_t j = 0; j < p; j++) y[j] = tct_dot(a + j * p, x, p);
}

/* The columns of vectors[p][p] <- unit eigenvectors of a[p][p], which is overwritten; scratch: 3p doubles.  Where that
 * fails, false and all values are 0: no weight gets an interval. */
static bool decompose(double *a, int64_t p, double *value, double *vectors, double *scratch) {
  bool known = tct_eigenvectors(a, p, value, vectors, scratch);
  if (!known) {
    memset(value, 0, (size_t)p * sizeof *value);
    memset(vectors, 0, (size_t)(p * p) * sizeof *vectors);
    for (int64_t j = 0; j < p; j++) vectors[j * p + j] = 1;
  }
  for (int64_t j = 0; j < p; j++)
    for (int64_t k = 0; k < j; k++) {
      double kept = vectors[j * p + k];
      vectors[j * p + k] = vectors[k * p + j];
      vectors[k * p + j] = kept;
    }
  return known;
}

/* a <- the same with eigenvalues at least variance_least of the largest. */
static bool make_positive(double *a, int64_t p, double *room, double *vectors) {
  double *value = room + p * p, largest = 1e-12;
  memcpy(room, a, (size_t)(p * p) * sizeof *a);
  bool known = decompose(room, p, value, vectors, value + p);
  for (int64_t j = 0; j < p; j++) largest = fmax(largest, value[j]);
  for (int64_t j = 0; j < p; j++) value[j] = fmax(value[j], dponestep_variance_least * largest);
  compose(vectors, value, p, a);
  return known;
}

static void factor(work *m) {
  const tct_onestep_moments *moments = m->in->moments;
  int64_t p = m->p;
  double *f = m->room + p * p;
  if (moments->variance) {
    memcpy(m->spread, moments->variance, (size_t)(p * p) * sizeof(double));
    m->unknown |= !make_positive(m->spread, p, m->room, m->vectors);
  }
  memcpy(m->room, moments->curvature, (size_t)(p * p) * sizeof(double));
  m->unknown |= !decompose(m->room, p, m->values, m->vectors, f);
  double largest = 0, sum = 0, noise = moments->curvature_noise;
  memcpy(m->raw, m->values, (size_t)p * sizeof *m->raw);
  tct_onestep_without_noise(m->values, p, noise, f);
  for (int64_t j = 0; j < p; j++) largest = fmax(largest, m->values[j]), sum += m->values[j];
  /* Images are about as long in all directions: one that stands out of noise which hides their mean is noise's.  Of few
   * directions the sum may be chance: its deviation is noise sqrt(p). */
  m->unknown |= !(sum >= noise * fmax((double)p, 3 * sqrt((double)p)));
  m->floor = fmax(dponestep_least_over_noise * noise, fmax(TCT_ONESTEP_ROUNDING * largest, 0x1p-900));
  for (int64_t j = 0; j < p; j++) f[j] = 1 / fmax(m->values[j], m->floor);
  compose(m->vectors, f, p, m->inverse);
  for (int64_t j = 0; j < p; j++) f[j] = fmax(m->values[j], m->floor);
  if (!moments->variance) compose(m->vectors, f, p, m->spread);
}

static void noise_between(work *m, double moved2) {
  int64_t p = m->p;
  double g2 = m->in->deviation * m->in->deviation + m->in->lost * m->in->lost;
  double trace = 0;
  for (int64_t j = 0; j < p; j++) trace += m->in->moments->curvature[j * p + j];
  double rest = m->in->rest > 0 ? m->in->rest * moved2 * trace : 0;
  rest *= rest / fmax(m->in->dimension, 1);
  const double *g = m->in->gradient;
  for (int64_t j = 0; j < p; j++)
    for (int64_t k = 0; k < p; k++) {
      double shaped =
          m->in->factor ? tct_dot(m->in->factor + j * p, m->in->factor + k * p, (j < k ? j : k) + 1) : j == k;
      m->middle[j * p + k] = g2 * shaped + (j == k ? rest : 0) + m->in->along * moved2 * g[j] * g[k] +
                             (m->in->shift ? m->in->shift[j] * m->in->shift[k] : 0);
    }
}

void tct_onestep_in_metric(const tct_metric *metric, const double *w, double *v) {
  int64_t p = metric->p;
  for (int64_t j = p - 1; j >= 0; j--) {
    v[j] = w[j];
    for (int64_t k = j + 1; k < p; k++) v[j] -= metric->w[k * p + j] * v[k];
    v[j] /= metric->w[j * p + j];
  }
}

void tct_onestep_constant(const tct_metric *metric, double *u) {
  memset(u, 0, (size_t)metric->p * sizeof *u);
  u[metric->p - 1] = 1;
  tct_onestep_in_metric(metric, u, u);
}

static double along(const work *m, int64_t direction, const double *x) {
  double sum = 0;
  for (int64_t j = 0; j < m->p; j++) sum += m->vectors[j * m->p + direction] * x[j];
  return sum;
}

/* step <- H^-1 g, but along directions of which rows tell nothing: there g is rounding.  H of counts that grow by e^a
 * on the way is there a/(1 - e^-a) times shorter on the mean than at its end. */
static void last_step(const work *m, double *step) {
  double a = m->in->grown, longer = a != 0 ? a / -expm1(-a) : 1;
  times(m->inverse, m->in->gradient, m->p, step);
  for (int64_t k = 0; k < m->p; k++) step[k] *= longer;
  for (int64_t k = 0; k < m->p && !(m->in->moments->curvature_noise > 0); k++) {
    double size = m->values[k] < m->floor ? along(m, k, step) : 0;
    for (int64_t j = 0; j < m->p; j++) step[j] -= size * m->vectors[j * m->p + k];
  }
}

/* v[p] <- the weights after the step, but for what they give the mean row: of margins, their differences alone. */
static void after_step(const work *m, const tct_metric *metric, const double *step, double *v) {
  const double *mean = m->in->mean;
  double *w = v + m->p;
  tct_metric_turn(metric, step, w);
  for (int64_t j = 0; j < m->p; j++) w[j] = m->in->weights[j] - w[j];
  if (mean) w[m->p - 1] = -tct_dot(mean, w, m->p - 1);
  tct_onestep_in_metric(metric, w, v);
}

/* F_jk^2 of the noise left in H, between its eigenvectors: all of it where eigenvalues are apart without noise too,
 * none where noise alone parts them.  The sum is then |H_0|^2 - |H|^2, H_0 without noise. */
static double left_of_noise(const work *m, int64_t j, int64_t k) {
  double square = m->in->moments->curvature_noise * m->in->moments->curvature_noise, raw = m->raw[j] - m->raw[k];
  if (j == k) return square;
  return square / 2 * (raw == 0 ? 0 : fmax(fmin((m->values[j] - m->values[k]) / raw, 1), 0));
}

/* What noise of H times D adds along its eigenvectors. */
static void noise_times_step(work *m) {
  int64_t p = m->p;
  double *d = m->room, *at = d + p;
  for (int64_t k = 0; k < p; k++) d[k] = along(m, k, m->step);
  for (int64_t k = 0; k < p && !tct_stopping(); k++) {
    double square = 0;
    memset(at, 0, (size_t)p * sizeof *at);
    for (int64_t j = 0; j < p; j++) {
      double left = left_of_noise(m, j, k), size = j == k ? 0 : left * d[j] * d[k];
      square += left * d[j] * d[j];
      for (int64_t i = 0; i < p; i++) at[i] += size * m->vectors[i * p + j];
    }
    for (int64_t i = 0; i < p; i++) at[i] += square * m->vectors[i * p + k];
    for (int64_t i = 0; i < p; i++)
      for (int64_t j = 0; j < p; j++) m->middle[i * p + j] += m->vectors[i * p + k] * at[j];
  }
}

/* What the step may have left along directions, above all open ones; v: the weights after it, as above. */
static void left_between(work *m, const double *v) {
  int64_t p = m->p, known = 0;
  double sum = 0;
  if (!(m->in->moments->curvature_noise > 0)) return;
  for (int64_t k = 0; k < p; k++) {
    if (m->values[k] < m->floor) continue;
    double part = along(m, k, v);
    sum += m->values[k] * part * part, known++;
  }
  double prior = known ? dponestep_open_prior * sum / (double)known : 0;
  for (int64_t k = 0; k < p && !tct_stopping(); k++) {
    double step = along(m, k, m->rest), value = fmax(m->values[k], m->floor), left = m->in->bend * value * step * step;
    double square = left * left + (m->values[k] < m->floor ? value * prior : 0);
    for (int64_t i = 0; i < p; i++)
      for (int64_t j = 0; j < p; j++) m->middle[i * p + j] += square * m->vectors[i * p + k] * m->vectors[j * p + k];
  }
}

/* The variance of 2 u.Fb, F what is left of H's noise; room: [2 p]. */
static double both_ways(const work *m, const double *u, const double *b, double *room) {
  int64_t p = m->p;
  double *from = room, *to = room + p, sum = 0;
  for (int64_t k = 0; k < p; k++) from[k] = along(m, k, u), to[k] = along(m, k, b);
  for (int64_t k = 0; k < p; k++)
    for (int64_t j = 0; j < p; j++) {
      double both = from[k] * to[j] + from[j] * to[k];
      sum += (j == k ? 1 : 2) * left_of_noise(m, j, k) * both * both;
    }
  return sum;
}

/* |G^T b|^2: what the noise of J, which is in G's metric, moves b.Jb by. */
static double shaped_norm2(const work *m, const double *b) {
  double sum = 0;
  for (int64_t k = 0; k < m->p && m->in->factor; k++) {
    double at = 0;
    for (int64_t j = k; j < m->p; j++) at += m->in->factor[j * m->p + k] * b[j];
    sum += at * at;
  }
  return m->in->factor ? sum : tct_norm2(b, m->p);
}

/* b = H^-1 c of a weight c.v: degrees of freedom of its variance. */
static double degrees_of(const work *m, const double *b, double *room) {
  const tct_onestep_moments *moments = m->in->moments;
  int64_t p = m->p;
  double *u = room, *sum = u + p, n = m->in->rows, size2 = shaped_norm2(m, b), length2 = size2 * size2;
  double j2 = moments->variance_noise * moments->variance_noise;
  times(m->spread, b, p, u);
  double variance = tct_dot(u, b, p) / n;
  times(m->middle, b, p, sum);
  variance += tct_dot(sum, b, p);
  /* With J: twice the sandwich moves with H.  Without: H^-1 J H^-1 = H^-1 moves once. */
  tct_axpy((moments->variance ? 1 : 0.5) / n, u, sum, p);
  times(m->inverse, sum, p, u);
  double moved = both_ways(m, u, b, sum) + (moments->variance ? j2 * length2 / (n * n) : 0);
  return fmax(2 / fmax(moved / (variance * variance), 1e-9), 1);
}

/* Part of |H^-1 c|^2 in directions that are not determined. */
static double open_part(const work *m, const double *c) {
  double all = 0, open = 0;
  for (int64_t k = 0; k < m->p; k++) {
    double part = along(m, k, c) / fmax(m->values[k], m->floor);
    all += part * part;
    if (m->values[k] < m->floor) open += part * part;
  }
  return all > 0 ? open / all : 1;
}

/* out[p][p] <- B^T a B, the columns of B b_j: rows of `of`. */
static void sandwich(const double *a, const double *of, int64_t p, double scale, double *room, double *out) {
  for (int64_t j = 0; j < p; j++) times(a, of + j * p, p, room + j * p);
  for (int64_t j = 0; j < p; j++)
    for (int64_t k = 0; k <= j; k++) out[j * p + k] = out[k * p + j] = scale * tct_dot(room + j * p, of + k * p, p);
}

/* Rows at a column's end that the counts' noise hides may have moved its weight w_j by (1 - unseen_most/part_j)(|w_j| +
 * unseen_margin/reach).  Others follow as P_kj/P_jj, P = W^T H^-1 W: a part of the noise.  Where it is more than
 * unknown_most of a variance, no interval.  rows[j][p]: H^-1 c_j; room: [2 p]. */
static void unseen_rows(const work *m, const tct_metric *metric, const double *rows, double *room, tct_inference *out) {
  int64_t p = m->p;
  double *hidden = room, *follows = room + p;
  memset(hidden, 0, (size_t)p * sizeof *hidden);
  for (int64_t j = 0; j < p && m->in->unseen; j++) {
    double part = 1 - dponestep_unseen_most / m->in->unseen[j], weight = m->in->weights[j];
    if (!(part > 0)) continue;
    for (int64_t k = 0; k < p; k++) {
      follows[k] = 0;
      for (int64_t i = 0; i < p; i++) follows[k] += metric->w[i * p + k] * rows[j * p + i];
    }
    for (int64_t k = 0; k < p; k++) weight -= metric->w[k * p + j] * m->step[k];
    double move = part * (fabs(weight) + dponestep_unseen_margin / m->in->reach) / follows[j];
    for (int64_t k = 0; k < p; k++) {
      hidden[k] += move * move * (follows[k] * follows[k]);
      for (int64_t i = 0; i < p; i++) out->noise[i * p + k] += move * move * (follows[i] * follows[k]);
    }
  }
  for (int64_t k = 0; k < p; k++)
    if (hidden[k] > dponestep_unknown_most * (out->noise[k * p + k] + out->sampling[k * p + k]))
      out->why[k] = TCT_ROWS_TOO_FAR;
}

/* Weight j is c_j.v, c_j the column j of W; rows[j][p] <- H^-1 c_j. */
static void fill(const work *m, const tct_metric *metric, bool far, double *c, tct_inference *out) {
  int64_t p = m->p;
  double *rows = m->room, *room = m->room + p * p;
  for (int64_t j = 0; j < p && !tct_stopping(); j++) {
    for (int64_t k = 0; k < p; k++) c[k] = metric->w[k * p + j];
    times(m->inverse, c, p, rows + j * p);
    out->degrees[j] = degrees_of(m, rows + j * p, room);
    out->why[j] = m->unknown || open_part(m, c) > dponestep_unknown_most ? TCT_NOISE_ABOVE_SIGNAL
                  : far                                                  ? TCT_PATH_TOO_SHORT
                                                                         : TCT_GIVEN;
  }
  sandwich(m->spread, rows, p, 1 / m->in->rows, room, out->sampling);
  sandwich(m->middle, rows, p, 1, room, out->noise);
  unseen_rows(m, metric, rows, room, out);
}

/* m->rest <- the step, but for the margins' common move.  u[p] <- that of a margin of 1, over its curvature. */
static void take_rest(const work *m, const tct_metric *metric, double *u) {
  int64_t p = m->p;
  memset(u, 0, (size_t)p * sizeof *u);
  memcpy(m->rest, m->step, (size_t)p * sizeof *u);
  if (m->in->grown == 0) return;
  tct_onestep_constant(metric, u);
  tct_axpy(m->in->grown, u, m->rest, p);
  double curve = tct_onestep_form(m->in->moments->curvature, u, p);
  for (int64_t j = 0; j < p; j++) u[j] /= sqrt(curve);
}

/* The mean square of z.rest, or what the curvature tells of it, less what the noise of g alone gives it.  That of a
 * model of classes is a fifth of the images' second moment or less.  That of counts is their mean: the trace of H, as
 * images have length about 1. */
static double moved2_by(const work *m, const double *u) {
  const tct_onestep_released *in = m->in;
  const double *matrix = in->second ? in->second : in->moments->curvature;
  int64_t p = m->p;
  double sum = 0, typical = in->second ? 1 : 1 / (dponestep_logistic_width * dponestep_logistic_width), trace = 0;
  double *column = m->room, *moved = m->room + p, by_noise = 0, g2 = in->deviation * in->deviation;
  if (in->link == TCT_LINK_IDENTITY) return 1; /* its curvature stays, and nobody asks */
  for (int64_t j = 0; j < p; j++) {
    sum += m->rest[j] * tct_dot(matrix + j * p, m->rest, p);
    trace += in->moments->curvature[j * p + j];
    if (g2 == 0 || tct_stopping()) continue;
    for (int64_t i = 0; i < p; i++) column[i] = in->factor ? (i < j ? 0 : in->factor[i * p + j]) : i == j;
    times(m->inverse, column, p, moved);
    tct_axpy(-tct_dot(u, column, p), u, moved, p);
    for (int64_t i = 0; i < p; i++) by_noise += g2 * moved[i] * tct_dot(matrix + i * p, moved, p);
  }
  if (!in->second && in->link == TCT_LINK_LOG) typical = fmax(trace, 0x1p-900);
  return isfinite(sum - by_noise) ? fmax(sum - by_noise, 0) / typical : INFINITY;
}

tct_status tct_onestep_covariance(const tct_onestep_released *released, const tct_metric *metric, double *step,
                                  tct_inference *inference, tct_error *err) {
  int64_t p = metric->p, square = p * p, all = 6 * square + 9 * p;
  work m = {.in = released, .p = p, .step = step};
  double *memory = TCT_NEW(double, all), *from = memory;
  if (!memory) return tct_fail_memory(err);
  m.raw = take(&from, p), m.values = take(&from, p), m.vectors = take(&from, square), m.inverse = take(&from, square);
  m.spread = take(&from, square), m.middle = take(&from, square), m.room = take(&from, 2 * square + 4 * p);
  factor(&m);
  last_step(&m, step);
  double *alike = take(&from, p);
  m.rest = take(&from, p);
  take_rest(&m, metric, alike);
  double moved2 = moved2_by(&m, alike);
  double most = released->second ? dponestep_moved_most : dponestep_hazards_moved_most;
  noise_between(&m, moved2);
  noise_times_step(&m);
  after_step(&m, metric, step, m.room);
  left_between(&m, m.room);
  fill(&m, metric, released->link != TCT_LINK_IDENTITY && sqrt(moved2) > most, take(&from, p), inference);
  inference->robust = released->moments->variance != NULL;
  tct_free(memory);
  return TCT_OK;
}
