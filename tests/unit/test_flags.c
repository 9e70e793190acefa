/* test_flags.c - true, True and TRUE are one value wherever a text is read. */
#include "read_help.h"

#define SCHEMA(values, label)                                                                                    \
  "{\"label\":{\"name\":\"y\"," label "},\"columns\":[{\"name\":\"a\",\"type\":\"category\",\"values\":[" values \
  "]}]"                                                                                                          \
  "}"

static void a_listed_spelling_stands_for_the_others(void **state) {
  (void)state;
  static const char csv[] = "a,y\nTrue,yes\nFALSE,no\ntrue,no\n";
  tct_read_options options = options_for(
      TCT_LABELS_BINARY, NULL, SCHEMA("\"false\",\"true\"", "\"positive\":\"yes\",\"values\":[\"no\",\"yes\"]"));
  tct_data *data = read_text(csv, &options);
  assert_row(data, 0, (double[]){0, 1}, 2);
  assert_row(data, 1, (double[]){1, 0}, 2);
  assert_row(data, 2, (double[]){0, 1}, 2);
  tct_data_free(data);
  options.schema_text = SCHEMA("\"1\",\"0\"", "\"positive\":\"yes\",\"values\":[\"no\",\"yes\"]");
  data = read_text(csv, &options);
  assert_row(data, 0, (double[]){1, 0}, 2);
  assert_row(data, 1, (double[]){0, 1}, 2);
  tct_data_free(data);
}

/* Where two spellings are listed they are two values, and each is its own. */
static void a_listed_text_is_itself_before_it_is_a_boolean(void **state) {
  (void)state;
  tct_read_options options = options_for(
      TCT_LABELS_BINARY, NULL, SCHEMA("\"true\",\"True\"", "\"positive\":\"True\",\"values\":[\"true\",\"True\"]"));
  tct_data *data = read_text("a,y\nTrue,True\ntrue,true\n", &options);
  assert_row(data, 0, (double[]){0, 1}, 2);
  assert_row(data, 1, (double[]){1, 0}, 2);
  assert_true(tct_data_labels(data)[0] == 1 && tct_data_labels(data)[1] == -1);
  tct_data_free(data);
  assert_refused("a,y\nFalse,true\n", 15, &options, 2, 1, "not in the schema's list");
  assert_refused("a,y\ntrue,False\n", 15, &options, 2, 2, "not among the schema's values");
}

static void labels_are_read_in_every_spelling(void **state) {
  (void)state;
  static const char *const schemas[] = {SCHEMA("\"u\"", "\"positive\":\"true\",\"values\":[\"false\",\"true\"]"),
                                        SCHEMA("\"u\"", "\"positive\":\"1\",\"values\":[\"0\",\"1\"]")};
  for (size_t k = 0; k < COUNT(schemas); k++) {
    tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, schemas[k]);
    tct_data *data = read_text("a,y\nu,True\nu,False\nu,TRUE\n", &options);
    assert_true(tct_data_labels(data)[0] == 1 && tct_data_labels(data)[1] == -1 && tct_data_labels(data)[2] == 1);
    tct_data_free(data);
    assert_refused("a,y\nu,tRue\n", 11, &options, 2, 2, "not among the schema's values");
  }
}

static void a_missing_word_stays_missing(void **state) {
  (void)state;
  static const char schema[] =
      "{\"missing_values\":[\"False\"],\"label\":{\"name\":\"y\"},\"columns\":[{\"name\":\"a\",\"type\":\"category\","
      "\"values\":[\"false\",\"true\"],\"missing\":\"zero\"}]}";
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, schema);
  tct_data *data = read_text("a,y\nFalse,1\nTrue,0\n", &options);
  assert_row(data, 0, (double[]){0, 0}, 2);
  assert_row(data, 1, (double[]){0, 1}, 2);
  tct_data_free(data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_listed_spelling_stands_for_the_others),
      cmocka_unit_test(a_listed_text_is_itself_before_it_is_a_boolean),
      cmocka_unit_test(labels_are_read_in_every_spelling),
      cmocka_unit_test(a_missing_word_stays_missing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
