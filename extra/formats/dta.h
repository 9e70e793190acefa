/* dta.h - what a Stata file says of itself: variables, records, value labels. */
#ifndef TCT_FORMATS_DTA_H
#define TCT_FORMATS_DTA_H
#include "read/source/source.h"

typedef enum tct_dta_type {
  TCT_DTA_I8,
  TCT_DTA_I16,
  TCT_DTA_I32,
  TCT_DTA_F32,
  TCT_DTA_F64,
  TCT_DTA_TEXT, /* of at most `width` bytes, ended by 0 if shorter */
  TCT_DTA_LONG  /* a reference to a text that lies elsewhere */
} tct_dta_type;

/* What a cell becomes. */
typedef enum tct_dta_form {
  TCT_DTA_CODE, /* a number as it is */
  TCT_DTA_NAME, /* a number's value label, where it has one */
  TCT_DTA_SKIP  /* nothing: the column is not wanted */
} tct_dta_form;

/* Bytes of the file that are a text; no 0 among them, and none behind them. */
typedef struct tct_dta_text {
  const char *at;
  int64_t length;
} tct_dta_text;

typedef struct tct_dta_label {
  int32_t code;
  tct_dta_text text;
} tct_dta_label;

/* The labels of one name, by ascending code. */
typedef struct tct_dta_set {
  tct_dta_text name;
  tct_dta_label *label;
  int64_t count;
} tct_dta_set;

typedef struct tct_dta_variable {
  tct_dta_text name;
  tct_dta_type type;
  int64_t width, offset; /* bytes, and where they stand in a record */
  tct_dta_text labels;   /* name of its value labels; length 0: none */
  const tct_dta_set *set;
  tct_dta_form form;
} tct_dta_variable;

typedef struct tct_dta {
  tct_bytes file;
  const char *name; /* of the file, for errors; borrowed */
  int64_t at;       /* bytes parsed so far */
  int version;      /* 113 to 115, 117 to 119 */
  bool big;         /* numbers are stored most significant byte first */
  int64_t variables, rows, row_bytes;
  const char *records; /* [rows][row_bytes] */
  tct_dta_variable *variable;
  tct_dta_set *set; /* [sets], by name */
  int64_t sets;
} tct_dta;

/* Parses dta->file.  Nothing in it is trusted: sections are taken one after the other, and the file's map is not used.
 * Memory is taken only for what the file is long enough to hold.  most: variables.  TCT_E_DATA with a sentence. */
tct_status tct_dta_parse(tct_dta *dta, int64_t most, tct_error *err);
void tct_dta_free(tct_dta *dta);

/* A whole number of 1 to 8 bytes in the file's order, as unsigned. */
uint64_t tct_dta_whole(const tct_dta *dta, const char *at, int64_t bytes);
/* Up to `most` bytes, to the first 0. */
tct_dta_text tct_dta_text_of(const char *at, int64_t most);
int tct_dta_compare(tct_dta_text a, tct_dta_text b);
/* A sentence about a file that is no whole Stata file. */
tct_status tct_dta_damaged(const tct_dta *dta, tct_error *err);
/* One list of value labels, `bytes` of the file at `at`. */
tct_status tct_dta_labels(const tct_dta *dta, const char *at, int64_t bytes, tct_dta_set *set, tct_error *err);
/* The label of a code, or a text of length 0 whose `at` is NULL. */
tct_dta_text tct_dta_label_of(const tct_dta_set *set, int32_t code);

/* A cell of a number; false: it is missing. */
bool tct_dta_number(const tct_dta *dta, const tct_dta_variable *variable, const char *cell, double *value);
#endif
