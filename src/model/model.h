/* model.h - a trained model with its certificate. */
#ifndef TCT_MODEL_MODEL_H
#define TCT_MODEL_MODEL_H
#include "core/json_text.h"
#include "core/digest.h"
#include "infer/inference.h"
#include "read/table/class_names.h"
#include "read/table/data.h"
#include "event/event.h"

/* 2: with the fits and their releases.  3: with the names of classes, and as many rows of coefficients as there are,
 * where more than two.  A model is written in the least form that holds it. */
enum { TCT_MODEL_FITS = 2, TCT_MODEL_VERSION = 3 };

/* Everything that the model file says; see docs/reference/format/model.md.  Texts are owned. */
struct tct_model {
  int version;                   /* of the file */
  char *loss, *penalty, *solver; /* resolved specs */
  int64_t rows, cols;
  int64_t models;       /* rows of coefficients, one for each class; 0 and 1: there is one */
  double *coefficients; /* [models][cols], of the transformed features */
  double intercept;     /* of the first row; 0 when has_intercept is 0 */
  double *intercepts;   /* [models] where there are several, else NULL */
  int has_intercept;
  char **features;         /* [cols] names */
  char *label;             /* label column's name or NULL */
  int32_t labels;          /* tct_labels */
  tct_class_names classes; /* two, negative first, of one row; else one for each row */
  /* transforms, in order: schema -> scale -> (label shift) -> intercept -> rows */
  char *schema;                       /* JSON text or NULL */
  char *scale;                        /* "none" | "max-abs" | ... */
  double *scale_factor, *scale_shift; /* [cols] each: x' = (x - shift)*factor; NULL when scale is none */
  double label_shift;                 /* y' = y - label_shift */
  double label_bound;                 /* NAN: none */
  double row_norm;                    /* NAN: none */
  int32_t rows_rule;
  int penalised_intercept;
  /* privacy */
  int is_private; /* 0: certificate says NONE */
  bool persons;   /* the unit of privacy is a person, not a record */
  int32_t neighbours;
  double epsilon, delta; /* the claim; INFINITY = no privacy */
  char *accountant;      /* the one that proves it */
  tct_events events;     /* the promise */
  int reproducible;      /* 1: noise from a seed; do not publish */
  int adaptive;
  char *fits;        /* JSON text: the list of certificate.h, of all fits behind the model */
  char *choice;      /* event of a private choice among fits, or NULL */
  char *estimate;    /* JSON text: the estimate of its bounds, and what the fit alone claims; NULL: there was none */
  double weight_cap; /* NAN: records were not weighed */
  char *unaccounted[TCT_UNACCOUNTED + 1];
  char note[160];          /* how the run ended, where that is worth a word; "" = nothing */
  tct_inference inference; /* the errors of the weights; p = 0: not known */
  char *parties;           /* JSON text: parties, observers and their epsilons; NULL = one curator holds all columns */
  char *ledger_head;       /* hex of the ledger's chained hash at its time, or NULL */
  char *run_id;            /* ledger run id or NULL */
  int for_tests;           /* the ledger takes reproducible noise: its runs protect nobody */
  /* of a stage of a study: JSON texts of its whole file, and of what that was asked for; else NULL */
  char *study, *asked;
  /* not in the file */
  tct_inputs inputs;          /* what it was trained from; or the file that it was read from */
  bool from_file;             /* the latter: it may be written there again */
  char unknown[41];           /* a key that the file had and that no model file has; "" = none */
  bool other_words;           /* its sentences about trust and unit were not the library's own */
  struct tct_outfile *output; /* the file that the model will go to, open with room for it, or NULL */
  char *warning;              /* for whoever runs this, or NULL */
};

/* The sentences that the file says about trust and unit. */
const char *tct_model_trust(const tct_model *model);
const char *tct_model_unit(const tct_model *model);
/* Is this one of the sentences about a person's records? */
bool tct_model_unit_persons(const char *unit);
/* Adds a line to what is unaccounted; 0: out of memory. */
int tct_model_note(tct_model *model, const char *text);
bool tct_model_tells(const tct_model *model, const char *fact);
/* Notes each that the model does not tell yet.  facts: ended by NULL, or NULL. */
tct_status tct_model_tell(tct_model *model, char *const *facts, tct_error *err);

/* o with the member "ledger", if the run was charged to one. */
json_t *tct_ledger_member(const tct_model *model, json_t *o);
/* The member "inference", what is known about the errors of the weights; docs/reference/format/model.md has its
 * members. */
json_t *tct_inference_json(const tct_inference *inference);
/* Reads that for p weights; TCT_E_DATA where it is not whole. */
tct_status tct_inference_read(const json_t *object, int64_t p, tct_inference *out, tct_error *err);
/* The first key of the model file, or of what is in it, that is not known; NULL: none. */
const char *tct_model_unknown_key(const json_t *file);

/* Rows of coefficients, at least 1. */
int64_t tct_model_models(const tct_model *model);
/* A digest of what predicts: loss, label and weights.  Scores say by it whose they are. */
void tct_model_digest(const tct_model *model, char hex[TCT_DIGEST_HEX]);
/* Row k as a model of one row, which borrows everything: never freed, gone with the model. */
tct_model tct_model_row(const tct_model *model, int64_t k);
/* The JSON of a file, or of its text, not yet looked at; and the model that it holds.  TCT_E_DATA: it holds none. */
tct_status tct_model_load(const char *path, const char *text, json_t **file, tct_error *err);
tct_model *tct_model_of_json(const json_t *file, const char *path, tct_error *err);
/* The model of a stage of a study's file, under the claim of the whole; stage NULL: the main one. */
tct_model *tct_model_of_study(const json_t *file, const char *stage, const char *path, tct_error *err);
/* Is it the file of a study? */
bool tct_is_study(const json_t *file);
/* The claim of a study's file: as a model has it, without weights. */
tct_status tct_study_claim_read(const json_t *file, tct_model *out, tct_error *err);
/* Names the classes of a classifier; see tct_amendment. */
tct_status tct_model_name_classes(tct_model *model, const char *const *names, int64_t count, int32_t kind,
                                  tct_error *err);
/* Makes room for `models` rows, all 0. */
tct_status tct_model_make_rows(tct_model *model, int64_t models, tct_error *err);

/* Records as the model counts them: its own transforms applied, and its bound on the norm.  *view, over *x, which lies
 * in `data` or in *scaled; free the view and the matrix, also after an error. */
tct_status tct_model_transformed(const tct_model *model, const tct_data *data, tct_owned_matrix *scaled, tct_matrix *x,
                                 tct_view *view, tct_error *err);
/* Records have an offset or exposure by the model's schema; upper: gets its upper bound (beside.c), or NULL. */
bool tct_model_offset(const tct_model *model, double *upper);
/* most <- of counts the loss's public bound on a margin, which no prediction is above; of others infinite. */
tct_status tct_model_most(const tct_model *model, double *most, tct_error *err);
/* Applies the model's own column transforms to a margin computation: x.w + intercept and offset for row i of data, and
 * each row of coefficients: out[rows][models]. */
tct_status tct_model_margins(const tct_model *model, const tct_data *data, double *out, tct_error *err);
#endif
