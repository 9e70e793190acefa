/* test_loss.c - the laws that every loss obeys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/expm.h"
#include "loss/loss.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHAPES = 3 };
static const double grid_labels[] = {-1, 1, -0.3, 2.5}; /* the last two for real labels only */

/* The k-th loss with its default shape, a small one and a large one; 0 if it has no such variant. */
static int variant(int kind, int shape, tct_loss *out) {
  const tct_loss_kind *k = tct_loss_kinds[kind];
  char spec[80];
  if (shape && !k->options) return 0;
  const char *small = k->joint     ? "4"
                      : k->amounts ? "2"
                                   : "0.125",
             *large = k->joint ? "100" : "3"; /* a joint loss's is how many classes */
  snprintf(spec, sizeof spec, shape ? "%s:%s=%s" : "%s", k->name, k->options ? k->options[0].key : "",
           shape == 1 ? small : large);
  assert_int_equal(tct_loss_make(spec, out, NULL), TCT_OK);
  return 1;
}

typedef void (*law)(const tct_loss *l, double y);
static void for_all(law check) {
  tct_loss l;
  for (int kind = 0; kind < tct_loss_kind_count; kind++)
    for (int shape = 0; shape < SHAPES; shape++)
      for (int t = 0; t < 4 && variant(kind, shape, &l); t++)
        if (l.kind->binary ? t < 2 : !tct_loss_from_zero(&l) || grid_labels[t] >= 0) check(&l, grid_labels[t]);
}

static uint64_t random_u64(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static double random_real(uint64_t *state) { return (double)(random_u64(state) >> 11) * 0x1p-52 - 1; }

static double ulps(double a, long double exact) {
  double near = (double)exact, unit = nextafter(fabs(near), INFINITY) - fabs(near);
  return (double)(fabsl((long double)a - exact) / unit);
}

/* ---- value, slope, curve ---------------------------------------------------------------------- */

static void check_derivatives(const tct_loss *l, double y) {
  const double d = 0x1p-14;
  for (double z = -12; z <= 12; z += 0.0371) {
    double left = tct_loss_slope(l, z - d, y), right = tct_loss_slope(l, z + d, y);
    double difference = (tct_loss_value(l, z + d, y) - tct_loss_value(l, z - d, y)) / (2 * d);
    /* A convex function's difference quotient lies between its slopes at the ends. */
    assert_true(difference >= left - 1e-9 && difference <= right + 1e-9);
    assert_true(tct_loss_slope(l, z, y) >= left && tct_loss_slope(l, z, y) <= right);
    assert_true(fabs(right - left) > 0.1 || fabs(tct_loss_slope(l, z, y) - difference) <= 1e-4 * 8 / (l->h ? l->h : 1));
    double before = tct_loss_curve(l, z - d, y), after = tct_loss_curve(l, z + d, y), at = tct_loss_curve(l, z, y);
    if (fabs(before - after) < 1e-3 * (1 + at) && fabs(right - left) < 0.1)
      assert_true(fabs((right - left) / (2 * d) - at) <= 1e-3 * (1 + at));
  }
}
static void slopes_and_curves_are_the_derivatives_of_the_value(void **state) {
  (void)state;
  for_all(check_derivatives);
}

typedef double (*derivative)(const tct_loss *l, double z, double y);

/* The largest size between two points of a grid beside the largest on it: a narrow peak lies between. */
static double peak(derivative f, const tct_loss *l, double y, double at, double apart) {
  double low = at - apart, high = at + apart, top = fabs(f(l, at, y));
  for (int k = 0; k < 60; k++) {
    double left = low + (high - low) / 3, right = high - (high - low) / 3;
    double a = fabs(f(l, left, y)), b = fabs(f(l, right, y));
    top = fmax(top, fmax(a, b));
    *(a < b ? &low : &high) = a < b ? left : right;
  }
  return top;
}

static void check_constants(const tct_loss *l, double y) {
  const double apart = 0.0173;
  double sensitivity = tct_loss_slope_bound(l), bend = l->kind->curvature_bound(l->h), before = NAN;
  double top = 0, at_top = 0, steepest = 0, at_steepest = 0;
  int positive = 0, negative = 0;
  for (double z = -40; z <= 40; z += apart) {
    double slope = tct_loss_slope(l, z, y), curve = tct_loss_curve(l, z, y);
    assert_true(fabs(slope) <= sensitivity);
    assert_true(curve >= 0 && curve <= bend);
    if (!isnan(before)) assert_true(slope - before >= 0 && slope - before <= bend * apart * (1 + 1e-9) + 1e-15);
    before = slope;
    if (fabs(slope) > top) top = fabs(slope), at_top = z;
    if (curve > steepest) steepest = curve, at_steepest = z;
    positive |= slope > 0, negative |= slope < 0;
  }
  top = peak(tct_loss_slope, l, y, at_top, apart), steepest = peak(tct_loss_curve, l, y, at_steepest, apart);
  assert_true(top <= sensitivity && steepest <= bend * (1 + DBL_EPSILON)); /* a curve's own rounding */
  /* The declared constants are the smallest ones; check_joint asks that of a loss of several classes. */
  assert_true(!isfinite(sensitivity) || l->kind->joint || top >= 0.999 * sensitivity);
  assert_true(!isfinite(bend) || l->kind->joint || steepest >= 0.999 * bend);
  if (!(l->kind->follow_up && y < 0)) assert_int_equal(l->kind->one_sign, !(positive && negative));
}
static void declared_bounds_hold_and_are_tight(void **state) {
  (void)state;
  for_all(check_constants);
}

static void check_extremes(const tct_loss *l, double y) {
  const double far[] = {0, 5e-324, 1e-300, 40, 700, 745, 746, 800, 1e10, 1e150, 1e300};
  for (size_t k = 0; k < 2 * sizeof far / sizeof *far; k++) {
    double z = k % 2 ? -far[k / 2] : far[k / 2];
    assert_false(isnan(tct_loss_value(l, z, y)) || tct_loss_value(l, z, y) < 0);
    assert_true(isfinite(tct_loss_slope(l, z, y)) && isfinite(tct_loss_curve(l, z, y)));
    if (l->kind->binary) assert_true(isfinite(tct_loss_value(l, z, y)));
  }
}
/* What a loss declares beside its functions: other folders ask for these facts, never for its name. */
static void check_facts(const tct_loss *l, double y) {
  const tct_loss_kind *k = l->kind;
  assert_false(k->binary && k->counts);
  assert_true(!k->dual_step || k->conjugate);
  assert_int_equal(k->least_squares,
                   k->link == TCT_LINK_IDENTITY && k->curvature_bound(l->h) == 1 && tct_loss_curve(l, 1e3, y) == 1);
  for (double z = -20; z <= 20; z += 0.37) {
    double within = k->slope_bound_within ? k->slope_bound_within(fabs(z), l->h) : tct_loss_slope_bound(l);
    assert_true(fabs(tct_loss_slope(l, z, y)) <= within * (1 + 1e-15));
    /* At the log-odds of a label the mean slope over both labels is 0. */
    double q = 1 / (1 + exp(-z));
    if (k->link == TCT_LINK_LOGISTIC)
      assert_true(fabs(q * tct_loss_slope(l, z, 1) + (1 - q) * tct_loss_slope(l, z, -1)) <= 1e-15);
  }
  if (k->link == TCT_LINK_IDENTITY) assert_true(tct_loss_slope(l, y, y) == 0);
  if (k->link == TCT_LINK_LOG) assert_true(fabs(tct_loss_slope(l, 0, 1)) <= 1e-15);
}
static void declared_facts_are_those_of_its_functions(void **state) {
  (void)state;
  for_all(check_facts);
}

static void nothing_overflows_at_margins_of_1e300(void **state) {
  (void)state;
  for_all(check_extremes);
  tct_loss l;
  assert_int_equal(tct_loss_make("logistic", &l, NULL), TCT_OK);
  assert_true(tct_loss_value(&l, 1e300, -1) == 1e300 && tct_loss_value(&l, 1e300, 1) == 0);
  assert_true(tct_loss_slope(&l, 1e300, -1) == 1 && tct_loss_slope(&l, 1e300, 1) == 0);
}

/* ---- losses of several classes ------------------------------------------------------------------ */

enum { MOST_CLASSES = 100 };

static double joint_at(const tct_loss *l, const double *z, int64_t y, double *slope) {
  memcpy(slope, z, (size_t)tct_loss_outputs(l) * sizeof *z);
  return l->kind->joint(slope, tct_loss_outputs(l), y);
}

static double norm_of(const double *v, int64_t count) {
  double sum = 0;
  for (int64_t k = 0; k < count; k++) sum += v[k] * v[k];
  return sqrt(sum);
}

/* Margins of two kinds: any, and such that one class or two have all the probability, where the bounds are reached. */
static void draw_margins(double *z, int64_t classes, int trial, uint64_t *seed) {
  for (int64_t k = 0; k < classes; k++) z[k] = 4 * random_real(seed) - (trial % 2 ? 60 : 0);
  if (trial % 2) z[trial % classes] = 5;
  if (trial % 4 == 1) z[(trial + 1) % classes] = 5;
}

/* The slopes are the value's derivatives, and the slopes' own quotient along the direction is within the curvature. */
static double check_direction(const tct_loss *l, const double *z, int64_t y, const double *v) {
  enum { N = MOST_CLASSES };
  const double d = 0x1p-12;
  int64_t classes = tct_loss_outputs(l);
  double there[N], back[N], slope[N], up[N], down[N], along = 0, bend = 0;
  for (int64_t k = 0; k < classes; k++) there[k] = z[k] + d * v[k], back[k] = z[k] - d * v[k];
  double value = joint_at(l, z, y, slope), rise = joint_at(l, there, y, up) - joint_at(l, back, y, down);
  for (int64_t k = 0; k < classes; k++) along += slope[k] * v[k], bend += (up[k] - down[k]) / (2 * d) * v[k];
  double length = norm_of(v, classes), most = l->kind->curvature_bound(l->h) * length * length;
  assert_true(value >= 0 && fabs(rise / (2 * d) - along) <= 1e-6 * (1 + length * length * length));
  assert_true(bend >= -1e-9 && bend <= most * (1 + 1e-6));
  return bend / most;
}

static void check_joint(const tct_loss *l) {
  int64_t classes = tct_loss_outputs(l);
  double longest = 0, steepest = 0, z[MOST_CLASSES], v[MOST_CLASSES], slope[MOST_CLASSES];
  uint64_t seed = 44;
  for (int trial = 0; trial < 4000; trial++) {
    int64_t y = trial / 3 % classes;
    draw_margins(z, classes, trial, &seed);
    joint_at(l, z, y, slope);
    for (int64_t k = 0; k < classes; k++) v[k] = trial % 4 == 1 ? 0 : random_real(&seed);
    if (trial % 4 == 1) v[trial % classes] = 1, v[(trial + 1) % classes] = -1;
    longest = fmax(longest, norm_of(slope, classes));
    steepest = fmax(steepest, check_direction(l, z, y, v));
  }
  assert_true(longest <= tct_loss_slope_bound(l) && longest >= 0.999 * tct_loss_slope_bound(l));
  assert_true(steepest >= 0.999);
}

static void check_joint_extremes(const tct_loss *l) {
  static const double far[] = {1e300, -1e300, 745, -800, 5e-324, DBL_MAX, -DBL_MAX};
  int64_t classes = tct_loss_outputs(l);
  double z[MOST_CLASSES], slope[MOST_CLASSES];
  for (int k = 0; k < 49; k++) {
    for (int64_t j = 0; j < classes; j++) z[j] = far[(j ? j + k / 7 : k) % 7];
    assert_true(joint_at(l, z, k % classes, slope) >= 0);
    for (int64_t j = 0; j < classes; j++) assert_true(fabs(slope[j]) <= 1);
  }
  for (int k = 0; k < 3; k++) { /* a margin that is no number gives none: tct_gradient_lattice drops such a record */
    z[k] = k ? copysign(INFINITY, k - 1.5) : NAN;
    joint_at(l, z, 1, slope);
    for (int64_t j = 0; j < classes && k != 1; j++) assert_true(isnan(slope[j]));
    z[k] = 0;
  }
}

static void a_joint_loss_has_slopes_and_bounds_in_all_margins_at_once(void **state) {
  (void)state;
  tct_loss l;
  int met = 0;
  for (int kind = 0; kind < tct_loss_kind_count; kind++)
    for (int shape = 0; shape < SHAPES && tct_loss_kinds[kind]->joint; shape++, met++) {
      assert_int_equal(variant(kind, shape, &l), 1);
      assert_true(tct_loss_outputs(&l) == l.h && l.h >= 3 && l.h <= MOST_CLASSES);
      check_joint(&l);
      check_joint_extremes(&l);
    }
  assert_true(met >= SHAPES);
}

/* ---- conjugate -------------------------------------------------------------------------------- */

/* A score of a choice counts on it, and so does the ball that holds a minimiser. */
static void check_floor(const tct_loss *l, double y) {
  static const double sizes[] = {0, 1e-300, 1e-9, 0.3, 1, 3, 40, 1e6, 1e300};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (int sign = -1; sign <= 1; sign += 2) {
      double z = sign * sizes[k], value;
      l->kind->values(&z, &y, l->h, &value, 1);
      assert_true(value >= 0 && tct_loss_value(l, z, y) >= 0);
    }
}

static void no_loss_is_below_zero(void **state) {
  (void)state;
  for_all(check_floor);
}

static void check_conjugate(const tct_loss *l, double y) {
  if (!l->kind->conjugate) return;
  for (double a = -4.05; a <= 4.05; a += 0.1) {
    double claimed = l->kind->conjugate(a, y, l->h), best = -INFINITY, at = 0;
    const double ends[] = {-1e6, 1e6};
    for (double z = -60; z <= 60; z += 0.01)
      if (-a * z - tct_loss_value(l, z, y) > best) best = -a * z - tct_loss_value(l, z, y), at = z;
    for (int e = 0; e < 2; e++) best = fmax(best, -a * ends[e] - tct_loss_value(l, ends[e], y));
    if (isfinite(claimed)) {
      assert_true(best <= claimed + 1e-9);
      assert_true(best >= claimed - 1e-4 * (1 + 1 / (l->h ? l->h : 1)));
    } else {
      assert_true(best > 1e3 && fabs(at) > 59); /* unbounded: it grows without end */
    }
  }
}
static void conjugates_are_suprema(void **state) {
  (void)state;
  for_all(check_conjugate);
}

static void check_fenchel_young(const tct_loss *l, double y) {
  if (!l->kind->conjugate) return;
  for (double z = -30; z <= 30; z += 0.093) {
    double slope = tct_loss_slope(l, z, y), value = tct_loss_value(l, z, y);
    double dual = l->kind->conjugate(-slope, y, l->h);
    assert_true(fabs(value + dual - slope * z) <= 1e-12 * (1 + fabs(slope * z) + value));
  }
}
static void fenchel_young_is_an_equality_at_the_slope(void **state) {
  (void)state;
  for_all(check_fenchel_young);
}

/* ---- dual steps ------------------------------------------------------------------------------- */

static double dual_objective(const tct_loss *l, double alpha, double u, double s, double y, double zeta) {
  return l->kind->conjugate(alpha + zeta, y, l->h) + u * zeta + 0.5 * s * zeta * zeta;
}

/* Golden-section search for the minimum over zeta in [low, high]. */
static double golden(const tct_loss *l, double alpha, double u, double s, double y, double low, double high) {
  const double ratio = 0.6180339887498949;
  for (int k = 0; k < 90; k++) {
    double a = high - ratio * (high - low), b = low + ratio * (high - low);
    if (dual_objective(l, alpha, u, s, y, a) <= dual_objective(l, alpha, u, s, y, b))
      high = b;
    else
      low = a;
  }
  return 0.5 * (low + high);
}

/* Ends of the dual domain as multiples of the label (binary) or as they are. */
static void domain(const tct_loss *l, double y, double *low, double *high) {
  double sensitivity = fmin(tct_loss_slope_bound(l), 1e3);
  *low = l->kind->binary ? fmin(0, y) : -sensitivity;
  *high = l->kind->binary ? fmax(0, y) : sensitivity;
}

static void check_dual_step(const tct_loss *l, double y) {
  if (!l->kind->dual_step) return;
  const double curvatures[] = {0, 1e-8, 0.3, 1, 25, 1e6};
  uint64_t seed = 41;
  double low, high;
  domain(l, y, &low, &high);
  for (int trial = 0; trial < 600; trial++) {
    double s = curvatures[trial % 6], alpha = low + (high - low) * 0.5 * (1 + random_real(&seed));
    double u = random_real(&seed) * (trial % 4 ? 3 : 30);
    if (trial % 7 == 0) alpha = trial % 2 ? low : high;
    double zeta = l->kind->dual_step(alpha, u, s, y, l->h, 200);
    assert_true(alpha + zeta >= low && alpha + zeta <= high);
    double best = golden(l, alpha, u, s, y, low - alpha, high - alpha);
    double found = dual_objective(l, alpha, u, s, y, zeta), reference = dual_objective(l, alpha, u, s, y, best);
    assert_true(found <= reference + 1e-10 * (1 + fabs(reference) + fabs(alpha * u)));
    /* Where the objective is strongly convex the step itself is pinned, to the search's square root of rounding. */
    if (s >= 0.3) assert_true(fabs(zeta - best) <= 1e-7 * sqrt(1 + fabs(reference) + fabs(alpha * u)));
  }
}
static void dual_steps_are_minimisers(void **state) {
  (void)state;
  for_all(check_dual_step);
}

static void check_dual_extremes(const tct_loss *l, double y) {
  if (!l->kind->dual_step) return;
  const double far[] = {0, 1e-300, 1, 40, 1e9, 1e300};
  double low, high;
  domain(l, y, &low, &high);
  if (!l->kind->binary && !isfinite(tct_loss_slope_bound(l))) low = -INFINITY, high = INFINITY;
  const double starts[] = {0, low, high, 0.4 * y, -5 * y, 7 * y, 1e-18 * y, (1 - 1e-16) * y};
  for (int a = 0; a < 6; a++)
    for (int b = 0; b < 12; b++)
      for (int c = 0; c < 8; c++)
        for (int newton = 1; newton <= 100; newton += 33) {
          double u = b % 2 ? -far[b / 2] : far[b / 2], alpha = starts[c];
          if (!isfinite(alpha)) continue;
          double zeta = l->kind->dual_step(alpha, u, far[a], y, l->h, newton);
          assert_true(isfinite(zeta));
          assert_true(alpha + zeta >= low - 1e-15 * fabs(alpha) && alpha + zeta <= high + 1e-15 * fabs(alpha));
        }
  assert_true(isfinite(l->kind->conjugate(0, y, l->h)));
}
static void dual_steps_stay_in_the_domain_from_anywhere(void **state) {
  (void)state;
  for_all(check_dual_extremes);
}

static void a_flat_hinge_step_stays_where_it_is(void **state) {
  (void)state;
  tct_loss l;
  assert_int_equal(tct_loss_make("hinge", &l, NULL), TCT_OK);
  assert_true(l.kind->dual_step(0.25, 1, 0, 1, 0, 1) == 0 && l.kind->dual_step(-0.25, -1, 0, -1, 0, 1) == 0);
}

static void one_newton_step_of_the_logistic_is_the_papers(void **state) {
  (void)state;
  tct_loss l;
  assert_int_equal(tct_loss_make("logistic", &l, NULL), TCT_OK);
  uint64_t seed = 42;
  for (int trial = 0; trial < 2000; trial++) {
    double y = trial % 2 ? 1 : -1, b = 0.5 + 0.45 * random_real(&seed), u = random_real(&seed), s = 4 + trial % 5;
    double expected = b - (log(b / (1 - b)) + y * u) / (1 / (b * (1 - b)) + s);
    if (expected < 1e-6 || expected > 1 - 1e-6) continue;
    assert_true(fabs(l.kind->dual_step(y * b, u, s, y, 0, 1) - y * (expected - b)) <= 1e-13);
  }
}

static void converged_logistic_steps_solve_their_equation_near_the_ends(void **state) {
  (void)state;
  tct_loss l;
  assert_int_equal(tct_loss_make("logistic", &l, NULL), TCT_OK);
  const double starts[] = {0, 1e-15, 1e-9, 1e-3, 0.5, 0.999, 1 - 1e-9, 1};
  for (int k = 0; k < 8; k++)
    for (double u = -30; u <= 30; u += 0.77)
      for (double s = 1e-6; s < 1e7; s *= 10) {
        double b0 = fmin(fmax(starts[k], 0x1p-50), 1 - 0x1p-50),
               b = starts[k] + l.kind->dual_step(starts[k], u, s, 1, 0, 100);
        double f = log(b) - log1p(-b) + u + s * (b - b0), flat = 1 / (b * (1 - b)) + s;
        if (b > 0x1p-49 && b < 1 - 0x1p-49) assert_true(fabs(f / flat) <= 4e-16); /* within rounding of the zero */
      }
}

/* ---- loops ------------------------------------------------------------------------------------ */

static void check_loops(const tct_loss *l, double y) {
  enum { N = 1003 };
  double z[N], labels[N], out[N + 1];
  uint64_t seed = 43;
  for (int i = 0; i < N; i++) {
    z[i] = random_real(&seed) * pow(10, (double)(random_u64(&seed) % 6));
    if (i % 50 == 0) z[i] = copysign(1e300, z[i]);
    if (i % 50 == 1) z[i] = copysign(700 + (double)(i % 60), z[i]);
    labels[i] = l->kind->binary && i % 3 ? -y : y;
  }
  for (int64_t n = 0; n <= N; n = n < 20 ? n + 1 : n + 983) {
    out[n] = 77;
    l->kind->slopes(z, labels, l->h, out, n);
    assert_true(out[n] == 77);
    /* The scalar slope is compiled for the baseline processor, the loop for this one: the same bits, or +0 and -0. */
    for (int64_t i = 0; i < n; i++) assert_true(out[i] == tct_loss_slope(l, z[i], labels[i]));
    long double total = 0;
    for (int64_t i = 0; i < n; i++) z[i] = fmod(z[i], 1e6), total += tct_loss_value(l, z[i], labels[i]);
    assert_true(fabs((double)((long double)l->kind->sum(z, labels, l->h, n) - total)) <= 1e-12 * (double)total);
  }
}
static void vector_slopes_have_the_bits_of_the_scalar_ones_and_sums_agree(void **state) {
  (void)state;
  for_all(check_loops);
}

static void the_exponential_is_within_two_ulp_over_its_whole_range(void **state) {
  (void)state;
  double worst = 0;
  for (double x = -745.1; x < 709.78; x += 0.000731) worst = fmax(worst, ulps(tct_exp(x), expl((long double)x)));
  for (double x = 1; x > 1e-320; x *= 0.93) {
    worst = fmax(worst, ulps(tct_exp(x), expl((long double)x)));
    worst = fmax(worst, ulps(tct_exp(-x), expl((long double)-x)));
  }
  assert_true(worst <= 2);
  assert_true(tct_exp(0) == 1 && tct_exp(-1e300) == 0 && tct_exp(-INFINITY) == 0 && tct_exp(-746) == 0);
  assert_true(isinf(tct_exp(710)) && isinf(tct_exp(1e300)) && isinf(tct_exp(INFINITY)) && isnan(tct_exp(NAN)));
}

static void the_logarithm_is_within_three_ulp_on_the_unit_interval(void **state) {
  (void)state;
  double worst = 0;
  for (double e = 0; e <= 1; e += 1.37e-6) worst = fmax(worst, ulps(tct_log1p_unit(e), log1pl((long double)e)));
  for (double e = 1; e > 1e-305; e *= 0.97) worst = fmax(worst, ulps(tct_log1p_unit(e), log1pl((long double)e)));
  assert_true(worst <= 3);
  assert_true(tct_log1p_unit(0) == 0);
}

static void the_full_logarithm_is_within_two_ulp(void **state) {
  (void)state;
  double worst = 0;
  for (double x = 2.3e-308; x < 1.7e308; x *= 1.00337) worst = fmax(worst, ulps(tct_log(x), logl((long double)x)));
  for (double x = 0.3; x <= 3; x += 1.93e-6) worst = fmax(worst, ulps(tct_log(x), logl((long double)x)));
  for (double e = 0.3; e > 1e-16; e *= 0.97) {
    worst = fmax(worst, ulps(tct_log(1 + e), logl(1 + e)));
    worst = fmax(worst, ulps(tct_log(1 - e), logl(1 - e)));
  }
  if (worst > 2) fail_msg("log errs by %g units in the last place", worst);
  assert_true(tct_log(1) == 0);
}

static void logistic_values_and_slopes_are_within_six_ulp(void **state) {
  (void)state;
  tct_loss l;
  assert_int_equal(tct_loss_make("logistic", &l, NULL), TCT_OK);
  for (double z = -740; z < 740; z += 0.0117) {
    long double e = expl(-(long double)z);
    assert_true(ulps(tct_loss_value(&l, z, 1), log1pl(e)) <= 6);
    assert_true(ulps(tct_loss_slope(&l, z, 1), -e / (1 + e)) <= 6);
  }
}

/* ---- specs ------------------------------------------------------------------------------------ */

static void wrong_specs_are_refused_and_the_right_names_listed(void **state) {
  (void)state;
  tct_loss l;
  tct_error err;
  assert_int_equal(tct_loss_make("cubic", &l, &err), TCT_E_USAGE);
  for (int k = 0; k < tct_loss_kind_count; k++) assert_non_null(strstr(err.text, tct_loss_kinds[k]->name));
  assert_int_equal(tct_loss_make("hinge:width=1", &l, &err), TCT_E_USAGE);
  assert_int_equal(tct_loss_make("huber:width=0", &l, &err), TCT_E_USAGE);
  assert_int_equal(tct_loss_make(NULL, &l, &err), TCT_E_USAGE);
  assert_int_equal(tct_loss_make("huber:width=2", &l, &err), TCT_OK);
  assert_true(l.h == 2 && tct_loss_slope_bound(&l) == 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slopes_and_curves_are_the_derivatives_of_the_value),
      cmocka_unit_test(declared_bounds_hold_and_are_tight),
      cmocka_unit_test(declared_facts_are_those_of_its_functions),
      cmocka_unit_test(nothing_overflows_at_margins_of_1e300),
      cmocka_unit_test(no_loss_is_below_zero),
      cmocka_unit_test(a_joint_loss_has_slopes_and_bounds_in_all_margins_at_once),
      cmocka_unit_test(conjugates_are_suprema),
      cmocka_unit_test(fenchel_young_is_an_equality_at_the_slope),
      cmocka_unit_test(dual_steps_are_minimisers),
      cmocka_unit_test(dual_steps_stay_in_the_domain_from_anywhere),
      cmocka_unit_test(a_flat_hinge_step_stays_where_it_is),
      cmocka_unit_test(one_newton_step_of_the_logistic_is_the_papers),
      cmocka_unit_test(converged_logistic_steps_solve_their_equation_near_the_ends),
      cmocka_unit_test(vector_slopes_have_the_bits_of_the_scalar_ones_and_sums_agree),
      cmocka_unit_test(the_exponential_is_within_two_ulp_over_its_whole_range),
      cmocka_unit_test(the_logarithm_is_within_three_ulp_on_the_unit_interval),
      cmocka_unit_test(the_full_logarithm_is_within_two_ulp),
      cmocka_unit_test(logistic_values_and_slopes_are_within_six_ulp),
      cmocka_unit_test(wrong_specs_are_refused_and_the_right_names_listed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
