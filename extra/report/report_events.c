/* report_events.c - what was asked of the records, in words and to the last digit. */
#include "account/selection.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The best of a random number of tries: the tables are of all settings, and a try spends one of them. */
static void tries(tct_html *h, const tct_model *m, size_t settings) {
  tct_selection search;
  if (!tct_selection_parse(m->choice, &search)) return;
  tct_html_format(
      h,
      "<p>This model is the best of a random number of tries, %lld on average. Each try trained one of %zu settings, "
      "drawn at random, and scored it on other records with noise of standard deviation %.4g times what one record "
      "adds. The claim is that of the whole search. How many tries there were stays secret. Below stands what one try "
      "of each setting spends.</p>\n",
      (long long)search.mean, settings, search.score);
}

/* ---- in words: what was asked of the records ---- */

/* By words in the release's name, the first that fits; a name that none fits stands for itself. */
static const struct {
  const char *in_name[7], *asked; /* the names end with NULL */
} ASKED[] = {
    {{"of scores"}, "How often the model is right, and how surely"},
    {{", by ", "chosen"}, "Which of several candidates is best: the better ones are drawn more often"},
    {{"counts"}, "How many records lie where: counts of sizes, of labels, of errors"},
    {{"curvature", "variance of"}, "How sharply the loss rises around the answer, and how records differ in it"},
    {{"gradient", "derivative", "steps"}, "Which way the weights should move: the sum of what each record asks for"},
    {{"minimiser"}, "The best weights"},
    {{"tilt"}, "The best weights for a question that the noise tilts"},
    {{"sums of rows"}, "What the records are like on average"},
    {{"x^T", "X^T", "z^T", "moments", "shells", "square"},
     "How the columns go together: sums of products of their values"},
};
enum { KNOWN = sizeof ASKED / sizeof *ASKED, QUESTIONS = 32 };

/* All releases that ask the same. */
typedef struct question {
  const char *asked; /* borrowed */
  int64_t times;
  double low, high; /* noise over what one record can add; 0: none known */
  double rate;      /* how likely a record is drawn; 0: all are there */
  bool choice;
} question;

typedef struct questions {
  question at[QUESTIONS];
  int count;
} questions;

static const char *asked_by(const json_t *release) {
  const char *name = tct_json_word(release, "what");
  for (int k = 0; k < KNOWN; k++)
    for (const char *const *part = ASKED[k].in_name; *part; part++)
      if (strstr(name, *part)) return ASKED[k].asked;
  return name;
}

/* times: how many fits make it. */
static void add(questions *all, const json_t *release, json_int_t times) {
  double ratio = json_number_value(json_object_get(release, "deviation")) /
                 json_number_value(json_object_get(release, "sensitivity"));
  json_int_t count = json_integer_value(json_object_get(release, "count"));
  const char *asked = asked_by(release), *rate = strstr(tct_json_word(release, "event"), "rate=");
  int k = 0;
  while (k < all->count && strcmp(all->at[k].asked, asked) != 0) k++;
  if (k == QUESTIONS) asked = "Other questions", k--; /* no plan of ours has so many */
  question *q = &all->at[k];
  if (k == all->count) all->count++;
  q->asked = asked;
  q->choice = !strcmp(tct_json_word(release, "norm"), "score");
  if (rate) q->rate = strtod(rate + 5, NULL);
  if (count > 0 && times > 0 && count < (INT64_MAX - q->times) / times) q->times += count * times;
  if (!(ratio > 0) || !isfinite(ratio)) return;
  q->low = q->high > 0 ? fmin(q->low, ratio) : ratio;
  q->high = fmax(q->high, ratio);
}

static void add_all(questions *all, const json_t *releases, json_int_t times) {
  const json_t *r;
  size_t i;
  json_array_foreach(releases, i, r) add(all, r, times);
}

static void add_fits(questions *all, const json_t *privacy) {
  const json_t *fit;
  size_t i;
  add_all(all, json_object_get(json_object_get(privacy, "estimate"), "releases"), 1);
  json_array_foreach(json_object_get(privacy, "fits"), i, fit)
      add_all(all, json_object_get(fit, "releases"), json_integer_value(json_object_get(fit, "count")));
}

/* Of all stages of the study, where it is one. */
static questions questions_of(const tct_page *page) {
  const json_t *stage;
  size_t i;
  questions all = {0};
  json_array_foreach(json_object_get(page->study, "stages"), i, stage) {
    add_all(&all, json_object_get(stage, "releases"), 1);
    add_fits(&all, json_object_get(json_object_get(stage, "model"), "privacy"));
  }
  if (!page->study) add_fits(&all, json_object_get(page->file, "privacy"));
  return all;
}

static void question_row(tct_page *page, const question *q) {
  tct_html *h = &page->html;
  tct_html_put(h, "<tr><td>");
  tct_html_text(h, q->asked);
  if (q->rate > 0) {
    tct_html_put(h, ", over a random draw of them: each with probability ");
    tct_html_real(h, "event.rate", q->rate, 3);
  }
  tct_html_put(h, "</td><td>");
  tct_html_count(h, "derived.times", q->times);
  tct_html_put(h, "</td><td>");
  if (q->high > 0) {
    tct_html_real(h, "derived.noise", q->low, 3);
    if (q->high > q->low * 1.005) tct_html_put(h, " to "), tct_html_real(h, "derived.noise", q->high, 3);
    tct_html_put(h, " times");
  } else {
    tct_html_put(h, q->choice ? "chance decides" : "set as the run went");
  }
  tct_html_put(h, "</td></tr>\n");
}

static void table(tct_page *page, const questions *all) {
  tct_html *h = &page->html;
  tct_html_put(h,
               "<table>\n<thead><tr><th scope=\"col\">What was asked</th><th scope=\"col\">Times</th><th "
               "scope=\"col\">Noise, measured by what one ");
  tct_html_put(h, page->model->persons ? "person" : "record");
  tct_html_put(h, " can add</th></tr></thead>\n<tbody>\n");
  for (int k = 0; k < all->count; k++) question_row(page, &all->at[k]);
  tct_html_put(h, "</tbody>\n</table>\n");
}

/* ---- with all digits ---- */

static void account_line(tct_page *page) {
  tct_html *h = &page->html;
  const tct_model *m = page->model;
  char text[256];
  tct_html_put(h, "<pre><code data-run=\"account\">tacit account");
  for (int64_t i = 0; i < m->events.len; i++) {
    tct_event_print(&m->events.at[i], text, sizeof text);
    tct_html_format(h, " <span data-field=\"privacy.events.%lld\">%s</span>", (long long)i, text);
  }
  tct_print_real(m->delta, text, sizeof text);
  tct_report_option(page, " {delta}");
  tct_html_format(h, " %s", text);
  if (m->neighbours == TCT_REPLACE_ONE) tct_report_option(page, " {neighbours replace_one}");
  tct_html_put(h, "</code></pre>\n");
}

void tct_report_events(tct_page *page) {
  tct_html *h = &page->html;
  const tct_model *m = page->model;
  questions all = questions_of(page);
  tct_html_put(h, "<section>\n<h2>What was asked of the records</h2>\n<p>");
  tct_html_put(h, m->unaccounted[0]
                      ? "Apart from what is named above, the records answered these questions alone, each with noise."
                      : "The records answered these questions, each with noise, and were used in no other way.");
  tct_html_put(h, page->study ? " They are those of all stages of the study.</p>\n" : "</p>\n");
  tries(h, m, json_array_size(json_object_get(json_object_get(page->file, "privacy"), "fits")));
  if (all.count) table(page, &all);
  tct_html_put(h,
               "<details>\n<summary>All digits</summary>\n<p>The promise follows from these releases alone. Anybody "
               "can recompute it without this model; a figure a tenth of a percent off is rounding:</p>\n");
  account_line(page);
  tct_html_put(h, "<p class=\"quiet\">Solver ");
  tct_html_field(h, "code", "solver", m->solver);
  tct_html_put(h, ", loss ");
  tct_html_field(h, "code", "loss", m->loss);
  tct_html_put(h, ", penalty ");
  tct_html_field(h, "code", "penalty", m->penalty);
  tct_html_put(h,
               ". The proof of each release is in the head comment of the solver\xe2\x80\x99s source.</p>\n"
               "</details>\n</section>\n");
}
