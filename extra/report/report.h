/* report.h - the parts of the page that a trained model is published with. */
#ifndef TCT_REPORT_REPORT_H
#define TCT_REPORT_REPORT_H
#include "report/html.h"
#include "certify/policy.h"
#include "core/spec.h"
#include "model/model.h"
#include "summary/noise_size.h"

/* What all parts of a page see.  `file` is the model file itself, so that a figure cannot differ from it. */
typedef struct tct_page {
  tct_html html;
  const tct_model *model;
  const json_t *file;
  tct_page_options said; /* texts of whoever writes the page */
  const json_t *audit;   /* the answer of tct_audit_json for the same plan, or NULL */
  const json_t *policy;  /* what limits say: "policy" of tct_verify_json, or NULL */
  const json_t *study;   /* the whole file, of a stage of a study; or NULL */
  const json_t *scores;  /* private figures of this model: of tct_evaluate_json, or of its study; or NULL */
  const char *part;      /* of the study's records that they are of; NULL: they are no stage's */
  tct_conclusion found;  /* of verify */
  bool holds;            /* no check failed */
  tct_noise_size noise;  /* of the weights */
  int noise_known;
  int64_t class; /* whose weights are written; -1: the model has one row of them */
} tct_page;

/* ---- report_about.c: why, contact ---- */
void tct_report_about(tct_page *page);
/* The caller's options, NULL for none; refuses a struct that was not set up. */
tct_status tct_page_options_take(const tct_page_options *given, tct_page_options *own, tct_error *err);
/* Options in the lines to copy, which are for the command line: slots of core/slots.def. */
void tct_report_option(tct_page *page, const char *slots);
/* All that was said besides the model, for the line that writes the page again. */
void tct_report_options(tct_page *page);
/* ---- report_registry.c: the entry in a public registry, as JSON; NULL: the file is not verified, or out of memory
 * ---- */
char *tct_registry_entry(const tct_page *page, tct_error *err);
/* ---- report_promise.c: what is promised, to whom, and what is not covered ---- */
void tct_report_summary(tct_page *page);
void tct_report_protected(tct_page *page);
void tct_report_unaccounted(tct_page *page);
/* ---- report_curve.c: epsilon against delta ---- */
tct_status tct_report_curve(tct_page *page, tct_error *err);
/* ---- report_audit.c: what others say: an audit, an organisation's limits ---- */
void tct_report_audit(tct_page *page);
void tct_report_policy(tct_page *page);
/* ---- report_scores.c: how good the model is ---- */
/* page->scores from `given`, the answer of tct_evaluate_json, or from the study.  TCT_E_USAGE: another model's, or
 * exact ones. */
tct_status tct_page_scores_take(tct_page *page, const json_t *given, tct_error *err);
void tct_report_score_tile(tct_page *page);
void tct_report_scores(tct_page *page);
/* ---- report_curves.c: its ROC curve and calibration ---- */
void tct_report_score_curves(tct_page *page);
/* ---- report_events.c: what was asked of the records ---- */
void tct_report_events(tct_page *page);
/* ---- report_records.c: what was done to each record before it counted ---- */
void tct_report_records(tct_page *page);
/* ---- report_weights.c: the weights and the noise in them ---- */
void tct_report_weights(tct_page *page);
/* A line of a chart of weights up to its drawing, and behind it up to the cell of figures.  The drawing goes from
 * -reach to reach.  at: the weight, -1 for the intercept; field: where it is in the model file. */
void tct_chart_begin(tct_page *page, int64_t at, bool printed, const char *kind, const char *field);
typedef struct tct_bar {
  double middle, half;
  int top, height;
} tct_bar;
void tct_chart_bar(tct_html *h, const char *class, tct_bar bar, double reach);
double tct_chart_percent(double value, double reach);
void tct_chart_end(tct_html *h);
/* ---- report_intervals.c: the weights with how sure each is, where the model knows ---- */
void tct_report_intervals(tct_page *page);
extern const char tct_report_interval_style[];
/* ---- report_style.c ---- */
extern const char tct_report_style[];
#endif
