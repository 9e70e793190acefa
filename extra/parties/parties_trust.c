/* parties_trust.c - how far to believe the estimate of what the other parties predict: post-processing of releases.
 *
 * The score of a column x of party k against the others' prediction p (n numbers) is estimated by x . J^T q.  Write v
 * for the variance of a record's estimate: (sigma |w|)^2 of the noise and |p|^2/m of the embedding's collisions.  The
 * estimate of x.p has variance |x|^2 v, and x.p itself is of size c |x| |p|, c^2 the mean squared cosine between
 * columns of different parties.  The weight that makes the mean squared error least is c^2 |p|^2/(c^2 |p|^2 + v).
 * |p|^2 is estimated by |q|^2 - m (sigma |w|)^2, and c^2 from the products of sent columns of different parties less
 * what noise and collisions explain.  A deviation is taken off c^2, so that structure is seldom found where there is
 * none. */
#include "la/kernels/kernels.h"
#include "parties/dpfw_parties.h"

double tct_parties_cosine2(const tct_parties_server *s) {
  double size = (double)s->set->size, sigma = s->set->column_noise * s->set->feature, norm2 = 0;
  double collide = s->set->size < s->facts->rows ? 1 / size : 0, excess = 0, variance = 0, pairs = 0;
  for (int64_t i = 0; i < s->count; i++) norm2 += tct_norm2(s->sent[i].sketch, s->set->size) / (double)s->count;
  norm2 -= size * sigma * sigma; /* of an average column; one by itself is too uncertain */
  if (!(norm2 > 0)) return 0;
  double v = 2 * sigma * sigma * norm2 + size * sigma * sigma * sigma * sigma + collide * norm2 * norm2;
  for (int64_t i = 0; i < s->count; i++)
    for (int64_t j = 0; j < i; j++) {
      if (s->sent[i].party == s->sent[j].party) continue;
      double product = tct_dot(s->sent[i].sketch, s->sent[j].sketch, s->set->size);
      excess += product * product - v;
      variance += 2 * v * v;
      pairs++;
    }
  if (pairs == 0) return 0;
  double sure = excess - sqrt(variance);
  return sure > 0 ? fmin(1, sure / (pairs * norm2 * norm2)) : 0;
}

tct_parties_trust tct_parties_trust_in(const tct_parties_server *s, double cosine2, const double *query,
                                       double weight2) {
  double size = (double)s->set->size, sigma = s->set->column_noise * s->set->feature;
  double noise2 = sigma * sigma * weight2;
  double p2 = fmax(0, tct_norm2(query, s->set->size) - size * noise2);
  if (s->set->size < s->facts->rows) noise2 += p2 / size;
  tct_parties_trust t = {.trust = s->set->trust, .noise = sqrt(noise2)};
  if (isnan(t.trust)) t.trust = noise2 > 0 ? cosine2 * p2 / (cosine2 * p2 + noise2) : 1;
  return t;
}
