/* test_model.c - a model file says everything and reads back the same; damaged, it is refused or it is another whole
 * model, never a crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/alloc.h"
#include "model/model.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLS = 5 };

static double *numbers(const double *from) {
  double *to = TCT_NEW(double, COLS + 1);
  memcpy(to, from, COLS * sizeof *to);
  return to;
}

/* Bits of `variant`: 1 private, 2 scaled, 4 schema and ledger. */
static tct_model *made(int variant) {
  static const double w[COLS] = {0.1, -DBL_MAX, 0x1p-1074, -0.0, 1.0 / 3}, shift[COLS] = {0, 1, -2, 1e-300, 3};
  static const char *const names[COLS] = {"x1", "a \"quoted\" name", "tab\there", "\xc3\xa9t\xc3\xa9", ""};
  tct_model *m = TCT_NEW(tct_model, 1);
  m->loss = tct_text_copy("huber:width=0.25");
  m->penalty = tct_text_copy("l2:lambda=0.0001");
  m->solver = tct_text_copy("dpscd:batch=10,clip=0.05");
  m->rows = 123456789012;
  m->cols = COLS;
  m->coefficients = numbers(w);
  m->has_intercept = variant & 1;
  m->intercept = variant & 1 ? -7.25e-5 : 0;
  m->features = TCT_NEW(char *, COLS);
  for (int j = 0; j < COLS; j++) m->features[j] = tct_text_copy(names[j]);
  m->label = variant & 2 ? tct_text_copy("income") : NULL;
  m->labels = variant & 2 ? TCT_LABELS_REAL : TCT_LABELS_BINARY;
  m->scale = tct_text_copy(variant & 2 ? "standard" : "none");
  if (variant & 2) m->scale_factor = numbers(shift), m->scale_shift = numbers(w);
  m->label_shift = variant & 2 ? 0.7 : 0;
  m->label_bound = variant & 2 ? 1.3 : NAN;
  m->row_norm = variant & 1 ? 0.9 : NAN;
  m->weight_cap = variant & 1 ? 2.5 : NAN;
  m->fits = tct_text_copy("[{\"count\":1}]");
  m->rows_rule = variant & 4 ? TCT_ROWS_UNIT : TCT_ROWS_CLIP;
  m->penalised_intercept = variant & 1;
  m->is_private = variant & 1;
  m->neighbours = variant == 3 ? TCT_REPLACE_ONE : TCT_ADD_REMOVE;
  m->epsilon = variant & 1 ? 0.3 : INFINITY;
  m->delta = variant & 1 ? 1e-9 : NAN;
  m->reproducible = variant & 4;
  m->adaptive = variant & 1;
  m->unaccounted[0] = variant & 4 ? tct_text_copy("labels were centred") : NULL;
  if (variant & 1) {
    m->accountant = tct_text_copy("gdp");
    tct_events_add(&m->events, tct_event_sampled_gaussian(1.1, 0.01, 1000), NULL);
    tct_events_add(&m->events, tct_event_approx(0.1, 1e-10, 1), NULL);
    tct_events_add(&m->events, tct_event_objpert(12.5, 0.25, 1), NULL);
  }
  if (variant & 4) {
    m->schema = tct_text_copy("{\"label\": \"y\", \"columns\": {\"a\": {\"lower\": 0, \"upper\": 0.1}}}");
    m->ledger_head = tct_text_copy("00ff");
    m->run_id = tct_text_copy("17");
  }
  return m;
}

/* ---- equality, field by field ------------------------------------------------------------------------ */

static int same_text(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }
static int same_real(double a, double b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }
static int same_reals(const double *a, const double *b) {
  if (!a || !b) return a == b;
  return memcmp(a, b, COLS * sizeof *a) == 0;
}

static int same_events(const tct_events *a, const tct_events *b) {
  int same = a->len == b->len;
  for (int64_t i = 0; same && i < a->len; i++)
    same = tct_event_same(&a->at[i], &b->at[i]) && a->at[i].count == b->at[i].count;
  return same;
}

/* A schema comes back in another spelling; its content is compared by a second round. */
static void same_model(const tct_model *a, const tct_model *b) {
  assert_true(same_text(a->loss, b->loss) && same_text(a->penalty, b->penalty) && same_text(a->solver, b->solver));
  assert_true(a->rows == b->rows && a->cols == b->cols && a->labels == b->labels);
  assert_true(same_reals(a->coefficients, b->coefficients) && same_real(a->intercept, b->intercept));
  assert_int_equal(a->has_intercept, b->has_intercept);
  for (int j = 0; j < COLS; j++) assert_string_equal(a->features[j], b->features[j]);
  assert_true(same_text(a->label, b->label) && same_text(a->scale, b->scale) && !a->schema == !b->schema);
  assert_true(same_reals(a->scale_factor, b->scale_factor) && same_reals(a->scale_shift, b->scale_shift));
  assert_true(same_real(a->label_shift, b->label_shift) && same_real(a->label_bound, b->label_bound));
  assert_true(same_real(a->row_norm, b->row_norm) && a->rows_rule == b->rows_rule);
  assert_int_equal(a->penalised_intercept, b->penalised_intercept);
  assert_true(a->is_private == b->is_private && (!a->is_private || a->neighbours == b->neighbours));
  assert_true(same_real(a->epsilon, b->epsilon) && same_real(a->delta, b->delta));
  assert_true(same_text(a->accountant, b->accountant) && same_events(&a->events, &b->events));
  assert_true(!a->reproducible == !b->reproducible && !a->adaptive == !b->adaptive);
  for (int i = 0; i <= TCT_UNACCOUNTED; i++) assert_true(same_text(a->unaccounted[i], b->unaccounted[i]));
  assert_true(same_text(a->fits, b->fits) && same_real(a->weight_cap, b->weight_cap));
  assert_true(same_text(a->ledger_head, b->ledger_head) && same_text(a->run_id, b->run_id));
}

static char *text_of(const tct_model *m) {
  tct_error err = {0};
  char *text = tct_model_json(m, &err);
  if (!text) fail_msg("%s", err.text);
  return text;
}

static void every_field_comes_back(void **state) {
  (void)state;
  for (int variant = 0; variant < 8; variant++) {
    tct_error err = {0};
    tct_model *m = made(variant);
    char *text = text_of(m);
    tct_model *back = tct_model_read(NULL, text, NULL, &err);
    if (!back) fail_msg("variant %d: %s", variant, err.text);
    same_model(m, back);
    char *again = text_of(back);
    assert_string_equal(text, again);
    tct_text_free(again);
    tct_text_free(text);
    tct_model_free(back);
    tct_model_free(m);
  }
}

static void a_written_model_reads_back(void **state) {
  (void)state;
  char path[] = "/tmp/tacit-model-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  tct_error err = {0};
  tct_model *m = made(7);
  assert_int_equal(tct_model_write(m, path, &err), TCT_OK);
  tct_model *back = tct_model_read(path, NULL, NULL, &err);
  if (!back) fail_msg("%s", err.text);
  same_model(m, back);
  tct_model_free(back);
  tct_model_free(m);
  unlink(path);
  assert_null(tct_model_read(path, NULL, NULL, &err));
  assert_int_equal(err.status, TCT_E_RUN);
}

/* ---- damage --------------------------------------------------------------------------------------------- */

/* Refused with a sentence, or a model that is whole: it can be written and read again.  There is no checksum, so a
 * digit that becomes another digit gives another model. */
static void damaged(const char *text, int *refused) {
  tct_error err = {0};
  tct_model *m = tct_model_read(NULL, text, NULL, &err);
  if (!m) {
    ++*refused;
    assert_int_equal(err.status, TCT_E_DATA);
    assert_true(err.text[0] != 0);
    return;
  }
  char *again = text_of(m);
  tct_model *back = tct_model_read(NULL, again, NULL, &err);
  if (!back) fail_msg("a damaged model was read, and not read again: %s", err.text);
  for (int64_t j = 0; j < m->cols; j++) assert_true(isfinite(m->coefficients[j]));
  tct_model_free(back);
  tct_text_free(again);
  tct_model_free(m);
}

static void a_file_damaged_at_any_byte_is_refused_or_another_whole_model(void **state) {
  (void)state;
  static const char with[] = "\"0-9}],: \x01\xff";
  for (int variant = 5; variant < 8; variant += 2) {
    tct_model *m = made(variant);
    char *text = text_of(m);
    size_t length = strlen(text);
    char *copy = malloc(length + 2);
    int refused = 0, tried = 0;
    for (size_t at = 0; at < length; at++) {
      for (size_t k = 0; k < sizeof with - 1; k++, tried++) { /* another byte */
        memcpy(copy, text, length + 1);
        copy[at] = with[k];
        damaged(copy, &refused);
      }
      memcpy(copy, text, at); /* one byte less */
      strcpy(copy + at, text + at + 1);
      damaged(copy, &refused);
    }
    assert_true(refused > tried / 2);
    free(copy);
    tct_text_free(text);
    tct_model_free(m);
  }
}

static void a_file_cut_at_any_byte_is_refused(void **state) {
  (void)state;
  tct_model *m = made(7);
  char *text = text_of(m);
  size_t length = strlen(text);
  while (length > 0 && text[length - 1] == '\n') length--;
  for (size_t at = 0; at < length; at++) {
    int refused = 0;
    char *copy = calloc(at + 1, 1);
    memcpy(copy, text, at);
    damaged(copy, &refused);
    assert_int_equal(refused, 1);
    free(copy);
  }
  tct_text_free(text);
  tct_model_free(m);
}

/* What must not be taken on trust: each replacement makes the file refused. */
static void a_file_that_contradicts_itself_is_refused(void **state) {
  (void)state;
  static const char *const pairs[][2] = {
      {"\"tacit-model\"", "\"tacit\""},
      {"\"columns\": 5", "\"columns\": 4"},
      {"\"columns\": 5", "\"columns\": 6"},
      {"\"columns\": 5", "\"columns\": -5"},
      {"\"columns\": 5", "\"columns\": 9223372036854775807"},
      {"\"rows\": 123456789012", "\"rows\": 0"},
      {"\"version\": 2", "\"version\": 1"},
      {"\"add_remove\"", "\"both\""},
      {"\"noise\": \"reproducible\"", "\"noise\": \"quantum\""},
      {"gaussian:noise=1.1", "gaussian:noise=-1.1"},
      {"gaussian:noise=1.1", "gaussian:noise=nan"},
      {"rate=0.01", "rate=1.01"},
      {"\"scale_shift\": [", "\"scale_shift\": null, \"was\": ["},
      {"\"private\": true", "\"private\": 1"},
  };
  tct_model *m = made(7);
  char *text = text_of(m);
  for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
    char *at = strstr(text, pairs[k][0]);
    if (!at) fail_msg("the model file has no %s", pairs[k][0]);
    char *copy = calloc(strlen(text) + 64, 1);
    memcpy(copy, text, (size_t)(at - text));
    strcat(copy, pairs[k][1]);
    strcat(copy, at + strlen(pairs[k][0]));
    tct_error err = {0};
    tct_model *back = tct_model_read(NULL, copy, NULL, &err);
    if (back) fail_msg("taken with %s", pairs[k][1]);
    assert_int_equal(err.status, TCT_E_DATA);
    free(copy);
  }
  tct_text_free(text);
  tct_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_field_comes_back),
      cmocka_unit_test(a_written_model_reads_back),
      cmocka_unit_test(a_file_damaged_at_any_byte_is_refused_or_another_whole_model),
      cmocka_unit_test(a_file_cut_at_any_byte_is_refused),
      cmocka_unit_test(a_file_that_contradicts_itself_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
