/* test_verify_tries.c - each of verify's checks of a private search refuses by itself what it is there for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "account/selection.h"
#include "certify/verify.h"
#include "several/composition.h"

#include <math.h>
#include <string.h>

enum { MEAN = 50, TRAIN = 800 };
static const double DELTA = 1e-5, ASKED = 1;

/* A search's model that claims `part` of what it costs, its scores as its plan has them. */
typedef struct claimed {
  tct_model model;
  tct_event event;
  json_t *fits;
  tct_selection plan;
} claimed;

static claimed claim(const char *fit_event, double part, bool persons) {
  claimed out = {.model = {.delta = DELTA, .neighbours = TCT_ADD_REMOVE, .rows = TRAIN, .persons = persons},
                 .plan = {MEAN, 1000, 0.2, 0, 0.2, persons ? NAN : ASKED, persons ? 0.3 : NAN}};
  const tct_whole whole = {ASKED, DELTA, TCT_ADD_REMOVE, NULL, false};
  double epsilon;
  tct_event own;
  assert_int_equal(tct_event_parse(fit_event, &own, NULL, NULL), TCT_OK);
  const tct_events one = {&own, 1, 1};
  assert_int_equal(tct_tries_score(&whole, MEAN, out.plan.share, out.plan.fit, &epsilon, &out.plan.score, NULL),
                   TCT_OK);
  const tct_tries tries = {&one, 1, out.plan.score, MEAN, !persons};
  assert_int_equal(tct_tries_event(&tries, TCT_ADD_REMOVE, DELTA, &out.event, NULL), TCT_OK);
  out.event.epsilon *= part;
  out.model.epsilon = out.event.epsilon;
  out.fits = json_pack("[{s:i, s:[s], s:f, s:f}]", "count", 1, "events", fit_event, "epsilon", out.plan.fit, "delta",
                       DELTA / MEAN);
  return out;
}

/* What the check of this name says: 1, 0, or -1 where there is none. */
static int verdict(claimed c, const char *name) {
  tct_verify_report report = {.root = json_object(), .checks = json_array(), .ok = 1};
  const json_t *one;
  size_t i;
  int said = -1;
  c.model.events = (tct_events){&c.event, 1, 1};
  tct_verify_tries(&report, &c.model, c.fits, &c.plan);
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

static void an_honest_claim_passes_all_four(void **state) {
  (void)state;
  static const char *const names[] = {"selection", "selection_second", "selection_lower", "searched"};
  for (int k = 0; k < 8; k++) {
    assert_int_equal(verdict(claim("gaussian:noise=20,count=2", 1, k / 4), names[k % 4]), 1);
    assert_int_equal(verdict(claim("sampled_gaussian:noise=4,rate=0.02,count=9", 1, k / 4), names[k % 4]), 1);
  }
}

/* The dearer part decides: fits, and where they are cheap the scores. */
static void a_second_method_refuses_what_it_does_not_prove(void **state) {
  (void)state;
  assert_int_equal(verdict(claim(GAUSSIAN, 0.9999, false), "selection_second"), 0);
  assert_int_equal(verdict(claim("gaussian:noise=900,count=2", 0.9999, false), "selection_second"), 0);
  assert_int_equal(verdict(claim(GAUSSIAN, 0.9999, true), "selection_second"), 0);
  claimed c = claim("gaussian:noise=900,count=2", 1, false);
  c.plan.score /= 1.01;
  assert_int_equal(verdict(c, "selection_second"), 0);
  c = claim(GAUSSIAN, 1, false), c.plan.mean++;
  assert_int_equal(verdict(c, "selection_second"), 0);
  c = claim(GAUSSIAN, 1, false), c.model.persons = 1; /* then both are in one list */
  assert_int_equal(verdict(c, "selection_second"), 0);
}

static void what_an_exact_law_costs_cannot_be_claimed_for_less(void **state) {
  (void)state;
  assert_int_equal(verdict(claim(GAUSSIAN, 0.9, false), "selection_lower"), 1);
  assert_int_equal(verdict(claim(GAUSSIAN, 0.5, false), "selection_lower"), 0);
  assert_int_equal(verdict(claim("gaussian:noise=900,count=2", 0.5, false), "selection_lower"), 0);
  assert_int_equal(verdict(claim("zcdp:rho=0.0001", 0.05, false), "selection_lower"), 0);
}

static void lists_that_are_odd_are_refused(void **state) {
  (void)state;
  claimed c = claim(GAUSSIAN, 1, false);
  json_object_set_new(json_array_get(c.fits, 0), "count", json_integer(2));
  assert_int_equal(verdict(c, "selection"), 0);
  c = claim(GAUSSIAN, 1, false);
  json_array_clear(c.fits);
  assert_int_equal(verdict(c, "selection"), 0);
  c = claim(GAUSSIAN, 1, false);
  c.event.delta *= 0.5;
  assert_int_equal(verdict(c, "selection"), 0);
  assert_int_equal(verdict(claim(GAUSSIAN, 1 - 1e-8, false), "selection"), 0);
  assert_int_equal(verdict(claim(GAUSSIAN, 1 - 1e-8, true), "selection"), 0);
}

/* Each number of the plan by itself, the claim left as it is. */
static void a_plan_that_does_not_give_these_fits_and_scores_is_refused(void **state) {
  (void)state;
  for (int persons = 0; persons < 2; persons++)
    for (int k = 0; k < 9; k++) {
      claimed c = claim("gaussian:noise=20,count=2", 1, persons);
      json_t *fit = json_array_get(c.fits, 0);
      switch (k) {
        case 0: c.plan.mean = MEAN + 1; break;
        case 1: c.plan.score *= 1.001; break;
        case 2: c.plan.held = 0.3; break;
        case 3: c.plan.rows = 1100; break;
        case 4: c.plan.share = persons ? NAN : 0.3, c.plan.epsilon = persons ? ASKED : NAN; break;
        case 5: *(persons ? &c.plan.share : &c.plan.epsilon) *= 1.01; break;
        case 6: json_object_set_new(fit, "delta", json_real(DELTA / MEAN * 1.01)); break;
        case 7: c.plan.fit *= 1.01; break;
        default:
          json_array_append_new(c.fits, json_deep_copy(fit)), json_object_set_new(fit, "epsilon", json_real(0.3));
      }
      if (verdict(c, "searched") != 0) fail_msg("%d of %s", k, persons ? "persons" : "records");
    }
  claimed c = claim("gaussian:noise=20,count=2", 1, false);
  c.model.epsilon = ASKED * 1.001; /* more than was asked for */
  assert_int_equal(verdict(c, "searched"), 0);
}

static void the_fits_of_several_classes_count_as_often_as_they_were_made(void **state) {
  (void)state;
  for (int k = 1; k <= 2; k++) { /* two steps: of two fits with one each, or of one fit too few */
    claimed c = claim(GAUSSIAN, 1, false);
    json_decref(c.fits);
    c.fits = json_pack("[{s:i, s:[s]}]", "count", k, "events", "gaussian:noise=6,count=1");
    assert_int_equal(verdict(c, "selection"), k == 2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_honest_claim_passes_all_four),
      cmocka_unit_test(a_second_method_refuses_what_it_does_not_prove),
      cmocka_unit_test(what_an_exact_law_costs_cannot_be_claimed_for_less),
      cmocka_unit_test(the_fits_of_several_classes_count_as_often_as_they_were_made),
      cmocka_unit_test(a_plan_that_does_not_give_these_fits_and_scores_is_refused),
      cmocka_unit_test(lists_that_are_odd_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
