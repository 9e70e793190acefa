/* release.c - releases, their lattices, and promises made of them.
 *
 * Each formula names where it is proved: a theorem of docs/proofs/coq (docs/proofs/machine-checked.md), a source whose
 * head has the proof, or a paper. */
#include "mech/release.h"

#include "core/point.h"

#include <math.h>
#include <string.h>

const char *tct_norm_name(tct_norm norm) {
  switch (norm) {
    case TCT_NORM_L2: return "l2";
    case TCT_NORM_L1: return "l1";
    case TCT_NORM_SCORE: return "score";
  }
  return "?";
}

const char *tct_promise_name(tct_promise_kind kind) {
  switch (kind) {
    case TCT_PROMISE_FIXED: return "fixed";
    case TCT_PROMISE_AT_MOST: return "at_most";
    case TCT_PROMISE_BUDGET: return "budget";
  }
  return "?";
}

/* A term of at most `clip` each: by one_record_more_or_less, and for persons whose weights sum to at most 1 by
 * one_person_more_or_less, the sum moves by no more (Sensitivity.v).  A smaller one is the solver's to prove. */
tct_release tct_release_sum(const char *what, tct_event event, double clip, double sensitivity, int64_t terms) {
  bool laplace = event.kind == TCT_EV_LAPLACE;
  return (tct_release){.what = what,
                       .event = event,
                       .law = laplace ? TCT_LAW_LAPLACE : TCT_LAW_GAUSSIAN,
                       .norm = laplace ? TCT_NORM_L1 : TCT_NORM_L2,
                       .clip = clip,
                       .sensitivity = sensitivity,
                       .ratio = 1,
                       .lattice = NAN,
                       .noise = event.noise,
                       .rate = event.kind == TCT_EV_SAMPLED_GAUSSIAN ? event.rate : 1,
                       .terms = terms};
}

/* epsilon over scores that move by at most `change`: rng/exponential_choice.c. */
tct_release tct_release_choice(const char *what, double epsilon, int64_t count, double clip, double change,
                               int64_t terms) {
  tct_release r = {.what = what,
                   .law = isfinite(epsilon) ? TCT_LAW_EXPONENTIAL : TCT_LAW_LARGEST,
                   .norm = TCT_NORM_SCORE,
                   .clip = clip,
                   .sensitivity = change,
                   .ratio = change / clip,
                   .lattice = NAN,
                   .epsilon = epsilon,
                   .rate = 1,
                   .terms = terms};
  r.event = tct_release_choice_event(&r);
  r.event.count = count;
  return r;
}

/* docs/proofs/objpert.md proves the event, for Gaussian and for Gamma vectors. */
tct_release tct_release_draw(const char *what, tct_event event, tct_law law, double sensitivity, double noise,
                             double deviation, double lattice) {
  return (tct_release){.what = what,
                       .event = event,
                       .law = law,
                       .norm = TCT_NORM_L2,
                       .clip = sensitivity,
                       .sensitivity = sensitivity,
                       .ratio = 1,
                       .lattice = lattice,
                       .deviation = deviation,
                       .noise = noise,
                       .rate = 1,
                       .whole = true};
}

/* Whoever knows all but `faced` of the parties' noises faces a variance of faced*part^2 (mech/joint.c).  What a party
 * draws has at least the deviation that was planned: rounding is upward. */
tct_release tct_release_joint(const char *what, tct_event event, double sensitivity, int64_t terms, tct_joint joint) {
  tct_release r = tct_release_sum(what, event, sensitivity, sensitivity, terms);
  r.drawers = joint.drawers, r.faced = joint.faced;
  r.side = joint.side;
  r.part = event.noise * sensitivity / sqrt(TCT_POINT(joint_noise_over_all_parties, joint.faced, joint.drawers)) *
           (1 + 0x1p-50);
  r.added = joint.server ? event.noise * sensitivity * (1 + 0x1p-50) : 0;
  return r;
}

/* The variance of a Laplace law is twice the square of its scale. */
double tct_release_deviation(const tct_release *r) {
  return r->follows || r->open ? NAN : (r->law == TCT_LAW_LAPLACE ? sqrt(2) : 1) * r->deviation;
}

bool tct_release_chooses(const tct_release *release) { return release->norm == TCT_NORM_SCORE; }

/* A record is in the batch with probability rate.  So the choice's law is a mixture of the law without the record and
 * one that is epsilon-close to it.  Thus epsilon-DP becomes log(1 + rate*(exp(epsilon) - 1)) (Balle, Barthe and
 * Gaboardi 2018, Theorem 8).  Rounded up. */
tct_event tct_release_choice_event(const tct_release *r) {
  if (r->law == TCT_LAW_LARGEST) return tct_event_gaussian(0, 1);
  if (r->rate < 1) return tct_event_pure(log1p(r->rate * expm1(r->epsilon)) * (1 + 1e-14), 1);
  return r->law == TCT_LAW_FLIP ? tct_event_pure(r->epsilon, 1) : tct_event_exponential(r->epsilon, 1);
}

/* By total_in_range (Sensitivity.v) a sum of so many terms stays below need, and so within 2^52 lattices: doubles hold
 * it exactly.  From 2^20 to 2^39 lattices is what rng/rounded_gaussian.c proves its law for. */
double tct_lattice_spacing(double sensitivity, double noise, int64_t terms) {
  double sigma = noise * sensitivity;
  double need = (double)(terms < 1 ? 1 : terms) * sensitivity + 128 * sigma;
  if (!(sensitivity > 0) || !isfinite(need)) return NAN;
  int exponent = 0;
  frexp(need, &exponent); /* need <= 2^exponent */
  int low = exponent - 52;
  if (noise > 0) {
    frexp(sigma, &exponent);                      /* 2^(exponent-1) <= sigma < 2^exponent */
    if (low < exponent - 39) low = exponent - 39; /* sigma/g < 2^39 */
    if (low > exponent - 1 - 20) return NAN;      /* sigma/g >= 2^20 */
  }
  if (low < -1000) return NAN; /* far from subnormals, where spacing is not relative */
  return ldexp(1.0, low);
}

/* The smallest power of four g with n*c + 2^8*(deviation of all noise) < 2^62*g, so that no sum wraps, and every
 * deviation in [2^20, 2^39) of g: what mech/joint.c asks for. */
static double joint_spacing(const tct_release *r) {
  int high = 0, low = 0;
  double min = r->side ? r->part * M_SQRT1_2 : r->part, largest = fmax(r->part, r->added);
  double noise = sqrt(r->drawers * r->part * r->part + r->added * r->added);
  double need = (double)r->terms * r->sensitivity + 256 * noise;
  if (!(r->sensitivity > 0) || !(r->part >= 0) || !isfinite(need)) return NAN;
  frexp(need, &high); /* need < 2^high */
  high -= 62;
  if (largest > 0) {
    frexp(largest, &low);
    if (high < low - 39) high = low - 39;
  }
  if (high & 1) high++;
  if (min > 0 && !(ldexp(min, -high) >= 0x1p20)) return NAN;
  return high < -900 || high > 900 ? NAN : ldexp(1, high);
}

/* A coarser lattice is as sound: truncation_keeps_the_clip (Sensitivity.v) holds for any. */
static double spacing_of(const tct_release *r) {
  int exponent = 0;
  if (r->drawers) return joint_spacing(r);
  if (tct_release_chooses(r)) return tct_lattice_spacing(r->clip, 0, r->terms);
  double size = r->sensitivity, noise = r->noise;
  if (r->largest > size) noise *= size / r->largest, size = r->largest;
  double lattice = tct_lattice_spacing(size, noise, r->terms);
  if (!r->bits) return lattice;
  frexp(r->clip, &exponent); /* clip < 2^exponent */
  return fmax(lattice, ldexp(1, exponent - r->bits));
}

/* The event is about noise in units of the sensitivity, rounded to the lattice after it was added:
 * rounding_on_the_lattice_keeps_the_promise (Privacy.v).  A draw brings its own lattice and deviation, and so may a sum
 * its lattice: they stay. */
tct_status tct_release_settle(tct_release *r, tct_error *err) {
  bool drawn = r->terms == 0;
  if (!drawn && !tct_release_chooses(r))
    r->deviation = r->noise * TCT_POINT(deviation_halved_when_settled, r->sensitivity, r->sensitivity / 2);
  if (isnan(r->lattice)) r->lattice = spacing_of(r);
  if (r->lattice > 0 && (drawn || r->sensitivity > 0) && isfinite(r->deviation)) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE,
                  "too many records for the noise's lattice, or bounds out of range; use less epsilon, or bounds "
                  "nearer to 1");
}

tct_status tct_promise_add(tct_promise *promise, tct_release release, tct_error *err) {
  if (release.event.count < 1) return TCT_OK;
  if (promise->count == TCT_RELEASES)
    return tct_fail(err, TCT_E_BUDGET, "a plan with too many kinds of releases; report this fault");
  promise->release[promise->count++] = release;
  if (promise->kind == TCT_PROMISE_BUDGET || TCT_POINT(planned_release_uncharged, false, promise->count == 1))
    return TCT_OK;
  return tct_events_add(&promise->events, release.event, err);
}

tct_status tct_promise_settle(tct_promise *promise, tct_error *err) {
  for (int i = 0; i < promise->count; i++) {
    tct_release *r = &promise->release[i], unit = *r;
    unit.clip = 1, unit.sensitivity = unit.ratio; /* whether there is a lattice hangs on the noise, not on the length */
    if (!r->open) TCT_TRY(tct_release_settle(r->follows ? &unit : r, err));
  }
  return TCT_OK;
}

static bool near(double a, double b) { return a == b || fabs(a - b) <= 1e-14 * fabs(a) || (isnan(a) && isnan(b)); }

/* mech/joint.c has the proof.  Made once, and its parts come to the noise of the event for whoever knows all but
 * `faced` of them; who knows more faces the server's. */
static bool joint_consistent(const tct_release *r) {
  double sigma = r->noise * r->sensitivity;
  bool counts = r->faced >= 1 && r->faced <= r->drawers && r->event.count == 1;
  return counts && TCT_POINT(joint_noise_too_little_accepted, r->part * r->part * r->faced >= sigma * sigma, true) &&
         (r->added == 0 || r->added >= sigma);
}

/* What follows from the rest is what it would be if it were made anew. */
static bool consistent(const tct_release *r) {
  tct_release again = *r;
  /* A term of size clip, taken out, moves a score by the clip. */
  if (tct_release_chooses(r) && !(r->ratio >= 1 - 1e-14)) return false;
  if (tct_release_chooses(r) && !r->open) {
    tct_event event = tct_release_choice_event(r);
    if (!tct_event_same(&event, &r->event)) return false;
  }
  if (!tct_release_chooses(r) && r->terms > 0 && r->event.noise != r->noise && !r->open) return false;
  if (r->follows || r->open) return isnan(r->lattice);
  if (r->drawers && !joint_consistent(r)) return false;
  double deviation = tct_release_chooses(r) ? 0 : r->noise * r->sensitivity;
  if (TCT_POINT(deviation_halved_when_settled, !near(r->deviation, deviation), false)) return false;
  if (!r->whole) again.lattice = NAN;
  return tct_release_settle(&again, NULL) == TCT_OK && again.lattice == r->lattice;
}

tct_status tct_promise_check(const tct_promise *promise, tct_error *err) {
  tct_events events = {0};
  tct_status status = TCT_OK;
  bool same = true;
  for (int i = 0; i < promise->count; i++) {
    same = same && consistent(&promise->release[i]);
    if (status == TCT_OK) status = tct_events_add(&events, promise->release[i].event, err);
  }
  if (promise->kind != TCT_PROMISE_BUDGET && status == TCT_OK && TCT_POINT(planned_release_uncharged, true, false)) {
    same = same && events.len == promise->events.len;
    for (int64_t i = 0; same && i < events.len; i++)
      same = tct_event_same(&events.at[i], &promise->events.at[i]) && events.at[i].count == promise->events.at[i].count;
  }
  tct_events_free(&events);
  if (status != TCT_OK || same) return status;
  return tct_fail(err, TCT_E_BUDGET, "a promise contradicts itself; nothing was drawn, report this fault");
}

tct_status tct_promise_copy(tct_promise *to, const tct_promise *from, tct_error *err) {
  *to = *from;
  to->events = (tct_events){0};
  return tct_events_copy(&to->events, &from->events, err);
}

void tct_promise_free(tct_promise *promise) { tct_events_free(&promise->events); }
