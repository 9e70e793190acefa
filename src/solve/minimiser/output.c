/* output.c - the release of a computed minimiser: rounded to a lattice, then noised (approximate minima perturbation).
 *
 * Let w* be the exact minimiser and w~ the computed one, |w~ - w*| <= t in either world: the certificate of smooth.c is
 * always reached, so this is no assumption.  Rounding to the lattice g moves at most g sqrt(p)/2 more.  Let the exact
 * minimisers of two worlds be at most `move` apart (0: the same w*, where it is the output of an earlier step).  Then
 * the lattice points are at most move + 2t + g sqrt(p) apart.  That is a difference between worlds.  Under add_remove
 * the event's c is this distance itself.  Under replace_one the accountant doubles c, so c is half of the part that is
 * not already one record's. */
#include "core/alloc.h"
#include "solve/minimiser/objpert.h"

tct_status tct_output_make(const tct_facts *facts, tct_output_bounds bounds, double noise, bool l1, tct_output *out,
                           tct_error *err) {
  double distance = bounds.distance, move = bounds.move, radius = bounds.radius;
  double p = (double)facts->p, half = facts->neighbours == TCT_REPLACE_ONE ? 0.5 : 1, norm = l1 ? sqrt(p) : 1;
  double pad = 1; /* the error is taken as larger than it is until a lattice exists that carries both w and the noise */
  for (int k = 0; k < 400; k++, pad *= 1.25) {
    double min = norm * (move + half * 2 * distance * pad);
    if (!(min > 0) || !isfinite(min)) break;
    double g = tct_lattice_spacing(min, noise, (int64_t)fmin(ceil(radius / min) + 1, 0x1p62));
    double sensitivity = norm * (move + half * (2 * distance * pad + g * sqrt(p) * 1.01));
    if (isnan(g)) continue;
    double check = tct_lattice_spacing(sensitivity, noise, (int64_t)fmin(ceil(radius / sensitivity) + 1, 0x1p62));
    if (!(check <= g) || !(sensitivity <= 1.1 * min)) continue;
    *out = (tct_output){.lattice = g, .sensitivity = sensitivity};
    return TCT_OK;
  }
  return tct_fail(err, TCT_E_USAGE, "no lattice carries the model and its noise; use a larger penalty or less epsilon");
}

tct_release tct_output_planned(const tct_output *output, tct_event event) {
  tct_release r = tct_release_sum("the minimiser on a lattice", event, output->sensitivity, output->sensitivity, 1);
  r.whole = true;
  r.lattice = output->lattice;
  if (event.noise > 0) return r;
  r.follows = true; /* without privacy: a lattice as fine as the weights allow */
  r.clip = r.sensitivity = r.lattice = NAN;
  return r;
}

tct_status tct_output_release(tct_mech *mech, int r, double *w, int64_t p, tct_error *err) {
  const tct_release *planned = tct_mech_release_of(mech, r);
  double largest = 1e-100;
  for (int64_t j = 0; j < p; j++) largest = fmax(largest, fabs(w[j]));
  if (planned->follows) TCT_TRY(tct_mech_set_clip(mech, r, largest, err));
  for (int64_t j = 0; j < p; j++) w[j] = rint(w[j] / planned->lattice) * planned->lattice;
  return tct_mech_release(mech, r, w, p, err);
}
