/* test_verify_tries.c - each of verify's checks of a private search refuses by itself what it is there for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "account/selection.h"
#include "certify/verify.h"

#include <math.h>
#include <string.h>

enum { MEAN = 50 };
static const double DELTA = 1e-5, SCORE = 20;

/* A model that claims `part` of what the best of these tries costs. */
typedef struct claimed {
  tct_model model;
  tct_event event;
  json_t *fits;
} claimed;

static claimed claim(const char *fit_event, double part) {
  claimed out = {.model = {.delta = DELTA, .neighbours = TCT_ADD_REMOVE}};
  tct_event own[2] = {{0}, tct_event_gaussian(SCORE, 1)};
  tct_events one = {own, 2, 2};
  assert_int_equal(tct_event_parse(fit_event, &own[0], NULL, NULL), TCT_OK);
  assert_int_equal(tct_selection_event(&one, 1, TCT_ADD_REMOVE, MEAN, DELTA, &out.event, NULL), TCT_OK);
  out.event.epsilon *= part;
  out.model.epsilon = out.event.epsilon;
  out.fits = json_pack("[{s:i, s:[s]}]", "count", 1, "events", fit_event);
  return out;
}

/* What the check of this name says: 1, 0, or -1 where there is none. */
static int verdict(claimed c, int64_t mean, double score, const char *name) {
  tct_verify_report report = {.root = json_object(), .checks = json_array(), .ok = 1};
  const json_t *one;
  size_t i;
  int said = -1;
  c.model.events = (tct_events){&c.event, 1, 1};
  tct_verify_tries(&report, &c.model, c.fits, mean, score);
  json_array_foreach(report.checks, i, one) if (!strcmp(json_string_value(json_object_get(one, "name")), name)) {
    said = json_is_true(json_object_get(one, "ok"));
    print_message("%s: %s\n", name, json_string_value(json_object_get(one, "text")));
  }
  json_decref(report.root);
  json_decref(report.checks);
  json_decref(c.fits);
  return said;
}

#define GAUSSIAN "gaussian:noise=6,count=2"

static void an_honest_claim_passes_all_three(void **state) {
  (void)state;
  assert_int_equal(verdict(claim(GAUSSIAN, 1), MEAN, SCORE, "selection"), 1);
  assert_int_equal(verdict(claim(GAUSSIAN, 1), MEAN, SCORE, "selection_second"), 1);
  assert_int_equal(verdict(claim(GAUSSIAN, 1), MEAN, SCORE, "selection_lower"), 1);
  assert_int_equal(verdict(claim("sampled_gaussian:noise=2,rate=0.05,count=9", 1), MEAN, SCORE, "selection_second"), 1);
}

static void a_second_method_refuses_what_it_does_not_prove(void **state) {
  (void)state;
  assert_int_equal(verdict(claim(GAUSSIAN, 0.9999), MEAN, SCORE, "selection_second"), 0);
  assert_int_equal(verdict(claim(GAUSSIAN, 1), MEAN, SCORE / 1.01, "selection_second"), 0);
  assert_int_equal(verdict(claim(GAUSSIAN, 1), MEAN + 1, SCORE, "selection_second"), 0);
}

static void what_an_exact_law_costs_cannot_be_claimed_for_less(void **state) {
  (void)state;
  assert_int_equal(verdict(claim(GAUSSIAN, 0.9), MEAN, SCORE, "selection_lower"), 1);
  assert_int_equal(verdict(claim(GAUSSIAN, 0.5), MEAN, SCORE, "selection_lower"), 0);
  assert_int_equal(verdict(claim("zcdp:rho=0.0001", 0.05), MEAN, SCORE, "selection_lower"), 0);
}

static void lists_that_are_odd_are_refused(void **state) {
  (void)state;
  claimed c = claim(GAUSSIAN, 1);
  json_object_set_new(json_array_get(c.fits, 0), "count", json_integer(2));
  assert_int_equal(verdict(c, MEAN, SCORE, "selection"), 0);
  c = claim(GAUSSIAN, 1);
  json_array_clear(c.fits);
  assert_int_equal(verdict(c, MEAN, SCORE, "selection"), 0);
  c = claim(GAUSSIAN, 1);
  c.event.delta *= 0.5;
  assert_int_equal(verdict(c, MEAN, SCORE, "selection"), 0);
  assert_int_equal(verdict(claim(GAUSSIAN, 1 - 1e-8), MEAN, SCORE, "selection"), 0);
}

static void the_fits_of_several_classes_count_as_often_as_they_were_made(void **state) {
  (void)state;
  claimed c = claim(GAUSSIAN, 1); /* two steps: of two fits with one each */
  json_decref(c.fits);
  c.fits = json_pack("[{s:i, s:[s]}]", "count", 2, "events", "gaussian:noise=6,count=1");
  json_t *fewer = json_deep_copy(c.fits);
  json_object_set_new(json_array_get(fewer, 0), "count", json_integer(1));
  assert_int_equal(verdict(c, MEAN, SCORE, "selection"), 1);
  c = claim(GAUSSIAN, 1);
  json_decref(c.fits);
  c.fits = fewer;
  assert_int_equal(verdict(c, MEAN, SCORE, "selection"), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_honest_claim_passes_all_three),
      cmocka_unit_test(a_second_method_refuses_what_it_does_not_prove),
      cmocka_unit_test(what_an_exact_law_costs_cannot_be_claimed_for_less),
      cmocka_unit_test(the_fits_of_several_classes_count_as_often_as_they_were_made),
      cmocka_unit_test(lists_that_are_odd_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
