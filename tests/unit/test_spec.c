/* test_spec.c - spec strings: what is read prints as what reads the same, and what is no option is refused. */
#include "core/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void what_is_read_prints_as_what_reads_the_same(void **state) {
  (void)state;
  static const struct {
    const char *text, *printed;
  } rows[] = {
      {"dpscd", "dpscd"},
      {" dpscd : batch = 30 ,epochs=auto", "dpscd:batch=30,epochs=auto"},
      {"a:b=c=d", "a:b=c=d"},
      {"a:,b=1,,c=,", "a:b=1,c="},
      {"l1:walk=2", "l1:path_length=2"}, /* the name that a key had before */
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tct_spec spec, again;
    char printed[400], twice[400];
    assert_int_equal(tct_spec_parse(rows[i].text, "solver", &spec, NULL), TCT_OK);
    tct_spec_print(&spec, printed, sizeof printed);
    assert_string_equal(printed, rows[i].printed);
    assert_int_equal(tct_spec_parse(printed, "solver", &again, NULL), TCT_OK);
    tct_spec_print(&again, twice, sizeof twice);
    assert_string_equal(twice, printed);
  }
}

static void what_is_no_option_is_refused_with_a_sentence(void **state) {
  (void)state;
  static const char *const texts[] = {"",
                                      ":",
                                      " :a=1",
                                      "a:b",
                                      "a:=1",
                                      "a: =1",
                                      "a:\t=1",
                                      "a:b=1, \t =2",
                                      "a:b=1,b=2",
                                      "a:walk=1,path_length=2",
                                      "a:this_key_is_longer_than_any_that_there_is=1"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tct_spec spec;
    tct_error err = {0};
    if (tct_spec_parse(texts[i], "solver", &spec, &err) != TCT_E_USAGE || !err.text[0]) fail_msg("'%s'", texts[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_read_prints_as_what_reads_the_same),
      cmocka_unit_test(what_is_no_option_is_refused_with_a_sentence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
