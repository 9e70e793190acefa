/* report_weights.c - the weights as a chart, with the size of the privacy noise beside each. */
#include "core/alloc.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>

/* The largest so many are drawn: as many as a reader goes through, some four pages of print. */
enum { DRAWN = 100, PRINTED = 14 }; /* on paper fewer, so that two pages hold it all */

typedef struct ranked {
  double size;
  int64_t at;
} ranked;

static int larger_first(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->size != y->size) return x->size < y->size ? 1 : -1;
  return x->at < y->at ? -1 : x->at > y->at;
}

/* The horizontal axis: all weights fit, and their noise as far as it does not dwarf them. */
static double reach_of(const tct_page *page) {
  const tct_model *m = page->model;
  double max = fabs(m->intercept), noise = page->noise_known && page->noise.max > 0 ? page->noise.max : 0;
  for (int64_t j = 0; j < m->cols; j++) max = fmax(max, fabs(m->coefficients[j]));
  if (!(max > 0)) max = noise > 0 && isfinite(noise) ? noise : 1;
  return 1.05 * (max + fmin(noise, max));
}

double tct_chart_percent(double value, double reach) { return fmin(fmax(50 + 50 * value / reach, 0), 100); }

void tct_chart_bar(tct_html *h, const char *class, tct_bar bar, double reach) {
  double left = tct_chart_percent(bar.middle - bar.half, reach);
  double right = tct_chart_percent(bar.middle + bar.half, reach);
  tct_html_format(h, "<rect class=\"%s\" x=\"%.3f%%\" y=\"%d\" width=\"%.3f%%\" height=\"%d\"/>", class, left, bar.top,
                  fmax(right - left, 0.2), bar.height);
}

void tct_chart_begin(tct_page *page, int64_t at, bool printed, const char *kind, const char *field) {
  tct_html *h = &page->html;
  tct_html_put(h, printed ? "<tr><th scope=\"row\">" : "<tr class=\"screen\"><th scope=\"row\">");
  if (at < 0) {
    tct_html_put(h, "<i>intercept</i>");
  } else {
    char feature[32];
    snprintf(feature, sizeof feature, "features.%lld", (long long)at);
    tct_html_field(h, "span", feature, page->model->features[at]);
  }
  tct_html_format(h,
                  "</th><td class=\"bar\"><svg width=\"100%%\" height=\"22\" aria-hidden=\"true\" focusable=\"false\" "
                  "data-%s=\"%s\">",
                  kind, field);
}

void tct_chart_end(tct_html *h) {
  tct_html_put(h, "<line class=\"zero\" x1=\"50%\" x2=\"50%\" y1=\"0\" y2=\"22\"/></svg></td><td>");
}

static void noise_text(tct_page *page) {
  tct_html *h = &page->html;
  const tct_noise_size *n = &page->noise;
  if (!page->noise_known) return;
  tct_html_put(h, "<small>\xc2\xb1\xc2\xa0");
  if (n->min == n->max || !(n->min > 0)) {
    if (n->min != n->max) tct_html_put(h, "at most ");
    tct_html_real(h, "derived.noise_most", n->max, 2);
  } else {
    tct_html_real(h, "derived.noise_least", n->min, 2);
    if (isfinite(n->max)) {
      tct_html_put(h, "\xe2\x80\x93");
      tct_html_real(h, "derived.noise_most", n->max, 2);
    } else {
      tct_html_put(h, " or more");
    }
  }
  tct_html_put(h, "</small>");
}

/* at: index of the weight, or -1 for the intercept. */
static void row(tct_page *page, int64_t at, double reach, bool printed) {
  tct_html *h = &page->html;
  const tct_noise_size *n = &page->noise;
  double w = at < 0 ? page->model->intercept : page->model->coefficients[at];
  char field[80], of[32] = "";
  if (page->class >= 0) snprintf(of, sizeof of, ".%lld", (long long)page->class);
  if (at < 0)
    snprintf(field, sizeof field, "intercept%s", of);
  else
    snprintf(field, sizeof field, "coefficients%s.%lld", of, (long long)at);
  tct_chart_begin(page, at, printed, "weight", field);
  tct_chart_bar(h, w < 0 ? "minus" : "plus", (tct_bar){w / 2, fabs(w) / 2, 5, 12}, reach);
  if (page->noise_known && n->max > 0 && n->max != n->min) tct_chart_bar(h, "most", (tct_bar){w, n->max, 10, 2}, reach);
  if (page->noise_known && n->min > 0) tct_chart_bar(h, "least", (tct_bar){w, n->min, 8, 6}, reach);
  tct_chart_end(h);
  tct_html_real(h, field, w, 3);
  noise_text(page);
  tct_html_put(h, "</td></tr>\n");
}

static void legend(tct_page *page) {
  tct_html *h = &page->html;
  const tct_noise_size *n = &page->noise;
  if (!page->model->is_private) {
    tct_html_put(h, "<p>No noise was added.</p>\n");
    return;
  }
  if (!page->noise_known) {
    tct_html_put(
        h,
        "<p class=\"note\">How much of each weight is noise is not known for this model: noise entered at many "
        "steps, and how later steps corrected earlier ones depends on the records.</p>\n");
    return;
  }
  tct_html_put(
      h,
      "<p>Part of every weight is the noise that protects the records. Its size (standard error) stands behind the "
      "\xc2\xb1 sign:</p>\n<ul>\n");
  if (n->min > 0 && n->min != n->max) {
    tct_html_put(h, "<li>lower end, the dark mark: ");
    tct_html_put(h, n->how_min);
    tct_html_put(h, ", in the mean over all weights;</li>\n");
  }
  tct_html_put(h, n->min == n->max ? "<li>the dark mark: " : "<li>upper end, the thin line: ");
  tct_html_put(h, n->how_max);
  tct_html_put(h, n->first_order ? ".</li>\n</ul>\n<p>This is calculated to first order in the noise. "
                                 : ".</li>\n</ul>\n<p>This is proved. ");
  tct_html_put(
      h,
      "A weight that is not well above its noise says nothing. The chance of who happens to be in the table comes on "
      "top.</p>\n");
}

static void table(tct_page *page, const ranked *order) {
  tct_html *h = &page->html;
  const tct_model *m = page->model;
  int64_t shown = m->cols < DRAWN ? m->cols : DRAWN;
  while (m->cols > DRAWN && shown > 1 && !(order[shown - 1].size > 0)) shown--; /* a sparse model's zeros say nothing */
  int64_t printed = page->class < 0 ? PRINTED : 3;                              /* of each class */
  double reach = reach_of(page);
  char text[40];
  tct_print_real(reach, text, sizeof text);
  tct_html_format(
      h,
      "<table class=\"weights\" data-reach=\"%s\">\n<thead><tr><th scope=\"col\">Feature</th><th scope=\"col\" "
      "class=\"bar\"><span aria-hidden=\"true\">\xe2\x86\x90</span> less | more <span "
      "aria-hidden=\"true\">\xe2\x86\x92</span></th><th scope=\"col\">Weight</th></tr></thead>\n"
      "<tbody>\n",
      text);
  if (m->has_intercept) row(page, -1, reach, true);
  for (int64_t k = 0; k < shown; k++) row(page, order[k].at, reach, k < printed);
  tct_html_put(h, "</tbody>\n</table>\n");
  if (shown > printed) tct_html_put(h, "<p class=\"quiet paper\">On paper stand the largest of them alone.</p>\n");
  if (shown == m->cols) return;
  tct_html_put(h, "<p class=\"quiet\">These are the ");
  tct_html_count(h, "derived.shown", shown);
  tct_html_put(h, " largest of ");
  tct_html_count(h, "columns", m->cols);
  tct_html_put(
      h, shown < DRAWN ? " weights; all others are zero.</p>\n" : " weights; the model file has all of them.</p>\n");
}

/* The weights of one row, largest first. */
static void weights_of(tct_page *page) {
  tct_html *h = &page->html;
  const tct_model *m = page->model;
  ranked *order = TCT_NEW(ranked, m->cols);
  if (!order) {
    h->failed = 1;
    return;
  }
  for (int64_t j = 0; j < m->cols; j++) order[j] = (ranked){fabs(m->coefficients[j]), j};
  qsort(order, (size_t)m->cols, sizeof *order, larger_first);
  table(page, order);
  tct_free(order);
}

static void class_name(tct_page *page, int64_t k) {
  tct_html *h = &page->html;
  char field[32];
  snprintf(field, sizeof field, "classes.%lld", (long long)k);
  tct_html_field(h, "span class=\"value\"", field, page->model->classes.name[k]);
}

/* What a larger sum says. */
static void meaning(tct_page *page) {
  tct_html *h = &page->html;
  const tct_model *m = page->model;
  if (m->labels == TCT_LABELS_REAL) {
    tct_html_put(h, "predicts a larger value.</p>\n");
  } else if (m->models > 1) {
    tct_html_put(h, "speaks for the class that the table is of. The class of the largest sum is predicted.</p>\n");
  } else if (m->classes.count) {
    tct_html_put(h, "speaks for ");
    class_name(page, 1);
    if (m->classes.name[0]) tct_html_put(h, ", a smaller one for "), class_name(page, 0);
    tct_html_put(h, m->classes.name[0] ? ".</p>\n" : ", a smaller one for all else.</p>\n");
  } else {
    tct_html_put(h, "speaks for the positive answer.</p>\n");
  }
}

/* Each class has weights of its own, and noise of its own in them. */
static void classes(tct_page *page) {
  tct_html *h = &page->html;
  const tct_model *m = page->model;
  for (int64_t k = 0; k < m->models; k++) {
    tct_model row = tct_model_row(m, k);
    tct_html_put(h, "<h3>");
    class_name(page, k);
    tct_html_put(h, "</h3>\n");
    page->class = k;
    page->model = &row;
    if (tct_noise_size_of(&row, &page->noise_known, &page->noise, NULL) != TCT_OK) h->failed = 1;
    legend(page);
    weights_of(page);
    page->model = m;
    page->class = -1;
  }
}

void tct_report_weights(tct_page *page) {
  tct_html *h = &page->html;
  const tct_model *m = page->model;
  tct_html_put(
      h,
      "<section>\n<h2>The model</h2>\n<p>The model adds up, for each person, the features times these weights, after "
      "the steps above; a larger sum ");
  meaning(page);
  tct_html_put(h,
               "<p>In the chart, what stands right of the middle line says: more of the feature makes the sum larger. "
               "Left of it: more of it makes the sum smaller. The further it reaches, the more it counts.</p>\n");
  if (m->inference.p) {
    tct_report_intervals(page);
  } else if (m->models > 1) {
    classes(page);
  } else {
    legend(page);
    weights_of(page);
  }
  tct_html_put(h, "</section>\n");
}
