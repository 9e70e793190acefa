/* one_program.c - lists each setting once, as compared or as free. */
#include "train/one_program.h"

#include "core/alloc.h"
#include "ranks/ranks.h"

#include <stdio.h>
#include <string.h>

/* ---- settings as they were given ----------------------------------------------------------------------------- */

/* FREE: no released number and no claim depends on it. */
typedef enum kind { FREE, TEXT, REAL, INT32, INT64, WORD } kind;

typedef struct field {
  kind kind;
  size_t at;
  const char *name;
} field;

#define CONFIG_FIELDS(FIELD)                                 \
  FIELD(FREE, size, NULL)                                    \
  FIELD(TEXT, loss, "the loss")                              \
  FIELD(TEXT, penalty, "the penalty")                        \
  FIELD(TEXT, solver, "the solver")                          \
  FIELD(REAL, epsilon, "epsilon")                            \
  FIELD(REAL, delta, "delta")                                \
  FIELD(INT32, neighbours, "the neighbours")                 \
  FIELD(INT32, rows_rule, "the rule for rows")               \
  FIELD(REAL, row_norm, "the row norm")                      \
  FIELD(REAL, label_shift, "the label shift")                \
  FIELD(REAL, label_bound, "the label bound")                \
  FIELD(TEXT, scale, "the scale")                            \
  FIELD(TEXT, label_scale, "the label scale")                \
  FIELD(INT32, intercept, "the intercept")                   \
  FIELD(FREE, threads, NULL)                                 \
  FIELD(INT32, has_seed, "whether there is a seed")          \
  FIELD(INT32, input_part, "whether the rows are a part")    \
  FIELD(WORD, seed, "the seed")                              \
  FIELD(TEXT, ledger, "the ledger")                          \
  FIELD(FREE, progress, NULL)                                \
  FIELD(FREE, cancel, NULL)                                  \
  FIELD(FREE, user, NULL)                                    \
  FIELD(FREE, output, NULL)                                  \
  FIELD(TEXT, input_changed, "the reason for changed input") \
  FIELD(TEXT, errors, "the standard errors")                 \
  FIELD(FREE, memory, NULL)                                  \
  FIELD(TEXT, estimate, "the estimate")                      \
  FIELD(FREE, cols, NULL)                                    \
  FIELD(INT64, classes, "the number of classes")

/* The schema is compared by its contents, wherever it lies. */
#define READ_FIELDS(FIELD)                                   \
  FIELD(FREE, size, NULL)                                    \
  FIELD(INT32, labels, "the kind of the labels")             \
  FIELD(INT32, invalid, "the rule for malformed records")    \
  FIELD(TEXT, label, "the label column")                     \
  FIELD(TEXT, positive, "the positive label")                \
  FIELD(FREE, schema_path, NULL)                             \
  FIELD(FREE, schema_text, NULL)                             \
  FIELD(INT64, cols, "the number of features")               \
  FIELD(INT32, value_type, "the precision of the values")    \
  FIELD(FREE, threads, NULL)                                 \
  FIELD(TEXT, key, "the key column")                         \
  FIELD(TEXT, delimiter, "the delimiter")                    \
  FIELD(TEXT, decimal, "the decimal mark")                   \
  FIELD(INT64, max_cols, "the limit of columns")             \
  FIELD(INT64, max_header, "the limit of the header")        \
  FIELD(INT64, max_line, "the limit of a line")              \
  FIELD(INT64, max_expansion, "the limit of unpacked bytes") \
  FIELD(FREE, memory, NULL)                                  \
  FIELD(FREE, scratch, NULL)                                 \
  FIELD(FREE, classes, NULL)                                 \
  FIELD(INT64, classes_count, "the number of classes")       \
  FIELD(INT32, multiline, "the rule for quoted line ends")   \
  FIELD(INT32, reserved, "a reserved field of read options") \
  FIELD(TEXT, format, "the format")                          \
  FIELD(FREE, cancel, NULL)                                  \
  FIELD(FREE, user, NULL)                                    \
  FIELD(TEXT, event, "the event column")                     \
  FIELD(REAL, horizon, "the horizon")                        \
  FIELD(TEXT, weights, "the weights' column")                \
  FIELD(REAL, weight_cap, "the cap of the weights")

#define CONFIG_FIELD(kind, member, name) {kind, offsetof(tct_config, member), name},
#define CONFIG_SIZE(kind, member, name) +sizeof(((tct_config *)0)->member)
#define READ_FIELD(kind, member, name) {kind, offsetof(tct_read_options, member), name},
#define READ_SIZE(kind, member, name) +sizeof(((tct_read_options *)0)->member)

static const field config_fields[] = {CONFIG_FIELDS(CONFIG_FIELD)};
static const field read_fields[] = {READ_FIELDS(READ_FIELD)};
enum {
  CONFIG_COUNT = sizeof config_fields / sizeof *config_fields,
  READ_COUNT = sizeof read_fields / sizeof *read_fields
};

/* A field that is in no list makes the sums too small.  If it cannot change a released number or the claim: FREE. */
_Static_assert(0 CONFIG_FIELDS(CONFIG_SIZE) == sizeof(tct_config), "a field of tct_config is in no list above");
_Static_assert(0 READ_FIELDS(READ_SIZE) == sizeof(tct_read_options), "a field of tct_read_options is in no list above");

static void add_fields(tct_settings *list, const field *fields, int count, const void *from) {
  for (int k = 0; k < count; k++) {
    const char *name = fields[k].name;
    const void *at = (const char *)from + fields[k].at;
    switch (fields[k].kind) {
      case FREE: break;
      case TEXT: tct_settings_text(list, name, *(const char *const *)at); break;
      case REAL: tct_settings_real(list, name, *(const double *)at); break;
      case INT32: tct_settings_word(list, name, (uint64_t) * (const int32_t *)at); break;
      case INT64: tct_settings_word(list, name, (uint64_t) * (const int64_t *)at); break;
      case WORD: tct_settings_word(list, name, *(const uint64_t *)at); break;
    }
  }
}

static void config_settings(tct_settings *list, const tct_config *config) {
  add_fields(list, config_fields, CONFIG_COUNT, config);
}

static const char SCHEMA[] = "the contents of the schema";

/* Up to a byte 0, behind which the reader of schemas looks at nothing either: a file of holes has no end in sight. */
static void add_schema_file(tct_settings *list, const char *path) {
  enum { STEP = 4096 };
  char room[STEP], hex[TCT_DIGEST_HEX];
  size_t got;
  tct_digest digest;
  FILE *file = fopen(path, "rb");
  if (!file) tct_settings_word(list, SCHEMA, 0);
  if (!file) return;
  tct_digest_start(&digest);
  while ((got = fread(room, 1, sizeof room, file)) > 0) {
    tct_digest_field(&digest, 'B', room, got);
    if (memchr(room, 0, got)) break;
  }
  fclose(file);
  tct_digest_end(&digest, hex);
  tct_settings_bytes(list, SCHEMA, hex, sizeof hex);
}

/* By their texts: a pointer says nothing to another rank. */
static void add_classes(tct_settings *list, const char *const *name, int64_t count) {
  tct_digest digest;
  char hex[TCT_DIGEST_HEX];
  tct_digest_start(&digest);
  for (int64_t k = 0; name && k < count; k++) tct_digest_text(&digest, name[k] ? name[k] : "");
  tct_digest_end(&digest, hex);
  tct_settings_text(list, "the classes of the label", name ? hex : NULL);
}

void tct_settings_read(tct_settings *list, const tct_read_options *options, bool ranks) {
  add_fields(list, read_fields, READ_COUNT, options);
  add_classes(list, options->classes, options->classes_count);
  if (options->schema_path && !ranks) return; /* nobody to agree with, and a pipe can be read once only */
  if (options->schema_path)
    add_schema_file(list, options->schema_path);
  else
    tct_settings_text(list, SCHEMA, options->schema_text);
}

/* ---- what became of them ------------------------------------------------------------------------------------- */

static void add_spec(tct_settings *list, const char *name, const tct_spec *spec) {
  char text[8192];
  tct_spec_print(spec, text, sizeof text);
  tct_settings_text(list, name, text);
}

/* The bits of every parameter: a text would round. */
static void add_events(tct_settings *list, const char *name, const tct_events *events) {
  tct_digest digest;
  char hex[TCT_DIGEST_HEX];
  tct_digest_start(&digest);
  for (int64_t k = 0; k < events->len; k++) {
    const tct_event *e = &events->at[k];
    const double numbers[] = {e->noise, e->rate, e->epsilon, e->delta, e->rho, e->shift};
    tct_digest_word(&digest, 'K', (uint64_t)e->kind);
    tct_digest_word(&digest, 'C', (uint64_t)e->count);
    tct_digest_field(&digest, 'N', numbers, sizeof numbers);
  }
  tct_digest_end(&digest, hex);
  tct_settings_text(list, name, hex);
}

static void add_facts(tct_settings *list, const tct_facts *facts) {
  tct_settings_word(list, "the number of records", (uint64_t)facts->rows);
  tct_settings_word(list, "the number of weights", (uint64_t)facts->p);
  tct_settings_word(list, "the intercept", facts->intercept);
  tct_settings_real(list, "the row norm", facts->row_norm);
  tct_settings_real(list, "the label bound", facts->label_bound);
  add_spec(list, "the loss", &facts->loss.spec);
  add_spec(list, "the penalty", &facts->penalty.spec);
  tct_settings_real(list, "epsilon", facts->epsilon);
  tct_settings_real(list, "delta", facts->delta);
  tct_settings_word(list, "the neighbours", (uint64_t)facts->neighbours);
}

/* Every number of every release, bit for bit. */
static void add_releases(tct_settings *list, const tct_promise *promise) {
  tct_digest digest;
  char hex[TCT_DIGEST_HEX];
  tct_digest_start(&digest);
  for (int r = 0; r < promise->count; r++) {
    const tct_release *e = &promise->release[r];
    const double numbers[] = {e->clip,    e->sensitivity, e->lattice, e->deviation, e->noise,
                              e->epsilon, e->rate,        e->largest, e->ratio};
    const int64_t words[] = {e->law,  e->norm,     e->event.count, e->terms, e->parts,
                             e->bits, e->monotone, e->follows,     e->whole, e->open};
    tct_digest_field(&digest, 'N', numbers, sizeof numbers);
    tct_digest_field(&digest, 'W', words, sizeof words);
  }
  tct_digest_end(&digest, hex);
  tct_settings_text(list, "the planned releases", hex);
}

/* The whole promise: what is planned besides the events gets a line here. */
static void add_promise(tct_settings *list, const tct_promise *promise) {
  add_events(list, "the planned events", &promise->events);
  add_releases(list, promise);
  tct_settings_word(list, "the kind of promise", (uint64_t)promise->kind);
}

/* What was resolved: components with all options, public facts, and the promise. */
static void plan_settings(tct_settings *list, const tct_plan *plan) {
  const tct_solver_plan *solved = &plan->solved;
  add_facts(list, &plan->facts);
  tct_settings_text(list, "the solver", plan->solver->name);
  add_spec(list, "the solver's resolved options", &solved->spec);
  add_promise(list, &solved->promise);
  tct_settings_real(list, "the noise multiplier", solved->noise_multiplier);
  tct_settings_real(list, "the accounted epsilon", solved->cost.epsilon);
  tct_settings_text(list, "the accountant", solved->cost.winner ? solved->cost.winner->name : NULL);
  tct_settings_text(list, "what is unaccounted", solved->unaccounted);
  tct_settings_word(list, "the number of features", (uint64_t)plan->cols);
  tct_settings_word(list, "the rule for rows", (uint64_t)plan->config.rows_rule);
  tct_settings_real(list, "the label shift", plan->config.label_shift);
}

static void add_names(tct_settings *list, const char *name, char *const *names, int64_t count) {
  tct_digest digest;
  char hex[TCT_DIGEST_HEX];
  tct_digest_start(&digest);
  for (int64_t j = 0; names && j < count && names[j]; j++) tct_digest_text(&digest, names[j]);
  tct_digest_end(&digest, hex);
  tct_settings_text(list, name, names ? hex : NULL);
}

void tct_settings_format(tct_settings *list, const tct_data *data) {
  tct_settings_word(list, "the format of the data", (uint64_t)data->x.layout);
  tct_settings_word(list, "the precision of the values", (uint64_t)data->x.value_type);
  tct_settings_word(list, "the number of features", (uint64_t)data->x.cols);
  add_names(list, "the names of the features", data->names, data->x.cols);
  tct_settings_word(list, "the kind of the labels", (uint64_t)data->labels);
  tct_settings_text(list, "the label column", data->label_name);
  add_classes(list, (const char *const *)data->classes.name, data->classes.count);
  tct_settings_text(list, SCHEMA, data->schema);
  tct_settings_real(list, "the schema's label bounds", data->label_low);
  tct_settings_real(list, "the schema's label bounds", data->label_high);
}

/* The same, and how records lie over ranks and are weighed; nothing computed from a record. */
static void table_settings(tct_settings *list, const tct_data *data) {
  size_t ranks = data->rank_rows ? (size_t)tct_team_ranks(data->team) : 0;
  tct_settings_format(list, data);
  tct_settings_bytes(list, "the records of each rank", data->rank_rows, ranks * sizeof *data->rank_rows);
  tct_settings_word(list, "whether records are weighed", data->weight != NULL);
  tct_settings_real(list, "the cap of the weights", data->weight_cap);
  tct_settings_word(list, "whether records have an offset", data->offset != NULL);
  tct_settings_word(list, "whether a person is the unit", data->persons);
  tct_settings_word(list, "whether records can be left out", data->dropped != NULL);
  add_names(list, "what reading left unaccounted", data->unaccounted, TCT_UNACCOUNTED);
  tct_settings_text(list, "the input", data->input);
}

/* ---- one digest ------------------------------------------------------------------------------------------------ */

tct_status tct_ranks_agree(const tct_plan *plan, const tct_data *data, tct_error *err) {
  tct_settings list = {0};
  if (tct_team_ranks(data->team) == 1) return TCT_OK;
  config_settings(&list, &plan->config);
  table_settings(&list, data);
  plan_settings(&list, plan);
  tct_status status = tct_team_same(data->team, &list, err);
  tct_settings_free(&list);
  return status;
}

tct_status tct_plan_digest(const tct_plan *plan, char hex[TCT_DIGEST_HEX], tct_error *err) {
  tct_settings list = {0};
  plan_settings(&list, plan);
  tct_status status = tct_settings_digest(&list, hex, err);
  tct_settings_free(&list);
  return status;
}
