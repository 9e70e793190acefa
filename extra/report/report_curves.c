/* report_curves.c - what a score of two classes tells beside single figures: ROC curve and calibration. */
#include "report/report.h"

#include <math.h>

/* The drawing of the ROC curve: a square of that side, in its own units. */
static const double SIDE = 210, LEFT = 40;

/* The list "roc" or "calibration", its k-th member, and the name of a figure there. */
typedef struct place {
  const char *list;
  size_t k;
  const json_t *of;
} place;

static double part_of(const json_t *of, const char *name, const char *part) {
  return tct_json_number(json_object_get(of, name), part);
}

static void cell(tct_html *h, place at, const char *name) {
  static const char *const part[] = {"value", "lower", "upper"};
  static const char *const before[] = {"<td>", " <small>", " to "};
  bool known = true;
  for (int k = 0; k < 3; k++) known = known && !isnan(part_of(at.of, name, part[k]));
  for (int k = 0; known && k < 3; k++) {
    char field[100];
    snprintf(field, sizeof field, "scores.%s.%d.%s.%s", at.list, (int)at.k, name, part[k]);
    tct_html_put(h, before[k]);
    tct_html_real(h, field, part_of(at.of, name, part[k]), 3);
  }
  tct_html_put(h, known ? "</small></td>" : "<td>hidden by the noise</td>");
}

static void edge(tct_html *h, place at, const char *name) {
  char field[100];
  const json_t *value = json_object_get(at.of, name);
  snprintf(field, sizeof field, "scores.%s.%d.%s", at.list, (int)at.k, name);
  tct_html_real(h, field, json_is_number(value) ? json_number_value(value) : 0, 3);
}

static void pen(tct_html *h, char move, double false_rate, double true_rate) {
  double x = fmin(fmax(false_rate, 0), 1), y = 1 - fmin(fmax(true_rate, 0), 1);
  tct_html_format(h, "%c%.2f %.2f", move, LEFT + SIDE * x, SIDE * y);
}

/* Points that noise hides are left out. */
static void drawing(tct_html *h, const json_t *roc) {
  size_t i;
  const json_t *point;
  tct_html_put(h,
               "<figure>\n<svg class=\"curve\" viewBox=\"0 -6 400 256\" role=\"img\" aria-labelledby=\"roc-title\">\n"
               "<title id=\"roc-title\">Positives found, against negatives taken for positives.</title>\n"
               "<path class=\"grid\" d=\"");
  pen(h, 'M', 0, 1), pen(h, 'L', 0, 0), pen(h, 'L', 1, 0), pen(h, 'M', 0, 0), pen(h, 'L', 1, 1);
  tct_html_put(h, "\"/><path class=\"line\" d=\"");
  pen(h, 'M', 1, 1);
  json_array_foreach(roc, i, point) {
    double x = part_of(point, "false_positive_rate", "value"), y = part_of(point, "true_positive_rate", "value");
    if (!isnan(x + y)) pen(h, 'L', x, y);
  }
  pen(h, 'L', 0, 0);
  tct_html_format(
      h,
      "\"/>\n<text class=\"mid\" x=\"%g\" y=\"%g\">negatives taken for positives</text>\n<text class=\"mid\" "
      "transform=\"translate(20 %g) rotate(-90)\">positives found</text>\n</svg>\n</figure>\n",
      LEFT + SIDE / 2, SIDE + 24, SIDE / 2);
}

static void rates(tct_html *h, const json_t *roc) {
  size_t i;
  const json_t *point;
  drawing(h, roc);
  tct_html_put(h,
               "<table>\n<thead><tr><th scope=\"col\">Taken for positive above</th><th scope=\"col\">Positives "
               "found</th><th scope=\"col\">Negatives taken for positives</th></tr></thead>\n<tbody>\n");
  json_array_foreach(roc, i, point) {
    const place at = {"roc", i, point};
    tct_html_put(h, "<tr><th scope=\"row\">");
    edge(h, at, "threshold");
    tct_html_put(h, "</th>");
    cell(h, at, "true_positive_rate"), cell(h, at, "false_positive_rate");
    tct_html_put(h, "</tr>\n");
  }
  tct_html_put(h, "</tbody>\n</table>\n");
}

static void calibration(tct_html *h, const json_t *groups) {
  size_t i;
  const json_t *group;
  tct_html_put(h,
               "<p>Where its predictions are probabilities, so many records of each group are positive as they "
               "say:</p>\n<table>\n<thead><tr><th scope=\"col\">Predicted</th><th scope=\"col\">Positive</th></tr>"
               "</thead>\n<tbody>\n");
  json_array_foreach(groups, i, group) {
    const place at = {"calibration", i, group};
    tct_html_put(h, "<tr><th scope=\"row\">");
    edge(h, at, "from");
    tct_html_put(h, " to ");
    edge(h, at, "to");
    tct_html_put(h, "</th>");
    cell(h, at, "positives");
    tct_html_put(h, "</tr>\n");
  }
  tct_html_put(h, "</tbody>\n</table>\n");
}

/* Groups of margins, which are no probabilities, have no ends. */
void tct_report_score_curves(tct_page *page) {
  const json_t *roc = json_object_get(page->scores, "roc"), *groups = json_object_get(page->scores, "calibration");
  if (json_array_size(roc)) rates(&page->html, roc);
  if (json_is_number(json_object_get(json_array_get(groups, 0), "from"))) calibration(&page->html, groups);
}
