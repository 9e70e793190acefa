/* read_frame.c - a frame and a schema become the table that a file of the same records would. */
#include <string.h>

#include "core/alloc.h"
#include "read/format/reader.h"
#include "read/frame/frame_rows.h"

/* All that one read needs. */
typedef struct frame_reader {
  tct_reader all; /* without a source */
  const tct_frame *frame;
  tct_rows rows;
  int64_t label, event; /* the label's column, and that of a follow-up's event; -1 = none */
} frame_reader;

static tct_status find_label(frame_reader *r, tct_error *err) {
  const char *given = r->all.options->label, *wanted = given ? given : r->all.schema.label;
  bool needed = r->all.options->labels != TCT_LABELS_NONE;
  r->label = wanted ? tct_frame_find(r->frame, wanted) : -1;
  r->event = r->all.schema.event ? tct_frame_find(r->frame, r->all.schema.event) : -1;
  if (needed && r->all.schema.event && (r->event < 0 || r->event == r->label))
    return tct_fail(err, TCT_E_DATA, "the frame has no column \"%.200s\" for the event; name it as the frame does",
                    r->all.schema.event);
  if (!wanted && needed)
    return tct_fail(err, TCT_E_USAGE, "no label column is named; name it, or give it as \"label\" in the schema");
  if (given && r->all.schema.label && strcmp(given, r->all.schema.label) != 0)
    return tct_fail(err, TCT_E_USAGE, "the label column is not the one that the schema names; give the schema's");
  if (r->label >= 0 || !needed) return TCT_OK;
  return tct_fail(err, TCT_E_DATA, "the frame has no column \"%.200s\" for the label; name the label as the frame does",
                  wanted);
}

/* The schema of a frame without one: all columns but the label are numbers as they are. */
static tct_status plain_schema(frame_reader *r, tct_error *err) {
  int64_t count = r->frame->schema.n_children;
  tct_status status =
      tct_schema_plain(&r->all.schema, (char *const *)r->frame->names, count, r->label, -1, r->event, err);
  if (status == TCT_OK && r->all.schema.features == 0)
    status = tct_fail(err, TCT_E_DATA, "the frame has no column beside the label; give one with features");
  for (int64_t j = 0; status == TCT_OK && j < count; j++) {
    const struct ArrowSchema *type = tct_frame_column(r->frame, j);
    if (j != r->label && j != r->event && type && tct_form_is_text(type))
      status = tct_fail(err, TCT_E_DATA, "column \"%.200s\" holds texts; give a schema that describes it, or drop it",
                        tct_frame_name(r->frame, j));
  }
  return status;
}

/* Every described column is there.  Names of the frame are shown only after that: they may be data where it was made
 * from a file without a header. */
static tct_status match_columns(const frame_reader *r, int64_t *field, unsigned char *used, tct_error *err) {
  for (int64_t k = 0; k < r->all.schema.columns; k++) {
    const tct_column *column = &r->all.schema.column[k];
    int64_t j = tct_frame_find(r->frame, column->name);
    field[k] = column->kind == TCT_COLUMN_IGNORE ? -1 : j;
    if (j >= 0) used[j] = 1;
    if (field[k] >= 0 && (j == r->label || j == r->event))
      return tct_fail(err, TCT_E_USAGE,
                      "the label column \"%.200s\" is also a feature in the schema; remove it from \"columns\"",
                      column->name);
    if (j < 0 && column->kind != TCT_COLUMN_IGNORE)
      return tct_fail(err, TCT_E_DATA,
                      "the frame has no column \"%.200s\", which the schema describes; add it, or check its name",
                      column->name);
  }
  for (int k = 0; k < TCT_BESIDES; k++) {
    const char *name = r->all.schema.beside[k].name;
    int64_t j = name ? tct_frame_find(r->frame, name) : -1;
    if (j >= 0) used[j] = 1;
  }
  for (int64_t j = 0; j < r->frame->schema.n_children; j++) {
    if (used[j] || j == r->label || j == r->event) continue;
    return tct_fail(err, TCT_E_DATA,
                    "the schema does not describe column \"%.200s\" of the frame; drop it, describe it, or give it the "
                    "type \"ignore\"",
                    tct_frame_name(r->frame, j));
  }
  return TCT_OK;
}

static int64_t find_name(const void *frame, const char *name) { return tct_frame_find(frame, name); }

static tct_status prepare(frame_reader *r, tct_error *err) {
  tct_reader *all = &r->all;
  TCT_TRY(tct_reader_schema(all, &tct_limits_default, err));
  TCT_TRY(find_label(r, err));
  if (!all->schema.root) TCT_TRY(plain_schema(r, err));
  int64_t *field = TCT_NEW(int64_t, all->schema.columns);
  unsigned char *used = TCT_NEW(unsigned char, r->frame->schema.n_children);
  r->rows.encoder.field = field; /* freed with the rows from here on */
  tct_status status = field && used ? match_columns(r, field, used, err) : tct_fail_memory(err);
  tct_free(used);
  TCT_TRY(status);
  bool wanted = all->options->labels != TCT_LABELS_NONE;
  r->rows.encoder.event_field = r->event + 1;
  TCT_TRY(tct_reader_besides(all, find_name, r->frame, r->label, &r->rows.encoder, err));
  TCT_TRY(tct_reader_begin(all, &r->rows.encoder, field, wanted ? r->label : -1, err));
  TCT_TRY(tct_rows_make(&r->rows, r->frame, err));
  int64_t most = r->rows.encoder.sparse ? all->schema.max : all->schema.features;
  return tct_table_expect(&all->table, r->frame->rows, most, err);
}

static tct_status add_record(frame_reader *r, int64_t row, tct_error *err) {
  tct_table *table = &r->all.table;
  int64_t column = 0;
  double label = 0;
  const char *why = tct_rows_encode(&r->rows, row, &label, &column);
  if (why && why != tct_encode_no_memory && !table->droppable)
    return tct_frame_fault(r->frame, column, table->rows + 1, why, err);
  return tct_reader_add(&r->all, &r->rows.encoder, 0, (tct_fault){.why = why}, label, err);
}

static tct_status read_all(frame_reader *r, tct_error *err) {
  TCT_TRY(prepare(r, err));
  for (int64_t chunk = 0; chunk < r->frame->chunks; chunk++) {
    TCT_TRY(tct_rows_bind(&r->rows, chunk, err));
    for (int64_t i = 0; i < r->frame->chunk[chunk].length; i++) TCT_TRY(add_record(r, i, err));
  }
  return tct_reader_end(&r->all, r->label >= 0 ? tct_frame_name(r->frame, r->label) : NULL, NULL, err);
}

static tct_status read_frame(tct_reader *reader, tct_error *err) {
  frame_reader *r = (frame_reader *)reader; /* whose first member it is */
  tct_status status = read_all(r, err);
  tct_rows_free(&r->rows);
  return status;
}

tct_data *tct_frame_read(const tct_frame *frame, const tct_read_options *options, tct_error *err) {
  tct_read_options own;
  tct_error_clear(err);
  if (tct_read_options_checked(options, &own, err) != TCT_OK) return NULL;
  if (!frame || own.key) {
    tct_fail(err, TCT_E_USAGE, "a frame is wanted, and it is read without keys; give one, and leave the key out");
    return NULL;
  }
  frame_reader r = {.all = {.options = &own}, .frame = frame, .label = -1, .event = -1};
  return tct_reader_run(&r.all, read_frame, err);
}
