/* report_scores.c - how good the model is, where a private score of it was made: apart, or as a stage of its study. */
#include "report/report.h"

#include <math.h>
#include <string.h>

/* The figures of docs/guide/scores.md for readers outside the field. */
static const struct {
  const char *key, *words;
} FIGURES[] = {
    {"accuracy", "Share of records that it predicts rightly"},
    {"auc", "How often it ranks a positive record above a negative one (AUC)"},
    {"positives", "Share of records that are positive"},
    {"r2", "Share of the spread of the values that it explains (R\xc2\xb2)"},
    {"mse", "Mean squared error"},
    {"mean_loss", "Mean loss"},
    {"log_loss", "Mean surprise at the true class (log loss)"},
    {"c_index", "Of two persons, how often the one with the earlier event has the larger risk (C-index)"},
};
enum { COUNT = sizeof FIGURES / sizeof *FIGURES };

/* Of its study: the first score of the stage whose weights and outcome these are. */
static void of_study(tct_page *page) {
  const json_t *stages = json_object_get(page->study, "stages"), *stage, *asked;
  const char *own = "";
  size_t k;
  json_array_foreach(stages, k, stage) {
    const json_t *model = json_object_get(stage, "model");
    if (json_equal(json_object_get(model, "coefficients"), json_object_get(page->file, "coefficients")) &&
        !strcmp(tct_json_word(model, "label"), tct_json_word(page->file, "label")))
      own = tct_json_word(stage, "name");
  }
  json_array_foreach(json_object_get(json_object_get(page->study, "asked"), "stages"), k, asked) {
    stage = json_array_get(stages, k);
    if (page->scores || !own[0] || strcmp(tct_json_word(asked, "of"), own) != 0) continue;
    page->scores = json_object_get(json_object_get(stage, "scores"), "figures");
    page->part = tct_json_word(stage, "part");
  }
}

tct_status tct_page_scores_take(tct_page *page, const json_t *given, tct_error *err) {
  char model[TCT_DIGEST_HEX];
  tct_model_digest(page->model, model);
  if (!given) return of_study(page), TCT_OK;
  if (!json_is_true(json_object_get(given, "private")))
    return tct_fail(err, TCT_E_USAGE, "the scores are not private, or none at all; make them with {make_scores}");
  if (strcmp(tct_json_word(given, "model"), model) != 0)
    return tct_fail(err, TCT_E_USAGE, "the scores are of another model; give those that were made of this one");
  page->scores = given;
  return TCT_OK;
}

/* scale: 1, or 100 for a figure in percent. */
static void figure(tct_html *h, const json_t *scores, const char *key, const char *what, double scale) {
  char field[64];
  snprintf(field, sizeof field, scale == 1 ? "scores.%s.%s" : "derived.percent.%s.%s", key, what);
  tct_html_real(h, field, scale * tct_json_number(json_object_get(scores, key), what), 3);
}

static void range(tct_html *h, const json_t *scores, const char *key, double scale) {
  figure(h, scores, key, "lower", scale);
  tct_html_put(h, " to ");
  figure(h, scores, key, "upper", scale);
}

void tct_report_score_tile(tct_page *page) {
  tct_html *h = &page->html;
  bool classes = json_object_get(page->scores, "accuracy") != NULL;
  const char *key = classes ? "accuracy" : "r2";
  if (isnan(tct_json_number(json_object_get(page->scores, key), "value"))) return;
  tct_html_put(h, classes ? "<div><dt>Predicts rightly" : "<div><dt>Explains of the spread");
  tct_html_put(h, "</dt><dd><span class=\"big\">");
  figure(h, page->scores, key, "value", 100);
  tct_html_put(h, "\xc2\xa0%</span> ");
  range(h, page->scores, key, 100);
  tct_html_put(h, "\xc2\xa0% in the population</dd></div>\n");
}

/* Who paid for the figures, and what is to be said against them. */
static void price(tct_page *page) {
  tct_html *h = &page->html;
  const json_t *line, *s = page->scores;
  size_t i;
  if (page->part) {
    tct_html_put(h, " The promise above covers these figures too.</p>\n");
    if (strcmp(page->part, "held") != 0)
      tct_html_put(h, "<p class=\"note\">The model was trained on these records: they flatter it.</p>\n");
    return;
  }
  tct_html_put(h, " They were made apart, which this page cannot check, and come on top: \xce\xb5 = ");
  tct_html_real(h, "scores.epsilon", tct_json_number(s, "epsilon"), 0);
  tct_html_put(h, " at \xce\xb4 = ");
  tct_html_real(h, "scores.delta", tct_json_number(s, "delta"), 0);
  tct_html_put(h, ".</p>\n");
  if (json_is_true(json_object_get(s, "reproducible")))
    tct_html_put(h, "<p class=\"alarm\">Their noise came from a seed: they must not be published.</p>\n");
  json_array_foreach(json_object_get(s, "unaccounted"), i, line) {
    tct_html_put(h, "<p class=\"alarm\">Not covered: ");
    tct_html_text(h, json_string_value(line) ? json_string_value(line) : "");
    tct_html_put(h, ".</p>\n");
  }
}

static void row(tct_page *page, int k) {
  tct_html *h = &page->html;
  const json_t *one = json_object_get(page->scores, FIGURES[k].key);
  if (!one) return;
  tct_html_format(h, "<tr><th scope=\"row\">%s</th><td>", FIGURES[k].words);
  if (isnan(tct_json_number(one, "value"))) {
    tct_html_put(h, "unknown: the noise hides it</td><td></td></tr>\n");
    return;
  }
  figure(h, page->scores, FIGURES[k].key, "value", 1);
  tct_html_put(h, "</td><td>");
  range(h, page->scores, FIGURES[k].key, 1);
  tct_html_put(h, "</td></tr>\n");
}

void tct_report_scores(tct_page *page) {
  tct_html *h = &page->html;
  double rows = tct_json_number(page->scores, "rows");
  tct_html_put(h, "<section>\n<h2>How good the model is</h2>\n<p>Measured on ");
  tct_html_count(h, "scores.rows", rows >= 0 && rows < 0x1p53 ? (int64_t)rows : 0);
  tct_html_put(h, " records, with noise that protects them.");
  price(page);
  tct_html_put(h,
               "<table>\n<thead><tr><th scope=\"col\">Figure</th><th scope=\"col\">Value</th><th scope=\"col\">In the "
               "population</th></tr></thead>\n<tbody>\n");
  for (int k = 0; k < COUNT; k++) row(page, k);
  tct_html_put(h, "</tbody>\n</table>\n");
  tct_report_score_curves(page);
  tct_html_put(h,
               "<p class=\"quiet\">The range holds the figure of the population that the "
               "records were drawn from, with confidence ");
  tct_html_real(h, "scores.level", tct_json_number(page->scores, "level"), 2);
  tct_html_put(h, "; it counts the noise.</p>\n</section>\n");
}
