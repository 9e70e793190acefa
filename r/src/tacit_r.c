/* tacit_r.c - the calls of R into libtacit, through tacit.h alone.
 *
 * What R must allocate is allocated before the library is called: its allocator may jump, and a jump would leave the
 * library's handles behind.  So no function here that the library calls back touches R, but for the look at interrupts,
 * which R_ToplevelExec keeps from jumping.  A failure comes back as a list, which R/conditions.R signals. */
#include <R.h>
#include <R_ext/Rdynload.h>
#include <Rinternals.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <tacit.h>

/* ---- what comes from R ---- */

static SEXP item(SEXP list, const char *name) {
  SEXP names = getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; i < XLENGTH(names); i++)
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
  return R_NilValue;
}

/* In UTF-8; NULL where R has NULL. */
static const char *text_of(SEXP value) { return isNull(value) ? NULL : translateCharUTF8(STRING_ELT(value, 0)); }
static const char *text_item(SEXP list, const char *name) { return text_of(item(list, name)); }

static const void *memory_of(SEXP value) {
  return isNull(value)              ? NULL
         : TYPEOF(value) == RAWSXP  ? (const void *)RAW(value)
         : TYPEOF(value) == REALSXP ? (const void *)REAL(value)
                                    : INTEGER(value);
}

static double number_item(SEXP list, const char *name, double other) {
  SEXP value = item(list, name);
  return isNull(value) ? other : asReal(value);
}

static void look(void *unused) { (void)unused, R_CheckUserInterrupt(); }
static int interrupted(void *user) { return (void)user, !R_ToplevelExec(look, NULL); }

/* A line of 40 marks in R's console. */
static void progress(double fraction, void *user) {
  int *shown = user, now = (int)(40 * fraction);
  if (now == *shown) return;
  for (; *shown < now; ++*shown) REprintf("=");
  if (now == 40) REprintf("\n");
}

static tct_config config_of(SEXP set, int *bar) {
  tct_config c;
  tct_config_default(&c);
  c.loss = text_item(set, "loss"), c.solver = text_item(set, "solver"), c.errors = text_item(set, "errors");
  if (text_item(set, "penalty")) c.penalty = text_item(set, "penalty");
  c.ledger = text_item(set, "ledger"), c.input_changed = text_item(set, "input_changed");
  c.output = text_item(set, "output");
  c.epsilon = number_item(set, "epsilon", NAN), c.delta = number_item(set, "delta", NAN);
  c.neighbours = number_item(set, "replace_one", 0) != 0 ? TCT_REPLACE_ONE : TCT_ADD_REMOVE;
  c.threads = (int32_t)number_item(set, "threads", 0);
  double seed = number_item(set, "seed", -1);
  if (seed >= 0) c.has_seed = 1, c.seed = (uint64_t)seed;
  c.cancel = interrupted;
  if (number_item(set, "progress", 0) != 0) c.progress = progress, c.user = bar;
  return c;
}

/* ---- a list of columns as an Arrow stream of one chunk, over R's own memory ---- */

struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

typedef struct table {
  struct ArrowSchema schema;
  struct ArrowArray array;
  struct ArrowArrayStream stream;
  int given;
} table;

/* R owns the memory, and keeps it until the call from R is over. */
static void schema_done(struct ArrowSchema *schema) { schema->release = NULL; }
static void array_done(struct ArrowArray *array) { array->release = NULL; }
static void stream_done(struct ArrowArrayStream *stream) { stream->release = NULL; }
static const char *no_error(struct ArrowArrayStream *stream) { return (void)stream, NULL; }

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  return *out = ((table *)stream->private_data)->schema, 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  table *t = stream->private_data;
  memset(out, 0, sizeof *out);
  if (!t->given) *out = t->array;
  t->given = 1;
  return 0;
}

static void *zeroed(size_t count, size_t size) {
  void *made = R_alloc(count ? count : 1, (int)size);
  return memset(made, 0, (count ? count : 1) * size);
}

/* A column as R/columns.R has put it together: its format in Arrow's words, length, and buffers. */
static void put_column(struct ArrowSchema *schema, struct ArrowArray *array, const char *name, SEXP column) {
  SEXP ends = item(column, "ends");
  *schema = (struct ArrowSchema){.format = text_item(column, "format"), .name = name, .release = schema_done};
  *array = (struct ArrowArray){
      .null_count = -1, .n_buffers = 2, .release = array_done, .buffers = zeroed(2, sizeof(void *))};
  array->length = (int64_t)number_item(column, "length", 0);
  array->buffers[0] = memory_of(item(column, "there")), array->buffers[1] = memory_of(item(column, "values"));
  if (isNull(ends)) return;
  schema->dictionary = zeroed(1, sizeof *schema), array->dictionary = zeroed(1, sizeof *array);
  *schema->dictionary = (struct ArrowSchema){.format = "u", .name = "", .release = schema_done};
  *array->dictionary = (struct ArrowArray){.length = XLENGTH(ends) - 1, .n_buffers = 3, .release = array_done};
  array->dictionary->buffers = zeroed(3, sizeof(void *));
  array->dictionary->buffers[1] = memory_of(ends), array->dictionary->buffers[2] = text_item(column, "texts");
}

static table *table_of(SEXP columns) {
  table *t = zeroed(1, sizeof *t);
  SEXP names = getAttrib(columns, R_NamesSymbol);
  R_xlen_t count = XLENGTH(columns);
  t->schema = (struct ArrowSchema){.format = "+s", .name = "", .n_children = count, .release = schema_done};
  t->array = (struct ArrowArray){.n_buffers = 1, .n_children = count, .release = array_done};
  t->array.buffers = zeroed(1, sizeof(void *));
  t->schema.children = zeroed((size_t)count, sizeof *t->schema.children);
  t->array.children = zeroed((size_t)count, sizeof *t->array.children);
  for (R_xlen_t j = 0; j < count; j++) {
    t->schema.children[j] = zeroed(1, sizeof t->schema), t->array.children[j] = zeroed(1, sizeof t->array);
    put_column(t->schema.children[j], t->array.children[j], translateCharUTF8(STRING_ELT(names, j)),
               VECTOR_ELT(columns, j));
    t->array.length = t->array.children[j]->length;
  }
  t->stream = (struct ArrowArrayStream){get_schema, get_next, no_error, stream_done, t};
  return t;
}

/* ---- what goes to R ---- */

static SEXP failure(const tct_error *e) {
  const char *names[] = {"status", "text", ""};
  char said[sizeof e->text + 400], line[40] = "", text[sizeof e->file + sizeof line + sizeof said];
  tct_error_say(e, TCT_WORDS_R, said, sizeof said);
  if (e->file[0] && e->line) snprintf(line, sizeof line, ", line %.0f", (double)e->line);
  snprintf(text, sizeof text, "%s%s%s%s", e->file, line, e->file[0] ? ": " : "", said);
  SEXP r = PROTECT(mkNamed(VECSXP, names));
  SET_VECTOR_ELT(r, 0, ScalarInteger((int)e->status));
  SET_VECTOR_ELT(r, 1, ScalarString(mkCharCE(text, CE_UTF8)));
  setAttrib(r, R_ClassSymbol, mkString("tacit_failure"));
  UNPROTECT(1);
  return r;
}

/* The texts as a character vector, and back to the library; the first NULL: the failure. */
static SEXP texts(int count, char *const text[], const tct_error *e) {
  if (!text[0]) {
    for (int k = 1; k < count; k++) tct_text_free(text[k]);
    return failure(e);
  }
  SEXP r = PROTECT(allocVector(STRSXP, count));
  for (int k = 0; k < count; k++) {
    SET_STRING_ELT(r, k, text[k] ? mkCharCE(text[k], CE_UTF8) : NA_STRING);
    tct_text_free(text[k]);
  }
  UNPROTECT(1);
  return r;
}

static SEXP one(char *text, const tct_error *e) { return texts(1, &text, e); }

/* ---- the calls ---- */

/* person: room for [rows] numbers, or NULL. */
static tct_data *read_table(table *t, const tct_read_options *o, const char *by, int64_t *person, tct_error *e) {
  tct_frame *frame = tct_frame_take(&t->stream, e);
  tct_data *data = frame ? tct_data_read_frame(frame, o, NULL, e) : NULL;
  int ok = data && (!by || (tct_frame_codes(frame, by, person, NULL, e) == TCT_OK &&
                            tct_data_weigh(data, NULL, 1, person, e) == TCT_OK));
  tct_frame_free(frame);
  if (ok) return data;
  tct_data_free(data);
  return NULL;
}

/* set: those of config_of, and schema, label, person.  Gives the plan as JSON, the model, and a warning or NA.  columns
 * NULL: the plan of set's rows, by the schema in set's file. */
static SEXP R_fit(SEXP columns, SEXP set) {
  tct_error e = {0};
  int bar = 0, fits = !isNull(columns);
  tct_config c = config_of(set, &bar);
  tct_read_options o;
  tct_read_options_default(&o);
  o.labels = tct_config_labels(&c), o.label = text_item(set, "label"), o.schema_text = text_item(set, "schema");
  o.threads = c.threads, o.cancel = interrupted;
  table *t = fits ? table_of(columns) : NULL;
  const char *by = text_item(set, "person"), *file = text_item(set, "file");
  int64_t *person = fits && by ? zeroed((size_t)t->array.length, sizeof *person) : NULL, cols = 0;
  tct_data *data = fits ? read_table(t, &o, by, person, &e) : NULL;
  int ok = (data || !fits) && tct_config_use_schema(&c, data, file, &cols, &e) == TCT_OK;
  int64_t rows = data ? tct_data_rows(data) : (int64_t)number_item(set, "rows", 0);
  tct_plan *plan = ok ? tct_plan_new(&c, rows, cols, &e) : NULL;
  char *made[3] = {plan ? tct_plan_json(plan, &e) : NULL, NULL, NULL}, warning[2000] = "";
  tct_model *model = made[0] && fits ? tct_fit(plan, data, &e) : NULL;
  made[1] = model ? tct_model_json(model, &e) : NULL;
  if (fits && !made[1]) tct_text_free(made[0]), made[0] = NULL;
  if (model && tct_model_warning(model)) snprintf(warning, sizeof warning, "%s", tct_model_warning(model));
  tct_model_free(model);
  tct_plan_free(plan);
  tct_data_free(data);
  SEXP r = PROTECT(texts(3, made, &e));
  if (made[0] && warning[0]) SET_STRING_ELT(r, 2, mkCharCE(warning, CE_UTF8));
  UNPROTECT(1);
  return r;
}

/* What errors to expect of set's fit of so many rows; asked in JSON. */
static SEXP R_expect(SEXP set, SEXP rows, SEXP asked) {
  tct_error e = {0};
  int bar = 0;
  tct_config c = config_of(set, &bar);
  tct_read_options o;
  tct_read_options_default(&o);
  o.schema_text = text_item(set, "schema"), o.label = text_item(set, "label"), o.threads = c.threads;
  return one(tct_expect_json(&c, &o, (int64_t)asReal(rows), text_of(asked), &e), &e);
}

/* Of a model's text: its summary; of sums of its coefficients, one in each column, where these are asked for. */
static SEXP R_summary(SEXP text, SEXP sums, SEXP level) {
  tct_error e = {0};
  tct_model *model = tct_model_read(NULL, text_of(text), NULL, &e);
  char *said = NULL;
  if (model && isNull(sums)) said = tct_summary_json(model, asReal(level), 1, NULL, 0, &e);
  int64_t cols = 0;
  if (model && !isNull(sums)) {
    tct_model_shape(model, NULL, &cols);
    if (isReal(sums) && nrows(sums) == cols + 1)
      said = tct_summary_json(model, asReal(level), 1, REAL(sums), ncols(sums), &e);
    else
      e.status = TCT_E_USAGE, snprintf(e.text, sizeof e.text, "the parts of this fit are not of one model; fit again");
  }
  tct_model_free(model);
  return one(said, &e);
}

static int64_t entry(const tct_matrix *x, const void *list, int64_t k) {
  return x->index_type == TCT_I64 ? ((const int64_t *)list)[k] : ((const int32_t *)list)[k];
}

/* The features of columns, as that schema has them, and 1 last: a matrix; NULL where they are not `cols` with the 1. */
static SEXP R_features(SEXP columns, SEXP schema, SEXP cols) {
  tct_error e = {0};
  tct_read_options o;
  tct_read_options_default(&o);
  o.labels = TCT_LABELS_NONE, o.schema_text = text_of(schema);
  table *t = table_of(columns);
  int64_t rows = t->array.length, p = asInteger(cols);
  SEXP r = PROTECT(allocMatrix(REALSXP, (int)rows, (int)p));
  double *to = memset(REAL(r), 0, (size_t)(rows * p) * sizeof(double));
  tct_data *data = read_table(t, &o, NULL, NULL, &e);
  const tct_matrix *x = data ? tct_data_matrix(data) : NULL;
  int fits = x && x->cols == p - 1;
  for (int64_t i = 0; fits && i < rows; i++) {
    int64_t dense = x->layout == TCT_DENSE_ROWS, from = dense ? 0 : entry(x, x->start, i);
    int64_t end = dense ? x->cols : entry(x, x->start, i + 1);
    for (int64_t k = from; k < end; k++)
      to[i + rows * (dense ? k : entry(x, x->index, k))] = ((const double *)x->values)[dense ? i * x->stride + k : k];
    to[i + rows * (p - 1)] = 1;
  }
  tct_data_free(data);
  if (!fits) r = x ? R_NilValue : failure(&e);
  UNPROTECT(1);
  return r;
}

/* A matrix: the prediction, and with a level the ends of its interval. */
static SEXP R_predict(SEXP text, SEXP columns, SEXP level) {
  tct_error e = {0};
  int with = !ISNAN(asReal(level));
  table *t = table_of(columns);
  R_xlen_t rows = t->array.length;
  SEXP r = PROTECT(allocMatrix(REALSXP, (int)rows, with ? 3 : 1));
  tct_read_options o;
  tct_read_options_default(&o);
  o.labels = TCT_LABELS_NONE;
  tct_model *model = tct_model_read(NULL, text_of(text), NULL, &e);
  if (model) o.schema_text = tct_model_schema(model);
  tct_data *data = model ? read_table(t, &o, NULL, NULL, &e) : NULL;
  int ok = data && tct_predict(model, data, REAL(r), &e) == TCT_OK;
  if (ok && with)
    ok = tct_predict_interval(model, data, asReal(level), REAL(r) + rows, REAL(r) + 2 * rows, &e) == TCT_OK;
  tct_data_free(data);
  tct_model_free(model);
  if (!ok) r = failure(&e);
  UNPROTECT(1);
  return r;
}

/* To a path, whole or not at all: the model's file, or with page options its report. */
static SEXP R_write(SEXP text, SEXP path, SEXP page) {
  tct_error e = {0};
  tct_page_options o;
  tct_page_options_default(&o);
  tct_model *model = tct_model_read(NULL, text_of(text), NULL, &e);
  int ok = model != NULL;
  if (!isNull(page))
    o.title = text_item(page, "title"), o.purpose = text_item(page, "purpose"), o.contact = text_item(page, "contact"),
    o.scores = text_item(page, "scores"), o.policy = text_item(page, "policy"), o.ledger = text_item(page, "ledger");
  if (ok && isNull(page)) ok = tct_model_write(model, text_of(path), &e) == TCT_OK;
  if (ok && !isNull(page)) ok = tct_report_page_write(model, &o, text_of(path), &e) == TCT_OK;
  tct_model_free(model);
  return ok ? R_NilValue : failure(&e);
}

/* Of a file, by its path or text: a model's text; a linear model of its moments, asked in JSON; its verification, where
 * a check that failed gives the text too. */
static SEXP R_text(SEXP what, SEXP file, SEXP with, SEXP asked) {
  tct_error e = {0};
  const char *kind = text_of(what), *text = text_of(file), *path = strchr(text, '{') ? NULL : text;
  if (path) text = NULL;
  if (kind[0] == 'l') return one(tct_lm_json(path, text, text_of(with), text_of(asked), &e), &e);
  if (kind[0] == 'v') return one(tct_verify_json(path, text, text_of(with), text_of(asked), NULL, NULL, &e), &e);
  tct_model *model = tct_model_read(path, text, text_of(with), &e);
  char *made = model ? tct_model_json(model, &e) : NULL;
  tct_model_free(model);
  return one(made, &e);
}

/* make: NULL, or list(epsilon, delta, name, people, persons, for_tests, replace_one) of a new ledger. */
static SEXP R_ledger(SEXP path, SEXP make) {
  tct_error e = {0};
  if (!isNull(make)) {
    tct_ledger_options o;
    tct_ledger_options_default(&o);
    o.epsilon = number_item(make, "epsilon", NAN), o.delta = number_item(make, "delta", NAN);
    o.name = text_item(make, "name"), o.people = text_item(make, "people");
    o.persons = (int32_t)number_item(make, "persons", 0), o.for_tests = (int32_t)number_item(make, "for_tests", 0);
    if (number_item(make, "replace_one", 0) != 0) o.neighbours = TCT_REPLACE_ONE;
    if (tct_ledger_make(text_of(path), &o, &e) != TCT_OK) return failure(&e);
  }
  return one(tct_ledger_json(text_of(path), &e), &e);
}

/* The plan of so many rows; or carried out, on columns or the file at path. */
static SEXP R_study(SEXP asked, SEXP rows, SEXP path, SEXP columns, SEXP set) {
  tct_error e = {0};
  int bar = 0;
  if (!isNull(rows)) return one(tct_study_plan_json(text_of(asked), (int64_t)asReal(rows), &e), &e);
  tct_config c = config_of(set, &bar);
  table *t = isNull(columns) ? NULL : table_of(columns);
  tct_frame *frame = t ? tct_frame_take(&t->stream, &e) : NULL;
  char *made[2] = {NULL, NULL};
  if (!t || frame) made[0] = tct_study_run(text_of(asked), t ? NULL : text_of(path), frame, NULL, &c, &made[1], &e);
  tct_frame_free(frame);
  return texts(2, made, &e);
}

static SEXP R_generate(SEXP path, SEXP schema, SEXP numbers, SEXP rows, SEXP seed) {
  tct_error e = {0};
  tct_labels labels = asLogical(numbers) ? TCT_LABELS_REAL : TCT_LABELS_BINARY;
  tct_status status =
      tct_generate(text_of(path), text_of(schema), labels, (int64_t)asReal(rows), (uint64_t)asReal(seed), &e);
  return status == TCT_OK ? R_NilValue : failure(&e);
}

void R_init_tacit(DllInfo *dll) {
#define CALL(name, arguments) \
  { #name, (DL_FUNC)&name, arguments }
  static const R_CallMethodDef calls[] = {CALL(R_fit, 2),      CALL(R_summary, 3), CALL(R_features, 3),
                                          CALL(R_predict, 3),  CALL(R_write, 3),   CALL(R_text, 4),
                                          CALL(R_expect, 3),   CALL(R_study, 5),   CALL(R_ledger, 2),
                                          CALL(R_generate, 5), {NULL, NULL, 0}};
  R_registerRoutines(dll, NULL, calls, NULL, NULL);
  R_useDynamicSymbols(dll, FALSE);
}
