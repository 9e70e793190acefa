/* behaviour.c - what else of a run can be seen: how it ends, what it says, what it writes, compared on neighbours.
 *
 * Tables are pushed to where runs are hard: labels that a line parts, rows of extreme lengths, many passes.  A run that
 * fails for one table and ends for another is a break wherever it is found.  One gets from the one table to the other
 * by single records, so some pair on the way differs; it is found by halving. */
#include "audit/audit.h"

#include "core/alloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const released[] = {"coefficients", "intercept", "inference", "note"};

typedef struct seen {
  int64_t pairs, ended, polls; /* polls: the most of a run */
  bool model_differs;          /* in fields other than those released */
} seen;

/* ---- endings ---------------------------------------------------------------------------------------------------- */

/* Lengths from tiny to huge, which the bound brings to the row norm, and labels that a line parts. */
static void push_to_the_edge(tct_audit *a, tct_pair *pair, int kind) {
  static const double lengths[] = {0, -150, 100, -20, 20, 0.5, 0, 0};
  double by = pow(10, lengths[kind % 8]);
  pair->type = by == 1 ? pair->type : TCT_F64;
  for (int64_t k = 0; k < a->rows * a->cols; k++) pair->x[k] *= by;
  for (int64_t j = 0; j < a->cols; j++) pair->other[j] *= by;
  for (int64_t i = 0; i < a->rows && a->binary && kind % 2; i++) pair->y[i] = pair->x[i * a->cols] > 0 ? 1 : -1;
  if (kind % 5 == 3) pair->other_y = -pair->other_y;
}

static tct_status ends(tct_audit *a, const tct_pair *pair, tct_error *how) {
  tct_side side;
  tct_tape tape;
  tct_tape_begin(a, &tape, pair);
  tct_status status = tct_side_new(a, pair, 1, &side, how);
  if (status == TCT_OK) {
    status = tct_tape_run(a, &tape, &side, pair->coins, NULL, how);
    tct_side_free(&side);
  }
  tct_tape_free(&tape);
  return status;
}

/* to <- the first `rows` records of `bad`, the others of `good`. */
static void mix(const tct_audit *a, tct_pair *to, const tct_pair *good, const tct_pair *bad, int64_t rows) {
  tct_pair_copy(a, to, good);
  to->coins = bad->coins, to->layout = bad->layout, to->type = bad->type, to->weighed = bad->weighed;
  to->kin = bad->kin, to->apart = bad->apart, to->heavy = bad->heavy;
  memcpy(to->x, bad->x, (size_t)(rows * a->cols) * sizeof(double));
  memcpy(to->y, bad->y, (size_t)rows * sizeof(double));
}

/* The record at which a run begins to end otherwise. */
static tct_status halve(tct_audit *a, const tct_pair *good, const tct_pair *bad, int64_t *record, tct_error *err) {
  tct_pair at;
  tct_error how;
  int64_t low = 0, high = a->rows;
  TCT_TRY(tct_pair_new(a, &at, err));
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    mix(a, &at, good, bad, middle);
    if (ends(a, &at, &how) == TCT_OK)
      low = middle;
    else
      high = middle;
  }
  tct_pair_free(a, &at);
  *record = low;
  return TCT_OK;
}

static void report_ending(tct_audit *a, const tct_pair *good, const tct_pair *bad, const char *text, tct_error *err) {
  int64_t record = 0;
  char why[200];
  snprintf(why, sizeof why, "%.190s", a->stopped ? "it takes more passes than are planned" : text);
  if (good && halve(a, good, bad, &record, err) == TCT_OK)
    tct_audit_break(a, "ending: a run ends for one table and not for another (%s); a pair differs in record %lld alone",
                    why, (long long)record + 1);
  else
    tct_audit_break(a, "ending: a run does not end well for a table within its public bounds (%s)", why);
}

/* ---- the two models ---------------------------------------------------------------------------------------------- */

static json_t *model_without(const tct_model *m, bool whole) {
  char *text = tct_model_json(m, NULL);
  json_t *root = text ? json_loads(text, 0, NULL) : NULL;
  tct_text_free(text);
  for (size_t k = 0; k < sizeof released / sizeof *released && !whole; k++) json_object_del(root, released[k]);
  return root;
}

static void compare_models(tct_audit *a, const tct_measured *m, seen *s) {
  bool whole = a->watched && !tct_audit_draws(&m->tape); /* forced to the same releases: then all must agree */
  json_t *one = model_without(m->with.model, whole), *two = model_without(m->without.model, whole);
  const char *first = tct_model_warning(m->with.model), *second = tct_model_warning(m->without.model);
  if (!one || !two || (!json_equal(one, two) && (whole || !a->adaptive))) s->model_differs = true;
  if (s->model_differs)
    tct_audit_break(a, "behaviour: the model files of two neighbours differ in a field that is not released");
  if (whole && ((first != NULL) != (second != NULL) || (first && strcmp(first, second))))
    tct_audit_break(a, "behaviour: two neighbours get other words at the end of a run");
  json_decref(one);
  json_decref(two);
}

static void compare_endings(tct_audit *a, const tct_pair *pair, const tct_measured *m, seen *s) {
  s->pairs++;
  s->polls = a->peak > s->polls ? a->peak : s->polls;
  if (m->first != m->second || (m->first != TCT_OK && strcmp(m->first_error.text, m->second_error.text)))
    tct_audit_break(a, "ending: of two neighbours one run fails (%s)",
                    a->stopped           ? "it takes more passes than are planned"
                    : m->first != TCT_OK ? m->first_error.text
                                         : m->second_error.text);
  if (m->first != TCT_OK || m->second != TCT_OK) return;
  s->ended++;
  if (m->tape.mismatch)
    tct_audit_break(a, "behaviour: two neighbours with the same past make other releases, or of another size");
  else
    compare_models(a, m, s);
  (void)pair;
}

/* One hard pair; `good` keeps a table for which a run ended. */
static tct_status one_pair(tct_audit *a, const tct_pair *pair, tct_pair *good, bool *has_good, seen *s,
                           tct_error *err) {
  tct_measured m;
  a->stopped = false;
  a->stop_at = tct_audit_clock() + 20;
  TCT_TRY(tct_audit_measure(a, pair, &m, err));
  compare_endings(a, pair, &m, s);
  if (m.first != TCT_OK) report_ending(a, *has_good ? good : NULL, pair, m.first_error.text, err);
  if (m.first == TCT_OK) tct_pair_copy(a, good, pair), *has_good = true;
  tct_measured_free(&m);
  return TCT_OK;
}

enum { CLIMB = 25 };

/* A new table, or the hardest so far with one record changed. */
static void next_pair(tct_audit *a, tct_pair *at, const tct_pair *hardest, int k) {
  if (k % CLIMB == 0 || k < 8) {
    tct_pair_invent(a, at, k < 8 ? k : (int)(tct_audit_u64(a) % 30));
    push_to_the_edge(a, at, k < 8 ? k : (int)(tct_audit_u64(a) % 40));
    return;
  }
  tct_pair_copy(a, at, hardest);
  at->record = (int64_t)(tct_audit_u64(a) % (uint64_t)a->rows);
  tct_pair_nudge(a, at);
  at->stretch = 1, at->push = 0, at->wander = 0;
}

/* Climbs to tables on which a run asks most often whether to stop: where it is longest an ending may differ. */
static tct_status hard_pairs(tct_audit *a, seen *s, tct_error *err) {
  tct_pair at, good = {0}, hardest = {0};
  bool has_good = false;
  int64_t most = 0;
  TCT_TRY(tct_pair_new(a, &at, err));
  tct_status status = tct_pair_new(a, &good, err);
  if (status == TCT_OK) status = tct_pair_new(a, &hardest, err);
  for (int k = 0; status == TCT_OK && (k < 8 || tct_audit_clock() < a->until); k++) {
    if (k % CLIMB == 0) most = 0;
    next_pair(a, &at, &hardest, k);
    a->peak = 0;
    status = one_pair(a, &at, &good, &has_good, s, err);
    if (a->peak < most) continue;
    most = a->peak;
    tct_pair_copy(a, &hardest, &at);
  }
  tct_pair_free(a, &at);
  tct_pair_free(a, &good);
  tct_pair_free(a, &hardest);
  return status;
}

/* ---- files --------------------------------------------------------------------------------------------------------
 */

/* A ledger's entry without what is new in every run: identity, time and hashes. */
static json_t *entry_of(const char *path) {
  char *text = tct_ledger_json(path, NULL);
  json_t *root = text ? json_loads(text, 0, NULL) : NULL;
  json_t *run = json_incref(json_array_get(json_object_get(root, "runs"), 0));
  for (size_t k = 0; k < 3; k++) json_object_del(run, ((const char *const[]){"id", "time", "head"})[k]);
  json_decref(root);
  tct_text_free(text);
  return run;
}

typedef struct files {
  char ledger[300], model[300];
  json_t *entry, *fields;
  char *verdict;
} files;

static tct_status run_with_files(tct_audit *a, const tct_side *side, files *f, tct_error *err) {
  tct_config config = a->config;
  config.ledger = f->ledger;
  tct_ledger_options ledger;
  tct_ledger_options_default(&ledger);
  ledger.neighbours = config.neighbours;
  ledger.epsilon = 2 * a->epsilon, ledger.delta = 2 * a->delta;
  TCT_TRY(tct_ledger_make(f->ledger, &ledger, err));
  tct_plan *plan = tct_plan_new(&config, a->rows, a->cols, err);
  a->polls = 0; /* as in tct_side_fit: those of one run are held against its plan */
  tct_model *m = plan ? tct_fit(plan, side->data, err) : NULL;
  tct_plan_free(plan);
  a->fits++;
  tct_status status = m ? tct_model_write(m, f->model, err) : err->status;
  if (status == TCT_OK) {
    f->entry = entry_of(f->ledger);
    f->fields = model_without(m, false);
    json_object_del(json_object_get(f->fields, "privacy"), "ledger");
    f->verdict = tct_verify_json(f->model, NULL, f->ledger, NULL, NULL, NULL, err);
  }
  tct_model_free(m);
  return status;
}

static bool verified(const files *f) {
  json_t *root = f->verdict ? json_loads(f->verdict, 0, NULL) : NULL;
  bool ok = json_is_true(json_object_get(root, "ok"));
  json_decref(root);
  return ok;
}

static void files_end(files *f) {
  json_decref(f->entry);
  json_decref(f->fields);
  tct_text_free(f->verdict);
  unlink(f->ledger);
  unlink(f->model);
}

static void compare_files(tct_audit *a, const files *one, const files *two) {
  if (!one->entry || !two->entry || !json_equal(one->entry, two->entry))
    tct_audit_break(a, "behaviour: the ledger entries of two neighbours differ");
  double charged = json_number_value(json_object_get(one->entry, "epsilon"));
  if (!(charged >= a->epsilon * (1 - 1e-12)))
    tct_audit_break(a, "charge: the ledger was charged epsilon %.6g for a plan of %.6g", charged, a->epsilon);
  if (!one->fields || !two->fields || (!json_equal(one->fields, two->fields) && !a->adaptive))
    tct_audit_break(a, "behaviour: the model files of two neighbours differ in a field that is not released");
  if (!verified(one) || !verified(two)) tct_audit_break(a, "verify: the model of the plan does not verify");
}

/* Two neighbours train with a ledger each, and write their models. */
static tct_status on_disk(tct_audit *a, tct_error *err) {
  const char *folder = getenv("TMPDIR");
  char path[200];
  files f[2];
  tct_pair pair;
  tct_side side[2];
  memset(f, 0, sizeof f);
  memset(side, 0, sizeof side);
  snprintf(path, sizeof path, "%s/tacit-audit-XXXXXX", folder && *folder ? folder : "/tmp");
  if (!mkdtemp(path))
    return tct_fail(err, TCT_E_RUN, "cannot make a folder in %s; set TMPDIR to one", folder ? folder : "/tmp");
  tct_status status = tct_pair_new(a, &pair, err);
  if (status == TCT_OK) {
    tct_pair_invent(a, &pair, 1);
    if (pair.weighed == 2) pair.weighed = 1; /* a ledger counts records or persons */
    for (int k = 0; k < 2 && status == TCT_OK; k++) {
      snprintf(f[k].ledger, sizeof f[k].ledger, "%s/%d.ledger", path, k);
      snprintf(f[k].model, sizeof f[k].model, "%s/%d.json", path, k);
      status = tct_side_new(a, &pair, k, &side[k], err);
      if (status == TCT_OK) status = run_with_files(a, &side[k], &f[k], err);
    }
    if (status == TCT_OK) compare_files(a, &f[0], &f[1]);
    for (int k = 0; k < 2; k++) tct_side_free(&side[k]), files_end(&f[k]);
    tct_pair_free(a, &pair);
  }
  rmdir(path);
  return status;
}

json_t *tct_audit_behaviour(tct_audit *a, tct_error *err) {
  seen s = {0};
  tct_status status = on_disk(a, err);
  if (status != TCT_OK && status != TCT_E_MEMORY) {
    tct_audit_break(a, "behaviour: a run with a ledger fails: %s", err->text);
    status = TCT_OK;
  }
  if (status == TCT_OK) status = hard_pairs(a, &s, err);
  a->stop_at = INFINITY;
  if (status != TCT_OK) return NULL;
  json_t *compared =
      json_pack("[s, s, s, s, s, s]", "status and text of an error", "warnings", "fields of the model file",
                "releases and their sizes", "ledger entry", "passes within the plan's bound");
  json_t *listed = json_pack("[s, s]", "running time and memory are outside the promise",
                             "the length of the model file follows the released numbers' digits");
  if (a->adaptive)
    json_array_append_new(listed, json_string("the note of an adaptive run on its steps follows its releases"));
  return json_pack("{s:I, s:I, s:I, s:o, s:o, s:o}", "pairs", (json_int_t)s.pairs, "ended", (json_int_t)s.ended,
                   "most_polls", (json_int_t)s.polls, "allowed_polls", tct_json_finite(a->most_polls), "compared",
                   compared, "listed", listed);
}
