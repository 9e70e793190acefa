/* audit.c - the attacks in turn, and what they came to, as JSON. */
#include "audit/audit.h"

#include "core/alloc.h"
#include "core/processors.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Of the processor: what an audit finds then does not follow who else uses the machine. */
double tct_audit_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int64_t tct_audit_room(const tct_audit *a, double share, int64_t most) {
  double each = a->fits ? a->spent / (double)a->fits : 1e-3, left = share * (a->until - tct_audit_clock());
  return left > 0 ? (int64_t)fmin((double)most, left / fmax(each, 1e-7)) : 0;
}

static void once(json_t *list, const char *text) {
  const json_t *each;
  size_t i;
  json_array_foreach(list, i, each) if (!strcmp(json_string_value(each), text)) return;
  json_array_append_new(list, json_string(text));
}

/* A kind of break is told once: its first words up to the bracket decide. */
void tct_audit_break(tct_audit *a, const char *format, ...) {
  char text[600];
  const json_t *each;
  size_t i;
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  size_t kind = strcspn(text, "(");
  json_array_foreach(a->breaks, i, each) if (!strncmp(json_string_value(each), text, kind)) return;
  once(a->breaks, text);
}

void tct_audit_unchecked(tct_audit *a, const char *sentence) { once(a->unchecked, sentence); }

/* ---- begin
 * ----------------------------------------------------------------------------------------------------------- */

static int stop(void *user) {
  tct_audit *a = user;
  a->polls++;
  if (a->polls > a->peak) a->peak = a->polls;
  if ((double)a->polls > a->most_polls || tct_audit_clock() > a->stop_at) a->stopped = true;
  return a->stopped;
}

static tct_status plan(tct_audit *a, const tct_config *config, tct_error *err) {
  a->config = *config;
  a->config.has_seed = 0;
  a->config.ledger = a->config.output = a->config.input_changed = NULL;
  a->config.threads = 1;
  a->config.progress = NULL;
  a->config.cancel = stop;
  a->config.user = a;
  a->most_polls = a->stop_at = INFINITY;
  a->plan = tct_plan_new(&a->config, a->rows, a->cols, err);
  if (!a->plan) return err->status;
  char *text = tct_plan_json(a->plan, err);
  a->planned = text ? json_loads(text, 0, NULL) : NULL;
  tct_text_free(text);
  if (!a->planned) return tct_fail_memory(err);
  a->epsilon = tct_json_number(a->planned, "epsilon");
  a->delta = tct_json_number(a->planned, "delta");
  if (!json_is_true(json_object_get(a->planned, "private")) || !isfinite(a->epsilon))
    return tct_fail(err, TCT_E_USAGE, "this plan promises nothing; audit a private solver at a finite epsilon");
  return TCT_OK;
}

static tct_audit_release release_of(const json_t *said) {
  const char *norm = tct_json_said(said, "norm");
  tct_audit_release r = {.name = tct_json_said(said, "what"),
                         .event = tct_json_said(said, "event"),
                         .sensitivity = tct_json_number(said, "sensitivity"),
                         .deviation = tct_json_number(said, "deviation"),
                         .count = json_integer_value(json_object_get(said, "count"))};
  while (r.norm < TCT_NORM_SCORE && strcmp(norm, tct_norm_name(r.norm)) != 0) r.norm++;
  snprintf(r.kind, sizeof r.kind, "%.*s", (int)strcspn(r.event, ":"), r.event);
  return r;
}

static void facts(tct_audit *a) {
  tct_labels labels = tct_config_labels(&a->config);
  a->binary = labels == TCT_LABELS_BINARY;
  if (labels == TCT_LABELS_CLASSES) /* of one fit: its loss says how many there are */
    a->classes = (int64_t)tct_audit_part(tct_json_said(a->planned, "loss"), "classes", 3);
  if (tct_json_says(a->planned, "loss", "cox"))
    a->cells = (int64_t)fmax(1, tct_audit_part(tct_json_said(a->planned, "solver"), "cells", 24));
  a->replaces = a->config.neighbours == TCT_REPLACE_ONE;
  a->intercept = json_is_true(json_object_get(a->planned, "intercept"));
  a->row_norm = tct_json_number(a->planned, "row_norm");
  a->label_bound = tct_json_number(a->planned, "label_bound");
  if (isnan(a->row_norm)) a->row_norm = 1;
  const json_t *fit = json_array_get(json_object_get(a->planned, "fits"), 0),
               *releases = json_object_get(fit, "releases");
  size_t count = json_array_size(releases);
  a->releases = count < TCT_AUDIT_RELEASES ? (int)count : TCT_AUDIT_RELEASES;
  for (int r = 0; r < a->releases; r++) {
    a->release[r] = release_of(json_array_get(releases, (size_t)r));
    double rate = tct_audit_part(a->release[r].event, "rate", 1);
    a->rate[r] = rate > 0 && rate < 1 ? rate : 1;
  }
  a->adaptive = tct_json_says(fit, "promise", "budget");
  a->fixed = tct_json_says(fit, "promise", "fixed");
  const json_t *passes = json_object_get(a->planned, "max_passes");
  if (json_is_number(passes)) a->most_polls = json_number_value(passes) + 16;
}

/* Does a run take weights, and persons?  It is refused before anything is drawn. */
static tct_status find_weights(tct_audit *a, tct_error *err) {
  tct_pair pair;
  TCT_TRY(tct_pair_new(a, &pair, err));
  tct_status status = TCT_OK;
  for (int kind = 1; kind <= 2 && status == TCT_OK && a->rows > 1; kind++) {
    tct_side side;
    tct_error refused;
    tct_pair_invent(a, &pair, 0);
    pair.weighed = kind;
    status = tct_side_new(a, &pair, 1, &side, err);
    if (status != TCT_OK) break;
    tct_model *m = tct_side_fit(a, &side, &refused);
    *(kind == 1 ? &a->weighs : &a->persons) = m != NULL;
    tct_model_free(m);
    tct_side_free(&side);
  }
  tct_pair_free(a, &pair);
  return status;
}

static tct_status begin(tct_audit *a, const tct_config *config, const char *asked, tct_error *err) {
  a->breaks = json_array();
  a->unchecked = json_array();
  if (asked) TCT_TRY(tct_audit_study_begin(a, asked, err));
  if (!(a->rows >= 2 && a->cols >= 1))
    return tct_fail(err, TCT_E_USAGE, "an audit needs at least two records and one feature; give a larger shape");
  double values = (double)a->rows * (double)a->cols; /* a table that is invented, and what a run is given of it */
  TCT_TRY(tct_memory_check(2 * sizeof(double) * values, 0, "an audit of this shape needs", "give a smaller one", err));
  if (asked) return TCT_OK;
  TCT_TRY(plan(a, config, err));
  facts(a);
  a->watched = tct_watch(NULL, NULL, NULL);
  if (!a->watched)
    tct_audit_unchecked(
        a,
        "this library was not built for audit, so releases were neither forced nor seen: sensitivities, "
        "noise and the white-box test were not checked (build the target tacit_points)");
  return find_weights(a, err);
}

/* ---- the parts
 * ------------------------------------------------------------------------------------------------------- */

static bool set(json_t *root, const char *key, json_t *part) { return part && !json_object_set_new(root, key, part); }

/* A part that a run's failure cut short: that some table makes a run fail is a break of its own, and the rest goes on.
 */
static bool attacked(tct_audit *a, json_t *root, const char *key, json_t *part, tct_error *err) {
  if (!part && err->status != TCT_OK && err->status != TCT_E_MEMORY) {
    const char *why = a->stopped ? "it takes more passes than are planned" : err->text;
    tct_audit_break(a, "ending: a run does not end well for an invented table (%.400s)", why);
    tct_error_clear(err);
    part = json_null();
  }
  a->stopped = false;
  return set(root, key, part);
}

/* The part at hand ends when all up to it have had their share of the seconds, and not before half its own is over. */
static void until(tct_audit *a, double seconds, double own, double all) {
  a->until = fmax(a->start + all * seconds, tct_audit_clock() + 0.5 * own * seconds);
}

/* seconds: of all; each part has its share, and an unused one goes to the next. */
static tct_status attack(tct_audit *a, json_t *root, double seconds, tct_error *err) {
  double hard = a->study ? 0 : isfinite(a->most_polls) ? 0.25 : 0.1; /* minimisers are where endings differ */
  tct_pair canary;
  TCT_TRY(tct_pair_new(a, &canary, err));
  tct_pair_invent(a, &canary, 0);
  canary.weighed = 0;
  a->start = tct_audit_clock();
  until(a, seconds, 0.1, 0.1);
  tct_claim_make(a, &a->claim);
  bool ok = set(root, "claimed_shift", tct_json_finite(a->claim.shift));
  ok = ok && attacked(a, root, "arithmetic", tct_audit_arithmetic(a, err), err);
  until(a, seconds, hard, 0.1 + hard);
  ok = ok && (a->study || attacked(a, root, "behaviour", tct_audit_behaviour(a, err), err));
  until(a, seconds, 0.45 - hard, 0.55);
  ok = ok && attacked(a, root, "sensitivity", a->watched ? tct_audit_sensitivity(a, &canary, err) : json_null(), err);
  until(a, seconds, 0.2, 0.75);
  ok = ok && attacked(a, root, "white_box", a->watched ? tct_audit_white_box(a, &canary, err) : json_null(), err);
  until(a, seconds, 0.18, 0.93);
  ok = ok && (a->study || attacked(a, root, "black_box", tct_audit_black_box(a, &canary, err), err));
  until(a, seconds, 0.07, 1);
  ok = ok && (a->study || attacked(a, root, "canaries", tct_audit_canaries(a, err), err));
  tct_pair_free(a, &canary);
  if (ok) return TCT_OK;
  return err->status != TCT_OK ? err->status : tct_fail_memory(err);
}

static bool is_still(const json_t *share) { return json_is_number(share) && !(json_number_value(share) > 0); }

/* What the plan has and no attack moved, though it is a sum or a choice: releases, and, where others did, layouts,
 * types and weighings.  So much of the plan the audit says nothing about. */
static json_t *unmoved(const json_t *root) {
  const json_t *sensitivity = json_object_get(root, "sensitivity"), *release;
  json_t *share, *all = json_object_get(sensitivity, "largest_share"), *out = json_array();
  const char *name;
  double most = 0;
  size_t i;
  json_object_foreach(all, name, share) most = fmax(most, json_number_value(share));
  json_object_foreach(all, name, share) if (most > 0 && is_still(share)) json_array_append_new(out, json_string(name));
  json_array_foreach(json_object_get(sensitivity, "releases"), i,
                     release) if (is_still(json_object_get(release, "share")))
      json_array_append(out, json_object_get(release, "name"));
  return out;
}

static tct_status answer(tct_audit *a, json_t *root, uint64_t seed, double began, tct_error *err) {
  json_t *head = json_pack("{s:s, s:b, s:I, s:I, s:f}", "library", tct_version(), "built_for_audit", a->watched, "seed",
                           (json_int_t)seed, "attacks", (json_int_t)a->fits, "seconds", tct_audit_clock() - began);
  bool ok = set(root, "audit", head) && !json_object_set(root, "plan", a->planned) &&
            !json_object_set(root, "breaks", a->breaks) && !json_object_set(root, "not_checked", a->unchecked) &&
            set(root, "broken", json_boolean(json_array_size(a->breaks) > 0)) && set(root, "unmoved", unmoved(root));
  return ok ? TCT_OK : tct_fail_memory(err);
}

char *tct_audit_json(const tct_config *config, const char *asked, int64_t rows, int64_t cols, double seconds,
                     uint64_t seed, tct_error *err) {
  tct_error local;
  err = err ? err : &local;
  tct_error_clear(err);
  if (!(seconds > 0 && seconds < 1e6)) {
    tct_fail(err, TCT_E_USAGE, "the seconds of an audit must lie in (0, 1e6); give e.g. 60");
    return NULL;
  }
  tct_audit a = {.rows = rows, .cols = cols, .random = seed, .patient = seconds >= 1};
  double began = tct_audit_clock();
  json_t *root = json_object();
  tct_status status = root ? begin(&a, config, asked, err) : tct_fail_memory(err);
  if (status == TCT_OK) status = attack(&a, root, seconds, err);
  if (status == TCT_OK) status = answer(&a, root, seed, began, err);
  char *text = status == TCT_OK ? tct_json_dump(root, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
  if (status == TCT_OK && !text) tct_fail_memory(err);
  json_decref(root);
  json_decref(a.planned);
  json_decref(a.study);
  json_decref(a.column);
  tct_text_free(a.asked);
  tct_text_free(a.schema);
  tct_model_free(a.scored);
  tct_composition_free(a.searched);
  json_decref(a.breaks);
  json_decref(a.unchecked);
  tct_plan_free(a.plan);
  return text;
}
