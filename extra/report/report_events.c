/* report_events.c - what the run released, in words and as the certificate says it, and what each release costs. */
#include "account/selection.h"
#include "account/account.h"
#include "report/report.h"

#include <jansson.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A list longer than this has its first releases priced: each price is an accountant's work. */
enum { PRICED = 12 };
enum { MERGED = 1000 }; /* a longer list is printed as it is: looking for equal events takes the square of its length */
static const double PRECISION = 1e-3; /* as report_curve.c */

/* The clause of kinds.def, with {key:digits} replaced by the parameter's value. */
static void words(tct_html *h, tct_event *e) {
  char piece[256], key[16], field[32];
  for (const char *at = tct_event_kinds[e->kind].words; *at;) {
    size_t plain = strcspn(at, "{");
    snprintf(piece, sizeof piece, "%.*s", (int)plain, at);
    tct_html_put(h, piece);
    at += plain;
    if (!*at) return;
    int digits = 0, read = 0;
    if (sscanf(at, "{%15[a-z]:%1d}%n", key, &digits, &read) != 2 || !read) return;
    snprintf(field, sizeof field, "event.%s", key);
    const double *value = tct_event_parameter(e, key);
    if (value) tct_html_real(h, field, *value, digits);
    at += read;
  }
}

/* How often event i stands in the list, 0 where it stood before: the fits of several classes each have it. */
static int64_t repeats(const tct_events *events, int64_t i) {
  int64_t times = 0;
  if (events->len > MERGED) return 1;
  for (int64_t j = 0; j < events->len; j++) {
    if (!tct_event_same(&events->at[i], &events->at[j]) || events->at[i].count != events->at[j].count) continue;
    if (j < i) return 0;
    times += times < INT64_MAX / events->at[i].count;
  }
  return times;
}

static tct_status row(tct_page *page, int64_t i, tct_error *err) {
  tct_html *h = &page->html;
  const tct_model *m = page->model;
  int64_t times = repeats(&m->events, i);
  if (times == 0) return TCT_OK;
  tct_event *e = &m->events.at[i], all = *e;
  all.count *= times;
  tct_events alone = {.at = &all, .len = 1, .cap = 1}; /* borrowed */
  tct_cost cost = {.epsilon = INFINITY};
  char text[256];
  tct_event_print(e, text, sizeof text);
  if (i < PRICED && tct_account_epsilon(&alone, (tct_neighbours)m->neighbours, m->delta, PRECISION, &cost, err) != 0) {
    if (err->status == TCT_E_MEMORY) return TCT_E_MEMORY;
    tct_error_clear(err), cost.winner = NULL; /* no accountant knows it, or it would take too much work */
  }
  tct_html_put(h, "<tr><td>");
  words(h, e);
  tct_html_format(h, ".<br><code data-field=\"privacy.events.%lld\">%s</code></td><td>", (long long)i, text);
  tct_html_count(h, "event.count", e->count);
  if (times > 1) {
    tct_html_put(h, ", and all of it ");
    tct_html_count(h, "derived.repeats", times);
    tct_html_put(h, " times");
  }
  tct_html_put(h, "</td><td>");
  if (cost.winner && isfinite(cost.epsilon))
    tct_html_real(h, "derived.alone", cost.epsilon, 4);
  else
    tct_html_put(h, i < PRICED ? "no figure" : "not priced");
  tct_html_put(h, "</td></tr>\n");
  return TCT_OK;
}

/* A norm as the model file names it, for people. */
static const char *norm_words(const char *norm) {
  if (norm && !strcmp(norm, "l2")) return ", Euclidean length";
  if (norm && !strcmp(norm, "l1")) return ", sum of absolute values";
  return ", change of any one score";
}

/* One release of a fit: what, its length and its noise in units of the sum.  fits: how many there are of this kind. */
static void release(tct_html *h, const json_t *r, json_int_t fits) {
  double length = json_number_value(json_object_get(r, "sensitivity"));
  double deviation = json_number_value(json_object_get(r, "deviation"));
  const char *what = json_string_value(json_object_get(r, "what")),
             *norm = json_string_value(json_object_get(r, "norm"));
  tct_html_put(h, "<tr><td>");
  tct_html_text(h, what ? what : "?");
  if (fits > 1) {
    char each[48];
    snprintf(each, sizeof each, ", in each of %lld fits", (long long)fits);
    tct_html_text(h, each);
  }
  tct_html_put(h, "</td><td>");
  if (length > 0)
    tct_html_real(h, "release.sensitivity", length, 4);
  else
    tct_html_put(h, "set as the run went, from earlier releases");
  tct_html_put(h, norm_words(norm));
  tct_html_put(h, "</td><td>");
  if (deviation > 0)
    tct_html_real(h, "release.deviation", deviation, 4);
  else
    tct_html_put(h, json_is_true(json_object_get(r, "open")) || !(length > 0) ? "with the length or the budget left"
                                                                              : "none: a choice");
  tct_html_put(h, "</td></tr>\n");
}

/* The best of a random number of tries: the table below is of all settings, and a try spends one of them. */
static void tries(tct_html *h, const tct_model *m, size_t settings) {
  tct_selection search;
  char text[700];
  if (!tct_selection_parse(m->choice, &search)) return;
  snprintf(text, sizeof text,
           "<p>This model is the best of a random number of tries, %lld on average. Each try trained one of %zu "
           "settings, drawn at random, and scored it on other records with noise of standard deviation %.4g times what "
           "one record adds. The claim is that of the whole search. How many tries there were stays secret. The table "
           "has what "
           "one try of each setting spends.</p>\n",
           (long long)search.mean, settings, search.score);
  tct_html_put(h, text);
}

/* Form 1 has none. */
static void releases(tct_html *h, const tct_model *m) {
  json_t *fits = m->fits ? json_loads(m->fits, 0, NULL) : NULL;
  const json_t *fit, *r;
  size_t f, i;
  if (!fits) return;
  tries(h, m, json_array_size(fits));
  tct_html_put(h,
               "<table>\n<thead><tr><th scope=\"col\">As it was planned</th><th scope=\"col\">One record\xe2\x80\x99s "
               "own term, at most</th><th scope=\"col\">Standard deviation of the noise</th></tr></thead>\n<tbody>\n");
  json_array_foreach(fits, f, fit) json_array_foreach(json_object_get(fit, "releases"), i, r)
      release(h, r, json_integer_value(json_object_get(fit, "count")));
  tct_html_put(h, "</tbody>\n</table>\n");
  json_decref(fits);
}

tct_status tct_report_events(tct_page *page, tct_error *err) {
  tct_html *h = &page->html;
  const tct_model *m = page->model;
  tct_html_put(h, "<section>\n<h2>What was released, at what price</h2>\n<p>");
  tct_html_put(h, m->unaccounted[0]
                      ? "Apart from what is named above, the records were used through these releases alone. "
                      : "The records were used through these releases and in no other way. ");
  tct_html_put(h, m->adaptive
                      ? "The run chose its steps as it went and kept to this budget; the price is that of the whole "
                        "budget.</p>\n"
                      : "Each price is that of its line alone. Noise does not add up as prices do, so the last line "
                        "need not be their sum.</p>\n");
  tct_html_put(h,
               "<table>\n<thead><tr><th scope=\"col\">Release</th><th scope=\"col\">Times</th><th scope=\"col\">Price "
               "(\xce\xb5)</th></tr></thead>\n<tbody>\n");
  for (int64_t i = 0; i < m->events.len; i++) TCT_TRY(row(page, i, err));
  tct_html_put(h, "</tbody>\n<tfoot><tr><th scope=\"row\" colspan=\"2\">All together, as claimed");
  tct_html_put(h, page->holds ? ", at \xce\xb4 = " : " (not proved), at \xce\xb4 = ");
  tct_html_real(h, "privacy.delta", m->delta, 0);
  tct_html_put(h, "</th><td>");
  tct_html_real(h, "privacy.epsilon", m->epsilon, 0);
  tct_html_put(h, "</td></tr></tfoot>\n</table>\n");
  releases(h, m);
  tct_html_put(h, "<p class=\"quiet\">Solver ");
  tct_html_field(h, "code", "solver", m->solver);
  tct_html_put(h, ", loss ");
  tct_html_field(h, "code", "loss", m->loss);
  tct_html_put(h, ", penalty ");
  tct_html_field(h, "code", "penalty", m->penalty);
  tct_html_put(h,
               ". The proof of each release is in the head comment of the solver\xe2\x80\x99s source.</p>\n"
               "</section>\n");
  return TCT_OK;
}
