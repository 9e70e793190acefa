/* report_about.c - what the readers of a page ask first: what this is, why, and whom to ask. */
#include "core/sized.h"
#include "report/report.h"

#include <stdio.h>
#include <string.h>

static const tct_sized SIZED = TCT_SIZED(tct_page_options, audit, "call tct_page_options_default first");
static const tct_page_options DEFAULTS = {.size = sizeof(tct_page_options)};

void tct_page_options_default_sized(tct_page_options *options, size_t size) {
  tct_sized_default(&SIZED, options, size, &DEFAULTS);
}

static bool is_text(const char *text) {
  json_t *value = text ? json_string(text) : NULL; /* which takes UTF-8 alone */
  json_decref(value);
  return !text || value;
}

tct_status tct_page_options_take(const tct_page_options *given, tct_page_options *own, tct_error *err) {
  *own = DEFAULTS;
  if (!given) return TCT_OK;
  TCT_TRY(tct_sized_take(&SIZED, given, own, err));
  if (is_text(own->title) && is_text(own->purpose) && is_text(own->contact)) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE,
                  "title, purpose and contact of a page must be UTF-8; write them in a UTF-8 terminal");
}

static void pair(tct_html *h, const char *name, const char *field, const char *text) {
  if (!text || !*text) return;
  tct_html_format(h, "<div><dt>%s</dt>", name);
  tct_html_field(h, "dd", field, text);
  tct_html_put(h, "</div>\n");
}

void tct_report_about(tct_page *page) {
  tct_html *h = &page->html;
  if (!page->said.purpose && !page->said.contact) return;
  tct_html_put(h, "<dl class=\"about\">\n");
  pair(h, "Purpose", "said.purpose", page->said.purpose);
  pair(h, "Contact", "said.contact", page->said.contact);
  tct_html_put(h, "</dl>\n");
}

enum { LONGEST = 400 }; /* bytes that a line to copy holds of one text */

void tct_report_option(tct_page *page, const char *slots) {
  char text[160];
  tct_error said;
  tct_fail(&said, TCT_OK, "{%s}", slots);
  tct_error_say(&said, TCT_WORDS_CLI, text, sizeof text);
  tct_html_put(&page->html, text);
}

/* A word of the shell: within single quotes nothing but these has a meaning. */
static void quoted(tct_page *page, const char *option, const char *text) {
  tct_html *h = &page->html;
  char word[4 * LONGEST + 1];
  size_t used = 0;
  if (!text) return;
  tct_report_option(page, option);
  tct_html_put(h, " '");
  if (strlen(text) > LONGEST) text = "...";
  for (; *text; text++)
    used += (size_t)snprintf(word + used, sizeof word - used, *text == '\'' ? "'\\%c'" : "%c", *text);
  word[used] = 0;
  tct_html_text(h, word);
  tct_html_put(h, "'");
}

void tct_report_options(tct_page *page) {
  quoted(page, " {title}", page->said.title);
  quoted(page, " {purpose}", page->said.purpose);
  quoted(page, " {contact}", page->said.contact);
  if (page->said.scores) tct_report_option(page, " {scores SCORES.json}");
  if (page->said.policy) tct_report_option(page, " {policy POLICY.json}");
  if (page->said.ledger) tct_report_option(page, " {ledger LEDGER}");
  if (page->said.audit) tct_report_option(page, " {audited AUDIT.json}");
}
