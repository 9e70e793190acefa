/* test_status.c - a sentence with another's words in it reaches a terminal as words, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/status.h"

#include <string.h>

static void says(const char *given, const char *expected) {
  tct_error err;
  assert_int_equal(tct_fail(&err, TCT_E_RUN, "'%s'", given), TCT_E_RUN);
  if (strlen(err.text) != strlen(expected) + 2 || memcmp(err.text + 1, expected, strlen(expected)) != 0)
    fail_msg("%s, not %s", err.text, expected);
}

static void words_stay_as_they_are(void **state) {
  (void)state;
  says("a name-7", "a name-7");
  says("Soci\xc3\xa9t\xc3\xa9, \xe5\x8c\xbb\xe9\x99\xa2, \xf0\x9f\x8f\xa5",
       "Soci\xc3\xa9t\xc3\xa9, \xe5\x8c\xbb\xe9\x99\xa2, \xf0\x9f\x8f\xa5");
}

static void what_steers_a_terminal_becomes_a_question_mark(void **state) {
  (void)state;
  says("\x1b[31mred\x07", "?[31mred?");
  says("one\ntwo\rthree\x7f", "one?two?three?");
  says("\x9b\x33\x31m", "?31m");             /* CSI in Latin-1 */
  says("\xc2\x9b\x33\x31m", "??31m");        /* and in UTF-8 */
  says("\xe2\x80\xaegnp.exe", "???gnp.exe"); /* the other direction */
  says("\xe2\x81\xa6hidden", "???hidden");
  says("\xe2\x80\xa8line", "???line");
  says("\xc0\x9b", "??"); /* a long form of ESC */
  says("\xe0\x80\x9b", "???");
  says("\xed\xa0\x80", "???"); /* half a pair */
  says("cut \xe5\x8c", "cut ??");
  says("\xf5\x80\x80\x80", "????");
}

static void a_file_s_name_is_shown_likewise(void **state) {
  (void)state;
  tct_error err;
  tct_fail_at(&err, "a\x1b]0;b", 1, 1, "a value is bad\x08");
  assert_string_equal(err.file, "a?]0;b");
  assert_string_equal(err.text, "a value is bad?");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_stay_as_they_are),
      cmocka_unit_test(what_steers_a_terminal_becomes_a_question_mark),
      cmocka_unit_test(a_file_s_name_is_shown_likewise),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
