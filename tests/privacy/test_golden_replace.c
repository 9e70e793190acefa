/* test_golden_replace.c - sampled steps under replace_one against values by code that shares none with src/.
 *
 * The rows come from tools/fuzz_account.py --golden: one step from its definition with 60 digits and more, several by
 * rounding losses up and down to a grid.  A record that is replaced moves the sum by +1 against -1, which costs more
 * than the +1 against 0 of add_remove. */
#include "account/account.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>

#include <cmocka.h>

static const struct {
  double noise, rate;
  int64_t count;
  double delta, low, high; /* the true epsilon lies between */
} rows[] = {
    {0.5, 0.001, 1, 0.0001, 0.044112440109155944, 0.044112440109155944},
    {0.5, 0.001, 1, 1e-12, 6.629339349374967, 6.629339349374967},
    {0.5, 0.001, 20, 1e-05, 1.3801782519510424, 1.3817339383618032},
    {0.5, 0.001, 200, 1e-06, 3.4598212654780047, 3.47657823468702},
    {0.5, 0.05, 1, 0.0001, 4.213327930164033, 4.213327930164033},
    {0.5, 0.05, 1, 1e-12, 11.822887313286103, 11.822887313286103},
    {0.5, 0.05, 20, 1e-05, 10.845320987913604, 10.849070934970355},
    {0.5, 0.05, 200, 1e-06, 32.03348690046323, 32.099397196822274},
    {0.5, 0.5, 1, 0.0001, 8.508983648581653, 8.508983648581653},
    {0.5, 0.5, 1, 1e-12, 15.443664043566834, 15.443664043566834},
    {0.5, 0.5, 20, 1e-05, 59.73968298459754, 59.74973710673319},
    {0.5, 0.5, 200, 1e-06, 356.1426471465209, 356.4540496518108},
    {1.0, 0.001, 1, 0.0001, 0.003108804180533232, 0.003108804180533232},
    {1.0, 0.001, 1, 1e-12, 0.3924143544650398, 0.3924143544650398},
    {1.0, 0.001, 20, 1e-05, 0.03499904749585141, 0.03525923673540018},
    {1.0, 0.001, 200, 1e-06, 0.1253267782360123, 0.12794611326458283},
    {1.0, 0.05, 1, 0.0001, 0.6763746518456607, 0.6763746518456607},
    {1.0, 0.05, 1, 1e-12, 3.8737564553583375, 3.8737564553583375},
    {1.0, 0.05, 20, 1e-05, 2.368087950546144, 2.369193714489459},
    {1.0, 0.05, 200, 1e-06, 7.946889754151424, 7.967329359400236},
    {1.0, 0.5, 1, 0.0001, 3.634198061415113, 3.634198061415113},
    {1.0, 0.5, 1, 1e-12, 7.139347481597947, 7.139347481597947},
    {1.0, 0.5, 20, 1e-05, 24.993840850614994, 24.999010014442504},
    {1.0, 0.5, 200, 1e-06, 140.8542422058735, 141.01504759584992},
    {3.0, 0.001, 1, 0.0001, 0.0004390600098051155, 0.0004390600098051155},
    {3.0, 0.001, 1, 1e-12, 0.00647889397085561, 0.00647889397085561},
    {3.0, 0.001, 20, 1e-05, 0.006987803928068819, 0.007004081739554333},
    {3.0, 0.001, 200, 1e-06, 0.031581443574386275, 0.031763663250532856},
    {3.0, 0.05, 1, 0.0001, 0.0862104487496358, 0.0862104487496358},
    {3.0, 0.05, 1, 1e-12, 0.3529834850627351, 0.3529834850627351},
    {3.0, 0.05, 20, 1e-05, 0.5311182998538546, 0.5313143239155342},
    {3.0, 0.05, 200, 1e-06, 2.109681763438851, 2.11557239925192},
    {3.0, 0.5, 1, 0.0001, 1.0557698071213304, 1.0557698071213304},
    {3.0, 0.5, 1, 1e-12, 2.2337389517179025, 2.2337389517179025},
    {3.0, 0.5, 20, 1e-05, 6.886245627788754, 6.888081987552302},
    {3.0, 0.5, 200, 1e-06, 32.19992350139775, 32.25807054354381},
};

static void every_accountant_and_the_answer_meet_the_references(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tct_events events = {0};
    tct_cost cost;
    tct_error err = {0};
    assert_int_equal(
        tct_events_add(&events, tct_event_sampled_gaussian(rows[i].noise, rows[i].rate, rows[i].count), &err), TCT_OK);
    if (tct_account_epsilon(&events, TCT_REPLACE_ONE, rows[i].delta, 1e-4, &cost, &err)) fail_msg("%s", err.text);
    if (!(cost.epsilon >= rows[i].low * (1 - 1e-11) && cost.epsilon <= rows[i].high * (1 + 2e-4)))
      fail_msg("row %zu: %.12g is not in [%.12g, %.12g]", i, cost.epsilon, rows[i].low, rows[i].high);
    if (!(cost.epsilon_lower <= rows[i].high * (1 + 1e-11))) fail_msg("row %zu: %.12g", i, cost.epsilon_lower);
    for (int k = 0; k < tct_accountant_count; k++) {
      const tct_accountant *a = tct_accountants[k];
      tct_bracket bracket;
      char why[200];
      if (!a->applies(&events, TCT_REPLACE_ONE, why, sizeof why)) continue;
      assert_int_equal(a->epsilon(&events, TCT_REPLACE_ONE, rows[i].delta, 1e-4, &bracket, &err), TCT_OK);
      if (!(bracket.upper >= rows[i].low * (1 - 1e-11)))
        fail_msg("row %zu: %s says %.12g, below %.12g", i, a->name, bracket.upper, rows[i].low);
    }
    tct_events_free(&events);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_accountant_and_the_answer_meet_the_references),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
