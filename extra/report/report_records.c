/* report_records.c - what was done to each record before it counted: public bounds and scales, in their order. */
#include "report/report.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 100, VALUES = 12 }; /* of a table's columns, and of a category's values */

static void number_bounds(tct_html *h, const json_t *column) {
  const char *first = tct_json_word(column, "lower"), *last = tct_json_word(column, "upper");
  if (first[0]) { /* dates */
    tct_html_put(h, "from ");
    tct_html_field(h, "span", "schema.bound", first);
    tct_html_put(h, " to ");
    tct_html_field(h, "span", "schema.bound", last);
    return;
  }
  tct_html_put(h, "from ");
  tct_html_real(h, "schema.bound", json_number_value(json_object_get(column, "lower")), 0);
  tct_html_put(h, " to ");
  tct_html_real(h, "schema.bound", json_number_value(json_object_get(column, "upper")), 0);
}

static void values(tct_html *h, const json_t *list) {
  size_t count = json_array_size(list), shown = count > VALUES ? VALUES : count;
  for (size_t i = 0; i < shown; i++) {
    const json_t *value = json_array_get(list, i);
    if (i) tct_html_put(h, ", ");
    tct_html_put(h, "<span class=\"value\">");
    if (json_is_string(value))
      tct_html_text(h, json_string_value(value));
    else if (json_is_number(value))
      tct_html_real(h, "schema.value", json_number_value(value), 0);
    tct_html_put(h, "</span>");
  }
  if (count > shown) tct_html_put(h, " and others, which the model file has");
}

static void column_name(tct_html *h, const json_t *column) {
  tct_html_put(h, "<th scope=\"row\">");
  tct_html_field(h, "span", "schema.column", tct_json_word(column, "name"));
  tct_html_put(h, "</th><td>");
}

static void column_row(tct_html *h, const json_t *column) {
  const char *type = tct_json_word(column, "type");
  tct_html_put(h, "<tr>");
  column_name(h, column);
  if (!strcmp(type, "number") || !strcmp(type, "date"))
    number_bounds(h, column);
  else if (!strcmp(type, "category"))
    values(h, json_object_get(column, "values"));
  else
    tct_html_put(h, "not used");
  if (!strcmp(tct_json_word(column, "missing"), "indicator"))
    tct_html_put(h, ", and missing values have a feature of their own");
  tct_html_put(h, "</td></tr>\n");
}

/* A column's name, a function of others, or a product. */
static void term_text(tct_html *h, const json_t *term) {
  const json_t *product = json_object_get(term, "product"), *of = json_object_get(term, "of");
  const char *name = tct_json_word(term, "name"), *function = tct_json_word(term, "as");
  const json_t *list = product ? product : of;
  size_t count = json_is_array(list) ? json_array_size(list) : 1;
  if (json_is_string(term)) tct_html_field(h, "span", "schema.term", json_string_value(term));
  if (!json_is_object(term)) return;
  if (name[0]) tct_html_field(h, "span", "schema.name", name), tct_html_put(h, ", which is ");
  if (function[0]) tct_html_field(h, "span", "schema.as", function), tct_html_put(h, " of ");
  for (size_t k = 0; k < count; k++) {
    if (k) tct_html_put(h, product ? " times " : " and ");
    term_text(h, json_is_array(list) ? json_array_get(list, k) : list);
  }
}

static void terms_list(tct_html *h, const json_t *terms) {
  size_t count = json_array_size(terms), shown = count > COLUMNS ? COLUMNS : count;
  if (!count) return;
  tct_html_put(h, "<details>\n<summary>What the features are made of</summary>\n<ul>\n");
  for (size_t k = 0; k < shown; k++) {
    tct_html_put(h, "<li>");
    term_text(h, json_array_get(terms, k));
    tct_html_put(h, "</li>\n");
  }
  tct_html_put(h, "</ul>\n");
  if (count > shown) tct_html_put(h, "<p class=\"quiet\">The model file has all other terms.</p>\n");
  tct_html_put(h, "</details>\n");
}

/* Columns that say how a record counts. */
static void beside_rows(tct_html *h, const json_t *schema) {
  static const char *const key[] = {"weight", "exposure", "offset"};
  static const char *const means[] = {" (how much a record counts)", " (what a count is over)", " (an offset)"};
  for (int k = 0; k < 3; k++) {
    const json_t *rule = json_object_get(schema, key[k]);
    if (!rule) continue;
    tct_html_put(h, "<tr><th scope=\"row\">");
    tct_html_field(h, "span", "schema.column", tct_json_word(rule, "of"));
    tct_html_put(h, "</th><td>from ");
    tct_html_real(h, "schema.bound", json_number_value(json_object_get(rule, "lower")), 0);
    tct_html_put(h, " to ");
    tct_html_real(h, "schema.bound", json_number_value(json_object_get(rule, k ? "upper" : "cap")), 0);
    tct_html_put(h, means[k]);
    tct_html_put(h, "</td></tr>\n");
  }
}

static void schema_table(tct_html *h, const json_t *schema) {
  const json_t *columns = json_object_get(schema, "columns"), *label = json_object_get(schema, "label");
  tct_html_put(h,
               "<details>\n<summary>What each column may hold</summary>\n<table class=\"columns\">\n<thead><tr><th "
               "scope=\"col\">Column</th><th scope=\"col\">Public bounds</th></tr></thead>\n<tbody>\n");
  size_t count = json_array_size(columns), shown = count > COLUMNS ? COLUMNS : count;
  for (size_t i = 0; i < shown; i++) column_row(h, json_array_get(columns, i));
  beside_rows(h, schema);
  if (json_is_object(label)) {
    tct_html_put(h, "<tr>");
    column_name(h, label);
    if (json_is_number(json_object_get(label, "lower")))
      number_bounds(h, label);
    else
      values(h, json_object_get(label, "values"));
    tct_html_put(h, " (what the model predicts)</td></tr>\n");
  }
  tct_html_put(h, "</tbody>\n</table>\n");
  if (count > shown) tct_html_put(h, "<p class=\"quiet\">The model file has the bounds of all other columns.</p>\n");
  tct_html_put(h, "</details>\n");
}

static void scale_item(tct_html *h, const tct_model *m) {
  if (!strcmp(m->scale, "bounds"))
    tct_html_put(h, "<li>Every feature was brought to the same range by public bounds.</li>\n");
  else if (strcmp(m->scale, "none")) {
    tct_html_put(h, "<li class=\"bad\">Every feature was scaled (");
    tct_html_field(h, "span", "transforms.scale", m->scale);
    tct_html_put(h, ") by figures taken from the records: not covered by the promise.</li>\n");
  }
}

static void label_item(tct_html *h, const tct_model *m) {
  if (m->labels != TCT_LABELS_REAL) return;
  if (m->label_shift != 0) {
    tct_html_put(h, "<li>From each value to be predicted, ");
    tct_html_real(h, "transforms.label_shift", m->label_shift, 0);
    tct_html_put(h, " was taken off.</li>\n");
  }
  if (isfinite(m->label_bound)) {
    tct_html_put(h, "<li>The rest counts as at most ");
    tct_html_real(h, "transforms.label_bound", m->label_bound, 0);
    tct_html_put(h, " above or below zero, whatever it was.</li>\n");
  }
}

static void norm_item(tct_html *h, const tct_model *m) {
  if (m->has_intercept) tct_html_put(h, "<li>A constant feature of value one was added (the intercept).</li>\n");
  if (!isfinite(m->row_norm)) return;
  tct_html_put(h,
               m->rows_rule == TCT_ROWS_UNIT
                   ? "<li>Every record was brought to the same length (the root of the sum of its squared features), "
                   : "<li>A record of a larger length (the root of the sum of its squared features) was shortened to ");
  tct_html_real(h, "transforms.row_norm", m->row_norm, 4);
  tct_html_put(h, m->is_private ? ". This bounds how much one record can do, and the noise is measured by it.</li>\n"
                                : ". This bounds how much one record can do.</li>\n");
}

void tct_report_records(tct_page *page) {
  tct_html *h = &page->html;
  const tct_model *m = page->model;
  const json_t *schema = json_object_get(json_object_get(page->file, "transforms"), "schema");
  int any = json_is_object(schema) || strcmp(m->scale, "none") || m->has_intercept || isfinite(m->row_norm) ||
            m->labels == TCT_LABELS_REAL;
  tct_html_put(h, "<section>\n<h2>What was done to each record first</h2>\n");
  if (!any) {
    tct_html_put(h, "<p>Nothing. The records counted as they were.</p>\n</section>\n");
    return;
  }
  tct_html_put(h, "<ol>\n");
  if (json_is_object(schema)) {
    bool centred = !strcmp(tct_json_word(schema, "scale"), "symmetric") ||
                   json_integer_value(json_object_get(schema, "version")) > 1;
    tct_html_put(h, "<li>Every value was held to the bounds of its column, ");
    tct_html_put(h, !centred ? "and numbers were brought to the range from zero to one.</li>\n"
                             : "and numbers were brought to the range from minus one to one.</li>\n");
  }
  scale_item(h, m);
  label_item(h, m);
  norm_item(h, m);
  tct_html_put(h, "</ol>\n");
  if (json_is_object(schema)) schema_table(h, schema);
  terms_list(h, json_object_get(schema, "terms"));
  tct_html_put(h, "</section>\n");
}
