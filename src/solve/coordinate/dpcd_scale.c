/* dpcd_scale.c - smoothness constants M_j, clips C_j and steps gamma/M_j of dpcd.
 *
 * M_j = h * (1/n) sum_i x~_ij^2, h the loss's curvature bound.
 *   public   h * moments_j, given; default R^2/p, what the mean over coordinates cannot exceed
 *   private  one release of the vector S_j = sum_i min(x~_ij^2/b_j^2, 1), b_j public bounds on |x_ij|, default R
 *   exact    h * S_j b_j^2/n without noise: read from the data, unaccounted
 *
 * SENSITIVITY of the private form.  A record's term v has 0 <= v_j <= 1 and sum_j b_j^2 v_j <= |x~|^2 <= R^2.  The
 * largest |v|_1 and |v|_2 under these are at the same vertex.  There k coordinates are filled to 1, from the smallest
 * b_j on, and the next to a fraction f.  Exchanging a filled one with the fractional one never gains.  Its cost grows
 * by d = b'^2 - b^2, and 1 - (b'^2 - L)/b^2 <= 1 - (b'^2 - L)/b'^2 = L/b'^2 for the room L that is left.  So |v|_1 <=
 * k + f and |v|_2 <= c = sqrt(k + f^2).  Two such vectors have no negative entries, so |v - v'|_2^2 <= |v|^2 + |v'|^2
 * <= 2c^2: under replace_one, where an event's shift is twice its sensitivity, the sensitivity is c/sqrt(2).  With the
 * default bounds b_j = R, c = 1: the sensitivity does not grow with p, as the paper's p*b_j does.  x~ is at most R(1 -
 * 2^-40), which covers the roundings of a term; c is rounded up.  Terms are truncated to the lattice and summed
 * exactly.
 *
 * FLOOR.  A private M_j is taken at least as large as twice the standard deviation of its own noise, a public number.
 * Where the option `floor` is given, floor*h*b_j^2 stands for that.  Else a step of gamma/M_j could be huge where noise
 * makes M_j small. */
#include "solve/coordinate/dpcd.h"

#include "core/alloc.h"
#include "core/number.h"
#include "core/processors.h"
#include "la/kernels/kernels.h"
#include "solve/coordinate/rules.def"
#include "solve/shared/weight_bound.h"

#include <stdlib.h>
#include <string.h>

/* Least M_j relative to h*b_j^2 when there is no noise: a column of zeros then takes a finite step of nothing. */
static const double min = 1e-12;

bool tct_dpcd_slope(const tct_loss *loss, tct_fused_slope *slope) {
  *slope = loss->kind->fused;
  return tct_loss_has_fused(loss->kind);
}

double tct_dpcd_prox(const tct_facts *facts, int64_t j, double w, double step) {
  if (facts->intercept && j == facts->p - 1) return w;
  return facts->penalty.kind->prox1(&facts->penalty, w, step);
}

double tct_dpcd_typical(const tct_facts *facts, bool ball) {
  double slope = tct_loss_slope_bound(&facts->loss);
  if (!facts->loss.kind->binary) slope = fmin(slope, facts->label_bound / 2); /* residuals as large as Y are rare */
  return (ball ? dpcd_record_clip : dpcd_coordinate_clip) * slope /
         sqrt(facts->loss.kind->curvature_bound(facts->loss.h));
}

bool tct_dpcd_is_list(const tct_spec *spec, const char *key) {
  return strchr(tct_spec_text(spec, tct_dpcd_options, key), '/') != NULL;
}

tct_status tct_dpcd_list(const tct_facts *facts, const tct_spec *spec, const char *key, double fallback, double *out,
                         tct_error *err) {
  const char *text = tct_spec_text(spec, tct_dpcd_options, key);
  int64_t count = 0, features = facts->p - (facts->intercept ? 1 : 0);
  for (int64_t j = 0; out && j < facts->p; j++) out[j] = fallback;
  if (!strcmp(text, "auto")) return TCT_OK;
  for (const char *at = text; at; count++) {
    char number[64];
    double value;
    size_t length = strcspn(at, "/");
    snprintf(number, sizeof number, "%.*s", (int)fmin((double)length, sizeof number - 1), at);
    if (length >= sizeof number || !tct_parse_real(number, &value) || !(value > 0 && value < 1e100))
      return tct_fail(err, TCT_E_USAGE, "%s needs positive numbers separated by /; give one, or one per feature", key);
    if (out && count < facts->p) out[count] = value;
    at = at[length] ? at + length + 1 : NULL;
  }
  if (count != 1 && count != features && count != facts->p)
    return tct_fail(err, TCT_E_USAGE, "%s has %lld numbers for %lld features; give one, or one per feature", key,
                    (long long)count, (long long)features);
  for (int64_t j = 1; out && count == 1 && j < facts->p; j++) out[j] = out[0];
  return TCT_OK;
}

tct_status tct_dpcd_moment_reach(const tct_facts *facts, const double *bounds, bool l1, double *sensitivity,
                                 tct_error *err) {
  double *sorted = TCT_NEW(double, facts->p), room = facts->row_norm * facts->row_norm, full = 0, part = 0;
  if (!sorted) return tct_fail_memory(err);
  memcpy(sorted, bounds, (size_t)facts->p * sizeof *sorted);
  qsort(sorted, (size_t)facts->p, sizeof *sorted, tct_ascending);
  for (int64_t j = 0; j < facts->p && part == 0; j++) {
    double cost = sorted[j] * sorted[j];
    if (cost <= room)
      room -= cost, full++;
    else
      part = room / cost;
  }
  tct_free(sorted);
  *sensitivity = (l1 ? full + part : sqrt(full + part * part)) * (1 + 0x1p-45);
  if (!l1 && facts->neighbours == TCT_REPLACE_ONE) *sensitivity *= sqrt(0.5);
  return TCT_OK;
}

tct_status tct_dpcd_new(const tct_problem *problem, const tct_solver_plan *plan, tct_dpcd *out, tct_error *err) {
  const tct_option *o = tct_dpcd_options;
  int64_t p = problem->facts->p;
  *out = (tct_dpcd){.outer = tct_spec_count(&plan->spec, o, "outer"), .inner = tct_spec_count(&plan->spec, o, "inner")};
  out->clip = tct_spec_real(&plan->spec, o, "clip");
  out->step = tct_spec_real(&plan->spec, o, "step");
  bool smooth = tct_spec_is(&plan->spec, o, "smoothness", "private");
  out->moments = smooth ? 0 : -1;
  out->choice = tct_spec_is(&plan->spec, o, "order", "greedy") ? smooth : -1;
  out->steps = smooth + (out->choice >= 0);
  out->record = tct_spec_is(&plan->spec, o, "clipping", "record");
  out->average = tct_spec_is(&plan->spec, o, "average", "half") || tct_spec_is(&plan->spec, o, "average", "inner");
  out->threads = problem->facts->threads;
  out->moment = TCT_NEW(double, p);
  out->bound = TCT_NEW(double, p);
  out->rate = TCT_NEW(double, p);
  if (out->moment && out->bound && out->rate) return TCT_OK;
  tct_dpcd_free(out);
  return tct_fail_memory(err);
}

void tct_dpcd_free(tct_dpcd *d) {
  tct_free(d->moment);
  tct_free(d->bound);
  tct_free(d->rate);
  memset(d, 0, sizeof *d);
}

/* S_j of every coordinate, with or without its release. */
static tct_status moments(const tct_problem *problem, const double *bounds, tct_mech *mech, tct_dpcd *d,
                          tct_error *err) {
  const tct_facts *facts = problem->facts;
  const tct_release *planned = tct_mech_release_of(mech, d->moments);
  double sensitivity = 1;
  TCT_TRY(tct_dpcd_moment_reach(facts, bounds, false, &sensitivity, err));
  double lattice = planned ? planned->lattice : tct_lattice_spacing(fmax(sensitivity, 1), 0, facts->rows);
#pragma omp parallel for num_threads(tct_threads(d->threads)) schedule(dynamic)
  for (int64_t j = 0; j < facts->p; j++) d->moment[j] = tct_col_moment_lattice(problem->view, j, bounds[j], lattice);
  if (!planned) return tct_mech_join_sum(mech, d->moment, facts->p, err);
  return tct_mech_release(mech, d->moments, d->moment, facts->p, err);
}

/* See FLOOR; planned: the release of the S_j, NULL for exact ones. */
static double floor_of(const tct_facts *facts, const tct_solver_plan *plan, const tct_release *planned) {
  double given = tct_spec_real(&plan->spec, tct_dpcd_options, "floor");
  double deviation = planned ? planned->deviation * (planned->law == TCT_LAW_LAPLACE ? sqrt(2) : 1) : 0;
  return isnan(given) ? fmax(min, 2 * deviation / (double)facts->rows) : given;
}

/* From S_j to M_j >= the floor. */
static void finish_moments(const tct_facts *facts, const double *bounds, double floor, tct_dpcd *d) {
  double h = facts->loss.kind->curvature_bound(facts->loss.h), n = (double)facts->rows;
  for (int64_t j = 0; j < facts->p; j++) d->moment[j] = h * bounds[j] * bounds[j] * fmax(d->moment[j] / n, floor);
}

tct_status tct_dpcd_scales(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, tct_dpcd *d,
                           tct_error *err) {
  const tct_facts *facts = problem->facts;
  const tct_option *o = tct_dpcd_options;
  double r = facts->row_norm, h = facts->loss.kind->curvature_bound(facts->loss.h);
  if (tct_spec_is(&plan->spec, o, "smoothness", "public")) {
    TCT_TRY(tct_dpcd_list(facts, &plan->spec, "moments", r * r / (double)facts->p, d->moment, err));
    for (int64_t j = 0; j < facts->p; j++) d->moment[j] *= h;
  } else {
    TCT_TRY(tct_dpcd_list(facts, &plan->spec, "bounds", r, d->bound, err));
    TCT_TRY(moments(problem, d->bound, mech, d, err));
    finish_moments(facts, d->bound, floor_of(facts, plan, tct_mech_release_of(mech, d->moments)), d);
  }
  d->total = 0;
  for (int64_t j = 0; j < facts->p; j++) d->total += d->moment[j];
  if (isnan(d->clip)) d->clip = tct_dpcd_typical(facts, d->record) * sqrt(d->total);
  double loose = !tct_noise_off(facts) ? 1 : 1024; /* no privacy: a clip that few terms meet, sums still exact */
  for (int64_t j = 0; j < facts->p; j++) {
    d->bound[j] = loose * d->clip * sqrt(d->moment[j] / d->total);
    d->rate[j] = d->step / d->moment[j];
  }
  return TCT_OK;
}

/* Least M_j that any table leaves, from the plan: public M_j, or the floor of private ones. */
static double least_moment(const tct_facts *facts, const tct_solver_plan *plan) {
  const tct_option *o = tct_dpcd_options;
  bool given = tct_spec_is(&plan->spec, o, "smoothness", "public");
  double h = facts->loss.kind->curvature_bound(facts->loss.h), r = facts->row_norm, smallest = INFINITY;
  const char *key = given ? "moments" : "bounds";
  tct_facts few = *facts;
  if (!tct_dpcd_is_list(&plan->spec, key)) few.p = 1; /* all are equal */
  double *list = TCT_NEW(double, few.p);
  if (!list) return 0;
  tct_status status = tct_dpcd_list(&few, &plan->spec, key, given ? r * r / (double)facts->p : r, list, NULL);
  for (int64_t j = 0; j < few.p; j++) smallest = fmin(smallest, list[j]);
  tct_free(list);
  if (status != TCT_OK) return 0;
  if (given) return h * smallest;
  bool smooth = tct_spec_is(&plan->spec, o, "smoothness", "private");
  return h * smallest * smallest * floor_of(facts, plan, smooth ? &plan->promise.release[0] : NULL);
}

/* A step moves w_j by at most (gamma/M_j)(s_j + noise/n), s_j = C_j, or C_j sqrt(p) with clipping=record.  The noise is
 * the release's multiplier times its sensitivity, which is `ratio` times C_j.  C_j = C sqrt(M_j/sum M),
 * where C is c sqrt(sum M) by default, and sum M >= p min M.  A prox moves no weight away from 0, but a box's to the
 * box.  In a shuffled or cyclic order a coordinate has one step in p of each round's. */
double tct_dpcd_weight_bound(const tct_facts *facts, const tct_solver_plan *plan) {
  const tct_option *o = tct_dpcd_options;
  bool record = tct_spec_is(&plan->spec, o, "clipping", "record");
  bool any = tct_spec_is(&plan->spec, o, "order", "uniform") || tct_spec_is(&plan->spec, o, "order", "greedy");
  double p = (double)facts->p, least_m = least_moment(facts, plan), clip = tct_spec_real(&plan->spec, o, "clip");
  double outer = (double)tct_spec_count(&plan->spec, o, "outer"),
         inner = (double)tct_spec_count(&plan->spec, o, "inner");
  tct_release steps = plan->promise.release[plan->promise.count - 1];
  steps.deviation = steps.noise * steps.ratio;
  if (!(least_m > 0)) return INFINITY;
  double sensitivity = (isnan(clip) ? tct_dpcd_typical(facts, record) / sqrt(least_m) : clip / (sqrt(p) * least_m));
  if (record) sensitivity *= sqrt(p);
  double each = 1 + tct_noise_max(&steps, outer * inner) / (double)facts->rows;
  double visits = any ? outer * inner : outer * (ceil(inner / p) + 1);
  return visits * tct_spec_real(&plan->spec, o, "step") * sensitivity * each + tct_box_offset(&facts->penalty);
}
