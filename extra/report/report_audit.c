/* report_audit.c - what others say of the model: an audit of its very plan, and an organisation's limits. */
#include "report/report.h"

#include <string.h>

static void bound(tct_html *h, const json_t *part, const char *who, const char *field) {
  double mu = tct_json_number(part, "mu_lower"), claimed = tct_json_number(part, "mu_claimed");
  if (!(mu >= 0) || !(claimed > 0)) return;
  tct_html_format(h, "<dt>%s</dt><dd>told apart as by a Gaussian with \xce\xbc of at least ", who);
  tct_html_real(h, field, mu, 3);
  tct_html_put(h, ", where the promise allows ");
  tct_html_real(h, "audit.mu_claimed", claimed, 3);
  tct_html_put(h, "</dd>\n");
}

static void breaks(tct_html *h, const json_t *list) {
  const json_t *each;
  size_t i;
  tct_html_put(h, "<p><strong>The audit broke this promise. Do not publish this model.</strong></p>\n<ul>\n");
  json_array_foreach(list, i, each) {
    tct_html_put(h, "<li>");
    tct_html_text(h, json_string_value(each) ? json_string_value(each) : "");
    tct_html_put(h, "</li>\n");
  }
  tct_html_put(h, "</ul>\n");
}

void tct_report_audit(tct_page *page) {
  tct_html *h = &page->html;
  const json_t *audit = page->audit, *head = json_object_get(audit, "audit"), *list = json_object_get(audit, "breaks");
  double attacks = tct_json_number(head, "attacks");
  tct_html_put(h, "<section>\n<h2>Attacks</h2>\n<p>The plan of this model was audited with ");
  tct_html_count(h, "audit.attacks", attacks >= 0 && attacks < 0x1p53 ? (int64_t)attacks : 0);
  tct_html_put(h, " runs on invented tables, by whoever wrote this page. ");
  tct_html_put(h,
               json_array_size(list) ? "</p>\n" : "No break was found, which proves nothing: it was looked for.</p>\n");
  if (json_array_size(list)) breaks(h, list);
  tct_html_put(h, "<p>Best lower bounds, which may err in one case of twenty:</p>\n<dl class=\"pairs\">\n");
  bound(h, json_object_get(audit, "white_box"), "Who sees all releases", "audit.white_box.mu_lower");
  bound(h, json_object_get(audit, "black_box"), "Who sees final models", "audit.black_box.mu_lower");
  tct_html_put(h, "</dl>\n<p>Anybody can attack it: <code>tacit audit</code>.</p>\n</section>\n");
}

/* Those that do not keep first. */
static void rules(tct_html *h, const json_t *list, bool keep) {
  const json_t *each;
  size_t i;
  json_array_foreach(list, i, each) {
    if (json_is_true(json_object_get(each, "ok")) != keep) continue;
    tct_html_put(h, keep ? "<li>" : "<li class=\"bad\"><strong>Not kept:</strong> ");
    tct_html_field(h, "span", "policy.text", tct_json_word(each, "text"));
    tct_html_put(h, " (");
    tct_html_field(h, "code", "policy.rule", tct_json_word(each, "rule"));
    tct_html_put(h, ")</li>\n");
  }
}

void tct_report_policy(tct_page *page) {
  tct_html *h = &page->html;
  const json_t *policy = page->policy, *list = json_object_get(policy, "rules");
  const char *name = tct_json_word(policy, "name");
  bool ok = json_is_true(json_object_get(policy, "ok"));
  tct_html_put(h, "<section>\n<h2>What a policy says</h2>\n");
  tct_html_put(h, ok ? "<p class=\"fine\">Every limit keeps" : "<p class=\"alarm\">This model may not be published");
  tct_html_put(h, name[0] ? " under " : " under the policy that was given");
  if (name[0]) tct_html_field(h, "span class=\"value\"", "policy.name", name);
  tct_html_put(h, ".</p>\n<ul>\n");
  rules(h, list, false);
  rules(h, list, true);
  tct_html_put(h, "</ul>\n</section>\n");
}
