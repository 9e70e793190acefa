/* read_frame.c - a frame and a schema become the table that a file of the same records would. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "read/format/range.h"
#include "read/frame/frame_rows.h"
#include "read/schema/describe.h"

/* All that one read needs. */
typedef struct frame_reader {
  const tct_frame *frame;
  const tct_read_options *options;
  tct_schema schema;
  tct_rows rows;
  tct_table table;
  int64_t label; /* the label's column, -1 = none */
  locale_t c;
  tct_data *data; /* receives the result */
} frame_reader;

static tct_status find_label(frame_reader *r, tct_error *err) {
  const char *given = r->options->label, *wanted = given ? given : r->schema.label;
  bool needed = r->options->labels != TCT_LABELS_NONE;
  r->label = wanted ? tct_frame_find(r->frame, wanted) : -1;
  if (!wanted && needed)
    return tct_fail(err, TCT_E_USAGE, "no label column is named; name it, or give it as \"label\" in the schema");
  if (given && r->schema.label && strcmp(given, r->schema.label) != 0)
    return tct_fail(err, TCT_E_USAGE, "the label column is not the one that the schema names; give the schema's");
  if (r->label >= 0 || !needed) return TCT_OK;
  return tct_fail(err, TCT_E_DATA, "the frame has no column \"%.200s\" for the label; name the label as the frame does",
                  wanted);
}

/* The schema of a frame without one: all columns but the label are numbers as they are. */
static tct_status plain_schema(frame_reader *r, tct_error *err) {
  int64_t count = tct_frame_cols(r->frame);
  const char **names = TCT_NEW(const char *, count);
  if (!names) return tct_fail_memory(err);
  for (int64_t j = 0; j < count; j++) names[j] = tct_frame_name(r->frame, j);
  tct_status status = tct_schema_plain(&r->schema, (char *const *)names, count, r->label, -1, err);
  tct_free(names);
  if (status == TCT_OK && r->schema.features == 0)
    status = tct_fail(err, TCT_E_DATA, "the frame has no column beside the label; give one with features");
  for (int64_t j = 0; status == TCT_OK && j < count; j++) {
    const struct ArrowSchema *type = tct_frame_column(r->frame, j);
    if (j != r->label && type && tct_form_is_text(type))
      status = tct_fail(err, TCT_E_DATA, "column \"%.200s\" holds texts; give a schema that describes it, or drop it",
                        tct_frame_name(r->frame, j));
  }
  return status;
}

/* Every described column is there.  Names of the frame are shown only after that: they may be data where it was made
 * from a file without a header. */
static tct_status match_columns(const frame_reader *r, int64_t *field, unsigned char *used, tct_error *err) {
  for (int64_t k = 0; k < r->schema.columns; k++) {
    const tct_column *column = &r->schema.column[k];
    int64_t j = tct_frame_find(r->frame, column->name);
    field[k] = column->kind == TCT_COLUMN_IGNORE ? -1 : j;
    if (j >= 0) used[j] = 1;
    if (field[k] >= 0 && j == r->label)
      return tct_fail(err, TCT_E_USAGE,
                      "the label column \"%.200s\" is also a feature in the schema; remove it from \"columns\"",
                      column->name);
    if (j < 0 && column->kind != TCT_COLUMN_IGNORE)
      return tct_fail(err, TCT_E_DATA,
                      "the frame has no column \"%.200s\", which the schema describes; add it, or check its name",
                      column->name);
  }
  for (int64_t j = 0; j < tct_frame_cols(r->frame); j++) {
    if (used[j] || j == r->label) continue;
    return tct_fail(err, TCT_E_DATA,
                    "the schema does not describe column \"%.200s\" of the frame; drop it, describe it, or give it the "
                    "type \"ignore\"",
                    tct_frame_name(r->frame, j));
  }
  return TCT_OK;
}

static tct_status prepare(frame_reader *r, tct_error *err) {
  const tct_read_options *options = r->options;
  TCT_TRY(tct_schema_load(&r->schema, options->schema_path, options->schema_text, &tct_limits_default, err));
  TCT_TRY(tct_inputs_add(&r->data->inputs, options->schema_path, err));
  TCT_TRY(tct_label_resolve(options, &r->schema, r->c, &r->data->labels, &r->data->classes, err));
  r->data->positive_unlisted = tct_label_unlisted(options, &r->schema);
  TCT_TRY(find_label(r, err));
  if (!r->schema.root) TCT_TRY(plain_schema(r, err));
  int64_t *field = TCT_NEW(int64_t, r->schema.columns);
  unsigned char *used = TCT_NEW(unsigned char, tct_frame_cols(r->frame));
  r->rows.encoder.field = field; /* freed with the rows from here on */
  tct_status status = field && used ? match_columns(r, field, used, err) : tct_fail_memory(err);
  tct_free(used);
  TCT_TRY(status);
  TCT_TRY(tct_label_rule_make(&r->rows.encoder.rule, options, &r->schema, &r->data->classes, r->c, err));
  int64_t label = options->labels != TCT_LABELS_NONE ? r->label : -1;
  TCT_TRY(tct_rows_make(&r->rows, r->frame, field, label, options, err));
  bool sparse = r->rows.encoder.sparse;
  tct_table_init(&r->table, sparse ? TCT_CSR : TCT_DENSE_ROWS, options);
  r->table.lists = r->schema.lists;
  return tct_table_expect(&r->table, r->frame->rows, sparse ? r->schema.max : r->schema.features, err);
}

static tct_status add_record(frame_reader *r, int64_t row, tct_error *err) {
  tct_encoder *e = &r->rows.encoder;
  int64_t dense = e->sparse ? 0 : r->schema.features, column = 0;
  double label = 0;
  const char *why = tct_rows_encode(&r->rows, row, &label, &column);
  if (why == tct_encode_no_memory) return tct_fail_memory(err);
  if (why && r->table.droppable) return tct_table_drop(&r->table, dense, err);
  if (why) return tct_frame_fault(r->frame, column, r->table.rows + 1, why, err);
  if (e->sparse) return tct_table_sparse(&r->table, e->index, e->value, e->filled, label, err);
  return tct_table_dense(&r->table, e->value, dense, label, err);
}

static tct_status read_all(frame_reader *r, tct_error *err) {
  TCT_TRY(prepare(r, err));
  for (int64_t chunk = 0; chunk < r->frame->chunks; chunk++) {
    TCT_TRY(tct_rows_bind(&r->rows, chunk, err));
    for (int64_t i = 0; i < r->frame->chunk[chunk].length; i++) TCT_TRY(add_record(r, i, err));
  }
  TCT_TRY(tct_table_finish(&r->table, r->schema.features, r->data, err));
  if (r->label >= 0) {
    r->data->label_name = tct_text_copy(tct_frame_name(r->frame, r->label));
    if (!r->data->label_name) return tct_fail_memory(err);
  }
  return tct_schema_describe(&r->schema, r->data, err);
}

tct_data *tct_frame_read(const tct_frame *frame, const tct_read_options *options, tct_error *err) {
  tct_read_options own;
  tct_error_clear(err);
  if (tct_read_options_checked(options, &own, err) != TCT_OK) return NULL;
  if (!frame || own.key) {
    tct_fail(err, TCT_E_USAGE, "a frame is wanted, and it is read without keys; give one, and leave the key out");
    return NULL;
  }
  frame_reader r = {.frame = frame, .options = &own, .label = -1};
  r.c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  r.data = TCT_NEW(tct_data, 1);
  tct_status status = TCT_OK;
  if (!r.c || !r.data) {
    status = tct_fail_memory(err);
  } else {
    r.data->label_low = r.data->label_high = NAN;
    status = read_all(&r, err);
  }
  tct_rows_free(&r.rows);
  tct_table_free(&r.table);
  tct_schema_free(&r.schema);
  if (r.c) freelocale(r.c);
  if (status == TCT_OK) return r.data;
  tct_data_free(r.data);
  return NULL;
}

tct_data *tct_data_read_frame(const tct_frame *frame, const tct_read_options *options, tct_error *err) {
  if (!frame || frame->rows > 0) return tct_frame_read(frame, options, err);
  tct_fail(err, TCT_E_DATA, "the frame has no records; give at least one");
  return NULL;
}
