/* test_status.c - a sentence with another's words in it reaches a terminal as words, and each door in its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/status.h"

#include <stdio.h>
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

/* ---- slots ---- */

static void said(const tct_error *err, const char *c, const char *cli, const char *python, const char *r) {
  char text[sizeof err->text];
  assert_string_equal(err->text, c);
  tct_error_say(err, TCT_WORDS_C, text, sizeof text);
  assert_string_equal(text, c);
  tct_error_say(err, TCT_WORDS_CLI, text, sizeof text);
  assert_string_equal(text, cli);
  tct_error_say(err, TCT_WORDS_PYTHON, text, sizeof text);
  assert_string_equal(text, python);
  tct_error_say(err, TCT_WORDS_R, text, sizeof text);
  assert_string_equal(text, r);
}

static void each_door_reads_its_own_words(void **state) {
  (void)state;
  tct_error err;
  tct_fail(&err, TCT_E_USAGE, "%s needs a norm; give {row_norm R}, or leave {label} away", "dpgd");
  said(&err, "dpgd needs a norm; give .row_norm = R, or leave .label away",
       "dpgd needs a norm; give --row-norm R, or leave --label away",
       "dpgd needs a norm; give data_norm=R, or leave label= away",
       "dpgd needs a norm; give bounds, or leave the left side of the formula away");
  tct_fail_at(&err, "a.csv", 3, 1, "give {solver %s}, at least {memory_mib %.0f}; {ridge}", "dpfw", 512.0);
  said(&err, "give .solver = \"dpfw\", at least .memory = 512 * 1048576; .penalty = \"l2:lambda=...\"",
       "give --solver dpfw, at least --memory 512M; --penalty l2:lambda=...",
       "give solver=\"dpfw\", at least memory=512 * 2**20; a C or alpha above 0",
       "give solver = \"dpfw\", at least memory = 512 * 2^20; lambda above 0");
  tct_fail(&err, TCT_E_USAGE, "give e.g. {label_bound Y}, 100%% of {loss squared}");
  said(&err, "give e.g. .label_bound = Y, 100% of .loss = \"squared\"",
       "give e.g. --label-bound Y, 100% of --loss squared",
       "give e.g. label_bounds=(lower, upper), 100% of another estimator",
       "give e.g. bounds = list(y = c(lower, upper)), 100% of another family");
  tct_fail(&err, TCT_E_USAGE, "a { b } {} {nothing} {%s} {epsilon", "{\"age\": {delta}}");
  said(&err, "a { b } {} {nothing} {\"age\": .delta} {epsilon", "a { b } {} {nothing} {\"age\": --delta} {epsilon",
       "a { b } {} {nothing} {\"age\": delta=} {epsilon", "a { b } {} {nothing} {\"age\": delta} {epsilon");
}

/* A column may be called like a slot, or like the words of one. */
static void words_of_others_are_never_filled(void **state) {
  static const char *const names[] = {"{epsilon}", "{epsilon 1}", "{%s}",     "{{epsilon}}", "{",       "}",
                                      "%n{label",  "epsilon",     ".epsilon", "--epsilon",   "\x01\x02"};
  (void)state;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    char text[200], packed[200];
    const char *shown = names[k][0] == 1 ? "??" : names[k];
    tct_error err, again;
    tct_fail(&err, TCT_E_DATA, "column \"%s\": {%s}, not %s", names[k], "give {epsilon}", names[k]);
    tct_error_pack(&err, packed, sizeof packed);
    tct_fail(&again, TCT_E_DATA, "{%s}", packed);
    assert_memory_equal(&again, &err, sizeof err);
    for (int words = TCT_WORDS_C; words <= TCT_WORDS_R; words++) {
      static const char *const own[] = {".epsilon", "--epsilon", "epsilon=", "epsilon"};
      snprintf(text, sizeof text, "column \"%s\": give %s, not %s", shown, own[words], shown);
      tct_error_say(&err, (tct_wording)words, packed, sizeof packed);
      assert_string_equal(packed, text);
    }
  }
}

static void a_long_sentence_is_cut_and_never_shows_a_slot(void **state) {
  char name[1100], text[sizeof((tct_error *)0)->text];
  (void)state;
  for (size_t length = 0; length < sizeof name - 1; length++) {
    memset(name, 'a', length);
    name[length] = 0;
    tct_error err;
    tct_fail(&err, TCT_E_DATA, "%s; give {label NAME}, {cols} and {schema}", name);
    for (int words = TCT_WORDS_C; words <= TCT_WORDS_R; words++) {
      tct_error_say(&err, (tct_wording)words, text, sizeof text);
      assert_null(strpbrk(text, "{}"));
      assert_int_equal(strspn(text, "a"), length < sizeof text ? length : sizeof text - 1);
    }
    tct_error_pack(&err, text, 1 + length / 2);
    assert_true(strlen(text) <= length / 2 && !strpbrk(text, "{}"));
  }
  tct_error err;
  tct_fail(&err, TCT_E_DATA, "{cols} {cols} {cols} {cols} {cols} {cols} {cols} {cols} {cols}");
  tct_error_say(&err, TCT_WORDS_CLI, text, sizeof text);
  assert_string_equal(text, "--cols --cols --cols --cols --cols --cols --cols --cols .cols");
}

/* A program may write into the record, or hand over one that was never filled. */
static void a_record_that_others_wrote_is_said_as_it_is(void **state) {
  char text[sizeof((tct_error *)0)->text + 1];
  tct_error err;
  (void)state;
  tct_fail(&err, TCT_E_DATA, "give {epsilon}");
  strcpy(err.text, "another sentence");
  tct_error_say(&err, TCT_WORDS_CLI, text, sizeof text);
  assert_string_equal(text, "another sentence");
  unsigned seed = 1;
  for (int k = 0; k < 100000; k++) {
    for (size_t i = 0; i < sizeof err.text; i++) err.text[i] = (char)((seed = seed * 1664525u + 1013904223u) >> 24);
    if (k % 2) err.text[k % 100] = 0, err.text[sizeof err.text - 1] = (char)(k % 12);
    if (k % 4 == 1) memset(err.text + sizeof err.text - 61, 0, 60);
    for (int words = -1; words <= TCT_WORDS_R + 2; words++) tct_error_say(&err, (tct_wording)words, text, sizeof text);
    tct_error_say(&err, TCT_WORDS_CLI, text, 1);
    assert_int_equal(text[0], 0);
    tct_error_say(&err, TCT_WORDS_CLI, text, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_stay_as_they_are),
      cmocka_unit_test(what_steers_a_terminal_becomes_a_question_mark),
      cmocka_unit_test(a_file_s_name_is_shown_likewise),
      cmocka_unit_test(each_door_reads_its_own_words),
      cmocka_unit_test(words_of_others_are_never_filled),
      cmocka_unit_test(a_long_sentence_is_cut_and_never_shows_a_slot),
      cmocka_unit_test(a_record_that_others_wrote_is_said_as_it_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
