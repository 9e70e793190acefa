/* carry.c - a study carried out: every stage is prepared, then there is one charge, then they run in order.
 *
 * A stage gets its own table, the seed of its own gate, and what the stage before it released.  Nothing else of the
 * study reaches it.  A stage that its noise led out of the range of numbers ends, and the others go on: what all cost
 * was fixed before. */
#include "core/alloc.h"
#include "core/outfile.h"
#include "core/stop.h"
#include "read/table/join.h"
#include "stage/study_file.h"
#include "study/charge.h"
#include "study/stage.h"
#include "train/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A table and what it was read by; stages that read the same share it. */
typedef struct kept_table {
  char *key;
  tct_data *data;
} kept_table;

typedef struct carrying {
  tct_study *study;
  const char *path;
  const tct_frame *frame;
  const tct_read_options *read; /* or NULL */
  tct_config run;               /* of the whole */
  kept_table *table;            /* [stages] that may be read before anything is released, and are kept */
  int tables;
  int *of;             /* [stages] each stage's table, -1: not kept */
  unsigned char *held; /* [rows] of a study that holds some out: 1 for those, drawn once for all stages */
  tct_ledger_receipt receipt;
} carrying;

/* ---- tables ----------------------------------------------------------------------------------------------------- */

static tct_status read_whole(const carrying *c, const char *schema, tct_labels labels, tct_data **out, tct_error *err) {
  const tct_study *study = c->study;
  tct_read_options options;
  tct_read_options_default(&options);
  if (c->read) options = *c->read;
  options.schema_text = schema;
  options.labels = (int32_t)labels;
  options.key = study->person;
  *out = c->frame ? tct_data_read_frame(c->frame, &options, NULL, err) : tct_data_read(c->path, &options, err);
  if (!*out) return err->status;
  if (study->rows && (*out)->x.rows != study->rows)
    return tct_fail(err, TCT_E_DATA, "the file has another number of records than when the study began; run it again");
  if (study->file) TCT_TRY(tct_inputs_add(&(*out)->inputs, study->file, err));
  if (!study->person) return TCT_OK;
  return tct_data_weigh_persons(*out, NULL, study->rows_per_person, c->run.has_seed ? &c->run.seed : NULL, err);
}

static tct_status pick(const carrying *c, tct_part part, tct_data **data, tct_error *err) {
  tct_data *all = *data, *own = NULL;
  if (part == TCT_PART_ALL) return TCT_OK;
  TCT_TRY(tct_fit_check_positive(all, err));
  TCT_TRY(tct_data_pick(all, c->held, part == TCT_PART_HELD, &own, err));
  if (tct_inputs_copy(&own->inputs, &all->inputs, err) != TCT_OK) return tct_data_free(own), err->status;
  tct_data_free(all);
  *data = own;
  return TCT_OK;
}

static tct_status read_table(const carrying *c, const char *schema, const tct_reading *how, tct_part part,
                             tct_data **out, tct_error *err) {
  tct_status status = read_whole(c, schema, how->labels, out, err);
  if (status == TCT_OK) status = pick(c, part, out, err);
  if (status == TCT_OK) return TCT_OK;
  tct_data_free(*out);
  *out = NULL;
  return status;
}

static tct_status how_read(const tct_stage *stage, tct_reading *how, char **schema, tct_error *err) {
  *how = (tct_reading){0};
  *schema = NULL;
  TCT_TRY(stage->kind->reads(stage, how, err));
  tct_status status = tct_json_keep(how->schema, schema, err);
  how->schema = NULL;
  return status;
}

/* The table of a stage that is not deferred: read once, and kept to the end. */
static tct_status keep_table(carrying *c, const tct_stage *stage, tct_error *err) {
  tct_reading how;
  char *schema, *key = NULL;
  TCT_TRY(how_read(stage, &how, &schema, err));
  size_t size = strlen(schema) + 16;
  key = TCT_NEW(char, (int64_t)size);
  if (key) snprintf(key, size, "%d,%d,%s", (int)how.labels, (int)stage->part, schema);
  int at = 0;
  while (key && at < c->tables && strcmp(c->table[at].key, key) != 0) at++;
  tct_status status = key ? TCT_OK : tct_fail_memory(err);
  if (status == TCT_OK && at == c->tables) {
    status = read_table(c, schema, &how, stage->part, &c->table[at].data, err);
    if (status == TCT_OK) c->table[c->tables++].key = key, key = NULL;
  }
  c->of[stage->index] = at;
  tct_free(key);
  tct_text_free(schema);
  return status;
}

static bool deferred(const tct_stage *stage) { return stage->counts != TCT_COUNTS_EVENTS && stage->from >= 0; }

/* Scores read as their fit does, so that they wait with it. */
static bool waits(const tct_stage *stage) {
  return stage->from >= 0 && (stage->kind->defers || waits(&stage->study->stage[stage->from]));
}

/* *own <- a table to be freed, or NULL where it is kept. */
static tct_status table_of(carrying *c, const tct_stage *stage, tct_data **own, tct_data **table, tct_error *err) {
  tct_reading how;
  char *schema;
  *own = NULL;
  if (!waits(stage)) {
    if (c->of[stage->index] < 0) TCT_TRY(keep_table(c, stage, err));
    *table = c->table[c->of[stage->index]].data;
    return TCT_OK;
  }
  TCT_TRY(how_read(stage, &how, &schema, err));
  tct_status status = read_table(c, schema, &how, stage->part, own, err);
  tct_text_free(schema);
  *table = *own;
  return status;
}

/* ---- before the charge ------------------------------------------------------------------------------------------ */

static tct_status check_source(const carrying *c, tct_error *err) {
  const tct_read_options *r = c->read;
  if (!c->path == !c->frame)
    return tct_fail(err, TCT_E_USAGE, "a study reads one file, or one frame; give one of them");
  if (c->path && !strcmp(c->path, "-"))
    return tct_fail(err, TCT_E_USAGE, "a study reads its file once for each outcome; name a file, not standard input");
  if (c->frame && c->study->person)
    return tct_fail(err, TCT_E_USAGE, "the persons of a study are named by a file's column; write the frame to a file");
  if (!r) return TCT_OK;
  if (r->label || r->positive || r->classes || r->key || r->schema_path || r->schema_text)
    return tct_fail(err, TCT_E_USAGE,
                    "labels, persons and the schema of a study are said in its plan; write them there");
  if (r->memory > 0) return tct_fail(err, TCT_E_USAGE, "a study keeps its tables in memory; leave {memory} away");
  return TCT_OK;
}

/* How many records there are is public, and is what the plan is made for. */
static tct_status count_rows(carrying *c, tct_error *err) {
  tct_study *study = c->study;
  const tct_stage *first = &study->stage[0];
  tct_data *data = NULL;
  tct_reading how;
  char *schema;
  study->rows = 0;
  if (first->part == TCT_PART_ALL) { /* it never waits */
    TCT_TRY(keep_table(c, first, err));
    TCT_TRY(tct_inputs_copy(&study->inputs, &c->table[0].data->inputs, err));
    return tct_study_plan(study, c->table[0].data->x.rows, err);
  }
  TCT_TRY(how_read(first, &how, &schema, err));
  tct_status status = read_whole(c, schema, how.labels, &data, err);
  tct_text_free(schema);
  int64_t rows = status == TCT_OK ? data->x.rows : 0;
  if (status == TCT_OK) status = tct_inputs_copy(&study->inputs, &data->inputs, err);
  tct_data_free(data);
  return status == TCT_OK ? tct_study_plan(study, rows, err) : status;
}

static tct_status prepare(carrying *c, tct_stage *stage, tct_error *err) {
  tct_data *own = NULL, *table = NULL;
  tct_status status = table_of(c, stage, &own, &table, err);
  const tct_stage_data data = {table, stage->from >= 0 ? c->study->stage[stage->from].shell : NULL, &c->run};
  if (status == TCT_OK) status = stage->kind->prepare(stage, &data, c->study->facts, err);
  tct_data_free(own);
  return status;
}

/* The bounds that this study estimates it pays for. */
static void drop_paid(const tct_study *study) {
  char **list = study->facts->unaccounted;
  bool paid = false;
  for (int i = 0; i < study->count; i++) paid |= study->stage[i].kind->pays;
  if (!paid || tct_study_says_estimated(study)) return;
  for (int i = 0; i < TCT_UNACCOUNTED && list[i]; i++) {
    if (strcmp(list[i], TCT_ESTIMATED_ELSEWHERE) != 0) continue;
    tct_free(list[i]);
    for (int k = i; k < TCT_UNACCOUNTED; k++) list[k] = list[k + 1];
    i--;
  }
}

/* What the file says of itself: as a model of the whole, without weights. */
static tct_status describe(carrying *c, tct_error *err) {
  tct_study *study = c->study;
  tct_model *m = study->facts = TCT_NEW(tct_model, 1);
  if (!m) return tct_fail_memory(err);
  m->is_private = 1;
  m->epsilon = study->claim.epsilon, m->delta = study->claim.delta, m->neighbours = (int32_t)study->claim.neighbours;
  m->reproducible = c->run.has_seed != 0;
  m->persons = study->person != NULL;
  m->weight_cap = NAN;
  m->accountant = tct_text_copy(study->claim.by);
  m->asked = tct_json_dump(study->asked, JSON_COMPACT | JSON_REAL_PRECISION(17));
  if (!m->accountant || !m->asked) return tct_fail_memory(err);
  return tct_study_events(study, &m->events, err);
}

enum { ROOM = 1 << 16, ROOM_NUMBER = 40 }; /* an indent, a sign, 24 characters, a comma and a line end */

/* Room for the file, as far as its size is known now. */
static tct_status reserve(carrying *c, tct_error *err) {
  const tct_study *study = c->study;
  if (!c->run.output) return TCT_OK;
  char *schema = tct_json_dump(json_object_get(study->asked, "schema"), JSON_INDENT(2));
  int64_t bytes = ROOM + (int64_t)(schema ? 2 * strlen(schema) : 0) * (study->count + 1);
  tct_free(schema);
  int64_t most = 0;
  for (int k = 0; k < c->tables; k++)
    if (c->table[k].data->x.cols > most) most = c->table[k].data->x.cols;
  for (const tct_stage *s = study->stage; s < study->stage + study->count; s++)
    bytes += ROOM_NUMBER * (most + (s->kind->numbers ? s->kind->numbers(s, most) : 0));
  tct_outfile *out = study->facts->output = TCT_NEW(tct_outfile, 1);
  if (!out) return tct_fail_memory(err);
  TCT_TRY(tct_outfile_open(out, c->run.output, TCT_OUT_FILE, tct_inputs_list(&study->inputs), err));
  return tct_outfile_reserve(out, bytes, err);
}

/* A ledger is shown all records, also where the first stage reads a part of them.  That stage never waits. */
static tct_status whole_table(carrying *c, tct_data **own, tct_data **table, tct_error *err) {
  const tct_stage *first = &c->study->stage[0];
  tct_reading how;
  char *schema;
  if (first->part == TCT_PART_ALL) return table_of(c, first, own, table, err);
  TCT_TRY(how_read(first, &how, &schema, err));
  tct_status status = read_table(c, schema, &how, TCT_PART_ALL, own, err);
  tct_text_free(schema);
  *table = *own;
  return status;
}

static tct_status charge(carrying *c, tct_error *err) {
  tct_study *study = c->study;
  tct_model *m = study->facts;
  tct_data *own, *table;
  tct_ledger_promise run = {.events = &m->events,
                            .epsilon = m->epsilon,
                            .delta = m->delta,
                            .neighbours = study->claim.neighbours,
                            .what = "a study",
                            .asked = {m->asked, NULL, NULL},
                            .persons = m->persons,
                            .seeded = m->reproducible,
                            .unaccounted = m->unaccounted};
  if (!c->run.ledger) return TCT_OK;
  TCT_TRY(whole_table(c, &own, &table, err));
  tct_status status = tct_charge_run(&c->run, table, &run, &c->receipt, &m->warning, err);
  tct_data_free(own);
  TCT_TRY(status);
  m->ledger_head = c->receipt.head, m->run_id = c->receipt.run;
  m->for_tests = c->receipt.for_tests;
  return TCT_OK;
}

/* ---- the stages ------------------------------------------------------------------------------------------------- */

/* Every outcome of the stage before it leaves the rest as it is: what cannot be done under this one ends here. */
static tct_status end(tct_stage *stage, int how, tct_error *err) {
  snprintf(stage->ended, sizeof stage->ended, "%s", tct_stage_endings[how]);
  tct_error_clear(err);
  return TCT_OK;
}

static tct_status run_on_table(carrying *c, tct_stage *stage, const tct_config *run, tct_error *err) {
  tct_data *own, *table;
  const void *given = stage->from >= 0 ? c->study->stage[stage->from].value : NULL;
  TCT_TRY(table_of(c, stage, &own, &table, err));
  const tct_stage_data data = {table, given, run};
  tct_status status = stage->kind->run(stage, &data, err);
  tct_data_free(own);
  return status == TCT_E_RUN && !tct_stopping() ? end(stage, TCT_ENDED_RANGE, err) : status;
}

/* Adding a stage changes no other's noise; the first fit, and an estimate before it, have the seed of a run of one. */
static uint64_t seed_of(const tct_study *study, const tct_stage *stage, uint64_t seed) {
  tct_digest digest;
  char hex[TCT_DIGEST_HEX];
  if (stage->index == study->main || (stage->kind->pays && stage->index < study->main)) return seed;
  tct_digest_start(&digest);
  tct_digest_text(&digest, "study");
  tct_digest_word(&digest, 'S', seed);
  tct_digest_text(&digest, stage->name);
  tct_digest_end(&digest, hex);
  uint64_t own = 0;
  for (int i = 0; i < 16; i++) own = own << 4 | (uint64_t)(hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10);
  return own & INT64_MAX;
}

static tct_status run_stage(carrying *c, tct_stage *stage, tct_error *err) {
  tct_config run = c->run;
  run.cancel = NULL, run.progress = NULL; /* the watch on the whole is asked */
  run.ledger = run.output = NULL;
  run.seed = seed_of(c->study, stage, c->run.seed);
  if (stage->from >= 0 && !c->study->stage[stage->from].value) return end(stage, TCT_ENDED_WITHOUT, err);
  tct_status planned = deferred(stage) ? tct_study_plan_deferred(stage, err) : TCT_OK;
  if (planned == TCT_E_MEMORY || planned == TCT_E_CANCELLED) return planned;
  if (planned != TCT_OK) return end(stage, TCT_ENDED_UNPLANNED, err);
  return run_on_table(c, stage, &run, err);
}

static void show(const carrying *c, int done) {
  if (c->run.progress) c->run.progress((double)done / c->study->count, c->run.user);
}

/* One fit alone is the run of a model: its ledger, its file. */
static tct_status run_alone(carrying *c, tct_error *err) {
  tct_stage *stage = &c->study->stage[0];
  tct_data *own, *table;
  TCT_TRY(table_of(c, stage, &own, &table, err));
  const tct_stage_data data = {table, NULL, &c->run};
  return stage->kind->run(stage, &data, err);
}

static tct_status carry(carrying *c, tct_error *err) {
  tct_study *study = c->study;
  const uint64_t *seed = c->run.has_seed ? &c->run.seed : NULL;
  TCT_TRY(check_source(c, err));
  c->table = TCT_NEW(kept_table, study->count), c->of = TCT_NEW(int, study->count);
  if (!c->table || !c->of) return tct_fail_memory(err);
  for (int i = 0; i < study->count; i++) c->of[i] = -1;
  TCT_TRY(count_rows(c, err));
  if (study->held > 0 && !(c->held = TCT_NEW(unsigned char, study->rows))) return tct_fail_memory(err);
  if (c->held) TCT_TRY(tct_held_draw(study->rows, study->held, seed, c->held, err));
  if (tct_study_is_model(study)) return run_alone(c, err);
  TCT_TRY(describe(c, err));
  for (int i = 0; i < study->count; i++) TCT_TRY(prepare(c, &study->stage[i], err));
  drop_paid(study);
  TCT_TRY(reserve(c, err));
  if (tct_stop_ask(NULL)) return tct_fail_cancelled(err);
  TCT_TRY(charge(c, err));
  tct_stop_charged();
  for (int i = 0; i < study->count; i++) {
    show(c, i);
    TCT_TRY(run_stage(c, &study->stage[i], err));
  }
  show(c, study->count);
  return TCT_OK;
}

static void leave(carrying *c) {
  tct_wipe_free(c->held, c->held ? c->study->rows : 0, sizeof *c->held);
  for (int k = 0; k < c->tables; k++) tct_data_free(c->table[k].data), tct_free(c->table[k].key);
  tct_free(c->table);
  tct_free(c->of);
}

static char *run_study(carrying *c, tct_error *err) {
  tct_study *study = c->study;
  tct_stop stop;
  tct_stop_watch(&stop, c->run.cancel, c->run.user);
  tct_status status = carry(c, err);
  if (status == TCT_OK && tct_stopping()) status = tct_fail_cancelled(err);
  tct_stop_end(&stop);
  study->ok = status == TCT_OK;
  return study->ok ? tct_study_file(study, c->run.output, err) : NULL;
}

/* For whoever runs it. */
static const char *told(const tct_study *study) {
  return tct_study_is_model(study) ? tct_model_warning(study->stage[0].value) : study->facts->warning;
}

char *tct_study_carry(tct_study *study, const tct_study_input *input, const tct_config *config, char **warning,
                      tct_error *err) {
  carrying c = {.study = study, .path = input->path, .frame = input->frame, .read = input->read};
  if (tct_config_take(config, &c.run, err) != TCT_OK) return NULL;
  char *text = run_study(&c, err);
  leave(&c);
  const char *said = text ? told(study) : NULL;
  if (!warning || !said || (*warning = tct_text_copy(said))) return text;
  tct_text_free(text);
  tct_fail_memory(err);
  return NULL;
}

char *tct_study_run(const char *asked, const char *path, const tct_frame *frame, const tct_read_options *read,
                    const tct_config *config, char **warning, tct_error *err) {
  tct_error local = {0};
  const tct_study_input input = {path, frame, read};
  err = err ? err : &local;
  if (warning) *warning = NULL;
  tct_study *study = tct_study_parse(asked, err);
  char *text = study ? tct_study_carry(study, &input, config, warning, err) : NULL;
  tct_study_free(study);
  return text;
}
