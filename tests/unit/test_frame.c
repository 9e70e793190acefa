/* test_frame.c - data frames through the Arrow C stream interface: the tables of files, and nothing left behind. */
#include "read_help.h"
#include "frame_help.h"

#define NUMBERS(fmt, title, values) \
  { .format = (fmt), .name = (title), .buffer = {NULL, (values)}, .buffers = 2, .length = COUNT(values) }

static tct_frame *take(source *s) {
  struct ArrowArrayStream stream = stream_of(s);
  tct_error err;
  tct_frame *frame = tct_frame_take(&stream, &err);
  if (!frame) fail_msg("not taken: %s", err.text);
  assert_null(stream.release);
  return frame;
}

static tct_data *read_frame(source *s, const tct_read_options *options) {
  tct_frame *frame = take(s);
  tct_error err;
  tct_data *data = tct_data_read_frame(frame, options, NULL, &err);
  if (!data) fail_msg("not read: %s", err.text);
  tct_frame_free(frame);
  assert_int_equal(s->live, 0);
  return data;
}

/* The sentence of a read that fails; static storage. */
static const char *refusal(source *s, const tct_read_options *options) {
  static tct_error err;
  struct ArrowArrayStream stream = stream_of(s);
  tct_frame *frame = tct_frame_take(&stream, &err);
  if (frame) {
    tct_data *data = tct_data_read_frame(frame, options, NULL, &err);
    if (data) fail_msg("it was read");
  }
  tct_frame_free(frame);
  assert_null(stream.release);
  assert_int_equal(s->live, 0);
  assert_true(err.status == TCT_E_DATA || err.status == TCT_E_USAGE);
  assert_non_null(strchr(err.text, ';'));
  return err.text;
}

static void assert_same(const tct_data *a, const tct_data *b) {
  assert_int_equal(tct_data_rows(a), tct_data_rows(b));
  assert_int_equal(tct_data_cols(a), tct_data_cols(b));
  assert_int_equal(tct_data_matrix(a)->layout, tct_data_matrix(b)->layout);
  for (int64_t i = 0; i < tct_data_rows(a); i++) {
    for (int64_t j = 0; j < tct_data_cols(a); j++) assert_true(entry(a, i, j) == entry(b, i, j));
    if (tct_data_labels(a)) assert_true(tct_data_labels(a)[i] == tct_data_labels(b)[i]);
  }
  for (int64_t j = 0; j < tct_data_cols(a); j++) assert_string_equal(tct_data_feature(a, j), tct_data_feature(b, j));
}

static const char SCHEMA[] =
    "{\"missing_values\":[\"?\",\"999\"],\"label\":{\"name\":\"y\",\"positive\":\"yes\",\"values\":[\"no\",\"yes\"]},"
    "\"columns\":[{\"name\":\"age\",\"type\":\"number\",\"lower\":0,\"upper\":100,\"missing\":40},"
    "{\"name\":\"work\",\"type\":\"category\",\"values\":[\"state\",\"private employer\"],\"missing\":\"zero\","
    "\"other\":\"state\"},{\"name\":\"stage\",\"type\":\"category\",\"values\":[\"1\",\"2\",\"3\"]},"
    "{\"name\":\"id\",\"type\":\"ignore\"}]}";
static const char FILE_OF_IT[] =
    "id,y,stage,work,age\na,yes,2,state,20\nb,no,1,private employer,150\nc,no,3,?,\nd,yes,3,own,999\n";

static const unsigned char third_is_missing[] = {0x0B};
static const double ages[] = {20, 150, 7, 999};
static const int8_t stages[] = {2, 1, 3, 3};
static const int32_t work_ends[] = {0, 5, 21, 22, 25}, id_ends[] = {0, 1, 2, 3, 4};
static const int64_t label_ends[] = {0, 3, 5, 7, 10};
static const column people[] = {
    {.format = "U", .name = "y", .buffer = {NULL, label_ends, "yesnonoyes"}, .buffers = 3},
    {.format = "g", .name = "age", .buffer = {third_is_missing, ages}, .buffers = 2, .nulls = -1},
    {.format = "u", .name = "work", .buffer = {NULL, work_ends, "stateprivate employer?own"}, .buffers = 3},
    {.format = "u", .name = "id", .buffer = {NULL, id_ends, "abcd"}, .buffers = 3},
    {.format = "c", .name = "stage", .buffer = {NULL, stages}, .buffers = 2},
};

static void a_frame_gives_the_table_of_its_file_in_one_chunk_and_in_several(void **state) {
  (void)state;
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, SCHEMA);
  tct_data *file = read_text(FILE_OF_IT, &options);
  for (int64_t chunks = 1; chunks <= 4; chunks *= 2) {
    source s = {.column = people, .columns = COUNT(people), .rows = 4 / chunks, .chunks = chunks};
    tct_data *frame = read_frame(&s, &options);
    assert_same(frame, file);
    assert_string_equal(frame->schema, file->schema);
    assert_string_equal(frame->label_name, "y");
    tct_data_free(frame);
  }
  tct_data_free(file);
}

static void every_width_of_number_arrives(void **state) {
  (void)state;
  static const double rows[3] = {0, 1, 100};
  static const int8_t c[] = {0, 1, 100};
  static const uint8_t C[] = {0, 1, 100};
  static const int16_t s[] = {0, 1, 100};
  static const uint16_t S[] = {0, 1, 100}, half[] = {0, 0x3C00, 0x5640};
  static const int32_t i[] = {0, 1, 100};
  static const uint32_t I[] = {0, 1, 100};
  static const int64_t l[] = {0, 1, 100};
  static const uint64_t L[] = {0, 1, 100};
  static const float f[] = {0, 1, 100};
  static const double g[] = {0, 1, 100};
  static const column kinds[] = {NUMBERS("c", "v", c), NUMBERS("C", "v", C),   NUMBERS("s", "v", s),
                                 NUMBERS("S", "v", S), NUMBERS("i", "v", i),   NUMBERS("I", "v", I),
                                 NUMBERS("l", "v", l), NUMBERS("L", "v", L),   NUMBERS("f", "v", f),
                                 NUMBERS("g", "v", g), NUMBERS("e", "v", half)};
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, NULL);
  for (size_t k = 0; k < COUNT(kinds); k++) {
    source one = {.column = &kinds[k], .columns = 1, .rows = 3, .chunks = 1};
    tct_data *data = read_frame(&one, &options);
    for (int64_t row = 0; row < 3; row++) assert_true(entry(data, row, 0) == rows[row]);
    tct_data_free(data);
  }
}

static const char CITIES[] =
    "{\"columns\":[{\"name\":\"t\",\"type\":\"category\",\"values\":[\"Ulm\",\"a town of more than twelve "
    "letters\"],\"missing\":\"zero\"}]}";

/* A view: length, then up to twelve letters, or four of them, the buffer and the place in it. */
static void make_view(unsigned char view[16], int32_t length, const char *letters, int32_t place) {
  memset(view, 0, 16);
  memcpy(view, &length, 4);
  memcpy(view + 4, letters, length <= 12 ? (size_t)length : 4);
  if (length > 12) memcpy(view + 12, &place, 4);
}

static void texts_arrive_as_views_and_from_dictionaries(void **state) {
  (void)state;
  static const char town[] = "..a town of more than twelve letters";
  static const int64_t sizes[] = {sizeof town - 1};
  static const int32_t ends[] = {0, 34, 37};
  static const uint16_t index[] = {1, 0, 0};
  static const unsigned char last_is_missing[] = {0x03};
  unsigned char views[3][16];
  make_view(views[0], 3, "Ulm", 0);
  make_view(views[1], (int32_t)sizes[0] - 2, town + 2, 2);
  make_view(views[2], 0, "", 0);
  column words = {
      .format = "u", .buffer = {NULL, ends, "a town of more than twelve lettersUlm"}, .buffers = 3, .length = 2};
  column forms[] = {
      {.format = "vu", .name = "t", .buffer = {NULL, views, town, sizes}, .buffers = 4},
      {.format = "S", .name = "t", .buffer = {last_is_missing, index}, .buffers = 2, .nulls = 1, .dictionary = &words}};
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, CITIES);
  for (size_t k = 0; k < COUNT(forms); k++) {
    source s = {.column = &forms[k], .columns = 1, .rows = 3, .chunks = 1};
    tct_data *data = read_frame(&s, &options);
    static const double rows[3][2] = {{1, 0}, {0, 1}, {0, 0}};
    for (int64_t i = 0; i < 3; i++) assert_row(data, i, rows[i], 2);
    tct_data_free(data);
  }
}

static void every_chunk_has_its_own_dictionary(void **state) {
  (void)state;
  static const char schema[] =
      "{\"label\":{\"name\":\"y\",\"positive\":\"b\"},\"columns\":[{\"name\":\"k\",\"type\":\"category\",\"values\":["
      "\"a\",\"b\"]}]}";
  static const int32_t ends[] = {0, 1, 2};
  static const int8_t index[] = {0, 1, 0, 1};
  column first = {.format = "u", .buffer = {NULL, ends, "ab"}, .buffers = 3, .length = 2}, second = first;
  second.buffer[2] = "ba";
  column columns[] = {{.format = "c", .name = "k", .buffer = {NULL, index}, .buffers = 2}, {0}};
  columns[0].dictionary = &first;
  columns[0].later = &second;
  columns[1] = columns[0];
  columns[1].name = "y";
  source s = {.column = columns, .columns = 2, .rows = 2, .chunks = 2};
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, schema);
  tct_data *data = read_frame(&s, &options);
  static const double b[] = {0, 1, 1, 0}, labels[] = {-1, 1, 1, -1};
  for (int64_t i = 0; i < 4; i++) assert_true(entry(data, i, 1) == b[i] && entry(data, i, 0) == 1 - b[i]);
  assert_memory_equal(tct_data_labels(data), labels, sizeof labels);
  tct_data_free(data);
}

static void a_table_lends_its_records_and_stays_as_it_is(void **state) {
  (void)state;
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, SCHEMA);
  options.invalid = TCT_INVALID_ZERO;
  tct_data *table = read_text("id,y,stage,work,age\na,yes,2,state,20\nb,no,x,state,7\n", &options);
  static const double y[] = {2.5, -1}, weight[] = {1, 0.5};
  tct_error err;
  tct_data *own = tct_data_relabel(table, y, TCT_LABELS_REAL, NULL, 0, 0, &err),
           *same = tct_data_relabel(table, NULL, 0, NULL, 0, 0, &err);
  assert_non_null(own);
  assert_non_null(same);
  assert_true(tct_data_matrix(own)->values == tct_data_matrix(table)->values && tct_data_labels(own) == y);
  assert_true(tct_data_labels(same) == tct_data_labels(table) && same->labels == TCT_LABELS_BINARY);
  assert_string_equal(same->schema, table->schema);
  assert_string_equal(tct_data_feature(own, 0), "age");
  assert_string_equal(tct_data_class(same, 1), "yes");
  assert_int_equal(tct_data_classes(own, NULL), 0);
  assert_true(same->dropped[1] && !same->dropped[0]);
  assert_int_equal(tct_data_weigh(same, weight, 1, NULL, &err), TCT_OK);
  assert_true(same->weight && !table->weight);
  tct_data_free(own);
  tct_data_free(same);
  static const double bad[] = {NAN, 1};
  assert_null(tct_data_relabel(table, bad, TCT_LABELS_REAL, NULL, 0, 0, &err));
  assert_int_equal(err.status, TCT_E_DATA);
  assert_null(tct_data_relabel(table, y, TCT_LABELS_NONE, NULL, 0, 0, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  tct_data_free(table);
}

static void numbers_and_booleans_stand_for_the_texts_that_mean_the_same(void **state) {
  (void)state;
  static const char schema[] =
      "{\"label\":{\"name\":\"y\",\"positive\":\"True\",\"values\":[\"False\",\"True\"]},\"columns\":[{\"name\":\"a\","
      "\"type\":\"category\",\"values\":[\"1\",\"2.50\",\"-3\"],\"other\":\"zero\",\"missing\":\"1\"}]}";
  static const double a[] = {1, 2.5, -3, 4, NAN};
  static const unsigned char y[] = {0x15};
  column columns[] = {NUMBERS("g", "a", a), {.format = "b", .name = "y", .buffer = {NULL, y}, .buffers = 2}};
  source s = {.column = columns, .columns = 2, .rows = 5, .chunks = 1};
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, schema);
  tct_data *data = read_frame(&s, &options);
  static const double rows[5][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}, {1, 0, 0}},
                      labels[] = {1, -1, 1, -1, 1};
  for (int64_t i = 0; i < 5; i++) assert_row(data, i, rows[i], 3);
  assert_memory_equal(tct_data_labels(data), labels, sizeof labels);
  tct_data_free(data);
}

static void a_whole_number_beyond_the_exact_doubles_is_not_taken_for_its_neighbour(void **state) {
  (void)state;
  static const char schema[] =
      "{\"columns\":[{\"name\":\"a\",\"type\":\"category\",\"values\":[\"9007199254740993\"],\"other\":\"zero\"}]}";
  static const int64_t a[] = {INT64_C(9007199254740993), INT64_C(9007199254740992)};
  column columns[] = {NUMBERS("l", "a", a)};
  source s = {.column = columns, .columns = 1, .rows = 2, .chunks = 1};
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, schema);
  tct_data *data = read_frame(&s, &options);
  assert_true(entry(data, 0, 0) == 1 && entry(data, 1, 0) == 0);
  tct_data_free(data);
}

static void a_malformed_record_stops_the_read_or_counts_nothing(void **state) {
  (void)state;
  static const double a[] = {0.5, INFINITY, 0.25}, y[] = {1, 0, 1};
  column columns[] = {NUMBERS("g", "a", a), NUMBERS("g", "y", y)};
  source s = {.column = columns, .columns = 2, .rows = 3, .chunks = 1};
  tct_read_options options = options_for(TCT_LABELS_BINARY, "y", NULL);
  assert_string_equal(refusal(&s, &options), "column \"a\", record 2: the number is not finite; correct it");
  options.invalid = TCT_INVALID_ZERO;
  tct_data *data = read_frame(&s, &options);
  assert_true(entry(data, 1, 0) == 0 && data->dropped[1] && !data->dropped[0] && entry(data, 2, 0) == 0.25);
  tct_data_free(data);
}

static void errors_name_the_column_and_show_no_value(void **state) {
  (void)state;
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, SCHEMA);
  source s = {.column = people, .columns = COUNT(people) - 1, .rows = 4, .chunks = 1};
  assert_non_null(strstr(refusal(&s, &options), "no column \"stage\""));
  column more[COUNT(people) + 1];
  memcpy(more, people, sizeof people);
  more[COUNT(people)] = people[3];
  more[COUNT(people)].name = "ward";
  s = (source){.column = more, .columns = COUNT(more), .rows = 4, .chunks = 1};
  assert_non_null(strstr(refusal(&s, &options), "does not describe column \"ward\""));
  more[COUNT(people)].name = "id";
  assert_non_null(strstr(refusal(&s, &options), "has the name of another one"));
  s.columns--;
  more[4] = (column){.format = "u", .name = "stage", .buffer = {NULL, id_ends, "abcd"}, .buffers = 3};
  assert_string_equal(
      refusal(&s, &options),
      "column \"stage\", record 1: the category is not in the schema's list; list it, or let the schema "
      "say what \"other\" becomes");
  more[4] = people[4];
  more[0] = (column){.format = "u", .name = "y", .buffer = {NULL, id_ends, "abcd"}, .buffers = 3};
  assert_non_null(strstr(refusal(&s, &options), "column \"y\", record 1: the label is not among"));
  more[0] = (column){.format = "n", .name = "y"};
  assert_non_null(strstr(refusal(&s, &options), "column \"y\", record 1: the label is missing"));
  more[0] = (column){.format = "tdD", .name = "y", .buffer = {NULL, ages}, .buffers = 2};
  assert_non_null(strstr(refusal(&s, &options), "column \"y\" holds neither numbers, booleans nor texts"));
  options = options_for(TCT_LABELS_NONE, "y", NULL);
  assert_non_null(strstr(refusal(&s, &options), "column \"work\" holds texts"));
}

static void a_stream_that_fails_or_contradicts_itself_is_released_whole(void **state) {
  (void)state;
  static const int32_t backward[] = {0, 4, 2, 5, 6};
  static const int8_t beyond[] = {0, 1, 5, 0}, below[] = {0, -1, 0, 0};
  static const int64_t sizes[] = {3};
  unsigned char views[4][16];
  for (int k = 0; k < 4; k++) make_view(views[k], 20, "....", 1);
  column list = {.format = "u", .buffer = {NULL, id_ends, "abcd"}, .buffers = 3, .length = 4};
  column bad[] = {{.format = "u", .name = "id", .buffer = {NULL, backward, "abcdef"}, .buffers = 3},
                  {.format = "u", .name = "id", .buffer = {NULL, id_ends, NULL}, .buffers = 3},
                  {.format = "g", .name = "id", .buffer = {NULL, NULL}, .buffers = 2},
                  {.format = "g", .name = "id", .buffer = {NULL}, .buffers = 1},
                  {.format = "c", .name = "id", .buffer = {NULL, beyond}, .buffers = 2, .dictionary = &list},
                  {.format = "c", .name = "id", .buffer = {NULL, below}, .buffers = 2, .dictionary = &list},
                  {.format = "vu", .name = "id", .buffer = {NULL, views, "abc", sizes}, .buffers = 4},
                  {.format = "vu", .name = "id", .buffer = {NULL, views}, .buffers = 2},
                  {.format = "c", .name = "id", .buffer = {NULL, beyond}, .buffers = 2, .offset = -1}};
  tct_read_options options =
      options_for(TCT_LABELS_NONE, NULL,
                  "{\"columns\":[{\"name\":\"id\",\"type\":\"category\",\"values\":[\"x\"],\"other\":\"zero\"}]}");
  for (size_t k = 0; k < COUNT(bad); k++) {
    source s = {.column = &bad[k], .columns = 1, .rows = 4, .chunks = 1};
    assert_non_null(strstr(refusal(&s, &options), "contradicts itself"));
  }
  source s = {.column = people, .columns = COUNT(people), .rows = 1, .chunks = 4, .schema_fails = 1};
  assert_non_null(strstr(refusal(&s, &options), "no list of its columns"));
  s.schema_fails = 0;
  s.next_fails = 3;
  assert_non_null(strstr(refusal(&s, &options), "broke off"));
  s.next_fails = 0;
  s.lost = 1;
  assert_non_null(strstr(refusal(&s, &options), "contradicts itself"));
  s.lost = 0;
  s.format = "g";
  assert_non_null(strstr(refusal(&s, &options), "single column"));
  s.format = NULL;
  s.chunks = 0;
  assert_non_null(strstr(refusal(&s, &options), "no records"));
  tct_error err;
  struct ArrowArrayStream used = {0};
  assert_null(tct_frame_take(&used, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
}

static void codes_number_the_distinct_values_in_their_order(void **state) {
  (void)state;
  static const double n[] = {3, 2.5, 3, NAN};
  static const unsigned char b[] = {0x05};
  column columns[] = {NUMBERS("g", "n", n),
                      {.format = "b", .name = "b", .buffer = {NULL, b}, .buffers = 2},
                      {.format = "U", .name = "t", .buffer = {NULL, label_ends, "yesnonoyes"}, .buffers = 3}};
  static const struct {
    const char *name, *values;
    int64_t code[4];
  } cases[] = {
      {"n", "[3,2.5]", {0, 1, 0, -1}}, {"b", "[true,false]", {0, 1, 0, 1}}, {"t", "[\"yes\",\"no\"]", {0, 1, 1, 0}}};
  for (int64_t chunks = 1; chunks <= 2; chunks++) {
    source s = {.column = columns, .columns = 3, .rows = 4 / chunks, .chunks = chunks};
    tct_frame *frame = take(&s);
    for (size_t k = 0; k < COUNT(cases); k++) {
      int64_t code[4];
      char *values;
      tct_error err;
      assert_int_equal(tct_frame_codes(frame, cases[k].name, code, &values, &err), TCT_OK);
      assert_string_equal(values, cases[k].values);
      assert_memory_equal(code, cases[k].code, sizeof code);
      tct_text_free(values);
    }
    double out[4];
    tct_error err;
    assert_int_equal(tct_frame_numbers(frame, "n", out, &err), TCT_OK);
    assert_true(out[0] == 3 && out[1] == 2.5 && isnan(out[3]));
    assert_int_equal(tct_frame_numbers(frame, "t", out, &err), TCT_E_DATA);
    assert_int_equal(tct_frame_codes(frame, "none", (int64_t[4]){0}, NULL, &err), TCT_E_USAGE);
    tct_frame_free(frame);
    assert_int_equal(s.live, 0);
  }
}

static void codes_of_many_values_stay_apart(void **state) {
  (void)state;
  enum { MANY = 5000 };
  int64_t *value = malloc(MANY * sizeof *value), *code = malloc(MANY * sizeof *code);
  for (int64_t k = 0; k < MANY; k++) value[k] = (k * 7919) % 4999 - 2000;
  column one = {.format = "l", .name = "v", .buffer = {NULL, value}, .buffers = 2};
  source s = {.column = &one, .columns = 1, .rows = MANY, .chunks = 1};
  tct_frame *frame = take(&s);
  tct_error err;
  assert_int_equal(tct_frame_codes(frame, "v", code, NULL, &err), TCT_OK);
  for (int64_t k = 0; k < MANY; k++) assert_int_equal(code[k], k % 4999);
  tct_frame_free(frame);
  free(value);
  free(code);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_frame_gives_the_table_of_its_file_in_one_chunk_and_in_several),
      cmocka_unit_test(every_width_of_number_arrives),
      cmocka_unit_test(texts_arrive_as_views_and_from_dictionaries),
      cmocka_unit_test(every_chunk_has_its_own_dictionary),
      cmocka_unit_test(a_table_lends_its_records_and_stays_as_it_is),
      cmocka_unit_test(numbers_and_booleans_stand_for_the_texts_that_mean_the_same),
      cmocka_unit_test(a_whole_number_beyond_the_exact_doubles_is_not_taken_for_its_neighbour),
      cmocka_unit_test(a_malformed_record_stops_the_read_or_counts_nothing),
      cmocka_unit_test(errors_name_the_column_and_show_no_value),
      cmocka_unit_test(a_stream_that_fails_or_contradicts_itself_is_released_whole),
      cmocka_unit_test(codes_number_the_distinct_values_in_their_order),
      cmocka_unit_test(codes_of_many_values_stay_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
