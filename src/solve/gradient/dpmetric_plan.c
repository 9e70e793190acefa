/* dpmetric_plan.c - options, rules and promise of dpmetric. */
#include "solve/gradient/dpmetric.h"

#include "solve/gradient/gradient_release.h"
#include "solve/gradient/rules.def"
#include "solve/shared/quantile.h"

#include <string.h>

const tct_option tct_dpmetric_options[] = {
    {"shape", TCT_OPT_CHOICE, "auto", 0, 0, "auto|full|diagonal",
     "the metric: a full matrix, or one scale a column; auto: full up to 512 features"},
    {"norms", TCT_OPT_REAL, "auto", 0, 0.5, NULL,
     "part of the budget (of mu^2) for counts of the rows' norms; 0: the metric's rows are cut to R; auto: from n and "
     "mu"},
    {"start", TCT_OPT_REAL, "auto", 0, 0.9, NULL,
     "part of the budget (of mu^2) for sums of labels, from which the intercept starts; auto: from n and mu"},
    {"slopes", TCT_OPT_REAL, "auto", 0, 0.5, NULL,
     "part for counts of slopes where labels are numbers; 0: clips are measured by the bound; auto: from n and mu"},
    {"budget_fraction", TCT_OPT_REAL, "0.05", 1e-4, 0.4, NULL,
     "part of the budget (of mu^2) for the metric's first release"},
    {"second", TCT_OPT_REAL, "0.05", 0, 0.4, NULL, "part of the budget (of mu^2) for its second release; 0: none"},
    {"clip", TCT_OPT_REAL, "auto", 1e-9, 1e9, NULL,
     "c: the clip is c * slope * sqrt(d/h) in the metric; auto: from the released spectrum"},
    {"path_length", TCT_OPT_REAL, "auto", 1e-3, 1e9, NULL,
     "length of the path in steps of one over the curvature; auto: from the released spectrum"},
    {"steps", TCT_OPT_COUNT, "auto", 1, 100000, NULL,
     "T releases of gradients, several of one pass where the path is short; auto: 74, or 4 sqrt(path_length) where "
     "that is given"},
    {"average", TCT_OPT_REAL, "0.7", 1e-9, 1, NULL, "the last part of the path that the result averages"},
    {0},
};

enum { FULL = 512, MOST_FULL = 2048, STEPS = 74, FREE_PATH = 2000 };
static const double LONGEST = STEPS * (double)STEPS / 16, LEAST_LEFT = 0.1;

double tct_dpmetric_slope(const tct_facts *facts) {
  double slope = tct_loss_slope_bound(&facts->loss);
  return isfinite(slope) ? slope : facts->label_bound;
}

double tct_dpmetric_curvature(const tct_facts *facts) {
  double h = facts->loss.kind->curvature_bound(facts->loss.h);
  return isfinite(h) ? h : 1;
}

double tct_dpmetric_left(const tct_dpmetric_rule *rule) {
  return 1 - rule->norms - rule->start - rule->slopes - rule->budget_fraction - rule->second;
}

/* The signal of one class is a root of K - 1 below that of the table. */
static double class_signal(const tct_facts *facts, double signal_to_noise) {
  return signal_to_noise / sqrt(fmax((double)tct_loss_outputs(&facts->loss) - 1, 1));
}

static bool kinked(const tct_facts *facts) { return !isfinite(facts->loss.kind->curvature_bound(facts->loss.h)); }

/* Whether a clip looks at either label (clipped.h), which biases little: a hinge's slope is 1 or nothing already. */
static bool by_either_label(const tct_facts *facts) {
  const tct_loss_kind *kind = facts->loss.kind;
  return kind->binary && !kind->joint && (kind->link == TCT_LINK_LOGISTIC || kinked(facts));
}

/* With few columns some records lie far outside, and noise costs less than a clip that cuts them.  Copies and
 * constants are no columns: their number counts half, that of the directions known half.  By either label less of it
 * costs less noise. */
double tct_dpmetric_clip(const tct_facts *facts, double signal_to_noise, double dimension) {
  double columns = sqrt((double)facts->p / (double)tct_loss_outputs(&facts->loss) * dimension);
  if (signal_to_noise == INFINITY) return 1e6;
  return dpmetric_clip * (1 + dpmetric_clip_columns / columns) *
         pow(class_signal(facts, signal_to_noise), by_either_label(facts) ? dpmetric_either_power : 0.5);
}

/* Curvature at the start over its bound: where one of two classes is rare, nothing calls noise back for long. */
static double bend_of(const tct_facts *facts, const tct_dpmetric_shape *shape) {
  const tct_loss *loss = &facts->loss;
  bool logistic = loss->kind->link == TCT_LINK_LOGISTIC && !loss->kind->joint;
  return logistic && shape->origin ? loss->kind->curve(shape->origin[0], 1, loss->h) / tct_dpmetric_curvature(facts)
                                   : 1;
}

/* What the path's own noise costs: that of all gradients' mean, in the metric. */
static double cost_of(const tct_facts *facts, const tct_dpmetric_shape *shape, double noise, double length) {
  int64_t classes = tct_loss_outputs(&facts->loss);
  double sum = 0, bend = bend_of(facts, shape);
  for (int64_t j = 0; j < facts->p / classes; j++) {
    double t = bend * shape->spectrum[j];
    sum += t * pow(length / (1 + t * length), 2);
  }
  return 0.25 * (double)classes * noise * noise * sum;
}

/* No longer than where its noise costs a part of what the constant loses: where that is little, nothing is learned.
 * A kink's curvature counts as 1 and is less, so that such a path is as long as its noise allows.
 * Counts: and than where half of what it adds to the variance of margins, which lifts the mean of e^margin by as much,
 * is that part. */
double tct_dpmetric_path_length(const tct_facts *facts, const tct_dpmetric_shape *shape, double noise) {
  if (shape->signal_to_noise == INFINITY) return FREE_PATH;
  double signal = class_signal(facts, shape->signal_to_noise);
  double high = kinked(facts) ? LONGEST : fmin(dpmetric_length_per_root * sqrt(signal), LONGEST);
  double most = dpmetric_path_cost * shape->constant, low = 0;
  if (facts->loss.kind->counts)
    high = fmin(high, dpmetric_path_cost * shape->curvature / (shape->dimension * noise * noise));
  if (cost_of(facts, shape, noise, high) <= most) return high;
  while (high - low > 1e-6 * high) {
    double middle = 0.5 * (low + high);
    *(cost_of(facts, shape, noise, middle) > most ? &high : &low) = middle;
  }
  return high;
}

/* Wider where the signal allows it, as a cut biases and noise does not.  What a known direction has there is 1, and the
 * edge of the noise is cut/gain.  Where the ridge would be more than 1 the release is all ridge: at little signal, and
 * at so much that the cut is mostly noise. */
double tct_dpmetric_cut(double signal_to_noise, double part, int64_t p) {
  double gain = signal_to_noise * sqrt(part / (2 * (double)p));
  double cut = pow(fmax(dpmetric_images_ridge, gain / dpmetric_image_cut_gain), 2);
  return gain > dpmetric_images_ridge * cut ? cut : 0; /* without noise both are infinite */
}

double tct_dpmetric_counts_part(const tct_facts *facts, double exact) {
  double total = tct_descent_signal(facts) * sqrt((double)facts->p); /* n mu */
  double root = exact * 4 * sqrt(TCT_QUANTILE_EDGES) / dpmetric_within * (1 + 0x1p-20) / total;
  return root * root;
}

/* No less than one step's. */
static double part_of(const tct_facts *facts, double given, double exact, double most) {
  return isnan(given) ? fmin(fmax(tct_dpmetric_counts_part(facts, exact), 1.0 / STEPS), most) : given;
}

/* Counts of norms get next to nothing where they need more than twice what steps keep.  Sums may have twice the noise.
 * A class that is rare asks for less noise in the start, and no public fact says that it is. */
static void share_out(const tct_facts *facts, double norms, double start, double slopes, tct_dpmetric_rule *rule) {
  rule->norms = part_of(facts, norms, 1, 1);
  if (isnan(norms) && rule->norms > 2 * LEAST_LEFT) rule->norms = 1.0 / STEPS;
  if (!facts->loss.kind->binary) rule->slopes = part_of(facts, slopes, 0.5, 2 * LEAST_LEFT);
  if (facts->intercept) /* of counts two numbers share a record's length */
    rule->start = part_of(facts, start, facts->loss.kind->counts ? M_SQRT1_2 : 0.5,
                          fmax(tct_dpmetric_left(rule) - LEAST_LEFT * (1 + 0x1p-20), 0));
}

static int64_t steps_of(const tct_facts *facts, double path_length) {
  double longest = tct_noise_off(facts) ? FREE_PATH : LONGEST;
  return (int64_t)ceil(4 * sqrt(fmax(isnan(path_length) ? longest : path_length, 4)));
}

tct_dpmetric_rule tct_dpmetric_rule_of(const tct_facts *facts, const tct_spec *spec) {
  const tct_option *options = tct_dpmetric_options;
  tct_dpmetric_rule rule = {0};
  rule.budget_fraction = tct_spec_real(spec, options, "budget_fraction");
  rule.second = tct_spec_real(spec, options, "second");
  share_out(facts, tct_spec_real(spec, options, "norms"), tct_spec_real(spec, options, "start"),
            tct_spec_real(spec, options, "slopes"), &rule);
  rule.clip = tct_spec_real(spec, options, "clip");
  rule.path_length = tct_spec_real(spec, options, "path_length");
  rule.average = tct_spec_real(spec, options, "average");
  rule.diagonal = tct_spec_is(spec, options, "shape", "diagonal") ||
                  (tct_spec_is(spec, options, "shape", "auto") && facts->p / tct_loss_outputs(&facts->loss) > FULL);
  rule.steps = tct_spec_auto(spec, options, "steps") ? steps_of(facts, rule.path_length)
                                                     : tct_spec_count(spec, options, "steps");
  return rule;
}

tct_dpmetric_places tct_dpmetric_places_of(const tct_dpmetric_rule *rule) {
  tct_dpmetric_places at = {.norms = 0, .slopes = rule->norms + rule->start > 0 ? 1 : 0};
  at.first = at.slopes + (rule->slopes > 0 ? 1 : 0);
  at.second = at.first + (rule->budget_fraction > 0 ? 1 : 0);
  at.steps = at.second + (rule->second > 0 ? 1 : 0);
  return at;
}

typedef struct making {
  const tct_facts *facts;
  const tct_dpmetric_rule *rule;
} making;

/* A sum of terms of length 1 without negative inner products (dpmetric_factor.c), from `part` of the budget. */
static tct_status add_part(const making *m, const char *what, double x, double part, tct_promise *out, tct_error *err) {
  double sensitivity = m->facts->neighbours == TCT_REPLACE_ONE ? M_SQRT1_2 : 1;
  if (!(part > 0)) return TCT_OK;
  tct_event event = tct_event_gaussian(x / sqrt(part), 1);
  return tct_promise_add(out, tct_release_sum(what, event, 1, sensitivity, 2 * m->facts->rows), err);
}

static tct_status make(double x, void *user, tct_promise *out, tct_error *err) {
  const making *m = user;
  const tct_dpmetric_rule *rule = m->rule;
  double left = tct_dpmetric_left(rule);
  TCT_TRY(add_part(m, "counts of the rows' norms, sums of labels", x, rule->norms + rule->start, out, err));
  TCT_TRY(add_part(m, "counts of slopes at the start", x, rule->slopes, out, err));
  TCT_TRY(add_part(m, "sum of x x^T", x, rule->budget_fraction, out, err));
  TCT_TRY(add_part(m, "sum of x x^T in the metric, or again", x, rule->second, out, err));
  tct_event event = tct_event_gaussian(x * sqrt((double)rule->steps / left), rule->steps);
  tct_release steps = tct_release_sum("sum of gradients clipped in the metric", event, 1, 1, m->facts->rows);
  steps.whole = true; /* W S is made of the sum S over all ranks */
  return tct_promise_add(out, steps, err);
}

static tct_status promise(const tct_facts *facts, const tct_dpmetric_rule *rule, tct_solver_plan *out, tct_error *err) {
  static const tct_budget budget = {.direction = TCT_SMALLEST, .low = 1e-3, .high = 1e9, .tolerance = 1e-8};
  making m = {facts, rule};
  double x = 0;
  out->noise_multiplier = NAN;
  return tct_budget_fit(facts, &budget, make, &m, out, &x, err);
}

static tct_status check(const tct_facts *facts, const tct_dpmetric_rule *rule, tct_error *err) {
  if (!facts->penalty.kind->quadratic)
    return tct_fail(err, TCT_E_USAGE, "dpmetric knows the penalties none and l2; choose one of them, or dpgd");
  if (!rule->diagonal && facts->p / tct_loss_outputs(&facts->loss) > MOST_FULL)
    return tct_fail(err, TCT_E_USAGE,
                    "a full metric holds matrices of features squared, at most %d features; "
                    "use shape=diagonal",
                    MOST_FULL);
  if (!(tct_dpmetric_left(rule) >= LEAST_LEFT))
    return tct_fail(
        err, TCT_E_USAGE,
        "norms, start, slopes, budget_fraction and second are more than 0.9 together; leave more for the path");
  return TCT_OK;
}

tct_status tct_dpmetric_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  TCT_TRY(tct_plan_begin(facts, given, tct_dpmetric_options, out, err));
  TCT_TRY(tct_plan_need_bounds(facts, "dpmetric", err));
  tct_dpmetric_rule rule = tct_dpmetric_rule_of(facts, &out->spec);
  TCT_TRY(check(facts, &rule, err));
  TCT_TRY(tct_spec_set_real(&out->spec, "steps", (double)rule.steps, err));
  TCT_TRY(tct_spec_set_real(&out->spec, "norms", rule.norms, err));
  TCT_TRY(tct_spec_set_real(&out->spec, "start", rule.start, err));
  TCT_TRY(tct_spec_set_real(&out->spec, "slopes", rule.slopes, err));
  return promise(facts, &rule, out, err);
}
