/* onestep_shrink.c - the last step, of which less is made where its noise is above that of the path's steps.
 *
 * A long clip makes the last gradient noisier than those of the path.  The step then takes errors of the path away and
 * puts larger ones in.  y = G^-1 g/s, less its part along the constant, has the noise I and k directions.  e, what the
 * path left of it, is taken to have one variance A in all of them.  1 + A is |y|^2/k, or at least what the path's own
 * noise makes it, and one deviation of such a sum more.  The step keeps 1 - B of y, B = (k - 2)/(k (1 + A)) (James,
 * Stein 1961), and at least a half.  Its variance is 1 - B, and 2/(k - 2) (B y)^2 as B is known to that (Morris 1983).
 *
 * Over all weights of a table that covers .95, whatever e, not in one that the path left farther off than the others.
 * So no weight moves by more than B of its noise's deviation, and what is left of the shift joins its variance (Efron,
 * Morris 1972).  Where nothing else is unknown, a weight that is off by itself, by two deviations, is then covered in
 * .8 (tests/unit/test_onestep_shrink.c). */
#include "la/kernels/kernels.h"
#include "solve/onestep/one_step.h"

#include <string.h>

/* y[p] <- G^-1 x, G lower triangular, or 1. */
static void whiten(const double *factor, const double *x, int64_t p, double *y) {
  memcpy(y, x, (size_t)p * sizeof *y);
  for (int64_t j = 0; j < p && factor; j++) y[j] = (x[j] - tct_dot(factor + j * p, y, j)) / factor[j * p + j];
}

/* t[p] <- s G^T b. */
static void noise_of(const tct_onestep_released *in, const double *b, int64_t p, double *t) {
  for (int64_t k = 0; k < p; k++) {
    double sum = in->factor ? 0 : b[k];
    for (int64_t j = k; j < p && in->factor; j++) sum += in->factor[j * p + k] * b[j];
    t[k] = in->deviation * sum;
  }
}

/* q[p] <- the direction of y that a margin of 1 gives it, of length 1; u: [p]. */
static void constant_direction(const tct_onestep_released *in, const tct_metric *metric, double *u, double *q) {
  int64_t p = metric->p;
  memset(q, 0, (size_t)p * sizeof *q);
  q[p - 1] = 1;
  tct_onestep_in_metric(metric, q, u);
  for (int64_t j = 0; j < p; j++) q[j] = tct_dot(in->moments->curvature + j * p, u, p);
  whiten(in->factor, q, p, u);
  double size = sqrt(tct_norm2(u, p));
  for (int64_t j = 0; j < p; j++) q[j] = size > 0 ? u[j] / size : 0;
}

void tct_onestep_shrink(const tct_onestep_released *in, const tct_metric *metric, const double *rows, double *room,
                        double *step, tct_inference *out) {
  int64_t p = metric->p;
  double *t = room, *y = t + p * p, *q = y + p, *shift = q + p, *move = shift + p, s = in->deviation;
  double k = (double)(in->mean ? p - 1 : p);
  if (!(in->before > 0 && in->before < s) || k < 3) return;
  memset(q, 0, (size_t)p * sizeof *q);
  if (in->mean) constant_direction(in, metric, move, q);
  whiten(in->factor, in->gradient, p, y);
  for (int64_t j = 0; j < p; j++) y[j] *= tct_onestep_longer(in) / s;
  tct_axpy(-tct_dot(q, y, p), q, y, p);
  double known = k * (1 + in->before * in->before / (s * s));
  double part = fmin((k - 2) / (fmax(tct_norm2(y, p), known) * (1 + sqrt(2 / k))), 0.5);
  for (int64_t j = 0; j < p; j++) {
    double *own = t + j * p, before = out->noise[j * p + j] + out->sampling[j * p + j];
    noise_of(in, rows + j * p, p, own);
    double most = part * sqrt(tct_norm2(own, p));
    tct_axpy(-tct_dot(q, own, p), q, own, p);
    shift[j] = part * tct_dot(own, y, p), move[j] = fmax(fmin(shift[j], most), -most);
    for (int64_t i = 0; i <= j; i++)
      out->noise[j * p + i] += 2 / (k - 2) * shift[i] * shift[j] - part * tct_dot(t + i * p, own, p);
    out->noise[j * p + j] += (shift[j] - move[j]) * (shift[j] - move[j]);
    double of_before = (out->noise[j * p + j] + out->sampling[j * p + j]) / before;
    out->degrees[j] = fmax(out->degrees[j] * fmin(of_before * of_before, 1), 1);
  }
  for (int64_t j = 0; j < p; j++)
    for (int64_t i = 0; i < j; i++) out->noise[i * p + j] = out->noise[j * p + i];
  tct_onestep_in_metric(metric, move, q);
  tct_axpy(-1, q, step, p);
}
