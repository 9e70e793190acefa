/* score.h - private scores: what a record adds to one released vector, and what the noisy vector says.
 *
 * SENSITIVITY  A record's term lies in [0, 1]^len and has Euclidean length at most 1 (score_terms.c has the proof).  It
 * depends on that record, the model and public numbers alone.  So one more record moves the sum by at most 1, and a
 * changed one by at most 2.  The sum is released once, with Gaussian noise, and everything else is computed from that.
 *
 * Weights v in [0, 1] multiply the whole term, which shortens it.  A person's weights sum to at most 1 (weigh.c), so
 * that by the triangle inequality the terms of all of a person's records together are no longer than 1.  The sum of
 * the weights is not public, as it says how many records persons have.  So it is one more number of the vector; of two
 * classes it follows from the counts.
 */
#ifndef TCT_SCORE_SCORE_H
#define TCT_SCORE_SCORE_H
#include "loss/loss.h"
#include "model/model.h"
#include "study/study.h"

enum {
  TCT_SCORE_CELLS = 32,                   /* two classes: of the margins, for each class */
  TCT_SCORE_STEP = 4,                     /* so many cells are told apart as one in a curve */
  TCT_SCORE_POINTS = 7,                   /* of a curve, between its ends */
  TCT_SCORE_BINARY = 2 * TCT_SCORE_CELLS, /* numbers of the vector, from which the sum of the weights follows */
  TCT_SCORE_SQUARE = 0,                   /* real labels: squared errors */
  TCT_SCORE_LABEL,                        /* labels */
  TCT_SCORE_LABEL2,                       /* squared labels */
  TCT_SCORE_REAL,                         /* numbers of the vector; with weights their sum stands behind */
  TCT_SCORE_HIT = 0,                      /* more classes: records that are predicted rightly */
  TCT_SCORE_MISS,                         /* more classes: their losses */
  TCT_SCORE_SEVERAL,                      /* numbers of the vector; with weights their sum stands behind */
  TCT_SCORE_TIMES = 6,                    /* follow-up times: cells of time, */
  TCT_SCORE_MARGINS = 24,                 /* of margins, */
  TCT_SCORE_FOLLOWED = 2 * TCT_SCORE_TIMES * TCT_SCORE_MARGINS, /* and all, for events and for ends without one */
  TCT_SCORE_LONGEST = TCT_SCORE_FOLLOWED + 1, /* with the sum of the weights, which is the last number of all */
};

/* What is public about a scoring. */
typedef struct tct_scoring {
  const tct_model *model;
  tct_loss loss;
  bool binary;
  bool followed; /* follow-up times */
  bool weighed;  /* records have weights */
  bool likely;   /* more classes: the margins are probabilities, and the loss is minus the logarithm of the true one */
  int64_t classes; /* more than two, or 0 */
  double span;     /* two classes: margins are told apart in [-span, span]; times: so far about centre */
  double most;     /* classes: a record's loss is cut to this */
  double even;     /* more classes: an undecided record's loss; that of one predicted rightly is cut to this */
  double part;     /* each of the numbers of a term is at most this */
  double bound;    /* real labels: they and the predictions are cut to [-bound, bound] about the model's shift */
  double centre;   /* follow-up times: of the cells of margins, */
  double time[TCT_SCORE_TIMES]; /* and where those of times end */
  int64_t len;
} tct_scoring;

/* TCT_E_USAGE: real labels without a public bound. */
tct_status tct_scoring_make(const tct_model *model, bool weighed, tct_scoring *out, tct_error *err);
/* sum[len] += the term of a record, each number cut toward zero to a multiple of `lattice` (0: not at all).  margin:
 * one, or one for each class; weight: in [0, 1], 1 without weights. */
void tct_scoring_add(const tct_scoring *scoring, const double *margin, double label, double weight, double lattice,
                     double *sum);

/* A figure with what is not known about it. */
typedef struct tct_figure {
  double value;     /* NAN: the noise hides it */
  double noise;     /* deviation that comes from the noise */
  double sampling;  /* deviation that comes from the choice of these records out of a population; an estimate */
  double low, high; /* what the figure can be at all */
} tct_figure;

typedef struct tct_figures {
  tct_figure accuracy, auc, mean_loss, positives; /* two classes */
  tct_figure above[TCT_SCORE_POINTS][2];          /* of label -1 and 1: the share above edge TCT_SCORE_STEP * (k + 1) */
  tct_figure observed[TCT_SCORE_POINTS + 1];      /* between those edges: the share of label 1 */
  tct_figure confusion[2][2];                     /* how many of label -1 and 1 are predicted -1 and 1 */
  tct_figure mse, r2;                             /* real labels */
  tct_figure c_index;                             /* follow-up times */
  tct_figure log_loss;                            /* more classes that are likely; else mean_loss */
} tct_figures;

/* Follow-up times (concordance.c): the cells of time and margin; the cell of a record; what noisy cells say. */
void tct_scoring_set_cells(tct_scoring *scoring);
int tct_scoring_cell(const tct_scoring *scoring, double margin, double label);
tct_figure tct_scoring_concordance(const double cell[TCT_SCORE_FOLLOWED], double noise);
/* Two classes (score_cells.c): as tct_scoring_add and tct_scoring_read. */
void tct_score_add_cell(const tct_scoring *scoring, double margin, double label, double weight, double lattice,
                        double *sum);
/* noise: in units of one record; rows: not looked at with weights. */
tct_figures tct_score_read_cells(const tct_scoring *scoring, const double *sum, double noise, double rows);
/* The margin at the lower end of cell k, or within it. */
double tct_score_edge(const tct_scoring *scoring, double k);

/* sum[len]: as released, with noise of that deviation in every number; rows: public. */
tct_figures tct_scoring_read(const tct_scoring *scoring, const double *sum, double deviation, int64_t rows);

/* ---- one release of them ---- */

/* Can these records be scored by the model? */
tct_status tct_score_check(const tct_scoring *scoring, const tct_data *data, tct_error *err);
/* The release of a vector of scores of so many records; out: empty. */
tct_status tct_score_plan(const tct_target *own, int64_t rows, tct_promise *out, tct_cost *cost, tct_error *err);
/* sum[TCT_SCORE_LONGEST] <- the vector, through a gate of that promise. */
tct_status tct_score_take(const tct_scoring *scoring, const tct_data *data, const tct_gate *gate, double *sum,
                          tct_error *err);
/* By what tries are told apart: the accuracy, the C-index, or the squared error with its sign turned; -INFINITY: the
 * noise hides it. */
double tct_score_of_try(const tct_scoring *scoring, const double *sum, double deviation, int64_t rows);
/* {"rows", "level", figures}. */
json_t *tct_score_figures(const tct_scoring *scoring, const double *sum, double deviation, int64_t rows);
#endif
