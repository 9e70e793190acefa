/* linear_shells.c - how records' lengths spread, from the shells of their second moments.
 *
 * Within a shell records are taken to be as long in one direction as in another, beside what its moments S say.  Its
 * N records are told by the ones: u'z = 1 for each, so that u'S u = N, and their mean is S u/N.  Normal z with these
 * moments have E (a'z)^2 (b'z)^2 = aSa bSb + 2 (aSb)^2 - 2 (a'm b'm)^2, here of S/N.  Times c this is that of lengths
 * between the shell's radii.  Sums over shells have the long records where they are: one that is long in one direction
 * does not make errors of another. */
#include "core/alloc.h"
#include "la/kernels/kernels.h"
#include "linear/linear.h"

#include <math.h>
#include <string.h>

/* image[q] <- S a, a[q] projected onto the shell's kept directions in its place. */
static void see(const tct_moments *m, int k, double *a, double *image) {
  int64_t q = m->q;
  for (int64_t j = 0; j < q && k >= m->whole; j++) image[j] = tct_dot(m->kept + (k * q + j) * q, a, q);
  if (k >= m->whole) memcpy(a, image, (size_t)q * sizeof *a);
  for (int64_t j = 0; j < q; j++) image[j] = tct_dot(m->shell + (k * q + j) * q, a, q);
}

/* The mean |z|^2 is the trace over N.  Where noise hides N, it is 3/4 of the largest, and a quarter of that off. */
static double records_of(const tct_moments *m, int k, double trace, double told, double noise) {
  double most = m->radius[k] * m->radius[k], least = k > 0 ? m->radius[k - 1] * m->radius[k - 1] : 0;
  if (k == 0) return fmax(told, trace / most);
  double typical = trace / (0.75 * most), sure = 1 / (1 + pow(4 * noise / typical, 2));
  return fmin(fmax(typical + sure * (told - typical), trace / most), trace / least);
}

/* A shell counts if the directions that were kept say more than noise.  cut: the largest |z|^2 in fourth. */
static void settle(tct_linear *l, int k, const double *u, double cut) {
  const tct_moments *m = l->moments;
  int64_t q = m->q;
  double *mean = l->mean + k * q, *own = l->work + q, trace = 0, squares = 0;
  const double *kept = m->kept + k * q * q, *shell = m->shell + k * q * q;
  for (int64_t j = 0; j < q; j++) {
    memset(own, 0, (size_t)q * sizeof *own);
    own[j] = 1;
    see(m, k, own, mean);
    trace += tct_dot(kept + j * q, shell + j * q, q);
    squares += fmax(tct_norm2(mean, q) - (double)q * m->noise[k] * m->noise[k] / 2, 0);
  }
  memset(mean, 0, (size_t)q * sizeof *mean);
  if (!(trace > (k > 0 ? 3 * sqrt((double)q) * m->noise[k] : 0))) return;
  double records = 0, spread;
  memcpy(own, u, (size_t)q * sizeof *own);
  see(m, k, own, mean);
  for (int64_t j = 0; j < q; j++) records += u[j] * tct_dot(shell + j * q, u, q);
  records = records_of(m, k, trace, records, m->noise[k] * tct_norm2(u, q));
  for (int64_t j = 0; j < q; j++) mean[j] /= records;
  double along = fmin(records * tct_norm2(mean, q), trace);
  double normal = trace * trace + 2 * fmax(squares - along * along, 0);
  double low = k > 0 ? pow(m->radius[k - 1], 2) * records / trace : 0, high = pow(m->radius[k], 2) * records / trace;
  if (k > 0) /* |z|^2 is spread evenly between its ends, or beyond the lower one as an exponential law is */
    spread = 1 + (1 - low) * fmin((high - 1) / 3, 1 - low);
  else /* as of normal ones, or where many reach the radius as in a ball */
    spread = 1 + (normal / (trace * trace) - 1) * (1 - 1 / high);
  l->part[k] = spread * trace * trace / (normal * records), l->records[k] = records;
  l->left[k] = l->part[k] * pow(fmin(1, cut * records / trace), 2);
}

tct_status tct_linear_settle_shells(tct_linear *l, tct_error *err) {
  const tct_moments *m = l->moments;
  int64_t q = m->q;
  double *u = l->work, *ones = l->work + 8 * q, trace = 0;
  if (!(l->mean = TCT_NEW(double, m->shells *q))) return tct_fail_memory(err);
  memset(ones, 0, (size_t)q * sizeof *ones);
  ones[q - 1] = 1;
  tct_linear_in_z(l, ones, u);
  for (int64_t j = 0; j < q; j++) trace += m->sum[j * q + j];
  double cut = m->fourth && m->cut > 0 ? m->cut * trace / (l->count * (double)q) : INFINITY; /* of |z|^2 */
  for (int k = 0; k < m->shells; k++) settle(l, k, u, cut);
  return TCT_OK;
}

void tct_linear_squares(const tct_linear *l, const double *part, const double *a, const double *b, int64_t count,
                        double *sum, double *room) {
  const tct_moments *m = l->moments;
  int64_t q = m->q;
  double *x = room, *y = x + q, *sx = y + q, *sy = sx + q;
  memset(sum, 0, (size_t)count * sizeof *sum);
  for (int k = 0; k < m->shells; k++) {
    if (!(part[k] > 0)) continue;
    const double *mean = l->mean + k * q;
    memcpy(x, a, (size_t)q * sizeof *x);
    see(m, k, x, sx);
    double own = fmax(tct_dot(x, sx, q), 0), along = l->records[k] * tct_dot(mean, a, q);
    for (int64_t j = 0; j < count; j++) {
      memcpy(y, b + j * q, (size_t)q * sizeof *y);
      see(m, k, y, sy);
      double both = tct_dot(x, sy, q), means = along * tct_dot(mean, b + j * q, q);
      sum[j] += part[k] * fmax(own * fmax(tct_dot(y, sy, q), 0) + 2 * both * both - 2 * means * means, 0);
    }
  }
}
