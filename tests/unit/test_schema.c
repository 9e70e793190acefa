/* test_schema.c - what a schema makes of numbers, categories and labels, and which schemas are refused. */
#include "read_help.h"

#define COLUMN_A "{\"name\":\"a\",\"type\":\"number\",\"lower\":-2,\"upper\":6,\"missing\":2}"
#define COLUMN_B(more) "{\"name\":\"b\",\"type\":\"category\",\"values\":[\"u\",\"v\",\"w\"]" more "}"

static void numbers_are_clipped_and_scaled(void **state) {
  (void)state;
  static const char *const scales[] = {"unit", "symmetric"};
  static const double expected[2][6] = {{0, 0.25, 1, 1, 0, 0.5}, {-1, -0.5, 1, 1, -1, 0}};
  for (int s = 0; s < 2; s++) {
    char schema[256];
    snprintf(schema, sizeof schema, "{\"scale\":\"%s\",\"missing_values\":[\"NA\"],\"columns\":[" COLUMN_A "]}",
             scales[s]);
    tct_read_options options = options_for(TCT_LABELS_NONE, NULL, schema);
    tct_data *data = read_text("a\n-2\n0\n6\n1e300\n-7\nNA\n", &options);
    for (int i = 0; i < 6; i++) assert_row(data, i, &expected[s][i], 1);
    assert_null(data->unaccounted[0]);
    tct_data_free(data);
  }
}

static void codes_for_missing_numbers_are_missing(void **state) {
  (void)state;
  static const char schema[] = "{\"missing_values\":[\"999\"],\"columns\":[" COLUMN_A
                               ",{\"name\":\"c\",\"type\":\"number\",\"lower\":0,\"upper\":1}]}";
  static const double row[2] = {0.5, 1};
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, schema);
  tct_data *data = read_text("a,c\n999,7\n", &options);
  assert_row(data, 0, row, 2);
  tct_data_free(data);
  assert_refused("a,c\n1,999\n", 10, &options, 2, 2, "missing");
  assert_refused("a,c\n1,\n", 7, &options, 2, 2, "missing");
}

static void scaled_numbers_never_leave_their_interval(void **state) {
  (void)state;
  static const char schema[] = "{\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"lower\":-0.1,\"upper\":0.3}]}";
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, schema);
  char text[64];
  for (int k = -20; k < 60; k++) {
    snprintf(text, sizeof text, "a\n%.17g\n", k * 0.01 + 1e-17);
    tct_data *data = read_text(text, &options);
    assert_true(entry(data, 0, 0) >= 0 && entry(data, 0, 0) <= 1);
    tct_data_free(data);
  }
}

static void features_come_in_the_schemas_order(void **state) {
  (void)state;
  static const char schema[] = "{\"columns\":[" COLUMN_B("") "," COLUMN_A ",{\"name\":\"c\",\"type\":\"ignore\"}]}";
  static const char *const names[] = {"b=u", "b=v", "b=w", "a"};
  static const double row[4] = {0, 1, 0, 0.5};
  static const char *const texts[] = {"a,b\n2,v\n", "c,b,a\nx,v,2\n"};
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, schema);
  for (int k = 0; k < 2; k++) {
    tct_data *data = read_text(texts[k], &options);
    assert_row(data, 0, row, 4);
    for (int j = 0; j < 4; j++) assert_string_equal(tct_data_feature(data, j), names[j]);
    tct_data_free(data);
  }
}

static void missing_and_other_categories_become_what_the_schema_says(void **state) {
  (void)state;
  static const struct {
    const char *schema;
    double missing[3], other[3];
  } cases[] = {
      {"{\"columns\":[" COLUMN_B(",\"missing\":\"zero\",\"other\":\"zero\"") "]}", {0, 0, 0}, {0, 0, 0}},
      {"{\"columns\":[" COLUMN_B(",\"missing\":\"w\",\"other\":\"u\"") "]}", {0, 0, 1}, {1, 0, 0}},
      {"{\"missing_values\":[\"?\",\"q\"],\"columns\":[" COLUMN_B(",\"missing\":\"v\"") "]}", {0, 1, 0}, {0, 1, 0}},
  };
  for (size_t k = 0; k < COUNT(cases); k++) {
    tct_read_options options = options_for(TCT_LABELS_NONE, NULL, cases[k].schema);
    tct_data *data = read_text("b\n\"\"\nq\nu\n", &options);
    static const double u[3] = {1, 0, 0};
    assert_row(data, 0, cases[k].missing, 3);
    assert_row(data, 1, cases[k].other, 3);
    assert_row(data, 2, u, 3);
    tct_data_free(data);
  }
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, "{\"columns\":[" COLUMN_B("") "]}");
  assert_refused("b\nu\nq\n", 6, &options, 3, 1, "not in the schema's list");
  assert_refused("b\nu\n\"\"\n", 7, &options, 3, 1, "category is missing");
}

static void dropping_the_first_value_leaves_it_at_zero(void **state) {
  (void)state;
  static const double rows[3][2] = {{0, 0}, {1, 0}, {0, 1}};
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, "{\"columns\":[" COLUMN_B(",\"drop_first\":true") "]}");
  tct_data *data = read_text("b\nu\nv\nw\n", &options);
  for (int i = 0; i < 3; i++) assert_row(data, i, rows[i], 2);
  assert_string_equal(tct_data_feature(data, 0), "b=v");
  tct_data_free(data);
}

static void labels_follow_the_schema(void **state) {
  (void)state;
  static const char listed[] =
      "{\"label\":{\"name\":\"y\",\"positive\":\"yes\",\"values\":[\"yes\",\"no\"]},\"columns\":[" COLUMN_A "]}";
  static const char bounded[] = "{\"label\":{\"name\":\"y\",\"lower\":-1,\"upper\":5},\"columns\":[" COLUMN_A "]}";
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, listed);
  tct_data *data = read_text("a,y\n1,yes\n1,no\n", &options);
  assert_true(tct_data_labels(data)[0] == 1 && tct_data_labels(data)[1] == -1);
  assert_string_equal(data->label_name, "y");
  tct_data_free(data);
  assert_refused("a,y\n1,yes\n1,perhaps\n", 20, &options, 3, 2, "not among the schema's values");
  options = options_for(TCT_LABELS_REAL, NULL, bounded);
  data = read_text("a,y\n1,-9\n1,9\n1,2.5\n", &options);
  static const double y[3] = {-1, 5, 2.5};
  assert_memory_equal(tct_data_labels(data), y, sizeof y);
  assert_true(data->label_low == -1 && data->label_high == 5);
  tct_data_free(data);
  options.labels = TCT_LABELS_NONE;
  data = read_text("a\n2\n", &options);
  assert_int_equal(tct_data_cols(data), 1);
  tct_data_free(data);
  data = read_text("y,a\nwhatever,2\n", &options);
  assert_true(entry(data, 0, 0) == 0.5);
  tct_data_free(data);
}

#define LABEL(positive, values) \
  "{\"label\":{\"name\":\"y\",\"positive\":\"" positive "\"" values "},\"columns\":[" COLUMN_A "]}"

/* Public against public: refused whatever the table holds, even where it holds nothing that can be read. */
static void a_positive_value_outside_the_list_is_refused_before_reading(void **state) {
  (void)state;
  static const char list[] = LABEL("yes", ",\"values\":[\"Yes\",\"no\"]"),
                    one[] = LABEL("1", ",\"values\":[\"0\",\"1.0\"]");
  static const char good[] = LABEL("yes", ",\"values\":[\"yes\",\"no\"]");
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, list);
  assert_refused("a,y\n1,Yes\n1,no\n", 17, &options, 0, 0, "\"positive\" is not among \"values\"");
  assert_refused("\"", 1, &options, 0, 0, "\"positive\" is not among \"values\"");
  options = options_for(TCT_LABELS_BINARY, NULL, good);
  options.positive = "maybe";
  assert_refused("a,y\n1,yes\n1,no\n", 17, &options, 0, 0, "not among the schema's values of \"y\"");
  options.positive = "no"; /* the other class */
  tct_data *data = read_text("a,y\n1,yes\n1,no\n", &options);
  assert_true(tct_data_labels(data)[0] == -1 && tct_data_labels(data)[1] == 1 && !data->positive_unlisted);
  tct_data_free(data);
  options = options_for(TCT_LABELS_BINARY, NULL, one); /* equal as numbers */
  data = read_text("a,y\n1,1.00\n1,0\n", &options);
  assert_true(tct_data_labels(data)[0] == 1 && tct_data_labels(data)[1] == -1);
  tct_data_free(data);
  options = options_for(TCT_LABELS_NONE, NULL, list); /* for prediction it does not matter */
  data = read_text("a\n1\n", &options);
  tct_data_free(data);
}

static tct_status fit(const tct_data *data, tct_error *err) {
  tct_config config;
  tct_config_default(&config);
  config.intercept = 0;
  config.loss = "logistic", config.row_norm = 1, config.epsilon = 1, config.delta = 1e-6;
  tct_plan *plan = tct_plan_new(&config, tct_data_rows(data), tct_data_cols(data), err);
  assert_non_null(plan);
  tct_model *model = tct_fit(plan, data, err);
  tct_status status = model ? TCT_OK : err->status;
  tct_model_free(model);
  tct_plan_free(plan);
  return status;
}

static void a_positive_value_that_never_occurs_trains_only_under_a_public_list(void **state) {
  (void)state;
  tct_error err = {0};
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, LABEL("yes", ""));
  tct_data *data = read_text("a,y\n1,Yes\n1,no\n", &options);
  assert_true(data->positive_unlisted);
  assert_int_equal(fit(data, &err), TCT_E_DATA);
  assert_non_null(strstr(err.text, "no record's label \"y\" is the positive value"));
  assert_null(strstr(err.text, "Yes"));
  tct_data_free(data);
  data = read_text("a,y\n1,yes\n1,no\n", &options);
  assert_int_equal(fit(data, &err), TCT_OK);
  tct_data_free(data);
  options = options_for(TCT_LABELS_BINARY, NULL, LABEL("yes", ",\"values\":[\"yes\",\"no\"]"));
  data = read_text("a,y\n1,no\n1,no\n", &options); /* a rare class, and nobody learns that it is absent */
  assert_int_equal(fit(data, &err), TCT_OK);
  tct_data_free(data);
}

static void applied_schema_is_kept_as_text(void **state) {
  (void)state;
  static const char schema[] = "{\"columns\":[" COLUMN_A "]}";
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, schema);
  tct_data *data = read_text("a\n3\n", &options);
  tct_read_options again = options_for(TCT_LABELS_NONE, NULL, data->schema);
  tct_data *second = read_text("a\n3\n", &again);
  assert_string_equal(data->schema, second->schema);
  tct_data_free(second);
  tct_data_free(data);
}

static void tables_that_the_schema_does_not_fit_are_refused(void **state) {
  (void)state;
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, "{\"columns\":[" COLUMN_A "," COLUMN_B("") "]}");
  assert_refused("a\n1\n", 4, &options, 1, 0, "no column \"b\"");
  assert_refused("a,b,c\n1,u,2\n", 12, &options, 1, 3, "does not describe");
  options.labels = TCT_LABELS_REAL;
  assert_refused("a,b\n1,u\n", 8, &options, 0, 0, ".label");
  options.label = "a";
  assert_refused("a,b\n1,u\n", 8, &options, 0, 0, "also a feature");
  tct_error err;
  options.schema_path = "x.json";
  assert_null(tct_data_read_memory("a\n1\n", 4, 9, &options, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  options.schema_text = NULL;
  options.schema_path = "/nowhere/x.json";
  assert_null(tct_data_read_memory("a\n1\n", 4, 9, &options, &err));
  assert_int_equal(err.status, TCT_E_RUN);
}

static void malformed_schemas_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *schema, *part;
  } cases[] = {
      {"{\"columns\":[" COLUMN_A "],\"scal\":1}", "unknown key \"scal\""},
      {"{\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"lower\":0,\"uper\":1}]}", "unknown key \"uper\""},
      {"[]", "one JSON object"},
      {"{}", "no \"columns\""},
      {"{\"columns\":[]}", "no \"columns\""},
      {"{\"columns\":[1]}", "no \"name\""},
      {"{\"columns\":[{\"name\":\"a\"}]}", "\"type\""},
      {"{\"columns\":[{\"name\":\"a\",\"type\":\"text\"}]}", "\"type\""},
      {"{\"columns\":[{\"name\":\"a\",\"type\":\"ignore\"}]}", "no column is a feature"},
      {"{\"columns\":[{\"name\":\"a\",\"type\":\"number\"}]}", "\"lower\""},
      {"{\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"lower\":\"0\",\"upper\":1}]}", "\"lower\""},
      {"{\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"lower\":1,\"upper\":1}]}", "below"},
      {"{\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"lower\":-1e308,\"upper\":1e308}]}", "below"},
      {"{\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"lower\":0,\"upper\":1,\"missing\":\"zero\"}]}",
       "\"missing\""},
      {"{\"columns\":[{\"name\":\"a\",\"type\":\"category\"}]}", "list"},
      {"{\"columns\":[{\"name\":\"a\",\"type\":\"category\",\"values\":[]}]}", "list"},
      {"{\"columns\":[{\"name\":\"a\",\"type\":\"category\",\"values\":[1]}]}", "quotes"},
      {"{\"columns\":[{\"name\":\"a\",\"type\":\"category\",\"values\":[\"u\",\"u\"]}]}", "twice"},
      {"{\"columns\":[" COLUMN_B(",\"missing\":\"x\"") "]}", "not listed"},
      {"{\"columns\":[" COLUMN_B(",\"other\":7") "]}", "choose one"},
      {"{\"columns\":[" COLUMN_B(",\"drop_first\":1") "]}", "drop_first"},
      {"{\"columns\":[{\"name\":\"a\",\"type\":\"category\",\"values\":[\"zero\"],\"missing\":\"zero\"}]}", "rule"},
      {"{\"columns\":[" COLUMN_A "," COLUMN_A "]}", "described twice"},
      {"{\"label\":{\"name\":\"a\"},\"columns\":[" COLUMN_A "]}", "also a feature"},
      {"{\"label\":{},\"columns\":[" COLUMN_A "]}", "\"name\""},
      {"{\"label\":\"y\",\"columns\":[" COLUMN_A "]}", "object"},
      {"{\"label\":{\"name\":\"y\",\"positive\":1},\"columns\":[" COLUMN_A "]}", "text"},
      {"{\"label\":{\"name\":\"y\",\"lower\":1},\"columns\":[" COLUMN_A "]}", "\"upper\""},
      {"{\"format\":\"other\",\"columns\":[" COLUMN_A "]}", "format"},
      {"{\"version\":3,\"columns\":[" COLUMN_A "]}", "version"},
      {"{\"scale\":\"log\",\"columns\":[" COLUMN_A "]}", "scale"},
  };
  for (size_t k = 0; k < COUNT(cases); k++) {
    tct_read_options options = options_for(TCT_LABELS_NONE, NULL, cases[k].schema);
    assert_refused("a\n1\n", 4, &options, 0, 0, cases[k].part);
  }
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, "{\n \"columns\": [}");
  assert_refused("a\n1\n", 4, &options, 2, 14, "not valid JSON");
}

/* Many values and names that share beginnings: the table of values finds each and nothing else. */
static void long_lists_of_values_are_found_each(void **state) {
  (void)state;
  enum { VALUES = 3000 };
  char *schema = malloc(VALUES * 16 + 100), *text = malloc(VALUES * 8 + 100), *s = schema, *t = text;
  s += sprintf(s, "{\"columns\":[{\"name\":\"a\",\"type\":\"category\",\"other\":\"zero\",\"values\":[");
  t += sprintf(t, "a\n");
  for (int k = 0; k < VALUES; k++) {
    s += sprintf(s, "%s\"v%d\"", k ? "," : "", k);
    t += sprintf(t, "v%d\n", k);
  }
  sprintf(s, "]}]}");
  sprintf(t, "v\nv%d\n", VALUES);
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, schema);
  tct_data *data = read_text(text, &options);
  const tct_matrix *m = tct_data_matrix(data);
  assert_int_equal(m->rows, VALUES + 2);
  assert_int_equal(m->layout, TCT_CSR);
  for (int k = 0; k < VALUES; k++) assert_int_equal(((const int32_t *)m->index)[k], k);
  assert_int_equal(((const int32_t *)m->start)[VALUES + 2], VALUES);
  tct_data_free(data);
  free(schema);
  free(text);
}

static char *draft_of(const char *text, const char *label) {
  char path[] = "/tmp/tacit_test_XXXXXX";
  tct_error err;
  int file = mkstemp(path);
  FILE *out = fdopen(file, "wb");
  fputs(text, out);
  fclose(out);
  char *draft = tct_schema_draft_nonprivate(path, NULL, label, &err);
  if (!draft) print_message("draft: %s\n", err.text);
  remove(path);
  return draft;
}

static void draft_reads_its_own_table_and_is_marked(void **state) {
  (void)state;
  static const char text[] = "n,c,y,id\n1,u,no,\n5.5,\"v,\"\"w\"\"\",yes,\n?,,no,\n";
  char *draft = draft_of(text, "y");
  assert_non_null(draft);
  assert_int_equal(strncmp(draft, "{\n  \"not_private\"", 17), 0);
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, draft);
  tct_data *data = read_text(text, &options);
  static const double rows[3][4] = {{-1, 0, 0, 0}, {1, 0, 1, 0}, {0, 1, 0, 1}}, y[3] = {-1, 1, -1};
  for (int i = 0; i < 3; i++) assert_row(data, i, rows[i], 4);
  assert_memory_equal(tct_data_labels(data), y, sizeof y);
  assert_non_null(data->unaccounted[0]);
  tct_data_free(data);
  tct_text_free(draft);
}

static const char *type_of(const json_t *draft, const char *name) {
  size_t k;
  const json_t *column;
  json_array_foreach(json_object_get(draft, "columns"), k,
                     column) if (!strcmp(json_string_value(json_object_get(column, "name")),
                                         name)) return json_string_value(json_object_get(column, "type"));
  return "none";
}

static void draft_tells_codes_quantities_and_identifiers_apart(void **state) {
  (void)state;
  char text[40 * 64] = "id,key,code,age,rate,one,y\n";
  for (int i = 0; i < 40; i++)
    sprintf(text + strlen(text), "%d,k%d,%d,%d,%d.%d,5,%d\n", 1000 + i, i, 1 + i % 3, 17 + i % 29, i, i % 7, i % 2);
  tct_error err;
  char *draft = tct_schema_draft_nonprivate(NULL, text, "y", &err);
  assert_non_null(draft);
  json_t *root = json_loads(draft, 0, NULL);
  assert_string_equal(type_of(root, "id"), "ignore");
  assert_string_equal(type_of(root, "key"), "ignore");
  assert_string_equal(type_of(root, "code"), "category");
  assert_string_equal(type_of(root, "age"), "number");
  assert_string_equal(type_of(root, "rate"), "number"); /* all differ, and are no whole numbers */
  assert_string_equal(type_of(root, "one"), "number");
  const json_t *age = json_array_get(json_object_get(root, "columns"), 3);
  assert_true(json_real_value(json_object_get(age, "lower")) == 15); /* 17 rounded outward */
  assert_true(json_real_value(json_object_get(age, "upper")) == 45);
  assert_string_equal(json_string_value(json_object_get(json_object_get(root, "label"), "positive")), "1");
  char *same = draft_of(text, "y");
  assert_string_equal(same, draft);
  json_decref(root);
  tct_text_free(same);
  tct_text_free(draft);
}

/* Dates have functions, a gap an indicator, and a number of somebody is no feature. */
static void draft_knows_dates_gaps_and_persons(void **state) {
  (void)state;
  char text[60 * 96] = "patient_nbr,seen,born,paid,grade,visitNo,in,out,end,y\n";
  for (int i = 0; i < 60; i++)
    sprintf(text + strlen(text), "%d,2020-%02d-07,%d-05-0%d,%d,%s,%d,%d.1.2020,%02d/31/20,%s,%d\n", 50000 + i / 2,
            1 + i % 12, 1950 + i % 40, 1 + i % 9, 10 * (i % 50), i % 3 ? i % 2 ? "a" : "b" : ".", i % 3, 1 + i % 31,
            1 + i % 12, i % 2 ? "20201231" : "20191130", i % 2);
  char *draft = draft_of(text, "y");
  json_t *root = json_loads(draft, 0, NULL);
  assert_string_equal(type_of(root, "patient_nbr"), "ignore");
  assert_string_equal(type_of(root, "seen"), "date");
  assert_string_equal(type_of(root, "visitNo"), "category"); /* too few values for persons */
  for (int k = 0; k < 3; k++) assert_string_equal(type_of(root, (const char *[]){"in", "out", "end"}[k]), "ignore");
  assert_non_null(strstr(draft, "Dates, but not such as"));
  assert_non_null(strstr(draft, "as the persons' column"));
  assert_non_null(strstr(draft, "\"missing\": \"indicator\""));
  const json_t *born = json_array_get(json_object_get(root, "columns"), 2);
  assert_string_equal(json_string_value(json_object_get(born, "lower")), "1950-01-01");
  assert_string_equal(json_string_value(json_object_get(born, "upper")), "1989-12-31");
  char *terms = json_dumps(json_object_get(root, "terms"), JSON_COMPACT);
  assert_string_equal(terms,
                      "[{\"of\":\"seen\",\"as\":\"month\"},{\"of\":\"born\",\"as\":\"year\"},\"paid\",\"grade\","
                      "\"visitNo\"]");
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, draft);
  tct_data_free(read_text(text, &options));
  free(terms);
  json_decref(root);
  tct_text_free(draft);
}

/* The number of findings of a schema, and whether it may be trained with. */
static size_t findings(const char *schema, bool *ok) {
  tct_error err;
  char *text = tct_schema_check_json(NULL, schema, &err);
  assert_non_null(text);
  json_t *root = json_loads(text, 0, NULL);
  size_t count = json_array_size(json_object_get(root, "findings"));
  *ok = json_is_true(json_object_get(root, "ok"));
  json_decref(root);
  tct_text_free(text);
  return count;
}

static void a_reviewer_finds_drafts_exact_bounds_and_missing_rules(void **state) {
  (void)state;
  bool ok;
  tct_error err;
#define AGE(lower) "{\"name\":\"age\",\"type\":\"number\",\"lower\":" lower ",\"upper\":90,\"missing\":40}"
#define Y_AB ",\"label\":{\"name\":\"y\",\"values\":[\"a\",\"b\"],\"positive\":\"a\"}}"
  assert_int_equal(findings("{\"columns\":[" AGE("17") "]" Y_AB, &ok), 0);
  assert_true(ok);
  assert_int_equal(findings("{\"columns\":[" AGE("17.3482") "]" Y_AB, &ok), 1);
  assert_true(ok);
  assert_int_equal(findings("{\"not_private\":1,\"columns\":[" AGE("17") "]" Y_AB, &ok), 1);
  assert_false(ok);
  assert_int_equal(findings("{\"columns\":[" AGE("17") "]}", &ok), 1);
  assert_int_equal(findings("{\"columns\":[{\"name\":\"c\",\"type\":\"category\",\"values\":[\"u\"]}]" Y_AB, &ok), 3);
  assert_true(ok);
#define WIDE(name, upper) "{\"name\":\"" name "\",\"type\":\"number\",\"lower\":0,\"upper\":" upper ",\"missing\":40}"
  assert_int_equal(findings("{\"columns\":[" WIDE("age", "1200") "," WIDE("wage", "9000") "]" Y_AB, &ok), 1);
  assert_int_equal(findings("{\"columns\":[" WIDE("mean_age", "1190") "," WIDE("work_hours", "2000") "]" Y_AB, &ok), 1);
#define TWO(terms) \
  "{\"version\":2,\"columns\":[" WIDE("a", "50") "," WIDE("b", "60") "],\"terms\":[\"a\",\"b\"," terms "]" Y_AB
  assert_int_equal(findings(TWO("{\"of\":\"a\",\"as\":\"cut\",\"breaks\":[10,30]}"), &ok), 0);
  assert_int_equal(findings(TWO("{\"of\":\"a\",\"as\":\"cut\",\"breaks\":[10,14]}"), &ok), 1); /* in a tenth */
  assert_int_equal(findings(TWO("{\"of\":\"b\",\"as\":\"square\"}"), &ok), 1);
  assert_true(ok);
  assert_int_equal(findings(TWO("{\"of\":\"b\",\"as\":\"sqrt\",\"name\":\"a\"}"), &ok), 1);
  assert_false(ok); /* two features named "a" */
#define DAY(name) "{\"name\":\"" name "\",\"type\":\"date\",\"lower\":\"2001-01-01\",\"upper\":\"2009-12-31\"}"
#define YEARS(a, b) "{\"of\":[\"" a "\",\"" b "\"],\"as\":\"years_between\"}"
#define DATES(more)                                                                                            \
  "{\"version\":2,\"columns\":[" DAY("a") "," DAY("b") "," DAY("c") "],\"terms\":[" YEARS("a", "b") "," YEARS( \
      "b", "c") more "]" Y_AB
  assert_int_equal(findings(DATES(""), &ok), 1); /* no rule for missing ones */
  assert_int_equal(findings(DATES("," YEARS("a", "c")), &ok), 2);
  assert_null(tct_schema_check_json(NULL, "{\"columns\":[]}", &err));
  assert_null(tct_schema_check_json("/nowhere", NULL, &err));
}

static void draft_refuses_what_is_no_table(void **state) {
  (void)state;
  assert_null(draft_of("", NULL));
  assert_null(draft_of("a,b\n", NULL));
  assert_null(draft_of("a,b\n1\n", NULL));
  assert_null(draft_of("1 1:2 2:3\n", NULL));
  assert_null(draft_of("a,b\n1,2\n", "c"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_clipped_and_scaled),
      cmocka_unit_test(codes_for_missing_numbers_are_missing),
      cmocka_unit_test(scaled_numbers_never_leave_their_interval),
      cmocka_unit_test(features_come_in_the_schemas_order),
      cmocka_unit_test(missing_and_other_categories_become_what_the_schema_says),
      cmocka_unit_test(dropping_the_first_value_leaves_it_at_zero),
      cmocka_unit_test(labels_follow_the_schema),
      cmocka_unit_test(a_positive_value_outside_the_list_is_refused_before_reading),
      cmocka_unit_test(a_positive_value_that_never_occurs_trains_only_under_a_public_list),
      cmocka_unit_test(applied_schema_is_kept_as_text),
      cmocka_unit_test(tables_that_the_schema_does_not_fit_are_refused),
      cmocka_unit_test(malformed_schemas_are_refused),
      cmocka_unit_test(long_lists_of_values_are_found_each),
      cmocka_unit_test(draft_reads_its_own_table_and_is_marked),
      cmocka_unit_test(draft_tells_codes_quantities_and_identifiers_apart),
      cmocka_unit_test(draft_knows_dates_gaps_and_persons),
      cmocka_unit_test(a_reviewer_finds_drafts_exact_bounds_and_missing_rules),
      cmocka_unit_test(draft_refuses_what_is_no_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
