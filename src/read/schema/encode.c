/* encode.c - one record to features and a label, by the schema.
 *
 * Features are in the order of the schema, which is public, and not of the file.  Whether the matrix is dense or sparse
 * follows from the schema alone.  A record has at most one non-zero for each column that is not ignored.  So the sparse
 * form needs at most that many values and indices and one offset per record.  The form that is smaller in this sense is
 * taken, whatever the data are.  Under a schema with terms the columns are kept first, and all features made of them at
 * the end of the record (design_encode.c). */
#include "read/schema/encode.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "read/schema/dates.h"
#include "read/schema/flags.h"

const char tct_encode_no_memory[] = "out of memory";

static bool sparse_is_smaller(const tct_schema *schema, int64_t value_bytes) {
  const int64_t index_bytes = (int64_t)sizeof(int32_t);
  return schema->max * (value_bytes + index_bytes) + index_bytes < schema->features * value_bytes;
}

tct_status tct_encoder_copy(tct_encoder *encoder, tct_error *err) {
  const tct_schema *schema = encoder->schema;
  memset(&encoder->work, 0, sizeof encoder->work);
  if (schema->design) TCT_TRY(tct_design_work_new(schema, &encoder->work, err));
  encoder->value = TCT_NEW(double, encoder->sparse ? schema->max : schema->features);
  if (encoder->sparse) encoder->index = TCT_NEW(int32_t, schema->max);
  return encoder->value && (!encoder->sparse || encoder->index) ? TCT_OK : tct_fail_memory(err);
}

tct_status tct_encoder_make(tct_encoder *encoder, const tct_schema *schema, int64_t *field, int64_t label_field,
                            const tct_read_options *options, tct_error *err) {
  bool narrow = options->value_type == TCT_F32;
  if (narrow && schema->words)
    return tct_fail(err, TCT_E_USAGE, "a list of categories is estimated in double precision; leave {f32} away");
  encoder->schema = schema;
  encoder->field = field;
  encoder->label_field = label_field;
  encoder->largest = narrow ? FLT_MAX : DBL_MAX;
  encoder->sparse = sparse_is_smaller(schema, narrow ? (int64_t)sizeof(float) : (int64_t)sizeof(double));
  return tct_encoder_copy(encoder, err);
}

/* stored: a 0 has an entry too. */
static void put(tct_encoder *encoder, int64_t feature, double value, bool stored) {
  if (!encoder->sparse) {
    encoder->value[feature] = value;
  } else if (value != 0 || stored) {
    encoder->index[encoder->filled] = (int32_t)feature;
    encoder->value[encoder->filled++] = value;
  }
}

/* (v - lower)/(upper - lower) for a finite v within the bounds: rounding is monotone, so the result is in [0, 1]. */
static double scaled(const tct_schema *schema, const tct_column *column, double value) {
  double raised = value > column->lower ? value : column->lower;
  double clipped = raised < column->upper ? raised : column->upper;
  double unit = (clipped - column->lower) / (column->upper - column->lower);
  return schema->symmetric ? 2 * unit - 1 : unit;
}

/* Why the field is no number; names the way out for what tables often hold.  Static text: no value of the data. */
static const char *no_number(const tct_encoder *encoder, const char *at, int64_t length) {
  static const char *const words[] = {"?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", ".", "-"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if ((int64_t)strlen(words[k]) == length && memcmp(words[k], at, (size_t)length) == 0)
      return "the field looks like a word for a missing value; list such words under \"missing_values\" in a schema";
  double value;
  if (!encoder->rule.decimal_comma && tct_number_parse_comma(at, length, encoder->rule.c, &value) == TCT_NUMBER_OK)
    return "the number has a decimal comma; read the table with {decimal ,}";
  return "the field is not a finite decimal number; correct it, or describe the column in a schema";
}

const char *tct_encode_number(tct_encoder *encoder, const tct_column *column, double value, bool missing) {
  if (missing && column->missing == TCT_WHEN_REFUSE) {
    return "a value is missing; complete the record, or let {missing_rule}";
  }
  if (missing && column->missing == TCT_WHEN_ESTIMATE) {
    put(encoder, column->first, NAN, true); /* until the estimate says what it becomes */
    return NULL;
  }
  double *cell = encoder->work.cell ? &encoder->work.cell[column - encoder->schema->column] : NULL;
  if (missing && column->missing == TCT_WHEN_FLAG) {
    *cell = NAN;
    return NULL;
  }
  if (missing) value = column->missing_number;
  if (!isfinite(value)) return "the number is not finite; correct it";
  if (cell) {
    *cell = value;
    return NULL;
  }
  if (!column->raw) value = scaled(encoder->schema, column, value);
  if (fabs(value) > encoder->largest) return "the number is too large for single precision; read in double precision";
  put(encoder, column->first, value, column->raw); /* an estimate moves raw numbers in their place */
  return NULL;
}

/* A text of a column without a list, or a missing one, as the number that stands for it until there is one. */
static const char *put_word(tct_encoder *encoder, const tct_column *column, const char *at, int64_t length,
                            bool missing) {
  double value = TCT_WORD_NONE;
  if (missing && column->missing == TCT_WHEN_REFUSE)
    return "a category is missing; complete the record, or let {missing_rule}";
  if (missing) at = TCT_MISSING_WORD, length = (int64_t)strlen(at);
  if (!missing || column->missing == TCT_WHEN_ESTIMATE) {
    int64_t place = column - encoder->schema->column;
    int64_t number = tct_words_number(encoder->schema->words, place, at, length);
    if (number == TCT_WORD_NO_MEMORY) return tct_encode_no_memory;
    value = (double)number;
  }
  put(encoder, column->first, value, true);
  return NULL;
}

const char *tct_encode_listed(tct_encoder *encoder, const tct_column *column, int32_t found, bool missing) {
  if (column->open) return put_word(encoder, column, NULL, 0, missing);
  if (found < 0) {
    tct_when when = missing ? column->missing : column->other;
    if (when == TCT_WHEN_REFUSE) {
      return missing ? "a category is missing; complete the record, or let {missing_rule}"
                     : "the category is not in the schema's list; list it, or let {other_rule}";
    }
    if (when == TCT_WHEN_VALUE) found = missing ? column->missing_listed : column->other_listed;
  }
  if (encoder->work.cell)
    encoder->work.cell[column - encoder->schema->column] = found < 0 ? NAN : found;
  else if (found >= column->dropped)
    put(encoder, column->first + found - column->dropped, 1, false);
  return NULL;
}

static const char *number_of(const tct_encoder *encoder, const char *at, int64_t length, double *value, bool *missing) {
  *missing = tct_schema_missing(encoder->schema, at, length);
  if (*missing) return NULL;
  tct_number_status status = tct_label_rule_parse(&encoder->rule, at, length, value);
  if (status == TCT_NUMBER_RANGE) return "the number is too large for a double; correct it";
  return status == TCT_NUMBER_OK ? NULL : no_number(encoder, at, length);
}

static const char *text_as_number(tct_encoder *encoder, const tct_column *column, const char *at, int64_t length) {
  double value = 0;
  bool missing;
  const char *why = number_of(encoder, at, length, &value, &missing);
  return why ? why : tct_encode_number(encoder, column, value, missing);
}

const char *tct_encode_beside(tct_encoder *encoder, tct_beside which, double value, bool missing) {
  const tct_beside_rule *rule = &encoder->schema->beside[which];
  const char *why = tct_beside_number(encoder->schema, which, value, missing, &value);
  if (!why && which == TCT_BESIDE_WEIGHT) encoder->weight = value / rule->upper;
  if (!why) encoder->offset += tct_beside_offset(rule, which, value);
  return why;
}

const char *tct_encode_beside_text(tct_encoder *encoder, tct_beside which, const char *at, int64_t length) {
  double value = 0;
  bool missing;
  const char *why = number_of(encoder, at, length, &value, &missing);
  return why ? why : tct_encode_beside(encoder, which, value, missing);
}

static const char *text_as_date(tct_encoder *encoder, const tct_column *column, const char *at, int64_t length) {
  double days = 0;
  bool missing = tct_schema_missing(encoder->schema, at, length);
  if (!missing && !tct_date_parse(at, length, &days)) return "the field is no date such as 2024-01-31; correct it";
  return tct_encode_number(encoder, column, days, missing);
}

int32_t tct_column_flag(const tct_column *column, bool value) {
  int32_t found = -1;
  for (int w = 0; w < TCT_FLAG_WORDS && found < 0; w++)
    found = tct_column_find(column, tct_flag_words[value][w], (int64_t)strlen(tct_flag_words[value][w]));
  return found;
}

int32_t tct_column_meant(const tct_schema *schema, const tct_column *column, const char *text, int64_t length,
                         bool *missing) {
  int32_t found = tct_column_find(column, text, length);
  *missing = found < 0 && tct_schema_missing(schema, text, length);
  int flag = found < 0 && !*missing ? tct_flag_of(text, length) : -1;
  return flag < 0 ? found : tct_column_flag(column, flag != 0);
}

const char *tct_encode_text(tct_encoder *encoder, const tct_column *column, const char *at, int64_t length) {
  if (column->kind == TCT_COLUMN_NUMBER) return text_as_number(encoder, column, at, length);
  if (column->kind == TCT_COLUMN_DATE) return text_as_date(encoder, column, at, length);
  if (column->open) return put_word(encoder, column, at, length, tct_schema_missing(encoder->schema, at, length));
  bool missing;
  int32_t found = tct_column_meant(encoder->schema, column, at, length, &missing);
  return tct_encode_listed(encoder, column, found, missing);
}

void tct_encode_begin(tct_encoder *encoder) {
  encoder->filled = 0;
  encoder->weight = 1, encoder->offset = 0;
  if (!encoder->sparse) memset(encoder->value, 0, (size_t)encoder->schema->features * sizeof *encoder->value);
}

static void put_feature(void *encoder, int64_t feature, double value) { put(encoder, feature, value, false); }

void tct_encode_end(tct_encoder *encoder) {
  if (encoder->work.cell) tct_design_encode(encoder->schema, &encoder->work, put_feature, encoder);
}

tct_fault tct_encode(tct_encoder *encoder, const tct_field *field, double *label) {
  const tct_schema *schema = encoder->schema;
  tct_encode_begin(encoder);
  for (int64_t k = 0; k < schema->columns; k++) {
    const tct_column *column = &schema->column[k];
    int64_t j = encoder->field[k];
    if (j < 0) continue;
    const char *why = tct_encode_text(encoder, column, field[j].at, field[j].length);
    if (why) return (tct_fault){j + 1, why};
  }
  tct_encode_end(encoder);
  for (int k = 0; k < TCT_BESIDES; k++) {
    int64_t j = encoder->beside_field[k];
    const char *why = j > 0 ? tct_encode_beside_text(encoder, k, field[j - 1].at, field[j - 1].length) : NULL;
    if (why) return (tct_fault){j, why};
  }
  if (encoder->label_field >= 0) {
    const tct_field *f = &field[encoder->label_field];
    const char *why = tct_label_text(&encoder->rule, f->at, f->length, label);
    if (why) return (tct_fault){encoder->label_field + 1, why};
  }
  if (encoder->label_field >= 0 && encoder->event_field > 0) {
    const tct_field *f = &field[encoder->event_field - 1];
    int event = 0;
    const char *why = tct_label_event(&encoder->rule, f->at, f->length, &event);
    if (why) return (tct_fault){encoder->event_field, why};
    why = tct_label_follow_up(&encoder->rule, event, label);
    if (why) return (tct_fault){encoder->label_field + 1, why};
  }
  return (tct_fault){0, NULL};
}

void tct_encoder_free(tct_encoder *encoder) {
  tct_free(encoder->field);
  if (encoder->schema) {
    int64_t values = encoder->sparse ? encoder->schema->max : encoder->schema->features;
    if (encoder->schema->design) tct_design_work_free(encoder->schema, &encoder->work);
    tct_wipe_free(encoder->value, encoder->value ? values : 0, sizeof *encoder->value);
  }
  tct_free(encoder->index);
  memset(encoder, 0, sizeof *encoder);
}
