/* audit.h - what the attacks on a plan share: the plan, invented tables and neighbours, runs that are watched.
 *
 * An audit sees what any caller sees: the room includes tacit.h, and of the library's inside the watch (mech/watch.h)
 * and the mark of a row that contributes nothing (read/table/data.h).  It opens no file of people; all rows are its
 * own. */
#ifndef TCT_AUDIT_AUDIT_H
#define TCT_AUDIT_AUDIT_H
#include "core/json_text.h"
#include "tacit.h"
#include "mech/watch.h"
#include <stdio.h>

enum { TCT_AUDIT_RELEASES = 64 };

/* Breaks are declared at this rate of error, for each comparison: sound code is flagged so seldom. */
#define TCT_AUDIT_BREAK 1e-6
/* Bounds that are reported besides hold with this rate of error: of a hundred audits of a tight claim hardly one says
 * more than there is. */
#define TCT_AUDIT_REPORT 1e-3

/* What the plan's events allow an onlooker (claim.c). */
enum { TCT_CLAIM_POINTS = 24 };
typedef struct tct_claim {
  double shift; /* all events are Gaussian, over batches or not: mu for a record in all of them; else NAN */
  double mu;    /* there are no batches: the claim exactly; else NAN */
  double epsilon[TCT_CLAIM_POINTS], delta[TCT_CLAIM_POINTS];
  int points;
} tct_claim;

/* What the plan says of one kind of release; texts are borrowed from tct_audit.planned. */
typedef struct tct_audit_release {
  const char *name, *event;      /* in words; what each is charged as, NULL of a study */
  char kind[32];                 /* of that event */
  tct_norm norm;                 /* of the sensitivity */
  double sensitivity, deviation; /* NaN: it follows from earlier releases */
  int64_t count;
  int gate, at;  /* of a study: whose release it is there */
  char text[96]; /* of a study: the name */
} tct_audit_release;

/* Of a plan's "door"; NONE: a study, or one fit. */
typedef enum tct_audit_door { TCT_DOOR_NONE, TCT_DOOR_ESTIMATE, TCT_DOOR_EVALUATE, TCT_DOOR_SEARCH } tct_audit_door;

typedef struct tct_audit {
  tct_config config; /* the plan's, without seed, ledger and output */
  tct_plan *plan;
  json_t *planned; /* tct_plan_json; of a study tct_study_plan_json, with "events" */
  json_t *study;   /* its plan; NULL: a fit is attacked */
  char *asked;     /* the same as text */
  json_t *column;  /* of its table, a list */
  tct_audit_door door;
  char *schema;      /* of a door: by which it reads */
  tct_model *scored; /* by TCT_DOOR_EVALUATE */
  tct_composition *searched;
  double most_shift; /* of a door: that its promise allows one Gaussian */
  bool lists;        /* some of them are lists of texts that are estimated */
  int64_t rows, cols;
  int64_t classes; /* of one fit of all of them; else 0 */
  int64_t cells;   /* of follow-up times; else 0 */
  bool binary, replaces, intercept;
  bool fixed;           /* every run makes exactly the planned releases */
  bool adaptive;        /* a budget: the run decides how many releases it makes, and tells of it */
  bool watched;         /* the library was built for audit */
  int views;            /* of coalitions, in the runs so far */
  bool weighs, persons; /* the solver weighs records, and bounds persons */
  double epsilon, delta, row_norm, label_bound;
  int releases;
  tct_audit_release release[TCT_AUDIT_RELEASES];
  double rate[TCT_AUDIT_RELEASES]; /* of its batches; 1 without */
  uint64_t random;
  double start;      /* of the attacks, by tct_audit_clock */
  double until;      /* and the part at hand ends here */
  bool patient;      /* what a plan takes is attacked in each way, also past the time; false below a second */
  double spent;      /* seconds of all runs so far */
  int64_t fits;      /* runs so far */
  int64_t polls;     /* of the run at hand: how often it asked whether to stop */
  int64_t peak;      /* of the runs since this was set to 0 */
  double most_polls; /* what the plan allows; INFINITY where it names no number of passes */
  double stop_at;    /* seconds of the clock */
  bool stopped;      /* the run at hand was stopped: it took more than the plan says */
  tct_claim claim;
  json_t *breaks, *unchecked;
} tct_audit;

double tct_audit_clock(void); /* seconds of processor time, of this process */
uint64_t tct_audit_u64(tct_audit *a);
/* Adds a sentence, once. */
void tct_audit_break(tct_audit *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tct_audit_unchecked(tct_audit *a, const char *sentence);
/* How many runs, at most `most`, fit into this share of the time that the part at hand has left. */
int64_t tct_audit_room(const tct_audit *a, double share, int64_t most);

/* ---- invent.c: invented tables ------------------------------------------------------------------------------- */

/* Two neighbouring tables and how they are handed over. */
typedef struct tct_pair {
  double *x, *y; /* [rows][cols], [rows]: the table with the record */
  double *other; /* [cols]: what replaces the record, under replace_one */
  double other_y;
  int64_t record;
  int32_t layout, type; /* tct_layout, tct_value_type */
  int32_t weighed;      /* 1: records have weights; 2: the record and some others are one person's */
  int64_t kin, apart;   /* how many records that person has, each so many rows after the one before, around the end */
  double heavy;         /* the record's weight, and those of its kin; above 1 it is cut to 1 */
  int64_t coalition;    /* whose eyes see joint noise: as tct_watch_coins has it */
  bool alone;           /* all other records contribute nothing */
  bool picked;          /* every batch is the record alone */
  bool turned;          /* the run without the record is the first, and its past is the other's */
  uint64_t coins;
  double stretch;  /* of the noise of the forced past: 1 as drawn */
  double push;     /* added to the first release, times the row norm */
  uint64_t wander; /* not 0: choices are forced by this number */
} tct_pair;

tct_status tct_pair_new(const tct_audit *a, tct_pair *out, tct_error *err);
void tct_pair_free(const tct_audit *a, tct_pair *pair);
void tct_pair_copy(const tct_audit *a, tct_pair *to, const tct_pair *from);
/* Invents other records and a pair of neighbours; kind: 0, 1, ... walk through tables that are empty, random, long,
 * short, separable and alike.  The record, its place and how both are handed over are drawn, whatever the kind. */
void tct_pair_invent(tct_audit *a, tct_pair *pair, int kind);
/* The same, and the record meets one other: its opposite at half its length.  What is cut to a range is then at one end
 * of it without the record, and at the other end with it.  An odd kind: all others are opposites, and short.  They pull
 * a margin to where the record's slope is large, and curve little themselves.  Where a record is replaced, the two are
 * nearly opposite, and all others lie against their sum: both slopes are then large. */
void tct_pair_oppose(tct_audit *a, tct_pair *pair, int kind);
/* All others say the same and little, so that what is cut by how large most terms are is cut short.  The record and
 * what replaces it are opposite rows of one label, of numbers at an end, or one row of both ends. */
void tct_pair_hush(tct_audit *a, tct_pair *pair);
/* All others come in opposite pairs of one label, so that margins stay near 0, where opposite rows of one label have
 * slopes of one size.  The record and what replaces it are such rows.  Of numbers all others may be 0, and theirs at
 * the end. */
void tct_pair_balance(tct_audit *a, tct_pair *pair);
/* Draws how it is handed over: layout, type, weights and persons, of the whole plan.  weighed: as in the pair, or -1.
 */
void tct_pair_hand_over(tct_audit *a, tct_pair *pair, int weighed);
/* Moves one or a few numbers of the record, of what replaces it, or of how both are handed over. */
void tct_pair_nudge(tct_audit *a, tct_pair *pair);
/* Makes all other records longer or shorter. */
void tct_pair_nudge_others(tct_audit *a, tct_pair *pair);

/* A table as the library takes it.  with: 1 the record is there; 0 it is gone, or replaced. */
typedef struct tct_side {
  tct_data *data;
  tct_matrix matrix; /* what data borrows */
  double *x, *y, *weight;
  int64_t *person;
  unsigned char *gone; /* [rows] 1: it contributes nothing */
  int64_t record;      /* the person's rows have its number in person[] */
  FILE *file;          /* of a study: a table without a name; data is NULL */
} tct_side;
tct_status tct_side_new(const tct_audit *a, const tct_pair *pair, int with, tct_side *out, tct_error *err);
void tct_side_free(tct_side *side);
/* From now on rows may be made to contribute nothing, or a feature set; dense rows of doubles only. */
tct_status tct_side_droppable(const tct_audit *a, tct_side *side, tct_error *err);
void tct_side_drop(tct_side *side, int64_t row, bool gone);
void tct_side_set(tct_side *side, int64_t row, int64_t column, double value);
int64_t tct_side_weights(const tct_audit *a);                              /* numbers of a model: one or more rows */
double tct_side_weight(const tct_audit *a, const tct_model *m, int64_t j); /* in [0, tct_side_weights) */
/* One fit; NULL with err where it fails. */
tct_model *tct_side_fit(tct_audit *a, const tct_side *side, tct_error *err);

/* What a run releases: a model, or the file of a study. */
typedef struct tct_told {
  tct_model *model;
  char *text;
} tct_told;
void tct_told_free(tct_told *told);

/* ---- staged.c: studies under attack ----------------------------------------------------------------------------- */

/* Its columns, and what it promises. */
tct_status tct_audit_study_begin(tct_audit *a, const char *asked, tct_error *err);
/* The table of a side that is filled: one of numbers and categories, where a row that is gone is malformed. */
tct_status tct_audit_study_table(const tct_audit *a, tct_side *side, tct_error *err);
/* One run of it; NULL with err where it fails.  coins: of what no gate draws. */
char *tct_audit_study_run(tct_audit *a, const tct_side *side, uint64_t coins, tct_error *err);
/* The index among a->release of what is seen; -1: there are too many. */
int tct_audit_study_release(tct_audit *a, const tct_watched *seen);

/* ---- doors.c: runs of other doors ------------------------------------------------------------------------------- */

/* After tct_audit_study_begin's own work: what a->study says is run by this door. */
tct_status tct_audit_door_begin(tct_audit *a, const char *door, tct_error *err);
/* One run on the table in a file; what it tells, or NULL with err where it fails. */
char *tct_audit_door_run(tct_audit *a, const char *path, uint64_t seed, tct_error *err);

/* ---- tape.c: releases of one run, forced on another ------------------------------------------------------------ */

typedef struct tct_tape_entry {
  int release;
  int64_t at, len; /* numbers[at .. at + len): before; after follows: len of them, or 1 of a choice */
  double sensitivity, deviation, epsilon;
  bool chooses, monotone, drawn;
  tct_norm norm;
} tct_tape_entry;

typedef struct tct_tape {
  tct_audit *a;
  tct_tape_entry *entry;
  int64_t count, entry_room;
  double *number, *second; /* second: at the same places, what the forced run handed over */
  int64_t used, number_room;
  uint64_t hidden; /* of the next run: other noise and batches with the same public orders */
  int64_t batch;   /* of the next run, as tct_watch_coins has it */
  int64_t coalition;
  int views;     /* as tct_watched has it, the most of a release */
  bool failed;   /* out of memory */
  bool drew;     /* something was drawn inside a minimisation: what follows is not a sum under the same past */
  bool replays;  /* the entries are forced and compared */
  bool mismatch; /* the two runs do not make the same releases */
  int64_t next, in_vector;
  double part_squares;
  double stretch, push;
  uint64_t wander;
  bool keeps;     /* the noise is as drawn: it is looked at */
  double replace; /* 2 under replace_one, else 1: how many terms a sum may differ by */
  /* what a replay came to */
  double share[TCT_AUDIT_RELEASES];    /* of the planned sensitivity */
  double moved[TCT_AUDIT_RELEASES];    /* choices: the largest change of a score */
  double charged;                      /* of a study: 1 over squared noises, summed over what is charged */
  double total;                        /* squares of move over deviation, summed */
  double toward;                       /* log likelihood of what was released: this run's table against the other's */
  int64_t touched[TCT_AUDIT_RELEASES]; /* releases that differ at all, of: */
  int64_t made[TCT_AUDIT_RELEASES], parts[TCT_AUDIT_RELEASES]; /* numbers of a vector that come one by one; else 1 */
  /* what a free run came to */
  double squares[TCT_AUDIT_RELEASES]; /* of noise over deviation; Laplace: of its size */
  int64_t noises[TCT_AUDIT_RELEASES];
} tct_tape;

void tct_tape_begin(tct_audit *a, tct_tape *tape, const tct_pair *pair);
void tct_tape_rewind(tct_tape *tape); /* the next run is forced to this one */
void tct_tape_clear(tct_tape *tape);  /* the next run is free again; keeps the memory */
void tct_tape_free(tct_tape *tape);
/* log likelihood of the tape's releases under the table of the forced run, against releases of sums that are 0.  Where
 * the releases are of batches, the record was in all of the forced run's; it takes part at the planned rate.  Choices
 * are left out. */
double tct_tape_mixture(const tct_tape *tape);
/* A run under the watch with the pair's coins.  TCT_OK with what it told in *out, which may be NULL. */
tct_status tct_tape_run(tct_audit *a, tct_tape *tape, const tct_side *side, uint64_t coins, tct_told *out,
                        tct_error *err);

/* What a pair came to: the run with the record, and the one without it that is forced to the same releases. */
typedef struct tct_measured {
  tct_tape tape;
  tct_told with, without;
  tct_status first, second;
  tct_error first_error, second_error;
} tct_measured;
/* TCT_OK though a run failed: first and second say so.  The tape is that of the forced run. */
tct_status tct_audit_measure(tct_audit *a, const tct_pair *pair, tct_measured *out, tct_error *err);
void tct_measured_free(tct_measured *m);
/* The runs' vectors drawn from a law are added inside the solver: then equal releases do not make equal models. */
bool tct_audit_draws(const tct_tape *tape);

/* ---- the parts: each returns its object, NULL when out of memory ---------------------------------------------------
 */

json_t *tct_audit_sensitivity(tct_audit *a, tct_pair *canary, tct_error *err);
json_t *tct_audit_white_box(tct_audit *a, const tct_pair *canary, tct_error *err);
json_t *tct_audit_black_box(tct_audit *a, const tct_pair *canary, tct_error *err);
json_t *tct_audit_canaries(tct_audit *a, tct_error *err);
json_t *tct_audit_behaviour(tct_audit *a, tct_error *err);
json_t *tct_audit_arithmetic(tct_audit *a, tct_error *err);

/* ---- tail.c, claim.c: bounds ---------------------------------------------------------------------------------------
 */

double tct_audit_quantile(double p); /* x below which the normal law has p */
/* The smallest, and the largest, chance of success that k successes of n leave at this error (Clopper and Pearson). */
double tct_audit_at_least(int64_t n, int64_t k, double error);
double tct_audit_at_most(int64_t n, int64_t k, double error);
/* The number after "key=" in an event's text; `otherwise` where it has none. */
double tct_audit_part(const char *event, const char *key, double otherwise);
/* P[Bin(n, p) >= k]. */
double tct_audit_upper_tail(int64_t n, int64_t k, double p);
/* delta of one Gaussian with shift mu at epsilon. */
double tct_audit_gaussian_delta(double mu, double epsilon);

/* Until a->until; the fewer points, the more it allows. */
void tct_claim_make(tct_audit *a, tct_claim *out);
/* The most true positives that the claim allows at a rate of false ones. */
double tct_claim_power(const tct_claim *claim, double false_positives);
/* The most by which it allows true positives to exceed false ones, at any rate. */
double tct_claim_advantage(const tct_claim *claim);

/* ---- threshold.c: scores of two worlds become a lower bound
 * ------------------------------------------------------------ */

/* out[count] scores without the record, in[count] with it. */
typedef struct tct_scores {
  double *out, *in;
  int64_t count;
} tct_scores;
enum { TCT_CUT_MIDDLE, TCT_CUT_TAIL, TCT_AUDIT_CUTS };
/* The threshold with the largest TPR - FPR of a pilot's scores, and one that none of those without the record passes.
 */
void tct_audit_cuts(tct_scores *pilot, double *cut);
/* {runs, mu_lower, mu_lower_proven, mu_claimed, share, error, ...}; declares a break where the claim is exceeded.
 * cut: [TCT_AUDIT_CUTS]. */
json_t *tct_audit_judge(tct_audit *a, const char *what, const tct_claim *claim, tct_scores *scores, const double *cut);

/* ---- distinguish.c: two worlds, told apart by a score --------------------------------------------------------- */

/* One run with or without the record, and the score of what it released. */
typedef tct_status (*tct_score_fn)(void *user, int with, double *score, tct_error *err);
/* As many scores as fit into the time, judged.  ratio: they are log likelihood ratios, which tell best at 0.  JSON null
 * where too few fit, NULL with err on failure. */
json_t *tct_audit_duel(tct_audit *a, const char *what, tct_score_fn fn, void *user, bool ratio, tct_error *err);
#endif
