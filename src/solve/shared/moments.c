/* moments.c - second moments of records, and of their labels, in two releases, the second in shells.
 *
 * ALGORITHM  v_i = (x~_i/size, y_i/label), q = p + 1 columns; without labels x~_i/size, q = p.
 *   1. G = sum_i u_i u_i^T + noise, its eigenvalues lifted to what noise alone reaches; u_i = D v_i, cut to 1, with R
 *      over the length that was given in D where x~ is, else 1.  G/n = L L^T, W = L^-1 D.
 *   2. The record z_i = W v_i lies in shell k if radius_(k-1) < |z_i| <= radius_k, the last one with those beyond, cut.
 *      radius_0^2 = q max(1, sqrt(a n/(s q^1.5))), s the noise's deviation for terms of length 1.  The next is sqrt(2)
 *      times as large while its noise stays below a part gamma of n, and none above the longest z that can be.
 *      Without labels halves of radius_0 come before it, down to the typical length: how lengths spread sets errors.
 *      T_k = sum over the shell of z z^T/radius_k^2 + noise, all k in one release.
 *   3. S = sum_k radius_k^2 T_k.  Outer shells lose what noise adds: eigenvalue l becomes sqrt(l^2 - 2 q s_k^2), or 0.
 *      That shortens short directions most, so slopes get too long.  A shell that says something of all directions is
 *      added as it is: the shorter half of its eigenvalues is on the mean beyond a part `seen` of s_k sqrt(2 q).
 * One cut for all either loses what long records say or has the noise of the longest.  In shells a long tail keeps its
 * own direction at its own scale.
 *
 * SENSITIVITY  All releases are sums of t t^T with |t| <= 1, times the record's weight, one for each record
 * (la/exact/shells.h).  |t t^T| <= 1 in the Frobenius norm.  Stacked, the second is a vector of blocks.  The record's
 * term fills the block of its shell and is 0 elsewhere: at most 1 long, however many shells there are.  Shell
 * and radius are functions of the record and of the first release.  A person's terms add up to at most the sum of the
 * weights, 1.  Under replace_one two records' terms a, b have an inner product that is not below 0: in one block it is
 * (t.u)^2, in two it is 0.  So |a - b|^2 <= |a|^2 + |b|^2 <= 2; an event's shift is twice its sensitivity there, and
 * the sensitivity is sqrt(1/2).  docs/proofs/shells.md has both in full.
 *
 * RELEASES  Two events gaussian(m); three where fourth moments are asked for.
 *
 * FOURTH MOMENTS  w_i has the products of two entries of z_i (la/exact/shells.h), |w_i| = |z_i|^2.  Their release is
 * the sum of t t^T as above, t = w/max(cut, |w|): w is a function of the record and of the first release, as z is.
 *
 * NOISE  Let r and t be directions in z, and Q = Q_k those that were not kept of shell k.  Its noise shows in every
 * entry with a kept one.  So what noise adds to S r and to S t have the covariance sum_k s_k^2/2 (r.t 1 + t r^T - (Q
 * r).(Q t) Q - Q t (Q r)^T). */
#include "solve/shared/moments.h"

#include "core/alloc.h"
#include "core/stop.h"
#include "la/exact/gram.h"
#include "la/exact/spectrum.h"
#include "la/exact/triangular.h"
#include "la/kernels/kernels.h"
#include "solve/shared/rules.def"

#include <string.h>

enum { ROUGH, SHELLS };

tct_status tct_moments_promise(const tct_facts *facts, double part, double x, tct_promise *out, tct_error *err) {
  static const char *const what[] = {"second moments of records and labels, rough", "the same in shells of length"};
  double sensitivity = facts->neighbours == TCT_REPLACE_ONE ? M_SQRT1_2 : 1;
  double parts[] = {moments_rough_part * part, (1 - moments_rough_part) * part};
  for (int k = ROUGH; k <= SHELLS; k++) {
    tct_event event = tct_event_gaussian(x / sqrt(parts[k]), 1);
    TCT_TRY(tct_promise_add(out, tct_release_sum(what[k], event, 1, sensitivity, 2 * facts->rows), err));
  }
  return TCT_OK;
}

typedef struct table_plan {
  tct_facts facts;
  bool fourth;
} table_plan;

static tct_status of_a_table(double x, void *user, tct_promise *out, tct_error *err) {
  const table_plan *t = user;
  double sensitivity = t->facts.neighbours == TCT_REPLACE_ONE ? M_SQRT1_2 : 1;
  TCT_TRY(tct_moments_promise(&t->facts, t->fourth ? 1 - moments_fourth_part : 1, x, out, err));
  if (!t->fourth) return TCT_OK;
  tct_event event = tct_event_gaussian(x / sqrt(moments_fourth_part), 1);
  return tct_promise_add(out, tct_release_sum("fourth moments of records", event, 1, sensitivity, 2 * t->facts.rows),
                         err);
}

/* Below, most records would be cut: a normal one's |z|^4 is q (q + 2). */
static bool fourth_says_something(const tct_facts *facts, const tct_solver_plan *plan) {
  double normal = (double)facts->p * (double)(facts->p + 2), deviation = plan->promise.release[2].deviation;
  return moments_fourth_noise * (double)facts->rows / deviation >= normal;
}

tct_status tct_moments_plan(const tct_facts *facts, bool fourth, tct_solver_plan *out, tct_error *err) {
  static const tct_budget budget = {.direction = TCT_SMALLEST, .low = 1e-3, .high = 1e9, .tolerance = 1e-8};
  table_plan own = {*facts, fourth};
  double x;
  *out = (tct_solver_plan){0};
  if (!(facts->row_norm >= 1e-30 && facts->row_norm <= 1e30))
    return tct_fail(err, TCT_E_USAGE, "moments need bounds of all columns, within 1e30; give {row_norm R} or {schema}");
  if (facts->p > (fourth ? TCT_MOMENTS_FOURTH_MOST : TCT_MOMENTS_MOST))
    return tct_fail(err, TCT_E_USAGE, "moments are matrices of columns squared%s, at most %d columns; leave some out",
                    fourth ? ", for robust errors squared again" : "",
                    fourth ? TCT_MOMENTS_FOURTH_MOST - 1 : TCT_MOMENTS_MOST);
  if (tct_noise_off(facts) || !(facts->delta > 0))
    return tct_fail(err, TCT_E_USAGE, "moments are released with Gaussian noise; give an epsilon, and a delta above 0");
  TCT_TRY(tct_budget_fit(facts, &budget, of_a_table, &own, out, &x, err));
  if (!fourth || fourth_says_something(facts, out)) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE,
                  "robust errors of %lld columns would be noise here; leave {errors} away, or give "
                  "fewer columns or more epsilon",
                  (long long)facts->p - 1);
}

void tct_moments_free(tct_moments *m) {
  tct_metric_free(&m->metric);
  tct_free(m->sum);
  tct_free(m->kept);
  tct_wipe_free(m->fourth, m->fourth ? tct_moments_products(m->q) * tct_moments_products(m->q) : 0, sizeof *m->fourth);
  tct_wipe_free(m->shell, m->shell ? m->shells * m->q * m->q : 0, sizeof *m->shell);
  *m = (tct_moments){0};
}

/* ---- spectra --------------------------------------------------------------------------------------------------- */

/* a <- sum of value[k] vector_k vector_k^T. */
static void compose(const double *value, const double *vector, int64_t q, double *a) {
  memset(a, 0, (size_t)(q * q) * sizeof *a);
  for (int64_t k = 0; k < q && !tct_stopping(); k++)
    for (int64_t i = 0; i < q && value[k] != 0; i++)
      tct_axpy(value[k] * vector[k * q + i], vector + k * q, a + i * q, q);
}

typedef struct spectrum {
  double *value, *vector, *scratch; /* [q], [q][q], [q][q] and [3q] */
} spectrum;

static tct_status spectrum_new(int64_t q, spectrum *out, tct_error *err) {
  out->value = TCT_NEW(double, 2 * q * q + 4 * q);
  if (!out->value) return tct_fail_memory(err);
  out->vector = out->value + q;
  out->scratch = out->vector + q * q;
  return TCT_OK;
}

static tct_status spectrum_of(const spectrum *s, const double *a, int64_t q, tct_error *err) {
  memcpy(s->scratch, a, (size_t)(q * q) * sizeof *a);
  if (tct_eigenvectors(s->scratch, q, s->value, s->vector, s->scratch + q * q)) return TCT_OK;
  return tct_fail(err, TCT_E_RUN, "the released moments have no eigenvalues; scale the columns");
}

static double least(const double *value, int64_t q) {
  double found = INFINITY;
  for (int64_t k = 0; k < q; k++) found = fmin(found, value[k]);
  return found;
}

static double largest(const double *value, int64_t q) {
  double found = 0;
  for (int64_t k = 0; k < q; k++) found = fmax(found, value[k]);
  return found;
}

/* a's eigenvalues, which s holds, are raised to the floor, or to what doubles tell apart. */
static void lift(const spectrum *s, int64_t q, double floor, double *a) {
  floor = fmax(floor, fmax(1e-10 * largest(s->value, q), 1e-300));
  if (least(s->value, q) >= floor) return;
  for (int64_t k = 0; k < q; k++) s->value[k] = fmax(s->value[k], floor);
  compose(s->value, s->vector, q, a);
}

/* ---- releases ---------------------------------------------------------------------------------------------------- */

static double edge_of(double deviation, int64_t q) { return deviation * sqrt(2 * (double)q); }

static tct_shells_of rows_of(const tct_problem *problem, const tct_moments *m, const tct_release *planned) {
  tct_shells_of of = {.view = problem->view, .weight = problem->weight, .last = problem->y, .count = 1};
  of.scale = 1 / m->size, of.last_scale = problem->y ? 1 / m->label : 0;
  of.radius[0] = planned->clip, of.lattice = planned->lattice, of.threads = problem->facts->threads;
  return of;
}

/* Without labels the last column is the ones.  Their sum of squares is the public n, where no record weighs less. */
static bool ones_known(const tct_problem *problem) { return !problem->y && !problem->weight; }

/* W from the first release; times: the rows'. */
static tct_status rough(const tct_problem *problem, tct_mech *mech, int r, double times, const spectrum *s,
                        tct_moments *m, tct_error *err) {
  const tct_release *planned = tct_mech_release_of(mech, r);
  int64_t q = m->q;
  tct_shells_of of = rows_of(problem, m, planned);
  of.scale *= times;
  TCT_TRY(tct_shells_sum(&of, m->sum, err));
  TCT_TRY(tct_mech_release(mech, r, m->sum, q * q, err));
  tct_symmetrise(m->sum, q);
  if (ones_known(problem)) m->sum[q * q - 1] = (double)problem->facts->rows * of.scale * of.scale;
  TCT_TRY(spectrum_of(s, m->sum, q, err));
  lift(s, q, edge_of(planned->deviation, q), m->sum);
  double n = (double)problem->facts->rows, shift = 0;
  for (int64_t k = 0; k < q * q; k++) m->sum[k] /= n;
  while (!tct_cholesky_shifted(m->sum, q, shift, s->scratch)) shift = fmax(2 * shift, 1e-12 * fabs(m->sum[0]) + 1e-300);
  tct_lower_invert(s->scratch, q, s->value);
  for (int64_t k = 0; k < q * q; k++) m->metric.w[k] = s->scratch[k] * (k % q < m->p ? times : 1);
  TCT_TRY(tct_mech_join_first(mech, m->metric.w, q * q, err));
  if (tct_metric_settle(&m->metric)) return TCT_OK;
  return tct_fail(err, TCT_E_RUN, "the metric is not finite; scale the columns");
}

/* The radii, from the noise and the longest image that can be. */
void tct_moments_radii(int64_t rows, double deviation, tct_moments *m) {
  double gamma = m->q > m->p ? moments_gamma : moments_table_gamma, q = (double)m->q, n = (double)rows,
         longest = m->metric.size;
  double first = sqrt(q * fmax(1, sqrt(moments_first_shell * n / (deviation * pow(q, 1.5)))));
  first = deviation > 0 ? fmin(first, longest) : longest;
  m->shells = m->whole = 1;
  /* Of a table how long records are sets errors: shells within the first tell, whose noise is little beside its own. */
  double inner = m->q == m->p ? first / 2 : 0;
  for (; inner * inner >= moments_typical * q && m->whole < TCT_SHELLS / 2; inner /= 2) m->whole++;
  for (int k = 0; k < m->whole; k++) m->radius[k] = ldexp(first, k + 1 - m->whole);
  m->shells = m->whole;
  for (double next = first * M_SQRT2; m->shells < TCT_SHELLS && next < longest; next *= M_SQRT2) {
    if (!(edge_of(next * next * deviation, m->q) < gamma * n)) break;
    m->radius[m->shells++] = next;
  }
}

/* The mean of the shorter half. */
static double short_ones(const double *value, int64_t q) {
  double sum = 0;
  for (int64_t k = 0; k < q && !tct_stopping(); k++) {
    int64_t shorter = 0;
    for (int64_t j = 0; j < q; j++) shorter += value[j] < value[k] || (value[j] == value[k] && j < k);
    sum += shorter < (q + 1) / 2 ? value[k] : 0;
  }
  int64_t half = (q + 1) / 2;
  return sum / (double)half;
}

/* Adds shell k of the release to the sum, and finds P_k.  noise <- with its own, where it is added as it is. */
static tct_status shrink(const spectrum *s, int k, tct_moments *m, double *noise, tct_error *err) {
  int64_t q = m->q;
  const double *part = m->shell + k * q * q;
  double spread = 2 * (double)q * pow(moments_spread * m->noise[k], 2), *kept = m->kept + k * q * q;
  if (k >= m->whole) TCT_TRY(spectrum_of(s, part, q, err));
  if (k < m->whole || short_ones(s->value, q) > moments_seen * edge_of(m->noise[k], q)) {
    for (int64_t j = 0; j < q; j++) kept[j * q + j] = 1;
    tct_axpy(1, part, m->sum, q * q);
    *noise = hypot(*noise, m->noise[k]);
    return TCT_OK;
  }
  for (int64_t j = 0; j < q; j++) {
    double value = s->value[j];
    s->value[j] = value > 0 && value * value > spread ? sqrt(value * value - spread) : 0;
  }
  compose(s->value, s->vector, q, kept);
  tct_axpy(1, kept, m->sum, q * q);
  for (int64_t j = 0; j < q; j++) s->value[j] = s->value[j] > 0;
  compose(s->value, s->vector, q, kept);
  return TCT_OK;
}

/* sum <- that of the shells, each of them as released. */
static tct_status add_shells(const spectrum *s, tct_moments *m, tct_error *err) {
  double noise = 0;
  memset(m->sum, 0, (size_t)(m->q * m->q) * sizeof *m->sum);
  for (int k = 0; k < m->shells; k++) TCT_TRY(shrink(s, k, m, &noise, err));
  m->edge = edge_of(noise, m->q);
  TCT_TRY(spectrum_of(s, m->sum, m->q, err));
  m->determined = least(s->value, m->q) > moments_determined * m->edge;
  lift(s, m->q, 0.5 * m->edge, m->sum);
  return TCT_OK;
}

static tct_status in_shells(const tct_problem *problem, tct_mech *mech, int r, const spectrum *s, tct_moments *m,
                            tct_error *err) {
  const tct_release *planned = tct_mech_release_of(mech, r);
  double list[TCT_SHELLS + 2] = {0};
  tct_moments_radii(problem->facts->rows, planned->deviation, m);
  memcpy(list, m->radius, sizeof m->radius);
  list[TCT_SHELLS] = m->shells, list[TCT_SHELLS + 1] = m->whole;
  TCT_TRY(tct_mech_join_first(mech, list, TCT_SHELLS + 2, err));
  memcpy(m->radius, list, sizeof m->radius);
  m->shells = (int)list[TCT_SHELLS], m->whole = (int)list[TCT_SHELLS + 1];
  int64_t square = m->q * m->q, size = m->shells * square;
  m->shell = TCT_NEW(double, size);
  m->kept = TCT_NEW(double, size);
  if (!m->shell || !m->kept) return tct_fail_memory(err);
  tct_shells_of of = rows_of(problem, m, planned);
  of.metric = &m->metric, of.count = m->shells;
  memcpy(of.radius, m->radius, sizeof of.radius);
  TCT_TRY(tct_shells_sum(&of, m->shell, err));
  TCT_TRY(tct_mech_release(mech, r, m->shell, size, err));
  for (int k = 0; k < m->shells; k++) {
    double *part = m->shell + k * square, unit = m->radius[k] * m->radius[k];
    for (int64_t j = 0; j < square; j++) part[j] *= unit;
    tct_symmetrise(part, m->q);
    m->noise[k] = unit * planned->deviation;
  }
  TCT_TRY(add_shells(s, m, err));
  double known = m->determined; /* it decides what is released next */
  TCT_TRY(tct_mech_join_first(mech, &known, 1, err));
  m->determined = known > 0;
  return TCT_OK;
}

/* Matrices that are being made; a label, where there is one, counts as much as the mean column may. */
static tct_status begin(const tct_facts *facts, bool label, tct_moments *m, tct_error *err) {
  double p = (double)facts->p;
  *m = (tct_moments){.p = facts->p, .q = facts->p + (label ? 1 : 0)};
  m->size = facts->row_norm * (label ? sqrt(1 + 1 / p) : 1);
  m->label = facts->label_bound * sqrt(p + 1);
  m->sum = TCT_NEW(double, m->q * m->q);
  if (!m->sum) return tct_fail_memory(err);
  return tct_metric_new(m->q, false, &m->metric, err);
}

tct_status tct_moments_release(const tct_problem *problem, tct_mech *mech, int r, double length, tct_moments *m,
                               tct_error *err) {
  spectrum s = {0};
  TCT_TRY(begin(problem->facts, problem->y != NULL, m, err));
  tct_status status = spectrum_new(m->q, &s, err);
  if (status == TCT_OK) status = rough(problem, mech, r + ROUGH, problem->facts->row_norm / length, &s, m, err);
  if (status == TCT_OK) status = in_shells(problem, mech, r + SHELLS, &s, m, err);
  tct_free(s.value);
  return status;
}

double tct_moments_cut(int64_t rows, double deviation, double longest) {
  return fmin(sqrt(moments_fourth_noise * (double)rows / deviation), longest * longest);
}

bool tct_moments_white(const tct_moments *m, int64_t rows, double *l) {
  for (int64_t j = 0; j < m->q * m->q; j++) l[j] = m->sum[j] / (double)rows;
  return tct_cholesky(l, m->q);
}

/* L^-1 W. */
static tct_status whiten(const tct_problem *problem, const tct_moments *m, tct_metric *out, tct_error *err) {
  int64_t q = m->q;
  double *l = TCT_NEW(double, q *q + q);
  tct_status status = l ? tct_metric_new(q, false, out, err) : tct_fail_memory(err);
  bool good = status == TCT_OK && tct_moments_white(m, problem->facts->rows, l);
  if (good) {
    memcpy(out->w, m->metric.w, (size_t)(q * q) * sizeof *l);
    tct_lower_invert(l, q, l + q * q);
    tct_lower_multiply(l, out->w, q, l + q * q);
    good = tct_metric_settle(out);
  }
  tct_free(l);
  return good || status != TCT_OK ? status : tct_fail(err, TCT_E_RUN, "the metric is not finite; scale the columns");
}

static tct_status sum_fourth(const tct_problem *problem, tct_mech *mech, int r, const tct_metric *metric,
                             tct_moments *m, tct_error *err) {
  const tct_release *planned = tct_mech_release_of(mech, r);
  int64_t d = tct_moments_products(m->q);
  double cut = m->cut = tct_moments_cut(problem->facts->rows, planned->deviation, metric->size);
  tct_shells_of of = rows_of(problem, m, planned);
  of.metric = metric, of.products = true, of.radius[0] = cut;
  if (!(m->fourth = TCT_NEW(double, d *d))) return tct_fail_memory(err);
  TCT_TRY(tct_shells_sum(&of, m->fourth, err));
  TCT_TRY(tct_mech_release(mech, r, m->fourth, d * d, err));
  for (int64_t j = 0; j < d * d; j++) m->fourth[j] *= cut * cut;
  tct_symmetrise(m->fourth, d);
  return TCT_OK;
}

tct_status tct_moments_release_fourth(const tct_problem *problem, tct_mech *mech, int r, tct_moments *m,
                                      tct_error *err) {
  tct_metric metric = {0};
  tct_status status = whiten(problem, m, &metric, err);
  if (status == TCT_OK) status = sum_fourth(problem, mech, r, &metric, m, err);
  tct_metric_free(&metric);
  return status;
}

tct_status tct_moments_again(tct_moments *m, tct_error *err) {
  spectrum s = {0};
  int64_t square = m->q * m->q;
  m->sum = TCT_NEW(double, square);
  m->kept = TCT_NEW(double, m->shells *square);
  tct_status status = m->sum && m->kept ? spectrum_new(m->q, &s, err) : tct_fail_memory(err);
  if (status == TCT_OK) status = add_shells(&s, m, err);
  tct_free(s.value);
  return status;
}

void tct_moments_noise(const tct_moments *m, const double *r, const double *t, int64_t count, double *noise,
                       double *work) {
  int64_t q = m->q;
  double *r_out = work, *t_out = r_out + q, both = tct_dot(r, t, q);
  memset(noise, 0, (size_t)(count * count) * sizeof *noise);
  for (int k = 0; k < m->shells; k++) {
    const double *kept = m->kept + k * q * q;
    double half = 0.5 * m->noise[k] * m->noise[k];
    for (int64_t i = 0; i < q; i++)
      r_out[i] = r[i] - tct_dot(kept + i * q, r, q), t_out[i] = t[i] - tct_dot(kept + i * q, t, q);
    double out = tct_dot(r_out, t_out, q);
    for (int64_t i = 0; i < count; i++)
      for (int64_t j = 0; j < count; j++)
        noise[i * count + j] +=
            half * ((both - out) * (i == j) + out * kept[i * q + j] + t[i] * r[j] - t_out[i] * r_out[j]);
  }
}
