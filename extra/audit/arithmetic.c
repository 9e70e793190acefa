/* arithmetic.c - the accountants against one another and against closed forms, around the plan's own numbers. */
#include "audit/audit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct sums {
  tct_audit *a;
  json_t *checks;
  const char *events[TCT_AUDIT_RELEASES * 4];
  size_t count;
  tct_neighbours neighbours;
} sums;

static void check(sums *s, const char *name, bool ok, const char *format, double x, double y) {
  char text[160];
  snprintf(text, sizeof text, format, x, y);
  json_array_append_new(s->checks, json_pack("{s:s, s:b, s:s}", "name", name, "ok", ok, "text", text));
  if (!ok) tct_audit_break(s->a, "arithmetic: %s: %s", name, text);
}

static json_t *account(const char *const *events, size_t count, tct_neighbours neighbours, double delta) {
  char *text = tct_account_json(events, count, neighbours, delta, NULL);
  json_t *root = text ? json_loads(text, 0, NULL) : NULL;
  tct_text_free(text);
  return root;
}

/* INFINITY where the answer has none. */
static double field(const json_t *root, const char *key) {
  const json_t *value = json_object_get(root, key);
  return json_is_number(value) ? json_number_value(value) : INFINITY;
}

/* An accountant that is asked here works more coarsely than the plan did, upward: so much more may it say.  The plan's
 * own precision is that of tct_verify_json, which the audit asks as well. */
static const double COARSER = 2e-3;

/* ---- the claim ----------------------------------------------------------------------------------------------------
 */

static void claim(sums *s) {
  double delta = s->a->delta, epsilon = s->a->epsilon;
  json_t *root = account(s->events, s->count, s->neighbours, delta);
  double cost = field(root, "epsilon"), lower = field(root, "epsilon_lower");
  check(s, "the plan's events cost no more than its claim", cost <= epsilon * (1 + COARSER), "%.12g against %.12g",
        cost, epsilon);
  check(s, "the lower bound on the cost is below the claim", lower <= epsilon * (1 + 1e-9), "%.12g against %.12g",
        lower, epsilon);
  const char *name;
  json_t *value;
  json_object_foreach(json_object_get(root, "accountants"), name, value) {
    if (!json_is_number(value)) continue;
    char line[100];
    snprintf(line, sizeof line, "%s is not below the lower bound", name);
    check(s, line, json_number_value(value) >= lower * (1 - 1e-9), "%.12g against %.12g", json_number_value(value),
          lower);
  }
  json_decref(root);
}

/* The deltas around the plan's: more delta costs no more epsilon, and all bounds hold there too. */
static void around(sums *s) {
  double delta = s->a->delta, before = INFINITY;
  if (!(delta > 0)) return;
  for (int k = -2; k <= 2; k++) {
    double at = delta * pow(10, k);
    if (!(at < 0.5)) continue;
    json_t *root = account(s->events, s->count, s->neighbours, at);
    double cost = field(root, "epsilon"), lower = field(root, "epsilon_lower");
    check(s, "more delta costs no more epsilon", cost <= before * (1 + COARSER), "%.12g after %.12g", cost, before);
    check(s, "lower and upper bound are in order", lower <= cost * (1 + 1e-12), "%.12g against %.12g", lower, cost);
    before = cost;
    json_decref(root);
  }
}

/* ---- closed forms ---------------------------------------------------------------------------------------------------
 */

static long double phi(long double x) { return 0.5L * erfcl(-x * 0.707106781186547524400844362104849039L); }

/* delta of one Gaussian with shift mu, in extended precision. */
static double gaussian_delta(double mu, double epsilon) {
  long double m = mu, e = epsilon, far = phi(-m / 2 - e / m);
  return (double)(phi(m / 2 - e / m) - (far > 0 ? expl(e + logl(far)) : 0));
}

static void gaussian(sums *s) {
  tct_claim own = s->a->claim;
  double delta = s->a->delta;
  if (isnan(own.mu) || !(delta > 0)) return;
  double exact = gaussian_delta(own.mu, s->a->epsilon);
  check(s, "the closed form of the Gaussian allows the claim", exact <= delta * (1 + 1e-6), "delta %.12g against %.12g",
        exact, delta);
  json_t *root = account(s->events, s->count, s->neighbours, delta);
  double lower = gaussian_delta(own.mu, field(root, "epsilon_lower"));
  check(s, "the lower bound on epsilon is one by the closed form", lower >= delta * (1 - 1e-6),
        "delta %.12g against %.12g", lower, delta);
  json_decref(root);
}

/* delta of one step over a sampled record: the larger of adding and removing, under add_remove. */
static double sampled_delta(double noise, double rate, double epsilon) {
  long double q = rate, s = noise, e = epsilon, worst = 0;
  if (expl(e) > 1 - q) { /* with: (1-q) N(0) + q N(1); without: N(0) */
    long double t = s * s * logl((expl(e) - (1 - q)) / q) + 0.5L;
    worst = (1 - q) * phi(-t / s) + q * phi(-(t - 1) / s) - expl(e) * phi(-t / s);
  }
  if (expl(-e) > 1 - q) {
    long double t = s * s * logl((expl(-e) - (1 - q)) / q) + 0.5L;
    long double other = phi(t / s) - expl(e) * ((1 - q) * phi(t / s) + q * phi((t - 1) / s));
    worst = other > worst ? other : worst;
  }
  return (double)worst;
}

/* One step of a list costs no more than the list, and has a closed form. */
static void sampled(sums *s) {
  double delta = s->a->delta, epsilon = s->a->epsilon;
  if (s->neighbours != TCT_ADD_REMOVE) return;
  for (size_t i = 0; i < s->count; i++) {
    if (strncmp(s->events[i], "sampled_gaussian:", 17)) continue;
    double noise = tct_audit_part(s->events[i], "noise", NAN), rate = tct_audit_part(s->events[i], "rate", NAN);
    double one = sampled_delta(noise, rate, epsilon);
    check(s, "one sampled step alone stays within the claim", one <= delta * (1 + 1e-9) + 1e-18,
          "delta %.12g against %.12g", one, delta);
  }
}

/* ---- releases -------------------------------------------------------------------------------------------------------
 */

/* Each release is charged as an event of the list, and has that event's noise. */
static void releases(sums *s) {
  const tct_audit *a = s->a;
  const json_t *fit = json_array_get(json_object_get(a->planned, "fits"), 0);
  const char *promise = tct_json_said(fit, "promise");
  double made = 0, charged = 0;
  for (int r = 0; r < a->releases; r++) {
    const tct_audit_release *info = &a->release[r];
    double noise = tct_audit_part(info->event, "noise", NAN), ratio = info->deviation / info->sensitivity;
    made += (double)info->count;
    if (info->norm != TCT_NORM_SCORE && !strncmp(info->kind, "gaussian", 8) && isfinite(ratio) && isfinite(noise))
      check(s, "a release has the noise that it is charged for", ratio >= noise * (1 - 1e-9), "%.12g against %.12g",
            ratio, noise);
  }
  for (size_t i = 0; i < s->count; i++) charged += tct_audit_part(s->events[i], "count", 1);
  if (promise && strcmp(promise, "budget"))
    check(s, "every planned release is an event", charged == made, "%.0f events, %.0f releases", charged, made);
}

/* The same list twice is the list with double counts: composition does not depend on how it is written. */
static void twice(sums *s) {
  const char *both[TCT_AUDIT_RELEASES * 8];
  double delta = s->a->delta;
  for (size_t i = 0; i < 2 * s->count; i++) both[i] = s->events[i % s->count];
  json_t *one = account(s->events, s->count, s->neighbours, delta),
         *two = account(both, 2 * s->count, s->neighbours, delta);
  check(s, "two runs cost at least one", field(two, "epsilon") >= field(one, "epsilon_lower") * (1 - 1e-9),
        "%.12g against %.12g", field(two, "epsilon"), field(one, "epsilon_lower"));
  json_decref(one);
  json_decref(two);
}

json_t *tct_audit_arithmetic(tct_audit *a, tct_error *err) {
  sums s = {.a = a, .checks = json_array(), .neighbours = a->replaces ? TCT_REPLACE_ONE : TCT_ADD_REMOVE};
  const json_t *events = json_object_get(a->planned, "events");
  (void)err;
  for (s.count = 0; s.count < json_array_size(events) && s.count < sizeof s.events / sizeof *s.events; s.count++)
    s.events[s.count] = json_string_value(json_array_get(events, s.count));
  if (s.count == 0) return json_pack("{s:o}", "checks", s.checks);
  claim(&s);
  around(&s);
  gaussian(&s);
  sampled(&s);
  releases(&s);
  twice(&s);
  return json_pack("{s:o}", "checks", s.checks);
}
