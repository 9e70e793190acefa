/* cli.h - what the verbs share: settings, the option tables, messages, output files. */
#ifndef TCT_CLI_H
#define TCT_CLI_H
#include "tacit.h"

#include <jansson.h>
#include <stdio.h>

enum {
  CLI_OPTIONS = 64,    /* more than any verb has */
  CLI_SENTENCE = 1200, /* bytes of a message */
};

/* ---- settings: every verb fills the part that it has options for ---------------------------- */

typedef struct cli_args {
  tct_config config;
  tct_read_options read;
  tct_session session;                              /* serve, party */
  tct_sockets sockets;                              /* train: ranks that meet */
  int64_t rank, ranks;                              /* train; -1 and 0 = not given */
  int64_t parties;                                  /* serve */
  const char *neighbours, *rows, *invalid;          /* choices as text; NULL = not given */
  const char *shape;                                /* "N,P" */
  const char *classes;                              /* --classes, as given */
  int64_t rows_per_person;                          /* train, search, evaluate; 0 = not given */
  const char **class_list;                          /* what read.classes points to, or NULL; owned */
  char *class_text;                                 /* its texts, or NULL where the model has them; owned */
  const char *output;                               /* -o; NULL = not given */
  const char *report;                               /* train, search: the page's file */
  const char *audit, *policy, *registry, *scores;   /* report, verify: files */
  const char *kind;                                 /* generate */
  const char *values;                               /* predict: label | margin | probability */
  const char *schema_output;                        /* generate */
  const char *name, *filter;                        /* ledger */
  const char *unit, *people, *anchor, *anchor_lost; /* ledger */
  const char *curve, *against;                      /* account */
  const char *candidates;                           /* search: file of settings */
  const char *selection;                            /* search: random | all */
  const char *plan, *stage;                         /* study: file of stages; of a study's file: which one */
  const char *features, *without, *ridge;           /* moments, describe, lm */
  const char *beside, *beside_label, *errors;       /* lm; moments */
  const char *cross;                                /* describe */
  int64_t best;                                     /* lm; 0 = not given */
  const char *id;                                   /* predict: column whose texts stand before the predictions */
  double seconds;                                   /* audit */
  double level;                                     /* summary, predict: of an interval; NAN = not given */
  double at;                                        /* predict: a time of a risk; NAN = not given */
  int64_t generate_rows, threads;
  tct_search search;
  tct_page_options page;       /* report, train */
  int64_t records;             /* train, audit; 0 = not given */
  const char *effect, *assume; /* train: what errors to expect */
  const char *completion;      /* help: of which shell */
  int manual;                  /* help */
  int header, json, dry_run, f32, liblinear, has_seed, help, init, check, for_tests, covariance, ratios;
  int html, csv, this_table;                                    /* describe */
  int (*show)(const struct cli_args *args, const json_t *root); /* study: how the file is printed; NULL: its stages */
  char **operand;                                               /* borrowed from argv */
  int operands;
  const struct cli_option *given[CLI_OPTIONS]; /* those with a value, in their order; given_count of them */
  int given_count;
} cli_args;

typedef enum cli_kind {
  CLI_FLAG,   /* int <- 1 */
  CLI_OFF,    /* int <- 0 */
  CLI_TEXT,   /* const char * */
  CLI_CHOICE, /* const char *, one of value_name's a|b|c */
  CLI_REAL,   /* double; "inf" is allowed */
  CLI_COUNT,  /* int64_t >= 0; 1e6 is allowed */
  CLI_SIZE,   /* int64_t >= 1 */
  CLI_BYTES,  /* int64_t >= 1; K, M, G and T at the end are powers of 1024 */
  CLI_SEED,   /* uint64_t in config.seed, and has_seed */
  /* const char *, the name of a file; all files of a run are told apart before it begins (outputs.c) */
  CLI_IN,         /* that it reads, or a ledger that it adds to */
  CLI_OUT,        /* that it writes; never standard output */
  CLI_OUT_LAST,   /* the same; or -: standard output, when all has succeeded */
  CLI_OUT_STREAM, /* the same; or -, a terminal, a descriptor: as it comes */
} cli_kind;

/* One option.  A table ends with name NULL. */
typedef struct cli_option {
  const char *name; /* "--label"; for a lone letter "-o" */
  cli_kind kind;
  size_t at;              /* offset in cli_args */
  const char *value_name; /* shown in the help; CLI_CHOICE: the choices */
  const char *help;       /* one phrase or more, with unit; lines are wrapped */
  const char *fallback;   /* what holds without it, in words; "" where that is a matter of course */
  const char *example;    /* a value that it takes; NULL for one without a value */
} cli_option;

enum { CLI_GROUPS = 10 };

typedef struct cli_verb {
  const char *name;
  const char *operands; /* as in the usage line */
  const char *summary;
  const char *details; /* paragraphs below the options */
  int min, max;        /* number of operands */
  const cli_option *options[CLI_GROUPS];
  int (*run)(cli_args *args); /* returns the exit code */
  int helps; /* run prints the help and checks outputs itself: a rank that left would let the others wait */
  int words; /* the operands are no files */
} cli_verb;

#define CLI_VERB(name) extern const cli_verb cli_##name;
#include "list.def"
#undef CLI_VERB

extern const cli_option cli_fit_options[];      /* of train and search: --loss to -o */
extern const cli_option cli_fit_more_options[]; /* of train and search: --rows-per-person --report */
extern const cli_option cli_train_options[];    /* of train alone */
extern const cli_option cli_stage_options[];    /* --stage */
extern const cli_option cli_study_options[];    /* of study, moments and describe: --ledger to -o */
extern const cli_option cli_page_options[];     /* --title --purpose --contact */
extern const cli_option cli_read_options[]; /* --label --positive --classes --schema --invalid --cols --max-... --f32 */
extern const cli_option cli_person_options[]; /* --person */
extern const cli_option cli_common_options[]; /* --json --threads --help */

/* ---- args.c ----------------------------------------------------------------------------------- */

/* Fills args from argv[0..count); 0, or 2 after one sentence on stderr. */
int cli_args_parse(const cli_verb *verb, cli_args *args, char **argv, int count);

/* ---- meant.c ---------------------------------------------------------------------------------- */

/* One sentence each, with what was probably meant; CLI_USAGE. */
int cli_unknown_option(const cli_verb *verb, const char *name, size_t length);
int cli_unknown_verb(const char *name);

/* ---- main.c, help.c, manual.c, completion.c --------------------------------------------------- */

extern const cli_verb *const cli_verbs[];        /* in the order of list.def, ended by NULL */
const cli_verb *cli_find_verb(const char *name); /* NULL: there is none */
/* The first sentence of the verb's summary, in one line; returns buffer. */
const char *cli_headline(const cli_verb *verb, char *buffer, size_t size);
void cli_put_help(const cli_verb *verb);
/* The options of the verb that are about a topic, e.g. "privacy"; 0: there is none of that name. */
int cli_put_topic(const cli_verb *verb, const char *name);
typedef void cli_put_heading(const char *title); /* "": of all options together */
typedef void cli_put_option(const cli_option *option);
/* All options, under headings where they are many. */
void cli_walk_options(const cli_verb *verb, cli_put_heading *heading, cli_put_option *put);
void cli_put_verbs(void); /* the list of verbs */
/* Manual pages in roff; verb NULL: that of tacit itself. */
void cli_put_manual(const cli_verb *verb);
/* The completion of a shell ("bash", "zsh", "fish"); 0, or an exit code, said. */
int cli_put_completion(const char *shell);
/* Verbs and options as one JSON object; owned by the caller, NULL if memory ran out. */
json_t *cli_tables(void);

/* ---- reading.c --------------------------------------------------------------------------------- */

/* How this loss's labels are read: two classes, or more that are public. */
tct_labels cli_labels(const tct_config *config);
/* Fills what the options leave open (schema, label column, kind of labels, columns) from the model.
 * *keep: the model as JSON, which args borrows texts from; the caller's to free, also on failure. */
int cli_model_reading(cli_args *args, const tct_model *model, json_t **keep);

/* ---- fit_args.c ---------------------------------------------------------------------------------- */

/* Each 0, or an exit code after one sentence.  The values of cli_fit_options, and what goes together. */
int cli_fit_check(const cli_args *args);
/* What a run has that --dry-run has not, and the reverse. */
int cli_fit_check_run(const cli_args *args);
/* Is the ledger there, and undamaged? */
int cli_fit_check_ledger(const cli_args *args);
/* The classes that a run will find in the data, if they are public now; a positive value makes two of all. */
int64_t cli_fit_public_classes(const cli_args *args);
/* Persons' rows get their weights, where the table was read with persons. */
tct_status cli_fit_weigh(const cli_args *args, tct_data *data, tct_error *err);
/* The schema once it is known to keep the limits; NULL: there is none, or reading will say what is wrong with it. */
json_t *cli_fit_schema(const cli_args *args);
int cli_to_standard_output(const cli_args *args); /* -o - */
/* The plan's warnings, and that of noise from a seed. */
void cli_fit_warn(const cli_args *args, const json_t *plan);
void cli_warn_unaccounted(const tct_model *model);

/* ---- plan_text.c -------------------------------------------------------------------------------- */

/* The plan as JSON.  NULL with err. */
json_t *cli_plan_json(const tct_plan *plan, tct_error *err);
/* What --effect and --assume ask becomes "expected" of the plan; a code. */
int cli_expect(const cli_args *args, int64_t rows, json_t *plan);
void cli_expect_print(const json_t *plan);
int cli_plan_private(const json_t *plan);
void cli_plan_print(const json_t *plan);

/* ---- cmd_study.c, description.c, cmd_summary.c ------------------------------------------------------------------- */

/* Runs a plan, or shows what it would spend; consumes it.  0, or an exit code, said. */
/* The text of a study's plan, which is taken, with the schema of --schema in it; NULL after one sentence. */
char *cli_study_asked(cli_args *args, json_t *plan);
int cli_study_run(cli_args *args, json_t *plan);
/* {"stages", "epsilon", ...} of a study of these stages, which it takes over, with the budget and the persons. */
json_t *cli_study_plan(cli_args *args, json_t *stages);
/* The table of a stage that describes. */
typedef enum cli_form { CLI_WORDS, CLI_LINES, CLI_PAGE } cli_form;
void cli_put_description(const json_t *root, const json_t *claim, cli_form form);
/* The table of {"weights", "intercept"}; with a column for what they have under the name `also`, or NULL.  Returns the
 * names' width. */
int cli_put_weights(const json_t *root, double level, const char *also);
/* Rows of numbers under names. */
void cli_put_matrix(const json_t *names, const json_t *matrix, const char *title);

/* ---- classes.c --------------------------------------------------------------------------------- */

/* --classes to read.classes; 0, or 2 after one sentence. */
int cli_classes_split(cli_args *args);
/* The model's classes to the read options; refuses --positive and --classes that say something else. */
int cli_classes_of_model(cli_args *args, const tct_model *model);
void cli_classes_free(cli_args *args);

/* Rows and columns of a plan before there are data: from --schema and --records, else from --shape.  With a schema also
 * the bounds that follow from it go into the settings. */
int cli_public_shape(cli_args *args, int64_t *rows, int64_t *cols);

/* ---- wire.c --------------------------------------------------------------------------------------- */

extern const cli_option cli_wire_options[]; /* --cert --private-key --ca --crl --timeout */
/* The options' ranges, and that the certificates are given if there is an address; before anything is read. */
int cli_wire_check(const cli_args *args);
/* Over the network if there is an address, else the ranks of mpirun; 0, or 2 after one sentence.  option: "--listen" */
int cli_wire_begin(cli_args *args, const char *option, tct_team **team);

/* ---- ranks.c -------------------------------------------------------------------------------------- */

extern const cli_option cli_rank_options[]; /* --meet --rank --ranks --secret --meet-timeout */
/* The ranks that meet at an address if there is one, else those of mpirun, else this process alone; 0, or an exit code
 * after one sentence. */
int cli_rank_begin(cli_args *args, tct_team **team);

/* ---- same.c --------------------------------------------------------------------------------------- */

/* Compares all options of the verb between ranks, as they were parsed, but those named in free_options (ended by NULL);
 * and the number of operands.  A new option is compared until it is listed there.  All ranks get the same status. */
tct_status cli_same(const cli_verb *verb, const cli_args *args, const char *const *free_options, tct_team *team,
                    tct_error *err);

/* ---- text.c ----------------------------------------------------------------------------------- */

enum { CLI_RUN = 1, CLI_USAGE = 2, CLI_DATA = 3, CLI_BUDGET = 4, CLI_POLICY = 5 };

/* One line on stderr, "tacit: ..."; control characters become '?'. Returns code. */
int cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The library's sentence in the words of the command line; returns text. */
const char *cli_said(const tct_error *err, char *text, size_t size);
int cli_exit_code(tct_status status);     /* of a failure */
int cli_fail_error(const tct_error *err); /* with FILE:LINE:COLUMN; returns its exit code */
void cli_silence(void);                   /* from now on no message: another rank says the same */
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Parses a text of the library and frees it; NULL (after a message) if it is no JSON. */
json_t *cli_take_json(char *text);
/* The JSON text of a file, for free(); NULL where path is, or after one sentence, that it is not `what`, with *code
 * set. */
char *cli_json_file(const char *path, const char *what, int *code);
const char *cli_string(const json_t *object, const char *key); /* "" if absent */
double cli_number(const json_t *object, const char *key);      /* NAN if absent or null */
/* "  name        value" for people. */
void cli_line(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The shortest decimal form, or "infinite" / "-"; static ring of buffers. */
const char *cli_real(double value);
/* The names in "a,b,c"; NULL after one sentence. */
json_t *cli_names(const char *option, const char *text);
/* Prints the object to stdout, one line end. */
int cli_print_json(const json_t *object);
/* Prints an answer of the library, which it frees, as JSON or for people. */
int cli_print_answer(char *text, int as_json, void (*print)(const json_t *root));
/* "N,P" as two whole numbers from 1 on; 0, or 2 after one sentence. */
int cli_shape(const char *text, int64_t *rows, int64_t *cols);
/* Flushes stdout; a failed write is exit code 1 with a sentence. */
int cli_finish(int code);

/* ---- outputs.c -------------------------------------------------------------------------------- */

int cli_is_file(const cli_option *option); /* is its value a file's name? */
/* Can every output be written, and is it no other file of this run, by any name?  0, or exit code, said. */
int cli_check_outputs(const cli_verb *verb, const cli_args *args);
int cli_is_stdout(const char *output); /* NULL, "-" and "/dev/stdout" are */
/* What an output that is a stream is called. */
const char *cli_place(const char *output);
/* Writes an output that is a stream; 0 or exit code, said. */
int cli_write(const char *output, tct_print_fn print, void *user);
/* What would go to standard output goes to standard error from here on; a descriptor of what standard output was, or -1
 * after one sentence. */
int cli_divert(void);
/* The last thing of a run that succeeded, so that whatever fails before leaves standard output empty: the model file's
 * text to that descriptor, which is closed.  0 or exit code, said. */
int cli_write_diverted(int descriptor, const tct_model *model);

/* ---- progress.c ------------------------------------------------------------------------------- */

void cli_progress_start(tct_config *config); /* installs callbacks and the handler of SIGINT, SIGTERM and SIGHUP */
void cli_progress_end(void);                 /* takes both away and clears the bar */
/* What the disk under a folder does: bytes a second, NAN where it cannot be measured, and bytes that are free. */
typedef struct cli_disk {
  double write, read, free;
} cli_disk;
cli_disk cli_disk_measure(const char *folder);     /* writes and reads 64 MiB there */
const char *cli_scratch_folder(const char *given); /* of --scratch; NULL: where records go without it */
double cli_seconds(void);                          /* a steady clock */

/* ---- plot.c ------------------------------------------------------------------------------------- */

enum { CLI_PLOT_LINES = 4 };

/* A drawing of lines over one horizontal axis.  Texts are borrowed; values that are not finite make gaps. */
typedef struct cli_plot {
  const char *title, *x_label, *y_label;
  int log_x;                       /* 1: powers of ten; x must be above 0 */
  size_t points, lines;            /* lines <= CLI_PLOT_LINES */
  const double *x;                 /* [points], ascending */
  const double *y[CLI_PLOT_LINES]; /* [points] each, >= 0 */
  const char *name[CLI_PLOT_LINES];
} cli_plot;

/* Writes the drawing as SVG: dark on white, told apart by dashes as well as colour. */
void cli_plot_svg(const cli_plot *plot, FILE *out);
#endif
