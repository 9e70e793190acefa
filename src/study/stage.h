/* stage.h - a study: a list of stages on the same people, with one budget, one claim, one charge and one file.
 *
 * A kind of stage is one file of stage/ and one line of stage/list.def.  It plans from public facts, or from what an
 * earlier stage released.  It runs through a gate of its own, and is handed its own table and nothing else. */
#ifndef TCT_STUDY_STAGE_H
#define TCT_STUDY_STAGE_H
#include "model/model.h"
#include "study/study.h"

enum { TCT_STAGE_NAME = 64, TCT_STAGES = 256, TCT_STAGE_WHY = 240 };

/* A split of the records that looks at none of them (split.c). */
typedef enum tct_part { TCT_PART_ALL, TCT_PART_TRAIN, TCT_PART_HELD } tct_part;

/* What a stage may spend, fixed before anything is drawn. */
typedef struct tct_share {
  double mu; /* of Gaussian DP; 0 where epsilon and delta were divided */
  tct_neighbours neighbours;
  double epsilon, delta; /* what its own plan is made for */
} tct_share;

/* How a stage counts in the list of the whole.  A deferred one has another plan for every outcome of the stage before
 * it, so that its reserve counts and not its events (docs/proofs/study.md, "A reserve in mu"). */
typedef enum tct_counts { TCT_COUNTS_EVENTS, TCT_COUNTS_MU, TCT_COUNTS_EPSILON } tct_counts;

/* The columns that a stage reads. */
typedef struct tct_reading {
  json_t *schema;    /* owned */
  tct_labels labels; /* as tct_read_options has it */
} tct_reading;

/* All that a run is handed. */
typedef struct tct_stage_data {
  const tct_data *table;
  const void *given;     /* what the stage before it released, its shell before that; NULL: nothing */
  const tct_config *run; /* seed, threads and callbacks; no ledger and no output, but for a study of one fit */
} tct_stage_data;

typedef struct tct_stage {
  char name[TCT_STAGE_NAME];
  const struct tct_stage_kind *kind;
  const struct tct_study *study;
  const json_t *asked; /* its entry in the list, borrowed from the study */
  int index, from;     /* its place; the stage whose released value it takes, or -1 */
  tct_part part;
  double fraction; /* of mu^2; all together are 1 */
  tct_share share;
  tct_counts counts;
  tct_events events;         /* as they stand in the list of the whole */
  void *plan;                /* the kind's own, or NULL */
  void *shell;               /* of a fit that is prepared: its model without weights */
  void *value;               /* what it released, or NULL: a tct_model, or a json_t; of a stage that pays, the schema */
  char ended[TCT_STAGE_WHY]; /* why it released no value; "" */
} tct_stage;

typedef struct tct_stage_kind {
  const char *name, *summary;
  const char *keys; /* of its entry, beside those of every stage: " key:type ... "; the types are in asked.c */
  bool models;      /* its value is a tct_model */
  bool defers;      /* with a stage before it, it is planned once that has released */
  bool as_one; /* its plan is proved as one event of epsilon and delta: what it may spend counts, and it is planned last
                */
  bool pays;   /* for bounds and lists of the schema that nobody knows */
  bool small;  /* it gets a small part of the budget unless another is asked for */
  bool labels; /* the label of the schema is a column like others */
  /* How many numbers its value has, more than a few for each column; NULL: none. */
  int64_t (*numbers)(const struct tct_stage *stage, int64_t columns);
  /* Its entry by itself: what is wrong whatever the table; and the stage that it builds on. */
  tct_status (*take)(tct_stage *stage, tct_error *err);
  /* Its plan for stage->share, in place of an earlier one, and its events.  Of a deferred stage: under what the stage
   * before it released, or as long as that has no value, for a table that stands for it. */
  tct_status (*plan)(tct_stage *stage, tct_error *err);
  /* The columns that it reads, likewise. */
  tct_status (*reads)(const tct_stage *stage, tct_reading *out, tct_error *err);
  /* Refuses now whatever run would refuse.  facts: gets what the stage takes from its table unpaid, or NULL. */
  tct_status (*prepare)(tct_stage *stage, const tct_stage_data *data, tct_model *facts, tct_error *err);
  /* Spends the promise and fills stage->value.  TCT_E_RUN: its noise led out of the range of numbers. */
  tct_status (*run)(tct_stage *stage, const tct_stage_data *data, tct_error *err);
  /* What it promised, and what it released, into its part of the file; and the value back out of that. */
  tct_status (*write)(const tct_stage *stage, json_t *out, tct_error *err);
  tct_status (*read)(tct_stage *stage, const json_t *said, tct_error *err);
  /* Can the value be this plan's?  why: "" or the sentence. */
  void (*check)(const tct_stage *stage, const json_t *said, char why[TCT_STAGE_WHY]);
  void (*drop_plan)(tct_stage *stage);
  void (*drop_value)(tct_stage *stage);
} tct_stage_kind;

extern const tct_stage_kind *const tct_stage_kinds[];
extern const int tct_stage_kind_count;

typedef struct tct_study {
  json_t *asked; /* whole: with its schema, and the number of records once they are known */
  double epsilon, delta, held;
  tct_neighbours neighbours;
  char *file;              /* the schema's, which no output replaces; or NULL */
  const char *person;      /* column, borrowed from `asked`; NULL: the unit is a record */
  int64_t rows_per_person; /* above 0 with it */
  int64_t rows;            /* 0: not known yet */
  tct_stage *stage;        /* [count] */
  int count, main;         /* main: the fit that a model file would have; -1: none */
  tct_whole claim;
  double free_delta; /* what no list and no reserve keeps for itself */
  double work;       /* that planning took */
  /* of the run */
  bool ok;
  tct_model *facts; /* unaccounted, warning, ledger entry, output: as a model has them */
  tct_inputs inputs;
} tct_study;

/* How a stage can end without a value; the texts are in the file. */
enum { TCT_ENDED_RANGE, TCT_ENDED_WITHOUT, TCT_ENDED_UNPLANNED, TCT_STAGE_ENDINGS };
extern const char *const tct_stage_endings[TCT_STAGE_ENDINGS];

/* Records of a part; its name, and back (-1: none). */
int64_t tct_study_rows(const tct_study *study, tct_part part);
const char *tct_part_name(tct_part part);

/* Refuses keys of an object that are in neither list, and values of another type; a list may be NULL.  whose: for the
 * sentence. */
tct_status tct_study_check_keys(const json_t *object, const char *const lists[2], const char *whose, tct_error *err);
/* What is asked for, looked at: names, kinds, keys, numbers.  files: paths in it may be read. */
tct_study *tct_study_take(json_t *asked, bool files, tct_error *err);
/* The same from text. */
tct_study *tct_study_parse(const char *text, tct_error *err);
void tct_study_free(tct_study *study);
/* Shares, plans and the claim for so many records. */
tct_status tct_study_plan(tct_study *study, int64_t rows, tct_error *err);
/* Part of delta that lists of categories keep for themselves. */
double tct_study_lists_delta(const tct_study *study);
/* Appends the events of the whole. */
tct_status tct_study_events(const tct_study *study, tct_events *out, tct_error *err);
/* A deferred stage inside its share, now that the stage before it has a value. */
tct_status tct_study_plan_deferred(tct_stage *stage, tct_error *err);
/* One fit that nothing comes before or after: its file is that of a model. */
bool tct_study_is_model(const tct_study *study);

/* A sentence about one stage. */
tct_status tct_stage_fail(const tct_stage *stage, tct_status status, tct_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* An optional text of its entry, NULL where there is none. */
const char *tct_stage_text(const tct_stage *stage, const char *key);

/* ---- reading_of.c: what a stage reads ---------------------------------------------------------------------------- */

/* An outcome's column of the schema; NULL: it has none. */
const json_t *tct_study_column(const tct_study *study, const char *name);
/* Columns that are left to an estimate: of numbers, and of categories. */
int64_t tct_study_open(const tct_study *study, int64_t *lists);
/* The schema of a table for this outcome (NULL: none) and features (NULL: all that is no outcome).  from: the whole
 * schema, with what was open filled in or not. */
tct_status tct_study_schema(const tct_study *study, const json_t *from, const tct_stage *stage, json_t **out,
                            tct_error *err);
/* The schema of a stage, by what is known of open columns now; owned. */
tct_status tct_stage_schema(const tct_stage *stage, json_t **out, tct_error *err);
/* Does the schema itself say that bounds in it were estimated, by a run before this study? */
bool tct_study_says_estimated(const tct_study *study);
/* Does the stage read a column that is open? */
bool tct_stage_reads_open(const tct_stage *stage);
#endif
