/* weight_bound.c - how large a released weight can be, from the plan alone.
 *
 * NOISE  P(|N(0,1)| > t) <= exp(-t^2/2) and P(|Laplace| > s b) = exp(-s).  With t^2/2 = s = 72 + log(2 count), the
 * union over `count` numbers is below exp(-72)/2 < 1e-31.  The lattice that draws are rounded to adds less than two
 * steps.
 *
 * PATH  Let e <= push + rate*l1 bound what is added to a coordinate in a step: the step itself and the pull of l1.
 *
 * Without momentum |w| grows by at most `push`: every prox but a box's takes a number towards 0, and a box's not
 * farther from 0 than the box is.
 *
 * With momentum m in [0, 1): none, l1, l2 and elastic make w' = c((1 + m) w - m last + e') with c = 1/(1 + rate*l2) and
 * |e'| <= e.  The roots of z^2 - c(1+m) z + c m lie in the unit disc (c m < 1 and c(1 + m) <= 1 + c m).  So the
 * answer to a unit input k steps ago is sum over i of r1^i r2^(k-i), at most k + 1.  All T inputs come to at most e
 * T(T+1)/2.
 *
 * A box: w' is the point of an interval that is nearest to u - step g.  The interval holds w from the second iterate
 * on, so |w' - w| <= m |w - last| + e.  The first step may add the box's distance from 0.  Again it is at most e
 * T(T+1)/2, and (T + 1) times that distance.  The l1 ball: penalised weights are at most the radius. */
#include "solve/shared/weight_bound.h"

double tct_noise_max(const tct_release *release, double count) {
  double s = 72 + log(2 * fmax(count, 1)), deviation = release->deviation;
  if (isnan(deviation)) return INFINITY;
  if (!(deviation > 0)) return 0;
  bool laplace = release->law == TCT_LAW_LAPLACE;
  return deviation * (laplace ? s : sqrt(2 * s)) * (1 + 1e-9);
}

double tct_sum_max(const tct_release *release, double rows, double p) {
  return rows * release->clip + tct_noise_max(release, p * (double)release->event.count);
}

double tct_box_offset(const tct_penalty *penalty) {
  double low = isfinite(penalty->low) ? penalty->low : 0, high = isfinite(penalty->high) ? penalty->high : 0;
  return fmax(0, fmax(low, -high));
}

double tct_path_length_max(const tct_facts *facts, double push, double rate, double steps, bool momentum) {
  double offset = tct_box_offset(&facts->penalty);
  double max = momentum ? (push + rate * facts->penalty.l1) * steps * (steps + 1) / 2 + offset * (steps + 1)
                        : push * steps + offset;
  return fmax(max, facts->penalty.radius);
}
