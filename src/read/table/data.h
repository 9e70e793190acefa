/* data.h - a table of records after reading: features, labels, names, and what reading leaked. */
#ifndef TCT_READ_TABLE_DATA_H
#define TCT_READ_TABLE_DATA_H
#include "core/digest.h"
#include "la/matrix/matrix.h"
#include "read/table/class_names.h"
#include "read/table/estimated.h"
#include "read/table/words.h"

enum { TCT_UNACCOUNTED = 64 }; /* the most facts that a table or a model can name */

/* Files that were read, and are not to be replaced by what is made of them.  A zeroed one is empty. */
typedef struct tct_inputs {
  char **name; /* [len], whole; then NULL */
  int64_t len;
} tct_inputs;

struct tct_data {
  tct_matrix x;                 /* what solvers see */
  tct_owned_matrix own;         /* the memory of x, or empty when borrowed */
  const double *y;              /* [rows], or NULL */
  double *own_y;                /* the memory of y, or NULL when borrowed */
  unsigned char *dropped;       /* [rows]: 1 = invalid record under TCT_INVALID_ZERO; NULL = none can be */
  double *weight;               /* [rows] in [0, 1], owned; NULL = all 1 */
  double *offset;               /* [rows], at most 0, owned: added to the linear predictor; NULL = none */
  bool exposure;                /* it is the logarithm of an exposure: the labels are counts */
  double weight_cap;            /* of the weights as they were given; 0 without weights */
  bool persons;                 /* the weights of a person's records sum to at most 1, and a person is meant */
  char *keys;                   /* the records' keys in order, each ended by a 0 byte; NULL = none were asked for */
  int32_t labels;               /* tct_labels */
  tct_class_names classes;      /* of the label, by the codes 0, 1, ..., or of -1 and +1; public */
  bool follow_up;               /* y are signed times: above 0 an event, below 0 a follow-up that ended without one */
  bool positive_unlisted;       /* the positive label was named, and no public list says that it can occur */
  char **names;                 /* [cols] feature names, owned; NULL = "x1", "x2", ... */
  char *label_name;             /* owned or NULL */
  char *schema;                 /* JSON text of the schema that was applied, owned, or NULL */
  double label_low, label_high; /* public label bounds from the schema; NAN if none */
  int64_t open;                 /* columns without bounds or lists, which a schema leaves to an estimate */
  tct_words *words;             /* texts of the columns without lists, whose values are their numbers; or NULL */
  tct_estimated *estimated;     /* what the estimate of its bounds cost, owned; NULL: there was none */
  tct_team *team;               /* the ranks that hold the other records, borrowed; NULL: all are here */
  int64_t row0, all_rows;       /* number of the first record, and of all of them; without a team 0 */
  int64_t *rank_rows;           /* [ranks], owned; NULL without a team */
  tct_inputs inputs;            /* the files that it was read from */
  char input[TCT_DIGEST_HEX];   /* over ranks: identity of the files that were read (train/identity.h); "" otherwise */
  char *unaccounted[TCT_UNACCOUNTED + 1]; /* what reading took from the data and no event pays for */
};

/* path NULL, or of no file: nothing is added. */
tct_status tct_inputs_add(tct_inputs *inputs, const char *path, tct_error *err);
tct_status tct_inputs_copy(tct_inputs *inputs, const tct_inputs *from, tct_error *err);
const char *const *tct_inputs_list(const tct_inputs *inputs); /* as tct_outfile_open takes it */
void tct_inputs_free(tct_inputs *inputs);

/* Adds a sentence to the unaccounted list. */
/* Names the classes of a table that has them as labels 0, 1, ...; TCT_E_DATA: a label is `count` or above. */
tct_status tct_data_name_classes(tct_data *data, const char *const *names, int64_t count, tct_class_kind kind,
                                 tct_error *err);
tct_status tct_data_unaccounted(tct_data *data, const char *text, tct_error *err);
#endif
