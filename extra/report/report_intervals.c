/* report_intervals.c - how sure each weight is: an interval drawn as a line with a dot, and its figures beside it. */
#include "core/alloc.h"
#include "report/report.h"

#include <math.h>

/* So many weights are drawn, as in report_weights.c, and 95 % is the level that readers expect. */
enum { DRAWN = 100, PRINTED = 16 };
static const double LEVEL = 0.95;

/* Wider intervals than so many times the largest weight run off the drawing; their figures stand beside it. */
static const double WIDEST = 4;

const char tct_report_interval_style[] =
    ".intervals .line{fill:var(--pale)}\n.intervals .part{fill:var(--main)}\n.intervals .dot{fill:var(--ink)}\n"
    ".key{display:inline-block;width:1.6rem;height:.45rem;margin-right:.5rem;vertical-align:middle}\n"
    ".key.line{background:var(--pale)}\n.key.part{background:var(--main)}\n"
    ".key.dot{width:.6rem;height:.6rem;border-radius:50%;background:var(--ink)}\n";

/* One weight of the model's own columns; at: its index, or -1 for the intercept. */
typedef struct sure {
  int64_t at;
  double estimate, half, noise_half, p_value; /* NAN where withheld */
  tct_withheld why;
} sure;

static sure sure_of(const tct_model *m, int64_t at, double *c) {
  int64_t place = at < 0 ? m->cols : at;
  sure s = {.at = at, .estimate = at < 0 ? m->intercept : m->coefficients[at]};
  c[place] = 1;
  tct_contrast errors = tct_inference_contrast(&m->inference, c);
  c[place] = 0;
  double t = tct_student_quantile(LEVEL, errors.degrees);
  s.why = errors.why;
  s.half = t * errors.standard_error, s.noise_half = t * errors.noise_error;
  s.p_value = tct_student_tail(s.estimate / errors.standard_error, errors.degrees);
  return s;
}

static double reach_of(const sure *list, int64_t count) {
  double largest = 0, end = 0;
  for (int64_t k = 0; k < count; k++) {
    largest = fmax(largest, fabs(list[k].estimate));
    if (list[k].why != TCT_GIVEN) continue;
    end = fmax(end, fabs(list[k].estimate) + list[k].half);
  }
  double reach = 1.05 * fmax(largest, fmin(end, WIDEST * largest));
  return reach > 0 ? reach : 1;
}

/* A figure that follows from the covariances of the weight `name`. */
static void derived(tct_html *h, const char *what, const char *name, double value, int digits) {
  char field[80];
  snprintf(field, sizeof field, "derived.%s.%s", what, name);
  tct_html_real(h, field, value, digits);
}

static void figures(tct_html *h, const sure *s, const char *field, const char *name) {
  tct_html_real(h, field, s->estimate, 3);
  if (s->why != TCT_GIVEN) {
    tct_html_put(h, "<small>no interval</small></td>");
    return;
  }
  tct_html_put(h, "<small>");
  derived(h, "lower", name, s->estimate - s->half, 3);
  tct_html_put(h, " to ");
  derived(h, "upper", name, s->estimate + s->half, 3);
  tct_html_put(h, "</small><small>p\xc2\xa0=\xc2\xa0");
  derived(h, "p_value", name, s->p_value, 2);
  tct_html_put(h, "</small></td>");
}

static void row(tct_page *page, const sure *s, double reach, bool printed) {
  tct_html *h = &page->html;
  char field[48], name[24];
  snprintf(field, sizeof field, s->at < 0 ? "intercept" : "coefficients.%lld", (long long)s->at);
  snprintf(name, sizeof name, s->at < 0 ? "intercept" : "%lld", (long long)s->at);
  tct_chart_begin(page, s->at, printed, "interval", field);
  if (s->why == TCT_GIVEN) {
    tct_chart_bar(h, "line", (tct_bar){s->estimate, s->half, 8, 6}, reach);
    tct_chart_bar(h, "part", (tct_bar){s->estimate, s->noise_half, 8, 6}, reach);
  }
  tct_html_format(h, "<circle class=\"dot\" cx=\"%.3f%%\" cy=\"11\" r=\"3\"/>", tct_chart_percent(s->estimate, reach));
  tct_chart_end(h);
  figures(h, s, field, name);
  tct_html_put(h, "</tr>\n");
}

static void legend(tct_page *page) {
  tct_html *h = &page->html;
  tct_html_put(h,
               "<p>Other people in the table, or other noise, would have given other weights. This model knows by how "
               "much.</p>\n<ul>\n<li><span class=\"key dot\"></span>The dot is the weight.</li>\n"
               "<li><span class=\"key line\"></span>The whole line is its interval. With confidence ");
  tct_html_real(h, "derived.level", LEVEL, 2);
  tct_html_put(h,
               " it holds the weight that the whole population would give, of which the records are a sample.</li>\n");
  if (page->model->is_private)
    tct_html_put(
        h,
        "<li><span class=\"key part\"></span>Its dark middle is what the privacy noise alone does. With the same "
        "confidence it holds the weight that exactly these records would give without noise.</li>\n");
  tct_html_put(h,
               "</ul>\n<p>A line that crosses zero: the records cannot tell whether the weight is above or below "
               "zero. The number p is how often chance alone would bring a weight as far from zero.");
  if (page->model->is_private) tct_html_put(h, " Noise was added to protect the records; intervals and p count it.");
  tct_html_put(h, page->model->inference.robust
                      ? " They hold also where the model is only the best approximation.</p>\n"
                      : " They take the form of the model to be right.</p>\n");
}

/* Each reason once. */
static void notes(tct_page *page, const sure *list, int64_t count) {
  for (int why = TCT_GIVEN + 1; *tct_withheld_text((tct_withheld)why); why++) {
    bool found = false;
    for (int64_t k = 0; k < count; k++) found = found || list[k].why == (tct_withheld)why;
    if (found) tct_html_format(&page->html, "<p class=\"note\">%s.</p>\n", tct_withheld_text((tct_withheld)why));
  }
}

static void table(tct_page *page, const sure *list, int64_t count) {
  tct_html *h = &page->html;
  double reach = reach_of(list, count);
  tct_html_put(h,
               "<table class=\"weights intervals\">\n<thead><tr><th scope=\"col\">Feature</th><th scope=\"col\" "
               "class=\"bar\">less | more</th><th scope=\"col\">Weight</th></tr></thead>\n<tbody>\n");
  for (int64_t k = 0; k < count; k++) row(page, &list[k], reach, k < PRINTED);
  tct_html_put(h, "</tbody>\n</table>\n");
  if (count > PRINTED) tct_html_put(h, "<p class=\"quiet paper\">On paper stand the first of them alone.</p>\n");
  notes(page, list, count);
  tct_html_put(
      h,
      "<p class=\"quiet\">In the table\xe2\x80\x99s order. <code>tacit summary</code> shows all of them in the units "
      "of the table.</p>\n");
}

void tct_report_intervals(tct_page *page) {
  const tct_model *m = page->model;
  int64_t count = 0, shown = m->cols < DRAWN ? m->cols : DRAWN;
  sure *list = TCT_NEW(sure, shown + 1);
  double *c = TCT_NEW(double, m->cols + 1);
  page->html.failed |= !list || !c;
  if (list && c) {
    if (m->has_intercept) list[count++] = sure_of(m, -1, c);
    for (int64_t j = 0; j < shown; j++) list[count++] = sure_of(m, j, c);
    legend(page);
    table(page, list, count);
  }
  tct_free(list);
  tct_free(c);
}
