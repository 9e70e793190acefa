/* staged.c - a study under attack: the columns of its table, a run of it, and its releases as they are seen.
 *
 * A stage opens gates of its own, one for each fit, and a release is told by its gate and its place in that one's
 * promise.  A stage that waits for an estimate is planned in the run, so that what is planned of a release is what its
 * gate says.  The study reads an invented table as it reads any: a file of text, which has no name and ends with the
 * audit. */
#include "audit/audit.h"

#include "core/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const words[] = {"Ulm", "Bonn", "Jena", "Rom"};
enum { WORDS = sizeof words / sizeof *words };
static const double OPEN_SCALE = 100; /* of columns whose bounds are estimated */

static const char *person_of(const tct_audit *a) { return tct_json_said(a->study, "person"); }

/* ---- the columns ------------------------------------------------------------------------------------------------ */

/* The schema itself in place of its file's name. */
static tct_status load_schema(tct_audit *a, tct_error *err) {
  json_t *schema = json_object_get(a->study, "schema");
  json_error_t where;
  if (!json_is_string(schema)) return TCT_OK;
  json_t *whole = json_load_file(json_string_value(schema), JSON_REJECT_DUPLICATES, &where);
  if (!whole)
    return tct_fail(err, TCT_E_DATA, "%s: not a readable JSON schema; correct it near line %d",
                    json_string_value(schema), where.line);
  return json_object_set_new(a->study, "schema", whole) ? tct_fail_memory(err) : TCT_OK;
}

static bool is_number(const json_t *column) {
  const char *type = tct_json_said(column, "type");
  return type ? !strcmp(type, "number") : !json_object_get(column, "values");
}

static bool is_list(const json_t *column) { return !is_number(column) && !json_object_get(column, "values"); }

static tct_status find_columns(tct_audit *a, tct_error *err) {
  json_t *schema = json_object_get(a->study, "schema"), *label = json_object_get(schema, "label"), *each;
  size_t i;
  a->column = json_copy(json_object_get(schema, "columns"));
  if (!json_is_array(a->column)) return tct_fail(err, TCT_E_DATA, "the plan's schema has no list of columns; give one");
  if (json_is_object(label) && json_array_append(a->column, label)) return tct_fail_memory(err);
  json_array_foreach(a->column, i, each) {
    const char *name = tct_json_said(each, "name"), *type = tct_json_said(each, "type");
    if (!name) return tct_fail(err, TCT_E_DATA, "a column of the plan's schema has no name; give it one");
    if (type && strcmp(type, "number") != 0 && strcmp(type, "category") != 0)
      return tct_fail(err, TCT_E_USAGE,
                      "an audit of a study invents numbers and categories, and column \"%s\" is neither; leave it out",
                      name);
  }
  json_array_foreach(a->column, i, each) a->lists |= is_list(each);
  a->cols = (int64_t)json_array_size(a->column);
  return a->cols > 0 ? TCT_OK : tct_fail(err, TCT_E_DATA, "the plan's schema has no columns; give it some");
}

/* All gates have the same coins: tries that are drawn until one is the last would have no end. */
static tct_status check_choices(const tct_audit *a, tct_error *err) {
  const json_t *stage;
  size_t i;
  json_array_foreach(json_object_get(a->study, "stages"), i, stage) {
    const char *kind = tct_json_said(stage, "kind"), *selection = tct_json_said(stage, "selection");
    if (kind && !strcmp(kind, "choose") && (!selection || strcmp(selection, "all") != 0))
      return tct_fail(err, TCT_E_USAGE,
                      "an audit forces a choice among all settings, and not a random number of tries; write "
                      "\"selection\": \"all\" in the stage that chooses");
  }
  return TCT_OK;
}

/* ---- what it promises ------------------------------------------------------------------------------------------- */

/* The events of all stages.  Where a reserve counts in epsilon there is no such list, and the promise alone is
 * attacked. */
static tct_status list_events(tct_audit *a, tct_error *err) {
  json_t *events = json_array(), *stage;
  size_t i;
  bool known = true;
  json_array_foreach(json_object_get(a->planned, "stages"), i, stage) {
    const char *counts = tct_json_said(stage, "counts");
    known = known && counts && strcmp(counts, "epsilon") != 0;
    json_array_extend(events, json_object_get(stage, "events"));
  }
  if (!known) json_array_clear(events);
  return json_object_set_new(a->planned, "events", events) ? tct_fail_memory(err) : TCT_OK;
}

tct_status tct_audit_study_begin(tct_audit *a, const char *asked, tct_error *err) {
  a->study = json_loads(asked, JSON_REJECT_DUPLICATES, NULL);
  if (!a->study) return tct_fail(err, TCT_E_DATA, "the plan of the study is no JSON; correct it");
  if (!tct_watch(NULL, NULL, NULL))
    return tct_fail(
        err, TCT_E_USAGE,
        "an audit of a study forces its releases, and this library was not built for that; take tacit-audit");
  const json_t *door = json_object_get(a->study, "door");
  char name[16] = "";
  if (door) snprintf(name, sizeof name, "%s", json_is_string(door) ? json_string_value(door) : "?");
  json_object_del(a->study, "door");
  TCT_TRY(load_schema(a, err));
  TCT_TRY(find_columns(a, err));
  TCT_TRY(check_choices(a, err));
  a->asked = tct_json_dump(a->study, JSON_COMPACT | JSON_REAL_PRECISION(17));
  char *text = a->asked ? tct_study_plan_json(a->asked, a->rows, err) : NULL;
  if (!a->asked) return tct_fail_memory(err);
  if (!text) return err->status;
  a->planned = json_loads(text, 0, NULL);
  tct_text_free(text);
  if (!a->planned) return tct_fail_memory(err);
  const char *relation = tct_json_said(a->planned, "neighbours");
  a->epsilon = json_number_value(json_object_get(a->planned, "epsilon"));
  a->delta = json_number_value(json_object_get(a->planned, "delta"));
  a->replaces = relation && !strcmp(relation, "replace_one");
  a->row_norm = 1;
  a->label_bound = NAN;
  a->most_polls = a->stop_at = INFINITY;
  a->weighs = a->persons = person_of(a) != NULL; /* the two ways of a person: one row, and several */
  a->watched = true;
  return name[0] ? tct_audit_door_begin(a, name, err) : list_events(a, err);
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

static void put_text(FILE *file, const char *text) {
  fputc('"', file);
  for (; *text; text++) {
    if (*text == '"') fputc('"', file);
    fputc(*text, file);
  }
  fputc('"', file);
}

/* What stands at x, about -1 to 1: in a column's range and beyond it, or one of its texts. */
static void put_value(FILE *file, const json_t *column, double x) {
  const json_t *low = json_object_get(column, "lower"), *high = json_object_get(column, "upper"),
               *values = json_object_get(column, "values");
  double l = json_number_value(low), u = json_number_value(high), at = fmin(fmax(0.5 + 0.5 * x, 0), 1 - 1e-9);
  if (is_number(column)) {
    fprintf(file, "%.17g", low && high ? 0.5 * (l + u) + 0.5 * (u - l) * x : OPEN_SCALE * x);
    return;
  }
  size_t count = values ? json_array_size(values) : WORDS, i = (size_t)(at * (double)count);
  const char *text = values ? json_string_value(json_array_get(values, i)) : words[i];
  put_text(file, text ? text : "");
}

/* Of a list that is estimated the others have every text, whatever the record has. */
static double text_of_others(const tct_side *side, int64_t i, double x) {
  return side->person[i] == side->record ? x : 2 * (double)(i % WORDS) / WORDS - 1 + 1.0 / WORDS;
}

/* One row; where it is gone nothing in it can be read but whose it is. */
static void put_row(FILE *file, const tct_audit *a, const tct_side *side, int64_t i) {
  bool person = person_of(a) != NULL, unread = person && side->gone[i];
  const json_t *column;
  size_t j;
  json_array_foreach(a->column, j, column) {
    double x = side->x[i * a->cols + (int64_t)j];
    if (j) fputc(',', file);
    if (unread)
      fputc('?', file);
    else
      put_value(file, column, is_list(column) ? text_of_others(side, i, x) : x);
  }
  if (person) fprintf(file, ",p%" PRId64, side->person[i]);
  fputs(side->gone[i] && !person ? ",one too many\n" : "\n", file);
}

tct_status tct_audit_study_table(const tct_audit *a, tct_side *side, tct_error *err) {
  const char *person = person_of(a);
  const json_t *column;
  size_t j;
  FILE *file = side->file = tmpfile();
  if (!file) return tct_fail(err, TCT_E_RUN, "no temporary file can be made: %s", strerror(errno));
  json_array_foreach(a->column, j, column) {
    if (j) fputc(',', file);
    put_text(file, tct_json_said(column, "name"));
  }
  if (person) fputc(',', file), put_text(file, person);
  fputc('\n', file);
  for (int64_t i = 0; i < a->rows; i++) put_row(file, a, side, i);
  bool whole = fflush(file) == 0 && !ferror(file);
  return whole ? TCT_OK : tct_fail(err, TCT_E_RUN, "a temporary file cannot be written: %s", strerror(errno));
}

/* ---- runs ------------------------------------------------------------------------------------------------------- */

char *tct_audit_study_run(tct_audit *a, const tct_side *side, uint64_t coins, tct_error *err) {
  tct_config config;
  tct_read_options options;
  char path[40];
  double began = tct_audit_clock();
  snprintf(path, sizeof path, "/dev/fd/%d", fileno(side->file));
  tct_config_default(&config);
  tct_read_options_default(&options);
  options.invalid = TCT_INVALID_ZERO;
  config.has_seed = 1, config.seed = coins >> 1, config.threads = 1;
  char *text = a->door ? tct_audit_door_run(a, path, config.seed, err)
                       : tct_study_run(a->asked, path, NULL, &options, &config, NULL, err);
  a->fits++;
  a->spent += tct_audit_clock() - began;
  return text;
}

int tct_audit_study_release(tct_audit *a, const tct_watched *seen) {
  int r = 0;
  while (r < a->releases && (a->release[r].gate != seen->gate || a->release[r].at != seen->release)) r++;
  if (r == TCT_AUDIT_RELEASES) return -1;
  tct_audit_release *one = &a->release[r];
  if (r == a->releases) {
    *one = (tct_audit_release){.gate = seen->gate, .at = seen->release, .norm = seen->norm};
    snprintf(one->text, sizeof one->text, "%s, gate %d", seen->what, seen->gate + 1);
    snprintf(one->kind, sizeof one->kind, "%s",
             seen->chooses               ? "exponential"
             : seen->norm == TCT_NORM_L1 ? "laplace"
                                         : "gaussian");
    one->name = one->text;
    a->rate[r] = seen->rate > 0 && seen->rate < 1 ? seen->rate : 1;
    a->releases++;
  }
  if (!seen->chooses && seen->deviation / seen->sensitivity < seen->event->noise * (1 - 1e-9))
    tct_audit_break(a, "noise: \"%s\" has less than it is charged for", one->name);
  one->sensitivity = seen->sensitivity, one->deviation = seen->deviation, one->count = seen->planned;
  return r;
}
