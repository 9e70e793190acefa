/* report_promise.c - in plain words: what is promised, to whom, from whom, and what is not covered. */
#include "loss/loss.h"
#include "report/report.h"
#include "train/cautions.h"

#include <math.h>
#include <string.h>

/* The task in words that a reader outside the field knows. */
static const char *kind_of(const tct_model *m) {
  tct_loss loss;
  bool known = tct_loss_make(m->loss, &loss, NULL) == TCT_OK && loss.kind->words;
  return known ? loss.kind->words : "A linear model";
}

/* One chance in 1/delta, rounded to two digits. */
static void chance(tct_html *h, double delta) {
  double inverse = 1 / delta, unit = pow(10, floor(log10(inverse * (1 + 1e-12))) - 1);
  inverse = unit > 0 ? round(inverse / unit) * unit : inverse;
  if (!(inverse < 1e15)) return;
  tct_html_put(h, "; \xce\xb4 is about one in ");
  tct_html_count(h, "derived.chance", (int64_t)inverse);
}

/* The largest rate of right answers of a test between the two worlds at even odds: (e^epsilon + delta)/(1 + e^epsilon).
 * By Kairouz, Oh and Viswanath 2015, Theorem 2.1, the two error rates alpha, beta have alpha + e^epsilon beta >= 1 -
 * delta and the other way round.  In percent, rounded up to a tenth. */
static double guess_percent(const tct_model *m) {
  double odds = exp(-m->epsilon), right = (1 + m->delta * odds) / (1 + odds);
  return fmin(ceil(right * 1000 - 1e-9) / 10, 100);
}

/* The cautions that take from the promise, or the others; how many there are.  Written only where `write` is set. */
static int cautions(tct_page *page, bool weakens, bool write) {
  tct_caution_facts facts = tct_caution_model(page->model);
  int count = 0;
  for (int i = 0; facts.is_private && i < tct_caution_count; i++) {
    char text[TCT_CAUTION_TEXT];
    if (tct_cautions[i].weakens != weakens || !tct_cautions[i].holds(&facts, text)) continue;
    count++;
    if (!write) continue;
    tct_html_format(&page->html, "<li data-field=\"derived.caution.%s\">", tct_cautions[i].name);
    tct_html_text(&page->html, text);
    tct_html_put(&page->html, ".</li>\n");
  }
  return count;
}

static void tile(tct_html *h, const char *title) { tct_html_format(h, "<div><dt>%s</dt><dd>", title); }

static int warnings_of(const tct_page *page) {
  const tct_model *m = page->model;
  int count = (m->reproducible != 0) + !page->holds;
  for (int i = 0; i < TCT_UNACCOUNTED && m->unaccounted[i]; i++) count++;
  return count;
}

/* What verify found, where that is less than a proof of the whole: as large as an epsilon, and what it means. */
static const char *less_than_proved(const tct_page *page, const char **means) {
  switch (page->found.verdict) {
    case TCT_VERDICT_REFUSED: return *means = "verification refuses this file; it claims ", "not verified";
    case TCT_VERDICT_REPRODUCIBLE:
      return *means = "the noise came from a seed, which protects nobody; the figures agree: ", "not private";
    case TCT_VERDICT_FOR_TESTS:
      return *means = "the run was charged to a ledger for tests; the figures agree: ", "a test";
    case TCT_VERDICT_IN_PART:
      *means = "its settings were planned by other rules and could not be planned again; its events cost ";
      return "verified in part";
    case TCT_VERDICT_VERIFIED:
    case TCT_VERDICT_NO_PRIVACY: break;
  }
  return NULL;
}

static void claimed(tct_page *page, bool large) {
  tct_html *h = &page->html;
  bool good = !cautions(page, true, false);
  if (large) tct_html_format(h, "<span class=\"big%s\">", good ? "" : " bad");
  tct_html_put(h, "\xce\xb5 = ");
  tct_html_real(h, "privacy.epsilon", page->model->epsilon, 0);
  tct_html_put(h, large ? "</span> at \xce\xb4 = " : " at \xce\xb4 = ");
  tct_html_real(h, "privacy.delta", page->model->delta, 0);
  if (page->model->delta == 0) tct_html_put(h, ": pure \xce\xb5-differential privacy");
}

static void promise_tile(tct_page *page) {
  tct_html *h = &page->html;
  const char *means, *less = less_than_proved(page, &means);
  if (!page->model->is_private) {
    tile(h, "Privacy loss, at most");
    tct_html_put(h, "<span class=\"big bad\">no limit</span> this model is not private");
  } else if (!less) {
    tile(h, "Privacy loss, at most: verified");
    claimed(page, true);
  } else {
    tile(h, "Privacy loss");
    tct_html_format(h, "<span class=\"big bad\" data-field=\"derived.verdict\">%s</span> %s", less, means);
    claimed(page, false);
  }
  tct_html_put(h, "</dd></div>\n");
}

static void tiles(tct_page *page) {
  tct_html *h = &page->html;
  const tct_model *m = page->model;
  int count = warnings_of(page);
  tct_html_put(h, "<dl class=\"tiles\">\n");
  promise_tile(page);
  tile(h, "Trained on");
  tct_html_put(h, "<span class=\"big\">");
  tct_html_count(h, "rows", m->rows);
  tct_html_put(h, "</span> records</dd></div>\n");
  tile(h, "Not covered");
  if (!m->is_private)
    tct_html_put(h, "<span class=\"big bad\">everything</span> see below");
  else if (count)
    tct_html_format(h,
                    "<span class=\"big bad\"><data data-field=\"derived.warnings\" value=\"%d\">%d</data></span> %s, "
                    "see below",
                    count, count, count == 1 ? "thing" : "things");
  else
    tct_html_put(h, "<span class=\"big good\">nothing</span> everything read was paid for");
  tct_html_put(h, "</dd></div>\n");
  tct_report_score_tile(page);
  tct_html_put(h, "</dl>\n");
}

void tct_report_summary(tct_page *page) {
  tct_html *h = &page->html;
  const tct_model *m = page->model;
  tct_html_put(h, "<header>\n<p class=\"over\">Privacy report</p>\n");
  if (page->said.title)
    tct_html_put(h, "<h1>"), tct_html_field(h, "span", "said.title", page->said.title), tct_html_put(h, "</h1>\n");
  tct_html_put(h, page->said.title ? "<p class=\"under\">" : "<h1>");
  tct_html_put(h, kind_of(m));
  if (m->label) {
    tct_html_put(h, " of \xe2\x80\x9c");
    tct_html_field(h, "span", "label", m->label);
    tct_html_put(h, "\xe2\x80\x9d");
  }
  tct_html_put(h, m->is_private ? ", trained under differential privacy" : ", trained without privacy");
  tct_html_put(h, page->said.title ? "</p>\n" : "</h1>\n");
  tct_report_about(page);
  if (!m->is_private)
    tct_html_put(h,
                 "<p class=\"alarm\"><strong>This model has no privacy.</strong> It may reveal the records that it was "
                 "trained on, down to single values. It should not be published or shared.</p>\n");
  else if (!page->holds)
    tct_html_put(
        h,
        "<p class=\"alarm\"><strong>The promise is not proved.</strong> tacit verify refuses this file. It was edited "
        "or is damaged: do not rely on it.</p>\n");
  else if (warnings_of(page))
    tct_html_put(
        h,
        "<p class=\"alarm\"><strong>Read this first.</strong> The promise below does not cover everything that "
        "was done. The section \xe2\x80\x9cNot covered by the promise\xe2\x80\x9d names it.</p>\n");
  if (cautions(page, true, false)) {
    tct_html_put(h, "<p class=\"alarm\"><strong>This promise says little.</strong></p>\n<ul class=\"alarm\">\n");
    cautions(page, true, true);
    tct_html_put(h, "</ul>\n");
  }
  if (cautions(page, false, false)) {
    tct_html_put(h, "<ul>\n");
    cautions(page, false, true);
    tct_html_put(h, "</ul>\n");
  }
  tiles(page);
  tct_html_put(h, "</header>\n");
}

/* What could have been otherwise, and how little that may change: e^epsilon in words that stay true at any epsilon. */
static void promise_what(tct_page *page) {
  tct_html *h = &page->html;
  const tct_model *m = page->model;
  bool content = m->neighbours == TCT_REPLACE_ONE;
  tct_html_put(h, "<h3>What</h3>\n<p>");
  tct_html_put(h, content
                      ? (m->persons ? "The content of every person\xe2\x80\x99s records. Had all records of any one "
                                      "person been replaced by any others, "
                                    : "The content of every single record. Had any one record been replaced by any "
                                      "other, ")
                      : (m->persons ? "Every single person. Had all records of any one person counted for nothing, "
                                    : "Every single record. Had any one record counted for nothing, "));
  if (!tct_caution_words_hold(m->epsilon)) {
    tct_html_put(
        h,
        "this model could have come out far more or far less easily, by a factor of <i>e</i><sup>\xce\xb5</sup>. "
        "So large a factor hides next to nothing.</p>\n");
    return;
  }
  tct_html_put(h, "no model, this one among them, would have become more than ");
  tct_html_real(h, "derived.factor", ceil(exp(m->epsilon) * 100) / 100, 0);
  tct_html_put(h, " times as likely or as unlikely, but for \xce\xb4 (below).</p>\n");
}

/* Entry i of a list of texts. */
static void item(tct_page *page, const char *list, size_t i, const char *text) {
  char field[48];
  snprintf(field, sizeof field, "%s.%zu", list, i);
  tct_html_field(&page->html, "li", field, text);
  tct_html_put(&page->html, "\n");
}

/* What the model file says of its own promise: "trust" or "unit". */
static void certified(tct_page *page, const char *key) {
  char field[24];
  snprintf(field, sizeof field, "privacy.%s", key);
  tct_html_field(&page->html, "span", field, tct_json_word(json_object_get(page->file, "privacy"), key));
}

/* What a run between parties takes for granted, a line each; NULL where there is nothing of that kind. */
static const json_t *conditions_of(const tct_page *page) {
  const json_t *list = json_object_get(json_object_get(page->file, "parties"), "conditions");
  return json_array_size(list) > 0 ? list : NULL;
}

static void conditions(tct_page *page) {
  const json_t *list = conditions_of(page), *each;
  size_t i;
  if (!list) return;
  tct_html_put(&page->html, "<h3>What the promise rests on</h3>\n<ul>\n");
  json_array_foreach(list, i, each)
      item(page, "parties.conditions", i, json_is_string(each) ? json_string_value(each) : "");
  tct_html_put(&page->html, "</ul>\n");
}

static void promise_whom(tct_page *page) {
  tct_html *h = &page->html;
  tct_html_put(h, "<h3>From whom</h3>\n<p>From everybody who sees the model file, whatever else they know");
  tct_html_put(h, conditions_of(page) ? ", as long as what is listed below holds" : " and whatever machines they own");
  tct_html_put(h, ": also from somebody who knows all the other records");
  tct_html_put(h, page->model->reproducible ? ", but not from somebody who knows the seed or guesses it" : "");
  tct_html_put(h, page->model->unaccounted[0] ? ", as far as the releases below go" : "");
  tct_html_put(h, ".</p>\n");
  conditions(page);
}

static void promise_words(tct_page *page) {
  tct_html *h = &page->html;
  const tct_model *m = page->model;
  if (!page->holds) {
    tct_html_put(h,
                 "<p class=\"alarm\">What the model file claims is <strong>not proved</strong>, so this page does not "
                 "put it into "
                 "words. Nobody can say from this file what is protected.</p>\n");
    return;
  }
  promise_what(page);
  promise_whom(page);
  tct_html_put(h, "<h3>How well</h3>\n<p>Somebody wants to tell ");
  tct_html_put(
      h, m->neighbours == TCT_REPLACE_ONE
             ? (m->persons ? "which of two possible contents a person\xe2\x80\x99s records have"
                           : "which of two possible contents a record has")
             : (m->persons ? "whether the records of one given person counted" : "whether one given record counted"));
  tct_html_put(h, ", and would be right half of the time by tossing a coin. With this model, they are right at most ");
  tct_html_put(h, "<strong>");
  tct_html_real(h, "derived.guess", guess_percent(m), 3);
  tct_html_put(
      h,
      "\xc2\xa0%</strong> of the time.</p>\n<details>\n<summary>In the words of the certificate and of mathematics"
      "</summary>\n<p>");
  certified(page, "unit");
  tct_html_put(h, "</p>\n<p>");
  certified(page, "trust");
  tct_html_put(h,
               "</p>\n<p>For anything that might be seen, its probability with the record is at most "
               "<i>e</i><sup>\xce\xb5</sup> times its probability without it, plus \xce\xb4, and the other way round");
  chance(h, m->delta);
  tct_html_put(h, ".</p>\n</details>\n");
}

void tct_report_protected(tct_page *page) {
  tct_html *h = &page->html;
  tct_html_put(h, "<section>\n<h2>What is protected, and from whom</h2>\n");
  if (!page->model->is_private) {
    tct_html_put(h, "<p>Nothing, and from nobody. The program was run without privacy");
    tct_html_put(h, " and its certificate says so: <strong>");
    certified(page, "trust");
    tct_html_put(h, "</strong></p>\n</section>\n");
    return;
  }
  promise_words(page);
  tct_html_put(h,
               "<h3>What the promise is not about</h3>\n<ul>\n"
               "<li>The number of records, the names of the columns and the bounds below count as public.</li>\n"
               "<li>");
  tct_html_put(
      h, page->model->persons
             ? "Which records are one person\xe2\x80\x99s was told to the program; it cannot know better.</li>\n"
             : "A person with several records is protected less: the promise is for one record at a time.</li>\n");
  tct_html_put(h,
               "<li>What is true of people in general. If the table shows that long schooling goes with high income, "
               "the model says "
               "so, about people who are not in the table as well.</li>\n"
               "<li>Whoever holds the table sees all of it, and how long the training took is not "
               "hidden.</li>\n</ul>\n</section>\n");
}

void tct_report_unaccounted(tct_page *page) {
  tct_html *h = &page->html;
  const tct_model *m = page->model;
  tct_html_put(h, "<section>\n<h2>Not covered by the promise</h2>\n");
  if (!m->is_private) tct_html_put(h, "<p class=\"alarm\">Nothing is covered: there is no promise.</p>\n");
  if (!warnings_of(page)) {
    if (m->is_private)
      tct_html_put(h,
                   "<p class=\"fine\">Nothing. Everything that was taken from the records went through the releases "
                   "below, and the noise came from the operating system.</p>\n");
    tct_html_put(h, "</section>\n");
    return;
  }
  tct_html_put(h, "<ul class=\"alarm\">\n");
  for (int i = 0; i < TCT_UNACCOUNTED && m->unaccounted[i]; i++)
    item(page, "privacy.unaccounted", (size_t)i, m->unaccounted[i]);
  if (!page->holds) {
    tct_html_put(h, "<li>The promise itself. Verify says: <span data-field=\"derived.why\">");
    tct_html_text(h, page->found.why);
    tct_html_put(h, ".</span></li>\n");
  }
  if (m->reproducible)
    tct_html_put(
        h,
        "<li data-field=\"privacy.noise\">The noise came from a seed. Whoever knows the seed can take the noise "
        "away, so this model must not be published.</li>\n");
  tct_html_put(h, "</ul>\n");
  if (m->unaccounted[0])
    tct_html_put(
        h,
        "<p>What is listed as taken from the records was not paid for. It may reveal single records, and the promise "
        "says nothing about it.</p>\n");
  tct_html_put(h, "</section>\n");
}
