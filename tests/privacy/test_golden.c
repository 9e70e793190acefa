/* test_golden.c - the accountants against values that independent code computed (../shared/golden). */
#include "account/account.h"
#include "account/curves/renyi.h"
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COLUMNS = 22, ROWS = 4000 };
enum { ID, MECHANISM, ADJACENCY, PARAMS, STEPS, DELTA, EXACT, PESSIMISTIC, OPTIMISTIC, TILTED, RDP };
enum { SIGMA_PESSIMISTIC = 12, SIGMA_OPTIMISTIC, SIGMA_EXACT };

typedef struct row {
  char text[2048];
  char *cell[COLUMNS];
} row;
static row *rows;
static int row_count;

/* Splits a CSV line in place; a doubled quote inside quotes becomes one. */
static void split(row *r) {
  char *in = r->text, *out = r->text;
  for (int c = 0; c < COLUMNS; c++) {
    bool quoted = *in == '"';
    r->cell[c] = out;
    if (quoted) in++;
    while (*in && *in != '\n') {
      if (quoted && *in == '"' && in[1] != '"') break;
      if (quoted && *in == '"') in++;
      if (!quoted && *in == ',') break;
      *out++ = *in++;
    }
    if (quoted && *in == '"') in++;
    if (*in) in++;
    *out++ = 0;
  }
}

static int load(void **state) {
  (void)state;
  const char *path = getenv("TACIT_GOLDEN");
  FILE *file = fopen(path ? path : "../shared/golden/golden_public.csv", "r");
  if (!file) return 0;
  rows = calloc(ROWS, sizeof *rows);
  char head[2048];
  if (!fgets(head, sizeof head, file)) head[0] = 0;
  while (row_count < ROWS && fgets(rows[row_count].text, sizeof rows[0].text, file)) split(&rows[row_count++]);
  fclose(file);
  return 0;
}

static double number(const row *r, int column) { return r->cell[column][0] ? strtod(r->cell[column], NULL) : NAN; }

/* The number after "key": in the parameters, from `from` on. */
static double parameter(const char *from, const char *key) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\": ", key);
  const char *at = strstr(from, quoted);
  return at ? strtod(at + strlen(quoted), NULL) : NAN;
}

static tct_neighbours relation(const row *r) {
  return strcmp(r->cell[ADJACENCY], "replace_one") ? TCT_ADD_REMOVE : TCT_REPLACE_ONE;
}

static tct_events one_event(tct_event event) {
  tct_events events = {0};
  assert_int_equal(tct_events_add(&events, event, NULL), TCT_OK);
  return events;
}

static tct_bracket ask(const char *name, tct_event event, const row *r) {
  tct_events events = one_event(event);
  tct_bracket bracket;
  tct_error err = {0};
  const tct_accountant *accountant = tct_accountant_find(name);
  assert_non_null(accountant);
  if (accountant->epsilon(&events, relation(r), number(r, DELTA), 1e-4, &bracket, &err)) fail_msg("%s", err.text);
  tct_events_free(&events);
  return bracket;
}

static void expect_close(const row *r, const char *what, double ours, double theirs, double relative) {
  if (ours == theirs) return; /* both infinite, too */
  if (!(fabs(ours - theirs) <= relative * fabs(theirs) + 1e-12))
    fail_msg("%s: %s is %.15g, expected %.15g", r->cell[ID], what, ours, theirs);
}

static bool is(const row *r, const char *mechanism) { return !strcmp(r->cell[MECHANISM], mechanism); }

static void need_rows(int found) {
  if (found == 0) fail_msg("the golden file has no such row");
}

static void gaussian_rows_are_exact_to_1e_9(void **state) {
  (void)state;
  int found = 0;
  for (int i = 0; i < row_count; i++) {
    const row *r = &rows[i];
    double noise = is(r, "gaussian")    ? parameter(r->cell[PARAMS], "noise_multiplier")
                   : is(r, "gdp_curve") ? 1 / parameter(r->cell[PARAMS], "mu")
                                        : NAN;
    if (isnan(noise)) continue;
    tct_bracket b = ask("gdp", tct_event_gaussian(noise, atoll(r->cell[STEPS])), r);
    expect_close(r, "the upper bound", b.upper, number(r, EXACT), 1e-9);
    expect_close(r, "the lower bound", b.lower, number(r, EXACT), 1e-9);
    found++;
  }
  need_rows(found);
}

static void single_laplace_and_pure_compositions_are_exact_to_1e_9(void **state) {
  (void)state;
  int found = 0;
  for (int i = 0; i < row_count; i++) {
    const row *r = &rows[i];
    const char *p = r->cell[PARAMS];
    int64_t steps = atoll(r->cell[STEPS]);
    tct_event event;
    if (isnan(number(r, EXACT))) continue;
    if (is(r, "laplace") && steps == 1)
      event = tct_event_laplace(parameter(p, "noise_multiplier"), 1);
    else if (is(r, "pure_dp_composition") || is(r, "approx_dp_composition"))
      event = tct_event_approx(parameter(p, "eps0"), parameter(p, "delta0"), steps);
    else if (is(r, "randomized_response_kary") && parameter(p, "buckets") == 2)
      event = tct_event_pure(log(2 / parameter(p, "noise_parameter") - 1), steps);
    else
      continue;
    tct_bracket b = ask("basic", event, r);
    expect_close(r, "the upper bound", b.upper, number(r, EXACT), 1e-9);
    found++;
  }
  need_rows(found);
}

static double linear(double alpha, const void *user) { return alpha * *(const double *)user; }

static void conversions_of_rho_are_exact_to_1e_9(void **state) {
  (void)state;
  int found = 0;
  for (int i = 0; i < row_count; i++) {
    const row *r = &rows[i];
    const char *p = r->cell[PARAMS];
    double rho, cap = INFINITY;
    if (is(r, "zcdp_to_dp") && strstr(p, "cks_2020_tight")) {
      rho = parameter(p, "rho");
    } else if (is(r, "exponential_mechanism")) {
      rho = parameter(p, "rho_total"), cap = parameter(p, "eps") * (double)atoll(r->cell[STEPS]);
      tct_event e = strstr(p, "bounded_range") ? tct_event_exponential(parameter(p, "eps"), 1)
                                               : tct_event_pure(parameter(p, "eps"), 1);
      double own = tct_event_rho(&e, TCT_ADD_REMOVE) * (double)atoll(r->cell[STEPS]);
      if (parameter(p, "eps") < 2) expect_close(r, "rho", own, rho, 1e-12);
    } else {
      continue;
    }
    tct_renyi curve = {linear, &rho, 1e9};
    double ours = fmin(cap, tct_renyi_epsilon(&curve, number(r, DELTA), NULL));
    expect_close(r, "the conversion", ours, number(r, EXACT), 1e-9);
    if (is(r, "exponential_mechanism") && strstr(p, "bounded_range")) {
      tct_events events = one_event(tct_event_exponential(parameter(p, "eps"), atoll(r->cell[STEPS])));
      tct_cost cost;
      assert_int_equal(tct_account_epsilon(&events, TCT_ADD_REMOVE, number(r, DELTA), 1e-3, &cost, NULL), TCT_OK);
      if (cost.epsilon > number(r, EXACT) * (1 + 1e-9)) fail_msg("%s: looser than the reference", r->cell[ID]);
      tct_events_free(&events);
    }
    found++;
  }
  need_rows(found);
}

static void renyi_divergences_are_exact_to_1e_9(void **state) {
  (void)state;
  int found = 0;
  for (int i = 0; i < row_count; i++) {
    const row *r = &rows[i];
    const char *p = r->cell[PARAMS];
    if (!is(r, "rdp_poisson_gaussian")) continue;
    double ours = tct_sampled_gaussian_renyi(parameter(p, "noise_multiplier"), parameter(p, "sampling_probability"),
                                             parameter(p, "alpha"));
    expect_close(r, "the divergence", ours, number(r, EXACT), 1e-9);
    if (ours < number(r, EXACT) * (1 - 1e-13)) fail_msg("%s: below the true divergence", r->cell[ID]);
    found++;
  }
  need_rows(found);
}

static void gaussian_calibrations_meet_the_exact_noise(void **state) {
  (void)state;
  int found = 0;
  for (int i = 0; i < row_count; i++) {
    const row *r = &rows[i];
    if (!is(r, "calibrate_gaussian")) continue;
    double noise, target = parameter(r->cell[PARAMS], "target_epsilon");
    tct_cost cost;
    tct_error err = {0};
    tct_target allowed = {relation(r), target, number(r, DELTA)};
    if (tct_calibrate_noise(1, atoll(r->cell[STEPS]), &allowed, &noise, &cost, &err))
      fail_msg("%s: %s", r->cell[ID], err.text);
    expect_close(r, "the noise", noise, number(r, SIGMA_EXACT), 2e-6);
    if (noise < number(r, SIGMA_EXACT) * (1 - 1e-10)) fail_msg("%s: less noise than needed", r->cell[ID]);
    assert_true(cost.epsilon <= target);
    found++;
  }
  need_rows(found);
}

/* The events of a row of the pld kinds; false: another kind. */
static bool pld_events(const row *r, tct_events *events) {
  const char *p = r->cell[PARAMS];
  int64_t steps = atoll(r->cell[STEPS]);
  tct_error err = {0};
  memset(events, 0, sizeof *events);
  if (is(r, "poisson_gaussian"))
    return !tct_events_add(
        events,
        tct_event_sampled_gaussian(parameter(p, "noise_multiplier"), parameter(p, "sampling_probability"), steps),
        &err);
  if (is(r, "laplace"))
    return !tct_events_add(events, tct_event_laplace(parameter(p, "noise_multiplier"), steps), &err);
  if (!is(r, "mixed")) return false;
  for (const char *at = strstr(p, "\"count\""); at; at = strstr(at + 1, "\"count\"")) {
    double noise = parameter(at, "noise_multiplier"), rate = parameter(at, "sampling_probability");
    int64_t count = (int64_t)parameter(at, "count");
    const char *name = strstr(at, "\"mechanism\": \"") + 14;
    tct_event event = !strncmp(name, "laplace", 7) ? tct_event_laplace(noise, count)
                      : rate < 1                   ? tct_event_sampled_gaussian(noise, rate, count)
                                                   : tct_event_gaussian(noise, count);
    assert_true(strchr("glp", name[0]) && !tct_events_add(events, event, &err));
  }
  return true;
}

static int check_bracket(const row *r, const tct_bracket *b) {
  double low = number(r, OPTIMISTIC), high = number(r, TILTED);
  bool narrow = high - low <= 1e-4 * high;
  double limit = narrow ? high * (1 + 1e-4) + 1e-6 : high * 1.001;
  int bad = 0;
  /* The references are printed to 12 digits. */
  if (b->upper < low * (1 - 1e-11)) bad = 1, print_message("%s: %.12g is below %.12g\n", r->cell[ID], b->upper, low);
  if (b->upper > limit) bad = 1, print_message("%s: %.12g is above %.12g\n", r->cell[ID], b->upper, limit);
  if (b->lower > high * (1 + 1e-11) || b->lower > b->upper)
    bad = 1, print_message("%s: the lower bound %.12g is above %.12g\n", r->cell[ID], b->lower, high);
  return bad;
}

static void numerical_brackets_meet_the_references(void **state) {
  (void)state;
  const tct_accountant *pld = tct_accountant_find("pld");
  int found = 0, bad = 0;
  for (int i = 0; i < row_count; i++) {
    const row *r = &rows[i];
    tct_events events;
    tct_bracket b;
    tct_error err = {0};
    if (!pld_events(r, &events)) continue;
    if (sample_turn(found++, 4)) {
      if (pld->epsilon(&events, relation(r), number(r, DELTA), 1e-4, &b, &err)) fail_msg("%s", err.text);
      bad += check_bracket(r, &b);
    }
    tct_events_free(&events);
  }
  need_rows(found);
  assert_int_equal(bad, 0);
}

/* A sixth of the rows, unless TACIT_SLOW is set: each takes five to ten evaluations. */
static void sampled_calibrations_lie_between_the_reference_roots(void **state) {
  (void)state;
  int found = 0;
  for (int i = 0; i < row_count; i++) {
    const row *r = &rows[i];
    if (!is(r, "calibrate_poisson_gaussian") || (found++ % 6 && !getenv("TACIT_SLOW"))) continue;
    double noise, target = parameter(r->cell[PARAMS], "target_epsilon");
    double rate = parameter(r->cell[PARAMS], "sampling_probability");
    tct_error err = {0};
    tct_target allowed = {relation(r), target, number(r, DELTA)};
    if (tct_calibrate_noise(rate, atoll(r->cell[STEPS]), &allowed, &noise, NULL, &err))
      fail_msg("%s: %s", r->cell[ID], err.text);
    double low = number(r, SIGMA_OPTIMISTIC), high = number(r, SIGMA_PESSIMISTIC);
    if (noise < low * (1 - 1e-9) || noise > high * (1 + 5e-5))
      fail_msg("%s: the noise %.9g is not in [%.9g, %.9g]", r->cell[ID], noise, low, high);
  }
  need_rows(found);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gaussian_rows_are_exact_to_1e_9),
      cmocka_unit_test(single_laplace_and_pure_compositions_are_exact_to_1e_9),
      cmocka_unit_test(conversions_of_rho_are_exact_to_1e_9),
      cmocka_unit_test(renyi_divergences_are_exact_to_1e_9),
      cmocka_unit_test(gaussian_calibrations_meet_the_exact_noise),
      cmocka_unit_test(sampled_calibrations_lie_between_the_reference_roots),
      cmocka_unit_test(numerical_brackets_meet_the_references),
  };
  load(NULL);
  if (row_count == 0) {
    puts("skipped: no data (set TACIT_GOLDEN to golden_public.csv)");
    return 77;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
