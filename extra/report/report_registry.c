/* report_registry.c - a model's entry in the public registry of private deployments, as far as its file has the
 * answers.
 *
 * The form is that of the registry's own template (docs/guide/policy.md says of when): what is asked of privacy follows
 * from the verified file alone.  What the file cannot know, such as who publishes it and where, is an empty text. */
#include "report/report.h"
#include "model/json.h"

#include "loss/loss.h"

#include <stdio.h>
#include <string.h>

/* "a; b; c", or `none`. */
static json_t *joined(const json_t *list, const char *none) {
  const json_t *each;
  size_t i;
  json_t *all = json_string("");
  json_array_foreach(list, i, each) {
    json_t *more = json_sprintf("%s%s%s", json_string_value(all), i ? "; " : "", json_string_value(each));
    json_decref(all);
    all = more;
  }
  if (json_array_size(list)) return all;
  json_decref(all);
  return json_string(none);
}

static json_t *basic(const tct_page *page) {
  const tct_model *m = page->model;
  tct_loss loss;
  bool known = tct_loss_make(m->loss, &loss, NULL) == TCT_OK && loss.kind->words;
  const char *title = page->said.title, *purpose = page->said.purpose;
  return json_pack(
      "{s:s, s:[{s:s, s:s}], s:o, s:s, s:s, s:s, s:s, s:s}", "name", title ? title : "", "data_curators",
      "data_curator_name", "", "data_curator_type", "", "description",
      json_sprintf("%s%s%s, of %lld features and %lld records.", known ? loss.kind->words : "A linear model",
                   m->label ? " of " : "", m->label ? m->label : "", (long long)m->cols, (long long)m->rows),
      "intended_use", purpose ? purpose : "", "data_product_type", "Machine learning model", "data_product_region", "",
      "data_product_sector", "", "publication_date", "");
}

static json_t *variant(const tct_page *page, const json_t *privacy) {
  return json_pack("{s:s, s:s, s:o}", "variant_name", page->model->delta > 0 ? "Approximate DP" : "Pure DP",
                   "data_domain",
                   "Tables of records with the columns, bounds and categories of the model file's schema; every record "
                   "is cut to the bounds that the file names.",
                   "unprotected_quantities",
                   joined(json_object_get(privacy, "unaccounted"),
                          "The number of records and the schema are public; the file names nothing else that was "
                          "read without noise."));
}

static json_t *privacy_loss(const tct_page *page, const json_t *privacy) {
  const tct_model *m = page->model;
  return json_pack("{s:s, s:s, s:{s:f, s:f}, s:o}", "privacy_unit", m->persons ? "person" : "record",
                   "privacy_unit_details", tct_json_word(privacy, "unit"), "privacy_parameters", "epsilon", m->epsilon,
                   "delta", m->delta, "privacy_parameters_details",
                   json_sprintf("Neighbours: %s. Accountant: %s. Verified by tacit %s.",
                                m->neighbours == TCT_REPLACE_ONE ? "one is replaced by another" : "one is removed",
                                m->accountant, tct_version()));
}

static json_t *deployment_model(const tct_page *page, const json_t *privacy) {
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "model_name", page->model->parties ? "Federated" : "Central",
                   "trust_assumptions", tct_json_word(privacy, "trust"), "release_type", "One release",
                   "release_type_details",
                   page->model->ledger_head ? "Charged to a budget ledger, which holds all runs on these records."
                                            : "No budget ledger: other releases from the same records come on top.",
                   "data_source_type", "Static", "access_type", "Non-interactive");
}

/* What was released, as the certificate lists it: name, how often, sensitivity, deviation. */
static json_t *mechanisms(const json_t *privacy) {
  const json_t *fit, *release;
  size_t i, k;
  json_t *lines = json_array();
  json_array_foreach(json_object_get(privacy, "fits"), i, fit) {
    json_array_foreach(json_object_get(fit, "releases"), k, release) {
      char text[400];
      snprintf(text, sizeof text, "%.200s (%.80s, sensitivity %.6g in %.20s), %lld times",
               tct_json_word(release, "what"), tct_json_word(release, "event"),
               json_number_value(json_object_get(release, "sensitivity")), tct_json_word(release, "norm"),
               (long long)json_integer_value(json_object_get(release, "count")));
      json_array_append_new(lines, json_string(text));
    }
  }
  json_t *all = joined(lines, "None.");
  json_decref(lines);
  return all;
}

static json_t *implementation(const tct_page *page, const json_t *privacy) {
  json_t *events = joined(json_object_get(privacy, "events"), "none");
  json_t *made = mechanisms(privacy);
  json_t *root = json_pack(
      "{s:s, s:o, s:o, s:s, s:s, s:s}", "preprocessing_and_hyperparameter_tuning",
      page->model->choice ? "A private choice among settings, which is charged."
                          : "No tuning is recorded; settings that were not asked for follow from public facts.",
      "mechanisms",
      json_sprintf("tacit %s, solver %s, exact lattice samplers. Releases: %s", tct_json_word(page->file, "library"),
                   page->model->solver, json_string_value(made)),
      "composition",
      json_sprintf("All releases together, by accountant %s: %s", page->model->accountant, json_string_value(events)),
      "post_processing", "The weights follow from the releases alone.", "justification", "", "additional_information",
      "");
  json_decref(events);
  json_decref(made);
  return root;
}

char *tct_registry_entry(const tct_page *page, tct_error *err) {
  const json_t *privacy = json_object_get(page->file, "privacy");
  if (page->found.verdict != TCT_VERDICT_VERIFIED && page->found.verdict != TCT_VERDICT_IN_PART)
    return tct_fail(err, TCT_E_USAGE, "only a private model that is verified has an entry; see what {verify} says"),
           NULL;
  json_t *root =
      json_pack("{s:s, s:{s:o, s:o, s:o, s:o, s:o, s:{s:{}, s:s, s:[s], s:i}}}", "url_slug", "", "deployment", "basic",
                basic(page), "dp_variant", variant(page, privacy), "privacy_loss", privacy_loss(page, privacy),
                "deployment_model", deployment_model(page, privacy), "implementation", implementation(page, privacy),
                "administrative", "evidence_sources", "status", "Draft", "registry_authors",
                page->said.contact ? page->said.contact : "", "tier", 3);
  return tct_json_text(root, err);
}
