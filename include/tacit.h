/* tacit.h - the whole public interface: private linear models from tables of people.
 *
 *   tct_config_default -> tct_data_read | tct_data_view -> tct_plan_new -> tct_fit -> tct_model_write
 *
 * and a `_free` for each handle, which accepts NULL.  A function that fails returns NULL, or a status other than
 * TCT_OK, and fills `err`, which may be NULL: one sentence without any value of the data.  A `char *` is the caller's
 * and goes back through tct_text_free; a `const char *` is borrowed.  Where there are a path and a text, one of them is
 * NULL.  An array has its length in brackets: [rows].
 *
 * Structs whose first member is `size` may grow at their end in a later version.  Their `_default` function notes the
 * size that this program was compiled with.  The library writes no more than that, and gives what lies beyond it the
 * defaults.  A size that no version had is refused, and so is a longer struct whose end is not zero.
 *
 * Threads: distinct handles may be used from distinct threads; one handle by one thread at a time.
 * The library prints nothing, installs no signal handler and has no writable global.
 */
#ifndef TACIT_H
#define TACIT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TCT_VERSION_MAJOR 0
#define TCT_VERSION_MINOR 1
#define TCT_VERSION_PATCH 0
#define TCT_VERSION "0.1.0"

#define TCT_API __attribute__((visibility("default")))

/* ---- errors --------------------------------------------------------------------------------- */

typedef enum tct_status {
  TCT_OK = 0,
  TCT_E_RUN = 1,       /* the machine failed: disk full, cannot open, no entropy */
  TCT_E_USAGE = 2,     /* a setting is wrong or missing */
  TCT_E_DATA = 3,      /* the input data are malformed */
  TCT_E_BUDGET = 4,    /* the privacy budget does not allow it */
  TCT_E_MEMORY = 5,    /* out of memory */
  TCT_E_CANCELLED = 6, /* the caller's cancel callback said so; what was charged stays charged */
} tct_status;

/* Its layout is fixed for ever. */
typedef struct tct_error {
  tct_status status;
  int64_t line, column; /* of the input file, both from 1; 0 = not about a line, or a field */
  char file[256];       /* the input file's name as given, or "" */
  char text[768];       /* one sentence: what is wrong, then what to do */
} tct_error;

/* Whose names a sentence has for settings and calls.  Those of this header, e.g. row_norm, are in err->text; the others
 * are the command line's, --row-norm, the Python package's, data_norm=, and the R package's. */
typedef enum tct_wording { TCT_WORDS_C = 0, TCT_WORDS_CLI = 1, TCT_WORDS_PYTHON = 2, TCT_WORDS_R = 3 } tct_wording;

/* The sentence of an error in these words, cut to `size` bytes with its 0.  err: the library's, or a copy of it all. */
TCT_API void tct_error_say(const tct_error *err, tct_wording words, char *text, size_t size);

TCT_API const char *tct_version(void); /* e.g. "0.1.0" */
/* Of names[count] the one that was probably meant: one or two slips away, or `given` is a part of it.  NULL: none. */
TCT_API const char *tct_nearest(const char *given, const char *const *names, int64_t count);
TCT_API void tct_text_free(char *text);
typedef void (*tct_print_fn)(FILE *file, void *user); /* prints a file's content */
/* Writes a file as the library writes its own: whole, or not at all.  inputs: all that this run reads and writes
 * besides, ended by NULL, "-" for standard input; or NULL.  stream: 1: a terminal, /dev/null, /dev/stdout and /dev/fd/N
 * are written, too, as it comes.  print NULL: only asks, before anything is read or charged; nothing is changed.
 * TCT_E_USAGE: the target is one of the inputs, by any name or link; or a ledger, an anchor, a registry, or "-".
 * TCT_E_RUN: no regular file, or write-protected, or behind a symbolic link in a folder that others may write to. */
TCT_API tct_status tct_file_write(const char *path, const char *const *inputs, int stream, tct_print_fn print,
                                  void *user, tct_error *err);

/* ---- the matrix: a borrowed view of the caller's numbers -------------------------------------- */

typedef enum tct_layout {
  TCT_DENSE_ROWS = 0, /* entry (i,j) = values[i*stride + j] */
  TCT_DENSE_COLS = 1, /* entry (i,j) = values[j*stride + i] */
  TCT_CSR = 2,        /* row i: values[start[i]..start[i+1]), columns in index[], ascending */
  TCT_CSC = 3,        /* column j likewise, rows in index[] */
} tct_layout;

typedef enum tct_value_type { TCT_F64 = 0, TCT_F32 = 1, TCT_STORED = 2 } tct_value_type;
typedef enum tct_index_type { TCT_I32 = 0, TCT_I64 = 1 } tct_index_type;

/* Its layout is fixed for ever. */
typedef struct tct_matrix {
  int64_t rows, cols;
  int32_t layout;     /* tct_layout */
  int32_t value_type; /* tct_value_type */
  int32_t index_type; /* tct_index_type of start and index; dense: unused */
  const void *values;
  int64_t stride;          /* dense: distance in elements between rows (or columns); sparse: 0 */
  const void *start;       /* sparse: rows+1 (CSR) or cols+1 (CSC) offsets; dense: NULL */
  const void *index;       /* sparse: column (CSR) or row (CSC) of each value; dense: NULL */
  struct tct_pager *pages; /* NULL; rows on disk, which the library alone makes */
} tct_matrix;

/* ---- settings --------------------------------------------------------------------------------- */

typedef enum tct_neighbours {
  TCT_ADD_REMOVE = 0,  /* one record's contribution is removed; the number of records is public */
  TCT_REPLACE_ONE = 1, /* one record is replaced by another */
} tct_neighbours;

typedef enum tct_rows_rule {
  TCT_ROWS_CLIP = 0, /* x <- x*min(1, R/|x|) */
  TCT_ROWS_UNIT = 1, /* x <- x*R/|x|; a zero row stays zero */
} tct_rows_rule;

/* Both are called from the thread that called tct_fit, at least ten times a second.
 * fraction: in [0,1], a function of public facts only.  It never goes back, and the last call of a run that succeeds,
 * and of no other, has exactly 1.  cancel: non-zero ends the run without a model; what is charged stays charged. */
typedef void (*tct_progress_fn)(double fraction, void *user);
typedef int (*tct_cancel_fn)(void *user);

/* All settings of a training run.  Texts are borrowed until tct_plan_new returns.  epsilon, delta and the data bounds
 * have no usable default: NaN means "not given" and is refused where the solver needs it.
 * Of more than two classes a loss of two is a fit of each against the rest, all within epsilon and delta.  The model
 * then has a row of coefficients for each.  "softmax" is one fit of all.  "auto" is one of these, by a rule over public
 * facts; the plan says why. */
typedef struct tct_config {
  size_t size;
  const char *loss;        /* component spec, e.g. "logistic", or "auto"; NULL = not given */
  const char *penalty;     /* component spec, e.g. "l2:lambda=1e-4"; default "none" */
  const char *solver;      /* component spec, e.g. "dpscd:batch=500"; NULL or "auto" = chosen by rule */
  double epsilon;          /* total privacy loss spent, > 0; INFINITY = no privacy at all, said so */
  double delta;            /* in [0,1); 0: pure epsilon-differential privacy */
  int32_t neighbours;      /* tct_neighbours */
  int32_t rows_rule;       /* tct_rows_rule */
  double row_norm;         /* R > 0: every record's features (with the intercept's 1) are brought to norm <= R */
  double label_shift;      /* public shift: y' = y - label_shift, before the bound; default 0 */
  double label_bound;      /* Y > 0: labels of real-valued losses are clipped to [-Y, Y] */
  const char *scale;       /* "none" | "max-abs" | "min-max" | "standard"; "none" alone reads no data */
  const char *label_scale; /* "none" | "center"; center is unaccounted */
  int32_t intercept;       /* 1 (default): append a constant-1 feature; it counts in the record's norm.  0: none */
  int32_t threads;         /* 0 = all processors */
  int32_t has_seed;        /* 1: noise comes from `seed`; the model is marked reproducible and must stay private */
  int32_t input_part;      /* ledger: 1: the rows are a part of its table (a fold), and not compared with it */
  uint64_t seed;
  const char *ledger; /* path of a budget ledger, or NULL */
  tct_progress_fn progress;
  tct_cancel_fn cancel;
  void *user;                /* handed to both callbacks */
  const char *output;        /* where tct_model_write will write, or NULL: its room is taken before the charge */
  const char *input_changed; /* ledger: why the rows are others than at earlier runs, or NULL */
  const char *errors;        /* "none" (default) | "model" | "robust": standard errors, from the same budget */
  int64_t memory;            /* bytes that the process may take, as tct_read_options.memory */
  const char *estimate; /* for tct_data_estimate, which comes first: "bounds,missing,categories:budget_fraction=0.1" of
                         * epsilon and delta for what nobody knows; NULL = none.  tct_plan_new refuses it */
  int64_t cols;         /* tct_config_check: the features of the data; 0 = not known yet */
  int64_t classes;      /* of the label, a public number; 0 = two, or the label is a number */
} tct_config;
TCT_API void tct_config_default_sized(tct_config *config, size_t size);
static inline void tct_config_default(tct_config *o) { tct_config_default_sized(o, sizeof *o); }

/* ---- data ------------------------------------------------------------------------------------- */

typedef struct tct_data tct_data;
typedef struct tct_team tct_team;
typedef struct tct_frame tct_frame;

/* How labels are read. */
typedef enum tct_labels {
  TCT_LABELS_UNKNOWN = -1, /* a result only: there is no such loss */
  TCT_LABELS_NONE = 0,     /* no label column is wanted (prediction) */
  TCT_LABELS_BINARY = 1,   /* two values, mapped to -1 and +1 */
  TCT_LABELS_REAL = 2,     /* a number */
  TCT_LABELS_CLASSES = 3,  /* one of more than two public classes, mapped to 0, 1, 2, ... in the order of their list */
} tct_labels;

/* What a class is called: any text; the text of a number, e.g. "3" or "0.5"; "true" or "false". */
typedef enum tct_class_kind { TCT_CLASS_TEXT = 0, TCT_CLASS_NUMBER = 1, TCT_CLASS_BOOLEAN = 2 } tct_class_kind;

typedef enum tct_invalid_rule {
  TCT_INVALID_REFUSE = 0, /* a malformed record stops the read with its line number */
  TCT_INVALID_ZERO = 1,   /* a malformed record contributes nothing (all features 0, weightless) */
} tct_invalid_rule;

/* memory: bytes that the process may take; records beyond a quarter of it lie in a file without a name in the folder
 * `scratch` (NULL = $TMPDIR, else /tmp).  classes: all labels that can occur, public; a label outside the list is bad
 * data, and of two the second means +1.  max_...: what a file may ask for, checked before memory is taken; 0 = the
 * default. */
typedef struct tct_read_options {
  size_t size;
  int32_t labels;             /* tct_labels */
  int32_t invalid;            /* tct_invalid_rule */
  const char *label;          /* column name, or 1-based index as text; LIBSVM: NULL = the first token */
  const char *positive;       /* label text that means +1, or NULL: -1 and 0 -> -1, 1 -> +1 */
  const char *schema_path;    /* JSON schema file, or NULL */
  const char *schema_text;    /* JSON schema as text, or NULL; at most one of the two */
  int64_t cols;               /* LIBSVM: number of features; 0 = largest index found (unaccounted) */
  int32_t value_type;         /* tct_value_type; TCT_STORED: TCT_F32 for NumPy arrays of floats alone, else TCT_F64 */
  int32_t threads;            /* 0 = all processors */
  const char *key;            /* CSV, JSON Lines: column of the keys or persons, no feature; NULL = none */
  const char *delimiter;      /* CSV: one character between the fields, or "tab"; NULL: told by the first line */
  const char *decimal;        /* CSV: "." or ",", between a number's whole part and its fraction; NULL = "." */
  const char *const *classes; /* [classes_count], or NULL: the schema's values */
  int64_t classes_count;
  int64_t max_cols;      /* columns that the file itself may set (`cols` is the caller's own); default 2^20 */
  int64_t max_header;    /* bytes of a CSV header; default 2^24 (16 MiB) */
  int64_t max_line;      /* bytes of one line or record of text; default 2^25 (32 MiB) */
  int64_t max_expansion; /* unpacked bytes per stored byte of a compressed file, from 16 MiB on; default 250 */
  int64_t memory;        /* 0 = any */
  const char *scratch;
  int32_t multiline;    /* CSV: 1: a quoted field may hold line ends; 0: a quote ends with its line, malformed */
  int32_t reserved;     /* 0 */
  const char *format;   /* "csv", "jsonl", ...; NULL: by the first bytes (jsonl, libsvm with TCT_INVALID_ZERO: named) */
  tct_cancel_fn cancel; /* polled while a file is read, and while a pipe stalls; or NULL.  Not 0: TCT_E_CANCELLED */
  void *user;           /* of cancel */
  const char *event;    /* its column (0, 1 or `positive`): label is a follow-up time, y below 0 has no event; NULL */
  double horizon;       /* when follow-up ends for all, public; 0 = the schema's */
  const char *weights;  /* column of the records' weights, no feature; NULL = the schema's, or none */
  double weight_cap;    /* what larger weights are cut to, and all are divided by, public; 0 = the schema's */
} tct_read_options;
TCT_API void tct_read_options_default_sized(tct_read_options *options, size_t size);
static inline void tct_read_options_default(tct_read_options *o) { tct_read_options_default_sized(o, sizeof *o); }
/* Reads a table of CSV, JSON Lines, Stata, LIBSVM text or NPY, each also compressed; or an NPZ archive whose arrays are
 * X, the records, and y, their labels.  A Stata file's observations count as lines.
 * paths: files in the order of their records, or one "-" for standard input.
 * team: NULL; or the ranks (tct_team_new) that each read their share of one uncompressed file, or of as many files as
 * ranks or more.  A model does not depend on how records are shared out.  The team outlives the data.  By all ranks. */
TCT_API tct_data *tct_data_read_parts(const char *const *paths, size_t count, const tct_read_options *options,
                                      tct_team *team, tct_error *err);
static inline tct_data *tct_data_read(const char *path, const tct_read_options *options, tct_error *err) {
  return tct_data_read_parts(&path, 1, options, NULL, err);
}

/* A data frame in somebody else's memory, through the Arrow C stream interface
 * (https://arrow.apache.org/docs/format/CStreamInterface.html).  Reads the stream to its end and releases it, on every
 * path.  The frame keeps the chunks and copies nothing. */
struct ArrowArrayStream;
TCT_API tct_frame *tct_frame_take(struct ArrowArrayStream *stream, tct_error *err);
TCT_API void tct_frame_shape(const tct_frame *frame, int64_t *rows, int64_t *cols);
TCT_API const char *tct_frame_name(const tct_frame *frame, int64_t column); /* NULL: no such column */
/* As tct_data_read of a file of the same records.  Columns go by name: numbers of any width, booleans, texts,
 * dictionaries of these.  A null or NaN is missing; a number is a listed text if they are the same number, true is
 * "true", "True", "TRUE" or "1".  Without a schema every column but the label is a number as it is.  options->label: a
 * name; options->key: NULL.  Errors name the column and count records from 1.  The data do not need the frame.
 * team: NULL, or the ranks that each give a part, which may have no records, but has the columns.  The records are
 * those of rank 0, then of rank 1, and so on.  frame NULL: this rank has failed, and err, filled, says why to all. */
TCT_API tct_data *tct_data_read_frame(const tct_frame *frame, const tct_read_options *options, tct_team *team,
                                      tct_error *err);
/* Numbers the distinct values of a column in the order of their coming.  code: [rows], -1 = missing.  values: NULL, or
 * receives them as a JSON array of texts, numbers and booleans; 3 and 3.0 are one value. */
TCT_API tct_status tct_frame_codes(const tct_frame *frame, const char *name, int64_t *code, char **values,
                                   tct_error *err);
/* out: [rows] the numbers of a column, NaN = missing.  TCT_E_DATA: it holds texts. */
TCT_API tct_status tct_frame_numbers(const tct_frame *frame, const char *name, double *out, tct_error *err);
TCT_API void tct_frame_free(tct_frame *frame);
/* Borrows a matrix and its labels ([x->rows]; NULL where there are none); both must outlive the handle.  For
 * TCT_LABELS_BINARY y holds -1/+1.  names: [x->cols] of the features, or NULL: the schema's, else "x1", "x2", ...
 * schema: JSON text, or NULL.  x then holds the features as that schema makes them.  It goes into the model file, and
 * tct_config_use_schema takes the public bounds from it.  names and schema are copied. */
TCT_API tct_data *tct_data_view(const tct_matrix *x, const double *y, tct_labels labels, const char *const *names,
                                const char *schema, tct_error *err);
/* Borrows the records of `table`, which must outlive the handle, with all that it says of itself: names, schema, what
 * was left out and what was not accounted for.  y: [rows] labels in place of the table's; NULL: its own, and labels is
 * not read.  classes: [count] what the labels 0, 1, ... of TCT_LABELS_CLASSES are called, public and copied; or NULL.
 * What is done to the new handle (tct_data_weigh) does not touch the table. */
TCT_API tct_data *tct_data_relabel(const tct_data *table, const double *y, tct_labels labels,
                                   const char *const *classes, int64_t count, tct_class_kind kind, tct_error *err);
/* Weighs the records: row i's loss counts weight[i]/cap times what it counted before, weights cut to [0, cap]; before,
 * by tct_read_options.weights.  cap > 0 is public; no record then moves anything more than one without weights does.
 * weight: [rows], copied; NULL: all cap.  person: [rows] numbers in [0, rows) that say whose record a row is, or NULL.
 * With it the unit of privacy is a person, all of whose rows are in this handle, and count once together at most. */
TCT_API tct_status tct_data_weigh(tct_data *data, const double *weight, double cap, const int64_t *person,
                                  tct_error *err);
/* Of each person at most rows_per_person rows count from now on, drawn at random, and each 1/rows_per_person times what
 * it counted before.  person: as above; NULL: the table's column of keys (tct_read_options.key) names each record's,
 * compared byte by byte.  Which rows of a person are drawn depends on nobody else.  seed NULL: from the operating
 * system. */
TCT_API tct_status tct_data_weigh_persons(tct_data *data, const int64_t *person, int64_t rows_per_person,
                                          const uint64_t *seed, tct_error *err);
/* The records of this process; features after the schema, without the intercept. */
TCT_API const tct_matrix *tct_data_matrix(const tct_data *data);
static inline int64_t tct_data_rows(const tct_data *data) { return tct_data_matrix(data)->rows; }
static inline int64_t tct_data_cols(const tct_data *data) { return tct_data_matrix(data)->cols; }
TCT_API int64_t tct_data_rank_rows(const tct_data *data, int rank); /* on that rank; -1: on all together */
TCT_API const double *tct_data_labels(const tct_data *data);        /* [rows], or NULL */
TCT_API const char *tct_data_feature(const tct_data *data, int64_t column);
/* Classes in the public list; 0: they have no names.  kind: gets how the labels were read, or NULL: of classes that
 * were asked for TCT_LABELS_BINARY, if the list has two, or a positive value is named. */
TCT_API int64_t tct_data_classes(const tct_data *data, tct_labels *kind);
/* Name of class k.  NULL: there is no such class, or it is all that is not the positive one. */
TCT_API const char *tct_data_class(const tct_data *data, int64_t k);
/* The records' keys (tct_read_options.key) in order, each text ended by a 0 byte; NULL: none were asked for. */
TCT_API const char *tct_data_keys(const tct_data *data);
TCT_API void tct_data_free(tct_data *data);
/* Estimates the bounds and lists of categories that nobody knows, by noisy counts, and pays for them out of config's
 * budget.  A ledger is charged with the whole before anything is drawn.  Open are the schema's columns with "estimate":
 * true, or all columns without a schema; and the label, where it is a number without bounds.  The table is then encoded
 * by what was found, which may change its number of columns.  *config becomes the one fit's that may follow, whose
 * model claims the whole: the rest of the budget, no estimate and no ledger.  Go on with tct_config_use_schema.  data:
 * named columns in memory, with labels, weighed before.  On failure data and config are as they were. */
TCT_API tct_status tct_data_estimate(tct_data *data, tct_config *config, tct_error *err);
/* What an estimate of so many columns of numbers and `lists` of categories promises, without data.  rest: gets the
 * fit's budget, or NULL.  JSON: asked, releases, events, epsilon, delta, accountant, memory_bytes (of the lists). */
TCT_API char *tct_estimate_json(const tct_config *config, int64_t rows, int64_t columns, int64_t lists,
                                tct_config *rest, tct_error *err);
/* Drafts a schema (JSON text) from a CSV or Stata file, or from CSV text.  NOT private: its values are
 * the data's own and must be replaced by public knowledge. */
TCT_API char *tct_schema_draft_nonprivate(const char *path, const char *csv, const char *label, tct_error *err);
/* Looks at a schema as a reviewer would.  JSON: ok, findings[{column, level, text}].  level "must": as it stands,
 * training with it is not what its epsilon says, and ok is false; "look": bounds as if from data, missing rules. */
TCT_API char *tct_schema_check_json(const char *path, const char *text, tct_error *err);

/* ---- ranks: one run over several processes, each with its part of the rows ---------------------- */

/* The processes of this run: alone, or the ranks that mpirun started (Open MPI).  At most one at a time. */
TCT_API tct_team *tct_team_new(tct_error *err);

/* How a call of a transport ended.  Anything but DONE ends the run on this rank. */
typedef enum tct_transport_outcome {
  TCT_TRANSPORT_DONE = 0,
  TCT_TRANSPORT_FAILED = 1,  /* a rank is gone, or what carries the bytes has failed */
  TCT_TRANSPORT_LATE = 2,    /* the wait was given up: it took too long, or was cancelled */
  TCT_TRANSPORT_DAMAGED = 3, /* what came is not what was sent */
} tct_transport_outcome;

/* How long a call may wait (INFINITY: as long as it takes), and who is polled meanwhile, or NULL. */
typedef struct tct_patience {
  size_t size; /* of the library's tct_patience */
  tct_cancel_fn cancel;
  void *user;
  double seconds;
} tct_patience;

/* What carries sums between ranks: an engine that a program brings along.  What passes here is not private: keep it
 * among the ranks, which are one trusted curator.  All make the same calls in the same order, from the thread that
 * called the library.  Every call returns a tct_transport_outcome; after anything but DONE only close follows.  The
 * library notices a frame that was lost or mixed up; damage inside a frame is the transport's own to notice. */
typedef struct tct_transport {
  size_t size;         /* sizeof(tct_transport) */
  int32_t rank, ranks; /* this one, from 0; all of them, 2 to 4096 */
  void *state;         /* handed to every call */
  /* Over the ranks, on all of them: *x <- the smallest; x[n] <- its sum, in any order of addition.  The same on
   * rank 0 alone (NULL: sum is used); x[n] <- the largest. */
  int (*smallest)(void *state, int32_t *x, const tct_patience *patience);
  int (*sum)(void *state, double *x, int64_t n, const tct_patience *patience);
  int (*sum_first)(void *state, double *x, int64_t n, const tct_patience *patience);
  int (*largest)(void *state, double *x, int64_t n, const tct_patience *patience);
  /* bytes[size] of rank `from` go to all; all[ranks][size] <- everybody's own[size], in the order of ranks. */
  int (*broadcast)(void *state, void *bytes, int64_t size, int32_t from, const tct_patience *patience);
  int (*gather)(void *state, const void *own, void *all, int64_t size, const tct_patience *patience);
  /* Exactly size bytes to or from one rank; the others take no part.  NULL: no party protocol over this transport. */
  int (*send)(void *state, int32_t to, const void *bytes, int64_t size, const tct_patience *patience);
  int (*receive)(void *state, int32_t from, void *bytes, int64_t size, const tct_patience *patience);
  /* Once, last.  clean 0: this rank has failed, and the others must not wait for it.  NULL: nothing to close. */
  void (*close)(void *state, int32_t clean);
} tct_transport;

/* The ranks that a transport connects; it is copied.  Called by all ranks.  On failure close is not called. */
TCT_API tct_team *tct_team_over(const tct_transport *transport, tct_error *err);

/* Ranks that meet over TCP: rank 0 listens, the others connect to it.  Every connection is TLS 1.3 with a pre-shared
 * key from the secret. */
typedef struct tct_sockets {
  size_t size;
  const char *address;     /* HOST:PORT where rank 0 listens, and the others connect to */
  const char *secret_path; /* file of at least 32 bytes that only the ranks have, or NULL */
  const char *secret_text; /* the secret itself, at least 32 bytes; exactly one of the two */
  int32_t rank, ranks;     /* this one, from 0; all of them, 2 to 1024 */
  double timeout;          /* seconds until all must have come, and that a host may be unreachable; default 60 */
  int32_t listener;        /* rank 0: a socket that listens already, taken over in any case; -1: none */
  tct_cancel_fn cancel;    /* polled while the others are awaited, or NULL */
  void *user;              /* handed to cancel */
} tct_sockets;
TCT_API void tct_sockets_default_sized(tct_sockets *options, size_t size);
static inline void tct_sockets_default(tct_sockets *o) { tct_sockets_default_sized(o, sizeof *o); }
/* Waits until all have come.  Several teams can be in one process, in a thread each. */
TCT_API tct_team *tct_team_sockets(const tct_sockets *options, tct_error *err);
/* This rank, from 0.  ranks: gets how many there are, or NULL. */
TCT_API int tct_team_rank(const tct_team *team, int *ranks);
/* Called by all ranks with what each has come to: all get TCT_OK, or the error of the lowest rank that failed.  Then,
 * have all been given the same settings?  names[count]: for the sentence, the same list on all ranks; values: as text,
 * NULL where not given.  All get TCT_OK, or TCT_E_USAGE that names the first that differs and shows no value.
 * tct_data_read_parts and tct_fit do this by themselves for what they are given. */
TCT_API tct_status tct_team_compare(tct_team *team, tct_status status, const char *const *names,
                                    const char *const *values, size_t count, tct_error *err);
static inline tct_status tct_team_agree(tct_team *team, tct_status status, tct_error *err) {
  return tct_team_compare(team, status, NULL, NULL, 0, err);
}
/* Waits for the other ranks to come here too. */
TCT_API void tct_team_free(tct_team *team);

/* ---- parties: columns of the same people in several hands --------------------------------------- */

typedef struct tct_model tct_model;

/* How a server and its parties meet: over TLS 1.3 with certificates (PEM) on both sides, signed by `authority`, the
 * server's with its host.  Or as ranks of mpirun, rank 0 the server. */
typedef struct tct_session {
  size_t size;
  const char *address;     /* HOST:PORT to listen at, or to connect to; NULL: ranks */
  const char *certificate; /* own */
  const char *private_key;
  const char *authority;
  const char *secret;     /* party: file of at least 32 bytes that all parties have and the server has not */
  const char *transcript; /* party: file that receives each frame that leaves, or NULL */
  double timeout;         /* seconds that a peer may take for one message, and a reservation lasts; default 600 */
  int32_t parties;        /* server: how many; ranks: 0 or one less than ranks */
  tct_team *team;         /* ranks, or NULL */
  const char *listen;     /* party: HOST:PORT where other parties come to, for solvers that connect them; or NULL */
  const char *announce;   /* party: HOST:PORT as the others reach it; NULL: that of listen */
  const char *revoked;    /* PEM file: the authority's list of revoked certificates, still valid, or NULL */
} tct_session;
TCT_API void tct_session_default_sized(tct_session *options, size_t size);
static inline void tct_session_default(tct_session *o) { tct_session_default_sized(o, sizeof *o); }
/* Waits for the parties and trains with them; sees releases only.  config->solver: dpfw_parties, or gram_parties, for
 * which parties connect with each other too.  No ledger: every party keeps its own.  No intercept: no party owns it.
 * With config->output the model is written before the parties are sent it. */
TCT_API tct_model *tct_serve(const tct_config *config, const tct_session *options, tct_error *err);
/* Takes part with the columns of `data` and its labels, which every party holds (gram_parties:labels=one: one party).
 * Of config it takes the loss as the server has it, epsilon and delta (the most that is agreed to), neighbours, ledger,
 * seed, threads and callbacks.  solver: what was agreed on, NULL dpfw_parties.  All else comes from the server, and is
 * planned and checked here.  The ledger is charged once all parties have reserved, before the first release.  The model
 * is the server's, with the ledger entry of this party. */
TCT_API tct_model *tct_join(const tct_config *config, const tct_data *data, const tct_session *options, tct_error *err);

/* ---- plan: what will be spent, from public facts alone ---------------------------------------- */

typedef struct tct_plan tct_plan;
/* Fills what is unset from public bounds, those of the data's schema or, before there are data, of the schema's file
 * (the other NULL).  row_norm where it is NaN; label_bound and label_shift where the one is NaN and the other 0.  Every
 * number and every category adds at most 1 to |x|^2, and so does the intercept.  Without a schema it changes nothing.
 * cols: gets the number of features, for tct_plan_new, or NULL. */
TCT_API tct_status tct_config_use_schema(tct_config *config, const tct_data *data, const char *path, int64_t *cols,
                                         tct_error *err);
TCT_API tct_plan *tct_plan_new(const tct_config *config, int64_t rows, int64_t cols, tct_error *err);
/* Finds what is wrong with settings whatever the data: call it before a long read.  bounds_follow: 1 where row_norm and
 * the label bound, if NaN, are to come from a schema.  What depends on the shape, above all whether the budget is
 * enough, tct_plan_new finds.  TCT_E_MEMORY: so many config.cols need more memory than is free. */
TCT_API tct_status tct_config_check(const tct_config *config, int bounds_follow, tct_error *err);
/* How the labels of this configuration's loss are read; TCT_LABELS_UNKNOWN if there is no such loss. */
TCT_API tct_labels tct_config_labels(const tct_config *config);
/* As a JSON object.
 *   what:   solver, loss, penalty, rows, columns; why, loss_why (where a rule chose the solver, or the loss)
 *   bounds: row_norm, label_bound (null: none), intercept, weight_bound.  No released weight is larger, but with a
 *           chance below 1e-30 (null: not known).
 *   cost:   private, epsilon, delta, neighbours, accountant, noise_multiplier, events; fits, as the model file has them
 *   each:   models, the fits of several classes; each{epsilon, delta} of one
 *   effort: memory_bytes; max_passes over the data, where the data decide how many there are
 *   words:  note (what to know before); warnings[{name, text, source, weakens}]
 * weakens: the promise says little; else the model is likely of no use (docs/guide/choosing-epsilon.md). */
TCT_API char *tct_plan_json(const tct_plan *plan, tct_error *err);
/* The errors to expect of each weight: medians over fits of an invented table of `rows` records of read's schema.
 * asked: NULL, or JSON.  "effect" {weight: number}, on the columns' scale.  "assume" {number: [mean, deviation],
 * category: [shares], both then R2 by the others or not, label: share, deviation, or of counts mean and deviation}.
 * "tries".  Any sums: "sums" [][cols + 1], "weights" [cols + 1] for effects.  JSON: tries, weights[{name, noise_part,
 * standard_error, standard_error_most (unsaid R2 0.5), width of 0.95, withheld, detectable by 0.8, effect, power}]. */
TCT_API char *tct_expect_json(const tct_config *config, const tct_read_options *read, int64_t rows, const char *asked,
                              tct_error *err);
TCT_API void tct_plan_free(tct_plan *plan);

/* ---- model ------------------------------------------------------------------------------------ */

/* Trains.  With a ledger the promise is written to it, durably, before the first noise is drawn. */
TCT_API tct_model *tct_fit(const tct_plan *plan, const tct_data *data, tct_error *err);
/* What to tell whoever ran the training, in one sentence, or NULL: no part of the model. */
TCT_API const char *tct_model_warning(const tct_model *model);
/* models: rows of coefficients, 1 or one for each class; cols: features after the schema.  NULL: not asked for. */
TCT_API void tct_model_shape(const tct_model *model, int64_t *models, int64_t *cols);
TCT_API const double *tct_model_coefficients(const tct_model *model); /* [models][cols] */
TCT_API const double *tct_model_intercepts(const tct_model *model);   /* [models]; 0 where it has none */
/* Named classes: 0 where they have no names, else 2 (negative, positive) of one row, or one for each row.  kind: what
 * the names are, or NULL. */
TCT_API int64_t tct_model_classes(const tct_model *model, tct_class_kind *kind);
/* NULL: there is no such class, or it is all that is not the positive one (class 0 of two). */
TCT_API const char *tct_model_class(const tct_model *model, int64_t k);
TCT_API char *tct_model_json(const tct_model *model, tct_error *err); /* the model file's text */
/* As tct_file_write.  TCT_E_USAGE: also over the files that the model was trained from. */
TCT_API tct_status tct_model_write(const tct_model *model, const char *path, tct_error *err);
/* stage: of a study's file, whose model, under the claim of the whole; NULL: its main, or the one that a file has. */
TCT_API tct_model *tct_model_read(const char *path, const char *text, const char *stage, tct_error *err);
TCT_API const char *tct_model_schema(const tct_model *model); /* of the training, as JSON text; NULL: none */
TCT_API void tct_model_free(tct_model *model);
/* out[rows][models] <- x.w + intercept, x transformed: of numbers the label or its log, up to the margin of counts. */
TCT_API tct_status tct_predict(const tct_model *model, const tct_data *data, double *out, tct_error *err);
/* The class that one record's margins, [models], predict: the first of the largest; of one row 1 above 0, else 0. */
TCT_API int32_t tct_class_of(const double *margin, int64_t models);
/* out[rows] <- the chance of an event up to the time `at`, above 0 and within the horizon; loss cox. */
TCT_API tct_status tct_predict_risk(const tct_model *model, const tct_data *data, double at, double *out,
                                    tct_error *err);
/* lower[rows], upper[rows] <- where the population's own prediction lies with the confidence `level` in (0, 1), each
 * by itself; NaN: of a weight without an interval.  TCT_E_USAGE: the model was trained without standard errors. */
TCT_API tct_status tct_predict_interval(const tct_model *model, const tct_data *data, double level, double *lower,
                                        double *upper, tct_error *err);
/* The weights on the original scale of the columns: the bounds of the schema are undone.  A model that was trained with
 * `errors` has standard errors, tests, and intervals of confidence `level` in (0, 1).  covariance: 1 adds the
 * covariance matrices.  sums: NULL; or [count][cols + 1] sums of the model's coefficients and its intercept, which the
 * answer is about in place of the weights.  JSON as docs/reference/format/summary.schema.json has it. */
TCT_API char *tct_summary_json(const tct_model *model, double level, int covariance, const double *sums, int64_t count,
                               tct_error *err);
/* Exact scores, NOT private.  JSON: rows, mean_loss, objective, accuracy, auc, mse, private:false. */
TCT_API char *tct_evaluate_json_nonprivate(const tct_model *model, const tct_data *data, tct_error *err);
/* Scores that may be published, from one release with Gaussian noise (src/score/score.h has the proof).  budget: its
 * epsilon, delta in (0, 1), neighbours, ledger, input_changed, input_part, seed and threads are taken.  The ledger is
 * charged before the noise is drawn.  The number of records is public.  Weighed data give weighed means; of persons,
 * the figures protect a person.  JSON: rows, level, figures {value, standard_error, noise_error, lower, upper, note},
 * epsilon, delta, neighbours, unit, accountant, events, model (its digest), reproducible, unaccounted, private:true.
 * docs/guide/scores.md has the figures.  standard_error: of the population's figure; noise_error: of this table's. */
TCT_API char *tct_evaluate_json(const tct_model *model, const tct_data *data, const tct_config *budget, tct_error *err);
/* What a verification came to, and its word in JSON. */
typedef enum tct_verdict {
  TCT_VERDICT_REFUSED = 0,      /* "failed": a check failed */
  TCT_VERDICT_VERIFIED = 1,     /* "verified": the claim holds for a run that the file's settings describe */
  TCT_VERDICT_NO_PRIVACY = 2,   /* "none": the file is sound and claims no privacy at all */
  TCT_VERDICT_REPRODUCIBLE = 3, /* "reproducible": sound, but the noise came from a seed: it protects nobody */
  TCT_VERDICT_FOR_TESTS = 4,    /* "for_tests": sound, but charged to a ledger that takes such noise */
  TCT_VERDICT_IN_PART = 5,      /* "in_part": the releases cost the claim; what was asked was not planned again */
} tct_verdict;
/* Recomputes the claim of a model file.  ledger: path.  policy: limits as JSON (docs/guide/policy.md).  audit: of
 * tct_audit_json for the same plan, if the policy asks.  verdict: gets it.  Each of these may be NULL.
 * JSON: verdict, ok (no check that was made failed), form, replanned, checks[{name, ok, text}], epsilon, ..., warnings,
 * policy{name, ok, rules[{rule, ok, text}]}.  A check that failed gives the text too, and err has the first
 * (TCT_E_DATA). */
TCT_API char *tct_verify_json(const char *path, const char *text, const char *ledger, const char *policy,
                              const char *audit, tct_verdict *verdict, tct_error *err);
/* What the model file cannot know and the page's readers ask first, in UTF-8; NULL: not said. */
typedef struct tct_page_options {
  size_t size;
  const char *title;   /* stands over the page */
  const char *purpose; /* why the model was trained, and what it is for */
  const char *contact; /* whom a reader may ask */
  const char *audit;   /* of tct_audit_json for the model's plan, told on the page; of another plan: TCT_E_USAGE */
  int32_t registry;    /* 1: not the page, but the entry in a registry of deployments (docs/guide/policy.md), as JSON */
  const char *scores;  /* of tct_evaluate_json for this model, told on the page; another answer: TCT_E_USAGE */
  const char *policy, *ledger; /* limits and a ledger that it is held against, as by tct_verify_json; told likewise */
} tct_page_options;
TCT_API void tct_page_options_default_sized(tct_page_options *options, size_t size);
static inline void tct_page_options_default(tct_page_options *o) { tct_page_options_default_sized(o, sizeof *o); }
/* The page that a model is published with: one HTML file for people, from the model file alone.  The same model gives
 * the same bytes.  options: NULL, or what is said besides. */
TCT_API char *tct_report_page(const tct_model *model, const tct_page_options *options, tct_error *err);
TCT_API tct_status tct_report_page_write(const tct_model *model, const tct_page_options *options, const char *path,
                                         tct_error *err);
TCT_API tct_status tct_export_liblinear(const tct_model *model, const char *path, tct_error *err);

/* ---- studies: several analyses of the same people, planned as one ---------------------------------- */

/* asked: a list of stages with one budget, as JSON (docs/guide/study.md has its words).  A schema's file that it names
 * is read.  What every stage may spend of so many records, without data.  JSON: epsilon, delta, neighbours, accountant,
 * unit, rows, stages[{name, kind, part, rows, share{mu, epsilon, delta}, counts, events}]. */
TCT_API char *tct_study_plan_json(const char *asked, int64_t rows, tct_error *err);
/* Prepares every stage, charges the ledger once, and runs them in order.  path or frame, the other NULL: read once for
 * each outcome, and once more by stages that wait for an estimate.  read: NULL, or options without labels, key and
 * schema, which are the plan's to say.  config: its seed, ledger, input_changed, input_part, output, threads and
 * callbacks are taken.  What a stage would refuse is refused before the charge; one whose noise led out of the range of
 * numbers ends, and the others go on.  Returns the file's text, which is also written to config->output; of one fit
 * alone it is a model file.  warning: NULL, or gets a text of the caller's for whoever runs this, or NULL. */
TCT_API char *tct_study_run(const char *asked, const char *path, const tct_frame *frame, const tct_read_options *read,
                            const tct_config *config, char **warning, tct_error *err);
/* A linear model from a stage of moments (NULL: the only one); asked: JSON in the words of docs/guide/moments.md. */
TCT_API char *tct_lm_json(const char *path, const char *text, const char *stage, const char *asked, tct_error *err);

/* ---- a search: several fits on the same people, within one budget --------------------------------- */

typedef struct tct_composition tct_composition;

/* tries above 0: a geometric number of tries, each a candidate drawn uniformly, a fit and a noisy score of it: the best
 * is kept.  How many there were stays secret.  0: a fit of every candidate, and one choice by the exponential
 * mechanism. */
typedef struct tct_search {
  size_t size;     /* sizeof(tct_search), set by tct_search_default */
  int64_t tries;   /* on average, in [1, 10000]; or 0; 50 */
  double share;    /* in (0, 1): of a person's try for its score, of the whole for a choice; NAN: 0.3, or 0.1 */
  double held;     /* in (0, 1): of the records, for scores; 0.2 */
  int32_t persons; /* 1: the table's weights are those of persons (tct_data_weigh) */
} tct_search;
TCT_API void tct_search_default_sized(tct_search *search, size_t size);
static inline void tct_search_default(tct_search *search) { tct_search_default_sized(search, sizeof *search); }
/* How many of `rows` records a search trains on where `held` in (0, 1) of them are kept for scores; -1: that cannot be.
 * Which ones is drawn, and depends on no record. */
TCT_API int64_t tct_search_train_rows(int64_t rows, double held);
/* The plan of a search among candidates[count] on a table of `rows` records.  epsilon, delta and neighbours are the
 * whole's, the same in all candidates.  What their losses leave open is settled by the whole's epsilon.  With random
 * tries the composition's epsilon is what is proved for the whole, at most the candidates'. */
TCT_API tct_composition *tct_search_plan(const tct_config *const *candidates, size_t count, const tct_search *search,
                                         int64_t rows, int64_t cols, tct_error *err);
/* Runs a search on one table.  config: its seed, ledger, input_changed, input_part, output, threads and callbacks are
 * taken.  Weights, and those of persons, go with their records to fits and scores.  The ledger is charged once with the
 * whole, before the first fit.  Returns the chosen candidate's model, whose certificate is of the whole.  candidate:
 * gets its number, or NULL.
 * Random tries: progress is not called, and cancel by the clock alone.  The model, the ledger and the errors do not
 * tell how many tries there were; time does.  A candidate that is drawn twice runs twice; a try without a finite model
 * is the worst.  score: gets the best one's noisy score, or NULL: accuracy, or the mean squared error with its sign
 * turned; NAN where the noise hides it.  Being the best of many it is too high.
 * Every candidate once: its score is how many records it predicts rightly, or follows from its squared errors within
 * the labels' public bound.  It is exact and is not released: *score gets NAN. */
TCT_API tct_model *tct_fit_search(const tct_composition *composition, const tct_data *data, const tct_config *config,
                                  int64_t *candidate, double *score, tct_error *err);
/* JSON object: private, models, train_rows, scored_rows, epsilon, delta, neighbours, accountant, events, fits,
 * each{epsilon, delta} of one candidate, choice (event), score{epsilon, delta} (random tries only). */
TCT_API char *tct_composition_json(const tct_composition *composition, tct_error *err);
/* The plan that each model of a candidate is trained by; borrowed, NULL if there is no such candidate. */
TCT_API const tct_plan *tct_composition_plan(const tct_composition *composition, int64_t part);
TCT_API void tct_composition_free(tct_composition *composition);

/* What is to be added to a model's file.  Everything but size may be 0 or NULL. */
typedef struct tct_amendment {
  size_t size;                    /* sizeof(tct_amendment), set by tct_amendment_default */
  const char *const *features;    /* [cols] names */
  const char *label;              /* the label column's name */
  const char *const *unaccounted; /* facts that no event pays for, ended by NULL; known ones are left out */
  const double *scale_factor;     /* [cols]: the records were scaled, x' = (x - shift)*factor, by public bounds */
  const double *scale_shift;      /* [cols] */
  const char *const *classes;     /* [classes_count] public names: negative and positive of one row, else one a row */
  int64_t classes_count;
  int32_t class_kind; /* tct_class_kind */
} tct_amendment;
TCT_API void tct_amendment_default_sized(tct_amendment *amendment, size_t size);
static inline void tct_amendment_default(tct_amendment *o) { tct_amendment_default_sized(o, sizeof *o); }
/* On failure the model is as good as none: free it. */
TCT_API tct_status tct_model_amend(tct_model *model, const tct_amendment *amendment, tct_error *err);

/* ---- accounting ------------------------------------------------------------------------------- */

/* What `count` events cost together: the smallest epsilon at delta in (0, 1) that an accountant proves.  events: specs,
 * e.g. "sampled_gaussian:noise=1.1,rate=0.01,count=10000".  JSON: epsilon, epsilon_lower, delta, accountant,
 * accountants{name:value}, neighbours, events. */
TCT_API char *tct_account_json(const char *const *events, size_t count, tct_neighbours neighbours, double delta,
                               tct_error *err);
/* Finds the one number that exactly one of the events lacks: noise, rate, epsilon or rho; a count is asked for as
 * count=?.  All together then cost at most epsilon at delta.  JSON: as above, and that number under its key. */
TCT_API char *tct_calibrate_json(const char *const *events, size_t count, tct_neighbours neighbours, double epsilon,
                                 double delta, tct_error *err);
/* The cost of a list as a curve: epsilon at `delta` after the first steps of the list, in its order.  delta NAN:
 * epsilon of the whole list at deltas from 1e-12 to 0.1.  points: at most this many, 2 to 10000.  JSON: against
 * ("steps" or "delta"), neighbours, delta (steps only), points[{delta | steps, epsilon, epsilon_lower, accountant}];
 * null = infinite. */
TCT_API char *tct_account_curve_json(const char *const *events, size_t count, tct_neighbours neighbours, double delta,
                                     int points, tct_error *err);
/* An array of {kind, name, summary, options[]}; kind and name filter, NULL = all.  A name may stand for a kind. */
TCT_API char *tct_components_json(const char *kind, const char *name, tct_error *err);

/* ---- the budget ledger of a data set ------------------------------------------------------------ */

/* All settings of a new ledger: a budget of (epsilon, delta) for all runs on one data set together. */
typedef struct tct_ledger_options {
  size_t size;
  const char *name;   /* words for the data set, or NULL */
  const char *filter; /* what permits a run, fixed for ever.  "mixed" or NULL counts mu^2 of Gaussian events beside
                       * epsilon and delta of others; "sum" adds up the runs' epsilon and delta; "zcdp", "gdp" and
                       * "rdp" are for ledgers all of whose events have such a cost */
  double epsilon, delta;
  int32_t neighbours; /* tct_neighbours */
  int32_t persons;    /* 1: the unit is a person; a run whose unit is a record is refused, and the reverse */
  int32_t for_tests;  /* 1: runs with reproducible noise are taken; the ledger and its models are marked */
  const char *people; /* whose budget this is, e.g. "patients of ward 3, 2024", or NULL */
  const char *anchor; /* a new file elsewhere, kept in step with the ledger, or NULL */
} tct_ledger_options;
TCT_API void tct_ledger_options_default_sized(tct_ledger_options *options, size_t size);
static inline void tct_ledger_options_default(tct_ledger_options *o) { tct_ledger_options_default_sized(o, sizeof *o); }
/* Refuses a file that holds anything.  On failure nothing is left behind. */
TCT_API tct_status tct_ledger_make(const char *path, const tct_ledger_options *options, tct_error *err);
/* From now on the newest row of the ledger is named in a file elsewhere, too; one that was named before is let go.  A
 * ledger without the row that its anchor names was rolled back, and is charged no more.  lost: NULL; or, where the
 * anchor of before is gone, how it was lost, in one line that becomes a row of the chain.  Whether the ledger was
 * rolled back until then, nobody can tell any more.  TCT_E_USAGE: it is there, and agrees. */
TCT_API tct_status tct_ledger_anchor(const char *path, const char *anchor, const char *lost, tct_error *err);
/* The ledger as docs/reference/format/ledger.schema.json has it.  TCT_E_DATA: it was edited or is damaged. */
TCT_API char *tct_ledger_json(const char *path, tct_error *err);
/* Was the ledger edited, cut short, or rolled back to before one of these models' runs, or one of these anchors?  JSON:
 * verdict, ok, checks[{name, ok, text}], head, runs.  verdict: "sound", "damaged", or "contradicted" by a model, an
 * anchor or its budget.  A check that failed gives the text too, and err says it (TCT_E_DATA). */
TCT_API char *tct_ledger_check_json(const char *path, const char *const *models, size_t count, tct_error *err);

/* All that a ledger heeds of a charge. */
typedef struct tct_charge {
  size_t size;
  double epsilon, delta;          /* epsilon NaN: what the events cost at delta */
  int32_t neighbours;             /* tct_neighbours */
  int32_t persons;                /* 1: the unit is a person */
  int32_t seeded;                 /* 1: the noise can be reproduced */
  int32_t input_part;             /* as in tct_config */
  const char *what;               /* words for the run, or NULL */
  const char *input_changed;      /* as in tct_config */
  const char *const *unaccounted; /* at most 8 facts that no event pays for, ended by NULL; or NULL */
  const tct_data *data;           /* the rows that will be used, or NULL: they are not compared */
  const char *plan; /* of tct_composition_json or tct_plan_json: a model file of this run says it too; or NULL */
} tct_charge;
TCT_API void tct_charge_default_sized(tct_charge *charge, size_t size);
static inline void tct_charge_default(tct_charge *o) { tct_charge_default_sized(o, sizeof *o); }
/* Charges a list of events, for mechanisms that run elsewhere: call it before the first noise is drawn.  JSON: run,
 * head, epsilon, delta, neighbours, and a warning where the anchor could not follow; NULL with TCT_E_BUDGET when the
 * ledger refuses.  Nothing takes a charge back. */
TCT_API char *tct_ledger_charge(const char *path, const char *const *events, size_t count, const tct_charge *charge,
                                tct_error *err);

/* ---- audit, and invented records ---------------------------------------------------------------- */

/* Attacks the promise of a plan on tables that it invents (docs/guide/audit.md has the JSON).  asked: of a study, whose
 * config and cols are not used; else NULL.  rows, cols: the public shape.  seconds: of the processor, in (0, 1e6).
 * seed: of the invented tables.  config's seed, ledger, output and callbacks are not used.  A library that is not built
 * for audit takes no study, and leaves sensitivity and white_box null. */
TCT_API char *tct_audit_json(const tct_config *config, const char *asked, int64_t rows, int64_t cols, double seconds,
                             uint64_t seed, tct_error *err);
/* Writes `rows` records of an invented population (CSV, mixed types) to path, and its public schema to schema_path
 * (NULL = none).  labels: TCT_LABELS_BINARY or TCT_LABELS_REAL. */
TCT_API tct_status tct_generate(const char *path, const char *schema_path, tct_labels labels, int64_t rows,
                                uint64_t seed, tct_error *err);

#ifdef __cplusplus
}
#endif
#endif
