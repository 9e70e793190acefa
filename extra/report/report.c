/* report.c - the page that a trained model is published with: one self-contained HTML file, from the model file alone.
 *
 * No script, no network, no row: everything on the page is in the model file or follows from it by a formula that the
 * page or docs/guide/report.md names.  A figure carries its exact value and its place in the model file (html.h), so
 * that a program can compare the two; a text from the file goes through tct_html_text.  Should a text get through all
 * the same, the page's own policy lets no script run. The same model gives the same bytes. */
#include "report/report.h"

#include "account/curves/work.h"
#include "certify/policy.h"
#include "certify/verify.h"
#include "core/alloc.h"
#include "core/digest.h"
#include "core/outfile.h"

#include <math.h>
#include <string.h>

static void head(tct_page *page) {
  tct_html *h = &page->html;
  tct_html_put(h,
               "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
               "'unsafe-inline'\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>Privacy report</title>\n"
               "<style>\n");
  tct_html_put(h, tct_report_style);
  tct_html_put(h, tct_report_interval_style);
  tct_html_put(h, "</style>\n</head>\n<body>\n<main>\n");
}

static void ledger(tct_page *page) {
  tct_html *h = &page->html;
  const json_t *entry = json_object_get(json_object_get(page->file, "privacy"), "ledger");
  tct_html_put(h, "<section>\n<h2>Budget ledger</h2>\n");
  if (!entry) {
    tct_html_put(h, page->model->is_private
                        ? "<p>No ledger was used. The promise is for this model alone: what other models or tables of "
                          "the same people reveal comes on top of it, and this page cannot know of them.</p>\n"
                        : "<p>No ledger was used: without noise there is nothing that one could charge.</p>\n");
    tct_html_put(h, "</section>\n");
    return;
  }
  tct_html_put(h,
               "<p>This run was charged to a ledger, which holds what all runs on the same table may reveal together. "
               "It was written before the first noise was drawn. Whoever keeps it can show the whole budget and what "
               "is left of it: <code>tacit ledger FILE</code>.</p>\n<p>The run is ");
  tct_html_field(h, "code", "privacy.ledger.run", tct_json_word(entry, "run"));
  tct_html_put(h, ", and the ledger\xe2\x80\x99s fingerprint was then<br>\n");
  tct_html_field(h, "code", "privacy.ledger.head", tct_json_word(entry, "head"));
  tct_html_put(h, "</p>\n</section>\n");
}

static tct_status how_to_check(tct_page *page, tct_error *err) {
  tct_html *h = &page->html;
  char hex[TCT_DIGEST_HEX];
  char *text = tct_model_json(page->model, err);
  if (!text) return TCT_E_MEMORY;
  tct_digest_sha256(text, strlen(text), hex);
  tct_text_free(text);
  tct_html_put(h,
               "<section>\n<h2>How to check this page</h2>\n<p>Do not believe a page; anybody can write one. Take the "
               "model file and the free program tacit. No records are needed.</p>\n<pre><code>tacit verify MODEL.json");
  if (page->model->ledger_head) tct_report_option(page, " {ledger LEDGER}");
  tct_html_put(h, "\ntacit report MODEL.json");
  tct_report_options(page);
  tct_html_put(h, " -o PAGE.html</code></pre>\n<p>The first ");
  tct_html_put(h, !page->model->is_private ? "looks whether the file is whole"
                  : page->holds            ? "recomputes the promise in two ways that share no code"
                                           : "recomputes the promise and refuses this file");
  if (page->model->ledger_head) tct_html_put(h, ", and finds this run in the ledger");
  tct_html_put(h, "; the second writes this page again, the same to the last character.</p>\n");
  tct_html_format(h,
                  "<p>This page describes the model file with the SHA-256 fingerprint<br>\n<code "
                  "data-field=\"sha256\">%s</code></p>\n</section>\n",
                  hex);
  return TCT_OK;
}

static void foot(tct_page *page) {
  tct_html *h = &page->html;
  tct_html_put(h, "<footer><p>Written by tacit ");
  tct_html_field(h, "span", "library", tct_json_word(page->file, "library"));
  bool more = page->said.audit || page->said.policy || page->said.scores || page->said.ledger;
  tct_html_put(h, more ? " from the model file and the other files named above. " : " from the model file alone. ");
  if (page->said.title || page->said.purpose || page->said.contact)
    tct_html_put(h, "Title, purpose and contact are the words of whoever had it written. ");
  tct_html_put(h,
               "No record was read for it; what it shows of them is what the model file was given. <span "
               "class=\"paper\">On the screen it has all digits too.</span></p></footer>\n"
               "</main>\n</body>\n</html>\n");
}

static tct_status write_page(tct_page *page, tct_error *err) {
  head(page);
  tct_report_summary(page);
  tct_report_protected(page);
  tct_report_unaccounted(page);
  if (page->policy) tct_report_policy(page);
  if (page->scores) tct_report_scores(page);
  if (page->model->is_private && page->holds) TCT_TRY(tct_report_curve(page, err));
  if (page->model->is_private) tct_report_events(page);
  if (page->audit) tct_report_audit(page);
  tct_report_records(page);
  ledger(page);
  tct_report_weights(page);
  TCT_TRY(how_to_check(page, err));
  foot(page);
  return TCT_OK;
}

static tct_status page_text(tct_page *page, tct_error *err) {
  TCT_TRY(tct_noise_size_of(page->model, &page->noise_known, &page->noise, err));
  return write_page(page, err);
}

/* What is no claim at all cannot be written down as one. */
static tct_status check_claim(const tct_model *m, tct_error *err) {
  if (!m->is_private || (m->epsilon > 0 && isfinite(m->epsilon) && m->delta >= 0 && m->delta < 1 && m->events.len))
    return TCT_OK;
  return tct_fail(err, TCT_E_DATA,
                  "the model file claims no epsilon and delta in range for any release; it was edited, see {verify}");
}

/* What the caller gave beside the model: each is of this very model, or refused. */
typedef struct besides {
  tct_policy with;
  json_t *file, *study, *scores, *told; /* owned */
} besides;

static tct_status take_besides(tct_page *page, besides *own, tct_error *err) {
  const tct_page_options *said = &page->said;
  char *text = tct_model_json(page->model, err);
  own->told = json_object();
  own->file = text ? json_loads(text, 0, NULL) : NULL;
  own->study = page->model->study ? json_loads(page->model->study, 0, NULL) : NULL;
  tct_text_free(text);
  page->file = own->file, page->study = own->study;
  if (!own->file || !own->told || (page->model->study && !own->study)) return tct_fail_memory(err);
  TCT_TRY(tct_policy_read(said->policy, said->audit, &own->with, err));
  page->audit = own->with.audit, own->with.ledger = said->ledger;
  if (page->audit) TCT_TRY(tct_audit_is_of(page->audit, page->file, err));
  if (said->scores && !(own->scores = json_loads(said->scores, 0, NULL)))
    return tct_fail(err, TCT_E_DATA, "the scores are no JSON; make them with {make_scores}");
  return tct_page_scores_take(page, own->scores, err);
}

/* The page grows in its html, or *entry is the registry's. */
static tct_status page_of(tct_page *page, besides *own, char **entry, tct_error *err) {
  TCT_TRY(take_besides(page, own, err));
  TCT_TRY(check_claim(page->model, err));
  if (!tct_verify_model(page->model, page->file, &own->with, own->told, &page->found)) return tct_fail_memory(err);
  page->policy = json_object_get(own->told, "policy");
  page->holds = page->found.verdict != TCT_VERDICT_REFUSED;
  if (!page->said.registry) return page_text(page, err);
  *entry = tct_registry_entry(page, err);
  return *entry ? TCT_OK : TCT_E_USAGE;
}

char *tct_report_page(const tct_model *model, const tct_page_options *options, tct_error *err) {
  tct_page page = {.model = model, .class = -1};
  besides own = {0};
  tct_error local = {0};
  char *entry = NULL;
  tct_error_clear(err);
  err = err ? err : &local;
  if (tct_page_options_take(options, &page.said, err) != TCT_OK) return NULL;
  tct_work before = tct_work_begin(TCT_WORK_VERIFY); /* to verify it too: prices and curves have what that leaves */
  tct_status status = page_of(&page, &own, &entry, err);
  tct_work_end(before);
  json_t *owned[] = {own.with.policy, own.with.audit, own.file, own.study, own.scores, own.told};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) json_decref(owned[k]);
  if (page.said.registry) return entry;
  if (status != TCT_OK) page.html.failed = 1;
  char *text = tct_html_take(&page.html);
  if (!text && status == TCT_OK) tct_fail_memory(err);
  return text;
}

tct_status tct_report_page_write(const tct_model *model, const tct_page_options *options, const char *path,
                                 tct_error *err) {
  char *text = tct_report_page(model, options, err);
  if (!text) return err ? err->status : TCT_E_RUN;
  tct_outfile out;
  tct_status status = tct_outfile_open(&out, path, TCT_OUT_STREAM, tct_inputs_list(&model->inputs), err);
  if (status == TCT_OK) status = tct_outfile_commit_text(&out, text, err);
  tct_text_free(text);
  return status;
}
