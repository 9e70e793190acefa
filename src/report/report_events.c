/* report_events.c - what the run released, in words and as the certificate says it, and what each release costs. */
#include "account/account.h"
#include "report/report.h"

#include <math.h>

/* A list longer than this has its first releases priced: each price is an accountant's work. */
enum { PRICED = 12 };
static const double PRECISION = 1e-3; /* as report_curve.c */

static void words(tct_html *h, const tct_event *e) {
  switch (e->kind) {
    case TCT_EV_GAUSSIAN:
      tct_html_put(h, "A sum over all records, with Gaussian noise ");
      tct_html_real(h, "event.noise", e->noise, 4);
      tct_html_put(h, " times as large as one record can make");
      break;
    case TCT_EV_SAMPLED_GAUSSIAN:
      tct_html_put(h, "A sum over a random draw of the records, each with probability ");
      tct_html_real(h, "event.rate", e->rate, 3);
      tct_html_put(h, ", with Gaussian noise ");
      tct_html_real(h, "event.noise", e->noise, 4);
      tct_html_put(h, " times as large as one record can make");
      break;
    case TCT_EV_LAPLACE:
      tct_html_put(h, "A sum over all records, with Laplace noise ");
      tct_html_real(h, "event.noise", e->noise, 4);
      tct_html_put(h, " times as large as one record can make");
      break;
    case TCT_EV_EXPONENTIAL:
      tct_html_put(h, "A choice among candidates, at random and the better ones more often");
      break;
    case TCT_EV_PURE: tct_html_put(h, "A step with its own proof, without any \xce\xb4"); break;
    case TCT_EV_APPROX: tct_html_put(h, "A step with its own proof"); break;
    case TCT_EV_ZCDP: tct_html_put(h, "A budget that the steps of the run kept to"); break;
    case TCT_EV_OBJPERT:
      tct_html_put(h, "The best model for a question that was tilted at random by noise ");
      tct_html_real(h, "event.noise", e->noise, 4);
      tct_html_put(h, " times as large as one record can make");
      break;
  }
}

static tct_status row(tct_page *page, int64_t i, tct_error *err) {
  tct_html *h = &page->html;
  const tct_model *m = page->model;
  tct_event *e = &m->events.at[i];
  tct_events alone = {.at = e, .len = 1, .cap = 1}; /* borrowed */
  tct_cost cost = {.epsilon = INFINITY};
  char text[256];
  tct_event_print(e, text, sizeof text);
  if (i < PRICED) TCT_TRY(tct_account_epsilon(&alone, (tct_neighbours)m->neighbours, m->delta, PRECISION, &cost, err));
  tct_html_put(h, "<tr><td>");
  words(h, e);
  tct_html_format(h, ".<br><code data-field=\"privacy.events.%lld\">%s</code></td><td>", (long long)i, text);
  tct_html_count(h, "event.count", e->count);
  tct_html_put(h, "</td><td>");
  if (cost.winner && isfinite(cost.epsilon))
    tct_html_real(h, "derived.alone", cost.epsilon, 4);
  else
    tct_html_put(h, i < PRICED ? "no figure" : "not priced");
  tct_html_put(h, "</td></tr>\n");
  return TCT_OK;
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
  tct_html_put(h, "</tbody>\n<tfoot><tr><th scope=\"row\" colspan=\"2\">All together, as claimed, at \xce\xb4 = ");
  tct_html_real(h, "privacy.delta", m->delta, 0);
  tct_html_put(h, "</th><td>");
  tct_html_real(h, "privacy.epsilon", m->epsilon, 0);
  tct_html_put(h, "</td></tr></tfoot>\n</table>\n<p class=\"quiet\">Solver <code data-field=\"solver\">");
  tct_html_text(h, m->solver);
  tct_html_put(h, "</code>, loss <code data-field=\"loss\">");
  tct_html_text(h, m->loss);
  tct_html_put(h, "</code>, penalty <code data-field=\"penalty\">");
  tct_html_text(h, m->penalty);
  tct_html_put(h,
               "</code>. The proof of each release is in the head comment of the solver\xe2\x80\x99s source.</p>\n"
               "</section>\n");
  return TCT_OK;
}
